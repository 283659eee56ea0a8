//! Every combination of constraints means something, or is refused with a reason; each constraint is checked from scratch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{Family, random_graph, small_families, with_node_weights};
use viem::base::rng::Rng;
use viem::base::settings::ConfigError;
use viem::base::types::{NodeId, PeId, Weight};
use viem::graph::{Coordinates, CsrGraph, VertexWeights};
use viem::machine::{Blocks, Nodes};
use viem::mapping::objective::{ScoreError, evaluate};
use viem::partition::{
    FixedVertices, Grouping, MigrationWeight, OrderIndex, PartitionAlgorithm, PreviousAssignment, Remapping,
};
use viem::solve::{
    Balance, Config, Initial, LoadLimits, Lowered, Lowering, MapPreset, Objective, Order, ProcessGroups,
    RequestError, Secondary, SeveralWeights, Solution, SolveError,
};
use viem::{Machine, Mapping, PreparedMachine, Request};

/// A secondary objective that nothing lowers; counts how often it is asked.
#[derive(Default)]
struct Asked(AtomicUsize);

impl Secondary for Asked {
    fn validate(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    fn lower(&self, given: &Lowering<'_>) -> Result<Lowered, ScoreError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let cost = evaluate(given.graph, given.machine.distances()?, given.mapping)?;
        assert_eq!(cost, given.cost);
        Ok(Lowered { mapping: given.mapping.clone(), cost, exchanges: 0 })
    }
}

/// The constraints of a request.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    is_balanced: bool,
    /// If loads are balanced, by two weights of the vertices.
    has_several: bool,
    has_least_load: bool,
    has_fixed: bool,
    has_groups: bool,
    has_previous: bool,
    has_start: bool,
    /// 0 for none, 1 for a mapping, 2 for one along the order of an algorithm, 3 along a known one.
    initial: u32,
    is_cut: bool,
    has_secondary: bool,
    has_limit: bool,
    is_connected: bool,
}

impl Drawn {
    fn new(rng: &mut Rng) -> Self {
        let mut one_in = |count| rng.below(count) == 0;
        Self {
            is_balanced: one_in(2),
            has_several: false,
            has_least_load: one_in(2),
            has_fixed: one_in(3),
            has_groups: one_in(4),
            has_previous: one_in(4),
            has_start: one_in(4),
            initial: 0,
            is_cut: one_in(4),
            has_secondary: one_in(4),
            has_limit: one_in(8),
            is_connected: one_in(4),
        }
        .with_initial(rng.below(8))
        .with_several(rng.below(2) == 0)
    }

    fn with_several(self, is_drawn: bool) -> Self {
        Self { has_several: is_drawn && self.is_balanced, ..self }
    }

    fn with_initial(self, drawn: u32) -> Self {
        Self { initial: if drawn < 4 { drawn } else { 0 }, ..self }
    }

    /// The reasons for which a request may be refused.
    fn reasons(&self) -> Vec<RequestError> {
        let (has_place, is_index) = (self.has_start || self.initial > 0, self.initial == 3);
        let all = [
            (self.has_several && self.is_cut && self.initial > 1, RequestError::RangesHaveSeveral),
            (self.has_several && self.has_secondary, RequestError::SeveralHaveSecondary),
            (self.has_several && self.is_connected, RequestError::SeveralAreConnected),
            (self.is_balanced && self.has_groups, RequestError::GroupsAreBalanced),
            (!self.is_balanced && self.has_previous, RequestError::PreviousIsOneToOne),
            (!self.is_balanced && self.is_cut, RequestError::CutIsOneToOne),
            (self.is_cut && (self.has_start || self.initial == 1), RequestError::CutHasStart),
            (self.is_cut && self.has_secondary, RequestError::CutHasSecondary),
            (self.is_connected && !self.is_balanced, RequestError::ConnectedIsOneToOne),
            (self.is_connected && self.has_previous, RequestError::ConnectedHasPrevious),
            (self.is_connected && self.has_secondary, RequestError::ConnectedHasSecondary),
            (self.is_connected && self.is_cut && is_index, RequestError::RangesAreConnected),
            (self.has_fixed && is_index, RequestError::RangesAreFixed),
            (self.has_least_load && self.is_cut && is_index, RequestError::RangesHaveLeastLoads),
            (self.has_previous && has_place, RequestError::PreviousHasStart),
            (self.has_previous && self.has_secondary, RequestError::PreviousHasSecondary),
            (self.has_groups && self.initial > 0, RequestError::GroupsHaveInitial),
            (self.is_balanced && self.has_start && self.initial > 0, RequestError::StartAndInitial),
        ];
        all.into_iter().filter(|(is_refused, _)| *is_refused).map(|(_, reason)| reason).collect()
    }
}

