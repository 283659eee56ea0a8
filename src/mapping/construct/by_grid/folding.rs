//! Foldings: a grid is laid into a machine that has axes of its own, such as a torus.
//!
//! *Problem.* The PEs of the machine have a coordinate along each [`Axis`]. Neighbouring cells should be few steps apart.
//!
//! *Algorithm.* The lengths of the axes are factored, and each factor is given to a dimension of the grid, which is cut into as many layers as the product of its
//! factors. The layers count along these as an odometer does, but each digit counts down and up in turn: a step changes the digit of one factor by one.
//! So 32 layers may run forth and back along a ring of 8 and a ring of 4, and two dimensions of 4 may share a ring of 16. Cheap digits turn
//! fastest. Assignments of factors are extended axis by axis; those are kept whose mean cost of a step may become least. Where there are more cells than PEs,
//! the layers of one dimension are cut along the next one, each into the shares of its PEs.
//!
//! *Cost.* O([`KEPT`] · ways to divide an axis) for each axis, O(n log n) for each folding.
//!
//! *Source.* Codes in which one digit changes by one are Gray's; embeddings of grids into grids by them are in Ma and Tao, *Embeddings among meshes and
//! tori*, JPDC 1993.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use super::grid::pulls;
use crate::base::types::{NodeId, PeId};
use crate::graph::stencil::Stencil;
use crate::machine::{Axis, AxisShape};

/// Assignments that are kept from axis to axis. Balances the time, a fraction of a microsecond for each way to extend one, against those that are given up too
/// early; in the cases of the tests, the best one never is.
const KEPT: usize = 64;

/// Ways to divide an axis that are tried. Grids of two or three dimensions have fewer.
const MOST_WAYS: usize = 1 << 12;

/// An axis along which distances grow is divided into at most this many factors.
const MOST_FACTORS: usize = 3;

/// A grid, and the PEs that are to take its cells.
pub(super) struct Folding<'a> {
    pub stencil: &'a Stencil,
    pub axes: &'a [Axis],
    /// The number of cells for each PE, in the order of their numbers. Their sum is that of all cells, or each is 1.
    pub shares: &'a [usize],
}

/// A factor of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Digit {
    axis: usize,
    length: usize,
    /// The dimension of the grid whose layers run along it. The number of dimensions if all cells are at its start.
    dimension: usize,
    /// The mean distance of a step.
    step: f64,
    /// Whether its last place is next to its first.
    is_ring: bool,
}

impl Digit {
    /// The mean distance of its last place from its first.
    fn way_back(&self, shape: AxisShape) -> f64 {
        if self.is_ring || shape == AxisShape::Level {
            self.step
        } else {
            self.step * (self.length - 1) as f64
        }
    }
}

/// What the axes that are still to be given to dimensions have.
#[derive(Clone, Copy)]
struct Rest {
    num_pes: usize,
    /// The least distance of a step.
    step: f64,
}

