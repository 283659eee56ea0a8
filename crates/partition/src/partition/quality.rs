//! What a partition costs besides its cut: messages, boundary, volume.

use std::ops::Range;

use super::pieces::pieces;
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::CsrGraph;

/// The costs of a partition of a graph.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct PartitionQuality {
    /// The number of edges between parts, whatever they weigh.
    pub cut_edges: usize,
    /// The number of edges of the quotient graph, that is, of pairs of adjacent parts. Each stands for a message to set up.
    pub setups: usize,
    /// The number of vertices with a neighbour in another part.
    pub boundary: usize,
    /// The largest communication volume of a part: the sum, over its vertices, of the number of other parts in which the
    /// vertex has neighbours.
    pub largest_volume: usize,
    /// The number of parts that are not connected: edges inside the part do not join all of its vertices.
    pub in_pieces: usize,
    /// The weight of each part, by part.
    pub loads: Vec<Weight>,
}

impl PartitionQuality {
    /// The quality of a partition of a graph into parts below `num_blocks`, `blocks[u]` that of vertex `u`; O(n + m log k + k). Runs on
    /// the threads of the rayon pool it is called in, or else on the calling thread.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::PartitionQuality;
    ///
    /// // A path of six vertices in three parts.
    /// let quality = PartitionQuality::of(&generate::grid(6, 1), &[0, 0, 1, 1, 2, 2], 3);
    /// assert_eq!((quality.cut_edges, quality.setups, quality.boundary), (2, 2, 4));
    /// assert_eq!((quality.largest_volume, quality.in_pieces, quality.loads), (2, 0, vec![2, 2, 2]));
    /// ```
    pub fn of(graph: &CsrGraph, blocks: &[BlockId], num_blocks: usize) -> Self {
        Self::with_pieces(graph, blocks, num_blocks, in_pieces(graph, blocks, num_blocks))
    }

    /// The same where the number of parts in pieces is known already, as in a report.
    pub fn with_pieces(graph: &CsrGraph, blocks: &[BlockId], num_blocks: usize, in_pieces: usize) -> Self {
        let shares = threads::count();
        let first = |share: usize| (graph.num_nodes() as u64 * share as u64 / shares as u64) as NodeId;
        let of_share = |share: usize| Counts::of(graph, blocks, num_blocks, first(share)..first(share + 1));
        let shares = threads::map(shares, 1, &of_share);
        let mut all = shares.into_iter().reduce(Counts::and).expect("there is a thread");
        Self {
            cut_edges: all.ends / 2,
            setups: merge(&mut all.pairs),
            boundary: all.boundary,
            largest_volume: all.volumes.into_iter().max().unwrap_or(0),
            in_pieces,
            loads: all.loads,
        }
    }
}

/// What some vertices add to the costs of a partition.
struct Counts {
    /// Arcs to other parts.
    ends: usize,
    boundary: usize,
    /// By part.
    loads: Vec<Weight>,
    /// By part.
    volumes: Vec<usize>,
    /// Adjacent parts, the lower number first.
    pairs: Vec<(BlockId, BlockId)>,
}

impl Counts {
    fn of(graph: &CsrGraph, blocks: &[BlockId], num_blocks: usize, nodes: Range<NodeId>) -> Self {
        let (loads, volumes) = (vec![0; num_blocks], vec![0; num_blocks]);
        let mut counts = Self { ends: 0, boundary: 0, loads, volumes, pairs: Vec::new() };
        let mut others: Vec<BlockId> = Vec::new();
        let mut merged = 0;
        for node in nodes {
            let own = blocks[node as usize];
            counts.loads[own as usize] += graph.node_weight(node);
            others.clear();
            let block = |&other: &NodeId| blocks[other as usize];
            others.extend(graph.neighbours(node).iter().map(block).filter(|&other| other != own));
            counts.ends += others.len();
            others.sort_unstable();
            others.dedup();
            counts.boundary += usize::from(!others.is_empty());
            counts.volumes[own as usize] += others.len();
            counts.pairs.extend(others.iter().filter(|&&other| own < other).map(|&other| (own, other)));
            // Merged whenever they have doubled, so they take at most twice the memory of the quotient graph.
            if counts.pairs.len() > 2 * merged + num_blocks {
                merged = merge(&mut counts.pairs);
            }
        }
        counts
    }

    /// What both add.
    fn and(mut self, other: Self) -> Self {
        self.ends += other.ends;
        self.boundary += other.boundary;
        self.loads.iter_mut().zip(other.loads).for_each(|(load, more)| *load += more);
        self.volumes.iter_mut().zip(other.volumes).for_each(|(volume, more)| *volume += more);
        self.pairs.extend(other.pairs);
        self
    }
}

/// The number of blocks that are not connected; O(n + m + k). An empty block is.
pub fn in_pieces(graph: &CsrGraph, blocks: &[BlockId], num_blocks: usize) -> usize {
    let pieces = pieces(blocks, num_blocks, |node| graph.neighbours(node).iter().copied());
    pieces.into_iter().filter(|&count| count > 1).count()
}

/// Sorts pairs and removes duplicates; returns the number of pairs left.
fn merge(pairs: &mut Vec<(BlockId, BlockId)>) -> usize {
    pairs.sort_unstable();
    pairs.dedup();
    pairs.len()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::base::rng::Rng;
    use crate::testing::random_graph;

    #[test]
    fn quality_is_that_of_the_definitions() {
        let mut rng = Rng::new(1);
        for round in 0..60 {
            let (n, k) = (rng.below(60), 1 + rng.below(9));
            let graph = random_graph(n as usize, 1 + round % 7, 4, &mut rng);
            let blocks: Vec<BlockId> = (0..n).map(|_| rng.below(k)).collect();
            let of_graph = || PartitionQuality::of(&graph, &blocks, k as usize);
            let quality = of_graph();
            assert_eq!(threads::run(3, of_graph).unwrap(), quality);
            let arcs = graph.nodes().flat_map(|u| graph.neighbours(u).iter().map(move |&v| (u, v)));
            let cut: Vec<(NodeId, NodeId)> =
                arcs.filter(|&(u, v)| blocks[u as usize] != blocks[v as usize]).collect();
            let ends: BTreeSet<NodeId> = cut.iter().map(|&(u, _)| u).collect();
            let pairs: BTreeSet<(BlockId, BlockId)> =
                cut.iter().map(|&(u, v)| (blocks[u as usize], blocks[v as usize])).collect();
            let sent: BTreeSet<(NodeId, BlockId)> =
                cut.iter().map(|&(u, v)| (u, blocks[v as usize])).collect();
            let volume = |part| sent.iter().filter(|&&(u, _)| blocks[u as usize] == part).count();
            assert_eq!((quality.cut_edges, quality.setups), (cut.len() / 2, pairs.len() / 2));
            assert_eq!(
                (quality.boundary, quality.largest_volume),
                (ends.len(), (0..k).map(volume).max().unwrap())
            );
            assert_eq!(quality.loads.iter().sum::<Weight>(), graph.total_node_weight());
            let is_whole = |part: &BlockId| {
                let mut left: BTreeSet<NodeId> =
                    graph.nodes().filter(|&node| blocks[node as usize] == *part).collect();
                let mut reached: Vec<NodeId> = left.pop_first().into_iter().collect();
                while let Some(node) = reached.pop() {
                    reached.extend(graph.neighbours(node).iter().filter(|&other| left.remove(other)));
                }
                left.is_empty()
            };
            assert_eq!(quality.in_pieces, (0..k).filter(|part| !is_whole(part)).count());
        }
    }
}
