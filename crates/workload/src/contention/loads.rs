//! The load of each link.

use crate::routing::{Hop, LaneId, Routing};
use viem::graph::CsrGraph;
use viem::ground::types::{Cost, NodeId, PeId, Weight};
use viem::machine::{Interconnect, Machine, MachineError};
use viem::mapping::problem::{ProblemError, check_cost, check_pes};

/// The routes of a machine, or `None` if only its distances are known.
pub fn routing_of(machine: &dyn Machine) -> Result<Option<Routing>, MachineError> {
    match machine.interconnect() {
        Interconnect::Ports => Ok(None),
        _ => Routing::new(machine).map(Some),
    }
}

/// The link with the greatest load.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct BusiestLink {
    /// Its name.
    pub name: String,
    /// Its load, a part of J. If links have [cycles of their own](viem::machine::Network::with_link_cycles), these count instead.
    pub load: Cost,
}

/// The load of each link, kept up to date as processes move.
///
/// ```
/// use viem_workload::contention::LinkLoads;
/// use viem::graph::generate;
/// use viem::machine::Grid;
/// use viem_workload::routing::Routing;
///
/// let routing = Routing::new(&Grid::mesh(&[4])?)?;
/// let loads = LinkLoads::of(&generate::grid(4, 1), &routing, &[0, 2, 1, 3])?;
/// let busiest = loads.busiest().expect("there is traffic");
/// assert_eq!((busiest.name.as_str(), busiest.load), ("(1) -> (2)", 3));
/// // The loads of all links add up to J.
/// assert_eq!(loads.total(), 2 * (2 + 1 + 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinkLoads<'a> {
    routing: &'a Routing,
    /// By the first lane of the link.
    loads: Vec<Cost>,
    hops: Vec<Hop>,
    /// The change by what was moved last, and the links that it concerns, which may be named twice.
    changes: Vec<Cost>,
    changed: Vec<LaneId>,
}

impl<'a> LinkLoads<'a> {
    /// The loads under a mapping, process i on PE `pe_of[i]`; O(links + m · links of a route). Both directions of an
    /// edge carry its weight.
    ///
    /// Fails if a process has no PE, if a PE does not exist, or if the loads could overflow.
    pub fn of(graph: &CsrGraph, routing: &'a Routing, pe_of: &[PeId]) -> Result<Self, ProblemError> {
        check_pes(graph, routing.num_pes(), pe_of)?;
        let (hops, cycles) = routing.longest();
        check_cost(graph, i64::try_from(hops.saturating_mul(cycles)).unwrap_or(i64::MAX))?;
        let none = vec![0; routing.num_lanes()];
        let mut loads =
            Self { routing, loads: none.clone(), hops: Vec::new(), changes: none, changed: Vec::new() };
        for node in graph.nodes() {
            for (target, weight) in graph.arcs(node) {
                loads.add(pe_of[node as usize], pe_of[target as usize], weight);
            }
        }
        loads.apply();
        Ok(loads)
    }

    /// The load of a link, given by its first lane.
    pub fn load(&self, link: LaneId) -> Cost {
        self.loads[link as usize]
    }

    /// The sum of all loads: J of the mapping, unless links have [cycles of their
    /// own](viem::machine::Network::with_link_cycles).
    pub fn total(&self) -> Cost {
        self.loads.iter().sum()
    }

    /// The greatest load; 0 without traffic. O(links).
    pub fn greatest(&self) -> Cost {
        self.loads.iter().copied().max().unwrap_or(0)
    }

    /// The link with the greatest load, of several the first; `None` without traffic.
    pub fn busiest(&self) -> Option<BusiestLink> {
        let load = self.greatest();
        let link = self.loads.iter().position(|&other| other == load).filter(|_| load > 0)?;
        Some(BusiestLink { name: self.routing.name(link as LaneId), load })
    }

    /// The greatest load on the routes of a process in both directions.
    pub(super) fn greatest_of(&mut self, graph: &CsrGraph, pe_of: &[PeId], process: NodeId) -> Cost {
        let here = pe_of[process as usize];
        let mut greatest = 0;
        for &other in graph.neighbours(process) {
            let there = pe_of[other as usize];
            self.hops.clear();
            self.routing.route(here, there, &mut self.hops);
            self.routing.route(there, here, &mut self.hops);
            let loads = self.hops.iter().map(|hop| self.loads[self.routing.link_of(hop.lane) as usize]);
            greatest = loads.fold(greatest, Cost::max);
        }
        greatest
    }

    /// Notes the change of the loads if processes move from their PEs in `before` to those in `after`. `moved` names those
    /// whose PEs differ, and `is_moved` marks them.
    pub(super) fn note(
        &mut self,
        graph: &CsrGraph,
        (before, after): (&[PeId], &[PeId]),
        (moved, is_moved): (&[NodeId], &[bool]),
    ) {
        for (process, other, weight) in edges_of_moved(graph, moved, is_moved) {
            let (from, to) = (before[process as usize], after[process as usize]);
            let (end, new_end) = (before[other as usize], after[other as usize]);
            self.add(from, end, -weight);
            self.add(end, from, -weight);
            self.add(to, new_end, weight);
            self.add(new_end, to, weight);
        }
    }

    /// Adds weight to the noted change of each link between two PEs.
    fn add(&mut self, from: PeId, to: PeId, weight: Weight) {
        self.hops.clear();
        self.routing.route(from, to, &mut self.hops);
        for hop in &self.hops {
            let link = self.routing.link_of(hop.lane);
            self.changes[link as usize] += weight * hop.cycles as Cost;
            self.changed.push(link);
        }
    }

    /// The noted changes as (load, change), each link once.
    pub(super) fn noted(&mut self) -> impl Iterator<Item = (Cost, Cost)> + '_ {
        self.changed.sort_unstable();
        self.changed.dedup();
        self.changed.iter().map(|&link| (self.loads[link as usize], self.changes[link as usize]))
    }

    /// Makes the noted changes.
    pub(super) fn apply(&mut self) {
        for link in self.changed.drain(..) {
            self.loads[link as usize] += std::mem::take(&mut self.changes[link as usize]);
        }
    }

    /// Forgets the noted changes.
    pub(super) fn forget(&mut self) {
        for link in self.changed.drain(..) {
            self.changes[link as usize] = 0;
        }
    }
}

/// The edges of processes that move, each once, with one of these first. `is_moved` marks the processes in `moved`.
pub(super) fn edges_of_moved<'a>(
    graph: &'a CsrGraph,
    moved: &'a [NodeId],
    is_moved: &'a [bool],
) -> impl Iterator<Item = (NodeId, NodeId, Weight)> + 'a {
    let edges = |process: NodeId| graph.arcs(process).map(move |(other, weight)| (process, other, weight));
    let is_first =
        |&(process, other, _): &(NodeId, NodeId, Weight)| !is_moved[other as usize] || process <= other;
    moved.iter().flat_map(move |&process| edges(process)).filter(is_first)
}
