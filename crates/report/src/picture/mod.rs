//! A picture of the effect of a mapping on the traffic, before and after.
//!
//! The picture has the matrix of the traffic in the order of the PEs, before and after, with the borders of nodes; the share of
//! the traffic by level; the traffic that leaves nodes, heaviest first; and the load of each node and each switch, in the order of
//! the machine. Large machines are binned: a matrix has at most 128 rows. There are at most 32 bars for nodes or switches; each
//! bar stands for several if necessary.
//!
//! [`svg`] contains the drawing primitives, independent of mappings. O(n log n + m), and a file of at most
//! about 400 kB.

mod curve;
mod loads;
mod machine;
mod parts;
pub mod svg;
mod timeline;

pub use curve::draw_curve;
pub use machine::draw_machine;
pub use parts::draw_parts;
pub use timeline::draw_timeline;

use loads::MOST_BARS;
use svg::{Anchor, Frame, SHADES, Svg, brief};

use crate::compare::{Comparison, Figures, percent_less};
use crate::loads::LoadTable;
use viem::base::types::{PeId, Weight};
use viem::graph::CsrGraph;
use viem::mapping::Mapping;
use viem::mapping::objective::ScoreError;

/// Largest number of rows of a matrix whose cells are still larger than a unit of the picture.
const MOST_CELLS: usize = 128;

/// Largest number of node borders in a matrix.
const MOST_BORDERS: usize = 32;

/// One of the two mappings.
#[non_exhaustive]
pub struct Side<'a> {
    /// Its name, for output.
    pub name: &'a str,
    /// The mapping.
    pub mapping: &'a Mapping,
}

impl<'a> Side<'a> {
    /// A mapping and what people call it.
    pub fn new(name: &'a str, mapping: &'a Mapping) -> Self {
        Self { name, mapping }
    }
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 1000.0;
/// The side length of a matrix.
const MATRIX: f64 = 400.0;

/// The picture of two mappings of one graph, as the text of an SVG file.
pub fn draw(
    graph: &CsrGraph,
    comparison: &Comparison<'_>,
    before: &Side<'_>,
    after: &Side<'_>,
) -> Result<String, ScoreError> {
    let sides = [before, after];
    let names = sides.map(|side| shortened(side.name));
    let figures = [comparison.figures(before.mapping)?, comparison.figures(after.mapping)?];
    let places = Places::new(comparison);
    let matrices = sides.map(|side| places.matrix(graph, side.mapping));
    let title = title(&names, &figures);
    let mut svg = Svg::new(WIDTH, HEIGHT, &title);
    svg.text(48.0, 32.0, Anchor::Start, "title", &title);
    let scale = Scale::of(&matrices);
    for ((name, matrix), x) in names.iter().zip(&matrices).zip([48.0, 512.0]) {
        let frame = Frame { x, y: 76.0, width: MATRIX, height: MATRIX };
        svg.text(x, 62.0, Anchor::Start, "", format_args!("{name}: traffic between processing elements"));
        svg.heat(frame, places.side, &matrix.iter().map(|&weight| scale.shade(weight)).collect::<Vec<_>>());
        places.draw_borders(&mut svg, frame);
    }
    draw_scale(&mut svg, &scale, &places);
    draw_levels(&mut svg, &figures, Frame { x: 86.0, y: 588.0, width: 362.0, height: 138.0 });
    draw_outgoing(&mut svg, &figures, Frame { x: 560.0, y: 588.0, width: 352.0, height: 138.0 });
    let table = LoadTable::new(graph, comparison.machine(), before.mapping, after.mapping)?;
    loads::draw(&mut svg, &table);
    draw_legend(&mut svg, &names);
    Ok(svg.finish())
}

/// A name that fits: if it is long, its end, which is the significant part of a path.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 32;
    let excess = name.chars().count().saturating_sub(LONGEST);
    if excess == 0 {
        name.to_owned()
    } else {
        format!("…{}", name.chars().skip(excess + 1).collect::<String>())
    }
}

