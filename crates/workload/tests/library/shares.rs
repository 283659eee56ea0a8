//! Messages that share links fairly: cases by hand, invariants, and a slow simulation from one arrival to the next.

use super::simulate::{FREE, random_workload, settings};
use viem::base::rng::Rng;
use viem::base::types::Distance;
use viem::machine::{DistanceMatrix, Grid, Hierarchy, Machine};
use viem_workload::WorkloadBuilder;
use viem_workload::routing::{Hop, Routing};
use viem_workload::simulate::{Costs, Sharing, SimulationError, simulate};

/// Arrival times of messages that are all sent at time 0 and share links fairly, in fractions of cycles.
fn slow_shares(routes: &[(u64, Vec<Hop>)]) -> Vec<f64> {
    let mut left: Vec<f64> = routes.iter().map(|&(flits, _)| flits as f64).collect();
    let mut ends = vec![0.0; routes.len()];
    let mut now = 0.0;
    while left.iter().any(|&left| left > 0.0) {
        let mut rates: Vec<Option<f64>> = left.iter().map(|&left| (left <= 0.0).then_some(0.0)).collect();
        while rates.iter().any(Option::is_none) {
            // The link whose open messages get the least fixes them.
            let share = |hop: &Hop| {
                let passing: Vec<usize> = (0..routes.len())
                    .filter(|&at| routes[at].1.iter().any(|other| other.lane == hop.lane))
                    .collect();
                let cycles = |at: usize| {
                    let own = routes[at].1.iter().find(|other| other.lane == hop.lane);
                    own.map_or(0.0, |own| own.cycles as f64)
                };
                let used: f64 = passing.iter().filter_map(|&at| Some(rates[at]? * cycles(at))).sum();
                let open = passing.iter().filter(|&&at| rates[at].is_none());
                (1.0 - used) / open.map(|&at| cycles(at)).sum::<f64>()
            };
            let open = (0..routes.len()).filter(|&at| rates[at].is_none());
            let hops: Vec<&Hop> = open.flat_map(|at| &routes[at].1).collect();
            let (least, lane) = hops
                .iter()
                .map(|hop| (share(hop), hop.lane))
                .min_by(|a, b| a.partial_cmp(b).unwrap())
                .unwrap();
            for at in 0..routes.len() {
                if rates[at].is_none() && routes[at].1.iter().any(|hop| hop.lane == lane) {
                    rates[at] = Some(least);
                }
            }
        }
        let ends_in = |at: usize| left[at] / rates[at].unwrap();
        let open = (0..routes.len()).filter(|&at| left[at] > 0.0);
        let step = open.clone().map(ends_in).fold(f64::INFINITY, f64::min);
        let ended: Vec<usize> = open.filter(|&at| ends_in(at) <= step * (1.0 + 1e-9)).collect();
        now += step;
        for (left, rate) in left.iter_mut().zip(&rates) {
            *left -= rate.unwrap() * step;
        }
        for at in ended {
            (left[at], ends[at]) = (0.0, now);
        }
    }
    ends
}

#[test]
fn messages_that_share_links_arrive_when_a_slow_simulation_says() {
    let mut rng = Rng::new(12);
    for case in 0..40 {
        let machine: Box<dyn Machine> = match case % 3 {
            0 => Box::new(Hierarchy::parse("2:3:2", "2:8:12").unwrap()),
            1 => Box::new(Grid::torus(&[4, 3]).unwrap()),
            _ => Box::new(DistanceMatrix::from_fn(6, |p, q| Distance::from(2 + (p + q) % 5)).unwrap()),
        };
        let routing = Routing::new(&machine).unwrap();
        let count = machine.num_pes() as u32;
        let (mut builder, mut routes, mut channels) = (WorkloadBuilder::new(count as usize), vec![], vec![]);
        for (from, to) in (0..count).flat_map(|from| (0..count).map(move |to| (from, to))) {
            if from == to || rng.below(4) > 0 {
                continue;
            }
            let flits = 200 + u64::from(rng.below(400));
            builder.send(from, to, flits);
            let mut hops = Vec::new();
            routing.route(from, to, &mut hops);
            hops.iter_mut().for_each(|hop| hop.lane = routing.link_of(hop.lane));
            routes.push((flits, hops));
            channels.push((from, to));
        }
        for (&(from, to), &(flits, _)) in channels.iter().zip(&routes) {
            builder.receive(to, from, flits);
        }
        let workload = builder.build().unwrap();
        let pe_of: Vec<u32> = (0..count).collect();
        let config = settings(FREE).with_sharing(Sharing::Fair { latency: 0 });
        let found = simulate(&workload, &routing, &pe_of, config).unwrap();
        let ends = slow_shares(&routes);
        let flights = found.timeline.unwrap().flights;
        assert_eq!(flights.len(), routes.len());
        for flight in flights {
            let at = channels.iter().position(|&channel| channel == (flight.from, flight.to)).unwrap();
            let difference = (flight.arrived as f64 - ends[at]).abs();
            assert!(difference <= 0.01 * ends[at] + 3.0, "case {case}: {flight:?}, slowly {}", ends[at]);
        }
    }
}

#[test]
fn a_message_alone_takes_its_latency_and_the_time_of_its_slowest_link() {
    let routing = Routing::new(&Hierarchy::parse("2:2", "2:20").unwrap()).unwrap();
    let mut builder = WorkloadBuilder::new(2);
    builder.send(0, 1, 100);
    builder.receive(1, 0, 100);
    let workload = builder.build().unwrap();
    let time = |pe_of: &[u32], latency| {
        let config = settings(FREE).with_sharing(Sharing::Fair { latency });
        let found = simulate(&workload, &routing, pe_of, config).unwrap();
        assert_eq!(found.latency.mean_alone, found.completion_time as f64);
        found.completion_time
    };
    // Links of 1 and 1, or of 1, 9, 9 and 1 cycles per flit.
    assert_eq!(time(&[0, 1], 0), 100);
    assert_eq!(time(&[0, 2], 0), 900);
    assert_eq!(time(&[0, 2], 7), 7 * 20 + 900);
    let config = settings(FREE).with_sharing(Sharing::Fair { latency: Costs::MOST + 1 });
    assert_eq!(simulate(&workload, &routing, &[0, 2], config), Err(SimulationError::CostTooLarge));
}

#[test]
fn tasks_that_share_links_end_and_all_flits_are_counted() {
    let mut rng = Rng::new(21);
    let machine = Grid::torus(&[5, 4, 3]).unwrap();
    let routing = Routing::new(&machine).unwrap();
    for _ in 0..20 {
        let workload = random_workload(&mut rng, 30, 400, 30);
        let pe_of: Vec<u32> = (0..30).map(|_| rng.below(60)).collect();
        let config =
            settings(Costs::default()).with_sharing(Sharing::Fair { latency: u64::from(rng.below(3)) });
        let found = simulate(&workload, &routing, &pe_of, config).unwrap();
        assert!(found.latency.mean >= found.latency.mean_alone);
        let mut hops = Vec::new();
        let mut passed = 0;
        for (channel, traffic) in workload.channels().iter().zip(workload.traffic()) {
            hops.clear();
            let [from, to] = [channel.from, channel.to].map(|task| pe_of[task as usize]);
            if from != to {
                routing.route(from, to, &mut hops);
            }
            passed += traffic.flits * hops.len() as u64;
        }
        assert_eq!(found.links.iter().map(|link| link.flits).sum::<u64>(), passed);
        assert!(found.links.iter().all(|link| link.busy <= link.held + link.messages && link.waited == 0));
    }
}
