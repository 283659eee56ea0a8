//! Loads of links and nodes, and mappings whose busiest one carries less.

use std::collections::BTreeMap;

use crate::common::{random_graph, random_mapping};
use viem::base::rng::Rng;
use viem::base::types::{Cost, PeId};
use viem::graph::{CsrGraph, GraphBuilder};
use viem::machine::{DistanceMatrix, DistanceOracle as _, Machine, Nodes};
use viem::mapping::Mapping;
use viem::mapping::objective::{evaluate, score};
use viem::partition::FixedVertices;
use viem::solve::{Balance, Config, PreparedMachine, Request, Secondary};
use viem_cluster::build;
use viem_report::traffic;
use viem_workload::contention::{
    BottleneckConfig, JobObjective, LinkLoads, ReliefConfig, SecondaryObjective, bottleneck_of, relieve,
    routing_of,
};
use viem_workload::routing::Routing;

/// Machines of eight PEs whose links are known.
fn machines() -> Vec<Box<dyn Machine>> {
    let specs =
        [("2:2:2", Some("1:4:10")), ("torus:4x2", None), ("mesh:4/2", Some("1:5")), ("hypercube:3", None)];
    specs.map(|(spec, distances)| build(spec, distances).unwrap()).into_iter().collect()
}

/// The load of each link by definition.
fn loads(graph: &CsrGraph, routing: &Routing, pe_of: &[PeId]) -> BTreeMap<String, Cost> {
    let mut loads = BTreeMap::new();
    for u in graph.nodes() {
        for (v, weight) in graph.arcs(u) {
            let mut hops = Vec::new();
            routing.route(pe_of[u as usize], pe_of[v as usize], &mut hops);
            for hop in hops {
                *loads.entry(routing.name(routing.link_of(hop.lane))).or_insert(0) +=
                    weight * hop.cycles as Cost;
            }
        }
    }
    loads
}

/// All mappings of eight processes.
fn permutations() -> Vec<Vec<PeId>> {
    let mut all = vec![Vec::new()];
    for _ in 0..8 {
        let longer = |list: Vec<PeId>| {
            (0..8).filter(|pe| !list.contains(pe)).map(|pe| [&list[..], &[pe]].concat()).collect()
        };
        all = all.into_iter().flat_map::<Vec<_>, _>(longer).collect();
    }
    all
}

#[test]
fn loads_match_their_definition_and_add_up_to_j() {
    let mut rng = Rng::new(7);
    for machine in machines() {
        let routing = routing_of(&machine).unwrap().unwrap();
        for _ in 0..20 {
            let (graph, mapping) = (random_graph(8, 4, 9, &mut rng), random_mapping(8, &mut rng));
            let found = LinkLoads::of(&graph, &routing, mapping.pes()).unwrap();
            let expected = loads(&graph, &routing, mapping.pes());
            assert_eq!(
                found.total(),
                score(&graph, &machine, mapping.pes()).unwrap(),
                "{}",
                machine.describe()
            );
            let busiest = found.busiest().unwrap();
            assert_eq!(Some(&busiest.load), expected.values().max());
            assert_eq!(expected[&busiest.name], busiest.load);
            let reported = traffic::busiest(&graph, &machine, mapping.pes()).unwrap();
            assert_eq!(reported.link, Some(busiest));
        }
    }
}

/// What carries a message between two PEs by the definition of an objective, and its load by a message of weight 1.
fn carriers(
    objective: SecondaryObjective,
    machine: &dyn Machine,
    from: PeId,
    to: PeId,
) -> Vec<(usize, Cost)> {
    match objective {
        SecondaryObjective::BusiestLink => {
            let (routing, mut hops) = (routing_of(machine).unwrap().unwrap(), Vec::new());
            routing.route(from, to, &mut hops);
            hops.iter().map(|hop| (routing.link_of(hop.lane) as usize, hop.cycles as Cost)).collect()
        }
        SecondaryObjective::BusiestNode => {
            let nodes = Nodes::of(machine);
            let [from, to] = [from, to].map(|pe| nodes.node(pe));
            if from == to { Vec::new() } else { vec![(from, 1)] }
        }
    }
}