/// The values of the constraints of a request.
struct Problem<'a> {
    family: &'a Family,
    graph: CsrGraph,
    /// The weight of each vertex, and another one.
    weights: VertexWeights,
    balance: Balance,
    fixed: FixedVertices,
    groups: ProcessGroups,
    homes: PreviousAssignment,
    /// A place that each process may have: fixed ones are in place, groups on one node.
    start: Mapping,
    points: Coordinates,
    index: OrderIndex,
    asked: Asked,
}

/// Processes in pairs on the PEs of a node, as far as there are pairs.
fn in_pairs(machine: &dyn Machine) -> Vec<PeId> {
    let nodes = Nodes::of(machine);
    let mut free: Vec<Vec<PeId>> = vec![Vec::new(); nodes.hosts().len()];
    for pe in 0..machine.num_pes() as PeId {
        (0..machine.capacity(pe)).for_each(|_| free[nodes.node(pe)].push(pe));
    }
    free.into_iter()
        .flat_map(|places| places.chunks_exact(2).flatten().copied().collect::<Vec<_>>())
        .collect()
}

impl<'a> Problem<'a> {
    /// A problem that is feasible with all constraints.
    fn new(family: &'a Family, is_balanced: bool, rng: &mut Rng) -> Self {
        let machine = &*family.machine;
        let places = in_pairs(machine);
        let n = if is_balanced { 6 * machine.num_pes() } else { places.len() };
        let graph = random_graph(n, 4, 9, rng);
        let weights: Vec<Weight> =
            (0..n).map(|_| if is_balanced { 1 + i64::from(rng.below(2)) } else { 1 }).collect();
        let both = weights.iter().flat_map(|&weight| [weight, 1 + i64::from(rng.below(2))]).collect();
        let graph = if is_balanced { with_node_weights(&graph, &weights) } else { graph };
        // Balanced: as equal as the order of the processes allows it.
        let dealt = (0..n).map(|process| (process % machine.num_pes()) as PeId).collect();
        let start = Mapping::many(machine.num_pes(), if is_balanced { dealt } else { places }).unwrap();
        let mut fixed = FixedVertices::none(n, machine.num_pes());
        for _ in 0..rng.below(3) {
            let process = rng.below(n.max(1) as u32);
            if (process as usize) < n && fixed.of(process).is_none() {
                fixed.fix(process, start.pe_of(process)).unwrap();
            }
        }
        let points = (0..n).map(|process| process as f64).collect();
        let backwards: Vec<NodeId> = (0..n as NodeId).rev().collect();
        Self {
            family,
            graph,
            weights: VertexWeights::new(2, both).unwrap(),
            balance: Balance::default().with_imbalance(0.5),
            fixed,
            groups: ProcessGroups::of_size(n, 2).unwrap(),
            homes: PreviousAssignment::new(start.pes(), machine.num_pes()).unwrap(),
            start,
            points: Coordinates::new(1, points).unwrap(),
            index: OrderIndex::of_positions(backwards).unwrap(),
            asked: Asked::default(),
        }
    }

    fn solve(
        &self,
        drawn: Drawn,
        machine: &PreparedMachine<'_>,
        config: &Config,
    ) -> Result<Solution, SolveError> {
        let several = self.several(drawn);
        let request = self.request(drawn, machine);
        let request = if drawn.has_several { request.balanced(&several) } else { request };
        request.solve(config)
    }