impl Folding<'_> {
    /// The PE of each cell by at most `most` foldings, those first that are expected to be best. Empty unless the shares add up to the cells, or each is 1 and
    /// there are more of them.
    pub fn mappings(&self, most: usize) -> Vec<Vec<PeId>> {
        let Self { stencil, axes, shares } = *self;
        let num_cells: usize = shares.iter().sum();
        let is_whole = num_cells == stencil.num_cells();
        if num_cells < stencil.num_cells() || !is_whole && shares.iter().any(|&share| share != 1) {
            return Vec::new();
        }
        let pulls = pulls(stencil);
        let best = self.best(&pulls);
        let codes = best
            .iter()
            .flat_map(|digits| orders(digits).into_iter().map(move |order| Code { digits, order, axes }));
        codes.take(most).map(|code| self.pes(&code)).collect()
    }

    /// Returns whether there are more PEs than cells.
    fn has_room(&self) -> bool {
        self.shares.len() > self.stencil.num_cells()
    }

    /// The assignments of all axes with the least estimates, in ascending order.
    fn best(&self, pulls: &[f64]) -> Vec<Vec<Digit>> {
        let mut order: Vec<usize> = (0..self.axes.len()).collect();
        order.sort_by_key(|&axis| (self.axes[axis].unit, Reverse(self.axes[axis].length)));
        let mut kept = vec![Vec::new()];
        for (index, &axis) in order.iter().enumerate() {
            let left = &order[index + 1..];
            let rest = Rest {
                num_pes: left.iter().map(|&axis| self.axes[axis].length).product(),
                step: left.first().map_or(0.0, |&axis| self.axes[axis].unit as f64),
            };
            let ways = self.ways(axis);
            let mut extended = Vec::new();
            for (old, digits) in kept.iter().enumerate() {
                extended.extend(
                    ways.iter().enumerate().filter_map(|(way, more)| {
                        Some((self.estimate(pulls, [digits, more], rest)?, old, way))
                    }),
                );
            }
            extended.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
            extended.truncate(KEPT);
            let extend = |&(_, old, way): &(f64, usize, usize)| [&kept[old][..], &ways[way]].concat();
            kept = extended.iter().map(extend).collect();
        }
        kept
    }

    /// The ways to give factors of an axis to dimensions; the factors are from the inside out.
    fn ways(&self, axis: usize) -> Vec<Vec<Digit>> {
        let mut ways = Vec::new();
        let owners = self.stencil.lengths().len() + usize::from(self.has_room());
        self.extend_ways(axis, owners, &mut Vec::new(), &mut ways);
        ways
    }

    /// Appends all ways that begin with these factors.
    fn extend_ways(&self, axis: usize, owners: usize, begun: &mut Vec<Digit>, ways: &mut Vec<Vec<Digit>>) {
        let Axis { length, shape, .. } = self.axes[axis];
        let inside: usize = begun.iter().map(|digit| digit.length).product();
        let left = length / inside;
        if left == 1 {
            ways.push(begun.clone());
            return;
        }
        // The order of the factors of a level does not matter, and two of one dimension are one.
        let last = begun.last().map(|digit| digit.dimension);
        let first_owner = if shape == AxisShape::Level { last.map_or(0, |last| last + 1) } else { 0 };
        for dimension in (first_owner..owners).filter(|&dimension| Some(dimension) != last) {
            let is_last = match shape {
                AxisShape::Level => dimension + 1 == owners,
                _ => begun.len() + 1 == MOST_FACTORS,
            };
            for factor in divisors(left).into_iter().filter(|&factor| !is_last || factor == left) {
                if ways.len() == MOST_WAYS {
                    return;
                }
                begun.push(self.digit(axis, factor, inside, dimension));
                self.extend_ways(axis, owners, begun, ways);
                begun.pop();
            }
        }
    }

    /// The factor of an axis that has `inside` places inside of it.
    fn digit(&self, axis: usize, length: usize, inside: usize, dimension: usize) -> Digit {
        let Axis { length: of_axis, unit, shape } = self.axes[axis];
        // Each step of a factor turns back the digits inside of it. These are at their start again after an even number of steps.
        let is_outermost = length * inside == of_axis;
        let is_ring = shape == AxisShape::Closed && is_outermost && (inside == 1 || length.is_multiple_of(2));
        // Codes turn back inside, so all distances up to twice the mean occur.
        let steps = match shape {
            AxisShape::Level => 1.0,
            // The two halves of a ring meet at both ends.
            AxisShape::Closed if length == 2 && inside > 1 && is_outermost => inside as f64 / 2.0,
            _ => inside as f64,
        };
        Digit { axis, length, dimension, step: unit as f64 * steps, is_ring }
    }

    /// About the cost of a step from each cell along each dimension, if the other axes are as good as can be; none if the cells do not fit.
    fn estimate(&self, pulls: &[f64], digits: [&[Digit]; 2], rest: Rest) -> Option<f64> {
        let (mut sum, mut needed) = (0.0, 1);
        let mut own: Vec<Digit> = Vec::new();
        let lengths = self.stencil.lengths();
        let width =
            (self.stencil.num_cells() as f64 / self.shares.len() as f64).powf(1.0 / lengths.len() as f64);
        for (dimension, (&length, pull)) in lengths.iter().zip(pulls).enumerate() {
            own.clear();
            own.extend(digits.iter().copied().flatten().filter(|digit| digit.dimension == dimension));
            own.sort_by(closed_last);
            let layers: usize = own.iter().map(|digit| digit.length).product();
            needed *= if self.has_room() { length.div_ceil(layers) } else { 1 };
            if needed > rest.num_pes || !self.has_room() && layers > length {
                return None;
            }
            // Cells of one PE, then those that the rest of the axes keep apart.
            let missing = (length as f64 / layers as f64).max(1.0);
            let inside = width.clamp(1.0, missing);
            let mut share = 1.0 / missing;
            if rest.num_pes > 1 {
                sum += pull * rest.step * (1.0 / inside - share);
            }
            for digit in &own {
                sum += pull * share * digit.step * (1.0 - 1.0 / digit.length as f64);
                share /= digit.length as f64;
            }
            if self.stencil.is_closed()[dimension] {
                sum += pull * share * self.way_back(&own);
            }
        }
        Some(sum)
    }

    /// The mean distance between the last and the first layer of a dimension whose digits turn in this order. Where the last one has an even number of
    /// places, all others are at their start again.
    fn way_back(&self, own: &[Digit]) -> f64 {
        let way_back = |digit: &Digit| digit.way_back(self.axes[digit.axis].shape);
        match own.split_last() {
            Some((last, inside)) if last.length % 2 == 1 => {
                way_back(last) + inside.iter().map(way_back).sum::<f64>()
            }
            Some((last, _)) => way_back(last),
            None => 0.0,
        }
    }

    /// The PE of each cell.
    fn pes(&self, code: &Code<'_>) -> Vec<PeId> {
        let Self { stencil, .. } = *self;
        let dimensions = stencil.lengths().len();
        let layers = code.layers(dimensions);
        let mut cells: Vec<NodeId> = (0..stencil.num_cells() as NodeId).collect();
        if layers.iter().zip(stencil.lengths()).all(|(layers, length)| layers >= length) {
            let pe = |&cell| code.pe(dimensions, |dimension| stencil.coordinate(cell, dimension));
            return cells.iter().map(pe).collect();
        }
        let boxes = Boxes::new(self, code, layers);
        let mut pe_of = vec![0; cells.len()];
        boxes.cut(0, 0..boxes.pes.len(), &mut cells, &mut pe_of);
        pe_of
    }
}

