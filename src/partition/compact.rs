//! The compact graph of each level of the multilevel scheme.
//!
//! A [`CsrGraph`] keeps 64-bit weights in an array of their own. Partitioning is bound by memory traffic,
//! so the levels interleave target and weight and store weights in 32 bits whenever all sums fit: an arc
//! then takes 8 bytes. All arithmetic is done in [`Weight`], whatever the stored width.

use crate::graph::hubs::FEWEST_ARCS;
use crate::graph::{CsrGraph, GraphBuilder};
use crate::ground::types::{BlockId, NodeId, Weight};

/// A stored weight: `i32` where every sum over the graph fits, else `i64`.
pub(crate) trait Stored: Copy + Send + Sync + 'static {
    fn wide(self) -> Weight;

    /// `weight` must fit, which holds for every sum over a graph that was stored in this type.
    fn narrow(weight: Weight) -> Self;
}

impl Stored for i32 {
    #[inline]
    fn wide(self) -> Weight {
        Weight::from(self)
    }
    #[inline]
    fn narrow(weight: Weight) -> Self {
        weight as i32
    }
}

impl Stored for i64 {
    #[inline]
    fn wide(self) -> Weight {
        self
    }
    #[inline]
    fn narrow(weight: Weight) -> Self {
        weight
    }
}

/// One direction of an edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arc<W> {
    pub target: NodeId,
    stored: W,
}

impl<W: Stored> Arc<W> {
    #[inline]
    pub fn weight(&self) -> Weight {
        self.stored.wide()
    }
}

/// The graph of a level: symmetric, no self-loops, no parallel edges, edge weights positive.
#[derive(Clone, Debug)]
pub(crate) struct CompactGraph<W> {
    offsets: Vec<u32>,
    arcs: Vec<Arc<W>>,
    node_weights: Vec<W>,
    max_node_weight: Weight,
    total_node_weight: Weight,
}

/// Whether all sums over `graph` fit 32 bits.
pub(crate) fn is_narrow(graph: &CsrGraph) -> bool {
    let limit = Weight::from(i32::MAX);
    graph.total_arc_weight() <= limit && graph.total_node_weight() <= limit
}

impl<W: Stored> CompactGraph<W> {
    /// Copies a graph; O(n + m).
    pub fn new(graph: &CsrGraph) -> Self {
        let offsets = graph.offsets().iter().map(|&offset| offset as u32).collect();
        let arcs = (graph.targets().iter().zip(graph.edge_weights()))
            .map(|(&target, &weight)| Arc { target, stored: W::narrow(weight) })
            .collect();
        Self::from_parts(offsets, arcs, graph.node_weights().iter().map(|&w| W::narrow(w)).collect())
    }

    fn from_parts(offsets: Vec<u32>, arcs: Vec<Arc<W>>, node_weights: Vec<W>) -> Self {
        let max_node_weight = node_weights.iter().map(|w| w.wide()).max().unwrap_or(0);
        let total_node_weight = node_weights.iter().map(|w| w.wide()).sum();
        Self { offsets, arcs, node_weights, max_node_weight, total_node_weight }
    }

    /// The same graph with all vertex weights 1.
    pub fn with_unit_node_weights(mut self) -> Self {
        self.node_weights.fill(W::narrow(1));
        Self::from_parts(self.offsets, self.arcs, self.node_weights)
    }

    #[inline]
    pub fn num_nodes(&self) -> usize {
        self.node_weights.len()
    }

    #[inline]
    pub fn num_arcs(&self) -> usize {
        self.arcs.len()
    }

    #[inline]
    pub fn nodes(&self) -> std::ops::Range<NodeId> {
        0..self.num_nodes() as NodeId
    }

    #[inline]
    pub fn degree(&self, node: NodeId) -> usize {
        (self.offsets[node as usize + 1] - self.offsets[node as usize]) as usize
    }

    /// The degree of a vertex with more than [`FEWEST_ARCS`] arcs, and 0 for any other: what work on hubs is counted by.
    #[inline]
    pub fn hub_degree(&self, node: NodeId) -> usize {
        Some(self.degree(node)).filter(|&degree| degree > FEWEST_ARCS).unwrap_or(0)
    }

    #[inline]
    pub fn arcs(&self, node: NodeId) -> &[Arc<W>] {
        &self.arcs[self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize]
    }

    /// The weights of all vertices.
    pub fn node_weights(&self) -> impl Iterator<Item = Weight> + Clone {
        self.node_weights.iter().map(|weight| weight.wide())
    }

    #[inline]
    pub fn node_weight(&self, node: NodeId) -> Weight {
        self.node_weights[node as usize].wide()
    }

    #[inline]
    pub fn max_node_weight(&self) -> Weight {
        self.max_node_weight
    }

    #[inline]
    pub fn total_node_weight(&self) -> Weight {
        self.total_node_weight
    }

