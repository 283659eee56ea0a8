//! Processes that must be on given PEs: every construction, neighbourhood and preset leaves them there.

use crate::common::{Family, StopAfter, families, pattern_machines, random_graph, shuffled, small_families};
use viem::base::rng::Rng;
use viem::base::types::{Cost, NodeId, PeId};
use viem::graph::{CsrGraph, generate};
use viem::machine::{Grid, Hierarchy, Machine};
use viem::mapping::Mapping;
use viem::mapping::construct::Construction;
use viem::mapping::search::Neighbourhood;
use viem::partition::{FixedError, FixedVertices};
use viem::solve::{Config, Initial, MapPreset, PreparedMachine, Request, Solution, SolveError};

/// Short settings of a preset: the tests do not depend on the quality of mappings.
fn brief(preset: MapPreset) -> Config {
    let mut config = Config::preset(preset);
    config.one_to_one.improvement.anywhere.cooling.proposals = 20;
    config.one_to_one.improvement.rebuilding = config.one_to_one.improvement.rebuilding.min(40);
    config.one_to_one.construction.multilevel.cooling.proposals = 40;
    config.one_to_one.construction.multilevel.tries = 2;
    config.one_to_one.improvement.small_instance.children = 4;
    config.one_to_one.constructions.anywhere = 1;
    config
}

/// This number of processes on PEs with room for them, at random.
fn random_fixed(machine: &dyn Machine, num_processes: usize, count: usize, rng: &mut Rng) -> FixedVertices {
    let mut processes: Vec<NodeId> = (0..num_processes as NodeId).collect();
    let mut places: Vec<PeId> = (0..machine.num_pes() as PeId)
        .flat_map(|pe| std::iter::repeat_n(pe, machine.capacity(pe) as usize))
        .collect();
    rng.shuffle(&mut processes);
    rng.shuffle(&mut places);
    let mut fixed = FixedVertices::none(num_processes, machine.num_pes());
    for (&process, &pe) in processes.iter().zip(&places).take(count) {
        fixed.fix(process, pe).unwrap();
    }
    fixed
}

/// One, a few, half, all but two, and all.
fn counts(num_processes: usize) -> Vec<usize> {
    let mut counts = vec![1, 3, num_processes / 2, num_processes.saturating_sub(2), num_processes];
    counts.retain(|&count| count > 0 && count <= num_processes);
    counts.dedup();
    counts
}

/// The identity around fixed processes, by definition.
fn identity_around(machine: &dyn Machine, fixed: &FixedVertices) -> Vec<PeId> {
    let mut left: Vec<u32> = (0..machine.num_pes() as PeId).map(|pe| machine.capacity(pe)).collect();
    fixed.iter().for_each(|(_, pe)| left[pe as usize] -= 1);
    let mut next = 0;
    let place = |process| {
        fixed.of(process).unwrap_or_else(|| {
            while left[next] == 0 {
                next += 1;
            }
            left[next] -= 1;
            next as PeId
        })
    };
    (0..fixed.num_vertices() as NodeId).map(place).collect()
}

fn solved(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &Config,
    fixed: Option<&FixedVertices>,
) -> Result<Solution, SolveError> {
    Request::new(graph, &PreparedMachine::new(machine)).fixed(fixed).solve(config)
}

/// Asserts that a solution respects fixed processes, has its cost and is no worse than the identity around them.
fn check(family: &Family, graph: &CsrGraph, fixed: &FixedVertices, solution: &Solution, context: &str) {
    let Solution { mapping, report, .. } = solution;
    assert_eq!(fixed.violated_by(mapping.pes()), None, "{context}");
    Mapping::on(&*family.machine, mapping.pes().to_vec()).unwrap();
    assert_eq!(i128::from(report.cost), family.cost(graph, mapping.pes()), "{context}");
    let identity = family.cost(graph, &identity_around(&*family.machine, fixed));
    assert_eq!(i128::from(report.cost_of_identity), identity, "{context}");
    assert!(report.cost <= report.cost_of_identity, "{context}");
}

/// Returns whether a construction works on a machine.
fn is_possible(construction: Construction, family: &Family) -> bool {
    family.is_tree || ![Construction::HierarchyBottomUp, Construction::TreeMatch].contains(&construction)
}

#[test]
fn every_construction_and_neighbourhood_leaves_fixed_processes() {
    let mut rng = Rng::new(11);
    for (parity, family) in families(&mut rng).into_iter().enumerate() {
        let places = family.num_places();
        // Each second count on each machine.
        for (index, count) in counts(places).into_iter().enumerate().skip(parity % 2).step_by(2) {
            let n = places - if count < places / 2 { places / 5 } else { 0 };
            let graph = random_graph(n, 4, 9, &mut rng);
            let fixed = random_fixed(&*family.machine, n, count, &mut rng);
            for (number, construction) in Construction::ALL.into_iter().enumerate() {
                if !is_possible(construction, &family) {
                    continue;
                }
                let neighbourhood = Neighbourhood::ALL[(number + index) % Neighbourhood::ALL.len()];
                let config = brief(MapPreset::Fast)
                    .with_construction(construction)
                    .with_neighbourhood(neighbourhood)
                    .with_seed(index as u64);
                let context = format!("{} {construction} {neighbourhood} {count} of {n}", family.name);
                let solution = solved(&graph, &*family.machine, &config, Some(&fixed)).unwrap();
                check(&family, &graph, &fixed, &solution, &context);
                let threads =
                    solved(&graph, &*family.machine, &config.with_threads(3), Some(&fixed)).unwrap();
                assert_eq!(threads.mapping, solution.mapping, "{context}");
            }
        }
    }
}

