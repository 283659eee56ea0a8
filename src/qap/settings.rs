//! The settings of a run, and the presets as whole values of them.

use std::time::Duration;

use crate::ground::settings::{ConfigError, check, check_at_least_one, check_positive};
use crate::ground::types::Cost;
use crate::mapping::solve::MapPreset;

/// All settings of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct QapConfig {
    /// The seed of every random stream.
    pub seed: u64,
    /// Threads to use, at least 1; without a time limit the result does not depend on it.
    pub threads: usize,
    /// If given, the search continues until this time after the start, with any number of children.
    /// Serialised in seconds.
    #[cfg_attr(feature = "serde", serde(with = "crate::ground::settings::seconds"))]
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
    /// How the members of a quick generation are made.
    pub quick: QapQuick,
    /// Problems of at most this many objects are solved to optimality, if that takes no more than `branches`
    /// or the time limit.
    pub exact_size: usize,
    /// Upper limit on the branches of branch and bound, if there is no time limit.
    pub branches: u64,
}

/// How an assignment is improved: by annealing, then by tabu search.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct QapImprovement {
    /// Sweeps of annealing; each proposes every pair once.
    pub rounds: u32,
    /// The initial temperature, as a share of the mean change of J.
    pub hot: f64,
    /// The final temperature, as a share of the mean change of J.
    pub cold: f64,
    /// Iterations of tabu search.
    pub iterations: u32,
}

/// A way to make a child from members of the population.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct QapWay {
    /// Number of parents: two; one, of which the child starts as a copy; or none, with a random start.
    pub parents: u32,
    /// The improvement of the child.
    pub improvement: QapImprovement,
}

/// How the members of a quick generation are made, which converges soon and is then replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct QapQuick {
    /// The improvement of random assignments.
    pub first: QapImprovement,
    /// The improvement of a child of two parents.
    pub child: QapImprovement,
}

impl QapConfig {
    /// The settings of a preset, with seed 0 and one thread.
    pub fn preset(preset: MapPreset) -> Self {
        let (population, children) = match preset {
            MapPreset::Strong => (24, 2400),
            MapPreset::Eco => (16, 160),
            MapPreset::Fast => (8, 16),
        };
        Self {
            seed: 0,
            threads: 1,
            time_limit: None,
            target: None,
            machine: Some(preset),
            population,
            children,
            first: QapImprovement::new(500, 0.3, 0.01, 2000),
            ways: [
                QapWay::new(2, QapImprovement::new(50, 0.1, 0.01, 1000)),
                QapWay::new(2, QapImprovement::new(50, 0.03, 0.01, 1000)),
                QapWay::new(2, QapImprovement::new(0, 0.1, 0.01, 10_000)),
                QapWay::new(1, QapImprovement::new(100, 0.05, 0.01, 500)),
                QapWay::new(0, QapImprovement::new(1000, 0.3, 0.01, 1000)),
            ],
            quick: QapQuick {
                first: QapImprovement::new(100, 0.3, 0.01, 1000),
                child: QapImprovement::new(0, 0.1, 0.01, 400),
            },
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

    /// Whether every number is in its range.
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

impl QapWay {
    /// A number of parents, at most two, and the improvement of the child.
    pub const fn new(parents: u32, improvement: QapImprovement) -> Self {
        Self { parents, improvement }
    }
}

impl QapQuick {
    /// The improvements of random assignments and of children of two parents.
    pub const fn new(first: QapImprovement, child: QapImprovement) -> Self {
        Self { first, child }
    }
}

impl QapImprovement {
    /// Sweeps of annealing between the temperatures `hot` and `cold`, then iterations of tabu search.
    pub const fn new(rounds: u32, hot: f64, cold: f64, iterations: u32) -> Self {
        Self { rounds, hot, cold, iterations }
    }

    fn validate(&self) -> Result<(), ConfigError> {
        check_positive("hot", self.hot)?;
        check_positive("cold", self.cold)?;
        check("cold", self.cold, self.cold <= self.hot, "at most hot")
    }
}

impl Default for QapConfig {
    fn default() -> Self {
        Self::preset(MapPreset::default())
    }
}
