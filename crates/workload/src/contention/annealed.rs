//! Annealing of a mapping by J and a norm of the loads: see [`bottleneck`](super::bottleneck).

use super::config::BottleneckConfig;
use super::loads::{Carriers, Loads};
use super::objective::JobObjective;
use super::placed::Placed;
use super::scale::{Found, Key, Scale};
use super::slots::{Move, Slots};
use viem::base::exchange::{Evaluator, at_temperature, sweep};
use viem::base::rng::Rng;
use viem::base::types::{Cost, NodeId, PeId};
use viem::graph::CsrGraph;
use viem::mapping::Mapping;
use viem::mapping::objective::ScoreError;
use viem::solve::Lowering;

/// The problem and the settings.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub given: &'a Lowering<'a>,
    pub config: &'a BottleneckConfig,
}

/// A mapping where the search may begin.
pub(super) struct Start {
    pub mapping: Mapping,
    pub greatest: Cost,
    pub cost: Cost,
}

/// How often the temperature falls: more often finds a little more, and each time takes O(n + m).
const STEPS: std::ops::RangeInclusive<u64> = 8..=64;

/// Least number of moves that annealing tries. Balances the maxima of small jobs, which depend on few processes, against a tenth of a second.
const LEAST_MOVES: u64 = 1 << 17;

/// Largest number of times that small jobs are annealed. Balances maxima that one run misses against time.
const ROUNDS: u64 = 4;

/// Divisor of the effort where messages have few carriers. Balances the last exchanges against the time of the search for a small J, which is short on
/// trees. Tuned on grids of 5000 processes.
const FEW: u64 = 4;

/// The last temperature is the first one divided by this.
const COOLING: f64 = 100.0;

/// Moves whose changes the first temperature is estimated from.
const SAMPLE: u32 = 256;

/// Moves that a descent of the maximum tries in each round, for each process of a busy carrier.
const PATIENCE_OF_BUSY: usize = 8;

/// Moves that a descent of J tries in each round, for each process with traffic.
const PATIENCE: usize = 2;

/// Largest number of rounds of a descent. It ends earlier after a round without improvement.
const POLISHES: usize = 8;

/// Carriers with at least this share of the greatest load are busy.
const BUSY: f64 = 0.9;

/// PEs without a common neighbour are tried up to this many numbers away: a node or a few, whatever the machine.
const NEAR: u32 = 16;

/// The number of times that annealing begins, the number of temperatures each time, and the number of moves at each temperature.
struct Plan {
    rounds: u64,
    steps: u64,
    moves: u64,
}

/// A mapping that is annealed.
pub(super) struct Search<'a, C> {
    graph: &'a CsrGraph,
    placed: Placed<'a, C>,
    slots: Slots<'a>,
    task: Task<'a>,
    scale: Scale,
    cost: Cost,
    most: Cost,
    sum: f64,
    /// The change of J and of the sum of powers by the move that is tried.
    noted: (Cost, f64),
    /// The greatest load that a move of a descent may bring.
    ceiling: Cost,
    /// Processes with traffic on carriers, and those with traffic on busy ones.
    active: Vec<NodeId>,
    busy: Vec<NodeId>,
    /// The best mapping so far whose J is small enough.
    best: Found,
    made: u64,
    /// Only processes with traffic on busy carriers are moved, except as partners.
    is_focused: bool,
}

impl<'a, C: Carriers> Search<'a, C> {
    /// A search from a mapping of these loads and this J.
    pub fn new(
        task: Task<'a>,
        (pe_of, loads): (Vec<PeId>, Loads<C>),
        scale: Scale,
        cost: Cost,
    ) -> Result<Self, ScoreError> {
        let &Lowering { graph, machine, .. } = task.given;
        let (slots, sum) = (Slots::new(task.given, &pe_of), scale.sum_of(&loads));
        let best = Found { key: scale.key(&loads, cost, sum), pe_of: pe_of.clone() };
        Ok(Self {
            graph,
            placed: Placed::new(graph, machine.distances()?, loads, pe_of),
            slots,
            task,
            scale,
            cost,
            most: Cost::MAX,
            sum,
            noted: (0, 0.0),
            ceiling: Cost::MAX,
            active: Vec::new(),
            busy: Vec::new(),
            best,
            made: 0,
            is_focused: false,
        })
    }

