//! Mapping to machines of every family, compared with the definitions.

use crate::common::{
    Family, StopAfter, families, instance, pattern_machines, random_graph, shuffled, small_families,
};
use viem::base::rng::Rng;
use viem::base::types::{NodeId, PeId};
use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem::machine::{Grid, Hypercube, Machine};
use viem::mapping::Mapping;
use viem::mapping::construct::{Construction, ConstructionError};
use viem::mapping::objective::evaluate;
use viem::mapping::search::{Neighbourhood, SearchConfig};
use viem::solve::{Config, MapPreset, PreparedMachine, Request, Solution, SolveError};
use viem_io::Source;
use viem_io::metis::{self, NodeWeights};

/// Numbers of PEs left without a process.
const SPARE: [usize; 2] = [0, 2];

/// The fast preset with few proposals: the tests do not depend on the quality of mappings.
fn brief() -> Config {
    let mut config = Config::preset(MapPreset::Fast);
    config.one_to_one.improvement.anywhere.cooling.proposals = 20;
    config.one_to_one.construction.multilevel.cooling.proposals = 40;
    config.one_to_one.construction.multilevel.tries = 2;
    config
}

/// Short settings with every construction and every neighbourhood.
fn every_config() -> Vec<Config> {
    let brief = brief();
    let with = |algorithm| {
        Neighbourhood::ALL
            .into_iter()
            .map(move |pairs| brief.with_construction(algorithm).with_neighbourhood(pairs))
    };
    Construction::ALL.into_iter().flat_map(with).collect()
}

/// Short settings with every construction and every neighbourhood at least once; sequential phases run on the
/// same threads.
fn every_member() -> Vec<Config> {
    let with = |(index, algorithm)| {
        let pairs = Neighbourhood::ALL[index % Neighbourhood::ALL.len()];
        brief().with_construction(algorithm).with_neighbourhood(pairs)
    };
    Construction::ALL.into_iter().enumerate().map(with).collect()
}

/// Returns whether a construction works on a machine.
fn is_possible(config: &Config, family: &Family) -> bool {
    let needs_tree = [Construction::HierarchyBottomUp, Construction::TreeMatch].map(Some);
    !needs_tree.contains(&config.one_to_one.construction.algorithm) || family.is_tree
}

/// Asserts that a solution is a mapping, has the reported cost, and is not worse than the identity and a
/// start.
fn check(family: &Family, graph: &CsrGraph, solution: &Solution, start: Option<&Mapping>, context: &str) {
    let Solution { mapping, report, .. } = solution;
    let pe_of = mapping.pes();
    assert_eq!(pe_of.len(), graph.num_nodes(), "{context}");
    assert_eq!(Mapping::on(&*family.machine, pe_of.to_vec()).as_ref(), Ok(mapping), "{context}");
    family.room_left(pe_of);
    let distances = family.machine.distances().unwrap();
    assert_eq!(evaluate(graph, &distances, mapping).unwrap(), report.cost, "{context}");
    let cost = |pe_of: &[PeId]| family.cost(graph, pe_of);
    assert_eq!(cost(pe_of), i128::from(report.cost), "{context}");
    let identity = Mapping::in_order(&*family.machine, graph.num_nodes()).unwrap();
    assert_eq!(cost(identity.pes()), i128::from(report.cost_of_identity), "{context}");
    assert!(report.cost <= report.cost_of_identity.min(report.cost_of_construction.unwrap()), "{context}");
    assert_eq!(report.cost_of_start.map(i128::from), start.map(|start| cost(start.pes())), "{context}");
    assert!(report.cost_of_start.is_none_or(|of_start| report.cost <= of_start), "{context}");
}

/// On the last level of 511 there are nine places of different sizes, none of which can be paired.
#[test]
fn multilevel_construction_ends_at_any_number_of_places() {
    let config = brief().with_construction(Construction::Multilevel).with_neighbourhood(Neighbourhood::None);
    for n in [9, 15, 255, 511, 767, 1023] {
        let (path, line) = (generate::grid(n, 1), Grid::mesh(&[n as u32]).unwrap());
        let solution = solved!(&path, &line, &config);
        assert!(solution.report.cost <= solution.report.cost_of_identity, "{n}");
    }
}

