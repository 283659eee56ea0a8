//! Loads of links, and mappings whose busiest link carries less.

use std::collections::BTreeMap;

use crate::common::{random_graph, random_mapping};
use viem::graph::{CsrGraph, GraphBuilder};
use viem::ground::rng::Rng;
use viem::ground::types::{Cost, PeId};
use viem::machine::{DistanceMatrix, Machine};
use viem::mapping::Mapping;
use viem::mapping::objective::{evaluate, score};
use viem::partition::FixedVertices;
use viem::solve::{Balance, Config, PreparedMachine, Request, Secondary};
use viem_cluster::build;
use viem_report::traffic;
use viem_workload::contention::{LinkLoads, ReliefConfig, relieve, routing_of};
use viem_workload::routing::Routing;

/// Machines of eight PEs whose links are known.
fn machines() -> Vec<Box<dyn Machine>> {
    let specs =
        [("2:2:2", Some("1:4:10")), ("torus:4x2", None), ("mesh:4/2", Some("1:5")), ("hypercube:3", None)];
    specs.map(|(spec, distances)| build(spec, distances, None).unwrap()).into_iter().collect()
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

/// J and the greatest load of any mapping, quickly: the hops between all pairs of eight PEs are known.
struct Judge<'a> {
    graph: &'a CsrGraph,
    /// (link, cost) of each hop from PE p to q at 8 p + q.
    routes: Vec<Vec<(usize, Cost)>>,
    num_lanes: usize,
}

impl<'a> Judge<'a> {
    fn new(graph: &'a CsrGraph, routing: &Routing) -> Self {
        let route = |pair: PeId| {
            let mut hops = Vec::new();
            routing.route(pair / 8, pair % 8, &mut hops);
            hops.iter().map(|hop| (routing.link_of(hop.lane) as usize, hop.cycles as Cost)).collect()
        };
        Self { graph, routes: (0..64).map(route).collect(), num_lanes: routing.num_lanes() }
    }

    fn of(&self, pe_of: &[PeId]) -> (Cost, Cost) {
        let mut loads = vec![0; self.num_lanes];
        for u in self.graph.nodes() {
            for (v, weight) in self.graph.arcs(u) {
                let pair = 8 * pe_of[u as usize] + pe_of[v as usize];
                self.routes[pair as usize].iter().for_each(|&(link, cost)| loads[link] += weight * cost);
            }
        }
        (loads.iter().sum(), loads.iter().copied().max().unwrap_or(0))
    }
}

/// Beside all mappings whose J is low enough, from the one of least J: the result is never worse than the start, never better
/// than the best, and often the best.
#[test]
fn relief_is_between_the_start_and_the_best_of_all_mappings() {
    let (mut rng, all) = (Rng::new(11), permutations());
    let (mut lowered, mut best) = (0, 0);
    for machine in machines() {
        let routing = routing_of(&machine).unwrap().unwrap();
        for excess in [0.0, 0.1, 0.3] {
            let graph = random_graph(8, 4, 9, &mut rng);
            let judge = Judge::new(&graph, &routing);
            let judged: Vec<(Cost, Cost)> = all.iter().map(|pe_of| judge.of(pe_of)).collect();
            let first = (0..all.len()).min_by_key(|&index| judged[index].0).unwrap();
            let (start, (cost, before)) = (Mapping::from_pes(all[first].clone()).unwrap(), judged[first]);
            let most = cost + (cost as f64 * excess) as Cost;
            let config = ReliefConfig::default().with_excess(excess);
            let relief =
                relieve(&graph, &PreparedMachine::new(&machine), &start, None, &config, &()).unwrap();
            let (cost, after) = judge.of(relief.mapping.pes());
            assert_eq!(relief.cost, cost);
            assert!(cost <= most);
            let least = judged.iter().filter(|judged| judged.0 <= most).map(|judged| judged.1).min().unwrap();
            assert!(least <= after && after <= before);
            assert!(after < before || relief.mapping == start);
            lowered += usize::from(after < before);
            best += usize::from(after == least);
        }
    }
    assert!(lowered >= 4 && best >= 4, "{lowered} lowered, {best} best, of 12");
}

#[test]
fn fixed_processes_stay_and_all_places_are_exchanged() {
    let mut rng = Rng::new(3);
    let machine = build("torus:4x4/2", Some("1:5"), None).unwrap();
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
    let torus = build("torus:4x2", None, None).unwrap();
    let machine = PreparedMachine::new(&torus);
    let (graph, config) = (random_graph(32, 5, 9, &mut rng), ReliefConfig::default().with_excess(0.5));
    let start = Mapping::many(8, (0..32).map(|vertex| vertex % 8).collect()).unwrap();
    let relief = relieve(&graph, &machine, &start, None, &config, &()).unwrap();
    assert!(relief.exchanges > 0 && relief.greatest < relief.greatest_of_start);
    let request = Request::new(&graph, &machine).balanced(Balance::default());
    let plain = request.solve(&Config::fast(), &()).unwrap();
    let relieved = request.then_lower(&config as &dyn Secondary).solve(&Config::fast(), &()).unwrap();
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
    assert_eq!(traffic::busiest(&graph, &matrix, start.pes()).unwrap().link, None);
    let empty = GraphBuilder::new(8).build().unwrap();
    let torus = build("torus:4x2", None, None).unwrap();
    assert_eq!(
        relieve(&empty, &PreparedMachine::new(&torus), &start, None, &ReliefConfig::default(), &())
            .unwrap()
            .mapping,
        start
    );
}

#[test]
fn settings_are_checked() {
    assert!(ReliefConfig::default().validate().is_ok());
    let error = ReliefConfig::default().with_excess(1.5).validate().unwrap_err();
    assert_eq!(error.field, "excess");
}
