//! Mappings whose busiest carrier of traffic has the least load, and mappings that balance it with J.
//!
//! *Problem.* Minimise the greatest load of a carrier and then J, or the sum of J and a norm of the loads, while J is at most a share above that of a given
//! mapping. Carriers are links; where these are not known, nodes.
//!
//! *Algorithm.* Exchanges that lower a maximum are rare: several carriers usually have it, and each exchange changes few. So the search anneals
//! `J / J0 + M / M0`, where M is the power mean of the loads, and J0 and M0 are those of the start. M is smooth, and rises above the mean load only if few carriers
//! have much. With c carriers, J is c times their mean load, so that `J + c · M` is a sum of two sums of loads; that is the value of `mixed`. A higher
//! power follows the maximum more closely, but hides all carriers below it. Of all mappings that annealing passes, the best one by the objective itself
//! is kept. From it, exchanges lower J without raising the maximum. The search begins at the given mapping, and at the cuts of a grid
//! ([`grid_mappings`]) whose busiest carrier has less to do.
//!
//! *Moves.* A process, every second one of a busy carrier, changes places with one a few edges from its neighbours, or takes a free place there.
//!
//! *Cost.* O(degree · links of a route + carriers that change · log carriers) for each move; memory O(n + m + carriers).
//!
//! *Source.* Metropolis et al. (1953), as in [`exchange`](viem::ground::exchange). That norms of loads predict times better than their maximum alone:
//! Bhatele, Jain, Livnat, Pascucci and Bremer, *Analyzing Network Health and Congestion in Dragonfly-based Supercomputers*, IPDPS 2016.

use std::cmp::Ordering;

use super::loads::{Carriers, CarriersVisitor, Loads};
use super::objective::SecondaryObjective;
use super::placed::Placed;
use viem::graph::CsrGraph;
use viem::ground::exchange::{Evaluator, at_temperature, sweep};
use viem::ground::observer::Observer;
use viem::ground::rng::{Rng, derive};
use viem::ground::settings::{ConfigError, check, named};
use viem::ground::types::{Cost, NodeId, PeId};
use viem::machine::{Machine, Places};
use viem::mapping::Mapping;
use viem::mapping::construct::grid_mappings;
use viem::mapping::objective::{ScoreError, evaluate};
use viem::solve::{Lowered, Lowering, PreparedMachine, Secondary};

named! {
    /// What a job minimises.
    #[derive(Default)]
    pub enum JobObjective: "objective" {
        /// J.
        #[default]
        J = "J",
        /// The greatest load of a carrier, then J.
        Bottleneck = "bottleneck",
        /// J, and the power mean of the loads times their number.
        Mixed = "mixed",
    }
}

/// What is minimised, how far J may rise, and the effort of the search.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BottleneckConfig {
    /// What is minimised. With J, a mapping of small J is the result as it is given.
    pub objective: JobObjective,
    /// The share of J by which it may rise, from 0 to 1. The order of the processes or a cut of a grid whose busiest carrier has less load than all that is
    /// found within that share is improved all the same, from its own J.
    pub excess: f64,
    /// The power of the mean of the loads, from 1 to 64: the higher, the more the busiest count.
    pub power: u32,
    /// Moves that annealing tries for each process, from each start.
    pub moves: u32,
    /// The share of the worsenings of mean size that are accepted at the beginning, above 0 and below 1.
    pub initial_acceptance: f64,
    /// Upper limit on the edges that annealing looks at from each start, with the carriers of each counted as one.
    pub effort: u64,
    /// The seed.
    pub seed: u64,
}

impl Default for BottleneckConfig {
    fn default() -> Self {
        Self {
            objective: JobObjective::Bottleneck,
            excess: 0.03,
            power: 16,
            moves: 150,
            initial_acceptance: 0.1,
            effort: 1 << 26,
            seed: 0,
        }
    }
}

impl BottleneckConfig {
    /// The same settings for another objective.
    pub fn with_objective(self, objective: JobObjective) -> Self {
        Self { objective, ..self }
    }

