//! The compact graph of each level of the multilevel scheme.
//!
//! A [`CsrGraph`] keeps 64-bit weights in an array of their own. Partitioning is bound by memory traffic,
//! so the levels interleave target and weight and store weights in 32 bits whenever all sums fit: an arc
//! then takes 8 bytes. All arithmetic is done in [`Weight`], whatever the stored width. Of graphs whose edges all
//! weigh 1, targets alone are stored, and the finest level has those of the [`CsrGraph`].

use std::borrow::Cow;
use std::ops::Range;

use crate::base::types::{BlockId, NodeId, Weight};
use crate::base::{span, threads};
use crate::graph::hubs::FEWEST_ARCS;
use crate::graph::{CsrGraph, GraphBuilder};

/// The number of parts per thread in which coarse rows are computed. Balances idle threads against parts, each of which takes memory by
/// the number of coarse vertices.
const PARTS: usize = 8;

/// The number of clusters whose arcs are counted together.
const COUNTED: usize = 256;

/// A part has at least this many arcs. Balances the cost of a task against idle threads.
const LEAST_PART: usize = 1 << 17;

/// A stored weight: `i32` where every sum over the graph fits, else `i64`.
pub(crate) trait Stored: Copy + Send + Sync + 'static {
    /// Whether weights take 32 bits, as in almost all graphs. For the others, searches are compiled once, for objectives of any kind.
    const IS_NARROW: bool;

    fn wide(self) -> Weight;

    /// `weight` must fit, which holds for every sum over a graph that was stored in this type.
    fn narrow(weight: Weight) -> Self;
}

impl Stored for i32 {
    const IS_NARROW: bool = true;

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
    const IS_NARROW: bool = false;

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

    #[inline]
    fn of_unit(target: NodeId) -> Self {
        Self { target, stored: W::narrow(1) }
    }
}

/// Successive arcs. They are stored with their weights, or all weigh 1.
#[derive(Clone, Copy)]
pub(crate) struct Arcs<'a, W> {
    weighted: &'a [Arc<W>],
    unit: &'a [NodeId],
}

impl<'a, W: Stored> Arcs<'a, W> {
    #[inline]
    pub fn len(self) -> usize {
        self.weighted.len() + self.unit.len()
    }

    #[inline]
    pub fn iter(self) -> ArcIter<'a, W> {
        ArcIter { weighted: self.weighted.iter(), unit: self.unit.iter() }
    }
}

impl<'a, W: Stored> IntoIterator for Arcs<'a, W> {
    type Item = Arc<W>;
    type IntoIter = ArcIter<'a, W>;

    #[inline]
    fn into_iter(self) -> ArcIter<'a, W> {
        self.iter()
    }
}

/// Each of some [`Arcs`].
#[derive(Clone)]
pub(crate) struct ArcIter<'a, W> {
    weighted: std::slice::Iter<'a, Arc<W>>,
    unit: std::slice::Iter<'a, NodeId>,
}

impl<W: Stored> Iterator for ArcIter<'_, W> {
    type Item = Arc<W>;

    #[inline]
    fn next(&mut self) -> Option<Arc<W>> {
        match self.weighted.next() {
            Some(arc) => Some(*arc),
            None => self.unit.next().map(|&target| Arc::of_unit(target)),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.weighted.len() + self.unit.len();
        (len, Some(len))
    }

    /// A loop of its own for either kind: this is what `for_each` comes to, and why hot loops use it.
    #[inline]
    fn fold<B, F: FnMut(B, Arc<W>) -> B>(self, start: B, mut with: F) -> B {
        let sum = self.weighted.fold(start, |sum, arc| with(sum, *arc));
        self.unit.fold(sum, |sum, &target| with(sum, Arc::of_unit(target)))
    }
}

/// The graph of a level: symmetric, no self-loops, no parallel edges, edge weights positive.
#[derive(Clone, Debug)]
pub(crate) struct CompactGraph<'g, W> {
    offsets: Vec<u32>,
    /// By position; empty if all edges weigh 1.
    weighted: Vec<Arc<W>>,
    /// By position, the targets of arcs that all weigh 1; empty if others do.
    unit: Cow<'g, [NodeId]>,
    node_weights: Vec<W>,
    max_node_weight: Weight,
    total_node_weight: Weight,
}

