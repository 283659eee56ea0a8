//! The settings of a run, and the presets as whole values of them.

use std::time::Duration;

use crate::base::settings::{ConfigError, check, check_at_least_one};
use crate::base::types::Cost;
use crate::mapping::dense::{Effort, QapImprovement, QapQuick, QapWay};
use crate::solve::MapPreset;

/// All settings of a run.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct QapConfig {
    /// The seed of every random stream.
    pub seed: u64,
    /// Threads to use, at least 1; without a time limit the result does not depend on it.
    pub threads: usize,
    /// If given, the search continues until this time after the start, with any number of children.
    /// Serialised in seconds.
    #[serde(with = "crate::base::settings::seconds")]
    pub time_limit: Option<Duration>,
    /// If given, the search ends once J is at most this.
    pub target: Option<Cost>,
    /// The effort of the mapping if one matrix holds the distances of a machine; `None` skips the search for
    /// a machine.
    pub machine: Option<MapPreset>,
    /// Members of the population.
    pub population: usize,
    /// Number of children, if there is no time limit.
    pub children: usize,
    /// The improvement of random assignments.
    pub first: QapImprovement,
    /// The ways to make a child. Those that have produced more members for their work are used more often.
    pub ways: [QapWay; 5],
    /// The settings of a quick generation.
    pub quick: QapQuick,
    /// Problems of at most this many objects are solved to optimality, if that takes no more than `branches`
    /// or the time limit.
    pub exact_size: usize,
    /// Upper limit on the branches of branch and bound, if there is no time limit.
    pub branches: u64,
}

impl QapConfig {
    /// The settings of a preset, with seed 0 and one thread.
    pub fn preset(preset: MapPreset) -> Self {
        let (population, children) = match preset {
            MapPreset::Strong => (24, 2400),
            MapPreset::Eco => (16, 160),
            MapPreset::Fast => (8, 16),
        };
        let Effort { first, ways, quick, .. } = Effort::new(population, children);
        Self {
            seed: 0,
            threads: 1,
            time_limit: None,
            target: None,
            machine: Some(preset),
            population,
            children,
            first,
            ways,
            quick,
            exact_size: 13,
            branches: 1_000_000,
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

    /// The same with a time limit, or none.
    pub fn with_time_limit(self, time_limit: impl Into<Option<Duration>>) -> Self {
        Self { time_limit: time_limit.into(), ..self }
    }

    /// The same with a target for J, or none.
    pub fn with_target(self, target: impl Into<Option<Cost>>) -> Self {
        Self { target: target.into(), ..self }
    }

    /// The same with an effort of mapping to a machine, or without mapping.
    pub fn with_machine(self, machine: impl Into<Option<MapPreset>>) -> Self {
        Self { machine: machine.into(), ..self }
    }

    /// The effort of the dense search.
    pub(super) fn effort(&self) -> Effort {
        let &Self { seed, population, first, ways, quick, .. } = self;
        let children = self.time_limit.is_none().then_some(self.children);
        Effort { seed, population, children, agreeing: None, first, ways, quick }
    }

    /// Returns whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_at_least_one("threads", self.threads)?;
        check("population", self.population, self.population >= 2, "at least 2")?;
        self.first.validate().map_err(|error| error.inside("first"))?;
        self.quick.first.validate().map_err(|error| error.inside("quick.first"))?;
        self.quick.child.validate().map_err(|error| error.inside("quick.child"))?;
        for (at, way) in self.ways.iter().enumerate() {
            way.improvement.validate().map_err(|error| error.inside(&format!("ways.{at}")))?;
        }
        Ok(())
    }
}

impl Default for QapConfig {
    fn default() -> Self {
        Self::preset(MapPreset::default())
    }
}
