//! The graph of clusters.
//!
//! Clusters become vertices of the coarse graph, in the order of the vertices that they are named after, on the ranks that own these. So the
//! coarse graph is the same for any number of ranks. Arcs are added up on each rank, then where their tails are. O(m/p log d) and messages
//! for clusters that are spread over ranks.

use viem::base::types::{NodeId, Weight};

use crate::comm::{Comm, Outbox, Ranges, look_up};
use crate::error::DistError;
use crate::graph::{DistGraph, Rows};

/// A coarse graph, and how it comes from a finer one.
#[derive(Clone, Debug)]
pub struct Contraction {
    /// The coarse graph.
    pub coarse: DistGraph,
    /// The coarse vertex, by its global number, of each own vertex of the finer graph.
    pub coarse_of: Vec<NodeId>,
}

/// Contracts the clusters that `labels` name for each local vertex.
pub fn contract(comm: &impl Comm, graph: &DistGraph, labels: &[NodeId]) -> Result<Contraction, DistError> {
    let (ranges, numbers) = number(comm, graph, labels);
    let start = ranges.own().start;
    let own_labels = &labels[..graph.num_own()];
    let coarse_of = look_up(comm, graph.ranges(), own_labels, |local| u64::from(start + numbers[local]));
    let mut coarse_of: Vec<NodeId> = coarse_of.into_iter().map(|word| word as NodeId).collect();
    coarse_of.resize(graph.num_local(), 0);
    graph.update(comm, &mut coarse_of);
    let rows = rows(comm, graph, &ranges, &coarse_of);
    coarse_of.truncate(graph.num_own());
    Ok(Contraction { coarse: DistGraph::of_symmetric(comm, ranges, rows)?, coarse_of })
}

impl Contraction {
    /// Gives the vertices of the finer graph the values of the coarse ones on their ranks.
    pub fn project(&self, comm: &impl Comm, values: &[u32]) -> Vec<u32> {
        let found = look_up(comm, self.coarse.ranges(), &self.coarse_of, |local| u64::from(values[local]));
        found.into_iter().map(|word| word as u32).collect()
    }
}

/// Returns the owner of each coarse vertex, and its number on its rank, by the own vertex that its cluster is named after.
fn number(comm: &impl Comm, graph: &DistGraph, labels: &[NodeId]) -> (Ranges, Vec<NodeId>) {
    let own = graph.ranges().own();
    let mut is_used = vec![false; graph.num_own()];
    let mut foreign: Vec<NodeId> = Vec::new();
    for &label in &labels[..graph.num_own()] {
        match own.contains(&label) {
            true => is_used[(label - own.start) as usize] = true,
            false => foreign.push(label),
        }
    }
    foreign.sort_unstable();
    foreign.dedup();
    let mut outbox = Outbox::default();
    for label in foreign {
        outbox.push(graph.ranges().owner(label), [u64::from(label)]);
    }
    for &[label] in outbox.send(comm).records() {
        is_used[(label as NodeId - own.start) as usize] = true;
    }
    let mut count = 0;
    let numbers = is_used
        .into_iter()
        .map(|is_used| {
            count += NodeId::from(is_used);
            count - NodeId::from(is_used)
        })
        .collect();
    (Ranges::gather(comm, count), numbers)
}

/// An arc of the coarse graph as one number, tail first, and its weight.
type Arc = (u64, Weight);