/// J and an objective of any mapping, quickly: what carries messages between all pairs of eight PEs is known.
struct Judge<'a> {
    graph: &'a CsrGraph,
    /// (carrier, load) of a message from PE p to q at 8 p + q.
    carriers: Vec<Vec<(usize, Cost)>>,
    distances: Vec<Cost>,
}

impl<'a> Judge<'a> {
    fn new(objective: SecondaryObjective, graph: &'a CsrGraph, machine: &dyn Machine) -> Self {
        let distances = machine.distances().unwrap();
        let pairs = || (0..64).map(|pair: PeId| (pair / 8, pair % 8));
        let carriers = pairs().map(|(from, to)| carriers(objective, machine, from, to)).collect();
        Self { graph, carriers, distances: pairs().map(|(from, to)| distances.distance(from, to)).collect() }
    }

    fn of(&self, pe_of: &[PeId]) -> (Cost, Cost) {
        let (mut cost, mut loads) = (0, [0; 256]);
        for u in self.graph.nodes() {
            for (v, weight) in self.graph.arcs(u) {
                let pair = (8 * pe_of[u as usize] + pe_of[v as usize]) as usize;
                cost += weight * self.distances[pair];
                self.carriers[pair].iter().for_each(|&(carrier, load)| loads[carrier] += weight * load);
            }
        }
        (cost, loads.into_iter().max().unwrap())
    }
}

/// Beside all mappings whose J is low enough, from the one of least J: the result is never worse than the start, never better
/// than the best, and often the best.
#[test]
fn relief_is_between_the_start_and_the_best_of_all_mappings() {
    let all = permutations();
    for objective in SecondaryObjective::ALL {
        let (mut rng, mut lowered, mut best) = (Rng::new(11), 0, 0);
        for (machine, excess) in
            machines().iter().flat_map(|machine| [0.0, 0.1, 0.3].map(|excess| (machine, excess)))
        {
            let graph = random_graph(8, 4, 9, &mut rng);
            let judge = Judge::new(objective, &graph, machine);
            let judged: Vec<(Cost, Cost)> = all.iter().map(|pe_of| judge.of(pe_of)).collect();
            let first = (0..all.len()).min_by_key(|&index| judged[index].0).unwrap();
            let (start, (cost, before)) = (Mapping::from_pes(all[first].clone()).unwrap(), judged[first]);
            let most = cost + (cost as f64 * excess) as Cost;
            let config = ReliefConfig::default().with_objective(objective).with_excess(excess);
            let prepared = PreparedMachine::new(machine);
            let relief = relieve(&graph, &prepared, &start, None, &config, &()).unwrap();
            let (cost, after) = judge.of(relief.mapping.pes());
            assert_eq!(relief.cost, cost);
            assert!(cost <= most);
            let values = (relief.greatest_of_start, relief.greatest);
            assert_eq!(values, (Some(before), Some(after)), "{objective} on {}", machine.describe());
            assert_eq!(objective.evaluate(&graph, &prepared, relief.mapping.pes()).unwrap(), Some(after));
            let least = judged.iter().filter(|judged| judged.0 <= most).map(|judged| judged.1).min().unwrap();
            assert!(least <= after && after <= before);
            assert!(after < before || relief.mapping == start);
            lowered += usize::from(after < before);
            best += usize::from(after == least);
        }
        // Nodes are relieved on the tree only: on the other machines, each PE is one.
        assert!(lowered >= 2 && best >= 4, "{objective}: {lowered} lowered, {best} best, of 12");
    }
}

#[test]
fn fixed_processes_stay_and_all_places_are_exchanged() {
    let mut rng = Rng::new(3);
    let machine = build("torus:4x4/2", "1:5").unwrap();
    let (graph, start) = (random_graph(24, 5, 9, &mut rng), random_mapping(32, &mut rng));
    let start = Mapping::on(&machine, start.pes()[..24].to_vec()).unwrap();
    let mut fixed = FixedVertices::none(24, 32);
    (0..8).for_each(|process| fixed.fix(process, start.pe_of(process)).unwrap());
    let config = ReliefConfig::default().with_excess(0.2);
    let relief =
        relieve(&graph, &PreparedMachine::new(&machine), &start, Some(&fixed), &config, &()).unwrap();
    assert!(relief.exchanges > 0 && relief.mapping != start);
    assert_eq!(fixed.violated_by(relief.mapping.pes()), None);
    Mapping::on(&machine, relief.mapping.into_pes()).unwrap();
}

