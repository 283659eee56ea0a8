//! Simulated annealing of exchanges.
//!
//! Pairs are proposed in turn, so that each has its chance at each temperature (Connolly 1990). The temperature falls geometrically from one at which
//! a small share of the proposals that raise J is accepted.
//!
//! On an [`Arrangement`] a proposal takes O(n) time, and an accepted one O(n) besides. On a [`DeltaTable`] a proposal takes O(1), and an accepted one
//! O(n²): that is faster once few are accepted. Both lead to the same.
//!
//! D. T. Connolly: An improved annealing scheme for the QAP. European Journal of Operational Research 46, 1990.

use super::arrangement::Arrangement;
use super::number::Number;
use super::settings::Improvement;
use super::table::DeltaTable;
use super::vector::{Work, widest};
use crate::ground::metropolis::accepts;
use crate::ground::observer::Watch;
use crate::ground::rng::Rng;

/// Entries that could be read in the time of a proposal that reads one.
const PROPOSAL: f64 = 16.0;

/// What an exchange in a table takes, in times n² entries.
pub(super) const EXCHANGE: f64 = 2.0;

/// A table is faster where fewer exchanges than this are made in a round for each object. It balances their time, O(n²), against that of
/// proposals without a table, O(n) each. Judged on problems of 60 to 150 objects; with another value, results are the same
/// but for the time limit.
pub(super) const FEW: f64 = 0.125;

/// What can be annealed.
pub(super) trait Exchanges {
    type Change: Number;
    /// The number of objects.
    fn size(&self) -> usize;
    /// The change of J by the exchange of two objects, of which the first is the lower.
    fn delta(&self, i: usize, j: usize) -> Self::Change;
    /// Exchanges two objects, where J changes by so much.
    fn exchange(&mut self, i: usize, j: usize, delta: Self::Change);
    /// About how many entries could be read in the time of a proposal, and in that of an exchange besides.
    fn work(&self) -> [f64; 2];
}

/// An annealing, which may go on where it was left.
pub(super) struct Annealing {
    temperature: f64,
    /// What the temperature is multiplied by after each round.
    factor: f64,
    /// Rounds to come.
    left: u32,
    /// About how many entries have been read.
    pub(super) work: f64,
}

impl Annealing {
    /// One of an arrangement, before its first round.
    pub(super) fn new<T: Number>(now: &Arrangement<'_, T>, improvement: &Improvement, rng: &mut Rng) -> Self {
        let Improvement { rounds, hot, cold, .. } = *improvement;
        let left = if now.size() < 2 { 0 } else { affordable(rounds, now.size()) };
        if left == 0 {
            return Self { temperature: 0.0, factor: 0.0, left, work: 0.0 };
        }
        let scale = typical_delta(now, rng);
        let (initial, last) = (hot * scale, cold * scale);
        let factor = (last / initial).powf(1.0 / f64::from(left));
        Self { temperature: initial, factor, left, work: 0.0 }
    }

    /// Goes on to the end, or until a round in which so few exchanges were made for each object. What it leaves is where the last
    /// temperature led.
    pub(super) fn run(&mut self, now: &mut impl Exchanges, few: f64, rng: &mut Rng, watch: &mut Watch<'_>) {
        let n = now.size();
        let [of_proposal, of_exchange] = now.work();
        while self.left > 0 {
            let mut made = 0;
            for i in 0..n {
                made += widest(Row { now, i, per_temperature: 1.0 / self.temperature, rng });
                if watch.stops_after(n * n) {
                    self.left = 0;
                    return;
                }
            }
            self.temperature *= self.factor;
            self.left -= 1;
            self.work += 0.5 * (n * n) as f64 * of_proposal + f64::from(made) * of_exchange;
            if f64::from(made) < few * n as f64 {
                return;
            }
        }
    }
}

impl<T: Number> Exchanges for Arrangement<'_, T> {
    type Change = T;

    fn size(&self) -> usize {
        self.dense.size
    }

    #[inline(always)]
    fn delta(&self, i: usize, j: usize) -> T {
        Arrangement::delta(self, i, j)
    }

    #[inline(always)]
    fn exchange(&mut self, i: usize, j: usize, delta: T) {
        Arrangement::exchange(self, i, j, delta);
    }

    fn work(&self) -> [f64; 2] {
        let n = self.dense.size as f64;
        [n, n]
    }
}

