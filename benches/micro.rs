//! Micro-benchmarks of the mapping core (distance, swap delta, neighbourhoods, constructors) and of the METIS
//! reader.
//!
//! ```text
//! cargo bench --bench micro -- [filter]
//! ```
//!
//! The communication graph is a random geometric graph, the machine 4:16:x with distances 1:10:100.

mod common;

use std::hint::black_box;

use common::random_mapping;
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use viem::base::observer::Seeded;
use viem::base::rng::Rng;
use viem::base::types::{NodeId, PeId};
use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem::machine::{
    Dimension, DistanceOracle, Distances, Grid, Hierarchy, Hypercube, Listed, Machine, Network, Places,
    StoredDistances,
};
use viem::mapping::construct::{Construction, ConstructionConfig, construct};
use viem::mapping::objective::{keys, swap_delta};
use viem::mapping::problem::Problem;
use viem::mapping::search::{Neighbourhood, SearchConfig, local_search};
use viem_io::Source;
use viem_io::metis::{self, GraphContent, NodeWeights};

fn main() {
    divan::main();
}

fn instance(num_processes: usize) -> (CsrGraph, Hierarchy) {
    let graph = generate::random_geometric(num_processes, 10.0, 1);
    let nodes = u32::try_from(num_processes / 64).expect("a small instance");
    (graph, Hierarchy::new(vec![4, 16, nodes], vec![1, 10, 100]).expect("a valid machine"))
}

fn random_pairs(num_processes: usize) -> Vec<(NodeId, NodeId)> {
    let mut rng = Rng::new(3);
    let bound = num_processes as u32;
    (0..4096).map(|_| (rng.below(bound), rng.below(bound))).filter(|(u, v)| u != v).collect()
}

/// Distances of random pairs of PEs.
#[divan::bench_group]
mod distance {
    use super::*;

    fn bench<O: DistanceOracle>(bencher: Bencher, oracle: &O) {
        let n = oracle.num_pes();
        let key = |pe| oracle.key(pe);
        let pairs: Vec<_> = random_pairs(n).into_iter().map(|(p, q)| (key(p), key(q))).collect();
        bencher.counter(ItemsCount::new(pairs.len())).bench_local(|| {
            let distances = pairs.iter().map(|&(p, q)| oracle.between(p, q));
            black_box(distances.sum::<i64>())
        });
    }

    #[divan::bench(args = [2048, 32768])]
    fn online32(bencher: Bencher, n: usize) {
        bench(bencher, &instance(n).1.online32().expect("short codes"));
    }

    #[divan::bench(args = [2048, 32768])]
    fn online64(bencher: Bencher, n: usize) {
        bench(bencher, &instance(n).1.online64());
    }

    #[divan::bench(args = [2048, 32768])]
    fn stored(bencher: Bencher, n: usize) {
        bench(bencher, &StoredDistances::new(&instance(n).1).expect("enough memory"));
    }

    /// The metric of a machine of any kind.
    fn bench_machine(bencher: Bencher, machine: &impl Machine) {
        match machine.distances().expect("enough memory") {
            Distances::Prefixes(oracle) => bench(bencher, &oracle),
            Distances::Hops(oracle) => bench(bencher, &oracle),
            Distances::Hamming(oracle) => bench(bencher, &oracle),
            Distances::Differences(oracle) => bench(bencher, &oracle),
            Distances::Routes(oracle) => bench(bencher, &oracle),
            any => bench(bencher, &any),
        }
    }

    #[divan::bench(args = [16, 32])]
    fn torus(bencher: Bencher, length: u32) {
        bench_machine(bencher, &Grid::torus(&[length, length, 8]).expect("a machine"));
    }

    #[divan::bench]
    fn torus_of_nodes(bencher: Bencher) {
        let dimensions = vec![Dimension { length: 8, is_closed: true }; 3];
        let vertex = Hierarchy::parse("4:16", "1:10").expect("a machine");
        bench_machine(bencher, &Grid::new(dimensions, vertex, 100).expect("a machine"));
    }

    #[divan::bench]
    fn grid_of_many_dimensions(bencher: Bencher) {
        bench_machine(bencher, &Grid::mesh(&[2; 11]).expect("a machine"));
    }

    #[divan::bench(args = [11, 15])]
    fn hypercube(bencher: Bencher, dimension: u32) {
        bench_machine(bencher, &Hypercube::new(dimension).expect("a machine"));
    }

    #[divan::bench(args = [2048, 32768])]
    fn listed_tree(bencher: Bencher, n: usize) {
        let list = (0..n as PeId).filter(|pe| pe % 3 > 0).collect();
        bench_machine(bencher, &Listed::new(instance(n).1, list).expect("a machine"));
    }

