//! Many-to-one mapping, compared with the definitions.

use std::time::Duration;

use crate::common::{Family, StopAfter, families, first_vertices, random_edges, small_families};
use viem::base::rng::Rng;
use viem::base::types::{PeId, Weight};
use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem::machine::{Capacities, Grid, Hierarchy, Listed, Machine};
use viem::mapping::Mapping;
use viem::mapping::construct::grid_mappings;
use viem::mapping::objective::evaluate;
use viem::partition::{PartitionPreset, Partitioner, Targets};
use viem::solve::{Balance, Config, LoadLimits, MapPreset, PreparedMachine, Request, Solution, SolveError};

fn config(preset: MapPreset) -> Config {
    Config::preset(preset)
}

/// The loads of the PEs.
fn loads_of(graph: &CsrGraph, num_pes: usize, pe_of: &[PeId]) -> Vec<Weight> {
    let mut loads = vec![0; num_pes];
    for node in graph.nodes() {
        loads[pe_of[node as usize] as usize] += graph.node_weight(node);
    }
    loads
}

/// `(1 + percent / 100) * ceil(total * capacity / sum of the capacities)` for each PE.
fn bounds_of(graph: &CsrGraph, room: &[usize], percent: i64) -> Vec<Weight> {
    let sum: Weight = room.iter().map(|&room| room as Weight).sum();
    let share = |&room: &usize| (graph.total_node_weight() * room as Weight + sum - 1) / sum;
    room.iter().map(|room| share(room) * (100 + percent) / 100).collect()
}

/// Asserts that J, loads and bounds match the definitions.
fn check(family: &Family, graph: &CsrGraph, percent: i64, solution: &Solution, context: &str) {
    let Solution { mapping, report, .. } = solution;
    let pe_of = mapping.pes();
    assert_eq!(pe_of.len(), graph.num_nodes(), "{context}");
    assert_eq!(family.cost(graph, pe_of), i128::from(report.cost), "{context}");
    let loads = loads_of(graph, family.machine.num_pes(), pe_of);
    let bounds_by_definition = bounds_of(graph, &family.room, percent);
    assert_eq!(
        Balance::default().with_imbalance(percent as f64 / 100.0).bounds(graph, &*family.machine),
        bounds_by_definition,
        "{context}"
    );
    assert_eq!(Some(report.loads.unwrap().least), loads.iter().copied().min(), "{context}");
    assert_eq!(Some(report.loads.unwrap().greatest), loads.iter().copied().max(), "{context}");
    let excess = loads.iter().zip(&bounds_by_definition).map(|(load, bound)| (load - bound).max(0));
    assert_eq!(report.loads.unwrap().overload, excess.sum::<Weight>(), "{context}");
    let cut = |u: u32| {
        let own = pe_of[u as usize];
        graph.arcs(u).filter(move |&(v, _)| pe_of[v as usize] != own).map(|(_, w)| w)
    };
    assert_eq!(2 * report.cut, graph.nodes().flat_map(cut).sum::<Weight>(), "{context}");
}

#[test]
fn every_preset_keeps_the_bounds_on_every_machine_and_reports_correctly() {
    let mut rng = Rng::new(1);
    let graph = generate::random_geometric(150, 7.0, 3);
    for (number, family) in families(&mut rng).into_iter().enumerate() {
        let cases = [(MapPreset::Fast, 3, true), (MapPreset::Fast, 0, false), (MapPreset::Eco, 0, true)];
        // Good mappings take their time.
        for (preset, percent, again) in
            cases.into_iter().skip(number % 2).take(1 + usize::from(number % 4 != 0))
        {
            let config = config(preset).with_seed(5);
            let solution = solved!(
                &graph,
                &*family.machine,
                &config,
                balanced(Balance::default().with_imbalance(percent as f64 / 100.0))
            );
            let context = format!("{} {preset} {percent}", family.name);
            check(&family, &graph, percent, &solution, &context);
            assert_eq!(solution.report.loads.unwrap().overload, 0, "{context}");
            if again {
                let again = solved!(
                    &graph,
                    &*family.machine,
                    &config.with_threads(2),
                    balanced(Balance::default().with_imbalance(percent as f64 / 100.0))
                );
                assert_eq!(again.mapping, solution.mapping, "{context}");
            }
        }
    }
}

