//! The settings of each phase.

/// How bisections are found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BisectionSettings {
    /// Coarsening stops at this many vertices.
    pub coarsest: usize,
    /// Bisections grown on the coarsest graph.
    pub tries: usize,
    /// Most passes of the refinement on each level.
    pub passes: usize,
    /// Moves without success after which a pass ends.
    pub patience: usize,
}

/// How partitions into many blocks are refined.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KWaySettings {
    /// Coarsening stops at this many vertices a block.
    pub coarsest_per_block: usize,
    /// Most rounds on each level.
    pub rounds: usize,
    /// Moves without success after which a search ends.
    pub patience: usize,
    /// Moves that a search makes at least before it may be given up as hopeless.
    pub least_steps: usize,
    /// Vertices from which a search starts; `usize::MAX` is the whole boundary.
    pub seeds: usize,
}

/// How pairs of blocks are refined by minimum cuts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FlowSettings {
    /// Most rounds over the pairs on each level; 0 for none.
    pub rounds: usize,
    /// The share of each block that a region may take.
    pub region: f64,
}

/// All phases.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub initial_tries: usize,
    pub cycles: usize,
    pub slack: f64,
    pub exact_slack: i64,
    pub exact_rounds: usize,
    pub exact_patience: usize,
    pub bisection: BisectionSettings,
    pub k_way: KWaySettings,
    pub flow: FlowSettings,
}

fn env(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|t| t.parse().ok()).unwrap_or(default)
}

impl Settings {
    pub fn of(_preset: super::Preset) -> Self {
        Self {
            initial_tries: env("IT", 1),
            cycles: env("VC", 0),
            slack: env("SL", 0) as f64 / 1000.0,
            exact_slack: env("ES", 1) as i64,
            exact_rounds: env("ER", 1),
            exact_patience: env("EP", 30),
            bisection: BisectionSettings {
                coarsest: env("BC", 60),
                tries: env("BT", 4),
                passes: env("BP", 4),
                patience: env("BF", 50),
            },
            k_way: KWaySettings {
                coarsest_per_block: env("KC", 30),
                rounds: env("KR", 6),
                patience: env("KF", 300),
                least_steps: env("OB", 20),
                seeds: env("KS", 25),
            },
            flow: FlowSettings { rounds: env("FR", 0), region: env("FP", 30) as f64 / 100.0 },
        }
    }
}
