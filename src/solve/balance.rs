//! Bounds and least loads of PEs that have many vertices, and their loads.

use super::error::{RequestError, SolveError};
use crate::base::settings::{ConfigError, check};
use crate::base::types::{PeId, Weight};
use crate::graph::CsrGraph;
use crate::machine::{Capacities, Machine, Places};
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
    /// Whether the imbalance is that of each division of the PEs in two, as for METIS' recursive bisection, instead of that of each PE
    /// ([`Targets::shares_of_divisions`]).
    #[serde(default)]
    pub per_division: bool,
}

impl Default for Balance {
    /// An imbalance of 3 % and no least load.
    fn default() -> Self {
        Self { imbalance: 0.03, least_load: 0.0, per_division: false }
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

    /// The same where the imbalance is that of each division.
    pub fn per_division(self) -> Self {
        Self { per_division: true, ..self }
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

    /// The upper bound on the load of each PE, by PE: `(1 + imbalance)` times its share, or more if the imbalance is that of each division. The share is
    /// rounded up, the bound down.
    pub fn bounds(&self, graph: &CsrGraph, machine: &dyn Machine) -> Vec<Weight> {
        self.bounds_of(graph, &machine.capacities())
    }

    /// The same for PEs of these capacities.
    fn bounds_of(&self, graph: &CsrGraph, capacities: &[u32]) -> Vec<Weight> {
        match self.per_division {
            true => Targets::shares_of_divisions(graph, capacities, self.imbalance),
            false => Targets::shares(graph, capacities, self.imbalance),
        }
    }

    /// The same targets of the PEs in this order, with greater bounds if the imbalance is that of each division. Exact sizes stay exact. Capacities are those by
    /// PE. O(n + k).
    ///
    /// # Errors
    ///
    /// The targets are those of another number of PEs.
    pub fn widened(
        &self,
        targets: Targets,
        graph: &CsrGraph,
        capacities: &[u32],
        order: &[PeId],
    ) -> Result<Targets, TargetsError> {
        if !self.per_division || targets.are_exact() {
            return Ok(targets);
        }
        let bounds = self.bounds_of(graph, capacities);
        targets.with_bounds(order.iter().map(|&pe| bounds[pe as usize]).collect())
    }
}

/// The limits of the loads of PEs that have many vertices.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum LoadLimits<'a> {
    /// Shares in proportion to the capacities.
    #[non_exhaustive]
    Proportional {
        /// The allowed distance of loads from shares.
        balance: Balance,
        /// The least load of each PE, instead of that of the balance. Each is at most the share of its PE, rounded up.
        least_loads: Option<&'a [Weight]>,
        /// The capacity of each PE, instead of those of the machine: the memory of PEs beside their speeds. PEs without capacity in the machine have
        /// none.
        capacities: Option<&'a [u32]>,
    },
    /// The share, the bound and the least load of each PE. PEs of capacity 0 have size 0. Fixed vertices are
    /// [given to the request](super::Request::fixed), not here.
    Targets(&'a Targets),
}

impl From<Balance> for LoadLimits<'_> {
    fn from(balance: Balance) -> Self {
        Self::Proportional { balance, least_loads: None, capacities: None }
    }
}

impl<'a> From<(Balance, Option<&'a [Weight]>)> for LoadLimits<'a> {
    /// Returns shares in proportion to the capacities, with a least load for each PE if these are given.
    fn from((balance, least_loads): (Balance, Option<&'a [Weight]>)) -> Self {
        Self::Proportional { balance, least_loads, capacities: None }
    }
}

impl<'a> From<&'a Targets> for LoadLimits<'a> {
    fn from(targets: &'a Targets) -> Self {
        Self::Targets(targets)
    }
}

impl<'a> LoadLimits<'a> {
    /// The same with shares in proportion to these capacities instead of those of the machine. Targets have shares of their own, and stay as they are.
    #[must_use]
    pub fn with_capacities(self, capacities: &'a [u32]) -> Self {
        match self {
            Self::Proportional { balance, least_loads, .. } => {
                Self::Proportional { balance, least_loads, capacities: Some(capacities) }
            }
            Self::Targets(_) => self,
        }
    }

    /// Checks that the limits are possible for a graph and a machine; O(n + k) for k PEs.
    ///
    /// # Errors
    ///
    /// - A number of the balance is out of its range.
    /// - There are more or fewer least loads than PEs, or one is negative or above its share.
    /// - The targets have more or fewer blocks than there are PEs, or belong to a graph of another weight.
    /// - The targets give a PE of capacity 0 a share, or have fixed vertices.
    /// - There are more or fewer capacities than PEs, all are 0, or a PE without capacity in the machine has one.
    pub(super) fn check(&self, graph: &CsrGraph, machine: &dyn Machine) -> Result<(), SolveError> {
        match self {
            Self::Proportional { balance, least_loads, capacities } => {
                balance.validate()?;
                capacities.map_or(Ok(()), |capacities| check_capacities(machine, capacities))?;
                let capacities = self.capacities(machine);
                Ok(least_loads.map_or(Ok(()), |least| check_least_loads(graph, &capacities, least))?)
            }
            Self::Targets(targets) => check_targets(graph, machine, targets),
        }
    }

