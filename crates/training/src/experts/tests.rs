//! Costs against their definition, searches against enumeration.

use super::copies::{experts, loads};
use super::domains::Domains;
use super::search::Search;
use super::sets::CopySets;
use super::*;
use viem::base::rng::Rng;
use viem::base::types::{Distance, PeId};
use viem::machine::{DistanceOracle as _, Distances, distances_of};

const MACHINES: [(&str, &str); 4] = [("2:2", "1:10"), ("4:2", "1:10"), ("2:2:2", "1:5:30"), ("1:8", "1:3")];

fn tree((spec, distances): (&str, &str)) -> impl Machine {
    viem::machine::build(spec, distances).unwrap()
}

/// A placement that is found.
fn placed(
    routing: &ExpertRouting,
    copies: &ExpertCopies,
    machine: &dyn Machine,
    config: &ExpertConfig,
) -> ExpertSolution {
    ExpertRequest::new(routing, copies, machine).solve(config).unwrap()
}

/// The placement that is found by default, of one copy of each expert.
fn placed_singly(routing: &ExpertRouting, machine: &dyn Machine) -> ExpertSolution {
    placed(routing, &ExpertCopies::single(routing), machine, &ExpertConfig::default())
}

/// Asserts that an error says this.
#[track_caller]
fn says(error: impl std::fmt::Display, expected: &str) {
    let error = error.to_string();
    assert!(error.contains(expected), "{error} / {expected}");
}

/// Tokens that choose up to four experts, some of them more often than others.
fn random(experts: u32, layers: usize, tokens: u32, rng: &mut Rng) -> ExpertRouting {
    let mut builder = RoutingBuilder::new(experts).unwrap();
    for layer in 0..layers {
        for _ in 0..tokens {
            let mut chosen: Vec<u32> =
                (0..1 + rng.below(4)).map(|_| rng.below(experts).min(rng.below(experts))).collect();
            chosen.sort_unstable();
            chosen.dedup();
            builder.add(layer, &chosen, u64::from(1 + rng.below(3))).unwrap();
        }
    }
    builder.build().unwrap()
}

/// The length of a minimum spanning tree of some PEs, by Prim.
fn spanning_tree(distances: &Distances, pes: &[PeId]) -> Distance {
    let (mut inside, mut outside) = (vec![pes[0]], pes[1..].to_vec());
    let mut length = 0;
    while !outside.is_empty() {
        let nearest = |&pe: &PeId| inside.iter().map(|&other| distances.distance(pe, other)).min().unwrap();
        let (place, distance) =
            outside.iter().map(nearest).enumerate().min_by_key(|&(_, distance)| distance).unwrap();
        length += distance;
        inside.push(outside.swap_remove(place));
    }
    length
}

/// J and the tokens that enter nodes, by their definition: all homes, all choices of copies.
fn by_definition(routing: &ExpertRouting, placement: &ExpertPlacement, machine: &dyn Machine) -> (f64, f64) {
    let (distances, num_pes) = (distances_of(machine).unwrap(), machine.num_pes());
    let nodes = viem::machine::Nodes::of(machine);
    let of_pe = placement.num_slots() / num_pes;
    let (mut cost, mut across) = (0.0, 0.0);
    for (number, layer) in routing.layers().iter().enumerate() {
        for (set, tokens) in layer.sets() {
            let mut ways: Vec<Vec<PeId>> = vec![Vec::new()];
            for &expert in set {
                let pes: Vec<PeId> =
                    placement.slots_of(number, expert).map(|slot| (slot / of_pe) as PeId).collect();
                let with =
                    |way: &Vec<PeId>| pes.iter().map(|&pe| [&way[..], &[pe]].concat()).collect::<Vec<_>>();
                ways = ways.iter().flat_map(with).collect();
            }
            let share = tokens as f64 / ways.len() as f64 / num_pes as f64;
            for way in &ways {
                for home in 0..num_pes as PeId {
                    cost += 2.0 * share * spanning_tree(&distances, &[&[home], &way[..]].concat()) as f64;
                    let mut entered: Vec<usize> = way.iter().map(|&pe| nodes.node(pe)).collect();
                    entered.retain(|&node| node != nodes.node(home));
                    entered.sort_unstable();
                    entered.dedup();
                    across += share * entered.len() as f64;
                }
            }
        }
    }
    (cost, across)
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}

#[test]
fn scores_are_those_of_the_definition() {
    let mut rng = Rng::new(1);
    for spec in MACHINES {
        let machine = tree(spec);
        for replicas in [0, machine.num_pes()] {
            let routing = random(8, 2, 30, &mut rng);
            let copies = ExpertCopies::replicated(&routing, replicas).unwrap();
            let placement = ExpertPlacement::in_order(&routing, &copies).unwrap();
            let score = score_experts(&routing, &placement, &machine).unwrap();
            let (cost, across) = by_definition(&routing, &placement, &machine);
            assert!(is_near(score.cost, cost), "{spec:?}: {} {cost}", score.cost);
            assert!(is_near(score.across_nodes, across), "{spec:?}: {} {across}", score.across_nodes);
        }
    }
}

#[test]
fn exchanges_change_the_cost_as_predicted() {
    let mut rng = Rng::new(2);
    for spec in MACHINES {
        let machine = tree(spec);
        let routing = random(16, 1, 60, &mut rng);
        let domains = Domains::of(&machine, &routing).unwrap();
        let copies = ExpertCopies::replicated(&routing, 8).unwrap();
        let (own, layer) = (copies.of(0), routing.layer(0));
        let (experts, loads) = (experts(own), loads(own, layer));
        assert_eq!(loads.iter().sum::<u64>(), layer.loads().iter().sum::<u64>());
        let sets = CopySets::of(layer, own, usize::MAX, 5);
        let start = packing::by_load(&experts, &loads, machine.num_pes()).pe_of;
        let mut search = Search::new(&sets, &domains, start, (&loads, 0));
        for _ in 0..300 {
            let (a, b) = (rng.below(24), rng.below(24));
            let (before, delta) = (search.cost(), search.delta(a, b));
            search.exchange(a, b, delta);
            assert_eq!(search.cost(), before + delta, "{spec:?} {a} {b}");
            let again = Search::new(&sets, &domains, search.pes().to_vec(), (&loads, 0));
            assert!((0..24).all(|c| search.delta(a, c) == again.delta(a, c)));
        }
    }
}

