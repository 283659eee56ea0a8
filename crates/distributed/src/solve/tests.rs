mod several;

use super::*;
use crate::objective::PreviousAssignment;
use crate::testing::{on_ranks, random_graph, weighed_on_ranks};
use viem::base::error::ErrorKind;
use viem::base::rng::Rng;
use viem::base::types::{Cost, Weight};
use viem::graph::generate::{grid, mesh};
use viem::graph::{CsrGraph, VertexWeights};
use viem::machine::Machine;
use viem::partition::{MigrationWeight, PartitionPreset, Partitioner, Targets};
use viem::solve::{Balance, Config, LoadLimits, MapPreset, PreparedMachine, Request};

/// Settings that coarsen even small graphs.
fn small() -> DistConfig {
    DistConfig { coarsest: 60, coarsest_per_block: 4, ..DistConfig::default() }
}

fn tree(arities: &str, distances: &str) -> Box<dyn Machine> {
    viem_cluster::build(arities, distances).unwrap()
}

/// Each rank that differs from the first one gets a message that names the difference.
#[test]
fn ranks_that_give_something_else_are_refused() {
    let band = BandConfig { steps: 1, ..small().band };
    let changes = [
        ("seed", 4, DistConfig { seed: 1, ..small() }),
        ("imbalance", 4, DistConfig { imbalance: 0.1, ..small() }),
        ("least load", 4, DistConfig { least_load: 0.1, ..small() }),
        ("preset", 4, DistConfig { preset: MapPreset::Fast, ..small() }),
        ("setting", 4, DistConfig { attempts: 3, ..small() }),
        ("setting", 4, DistConfig { band, ..small() }),
        ("number of blocks", 5, small()),
        ("", 4, DistConfig { threads: 2, ..small() }),
    ];
    let graph = grid(20, 10);
    for (what, count, config) in changes {
        let results = on_ranks(3, &graph, 0, |comm, part| {
            let (count, config) = if comm.rank() == 1 { (count, config.clone()) } else { (4, small()) };
            divide(comm, part, Goal::Blocks(count), Given::default(), &config).map(|solution| solution.blocks)
        });
        let message = format!("rank 1 gives another {what} than rank 0; all ranks must give the same");
        let expected = DistError { rank: 1, kind: ErrorKind::Usage, message };
        for result in results {
            assert!(what.is_empty() == result.is_ok());
            assert!(result.is_ok() || result == Err(expected.clone()), "{result:?}");
        }
    }
    // Another machine, a machine instead of blocks, and older blocks on one rank only.
    let [plain, other] = ["1:10", "1:20"].map(|distances| tree("4:2", distances));
    for case in 0..3 {
        let results = on_ranks(3, &graph, 0, |comm, part| {
            let is_other = comm.rank() == 2;
            let goal = match case {
                0 => Goal::Pes(if is_other { &*other } else { &*plain }),
                1 if is_other => Goal::Blocks(8),
                _ => Goal::Pes(&*plain),
            };
            let old = vec![PreviousAssignment::NONE; part.num_own()];
            let old = Old { blocks: &old, weight: MigrationWeight::ONE };
            let given = Given::default().with_old((case == 2 && is_other).then_some(old));
            divide(comm, part, goal, given, &small()).map(|solution| solution.blocks)
        });
        let what = ["machine", "machine", "migration weight"][case];
        for result in results {
            let error = result.unwrap_err();
            assert_eq!((error.rank, error.kind), (2, ErrorKind::Usage));
            let expected = format!("rank 2 gives another {what} than rank 0");
            assert!(error.message.starts_with(&expected), "{error}");
        }
    }
}

/// J by the definition.
fn cost_of(graph: &CsrGraph, distance: impl Fn(BlockId, BlockId) -> Weight, blocks: &[BlockId]) -> Cost {
    let of_node = |u| graph.arcs(u).map(move |(v, weight)| (u, v, weight));
    let arcs = graph.nodes().flat_map(of_node);
    arcs.map(|(u, v, weight)| weight * distance(blocks[u as usize], blocks[v as usize])).sum()
}

