//! Annealing of a mapping by J and a norm of the loads: see [`bottleneck`](super::bottleneck).

use std::cmp::Ordering;

use super::job_objective::{BottleneckConfig, JobObjective};
use super::loads::{Carriers, Loads};
use super::placed::Placed;
use viem::base::exchange::{Evaluator, at_temperature, sweep};
use viem::base::observer::Observer;
use viem::base::rng::Rng;
use viem::base::types::{Cost, NodeId, PeId};
use viem::graph::CsrGraph;
use viem::machine::Machine;
use viem::solve::Lowering;

/// A mapping by the objective: its value, and then J.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Key(pub f64, pub Cost);

/// The problem and the settings.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub given: &'a Lowering<'a>,
    pub config: &'a BottleneckConfig,
}

impl Task<'_> {
    /// Returns whether the greatest load counts first.
    pub fn is_greatest(&self) -> bool {
        self.config.objective == JobObjective::Bottleneck
    }
}

/// A mapping that was found.
#[derive(Clone)]
pub(super) struct Found {
    pub key: Key,
    pub pe_of: Vec<PeId>,
}

impl Found {
    /// The order by the objective.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.key.0.total_cmp(&other.key.0).then(self.key.1.cmp(&other.key.1))
    }
}

/// What the values of all mappings are relative to.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    objective: JobObjective,
    power: u32,
    /// Loads are divided by this, so that no power is too large.
    load: f64,
    /// The sum of powers of the given mapping, and its J.
    pub sum: f64,
    cost: f64,
}

impl Scale {
    /// Relative to a mapping of these loads and this J.
    pub fn new<C: Carriers>(loads: &Loads<C>, cost: Cost, config: &BottleneckConfig) -> Self {
        let (objective, power) = (config.objective, config.power.clamp(1, 64));
        let load = loads.greatest().max(1) as f64;
        let scale = Self { objective, power, load, sum: 1.0, cost: cost as f64 };
        Self { sum: scale.sum_of(loads), ..scale }
    }

    fn sum_of<C: Carriers>(&self, loads: &Loads<C>) -> f64 {
        loads.all().iter().map(|&load| (load as f64 / self.load).powi(self.power as i32)).sum()
    }

    /// J and the power mean, each relative to that of the given mapping.
    fn energy(&self, cost: Cost, sum: f64) -> f64 {
        cost as f64 / self.cost + (sum.max(0.0) / self.sum).powf(1.0 / f64::from(self.power))
    }

    /// The value of a mapping of this J, whose powers have this sum.
    pub fn key<C: Carriers>(&self, loads: &Loads<C>, cost: Cost, sum: f64) -> Key {
        match self.objective {
            JobObjective::J => Key(cost as f64, cost),
            JobObjective::Bottleneck => Key(loads.greatest() as f64, cost),
            JobObjective::Mixed => Key(self.energy(cost, sum), cost),
        }
    }
}

/// What is on each PE.
struct Slots {
    on: Vec<Vec<NodeId>>,
    capacity: Vec<u32>,
    /// Whether PEs have bounds instead of places: then only vertices of one weight change places.
    is_balanced: bool,
}

impl Slots {
    fn new(machine: &dyn Machine, pe_of: &[PeId], is_balanced: bool) -> Self {
        let mut on = vec![Vec::new(); machine.num_pes()];
        (0..).zip(pe_of).for_each(|(process, &pe)| on[pe as usize].push(process));
        Self { on, capacity: machine.capacities(), is_balanced }
    }

    fn has_room(&self, pe: PeId) -> bool {
        !self.is_balanced && self.on[pe as usize].len() < self.capacity[pe as usize] as usize
    }

    fn transfer(&mut self, process: NodeId, from: PeId, to: PeId) {
        let at = self.on[from as usize].iter().position(|&other| other == process);
        self.on[from as usize].swap_remove(at.expect("it is there"));
        self.on[to as usize].push(process);
    }
}

/// A process that goes to the PE of another one, which takes its place, or to a free place.
#[derive(Clone, Copy)]
pub(super) struct Move {
    process: NodeId,
    from: PeId,
    to: PeId,
    partner: Option<NodeId>,
}

/// The temperature falls this many times.
const STEPS: u32 = 64;

/// Moves that annealing tries at least. Balances small jobs, whose maxima depend on few processes, against a few tenths of a second.
const LEAST_MOVES: u64 = 1 << 17;

/// The last temperature is the first one divided by this.
const COOLING: f64 = 100.0;

