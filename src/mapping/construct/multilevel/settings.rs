//! On which machines multilevel construction is the default, and how it solves its levels.

use crate::base::settings::{ConfigError, check_at_least_one};
use crate::mapping::annealing::Cooling;

/// Largest number of places for which multilevel construction is the default. It anneals levels of at most
/// half that size, and on larger ones bisection does better.
pub(in crate::mapping::construct) const MOST_MULTILEVEL: usize = 1 << 12;

/// How the levels are solved.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Multilevel {
    /// How each level is annealed.
    pub cooling: Cooling,
    /// Number of mappings of the last level.
    pub tries: u32,
}

impl Multilevel {
    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_at_least_one("tries", self.tries as usize)?;
        self.cooling.validate().map_err(|error| error.inside("cooling"))
    }
}
