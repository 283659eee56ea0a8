//! One suite over all partitioning algorithms.

use crate::common::{check_partition, random_graph, star, with_node_weights};
use viem::base::rng::Rng;
use viem::base::threads;
use viem::base::types::{NodeId, Weight};
use viem::graph::{Coordinates, CsrGraph, GraphBuilder, generate};
use viem::partition::{
    Grouping, OrderIndex, Partition, PartitionAlgorithm, PartitionAlgorithmError, PartitionInput,
    PartitionPreset, Partitioner, PreviousAssignment, Remapping, Targets,
};

fn random_points(n: usize, dimension: usize, rng: &mut Rng) -> Coordinates {
    Coordinates::new(dimension, (0..n * dimension).map(|_| rng.unit() * 8.0 - 4.0).collect()).unwrap()
}

fn with_random_weights(graph: &CsrGraph, heaviest: u32, rng: &mut Rng) -> CsrGraph {
    let weights: Vec<Weight> = graph.nodes().map(|_| Weight::from(rng.below(heaviest)) + 1).collect();
    with_node_weights(graph, &weights)
}

/// A partition that is what it says of itself.
fn divide(algorithm: PartitionAlgorithm, input: &PartitionInput<'_>, targets: &Targets) -> Partition {
    let partition = algorithm.partition(input, targets).unwrap();
    check_partition(input.graph, &partition);
    assert_eq!(partition.block_weights().len(), targets.num_blocks());
    partition
}

#[test]
fn loads_are_exact_for_speeds_of_all_kinds() {
    let mut rng = Rng::new(1);
    for round in 0..60 {
        let n = 1 + rng.below(if round % 10 == 0 { 400 } else { 70 }) as usize;
        // Sparse graphs are disconnected, and k sometimes exceeds n.
        let graph = random_graph(n, round % 5, 4, &mut rng);
        let points = random_points(n, 1 + round % 4, &mut rng);
        let speeds: Vec<u32> = (0..1 + rng.below(12)).map(|_| rng.below(9)).collect();
        let Ok(targets) = Targets::proportional(&graph, &speeds, 0.0) else { continue };
        for (algorithm, grouping) in
            PartitionAlgorithm::ALL.into_iter().zip(Grouping::ALL.into_iter().cycle())
        {
            let input = PartitionInput::new(&graph).with_coordinates(&points).with_grouping(grouping);
            let input = input.with_preset(PartitionPreset::Fast).with_seed(round as u64);
            let partition = divide(algorithm, &input, &targets);
            assert_eq!(partition.block_weights(), targets.block_sizes(), "{algorithm}, round {round}");
        }
    }
}

#[test]
fn vertex_weights_are_respected() {
    let mut rng = Rng::new(2);
    for round in 0..30 {
        let n = 40 + rng.below(200) as usize;
        let graph = with_random_weights(&random_graph(n, 5, 3, &mut rng), 9, &mut rng);
        let points = random_points(n, 2 + round % 3, &mut rng);
        let speeds: Vec<u32> = (0..1 + rng.below(8)).map(|_| 1 + rng.below(4)).collect();
        let targets = Targets::proportional(&graph, &speeds, 0.0).unwrap();
        for algorithm in PartitionAlgorithm::ALL {
            let input =
                PartitionInput::new(&graph).with_coordinates(&points).with_preset(PartitionPreset::Fast);
            let partition = divide(algorithm, &input, &targets);
            // A cut deviates by at most half a vertex, and there are three levels of cuts.
            let most = if algorithm.is_recursive() { 3 * 9 } else { 9 };
            for (load, size) in partition.block_weights().iter().zip(targets.block_sizes()) {
                assert!((load - size).abs() <= most, "{algorithm}, round {round}: {load} instead of {size}");
            }
        }
    }
}

