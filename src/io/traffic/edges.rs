//! Edge lists and CSV: a line `source,target[,weight[,messages]]` for each flow; without a weight it is 1.
//!
//! Fields are separated by commas, semicolons or blanks and may stand in double quotes. Lines that start with
//! `#` or `%` are comments. A first line whose first field is no number names the columns; by names that are
//! known they may come in any order and among others. Ranks are counted from 0 or from 1, which the files
//! together decide.

use super::fields::{Fields, weight, whole};
use super::{ALL_TRAFFIC, Format, Inlet, Stop, TrafficFault, expected};
use crate::io::Source;
use crate::io::scanner::Scanner;

pub(super) const FORMAT: Format = Format {
    name: "edges",
    title: "an edge list",
    classes: ALL_TRAFFIC,
    tells_recorders: false,
    guesses_first_rank: true,
    recognise,
    read,
};

/// What columns are called, in lower case.
const NAMES: [&[&str]; 4] = [
    &["source", "src", "from", "sender"],
    &["target", "dst", "dest", "destination", "to", "receiver"],
    &["weight", "bytes", "volume", "size"],
    &["messages", "msgs", "count", "transfers"],
];

fn is_separator(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b' ' | b'\t')
}

fn is_content(line: &[u8]) -> bool {
    !matches!(line.first(), Some(b'#' | b'%'))
        && !line.iter().all(|&byte| is_separator(byte) || byte == b'\r')
}

/// The column of source, target, weight and messages, from 0.
#[derive(Clone, Copy)]
struct Columns {
    places: [Option<usize>; 4],
    count: usize,
}

fn recognise(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n').filter(|line| is_content(line));
    let Some(first) = lines.next() else { return false };
    let has_comma = first.contains(&b',') || first.contains(&b';');
    let names = named_columns(first).is_some();
    let numbers = first.split(|&byte| is_separator(byte) || byte == b'\r').filter(|field| !field.is_empty());
    let are_flows = (2..=4).contains(&numbers.clone().count())
        && numbers.clone().all(|field| whole(unquoted(field)).is_some());
    names || (has_comma && are_flows)
}

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut Inlet<'_>) -> Result<(), Stop> {
    let mut columns = None;
    while let Some((number, line)) = scanner.next_line() {
        if !is_content(line) {
            continue;
        }
        let known = match columns {
            Some(columns) => columns,
            None => {
                let first = columns_of(number, line)?;
                columns = Some(first.0);
                if first.1 {
                    continue;
                }
                first.0
            }
        };
        read_flow(number, line, known, inlet)?;
    }
    let missing = TrafficFault::Missing { expected: "an edge (source, target, weight)" };
    if columns.is_some() { Ok(()) } else { Err(scanner.stop(missing)) }
}

/// The columns that the first line has, and whether it names them.
fn columns_of(number: u64, line: &[u8]) -> Result<(Columns, bool), Stop> {
    let mut fields = Fields::new(number, line, is_separator);
    let first = fields.field(expected::RANK)?;
    let is_header = !unquoted(first.text).first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-');
    if let Some(columns) = named_columns(line).filter(|_| is_header) {
        return Ok((columns, true));
    }
    let mut count = 1;
    while fields.next().is_some() {
        count += 1;
    }
    if !(2..=4).contains(&count) {
        return Err(fields.stop_line(TrafficFault::OtherColumns { found: count, expected: 3 }));
    }
    let places = std::array::from_fn(|place| (place < count).then_some(place));
    Ok((Columns { places, count }, is_header))
}

/// The columns, if the line names source and target.
fn named_columns(line: &[u8]) -> Option<Columns> {
    let mut places = [None; 4];
    let mut fields = Fields::new(0, line.strip_suffix(b"\r").unwrap_or(line), is_separator);
    let mut count = 0;
    while let Some(field) = fields.next() {
        let name = unquoted(field.text).to_ascii_lowercase();
        let is_name = |names: &&[&str]| names.iter().any(|known| known.as_bytes() == name);
        if let Some(column) = NAMES.iter().position(is_name) {
            places[column].get_or_insert(count);
        }
        count += 1;
    }
    (places[0].is_some() && places[1].is_some()).then_some(Columns { places, count })
}

fn read_flow(number: u64, line: &[u8], columns: Columns, inlet: &mut Inlet<'_>) -> Result<(), Stop> {
    let mut fields = Fields::new(number, line, is_separator);
    let mut values = [None; 4];
    let mut count = 0;
    while let Some(field) = fields.next() {
        if let Some(column) = columns.places.iter().position(|&place| place == Some(count)) {
            let (value, expected) = match column {
                0 | 1 => (whole(unquoted(field.text)), expected::RANK),
                2 => (weight(unquoted(field.text)), expected::WEIGHT),
                _ => (whole(unquoted(field.text)), expected::MESSAGES),
            };
            values[column] = Some(value.ok_or_else(|| fields.unexpected(field, expected))?);
        }
        count += 1;
    }
    let [Some(from), Some(to), bytes, messages] = values else {
        return Err(fields.stop_line(TrafficFault::OtherColumns { found: count, expected: columns.count }));
    };
    if count != columns.count {
        return Err(fields.stop_line(TrafficFault::OtherColumns { found: count, expected: columns.count }));
    }
    let weight = bytes.unwrap_or(u64::from(messages.is_none()));
    inlet.add(0, from, to, weight, messages.unwrap_or(0)).map_err(|fault| fields.stop_line(fault))
}

fn unquoted(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text)
}
