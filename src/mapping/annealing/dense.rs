//! Annealing of an assignment of two dense matrices, where the change of J by an exchange does not depend on neighbours.
//!
//! Pairs are proposed in turn, so that each has its chance at each temperature (Connolly 1990). The temperature falls geometrically, from one at
//! which a small share of the proposals that raise J is accepted.
//!
//! A schedule may be begun on one structure and continued on another that gives the same changes of J: which of them is faster depends on how many
//! proposals are accepted. Both lead to the same assignment.
//!
//! D. T. Connolly: An improved annealing scheme for the QAP. European Journal of Operational Research 46, 1990.

use crate::ground::metropolis::accepts;
use crate::ground::observer::Watch;
use crate::ground::rng::Rng;
use crate::ground::vector::{Work, widest};

/// Exchanges of which the mean change of J is taken.
const SAMPLES: u32 = 1000;

/// Products of entries at most, n³ a sweep: large problems are annealed with fewer sweeps, so that an annealing takes seconds.
const MOST_WORK: u64 = 1 << 31;

/// An assignment of n objects that is annealed.
pub(crate) trait Exchanges {
    /// A change of J.
    type Change: Copy + PartialOrd + Default;
    /// The number of objects.
    fn size(&self) -> usize;
    /// The change of J by the exchange of two objects, of which the first is the lower.
    fn delta(&self, i: usize, j: usize) -> Self::Change;
    /// The nearest number of double precision.
    fn float(delta: Self::Change) -> f64;
    /// Exchanges two objects; `delta` is the change of J by that.
    fn exchange(&mut self, i: usize, j: usize, delta: Self::Change);
    /// About how many entries could be read in the time of a proposal, and in that of an exchange besides.
    fn work(&self) -> [f64; 2];
}

/// A schedule that may be continued where it was left.
pub(crate) struct Annealing {
    temperature: f64,
    /// What the temperature is multiplied by after each sweep.
    factor: f64,
    /// Sweeps to come.
    left: u32,
    /// About how many entries have been read.
    work: f64,
}

impl Annealing {
    /// A schedule of `sweeps` sweeps, or fewer if these are too much work for the size, before the first of them. The temperature falls from `hot` to
    /// `cold` times the mean change of J.
    pub(crate) fn new(now: &impl Exchanges, sweeps: u32, hot: f64, cold: f64, rng: &mut Rng) -> Self {
        let left = if now.size() < 2 { 0 } else { affordable(sweeps, now.size()) };
        if left == 0 {
            return Self { temperature: 0.0, factor: 0.0, left, work: 0.0 };
        }
        let scale = typical_delta(now, rng);
        let (initial, last) = (hot * scale, cold * scale);
        let factor = (last / initial).powf(1.0 / f64::from(left));
        Self { temperature: initial, factor, left, work: 0.0 }
    }

    /// About how many entries have been read.
    pub(crate) fn work(&self) -> f64 {
        self.work
    }

    /// Whether no sweep is left.
    #[cfg(test)]
    pub(crate) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Makes the sweeps that are left, or those up to the first that makes fewer exchanges than `few` for each object. The assignment is left
    /// as the last sweep left it.
    pub(crate) fn run(&mut self, now: &mut impl Exchanges, few: f64, rng: &mut Rng, watch: &mut Watch<'_>) {
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
            if delta <= E::Change::default() || accepts(E::float(delta) * per_temperature, rng) {
                now.exchange(i, j, delta);
                made += 1;
            }
        }
        made
    }
}

/// At most `sweeps` sweeps; fewer if these are too much work for the size.
fn affordable(sweeps: u32, n: usize) -> u32 {
    let most = MOST_WORK / (n.max(1) as u64).pow(3);
    sweeps.min(u32::try_from(most.max(1)).unwrap_or(u32::MAX))
}

/// The mean of the absolute changes of J by random exchanges.
fn typical_delta<E: Exchanges>(now: &E, rng: &mut Rng) -> f64 {
    let n = now.size() as u32;
    let mut sum = 0.0;
    for _ in 0..SAMPLES {
        let i = rng.below(n);
        let j = (i + 1 + rng.below(n - 1)) % n;
        sum += E::float(now.delta(i.min(j) as usize, i.max(j) as usize)).abs();
    }
    (sum / f64::from(SAMPLES)).max(f64::MIN_POSITIVE)
}