/// The older blocks of all vertices, with the weight of migration, and where they must be.
type OldAndFixed<'a> = (Option<(&'a [BlockId], MigrationWeight)>, Option<&'a [BlockId]>);

/// Divides a graph on this many ranks, by several weights and within limits if these are given; returns the blocks of all vertices, and the report without
/// times.
fn divided(
    size: usize,
    (graph, weights): (&CsrGraph, Option<&VertexWeights>),
    goal: Goal<'_>,
    (old, fixed): OldAndFixed<'_>,
    limits: &[LoadLimits<'_>],
    config: &DistConfig,
) -> (Vec<BlockId>, DistReport) {
    let machine = match goal {
        Goal::Blocks(count) => Ok(count),
        Goal::Pes(machine) => Err(machine),
    };
    let parts = weighed_on_ranks(size, (graph, weights), config.seed + size as u64, |comm, part| {
        let goal = machine.map_or_else(Goal::Pes, Goal::Blocks);
        let own = part.ranges().own();
        let own = own.start as usize..own.end as usize;
        let old = old.map(|(blocks, weight)| Old { blocks: &blocks[own.clone()], weight });
        // Ranks without fixed vertices need not say so.
        let fixed = fixed.map(|fixed| &fixed[own]);
        let fixed = fixed.filter(|fixed| fixed.iter().any(|&block| block != Given::FREE));
        let given = Given { old, fixed, ..Given::default() }.with_limits(limits);
        divide(comm, part, goal, given, config).unwrap()
    });
    let mut report = parts[0].report.clone();
    (report.coarsening, report.dividing, report.refining) = (0.0, 0.0, 0.0);
    (parts.into_iter().flat_map(|part| part.blocks).collect(), report)
}

/// Divides a graph on this many ranks; checks all figures from scratch.
fn check(
    graph: &CsrGraph,
    size: usize,
    goal: Goal<'_>,
    (old, fixed): OldAndFixed<'_>,
    config: &DistConfig,
) -> (Vec<BlockId>, DistReport) {
    let (blocks, report) = divided(size, (graph, None), goal, (old, fixed), &[], config);
    assert_eq!(report.cut, cost_of(graph, |a, b| Weight::from(a != b), &blocks) / 2);
    if let Goal::Pes(machine) = goal {
        let distances = machine.distances().unwrap();
        use viem::machine::DistanceOracle;
        assert_eq!(report.cost, Some(cost_of(graph, |a, b| distances.distance(a, b), &blocks)));
    }
    let mut loads = vec![0; report.loads.bounds.len()];
    graph.nodes().for_each(|v| loads[blocks[v as usize] as usize] += graph.node_weight(v));
    assert_eq!(report.loads.of_blocks, loads);
    let is_empty = |block: &BlockId| !blocks.contains(block);
    assert_eq!(report.empty, (0..report.loads.bounds.len() as BlockId).filter(is_empty).count());
    let lacks: Vec<Weight> =
        loads.iter().zip(&report.loads.least).map(|(load, least)| (least - load).max(0)).collect();
    assert_eq!(report.loads.shortfall, lacks.iter().sum::<Weight>());
    assert_eq!(report.loads.below_least, lacks.iter().filter(|&&lack| lack > 0).count());
    // All blocks have the same bound, so each may have a vertex.
    assert!(
        report.empty == 0 || fixed.is_some() || report.loads.bounds.len() > graph.num_nodes(),
        "{report:?}"
    );
    (blocks, report)
}

/// Divides a graph on each of these numbers of ranks, with the same result.
#[track_caller]
fn check_alike(
    graph: &CsrGraph,
    sizes: &[usize],
    goal: Goal<'_>,
    given: OldAndFixed<'_>,
    config: &DistConfig,
) -> (Vec<BlockId>, DistReport) {
    let first = check(graph, sizes[0], goal, given, config);
    for &size in &sizes[1..] {
        let (seed, other) = (config.seed, check(graph, size, goal, given, config));
        assert_eq!(other, first, "{size} ranks, seed {seed}, {} blocks", first.1.loads.bounds.len());
    }
    first
}

/// Returns the result of the library for shared memory with the same effort: the blocks, and the cut or J.
fn in_shared_memory(graph: &CsrGraph, goal: Goal<'_>) -> (Vec<BlockId>, Cost) {
    match goal {
        Goal::Blocks(count) => {
            let targets = Targets::equal(graph, count, 0.03).unwrap();
            let found = Partitioner::new(PartitionPreset::Eco, 0).partition(graph, &targets);
            (found.blocks().to_vec(), found.cut())
        }
        Goal::Pes(machine) => {
            let machine = PreparedMachine::new(machine);
            let request = Request::new(graph, &machine).balanced(Balance::default());
            let found = request.solve(&Config::preset(MapPreset::Eco)).unwrap();
            (found.mapping.pes().to_vec(), found.report.cost)
        }
    }
}

#[test]
fn meshes_are_divided_well_and_alike_on_any_number_of_ranks() {
    let graph = mesh(60, 50, 1);
    let machine = tree("4:2", "1:10");
    for goal in [Goal::Blocks(8), Goal::Pes(&*machine)] {
        let first = check_alike(&graph, &[1, 2, 4, 7], goal, (None, None), &small());
        assert!(first.1.levels > 1 && first.1.loads.overload == 0, "{:?}", first.1);
        let threads = DistConfig { threads: 3, ..small() };
        assert_eq!(check(&graph, 2, goal, (None, None), &threads).0, first.0);
        let (found, whole) = (first.1.cost.unwrap_or(first.1.cut), in_shared_memory(&graph, goal).1);
        assert!((found as f64) < 1.1 * whole as f64, "{found} {whole}");
    }
}

#[test]
fn v_cycles_improve_partitions_and_fast_runs_have_none() {
    let graph = mesh(90, 70, 3);
    let machine = tree("4:2", "1:10");
    // Bands would have all of so small a graph.
    let band = BandConfig { steps: 0, ..BandConfig::default() };
    for goal in [Goal::Blocks(8), Goal::Pes(&*machine)] {
        let mut improved = 0;
        for seed in 0..8 {
            let cost = |most: usize| {
                let v_cycles = VCycleConfig { most, least_gain: 0.0 };
                let config = DistConfig { seed, v_cycles, band, coarsest: 800, ..small() };
                let (_, report) = check(&graph, 2, goal, (None, None), &config);
                assert!(report.loads.overload == 0 && report.v_cycles <= most);
                report.cost.unwrap_or(report.cut)
            };
            let costs: Vec<Cost> = (0..3).map(cost).collect();
            assert!(costs.is_sorted_by(|a, b| a >= b), "{costs:?}");
            improved += usize::from(costs[2] < costs[0]);
        }
        assert!(improved > 2, "{improved}");
    }
    let fast = DistConfig { v_cycles: DistConfig::preset(MapPreset::Fast).v_cycles, ..small() };
    assert_eq!(check(&graph, 2, Goal::Blocks(8), (None, None), &fast).1.v_cycles, 0);
}

#[test]
fn any_graph_on_any_number_of_ranks() {
    let mut rng = Rng::new(17);
    let machine = viem_cluster::build("torus:2x3", None).unwrap();
    let config = DistConfig { coarsest: 8, coarsest_per_block: 1, attempts: 2, ..DistConfig::default() };
    for round in 0..40 {
        let graph = random_graph(&mut rng, 50);
        let goal = match (1 + round % 5).min(graph.num_nodes()) {
            count if round % 2 == 0 && count > 0 => Goal::Blocks(count),
            _ => Goal::Pes(&*machine),
        };
        let config = DistConfig { seed: round as u64, ..config.clone() };
        check_alike(&graph, &[1, 3, 8], goal, (None, None), &config);
    }
}

/// A graph in which each vertex has edges to three before it, the earliest most often.
fn heavy_tailed(count: u32, seed: u64) -> CsrGraph {
    let mut rng = Rng::new(seed);
    let mut edges = std::collections::BTreeSet::new();
    for u in 1..count {
        let mut earlier = || (0..3).fold(u, |end, _| rng.below(end.max(1)));
        edges.extend([(u, earlier()), (u, earlier()), (u, earlier())]);
    }
    CsrGraph::from_edges(count as usize, edges.into_iter().map(|(u, v)| (u, v, 1))).unwrap()
}

#[test]
fn graphs_with_heavy_tailed_degrees_are_divided_as_on_one_machine_while_they_are_small_enough() {
    let graph = heavy_tailed(2000, 5);
    let size = (graph.num_nodes() + graph.num_arcs()) as u64;
    let machine = tree("4:2", "1:10");
    for goal in [Goal::Blocks(8), Goal::Pes(&*machine)] {
        let (expected, _) = in_shared_memory(&graph, goal);
        let with = |most_whole| {
            let heavy_tailed = HeavyTailedConfig { most_whole, ..HeavyTailedConfig::default() };
            DistConfig { heavy_tailed, attempts: 1, ..small() }
        };
        for ranks in [1, 3] {
            let (blocks, report) = check(&graph, ranks, goal, (None, None), &with(size));
            assert_eq!((&blocks, report.levels), (&expected, 0));
        }
        let (_, coarsened) = check_alike(&graph, &[1, 3], goal, (None, None), &with(size - 1));
        assert!(coarsened.levels > 0 && coarsened.loads.overload == 0, "{coarsened:?}");
    }
}

#[test]
fn hubs_that_are_fixed_make_no_tail_heavy() {
    // A grid, and a vertex beside all others.
    let (grid, hub) = (grid(30, 30), 900);
    let arcs = grid.nodes().flat_map(|u| grid.arcs(u).map(move |(v, _)| (u, v)));
    let edges = arcs.filter(|(u, v)| u < v).chain(grid.nodes().map(|u| (u, hub)));
    let graph = CsrGraph::from_edges(901, edges.map(|(u, v)| (u, v, 1))).unwrap();
    let mut fixed = vec![Given::FREE; 901];
    let levels =
        |fixed: Option<&[BlockId]>| check(&graph, 2, Goal::Blocks(4), (None, fixed), &small()).1.levels;
    assert_eq!(levels(None), 0);
    fixed[7] = 0;
    assert_eq!(levels(Some(&fixed)), 0);
    fixed[hub as usize] = 0;
    assert!(levels(Some(&fixed)) > 0);
}

#[test]
fn exact_sizes_hold() {
    let graph = grid(48, 32);
    for size in [1, 4] {
        let config = DistConfig { imbalance: 0.0, ..small() };
        let (_, report) = check(&graph, size, Goal::Blocks(12), (None, None), &config);
        assert_eq!(report.loads.of_blocks, [128; 12]);
    }
}

/// The same graph where three quarters of the vertices weigh nothing.
fn mostly_weightless(graph: &CsrGraph, heaviest: u32, rng: &mut Rng) -> CsrGraph {
    weighed(graph, |_| if rng.below(4) == 0 { rng.below(heaviest + 1).into() } else { 0 })
}

/// The same graph with vertices of other weights.
fn weighed(graph: &CsrGraph, weight: impl FnMut(u32) -> Weight) -> CsrGraph {
    let arcs = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| (u, v, weight)));
    let weights = graph.nodes().map(weight).collect();
    CsrGraph::from_weights_and_edges(weights, arcs.filter(|(u, v, _)| u < v)).unwrap()
}

