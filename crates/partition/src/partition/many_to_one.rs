//! Partitions whose blocks are the PEs of a machine: J as the objective of the multilevel partitioner.
//!
//! *Problem.* Given a graph, the size and the bound of each block, and the distances of the blocks, assign every vertex to a
//! block so that no block exceeds its bound and `J = sum over ordered pairs (u, v) of C[u][v] · D[block of u][block of v]`
//! is as small as possible. Many vertices share a block.
//!
//! *Algorithm.* The graph is coarsened, the coarsest graph is divided along the parts of the machine
//! (`scheme::initial::multisection`) and refined on every level on the way back, all moves valued by J (`objective`).
//! V-cycles follow: the graph is coarsened again without contracting across blocks, so that the partition exists on all
//! levels, and refined on each. Several such partitions are combined where they agree, as for the cut (`scheme::pool`).
//!
//! Time and memory as for the cut, times the number of blocks adjacent to a vertex, and 4 k² bytes for the distances of up
//! to 4096 blocks.

use super::assignment::{Assignment, Problem};
use super::blocks::{Partition, renamed};
use super::compact::{self, CompactGraph, Stored};
use super::layout::{Layout, place_blocks};
use super::objective::{BlockDistances, EdgeCost, Migrating, Objective};
use super::refine::fill;
use super::remap::{EdgeCosts, Envelope, OneWeight, Remap, RemapError, Remapping};
use super::scheme::enumeration;
use super::scheme::initial::multisection::Multisection;
use super::scheme::multilevel::{FlowLevels, Task};
use super::scheme::pool::{Pool, smallest_cut};
use super::settings::{
    BalanceConfig, FlowConfig, HeavyTailedConfig, InitialConfig, PartitionConfig, PartitionPreset,
    PoolConfig, skew_of_free,
};
use super::targets::Targets;
use crate::base::observer::Observer;
use crate::base::settings::ConfigError;
use crate::base::threads;
use crate::base::types::{BlockId, Cost, NodeId};
use crate::graph::CsrGraph;

/// All settings of many-to-one partitions: blocks are the PEs of a machine.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ManyToOnePartitionConfig {
    /// The steps of multisection.
    pub sections: PartitionConfig,
    /// The whole graph: how it is coarsened and refined, and how many partitions are made and combined.
    pub whole: PartitionConfig,
    /// V-cycles after each step of multisection but the last, on all its parts together, with J of the parts as objective.
    pub cycles: usize,
    /// Machines that are no trees and whose PEs are all blocks of a single step.
    pub flat: FlatConfig,
}

/// Settings for a division into all blocks in a single step. A partition of small cut whose blocks are then placed as wholes
/// is a further start there, and hard to improve.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FlatConfig {
    /// The partition of small cut.
    pub plain: PartitionConfig,
    /// Instead of [`ManyToOnePartitionConfig::whole`].
    pub refined: PartitionConfig,
}

impl ManyToOnePartitionConfig {
    /// The settings for the best partitions.
    pub fn strong() -> Self {
        let eco = Self::eco();
        let flow = FlowConfig { rounds: 3, depth: 10, ..eco.sections.flow };
        let pool = PoolConfig { members: 8, generations: 4, ..eco.sections.pool };
        let heavy_tailed = HeavyTailedConfig { pool, flow, ..eco.sections.heavy_tailed };
        let whole_flow = FlowConfig { rounds: 1, ..eco.whole.flow };
        Self {
            sections: PartitionConfig { pool, flow, heavy_tailed, ..eco.sections },
            whole: PartitionConfig { flow: whole_flow, ..eco.whole },
            cycles: 1,
            flat: FlatConfig { plain: PartitionConfig::preset(PartitionPreset::Strong).basic(), ..eco.flat },
        }
    }

    /// The settings for good partitions.
    pub fn eco() -> Self {
        let fast = Self::fast();
        let initial = InitialConfig { coarsest: 500, bisections: 10, ..fast.sections.initial };
        let pool = PoolConfig { members: 2, generations: 1, ..fast.sections.pool };
        let several = PoolConfig { members: 4, generations: 2, ..fast.whole.pool };
        let flow = FlowConfig { rounds: 3, depth: 20, ..fast.whole.flow };
        let heavy = PartitionConfig::preset(PartitionPreset::Eco).basic().heavy_tailed;
        let with = |pool: &PoolConfig| HeavyTailedConfig { pool: *pool, ..heavy };
        let whole = PartitionConfig { heavy_tailed: with(&fast.whole.pool), ..fast.whole };
        let refined = PartitionConfig { heavy_tailed: with(&several), pool: several, flow, ..whole };
        Self {
            sections: PartitionConfig { initial, heavy_tailed: with(&pool), pool, ..fast.sections },
            whole,
            cycles: 0,
            flat: FlatConfig { plain: PartitionConfig::preset(PartitionPreset::Eco).basic(), refined },
        }
    }

