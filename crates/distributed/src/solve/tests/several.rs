//! Several weights of the vertices, beside the library for one machine, brute force, and sums from scratch.

use super::*;
use crate::graph::RowsError;
use crate::testing::weighed_on_ranks;
use viem::base::error::HasKind;
use viem::machine::Blocks;
use viem::partition::cut;
use viem::solve::{LimitsByWeight, Objective, SeveralWeights, Solution};

/// A graph, several weights of its vertices, and their limits.
#[derive(Clone, Copy)]
struct Weighed<'a> {
    graph: &'a CsrGraph,
    weights: &'a VertexWeights,
    limits: &'a [LoadLimits<'a>],
}

impl Weighed<'_> {
    /// Divides the graph on this many ranks.
    fn on(
        self,
        size: usize,
        goal: Goal<'_>,
        given: OldAndFixed<'_>,
        config: &DistConfig,
    ) -> (Vec<BlockId>, DistReport) {
        divided(size, (self.graph, Some(self.weights)), goal, given, self.limits, config)
    }

    /// Divides the graph on 1, 2, and 4 ranks with the same result, whose figures are checked from scratch.
    #[track_caller]
    fn check(
        self,
        goal: Goal<'_>,
        given: OldAndFixed<'_>,
        config: &DistConfig,
    ) -> (Vec<BlockId>, DistReport) {
        let (blocks, report) = self.on(1, goal, given, config);
        for size in [2, 4] {
            assert_eq!(self.on(size, goal, given, config), (blocks.clone(), report.clone()), "{size} ranks");
        }
        let num_blocks = goal.num_blocks();
        let all = self.weights.loads(&blocks, num_blocks);
        let num_weights = self.weights.num_weights();
        assert_eq!(report.loads_by_weight.len(), num_weights);
        for (weight, loads) in report.loads_by_weight.iter().enumerate() {
            let of_blocks: Vec<Weight> = all.iter().skip(weight).step_by(num_weights).copied().collect();
            let over = |(load, bound): (&Weight, &Weight)| (load - bound).max(0);
            assert_eq!(loads.overload, of_blocks.iter().zip(&loads.bounds).map(over).sum::<Weight>());
            assert_eq!(loads.shortfall, loads.least.iter().zip(&of_blocks).map(over).sum::<Weight>());
            assert_eq!(loads.of_blocks, of_blocks);
        }
        assert!(report.loads_by_weight.contains(&report.loads));
        assert_eq!(report.cut, cut(self.graph, &blocks));
        (blocks, report)
    }

    /// Returns the result of the library for one machine.
    fn in_shared_memory(self, goal: Goal<'_>, fixed: Option<&[BlockId]>, config: &DistConfig) -> Solution {
        let several = SeveralWeights::new(self.weights, self.limits).unwrap();
        let known = |&block: &BlockId| Some(block).filter(|&block| block != Given::FREE);
        let fixed: Option<Vec<_>> = fixed.map(|fixed| fixed.iter().map(known).collect());
        let fixed =
            fixed.map(|fixed| viem::partition::FixedVertices::new(&fixed, goal.num_blocks()).unwrap());
        let solve = |machine: &dyn Machine, objective| {
            let machine = PreparedMachine::new(machine);
            let request = Request::new(self.graph, &machine).balanced(LimitsByWeight::Several(&several));
            request.fixed(fixed.as_ref()).minimise(objective).solve(&config.attempt(config.seed)).unwrap()
        };
        match goal {
            Goal::Blocks(count) => solve(&Blocks::equal(count).unwrap(), Objective::Cut),
            Goal::Pes(machine) => solve(machine, Objective::J),
        }
    }
}

fn overload(report: &DistReport) -> Weight {
    report.loads_by_weight.iter().map(|loads| loads.overload).sum()
}

/// Weights of the vertices of a mesh with rows of this length: random ones, those of regions, and particles in a tenth of the cells.
fn kinds_of_weights(graph: &CsrGraph, row: u32, num_weights: usize) -> Vec<VertexWeights> {
    let mut rng = Rng::new(num_weights as u64);
    let random: Vec<Weight> = (0..num_weights * graph.num_nodes()).map(|_| rng.below(20).into()).collect();
    let region = |v: u32, weight: usize| 1 + (4 * v / row / row + weight as u32) % 4 * (v % row / 15);
    let regions = graph.nodes().flat_map(|v| (0..num_weights).map(move |weight| region(v, weight).into()));
    let particles = |v: u32, weight: usize| match weight {
        0 => 1,
        _ => Weight::from((v % row) / (row / 10) == weight as u32),
    };
    let particles = graph.nodes().flat_map(|v| (0..num_weights).map(move |weight| particles(v, weight)));
    let all = [random, regions.collect(), particles.collect()];
    all.into_iter().map(|values| VertexWeights::new(num_weights, values).unwrap()).collect()
}

