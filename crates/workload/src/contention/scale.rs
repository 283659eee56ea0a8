//! The value of a mapping by an objective, relative to that of the mapping that is given.

use std::cmp::Ordering;

use super::config::BottleneckConfig;
use super::loads::{Carriers, Loads};
use super::objective::JobObjective;
use viem::base::types::{Cost, PeId};

/// A mapping by the objective: the greatest load if that is minimised, the value of `mixed`, and then J. Loads are exact: above 2^53, different ones can be
/// the same `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Key {
    pub greatest: Cost,
    mixed: f64,
    cost: Cost,
}

impl Key {
    /// The order by the objective; of values that are no numbers, none is.
    pub fn compare(&self, other: &Self) -> Ordering {
        let by_load = self.greatest.cmp(&other.greatest);
        by_load.then(self.mixed.total_cmp(&other.mixed)).then(self.cost.cmp(&other.cost))
    }
}

/// A mapping that was found.
#[derive(Clone)]
pub(super) struct Found {
    pub key: Key,
    pub pe_of: Vec<PeId>,
}

impl Found {
    /// The better of two mappings; this one if both are equally good.
    pub fn or(self, other: Self) -> Self {
        if other.key.compare(&self.key).is_lt() { other } else { self }
    }
}

/// What the values of all mappings are relative to.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    objective: JobObjective,
    pub power: u32,
    /// Loads are divided by this, so that no power is too large.
    pub load: f64,
    /// The sum of powers of the given mapping, and its J.
    pub sum: f64,
    cost: f64,
}

impl Scale {
    /// Relative to a mapping of these loads and this J.
    pub fn new<C: Carriers>(loads: &Loads<C>, cost: Cost, config: &BottleneckConfig) -> Self {
        let &BottleneckConfig { objective, power, .. } = config;
        let load = loads.greatest().max(1) as f64;
        let scale = Self { objective, power, load, sum: 1.0, cost: cost as f64 };
        Self { sum: scale.sum_of(loads), ..scale }
    }

    /// The sum of the powers of all loads.
    pub fn sum_of<C: Carriers>(&self, loads: &Loads<C>) -> f64 {
        loads.all().iter().map(|&load| (load as f64 / self.load).powi(self.power as i32)).sum()
    }

    /// J and the power mean, each relative to that of the given mapping.
    pub fn energy(&self, cost: Cost, sum: f64) -> f64 {
        cost as f64 / self.cost + (sum.max(0.0) / self.sum).powf(1.0 / f64::from(self.power))
    }

    /// The value of a mapping of this J, whose powers have this sum.
    pub fn key<C: Carriers>(&self, loads: &Loads<C>, cost: Cost, sum: f64) -> Key {
        let (greatest, mixed) = match self.objective {
            JobObjective::J => (0, 0.0),
            JobObjective::Mixed => (0, self.energy(cost, sum)),
            JobObjective::Bottleneck | JobObjective::BusiestNode => (loads.greatest(), 0.0),
        };
        Key { greatest, mixed, cost }
    }
}