    /// The settings for partitions in little time.
    pub fn fast() -> Self {
        let fast = PartitionConfig::preset(PartitionPreset::Fast).basic();
        let flow = FlowConfig { rounds: 1, ..fast.flow };
        let initial = InitialConfig { coarsest: 1000, bisections: 2, ..fast.initial };
        let pool = PoolConfig { tiny_nodes: 1000, ..fast.pool };
        let heavy_tailed = HeavyTailedConfig { pool, ..fast.heavy_tailed };
        let whole = PartitionConfig { pool, heavy_tailed, ..fast };
        let flat = FlatConfig {
            plain: fast,
            refined: PartitionConfig { flow: FlowConfig { rounds: 3, depth: 20, ..fast.flow }, ..whole },
        };
        Self { sections: PartitionConfig { initial, flow, ..fast }, whole, cycles: 0, flat }
    }

    /// The settings for a graph and its targets.
    fn suited_to(&self, graph: &CsrGraph, targets: &Targets) -> Self {
        let FlatConfig { plain, refined } = &self.flat;
        let skew = skew_of_free(graph, targets.fixed());
        let suited = |settings: &PartitionConfig| settings.suited_to_skew(skew, graph.num_arcs());
        let suited = Self {
            sections: suited(&self.sections),
            whole: suited(&self.whole),
            cycles: self.cycles,
            flat: FlatConfig { plain: suited(plain), refined: suited(refined) },
        };
        if targets.are_exact() { suited.exact() } else { suited }
    }

    /// The same for exact sizes, which are harder to keep: more partitions are combined in each step, and searches for
    /// cycles of blocks last longer. Coarse levels stay close to the sizes, since any excess is taken back at a loss.
    fn exact(&self) -> Self {
        let Self { sections, whole, .. } = *self;
        let balance = PartitionConfig::preset(PartitionPreset::Eco).basic().balance;
        let pool = PoolConfig {
            members: sections.pool.members.saturating_mul(2),
            generations: sections.pool.generations.saturating_add(1),
            ..sections.pool
        };
        Self {
            sections: PartitionConfig {
                balance: BalanceConfig { slack_nodes: 3, ..balance },
                pool,
                ..sections
            },
            whole: PartitionConfig { balance: BalanceConfig { slack: 0.0, ..balance }, ..whole },
            ..*self
        }
    }

    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.sections.validate().map_err(|error| error.inside("sections"))?;
        self.whole.validate().map_err(|error| error.inside("whole"))?;
        self.flat.plain.validate().map_err(|error| error.inside("flat.plain"))?;
        self.flat.refined.validate().map_err(|error| error.inside("flat.refined"))
    }
}

/// Partitions graphs onto the PEs of a machine.
#[derive(Clone, Debug)]
pub struct ManyToOnePartitioner {
    settings: ManyToOnePartitionConfig,
    seed: u64,
}

/// A partition and its J.
#[derive(Clone, Debug)]
pub struct ManyToOnePartition {
    /// Blocks, their weights, the cut.
    pub partition: Partition,
    /// J: each edge counts twice.
    pub cost: Cost,
}

impl ManyToOnePartitioner {
    /// A partitioner with given settings. Fails if one of them is out of its range.
    pub fn new(settings: ManyToOnePartitionConfig, seed: u64) -> Result<Self, ConfigError> {
        settings.validate()?;
        Ok(Self { settings, seed })
    }

    /// Partitions a graph. The result is not worse than any of `starts`: overload first, then shortfall, then empty blocks, then J. Vertices that the
    /// targets fix are in their blocks; in a start, they are moved there first.
    ///
    /// The weight of all arcs times the greatest distance must fit 64 bits. Ends soon after the observer asks to stop. The
    /// result does not depend on the number of threads, unless `goes_on`: then further partitions are made and combined with
    /// the best until the observer asks to stop.
    pub fn partition(
        &self,
        graph: &CsrGraph,
        targets: &Targets,
        layout: Layout<'_>,
        starts: &[Vec<BlockId>],
        goes_on: bool,
        observer: &dyn Observer,
    ) -> ManyToOnePartition {
        let settings = &self.settings.suited_to(graph, targets);
        let run = Run { settings, seed: self.seed, targets, layout, starts, goes_on, observer };
        let assignment = if compact::is_narrow(graph) {
            run.on(&CompactGraph::<i32>::new(graph))
        } else {
            run.on(&CompactGraph::<i64>::new(graph))
        };
        let Assignment { blocks, cost, .. } = assignment;
        ManyToOnePartition { partition: Partition::of(graph, blocks, targets), cost: 2 * cost }
    }

