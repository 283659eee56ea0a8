//! The links of a machine, and the route of each message over them.
//!
//! Routes are deterministic: they depend only on source and destination.
//!
//! | machine | links | route | messages travel |
//! |---|---|---|---|
//! | a grid, a hypercube | two for each pair of neighbours, one each way; in rings two lanes each | e-cube: the first dimension first, the shorter way round | as worms |
//! | a tree, regular or uneven | one up and one down for each PE and each group | up to the group of both, and down | hop by hop |
//! | rails | two for each GPU to its node and two to its rail, and for each rail, pod and so on | inside the node, or up to the rail, the pod and so on, and down | hop by hop |
//! | a network | two for each link | the cheapest path; of several, the number of the destination's host selects one, or dimensions come in order | hop by hop |
//! | nothing known | a port out of each PE and one into it | out and in | hop by hop |
//!
//! As a worm (wormhole flow control), a message of L flits takes L + d - 1 flit times over d links, and holds
//! the links it has reached while it waits for more ([`simulate`](crate::simulate)). Hop by hop
//! (store and forward), it is transmitted over each link as a whole, and takes L times the cost of the links:
//! L times the distance of the PEs.
//!
//! # Rings without deadlock
//!
//! Worms in a ring could wait for each other in a circle. Each link of a closed dimension therefore has two
//! lanes: a message changes from the first to the second lane where it crosses from the last vertex to the
//! first (Dally and Seitz 1987). Both lanes carry a flit at a time, which is more than one wire can;
//! [`Routing::link_of`] returns which lanes belong to one link.
//!
//! # Trees
//!
//! A link of level l joins a group of level l - 1 (on the first level, a PE) to its group of level l. It
//! costs the distance of level l minus that of the levels inside, half of it upwards and half downwards. If
//! distances decrease outwards, a message skips the levels with a larger distance than its own.

mod grid;
mod hop;
mod network;
mod ports;
mod rails;
mod tree;

pub use hop::{Flow, Hop, LaneId};

use grid::GridRoutes;
use network::NetworkRoutes;
use ports::PortRoutes;
use rails::RailRoutes;
pub(crate) use tree::TreeLevel;
use tree::TreeRoutes;
use viem::base::types::PeId;
use viem::machine::{Interconnect, Machine, MachineError, Nodes};

/// The links of a machine and the routes over them.
///
/// ```
/// use viem_workload::routing::{Flow, Routing};
/// use viem::machine::Grid;
///
/// let routing = Routing::new(&Grid::mesh(&[4, 4])?)?;
/// let mut hops = Vec::new();
/// assert_eq!(routing.route(0, 10, &mut hops), Flow::Wormhole);
/// let links: Vec<String> = hops.iter().map(|hop| routing.name(routing.link_of(hop.lane))).collect();
/// assert_eq!(links, ["(0,0) -> (1,0)", "(1,0) -> (2,0)", "(2,0) -> (2,1)", "(2,1) -> (2,2)"]);
/// # Ok::<(), viem::machine::MachineError>(())
/// ```
#[derive(Debug)]
pub struct Routing {
    num_pes: usize,
    routes: Routes,
    /// The number of each PE in the whole machine, if this is a part of one.
    list: Option<Vec<PeId>>,
}

#[derive(Debug)]
enum Routes {
    Grid(GridRoutes),
    Tree(TreeRoutes),
    Rails(RailRoutes),
    Network(NetworkRoutes),
    Ports(PortRoutes),
}

impl Routing {
    /// The routes of a machine. O(PEs) at most. Routes in networks are found on first use, by a search from
    /// the target router, or from the PE if it has several links; a search takes four bytes per vertex.
    pub fn new(machine: &dyn Machine) -> Result<Self, MachineError> {
        let (mut interconnect, mut list) = (machine.interconnect(), None);
        while let Interconnect::Listed { whole, list: inner } = interconnect {
            list = Some(match list {
                None => inner,
                Some(outer) => Vec::into_iter(outer).map(|pe: PeId| inner[pe as usize]).collect(),
            });
            interconnect = *whole;
        }
        let routes = match interconnect {
            Interconnect::Grid(grid) => Routes::Grid(GridRoutes::new(&grid)?),
            Interconnect::Tree(tree) => Routes::Tree(TreeRoutes::new(&tree)?),
            Interconnect::UnevenTree(tree) => Routes::Tree(TreeRoutes::uneven(&tree)?),
            Interconnect::Rails(rails) => Routes::Rails(RailRoutes::new(&rails)?),
            Interconnect::Network(network) => Routes::Network(NetworkRoutes::new(network)),
            Interconnect::Ports | Interconnect::Listed { .. } => Routes::Ports(PortRoutes::new(machine)?),
        };
        Ok(Self { num_pes: machine.num_pes(), routes, list })
    }

    /// The same with a single lane in rings, as in hardware without virtual channels. Worms may then
    /// deadlock, which the simulator reports.
    pub fn with_single_lanes(mut self) -> Self {
        if let Routes::Grid(grid) = &mut self.routes {
            grid.join_lanes();
        }
        self
    }

    /// Number of PEs.
    pub fn num_pes(&self) -> usize {
        self.num_pes
    }

