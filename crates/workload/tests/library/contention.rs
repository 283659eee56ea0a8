//! Loads of links and nodes, and mappings whose busiest one carries less.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::common::{random_graph, random_mapping};
use viem::base::rng::Rng;
use viem::base::types::{Cost, PeId};
use viem::graph::{CsrGraph, GraphBuilder};
use viem::machine::{Capacities, DistanceMatrix, DistanceOracle as _, Grid, Machine, Nodes};
use viem::mapping::Mapping;
use viem::mapping::construct::grid_mappings;
use viem::mapping::objective::{evaluate, score};
use viem::partition::FixedVertices;
use viem::solve::{
    Balance, Config, LoadLimits, PreparedMachine, ProcessGroups, Request, Secondary, Solution,
};
use viem_cluster::build;
use viem_report::traffic;
use viem_workload::contention::{BottleneckConfig, JobObjective, LinkLoads, routing_of};
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
fn carriers(objective: JobObjective, machine: &dyn Machine, from: PeId, to: PeId) -> Vec<(usize, Cost)> {
    match (objective, routing_of(machine).unwrap()) {
        (JobObjective::BusiestNode, _) | (_, None) => {
            let nodes = Nodes::of(machine);
            let [from, to] = [from, to].map(|pe| nodes.node(pe));
            if from == to { Vec::new() } else { vec![(from, 1)] }
        }
        (_, Some(routing)) => {
            let mut hops = Vec::new();
            routing.route(from, to, &mut hops);
            hops.iter().map(|hop| (routing.link_of(hop.lane) as usize, hop.cycles as Cost)).collect()
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
    fn new(objective: JobObjective, graph: &'a CsrGraph, machine: &dyn Machine) -> Self {
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

/// A request for an objective, from a mapping.
fn lowered(
    (graph, machine): (&CsrGraph, &PreparedMachine<'_>),
    start: &Mapping,
    config: BottleneckConfig,
) -> Solution {
    let request = Request::new(graph, machine).start(start).then_lower(&config as &dyn Secondary);
    request.solve(&Config::fast()).unwrap()
}

/// What carries traffic and has no known links is a node, and without traffic, all mappings are as good.
#[test]
fn without_known_links_the_bottleneck_is_the_busiest_node() {
    let matrix = DistanceMatrix::from_fn(8, |p, q| i64::from(p.abs_diff(q))).unwrap();
    let (graph, start) = (random_graph(8, 4, 9, &mut Rng::new(2)), Mapping::identity(8));
    let busiest = traffic::busiest(&graph, &matrix, start.pes()).unwrap();
    let prepared = PreparedMachine::new(&matrix);
    let of = |objective: JobObjective| objective.greatest_load(&graph, &prepared, start.pes()).unwrap();
    assert_eq!((busiest.link, of(JobObjective::Bottleneck)), (None, of(JobObjective::BusiestNode)));
    assert_eq!(busiest.node, of(JobObjective::BusiestNode));
    let empty = GraphBuilder::new(8).build().unwrap();
    let torus = build("torus:4x2", None).unwrap();
    let machine = PreparedMachine::new(&*torus);
    assert_eq!(lowered((&empty, &machine), &start, BottleneckConfig::default()).report.cost, 0);
}

/// Beside all mappings of eight processes: never worse than the best J, never better than the least maximum whose J is low enough, and nearly always
/// that one.
#[test]
fn the_least_maximum_is_found_where_all_mappings_are_known() {
    let all = permutations();
    for objective in [JobObjective::Bottleneck, JobObjective::BusiestNode] {
        let (mut rng, mut best, mut fell) = (Rng::new(5), 0, 0);
        for (machine, excess) in machines().iter().flat_map(|machine| [0.0, 0.1, 0.3].map(|it| (machine, it)))
        {
            let graph = random_graph(8, 4, 9, &mut rng);
            let judge = Judge::new(objective, &graph, machine);
            let judged: Vec<(Cost, Cost)> = all.iter().map(|pe_of| judge.of(pe_of)).collect();
            let first = (0..all.len()).min_by_key(|&index| judged[index].0).unwrap();
            let start = Mapping::from_pes(all[first].clone()).unwrap();
            let prepared = PreparedMachine::new(machine);
            let config = BottleneckConfig::default().with_objective(objective).with_excess(excess);
            let found = lowered((&graph, &prepared), &start, config);
            let (cost, greatest) = judge.of(found.mapping.pes());
            let value = objective.greatest_load(&graph, &prepared, found.mapping.pes()).unwrap();
            assert_eq!((found.report.cost, value), (cost, greatest));
            let least = judged.iter().map(|&(cost, greatest)| (greatest, cost)).min().unwrap();
            assert!(least <= (greatest, cost) && greatest <= judged[first].1, "{}", machine.describe());
            let most = judged[first].0 + (judged[first].0 as f64 * excess) as Cost;
            let reachable = judged.iter().filter(|judged| judged.0 <= most).map(|judged| judged.1).min();
            best += usize::from(Some(greatest) <= reachable);
            fell += usize::from(greatest < judged[first].1);
        }
        // On all machines but the tree, each PE is a node, and what leaves it does not depend on the mapping.
        assert!(best >= 10 && fell >= 1, "{objective}: {best} best, {fell} lowered, of 12");
    }
}

/// All balanced mappings of nine vertices to three PEs of unequal capacity, two per node of one machine: nearly always the least maximum.
#[test]
fn many_to_one_mappings_reach_the_least_maximum() {
    let line = Capacities::new(Grid::mesh(&[3]).unwrap(), vec![2, 1, 1]).unwrap();
    let machine = PreparedMachine::new(&line);
    let (mut rng, mut best) = (Rng::new(6), 0);
    for _ in 0..10 {
        let graph = random_graph(9, 3, 9, &mut rng);
        let balance = Balance::default().with_imbalance(0.3);
        let bounds = balance.bounds(&graph, &line);
        let all =
            (0..3_u32.pow(9)).map(|code| (0..9).map(|at| code / 3_u32.pow(at) % 3).collect::<Vec<PeId>>());
        let fits = |pe_of: &Vec<PeId>| {
            let weight = |pe: PeId| {
                (0..9).filter(|&it| pe_of[it as usize] == pe).map(|it| graph.node_weight(it)).sum()
            };
            (0..3).all(|pe| (1..=bounds[pe as usize]).contains(&weight(pe)))
        };
        let config = BottleneckConfig::default().with_excess(1.0);
        let request = Request::new(&graph, &machine).balanced(balance).then_lower(&config as &dyn Secondary);
        let found = request.solve(&Config::fast()).unwrap();
        assert!(fits(&found.mapping.pes().to_vec()));
        assert_eq!(
            found.report.cost,
            evaluate(&graph, machine.distances().unwrap(), &found.mapping).unwrap()
        );
        let of = |pe_of: &[PeId]| JobObjective::Bottleneck.greatest_load(&graph, &machine, pe_of).unwrap();
        let least = all.filter(fits).map(|pe_of| of(&pe_of)).min().unwrap();
        assert!(of(found.mapping.pes()) >= least);
        best += usize::from(of(found.mapping.pes()) == least);
    }
    assert!(best >= 8, "{best} of 10");
}

/// Grids of many cells per PE, with an incomplete last row, on PEs of equal and of unequal capacity.
#[test]
fn no_cut_of_a_grid_into_balanced_loads_has_a_lower_maximum() {
    let trees = || build("4:6", "1:10").unwrap();
    let machines: [Box<dyn Machine>; 3] = [
        trees(),
        Box::new(Capacities::new(trees(), (0..24).map(|pe| 1 + pe % 2).collect()).unwrap()),
        build("torus:6x4", None).unwrap(),
    ];
    let whole = viem::graph::generate::grid(30, 24);
    let cells: Vec<u32> = (0..720).map(|cell| u32::from(cell >= 700)).collect();
    let graph = &viem::graph::subgraph::split(&whole, &cells, 2)[0].0;
    for machine in &machines {
        let (limits, prepared) = (LoadLimits::from(Balance::default()), PreparedMachine::new(machine));
        let of = |mapping: &Mapping| {
            JobObjective::Bottleneck.greatest_load(graph, &prepared, mapping.pes()).unwrap()
        };
        let places = limits.places(graph, machine).unwrap();
        let cuts = grid_mappings(graph, &places, 1 << 16);
        let least = cuts.iter().map(of).min().unwrap();
        let config = BottleneckConfig::default();
        let request =
            Request::new(graph, &prepared).balanced(Balance::default()).then_lower(&config as &dyn Secondary);
        let found = request.solve(&Config::fast()).unwrap();
        assert_eq!(found.report.loads.unwrap().overload, 0);
        assert!(of(&found.mapping) <= least, "{}", machine.describe());
    }
}

/// Irregular meshes on nodes: where several nodes send as much, no exchange lowers the maximum, and annealing does.
#[test]
fn annealing_leaves_maxima_that_single_exchanges_do_not() {
    let tree = build("16:20", "0:1").unwrap();
    let machine = PreparedMachine::new(&*tree);
    let mut greatest = [0; 3];
    for seed in 0..4 {
        let graph = viem::graph::generate::mesh(20, 16, seed);
        let of = |solution: &Solution| {
            JobObjective::Bottleneck.greatest_load(&graph, &machine, solution.mapping.pes()).unwrap()
        };
        let solve = |objective: JobObjective| {
            let config = BottleneckConfig::default().with_objective(objective).with_seed(seed);
            let request = Request::new(&graph, &machine).then_lower(&config as &dyn Secondary);
            request.solve(&Config::fast()).unwrap()
        };
        let all = [JobObjective::J, JobObjective::Mixed, JobObjective::Bottleneck].map(solve);
        assert_eq!(solve(JobObjective::Bottleneck).mapping, all[2].mapping);
        assert!(all.iter().all(|it| it.report.cost as f64 <= 1.03 * all[0].report.cost as f64));
        assert!(of(&all[2]) <= of(&all[1]));
        greatest.iter_mut().zip(&all).for_each(|(sum, solution)| *sum += of(solution));
    }
    let [plain, mixed, found] = greatest;
    assert!(found < plain && found <= mixed && mixed <= plain, "{found} {mixed} {plain}");
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
    assert_eq!(lowered.report.loads.unwrap().overload, 0);
    let of =
        |mapping: &Mapping| JobObjective::Bottleneck.greatest_load(&graph, &machine, mapping.pes()).unwrap();
    assert!(of(&lowered.mapping) < of(&plain.mapping));
    assert!(lowered.report.cost as f64 <= 1.2 * plain.report.cost as f64);
}

/// Random problems of every kind: constraints hold, J rises by no more than it may, and the maximum does not rise.
#[test]
fn every_constraint_holds_and_the_maximum_never_rises() {
    let mut rng = Rng::new(12);
    for (round, (spec, distances)) in
        (0..2).flat_map(|round| [("4:4:3", "1:5:9"), ("torus:4x4/3", "1:5")].map(|it| (round, it)))
    {
        let machine = build(spec, distances).unwrap();
        let machine = Capacities::new(machine, (0..48).map(|_| 1 + rng.below(3)).collect()).unwrap();
        let prepared = PreparedMachine::new(&machine);
        let (count, excess) = (40 + rng.below(20) as usize, 0.1);
        let graph = random_graph(count, 5, 9, &mut rng);
        let mut fixed = FixedVertices::none(count, 48);
        (0..5).for_each(|process| fixed.fix(process, 8 * process).unwrap());
        let groups = ProcessGroups::of_size(count, 2).unwrap();
        let config =
            BottleneckConfig::default().with_excess(excess).with_objective(JobObjective::ALL[1 + round % 3]);
        let plain = Request::new(&graph, &prepared);
        let balance = Balance::default().with_imbalance(0.1);
        let requests = [plain.fixed(&fixed), plain.together(&groups), plain.balanced(balance).fixed(&fixed)];
        for (kind, request) in requests.into_iter().enumerate() {
            let before = request.solve(&Config::fast()).unwrap();
            let after = request.then_lower(&config as &dyn Secondary).solve(&Config::fast()).unwrap();
            let pe_of = after.mapping.pes();
            let cost = evaluate(&graph, prepared.distances().unwrap(), &after.mapping);
            assert_eq!(after.report.cost, cost.unwrap());
            assert!(after.report.cost as f64 <= (1.0 + excess) * before.report.cost as f64);
            if kind != 1 {
                assert_eq!(fixed.violated_by(pe_of), None);
            }
            let nodes = Nodes::of(&machine);
            let is_whole = |group: usize| {
                let members = groups.members(group).iter().map(|&it| nodes.node(pe_of[it as usize]));
                members.collect::<std::collections::BTreeSet<_>>().len() == 1
            };
            assert!(kind != 1 || (0..groups.count()).all(is_whole));
            match after.report.loads {
                None => assert!(Mapping::on(&machine, pe_of.to_vec()).is_ok()),
                Some(loads) => {
                    assert_eq!((loads.overload, loads.empty), (0, before.report.loads.unwrap().empty))
                }
            }
            if config.objective != JobObjective::Mixed {
                let of = |pe_of: &[PeId]| config.objective.greatest_load(&graph, &prepared, pe_of).unwrap();
                assert!(of(pe_of) <= of(before.mapping.pes()));
            }
        }
    }
}

/// The search for a small J leaves time for the objective.
#[test]
fn a_time_limit_is_shared_with_the_objective() {
    let torus = build("torus:4x4/2", "1:5").unwrap();
    let machine = PreparedMachine::new(&*torus);
    let graph = random_graph(28, 5, 9, &mut Rng::new(8));
    let config = BottleneckConfig::default().with_excess(0.2);
    let of = |solution: &Solution| {
        JobObjective::Bottleneck.greatest_load(&graph, &machine, solution.mapping.pes()).unwrap()
    };
    let limited = Config::fast().with_time_limit(Some(Duration::from_secs(2)));
    let plain = Request::new(&graph, &machine).solve(&limited).unwrap();
    let request = Request::new(&graph, &machine).then_lower(&config as &dyn Secondary);
    assert!(of(&request.solve(&limited).unwrap()) < of(&plain));
}

#[test]
fn settings_out_of_range_are_refused_before_the_search() {
    let torus = build("torus:4x2", None).unwrap();
    let (machine, graph) = (PreparedMachine::new(&*torus), random_graph(8, 4, 9, &mut Rng::new(1)));
    let config = BottleneckConfig::default().with_excess(-0.5);
    assert_eq!(config.validate().unwrap_err().field, "excess");
    let solved = Request::new(&graph, &machine).then_lower(&config as &dyn Secondary).solve(&Config::fast());
    assert!(solved.unwrap_err().to_string().contains("excess"));
    let mut config = BottleneckConfig::default();
    config.power = 0;
    assert_eq!(config.validate().unwrap_err().field, "power");
}
