//! Clusters by label propagation whose weight is bounded.
//!
//! *Problem.* Divide the vertices into clusters with much weight on the edges inside, none heavier than a bound.
//!
//! *Algorithm.* Each vertex begins as a cluster of its own, named after it. In each of several rounds, each vertex joins the cluster among its
//! neighbours' that its edges to weigh most, if that is more than those to its own, and the bound allows it. (Raghavan, Albert and Kumara, 2007;
//! with a bound on sizes and ghosts: Meyerhenke, Sanders and Schulz, "Parallel Graph Partitioning for Complex Networks", 2015.)
//!
//! *Departure.* A round has several steps, and a hash of its global number decides in which of them a vertex may move. All that a step decides
//! follows from the state before it. Vertices ask the owner of a cluster for admission, and it admits those with most weight first, while the bound
//! holds. So bounds are never exceeded, and the clusters are the same for any number of ranks. A vertex that is fixed to a block only joins clusters
//! that are named after one that is fixed to the same block; free ones join any. So no cluster has vertices of two fixed blocks. Vertices that are
//! left alone join each other in the end.
//!
//! O(m/p log d) for a round; for each step messages for those who move between ranks, for ghosts, and for the weights of foreign clusters.

mod left_alone;

use std::cmp::Reverse;

use viem::base::rng::derive;
use viem::base::types::{BlockId, NodeId, Weight};

use crate::comm::{Comm, Outbox, ask, look_up, sum};
use crate::graph::DistGraph;
use crate::objective::Places;

/// The settings of clustering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterConfig {
    /// The greatest number of moves of a vertex.
    pub rounds: usize,
    /// Steps of a round. More of them let vertices see what others have done; each costs messages.
    pub steps: usize,
    /// Rounds end early once a smaller part of all vertices has moved.
    pub least_moves: f64,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        Self { rounds: 3, steps: 5, least_moves: 0.01 }
    }
}

/// The cluster of each local vertex, as the global number of one of the vertices that began in it.
///
/// No cluster weighs more than `most`, unless a single vertex does. Vertices of different homes, or that are fixed to different blocks, are never in
/// one cluster.
pub fn cluster(
    comm: &impl Comm,
    graph: &DistGraph,
    places: &Places,
    most: Weight,
    config: &ClusterConfig,
    seed: u64,
) -> Vec<NodeId> {
    let labels = (0..graph.num_local()).map(|local| graph.global(local)).collect();
    let weights = graph.node_weights().to_vec();
    let fixed_to = places.fixed.clone();
    let mut run =
        Run { comm, graph, places, most, labels, fixed_to, weights, foreign: Foreign::default(), seed: 0 };
    run.learn_weights();
    for round in 0..config.rounds {
        run.seed = derive(seed, round as u64);
        let mut moved = 0;
        for vertices in run.by_step(config.steps) {
            moved += run.step(&vertices);
        }
        let least = config.least_moves * f64::from(graph.ranges().total());
        if (sum(comm, moved) as f64) < least {
            break;
        }
    }
    run.join_those_left_alone();
    run.labels
}

/// The known properties of clusters that other ranks own.
#[derive(Default)]
struct Foreign {
    /// Ascending.
    labels: Vec<NodeId>,
    weights: Vec<Weight>,
}

struct Run<'a, C> {
    comm: &'a C,
    graph: &'a DistGraph,
    places: &'a Places,
    most: Weight,
    /// The label of each local vertex.
    labels: Vec<NodeId>,
    /// By local vertex, the block that the vertex which its cluster is named after is fixed to, if any vertex is.
    fixed_to: Option<Vec<BlockId>>,
    /// The weight of each own cluster, by the own vertex that it is named after.
    weights: Vec<Weight>,
    foreign: Foreign,
    /// The seed of the round.
    seed: u64,
}

