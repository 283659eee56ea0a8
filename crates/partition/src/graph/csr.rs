//! The graph every algorithm works on: compressed sparse rows, checked when built.
//!
//! Memory: 8 (n + 1) + 12 · 2m + 8n bytes, or 8 (n + 1) + 4 · 2m + 8n if all edges weigh 1. Targets and weights lie in arrays of their
//! own, so a traversal that needs no weights moves four bytes per arc.

use std::ops::ControlFlow;

use super::fingerprint::is_surely_symmetric;
use super::validation::{Asymmetry, visit_asymmetries};
use crate::base::error::{ErrorKind, HasKind};
use crate::base::types::{NodeId, Weight};

/// An undirected graph with vertex weights (>= 0) and edge weights (> 0).
///
/// Each edge is stored as two arcs. The constructors prove that the graph is symmetric and has no
/// self-loop and no parallel edge, and that the sum of all arc weights and the sum of all vertex
/// weights fit [`Weight`]; so no sum over a part of the graph can overflow.
///
/// ```
/// use viem::graph::CsrGraph;
///
/// // A path of three vertices: the arcs of vertex u are offsets[u]..offsets[u + 1].
/// let graph = CsrGraph::new(vec![0, 1, 3, 4], vec![1, 0, 2, 1], vec![5, 5, 7, 7], vec![1; 3])?;
/// assert_eq!(graph.num_edges(), 2);
/// assert_eq!(graph.arcs(1).collect::<Vec<_>>(), [(0, 5), (2, 7)]);
/// # Ok::<(), viem::graph::GraphError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsrGraph {
    offsets: Vec<usize>,
    targets: Vec<NodeId>,
    /// By arc if an edge weighs more than 1; else as many ones as the longest row has arcs, and each row begins with the first of them.
    edge_weights: Vec<Weight>,
    /// All bits if weights are stored by arc, none if not: where a row begins among them, from where it begins among the arcs.
    weight_mask: usize,
    node_weights: Vec<Weight>,
    total_arc_weight: Weight,
    total_node_weight: Weight,
}

/// The reason why a graph was refused. Vertices are named from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
#[non_exhaustive]
pub enum GraphError {
    #[error("the graph has {count} vertices; at most {} are supported", u32::MAX)]
    TooManyNodes { count: usize },
    #[error("the graph has {count} arcs (two for each edge); at most {} are supported", u32::MAX - 1)]
    TooManyArcs { count: usize },
    #[error("the arrays do not describe a graph: {reason}")]
    Malformed { reason: &'static str },
    #[error("vertex {node} has a neighbour {target}, but the vertices are 0..{count}")]
    TargetOutOfRange { node: NodeId, target: NodeId, count: usize },
    #[error("vertex {node} has an edge to itself")]
    SelfLoop { node: NodeId },
    #[error("vertex {node} lists its neighbour {target} more than once")]
    ParallelEdge { node: NodeId, target: NodeId },
    #[error("vertex {node} lists the edge to {target}, but {target} does not list {node}")]
    MissingBackwardEdge { node: NodeId, target: NodeId },
    #[error("the edge {node} - {target} weighs {forward} in one direction and {backward} in the other")]
    UnequalWeights { node: NodeId, target: NodeId, forward: Weight, backward: Weight },
    #[error("the edge {node} - {target} has weight {weight}; edge weights must be positive")]
    EdgeWeightOutOfRange { node: NodeId, target: NodeId, weight: Weight },
    #[error("vertex {node} has weight {weight}; vertex weights must not be negative")]
    NodeWeightOutOfRange { node: NodeId, weight: Weight },
    #[error("entry {index} of the {array} is {value}, which is not a number from 0 to {greatest}")]
    EntryOutOfRange { array: &'static str, index: usize, value: String, greatest: u64 },
    #[error("the matrix has {rows} rows and {columns} columns; a graph needs a square one")]
    NotSquare { rows: usize, columns: usize },
    #[error("the sum of the edge weights, both directions counted, exceeds {}", Weight::MAX)]
    EdgeWeightOverflow,
    #[error("the sum of the vertex weights exceeds {}", Weight::MAX)]
    NodeWeightOverflow,
}

impl HasKind for GraphError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::TooManyNodes { .. }
            | Self::TooManyArcs { .. }
            | Self::Malformed { .. }
            | Self::TargetOutOfRange { .. }
            | Self::SelfLoop { .. }
            | Self::ParallelEdge { .. }
            | Self::MissingBackwardEdge { .. }
            | Self::UnequalWeights { .. }
            | Self::EdgeWeightOutOfRange { .. }
            | Self::NodeWeightOutOfRange { .. }
            | Self::EntryOutOfRange { .. }
            | Self::NotSquare { .. }
            | Self::EdgeWeightOverflow
            | Self::NodeWeightOverflow => ErrorKind::BadData,
        }
    }
}