/// The least cost within a bound on loads, by enumeration of all placements.
fn least_cost(routing: &ExpertRouting, machine: &dyn Machine, bound: f64) -> f64 {
    fn extend(slots: &mut Vec<u32>, of_pe: usize, visit: &mut dyn FnMut(&[u32])) {
        let experts = 8;
        if slots.len() == experts {
            return visit(slots);
        }
        for expert in 0..experts as u32 {
            // Those of a PE in ascending order.
            let is_ordered =
                slots.len().is_multiple_of(of_pe) || slots.last().is_some_and(|&last| last < expert);
            if is_ordered && !slots.contains(&expert) {
                slots.push(expert);
                extend(slots, of_pe, visit);
                slots.pop();
            }
        }
    }
    let mut least = f64::INFINITY;
    extend(&mut Vec::new(), 8 / machine.num_pes(), &mut |slots| {
        let placement = ExpertPlacement::new(8, vec![slots.to_vec()]).unwrap();
        let score = score_experts(routing, &placement, machine).unwrap();
        if score.loads[0].greatest <= bound {
            least = least.min(score.cost);
        }
    });
    least
}

#[test]
fn small_problems_are_solved_to_the_optimum_within_the_bound() {
    let mut rng = Rng::new(3);
    let machines = [("2:2", "1:10"), ("2:2", "3:4"), ("1:4", "1:7")];
    for (number, spec) in machines.into_iter().cycle().take(9).enumerate() {
        let machine = tree(spec);
        let routing = random(8, 1, 40, &mut rng);
        let copies = ExpertCopies::single(&routing);
        for imbalance in [0.0, 0.1, 10.0] {
            let config = ExpertConfig::default().with_seed(number as u64).with_imbalance(imbalance);
            let found = placed(&routing, &copies, &machine, &config);
            let by_load = place_by_load(&routing, &copies, &machine).unwrap();
            let by_load = score_experts(&routing, &by_load, &machine).unwrap();
            let mean = found.score.loads[0].mean;
            let bound = (mean * (1.0 + imbalance)).max(by_load.loads[0].greatest);
            assert!(found.score.loads[0].greatest <= bound);
            let least = least_cost(&routing, &machine, bound);
            assert!(is_near(found.score.cost, least), "{spec:?} {imbalance}: {} {least}", found.score.cost);
        }
    }
}

#[test]
fn planted_groups_are_found_within_the_bound_of_the_most_even_placement() {
    let mut rng = Rng::new(4);
    let machine = tree(("4:4", "1:10"));
    let mut builder = RoutingBuilder::new(32).unwrap();
    for token in 0..2000u32 {
        // Group g has the experts g, g + 4, ...
        let group = token % 4;
        let mut chosen: Vec<u32> = (0..8).map(|member| group + 4 * member).collect();
        rng.shuffle(&mut chosen);
        builder.add(0, &chosen[..3], 1).unwrap();
    }
    let routing = builder.build().unwrap();
    let copies = ExpertCopies::single(&routing);
    let config = ExpertConfig::default().with_imbalance(0.05);
    let found = placed(&routing, &copies, &machine, &config);
    // Each token enters the node of its group, unless it is there.
    assert!(is_near(found.score.across_nodes, 2000.0 * 0.75), "{}", found.score.across_nodes);
    let numbers = ExpertPlacement::in_order(&routing, &copies).unwrap();
    let by_number = score_experts(&routing, &numbers, &machine).unwrap();
    assert!(by_number.across_nodes > 1.5 * found.score.across_nodes);
    for threads in [2, 3] {
        let again = placed(&routing, &copies, &machine, &config.with_threads(threads));
        assert_eq!(again.placement, found.placement);
    }
}

#[test]
fn a_time_limit_ends_the_search_and_further_rounds_are_never_worse() {
    let mut rng = Rng::new(6);
    let machine = tree(("4:4", "1:10"));
    let routing = random(32, 2, 400, &mut rng);
    let copies = ExpertCopies::single(&routing);
    let config = ExpertConfig { proposals: 20, ..ExpertConfig::default() };
    let within =
        |limit: Option<Duration>| placed(&routing, &copies, &machine, &config.with_time_limit(limit));
    let (at_once, without) = (within(Some(Duration::ZERO)), within(None));
    let by_load = place_by_load(&routing, &copies, &machine).unwrap();
    assert_eq!(at_once.placement, by_load);
    let long = within(Some(Duration::from_secs(1)));
    assert!(long.score.cost < without.score.cost && without.score.cost < at_once.score.cost);
    assert_eq!([&at_once, &without, &long].map(|found| found.stopped), [true, false, true]);
    for (loads, even) in long.score.loads.iter().zip(&at_once.score.loads) {
        assert!(loads.greatest <= even.greatest.max(loads.mean * (1.0 + config.imbalance)));
    }
    // Where no placement is better than another one, the search ends before the time is over.
    let begin = Instant::now();
    let config = config.with_time_limit(Duration::from_secs(1000));
    assert!(!placed(&routing, &copies, &tree(("1:1", "1:5")), &config).stopped);
    assert!(begin.elapsed() < Duration::from_secs(500));
}

