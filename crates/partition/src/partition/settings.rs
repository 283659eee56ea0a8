//! The settings of each phase, and the presets as whole values of them.
//!
//! | preset | partitions | combined | FM searches from | flow rounds, hops | searches at exact sizes |
//! |---|---|---|---|---|---|
//! | `fast` | 1 | - | 25 vertices | - | 2 |
//! | `eco` | 2 from 500 vertices per block or 20 000 in all on | - | 25 vertices | 1, 5 | 3 |
//! | `strong` | 4 | twice | single vertices | 5, 20 | 3 |
//!
//! On a Cartesian grid, the last partition of several competes with a [division](DivisionConfig) of the whole graph. Graphs of
//! at most 1000 vertices get more partitions from `eco` on, and of tiny ones all are tried ([`PoolConfig`]).
//!
//! Perfectly balanced partitions have settings of their own ([`PartitionConfig::exact`]), as balancing takes a good part of the
//! time there: `fast` has a round of flows and searches once more at exact sizes, `eco` always makes two partitions.
//!
//! Graphs with heavy-tailed degrees are recognised by the skew of their degrees and get other settings ([`HeavyTailedConfig`]). All presets
//! refine them beyond the bounds and back, and `fast` does nothing else; large ones it contracts around hubs, which leaves few levels of few arcs
//! ([`LargeConfig`]). Between hubs there are no small cuts for flows to find; `eco`
//! combines two partitions instead. The `social` presets take every graph for one of these, and contract larger clusters at once, so that
//! hubs vanish in few levels. All presets contract clusters; matchings were no better on any kind of graph, and slower.
//!
//! docs/TUNING.md says what each number balances, and which command shows its curve.

use super::coarsen::Contraction;
use super::fixed::FixedVertices;
use crate::base::settings::{ConfigError, check, check_at_least_one, check_share, members};
use crate::base::types::{NodeId, Weight};
use crate::graph::CsrGraph;
use crate::graph::hubs::skew_of_degrees;

members! {
    /// The trade-off of time and quality. The `social` presets are for graphs with heavy-tailed degrees.
    #[allow(missing_docs)]
    pub enum PartitionPreset: "preset" {
        Strong = "strong" by PartitionConfig::strong;
        Eco = "eco" by PartitionConfig::eco;
        Fast = "fast" by PartitionConfig::fast;
        FastSocial = "fastsocial" by PartitionConfig::fast_social;
        EcoSocial = "ecosocial" by PartitionConfig::eco_social;
        StrongSocial = "strongsocial" by PartitionConfig::strong_social;
    }

    fn settings(self) -> PartitionConfig = function()
}

impl PartitionPreset {
    /// The preset that takes less time, of the same kind.
    pub(super) fn quicker(self) -> Option<Self> {
        match self {
            Self::Strong => Some(Self::Eco),
            Self::Eco => Some(Self::Fast),
            Self::StrongSocial => Some(Self::EcoSocial),
            Self::EcoSocial => Some(Self::FastSocial),
            Self::Fast | Self::FastSocial => None,
        }
    }
}

/// All settings of the partitioner, nested by phase.
///
/// ```
/// use viem::partition::{PartitionPreset, PartitionConfig};
///
/// let mut settings = PartitionConfig::preset(PartitionPreset::Eco);
/// settings.flow.rounds = 3;
/// assert!(settings.validate().is_ok());
/// settings.flow.region = 1.5;
/// let error = settings.validate().unwrap_err();
/// assert_eq!(error.to_string(), "the setting flow.region is 1.5, but it must be above 0 and at most 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PartitionConfig {
    /// How graphs are coarsened.
    pub contraction: Contraction,
    /// Bisections, of which initial partitions are made.
    pub bisection: BisectionConfig,
    /// Division of the whole graph by bisections.
    pub division: DivisionConfig,
    /// The coarsest graph and its partitions.
    pub initial: InitialConfig,
    /// Refinement of all blocks at once.
    pub k_way: KWayConfig,
    /// Refinement beyond the bounds and back.
    pub unconstrained: UnconstrainedConfig,
    /// Refinement of pairs of blocks.
    pub flow: FlowConfig,
    /// Bounds on the way and at the end.
    pub balance: BalanceConfig,
    /// Several partitions, and what is made of them.
    pub pool: PoolConfig,
    /// What holds instead on graphs with heavy-tailed degrees.
    pub heavy_tailed: HeavyTailedConfig,
}

