//! The curve of objective against migration: one remapping per weight.

use super::homes::Migration;
use super::weight::MigrationWeight;
use crate::ground::types::{Cost, Weight};
use crate::partition::bounds::BoundViolation;

/// What a remapping costs, and what it moves.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct CurvePoint {
    /// The weight of migration that was asked for.
    pub migration_weight: MigrationWeight,
    /// The cut, or J.
    pub cost: Cost,
    /// What moves.
    pub migration: Migration,
    /// The total weight by which blocks exceed their bounds.
    pub overload: Weight,
    /// The total weight that blocks lack of their least loads.
    pub shortfall: Weight,
}

/// Weights on a curve besides 0: powers of 2 times the objective per unit of vertex weight. Below the least, little changes
/// on meshes; above the greatest, hardly more stays than the bounds demand.
const POWERS: std::ops::RangeInclusive<i32> = -3..=6;

/// Remaps with weights from 0 on. `remap` maps a weight to cost, migration and what bounds are missed by, or to nothing where they cannot be
/// computed: such points are left out. `total` is the weight of all vertices. Where what was found for another weight is better for
/// a weight as well, the point of this weight has that.
///
/// ```
/// use viem::graph::generate;
/// use viem::partition::{Homes, Partitioner, PartitionPreset, Targets, curve};
///
/// let mesh = generate::mesh(30, 20, 1);
/// let partitioner = Partitioner::new(PartitionPreset::Fast, 0);
/// let homes = Homes::new(partitioner.partition(&mesh, &Targets::equal(&mesh, 5, 0.03)?).blocks(), &[], 5)?;
/// let targets = Targets::proportional(&mesh, &[1, 2, 2, 2, 2], 0.03)?;
/// let points = curve(mesh.total_node_weight(), |weight| {
///     let remapped = partitioner.remap(&mesh, &targets, &homes, weight)?;
///     let partition = remapped.partition;
///     Ok::<_, viem::partition::RemapError>(Some((partition.cut(), remapped.migration, partition.violation())))
/// })?;
/// assert!(points.last().unwrap().migration.weight <= points[0].migration.weight);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn curve<E>(
    total: Weight,
    mut remap: impl FnMut(MigrationWeight) -> Result<Option<(Cost, Migration, BoundViolation)>, E>,
) -> Result<Vec<CurvePoint>, E> {
    let mut at = |migration_weight| -> Result<Option<CurvePoint>, E> {
        let point = |(cost, migration, violation)| {
            let BoundViolation { overload, shortfall } = violation;
            CurvePoint { migration_weight, cost, migration, overload, shortfall }
        };
        Ok(remap(migration_weight)?.map(point))
    };
    let mut points: Vec<CurvePoint> = at(MigrationWeight::ZERO)?.into_iter().collect();
    // The cost of any partition will do to estimate the objective per unit of vertex weight.
    let known = match points.first() {
        Some(point) => Some(point.cost),
        None => at(MigrationWeight::ONE)?.map(|point| point.cost),
    };
    let Some(cost) = known else { return Ok(points) };
    let unit = cost.max(1) as f64 / total.max(1) as f64;
    for power in POWERS {
        let weight = MigrationWeight::rounded(unit * f64::from(power).exp2());
        if points.last().is_none_or(|last| last.migration_weight != weight) {
            points.extend(at(weight)?);
        }
    }
    let found = points.clone();
    for point in &mut points {
        let value = |other: &CurvePoint| {
            let objective = point.migration_weight.objective(other.cost, other.migration.weight);
            ((other.overload, other.shortfall), objective, other.migration.weight)
        };
        let best = *found.iter().min_by_key(|other| value(other)).unwrap_or(point);
        *point = CurvePoint { migration_weight: point.migration_weight, ..best };
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_the_best_of_all_for_its_weight() {
        let mut next = 0;
        let found = [(100, 80), (101, 70), (102, 75), (103, 60), (103, 60), (120, 10)];
        let points = curve(1000, |_| {
            next += 1;
            let (cost, weight) = found[next.min(6) - 1];
            Ok::<_, ()>(Some((cost, Migration { weight, vertices: 1 }, BoundViolation::NONE)))
        });
        let points = points.unwrap();
        assert_eq!(points[0].migration_weight, MigrationWeight::ZERO);
        assert!(
            points.windows(2).all(|pair| pair[0].migration_weight.value() < pair[1].migration_weight.value())
        );
        for point in points {
            let objective = |cost, migration| point.migration_weight.objective(cost, migration);
            let least = found.iter().map(|&(cost, weight)| objective(cost, weight)).min();
            assert_eq!(Some(objective(point.cost, point.migration.weight)), least);
        }
    }

    #[test]
    fn errors_end_the_curve() {
        assert_eq!(curve(10, |_| Err::<Option<(Cost, Migration, BoundViolation)>, _>("no")), Err("no"));
    }

    #[test]
    fn what_cannot_be_computed_is_left_out() {
        let above = |least: f64| {
            move |weight: MigrationWeight| {
                let cost = Some((64, Migration::default(), BoundViolation::NONE))
                    .filter(|_| weight.value() >= least);
                Ok::<_, ()>(cost)
            }
        };
        let weights = |points: Vec<CurvePoint>| -> Vec<f64> {
            points.iter().map(|point| point.migration_weight.value()).collect()
        };
        let all = weights(curve(16, above(0.0)).unwrap());
        let some = weights(curve(16, above(1.0)).unwrap());
        assert_eq!((all.len(), all[0]), (11, 0.0));
        assert_eq!(some, all.into_iter().filter(|&weight| weight >= 1.0).collect::<Vec<_>>());
        assert!(curve(16, above(2.0)).unwrap().is_empty());
    }
}
