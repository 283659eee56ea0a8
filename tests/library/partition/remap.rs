//! Partitions and mappings that resume older ones.

use crate::common::{check_partition, text_of, with_node_weights};
use viem::base::rng::Rng;
use viem::base::threads;
use viem::graph::{CsrGraph, generate};
use viem::machine::{Capacities, Hierarchy};
use viem::partition::{
    MigrationWeight, PartitionPreset, Partitioner, PreviousAssignment, PreviousAssignmentError, RemapError,
    Remapped, Remapping, RemovedBlocks, Targets, block_weights, cut,
};
use viem::solve::{Balance, Config, MapPreset, PreparedMachine, Request, Solution, SolveError};
use viem_verify::{MachineText, audit_many};

fn weight(text: &str) -> MigrationWeight {
    text.parse().unwrap()
}

/// A partition and its homes in this number of blocks.
fn old(graph: &CsrGraph, num_blocks: usize) -> PreviousAssignment {
    let targets = Targets::equal(graph, num_blocks, 0.03).unwrap();
    let blocks = Partitioner::new(PartitionPreset::Fast, 1).partition(graph, &targets).into_blocks();
    PreviousAssignment::new(&blocks, num_blocks).unwrap()
}

/// A mapping to a tree, its homes, and its settings.
fn mapped(
    graph: &CsrGraph,
    tree: &Hierarchy,
    preset: MapPreset,
    seed: u64,
) -> (Solution, PreviousAssignment, Config) {
    let config = Config::preset(preset).with_seed(seed);
    let solution = solved!(graph, tree, &config, balanced(Balance::default()));
    let homes = PreviousAssignment::new(solution.mapping.pes(), tree.num_pes()).unwrap();
    (solution, homes, config)
}

/// Checks a remapping from scratch.
fn check(graph: &CsrGraph, targets: &Targets, homes: &PreviousAssignment, remapped: &Remapped) {
    let Remapped { partition, migration, .. } = remapped;
    check_partition(graph, partition);
    let bounds = targets.bounds().iter();
    assert!(partition.block_weights().iter().zip(bounds).all(|(weight, bound)| weight <= bound));
    let moved: Vec<u32> =
        graph.nodes().filter(|&node| homes.of(node) != Some(partition.blocks()[node as usize])).collect();
    assert_eq!(migration.vertices, moved.len());
    assert_eq!(migration.weight, moved.iter().map(|&node| graph.node_weight(node)).sum::<i64>());
}

fn remapped(
    graph: &CsrGraph,
    targets: &Targets,
    homes: &PreviousAssignment,
    preset: PartitionPreset,
    x: &str,
) -> Remapped {
    let remapped = Partitioner::new(preset, 5)
        .remap(graph, targets, Remapping::new(homes, weight(x)))
        .and_then(|found| found.into_best(weight(x)))
        .unwrap();
    check(graph, targets, homes, &remapped);
    remapped
}

#[test]
fn speeds_weights_and_blocks_change_and_bounds_hold() {
    let mesh = generate::mesh(40, 30, 1);
    let homes = old(&mesh, 8);
    let mut rng = Rng::new(3);
    for preset in PartitionPreset::ALL {
        for x in ["0", "0.1", "2"] {
            let speeds = Targets::proportional(&mesh, &[2, 1, 2, 2, 1, 2, 2, 2], 0.03).unwrap();
            let slower = remapped(&mesh, &speeds, &homes, preset, x);
            if x != "0" {
                assert!(slower.migration.weight < 400, "{preset} {x}: {}", slower.migration.weight);
            }
        }
    }
    let weight = |node| 1 + i64::from(rng.below(3)) * i64::from(node % 40 < 10);
    let heavier = with_node_weights(&mesh, &mesh.nodes().map(weight).collect::<Vec<_>>());
    remapped(&heavier, &Targets::equal(&heavier, 8, 0.05).unwrap(), &homes, PartitionPreset::Eco, "0.5");
}

