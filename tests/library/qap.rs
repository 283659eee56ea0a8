//! Quadratic assignment problems: results compared with the definition and with enumeration.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use viem::base::observer::Observer;
use viem::base::rng::Rng;
use viem::base::types::Cost;
use viem::mapping::Mapping;
use viem::partition::{FixedError, FixedVertices};
use viem::qap::{
    Qap, QapConfig, QapError, QapMachine, QapRequest, QapSolution, QapSolveError, gilmore_lawler,
};
use viem::solve::MapPreset;
use viem_io::{Source, qap_solution, qaplib};
use viem_verify::audit_qap;

/// A random matrix of entries from `least` on; of `kind`: bit 0 symmetric, bit 1 no diagonal, bit 2 sparse.
fn matrix(n: usize, kind: u32, least: i64, rng: &mut Rng) -> Vec<i64> {
    let mut entries = vec![0; n * n];
    for i in 0..n {
        for j in 0..n {
            let is_zero = kind & 2 > 0 && i == j || kind & 4 > 0 && rng.below(3) > 0;
            let entry = if is_zero { 0 } else { least + i64::from(rng.below(20)) };
            entries[i * n + j] = if kind & 1 > 0 && j < i { entries[j * n + i] } else { entry };
        }
    }
    entries
}

/// J by definition.
fn cost(n: usize, a: &[i64], b: &[i64], place_of: &[u32]) -> i64 {
    let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    pairs.map(|(i, j)| a[i * n + j] * b[place_of[i] as usize * n + place_of[j] as usize]).sum()
}

/// The minimum of J over all assignments (Heap's algorithm).
fn least(n: usize, a: &[i64], b: &[i64]) -> i64 {
    fn go(count: usize, order: &mut Vec<u32>, visit: &mut dyn FnMut(&[u32])) {
        if count <= 1 {
            return visit(order);
        }
        for i in 0..count {
            go(count - 1, order, visit);
            order.swap(if count.is_multiple_of(2) { i } else { 0 }, count - 1);
        }
    }
    let mut least = i64::MAX;
    go(n, &mut (0..n as u32).collect(), &mut |order| least = least.min(cost(n, a, b, order)));
    least
}

/// The fast preset with less annealing and tabu search, since these small problems do not need more.
fn fast() -> QapConfig {
    let mut config = QapConfig::preset(MapPreset::Fast);
    let ways = config.ways.iter_mut().map(|way| &mut way.improvement);
    let quick = [&mut config.quick.first, &mut config.quick.child];
    for improvement in ways.chain([&mut config.first]).chain(quick) {
        improvement.rounds = improvement.rounds.min(20);
        improvement.iterations = improvement.iterations.min(200);
    }
    config
}

/// The settings of the fast preset with a change.
fn with(change: impl FnOnce(&mut QapConfig)) -> QapConfig {
    let mut config = fast();
    change(&mut config);
    config
}

/// A result is an assignment with the reported J, not worse than the identity, and not below its bound.
fn check(qap: &Qap, solution: &QapSolution) {
    let n = qap.size();
    let place_of = solution.mapping.pes();
    assert!(Mapping::from_pes(place_of.to_vec()).is_ok() && place_of.len() == n);
    assert_eq!(cost(n, qap.a(), qap.b(), place_of), solution.cost);
    assert!(solution.cost <= solution.cost_of_identity);
    assert!(solution.lower_bound.is_none_or(|bound| bound <= solution.cost));
}

#[test]
fn small_problems_of_every_kind_are_solved_to_optimality() {
    let mut rng = Rng::new(5);
    for case in 0..128u32 {
        let n = if case < 120 { 1 + case as usize % 7 } else { 8 };
        let least_entry = if case % 3 == 0 { -9 } else { 0 };
        let a = matrix(n, case % 8, least_entry, &mut rng);
        let b = matrix(n, case / 8 % 8, least_entry, &mut rng);
        let optimum = least(n, &a, &b);
        let qap = Qap::from_matrices(n, a, b).unwrap();
        assert!(gilmore_lawler(&qap) <= optimum, "case {case}");
        let solution = QapRequest::new(&qap).solve(&fast().with_seed(u64::from(case))).unwrap();
        check(&qap, &solution);
        assert_eq!((solution.cost, solution.is_optimal), (optimum, true), "case {case}");
        assert_eq!(solution.lower_bound.unwrap_or(optimum), optimum);
    }
}