    /// Contracts clusters: vertex `u` becomes part of coarse vertex `coarse_of[u] < num_coarse`; O(n + m), no hashing.
    pub fn contract(&self, coarse_of: &[NodeId], num_coarse: usize) -> Self {
        let (first, members) = group(coarse_of, num_coarse);
        let mut offsets = Vec::with_capacity(num_coarse + 1);
        let mut node_weights = Vec::with_capacity(num_coarse);
        let mut rows = Rows { arcs: Vec::with_capacity(self.arcs.len() + 1), slot: vec![0u32; num_coarse] };
        offsets.push(0);
        for coarse in 0..num_coarse {
            let cluster = &members[first[coarse] as usize..first[coarse + 1] as usize];
            rows.push(self, coarse_of, coarse, cluster);
            offsets.push(rows.arcs.len() as u32);
            node_weights.push(W::narrow(cluster.iter().map(|&node| self.node_weight(node)).sum()));
        }
        rows.arcs.shrink_to_fit();
        Self::from_parts(offsets, rows.arcs, node_weights)
    }

    /// The subgraphs that the blocks of a partition induce, each with its vertices in this graph; O(n + m).
    pub fn split(&self, blocks: &[BlockId], num_blocks: usize) -> Vec<(Self, Vec<NodeId>)> {
        let mut local = vec![0 as NodeId; self.num_nodes()];
        let mut members = vec![Vec::new(); num_blocks];
        for node in self.nodes() {
            let block: &mut Vec<NodeId> = &mut members[blocks[node as usize] as usize];
            local[node as usize] = block.len() as NodeId;
            block.push(node);
        }
        let induce = |nodes: Vec<NodeId>| {
            let mut offsets = Vec::with_capacity(nodes.len() + 1);
            let mut arcs = Vec::new();
            offsets.push(0);
            for &node in &nodes {
                let block = blocks[node as usize];
                let inner = self.arcs(node).iter().filter(|arc| blocks[arc.target as usize] == block);
                arcs.extend(inner.map(|arc| Arc { target: local[arc.target as usize], stored: arc.stored }));
                offsets.push(arcs.len() as u32);
            }
            let node_weights = nodes.iter().map(|&node| self.node_weights[node as usize]).collect();
            (Self::from_parts(offsets, arcs, node_weights), nodes)
        };
        members.into_iter().map(induce).collect()
    }

    /// The same graph with wide weights, each vertex of weight 1; O(n + m log n).
    pub fn to_csr(&self) -> CsrGraph {
        let mut builder = GraphBuilder::new(self.num_nodes());
        for node in self.nodes() {
            for arc in self.arcs(node).iter().filter(|arc| arc.target < node) {
                builder.add_edge(node, arc.target, arc.weight());
            }
        }
        builder.build().expect("a part of a graph weighs no more than the graph")
    }

    /// The weight of the edges between blocks, each edge once; O(n + m).
    pub fn cut(&self, blocks: &[BlockId]) -> Weight {
        let outer = |node: NodeId| -> Weight {
            let block = blocks[node as usize];
            let other = |arc: &&Arc<W>| blocks[arc.target as usize] != block;
            self.arcs(node).iter().filter(other).map(Arc::weight).sum()
        };
        self.nodes().map(outer).sum::<Weight>() / 2
    }

    /// The weight of each block; O(n).
    pub fn block_weights(&self, blocks: &[BlockId], num_blocks: usize) -> Vec<Weight> {
        let mut weights = vec![0; num_blocks];
        for (weight, &block) in self.node_weights.iter().zip(blocks) {
            weights[block as usize] += weight.wide();
        }
        weights
    }
}

/// The rows of a graph under contraction.
struct Rows<W> {
    arcs: Vec<Arc<W>>,
    /// By target, the position plus one at which the last row that leads to it holds it. Positions of earlier rows lie
    /// before the current one, so that the array is never reset.
    slot: Vec<u32>,
}

impl<W: Stored> Rows<W> {
    /// Adds the row of a coarse vertex. Which arcs have the same target cannot be predicted, so nothing branches on it.
    #[inline]
    fn push(&mut self, graph: &CompactGraph<W>, coarse_of: &[NodeId], coarse: usize, cluster: &[NodeId]) {
        let Self { arcs, slot } = self;
        let row = arcs.len();
        let most = row + cluster.iter().map(|&node| graph.degree(node)).sum::<usize>();
        // Arcs inside the cluster are collected at the position behind all others, and dropped.
        arcs.resize(most + 1, Arc { target: 0, stored: W::narrow(0) });
        slot[coarse] = most as u32 + 1;
        let mut end = row;
        for &node in cluster {
            for arc in graph.arcs(node) {
                let target = coarse_of[arc.target as usize];
                let known = slot[target as usize] as usize;
                let is_new = known <= row;
                let position = if is_new { end } else { known - 1 };
                let sum = arcs[position].weight() + arc.weight();
                arcs[position] = Arc { target, stored: W::narrow(sum) };
                slot[target as usize] = position as u32 + 1;
                end += usize::from(is_new);
            }
        }
        slot[coarse] = 0;
        arcs.truncate(end);
    }
}

/// Sorts the indices of `group_of` by group (counting sort): the members of group `g` are
/// `members[first[g]..first[g + 1]]`, ascending.
pub(crate) fn group(group_of: &[u32], num_groups: usize) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0u32; num_groups + 2];
    for &group in group_of {
        first[group as usize + 2] += 1;
    }
    for group in 0..num_groups {
        first[group + 2] += first[group + 1];
    }
    let mut members = vec![0; group_of.len()];
    for (index, &group) in group_of.iter().enumerate() {
        let next = &mut first[group as usize + 1];
        members[*next as usize] = index as u32;
        *next += 1;
    }
    first.pop();
    (first, members)
}