#[test]
fn bounds_of_all_weights_hold_and_results_are_the_same_on_any_number_of_ranks() {
    let graph = mesh(60, 50, 1);
    let machine = tree("4:2", "1:10");
    let config = DistConfig { coarsest: 300, ..small() };
    for num_weights in [2, 3] {
        for weights in kinds_of_weights(&graph, 60, num_weights) {
            let limits = [Balance::default().with_imbalance(0.05).into()];
            let weighed = Weighed { graph: &graph, weights: &weights, limits: &limits };
            for goal in [Goal::Blocks(8), Goal::Pes(&*machine)] {
                let (_, report) = weighed.check(goal, (None, None), &config);
                assert!(report.levels > 0 && overload(&report) == 0, "{report:?}");
                let whole = weighed.in_shared_memory(goal, None, &config).report;
                let (found, whole) = match goal {
                    Goal::Blocks(_) => (report.cut, whole.cut),
                    Goal::Pes(_) => (report.cost.unwrap(), whole.cost),
                };
                assert!((found as f64) < 1.3 * whole as f64, "{found} {whole}");
            }
        }
    }
}

/// Returns whether some assignment of few vertices keeps all of these bounds.
fn is_feasible(weights: &VertexWeights, bounds: &[Vec<Weight>], num_blocks: usize) -> bool {
    let count = weights.num_vertices();
    (0..num_blocks.pow(count as u32)).any(|code| {
        let block = |v: usize| (code / num_blocks.pow(v as u32) % num_blocks) as BlockId;
        let blocks: Vec<BlockId> = (0..count).map(block).collect();
        let loads = weights.loads(&blocks, num_blocks);
        loads
            .chunks(bounds.len())
            .enumerate()
            .all(|(block, loads)| loads.iter().zip(bounds).all(|(&load, bounds)| load <= bounds[block]))
    })
}

#[test]
fn few_vertices_keep_all_bounds_if_any_assignment_does_also_after_coarsening() {
    let mut rng = Rng::new(31);
    let (mut feasible, mut coarsened) = (0, 0);
    for round in 0..60 {
        let (num_weights, num_blocks) = (2 + round % 2, 2 + round / 2 % 2);
        let graph = random_graph(&mut rng, 9);
        if graph.num_nodes() < num_blocks {
            continue;
        }
        let values = (0..num_weights * graph.num_nodes()).map(|_| rng.below(9).into()).collect();
        let weights = VertexWeights::new(num_weights, values).unwrap();
        let limits = [Balance::default().with_imbalance([0.1, 0.3][round % 2]).into()];
        let weighed = Weighed { graph: &graph, weights: &weights, limits: &limits };
        let coarsest = if round % 3 == 0 { 100 } else { 2 };
        let seed = round as u64;
        let config = DistConfig { seed, coarsest, coarsest_per_block: 1, attempts: 1, ..small() };
        let (blocks, report) = weighed.check(Goal::Blocks(num_blocks), (None, None), &config);
        if report.levels == 0 && report.coarsest == graph.num_nodes() && coarsest == 100 {
            let whole = weighed.in_shared_memory(Goal::Blocks(num_blocks), None, &config);
            assert_eq!(blocks, whole.mapping.pes());
        }
        let bounds: Vec<Vec<Weight>> =
            report.loads_by_weight.iter().map(|loads| loads.bounds.clone()).collect();
        if is_feasible(&weights, &bounds, num_blocks) {
            assert_eq!(overload(&report), 0, "round {round}: {report:?}");
            feasible += 1;
            coarsened += usize::from(report.levels > 0);
        }
    }
    assert!(feasible > 20 && coarsened > 5, "{feasible} {coarsened}");
}

#[test]
fn fixed_vertices_and_older_places_go_with_several_weights() {
    let graph = mesh(40, 30, 2);
    let machine = tree("4:2", "1:10");
    let mut rng = Rng::new(3);
    for (round, weights) in kinds_of_weights(&graph, 40, 2).into_iter().enumerate() {
        let limits =
            [Balance::default().with_imbalance(0.1).into(), Balance::default().with_imbalance(0.2).into()];
        let weighed = Weighed { graph: &graph, weights: &weights, limits: &limits };
        let config = DistConfig { seed: round as u64, coarsest: 200, ..small() };
        let fixed: Vec<BlockId> =
            graph.nodes().map(|_| if rng.below(40) == 0 { rng.below(8) } else { Given::FREE }).collect();
        for goal in [Goal::Blocks(8), Goal::Pes(&*machine)] {
            let (blocks, report) = weighed.check(goal, (None, Some(&fixed)), &config);
            let is_kept = |(&block, &fixed): (&BlockId, &BlockId)| fixed == Given::FREE || fixed == block;
            assert!(blocks.iter().zip(&fixed).all(is_kept));
            assert!(report.levels > 0 && overload(&report) == 0, "{report:?}");
            // Where everything stays in its bounds and migration is dear, nothing moves; migration is counted by the first weight.
            let price = MigrationWeight::rounded(1e6);
            let (again, report) = weighed.check(goal, (Some((&blocks, price)), None), &config);
            assert_eq!((again, report.migration), (blocks.clone(), Some(0)));
            let start: Vec<BlockId> = graph.nodes().map(|v| (v % 40 / 5).min(7)).collect();
            let (moved, report) = weighed.check(goal, (Some((&start, MigrationWeight::ONE)), None), &config);
            let away = graph.nodes().filter(|&v| moved[v as usize] != start[v as usize]);
            assert_eq!(report.migration, Some(away.map(|v| weights.of(v)[0]).sum()));
            assert_eq!(overload(&report), 0, "{report:?}");
        }
    }
}

