//! Least loads: blocks and PEs get them wherever the bounds and the weights of the vertices allow it.

use crate::common::{StopAfter, families, random_graph, with_node_weights};
use viem::base::rng::Rng;
use viem::base::types::{BlockId, NodeId, Weight};
use viem::graph::{Coordinates, CsrGraph, generate};
use viem::machine::Blocks;
use viem::partition::{
    BoundViolation, FixedVertices, MigrationWeight, Partition, PartitionAlgorithm, PartitionInput,
    PartitionPreset, Partitioner, PreviousAssignment, Remapping, RemovedBlocks, Targets,
};
use viem::solve::{Balance, Config, MapPreset, Objective, Solution};

fn weighed(graph: CsrGraph, heaviest: u32, rng: &mut Rng) -> CsrGraph {
    let weights: Vec<Weight> =
        (0..graph.num_nodes()).map(|_| 1 + Weight::from(rng.below(heaviest))).collect();
    with_node_weights(&graph, &weights)
}

/// `percent` of the share of each capacity, rounded down.
fn least_of(total: Weight, capacities: &[u32], percent: u32) -> Vec<Weight> {
    let sum: i128 = capacities.iter().map(|&capacity| i128::from(capacity)).sum();
    let part = |&capacity: &u32| {
        (i128::from(percent) * i128::from(total) * i128::from(capacity)).div_euclid(100 * sum) as Weight
    };
    capacities.iter().map(part).collect()
}

fn targets(graph: &CsrGraph, capacities: &[u32], epsilon: f64, percent: u32) -> Targets {
    let least = Targets::least_shares(graph, capacities, f64::from(percent) / 100.0).unwrap();
    assert_eq!(least, least_of(graph.total_node_weight(), capacities, percent));
    Targets::proportional(graph, capacities, epsilon).unwrap().with_least_loads(least).unwrap()
}

/// The least violation of the bounds by any assignment that leaves fixed vertices where they are.
fn least_violation(graph: &CsrGraph, targets: &Targets, capacities: &[u32]) -> BoundViolation {
    let mut best = None;
    let mut weights = vec![0; capacities.len()];
    extend(graph, targets, capacities, (0, &mut weights), &mut best);
    best.expect("there is an assignment")
}

fn extend(
    graph: &CsrGraph,
    targets: &Targets,
    capacities: &[u32],
    (vertex, weights): (NodeId, &mut Vec<Weight>),
    best: &mut Option<BoundViolation>,
) {
    if vertex as usize == graph.num_nodes() {
        let least = targets.least_loads().iter().zip(&*weights);
        let shortfall = least.map(|(least, weight)| (least - weight).max(0)).sum();
        let excess = weights.iter().zip(targets.bounds()).map(|(weight, bound)| (weight - bound).max(0));
        let found = BoundViolation::new(excess.sum(), shortfall);
        *best = Some(best.map_or(found, |best| best.min(found)));
        return;
    }
    let fixed = targets.fixed().and_then(|fixed| fixed.of(vertex));
    for block in 0..capacities.len() {
        if fixed.map_or(capacities[block] > 0, |fixed| fixed as usize == block) {
            weights[block] += graph.node_weight(vertex);
            extend(graph, targets, capacities, (vertex + 1, weights), best);
            weights[block] -= graph.node_weight(vertex);
        }
    }
}

#[test]
fn tiny_partitions_meet_what_enumeration_meets() {
    let mut rng = Rng::new(40);
    let (mut heavy, mut worse) = (0, 0);
    for round in 0..240u32 {
        let heaviest = [1, 1, 5][round as usize % 3];
        let n = 3 + rng.below(5) as usize;
        let graph = weighed(random_graph(n, 3, 4, &mut rng), heaviest, &mut rng);
        let capacities: Vec<u32> = (0..2 + rng.below(2)).map(|_| 1 + rng.below(4)).collect();
        let epsilon = [0.0, 0.1, 0.5, 2.0][rng.below(4) as usize];
        let mut targets = targets(&graph, &capacities, epsilon, [30, 50, 80, 100][rng.below(4) as usize]);
        if round % 4 == 0 {
            let mut fixed = FixedVertices::none(n, capacities.len());
            fixed.fix(0, rng.below(capacities.len() as u32)).unwrap();
            fixed.fix(1, rng.below(capacities.len() as u32)).unwrap();
            targets = targets.with_fixed(&graph, fixed).unwrap();
        }
        let best = least_violation(&graph, &targets, &capacities);
        for preset in [PartitionPreset::Fast, PartitionPreset::Eco] {
            let partition = Partitioner::new(preset, u64::from(round)).partition(&graph, &targets);
            let context = format!("round {round}, {preset}: {:?}", partition.block_weights());
            assert!(partition.violation() >= best, "{context}");
            if heaviest == 1 {
                assert_eq!(partition.violation(), best, "{context}");
            }
            assert_eq!(partition.overload(), best.overload, "{context}");
            heavy += u32::from(heaviest > 1);
            worse += u32::from(partition.violation() > best);
        }
    }
    assert!(worse * 20 <= heavy, "{worse} of {heavy}");
}

