//! Construction in two steps: groups of equal size are mapped to slots of a machine, then processes inside its parts.
//!
//! Ranks of a training job fall into groups that communicate far more inside than with others, and nodes of a fragmented or uneven
//! allocation have room for different numbers of them. The groups are contracted, and the caller maps the quotient graph to the
//! slots: the smallest parts that have room for all groups, each as many times as groups fit whole. The other processes take
//! what is left. Inside each part the processes are placed from its outermost parts on.
//!
//! Takes the mapping of the groups and partitions inside the parts; memory O(n + m).

use super::in_parts::InParts;
use crate::base::types::{NodeId, PeId};
use crate::graph::groups::heavy_groups_in_order;
use crate::graph::{CsrGraph, quotient, subgraph};
use crate::machine::{GroupSlots, Places};
use crate::mapping::Mapping;
use crate::mapping::construct::ConstructionError;

impl InParts<'_> {
    /// The mapping of a graph by slots, to which `map_groups` maps its groups; none if there are no groups of equal size that heavy edges
    /// join, if they do not fit, or if no edge leaves them.
    pub fn by_slots(
        &self,
        graph: &CsrGraph,
        map_groups: impl FnOnce(&CsrGraph, &Places) -> Result<Mapping, ConstructionError>,
    ) -> Result<Option<Mapping>, ConstructionError> {
        // Heavier edges first: the groups of groups are found in the quotient graph.
        let Some(groups) = heavy_groups_in_order(graph).next_back() else { return Ok(None) };
        let size = groups.iter().map(Vec::len).max().unwrap_or(0);
        let groups: Vec<Vec<NodeId>> = groups.into_iter().filter(|group| group.len() == size).collect();
        if groups.len() < 2 {
            return Ok(None);
        }
        let Some(slots) = self.machine.slots(size, groups.len()) else { return Ok(None) };
        let quotient = quotient_of(graph, &groups);
        if quotient.num_arcs() == 0 {
            return Ok(None);
        }
        let slot_of = map_groups(&quotient.with_isolated_nodes(slots.places.len()), &slots.places)?;
        let part_of = self.part_of(graph, &groups, &slots, &slot_of);
        Ok(Some(self.inside(&slots.parts, &graph.clone().with_unit_node_weights(), &part_of)))
    }

    /// The index of the part of each process: that of the slot of its group, or else the first one that has a place left.
    fn part_of(
        &self,
        graph: &CsrGraph,
        groups: &[Vec<NodeId>],
        slots: &GroupSlots,
        slot_of: &Mapping,
    ) -> Vec<PeId> {
        const NONE: PeId = PeId::MAX;
        let range = |part: &usize| self.machine.parts().range(*part);
        let mut rooms: Vec<usize> = slots.parts.iter().map(|part| range(part).len()).collect();
        let mut part_of = vec![NONE; graph.num_nodes()];
        for (group, &slot) in groups.iter().zip(slot_of.pes()) {
            let part = slots.part_of[slot as usize];
            rooms[part as usize] -= group.len();
            group.iter().for_each(|&process| part_of[process as usize] = part);
        }
        let left = (0..).zip(rooms).flat_map(|(part, room): (PeId, usize)| std::iter::repeat_n(part, room));
        part_of.iter_mut().filter(|part| **part == NONE).zip(left).for_each(|(own, part)| *own = part);
        part_of
    }
}

/// The quotient graph of these groups, without what is in none.
fn quotient_of(graph: &CsrGraph, groups: &[Vec<NodeId>]) -> CsrGraph {
    let mut group_of = vec![groups.len() as PeId; graph.num_nodes()];
    for (index, group) in groups.iter().enumerate() {
        group.iter().for_each(|&process| group_of[process as usize] = index as PeId);
    }
    let quotient = quotient::contract(graph, &group_of, groups.len() + 1);
    let is_outside: Vec<u32> =
        quotient.nodes().map(|group| u32::from(group as usize == groups.len())).collect();
    let (inside, _) = subgraph::split(&quotient, &is_outside, 2).swap_remove(0);
    inside
}
