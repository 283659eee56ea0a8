//! Behaviour of the partitioner: sizes, bounds, known optima, adversarial shapes, determinism.

use crate::common::{StopAfter, check_partition, random_graph, skewed_graph};
use viem::base::rng::Rng;
use viem::base::threads;
use viem::base::types::{BlockId, NodeId, Weight};
use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem::partition::{Contraction, Partition, PartitionConfig, PartitionPreset, Partitioner, Targets};

fn graph(num_nodes: usize, edges: impl IntoIterator<Item = (NodeId, NodeId)>) -> CsrGraph {
    CsrGraph::from_edges(num_nodes, edges.into_iter().map(|(u, v)| (u, v, 1))).unwrap()
}

fn cycle(n: u32) -> CsrGraph {
    graph(n as usize, (0..n).map(|v| (v, (v + 1) % n)))
}

fn star(n: u32) -> CsrGraph {
    graph(n as usize, (1..n).map(|v| (0, v)))
}

fn clique(n: u32) -> CsrGraph {
    graph(n as usize, (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))))
}

fn cliques(count: u32, size: u32) -> CsrGraph {
    let one =
        move |first: u32| (0..size).flat_map(move |u| (u + 1..size).map(move |v| (first + u, first + v)));
    graph((count * size) as usize, (0..count).flat_map(move |index| one(index * size)))
}

fn hypercube(dimension: u32) -> CsrGraph {
    let n = 1u32 << dimension;
    let edges = (0..n).flat_map(|v| (0..dimension).map(move |bit| (v, v ^ (1 << bit))));
    graph(n as usize, edges.filter(|(u, v)| u < v))
}

/// Checks all properties that a partition reports.
fn audit(graph: &CsrGraph, targets: &Targets, partition: &Partition) {
    check_partition(graph, partition);
    let weights = partition.block_weights();
    assert_eq!(weights.len(), targets.num_blocks());
    let overload: Weight =
        weights.iter().zip(targets.bounds()).map(|(weight, bound)| (weight - bound).max(0)).sum();
    assert_eq!(overload, partition.overload());
}

fn solve(graph: &CsrGraph, targets: &Targets, preset: PartitionPreset, seed: u64) -> Partition {
    let partition = Partitioner::new(preset, seed).partition(graph, targets);
    audit(graph, targets, &partition);
    partition
}

fn exact(graph: &CsrGraph, k: usize, preset: PartitionPreset, seed: u64) -> Partition {
    let targets = Targets::equal(graph, k, 0.0).unwrap();
    let partition = solve(graph, &targets, preset, seed);
    assert_eq!(partition.block_weights(), targets.block_sizes(), "k = {k}, {preset:?}, seed {seed}");
    partition
}

#[test]
fn sizes_are_exact_for_random_graphs() {
    let mut rng = Rng::new(1);
    for round in 0..180 {
        let n = 1 + rng.below(if round % 10 == 0 { 700 } else { 90 });
        let graph = random_graph(n as usize, rng.below(8) as usize, 1 + rng.below(9), &mut rng);
        let k = 1 + rng.below(if round % 3 == 0 { n } else { n.min(12) }) as usize;
        exact(&graph, k, PartitionPreset::ALL[round % 6], round as u64);
    }
}

#[test]
fn unequal_sizes_are_exact() {
    let mut rng = Rng::new(2);
    for round in 0..200 {
        let n = 1 + rng.below(120);
        let graph = random_graph(n as usize, rng.below(6) as usize, 3, &mut rng);
        let mut sizes = vec![0; 1 + rng.below(9) as usize];
        for _ in 0..n {
            let block = rng.below(sizes.len() as u32).min(rng.below(sizes.len() as u32));
            sizes[block as usize] += 1;
        }
        let targets = Targets::sizes(&graph, sizes.clone(), 0.0).unwrap();
        let partition = solve(&graph, &targets, PartitionPreset::ALL[round % 6], round as u64);
        assert_eq!(partition.block_weights(), sizes);
    }
}

#[test]
fn adversarial_shapes_get_exact_sizes() {
    for n in [1, 2, 3, 7, 16, 61, 300] {
        let edgeless = graph(n as usize, []);
        for graph in [generate::grid(n as usize, 1), star(n), clique(n.min(61)), edgeless, cliques(n, 3)] {
            let n = graph.num_nodes();
            for k in [1, 2, 3, 4, 7, n / 2, n.saturating_sub(1), n, n + 3] {
                if k > 0 {
                    exact(&graph, k, PartitionPreset::Fast, 5);
                    exact(&graph, k, PartitionPreset::Eco, 5);
                }
            }
        }
    }
}

