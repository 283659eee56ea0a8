//! The general quadratic assignment problem: two matrices of integers, which need be neither sparse nor
//! symmetric.
//!
//! | member | contents |
//! |---|---|
//! | `form` | the problem in its original form; J |
//! | `number`, `width` | the number types for sums of J; the choice of an exact one |
//! | `square`, `sparse` | a matrix row by row; the nonzero entries of a sparse matrix |
//! | `dense` | both matrices in the narrowest exact number type |
//! | `arrangement` | an assignment; the change of J by an exchange, O(n) |
//! | `table` | the change of J by every exchange, O(n²) per exchange |
//! | `annealing` | the adapters for [annealing](crate::mapping::annealing) |
//! | `tabu` | robust tabu search |
//! | `crossover` | children of one or two assignments |
//! | `memetic` | the population of assignments |
//! | `embed` | problems whose optimum follows from their shape |
//! | `machine` | problems with the distances of a machine, which are mapped to it |
//! | `bound`, `exact` | lower bounds; branch and bound for small problems |
//! | `settings` | all settings, and the presets as whole values of them |
//! | `run` | a whole run |
//!
//! Objects (facilities, processes) are the indices of the first matrix, places (locations) those of the
//! second.

mod annealing;
mod arrangement;
mod bound;
mod crossover;
mod dense;
mod embed;
mod exact;
mod form;
mod machine;
mod memetic;
mod number;
mod run;
mod settings;
mod sparse;
mod square;
mod table;
mod tabu;
mod width;

pub use bound::{gilmore_lawler, lower_bound};
pub use form::{Qap, QapError};
pub use machine::QapMachine;
pub use run::{QapSolution, QapSolveError, solve, solve_watched};
pub use settings::{QapConfig, QapImprovement, QapQuick, QapWay};
