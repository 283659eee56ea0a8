//! Recognises files by their content: all that a file may be.
//!
//! A file that parses as a METIS graph is one, and nothing else; no graph has so few edges as a mesh has weights of an element. Of other files of numbers each reading is named that their lines do
//! not rule out: a square table of two to four columns may be a matrix or an edge list. What a program does with several readings is
//! its own matter; it should ask.

use super::metis::parse::{FitsGraph, fits_graph};
use super::parhip::is_parhip;
use super::reading::Reading;
use super::signature;
use super::table::{Fields, Layout, Separator, fields_of, is_blank};
use crate::Source;
use viem::base::number;

/// All that a file may be that starts so; none if nothing fits. `is_whole`: nothing follows.
pub fn readings(start: &[u8], is_whole: bool) -> Vec<Reading> {
    let window = &start[..start.len().min(Source::START)];
    let is_whole = is_whole && window.len() == start.len();
    if let Some(reading) = recorded(window) {
        return vec![reading];
    }
    if let Some(reading) = signed(start) {
        return vec![reading];
    }
    if is_weighted_mesh(window, is_whole) {
        return vec![Reading::MESH];
    }
    if fits_graph(window, is_whole, FitsGraph::FromOne) {
        return vec![Reading::GRAPH];
    }
    if is_binary(window) {
        return vec![Reading::BINARY];
    }
    let text = String::from_utf8_lossy(window);
    let lines = Lines::new(&text, is_whole);
    if let Some(reading) = lines.by_opening() {
        return vec![reading];
    }
    let mut readings = lines.by_table();
    if lines.has_hashes && readings.iter().all(|&reading| reading == Reading::GRAPH) {
        readings = vec![Reading::HASHES];
    }
    readings
}

/// The recorded traffic that a file says itself to be.
fn recorded(start: &[u8]) -> Option<Reading> {
    let &(reading, _) = signature::TRAFFIC.iter().find(|(_, is_certain)| is_certain(start))?;
    let has_separators = matches!(Separator::of_start(start), Separator::Single(_));
    Some(if reading == Reading::EDGES && has_separators { Reading::CSV_EDGES } else { reading })
}

/// Returns whether the first line counts elements and their weights, and each further one has as many weights and at least three nodes. A graph of two or
/// more vertices with such a first line has fewer neighbours in all.
fn is_weighted_mesh(window: &[u8], is_whole: bool) -> bool {
    let mut lines: Vec<&[u8]> = window.split(|&byte| byte == b'\n').collect();
    // The last one is empty, or cut.
    let last = lines.pop().filter(|last| is_whole && !last.is_empty());
    let mut lines = lines.into_iter().chain(last).filter(|line| !line.starts_with(b"%"));
    let whole = |line: &[u8]| -> Option<Vec<u64>> {
        Fields::new(0, line, is_blank).map(|field| number::whole(field.text).ok()).collect()
    };
    let Some(&[count, weights]) = lines.next().and_then(whole).as_deref() else { return false };
    let is_element = |line: &[u8]| {
        whole(line).is_some_and(|numbers| {
            let nodes = usize::try_from(weights).ok().and_then(|weights| numbers.get(weights..));
            nodes.is_some_and(|nodes| nodes.len() > 2 && !nodes.contains(&0))
        })
    };
    let mut found = 0;
    for line in lines.by_ref().take(usize::try_from(count).unwrap_or(usize::MAX)) {
        if !is_element(line) {
            return false;
        }
        found += 1;
    }
    let is_end = lines.all(|line| Fields::new(0, line, is_blank).next().is_none());
    weights > 0 && found > 0 && is_end && (!is_whole || found == count)
}

/// The kind that the leading bytes declare, even where a METIS graph may have a comment.
pub(super) fn signed(start: &[u8]) -> Option<Reading> {
    if signature::is_matrix_market(start) {
        Some(Reading::MATRIX_MARKET)
    } else if is_parhip(start) {
        Some(Reading::PARHIP)
    } else if let Some(&(reading, _)) = signature::MESHES.iter().find(|(_, is_certain)| is_certain(start)) {
        Some(reading)
    } else {
        signature::by_bytes(start)
    }
}

