//! Mapping in one call.

use crate::common::{
    StopAfter, audited_cost, naive_cost, optimum, pattern_trees, random_graph, shuffled, text_of,
};
use std::time::Duration;

use viem::base::rng::Rng;
use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem::machine::{DistanceKind, Grid, Hierarchy, Hypercube, Listed, Machine, Network};
use viem::mapping::Mapping;
use viem::mapping::construct::Construction;
use viem::mapping::objective::score;
use viem::mapping::problem::ProblemError;
use viem::mapping::search::Neighbourhood;
use viem::partition::FixedVertices;
use viem::solve::{
    Balance, Config, MapPreset, OneToOneConfig, PreparedMachine, Request, Solution, SolveError,
};

fn map(graph: &CsrGraph, hierarchy: &Hierarchy, config: &Config) -> Solution {
    solved!(graph, hierarchy, config)
}

/// Every preset, and every construction with every neighbourhood (with the improvement of the fast preset in
/// between).
fn every_config() -> Vec<Config> {
    let mut configs = Vec::new();
    let OneToOneConfig { improvement, constructions, .. } = OneToOneConfig::preset(MapPreset::Fast);
    for preset in MapPreset::ALL {
        let mut base = Config::preset(preset);
        // All rounds of the strong preset are of the same kind, and all children; a few are enough here.
        let own = &mut base.one_to_one.improvement;
        own.rebuilding = own.rebuilding.min(60);
        own.small_instance.children = own.small_instance.children.min(8);
        configs.push(base);
        for algorithm in Construction::ALL {
            for neighbourhood in Neighbourhood::ALL {
                let mut config = base.with_construction(algorithm).with_neighbourhood(neighbourhood);
                let own = &mut config.one_to_one;
                (own.constructions, own.improvement) = (constructions, improvement);
                // Presets with the same construction give the same result.
                if !configs.contains(&config) {
                    configs.push(config);
                }
            }
        }
    }
    configs
}

#[test]
fn the_optimum_is_never_beaten_and_costs_agree_with_a_double_loop() {
    let shapes = [
        ("1", "1"),
        ("2:1", "3:9"),
        ("3", "2"),
        ("2:2", "1:10"),
        ("5", "4"),
        ("3:2", "1:10"),
        ("7", "0"),
        ("2:2:2", "1:10:100"),
        ("4:2", "10:1"),
    ];
    let mut rng = Rng::new(8);
    for (arities, distances) in shapes {
        let hierarchy = Hierarchy::parse(arities, distances).unwrap();
        let n = hierarchy.num_pes();
        for mean_degree in [2, 4] {
            let graph = random_graph(n, mean_degree, 30, &mut rng);
            let optimum = optimum(&graph, &hierarchy);
            for config in every_config() {
                let Solution { mapping, report, .. } = map(&graph, &hierarchy, &config);
                let cost = naive_cost(&graph, &hierarchy, mapping.pes());
                assert_eq!(cost, i128::from(report.cost), "{config:?}");
                assert!(cost >= optimum);
                assert_eq!(
                    i128::from(report.cost_of_identity),
                    naive_cost(&graph, &hierarchy, Mapping::identity(n).pes())
                );
                assert!(
                    report.cost <= report.cost_of_identity
                        && report.cost <= report.cost_of_construction.unwrap()
                );
            }
        }
    }
}

/// A mapping that is written, and read by independent code, has the reported cost.
#[test]
fn the_auditor_agrees_with_the_report() {
    let mut rng = Rng::new(12);
    let machines = [("2:3:4", "1:10:100"), ("1:5:1:7", "6:4:2:9"), ("4:3:4", "0:1000000000:3")];
    for (number, (arities, distances)) in machines.into_iter().enumerate() {
        let hierarchy = Hierarchy::parse(arities, distances).unwrap();
        let graph = random_graph(hierarchy.num_pes(), 4, 30, &mut rng);
        let text = text_of(&graph);
        for config in every_config().into_iter().skip(number).step_by(machines.len()) {
            let Solution { mapping, report, .. } = map(&graph, &hierarchy, &config);
            assert_eq!(audited_cost(&text, &mapping, &hierarchy), report.cost as u128, "{config:?}");
        }
    }
}

#[test]
fn an_edge_per_group_is_mapped_optimally() {
    let graph = CsrGraph::from_edges(8, (0..4).map(|u| (u, u + 4, 1))).unwrap();
    let hierarchy = Hierarchy::parse("2:4", "1:100").unwrap();
    assert_eq!(map(&graph, &hierarchy, &Config::default()).report.cost, 8);
}