/// The partition misses no bound, and what is reported agrees with the definition.
fn check(graph: &CsrGraph, partition: &Partition, targets: &Targets, context: &str) {
    let mut weights = vec![0; targets.num_blocks()];
    for vertex in graph.nodes() {
        weights[partition.blocks()[vertex as usize] as usize] += graph.node_weight(vertex);
    }
    assert_eq!(partition.block_weights(), weights, "{context}");
    let bounds = targets.least_loads().iter().zip(targets.bounds());
    for ((&least, &bound), weight) in bounds.zip(weights) {
        assert!((least..=bound).contains(&weight), "{context}: {weight} is not from {least} to {bound}");
    }
    assert_eq!(partition.violation(), BoundViolation::NONE, "{context}");
}

#[test]
fn every_preset_and_algorithm_meets_least_loads() {
    let mut rng = Rng::new(3);
    let mesh = generate::mesh(30, 20, 1);
    let heavy = weighed(mesh.clone(), 5, &mut rng);
    let points = Coordinates::new(2, (0..600).flat_map(|u| [f64::from(u % 30), f64::from(u / 30)]).collect());
    let points = points.unwrap();
    for graph in [&mesh, &heavy] {
        for (capacities, epsilon, percent) in [
            (vec![1; 9], 1.0, 50),
            (vec![1; 9], 0.03, 97),
            (vec![1, 2, 0, 5, 1], 0.5, 80),
            (vec![1; 7], 0.0, 90),
        ] {
            let targets = targets(graph, &capacities, epsilon, percent);
            if epsilon == 0.0 && graph.total_node_weight() > 600 {
                continue;
            }
            for preset in PartitionPreset::ALL {
                let partition = Partitioner::new(preset, 1).partition(graph, &targets);
                check(graph, &partition, &targets, &format!("{preset} {capacities:?} {percent}"));
            }
            for algorithm in PartitionAlgorithm::ALL.into_iter().filter(|_| epsilon > 0.1) {
                let input = PartitionInput::new(graph).with_coordinates(&points);
                let partition = algorithm.partition(&input, &targets).unwrap();
                check(graph, &partition, &targets, &format!("{algorithm} {capacities:?} {percent}"));
            }
        }
    }
}

#[test]
fn least_loads_are_met_also_when_a_run_is_stopped() {
    let mesh = generate::mesh(30, 20, 1);
    let targets = targets(&mesh, &[1; 9], 1.0, 90);
    for questions in [0, 1, 2, 5, 10, 20, 50, 100, 200] {
        let observer = StopAfter::questions(questions);
        let partition =
            Partitioner::new(PartitionPreset::Eco, 1).observed(&observer).partition(&mesh, &targets);
        check(&mesh, &partition, &targets, &format!("{questions} questions"));
    }
}

#[test]
fn targets_without_least_loads_are_as_if_none_were_asked_for() {
    let mesh = generate::mesh(30, 20, 1);
    let plain = Targets::equal(&mesh, 7, 0.5).unwrap();
    assert_eq!(plain.clone().with_least_loads(vec![0; 7]).unwrap(), plain);
    assert!(plain.clone().with_least_loads(vec![1; 6]).is_err());
    for bad in [-0.1, 1.1, f64::NAN] {
        assert!(Targets::least_shares(&mesh, &[1; 7], bad).is_err());
        assert!(Balance::default().with_least_load(bad).validate().is_err());
    }
}

#[test]
fn remapped_partitions_meet_least_loads() {
    let mesh = generate::mesh(40, 30, 1);
    let partitioner = Partitioner::new(PartitionPreset::Eco, 2);
    let old = partitioner.partition(&mesh, &Targets::equal(&mesh, 8, 0.03).unwrap()).into_blocks();
    // Two blocks have joined, one has left, and there is much room.
    let homes = PreviousAssignment::after(&old, RemovedBlocks(&[3]), 9).unwrap();
    for (capacities, percent) in [([1; 9], 60), ([2, 1, 1, 1, 3, 1, 1, 1, 1], 95)] {
        let targets = targets(&mesh, &capacities, 1.0, percent);
        for weight in ["0", "0.1", "3", "1000"] {
            let weight: MigrationWeight = weight.parse().unwrap();
            let remapped = partitioner
                .remap(&mesh, &targets, Remapping::new(&homes, weight))
                .and_then(|found| found.into_best(weight))
                .unwrap();
            check(&mesh, &remapped.partition, &targets, &format!("{capacities:?} {weight}"));
        }
    }
}

#[test]
fn models_meet_least_loads() {
    let mesh = generate::mesh(40, 30, 1);
    let (blocks, balance) =
        (Blocks::equal(10).unwrap(), Balance::default().with_imbalance(2.0).with_least_load(0.75));
    let solution = solved!(&mesh, &blocks, &Config::fast(), balanced(balance), minimise(Objective::Cut));
    let loads = solution.report.loads.unwrap();
    assert!(loads.least >= 90 && loads.shortfall == 0, "{loads:?}");
}

