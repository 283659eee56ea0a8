//! The estimate F and the mapper of workloads.

use std::time::Duration;

use crate::common::StopAfter;
use viem::Mapping;
use viem::base::rng::Rng;
use viem::base::types::PeId;
use viem::graph::{CsrGraph, GraphBuilder};
use viem::machine::{Capacities, Grid, Hierarchy, Hypercube, Interconnect, Machine, Network};
use viem::solve::MapPreset;
use viem_verify::MachineText;
use viem_workload::estimate::{Estimate, NOWHERE, PARTS, WorkloadModel};
use viem_workload::generate::{Congestion, Pattern, Size, congested, shuffled, workload};
use viem_workload::map::{Start, TaskMapConfig, TaskRequest};
use viem_workload::routing::Routing;
use viem_workload::simulate::{Costs, SimulationConfig, simulate};
use viem_workload::{Workload, WorkloadBuilder};

const FREE: Costs = Costs::new(0, 0);

fn estimate(workload: &Workload, machine: &dyn Machine, pe_of: &[PeId], costs: Costs) -> f64 {
    let (model, routing) = (WorkloadModel::new(workload, costs).unwrap(), Routing::new(machine).unwrap());
    Estimate::of(&model, &routing, pe_of).unwrap().cycles()
}

fn completion_time(workload: &Workload, machine: &dyn Machine, pe_of: &[PeId]) -> u64 {
    let routing = Routing::new(machine).unwrap();
    simulate(workload, &routing, pe_of, SimulationConfig::default()).unwrap().completion_time
}

/// Little effort, so that tests are fast.
fn quick() -> TaskMapConfig {
    let mut config = TaskMapConfig::preset(MapPreset::Fast);
    config.simulated = 20_000;
    config
}

/// Tasks 0 and 1 send 10 and 20 flits to tasks 2 and 3 at time 0; task 3 computes for 6 cycles before it
/// receives its message.
fn two_messages() -> Workload {
    let mut builder = WorkloadBuilder::new(4);
    builder.send(0, 2, 10);
    builder.send(1, 3, 20);
    builder.receive(2, 0, 10);
    builder.compute(3, 6);
    builder.receive(3, 1, 20);
    builder.build().unwrap()
}

#[test]
fn every_term_of_a_worked_example() {
    let workload = two_messages();
    let model = WorkloadModel::new(&workload, FREE).unwrap();
    // Equation 3: task 3 is busy for 6 cycles and waits for 14, task 2 waits for 10.
    assert_eq!((model.work.clone(), model.waiting.clone()), (vec![0, 0, 0, 6], vec![0, 0, 10, 14]));
    assert_eq!(model.completion_time, 20);
    let channels: Vec<(u64, u64, u64)> =
        model.channels.iter().map(|channel| (channel.messages, channel.flits, channel.waiting)).collect();
    assert_eq!(channels, [(1, 10, 10), (1, 20, 14)]);
    // Both messages are under way together for more than half of the time of the shorter one.
    assert_eq!(model.phases.len(), 1);
    let line = Grid::mesh(&[4]).unwrap();
    // Equation 4: one hop more than between neighbours for each. Equations 7 and 9: both use the link from 1
    // to 2, so they form a class of 30 flits. The first is delayed by 20 / (2 * 2), the second by 10 / (2 *
    // 2).
    let routing = Routing::new(&line).unwrap();
    let apart = Estimate::of(&model, &routing, &[0, 1, 2, 3]).unwrap();
    let cycles: Vec<f64> = apart.times().iter().map(|&parts| parts as f64 / PARTS as f64).collect();
    assert_eq!(cycles, [0.0, 0.0, 10.0 + 1.0 + 5.0, 20.0 + 1.0 + 2.5]);
    assert_eq!(apart.cycles(), 23.5);
    // Neighbours without a common link.
    assert_eq!(estimate(&workload, &line, &[0, 3, 1, 2], FREE), 20.0);
    // Equation 5: on one PE the messages take no time; the savings are the waiting times: 10, and 14 of 20
    // cycles.
    assert_eq!(estimate(&workload, &line, &[0, 1, 0, 1], FREE), 6.0);
}

