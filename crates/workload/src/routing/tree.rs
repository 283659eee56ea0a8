//! Trees: up to the smallest common group, and down.

use super::hop::{Hop, LaneId, check_lanes, push};
use viem::base::types::{Distance, PeId};
use viem::machine::{Hierarchy, MachineError, UnevenTree};

/// Link `first[l] + 2 g` leads up from group g of level l, and the next one down; groups of level 0 are PEs.
#[derive(Debug)]
pub(super) struct TreeRoutes {
    groups: Groups,
    levels: Vec<Level>,
    num_links: usize,
}

#[derive(Debug)]
struct Level {
    /// The first link.
    first: usize,
    /// The total cost of a link upwards and downwards.
    cost: u64,
    /// The inner level whose links are used before, if there is one.
    inside: Option<usize>,
    /// Groups below links of this level.
    num_groups: usize,
}

/// The links of a level.
#[derive(Clone, Debug)]
pub(crate) struct TreeLevel {
    /// The group of each PE, numbered in the order of the tree. At level 0, each PE is a group.
    pub group_of: Vec<u32>,
    /// The link that leads up from group 0. The next link leads down to it, and the next two links belong to group 1.
    pub first: LaneId,
    /// The cycles of a link that leads up, and of one that leads down.
    pub cycles: [u64; 2],
    /// The inner level whose links a message also uses, if there is one.
    pub inside: Option<usize>,
}

/// Which PEs are below each link.
#[derive(Debug)]
enum Groups {
    /// By level, the number of PEs in a group.
    Regular { tree: Hierarchy, sizes: Vec<PeId> },
    /// By level, the group of each PE.
    Uneven(Vec<Vec<u32>>),
}

impl Groups {
    fn regular(tree: &Hierarchy) -> Self {
        let size = |size: &mut PeId, &arity: &u32| {
            let next = size.saturating_mul(arity);
            Some(std::mem::replace(size, next))
        };
        Self::Regular { tree: tree.clone(), sizes: tree.arities().iter().scan(1, size).collect() }
    }

    fn uneven(tree: &UnevenTree) -> Self {
        Self::Uneven((0..tree.num_levels()).map(|level| tree.groups(level)).collect())
    }

    /// The number of groups of a level.
    fn count(&self, level: usize) -> usize {
        match self {
            Self::Regular { tree, sizes } => tree.num_pes() / sizes[level] as usize,
            Self::Uneven(levels) => levels[level].iter().max().map_or(0, |&last| last as usize + 1),
        }
    }

    /// The group of a PE at a level.
    fn of(&self, level: usize, pe: PeId) -> usize {
        match self {
            Self::Regular { sizes, .. } => (pe / sizes[level]) as usize,
            Self::Uneven(levels) => levels[level][pe as usize] as usize,
        }
    }

    /// Returns whether each group of a level that contains one of these PEs is on one node. In regular trees, the PEs of a node follow each other.
    fn are_on_one_node(&self, level: usize, pes: &[PeId], node_of: &dyn Fn(PeId) -> u32) -> bool {
        match self {
            Self::Regular { sizes, .. } => {
                let ends = pes.iter().map(|pe| {
                    let first = pe - pe % sizes[level];
                    [first, first + (sizes[level] - 1)].map(node_of)
                });
                ends.into_iter().all(|[first, last]| first == last)
            }
            Self::Uneven(levels) => {
                let mut node_of_group = vec![None; self.count(level)];
                (0..).zip(&levels[level]).all(|(pe, &group)| {
                    let node = node_of(pe);
                    *node_of_group[group as usize].get_or_insert(node) == node
                })
            }
        }
    }

    /// The outermost level at which two PEs are in different groups.
    fn level(&self, p: PeId, q: PeId) -> Option<usize> {
        match self {
            Self::Regular { tree, .. } => tree.level(p, q),
            Self::Uneven(levels) => {
                levels.iter().rposition(|groups| groups[p as usize] != groups[q as usize])
            }
        }
    }

    /// The first PE of a group, the last, and how many it has.
    fn members(&self, level: usize, group: usize) -> (PeId, PeId, usize) {
        match self {
            Self::Regular { sizes, .. } => {
                let (size, first) = (sizes[level], group as PeId * sizes[level]);
                (first, first + (size - 1), size as usize)
            }
            Self::Uneven(levels) => {
                let pes =
                    || (0..).zip(&levels[level]).filter(|&(_, &of)| of as usize == group).map(|(pe, _)| pe);
                (pes().next().unwrap_or(0), pes().last().unwrap_or(0), pes().count())
            }
        }
    }
}

impl TreeRoutes {
    pub(super) fn new(tree: &Hierarchy) -> Result<Self, MachineError> {
        Self::with(Groups::regular(tree), tree.distances())
    }

