//! The simulator: cases by hand, invariants, and a slow simulator that moves flits cycle by cycle.

use crate::common::slow_run;
use viem::base::rng::Rng;
use viem::base::types::Distance;
use viem::graph::{GraphBuilder, generate};
use viem::machine::{DistanceMatrix, Grid, Hierarchy, Hypercube, Listed, Machine, MachineError};
use viem_workload::routing::{Flow, Routing};
use viem_workload::simulate::{
    ChromeTrace, Costs, Simulation, SimulationConfig, SimulationError, simulate, simulate_watched,
};
use viem_workload::{TaskId, Workload, WorkloadBuilder};

pub(super) const FREE: Costs = Costs::new(0, 0);

pub(super) fn settings(costs: Costs) -> SimulationConfig {
    SimulationConfig::new(costs).with_timeline(true)
}

fn run(workload: &Workload, machine: &dyn Machine, pe_of: &[u32]) -> Simulation {
    let routing = Routing::new(machine).unwrap();
    simulate(workload, &routing, pe_of, settings(FREE)).unwrap()
}

/// Messages sent at time 0: sender, receiver, number of flits.
fn messages(tasks: usize, messages: &[(TaskId, TaskId, u64)]) -> Workload {
    let mut builder = WorkloadBuilder::new(tasks);
    messages.iter().for_each(|&(from, to, flits)| builder.send(from, to, flits));
    messages.iter().for_each(|&(from, to, flits)| builder.receive(to, from, flits));
    builder.build().unwrap()
}

/// The arrival time of each message, in the given order.
fn arrivals(simulation: &Simulation, all: &[(TaskId, TaskId, u64)]) -> Vec<u64> {
    let flights = &simulation.timeline.as_ref().unwrap().flights;
    let arrival = |&(from, to, _): &(TaskId, TaskId, u64)| {
        flights.iter().find(|flight| (flight.from, flight.to) == (from, to)).unwrap().arrived
    };
    all.iter().map(arrival).collect()
}

/// Random messages between random tasks, sent and received in the same order, so that there is no deadlock.
pub(super) fn random_workload(rng: &mut Rng, tasks: u32, num_messages: u32, longest: u32) -> Workload {
    let mut builder = WorkloadBuilder::new(tasks as usize);
    for _ in 0..num_messages {
        let from = rng.below(tasks);
        let to = (from + 1 + rng.below(tasks - 1)) % tasks;
        let flits = 1 + u64::from(rng.below(longest));
        if rng.below(2) == 0 {
            builder.compute(from, u64::from(rng.below(20)));
        }
        if rng.below(6) == 0 {
            let times = 1 + u64::from(rng.below(3));
            [from, to].into_iter().for_each(|task| builder.repeat(task, times));
            builder.compute(from, 3);
            builder.send(from, to, flits);
            builder.receive(to, from, flits);
            [from, to].into_iter().for_each(|task| builder.end(task));
        } else {
            builder.send(from, to, flits);
            builder.receive(to, from, flits);
        }
        if rng.below(3) == 0 {
            builder.compute(to, u64::from(rng.below(20)));
        }
    }
    builder.build().unwrap()
}

#[test]
fn a_message_alone_takes_its_length_and_the_hops_but_one() {
    for (from, to, flits) in [(0u32, 15u32, 1), (0, 15, 40), (3, 7, 5), (12, 3, 2)] {
        let all = [(from, to, flits)];
        let mesh = Grid::mesh(&[4, 4]).unwrap();
        let pes: Vec<u32> = (0..16).collect();
        let hops = u64::from((from % 4).abs_diff(to % 4) + (from / 4).abs_diff(to / 4));
        assert_eq!(arrivals(&run(&messages(16, &all), &mesh, &pes), &all), [flits + hops - 1]);
        let cube = Hypercube::new(4).unwrap();
        let hops = u64::from((from ^ to).count_ones());
        assert_eq!(arrivals(&run(&messages(16, &all), &cube, &pes), &all), [flits + hops - 1]);
        // Store and forward: the whole message over each link, so distance times length.
        let tree = Hierarchy::parse("4:4", "2:20").unwrap();
        let distance = if from / 4 == to / 4 { 2 } else { 20 };
        assert_eq!(arrivals(&run(&messages(16, &all), &tree, &pes), &all), [flits * distance]);
    }
}