    /// The capacities that shares are in proportion to, by PE.
    pub(super) fn capacities(&self, machine: &dyn Machine) -> Vec<u32> {
        match self {
            Self::Proportional { capacities: Some(capacities), .. } => capacities.to_vec(),
            Self::Proportional { .. } | Self::Targets(_) => machine.capacities(),
        }
    }

    /// Returns whether a PE has a least load.
    pub(super) fn has_least_loads(&self) -> bool {
        match self {
            Self::Proportional { balance, least_loads: None, .. } => balance.least_load > 0.0,
            Self::Proportional { least_loads: Some(least), .. } => least.iter().any(|&least| least > 0),
            Self::Targets(targets) => !targets.least_loads().is_empty(),
        }
    }

    /// Returns whether all PEs have the same limits, so that their loads can be exchanged.
    pub(super) fn are_equal(&self, machine: &dyn Machine) -> bool {
        let capacities = self.capacities(machine);
        match self {
            Self::Proportional { least_loads, .. } => {
                are_alike(&capacities) && are_alike(least_loads.unwrap_or_default())
            }
            Self::Targets(targets) => {
                let has_closed = capacities.contains(&0);
                are_alike(targets.bounds()) && are_alike(targets.least_loads()) && !has_closed
            }
        }
    }

    /// The allowed excess of a load over its share, if it is the same for all PEs.
    pub(super) fn imbalance(&self) -> Option<f64> {
        match self {
            Self::Proportional { balance, .. } if !balance.per_division => Some(balance.imbalance),
            Self::Proportional { .. } | Self::Targets(_) => None,
        }
    }

    /// The shares, bounds and least loads of the PEs in this order. Exact shares are near the loads `before`, if these are given.
    ///
    /// # Errors
    ///
    /// There are no PEs, or none has capacity.
    pub(super) fn targets(
        &self,
        graph: &CsrGraph,
        machine: &dyn Machine,
        order: &[PeId],
        before: Option<&[Weight]>,
    ) -> Result<Targets, TargetsError> {
        let of_pes = self.capacities(machine);
        let capacities: Vec<u32> = order.iter().map(|&pe| of_pes[pe as usize]).collect();
        match self {
            Self::Proportional { balance, .. } => {
                let targets = Targets::proportional(graph, &capacities, balance.imbalance)?;
                let targets = self.widened(targets, graph, &of_pes, order)?;
                self.with_least_loads(near(targets, &capacities, before), graph, &capacities, order)
            }
            Self::Targets(targets) => {
                targets.of_blocks(order).with_closed(|block| capacities[block as usize] == 0)
            }
        }
    }

    /// The same targets, [widened](Balance::widened).
    pub(super) fn widened(
        &self,
        targets: Targets,
        graph: &CsrGraph,
        capacities: &[u32],
        order: &[PeId],
    ) -> Result<Targets, TargetsError> {
        match self {
            Self::Proportional { balance, .. } => balance.widened(targets, graph, capacities, order),
            Self::Targets(_) => Ok(targets),
        }
    }

    /// The same targets with the least loads of the PEs in this order. A size that is rounded down below its least load is raised to it, or the least load
    /// is lowered to the size where that is impossible.
    pub(super) fn with_least_loads(
        &self,
        targets: Targets,
        graph: &CsrGraph,
        capacities: &[u32],
        order: &[PeId],
    ) -> Result<Targets, TargetsError> {
        let least = match self {
            Self::Proportional { balance, least_loads: None, .. } => {
                Targets::least_shares(graph, capacities, balance.least_load)?
            }
            Self::Proportional { least_loads: Some(least), .. } => {
                let least: Vec<Weight> = order.iter().map(|&pe| least[pe as usize]).collect();
                let targets = targets.raised(&least);
                let sizes = targets.block_sizes().iter();
                let least = sizes.zip(least).map(|(&size, least)| least.min(size)).collect();
                return targets.with_least_loads(least);
            }
            Self::Targets(_) => return Ok(targets),
        };
        targets.with_least_loads(least)
    }

