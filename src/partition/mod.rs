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

mod assignment;
mod coarsen;
mod compact;
mod heap;
mod objective;
mod orders;
mod quality;
mod refine;
pub mod remap;
mod rooms;
mod scheme;
mod settings;
mod targets;

pub use coarsen::Contraction;
pub use objective::BlockDistances;
pub use orders::index::Index;
pub use orders::{Algorithm, AlgorithmError, Grouping, Input};
pub use quality::Quality;
pub use remap::{
    CurvePoint, Homes, HomesError, Migration, MigrationWeight, MigrationWeightError, RemapError, Remapped,
    curve,
};
pub(crate) use scheme::many_to_one::cost;
pub use scheme::many_to_one::{
    DirectPartition, DirectPartitioner, DirectSettings, FlatSettings, Layout, Place, Resumed,
};
pub use scheme::multisection::BlockTree;
pub use settings::{
    BalanceSettings, BisectionSettings, FlowSettings, InitialSettings, KWaySettings, PoolSettings, Settings,
};
pub use targets::{Targets, TargetsError};

use crate::graph::CsrGraph;
use crate::ground::observer::Observer;
use crate::ground::settings::{ConfigError, members};
use crate::ground::types::{BlockId, Cost, NodeId, Weight};

members! {
    /// How much time to spend on how good a partition. The `social` presets are for graphs with heavy-tailed
    /// degrees.
    #[allow(missing_docs)]
    pub enum Preset: "preset" {
        Strong = "strong" by Settings::strong,
        Eco = "eco" by Settings::eco,
        Fast = "fast" by Settings::fast,
        FastSocial = "fastsocial" by Settings::fast_social,
        EcoSocial = "ecosocial" by Settings::eco_social,
        StrongSocial = "strongsocial" by Settings::strong_social,
    }

    fn settings(self) -> Settings = function()
}

/// A partition of the vertices of a graph into blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    blocks: Vec<BlockId>,
    block_weights: Vec<Weight>,
    cut: Cost,
    overload: Weight,
}

impl Partition {
    /// The partition of these blocks, one a vertex and each a block of the targets; O(n + m).
    pub fn of(graph: &CsrGraph, blocks: Vec<BlockId>, targets: &Targets) -> Self {
        let mut block_weights = vec![0; targets.num_blocks()];
        for (&block, &weight) in blocks.iter().zip(graph.node_weights()) {
            block_weights[block as usize] += weight;
        }
        let excess = |(weight, bound): (&Weight, &Weight)| (weight - bound).max(0);
        let overload = block_weights.iter().zip(targets.bounds()).map(excess).sum();
        let outer = |node: NodeId| -> Weight {
            let own = blocks[node as usize];
            graph.arcs(node).filter(|&(to, _)| blocks[to as usize] != own).map(|(_, weight)| weight).sum()
        };
        let cut = graph.nodes().map(outer).sum::<Weight>() / 2;
        Self { blocks, block_weights, cut, overload }
    }

    /// The block of each vertex, by vertex.
    pub fn blocks(&self) -> &[BlockId] {
        &self.blocks
    }

    /// The sum of the vertex weights of each block, by block.
    pub fn block_weights(&self) -> &[Weight] {
        &self.block_weights
    }

    /// The sum of the weights of the edges between blocks, each edge once.
    pub fn cut(&self) -> Cost {
        self.cut
    }

    /// The sum of the excess of all blocks over their bounds; 0 if all bounds are met.
    pub fn overload(&self) -> Weight {
        self.overload
    }

    /// The block of each vertex, by vertex.
    pub fn into_blocks(self) -> Vec<BlockId> {
        self.blocks
    }
}

/// Blocks by other names.
fn renamed(blocks: &[BlockId], names: &[BlockId]) -> Vec<BlockId> {
    blocks.iter().map(|&block| names[block as usize]).collect()
}

/// A multilevel graph partitioner.
///
/// ```
/// use viem::graph::GraphBuilder;
/// use viem::partition::{Partitioner, Preset, Targets};
///
/// let mut builder = GraphBuilder::new(6);
/// for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)] {
///     builder.add_edge(u, v, 1);
/// }
/// let graph = builder.build()?;
/// let targets = Targets::equal(&graph, 2, 0.0)?;
/// let partition = Partitioner::new(Preset::Eco, 1).partition(&graph, &targets);
/// assert_eq!(partition.cut(), 1);
/// assert_eq!(partition.block_weights(), [3, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Partitioner {
    settings: Settings,
    /// The settings for perfectly balanced partitions.
    exact: Settings,
    seed: u64,
}

impl Partitioner {
    /// A partitioner with the settings of a preset: [`Settings::of`], or [`Settings::exact`] where blocks must have
    /// exact sizes.
    pub fn new(preset: Preset, seed: u64) -> Self {
        Self { settings: Settings::of(preset), exact: Settings::exact(preset), seed }
    }

    /// A partitioner with given settings. Fails if one of them is out of its range ([`Settings::validate`]).
    ///
    /// ```
    /// use viem::partition::{Partitioner, Preset, Settings};
    ///
    /// let mut settings = Settings::of(Preset::Strong);
    /// settings.pool.members = 8;
    /// assert!(Partitioner::with_settings(settings.clone(), 1).is_ok());
    /// settings.pool.members = 0;
    /// assert_eq!(Partitioner::with_settings(settings, 1).unwrap_err().field, "pool.members");
    /// ```
    pub fn with_settings(settings: Settings, seed: u64) -> Result<Self, ConfigError> {
        settings.validate()?;
        Ok(Self::with_valid_settings(settings, seed))
    }

    /// A partitioner with settings derived from a preset.
    pub(crate) fn with_valid_settings(settings: Settings, seed: u64) -> Self {
        debug_assert_eq!(settings.validate(), Ok(()));
        Self { exact: settings.clone(), settings, seed }
    }

    /// Partitions a graph into `targets.num_blocks()` blocks.
    ///
    /// All bounds are met if all vertices weigh 1 and the bounds leave room. Heavier vertices may exceed them:
    /// [`Partition::overload`] tells by how much. No block is empty unless there are too few vertices, or its bound is
    /// 0 and some vertex weighs more.
    pub fn partition(&self, graph: &CsrGraph, targets: &Targets) -> Partition {
        self.partition_watched(graph, targets, &())
    }

    /// As [`partition`](Self::partition), but ends soon once the observer asks for it. The sizes are then as promised;
    /// nothing is promised about the cut.
    pub fn partition_watched(
        &self,
        graph: &CsrGraph,
        targets: &Targets,
        observer: &dyn Observer,
    ) -> Partition {
        if let Some((open, numbers)) = targets.open() {
            let partition = self.partition_watched(graph, &open, observer);
            return Partition::of(graph, renamed(partition.blocks(), &numbers), targets);
        }
        let settings = if targets.are_exact() { &self.exact } else { &self.settings };
        let assignment = scheme::pool::partition(graph, targets, settings, self.seed, observer);
        let overload = assignment.overload(targets.bounds());
        let assignment::Assignment { blocks, weights, cost } = assignment;
        Partition { blocks, block_weights: weights, cut: cost, overload }
    }
}
