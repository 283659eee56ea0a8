//! Limits of loads that are given for each PE: they hold, the best mapping within them is found, and impossible ones are refused.

use crate::common::{Family, random_graph, with_node_weights};
use viem::base::rng::Rng;
use viem::base::types::{PeId, Weight};
use viem::graph::{CsrGraph, VertexWeights, generate};
use viem::machine::{Blocks, Capacities};
use viem::mapping::search::Neighbourhood;
use viem::partition::{
    FixedVertices, MigrationWeight, PartitionAlgorithm, Partitioner, PreviousAssignment, Remapping,
    TargetsError, block_weights, cut,
};
use viem::solve::{
    Balance, Initial, LoadLimits, MapPreset, Objective, RequestError, SeveralWeights, SolveError,
};
use viem::{
    Config, Hierarchy, Machine, Mapping, PartitionPreset, PreparedMachine, Request, Solution, Targets,
};

/// Sizes that sum up to the weight of the graph, bounds above and least loads below them.
fn random_targets(graph: &CsrGraph, count: usize, rng: &mut Rng) -> Targets {
    let shares: Vec<u32> = (0..count).map(|_| 1 + rng.below(3)).collect();
    let sizes = Targets::proportional(graph, &shares, 0.0).unwrap().block_sizes().to_vec();
    let bounds = sizes.iter().map(|&size| size + 1 + Weight::from(rng.below(4))).collect();
    let least = sizes.iter().map(|&size| (size - 1 - Weight::from(rng.below(3))).max(0)).collect();
    let targets = Targets::sizes(graph, sizes, 0.0).unwrap().with_bounds(bounds).unwrap();
    targets.with_least_loads(least).unwrap()
}

/// Returns whether no PE exceeds its bound, is below its least load, or is empty.
fn hold(graph: &CsrGraph, targets: &Targets, pe_of: &[PeId]) -> bool {
    let loads = block_weights(graph, pe_of, targets.num_blocks());
    let least = |pe: usize| targets.least_loads().get(pe).copied().unwrap_or(0);
    let hold = |(pe, &load): (usize, &Weight)| load <= targets.bounds()[pe] && load >= least(pe);
    targets.num_empty(pe_of) == 0 && loads.iter().enumerate().all(hold)
}

/// The least cost of the mappings within the limits, by enumeration.
fn optimum(graph: &CsrGraph, targets: &Targets, cost: impl Fn(&[PeId]) -> i128) -> Option<i128> {
    let (n, count) = (graph.num_nodes(), targets.num_blocks());
    let mapping = |number: usize| -> Vec<PeId> {
        (0..n as u32).map(|vertex| (number / count.pow(vertex) % count) as PeId).collect()
    };
    let all = (0..count.pow(n as u32)).map(mapping);
    all.filter(|pe_of| hold(graph, targets, pe_of)).map(|pe_of| cost(&pe_of)).min()
}

#[test]
fn the_best_mapping_within_the_limits_of_each_pe_is_found() {
    let mut rng = Rng::new(70);
    let mut found = 0;
    for round in 0..24 {
        let family = match round % 3 {
            0 => Family::tree("tree", "2:2", "1:10"),
            1 => Family::matrix("matrix", 3, 9, &mut rng),
            _ => Family::network("network", 4, 5, &mut rng),
        };
        let graph = random_graph(6, 3, 9, &mut rng);
        let weights: Vec<Weight> = (0..6).map(|_| 1 + Weight::from(rng.below(3))).collect();
        let graph = with_node_weights(&graph, &weights);
        let targets = random_targets(&graph, family.machine.num_pes(), &mut rng);
        let config = Config::preset(MapPreset::Eco).with_seed(round);
        let of_j = solved!(&graph, &*family.machine, &config, balanced(&targets));
        let of_cut = solved!(&graph, &*family.machine, &config, balanced(&targets), minimise(Objective::Cut));
        let Some(best) = optimum(&graph, &targets, |pe_of| family.cost(&graph, pe_of)) else { continue };
        found += 1;
        assert_eq!(i128::from(of_j.report.cost), best, "{} {round}: J", family.name);
        let best = optimum(&graph, &targets, |pe_of| cut(&graph, pe_of).into());
        assert_eq!(Some(i128::from(of_cut.report.cut)), best, "{} {round}: cut", family.name);
        for Solution { mapping, report, .. } in [of_j, of_cut] {
            let loads = report.loads.unwrap();
            assert!(hold(&graph, &targets, mapping.pes()), "{} {round}", family.name);
            assert_eq!((loads.overload, loads.shortfall, loads.below_least), (0, 0, 0));
        }
    }
    assert!(found > 12, "{found}");
}

