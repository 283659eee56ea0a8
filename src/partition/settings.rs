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
    /// Vertices from which a search starts; `usize::MAX` is the whole boundary.
    pub seeds: usize,
}

/// All phases.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub bisection: BisectionSettings,
    pub k_way: KWaySettings,
}

impl Settings {
    pub fn of(_preset: super::Preset) -> Self {
        Self {
            bisection: BisectionSettings { coarsest: 40, tries: 4, passes: 4, patience: 50 },
            k_way: KWaySettings { coarsest_per_block: 30, rounds: 6, patience: 100, seeds: usize::MAX },
        }
    }
}