/// The settings that replace others on graphs with heavy-tailed degrees.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct HeavyTailedConfig {
    /// The skew of the degrees from which on a graph is taken for one of these: the mean degree at an end of an edge over the mean degree
    /// of a vertex, which is 1 if all degrees are equal; at least 0. Fixed vertices do not count.
    pub least_skew: f64,
    /// Instead of [`PartitionConfig::k_way`].
    pub k_way: KWayConfig,
    /// Instead of [`PartitionConfig::unconstrained`].
    pub unconstrained: UnconstrainedConfig,
    /// Instead of [`PartitionConfig::flow`].
    pub flow: FlowConfig,
    /// Instead of [`PartitionConfig::pool`].
    pub pool: PoolConfig,
    /// What holds instead on large graphs.
    pub large: LargeConfig,
}

/// The settings that replace others on large graphs with heavy-tailed degrees, for less time and memory.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LargeConfig {
    /// The number of arcs, two for each edge, from which on a graph is taken for one of these.
    pub least_arcs: usize,
    /// Instead of [`PartitionConfig::contraction`].
    pub contraction: Contraction,
    /// Instead of [`HeavyTailedConfig::unconstrained`].
    pub unconstrained: UnconstrainedConfig,
}

/// How bisections are found.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BisectionConfig {
    /// Coarsening stops at this many vertices; at least 1.
    pub coarsest: usize,
    /// Bisections grown on the coarsest graph, of which the best is kept; at least 1.
    pub tries: usize,
    /// The greatest number of passes of the refinement on each level.
    pub passes: usize,
    /// Moves without a new best cut after which a pass ends.
    pub patience: usize,
}

/// How the whole graph is divided by recursive bisection, each half again from its finest level on.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DivisionConfig {
    /// The number of bisections of coarse graphs that all nested bisections together make, each with its own coarsening. There are this number
    /// over log2 of the number of blocks for each, of which the best is refined on all finer levels, and always at least one.
    pub attempts: usize,
    /// The refinement of each bisection by minimum cuts on its finest level; none where vertices are fixed.
    pub flow: FlowConfig,
}

/// How initial partitions are found.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InitialConfig {
    /// Coarsening stops at this many vertices, or at a quarter of the graph if that is less.
    pub coarsest: usize,
    /// Coarsening stops at this many vertices per block at the latest; at least 1.
    pub coarsest_per_block: usize,
    /// The number of nested bisections that all partitions of the coarsest graph may have together, of which the best
    /// partition is kept: there are this number over log2 of the number of blocks. There are fewer if the coarsest graph is
    /// not much smaller than the graph, and always at least one.
    pub bisections: usize,
}

/// How partitions into many blocks are refined.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct KWayConfig {
    /// The greatest number of rounds on each level.
    pub rounds: usize,
    /// Moves without a new best cut after which a search ends.
    pub patience: usize,
    /// Moves that a search makes at least before it may be given up as hopeless.
    pub least_steps: usize,
    /// Vertices from which a search starts; at least 1.
    pub seeds: usize,
}

/// How partitions are refined beyond their bounds and back.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct UnconstrainedConfig {
    /// Rounds on each level without a better partition after which it ends, at most 1000; 0 turns it off.
    pub patience: usize,
    /// The share of its cost by which a partition must be better than the best one to count for the patience; 0 to 1.
    pub least_gain: f64,
    /// True if blocks are brought within their bounds before the first round too.
    pub is_balanced_first: bool,
    /// What a vertex may lose by a move, as a share of what its edges inside its block cost then; 0 to 1.
    pub loss: f64,
}

/// How pairs of blocks are refined by minimum cuts.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FlowConfig {
    /// The greatest number of rounds over the pairs on each level; 0 turns flows off.
    pub rounds: usize,
    /// The share of each block that a region may take; above 0, at most 1.
    pub region: f64,
    /// The greatest number of hops from the boundary that a region may reach.
    pub depth: u32,
}

/// How far blocks may exceed their bounds during refinement, and how they meet them at the end.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BalanceConfig {
    /// The share of its size by which a block may exceed it until the finest level is refined; at least 0.
    pub slack: f64,
    /// The greatest excess, in multiples of the heaviest vertex of the level; at least 0. It is taken back at the end, at
    /// some loss.
    pub slack_nodes: Weight,
    /// The weight by which blocks may exceed the final bounds in the first of several steps towards them. Each step is refined, and the next one
    /// allows half as much. At least 0, which makes no steps.
    pub tightened_from: Weight,
    /// The weight by which FM searches at the end may exceed the final bounds before the blocks are rebalanced; at least
    /// 0.
    pub final_slack: Weight,
    /// The greatest number of such searches.
    pub final_rounds: usize,
    /// Searches for negative cycles of blocks that may fail in a row.
    pub patience: usize,
    /// Moves between blocks that all searches for cycles and paths may look at, in multiples of the arcs of the graph.
    pub effort: usize,
}

