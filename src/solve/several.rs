//! Several weights of the vertices, with limits of the loads for each.

use std::borrow::Cow;

use super::balance::{LoadLimits, Loads, NodeLoads, in_order, num_empty};
use super::error::{RequestError, SolveError};
use super::initial::Along;
use crate::base::types::{PeId, Weight};
use crate::graph::{CsrGraph, VertexWeights};
use crate::machine::{Machine, nodes_of};
use crate::mapping::Mapping;
use crate::partition::{FixedVertices, TargetsError, VectorTargets, block_weights};

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
/// let solution = Request::new(&mesh, &machine).balanced(&several).solve(&Config::fast())?;
/// let loads = &solution.report.loads_by_weight;
/// assert!(loads[0].greatest <= 154 && loads[1].greatest <= 41);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SeveralWeights<'a> {
    weights: Cow<'a, VertexWeights>,
    limits: Vec<LoadLimits<'a>>,
    /// The vertices with each of their weights, without edges.
    alone: Vec<CsrGraph>,
    /// By weight: the bound of each node, if nodes have bounds. Empty if they have none of any weight.
    node_bounds: Vec<Option<Vec<Weight>>>,
}

impl<'a> SeveralWeights<'a> {
    /// The limits for each weight in their order, or those that all weights have in common. Shares are in proportion to the capacities of the
    /// PEs, or to [capacities](LoadLimits) for this weight, unless limits are [`Targets`](crate::partition::Targets). O(c n).
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
        Ok(Self { weights: Cow::Borrowed(weights), limits, alone, node_bounds: Vec::new() })
    }

    /// The weight of the vertices of a graph as the only one, for [bounds of nodes](Self::with_node_bounds). O(n).
    pub fn of_graph(graph: &CsrGraph, limits: LoadLimits<'a>) -> Self {
        let weights = VertexWeights::of_graph(graph);
        let alone = vec![weights.alone(0)];
        Self { weights: Cow::Owned(weights), limits: vec![limits], alone, node_bounds: Vec::new() }
    }

    /// The same with bounds of nodes, such as their memory: the vertices on all PEs of a node weigh no more together. There is a list for each weight, or
    /// none, with a bound for each node of the [machine](crate::machine::Nodes). The bounds of PEs hold, too; a large imbalance lifts them.
    ///
    /// ```
    /// use viem::graph::{VertexWeights, generate};
    /// use viem::solve::{Balance, SeveralWeights};
    /// use viem::{Config, Hierarchy, PreparedMachine, Request};
    ///
    /// // Vertices on the left need memory, and the first of two nodes has little of it.
    /// let mesh = generate::mesh(40, 30, 1);
    /// let weights = VertexWeights::new(2, mesh.nodes().flat_map(|u| [1, i64::from(u % 40 < 10)]).collect())?;
    /// let (time, memory) = (Balance::default(), Balance::default().with_imbalance(100.0));
    /// let several = SeveralWeights::new(&weights, &[time.into(), memory.into()])?;
    /// let several = several.with_node_bounds(vec![None, Some(vec![20, 300])])?;
    /// let tree = Hierarchy::parse("4:2", "1:10")?;
    /// let machine = PreparedMachine::new(&tree);
    /// let solution = Request::new(&mesh, &machine).balanced(&several).solve(&Config::fast())?;
    /// assert_eq!(solution.report.violation().overload, 0);
    /// assert!(solution.report.loads_by_weight[1].nodes.unwrap().greatest >= 280);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There are more or fewer lists than weights, or a bound is negative.
    pub fn with_node_bounds(self, node_bounds: Vec<Option<Vec<Weight>>>) -> Result<Self, RequestError> {
        let (found, expected) = (node_bounds.len(), self.limits.len());
        if found != expected {
            return Err(RequestError::LimitsDiffer { found, expected });
        }
        for bounds in node_bounds.iter().flatten() {
            if let Some((node, &bound)) = bounds.iter().enumerate().find(|(_, bound)| **bound < 0) {
                return Err(RequestError::NegativeNodeBound { node, bound });
            }
        }
        let is_bound = node_bounds.iter().any(Option::is_some);
        Ok(Self { node_bounds: if is_bound { node_bounds } else { Vec::new() }, ..self })
    }

    /// The weights of the vertices.
    pub fn weights(&self) -> &VertexWeights {
        &self.weights
    }

    /// The limits of each weight, with the vertices that have this weight alone.
    fn each(&self) -> impl Iterator<Item = (&LoadLimits<'a>, &CsrGraph)> {
        self.limits.iter().zip(&self.alone)
    }

    /// Checks that the weights are those of a graph, and the limits possible.
    pub(super) fn check(&self, graph: &CsrGraph, machine: &dyn Machine) -> Result<(), SolveError> {
        self.weights.check(graph.num_nodes())?;
        self.each().try_for_each(|(limits, alone)| limits.check(alone, machine))?;
        if self.node_bounds.is_empty() {
            return Ok(());
        }
        let (_, expected) = nodes_of(machine, &in_order(machine));
        let differing = self.node_bounds.iter().flatten().map(Vec::len).find(|&found| found != expected);
        differing.map_or(Ok(()), |found| Err(RequestError::NodeBoundsDiffer { found, expected }.into()))
    }

    /// Returns whether a PE has a least load by one of the weights.
    pub(super) fn has_least_loads(&self) -> bool {
        self.limits.iter().any(LoadLimits::has_least_loads)
    }

    /// The targets of the PEs in this order.
    pub(super) fn targets(
        &self,
        machine: &dyn Machine,
        order: &[PeId],
    ) -> Result<VectorTargets, TargetsError> {
        let targets = self.each().map(|(limits, alone)| limits.targets(alone, machine, order, None));
        let targets = VectorTargets::new(&self.weights, targets.collect::<Result<_, _>>()?)?;
        if self.node_bounds.is_empty() {
            return Ok(targets);
        }
        let most: Vec<Option<&[Weight]>> = self.node_bounds.iter().map(Option::as_deref).collect();
        targets.with_group_bounds(nodes_of(machine, order).0, &most)
    }

    /// The mapping of consecutive vertices to the PEs in order, by their shares of the first weight.
    pub(super) fn identity(
        &self,
        machine: &dyn Machine,
        fixed: Option<&FixedVertices>,
    ) -> Result<Mapping, TargetsError> {
        self.limits[0].identity(&self.alone[0], machine, fixed)
    }

    /// A mapping along an order, whose ranges are those of the first weight.
    pub(super) fn along(
        &self,
        along: &Along<'_>,
        fixed: Option<&FixedVertices>,
    ) -> Result<Mapping, SolveError> {
        let first = self.alone[0].node_weights().to_vec();
        let graph = &along.graph.clone().with_node_weights(first).expect("each vertex has weights");
        Along { graph, ..*along }.balanced(self.limits[0], fixed)
    }

    /// The loads of a mapping by each weight, given the PE of each vertex, compared with their limits; O(c (n + PEs)).
    pub fn loads(&self, machine: &dyn Machine, pe_of: &[PeId]) -> Vec<Loads> {
        let mut loads: Vec<Loads> =
            self.each().map(|(limits, alone)| limits.loads(alone, machine, pe_of)).collect();
        // A PE without capacity for one of the weights must stay empty.
        let capacities: Vec<Vec<u32>> = self.limits.iter().map(|limits| limits.capacities(machine)).collect();
        let is_closed = |pe: usize| capacities.iter().any(|capacities| capacities[pe] == 0);
        let empty = num_empty((0..machine.num_pes()).map(is_closed).collect(), pe_of);
        loads.iter_mut().for_each(|loads| loads.empty = empty);
        if self.node_bounds.is_empty() { loads } else { self.with_nodes(loads, machine, pe_of) }
    }

    /// The same loads with those of the nodes.
    fn with_nodes(&self, mut loads: Vec<Loads>, machine: &dyn Machine, pe_of: &[PeId]) -> Vec<Loads> {
        let (node_of, num_nodes) = nodes_of(machine, &in_order(machine));
        let nodes: Vec<u32> = pe_of.iter().map(|&pe| node_of[pe as usize]).collect();
        for ((loads, bounds), alone) in loads.iter_mut().zip(&self.node_bounds).zip(&self.alone) {
            let of_nodes =
                |bounds: &Vec<Weight>| NodeLoads::new(&block_weights(alone, &nodes, num_nodes), bounds);
            loads.nodes = bounds.as_ref().map(of_nodes);
        }
        loads
    }
}