#[test]
fn a_time_limit_replaces_the_limit_on_branches() {
    let mut rng = Rng::new(14);
    let qap = Qap::from_matrices(8, matrix(8, 0, -9, &mut rng), matrix(8, 0, -9, &mut rng)).unwrap();
    let few = with(|config| config.branches = 3);
    assert!(!QapRequest::new(&qap).solve(&few).unwrap().is_optimal);
    let solution = QapRequest::new(&qap).solve(&few.with_time_limit(Duration::from_secs(3600))).unwrap();
    assert!(solution.is_optimal && !solution.stopped);
    let cut_off = QapRequest::new(&qap).solve(&few.with_time_limit(Duration::from_nanos(1))).unwrap();
    assert!(cut_off.stopped && !cut_off.is_optimal);
    check(&qap, &cut_off);
}

#[test]
fn the_search_alone_finds_the_optimum_of_small_problems() {
    let mut rng = Rng::new(6);
    let config = with(|config| config.exact_size = 0);
    for case in 0..48u32 {
        let n = 2 + case as usize % 6;
        let (a, b) = (matrix(n, case % 8, -5, &mut rng), matrix(n, case / 8, -5, &mut rng));
        let optimum = least(n, &a, &b);
        let qap = Qap::from_matrices(n, a, b).unwrap();
        let solution = QapRequest::new(&qap).solve(&config).unwrap();
        check(&qap, &solution);
        assert_eq!(solution.cost, optimum, "case {case}");
    }
}

/// The problem of mapping a mesh of random weights to a machine that is the same mesh with shuffled vertices,
/// in which all other pairs are far apart. J is at least the sum of the weights, and that is reached.
fn hidden_mesh(width: usize, height: usize, rng: &mut Rng) -> (Qap, i64) {
    let n = width * height;
    let mut number: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut number);
    let (mut a, mut b) = (vec![0; n * n], vec![0; n * n]);
    for i in 0..n {
        for j in 0..i {
            let (dx, dy) = ((i % width).abs_diff(j % width), (i / width).abs_diff(j / width));
            let weight = if dx + dy == 1 { 1 + i64::from(rng.below(10)) } else { 0 };
            let far = if dx + dy == 1 { 1 } else { 2 + i64::from(rng.below(9)) };
            (a[i * n + j], a[j * n + i]) = (weight, weight);
            (b[number[i] * n + number[j]], b[number[j] * n + number[i]]) = (far, far);
        }
    }
    let sum = a.iter().sum();
    (Qap::from_matrices(n, a, b).unwrap(), sum)
}

#[test]
fn a_renumbered_mesh_is_found() {
    let mut rng = Rng::new(7);
    for (width, height) in [(3, 5), (7, 8), (10, 11), (1, 40), (16, 16)] {
        let (qap, optimum) = hidden_mesh(width, height, &mut rng);
        for qap in [&qap, &Qap::from_matrices(qap.size(), qap.b().to_vec(), qap.a().to_vec()).unwrap()] {
            let solution = QapRequest::new(qap).solve(&fast()).unwrap();
            check(qap, &solution);
            assert_eq!((solution.cost, solution.is_optimal), (optimum, true), "{width}x{height}");
        }
    }
}

/// Problems of medium size, one of each kind of matrices and numbers.
fn medium() -> Vec<Qap> {
    let mut rng = Rng::new(8);
    let factors = [1, 1, 1 << 20, 1 << 38];
    let problem = |kind: u32| {
        let factor = factors[kind as usize % 4];
        let a = matrix(18, kind, -3, &mut rng).into_iter().map(|entry| entry * factor + entry % 2);
        Qap::from_matrices(18, a.collect(), matrix(18, kind / 2 % 4, -3, &mut rng)).unwrap()
    };
    (0..8).map(problem).collect()
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for qap in medium() {
        let config = fast().with_seed(3);
        let one = QapRequest::new(&qap).solve(&config).unwrap();
        check(&qap, &one);
        for threads in [2, 3] {
            let other = QapRequest::new(&qap).solve(&config.with_threads(threads)).unwrap();
            assert_eq!((other.mapping, other.cost), (one.mapping.clone(), one.cost));
        }
        let target = one.cost + one.cost.abs() / 50;
        let reached = [1, 2].map(|threads| {
            let config = config.with_threads(threads).with_target(target);
            QapRequest::new(&qap).solve(&config).unwrap()
        });
        assert!(reached[0].cost <= target);
        assert_eq!(reached[0].mapping, reached[1].mapping);
    }
}

