//! Nodes that are trees inside, with a distance for each pair of nodes.
//!
//! Two PEs of a node are as far apart as in its tree, PEs of different nodes as far as the nodes, and farther by what each of the two is
//! away from the network adapter of its node. So measurements between hosts need a table of hosts, not of PEs.

use hashbrown::HashMap;

use crate::base::types::{Distance, PeId};
use crate::machine::{
    BetweenHosts, Distances, Division, HostKey, Machine, MachineError, Metric, Parts, Placed, Table,
    UnevenTree,
};

/// Nodes whose distances are given by a matrix, and that are trees inside.
#[derive(Clone, Debug)]
pub struct NodeMatrix {
    inside: UnevenTree,
    /// The node of each PE.
    node_of: Vec<u32>,
    num_nodes: usize,
    /// Row by row.
    between: Vec<Distance>,
    /// The parts of the nodes.
    parts: Parts,
    /// The distance of each PE from the network.
    to_network: Vec<u32>,
}

impl NodeMatrix {
    /// PEs on the nodes `node_of`, as far apart within a node as in `inside`, which is a tree of all PEs. `between` has the distances between the
    /// nodes, row by row, symmetric, and `parts` are the parts of the nodes.
    pub fn new(
        inside: UnevenTree,
        node_of: Vec<u32>,
        between: Vec<Distance>,
        parts: Parts,
    ) -> Result<Self, MachineError> {
        let num_nodes = between.len().isqrt();
        if num_nodes * num_nodes != between.len() {
            return Err(MachineError::NotSquare { num_pes: num_nodes, entries: between.len() });
        }
        if parts.order().len() != num_nodes {
            return Err(MachineError::PartsDiffer { num_pes: num_nodes, found: parts.order().len() });
        }
        if node_of.len() != inside.num_pes() {
            return Err(MachineError::PartsDiffer { num_pes: inside.num_pes(), found: node_of.len() });
        }
        if let Some(index) = node_of.iter().position(|&node| node as usize >= num_nodes) {
            return Err(MachineError::PeOutOfRange { index, pe: node_of[index], count: num_nodes });
        }
        let to_network = vec![0; node_of.len()];
        Ok(Self { inside, node_of, num_nodes, between, parts, to_network })
    }

    /// The same, but each PE is as far as this from the network of its node: so much farther from all PEs of other nodes. Fails if there is
    /// not a number for each PE, or a distance would exceed 64 bits.
    pub fn with_distances_to_network(self, to_network: Vec<u32>) -> Result<Self, MachineError> {
        let (num_pes, found) = (self.node_of.len(), to_network.len());
        if num_pes != found {
            return Err(MachineError::DistancesDiffer { num_pes, found });
        }
        let farthest = Distance::from(to_network.iter().copied().max().unwrap_or(0));
        let between = self.between.iter().copied().max().unwrap_or(0);
        match between.checked_add(2 * farthest) {
            Some(_) => Ok(Self { to_network, ..self }),
            None => Err(MachineError::DistanceOverflow),
        }
    }
}

impl Machine for NodeMatrix {
    fn num_pes(&self) -> usize {
        self.node_of.len()
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        let inside = self.inside.prefixes();
        let between = Table::wide(self.num_nodes, &self.between);
        let farthest = Distance::from(self.to_network.iter().copied().max().unwrap_or(0));
        let max_distance = inside.max_distance().max(between.greatest().saturating_add(2 * farthest));
        let keys = self.inside.codes().iter().zip(&self.node_of).zip(&self.to_network);
        let keys = keys.map(|((&code, &node), &to_network)| HostKey { code, node, to_network }).collect();
        Ok(Distances::BetweenHosts(Placed::new(BetweenHosts { inside, between, max_distance }, keys)))
    }

    fn division(&self) -> Division {
        let mut position = vec![0; self.num_nodes];
        for (place, &node) in self.parts.order().iter().enumerate() {
            position[node as usize] = place;
        }
        let place = |pe: PeId| position[self.node_of[pe as usize] as usize];
        let mut order: Vec<PeId> = (0..self.node_of.len() as PeId).collect();
        order.sort_unstable_by_key(|&pe| (place(pe), self.inside.codes()[pe as usize]));
        // The part of each range of nodes.
        let parts = (0..self.parts.num_parts()).map(|part| (self.parts.range(part), part));
        let part_of: HashMap<_, _> = parts.map(|(range, part)| ((range.start, range.end), part)).collect();
        Division::Parts(Parts::divide(order, |pes| {
            let (first, last) = (place(pes[0]), place(pes[pes.len() - 1]));
            if first == last {
                let sizes = self.inside.sizes(pes);
                return if sizes.iter().all(|&size| size == 1) { Vec::new() } else { sizes };
            }
            let children = part_of.get(&(first, last + 1)).map(|&part| self.parts.children(part));
            match children.filter(|children| !children.is_empty()) {
                Some(children) => {
                    let ends = children.map(|child| self.parts.range(child).end);
                    let ends: Vec<usize> =
                        ends.map(|end| pes.partition_point(|&pe| place(pe) < end)).collect();
                    let starts = std::iter::once(0).chain(ends.iter().copied());
                    ends.iter().zip(starts).map(|(end, start)| end - start).collect()
                }
                None => pes.chunk_by(|&p, &q| place(p) == place(q)).map(<[PeId]>::len).collect(),
            }
        }))
    }

    fn describe(&self) -> String {
        format!("{} processing elements of {} nodes", self.node_of.len(), self.num_nodes)
    }
}
