//! Strips: the grid is cut into columns along one dimension, the axis, and the order runs through one column after the other, forth and back, layer by
//! layer. Parts are then pieces of columns. Columns as wide as pieces are long, in steps of the stencil, have the least surface; which lengths allow
//! them depends on the numbers, so widths around these are tried along each axis, those first whose pieces should have the least surface.
//!
//! A dimension is divided into equal widths, or into the widths that minimise the same estimate together: where both 6 and 8 fill parts with whole layers
//! and 7 does not, 50 is seven strips of 6 and one of 8.

use super::grid::{Cuboid, GridTask, pulls};
use crate::base::types::NodeId;
use crate::graph::stencil::Stencil;

/// About this many divisions are estimated for each axis. Balances the time, 10 ns for each, against grids of many dimensions.
const MOST_ESTIMATED: usize = 1 << 12;

/// Different widths are looked for if the number of lengths times widths is at most this; it takes as many steps.
const MOST_MIXED: usize = 1 << 16;

pub(super) fn orders(task: &GridTask<'_>) -> Vec<Vec<NodeId>> {
    let surface = Surface { stencil: task.stencil, pulls: pulls(task.stencil), size: task.mean_size() };
    let axes = 0..task.stencil.lengths().len();
    let mut strips: Vec<(f64, Strips)> = axes.flat_map(|axis| surface.strips(axis)).collect();
    strips.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    strips.truncate((task.most / 2).max(1));
    let mut widths: Vec<Strips> = Vec::new();
    for strips in std::iter::once(surface.plain()).chain(strips.into_iter().map(|(_, strips)| strips)) {
        let mixed = surface.mixed(&strips);
        widths.extend([strips].into_iter().chain(mixed));
    }
    widths.iter().map(|strips| strips.order(task.stencil)).collect()
}

/// Columns of a grid.
#[derive(Clone, PartialEq)]
struct Strips {
    axis: usize,
    /// By dimension, the widths of the columns; the whole length along the axis.
    widths: Vec<Vec<usize>>,
}

impl Strips {
    /// As many columns along each dimension, whose widths differ by at most one.
    fn equal(stencil: &Stencil, axis: usize, counts: &[usize]) -> Self {
        let divided = |(&length, &count): (&usize, &usize)| {
            (0..count).map(|index| length / count + usize::from(index < length % count)).collect()
        };
        Self { axis, widths: stencil.lengths().iter().zip(counts).map(divided).collect() }
    }

    /// The cells along the columns. Each turn leads to a column beside the last one.
    fn order(&self, stencil: &Stencil) -> Vec<NodeId> {
        let across: Vec<usize> = (0..self.widths.len()).filter(|&dimension| dimension != self.axis).collect();
        let layers: Vec<usize> = std::iter::once(self.axis).chain(across.iter().copied()).collect();
        let mut columns = vec![Cuboid::whole(stencil)];
        for &dimension in &across {
            columns = columns
                .into_iter()
                .enumerate()
                .flat_map(|(index, column)| {
                    let mut pieces = divided(column, dimension, &self.widths[dimension]);
                    if index % 2 == 1 {
                        pieces.reverse();
                    }
                    pieces
                })
                .collect();
        }
        let mut order = Vec::with_capacity(stencil.num_cells());
        for (index, column) in columns.into_iter().enumerate() {
            let length = column.0[self.axis].len();
            let mut pieces = divided(column, self.axis, &vec![1; length]);
            if index % 2 == 1 {
                pieces.reverse();
            }
            pieces.iter().for_each(|layer| layer.append(stencil, &layers, &mut order));
        }
        order
    }
}

/// Pieces of a cuboid of these widths along a dimension.
fn divided(mut cuboid: Cuboid, dimension: usize, widths: &[usize]) -> Vec<Cuboid> {
    let mut pieces = Vec::with_capacity(widths.len());
    for &width in &widths[..widths.len() - 1] {
        let [first, rest] = cuboid.split(dimension, width);
        pieces.push(first);
        cuboid = rest;
    }
    pieces.push(cuboid);
    pieces
}

/// What pieces of strips send, estimated.
struct Surface<'a> {
    stencil: &'a Stencil,
    pulls: Vec<f64>,
    /// The number of cells of a piece.
    size: f64,
}

