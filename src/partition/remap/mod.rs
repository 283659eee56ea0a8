//! Partitions that resume older ones: few edges between blocks, and few vertices that move.
//!
//! *Problem.* Speeds, weights or the graph have changed, blocks have left or joined. Among the partitions that meet the new
//! bounds, find one of small `objective + X · migration`: the objective is the cut or J, migration the weight of the
//! vertices whose block is not their home.
//!
//! *Algorithm.* The multilevel scheme with migration as part of the objective (`objective::migration`): only vertices of the
//! same home are contracted, the partition of the coarsest graph starts from the older one (`scheme::initial::older`), and
//! every refiner weighs edges against migration on every level. With X = 0, a partition from scratch gets the labels that
//! keep most weight in place (`relabel`).
//!
//! On a machine of several levels, the graph is first divided along its parts, starting from the older partition, and then
//! refined by J: edges across the outermost parts cost most, and searches that see all PEs at once hardly move them.
//!
//! On the way back from the coarse graph, flows refine the finest level only. Where all bounds hold, the result is not worse
//! than if no vertex moved.
//!
//! Time and memory as for partitions, less the initial ones; 12 bytes more per vertex. Where X is large, there are three
//! searches: with X, with a smaller weight, and from the result of that with X again; on a machine of several levels, also
//! with X and all PEs at once.
//!
//! A partition of the coarse graph from scratch as a further candidate was better only where X was so small that hardly
//! anything stayed, and took a third of the time.
//!
//! Schloegel, Karypis, Kumar: A unified algorithm for load-balancing adaptive scientific simulations. SC 2000 (one objective
//! of both, candidates by diffusion and from scratch). Here, refinement minimises migration on all levels, and overloaded
//! blocks pass vertices on along cheapest paths instead of by diffusion.
//!
//! # Design
//!
//! Migration is a member of the objectives (`partition/objective/migration.rs`): the cost of another objective, and a penalty for each vertex
//! away from its home. Besides edges, an objective may have a linear term, so every refiner weighs both.
//!
//! ```text
//!  graph ──contract within homes──▶ coarse graph ──a pool that starts from homes──▶ coarse partition ──refine──▶ partition
//!                                                   (8 vertices per block: vertices join, new blocks
//!                                                    split off, overload leaves on cheapest paths)
//! ```
//!
//! - *Only vertices of the same home are contracted.* So a coarse vertex has a home, and a partition costs the same on all levels.
//! - *Large pieces move first.* The first partition is found on a graph of 8 vertices per block: with more, borders become ragged where blocks
//!   pass vertices on.
//! - *A machine is followed part by part* (`scheme/initial/multisection.rs`), if it has several levels: the whole graph into the outermost
//!   parts, starting from the older partition, then each of them. Each step weighs the cut, at its distance, against the migration between its
//!   parts; then everything is refined by J. Searches that see all PEs at once end with J half as high again, as they hardly move anything
//!   across the outermost parts.
//! - *Flows are brief, and on the finest level only*, as most borders are good already and flows take most of the time. The steps along a
//!   machine have few blocks, and flows on all levels.
//! - *Overloaded blocks pass vertices on along cheapest paths* (`refine/cycles.rs`), the same that restore exact sizes. The cost of a path
//!   includes migration.
//! - *Flows see edges only.* With an arc to a terminal for each vertex away from home, they took twice the time and led to worse partitions; a
//!   cut is accepted if the whole cost falls.
//! - *Stiff problems are softened first.* If migration costs far more than edges, no single move pays; so the search starts with a smaller
//!   weight, and continues from there.
//! - *Weight 0 is a different problem*: labels for a partition from scratch (`remap/relabel.rs`), by linear assignment; on trees from the
//!   innermost parts outwards.

mod curve;
mod homes;
mod partitioner;
mod relabel;
mod search;
mod weight;

pub use curve::{CurvePoint, curve};
pub use homes::{Homes, HomesError, Migration};
pub use partitioner::Remapped;
pub(super) use search::Remap;
pub use search::{MOST_RELABELLED, RemapError};
pub use weight::{MigrationWeight, MigrationWeightError};