    /// The shares of the PEs in this order as exact sizes, for algorithms that aim at these whatever the bounds.
    ///
    /// # Errors
    ///
    /// Those of [`targets`](Self::targets).
    pub(super) fn shares(
        &self,
        graph: &CsrGraph,
        machine: &dyn Machine,
        order: &[PeId],
    ) -> Result<Targets, TargetsError> {
        match self {
            &Self::Proportional { capacities, .. } => {
                let balance = Balance::default().with_imbalance(0.0);
                let exact = LoadLimits::Proportional { balance, least_loads: None, capacities };
                exact.targets(graph, machine, order, None)
            }
            Self::Targets(_) => {
                let targets = self.targets(graph, machine, order, None)?;
                let sizes = targets.block_sizes().to_vec();
                targets.with_bounds(sizes)
            }
        }
    }

    /// A place for each vertex, as many on each PE as its share: one-to-one constructions then make balanced mappings. `None` if vertices do not weigh 1, if a
    /// PE has no share, or if the places do not fit in memory.
    pub fn places(&self, graph: &CsrGraph, machine: &dyn Machine) -> Option<Places> {
        let shares = self.shares(graph, machine, &in_order(machine)).ok()?;
        places_of_shares(graph, machine, shares.block_sizes())
    }

    /// The mapping of consecutive vertices to the PEs in order, by their shares. Vertices that are fixed elsewhere are on their PEs.
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
        let mut pe_of = self.targets(graph, machine, &in_order(machine), None)?.in_order(graph);
        fixed.inspect(|fixed| fixed.enforce(&mut pe_of));
        Ok(Mapping::from_places(pe_of))
    }

    /// The upper bound on the load of each PE, by PE.
    pub fn bounds(&self, graph: &CsrGraph, machine: &dyn Machine) -> Vec<Weight> {
        match self {
            Self::Proportional { balance, .. } => balance.bounds_of(graph, &self.capacities(machine)),
            Self::Targets(targets) => targets.bounds().to_vec(),
        }
    }

    /// The least load of each PE.
    ///
    /// # Errors
    ///
    /// The least load of a balance is not from 0 to 1.
    pub fn least_loads(&self, graph: &CsrGraph, machine: &dyn Machine) -> Result<Vec<Weight>, TargetsError> {
        match self {
            Self::Proportional { balance, least_loads: None, .. } => {
                Targets::least_shares(graph, &self.capacities(machine), balance.least_load)
            }
            Self::Proportional { least_loads: Some(least), .. } => Ok(least.to_vec()),
            Self::Targets(targets) if targets.least_loads().is_empty() => Ok(vec![0; targets.num_blocks()]),
            Self::Targets(targets) => Ok(targets.least_loads().to_vec()),
        }
    }

    /// The number of PEs with less than half of their share.
    fn num_below_half(&self, capacities: &[u32], weights: &[Weight]) -> usize {
        match self {
            Self::Proportional { .. } => Targets::num_below_half(capacities, weights),
            Self::Targets(targets) => {
                let pairs = weights.iter().zip(targets.block_sizes());
                pairs.filter(|&(&weight, &size)| weight < size - weight).count()
            }
        }
    }

    /// The loads of a mapping, given the PE of each vertex, compared with these limits; O(n + PEs).
    pub fn loads(&self, graph: &CsrGraph, machine: &dyn Machine, pe_of: &[PeId]) -> Loads {
        let capacities = self.capacities(machine);
        let bounds = &self.bounds(graph, machine)[..];
        let least = self.least_loads(graph, machine).unwrap_or_default();
        let weights = block_weights(graph, pe_of, bounds.len());
        let BoundViolation { overload, shortfall } = BoundViolation::of(&weights, bounds, &least);
        Loads {
            least: weights.iter().copied().min().unwrap_or(0),
            mean: graph.total_node_weight() as f64 / bounds.len().max(1) as f64,
            greatest: weights.iter().copied().max().unwrap_or(0),
            bound: bounds.iter().copied().max().unwrap_or(0),
            fullest: weights.iter().zip(bounds).map(fullness).fold(0.0, f64::max),
            overload,
            below_half: self.num_below_half(&capacities, &weights),
            below_least: weights.iter().zip(&least).filter(|(weight, least)| weight < least).count(),
            shortfall,
            empty: num_empty(capacities.iter().map(|&capacity| capacity == 0).collect(), pe_of),
            nodes: None,
        }
    }
}

/// The number of PEs without vertices, of those that are not closed.
pub(super) fn num_empty(is_closed: Vec<bool>, pe_of: &[PeId]) -> usize {
    let mut is_used = is_closed;
    pe_of.iter().for_each(|&pe| is_used[pe as usize] = true);
    is_used.into_iter().filter(|is_used| !is_used).count()
}

/// As many places on each PE as its share, by PE, if these are places for all vertices, and vertices weigh 1.
pub(super) fn places_of_shares(graph: &CsrGraph, machine: &dyn Machine, shares: &[Weight]) -> Option<Places> {
    let is_unit = graph.node_weights().iter().all(|&weight| weight == 1);
    let is_whole = shares.iter().sum::<Weight>() == graph.num_nodes() as Weight;
    let room = shares.iter().map(|&share| share as u32).collect();
    Places::of(&Capacities::new(machine, room).ok().filter(|_| is_unit && is_whole)?).ok()
}

