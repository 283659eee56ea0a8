//! No block is empty that need not be, whatever its vertices weigh.

use crate::common::{families, random_graph, with_node_weights};
use viem::base::rng::Rng;
use viem::base::types::{BlockId, NodeId, Weight};
use viem::graph::{Coordinates, CsrGraph, generate};
use viem::machine::Hierarchy;
use viem::mapping::search::Neighbourhood;
use viem::partition::{
    FixedVertices, OrderIndex, PartitionAlgorithm, PartitionInput, PartitionPreset, Partitioner,
    PreviousAssignment, Remapping, Targets,
};
use viem::solve::{Balance, Config, Initial, MapPreset, PreparedMachine, Request};

/// The same graph where most vertices weigh nothing.
fn mostly_weightless(graph: &CsrGraph, heaviest: u32, rng: &mut Rng) -> CsrGraph {
    let weight = |rng: &mut Rng| if rng.below(4) == 0 { Weight::from(rng.below(heaviest + 1)) } else { 0 };
    let weights: Vec<Weight> = (0..graph.num_nodes()).map(|_| weight(rng)).collect();
    with_node_weights(graph, &weights)
}

/// Returns the misses of blocks: the overload, the shortfall, and the number of empty ones besides those of capacity 0.
fn missed(
    graph: &CsrGraph,
    targets: &Targets,
    capacities: &[u32],
    blocks: &[BlockId],
) -> (Weight, Weight, usize) {
    let (mut weights, mut counts) = (vec![0; capacities.len()], vec![0; capacities.len()]);
    for (vertex, &block) in blocks.iter().enumerate() {
        weights[block as usize] += graph.node_weight(vertex as NodeId);
        counts[block as usize] += 1;
    }
    let above = weights.iter().zip(targets.bounds()).map(|(weight, bound)| (weight - bound).max(0)).sum();
    let below =
        weights.iter().zip(targets.least_loads()).map(|(weight, least)| (least - weight).max(0)).sum();
    let empty = counts.iter().zip(capacities).filter(|&(&count, &capacity)| count == 0 && capacity > 0);
    (above, below, empty.count())
}

/// All assignments that leave fixed vertices where they are and use no block of capacity 0.
fn each_assignment(
    graph: &CsrGraph,
    targets: &Targets,
    capacities: &[u32],
    visit: &mut dyn FnMut(&[BlockId]),
) {
    fn extend(
        targets: &Targets,
        capacities: &[u32],
        blocks: &mut [BlockId],
        at: usize,
        visit: &mut dyn FnMut(&[BlockId]),
    ) {
        if at == blocks.len() {
            return visit(blocks);
        }
        let fixed = targets.fixed().and_then(|fixed| fixed.of(at as NodeId));
        for block in (0..capacities.len() as BlockId).filter(|&block| capacities[block as usize] > 0) {
            if fixed.is_none_or(|fixed| fixed == block) {
                blocks[at] = block;
                extend(targets, capacities, blocks, at + 1, visit);
            }
        }
    }
    extend(targets, capacities, &mut vec![0; graph.num_nodes()], 0, visit);
}

fn is_valid(targets: &Targets, capacities: &[u32], blocks: &[BlockId], context: &str) {
    assert!(blocks.iter().all(|&block| capacities[block as usize] > 0), "{context}: {blocks:?}");
    let fixed = targets.fixed().and_then(|fixed| fixed.violated_by(blocks));
    assert_eq!(fixed, None, "{context}: {blocks:?}");
}

/// A division of a graph by each door of the library.
fn each_division(
    graph: &CsrGraph,
    targets: &Targets,
    seed: u64,
    visit: &mut dyn FnMut(String, Vec<BlockId>),
) {
    let n = graph.num_nodes();
    let mut rng = Rng::new(seed);
    let points = Coordinates::new(2, (0..2 * n).map(|_| rng.unit()).collect()).unwrap();
    let input = PartitionInput::new(graph).with_coordinates(&points).with_preset(PartitionPreset::Fast);
    for algorithm in PartitionAlgorithm::ALL {
        let partition = algorithm.partition(&input.with_seed(seed), targets).unwrap();
        visit(algorithm.to_string(), partition.into_blocks());
    }
    for preset in [PartitionPreset::Eco, PartitionPreset::StrongSocial] {
        visit(preset.to_string(), Partitioner::new(preset, seed).partition(graph, targets).into_blocks());
    }
    let homes: Vec<BlockId> = (0..n).map(|_| rng.below(targets.num_blocks() as u32)).collect();
    for (homes, name) in [(vec![0; n], "remapped from one block"), (homes, "remapped")] {
        let homes = PreviousAssignment::new(&homes, targets.num_blocks()).unwrap();
        for weight in ["0", "1", "1000"] {
            let partitioner = Partitioner::new(PartitionPreset::Fast, seed);
            let remapped = partitioner
                .remap(graph, targets, Remapping::new(&homes, weight.parse().unwrap()))
                .and_then(|found| found.into_best(weight.parse().unwrap()))
                .unwrap();
            visit(format!("{name}, {weight}"), remapped.partition.into_blocks());
        }
    }
}

