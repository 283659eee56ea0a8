//! The traffic that passes each switch between nodes.

use super::loads::{Carriers, Loads};
use crate::routing::Routing;
use viem::base::types::{Cost, PeId};
use viem::graph::CsrGraph;
use viem::machine::Nodes;
use viem::mapping::problem::ProblemError;

/// The switches between the nodes of a machine: groups of several nodes in trees, rails, and routers of networks. Grids have none, as
/// each of their routers is the place of a PE or a node.
///
/// ```
/// use viem::graph::generate;
/// use viem::machine::{Nodes, build};
/// use viem_workload::contention::Switches;
/// use viem_workload::routing::Routing;
///
/// // Two nodes of four cores at one switch: one edge of a path through all cores crosses it, with a message in each direction.
/// let tree = build("2:2:2", "1:10:100")?;
/// let (nodes, routing) = (Nodes::of(&tree), Routing::new(&tree)?);
/// let switches = Switches::new(&routing, &nodes);
/// assert_eq!(switches.loads(&generate::grid(8, 1), &[0, 1, 2, 3, 4, 5, 6, 7])?, [2]);
/// assert_eq!(switches.name(0), "level 3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Switches<'a> {
    routing: &'a Routing,
    /// The number of each switch of the routing among the switches between nodes, if it is one.
    place: Vec<Option<usize>>,
    /// The switches between nodes.
    switches: Vec<u32>,
}

impl<'a> Switches<'a> {
    /// The switches of the routes of a machine with these nodes; O(PEs · links of a route). A switch that is passed by messages between the PEs of
    /// exactly one node is inside that node, and is left out.
    pub fn new(routing: &'a Routing, nodes: &Nodes) -> Self {
        let is_inside = inside_of_nodes(routing, nodes);
        let is_between = |&switch: &u32| routing.is_switch(switch) && !is_inside[switch as usize];
        let switches: Vec<u32> = (0..routing.num_switches() as u32).filter(is_between).collect();
        let mut place = vec![None; routing.num_switches()];
        switches.iter().enumerate().for_each(|(number, &switch)| place[switch as usize] = Some(number));
        Self { routing, place, switches }
    }

    /// The number of switches.
    pub fn len(&self) -> usize {
        self.switches.len()
    }

    /// Returns whether there are no switches.
    pub fn is_empty(&self) -> bool {
        self.switches.is_empty()
    }

    /// The name of a switch, whose number is less than [`len`](Self::len).
    ///
    /// # Panics
    ///
    /// There is no such switch.
    pub fn name(&self, switch: usize) -> String {
        self.routing.switch_name(self.switches[switch])
    }

    /// The weight of all messages that pass each switch under a mapping, process i on PE `pe_of[i]`. Each direction of an edge carries its weight.
    /// O(switches + m · links of a route).
    ///
    /// # Errors
    ///
    /// A process has no PE, a PE does not exist, or loads could overflow.
    pub fn loads(&self, graph: &CsrGraph, pe_of: &[PeId]) -> Result<Vec<Cost>, ProblemError> {
        let passed = Passed { switches: self, passed: Vec::new() };
        Ok(Loads::of(graph, passed, pe_of)?.all().to_vec())
    }
}

/// Returns for each switch whether it is passed by messages inside exactly one node.
fn inside_of_nodes(routing: &Routing, nodes: &Nodes) -> Vec<bool> {
    let mut node_of: Vec<Option<usize>> = vec![None; routing.num_switches()];
    let mut is_shared = vec![false; routing.num_switches()];
    let mut first_pes: Vec<Option<PeId>> = vec![None; nodes.hosts().len()];
    let mut passed = Vec::new();
    for pe in 0..routing.num_pes() as PeId {
        let node = nodes.node(pe);
        routing.pass(*first_pes[node].get_or_insert(pe), pe, &mut passed);
        for switch in passed.drain(..) {
            is_shared[switch as usize] |= *node_of[switch as usize].get_or_insert(node) != node;
        }
    }
    node_of.iter().zip(is_shared).map(|(node, is_shared)| node.is_some() && !is_shared).collect()
}

/// A message loads each switch that it passes.
struct Passed<'a> {
    switches: &'a Switches<'a>,
    passed: Vec<u32>,
}

impl Carriers for Passed<'_> {
    fn num_pes(&self) -> usize {
        self.switches.routing.num_pes()
    }

    fn count(&self) -> usize {
        self.switches.len()
    }

    fn most(&self) -> Cost {
        1
    }

    fn both_ways(&mut self, one: PeId, other: PeId, mut carried: impl FnMut(usize, Cost)) {
        let Self { switches: Switches { routing, place, .. }, passed } = self;
        routing.pass(one, other, passed);
        routing.pass(other, one, passed);
        for place in passed.drain(..).filter_map(|switch| place[switch as usize]) {
            carried(place, 1);
        }
    }
}