/// A part of a graph, and what its vertices are there.
pub(crate) type Piece<W> = (CompactGraph<'static, W>, Vec<NodeId>);

/// Returns whether all sums over `graph` fit 32 bits.
pub(crate) fn is_narrow(graph: &CsrGraph) -> bool {
    let limit = Weight::from(i32::MAX);
    graph.total_arc_weight() <= limit && graph.total_node_weight() <= limit
}

impl<'g, W: Stored> CompactGraph<'g, W> {
    /// The graph as a level; copies the arcs unless all weigh 1. O(n + m).
    pub fn new(graph: &'g CsrGraph) -> Self {
        span::named("copying the graph", || Self::copy_of(graph))
    }

    fn copy_of(graph: &'g CsrGraph) -> Self {
        let offsets = graph.offsets().iter().map(|&offset| offset as u32).collect();
        let node_weights = graph.node_weights().iter().map(|&weight| W::narrow(weight)).collect();
        let arc = |(&target, &weight)| Arc { target, stored: W::narrow(weight) };
        match graph.edge_weights() {
            Some(weights) => {
                let arcs = graph.targets().iter().zip(weights).map(arc).collect();
                Self::from_parts(offsets, arcs, node_weights)
            }
            None => Self {
                unit: Cow::Borrowed(graph.targets()),
                ..Self::from_parts(offsets, Vec::new(), node_weights)
            },
        }
    }

    fn from_parts(offsets: Vec<u32>, weighted: Vec<Arc<W>>, node_weights: Vec<W>) -> Self {
        let max_node_weight = node_weights.iter().map(|w| w.wide()).max().unwrap_or(0);
        let total_node_weight = node_weights.iter().map(|w| w.wide()).sum();
        Self { offsets, weighted, unit: Cow::Borrowed(&[]), node_weights, max_node_weight, total_node_weight }
    }

    /// The same graph with all vertex weights 1.
    pub fn with_unit_node_weights(self) -> Self {
        self.with_node_weights(|_| 1)
    }

    /// The same graph with these vertex weights; all sums fit.
    pub fn with_node_weights(mut self, weight: impl Fn(NodeId) -> Weight) -> Self {
        for (node, own) in (0..).zip(&mut self.node_weights) {
            *own = W::narrow(weight(node));
        }
        Self { unit: self.unit, ..Self::from_parts(self.offsets, self.weighted, self.node_weights) }
    }

    #[inline]
    pub fn num_nodes(&self) -> usize {
        self.node_weights.len()
    }

    #[inline]
    pub fn num_arcs(&self) -> usize {
        self.weighted.len() + self.unit.len()
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
    pub fn arcs(&self, node: NodeId) -> Arcs<'_, W> {
        let places = self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize;
        match &*self.unit {
            [] => Arcs { weighted: &self.weighted[places], unit: &[] },
            unit => Arcs { weighted: &[], unit: &unit[places] },
        }
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
    pub fn contract(&self, coarse_of: &[NodeId], num_coarse: usize) -> CompactGraph<'static, W> {
        let (first, members) = group(coarse_of, num_coarse);
        let clusters = Clusters { of_node: coarse_of, first, members };
        let parts = clusters.parts(self, threads::count());
        let mut parts = threads::map_each(parts, &|part| Rows::contracted(self, &clusters, part));
        let mut offsets = Vec::with_capacity(num_coarse + 1);
        let mut node_weights = Vec::with_capacity(num_coarse);
        let mut arcs = match &mut parts[..] {
            [whole] => std::mem::take(&mut whole.arcs),
            parts => Vec::with_capacity(parts.iter().map(|part| part.arcs.len()).sum()),
        };
        offsets.push(0);
        for part in parts {
            let before = offsets[offsets.len() - 1];
            offsets.extend(part.ends.iter().map(|end| before + end));
            node_weights.extend(part.node_weights);
            arcs.extend_from_slice(&part.arcs);
        }
        arcs.shrink_to_fit();
        CompactGraph::from_parts(offsets, arcs, node_weights)
    }

    /// The subgraphs that the blocks of a partition induce, each with its vertices in this graph; O(n + m). They have weights of edges if this
    /// graph has.
    pub fn split(&self, blocks: &[BlockId], num_blocks: usize) -> Vec<Piece<W>> {
        let mut local = vec![0 as NodeId; self.num_nodes()];
        let mut members = vec![Vec::new(); num_blocks];
        for node in self.nodes() {
            let block: &mut Vec<NodeId> = &mut members[blocks[node as usize] as usize];
            local[node as usize] = block.len() as NodeId;
            block.push(node);
        }
        let induce = |block: usize| {
            let nodes = &members[block];
            let node_weights = nodes.iter().map(|&node| self.node_weights[node as usize]).collect();
            let own = |target: NodeId| local[target as usize];
            if self.unit.is_empty() {
                let (offsets, weighted) =
                    self.inner_rows(nodes, blocks, |arc| Arc { target: own(arc.target), ..arc });
                CompactGraph::from_parts(offsets, weighted, node_weights)
            } else {
                let (offsets, unit) = self.inner_rows(nodes, blocks, |arc| own(arc.target));
                let unit = Cow::Owned(unit);
                CompactGraph { unit, ..CompactGraph::from_parts(offsets, Vec::new(), node_weights) }
            }
        };
        let graphs = threads::map(num_blocks, 1, &induce);
        graphs.into_iter().zip(members).collect()
    }

    /// The rows of some vertices without the arcs that leave their blocks: where they begin, and what `entry` makes of each arc.
    fn inner_rows<T>(
        &self,
        nodes: &[NodeId],
        blocks: &[BlockId],
        entry: impl Fn(Arc<W>) -> T,
    ) -> (Vec<u32>, Vec<T>) {
        let mut offsets = Vec::with_capacity(nodes.len() + 1);
        let mut entries = Vec::new();
        offsets.push(0);
        for &node in nodes {
            let block = blocks[node as usize];
            let inner = self.arcs(node).iter().filter(|arc| blocks[arc.target as usize] == block);
            entries.extend(inner.map(&entry));
            offsets.push(entries.len() as u32);
        }
        (offsets, entries)
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
        let outer = |node: usize| -> Weight {
            let block = blocks[node];
            let other = |arc: &Arc<W>| blocks[arc.target as usize] != block;
            self.arcs(node as NodeId).iter().filter(other).map(|arc| arc.weight()).sum()
        };
        threads::sum(self.num_nodes(), outer) / 2
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

/// The clusters of a contraction, as [`group`] sorts them.
struct Clusters<'a> {
    /// By vertex.
    of_node: &'a [NodeId],
    first: Vec<u32>,
    members: Vec<NodeId>,
}

impl Clusters<'_> {
    fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// The vertices of successive clusters.
    fn members(&self, clusters: Range<usize>) -> &[NodeId] {
        &self.members[self.first[clusters.start] as usize..self.first[clusters.end] as usize]
    }

    /// Ranges of clusters with about as many arcs each, some for each thread.
    fn parts<W: Stored>(&self, graph: &CompactGraph<'_, W>, threads: usize) -> Vec<Range<usize>> {
        if threads == 1 {
            return std::iter::once(0..self.len()).collect();
        }
        let most = LEAST_PART.max(graph.num_arcs() / (PARTS * threads));
        let arcs_of = |clusters| self.members(clusters).iter().map(|&node| graph.degree(node)).sum::<usize>();
        let arcs_of = threads::map_ranges(self.len(), COUNTED, &arcs_of);
        let mut parts = Vec::new();
        let (mut begin, mut arcs) = (0, 0);
        for (end, more) in (COUNTED..).step_by(COUNTED).zip(arcs_of) {
            arcs += more;
            if arcs > most && end < self.len() {
                parts.push(begin..end);
                (begin, arcs) = (end, 0);
            }
        }
        parts.push(begin..self.len());
        parts
    }
}

/// Successive rows of a graph under contraction.
struct Rows<W> {
    arcs: Vec<Arc<W>>,
    /// The end of each row in `arcs`.
    ends: Vec<u32>,
    node_weights: Vec<W>,
    /// By target, the position plus one at which the last row that leads to it holds it. Positions of earlier rows lie
    /// before the current one, so that the array is never reset.
    slot: Vec<u32>,
}

impl<W: Stored> Rows<W> {
    fn contracted(graph: &CompactGraph<'_, W>, clusters: &Clusters<'_>, part: Range<usize>) -> Self {
        let most: usize = clusters.members(part.clone()).iter().map(|&node| graph.degree(node)).sum();
        let mut rows = Self {
            arcs: Vec::with_capacity(most + 1),
            ends: Vec::with_capacity(part.len()),
            node_weights: Vec::with_capacity(part.len()),
            slot: vec![0; clusters.len()],
        };
        for coarse in part {
            let cluster = clusters.members(coarse..coarse + 1);
            rows.push(graph, clusters.of_node, coarse, cluster);
            rows.ends.push(rows.arcs.len() as u32);
            let weight = cluster.iter().map(|&node| graph.node_weight(node)).sum();
            rows.node_weights.push(W::narrow(weight));
        }
        rows.slot = Vec::new();
        rows
    }

    /// Adds the row of a coarse vertex. Which arcs have the same target cannot be predicted, so nothing branches on it.
    #[inline]
    fn push(&mut self, graph: &CompactGraph<'_, W>, coarse_of: &[NodeId], coarse: usize, cluster: &[NodeId]) {
        let Self { arcs, slot, .. } = self;
        let row = arcs.len();
        let most = row + cluster.iter().map(|&node| graph.degree(node)).sum::<usize>();
        // Arcs inside the cluster are collected at the position behind all others, and dropped.
        arcs.resize(most + 1, Arc { target: 0, stored: W::narrow(0) });
        slot[coarse] = most as u32 + 1;
        let mut end = row;
        for &node in cluster {
            graph.arcs(node).iter().for_each(|arc| {
                let target = coarse_of[arc.target as usize];
                let known = slot[target as usize] as usize;
                let is_new = known <= row;
                let position = if is_new { end } else { known - 1 };
                let sum = arcs[position].weight() + arc.weight();
                arcs[position] = Arc { target, stored: W::narrow(sum) };
                slot[target as usize] = position as u32 + 1;
                end += usize::from(is_new);
            });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::testing::skewed_graph;

    #[test]
    fn graphs_without_weights_are_those_of_equal_weights() {
        let mut rng = Rng::new(3);
        let whole = skewed_graph(300, 900, &mut rng);
        let of_weight = |weight| {
            let mut builder = GraphBuilder::new(300);
            let edges = whole.nodes().flat_map(|u| whole.neighbours(u).iter().map(move |&v| (u, v)));
            edges.filter(|(u, v)| u < v).for_each(|(u, v)| builder.add_edge(u, v, weight));
            builder.build().unwrap()
        };
        let (unit, doubled) = (of_weight(1), of_weight(2));
        let (unit, doubled) = (CompactGraph::<i32>::new(&unit), CompactGraph::<i32>::new(&doubled));
        assert!(unit.weighted.is_empty() && doubled.unit.is_empty());
        let arcs = |graph: &CompactGraph<'_, i32>, factor: Weight| -> Vec<Vec<(NodeId, Weight)>> {
            let row = |node| graph.arcs(node).iter().map(|arc| (arc.target, factor * arc.weight())).collect();
            graph.nodes().map(row).collect()
        };
        let blocks: Vec<BlockId> = unit.nodes().map(|_| rng.below(7)).collect();
        assert_eq!(arcs(&unit, 2), arcs(&doubled, 1));
        assert_eq!((unit.num_arcs(), 2 * unit.cut(&blocks)), (doubled.num_arcs(), doubled.cut(&blocks)));
        assert_eq!(arcs(&unit.contract(&blocks, 7), 2), arcs(&doubled.contract(&blocks, 7), 1));
        for ((own, nodes), (other, same)) in unit.split(&blocks, 7).iter().zip(&doubled.split(&blocks, 7)) {
            assert_eq!((arcs(own, 2), nodes), (arcs(other, 1), same));
            assert!(own.weighted.is_empty() && own.num_arcs() == other.num_arcs());
        }
        // `for` and `for_each` take different ways.
        for node in unit.nodes() {
            let mut one_by_one = Vec::new();
            for arc in unit.arcs(node) {
                one_by_one.push(arc.target);
            }
            let mut at_once = Vec::new();
            unit.arcs(node).iter().for_each(|arc| at_once.push(arc.target));
            assert_eq!((&one_by_one[..], at_once.len()), (whole.neighbours(node), unit.degree(node)));
            assert_eq!(one_by_one, at_once);
        }
    }

    #[test]
    fn contractions_and_cuts_do_not_depend_on_threads() {
        let mut rng = Rng::new(1);
        let graph = skewed_graph(40_000, 600_000, &mut rng);
        let graph = CompactGraph::<i32>::new(&graph);
        assert!(graph.num_arcs() > 3 * LEAST_PART);
        let coarse_of: Vec<NodeId> = graph.nodes().map(|_| rng.below(9000)).collect();
        let run = |threads| {
            let coarse = threads::run(threads, || graph.contract(&coarse_of, 9000)).unwrap();
            let arcs: Vec<(NodeId, i32)> =
                coarse.weighted.iter().map(|arc| (arc.target, arc.stored)).collect();
            let cut = threads::run(threads, || graph.cut(&coarse_of)).unwrap();
            (coarse.offsets, arcs, coarse.node_weights, cut)
        };
        let (offsets, arcs, node_weights, cut) = run(1);
        assert_eq!(offsets.last(), Some(&(arcs.len() as u32)));
        assert_eq!(arcs.iter().map(|&(_, weight)| i64::from(weight)).sum::<Weight>(), 2 * cut);
        assert_eq!(node_weights.iter().sum::<i32>(), 40_000);
        assert_eq!(run(3), (offsets, arcs, node_weights, cut));
    }
}
