//! Partitions that resume older ones: few edges between blocks, and few vertices that change place.
//!
//! *Problem.* Speeds, weights or the graph have changed, blocks have left or joined. Among the partitions that meet the new
//! bounds, find one of small `objective + X · migration`: the objective is the cut or J, migration the weight of the
//! vertices whose block is not their home.
//!
//! *Algorithm.* The multilevel scheme with migration as part of the objective (`objective::migration`): only vertices of the same
//! home are contracted, the coarsest graph begins where it was (`scheme::initial::older`), and every refiner weighs edges against
//! migration on every level. With X = 0, a partition from scratch gets the labels that keep most where it was
//! (`relabel`).
//!
//! On a machine of several levels, the graph is divided along its parts first, from where it was, and then refined by J: what
//! crosses the outermost parts costs most, and searches that see all PEs at once hardly move it.
//!
//! On the way from the coarse graph back, flows refine the finest level only. Where all bounds hold, the result is not worse than
//! if all stayed.
//!
//! Time and memory as for partitions, less the initial ones; 12 bytes a vertex more. Where X is large, the search runs three times:
//! with X, with less, and on from there; on a machine of several levels, also with X and all PEs at once.
//!
//! A partition of the coarse graph from scratch as a further candidate was better only where X was so small that hardly anything
//! stayed, and took a third of the time.
//!
//! Schloegel, Karypis, Kumar: A unified algorithm for load-balancing adaptive scientific simulations. SC 2000 (one objective
//! of both, candidates by diffusion and from scratch). Here, migration is what refinement minimises on all levels, and blocks
//! hand on along cheapest paths instead of by diffusion.

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