#[test]
fn each_weight_has_limits_of_its_own() {
    let graph = grid(40, 20);
    let values = graph.nodes().flat_map(|v| [1, Weight::from(v % 40 < 20)]).collect();
    let weights = VertexWeights::new(2, values).unwrap();
    let memory = [3, 1, 1, 1];
    let time = Balance::default().with_least_load(0.9);
    let limits = [time.into(), LoadLimits::from(Balance::default()).with_capacities(&memory)];
    let config = DistConfig { coarsest: 200, ..small() };
    let weighed = Weighed { graph: &graph, weights: &weights, limits: &limits };
    let (_, report) = weighed.check(Goal::Blocks(4), (None, None), &config);
    let [time, memory] = &report.loads_by_weight[..] else { panic!("{report:?}") };
    assert_eq!((&time.bounds[..], &time.least[..]), (&[206; 4][..], &[180; 4][..]));
    assert_eq!(memory.bounds, [206, 69, 69, 69]);
    assert!(report.levels > 0 && overload(&report) == 0 && time.shortfall == 0, "{report:?}");
    // Targets are those of each weight.
    let targets = [vec![500, 100, 100, 100], vec![100, 100, 100, 100]].map(|sizes| {
        let bounds = sizes.iter().map(|size| size + 10).collect();
        Targets::of_sizes(sizes).unwrap().with_bounds(bounds).unwrap()
    });
    let limits = targets.each_ref().map(LoadLimits::from);
    let weighed = Weighed { limits: &limits, ..weighed };
    let (_, report) = weighed.check(Goal::Blocks(4), (None, None), &config);
    assert_eq!(report.loads_by_weight[0].bounds, [510, 110, 110, 110]);
    assert_eq!(overload(&report), 0, "{report:?}");
}

#[test]
fn wrong_weights_and_limits_are_refused_on_all_ranks() {
    let graph = grid(6, 6);
    let weights = VertexWeights::new(2, vec![1; 72]).unwrap();
    let fail = |limits: &[LoadLimits<'_>]| {
        let errors = weighed_on_ranks(3, (&graph, Some(&weights)), 1, |comm, part| {
            let given = Given::default().with_limits(limits);
            divide(comm, part, Goal::Blocks(2), given, &small()).unwrap_err()
        });
        assert!(errors.iter().all(|error| *error == errors[0]));
        errors[0].message.clone()
    };
    let balance = Balance::default();
    let message = fail(&[balance.into(); 3]);
    assert!(message.contains("3"), "{message}");
    let message = fail(&[balance.into(), LoadLimits::from(balance).with_capacities(&[1, 2, 3])]);
    assert!(message.contains("capacities"), "{message}");
    let message = fail(&[(balance, Some(&[1, 2, 3][..])).into()]);
    assert!(message.contains("least loads"), "{message}");
    let message = fail(&[balance.with_imbalance(-1.0).into()]);
    assert!(message.contains("imbalance"), "{message}");
    let targets = Targets::of_sizes(vec![30, 5]).unwrap();
    assert!(fail(&[balance.into(), (&targets).into()]).contains("sum up to 35"));

    let rows = |num_weights| crate::graph::Rows { offsets: vec![0], num_weights, ..Default::default() };
    let errors = crate::threads::run(3, |comm| {
        let num_weights = if crate::comm::Comm::rank(comm) == 1 { 3 } else { 2 };
        DistGraph::new(comm, rows(num_weights)).unwrap_err()
    });
    let expected = RowsError::NumWeights { found: 3, expected: 2 };
    assert!(
        errors.iter().all(|error| error.message == expected.to_string() && error.kind == expected.kind())
    );
    let none = crate::threads::run(1, |comm| DistGraph::new(comm, rows(0)).unwrap_err().message);
    assert!(none[0].contains("at least 1"), "{none:?}");
}
