//! A distributed graph on each rank as a whole, and a whole graph distributed.

use viem::base::types::{NodeId, Weight};
use viem::graph::CsrGraph;

use crate::comm::{Comm, Ranges, gather_words};
use crate::error::{DistError, agree};
use crate::graph::{DistGraph, Rows};

/// The whole graph, on each of the first `receivers` ranks; nothing on the others. O(n + m) time and memory on those that have it.
pub fn gather(comm: &impl Comm, graph: &DistGraph, receivers: usize) -> Result<Option<CsrGraph>, DistError> {
    let all = |words: Vec<u64>| gather_words(comm, &words, receivers);
    let degrees = all((0..graph.num_own()).map(|own| graph.neighbours(own).len() as u64).collect());
    let node_weights = numbers(all(graph.node_weights().iter().map(|&weight| weight as u64).collect()));
    let arcs = || (0..graph.num_own()).flat_map(|own| graph.arcs(own));
    let targets = heads(all(arcs().map(|(to, _)| u64::from(graph.global(to))).collect()));
    let edge_weights = match graph.has_edge_weights() {
        true => numbers(all(arcs().map(|(_, weight)| weight as u64).collect())),
        false => vec![1; targets.len()],
    };
    let is_receiver = comm.rank() < receivers;
    let whole = is_receiver.then(|| CsrGraph::new(offsets(degrees), targets, edge_weights, node_weights));
    agree(comm, whole.transpose())
}

/// Returns the starts of the arcs of vertices with these degrees, and the end of the last.
fn offsets(degrees: Vec<u64>) -> Vec<usize> {
    let mut offsets = Vec::with_capacity(degrees.len() + 1);
    offsets.push(0);
    for degree in degrees {
        offsets.push(offsets[offsets.len() - 1] + degree as usize);
    }
    offsets
}

fn heads(words: Vec<u64>) -> Vec<NodeId> {
    words.into_iter().map(|word| word as NodeId).collect()
}

fn numbers(words: Vec<u64>) -> Vec<Weight> {
    words.into_iter().map(|word| word as Weight).collect()
}

/// A graph that one rank has, distributed so that all ranks have about equally many arcs and vertices.
pub fn scatter(comm: &impl Comm, root: usize, whole: Option<&CsrGraph>) -> Result<DistGraph, DistError> {
    let mut head = whole.map_or_else(Vec::new, |graph| {
        let ends = ends(graph, comm.size());
        let has_weights = u64::from(graph.edge_weights().is_some());
        std::iter::once(has_weights).chain(ends.into_iter().map(u64::from)).collect()
    });
    comm.broadcast(root, &mut head);
    let has_weights = head[0] == 1;
    let ends: Vec<NodeId> = head[1..].iter().map(|&end| end as NodeId).collect();
    let counts = std::iter::once(0).chain(ends.iter().copied()).zip(&ends).map(|(start, end)| end - start);
    let ranges = Ranges::of_counts(counts, comm.rank());
    let degrees = deal(comm, whole, &ranges, |graph, node| vec![graph.degree(node) as u64]);
    let targets = deal(comm, whole, &ranges, |graph, node| {
        graph.neighbours(node).iter().map(|&to| u64::from(to)).collect()
    });
    let edge_weights = has_weights.then(|| {
        let weights = |graph: &CsrGraph, node| graph.arcs(node).map(|(_, weight)| weight as u64).collect();
        numbers(deal(comm, whole, &ranges, weights))
    });
    let node_weights = deal(comm, whole, &ranges, |graph, node| vec![graph.node_weight(node) as u64]);
    let rows = Rows {
        offsets: offsets(degrees),
        targets: heads(targets),
        edge_weights,
        node_weights: Some(numbers(node_weights)),
        num_weights: 1,
    };
    DistGraph::of_symmetric(comm, ranges, rows)
}

/// Gives each rank the words that its vertices have in the whole graph.
fn deal(
    comm: &impl Comm,
    whole: Option<&CsrGraph>,
    ranges: &Ranges,
    words_of: impl Fn(&CsrGraph, NodeId) -> Vec<u64>,
) -> Vec<u64> {
    let (mut words, mut counts) = (Vec::new(), vec![0; comm.size()]);
    if let Some(graph) = whole {
        for (rank, count) in counts.iter_mut().enumerate() {
            let before = words.len();
            ranges.of(rank).for_each(|node| words.extend(words_of(graph, node)));
            *count = words.len() - before;
        }
    }
    comm.all_to_all(&words, &counts).words
}

/// Returns the end of the vertices of each rank.
fn ends(graph: &CsrGraph, size: usize) -> Vec<NodeId> {
    let work = |node: usize| graph.offsets()[node] + node;
    let all = work(graph.num_nodes());
    let end = |rank: usize| {
        let share = (all as u128 * rank as u128 / size as u128) as usize;
        let nodes = 0..graph.num_nodes();
        let (mut low, mut high) = (nodes.start, nodes.end);
        while low < high {
            let middle = (low + high) / 2;
            if work(middle) < share {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low as NodeId
    };
    (1..=size).map(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{on_ranks, random_graph};
    use crate::threads;
    use viem::base::rng::Rng;

    #[test]
    fn what_was_distributed_is_gathered() {
        let mut rng = Rng::new(3);
        for round in 0..30 {
            let graph = random_graph(&mut rng, 40);
            for size in [1, 3, 6] {
                for receivers in 1..=size {
                    let wholes =
                        on_ranks(size, &graph, round, |comm, part| gather(comm, part, receivers).unwrap());
                    let (with, without) = wholes.split_at(receivers);
                    assert!(with.iter().all(|whole| whole.as_ref() == Some(&graph)));
                    assert!(without.iter().all(Option::is_none));
                }
                let root = round as usize % size;
                let wholes = threads::run(size, |comm| {
                    let part = scatter(comm, root, (comm.rank() == root).then_some(&graph)).unwrap();
                    gather(comm, &part, size).unwrap()
                });
                assert!(wholes.into_iter().all(|whole| whole.as_ref() == Some(&graph)));
            }
        }
    }
}
