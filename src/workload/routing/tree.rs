//! Trees: up to the smallest common group, and down.

use crate::ground::types::PeId;
use crate::machine::{Hierarchy, MachineError};
use crate::workload::routing::{Hop, LaneId, check_lanes, push};

/// Link `first[l] + 2 g` leads up from group g of level l, and the next one down; groups of level 0 are PEs.
#[derive(Debug)]
pub(super) struct TreeRoutes {
    tree: Hierarchy,
    levels: Vec<Level>,
    num_links: usize,
}

#[derive(Debug)]
struct Level {
    /// PEs per group below a link of this level.
    size: PeId,
    /// The first link.
    first: usize,
    /// The total cost of a link upwards and downwards.
    cost: u64,
    /// The inner level whose links are used before, if there is one.
    inside: Option<usize>,
}

impl TreeRoutes {
    pub(super) fn new(tree: &Hierarchy) -> Result<Self, MachineError> {
        let (mut size, mut first) = (1, 0u128);
        let mut levels: Vec<Level> = Vec::new();
        for (index, (&arity, &distance)) in tree.arities().iter().zip(tree.distances()).enumerate() {
            let distances = tree.distances();
            let inside = (0..index).rev().find(|&level| distances[level] <= distance);
            let cost = (distance - inside.map_or(0, |level| distances[level])) as u64;
            levels.push(Level { size, first: check_lanes(first)?, cost, inside });
            first += 2 * (tree.num_pes() as u128 / u128::from(size));
            size = size.saturating_mul(arity);
        }
        Ok(Self { tree: tree.clone(), levels, num_links: check_lanes(first)? })
    }

    pub(super) fn num_links(&self) -> usize {
        self.num_links
    }

    /// Levels of one member do not count, unless they are inside one that does: no message uses them.
    pub(super) fn longest(&self) -> (u64, u64) {
        let mut is_passed: Vec<bool> = self.tree.arities().iter().map(|&arity| arity > 1).collect();
        let mut cost = 1;
        for (index, level) in self.levels.iter().enumerate().rev() {
            if is_passed[index] {
                level.inside.iter().for_each(|&inside| is_passed[inside] = true);
                cost = cost.max(level.cost);
            }
        }
        (2 * self.levels.len() as u64, cost)
    }

    /// Appends the hops; the links of this tree are numbered from `first`.
    pub(super) fn route(&self, from: PeId, to: PeId, first: usize, hops: &mut Vec<Hop>) {
        let Some(level) = self.tree.level(from, to) else { return };
        let begin = hops.len();
        let mut inwards = Some(level);
        while let Some(level) = inwards {
            let Level { size, first: own, cost, inside } = self.levels[level];
            push(hops, first + own + 2 * (from / size) as usize, cost.div_ceil(2));
            inwards = inside;
        }
        hops[begin..].reverse();
        let mut inwards = Some(level);
        while let Some(level) = inwards {
            let Level { size, first: own, cost, inside } = self.levels[level];
            push(hops, first + own + 2 * (to / size) as usize + 1, cost / 2);
            inwards = inside;
        }
    }

    /// The level of a link, from 0, the first PE below it, and whether it leads up.
    pub(super) fn position(&self, link: LaneId) -> (usize, PeId, bool) {
        let link = link as usize;
        let index = self.levels.partition_point(|level| level.first <= link).saturating_sub(1);
        let Level { size, first, .. } = self.levels[index];
        (index, ((link - first) / 2) as PeId * size, link.is_multiple_of(2))
    }

    /// The name of a link of a tree whose first PE has this number, for output.
    pub(super) fn name(&self, link: LaneId, first_pe: PeId) -> String {
        let (index, pe, is_up) = self.position(link);
        let (pe, size) = (first_pe + pe, self.levels[index].size);
        let members = if size == 1 { format!("PE {pe}") } else { format!("PEs {pe}-{}", pe + size - 1) };
        way(&members, &format!("level {}", index + 1), is_up)
    }
}

/// The name of a link between what is below it and above it.
pub(super) fn way(below: &str, above: &str, is_up: bool) -> String {
    if is_up { format!("{below} -> {above}") } else { format!("{above} -> {below}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_that_no_message_passes_do_not_count() {
        let longest = |arities, distances| {
            TreeRoutes::new(&Hierarchy::parse(arities, distances).unwrap()).unwrap().longest().1
        };
        assert_eq!(longest("1:12:1", "9223372036854775807:2:9223372036854775807"), 2);
        assert_eq!(longest("4:2", "1:10"), 9);
        // Messages of the outermost level use links of the level inside it.
        assert_eq!(longest("4:1:2", "1:10:12"), 9);
        assert_eq!(longest("1:1", "5:9"), 1);
    }
}