#[test]
fn blocks_leave_and_join() {
    let mesh = generate::mesh(40, 30, 1);
    let targets = Targets::equal(&mesh, 8, 0.03).unwrap();
    let blocks = Partitioner::new(PartitionPreset::Fast, 1).partition(&mesh, &targets).into_blocks();
    let fewer = PreviousAssignment::after(&blocks, RemovedBlocks(&[6, 2]), 6).unwrap();
    let six = Targets::equal(&mesh, 6, 0.03).unwrap();
    for x in ["0", "0.3"] {
        remapped(&mesh, &six, &fewer, PartitionPreset::Eco, x);
    }
    // No more than these two and what their neighbours hand on.
    assert!(remapped(&mesh, &six, &fewer, PartitionPreset::Eco, "5").migration.weight < 600);
    let more = PreviousAssignment::new(&blocks, 10).unwrap();
    let ten = Targets::equal(&mesh, 10, 0.03).unwrap();
    for x in ["0", "0.3", "5"] {
        let remapped = remapped(&mesh, &ten, &more, PartitionPreset::Eco, x);
        assert!(remapped.partition.block_weights().iter().all(|&weight| weight > 0));
    }
    // Block 2 is removed, and another one is added.
    let exchanged = PreviousAssignment::after(&blocks, RemovedBlocks(&[2]), 8).unwrap();
    remapped(&mesh, &targets, &exchanged, PartitionPreset::Strong, "1");
}

#[test]
fn a_block_of_speed_0_is_emptied() {
    let mesh = generate::mesh(30, 20, 1);
    let homes = old(&mesh, 5);
    let targets = Targets::proportional(&mesh, &[1, 1, 0, 1, 1], 0.03).unwrap();
    for x in ["0", "0.1", "10"] {
        let remapped = remapped(&mesh, &targets, &homes, PartitionPreset::Eco, x);
        assert_eq!(remapped.partition.block_weights()[2], 0);
    }
}

#[test]
fn refined_vertices_start_where_their_parents_are() {
    let coarse = generate::mesh(20, 15, 1);
    let homes = old(&coarse, 6);
    let fine = generate::mesh(40, 30, 1);
    let parents: Vec<u32> = fine.nodes().map(|node| node % 40 / 2 + node / 40 / 2 * 20).collect();
    let homes = homes.of_children(&parents).unwrap();
    let remapped =
        remapped(&fine, &Targets::equal(&fine, 6, 0.03).unwrap(), &homes, PartitionPreset::Eco, "1");
    // The blocks had the right sizes already, give or take their slack.
    assert!(remapped.migration.weight < 60, "{}", remapped.migration.weight);
}

#[test]
fn a_weight_of_0_cuts_no_more_than_from_scratch_and_labels_are_the_best() {
    let mesh = generate::mesh(30, 20, 1);
    let homes = old(&mesh, 5);
    let targets = Targets::equal(&mesh, 5, 0.03).unwrap();
    let scratch = Partitioner::new(PartitionPreset::Eco, 5).partition(&mesh, &targets);
    let remapped = remapped(&mesh, &targets, &homes, PartitionPreset::Eco, "0");
    assert!(remapped.partition.cut() <= scratch.cut());
    // No permutation of the labels keeps more at this cut.
    let mut labels: Vec<u32> = (0..5).collect();
    let mut least = i64::MAX;
    permutations(&mut labels, 0, &mut |labels| {
        let blocks = remapped.partition.blocks().iter().map(|&block| labels[block as usize]);
        let blocks: Vec<u32> = blocks.collect();
        least = least.min(homes.migration(&mesh, &blocks).weight);
    });
    assert_eq!(remapped.migration.weight, least);
}

fn permutations(items: &mut [u32], at: usize, visit: &mut impl FnMut(&[u32])) {
    if at == items.len() {
        return visit(items);
    }
    for other in at..items.len() {
        items.swap(at, other);
        permutations(items, at + 1, visit);
        items.swap(at, other);
    }
}

#[test]
fn nothing_moves_without_changes_and_with_expensive_migration() {
    let mesh = generate::mesh(30, 20, 1);
    let homes = old(&mesh, 5);
    let targets = Targets::equal(&mesh, 5, 0.03).unwrap();
    assert_eq!(remapped(&mesh, &targets, &homes, PartitionPreset::Eco, "1000000000").migration.vertices, 0);
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let mesh = generate::mesh(120, 100, 1);
    let homes = old(&mesh, 8);
    let targets = Targets::proportional(&mesh, &[1, 2, 2, 2, 1, 2, 2, 2], 0.03).unwrap();
    let run = |threads, seed| {
        let partitioner = Partitioner::new(PartitionPreset::Strong, seed);
        let remap = || {
            partitioner
                .remap(&mesh, &targets, Remapping::new(&homes, weight("0.1")))
                .and_then(|found| found.into_best(weight("0.1")))
                .unwrap()
        };
        threads::run(threads, remap).unwrap().partition.into_blocks()
    };
    let one = run(1, 2);
    assert_eq!(run(3, 2), one);
    assert_ne!(run(1, 3), one);
}