impl<C: Comm> Run<'_, C> {
    /// The own vertices that may move in each step.
    fn by_step(&self, steps: usize) -> Vec<Vec<u32>> {
        let mut vertices = vec![Vec::new(); steps];
        for (local, global) in self.graph.ranges().own().enumerate() {
            let step = derive(self.seed, u64::from(global)) % steps as u64;
            vertices[step as usize].push(local as u32);
        }
        vertices
    }

    /// The weight of a cluster that a local vertex is in.
    fn weight(&self, label: NodeId) -> Weight {
        let own = self.graph.ranges().own();
        match own.contains(&label) {
            true => self.weights[(label - own.start) as usize],
            false => self.foreign.weights[self.foreign.labels.partition_point(|&other| other < label)],
        }
    }

    /// Finds the block to which each vertex that a cluster is named after is fixed, if any vertex is.
    fn learn_fixed(&mut self) {
        let (Some(fixed), Some(fixed_to)) = (&self.places.fixed, &mut self.fixed_to) else { return };
        let known = |local: usize| u64::from(fixed[local]);
        let found = look_up(self.comm, self.graph.ranges(), &self.labels, known);
        *fixed_to = found.into_iter().map(|word| word as BlockId).collect();
    }

    /// Asks for the weights of all foreign clusters that local vertices are in.
    fn learn_weights(&mut self) {
        let own = self.graph.ranges().own();
        let mut labels: Vec<NodeId> =
            self.labels.iter().copied().filter(|label| !own.contains(label)).collect();
        labels.sort_unstable();
        labels.dedup();
        let weights = ask(self.comm, self.graph.ranges(), &labels, |local| self.weights[local] as u64);
        self.foreign = Foreign { labels, weights: weights.into_iter().map(|word| word as Weight).collect() };
    }

    /// Returns whether an own vertex may be in the cluster of a local one.
    fn may_join(&self, vertex: usize, other: usize) -> bool {
        let Places { homes, fixed, .. } = self.places;
        let is_apart = homes.as_ref().is_some_and(|homes| homes[vertex] != homes[other]);
        let is_free = |fixed: &Vec<BlockId>| fixed[vertex] == Places::NONE;
        let both = fixed.as_ref().filter(|fixed| !is_free(fixed)).zip(self.fixed_to.as_ref());
        !is_apart && both.is_none_or(|(fixed, fixed_to)| fixed[vertex] == fixed_to[other])
    }

    /// The clusters beside an own vertex that it may be in, with the weight of its edges to each.
    fn rate(&self, vertex: usize, rated: &mut Vec<(NodeId, Weight)>) {
        rated.clear();
        for (to, weight) in self.graph.arcs(vertex) {
            if self.may_join(vertex, to) {
                rated.push((self.labels[to], weight));
            }
        }
        rated.sort_unstable_by_key(|&(label, _)| label);
        rated.dedup_by(|later, sum| {
            let is_same = later.0 == sum.0;
            sum.1 += if is_same { later.1 } else { 0 };
            is_same
        });
    }

    /// Orders clusters by the weight of the edges to them, and at random if that is equal.
    fn order(&self, &(label, weight): &(NodeId, Weight)) -> (Weight, u64) {
        (weight, derive(self.seed, u64::from(label)))
    }

    /// The cluster that an own vertex would rather be in, and the weight of its edges to it.
    fn preferred(&self, vertex: usize, rated: &mut Vec<(NodeId, Weight)>) -> Option<(NodeId, Weight)> {
        self.rate(vertex, rated);
        let (label, own_weight) = (self.labels[vertex], self.graph.node_weights()[vertex]);
        let inside = rated.iter().find(|&&(other, _)| other == label).map_or(0, |&(_, weight)| weight);
        let is_better = |&&(other, weight): &&(NodeId, Weight)| {
            other != label && weight > inside && self.weight(other) <= self.most - own_weight
        };
        rated.iter().filter(is_better).max_by_key(|rated| self.order(rated)).copied()
    }

    /// The cluster that an own vertex would be in if none were full.
    fn favourite(&self, vertex: usize, rated: &mut Vec<(NodeId, Weight)>) -> Option<NodeId> {
        self.rate(vertex, rated);
        rated.iter().max_by_key(|rated| self.order(rated)).map(|&(label, _)| label)
    }

    /// Lets these own vertices move; how many have.
    fn step(&mut self, vertices: &[u32]) -> i64 {
        let (comm, ranges) = (self.comm, self.graph.ranges());
        let (mut rated, mut movers, mut outbox) = (Vec::new(), Vec::new(), Outbox::default());
        for &vertex in vertices {
            let Some((label, rating)) = self.preferred(vertex as usize, &mut rated) else { continue };
            let both = u64::from(label) << 32 | u64::from(self.graph.global(vertex as usize));
            let weight = self.graph.node_weights()[vertex as usize];
            outbox.push(ranges.owner(label), [both, rating as u64, weight as u64]);
            movers.push((vertex as usize, label));
        }
        let asked = outbox.send(comm);
        let admitted = self.admit(asked.records());
        let admitted = asked.answer(comm, &admitted);
        let mut left = Outbox::default();
        let mut moved = 0;
        for ((vertex, label), admitted) in movers.into_iter().zip(admitted) {
            if admitted == 1 {
                let old = std::mem::replace(&mut self.labels[vertex], label);
                left.push(ranges.owner(old), [u64::from(old), self.graph.node_weights()[vertex] as u64]);
                moved += 1;
            }
        }
        let start = ranges.own().start;
        for &[old, weight] in left.send(comm).records() {
            self.weights[(old as NodeId - start) as usize] -= weight as Weight;
        }
        self.graph.update(comm, &mut self.labels);
        self.learn_weights();
        self.learn_fixed();
        moved
    }

    /// Returns the vertices that own clusters admit, of those that want to join.
    fn admit<'r>(&mut self, records: impl Iterator<Item = &'r [u64; 3]>) -> Vec<u64> {
        let start = self.graph.ranges().own().start;
        let records: Vec<&[u64; 3]> = records.collect();
        let mut order: Vec<usize> = (0..records.len()).collect();
        order.sort_unstable_by_key(|&index| {
            let &[both, rating, _] = records[index];
            (both >> 32, Reverse(rating), both)
        });
        let mut answers = vec![0; records.len()];
        for index in order {
            let &[both, _, weight] = records[index];
            let cluster = &mut self.weights[((both >> 32) as NodeId - start) as usize];
            if *cluster <= self.most - weight as Weight {
                *cluster += weight as Weight;
                answers[index] = 1;
            }
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{on_ranks, random_graph};
    use std::collections::BTreeMap;
    use viem::base::rng::Rng;

    #[test]
    fn clusters_respect_bounds_homes_and_fixed_blocks_and_are_the_same_on_any_number_of_ranks() {
        let mut rng = Rng::new(7);
        for round in 0..40 {
            let graph = random_graph(&mut rng, 60);
            let most = 1 + Weight::from(rng.below(30));
            let homes: Vec<BlockId> = graph.nodes().map(|_| rng.below(2)).collect();
            let fixed: Vec<BlockId> =
                graph.nodes().map(|_| [0, 1, Places::NONE][rng.below(3) as usize]).collect();
            let found: Vec<Vec<NodeId>> = [1, 2, 3, 5, 8]
                .into_iter()
                .map(|size| {
                    on_ranks(size, &graph, round, |comm, part| {
                        let own = |all: &[BlockId]| {
                            Some((0..part.num_local()).map(|v| all[part.global(v) as usize]).collect())
                        };
                        let places = Places { homes: own(&homes), fixed: own(&fixed), sizes: None };
                        let labels = cluster(comm, part, &places, most, &ClusterConfig::default(), round);
                        labels[..part.num_own()].to_vec()
                    })
                    .concat()
                })
                .collect();
            let first = &found[0];
            assert!(found.iter().all(|labels| labels == first), "{found:?}");
            let mut loads: BTreeMap<NodeId, (Weight, usize)> = BTreeMap::new();
            for (vertex, &label) in first.iter().enumerate() {
                assert_eq!(homes[vertex], homes[label as usize]);
                assert!([fixed[label as usize], Places::NONE].contains(&fixed[vertex]));
                let load = loads.entry(label).or_default();
                *load = (load.0 + graph.node_weight(vertex as NodeId), load.1 + 1);
            }
            assert!(loads.values().all(|&(weight, count)| weight <= most || count == 1), "{loads:?} {most}");
        }
    }

    #[test]
    fn meshes_shrink() {
        let graph = viem::graph::generate::grid(40, 40);
        let labels = on_ranks(3, &graph, 0, |comm, part| {
            cluster(comm, part, &Places::default(), 8, &ClusterConfig::default(), 1)[..part.num_own()]
                .to_vec()
        });
        let mut labels = labels.concat();
        labels.sort_unstable();
        labels.dedup();
        assert!((200..500).contains(&labels.len()), "{}", labels.len());
    }
}
