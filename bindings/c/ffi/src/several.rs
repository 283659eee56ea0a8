//! Partitions by several weights, as METIS and ParMETIS ask for them.

use viem::graph::VertexWeights;
use viem::machine::{Blocks, HierarchyError};
use viem::partition::{Targets, TargetsError};
use viem::solve::{LoadLimits, Objective, RequestError, SeveralWeights, Solution, SolveError};
use viem::{Config, CsrGraph, PreparedMachine, Request};

use crate::{Divided, MemoryError, check_memory, memory_of_run, targets_within};

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
        let divided: Vec<Divided> =
            self.weights.totals().iter().map(|&total| Divided { total, num_vertices: n }).collect();
        let targets = targets_by_weight(&divided, k, self.shares, self.imbalances)?;
        let limits: Vec<LoadLimits<'_>> = targets.iter().map(LoadLimits::from).collect();
        let (several, blocks) = (SeveralWeights::new(self.weights, &limits)?, Blocks::equal(k)?);
        let machine = PreparedMachine::new(&blocks);
        let request = Request::new(self.graph, &machine).balanced(&several).minimise(Objective::Cut);
        Ok(request.solve(config)?)
    }
}

/// The shares and bounds of this many parts by each weight, of which so much is divided. `shares` has those of one part after the other, all equal without; an
/// imbalance of 1.03 lets parts be 3 % heavier. Of several weights, a part may have little of one, as with METIS.
///
/// # Errors
///
/// There are no parts or too many.
pub fn targets_by_weight(
    divided: &[Divided],
    num_parts: usize,
    shares: Option<&[f64]>,
    imbalances: &[f64],
) -> Result<Vec<Targets>, TargetsError> {
    let num_weights = divided.len();
    let of_weight = |(weight, &divided): (usize, &Divided)| {
        let shares = match shares {
            Some(shares) => shares.iter().skip(weight).step_by(num_weights).copied().collect(),
            None => vec![1.0; num_parts],
        };
        let targets = targets_within(divided, &shares, imbalances[weight])?;
        if num_weights == 1 { Ok(targets) } else { targets.with_least_loads(vec![0; num_parts]) }
    };
    divided.iter().enumerate().map(of_weight).collect()
}
