//! Bounds and least loads of PEs that have many vertices, and their loads.

use crate::base::settings::{ConfigError, check};
use crate::base::types::{PeId, Weight};
use crate::graph::CsrGraph;
use crate::machine::Machine;
use crate::mapping::Mapping;
use crate::partition::{BoundViolation, FixedVertices, Targets, TargetsError, block_weights};

/// The distance that loads of PEs may have from their shares, which are in proportion to the [capacities](Machine::capacity).
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Balance {
    /// The excess of a load over its share that is allowed: 0.03 is 3 %.
    pub imbalance: f64,
    /// The part of its share that a load is at least, from 0 to 1. Bounds have precedence over least loads.
    pub least_load: f64,
}

impl Default for Balance {
    /// An imbalance of 3 % and no least load.
    fn default() -> Self {
        Self { imbalance: 0.03, least_load: 0.0 }
    }
}

impl Balance {
    /// The same with an imbalance: 0.03 means 3 %.
    pub fn with_imbalance(self, imbalance: f64) -> Self {
        Self { imbalance, ..self }
    }

    /// The same with a least load: 0.5 asks for half of its share on each PE.
    pub fn with_least_load(self, least_load: f64) -> Self {
        Self { least_load, ..self }
    }

    /// Checks that both numbers are in their ranges.
    ///
    /// # Errors
    ///
    /// The imbalance is negative or not finite, or the least load is not from 0 to 1.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let is_imbalance = self.imbalance >= 0.0 && self.imbalance.is_finite();
        check("imbalance", self.imbalance, is_imbalance, "a finite number from 0 on")?;
        let is_part = (0.0..=1.0).contains(&self.least_load);
        check("least_load", self.least_load, is_part, "from 0 to 1")
    }

    /// The upper bound on the load of each PE, by PE: `(1 + imbalance)` times its share. The share is rounded up, the bound down.
    pub fn bounds(&self, graph: &CsrGraph, machine: &dyn Machine) -> Vec<Weight> {
        Targets::shares(graph, &machine.capacities(), self.imbalance)
    }

    /// The least load of each PE, by PE: its part of the share, rounded down.
    ///
    /// # Errors
    ///
    /// The least load is not from 0 to 1.
    pub fn least_loads(&self, graph: &CsrGraph, machine: &dyn Machine) -> Result<Vec<Weight>, TargetsError> {
        Targets::least_shares(graph, &machine.capacities(), self.least_load)
    }

    /// The shares, bounds and least loads of blocks of these capacities.
    ///
    /// # Errors
    ///
    /// There are no blocks or too many, none has capacity, or a number is out of its range.
    pub(super) fn targets(&self, graph: &CsrGraph, capacities: &[u32]) -> Result<Targets, TargetsError> {
        let targets = Targets::proportional(graph, capacities, self.imbalance)?;
        targets.with_least_loads(Targets::least_shares(graph, capacities, self.least_load)?)
    }

    /// Strips of the numbering on the PEs in order, in proportion to their capacities, but for vertices that are fixed elsewhere.
    ///
    /// # Errors
    ///
    /// Those of [`targets`](Self::targets).
    pub(super) fn identity(
        &self,
        graph: &CsrGraph,
        machine: &dyn Machine,
        fixed: Option<&FixedVertices>,
    ) -> Result<Mapping, TargetsError> {
        let shares =
            Targets::proportional(graph, &machine.capacities(), self.imbalance)?.block_sizes().to_vec();
        let mut pe_of = Targets::sizes(graph, shares, 0.0)?.in_order(graph);
        fixed.inspect(|fixed| fixed.enforce(&mut pe_of));
        Ok(Mapping::from_places(pe_of))
    }

    /// The loads of a mapping, with the PE of each vertex, and how they compare with this balance; O(n + PEs).
    pub fn loads(&self, graph: &CsrGraph, machine: &dyn Machine, pe_of: &[PeId]) -> Loads {
        let capacities = machine.capacities();
        let bounds = &Targets::shares(graph, &capacities, self.imbalance)[..];
        let least = self.least_loads(graph, machine).unwrap_or_default();
        let weights = block_weights(graph, pe_of, bounds.len());
        let BoundViolation { overload, shortfall } = BoundViolation::of(&weights, bounds, &least);
        let mut is_used: Vec<bool> = capacities.iter().map(|&capacity| capacity == 0).collect();
        pe_of.iter().for_each(|&pe| is_used[pe as usize] = true);
        let fullness = |(&weight, &bound): (&Weight, &Weight)| match weight {
            0 => 0.0,
            _ => weight as f64 / bound as f64,
        };
        Loads {
            least: weights.iter().copied().min().unwrap_or(0),
            mean: graph.total_node_weight() as f64 / bounds.len().max(1) as f64,
            greatest: weights.iter().copied().max().unwrap_or(0),
            bound: bounds.iter().copied().max().unwrap_or(0),
            fullest: weights.iter().zip(bounds).map(fullness).fold(0.0, f64::max),
            overload,
            below_half: Targets::num_below_half(&capacities, &weights),
            below_least: weights.iter().zip(&least).filter(|(weight, least)| weight < least).count(),
            shortfall,
            empty: is_used.into_iter().filter(|is_used| !is_used).count(),
        }
    }
}

/// The loads of the PEs.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Loads {
    /// The smallest load of a PE.
    pub least: Weight,
    /// The mean load of a PE.
    pub mean: f64,
    /// The largest load of a PE.
    pub greatest: Weight,
    /// The largest bound of a PE.
    pub bound: Weight,
    /// The largest ratio of the load of a PE to its bound; above 1 if a bound is exceeded.
    pub fullest: f64,
    /// The sum of all excess over the bounds.
    pub overload: Weight,
    /// The number of PEs with less than half of their share.
    pub below_half: usize,
    /// The number of PEs below the least load that was asked for.
    pub below_least: usize,
    /// The sum of the deficits of PEs below the least load.
    pub shortfall: Weight,
    /// The number of PEs without a vertex, besides those of capacity 0.
    pub empty: usize,
}
