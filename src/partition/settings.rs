//! The settings of each phase, and the presets as whole values of them.
//!
//! | preset | partitions | combined | FM searches from | flow rounds, hops | searches at exact sizes |
//! |---|---|---|---|---|---|
//! | `fast` | 1 | - | 25 vertices | - | 2 |
//! | `eco` | 2 from 500 vertices a block or 20 000 in all on | - | 25 vertices | 1, 5 | 3 |
//! | `strong` | 4 | twice | single vertices | 5, 20 | 3 |
//!
//! Where the blocks must have exact sizes, balancing takes so long that more can be done beside it
//! ([`Settings::exact`]): `fast` has a round of flows and searches once more at exact sizes, `eco` always makes two partitions.
//!
//! The `social` presets contract larger clusters at once, for graphs with heavy-tailed degrees: hubs vanish
//! in few levels. Between hubs there are no small cuts for flows to find; instead of them, `ecosocial` combines two
//! partitions. All presets contract clusters; matchings were no better on any kind of graph and slower.

use super::Preset;
use super::coarsen::Contraction;
use crate::types::Weight;

/// All settings of the partitioner.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How graphs are coarsened.
    pub contraction: Contraction,
    /// Bisections, of which initial partitions are made.
    pub bisection: BisectionSettings,
    /// The coarsest graph and its partitions.
    pub initial: InitialSettings,
    /// Refinement of all blocks at once.
    pub k_way: KWaySettings,
    /// Refinement of pairs of blocks.
    pub flow: FlowSettings,
    /// Bounds on the way and at the end.
    pub balance: BalanceSettings,
    /// Several partitions, and what is made of them.
    pub pool: PoolSettings,
}

/// How bisections are found.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectionSettings {
    /// Coarsening stops at this many vertices.
    pub coarsest: usize,
    /// Bisections grown on the coarsest graph.
    pub tries: usize,
    /// Most passes of the refinement on each level.
    pub passes: usize,
    /// Moves without success after which a pass ends.
    pub patience: usize,
}

/// How initial partitions are found.
#[derive(Clone, Debug, PartialEq)]
pub struct InitialSettings {
    /// Coarsening stops at this many vertices or a quarter of the graph,
    pub coarsest: usize,
    /// but not below this many vertices a block.
    pub coarsest_per_block: usize,
    /// The best of several partitions of the coarsest graph is kept: this number over log2 of the number of
    /// blocks, fewer if the coarsest graph is not much smaller than the graph.
    pub bisections: usize,
}

/// How partitions into many blocks are refined.
#[derive(Clone, Debug, PartialEq)]
pub struct KWaySettings {
    /// Most rounds on each level.
    pub rounds: usize,
    /// Moves without success after which a search ends.
    pub patience: usize,
    /// Moves that a search makes at least before it may be given up as hopeless.
    pub least_steps: usize,
    /// Vertices from which a search starts.
    pub seeds: usize,
}

/// How pairs of blocks are refined by minimum cuts.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSettings {
    /// Most rounds over the pairs on each level; 0 for none.
    pub rounds: usize,
    /// The share of each block that a region may take.
    pub region: f64,
    /// The most hops from the boundary that a region may reach.
    pub depth: u32,
}

/// How far blocks may exceed their bounds on the way, and how they meet them in the end.
#[derive(Clone, Debug, PartialEq)]
pub struct BalanceSettings {
    /// Blocks may exceed their sizes by this share until the finest level is refined,
    pub slack: f64,
    /// but not by more than this many of the heaviest vertices of the level: what is exceeded must be
    /// taken back.
    pub slack_nodes: Weight,
    /// Afterwards, searches may exceed the final bounds by this weight before they are balanced again.
    pub final_slack: Weight,
    /// Most such searches.
    pub final_rounds: usize,
    /// Searches for cyclic moves that may fail in a row.
    pub patience: usize,
    /// Blocks that all searches may look at, in multiples of the size of the graph.
    pub effort: usize,
}

