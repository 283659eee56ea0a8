//! The lower envelope of cost against migration: the results that are best for some weight of migration.
//!
//! `cost + X · migration` is a line over X for each result, and the best one for X is the lowest line there. As X grows, the lowest
//! lines are never steeper, so migration does not rise, and cost does not fall.

use std::convert::Infallible;

use super::curve::{CurvePoint, ladder};
use super::limits::{Limits, RemapError};
use super::previous::Migration;
use super::weight::MigrationWeight;
use crate::base::types::{Cost, Weight};
use crate::partition::bounds::BoundViolation;
use crate::partition::loads::Excess;

/// The results of a remapping, of which one is best for each weight of migration.
///
/// As the weight grows, migration does not rise and cost does not fall. No result has a lower `cost + weight · migration` than the one
/// that is best for the weight. All miss the bounds by the least that was found, and leave the fewest blocks empty.
///
/// ```
/// use viem::graph::generate;
/// use viem::partition::{PreviousAssignment, MigrationWeight, Partitioner, PartitionPreset, Remapping, Targets};
///
/// let mesh = generate::mesh(30, 20, 1);
/// let partitioner = Partitioner::new(PartitionPreset::Fast, 0);
/// let homes = PreviousAssignment::new(partitioner.partition(&mesh, &Targets::equal(&mesh, 5, 0.03)?).blocks(), 5)?;
/// let targets = Targets::proportional(&mesh, &[1, 2, 2, 2, 2], 0.03)?;
/// let remapping = Remapping::new(&homes, MigrationWeight::ONE).with_curve();
/// let found = partitioner.remap(&mesh, &targets, remapping)?;
/// let (little, much) = (found.best(MigrationWeight::ONE)?, found.best(MigrationWeight::ZERO)?);
/// assert!(little.migration.weight <= much.migration.weight);
/// assert!(little.partition.cut() >= much.partition.cut());
/// assert!(found.curve().iter().all(|point| point.cost >= much.partition.cut()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Envelope<T> {
    /// By rising migration and falling cost, each below the line between its neighbours.
    points: Vec<Point<T>>,
    limits: Limits,
}

/// What a result misses of its bounds: relative excess if vertices have several weights, then the excess and what is missing of least loads, and
/// the number of empty blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::partition) struct Missed {
    pub excess: Excess,
    pub of_one: BoundViolation,
    pub empty: usize,
}

/// A result, and what it is compared by.
#[derive(Clone, Debug)]
pub(in crate::partition) struct Point<T> {
    /// What is missed of the bounds. Only results that miss the least are kept.
    pub missed: Missed,
    pub violation: BoundViolation,
    pub cost: Cost,
    pub migration: Migration,
    pub result: T,
}

impl<T> Envelope<T> {
    /// No result yet.
    pub(in crate::partition) fn new(limits: Limits) -> Self {
        Self { points: Vec::new(), limits }
    }

    /// The best result for a weight; the one of less migration if two are equally good.
    ///
    /// # Errors
    ///
    /// The weight is not possible for the problem.
    pub fn best(&self, weight: MigrationWeight) -> Result<&T, RemapError> {
        self.limits.check(weight)?;
        Ok(&self.points[self.index(weight)].result)
    }

    /// As [`best`](Self::best), without the other results.
    ///
    /// # Errors
    ///
    /// Those of [`best`](Self::best).
    pub fn into_best(mut self, weight: MigrationWeight) -> Result<T, RemapError> {
        self.limits.check(weight)?;
        let index = self.index(weight);
        Ok(self.points.swap_remove(index).result)
    }

    /// What the best results for a series of weights cost and move: for 0, and from an eighth to 64 times the least cost per vertex weight.
    /// Weights that are not possible for the problem are left out. See [`Remapping::with_curve`](super::Remapping::with_curve).
    pub fn curve(&self) -> Vec<CurvePoint> {
        let weights = ladder(self.least_cost(), self.limits.total).into_iter();
        let possible = weights.filter(|&weight| self.limits.check(weight).is_ok());
        possible.map(|weight| self.points[self.index(weight)].on_curve(weight)).collect()
    }

    fn index(&self, weight: MigrationWeight) -> usize {
        let value = |Point { cost, migration, .. }: &Point<T>| weight.objective(*cost, migration.weight);
        (0..self.points.len()).min_by_key(|&index| value(&self.points[index])).expect("there is a result")
    }

    pub(super) fn least_cost(&self) -> Cost {
        self.points.last().map_or(0, |point| point.cost)
    }

    /// A result that is best for all weights.
    pub fn single(result: T) -> Self {
        let (missed, violation, migration) = <(Missed, BoundViolation, Migration)>::default();
        let limits = Limits { edges: 0, total: 0, num_blocks: 1 };
        Self { points: vec![Point { missed, violation, cost: 0, migration, result }], limits }
    }