/// The boxes of cells that layers along all dimensions have in common, in lexicographic order.
struct Boxes<'a> {
    stencil: &'a Stencil,
    /// The number of layers along each dimension.
    layers: Vec<usize>,
    /// The PE of each box.
    pes: Vec<PeId>,
    /// The number of cells before each box, and at last that of all cells.
    before: Vec<usize>,
}

impl<'a> Boxes<'a> {
    fn new(folding: &Folding<'a>, code: &Code<'_>, layers: Vec<usize>) -> Self {
        let layer = |number: usize, dimension: usize| {
            let inside: usize = layers[dimension + 1..].iter().product();
            number / inside % layers[dimension]
        };
        let boxes = 0..folding.shares.len();
        let pes: Vec<PeId> =
            boxes.map(|number| code.pe(layers.len(), |dimension| layer(number, dimension))).collect();
        let mut before = vec![0];
        before.extend(pes.iter().scan(0, |sum, &pe| {
            *sum += folding.shares[pe as usize];
            Some(*sum)
        }));
        Self { stencil: folding.stencil, layers, pes, before }
    }

    /// Cuts the cells of a range of boxes into its layers along a dimension, and these along the next ones.
    fn cut(&self, dimension: usize, boxes: Range<usize>, cells: &mut [NodeId], pe_of: &mut [PeId]) {
        let Some(&layers) = self.layers.get(dimension) else {
            return cells.iter().for_each(|&cell| pe_of[cell as usize] = self.pes[boxes.start]);
        };
        if layers > 1 {
            cells.sort_by_cached_key(|&cell| self.position(cell, dimension));
        }
        let (width, mut rest) = (boxes.len() / layers, cells);
        for begin in boxes.step_by(width) {
            let (layer, others) = rest.split_at_mut(self.before[begin + width] - self.before[begin]);
            self.cut(dimension + 1, begin..begin + width, layer, pe_of);
            rest = others;
        }
    }

    /// The position of a cell in the order in which a dimension changes most slowly, and those before it fastest.
    fn position(&self, cell: NodeId, dimension: usize) -> usize {
        let lengths = self.stencil.lengths();
        let dimensions = (dimension..lengths.len()).chain(0..dimension);
        dimensions.fold(0, |position, dimension| {
            position * lengths[dimension] + self.stencil.coordinate(cell, dimension)
        })
    }
}