#[test]
fn replicas_lower_the_greatest_load_of_a_copy_as_far_as_possible() {
    let mut builder = RoutingBuilder::new(4).unwrap();
    for (expert, tokens) in [(0, 10), (1, 90), (2, 40), (3, 20)] {
        builder.add(0, &[expert], tokens).unwrap();
    }
    let routing = builder.build().unwrap();
    let copies = |replicas| ExpertCopies::replicated(&routing, replicas).unwrap().of(0).to_vec();
    assert_eq!(copies(0), [1, 1, 1, 1]);
    assert_eq!(copies(1), [1, 2, 1, 1]);
    assert_eq!(copies(4), [1, 4, 2, 1]);
    let given = ExpertCopies::given(&routing, vec![vec![1, 4, 2, 1]]).unwrap();
    let even = ExpertConfig::default().with_imbalance(0.0);
    let found = placed(&routing, &given, &tree(("2:2", "1:10")), &even);
    assert_eq!(found.placement.copies(), given);
    assert!(found.score.worst_ratio() < 1.2, "{}", found.score.worst_ratio());
}

/// A routing of which only the loads of experts are known, by layer.
fn of_loads(layers: &[&[u64]]) -> ExpertRouting {
    let mut builder = RoutingBuilder::new(layers[0].len() as u32).unwrap();
    for (layer, loads) in layers.iter().enumerate() {
        (0..).zip(*loads).for_each(|(expert, &load)| builder.add_load(layer, expert, load).unwrap());
    }
    builder.build().unwrap()
}

/// The least greatest load of some bins that hold equally many of these loads, by enumeration.
fn least_greatest(loads: &[u64], bins: &mut [(u64, usize)]) -> u64 {
    let Some((first, rest)) = loads.split_first() else {
        return bins.iter().map(|&(load, _)| load).max().unwrap();
    };
    let mut least = u64::MAX;
    for bin in 0..bins.len() {
        if bins[bin].1 > 0 {
            bins[bin] = (bins[bin].0 + first, bins[bin].1 - 1);
            least = least.min(least_greatest(rest, bins));
            bins[bin] = (bins[bin].0 - first, bins[bin].1 + 1);
        }
    }
    least
}

#[test]
fn loads_alone_are_made_as_even_as_they_can_be() {
    let mut rng = Rng::new(8);
    for spec in [("2:1", "1:5"), ("1:3", "1:5"), ("4:1", "1:5"), ("2:2", "1:10"), ("1:4", "1:3")] {
        let machine = tree(spec);
        let pes = machine.num_pes();
        for experts in (pes..=8).step_by(pes) {
            for most in [2, 7, 1000] {
                let loads: Vec<u64> = (0..experts).map(|_| u64::from(rng.below(most))).collect();
                let found = placed_singly(&of_loads(&[&loads]), &machine);
                let least = least_greatest(&loads, &mut vec![(0, experts / pes); pes]);
                assert_eq!(found.score.loads[0].greatest, least as f64, "{spec:?} {loads:?}");
            }
        }
    }
    // As even on nodes as it is possible with PEs of 10, 8, 2 and 0, which are the least.
    let found = placed_singly(&of_loads(&[&[10, 8, 2, 0]]), &tree(("2:2", "1:10")));
    let slots = found.placement.layer(0);
    let mut node = [slots[0], slots[1]];
    node.sort_unstable();
    assert!(node == [0, 3] || node == [1, 2], "{slots:?}");
}

#[test]
fn the_example_of_a_load_balancer_is_as_even_as_there() {
    // `weight` of the documentation of EPLB: 16 slots on 2 nodes of 4 GPUs. Its placement, by hand: in layer 0 copies of experts 1, 4, 5 and 10 share
    // their loads, and the fullest GPU has experts 0 and 1, 90 + 66; in layer 1 those of 1, 5, 6 and 8, and it has 6 and 8, 93.5 + 86.
    let routing = of_loads(&[
        &[90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86],
        &[20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27],
    ]);
    let machine = tree(("4:2", "1:10"));
    let copies = ExpertCopies::replicated(&routing, 4).unwrap();
    let found = placed(&routing, &copies, &machine, &ExpertConfig::default());
    let greatest: Vec<f64> = found.score.loads.iter().map(|loads| loads.greatest).collect();
    assert!(greatest[0] <= 156.0 && greatest[1] <= 179.5, "{greatest:?}");
    let again = ExpertConfig::default().with_threads(2).with_time_limit(Duration::from_secs(1000));
    let begin = Instant::now();
    assert_eq!(placed(&routing, &copies, &machine, &again).placement, found.placement);
    assert!(begin.elapsed() < Duration::from_secs(500));
}

/// The same placement with the PEs of each node, and the nodes, in another order.
fn renamed(placement: &ExpertPlacement, gpus: usize, nodes: usize, rng: &mut Rng) -> ExpertPlacement {
    let of_pe = placement.num_slots() / (gpus * nodes);
    let rename = |slots: &Vec<u32>| {
        let mut order: Vec<usize> = (0..nodes).collect();
        rng.shuffle(&mut order);
        let pes = order.into_iter().flat_map(|node| {
            let mut pes: Vec<usize> = (node * gpus..(node + 1) * gpus).collect();
            rng.shuffle(&mut pes);
            pes
        });
        pes.flat_map(|pe| slots[pe * of_pe..(pe + 1) * of_pe].to_vec()).collect()
    };
    let layers = placement.layers().iter().map(rename).collect();
    let experts = placement.layers()[0].iter().max().unwrap() + 1;
    ExpertPlacement::new(experts, layers).unwrap()
}

