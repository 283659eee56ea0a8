//! Random problems, and costs by definition. Also used by tests inside the engine, as `crate::testing`.

#![allow(dead_code)] // each test program uses a part of it

use std::sync::atomic::{AtomicUsize, Ordering};

use viem::base::rng::Rng;
use viem::base::types::{Cost, Distance, PeId};
use viem::graph::CsrGraph;
use viem::machine::{DistanceOracle, Grid, Hierarchy, Hypercube, Machine, Metric, Network, Parts};
use viem::mapping::Mapping;

#[path = "graphs.rs"]
mod graphs;

pub use graphs::*;

/// Small machines of every kind: one level and many, arities of 1 and primes, distances that decrease,
/// repeat, or are 0.
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

/// A random permutation.
pub fn random_mapping(n: usize, rng: &mut Rng) -> Mapping {
    let mut pe_of: Vec<PeId> = (0..n as PeId).collect();
    rng.shuffle(&mut pe_of);
    Mapping::from_pes(pe_of).unwrap()
}

/// The distance of two PEs of a tree by definition: that of the outermost level at which their groups differ.
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

/// J by definition, in 128 bits, with distances by division.
pub fn naive_cost(graph: &CsrGraph, hierarchy: &Hierarchy, pe_of: &[PeId]) -> i128 {
    let distance = |p, q| i128::from(tree_distance(hierarchy, p, q));
    let arcs = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| (u, v, weight)));
    arcs.map(|(u, v, weight)| i128::from(weight) * distance(pe_of[u as usize], pe_of[v as usize])).sum()
}

/// The minimum of J over all permutations, each recomputed; for at most eight processes.
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

/// Graphs of regular shape, each with the machine of the same shape, on which neighbours can be one hop
/// apart.
pub fn pattern_machines() -> Vec<(&'static str, Box<dyn Machine>, CsrGraph)> {
    let machine = |name: &str| -> Box<dyn Machine> {
        match name {
            "ring" => Box::new(Grid::torus(&[64]).unwrap()),
            "path" => Box::new(Grid::mesh(&[65]).unwrap()),
            "grid" => Box::new(Grid::mesh(&[16, 8]).unwrap()),
            "flat torus" => Box::new(Grid::torus(&[16, 8]).unwrap()),
            "torus" => Box::new(Grid::torus(&[8, 8, 8]).unwrap()),
            "uneven torus" => Box::new(Grid::torus(&[6, 5, 4]).unwrap()),
            "hypercube" => Box::new(Hypercube::new(9).unwrap()),
            _ => Box::new(Network::new(butterfly(4)).unwrap()),
        }
    };
    pattern_graphs().into_iter().map(|(name, graph)| (name, machine(name), graph)).collect()
}

/// Graphs of regular shape, each with a tree and its minimum of J.
///
/// No group of its size has more internal edges than the arc of a ring, the subcube of a hypercube (Harper
/// 1964), or the square or cube of a grid or torus (Bollobás and Leader 1991). All levels can have this
/// optimum at once.
pub fn pattern_trees() -> Vec<(&'static str, Hierarchy, CsrGraph, Cost)> {
    let cube = |dimension: u32| graph_of(1 << dimension, |u, v| (u ^ v).is_power_of_two());
    // The edges inside a group, by level, without the outermost.
    let cases: [(&str, &str, CsrGraph, &[i64]); 8] = [
        ("ring", "4:4:4", grid_graph(&[64], true), &[3, 15]),
        ("long ring", "4:16:8", grid_graph(&[512], true), &[3, 63]),
        ("hypercube", "4:4:4", cube(6), &[4, 32]),
        ("large hypercube", "4:16:8", cube(9), &[4, 192]),
        ("flat torus", "4:4:4", grid_graph(&[8, 8], true), &[4, 24]),
        ("torus", "4:16:8", grid_graph(&[8, 8, 8], true), &[4, 144]),
        ("grid", "4:16:4", grid_graph(&[16, 16], false), &[4, 112]),
        ("deep grid", "2:4:8:2", grid_graph(&[16, 8], false), &[1, 10, 112]),
    ];
    let case = |(name, arities, graph, inside): (&'static str, &str, CsrGraph, &[i64])| {
        let distances = ["1:10:100", "1:10:100:1000"][inside.len() - 2];
        let tree = Hierarchy::parse(arities, distances).unwrap();
        let (mut size, mut edges_before, mut cost) = (1, 0, 0);
        for (level, (&arity, &distance)) in tree.arities().iter().zip(tree.distances()).enumerate() {
            size *= i64::from(arity);
            let groups = tree.num_pes() as i64 / size;
            let edges = inside.get(level).map_or(graph.num_edges() as i64, |inside| inside * groups);
            cost += 2 * distance * (edges - edges_before);
            edges_before = edges;
        }
        (name, tree, graph, cost)
    };
    cases.into_iter().map(case).collect()
}

/// Parts over this number of places in numerical order, down to a few places.
pub fn in_halves(num_places: usize) -> Parts {
    Parts::divide((0..num_places as PeId).collect(), |places| match places.len() {
        0..=3 => Vec::new(),
        n => vec![n / 2, n - n / 2],
    })
}

/// Distances that count how often they are read.
pub struct Counted<'a, O> {
    oracle: &'a O,
    count: AtomicUsize,
}

impl<'a, O> Counted<'a, O> {
    pub fn new(oracle: &'a O) -> Self {
        Self { oracle, count: AtomicUsize::new(0) }
    }

    /// The number of distances read.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

impl<O: DistanceOracle> Metric for Counted<'_, O> {
    type Key = O::Key;

    fn between(&self, a: O::Key, b: O::Key) -> Distance {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.oracle.between(a, b)
    }

    fn max_distance(&self) -> Distance {
        self.oracle.max_distance()
    }

    fn has_triangle_inequality(&self) -> bool {
        self.oracle.has_triangle_inequality()
    }
}

impl<O: DistanceOracle> DistanceOracle for Counted<'_, O> {
    fn num_pes(&self) -> usize {
        self.oracle.num_pes()
    }

    fn key(&self, pe: PeId) -> O::Key {
        self.oracle.key(pe)
    }
}
