//! Constructors: one suite over all of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::StopAfter;
use viem::base::observer::{Observer, Seeded};
use viem::base::threads;
use viem::base::types::PeId;
use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem::machine::{DistanceOracle, Distances, Grid, Hierarchy, Machine, Metric as _, OwnDistances, Places};
use viem::mapping::Mapping;
use viem::mapping::construct::{Construction, ConstructionConfig, construct};
use viem::mapping::objective::cost;
use viem::mapping::problem::Problem;
use viem::partition::PartitionPreset;

const SHAPES: [(&str, &str); 15] = [
    ("1", "1"),
    ("2", "7"),
    ("1:1:1", "1:2:3"),
    ("17", "3"),
    ("2:2", "10:100"),
    ("3:1:5", "1:10:100"),
    ("1:4:1:6:1", "1:2:3:4:5"),
    ("7:11", "5:5"),
    ("2:3:2:3:2", "0:1:10:100:1000"),
    ("4:4:4", "100:10:1"),
    ("5:6:7", "1:10:100"),
    ("4:16:4", "1:10:100"),
    ("3:67", "1:10"),
    ("1:2:130:1", "1:2:3:4"),
    ("200:2", "9:3"),
];

fn path(n: usize) -> CsrGraph {
    generate::grid(n, 1)
}

fn star(n: usize) -> CsrGraph {
    CsrGraph::from_edges(n, (1..n as u32).map(|leaf| (0, leaf, i64::from(leaf)))).unwrap()
}

/// Pairs of vertices of every weight; the other vertices are isolated.
fn scattered(n: usize) -> CsrGraph {
    let edges = (0..n as u32 / 2).step_by(2).map(|u| (u, u + 1, 3));
    CsrGraph::from_weights_and_edges((0..n as i64).map(|u| u % 5).collect(), edges).unwrap()
}

fn graphs(n: usize) -> [CsrGraph; 5] {
    let edgeless = GraphBuilder::new(n).build().unwrap();
    [path(n), star(n), scattered(n), edgeless, generate::random_geometric(n, 7.0, 1)]
}

fn construct_on(
    machine: &dyn Machine,
    graph: &CsrGraph,
    config: &ConstructionConfig,
    seeded: Seeded<'_>,
) -> Mapping {
    let places = Places::of(machine).unwrap();
    let problem = Problem::new(graph, places.distances()).unwrap().with_parts(places.parts());
    construct(&problem, &places, config, seeded).unwrap()
}

/// The constructions that work on a machine, with partitions of little effort.
fn configs_for(machine: &dyn Machine) -> impl Iterator<Item = ConstructionConfig> {
    let places = Places::of(machine).unwrap();
    let config = ConstructionConfig::default().with_partitions(PartitionPreset::Fast);
    Construction::ALL.map(|algorithm| config.with_algorithm(algorithm)).into_iter().filter(move |config| {
        let graph = GraphBuilder::new(places.len()).build().unwrap();
        let problem = Problem::new(&graph, places.distances()).unwrap();
        let result = construct(&problem, &places, config, Seeded::new(0).observed(&StopAfter::questions(0)));
        let needs_tree =
            ["hierarchybottomup", "treematch"].contains(&config.algorithm.map_or("", Construction::name));
        assert_eq!(result.is_ok(), places.hierarchy().is_some() || !needs_tree, "{config:?}");
        result.is_ok()
    })
}

fn build(
    graph: &CsrGraph,
    hierarchy: &Hierarchy,
    algorithm: Construction,
    preset: PartitionPreset,
) -> Mapping {
    let config = ConstructionConfig::default().with_algorithm(algorithm).with_partitions(preset);
    construct_on(hierarchy, graph, &config, Seeded::new(9))
}

