//! Deals tasks to groups of PEs in turn, as launchers do for cyclic distributions.
//!
//! Where all tasks of a phase send into the same group, contiguous tasks on one node have its link to themselves one
//! after the other, and tasks that are dealt to the nodes use all links at the same time.

use hashbrown::HashMap;

use super::view::MachineView;
use viem::base::types::PeId;

/// The most mappings: those of machines with five levels.
const MOST: usize = 10;

/// A mapping for each pair of levels of groups: within each group of the outer one, tasks are dealt to those of the inner one in turn. Those
/// that deal to the groups of the whole machine come first.
pub(super) fn deals(view: &MachineView, num_tasks: usize) -> Vec<Vec<PeId>> {
    let levels = levels(view);
    let outer = (1..levels.len()).rev();
    let pairs = outer.flat_map(|outer| (0..outer).rev().map(move |inner| (inner, outer)));
    pairs.take(MOST).map(|(inner, outer)| deal(view, num_tasks, &levels[inner], &levels[outer])).collect()
}

/// The group of each PE by level, innermost first: those of a tree, or of equal groups of consecutive PEs. The last one is the whole machine.
fn levels(view: &MachineView) -> Vec<Vec<u32>> {
    let whole = vec![0; view.num_pes()];
    let consecutive = |size: usize| (0..view.num_pes()).map(|pe| (pe / size) as u32).collect();
    let mut levels: Vec<Vec<u32>> = match view.routing.levels() {
        Some(levels) => levels.into_iter().map(|level| level.group_of).collect(),
        None => group_sizes(view).into_iter().map(consecutive).collect(),
    };
    levels.push(whole);
    let count = |groups: &Vec<u32>| {
        let mut all = groups.clone();
        all.sort_unstable();
        all.dedup();
        all.len()
    };
    levels.dedup_by_key(|groups| count(groups));
    levels.retain(|groups| count(groups) < view.num_pes());
    levels
}

/// The sizes, above one and below all, of equal groups of consecutive PEs that are nearer to each other than to the next group,
/// judged by the first PE.
fn group_sizes(view: &MachineView) -> Vec<usize> {
    let mut farthest = 0;
    let mut sizes = Vec::new();
    for pe in 1..view.num_pes() {
        let distance = view.distance(0, pe as PeId);
        let is_farther = distance > farthest;
        farthest = farthest.max(distance);
        if pe > 1 && is_farther && view.num_pes().is_multiple_of(pe) {
            sizes.push(pe);
        }
    }
    sizes
}

/// Within each group of the outer level, deals tasks to the groups of the inner one in turn; as many tasks to each PE as it has room for.
fn deal(view: &MachineView, num_tasks: usize, inner: &[u32], outer: &[u32]) -> Vec<PeId> {
    // Of each inner group, how many of its PEs have a turn.
    let mut turns: HashMap<u32, u32> = HashMap::new();
    let mut order: Vec<(u32, u32, u32, PeId)> = (0..view.num_pes())
        .map(|pe| {
            let turn = turns.entry(inner[pe]).or_default();
            *turn += 1;
            (outer[pe], *turn, inner[pe], pe as PeId)
        })
        .collect();
    order.sort_unstable();
    let places = order.into_iter().map(|(.., pe)| pe);
    in_places(view, num_tasks, places)
}

/// As many tasks on each of these PEs as it has room for, in their order.
pub(super) fn in_places(view: &MachineView, num_tasks: usize, pes: impl Iterator<Item = PeId>) -> Vec<PeId> {
    pes.flat_map(|pe| std::iter::repeat_n(pe, view.room[pe as usize] as usize)).take(num_tasks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::machine::{Capacities, Grid, Hierarchy, Listed, UnevenTree};

    #[test]
    fn tasks_are_dealt_to_nodes_and_within_nodes() {
        let view = MachineView::new(&Hierarchy::parse("2:2:3", "1:10:100").unwrap(), &()).unwrap();
        let expected: [&[PeId]; 3] = [
            &[0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11],
            &[0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11],
            &[0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11],
        ];
        assert_eq!(deals(&view, 12), expected);
        assert_eq!(deals(&view, 3)[0], [0, 4, 8]);
    }

    #[test]
    fn nodes_of_any_size_are_dealt_to_until_they_are_full() {
        // Nodes 0, 1 and 2 have three, one and two PEs; the first and the last are at one switch.
        let digits = [0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 2, 0, 0, 1, 1, 0];
        let tree = UnevenTree::new(&[1, 10, 100], &digits).unwrap();
        let view = MachineView::new(&tree, &()).unwrap();
        let expected: [&[PeId]; 3] = [&[0, 2, 1, 3, 4, 5], &[0, 3, 2, 1, 5, 4], &[0, 3, 1, 5, 4, 2]];
        assert_eq!(deals(&view, 6), expected);
        let sorted = view.sorted().unwrap();
        assert_eq!(in_places(&view, 6, sorted.iter().copied()), [0, 1, 4, 3, 5, 2]);
        let listed = Listed::new(tree, vec![5, 3, 0]).unwrap();
        assert_eq!(deals(&MachineView::new(&listed, &()).unwrap(), 3)[0], [2, 0, 1]);
    }

    #[test]
    fn no_pe_gets_more_tasks_than_it_has_room_for() {
        let machine = Capacities::new(Grid::torus(&[4, 3]).unwrap(), vec![2; 12]).unwrap();
        let view = MachineView::new(&machine, &()).unwrap();
        for deal in deals(&view, 24) {
            let mut sorted = deal;
            sorted.sort_unstable();
            assert_eq!(sorted, (0..12).flat_map(|pe| [pe, pe]).collect::<Vec<PeId>>());
        }
    }
}
