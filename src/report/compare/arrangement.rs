//! Default mappings of launchers, which do not depend on the traffic.

use hashbrown::HashMap;

use crate::graph::CsrGraph;
use crate::ground::rng::Rng;
use crate::ground::settings::members;
use crate::ground::types::PeId;
use crate::machine::Machine;
use crate::machine::Nodes;
use crate::mapping::Mapping;
use crate::partition::Targets;

members! {
    /// A mapping that depends only on the numbers of the processes.
    pub enum Arrangement: "arrangement" {
        /// In the order of the PEs: fills one node after another.
        Block = "block" by block,
        /// Fills one node after another, the packages of each node in turn.
        Socket = "socket" by socket,
        /// Round-robin over the nodes, in each node in the order of the PEs.
        Cyclic = "cyclic" by cyclic,
        /// Another name of `cyclic`.
        Node = "node" by cyclic,
        /// At random, the same in every run.
        Random = "random" by random,
    }

    /// The places in the order in which processes take them.
    fn order(self, arranged: Arranged<'_>) -> Vec<PeId> = function(arranged)
}

/// The input of an arrangement.
#[derive(Clone, Copy)]
struct Arranged<'a> {
    nodes: &'a Nodes,
    /// Every PE, repeated up to its capacity or the number of processes.
    places: &'a [PeId],
}

impl Arrangement {
    /// The arrangement of this number of processes on a machine; `None` if there is not enough room. O(n log
    /// n) for n places, where a PE counts at most as often as there are processes.
    pub fn of(self, machine: &dyn Machine, nodes: &Nodes, num_processes: usize) -> Option<Mapping> {
        let pes = 0..machine.num_pes() as PeId;
        let room = |pe: PeId| num_processes.min(machine.capacity(pe) as usize);
        let places: Vec<PeId> = pes.flat_map(|pe| std::iter::repeat_n(pe, room(pe))).collect();
        let mut order = self.order(Arranged { nodes, places: &places });
        if order.len() < num_processes {
            return None;
        }
        order.truncate(num_processes);
        Some(Mapping::from_places(order))
    }

    /// The arrangement of a graph with many vertices per PE. The vertices in numerical order are cut into one
    /// range per PE, proportional to its capacity, and ranges are arranged like processes. `None` if there
    /// are no PEs. O(n + p log p) for n vertices and p PEs.
    pub fn of_many(self, machine: &dyn Machine, nodes: &Nodes, graph: &CsrGraph) -> Option<Mapping> {
        let pes: Vec<PeId> = (0..machine.num_pes() as PeId).collect();
        let order = self.order(Arranged { nodes, places: &pes });
        let capacities: Vec<u32> = order.iter().map(|&pe| machine.capacity(pe)).collect();
        let stretches = Targets::proportional(graph, &capacities, 0.0).ok()?.in_order(graph);
        Some(Mapping::from_places(stretches.into_iter().map(|stretch| order[stretch as usize]).collect()))
    }
}

fn block(arranged: Arranged<'_>) -> Vec<PeId> {
    arranged.places.to_vec()
}

fn socket(arranged: Arranged<'_>) -> Vec<PeId> {
    let package = |pe: PeId| (arranged.nodes.site(pe).node, arranged.nodes.site(pe).package());
    by_turns(arranged.places, package, |(node, package), turn| (node, turn, package))
}

fn cyclic(arranged: Arranged<'_>) -> Vec<PeId> {
    by_turns(arranged.places, |pe| arranged.nodes.node(pe), |node, turn| (turn, node))
}

fn random(arranged: Arranged<'_>) -> Vec<PeId> {
    let mut places = arranged.places.to_vec();
    Rng::new(0).shuffle(&mut places);
    places
}

/// The places sorted by a key made of the group of a place and the number of places before it in the group.
fn by_turns<G: Copy + Eq + std::hash::Hash, K: Ord>(
    places: &[PeId],
    group: impl Fn(PeId) -> G,
    key: impl Fn(G, usize) -> K,
) -> Vec<PeId> {
    let mut turns: HashMap<G, usize> = HashMap::new();
    let mut keyed: Vec<(K, PeId)> = Vec::with_capacity(places.len());
    for &pe in places {
        let group = group(pe);
        let turn = turns.entry(group).or_default();
        keyed.push((key(group, *turn), pe));
        *turn += 1;
    }
    keyed.sort();
    keyed.into_iter().map(|(_, pe)| pe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::machine::Capacities;
    use crate::machine::build;

    fn order(arrangement: Arrangement, machine: &dyn Machine, count: usize) -> Vec<PeId> {
        arrangement.of(machine, &Nodes::of(machine), count).unwrap().into_pes()
    }

    #[test]
    fn packages_and_nodes_take_turns() {
        let tree = build("2:2:2", Some("1:2:3"), None).unwrap();
        assert_eq!(order(Arrangement::Block, &tree, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(order(Arrangement::Socket, &tree, 8), [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!(order(Arrangement::Cyclic, &tree, 8), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(order(Arrangement::Node, &tree, 3), [0, 4, 1]);
        // Nodes of different sizes, the first with two PEs.
        let uneven = build("2:2:2", Some("1:2:3"), Some("0,1,4-7")).unwrap();
        assert_eq!(order(Arrangement::Cyclic, &uneven, 6), [0, 2, 1, 3, 4, 5]);
    }

    #[test]
    fn ranges_of_vertices_are_arranged_like_processes() {
        let tree = build("2:2", Some("1:9"), None).unwrap();
        let graph = GraphBuilder::new(10).build().unwrap();
        let order = |arrangement: Arrangement, machine: &dyn Machine| {
            arrangement.of_many(machine, &Nodes::of(machine), &graph).unwrap().into_pes()
        };
        assert_eq!(order(Arrangement::Cyclic, &tree), [0, 0, 2, 2, 2, 1, 1, 3, 3, 3]);
        let uneven = Capacities::new(tree, vec![1, 1, 2, 1]).unwrap();
        assert_eq!(order(Arrangement::Block, &uneven), [0, 0, 1, 1, 2, 2, 2, 2, 3, 3]);
    }

    #[test]
    fn all_arrangements_respect_capacities() {
        let machine =
            Capacities::new(build("2:3", Some("1:9"), None).unwrap(), vec![1, 3, 1, 2, 1, 1]).unwrap();
        for arrangement in Arrangement::ALL {
            for count in [0, 1, 5, 9] {
                let pes = order(arrangement, &machine, count);
                assert!(Mapping::on(&machine, pes).is_ok_and(|mapping| mapping.num_processes() == count));
            }
            assert!(arrangement.of(&machine, &Nodes::of(&machine), 10).is_none());
            // The total capacity exceeds any memory.
            let vast = Capacities::new(build("2:1", Some("1:1"), None).unwrap(), vec![1 << 30; 2]).unwrap();
            assert_eq!(order(arrangement, &vast, 3).len(), 3);
        }
    }
}