impl CsrGraph {
    /// Builds a graph from its arrays and checks everything the type promises; O(n + m).
    ///
    /// The arcs of vertex `u` are `offsets[u]..offsets[u + 1]` in `targets` and `edge_weights`. The arrays become those of
    /// the graph, without a copy; [`from_slices`](Self::from_slices) takes borrowed ones, of any integers.
    pub fn new(
        offsets: Vec<usize>,
        targets: Vec<NodeId>,
        edge_weights: Vec<Weight>,
        node_weights: Vec<Weight>,
    ) -> Result<Self, GraphError> {
        let n = node_weights.len();
        if n > u32::MAX as usize {
            return Err(GraphError::TooManyNodes { count: n });
        }
        if targets.len() >= u32::MAX as usize {
            return Err(GraphError::TooManyArcs { count: targets.len() });
        }
        let malformed = |reason| Err(GraphError::Malformed { reason });
        if offsets.len() != n + 1 || offsets[0] != 0 || offsets[n] != targets.len() {
            return malformed("offsets must run from 0 to the number of arcs, one more than vertices");
        }
        if offsets.windows(2).any(|pair| pair[0] > pair[1]) {
            return malformed("offsets must not fall");
        }
        if targets.len() != edge_weights.len() {
            return malformed("each arc needs one weight");
        }
        let graph = Self::from_symmetric(offsets, targets, edge_weights, node_weights)?;
        graph.check_arcs()?;
        Ok(graph)
    }

    /// Builds a graph whose arrays are known to be well formed and symmetric, for code of this crate
    /// that derives one graph from another. Only the sums are checked.
    pub fn from_symmetric(
        offsets: Vec<usize>,
        targets: Vec<NodeId>,
        edge_weights: Vec<Weight>,
        node_weights: Vec<Weight>,
    ) -> Result<Self, GraphError> {
        let total_arc_weight = sum(&edge_weights).ok_or(GraphError::EdgeWeightOverflow)?;
        let total_node_weight = sum(&node_weights).ok_or(GraphError::NodeWeightOverflow)?;
        let has_edge_weights = edge_weights.iter().any(|&weight| weight != 1);
        let edge_weights = if has_edge_weights { edge_weights } else { longest_row_of_ones(&offsets) };
        Ok(Self {
            offsets,
            targets,
            edge_weights,
            weight_mask: if has_edge_weights { usize::MAX } else { 0 },
            node_weights,
            total_arc_weight,
            total_node_weight,
        })
    }

    /// The same for a graph whose edges all weigh 1.
    pub fn from_symmetric_unweighted(
        offsets: Vec<usize>,
        targets: Vec<NodeId>,
        node_weights: Vec<Weight>,
    ) -> Result<Self, GraphError> {
        let total_arc_weight = targets.len() as Weight;
        let graph = Self::from_symmetric(offsets, Vec::new(), Vec::new(), node_weights)?;
        Ok(Self { targets, total_arc_weight, ..graph })
    }

    fn check_arcs(&self) -> Result<(), GraphError> {
        let n = self.num_nodes();
        let mut seen_by = vec![NodeId::MAX; n];
        check_node_weights(&self.node_weights)?;
        for node in self.nodes() {
            for (target, weight) in self.arcs(node) {
                if target as usize >= n {
                    return Err(GraphError::TargetOutOfRange { node, target, count: n });
                }
                if target == node {
                    return Err(GraphError::SelfLoop { node });
                }
                if weight <= 0 {
                    return Err(GraphError::EdgeWeightOutOfRange { node, target, weight });
                }
                if seen_by[target as usize] == node {
                    return Err(GraphError::ParallelEdge { node, target });
                }
                seen_by[target as usize] = node;
            }
        }
        self.check_symmetry()
    }