#[test]
fn generations_do_not_depend_on_the_number_of_threads() {
    for qap in medium().iter().take(2) {
        let config = with(|config| (config.population, config.children) = (4, 400)).with_seed(4);
        let [one, other] =
            [1, 3].map(|threads| QapRequest::new(qap).solve(&config.with_threads(threads)).unwrap());
        check(qap, &one);
        assert_eq!(one.mapping, other.mapping);
    }
}

#[test]
fn a_start_is_never_made_worse() {
    for qap in medium() {
        let best = QapRequest::new(&qap).solve(&fast()).unwrap();
        let config = with(|config| config.children = 0).with_seed(9);
        let again = QapRequest::new(&qap).start(&best.mapping).solve(&config).unwrap();
        assert_eq!(again.cost_of_start, Some(best.cost));
        assert!(again.cost <= best.cost);
        check(&qap, &again);
    }
}

/// Stops after a number of checks.
struct StopAfter(AtomicUsize);

impl Observer for StopAfter {
    fn should_stop(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn a_run_can_be_ended_at_any_point() {
    for qap in medium() {
        for questions in [0, 1, 2, 5, 20] {
            let stop = StopAfter(AtomicUsize::new(questions));
            let strong = QapConfig::preset(MapPreset::Strong).with_time_limit(Duration::from_secs(3600));
            let solution = QapRequest::new(&qap).observed(&stop).solve(&strong).unwrap();
            check(&qap, &solution);
            assert!(solution.stopped && !solution.is_optimal);
        }
    }
}

#[test]
fn a_time_limit_and_a_target_end_a_run() {
    let qap = &medium()[0];
    let begin = std::time::Instant::now();
    let limited = fast().with_time_limit(Duration::from_millis(50)).with_threads(2);
    check(qap, &QapRequest::new(qap).solve(&limited).unwrap());
    // A target that is reached at once, under a limit of an hour.
    let target = fast().with_time_limit(Duration::from_secs(3600)).with_target(i64::MAX / 1000);
    check(qap, &QapRequest::new(qap).solve(&target).unwrap());
    assert!(begin.elapsed() < Duration::from_secs(600));
}

/// A torus of this number of vertices, shuffled, and sparse asymmetric traffic.
fn traffic_on_a_torus(width: usize, height: usize, rng: &mut Rng) -> Qap {
    let n = width * height;
    let mut number: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut number);
    let gap = |a: usize, b: usize, length: usize| a.abs_diff(b).min(length - a.abs_diff(b));
    let hops = |i: usize, j: usize| gap(i % width, j % width, width) + gap(i / width, j / width, height);
    let (mut a, mut b) = (vec![0; n * n], vec![0; n * n]);
    for i in 0..n {
        for j in 0..n {
            b[number[i] * n + number[j]] = 5 * hops(i, j) as i64;
        }
        for _ in 0..2 {
            let near = (i + 1 + rng.below(20) as usize) % n;
            a[i * n + near] += 1 + i64::from(rng.below(9));
        }
    }
    Qap::from_matrices(n, a, b).unwrap()
}

/// Records the smallest J that it was notified of.
struct Least(AtomicI64);

impl Observer for Least {
    fn reached(&self, cost: i64) {
        assert!(cost <= self.0.swap(cost, Ordering::Relaxed));
    }
}

#[test]
fn problems_on_machines_are_mapped() {
    let mut rng = Rng::new(12);
    let config = with(|config| config.children = 0).with_seed(3);
    // The second is too large for a table of all exchanges.
    for (width, height) in [(10, 12), (27, 30)] {
        let qap = traffic_on_a_torus(width, height, &mut rng);
        let least = Least(AtomicI64::new(i64::MAX));
        let solution = QapRequest::new(&qap).observed(&least).solve(&config).unwrap();
        check(&qap, &solution);
        assert_eq!(least.0.into_inner(), solution.cost);
        let again = QapRequest::new(&qap).solve(&config.with_threads(2)).unwrap();
        assert_eq!(again.mapping, solution.mapping);
        // Within a time limit, a target ends the mapping too.
        let hour =
            config.with_time_limit(Duration::from_secs(3600)).with_target(solution.cost_of_identity / 2);
        check(&qap, &QapRequest::new(&qap).solve(&hour).unwrap());
        // The identity reaches the target.
        let met = QapRequest::new(&qap).solve(&config.with_target(solution.cost_of_identity)).unwrap();
        assert_eq!(met.cost, met.cost_of_identity);
    }
}

#[test]
fn either_matrix_may_hold_the_distances() {
    let qap = traffic_on_a_torus(10, 10, &mut Rng::new(13));
    let exchanged = Qap::from_matrices(100, qap.b().to_vec(), qap.a().to_vec()).unwrap();
    let config = with(|config| config.children = 0);
    for (qap, matrix) in [(&qap, 'B'), (&exchanged, 'A')] {
        let machine = QapMachine::of(qap).unwrap();
        assert_eq!((machine.matrix, machine.factor, machine.is_mapped), (matrix, 5, true));
        assert!(machine.machine.starts_with("torus of"), "{machine:?}");
        let [with, without] =
            [config, config.with_machine(None)].map(|config| QapRequest::new(qap).solve(&config).unwrap());
        check(qap, &with);
        assert!(with.cost <= without.cost, "{matrix}: {} {}", with.cost, without.cost);
    }
}

#[test]
fn costs_beyond_64_bits_are_rejected() {
    let large = |entry: i64| Qap::from_matrices(2, vec![entry; 4], vec![1, 2, 3, 4]);
    assert!(matches!(large(i64::MAX / 16), Err(QapError::Overflow { .. })));
    assert!(matches!(large(i64::MIN), Err(QapError::Overflow { .. })));
    assert!(large(1 << 50).is_ok());
    let zeros = Qap::from_matrices(2, vec![0; 4], vec![i64::MIN; 4]);
    assert!(matches!(zeros, Err(QapError::Overflow { .. })));
    assert!(matches!(Qap::from_matrices(2, vec![0; 3], vec![0; 4]), Err(QapError::Size { .. })));
    assert!(matches!(Qap::from_matrices(1 << 17, vec![], vec![]), Err(QapError::TooLarge { .. })));
}

#[test]
fn problems_without_a_choice_are_solved() {
    for (n, a, b, cost) in
        [(0, vec![], vec![], 0), (1, vec![-3], vec![4], -12), (3, vec![0; 9], vec![5; 9], 0)]
    {
        let solution =
            QapRequest::new(&Qap::from_matrices(n, a, b).unwrap()).solve(&QapConfig::default()).unwrap();
        assert_eq!((solution.cost, solution.is_optimal), (cost, true));
    }
}

#[test]
fn settings_out_of_range_are_rejected() {
    let qap = &medium()[0];
    let too_cold = with(|config| config.ways[2].improvement.cold = 2.0);
    assert!(QapRequest::new(qap).solve(&too_cold).unwrap_err().to_string().contains("ways.2.cold"));
    let too_cold = with(|config| config.quick.child.cold = 2.0);
    assert!(QapRequest::new(qap).solve(&too_cold).unwrap_err().to_string().contains("quick.child.cold"));
    assert!(QapRequest::new(qap).solve(&with(|config| config.population = 1)).is_err());
    assert!(QapRequest::new(qap).solve(&fast().with_threads(0)).is_err());
    let start = Mapping::identity(3);
    assert!(QapRequest::new(qap).start(&start).solve(&fast()).is_err());
}

#[test]
fn files_and_the_auditor_agree() {
    let mut rng = Rng::new(10);
    for case in 0..20u32 {
        let n = 1 + case as usize % 6;
        let (a, b) = (matrix(n, case % 8, -4, &mut rng), matrix(n, case / 8, -4, &mut rng));
        let text = |entries: &[i64]| entries.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
        let head = if case % 2 == 0 { format!("{n}") } else { format!("{n} 77") };
        let file = format!("{head}\n{}\n\n{}\n", text(&a), text(&b));
        let read = qaplib::read(Source::new("test", file.as_bytes()).unwrap()).unwrap();
        assert_eq!((read.size, &read.a, &read.b), (n, &a, &b));
        let qap = Qap::from_matrices(n, a, b).unwrap();
        let solution = QapRequest::new(&qap).solve(&fast()).unwrap();
        let mut written = Vec::new();
        qap_solution::write(&mut written, solution.mapping.pes(), solution.cost).unwrap();
        let back = qap_solution::read(Source::new("test", &written[..]).unwrap(), n).unwrap();
        assert_eq!((&back.order[..], back.claimed), (solution.mapping.pes(), Some(solution.cost)));
        let audited = audit_qap(&file, std::str::from_utf8(&written).unwrap());
        assert_eq!(audited, Ok(i128::from(solution.cost)));
    }
}

/// Some objects at places of their own.
fn random_fixed(n: usize, count: usize, rng: &mut Rng) -> FixedVertices {
    let mut objects: Vec<u32> = (0..n as u32).collect();
    let mut places = objects.clone();
    rng.shuffle(&mut objects);
    rng.shuffle(&mut places);
    let mut fixed = FixedVertices::none(n, n);
    objects.iter().zip(&places).take(count).for_each(|(&object, &place)| fixed.fix(object, place).unwrap());
    fixed
}

/// The least J over all assignments with fixed objects at their places.
fn optimum_around(qap: &Qap, fixed: &FixedVertices, place_of: &mut Vec<u32>) -> Cost {
    let object = place_of.len();
    if object == qap.size() {
        return qap.cost(place_of);
    }
    let mut least = Cost::MAX;
    for place in 0..qap.size() as u32 {
        if !place_of.contains(&place) && fixed.of(object as u32).is_none_or(|own| own == place) {
            place_of.push(place);
            least = least.min(optimum_around(qap, fixed, place_of));
            place_of.pop();
        }
    }
    least
}

fn random_problem(n: usize, is_symmetric: bool, rng: &mut Rng) -> Qap {
    let mut matrix = |least: i64| {
        let mut entries: Vec<i64> = (0..n * n).map(|_| i64::from(rng.below(30)) + least).collect();
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|_| is_symmetric) {
            entries[i * n + j] = entries[j * n + i];
        }
        entries
    };
    Qap::from_matrices(n, matrix(-5), matrix(0)).unwrap()
}