#[test]
fn every_construction_and_neighbourhood_reports_the_cost_of_its_mapping() {
    let mut rng = Rng::new(1);
    for (number, family) in families(&mut rng).into_iter().enumerate() {
        let spare = SPARE[number % 2];
        let n = family.num_places() - spare;
        let graph = random_graph(n, 3, 30, &mut rng);
        let start = Mapping::on(&*family.machine, family.shuffled_places(&mut rng)[..n].to_vec()).unwrap();
        for config in every_config() {
            let context = format!("{} {spare} {config:?}", family.name);
            let start = Some(&start).filter(|_| rng.below(2) == 0);
            match Request::new(&graph, &PreparedMachine::new(&*family.machine)).start(start).solve(&config) {
                Ok(solution) => {
                    assert!(is_possible(&config, &family), "{context}");
                    check(&family, &graph, &solution, start, &context);
                }
                Err(SolveError::Construction(ConstructionError::NotRegular { .. })) => {
                    assert!(!is_possible(&config, &family), "{context}");
                }
                Err(error) => panic!("{error}: {context}"),
            }
        }
    }
}

#[test]
fn a_good_start_is_kept() {
    let mut rng = Rng::new(2);
    let config =
        Config::default().with_construction(Construction::Random).with_neighbourhood(Neighbourhood::None);
    for family in families(&mut rng) {
        // Processes are adjacent where their PEs are nearest, so that no random mapping is as good.
        let start = Mapping::on(&*family.machine, family.shuffled_places(&mut rng)).unwrap();
        let mut builder = GraphBuilder::new(start.num_processes());
        for u in 1..start.num_processes() {
            let distance = |&v: &usize| {
                family.distances[start.pe_of(u as NodeId) as usize][start.pe_of(v as NodeId) as usize]
            };
            let v = (0..u).min_by_key(distance).unwrap();
            builder.add_edge(u as NodeId, v as NodeId, 1);
        }
        let graph = builder.build().unwrap();
        let solution = solved!(&graph, &*family.machine, &config, start(&start));
        assert_eq!(solution.mapping, start, "{}", family.name);
    }
}

/// The report of a run without times.
fn run(graph: &CsrGraph, machine: &dyn Machine, config: &Config) -> (Mapping, [i64; 3], [u64; 2]) {
    let Solution { mapping, report, .. } = solved!(graph, machine, config);
    let costs = [report.cost, report.cost_of_construction.unwrap(), report.cost_of_identity];
    (mapping, costs, [report.swaps_tried, report.swaps_made])
}

#[test]
fn results_do_not_depend_on_threads() {
    let mut rng = Rng::new(3);
    for family in families(&mut rng) {
        for spare in SPARE {
            let graph = random_graph(family.num_places() - spare, 3, 30, &mut rng);
            for config in every_member().iter().filter(|config| is_possible(config, &family)) {
                let with = |threads| run(&graph, &*family.machine, &config.with_threads(threads));
                assert_eq!(with(5), with(1), "{} {spare} {config:?}", family.name);
            }
        }
    }
}

/// Problems of many processes are improved in regions, several at a time.
#[test]
fn results_of_large_problems_do_not_depend_on_threads() {
    let torus = Grid::torus(&[33, 32, 32]).unwrap();
    let graph = random_graph(torus.num_pes() - 5, 4, 30, &mut Rng::new(4));
    let mut config = Config::preset(MapPreset::Fast)
        .with_construction(Construction::Random)
        .with_neighbourhood(Neighbourhood::NSquarePruned);
    config.one_to_one.improvement.anywhere.cooling.proposals = 8;
    config.one_to_one.improvement.anywhere.rounds = 2;
    let with = |threads| run(&graph, &torus, &config.with_threads(threads));
    let expected = with(1);
    assert!(expected.2[1] > 0);
    assert_eq!(with(5), expected);
}

