//! Exchanges that lower a secondary objective: the greatest load of a carrier of traffic, such as a link.

use super::loads::{Carriers, CarriersVisitor, Loads};
use super::objective::SecondaryObjective;
use super::placed::Placed;
use viem::base::exchange::{Evaluator, best};
use viem::base::observer::Observer;
use viem::base::settings::{ConfigError, check};
use viem::base::types::{Cost, NodeId, PeId};
use viem::graph::CsrGraph;
use viem::machine::{Distances, Machine};
use viem::mapping::Mapping;
use viem::mapping::objective::{ScoreError, evaluate};
use viem::partition::FixedVertices;
use viem::solve::{Lowered, Lowering, PreparedMachine, Secondary};

/// What is lowered, how far J may rise, and how long the search may take.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct ReliefConfig {
    /// What is lowered.
    pub objective: SecondaryObjective,
    /// The share of J by which it may rise, from 0 to 1.
    pub excess: f64,
    /// The power of loads whose sum is minimised: the higher, the more the busiest count; at least 1.
    pub power: u32,
    /// Upper limit on the edges that are visited.
    pub effort: u64,
}

impl Default for ReliefConfig {
    fn default() -> Self {
        Self { objective: SecondaryObjective::default(), excess: 0.005, power: 8, effort: 1 << 26 }
    }
}

impl ReliefConfig {
    /// The same settings for another objective.
    pub fn with_objective(self, objective: SecondaryObjective) -> Self {
        Self { objective, ..self }
    }

    /// The same settings, but J may rise by this share.
    pub fn with_excess(self, excess: f64) -> Self {
        Self { excess, ..self }
    }

    /// Fails if a setting is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check("excess", self.excess, (0.0..=1.0).contains(&self.excess), "from 0 to 1")?;
        check("power", self.power, (1..=64).contains(&self.power), "from 1 to 64")
    }
}

impl Secondary for ReliefConfig {
    fn lower(&self, given: &Lowering<'_>) -> Result<Lowered, ScoreError> {
        let &Lowering { graph, machine, mapping, fixed, observer, .. } = given;
        let Relief { mapping, cost, exchanges, .. } =
            relieve(graph, machine, mapping, fixed, self, observer)?;
        Ok(Lowered { mapping, cost, exchanges })
    }
}

/// A mapping with a lower greatest load, or the mapping that was given.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Relief {
    /// The mapping.
    pub mapping: Mapping,
    /// Its J.
    pub cost: Cost,
    /// J of the mapping that was given.
    pub cost_of_start: Cost,
    /// The objective; `None` if what carries traffic is not known.
    pub greatest: Option<Cost>,
    /// The objective under the mapping that was given.
    pub greatest_of_start: Option<Cost>,
    /// Exchanges made.
    pub exchanges: u64,
}

/// Lowers a secondary objective, such as the greatest load of a link, by exchanges, while J rises by at most a share of what it is.
///
/// An exchange swaps what is on two equal ranges of PEs: single ones, and ranges whose length divides the number of
/// PEs, such as nodes and racks. It is made if it lowers the sum of a high power of all loads and keeps J within the
/// limit; of all partners of a range that loads a busy carrier, the best is taken. The result is the given mapping unless
/// its greatest load is lower. Where only the distances of a machine are known, `BusiestLink` changes nothing. Fixed processes stay.
/// Deterministic, on one thread; O(effort · links of a route).
///
/// ```
/// use viem_workload::contention::{ReliefConfig, relieve};
/// use viem::graph::GraphBuilder;
/// use viem::machine::{self, Machine as _};
/// use viem::PreparedMachine;
/// use viem::mapping::Mapping;
///
/// // Nodes of two cores. Both edges leave the first node, or one each of two nodes.
/// let mut graph = GraphBuilder::new(8);
/// graph.add_edge(0, 2, 5);
/// graph.add_edge(1, 3, 5);
/// let (graph, machine) = (graph.build()?, machine::build("2:4", "9:10")?);
/// let start = Mapping::from_pes(vec![0, 1, 2, 4, 3, 5, 6, 7])?;
/// let relief = relieve(&graph, &PreparedMachine::new(&machine), &start, None, &ReliefConfig::default(), &())?;
/// assert!(relief.greatest <= relief.greatest_of_start);
/// assert!(relief.cost as f64 <= 1.005 * relief.cost_of_start as f64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn relieve(
    graph: &CsrGraph,
    machine: &PreparedMachine<'_>,
    start: &Mapping,
    fixed: Option<&FixedVertices>,
    config: &ReliefConfig,
    observer: &dyn Observer,
) -> Result<Relief, ScoreError> {
    let cost = evaluate(graph, machine.distances()?, start)?;
    let start = Start { graph, machine, mapping: start, cost, fixed, config, observer };
    let lowered = config.objective.visit(machine, start)?;
    Ok(lowered.unwrap_or_else(|| start.unchanged(None)))
}

