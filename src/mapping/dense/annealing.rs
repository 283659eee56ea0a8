//! Annealing of an assignment, with or without the table of all exchanges.
//!
//! On an [`Arrangement`], a proposal takes O(n) time, and an exchange O(n) more. On a [`DeltaTable`], a
//! proposal takes O(1), and an exchange O(n²), which is faster once exchanges are rare.

use super::arrangement::Arrangement;
use super::effort::QapImprovement;
use super::number::Number;
use super::table::DeltaTable;
use crate::base::exchange::Evaluator;
use crate::base::rng::Rng;
use crate::mapping::annealing::dense::{Annealing, Exchanges};

/// Fixed cost of a proposal, in matrix entries read.
const PROPOSAL: f64 = 16.0;

/// The time of an exchange in a table, in multiples of the time to read n² entries.
pub(super) const EXCHANGE: f64 = 2.0;

/// The table is used when a sweep makes fewer exchanges per object than this. Balances their time, O(n²),
/// against that of proposals without a table, O(n) each. Tuned on problems of 60 to 150 objects; without a
/// time limit, results do not depend on it.
pub(super) const FEW: f64 = 0.125;

impl QapImprovement {
    /// The annealing, before its first sweep.
    pub(super) fn annealing(&self, now: &mut impl Exchanges, rng: &mut Rng) -> Annealing {
        Annealing::new(now, self.rounds, self.hot, self.cold, rng)
    }
}

impl<T: Number> Evaluator for Arrangement<'_, T> {
    type Move = (usize, usize);
    type Change = T;

    #[inline(always)]
    fn change(&mut self, &(i, j): &(usize, usize)) -> T {
        self.delta(i, j)
    }

    #[inline(always)]
    fn make(&mut self, (i, j): (usize, usize), delta: T) {
        self.exchange(i, j, delta);
    }
}

impl<T: Number> Exchanges for Arrangement<'_, T> {
    fn num_movable(&self) -> usize {
        self.dense.movable
    }

    #[inline(always)]
    fn float(delta: &T) -> f64 {
        delta.float()
    }

    fn work(&self) -> [f64; 2] {
        let n = self.dense.size as f64;
        [n, n]
    }
}

impl<T: Number> Evaluator for DeltaTable<'_, T> {
    type Move = (usize, usize);
    type Change = T;

    #[inline(always)]
    fn change(&mut self, &(i, j): &(usize, usize)) -> T {
        self.row(i)[j]
    }

    #[inline(always)]
    fn make(&mut self, (i, j): (usize, usize), _: T) {
        self.exchange(i, j);
    }
}

impl<T: Number> Exchanges for DeltaTable<'_, T> {
    fn num_movable(&self) -> usize {
        self.movable()
    }

    #[inline(always)]
    fn float(delta: &T) -> f64 {
        delta.float()
    }

    fn work(&self) -> [f64; 2] {
        let n = self.place_of().len() as f64;
        [PROPOSAL, EXCHANGE * n * n]
    }
}

#[cfg(test)]
mod tests {
    use super::super::form::Qap;
    use super::super::narrow::Plain;
    use super::*;
    use crate::base::observer::Watch;

    #[test]
    fn annealing_gives_the_same_result_with_and_without_a_table() {
        for (size, few) in [(2, 0.0), (9, 0.5), (24, 0.3), (40, 2.0)] {
            let mut rng = Rng::new(size as u64);
            let mut matrix = || (0..size * size).map(|_| i64::from(rng.below(50)) - 10).collect::<Vec<_>>();
            let qap = Qap::from_matrices(size, matrix(), matrix()).unwrap();
            let dense = Plain::new(&qap).dense::<f32>().unwrap();
            let start: Vec<u32> = (0..size as u32).collect();
            let improvement = QapImprovement { rounds: 60, hot: 0.3, cold: 0.01, iterations: 0 };
            let annealed = |few| {
                let (mut rng, mut watch) = (Rng::new(7), Watch::new(&()));
                let mut now = Arrangement::new(&dense, &start).unwrap();
                let mut annealing = improvement.annealing(&mut now, &mut rng);
                annealing.run(&mut now, few, &mut rng, &mut watch);
                let is_done = annealing.is_done();
                let mut table = DeltaTable::of(now).unwrap();
                annealing.run(&mut table, 0.0, &mut rng, &mut watch);
                assert!(annealing.is_done());
                assert_eq!(table.cost() * dense.scale, qap.cost(table.place_of()));
                (is_done, table.place_of().to_vec())
            };
            let (without, with) = (annealed(0.0), annealed(few));
            assert!(without.0 && (!with.0 || few == 0.0), "{size}");
            assert_eq!(without.1, with.1);
        }
    }
}
