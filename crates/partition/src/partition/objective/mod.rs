//! The objectives: what a partition costs.
//!
//! *Problem.* Refiners move vertices to where their edges cost less. An edge of weight w between blocks a and b costs
//! w times `between(a, b)`: 1 for the cut, the distance of the two PEs for J. An edge inside a block costs nothing. Each
//! edge counts once, so the cost is half of J, which sums over ordered pairs.
//!
//! *Gains.* Moving a vertex from a to b gains the sum over all blocks c adjacent to it of
//! `affinity(c) · (between(a, c) - between(b, c))`. For the cut, only two terms of it remain.
//!
//! | member | `between` | memory | time of a gain |
//! |---|---|---|---|
//! | [`Cut`] | 1 | none | O(1) |
//! | [`StoredCost`] | a table of 32 bits per entry | 4 k² bytes | O(q) for q adjacent blocks |
//! | [`ComputedCost`] | what the machine computes | none | O(q) calls |
//! | [`EdgeCost`] | that of any of these | that of it | that of it |
//! | [`Migrating`] | a multiple of any of these | 12 bytes per vertex | that of it |
//!
//! Besides its edges, a vertex may cost something by itself in each block: a linear term, which only migration uses so far.
//!
//! What an edge costs depends on its two blocks only, so the gain of a vertex changes only when a neighbour moves; all refiners
//! rely on that. A cost of whole blocks, such as the weight of the heaviest one, is no member of this family but a bound
//! ([`Targets`](super::targets::Targets)).
//!
//! A cost of edges is a file of its own and a variant of [`EdgeCost`]; the tests of the family run over all of them.
//!
//! All sums fit 64 bits: the cut is at most the weight of all edges, and whoever asks for J has checked that this weight times
//! the greatest distance fits.
//!
//! # Design
//!
//! If many vertices share a PE, blocks are PEs, and what counts is J instead of the cut. An objective (`partition/objective/`) defines what an
//! edge between two blocks costs and what a move gains. Members are the cut, J with a table of distances, J with computed distances, and
//! migration on top of any of these. Every refiner takes the objective as a type parameter: it is compiled for the cut, for J with a table, and once for everything else, which serves all
//! graphs whose weights need 64 bits.
//!
//! ```text
//!  graph ──multisection along the parts of the machine──▶ partition ──▶ refine by J ──▶ V-cycles, combined pairs ──▶ mapping
//!           (each step a partition with few cut edges;                   (k-way FM, flows on pairs,
//!            independent blocks in parallel)                              exact sizes)
//! ```
//!
//! - *Multisection first* (`scheme/initial/multisection.rs`). The outermost cut costs most, so it is made first and alone. Each step gets a
//!   share of the room that the bounds leave, in proportion to the distance that it cuts, so that the last step can still meet them. With
//!   `strong`, V-cycles follow each step, on all its parts together, with J of the parts as objective: parts are large at that point, and have
//!   room.
//! - *Never worse than two steps on a few PEs.* If a machine without levels has so few PEs that one step makes all blocks, a partition of small
//!   cut whose blocks are then placed is a further start.
//! - *Vertices of small graphs are put in canonical order* (`graph/canonical.rs`, `solve/many_to_one/numbering.rs`), as ties are broken by numbers and
//!   J of few vertices per PE varied by 5 % and more with them. A numbering of near neighbours knows more than the graph and is tried, too.
//! - *Small problems have more starts* (`many_to_one/search.rs`). A few vertices per PE leave refinement no room. So two steps, and a mapping of the
//!   graph with other weights, are starts too. Those weights are divided by the algebraic distance of neighbours (`graph/closeness.rs`):
//!   coarsening contracts heavy edges first, and would divide regions of many light ones, such as the data-parallel groups of a training job.
//!   Ranges of the maximum adjacency order (`graph/adjacency.rs`) are one more start: a grid comes row by row, where bisections for a path meet their
//!   bounds before they have found its rows.
//!   At the end, vertices are exchanged like processes of a one-to-one mapping.
//! - *Gains of J are sums over the blocks adjacent to a vertex.* By the triangle inequality they are bounded by the excess of external over
//!   internal degree times the greatest distance, or the least if the excess is negative; so queues stay lazy.
//! - *Flows see third blocks.* Edges to them cost more from one block of a pair than from the other. Each vertex with such edges has an arc
//!   from the terminal of the nearer block; its capacity is the difference.
//! - *Cycles and paths of moves, and combining two partitions, need no change*: they ask for gains and costs only.
//! - *Blocks are numbered in the order of the machine's parts* (`solve/many_to_one/layout.rs`), so every part is a range of blocks, and the
//!   partitioner knows nothing of machines.

mod computed;
mod cut;
mod distances;
mod edges;
mod interface;
mod migration;
mod stored;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use cut::Cut;
pub use distances::BlockDistances;
pub(crate) use edges::EdgeCost;
pub(crate) use interface::Objective;
pub(crate) use migration::Migrating;
pub(crate) use stored::StoredCost;
