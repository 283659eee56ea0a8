//! All settings of a run, and the presets as whole values of them.

use std::time::Duration;

use super::many_to_one::ManyToOneConfig;
use super::one_to_one::OneToOneConfig;
use super::preset::MapPreset;
use crate::base::settings::{ConfigError, check_at_least_one};
use crate::machine::DistanceKind;
use crate::mapping::construct::Construction;
use crate::mapping::search::{Neighbourhood, SearchConfig};
use crate::partition::PartitionPreset;

/// All settings of a run, independent of the request.
///
/// ```
/// use viem::{Config, MapPreset};
///
/// let config = Config::preset(MapPreset::Fast).with_seed(7).with_threads(2);
/// assert!(config.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// The seed of every random stream.
    pub seed: u64,
    /// Threads to use, at least 1; the result does not depend on it.
    pub threads: usize,
    /// If given, a mapping is improved until this time after the start: alternately from new constructions and from the best mapping, or by
    /// further mappings that are combined with it. Partitions and remappings end early, but do not continue until then. Serialised in seconds.
    #[serde(with = "crate::base::settings::seconds")]
    pub time_limit: Option<Duration>,
    /// Mappings in which each process has a place of its own.
    pub one_to_one: OneToOneConfig,
    /// Mappings in which many vertices share a PE.
    pub many_to_one: ManyToOneConfig,
    /// Partitions of small cut.
    pub partition: PartitionPreset,
}

impl Config {
    /// The settings of a preset, with seed 0, one thread and no time limit.
    pub fn preset(preset: MapPreset) -> Self {
        Self {
            seed: 0,
            threads: 1,
            time_limit: None,
            one_to_one: OneToOneConfig::preset(preset),
            many_to_one: ManyToOneConfig::preset(preset),
            partition: preset.into(),
        }
    }

    /// The settings for the best mappings.
    pub fn strong() -> Self {
        Self::preset(MapPreset::Strong)
    }

    /// The settings for good mappings, the default.
    pub fn eco() -> Self {
        Self::preset(MapPreset::Eco)
    }

    /// The settings for mappings in little time.
    pub fn fast() -> Self {
        Self::preset(MapPreset::Fast)
    }

    /// The same with a seed.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same with a number of threads, at least 1.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The same with a time limit, or none.
    pub fn with_time_limit(self, time_limit: impl Into<Option<Duration>>) -> Self {
        Self { time_limit: time_limit.into(), ..self }
    }

    /// The same with a way to compute the distances of one-to-one mappings.
    pub fn with_distances(self, distances: impl Into<Option<DistanceKind>>) -> Self {
        Self { one_to_one: OneToOneConfig { distances: distances.into(), ..self.one_to_one }, ..self }
    }

    /// The same with a construction of one-to-one mappings.
    pub fn with_construction(self, algorithm: Construction) -> Self {
        Self { one_to_one: self.one_to_one.with_construction(algorithm), ..self }
    }

    /// The same with a neighbourhood of the final local search, in its default extent. With [`Neighbourhood::None`], initial mappings are not
    /// improved.
    pub fn with_neighbourhood(self, neighbourhood: Neighbourhood) -> Self {
        let search = SearchConfig::of(neighbourhood);
        Self { one_to_one: OneToOneConfig { search, ..self.one_to_one }, ..self }
    }

    /// Checks that every number is in its range.
    ///
    /// # Errors
    ///
    /// The first number that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_at_least_one("threads", self.threads)?;
        self.one_to_one.validate().map_err(|error| error.inside("one_to_one"))?;
        self.many_to_one.validate().map_err(|error| error.inside("many_to_one"))
    }
}

impl From<PartitionPreset> for Config {
    /// The settings of a preset of the partitioner; those of mappings are of the preset that is nearest to it.
    fn from(partition: PartitionPreset) -> Self {
        Self { partition, ..Self::preset(partition.into()) }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::preset(MapPreset::default())
    }
}
