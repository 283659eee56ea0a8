//! The settings of a run, and the presets as whole values of them.

use std::time::Duration;

use crate::ground::settings::{ConfigError, check, check_at_least_one, check_positive};
use crate::ground::types::Cost;
use crate::mapping::solve::MapPreset;

/// Everything that determines an assignment besides the problem itself.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct QapConfig {
    /// The seed of every random stream.
    pub seed: u64,
    /// Threads to use, at least 1; without a time limit the result does not depend on it.
    pub threads: usize,
    /// If given, the search goes on until this time after the beginning, however many children that makes. Serialised in
    /// seconds.
    #[cfg_attr(feature = "serde", serde(with = "crate::ground::settings::seconds"))]
    pub time_limit: Option<Duration>,
    /// If given, the search ends once J is at most this.
    pub target: Option<Cost>,
    /// The effort of the mapping where either matrix holds the distances of a machine; without one, no machine is looked for.
    pub machine: Option<MapPreset>,
    /// Members of the population.
    pub population: usize,
    /// Children, if there is no time limit.
    pub children: usize,
    /// How a random assignment becomes a member.
    pub first: QapImprovement,
    /// How a child becomes a member: ways that have made more members for their work are taken more often.
    pub ways: [QapWay; 5],
    /// How members of a quick generation are made.
    pub quick: QapQuick,
    /// Problems of at most this many objects are solved to a proof, if that takes no more than `branches` or the time limit.
    pub exact_size: usize,
    /// Branches of the branch and bound at most, if there is no time limit.
    pub branches: u64,
}

/// How an assignment is improved: by annealing, then by tabu search.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct QapImprovement {
    /// Rounds of annealing; in each, every pair is proposed once.
    pub rounds: u32,
    /// The first temperature, as a part of the mean change of J.
    pub hot: f64,
    /// The last temperature, as a part of the mean change of J.
    pub cold: f64,
    /// Iterations of tabu search.
    pub iterations: u32,
}

/// How a child comes from members of the population.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct QapWay {
    /// Its parents: two; one, whose copy it begins as; or none, and it begins at random.
    pub parents: u32,
    /// How it is improved.
    pub improvement: QapImprovement,
}

/// How members of a quick generation are made, which become alike soon and make room for the next.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct QapQuick {
    /// How a random assignment becomes a member.
    pub first: QapImprovement,
    /// How a child of two becomes a member.
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

    /// The same with a J that is good enough, or none.
    pub fn with_target(self, target: impl Into<Option<Cost>>) -> Self {
        Self { target: target.into(), ..self }
    }

    /// The same with an effort of the mapping to a machine, or none.
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
    /// A number of parents, at most two, and how the child is improved.
    pub const fn new(parents: u32, improvement: QapImprovement) -> Self {
        Self { parents, improvement }
    }
}

impl QapQuick {
    /// How a random assignment and a child of two become members.
    pub const fn new(first: QapImprovement, child: QapImprovement) -> Self {
        Self { first, child }
    }
}

impl QapImprovement {
    /// Rounds of annealing between the temperatures `hot` and `cold`, then iterations of tabu search.
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
