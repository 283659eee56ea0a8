//! The load of each node and each switch, before and after mapping.

use viem::PreparedMachine;
use viem::base::types::{Cost, PeId};
use viem::graph::{CsrGraph, quotient};
use viem::mapping::Mapping;
use viem::mapping::objective::ScoreError;
use viem_workload::contention::Switches;

use crate::traffic::{between_nodes, followed_routing};

/// Largest number of nodes, and of switches, that a table lists.
const MOST_LISTED: usize = 256;

/// The load of each node and each switch of a machine under two mappings, before and after.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct LoadTable {
    /// The total weight of the edges that leave each node. Each PE is a node if the machine does not know its nodes.
    pub nodes: Loads,
    /// The total weight of the messages that pass each switch between nodes, with one message in each direction of an edge. `None` if links are not
    /// known, if there are no switches, or if routes have too many steps, as for the [busiest link](crate::traffic::BusiestTraffic::link).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches: Option<Loads>,
}

/// The loads of nodes or of switches, in the order of the machine. Entry i of each list belongs to the same node or switch.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Loads {
    /// Their names: hosts, the PEs below a switch, or vertices of the network.
    pub names: Vec<String>,
    /// Their loads before.
    pub before: Vec<Cost>,
    /// Their loads after.
    pub after: Vec<Cost>,
    /// The number of nodes or switches that are not listed. Of more than 256, those with the greatest loads before or after are listed.
    pub left_out: usize,
}

impl LoadTable {
    /// The table of two mappings of a graph. O(n + m) for the nodes; for the switches, also one route for each pair of PEs that communicate.
    ///
    /// # Errors
    ///
    /// A process has no PE, a PE does not exist, or loads could overflow.
    pub fn new(
        graph: &CsrGraph,
        machine: &PreparedMachine<'_>,
        before: &Mapping,
        after: &Mapping,
    ) -> Result<Self, ScoreError> {
        let nodes = machine.nodes();
        let leaving = |mapping: &Mapping| {
            let between = between_nodes(graph, nodes, mapping.pes());
            between.nodes().map(|node| between.weighted_degree(node)).collect()
        };
        let names = |node: usize| nodes.hosts()[node].clone();
        let switches = switches(graph, machine, [before, after])?;
        Ok(Self { nodes: Loads::new([leaving(before), leaving(after)], names), switches })
    }
}

/// The loads of the switches, if these are known and routes do not have too many steps.
fn switches(
    graph: &CsrGraph,
    machine: &PreparedMachine<'_>,
    mappings: [&Mapping; 2],
) -> Result<Option<Loads>, ScoreError> {
    let whole = machine.machine();
    let Some(routing) = followed_routing(graph, whole)? else { return Ok(None) };
    let switches = Switches::new(&routing, machine);
    if switches.is_empty() {
        return Ok(None);
    }
    let mut loads = [Vec::new(), Vec::new()];
    for (loads, mapping) in loads.iter_mut().zip(mappings) {
        *loads = if graph.num_nodes() > whole.num_pes() {
            let pes: Vec<PeId> = (0..whole.num_pes() as PeId).collect();
            switches.loads(&quotient::contract(graph, mapping.pes(), pes.len()), &pes)?
        } else {
            switches.loads(graph, mapping.pes())?
        };
    }
    Ok(Some(Loads::new(loads, |switch| switches.name(switch))))
}

