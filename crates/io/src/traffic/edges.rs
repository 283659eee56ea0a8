//! Edge lists and CSV: a line `source,target[,weight[,messages]]` for each flow; without a weight it is 1.
//!
//! The first line shows what separates fields: semicolons, or else commas, or else runs of blanks. Between
//! commas or semicolons a field may be empty, which is a fault where a number is needed. Fields may stand in
//! double quotes, and commas and semicolons inside of them separate nothing. Lines that start with `#` or `%`
//! are comments, lines of nothing but separators are passed over. A first line whose first field is no number
//! names the columns, in any order and among others: source and target, and the weight or the messages unless
//! there is nothing else. Nothing is guessed of a column whose name is not known, nor of one called `size` beside messages, which may
//! be the size of each message or of all ([`Sizes`]). Ranks are counted from 0 or from 1, which the files together decide.

use super::fields::{Field, Fields, Separator, unquoted, whole};
use crate::Source;
use crate::scanner::Scanner;
use crate::table::fields_of;
use crate::traffic::{ALL_TRAFFIC, Format, Inlet, Sizes, Stop, TrafficFault, expected};

pub(super) const FORMAT: Format = Format {
    name: "edges",
    title: "an edge list",
    classes: ALL_TRAFFIC,
    tells_recorders: false,
    guesses_first_rank: true,
    is_graph: false,
    if_empty: "",
    is_certain: recognise,
    read,
};

/// What columns are called, in lower case.
const NAMES: [&[&str]; 4] = [
    &["source", "src", "from", "sender", "rank"],
    &["target", "dst", "dest", "destination", "to", "receiver", "peer"],
    &["weight", "bytes", "nbytes", "volume", "size", "value"],
    &["messages", "msgs", "nmsgs", "count", "transfers"],
];

/// The columns of weights and of messages.
pub(super) const WEIGHT: usize = 2;
pub(super) const MESSAGES: usize = 3;

/// The name of a weight that may be that of one message.
const SIZE: &[u8] = b"size";

/// What the columns hold, for messages.
const MEANINGS: [&str; 4] = ["source", "target", "weight", "messages"];

/// The column of source, target, weight and messages, from 0.
#[derive(Clone, Copy)]
struct Columns {
    separator: Separator,
    places: [Option<usize>; 4],
    count: usize,
    /// Whether the weight is that of each message.
    is_of_each: bool,
}

/// Whether a line is neither empty nor a comment.
fn is_content(line: &[u8]) -> bool {
    let is_separator = |byte: &u8| matches!(byte, b',' | b';' | b' ' | b'\t' | b'\r');
    !matches!(line.first(), Some(b'#' | b'%')) && !line.iter().all(is_separator)
}

/// A first line that names source and target.
fn recognise(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n').filter(|line| is_content(line));
    let Some(first) = lines.next() else { return false };
    let first = first.strip_suffix(b"\r").unwrap_or(first);
    let names = fields_of(first, Separator::of(first));
    let columns = meanings(&names);
    columns.contains(&Some(0)) && columns.contains(&Some(1))
}

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut Inlet<'_>) -> Result<(), Stop> {
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
fn read_first(number: u64, line: &[u8], inlet: &mut Inlet<'_>) -> Result<Columns, Stop> {
    let separator = Separator::of(line);
    let fields = || Fields::separated(number, line, separator);
    if is_header(fields()) {
        return named_columns(fields(), separator, inlet.sizes());
    }
    let mut rest = fields();
    let count = std::iter::from_fn(|| rest.next()).count();
    if !(2..=4).contains(&count) {
        return Err(rest.stop_line(TrafficFault::EdgeColumns { found: count }));
    }
    let places = std::array::from_fn(|place| (place < count).then_some(place));
    let columns = Columns { separator, places, count, is_of_each: inlet.sizes() == Some(Sizes::OfEach) };
    read_flow(number, line, columns, inlet)?;
    Ok(columns)
}

/// Whether a first line is one of names: what stands in its first field does not start as a number does.
fn is_header(mut fields: Fields<'_>) -> bool {
    let first = std::iter::from_fn(|| fields.next()).find(|field| !field.text.is_empty());
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
    let mut rest = fields;
    let names: Vec<&[u8]> = std::iter::from_fn(|| rest.next()).map(|field| unquoted(field.text)).collect();
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

/// Whether a column is called so.
pub(super) fn is_called(name: &[u8], column: usize) -> bool {
    meaning(name) == Some(column)
}

/// Whether a weight that is called so may be that of one message.
pub(super) fn may_be_of_each(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(SIZE)
}

/// Which column is called so.
fn meaning(name: &[u8]) -> Option<usize> {
    NAMES.iter().position(|names| names.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name)))
}

/// Which column is called so with a word more: `src_rank`, `Rank From`, `num_bytes`, `total-messages`.
fn longer_meaning(name: &[u8]) -> Option<usize> {
    const WORDS: [&[u8]; 7] = [b"rank", b"id", b"process", b"num", b"total", b"number", b"of"];
    let words = name.split(|byte| b"_-. ".contains(byte)).filter(|word| !word.is_empty());
    let is_more = |word: &&[u8]| WORDS.iter().any(|more| more.eq_ignore_ascii_case(word));
    let mut rest = words.filter(|word| !is_more(word));
    let only = rest.next()?;
    if rest.next().is_some() { None } else { meaning(only) }
}

/// The column that each name stands for. A name with a word more counts where no other one stands for its column.
fn meanings(names: &[&[u8]]) -> Vec<Option<usize>> {
    let mut meanings: Vec<Option<usize>> = names.iter().map(|name| meaning(name)).collect();
    let plain = meanings.clone();
    for (found, name) in meanings.iter_mut().zip(names).filter(|(found, _)| found.is_none()) {
        *found = longer_meaning(name).filter(|column| !plain.contains(&Some(*column)));
    }
    meanings
}

fn read_flow(number: u64, line: &[u8], columns: Columns, inlet: &mut Inlet<'_>) -> Result<(), Stop> {
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