#[test]
fn a_third_message_makes_one_class_of_two() {
    // As in Figure 1: (1,3) and (3,4) share no link, but (2,4) shares one with each.
    let mut builder = WorkloadBuilder::new(5);
    for (from, to) in [(1, 3), (2, 4), (3, 4)] {
        builder.send(from, to, 12);
    }
    for (from, to) in [(1, 3), (2, 4), (3, 4)] {
        builder.receive(to, from, 12);
    }
    let workload = builder.build().unwrap();
    let (model, line) = (WorkloadModel::new(&workload, FREE).unwrap(), Grid::mesh(&[5]).unwrap());
    let routing = Routing::new(&line).unwrap();
    let times = |pe_of: &[PeId]| {
        let estimate = Estimate::of(&model, &routing, pe_of).unwrap();
        estimate.times().iter().map(|&parts| parts as f64 / PARTS as f64).collect::<Vec<f64>>()
    };
    // Each is delayed by 24 / (2 * 3); task 4 receives two of them.
    assert_eq!(times(&[0, 1, 2, 3, 4]), [0.0, 0.0, 0.0, 12.0 + 1.0 + 4.0, 12.0 + 1.0 + 2.0 * 4.0]);
}

#[test]
fn incremental_updates_match_recomputation() {
    let mut rng = Rng::new(5);
    let machines: Vec<Box<dyn Machine>> = vec![
        Box::new(Grid::mesh(&[4, 4]).unwrap()),
        Box::new(Grid::torus(&[5, 3]).unwrap()),
        Box::new(Hypercube::new(4).unwrap()),
        Box::new(Hierarchy::parse("2:4:2", "1:5:9").unwrap()),
        crate::common::Family::network("", 20, 6, &mut rng).machine,
    ];
    for (case, machine) in machines.iter().cycle().take(40).enumerate() {
        let tasks = 4 + rng.below(20);
        let workload = match case % 2 {
            0 => workload(Pattern::Random, &[tasks], Size::new(2, 9, 2), case as u64).unwrap(),
            _ => congested(Congestion::ALL[case / 2 % 4], 4, Size::new(3, 7, 1), case as u64),
        };
        let tasks = workload.num_tasks() as u32;
        let (model, routing) =
            (WorkloadModel::new(&workload, Costs::default()).unwrap(), Routing::new(machine).unwrap());
        let pes = machine.num_pes() as u32;
        let mut pe_of: Vec<PeId> = (0..tasks).map(|_| rng.below(pes)).collect();
        let mut kept = Estimate::of(&model, &routing, &pe_of).unwrap();
        for step in 0..60 {
            let (task, pe) = (rng.below(tasks), rng.below(pes + 1));
            let pe = if pe == pes { NOWHERE } else { pe };
            pe_of[task as usize] = pe;
            if step % 20 == 19 {
                // All at once, as when one mapping follows another.
                rng.shuffle(&mut pe_of);
                kept.place_all(&pe_of);
            } else {
                kept.place(task, pe);
            }
            let scratch = Estimate::of(&model, &routing, &pe_of).unwrap();
            assert_eq!(kept.pe_of(), pe_of);
            assert_eq!(kept.times(), scratch.times(), "case {case}");
            assert_eq!((kept.parts(), kept.sum()), (scratch.parts(), scratch.sum()));
        }
    }
}