    #[divan::bench(args = [128, 1024])]
    fn network(bencher: Bencher, routers: usize) {
        let mut graph = GraphBuilder::new(17 * routers);
        for router in 0..routers {
            graph.set_node_weight(router as NodeId, 0);
            graph.add_edge(router as NodeId, ((router + 1) % routers) as NodeId, 10);
            for pe in 0..16 {
                graph.add_edge(router as NodeId, (routers + 16 * router + pe) as NodeId, 1);
            }
        }
        let graph = graph.build().expect("no edge is added twice");
        bench_machine(bencher, &Network::new(graph).expect("a machine"));
    }
}

/// Swap deltas of random pairs of processes; divide by about 20 arcs for the time per arc.
#[divan::bench_group]
mod delta {
    use super::*;

    fn bench<O: DistanceOracle>(bencher: Bencher, graph: &CsrGraph, oracle: &O) {
        let n = graph.num_nodes();
        let keys = keys(oracle, &random_mapping(n, &mut Rng::new(7)));
        let pairs = random_pairs(n);
        bencher.counter(ItemsCount::new(pairs.len())).bench_local(|| {
            let deltas = pairs.iter().map(|&(u, v)| swap_delta(graph, oracle, &keys, u, v));
            black_box(deltas.sum::<i64>())
        });
    }

    #[divan::bench(args = [2048, 32768])]
    fn online(bencher: Bencher, n: usize) {
        let (graph, hierarchy) = instance(n);
        bench(bencher, &graph, &hierarchy.online32().expect("short codes"));
    }

    #[divan::bench(args = [2048, 32768])]
    fn stored(bencher: Bencher, n: usize) {
        let (graph, hierarchy) = instance(n);
        bench(bencher, &graph, &StoredDistances::new(&hierarchy).expect("enough memory"));
    }
}

/// A complete descent from a random mapping, and from a top-down one.
#[divan::bench_group(sample_count = 10)]
mod descent {
    use super::*;

    fn bench(bencher: Bencher, n: usize, start: Construction, config: SearchConfig) {
        let (graph, hierarchy) = instance(n);
        let oracle = Distances::Tree(hierarchy.online32().expect("short codes"));
        let problem = Problem::new(&graph, &oracle).expect("sizes agree");
        let construction = ConstructionConfig::default().with_algorithm(start);
        let start =
            construct(&problem, &Places::of(&hierarchy).expect("a machine"), &construction, Seeded::new(1));
        let start = start.expect("works on trees");
        bencher.bench_local(|| local_search(&problem, &start, &config, Seeded::new(1)));
    }

    const STARTS: [Construction; 2] = [Construction::Random, Construction::HierarchyTopDown];

    #[divan::bench(args = STARTS)]
    fn nsquare(bencher: Bencher, start: Construction) {
        bench(bencher, 2048, start, SearchConfig::of(Neighbourhood::NSquare));
    }

    #[divan::bench(args = STARTS)]
    fn nsquare_pruned(bencher: Bencher, start: Construction) {
        bench(bencher, 2048, start, SearchConfig::of(Neighbourhood::NSquarePruned));
    }

    #[divan::bench(args = STARTS)]
    fn communication_1_hop(bencher: Bencher, start: Construction) {
        bench(bencher, 2048, start, SearchConfig::of(Neighbourhood::Communication).with_max_hops(1));
    }

    #[divan::bench(args = STARTS)]
    fn communication_10_hops(bencher: Bencher, start: Construction) {
        bench(bencher, 2048, start, SearchConfig::of(Neighbourhood::Communication));
    }
}

/// Constructors without partitioning.
#[divan::bench(args = [Construction::Random, Construction::Growing], sample_count = 20)]
fn construction(bencher: Bencher, algorithm: Construction) {
    let (graph, hierarchy) = instance(32768);
    let config = ConstructionConfig::default().with_algorithm(algorithm);
    let oracle = Distances::Tree(hierarchy.online32().expect("short codes"));
    let problem = Problem::new(&graph, &oracle).expect("sizes agree");
    let places = Places::of(&hierarchy).expect("a machine");
    bencher.bench_local(|| construct(&problem, &places, &config, Seeded::new(1)));
}

/// Reading a METIS graph from memory, with and without edge weights.
#[divan::bench(args = [false, true], sample_count = 20)]
fn metis_reader(bencher: Bencher, edge_weights: bool) {
    let mut text = Vec::new();
    let content = if edge_weights { GraphContent::EDGE_WEIGHTS } else { GraphContent::NO_WEIGHTS };
    metis::write(&mut text, &instance(32768).0, content).expect("memory takes everything");
    bencher.counter(BytesCount::new(text.len())).bench_local(|| {
        let source = Source::new("graph", text.as_slice()).expect("a text");
        metis::read(source, NodeWeights::Ignore).expect("a graph")
    });
}
