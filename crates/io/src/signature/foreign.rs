//! Files that nothing here reads, and what they are called.

use crate::reading::Reading;

/// Kinds of files that start with bytes of their own.
const SIGNATURES: [(&[u8], &str); 15] = [
    (b"\x7fELF", "a program (ELF)"),
    (b"\x89HDF", "an HDF5 file"),
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
    (b"%EventDef", "a trace in the Paje format; pj_dump of PajeNG prints its links, which are read"),
    (b"#Paraver", "a trace of Paraver (.prv)"),
    (
        b"# darshan log",
        "what darshan-parser prints of a log of file operations, which has no messages between ranks",
    ),
];

/// Description of the output of `otf2-print`.
const OTF2: &str = "the text of an OTF2 trace (otf2-print)";

/// Kinds of texts by the word at the start of their first line that is no METIS comment, in lower case. A `0` at the end stands for any number:
/// prose may begin with the same word.
const OPENINGS: [(&str, &str); 20] = [
    ("@ mpip", "a report of mpiP, which has no pairs of ranks"),
    ("=== otf2-print", OTF2),
    ("=== event", OTF2),
    ("process 0", "a workload (PROCESS ...)"),
    ("viem_order ", "the recorded order of messages (viem_order ...)"),
    ("<?xml", "an XML file such as GEXF"),
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
];

/// A file of OpenFOAM, of which several make a mesh.
const FOAM: (&[u8], &str) = (b"FoamFile", "a file of OpenFOAM; the folder of its case is read");

/// Returns whether a file begins with the dictionary of OpenFOAM, perhaps after its banner.
fn is_foam(start: &[u8]) -> bool {
    let start = &start[..start.len().min(1 << 11)];
    let mut lines = start.split(|&byte| byte == b'\n');
    start.starts_with(FOAM.0) || start.starts_with(b"/*") && lines.any(|line| line.trim_ascii() == FOAM.0)
}

/// The kind of a file by its first bytes.
pub(crate) fn by_bytes(start: &[u8]) -> Option<Reading> {
    let signature = SIGNATURES.iter().find(|(signature, _)| start.starts_with(signature));
    let signature = signature.or(is_foam(start).then_some(&FOAM));
    signature.map(|&(_, name)| Reading::foreign(name))
}

/// The kind of a text by its first line that is neither empty nor a comment.
pub(crate) fn by_opening(line: &str) -> Option<Reading> {
    let line = line.to_ascii_lowercase();
    let begins = |opening: &str| match opening.strip_suffix('0') {
        Some(word) => {
            let rest = line.strip_prefix(word).map(str::trim_start);
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        }
        None => line.starts_with(opening),
    };
    let opening = OPENINGS.iter().find(|(opening, _)| begins(opening));
    opening.map(|&(_, name)| Reading::foreign(name))
}
