//! Deals tasks to groups of PEs in turn, as launchers do for cyclic distributions.
//!
//! Where all tasks of a phase send into the same group, contiguous tasks on one node have its link to themselves one
//! after the other, and tasks that are dealt to the nodes use all links at the same time.

use super::view::MachineView;
use crate::ground::types::PeId;

/// The most mappings: those of machines with five levels.
const MOST: usize = 10;

/// A mapping for each pair of sizes of groups: within each larger group, tasks are dealt to the smaller ones in turn. Those that
/// deal to the groups of the whole machine come first.
pub(super) fn deals(view: &MachineView, num_tasks: usize) -> Vec<Vec<PeId>> {
    let mut sizes = group_sizes(view);
    sizes.push(view.num_pes());
    let outer = (1..sizes.len()).rev();
    let pairs = outer.flat_map(|outer| (0..outer).rev().map(move |inner| (inner, outer)));
    pairs.take(MOST).map(|(inner, outer)| deal(view, num_tasks, sizes[inner], sizes[outer])).collect()
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

/// Within each group of `outer` PEs, deals tasks to its groups of `inner` PEs in turn; as many tasks to each PE as it has room for.
fn deal(view: &MachineView, num_tasks: usize, inner: usize, outer: usize) -> Vec<PeId> {
    let groups = outer / inner;
    let pe_at = |at: usize| {
        let (first, at) = (at - at % outer, at % outer);
        (first + at % groups * inner + at / groups) as PeId
    };
    let places = (0..view.num_pes())
        .map(pe_at)
        .flat_map(|pe| std::iter::repeat_n(pe, view.room[pe as usize] as usize));
    places.take(num_tasks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Capacities, Grid, Hierarchy};

    #[test]
    fn tasks_are_dealt_to_nodes_and_within_nodes() {
        let view = MachineView::new(&Hierarchy::parse("2:2:3", "1:10:100").unwrap(), &()).unwrap();
        assert_eq!(group_sizes(&view), [2, 4]);
        let expected: [&[PeId]; 3] = [
            &[0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11],
            &[0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11],
            &[0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11],
        ];
        assert_eq!(deals(&view, 12), expected);
        assert_eq!(deals(&view, 3)[0], [0, 4, 8]);
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