    /// The number of moves made.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// The best mapping that annealing finds. It begins at the start that is best after a descent of the maximum. J is at most `most`, or the J of that
    /// start if this is greater. `None` if there are no starts.
    pub fn anneal_best_of(&mut self, starts: &[Start], most: Cost, rng: &mut Rng) -> Option<Found> {
        let mut begin: Option<(Found, Cost)> = None;
        let observer = self.task.given.observer;
        for start in starts.iter().take_while(|_| !observer.should_stop()) {
            let most = most.max(start.cost);
            self.restart(start.mapping.pes(), most);
            self.lower_maximum(rng);
            if begin.as_ref().is_none_or(|(found, _)| self.best.key.compare(&found.key).is_lt()) {
                begin = Some((self.best.clone(), most));
            }
        }
        let (found, most) = begin?;
        self.restart(&found.pe_of, most);
        self.anneal(rng);
        Some(self.best.clone())
    }

    /// Begins at another mapping; from there, J is at most `most`.
    fn restart(&mut self, pe_of: &[PeId], most: Cost) {
        self.return_to(pe_of);
        self.most = most;
        self.best = Found { key: self.key(), pe_of: pe_of.to_vec() };
    }

    /// The value of the mapping.
    fn key(&self) -> Key {
        self.scale.key(&self.placed.loads, self.cost, self.sum)
    }

    /// Keeps the mapping if it is the best so far.
    fn keep(&mut self) {
        let key = self.key();
        if self.cost <= self.most && key.compare(&self.best.key).is_lt() {
            self.best.key = key;
            self.best.pe_of.copy_from_slice(&self.placed.pe_of);
        }
    }

    /// Anneals from the mapping, several times if that takes little time, and lowers the maximum of the best mapping each time. At the end, lowers J.
    fn anneal(&mut self, rng: &mut Rng) {
        self.refresh();
        let (plan, begin) = (self.plan(), self.placed.pe_of.clone());
        for _ in 0..plan.rounds {
            self.return_to(&begin);
            self.cool(&plan, rng);
            self.return_to_best();
            self.lower_maximum(rng);
        }
        self.return_to_best();
        self.lower_cost(rng);
    }

    /// Makes moves at falling temperatures.
    fn cool(&mut self, plan: &Plan, rng: &mut Rng) {
        self.refresh();
        let mut temperature = self.first_temperature(rng);
        for _ in 0..plan.steps {
            if self.task.given.observer.should_stop() {
                break;
            }
            self.refresh();
            let (mut moves, mut chance) = (0..plan.moves, Rng::new(rng.next_u64()));
            let next = |search: &mut Self| {
                moves.next()?;
                search.propose(rng)
            };
            self.made +=
                sweep(self, next, |_, change| at_temperature(*change, temperature, &mut chance)).made;
            temperature /= COOLING.powf(1.0 / plan.steps as f64);
        }
    }

    /// The plan that the effort allows.
    fn plan(&self) -> Plan {
        let (arcs, vertices) = (self.graph.num_arcs() as u64, self.graph.num_nodes() as u64);
        let BottleneckConfig { moves, effort, .. } = *self.task.config;
        // A move visits the edges of two processes, and looks up the carriers of each twice, of messages both ways.
        let per_move = 10 * (arcs / vertices.max(1) + 1);
        let wanted = u64::from(moves).saturating_mul(self.active.len() as u64).max(LEAST_MOVES);
        let rounds = (effort / wanted.saturating_mul(per_move)).clamp(1, ROUNDS);
        let effort = if self.placed.loads.carriers.are_few() { effort / FEW } else { effort };
        let moves = wanted.min((effort / per_move).max(LEAST_MOVES));
        let steps = (effort / 16 / rounds / arcs.max(1)).clamp(*STEPS.start(), *STEPS.end());
        Plan { rounds, steps, moves: moves / steps }
    }

