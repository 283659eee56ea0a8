//! Default mappings of launchers and of training jobs, which do not depend on the traffic.

use hashbrown::HashMap;

use viem::base::rng::Rng;
use viem::base::settings::members;
use viem::base::types::PeId;
use viem::graph::CsrGraph;
use viem::machine::{Machine, Nodes, Parts, distances_of};
use viem::mapping::Mapping;
use viem::partition::Targets;

members! {
    /// A mapping that depends only on the numbers of the processes.
    pub enum Arrangement: "arrangement" {
        /// In the order of the PEs: fills one node after another.
        Block = "block" by block;
        /// Fills one node after another, the packages of each node in turn.
        Socket = "socket" by socket;
        /// Round-robin over the nodes, in each node in the order of the PEs.
        Cyclic = "cyclic" by cyclic;
        /// Another name of `cyclic`.
        Node = "node" by cyclic;
        /// Fills one node after another, in the order of their numbers.
        NodeMajor = "node-major" by node_major;
        /// Fills one node after another, near ones in succession: the order of ranks of Megatron on hosts that are sorted by
        /// topology.
        Megatron = "megatron" by megatron;
        /// Round-robin over the nodes, near ones in succession: a rail of GPUs after another.
        Rail = "rail" by rail;
        /// At random, the same in every run.
        Random = "random" by random;
    }

    /// The places in the order in which processes take them; `None` if that needs distances for which there is no memory.
    fn order(self, arranged: Arranged<'_>) -> Option<Vec<PeId>> = function(arranged)
}

/// The input of an arrangement.
#[derive(Clone, Copy)]
struct Arranged<'a> {
    machine: &'a dyn Machine,
    nodes: &'a Nodes,
    /// Every PE, repeated up to its capacity or the number of processes.
    places: &'a [PeId],
}

impl Arrangement {
    /// The arrangement of this number of processes on a machine; `None` if there is not enough room, or no memory for
    /// distances that it needs. O(n log n) for n places, where a PE counts at most as often as there are processes; those that place
    /// near nodes in succession also divide the machine.
    pub fn of(self, machine: &dyn Machine, nodes: &Nodes, num_processes: usize) -> Option<Mapping> {
        let pes = 0..machine.num_pes() as PeId;
        let room = |pe: PeId| num_processes.min(machine.capacity(pe) as usize);
        let places: Vec<PeId> = pes.flat_map(|pe| std::iter::repeat_n(pe, room(pe))).collect();
        let mut order = self.order(Arranged { machine, nodes, places: &places })?;
        if order.len() < num_processes {
            return None;
        }
        order.truncate(num_processes);
        Some(Mapping::from_places(order))
    }

    /// The arrangement of a graph with many vertices per PE. The vertices in numerical order are cut into one
    /// range per PE, proportional to its capacity, and ranges are arranged like processes. `None` if there
    /// are no PEs, or no memory for distances. O(n + p log p) for n vertices and p PEs.
    pub fn of_many(self, machine: &dyn Machine, nodes: &Nodes, graph: &CsrGraph) -> Option<Mapping> {
        let pes: Vec<PeId> = (0..machine.num_pes() as PeId).collect();
        let order = self.order(Arranged { machine, nodes, places: &pes })?;
        let capacities: Vec<u32> = order.iter().map(|&pe| machine.capacity(pe)).collect();
        let stretches = Targets::proportional(graph, &capacities, 0.0).ok()?.in_order(graph);
        Some(Mapping::from_places(stretches.into_iter().map(|stretch| order[stretch as usize]).collect()))
    }
}

fn block(arranged: Arranged<'_>) -> Option<Vec<PeId>> {
    Some(arranged.places.to_vec())
}

fn socket(arranged: Arranged<'_>) -> Option<Vec<PeId>> {
    let package = |pe: PeId| (arranged.nodes.site(pe).node, arranged.nodes.site(pe).package());
    Some(by_turns(arranged.places, package, |(node, package), turn| (node, turn, package)))
}

fn cyclic(arranged: Arranged<'_>) -> Option<Vec<PeId>> {
    Some(by_turns(arranged.places, |pe| arranged.nodes.node(pe), |node, turn| (turn, node)))
}

fn node_major(arranged: Arranged<'_>) -> Option<Vec<PeId>> {
    Some(by_turns(arranged.places, |pe| arranged.nodes.node(pe), |node, turn| (node, turn)))
}

fn megatron(arranged: Arranged<'_>) -> Option<Vec<PeId>> {
    let position = positions(arranged.machine, arranged.nodes)?;
    Some(by_turns(arranged.places, |pe| arranged.nodes.node(pe), |node, turn| (position[node], turn)))
}

