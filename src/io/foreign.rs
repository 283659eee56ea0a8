//! Recognises files by their content, so that messages can name what was given instead of what was asked for.
//!
//! No valid graph is taken for anything but a graph, and no valid mapping for anything but a mapping: a file of numbers is
//! only called an edge list or a matrix where the numbers of its lines rule out a graph.

/// Bytes at the start of a file that are looked at.
const WINDOW: usize = 1 << 14;

/// A METIS graph.
pub(super) const GRAPH: &str = "a graph in METIS format";
/// A mapping or a partition.
pub(super) const MAPPING: &str = "a mapping or a partition (one number a line)";
const MATRIX_MARKET: &str = "a Matrix Market file";
const EDGE_LIST: &str = "an edge list (two or three numbers a line)";
const MATRIX: &str = "a dense matrix";
const PROFILE: &str = "a profile of Open MPI's monitoring (.prof)";
const CSV: &str = "a table with separators (CSV)";
/// A program in time.
const PROGRAM: &str = "a program in time (PROCESS ...)";
const BINARY: &str = "a binary file";

/// Kinds of files that start with bytes of their own.
const SIGNATURES: [(&[u8], &str); 16] = [
    (b"%%MatrixMarket", MATRIX_MARKET),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"\x7fELF", "a program (ELF)"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89PNG", "a PNG picture"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"BZh", "a file packed with bzip2"),
    (b"\xfd7zXZ\x00", "a file packed with xz"),
    (b"\x28\xb5\x2f\xfd", "a file packed with zstd"),
    (b"\x04\x22\x4d\x18", "a file packed with lz4"),
    (b"MATLAB 5.0", "a MATLAB file"),
    (b"CDF", "a NetCDF file"),
    (b"SQLite format 3", "an SQLite database"),
];

/// Kinds of texts by the word at the start of their first line that is no METIS comment, in lower case.
const OPENINGS: [(&str, &str); 19] = [
    ("process ", PROGRAM),
    ("# point to point", PROFILE),
    ("<?xml", "an XML file such as GraphML or GEXF"),
    ("<graphml", "a GraphML file"),
    ("<gexf", "a GEXF file"),
    ("<!doctype", "an HTML page"),
    ("<html", "an HTML page"),
    ("{", "a JSON file"),
    ("[", "a JSON file"),
    ("graph [", "a GML file"),
    ("creator", "a GML file"),
    ("graph", "a Graphviz (DOT) file"),
    ("digraph", "a Graphviz (DOT) file"),
    ("strict", "a Graphviz (DOT) file"),
    ("*vertices", "a Pajek file"),
    ("*network", "a Pajek file"),
    ("p ", "a DIMACS graph"),
    ("c ", "a DIMACS graph"),
    ("#", "an edge list (SNAP) or a script"),
];

/// What kinds of recorded traffic are called in [`traffic`](super::traffic), of those that are named here.
const TRAFFIC: [(&str, &str); 4] =
    [(PROFILE, "openmpi"), (EDGE_LIST, "edges"), (MATRIX, "matrix"), (MATRIX_MARKET, "mtx")];

/// The kind of recorded traffic that a file may be that looks like this.
pub(super) fn traffic_kind(looks_like: &str) -> Option<&'static str> {
    TRAFFIC.iter().find(|(name, _)| *name == looks_like).map(|&(_, kind)| kind)
}

/// What to do with a file that looks like this where a graph is asked for.
pub(super) fn remedy(looks_like: &str) -> &'static str {
    match traffic_kind(looks_like) {
        Some(_) => "if it is recorded traffic, sum it into a graph first",
        None => "give a graph, or convert the file to one",
    }
}

/// What the start of a file looks like; `is_whole`: nothing follows.
pub(super) fn recognise(start: &[u8], is_whole: bool) -> Option<&'static str> {
    let window = &start[..start.len().min(WINDOW)];
    let is_whole = is_whole && window.len() == start.len();
    by_signature(window).or_else(|| is_binary(window).then_some(BINARY)).or_else(|| {
        let text = String::from_utf8_lossy(window);
        let lines = Lines::new(&text, is_whole);
        lines.by_opening().or_else(|| lines.by_separators()).or_else(|| lines.by_numbers())
    })
}

/// What the first bytes show for certain, whatever follows; asked before comments are passed over.
pub(super) fn by_signature(start: &[u8]) -> Option<&'static str> {
    let signature = SIGNATURES.iter().find(|(signature, _)| start.starts_with(signature));
    signature.map(|&(_, name)| name)
}