/// The minimum of J over all mappings within the bounds that leave no PE empty, if there is one.
fn optimum(family: &Family, graph: &CsrGraph, bounds: &[Weight]) -> Option<i128> {
    fn least(family: &Family, graph: &CsrGraph, pe_of: &mut Vec<PeId>, room: &mut [Weight]) -> Option<i128> {
        if pe_of.len() == graph.num_nodes() {
            let is_full = (0..room.len() as PeId).all(|pe| pe_of.contains(&pe));
            return is_full.then(|| family.cost(graph, pe_of));
        }
        let weight = graph.node_weight(pe_of.len() as u32);
        let mut best = None;
        for pe in 0..room.len() {
            if room[pe] >= weight {
                room[pe] -= weight;
                pe_of.push(pe as PeId);
                let found = least(family, graph, pe_of, room);
                best = best.into_iter().chain(found).min();
                pe_of.pop();
                room[pe] += weight;
            }
        }
        best
    }
    least(family, graph, &mut Vec::new(), &mut bounds.to_vec())
}

#[test]
fn tiny_problems_are_solved_optimally() {
    let mut rng = Rng::new(7);
    let mut tries = 0;
    for family in small_families(&mut rng) {
        // Three PEs of each machine, of unequal capacity, and eight vertices.
        let list: Vec<PeId> = (0..3).map(|i| i * 2).collect();
        let room: Vec<usize> = (0..3).map(|_| 1 + rng.below(3) as usize).collect();
        let machine = Listed::new(family.machine, list.clone()).unwrap();
        let capacities = room.iter().map(|&room| room as u32).collect();
        let machine = Capacities::new(machine, capacities).unwrap();
        let far = |p: usize, q: usize| family.distances[list[p] as usize][list[q] as usize];
        let distances = (0..3).map(|p| (0..3).map(|q| far(p, q)).collect()).collect();
        let part = Family { name: family.name, machine: Box::new(machine), is_tree: false, distances, room };
        for weights in [1, 3] {
            let mut builder = GraphBuilder::new(8);
            for (u, v) in random_edges(8, 13, &mut rng) {
                builder.add_edge(u, v, i64::from(rng.below(5)) + 1);
            }
            (0..8).for_each(|node| builder.set_node_weight(node, 1 + i64::from(rng.below(weights))));
            let graph = builder.build().unwrap();
            let solution =
                solved!(&graph, &*part.machine, &config(MapPreset::Strong), balanced(Balance::default()));
            check(&part, &graph, 3, &solution, part.name);
            let best = optimum(&part, &graph, &bounds_of(&graph, &part.room, 3));
            let Some(best) = best else { continue };
            tries += 1;
            assert_eq!(
                (solution.report.loads.unwrap().overload, i128::from(solution.report.cost)),
                (0, best)
            );
        }
    }
    assert!(tries > 20, "{tries}");
}

#[test]
fn exact_sizes_are_met_and_work_follows_the_speeds() {
    let graph = generate::mesh(40, 25, 2);
    let tree = Hierarchy::parse("4:3", "1:10").unwrap();
    let exact = config(MapPreset::Eco);
    let solution = solved!(&graph, &tree, &exact, balanced(Balance::default().with_imbalance(0.0)));
    let loads = loads_of(&graph, 12, solution.mapping.pes());
    assert!(loads.iter().all(|&load| load == 83 || load == 84), "{loads:?}");
    let speeds: Vec<u32> = (0..12).map(|pe| 1 + pe % 8).collect();
    let sum: u32 = speeds.iter().sum();
    // Their total exceeds 32 bits.
    let capacities = speeds.iter().map(|speed| speed << 28).collect();
    let machine = Capacities::new(tree, capacities).unwrap();
    let solution = solved!(&graph, &machine, &exact, balanced(Balance::default().with_imbalance(0.0)));
    for (load, &speed) in loads_of(&graph, 12, solution.mapping.pes()).into_iter().zip(&speeds) {
        let share = 1000.0 * f64::from(speed) / f64::from(sum);
        assert!((load as f64 - share).abs() < 1.0, "{load} for {share}");
    }
}