/// The PEs of layers, given the order in which digits turn.
struct Code<'a> {
    digits: &'a [Digit],
    /// The digits, those of each dimension from the fastest.
    order: Vec<usize>,
    axes: &'a [Axis],
}

impl Code<'_> {
    /// The number of layers along each dimension.
    fn layers(&self, dimensions: usize) -> Vec<usize> {
        let along = |dimension| self.digits.iter().filter(move |digit| digit.dimension == dimension);
        (0..dimensions).map(|dimension| along(dimension).map(|digit| digit.length).product()).collect()
    }

    /// The PE of a layer along each dimension.
    fn pe(&self, dimensions: usize, layer: impl Fn(usize) -> usize) -> PeId {
        let mut left: Vec<usize> = (0..dimensions).map(layer).chain([0]).collect();
        let mut at = vec![0; self.digits.len()];
        for &index in &self.order {
            let Digit { length, dimension, .. } = self.digits[index];
            let left = &mut left[dimension];
            at[index] = turned(*left % length, length, *left / length);
            *left /= length;
        }
        let mut along = vec![0; self.axes.len()];
        for (digit, &at) in self.digits.iter().zip(&at).rev() {
            let along = &mut along[digit.axis];
            *along = *along * digit.length + turned(at, digit.length, *along);
        }
        let axes = self.axes.iter().zip(&along).rev();
        axes.fold(0, |pe, (axis, along)| pe * axis.length + along) as PeId
    }
}

/// The two orders in which digits may turn, or one if they are the same.
fn orders(digits: &[Digit]) -> Vec<Vec<usize>> {
    let sorted = |compare: fn(&Digit, &Digit) -> Ordering| {
        let mut order: Vec<usize> = (0..digits.len()).collect();
        order.sort_by(|&a, &b| compare(&digits[a], &digits[b]));
        order
    };
    let mut orders = vec![sorted(closed_last), sorted(longest_first)];
    orders.dedup();
    orders
}

/// Cheap digits turn fastest. Among equals, what begins where it ends turns last, for closed dimensions.
fn closed_last(a: &Digit, b: &Digit) -> Ordering {
    let key = |digit: &Digit| (digit.is_ring, digit.length.is_multiple_of(2), digit.length);
    a.step.total_cmp(&b.step).then(key(a).cmp(&key(b)))
}

/// Cheap digits turn fastest, and among equals long ones, so that others turn seldom.
fn longest_first(a: &Digit, b: &Digit) -> Ordering {
    a.step.total_cmp(&b.step).then(b.length.cmp(&a.length))
}

/// The divisors of a number, but for 1, in ascending order. O(its root).
fn divisors(number: usize) -> Vec<usize> {
    let small: Vec<usize> = (1..)
        .take_while(|&small| small * small <= number)
        .filter(|&small| number.is_multiple_of(small))
        .collect();
    let large = small.iter().rev().map(|&small| number / small);
    let mut divisors: Vec<usize> =
        small.iter().copied().chain(large).filter(|&divisor| divisor > 1).collect();
    divisors.dedup();
    divisors
}