    /// Looks for the first edge that only one end lists, or that weighs differently at its two ends.
    fn check_symmetry(&self) -> Result<(), GraphError> {
        if is_surely_symmetric(&self.offsets, &self.targets, self.edge_weights()) {
            return Ok(());
        }
        let ascending = |node| self.neighbours(node).is_sorted();
        if self.nodes().all(ascending) {
            return find_asymmetry(&self.offsets, &self.targets, self.edge_weights());
        }
        let (mut targets, mut weights) = (Vec::new(), Vec::new());
        let mut row: Vec<(NodeId, Weight)> = Vec::new();
        for node in self.nodes() {
            row.clear();
            row.extend(self.arcs(node));
            row.sort_unstable();
            targets.extend(row.iter().map(|&(target, _)| target));
            weights.extend(row.iter().map(|&(_, weight)| weight));
        }
        find_asymmetry(&self.offsets, &targets, Some(&weights))
    }

    /// The weights of the arcs of a vertex.
    #[inline]
    fn weights_at(&self, node: NodeId) -> &[Weight] {
        let (start, end) = (self.offsets[node as usize], self.offsets[node as usize + 1]);
        // No branch: hot loops come here for each vertex.
        &self.edge_weights[start & self.weight_mask..][..end - start]
    }

    /// Number of vertices.
    #[inline]
    pub fn num_nodes(&self) -> usize {
        self.node_weights.len()
    }

    /// Number of undirected edges.
    #[inline]
    pub fn num_edges(&self) -> usize {
        self.targets.len() / 2
    }

    /// Number of arcs: twice the number of edges.
    #[inline]
    pub fn num_arcs(&self) -> usize {
        self.targets.len()
    }

    /// All vertices, in order.
    #[inline]
    pub fn nodes(&self) -> std::ops::Range<NodeId> {
        0..self.num_nodes() as NodeId
    }

    /// Number of neighbours of `node`.
    #[inline]
    pub fn degree(&self, node: NodeId) -> usize {
        self.offsets[node as usize + 1] - self.offsets[node as usize]
    }

    /// The neighbours of `node`.
    #[inline]
    pub fn neighbours(&self, node: NodeId) -> &[NodeId] {
        &self.targets[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }

    /// The neighbours of `node`, each with the weight of the edge.
    #[inline]
    pub fn arcs(&self, node: NodeId) -> impl ExactSizeIterator<Item = (NodeId, Weight)> + Clone + '_ {
        self.neighbours(node).iter().copied().zip(self.weights_at(node).iter().copied())
    }

    /// Weight of a vertex.
    #[inline]
    pub fn node_weight(&self, node: NodeId) -> Weight {
        self.node_weights[node as usize]
    }

    /// Weights of all vertices, by vertex.
    #[inline]
    pub fn node_weights(&self) -> &[Weight] {
        &self.node_weights
    }

    /// `offsets()[u]..offsets()[u + 1]` are the positions of the arcs of `u`.
    #[inline]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Heads of all arcs, by position.
    #[inline]
    pub fn targets(&self) -> &[NodeId] {
        &self.targets
    }

    /// Weights of all arcs, by position; none if all are 1. [`arcs`](Self::arcs) has them in either case.
    #[inline]
    pub fn edge_weights(&self) -> Option<&[Weight]> {
        (self.weight_mask != 0).then_some(&self.edge_weights)
    }

    /// Weight of the arc at a position.
    #[inline]
    pub fn arc_weight(&self, arc: usize) -> Weight {
        if self.weight_mask == 0 { 1 } else { self.edge_weights[arc] }
    }

    /// Sum of the weights of all arcs: each edge counts twice.
    #[inline]
    pub fn total_arc_weight(&self) -> Weight {
        self.total_arc_weight
    }

    /// Sum of the weights of all vertices.
    #[inline]
    pub fn total_node_weight(&self) -> Weight {
        self.total_node_weight
    }

    /// Sum of the weights of the edges at `node`.
    pub fn weighted_degree(&self, node: NodeId) -> Weight {
        self.weights_at(node).iter().sum()
    }

