//! Vertices that rounds of label propagation leave alone.
//!
//! A vertex without neighbours joins no cluster, and neither does a leaf whose only neighbour is in a cluster that is full. Graphs with heavy-tailed
//! degrees have many of both, and would not shrink. So vertices that prefer the same cluster join each other, though no edge connects
//! them; and so do those that prefer none and have nearly the same number. (Clusters of vertices two hops apart: LaSalle et al., "Improving Graph
//! Partitioning for Modern Graphs and Architectures", 2015.)

use viem::base::types::{NodeId, Weight};

use super::Run;
use crate::comm::{Comm, Outbox, sum};
use crate::objective::Places;

/// This many vertices in sequence may join each other if they prefer no cluster. Balances levels that are saved against the locality of numbers.
const SPAN: NodeId = 64;

/// Those left alone that prefer a cluster join each other if they are at least this part of all vertices. Meshes leave few alone, and are coarsened
/// better without.
const LEAST_PART: f64 = 0.5;

/// The request of a vertex that is left alone: the cluster that it prefers or where its span begins, and which of both; where it must
/// stay; its number; its weight.
type Request = [u64; 4];

impl<C: Comm> Run<'_, C> {
    /// Joins vertices that are left alone. Those of different homes or fixed to different blocks stay apart, and the bound holds.
    pub(super) fn join_those_left_alone(&mut self) {
        let (comm, ranges) = (self.comm, self.graph.ranges());
        let mut rated = Vec::new();
        let is_alone = |&own: &usize| {
            self.labels[own] == self.graph.global(own) && self.weights[own] == self.graph.node_weights()[own]
        };
        let mut alone: Vec<(usize, Option<NodeId>)> = (0..self.graph.num_own())
            .filter(is_alone)
            .map(|own| (own, self.favourite(own, &mut rated)))
            .collect();
        if (sum(comm, alone.len() as i64) as f64) < LEAST_PART * f64::from(ranges.total()) {
            alone.retain(|&(_, favourite)| favourite.is_none());
            if sum(comm, alone.len() as i64) == 0 {
                return;
            }
        }
        let mut outbox = Outbox::default();
        for &(own, favourite) in &alone {
            let vertex = self.graph.global(own);
            let meeting = favourite.unwrap_or(vertex - vertex % SPAN);
            let request = [
                u64::from(meeting) << 1 | u64::from(favourite.is_none()),
                self.must_stay(own),
                u64::from(vertex),
                self.graph.node_weights()[own] as u64,
            ];
            outbox.push(ranges.owner(meeting), request);
        }
        let asked = outbox.send(comm);
        let labels = joined(asked.records().collect(), self.most);
        for (&(own, _), label) in alone.iter().zip(asked.answer(comm, &labels)) {
            self.labels[own] = label as NodeId;
        }
        self.graph.update(comm, &mut self.labels);
    }

    /// The home of an own vertex and the block that it is fixed to, in one word.
    fn must_stay(&self, own: usize) -> u64 {
        let Places { homes, fixed, .. } = self.places;
        let block = |blocks: &Option<Vec<u32>>| blocks.as_ref().map_or(0, |blocks| u64::from(blocks[own]));
        block(homes) << 32 | block(fixed)
    }
}

/// The label for each request: the number of the first vertex in its cluster. Clusters are filled in the order of the vertices.
fn joined(requests: Vec<&Request>, most: Weight) -> Vec<u64> {
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_unstable_by_key(|&index| requests[index]);
    let mut labels = vec![0; requests.len()];
    let (mut kind, mut first, mut load): (&[u64], u64, Weight) = (&[], 0, 0);
    for index in order {
        let (own, &[vertex, weight]) = requests[index].split_last_chunk().expect("there are four words");
        let weight = weight as Weight;
        if own != kind || load > most - weight {
            (kind, first, load) = (own, vertex, 0);
        }
        load += weight;
        labels[index] = first;
    }
    labels
}

#[cfg(test)]
mod tests {
    use viem::graph::{CsrGraph, GraphBuilder};

    use super::super::{ClusterConfig, cluster};
    use super::*;
    use crate::testing::on_ranks;

    fn num_clusters(graph: &CsrGraph, most: Weight) -> usize {
        let labels = on_ranks(3, graph, 5, |comm, part| {
            let labels = cluster(comm, part, &Places::default(), most, &ClusterConfig::default(), 1);
            labels[..part.num_own()].to_vec()
        });
        let mut labels = labels.concat();
        labels.sort_unstable();
        labels.dedup();
        labels.len()
    }

    #[test]
    fn graphs_without_edges_and_stars_shrink() {
        let none = GraphBuilder::new(1000).build().unwrap();
        assert!(num_clusters(&none, 10) <= 120);
        let mut star = GraphBuilder::new(1000);
        (1..1000).for_each(|leaf| star.add_edge(0, leaf, 1));
        assert!(num_clusters(&star.build().unwrap(), 10) <= 101);
    }
}
