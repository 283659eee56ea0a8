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
//! | `scheme::initial` | the first partition: recursive bisection of the coarsest or the whole graph, multisection, an older partition, a pool | O((n + m) log
//! k) for bisection |
//! | `refine::k_way` | localised k-way FM with lazily computed gains | O(m log n) per round |
//! | `refine::unconstrained` | moves beyond the bounds and back, for graphs of heavy-tailed degrees | O(n log n + m) per round |
//! | `refine::flow` | balanced minimum cuts of pairs of blocks | O(m f) per round, f the cut of a pair |
//! | `refine::balance` | bounds restored by single moves | O((n + m) log n), O(k) if they hold |
//! | `refine::fill` | least loads met and empty blocks filled by single moves | O((n + m) log n), O(n) if nothing is missing |
//! | `refine::cycles` | negative cycles and cheapest paths of blocks: improvement at exact sizes | as its settings allow |
//! | `refine::connect` | pieces of blocks join others, so that blocks are connected | O(n + m), and a search around each vertex that might move |
//! | `refine::volume` | the communication volume lowered by annealing of the boundary | the squares of its degrees, per sweep |
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
//! | `vector`, `loads` | several weights of a vertex, each with its bounds | as for one, times c where loads are compared |
//! | `quality` | messages, boundary, volume | O(n + m log k) |
//! | [`remap`] | partitions that resume older ones | a run |
//!
//! Levels shrink geometrically, so a run costs a constant number of times its finest level. Memory: 8 bytes per arc (16 if
//! the weights need 64 bits) for all levels together, and a few words per vertex: O(n + m + k).
//!
//! *Departures from its sources.* Blocks may exceed exact sizes during refinement, by a few vertices of the level; they are
//! brought back along cheapest paths of blocks. Gains in the FM queues are upper bounds that are made exact when they come
//! to the top. A search that failed is not repeated until something has moved nearby. Each module names its sources.
//!
//! # Design
//!
//! ```text
//!  graph ──copy──▶ level 0 ─────────────────────────────────▶ refine ──▶ finish ──▶ partition
//!                     │ contract clusters                        ▲        (exact sizes: cheapest paths out of
//!                     ▼                                          │         full blocks, negative cycles, FM
//!                  level 1 ───────────────────────▶ refine ──project       with a slack of few vertices)
//!                     │ contract                       ▲
//!                     ▼                                │           refine = rebalance, k-way FM, flows on pairs
//!                    ...                           project
//!                     │                                │
//!                     ▼                                │
//!                  coarsest ──initial partition────▶ refine
//! ```
//!
//! `scheme/pool.rs` makes one such run (`fast`), two (`eco`, on graphs that are not small) or four (`strong`), independent and in parallel,
//! and combines them: vertices are contracted only where both parents agree, so the better parent survives to the coarsest level and is refined
//! with what the other offers.
//!
//! - *One compact graph for all levels* (`compact.rs`). Target and weight are stored side by side, 32 bits each if every sum fits: refinement
//!   is bound by memory traffic. If all edges weigh 1, as on the finest level of most graphs, the level has no arcs of its own: it borrows the
//!   targets of the graph. Iterators over arcs then have two stages, one of which is empty; `for_each` makes a loop of each.
//! - *No table of gains.* A table of n times k would not be linear. Instead, the weights of the edges inside the block and out of it are kept
//!   up to date; their difference bounds the gain, and only vertices that reach the top of a queue are evaluated exactly.
//! - *Bisections need room to differ.* The coarsest graph keeps up to 2000 vertices, and several recursive bisections, each with its own
//!   coarsening, compete on it. On a few hundred vertices all tries end in much the same place, and occasionally in a bad one.
//! - *The first borders are straight.* Where the first blocks lie on a coarse graph, k-way refinement cannot undo: a grid of 200 x 200 in 64 blocks
//!   cuts 3000 edges then, and 2800 along straight lines. So `eco` and `strong` also divide a Cartesian grid as a whole: a bisection is refined on
//!   its finest level, by minimum cuts as well, before its halves are divided (`scheme/initial/bisection.rs`). If that is better than all members
//!   but the last one even before refinement, it is combined with the best of them and takes the place of the last; else nothing changes.
//! - *An initial partition is an interface* (`scheme/initial/interface.rs`): recursive bisection, multisection along the parts of a machine, an
//!   older partition, or the best of a pool. The multilevel scheme does not know which it is given.
//! - *Graphs with heavy-tailed degrees are refined beyond their bounds* (`refine/unconstrained.rs`). A dense core and a large periphery hang
//!   together by so many edges that no single move within the bounds gains: clusters mix both, and the core stays where the first partition
//!   has spread it. So vertices move to the block that holds them most, all at once and whatever it weighs, and blocks are then brought
//!   back to their bounds by the cheapest moves. Such graphs are recognised by the skew of their degrees, which takes O(n) on any other graph.
//!   Where vertices of high degree have a quarter of all edges among themselves, they are not contracted with others: coarse vertices of both
//!   would drag the periphery along where the core has to come together.
//! - *Large ones are contracted around hubs* (`LargeConfig`). Clusters that stay equally heavy leave nearly all arcs, level after level. Where each vertex
//!   joins the cluster that holds it most, whatever that weighs, a quarter of the arcs is left, and levels that have hardly fewer arcs are not kept.
//!   The finest level then does most of the refinement, in few rounds.
//! - *A level is dropped once it is refined*, as each may take the memory of the graph.
//! - *Exact sizes cost nothing on the way.* All levels refine with a little slack. Only the finest level is brought to the exact sizes, in a few
//!   steps that are refined (`eco`, `strong`), along the cheapest paths in the graph of blocks, and improved by cycles of moves that change no
//!   size.
//! - *Groups are packed whole* (`packing.rs`, `scheme/groups.rs`). Bounds of a bisection say nothing about which groups fit the blocks exactly: that
//!   is a packing problem. Components, and groups whose inner edges are heavier than all others by far, are packed by subset sums or branch and
//!   bound where there are few, by first fit decreasing beyond; what bisection has divided is then put together again where it fits.
//! - *Bounds are pairs* (`partition/bounds.rs`): the greatest and the least weight of each block, both relaxed on coarse levels. A move that
//!   takes a block below its least load is made only if it lowers the total that is missed; blocks that lack some take vertices at the least
//!   loss (`refine/fill.rs`), as empty ones do. Partitions are compared by overload first, then by what is lacking, then by their cost.
//! - *Empty blocks are filled at the end of each way to divide a graph* (`refine/fill.rs`), whatever their vertices weigh; partitions with fewer of them are
//!   better where bounds are missed alike. Where bounds differ, light vertices are passed on from block to block (`relay.rs`): if that fails, too, each
//!   partition within the bounds has as many. Ranges of an order stay ranges (`orders/ranges.rs`), and distributed graphs have the same rule
//!   (`crates/distributed/src/refine/fill.rs`).