#[test]
fn overload_is_reported_and_not_fatal() {
    let mut builder = GraphBuilder::new(30);
    (0..29).for_each(|node| builder.add_edge(node, node + 1, 1));
    builder.set_node_weight(7, 100);
    let graph = builder.build().unwrap();
    let machine = Hierarchy::parse("2:2", "1:10").unwrap();
    let solution = solved!(&graph, &machine, &config(MapPreset::Eco), balanced(Balance::default()));
    let loads = loads_of(&graph, 4, solution.mapping.pes());
    // A bound of 33: the heavy vertex has a PE to itself.
    assert_eq!(solution.report.loads.unwrap().bound, 33);
    assert_eq!(solution.report.loads.unwrap().overload, 67, "{loads:?}");
}

#[test]
fn a_start_is_improved_and_never_made_worse() {
    let graph = generate::mesh(40, 25, 2);
    let machine = Grid::torus(&[3, 4]).unwrap();
    let family = Family::grid("torus", machine.clone());
    let first = solved!(&graph, &machine, &config(MapPreset::Eco).with_seed(9), balanced(Balance::default()));
    let stripes = Mapping::many(12, graph.nodes().map(|node| node * 12 / 1000).collect()).unwrap();
    for start in [&first.mapping, &stripes] {
        let improved =
            solved!(&graph, &machine, &config(MapPreset::Fast), balanced(Balance::default()), start(start));
        check(&family, &graph, 3, &improved, "improved");
        let of_start = improved.report.cost_of_start.unwrap();
        assert_eq!(i128::from(of_start), family.cost(&graph, start.pes()));
        assert!(improved.report.cost <= of_start);
        assert_eq!(improved.report.loads.unwrap().overload, 0);
    }
    let short = Mapping::many(12, vec![0; 5]).unwrap();
    let refused = Request::new(&graph, &PreparedMachine::new(&machine))
        .balanced(Balance::default())
        .start(&short)
        .solve(&config(MapPreset::Fast));
    assert!(matches!(refused, Err(SolveError::StartSize { found: 5, expected: 1000 })));
}

/// Excess over the bounds, number of PEs without a vertex, J: mappings are compared in this order.
fn rank_of(family: &Family, graph: &CsrGraph, pe_of: &[PeId]) -> (Weight, usize, i128) {
    let loads = loads_of(graph, family.machine.num_pes(), pe_of);
    let bounds = bounds_of(graph, &family.room, 3);
    let excess = loads.iter().zip(&bounds).map(|(load, bound)| (load - bound).max(0)).sum();
    let empty = (0..loads.len()).filter(|&pe| !pe_of.contains(&(pe as PeId))).count();
    (excess, empty, family.cost(graph, pe_of))
}

#[test]
fn neither_the_start_nor_equal_ranges_are_better_than_the_result() {
    let family = Family::tree("tree", "2:3", "1:10");
    let mut rng = Rng::new(17);
    for seed in 0..60 {
        let count = 6 + rng.below(20) as usize;
        let graph = generate::random_geometric(count, 4.0, seed);
        // Some of these leave PEs empty, and most break bounds.
        let pes = 1 + rng.below(6);
        let random = (0..count).map(|_| rng.below(pes)).collect();
        let ranges = (0..count).map(|node| (node * 6 / count) as PeId).collect();
        let [random, ranges] = [random, ranges].map(|pe_of| Mapping::many(6, pe_of).unwrap());
        let config = config(MapPreset::Fast).with_seed(seed);
        let improved =
            solved!(&graph, &*family.machine, &config, balanced(Balance::default()), start(&random));
        let scratch = solved!(&graph, &*family.machine, &config, balanced(Balance::default()));
        for (start, found) in [(&random, &improved), (&ranges, &scratch)] {
            let [before, after] = [start, &found.mapping].map(|it| rank_of(&family, &graph, it.pes()));
            assert!(after <= before, "{seed}: {after:?} {before:?}");
        }
    }
}

/// Grids and geometric graphs with few and many vertices on a PE, so that further starts, exchanges and both numberings are tried or not.
#[test]
fn no_preset_is_worse_than_a_quicker_one_and_threads_do_not_decide() {
    let mut rng = Rng::new(3);
    for family in [Family::tree("tree", "2:3:3", "1:4:10"), Family::tree("wide", "4:8", "1:10")] {
        for seed in 0..2 {
            let count = 50 + rng.below(250) as usize;
            let graph = match seed % 2 {
                0 => generate::grid(count / 9, 9),
                _ => generate::random_geometric(count, 6.0, seed),
            };
            let solve = |preset, threads| {
                let config = config(preset).with_seed(seed).with_threads(threads);
                solved!(&graph, &*family.machine, &config, balanced(Balance::default())).mapping
            };
            let of_all = [MapPreset::Fast, MapPreset::Eco, MapPreset::Strong].map(|preset| solve(preset, 1));
            let ranks = of_all.each_ref().map(|found| rank_of(&family, &graph, found.pes()));
            assert!(ranks.is_sorted_by(|quicker, slower| slower <= quicker), "{seed}: {ranks:?}");
            assert_eq!(solve(MapPreset::Eco, 2).pes(), of_all[1].pes(), "{seed}");
        }
    }
}