/// The mapping that is given, and all that is given with it.
#[derive(Clone, Copy)]
struct Start<'a> {
    graph: &'a CsrGraph,
    machine: &'a PreparedMachine<'a>,
    mapping: &'a Mapping,
    cost: Cost,
    fixed: Option<&'a FixedVertices>,
    config: &'a ReliefConfig,
    observer: &'a dyn Observer,
}

impl Start<'_> {
    fn unchanged(&self, greatest: Option<Cost>) -> Relief {
        let (mapping, cost) = (self.mapping.clone(), self.cost);
        Relief { mapping, cost, cost_of_start: cost, greatest, greatest_of_start: greatest, exchanges: 0 }
    }
}

impl CarriersVisitor for Start<'_> {
    type Output = Relief;

    fn visit<C: Carriers>(self, carriers: C) -> Result<Relief, ScoreError> {
        let Self { graph, machine, mapping, cost: cost_of_start, config, .. } = self;
        let loads = Loads::of(graph, carriers, mapping.pes())?;
        let greatest_of_start = loads.greatest();
        if greatest_of_start == 0 {
            return Ok(self.unchanged(Some(0)));
        }
        let distances = machine.distances()?;
        let excess = (cost_of_start as f64 * config.excess.clamp(0.0, 1.0)) as Cost;
        let mut search = Search::new(&self, distances, loads, excess);
        let mut exchanges = 0;
        loop {
            let made = search.round(self.observer);
            exchanges += made;
            if made == 0 {
                break;
            }
        }
        let (pe_of, loads) = (search.placed.pe_of, search.placed.loads);
        let mapping = Mapping::many(machine.machine().num_pes(), pe_of)?;
        // A machine of somebody's own may have other distances than its routes.
        let (cost, greatest) = (evaluate(graph, distances, &mapping)?, loads.greatest());
        if greatest >= greatest_of_start || cost > cost_of_start + excess {
            return Ok(self.unchanged(Some(greatest_of_start)));
        }
        let (greatest, greatest_of_start) = (Some(greatest), Some(greatest_of_start));
        Ok(Relief { mapping, cost, cost_of_start, greatest, greatest_of_start, exchanges })
    }
}

/// Carriers with at least this share of the greatest load are busy.
const BUSY: f64 = 0.8;

/// What is on each PE, and which may be exchanged.
struct Ranges {
    /// The processes of each PE.
    on: Vec<Vec<NodeId>>,
    capacity: Vec<u32>,
    /// Whether a process is fixed there.
    is_fixed: Vec<bool>,
}

impl Ranges {
    fn new(machine: &dyn Machine, mapping: &Mapping, fixed: Option<&FixedVertices>) -> Self {
        let count = machine.num_pes();
        let (mut on, mut is_fixed) = (vec![Vec::new(); count], vec![false; count]);
        for (process, &pe) in (0..).zip(mapping.pes()) {
            on[pe as usize].push(process);
            is_fixed[pe as usize] |= fixed.is_some_and(|fixed| fixed.of(process).is_some());
        }
        Self { on, capacity: machine.capacities(), is_fixed }
    }

    /// The lengths of ranges, but for all PEs, the longest first.
    fn lengths(&self) -> Vec<usize> {
        let count = self.on.len();
        (1..=count / 2).rev().filter(|length| count.is_multiple_of(*length)).collect()
    }