/// The auditor shares no code with the estimate; it reads workload, machine and mapping from their texts.
#[test]
fn the_auditor_finds_the_same_estimate() {
    let mut rng = Rng::new(11);
    let specs = [
        ("mesh:5x4", None),
        ("mesh:4x2x3", Some("3")),
        ("torus:5x3", None),
        ("torus:2x4x3", None),
        ("torus:4x6", None),
        ("torus:3x3/2:2", Some("2:5:1")),
        ("hypercube:4", None),
        ("2:4:2", Some("1:5:9")),
        ("3:2:2:2", Some("4:9:2:3")),
        ("complete:9", None),
        ("rails:2:3:2", Some("1:5:6:10")),
        ("rails:3:2", Some("7:1:9")),
        ("rails:2:2:2:2", Some("2:4:9:3:12")),
    ];
    for case in 0..360 {
        let (spec, distances) = specs[case % specs.len()];
        let machine = viem_cluster::build(spec, distances).unwrap();
        let text = MachineText { spec, distances, file: None, pes: None, link_cycles: None };
        crate::common::check_random_estimate(&*machine, &text, &mut rng);
    }
    for case in 0..40 {
        // With short links, many paths cost the same.
        let longest = [2, 6][case % 2];
        let network = crate::common::Family::network("", 20, longest, &mut rng);
        let Interconnect::Network(links) = network.machine.interconnect() else { panic!("not a network") };
        let text = crate::common::text_of(links.graph());
        let text =
            MachineText { spec: "n.graph", distances: None, file: Some(&text), pes: None, link_cycles: None };
        crate::common::check_random_estimate(&*network.machine, &text, &mut rng);
        let kind = Congestion::ALL[case % 4];
        let congested = congested(kind, 3, Size::new(3, 7, 1), case as u64);
        let pe_of: Vec<PeId> = (0..9).map(|_| rng.below(network.room.len() as u32)).collect();
        crate::common::check_estimate(&congested, Costs::default(), &*network.machine, &text, &pe_of);
        let times = with_random_weights(links.graph(), &mut rng);
        let timed = links.clone().with_link_cycles(&times).unwrap();
        let times = crate::common::text_of(&times);
        let text = MachineText { link_cycles: Some(&times), ..text };
        crate::common::check_estimate(&congested, Costs::default(), &timed, &text, &pe_of);
    }
}

/// The same edges with other weights.
fn with_random_weights(graph: &CsrGraph, rng: &mut Rng) -> CsrGraph {
    let mut builder = GraphBuilder::new(graph.num_nodes());
    for node in graph.nodes() {
        builder.set_node_weight(node, graph.node_weight(node));
        let later = graph.neighbours(node).iter().filter(|&&other| other > node);
        later.for_each(|&other| builder.add_edge(node, other, 1 + i64::from(rng.below(9))));
    }
    builder.build().unwrap()
}

/// Grids of routers in which all have PEs, and whose links cost the same, so that many paths do.
#[test]
fn the_auditor_finds_the_same_estimate_on_direct_networks() {
    let mut rng = Rng::new(12);
    for case in 0..24 {
        let (width, height) = (2 + rng.below(4), 2 + rng.below(3));
        let routers = width * height;
        let pes = routers + rng.below(4);
        let mut builder = GraphBuilder::new((routers + pes) as usize);
        for router in 0..routers {
            let (x, y) = (router % width, router / width);
            let ways = [(x, width, router - x, 1), (y, height, x, width)];
            for (at, length, first, stride) in ways {
                if at + 1 < length || (case % 2 == 0 && length > 2) {
                    builder.add_edge(router, first + (at + 1) % length * stride, 3);
                }
            }
        }
        (0..pes).for_each(|pe| builder.add_edge(routers + pe, pe % routers, 1));
        (0..routers + pes).for_each(|vertex| builder.set_node_weight(vertex, i64::from(vertex >= routers)));
        let network = Network::new(builder.build().unwrap()).unwrap();
        let text = crate::common::text_of(network.graph());
        let text =
            MachineText { spec: "n.graph", distances: None, file: Some(&text), pes: None, link_cycles: None };
        crate::common::check_random_estimate(&network, &text, &mut rng);
    }
}