#[test]
fn with_exact_sizes_a_balanced_start_is_not_made_worse() {
    let mut builder = GraphBuilder::new(4);
    [1, 100, 1].into_iter().zip(0..).for_each(|(weight, node)| builder.add_edge(node, node + 1, weight));
    let graph = builder.build().unwrap();
    let machine = Grid::mesh(&[3]).unwrap();
    let start = Mapping::many(3, vec![0, 1, 1, 2]).unwrap();
    let exact = config(MapPreset::Eco);
    let solution =
        solved!(&graph, &machine, &exact, balanced(Balance::default().with_imbalance(0.0)), start(&start));
    assert_eq!((solution.report.cost_of_start, solution.report.cost), (Some(4), 4));
}

#[test]
fn a_mapping_that_was_complete_before_the_time_limit_was_not_stopped() {
    let (small, large) = (generate::mesh(6, 4, 1), generate::random_geometric(60_000, 8.0, 2));
    let machine = Grid::torus(&[3, 4]).unwrap();
    let limited = |seconds| {
        let mut limited = config(MapPreset::Fast);
        limited.time_limit = Some(Duration::from_secs_f64(seconds));
        limited
    };
    assert!(solved!(&large, &machine, &limited(1e-6), balanced(Balance::default())).report.stopped);
    assert!(!solved!(&small, &machine, &limited(5.0), balanced(Balance::default())).report.stopped);
}

#[test]
fn stopped_at_any_time_the_bounds_hold() {
    let graph = generate::random_geometric(900, 7.0, 3);
    let family = Family::tree("tree", "2:3:2", "1:10:100");
    for percent in [0, 3] {
        for questions in [0, 1, 2, 5, 10, 20, 50, 100] {
            let config = config(MapPreset::Eco);
            let stop = StopAfter::questions(questions);
            let solution = Request::new(&graph, &PreparedMachine::new(&*family.machine))
                .balanced(Balance::default().with_imbalance(percent as f64 / 100.0))
                .observed(&stop)
                .solve(&config)
                .unwrap();
            check(&family, &graph, percent, &solution, "stopped");
            assert_eq!(solution.report.loads.unwrap().overload, 0, "{questions}");
            assert!(solution.report.stopped);
        }
    }
}

#[test]
fn j_is_less_than_in_two_steps() {
    let graph = generate::random_geometric(3000, 8.0, 11);
    let machine = Hierarchy::parse("4:4:4", "1:10:100").unwrap();
    let direct = solved!(&graph, &machine, &config(MapPreset::Eco), balanced(Balance::default()));
    let targets = Targets::equal(&graph, 64, 0.03).unwrap();
    let partition = Partitioner::new(PartitionPreset::Eco, 0).partition(&graph, &targets);
    let model = viem::graph::quotient::contract(&graph, partition.blocks(), 64);
    let mapped = solved!(&model.with_unit_node_weights(), &machine, &Config::preset(MapPreset::Eco));
    assert!(
        100 * direct.report.cost < 95 * mapped.report.cost,
        "{} {}",
        direct.report.cost,
        mapped.report.cost
    );
}

