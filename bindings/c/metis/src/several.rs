//! A graph whose vertices have several weights, and its partition.

use viem::graph::VertexWeights;
use viem::machine::Blocks;
use viem::solve::{LoadLimits, Objective as Goal, SeveralWeights};
use viem::{PreparedMachine, Request};
use viem_ffi::{LooseGraph, check_memory, memory_of_run};

use crate::options::Options;
use crate::task::{Bounds, Solution, effort};
use crate::{Fault, Idx};

/// A problem of several constraints.
pub(crate) struct Several<'a> {
    pub options: Options,
    pub graph: LooseGraph<'a, Idx>,
    pub num_weights: usize,
    /// Those of one vertex after the other; all 1 without.
    pub weights: Option<&'a [Idx]>,
    pub num_parts: usize,
    /// The shares of each part of all weights; all equal without.
    pub shares: Option<&'a [f32]>,
    /// By weight, instead of that of the options.
    pub imbalances: Option<&'a [f32]>,
}

impl Several<'_> {
    pub fn solve(&self) -> Result<Solution, Fault> {
        let &Self { num_weights, num_parts, .. } = self;
        let graph = self.graph.symmetric_graph()?;
        let (n, size) = (graph.num_nodes(), (num_weights * (graph.num_nodes() + num_parts)) as u128);
        check_memory(memory_of_run(n, graph.num_arcs()) + 64 * num_parts as u128 + 32 * size)?;
        let values = match self.weights {
            Some(weights) => weights.iter().map(|&weight| weight.into()).collect(),
            None => vec![1; n * num_weights],
        };
        let weights = VertexWeights::new(num_weights, values).map_err(|_| Fault::Input)?;
        let targets = (0..num_weights).map(|weight| {
            let column: Option<Vec<f32>> =
                self.shares.map(|shares| shares.iter().skip(weight).step_by(num_weights).copied().collect());
            let given = self.imbalances.map(|imbalances| f64::from(imbalances[weight]));
            let imbalance = given.unwrap_or(self.options.imbalance_of_several);
            let bounds = Bounds { num_parts, shares: column.as_deref(), imbalance };
            let targets = bounds.targets(&weights.alone(weight))?;
            // As with METIS, a part may have little of one weight.
            targets.with_least_loads(vec![0; num_parts]).map_err(|_| Fault::Input)
        });
        let targets = targets.collect::<Result<Vec<_>, _>>()?;
        let limits: Vec<LoadLimits<'_>> = targets.iter().map(LoadLimits::from).collect();
        let several = SeveralWeights::new(&weights, &limits).map_err(|_| Fault::Input)?;
        let blocks = Blocks::equal(num_parts).map_err(|_| Fault::Input)?;
        let machine = PreparedMachine::new(&blocks);
        let request = Request::new(&graph, &machine).balanced_by(&several).minimise(Goal::Cut);
        let solution = request.solve(&effort().with_seed(self.options.seed)).map_err(|_| Fault::Memory)?;
        Ok(Solution {
            objective: solution.report.cut,
            parts: solution.mapping.into_pes(),
            is_contiguous: true,
        })
    }
}
