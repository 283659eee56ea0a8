//! Which worsenings annealing accepts, as by Metropolis et al. (1953): one of x temperatures with the probability `exp(-x)`.

use std::f64::consts::LOG2_E;

use crate::base::rng::Rng;

/// 2^-64.
const UNIT: f64 = 1.0 / (u64::MAX as f64);

/// The quantiles of the exponential distribution with mean 1 at the middles of `RANKS` equal parts, greatest first.
///
/// A draw with a random rank accepts a worsening of at most the quantile of that rank, in temperatures. A table saves a logarithm for each draw.
pub fn quantiles<const RANKS: usize>() -> [f32; RANKS] {
    std::array::from_fn(|rank| -((rank as f64 + 0.5) / RANKS as f64).ln() as f32)
}

/// Returns whether a worsening of x temperatures is accepted. Unlike a table of [`quantiles`] this accepts great ones too, seldom.
///
/// The number of leading zeros of a random number gives the powers of 2 that it lies between, which nearly always decides whether it is below.
#[inline(always)]
pub fn accepts(x: f64, rng: &mut Rng) -> bool {
    let random = rng.next_u64();
    let (zeros, halvings) = (f64::from(random.leading_zeros()), x * LOG2_E);
    halvings <= zeros || halvings < zeros + 1.0 && (random as f64) * UNIT < (-x).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [f64; 5] = [0.01, 0.3, 1.0, 2.5, 6.0];

    #[test]
    fn worsenings_are_accepted_as_often_as_they_should() {
        let mut rng = Rng::new(5);
        for x in POINTS {
            let accepted = (0..40_000).filter(|_| accepts(x, &mut rng)).count() as f64;
            let (expected, most) = (40_000.0 * (-x).exp(), 4.0 * (40_000.0 * (-x).exp()).sqrt());
            assert!((accepted - expected).abs() < most, "{x}: {accepted}, {expected} expected");
        }
    }

    #[test]
    fn quantiles_exceed_a_worsening_as_often_as_it_is_accepted() {
        let quantiles = quantiles::<1024>();
        assert!(quantiles.is_sorted_by(|a, b| a > b));
        for x in POINTS {
            let above = quantiles.iter().filter(|&&quantile| f64::from(quantile) > x).count() as f64;
            assert!((above / 1024.0 - (-x).exp()).abs() <= 1.0 / 1024.0, "{x} {above}");
        }
    }
}
