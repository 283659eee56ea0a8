//! Links of traces in the Paje format, as `pj_dump` prints them: a line for each message.
//!
//! ```text
//! Link, root, LINK, 0.000210, 0.000340, 0.000130, PTP, rank0, rank1, 0, 800
//! ```
//!
//! Behind kind, container, type, start, end, duration and value are the containers of sender and receiver, whose ranks are the digits at the end of
//! their names. A key and further fields may follow; the last of two or more is the size of the message in bytes. Lines of other kinds
//! (`Container`, `State`, `Event`, `Variable`) are skipped. Instead, a first line may name the columns of links, such as
//! `startContainer`, `endContainer` and `size`. Without sizes each message weighs 1.

use super::collector::FlowSink;
use super::fault::{Stop, TrafficFault, expected};
use super::fields::{FieldsExt, decimal};
use super::format::Format;
use super::kind::Kind;
use viem_io::Source;
use viem_io::scanner::Scanner;
use viem_io::signature::paje::{KINDS, is_of, named_columns};
use viem_io::table::{Field, Fields, Separator, number_at_end, unquoted};

const KIND: Kind = Kind {
    name: "paje",
    title: "links of a trace in the Paje format",
    guesses_first_rank: true,
    if_empty: "each message is a line `Link` of pj_dump",
    ..Kind::PLAIN
};

pub(super) const FORMAT: Format = Format {
    kind: KIND,
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

const CONTAINER: &str = "a container whose name ends in the number of a rank, such as rank3";

/// The columns of a link, from 0.
#[derive(Clone, Copy)]
enum Columns {
    /// The columns of `pj_dump`.
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
        named_columns(line).map(|(start, end, size)| Self::Named { start, end, size })
    }

    /// Returns whether a field of a line with this many fields is its size.
    fn is_size(self, column: usize, count: usize) -> bool {
        match self {
            Self::Dumped => count > 10 && column + 1 == count,
            Self::Named { size, .. } => size == Some(column),
        }
    }
}

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
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
            let text = viem_io::table::shortened(line);
            return Err(fields.stop_line(TrafficFault::Unexpected { text, expected: "a line of pj_dump" }));
        }
    }
    Ok(())
}

fn read_link(fields: Fields<'_>, columns: Columns, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let all: Vec<Field<'_>> = fields.collect();
    let (start, end) = match columns {
        Columns::Dumped => (7, 8),
        Columns::Named { start, end, .. } => (start, end),
    };
    let rank = |column: usize| {
        let field = *all
            .get(column)
            .ok_or_else(|| fields.stop_at_end(TrafficFault::Missing { expected: CONTAINER }))?;
        number_at_end(unquoted(field.text)).ok_or_else(|| fields.unexpected(field, CONTAINER))
    };
    let (from, to) = (rank(start)?, rank(end)?);
    let size = all.iter().enumerate().find(|&(column, _)| columns.is_size(column, all.len()));
    let bytes = match size {
        Some((_, &field)) => {
            let size = decimal(unquoted(field.text), 1);
            size.ok_or_else(|| fields.unexpected(field, expected::BYTES))?.round() as u64
        }
        None => {
            inlet.counts_messages();
            1
        }
    };
    inlet.add(0, from, to, bytes, 1).map_err(|fault| fields.stop_line(fault))
}

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample, lines};
    use std::fmt::Write;

    pub(super) const SAMPLE: Sample = Sample {
        text: "Container, 0, 0, 0.0, 1.0, 1.0, root\nLink, root, LINK, 0.1, 0.2, 0.1, PTP, rank0, rank1, 0, 800\n",
        write: Some(write),
        has_messages: true,
        ..Sample::NONE
    };

    fn write(_n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let mut text = String::new();
        text += "Container, 0, 0, 0.0, 1.0, 1.0, root\n";
        for (from, to, bytes, messages) in lines(flows) {
            // Bytes are shared by the messages: the last one has the rest.
            let each = bytes / messages;
            for number in 1..=messages {
                let size = if number < messages { each } else { bytes - (messages - 1) * each };
                writeln!(
                    text,
                    "Link, root, LINK, 0.1, 0.2, 0.1, PTP, rank-{from}, rank-{to}, k{number}, {size}"
                )
                .unwrap();
            }
        }
        vec![text.into()]
    }
}