    fn several(&self, drawn: Drawn) -> SeveralWeights<'_> {
        SeveralWeights::new(&self.weights, &[self.balance(drawn).into()]).unwrap()
    }

    fn request<'b>(&'b self, drawn: Drawn, machine: &'b PreparedMachine<'b>) -> Request<'b> {
        let mut request = Request::new(&self.graph, machine);
        if drawn.is_balanced {
            request = request.balanced(self.balance(drawn));
        }
        let initial = match drawn.initial {
            0 => None,
            1 => Some(Initial::Mapping(&self.start)),
            3 => Some(Initial::Along(Order::Index(&self.index))),
            _ => Some(Initial::Along(Order::Algorithm {
                algorithm: PartitionAlgorithm::Hilbert,
                coordinates: Some(&self.points),
                grouping: Grouping::default(),
            })),
        };
        let remapping = Remapping::new(&self.homes, MigrationWeight::ONE);
        request
            .minimise(if drawn.is_cut { Objective::Cut } else { Objective::J })
            .fixed(drawn.has_fixed.then_some(&self.fixed))
            .together(drawn.has_groups.then_some(&self.groups))
            .previous(drawn.has_previous.then_some(remapping))
            .start(drawn.has_start.then_some(&self.start))
            .initial(initial)
            .connected(drawn.is_connected)
            .then_lower(drawn.has_secondary.then_some(&self.asked as &dyn Secondary))
    }

    fn balance(&self, drawn: Drawn) -> Balance {
        self.balance.with_least_load(if drawn.has_least_load { 0.3 } else { 0.0 })
    }

    /// The number of pieces into which the vertices of each PE fall.
    fn pieces(&self, pe_of: &[PeId]) -> Vec<usize> {
        let mut pieces = vec![0; self.family.machine.num_pes()];
        let mut is_reached = vec![false; pe_of.len()];
        for first in self.graph.nodes() {
            let pe = pe_of[first as usize];
            pieces[pe as usize] += usize::from(!is_reached[first as usize]);
            let mut waiting = vec![first];
            while let Some(at) = waiting.pop() {
                if !std::mem::replace(&mut is_reached[at as usize], true) {
                    waiting.extend(self.graph.neighbours(at).iter().filter(|&&v| pe_of[v as usize] == pe));
                }
            }
        }
        pieces
    }

    /// The pieces beyond one for each PE.
    fn extra_pieces(&self, solution: &Solution) -> usize {
        self.pieces(solution.mapping.pes()).iter().map(|pieces| pieces.saturating_sub(1)).sum()
    }

    /// Checks each constraint, and what the report says of it.
    fn check(&self, drawn: Drawn, Solution { mapping, report, .. }: &Solution) {
        let (machine, pe_of) = (&*self.family.machine, mapping.pes());
        let context = format!("{} {drawn:?}", self.family.name);
        assert_eq!(i128::from(report.cost), self.family.cost(&self.graph, pe_of), "{context}");
        let crossing = |u: NodeId| {
            let arcs = self.graph.arcs(u).filter(move |&(v, _)| pe_of[v as usize] != pe_of[u as usize]);
            arcs.map(|(_, weight)| weight).sum::<Weight>()
        };
        assert_eq!(2 * report.cut, self.graph.nodes().map(crossing).sum::<Weight>(), "{context}");
        if drawn.has_fixed {
            assert_eq!(self.fixed.violated_by(pe_of), None, "{context}");
        }
        if drawn.has_groups {
            let nodes = Nodes::of(machine);
            let is_kept = |pair: &[PeId]| pair.iter().all(|&pe| nodes.node(pe) == nodes.node(pair[0]));
            assert!(pe_of.chunks(2).all(is_kept), "{context}");
        }
        assert_eq!(
            report.migration,
            drawn.has_previous.then(|| self.homes.migration(&self.graph, pe_of)),
            "{context}"
        );
        assert_eq!(report.loads.is_some(), drawn.is_balanced, "{context}");
        let in_pieces = || self.pieces(pe_of).into_iter().filter(|&pieces| pieces > 1).count();
        assert_eq!(report.in_pieces, drawn.is_balanced.then(in_pieces), "{context}");
        match report.loads {
            None => assert!(Mapping::on(machine, pe_of.to_vec()).is_ok(), "{context}"),
            Some(loads) => {
                let expected = match drawn.has_several {
                    true => self.several(drawn).loads(machine, pe_of),
                    false => vec![LoadLimits::from(self.balance(drawn)).loads(&self.graph, machine, pe_of)],
                };
                assert!(expected.contains(&loads), "{context}");
                assert!(!drawn.has_several || expected == report.loads_by_weight, "{context}");
                for loads in &expected {
                    assert_eq!((loads.overload, loads.shortfall, loads.empty), (0, 0, 0), "{context}");
                }
            }
        }
        if drawn.has_start {
            let of_start = self.family.cost(&self.graph, self.start.pes());
            assert_eq!(report.cost_of_start.map(i128::from), Some(of_start), "{context}");
            assert!(drawn.is_connected || i128::from(report.cost) <= of_start, "{context}");
        }
        assert_eq!(self.asked.0.load(Ordering::Relaxed), usize::from(drawn.has_secondary), "{context}");
        assert!((!report.stopped || drawn.has_limit) && report.seconds.total >= 0.0, "{context}");
    }
}

