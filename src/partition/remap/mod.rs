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

mod chains;
mod curve;
mod envelope;
mod homes;
mod limits;
mod partitioner;
mod relabel;
mod remapping;
mod search;
mod weight;

pub use curve::CurvePoint;
pub use envelope::Envelope;
pub use homes::{Homes, HomesError, Migration};
pub use limits::{MOST_RELABELLED, RemapError};
pub use partitioner::Remapped;
pub use remapping::Remapping;
pub(super) use search::{EdgeCosts, Remap};
pub use weight::{MigrationWeight, MigrationWeightError};