    pub(super) fn uneven(tree: &UnevenTree) -> Result<Self, MachineError> {
        Self::with(Groups::uneven(tree), &tree.level_distances())
    }

    fn with(groups: Groups, distances: &[Distance]) -> Result<Self, MachineError> {
        let mut first = 0u128;
        let mut levels: Vec<Level> = Vec::new();
        for (index, &distance) in distances.iter().enumerate() {
            let inside = (0..index).rev().find(|&level| distances[level] <= distance);
            let cost = (distance - inside.map_or(0, |level| distances[level])) as u64;
            let num_groups = groups.count(index);
            levels.push(Level { first: check_lanes(first)?, cost, inside, num_groups });
            first += 2 * num_groups as u128;
        }
        Ok(Self { groups, levels, num_links: check_lanes(first)? })
    }

    pub(super) fn num_links(&self) -> usize {
        self.num_links
    }

    pub(super) fn num_levels(&self) -> usize {
        self.levels.len()
    }

    /// The group of a PE at a level; at level 0 it is the PE itself.
    pub(super) fn group(&self, level: usize, pe: PeId) -> usize {
        self.groups.of(level, pe)
    }

    /// A level, with the group of each PE.
    pub(super) fn level(&self, level: usize, group_of: Vec<u32>) -> TreeLevel {
        let Level { first, cost, inside, .. } = self.levels[level];
        TreeLevel { group_of, first: first as LaneId, cycles: [cost.div_ceil(2), cost / 2], inside }
    }

    /// Levels of one member do not count, unless they are inside one that does: no message uses them.
    pub(super) fn longest(&self) -> (u64, u64) {
        let above = |level: usize| self.levels.get(level + 1).map_or(1, |level| level.num_groups);
        let has_several = |level: usize| self.levels[level].num_groups > above(level);
        let mut is_passed: Vec<bool> = (0..self.levels.len()).map(has_several).collect();
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
        let Some(level) = self.groups.level(from, to) else { return };
        let begin = hops.len();
        let mut inwards = Some(level);
        while let Some(level) = inwards {
            let Level { first: own, cost, inside, .. } = self.levels[level];
            push(hops, first + own + 2 * self.groups.of(level, from), cost.div_ceil(2));
            inwards = inside;
        }
        hops[begin..].reverse();
        let mut inwards = Some(level);
        while let Some(level) = inwards {
            let Level { first: own, cost, inside, .. } = self.levels[level];
            push(hops, first + own + 2 * self.groups.of(level, to) + 1, cost / 2);
            inwards = inside;
        }
    }

    /// The first switch of a level. Each group of the levels above PEs is a switch, innermost level first, and so is the whole tree.
    fn first_switch(&self, level: usize) -> usize {
        self.levels[..level].iter().skip(1).map(|level| level.num_groups).sum()
    }

    /// The number of switches; a single PE has none.
    pub(super) fn num_switches(&self) -> usize {
        if self.levels.is_empty() { 0 } else { self.first_switch(self.levels.len()) + 1 }
    }

    /// The number of levels whose groups are on one node each, as far as they contain these PEs; `node_of` is the node of a PE.
    pub(super) fn levels_inside_nodes(&self, pes: &[PeId], node_of: &dyn Fn(PeId) -> u32) -> usize {
        let is_inside = |&level: &usize| self.groups.are_on_one_node(level, pes, node_of);
        (1..self.levels.len()).take_while(is_inside).count()
    }

    /// The switches above the lowest levels that messages between these PEs pass, in ascending order. O(PEs · log PEs) for each level.
    pub(super) fn switches_above(&self, lowest: usize, pes: &[PeId]) -> Vec<u32> {
        let groups_at = |level: usize| -> Vec<usize> {
            let mut groups: Vec<usize> = match level < self.levels.len() {
                true => pes.iter().map(|&pe| self.groups.of(level, pe)).collect(),
                false => vec![0],
            };
            groups.sort_unstable();
            groups.dedup();
            groups
        };
        // All messages stay in the group that has all PEs.
        let levels = (lowest + 1..=self.levels.len()).filter(|level| groups_at(level - 1).len() > 1);
        let switches = levels.flat_map(|level| {
            let first = self.first_switch(level);
            groups_at(level).into_iter().map(move |group| (first + group) as u32)
        });
        switches.collect()
    }