/// Returns whether more than a few bytes are none of a text. A single one is a fault of its own, which is named with its place.
/// Comments may be in any encoding.
fn is_binary(window: &[u8]) -> bool {
    let (mut strange, mut all) = (0, 0);
    for line in window.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"%")) {
        all += line.len() + 1;
        strange += line.iter().filter(|&&byte| byte < 0x20 && !matches!(byte, b'\t'..=b'\r')).count();
        strange += line.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>();
    }
    strange > 1 + all / 8
}

/// The lines of a text without comments.
struct Lines<'a> {
    lines: Vec<&'a str>,
    /// Empty lines after the last one, which may be vertices without neighbours.
    empty_at_end: usize,
    /// True if these are all lines of the file.
    are_all: bool,
    /// True if comments start with `#`, as they cannot in a METIS graph.
    has_hashes: bool,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str, are_all: bool) -> Self {
        let mut lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('%')).collect();
        if !are_all {
            // The last one may be cut.
            lines.pop();
        }
        let all = lines.len();
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        let empty_at_end = all - lines.len();
        let has_hashes = lines.first().is_some_and(|line| line.starts_with('#'));
        lines.retain(|line| !line.starts_with('#'));
        Self { lines, empty_at_end, are_all, has_hashes }
    }

    fn by_opening(&self) -> Option<Reading> {
        let line = self.lines.iter().map(|line| line.trim_start()).find(|line| !line.is_empty())?;
        signature::by_opening(line)
    }

    /// Returns the kinds that a text of lines of fields may be.
    fn by_table(&self) -> Vec<Reading> {
        if self.lines.is_empty() {
            return Vec::new();
        }
        let separator = Separator::of_start(self.lines.join("\n").as_bytes());
        let rows: Vec<Vec<&[u8]>> =
            self.lines.iter().map(|line| fields_of(line.as_bytes(), separator)).collect();
        let of_numbers: Option<Vec<Vec<f64>>> = rows.iter().map(|row| numbers(row)).collect();
        match (separator, of_numbers) {
            (Separator::Run(_), Some(rows)) => self.by_numbers(rows),
            (Separator::Run(_), None) => {
                self.by_layout(&rows).or_else(|| text_reading(&rows)).into_iter().collect()
            }
            (Separator::Single(_), of_numbers) => self.by_separated(&rows, of_numbers),
        }
    }

    /// A matrix with names around its numbers.
    fn by_layout(&self, rows: &[Vec<&[u8]>]) -> Option<Reading> {
        let rows: Vec<Vec<&[u8]>> = rows.iter().filter(|row| !row.is_empty()).cloned().collect();
        let Layout { has_header, has_labels, .. } = Layout::of(&rows[..rows.len().min(Layout::LINES)]);
        if !has_header && !has_labels {
            return None;
        }
        let rows = &rows[usize::from(has_header)..];
        let values =
            |row: &Vec<&[u8]>| numbers(row.get(usize::from(has_labels)..)?).map(|numbers| numbers.len());
        let width = rows.first().and_then(values)?;
        let is_square = if self.are_all { rows.len() == width } else { rows.len() < width };
        (width > 1 && is_square && rows.iter().all(|row| values(row) == Some(width)))
            .then_some(Reading::MATRIX)
    }

    /// Tables with commas or semicolons.
    fn by_separated(&self, rows: &[Vec<&[u8]>], of_numbers: Option<Vec<Vec<f64>>>) -> Vec<Reading> {
        let rows: Vec<&Vec<&[u8]>> = rows.iter().filter(|row| !row.is_empty()).collect();
        let (width, is_even) = (rows[0].len(), rows.iter().all(|row| row.len() == rows[0].len()));
        let of_numbers = of_numbers.map(|mut rows| {
            rows.retain(|row| !row.is_empty());
            rows
        });
        let mut readings = Vec::new();
        match of_numbers {
            Some(numbers) => {
                if self.is_square(&numbers) || is_even && width > MOST_EDGE_FIELDS && numbers.len() > 1 {
                    readings.push(Reading::MATRIX);
                }
            }
            None => readings.extend(self.by_layout(&rows.iter().map(|&row| row.clone()).collect::<Vec<_>>())),
        }
        let starts_as_flow = (2..=MOST_EDGE_FIELDS).contains(&width)
            && rows[0][..2].iter().all(|field| number::whole(field).is_ok())
            && rows[0].iter().all(|field| field.is_empty() || number::real(field).is_some());
        if starts_as_flow {
            readings.push(Reading::CSV_EDGES);
        }
        if readings.is_empty() && width > 1 && is_even {
            readings.push(Reading::CSV);
        }
        readings
    }

    fn is_square(&self, rows: &[Vec<f64>]) -> bool {
        let width = rows[0].len();
        let is_square = if self.are_all { rows.len() == width } else { rows.len() < width };
        width > 1 && is_square && rows.iter().all(|row| row.len() == width)
    }

    /// Lines of nothing but numbers, with blanks between them.
    fn by_numbers(&self, mut rows: Vec<Vec<f64>>) -> Vec<Reading> {
        if rows.len() < 2 || rows[0].is_empty() {
            return Vec::new();
        }
        let width = rows[0].len();
        if width > 1 && rows.iter().any(Vec::is_empty) {
            // Empty lines are vertices without neighbours.
            return if is_header_of_graph(&rows) { vec![Reading::GRAPH] } else { Vec::new() };
        }
        rows.retain(|row| !row.is_empty());
        let is_even = rows.iter().all(|row| row.len() == width);
        // Two lines may be a graph whose header has no second number.
        if width == 1 {
            return if !is_even {
                self.after_a_count(&rows)
            } else if rows.len() > 2 {
                vec![Reading::MAPPING]
            } else {
                Vec::new()
            };
        }
        // No graph has a header of five numbers, and one of fewer says how many lines follow.
        let has_count =
            (0..=self.empty_at_end).any(|empty| self.fits_count(rows.len() - 1 + empty, rows[0][0]));
        let is_list = is_even
            && width <= MOST_EDGE_FIELDS
            && rows.iter().all(|row| row[..2].iter().all(|&id| is_whole(id)));
        let is_symmetric = || {
            (0..width)
                .all(|i| (0..width).all(|j| rows.get(i).zip(rows.get(j)).is_some_and(|(a, b)| a[j] == b[i])))
        };
        let mut readings = Vec::new();
        if self.is_square(&rows) && (width > MOST_EDGE_FIELDS || !has_count) && (width > 2 || is_symmetric())
        {
            readings.push(Reading::MATRIX);
        }
        if is_list
            && (!readings.is_empty() || rows.len() > 2 && (width > 3 || !self.can_be_graph(&rows, has_count)))
            && !(width > 3 && has_count)
        {
            readings.push(Reading::EDGES);
        }
        if self.can_be_hypergraph(&rows) {
            readings.push(Reading::HYPERGRAPH);
        }
        if readings.is_empty() && is_header_of_graph(&rows) {
            readings.push(Reading::GRAPH);
        }
        readings
    }

    /// Lines after one with a single number.
    fn after_a_count(&self, rows: &[Vec<f64>]) -> Vec<Reading> {
        let (count, lines) = (rows[0][0], &rows[1..]);
        let mut readings = Vec::new();
        if lines.iter().all(|row| row.len() as f64 == count) {
            let is_pair = self.are_all && lines.len() as f64 == 2.0 * count;
            readings.push(if is_pair { Reading::QAP } else { Reading::MATRIX });
        }
        let is_node = |&node: &f64| is_whole(node) && node >= 1.0;
        if self.fits_count(lines.len(), count)
            && lines.iter().all(|row| row.len() > 2 && row.iter().all(is_node))
        {
            readings.push(Reading::MESH);
        }
        readings
    }

    /// Returns whether the first line counts nets and vertices, and each further one lists vertices of a net, few of which list each other.
    fn can_be_hypergraph(&self, rows: &[Vec<f64>]) -> bool {
        let (nets, vertices, format) = match rows[0][..] {
            [nets, vertices] => (nets, vertices, 0.0),
            [nets, vertices, format] if [0.0, 1.0, 10.0, 11.0].contains(&format) => (nets, vertices, format),
            _ => return false,
        };
        let weights = if format >= 10.0 { vertices } else { 0.0 };
        let of_nets = &rows[1..][..(rows.len() - 1).min(nets as usize)];
        let first = usize::from(format % 10.0 == 1.0);
        let is_vertex = |&vertex: &f64| is_whole(vertex) && (1.0..=vertices).contains(&vertex);
        let pins = || of_nets.iter().map(|net| net.get(first..).unwrap_or_default());
        let lists_back = |net: usize, vertex: f64| {
            pins().nth(vertex as usize - 1).is_some_and(|other| other.contains(&(net as f64 + 1.0)))
        };
        if !self.fits_count(rows.len() - 1, nets + weights)
            || !pins().all(|net| !net.is_empty() && net.iter().all(is_vertex))
        {
            return false;
        }
        let arcs = pins()
            .take(MOST_NETS)
            .enumerate()
            .flat_map(|(net, pins)| pins.iter().map(move |&vertex| (net, vertex)));
        let (mut all, mut mutual) = (0, 0);
        for (net, vertex) in arcs {
            all += 1;
            mutual += usize::from(vertex as usize != net + 1 && lists_back(net, vertex));
        }
        // In a graph with a fault or two, most edges are still listed at both ends.
        2 * mutual < all
    }

    /// Returns whether the first of some lines, all of two or all of three numbers, can be the header of a graph, be it a faulty one.
    fn can_be_graph(&self, rows: &[Vec<f64>], has_count: bool) -> bool {
        let lines = rows.len() - 1;
        let greatest = if self.are_all { lines as f64 } else { rows[0][0] };
        // Lines of three numbers begin with the size of a vertex, its weight, or, in format 110, both.
        let neighbours = match rows[0][..] {
            [_, _] => 0..2,
            [_, _, 110.0] => 2..3,
            _ => 1..2,
        };
        let vertices = rows[1..].iter().flat_map(|row| &row[neighbours.clone()]);
        let has_vertices_only = vertices.copied().all(|vertex| (1.0..=greatest).contains(&vertex));
        let entries = if rows[0].len() == 2 { 2 * lines } else { lines };
        let has_entries = has_vertices_only && self.fits_count(entries, 2.0 * rows[0][1]);
        if self.are_all { has_count || has_entries } else { has_entries }
    }

    /// Returns whether a header may promise this number of something.
    fn fits_count(&self, found: usize, promised: f64) -> bool {
        if self.are_all { found as f64 == promised } else { found as f64 <= promised }
    }
}

