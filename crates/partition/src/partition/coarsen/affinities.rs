//! How much the arcs of a vertex weigh to each cluster.

use crate::base::types::{NodeId, Weight};
use crate::partition::compact::{Arcs, Stored};

/// The clusters around a vertex of at most this many arcs are collected by linear search. Balances comparisons against a hash table.
/// Shows on meshes and random geometric graphs.
const FEW_ARCS: usize = 16;

/// An entry of the hash table that holds nothing.
const EMPTY: u32 = u32::MAX;

/// The clusters next to a vertex, and the weight of its arcs to each. Memory is linear in the greatest degree.
#[derive(Debug, Default)]
pub(super) struct ClusterAffinities {
    found: Vec<(NodeId, Weight)>,
    /// By hash, a position in `found`; at least half of it is empty.
    positions: Vec<u32>,
}

impl ClusterAffinities {
    /// The clusters that some arcs lead to, in the order of the first arc to each, with their weights.
    #[inline]
    pub fn collect<W: Stored>(
        &mut self,
        arcs: Arcs<'_, W>,
        cluster_of: impl Fn(NodeId) -> NodeId,
    ) -> &[(NodeId, Weight)] {
        self.found.clear();
        if arcs.len() > FEW_ARCS {
            self.collect_many(arcs, cluster_of);
        } else {
            arcs.iter().for_each(|arc| {
                let cluster = cluster_of(arc.target);
                match self.found.iter_mut().find(|(other, _)| *other == cluster) {
                    Some((_, affinity)) => *affinity += arc.weight(),
                    None => self.found.push((cluster, arc.weight())),
                }
            });
        }
        &self.found
    }

    fn collect_many<W: Stored>(&mut self, arcs: Arcs<'_, W>, cluster_of: impl Fn(NodeId) -> NodeId) {
        let Self { found, positions } = self;
        let size = (2 * arcs.len()).next_power_of_two();
        positions.clear();
        positions.resize(size, EMPTY);
        let shift = u32::BITS - size.ilog2();
        arcs.iter().for_each(|arc| {
            let cluster = cluster_of(arc.target);
            let mut at = (cluster.wrapping_mul(GOLDEN) >> shift) as usize;
            loop {
                match positions[at] {
                    EMPTY => {
                        positions[at] = found.len() as u32;
                        return found.push((cluster, arc.weight()));
                    }
                    position if found[position as usize].0 == cluster => {
                        return found[position as usize].1 += arc.weight();
                    }
                    _ => at = (at + 1) % size,
                }
            }
        });
    }
}

/// 2^32 over the golden ratio: multiples of it are spread evenly (Knuth, The Art of Computer Programming 3, 6.4).
const GOLDEN: u32 = 0x9e37_79b9;

#[cfg(test)]
mod tests {
    use hashbrown::HashMap;

    use super::*;
    use crate::base::rng::Rng;
    use crate::partition::compact::CompactGraph;
    use crate::testing::random_graph;

    #[test]
    fn few_and_many_arcs_are_summed_alike() {
        let mut rng = Rng::new(5);
        let graph = random_graph(300, 40, 9, &mut rng);
        let graph = CompactGraph::<i32>::new(&graph);
        let clusters: Vec<NodeId> = graph.nodes().map(|_| rng.below(1 << 20) >> rng.below(20)).collect();
        let mut affinities = ClusterAffinities::default();
        for node in graph.nodes() {
            let mut expected: HashMap<NodeId, Weight> = HashMap::new();
            for arc in graph.arcs(node) {
                *expected.entry(clusters[arc.target as usize]).or_default() += arc.weight();
            }
            let found = affinities.collect(graph.arcs(node), |node| clusters[node as usize]);
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().all(|(cluster, weight)| expected[cluster] == *weight));
        }
        assert!(graph.nodes().any(|node| graph.degree(node) > 2 * FEW_ARCS));
    }
}