#[test]
fn every_preset_leaves_fixed_processes_and_starts_are_not_made_worse() {
    let mut rng = Rng::new(12);
    for (number, family) in families(&mut rng).into_iter().enumerate() {
        let n = family.num_places();
        let graph = random_graph(n, 6, 9, &mut rng);
        // The best mappings take their time.
        let presets =
            MapPreset::ALL.into_iter().filter(|&preset| preset != MapPreset::Strong || number % 3 == 0);
        for preset in presets {
            let fixed = random_fixed(&*family.machine, n, n.div_ceil(3), &mut rng);
            let config = brief(preset);
            let context = format!("{} {preset}", family.name);
            let first = solved(&graph, &*family.machine, &config, Some(&fixed)).unwrap();
            check(&family, &graph, &fixed, &first, &context);
            let again =
                solved!(&graph, &*family.machine, &config.with_seed(9), start(&first.mapping), fixed(&fixed));
            check(&family, &graph, &fixed, &again, &context);
            assert!(again.report.cost <= first.report.cost, "{context}");
            assert_eq!(again.report.cost_of_start, Some(first.report.cost), "{context}");
        }
    }
}

/// The least J over all mappings that respect fixed processes, each recomputed.
fn optimum(family: &Family, graph: &CsrGraph, fixed: &FixedVertices) -> i128 {
    fn least(
        (family, graph): (&Family, &CsrGraph),
        fixed: &FixedVertices,
        left: &mut [u32],
        pe_of: &mut Vec<PeId>,
    ) -> i128 {
        let process = pe_of.len();
        if process == graph.num_nodes() {
            return family.cost(graph, pe_of);
        }
        let mut best = i128::MAX;
        for pe in 0..left.len() {
            let is_own = fixed.of(process as NodeId).is_none_or(|own| own as usize == pe);
            if left[pe] > 0 && is_own {
                left[pe] -= 1;
                pe_of.push(pe as PeId);
                best = best.min(least((family, graph), fixed, left, pe_of));
                pe_of.pop();
                left[pe] += 1;
            }
        }
        best
    }
    let pes = 0..family.machine.num_pes() as PeId;
    let mut left: Vec<u32> = pes.map(|pe| family.machine.capacity(pe)).collect();
    least((family, graph), fixed, &mut left, &mut Vec::new())
}

#[test]
fn nothing_is_better_than_the_optimum_around_fixed_processes_and_it_is_found() {
    let mut rng = Rng::new(13);
    for family in small_families(&mut rng) {
        let places = family.num_places();
        for count in counts(places.min(6)) {
            let n = places.min(6);
            let graph = random_graph(n, 3, 9, &mut rng);
            let fixed = random_fixed(&*family.machine, n, count, &mut rng);
            let expected = optimum(&family, &graph, &fixed);
            let solution = solved(&graph, &*family.machine, &Config::default(), Some(&fixed)).unwrap();
            assert_eq!(i128::from(solution.report.cost), expected, "{} {count} of {n}", family.name);
        }
    }
}

/// No exchange of two free processes gains after a search of all pairs.
#[test]
fn searches_end_in_local_optima_of_the_free_processes() {
    let mut rng = Rng::new(14);
    for family in families(&mut rng) {
        let n = family.num_places();
        let graph = random_graph(n, 5, 9, &mut rng);
        let fixed = random_fixed(&*family.machine, n, n / 2, &mut rng);
        for neighbourhood in [Neighbourhood::NSquare, Neighbourhood::Communication] {
            let mut config = brief(MapPreset::Fast)
                .with_construction(Construction::Random)
                .with_neighbourhood(neighbourhood);
            config.one_to_one.search.max_hops = n.max(1);
            config.one_to_one.improvement.annealing.proposals = 0;
            config.one_to_one.improvement.rebuilding = 0;
            let solution = solved(&graph, &*family.machine, &config, Some(&fixed)).unwrap();
            let mut pe_of = solution.mapping.pes().to_vec();
            let free: Vec<usize> = (0..n).filter(|&process| fixed.of(process as NodeId).is_none()).collect();
            for (index, &u) in free.iter().enumerate() {
                for &v in &free[..index] {
                    if graph.degree(u as NodeId) == 0 || graph.degree(v as NodeId) == 0 {
                        continue;
                    }
                    pe_of.swap(u, v);
                    let cost = family.cost(&graph, &pe_of);
                    assert!(cost >= i128::from(solution.report.cost), "{} {neighbourhood}", family.name);
                    pe_of.swap(u, v);
                }
            }
        }
    }
}

