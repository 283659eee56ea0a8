//! Graphs from what others keep: borrowed arrays, and edges one by one.
//!
//! A [`CsrGraph`] owns its arrays, as everything that is proved of them must stay true; so what is borrowed is copied.

use std::fmt::Display;

use super::csr::{Arc, sort_by_source};
use super::{CsrGraph, GraphError};
use crate::base::types::{NodeId, Weight};

/// Borrowed arrays in compressed sparse row form: the arcs of vertex `u` are `offsets[u]..offsets[u + 1]` in `targets` and `edge_weights`. Without
/// weights, all of them are 1.
#[derive(Clone, Copy, Debug)]
pub struct CsrSlices<'a, I, W = Weight> {
    /// Where the arcs of each vertex begin, and the number of all.
    pub offsets: &'a [I],
    /// The end of each arc.
    pub targets: &'a [I],
    /// The weight of each arc.
    pub edge_weights: Option<&'a [W]>,
    /// The weight of each vertex.
    pub node_weights: Option<&'a [W]>,
}

impl<'a, I> CsrSlices<'a, I> {
    /// Arrays whose weights are all 1.
    pub fn unweighted(offsets: &'a [I], targets: &'a [I]) -> Self {
        Self { offsets, targets, edge_weights: None, node_weights: None }
    }
}

impl CsrGraph {
    /// Builds a graph from borrowed arrays in compressed sparse row form, which are copied and checked as in [`CsrGraph::new`]; O(n + m).
    ///
    /// Entries may be integers of any type, such as the `idx_t` of METIS.
    ///
    /// ```
    /// use viem::CsrGraph;
    /// use viem::graph::CsrSlices;
    ///
    /// let (xadj, adjncy) = ([0i32, 1, 3, 4], [1i32, 0, 2, 1]);
    /// let path = CsrGraph::from_slices(CsrSlices::unweighted(&xadj, &adjncy))?;
    /// assert_eq!(path.neighbours(1), [0, 2]);
    /// # Ok::<(), viem::graph::GraphError>(())
    /// ```
    pub fn from_slices<I, W>(slices: CsrSlices<'_, I, W>) -> Result<Self, GraphError>
    where
        I: Copy + Display + TryInto<usize> + TryInto<NodeId>,
        W: Copy + Display + TryInto<Weight>,
    {
        let CsrSlices { offsets, targets, edge_weights, node_weights } = slices;
        let num_nodes = offsets.len().saturating_sub(1);
        let ones = |count| vec![1; count];
        Self::new(
            converted(offsets, "offsets", usize::MAX as u64)?,
            converted(targets, "targets", NodeId::MAX.into())?,
            edge_weights.map_or(Ok(ones(targets.len())), |weights| {
                converted(weights, "edge weights", Weight::MAX as u64)
            })?,
            node_weights.map_or(Ok(ones(num_nodes)), |weights| {
                converted(weights, "vertex weights", Weight::MAX as u64)
            })?,
        )
    }

    /// Builds a graph of `num_nodes` vertices of weight 1 from edges in any order and direction; O(n + m).
    ///
    /// An edge may come several times, in either direction: its weights are summed. Edges of weight 0 and from a vertex to
    /// itself are left out: neither a cut nor J depends on them. Where each edge has to come once, use
    /// [`GraphBuilder`](super::GraphBuilder).
    ///
    /// ```
    /// use viem::CsrGraph;
    ///
    /// // Process 0 sends 5 messages to process 1, and gets 2 back.
    /// let graph = CsrGraph::from_edges(3, [(0, 1, 5), (1, 0, 2), (2, 1, 4), (1, 1, 9)])?;
    /// assert_eq!(graph.arcs(1).collect::<Vec<_>>(), [(0, 7), (2, 4)]);
    /// # Ok::<(), viem::graph::GraphError>(())
    /// ```
    pub fn from_edges(
        num_nodes: usize,
        edges: impl IntoIterator<Item = (NodeId, NodeId, Weight)>,
    ) -> Result<Self, GraphError> {
        Self::from_weights_and_edges(vec![1; num_nodes], edges)
    }

    /// Builds a graph of vertices of these weights from edges in any order and direction, as [`from_edges`](Self::from_edges) does; O(n + m).
    pub fn from_weights_and_edges(
        node_weights: Vec<Weight>,
        edges: impl IntoIterator<Item = (NodeId, NodeId, Weight)>,
    ) -> Result<Self, GraphError> {
        summed(node_weights, edges)
    }
}

/// The same numbers as those of another type.
fn converted<From, To>(array: &[From], name: &'static str, greatest: u64) -> Result<Vec<To>, GraphError>
where
    From: Copy + Display + TryInto<To>,
{
    let entry = |(index, value): (usize, &From)| {
        let out_of_range =
            |_| GraphError::EntryOutOfRange { array: name, index, value: value.to_string(), greatest };
        (*value).try_into().map_err(out_of_range)
    };
    array.iter().enumerate().map(entry).collect()
}

/// The graph of edges whose weights are summed; neighbours in ascending order.
fn summed(
    node_weights: Vec<Weight>,
    edges: impl IntoIterator<Item = (NodeId, NodeId, Weight)>,
) -> Result<CsrGraph, GraphError> {
    let count = node_weights.len();
    check_num_nodes(count)?;
    let mut kept: Vec<Arc> = Vec::new();
    for (u, v, weight) in edges {
        for (node, target) in [(u, v), (v, u)] {
            if target as usize >= count {
                return Err(GraphError::TargetOutOfRange { node, target, count });
            }
        }
        if weight < 0 {
            return Err(GraphError::EdgeWeightOutOfRange { node: u, target: v, weight });
        }
        if u != v && weight > 0 {
            kept.push((u, v, weight));
        }
    }
    // Two stable counting sorts, by head and then by tail, leave each row sorted.
    let both = || kept.iter().flat_map(|&(u, v, w)| [(u, v, w), (v, u, w)]);
    let (_, by_head) = sort_by_source(count, both());
    let (rows, arcs) = sort_by_source(count, by_head.into_iter().map(|(v, u, w)| (u, v, w)));
    let (mut offsets, mut targets, mut edge_weights) = (vec![0], Vec::new(), Vec::new());
    for row in rows.windows(2) {
        let row_start = targets.len();
        for &(_, target, weight) in &arcs[row[0]..row[1]] {
            match targets[row_start..].last() {
                Some(&last) if last == target => {
                    let sum: &mut Weight = edge_weights.last_mut().expect("each target has a weight");
                    *sum = sum.checked_add(weight).ok_or(GraphError::EdgeWeightOverflow)?;
                }
                _ => {
                    targets.push(target);
                    edge_weights.push(weight);
                }
            }
        }
        offsets.push(targets.len());
    }
    CsrGraph::new(offsets, targets, edge_weights, node_weights)
}

/// Fails unless every one of `count` vertices has a number of the type of vertices.
pub fn check_num_nodes(count: usize) -> Result<(), GraphError> {
    if count > NodeId::MAX as usize { Err(GraphError::TooManyNodes { count }) } else { Ok(()) }
}