/// Moves whose changes the first temperature is estimated from.
const SAMPLE: u32 = 256;

/// Polishing ends after this many moves for each process that improve nothing.
const PATIENCE: usize = 4;

/// Carriers with at least this share of the greatest load are busy.
const BUSY: f64 = 0.9;

/// PEs without a common neighbour are tried up to this many numbers away: a node or a few, whatever the machine.
const NEAR: u32 = 16;

/// A mapping that is annealed.
pub(super) struct Search<'a, C> {
    graph: &'a CsrGraph,
    pub placed: Placed<'a, C>,
    slots: Slots,
    movable: Vec<bool>,
    task: Task<'a>,
    scale: Scale,
    cost: Cost,
    most: Cost,
    sum: f64,
    /// The change of J and of the sum of powers by the move that is tried.
    noted: (Cost, f64),
    /// The greatest load that polishing may bring.
    ceiling: Cost,
    busy: Vec<NodeId>,
    /// The best mapping so far whose J is small enough.
    pub best: Option<Found>,
    /// Moves made.
    pub made: u64,
}

impl<'a, C: Carriers> Search<'a, C> {
    /// A search from a mapping of this J, in which J may be at most as much.
    pub fn new(task: Task<'a>, placed: Placed<'a, C>, scale: Scale, (cost, most): (Cost, Cost)) -> Self {
        let &Lowering { graph, machine, fixed, balance, .. } = task.given;
        let slots = Slots::new(machine.machine(), &placed.pe_of, balance.is_some());
        let is_fixed = |process: NodeId| fixed.is_some_and(|fixed| fixed.of(process).is_some());
        let movable = graph.nodes().map(|process| !is_fixed(process)).collect();
        let sum = scale.sum_of(&placed.loads);
        let mut search = Self {
            graph,
            placed,
            slots,
            movable,
            task,
            scale,
            cost,
            most,
            sum,
            noted: (0, 0.0),
            ceiling: Cost::MAX,
            busy: Vec::new(),
            best: None,
            made: 0,
        };
        search.keep();
        search
    }

    /// The value of the mapping.
    fn key(&self) -> Key {
        self.scale.key(&self.placed.loads, self.cost, self.sum)
    }

    /// Keeps the mapping if it is the best so far.
    fn keep(&mut self) {
        let key = self.key();
        if self.cost > self.most || self.best.as_ref().is_some_and(|best| best.key <= key) {
            return;
        }
        match &mut self.best {
            Some(best) => {
                best.key = key;
                best.pe_of.copy_from_slice(&self.placed.pe_of);
            }
            best => *best = Some(Found { key, pe_of: self.placed.pe_of.clone() }),
        }
    }

    /// Anneals, and lowers J from the best mapping found.
    pub fn run(&mut self, rng: &mut Rng) {
        let observer = self.task.given.observer;
        self.anneal(observer, rng);
        self.polish(observer, rng);
    }

