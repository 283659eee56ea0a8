//! Rails: inside a node over its switch, else up to the rail, the pod and so on, and down.

use super::hop::{Hop, LaneId, check_lanes};
use super::tree::{TreeRoutes, way};
use viem::base::types::PeId;
use viem::machine::{Hierarchy, MachineError, Rails};

/// The links of the fabric come first, then those inside the nodes, node by node.
#[derive(Debug)]
pub(super) struct RailRoutes {
    /// Rails of GPUs, pods of rails, and so on. Its PEs are the GPUs in this order.
    fabric: TreeRoutes,
    /// A node.
    inside: TreeRoutes,
    /// Size of a node, and nodes in a pod.
    of_node: PeId,
    nodes: PeId,
    num_nodes: usize,
}

impl RailRoutes {
    pub(super) fn new(rails: &Rails) -> Result<Self, MachineError> {
        let (arities, distances) = (rails.tree().arities(), rails.tree().distances());
        let (of_node, nodes) = (arities[0], arities[1]);
        let of_fabric = [&[nodes, of_node], &arities[2..]].concat();
        let between = [&[rails.same_rail()], &distances[1..]].concat();
        let fabric = TreeRoutes::new(&Hierarchy::new(of_fabric, between)?)?;
        let inside = TreeRoutes::new(&Hierarchy::new(vec![of_node], vec![distances[0]])?)?;
        let num_nodes = rails.tree().num_pes() / of_node as usize;
        check_lanes(fabric.num_links() as u128 + num_nodes as u128 * inside.num_links() as u128)?;
        Ok(Self { fabric, inside, of_node, nodes, num_nodes })
    }

    pub(super) fn num_links(&self) -> usize {
        self.fabric.num_links() + self.num_nodes * self.inside.num_links()
    }

    pub(super) fn longest(&self) -> (u64, u64) {
        let [(hops, cycles), (inside_hops, inside_cycles)] =
            [&self.fabric, &self.inside].map(TreeRoutes::longest);
        (hops.max(inside_hops), cycles.max(inside_cycles))
    }

    pub(super) fn route(&self, from: PeId, to: PeId, hops: &mut Vec<Hop>) {
        let node = from / self.of_node;
        if node == to / self.of_node {
            let first = self.fabric.num_links() + node as usize * self.inside.num_links();
            self.inside.route(from % self.of_node, to % self.of_node, first, hops);
        } else {
            self.fabric.route(self.on_rail(from), self.on_rail(to), 0, hops);
        }
    }

    /// The place of a GPU in the fabric: rail by rail in its pod.
    fn on_rail(&self, pe: PeId) -> PeId {
        let (rail, node) = (pe % self.of_node, pe / self.of_node);
        node % self.nodes + self.nodes * (rail + self.of_node * (node / self.nodes))
    }

    /// The GPU at a place in the fabric.
    fn at(&self, place: PeId) -> PeId {
        let (node, rail) = (place % self.nodes, place / self.nodes % self.of_node);
        let pod = place / (self.nodes * self.of_node);
        rail + self.of_node * (node + self.nodes * pod)
    }

    /// The number of switches of the fabric. Those inside nodes do not count.
    pub(super) fn num_switches(&self) -> usize {
        self.fabric.num_switches()
    }

    /// Appends the switches between two GPUs of different nodes.
    pub(super) fn pass(&self, from: PeId, to: PeId, switches: &mut Vec<u32>) {
        if from / self.of_node != to / self.of_node {
            self.fabric.pass(self.on_rail(from), self.on_rail(to), switches);
        }
    }

    /// The switches that messages between nodes with these PEs pass, in ascending order.
    pub(super) fn switches_between(&self, pes: &[PeId]) -> Vec<u32> {
        let places: Vec<PeId> = pes.iter().map(|&pe| self.on_rail(pe)).collect();
        self.fabric.switches_above(0, &places)
    }

    pub(super) fn switch_name(&self, switch: u32) -> String {
        match self.fabric.switch_place(switch) {
            (1, group) => self.rail_at(group as PeId * self.nodes),
            _ => self.fabric.switch_name(switch, 0),
        }
    }

    /// The name of the rail to which a place in the fabric belongs.
    fn rail_at(&self, place: PeId) -> String {
        let gpu = self.at(place);
        let (rail, first) = (gpu % self.of_node, gpu - gpu % self.of_node);
        format!("rail {rail} of PEs {first}-{}", first + self.nodes * self.of_node - 1)
    }

    pub(super) fn name(&self, link: LaneId) -> String {
        let first = self.fabric.num_links();
        if let Some(inside) = (link as usize).checked_sub(first) {
            let (node, own) = (inside / self.inside.num_links(), inside % self.inside.num_links());
            return self.inside.name(own as LaneId, node as PeId * self.of_node);
        }
        let (level, place, is_up) = self.fabric.position(link);
        match level {
            0 => way(&format!("PE {}", self.at(place)), "rail", is_up),
            1 => way(&self.rail_at(place), "level 2", is_up),
            _ => self.fabric.name(link, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::machine::{Machine as _, Metric as _};

    /// Two pods of three nodes of two GPUs.
    #[test]
    fn messages_pass_the_links_of_their_rails() {
        let rails = Rails::parse("2:3:2", "1:5:6:10").unwrap();
        let routes = RailRoutes::new(&rails).unwrap();
        let distances = rails.distances().unwrap();
        for (from, to) in (0..12).flat_map(|from| (0..12).map(move |to| (from, to))) {
            let mut hops = Vec::new();
            routes.route(from, to, &mut hops);
            let cycles: u64 = hops.iter().map(|hop| hop.cycles).sum();
            assert_eq!(cycles, distances.between(from, to) as u64, "from {from} to {to}");
        }
        let passed = |from, to| {
            let mut hops = Vec::new();
            routes.route(from, to, &mut hops);
            hops.into_iter().map(|hop| routes.name(hop.lane)).collect::<Vec<_>>()
        };
        assert_eq!(passed(2, 3), ["PE 2 -> level 1"]);
        assert_eq!(passed(0, 4), ["PE 0 -> rail", "rail -> PE 4"]);
        assert_eq!(passed(8, 11), ["PE 8 -> rail", "rail 0 of PEs 6-11 -> level 2", "rail -> PE 11"]);
        let far =
            ["PE 1 -> rail", "rail 1 of PEs 0-5 -> level 2", "PEs 0-5 -> level 3", "level 3 -> PEs 6-11"];
        assert_eq!(passed(1, 7), [far.as_slice(), &["rail -> PE 7"]].concat());
    }
}
