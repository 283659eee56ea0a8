//! Heavy-edge matching, with two-hop matching for the vertices it leaves unmatched.
//!
//! Vertices are visited in the order of their degree and matched with the unmatched neighbour of the
//! best rating `w(u,v)^2 / c(v)`: heavy edges vanish first and the vertices stay equally heavy (the rating
//! expansion*2 of Holtgrewe, Sanders, Schulz 2010; `c(u)` is the same for all candidates). Leaves, stars and
//! isolated vertices have no free neighbour; they are paired when they share their heaviest
//! neighbour (LaSalle et al. 2015), so that a level never stalls. O(n + m).

use super::limits::Limits;
use crate::base::rng::{Rng, derive};
use crate::base::threads;
use crate::base::types::NodeId;
use crate::partition::compact::{CompactGraph, Stored};

pub(super) const FREE: NodeId = NodeId::MAX;

/// Vertices are visited in random order inside windows of this many. Balances randomness, which breaks the regularity of
/// a mesh, against cache misses. Shows on meshes of 2^16 and 2^20 vertices.
const WINDOW: usize = 1024;

/// Vertices are ordered by degree inside stretches of this many. Balances the order by degree against cache misses: the
/// arcs of a stretch stay in the cache. Shows on meshes of 2^16 and 2^20 vertices.
const STRETCH: usize = 1 << 16;

/// Degrees from this one on are treated alike when vertices are ordered by degree. Balances the order of hubs against
/// the size of the counters.
const DEGREE_CLASSES: usize = 64;

/// Two-hop matching runs if more than one in this many vertices is unmatched. Balances the cost of that pass against the
/// vertices it contracts.
const MATCHED_FROM: usize = 10;

/// Matches the vertices; returns the coarse vertex of each vertex and the number of coarse vertices.
pub(crate) fn cluster<W: Stored>(
    graph: &CompactGraph<'_, W>,
    limits: &Limits,
    rng: &mut Rng,
) -> (Vec<NodeId>, usize) {
    let n = graph.num_nodes();
    let mut mate = vec![FREE; n];
    let mut matched = 0;
    for node in visiting_order(graph, rng) {
        if mate[node as usize] != FREE {
            continue;
        }
        let best = best_mate(graph, limits, &mate, node);
        if best != FREE {
            mate[node as usize] = best;
            mate[best as usize] = node;
            matched += 2;
        }
    }
    if n - matched > n / MATCHED_FROM {
        match_two_hops(graph, limits, &mut mate);
    }
    number(&mut mate)
}

/// The free neighbour of the best rating that is light enough, or `FREE`.
fn best_mate<W: Stored>(
    graph: &CompactGraph<'_, W>,
    limits: &Limits,
    mate: &[NodeId],
    node: NodeId,
) -> NodeId {
    let room = limits.max_weight - graph.node_weight(node);
    let mut best = FREE;
    let mut best_rating = 0.0;
    for arc in graph.arcs(node).iter().filter(|arc| mate[arc.target as usize] == FREE) {
        let weight = graph.node_weight(arc.target);
        let rating = (arc.weight() as f64).powi(2) / weight.max(1) as f64;
        if rating > best_rating && weight <= room && limits.compatible(node, arc.target) {
            best = arc.target;
            best_rating = rating;
        }
    }
    best
}

/// Pairs unmatched vertices that share their heaviest neighbour, and isolated ones with each other.
pub(super) fn match_two_hops<W: Stored>(graph: &CompactGraph<'_, W>, limits: &Limits, mate: &mut [NodeId]) {
    // The last slot is the meeting point of isolated vertices.
    let mut waiting = vec![FREE; mate.len() + 1];
    for node in graph.nodes() {
        if mate[node as usize] != FREE {
            continue;
        }
        let heaviest = graph.arcs(node).iter().max_by_key(|arc| arc.weight());
        let meeting_point = heaviest.map_or(mate.len(), |arc| arc.target as usize);
        let other = waiting[meeting_point];
        if other != FREE
            && graph.node_weight(node) + graph.node_weight(other) <= limits.max_weight
            && limits.compatible(node, other)
        {
            mate[node as usize] = other;
            mate[other as usize] = node;
            waiting[meeting_point] = FREE;
        } else {
            waiting[meeting_point] = node;
        }
    }
}

/// Numbers the pairs and single vertices in the order of their first vertex.
fn number(mate: &mut [NodeId]) -> (Vec<NodeId>, usize) {
    let mut coarse_of = vec![0; mate.len()];
    let mut next = 0;
    for node in 0..mate.len() {
        let other = mate[node];
        if other != FREE && (other as usize) < node {
            coarse_of[node] = coarse_of[other as usize];
        } else {
            coarse_of[node] = next;
            next += 1;
        }
    }
    (coarse_of, next as usize)
}

/// All vertices, stretch by stretch: inside of each by degree class, and at random among neighbouring ones of a class.
pub(super) fn visiting_order<W: Stored>(graph: &CompactGraph<'_, W>, rng: &mut Rng) -> Vec<NodeId> {
    let seed = rng.next_u64();
    let mut order = vec![0; graph.num_nodes()];
    let stretches = order.chunks_mut(STRETCH).enumerate().collect();
    threads::map_each(stretches, &|(index, order): (usize, &mut [NodeId])| {
        let first = (index * STRETCH) as NodeId;
        let mut nodes: Vec<NodeId> = (first..).take(order.len()).collect();
        let mut rng = Rng::new(derive(seed, index as u64));
        nodes.chunks_mut(WINDOW).for_each(|window| rng.shuffle(window));
        sort_by_degree(graph, &nodes, order);
    });
    order
}

/// Sorts vertices by degree class, and leaves those of a class in order.
fn sort_by_degree<W: Stored>(graph: &CompactGraph<'_, W>, nodes: &[NodeId], sorted: &mut [NodeId]) {
    let class = |node: NodeId| graph.degree(node).min(DEGREE_CLASSES - 1);
    let mut next = [0u32; DEGREE_CLASSES + 1];
    for &node in nodes {
        next[class(node) + 1] += 1;
    }
    for class in 0..DEGREE_CLASSES {
        next[class + 1] += next[class];
    }
    for &node in nodes {
        let slot = &mut next[class(node)];
        sorted[*slot as usize] = node;
        *slot += 1;
    }
}