/// A text whose first lines hold words and no numbers.
fn text_reading(rows: &[Vec<&[u8]>]) -> Option<Reading> {
    let is_word = |field: &&[u8]| number::real(field).is_none() && field.iter().any(u8::is_ascii_alphabetic);
    let is_edge = |row: &Vec<&[u8]>| match row[..] {
        [from, to, ref weights @ ..] if matches!(weights.len(), 1 | 2) => {
            is_word(&from) && is_word(&to) && numbers(weights).is_some()
        }
        _ => false,
    };
    let mut lines = rows.iter().filter(|row| !row.is_empty()).peekable();
    if lines.peek().is_some() && lines.all(is_edge) {
        return Some(Reading::NAMED_EDGES);
    }
    let mut first = rows.iter().filter(|row| !row.is_empty());
    let is_text = |row: Option<&Vec<&[u8]>>| row.is_some_and(|row| row.iter().all(is_word));
    (is_text(first.next()) && is_text(first.next())).then_some(Reading::TEXT)
}

/// Fields that an edge has at most.
const MOST_EDGE_FIELDS: usize = 4;

/// Nets that are compared with each other.
const MOST_NETS: usize = 200;

fn is_whole(number: f64) -> bool {
    number >= 0.0 && number.fract() == 0.0
}