#[test]
fn no_block_is_empty_while_there_are_vertices_enough() {
    // `check` asserts it.
    for (graph, count) in [(grid(8, 8), 20), (grid(8, 8), 40), (grid(8, 8), 64), (grid(16, 16), 80)] {
        let config = DistConfig::default();
        let (_, first) = check_alike(&graph, &[1, 2, 3, 4], Goal::Blocks(count), (None, None), &config);
        assert_eq!(first.loads.overload, 0);
    }
    let mut rng = Rng::new(29);
    let machine = tree("3:4", "1:10");
    for round in 0..24 {
        let graph = match round % 2 {
            0 => grid(12, 3 + rng.below(9) as usize),
            _ => random_graph(&mut rng, 60),
        };
        let graph = mostly_weightless(&graph, [0, 1, 9][round % 3], &mut rng);
        let count = 1 + rng.below(graph.num_nodes().max(1) as u32) as usize;
        let goal =
            if round % 4 < 2 && graph.num_nodes() > 0 { Goal::Blocks(count) } else { Goal::Pes(&*machine) };
        let coarse = DistConfig { coarsest: 16, coarsest_per_block: 1, ..DistConfig::default() };
        let config = DistConfig { seed: round as u64, imbalance: [0.03, 0.5][round % 2], ..coarse };
        let homes = vec![0; graph.num_nodes()];
        let old = (round % 5 == 0).then_some((&homes[..], "100".parse().unwrap()));
        check_alike(&graph, &[1, 2, 3, 4], goal, (old, None), &config);
    }
}

