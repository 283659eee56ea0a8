//! Vertices that must be in given blocks: every preset, algorithm and machine leaves them there, also where an older
//! partition is resumed.

use crate::common::{Family, StopAfter, families, random_graph};
use viem::base::rng::Rng;
use viem::base::types::{BlockId, NodeId, Weight};
use viem::graph::{Coordinates, CsrGraph, generate};
use viem::machine::Hierarchy;
use viem::mapping::Mapping;
use viem::mapping::search::Neighbourhood;
use viem::partition::{
    FixedError, FixedVertices, Grouping, Partition, PartitionAlgorithm, PartitionInput, PartitionPreset,
    Partitioner, PreviousAssignment, Remapping, Targets,
};
use viem::solve::{Balance, Config, Initial, MapPreset, Order, PreparedMachine, Request, SolveError};

/// Some vertices of a graph in random blocks, no more weight in each than it should have.
fn random_fixed(graph: &CsrGraph, targets: &Targets, count: usize, rng: &mut Rng) -> FixedVertices {
    let mut fixed = FixedVertices::none(graph.num_nodes(), targets.num_blocks());
    let mut room = targets.block_sizes().to_vec();
    let mut vertices: Vec<NodeId> = graph.nodes().collect();
    rng.shuffle(&mut vertices);
    for &vertex in vertices.iter().take(count) {
        let weight = graph.node_weight(vertex);
        let first = rng.below(room.len() as u32) as usize;
        let blocks = (0..room.len()).map(|step| (first + step) % room.len());
        if let Some(block) = blocks.into_iter().find(|&block| room[block] >= weight) {
            room[block] -= weight;
            fixed.fix(vertex, block as BlockId).unwrap();
        }
    }
    fixed
}

fn counts(n: usize) -> [usize; 4] {
    [1, 5, n / 2, n]
}

/// Each vertex in its block or, one after the other, where it has most neighbours and there is room.
fn greedy(graph: &CsrGraph, targets: &Targets, fixed: &FixedVertices) -> Partition {
    let mut blocks: Vec<Option<BlockId>> = graph.nodes().map(|vertex| fixed.of(vertex)).collect();
    let mut room = targets.bounds().to_vec();
    fixed.iter().for_each(|(vertex, block)| room[block as usize] -= graph.node_weight(vertex));
    let free = blocks.iter().filter(|block| block.is_none()).count();
    for _ in 0..free {
        let near = |vertex: NodeId, block: BlockId, blocks: &[Option<BlockId>]| -> Weight {
            let there = graph.arcs(vertex).filter(|&(to, _)| blocks[to as usize] == Some(block));
            there.map(|(_, weight)| weight).sum()
        };
        let waiting = graph.nodes().filter(|&vertex| blocks[vertex as usize].is_none());
        let moves = waiting.flat_map(|vertex| (0..room.len() as BlockId).map(move |block| (vertex, block)));
        let fits = moves.filter(|&(vertex, block)| room[block as usize] >= graph.node_weight(vertex));
        let (vertex, block) = fits
            .max_by_key(|&(vertex, block)| (near(vertex, block, &blocks), room[block as usize]))
            .expect("there is room");
        blocks[vertex as usize] = Some(block);
        room[block as usize] -= graph.node_weight(vertex);
    }
    Partition::of(graph, blocks.into_iter().flatten().collect(), targets)
}

#[test]
fn every_preset_leaves_fixed_vertices_and_meets_the_bounds() {
    let mut rng = Rng::new(21);
    for (name, graph) in [
        ("mesh", generate::mesh(14, 10, 1)),
        ("random", random_graph(80, 6, 9, &mut rng)),
        ("tiny", random_graph(9, 3, 9, &mut rng)),
    ] {
        for (num_blocks, epsilon) in [(2, 0.0), (5, 0.0), (8, 0.03), (1, 0.0)] {
            let targets = Targets::equal(&graph, num_blocks, epsilon).unwrap();
            for count in counts(graph.num_nodes()) {
                let fixed = random_fixed(&graph, &targets, count, &mut rng);
                for preset in PartitionPreset::ALL {
                    let targets = targets.clone().with_fixed(&graph, fixed.clone()).unwrap();
                    let partition = Partitioner::new(preset, count as u64).partition(&graph, &targets);
                    let context = format!("{name} {num_blocks} {epsilon} {count} {preset}");
                    assert_eq!(fixed.violated_by(partition.blocks()), None, "{context}");
                    let fresh = Partition::of(&graph, partition.blocks().to_vec(), &targets);
                    assert_eq!(partition, fresh, "{context}");
                    assert_eq!(partition.overload(), 0, "{context}");
                }
            }
        }
    }
}