#[test]
fn patterns_are_mapped_optimally_to_trees() {
    let mut rng = Rng::new(12);
    for (name, tree, pattern, optimum) in pattern_trees() {
        for seed in 0..if pattern.num_nodes() < 512 { 4 } else { 1 } {
            let graph = shuffled(&pattern, 1, &mut rng);
            let cost = map(&graph, &tree, &Config::default().with_seed(seed)).report.cost;
            assert_eq!(cost, optimum, "{name} {seed}");
        }
    }
}

#[test]
fn results_depend_on_neither_threads_nor_the_kind_of_distances() {
    let hierarchy = Hierarchy::parse("4:2:3:2", "1:10:100:500").unwrap();
    let graph = generate::random_geometric(hierarchy.num_pes(), 9.0, 4);
    for config in every_config() {
        let run = |threads, distances| {
            let config = config.with_threads(threads).with_distances(distances);
            let Solution { mapping, report, .. } = map(&graph, &hierarchy, &config);
            (
                mapping,
                report.cost,
                report.cost_of_construction.unwrap(),
                report.swaps_tried,
                report.swaps_made,
            )
        };
        let expected = run(1, None);
        for (threads, kind) in [2, 8].into_iter().zip(DistanceKind::ALL) {
            assert_eq!(run(threads, Some(kind)), expected, "{threads} {kind:?} {config:?}");
        }
    }
}

#[test]
fn the_seed_matters() {
    let hierarchy = Hierarchy::parse("4:4:4", "1:10:100").unwrap();
    let graph = generate::random_geometric(64, 9.0, 4);
    let config = Config::default();
    let with_seed = |seed| map(&graph, &hierarchy, &config.with_seed(seed)).mapping;
    assert_eq!(with_seed(1), with_seed(1));
    assert!((2..6).any(|seed| with_seed(seed) != with_seed(1)));
}

#[test]
fn never_worse_than_the_identity_or_the_start() {
    let hierarchy = Hierarchy::parse("2:3:4", "1:10:100").unwrap();
    // The identity is optimal: each group of the hierarchy is a clique.
    let graph = CsrGraph::from_edges(24, (0..12).map(|group| (2 * group, 2 * group + 1, 10))).unwrap();
    let shuffled = Mapping::from_pes((0..24).map(|process| process * 7 % 24).collect()).unwrap();
    let config =
        Config::default().with_construction(Construction::Random).with_neighbourhood(Neighbourhood::None);
    let solution = map(&graph, &hierarchy, &config);
    assert_eq!(solution.mapping, Mapping::identity(24));
    assert_eq!(solution.report.cost, 240);

    // Relabelled such that only the start is good.
    let process_on = shuffled.process_on_each_pe().expect("a permutation");
    let graph = CsrGraph::from_edges(24, process_on.chunks(2).map(|pair| (pair[0], pair[1], 10))).unwrap();
    let solution = solved!(&graph, &hierarchy, &config, start(&shuffled));
    assert_eq!(solution.mapping, shuffled);
    assert_eq!((solution.report.cost, solution.report.cost_of_start), (240, Some(240)));
}

#[test]
fn unsolvable_problems_are_rejected() {
    let hierarchy = Hierarchy::parse("2:3", "1:10").unwrap();
    let graph = generate::grid(3, 2);
    let fails =
        |config: &Config| Request::new(&graph, &PreparedMachine::new(&hierarchy)).solve(config).unwrap_err();
    let config = Config::default();
    assert!(matches!(fails(&config.with_threads(0)), SolveError::Config(_)));

    let large = generate::grid(2, 4);
    let error = Request::new(&large, &PreparedMachine::new(&hierarchy)).solve(&config).unwrap_err();
    assert!(matches!(error, SolveError::Problem(ProblemError::TooManyProcesses { processes: 8, room: 6 })));
    let start = Mapping::identity(5);
    let error =
        Request::new(&graph, &PreparedMachine::new(&hierarchy)).start(&start).solve(&config).unwrap_err();
    assert!(matches!(error, SolveError::StartSize { found: 5, expected: 6 }));

    let far = Hierarchy::parse("2:3", "1:9223372036854775807").unwrap();
    for distances in [None, Some(DistanceKind::Stored)] {
        let error = Request::new(&graph, &PreparedMachine::new(&far))
            .solve(&config.with_distances(distances))
            .unwrap_err();
        assert!(matches!(error, SolveError::Problem(ProblemError::CostOverflow { .. })));
    }
}