    /// The same settings, but J may rise by this share.
    pub fn with_excess(self, excess: f64) -> Self {
        Self { excess, ..self }
    }

    /// The same settings with other random choices.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Checks that every number is in its range.
    ///
    /// # Errors
    ///
    /// The first number that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let is_share = self.initial_acceptance > 0.0 && self.initial_acceptance < 1.0;
        check("excess", self.excess, (0.0..=1.0).contains(&self.excess), "from 0 to 1")?;
        check("power", self.power, (1..=64).contains(&self.power), "from 1 to 64")?;
        check("initial_acceptance", self.initial_acceptance, is_share, "above 0 and below 1")
    }
}

impl Secondary for BottleneckConfig {
    fn lower(&self, given: &Lowering<'_>) -> Result<Lowered, ScoreError> {
        let links = SecondaryObjective::BusiestLink.visit(given.machine, Task { given, config: self })?;
        match links {
            Some(lowered) => Ok(lowered),
            None => {
                let nodes =
                    SecondaryObjective::BusiestNode.visit(given.machine, Task { given, config: self })?;
                Ok(nodes.expect("nodes are always known"))
            }
        }
    }
}

/// The greatest load of a link, where links are known, or else of a node, under a mapping, process i on PE `pe_of[i]`.
///
/// # Errors
///
/// A process has no PE, a PE does not exist, or loads could overflow.
pub fn bottleneck_of(
    graph: &CsrGraph,
    machine: &PreparedMachine<'_>,
    pe_of: &[PeId],
) -> Result<Cost, ScoreError> {
    let of = |objective: SecondaryObjective| objective.evaluate(graph, machine, pe_of);
    match of(SecondaryObjective::BusiestLink)? {
        Some(load) => Ok(load),
        None => Ok(of(SecondaryObjective::BusiestNode)?.unwrap_or(0)),
    }
}

/// About how many processes and arcs are looked at for the cuts of a grid.
const CUTS: usize = 1 << 21;

/// A mapping by the objective: its value, and then J.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Key(f64, Cost);

#[derive(Clone, Copy)]
struct Task<'a> {
    given: &'a Lowering<'a>,
    config: &'a BottleneckConfig,
}

impl CarriersVisitor for Task<'_> {
    type Output = Lowered;

    fn visit<C: Carriers>(self, carriers: C) -> Result<Lowered, ScoreError> {
        let Self { given: &Lowering { graph, machine, mapping, observer, .. }, config } = self;
        let cost = evaluate(graph, machine.distances()?, mapping)?;
        let mut loads = Loads::of(graph, carriers, mapping.pes())?;
        let scale = Scale::new(&loads, cost, config);
        let mut best = Found { key: scale.key(&loads, cost, scale.sum), pe_of: mapping.pes().to_vec() };
        if config.objective == JobObjective::J || loads.greatest() == 0 || cost == 0 {
            return Ok(Lowered { mapping: mapping.clone(), cost, exchanges: 0 });
        }
        let most = cost.saturating_add((cost as f64 * config.excess.clamp(0.0, 1.0)) as Cost);
        let (mut exchanges, given) =
            (0, Start { mapping: mapping.clone(), greatest: loads.greatest(), cost });
        let mut starts = vec![given];
        starts.extend(self.simple(&mut loads)?);
        for (number, Start { mapping, greatest, cost }) in (0..).zip(starts) {
            // Where J is too great, only a lower maximum is worth it.
            let is_worth_it =
                number == 0 || cost <= most || (greatest as f64) < best.key.0 && self.is_greatest();
            if observer.should_stop() || !is_worth_it {
                continue;
            }
            loads.restart(graph, mapping.pes());
            let placed = Placed::new(graph, machine.distances()?, loads, mapping.into_pes());
            let mut search = Search::new(self, placed, scale, (cost, most.max(cost)));
            search.run(&mut Rng::new(derive(config.seed, number)));
            exchanges += search.made;
            best = search.best.into_iter().chain([best]).min_by(Found::compare).expect("there is one");
            loads = search.placed.loads;
        }
        let mapping = Mapping::many(machine.machine().num_pes(), best.pe_of)?;
        Ok(Lowered { cost: evaluate(graph, machine.distances()?, &mapping)?, mapping, exchanges })
    }
}

