//! The effort of improving a mapping.

use super::anywhere::Anywhere;
use super::small_instance::SmallInstance;
use crate::base::settings::ConfigError;
use crate::mapping::annealing::TreeCooling;
use crate::partition::PartitionPreset;

/// The effort of improving a mapping.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Improvement {
    /// The annealing inside each small group, as the first step.
    pub inside: TreeCooling,
    /// The annealing of the whole mapping, as the second step.
    pub annealing: TreeCooling,
    /// Effort of a tournament round: how much each survivor is rebuilt before the better half is chosen.
    pub tournament: u32,
    /// Effort of rebuilding the best mapping: rounds times (1 + mean degree), since the time of a round grows
    /// with the number of edges.
    pub rebuilding: u32,
    /// The effort of the partitions of rebuilding.
    pub partitions: PartitionPreset,
    /// The annealing of rebuilt regions.
    pub rebuilt: TreeCooling,
    /// The effort on a machine that is not a regular tree.
    pub anywhere: Anywhere,
    /// The steps at the end of a run if there are few places.
    pub small_instance: SmallInstance,
}

impl Improvement {
    /// Returns whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.inside.validate().map_err(|error| error.inside("inside"))?;
        self.annealing.validate().map_err(|error| error.inside("annealing"))?;
        self.rebuilt.validate().map_err(|error| error.inside("rebuilt"))?;
        self.anywhere.validate().map_err(|error| error.inside("anywhere"))?;
        self.small_instance.validate().map_err(|error| error.inside("small_instance"))
    }

    /// A good mapping with little effort.
    pub const FAST: Self = Self {
        inside: TreeCooling::new(60, 0.7, 0.3),
        annealing: TreeCooling::new(60, 0.07, 0.02),
        tournament: 0,
        rebuilding: 24,
        partitions: PartitionPreset::Fast,
        rebuilt: TreeCooling::new(60, 0.05, 0.02),
        anywhere: Anywhere::FAST,
        small_instance: SmallInstance::FAST,
    };

    /// A better mapping with about three times that effort.
    pub const ECO: Self = Self {
        inside: TreeCooling::new(200, 0.7, 0.2),
        annealing: TreeCooling::new(200, 0.07, 0.02),
        tournament: 20,
        rebuilding: 100,
        anywhere: Anywhere::ECO,
        small_instance: SmallInstance::ECO,
        ..Self::FAST
    };

    /// The best mapping, with about ten times the effort of [`ECO`](Self::ECO).
    pub const STRONG: Self = Self {
        inside: TreeCooling::new(500, 0.7, 0.1),
        annealing: TreeCooling::new(500, 0.07, 0.02),
        tournament: 100,
        rebuilding: 1800,
        rebuilt: TreeCooling::new(100, 0.05, 0.02),
        anywhere: Anywhere::STRONG,
        small_instance: SmallInstance::STRONG,
        ..Self::FAST
    };
}