#[test]
fn the_same_placement_under_other_names_moves_nothing() {
    let mut rng = Rng::new(11);
    for (spec, gpus, nodes) in [("2:2", 2, 2), ("4:2", 4, 2), ("2:3", 2, 3)] {
        let machine = tree((spec, "1:10"));
        let experts = 2 * machine.num_pes() as u32;
        let loads: Vec<u64> = (0..experts).map(|_| u64::from(rng.below(1000))).collect();
        for routing in [random(experts, 2, 60, &mut rng), of_loads(&[&loads])] {
            for replicas in [0, machine.num_pes()] {
                let copies = ExpertCopies::replicated(&routing, replicas).unwrap();
                let config = ExpertConfig::default();
                let found = placed(&routing, &copies, &machine, &config);
                assert_eq!(found.moved, None);
                let old = renamed(&found.placement, gpus, nodes, &mut rng);
                for weight in [MigrationWeight::ZERO, MigrationWeight::ONE] {
                    let again = ExpertRequest::new(&routing, &copies, &machine)
                        .previous((&old, weight))
                        .solve(&config)
                        .unwrap();
                    assert!(again.score.cost <= found.score.cost * (1.0 + 1e-9), "{spec} {replicas}");
                    // With weight 0, a search from there may find a better one.
                    if is_near(again.score.cost, found.score.cost) {
                        assert_eq!(again.moved, Some(0), "{spec} {replicas}");
                    }
                    assert_eq!(again.placement.moved_from(&old, machine.num_pes()), again.moved.unwrap());
                }
            }
        }
    }
}

#[test]
fn moves_are_made_as_far_as_they_are_worth_their_price() {
    let mut rng = Rng::new(12);
    let machine = tree(("4:2", "1:10"));
    let copies = ExpertCopies::single(&random(16, 1, 80, &mut rng));
    let old = ExpertPlacement::new(16, vec![(0..16).collect()]).unwrap();
    let (mut moved, mut costs) = (Vec::new(), Vec::new());
    let routing = random(16, 1, 80, &mut rng);
    let config = ExpertConfig::default().with_imbalance(10.0);
    for weight in ["1000000", "40", "5", "0"] {
        let weight: MigrationWeight = weight.parse().unwrap();
        let found =
            ExpertRequest::new(&routing, &copies, &machine).previous((&old, weight)).solve(&config).unwrap();
        moved.push(found.moved.unwrap());
        costs.push(found.score.cost);
    }
    assert_eq!(moved[0], 0);
    assert!(moved.is_sorted() && moved[3] > 0, "{moved:?}");
    assert!(costs.is_sorted_by(|a, b| a >= b), "{costs:?}");
    // Loads alone: an exchange of 7 and 5 makes them even.
    let routing = of_loads(&[&[7, 3, 5, 1]]);
    let copies = ExpertCopies::single(&routing);
    let old = ExpertPlacement::new(4, vec![vec![0, 1, 2, 3]]).unwrap();
    let pair = tree(("1:2", "1:5"));
    for (weight, moved, greatest) in [("0.9", 2, 8.0), ("1.1", 0, 10.0)] {
        let old = (&old, weight.parse().unwrap());
        let found = ExpertRequest::new(&routing, &copies, &pair).previous(old).solve(&config).unwrap();
        assert_eq!((found.moved, found.score.loads[0].greatest), (Some(moved), greatest));
    }
}

#[test]
fn an_older_placement_must_fit() {
    let routing = of_loads(&[&[7, 3, 5, 1]]);
    let copies = ExpertCopies::single(&routing);
    let machine = tree(("2:2", "1:10"));
    let remap = |experts, layers: &[Vec<u32>]| {
        let old = ExpertPlacement::new(experts, layers.to_vec()).unwrap();
        let old = (&old, MigrationWeight::ONE);
        ExpertRequest::new(&routing, &copies, &machine)
            .previous(old)
            .solve(&ExpertConfig::default())
            .unwrap_err()
    };
    let order = vec![0, 1, 2, 3];
    assert!(matches!(remap(4, &[order.clone(), order]), ExpertError::OldLayers { found: 2, expected: 1 }));
    assert!(matches!(remap(4, &[vec![0, 1, 2, 3, 3]]), ExpertError::OldSlots { found: 5, expected: 4 }));
    assert!(matches!(remap(2, &[vec![0, 1, 1, 1]]), ExpertError::OldExperts { found: 2, expected: 4 }));
}

#[test]
fn loads_alone_need_no_tree() {
    let ring = viem::machine::build("torus:4", None).unwrap();
    let found = placed_singly(&of_loads(&[&[5, 3, 7, 1, 6, 2, 0, 4]]), &ring);
    assert_eq!((found.score.loads[0].greatest, found.score.cost), (7.0, 0.0));
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut builder = RoutingBuilder::new(4).unwrap();
    assert!(matches!(builder.add(0, &[4], 1), Err(ExpertError::NoSuchExpert { expert: 4, .. })));
    assert!(matches!(builder.add(0, &[1, 2, 1], 1), Err(ExpertError::Twice { expert: 1 })));
    assert!(matches!(builder.add(0, &[1], u64::MAX), Err(ExpertError::TooManyTokens)));
    assert!(matches!(RoutingBuilder::new(0), Err(ExpertError::NumExperts { .. })));
    assert!(matches!(RoutingBuilder::new(4).unwrap().build(), Err(ExpertError::NoLayers)));
    builder.add(1, &[0, 1], 1 << 50).unwrap();
    let routing = builder.build().unwrap();
    assert_eq!(routing.num_layers(), 2);
    let place = |machine: &dyn Machine, copies: &ExpertCopies| {
        ExpertRequest::new(&routing, copies, machine).solve(&ExpertConfig::default()).map(|found| found.score)
    };
    let single = ExpertCopies::single(&routing);
    let error = place(&tree(("3:2", "1:10")), &single).unwrap_err();
    assert!(matches!(error, ExpertError::Indivisible { copies: 4, pes: 6, fitting: 2 }));
    let large = tree(("1024:1024", "1:10"));
    let numbers = ExpertPlacement::in_order(&routing, &single).unwrap();
    let error = score_experts(&routing, &numbers, &large).unwrap_err();
    assert!(matches!(error, ExpertError::Indivisible { copies: 4, .. }));
    let ring = viem::machine::build("torus:4", None).unwrap();
    let error = place(&ring, &single).unwrap_err();
    // Opposite PEs of the ring are at distance 2, but each is at distance 1 of those between.
    assert!(
        matches!(error, ExpertError::NoTree { pes: [2, 0, 1] | [0, 2, 1], distances: [2, 1, 1] }),
        "{error}"
    );
    says(error, "are at distance 2, but 1 is at distances 1 and 1 from them");
    let far = tree(("2:2", "1:1000000"));
    assert!(matches!(place(&far, &single).unwrap_err(), ExpertError::TooMuch));
    let unequal = ExpertCopies::given(&routing, vec![vec![1, 1, 1, 1], vec![1, 2, 1, 4]]).unwrap();
    assert!(matches!(place(&far, &unequal).unwrap_err(), ExpertError::UnequalLayers { layer: 1, .. }));
    assert!(matches!(
        ExpertCopies::given(&routing, vec![vec![1, 0, 1, 1]]),
        Err(ExpertError::NoCopy { layer: 0, expert: 1 })
    ));
    assert!(matches!(ExpertCopies::replicated(&routing, usize::MAX), Err(ExpertError::TooManyCopies { .. })));
    let placement = |slots: &[u32]| ExpertPlacement::new(4, vec![slots.to_vec()]);
    assert!(matches!(placement(&[0, 1, 2, 2]), Err(ExpertError::NoCopy { expert: 3, .. })));
    assert!(matches!(placement(&[0, 1, 2, 9]), Err(ExpertError::NoSuchExpert { expert: 9, .. })));
}

