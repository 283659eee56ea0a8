//! Contraction of clusters, for graphs with heavy-tailed degrees, where matchings fail.
//!
//! Around a hub, a matching contracts one edge and leaves all other neighbours alone. Here, every vertex joins
//! the cluster of the best rating `w(u,C)^2 / c(C)` next to it, `w(u,C)` being the weight of all its
//! edges to the cluster, unless the cluster would become too heavy. The pass ends early when the graph has
//! shrunk enough: more levels give the refinement more chances. O(n + m).
//!
//! Karypis, Kumar: Multilevel k-way hypergraph partitioning (first choice). DAC 1999.
//! Meyerhenke, Sanders, Schulz: Partitioning complex networks via size-constrained clustering. SEA 2014.

use super::limits::Limits;
use super::matching;
use crate::base::rng::Rng;
use crate::base::types::{NodeId, Weight};
use crate::partition::compact::{CompactGraph, Stored};

/// The clusters around a vertex of at most this many arcs are collected by linear search. Balances comparisons against
/// cache misses in an array of all clusters. Shows on meshes and random geometric graphs.
const FEW_ARCS: usize = 16;

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

/// Clusters the vertices; returns the coarse vertex of each vertex and the number of coarse vertices.
pub(crate) fn cluster<W: Stored>(
    graph: &CompactGraph<'_, W>,
    least_share: f64,
    limits: &Limits,
    rating: impl Fn(Weight, Weight) -> f64,
    rng: &mut Rng,
) -> (Vec<NodeId>, usize) {
    let n = graph.num_nodes();
    let enough = limits.enough.max((n as f64 * least_share) as usize);
    let mut clustering = Clustering::new(graph, limits);
    let mut num_clusters = n;
    let order = matching::visiting_order(graph, rng);
    for (place, &node) in order.iter().enumerate() {
        if num_clusters <= enough {
            break;
        }
        // Rows are visited in random order, so each would be waited for.
        if let Some(&ahead) = order.get(place + READ_AHEAD) {
            std::hint::black_box(graph.arcs(ahead).iter().next());
        }
        if clustering.is_alone[node as usize] && clustering.join(node, &rating) {
            num_clusters -= 1;
        }
    }
    let Clustering { mut cluster_of, is_alone, .. } = clustering;
    if num_clusters * PAIRED_FROM.1 > n * PAIRED_FROM.0 {
        pair_two_hops(graph, limits, &mut cluster_of, &is_alone);
    }
    number(&cluster_of)
}

/// Clusters as they grow. A cluster is identified by one of its vertices.
struct Clustering<'a, W> {
    graph: &'a CompactGraph<'a, W>,
    limits: &'a Limits<'a>,
    /// By vertex.
    cluster_of: Vec<NodeId>,
    /// By cluster.
    weights: Vec<Weight>,
    is_alone: Vec<bool>,
    /// The clusters adjacent to the current vertex, and the weight of its edges to each.
    affinities: Vec<(NodeId, Weight)>,
    /// By cluster, that weight while it is summed up; else 0.
    sums: Vec<W>,
}

impl<'a, W: Stored> Clustering<'a, W> {
    fn new(graph: &'a CompactGraph<'a, W>, limits: &'a Limits<'a>) -> Self {
        let n = graph.num_nodes();
        Self {
            graph,
            limits,
            cluster_of: graph.nodes().collect(),
            weights: graph.nodes().map(|node| graph.node_weight(node)).collect(),
            is_alone: vec![true; n],
            affinities: Vec::new(),
            sums: vec![W::narrow(0); n],
        }
    }

    /// Puts a vertex that is alone into the best adjacent cluster; returns whether there is one.
    fn join(&mut self, node: NodeId, rating: &impl Fn(Weight, Weight) -> f64) -> bool {
        let weight = self.graph.node_weight(node);
        let best = self.best_cluster(node, self.limits.max_weight - weight, rating);
        if best == node {
            return false;
        }
        self.cluster_of[node as usize] = best;
        self.weights[best as usize] += weight;
        self.is_alone[node as usize] = false;
        self.is_alone[best as usize] = false;
        true
    }

    /// The adjacent cluster of the best rating that weighs at most `room`; the vertex itself if there is none.
    fn best_cluster(
        &mut self,
        node: NodeId,
        room: Weight,
        rating: &impl Fn(Weight, Weight) -> f64,
    ) -> NodeId {
        self.collect_affinities(node);
        let mut best = node;
        let mut best_rating = 0.0;
        for (cluster, affinity) in self.affinities.drain(..) {
            let weight = self.weights[cluster as usize];
            let rating = rating(affinity, weight);
            if rating > best_rating && weight <= room && self.limits.compatible(node, cluster) {
                best = cluster;
                best_rating = rating;
            }
        }
        best
    }

    fn collect_affinities(&mut self, node: NodeId) {
        let Self { graph, cluster_of, affinities, sums, .. } = self;
        let arcs = graph.arcs(node);
        if arcs.len() <= FEW_ARCS {
            return arcs.iter().for_each(|arc| {
                let cluster = cluster_of[arc.target as usize];
                match affinities.iter_mut().find(|(other, _)| *other == cluster) {
                    Some((_, affinity)) => *affinity += arc.weight(),
                    None => affinities.push((cluster, arc.weight())),
                }
            });
        }
        arcs.iter().for_each(|arc| {
            let cluster = cluster_of[arc.target as usize];
            let sum = sums[cluster as usize].wide();
            if sum == 0 {
                affinities.push((cluster, 0));
            }
            sums[cluster as usize] = W::narrow(sum + arc.weight());
        });
        for (cluster, affinity) in affinities {
            *affinity = std::mem::replace(&mut sums[*cluster as usize], W::narrow(0)).wide();
        }
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

/// Numbers the clusters in the order of their first vertex.
fn number(cluster_of: &[NodeId]) -> (Vec<NodeId>, usize) {
    let mut coarse = vec![NodeId::MAX; cluster_of.len()];
    let mut next = 0;
    let number = |&cluster: &NodeId| {
        let name = &mut coarse[cluster as usize];
        if *name == NodeId::MAX {
            *name = next;
            next += 1;
        }
        *name
    };
    let coarse_of = cluster_of.iter().map(number).collect();
    (coarse_of, next as usize)
}