mod affinities;
mod assignment;
mod blocks;
mod bounds;
mod coarsen;
mod compact;
mod fixed;
mod heap;
mod layout;
mod loads;
mod many_to_one;
mod objective;
mod orders;
mod packing;
mod partitioner;
mod pieces;
mod quality;
mod refine;
pub mod relay;
pub mod remap;
mod residual;
mod scheme;
mod settings;
mod targets;
mod vector;

pub use blocks::{Partition, block_weights, cut};
pub use bounds::BoundViolation;
pub use coarsen::Contraction;
pub use fixed::{FixedError, FixedVertices};
pub use layout::{BlockPlacement, BlockTree, Layout};
pub use many_to_one::cost;
pub use many_to_one::{FlatConfig, ManyToOnePartition, ManyToOnePartitionConfig, ManyToOnePartitioner};
pub use objective::BlockDistances;
pub use orders::index::OrderIndex;
pub use orders::{Grouping, PartitionAlgorithm, PartitionAlgorithmError, PartitionInput};
pub use packing::Packing;
pub use partitioner::Partitioner;
pub use quality::{PartitionQuality, in_pieces};
pub use refine::volume::Volume;
pub use remap::{
    CurvePoint, Envelope, Migration, MigrationWeight, MigrationWeightError, PreviousAssignment,
    PreviousAssignmentError, RemapError, Remapped, Remapping, RemovedBlocks,
};
pub use settings::{
    BalanceConfig, BisectionConfig, DivisionConfig, FlowConfig, HeavyTailedConfig, InitialConfig, KWayConfig,
    LargeConfig, PartitionConfig, PartitionPreset, PoolConfig, UnconstrainedConfig,
};
pub use targets::{Targets, TargetsError};
pub use vector::{VectorPartition, VectorPartitioner, VectorProblem, VectorTargets};
