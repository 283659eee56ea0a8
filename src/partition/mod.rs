//! Graph partitioning: blocks of given sizes with few edges between them.
//!
//! *Problem.* Given a graph, k block sizes and an imbalance epsilon, assign every vertex to a block so that no
//! block exceeds its bound and the edges between blocks weigh as little as possible. With epsilon = 0 and vertices
//! of weight 1 the sizes are met exactly.
//!
//! *Algorithm.* Multilevel: contract clusters until few vertices are left, partition these by recursive
//! bisection, and refine on every level on the way back.
//!
//! | part | what it does | time |
//! |---|---|---|
//! | `coarsen` | clusters or matchings, contraction without hashing | O(n + m) a level |
//! | `initial` | recursive multilevel bisection: greedy growing, two-way FM | O((n + m) log k) |
//! | `refine::k_way` | localised k-way FM with lazily computed gains | O(m log n) a round |
//! | `refine::flow` | balanced minimum cuts of pairs of blocks | O(m f) a round, f the cut of a pair |
//! | `refine::balance` | bounds restored by single moves | O((n + m) log n), O(k) if they hold |
//! | `refine::cycles` | negative cycles and cheapest paths of blocks: improvement at exact sizes | as its settings allow |
//! | `multilevel` | one run down and up the levels | the sum of the above |
//! | `pool` | several runs, combined where they agree | a run for each member and child |
//! | `algorithm` | other ways to divide: coordinates, curves, spectra, orders | see [`Algorithm`] |
//! | `spectral` | Fiedler vectors | O(n + m) an iteration |
//! | `index` | orders that are cut anew | O(n) |
//! | `quality` | messages, boundary, volume | O(n + m log k) |
//! | [`remap`] | partitions that resume older ones | a run |
//!
//! Levels shrink geometrically, so a run costs a constant number of times its finest level. Memory: 8 bytes
//! an arc (16 if the weights need 64 bits) for all levels together, and a few words a vertex: O(n + m + k).
//!
//! *Departures from its sources.* Blocks may exceed exact sizes during refinement, by a few vertices of the level; they
//! are brought back along cheapest paths of blocks. Gains in the FM queues are upper bounds that are made exact when
//! they come to the top. A search that failed is not repeated before something has moved nearby. The sources of each
//! part are named in its module.

mod affinities;
mod assignment;
mod blocks;
mod coarsen;
mod compact;
mod heap;
mod layout;
mod many_to_one;
mod objective;
mod orders;
mod partitioner;
mod quality;
mod refine;
pub mod remap;
mod rooms;
mod scheme;
mod settings;
mod targets;

pub use blocks::Partition;
pub use coarsen::Contraction;
pub use layout::{BlockTree, Layout, Place};
pub(crate) use many_to_one::cost;
pub use many_to_one::{DirectPartition, DirectPartitioner, DirectSettings, FlatSettings, Resumed};
pub use objective::BlockDistances;
pub use orders::index::Index;
pub use orders::{Algorithm, AlgorithmError, Grouping, Input};
pub use partitioner::Partitioner;
pub use quality::Quality;
pub use remap::{
    CurvePoint, Homes, HomesError, Migration, MigrationWeight, MigrationWeightError, RemapError, Remapped,
    curve,
};
pub use settings::{
    BalanceSettings, BisectionSettings, FlowSettings, InitialSettings, KWaySettings, PoolSettings, Preset,
    Settings,
};
pub use targets::{Targets, TargetsError};
