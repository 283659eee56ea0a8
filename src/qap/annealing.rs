//! Simulated annealing of exchanges.
//!
//! Pairs are proposed in turn, so that each has its chance at each temperature (Connolly 1990). The temperature falls geometrically from one at which
//! a small share of the proposals that raise J is accepted.
//!
//! A proposal takes O(n) time, an accepted one O(n) besides.
//!
//! D. T. Connolly: An improved annealing scheme for the QAP. European Journal of Operational Research 46, 1990.

use super::arrangement::Arrangement;
use super::dense::Number;
use super::settings::Improvement;
use super::vector::{Work, widest};
use crate::observer::Watch;
use crate::rng::Rng;

/// Anneals an arrangement; the end is where the last temperature leaves it.
pub(super) fn anneal<T: Number>(
    now: &mut Arrangement<'_, T>,
    improvement: &Improvement,
    rng: &mut Rng,
    watch: &mut Watch<'_>,
) {
    let Improvement { rounds, hot, cold, .. } = *improvement;
    let n = now.dense.size;
    if n < 2 || rounds == 0 {
        return;
    }
    let rounds = affordable(rounds, n);
    let scale = typical_delta(now, rng);
    let (initial, last) = (hot * scale, cold * scale);
    let factor = (last / initial).powf(1.0 / f64::from(rounds));
    let mut temperature = initial;
    for _ in 0..rounds {
        for i in 0..n {
            widest(Row { now, i, temperature, rng });
            if watch.stops_after(n * n) {
                return;
            }
        }
        temperature *= factor;
    }
}

/// The proposals of the exchanges of an object with those after it.
struct Row<'r, 'a, T> {
    now: &'r mut Arrangement<'a, T>,
    i: usize,
    temperature: f64,
    rng: &'r mut Rng,
}

impl<T: Number> Work for Row<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { now, i, temperature, rng } = self;
        for j in i + 1..now.dense.size {
            let delta = now.delta(i, j);
            if delta <= T::default() || rng.unit() < (-(delta.to() as f64) / temperature).exp() {
                now.exchange(i, j, delta);
            }
        }
    }
}

/// So many rounds, or fewer if these are too much work for the size.
pub(super) fn affordable(rounds: u32, n: usize) -> u32 {
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
        sum += (now.delta(i as usize, j as usize).to() as f64).abs();
    }
    (sum / f64::from(SAMPLES)).max(f64::MIN_POSITIVE)
}

/// Exchanges that the mean is taken of.
const SAMPLES: u32 = 1000;

/// Products of entries at most, n³ a round: large problems are annealed with fewer rounds, so that an annealing takes seconds.
const MOST_WORK: u64 = 1 << 31;
