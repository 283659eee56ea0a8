//! Edge lists and CSV: a line `source,target[,weight[,messages]]` for each flow; without a weight it is 1.
//!
//! The first line shows what separates fields: semicolons, or else commas, or else runs of blanks. Between
//! commas or semicolons a field may be empty, which is a fault where a number is needed. Fields may be inside
//! double quotes, and commas and semicolons inside of them separate nothing. Lines that start with `#` or `%`
//! are comments, lines of nothing but separators are skipped. A first line whose first field is no number
//! names the columns, in any order and among others: source and target, and the weight or the messages unless
//! there is nothing else. Nothing is guessed of a column whose name is not known, nor of one called `size` beside messages, which may
//! be the size of each message or of all ([`Sizes`]). Ranks are counted from 0 or from 1, which the files together decide.

use super::collector::{FlowSink, Sizes};
use super::fault::{Stop, TrafficFault, expected};
use super::fields::{FieldsExt, ScannerExt, whole};
use super::format::Format;
use super::kind::Kind;
use viem_io::Source;
use viem_io::scanner::Scanner;
use viem_io::signature::columns::{MESSAGES, NAMES, is_content, meanings};
use viem_io::table::{Field, Fields, Separator, unquoted};

pub(super) const FORMAT: Format = Format {
    kind: Kind { name: "edges", title: "an edge list", guesses_first_rank: true, ..Kind::PLAIN },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

/// The name of a weight that may be that of one message.
const SIZE: &[u8] = b"size";

/// The meanings of the columns, for messages.
const MEANINGS: [&str; 4] = ["source", "target", "weight", "messages"];

/// The column of source, target, weight and messages, from 0.
#[derive(Clone, Copy)]
struct Columns {
    separator: Separator,
    places: [Option<usize>; 4],
    count: usize,
    /// True if the weight is that of each message.
    is_of_each: bool,
}

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let mut columns = None;
    while let Some((number, line)) = scanner.next_line() {
        if !is_content(line) {
            continue;
        }
        match columns {
            Some(columns) => read_flow(number, line, columns, inlet)?,
            None => columns = Some(read_first(number, line, inlet)?),
        }
    }
    let missing = TrafficFault::Missing { expected: "an edge (source, target, weight)" };
    if columns.is_some() { Ok(()) } else { Err(scanner.stop(missing)) }
}

/// Reads the first line: the names of the columns, or the first flow, which has all columns.
fn read_first(number: u64, line: &[u8], inlet: &mut FlowSink<'_>) -> Result<Columns, Stop> {
    let separator = Separator::of(line);
    let fields = || Fields::separated(number, line, separator);
    if is_header(fields()) {
        return named_columns(fields(), separator, inlet.sizes());
    }
    let count = fields().count();
    if !(2..=4).contains(&count) {
        return Err(fields().stop_line(TrafficFault::EdgeColumns { found: count }));
    }
    let places = std::array::from_fn(|place| (place < count).then_some(place));
    let columns = Columns { separator, places, count, is_of_each: inlet.sizes() == Some(Sizes::OfEach) };
    read_flow(number, line, columns, inlet)?;
    Ok(columns)
}

/// Returns whether a first line is one of names: its first field does not start as a number does.
fn is_header(mut fields: Fields<'_>) -> bool {
    let first = fields.find(|field| !field.text.is_empty());
    let starts_as_number =
        |text: &[u8]| text.first().is_some_and(|byte| byte.is_ascii_digit() || b"+-".contains(byte));
    first.is_some_and(|field| !starts_as_number(unquoted(field.text)))
}

/// The columns that a line names.
fn named_columns(
    mut fields: Fields<'_>,
    separator: Separator,
    sizes: Option<Sizes>,
) -> Result<Columns, Stop> {
    let (mut places, mut count) = ([None; 4], 0);
    let mut size = None;
    let names: Vec<&[u8]> = fields.map(|field| unquoted(field.text)).collect();
    let meanings = meanings(&names);
    while let Some(field) = fields.next() {
        if let Some(column) = meanings[count] {
            if places[column].is_some() {
                let (what, names) = (MEANINGS[column], NAMES[column].join(", "));
                return Err(fields.stop(field, TrafficFault::ColumnTwice { what, names }));
            }
            places[column] = Some(count);
            size = size.or(may_be_of_each(unquoted(field.text)).then_some(field));
        }
        count += 1;
    }
    let missing = |what, names: &[&str]| {
        Err(fields.stop_line(TrafficFault::NoColumn { what, names: names.join(", ") }))
    };
    if let Some(column) = [0, 1].into_iter().find(|&column| places[column].is_none()) {
        return missing(MEANINGS[column], NAMES[column]);
    }
    // Edges without weight and messages weigh 1, but not where a column may hold them under another name.
    if count > 2 && places[2].or(places[3]).is_none() {
        return missing("weight or messages", &[NAMES[2], NAMES[3]].concat());
    }
    if let (Some(field), Some(_), None) = (size, places[MESSAGES], sizes) {
        let count = MEANINGS[MESSAGES].to_owned();
        return Err(fields.stop(field, TrafficFault::SizeOfEachOrAll { count }));
    }
    Ok(Columns { separator, places, count, is_of_each: sizes == Some(Sizes::OfEach) })
}

/// Returns whether a weight that is called so may be that of one message.
pub(super) fn may_be_of_each(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(SIZE)
}

fn read_flow(number: u64, line: &[u8], columns: Columns, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let mut fields = Fields::separated(number, line, columns.separator);
    let mut values = [None; 4];
    let mut count = 0;
    while let Some(field) = fields.next() {
        if let Some(column) = columns.places.iter().position(|&place| place == Some(count)) {
            values[column] = Some(value(&fields, field, column)?);
        }
        count += 1;
    }
    let [Some(from), Some(to), bytes, messages] = values else {
        return Err(fields.stop_line(TrafficFault::OtherColumns { found: count, expected: columns.count }));
    };
    if count != columns.count {
        return Err(fields.stop_line(TrafficFault::OtherColumns { found: count, expected: columns.count }));
    }
    let mut weight = bytes.unwrap_or(u64::from(messages.is_none()));
    if let (true, Some(size), Some(messages)) = (columns.is_of_each, bytes, messages) {
        let product = size.checked_mul(messages);
        weight = product.ok_or_else(|| fields.stop_line(TrafficFault::TooManyBytes { size, messages }))?;
    }
    inlet.add(0, from, to, weight, messages.unwrap_or(0)).map_err(|fault| fields.stop_line(fault))
}

/// The number that a field holds.
#[inline]
fn value(fields: &Fields<'_>, field: Field<'_>, column: usize) -> Result<u64, Stop> {
    let text = unquoted(field.text);
    let (value, expected) = match column {
        0 | 1 => (whole(text), expected::RANK),
        2 => (whole(text), expected::WEIGHT),
        _ => (whole(text), expected::MESSAGES),
    };
    value.ok_or_else(|| match text {
        [] => fields.stop(field, TrafficFault::EmptyField { expected }),
        _ => fields.unexpected(field, expected),
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample, lines};
    use std::fmt::Write;

    pub(super) const SAMPLE: Sample = Sample {
        text: "0 1 10\n1 2 300\n2 0 7\n",
        numbers_from: Some(0),
        has_separators: true,
        write: Some(write),
        has_messages: true,
    };

    fn write(_n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let mut text = String::new();
        text += "source,target,weight,messages\n";
        for (from, to, bytes, messages) in lines(flows) {
            writeln!(text, "{from},{to},{bytes},{messages}").unwrap();
        }
        vec![text.into()]
    }
}