/// How many partitions are made, and how often they are combined.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PoolConfig {
    /// The number of independent partitions, of which the best is kept; at least 1.
    pub members: usize,
    /// True if the last of several partitions has to compete with a [division](DivisionConfig) of the whole graph where this is a Cartesian grid
    /// ([`Stencil`](crate::graph::stencil::Stencil)), whose borders should be long and straight. If it is better than all other partitions, it takes
    /// the place of the last one. On finite-element meshes it takes 0.4 times as long again and gains nothing.
    pub divided: bool,
    /// True if all partitions are tried where there are few, as of 17 vertices into two blocks or 10 into three.
    pub exhaustive: bool,
    /// Below this many vertices, a graph of fewer than `least_per_block` vertices per block gets one partition only. Its
    /// initial partition costs more than all the rest.
    pub least_nodes: usize,
    /// Below this many vertices per block, a graph of fewer than `least_nodes` vertices gets one partition only.
    pub least_per_block: usize,
    /// A graph with fewer vertices gets more partitions, the more the smaller it is.
    pub tiny_nodes: usize,
    /// V-cycles of each member: it is coarsened and refined again, and kept on all levels.
    pub cycles: usize,
    /// How often the members are paired and combined; a child replaces the worse parent.
    pub generations: usize,
}

/// Vertices per block on the graph on which a partition is resumed. Balances smooth borders, as large pieces move, against
/// migration. Tuned on the meshes of `cargo bench --bench change`, 64 blocks, from 3 to 100.
const RESUMED_PER_BLOCK: usize = 8;

/// The share of the hops that flows reach from the borders on the whole graph, as a fraction: most borders are good already,
/// as they were in the partition that is resumed. Balances cut against time, of which flows take the most. Tuned on the
/// meshes of `cargo bench --bench change`, generated ones and random geometric graphs, from 2 to 5 hops.
const RESUMED_DEPTH: (u32, u32) = (3, 5);

impl BalanceConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        let is_slack = self.slack >= 0.0 && self.slack.is_finite();
        check("slack", self.slack, is_slack, "a finite number from 0 on")?;
        check("slack_nodes", self.slack_nodes, self.slack_nodes >= 0, "at least 0")?;
        check("tightened_from", self.tightened_from, self.tightened_from >= 0, "at least 0")?;
        check("final_slack", self.final_slack, self.final_slack >= 0, "at least 0")
    }
}

impl HeavyTailedConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        check("least_skew", self.least_skew, self.least_skew >= 0.0, "at least 0")?;
        check_searches(&self.k_way, &self.unconstrained, &self.flow, &self.pool)?;
        self.large.validate().map_err(|error| error.inside("large"))
    }
}

impl LargeConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        self.contraction.validate().map_err(|error| error.inside("contraction"))?;
        self.unconstrained.validate().map_err(|error| error.inside("unconstrained"))
    }
}

/// Fails unless the settings that depend on the degrees of a graph are in their ranges.
fn check_searches(
    k_way: &KWayConfig,
    unconstrained: &UnconstrainedConfig,
    flow: &FlowConfig,
    pool: &PoolConfig,
) -> Result<(), ConfigError> {
    check_at_least_one("k_way.seeds", k_way.seeds)?;
    unconstrained.validate().map_err(|error| error.inside("unconstrained"))?;
    check_share("flow.region", flow.region)?;
    check_at_least_one("pool.members", pool.members)
}

impl UnconstrainedConfig {
    /// Returns whether blocks must be within their bounds when a level is refined.
    pub(super) fn begins_within_bounds(&self) -> bool {
        self.patience == 0 || self.is_balanced_first
    }

    fn validate(&self) -> Result<(), ConfigError> {
        check("patience", self.patience, self.patience <= 1000, "at most 1000")?;
        check("least_gain", self.least_gain, (0.0..=1.0).contains(&self.least_gain), "from 0 to 1")?;
        check("loss", self.loss, (0.0..=1.0).contains(&self.loss), "from 0 to 1")
    }
}