impl<T: Number> Exchanges for DeltaTable<'_, T> {
    type Change = T;

    fn size(&self) -> usize {
        self.place_of().len()
    }

    #[inline(always)]
    fn delta(&self, i: usize, j: usize) -> T {
        self.row(i)[j]
    }

    #[inline(always)]
    fn exchange(&mut self, i: usize, j: usize, _: T) {
        DeltaTable::exchange(self, i, j);
    }

    fn work(&self) -> [f64; 2] {
        let n = self.place_of().len() as f64;
        [PROPOSAL, EXCHANGE * n * n]
    }
}

/// The proposals of the exchanges of an object with those after it; how many are made.
struct Row<'r, E> {
    now: &'r mut E,
    i: usize,
    per_temperature: f64,
    rng: &'r mut Rng,
}

impl<E: Exchanges> Work for Row<'_, E> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let Self { now, i, per_temperature, rng } = self;
        let mut made = 0;
        for j in i + 1..now.size() {
            let delta = now.delta(i, j);
            if delta <= E::Change::default() || accepts(delta.float() * per_temperature, rng) {
                now.exchange(i, j, delta);
                made += 1;
            }
        }
        made
    }
}

/// So many rounds, or fewer if these are too much work for the size.
fn affordable(rounds: u32, n: usize) -> u32 {
    let most = MOST_WORK / (n.max(1) as u64).pow(3);
    rounds.min(u32::try_from(most.max(1)).unwrap_or(u32::MAX))
}

/// The mean of the absolute deltas of random exchanges.
fn typical_delta<T: Number>(now: &Arrangement<'_, T>, rng: &mut Rng) -> f64 {
    let n = now.dense.size as u32;
    let mut sum = 0.0;
    for _ in 0..SAMPLES {
        let i = rng.below(n);
        let j = (i + 1 + rng.below(n - 1)) % n;
        sum += now.delta(i as usize, j as usize).float().abs();
    }
    (sum / f64::from(SAMPLES)).max(f64::MIN_POSITIVE)
}

/// Exchanges that the mean is taken of.
const SAMPLES: u32 = 1000;

/// Products of entries at most, n³ a round: large problems are annealed with fewer rounds, so that an annealing takes seconds.
const MOST_WORK: u64 = 1 << 31;

#[cfg(test)]
mod tests {
    use super::super::dense::Plain;
    use super::super::form::Qap;
    use super::*;

    #[test]
    fn with_a_table_or_without_annealing_leads_to_the_same() {
        for (size, few) in [(2, 0.0), (9, 0.5), (24, 0.3), (40, 2.0)] {
            let mut rng = Rng::new(size as u64);
            let mut matrix = || (0..size * size).map(|_| i64::from(rng.below(50)) - 10).collect::<Vec<_>>();
            let qap = Qap::from_matrices(size, matrix(), matrix()).unwrap();
            let dense = Plain::new(&qap).dense::<f32>().unwrap();
            let start: Vec<u32> = (0..size as u32).collect();
            let improvement = Improvement { rounds: 60, hot: 0.3, cold: 0.01, iterations: 0 };
            let annealed = |few| {
                let (mut rng, mut watch) = (Rng::new(7), Watch::new(&()));
                let mut now = Arrangement::new(&dense, &start).unwrap();
                let mut annealing = Annealing::new(&now, &improvement, &mut rng);
                annealing.run(&mut now, few, &mut rng, &mut watch);
                let left = annealing.left;
                let mut table = DeltaTable::of(now).unwrap();
                annealing.run(&mut table, 0.0, &mut rng, &mut watch);
                assert_eq!(annealing.left, 0);
                assert_eq!(table.cost() * dense.scale, qap.cost(table.place_of()));
                (left, table.place_of().to_vec())
            };
            let (without, with) = (annealed(0.0), annealed(few));
            assert!(without.0 == 0 && (with.0 > 0 || few == 0.0), "{size}");
            assert_eq!(without.1, with.1);
        }
    }
}
