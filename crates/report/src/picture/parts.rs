//! A picture of a graph in the plane, divided into parts.
//!
//! Edges inside a part have its colour, edges between parts are grey. Neighbouring parts differ in colour as
//! far as the number of colours permits. Vertices are snapped to the points of a raster, and edges that
//! coincide are drawn once, so the size of the picture stays bounded for large graphs. O(n + m log m).

use super::svg::{Anchor, COLOURS, Svg};
use viem::base::types::{BlockId, NodeId};
use viem::graph::{Coordinates, CsrGraph, quotient};

const WIDTH: f64 = 720.0;
/// The length of the longest side of the drawing.
const SIDE: f64 = 688.0;
const TOP: f64 = 44.0;
const MARGIN: f64 = 16.0;

/// Points of the raster along the longest side.
const RASTER: f64 = 2.0 * SIDE;

/// Upper limit on the points of the raster in a graph with more vertices.
const MOST_POINTS: usize = 1 << 15;

/// The picture of a partition, as the text of an SVG file. There is a point and a part, below `num_parts`,
/// for each vertex. For points in more than two dimensions, the two longest dimensions are shown.
pub fn draw_parts(
    graph: &CsrGraph,
    points: &Coordinates,
    parts: &[BlockId],
    num_parts: usize,
    title: &str,
) -> String {
    let plane = Plane::around(points, graph.num_nodes());
    let mut svg = Svg::new(WIDTH, TOP + plane.height + MARGIN, title);
    svg.text(MARGIN, 28.0, Anchor::Start, "title", title);
    let colours = colours(graph, parts, num_parts);
    // Edges between parts, then edges of each colour.
    let mut edges = vec![Vec::new(); 1 + COLOURS];
    for u in graph.nodes() {
        for &v in graph.neighbours(u).iter().filter(|&&v| u < v) {
            let (a, b) = (parts[u as usize], parts[v as usize]);
            let class = if a == b { 1 + colours[a as usize] } else { 0 };
            let ends = [u, v].map(|node| plane.place(points.point(node)));
            edges[class].push(if ends[0] < ends[1] { ends } else { [ends[1], ends[0]] });
        }
    }
    for (class, edges) in edges.iter_mut().enumerate() {
        edges.sort_unstable();
        edges.dedup();
        let lines =
            edges.iter().filter(|[from, to]| from != to).map(|ends| ends.map(|end| plane.on_paper(end)));
        svg.lines(lines, &if class == 0 { "cut".to_owned() } else { format!("p{}", class - 1) });
    }
    svg.finish()
}

/// The transformation of points.
struct Plane {
    /// The dimensions shown, horizontally and vertically.
    axes: [usize; 2],
    /// Half the smallest coordinate in each: all numbers are halved, so that no difference overflows.
    least: [f64; 2],
    /// Half the length of the longest side.
    longest: f64,
    /// Points of the raster along it.
    most: f64,
    /// The scale of the drawing.
    scale: f64,
    height: f64,
}

impl Plane {
    fn around(points: &Coordinates, num_nodes: usize) -> Self {
        let extent = points.extent().unwrap_or_default();
        let half = |axis: usize| extent.get(axis).map_or(0.0, |(least, most)| most / 2.0 - least / 2.0);
        let mut axes: Vec<usize> = (0..extent.len().max(2)).collect();
        axes.sort_by(|&a, &b| half(b).total_cmp(&half(a)));
        let mut axes = [axes[0], axes[1]];
        axes.sort_unstable();
        let longest = half(axes[0]).max(half(axes[1]));
        let longest = if longest > 0.0 { longest } else { 1.0 };
        let most = if num_nodes > MOST_POINTS { (MOST_POINTS as f64).sqrt() } else { RASTER };
        Self {
            axes,
            least: axes.map(|axis| extent.get(axis).map_or(0.0, |(least, _)| least / 2.0)),
            longest,
            most,
            scale: SIDE / most,
            // Compute the quotient first, so that neither the largest nor the smallest numbers leave the
            // range.
            height: SIDE * (half(axes[1]) / longest),
        }
    }

    /// The point of the raster nearest to a point.
    fn place(&self, point: &[f64]) -> [u32; 2] {
        [0, 1].map(|side| {
            let value = point.get(self.axes[side]).map_or(0.0, |value| value / 2.0);
            ((value - self.least[side]) / self.longest * self.most).round() as u32
        })
    }

