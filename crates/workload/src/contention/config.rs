//! The settings of the search for an objective.

use super::objective::JobObjective;
use viem::base::settings::{ConfigError, check};

/// What is minimised, how far J may rise, and the effort of the search.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BottleneckConfig {
    /// What is minimised. With J, a mapping of small J is the result as it is given.
    pub objective: JobObjective,
    /// The share of J by which it may rise, from 0 to 1. The order of the processes or a cut of a grid whose busiest carrier has less load than all that is
    /// found within that share is improved all the same, from its own J.
    pub excess: f64,
    /// The power of the mean of the loads, from 1 to 64: the higher, the more the busiest count.
    pub power: u32,
    /// The number of moves that annealing tries for each process.
    pub moves: u32,
    /// The share of the worsenings of mean size that are accepted at the beginning, above 0 and below 1.
    pub initial_acceptance: f64,
    /// The approximate number of edges that annealing visits at most, whatever the number of their carriers. On trees, and for loads of nodes, it is a
    /// quarter of that. Small jobs are annealed several times if the effort allows that; the smallest and densest jobs visit more edges.
    pub effort: u64,
    /// The seed.
    pub seed: u64,
}

impl Default for BottleneckConfig {
    fn default() -> Self {
        Self {
            objective: JobObjective::Bottleneck,
            excess: 0.03,
            power: 16,
            moves: 600,
            initial_acceptance: 0.1,
            effort: 1 << 24,
            seed: 0,
        }
    }
}

impl BottleneckConfig {
    /// The same settings for another objective.
    pub fn with_objective(self, objective: JobObjective) -> Self {
        Self { objective, ..self }
    }

    /// The same settings, but J may rise by this share.
    pub fn with_excess(self, excess: f64) -> Self {
        Self { excess, ..self }
    }

    /// The same settings with other random choices.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Checks that every number is in its range.
    ///
    /// # Errors
    ///
    /// The first number that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let is_share = self.initial_acceptance > 0.0 && self.initial_acceptance < 1.0;
        check("excess", self.excess, (0.0..=1.0).contains(&self.excess), "from 0 to 1")?;
        check("power", self.power, (1..=64).contains(&self.power), "from 1 to 64")?;
        check("initial_acceptance", self.initial_acceptance, is_share, "above 0 and below 1")
    }
}
