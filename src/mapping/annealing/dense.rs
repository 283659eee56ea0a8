//! Annealing of an assignment between two dense matrices, where evaluating an exchange does not use
//! adjacency.
//!
//! Pairs are proposed in a fixed order, so that each is tried at each temperature (Connolly 1990). The
//! temperature falls geometrically, starting where a small share of the proposals that raise J is accepted.
//!
//! A schedule may begin on one data structure and continue on another that computes the same changes of J.
//! Which one is faster depends on the acceptance rate. Both lead to the same assignment.
//!
//! D. T. Connolly: An improved annealing scheme for the QAP. European Journal of Operational Research 46,
//! 1990.

use crate::base::exchange::{Evaluator, at_temperature, sweep};
use crate::base::observer::Watch;
use crate::base::rng::Rng;
use crate::base::vector::{Work, widest};

/// Random exchanges sampled for the mean change of J.
const SAMPLES: u32 = 1000;

/// Upper limit on the matrix entries read, about n³ per sweep. Large problems are annealed with fewer sweeps,
/// so that annealing takes seconds.
const MOST_WORK: u64 = 1 << 31;

/// An assignment of n objects under annealing. A move exchanges two objects, the lower one first.
pub(crate) trait Exchanges: Evaluator<Move = (usize, usize)> {
    /// The number of objects that may be exchanged: the first ones.
    fn num_movable(&self) -> usize;
    /// A change of J as the nearest double.
    fn float(delta: &Self::Change) -> f64;
    /// The approximate time of a proposal, and the additional time of an exchange, in matrix entries read.
    fn work(&self) -> [f64; 2];
}

/// A schedule that can be interrupted and resumed.
pub(crate) struct Annealing {
    temperature: f64,
    /// The factor applied to the temperature after each sweep.
    factor: f64,
    /// Sweeps left.
    left: u32,
    /// Approximate work so far, in matrix entries read.
    work: f64,
}

impl Annealing {
    /// A schedule of `sweeps` sweeps, or fewer if that is too much work for the size. The temperature falls
    /// from `hot` to `cold` times the mean change of J.
    pub(crate) fn new(now: &mut impl Exchanges, sweeps: u32, hot: f64, cold: f64, rng: &mut Rng) -> Self {
        let left = if now.num_movable() < 2 { 0 } else { affordable(sweeps, now.num_movable()) };
        if left == 0 {
            return Self { temperature: 0.0, factor: 0.0, left, work: 0.0 };
        }
        let scale = typical_delta(now, rng);
        let (initial, last) = (hot * scale, cold * scale);
        let factor = (last / initial).powf(1.0 / f64::from(left));
        Self { temperature: initial, factor, left, work: 0.0 }
    }

    /// Approximate work so far, in matrix entries read.
    pub(crate) fn work(&self) -> f64 {
        self.work
    }

    /// Returns whether no sweep is left.
    #[cfg(test)]
    pub(crate) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Runs the remaining sweeps, or stops after the first sweep with fewer than `few` exchanges per object.
    /// The assignment stays as the last sweep left it.
    pub(crate) fn run(&mut self, now: &mut impl Exchanges, few: f64, rng: &mut Rng, watch: &mut Watch<'_>) {
        let n = now.num_movable();
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
            self.work += 0.5 * (n * n) as f64 * of_proposal + made as f64 * of_exchange;
            if (made as f64) < few * n as f64 {
                return;
            }
        }
    }
}

/// Proposes to exchange an object with each of those after it; counts the exchanges made.
struct Row<'r, E> {
    now: &'r mut E,
    i: usize,
    per_temperature: f64,
    rng: &'r mut Rng,
}

impl<E: Exchanges> Work for Row<'_, E> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let Self { now, i, per_temperature, rng } = self;
        let mut pairs = (i + 1..now.num_movable()).map(|j| (i, j));
        let by_chance =
            |_: &mut E, delta: &E::Change| at_temperature(E::float(delta) * per_temperature, 1.0, rng);
        sweep(now, |_| pairs.next(), by_chance).made
    }
}

/// At most `sweeps` sweeps; fewer if that is too much work for the size.
fn affordable(sweeps: u32, n: usize) -> u32 {
    let most = MOST_WORK / (n.max(1) as u64).pow(3);
    sweeps.min(u32::try_from(most.max(1)).unwrap_or(u32::MAX))
}

/// The mean absolute change of J over random exchanges.
fn typical_delta<E: Exchanges>(now: &mut E, rng: &mut Rng) -> f64 {
    let n = now.num_movable() as u32;
    let mut sum = 0.0;
    for _ in 0..SAMPLES {
        let i = rng.below(n);
        let j = (i + 1 + rng.below(n - 1)) % n;
        sum += E::float(&now.change(&(i.min(j) as usize, i.max(j) as usize))).abs();
    }
    (sum / f64::from(SAMPLES)).max(f64::MIN_POSITIVE)
}