#[test]
fn of_two_messages_in_conflict_the_second_waits_for_the_first() {
    // Both need the link from 1 to 2. The message of task 1 requests it at once, that of task 0 one cycle
    // later.
    let all = [(0, 2, 10), (1, 3, 20)];
    let line = Grid::mesh(&[4]).unwrap();
    let simulation = run(&messages(4, &all), &line, &[0, 1, 2, 3]);
    // 1 -> 3: links at 0 and 1, the last flit leaves 1 -> 2 at 20. Then 0 -> 2 continues: 10 more flits.
    assert_eq!(arrivals(&simulation, &all), [30, 21]);
    let waited: Vec<u64> = simulation.links.iter().map(|link| link.waited).collect();
    assert_eq!(waited, [0, 19, 0]);
    // Both lanes of a store-and-forward link carry one message after another, too.
    let tree = Hierarchy::parse("4", "2").unwrap();
    let all = [(0, 2, 10), (1, 2, 20)];
    assert_eq!(arrivals(&run(&messages(4, &all), &tree, &[0, 1, 2, 3]), &all), [20, 40]);
}

/// Figure 1 of the paper: the packet from 1 to 3 is blocked at node 2 until (2,4) and (3,4) are delivered,
/// although the paths of (1,3) and (3,4) are disjoint.
#[test]
fn three_messages_in_a_chain_as_in_figure_1() {
    let all = [(1, 3, 10), (2, 4, 10), (3, 4, 10)];
    let line = Grid::mesh(&[5]).unwrap();
    let simulation = run(&messages(5, &all), &line, &[0, 1, 2, 3, 4]);
    // (3,4) takes its link at 0 and arrives at 10. (2,4) takes 2 -> 3 at 0, waits, takes 3 -> 4 at 10, and
    // arrives at 20. Its last flit leaves 2 -> 3 at 19 + 0, when ten flits have passed: one at 0, nine from
    // 10 on. Then (1,3) continues.
    assert_eq!(arrivals(&simulation, &all), [29, 20, 10]);
    let blocked = arrivals(&run(&messages(5, &[(1, 3, 10), (3, 4, 10)]), &line, &[0, 1, 2, 3, 4]), &all[..1]);
    assert_eq!(blocked, [11], "without (2,4) nothing is in its way");
}

#[test]
fn results_match_the_cycle_by_cycle_simulator() {
    let mut rng = Rng::new(2024);
    for case in 0..420 {
        let machine: Box<dyn Machine> = match case % 7 {
            0 => Box::new(Grid::mesh(&[1 + rng.below(4), 1 + rng.below(4)]).unwrap()),
            1 => Box::new(Grid::torus(&[1 + rng.below(6), 1 + rng.below(4)]).unwrap()),
            2 => Box::new(Hypercube::new(rng.below(5)).unwrap()),
            3 => Box::new(Hierarchy::parse("2:2:3", "1:4:9").unwrap()),
            4 => crate::common::Family::network("", 8, 4, &mut rng).machine,
            // Without distances of 0: such messages are delivered in the cycle in which they are sent, PE by
            // PE.
            5 => {
                let longest = 1 + rng.below(9);
                Box::new(
                    DistanceMatrix::from_fn(6, |p, q| Distance::from(1 + (p + q) * 7 % longest)).unwrap(),
                )
            }
            _ => Box::new(Listed::new(Grid::torus(&[5]).unwrap(), vec![4, 0, 2]).unwrap()),
        };
        let routing = Routing::new(&machine).unwrap();
        let tasks = 2 + rng.below(8);
        let num_messages = rng.below(50);
        let longest = [1, 3, 20][rng.below(3) as usize];
        let workload = random_workload(&mut rng, tasks, num_messages, longest);
        let pe_of: Vec<u32> = (0..tasks).map(|_| rng.below(machine.num_pes() as u32)).collect();
        let costs = Costs::new(u64::from(rng.below(3)), u64::from(rng.below(3)));
        let fast = simulate(&workload, &routing, &pe_of, settings(costs)).unwrap();
        let name = format!("case {case}: {workload:?} on {} by {pe_of:?}, {costs:?}", machine.describe());
        let Some(slow) = slow_run(&workload, &routing, &pe_of, costs, 20_000) else {
            panic!("{name} does not end")
        };
        assert_eq!(fast.completion_time, slow.completion_time, "{name}");
        let busy: Vec<u64> = fast.pes.iter().map(|pe| pe.busy).collect();
        let ends: Vec<u64> = fast.pes.iter().map(|pe| pe.busy + pe.blocked).collect();
        assert_eq!((busy, ends), (slow.busy, slow.ends), "{name}");
        let mut flits = vec![0; routing.num_lanes()];
        slow.flits
            .iter()
            .enumerate()
            .for_each(|(lane, &count)| flits[routing.link_of(lane as u32) as usize] += count);
        for load in &fast.links {
            assert_eq!(load.flits, std::mem::take(&mut flits[load.link as usize]), "{name}: {}", load.name);
        }
        assert!(flits.iter().all(|&count| count == 0), "{name}");
        let mut own: Vec<(u64, u64)> =
            fast.timeline.unwrap().flights.iter().map(|flight| (flight.sent, flight.arrived)).collect();
        let mut expected: Vec<(u64, u64)> =
            slow.flights.iter().map(|&(_, sent, arrived)| (sent, arrived)).collect();
        own.sort_unstable();
        expected.sort_unstable();
        assert_eq!(own, expected, "{name}");
    }
}