#[test]
fn patterns_are_mapped_optimally_to_machines_of_their_shape() {
    let mut rng = Rng::new(11);
    let mut config = Config::default();
    // Whatever was constructed before, the optimum is found; the construction need not be good.
    config.one_to_one.construction.multilevel.cooling.proposals = 8;
    config.one_to_one.construction.multilevel.tries = 1;
    config.one_to_one.construction.domains.proposals = 8;
    for (name, machine, pattern) in pattern_machines() {
        for seed in 0..8 {
            let graph = shuffled(&pattern, 9, &mut rng);
            let solution = solved!(&graph, &*machine, &config.with_seed(seed));
            // Each edge is one hop long, and is counted in both directions.
            let weights: i64 = graph.nodes().flat_map(|u| graph.arcs(u)).map(|(_, weight)| weight).sum();
            assert_eq!(solution.report.cost, weights, "{name} {seed}");
        }
    }
}

/// Four pools of 16 ranks that communicate with all others of their pool, with some of them more.
#[test]
fn regular_traffic_is_mapped_as_well_as_from_process_to_process() {
    let source = Source::open(&instance("qe_si8_nk4_64.bytes.graph")).unwrap();
    let graph = metis::read(source, NodeWeights::Ignore).unwrap();
    let torus = Grid::torus(&[4, 4, 4]).unwrap();
    let greedy =
        Config::default().with_construction(Construction::GreedyAllC).with_neighbourhood(Neighbourhood::None);
    let greedy = solved!(&graph, &torus, &greedy).report.cost;
    for preset in [MapPreset::Fast, MapPreset::Eco] {
        for seed in 0..2 {
            let config = Config::preset(preset).with_seed(seed);
            let cost = solved!(&graph, &torus, &config).report.cost;
            assert!(cost <= greedy, "{preset:?} {seed}: {cost} {greedy}");
        }
    }
}

#[test]
fn small_problems_are_mapped_optimally() {
    let mut rng = Rng::new(5);
    for family in small_families(&mut rng) {
        for n in [family.num_places().min(7), 5] {
            for mean_degree in [2, 4] {
                let graph = random_graph(n, mean_degree, 30, &mut rng);
                let optimum = family.optimum(&graph);
                for seed in 0..4 {
                    let config = Config::default().with_seed(seed);
                    let cost = solved!(&graph, &*family.machine, &config).report.cost;
                    let context = format!("{} {n} {mean_degree} {seed}", family.name);
                    assert_eq!(i128::from(cost), optimum, "{context}");
                }
            }
        }
    }
}

/// Returns whether every two processes are at most this number of hops apart.
fn within(graph: &CsrGraph, max_hops: usize) -> Vec<Vec<bool>> {
    let mut is_near: Vec<Vec<bool>> =
        graph.nodes().map(|u| graph.nodes().map(|v| u == v).collect()).collect();
    for _ in 0..max_hops {
        let before = is_near.clone();
        for u in graph.nodes() {
            for v in graph.nodes() {
                is_near[u as usize][v as usize] |= graph.arcs(u).any(|(x, _)| before[x as usize][v as usize]);
            }
        }
    }
    is_near
}

/// Asserts that no exchange of two processes of the neighbourhood lowers J.
fn check_exchanges(family: &Family, graph: &CsrGraph, pe_of: &[PeId], may: impl Fn(usize, usize) -> bool) {
    let cost = family.cost(graph, pe_of);
    for u in 0..pe_of.len() {
        for v in (0..u).filter(|&v| may(u, v)) {
            let mut exchanged = pe_of.to_vec();
            exchanged.swap(u, v);
            assert!(family.cost(graph, &exchanged) >= cost, "{}: {u} and {v}", family.name);
        }
    }
}

/// Asserts that no move of a process to a PE with free capacity lowers J.
fn check_moves(family: &Family, graph: &CsrGraph, pe_of: &[PeId]) {
    let cost = family.cost(graph, pe_of);
    let room = family.room_left(pe_of);
    for u in 0..pe_of.len() {
        for pe in (0..room.len()).filter(|&pe| room[pe] > 0) {
            let mut moved = pe_of.to_vec();
            moved[u] = pe as PeId;
            assert!(family.cost(graph, &moved) >= cost, "{}: {u} to {pe}", family.name);
        }
    }
}