/// The contents of PEs change place as wholes where each has many vertices, as a secondary objective of a request.
#[test]
fn many_to_one_mappings_are_relieved_too() {
    let mut rng = Rng::new(4);
    let torus = build("torus:4x2", None).unwrap();
    let machine = PreparedMachine::new(&torus);
    let (graph, config) = (random_graph(32, 5, 9, &mut rng), ReliefConfig::default().with_excess(0.5));
    let start = Mapping::many(8, (0..32).map(|vertex| vertex % 8).collect()).unwrap();
    let relief = relieve(&graph, &machine, &start, None, &config, &()).unwrap();
    assert!(relief.exchanges > 0 && relief.greatest < relief.greatest_of_start);
    let request = Request::new(&graph, &machine).balanced(Balance::default());
    let plain = request.solve(&Config::fast()).unwrap();
    let relieved = request.then_lower(&config as &dyn Secondary).solve(&Config::fast()).unwrap();
    assert_eq!(relieved.report.loads, plain.report.loads);
    assert!(relieved.report.cost as f64 <= 1.5 * plain.report.cost as f64);
    assert_eq!(score_of_many(&graph, &machine, &relieved.mapping), relieved.report.cost);
}

fn score_of_many(graph: &CsrGraph, machine: &PreparedMachine<'_>, mapping: &Mapping) -> Cost {
    evaluate(graph, machine.distances().unwrap(), mapping).unwrap()
}

#[test]
fn without_known_links_nothing_changes() {
    let matrix = DistanceMatrix::from_fn(8, |p, q| i64::from(p.abs_diff(q))).unwrap();
    let (graph, start) = (random_graph(8, 4, 9, &mut Rng::new(2)), Mapping::identity(8));
    let relief =
        relieve(&graph, &PreparedMachine::new(&matrix), &start, None, &ReliefConfig::default(), &()).unwrap();
    assert_eq!((relief.mapping, relief.exchanges), (start.clone(), 0));
    let busiest = traffic::busiest(&graph, &matrix, start.pes()).unwrap();
    let prepared = PreparedMachine::new(&matrix);
    let value = |objective: SecondaryObjective| objective.evaluate(&graph, &prepared, start.pes()).unwrap();
    assert_eq!((busiest.link, value(SecondaryObjective::BusiestLink)), (None, None));
    assert_eq!(value(SecondaryObjective::BusiestNode), Some(busiest.node));
    let empty = GraphBuilder::new(8).build().unwrap();
    let torus = build("torus:4x2", None).unwrap();
    assert_eq!(
        relieve(&empty, &PreparedMachine::new(&torus), &start, None, &ReliefConfig::default(), &())
            .unwrap()
            .mapping,
        start
    );
}

/// Beside all mappings of eight processes: never worse than the best J, never better than the least maximum whose J is low enough, and nearly always
/// that one.
#[test]
fn the_least_maximum_is_found_where_all_mappings_are_known() {
    let all = permutations();
    let (mut rng, mut best, mut lowered) = (Rng::new(5), 0, 0);
    for machine in machines() {
        for _ in 0..3 {
            let graph = random_graph(8, 4, 9, &mut rng);
            let judge = Judge::new(SecondaryObjective::BusiestLink, &graph, &machine);
            let judged: Vec<(Cost, Cost)> = all.iter().map(|pe_of| judge.of(pe_of)).collect();
            let first = (0..all.len()).min_by_key(|&index| judged[index].0).unwrap();
            let start = Mapping::from_pes(all[first].clone()).unwrap();
            let prepared = PreparedMachine::new(&machine);
            let request = Request::new(&graph, &prepared).start(&start);
            let config = BottleneckConfig::default().with_excess(0.3);
            let found = request.then_lower(&config as &dyn Secondary).solve(&Config::fast()).unwrap();
            let (cost, greatest) = judge.of(found.mapping.pes());
            assert_eq!(
                (found.report.cost, bottleneck_of(&graph, &prepared, found.mapping.pes()).unwrap()),
                (cost, greatest)
            );
            let least = judged.iter().map(|&(cost, greatest)| (greatest, cost)).min().unwrap();
            assert!(least <= (greatest, cost) && greatest <= judged[first].1, "{}", machine.describe());
            let most = (judged[first].0 as f64 * 1.3) as Cost;
            let reachable =
                judged.iter().filter(|judged| judged.0 <= most).map(|judged| judged.1).min().unwrap();
            best += usize::from(greatest <= reachable);
            lowered += usize::from(greatest < judged[first].1);
        }
    }
    assert!(best >= 11 && lowered >= 4, "{best} best, {lowered} lowered, of 12");
}