/// Whether more than a few bytes are none of a text. A single one is a fault of its own, which is named with its place.
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
    /// Whether these are all lines of the file.
    are_all: bool,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str, are_all: bool) -> Self {
        let mut lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('%')).collect();
        if !are_all {
            // The last one may be cut.
            lines.pop();
        }
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        Self { lines, are_all }
    }

    fn by_opening(&self) -> Option<&'static str> {
        let line = self.lines.first()?.trim_start().to_ascii_lowercase();
        if line.contains(" bytes\t") && line.contains(" msgs sent") {
            return Some(PROFILE);
        }
        OPENINGS.iter().find(|(opening, _)| line.starts_with(opening)).map(|&(_, name)| name)
    }

    /// A table has the same number of separators in each line.
    fn by_separators(&self) -> Option<&'static str> {
        let is_table = |separator| {
            let counts = self.lines.iter().map(|line| line.matches(separator).count());
            let mut counts = counts.take(3);
            counts.next().is_some_and(|first| first > 0 && counts.all(|count| count == first))
        };
        [',', ';'].into_iter().any(is_table).then_some(CSV)
    }

    fn by_numbers(&self) -> Option<&'static str> {
        let rows: Option<Vec<Vec<f64>>> = self.lines.iter().map(|line| numbers(line)).collect();
        let mut rows = rows.filter(|rows| rows.len() > 1 && !rows[0].is_empty())?;
        let width = rows[0].len();
        if width > 1 && rows.iter().any(Vec::is_empty) {
            // Empty lines are vertices without neighbours.
            return self.is_header_of_graph().then_some(GRAPH);
        }
        rows.retain(|row| !row.is_empty());
        let is_even = rows.iter().all(|row| row.len() == width);
        // Two lines may be a graph whose header lacks its second number.
        if width == 1 && is_even && rows.len() > 2 {
            return Some(MAPPING);
        }
        if width == 1 && rows[1..].iter().all(|row| row.len() as f64 == rows[0][0]) {
            return Some(MATRIX);
        }
        // No graph has a header of five numbers, and one of fewer tells how many lines follow.
        let has_count = self.fits_count(rows.len() - 1, rows[0][0]);
        let is_square = if self.are_all { rows.len() == width } else { rows.len() < width };
        if is_even && is_square && width > 2 && (width > 4 || !has_count) {
            return Some(MATRIX);
        }
        if is_even && matches!(width, 2 | 3) && rows.len() > 2 && !self.can_be_graph(&rows, has_count) {
            return Some(EDGE_LIST);
        }
        self.is_header_of_graph().then_some(GRAPH)
    }

    /// Whether the first of some lines, all of two or all of three numbers, can be the header of a graph, be it a faulty one.
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

    /// Whether a header that promises so many of something can be right.
    fn fits_count(&self, found: usize, promised: f64) -> bool {
        if self.are_all { found as f64 == promised } else { found as f64 <= promised }
    }

    fn is_header_of_graph(&self) -> bool {
        self.lines.len() > 1
            && self.lines.first().and_then(|line| numbers(line)).is_some_and(|header| {
                matches!(header.len(), 2..=4)
                    && header.iter().all(|number| *number >= 0.0 && number.fract() == 0.0)
            })
    }
}