    /// Anneals from the mapping at falling temperatures.
    fn anneal(&mut self, observer: &dyn Observer, rng: &mut Rng) {
        let all = u64::from(self.task.config.moves) * self.graph.num_nodes() as u64;
        let moves = all.max(LEAST_MOVES) / u64::from(STEPS);
        self.refresh();
        let mut temperature = self.first_temperature(rng);
        for _ in 0..STEPS {
            if observer.should_stop() || self.placed.work >= self.task.config.effort {
                break;
            }
            self.refresh();
            let (mut moves, mut chance) = (0..moves, Rng::new(rng.next_u64()));
            let next = |search: &mut Self| {
                moves.next()?;
                search.propose(rng)
            };
            self.made +=
                sweep(self, next, |_, change| at_temperature(*change, temperature, &mut chance)).made;
            temperature /= COOLING.powf(1.0 / f64::from(STEPS));
        }
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

    /// From the best mapping, lowers J without raising the maximum, or the value itself.
    fn polish(&mut self, observer: &dyn Observer, rng: &mut Rng) {
        let Some(best) = self.best.clone() else { return };
        self.return_to(&best.pe_of);
        let is_greatest = self.task.is_greatest();
        if is_greatest {
            self.ceiling = self.placed.loads.greatest();
        }
        loop {
            let (mut moves, before) = (0..PATIENCE * self.graph.num_nodes(), self.key());
            let next = |search: &mut Self| {
                moves.next()?;
                search.propose(rng)
            };
            let improves = |search: &mut Self, &change: &f64| match is_greatest {
                true => change.is_finite() && search.noted.0 < 0,
                false => change < 0.0,
            };
            self.made += sweep(self, next, improves).made;
            if observer.should_stop() || self.key() >= before {
                break;
            }
        }
    }

    /// Moves all processes to where they are in another mapping.
    fn return_to(&mut self, pe_of: &[PeId]) {
        for (process, &pe) in (0..).zip(pe_of) {
            if self.placed.pe_of[process as usize] != pe {
                self.placed.displace(process, pe);
            }
        }
        self.cost += self.placed.rise();
        self.placed.note();
        self.placed.make();
        for on in &mut self.slots.on {
            on.clear();
        }
        (0..).zip(pe_of).for_each(|(process, &pe)| self.slots.on[pe as usize].push(process));
        self.refresh();
    }

    /// Sums all powers again, as rounding adds up, and looks up which processes use busy carriers.
    fn refresh(&mut self) {
        self.sum = self.scale.sum_of(&self.placed.loads);
        let least = ((self.placed.loads.greatest() as f64 * BUSY) as Cost).max(1);
        let (graph, placed, movable) = (self.graph, &mut self.placed, &self.movable);
        let is_busy = |&process: &NodeId| movable[process as usize] && placed.is_busy(process, least);
        self.busy = graph.nodes().filter(is_busy).collect();
    }

    /// A random move; none if many draws in a row find none.
    fn propose(&mut self, rng: &mut Rng) -> Option<Move> {
        const TRIES: usize = 64;
        (0..TRIES).find_map(|_| self.draw(rng))
    }

    fn draw(&self, rng: &mut Rng) -> Option<Move> {
        let is_of_busy = !self.busy.is_empty() && rng.below(2) == 0;
        let process = match is_of_busy {
            true => self.busy[rng.below(self.busy.len() as u32) as usize],
            false => rng.below(self.graph.num_nodes() as u32),
        };
        if !self.movable[process as usize] || self.graph.degree(process) == 0 {
            return None;
        }
        let from = self.placed.pe_of[process as usize];
        let mut near = self.neighbour(process, rng);
        if rng.below(4) == 0 {
            return self.to_pe_near(process, self.placed.pe_of[near as usize], rng);
        }
        for _ in 0..rng.below(3) {
            near = self.neighbour(near, rng);
        }
        let to = self.placed.pe_of[near as usize];
        self.allows(process, near).then_some(Move { process, from, to, partner: Some(near) })
    }

    fn neighbour(&self, process: NodeId, rng: &mut Rng) -> NodeId {
        let neighbours = self.graph.neighbours(process);
        neighbours[rng.below(neighbours.len() as u32) as usize]
    }

    /// A move to a PE whose number is near another one's.
    fn to_pe_near(&self, process: NodeId, pe: PeId, rng: &mut Rng) -> Option<Move> {
        let (from, count) = (self.placed.pe_of[process as usize], self.slots.on.len() as u32);
        let to = (pe + rng.below(2 * NEAR + 1)).checked_sub(NEAR).filter(|&to| to < count && to != from)?;
        if self.slots.has_room(to) {
            return Some(Move { process, from, to, partner: None });
        }
        let on = &self.slots.on[to as usize];
        let partner = *on.get(rng.below(on.len().max(1) as u32) as usize)?;
        self.allows(process, partner).then_some(Move { process, from, to, partner: Some(partner) })
    }

    /// Returns whether two processes may change places.
    fn allows(&self, process: NodeId, partner: NodeId) -> bool {
        let weight = |process| self.graph.node_weight(process);
        self.movable[partner as usize]
            && self.placed.pe_of[process as usize] != self.placed.pe_of[partner as usize]
            && (!self.slots.is_balanced || weight(process) == weight(partner))
    }
}

impl<C: Carriers> Evaluator for Search<'_, C> {
    type Move = Move;
    /// Of J and the power mean, each relative to the given mapping; infinite where J or a load would be too great.
    type Change = f64;

    fn change(&mut self, by: &Move) -> f64 {
        self.placed.displace(by.process, by.to);
        by.partner.into_iter().for_each(|partner| self.placed.displace(partner, by.from));
        let rise = self.placed.rise();
        if rise > 0 && self.cost + rise > self.most {
            return f64::INFINITY;
        }
        self.placed.note();
        let exceeds = |(load, change): (Cost, Cost)| change > 0 && load + change > self.ceiling;
        if self.ceiling < Cost::MAX && self.placed.loads.noted().any(exceeds) {
            return f64::INFINITY;
        }
        let change = self.placed.loads.change_of_powers(self.scale.load, self.scale.power);
        self.noted = (rise, change);
        let energy = |cost, sum| self.scale.energy(cost, sum);
        energy(self.cost + rise, self.sum + change) - energy(self.cost, self.sum)
    }