#[test]
fn relaxed_bounds_are_kept() {
    let mut rng = Rng::new(3);
    for round in 0..48 {
        let n = 50 + rng.below(250);
        let graph = random_graph(n as usize, 6, 5, &mut rng);
        let k = 2 + rng.below(14) as usize;
        let epsilon = f64::from(rng.below(20)) / 100.0;
        let targets = Targets::equal(&graph, k, epsilon).unwrap();
        let partition = solve(&graph, &targets, PartitionPreset::ALL[round % 6], round as u64);
        assert_eq!(partition.overload(), 0);
        assert!(partition.block_weights().iter().all(|&weight| weight > 0));
    }
}

#[test]
fn known_optima_are_found() {
    for preset in [PartitionPreset::Eco, PartitionPreset::Strong] {
        assert_eq!(exact(&generate::grid(100, 1), 2, preset, 1).cut(), 1);
        assert_eq!(exact(&cycle(120), 4, preset, 1).cut(), 4);
        assert_eq!(exact(&cliques(8, 9), 8, preset, 1).cut(), 0);
        assert_eq!(exact(&generate::grid(16, 16), 2, preset, 1).cut(), 16);
        assert_eq!(exact(&hypercube(6), 2, preset, 1).cut(), 32);
        assert_eq!(exact(&hypercube(6), 4, preset, 1).cut(), 64);
        assert_eq!(exact(&clique(12), 3, preset, 1).cut(), 48);
        assert_eq!(exact(&star(64), 4, preset, 1).cut(), 48);
    }
}

#[test]
fn partitions_of_tiny_graphs_are_the_best_ones() {
    let mut rng = Rng::new(9);
    for round in 0..48 {
        let (n, k) = [(2 + rng.below(9), 2), (3 + rng.below(5), 3)][round % 2];
        let graph = random_graph(n as usize, 3, 5, &mut rng);
        let targets = Targets::equal(&graph, k, [0.0, 0.1, 0.5][round % 3]).unwrap();
        let all = (0..k.pow(n)).map(|code| {
            let blocks = (0..n).map(|node| (code / k.pow(node) % k) as BlockId).collect();
            Partition::of(&graph, blocks, &targets).score()
        });
        let least = all.min().unwrap();
        for preset in PartitionPreset::ALL {
            assert_eq!(solve(&graph, &targets, preset, round as u64).score(), least, "{round} {preset:?}");
        }
    }
}

#[test]
fn small_graphs_are_worth_several_tries() {
    let graph = generate::grid(10, 10);
    for seed in 1..4 {
        let targets = Targets::equal(&graph, 8, 0.03).unwrap();
        assert!(solve(&graph, &targets, PartitionPreset::Eco, seed).cut() <= 43);
    }
}

/// No refinement of small blocks straightens crooked first borders: without division of the whole graph, these cut 261 and 603 edges.
#[test]
fn large_grids_are_divided_along_straight_lines() {
    for (width, height, k, cut) in [(64, 64, 8, 256), (96, 96, 16, 596)] {
        let graph = generate::grid(width, height);
        for epsilon in [0.0, 0.001] {
            let targets = Targets::equal(&graph, k, epsilon).unwrap();
            let partition = solve(&graph, &targets, PartitionPreset::Eco, 1);
            let found = (partition.overload(), partition.cut());
            assert!(found <= (0, cut), "{width} x {height}, {epsilon}: {found:?}");
        }
    }
}

#[test]
fn division_of_the_whole_graph_makes_no_partition_worse_unless_it_gains_much_over_a_single_one() {
    let mut rng = Rng::new(8);
    let mut num_better = 0;
    for round in 0..12 {
        let graph = match round % 3 {
            0 => random_graph(1500 + 100 * round, 5, 4, &mut rng),
            1 => generate::grid(40 + round, 50),
            _ => generate::grid(61, 30 + 2 * round),
        };
        let targets = Targets::equal(&graph, 2 + round % 4, [0.001, 0.01, 0.05][round % 3]).unwrap();
        let divided = Partitioner::new(PartitionPreset::Eco, round as u64);
        let mut single = PartitionConfig::preset(PartitionPreset::Eco);
        single.pool.members = 1;
        let single = Partitioner::with_settings(single, round as u64).unwrap();
        let [undivided, divided, single] = [divided.clone().basic(), divided, single]
            .map(|partitioner| partitioner.partition(&graph, &targets).score());
        let gains_much =
            (divided.0, divided.1) <= (single.0, single.1) && 50 * divided.2 <= 49 * single.2 + 50;
        assert!(divided <= undivided || gains_much, "{round}: {divided:?} {undivided:?} {single:?}");
        num_better += usize::from(divided < undivided);
    }
    assert!(num_better > 0);
}