/// All ways to a mapping keep to the limits: from scratch, from an older one, from an initial one, with fixed vertices.
#[test]
fn limits_of_each_pe_hold_for_larger_graphs() {
    let mut rng = Rng::new(71);
    for round in 0..6 {
        let graph = random_graph(300, 5, 9, &mut rng);
        let tree = Hierarchy::parse("3:2", "1:10").unwrap();
        let matrix = Family::matrix("matrix", 6, 9, &mut rng).machine;
        let targets = random_targets(&graph, 6, &mut rng);
        let mut fixed = FixedVertices::none(300, 6);
        fixed.fix(rng.below(300), 5).unwrap();
        for machine in [&tree as &dyn Machine, &*matrix] {
            let prepared = PreparedMachine::new(machine);
            let config = Config::preset(MapPreset::Fast).with_seed(round);
            let request = Request::new(&graph, &prepared).balanced(&targets);
            let first = request.solve(&config).unwrap().mapping;
            let homes = PreviousAssignment::new(first.pes(), 6).unwrap();
            let other = random_targets(&graph, 6, &mut rng);
            let remapping = Remapping::new(&homes, MigrationWeight::ONE);
            let others = Request::new(&graph, &prepared).balanced(&other);
            let along = Initial::Along(viem::partition::PartitionAlgorithm::Linear.into());
            for (name, request, targets) in [
                ("fixed", request.fixed(&fixed), &targets),
                ("remapped", others.previous(remapping), &other),
                ("along an order", others.initial(along), &other),
                ("cut", others.minimise(Objective::Cut), &other),
                ("cut, remapped", others.minimise(Objective::Cut).previous(remapping), &other),
            ] {
                let Solution { mapping, report, .. } = request.solve(&config).unwrap();
                assert!(hold(&graph, targets, mapping.pes()), "{round} {name}: {:?}", report.loads);
                assert_eq!(
                    report.loads,
                    Some(LoadLimits::from(targets).loads(&graph, machine, mapping.pes()))
                );
            }
        }
    }
}

/// Sizes that are rounded down give way to least loads that are shares rounded up.
#[test]
fn least_loads_up_to_the_shares_rounded_up_are_met() {
    let path = generate::grid(5, 1);
    for (least, imbalance) in [([0, 3], 0.03), ([3, 0], 0.03), ([2, 3], 0.0), ([0, 3], 0.0)] {
        let machine = Blocks::equal(2).unwrap();
        let limits = LoadLimits::from((Balance::default().with_imbalance(imbalance), Some(&least[..])));
        let found = solved!(&path, &machine, &Config::eco(), balanced(limits), minimise(Objective::Cut));
        let loads = block_weights(&path, found.mapping.pes(), 2);
        assert!(loads.iter().zip(least).all(|(&load, least)| load >= least), "{loads:?} {least:?}");
    }
    let machine = Hierarchy::parse("4", "1").unwrap();
    let limits = LoadLimits::from((Balance::default().with_imbalance(0.0), Some(&[0, 0, 0, 2][..])));
    let found = solved!(&path, &machine, &Config::eco(), balanced(limits));
    assert_eq!(block_weights(&path, found.mapping.pes(), 4), [1, 1, 1, 2]);
}

