//! Exchanges that lower the greatest load of a link.

use super::loads::{LinkLoads, edges_of_moved, routing_of};
use viem::graph::CsrGraph;
use viem::ground::observer::Observer;
use viem::ground::settings::{ConfigError, check};
use viem::ground::types::{Cost, NodeId, PeId};
use viem::machine::{DistanceOracle, Distances, Machine};
use viem::mapping::Mapping;
use viem::mapping::objective::{ScoreError, evaluate};
use viem::partition::FixedVertices;
use viem::solve::{Lowered, Lowering, PreparedMachine, Secondary};

/// How far J may rise, and how long the search may take.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct ReliefConfig {
    /// The share of J by which it may rise, from 0 to 1.
    pub excess: f64,
    /// The power of loads whose sum over all links is minimised: the higher, the more the busiest count; at least 1.
    pub power: u32,
    /// Upper limit on the edges that are looked at.
    pub effort: u64,
}

impl Default for ReliefConfig {
    fn default() -> Self {
        Self { excess: 0.005, power: 8, effort: 1 << 26 }
    }
}

impl ReliefConfig {
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
    /// The greatest load of a link; `None` if no link is known.
    pub greatest: Option<Cost>,
    /// The greatest load of a link under the mapping that was given.
    pub greatest_of_start: Option<Cost>,
    /// Exchanges made.
    pub exchanges: u64,
}

/// Lowers the greatest load of a link by exchanges, while J rises by at most a share of what it is.
///
/// An exchange swaps what is on two equal ranges of PEs: single ones, and ranges whose length divides the number of
/// PEs, such as nodes and racks. It is made if it lowers the sum of a high power of all loads and keeps J within the
/// limit; of all partners of a range that uses a busy link, the best is taken. The result is the given mapping unless
/// its greatest load is lower. Where only distances are known, no link is, and nothing changes. Fixed processes stay.
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
/// let (graph, machine) = (graph.build()?, machine::build("2:4", Some("9:10"), None)?);
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
    let (distances, machine) = (machine.distances()?, machine.machine());
    let cost = evaluate(graph, distances, start)?;
    let unchanged = |greatest| {
        let mapping = start.clone();
        Relief { mapping, cost, cost_of_start: cost, greatest, greatest_of_start: greatest, exchanges: 0 }
    };
    let Some(routing) = routing_of(machine)? else { return Ok(unchanged(None)) };
    let loads = LinkLoads::of(graph, &routing, start.pes())?;
    let greatest_of_start = loads.greatest();
    if greatest_of_start == 0 {
        return Ok(unchanged(Some(0)));
    }
    let most = cost + (cost as f64 * config.excess.clamp(0.0, 1.0)) as Cost;
    let ranges = Ranges::new(machine, start, fixed);
    let mut search = Search::new(graph, distances, loads, (ranges, start), config);
    let mut exchanges = 0;
    while search.goes_on(observer) {
        let made = search.round(most - cost, observer);
        exchanges += made;
        if made == 0 {
            break;
        }
    }
    let mapping = Mapping::many(machine.num_pes(), search.pe_of)?;
    // A machine of somebody's own may have other distances than its routes.
    let (found, greatest) = (evaluate(graph, distances, &mapping)?, search.loads.greatest());
    if greatest >= greatest_of_start || found > most {
        return Ok(unchanged(Some(greatest_of_start)));
    }
    let (greatest, greatest_of_start) = (Some(greatest), Some(greatest_of_start));
    Ok(Relief { mapping, cost: found, cost_of_start: cost, greatest, greatest_of_start, exchanges })
}

/// Links with at least this share of the greatest load are busy.
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

    /// Returns whether two ranges can be exchanged: neither is fixed, and one is not empty.
    fn are_alike(&self, a: usize, b: usize, length: usize) -> bool {
        let (here, there) = (a..a + length, b..b + length);
        let has_fixed =
            self.is_fixed[here.clone()].iter().chain(&self.is_fixed[there.clone()]).any(|&fixed| fixed);
        !has_fixed && self.capacity[here] == self.capacity[there]
    }

    fn exchange(&mut self, a: usize, b: usize, length: usize) {
        (0..length).for_each(|index| self.on.swap(a + index, b + index));
    }
}

struct Search<'a> {
    graph: &'a CsrGraph,
    distances: &'a Distances,
    loads: LinkLoads<'a>,
    ranges: Ranges,
    pe_of: Vec<PeId>,
    /// The same after the exchange that is looked at, which moves these processes.
    after: Vec<PeId>,
    moved: Vec<NodeId>,
    is_moved: Vec<bool>,
    config: &'a ReliefConfig,
    /// Loads are divided by this, so that no power is too large.
    scale: f64,
    /// By how much J has risen.
    risen: Cost,
    /// Edges looked at.
    work: u64,
}