/// A mapping where the search may begin.
struct Start {
    mapping: Mapping,
    greatest: Cost,
    cost: Cost,
}

/// A mapping that was found.
#[derive(Clone)]
struct Found {
    key: Key,
    pe_of: Vec<PeId>,
}

impl Found {
    fn compare(&self, other: &Self) -> Ordering {
        self.key.0.total_cmp(&other.key.0).then(self.key.1.cmp(&other.key.1))
    }
}

impl Task<'_> {
    fn is_greatest(&self) -> bool {
        self.config.objective == JobObjective::Bottleneck
    }

    /// The simple mappings whose busiest carrier has the least load: of small J, and of any J. Those are the order of the processes, and the cuts of a
    /// grid.
    fn simple<C: Carriers>(&self, loads: &mut Loads<C>) -> Result<Vec<Start>, ScoreError> {
        let Lowering { graph, machine, fixed, balance, mapping, .. } = *self.given;
        if balance.is_some() || fixed.is_some_and(|fixed| !fixed.is_empty()) {
            return Ok(Vec::new());
        }
        let in_order = Mapping::in_order(machine.machine(), graph.num_nodes());
        let cuts = grid_mappings(graph, &Places::of(machine.machine())?, CUTS);
        let mut starts = Vec::new();
        for mapping in in_order.into_iter().chain(cuts) {
            loads.restart(graph, mapping.pes());
            let cost = evaluate(graph, machine.distances()?, &mapping)?;
            starts.push(Start { greatest: loads.greatest(), cost, mapping });
        }
        let of_given = evaluate(graph, machine.distances()?, mapping)? as f64;
        let most = (of_given * (1.0 + self.config.excess)) as Cost;
        starts.sort_by_key(|start| (start.cost > most, start.greatest, start.cost));
        let costly = starts.partition_point(|start| start.cost <= most);
        let others = starts.split_off(costly);
        Ok(starts.into_iter().take(1).chain(others.into_iter().take(1)).collect())
    }
}

/// What the values of all mappings are relative to.
#[derive(Clone, Copy)]
struct Scale {
    objective: JobObjective,
    power: u32,
    /// Loads are divided by this, so that no power is too large.
    load: f64,
    /// The sum of powers of the given mapping, and its J.
    sum: f64,
    cost: f64,
}