/// Least loads that are given for each PE replace those in proportion to the capacities; bounds stay.
#[test]
fn each_pe_has_a_least_load_of_its_own() {
    let mut rng = Rng::new(73);
    for round in 0..12 {
        let count = 2 + rng.below(5) as usize;
        let mut capacities: Vec<u32> = (0..count).map(|_| 1 + rng.below(3)).collect();
        let machine: Box<dyn Machine> = if round % 2 == 0 {
            capacities[1] = 0;
            Box::new(Blocks::proportional(capacities.clone()).unwrap())
        } else {
            let matrix = Family::matrix("matrix", count, 9, &mut rng).machine;
            Box::new(Capacities::new(matrix, capacities.clone()).unwrap())
        };
        let machine = &*machine;
        let graph = random_graph(200, 5, 9, &mut rng);
        let balance = Balance::default().with_imbalance((round % 3) as f64);
        let shares = Targets::shares(&graph, &capacities, 0.0);
        let part = |share: Weight, rng: &mut Rng| share * Weight::from(rng.below(11)) / 10;
        let least: Vec<Weight> = shares.iter().map(|&share| part(share, &mut rng)).collect();
        let limits = LoadLimits::from((balance, Some(&least[..])));
        assert_eq!(limits.bounds(&graph, machine), balance.bounds(&graph, machine));
        for objective in [Objective::J, Objective::Cut] {
            let config = Config::preset(MapPreset::Fast).with_seed(round);
            let found = solved!(&graph, machine, &config, balanced(limits), minimise(objective));
            let loads = block_weights(&graph, found.mapping.pes(), count);
            // Shares are rounded up, so that all together may be more than there is.
            let excess = (least.iter().sum::<Weight>() - graph.total_node_weight()).max(0);
            let is_met = |(&load, &least): (&Weight, &Weight)| load + excess.min(1) >= least;
            assert!(loads.iter().zip(&least).all(is_met), "{round} {objective:?}: {loads:?} {least:?}");
            assert_eq!(found.report.loads.unwrap().overload, 0, "{round} {objective:?}");
            assert!(capacities[1] > 0 || loads[1] == 0, "{round} {objective:?}");
        }
        let prepared = PreparedMachine::new(machine);
        let error = |least: &[Weight]| {
            let request = Request::new(&graph, &prepared).balanced((balance, Some(least)));
            request.solve(&Config::fast()).unwrap_err().to_string()
        };
        let says = |error: TargetsError| SolveError::from(error).to_string();
        assert_eq!(
            error(&least[1..]),
            says(TargetsError::LeastLoadsDiffer { found: count - 1, expected: count })
        );
        let mut wrong = least.clone();
        wrong[1] = shares[1] + 1;
        assert_eq!(
            error(&wrong),
            says(TargetsError::LeastLoadAboveSize { block: 1, size: shares[1], least: shares[1] + 1 })
        );
        wrong[1] = -1;
        assert_eq!(error(&wrong), says(TargetsError::NegativeLeastLoad { block: 1, least: -1 }));
    }
}

/// A partition of a request is that of the partitioner.
#[test]
fn a_request_with_targets_is_a_call_of_the_partitioner() {
    let mut rng = Rng::new(72);
    for (round, preset) in PartitionPreset::ALL.iter().copied().enumerate() {
        let graph = random_graph(400, 6, 9, &mut rng);
        let targets = random_targets(&graph, 5, &mut rng);
        let direct = Partitioner::new(preset, round as u64).partition(&graph, &targets);
        let config = Config::from(preset).with_seed(round as u64);
        let blocks = Blocks::equal(5).unwrap();
        let found = solved!(&graph, &blocks, &config, balanced(&targets), minimise(Objective::Cut));
        assert_eq!(found.mapping.pes(), direct.blocks(), "{preset}");
        assert_eq!(found.report.cut, direct.cut(), "{preset}");
    }
}

#[test]
fn impossible_limits_are_refused() {
    let grid = generate::grid(6, 6);
    let tree = Hierarchy::parse("2:2", "1:10").unwrap();
    let gone = Blocks::proportional(vec![1, 0, 1, 1]).unwrap();
    let sizes = |sizes: Vec<Weight>| Targets::sizes(&grid, sizes, 0.5).unwrap();
    let refused = |graph: &CsrGraph, machine: &dyn Machine, targets: &Targets| {
        let machine = PreparedMachine::new(machine);
        Request::new(graph, &machine)
            .balanced(targets)
            .solve(&Config::fast())
            .err()
            .map(|error| error.to_string())
    };
    let says = |error: SolveError| Some(error.to_string());
    let others = sizes(vec![12; 3]);
    let error = says(RequestError::TargetsDiffer { found: 3, expected: 4 }.into());
    assert_eq!(refused(&grid, &tree, &others), error);
    assert_eq!(error.unwrap(), "the targets are those of 3 blocks, the machine has 4 PEs");
    let equal = sizes(vec![9; 4]);
    let error = says(TargetsError::SumDiffers { sum: 36, total: 42 }.into());
    assert_eq!(refused(&generate::grid(6, 7), &tree, &equal), error);
    let error = says(TargetsError::ClosedBlockHasSize { block: 1, size: 9 }.into());
    assert_eq!(refused(&grid, &gone, &equal), error);
    assert_eq!(refused(&grid, &gone, &sizes(vec![9, 0, 9, 18])), None);
    let fixed = equal.clone().with_fixed(&grid, FixedVertices::new(&[Some(0); 36], 4).unwrap()).unwrap();
    assert_eq!(refused(&grid, &tree, &fixed), says(RequestError::TargetsHaveFixed.into()));
}