    fn on_paper(&self, [across, up]: [u32; 2]) -> (f64, f64) {
        (MARGIN + self.scale * f64::from(across), TOP + self.height - self.scale * f64::from(up))
    }
}

/// A colouring of the parts such that neighbours differ, as long as there are enough colours.
fn colours(graph: &CsrGraph, parts: &[BlockId], num_parts: usize) -> Vec<usize> {
    let quotient = quotient::contract(graph, parts, num_parts);
    let mut colours: Vec<usize> = Vec::with_capacity(num_parts);
    for part in quotient.nodes() {
        let is_taken = |colour: usize| {
            let has = |&other: &NodeId| colours.get(other as usize) == Some(&colour);
            quotient.neighbours(part).iter().any(has)
        };
        let own = part as usize % COLOURS;
        let free = (0..COLOURS).map(|shift| (own + shift) % COLOURS).find(|&colour| !is_taken(colour));
        colours.push(free.unwrap_or(own));
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::graph::generate;

    fn grid_points(width: usize, height: usize) -> Coordinates {
        let point = |node| [(node % width) as f64, (node / width) as f64];
        Coordinates::new(2, (0..width * height).flat_map(point).collect()).unwrap()
    }

    #[test]
    fn edges_have_the_colour_of_their_part_and_cut_edges_are_grey() {
        let picture =
            draw_parts(&generate::grid(4, 2), &grid_points(4, 2), &[0, 0, 1, 1, 0, 0, 1, 1], 2, "a < b");
        let lines = |class: &str| {
            let path =
                picture.lines().find(|line| line.contains(&format!(r#"class="{class}""#))).unwrap_or("");
            path.matches('M').count()
        };
        assert_eq!((lines("cut"), lines("p0"), lines("p1"), lines("p2")), (2, 4, 4, 0));
        assert!(picture.contains("<title>a &lt; b</title>") && !picture.contains("NaN"));
    }

    #[test]
    fn neighbours_differ_in_colour() {
        let graph = generate::mesh(30, 30, 1);
        let parts: Vec<BlockId> = (0..900).map(|node| node % 30 / 5 + node / 30 / 5 * 6).collect();
        let (colours, quotient) = (colours(&graph, &parts, 36), quotient::contract(&graph, &parts, 36));
        for part in quotient.nodes() {
            let differs = |&other: &NodeId| colours[other as usize] != colours[part as usize];
            assert!(quotient.neighbours(part).iter().all(differs));
        }
    }

    #[test]
    fn pictures_are_small_and_well_formed_for_any_points() {
        let large = generate::grid(400, 400);
        let parts: Vec<BlockId> = large.nodes().map(|node| node / 40_000).collect();
        let picture = draw_parts(&large, &grid_points(400, 400), &parts, 4, "large");
        assert!(picture.len() < 2_000_000, "{} bytes", picture.len());
        let path = generate::grid(3, 1);
        for (dimension, values) in [
            (1, vec![0.0, 1.0, 5.0]),
            (2, vec![7.0; 6]),
            (3, vec![0.0, 1.0, 2.0, f64::MAX, 1.0, 3.0, -f64::MAX, 1.0, 4.0]),
            (4, vec![0.0; 12]),
            (2, vec![-f64::MAX, -f64::MAX, 0.0, 0.0, f64::MAX, f64::MAX]),
            (2, vec![0.0, 0.0, 1e-322, 1e-322, 2e-322, 2e-322]),
        ] {
            let points = Coordinates::new(dimension, values).unwrap();
            let picture = draw_parts(&path, &points, &[0, 1, 1], 2, "three");
            assert!(!picture.contains("NaN") && !picture.contains("inf"), "{dimension}: {picture}");
            // No coordinate is far outside the picture.
            let paths = picture.lines().filter(|line| line.starts_with("<path"));
            let mut numbers = paths.flat_map(|line| line.split(|c: char| !c.is_ascii_digit()));
            assert!(numbers.all(|number| number.len() < 5), "{dimension}: {picture}");
        }
        let none = Coordinates::new(2, vec![]).unwrap();
        assert!(draw_parts(&generate::grid(0, 0), &none, &[], 1, "nothing").ends_with("</svg>\n"));
    }
}