impl<'a> Search<'a> {
    fn new(
        graph: &'a CsrGraph,
        distances: &'a Distances,
        loads: LinkLoads<'a>,
        (ranges, start): (Ranges, &Mapping),
        config: &'a ReliefConfig,
    ) -> Self {
        let (pe_of, after) = (start.pes().to_vec(), start.pes().to_vec());
        let is_moved = vec![false; graph.num_nodes()];
        let scale = loads.greatest() as f64;
        let moved = Vec::new();
        Self {
            graph,
            distances,
            loads,
            ranges,
            pe_of,
            after,
            moved,
            is_moved,
            config,
            scale,
            risen: 0,
            work: 0,
        }
    }

    fn goes_on(&self, observer: &dyn Observer) -> bool {
        self.work < self.config.effort && !observer.should_stop()
    }

    /// Makes the best exchange of each range that uses a busy link; returns how many were made. J may rise by `most` in all.
    fn round(&mut self, most: Cost, observer: &dyn Observer) -> u64 {
        let mut made = 0;
        for length in self.ranges.lengths() {
            let busy = (self.loads.greatest() as f64 * BUSY) as Cost;
            for first in (0..self.ranges.on.len()).step_by(length) {
                if !self.goes_on(observer) {
                    return made;
                }
                if !self.is_busy(first, length, busy) {
                    continue;
                }
                if let Some(partner) = self.best_partner(first, length, most) {
                    self.make(first, partner, length);
                    made += 1;
                }
            }
        }
        made
    }

    /// Returns whether a process on a range uses a link of this load.
    fn is_busy(&mut self, first: usize, length: usize, busy: Cost) -> bool {
        let on = self.ranges.on[first..first + length].iter().flatten();
        on.into_iter().any(|&process| self.loads.greatest_of(self.graph, &self.pe_of, process) >= busy)
    }

    /// The range whose exchange lowers the sum of powers most while J has risen by at most `most` in all.
    fn best_partner(&mut self, first: usize, length: usize, most: Cost) -> Option<usize> {
        let (mut best, mut least) = (None, -1e-9);
        for partner in (0..self.ranges.on.len()).step_by(length) {
            if partner == first || !self.ranges.are_alike(first, partner, length) {
                continue;
            }
            self.move_contents(first, partner, length);
            if self.risen + self.rise() <= most {
                self.note();
                let change = self.change_of_powers();
                self.loads.forget();
                if change < least {
                    (best, least) = (Some(partner), change);
                }
            }
            self.move_back();
        }
        best
    }

    fn make(&mut self, first: usize, partner: usize, length: usize) {
        self.move_contents(first, partner, length);
        self.risen += self.rise();
        self.note();
        self.loads.apply();
        for &process in &self.moved {
            self.pe_of[process as usize] = self.after[process as usize];
        }
        self.move_back();
        self.ranges.exchange(first, partner, length);
    }

    /// Looks at an exchange.
    fn move_contents(&mut self, first: usize, partner: usize, length: usize) {
        for index in 0..length {
            for (from, to) in [(first + index, partner + index), (partner + index, first + index)] {
                for &process in &self.ranges.on[from] {
                    self.after[process as usize] = to as PeId;
                    self.is_moved[process as usize] = true;
                    self.moved.push(process);
                }
            }
        }
    }

    /// Stops examining the exchange.
    fn move_back(&mut self) {
        for process in self.moved.drain(..) {
            self.after[process as usize] = self.pe_of[process as usize];
            self.is_moved[process as usize] = false;
        }
    }

    /// By how much J rises with the exchange.
    fn rise(&mut self) -> Cost {
        self.work += self.moved.iter().map(|&process| self.graph.degree(process) as u64).sum::<u64>();
        let edges = edges_of_moved(self.graph, &self.moved, &self.is_moved);
        let rise = edges.map(|(process, other, weight)| {
            let distance =
                |pe_of: &[PeId]| self.distances.distance(pe_of[process as usize], pe_of[other as usize]);
            weight * (distance(&self.after) - distance(&self.pe_of))
        });
        2 * rise.sum::<Cost>()
    }

    fn note(&mut self) {
        let marks = (self.moved.as_slice(), self.is_moved.as_slice());
        self.work += 4 * self.moved.iter().map(|&process| self.graph.degree(process) as u64).sum::<u64>();
        self.loads.note(self.graph, (&self.pe_of, &self.after), marks);
    }

    /// By how much the sum of powers changes with the noted loads.
    fn change_of_powers(&mut self) -> f64 {
        let (scale, power) = (self.scale, self.config.power as i32);
        let of = |load: Cost| (load as f64 / scale).powi(power);
        self.loads.noted().map(|(load, change)| of(load + change) - of(load)).sum()
    }
}