/// The figures of section 4.1 for a few of its workloads; the bench covers all.
#[test]
fn the_estimate_is_near_the_simulated_time() {
    let mut errors = Vec::new();
    for case in 0..10u32 {
        let tasks = 4 + 12 * case;
        let workload = workload(Pattern::Random, &[tasks], Size::default(), case.into()).unwrap();
        let side = (1..).find(|side| side * side >= tasks).unwrap();
        let mesh = Grid::mesh(&[side, side]).unwrap();
        let mut pes: Vec<PeId> = (0..side * side).collect();
        Rng::new(case.into()).shuffle(&mut pes);
        pes.truncate(tasks as usize);
        let simulated = completion_time(&workload, &mesh, &pes) as f64;
        errors.push((estimate(&workload, &mesh, &pes, Costs::default()) / simulated - 1.0).abs());
    }
    assert!(errors.iter().all(|&error| error <= 0.058), "{errors:?}");
    assert!(errors.iter().sum::<f64>() / 10.0 <= 0.017, "{errors:?}");
}

/// Table II and the exchanges of Table I: nothing is slower than without distances and contention.
#[test]
fn regular_workloads_are_mapped_to_neighbours() {
    let mesh = |lengths: &[u32]| -> Box<dyn Machine> { Box::new(Grid::mesh(lengths).unwrap()) };
    let torus = |lengths: &[u32]| -> Box<dyn Machine> { Box::new(Grid::torus(lengths).unwrap()) };
    let cube = |dimension| -> Box<dyn Machine> { Box::new(Hypercube::new(dimension).unwrap()) };
    let cases: Vec<(Pattern, Vec<u32>, Box<dyn Machine>)> = vec![
        (Pattern::Ring, vec![64], mesh(&[8, 8])),
        (Pattern::Ring, vec![60], mesh(&[5, 12])),
        (Pattern::Ring, vec![63], torus(&[7, 9])),
        (Pattern::Ring, vec![60], mesh(&[3, 4, 5])),
        (Pattern::Ring, vec![128], cube(7)),
        (Pattern::Mesh, vec![8, 8], mesh(&[8, 8])),
        (Pattern::Mesh, vec![14, 14], mesh(&[14, 14])),
        (Pattern::Mesh, vec![8, 8], cube(6)),
        (Pattern::Mesh, vec![16, 16], cube(8)),
        (Pattern::Transpose, vec![256], mesh(&[16, 16])),
        (Pattern::Butterfly, vec![8], cube(3)),
        (Pattern::Butterfly, vec![16], cube(4)),
        (Pattern::Butterfly, vec![64], cube(6)),
        (Pattern::Butterfly, vec![256], cube(8)),
    ];
    for (pattern, lengths, machine) in cases {
        let workload = shuffled(&workload(pattern, &lengths, Size::default(), 0).unwrap(), 17);
        let found = TaskRequest::new(&workload, &machine).solve(&quick()).unwrap();
        let name = format!("{pattern} {lengths:?} on {}", machine.describe());
        assert_eq!(found.report.estimate, found.report.ideal, "{name}");
        let time = completion_time(&workload, &machine, found.mapping.pes());
        assert_eq!(time as f64, found.report.ideal, "{name}");
    }
}

#[test]
fn a_ring_on_an_odd_mesh_has_one_step_of_two_hops() {
    let workload = shuffled(&workload(Pattern::Ring, &[25], Size::new(1, 1, 0), 0).unwrap(), 3);
    let found = TaskRequest::new(&workload, &Grid::mesh(&[5, 5]).unwrap()).solve(&quick()).unwrap();
    // Flits go in both directions, and J counts each pair twice.
    assert!(found.report.cost <= 4 * (24 + 2), "{}", found.report.cost);
}

