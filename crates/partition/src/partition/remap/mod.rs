//! Partitions that resume older ones: few edges between blocks, and few vertices that move.
//!
//! *Problem.* Speeds, weights or the graph have changed, blocks have left or joined. Among the partitions that meet the new
//! bounds, find one of small `objective + X · migration`: the objective is the cut or J, migration the weight of the
//! vertices whose block is not their home.
//!
//! Users compare the results of several X, so results of different X must not contradict each other: as X grows, migration must not rise,
//! and no X may have a result that is better for another one.
//!
//! *Algorithm.* All partitions that are found are kept as long as they are best for some X: their [lower envelope](Envelope). Those that miss the
//! bounds by more than others are left out. On a *small graph*, of at most 65 536 vertices and arcs together (edges count twice) and 256
//! blocks, the search does not depend on the X that was asked for. As each X chooses among the same partitions, results do not contradict
//! each other, not even those of separate calls. These partitions are:
//!
//! 1. the one in which all vertices stay;
//! 2. that for an X which makes migration cost more than all edges, one for a smaller X, and what becomes of the latter with the former X: if
//!    migration costs far more than edges, no single move pays, and borders become ragged; on a machine of several levels, also the one into
//!    all PEs at once;
//! 3. the one from scratch, with the labels that keep most weight in place (`relabel`);
//! 4. that for a moderate X, and that for an X at which the two neighbours on the envelope that are farthest apart are equally good;
//! 5. if the graph has few vertices, what becomes of all of them by exchanges (`chains`).
//!
//! Tiny graphs are enumerated instead in steps 2 and 4, so all results are optimal.
//!
//! On other graphs, that would take too long. There is the first one; and for each X that is asked for, those of step 2 with this X, or that
//! of step 3 if X is 0. Those of one call do not contradict each other, those of separate calls may.
//!
//! *A search for one X* is the multilevel scheme with migration as part of the objective (`objective::migration`): only vertices of the
//! same home are contracted, the partition of the coarsest graph starts from the older one (`scheme::initial::older`), and
//! every refiner weighs edges against migration on every level. On a machine of several levels, the graph is first divided along its parts,
//! starting from the older partition, and then refined by J: edges across the outermost parts cost most, and searches that see all PEs at
//! once hardly move them. On the way back from the coarse graph, flows refine the finest level only.
//!
//! Where all bounds hold, the result is not worse than if no vertex moved.
//!
//! Time and memory of a search as for partitions, less the initial ones; 12 bytes more per vertex, and 4 for each partition of the envelope.
//! A small graph takes a partition from scratch and five searches, seven on a machine, another one a search for each X, three or four where X is large.
//!
//! A partition of the coarse graph from scratch as a further candidate was better only where X was so small that hardly
//! anything stayed, and took a third of the time.
//!
//! Aneja, Nair: Bicriteria transportation problem. Management Science 25, 1979 (weights at which neighbours are equally good).
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
//! - *Stiff problems are softened.* If migration costs far more than edges, no single move pays, and borders become ragged; so there is a search
//!   with a smaller weight as well, and one that continues from there.
//! - *All results are candidates for all weights* (`remap/envelope.rs`). A search with one weight alone moved more for 1000 than for 0, and cut
//!   more than for 1 at the same migration.
//! - *Weights of vertices are the divider's concern* (`remap/divider.rs`). The search asks one to make partitions for a ratio, and to judge them; one
//!   knows one weight, the other several (`vector`).
//! - *Weight 0 is a different problem*: labels for a partition from scratch (`remap/relabel.rs`), by linear assignment; on trees from the
//!   innermost parts outwards.

mod chains;
mod curve;
mod divider;
mod envelope;
mod limits;
mod partitioner;
mod previous;
mod relabel;
mod remapping;
mod search;
mod weight;

pub use curve::CurvePoint;
pub(super) use divider::{Divider, Level, OneWeight};
pub use envelope::Envelope;
pub(super) use envelope::Missed;
pub use limits::{MOST_RELABELLED, RemapError};
pub use partitioner::Remapped;
pub use previous::{Migration, PreviousAssignment, PreviousAssignmentError, RemovedBlocks};
pub use remapping::Remapping;
pub(super) use search::{EdgeCosts, Remap};
pub use weight::{MigrationWeight, MigrationWeightError};