#[test]
fn parts_of_speed_0_stay_empty_whatever_vertices_weigh() {
    let mut rng = Rng::new(8);
    for round in 0..40 {
        let n = 2 + rng.below(60) as usize;
        let mut builder = GraphBuilder::new(n);
        (1..n as NodeId).for_each(|node| builder.add_edge(node - 1, node, 1));
        let heaviest = round % 4;
        (0..n as NodeId).for_each(|node| builder.set_node_weight(node, rng.below(1 + heaviest).into()));
        let graph = builder.build().unwrap();
        let points = random_points(n, 2, &mut rng);
        let mut speeds: Vec<u32> = (0..1 + rng.below(6)).map(|_| rng.below(2)).collect();
        speeds.push(1);
        rng.shuffle(&mut speeds);
        let targets = Targets::proportional(&graph, &speeds, 0.03).unwrap();
        let check = |blocks: &[u32], what: &str| {
            let is_open = |&block: &u32| speeds[block as usize] > 0;
            assert!(blocks.iter().all(is_open), "{what}, round {round}, speeds {speeds:?}: {blocks:?}");
        };
        for algorithm in PartitionAlgorithm::ALL {
            let input =
                PartitionInput::new(&graph).with_coordinates(&points).with_preset(PartitionPreset::Fast);
            check(divide(algorithm, &input, &targets).blocks(), algorithm.name());
            let index = OrderIndex::of_order(&algorithm.order(&input).unwrap()).unwrap();
            check(&index.cut(graph.node_weights(), &targets), "index");
        }
        let old: Vec<u32> = (0..n).map(|_| rng.below(speeds.len() as u32)).collect();
        let homes = PreviousAssignment::new(&old, speeds.len()).unwrap();
        let partitioner = Partitioner::new(PartitionPreset::Fast, 1);
        for weight in ["0", "1"] {
            let weight = weight.parse().unwrap();
            let remapped = partitioner
                .remap(&graph, &targets, Remapping::new(&homes, weight))
                .and_then(|found| found.into_best(weight))
                .unwrap();
            check_partition(&graph, &remapped.partition);
            check(remapped.partition.blocks(), "remapped");
            assert_eq!(remapped.migration, homes.migration(&graph, remapped.partition.blocks()));
        }
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let mut rng = Rng::new(3);
    let graph = with_random_weights(&generate::random_geometric(1500, 6.0, 2), 5, &mut rng);
    let points = random_points(1500, 3, &mut rng);
    let targets = Targets::proportional(&graph, &[3, 1, 4, 1, 5, 9], 0.01).unwrap();
    for algorithm in PartitionAlgorithm::ALL {
        let run = |threads, seed| {
            let input = PartitionInput::new(&graph)
                .with_coordinates(&points)
                .with_preset(PartitionPreset::Fast)
                .with_seed(seed);
            threads::run(threads, || (divide(algorithm, &input, &targets), algorithm.order(&input).unwrap()))
                .unwrap()
        };
        let alone = run(1, 7);
        assert_eq!(run(3, 7), alone, "{algorithm}");
        assert_eq!(run(1, 7), alone, "{algorithm}");
    }
}

#[test]
fn orders_are_permutations_that_any_speeds_cut() {
    let mut rng = Rng::new(4);
    for n in [0, 1, 2, 3, 50, 333] {
        let graph = random_graph(n, 3, 2, &mut rng);
        let points = random_points(n, 2, &mut rng);
        for algorithm in PartitionAlgorithm::ALL {
            let input =
                PartitionInput::new(&graph).with_coordinates(&points).with_preset(PartitionPreset::Fast);
            let index = OrderIndex::of_order(&algorithm.order(&input).unwrap()).expect("each vertex once");
            for speeds in [&[1][..], &[1, 1, 1], &[0, 5, 0, 2, 9]] {
                let targets = Targets::proportional(&graph, speeds, 0.0).unwrap();
                let blocks = index.cut(graph.node_weights(), &targets);
                let partition = Partition::of(&graph, blocks, &targets);
                assert_eq!(partition.block_weights(), targets.block_sizes(), "{algorithm}, {n} vertices");
            }
        }
    }
}

#[test]
fn extremes_of_graphs_and_parts_are_divided() {
    let mut rng = Rng::new(5);
    let star = star(60, 0);
    let edgeless = |n| GraphBuilder::new(n).build().unwrap();
    for graph in [edgeless(0), edgeless(1), edgeless(2), edgeless(40), star, generate::grid(9, 9)] {
        let n = graph.num_nodes();
        let one_place = Coordinates::new(3, vec![2.5; 3 * n]).unwrap();
        for points in [random_points(n, 4, &mut rng), one_place] {
            for k in [1, 2, 7, n.max(1), n + 5] {
                let targets = Targets::equal(&graph, k, 0.0).unwrap();
                for algorithm in PartitionAlgorithm::ALL {
                    let input = PartitionInput::new(&graph)
                        .with_coordinates(&points)
                        .with_preset(PartitionPreset::Fast);
                    let partition = divide(algorithm, &input, &targets);
                    let mut loads = partition.block_weights().to_vec();
                    loads.sort_unstable_by(|a, b| b.cmp(a));
                    assert_eq!(loads, targets.block_sizes(), "{algorithm}, {n} vertices, {k} parts");
                }
            }
        }
    }
}

#[test]
fn a_grid_is_cut_along_its_lines() {
    let graph = generate::grid(16, 8);
    let points = (0..128).flat_map(|node| [f64::from(node % 16), f64::from(node / 16)]);
    let points = Coordinates::new(2, points.collect()).unwrap();
    let targets = Targets::equal(&graph, 2, 0.0).unwrap();
    for algorithm in [
        PartitionAlgorithm::Multilevel,
        PartitionAlgorithm::Rcb,
        PartitionAlgorithm::Hilbert,
        PartitionAlgorithm::ZCurve,
        PartitionAlgorithm::Rsb,
    ] {
        let input = PartitionInput::new(&graph).with_coordinates(&points);
        assert_eq!(divide(algorithm, &input, &targets).cut(), 8, "{algorithm}");
    }
}

#[test]
fn components_are_kept_whole_as_far_as_they_fit() {
    // Rings of 4, 6 and 10 vertices.
    let mut builder = GraphBuilder::new(20);
    for (first, length) in [(0, 4), (4, 6), (10, 10)] {
        (0..length).for_each(|u: NodeId| builder.add_edge(first + u, first + (u + 1) % length, 1));
    }
    let graph = builder.build().unwrap();
    let cut = |speeds: &[u32]| {
        let targets = Targets::proportional(&graph, speeds, 0.0).unwrap();
        divide(PartitionAlgorithm::Rsb, &PartitionInput::new(&graph), &targets).cut()
    };
    assert_eq!(cut(&[1, 1]), 0);
    assert_eq!(cut(&[5, 3, 2]), 0);
    assert_eq!(cut(&[1, 1, 1, 1]), 4);
}

#[test]
fn coordinates_are_asked_for_where_they_are_needed() {
    let graph = generate::grid(5, 4);
    let targets = Targets::equal(&graph, 2, 0.0).unwrap();
    let few = Coordinates::new(2, vec![0.0; 38]).unwrap();
    for algorithm in PartitionAlgorithm::ALL {
        let without = algorithm.partition(&PartitionInput::new(&graph), &targets).map(|_| ());
        let input = PartitionInput::new(&graph).with_coordinates(&few);
        let with_few = algorithm.partition(&input, &targets).map(|_| ());
        if algorithm.needs_coordinates() {
            assert_eq!(without, Err(PartitionAlgorithmError::NoCoordinates { algorithm: algorithm.name() }));
            assert_eq!(with_few, Err(PartitionAlgorithmError::Points { found: 19, expected: 20 }));
        } else {
            assert_eq!((without, with_few), (Ok(()), Ok(())), "{algorithm}");
        }
    }
}