/// The numbers of a line that has nothing else.
fn numbers(line: &str) -> Option<Vec<f64>> {
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    line.split_whitespace().map(|word| Some(word).filter(is_number)?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks_like(text: &[u8]) -> Option<&'static str> {
        recognise(text, true)
    }

    #[test]
    fn graphs_and_mappings_are_not_taken_for_other_files() {
        for text in [
            "2 1\n2\n1\n",
            "% comment\n2 1\n2\n1\n",
            "4 4\n2 4\n1 3\n2 4\n1 3\n",
            "2 1 11\n1 2 5\n1 1 5\n",
            "3 2\n2 3\n1\n1",
            "3 0\n\n\n\n",
        ] {
            assert!(matches!(looks_like(text.as_bytes()), Some(GRAPH) | None), "{text:?}");
        }
        // Faulty ones are still graphs: a wrong number of vertices, of edges, an edge that only one end lists.
        for text in ["3 4\n2 4\n1 3\n2 4\n1 3\n", "4 5\n2 4\n1 3\n2 4\n1 3\n", "4 4\n2 4\n1 3\n1 4\n1 3\n"] {
            assert_eq!(looks_like(text.as_bytes()), Some(GRAPH), "{text:?}");
        }
        for text in ["", "1", "2 1", " 3 2 1", "\u{feff}2 1", "2 1\0\n", "-2 1", "2 x", "2.5 1", "\u{fc}"] {
            assert_eq!(looks_like(text.as_bytes()), None, "{text:?}");
        }
        let latin = [&b"% "[..], &[0xe9; 400], b"\n2 1\n% ", &[0xe9; 400], b"\n2\n1\n"].concat();
        assert_eq!(looks_like(&latin), Some(GRAPH));
        assert_eq!(looks_like(b"1\n0\n2\n"), Some(MAPPING));
    }

    #[test]
    fn large_graphs_are_not_taken_for_other_files() {
        // Rings, of which every line but the first has two or three numbers.
        let n = WINDOW;
        for (format, weight) in [("", ""), (" 10", "1 ")] {
            let line = |v: usize| format!("{weight}{} {}\n", (v + 1) % n + 1, (v + n - 1) % n + 1);
            let text: String =
                std::iter::once(format!("{n} {n}{format}\n")).chain((0..n).map(line)).collect();
            assert!(matches!(looks_like(text.as_bytes()), Some(GRAPH) | None));
        }
        // Pairs, of which every line has the size of a vertex, its weight, and its neighbour.
        for weight in [0, 1, n + 1] {
            let pairs: String = (0..n).map(|v| format!("1 {weight} {}\n", (v ^ 1) + 1)).collect();
            let text = format!("{n} {} 110\n{pairs}", n / 2);
            assert!(matches!(looks_like(text.as_bytes()), Some(GRAPH) | None));
        }
    }

    #[test]
    fn what_reads_recorded_traffic_is_named() {
        for (name, kind) in TRAFFIC {
            assert!(crate::io::traffic::Format::ALL.iter().any(|format| format.name() == kind));
            assert_eq!(traffic_kind(name), Some(kind));
            assert!(remedy(name).contains("recorded traffic"));
        }
        assert_eq!(traffic_kind(CSV), None);
    }

    #[test]
    fn other_files_are_named() {
        let cases: [(&[u8], &str); 20] = [
            (b"%%MatrixMarket matrix\n", "a Matrix Market file"),
            (&[3, 0, 0, 0, 2, 0, 0, 0], BINARY),
            (b"\x7fELF\x02\x01", "a program (ELF)"),
            (b"graph [ node [", "a GML file"),
            (b"strict graph {", "a Graphviz (DOT) file"),
            (b"p edge 5 4", "a DIMACS graph"),
            (b"source,target\n1,2", CSV),
            (b"source;target;weight\n1;2;0,5\n", CSV),
            (b"# POINT TO POINT\nE\t0\t1\t80 bytes\t2 msgs sent\t0,1,1\n", PROFILE),
            (b"E\t0\t1\t80 bytes\t2 msgs sent\t0,1,1\nE\t0\t2\t80 bytes\t2 msgs sent\t0,2\n", PROFILE),
            (b"# a SNAP graph\n0 1\n0 2\n", "an edge list (SNAP) or a script"),
            (b"0 1\n0 2\n1 2\n", EDGE_LIST),
            (b"1 2\n1 3\n2 3\n", EDGE_LIST),
            (b"1 2 0.5\n1 3 1.5\n2 3 1\n2 4 1\n", EDGE_LIST),
            (b"1\t2\t1\n1\t3\t1\n2\t3\t1\n1\t4\t7\n", EDGE_LIST),
            (b"0 5 2\n5 0 1\n2 1 0\n", MATRIX),
            (b"0 5 2 1 1\n5 0 1 1 1\n2 1 0 1 1\n1 1 1 0 1\n1 1 1 1 0\n", MATRIX),
            (b"3\n\n0 5 2\n5 0 1\n2 1 0\n\n0 1 1\n1 0 1\n1 1 0\n", MATRIX),
            (b"0\n1\n2\n", MAPPING),
            (b"3 2\n2\n1 3\n2\n", GRAPH),
        ];
        for (text, name) in cases {
            assert_eq!(looks_like(text), Some(name), "{}", String::from_utf8_lossy(text));
        }
        let long: String = (0..WINDOW).map(|v| format!("{} {}\n", v / 4, 1_000_000 + v)).collect();
        assert_eq!(looks_like(long.as_bytes()), Some(EDGE_LIST));
        let mut rng = crate::ground::rng::Rng::new(1);
        for length in [64, 600, 4096] {
            let bytes: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
            assert_eq!(looks_like(&bytes), Some(BINARY));
        }
    }
}
