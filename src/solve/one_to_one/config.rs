//! The settings of a one-to-one mapping.

use super::effort::Constructions;
use crate::base::settings::ConfigError;
use crate::machine::{DistanceKind, Machine};
use crate::mapping::annealing::Cooling;
use crate::mapping::construct::{Construction, ConstructionConfig, Multilevel};
use crate::mapping::search::{Improvement, SearchConfig};
use crate::partition::PartitionPreset;
use crate::solve::preset::MapPreset;

/// The settings of one-to-one mappings: constructions, improvement, the final local search.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OneToOneConfig {
    /// The way to compute distances; `None` selects the faster one. The result does not depend on it.
    pub distances: Option<DistanceKind>,
    /// The construction of the first mapping.
    pub construction: ConstructionConfig,
    /// The number of constructions, each with its own random choices.
    pub constructions: Constructions,
    /// The improvement before local search; skipped if the neighbourhood is `none`.
    pub improvement: Improvement,
    /// The final local search.
    pub search: SearchConfig,
    /// If given, the effort of this preset is tried too, and the result is not worse. `fast` is tried only on small problems,
    /// as it costs a third of the time of `eco`, whose results are then hardly ever worse.
    pub not_worse_than: Option<MapPreset>,
}

impl OneToOneConfig {
    /// The settings of a preset.
    pub fn preset(preset: MapPreset) -> Self {
        match preset {
            MapPreset::Strong => Self::strong(),
            MapPreset::Eco => Self::eco(),
            MapPreset::Fast => Self::fast(),
        }
    }

    fn fast() -> Self {
        let default = ConstructionConfig::default();
        Self {
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

    /// The same with a construction.
    pub fn with_construction(self, algorithm: Construction) -> Self {
        Self { construction: self.construction.with_algorithm(algorithm), ..self }
    }

    /// The settings that decide the result on a machine. Open choices are filled in, and the way to compute distances is open. Runs with equal
    /// effective settings give the same mapping.
    pub fn effective_on(&self, machine: &dyn Machine) -> Self {
        let is_tree = machine.hierarchy().is_some();
        let algorithm = self.construction.algorithm_for(is_tree, machine.room() as usize);
        Self { distances: None, ..self.with_construction(algorithm) }
    }

    /// The same with the effort of a preset.
    pub(super) fn with_effort_of(&self, preset: MapPreset) -> Self {
        let Self { construction, constructions, improvement, not_worse_than, .. } = Self::preset(preset);
        let construction = ConstructionConfig { algorithm: self.construction.algorithm, ..construction };
        Self { construction, constructions, improvement, not_worse_than, ..*self }
    }

    /// Checks that every number is in its range.
    ///
    /// # Errors
    ///
    /// The first number that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.construction.validate().map_err(|error| error.inside("construction"))?;
        self.improvement.validate().map_err(|error| error.inside("improvement"))?;
        self.search.validate().map_err(|error| error.inside("search"))
    }
}