fn rail(arranged: Arranged<'_>) -> Option<Vec<PeId>> {
    let position = positions(arranged.machine, arranged.nodes)?;
    Some(by_turns(arranged.places, |pe| arranged.nodes.node(pe), |node, turn| (turn, position[node])))
}

fn random(arranged: Arranged<'_>) -> Option<Vec<PeId>> {
    let mut places = arranged.places.to_vec();
    Rng::new(0).shuffle(&mut places);
    Some(places)
}

/// The position of each node in an order in which those near each other are neighbours: that of the parts of the machine.
fn positions(machine: &dyn Machine, nodes: &Nodes) -> Option<Vec<usize>> {
    let parts = Parts::of(machine, &distances_of(machine).ok()?);
    let mut position = vec![usize::MAX; nodes.hosts().len()];
    let mut next = 0..;
    for node in parts.order().iter().map(|&pe| nodes.node(pe)) {
        if position[node] == usize::MAX {
            position[node] = next.next()?;
        }
    }
    Some(position)
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
    use viem::graph::GraphBuilder;
    use viem::machine::{Capacities, Listed, build};

    fn listed(spec: &str, distances: &str, pes: &[PeId]) -> impl Machine {
        Listed::new(build(spec, distances).unwrap(), pes.to_vec()).unwrap()
    }

    fn order(arrangement: Arrangement, machine: &dyn Machine, count: usize) -> Vec<PeId> {
        arrangement.of(machine, &Nodes::of(machine), count).unwrap().into_pes()
    }

    #[test]
    fn packages_and_nodes_take_turns() {
        let tree = build("2:2:2", "1:2:3").unwrap();
        assert_eq!(order(Arrangement::Block, &tree, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(order(Arrangement::Socket, &tree, 8), [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!(order(Arrangement::Cyclic, &tree, 8), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(order(Arrangement::Node, &tree, 3), [0, 4, 1]);
        assert_eq!(order(Arrangement::Rail, &tree, 8), [0, 4, 1, 5, 2, 6, 3, 7]);
        // Nodes of different sizes, the first with two PEs.
        let uneven = listed("2:2:2", "1:2:3", &[0, 1, 4, 5, 6, 7]);
        assert_eq!(order(Arrangement::Cyclic, &uneven, 6), [0, 2, 1, 3, 4, 5]);
    }

    /// Nodes whose PEs are scattered: 0 and 2 are near each other, and so are 1 and 3.
    #[test]
    fn near_nodes_follow_each_other() {
        let scattered = listed("2:2:2", "1:10:100", &[0, 4, 2, 6, 5, 1, 7, 3]);
        let node = |pe: PeId| Nodes::of(&scattered).node(pe);
        let nodes = |arrangement| order(arrangement, &scattered, 8).into_iter().map(node).collect::<Vec<_>>();
        assert_eq!(order(Arrangement::Block, &scattered, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(nodes(Arrangement::NodeMajor), [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(order(Arrangement::NodeMajor, &scattered, 8), [0, 2, 5, 7, 1, 3, 4, 6]);
        assert_eq!(nodes(Arrangement::Rail), [0, 1, 0, 1, 0, 1, 0, 1]);
        // Hosts in an order that does not show which are near.
        let grid = listed("mesh:4/2", "1:10", &[0, 1, 6, 7, 2, 3, 4, 5]);
        let hops = |arrangement| {
            let (nodes, pes) = (Nodes::of(&grid), order(arrangement, &grid, 8));
            pes.windows(2).map(|pair| nodes.node(pair[0]).abs_diff(nodes.node(pair[1]))).collect::<Vec<_>>()
        };
        assert_eq!(hops(Arrangement::Megatron), [0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(hops(Arrangement::Block), [0, 3, 0, 2, 0, 1, 0]);
    }

    #[test]
    fn ranges_of_vertices_are_arranged_like_processes() {
        let tree = build("2:2", "1:9").unwrap();
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
        let machine = Capacities::new(build("2:3", "1:9").unwrap(), vec![1, 3, 1, 2, 1, 1]).unwrap();
        for arrangement in Arrangement::ALL {
            for count in [0, 1, 5, 9] {
                let pes = order(arrangement, &machine, count);
                assert!(Mapping::on(&machine, pes).is_ok_and(|mapping| mapping.num_processes() == count));
            }
            assert!(arrangement.of(&machine, &Nodes::of(&machine), 10).is_none());
            // The total capacity exceeds any memory.
            let vast = Capacities::new(build("2:1", "1:1").unwrap(), vec![1 << 30; 2]).unwrap();
            assert_eq!(order(arrangement, &vast, 3).len(), 3);
        }
    }
}
