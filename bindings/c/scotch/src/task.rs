//! A graph, its target, and its mapping.

use viem::base::types::PeId;
use viem::machine::{Blocks, Machine};
use viem::partition::{FixedVertices, MigrationWeight, PreviousAssignment, Remapping, RemovedBlocks};
use viem::solve::Objective;
use viem::{CsrGraph, PreparedMachine, Request};
use viem_ffi::{check_memory, environment, memory_of_run, targets_of_shares};

use crate::arch::Target;
use crate::{Num, text};

/// A mapping that is asked for.
pub(crate) struct Task<'a> {
    pub graph: &'a CsrGraph,
    pub target: &'a Target,
    /// 0.01 lets PEs have 1 % more than their shares.
    pub imbalance: f64,
    pub seed: u64,
    /// The number of the PE of each vertex that must be there; negative ones are free.
    pub fixed: Option<&'a [Num]>,
    pub previous: Option<Previous<'a>>,
}

/// A mapping that the new one should be near.
#[derive(Clone, Copy)]
pub(crate) struct Previous<'a> {
    /// The number of the PE of each vertex; negative ones had none.
    pub parts: &'a [Num],
    /// What moving costs, in units of the cut.
    pub cost: f64,
    /// By vertex, factors of that; all 1 without.
    pub costs: Option<&'a [Num]>,
}

impl Task<'_> {
    /// The number of the PE of each vertex.
    pub fn solve(&self) -> Result<Vec<Num>, String> {
        let &Self { graph, target, .. } = self;
        let num_pes = target.shares.len();
        if graph.num_nodes() == 0 {
            return Ok(Vec::new());
        }
        check_memory(memory_of_run(graph.num_nodes(), graph.num_arcs()) + 64 * num_pes as u128)
            .map_err(text)?;
        let greatest = |fair: &[f64]| fair.iter().map(|fair| (1.0 + self.imbalance) * fair).collect();
        let targets = targets_of_shares(graph, &target.shares, greatest).map_err(text)?;
        let blocks = Blocks::equal(num_pes).map_err(text)?;
        let machine: Option<&dyn Machine> = target.machine.as_deref();
        let machine = machine.or_else(|| environment::machine(num_pes));
        let objective = if machine.is_some() { Objective::J } else { Objective::Cut };
        let prepared = PreparedMachine::new(machine.unwrap_or(&blocks));
        let (fixed, homes) = (self.fixed_vertices()?, self.homes()?);
        let weight = self.migration_weight(objective);
        let previous = homes.as_ref().map(|homes| Remapping::new(homes, weight));
        let request = Request::new(graph, &prepared).balanced(&targets).minimise(objective);
        let request = request.fixed(fixed.as_ref()).previous(previous);
        let solution = request.solve(&environment::effort().with_seed(self.seed)).map_err(text)?;
        let number = |&pe: &PeId| Num::try_from(target.number_of(pe)).map_err(text);
        solution.mapping.pes().iter().map(number).collect()
    }

    fn fixed_vertices(&self) -> Result<Option<FixedVertices>, String> {
        let Some(fixed) = self.fixed else { return Ok(None) };
        let pe_of = |&number: &Num| match self.target.pe_of(number.into()) {
            None if number >= 0 => Err(format!("a vertex is fixed to part {number}, which does not exist")),
            pe => Ok(pe),
        };
        let fixed = fixed.iter().map(pe_of).collect::<Result<Vec<_>, _>>()?;
        FixedVertices::new(&fixed, self.target.shares.len()).map(Some).map_err(text)
    }

    /// Where the vertices were: those that had no PE, or one that there is no more, were on one that has left.
    fn homes(&self) -> Result<Option<PreviousAssignment>, String> {
        let Some(previous) = self.previous else { return Ok(None) };
        let num_pes = self.target.shares.len();
        let gone = num_pes as PeId;
        let home = |&number: &Num| self.target.pe_of(number.into()).unwrap_or(gone);
        let homes: Vec<PeId> = previous.parts.iter().map(home).collect();
        PreviousAssignment::after(&homes, RemovedBlocks(&[gone]), num_pes).map(Some).map_err(text)
    }

    /// What moving a vertex of weight 1 costs. Here, this is in proportion to the weights of the vertices: the sum over all of them is that of Scotch.
    fn migration_weight(&self, objective: Objective) -> MigrationWeight {
        let Some(previous) = self.previous.filter(|previous| previous.cost > 0.0) else {
            return MigrationWeight::ZERO;
        };
        let number = self.graph.num_nodes() as f64;
        let costs = previous.costs.map_or(number, |costs| costs.iter().map(|&cost| cost as f64).sum());
        // J counts each edge in both directions.
        let directions = if objective == Objective::J { 2.0 } else { 1.0 };
        MigrationWeight::rounded(directions * previous.cost * costs / self.graph.total_node_weight() as f64)
    }
}
