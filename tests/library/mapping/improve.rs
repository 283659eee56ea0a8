//! Improvement beyond local search.

use crate::common::{SHAPES, StopAfter, optimum, random_graph, random_mapping};
use viem::base::observer::{Observer, Seeded};
use viem::base::rng::Rng;
use viem::base::threads;
use viem::base::types::Cost;
use viem::graph::generate;
use viem::machine::{Distances, Hierarchy, Places};
use viem::mapping::Mapping;
use viem::mapping::objective::cost;
use viem::mapping::problem::Problem;
use viem::mapping::search::{Improvement, Neighbourhood, SearchConfig, TreeCooling, improve, local_search};

/// An improvement that tries everything briefly.
const SHORT: Improvement = {
    let mut short = Improvement::FAST;
    short.inside = TreeCooling::new(20, 0.7, 0.2);
    short.annealing = TreeCooling::new(50, 0.3, 0.02);
    short.tournament = 10;
    short.rebuilding = 50;
    short.rebuilt = TreeCooling::new(20, 0.05, 0.02);
    short
};

/// Records whether J ever rose.
#[derive(Default)]
struct Falling {
    least: std::sync::Mutex<Option<Cost>>,
}

impl Observer for Falling {
    fn reached(&self, cost: Cost) {
        let mut least = self.least.lock().unwrap();
        assert!(least.is_none_or(|least| cost < least), "J rose");
        *least = Some(cost);
    }
}

#[test]
fn never_worse_than_any_start_and_the_cost_is_that_of_the_mapping() {
    let mut rng = Rng::new(3);
    for (arities, distances) in SHAPES {
        let hierarchy = Hierarchy::parse(arities, distances).unwrap();
        let oracle = Distances::WideTree(hierarchy.online64());
        let n = hierarchy.num_pes();
        // The last graph has sums beyond 32 bits.
        for (mean_degree, heaviest) in [(0, 1), (2, 20), (20, 9), (8, u32::MAX)] {
            let graph = random_graph(n, mean_degree, heaviest, &mut rng);
            let problem = Problem::new(&graph, &oracle).unwrap();
            let starts = [random_mapping(n, &mut rng), random_mapping(n, &mut rng)];
            let starts: Vec<&Mapping> = starts.iter().collect();
            for count in [1, 2] {
                let observer = Falling::default();
                let outcome = improve(
                    &problem,
                    &Places::of(&hierarchy).unwrap(),
                    &starts[..count],
                    &SHORT,
                    Seeded::new(7).observed(&observer),
                );
                assert_eq!(
                    outcome.cost,
                    cost(&problem, &Mapping::from_pes(outcome.mapping.into_pes()).unwrap())
                );
                for start in &starts[..count] {
                    assert!(outcome.cost <= cost(&problem, start), "{arities} {distances}");
                }
                assert_eq!(observer.least.into_inner().unwrap(), Some(outcome.cost));
            }
        }
    }
}

#[test]
fn small_problems_are_solved_to_the_optimum() {
    let mut rng = Rng::new(9);
    for (arities, distances) in
        [("2:2", "1:10"), ("3:2", "2:1"), ("2:3", "1:9"), ("7", "3"), ("2:1:3", "1:2:3")]
    {
        let hierarchy = Hierarchy::parse(arities, distances).unwrap();
        let oracle = Distances::Tree(hierarchy.online32().unwrap());
        let n = hierarchy.num_pes();
        let graph = random_graph(n, 4, 20, &mut rng);
        let problem = Problem::new(&graph, &oracle).unwrap();
        let outcome = improve(
            &problem,
            &Places::of(&hierarchy).unwrap(),
            &[&random_mapping(n, &mut rng)],
            &SHORT,
            Seeded::new(1),
        );
        assert_eq!(i128::from(outcome.cost), optimum(&graph, &hierarchy));
    }
}

#[test]
fn the_seed_decides_and_threads_do_not() {
    // Large enough for several regions at a time: 2048 processes do not fit one.
    let hierarchy = Hierarchy::parse("2:4:4:64", "1:3:10:100").unwrap();
    let oracle = Distances::Tree(hierarchy.online32().unwrap());
    let graph = generate::mesh(32, 64, 5);
    let problem = Problem::new(&graph, &oracle).unwrap();
    let start = random_mapping(hierarchy.num_pes(), &mut Rng::new(1));
    let run = |threads, seed| {
        let mut config = SHORT;
        config.rebuilding = 14;
        let work =
            || improve(&problem, &Places::of(&hierarchy).unwrap(), &[&start], &config, Seeded::new(seed));
        let outcome = threads::run(threads, work).unwrap();
        (outcome.mapping, outcome.tried, outcome.made)
    };
    let expected = run(1, 1);
    assert_eq!(run(2, 1), expected);
    assert_eq!(run(7, 1), expected);
    assert_ne!(run(1, 2), expected);
}

#[test]
fn problems_of_one_region_end_in_local_optima() {
    let mut rng = Rng::new(6);
    for (arities, distances) in [("4:4:4", "1:10:100"), ("2:3:2:4", "0:1:7:30"), ("8:12", "2:3")] {
        let hierarchy = Hierarchy::parse(arities, distances).unwrap();
        let oracle = Distances::Tree(hierarchy.online32().unwrap());
        let graph = random_graph(hierarchy.num_pes(), 8, 30, &mut rng);
        let problem = Problem::new(&graph, &oracle).unwrap();
        let start = random_mapping(hierarchy.num_pes(), &mut rng);
        let mut config = SHORT;
        (config.tournament, config.rebuilding) = (0, 0);
        let outcome = improve(&problem, &Places::of(&hierarchy).unwrap(), &[&start], &config, Seeded::new(4));
        let pairs = SearchConfig::of(Neighbourhood::NSquare);
        assert_eq!(local_search(&problem, &outcome.mapping, &pairs, Seeded::new(1)).made, 0, "{arities}");
    }
}

#[test]
fn a_stopped_improvement_is_a_mapping_not_worse_than_the_first_start() {
    let hierarchy = Hierarchy::parse("4:4:4", "1:10:100").unwrap();
    let oracle = Distances::Tree(hierarchy.online32().unwrap());
    let graph = generate::grid(8, 8);
    let problem = Problem::new(&graph, &oracle).unwrap();
    let start = random_mapping(64, &mut Rng::new(1));
    for questions in (0..10).chain((4..12).map(|bit| 1 << bit)) {
        let stop = StopAfter::questions(questions);
        let outcome = improve(
            &problem,
            &Places::of(&hierarchy).unwrap(),
            &[&start],
            &SHORT,
            Seeded::new(1).observed(&stop),
        );
        assert_eq!(outcome.stopped, stop.should_stop(), "{questions}");
        assert!(outcome.cost <= cost(&problem, &start));
        assert_eq!(cost(&problem, &Mapping::from_pes(outcome.mapping.into_pes()).unwrap()), outcome.cost);
    }
}