/// The greatest capacity of each PE or block by any weight, given lists of the same length, one for each weight; nothing without lists. O(c k).
///
/// ```
/// use viem::solve::greatest_capacities;
///
/// assert_eq!(greatest_capacities(&[vec![1, 0, 2], vec![0, 0, 3]]), Some(vec![1, 0, 3]));
/// assert_eq!(greatest_capacities(&[]), None);
/// ```
pub fn greatest_capacities(by_weight: &[Vec<u32>]) -> Option<Vec<u32>> {
    let (first, others) = by_weight.split_first()?;
    let greatest =
        |one: Vec<u32>, other: &Vec<u32>| one.into_iter().zip(other).map(|(a, &b)| a.max(b)).collect();
    Some(others.iter().fold(first.clone(), greatest))
}

/// The loads by the weight whose bound is exceeded most, or comes nearest to it; its number is the first of the pair.
pub(super) fn fullest(loads: &[Loads]) -> Option<(usize, Loads)> {
    let key = |&(weight, loads): &(usize, &Loads)| (loads.greatest_fullness(), std::cmp::Reverse(weight));
    let compare = |a: &(usize, &Loads), b: &(usize, &Loads)| {
        key(a).0.total_cmp(&key(b).0).then(key(a).1.cmp(&key(b).1))
    };
    loads.iter().enumerate().max_by(compare).map(|(weight, loads)| (weight, *loads))
}