/// The digit, counted from the other end in every second run through it.
fn turned(digit: usize, length: usize, run: usize) -> usize {
    if run % 2 == 1 { length - 1 - digit } else { digit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::CsrGraph;
    use crate::machine::{Machine, Places, build};
    use crate::mapping::construct::by_grid::tests::stencil;
    use crate::testing::first_vertices;
    use crate::{Config, PreparedMachine, Request};

    const MACHINES: [(&str, Option<&str>); 8] = [
        ("torus:4x6", None),
        ("mesh:5x4", None),
        ("torus:8", None),
        ("torus:4x2/2", Some("1:3")),
        ("2:3:4", Some("1:10:100")),
        ("hypercube:4", None),
        ("mesh:3x3x3", None),
        ("torus:2x12", None),
    ];

    fn grid(lengths: &[usize], is_closed: bool) -> CsrGraph {
        stencil(lengths, is_closed, lengths.len(), 0)
    }

    #[test]
    fn each_pe_has_its_share() {
        let mut rng = Rng::new(1);
        for round in 0..400 {
            let (machine, distances) = MACHINES[round % MACHINES.len()];
            let machine = build(machine, distances).unwrap();
            let places = Places::of(&machine).unwrap();
            let lengths: Vec<usize> = (0..1 + rng.below(3)).map(|_| 3 + rng.below(7) as usize).collect();
            let whole = grid(&lengths, rng.below(2) == 0);
            let missing = rng.below((whole.num_nodes() / lengths[0]) as u32) as usize;
            let graph = first_vertices(&whole, whole.num_nodes() - missing * (round % 2));
            let Some(stencil) = Stencil::of(&graph) else { continue };
            let (cells, pes) = (stencil.num_cells(), machine.num_pes());
            let mut shares = vec![cells / pes; pes];
            (0..cells % pes).for_each(|_| shares[rng.below(pes as u32) as usize] += 1);
            if cells < pes {
                shares.fill(1);
            }
            let folding = Folding { stencil: &stencil, axes: places.axes(), shares: &shares };
            for pe_of in folding.mappings(1 + rng.below(8) as usize) {
                let mut loads = vec![0; pes];
                pe_of.iter().for_each(|&pe| loads[pe as usize] += 1);
                assert_eq!(pe_of.len(), cells);
                assert!(
                    loads.iter().zip(&shares).all(|(load, share)| load <= share),
                    "{lengths:?} {loads:?}"
                );
            }
        }
    }

    /// Nothing better is given up on the way from axis to axis.
    #[test]
    fn the_first_assignment_is_the_best_of_all() {
        for (machine, distances) in MACHINES {
            let places = Places::of(&build(machine, distances).unwrap()).unwrap();
            for lengths in [&[24][..], &[12, 10], &[4, 6], &[3, 4, 9], &[5, 4]] {
                let stencil = Stencil::of(&grid(lengths, false)).unwrap();
                let pes = places.axes().iter().map(|axis| axis.length).product();
                let shares = vec![1; pes];
                let folding = Folding { stencil: &stencil, axes: places.axes(), shares: &shares };
                let pulls = pulls(&stencil);
                let end = Rest { num_pes: 1, step: 0.0 };
                let mut all: Vec<Vec<Digit>> = vec![Vec::new()];
                for axis in 0..places.axes().len() {
                    let ways = folding.ways(axis);
                    all = all
                        .iter()
                        .flat_map(|old| ways.iter().map(move |way| [&old[..], way].concat()))
                        .collect();
                }
                let estimate = |digits: &Vec<Digit>| folding.estimate(&pulls, [digits, &[]], end);
                let least = all.iter().filter_map(estimate).min_by(f64::total_cmp);
                let found = folding.best(&pulls).first().and_then(estimate);
                assert_eq!(found.is_some(), least.is_some(), "{lengths:?} {machine}");
                let near = |(found, least): (f64, f64)| (found - least).abs() < 1e-9;
                assert!(found.zip(least).is_none_or(near), "{lengths:?} {machine} {found:?} {least:?}");
            }
        }
    }

    #[test]
    fn divisors_are_those_of_a_search() {
        for number in 1..200_usize {
            let searched: Vec<usize> =
                (2..=number).filter(|&divisor| number.is_multiple_of(divisor)).collect();
            assert_eq!(divisors(number), searched);
        }
    }

    /// All edges have length 1, but for the last case, where two dimensions share a ring.
    #[test]
    fn grids_are_folded_into_tori() {
        let cases: [(&[usize], bool, &str, Option<i64>); 5] = [
            (&[8, 8, 8, 2], false, "torus:8x4x4x4x2", None),
            (&[8, 8, 8, 2], true, "torus:8x4x4x4x2", None),
            (&[24, 12], true, "torus:6x4x12", None),
            (&[20, 30], false, "torus:10x2x3x10", None),
            (&[32, 32], false, "torus:16x8x8", Some(4032)),
        ];
        for (lengths, is_closed, machine, least) in cases {
            let graph = grid(lengths, is_closed);
            let machine = build(machine, None).unwrap();
            let prepared = PreparedMachine::new(&machine);
            let solution = Request::new(&graph, &prepared).solve(&Config::fast()).unwrap();
            let least = least.unwrap_or(graph.num_arcs() as i64);
            assert!(solution.report.cost <= least, "{lengths:?} {}", solution.report.cost);
        }
    }
}