/// The loads and what the report says of them agree with the definitions; returns the number of PEs below half of their share.
fn check_mapping(
    graph: &CsrGraph,
    room: &[usize],
    percent: u32,
    solution: &Solution,
    context: &str,
) -> usize {
    let mut loads: Vec<Weight> = vec![0; room.len()];
    for vertex in graph.nodes() {
        loads[solution.mapping.pe_of(vertex) as usize] += graph.node_weight(vertex);
    }
    let capacities: Vec<u32> = room.iter().map(|&room| room as u32).collect();
    let least = least_of(graph.total_node_weight(), &capacities, percent);
    let lacks: Vec<Weight> = loads.iter().zip(&least).map(|(load, least)| (least - load).max(0)).collect();
    let report = &solution.report.loads.unwrap();
    assert_eq!(report.shortfall, lacks.iter().sum::<Weight>(), "{context}");
    assert_eq!(report.below_least, lacks.iter().filter(|&&lack| lack > 0).count(), "{context}");
    let share = |room: usize| graph.total_node_weight() as f64 * room as f64 / room_of_all(&capacities);
    let below =
        loads.iter().zip(room).filter(|&(&load, &room)| 2.0 * (load as f64) < share(room) - 1e-9).count();
    assert_eq!(report.below_half, below, "{context}");
    below
}

fn room_of_all(capacities: &[u32]) -> f64 {
    capacities.iter().map(|&capacity| f64::from(capacity)).sum()
}

#[test]
fn many_to_one_mappings_meet_least_loads_on_every_machine() {
    let mut rng = Rng::new(6);
    let graph = generate::random_geometric(200, 7.0, 3);
    let heavy = weighed(graph.clone(), 4, &mut rng);
    for (number, family) in families(&mut rng).into_iter().enumerate() {
        let cases =
            [(&heavy, MapPreset::Fast, 50), (&graph, MapPreset::Fast, 50), (&graph, MapPreset::Eco, 90)];
        // All cases on every third machine.
        for (graph, preset, percent) in cases.into_iter().take(if number % 3 == 0 { 3 } else { 1 }) {
            let context = format!("{} {preset} {percent}", family.name);
            let config = Config::preset(preset).with_seed(1);
            let solution = solved!(
                graph,
                &*family.machine,
                &config,
                balanced(Balance::default().with_imbalance(1.0).with_least_load(f64::from(percent) / 100.0))
            );
            check_mapping(graph, &family.room, percent, &solution, &context);
            assert_eq!(solution.report.violation(), BoundViolation::NONE, "{context}");
            if preset == MapPreset::Fast {
                let again = solved!(
                    graph,
                    &*family.machine,
                    &config.with_threads(2),
                    balanced(
                        Balance::default().with_imbalance(1.0).with_least_load(f64::from(percent) / 100.0),
                    )
                );
                assert_eq!(again.mapping, solution.mapping, "{context}");
            }
        }
    }
}

#[test]
fn remapped_mappings_meet_least_loads() {
    let mut rng = Rng::new(7);
    let graph = generate::random_geometric(400, 7.0, 4);
    for family in families(&mut rng).into_iter().take(6) {
        // All of it was on the first PEs.
        let old: Vec<BlockId> = graph.nodes().map(|vertex| vertex % 3).collect();
        let homes = PreviousAssignment::new(&old, family.room.len()).unwrap();
        let config = Config::preset(MapPreset::Fast);
        for weight in ["0", "1", "100"] {
            let weight = weight.parse().unwrap();
            let solution = solved!(
                &graph,
                &*family.machine,
                &config,
                balanced(Balance::default().with_imbalance(3.0).with_least_load(0.8)),
                previous(Remapping::new(&homes, weight))
            );
            let context = format!("{} {weight}", family.name);
            check_mapping(&graph, &family.room, 80, &solution, &context);
            assert_eq!(solution.report.violation(), BoundViolation::NONE, "{context}");
        }
    }
}

#[test]
fn bounds_go_before_least_loads() {
    // Two heavy vertices cannot be divided among three PEs.
    let graph = with_node_weights(&generate::grid(4, 1), &[10, 1, 1, 10]);
    let targets = targets(&graph, &[1; 3], 0.5, 100);
    let partition = Partitioner::new(PartitionPreset::Eco, 0).partition(&graph, &targets);
    assert_eq!(partition.violation(), BoundViolation::new(0, 5));
}

#[test]
fn few_pes_are_nearly_empty_only_where_that_was_not_asked_against() {
    let graph = generate::grid(64, 32);
    let machine = viem::machine::Hierarchy::parse("4:4:4", "1:10:100").unwrap();
    let room = vec![1; 64];
    let below = [0, 50].map(|percent| {
        let config = Config::preset(MapPreset::Eco);
        let solution = solved!(
            &graph,
            &machine,
            &config,
            balanced(Balance::default().with_imbalance(1.0).with_least_load(f64::from(percent) / 100.0))
        );
        check_mapping(&graph, &room, percent, &solution, "grid")
    });
    assert!(below[0] > 0 && below[1] == 0, "{below:?}");
}