#[test]
fn equal_blocks_of_any_algorithm_have_vertices_if_there_are_enough() {
    let mut rng = Rng::new(61);
    for round in 0..18 {
        let n = 4 + rng.below(60) as usize;
        let graph = random_graph(n, 1 + round % 4, 4, &mut rng);
        let graph = mostly_weightless(&graph, [0, 1, 9][round % 3], &mut rng);
        let k = 1 + rng.below(n as u32) as usize;
        let targets = Targets::equal(&graph, k, [0.0, 0.03, 0.5][round % 3]).unwrap();
        each_division(&graph, &targets, round as u64, &mut |name, blocks| {
            let missed = missed(&graph, &targets, &vec![1; k], &blocks);
            assert_eq!(missed.2, 0, "round {round}, {name}: {k} blocks, {blocks:?}");
        });
        let mut order: Vec<NodeId> = graph.nodes().collect();
        rng.shuffle(&mut order);
        let blocks = OrderIndex::of_order(&order).unwrap().cut(graph.node_weights(), &targets);
        assert_eq!(missed(&graph, &targets, &vec![1; k], &blocks).2, 0, "round {round}, index: {blocks:?}");
    }
}

#[test]
fn unequal_blocks_of_any_algorithm_have_vertices_if_there_are_enough() {
    let mut rng = Rng::new(64);
    for round in 0..24 {
        let n = 12 + rng.below(40) as usize;
        let graph = random_graph(n, 1 + round % 4, 4, &mut rng).with_unit_node_weights();
        let is_unit = round % 2 == 0;
        let graph = if is_unit { graph } else { mostly_weightless(&graph, [0, 1, 9][round % 3], &mut rng) };
        let capacities: Vec<u32> =
            (0..2 + rng.below(10)).map(|_| [0, 1, 1, 2, 100, 1000][rng.below(6) as usize]).collect();
        let Ok(targets) = Targets::proportional(&graph, &capacities, [0.0, 0.03][round / 2 % 2]) else {
            continue;
        };
        let check = |name: &str, blocks: &[BlockId]| {
            let (above, _, empty) = missed(&graph, &targets, &capacities, blocks);
            assert_eq!(empty, 0, "round {round}, {name}: {capacities:?}, {blocks:?}");
            assert!(!is_unit || above == 0, "round {round}, {name}: {capacities:?}, {blocks:?}");
        };
        each_division(&graph, &targets, round as u64, &mut |name, blocks| check(&name, &blocks));
        let order: Vec<NodeId> = graph.nodes().collect();
        let index = OrderIndex::of_order(&order).unwrap();
        check("index", &index.cut(graph.node_weights(), &targets));
        if is_unit && targets.are_exact() {
            let near = targets.clone().near(&capacities, &vec![0; capacities.len()]);
            check("in order", &targets.in_order(&graph));
            assert_eq!(near.num_empty(&near.in_order(&graph)), 0, "round {round}: {capacities:?}");
        }
    }
}

