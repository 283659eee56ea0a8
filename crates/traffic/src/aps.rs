//! The rank-to-rank table of Intel's Application Performance Snapshot (`aps-report -x`).
//!
//! Rows `0003 --> 0000  seconds  %  MB  %  transfers`; older versions have `0003 <-> 0000  MB  %  transfers`,
//! where both directions are one row. A megabyte is 2^20 bytes; the table rounds them. Lines that start with
//! something else than a digit are headings, sums and frames; one of them may say that rows were left out.

use super::collector::FlowSink;
use super::fault::{Stop, TrafficFault, expected};
use super::fields::{FieldsExt, ScannerExt, decimal, whole};
use super::format::Format;
use super::kind::Kind;
use viem_io::Source;
use viem_io::scanner::Scanner;
use viem_io::table::{Field, Fields, is_blank};

pub(super) const FORMAT: Format = Format {
    kind: Kind { name: "aps", title: "a rank-to-rank table of Intel APS", ..Kind::PLAIN },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

const MEGABYTE: u64 = 1 << 20;

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let mut has_rows = false;
    while let Some((number, line)) = scanner.next_line() {
        let first = line.iter().find(|&&byte| !is_blank(byte));
        if first.is_some_and(u8::is_ascii_digit) {
            read_row(Fields::new(number, line, is_blank), inlet)?;
            has_rows = true;
        } else {
            let left_out = inlet.left_out();
            left_out.omitted_rows = left_out.omitted_rows.saturating_add(omitted_rows(line));
        }
    }
    let fault = TrafficFault::Missing { expected: "a row `rank --> rank …`" };
    if has_rows { Ok(()) } else { Err(scanner.stop(fault)) }
}

fn read_row(mut fields: Fields<'_>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let from = fields.number(expected::RANK)?;
    let arrow = fields.field("an arrow (-->)")?;
    let has_times = match arrow.text {
        b"-->" => true,
        b"<->" => false,
        _ => return Err(fields.unexpected(arrow, "an arrow (-->)")),
    };
    let to = fields.number(expected::RANK)?;
    if has_times {
        number(&mut fields, "a time in seconds", 1)?;
        number(&mut fields, "a percentage of the time", 1)?;
    }
    let bytes = number(&mut fields, "a volume in megabytes", MEGABYTE)?;
    number(&mut fields, "a percentage of the volume", 1)?;
    let messages = number(&mut fields, expected::MESSAGES, 1)?;
    fields.end()?;
    inlet.add(0, from, to, bytes, messages).map_err(|fault| fields.stop_line(fault))
}

/// A number in any notation, times a unit, rounded.
fn number(fields: &mut Fields<'_>, expected: &'static str, unit: u64) -> Result<u64, Stop> {
    let field: Field<'_> = fields.field(expected)?;
    let value = decimal(field.text, unit).ok_or_else(|| fields.unexpected(field, expected))?;
    Ok(value.round() as u64)
}

/// Returns the number of rows that `| [skipped 4 lines]` declares missing.
fn omitted_rows(line: &[u8]) -> u64 {
    let mut fields = Fields::new(0, line, |byte| is_blank(byte) || matches!(byte, b'|' | b'[' | b']'));
    match (fields.next(), fields.next()) {
        (Some(word), Some(count)) if matches!(word.text, b"skipped" | b"filtered") => {
            whole(count.text).unwrap_or(0)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample, lines};
    use std::fmt::Write;

    pub(super) const SAMPLE: Sample = Sample {
        text: "| Rank --> Rank Time\n0000 --> 0001 1 2 4 5 6\n0001 --> 0000 1 2 4 5 6\n",
        numbers_from: Some(1),
        write: Some(write),
        has_messages: true,
        ..Sample::NONE
    };

    fn write(_n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let mut text = String::new();
        text += "| Rank --> Rank  Time(sec)  Time(%)  Volume(MB)  Volume(%)  Transfers\n|----\n";
        for (from, to, bytes, messages) in lines(flows) {
            let megabytes = bytes as f64 / (1 << 20) as f64;
            writeln!(text, "  {from:04} --> {to:04}  1.5  0.5  {megabytes:.12}  7  {messages}").unwrap();
        }
        text += "|====\n| TOTAL 1 2 3 4 5\n";
        vec![text.into()]
    }
}