#[test]
fn least_loads_are_met_on_any_number_of_ranks() {
    let mut rng = Rng::new(31);
    let machine = tree("4:2", "1:10");
    for (round, percent) in [40, 80, 100, 50, 97, 75].into_iter().enumerate() {
        let graph = mesh(40, 30, round as u64);
        let goal = if round % 2 == 0 { Goal::Blocks(8) } else { Goal::Pes(&*machine) };
        let least_load = f64::from(percent) / 100.0;
        let config = DistConfig { seed: round as u64, imbalance: 1.0, least_load, ..small() };
        let homes: Vec<BlockId> = (0..1200).map(|_| rng.below(3)).collect();
        let old = (round > 2).then_some((&homes[..], MigrationWeight::ONE));
        let (_, first) = check_alike(&graph, &[1, 2, 4], goal, (old, None), &config);
        assert_eq!(first.loads.least, [Weight::from(150 * percent / 100); 8]);
        assert_eq!((first.loads.overload, first.loads.shortfall), (0, 0), "{percent}: {first:?}");
    }
}

#[test]
fn remapping_keeps_most_in_place() {
    let graph = mesh(50, 40, 2);
    let machine = tree("4:2", "1:10");
    let (old, before) = check(&graph, 2, Goal::Pes(&*machine), (None, None), &small());
    // A tenth of the vertices becomes three times as heavy, and some are new.
    let heavier = weighed(&graph, |u| if u < 200 { 3 } else { 1 });
    let homes: Vec<BlockId> = old
        .iter()
        .enumerate()
        .map(|(v, &pe)| if v % 50 == 0 { PreviousAssignment::NONE } else { pe })
        .collect();
    let weight: MigrationWeight = "2".parse().unwrap();
    let given = (Some((&homes[..], weight)), None);
    let (blocks, report) = check_alike(&heavier, &[1, 2, 5], Goal::Pes(&*machine), given, &small());
    let away = heavier.nodes().filter(|&v| {
        let home = homes[v as usize];
        home != PreviousAssignment::NONE && home != blocks[v as usize]
    });
    assert_eq!(report.migration, Some(away.map(|v| heavier.node_weight(v)).sum()));
    assert_eq!(report.loads.overload, 0);
    assert!(report.migration.unwrap() < heavier.total_node_weight() / 3, "{report:?}");
    assert!(report.cost.unwrap() < 2 * before.cost.unwrap(), "{report:?}");
    // The same graph stays where it is.
    let given = (Some((&old[..], "9".parse().unwrap())), None);
    let (_, still) = check(&graph, 3, Goal::Pes(&*machine), given, &small());
    assert!(still.migration.unwrap() < 100 && still.cost <= before.cost, "{still:?}");
    // Partitions have homes as well.
    let (parts, report) = check(&graph, 2, Goal::Blocks(6), (None, None), &small());
    let given = (Some((&parts[..], MigrationWeight::ONE)), None);
    let (_, again) = check(&graph, 4, Goal::Blocks(6), given, &small());
    assert!(again.migration.unwrap() < 200 && again.cut <= report.cut + 20, "{again:?} {report:?}");
}