    /// The temperature at which worsenings of mean size are accepted as often as the settings say.
    fn first_temperature(&mut self, rng: &mut Rng) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        let mut sample = 0..SAMPLE;
        let next = |search: &mut Self| {
            sample.next()?;
            search.propose(rng)
        };
        sweep(self, next, |_, &change: &f64| {
            if change > 0.0 && change.is_finite() {
                (sum, count) = (sum + change, count + 1);
            }
            false
        });
        let mean = if count == 0 { 1e-3 } else { sum / f64::from(count) };
        mean / -self.task.config.initial_acceptance.ln()
    }

    /// Lowers the maximum, if that is the objective: makes moves that lower the sum of powers and bring no load as great as the maximum.
    fn lower_maximum(&mut self, rng: &mut Rng) {
        if self.task.config.objective != JobObjective::Mixed {
            self.is_focused = true;
            self.descend_below(1, rng, |search, change| change.is_finite() && search.noted.1 < 0.0);
            self.is_focused = false;
        }
    }

    /// Lowers J without raising the maximum, or the value itself.
    fn lower_cost(&mut self, rng: &mut Rng) {
        match self.task.config.objective {
            JobObjective::Mixed => self.descend_below(Cost::MIN, rng, |_, change| change < 0.0),
            _ => self.descend_below(0, rng, |search, change| change.is_finite() && search.noted.0 < 0),
        }
    }

    /// Makes moves that improve something and bring no load above the maximum less `margin`, until the value falls no more.
    fn descend_below(&mut self, margin: Cost, rng: &mut Rng, improves: impl Fn(&Self, f64) -> bool) {
        for _ in 0..POLISHES {
            self.refresh();
            self.ceiling = self.placed.loads.greatest().saturating_sub(margin);
            let tries = if self.is_focused {
                PATIENCE_OF_BUSY * self.busy.len()
            } else {
                PATIENCE * self.active.len()
            };
            let (mut moves, before) = (0..tries, self.key());
            let next = |search: &mut Self| {
                moves.next()?;
                search.propose(rng)
            };
            self.made += sweep(self, next, |search, &change| improves(search, change)).made;
            if self.task.given.observer.should_stop() || self.key().compare(&before).is_ge() {
                break;
            }
        }
        self.ceiling = Cost::MAX;
    }

    /// Moves all processes to where they are in the best mapping.
    fn return_to_best(&mut self) {
        let best = std::mem::take(&mut self.best.pe_of);
        self.return_to(&best);
        self.best.pe_of = best;
    }

    /// Moves all processes to where they are in another mapping.
    fn return_to(&mut self, pe_of: &[PeId]) {
        for (process, &pe) in (0..).zip(pe_of) {
            if self.placed.pe_of[process as usize] != pe {
                self.placed.displace(process, pe);
            }
        }
        self.cost += self.placed.note();
        self.placed.make();
        self.slots.restart(pe_of);
        self.refresh();
    }

    /// Sums all powers again, as rounding adds up, and looks up which processes communicate with other PEs, and which use busy carriers.
    fn refresh(&mut self) {
        self.sum = self.scale.sum_of(&self.placed.loads);
        let least = ((self.placed.loads.greatest() as f64 * BUSY) as Cost).max(1);
        let (graph, placed, slots) = (self.graph, &mut self.placed, &self.slots);
        self.active.clear();
        self.busy.clear();
        for process in graph.nodes().filter(|&process| slots.is_movable(process)) {
            let load = placed.loads.greatest_of(graph, &placed.pe_of, process);
            if load > 0 {
                self.active.push(process);
            }
            if load >= least {
                self.busy.push(process);
            }
        }
    }

    /// A random move; none if many draws in a row find none.
    fn propose(&mut self, rng: &mut Rng) -> Option<Move> {
        const TRIES: usize = 64;
        (0..TRIES).find_map(|_| self.draw(rng))
    }

    fn draw(&self, rng: &mut Rng) -> Option<Move> {
        let is_of_busy = !self.busy.is_empty() && (self.is_focused || rng.below(2) == 0);
        let list = if is_of_busy { &self.busy } else { &self.active };
        let process = *list.get(rng.below(list.len().max(1) as u32) as usize)?;
        let (pe_of, mut near) = (&self.placed.pe_of, self.neighbour(process, rng));
        match rng.below(4) {
            0 if self.slots.is_balanced() => self.in_loads(process, pe_of[near as usize], rng),
            0 => self.to_pe_near(process, pe_of[near as usize], rng),
            steps => {
                for _ in 1..steps {
                    near = self.neighbour(near, rng);
                }
                // Between PEs at no distance, an exchange changes nothing.
                let is_apart = self.placed.distance(pe_of[process as usize], pe_of[near as usize]) > 0;
                is_apart.then(|| self.slots.exchange(pe_of, (process, near)))?
            }
        }
    }

    fn neighbour(&self, process: NodeId, rng: &mut Rng) -> NodeId {
        let neighbours = self.graph.neighbours(process);
        neighbours[rng.below(neighbours.len() as u32) as usize]
    }

    /// A move to the PE of a neighbour, or rarely, as it takes as long as many others, an exchange with all that is there.
    fn in_loads(&self, process: NodeId, to: PeId, rng: &mut Rng) -> Option<Move> {
        let from = self.placed.pe_of[process as usize];
        match rng.below(8 + self.slots.on(to).len() as u32) {
            0 => self.slots.exchange_of_contents(from, to),
            _ => self.slots.relocation(&self.placed.pe_of, process, to),
        }
    }

    /// A move to a PE whose number is near another one's.
    fn to_pe_near(&self, process: NodeId, pe: PeId, rng: &mut Rng) -> Option<Move> {
        let to = (pe + rng.below(2 * NEAR + 1)).checked_sub(NEAR).filter(|&to| to < self.slots.num_pes())?;
        if self.slots.has_place(to) {
            return self.slots.relocation(&self.placed.pe_of, process, to);
        }
        let on = self.slots.on(to);
        let partner = *on.get(rng.below(on.len().max(1) as u32) as usize)?;
        self.slots.exchange(&self.placed.pe_of, (process, partner))
    }
}