/// The skew of the degrees of the vertices that are free; O(n).
pub(super) fn skew_of_free(graph: &CsrGraph, fixed: Option<&FixedVertices>) -> f64 {
    // What stands for all that stays in a block has far more neighbours than any vertex that may move.
    let is_free = |node: &NodeId| fixed.is_none_or(|fixed| fixed.of(*node).is_none());
    skew_of_degrees(graph.nodes().filter(is_free).map(|node| graph.degree(node)))
}

impl PartitionConfig {
    /// The settings of a preset.
    pub fn preset(preset: PartitionPreset) -> Self {
        preset.settings()
    }

    /// The settings of a preset for perfectly balanced partitions.
    pub fn exact(preset: PartitionPreset) -> Self {
        let settings = Self::preset(preset);
        match preset {
            PartitionPreset::Fast => Self {
                flow: FlowConfig { rounds: 1, ..settings.flow },
                balance: BalanceConfig { final_rounds: 2, patience: 30, effort: 30, ..settings.balance },
                ..settings
            },
            PartitionPreset::Eco => Self { pool: PoolConfig { least_nodes: 0, ..settings.pool }, ..settings },
            _ => settings,
        }
    }

    /// The settings for a graph and all parts of it: those of [`heavy_tailed`](Self::heavy_tailed) instead of others if the degrees of its
    /// free vertices are; O(n).
    pub fn suited_to(&self, graph: &CsrGraph, fixed: Option<&FixedVertices>) -> Self {
        self.suited_to_skew(skew_of_free(graph, fixed), graph.num_arcs())
    }

    /// The same for a graph of this [skew](skew_of_free) with so many arcs.
    pub(super) fn suited_to_skew(&self, skew: f64, num_arcs: usize) -> Self {
        let HeavyTailedConfig { least_skew, k_way, unconstrained, flow, pool, large } = self.heavy_tailed;
        let mut settings = *self;
        if skew >= least_skew {
            settings = Self { k_way, unconstrained, flow, pool, ..settings };
            if num_arcs >= large.least_arcs {
                let LargeConfig { contraction, unconstrained, .. } = large;
                settings = Self { contraction, unconstrained, ..settings };
            }
        }
        settings.heavy_tailed.least_skew = f64::INFINITY;
        settings
    }

    /// The same without what only a partition for its own sake is worth: [division](PoolConfig::divided) of the whole graph, more or
    /// [all](PoolConfig::exhaustive) partitions of tiny ones, the combination of only two partitions, and bounds that are approached in
    /// [steps](BalanceConfig::tightened_from).
    pub fn basic(self) -> Self {
        let basic = |pool| PoolConfig { divided: false, exhaustive: false, tiny_nodes: 0, ..pool };
        let heavy_tailed = HeavyTailedConfig { pool: basic(self.heavy_tailed.pool), ..self.heavy_tailed };
        let generations = if self.pool.members > 2 { self.pool.generations } else { 0 };
        let balance = BalanceConfig { tightened_from: 0, ..self.balance };
        Self { pool: PoolConfig { generations, ..basic(self.pool) }, heavy_tailed, balance, ..self }
    }

    /// The same without coarsening, and bisections grown from more vertices instead.
    ///
    /// On small graphs of regular structure, such as tori, coarsening is misled by the heavy edges: it hides
    /// the few directions in which they are cut best.
    pub fn without_coarsening(self) -> Self {
        let bisection = BisectionConfig { tries: self.bisection.tries.saturating_mul(2), ..self.bisection };
        Self { contraction: Contraction::None, bisection, ..self }
    }

    /// The same for a single pass from the whole graph to a coarse one and back.
    pub(super) fn resuming(&self) -> Self {
        let pool = PoolConfig { members: 1, cycles: 0, generations: 0, ..self.basic().pool };
        let (part, whole) = RESUMED_DEPTH;
        let flow = FlowConfig { depth: self.flow.depth.saturating_mul(part).div_ceil(whole), ..self.flow };
        Self { pool, flow, ..*self }
    }