/// An empty block gets a vertex that fits, not the heavy isolated one.
#[test]
fn an_empty_block_gets_a_vertex_that_fits() {
    let mut builder = GraphBuilder::new(60);
    (1..59).for_each(|node| builder.add_edge(node, node + 1, 1));
    builder.set_node_weight(0, 1000);
    let graph = builder.build().unwrap();
    let targets = Targets::proportional(&graph, &[1000, 1], 0.03).unwrap();
    for preset in [PartitionPreset::Fast, PartitionPreset::Eco] {
        let partition = solve(&graph, &targets, preset, 1);
        assert_eq!(partition.overload(), 0, "{:?}", partition.block_weights());
    }
}

#[test]
fn weights_beyond_32_bits_are_counted_in_full() {
    let edges = (0..40).map(|v| (v, (v + 1) % 40, if v % 10 == 3 { 1 << 33 } else { 1 << 40 }));
    let graph = CsrGraph::from_edges(40, edges).unwrap();
    assert_eq!(exact(&graph, 4, PartitionPreset::Eco, 1).cut(), 4 << 33);
}

#[test]
fn weights_that_sum_to_the_greatest_number_do_not_overflow() {
    let n = 40;
    let mut builder = GraphBuilder::new(n as usize);
    for u in 0..n {
        builder.set_node_weight(u, Weight::MAX / Weight::from(n));
        for step in [1, 7] {
            builder.add_edge(u, (u + step) % n, Weight::MAX / (4 * Weight::from(n)));
        }
    }
    let graph = builder.build().unwrap();
    for preset in PartitionPreset::ALL {
        for (k, epsilon) in [(1, 0.0), (2, 0.03), (5, 1e300), (39, 0.0)] {
            let targets = Targets::equal(&graph, k, epsilon).unwrap();
            audit(&graph, &targets, &solve(&graph, &targets, preset, 1));
        }
    }
}

#[test]
fn same_seed_same_blocks() {
    let graph = random_graph(200, 6, 3, &mut Rng::new(8));
    for preset in PartitionPreset::ALL {
        let blocks = |seed| exact(&graph, 7, preset, seed).into_blocks();
        assert_eq!(blocks(3), blocks(3));
        assert_ne!(blocks(3), blocks(4));
    }
}

#[test]
fn stopped_partitions_keep_their_promises() {
    let mut rng = Rng::new(9);
    for round in 0..200 {
        let n = 1 + rng.below(if round % 10 == 0 { 900 } else { 200 });
        let graph = random_graph(n as usize, rng.below(8) as usize, 5, &mut rng);
        let k = 1 + rng.below(n.min(40)) as usize;
        let targets = Targets::equal(&graph, k, 0.0).unwrap();
        let most = 1 << rng.below(11);
        let observer = StopAfter::questions(u64::from(rng.below(most)));
        let partitioner = Partitioner::new(PartitionPreset::ALL[round % 6], round as u64).observed(&observer);
        let partition = partitioner.partition(&graph, &targets);
        audit(&graph, &targets, &partition);
        assert_eq!(partition.block_weights(), targets.block_sizes());
    }
}

#[test]
fn settings_of_presets_are_valid_and_come_back_as_they_were_written() {
    for preset in PartitionPreset::ALL {
        for settings in [
            PartitionConfig::preset(preset),
            PartitionConfig::exact(preset),
            PartitionConfig::preset(preset).without_coarsening(),
        ] {
            assert_eq!(settings.validate(), Ok(()));
            let text = serde_json::to_string(&settings).unwrap();
            assert_eq!(serde_json::from_str::<PartitionConfig>(&text).unwrap(), settings, "{text}");
        }
    }
    let unknown = serde_json::to_string(&PartitionConfig::preset(PartitionPreset::Eco))
        .unwrap()
        .replace("region", "regions");
    assert!(serde_json::from_str::<PartitionConfig>(&unknown).is_err());
}

#[test]
fn large_graphs_with_heavy_tailed_degrees_are_contracted_around_hubs() {
    let graph = skewed_graph(30_000, 400_000, &mut Rng::new(1));
    let targets = Targets::equal(&graph, 16, 0.03).unwrap();
    let solve = |least_arcs, threads| {
        let mut settings = PartitionConfig::preset(PartitionPreset::Fast);
        settings.heavy_tailed.large.least_arcs = least_arcs;
        let partitioner = Partitioner::with_settings(settings, 1).unwrap();
        let partition = threads::run(threads, || partitioner.partition(&graph, &targets)).unwrap();
        audit(&graph, &targets, &partition);
        assert_eq!(partition.overload(), 0);
        partition
    };
    let [large, small] = [0, usize::MAX].map(|least_arcs| solve(least_arcs, 1));
    assert_ne!(large.blocks(), small.blocks());
    assert!(large.cut() < small.cut() + small.cut() / 10, "{} {}", large.cut(), small.cut());
    assert_eq!(large.blocks(), solve(0, 3).blocks());
}