#[test]
fn every_message_arrives_and_all_time_is_accounted_for() {
    let mut rng = Rng::new(7);
    let machine = Grid::torus(&[5, 4, 3]).unwrap();
    let routing = Routing::new(&machine).unwrap();
    for _ in 0..20 {
        let workload = random_workload(&mut rng, 60, 600, 40);
        let pe_of: Vec<u32> = (0..60).map(|_| rng.below(60)).collect();
        let all = simulate(&workload, &routing, &pe_of, settings(Costs::default())).unwrap();
        let again = simulate(&workload, &routing, &pe_of, settings(Costs::default())).unwrap();
        assert_eq!(all, again);
        assert_eq!(all.latency.messages + all.latency.local, workload.num_messages());
        assert!(all.latency.mean >= all.latency.mean_alone);
        for pe in &all.pes {
            assert_eq!(pe.busy + pe.blocked + pe.idle, all.completion_time);
        }
        let busy: u64 = all.pes.iter().map(|pe| pe.busy).sum();
        let work: u64 = (0..60).map(|task| workload.work(task)).sum();
        assert_eq!(busy, work + 2 * workload.num_messages(), "SEND and RECEIVE take a cycle each");
        let mut hops = Vec::new();
        let mut flit_hops = 0;
        for (channel, traffic) in workload.channels().iter().zip(workload.traffic()) {
            hops.clear();
            let (from, to) = (pe_of[channel.from as usize], pe_of[channel.to as usize]);
            if from != to {
                routing.route(from, to, &mut hops);
            }
            flit_hops += traffic.flits * hops.len() as u64;
        }
        assert_eq!(all.links.iter().map(|load| load.flits).sum::<u64>(), flit_hops);
        assert!(all.links.iter().all(|load| load.busy <= load.held && load.held <= 2 * all.completion_time));
    }
}

#[test]
fn several_tasks_of_a_pe_take_turns() {
    let mut builder = WorkloadBuilder::new(3);
    for task in 0..2 {
        builder.compute(task, 10);
        builder.compute(task, 10);
    }
    builder.send(0, 1, 5);
    builder.receive(1, 0, 5);
    builder.receive(2, 0, 7);
    builder.send(0, 2, 7);
    let workload = builder.build().unwrap();
    let simulation = run(&workload, &Grid::mesh(&[2]).unwrap(), &[0, 0, 1]);
    let spans = simulation.timeline.as_ref().unwrap().spans.clone();
    let turns: Vec<(u32, u64)> = spans.iter().map(|span| (span.task, span.begin)).collect();
    assert_eq!(turns, [(0, 0), (1, 10), (0, 20), (1, 30)]);
    // Both messages leave at 40: one task is ready earlier, so its turn comes first.
    assert_eq!(simulation.completion_time, 47);
    assert_eq!((simulation.latency.local, simulation.latency.messages), (1, 1));
}