/// How many partitions are made, and how often they are combined.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolSettings {
    /// Independent partitions; the best is kept.
    pub members: usize,
    /// Graphs of fewer vertices than this,
    pub least_nodes: usize,
    /// and also of fewer for each block than this, get one partition only: there, the initial partition costs more
    /// than all else.
    pub least_per_block: usize,
    /// How often the members are paired and combined, the child in the place of the worse parent.
    pub generations: usize,
    /// How often the best is coarsened and refined again at the end, its cut edges uncontracted.
    pub cycles: usize,
}

impl Settings {
    /// The settings of a preset.
    pub fn of(preset: Preset) -> Self {
        match preset {
            Preset::Fast => Self::fast(),
            Preset::Eco => Self::eco(),
            Preset::Strong => Self::strong(),
            Preset::FastSocial => Self::fast().social(),
            Preset::EcoSocial => Self::eco_social(),
            Preset::StrongSocial => Self::strong().social(),
        }
    }

    /// The settings of a preset for blocks of exact sizes.
    pub fn exact(preset: Preset) -> Self {
        let settings = Self::of(preset);
        match preset {
            Preset::Fast => Self {
                flow: FlowSettings { rounds: 1, ..settings.flow },
                balance: BalanceSettings { final_rounds: 2, patience: 30, effort: 30, ..settings.balance },
                ..settings
            },
            Preset::Eco => Self { pool: PoolSettings { least_nodes: 0, ..settings.pool }, ..settings },
            _ => settings,
        }
    }

    /// The same without coarsening, and bisections grown from more vertices instead.
    ///
    /// On small graphs of regular structure, such as tori, coarsening is misled by the heavy edges: it hides
    /// the few directions in which they are cut best.
    pub fn without_coarsening(self) -> Self {
        let bisection = BisectionSettings { tries: 2 * self.bisection.tries, ..self.bisection };
        Self { contraction: Contraction::None, bisection, ..self }
    }

    fn social(self) -> Self {
        Self { contraction: Contraction::Clustering { least_share: 0.1 }, ..self }
    }

    fn eco_social() -> Self {
        let eco = Self::eco();
        Self {
            flow: FlowSettings { rounds: 0, ..eco.flow },
            pool: PoolSettings { members: 2, least_nodes: 0, generations: 1, ..eco.pool },
            ..eco
        }
        .social()
    }

    fn fast() -> Self {
        Self {
            contraction: Contraction::Clustering { least_share: 0.3 },
            bisection: BisectionSettings { coarsest: 60, tries: 4, passes: 4, patience: 50 },
            initial: InitialSettings { coarsest: 2000, coarsest_per_block: 30, bisections: 10 },
            k_way: KWaySettings { rounds: 6, patience: 300, least_steps: 20, seeds: 25 },
            flow: FlowSettings { rounds: 0, region: 0.3, depth: 5 },
            balance: BalanceSettings {
                slack: 0.02,
                slack_nodes: 15,
                final_slack: 3,
                final_rounds: 1,
                patience: 10,
                effort: 20,
            },
            pool: PoolSettings { members: 1, least_nodes: 0, least_per_block: 0, generations: 0, cycles: 0 },
        }
    }

    fn eco() -> Self {
        let fast = Self::fast();
        Self {
            flow: FlowSettings { rounds: 1, ..fast.flow },
            balance: BalanceSettings { final_rounds: 3, patience: 100, effort: 50, ..fast.balance },
            pool: PoolSettings { members: 2, least_nodes: 20_000, least_per_block: 500, ..fast.pool },
            ..fast
        }
    }

    fn strong() -> Self {
        let eco = Self::eco();
        Self {
            k_way: KWaySettings { least_steps: 10, seeds: 1, ..eco.k_way },
            flow: FlowSettings { rounds: 5, depth: 20, ..eco.flow },
            balance: BalanceSettings { patience: 200, effort: 200, ..eco.balance },
            pool: PoolSettings { members: 4, least_nodes: 0, generations: 2, ..eco.pool },
            ..eco
        }
    }
}