    /// The same for a partition of the coarse graph that resumes another. A V-cycle costs little there.
    pub(super) fn resuming_coarsest(&self) -> Self {
        let initial = InitialConfig { coarsest: 0, coarsest_per_block: RESUMED_PER_BLOCK, bisections: 0 };
        let pool = PoolConfig { cycles: self.pool.cycles.max(1), ..self.pool };
        Self { initial, pool, ..*self }
    }

    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.contraction.validate().map_err(|error| error.inside("contraction"))?;
        check_at_least_one("bisection.coarsest", self.bisection.coarsest)?;
        check_at_least_one("bisection.tries", self.bisection.tries)?;
        check_at_least_one("initial.coarsest_per_block", self.initial.coarsest_per_block)?;
        check_searches(&self.k_way, &self.unconstrained, &self.flow, &self.pool)?;
        check_share("division.flow.region", self.division.flow.region)?;
        self.balance.validate().map_err(|error| error.inside("balance"))?;
        self.heavy_tailed.validate().map_err(|error| error.inside("heavy_tailed"))
    }

    fn social(self) -> Self {
        Self {
            contraction: Contraction::Clustering { least_share: 0.1 },
            heavy_tailed: HeavyTailedConfig { least_skew: 0.0, ..self.heavy_tailed },
            ..self
        }
    }

    fn fast_social() -> Self {
        Self::fast().social()
    }

    fn strong_social() -> Self {
        Self::strong().social()
    }

    fn eco_social() -> Self {
        Self::eco().social()
    }

    fn fast() -> Self {
        let k_way = KWayConfig { rounds: 6, patience: 300, least_steps: 20, seeds: 25 };
        let unconstrained =
            UnconstrainedConfig { patience: 0, least_gain: 0.002, is_balanced_first: true, loss: 0.25 };
        let flow = FlowConfig { rounds: 0, region: 0.3, depth: 5 };
        let pool = PoolConfig {
            members: 1,
            divided: false,
            exhaustive: true,
            least_nodes: 0,
            least_per_block: 0,
            tiny_nodes: 0,
            cycles: 0,
            generations: 0,
        };
        let heavy_tailed = HeavyTailedConfig {
            least_skew: 2.0,
            k_way: KWayConfig { rounds: 0, ..k_way },
            unconstrained: UnconstrainedConfig { patience: 2, ..unconstrained },
            flow,
            pool,
            large: LargeConfig {
                least_arcs: 1 << 22,
                contraction: Contraction::Hubs { least_share: 0.3 },
                unconstrained: UnconstrainedConfig {
                    patience: 1,
                    least_gain: 0.01,
                    is_balanced_first: false,
                    ..unconstrained
                },
            },
        };
        Self {
            contraction: Contraction::Clustering { least_share: 0.3 },
            bisection: BisectionConfig { coarsest: 60, tries: 4, passes: 4, patience: 50 },
            division: DivisionConfig { attempts: 10, flow: FlowConfig { rounds: 2, ..flow } },
            initial: InitialConfig { coarsest: 2000, coarsest_per_block: 30, bisections: 10 },
            k_way,
            unconstrained,
            flow,
            balance: BalanceConfig {
                slack: 0.02,
                slack_nodes: 15,
                tightened_from: 0,
                final_slack: 3,
                final_rounds: 1,
                patience: 10,
                effort: 20,
            },
            pool,
            heavy_tailed,
        }
    }

    fn eco() -> Self {
        let fast = Self::fast();
        let heavy_tailed = HeavyTailedConfig {
            k_way: fast.k_way,
            unconstrained: UnconstrainedConfig { patience: 12, ..fast.unconstrained },
            pool: PoolConfig { members: 2, generations: 1, ..fast.pool },
            large: LargeConfig { least_arcs: usize::MAX, ..fast.heavy_tailed.large },
            ..fast.heavy_tailed
        };
        Self {
            heavy_tailed,
            flow: FlowConfig { rounds: 1, ..fast.flow },
            balance: BalanceConfig {
                tightened_from: 3,
                final_rounds: 3,
                patience: 100,
                effort: 50,
                ..fast.balance
            },
            pool: PoolConfig {
                members: 2,
                generations: 1,
                divided: true,
                least_nodes: 20_000,
                least_per_block: 500,
                tiny_nodes: 2000,
                ..fast.pool
            },
            ..fast
        }
    }

    fn strong() -> Self {
        let eco = Self::eco();
        let flow = FlowConfig { rounds: 5, depth: 20, ..eco.flow };
        let pool = PoolConfig { members: 4, least_nodes: 0, generations: 2, ..eco.pool };
        let heavy_tailed = HeavyTailedConfig {
            unconstrained: UnconstrainedConfig { patience: 30, ..eco.unconstrained },
            pool: PoolConfig { divided: false, ..pool },
            flow,
            ..eco.heavy_tailed
        };
        Self {
            k_way: KWayConfig { least_steps: 10, seeds: 1, ..eco.k_way },
            flow,
            balance: BalanceConfig { tightened_from: 7, patience: 200, effort: 200, ..eco.balance },
            pool,
            heavy_tailed,
            ..eco
        }
    }
}