    /// The best partitions for several weights of migration, minimising J plus that weight times the weight of the vertices that leave their homes,
    /// beside a partition from scratch. With a weight of 0, J is not above that of the latter, whose parts and blocks are permuted within the tree
    /// such that as much as possible stays in place and J does not rise.
    ///
    /// # Errors
    ///
    /// The homes do not fit the graph and the targets, the weight is not possible for them, or there is no partition from scratch.
    pub fn remap(
        &self,
        graph: &CsrGraph,
        targets: &Targets,
        layout: Layout<'_>,
        (remapping, observer): (Remapping<'_>, &dyn Observer),
        scratch: &dyn Fn() -> Result<ManyToOnePartition, RemapError>,
    ) -> Result<Envelope<ManyToOnePartition>, RemapError> {
        let ManyToOnePartitionConfig { sections, whole: settings, .. } =
            &self.settings.suited_to(graph, targets);
        let sections = sections.resuming();
        let Layout { tree, distances, .. } = layout;
        let division =
            Multisection { tree, distances, settings: &sections, refined: (settings, 0), place: None };
        let along = (!tree.is_flat()).then_some(division);
        let divider = OneWeight { targets, settings, along };
        let remap = &Remap { graph, remapping, divider, seed: self.seed, observer };
        let scratch = &|| -> Result<Vec<BlockId>, RemapError> {
            let scratch = scratch()?;
            let blocks = renamed(scratch.partition.blocks(), &remap.labels(&scratch.partition, tree));
            // Where the machine is no tree, parts of the same shape need not have the same distances.
            let is_as_good = cost(graph, distances, &blocks) <= scratch.cost;
            Ok(if is_as_good { blocks } else { scratch.partition.into_blocks() })
        };
        // The partitioner counts each edge once, J twice.
        let costs = EdgeCosts { times: 2, greatest: distances.greatest() };
        let found = remap.run(EdgeCost::of_distances(distances), costs, scratch)?;
        Ok(found.map(|blocks| {
            let cost = cost(graph, distances, &blocks);
            ManyToOnePartition { partition: Partition::of(graph, blocks, targets), cost }
        }))
    }
}

/// J of a partition; O(n + m).
pub fn cost(graph: &CsrGraph, distances: &dyn BlockDistances, blocks: &[BlockId]) -> Cost {
    let of_node = |node: usize| -> Cost {
        let own = blocks[node];
        let arcs = graph.arcs(node as NodeId);
        arcs.map(|(to, weight)| weight * distances.between(own, blocks[to as usize])).sum()
    };
    threads::sum(graph.num_nodes(), of_node)
}

/// A call of the partitioner.
struct Run<'a> {
    settings: &'a ManyToOnePartitionConfig,
    seed: u64,
    targets: &'a Targets,
    layout: Layout<'a>,
    starts: &'a [Vec<BlockId>],
    goes_on: bool,
    observer: &'a dyn Observer,
}

impl Run<'_> {
    fn on<W: Stored>(&self, graph: &CompactGraph<'_, W>) -> Assignment {
        let (fixed, cost) = (self.targets.fixed(), EdgeCost::of_distances(self.layout.distances));
        if W::IS_NARROW
            && fixed.is_none()
            && let EdgeCost::Stored(objective) = &cost
        {
            return self.with(Problem { graph, objective });
        }
        self.with(Problem { graph, objective: &Migrating::around(cost, fixed) })
    }

    fn with<W: Stored, O: Objective>(&self, level: Problem<'_, W, O>) -> Assignment {
        if let Some(best) = enumeration::best(level, self.targets.load_bounds()) {
            return best;
        }
        let ManyToOnePartitionConfig { sections, cycles, .. } = self.settings;
        let is_flat = self.layout.tree.is_flat() && self.layout.place.is_some();
        let whole = if is_flat { &self.settings.flat.refined } else { &self.settings.whole };
        let Layout { tree, distances, place } = self.layout;
        let refined = (whole, *cycles);
        let first = &Multisection { tree, distances, settings: sections, refined, place };
        let Run { targets, observer, .. } = *self;
        let task = Task { level, targets, first, flow_levels: FlowLevels::All, settings: whole, observer };
        let num_blocks = targets.num_blocks();
        let mut starts: Vec<Vec<BlockId>> = self.starts.to_vec();
        if let Some(place) = place.filter(|_| is_flat && !observer.should_stop()) {
            let plain = &self.settings.flat.plain;
            let mut blocks = smallest_cut(level.graph, targets, plain, self.seed, observer).blocks;
            place_blocks(level, &mut blocks, num_blocks, place, self.seed);
            starts.push(blocks);
        }
        let start = |mut blocks: Vec<BlockId>| {
            targets.fixed().inspect(|fixed| fixed.enforce(&mut blocks));
            Assignment::new(level, blocks, num_blocks)
        };
        let starts = starts.into_iter().map(start).collect();
        let mut best = Pool { starts, goes_on: self.goes_on, ..Pool::new(task, self.seed) }.best();
        fill::fill_empty(level, &mut best, targets.load_bounds());
        best
    }
}
