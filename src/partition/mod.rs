//! Graph partitioning: blocks of given sizes with few edges between them.
//!
//! *Problem.* Given a graph, k block sizes and an imbalance epsilon, assign every vertex to a block so that no block exceeds
//! its bound and the edges between blocks weigh as little as possible. With epsilon = 0 and vertices of weight 1, the sizes
//! are met exactly.
//!
//! *Algorithm.* Multilevel: contract clusters until few vertices are left, partition these by recursive
//! bisection, and refine on every level on the way back.
//!
//! | part | what it does | time |
//! |---|---|---|
//! | `coarsen` | clusters or matchings, contraction without hashing | O(n + m) per level |
//! | `scheme::initial` | the first partition: recursive bisection, multisection, an older partition, a pool | O((n + m) log
//! k) for bisection |
//! | `refine::k_way` | localised k-way FM with lazily computed gains | O(m log n) per round |
//! | `refine::unconstrained` | moves beyond the bounds and back, for graphs of heavy-tailed degrees | O(n log n + m) per round |
//! | `refine::flow` | balanced minimum cuts of pairs of blocks | O(m f) per round, f the cut of a pair |
//! | `refine::balance` | bounds restored by single moves | O((n + m) log n), O(k) if they hold |
//! | `refine::fill` | least loads met and empty blocks filled by single moves | O((n + m) log n), O(n) if nothing is missing |
//! | `refine::cycles` | negative cycles and cheapest paths of blocks: improvement at exact sizes | as its settings allow |
//! | `scheme::multilevel` | one run down and up the levels | the sum of the above |
//! | `scheme::groups` | components and groups of heavy edges kept whole in blocks | O(n + m), a packing, a run |
//! | `packing` | bins filled with items: bin packing | O(n log n), and a search where that fails |
//! | `scheme::pool` | several runs, combined where they agree | a run per member and child |
//! | `objective` | the cut, J, migration | see the module |
//! | `fixed` | vertices that must be in given blocks | none |
//! | `many_to_one` | partitions whose blocks are the PEs of a machine | a run |
//! | `orders` | other ways to divide: coordinates, curves, spectra | see [`PartitionAlgorithm`] |
//! | `orders::spectral` | Fiedler vectors | O(n + m) per iteration |
//! | `orders::index` | orders of the vertices that can be cut repeatedly | O(n) |
//! | `quality` | messages, boundary, volume | O(n + m log k) |
//! | [`remap`] | partitions that resume older ones | a run |
//!
//! Levels shrink geometrically, so a run costs a constant number of times its finest level. Memory: 8 bytes per arc (16 if
//! the weights need 64 bits) for all levels together, and a few words per vertex: O(n + m + k).
//!
//! *Departures from its sources.* Blocks may exceed exact sizes during refinement, by a few vertices of the level; they are
//! brought back along cheapest paths of blocks. Gains in the FM queues are upper bounds that are made exact when they come
//! to the top. A search that failed is not repeated until something has moved nearby. Each module names its sources.

mod affinities;
mod assignment;
mod blocks;
mod bounds;
mod coarsen;
mod compact;
mod fixed;
mod heap;
mod layout;
mod many_to_one;
mod objective;
mod orders;
mod packing;
mod partitioner;
mod quality;
mod refine;
pub mod relay;
pub mod remap;
mod residual;
mod scheme;
mod settings;
mod targets;

pub use blocks::Partition;
pub use bounds::BoundViolation;
pub use coarsen::Contraction;
pub use fixed::{FixedError, FixedVertices};
pub use layout::{BlockTree, Layout, PlaceBlocks};
pub(crate) use many_to_one::cost;
pub use many_to_one::{FlatConfig, ManyToOnePartition, ManyToOnePartitionConfig, ManyToOnePartitioner};
pub use objective::BlockDistances;
pub use orders::index::OrderIndex;
pub use orders::{Grouping, PartitionAlgorithm, PartitionAlgorithmError, PartitionInput};
pub(crate) use packing::Packing;
pub use partitioner::Partitioner;
pub use quality::PartitionQuality;
pub use remap::{
    CurvePoint, Envelope, Homes, HomesError, Migration, MigrationWeight, MigrationWeightError, RemapError,
    Remapped, Remapping,
};
pub use settings::{
    BalanceConfig, BisectionConfig, FlowConfig, HeavyTailedConfig, InitialConfig, KWayConfig, LargeConfig,
    PartitionConfig, PartitionPreset, PoolConfig, UnconstrainedConfig,
};
pub use targets::{Targets, TargetsError};
