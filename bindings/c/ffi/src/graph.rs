//! Graphs as other partitioners take them: from 0 or from 1, with edges that mean nothing.

use std::fmt::Display;

use viem::CsrGraph;
use viem::base::types::{NodeId, Weight};
use viem::graph::{GraphBuilder, GraphError};

use crate::{check_memory, memory_of_graph};

/// An integer of C.
pub trait Integer: Copy + Display + Into<i64> {}
impl Integer for i32 {}
impl Integer for i64 {}

/// The offset of the arcs of each vertex, counted from 0: `xadj` of METIS, once it is known not to fall. Only then is its last entry the length of
/// the other arrays.
pub fn arcs_from<I: Integer>(xadj: &[I], base: i64) -> Option<Vec<usize>> {
    let offset =
        |&offset: &I| offset.into().checked_sub(base).and_then(|offset| usize::try_from(offset).ok());
    let offsets = xadj.iter().map(offset).collect::<Option<Vec<usize>>>()?;
    let last = offsets.last().copied()?;
    (offsets[0] == 0 && offsets.is_sorted() && last < u32::MAX as usize).then_some(offsets)
}

/// The arrays of a graph, the arcs of vertex `u` at `offsets[u]..offsets[u + 1]`; vertices count from `base`.
#[derive(Clone, Copy)]
pub struct LooseGraph<'a, I, W = I> {
    /// The number of the first vertex.
    pub base: i64,
    /// Offsets from 0, by vertex, and one more.
    pub offsets: &'a [usize],
    /// The other end of each arc.
    pub targets: &'a [I],
    /// Weights by arc, at least 0; all 1 without.
    pub edge_weights: Option<&'a [I]>,
    /// Weights by vertex, at least 0; all 1 without, and if all are 0.
    pub vertex_weights: Option<&'a [W]>,
}

impl<I: Integer, W: Integer> LooseGraph<'_, I, W> {
    /// The graph. Edges from a vertex to itself and of weight 0 are left out, and those that occur several times in a list are summed. O(n + m).
    pub fn graph(&self) -> Result<CsrGraph, LooseError> {
        let num_vertices = self.offsets.len() - 1;
        check_memory(memory_of_graph(num_vertices, self.targets.len()))?;
        let (mut offsets, mut targets, mut weights) =
            (Vec::with_capacity(num_vertices + 1), Vec::new(), Vec::new());
        targets.reserve_exact(self.targets.len());
        weights.reserve_exact(self.targets.len());
        offsets.push(0);
        // By vertex, one more than the position in the row of the last vertex that lists it.
        let mut position = vec![0usize; num_vertices];
        for node in 0..num_vertices {
            let row = targets.len();
            for arc in self.offsets[node]..self.offsets[node + 1] {
                let target = self.target(node, arc, num_vertices)?;
                let weight = self.edge_weights.map_or(1, |weights| weights[arc].into());
                if weight < 0 {
                    let (node, target) = (node as NodeId, target as NodeId);
                    return Err(GraphError::EdgeWeightOutOfRange { node, target, weight }.into());
                }
                if weight == 0 || target == node {
                    continue;
                }
                let known = position[target];
                if known > row {
                    let sum: &mut Weight = &mut weights[known - 1];
                    *sum = sum.checked_add(weight).ok_or(GraphError::EdgeWeightOverflow)?;
                } else {
                    targets.push(target as NodeId);
                    weights.push(weight);
                    position[target] = targets.len();
                }
            }
            offsets.push(targets.len());
        }
        Ok(CsrGraph::new(offsets, targets, weights, self.weights_of_vertices(num_vertices))?)
    }

    /// The same, and if it is not symmetric, its union with the graph of all arcs turned round: an edge weighs as much as the heavier of its two
    /// directions. O(n + m); O(m log m) for a union.
    pub fn symmetric_graph(&self) -> Result<CsrGraph, LooseError> {
        match self.graph() {
            Err(LooseError::Graph(
                GraphError::MissingBackwardEdge { .. } | GraphError::UnequalWeights { .. },
            )) => Ok(self.union()?),
            graph => graph,
        }
    }

    /// The union with the graph of all arcs turned round. All targets and weights are known to be in their ranges.
    fn union(&self) -> Result<CsrGraph, GraphError> {
        let num_vertices = self.offsets.len() - 1;
        let mut arcs = Vec::with_capacity(self.targets.len());
        for node in 0..num_vertices {
            for arc in self.offsets[node]..self.offsets[node + 1] {
                let target = self.target(node, arc, num_vertices)?;
                let weight: Weight = self.edge_weights.map_or(1, |weights| weights[arc].into());
                if weight > 0 && target != node {
                    arcs.push((
                        node.min(target) as NodeId,
                        node.max(target) as NodeId,
                        node > target,
                        weight,
                    ));
                }
            }
        }
        arcs.sort_unstable();
        let mut builder = GraphBuilder::new(num_vertices);
        for (node, weight) in (0..).zip(self.weights_of_vertices(num_vertices)) {
            builder.set_node_weight(node, weight);
        }
        for edge in arcs.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let directions = edge.chunk_by(|a, b| a.2 == b.2);
            // The sums fit: the graph was refused for its asymmetry, which is found after overflow.
            let weight = directions.map(|arcs| arcs.iter().map(|arc| arc.3).sum()).max().unwrap_or(0);
            builder.add_edge(edge[0].0, edge[0].1, weight);
        }
        builder.build()
    }

    fn target(&self, node: usize, arc: usize, num_vertices: usize) -> Result<usize, GraphError> {
        let target =
            self.targets[arc].into().checked_sub(self.base).and_then(|target| usize::try_from(target).ok());
        target.filter(|&target| target < num_vertices).ok_or(GraphError::EntryOutOfRange {
            array: "neighbours",
            index: arc,
            value: format!("{} of vertex {node}", self.targets[arc]),
            greatest: num_vertices as u64,
        })
    }

    /// With weights that are all 0, any partition would be balanced, and one block the best.
    fn weights_of_vertices(&self, num_vertices: usize) -> Vec<Weight> {
        let weights = self.vertex_weights.filter(|weights| weights.iter().any(|&weight| weight.into() != 0));
        weights.map_or_else(
            || vec![1; num_vertices],
            |weights| weights.iter().map(|&weight| weight.into()).collect(),
        )
    }
}

/// The reason why there is no such graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LooseError {
    /// The arrays are no graph.
    Graph(GraphError),
    /// There is not enough memory.
    Memory(crate::MemoryError),
}

impl Display for LooseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Graph(error) => error.fmt(f),
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl From<GraphError> for LooseError {
    fn from(error: GraphError) -> Self {
        Self::Graph(error)
    }
}

impl From<crate::MemoryError> for LooseError {
    fn from(error: crate::MemoryError) -> Self {
        Self::Memory(error)
    }
}