fn title([before, after]: &[String; 2], figures: &[Figures; 2]) -> String {
    let [old, new] = [figures[0].cost, figures[1].cost];
    let less = percent_less(old, new);
    let change = if less < 0.0 { format!("{:.1} % more", -less) } else { format!("{less:.1} % less") };
    format!("J of {before} {old}, of {after} {new} ({change})")
}

/// The processing elements in the order of their nodes, binned.
struct Places {
    /// Rows and columns.
    side: usize,
    /// The row of each PE.
    row_of: Vec<usize>,
    /// The positions of node borders, from 0 to 1.
    borders: Vec<f64>,
    /// The PEs of the first and of the last row.
    ends: [PeId; 2],
    num_pes: usize,
    num_nodes: usize,
}

impl Places {
    fn new(comparison: &Comparison<'_>) -> Self {
        let nodes = comparison.nodes();
        let (num_pes, num_nodes) = (nodes.num_pes(), nodes.hosts().len());
        let mut order: Vec<PeId> = (0..num_pes as PeId).collect();
        order.sort_by_key(|&pe| nodes.node(pe));
        let side = num_pes.min(MOST_CELLS);
        let mut row_of = vec![0; num_pes];
        let mut borders = Vec::new();
        let each = num_nodes.div_ceil(MOST_BORDERS);
        for (position, &pe) in order.iter().enumerate() {
            row_of[pe as usize] = position * side / num_pes;
            let begins = position > 0 && nodes.node(order[position - 1]) != nodes.node(pe);
            // If every node is a single PE, borders are useless.
            if begins && nodes.node(pe).is_multiple_of(each) && num_nodes < num_pes {
                borders.push(position as f64 / num_pes as f64);
            }
        }
        let ends = [order.first(), order.last()].map(|pe| pe.copied().unwrap_or(0));
        Self { side, row_of, borders, ends, num_pes, num_nodes }
    }

    /// The traffic between the PEs of each row and column, in both directions of an edge.
    fn matrix(&self, graph: &CsrGraph, mapping: &Mapping) -> Vec<Weight> {
        let mut matrix = vec![0; self.side * self.side];
        for process in graph.nodes() {
            let row = self.row_of[mapping.pe_of(process) as usize] * self.side;
            for (other, weight) in graph.arcs(process) {
                matrix[row + self.row_of[mapping.pe_of(other) as usize]] += weight;
            }
        }
        matrix
    }

    fn draw_borders(&self, svg: &mut Svg, frame: Frame) {
        let Frame { x, y, width, height } = frame;
        for border in &self.borders {
            let (across, down) = (x + width * border, y + height * border);
            svg.line((across, y), (across, y + height), "border");
            svg.line((x, down), (x + width, down), "border");
        }
        let [first, last] = self.ends;
        svg.text(x, y + height + 15.0, Anchor::Start, "small", first);
        svg.text(x + width, y + height + 15.0, Anchor::End, "small", last);
        svg.text(x - 6.0, y + 10.0, Anchor::End, "small", first);
        svg.text(x - 6.0, y + height, Anchor::End, "small", last);
    }

    /// The legend of cells and borders.
    fn note(&self) -> String {
        let pes = self.num_pes.div_ceil(self.side.max(1));
        let up_to = if self.num_pes.is_multiple_of(self.side.max(1)) { "" } else { "up to " };
        let cell = match pes {
            0..=1 => String::new(),
            pes => format!("a cell is {up_to}{pes} x {pes} processing elements"),
        };
        let each = self.num_nodes.div_ceil(MOST_BORDERS);
        let border = match (self.borders.is_empty(), each) {
            (true, _) => String::new(),
            (false, 1) => "lines are borders of nodes".to_owned(),
            (false, each) => format!("lines are borders of every {each} nodes"),
        };
        let parts = [cell, border].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("; ")
    }
}

/// Maps traffic to shades on a logarithmic scale.
struct Scale {
    least: Weight,
    most: Weight,
}

impl Scale {
    /// The common scale of both matrices.
    fn of(matrices: &[Vec<Weight>; 2]) -> Self {
        let weights = || matrices.iter().flatten().copied().filter(|&weight| weight > 0);
        Self { least: weights().min().unwrap_or(1), most: weights().max().unwrap_or(1) }
    }