impl Scale {
    fn new<C: Carriers>(loads: &Loads<C>, cost: Cost, config: &BottleneckConfig) -> Self {
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
    fn key<C: Carriers>(&self, loads: &Loads<C>, cost: Cost, sum: f64) -> Key {
        match self.objective {
            JobObjective::J => Key(cost as f64, cost),
            JobObjective::Bottleneck => Key(loads.greatest() as f64, cost),
            JobObjective::Mixed => Key(self.energy(cost, sum), cost),
        }
    }
}

/// What is on each PE.
struct Seats {
    on: Vec<Vec<NodeId>>,
    capacity: Vec<u32>,
    /// Whether PEs have bounds instead of places: then only vertices of one weight change places.
    is_balanced: bool,
}

impl Seats {
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
struct Move {
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

struct Search<'a, C> {
    graph: &'a CsrGraph,
    placed: Placed<'a, C>,
    seats: Seats,
    movable: Vec<bool>,
    task: Task<'a>,
    scale: Scale,
    cost: Cost,
    most: Cost,
    sum: f64,
    /// The change of J and of the sum of powers by the move that is looked at.
    noted: (Cost, f64),
    /// The greatest load that polishing may bring.
    ceiling: Cost,
    busy: Vec<NodeId>,
    /// The best mapping so far whose J is small enough.
    best: Option<Found>,
    made: u64,
}

impl<'a, C: Carriers> Search<'a, C> {
    fn new(task: Task<'a>, placed: Placed<'a, C>, scale: Scale, (cost, most): (Cost, Cost)) -> Self {
        let &Lowering { graph, machine, fixed, balance, .. } = task.given;
        let seats = Seats::new(machine.machine(), &placed.pe_of, balance.is_some());
        let is_fixed = |process: NodeId| fixed.is_some_and(|fixed| fixed.of(process).is_some());
        let movable = graph.nodes().map(|process| !is_fixed(process)).collect();
        let sum = scale.sum_of(&placed.loads);
        let mut search = Self {
            graph,
            placed,
            seats,
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
    fn run(&mut self, rng: &mut Rng) {
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
                sweep(self, next, |_, change| at_temperature(change / temperature, &mut chance)).made;
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
                self.placed.look_at(process, pe);
            }
        }
        self.cost += self.placed.rise();
        self.placed.note();
        self.placed.make();
        for on in &mut self.seats.on {
            on.clear();
        }
        (0..).zip(pe_of).for_each(|(process, &pe)| self.seats.on[pe as usize].push(process));
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

    /// A random move; none if there hardly are any.
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
        let (from, count) = (self.placed.pe_of[process as usize], self.seats.on.len() as u32);
        let to = (pe + rng.below(2 * NEAR + 1)).checked_sub(NEAR).filter(|&to| to < count && to != from)?;
        if self.seats.has_room(to) {
            return Some(Move { process, from, to, partner: None });
        }
        let on = &self.seats.on[to as usize];
        let partner = *on.get(rng.below(on.len().max(1) as u32) as usize)?;
        self.allows(process, partner).then_some(Move { process, from, to, partner: Some(partner) })
    }

    /// Returns whether two processes may change places.
    fn allows(&self, process: NodeId, partner: NodeId) -> bool {
        let weight = |process| self.graph.node_weight(process);
        self.movable[partner as usize]
            && self.placed.pe_of[process as usize] != self.placed.pe_of[partner as usize]
            && (!self.seats.is_balanced || weight(process) == weight(partner))
    }
}

impl<C: Carriers> Evaluator for Search<'_, C> {
    type Move = Move;
    /// Of J and the power mean, each relative to the given mapping; infinite where J or a load would be too great.
    type Change = f64;

    fn change(&mut self, by: &Move) -> f64 {
        self.placed.look_at(by.process, by.to);
        by.partner.into_iter().for_each(|partner| self.placed.look_at(partner, by.from));
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
        self.seats.transfer(by.process, by.from, by.to);
        by.partner.into_iter().for_each(|partner| self.seats.transfer(partner, by.to, by.from));
        (self.cost, self.sum) = (self.cost + self.noted.0, self.sum + self.noted.1);
        self.keep();
    }

    fn leave(&mut self, _: &Move) {
        self.placed.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::graph::generate;
    use viem::machine::build;
    use viem::solve::{Balance, Config, Request};

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
                    evaluate(graph, distances, &Mapping::many(search.seats.on.len(), pe_of.clone())?)?
                );
                let sum = scale.sum_of(&search.placed.loads);
                assert!((search.sum - sum).abs() <= 1e-9 * sum.max(1.0), "{} {sum}", search.sum);
                assert!((scale.energy(search.cost, sum) - before - change).abs() < 1e-9);
                for (pe, on) in (0..).zip(&search.seats.on) {
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
            let machine = build(spec, distances, None).unwrap();
            let prepared = PreparedMachine::new(&*machine);
            let (few, many) = (generate::mesh(6, 6, 1), generate::mesh(16, 12, 1));
            let one_to_one = Request::new(&few, &prepared).then_lower(&Twins as &dyn Secondary);
            one_to_one.solve(&Config::fast(), &()).unwrap();
            let balanced = Request::new(&many, &prepared).balanced(Balance::default());
            balanced.then_lower(&Twins as &dyn Secondary).solve(&Config::fast(), &()).unwrap();
        }
    }
}