    /// Number of lanes.
    pub fn num_lanes(&self) -> usize {
        match &self.routes {
            Routes::Grid(routes) => routes.num_lanes(),
            Routes::Tree(routes) => routes.num_links(),
            Routes::Rails(routes) => routes.num_links(),
            Routes::Network(routes) => routes.num_links(),
            Routes::Ports(routes) => routes.num_links(),
        }
    }

    /// The link that a lane belongs to, given as its first lane.
    pub fn link_of(&self, lane: LaneId) -> LaneId {
        match &self.routes {
            Routes::Grid(routes) => routes.link_of(lane),
            _ => lane,
        }
    }

    /// Appends the hops from one PE to another to `hops`, and returns how messages travel over them. There
    /// are none if the PEs are the same, or so near that messages take no time.
    pub fn route(&self, from: PeId, to: PeId, hops: &mut Vec<Hop>) -> Flow {
        let (from, to) = (self.whole(from), self.whole(to));
        match &self.routes {
            Routes::Grid(routes) => return routes.route(from, to, hops),
            Routes::Tree(routes) => routes.route(from, to, 0, hops),
            Routes::Rails(routes) => routes.route(from, to, hops),
            Routes::Network(routes) => routes.route(from, to, hops),
            Routes::Ports(routes) => routes.route(from, to, hops),
        }
        Flow::StoreAndForward
    }

    /// The name of a link, given by its first lane, for output.
    pub fn name(&self, link: LaneId) -> String {
        match &self.routes {
            Routes::Grid(routes) => routes.name(link),
            Routes::Tree(routes) => routes.name(link, 0),
            Routes::Rails(routes) => routes.name(link),
            Routes::Network(routes) => routes.name(link),
            Routes::Ports(routes) => routes.name(link),
        }
    }

    /// The number of switches. Routers of grids belong to PEs, so they do not count. PEs with ports have no switches.
    pub(crate) fn num_switches(&self) -> usize {
        match &self.routes {
            Routes::Tree(routes) => routes.num_switches(),
            Routes::Rails(routes) => routes.num_switches(),
            Routes::Network(routes) => routes.num_switches(),
            Routes::Grid(_) | Routes::Ports(_) => 0,
        }
    }

    /// The switches that messages between these nodes pass, in ascending order; `machine` is that of the routes. Those inside of nodes are left out,
    /// also where the machine has only some PEs of them. O(PEs · log PEs) for each level of a tree; a route for each PE of a network.
    pub(crate) fn switches_between(&self, nodes: &Nodes, machine: &dyn Machine) -> Vec<u32> {
        let pes: Vec<PeId> = (0..self.num_pes as PeId).map(|pe| self.whole(pe)).collect();
        match &self.routes {
            _ if nodes.hosts().len() < 2 => Vec::new(),
            Routes::Tree(routes) => {
                let mut whole = machine;
                while let Some(larger) = whole.whole() {
                    whole = larger;
                }
                let node_of = |pe: PeId| whole.located().map_or(pe, |located| located.location(pe).node);
                routes.switches_above(routes.levels_inside_nodes(&pes, &node_of), &pes)
            }
            Routes::Rails(routes) => routes.switches_between(&pes),
            Routes::Network(routes) => {
                let node_of = (0..).map(|pe| nodes.node(pe));
                routes.switches_between(&pes.into_iter().zip(node_of).collect::<Vec<_>>())
            }
            Routes::Grid(_) | Routes::Ports(_) => Vec::new(),
        }
    }

    /// Appends the switches that messages from one PE to another pass, each once.
    pub(crate) fn pass(&self, from: PeId, to: PeId, switches: &mut Vec<u32>) {
        let (from, to) = (self.whole(from), self.whole(to));
        match &self.routes {
            Routes::Tree(routes) => routes.pass(from, to, switches),
            Routes::Rails(routes) => routes.pass(from, to, switches),
            Routes::Network(routes) => routes.pass(from, to, switches),
            Routes::Grid(_) | Routes::Ports(_) => {}
        }
    }

    /// The name of a switch, for output.
    pub(crate) fn switch_name(&self, switch: u32) -> String {
        match &self.routes {
            Routes::Tree(routes) => routes.switch_name(switch, 0),
            Routes::Rails(routes) => routes.switch_name(switch),
            Routes::Network(routes) => routes.switch_name(switch),
            Routes::Grid(_) | Routes::Ports(_) => format!("switch {switch}"),
        }
    }

    /// Upper bounds on the hops of a route and on its cycles per flit.
    pub fn longest(&self) -> (u64, u64) {
        match &self.routes {
            Routes::Grid(routes) => routes.longest(),
            Routes::Tree(routes) => routes.longest(),
            Routes::Rails(routes) => routes.longest(),
            Routes::Network(routes) => routes.longest(),
            Routes::Ports(routes) => routes.longest(),
        }
    }

    /// The levels of a tree, innermost first; the whole tree is not a level. O(PEs) for each level.
    pub(crate) fn levels(&self) -> Option<Vec<TreeLevel>> {
        let Routes::Tree(tree) = &self.routes else { return None };
        let pes = 0..self.num_pes as PeId;
        let group_of = |level| pes.clone().map(|pe| tree.group(level, self.whole(pe)) as u32).collect();
        Some((0..tree.num_levels()).map(|level| tree.level(level, group_of(level))).collect())
    }

    fn whole(&self, pe: PeId) -> PeId {
        self.list.as_ref().map_or(pe, |list| list[pe as usize])
    }
}