#[test]
fn every_constructor_yields_a_permutation() {
    for (arities, distances) in SHAPES {
        let hierarchy = Hierarchy::parse(arities, distances).unwrap();
        for graph in graphs(hierarchy.num_pes()) {
            for algorithm in Construction::ALL {
                let mapping = build(&graph, &hierarchy, algorithm, PartitionPreset::Fast);
                assert_eq!(mapping.num_processes(), graph.num_nodes());
                assert!(Mapping::from_pes(mapping.into_pes()).is_ok(), "{algorithm:?} {arities}");
            }
        }
    }
}

/// The same graph with the heaviest edges for which J still fits on a machine.
fn heaviest(graph: &CsrGraph, machine: &dyn Machine) -> CsrGraph {
    let greatest = machine.distances().unwrap().max_distance().max(1);
    let weight = i64::MAX / greatest / graph.num_arcs().max(1) as i64;
    let (offsets, targets) = (graph.offsets().to_vec(), graph.targets().to_vec());
    CsrGraph::new(offsets, targets, vec![weight; graph.num_arcs()], graph.node_weights().to_vec()).unwrap()
}

#[test]
fn every_constructor_handles_the_heaviest_edges() {
    for (spec, distances) in
        [("tree:4:2:3:2", Some("1:10:100:1000")), ("mesh:7x7", None), ("torus:3x4/4", Some("1:5"))]
    {
        let machine = viem_cluster::build(spec, distances).unwrap();
        for plain in graphs(machine.num_pes()) {
            let graph = heaviest(&plain, machine.as_ref());
            for config in configs_for(machine.as_ref()) {
                let mapping = construct_on(machine.as_ref(), &graph, &config, Seeded::new(9));
                assert!(Mapping::from_pes(mapping.into_pes()).is_ok(), "{config:?} {spec}");
            }
        }
    }
}

#[test]
fn the_result_does_not_depend_on_the_threads() {
    let hierarchy = Hierarchy::parse("4:4:6:2", "1:10:100:1000").unwrap();
    let graph = generate::random_geometric(hierarchy.num_pes(), 8.0, 3);
    for algorithm in Construction::ALL {
        let with_threads = |threads| {
            threads::run(threads, || build(&graph, &hierarchy, algorithm, PartitionPreset::Eco)).unwrap()
        };
        let single = with_threads(1);
        assert_eq!(single, with_threads(2), "{algorithm:?}");
        assert_eq!(single, with_threads(8), "{algorithm:?}");
    }
}

#[test]
fn vertex_weights_do_not_matter() {
    let hierarchy = Hierarchy::parse("3:4:2", "1:10:100").unwrap();
    let weighted = scattered(24);
    let unit = weighted.clone().with_unit_node_weights();
    for algorithm in Construction::ALL {
        let of = |graph| build(graph, &hierarchy, algorithm, PartitionPreset::Eco);
        assert_eq!(of(&weighted), of(&unit), "{algorithm:?}");
    }
}

/// Cliques of the size of a group with interleaved numbers: the hierarchical constructors find them.
#[test]
fn hierarchical_constructors_keep_cliques_together() {
    let (size, count) = (4u32, 16u32);
    let mut builder = GraphBuilder::new((size * count) as usize);
    let member = |clique: u32, index: u32| index * count + clique;
    for clique in 0..count {
        for i in 0..size {
            for j in 0..i {
                builder.add_edge(member(clique, i), member(clique, j), 100);
            }
        }
        builder.add_edge(member(clique, 0), member((clique + 1) % count, 1), 1);
    }
    let graph = builder.build().unwrap();
    let hierarchy = Hierarchy::parse("4:4:4", "1:10:100").unwrap();
    for algorithm in
        [Construction::HierarchyTopDown, Construction::HierarchyBottomUp, Construction::TreeMatch]
    {
        let mapping = build(&graph, &hierarchy, algorithm, PartitionPreset::Eco);
        for clique in 0..count {
            let group = mapping.pe_of(member(clique, 0)) / size;
            assert!(
                (1..size).all(|index| mapping.pe_of(member(clique, index)) / size == group),
                "{algorithm:?}"
            );
        }
        let oracle = Distances::Tree(hierarchy.online32().unwrap());
        // Inside the cliques 16 · 6 · 100 at distance 1; around the ring 12 edges at 10 and 4 at 100.
        let best = 2 * (9600 + 12 * 10 + 4 * 100);
        assert_eq!(cost(&Problem::new(&graph, &oracle).unwrap(), &mapping), best, "{algorithm:?}");
    }
}