impl Surface<'_> {
    /// The strips of the source: along the longest dimension, as wide as a cuboid of the proportions of the stencil and of the size of a piece.
    fn plain(&self) -> Strips {
        let (lengths, offsets) = (self.stencil.lengths(), self.stencil.offsets());
        let dimensions = 0..lengths.len();
        let reach =
            |dimension: usize| offsets.iter().map(|offset| offset.steps[dimension].abs()).max().unwrap_or(0);
        let reaches: Vec<f64> = dimensions.clone().map(|dimension| reach(dimension) as f64).collect();
        let used = || reaches.iter().filter(|&&reach| reach > 0.0);
        let side = (self.size / used().product::<f64>()).powf(1.0 / used().count() as f64);
        let axis = dimensions.max_by_key(|&dimension| lengths[dimension]).unwrap_or(0);
        let count = |(dimension, &length): (usize, &usize)| {
            if dimension == axis {
                1
            } else {
                (length / ((side * reaches[dimension]) as usize).max(1)).max(1)
            }
        };
        let counts: Vec<usize> = lengths.iter().enumerate().map(count).collect();
        Strips::equal(self.stencil, axis, &counts)
    }

    /// Equal strips along an axis, each with what a cell sends to other pieces on average.
    fn strips(&self, axis: usize) -> Vec<(f64, Strips)> {
        let counts = self.counts(axis);
        let mut all = vec![Vec::new()];
        for of_dimension in &counts {
            let longer =
                |list: Vec<usize>| of_dimension.iter().map(move |&count| [&list[..], &[count]].concat());
            all = all.into_iter().flat_map(longer).collect();
        }
        all.iter()
            .map(|counts| (self.estimate(axis, counts), Strips::equal(self.stencil, axis, counts)))
            .collect()
    }

    /// By dimension, how many strips are tried: those next to the widths of least surface, 1 along the axis.
    fn counts(&self, axis: usize) -> Vec<Vec<usize>> {
        let lengths = self.stencil.lengths();
        let most = (MOST_ESTIMATED as f64).powf(1.0 / (lengths.len() - 1).max(1) as f64).max(2.0) as usize;
        // With many dimensions, two of each would be too many.
        let most = if lengths.len() > 12 { 1 } else { most };
        let widths = self.least_widths();
        let of = |(dimension, &length): (usize, &usize)| {
            if dimension == axis {
                return vec![1];
            }
            let mut counts: Vec<usize> = (1..=length).collect();
            let error = |count: usize| (length as f64 / count as f64 / widths[dimension]).ln().abs();
            counts.sort_by(|&a, &b| error(a).total_cmp(&error(b)));
            counts.truncate(most);
            counts
        };
        lengths.iter().enumerate().map(of).collect()
    }

    /// The widths of the cuboid of least surface: in proportion to the pulls, from 1 to the lengths.
    fn least_widths(&self) -> Vec<f64> {
        let lengths = self.stencil.lengths();
        let mut widths: Vec<f64> = self.pulls.iter().map(|&pull| pull.max(f64::MIN_POSITIVE)).collect();
        // Each round sets one more width to its limit at least, or scales the others.
        for _ in lengths {
            let is_free = |width: f64, length: usize| width > 1.0 && width < length as f64;
            let free = widths.iter().zip(lengths).filter(|&(&width, &length)| is_free(width, length)).count();
            let volume: f64 = widths.iter().map(|width| width.ln()).sum();
            let every = free == 0;
            let count = if every { lengths.len() } else { free };
            let factor = ((self.size.ln() - volume) / count as f64).exp();
            for (width, &length) in widths.iter_mut().zip(lengths) {
                if every || is_free(*width, length) {
                    *width = (*width * factor).clamp(1.0, length as f64);
                }
            }
        }
        widths
    }

    /// What a cell sends to other pieces on average, with this many strips along each dimension.
    fn estimate(&self, axis: usize, counts: &[usize]) -> f64 {
        let lengths = self.stencil.lengths();
        let widths = lengths.iter().zip(counts).map(|(&length, &count)| length as f64 / count as f64);
        let layer: f64 = widths.clone().product::<f64>() / lengths[axis] as f64;
        let across = widths.enumerate().filter(|&(dimension, _)| dimension != axis && counts[dimension] > 1);
        let sides: f64 = across.map(|(dimension, width)| self.pulls[dimension] / width).sum();
        // Where a layer is larger than a piece, pieces are rows of it, and send more than the axis alone says.
        sides + self.pulls[axis] * layer / self.size
    }

    /// The same number of columns or about as many, of the widths whose pieces should have the least surface together; none if these are equal
    /// or the grid is too large.
    fn mixed(&self, strips: &Strips) -> Option<Strips> {
        let lengths = self.stencil.lengths();
        let mean = |dimension: usize| lengths[dimension] as f64 / strips.widths[dimension].len() as f64;
        let across = (0..lengths.len()).filter(|&dimension| dimension != strips.axis);
        let layer: f64 = across.clone().map(mean).product();
        let mut mixed = strips.clone();
        for dimension in across.filter(|&dimension| strips.widths[dimension].len() > 1) {
            let others = layer / mean(dimension);
            mixed.widths[dimension] = self.least_mix(strips.axis, dimension, others, mean(dimension))?;
        }
        (mixed != *strips).then_some(mixed)
    }

    /// Widths around a mean that a dimension is divided into, where a layer has `others` rows of each; the widest first.
    fn least_mix(&self, axis: usize, dimension: usize, others: f64, mean: f64) -> Option<Vec<usize>> {
        let length = self.stencil.lengths()[dimension];
        let widest = length.min(2 * mean as usize + 1);
        if length.saturating_mul(widest) > MOST_MIXED {
            return None;
        }
        // By width, what a strip of it sends over a unit of the other dimensions: to the next strip, and at the ends of its pieces, which are
        // ragged unless they consist of whole layers.
        let of_strip = |width: usize| {
            let layer = width as f64 * others;
            let ragged =
                if (self.size / layer).fract() == 0.0 { 0.0 } else { self.pulls[dimension] * others };
            self.pulls[dimension] + width as f64 / self.size * (self.pulls[axis] * layer + ragged)
        };
        let mut least = vec![(0.0, 0)];
        for total in 1..=length {
            let with = |width: usize| (least[total - width].0 + of_strip(width), width);
            let choices = (1..=widest.min(total)).map(with);
            least.push(choices.min_by(|(a, _), (b, _)| a.total_cmp(b)).expect("a width of 1 is one"));
        }
        let (mut widths, mut left) = (Vec::new(), length);
        while left > 0 {
            widths.push(least[left].1);
            left -= least[left].1;
        }
        widths.sort_unstable_by(|a, b| b.cmp(a));
        Some(widths)
    }
}
