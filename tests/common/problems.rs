//! Random problems, and costs by the definition. Tests inside the library use this file too, as `crate::testing`.

#![allow(dead_code)] // each test program uses a part of it

use std::collections::BTreeSet;

use viem::graph::{CsrGraph, GraphBuilder};
use viem::mapping::Mapping;
use viem::rng::Rng;
use viem::topology::Hierarchy;
use viem::types::{Distance, NodeId, PeId};

/// Small machines of every kind: one level and many, ones and primes, distances that fall, repeat, or are 0.
pub const SHAPES: [(&str, &str); 10] = [
    ("1", "1"),
    ("37", "3"),
    ("5:6", "0:0"),
    ("4:4:4", "1:10:100"),
    ("3:4:3", "100:10:1"),
    ("2:2:2", "1:10:100"),
    ("3:1:11", "2:2:7"),
    ("1:7:1:5", "9:4:3:8"),
    ("2:3:2:2", "1:5:25:125"),
    ("2:2:2:2:2:2", "0:4:4:1:9:2"),
];

/// So many different pairs (u, v), u < v, of `n` vertices, or all pairs if there are fewer.
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
    let mut builder = GraphBuilder::new(n);
    for (u, v) in random_edges(n, n * mean_degree / 2, rng) {
        builder.add_edge(u, v, i64::from(rng.below(heaviest)) + 1);
    }
    builder.build().unwrap()
}

/// A random permutation.
pub fn random_mapping(n: usize, rng: &mut Rng) -> Mapping {
    let mut pe_of: Vec<PeId> = (0..n as PeId).collect();
    rng.shuffle(&mut pe_of);
    Mapping::new(pe_of).unwrap()
}

/// The distance of two PEs of a tree by the definition: that of the outermost level whose groups tell them apart.
pub fn tree_distance(hierarchy: &Hierarchy, mut p: PeId, mut q: PeId) -> Distance {
    let mut distance = 0;
    for (&arity, &of_level) in hierarchy.arities().iter().zip(hierarchy.distances()) {
        if p != q {
            distance = of_level;
        }
        p /= arity;
        q /= arity;
    }
    distance
}

/// J by the definition, in 128 bits, distances by division.
pub fn naive_cost(graph: &CsrGraph, hierarchy: &Hierarchy, pe_of: &[PeId]) -> i128 {
    let distance = |p, q| i128::from(tree_distance(hierarchy, p, q));
    let arcs = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| (u, v, weight)));
    arcs.map(|(u, v, weight)| i128::from(weight) * distance(pe_of[u as usize], pe_of[v as usize])).sum()
}

/// The least J of all permutations, each computed afresh: for at most eight processes.
pub fn optimum(graph: &CsrGraph, hierarchy: &Hierarchy) -> i128 {
    fn least(graph: &CsrGraph, hierarchy: &Hierarchy, pe_of: &mut [PeId], fixed: usize) -> i128 {
        if fixed == pe_of.len() {
            return naive_cost(graph, hierarchy, pe_of);
        }
        let mut best = i128::MAX;
        for other in fixed..pe_of.len() {
            pe_of.swap(fixed, other);
            best = best.min(least(graph, hierarchy, pe_of, fixed + 1));
            pe_of.swap(fixed, other);
        }
        best
    }
    let mut pe_of: Vec<PeId> = (0..graph.num_nodes() as PeId).collect();
    least(graph, hierarchy, &mut pe_of, 0)
}