/// A PE of capacity 0 gets nothing, whatever its bound; a block not even vertices without weight.
#[test]
fn pes_without_capacity_stay_empty() {
    let weights: Vec<Weight> = (0..60).map(|vertex| vertex % 2).collect();
    let graph = with_node_weights(&generate::grid(10, 6), &weights);
    let machine = Blocks::proportional(vec![2, 0, 1, 1]).unwrap();
    let targets = Targets::sizes(&graph, vec![10, 0, 10, 10], 0.0).unwrap();
    let targets = targets.with_bounds(vec![12, 30, 12, 12]).unwrap();
    for objective in [Objective::J, Objective::Cut] {
        for preset in [MapPreset::Fast, MapPreset::Strong] {
            let config = Config::preset(preset);
            let Solution { mapping, report, .. } =
                solved!(&graph, &machine, &config, balanced(&targets), minimise(objective));
            let may_hold = |vertex: usize| objective == Objective::J && weights[vertex] == 0;
            let on_it = (0..60).filter(|&vertex| mapping.pes()[vertex] == 1);
            assert!(on_it.into_iter().all(may_hold), "{objective:?} {preset}");
            assert_eq!(report.loads.map(|loads| (loads.overload, loads.empty)), Some((0, 0)));
        }
    }
}

/// Capacities by weight: first the speeds of the machine, then memory of its own.
#[test]
fn each_weight_has_capacities_of_its_own() {
    let graph = generate::mesh(30, 20, 2);
    let mut rng = Rng::new(5);
    let values = (0..2 * graph.num_nodes()).map(|_| Weight::from(1 + rng.below(5))).collect();
    let weights = VertexWeights::new(2, values).unwrap();
    let tree = Capacities::new(Hierarchy::parse("2:2", "1:10").unwrap(), vec![1, 1, 2, 2]).unwrap();
    let balance = Balance::default().with_imbalance(0.02);
    for objective in [Objective::J, Objective::Cut] {
        let memory = [2, 3, 3, 2];
        let several = SeveralWeights::new(
            &weights,
            &[balance.into(), LoadLimits::from(balance).with_capacities(&memory)],
        )
        .unwrap();
        let found = solved!(&graph, &tree, &Config::eco(), balanced(&several), minimise(objective));
        let pes = found.mapping.pes();
        for (weight, parts) in [[1, 1, 2, 2], memory].iter().enumerate() {
            let loads = block_weights(&weights.alone(weight), pes, 4);
            let bounds = Targets::shares(&weights.alone(weight), parts, 0.02);
            assert!(loads.iter().zip(&bounds).all(|(load, bound)| load <= bound), "{loads:?} {bounds:?}");
            assert_eq!(found.report.loads_by_weight[weight].greatest, *loads.iter().max().unwrap());
        }
    }
    let least = [0, 60, 0, 400];
    let wide = Balance::default().with_imbalance(4.0);
    let several = SeveralWeights::new(&weights, &[balance.into(), (wide, Some(&least[..])).into()]).unwrap();
    let found = solved!(&graph, &tree, &Config::eco(), balanced(&several));
    let loads = block_weights(&weights.alone(1), found.mapping.pes(), 4);
    assert!(loads.iter().zip(least).all(|(&load, least)| load >= least), "{loads:?}");
    assert_eq!(found.report.violation().shortfall, 0);
    let refused = |capacities: &[u32]| {
        let several = SeveralWeights::new(
            &weights,
            &[balance.into(), LoadLimits::from(balance).with_capacities(capacities)],
        )
        .unwrap();
        let machine = PreparedMachine::new(&tree);
        Request::new(&graph, &machine).balanced(&several).solve(&Config::eco()).unwrap_err().to_string()
    };
    assert_eq!(refused(&[1, 2]), "there are 2 capacities, the machine has 4 PEs");
    assert_eq!(refused(&[0; 4]), "every block has speed 0; at least one must take work");
}