    /// The same graph with isolated vertices of weight 0 behind the others, `num_nodes` in all if that is more than there are; O(n + m).
    pub fn with_isolated_nodes(&self, num_nodes: usize) -> Self {
        let num_nodes = num_nodes.max(self.num_nodes());
        let mut graph = self.clone();
        graph.offsets.resize(num_nodes + 1, self.num_arcs());
        graph.node_weights.resize(num_nodes, 0);
        graph
    }

    /// The same graph with all vertex weights 1.
    pub fn with_unit_node_weights(mut self) -> Self {
        self.node_weights.fill(1);
        self.total_node_weight = self.num_nodes() as Weight;
        self
    }

    /// The same graph with other weights of its vertices; O(n).
    ///
    /// # Errors
    ///
    /// There are more or fewer weights than vertices, one is negative, or their sum does not fit.
    pub fn with_node_weights(mut self, node_weights: Vec<Weight>) -> Result<Self, GraphError> {
        if node_weights.len() != self.num_nodes() {
            return Err(GraphError::Malformed { reason: "each vertex needs one weight" });
        }
        check_node_weights(&node_weights)?;
        self.total_node_weight = sum(&node_weights).ok_or(GraphError::NodeWeightOverflow)?;
        self.node_weights = node_weights;
        Ok(self)
    }

    /// The same graph with other weights, computed from the ends and the weight of each edge, the same in both directions; at least 1, and
    /// their sum fits. O(m).
    pub(crate) fn with_edge_weights(self, weight: impl Fn(NodeId, NodeId, Weight) -> Weight) -> Self {
        let mut weights = Vec::with_capacity(self.num_arcs());
        for node in self.nodes() {
            weights.extend(self.arcs(node).map(|(target, own)| weight(node, target, own)));
        }
        let Self { offsets, targets, node_weights, .. } = self;
        Self::from_symmetric(offsets, targets, weights, node_weights).expect("their sum fits")
    }

    /// The graph itself if its arcs weigh at most `bound` in sum. Else all of them are divided by one power of two, and the
    /// quotients rounded down but not to 0. `bound` is at least twice the number of arcs. O(m).
    pub fn with_total_arc_weight_at_most(self, bound: Weight) -> Self {
        let num_arcs = self.num_arcs() as Weight;
        debug_assert!(2 * num_arcs <= bound);
        let total = self.total_arc_weight;
        if total <= bound {
            return self;
        }
        // Each arc that is not rounded down to 0 adds at most 1.
        let shift =
            (1..Weight::BITS).find(|shift| (total >> shift) + num_arcs <= bound).unwrap_or(Weight::BITS - 1);
        self.with_edge_weights(|_, _, weight| (weight >> shift).max(1))
    }
}

/// The sum of weights, if it fits.
fn sum(weights: &[Weight]) -> Option<Weight> {
    weights.iter().try_fold(0, |sum: Weight, &weight| sum.checked_add(weight))
}

/// Fails if a vertex has a negative weight.
fn check_node_weights(weights: &[Weight]) -> Result<(), GraphError> {
    match weights.iter().enumerate().find(|&(_, &weight)| weight < 0) {
        Some((node, &weight)) => Err(GraphError::NodeWeightOutOfRange { node: node as NodeId, weight }),
        None => Ok(()),
    }
}

/// As many ones as the longest row has arcs.
fn longest_row_of_ones(offsets: &[usize]) -> Vec<Weight> {
    vec![1; offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)]
}

fn find_asymmetry(
    offsets: &[usize],
    targets: &[NodeId],
    weights: Option<&[Weight]>,
) -> Result<(), GraphError> {
    let mut found = Ok(());
    let _ = visit_asymmetries(
        offsets,
        targets,
        |arc, backward| weights.is_none_or(|weights| weights[arc] == weights[backward]),
        |asymmetry| {
            found = Err(match asymmetry {
                Asymmetry::MissingBackward { node, arc } => {
                    GraphError::MissingBackwardEdge { node, target: targets[arc] }
                }
                Asymmetry::UnequalWeights { node, arc, backward } => GraphError::UnequalWeights {
                    node,
                    target: targets[arc],
                    forward: weights.map_or(1, |weights| weights[arc]),
                    backward: weights.map_or(1, |weights| weights[backward]),
                },
            });
            ControlFlow::Break(())
        },
    );
    found
}