/// Mapping to few PEs of a mesh, connected or not: no worse than a partition without distances whose blocks
/// are placed optimally.
#[test]
fn j_onto_a_few_pes_is_not_above_that_of_placed_blocks() {
    let graph = generate::mesh(30, 25, 1);
    let targets = Targets::equal(&graph, 4, 0.03).unwrap();
    let partition = Partitioner::new(PartitionPreset::Fast, 0).partition(&graph, &targets);
    let (mut sum, mut sum_of_placed) = (0, 0);
    for list in [[0, 1, 2, 3], [0, 2, 5, 7], [1, 2, 4, 7], [0, 1, 4, 5]] {
        let machine = Listed::new(Grid::mesh(&[2, 4]).unwrap(), list.to_vec()).unwrap();
        let placed = |order: &[PeId]| {
            let pe_of: Vec<PeId> = partition.blocks().iter().map(|&block| order[block as usize]).collect();
            viem::score(&graph, &Capacities::new(machine.clone(), vec![750; 4]).unwrap(), &pe_of).unwrap()
        };
        let mut orders = vec![vec![]];
        for _ in 0..4 {
            let next = |order: Vec<PeId>| {
                let free = (0..4).filter(|pe| !order.contains(pe)).collect::<Vec<_>>();
                free.into_iter().map(move |pe| [&order[..], &[pe]].concat())
            };
            orders = orders.into_iter().flat_map(next).collect();
        }
        let placed = orders.iter().map(|order| placed(order)).min().unwrap();
        let cost =
            solved!(&graph, &machine, &config(MapPreset::Fast), balanced(Balance::default())).report.cost;
        assert!(cost <= placed, "{list:?}: {cost} {placed}");
        (sum, sum_of_placed) = (sum + cost, sum_of_placed + placed);
    }
    assert!(sum < sum_of_placed, "{sum} {sum_of_placed}");
}

/// Grids with whole and with incomplete last layers, onto PEs of equal and of unequal capacity: no cut of the grid into shares has a smaller J.
#[test]
fn grids_are_mapped_no_worse_than_they_are_cut() {
    let mut rng = Rng::new(8);
    let tree = Hierarchy::parse("3:4", "1:10").unwrap();
    let torus = Grid::torus(&[4, 3]).unwrap();
    let machines: [Box<dyn Machine>; 4] = [
        Box::new(tree.clone()),
        Box::new(torus.clone()),
        Box::new(Capacities::new(tree, (0..12).map(|pe| 1 + pe % 3).collect()).unwrap()),
        Box::new(Capacities::new(torus, (0..12).map(|pe| 2 + pe % 5).collect()).unwrap()),
    ];
    for (index, machine) in machines.iter().enumerate() {
        for preset in [MapPreset::Fast, MapPreset::Eco] {
            let (rows, columns) = (20 + rng.below(20) as usize, 15 + rng.below(20) as usize);
            let graph = first_vertices(&generate::grid(rows, columns), rows * columns - 7 * (index % 2));
            let limits = LoadLimits::from(Balance::default());
            let places = limits.places(&graph, machine).unwrap();
            let cuts = grid_mappings(&graph, &places, 1 << 20);
            assert!(cuts.len() > 8);
            let prepared = PreparedMachine::new(machine);
            let found = Request::new(&graph, &prepared)
                .balanced(Balance::default())
                .solve(&config(preset))
                .unwrap()
                .report;
            for cut in &cuts {
                let loads = limits.loads(&graph, machine, cut.pes());
                assert_eq!((loads.overload, loads.empty), (0, 0), "{}", machine.describe());
                let cost = evaluate(&graph, prepared.distances().unwrap(), cut).unwrap();
                assert!(found.cost <= cost, "{preset}, {rows} x {columns} on {}", machine.describe());
            }
        }
    }
}

#[test]
fn odd_problems_have_a_mapping() {
    let tree = Hierarchy::parse("2:2", "1:10").unwrap();
    let one = Hierarchy::parse("1", "1").unwrap();
    for n in [0, 1, 2, 3, 5] {
        let graph = GraphBuilder::new(n).build().unwrap();
        for machine in [&tree, &one] {
            let solution = solved!(&graph, machine, &config(MapPreset::Strong), balanced(Balance::default()));
            assert_eq!((solution.mapping.num_processes(), solution.report.cost), (n, 0));
        }
    }
    let bad = config(MapPreset::Eco);
    let graph = generate::grid(4, 4);
    assert!(matches!(
        Request::new(&graph, &PreparedMachine::new(&tree))
            .balanced(Balance::default().with_imbalance(-0.1))
            .solve(&bad),
        Err(SolveError::Config(_))
    ));
    let far = Hierarchy::parse("2:2", "1:9000000000000000000").unwrap();
    assert!(matches!(
        Request::new(&graph, &PreparedMachine::new(&far))
            .balanced(Balance::default())
            .solve(&config(MapPreset::Eco)),
        Err(SolveError::Problem(_))
    ));
    let machine: &dyn Machine = &far;
    assert_eq!(machine.num_pes(), 4);
}