#[test]
fn fixed_vertices_cost_little_where_a_good_partition_has_them() {
    let graph = generate::mesh(40, 30, 2);
    let targets = Targets::equal(&graph, 8, 0.03).unwrap();
    let partitioner = Partitioner::new(PartitionPreset::Eco, 1);
    let good = partitioner.partition(&graph, &targets);
    let mut rng = Rng::new(22);
    for share in [2, 10, 100] {
        let mut fixed = FixedVertices::none(1200, 8);
        for vertex in graph.nodes().filter(|_| rng.below(share) == 0) {
            fixed.fix(vertex, good.blocks()[vertex as usize]).unwrap();
        }
        let targets = targets.clone().with_fixed(&graph, fixed).unwrap();
        let around = Partitioner::new(PartitionPreset::Eco, 7).partition(&graph, &targets);
        assert!(around.cut() * 100 <= good.cut() * 106, "{share}: {} {}", around.cut(), good.cut());
    }
}

#[test]
fn partitions_around_fixed_vertices_are_better_than_a_greedy_one() {
    let mut rng = Rng::new(23);
    let graph = generate::mesh(20, 15, 3);
    for count in [3, 30, 150] {
        let targets = Targets::equal(&graph, 6, 0.03).unwrap();
        let fixed = random_fixed(&graph, &targets, count, &mut rng);
        let targets = targets.with_fixed(&graph, fixed.clone()).unwrap();
        let simple = greedy(&graph, &targets, &fixed);
        let partition = Partitioner::new(PartitionPreset::Eco, 3).partition(&graph, &targets);
        assert!(partition.cut() < simple.cut(), "{count}: {} {}", partition.cut(), simple.cut());
    }
}

#[test]
fn fixed_vertices_that_are_too_heavy_are_reported_as_overload() {
    let graph = generate::grid(4, 2);
    let targets = Targets::equal(&graph, 2, 0.0).unwrap();
    let mut fixed = FixedVertices::none(8, 2);
    (0..6).for_each(|vertex| fixed.fix(vertex, 1).unwrap());
    assert_eq!(fixed.loads(&graph), [0, 6]);
    let targets = targets.with_fixed(&graph, fixed.clone()).unwrap();
    for preset in PartitionPreset::ALL {
        let partition = Partitioner::new(preset, 0).partition(&graph, &targets);
        assert_eq!((partition.block_weights(), partition.overload()), (&[2, 6][..], 2));
    }
}

#[test]
fn contradictions_are_refused_with_the_vertex() {
    let graph = generate::grid(3, 1);
    let refused = |fixed| Targets::proportional(&graph, &[1, 0, 2], 0.0).unwrap().with_fixed(&graph, fixed);
    assert_eq!(
        refused(FixedVertices::none(4, 3)).unwrap_err(),
        FixedError::Vertices { found: 4, expected: 3 }
    );
    assert_eq!(refused(FixedVertices::none(3, 2)).unwrap_err(), FixedError::Blocks { found: 2, expected: 3 });
    let closed = FixedVertices::new(&[None, Some(1), None], 3).unwrap();
    assert_eq!(refused(closed).unwrap_err(), FixedError::NoCapacity { vertex: 1, block: 1 });
    let open = FixedVertices::new(&[None, Some(2), Some(0)], 3).unwrap();
    let targets = refused(open).unwrap();
    let partition = Partitioner::new(PartitionPreset::Eco, 0).partition(&graph, &targets);
    assert_eq!(partition.blocks(), [2, 2, 0]);
}