#[test]
fn deadlocked_worms_in_a_ring_without_lanes_are_named() {
    let ring = Grid::torus(&[4]).unwrap();
    let all: Vec<(u32, u32, u64)> = (0..4).map(|task| (task, (task + 2) % 4, 10)).collect();
    let workload = messages(4, &all);
    let single = Routing::new(&ring).unwrap().with_single_lanes();
    let error = simulate(&workload, &single, &[0, 1, 2, 3], settings(FREE)).unwrap_err();
    let SimulationError::Deadlock { ref circle, .. } = error else { panic!("{error}") };
    assert_eq!(circle.len(), 4);
    assert_eq!((circle[0].from, circle[0].to, circle[0].link.as_str()), (0, 2, "(1) -> (2)"));
    assert!(
        error
            .to_string()
            .contains("the message from task 0 to 2 waits for link (1) -> (2), which is kept by")
    );
    assert!(run(&workload, &ring, &[0, 1, 2, 3]).completion_time >= 11);
}

#[test]
fn a_graph_is_one_synchronous_phase() {
    let graph = generate::grid(4, 4);
    let workload = Workload::of_graph(&graph).unwrap();
    assert_eq!(workload.graph().total_arc_weight(), 2 * graph.total_arc_weight());
    let pes: Vec<u32> = (0..16).collect();
    // Each message has a link of its own.
    assert_eq!(run(&workload, &Grid::mesh(&[4, 4]).unwrap(), &pes).completion_time, 1);
    let far: Vec<u32> = (0..16).map(|pe| pe * 7 % 16).collect();
    assert!(run(&workload, &Grid::mesh(&[4, 4]).unwrap(), &far).completion_time > 1);
}

#[test]
fn impossible_simulations_are_rejected() {
    let workload = messages(3, &[(0, 1, 4)]);
    let routing = Routing::new(&Grid::mesh(&[2]).unwrap()).unwrap();
    let fault = |pe_of: &[u32], costs| simulate(&workload, &routing, pe_of, settings(costs)).unwrap_err();
    assert_eq!(fault(&[0, 1], FREE), SimulationError::MappingDiffers { found: 2, expected: 3 });
    assert_eq!(fault(&[0, 1, 2], FREE), SimulationError::PeOutOfRange { task: 2, pe: 2, count: 2 });
    assert_eq!(fault(&[0, 1, 0], Costs::new(u64::MAX, 0)), SimulationError::CostTooLarge);
    let far = Routing::new(&Hierarchy::parse("2", &i64::MAX.to_string()).unwrap()).unwrap();
    let error = simulate(&workload, &far, &[0, 1, 0], settings(FREE)).unwrap_err();
    assert_eq!(error, SimulationError::TooLong);
    let mut heavy = GraphBuilder::new(3);
    heavy.add_edge(0, 1, 7);
    heavy.add_edge(2, 1, 1 << 48);
    let error = Workload::of_graph(&heavy.build().unwrap()).unwrap_err().to_string();
    let begin = "the edges of the graph are too heavy to simulate: the edge of processes 1 and 2,";
    assert!(error.starts_with(begin), "{error}");
}

#[test]
fn a_run_ends_when_it_is_asked_to() {
    let workload = Workload::of_graph(&generate::random_geometric(2000, 12.0, 1)).unwrap();
    let routing = Routing::new(&Grid::torus(&[50, 40]).unwrap()).unwrap();
    let mut pes: Vec<u32> = (0..2000).collect();
    Rng::new(1).shuffle(&mut pes);
    let error =
        simulate_watched(&workload, &routing, &pes, settings(FREE), &crate::common::StopAfter::questions(0))
            .unwrap_err();
    assert!(matches!(error, SimulationError::Stopped { .. }), "{error}");
}

