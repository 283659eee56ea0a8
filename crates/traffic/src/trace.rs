//! The files of our own recorder, `bindings/mpi/trace/viem_trace.c`: one a rank.
//!
//! ```text
//! viem_trace 1
//! rank 3 of 16
//! p2p 4 10 5120             to rank 4: 10 messages, 5120 bytes
//! neighbour 2 1 8
//! collective 0 3 24
//! elsewhere 2 16            messages and bytes to processes outside MPI_COMM_WORLD
//! uncounted 1               collective calls between groups
//! end 5                     number of lines between the second and this one
//! ```

use super::collector::FlowSink;
use super::fault::{Stop, TrafficFault, expected};
use super::fields::FieldsExt;
use super::format::Format;
use super::kind::{Class, Kind};
use viem_io::Source;
use viem_io::scanner::Scanner;
use viem_io::table::{Fields, is_blank};

const KIND: Kind = Kind {
    name: "trace",
    title: "files of viem_trace.c",
    classes: &[
        Class { name: "p2p", title: "point-to-point", is_default: true },
        Class { name: "neighbour", title: "neighbourhood collectives", is_default: true },
        Class { name: "collective", title: "collectives, as textbook algorithms send", is_default: true },
    ],
    tells_recorders: true,
    if_empty: "the job made no calls of MPI that move bytes, or the recorder was not in front of MPI",
    ..Kind::PLAIN
};

pub(super) const FORMAT: Format = Format {
    kind: KIND,
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let (fields, me, num_ranks) = head(scanner, "viem_trace")?;
    inlet.state_ranks(num_ranks).map_err(|fault| fields.stop_line(fault))?;
    if me >= num_ranks {
        return Err(fields.stop_line(no_such_rank(me, num_ranks)));
    }
    if inlet.recorder(me) {
        return Err(fields.stop_line(TrafficFault::RankTwice { rank: me }));
    }
    let mut lines = 0;
    while !read_line(&mut next(scanner)?, inlet, me, num_ranks, lines)? {
        lines += 1;
    }
    end_file(scanner)
}

/// Reads the first two lines: the kind of file and its version, which is 1, then `rank R of N`. Returns the second one, R and N.
pub(super) fn head<'a>(
    scanner: &'a mut Scanner<Source<'_>>,
    kind: &'static str,
) -> Result<(Fields<'a>, u64, u64), Stop> {
    let mut fields = next(scanner)?;
    fields.word(kind)?;
    fields.word("1")?;
    fields.end()?;
    let mut fields = next(scanner)?;
    fields.word("rank")?;
    let me = fields.number(expected::RANK)?;
    fields.word("of")?;
    let num_ranks = fields.number("the number of ranks")?;
    fields.end()?;
    Ok((fields, me, num_ranks))
}

/// Only blank lines may follow.
pub(super) fn end_file(scanner: &mut Scanner<Source<'_>>) -> Result<(), Stop> {
    while let Some((number, line)) = scanner.next_line() {
        Fields::new(number, line, is_blank).end()?;
    }
    Ok(())
}

/// The next line, which must be there.
pub(super) fn next<'a>(scanner: &'a mut Scanner<Source<'_>>) -> Result<Fields<'a>, Stop> {
    let missing = Stop {
        line: scanner.line(),
        column: 1,
        fault: TrafficFault::Missing { expected: "a line (the last one is `end`)" },
    };
    scanner.next_line().map(|(number, line)| Fields::new(number, line, is_blank)).ok_or(missing)
}

/// Reads one line; whether it is the last.
fn read_line(
    fields: &mut Fields<'_>,
    inlet: &mut FlowSink<'_>,
    me: u64,
    num_ranks: u64,
    lines: u64,
) -> Result<bool, Stop> {
    let name = fields.field("the class of a line")?;
    match name.text {
        b"end" => line_count(fields, lines)?,
        b"elsewhere" => {
            let messages = fields.number(expected::MESSAGES)?;
            inlet.elsewhere(fields.number(expected::BYTES)?, messages);
        }
        b"uncounted" => {
            let left_out = inlet.left_out();
            let calls = fields.number("a number of calls")?;
            left_out.uncounted_calls = left_out.uncounted_calls.saturating_add(calls);
        }
        class => {
            let class = KIND.classes.iter().position(|known| known.name.as_bytes() == class);
            let class = class.ok_or_else(|| fields.unexpected(name, "the class of a line"))?;
            let peer = fields.number(expected::RANK)?;
            let messages = fields.number(expected::MESSAGES)?;
            let bytes = fields.number(expected::BYTES)?;
            if peer >= num_ranks {
                return Err(fields.stop_line(no_such_rank(peer, num_ranks)));
            }
            inlet.add(class, me, peer, bytes, messages).map_err(|fault| fields.stop_line(fault))?;
        }
    }
    fields.end()?;
    Ok(name.text == b"end")
}

/// Reads the number of lines before.
pub(super) fn line_count(fields: &mut Fields<'_>, lines: u64) -> Result<(), Stop> {
    let count = fields.number("the number of lines")?;
    if count == lines {
        return Ok(());
    }
    let expected = "the number of lines before; some are lost or too many";
    Err(fields.stop_line(TrafficFault::Unexpected { text: count.to_string(), expected }))
}

pub(super) fn no_such_rank(rank: u64, num_ranks: u64) -> TrafficFault {
    TrafficFault::NoSuchRank { rank, first: 0, last: num_ranks.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample, lines};
    use std::fmt::Write;

    pub(super) const SAMPLE: Sample = Sample {
        text: "viem_trace 1\nrank 0 of 2\np2p 1 10 5120\nend 1\n",
        numbers_from: Some(1),
        write: Some(write),
        has_messages: true,
        ..Sample::NONE
    };

    fn write(n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let file = |me: u32| {
            let mut text = format!("viem_trace 1\nrank {me} of {n}\n");
            let mut count = 0;
            for (_, to, bytes, messages) in lines(flows).filter(|line| line.0 == me) {
                let class = ["p2p", "neighbour", "collective"][(to % 3) as usize];
                writeln!(text, "{class} {to} {messages} {bytes}").unwrap();
                count += 1;
            }
            (text + &format!("end {count}\n")).into()
        };
        (0..n).map(file).collect()
    }
}