#[test]
fn settings_out_of_their_range_are_named() {
    type Change = fn(&mut PartitionConfig);
    let changes: [(&str, Change); 23] = [
        ("bisection.coarsest", |settings| settings.bisection.coarsest = 0),
        ("bisection.tries", |settings| settings.bisection.tries = 0),
        ("division.flow.region", |settings| settings.division.flow.region = 0.0),
        ("initial.coarsest_per_block", |settings| settings.initial.coarsest_per_block = 0),
        ("k_way.seeds", |settings| settings.k_way.seeds = 0),
        ("heavy_tailed.least_skew", |settings| settings.heavy_tailed.least_skew = f64::NAN),
        ("heavy_tailed.k_way.seeds", |settings| settings.heavy_tailed.k_way.seeds = 0),
        ("heavy_tailed.unconstrained.loss", |settings| settings.heavy_tailed.unconstrained.loss = -0.1),
        ("heavy_tailed.flow.region", |settings| settings.heavy_tailed.flow.region = 0.0),
        ("heavy_tailed.pool.members", |settings| settings.heavy_tailed.pool.members = 0),
        ("heavy_tailed.large.contraction.hubs.least_share", |settings| {
            settings.heavy_tailed.large.contraction = Contraction::Hubs { least_share: 1.1 }
        }),
        ("heavy_tailed.large.unconstrained.loss", |settings| {
            settings.heavy_tailed.large.unconstrained.loss = 2.0
        }),
        ("unconstrained.least_gain", |settings| settings.unconstrained.least_gain = f64::NAN),
        ("unconstrained.patience", |settings| settings.unconstrained.patience = 1001),
        ("unconstrained.loss", |settings| settings.unconstrained.loss = 1.1),
        ("flow.region", |settings| settings.flow.region = f64::NAN),
        ("flow.region", |settings| settings.flow.region = 1.1),
        ("balance.slack", |settings| settings.balance.slack = f64::INFINITY),
        ("balance.slack_nodes", |settings| settings.balance.slack_nodes = -1),
        ("balance.tightened_from", |settings| settings.balance.tightened_from = -1),
        ("balance.final_slack", |settings| settings.balance.final_slack = -1),
        ("pool.members", |settings| settings.pool.members = 0),
        ("contraction.clustering.least_share", |settings| {
            settings.contraction = Contraction::Clustering { least_share: -0.1 }
        }),
    ];
    for (field, change) in changes {
        let mut settings = PartitionConfig::preset(PartitionPreset::Strong);
        change(&mut settings);
        let error = Partitioner::with_settings(settings, 1).unwrap_err();
        assert_eq!(error.field, field);
        assert!(error.to_string().starts_with(&format!("the setting {field} is ")), "{error}");
    }
}

#[test]
fn the_extremes_of_all_settings_work() {
    let graph = random_graph(150, 6, 4, &mut Rng::new(4));
    for (whole, real) in [(1, 1e-9), (usize::MAX, 1.0)] {
        let mut settings = PartitionConfig::preset(PartitionPreset::Eco);
        settings.contraction = Contraction::Clustering { least_share: real };
        settings.bisection.coarsest = whole;
        settings.bisection.patience = whole;
        settings.initial.coarsest = whole;
        settings.initial.coarsest_per_block = whole;
        settings.k_way.patience = whole;
        settings.k_way.least_steps = whole;
        settings.k_way.seeds = whole;
        settings.heavy_tailed.least_skew = f64::INFINITY;
        settings.unconstrained.patience = whole.min(1000);
        settings.unconstrained.loss = real;
        settings.flow.region = real;
        settings.flow.depth = whole as u32;
        settings.balance.slack_nodes = (whole >> 1) as Weight;
        settings.balance.final_slack = (whole >> 1) as Weight;
        settings.balance.tightened_from = (whole >> 2) as Weight;
        settings.balance.effort = whole;
        settings.division.attempts = whole.min(64);
        settings.division.flow.region = real;
        settings.division.flow.depth = whole as u32;
        settings.pool.divided = true;
        settings.pool.least_nodes = whole;
        settings.pool.least_per_block = whole;
        let partitioner = Partitioner::with_settings(settings, 1).unwrap();
        for (k, epsilon) in [(2, 0.0), (7, 0.05)] {
            let targets = Targets::equal(&graph, k, epsilon).unwrap();
            let partition = partitioner.partition(&graph, &targets);
            audit(&graph, &targets, &partition);
            assert_eq!(partition.overload(), 0);
        }
    }
}
