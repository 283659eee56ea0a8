//! Exact bisection: a list of parts is cut in half, and so are the cells, in exactly as many as the parts of each half take. Cells are in the order of one
//! coordinate; of the layer where the cut falls, the first ones belong to the first half. Of all dimensions, the one with the least cut is taken.

use super::grid::GridTask;
use crate::base::types::{Cost, NodeId};
use crate::graph::stencil::{Offset, Stencil};
use crate::machine::Parts;

pub(super) fn orders(task: &GridTask<'_>) -> Vec<Vec<NodeId>> {
    let mut order: Vec<NodeId> = (0..task.stencil.num_cells() as NodeId).collect();
    Bisection::new(task.stencil).list(&mut order, task.sizes, &mut |_, _| ());
    vec![order]
}

/// Arranges the cells of each of some parts, which take consecutive ranges of an order, by bisection along the parts inside of it.
pub(super) fn arrange(stencil: &Stencil, parts: &Parts, of: &[usize], order: &mut [NodeId]) {
    let mut bisection = Bisection::new(stencil);
    for &part in of {
        let (range, count) = (parts.range(part), order.len());
        bisection.inside(parts, part, &mut order[range.start.min(count)..range.end.min(count)]);
    }
}

struct Bisection<'a> {
    stencil: &'a Stencil,
    /// One of the offsets of each pair of opposite ones.
    offsets: Vec<&'a Offset>,
    /// By cell, the half of the latest cut that it is in.
    half_of: Vec<u32>,
    /// The number of the latest half.
    latest: u32,
    /// Of the cells that are being divided, a coordinate and the number.
    keys: Vec<u64>,
}

impl<'a> Bisection<'a> {
    fn new(stencil: &'a Stencil) -> Self {
        let offsets = stencil.offsets().iter();
        let is_forward =
            |offset: &&Offset| offset.steps.iter().find(|&&step| step != 0).is_some_and(|&step| step > 0);
        Self {
            stencil,
            offsets: offsets.filter(is_forward).collect(),
            half_of: vec![0; stencil.num_cells()],
            latest: 0,
            keys: Vec::new(),
        }
    }

    /// The cells of a part along the parts inside of it. Parts at the end of the machine may have fewer cells than places.
    fn inside(&mut self, parts: &Parts, part: usize, cells: &mut [NodeId]) {
        let children: Vec<usize> = parts.children(part).collect();
        let mut left = cells.len();
        let take = |&child: &usize| {
            let size = parts.range(child).len().min(left);
            left -= size;
            size
        };
        let sizes: Vec<usize> = children.iter().map(take).filter(|&size| size > 0).collect();
        if sizes.iter().all(|&size| size <= 1) {
            return;
        }
        let mut found = Vec::new();
        self.list(cells, &sizes, &mut |begin, size| found.push((begin, size)));
        for (child, (begin, size)) in children.into_iter().zip(found) {
            self.inside(parts, child, &mut cells[begin..begin + size]);
        }
    }

    /// The cells of a list of parts of these sizes. Each part is then named by its position and its size, in order.
    fn list(&mut self, cells: &mut [NodeId], sizes: &[usize], found: &mut impl FnMut(usize, usize)) {
        let mut waiting = vec![(0, sizes)];
        while let Some((begin, sizes)) = waiting.pop() {
            let size: usize = sizes.iter().sum();
            if sizes.len() < 2 {
                cells[begin..begin + size].sort_unstable();
                found(begin, size);
                continue;
            }
            let (first, second) = sizes.split_at(sizes.len() / 2);
            let middle: usize = first.iter().sum();
            self.halve(&mut cells[begin..begin + size], middle);
            waiting.extend([(begin + middle, second), (begin, first)]);
        }
    }

    /// Puts this many cells of some first, such that the cut between them and the others is least.
    fn halve(&mut self, cells: &mut [NodeId], middle: usize) {
        let dimensions = 0..self.stencil.lengths().len();
        let least = dimensions.min_by_key(|&dimension| {
            self.divide(cells, middle, dimension);
            self.cut(cells, middle)
        });
        self.divide(cells, middle, least.unwrap_or(0));
    }

    /// Puts this many cells first that are least by one coordinate, and then by all others in their order.
    fn divide(&mut self, cells: &mut [NodeId], middle: usize, dimension: usize) {
        let key = |&cell: &NodeId| {
            (self.stencil.coordinate(cell, dimension) as u64) << NodeId::BITS | u64::from(cell)
        };
        self.keys.clear();
        self.keys.extend(cells.iter().map(key));
        if middle < cells.len() {
            self.keys.select_nth_unstable(middle);
        }
        cells.iter_mut().zip(&self.keys).for_each(|(cell, &key)| *cell = key as NodeId);
    }

    /// The weight of the edges between the first cells and the others.
    fn cut(&mut self, cells: &[NodeId], middle: usize) -> Cost {
        let (first, second) = (self.latest + 1, self.latest + 2);
        self.latest = second;
        for (index, &cell) in cells.iter().enumerate() {
            self.half_of[cell as usize] = if index < middle { first } else { second };
        }
        let mut cut = 0;
        for &cell in cells {
            for offset in &self.offsets {
                let Some(other) = self.stencil.cell_at(cell, offset) else { continue };
                let halves = [cell, other].map(|cell| self.half_of[cell as usize]);
                cut += if halves[0] + halves[1] == first + second { offset.weight } else { 0 };
            }
        }
        cut
    }
}