#[test]
fn congested_workloads_are_not_slower_than_any_start() {
    for (case, kind) in Congestion::ALL.into_iter().enumerate() {
        let size = Size::new(3, 16, 1);
        let workload = shuffled(&congested(kind, 5, size, case as u64), 9);
        let machine = Grid::mesh(&[5, 5]).unwrap();
        let mut order: Vec<PeId> = (0..25).collect();
        Rng::new(case as u64).shuffle(&mut order);
        let given = Mapping::from_pes(order.clone()).unwrap();
        let found = TaskRequest::new(&workload, &machine).start(&given).solve(&quick()).unwrap();
        let time = completion_time(&workload, &machine, found.mapping.pes());
        assert_eq!(found.report.completion_time, Some(time));
        let identity: Vec<PeId> = (0..25).collect();
        let others = [&order, &identity].map(|other| completion_time(&workload, &machine, other));
        assert!(others.iter().all(|&other| time <= other), "{kind:?}: {time} {others:?}");
        // The same on more threads; and by F alone, never worse in F than the start.
        let mut config = quick();
        config.threads = 3;
        assert_eq!(
            TaskRequest::new(&workload, &machine).start(&given).solve(&config).unwrap().mapping,
            found.mapping
        );
        config.simulated = 0;
        let by_estimate = TaskRequest::new(&workload, &machine).start(&given).solve(&config).unwrap();
        let value = |pe_of: &[PeId]| estimate(&workload, &machine, pe_of, Costs::default());
        assert_eq!(by_estimate.report.estimate, value(by_estimate.mapping.pes()));
        assert!(by_estimate.report.estimate <= value(&order).min(value(&identity)));
        assert_eq!(by_estimate.report.completion_time, None);
    }
}

/// The simulator compares with the identity even where it has no time for all candidates.
#[test]
fn workloads_of_which_few_mappings_can_be_simulated_are_not_slower_than_the_identity() {
    for case in 0..12u64 {
        let kind = Congestion::ALL[case as usize % 4];
        let workload = congested(kind, 5, Size::new(3, 16, 1), case);
        let machine = Grid::mesh(&[5, 5]).unwrap();
        let routing = Routing::new(&machine).unwrap();
        let identity: Vec<PeId> = (0..25).collect();
        let simulated = simulate(&workload, &routing, &identity, SimulationConfig::default()).unwrap();
        let hops: u64 = simulated.links.iter().map(|link| link.messages).sum();
        let mut config = quick();
        config.simulated = 3 * (hops + workload.num_instructions());
        let found = TaskRequest::new(&workload, &machine).solve(&config).unwrap();
        let time = completion_time(&workload, &machine, found.mapping.pes());
        assert_eq!(found.report.completion_time, Some(time), "{kind:?}");
        assert_eq!(found.report.completion_time_of_identity, Some(simulated.completion_time), "{kind:?}");
        assert!(time <= simulated.completion_time, "{kind:?}");
    }
}

/// Where the busiest link decides, mappings for other objectives than J are the fastest now and then.
#[test]
fn mappings_for_every_objective_are_starts() {
    let (mut rng, machine) = (Rng::new(11), Hierarchy::parse("2:2:4", "1:3:30").unwrap());
    let mut config = quick();
    config.simulated = 1_000_000;
    let mut missing = vec![Start::Bottleneck, Start::BusiestNode, Start::Mixed];
    for _ in 0..60 {
        let workload = random_messages(16, &mut rng);
        let start = TaskRequest::new(&workload, &machine).solve(&config).unwrap().report.start;
        missing.retain(|&other| other != start);
        if missing.is_empty() {
            return;
        }
    }
    panic!("{missing:?} never lead to the fastest");
}

/// Messages between random tasks, sent and received in the same order, so that there is no deadlock.
fn random_messages(tasks: u32, rng: &mut Rng) -> Workload {
    let mut builder = WorkloadBuilder::new(tasks as usize);
    for _ in 0..tasks + rng.below(2 * tasks) {
        let from = rng.below(tasks);
        let to = (from + 1 + rng.below(tasks - 1)) % tasks;
        let flits = [1, 3, 10, 40][rng.below(4) as usize];
        builder.send(from, to, flits);
        builder.receive(to, from, flits);
        if rng.below(2) == 0 {
            builder.compute(rng.below(tasks), [5, 20, 100, 300][rng.below(4) as usize]);
        }
    }
    builder.build().unwrap()
}