/// Irregular meshes on nodes: exchanges of pairs end where several nodes send as much, and annealing does not.
#[test]
fn annealing_leaves_maxima_that_single_exchanges_do_not() {
    let tree = build("16:20", "0:1").unwrap();
    let machine = PreparedMachine::new(&*tree);
    let mut greatest = [0; 3];
    for seed in 0..4 {
        let graph = viem::graph::generate::mesh(20, 16, seed);
        let of = |mapping: &Mapping| bottleneck_of(&graph, &machine, mapping.pes()).unwrap();
        let solve = |objective: JobObjective| {
            let config = BottleneckConfig::default().with_objective(objective).with_seed(seed);
            let request = Request::new(&graph, &machine).then_lower(&config as &dyn Secondary);
            request.solve(&Config::fast()).unwrap()
        };
        let plain = solve(JobObjective::J);
        let relief = ReliefConfig::default().with_excess(0.03);
        let relieved = relieve(&graph, &machine, &plain.mapping, None, &relief, &()).unwrap();
        let (found, mixed) = (solve(JobObjective::Bottleneck), solve(JobObjective::Mixed));
        assert_eq!(solve(JobObjective::Bottleneck).mapping, found.mapping);
        assert!(found.report.cost.max(mixed.report.cost) as f64 <= 1.03 * plain.report.cost as f64);
        assert!(of(&found.mapping) <= of(&mixed.mapping));
        let all = [&relieved.mapping, &found.mapping, &plain.mapping];
        greatest.iter_mut().zip(all).for_each(|(sum, mapping)| *sum += of(mapping));
    }
    let [relieved, found, plain] = greatest;
    assert!(found < relieved && relieved <= plain, "{found} {relieved} {plain}");
}

#[test]
fn the_bottleneck_is_lowered_around_fixed_processes_and_within_loads() {
    let mut rng = Rng::new(8);
    let torus = build("torus:4x4/2", "1:5").unwrap();
    let machine = PreparedMachine::new(&*torus);
    let graph = random_graph(28, 5, 9, &mut rng);
    let mut fixed = FixedVertices::none(28, 32);
    (0..8).for_each(|process| fixed.fix(process, 31 - process).unwrap());
    let config = BottleneckConfig::default().with_excess(0.2);
    let request = Request::new(&graph, &machine).fixed(&fixed).then_lower(&config as &dyn Secondary);
    let found = request.solve(&Config::fast()).unwrap();
    assert_eq!(fixed.violated_by(found.mapping.pes()), None);
    Mapping::on(&*torus, found.mapping.into_pes()).unwrap();
    let graph = random_graph(128, 5, 9, &mut rng);
    let request = Request::new(&graph, &machine).balanced(Balance::default());
    let plain = request.solve(&Config::fast()).unwrap();
    let lowered = request.then_lower(&config as &dyn Secondary).solve(&Config::fast()).unwrap();
    assert_eq!(lowered.report.loads, plain.report.loads);
    let of = |mapping: &Mapping| bottleneck_of(&graph, &machine, mapping.pes()).unwrap();
    assert!(of(&lowered.mapping) < of(&plain.mapping));
    assert!(lowered.report.cost as f64 <= 1.2 * plain.report.cost as f64);
}

#[test]
fn settings_are_checked() {
    assert!(ReliefConfig::default().validate().is_ok());
    let error = ReliefConfig::default().with_excess(1.5).validate().unwrap_err();
    assert_eq!(error.field, "excess");
    let error = BottleneckConfig::default().with_excess(-0.5).validate().unwrap_err();
    assert_eq!(error.field, "excess");
}
