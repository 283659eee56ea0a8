//! What Open MPI's monitoring component writes: a file for each rank, or one stream of all.
//!
//! Lines `CLASS me peer BYTES bytes MESSAGES msgs sent`, separated by tabs, with a histogram of message sizes
//! behind some of them. E is point-to-point traffic of the application, I such traffic inside collectives and
//! of the library itself, S and R one-sided traffic away from me and towards me, C collectives seen as
//! traffic between pairs. D, O2A, A2O and A2A describe the same collectives once more, by communicator; no
//! rank stands there to whom anything would go. On a stream the lines of several ranks may be torn and the
//! application may write in between: what is not a whole line is counted and left out. A line is whole if it
//! has this form up to its end, with a histogram as long as those of most before it. (Open MPI 4.1,
//! `ompi/mca/common/monitoring`; the histogram came with version 3.)

use hashbrown::HashMap;

use super::fields::{Fields, is_blank, whole};
use crate::Source;
use crate::scanner::Scanner;
use crate::traffic::{Class, Format, Inlet, Stop, TrafficFault};

pub(super) const FORMAT: Format = Format {
    name: "openmpi",
    title: "Open MPI's monitoring",
    classes: &[
        Class { name: "E", title: "point-to-point", is_default: true },
        Class { name: "I", title: "inside collectives", is_default: true },
        Class { name: "S", title: "one-sided, sent", is_default: true },
        Class { name: "R", title: "one-sided, fetched", is_default: true },
        Class { name: "C", title: "collectives once more, by pair", is_default: false },
    ],
    tells_recorders: true,
    guesses_first_rank: false,
    is_graph: false,
    if_empty: "",
    is_certain: |start| start.split(|&byte| byte == b'\n').any(|line| !matches!(parse(line), Line::Torn)),
    read,
};

/// Class of traffic that flows from the peer to the rank whose line it is.
const FETCHED: usize = 3;

/// What a line is.
enum Line {
    Flow {
        class: usize,
        me: u64,
        peer: u64,
        bytes: u64,
        messages: u64,
        histogram: usize,
    },
    /// A heading, or collectives by communicator.
    Other,
    Torn,
}

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut Inlet<'_>) -> Result<(), Stop> {
    let mut has_lines = false;
    let mut histograms = Histograms::default();
    while let Some((number, line)) = scanner.next_line() {
        match parse(line) {
            Line::Flow { class, me, peer, bytes, messages, histogram } => {
                if histogram != 0 && !histograms.is_whole(histogram) {
                    inlet.torn(number);
                    continue;
                }
                let (from, to) = if class == FETCHED { (peer, me) } else { (me, peer) };
                let added = inlet.add(class, from, to, bytes, messages);
                added.map_err(|fault| Stop { line: number, column: 1, fault })?;
                inlet.recorder(me);
                has_lines = true;
            }
            Line::Other => has_lines = true,
            Line::Torn if line.iter().all(|&byte| is_blank(byte)) => {}
            Line::Torn => inlet.torn(number),
        }
    }
    let fault = TrafficFault::Missing { expected: "a line of Open MPI's monitoring" };
    if has_lines { Ok(()) } else { Err(scanner.stop(fault)) }
}

/// The lengths of histograms: that of most lines is that of whole ones.
#[derive(Default)]
struct Histograms {
    lines: HashMap<usize, u64>,
    /// Of how many lines the most are, and their length; of several the longest.
    most: (u64, usize),
}

impl Histograms {
    /// Whether a line of this length is like most so far, itself among them.
    fn is_whole(&mut self, length: usize) -> bool {
        let lines = self.lines.entry(length).or_default();
        *lines += 1;
        self.most = self.most.max((*lines, length));
        self.most.1 == length
    }
}

/// What the line is; with a tag before it if `mpirun --tag-output` put one there.
fn parse(line: &[u8]) -> Line {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = match line.iter().position(|&byte| byte == b'>') {
        Some(end) if line[0] == b'[' && line.get(end + 1) == Some(&b':') => &line[end + 2..],
        _ => line,
    };
    match line.split(|&byte| byte == b'\t').next() {
        Some(b"# POINT TO POINT" | b"# OSC" | b"# COLLECTIVES") => Some(Line::Other),
        Some(b"D") => communicator(line),
        Some(b"O2A" | b"A2O" | b"A2A") => flow(line, false),
        Some(name) if FORMAT.classes.iter().any(|class| class.name.as_bytes() == name) => flow(line, true),
        _ => None,
    }
    .unwrap_or(Line::Torn)
}

/// `CLASS me [peer] BYTES bytes MESSAGES msgs sent [histogram]`
fn flow(line: &[u8], has_peer: bool) -> Option<Line> {
    let mut fields = Fields::new(0, line, is_blank);
    let class = fields.next()?.text;
    let number = |fields: &mut Fields<'_>| whole(fields.next()?.text);
    let me = number(&mut fields)?;
    let peer = if has_peer { number(&mut fields)? } else { me };
    let bytes = number(&mut fields)?;
    fields.word("bytes").ok()?;
    let messages = number(&mut fields)?;
    fields.word("msgs").ok()?;
    fields.word("sent").ok()?;
    let histogram = fields.next().map_or(Some(0), |field| list_length(field.text))?;
    fields.end().ok()?;
    let class = FORMAT.classes.iter().position(|known| known.name.as_bytes() == class);
    Some(match class {
        Some(class) => Line::Flow { class, me, peer, bytes, messages, histogram },
        None => Line::Other,
    })
}

/// `D name procs: rank,rank,…`
fn communicator(line: &[u8]) -> Option<Line> {
    let list = line.rsplit(|&byte| byte == b'\t').next()?.strip_prefix(b"procs: ")?;
    list_length(list).map(|_| Line::Other)
}

/// How many numbers a list with commas between them has.
fn list_length(list: &[u8]) -> Option<usize> {
    let mut length = 1;
    let mut previous = b',';
    for &byte in list {
        match byte {
            b'0'..=b'9' => {}
            b',' if previous != b',' => length += 1,
            _ => return None,
        }
        previous = byte;
    }
    (previous != b',').then_some(length)
}