/// No limit of a node, nor of a PE, is exceeded while an assignment keeps all of them, and the report says by how much where none does.
#[test]
fn nodes_keep_their_bounds_wherever_a_mapping_does() {
    let mut rng = Rng::new(9);
    let tree = Hierarchy::parse("2:2", "1:10").unwrap();
    let (mut kept, mut exceeded) = (0, 0);
    for round in 0..20u64 {
        let graph = random_graph(6, 3, 5, &mut rng);
        let values = (0..12).map(|_| Weight::from(rng.below(6))).collect();
        let weights = VertexWeights::new(2, values).unwrap();
        let limits =
            [0.5, 3.0].map(|imbalance| LoadLimits::from(Balance::default().with_imbalance(imbalance)));
        let total = weights.totals()[1];
        let first = Weight::from(rng.below(total as u32 + 1));
        let bounds = vec![first, total - first + Weight::from(rng.below(2))];
        let several = SeveralWeights::new(&weights, &limits).unwrap();
        let several = several.with_node_bounds(vec![None, Some(bounds.clone())]).unwrap();
        let over = |pe_of: &[PeId]| -> Weight {
            let time = limits[0].loads(&weights.alone(0), &tree, pe_of).overload;
            let nodes: Vec<PeId> = pe_of.iter().map(|pe| pe / 2).collect();
            let memory = block_weights(&weights.alone(1), &nodes, 2);
            time + memory.iter().zip(&bounds).map(|(load, bound)| (load - bound).max(0)).sum::<Weight>()
        };
        let found = solved!(&graph, &tree, &Config::eco().with_seed(round), balanced(&several));
        assert_eq!(found.report.violation().overload, over(found.mapping.pes()), "round {round}");
        let all = (0..4usize.pow(6))
            .map(|number| (0..6).map(|v| (number >> (2 * v) & 3) as PeId).collect::<Vec<_>>());
        let is_possible = all.into_iter().any(|pe_of| over(&pe_of) == 0);
        assert_eq!(found.report.violation().overload == 0, is_possible, "round {round}");
        if is_possible {
            kept += 1
        } else {
            exceeded += 1
        }
        let nodes = found.report.loads_by_weight[1].nodes.unwrap();
        assert!(
            nodes.bound == *bounds.iter().max().unwrap() && found.report.loads_by_weight[0].nodes.is_none()
        );
    }
    assert!(kept >= 5 && exceeded >= 2, "{kept} {exceeded}");
}

#[test]
fn one_weight_may_have_bounds_of_nodes() {
    let (graph, tree) = (generate::mesh(30, 20, 1), Hierarchy::parse("2:3", "1:10").unwrap());
    let balance = Balance::default().with_imbalance(6.0);
    let several = SeveralWeights::of_graph(&graph, balance.into());
    let several = several.with_node_bounds(vec![Some(vec![100, 200, 310])]).unwrap();
    let found = solved!(&graph, &tree, &Config::eco(), balanced(&several));
    let nodes: Vec<PeId> = found.mapping.pes().iter().map(|pe| pe / 2).collect();
    let loads = block_weights(&graph, &nodes, 3);
    assert!(loads.iter().zip([100, 200, 310]).all(|(&load, bound)| load <= bound), "{loads:?}");
    let machine = PreparedMachine::new(&tree);
    let refused = |bounds: Vec<Weight>| {
        let several = SeveralWeights::of_graph(&graph, balance.into());
        let several = several.with_node_bounds(vec![Some(bounds)]).map_err(SolveError::from);
        let request = |several: SeveralWeights<'_>| {
            Request::new(&graph, &machine).balanced(&several).solve(&Config::eco()).map(|_| ())
        };
        several.and_then(request).unwrap_err().to_string()
    };
    assert_eq!(refused(vec![300, 300]), "there are bounds of 2 nodes, the machine has 3 nodes");
    assert_eq!(refused(vec![300, -1, 300]), "the bound of node 1 is -1; bounds must not be negative");
}

