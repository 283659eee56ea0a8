//! Meshes, tori, and grids that are closed along some dimensions.
//!
//! Each neighbour of a corner (a PE with the fewest neighbours) leads along a dimension. Two neighbours that lead along the same closed
//! dimension are neighbours of each other, or have only the corner as a common neighbour; those of different dimensions have a second one.
//! The PEs on the line of a dimension through the corner are those that are not nearer to any neighbour of another dimension than to
//! the corner, and the coordinate of a PE is that of the nearest PE on the line. A ring of four is the same as two dimensions of two,
//! and is first treated as these.
//!
//! O(n²), for the neighbours of all PEs and the distances of all PEs to those on the lines.

use super::hops::Hops;
use crate::base::types::PeId;
use crate::machine::recognise::proposal::{Matrix, Recognised};
use crate::machine::{Dimension, Grid, Hierarchy};

/// Most dimensions of more than one PE: the numbers of PEs have 32 bits.
const MOST_DIMENSIONS: usize = 32;

pub(super) fn recognise(matrix: &Matrix<'_>) -> Option<Recognised> {
    let hops = Hops::of(matrix)?;
    let corner = (0..hops.size()).min_by_key(|&k| hops.near(k).count())?;
    let lines = with_rings_of_four(&hops, lines(&hops, corner)?)?;
    let dimension = |line: &Line| Dimension { length: line.rows.len() as u32, is_closed: line.is_closed };
    let grid = Grid::new(lines.iter().map(dimension).collect(), Hierarchy::single(), 1).ok()?;
    let mut pe_of = vec![0; hops.size()];
    for (k, pe) in pe_of.iter_mut().enumerate() {
        let mut stride = 1;
        for line in &lines {
            *pe += line.coordinate(&hops, k) as PeId * stride;
            stride *= line.rows.len() as PeId;
        }
    }
    let (factor, offset) = hops.factor_and_offset();
    Some(Recognised { machine: Box::new(grid), pe_of, factor, offset })
}

/// The PEs along a dimension, from the corner on.
struct Line {
    rows: Vec<usize>,
    is_closed: bool,
}

impl Line {
    fn coordinate(&self, hops: &Hops<'_>, k: usize) -> usize {
        let nearest = (0..self.rows.len()).min_by_key(|&at| hops.between(k, self.rows[at]));
        nearest.expect("the corner is on each line")
    }
}

/// The lines through a corner; their lengths multiply to the number of PEs.
fn lines(hops: &Hops<'_>, corner: usize) -> Option<Vec<Line>> {
    let near: Vec<usize> = hops.near(corner).take(2 * MOST_DIMENSIONS + 1).collect();
    if near.len() > 2 * MOST_DIMENSIONS {
        return None;
    }
    let mut directions: Vec<Vec<usize>> = Vec::new();
    for &row in &near {
        match directions.iter_mut().find(|ends| are_ends(hops, ends[0], row)) {
            Some(ends) => ends.push(row),
            None => directions.push(vec![row]),
        }
    }
    let lines = directions.iter().map(|ends| line(hops, corner, &near, ends));
    let lines: Vec<Line> = lines.collect::<Option<_>>()?;
    let size = lines.iter().try_fold(1usize, |product, line| product.checked_mul(line.rows.len()));
    (size == Some(hops.size())).then_some(lines)
}

/// Returns whether two neighbours of a corner lead along the same closed dimension, in opposite directions.
fn are_ends(hops: &Hops<'_>, one: usize, other: usize) -> bool {
    let common = || hops.near(one).filter(|&k| hops.between(k, other) == 1);
    hops.between(one, other) == 1 || common().nth(1).is_none()
}

/// The line of the dimension that one or two neighbours of the corner lead along.
fn line(hops: &Hops<'_>, corner: usize, near: &[usize], ends: &[usize]) -> Option<Line> {
    let is_farther = |k: usize, other: usize| hops.between(k, other) > hops.between(k, corner);
    let is_on = |&k: &usize| near.iter().all(|other| ends.contains(other) || is_farther(k, *other));
    let members: Vec<usize> = (0..hops.size()).filter(is_on).collect();
    let length = members.len();
    let mut rows = vec![None; length];
    for k in members {
        let away = usize::try_from(hops.between(k, corner)).ok()?;
        // The way back is the one that does not begin at the first of the two ends.
        let is_back = away > 0 && is_farther_or_equal(hops, k, ends[0], corner);
        let at = if is_back { length.checked_sub(away)? } else { away };
        if rows.get_mut(at)?.replace(k).is_some() {
            return None;
        }
    }
    let rows = rows.into_iter().collect::<Option<Vec<usize>>>()?;
    (ends.len() <= 2).then_some(Line { rows, is_closed: ends.len() == 2 })
}

fn is_farther_or_equal(hops: &Hops<'_>, k: usize, one: usize, other: usize) -> bool {
    hops.between(k, one) >= hops.between(k, other)
}

/// The same lines, where pairs of open lines of two PEs are joined to rings of four if that leaves closed lines only: a torus.
fn with_rings_of_four(hops: &Hops<'_>, lines: Vec<Line>) -> Option<Vec<Line>> {
    let (mut closed, open): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(|line| line.is_closed);
    let is_torus =
        !closed.is_empty() && open.len().is_multiple_of(2) && open.iter().all(|line| line.rows.len() == 2);
    if !is_torus {
        closed.extend(open);
        return Some(closed);
    }
    for pair in open.chunks_exact(2) {
        let (corner, one, other) = (pair[0].rows[0], pair[0].rows[1], pair[1].rows[1]);
        let opposite = hops.near(one).find(|&k| k != corner && hops.between(k, other) == 1)?;
        closed.push(Line { rows: vec![corner, one, opposite, other], is_closed: true });
    }
    Some(closed)
}
