//! Random graphs and graphs of regular shape. Also used by tests inside the packages of the engine, as `crate::testing`.

#![allow(dead_code)] // each test program uses a part of it

use std::collections::BTreeSet;

use viem::base::observer::Observer;
use viem::base::rng::Rng;
use viem::base::types::NodeId;
use viem::graph::{CsrGraph, GraphBuilder};

/// This number of different pairs (u, v), u < v, of `n` vertices, or all pairs if there are fewer.
pub fn random_edges(n: usize, count: usize, rng: &mut Rng) -> BTreeSet<(NodeId, NodeId)> {
    let count = count.min(n * n.saturating_sub(1) / 2);
    let mut edges = BTreeSet::new();
    while edges.len() < count {
        let (u, v) = (rng.below(n as u32), rng.below(n as u32));
        if u != v {
            edges.insert((u.min(v), u.max(v)));
        }
    }
    edges
}

/// A graph of `n` vertices with random edges of weights from 1 to `heaviest`.
pub fn random_graph(n: usize, mean_degree: usize, heaviest: u32, rng: &mut Rng) -> CsrGraph {
    let edges = random_edges(n, n * mean_degree / 2, rng).into_iter();
    CsrGraph::from_edges(n, edges.map(|(u, v)| (u, v, i64::from(rng.below(heaviest)) + 1))).unwrap()
}

/// The same graph with vertices of these weights.
pub fn with_node_weights(graph: &CsrGraph, weights: &[i64]) -> CsrGraph {
    let arcs = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| (u, v, weight)));
    CsrGraph::from_weights_and_edges(weights.to_vec(), arcs.filter(|(u, v, _)| u < v)).unwrap()
}

/// A graph with heavy-tailed degrees, highest at the first vertices.
pub fn skewed_graph(n: usize, num_edges: usize, rng: &mut Rng) -> CsrGraph {
    let mut end = || (0..3).fold(n as u32, |most, _| 1 + rng.below(most)) - 1;
    let edges = (0..num_edges).map(|_| (end(), end(), 1));
    CsrGraph::from_edges(n, edges.filter(|(u, v, _)| u != v)).unwrap()
}

/// A star around a process, with edges of weight 1.
pub fn star(n: usize, middle: NodeId) -> CsrGraph {
    let leaves = (0..n as NodeId).filter(|&leaf| leaf != middle);
    CsrGraph::from_edges(n, leaves.map(|leaf| (middle, leaf, 1))).unwrap()
}

/// A clique of the first `core` of `n` vertices, among which the others are dealt out in turn as leaves; weights 1.
pub fn core_and_periphery(core: NodeId, n: NodeId) -> CsrGraph {
    let mut builder = GraphBuilder::new(n as usize);
    for vertex in 0..core {
        (0..vertex).for_each(|other| builder.add_edge(vertex, other, 1));
        (core + vertex..n).step_by(core as usize).for_each(|leaf| builder.add_edge(vertex, leaf, 1));
    }
    builder.build().unwrap()
}

/// The graph of all adjacent pairs of vertices.
pub fn graph_of(n: u32, are_adjacent: impl Fn(u32, u32) -> bool) -> CsrGraph {
    let pairs = (0..n).flat_map(|v| (0..v).map(move |u| (u, v, 1)));
    CsrGraph::from_edges(n as usize, pairs.filter(|&(u, v, _)| are_adjacent(u, v))).unwrap()
}

/// Neighbours in a grid differ in one coordinate, by one, or by the length minus one if the dimension is
/// closed.
pub fn grid_graph(lengths: &[u32], is_closed: bool) -> CsrGraph {
    let gaps = |mut u: u32, mut v: u32| {
        let gap = |&length: &u32| {
            let gap = (u % length).abs_diff(v % length);
            (u, v) = (u / length, v / length);
            if is_closed { gap.min(length - gap) } else { gap }
        };
        lengths.iter().map(gap).sum::<u32>()
    };
    graph_of(lengths.iter().product(), |u, v| gaps(u, v) == 1)
}

/// The wrapped butterfly: vertex (level, word) is adjacent to the vertices of the next level with the same
/// word, and with the word that differs in the bit of the level.
pub fn butterfly(levels: u32) -> CsrGraph {
    let words = 1 << levels;
    let leads = |u: u32, v: u32| {
        let difference = (u % words) ^ (v % words);
        v / words == (u / words + 1) % levels && (difference == 0 || difference == 1 << (u / words))
    };
    graph_of(levels * words, |u, v| leads(u, v) || leads(v, u))
}

/// The same graph with shuffled vertices and random edge weights up to `heaviest`.
pub fn shuffled(graph: &CsrGraph, heaviest: u32, rng: &mut Rng) -> CsrGraph {
    let mut order: Vec<NodeId> = graph.nodes().collect();
    rng.shuffle(&mut order);
    let arcs = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, _)| (u, v))).filter(|(u, v)| u < v);
    let edge = |(u, v)| (order[u as usize], order[v as usize], i64::from(rng.below(heaviest)) + 1);
    CsrGraph::from_edges(graph.num_nodes(), arcs.map(edge)).unwrap()
}

/// Graphs of regular shape.
pub fn pattern_graphs() -> Vec<(&'static str, CsrGraph)> {
    vec![
        ("ring", grid_graph(&[64], true)),
        ("path", grid_graph(&[65], false)),
        ("grid", grid_graph(&[16, 8], false)),
        ("flat torus", grid_graph(&[16, 8], true)),
        ("torus", grid_graph(&[8, 8, 8], true)),
        ("uneven torus", grid_graph(&[6, 5, 4], true)),
        ("hypercube", graph_of(512, |u, v| (u ^ v).is_power_of_two())),
        ("butterfly", butterfly(4)),
    ]
}

/// Asks to stop at once.
pub struct Stops;

impl Observer for Stops {
    fn should_stop(&self) -> bool {
        true
    }
}

/// The first vertices of a graph, with the edges between them.
pub fn first_vertices(graph: &CsrGraph, count: usize) -> CsrGraph {
    let mut builder = GraphBuilder::new(count);
    for u in 0..count as NodeId {
        let inside = graph.arcs(u).filter(|&(v, _)| u < v && (v as usize) < count);
        inside.for_each(|(v, weight)| builder.add_edge(u, v, weight));
    }
    builder.build().unwrap()
}