#[test]
fn growing_starts_at_the_largest_volume_and_follows_the_edges() {
    let edges = [(0, 1, 1), (1, 2, 5), (2, 3, 9), (3, 4, 8), (4, 5, 1)];
    let graph = CsrGraph::from_edges(6, edges).unwrap();
    let hierarchy = Hierarchy::parse("2:3", "1:10").unwrap();
    let mapping = build(&graph, &hierarchy, Construction::Growing, PartitionPreset::Eco);
    // Order of processes: 3 (volume 17), 2 (9), 4 (8), 1 (5), then 5 and 0 (1 each, 0 and 5 alike).
    assert_eq!(mapping.pes(), [4, 3, 1, 0, 2, 5]);
}

#[test]
fn a_stopped_construction_is_a_permutation() {
    let hierarchy = Hierarchy::parse("4:5:6:3", "1:10:100:1000").unwrap();
    let graph = generate::random_geometric(360, 9.0, 4);
    for algorithm in Construction::ALL {
        for partitions in [PartitionPreset::Fast, PartitionPreset::Strong] {
            let mut config = ConstructionConfig::default().with_algorithm(algorithm);
            (config.partitions, config.inner) = (partitions, PartitionPreset::Fast);
            let construct = |questions| {
                let observer = StopAfter::questions(questions);
                let mapping = construct_on(&hierarchy, &graph, &config, Seeded::new(3).observed(&observer));
                (Mapping::from_pes(mapping.into_pes()).expect("a permutation"), observer.should_stop())
            };
            for questions in (0..12).chain((4..14).map(|bit| (1 << bit) - 1)) {
                construct(questions);
            }
            let (whole, is_stopped) = construct(u64::MAX);
            assert!(!is_stopped);
            let is_quick = matches!(algorithm, Construction::Random | Construction::Identity);
            assert_eq!(construct(0).0 == whole, is_quick, "{algorithm:?}");
        }
    }
}

/// Distances that count how often they are read.
#[derive(Clone, Debug)]
struct Counted {
    distances: Distances,
    count: Arc<AtomicUsize>,
}

impl OwnDistances for Counted {
    fn distance(&self, a: PeId, b: PeId) -> i64 {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.distances.distance(a, b)
    }

    fn max_distance(&self) -> i64 {
        self.distances.max_distance()
    }

    fn has_triangle_inequality(&self) -> bool {
        self.distances.has_triangle_inequality()
    }
}

#[test]
fn a_construction_stopped_at_once_reads_few_distances() {
    let graph = generate::random_geometric(4096, 9.0, 4);
    let torus = Grid::torus(&[16, 16, 16]).unwrap();
    let tree = Hierarchy::parse("16:16:16", "1:10:100").unwrap();
    let machines: [&dyn Machine; 2] = [&torus, &tree];
    for machine in machines {
        let places = &Places::of(machine).unwrap();
        for config in configs_for(machine) {
            let count = Arc::new(AtomicUsize::new(0));
            let counted = Counted { distances: places.distances().clone(), count: count.clone() };
            let counted = Distances::own(places.len(), counted).unwrap();
            let problem = Problem::new(&graph, &counted).unwrap().with_parts(places.parts());
            construct(&problem, places, &config, Seeded::new(0).observed(&StopAfter::questions(0))).unwrap();
            let looked_at = count.load(Ordering::Relaxed);
            assert!(looked_at < 100 * 4096, "{config:?} {looked_at}");
        }
    }
}
