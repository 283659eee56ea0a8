//! Contraction of clusters, for graphs with heavy-tailed degrees, where matchings fail.
//!
//! Around a hub, a matching contracts one edge and leaves all other neighbours alone. Here, every vertex joins
//! the cluster of the best rating `w(u,C)^2 / c(C)` next to it, `w(u,C)` being the weight of all its
//! edges to the cluster, unless the cluster would become too heavy. The pass ends early when the graph has
//! shrunk enough: more levels give the refinement more chances. O(n + m).
//!
//! In a large graph, many vertices at a time choose from the same state, in parallel, and then join one after the other what they have
//! chosen. Where that has joined another cluster meanwhile, or has become too heavy, they choose again in the next round; few have to.
//!
//! Karypis, Kumar: Multilevel k-way hypergraph partitioning (first choice). DAC 1999.
//! Meyerhenke, Sanders, Schulz: Partitioning complex networks via size-constrained clustering. SEA 2014.

use std::ops::Range;

use super::affinities::ClusterAffinities;
use super::limits::Limits;
use super::matching;
use crate::base::rng::Rng;
use crate::base::threads::{self, Scratch};
use crate::base::types::{NodeId, Weight};
use crate::graph::components::numbered;
use crate::partition::compact::{CompactGraph, Stored};

/// The row of the vertex that is visited so many vertices later is fetched into the cache. Balances the wait for rows against the size of
/// the cache. Shows on random geometric graphs of 2^23 vertices.
const READ_AHEAD: usize = 8;

/// Vertices are paired over two hops if more than this share of the vertices is left, as a fraction. Balances the cost
/// of that pass against levels that hardly shrink, as around hubs.
const PAIRED_FROM: (usize, usize) = (1, 2);

/// The rating of a cluster by the weight of the edges to it and its own weight: so that clusters stay equally heavy.
pub(crate) fn balanced(affinity: Weight, weight: Weight) -> f64 {
    (affinity as f64).powi(2) / weight.max(1) as f64
}

/// The rating of a cluster by the weight of the edges to it: so that most edges vanish.
pub(crate) fn heaviest(affinity: Weight, _weight: Weight) -> f64 {
    affinity as f64
}

/// Vertices choose in rounds where there are at least this many. Balances tasks of a round against vertices that choose again.
const LEAST_IN_ROUNDS: usize = 1 << 14;

/// The number of rounds. Balances as [`LEAST_IN_ROUNDS`] does.
const ROUNDS: usize = 32;

/// The number of vertices of a task. Balances the cost of a task against idle threads.
const CHUNK: usize = 512;

/// What a vertex chooses where there is nothing.
const NOTHING: NodeId = NodeId::MAX;

/// Clusters the vertices; returns the coarse vertex of each vertex and the number of coarse vertices.
pub(crate) fn cluster<W: Stored>(
    graph: &CompactGraph<'_, W>,
    least_share: f64,
    limits: &Limits,
    rating: impl Fn(Weight, Weight) -> f64 + Sync,
    rng: &mut Rng,
) -> (Vec<NodeId>, usize) {
    let n = graph.num_nodes();
    let enough = limits.enough.max((n as f64 * least_share) as usize);
    let mut clustering = Clustering::new(graph, limits, rating);
    let mut order = matching::visiting_order(graph, rng);
    if n >= LEAST_IN_ROUNDS {
        order = clustering.join_in_rounds(&order, enough);
    }
    clustering.join_in_turn(&order, enough);
    let Clustering { mut cluster_of, is_alone, count, .. } = clustering;
    if count * PAIRED_FROM.1 > n * PAIRED_FROM.0 {
        pair_two_hops(graph, limits, &mut cluster_of, &is_alone);
    }
    numbered(&cluster_of)
}

/// Clusters as they grow. A cluster is identified by one of its vertices, which stays in it.
struct Clustering<'a, W, R> {
    graph: &'a CompactGraph<'a, W>,
    limits: &'a Limits<'a>,
    rating: R,
    /// By vertex.
    cluster_of: Vec<NodeId>,
    /// By cluster.
    weights: Vec<Weight>,
    is_alone: Vec<bool>,
    /// The number of clusters.
    count: usize,
    affinities: Scratch<ClusterAffinities>,
}

impl<'a, W: Stored, R: Fn(Weight, Weight) -> f64 + Sync> Clustering<'a, W, R> {
    fn new(graph: &'a CompactGraph<'a, W>, limits: &'a Limits<'a>, rating: R) -> Self {
        let n = graph.num_nodes();
        Self {
            graph,
            limits,
            rating,
            cluster_of: graph.nodes().collect(),
            weights: graph.node_weights().collect(),
            is_alone: vec![true; n],
            count: n,
            affinities: Scratch::default(),
        }
    }

    /// Lets vertices that are alone join the best adjacent clusters, one after the other, until there are at most `enough` clusters.
    fn join_in_turn(&mut self, nodes: &[NodeId], enough: usize) {
        let mut affinities = ClusterAffinities::default();
        for (place, &node) in nodes.iter().enumerate() {
            if self.count <= enough {
                break;
            }
            if let Some(best) = self.choice(nodes, place, &mut affinities) {
                self.join(node, best);
            }
        }
    }

