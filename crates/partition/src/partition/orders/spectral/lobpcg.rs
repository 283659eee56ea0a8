//! Locally optimal preconditioned conjugate gradients for one vector.

use super::dense;
use super::levels::{Level, Levels};
use crate::base::observer::Observer;
use crate::partition::compact::Stored;

/// A vector is good enough when its residual is at most this share of its eigenvalue, in the norm of the masses. The
/// relative error of the eigenvalue is then about the square of that, and the cut at the median no longer changes.
pub(super) const TOLERANCE: f64 = 1e-3;

/// The greatest number of iterations on a level.
const MOST_ITERATIONS: usize = 60;

/// A vector of length 1 and its product with the Laplacian.
struct Direction {
    vector: Vec<f64>,
    image: Vec<f64>,
}

impl Direction {
    /// The part of a vector that is orthogonal to others and to the constant vector, at length 1; nothing if that is lost in rounding.
    fn new<W: Stored>(level: &Level<'_, W>, mut vector: Vec<f64>, others: &[&Direction]) -> Option<Self> {
        let length = make_orthogonal(level, &mut vector, others, |_, _| {})?;
        vector.iter_mut().for_each(|entry| *entry /= length);
        let image = level.laplacian(&vector);
        Some(Self { vector, image })
    }

    /// The same of a direction whose product is known. That of the constant vector is 0.
    fn orthogonal<W: Stored>(mut self, level: &Level<'_, W>, others: &[&Direction]) -> Option<Self> {
        let Self { vector, image } = &mut self;
        let take_away = |share: f64, other: &Direction| {
            image.iter_mut().zip(&other.image).for_each(|(entry, other)| *entry -= share * other);
        };
        let length = make_orthogonal(level, vector, others, take_away)?;
        vector.iter_mut().chain(image).for_each(|entry| *entry /= length);
        Some(self)
    }

    /// The sum of some directions with these factors.
    fn sum(terms: &[(f64, &Direction)]) -> Self {
        let combined = |part: fn(&Direction) -> &Vec<f64>| {
            let mut sum = vec![0.0; part(terms[0].1).len()];
            for (factor, term) in terms {
                sum.iter_mut().zip(part(term)).for_each(|(entry, own)| *entry += factor * own);
            }
            sum
        };
        Self { vector: combined(|term| &term.vector), image: combined(|term| &term.image) }
    }

    /// The product of its image with the vector of another.
    fn energy(&self, other: &Self) -> f64 {
        self.image.iter().zip(&other.vector).map(|(a, b)| a * b).sum()
    }
}

/// Subtracts what a vector has in common with others and with the constant vector, and passes the share of each other vector
/// on. Returns the length that is left, unless it is lost in rounding.
fn make_orthogonal<W: Stored>(
    level: &Level<'_, W>,
    vector: &mut [f64],
    others: &[&Direction],
    mut take_away: impl FnMut(f64, &Direction),
) -> Option<f64> {
    let length = |vector: &[f64]| level.product(vector, Some(vector)).sqrt();
    let before = length(vector);
    // Twice is enough.
    for _ in 0..2 {
        level.centre(vector);
        for other in others {
            let share = level.product(vector, Some(&other.vector));
            vector.iter_mut().zip(&other.vector).for_each(|(entry, other)| *entry -= share * other);
            take_away(share, other);
        }
    }
    let after = length(vector);
    (after > before * 1e-10).then_some(after)
}

/// Improves a vector on a level until it is good enough; returns its Rayleigh quotient, and the vector.
pub(super) fn improve<W: Stored>(
    levels: &Levels<'_, W>,
    index: usize,
    start: Vec<f64>,
    observer: &dyn Observer,
) -> (f64, Vec<f64>) {
    let level = levels.level(index);
    let by_number = || (0..level.num_nodes()).map(|node| node as f64).collect();
    let mut best = Direction::new(level, start, &[])
        .or_else(|| Direction::new(level, by_number(), &[]))
        .expect("two vertices are not constant");
    let mut last: Option<Direction> = None;
    let mut value = best.energy(&best);
    for _ in 0..MOST_ITERATIONS {
        let residual: Vec<f64> = (best.image.iter().zip(&best.vector).zip(&level.mass))
            .map(|((image, entry), mass)| image - value * mass * entry)
            .collect();
        let norm: f64 = residual.iter().zip(&level.mass).map(|(entry, mass)| entry * entry / mass).sum();
        if norm.sqrt() <= TOLERANCE * value || observer.should_stop() {
            break;
        }
        let Some(step) = Direction::new(level, levels.solve(index, &residual), &[&best]) else { break };
        let last_one = last.take().and_then(|last| last.orthogonal(level, &[&best, &step]));
        let basis: Vec<&Direction> =
            [Some(&best), Some(&step), last_one.as_ref()].into_iter().flatten().collect();
        let size = basis.len();
        let entries = (0..size * size).map(|place| {
            let (row, column) = (place / size, place % size);
            basis[row.max(column)].energy(basis[row.min(column)])
        });
        let (least, factors) = dense::eigenpairs(entries.collect(), size).swap_remove(0);
        let terms: Vec<(f64, &Direction)> = factors.into_iter().zip(basis).collect();
        let (next, direction) = (Direction::sum(&terms), Direction::sum(&terms[1..]));
        (best, last, value) = (next, Some(direction), least);
    }
    (value, best.vector)
}