impl<C: Carriers> Evaluator for Search<'_, C> {
    type Move = Move;
    /// Of J and the power mean, each relative to the given mapping; infinite where J or a load would be too great.
    type Change = f64;

    fn change(&mut self, by: &Move) -> f64 {
        self.slots.displace(*by, &mut self.placed);
        let rise = self.placed.note();
        if rise > 0 && self.cost + rise > self.most {
            return f64::INFINITY;
        }
        let exceeds = |(load, change): (Cost, Cost)| change > 0 && load + change > self.ceiling;
        if self.ceiling < Cost::MAX && self.placed.loads.noted().any(exceeds) {
            return f64::INFINITY;
        }
        let change = self.placed.loads.change_of_powers(self.scale.load, self.scale.power);
        self.noted = (rise, change);
        let energy = |cost, sum| self.scale.energy(cost, sum);
        energy(self.cost + rise, self.sum + change) - energy(self.cost, self.sum)
    }

    fn make(&mut self, _: Move, _: f64) {
        self.placed.displaced().for_each(|moved| self.slots.transfer(moved));
        self.placed.make();
        (self.cost, self.sum) = (self.cost + self.noted.0, self.sum + self.noted.1);
        self.keep();
    }

    fn leave(&mut self, _: &Move) {
        self.placed.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::super::loads::CarriersVisitor;
    use super::*;
    use viem::base::settings::ConfigError;
    use viem::graph::{generate, quotient};
    use viem::machine::{Listed, build};
    use viem::mapping::objective::evaluate;
    use viem::partition::FixedVertices;
    use viem::solve::{Balance, Config, Lowered, PreparedMachine, ProcessGroups, Request, Secondary};

    /// Draws moves and makes every second one; loads, J, the sum of powers and the contents of PEs are those from scratch after each, and the
    /// constraints are kept. Counts the moves of each kind.
    struct Twin<'a>(Task<'a>);

    impl CarriersVisitor for Twin<'_> {
        type Output = [usize; 4];

        fn visit<C: Carriers>(self, carriers: C) -> Result<[usize; 4], ScoreError> {
            let &Lowering { graph, mapping, cost, .. } = self.0.given;
            let loads = Loads::of(graph, carriers, mapping.pes())?;
            let scale = Scale::new(&loads, cost, self.0.config);
            let start = (mapping.pes().to_vec(), loads);
            let mut search = Search::new(self.0, start, scale, cost)?;
            search.refresh();
            let (mut rng, mut made) = (Rng::new(3), [0; 4]);
            for number in 0..400 {
                let Some(by) = search.propose(&mut rng) else { continue };
                let before = scale.energy(search.cost, search.sum);
                let change = search.change(&by);
                if number % 2 == 0 {
                    search.leave(&by);
                    continue;
                }
                search.make(by, change);
                let kind = match by {
                    Move::One(..) => 0,
                    Move::Pair(..) => 1,
                    Move::Groups(..) => 2,
                    Move::Contents(..) => 3,
                };
                made[kind] += 1;
                search.check()?;
                let after = scale.energy(search.cost, scale.sum_of(&search.placed.loads));
                assert!((after - before - change).abs() < 1e-9);
            }
            Ok(made)
        }
    }

    impl<C: Carriers> Search<'_, C> {
        fn check(&mut self) -> Result<(), ScoreError> {
            let &Lowering { graph, machine, mapping, limits, fixed, together, .. } = self.task.given;
            let (kept, pe_of) = (self.placed.loads.all().to_vec(), self.placed.pe_of.clone());
            self.placed.loads.restart(graph, &pe_of);
            assert_eq!(self.placed.loads.all(), kept);
            assert_eq!(Some(self.placed.loads.greatest()), kept.iter().copied().max());
            let num_pes = machine.machine().num_pes();
            assert_eq!(
                self.cost,
                evaluate(graph, machine.distances()?, &Mapping::many(num_pes, pe_of.clone())?)?
            );
            let sum = self.scale.sum_of(&self.placed.loads);
            assert!((self.sum - sum).abs() <= 1e-9 * sum.max(1.0), "{} {sum}", self.sum);
            let on = |pe: PeId| self.slots.on(pe).iter().all(|&process| pe_of[process as usize] == pe);
            assert!((0..num_pes as PeId).all(on));
            assert_eq!((0..num_pes as PeId).map(|pe| self.slots.on(pe).len()).sum::<usize>(), pe_of.len());
            assert_eq!(fixed.and_then(|fixed| fixed.violated_by(&pe_of)), None);
            let nodes = machine.nodes();
            for group in 0..together.map_or(0, ProcessGroups::count) {
                let mut hosts =
                    together.unwrap().members(group).iter().map(|&it| nodes.node(pe_of[it as usize]));
                let first = hosts.next();
                assert!(hosts.all(|node| Some(node) == first));
            }
            match limits {
                None => assert!(Mapping::on(machine.machine(), pe_of).is_ok()),
                Some(limits) => {
                    let loads = |pe_of: &[PeId]| limits.loads(graph, machine.machine(), pe_of);
                    let (before, after) = (loads(mapping.pes()), loads(&pe_of));
                    assert!(after.overload <= before.overload && after.shortfall <= before.shortfall);
                    assert!(after.empty <= before.empty);
                }
            }
            Ok(())
        }
    }

    /// Checks a mapping that a request has found, with the loads of links and of nodes. Moves of these kinds must occur.
    struct Twins(&'static [usize]);

    impl Secondary for Twins {
        fn validate(&self) -> Result<(), ConfigError> {
            Ok(())
        }

        fn lower(&self, given: &Lowering<'_>) -> Result<Lowered, ScoreError> {
            for objective in [JobObjective::Bottleneck, JobObjective::BusiestNode] {
                let config = &BottleneckConfig::default().with_objective(objective);
                let made = objective.visit(given.machine, Twin(Task { given, config }))?;
                assert!(self.0.iter().all(|&kind| made[kind] > 0), "{objective}: {made:?}");
                assert!(made.iter().sum::<usize>() > 50, "{objective}: {made:?}");
            }
            Ok(Lowered { mapping: given.mapping.clone(), cost: given.cost, exchanges: 0 })
        }
    }

    #[test]
    fn loads_and_constraints_are_those_from_scratch_after_every_move() {
        let cases = [("3:4:4", Some("1:4:10")), ("torus:4x4/3", Some("1:5")), ("hypercube:6", None)];
        for (spec, distances) in cases {
            let machine = build(spec, distances).unwrap();
            let prepared = PreparedMachine::new(&*machine);
            let (few, mesh) = (generate::mesh(6, 6, 1), generate::mesh(32, 24, 1));
            let mut fixed = FixedVertices::none(36, machine.num_pes());
            (0..6).for_each(|process| fixed.fix(process, 7 * process % 48).unwrap());
            let request = Request::new(&few, &prepared);
            let twins = Twins(&[0, 1]);
            request.fixed(&fixed).then_lower(&twins as &dyn Secondary).solve(&Config::fast()).unwrap();
            // Vertices of different weights: each is a piece of a finer mesh.
            let pieces: Vec<u32> = (0..768).map(|vertex| (vertex / 3).min(240)).collect();
            let many = quotient::contract(&mesh, &pieces, 241);
            let balanced = Request::new(&many, &prepared).balanced(Balance::default().with_imbalance(0.2));
            balanced.then_lower(&Twins(&[0, 1]) as &dyn Secondary).solve(&Config::fast()).unwrap();
        }
    }

    #[test]
    fn groups_and_contents_of_pes_change_places_as_wholes() {
        let tree = build("4:8", "1:10").unwrap();
        // Nodes of different sizes, as PEs are left out.
        let machine = Listed::new(tree, (0..32).filter(|pe| ![5, 6, 17].contains(pe)).collect()).unwrap();
        let (prepared, groups) = (PreparedMachine::new(&machine), ProcessGroups::of_size(25, 2).unwrap());
        let mesh = generate::mesh(5, 5, 1);
        let request = Request::new(&mesh, &prepared).together(&groups);
        request.then_lower(&Twins(&[1, 2]) as &dyn Secondary).solve(&Config::fast()).unwrap();
        let grid = generate::grid(10, 10);
        let request = Request::new(&grid, &prepared).balanced(Balance::default().with_least_load(0.5));
        request.then_lower(&Twins(&[0, 1, 3]) as &dyn Secondary).solve(&Config::fast()).unwrap();
    }
}
