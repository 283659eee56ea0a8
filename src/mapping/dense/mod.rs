//! One-to-one mapping with both matrices in memory: searches and proofs for problems that are small or not sparse.
//!
//! | member | contents |
//! |---|---|
//! | `form` | the problem in its original form; J |
//! | `number`, `width` | the number types for sums of J; the choice of an exact one |
//! | `square`, `sparse` | a matrix row by row; the nonzero entries of a sparse matrix |
//! | `narrow` | both matrices in the narrowest exact number type |
//! | `arrangement` | an assignment; the change of J by an exchange, O(n) |
//! | `table` | the change of J by every exchange, O(n²) per exchange |
//! | `annealing` | the adapters for [annealing](crate::mapping::annealing) |
//! | `tabu` | robust tabu search |
//! | `crossover` | children of one or two assignments |
//! | `memetic` | the population of assignments |
//! | `effort` | the effort of the search |
//! | `embed` | problems whose optimum follows from their shape |
//! | `bound`, `exact` | lower bounds; branch and bound for small problems |
//!
//! Objects (facilities, processes) are the indices of the first matrix, places (locations) those of the
//! second.

mod annealing;
mod arrangement;
mod bound;
mod crossover;
mod effort;
pub(crate) mod embed;
pub(crate) mod exact;
mod form;
mod memetic;
mod narrow;
mod number;
mod sparse;
mod square;
mod table;
mod tabu;
mod width;

pub(crate) use bound::lower_bound_around;
pub use bound::{gilmore_lawler, lower_bound};
pub(crate) use effort::Effort;
pub use effort::{QapImprovement, QapQuick, QapWay};
pub(crate) use form::pairs_in_tiles;
pub use form::{Qap, QapError};
pub(crate) use memetic::MOST_TABLED;

use self::memetic::Memetic;
use self::narrow::{Dense, Plain};
use self::number::Number;
use self::width::Width;
use crate::base::observer::Observer;
use crate::base::types::Cost;

/// A search for a good assignment.
pub(crate) struct Search<'a> {
    pub(crate) qap: &'a Qap,
    /// Number of objects that may move, which are the first.
    pub(crate) movable: usize,
    pub(crate) effort: &'a Effort,
    /// The search ends once J is at most this.
    pub(crate) target: Cost,
    /// May end the search.
    pub(crate) observer: &'a dyn Observer,
}

impl Search<'_> {
    /// The best assignment found, with the narrowest exact number type; not worse than the start.
    pub(crate) fn run(&self, start: &[u32]) -> Result<Vec<u32>, QapError> {
        // Conversion takes long for large matrices.
        let plain = (!self.observer.should_stop()).then(|| Plain::new(self.qap));
        let Some(plain) = plain.filter(|_| !self.observer.should_stop()) else { return Ok(start.to_vec()) };
        match plain.width {
            Width::Single => self.run_in::<f32>(&plain, start),
            Width::Double => self.run_in::<f64>(&plain, start),
            Width::Whole => self.run_in::<i64>(&plain, start),
        }
    }

    fn run_in<T: Number>(&self, plain: &Plain, start: &[u32]) -> Result<Vec<u32>, QapError> {
        let &Self { movable, effort, observer, .. } = self;
        let dense = Dense { movable, ..plain.dense::<T>()? };
        let target = self.target.div_euclid(dense.scale);
        Ok(Memetic { dense: &dense, effort, target, observer }.run(&[start.to_vec()])?.place_of)
    }
}
