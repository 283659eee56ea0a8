//! The settings of a mapping, and the presets as whole values of them.

use std::time::Duration;

use super::effort::Constructions;
use crate::construct::ConstructionConfig;
use crate::partition::Preset;
use crate::search::{Improvement, Neighbourhood, SearchConfig};
use crate::topology::DistanceKind;

/// How much time to spend on how good a mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(into = "&'static str")]
#[allow(missing_docs)]
pub enum MapPreset {
    Strong,
    #[default]
    Eco,
    Fast,
}

impl MapPreset {
    /// Every preset, in the order in which they are listed.
    pub const ALL: [MapPreset; 3] = [MapPreset::Strong, MapPreset::Eco, MapPreset::Fast];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            MapPreset::Strong => "strong",
            MapPreset::Eco => "eco",
            MapPreset::Fast => "fast",
        }
    }
}

impl From<MapPreset> for &'static str {
    fn from(preset: MapPreset) -> Self {
        preset.name()
    }
}

/// Everything that decides about a mapping besides the problem itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapConfig {
    /// Names every random stream.
    pub seed: u64,
    /// Threads to use, at least 1; the result does not depend on it.
    pub threads: usize,
    /// How distances are had; `None` takes the faster way. The result does not depend on it.
    pub distances: Option<DistanceKind>,
    /// The first mapping.
    pub construction: ConstructionConfig,
    /// How many constructions are tried, each with random choices of its own.
    pub constructions: Constructions,
    /// Its improvement before local search; left out if the neighbourhood is none.
    pub improvement: Improvement,
    /// If given, improvement goes on, from new constructions and from the best mapping by turns, until this time
    /// after the beginning, and the run ends soon after it at the latest.
    pub time_limit: Option<Duration>,
    /// The local search at the end.
    pub search: SearchConfig,
    /// The result is not worse than with the effort of this preset, which is tried besides.
    pub not_worse_than: Option<MapPreset>,
}

impl MapConfig {
    /// The settings of a preset, with seed 0 and one thread.
    pub fn preset(preset: MapPreset) -> Self {
        let (undivided, constructions, improvement) = match preset {
            MapPreset::Strong => {
                (0, Constructions { effort: 360, size: 120_000, careful: usize::MAX }, Improvement::STRONG)
            }
            MapPreset::Eco => {
                (64, Constructions { effort: 78, size: 50_000, careful: usize::MAX }, Improvement::ECO)
            }
            MapPreset::Fast => {
                (64, Constructions { effort: 28, size: 45_000, careful: 45_000 }, Improvement::FAST)
            }
        };
        Self {
            seed: 0,
            threads: 1,
            distances: None,
            construction: ConstructionConfig {
                inner: Preset::Fast,
                undivided,
                ..ConstructionConfig::default()
            },
            constructions,
            improvement,
            time_limit: None,
            search: SearchConfig::default(),
            not_worse_than: (preset == MapPreset::Strong).then_some(MapPreset::Eco),
        }
    }

    /// The same with the effort of a preset.
    pub(super) fn with_effort_of(&self, preset: MapPreset) -> Self {
        let Self { construction, constructions, improvement, not_worse_than, .. } = Self::preset(preset);
        let construction = ConstructionConfig { algorithm: self.construction.algorithm, ..construction };
        Self { construction, constructions, improvement, not_worse_than, ..*self }
    }

    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.threads == 0 {
            return Err(ConfigError::NoThreads);
        }
        match self.search.neighbourhood {
            Neighbourhood::NSquarePruned if self.search.block_size == 0 => Err(ConfigError::NoBlockSize),
            Neighbourhood::Communication if self.search.max_hops == 0 => Err(ConfigError::NoHops),
            _ => Ok(()),
        }
    }
}

impl Default for MapConfig {
    fn default() -> Self {
        Self::preset(MapPreset::default())
    }
}

/// A number of a [`MapConfig`] that is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation
pub enum ConfigError {
    #[error("at least 1 thread is needed")]
    NoThreads,
    #[error("intervals of the nsquarepruned neighbourhood have at least 1 process")]
    NoBlockSize,
    #[error(
        "the communication neighbourhood reaches at least 1 hop; for no search take the neighbourhood none"
    )]
    NoHops,
}