    /// Returns whether two ranges can be exchanged: neither holds a fixed process, and their capacities are equal.
    fn are_alike(&self, a: usize, b: usize, length: usize) -> bool {
        let (here, there) = (a..a + length, b..b + length);
        let has_fixed =
            self.is_fixed[here.clone()].iter().chain(&self.is_fixed[there.clone()]).any(|&fixed| fixed);
        !has_fixed && self.capacity[here] == self.capacity[there]
    }

    fn exchange(&mut self, Exchange { first, partner, length }: Exchange) {
        (0..length).for_each(|index| self.on.swap(first + index, partner + index));
    }
}

/// An exchange of what is on two ranges of one length.
#[derive(Clone, Copy)]
struct Exchange {
    first: usize,
    partner: usize,
    length: usize,
}

struct Search<'a, C> {
    placed: Placed<'a, C>,
    ranges: Ranges,
    config: &'a ReliefConfig,
    /// Loads are divided by this, so that no power is too large.
    scale: f64,
    /// By how much J may still rise.
    left: Cost,
    /// By how much J rises with the exchange that is tried.
    rise: Cost,
}

impl<'a, C: Carriers> Search<'a, C> {
    /// A search by which J may rise by `excess`.
    fn new(start: &Start<'a>, distances: &'a Distances, loads: Loads<C>, excess: Cost) -> Self {
        let &Start { graph, machine, mapping, fixed, config, .. } = start;
        Self {
            ranges: Ranges::new(machine.machine(), mapping, fixed),
            config,
            scale: loads.greatest() as f64,
            placed: Placed::new(graph, distances, loads, mapping.pes().to_vec()),
            left: excess,
            rise: 0,
        }
    }

    fn goes_on(&self, observer: &dyn Observer) -> bool {
        self.placed.work < self.config.effort && !observer.should_stop()
    }

    /// Makes the best exchange of each range with traffic on a busy carrier; returns how many were made.
    fn round(&mut self, observer: &dyn Observer) -> u64 {
        let (mut made, count) = (0, self.ranges.on.len());
        for length in self.ranges.lengths() {
            let busy = (self.placed.loads.greatest() as f64 * BUSY) as Cost;
            for first in (0..count).step_by(length) {
                if !self.goes_on(observer) {
                    return made;
                }
                if !self.is_busy(first, length, busy) {
                    continue;
                }
                let mut partners = (0..count).step_by(length).filter(|&partner| partner != first);
                let next = |search: &mut Self| {
                    let partner =
                        partners.find(|&partner| search.ranges.are_alike(first, partner, length))?;
                    Some(Exchange { first, partner, length })
                };
                made += best(self, next, -1e-9).made;
            }
        }
        made
    }

    /// Returns whether a process on a range has traffic on a carrier of this load.
    fn is_busy(&mut self, first: usize, length: usize, busy: Cost) -> bool {
        let on = self.ranges.on[first..first + length].iter().flatten();
        on.into_iter().any(|&process| self.placed.is_busy(process, busy))
    }

    /// Tries an exchange.
    fn move_contents(&mut self, Exchange { first, partner, length }: Exchange) {
        for index in 0..length {
            for (from, to) in [(first + index, partner + index), (partner + index, first + index)] {
                self.ranges.on[from].iter().for_each(|&process| self.placed.displace(process, to as PeId));
            }
        }
    }
}

impl<C: Carriers> Evaluator for Search<'_, C> {
    type Move = Exchange;
    /// Of the sum of powers; infinite if J would rise too much.
    type Change = f64;

    fn change(&mut self, by: &Exchange) -> f64 {
        self.move_contents(*by);
        self.rise = self.placed.rise();
        if self.rise > self.left {
            return f64::INFINITY;
        }
        self.placed.note();
        self.placed.loads.change_of_powers(self.scale, self.config.power)
    }

    fn make(&mut self, by: Exchange, _: f64) {
        self.left -= self.rise;
        self.placed.make();
        self.ranges.exchange(by);
    }

    fn leave(&mut self, _: &Exchange) {
        self.placed.leave();
    }
}