mod files {
    use super::*;
    use crate::expert_trace::TraceKind;
    use viem_io::Source;

    fn source(bytes: &[u8]) -> Source<'_> {
        Source::new("trace", bytes).unwrap()
    }

    fn read(bytes: &[u8], experts: u32) -> ExpertRouting {
        text::read_routing(source(bytes), experts).unwrap()
    }

    /// Returns the message for bytes that are no routing of four experts.
    fn refused(bytes: &[u8]) -> String {
        text::read_routing(source(bytes), 4).unwrap_err().to_string()
    }

    fn sets(routing: &ExpertRouting, layer: usize) -> Vec<(Vec<u32>, u64)> {
        routing.layer(layer).sets().map(|(set, tokens)| (set.to_vec(), tokens)).collect()
    }

    /// An array as NumPy writes it.
    fn array(kind: &str, shape: &str, is_by_column: bool, entries: impl Iterator<Item = u8>) -> Vec<u8> {
        let order = if is_by_column { "True" } else { "False" };
        let header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.bytes());
        file.extend(entries);
        file
    }

    /// An array of bytes.
    fn npy(shape: &str, is_by_column: bool, entries: &[i8]) -> Vec<u8> {
        array("|i1", shape, is_by_column, entries.iter().map(|&entry| entry as u8))
    }

    /// An array of numbers of 64 bits, whole ones or not.
    fn wide<const N: usize>(shape: &str, is_float: bool, entries: [f64; N]) -> Vec<u8> {
        let bytes = |entry: f64| if is_float { entry.to_le_bytes() } else { (entry as i64).to_le_bytes() };
        array(if is_float { "<f8" } else { "<i8" }, shape, false, entries.into_iter().flat_map(bytes))
    }

    /// An archive with members that are stored, or deflated.
    fn npz(members: &[(&str, &[u8])], is_deflated: bool) -> Vec<u8> {
        use std::io::Write;
        let (mut file, mut list) = (Vec::new(), Vec::new());
        for (name, bytes) in members {
            let packed = if is_deflated {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            } else {
                bytes.to_vec()
            };
            let mut fields = vec![20, 0, 0, 0, if is_deflated { 8 } else { 0 }, 0, 0, 0, 0, 0];
            let mut checksum = flate2::Crc::new();
            checksum.update(bytes);
            fields.extend(checksum.sum().to_le_bytes());
            fields.extend((packed.len() as u32).to_le_bytes());
            fields.extend((bytes.len() as u32).to_le_bytes());
            fields.extend((name.len() as u16).to_le_bytes());
            fields.extend([0, 0]);
            list.extend(b"PK\x01\x02\x14\x00");
            list.extend(&fields);
            list.extend([0; 10]);
            list.extend((file.len() as u32).to_le_bytes());
            list.extend(name.bytes());
            file.extend(b"PK\x03\x04");
            file.extend(&fields);
            file.extend(name.bytes());
            file.extend(packed);
        }
        let start = file.len() as u32;
        file.extend(&list);
        file.extend(b"PK\x05\x06\0\0\0\0");
        file.extend([(members.len() as u16).to_le_bytes(); 2].concat());
        file.extend((list.len() as u32).to_le_bytes());
        file.extend(start.to_le_bytes());
        file.extend([0, 0]);
        file
    }

    #[test]
    fn a_trace_is_the_same_in_every_form() {
        let text = "layer;a;b\n0;3;1\n0;1;3\n0;2;\n1;0;2\n1;2;3\n1;3;0\n";
        let expected = read(text.as_bytes(), 4);
        assert_eq!(sets(&expected, 0), [(vec![1, 3], 2), (vec![2], 1)]);
        let choices: Vec<i8> = vec![3, 1, 1, 3, 2, -1, 0, 2, 2, 3, 3, 0];
        let array = npy("(2, 3, 2)", false, &choices);
        let by_column: Vec<i8> = (0..2)
            .flat_map(|c| (0..3).flat_map(move |r| (0..2).map(move |l| (l * 3 + r) * 2 + c)))
            .map(|at: usize| choices[at])
            .collect();
        let mut of_all = vec![0i8; 2 * 3 * 4];
        for (at, &expert) in choices.iter().enumerate().filter(|(_, expert)| **expert >= 0) {
            of_all[at / 2 * 4 + expert as usize] = 1;
        }
        for bytes in [
            array.clone(),
            npy("(2, 3, 2)", true, &by_column),
            npy("(2, 3, 4)", false, &of_all),
            npz(&[("arr_0.npy", &array)], false),
            npz(&[("note.txt", b"none"), ("routing.npy", &array)], true),
            text.replace(';', " ").into_bytes(),
        ] {
            assert_eq!(read(&bytes, 4), expected);
        }
        for (bytes, plain) in [(npz(&[("arr_0.npy", &array)], true), &array), (array.clone(), &array)] {
            assert_eq!(&crate::expert_trace::unpacked(source(&bytes)).unwrap(), plain);
        }
        let single = read(&npy("(2, 1)", false, &[3, 3]), 4);
        assert_eq!((single.num_layers(), sets(&single, 0)), (1, vec![(vec![3], 2)]));
    }

    #[test]
    fn packed_arrays_are_read_within_bounds() {
        let array = npy("(2, 3, 2)", false, &[3, 1, 1, 3, 2, -1, 0, 2, 2, 3, 3, 0]);
        let mut damaged = npz(&[("a.npy", &array)], false);
        let place = damaged.windows(2).position(|pair| pair == [3, 1]).unwrap();
        damaged[place] = 2;
        let expected = "line 1, column 1: this zip archive is not as NumPy writes them: its array is damaged";
        says(refused(&damaged), expected);
        // 128 MB of zeros in as many KB. The shape alone shows that they are no trace of this many experts, and if it fits, they are too many.
        let zeros = vec![0; 1 << 27];
        let large = |shape: &str| npz(&[("a.npy", &npy(shape, false, &zeros))], true);
        let expected = "an array of 1 x 1024 x 131072 is no trace of 4 experts";
        says(refused(&large("(1, 1024, 131072)")), expected);
        says(refused(&large("(1, 33554432, 4)")), "expand to more than 100 times as many");
    }

    #[test]
    fn pairs_are_read_with_their_loads() {
        let text = "9 2 0\n2 5 1\n0 1 7\n0 4 0\n4 0 0\n0 0 0\n";
        let routing = read(text.as_bytes(), 3);
        assert_eq!(sets(&routing, 0), [(vec![0, 1], 2), (vec![1, 2], 1)]);
        assert_eq!(routing.layer(0).loads(), [9, 5, 7]);
        assert_eq!((sets(&routing, 1), routing.layer(1).loads()), (vec![(vec![0, 1], 4)], &[0, 0, 0][..]));
        let array = npy("(3, 3)", false, &[0, 2, 0, 2, 0, 1, 0, 1, 0]);
        let routing = read(&array, 3);
        assert_eq!(routing.layer(0).loads(), [2, 3, 1]);
    }

    #[test]
    fn loads_are_the_same_in_every_form() {
        // Two layers of four experts.
        let expected = of_loads(&[&[5, 3000, 7, 1], &[6, 2, 0, 4]]);
        let numbers = [5.0, 3000.0, 7.0, 1.0, 6.0, 2.0, 0.0, 4.0];
        let array = wide("(2, 4)", false, numbers);
        let table = "0,0,5\n0,1,3000\n0,2,7\n0,3,1\n1,0,6\n1,1,2\n1,2,0\n1,3,4\n";
        let with = |names: &str| format!("{names}\n{table}").into_bytes();
        let shuffled = "count,expert,layer\n4,3,1\n0,2,1\n2,1,1\n6,0,1\n1,3,0\n7,2,0\n3000,1,0\n5,0,0\n";
        for bytes in [
            array.clone(),
            wide("(2, 4)", true, numbers),
            wide("(1, 2, 4)", true, numbers),
            wide("(2, 1, 4)", false, numbers),
            npz(&[("weight.npy", &array)], true),
            b"5,3000,7,1\n6,2,0,4\n".to_vec(),
            b"e0 e1 e2 e3\n5 3000 7 1\n6 2 0 4\n".to_vec(),
            b"layer,expert_0,expert_1,expert_2,expert_3\n0,5,3000,7,1\n1,6,2,0,4\n".to_vec(),
            b",0,1,2,3\n0,5,3000,7,1\n1,6,2,0,4\n".to_vec(),
            b"0,5,3000,7,1\n1,6,2,0,4\n".to_vec(),
            table.as_bytes().to_vec(),
            with("layer_id,expert_id,count"),
            with("layer,expert,num_tokens"),
            with("layer_idx,expert_idx,load"),
            shuffled.as_bytes().to_vec(),
        ] {
            let read = text::read_trace(source(&bytes), 4, None);
            let read = read.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)));
            assert_eq!(read.routing, expected, "{}", String::from_utf8_lossy(&bytes));
            assert!(read.routing.is_of_loads() && read.found.kind == TraceKind::Loads);
        }
        let single = of_loads(&[&[5, 3000, 7, 1]]);
        for bytes in [
            &b"expert,count\n0,5\n1,3000\n2,7\n3,1\n"[..],
            b"tokens;expert_id\n5;0\n3000;1\n7;2\n1;3\n",
            b"0 5\n1 3000\n2 7\n3 1\n",
            b"count\n5\n3000\n7\n1\n",
            b"5\n3000\n7\n1\n",
            &wide("(4,)", true, [5.0, 3000.0, 7.0, 1.0]),
        ] {
            assert_eq!(read(bytes, 4), single);
        }
        let named = text::read_trace(source(b"layer,expert,count,share\n0,0,5,1\n"), 4, None).unwrap();
        assert_eq!(named.found.passed_over, ["share"]);
    }

    #[test]
    fn loads_are_summed_over_steps() {
        let expected = of_loads(&[&[5, 3000, 7, 1], &[2, 0, 0, 4]]);
        for (bytes, column) in [
            (
                &b"step,layer,expert,count\n0,0,0,2\n0,0,1,2900\n0,0,2,7\n0,1,0,2\n7,0,0,3\n7,0,1,100\n7,0,3,1\n7,1,3,4\n"[..],
                "step",
            ),
            (
                b"layer_id;timestamp;load;expert_id\n0;2024-01-01 10:00;5;0\n0;2024-01-01 10:00;3000;1\n0;b;7;2\n0;b;1;3\n1;b;2;0\n1;c;4;3\n",
                "timestamp",
            ),
            (b"step,layer,e0,e1,e2,e3\n0,0,2,2900,7,0\n0,1,2,0,0,4\n1,0,3,100,0,1\n", "step"),
            (b"layer e0 e1 e2 e3 rank\n0 2 2900 7 0 0\n0 3 100 0 1 1\n1 2 0 0 4 1\n", "rank"),
        ] {
            let read = text::read_trace(source(bytes), 4, None);
            let read = read.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)));
            assert_eq!(read.routing, expected, "{}", String::from_utf8_lossy(bytes));
            assert_eq!((read.found.kind, &*read.found.summed_over), (TraceKind::Loads, &[column.to_owned()][..]));
        }
        let one_layer = read(b"iter,e0,e1\n0,9000,1\n1,5,2\n", 2);
        assert_eq!(one_layer, of_loads(&[&[9005, 3]]));
        // What tokens weigh is not what they count, unless the user says so.
        for bytes in [&b"step,layer,expert,weight\n0,0,1,2\n"[..], b"token,layer,expert,count\n0,0,1,2\n"] {
            let refused = text::read_trace(source(bytes), 4, None).unwrap_err();
            says(refused, "may hold numbers of tokens or shares of a token");
            let read = text::read_trace(source(bytes), 4, Some(TraceKind::Loads)).unwrap();
            assert_eq!(read.routing, of_loads(&[&[0, 2, 0, 0]]));
        }
        let choices = b"step,layer,expert\n0,0,1\n0,0,2\n1,0,3\n1,0,0\n";
        let choices = text::read_trace(source(choices), 4, None).unwrap();
        assert_eq!((choices.found.kind, choices.routing.num_tokens()), (TraceKind::Choices, 2));
    }

    #[test]
    fn loads_may_have_decimal_places() {
        for bytes in [
            &b"expert,load\n0,2.5\n1,0.125\n2,7\n3,1e1\n"[..],
            b"2.5 0.125 7 10\n",
            &wide("(4,)", true, [2.5, 0.125, 7.0, 10.0]),
        ] {
            let routing = read(bytes, 4);
            assert_eq!(routing.layer(0).loads(), [2500, 125, 7000, 10000]);
            assert_eq!(routing.load_unit(), 0.001);
            let found = placed_singly(&routing, &tree(("2:1", "1:5")));
            let loads = &found.score.loads[0];
            assert!(is_near(loads.greatest, 10.125) && is_near(loads.mean, 9.8125));
        }
    }

    #[test]
    fn what_may_be_loads_or_not_is_refused_unless_it_is_said() {
        let shares = wide("(2, 4)", true, [0.5, 0.25, 0.125, 0.125, 0.25, 0.25, 0.25, 0.25]);
        let sparse = wide("(2, 4)", false, [9.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0, 0.0]);
        let square = wide::<16>("(4, 4)", false, std::array::from_fn(|place| place as f64));
        let table = b"0,0,1\n0,1,3\n0,2,0\n0,3,2\n";
        let several = b"0,1\n1,3\n2,0\n3,2\n";
        let order = b"0,3,1,2,0\n1,0,1,3,2\n";
        for (bytes, other) in [
            (&shares[..], TraceKind::Choices),
            (&sparse, TraceKind::Choices),
            (&square, TraceKind::Pairs),
            (&table[..], TraceKind::Choices),
            (several, TraceKind::Choices),
            (order, TraceKind::Choices),
            (b"1 2 3 4\n2 1 3 4\n3 3 1 4\n4 4 5 1\n", TraceKind::Pairs),
            (b"0 1 2 3\n0 3 2 1\n", TraceKind::Choices),
        ] {
            let error = refused(bytes);
            for part in ["trace, line 1, column 1: this may hold", other.name(), "or loads (how many"] {
                says(&error, part);
            }
            let read = text::read_trace(source(bytes), 4, Some(TraceKind::Loads)).unwrap();
            assert!(read.routing.is_of_loads());
            if other == TraceKind::Choices {
                let read = text::read_trace(source(bytes), 4, Some(other)).unwrap();
                assert!(!read.routing.is_of_loads());
            }
        }
        let asymmetric = text::read_trace(source(b"1 2\n3 1\n"), 2, Some(TraceKind::Pairs)).unwrap_err();
        says(asymmetric, "layer 0: experts 0 and 1 have other numbers of tokens than 1 and 0");
    }

    #[test]
    fn numbers_of_tokens_are_no_experts() {
        let wide = "layer,token,expert1,expert2\n0,2,3,1\n0,3,1,3\n0,9,2,\n1,7,0,2\n";
        let expected = read(wide.as_bytes(), 4);
        assert_eq!(sets(&expected, 0), [(vec![1, 3], 2), (vec![2], 1)]);
        for other in [
            "token_id,layer,topk_0,topk_1\n2,0,3,1\n3,0,1,3\n9,0,2,\n7,1,0,2\n",
            // A line for each expert of a token.
            "layer,pos,expert\n0,2,3\n0,2,1\n0,3,1\n0,3,3\n0,9,2\n1,9,0\n1,9,2\n",
        ] {
            assert_eq!(read(other.as_bytes(), 4), expected);
        }
    }

    #[test]
    fn faults_of_traces_have_their_place() {
        let array = npy("(2, 2, 2)", false, &[0, 1, 1, 2, 3, 1, 0, 3]);
        let two = npz(&[("a.npy", &array), ("b.npy", &array)], false);
        let stored = npz(&[("a.npy", &array)], false);
        let error = crate::expert_trace::unpacked(source(&two)).unwrap_err();
        says(error, "trace, line 1, column 1: the archive holds several arrays");
        for (bytes, message) in [
            (&b"0,1,2\n0,1,9\n"[..], "trace, line 2, column 5: `9` "),
            (b"0 1 2\n0 x 2\n", "trace, line 2, column 3: `x` "),
            (b"0 1 2\n5000 1 2\n", "trace, line 2, column 1: `5000` "),
            (b"0 1 1\n", "trace, line 1, column 1: a token has expert 1 twice"),
            (b"", "there is no layer"),
            (
                b"0,1,2\n0,2,5000\n",
                "line 2, column 5: `5000` is not one of the 4 experts, which count from 0; if it counts tokens",
            ),
            (
                b"layer,expert,count\n0,1,-3\n",
                "line 2, column 5: `-3` is negative; a load is a number from 0",
            ),
            (b"layer,expert,count\n0,1,x\n", "line 2, column 5: `x` is not a number; a load"),
            (b"layer,expert,count\n0,4,1\n", "line 2, column 3: `4` is not one of the 4 experts"),
            (b"layer,expert,count\n0,1\n", "line 2, column 1: the line has 2 fields"),
            (
                b"layer,expert,count,load\n",
                "line 1, column 1: `load` is a second column for numbers of tokens",
            ),
            (b"layer,expert,foo\n0,1,1\n", "nothing is known of a column called `foo`"),
            (b"layer,token,expert,weight\n0,1,1,1\n", "a column called `weight` beside the experts"),
            (b"layer,token,expert\n0,1,1\n0,2,1\n0,1,2\n", "line 4, column 1: layer 0 has token `1` again"),
            (b"5\n3\n7\n", "there are 3 loads of a layer of 4 experts"),
            (&wide("(4,)", true, [1.0, 2.0, -3.0, 4.0]), "row 0, column 2: `-3` is not"),
            (&wide("(4,)", true, [1.0, 2.0, f64::NAN, 4.0]), "row 0, column 2: `NaN` is not"),
            (
                &wide("(2, 2, 4)", false, [9.0; 16]),
                "an array of 2 x 2 x 4 has the loads of the experts several times",
            ),
            (&wide("(2, 3)", false, [9.0; 6]), "row 0, column 0: `9` is not one of the 4 experts"),
            (b"1 2 3 4\n2 1 3\n", "line 2, column 1: the line has 3 numbers"),
            (&npy("(2, 2, 9)", false, &[0; 36]), "an array of 2 x 2 x 9 is no trace of 4 experts"),
            (&npy("(2,)", false, &[0; 2]), "an array of 2 is no trace"),
            (&npy("(2, 2, 2)", false, &[0; 7]), "an entry of the array is missing"),
            (&npy("(1, 1, 2)", false, &[0; 7]), "what follows the last entry"),
            (&npy("(1, 2, 2)", false, &[0, 1, 1, -3]), "layer 0, row 1, column 1: `-3` is not"),
            (
                &npy("(1, 2, 2)", false, &[0, 1, 1, 4]),
                "layer 0, row 1, column 1: `4` is not one of the 4 experts",
            ),
            (&npy("(9999999, 99999, 2)", false, &[0; 3]), "is no trace of 4 experts"),
            (&two, "the archive holds several arrays, a.npy, b.npy"),
            (&npz(&[("a.txt", b"")], false), "it has no array"),
            (&stored[..40], "it has no list of its members"),
            (&stored[stored.len() - 40..], "trace, line 1"),
        ] {
            says(refused(bytes), message);
        }
        says(text::read_routing(source(b"0 1"), 1 << 20).unwrap_err(), "from 1 to 4096");
    }

    #[test]
    fn placements_and_copies_are_read_as_they_are_written() {
        let mut rng = Rng::new(5);
        let routing = random(8, 3, 20, &mut rng);
        let copies = ExpertCopies::replicated(&routing, 4).unwrap();
        let placement = ExpertPlacement::in_order(&routing, &copies).unwrap();
        let mut bytes = Vec::new();
        text::write_placement(&mut bytes, &placement).unwrap();
        assert_eq!(text::read_placement(source(&bytes), 8).unwrap(), placement);
        for (bytes, message) in [
            ("{", "line 1, column 1: this is not JSON"),
            ("[]", "a placement has a list"),
            ("{\"physical_to_logical_map\": [3]}", "a placement has a list"),
            ("{\"physical_to_logical_map\": []}", "there is no layer"),
            ("{\"physical_to_logical_map\": [[0, 1.5]]}", "layer 0: `1.5` is not an expert"),
            ("{\"physical_to_logical_map\": [[0, 0]]}", "layer 0 has no copy of expert 1"),
            ("{\"physical_to_logical_map\": [[0, 1], [0, 1, 1]]}", "layer 1 has 3 copies"),
        ] {
            says(text::read_placement(source(bytes.as_bytes()), 2).unwrap_err(), message);
        }
        let rows = text::read_copies(source(b"1 1 1 1 1 1 1 2\n"), &routing).unwrap();
        assert_eq!(rows.of(2)[7], 2);
        for (bytes, message) in [
            ("1 1 1 1 1 1 1 0\n", "line 1, column 15: `0` is not a number of copies"),
            ("1 1 1\n", "layer 0 has no copy of expert 3"),
            ("1 1 1 1 1 1 1 1 1\n", "the expert 8 does not exist"),
            ("1 1 1 1 1 1 1 1\n1 1 1 1 1 1 1 1\n", "2 layers have copies of experts, but 3 have tokens"),
            ("", "0 layers"),
        ] {
            says(text::read_copies(source(bytes.as_bytes()), &routing).unwrap_err(), message);
        }
    }
}