#[test]
fn blocks_of_tiny_graphs_are_empty_only_if_all_assignments_as_good_leave_as_many() {
    let mut rng = Rng::new(62);
    let (mut left, mut runs) = (0, 0);
    for round in 0..90 {
        let n = 3 + rng.below(4) as usize;
        let heaviest = [1, 3, 9][round % 3];
        let graph = mostly_weightless(&random_graph(n, 2, 3, &mut rng), heaviest, &mut rng);
        let capacities: Vec<u32> =
            (0..2 + rng.below(2)).map(|_| [0, 1, 1, 2, 5][rng.below(5) as usize]).collect();
        let Ok(mut targets) = Targets::proportional(&graph, &capacities, [0.0, 0.5][round % 2]) else {
            continue;
        };
        if round % 4 == 0 {
            let mut fixed = FixedVertices::none(n, capacities.len());
            let open = (0..capacities.len() as BlockId).find(|&block| capacities[block as usize] > 0);
            fixed.fix(0, open.unwrap()).unwrap();
            targets = targets.with_fixed(&graph, fixed).unwrap();
        }
        let mut found = Vec::new();
        each_division(&graph, &targets, round as u64, &mut |name, blocks| found.push((name, blocks)));
        let mut assignments = Vec::new();
        each_assignment(&graph, &targets, &capacities, &mut |blocks| {
            assignments.push(missed(&graph, &targets, &capacities, blocks));
        });
        for (name, blocks) in found {
            let context = format!("round {round}, {name}");
            is_valid(&targets, &capacities, &blocks, &context);
            let own = missed(&graph, &targets, &capacities, &blocks);
            runs += 1;
            let best =
                assignments.iter().filter(|other| other.0 <= own.0).map(|other| other.2).min().unwrap();
            // Where bounds are exceeded anyway, vertices of other weights would have to change places.
            if own.0 == 0 {
                assert_eq!(
                    own.2,
                    best,
                    "{context}: {blocks:?} {:?} {:?}",
                    graph.node_weights(),
                    targets.bounds()
                );
            }
            left += usize::from(own.2 > best);
        }
    }
    assert!(left * 50 <= runs, "{left} of {runs}");
}

#[test]
fn vertices_are_passed_on_to_blocks_that_are_too_small_for_others() {
    // Vertices of weight 1, 5 and 5; only the light one fits the last block, and it is alone in the first.
    let graph = with_node_weights(&generate::grid(3, 1), &[1, 5, 5]);
    let targets = Targets::sizes(&graph, vec![5, 5, 1], 0.0).unwrap().with_bounds(vec![5, 10, 1]).unwrap();
    let homes = PreviousAssignment::new(&[0, 1, 1], 3).unwrap();
    let partitioner = Partitioner::new(PartitionPreset::Fast, 0);
    let remapped = partitioner
        .remap(&graph, &targets, Remapping::new(&homes, "1000".parse().unwrap()))
        .and_then(|found| found.into_best("1000".parse().unwrap()))
        .unwrap();
    assert_eq!(remapped.partition.blocks()[0], 2);
    assert_eq!(targets.num_empty(remapped.partition.blocks()), 0);
}

#[test]
fn blocks_whose_bound_is_0_get_vertices_of_weight_0() {
    // As the library for METIS has them: sizes sum up to less than there are blocks.
    for (weights, sizes) in [
        ([1, 0, 0, 0, 0, 0], vec![1, 0]),
        ([2, 0, 0, 0, 0, 0], vec![1, 0, 1]),
        ([0, 0, 1, 0, 0, 0], vec![0, 1, 0]),
        ([1, 1, 0, 0, 0, 0], vec![1, 0, 1]),
        ([1, 0, 0, 0, 0, 1], vec![1, 0, 1]),
        ([0, 0, 0, 0, 0, 0], vec![0, 0, 0, 0, 0, 0]),
    ] {
        let graph = with_node_weights(&generate::grid(6, 1), &weights);
        let targets = Targets::sizes(&graph, sizes, 0.0).unwrap();
        each_division(&graph, &targets, 1, &mut |name, blocks| {
            assert_eq!(targets.num_empty(&blocks), 0, "{name}, {weights:?}: {blocks:?}");
        });
    }
}

