//! The limits of the loads of PEs or blocks.

use std::path::{Path, PathBuf};

use crate::capacities::{CapacitiesByWeight, NodeOptions, OneOrEach, check_each};
use crate::error::{Result, UsageError};
use crate::files;
use crate::options::{BalanceOptions, NONE};
use viem::base::text::counted;
use viem::base::types::Weight;
use viem::graph::{CsrGraph, VertexWeights};
use viem::machine::Machine;
use viem::solve::{Balance, LoadLimits, SeveralWeights, SolveError};
use viem_io::{Source, pe_weights};

/// The requested limits of the loads of PEs or blocks.
pub(crate) struct Limits {
    /// The limits that all PEs or blocks have in common.
    pub(crate) balance: Balance,
    /// By weight, the least load of each PE or block, and the name of the file; empty if none is given.
    least_loads: Vec<(Option<Vec<Weight>>, String)>,
    /// The limits by each weight of the vertices, if they have several.
    each: Vec<Balance>,
    /// The capacities by each weight, if weights have capacities of their own.
    capacities: Vec<Vec<u32>>,
    /// By weight, the bound of each node; empty if nodes have none.
    node_bounds: Vec<Option<Vec<Weight>>>,
}

impl Limits {
    pub(crate) fn get(&self) -> LoadLimits<'_> {
        (self.balance, self.least_loads_of(0)).into()
    }

    /// The least load of each PE or block by a weight.
    fn least_loads_of(&self, weight: usize) -> Option<&[Weight]> {
        self.least_loads.get(weight)?.0.as_deref()
    }

    /// The limits for each of several weights, or for the only one if nodes have bounds. None if those of [`get`](Self::get) are all.
    pub(crate) fn several<'a>(
        &'a self,
        graph: &CsrGraph,
        weights: Option<&'a VertexWeights>,
    ) -> Result<Option<SeveralWeights<'a>>> {
        let several = match weights {
            None if self.node_bounds.iter().all(Option::is_none) => return Ok(None),
            None => SeveralWeights::of_graph(graph, self.get()),
            Some(weights) => {
                let limits = |(weight, &balance): (usize, &Balance)| {
                    let limits = LoadLimits::from((balance, self.least_loads_of(weight)));
                    let capacities = self.capacities.get(weight);
                    capacities.map_or(limits, |capacities| limits.with_capacities(capacities))
                };
                let limits: Vec<LoadLimits<'_>> = self.each.iter().enumerate().map(limits).collect();
                SeveralWeights::new(weights, &limits).map_err(SolveError::from)?
            }
        };
        if self.node_bounds.is_empty() {
            return Ok(Some(several));
        }
        Ok(Some(several.with_node_bounds(self.node_bounds.clone()).map_err(SolveError::from)?))
    }

    /// By weight, the bound of each node; empty if nodes have none.
    pub(crate) fn node_bounds(&self) -> &[Option<Vec<Weight>>] {
        &self.node_bounds
    }

    /// A share in percent, by each weight of the vertices if they have several.
    pub(crate) fn percents(&self, share: impl Fn(&Balance) -> f64) -> OneOrEach<f64> {
        match &self.each[..] {
            [] => OneOrEach::One(100.0 * share(&self.balance)),
            each => OneOrEach::Each(each.iter().map(|balance| 100.0 * share(balance)).collect()),
        }
    }

    /// Returns whether the imbalance is that of each division.
    pub(crate) fn are_per_division(&self) -> bool {
        self.balance.per_division
    }

    /// The names of the files of least loads in reports.
    pub(crate) fn names_of_least_loads(&self) -> Option<OneOrEach<String>> {
        OneOrEach::of(self.least_loads.iter().map(|(_, name)| name.clone()).collect())
    }
}

/// The imbalance with which each PE of these capacities that has one may have everything.
fn whole(capacities: &[u32]) -> f64 {
    let sum: f64 = capacities.iter().map(|&capacity| f64::from(capacity)).sum();
    let least = capacities.iter().filter(|&&capacity| capacity > 0).min();
    sum / f64::from(least.copied().unwrap_or(1))
}

impl BalanceOptions {
    /// The limits of the loads of the PEs or blocks of a machine, where vertices have these weights if they have several.
    pub(crate) fn limits_of(
        &self,
        machine: &dyn Machine,
        weights: Option<&VertexWeights>,
        (capacities, nodes): (&CapacitiesByWeight, &NodeOptions),
    ) -> Result<Limits> {
        let num_weights = weights.map_or(1, VertexWeights::num_weights);
        let lists = capacities.each();
        if lists.len() > 1 && lists.len() != num_weights {
            let message = format!(
                "--capacities is given {found} times, but each vertex has {weights}; give it once, or once for each",
                found = lists.len(),
                weights = counted(num_weights, "weight", "weights")
            );
            return Err(UsageError(message).into());
        }
        let of_machine = machine.capacities();
        let of = |weight| lists.get(weight).filter(|_| lists.len() > 1).unwrap_or(&of_machine);
        let whole: Vec<f64> = (0..num_weights).map(|weight| whole(of(weight))).collect();
        let each = self.read_each(&whole)?;
        let node_bounds = nodes.read(machine, num_weights)?;
        check_each("--least-loads", self.least_loads.len(), num_weights)?;
        let least_loads = self.read_least_loads(machine.num_pes())?;
        let capacities = if lists.len() > 1 { lists.to_vec() } else { Vec::new() };
        let (balance, is_one) = (each[0], weights.is_none());
        let each = if is_one { Vec::new() } else { each };
        Ok(Limits { balance, least_loads, each, capacities, node_bounds })
    }

    /// By weight, the least load of each of `count` PEs or blocks, and the name of the file.
    fn read_least_loads(&self, count: usize) -> Result<Vec<(Option<Vec<Weight>>, String)>> {
        let read = |path: &PathBuf| match path {
            path if path == Path::new(NONE) => Ok((None, NONE.to_owned())),
            path => {
                let least_loads = pe_weights::read_least_loads(Source::open(path)?, count)?;
                Ok((Some(least_loads), files::name(path)))
            }
        };
        self.least_loads.iter().map(read).collect()
    }

    /// The files of least loads that are read.
    pub(crate) fn files_of_least_loads(&self) -> impl Iterator<Item = &Path> {
        self.least_loads.iter().map(PathBuf::as_path).filter(|&path| path != Path::new(NONE))
    }
}