#[test]
fn on_a_machine_j_and_migration_are_weighed() {
    let mesh = generate::mesh(40, 30, 1);
    let machine = Hierarchy::parse("2:2:3", "1:10:100").unwrap();
    let (_, homes, config) = mapped(&mesh, &machine, MapPreset::Eco, 4);
    let mut capacities = vec![4; 12];
    capacities[5] = 1;
    let slower = Capacities::new(machine, capacities).unwrap();
    let mut last = None;
    for x in ["0", "1", "50", "5000"] {
        let solution = solved!(
            &mesh,
            &slower,
            &config,
            balanced(Balance::default()),
            previous(Remapping::new(&homes, weight(x)))
        );
        let report = &solution.report;
        let pe_of = solution.mapping.pes();
        assert_eq!(report.cost, j_of(&mesh, pe_of));
        assert_eq!(report.migration, Some(homes.migration(&mesh, pe_of)));
        let mut loads = [0; 12];
        pe_of.iter().for_each(|&pe| loads[pe as usize] += 1);
        assert!(
            loads.iter().zip(Balance::default().bounds(&mesh, &slower)).all(|(&load, bound)| load <= bound)
        );
        last = report.migration;
    }
    // PE 5 must give away three quarters of 100 vertices; its neighbours pass on some of them.
    assert!((60..250).contains(&last.unwrap().vertices), "{last:?}");
    let scratch = solved!(&mesh, &slower, &config, balanced(Balance::default()));
    let relabelled = solved!(
        &mesh,
        &slower,
        &config,
        balanced(Balance::default()),
        previous(Remapping::new(&homes, weight("0")))
    );
    assert!(relabelled.report.cost <= scratch.report.cost);
    let kept = homes.migration(&mesh, scratch.mapping.pes()).weight;
    let is_better = relabelled.report.cost < scratch.report.cost;
    assert!(is_better || relabelled.report.migration.unwrap().weight <= kept);
}

/// Remapping along the parts of a machine keeps J close to that of a mapping from scratch, which moves nearly
/// everything.
#[test]
fn j_stays_low_when_whole_parts_of_a_machine_become_slower() {
    let mesh = generate::mesh(90, 80, 1);
    let tree = Hierarchy::parse("4:4:4", "1:10:100").unwrap();
    let (_, homes, config) = mapped(&mesh, &tree, MapPreset::Eco, 2);
    // The first node, a quarter of the second, and some single PEs.
    let capacity = |pe: u32| if pe < 20 || pe.is_multiple_of(11) { 1 } else { 2 };
    let slower = Capacities::new(tree, (0..64).map(capacity).collect()).unwrap();
    let scratch = solved!(
        &mesh,
        &slower,
        &config,
        balanced(Balance::default()),
        previous(Remapping::new(&homes, weight("0")))
    )
    .report;
    let remapped = solved!(
        &mesh,
        &slower,
        &config,
        balanced(Balance::default()),
        previous(Remapping::new(&homes, weight("4")))
    )
    .report;
    let ratio = remapped.cost as f64 / scratch.cost as f64;
    assert!(ratio < 1.25, "{ratio}");
    let moved = [&remapped, &scratch].map(|report| report.migration.unwrap().weight);
    assert!(2 * moved[0] < moved[1], "{moved:?}");
}

#[test]
fn where_bounds_hold_the_result_is_not_worse_than_if_all_stayed() {
    let mesh = generate::mesh(40, 30, 1);
    let machine = Hierarchy::parse("2:2:3", "1:10:100").unwrap();
    let (before, homes, mut config) = mapped(&mesh, &machine, MapPreset::Fast, 0);
    for x in ["0.01", "1", "10", "300"] {
        config.seed += 1;
        let report = solved!(
            &mesh,
            &machine,
            &config,
            balanced(Balance::default()),
            previous(Remapping::new(&homes, weight(x)))
        )
        .report;
        let cost = report.cost as f64 + weight(x).value() * report.migration.unwrap().weight as f64;
        assert!(cost <= before.report.cost as f64, "{x}: {cost} beside {}", before.report.cost);
    }
}

/// J according to the auditor.
fn j_of(graph: &CsrGraph, pe_of: &[u32]) -> i64 {
    let machine =
        MachineText { spec: "2:2:3", distances: Some("1:10:100"), file: None, pes: None, link_cycles: None };
    let lines: Vec<String> = pe_of.iter().map(u32::to_string).collect();
    audit_many(&text_of(graph), &lines.join("\n"), &machine).unwrap().cost as i64
}