#[test]
fn ranges_of_an_order_are_not_empty_unless_they_would_exceed_their_bounds() {
    let path = |weights: &[Weight]| with_node_weights(&generate::grid(weights.len(), 1), weights);
    let cut_by = |weights: &[Weight], targets: Targets| {
        let order: Vec<NodeId> = (0..weights.len() as NodeId).collect();
        OrderIndex::of_order(&order).unwrap().cut(weights, &targets)
    };
    let cut = |weights: &[Weight], capacities: &[u32]| {
        cut_by(weights, Targets::proportional(&path(weights), capacities, 0.0).unwrap())
    };
    let cut_within = |weights: &[Weight], sizes: &[Weight], bounds: &[Weight]| {
        let targets = Targets::sizes(&path(weights), sizes.to_vec(), 0.0).unwrap();
        cut_by(weights, targets.with_bounds(bounds.to_vec()).unwrap())
    };
    assert_eq!(cut(&[1, 0, 0, 0, 0, 0], &[1, 1]), [0, 1, 1, 1, 1, 1]);
    assert_eq!(cut(&[0, 0, 0, 0, 0, 1], &[1, 1, 1]), [0, 0, 0, 0, 1, 2]);
    assert_eq!(cut(&[0, 0, 10, 10], &[1, 1, 1]), [0, 0, 1, 2]);
    assert_eq!(cut(&[0, 0, 0, 0], &[1, 1, 0, 1]), [0, 0, 1, 3]);
    // The first range would get the heavy vertex.
    assert_eq!(cut_within(&[50, 0, 0, 0], &[5, 45], &[5, 45]), [1, 1, 1, 1]);
    let (sizes, bounds) = ([0, 1, 1, 39, 39], [1, 1, 1, 39, 39]);
    assert_eq!(cut_within(&[0, 0, 0, 40, 40], &sizes, &bounds), [0, 1, 2, 3, 4]);
    // So it would here; the fourth gets one.
    let (sizes, bounds) = ([0, 39, 1, 1, 39], [1, 39, 1, 1, 39]);
    assert_eq!(cut_within(&[40, 0, 0, 0, 40], &sizes, &bounds), [1, 2, 2, 3, 4]);
}

#[test]
fn pes_of_any_machine_have_vertices_if_there_are_enough() {
    let mut rng = Rng::new(63);
    for round in 0..3usize {
        // Each family takes part in one of the rounds.
        let families = families(&mut rng).into_iter().skip(round).step_by(3);
        for family in families.filter(|family| family.room.len() <= 40) {
            let (pes, machine) = (family.room.len(), &*family.machine);
            let n = pes + rng.below(40) as usize;
            let mut graph = random_graph(n, 1 + round % 4, 4, &mut rng);
            if round > 0 {
                graph = mostly_weightless(&graph, [0, 1, 9][round - 1], &mut rng);
            }
            let config = Config::preset([MapPreset::Fast, MapPreset::Eco][round % 2]);
            let balance = Balance::default().with_imbalance([0.03, 0.0][rng.below(2) as usize]);
            let context = format!("{}, round {round}", family.name);
            let check = |pes: &[BlockId], name: &str| {
                let mut counts = vec![0; family.room.len()];
                pes.iter().for_each(|&pe| counts[pe as usize] += 1);
                let is_wrong = |(&count, &room): (&i32, &usize)| (count == 0) != (room == 0);
                assert!(!counts.iter().zip(&family.room).any(is_wrong), "{context}, {name}: {counts:?}");
            };
            let mapped = solved!(&graph, machine, &config, balanced(balance));
            check(mapped.mapping.pes(), "mapped");
            assert_eq!(mapped.report.loads.unwrap().empty, 0);
            let first = (0..pes as BlockId).find(|&pe| family.room[pe as usize] > 0).unwrap();
            let homes = PreviousAssignment::new(&vec![first; n], pes).unwrap();
            for weight in ["0", "9"] {
                let solution = Request::new(&graph, &PreparedMachine::new(machine))
                    .balanced(balance)
                    .previous(Remapping::new(&homes, weight.parse().unwrap()))
                    .solve(&config);
                check(solution.unwrap().mapping.pes(), "remapped");
            }
            let along = solved!(
                &graph,
                machine,
                &config.with_neighbourhood(Neighbourhood::None),
                balanced(balance),
                initial(Initial::Along(PartitionAlgorithm::Linear.into()))
            );
            check(along.mapping.pes(), "along");
        }
    }
}

#[test]
fn grids_on_machines_use_each_pe() {
    let grid = generate::grid(8, 8);
    for (arities, distances) in [("5:4", "1:10"), ("4:5:1", "1:10:100")] {
        let machine = Hierarchy::parse(arities, distances).unwrap();
        for preset in [MapPreset::Fast, MapPreset::Eco] {
            let loads = solved!(&grid, &machine, &Config::preset(preset), balanced(Balance::default()))
                .report
                .loads
                .unwrap();
            assert!(
                loads.empty == 0 && loads.least > 0 && loads.overload == 0,
                "{arities} {preset}: {loads:?}"
            );
        }
    }
}