#[test]
fn all_combinations_mean_something_or_are_refused_with_a_reason() {
    let mut rng = Rng::new(65);
    let (mut solved, mut refused, mut fewer) = (0, 0, 0);
    for round in 0..6 {
        for family in small_families(&mut rng) {
            for _ in 0..8 {
                let drawn = Drawn::new(&mut rng);
                let problem = Problem::new(&family, drawn.is_balanced, &mut rng);
                let machine = PreparedMachine::new(&*family.machine);
                let mut config = Config::preset(MapPreset::Fast).with_seed(round);
                if drawn.has_limit {
                    config = config.with_time_limit(Duration::from_millis(20));
                }
                let reasons = drawn.reasons();
                match problem.solve(drawn, &machine, &config) {
                    Err(SolveError::Request(reason)) => {
                        assert!(reasons.contains(&reason), "{drawn:?}: {reason}");
                        refused += 1;
                    }
                    Err(error) => panic!("{} {drawn:?}: {error}", family.name),
                    Ok(solution) => {
                        assert!(reasons.is_empty(), "{drawn:?} is refused for {reasons:?}");
                        problem.check(drawn, &solution);
                        solved += 1;
                        if drawn.is_connected && !drawn.has_limit {
                            let apart = Drawn { is_connected: false, ..drawn };
                            let apart = problem.solve(apart, &machine, &config).unwrap();
                            let [joined, apart] = [&solution, &apart].map(|one| problem.extra_pieces(one));
                            assert!(joined <= apart, "{drawn:?}: {joined} {apart}");
                            fewer += usize::from(joined < apart);
                        }
                    }
                }
            }
        }
    }
    assert!(solved > 150 && refused > 150 && fewer > 0, "{solved} {refused} {fewer}");
}

/// A prepared machine gives the same results as one that is prepared for each request.
#[test]
fn a_prepared_machine_serves_any_number_of_requests() {
    let mut rng = Rng::new(66);
    for family in small_families(&mut rng) {
        let prepared = PreparedMachine::new(&*family.machine);
        for _ in 0..3 {
            let graph = random_graph(family.num_places(), 4, 9, &mut rng);
            let alone = PreparedMachine::new(&*family.machine);
            let alone = Request::new(&graph, &alone).solve(&Config::fast()).unwrap().mapping;
            let shared = Request::new(&graph, &prepared).solve(&Config::fast().with_threads(2)).unwrap();
            assert_eq!(shared.mapping, alone, "{}", family.name);
        }
    }
}

#[test]
fn a_partition_is_a_mapping_to_blocks() {
    let graph = random_graph(60, 5, 3, &mut Rng::new(67));
    let shares = [2, 1, 0, 3];
    let blocks = Blocks::proportional(shares.to_vec()).unwrap();
    let machine = PreparedMachine::new(&blocks);
    let balance = Balance::default().with_imbalance(0.1);
    let request = Request::new(&graph, &machine).balanced(balance).minimise(Objective::Cut);
    let Solution { mapping, report, .. } = request.solve(&Config::eco()).unwrap();
    let loads = report.loads.unwrap();
    assert_eq!((loads.overload, loads.empty, report.cost), (0, 0, 2 * report.cut));
    for (block, share) in shares.into_iter().enumerate() {
        let load = mapping.pes().iter().filter(|&&own| own as usize == block).count();
        assert!(load as f64 <= 1.1 * 10.0 * f64::from(share), "{block}: {load}");
    }
    assert!(report.cost <= report.cost_of_identity);
}
