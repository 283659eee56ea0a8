//! A square matrix of numbers, one row a line: row i, column j is what rank i sends to rank j. TreeMatch
//! reads and writes such files (`.mat`), NumPy and monitoring tools make them. Numbers are separated by blanks, commas or semicolons;
//! the columns and rows may have names of ranks, and the number of ranks may precede them.

use super::collector::FlowSink;
use super::fault::{Stop, TrafficFault, expected};
use super::fields::{FieldsExt, whole};
use super::format::Format;
use super::kind::Kind;
use super::mirror::Mirror;
use viem_io::Source;
use viem_io::scanner::Scanner;
use viem_io::table::{Fields, Layout, Table};

pub(super) const FORMAT: Format = Format {
    kind: Kind { name: "matrix", title: "a matrix of numbers", ..Kind::PLAIN },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let mut table = Table::new(scanner);
    let layout @ Layout { has_header, has_labels, has_count } = table.layout();
    let stated =
        if has_count { table.next_row().map(|mut row| row.number("the number of rows")) } else { None };
    let stated = stated.transpose()?;
    let header = if has_header { table.next_row() } else { None };
    let header = header.map(|row| (row.number, row.count_of_table()));
    let (mut columns, mut row) = (stated, 0);
    let (mut entries, mut mirror) = (Vec::new(), None);
    while let Some(mut fields) = table.next_row() {
        if columns.is_some_and(|columns| row == columns) {
            return fields.end();
        }
        let column = read_row(&mut fields, has_labels, columns, &mut entries)?;
        let expected = *columns.get_or_insert(column);
        if let (0, Some((line, names))) = (row, header)
            && !layout.fits(names, column as usize)
        {
            let fault = TrafficFault::Names { names, columns: column as usize };
            return Err(Stop { line, column: 1, fault });
        }
        if column != expected {
            let (found, expected) = (column as usize, expected as usize);
            return Err(fields.stop_at_end(TrafficFault::OtherColumns { found, expected }));
        }
        let mirror = mirror.get_or_insert_with(|| Mirror::new(expected));
        for Entry { column, weight, at } in entries.drain(..) {
            mirror.add(row, column, weight);
            let stop = |fault| Stop { line: fields.number, column: at, fault };
            inlet.add(0, row, column, weight, 0).map_err(stop)?;
        }
        row += 1;
    }
    if columns.is_none_or(|columns| row < columns) {
        let fault = TrafficFault::Missing { expected: "a row of the matrix" };
        return Err(Stop { line: table.next_line(), column: 1, fault });
    }
    if mirror.is_some_and(|mirror| mirror.is_upside_down()) {
        inlet.is_upside_down();
    }
    inlet.name_ranks(row).map_err(|fault| Stop { line: table.next_line(), column: 1, fault })
}

/// A number of a row that is not zero, and its place.
struct Entry {
    column: u64,
    weight: u64,
    at: u64,
}

/// Reads a row, and says how many numbers it has.
fn read_row(
    fields: &mut Fields<'_>,
    has_label: bool,
    columns: Option<u64>,
    entries: &mut Vec<Entry>,
) -> Result<u64, Stop> {
    if has_label {
        fields.next_of_table();
    }
    let mut column = 0;
    while let Some(field) = fields.next_of_table() {
        if columns.is_some_and(|columns| column == columns) {
            let text = TrafficFault::TooMuch { text: format!("number {} of the line", column + 1) };
            return Err(fields.stop(field, text));
        }
        let expected = expected::WEIGHT;
        let weight = whole(field.text).ok_or_else(|| match field.text {
            [] => fields.stop(field, TrafficFault::EmptyField { expected }),
            _ => fields.unexpected(field, expected),
        })?;
        if weight > 0 {
            entries.push(Entry { column, weight, at: field.column });
        }
        column += 1;
    }
    Ok(column)
}

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample};
    use std::fmt::Write;

    pub(super) const SAMPLE: Sample = Sample {
        text: "0 10 3\n1000 0 4\n3 4 0\n",
        numbers_from: Some(0),
        has_separators: true,
        write: Some(write),
        ..Sample::NONE
    };

    fn write(n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let mut text = String::new();
        for from in 0..n {
            let row = (0..n).map(|to| flows.get(&(from, to)).map_or(0, |flow| flow.0).to_string());
            writeln!(text, "{}", row.collect::<Vec<_>>().join(" ")).unwrap();
        }
        vec![text.into()]
    }
}
