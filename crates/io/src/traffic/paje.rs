//! Links of traces in the Paje format, as `pj_dump` prints them: a line for each message.
//!
//! ```text
//! Link, root, LINK, 0.000210, 0.000340, 0.000130, PTP, rank0, rank1, 0, 800
//! ```
//!
//! Behind kind, container, type, start, end, duration and value stand the containers of sender and receiver, whose ranks are the digits at the end of
//! their names. A key and further fields may follow; the last of two or more is the size of the message in bytes. Lines of other kinds
//! (`Container`, `State`, `Event`, `Variable`) are passed over. Instead, a first line may name the columns of links, such as
//! `startContainer`, `endContainer` and `size`. Without sizes each message weighs 1.

use super::fields::{Field, Fields, Separator, decimal, unquoted};
use crate::Source;
use crate::scanner::Scanner;
use crate::table::fields_of;
use crate::traffic::{ALL_TRAFFIC, Format, Inlet, Stop, TrafficFault, expected};
use viem::ground::number;

pub(super) const FORMAT: Format = Format {
    name: "paje",
    title: "links of a trace in the Paje format",
    classes: ALL_TRAFFIC,
    tells_recorders: false,
    guesses_first_rank: true,
    is_graph: false,
    if_empty: "each message is a line `Link` of pj_dump",
    is_certain,
    read,
};

/// The first fields of the lines of `pj_dump`.
const KINDS: [&str; 5] = ["container", "state", "event", "variable", "link"];

/// What columns are called, in lower case.
const START: &[&str] = &["startcontainer", "start_container", "sourcecontainer"];
const END: &[&str] = &["endcontainer", "end_container", "destcontainer"];
const SIZE: &[&str] = &["size", "bytes", "nbytes", "msgsize", "messagesize", "message_size", "volume"];

const CONTAINER: &str = "a container whose name ends in the number of a rank, such as rank3";

/// Where the columns of a link are, from 0.
#[derive(Clone, Copy)]
enum Columns {
    /// As `pj_dump` has them.
    Dumped,
    Named {
        start: usize,
        end: usize,
        size: Option<usize>,
    },
}

impl Columns {
    /// Those that a line names, if it does.
    fn of(line: &[u8]) -> Option<Self> {
        let names = fields_of(line, Separator::of(line));
        let place = |known: &[&str]| {
            let is_known =
                |name: &&[u8]| known.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name));
            names.iter().position(is_known)
        };
        Some(Self::Named { start: place(START)?, end: place(END)?, size: place(SIZE) })
    }

    /// Whether a field of a line with so many fields is its size.
    fn is_size(self, column: usize, count: usize) -> bool {
        match self {
            Self::Dumped => count > 10 && column + 1 == count,
            Self::Named { size, .. } => size == Some(column),
        }
    }
}

/// Whether a line is one of these kinds.
fn is_of(line: &[u8], kinds: &[&str]) -> bool {
    let first = fields_of(line, Separator::Single(b',')).first().copied().unwrap_or_default();
    kinds.iter().any(|kind| kind.as_bytes().eq_ignore_ascii_case(first))
}

fn is_certain(start: &[u8]) -> bool {
    let first = start.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
    first.is_some_and(|line| {
        Columns::of(line).is_some()
            || is_of(line, &KINDS) && fields_of(line, Separator::Single(b',')).len() > 5
    })
}

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut Inlet<'_>) -> Result<(), Stop> {
    let mut columns = None;
    while let Some((number, line)) = scanner.next_line() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let named = if columns.is_none() { Columns::of(line) } else { None };
        let known = *columns.get_or_insert(named.unwrap_or(Columns::Dumped));
        let is_link = match known {
            Columns::Dumped => is_of(line, &["link"]),
            Columns::Named { .. } => named.is_none() && !is_of(line, &KINDS[..4]),
        };
        if is_link {
            read_link(Fields::separated(number, line, Separator::of(line)), known, inlet)?;
        } else if named.is_none() && !is_of(line, &KINDS) {
            let fields = Fields::separated(number, line, Separator::of(line));
            let text = crate::table::shortened(line);
            return Err(fields.stop_line(TrafficFault::Unexpected { text, expected: "a line of pj_dump" }));
        }
    }
    Ok(())
}

fn read_link(fields: Fields<'_>, columns: Columns, inlet: &mut Inlet<'_>) -> Result<(), Stop> {
    let mut rest = fields;
    let all: Vec<Field<'_>> = std::iter::from_fn(|| rest.next()).collect();
    let (start, end) = match columns {
        Columns::Dumped => (7, 8),
        Columns::Named { start, end, .. } => (start, end),
    };
    let rank = |column: usize| {
        let field = *all
            .get(column)
            .ok_or_else(|| rest.stop_at_end(TrafficFault::Missing { expected: CONTAINER }))?;
        rank_of(unquoted(field.text)).ok_or_else(|| rest.unexpected(field, CONTAINER))
    };
    let (from, to) = (rank(start)?, rank(end)?);
    let size = all.iter().enumerate().find(|&(column, _)| columns.is_size(column, all.len()));
    let bytes = match size {
        Some((_, &field)) => {
            let size = decimal(unquoted(field.text), 1);
            size.ok_or_else(|| rest.unexpected(field, expected::BYTES))?.round() as u64
        }
        None => {
            inlet.counts_messages();
            1
        }
    };
    inlet.add(0, from, to, bytes, 1).map_err(|fault| rest.stop_line(fault))
}

/// The number at the end of a name.
fn rank_of(name: &[u8]) -> Option<u64> {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    number::whole(&name[name.len() - digits..]).ok()
}
