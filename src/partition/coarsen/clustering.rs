//! Contraction of clusters: what matchings cannot do for graphs with heavy-tailed degrees.
//!
//! Around a hub, a matching contracts one edge and leaves all other neighbours alone. Here, every vertex joins
//! the cluster of the best rating `w(u,C)^2 / c(C)` next to it, `w(u,C)` being the weight of all its
//! edges to the cluster, unless the cluster would become too heavy. The pass ends early when the graph has
//! shrunk enough: many levels of slow shrinking mean many chances for the refinement. O(n + m).
//!
//! Karypis, Kumar: Multilevel k-way hypergraph partitioning (first choice). DAC 1999.
//! Meyerhenke, Sanders, Schulz: Partitioning complex networks via size-constrained clustering. SEA 2014.

use super::Limits;
use super::matching;
use crate::partition::level::{Level, Stored};
use crate::rng::Rng;
use crate::types::{NodeId, Weight};

/// The clusters around a vertex of at most this many arcs are found again by looking through them: cheaper than
/// misses of the cache in an array of all clusters.
const FEW_ARCS: usize = 16;

/// Clusters the vertices; returns the coarse vertex of each vertex and the number of coarse vertices.
pub(crate) fn cluster<W: Stored>(
    graph: &Level<W>,
    least_share: f64,
    limits: &Limits,
    rng: &mut Rng,
) -> (Vec<NodeId>, usize) {
    let n = graph.num_nodes();
    // A cluster is named by one of its vertices.
    let mut cluster_of: Vec<NodeId> = graph.nodes().collect();
    let mut weights: Vec<Weight> = graph.nodes().map(|node| graph.node_weight(node)).collect();
    let mut is_alone = vec![true; n];
    let mut connection = vec![0 as Weight; n];
    let mut ties: Vec<(NodeId, Weight)> = Vec::new();
    let mut num_clusters = n;
    let enough = limits.enough.max((n as f64 * least_share) as usize);
    for node in matching::visiting_order(graph, rng) {
        if num_clusters <= enough {
            break;
        }
        if !is_alone[node as usize] {
            continue;
        }
        let arcs = graph.arcs(node);
        if arcs.len() <= FEW_ARCS {
            for arc in arcs {
                let cluster = cluster_of[arc.target as usize];
                match ties.iter_mut().find(|(other, _)| *other == cluster) {
                    Some((_, tie)) => *tie += arc.weight(),
                    None => ties.push((cluster, arc.weight())),
                }
            }
        } else {
            for arc in arcs {
                let cluster = cluster_of[arc.target as usize];
                if connection[cluster as usize] == 0 {
                    ties.push((cluster, 0));
                }
                connection[cluster as usize] += arc.weight();
            }
            for (cluster, tie) in &mut ties {
                *tie = std::mem::take(&mut connection[*cluster as usize]);
            }
        }
        let room = limits.max_weight - graph.node_weight(node);
        let mut best = node;
        let mut best_rating = 0.0;
        for (cluster, tie) in ties.drain(..) {
            let weight = weights[cluster as usize];
            let rating = (tie as f64).powi(2) / weight.max(1) as f64;
            if rating > best_rating && weight <= room && limits.compatible(node, cluster) {
                best = cluster;
                best_rating = rating;
            }
        }
        if best != node {
            cluster_of[node as usize] = best;
            weights[best as usize] += graph.node_weight(node);
            is_alone[node as usize] = false;
            is_alone[best as usize] = false;
            num_clusters -= 1;
        }
    }
    if num_clusters > n / 2 {
        pair_two_hops(graph, limits, &mut cluster_of, &is_alone);
    }
    number(&cluster_of)
}

/// Pairs vertices that are still alone with each other where they share their heaviest neighbour.
fn pair_two_hops<W: Stored>(graph: &Level<W>, limits: &Limits, cluster_of: &mut [NodeId], is_alone: &[bool]) {
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