#[test]
fn every_algorithm_leaves_fixed_vertices() {
    let mut rng = Rng::new(24);
    let graph = generate::grid(16, 9);
    let points = (0..144).flat_map(|vertex| [f64::from(vertex % 16), f64::from(vertex / 16)]);
    let points = Coordinates::new(2, points.collect()).unwrap();
    let input = PartitionInput::new(&graph).with_coordinates(&points);
    let tree = Hierarchy::parse("2:3", "1:10").unwrap();
    let machine = PreparedMachine::new(&tree);
    let config = Config::default().with_neighbourhood(Neighbourhood::None);
    let along = |algorithm, fixed: Option<&FixedVertices>| {
        let (coordinates, grouping) = (Some(&points), Grouping::default());
        let initial = Initial::Along(Order::Algorithm { algorithm, coordinates, grouping });
        let request = Request::new(&graph, &machine).balanced(Balance::default());
        request.initial(initial).fixed(fixed).solve(&config).unwrap().mapping
    };
    for algorithm in PartitionAlgorithm::ALL {
        for count in counts(144) {
            let targets = Targets::equal(&graph, 6, 0.0).unwrap();
            let fixed = random_fixed(&graph, &targets, count, &mut rng);
            let targets = targets.with_fixed(&graph, fixed.clone()).unwrap();
            let partition = algorithm.partition(&input, &targets).unwrap();
            assert_eq!(fixed.violated_by(partition.blocks()), None, "{algorithm} {count}");
            assert_eq!(partition.block_weights(), [24; 6], "{algorithm} {count}");
            let mapping = along(algorithm, Some(&fixed));
            assert_eq!(fixed.violated_by(mapping.pes()), None, "{algorithm} {count}");
        }
        let plain = algorithm.partition(&input, &Targets::equal(&graph, 6, 0.0).unwrap()).unwrap();
        assert_eq!(along(algorithm, None).pes(), plain.blocks());
    }
}

/// Vertices per PE in the tests of machines.
const PER_PE: usize = 3;

fn graph_for(family: &Family, rng: &mut Rng) -> CsrGraph {
    random_graph(PER_PE * family.num_places(), 4, 9, rng)
}

fn targets_of(family: &Family, graph: &CsrGraph) -> Targets {
    let capacities: Vec<u32> = family.room.iter().map(|&room| room as u32).collect();
    Targets::proportional(graph, &capacities, 0.0).unwrap()
}

#[test]
fn many_to_one_mappings_leave_fixed_vertices_on_every_machine() {
    let mut rng = Rng::new(25);
    for (number, family) in families(&mut rng).into_iter().enumerate() {
        let machine = &*family.machine;
        let graph = graph_for(&family, &mut rng);
        // One of the counts on each machine.
        let count = counts(graph.num_nodes())[number % 4];
        // The better preset takes its time, and runs on small machines.
        let preset = if family.num_places() < 10 { MapPreset::Eco } else { MapPreset::Fast };
        let fixed = random_fixed(&graph, &targets_of(&family, &graph), count, &mut rng);
        let config = Config::preset(preset);
        let context = format!("{} {preset} {count}", family.name);
        let first = solved!(
            &graph,
            machine,
            &config,
            balanced(Balance::default().with_imbalance(0.0)),
            fixed(&fixed)
        );
        assert_eq!(fixed.violated_by(first.mapping.pes()), None, "{context}");
        assert_eq!(i128::from(first.report.cost), family.cost(&graph, first.mapping.pes()), "{context}");
        assert_eq!(first.report.loads.unwrap().overload, 0, "{context}");
        let again = Request::new(&graph, &PreparedMachine::new(machine))
            .balanced(Balance::default().with_imbalance(0.0))
            .start(&first.mapping)
            .fixed(&fixed)
            .solve(&config.with_seed(3));
        let again = again.unwrap();
        assert_eq!(fixed.violated_by(again.mapping.pes()), None, "{context}");
        assert!(again.report.cost <= first.report.cost, "{context}");
        let stop = StopAfter::questions(3);
        let stopped = Request::new(&graph, &PreparedMachine::new(machine))
            .balanced(Balance::default().with_imbalance(0.0))
            .fixed(&fixed)
            .observed(&stop)
            .solve(&config)
            .unwrap();
        assert_eq!(fixed.violated_by(stopped.mapping.pes()), None, "{context}");
    }
}

