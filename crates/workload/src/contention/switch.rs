//! The traffic that passes each switch between nodes.

use super::loads::{Carriers, Loads};
use crate::routing::Routing;
use viem::base::types::{Cost, PeId};
use viem::graph::CsrGraph;
use viem::mapping::problem::ProblemError;
use viem::solve::PreparedMachine;

/// The switches between the nodes of a machine: groups of several nodes in trees, rails, and routers of networks. Grids have none, as
/// each of their routers is the place of a PE or a node.
///
/// ```
/// use viem::graph::generate;
/// use viem::machine::build;
/// use viem::PreparedMachine;
/// use viem_workload::contention::Switches;
/// use viem_workload::routing::Routing;
///
/// // Two nodes of four cores at one switch: one edge of a path through all cores crosses it, with a message in each direction.
/// let tree = build("2:2:2", "1:10:100")?;
/// let (machine, routing) = (PreparedMachine::new(&tree), Routing::new(&tree)?);
/// let switches = Switches::new(&routing, &machine);
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
    /// The switches of the routes of a machine; O(PEs · log PEs) for each level of a tree, O(PEs · links of a route) in networks. Switches inside of
    /// nodes are left out, and so are those of trees and rails that only messages of other PEs than those of the machine pass.
    pub fn new(routing: &'a Routing, machine: &PreparedMachine<'_>) -> Self {
        let switches = routing.switches_between(machine.nodes(), machine.machine());
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use viem::base::rng::Rng;
    use viem::machine::{Listed, Machine, Nodes, build};

    /// The switches of a part of a machine by definition: those that its messages between nodes pass, but not those of which every message of the
    /// whole machine has an end on the same node.
    fn by_definition(whole: &dyn Machine, list: &[PeId]) -> BTreeSet<u32> {
        let (nodes, routing) = (Nodes::of(whole), Routing::new(whole).unwrap());
        let all: Vec<PeId> = (0..whole.num_pes() as PeId).collect();
        let mut ends: Vec<Option<BTreeSet<usize>>> = vec![None; routing.num_switches()];
        let mut between = BTreeSet::new();
        let mut passed = Vec::new();
        for (&from, &to) in all.iter().flat_map(|from| all.iter().map(move |to| (from, to))) {
            let both = BTreeSet::from([nodes.node(from), nodes.node(to)]);
            routing.pass(from, to, &mut passed);
            for switch in passed.drain(..) {
                let common = ends[switch as usize].get_or_insert_with(|| both.clone());
                common.retain(|node| both.contains(node));
                if both.len() == 2 && list.contains(&from) && list.contains(&to) {
                    between.insert(switch);
                }
            }
        }
        between.retain(|&switch| ends[switch as usize].as_ref().is_some_and(BTreeSet::is_empty));
        between
    }

    #[test]
    fn switches_inside_of_nodes_are_left_out_whatever_pes_are_listed() {
        let tree = |arities, distances| -> Box<dyn Machine> { build(arities, Some(distances)).unwrap() };
        let machines = [
            (tree("2:4:3", "1:10:100"), 1),
            (tree("2:1:5", "1:10:100"), 1),
            (tree("1:5", "1:10"), 1),
            (tree("rails:3:3:2", "1:2:5:9"), 9),
        ];
        let mut rng = Rng::new(4);
        for (whole, most) in &machines {
            let all: Vec<PeId> = (0..whole.num_pes() as PeId).collect();
            let mut lists = vec![all.clone(), vec![0], all[..2].to_vec()];
            lists.extend((0..20).map(|_| {
                let mut list = all.clone();
                rng.shuffle(&mut list);
                list.truncate(1 + rng.below(all.len() as u32) as usize);
                list
            }));
            for list in lists {
                let expected = by_definition(whole, &list);
                let part = Listed::new(whole, list.clone()).unwrap();
                let (machine, routing) = (PreparedMachine::new(&part), Routing::new(&part).unwrap());
                let found = Switches::new(&routing, &machine).switches;
                assert!(found.iter().eq(&expected), "{}, {list:?}: {found:?} {expected:?}", whole.describe());
                assert!(found.len() <= *most, "{}, {list:?}", whole.describe());
            }
        }
    }
}
