//! The settings of a mapping, and the presets as whole values of them.

use std::time::Duration;

use super::effort::Constructions;
use crate::ground::settings::{ConfigError, check_at_least_one, members};
use crate::machine::{DistanceKind, Machine};
use crate::mapping::annealing::Cooling;
use crate::mapping::construct::{Construction, ConstructionConfig, Multilevel};
use crate::mapping::search::{Improvement, Neighbourhood, SearchConfig};
use crate::partition::PartitionPreset;

members! {
    /// Trade-off of time and quality.
    #[derive(Default)]
    pub enum MapPreset: "preset" {
        /// The best mapping: about thirty times the effort of `eco`.
        Strong = "strong" by MapConfig::strong,
        /// A good mapping.
        #[default]
        Eco = "eco" by MapConfig::eco,
        /// A mapping with about a third of the effort of `eco`.
        Fast = "fast" by MapConfig::fast,
    }

    fn config(self) -> MapConfig = function()
}

impl From<PartitionPreset> for MapPreset {
    /// Mappings have the same preset for both kinds of graphs.
    fn from(preset: PartitionPreset) -> Self {
        match preset {
            PartitionPreset::Strong | PartitionPreset::StrongSocial => Self::Strong,
            PartitionPreset::Eco | PartitionPreset::EcoSocial => Self::Eco,
            PartitionPreset::Fast | PartitionPreset::FastSocial => Self::Fast,
        }
    }
}

impl From<MapPreset> for PartitionPreset {
    /// The preset of the same name.
    fn from(preset: MapPreset) -> Self {
        match preset {
            MapPreset::Strong => Self::Strong,
            MapPreset::Eco => Self::Eco,
            MapPreset::Fast => Self::Fast,
        }
    }
}

/// All settings of a mapping.
///
/// ```
/// use viem::mapping::solve::{MapConfig, MapPreset};
///
/// let config = MapConfig::preset(MapPreset::Fast).with_seed(7).with_threads(2);
/// assert!(config.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MapConfig {
    /// The seed of every random stream.
    pub seed: u64,
    /// Threads to use, at least 1; the result does not depend on it.
    pub threads: usize,
    /// How distances are computed; `None` selects the faster way. The result does not depend on it.
    pub distances: Option<DistanceKind>,
    /// The construction of the first mapping.
    pub construction: ConstructionConfig,
    /// The number of constructions, each with its own random choices.
    pub constructions: Constructions,
    /// The improvement before local search; skipped if the neighbourhood is `none`.
    pub improvement: Improvement,
    /// If given, improvement continues until this time after the start, alternately from new constructions
    /// and from the best mapping. The run ends soon after this time. Serialised in seconds.
    #[serde(with = "crate::ground::settings::seconds")]
    pub time_limit: Option<Duration>,
    /// The final local search.
    pub search: SearchConfig,
    /// If given, the effort of this preset is tried too, and the result is not worse. `fast` is tried only on small problems,
    /// as it costs a third of the time of `eco`, whose results are then hardly ever worse.
    pub not_worse_than: Option<MapPreset>,
}

impl MapConfig {
    /// The settings of a preset, with seed 0 and one thread.
    pub fn preset(preset: MapPreset) -> Self {
        preset.config()
    }

    fn fast() -> Self {
        let default = ConstructionConfig::default();
        Self {
            seed: 0,
            threads: 1,
            distances: None,
            construction: ConstructionConfig {
                inner: PartitionPreset::Fast,
                undivided: 64,
                domains: Cooling { proposals: 500, ..default.domains },
                multilevel: Multilevel {
                    cooling: Cooling { proposals: 300, ..default.multilevel.cooling },
                    tries: 8,
                },
                ..default
            },
            constructions: Constructions { effort: 28, size: 45_000, careful: 45_000, anywhere: 1 },
            improvement: Improvement::FAST,
            time_limit: None,
            search: SearchConfig::default(),
            not_worse_than: None,
        }
    }

    fn eco() -> Self {
        let fast = Self::fast();
        let domains = Cooling { proposals: 1000, ..fast.construction.domains };
        let multilevel = ConstructionConfig::default().multilevel;
        Self {
            construction: ConstructionConfig { domains, multilevel, ..fast.construction },
            constructions: Constructions { effort: 78, size: 50_000, careful: usize::MAX, anywhere: 1 },
            improvement: Improvement::ECO,
            not_worse_than: Some(MapPreset::Fast),
            ..fast
        }
    }

    fn strong() -> Self {
        let eco = Self::eco();
        Self {
            construction: ConstructionConfig { undivided: 0, ..eco.construction },
            constructions: Constructions { effort: 360, size: 120_000, careful: usize::MAX, anywhere: 4 },
            improvement: Improvement::STRONG,
            not_worse_than: Some(MapPreset::Eco),
            ..eco
        }
    }

    /// The same with a seed.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same with a number of threads, at least 1.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The same with a way to compute distances.
    pub fn with_distances(self, distances: impl Into<Option<DistanceKind>>) -> Self {
        Self { distances: distances.into(), ..self }
    }

    /// The same with a construction.
    pub fn with_construction(self, algorithm: Construction) -> Self {
        Self { construction: self.construction.with_algorithm(algorithm), ..self }
    }

    /// The same with a neighbourhood in its default extent.
    pub fn with_neighbourhood(self, neighbourhood: Neighbourhood) -> Self {
        Self { search: SearchConfig::of(neighbourhood), ..self }
    }

    /// The same with a time limit, or none.
    pub fn with_time_limit(self, time_limit: impl Into<Option<Duration>>) -> Self {
        Self { time_limit: time_limit.into(), ..self }
    }

    /// The settings that decide the result on a machine. Open choices are filled in. Settings that do not
    /// affect the result (threads, the way to compute distances) are as in the presets. Runs with equal
    /// effective settings give the same mapping.
    pub fn effective_on(&self, machine: &dyn Machine) -> Self {
        let is_tree = machine.hierarchy().is_some();
        let algorithm = self.construction.algorithm_for(is_tree, machine.room() as usize);
        Self { threads: 1, distances: None, ..self.with_construction(algorithm) }
    }

    /// The same with the effort of a preset.
    pub(super) fn with_effort_of(&self, preset: MapPreset) -> Self {
        let Self { construction, constructions, improvement, not_worse_than, .. } = Self::preset(preset);
        let construction = ConstructionConfig { algorithm: self.construction.algorithm, ..construction };
        Self { construction, constructions, improvement, not_worse_than, ..*self }
    }

    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_at_least_one("threads", self.threads)?;
        self.construction.validate().map_err(|error| error.inside("construction"))?;
        self.improvement.validate().map_err(|error| error.inside("improvement"))?;
        self.search.validate().map_err(|error| error.inside("search"))
    }
}

impl Default for MapConfig {
    fn default() -> Self {
        Self::preset(MapPreset::default())
    }
}