/// Collects undirected edges in any order and builds a [`CsrGraph`] from them.
///
/// ```
/// let mut builder = viem::graph::GraphBuilder::new(3);
/// builder.add_edge(0, 1, 5);
/// builder.add_edge(2, 1, 7);
/// let graph = builder.build().unwrap();
/// assert_eq!(graph.neighbours(1), [0, 2]);
/// assert_eq!(graph.total_arc_weight(), 24);
/// ```
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    node_weights: Vec<Weight>,
    edges: Vec<(NodeId, NodeId, Weight)>,
}

impl GraphBuilder {
    /// A graph of `num_nodes` vertices of weight 1 and no edges yet.
    pub fn new(num_nodes: usize) -> Self {
        Self { node_weights: vec![1; num_nodes], edges: Vec::new() }
    }

    /// Sets the weight of a vertex. Panics if there is no such vertex.
    pub fn set_node_weight(&mut self, node: NodeId, weight: Weight) {
        self.node_weights[node as usize] = weight;
    }

    /// Adds the edge `u - v`. Each edge may be added once, in either direction.
    pub fn add_edge(&mut self, u: NodeId, v: NodeId, weight: Weight) {
        self.edges.push((u, v, weight));
    }

    /// Builds the graph, neighbours in ascending order; O(n + m). Fails as [`CsrGraph::new`] does.
    pub fn build(self) -> Result<CsrGraph, GraphError> {
        let n = self.node_weights.len();
        if n > u32::MAX as usize {
            return Err(GraphError::TooManyNodes { count: n });
        }
        for &(u, v, _) in &self.edges {
            for (node, target) in [(u, v), (v, u)] {
                if target as usize >= n {
                    return Err(GraphError::TargetOutOfRange { node, target, count: n });
                }
            }
        }
        let both = || self.edges.iter().flat_map(|&(u, v, w)| [(u, v, w), (v, u, w)]);
        // Two stable counting sorts, by head and then by tail, leave each row sorted.
        let (_, by_head) = sort_by_source(n, both().map(|(u, v, w)| (v, u, w)));
        let heads_first = by_head.into_iter().map(|(v, u, w)| (u, v, w));
        let (offsets, arcs) = sort_by_source(n, heads_first);
        let (targets, edge_weights) = arcs.into_iter().map(|(_, v, w)| (v, w)).unzip();
        CsrGraph::new(offsets, targets, edge_weights, self.node_weights)
    }
}

pub(super) type Arc = (NodeId, NodeId, Weight);

