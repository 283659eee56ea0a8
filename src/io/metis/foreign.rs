//! Recognises files that are no METIS graphs, so that messages can name what they are.

/// Bytes at the start of a file that are looked at.
const WINDOW: usize = 512;

/// Kinds of files that start with bytes of their own.
const SIGNATURES: [(&[u8], &str); 16] = [
    (b"%%MatrixMarket", "a Matrix Market file"),
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
const OPENINGS: [(&str, &str); 17] = [
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

/// What the start of a file shows for certain not to be a METIS graph.
pub(super) fn recognise(start: &[u8]) -> Option<&'static str> {
    let signature = SIGNATURES.iter().find(|(signature, _)| start.starts_with(signature));
    signature.map(|&(_, name)| name).or_else(|| {
        let window = &start[..start.len().min(WINDOW)];
        // Texts have no control characters but blanks and line ends. A single one is a fault of its own,
        // which is named with its place.
        let is_control = |&&byte: &&u8| byte < 0x20 && !matches!(byte, b'\t'..=b'\r');
        (window.iter().filter(is_control).count() > 1 + window.len() / 8).then_some("a binary file")
    })
}

/// What the first line looks like, to be asked when it is no valid header.
pub(super) fn resembles(line: &[u8]) -> Option<&'static str> {
    let window = &line[..line.len().min(WINDOW)];
    let text = String::from_utf8_lossy(window).trim_start().to_ascii_lowercase();
    let opening = OPENINGS.iter().find(|(opening, _)| text.starts_with(opening));
    opening.map(|&(_, name)| name).or_else(|| {
        let first_line = text.lines().next().unwrap_or("");
        (first_line.contains([',', ';'])).then_some("a table with separators (CSV)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_are_not_taken_for_other_files() {
        for text in ["", "1", "2 1\n2\n1\n", "% comment\n2 1", " 3 2 1", "\u{feff}2 1", "2 1\0\n"] {
            assert_eq!(recognise(text.as_bytes()), None, "{text:?}");
        }
        for line in ["2 1", "-2 1", "2 x", "2.5 1", "\u{fc}"] {
            assert_eq!(resembles(line.as_bytes()), None, "{line:?}");
        }
    }

    #[test]
    fn other_files_are_named() {
        assert_eq!(recognise(b"%%MatrixMarket matrix\n"), Some("a Matrix Market file"));
        assert_eq!(recognise(&[3, 0, 0, 0, 2, 0, 0, 0]), Some("a binary file"));
        assert_eq!(recognise(b"\x7fELF\x02\x01"), Some("a program (ELF)"));
        assert_eq!(resembles(b"graph [ node ["), Some("a GML file"));
        assert_eq!(resembles(b"strict graph {"), Some("a Graphviz (DOT) file"));
        assert_eq!(resembles(b"p edge 5 4"), Some("a DIMACS graph"));
        assert_eq!(resembles(b"source,target\n1,2"), Some("a table with separators (CSV)"));
    }
}
