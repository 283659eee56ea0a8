//! The curve of objective against migration: points for a series of weights.

use super::previous::Migration;
use super::weight::MigrationWeight;
use crate::base::types::{Cost, Weight};

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

/// The weights of a curve, in ascending order. `cost` is that of any partition, which will do to estimate the objective per unit of vertex weight;
/// `total` is the weight of all vertices.
pub(super) fn ladder(cost: Cost, total: Weight) -> Vec<MigrationWeight> {
    let unit = cost.max(1) as f64 / total.max(1) as f64;
    let above = POWERS.map(|power| MigrationWeight::rounded(unit * f64::from(power).exp2()));
    let mut weights: Vec<MigrationWeight> = [MigrationWeight::ZERO].into_iter().chain(above).collect();
    weights.dedup();
    weights
}
