//! The general quadratic assignment problem: two matrices of integers, which need be neither sparse nor
//! symmetric.
//!
//! | member | contents |
//! |---|---|
//! | `machine` | problems with the distances of a machine, which are mapped to it |
//! | `settings` | all settings, and the presets as whole values of them |
//! | `run` | a whole run |
//!
//! What searches and proves is in `mapping::dense`: small mappings use it too.
//!
//! Objects (facilities, processes) are the indices of the first matrix, places (locations) those of the
//! second.

mod machine;
mod run;
mod settings;

pub use crate::mapping::dense::{
    Qap, QapError, QapImprovement, QapQuick, QapWay, gilmore_lawler, lower_bound,
};
pub use machine::QapMachine;
pub use run::{QapSolution, QapSolveError, solve, solve_watched};
pub use settings::QapConfig;