#[test]
fn errors_are_the_same_on_all_ranks() {
    let graph = grid(5, 5);
    let fail_fixed = |goal: Result<usize, &dyn Machine>,
                      old: Option<&[BlockId]>,
                      fixed: Option<(u32, BlockId)>,
                      config: DistConfig| {
        let errors = on_ranks(3, &graph, 1, |comm, part| {
            let goal = goal.map_or_else(Goal::Pes, Goal::Blocks);
            let own = fixed.map(|(vertex, block)| {
                let of = |own| if own == vertex { block } else { Given::FREE };
                part.ranges().own().map(of).collect::<Vec<_>>()
            });
            let fixed = own.as_deref();
            // Only the last rank is wrong.
            let old = old.map(|blocks| Old {
                blocks: &blocks[..part.num_own() - usize::from(comm.rank() == 2 && part.num_own() > 0)],
                weight: MigrationWeight::ONE,
            });
            divide(comm, part, goal, Given { old, fixed, ..Given::default() }, &config).unwrap_err()
        });
        assert!(errors.iter().all(|error| *error == errors[0]));
        errors[0].clone()
    };
    let fail = |goal, old, config| fail_fixed(goal, old, None, config);
    assert_eq!(fail(Ok(0), None, small()).kind, ErrorKind::Usage);
    assert_eq!(fail(Ok(2), None, DistConfig { imbalance: -1.0, ..small() }).kind, ErrorKind::Usage);
    assert_eq!(fail(Ok(2), None, DistConfig { attempts: 0, ..small() }).kind, ErrorKind::Usage);
    assert_eq!(fail(Ok(2), None, DistConfig { least_load: 1.5, ..small() }).kind, ErrorKind::Usage);
    let error = fail(Ok(26), None, small());
    assert_eq!(error.message, "cannot partition 25 vertices into 26 blocks; ask for 1 to 25 blocks");
    assert_eq!(error.kind, ErrorKind::BadData);
    let error = fail(Ok(2), Some(&[7; 25]), small());
    assert_eq!(error.kind, ErrorKind::BadData);
    let error = fail(Ok(2), Some(&[1; 25]), small());
    assert!(error.message.contains("old blocks are those of"), "{error}");
    let error = fail_fixed(Ok(2), None, Some((17, 2)), small());
    assert_eq!(error.message, "vertex 17 is fixed to block 2, but the blocks are 0..2");
    assert_eq!(error.kind, ErrorKind::BadData);
}