fn is_header_of_graph(rows: &[Vec<f64>]) -> bool {
    rows.len() > 1 && matches!(rows[0].len(), 2..=4) && rows[0].iter().all(|&number| is_whole(number))
}

/// The numbers of a line that has nothing else.
fn numbers(fields: &[&[u8]]) -> Option<Vec<f64>> {
    fields.iter().map(|field| number::real(field)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks_like(text: &[u8]) -> Vec<Reading> {
        readings(text, true)
    }

    fn names(text: &[u8]) -> Vec<&'static str> {
        looks_like(text).into_iter().map(Reading::name).collect()
    }

    #[test]
    fn graphs_and_mappings_are_not_taken_for_other_files() {
        for text in [
            "2 1\n2\n1\n",
            "% comment\n2 1\n2\n1\n",
            "4 4\n2 4\n1 3\n2 4\n1 3\n",
            "2 1 11\n1 2 5\n1 1 5\n",
            "3 0\n\n\n\n",
            "5 6 0\n2 3 4\n1 3 4\n1 2 4\n1 2 3\n\n",
        ] {
            assert_eq!(looks_like(text.as_bytes()), [Reading::GRAPH], "{text:?}");
        }
        // Faulty ones are still graphs: a wrong number of vertices, of edges, an edge that only one end lists.
        for text in [
            "3 4\n2 4\n1 3\n2 4\n1 3\n",
            "4 5\n2 4\n1 3\n2 4\n1 3\n",
            "4 4\n2 4\n1 3\n1 4\n1 3\n",
            "3 2\n2 3\n1\n1",
        ] {
            assert_eq!(looks_like(text.as_bytes()), [Reading::GRAPH], "{text:?}");
        }
        // A number of nets beyond any index.
        assert_eq!(looks_like(b"99999999999999999999992 1\n0 2"), [Reading::GRAPH]);
        for text in ["", "1", "2 1", " 3 2 1", "\u{feff}2 1", "2 1\0\n", "-2 1", "2 x", "2.5 1", "\u{fc}"] {
            assert_eq!(looks_like(text.as_bytes()), [], "{text:?}");
        }
        let latin = [&b"% "[..], &[0xe9; 400], b"\n2 1\n% ", &[0xe9; 400], b"\n2\n1\n"].concat();
        assert_eq!(looks_like(&latin), [Reading::GRAPH]);
        assert_eq!(looks_like(b"1\n0\n2\n"), [Reading::MAPPING]);
    }

    #[test]
    fn large_graphs_are_not_taken_for_other_files() {
        // Rings, of which every line but the first has two or three numbers.
        let n = Source::START;
        for (format, weight) in [("", ""), (" 10", "1 ")] {
            let line = |v: usize| format!("{weight}{} {}\n", (v + 1) % n + 1, (v + n - 1) % n + 1);
            let text: String =
                std::iter::once(format!("{n} {n}{format}\n")).chain((0..n).map(line)).collect();
            assert_eq!(looks_like(text.as_bytes()), [Reading::GRAPH]);
        }
        // Pairs, of which every line has the size of a vertex, its weight, and its neighbour.
        for weight in [0, 1, n + 1] {
            let pairs: String = (0..n).map(|v| format!("1 {weight} {}\n", (v ^ 1) + 1)).collect();
            let text = format!("{n} {} 110\n{pairs}", n / 2);
            assert_eq!(looks_like(text.as_bytes()), [Reading::GRAPH]);
        }
    }

    #[test]
    fn other_files_are_named() {
        let profile: [&[u8]; 2] = [
            b"# POINT TO POINT\nE\t0\t1\t80 bytes\t2 msgs sent\t0,1,1\n",
            b"E\t0\t1\t80 bytes\t2 msgs sent\t0,1,1\nE\t0\t2\t80 bytes\t2 msgs sent\t0,2\n",
        ];
        for text in profile {
            assert_eq!(names(text), ["a profile of Open MPI's monitoring (.prof)"]);
        }
        let cases: [(&[u8], &str); 12] = [
            (b"$MeshFormat\n4.1 0 8\n", "a mesh of Gmsh (.msh)"),
            (b"# vtk DataFile Version 3.0\nt\nASCII\n", "a file of VTK (.vtk)"),
            (b"<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\">", "a file of VTK in XML (.vtu)"),
            (b"FoamFile\n{\n", "a file of OpenFOAM; the folder of its case is read"),
            (b"/* comment\n*/\nFoamFile\n{\n", "a file of OpenFOAM; the folder of its case is read"),
            (b"%%MatrixMarket matrix\n", "a Matrix Market file"),
            (b"\x7fELF\x02\x01", "a program (ELF)"),
            (b"graph [ node [", "a GML file"),
            (b"strict graph {", "a Graphviz (DOT) file"),
            (b"p edge 5 4", "a DIMACS graph"),
            (b"# a script\necho 1\n", "an edge list (SNAP) or a script"),
            (&[3, 0, 0, 0, 2, 0, 0, 0], "a binary file"),
        ];
        for (text, name) in cases {
            assert_eq!(names(text), [name], "{}", String::from_utf8_lossy(text));
        }
        let cases: [(&[u8], &[Reading]); 34] = [
            (b"source,target\n1,2", &[Reading::CSV_EDGES]),
            (b"a,b\n1,x\n", &[Reading::CSV]),
            (b"hello world\nthis is text\n", &[Reading::TEXT]),
            (b"# a SNAP graph\n0 1\n0 2\n3 1\n", &[Reading::EDGES]),
            (b"0 1\n0 2\n1 2\n", &[Reading::EDGES]),
            (b"1 2\n1 3\n2 3\n", &[Reading::EDGES]),
            (b"1 2 0.5\n1 3 1.5\n2 3 1\n2 4 1\n", &[Reading::EDGES]),
            (b"1\t2\t1\n1\t3\t1\n2\t3\t1\n1\t4\t7\n", &[Reading::EDGES]),
            (b"1,2,5\n", &[Reading::CSV_EDGES]),
            (b"1;2;5\n3;4;5\n", &[Reading::CSV_EDGES]),
            (b"0 5 2 1 1\n5 0 1 1 1\n2 1 0 1 1\n1 1 1 0 1\n1 1 1 1 0\n", &[Reading::MATRIX]),
            (b"0,5,2,1,1\n5,0,1,1,1\n2,1,0,1,1\n1,1,1,0,1\n1,1,1,1,0\n", &[Reading::MATRIX]),
            (b"0;1.5e1;2\n1.5e1;0;1\n2;1;0.5\n", &[Reading::MATRIX, Reading::CSV_EDGES]),
            (b"a,b\n0,1\n1,0\n", &[Reading::MATRIX]),
            (b"x 0 1\na 0 7\nb 7 0\n", &[Reading::MATRIX]),
            (b",0,1\n0,0,7\n1,7,0\n", &[Reading::MATRIX]),
            (b"2\n0 7\n7 0\n", &[Reading::MATRIX]),
            // Squares of two to four columns.
            (b"0 5 2\n5 0 1\n2 1 0\n", &[Reading::MATRIX, Reading::EDGES]),
            (b"0 1 4\n1 2 6\n2 0 9\n", &[Reading::MATRIX, Reading::EDGES]),
            (b"10 20\n20 10\n", &[Reading::MATRIX, Reading::EDGES]),
            (b"10 21 21\n21 10 21\n21 21 10\n", &[Reading::MATRIX, Reading::EDGES]),
            (b"0,9000,10,0\n9000,0,0,10\n10,0,0,9000\n0,10,9000,0\n", &[Reading::MATRIX, Reading::CSV_EDGES]),
            (b"0 5000 0 0\n5000 0 70 0\n0 70 0 5000\n0 0 5000 0\n", &[Reading::MATRIX, Reading::EDGES]),
            (b"0,1\n1,0\n", &[Reading::MATRIX, Reading::CSV_EDGES]),
            (b"3\n\n0 5 2\n5 0 1\n2 1 0\n\n0 1 1\n1 0 1\n1 1 0\n", &[Reading::QAP]),
            (b"3 5\n1 2 3\n3 4\n4 5 1\n", &[Reading::HYPERGRAPH]),
            (b"3 5 1\n7 1 2 3\n2 3 4\n2 4 5 1\n", &[Reading::HYPERGRAPH]),
            (b"2 3 10\n1 2\n1 2 3\n4\n5\n6\n", &[Reading::HYPERGRAPH]),
            (b"3\n1 2 5 4\n2 3 6 5\n4 5 8 7\n", &[Reading::MESH]),
            (b"3\n1 2 4\n2 3 4\n4 5 8\n", &[Reading::MATRIX, Reading::MESH]),
            (b"3 2\n1 0 1 2 5 4\n% comment\n9 1 2 3 6 5\n1 1 4 5 8 7", &[Reading::MESH]),
            (b"1 1\n7 1 2 3\n\n", &[Reading::MESH]),
            (b"0\n1\n2\n", &[Reading::MAPPING]),
            (b"3 2\n2\n1 3\n2\n", &[Reading::GRAPH]),
        ];
        for (text, expected) in cases {
            assert_eq!(looks_like(text), expected, "{}", String::from_utf8_lossy(text));
        }
        let long: String = (0..Source::START).map(|v| format!("{} {}\n", v / 4, 1_000_000 + v)).collect();
        assert_eq!(looks_like(long.as_bytes()), [Reading::EDGES]);
        let mut rng = viem::base::rng::Rng::new(1);
        for length in [64, 600, 4096] {
            let bytes: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
            assert_eq!(looks_like(&bytes), [Reading::BINARY]);
        }
    }
}
