//! Runs around hubs, and runs without work, end when they are asked to, or at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::StopAfter;
use viem::base::observer::{Observer, Seeded, WORK_BETWEEN_QUESTIONS};
use viem::base::types::NodeId;
use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem::machine::{Distances, Hierarchy};
use viem::mapping::Mapping;
use viem::mapping::problem::Problem;
use viem::mapping::search::{Neighbourhood, SearchConfig, local_search};
use viem::partition::{PartitionPreset, Partitioner, Targets};
use viem::solve::{Config, MapPreset, PreparedMachine, Request};

fn star(n: usize) -> CsrGraph {
    let mut builder = GraphBuilder::new(n);
    (1..n as NodeId).for_each(|leaf| builder.add_edge(0, leaf, 1));
    builder.build().unwrap()
}

/// Counts checks of the observer.
#[derive(Default)]
struct Questions(AtomicUsize);

impl Observer for Questions {
    fn should_stop(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        false
    }
}

/// A row of pairs of a hub takes quadratic time in its degree.
#[test]
fn searches_check_the_observer_inside_the_rows_of_hubs() {
    let n = 4096;
    let graph = star(n);
    let hierarchy = Hierarchy::parse("4:16:64", "1:10:100").unwrap();
    let oracle = Distances::Tree(hierarchy.online32().unwrap());
    let problem = Problem::new(&graph, &oracle).unwrap();
    let config = SearchConfig::of(Neighbourhood::NSquarePruned).with_block_size(n);
    let start = Mapping::identity(n);
    let outcome = local_search(&problem, &start, &config, Seeded::new(0).observed(&StopAfter::questions(4)));
    assert!(outcome.stopped);
    // A pair of the hub evaluates n arcs.
    let most = 4 * WORK_BETWEEN_QUESTIONS.div_ceil(n) as u64;
    assert!((1..=most).contains(&outcome.tried), "{}", outcome.tried);
}

#[test]
fn partitions_around_hubs_take_work_in_proportion_to_the_graph() {
    let questions = |n: usize| {
        let graph = star(n);
        let targets = Targets::equal(&graph, n / 20, 0.0).unwrap();
        let observer = Questions::default();
        let partition =
            Partitioner::new(PartitionPreset::Eco, 1).observed(&observer).partition(&graph, &targets);
        assert_eq!(partition.overload(), 0);
        observer.0.into_inner()
    };
    let (few, many) = (questions(2000), questions(16_000));
    assert!(many < 16 * few, "{few} {many}");
}

#[test]
fn runs_end_at_once_where_no_round_can_change_anything() {
    let mut edge = GraphBuilder::new(1000);
    edge.add_edge(3, 700, 1);
    let edgeless = GraphBuilder::new(1000).build().unwrap();
    let problems = [
        (star(1000), "1000", "7"),
        (edge.build().unwrap(), "10:100", "5:5"),
        (edgeless.clone(), "1000", "1"),
        (edgeless, "10:100", "1:10"),
    ];
    for (graph, arities, distances) in problems {
        let hierarchy = Hierarchy::parse(arities, distances).unwrap();
        for preset in MapPreset::ALL {
            let config = Config::preset(preset).with_time_limit(Duration::from_secs(3600));
            let observer = Questions::default();
            let report = Request::new(&graph, &PreparedMachine::new(&hierarchy))
                .observed(&observer)
                .solve(&config)
                .unwrap()
                .report;
            assert!(!report.stopped);
            let questions = observer.0.into_inner();
            assert!(questions < 20_000, "{arities} {distances} {preset:?} {questions}");
        }
    }
}

#[test]
fn strong_is_never_worse_than_eco() {
    let hierarchy = Hierarchy::parse("4:8:4", "1:10:100").unwrap();
    for seed in 0..6 {
        let graph = generate::mesh(16, 8, seed);
        let cost = |preset| {
            let config = Config::preset(preset).with_seed(seed).with_threads(2);
            solved!(&graph, &hierarchy, &config).report.cost
        };
        assert!(cost(MapPreset::Strong) <= cost(MapPreset::Eco), "{seed}");
    }
}

#[test]
fn the_largest_settings_are_accepted() {
    for (n, arities) in [(96, "4:4:6"), (1000, "10:10:10"), (2000, "10:10:20")] {
        let graph = generate::random_geometric(n, 6.0, 1);
        let hierarchy = Hierarchy::parse(arities, "1:10:100").unwrap();
        let mut config = Config::default();
        config.one_to_one.improvement.rebuilding = u32::MAX;
        config.one_to_one.improvement.tournament = u32::MAX;
        config.one_to_one.constructions.effort = usize::MAX;
        config.one_to_one.constructions.size = usize::MAX;
        config.one_to_one.constructions.careful = usize::MAX;
        // Only the observer ends such a search.
        let solution = Request::new(&graph, &PreparedMachine::new(&hierarchy))
            .observed(&StopAfter::questions(100))
            .solve(&config)
            .unwrap();
        assert!(solution.report.stopped, "{n}");
    }
}