    /// The shade of a cell; `None` without traffic.
    fn shade(&self, weight: Weight) -> Option<u8> {
        if weight <= 0 {
            return None;
        }
        let span = (self.most as f64 / self.least as f64).ln();
        let part = if span > 0.0 { (weight as f64 / self.least as f64).ln() / span } else { 1.0 };
        Some((part * SHADES as f64).clamp(0.0, SHADES as f64 - 1.0) as u8)
    }
}

fn draw_scale(svg: &mut Svg, scale: &Scale, places: &Places) {
    let (x, y, step) = (560.0, 506.0, 18.0);
    svg.text(x - 8.0, y + 10.0, Anchor::End, "small", brief(scale.least as f64));
    for shade in 0..SHADES {
        let frame = Frame { x: x + step * shade as f64, y, width: step, height: 12.0 };
        svg.rect(frame, &format!("h{shade}"));
    }
    let end = x + step * SHADES as f64 + 8.0;
    svg.text(
        end,
        y + 10.0,
        Anchor::Start,
        "small",
        format_args!("{} (logarithmic)", brief(scale.most as f64)),
    );
    svg.text(48.0, y + 10.0, Anchor::Start, "small", places.note());
}

fn draw_levels(svg: &mut Svg, figures: &[Figures; 2], frame: Frame) {
    let shares =
        figures.each_ref().map(|figures| figures.levels.iter().map(|level| level.share).collect::<Vec<_>>());
    let names: Vec<String> = figures[0].levels.iter().map(|level| level.name.clone()).collect();
    svg.text(frame.x - 38.0, frame.y - 22.0, Anchor::Start, "", "Share of the traffic by level");
    svg.axis(frame, 1.0, |share| format!("{:.0} %", 100.0 * share));
    svg.bars(frame, 1.0, &[("a", &shares[0]), ("b", &shares[1])], &names);
}

fn draw_outgoing(svg: &mut Svg, figures: &[Figures; 2], frame: Frame) {
    let heaviest = figures.each_ref().map(|figures| heaviest_first(&figures.outgoing));
    let most = heaviest.iter().flatten().copied().fold(0.0, f64::max);
    let nodes = figures[0].outgoing.len();
    let each = nodes.div_ceil(MOST_BARS);
    let note = if each > 1 { format!(", a bar for {each} nodes") } else { String::new() };
    let what = format!("Traffic that leaves a node, heaviest of {nodes} first{note}");
    svg.text(frame.x - 48.0, frame.y - 22.0, Anchor::Start, "", what);
    if most > 0.0 {
        svg.axis(frame, most, brief);
        svg.bars(frame, most, &[("a", &heaviest[0]), ("b", &heaviest[1])], &[]);
    } else {
        svg.text(frame.x, frame.y + 40.0, Anchor::Start, "small", "no traffic leaves a node");
    }
}

/// The outgoing traffic of the nodes, in descending order; nodes that share a bar are represented by the
/// heaviest one.
fn heaviest_first(outgoing: &[Weight]) -> Vec<f64> {
    let mut sorted = outgoing.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    sorted.chunks(sorted.len().div_ceil(MOST_BARS).max(1)).map(|bar| bar[0] as f64).collect()
}

