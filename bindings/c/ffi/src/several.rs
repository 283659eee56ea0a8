//! Partitions by several weights, as METIS and ParMETIS ask for them.

use viem::base::types::BlockId;
use viem::graph::VertexWeights;
use viem::machine::{Blocks, HierarchyError};
use viem::partition::TargetsError;
use viem::solve::{LoadLimits, Objective, RequestError, SeveralWeights, Solution, SolveError};
use viem::{Config, CsrGraph, PreparedMachine, Request};

use crate::{MemoryError, check_memory, memory_of_run, targets_within};

/// A graph whose vertices have several weights, and the parts that are asked for.
pub struct Several<'a> {
    /// The graph; its own weights of vertices mean nothing.
    pub graph: &'a CsrGraph,
    /// The weights.
    pub weights: &'a VertexWeights,
    /// The number of parts.
    pub num_parts: usize,
    /// The shares of each part of all weights, part by part; all equal without.
    pub shares: Option<&'a [f64]>,
    /// By weight: 1.03 lets parts be 3 % heavier than their share.
    pub imbalances: &'a [f64],
}

/// The reason why there is no such partition.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation
pub enum SeveralError {
    #[error(transparent)]
    Targets(#[from] TargetsError),
    #[error(transparent)]
    Blocks(#[from] HierarchyError),
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Solve(#[from] SolveError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Several<'_> {
    /// The parts of the vertices, each within the bounds of all weights if there are such parts.
    pub fn solve(&self, config: &Config) -> Result<Solution, SeveralError> {
        let (n, k, num_weights) = (self.graph.num_nodes(), self.num_parts, self.weights.num_weights());
        let size = (num_weights * (n + k)) as u128;
        check_memory(memory_of_run(n, self.graph.num_arcs()) + 64 * k as u128 + 32 * size)?;
        self.with_limits(|blocks, several| {
            let machine = PreparedMachine::new(blocks);
            let request = Request::new(self.graph, &machine).balanced(several).minimise(Objective::Cut);
            Ok(request.solve(config)?)
        })
    }

    /// Returns whether parts keep the bounds of all weights.
    pub fn keeps_bounds(&self, parts: &[BlockId]) -> Result<bool, SeveralError> {
        self.with_limits(|blocks, several| {
            Ok(several.loads(blocks, parts).iter().all(|loads| loads.overload == 0))
        })
    }

    /// Does some work with the limits of all weights.
    fn with_limits<R>(
        &self,
        work: impl FnOnce(&Blocks, &SeveralWeights<'_>) -> Result<R, SeveralError>,
    ) -> Result<R, SeveralError> {
        let &Self { weights, num_parts, .. } = self;
        let num_weights = weights.num_weights();
        let targets = (0..num_weights).map(|weight| {
            let shares = match self.shares {
                Some(shares) => shares.iter().skip(weight).step_by(num_weights).copied().collect(),
                None => vec![1.0 / num_parts as f64; num_parts],
            };
            let targets = targets_within(&weights.alone(weight), &shares, self.imbalances[weight])?;
            // As with METIS, a part may have little of one weight.
            targets.with_least_loads(vec![0; num_parts])
        });
        let targets = targets.collect::<Result<Vec<_>, TargetsError>>()?;
        let limits: Vec<LoadLimits<'_>> = targets.iter().map(LoadLimits::from).collect();
        let several = SeveralWeights::new(weights, &limits)?;
        work(&Blocks::equal(num_parts)?, &several)
    }
}
