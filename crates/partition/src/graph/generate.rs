//! Generated graphs, for tests, benchmarks and examples.

use crate::base::rng::Rng;
use crate::base::types::NodeId;
use crate::graph::stencil::Offset;
use crate::graph::{CsrGraph, GraphBuilder};

/// A grid of `width` x `height` vertices, row by row, edges of weight 1.
pub fn grid(width: usize, height: usize) -> CsrGraph {
    let mut builder = GraphBuilder::new(width * height);
    for_each_grid_edge(width, height, |u, v| builder.add_edge(u, v, 1));
    built(builder)
}

/// A Cartesian grid of these lengths, the outermost first, whose cells are numbered in lexicographic order, the last coordinate fastest. Each cell is
/// joined to those at the offsets and at their opposites; closed dimensions continue at the other end. Edges of the same ends are one edge, of the
/// weight that is named first. O(cells · offsets · dimensions).
///
/// # Panics
///
/// A length is 0, or there is not one mark and one step for each length.
pub fn stencil(lengths: &[usize], is_closed: &[bool], offsets: &[Offset]) -> CsrGraph {
    assert_eq!(lengths.len(), is_closed.len(), "a mark for each dimension");
    let mut builder = GraphBuilder::new(lengths.iter().product());
    let mut seen = hashbrown::HashSet::new();
    let cells: usize = lengths.iter().product();
    for cell in 0..cells {
        for Offset { steps, weight } in offsets {
            let Some(other) = cell_at(cell, steps, lengths, is_closed) else { continue };
            let ends = (cell.min(other), cell.max(other));
            if cell != other && seen.insert(ends) {
                builder.add_edge(ends.0 as NodeId, ends.1 as NodeId, *weight);
            }
        }
    }
    built(builder)
}

/// The cell some steps from another one, if there is one.
fn cell_at(cell: usize, steps: &[i64], lengths: &[usize], is_closed: &[bool]) -> Option<usize> {
    assert_eq!(lengths.len(), steps.len(), "a step for each dimension");
    let (mut left, mut unit, mut number) = (cell, 1, 0);
    for ((&length, &is_closed), &step) in lengths.iter().zip(is_closed).zip(steps).rev() {
        let there = (left % length) as i64 + step;
        let around = there.rem_euclid(length as i64);
        if !is_closed && there != around {
            return None;
        }
        (number, unit, left) = (number + around as usize * unit, unit * length, left / length);
    }
    Some(number)
}

/// A planar triangulation like those of finite element codes: the points of a grid of `width` x `height`,
/// each moved at random inside its cell, every quadrilateral cut along its shorter diagonal.
///
/// About three edges of weight 1 per vertex, as in a Delaunay triangulation; numbered row by row.
pub fn mesh(width: usize, height: usize, seed: u64) -> CsrGraph {
    let mut rng = Rng::new(seed);
    let points: Vec<(f64, f64)> = (0..width * height)
        .map(|node| ((node % width) as f64 + 0.8 * rng.unit(), (node / width) as f64 + 0.8 * rng.unit()))
        .collect();
    let distance = |u: usize, v: usize| squared(points[u], points[v]);
    let mut builder = GraphBuilder::new(points.len());
    for_each_grid_edge(width, height, |u, v| builder.add_edge(u, v, 1));
    for y in 1..height {
        for x in 1..width {
            let corner = y * width + x;
            let falling = (corner - width - 1, corner);
            let rising = (corner - width, corner - 1);
            let (u, v) =
                if distance(falling.0, falling.1) < distance(rising.0, rising.1) { falling } else { rising };
            builder.add_edge(u as NodeId, v as NodeId, 1);
        }
    }
    built(builder)
}

/// A random geometric graph: points in the unit square, edges of weight 1 between those nearer than the
/// radius that gives about `average_degree` neighbours. Numbered at random; O(n + m).
pub fn random_geometric(num_nodes: usize, average_degree: f64, seed: u64) -> CsrGraph {
    let mut rng = Rng::new(seed);
    let points: Vec<(f64, f64)> = (0..num_nodes).map(|_| (rng.unit(), rng.unit())).collect();
    let radius = (average_degree / (std::f64::consts::PI * num_nodes.max(1) as f64)).sqrt().min(1.0);
    // Cells are at least as wide as the radius, so neighbours lie in the same or an adjoining cell.
    let side = ((1.0 / radius.max(1e-9)) as usize).clamp(1, 1 << 12);
    let cell = |coordinate: f64| ((coordinate * side as f64) as usize).min(side - 1);
    let mut cells: Vec<Vec<NodeId>> = vec![Vec::new(); side * side];
    for (node, point) in points.iter().enumerate() {
        cells[cell(point.1) * side + cell(point.0)].push(node as NodeId);
    }
    let mut builder = GraphBuilder::new(num_nodes);
    for (u, point) in points.iter().enumerate() {
        let (x, y) = (cell(point.0), cell(point.1));
        for row in y.saturating_sub(1)..=(y + 1).min(side - 1) {
            for column in x.saturating_sub(1)..=(x + 1).min(side - 1) {
                let is_near =
                    |v: NodeId| (v as usize) < u && squared(*point, points[v as usize]) < radius * radius;
                let near = cells[row * side + column].iter().filter(|&&v| is_near(v));
                near.for_each(|&v| builder.add_edge(u as NodeId, v, 1));
            }
        }
    }
    built(builder)
}

/// The square of the distance of two points.
fn squared(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)
}

fn for_each_grid_edge(width: usize, height: usize, mut edge: impl FnMut(NodeId, NodeId)) {
    for y in 0..height {
        for x in 0..width {
            let node = (y * width + x) as NodeId;
            if x + 1 < width {
                edge(node, node + 1);
            }
            if y + 1 < height {
                edge(node, node + width as NodeId);
            }
        }
    }
}

fn built(builder: GraphBuilder) -> CsrGraph {
    builder.build().expect("each pair is added once, with weight 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_as_documented() {
        assert_eq!(grid(5, 3).num_edges(), 4 * 3 + 5 * 2);
        assert_eq!(grid(0, 0).num_nodes(), 0);
        assert_eq!(mesh(10, 7, 1).num_edges(), 9 * 7 + 10 * 6 + 9 * 6);
        let geometric = random_geometric(2000, 13.0, 1);
        let average = geometric.num_arcs() as f64 / 2000.0;
        assert!((11.0..14.0).contains(&average), "{average}");
    }

    #[test]
    fn geometric_neighbours_are_those_of_the_definition() {
        let (n, degree, seed) = (60, 9.0, 5);
        let graph = random_geometric(n, degree, seed);
        let mut rng = Rng::new(seed);
        let points: Vec<(f64, f64)> = (0..n).map(|_| (rng.unit(), rng.unit())).collect();
        let squared_radius = degree / (std::f64::consts::PI * n as f64);
        for u in 0..n {
            for v in (0..n).filter(|&v| v != u) {
                let squared = (points[u].0 - points[v].0).powi(2) + (points[u].1 - points[v].1).powi(2);
                let adjacent = graph.neighbours(u as NodeId).contains(&(v as NodeId));
                assert_eq!(adjacent, squared < squared_radius, "{u} {v}");
            }
        }
    }
}