/// The rows of the coarse vertices of this rank.
fn rows(comm: &impl Comm, graph: &DistGraph, ranges: &Ranges, coarse_of: &[NodeId]) -> Rows {
    let (own, num_weights) = (ranges.own(), graph.num_weights());
    let mut node_weights: Vec<Weight> = vec![0; num_weights * own.len()];
    let (mut arcs, mut sent_arcs, mut sent_weights) = (Vec::new(), Outbox::default(), Outbox::default());
    let mut members: Vec<(NodeId, u32)> =
        coarse_of[..graph.num_own()].iter().copied().zip(0..graph.num_own() as u32).collect();
    members.sort_unstable();
    let mut of_one: Vec<Arc> = Vec::new();
    for group in members.chunk_by(|a, b| a.0 == b.0) {
        let tail = group[0].0;
        let of_weight = |weight: usize| -> Weight {
            group.iter().map(|&(_, vertex)| graph.weights_of(vertex as usize)[weight]).sum()
        };
        let weights = (0..num_weights).map(of_weight);
        of_one.clear();
        for &(_, vertex) in group {
            let heads = graph.arcs(vertex as usize).map(|(to, weight)| (coarse_of[to], weight));
            let leaving = heads.filter(|&(head, _)| head != tail);
            of_one.extend(leaving.map(|(head, weight)| (u64::from(tail) << 32 | u64::from(head), weight)));
        }
        of_one.sort_unstable_by_key(|&(arc, _)| arc);
        add_up(&mut of_one);
        if own.contains(&tail) {
            add_weights(&mut node_weights, (tail - own.start) as usize, weights);
            arcs.extend_from_slice(&of_one);
        } else {
            let owner = ranges.owner(tail);
            weights.for_each(|weight| sent_weights.push(owner, [u64::from(tail), weight as u64]));
            of_one.iter().for_each(|&(arc, weight)| sent_arcs.push(owner, [arc, weight as u64]));
        }
    }
    drop(members);
    let sent_weights: Vec<[u64; 2]> = sent_weights.send(comm).records().copied().collect();
    for of_tail in sent_weights.chunks_exact(num_weights) {
        let weights = of_tail.iter().map(|&[_, weight]| weight as Weight);
        add_weights(&mut node_weights, (of_tail[0][0] as NodeId - own.start) as usize, weights);
    }
    arcs.extend(sent_arcs.send(comm).records().map(|&[arc, weight]| (arc, weight as Weight)));
    // What came from each rank is in ascending order.
    arcs.sort_by_key(|&(arc, _)| arc);
    add_up(&mut arcs);
    let mut offsets = vec![0; own.len() + 1];
    for &(arc, _) in &arcs {
        offsets[((arc >> 32) as NodeId - own.start) as usize + 1] += 1;
    }
    for row in 0..own.len() {
        offsets[row + 1] += offsets[row];
    }
    Rows {
        offsets,
        targets: arcs.iter().map(|&(arc, _)| arc as NodeId).collect(),
        edge_weights: Some(arcs.into_iter().map(|(_, weight)| weight).collect()),
        node_weights: Some(node_weights),
        num_weights,
    }
}

/// Adds to the weights of an own vertex.
fn add_weights(all: &mut [Weight], vertex: usize, weights: impl ExactSizeIterator<Item = Weight>) {
    let first = vertex * weights.len();
    all[first..].iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
}

/// Makes one arc of those with the same ends, which are side by side.
fn add_up(arcs: &mut Vec<Arc>) {
    arcs.dedup_by(|later, sum| {
        let is_same = later.0 == sum.0;
        sum.1 += if is_same { later.1 } else { 0 };
        is_same
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{ClusterConfig, cluster};
    use crate::gather::gather;
    use crate::objective::Places;
    use crate::testing::{random_graph, weighed_on_ranks};
    use viem::base::rng::Rng;
    use viem::graph::{VertexWeights, quotient};

    #[test]
    fn coarse_graphs_are_those_of_one_machine() {
        let mut rng = Rng::new(11);
        for round in 0..40 {
            let graph = random_graph(&mut rng, 50);
            let values = (0..2 * graph.num_nodes()).map(|_| rng.below(9).into()).collect();
            let several = VertexWeights::new(2, values).ok().filter(|_| round % 2 == 0);
            for size in [1, 2, 4, 7] {
                let parts = weighed_on_ranks(size, (&graph, several.as_ref()), round, |comm, part| {
                    let labels = cluster(comm, part, &Places::default(), 9, &ClusterConfig::default(), round);
                    let contraction = contract(comm, part, &labels).unwrap();
                    let numbers: Vec<u32> = contraction.coarse.ranges().own().collect();
                    // What is projected reaches the vertices that it comes from.
                    assert_eq!(contraction.project(comm, &numbers), contraction.coarse_of);
                    let whole = gather(comm, &contraction.coarse, size).unwrap().unwrap();
                    (contraction.coarse_of, whole, contraction.coarse.weights().to_vec())
                });
                let coarse_of: Vec<NodeId> = parts.iter().flat_map(|part| part.0.iter().copied()).collect();
                let coarse = &parts[0].1;
                assert!(parts.iter().all(|part| part.1 == *coarse));
                let expected = quotient::contract(&graph, &coarse_of, coarse.num_nodes());
                let Some(several) = &several else {
                    assert_eq!(*coarse, expected);
                    continue;
                };
                let weights: Vec<Weight> = parts.iter().flat_map(|part| part.2.iter().copied()).collect();
                assert_eq!(weights, several.loads(&coarse_of, coarse.num_nodes()));
                assert_eq!((coarse.offsets(), coarse.targets()), (expected.offsets(), expected.targets()));
            }
        }
    }
}