#[test]
fn fixed_vertices_stay_on_any_number_of_ranks() {
    let mut rng = Rng::new(23);
    let machine = tree("2:2", "1:10");
    let config = DistConfig { coarsest: 8, coarsest_per_block: 1, ..DistConfig::default() };
    for round in 0..30 {
        let graph = if round % 3 == 0 { grid(30, 20) } else { random_graph(&mut rng, 50) };
        let is_partition = round % 2 == 0 && graph.num_nodes() >= 4;
        let goal = if is_partition { Goal::Blocks(4) } else { Goal::Pes(&*machine) };
        let config = DistConfig { seed: round, ..config.clone() };
        let some = |rng: &mut Rng, of: u32| -> Vec<BlockId> {
            graph.nodes().map(|_| if rng.below(of) == 0 { rng.below(4) } else { Given::FREE }).collect()
        };
        let fixed = some(&mut rng, 2 + round as u32 % 7);
        let old = (round % 5 == 0).then(|| some(&mut rng, 1));
        let old = old.as_ref().map(|old| (&old[..], MigrationWeight::ONE));
        let first = check_alike(&graph, &[1, 3, 8], goal, (old, Some(&fixed)), &config);
        let are_right =
            fixed.iter().zip(&first.0).all(|(&fixed, &block)| fixed == Given::FREE || fixed == block);
        assert!(are_right, "round {round}");
        let is_unit = graph.node_weights().iter().all(|&weight| weight == 1);
        let room = first.1.fixed.as_ref().map(|fixed| fixed.loads.iter().zip(&first.1.loads.bounds));
        let fits = room.is_none_or(|mut room| room.all(|(load, bound)| load <= bound));
        assert!(!(is_unit && fits) || first.1.loads.overload == 0, "round {round}: {:?}", first.1);
    }
}