#[test]
fn the_optimum_around_fixed_objects_is_found_and_proved() {
    let mut rng = Rng::new(31);
    for n in [1, 2, 5, 7] {
        for count in 0..=n {
            let qap = random_problem(n, count % 2 == 0, &mut rng);
            let fixed = random_fixed(n, count, &mut rng);
            let solution = QapRequest::new(&qap).fixed(&fixed).solve(&QapConfig::default()).unwrap();
            assert_eq!(fixed.violated_by(solution.mapping.pes()), None, "{n} {count}");
            assert_eq!(solution.cost, qap.cost(solution.mapping.pes()));
            assert_eq!(solution.cost, optimum_around(&qap, &fixed, &mut Vec::new()), "{n} {count}");
            assert!(solution.is_optimal && solution.lower_bound.is_none_or(|bound| bound <= solution.cost));
        }
    }
}

#[test]
fn searches_leave_fixed_objects_and_are_not_worse_than_the_identity_around_them() {
    let mut rng = Rng::new(32);
    for (n, count) in [(20, 1), (24, 12), (24, 22), (24, 23), (24, 24)] {
        for preset in [MapPreset::Fast, MapPreset::Eco] {
            let qap = random_problem(n, count % 2 == 1, &mut rng);
            let fixed = random_fixed(n, count, &mut rng);
            let mut config = fast();
            config.children = QapConfig::preset(preset).children / 4;
            let solution = QapRequest::new(&qap).fixed(&fixed).solve(&config).unwrap();
            assert_eq!(fixed.violated_by(solution.mapping.pes()), None, "{n} {count}");
            assert_eq!(solution.cost, qap.cost(solution.mapping.pes()));
            let mut left = (0..n as u32).filter(|&place| fixed.iter().all(|(_, own)| own != place));
            let identity: Vec<u32> =
                (0..n as u32).map(|object| fixed.of(object).or_else(|| left.next()).unwrap()).collect();
            assert_eq!(solution.cost_of_identity, qap.cost(&identity));
            assert!(solution.cost <= solution.cost_of_identity);
            let threads = QapRequest::new(&qap).fixed(&fixed).solve(&config.with_threads(3)).unwrap();
            assert_eq!(threads.mapping, solution.mapping);
            let request = QapRequest::new(&qap).start(&solution.mapping).fixed(&fixed);
            let again = request.solve(&config.with_seed(5)).unwrap();
            assert!(again.cost <= solution.cost);
            // No exchange of two free objects gains.
            let mut place_of = solution.mapping.pes().to_vec();
            let free: Vec<usize> = (0..n).filter(|&object| fixed.of(object as u32).is_none()).collect();
            for (index, &i) in free.iter().enumerate() {
                for &j in &free[..index] {
                    place_of.swap(i, j);
                    assert!(qap.cost(&place_of) >= solution.cost, "{n} {count}");
                    place_of.swap(i, j);
                }
            }
        }
    }
}