    fn make(&mut self, by: Move, _: f64) {
        self.placed.make();
        self.slots.transfer(by.process, by.from, by.to);
        by.partner.into_iter().for_each(|partner| self.slots.transfer(partner, by.to, by.from));
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
    use super::super::objective::SecondaryObjective;
    use super::*;
    use viem::graph::generate;
    use viem::machine::build;
    use viem::mapping::Mapping;
    use viem::mapping::objective::{ScoreError, evaluate};
    use viem::solve::{Balance, Config, Lowered, PreparedMachine, Request, Secondary};

    /// Draws moves and makes every second one; loads, J and the sum of powers are those from scratch after each.
    struct Twin<'a>(Task<'a>);

    impl CarriersVisitor for Twin<'_> {
        type Output = usize;

        fn visit<C: Carriers>(self, carriers: C) -> Result<usize, ScoreError> {
            let &Lowering { graph, machine, mapping, .. } = self.0.given;
            let distances = machine.distances()?;
            let loads = Loads::of(graph, carriers, mapping.pes())?;
            let cost = evaluate(graph, distances, mapping)?;
            let scale = Scale::new(&loads, cost, self.0.config);
            let placed = Placed::new(graph, distances, loads, mapping.pes().to_vec());
            let mut search = Search::new(self.0, placed, scale, (cost, Cost::MAX));
            search.refresh();
            let (mut rng, mut made) = (Rng::new(3), 0);
            for number in 0..200 {
                let Some(by) = search.propose(&mut rng) else { continue };
                let before = scale.energy(search.cost, search.sum);
                let change = search.change(&by);
                if number % 2 == 0 {
                    search.leave(&by);
                    continue;
                }
                search.make(by, change);
                made += 1;
                let kept = search.placed.loads.all().to_vec();
                let pe_of = search.placed.pe_of.clone();
                search.placed.loads.restart(graph, &pe_of);
                assert_eq!(search.placed.loads.all(), kept);
                assert_eq!(search.placed.loads.greatest(), kept.iter().copied().max().unwrap());
                assert_eq!(
                    search.cost,
                    evaluate(graph, distances, &Mapping::many(search.slots.on.len(), pe_of.clone())?)?
                );
                let sum = scale.sum_of(&search.placed.loads);
                assert!((search.sum - sum).abs() <= 1e-9 * sum.max(1.0), "{} {sum}", search.sum);
                assert!((scale.energy(search.cost, sum) - before - change).abs() < 1e-9);
                for (pe, on) in (0..).zip(&search.slots.on) {
                    assert!(on.iter().all(|&process| pe_of[process as usize] == pe));
                }
            }
            Ok(made)
        }
    }

    /// Checks a mapping that a request has found, with the load of links and of nodes.
    struct Twins;

    impl Secondary for Twins {
        fn lower(&self, given: &Lowering<'_>) -> Result<Lowered, ScoreError> {
            let config = &BottleneckConfig::default();
            for objective in SecondaryObjective::ALL {
                let made = objective.visit(given.machine, Twin(Task { given, config }))?;
                assert!(made.is_some_and(|made| made > 50), "{objective}: {made:?}");
            }
            let cost = evaluate(given.graph, given.machine.distances()?, given.mapping)?;
            Ok(Lowered { mapping: given.mapping.clone(), cost, exchanges: 0 })
        }
    }

    #[test]
    fn loads_and_values_are_those_from_scratch_after_every_move() {
        let cases = [("3:4:4", Some("1:4:10")), ("torus:4x4/3", Some("1:5")), ("hypercube:6", None)];
        for (spec, distances) in cases {
            let machine = build(spec, distances).unwrap();
            let prepared = PreparedMachine::new(&*machine);
            let (few, many) = (generate::mesh(6, 6, 1), generate::mesh(16, 12, 1));
            let one_to_one = Request::new(&few, &prepared).then_lower(&Twins as &dyn Secondary);
            one_to_one.solve(&Config::fast()).unwrap();
            let balanced = Request::new(&many, &prepared).balanced(Balance::default());
            balanced.then_lower(&Twins as &dyn Secondary).solve(&Config::fast()).unwrap();
        }
    }
}