pub(super) fn sort_by_source(n: usize, arcs: impl Iterator<Item = Arc> + Clone) -> (Vec<usize>, Vec<Arc>) {
    let mut offsets = vec![0usize; n + 1];
    for (source, _, _) in arcs.clone() {
        offsets[source as usize + 1] += 1;
    }
    for node in 0..n {
        offsets[node + 1] += offsets[node];
    }
    let mut next = offsets.clone();
    let mut sorted = vec![(0, 0, 0); offsets[n]];
    for arc in arcs {
        sorted[next[arc.0 as usize]] = arc;
        next[arc.0 as usize] += 1;
    }
    (offsets, sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle(change: impl FnOnce(&mut Vec<NodeId>, &mut Vec<Weight>)) -> Result<CsrGraph, GraphError> {
        let mut targets = vec![1, 2, 0, 2, 0, 1];
        let mut weights = vec![5, 6, 5, 7, 6, 7];
        change(&mut targets, &mut weights);
        CsrGraph::new(vec![0, 2, 4, 6], targets, weights, vec![1; 3])
    }

    #[test]
    fn valid_graph_reports_its_sizes() {
        let graph = triangle(|_, _| {}).unwrap();
        assert_eq!((graph.num_nodes(), graph.num_edges(), graph.num_arcs()), (3, 3, 6));
        assert_eq!(graph.total_arc_weight(), 36);
        assert_eq!(graph.weighted_degree(1), 12);
        assert_eq!(graph.arcs(2).collect::<Vec<_>>(), [(0, 6), (1, 7)]);
    }

    #[test]
    fn weights_are_divided_to_a_sum() {
        let heavy = triangle(|_, w| w.copy_from_slice(&[1 << 40, 9, 1 << 40, 1 << 39, 9, 1 << 39])).unwrap();
        assert_eq!(heavy.clone().with_total_arc_weight_at_most(Weight::MAX), heavy);
        let total = heavy.total_arc_weight();
        for bound in [12, 13, 100, total / 5, total / 2, total - 1] {
            let light = heavy.clone().with_total_arc_weight_at_most(bound);
            let sum: Weight = light.nodes().map(|node| light.weighted_degree(node)).sum();
            assert_eq!(light.total_arc_weight(), sum);
            assert!(light.total_arc_weight() <= bound);
            assert!(bound < 100 || 5 * light.total_arc_weight() >= bound);
            assert_eq!(light.check_arcs(), Ok(()));
        }
    }

    #[test]
    fn weights_that_are_all_one_are_not_stored() {
        let plain = triangle(|_, w| w.fill(1)).unwrap();
        assert_eq!((plain.edge_weights(), plain.total_arc_weight()), (None, 6));
        assert_eq!(plain.edge_weights.len(), 2);
        assert_eq!(plain.arcs(2).collect::<Vec<_>>(), [(0, 1), (1, 1)]);
        assert_eq!((plain.arc_weight(5), plain.weighted_degree(1)), (1, 2));
        assert_eq!(plain.check_arcs(), Ok(()));
        let (offsets, targets) = (plain.offsets().to_vec(), plain.targets().to_vec());
        assert_eq!(CsrGraph::from_symmetric_unweighted(offsets, targets, vec![1; 3]).as_ref(), Ok(&plain));
        let heavy = plain.clone().with_edge_weights(|u, v, weight| Weight::from(u + v) + weight);
        assert_eq!(heavy.edge_weights(), Some(&[2, 3, 2, 4, 3, 4][..]));
        assert_eq!((heavy.arc_weight(5), heavy.total_arc_weight()), (4, 18));
        assert_eq!(heavy.with_edge_weights(|_, _, _| 1), plain);
        // Weights that sum up as ones would.
        let error = triangle(|_, w| w.copy_from_slice(&[0, 2, 0, 1, 2, 1])).unwrap_err();
        assert_eq!(error, GraphError::EdgeWeightOutOfRange { node: 0, target: 1, weight: 0 });
    }

    #[test]
    fn every_fault_is_named() {
        let cases: [(Result<CsrGraph, GraphError>, GraphError); 7] = [
            (triangle(|t, _| t[0] = 9), GraphError::TargetOutOfRange { node: 0, target: 9, count: 3 }),
            (triangle(|t, _| t[0] = 0), GraphError::SelfLoop { node: 0 }),
            (triangle(|t, _| t[0] = 2), GraphError::ParallelEdge { node: 0, target: 2 }),
            (
                triangle(|_, w| w[0] = 4),
                GraphError::UnequalWeights { node: 0, target: 1, forward: 4, backward: 5 },
            ),
            (triangle(|_, w| w[0] = 0), GraphError::EdgeWeightOutOfRange { node: 0, target: 1, weight: 0 }),
            (triangle(|_, w| w.fill(Weight::MAX / 4)), GraphError::EdgeWeightOverflow),
            (
                CsrGraph::new(vec![0, 1, 1], vec![1], vec![1], vec![1, 1]),
                GraphError::MissingBackwardEdge { node: 0, target: 1 },
            ),
        ];
        for (result, expected) in cases {
            assert_eq!(result.unwrap_err(), expected);
        }
        let backward_only = CsrGraph::new(vec![0, 0, 1], vec![0], vec![1], vec![1, 1]);
        assert_eq!(backward_only.unwrap_err(), GraphError::MissingBackwardEdge { node: 1, target: 0 });
    }

    #[test]
    fn malformed_arrays_are_refused() {
        for offsets in [vec![], vec![0], vec![0, 2, 1, 2], vec![1, 1, 1, 2], vec![0, 1, 1, 3]] {
            let result = CsrGraph::new(offsets, vec![1, 0], vec![1, 1], vec![1; 3]);
            assert!(matches!(result, Err(GraphError::Malformed { .. })));
        }
    }

    #[test]
    fn empty_graph_is_a_graph() {
        let graph = GraphBuilder::new(0).build().unwrap();
        assert_eq!((graph.num_nodes(), graph.num_arcs()), (0, 0));
    }
}
