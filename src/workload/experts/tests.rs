//! Costs against their definition, searches against enumeration.

use super::copies::{experts, loads};
use super::domains::Domains;
use super::search::Search;
use super::sets::CopySets;
use super::*;
use crate::ground::rng::Rng;
use crate::ground::types::{Distance, PeId};
use crate::machine::{DistanceOracle, DistanceVisitor, Distances, distances_of};

const MACHINES: [(&str, &str); 4] = [("2:2", "1:10"), ("4:2", "1:10"), ("2:2:2", "1:5:30"), ("1:8", "1:3")];

fn machine((spec, distances): (&str, &str)) -> impl Machine {
    crate::machine::build(spec, Some(distances), None).unwrap()
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

struct Ask(PeId, PeId);

impl DistanceVisitor for Ask {
    type Output = Distance;
    fn visit<O: DistanceOracle>(self, oracle: &O) -> Distance {
        oracle.distance(self.0, self.1)
    }
}

/// The length of a minimum spanning tree of some PEs, by Prim.
fn spanning_tree(distances: &Distances, pes: &[PeId]) -> Distance {
    let (mut inside, mut outside) = (vec![pes[0]], pes[1..].to_vec());
    let mut length = 0;
    while !outside.is_empty() {
        let nearest = |&pe: &PeId| inside.iter().map(|&other| distances.visit(Ask(pe, other))).min().unwrap();
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
    let nodes = crate::machine::Nodes::of(machine);
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
        let machine = machine(spec);
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
        let machine = machine(spec);
        let domains = Domains::of(&machine).unwrap();
        let routing = random(16, 1, 60, &mut rng);
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
    for (number, spec) in
        [("2:2", "1:10"), ("2:2", "3:4"), ("1:4", "1:7")].into_iter().cycle().take(9).enumerate()
    {
        let machine = machine(spec);
        let routing = random(8, 1, 40, &mut rng);
        let copies = ExpertCopies::single(&routing);
        for imbalance in [0.0, 0.1, 10.0] {
            let config = ExpertConfig::default().with_seed(number as u64).with_imbalance(imbalance);
            let found = place_experts(&routing, &copies, &machine, &config, &()).unwrap();
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
    let machine = machine(("4:4", "1:10"));
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
    let found = place_experts(&routing, &copies, &machine, &config, &()).unwrap();
    // Each token enters the node of its group, unless it is there.
    assert!(is_near(found.score.across_nodes, 2000.0 * 0.75), "{}", found.score.across_nodes);
    let numbers = ExpertPlacement::in_order(&routing, &copies).unwrap();
    assert!(
        score_experts(&routing, &numbers, &machine).unwrap().across_nodes > 1.5 * found.score.across_nodes
    );
    for threads in [2, 3] {
        let again = place_experts(&routing, &copies, &machine, &config.with_threads(threads), &()).unwrap();
        assert_eq!(again.placement, found.placement);
    }
}

#[test]
fn a_time_limit_ends_the_search_and_further_rounds_are_never_worse() {
    let mut rng = Rng::new(6);
    let machine = machine(("4:4", "1:10"));
    let routing = random(32, 2, 400, &mut rng);
    let copies = ExpertCopies::single(&routing);
    let config = ExpertConfig { proposals: 20, ..ExpertConfig::default() };
    let place = |limit: Option<Duration>| {
        place_experts(&routing, &copies, &machine, &config.with_time_limit(limit), &()).unwrap()
    };
    let (at_once, without) = (place(Some(Duration::ZERO)), place(None));
    let by_load = place_by_load(&routing, &copies, &machine).unwrap();
    assert_eq!(at_once.placement, by_load);
    let long = place(Some(Duration::from_secs(1)));
    assert!(long.score.cost < without.score.cost && without.score.cost < at_once.score.cost);
    for (loads, even) in long.score.loads.iter().zip(&at_once.score.loads) {
        assert!(loads.greatest <= even.greatest.max(loads.mean * (1.0 + config.imbalance)));
    }
    // Where no placement is better than another one, the search ends before the time is over.
    let single = crate::machine::build("1:1", Some("1:5"), None).unwrap();
    let begin = Instant::now();
    place_experts(&routing, &copies, &single, &config.with_time_limit(Duration::from_secs(1000)), &())
        .unwrap();
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
    let machine = machine(("2:2", "1:10"));
    let given = ExpertCopies::given(&routing, vec![vec![1, 4, 2, 1]]).unwrap();
    let found =
        place_experts(&routing, &given, &machine, &ExpertConfig::default().with_imbalance(0.0), &()).unwrap();
    assert_eq!(found.placement.copies(), given);
    assert!(found.score.worst_ratio() < 1.2, "{}", found.score.worst_ratio());
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
        place_experts(&routing, copies, machine, &ExpertConfig::default(), &()).map(|found| found.score)
    };
    let single = ExpertCopies::single(&routing);
    let error = place(&machine(("3:2", "1:10")), &single).unwrap_err();
    assert!(matches!(error, ExpertError::Indivisible { copies: 4, pes: 6, fitting: 2 }));
    let large = machine(("1024:1024", "1:10"));
    let numbers = ExpertPlacement::in_order(&routing, &single).unwrap();
    let error = score_experts(&routing, &numbers, &large).unwrap_err();
    assert!(matches!(error, ExpertError::Indivisible { copies: 4, .. }));
    let ring = crate::machine::build("torus:4", None, None).unwrap();
    let error = place(&ring, &single).unwrap_err();
    // Opposite PEs of the ring are at distance 2, but each is at distance 1 of those between.
    assert!(
        matches!(error, ExpertError::NoTree { pes: [2, 0, 1] | [0, 2, 1], distances: [2, 1, 1] }),
        "{error}"
    );
    assert!(
        error.to_string().contains("are at distance 2, but 1 is at distances 1 and 1 from them"),
        "{error}"
    );
    let far = machine(("2:2", "1:1000000"));
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

#[cfg(feature = "io")]
mod files {
    use super::*;
    use crate::io::Source;

    fn source(bytes: &[u8]) -> Source<'_> {
        Source::new("trace", bytes).unwrap()
    }

    fn sets(routing: &ExpertRouting, layer: usize) -> Vec<(Vec<u32>, u64)> {
        routing.layer(layer).sets().map(|(set, tokens)| (set.to_vec(), tokens)).collect()
    }

    /// An array of bytes as NumPy writes it.
    fn npy(shape: &str, is_by_column: bool, entries: &[i8]) -> Vec<u8> {
        let order = if is_by_column { "True" } else { "False" };
        let header = format!("{{'descr': '|i1', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.bytes());
        file.extend(entries.iter().map(|&entry| entry as u8));
        file
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
            fields.extend([0; 4]);
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
        let expected = text::read_routing(source(text.as_bytes()), 4).unwrap();
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
            assert_eq!(text::read_routing(source(&bytes), 4).unwrap(), expected);
        }
        for (bytes, plain) in [(npz(&[("arr_0.npy", &array)], true), &array), (array.clone(), &array)] {
            assert_eq!(&crate::io::expert_trace::unpacked(source(&bytes)).unwrap(), plain);
        }
        let single = text::read_routing(source(&npy("(2, 1)", false, &[3, 3])), 4).unwrap();
        assert_eq!((single.num_layers(), sets(&single, 0)), (1, vec![(vec![3], 2)]));
    }

    #[test]
    fn pairs_are_read_with_their_loads() {
        let text = "9 2 0\n2 5 1\n0 1 7\n0 4 0\n4 0 0\n0 0 0\n";
        let routing = text::read_routing(source(text.as_bytes()), 3).unwrap();
        assert_eq!(sets(&routing, 0), [(vec![0, 1], 2), (vec![1, 2], 1)]);
        assert_eq!(routing.layer(0).loads(), [9, 5, 7]);
        assert_eq!((sets(&routing, 1), routing.layer(1).loads()), (vec![(vec![0, 1], 4)], &[0, 0, 0][..]));
        let array = npy("(3, 3)", false, &[0, 2, 0, 2, 0, 1, 0, 1, 0]);
        let routing = text::read_routing(source(&array), 3).unwrap();
        assert_eq!(routing.layer(0).loads(), [2, 3, 1]);
    }

    #[test]
    fn faults_of_traces_have_their_place() {
        let array = npy("(2, 2, 2)", false, &[0, 1, 1, 2, 3, 1, 0, 3]);
        let two = npz(&[("a.npy", &array), ("b.npy", &array)], false);
        let stored = npz(&[("a.npy", &array)], false);
        let error = crate::io::expert_trace::unpacked(source(&two)).unwrap_err().to_string();
        assert!(error.contains("trace, line 1, column 1: the archive holds several arrays"), "{error}");
        for (bytes, message) in [
            (&b"0,1,2\n0,1,9\n"[..], "trace, line 2, column 5: `9` "),
            (b"0 1 2\n0 x 2\n", "trace, line 2, column 3: `x` "),
            (b"0 1 2\n5000 1 2\n", "trace, line 2, column 1: `5000` "),
            (b"0 1 1\n", "trace, line 1, column 1: a token has expert 1 twice"),
            (b"", "there is no layer"),
            (b"1 2 3 4\n2 1 3 4\n", "the last layer has 2 rows of pairs instead of 4"),
            (b"1 2 3 4\n2 1 3\n", "line 2, column 1: the line has 3 numbers"),
            (b"1 2 3 4\n2 1 3 4\n3 3 1 4\n4 4 5 1\n", "experts 2 and 3 have other numbers"),
            (&npy("(2, 2, 9)", false, &[0; 36]), "an array of 2 x 2 x 9 is no trace of 4 experts"),
            (&npy("(2,)", false, &[0; 2]), "an array of 2 is no trace"),
            (&npy("(2, 2, 2)", false, &[0; 7]), "an entry of the array is missing"),
            (&npy("(1, 1, 2)", false, &[0; 7]), "what follows the last entry"),
            (&npy("(1, 2, 2)", false, &[0, 1, 1, -3]), "layer 0, row 1, column 1: `-3` is not"),
            (&npy("(1, 2, 2)", false, &[0, 1, 1, 4]), "layer 0, token 1: the expert 4 does not exist"),
            (&npy("(9999999, 99999, 2)", false, &[0; 3]), "is no trace of 4 experts"),
            (&two, "the archive holds several arrays, a.npy, b.npy"),
            (&npz(&[("a.txt", b"")], false), "it has no array"),
            (&stored[..40], "it has no list of its members"),
            (&stored[stored.len() - 40..], "trace, line 1"),
        ] {
            let error = text::read_routing(source(bytes), 4).unwrap_err().to_string();
            assert!(error.contains(message), "{error} / {message}");
        }
        assert!(
            text::read_routing(source(b"0 1"), 1 << 20).unwrap_err().to_string().contains("from 1 to 4096")
        );
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
            let error = text::read_placement(source(bytes.as_bytes()), 2).unwrap_err().to_string();
            assert!(error.contains(message), "{error} / {message}");
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
            let error = text::read_copies(source(bytes.as_bytes()), &routing).unwrap_err().to_string();
            assert!(error.contains(message), "{error} / {message}");
        }
    }
}
