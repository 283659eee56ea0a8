//! Traces of routers: which experts tokens have chosen, layer by layer; and numbers of copies of experts.
//!
//! | file | what it holds |
//! |---|---|
//! | `.npy`, or `.npz` with one array | layers x tokens x choices: the experts of each token; -1 is none |
//! | | layers x tokens x experts: 0 for each expert that is not chosen |
//! | | layers x experts x experts, symmetric: how many tokens have chosen both; on the diagonal, how many have chosen one |
//! | text | a line for each token and layer: the layer, then the experts |
//! | | or so many lines as there are experts for each layer, of as many numbers: how many tokens have chosen both |
//!
//! An array of two dimensions is a single layer. Layers, tokens and experts count from 0. Fields of a text stand between blanks, commas or
//! semicolons; a first line of names is passed over. Which of the shapes it is follows from the number of experts, which must be
//! given.

use super::array::{ArrayFault, Header, MARK};
use super::metis::NumberFault;
use super::npz::{self, ArchiveFault};
use super::number;
use super::scanner::Scanner;
use super::table::{Fields, Table, shortened};
use crate::io::{ContentError, OtherFault, ReadError, Source};

/// Upper limit on the layers of a model.
pub const MOST_LAYERS: u64 = 1 << 12;

/// What is wrong with a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ExpertTraceFault {
    #[error("`{text}` is not {expected}")]
    Unexpected { text: String, expected: &'static str },
    #[error("{expected} is missing here; is the file cut off?")]
    Missing { expected: &'static str },
    #[error("`{text}` {reason}; {what} is a whole number from {least} to {greatest}")]
    NotANumber { what: &'static str, text: String, reason: NumberFault, least: u64, greatest: u64 },
    #[error(
        "an array of {shape} is no trace of {experts} experts: it has layers, tokens, and the experts of each token, all experts, or pairs of them"
    )]
    Shape { shape: String, experts: u32 },
    #[error("layer {layer}, row {row}, column {column}: {fault}")]
    InEntry { layer: u64, row: u64, column: u64, fault: Box<ExpertTraceFault> },
    #[error("layer {layer}, token {token}: {fault}")]
    InToken { layer: u64, token: u64, fault: OtherFault },
    #[error(transparent)]
    Refused(OtherFault),
    #[error("the line has {found} numbers; a row of pairs has {experts}, one for each expert")]
    Columns { found: usize, experts: u32 },
    #[error("the last layer has {rows} rows of pairs instead of {experts}")]
    Rows { rows: usize, experts: u32 },
    #[error("layer {layer}: experts {row} and {column} have other numbers of tokens than {column} and {row}")]
    Asymmetric { layer: u64, row: u32, column: u32 },
    #[error("this is a further layer; at most {MOST_LAYERS} are supported")]
    TooManyLayers,
    #[error("this is not a zip archive as NumPy writes them: {reason}")]
    Archive { reason: &'static str },
    #[error("the archive holds several arrays, {names}; save one alone")]
    SeveralArrays { names: String },
}

impl From<ArrayFault> for ExpertTraceFault {
    fn from(fault: ArrayFault) -> Self {
        match fault {
            ArrayFault::Unexpected { text, expected } => Self::Unexpected { text, expected },
            ArrayFault::Missing { expected } => Self::Missing { expected },
        }
    }
}

impl From<ArchiveFault> for ExpertTraceFault {
    fn from(fault: ArchiveFault) -> Self {
        match fault {
            ArchiveFault::Unreadable { reason } => Self::Archive { reason },
            ArchiveFault::SeveralArrays { names } => Self::SeveralArrays { names },
        }
    }
}

/// A part of a trace. Layers and experts count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceEntry<'a> {
    /// The experts that a token has chosen.
    Token(&'a [u32]),
    /// How many tokens have chosen two experts.
    Pair([u32; 2], u64),
    /// How many tokens have chosen an expert, where pairs are counted.
    Load(u32, u64),
}

/// What takes the entries of a layer, one after the other.
pub type TakeEntry<'a> = &'a mut dyn FnMut(u64, TraceEntry<'_>) -> Result<(), OtherFault>;

/// A fault and its line and column.
type Stop = (u64, u64, ExpertTraceFault);

/// A fault of what has no lines.
fn at_start(fault: ExpertTraceFault) -> Stop {
    (1, 1, fault)
}

fn invalid(file: String, (line, column, fault): Stop) -> ReadError {
    ReadError::Invalid { file, line, column, kind: ContentError::Other(OtherFault::new(fault)) }
}

/// The bytes of a trace as other programs may read it: text as it is, or an array without the archive around it. O(file).
pub fn unpacked(source: Source<'_>) -> Result<Vec<u8>, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    let bytes = scanner.rest();
    if let Some(error) = scanner.early_end(&name) {
        return Err(error);
    }
    if !bytes.starts_with(npz::MARK) {
        return Ok(bytes);
    }
    npz::array(&bytes).map_err(|fault| invalid(name, at_start(fault.into())))
}

/// Reads a trace of `experts` experts, and passes on each of its entries with its layer, layer after layer if it is an array. O(file).
pub fn read(source: Source<'_>, experts: u32, take: TakeEntry<'_>) -> Result<(), ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    let result = if scanner.at_hand().starts_with(MARK) {
        array(&mut scanner, experts, take)
    } else if scanner.at_hand().starts_with(npz::MARK) {
        let archive = scanner.rest();
        npz::array(&archive)
            .map_err(|fault| at_start(fault.into()))
            .and_then(|bytes| array(&mut Scanner::new(&bytes[..]), experts, take))
    } else {
        text(&mut scanner, experts, take)
    };
    if let Some(error) = scanner.early_end(&name) {
        return Err(error);
    }
    result.map_err(|stop| invalid(name, stop))
}

fn array<R: std::io::Read>(scanner: &mut Scanner<R>, experts: u32, take: TakeEntry<'_>) -> Result<(), Stop> {
    let header = Header::read(scanner).map_err(|fault| at_start(fault.into()))?;
    let shape = match header.shape[..] {
        [layers, rows, columns] => [layers, rows, columns],
        [rows, columns] => [1, rows, columns],
        _ => [0; 3],
    };
    let [layers, rows, columns] = shape;
    if layers == 0 || layers > MOST_LAYERS || columns == 0 || columns > experts.into() {
        return Err(at_start(ExpertTraceFault::Shape { shape: header.shape_in_words(), experts }));
    }
    let entries = Entries::read(scanner, &header, shape).map_err(at_start)?;
    let is_of_all = columns == u64::from(experts);
    if is_of_all && rows == columns {
        let number = |layer, row, column| entries.at(layer, row, column).unwrap_or(0);
        let pairs = |layer| pairs(layer, experts, &|row, column| number(layer, row, column), take);
        return (0..layers).try_for_each(pairs).map_err(at_start);
    }
    for layer in 0..layers {
        for token in 0..rows {
            let numbers = (0..columns).map(|column| entries.at(layer, token, column));
            let chosen: Vec<u32> = if is_of_all {
                (0..experts).zip(numbers).filter(|(_, number)| *number != Some(0)).map(|(id, _)| id).collect()
            } else {
                numbers.flatten().map(|id| u32::try_from(id).unwrap_or(u32::MAX)).collect()
            };
            take(layer, TraceEntry::Token(&chosen))
                .map_err(|fault| at_start(ExpertTraceFault::InToken { layer, token, fault }))?;
        }
    }
    Ok(())
}

/// Passes on the pairs of a layer, each once.
fn pairs(
    layer: u64,
    experts: u32,
    number: &dyn Fn(u64, u64) -> u64,
    take: TakeEntry<'_>,
) -> Result<(), ExpertTraceFault> {
    for row in 0..experts {
        let own = number(row.into(), row.into());
        take(layer, TraceEntry::Load(row, own)).map_err(ExpertTraceFault::Refused)?;
        for column in row + 1..experts {
            let tokens = number(row.into(), column.into());
            if tokens != number(column.into(), row.into()) {
                return Err(ExpertTraceFault::Asymmetric { layer, row, column });
            }
            take(layer, TraceEntry::Pair([row, column], tokens)).map_err(ExpertTraceFault::Refused)?;
        }
    }
    Ok(())
}

/// The entries of an array as they stand in the file; `None` is -1.
struct Entries {
    numbers: Vec<Option<u64>>,
    shape: [u64; 3],
    is_by_column: bool,
}

impl Entries {
    fn read<R: std::io::Read>(
        scanner: &mut Scanner<R>,
        header: &Header,
        shape: [u64; 3],
    ) -> Result<Self, ExpertTraceFault> {
        let count = shape.iter().fold(1u64, |product, &length| product.saturating_mul(length));
        let mut entries = Self { numbers: Vec::new(), shape, is_by_column: header.is_by_column };
        // Memory for what stands there, not for what the header promises.
        for place in 0..count {
            let number = match header.entry(scanner) {
                Err(ArrayFault::Unexpected { text, .. }) if text == "-1" => None,
                number => Some(number.map_err(|fault| entries.fault(place, fault))?),
            };
            entries.numbers.push(number);
        }
        match scanner.has_bytes() {
            true => Err(ExpertTraceFault::Unexpected {
                text: "what follows the last entry".to_owned(),
                expected: "a part of the array",
            }),
            false => Ok(entries),
        }
    }

    fn fault(&self, place: u64, fault: ArrayFault) -> ExpertTraceFault {
        let [layers, rows, columns] = self.shape;
        let (layer, row, column) = if self.is_by_column {
            (place % layers, place / layers % rows, place / layers / rows)
        } else {
            (place / columns / rows, place / columns % rows, place % columns)
        };
        ExpertTraceFault::InEntry { layer, row, column, fault: Box::new(fault.into()) }
    }

    fn at(&self, layer: u64, row: u64, column: u64) -> Option<u64> {
        let [layers, rows, columns] = self.shape;
        let place = if self.is_by_column {
            (column * rows + row) * layers + layer
        } else {
            (layer * rows + row) * columns + column
        };
        self.numbers[place as usize]
    }
}

fn text(scanner: &mut Scanner<Source<'_>>, experts: u32, take: TakeEntry<'_>) -> Result<(), Stop> {
    let mut table = Table::new(scanner);
    let (mut is_first, mut is_of_pairs) = (true, None);
    // The rows of pairs of a layer, and the layer.
    let (mut block, mut layer) = (Vec::new(), 0);
    while let Some(fields) = table.next_row() {
        if std::mem::take(&mut is_first) && has_names(&fields) {
            continue;
        }
        let line = fields.number;
        let is_of_pairs = *is_of_pairs.get_or_insert_with(|| fields.count_of_table() == experts as usize);
        let numbers = numbers(fields, is_of_pairs, experts)?;
        let in_line = |fault| (line, 1, fault);
        if !is_of_pairs {
            let chosen: Vec<u32> = numbers[1..].iter().map(|&id| id as u32).collect();
            take(numbers[0], TraceEntry::Token(&chosen))
                .map_err(|fault| in_line(ExpertTraceFault::Refused(fault)))?;
            continue;
        }
        if numbers.len() != experts as usize {
            return Err(in_line(ExpertTraceFault::Columns { found: numbers.len(), experts }));
        }
        if layer >= MOST_LAYERS {
            return Err(in_line(ExpertTraceFault::TooManyLayers));
        }
        block.extend(numbers);
        if block.len() == experts as usize * experts as usize {
            let number = |row: u64, column: u64| block[(row * u64::from(experts) + column) as usize];
            pairs(layer, experts, &number, take).map_err(in_line)?;
            block.clear();
            layer += 1;
        }
    }
    match block.len() / experts.max(1) as usize {
        0 => Ok(()),
        rows => Err((table.next_line(), 1, ExpertTraceFault::Rows { rows, experts })),
    }
}

/// Whether the first field starts with a letter, as in a line of names.
fn has_names(fields: &Fields<'_>) -> bool {
    let mut fields = *fields;
    let first = fields.next_of_table().and_then(|field| field.text.first());
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte >= 128)
}