#[test]
fn few_processes_use_a_part_of_a_large_machine() {
    let graph = generate::mesh(4, 3, 1);
    let trees = ["2:3:2000", "2:3:17"].map(|arities| Hierarchy::parse(arities, "1:5:9").unwrap());
    let cubes = [13, 7].map(|dimension| Hypercube::new(dimension).unwrap());
    let machines: [[&dyn Machine; 2]; 2] = [[&trees[0], &trees[1]], [&cubes[0], &cubes[1]]];
    for machines in machines {
        let [large, small] = machines.map(|machine| solved!(&graph, machine, &Config::default()));
        assert_eq!(large.mapping, small.mapping);
        assert_eq!(large.report.cost, score(&graph, machines[0], large.mapping.pes()).unwrap());
        // A start may be anywhere.
        let last = machines[0].num_pes() as u32 - 1;
        let start = Mapping::on(machines[0], (0..12).map(|process| last - process).collect()).unwrap();
        let fast = Config::preset(MapPreset::Fast).with_neighbourhood(Neighbourhood::None);
        let resumed = solved!(&graph, machines[0], &fast, start(&start));
        assert!(resumed.report.cost <= resumed.report.cost_of_start.unwrap());
    }
}

#[test]
fn one_process_or_none_is_mapped() {
    let hierarchy = Hierarchy::parse("1:1", "5:6").unwrap();
    let one = GraphBuilder::new(1).build().unwrap();
    for config in every_config() {
        let solution = map(&one, &hierarchy, &config);
        assert_eq!((solution.mapping.pes(), solution.report.cost), (&[0][..], 0));
    }
    let none = GraphBuilder::new(0).build().unwrap();
    let solution = map(&none, &hierarchy, &Config::default());
    assert_eq!((solution.mapping.num_processes(), solution.report.cost), (0, 0));
}

#[test]
fn a_stopped_run_returns_a_valid_mapping() {
    let hierarchy = Hierarchy::parse("4:4:4", "1:10:100").unwrap();
    let graph = generate::random_geometric(64, 9.0, 4);
    for config in every_config() {
        let Solution { mapping, report, .. } = Request::new(&graph, &PreparedMachine::new(&hierarchy))
            .observed(&StopAfter::questions(0))
            .solve(&config)
            .unwrap();
        assert_eq!(i128::from(report.cost), naive_cost(&graph, &hierarchy, mapping.pes()));
        assert!(report.stopped);
        assert!(
            report.cost <= report.cost_of_identity && report.cost <= report.cost_of_construction.unwrap()
        );
    }
}

#[test]
fn the_report_can_be_written_as_json() {
    let hierarchy = Hierarchy::parse("4:4:4", "1:10:100").unwrap();
    let graph = generate::random_geometric(64, 9.0, 4);
    let report = map(&graph, &hierarchy, &Config::default()).report;
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["num_processes"], 64);
    assert_eq!(json["cost"], report.cost);
    assert!(json["seconds"]["search"].as_f64().unwrap() >= 0.0);
}

#[test]
fn a_time_limit_only_ever_lowers_the_cost() {
    let hierarchy = Hierarchy::parse("4:4:4", "1:10:100").unwrap();
    let graph = generate::random_geometric(64, 9.0, 4);
    let config = Config::preset(MapPreset::Fast);
    let least = map(&graph, &hierarchy, &config).report.cost;
    for (milliseconds, bound) in [(0, i64::MAX), (300, least)] {
        let time_limit = Some(std::time::Duration::from_millis(milliseconds));
        let Solution { mapping, report, .. } = map(&graph, &hierarchy, &config.with_time_limit(time_limit));
        assert!(report.cost <= report.cost_of_identity.min(report.cost_of_construction.unwrap()));
        assert_eq!(i128::from(report.cost), naive_cost(&graph, &hierarchy, mapping.pes()));
        // On any machine, the first cycle is over by the later limit unless it is stopped.
        assert!(report.cost <= bound || report.seconds.total >= 0.28);
    }
}

fn of_pairs(n: usize, pairs: impl Iterator<Item = (u32, u32)>) -> CsrGraph {
    CsrGraph::from_edges(n, pairs.map(|(u, v)| (u, v, 2))).unwrap()
}