/// Checks that the targets fit the PEs and the weight of the graph.
fn check_targets(graph: &CsrGraph, machine: &dyn Machine, targets: &Targets) -> Result<(), SolveError> {
    let (found, expected) = (targets.num_blocks(), machine.num_pes());
    if found != expected {
        return Err(RequestError::TargetsDiffer { found, expected }.into());
    }
    if targets.fixed().is_some() {
        return Err(RequestError::TargetsHaveFixed.into());
    }
    targets.check_sum(graph.total_node_weight())?;
    let is_closed = |&(pe, size): &(usize, Weight)| size > 0 && machine.capacity(pe as PeId) == 0;
    match targets.block_sizes().iter().copied().enumerate().find(is_closed) {
        Some((block, size)) => Err(TargetsError::ClosedBlockHasSize { block, size }.into()),
        None => Ok(()),
    }
}

/// Checks that there is one capacity for each PE, that not all are 0, and that PEs that have none in the machine have none.
fn check_capacities(machine: &dyn Machine, capacities: &[u32]) -> Result<(), SolveError> {
    let (found, expected) = (capacities.len(), machine.num_pes());
    if found != expected {
        return Err(RequestError::CapacitiesDiffer { found, expected }.into());
    }
    if capacities.iter().all(|&capacity| capacity == 0) {
        return Err(TargetsError::NoCapacity.into());
    }
    let is_closed = |&(pe, &capacity): &(usize, &u32)| capacity > 0 && machine.capacity(pe as PeId) == 0;
    match capacities.iter().enumerate().find(is_closed) {
        Some((pe, &capacity)) => Err(RequestError::ClosedHasCapacity { pe, capacity }.into()),
        None => Ok(()),
    }
}

/// Checks that there is one least load for each PE, from 0 to its share.
fn check_least_loads(
    graph: &CsrGraph,
    capacities: &[u32],
    least_loads: &[Weight],
) -> Result<(), TargetsError> {
    let shares = Targets::shares(graph, capacities, 0.0);
    let (found, expected) = (least_loads.len(), shares.len());
    if found != expected {
        return Err(TargetsError::LeastLoadsDiffer { found, expected });
    }
    let pairs = least_loads.iter().copied().zip(shares).enumerate();
    for (block, (least, size)) in pairs {
        if least < 0 {
            return Err(TargetsError::NegativeLeastLoad { block, least });
        }
        if least > size {
            return Err(TargetsError::LeastLoadAboveSize { block, size, least });
        }
    }
    Ok(())
}

/// The PEs in the order of their numbers.
pub(super) fn in_order(machine: &dyn Machine) -> Vec<PeId> {
    (0..machine.num_pes() as PeId).collect()
}

/// The same targets, [near](Targets::near) these loads if they are given.
pub(super) fn near(targets: Targets, capacities: &[u32], loads: Option<&[Weight]>) -> Targets {
    match loads {
        Some(loads) => targets.near(capacities, loads),
        None => targets,
    }
}

pub(super) fn are_alike<T: PartialEq>(values: &[T]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
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
    /// The loads of the nodes, if these have bounds of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodeLoads>,
}

impl Loads {
    /// The largest ratio of a load to its bound, of PEs and of nodes.
    pub fn greatest_fullness(&self) -> f64 {
        self.nodes.map_or(self.fullest, |nodes| self.fullest.max(nodes.fullest))
    }

    /// The sum of all excess over the bounds, of PEs and of nodes.
    pub fn total_overload(&self) -> Weight {
        self.overload.saturating_add(self.nodes.map_or(0, |nodes| nodes.overload))
    }
}

/// The loads of nodes, of which each is the sum over its PEs.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct NodeLoads {
    /// The largest load of a node.
    pub greatest: Weight,
    /// The largest bound of a node.
    pub bound: Weight,
    /// The largest ratio of the load of a node to its bound; above 1 if a bound is exceeded.
    pub fullest: f64,
    /// The sum of all excess over the bounds.
    pub overload: Weight,
}

impl NodeLoads {
    /// These loads beside their bounds.
    pub(super) fn new(loads: &[Weight], bounds: &[Weight]) -> Self {
        Self {
            greatest: loads.iter().copied().max().unwrap_or(0),
            bound: bounds.iter().copied().max().unwrap_or(0),
            fullest: loads.iter().zip(bounds).map(fullness).fold(0.0, f64::max),
            overload: BoundViolation::of(loads, bounds, &[]).overload,
        }
    }
}

/// The ratio of a load to its bound.
fn fullness((&load, &bound): (&Weight, &Weight)) -> f64 {
    if load == 0 { 0.0 } else { load as f64 / bound as f64 }
}