/// Sparse problems are mapped to the machine that either matrix is.
#[test]
fn fixed_objects_stay_when_a_problem_is_mapped_to_a_machine() {
    let mut rng = Rng::new(33);
    let n = 64;
    let mut flows = vec![0; n * n];
    for (u, v) in crate::common::random_edges(n, 80, &mut rng) {
        let weight = i64::from(rng.below(9)) + 1;
        (flows[u as usize * n + v as usize], flows[v as usize * n + u as usize]) = (weight, weight);
    }
    let at = |k: usize| [(k % 8) as i64, (k / 8) as i64];
    let distance = |k: usize, l: usize| (at(k)[0] - at(l)[0]).abs() + (at(k)[1] - at(l)[1]).abs();
    let distances: Vec<i64> = (0..n * n).map(|entry| distance(entry / n, entry % n)).collect();
    let (flows_first, distances_first) = ((flows.clone(), distances.clone()), (distances, flows));
    for ((a, b), counts) in [(flows_first, &[20][..]), (distances_first, &[1, 63])] {
        let qap = Qap::from_matrices(n, a, b).unwrap();
        assert!(QapMachine::of(&qap).unwrap().is_mapped);
        for &count in counts {
            let fixed = random_fixed(n, count, &mut rng);
            let config = QapConfig::preset(MapPreset::Fast);
            let solution = QapRequest::new(&qap).fixed(&fixed).solve(&config).unwrap();
            assert_eq!(fixed.violated_by(solution.mapping.pes()), None);
            assert_eq!(solution.cost, qap.cost(solution.mapping.pes()));
        }
    }
}

#[test]
fn contradictory_fixed_objects_are_refused() {
    let qap = random_problem(4, true, &mut Rng::new(34));
    let request = QapRequest::new(&qap);
    let refused = |request: QapRequest<'_>| match request.solve(&fast()).unwrap_err() {
        QapSolveError::Fixed(error) => error,
        error => panic!("{error}"),
    };
    let twice = FixedVertices::new(&[Some(1), None, Some(1), None], 4).unwrap();
    assert_eq!(refused(request.fixed(&twice)), FixedError::PeTaken { process: 2, pe: 1, earlier: 0 });
    let long = FixedVertices::none(5, 4);
    assert_eq!(refused(request.fixed(&long)), FixedError::Vertices { found: 5, expected: 4 });
    let start = Mapping::identity(4);
    let fixed = FixedVertices::new(&[None, None, None, Some(0)], 4).unwrap();
    let refusal = refused(request.start(&start).fixed(&fixed));
    assert_eq!(refusal, FixedError::Contradicted { process: 3, expected: 0, found: 3 });
}
