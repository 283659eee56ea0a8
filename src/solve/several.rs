//! Several weights of the vertices, with limits of the loads for each.

use super::balance::{LoadLimits, Loads};
use super::error::{RequestError, SolveError};
use crate::base::types::PeId;
use crate::graph::{CsrGraph, VertexWeights};
use crate::machine::Machine;
use crate::mapping::Mapping;
use crate::partition::{FixedVertices, TargetsError, VectorTargets};

/// Several weights of each vertex, such as time and memory, with limits of the loads for each of them.
///
/// ```
/// use viem::graph::{VertexWeights, generate};
/// use viem::solve::{Balance, SeveralWeights};
/// use viem::{Config, Hierarchy, PreparedMachine, Request};
///
/// // Each vertex takes the same time, those on the left also memory.
/// let mesh = generate::mesh(40, 30, 1);
/// let weights = VertexWeights::new(2, mesh.nodes().flat_map(|u| [1, i64::from(u % 40 < 10)]).collect())?;
/// let (time, memory) = (Balance::default(), Balance::default().with_imbalance(0.1));
/// let several = SeveralWeights::new(&weights, &[time.into(), memory.into()])?;
/// let tree = Hierarchy::parse("4:2", "1:10")?;
/// let machine = PreparedMachine::new(&tree);
/// let solution = Request::new(&mesh, &machine).balanced_by(&several).solve(&Config::fast())?;
/// let loads = &solution.report.loads_by_weight;
/// assert!(loads[0].greatest <= 154 && loads[1].greatest <= 41);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SeveralWeights<'a> {
    weights: &'a VertexWeights,
    limits: Vec<LoadLimits<'a>>,
    /// The vertices with each of their weights, without edges.
    alone: Vec<CsrGraph>,
}

impl<'a> SeveralWeights<'a> {
    /// The limits for each weight in their order, or those that all weights have in common. Shares are in proportion to the capacities of the
    /// PEs unless limits are [`Targets`](crate::partition::Targets), which may be in proportion to a capacity of their own. O(c n).
    ///
    /// # Errors
    ///
    /// There are neither limits for each weight nor one for all.
    pub fn new(weights: &'a VertexWeights, limits: &[LoadLimits<'a>]) -> Result<Self, RequestError> {
        let expected = weights.num_weights();
        let limits = match limits {
            [common] => vec![*common; expected],
            limits if limits.len() == expected => limits.to_vec(),
            _ => return Err(RequestError::LimitsDiffer { found: limits.len(), expected }),
        };
        let alone = (0..expected).map(|weight| weights.alone(weight)).collect();
        Ok(Self { weights, limits, alone })
    }

    /// The weights of the vertices.
    pub fn weights(&self) -> &'a VertexWeights {
        self.weights
    }

    /// The limits of each weight, with the vertices that have this weight alone.
    fn each(&self) -> impl Iterator<Item = (&LoadLimits<'a>, &CsrGraph)> {
        self.limits.iter().zip(&self.alone)
    }

    /// Checks that the weights are those of a graph, and the limits possible.
    pub(super) fn check(&self, graph: &CsrGraph, machine: &dyn Machine) -> Result<(), SolveError> {
        self.weights.check(graph.num_nodes())?;
        self.each().try_for_each(|(limits, alone)| limits.check(alone, machine))
    }

    /// The targets of the PEs in this order.
    pub(super) fn targets(
        &self,
        machine: &dyn Machine,
        order: &[PeId],
    ) -> Result<VectorTargets, TargetsError> {
        let targets = self.each().map(|(limits, alone)| limits.targets(alone, machine, order, None));
        VectorTargets::new(self.weights, targets.collect::<Result<_, _>>()?)
    }

    /// The mapping of consecutive vertices to the PEs in order, by their shares of the first weight.
    pub(super) fn identity(
        &self,
        machine: &dyn Machine,
        fixed: Option<&FixedVertices>,
    ) -> Result<Mapping, TargetsError> {
        self.limits[0].identity(&self.alone[0], machine, fixed)
    }

    /// The loads of a mapping by each weight, given the PE of each vertex, compared with their limits; O(c (n + PEs)).
    pub fn loads(&self, machine: &dyn Machine, pe_of: &[PeId]) -> Vec<Loads> {
        self.each().map(|(limits, alone)| limits.loads(alone, machine, pe_of)).collect()
    }
}

/// The loads by the weight whose bound is exceeded most, or comes nearest to it; its number is the first of the pair.
pub(super) fn fullest(loads: &[Loads]) -> Option<(usize, Loads)> {
    let key = |&(weight, loads): &(usize, &Loads)| (loads.fullest, std::cmp::Reverse(weight));
    let compare = |a: &(usize, &Loads), b: &(usize, &Loads)| {
        key(a).0.total_cmp(&key(b).0).then(key(a).1.cmp(&key(b).1))
    };
    loads.iter().enumerate().max_by(compare).map(|(weight, loads)| (weight, *loads))
}