/// Even if F is ideal, messages may wait for each other.
#[test]
fn small_workloads_are_not_slower_than_any_start() {
    let mut rng = Rng::new(3);
    let mut count = 0;
    for _ in 0..120 {
        let (tasks, sides) = [(4, [2, 2]), (6, [2, 3]), (9, [3, 3])][rng.below(3) as usize];
        let (workload, machine) = (random_messages(tasks, &mut rng), Grid::mesh(&sides).unwrap());
        let identity: Vec<PeId> = (0..tasks).collect();
        let mut order = identity.clone();
        rng.shuffle(&mut order);
        let given = Mapping::from_pes(order.clone()).unwrap();
        let found = TaskRequest::new(&workload, &machine).start(&given).solve(&quick()).unwrap();
        let [time, given, identity] =
            [found.mapping.pes(), &order, &identity].map(|pe_of| completion_time(&workload, &machine, pe_of));
        assert_eq!(found.report.completion_time, Some(time));
        assert!(time <= given.min(identity), "{time} {given} {identity}");
        count += u32::from(found.report.estimate == found.report.ideal && time as f64 > found.report.ideal);
    }
    assert!(count > 0, "F must mislead in some cases");
}

#[test]
fn any_time_limit_is_accepted() {
    let workload = workload(Pattern::Random, &[20], Size::default(), 2).unwrap();
    let machine = Grid::mesh(&[4, 5]).unwrap();
    for limit in [Duration::ZERO, Duration::from_secs(10_u64.pow(19))] {
        let mut config = quick();
        config.time_limit = Some(limit);
        let observer = StopAfter::questions(1000);
        let found = TaskRequest::new(&workload, &machine).observed(&observer).solve(&config).unwrap();
        let identity: Vec<PeId> = (0..20).collect();
        assert!(found.report.stopped);
        assert!(found.report.estimate <= estimate(&workload, &machine, &identity, Costs::default()));
    }
}

/// Neither many components nor many PEs take long.
#[test]
fn tasks_without_messages_and_pairs_are_placed_quickly() {
    let tasks = 20_000;
    let mut builder = WorkloadBuilder::new(tasks as usize);
    for task in (0..tasks / 2).step_by(2) {
        builder.send(task, task + 1, 8);
        builder.receive(task + 1, task, 8);
    }
    let workload = shuffled(&builder.build().unwrap(), 4);
    let found = TaskRequest::new(&workload, &Grid::mesh(&[100, 200]).unwrap()).solve(&quick()).unwrap();
    assert_eq!(found.report.estimate, found.report.ideal);
}

#[test]
fn several_tasks_share_a_pe_within_its_capacity() {
    let workload = workload(Pattern::Random, &[40], Size::default(), 2).unwrap();
    let machine = Capacities::new(Grid::mesh(&[4, 4]).unwrap(), vec![3; 16]).unwrap();
    let found = TaskRequest::new(&workload, &machine).solve(&quick()).unwrap();
    let mut count = [0; 16];
    found.mapping.pes().iter().for_each(|&pe| count[pe as usize] += 1);
    assert!(count.iter().all(|&count| count <= 3), "{count:?}");
    let in_order = Mapping::in_order(&machine, 40).unwrap();
    let time = completion_time(&workload, &machine, found.mapping.pes());
    assert!(time <= completion_time(&workload, &machine, in_order.pes()));
}

#[test]
fn a_run_that_is_asked_to_stop_has_a_mapping() {
    let workload = workload(Pattern::Random, &[60], Size::default(), 2).unwrap();
    let machine = Grid::mesh(&[8, 8]).unwrap();
    for questions in [0, 1, 5, 50, 500] {
        let observer = StopAfter::questions(questions);
        let found = TaskRequest::new(&workload, &machine)
            .observed(&observer)
            .solve(&TaskMapConfig::default())
            .unwrap();
        assert!(Mapping::on(&machine, found.mapping.pes().to_vec()).is_ok());
        assert!(found.report.stopped || questions > 50, "{questions}");
    }
}