/// The numbers of a line: counts, or a layer and experts; fields may be empty behind the layer.
fn numbers(mut fields: Fields<'_>, are_counts: bool, experts: u32) -> Result<Vec<u64>, Stop> {
    let mut numbers = Vec::new();
    while let Some(field) = fields.next_of_table() {
        let (what, greatest) = match (are_counts, numbers.len()) {
            (true, _) => ("a number of tokens", u64::MAX),
            (false, 0) => ("a layer", MOST_LAYERS - 1),
            (false, _) => ("an expert", u64::from(experts) - 1),
        };
        if field.text.is_empty() && !are_counts && !numbers.is_empty() {
            continue;
        }
        let number = number::whole(field.text);
        let reason = match number {
            Ok(number) if number <= greatest => {
                numbers.push(number);
                continue;
            }
            Ok(_) => NumberFault::TooLarge,
            Err(kind) => kind.into(),
        };
        let text = shortened(field.text);
        let fault = ExpertTraceFault::NotANumber { what, text, reason, least: 0, greatest };
        return Err((fields.number, field.column, fault));
    }
    Ok(numbers)
}

/// Reads numbers of copies: a line for each layer, or one for all, with a number from 1 for each expert. O(file).
pub fn read_copies(source: Source<'_>) -> Result<Vec<Vec<u32>>, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    let mut table = Table::new(&mut scanner);
    let mut rows = Vec::new();
    let mut stop = None;
    'rows: while let Some(mut fields) = table.next_row() {
        let mut row = Vec::new();
        while let Some(field) = fields.next_of_table() {
            match number::whole(field.text) {
                Ok(copies @ 1..=0xffff) => row.push(copies as u32),
                _ => {
                    let (text, expected) = (shortened(field.text), "a number of copies, from 1 to 65535");
                    stop =
                        Some((fields.number, field.column, ExpertTraceFault::Unexpected { text, expected }));
                    break 'rows;
                }
            }
        }
        rows.push(row);
    }
    if let Some(error) = scanner.early_end(&name) {
        return Err(error);
    }
    match stop {
        Some(stop) => Err(invalid(name, stop)),
        None => Ok(rows),
    }
}