#[test]
fn an_imbalance_of_divisions_gives_heavy_vertices_room() {
    let mut rng = Rng::new(12);
    let grid = generate::grid(40, 25);
    let weights: Vec<Weight> = (0..1000).map(|_| 1 + Weight::from(rng.below(100))).collect();
    let graph = with_node_weights(&grid, &weights);
    let blocks = Blocks::equal(100).unwrap();
    let tree = Hierarchy::parse("10:10", "1:10").unwrap();
    let balance = Balance::default();
    for (machine, objective) in [(&blocks as &dyn Machine, Objective::Cut), (&tree, Objective::J)] {
        let solve = |balance: Balance| {
            let found = solved!(&graph, machine, &Config::fast(), balanced(balance), minimise(objective));
            (balance.bounds(&graph, machine), found.report)
        };
        let [(strict, before), (wide, after)] = [balance, balance.per_division()].map(solve);
        let loads = after.loads.unwrap();
        assert_eq!((loads.overload, loads.bound), (0, *wide.iter().max().unwrap()));
        assert!(wide.iter().zip(&strict).all(|(wide, strict)| wide > strict));
        assert!(loads.greatest > *strict.iter().max().unwrap());
        assert!(objective == Objective::J || 10 * after.cut < 9 * before.cut, "{} {}", after.cut, before.cut);
    }
    let exact =
        solved!(&grid, &blocks, &Config::fast(), balanced(balance.with_imbalance(0.0).per_division()));
    assert_eq!(exact.report.loads.unwrap().greatest, 10);
}

/// A quick run that begins at the result of a slow one, or at an order, is not worse than that in what exceeds bounds and in J.
#[test]
fn several_weights_have_starts_and_initial_mappings() {
    let tree = Hierarchy::parse("2:2", "1:10").unwrap();
    let mut rng = Rng::new(17);
    let mut kept = 0;
    for round in 0..12u64 {
        let graph = random_graph(40, 4, 9, &mut rng);
        let values = (0..80).map(|_| Weight::from(rng.below(9))).collect();
        let weights = VertexWeights::new(2, values).unwrap();
        let several =
            SeveralWeights::new(&weights, &[Balance::default().with_imbalance(0.05).into()]).unwrap();
        let over = |found: &Solution| found.report.violation().overload;
        let [fast, slow] = [Config::fast(), Config::strong()].map(|config| config.with_seed(round));
        let slow = solved!(&graph, &tree, &slow, balanced(&several));
        let quick = solved!(&graph, &tree, &fast, balanced(&several));
        let from = solved!(&graph, &tree, &fast, balanced(&several), start(&slow.mapping));
        let cost = |found: &Solution| (over(found), found.report.cost);
        assert!(cost(&from) <= cost(&slow), "round {round}");
        assert_eq!(from.report.cost_of_start, Some(slow.report.cost));
        kept += usize::from(cost(&slow) < cost(&quick));
        let initial = Initial::Mapping(&slow.mapping);
        let from = solved!(&graph, &tree, &fast, balanced(&several), initial(initial));
        assert!(cost(&from) <= cost(&slow), "round {round}");
        let none = fast.with_neighbourhood(Neighbourhood::None);
        let as_it_is = solved!(&graph, &tree, &none, balanced(&several), initial(initial));
        assert_eq!(as_it_is.mapping, slow.mapping);
        // In order, the loads of the first weight are balanced, whatever those of the second are.
        let order = Initial::Along(PartitionAlgorithm::Linear.into());
        let in_order = solved!(&graph, &tree, &none, balanced(&several), initial(order));
        let from = solved!(&graph, &tree, &fast, balanced(&several), initial(order));
        assert!(in_order.mapping.pes().is_sorted() && in_order.report.loads_by_weight[0].overload <= 8);
        assert_eq!(from.report.cost_of_construction, Some(in_order.report.cost));
        assert_eq!(over(&from), over(&slow), "round {round}");
    }
    assert!(kept > 3, "{kept}");
}

