//! Places the tasks of a walk through the workload along a circle through a grid of PEs.
//!
//! A grid of PEs has a Hamiltonian circle if the number of PEs is even, or if a dimension is closed;
//! otherwise there is a circle with a single step of two hops. No message of a ring workload then travels
//! farther. O(tasks + channels).

use super::view::MachineView;
use viem::base::types::{NodeId, PeId};
use viem::graph::CsrGraph;

/// The PE of each task, if the machine is a grid with one PE per task.
pub(super) fn along_circle(graph: &CsrGraph, view: &MachineView) -> Option<Vec<PeId>> {
    let n = graph.num_nodes();
    let grid = view.grid.as_ref().filter(|_| view.num_pes() >= n)?;
    let mut pe_of = vec![0; n];
    let circle = circle(grid);
    for (task, pe) in walk(graph).into_iter().zip(circle) {
        pe_of[task as usize] = pe;
    }
    Some(pe_of)
}

/// The tasks, each next to a partner if possible: depth first from a task with few partners, heaviest partner
/// first.
fn walk(graph: &CsrGraph) -> Vec<NodeId> {
    let mut starts: Vec<NodeId> = graph.nodes().collect();
    starts.sort_by_key(|&task| (graph.degree(task), task));
    let mut is_seen = vec![false; graph.num_nodes()];
    let mut order = Vec::with_capacity(graph.num_nodes());
    for start in starts {
        let mut stack = vec![start];
        while let Some(task) = stack.pop() {
            if std::mem::replace(&mut is_seen[task as usize], true) {
                continue;
            }
            order.push(task);
            let mut partners: Vec<(i64, NodeId)> =
                graph.arcs(task).map(|(other, weight)| (weight, other)).collect();
            partners.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
            stack.extend(
                partners.into_iter().map(|(_, other)| other).filter(|&other| !is_seen[other as usize]),
            );
        }
    }
    order
}

/// The vertices of a grid in an order in which each is next to its predecessor and the last next to the
/// first, with one step of two hops if there is no such order. In a single open dimension every step may have
/// two hops.
fn circle(grid: &[(u32, bool)]) -> Vec<PeId> {
    let mut strides = Vec::new();
    let mut stride = 1;
    for &(length, is_closed) in grid {
        if length > 1 {
            strides.push((length, is_closed, stride));
        }
        stride *= length;
    }
    if strides.len() < 2 {
        return strides.first().map_or(vec![0], |&(length, is_closed, stride)| {
            line(length, is_closed).into_iter().map(|at| at * stride).collect()
        });
    }
    // One dimension has the columns. The other dimensions together, traversed boustrophedonically, have the
    // rows. An even number of rows is best, then closed columns.
    let is_even = |&(length, ..): &(u32, bool, u32)| length % 2 == 0;
    let evens = strides.iter().filter(|side| is_even(side)).count();
    let columns = match evens {
        0 => strides.iter().position(|&(_, is_closed, _)| is_closed).unwrap_or(0),
        // Some other dimension is even, so the number of rows is.
        _ => strides.iter().position(|side| !is_even(side)).unwrap_or(0),
    };
    let (length, is_closed, stride) = strides.remove(columns);
    let rows = to_and_fro(&strides);
    let at = |row: u32, column: u32| rows[row as usize] + column * stride;
    rectangle(rows.len() as u32, length, is_closed).into_iter().map(|(row, column)| at(row, column)).collect()
}

/// A circle through a line: forward over the even places, back over the odd ones.
fn line(length: u32, is_closed: bool) -> Vec<u32> {
    if is_closed {
        return (0..length).collect();
    }
    (0..length)
        .step_by(2)
        .chain((0..length).skip(1).step_by(2).collect::<Vec<_>>().into_iter().rev())
        .collect()
}

/// A boustrophedon path through several dimensions: back and forth in the first one, one step of the next at
/// each end, and so on.
fn to_and_fro(strides: &[(u32, bool, u32)]) -> Vec<PeId> {
    let mut path = vec![0];
    for &(length, _, stride) in strides {
        let mut longer = Vec::with_capacity(path.len() * length as usize);
        for step in 0..length {
            longer.extend(path.iter().map(|&at| at + step * stride));
            path.reverse();
        }
        // The path was reversed each time; its first part is the start of the longer one.
        path = longer;
    }
    path
}

/// A circle through rows and columns, at least two of each: back and forth through all columns but the first,
/// and back along the first.
fn rectangle(rows: u32, columns: u32, is_closed: bool) -> Vec<(u32, u32)> {
    let mut circle = Vec::new();
    let is_odd = rows % 2 == 1 && !is_closed;
    // If the parity does not fit, the last rows are traversed differently, if there are enough of them.
    let plain = if is_odd && rows >= 3 && columns % 2 == 1 { rows - 3 } else { rows };
    for row in 0..plain {
        let there = 1..columns;
        if row % 2 == 0 {
            circle.extend(there.map(|column| (row, column)));
        } else {
            circle.extend(there.rev().map(|column| (row, column)));
        }
    }
    let mut left: Vec<(u32, u32)> = (0..rows).rev().map(|row| (row, 0)).collect();
    if plain < rows {
        let [a, b, c] = [plain, plain + 1, plain + 2];
        circle.extend((1..columns).map(|column| (a, column)));
        for (index, column) in (1..columns).rev().enumerate() {
            circle.extend(if index % 2 == 0 {
                [(b, column), (c, column)]
            } else {
                [(c, column), (b, column)]
            });
        }
        // The step of two hops leads from the last but one row to the last.
        left.rotate_left(0);
    }
    circle.extend(left);
    circle
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hops of each step of the circle of a grid.
    fn steps(grid: &[(u32, bool)]) -> Vec<u32> {
        let circle = circle(grid);
        let all: u32 = grid.iter().map(|&(length, _)| length).product();
        let mut sorted = circle.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..all), "{grid:?}: {circle:?}");
        let hops = |(&p, &q): (&u32, &u32)| {
            let (mut a, mut b, mut sum) = (p, q, 0);
            for &(length, is_closed) in grid {
                let gap = (a % length).abs_diff(b % length);
                sum += if is_closed { gap.min(length - gap) } else { gap };
                (a, b) = (a / length, b / length);
            }
            sum
        };
        circle.iter().zip(circle.iter().cycle().skip(1)).map(hops).collect()
    }

    #[test]
    fn circles_have_one_long_step_at_most() {
        for is_closed in [false, true] {
            for lengths in [
                vec![2, 2],
                vec![3, 2],
                vec![2, 5],
                vec![4, 4],
                vec![5, 4],
                vec![3, 3],
                vec![5, 7],
                vec![7, 3],
                vec![3, 3, 3],
                vec![2, 3, 5],
                vec![4, 1, 3],
                vec![3, 5, 3, 3],
                vec![2; 6],
                vec![32, 32],
            ] {
                let grid: Vec<(u32, bool)> = lengths.iter().map(|&length| (length, is_closed)).collect();
                let steps = steps(&grid);
                let is_odd = steps.len() % 2 == 1 && !is_closed;
                assert_eq!(steps.iter().filter(|&&hops| hops != 1).count(), usize::from(is_odd), "{grid:?}");
                assert!(steps.iter().all(|&hops| hops <= 2), "{grid:?}: {steps:?}");
            }
        }
        assert!(steps(&[(7, false)]).iter().all(|&hops| hops <= 2));
        assert!(steps(&[(8, true)]).iter().all(|&hops| hops == 1));
        assert!(steps(&[(3, false), (5, true)]).iter().all(|&hops| hops == 1));
    }
}