#[test]
fn searches_end_in_local_optima() {
    let mut rng = Rng::new(6);
    for family in families(&mut rng) {
        for (spare, seed) in SPARE.into_iter().flat_map(|spare| (0..2).map(move |seed| (spare, seed))) {
            let graph = random_graph(family.num_places() - spare, 3, 30, &mut rng);
            let mut config =
                Config::preset(MapPreset::Fast).with_construction(Construction::Random).with_seed(seed);
            // Leave all to the local search.
            config.one_to_one.improvement.anywhere.cooling.proposals = 0;
            let mut end = |search: SearchConfig| {
                config.one_to_one.search = search;
                solved!(&graph, &*family.machine, &config).mapping.into_pes()
            };
            let pe_of = end(SearchConfig::of(Neighbourhood::NSquare));
            check_exchanges(&family, &graph, &pe_of, |_, _| true);
            check_moves(&family, &graph, &pe_of);
            for max_hops in [1, 2, 10] {
                let pe_of = end(SearchConfig::of(Neighbourhood::Communication).with_max_hops(max_hops));
                let is_near = within(&graph, max_hops);
                check_exchanges(&family, &graph, &pe_of, |u, v| is_near[u][v]);
            }
        }
    }
}

#[test]
fn a_run_stopped_at_any_check_gives_a_mapping() {
    let mut rng = Rng::new(7);
    for (number, family) in families(&mut rng).into_iter().enumerate() {
        let spare = SPARE[number % 2];
        let n = family.num_places() - spare;
        let graph = random_graph(n, 3, 30, &mut rng);
        let start = Mapping::on(&*family.machine, family.shuffled_places(&mut rng)[..n].to_vec()).unwrap();
        for algorithm in Construction::ALL {
            let config = brief().with_construction(algorithm);
            if !is_possible(&config, &family) {
                continue;
            }
            let mut questions = 0;
            loop {
                let observer = StopAfter::questions(questions);
                let solution = Request::new(&graph, &PreparedMachine::new(&*family.machine))
                    .start(&start)
                    .observed(&observer)
                    .solve(&config)
                    .unwrap();
                let context = format!("{} {spare} {algorithm} {questions}", family.name);
                check(&family, &graph, &solution, Some(&start), &context);
                assert!(solution.report.stopped || !observer.has_stopped(), "{context}");
                if !solution.report.stopped {
                    break;
                }
                questions += 1 + questions / 4;
            }
        }
    }
}

/// The graph whose vertices are the PEs of a machine in random order, adjacent at distance 1.
fn of_neighbours(machine: &dyn Machine, rng: &mut Rng) -> CsrGraph {
    let n = machine.num_pes();
    let distances = machine.distances().unwrap();
    let mut name: Vec<NodeId> = (0..n as NodeId).collect();
    rng.shuffle(&mut name);
    let edge = generate::grid(2, 1);
    let mut builder = GraphBuilder::new(n);
    for p in 0..n as PeId {
        for q in 0..p {
            let pair = Mapping::on(machine, vec![p, q]).unwrap();
            if evaluate(&edge, &distances, &pair).unwrap() == 2 {
                builder.add_edge(name[p as usize], name[q as usize], 1);
            }
        }
    }
    builder.build().unwrap()
}

#[test]
fn a_machine_is_mapped_to_itself_without_a_detour() {
    let machines: [(&str, Box<dyn Machine>); 4] = [
        ("ring", Box::new(Grid::torus(&[16]).unwrap())),
        ("torus", Box::new(Grid::torus(&[4, 4]).unwrap())),
        ("mesh", Box::new(Grid::mesh(&[4, 4]).unwrap())),
        ("hypercube", Box::new(Hypercube::new(4).unwrap())),
    ];
    let mut rng = Rng::new(8);
    for (name, machine) in machines {
        for seed in 0..4 {
            let graph = of_neighbours(&*machine, &mut rng);
            let cost = solved!(&graph, &*machine, &Config::default().with_seed(seed)).report.cost;
            assert_eq!(cost, graph.total_arc_weight(), "{name} {seed}");
        }
    }
}