#[test]
fn fixed_processes_stay_when_a_run_is_stopped() {
    let mut rng = Rng::new(15);
    for family in families(&mut rng) {
        let n = family.num_places();
        let graph = random_graph(n, 4, 9, &mut rng);
        let fixed = random_fixed(&*family.machine, n, n.div_ceil(2), &mut rng);
        for (number, construction) in Construction::ALL.into_iter().enumerate() {
            if !is_possible(construction, &family) {
                continue;
            }
            let config = brief(MapPreset::Fast).with_construction(construction);
            let stop = StopAfter::questions(1 << (number % 6));
            let solution = Request::new(&graph, &PreparedMachine::new(&*family.machine))
                .fixed(&fixed)
                .observed(&stop)
                .solve(&config)
                .unwrap();
            check(&family, &graph, &fixed, &solution, &format!("{} {construction}", family.name));
        }
    }
}

/// Processes that are fixed as in an optimum leave the optimum in reach.
#[test]
fn patterns_are_still_mapped_perfectly_around_processes_of_an_optimum() {
    let mut rng = Rng::new(16);
    for (name, machine, pattern) in pattern_machines() {
        let graph = shuffled(&pattern, 1, &mut rng);
        let free = solved(&graph, &*machine, &Config::default(), None).unwrap();
        let n = graph.num_nodes();
        let mut fixed = FixedVertices::none(n, machine.num_pes());
        for process in (0..n as NodeId).filter(|process| process % 2 == 0) {
            fixed.fix(process, free.mapping.pe_of(process)).unwrap();
        }
        let around = solved(&graph, &*machine, &Config::default(), Some(&fixed)).unwrap();
        let (best, cost) = (free.report.cost as f64, around.report.cost as f64);
        assert!(cost <= 1.02 * best, "{name}: {cost} {best}");
    }
}

/// Half of the processes are where a good mapping has them: the result is about as good as that.
#[test]
fn multilevel_constructions_see_fixed_processes() {
    let mesh = generate::mesh(32, 16, 3);
    let machines: [(&str, Box<dyn Machine>); 2] = [
        ("tree", Box::new(Hierarchy::parse("4:4:4:8", "1:5:20:100").unwrap())),
        ("torus", Box::new(Grid::torus(&[8, 8, 8]).unwrap())),
    ];
    for (name, machine) in machines {
        let config = Config::default();
        let good = solved(&mesh, &*machine, &config, None).unwrap();
        let mut fixed = FixedVertices::none(512, 512);
        for process in (0..512).filter(|process| process % 2 == 1) {
            fixed.fix(process, good.mapping.pe_of(process)).unwrap();
        }
        let around = solved(&mesh, &*machine, &config.with_seed(5), Some(&fixed)).unwrap();
        let (best, cost) = (good.report.cost as f64, around.report.cost as f64);
        assert!(cost <= 1.03 * best, "{name}: {cost} {best}");
        // Half of them where chance puts them: far better than the identity, and no worse than without them.
        let chance = random_fixed(&*machine, 512, 256, &mut Rng::new(4));
        let around = solved(&mesh, &*machine, &config, Some(&chance)).unwrap();
        let identity = around.report.cost_of_identity as f64;
        assert!((around.report.cost as f64) < 0.85 * identity, "{name}: {} {identity}", around.report.cost);
    }
}

#[test]
fn contradictions_are_refused_with_the_process() {
    let (graph, machine) = (generate::grid(4, 2), Hierarchy::parse("2:4", "1:10").unwrap());
    let prepared = PreparedMachine::new(&machine);
    let request = Request::new(&graph, &prepared);
    let refused = |request: Request<'_>| match request.solve(&Config::default()).unwrap_err() {
        SolveError::Fixed(error) => error,
        error => panic!("{error}"),
    };
    let of = |blocks: &[Option<PeId>], num_pes| FixedVertices::new(blocks, num_pes).unwrap();
    let twice = of(&[None, Some(3), None, Some(3), None, None, None, None], 8);
    assert_eq!(refused(request.fixed(&twice)), FixedError::PeTaken { process: 3, pe: 3, earlier: 1 });
    let short = of(&[None; 7], 8);
    assert_eq!(refused(request.fixed(&short)), FixedError::Vertices { found: 7, expected: 8 });
    let narrow = of(&[None; 8], 7);
    assert_eq!(refused(request.fixed(&narrow)), FixedError::Blocks { found: 7, expected: 8 });
    let fixed = of(&[None, None, Some(5), None, None, None, None, None], 8);
    let start = Mapping::identity(8);
    let refusal = refused(request.start(&start).fixed(&fixed));
    assert_eq!(refusal, FixedError::Contradicted { process: 2, expected: 5, found: 2 });
    // An initial mapping is a construction, and is repaired.
    let config = Config::default().with_neighbourhood(Neighbourhood::None);
    let solution = request.initial(Initial::Mapping(&start)).fixed(&fixed).solve(&config).unwrap();
    assert_eq!(solution.mapping.pe_of(2), 5);
    let _: Cost = solution.report.cost;
}