    /// The same with choices in parallel. Returns the vertices whose choices were not there any more in the last round.
    fn join_in_rounds(&mut self, order: &[NodeId], enough: usize) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = Vec::new();
        for of_round in order.chunks(order.len().div_ceil(ROUNDS)) {
            nodes.extend_from_slice(of_round);
            let choices = threads::map_ranges(nodes.len(), CHUNK, &|range| self.choices(&nodes, range));
            let mut again = Vec::new();
            for (nodes, choices) in nodes.chunks(CHUNK).zip(choices) {
                self.join_chosen(nodes, &choices, enough, &mut again);
            }
            nodes = again;
        }
        nodes
    }

    /// Lets vertices join what they have chosen, or else choose again.
    fn join_chosen(&mut self, nodes: &[NodeId], choices: &[NodeId], enough: usize, again: &mut Vec<NodeId>) {
        for (&node, &choice) in nodes.iter().zip(choices) {
            if choice == NOTHING || !self.is_alone[node as usize] || self.count <= enough {
                continue;
            }
            if self.takes(choice, node) {
                self.join(node, choice);
            } else {
                again.push(node);
            }
        }
    }

    /// What each vertex of a range of `nodes` chooses, or [`NOTHING`].
    fn choices(&self, nodes: &[NodeId], range: Range<usize>) -> Vec<NodeId> {
        self.affinities.with(|affinities| {
            range.map(|place| self.choice(nodes, place, affinities).unwrap_or(NOTHING)).collect()
        })
    }

    /// The adjacent cluster of the best rating that has room for a vertex, if the vertex is alone and there is one.
    fn choice(&self, nodes: &[NodeId], place: usize, affinities: &mut ClusterAffinities) -> Option<NodeId> {
        // Rows are visited in random order, so each would be waited for.
        if let Some(&ahead) = nodes.get(place + READ_AHEAD) {
            std::hint::black_box(self.graph.arcs(ahead).iter().next());
        }
        let node = nodes[place];
        if !self.is_alone[node as usize] {
            return None;
        }
        let room = self.limits.max_weight - self.graph.node_weight(node);
        let mut best = None;
        let mut best_rating = 0.0;
        let cluster_of = |node: NodeId| self.cluster_of[node as usize];
        for &(cluster, affinity) in affinities.collect(self.graph.arcs(node), cluster_of) {
            let weight = self.weights[cluster as usize];
            let rating = (self.rating)(affinity, weight);
            if rating > best_rating && weight <= room && self.limits.compatible(node, cluster) {
                best = Some(cluster);
                best_rating = rating;
            }
        }
        best
    }

    /// Returns whether what a vertex has chosen is still a cluster and has room for it.
    fn takes(&self, choice: NodeId, node: NodeId) -> bool {
        let weight = self.weights[choice as usize] + self.graph.node_weight(node);
        self.cluster_of[choice as usize] == choice && weight <= self.limits.max_weight
    }

    /// Puts a vertex that is alone into a cluster.
    fn join(&mut self, node: NodeId, cluster: NodeId) {
        self.cluster_of[node as usize] = cluster;
        self.weights[cluster as usize] += self.graph.node_weight(node);
        self.is_alone[node as usize] = false;
        self.is_alone[cluster as usize] = false;
        self.count -= 1;
    }
}

/// Pairs vertices that are still alone with each other where they share their heaviest neighbour.
fn pair_two_hops<W: Stored>(
    graph: &CompactGraph<'_, W>,
    limits: &Limits,
    cluster_of: &mut [NodeId],
    is_alone: &[bool],
) {
    let mut mate: Vec<NodeId> =
        is_alone.iter().map(|&alone| if alone { matching::FREE } else { 0 }).collect();
    matching::match_two_hops(graph, limits, &mut mate);
    for node in graph.nodes() {
        let other = mate[node as usize];
        if is_alone[node as usize] && other != matching::FREE && other < node {
            cluster_of[node as usize] = other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;

    #[test]
    fn clusters_of_large_graphs_keep_all_limits_on_any_number_of_threads() {
        let graph = generate::random_geometric(2 * LEAST_IN_ROUNDS, 20.0, 4);
        let graph = CompactGraph::<i32>::new(&graph);
        let classes: Vec<u32> = graph.nodes().map(|node| node % 3).collect();
        for (max_weight, least_share) in [(2, 0.0), (9, 0.0), (9, 0.5)] {
            let limits = Limits { max_weight, enough: 100, classes: Some(&classes) };
            let found = [1, 4].map(|threads| {
                let cluster = || cluster(&graph, least_share, &limits, balanced, &mut Rng::new(7));
                threads::run(threads, cluster).unwrap()
            });
            assert!(found[0] == found[1]);
            let (coarse_of, count) = &found[0];
            let mut members = vec![Vec::new(); *count];
            graph.nodes().for_each(|node| members[coarse_of[node as usize] as usize].push(node));
            assert!(members.iter().all(|members| (1..=max_weight as usize).contains(&members.len())));
            assert!(members.iter().flatten().all(|&node| {
                classes[node as usize] == classes[members[coarse_of[node as usize] as usize][0] as usize]
            }));
            let expected = (graph.num_nodes() as f64 * least_share.max(1.0 / max_weight as f64)) as usize;
            assert!((expected..3 * expected).contains(count), "{count} clusters, {expected} expected");
        }
    }
}
