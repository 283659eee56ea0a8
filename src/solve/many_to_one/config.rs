//! The settings of a many-to-one mapping.

use crate::base::settings::ConfigError;
use crate::partition::{ManyToOnePartitionConfig, PartitionPreset};
use crate::solve::preset::MapPreset;

/// The settings of many-to-one mappings.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ManyToOneConfig {
    /// The partitioner.
    pub settings: ManyToOnePartitionConfig,
    /// The further steps for small problems.
    pub small: Option<SmallProblemConfig>,
    /// If given, the effort of this preset is tried too, and the result is not worse.
    pub not_worse_than: Option<MapPreset>,
}

impl ManyToOneConfig {
    /// The settings of a preset.
    pub fn preset(preset: MapPreset) -> Self {
        let small = SmallProblemConfig {
            most_places: 4096,
            two_steps: PartitionPreset::Eco,
            exchange: preset,
            most_arcs: 1 << 15,
        };
        let (settings, small, not_worse_than) = match preset {
            MapPreset::Strong => (ManyToOnePartitionConfig::strong(), Some(small), Some(MapPreset::Eco)),
            MapPreset::Eco => (ManyToOnePartitionConfig::eco(), Some(small), Some(MapPreset::Fast)),
            MapPreset::Fast => (ManyToOnePartitionConfig::fast(), None, None),
        };
        Self { settings, small, not_worse_than }
    }

    /// Checks that every number is in its range.
    ///
    /// # Errors
    ///
    /// The first number that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.settings.validate().map_err(|error| error.inside("settings"))
    }
}

/// The further steps for problems that are small enough to try more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SmallProblemConfig {
    /// The greatest number of places, which is the sum of the bounds of all PEs, of a small problem.
    pub most_places: usize,
    /// The effort of a further start: a partition of small cut whose blocks are then mapped.
    pub two_steps: PartitionPreset,
    /// The effort of the one-to-one mapping of vertices to places at the end, if all vertices weigh 1.
    pub exchange: MapPreset,
    /// The greatest number of arcs of a graph whose vertices are exchanged. Balances J against time, which grows with the arcs.
    pub most_arcs: usize,
}