/// Far longer than any test runs: such a run returns only if it ends by itself.
const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn a_time_limit_is_not_used_up_where_the_optimum_is_proved() {
    let random = random_graph(12, 3, 9, &mut Rng::new(4));
    let clique = of_pairs(12, (0..12).flat_map(|u| (0..u).map(move |v| (u, v))));
    let star = of_pairs(9, (1..9).map(|u| (0, u)));
    let beside = |u: u32| [u / 6 * 6 + (u + 1) % 6, (u + 6) % 36].map(|v| (u, v));
    let torus = of_pairs(36, (0..36).flat_map(beside));
    let complete = Network::new(clique.clone()).unwrap();
    let mesh = |lengths: &[u32]| Grid::mesh(lengths).unwrap();
    let tree = Hierarchy::parse("16:4", "1:10").unwrap();
    let cases: [(&str, CsrGraph, Box<dyn Machine>); 9] = [
        ("a path", generate::grid(12, 1), Box::new(mesh(&[5, 4]))),
        ("a grid", generate::grid(20, 20), Box::new(mesh(&[20, 20]))),
        ("a torus", torus, Box::new(Grid::torus(&[6, 6]).unwrap())),
        ("a star", star, Box::new(mesh(&[3, 4]))),
        ("a clique", clique, Box::new(mesh(&[4, 3]))),
        ("equal distances", random.clone(), Box::new(complete)),
        ("a group of a tree", random.clone(), Box::new(Listed::new(tree, (16..30).collect()).unwrap())),
        ("two processes", of_pairs(2, [(0, 1)].into_iter()), Box::new(mesh(&[30, 30]))),
        ("no messages", of_pairs(12, std::iter::empty()), Box::new(mesh(&[5, 5]))),
    ];
    for (name, graph, machine) in cases {
        let config = Config::default().with_time_limit(HOUR);
        let solution = solved!(&graph, &machine, &config);
        assert!(!solution.report.stopped, "{name}");
        assert_eq!(score(&graph, &machine, solution.mapping.pes()).unwrap(), solution.report.cost, "{name}");
    }
}

#[test]
fn a_time_limit_is_not_used_up_where_nothing_can_change() {
    let graph = random_graph(12, 3, 9, &mut Rng::new(4));
    let machines: [&dyn Machine; 2] =
        [&Grid::mesh(&[20, 20]).unwrap(), &Hierarchy::parse("20:20", "1:10").unwrap()];
    for num_fixed in [11, 12] {
        for machine in machines {
            let mut fixed = FixedVertices::none(12, 400);
            (0..num_fixed).for_each(|process| fixed.fix(process, 33 * process).unwrap());
            let config = Config::default().with_time_limit(HOUR);
            let solution = solved!(&graph, machine, &config, fixed(&fixed));
            assert!(!solution.report.stopped);
            if num_fixed == 11 {
                let costs = (0..400).filter(|pe| pe % 33 > 0 || *pe > 330).map(|pe| {
                    let mut pes: Vec<u32> = (0..11).map(|process| 33 * process).collect();
                    pes.push(pe);
                    score(&graph, machine, &pes).unwrap()
                });
                assert_eq!(costs.min(), Some(solution.report.cost));
            }
        }
    }
    let mut many = Config::preset(MapPreset::Eco);
    many.time_limit = Some(HOUR);
    let mesh = Grid::mesh(&[2, 2]).unwrap();
    let path = solved!(&generate::grid(64, 1), &mesh, &many, balanced(Balance::default()));
    assert_eq!((path.report.cost, path.report.stopped), (6, false));
    let graph = random_graph(40, 3, 9, &mut Rng::new(4));
    let fixed = FixedVertices::new(&(0..40).map(|vertex| Some(vertex % 4)).collect::<Vec<_>>(), 4).unwrap();
    assert!(!solved!(&graph, &mesh, &many, balanced(Balance::default()), fixed(&fixed)).report.stopped);
}

/// Neither distances nor parts of these machines fit the memory of most computers.
#[test]
fn few_processes_need_only_a_part_of_a_vast_machine() {
    let graph = random_graph(24, 3, 9, &mut Rng::new(6));
    let config = Config::preset(MapPreset::Fast);
    let vertex = Hierarchy::parse("4", "1").unwrap();
    let sides = Grid::torus(&[900, 900, 900]).unwrap().dimensions().to_vec();
    let (mesh, torus) = (Grid::mesh(&[60_000, 60_000]).unwrap(), Grid::new(sides, vertex, 3).unwrap());
    let tree = Hierarchy::parse("1000:1000:1000", "1:10:100").unwrap();
    let cube = Hypercube::new(31).unwrap();
    let mut rng = Rng::new(9);
    let vast: [&dyn Machine; 4] = [&mesh, &torus, &tree, &cube];
    for machine in vast {
        let few = solved!(&graph, &machine, &config);
        assert!(few.report.cost <= few.report.cost_of_identity);
        let list: Vec<u32> = (0..30).map(|index| 33_000_000 * index + rng.below(1000)).collect();
        let listed = Listed::new(machine, list).unwrap();
        let solution = solved!(&graph, &listed, &config);
        assert!(solution.report.cost <= solution.report.cost_of_identity);
    }
    let medium = Grid::mesh(&[300, 300]).unwrap();
    let start = Mapping::on(&medium, (0..24).map(|process| 80_000 + 300 * process).collect()).unwrap();
    let solution = solved!(&graph, &medium, &config, start(&start));
    assert!(solution.report.cost <= solution.report.cost_of_start.unwrap());
}