#[test]
fn a_timeline_is_a_trace_of_events() {
    let all = [(0, 3, 5), (1, 0, 2)];
    let simulation = run(&messages(4, &all), &Grid::mesh(&[4]).unwrap(), &[0, 1, 2, 3]);
    let timeline = simulation.timeline.as_ref().unwrap();
    let trace = serde_json::to_value(ChromeTrace::new(timeline, &[0, 1, 2, 3])).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let arrows = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    assert_eq!((arrows("s"), arrows("f"), arrows("M")), (2, 2, 4));
}

/// Routes by definition: dimension by dimension, the shorter way round.
#[test]
fn routes_in_grids_go_dimension_by_dimension() -> Result<(), MachineError> {
    let walk = |lengths: &[u32], is_closed: bool, from: u32, to: u32| -> Vec<String> {
        let coordinates = |mut vertex: u32| -> Vec<u32> {
            lengths
                .iter()
                .map(|&length| {
                    let own = vertex % length;
                    vertex /= length;
                    own
                })
                .collect()
        };
        let text = |at: &[u32]| format!("({})", at.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
        let (mut at, target) = (coordinates(from), coordinates(to));
        let mut names = Vec::new();
        for k in 0..lengths.len() {
            let n = lengths[k];
            let up = (target[k] + n - at[k]) % n;
            let is_up = if is_closed { up <= n - up } else { target[k] > at[k] };
            while at[k] != target[k] {
                let before = text(&at);
                at[k] = if is_up { (at[k] + 1) % n } else { (at[k] + n - 1) % n };
                names.push(format!("{before} -> {}", text(&at)));
            }
        }
        names
    };
    let mut hops = Vec::new();
    for lengths in [vec![5], vec![4, 3], vec![3, 2, 4], vec![6, 5]] {
        for is_closed in [false, true] {
            let grid = if is_closed { Grid::torus(&lengths)? } else { Grid::mesh(&lengths)? };
            let routing = Routing::new(&grid)?;
            let n = grid.num_pes() as u32;
            for (from, to) in
                (0..n).flat_map(|from| (0..n).map(move |to| (from, to))).filter(|(from, to)| from != to)
            {
                hops.clear();
                assert_eq!(routing.route(from, to, &mut hops), Flow::Wormhole);
                let names: Vec<String> =
                    hops.iter().map(|hop| routing.name(routing.link_of(hop.lane))).collect();
                assert_eq!(
                    names,
                    walk(&lengths, is_closed, from, to),
                    "{from} to {to} of {lengths:?} {is_closed}"
                );
            }
        }
    }
    Ok(())
}

/// On every other machine the cost of a route is the distance, whatever its links, and the same for messages
/// of any length.
#[test]
fn routes_cost_the_distance() {
    let mut rng = Rng::new(3);
    let mut hops = Vec::new();
    for family in crate::common::families(&mut rng) {
        let routing = Routing::new(&family.machine).unwrap();
        let n = family.machine.num_pes() as u32;
        for (from, to) in (0..n).flat_map(|from| (0..n).map(move |to| (from, to))) {
            hops.clear();
            routing.route(from, to, &mut hops);
            let cost: u64 = hops.iter().map(|hop| hop.cycles).sum();
            assert_eq!(cost as i64, family.distances[from as usize][to as usize], "{}", family.name);
            assert!(hops.iter().all(|hop| (hop.lane as usize) < routing.num_lanes() && hop.cycles > 0));
            assert!(hops.iter().all(|hop| !routing.name(routing.link_of(hop.lane)).is_empty()));
        }
    }
    for distances in ["9:4:6", "0:5:5", "7:7:7", "5:3:1"] {
        let tree = Hierarchy::parse("2:3:2", distances).unwrap();
        let routing = Routing::new(&tree).unwrap();
        for (from, to) in (0..12).flat_map(|from| (0..12).map(move |to| (from, to))) {
            hops.clear();
            routing.route(from, to, &mut hops);
            let cost: u64 = hops.iter().map(|hop| hop.cycles).sum();
            assert_eq!(cost as i64, crate::common::tree_distance(&tree, from, to), "{distances}");
        }
    }
}
