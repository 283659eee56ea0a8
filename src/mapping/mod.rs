//! One-to-one and many-to-one mappings of processes to PEs: the problem, its objective, and the algorithms.
//!
//! # How a run goes
//!
//! ```text
//!  constructions ──▶ annealing ──▶ tournament ──▶ rebuilding ──▶ descent ──▶ mapping
//!  (several if small,  in regions    the worse       regions are     in the neighbourhood
//!   and the start)                   half drops out, repartitioned   asked for
//!                                    the others are
//!                                    rebuilt a little
//! ```
//!
//! `solve/` decides how many constructions a preset tries on a problem of a given size; `mapping/search/improve/` does the rest. Three
//! observations carry it:
//!
//! - *Regions are problems of their own* (`improve/region.rs`). The processes on some groups of one level, inside one group of the next, can be
//!   rearranged without changing any distance to the outside. So regions are improved independently and in parallel, their gains add up, and
//!   their tables fit the cache.
//! - *With a table of gains, a refused exchange costs four look-ups* (`annealing/tree/gain_table.rs`), whatever the degrees. That makes
//!   annealing (`annealing/tree/`) worthwhile: it arranges the inside of groups and their boundaries, at temperatures too low to destroy what
//!   the partitioner found.
//! - *What annealing cannot find is a different shape of the groups* (`improve/rebuild.rs`). A region of two to eight groups is repartitioned
//!   and annealed, and the result is kept if J fell: large neighbourhood search. Nothing else that was tried (hotter annealing, repeated
//!   annealing of regions, combining partitions where they agree) gains as much in the same time. What counts is that the new partition is
//!   different, so small regions are coarsened by matchings, by clusters, or not at all: tori and grids, which are common in applications, are
//!   cut best along planes that coarsening hides, and dense irregular graphs by what matchings find.
//!
//! With a time limit the search goes on until the time is over or a lower bound is reached (`improve/bound.rs`), alternating between new constructions and the best mapping, with more and more
//! rebuilding. Problems of very few processes are solved by enumeration (`improve/exact.rs`).
//!
//! *Fixed processes* are part of the problem (`Problem::with_fixed`). Constructions that partition pass them on as fixed vertices, which are part
//! of the targets; those that pair places pair what is fixed on them; all others are repaired in one place (`construct/fixed.rs`). Searches and
//! annealing keep their loops: what is fixed is left out of what they visit, and refused where an exchange would be made. Partitions have the
//! same idea as an objective: a fixed vertex is at home (`objective/migration.rs`), of a class of its own while the graph is coarsened, and counts as
//! moved where refiners look at what has moved. Quadratic assignment problems rename their objects, so that the fixed ones come last and loops
//! end before them.
//!
//! ## On machines that are not regular trees
//!
//! ```text
//!  multilevel construction ──▶ annealing of everything, ──▶ descent ──▶ mapping
//!  (alternating with dual       or of ranges of places
//!   recursive bipartitioning)
//! ```
//!
//! Places (`machine/places.rs`) are the PEs in the order of the machine's parts, a PE of capacity c as c places; artificial processes without
//! edges fill the places that are left. So algorithms see a permutation, and regions are ranges. Eight observations carry it:
//!
//! - *Large-scale faults are fixed while few things have to move.* Multilevel construction pairs processes that communicate much and places
//!   that are next to each other, again and again, and anneals from the smallest level on; each level costs half of the next. Dual recursive
//!   bipartitioning anneals the quotient graph of the domains after each round of halving. Neither is better everywhere: pairs suit tori of
//!   three dimensions, cuts suit trees and flat meshes. Several starts alternate between the two; beyond 4096 places only cuts are used.
//! - *A proposal brings a process near a neighbour* (`annealing/anywhere/`): lists of near places (`annealing/near.rs`) replace the levels of a
//!   tree. Temperatures are derived from the shares of worsening proposals to be accepted, so they fit distances and weights of any scale.
//! - *One side chooses, the other decides.* What each process pays is kept up to date, and the heaviest edges to the nearest places bound what
//!   it must pay. So the first side compares four places next to a neighbour by the best possible gain of the exchange, and the second side is
//!   examined for at most one of them.
//! - *Starts differ in temperature.* Some shapes are found only by annealing from high temperatures, and what bisections have found survives
//!   only low ones. So if there are several starts, the odd ones are annealed coolly and briefly, and half of the others from a lower
//!   temperature than the rest.
//! - *An exchange gains only if one side alone is better off* (`search/nearby.rs`). What a process pays in a part of the machine is bounded by
//!   what it pays at the centre of the part and by its radius (`metric/balls.rs`). So the places where it pays less are found without examining
//!   most of the machine, and the last descent evaluates few pairs.
//! - *Hubs have a budget.* For a neighbour of a hub, half of the machine is better, and next to the hub is best. So on machines that are not
//!   trees, annealing evaluates exchanges with a hub only within its budget, and the descent of `communication` examines at most 4096 PEs per
//!   process if there is a hub.
//! - *Graphs without small cuts are annealed as a whole.* A region of 4096 places contains nearly all communication of its part of a mesh, and
//!   little of that of a random graph. If regions would contain less than half, there are none (`improve/anywhere.rs`). Nearly all processes of
//!   such a graph pay less near the middle of the machine, so the last descent has a budget and ends with few PEs per process; annealing gains
//!   about the same in a tenth of its time.
//! - *A graph of the shape of the machine is mapped by isomorphism* (`improve/embedding.rs`, `graph/embedding/isomorphism.rs`). Numbers of
//!   edges and degrees show at once where there is none. Where there is one, exchanges would end in twisted copies of it. Where edges are missing, as
//!   in a mesh on a torus, a monomorphism is looked for.
//! - *Equal nodes are filled first* (`construct/by_nodes.rs`). Pairing of processes and bisection along the machine do not see that cubes of a grid fill
//!   the nodes of a torus. So the graph is also partitioned into groups of the size of a node, and the groups are mapped as a problem of their own, which
//!   may have the shape of the network.
//! - *Groups are placed whole* (`construct/by_groups.rs`, `graph/groups.rs`). Division fills a node with components that do not fit its sockets, and no
//!   exchange of single processes repairs that. So components, or what heavy edges join, are packed into the innermost parts, or placed one after the
//!   other where they fit most tightly, in the best order that a search finds.
//! - *Groups of equal size are mapped to slots* (`construct/by_slots.rs`). Ranks of a training job are groups of groups, and uneven nodes have room for
//!   different numbers of them. The quotient graph is mapped to a place for each group that fits into the smallest parts, as a problem of its own, in which
//!   the next larger groups are found in the same way.
//! - *Groups that must share a node are vertices of their own* (`solve/groups/`). The quotient graph is mapped to a place for each group that a
//!   node has room for, then the processes of each node to its PEs. Nodes may differ in size, so it is not a construction by equal nodes.
//! - *Small problems are also divided from the outermost parts* (`solve/one_to_one/run.rs`). Multilevel construction pairs what communicates, and does not
//!   see that groups of ranks fill uneven parts exactly. The result of `eco` and `strong` is not worse than that of a whole run on divisions; a
//!   preset also runs the next quicker one, and is not worse.
//! - *Few places are a dense problem* (`improve/small_instance.rs`). With at most 32 places, on any machine, a run ends with a short search of both
//!   matrices: groups that fit exactly have no neighbours of similar J, and a population of mappings finds them. One start and brief annealing are
//!   then enough before it. It ends once independent generations agree on the best J, which structured problems reach early.
//!
//! Up to 2048 PEs all distances are tabulated, a byte each (`metric/small.rs`), unless differences of coordinates are. At most eight places are
//! solved exactly on any machine.

pub mod annealing;
pub mod construct;
pub(crate) mod dense;
pub mod objective;
mod permutation;
pub mod problem;
pub mod search;

pub(crate) use permutation::process_on_each;
pub use permutation::{Mapping, MappingError};