#[test]
fn the_curve_leads_from_scratch_to_little_migration() {
    let mesh = generate::mesh(30, 20, 1);
    let homes = old(&mesh, 6);
    let targets = Targets::proportional(&mesh, &[1, 2, 2, 2, 2, 2], 0.03).unwrap();
    let partitioner = Partitioner::new(PartitionPreset::Eco, 1);
    let remapping = Remapping::new(&homes, MigrationWeight::ONE).with_curve();
    let found = partitioner.remap(&mesh, &targets, remapping).unwrap();
    check(&mesh, &targets, &homes, found.best(MigrationWeight::ZERO).unwrap());
    let points = found.curve();
    assert!(points.last().unwrap().migration.weight < points[0].migration.weight);
}

/// The least cost of a division in which no block is empty or exceeds its bound: `x` times what moves, and the cut.
fn least_cost(graph: &CsrGraph, targets: &Targets, cost: impl Fn(&[u32]) -> i128) -> Option<i128> {
    let (n, k) = (graph.num_nodes(), targets.num_blocks());
    let all = (0..k.pow(n as u32)).map(|number| {
        let digit = |at: u32| (number / k.pow(at) % k) as u32;
        (0..n as u32).map(digit).collect::<Vec<u32>>()
    });
    let is_valid = |blocks: &Vec<u32>| {
        let loads = block_weights(graph, blocks, k);
        let fit = loads.iter().zip(targets.bounds()).all(|(load, bound)| load <= bound);
        fit && (0..k as u32).all(|block| blocks.contains(&block))
    };
    all.filter(is_valid).map(|blocks| cost(&blocks)).min()
}

#[test]
fn sizes_of_vertices_count_in_place_of_their_weights() {
    let mut rng = Rng::new(9);
    for round in 0..40 {
        let (n, k) = (4 + rng.below(4), 2 + round % 2);
        let pairs = (0..n).flat_map(|u| (0..u).map(move |v| (u, v)));
        let edges: Vec<_> =
            pairs.filter(|_| rng.below(2) == 0).map(|(u, v)| (u, v, 1 + i64::from(u % 3))).collect();
        let weights = (0..n).map(|_| 1 + i64::from(rng.below(3))).collect();
        let graph = CsrGraph::from_weights_and_edges(weights, edges).unwrap();
        let old: Vec<u32> = (0..n).map(|_| rng.below(k as u32)).collect();
        let sizes: Vec<i64> = (0..n).map(|_| rng.below(6).into()).collect();
        let homes = PreviousAssignment::new(&old, k).unwrap().with_sizes(sizes.clone()).unwrap();
        let targets = Targets::equal(&graph, k, 0.5).unwrap();
        let moved = |blocks: &[u32]| {
            let away = old.iter().zip(blocks).zip(&sizes).filter(|((old, new), _)| old != new);
            away.map(|(_, size)| size).sum::<i64>()
        };
        for x in ["0.5", "1", "3"].map(weight) {
            let cost = |blocks: &[u32]| x.objective(cut(&graph, blocks), moved(blocks));
            let Some(least) = least_cost(&graph, &targets, cost) else { continue };
            let partitioner = Partitioner::new(PartitionPreset::Eco, 5);
            let found = partitioner.remap(&graph, &targets, Remapping::new(&homes, x));
            let found = found.and_then(|found| found.into_best(x)).unwrap();
            assert_eq!(cost(found.partition.blocks()), least, "round {round}, {x}");
            assert_eq!(found.migration.weight, moved(found.partition.blocks()));
        }
    }
}

#[test]
fn sizes_are_checked() {
    let homes = PreviousAssignment::new(&[0, 1, 1], 2).unwrap();
    let fault = |sizes: Vec<i64>| homes.clone().with_sizes(sizes).unwrap_err();
    assert_eq!(fault(vec![1, 2]), PreviousAssignmentError::Sizes { found: 2, expected: 3 });
    assert_eq!(fault(vec![1, -1, 2]), PreviousAssignmentError::SizeOutOfRange { vertex: 1, size: -1 });
    let most = i64::MAX;
    assert_eq!(fault(vec![1, 0, most]), PreviousAssignmentError::SizeOutOfRange { vertex: 2, size: most });
}