#[test]
fn fixed_corners_shape_the_partition() {
    let graph = grid(40, 40);
    let mut fixed = vec![Given::FREE; 1600];
    // The corners of each side are in a block.
    (fixed[0], fixed[1560], fixed[39], fixed[1599]) = (0, 0, 1, 1);
    let (blocks, report) = check(&graph, 3, Goal::Blocks(2), (None, Some(&fixed)), &small());
    assert!(report.levels > 1 && report.loads.overload == 0 && report.cut <= 48, "{report:?}");
    assert_eq!([blocks[0], blocks[1560], blocks[39], blocks[1599]], [0, 0, 1, 1]);
    assert_eq!(report.fixed, Some(FixedReport { number: 4, loads: vec![2, 2] }));
}

/// Divides a graph of unit weights on several numbers of ranks with all that can be given beside the goal; checks all figures from scratch.
fn check_given(
    graph: &CsrGraph,
    (goal, targets): (Goal<'_>, &Targets),
    old: Option<(&[BlockId], MigrationWeight, &[Weight])>,
    config: &DistConfig,
) -> (Vec<BlockId>, DistReport) {
    let machine = match goal {
        Goal::Blocks(count) => Ok(count),
        Goal::Pes(machine) => Err(machine),
    };
    let on = |size: usize| {
        let parts = on_ranks(size, graph, size as u64, |comm, part| {
            let own = part.ranges().own();
            let own = own.start as usize..own.end as usize;
            let homes = old.map(|(blocks, weight, _)| Old { blocks: &blocks[own.clone()], weight });
            let sizes = old.map(|(.., sizes)| &sizes[own]);
            let limits = [targets.into()];
            let given = Given::default().with_old(homes).with_sizes(sizes).with_limits(&limits);
            divide(comm, part, machine.map_or_else(Goal::Pes, Goal::Blocks), given, config).unwrap()
        });
        let mut report = parts[0].report.clone();
        (report.coarsening, report.dividing, report.refining) = (0.0, 0.0, 0.0);
        (parts.into_iter().flat_map(|part| part.blocks).collect::<Vec<BlockId>>(), report)
    };
    let (blocks, report) = on(1);
    assert!([2, 5].into_iter().all(|size| on(size) == (blocks.clone(), report.clone())));
    let load = |block| blocks.iter().filter(|&&other| other == block).count() as Weight;
    let loads: Vec<Weight> = (0..targets.num_blocks() as BlockId).map(load).collect();
    assert_eq!((&report.loads.of_blocks, &report.loads.bounds[..]), (&loads, targets.bounds()));
    assert!(loads.iter().zip(targets.bounds()).all(|(load, bound)| load <= bound), "{loads:?}");
    assert!(loads.iter().zip(targets.least_loads()).all(|(load, least)| load >= least), "{loads:?}");
    assert_eq!((report.loads.overload, report.loads.shortfall), (0, 0));
    let moved = old.map(|(homes, _, sizes)| {
        let away = homes.iter().zip(&blocks).zip(sizes).filter(|((home, block), _)| home != block);
        away.map(|(_, size)| size).sum()
    });
    assert_eq!(report.migration, moved);
    (blocks, report)
}

#[test]
fn weights_of_blocks_and_sizes_of_vertices_are_given() {
    let mut rng = Rng::new(37);
    let machine = tree("3:2", "1:10");
    for round in 0..8 {
        let graph = mesh(40, 30, round);
        let mut sizes: Vec<Weight> = (0..6).map(|_| 60 + Weight::from(rng.below(100))).collect();
        sizes[0] += 1200 - sizes.iter().sum::<Weight>();
        let part = |percent: Weight| sizes.iter().map(|size| size * percent / 100).collect::<Vec<_>>();
        let targets = Targets::of_sizes(sizes.clone()).unwrap().with_bounds(part(105)).unwrap();
        let targets = targets.with_least_loads(part(95)).unwrap();
        let goal = if round % 2 == 0 { Goal::Blocks(6) } else { Goal::Pes(&*machine) };
        let homes: Vec<BlockId> = (0..1200).map(|node| node / 200).collect();
        let moving: Vec<Weight> = (0..1200).map(|_| rng.below(9).into()).collect();
        let old = (round % 3 == 0).then_some((&homes[..], MigrationWeight::ONE, &moving[..]));
        check_given(&graph, (goal, &targets), old, &DistConfig { seed: round, ..small() });
    }
    // There may be more blocks than vertices.
    let targets = Targets::of_sizes(vec![1, 1, 0, 1, 1, 0]).unwrap();
    let (blocks, report) = check_given(&grid(2, 2), (Goal::Blocks(6), &targets), None, &small());
    assert_eq!((blocks.len(), report.cut), (4, 4));
}

#[test]
fn large_vertices_stay_and_those_without_size_go() {
    // Rows in bands, of which the left half is dear to move. Columns would be cut less.
    let graph = grid(60, 20);
    let targets = Targets::equal(&graph, 4, 0.05).unwrap();
    let homes: Vec<BlockId> = (0..1200).map(|node| node / 300).collect();
    let is_left = |node: usize| node % 60 < 30;
    let sizes: Vec<Weight> = (0..1200).map(|node| if is_left(node) { 1000 } else { 0 }).collect();
    let old = Some((&homes[..], MigrationWeight::ONE, &sizes[..]));
    for config in [small(), DistConfig::default()] {
        let (blocks, report) = check_given(&graph, (Goal::Blocks(4), &targets), old, &config);
        assert!((0..1200).all(|node| !is_left(node) || blocks[node] == homes[node]));
        assert!(report.migration == Some(0) && report.cut < 180, "{report:?}");
    }
}

#[test]
fn wrong_weights_of_blocks_and_sizes_are_refused_on_all_ranks() {
    let graph = grid(5, 5);
    let fail = |sizes: Option<&(dyn Fn(usize) -> Vec<Weight> + Sync)>,
                targets: &[Weight],
                other: &[Weight]| {
        let errors = on_ranks(3, &graph, 1, |comm, part| {
            let is_last = comm.rank() == 2;
            let targets = Targets::of_sizes(if is_last { other } else { targets }.to_vec()).unwrap();
            let old = vec![0; part.num_own()];
            let old = Old { blocks: &old, weight: MigrationWeight::ONE };
            let wrong = sizes.map(|sizes| sizes(part.num_own()));
            let right = vec![1; part.num_own()];
            let sizes = wrong.filter(|_| is_last).unwrap_or(right);
            let limits = [(&targets).into()];
            let given = Given::default().with_old(Some(old)).with_sizes(Some(&sizes)).with_limits(&limits);
            divide(comm, part, Goal::Blocks(2), given, &small()).unwrap_err()
        });
        assert!(errors.iter().all(|error| *error == errors[0]));
        errors[0].message.clone()
    };
    let even = &[13, 12];
    assert!(fail(None, even, &[12, 13]).contains("division of the weight among the blocks"));
    assert!(fail(None, &[9, 9], &[9, 9]).contains("sum up to 18"));
    assert!(fail(None, &[9, 9, 7], &[9, 9, 7]).contains("3 bounds"));
    assert!(fail(Some(&|count| vec![1; count + 1]), even, even).contains("sizes are those of"));
    assert!(fail(Some(&|count| vec![-1; count]), even, even).contains("has size -1"));
    let most = fail(Some(&|count| vec![Weight::MAX; count]), even, even);
    assert!(most.contains("the cost may exceed"), "{most}");
}