impl Loads {
    /// The entries of the greatest loads, in the order of the machine.
    fn new([before, after]: [Vec<Cost>; 2], name: impl Fn(usize) -> String) -> Self {
        let mut listed: Vec<usize> = (0..before.len()).collect();
        listed.sort_by_key(|&place| std::cmp::Reverse(before[place].max(after[place])));
        listed.truncate(MOST_LISTED);
        listed.sort_unstable();
        let of = |loads: &[Cost]| listed.iter().map(|&place| loads[place]).collect();
        Self {
            names: listed.iter().map(|&place| name(place)).collect(),
            left_out: before.len() - listed.len(),
            before: of(&before),
            after: of(&after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_mapping;
    use std::collections::HashSet;
    use viem::base::rng::Rng;
    use viem::graph::generate;
    use viem::machine::{
        Distances, Hierarchy, Interconnect, Located, Location, Machine, MachineError, Network, build,
    };

    /// A tree whose nodes have four PEs each, in racks of three.
    struct Racks(Hierarchy);

    impl Machine for Racks {
        fn num_pes(&self) -> usize {
            self.0.num_pes()
        }

        fn distances(&self) -> Result<Distances, MachineError> {
            Machine::distances(&self.0)
        }

        fn interconnect(&self) -> Interconnect {
            self.0.interconnect()
        }

        fn located(&self) -> Option<&dyn Located> {
            Some(self)
        }
    }

    impl Located for Racks {
        fn location(&self, pe: PeId) -> Location {
            Location::new(pe / 4, vec![pe % 4])
        }
    }

    /// Computes the loads by definition: each arc leaves a node, or passes the leaf switches of its ends and the switch above them.
    #[test]
    fn loads_are_those_of_the_definition() {
        let machine = Racks(Hierarchy::parse("2:2:3:2", "1:2:30:60").unwrap());
        let graph = generate::random_geometric(24, 6.0, 3);
        let (before, after) = (Mapping::identity(24), random_mapping(24, &mut Rng::new(2)));
        let prepared = PreparedMachine::new(&machine);
        let table = LoadTable::new(&graph, &prepared, &before, &after).unwrap();
        let switches = table.switches.unwrap();
        assert_eq!(switches.names, ["PEs 0-11, level 3", "PEs 12-23, level 3", "level 4"]);
        let found = [(&table.nodes.before, &switches.before), (&table.nodes.after, &switches.after)];
        for (mapping, (nodes, switches)) in [&before, &after].into_iter().zip(found) {
            let (mut leaving, mut passed) = (vec![0; 6], vec![0; 3]);
            for u in graph.nodes() {
                for (v, weight) in graph.arcs(u) {
                    let [here, there] = [u, v].map(|process| mapping.pe_of(process) as usize);
                    if here / 4 != there / 4 {
                        leaving[here / 4] += weight;
                        let ways = HashSet::from([here / 12, there / 12]);
                        ways.iter().for_each(|&way| passed[way] += weight);
                        passed[2] += if ways.len() == 2 { weight } else { 0 };
                    }
                }
            }
            assert_eq!((nodes, switches), (&leaving, &passed));
        }
    }

    /// Two routers with two PEs each. A network does not know nodes, so each PE counts as one.
    #[test]
    fn switches_of_networks_are_their_routers() {
        let mut builder = viem::graph::GraphBuilder::new(6);
        (0..4).for_each(|pe| builder.add_edge(pe, 4 + pe / 2, 1));
        builder.add_edge(4, 5, 5);
        (0..6).for_each(|vertex| builder.set_node_weight(vertex, i64::from(vertex < 4)));
        let network = Network::new(builder.build().unwrap()).unwrap();
        let (graph, order) = (generate::grid(4, 1), Mapping::identity(4));
        let table = LoadTable::new(&graph, &PreparedMachine::new(&network), &order, &order).unwrap();
        let switches = table.switches.unwrap();
        assert_eq!(switches.names, ["vertex 5", "vertex 6"]);
        assert_eq!(switches.before, [4, 4]);
        assert_eq!(table.nodes.before, [1, 2, 2, 1]);
    }

    #[test]
    fn the_greatest_loads_of_many_nodes_are_listed() {
        let machine = build("1:1000", "1:2").unwrap();
        let mut builder = viem::graph::GraphBuilder::new(1000);
        (0..998)
            .step_by(2)
            .for_each(|process| builder.add_edge(process, process + 1, i64::from(process) + 1));
        let (graph, order) = (builder.build().unwrap(), Mapping::identity(1000));
        let Loads { names, before, left_out, .. } =
            LoadTable::new(&graph, &PreparedMachine::new(&machine), &order, &order).unwrap().nodes;
        assert_eq!((names.len(), left_out), (MOST_LISTED, 1000 - MOST_LISTED));
        assert_eq!((names[0].as_str(), before[0], before[MOST_LISTED - 1]), ("node742", 743, 997));
    }
}