    /// What becomes of each result.
    pub fn map<U>(self, mut becomes: impl FnMut(T) -> U) -> Envelope<U> {
        self.try_map(|result| Ok::<_, Infallible>(becomes(result))).unwrap_or_else(|never| match never {})
    }

    /// What becomes of each result, or the first error.
    pub fn try_map<U, E>(self, mut becomes: impl FnMut(T) -> Result<U, E>) -> Result<Envelope<U>, E> {
        let map = |Point { missed, violation, cost, migration, result }| {
            becomes(result).map(|result| Point { missed, violation, cost, migration, result })
        };
        let points = self.points.into_iter().map(map).collect::<Result<_, E>>()?;
        Ok(Envelope { points, limits: self.limits })
    }

    pub(super) fn points(&self) -> &[Point<T>] {
        &self.points
    }

    /// Adds a result, and drops those that are best for no weight now.
    pub(super) fn insert(&mut self, point: Point<T>) {
        self.points.push(point);
        let least = self.points.iter().map(|point| point.missed).min();
        self.points.retain(|point| Some(point.missed) == least);
        self.points.sort_by_key(|point| (point.migration.weight, point.cost));
        for point in std::mem::take(&mut self.points) {
            if self.points.last().is_some_and(|last| last.cost <= point.cost) {
                continue;
            }
            while let [.., before, last] = &self.points[..]
                && !last.is_below(before, &point)
            {
                self.points.pop();
            }
            self.points.push(point);
        }
    }
}

impl<T> Point<T> {
    /// Returns whether it is below the line from a point of less migration to one of more.
    fn is_below(&self, less: &Self, more: &Self) -> bool {
        let product = |cost: Cost, migration: Weight| i128::from(cost) * i128::from(migration);
        product(less.cost - self.cost, more.migration.weight - self.migration.weight)
            > product(self.cost - more.cost, self.migration.weight - less.migration.weight)
    }

    fn on_curve(&self, migration_weight: MigrationWeight) -> CurvePoint {
        let Self { violation: BoundViolation { overload, shortfall }, cost, migration, .. } = *self;
        CurvePoint { migration_weight, cost, migration, overload, shortfall }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    fn envelope() -> Envelope<usize> {
        Envelope::new(Limits { edges: 1, total: 1, num_blocks: 2 })
    }

    fn point(missed: (BoundViolation, usize), [cost, weight]: [i64; 2], result: usize) -> Point<usize> {
        let (violation, empty) = missed;
        let missed = Missed { of_one: violation, empty, ..Missed::default() };
        Point { missed, violation, cost, migration: Migration { weight, vertices: 1 }, result }
    }

    #[test]
    fn the_best_of_all_is_kept_for_every_weight() {
        let mut rng = Rng::new(5);
        let weights = ["0", "0.03", "0.5", "1", "1.5", "2", "7", "100"].map(|text| text.parse().unwrap());
        for _ in 0..200 {
            let mut found = envelope();
            let all: Vec<_> = (0..1 + rng.below(12))
                .map(|_| {
                    let missed = (BoundViolation::new(i64::from(rng.below(2)), 0), rng.below(2) as usize);
                    (missed, [(); 2].map(|()| i64::from(rng.below(30))))
                })
                .collect();
            for (result, &(missed, values)) in all.iter().enumerate() {
                found.insert(point(missed, values, result));
            }
            let mut last = Weight::MAX;
            for weight in weights {
                let best = all[found.points[found.index(weight)].result];
                let value = |&(missed, [cost, migration]): &((BoundViolation, usize), [i64; 2])| {
                    (missed, weight.objective(cost, migration), migration)
                };
                assert_eq!(Some(value(&best)), all.iter().map(value).min());
                assert!(best.1[1] <= last);
                last = best.1[1];
            }
        }
    }

    #[test]
    fn greatest_numbers_do_not_overflow() {
        let mut found = envelope();
        let most = Weight::MAX / 4;
        for values in [[most, 0], [0, most], [most / 2, most / 2 - 1], [most / 3, most / 3]] {
            found.insert(point((BoundViolation::NONE, 0), values, 0));
        }
        assert_eq!(found.points.len(), 3);
    }

    #[test]
    fn a_curve_leaves_out_what_is_not_possible() {
        let weights = |limits| -> Vec<f64> {
            let mut found = Envelope::new(limits);
            found.insert(point((BoundViolation::NONE, 0), [64, 2], 0));
            found.curve().iter().map(|point| point.migration_weight.value()).collect()
        };
        let all = weights(Limits { edges: 64, total: 16, num_blocks: 2 });
        // Weights are rounded to two digits.
        assert_eq!((all.len(), all[0], all[10]), (11, 0.0, 260.0));
        let without_zero = weights(Limits { edges: 64, total: 16, num_blocks: 5000 });
        assert_eq!(without_zero, all[1..]);
        let total = Weight::MAX / 4 / 10;
        assert!(weights(Limits { edges: 0, total, num_blocks: 2 }).iter().all(|&weight| weight < 10.0));
    }
}
