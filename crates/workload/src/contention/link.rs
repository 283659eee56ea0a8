//! The load of each link.

use super::loads::{Carriers, CarriersVisitor, Loads};
use crate::routing::{Hop, LaneId, Routing};
use viem::base::types::{Cost, PeId};
use viem::graph::CsrGraph;
use viem::machine::{Interconnect, Machine, MachineError};
use viem::mapping::objective::ScoreError;
use viem::mapping::problem::ProblemError;

/// The routes of a machine, or `None` if only its distances are known.
pub fn routing_of(machine: &dyn Machine) -> Result<Option<Routing>, MachineError> {
    match machine.interconnect() {
        Interconnect::Ports => Ok(None),
        _ => Routing::new(machine).map(Some),
    }
}

/// Runs a visitor over the links of a machine.
pub(super) fn visit<V: CarriersVisitor>(routing: &Routing, visitor: V) -> Result<V::Output, ScoreError> {
    visitor.visit(Links::new(routing))
}

/// The links of a machine. Each has the number of its first lane.
#[derive(Clone, Debug)]
struct Links<'a> {
    routing: &'a Routing,
    hops: Vec<Hop>,
}

impl<'a> Links<'a> {
    fn new(routing: &'a Routing) -> Self {
        Self { routing, hops: Vec::new() }
    }
}

impl Carriers for Links<'_> {
    fn num_pes(&self) -> usize {
        self.routing.num_pes()
    }

    fn count(&self) -> usize {
        self.routing.num_lanes()
    }

    fn most(&self) -> Cost {
        let (hops, cycles) = self.routing.longest();
        Cost::try_from(hops.saturating_mul(cycles)).unwrap_or(Cost::MAX)
    }

    #[inline]
    fn each(&mut self, from: PeId, to: PeId, mut carried: impl FnMut(usize, Cost)) {
        self.hops.clear();
        self.routing.route(from, to, &mut self.hops);
        for hop in self.hops.iter().filter(|hop| hop.cycles > 0) {
            carried(self.routing.link_of(hop.lane) as usize, hop.cycles as Cost);
        }
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

/// The load of each link.
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
pub struct LinkLoads<'a>(Loads<Links<'a>>);

impl<'a> LinkLoads<'a> {
    /// The loads under a mapping, process i on PE `pe_of[i]`; O(links + m · links of a route). Both directions of an
    /// edge carry its weight.
    ///
    /// Fails if a process has no PE, if a PE does not exist, or if the loads could overflow.
    pub fn of(graph: &CsrGraph, routing: &'a Routing, pe_of: &[PeId]) -> Result<Self, ProblemError> {
        Loads::of(graph, Links::new(routing), pe_of).map(Self)
    }

    /// The load of a link, given by its first lane.
    pub fn load(&self, link: LaneId) -> Cost {
        self.0.all()[link as usize]
    }

    /// The sum of all loads: J of the mapping, unless links have [cycles of their
    /// own](viem::machine::Network::with_link_cycles).
    pub fn total(&self) -> Cost {
        self.0.all().iter().sum()
    }

    /// The greatest load; 0 without traffic. O(1).
    pub fn greatest(&self) -> Cost {
        self.0.greatest()
    }

    /// The link with the greatest load, of several the first; `None` without traffic.
    pub fn busiest(&self) -> Option<BusiestLink> {
        let load = self.greatest();
        let link = self.0.all().iter().position(|&other| other == load).filter(|_| load > 0)?;
        Some(BusiestLink { name: self.0.carriers.routing.name(link as LaneId), load })
    }
}
