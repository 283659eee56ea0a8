//! The memory of the reader of graphs, which is for the content alone.

use std::env;
use std::io::{self, Cursor, Read};
use std::process::Command;

use viem::base::memory;
use viem_io::Source;
use viem_io::metis;

/// The variable that names the graph to read, in a process of its own: the peak of a process never falls.
const GRAPH: &str = "VIEM_TEST_GRAPH";

/// Buffers of the text and of the pieces that are parsed at once.
const BUFFERS: u64 = 20 << 20;

/// A text that is made while it is read, so that it takes no memory itself.
struct Made<I> {
    pieces: I,
    piece: Cursor<String>,
}

impl<I: Iterator<Item = String>> Read for Made<I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.piece.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(piece) = self.pieces.next() else { return Ok(0) };
            self.piece = Cursor::new(piece);
        }
    }
}

/// A graph of `n` vertices: its text, and how many entries and places of comments it has.
struct Graph {
    n: u64,
    header: &'static str,
    line: fn(u64) -> String,
    entries: u64,
    comments: u64,
}

const N: u64 = 1 << 20;

/// The name of each graph. The vertices of a pair are neighbours; all are neighbours of a hub.
const GRAPHS: [(&str, Graph); 4] = [
    ("none", Graph { n: 4 * N, header: "4194304 0\n", line: |_| "\n".to_owned(), entries: 0, comments: 0 }),
    ("pairs", Graph { n: 2 * N, header: "2097152 1048576\n", line: pair, entries: 2 * N, comments: 0 }),
    ("hub", Graph { n: N, header: "1048576 1048575 1\n", line: of_hub, entries: 2 * (N - 1), comments: 0 }),
    (
        "comments",
        Graph {
            n: 2 * N,
            header: "2097152 1048576\n",
            line: |vertex| format!("% a comment\n{}", pair(vertex)),
            entries: 2 * N,
            comments: 2 * N,
        },
    ),
];

fn pair(vertex: u64) -> String {
    format!("{}\n", (vertex ^ 1) + 1)
}

/// The line of the hub is the longest there may be. Each neighbour has a weight.
fn of_hub(vertex: u64) -> String {
    match vertex {
        0 => (2..=N).map(|leaf| format!("{leaf} 7 ")).collect::<String>() + "\n",
        _ => "1 7\n".to_owned(),
    }
}

/// Checks a graph in this process, which has done nothing else.
fn check(graph: &Graph) {
    let pieces = (0..graph.n).map(graph.line);
    let text = Made { pieces, piece: Cursor::new(graph.header.to_owned()) };
    // The line of the hub is held while it is read.
    let made = (graph.line)(0).len() as u64;
    let before = memory::peak().unwrap();
    assert!(metis::check(Source::new("made", text).unwrap(), 1).unwrap().is_valid());
    let taken = memory::peak().unwrap() - before;
    let most = 16 * (graph.n + graph.entries + graph.comments) + made + BUFFERS;
    assert!(taken <= most, "{taken} bytes, not {most}");
}

#[test]
fn graphs_are_read_in_little_memory() {
    if let Ok(name) = env::var(GRAPH) {
        let (_, graph) = GRAPHS.iter().find(|(other, _)| *other == name).unwrap();
        return check(graph);
    }
    if memory::peak().is_none() {
        return eprintln!("skipped: the system does not report the memory of a process");
    }
    for (name, _) in GRAPHS {
        let test = "memory::graphs_are_read_in_little_memory";
        let mut alone = Command::new(env::current_exe().unwrap());
        let run = alone.args(["--exact", test, "--nocapture"]).env(GRAPH, name).output().unwrap();
        let said = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
        assert!(run.status.success() && said.contains("1 passed"), "{name}: {said}");
    }
}