#[test]
fn starts_that_do_not_fit_several_weights_are_refused() {
    let tree = Hierarchy::parse("3", "1").unwrap();
    let graph = generate::grid(9, 1);
    let weights = VertexWeights::new(2, (0..18).collect()).unwrap();
    let several = SeveralWeights::new(&weights, &[Balance::default().into()]).unwrap();
    let start = Mapping::many(3, vec![0, 0, 0, 1, 1, 1, 2, 2, 2]).unwrap();
    let machine = PreparedMachine::new(&tree);
    let request = Request::new(&graph, &machine).balanced(&several);
    let message = |request: Request<'_>| request.solve(&Config::eco()).unwrap_err().to_string();
    let short = Mapping::many(3, vec![0; 8]).unwrap();
    assert_eq!(message(request.start(&short)), "the start mapping has 8 processes, the graph 9");
    let beyond = Mapping::many(4, vec![3; 9]).unwrap();
    assert!(message(request.start(&beyond)).starts_with("the start mapping: "));
    let mut fixed = FixedVertices::none(9, 3);
    fixed.fix(8, 0).unwrap();
    assert!(message(request.fixed(&fixed).start(&start)).contains("8"));
}

/// Bounds that do not bind change nothing, tight ones hold, and each PE has no more processes than its capacity.
#[test]
fn one_to_one_mappings_keep_bounds() {
    let mut rng = Rng::new(23);
    let tree = Capacities::new(Hierarchy::parse("4:8", "1:10").unwrap(), vec![2; 32]).unwrap();
    let lifted = Balance::default().with_imbalance(64.0);
    for round in 0..6u64 {
        let n = 50 + 2 * round as usize;
        let graph = random_graph(n, 5, 9, &mut rng);
        let values = (0..n).flat_map(|_| [1, Weight::from(1 + rng.below(9))]).collect();
        let weights = VertexWeights::new(2, values).unwrap();
        let config = Config::fast().with_seed(round);
        let plain = solved!(&graph, &tree, &config);
        let within = |most: Weight| {
            let several = SeveralWeights::new(&weights, &[lifted.into()]).unwrap();
            let several = several.with_node_bounds(vec![None, Some(vec![most; 8])]).unwrap();
            let found = solved!(&graph, &tree, &config, balanced(&several), in_places(true));
            Mapping::on(&tree, found.mapping.pes().to_vec()).unwrap();
            let nodes: Vec<PeId> = found.mapping.pes().iter().map(|pe| pe / 4).collect();
            let loads = block_weights(&weights.alone(1), &nodes, 8);
            assert_eq!(found.report.loads_by_weight[1].nodes.unwrap().greatest, *loads.iter().max().unwrap());
            found
        };
        assert_eq!(within(1000).mapping, plain.mapping, "round {round}");
        let most = weights.totals()[1] / 8 + 1;
        let tight = within(most);
        assert!(tight.report.loads_by_weight[1].nodes.unwrap().greatest <= most, "round {round}");
        assert_eq!(tight.report.violation().overload, 0, "round {round}");
    }
}

/// A single weight bounds processes by the PE, and what does not go with places is refused.
#[test]
fn places_have_bounds_of_one_weight_and_refuse_the_rest() {
    let tree = Hierarchy::parse("2:2", "1:10").unwrap();
    let graph = with_node_weights(&generate::grid(4, 1), &[9, 1, 1, 1]);
    let targets = Targets::sizes(&graph, vec![3; 4], 0.0).unwrap();
    let targets = targets.with_bounds(vec![4, 4, 4, 9]).unwrap();
    let found = solved!(&graph, &tree, &Config::fast(), balanced(&targets), in_places(true));
    assert_eq!((found.mapping.pe_of(0), found.mapping.pe_of(1)), (3, 2));
    assert_eq!(found.report.loads.unwrap().overload, 0);
    let machine = PreparedMachine::new(&tree);
    let request = Request::new(&graph, &machine).balanced(&targets).in_places(true);
    let reason = |request: Request<'_>| match request.solve(&Config::fast()) {
        Err(SolveError::Request(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(request.minimise(Objective::Cut)), RequestError::CutIsOneToOne);
    assert_eq!(reason(request.connected(true)), RequestError::ConnectedIsOneToOne);
    let least = Balance::default().with_least_load(0.5);
    assert_eq!(reason(request.balanced(least)), RequestError::PlacesHaveLeastLoads);
    let homes = PreviousAssignment::new(&[0, 1, 2, 3], 4).unwrap();
    let remapping = Remapping::new(&homes, MigrationWeight::ONE);
    assert_eq!(reason(request.previous(remapping)), RequestError::PreviousIsOneToOne);
}