#[test]
fn tiny_graphs_and_many_blocks_are_remapped() {
    let mut rng = Rng::new(8);
    for n in 1..12usize {
        for k in 1..=n {
            let graph = generate::random_geometric(n, 3.0, n as u64);
            let blocks: Vec<u32> = (0..n).map(|_| rng.below(k as u32 + 1)).collect();
            let left = [rng.below(k as u32 + 1)];
            let homes = PreviousAssignment::after(&blocks, RemovedBlocks(&left), k).unwrap();
            let targets = Targets::equal(&graph, k, 0.0).unwrap();
            for x in ["0", "0.5", "100"] {
                remapped(&graph, &targets, &homes, PartitionPreset::Fast, x);
            }
        }
    }
}

#[test]
fn tiny_graphs_are_remapped_along_the_parts_of_a_machine() {
    let mut rng = Rng::new(3);
    let machine = Hierarchy::parse("2:2:3", "1:10:100").unwrap();
    let config = Config::preset(MapPreset::Eco);
    for n in (1..40usize).step_by(2) {
        let graph = generate::random_geometric(n, 3.0, n as u64);
        let capacities = (0..12).map(|_| 1 + rng.below(3)).collect();
        let machine = Capacities::new(machine.clone(), capacities).unwrap();
        let old: Vec<u32> = (0..n).map(|_| rng.below(14)).collect();
        let homes = PreviousAssignment::after(&old, RemovedBlocks(&[12, 13]), 12).unwrap();
        for x in ["0.5", "100"] {
            let solution = solved!(
                &graph,
                &machine,
                &config,
                balanced(Balance::default()),
                previous(Remapping::new(&homes, weight(x)))
            );
            assert_eq!(solution.report.cost, j_of(&graph, solution.mapping.pes()));
            let pe_of = solution.mapping.pes();
            assert_eq!(solution.report.migration, Some(homes.migration(&graph, pe_of)));
        }
    }
}

#[test]
fn invalid_input_is_rejected() {
    assert!(matches!(
        PreviousAssignment::after(&[0, 7], RemovedBlocks(&[3]), 4),
        Err(PreviousAssignmentError::NoSuchBlock { vertex: 1, block: 7, now: 6, num_blocks: 4 })
    ));
    assert_eq!(
        PreviousAssignment::after(&[0], RemovedBlocks(&[3, 1, 3]), 4),
        Err(PreviousAssignmentError::LeftTwice { block: 3 })
    );
    let homes = PreviousAssignment::new(&[0, 1], 2).unwrap();
    let child = homes.of_children(&[1, 2]);
    assert_eq!(child, Err(PreviousAssignmentError::NoSuchParent { vertex: 1, parent: 2, num_parents: 2 }));
    let graph = generate::grid(3, 1);
    let partitioner = Partitioner::new(PartitionPreset::Fast, 0);
    let targets = Targets::equal(&graph, 2, 0.5).unwrap();
    let error = partitioner
        .remap(&graph, &targets, Remapping::new(&homes, weight("1")))
        .and_then(|found| found.into_best(weight("1")))
        .unwrap_err();
    assert_eq!(
        error,
        RemapError::PreviousAssignment(PreviousAssignmentError::Length { found: 2, expected: 3 })
    );
    let homes = PreviousAssignment::new(&[0, 1, 1], 3).unwrap();
    let error = partitioner
        .remap(&graph, &targets, Remapping::new(&homes, weight("0")))
        .and_then(|found| found.into_best(weight("0")))
        .unwrap_err();
    assert_eq!(
        error,
        RemapError::PreviousAssignment(PreviousAssignmentError::Blocks { found: 3, expected: 2 })
    );
    let heavy = CsrGraph::from_edges(2, [(0, 1, i64::MAX / 8)]).unwrap();
    let homes = PreviousAssignment::new(&[0, 1], 2).unwrap();
    let targets = Targets::equal(&heavy, 2, 0.0).unwrap();
    let error = partitioner
        .remap(&heavy, &targets, Remapping::new(&homes, weight("0.3")))
        .and_then(|found| found.into_best(weight("0.3")))
        .unwrap_err();
    assert!(matches!(error, RemapError::TooLarge { .. }));
    let machine = Hierarchy::parse("2", "1").unwrap();
    let config = Config::preset(MapPreset::Fast);
    let homes = PreviousAssignment::new(&[0, 1, 2], 3).unwrap();
    let error = Request::new(&graph, &PreparedMachine::new(&machine))
        .balanced(Balance::default())
        .previous(Remapping::new(&homes, weight("1")))
        .solve(&config)
        .unwrap_err();
    assert!(matches!(
        error,
        SolveError::Remap(RemapError::PreviousAssignment(PreviousAssignmentError::Blocks { .. }))
    ));
}
