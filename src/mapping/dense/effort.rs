//! The effort of the dense search.

use crate::base::settings::{ConfigError, check, check_positive};

/// The effort of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The seed of every random stream.
    pub(crate) seed: u64,
    /// Members of the population.
    pub(crate) population: usize,
    /// Number of children; if `None`, children are made until the observer ends the search.
    pub(crate) children: Option<usize>,
    /// The search ends once this many independent generations have found the best J; never for that if `None`.
    pub(crate) agreeing: Option<usize>,
    /// The improvement of random assignments.
    pub(crate) first: QapImprovement,
    /// The ways to make a child.
    pub(crate) ways: [QapWay; 5],
    /// The settings of a quick generation.
    pub(crate) quick: QapQuick,
}

impl Effort {
    /// The effort for a population and a number of children, with seed 0.
    pub(crate) fn new(population: usize, children: usize) -> Self {
        Self {
            seed: 0,
            population,
            children: Some(children),
            agreeing: None,
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
        }
    }
}

/// The settings of the improvement of an assignment: by annealing, then by tabu search.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
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
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct QapWay {
    /// Number of parents: two; one, of which the child starts as a copy; or none, with a random start.
    pub parents: u32,
    /// The improvement of the child.
    pub improvement: QapImprovement,
}

/// The settings of a quick generation, which converges soon and is then replaced.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct QapQuick {
    /// The improvement of random assignments.
    pub first: QapImprovement,
    /// The improvement of a child of two parents.
    pub child: QapImprovement,
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

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        check_positive("hot", self.hot)?;
        check_positive("cold", self.cold)?;
        check("cold", self.cold, self.cold <= self.hot, "at most hot")
    }
}