#[test]
fn remapping_leaves_fixed_vertices_on_every_machine() {
    let mut rng = Rng::new(26);
    for (number, family) in families(&mut rng).into_iter().enumerate() {
        let machine = &*family.machine;
        let graph = graph_for(&family, &mut rng);
        let config = Config::preset(MapPreset::Fast);
        let old = solved!(&graph, machine, &config, balanced(Balance::default().with_imbalance(0.1))).mapping;
        let homes = PreviousAssignment::new(old.pes(), machine.num_pes()).unwrap();
        // One of the counts and weights on each machine.
        let (count, weight) = (counts(graph.num_nodes())[number % 4], ["0", "0.5", "3", "1000"][number % 4]);
        let fixed = random_fixed(&graph, &targets_of(&family, &graph), count, &mut rng);
        let resumed = Remapping::new(&homes, weight.parse().unwrap());
        let new = Request::new(&graph, &PreparedMachine::new(machine))
            .balanced(Balance::default().with_imbalance(0.1))
            .fixed(&fixed)
            .previous(resumed)
            .solve(&config);
        let new = new.unwrap();
        let context = format!("{} {count} {weight}", family.name);
        assert_eq!(fixed.violated_by(new.mapping.pes()), None, "{context}");
        assert_eq!(i128::from(new.report.cost), family.cost(&graph, new.mapping.pes()), "{context}");
        assert_eq!(new.report.migration, Some(homes.migration(&graph, new.mapping.pes())), "{context}");
        assert_eq!(new.report.loads.unwrap().overload, 0, "{context}");
    }
}

#[test]
fn repartitioning_leaves_fixed_vertices() {
    let mut rng = Rng::new(27);
    let graph = generate::mesh(30, 20, 4);
    let targets = Targets::equal(&graph, 6, 0.03).unwrap();
    let partitioner = Partitioner::new(PartitionPreset::Eco, 0);
    let old = partitioner.partition(&graph, &targets).into_blocks();
    let homes = PreviousAssignment::new(&old, 6).unwrap();
    for weight in ["0", "0.5", "1", "100"] {
        for count in counts(600) {
            let fixed = random_fixed(&graph, &targets, count, &mut rng);
            let targets = targets.clone().with_fixed(&graph, fixed.clone()).unwrap();
            let new = partitioner
                .remap(&graph, &targets, Remapping::new(&homes, weight.parse().unwrap()))
                .and_then(|found| found.into_best(weight.parse().unwrap()))
                .unwrap();
            assert_eq!(fixed.violated_by(new.partition.blocks()), None, "{weight} {count}");
            assert_eq!(new.migration, homes.migration(&graph, new.partition.blocks()), "{weight} {count}");
            assert_eq!(new.partition.overload(), 0, "{weight} {count}");
        }
    }
}

#[test]
fn a_start_that_contradicts_fixed_vertices_is_refused() {
    let (graph, machine) = (generate::grid(8, 1), Hierarchy::parse("2", "1").unwrap());
    let start = Mapping::many(2, vec![0, 0, 0, 0, 1, 1, 1, 1]).unwrap();
    let mut fixed = FixedVertices::none(8, 2);
    fixed.fix(5, 0).unwrap();
    let config = Config::preset(MapPreset::Fast);
    match Request::new(&graph, &PreparedMachine::new(&machine))
        .balanced(Balance::default())
        .start(&start)
        .fixed(&fixed)
        .solve(&config)
        .unwrap_err()
    {
        SolveError::Fixed(error) => {
            assert_eq!(error, FixedError::Contradicted { process: 5, expected: 0, found: 1 });
        }
        error => panic!("{error}"),
    }
}

#[test]
fn the_strong_preset_leaves_fixed_vertices() {
    let mut rng = Rng::new(28);
    let (graph, machine) = (generate::mesh(16, 10, 5), Hierarchy::parse("2:4", "1:10").unwrap());
    let fixed = random_fixed(&graph, &Targets::equal(&graph, 8, 0.0).unwrap(), 40, &mut rng);
    let config = Config::preset(MapPreset::Strong);
    let solution =
        solved!(&graph, &machine, &config, balanced(Balance::default().with_imbalance(0.0)), fixed(&fixed));
    assert_eq!(fixed.violated_by(solution.mapping.pes()), None);
    assert_eq!(solution.report.loads.unwrap().overload, 0);
}