fn draw_legend(svg: &mut Svg, names: &[String; 2]) {
    for ((name, class), x) in names.iter().zip(["a", "b"]).zip([48.0, 512.0]) {
        svg.rect(Frame { x, y: HEIGHT - 24.0, width: 12.0, height: 12.0 }, class);
        svg.text(x + 18.0, HEIGHT - 13.0, Anchor::Start, "", name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_mapping;
    use viem::PreparedMachine;
    use viem::base::rng::Rng;
    use viem::graph::generate;
    use viem::machine::Listed;
    use viem::machine::build;

    fn picture(spec: &str, distances: &str) -> String {
        let machine = build(spec, distances).unwrap();
        let count = viem::machine::Machine::num_pes(&machine);
        let graph = generate::random_geometric(count, 7.0, 1);
        let machine = PreparedMachine::new(&machine);
        let comparison = Comparison::new(&graph, &machine);
        let (before, after) = (Mapping::identity(count), random_mapping(count, &mut Rng::new(1)));
        let sides =
            [("block", &before), ("a <b> & \"c\"", &after)].map(|(name, mapping)| Side { name, mapping });
        draw(&graph, &comparison, &sides[0], &sides[1]).unwrap()
    }

    #[test]
    fn pictures_are_small_and_well_formed_at_any_size() {
        for (spec, distances) in [
            ("1:1", "1:2"),
            ("2:8", "1:10"),
            ("8:16:32", "1:10:100"),
            ("torus:64x16/4", "1:10"),
            ("5:1:3", "1:2:3"),
        ] {
            let text = picture(spec, distances);
            assert!(text.len() < 400_000, "{spec}: {} bytes", text.len());
            let document = balanced(&text);
            assert!(!document.contains("NaN") && !document.contains("inf"), "{spec}");
            assert!(document.contains("a &lt;b&gt; &amp; &quot;c&quot;"));
        }
    }

    /// Checks that tags are balanced, without an XML reader.
    fn balanced(text: &str) -> &str {
        let mut open = Vec::new();
        for tag in text.split('<').skip(1) {
            let tag = tag.split('>').next().unwrap();
            match tag.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name)),
                None if tag.ends_with('/') => {}
                None => open.push(tag.split(' ').next().unwrap()),
            }
        }
        assert!(open.is_empty());
        text
    }

    #[test]
    fn matrices_hold_all_traffic_and_borders_stand_between_nodes() {
        let machine = build("3:4", "1:10").unwrap();
        let graph = generate::random_geometric(12, 5.0, 2);
        let prepared = PreparedMachine::new(&machine);
        let comparison = Comparison::new(&graph, &prepared);
        let places = Places::new(&comparison);
        let mapping = random_mapping(12, &mut Rng::new(4));
        let matrix = places.matrix(&graph, &mapping);
        assert_eq!(matrix.iter().sum::<Weight>(), graph.total_arc_weight());
        for (u, v) in [(0, 5), (3, 4), (7, 2)] {
            let weight = graph.arcs(u).find(|arc| arc.0 == v).map_or(0, |arc| arc.1);
            assert_eq!(matrix[mapping.pe_of(u) as usize * 12 + mapping.pe_of(v) as usize], weight);
        }
        assert_eq!(places.borders, [0.25, 0.5, 0.75]);
        // The first row is the first PE of the first node, wherever it is in the list.
        let listed = Listed::new(&machine, vec![11, 3, 4, 0]).unwrap();
        let graph = generate::grid(4, 1);
        let listed = PreparedMachine::new(&listed);
        let places = Places::new(&Comparison::new(&graph, &listed));
        assert_eq!(places.ends, [3, 0]);
        let odd = build("tree:257", "1").unwrap();
        let graph = generate::grid(257, 1);
        let odd = PreparedMachine::new(&odd);
        let places = Places::new(&Comparison::new(&graph, &odd));
        assert_eq!(places.note(), "a cell is up to 3 x 3 processing elements");
        let large = build("4:4096", "1:10").unwrap();
        let graph = generate::grid(128, 128);
        let large = PreparedMachine::new(&large);
        let places = Places::new(&Comparison::new(&graph, &large));
        assert_eq!((places.side, places.borders.len()), (MOST_CELLS, MOST_BORDERS - 1));
        assert_eq!(
            places.note(),
            "a cell is 128 x 128 processing elements; lines are borders of every 128 nodes"
        );
    }

    #[test]
    fn long_names_are_shortened() {
        assert_eq!(shortened("permutation"), "permutation");
        assert_eq!(
            shortened(&format!("{}/permutation", "x".repeat(40))),
            format!("…{}/permutation", "x".repeat(19))
        );
    }

    #[test]
    fn shades_span_the_orders_of_magnitude() {
        let scale = Scale { least: 1, most: 100_000_000 };
        let shades: Vec<_> = [0, 1, 20, 2000, 100_000_000].map(|weight| scale.shade(weight)).to_vec();
        assert_eq!(shades, [None, Some(0), Some(1), Some(3), Some(7)]);
        assert_eq!(Scale { least: 5, most: 5 }.shade(5), Some(7));
    }
}