    /// Appends the switches between two PEs, each once, with their numbers in this tree from 0. Switches count even if links take no time, unlike hops.
    pub(super) fn pass(&self, from: PeId, to: PeId, switches: &mut Vec<u32>) {
        let Some(level) = self.groups.level(from, to) else { return };
        let mut pass = |level: usize, group: usize| switches.push((self.first_switch(level) + group) as u32);
        pass(level + 1, if level + 1 < self.levels.len() { self.groups.of(level + 1, from) } else { 0 });
        let mut inwards = Some(level);
        while let Some(level) = inwards.filter(|&level| level > 0) {
            [from, to].into_iter().for_each(|pe| pass(level, self.groups.of(level, pe)));
            inwards = self.levels[level].inside;
        }
    }

    /// The level of a switch, at least 1, and its group.
    pub(super) fn switch_place(&self, switch: u32) -> (usize, usize) {
        let switch = switch as usize;
        let level = (1..=self.levels.len()).rev().find(|&level| self.first_switch(level) <= switch);
        let level = level.unwrap_or(1);
        (level, switch - self.first_switch(level))
    }

    /// The name of a switch of a tree whose first PE has this number, for output.
    pub(super) fn switch_name(&self, switch: u32, first_pe: PeId) -> String {
        let (level, group) = self.switch_place(switch);
        if level == self.levels.len() {
            return format!("level {level}");
        }
        format!("{}, level {level}", self.members(level, group, first_pe))
    }

    /// The name of the PEs of a group.
    fn members(&self, level: usize, group: usize, first_pe: PeId) -> String {
        let (first, last, count) = self.groups.members(level, group);
        let (first, last) = (first_pe + first, first_pe + last);
        match (level, count) {
            (0, _) => format!("PE {first}"),
            (_, count) if count == (last - first) as usize + 1 => format!("PEs {first}-{last}"),
            (_, count) => format!("{count} PEs from {first} to {last}"),
        }
    }

    /// The level of a link, from 0, the group below it, and whether it leads up.
    fn place(&self, link: LaneId) -> (usize, usize, bool) {
        let link = link as usize;
        let level = self.levels.partition_point(|level| level.first <= link).saturating_sub(1);
        (level, (link - self.levels[level].first) / 2, link.is_multiple_of(2))
    }

    /// The level of a link, from 0, the first PE below it, and whether it leads up.
    pub(super) fn position(&self, link: LaneId) -> (usize, PeId, bool) {
        let (level, group, is_up) = self.place(link);
        (level, self.groups.members(level, group).0, is_up)
    }

    /// The name of a link of a tree whose first PE has this number, for output.
    pub(super) fn name(&self, link: LaneId, first_pe: PeId) -> String {
        let (level, group, is_up) = self.place(link);
        way(&self.members(level, group, first_pe), &format!("level {}", level + 1), is_up)
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
    fn a_regular_tree_that_is_written_as_an_uneven_one_has_the_same_routes() {
        for distances in ["1:10:100", "5:2:7", "3:3:3"] {
            let tree = Hierarchy::parse("2:3:2", distances).unwrap();
            let digits: Vec<u32> = (0..12).flat_map(|pe| [pe % 2, pe / 2 % 3, pe / 6]).collect();
            let uneven = UnevenTree::new(tree.distances(), &digits).unwrap();
            let (regular, uneven) = (TreeRoutes::new(&tree).unwrap(), TreeRoutes::uneven(&uneven).unwrap());
            assert_eq!((regular.num_links(), regular.longest()), (uneven.num_links(), uneven.longest()));
            for (p, q) in (0..12).flat_map(|p| (0..12).map(move |q| (p, q))) {
                let hops = |routes: &TreeRoutes| {
                    let mut hops = Vec::new();
                    routes.route(p, q, 0, &mut hops);
                    hops
                };
                assert_eq!(hops(&regular), hops(&uneven), "{p} {q}");
            }
            let names = |routes: &TreeRoutes| -> Vec<String> {
                (0..routes.num_links() as LaneId).map(|link| routes.name(link, 0)).collect()
            };
            assert_eq!(names(&regular), names(&uneven));
        }
    }

    #[test]
    fn groups_of_uneven_trees_are_named_by_their_pes() {
        // Nodes of one, two and two PEs; those of the last two alternate.
        let tree = UnevenTree::new(&[1, 10], &[0, 0, 0, 1, 0, 2, 1, 1, 1, 2]).unwrap();
        let routes = TreeRoutes::uneven(&tree).unwrap();
        let mut hops = Vec::new();
        routes.route(1, 4, 0, &mut hops);
        let names: Vec<String> = hops.iter().map(|hop| routes.name(hop.lane, 0)).collect();
        let expected = ["PE 1 -> level 1", "2 PEs from 1 to 3 -> level 2", "level 2 -> 2 PEs from 2 to 4"];
        assert_eq!(names, expected);
        assert_eq!(hops.iter().map(|hop| hop.cycles).sum::<u64>(), 10);
    }

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
