//! What is known of the experts that tokens choose, layer by layer; and numbers of copies of experts.
//!
//! | file | what it holds | kind |
//! |---|---|---|
//! | `.npy`, or `.npz` with one array | layers x tokens x choices: the experts of each token; -1 is none | choices |
//! | | layers x tokens x experts: 0 for each expert that is not chosen | choices |
//! | | layers x experts x experts, symmetric: how many tokens have chosen both; on the diagonal, how many have chosen one | pairs |
//! | | layers x experts: how many tokens have chosen each | loads |
//! | text | a line for each token and layer: the layer, then the experts | choices |
//! | | or so many lines as there are experts for each layer, of as many numbers: how many tokens have chosen both | pairs |
//! | | or a line for each layer and expert: the layer, the expert, how many tokens have chosen it | loads |
//! | | or a line for each layer with a number for each expert: how many tokens have chosen it | loads |
//! | | or either kind of line for each step, which a further column names; loads are summed | loads |
//!
//! An array of two dimensions is a single layer of choices or pairs. Layers, tokens and experts count from 0. Fields of a text stand between
//! blanks, commas or semicolons; a first line may name the columns. Which of the shapes it is follows from the number of experts, which must be
//! given, from these names, and from the numbers. A file that may be of two kinds is refused, unless the kind is given.
//!
//! | member | what it does |
//! |---|---|
//! | `array` | reads arrays |
//! | `text` | reads texts |
//! | `columns` | what the names over columns say |
//! | `loads` | loads that need not be whole numbers |

mod array;
mod columns;
mod loads;
mod text;

use std::io::Read;

use viem::ground::number;
use viem::ground::settings::named;
use viem_io::array::{ArrayFault, MARK};
use viem_io::npz::{self, ArchiveFault};
use viem_io::scanner::Scanner;
use viem_io::table::{Table, shortened};
use viem_io::{ContentError, NumberFault, ReadError, Source};

/// Upper limit on the layers of a model.
pub const MOST_LAYERS: u64 = 1 << 12;

named! {
    /// What a file says of the experts that tokens choose.
    pub enum TraceKind: "kind of trace" {
        /// The experts of each token.
        Choices = "choices",
        /// How many tokens have chosen two experts.
        Pairs = "pairs",
        /// How many tokens have chosen an expert.
        Loads = "loads",
    }
}

impl TraceKind {
    fn in_words(self) -> &'static str {
        match self {
            Self::Choices => "choices (the experts of each token)",
            Self::Pairs => "pairs (how many tokens have chosen two experts)",
            Self::Loads => "loads (how many tokens have chosen an expert)",
        }
    }
}

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
    #[error("`{text}` {reason}; a load is a number from 0")]
    NoLoad { text: String, reason: NumberFault },
    #[error(
        "`{text}` is not one of the {experts} experts, which count from 0; if it counts tokens, let a first line name the columns, such as layer,expert,count"
    )]
    NoExpert { text: String, experts: u32 },
    #[error(
        "`{text}` is not one of the {experts} experts, which count from 0; if entries count tokens, the last dimension must be that of the experts"
    )]
    NoExpertInArray { text: String, experts: u32 },
    #[error(
        "an array of {shape} is no trace of {experts} experts: it has layers, tokens, and the experts of each token, all experts, or pairs of them; or layers and the loads of all experts"
    )]
    Shape { shape: String, experts: u32 },
    #[error("an array of {shape} has the loads of the experts several times; sum them to layers x experts")]
    Summands { shape: String },
    #[error("layer {layer}, row {row}, column {column}: {fault}")]
    InEntry { layer: u64, row: u64, column: u64, fault: Box<ExpertTraceFault> },
    #[error("layer {layer}, token {token}: {fault}")]
    InToken { layer: u64, token: u64, fault: ContentError },
    #[error(transparent)]
    Refused(ContentError),
    #[error("the line has {found} numbers; a row of pairs has {experts}, one for each expert")]
    Columns { found: usize, experts: u32 },
    #[error("the line has {found} fields, but those before it have {expected}")]
    OtherColumns { found: usize, expected: usize },
    #[error("the last layer has {rows} rows of pairs instead of {experts}")]
    Rows { rows: usize, experts: u32 },
    #[error("there are {found} loads of a layer of {experts} experts")]
    OtherLoads { found: usize, experts: u32 },
    #[error("layer {layer}: experts {row} and {column} have other numbers of tokens than {column} and {row}")]
    Asymmetric { layer: u64, row: u32, column: u32 },
    #[error(
        "this may hold {} or {}; {why}; say which it holds",
        kinds[0].in_words(), kinds[1].in_words()
    )]
    Ambiguous { kinds: [TraceKind; 2], why: &'static str },
    #[error(
        "nothing is known of a column called `{name}` beside experts; leave it out, or call it layer, token, expert or count"
    )]
    UnknownColumn { name: String },
    #[error("the first line names no column for {what}")]
    NoColumn { what: &'static str },
    #[error("`{name}` is a second column for {what}; leave one of them out")]
    ColumnTwice { what: &'static str, name: String },
    #[error(
        "a column called `{name}` beside the experts of tokens may hold numbers of tokens or shares of a token; leave it out"
    )]
    CountOfChoices { name: String },
    #[error(
        "layer {layer} has token `{token}` again, not in successive lines; sort the lines, or leave out the column of tokens"
    )]
    TokenAgain { layer: u64, token: String },
    #[error("this is a further layer; at most {MOST_LAYERS} are supported")]
    TooManyLayers,
    #[error("this zip archive is not as NumPy writes them: {reason}")]
    Archive { reason: String },
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
    /// How many tokens have chosen an expert, where pairs or loads are counted.
    Load(u32, u64),
}

/// What takes the entries of a layer, one after the other.
pub type TakeEntry<'a> = &'a mut dyn FnMut(u64, TraceEntry<'_>) -> Result<(), ContentError>;

/// What was found beside the entries of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceFound {
    /// What it holds.
    pub kind: TraceKind,
    /// Loads are in units of 10^-`decimals` tokens.
    pub decimals: u32,
    /// Whether loads had more decimal places than that, and were rounded.
    pub is_rounded: bool,
    /// Columns that were passed over, by their names.
    pub passed_over: Vec<String>,
    /// Columns that say when or where loads were counted, by their names. Loads are summed over them.
    pub summed_over: Vec<String>,
}

impl TraceFound {
    fn whole(kind: TraceKind) -> Self {
        Self { kind, decimals: 0, is_rounded: false, passed_over: Vec::new(), summed_over: Vec::new() }
    }
}

/// A fault and its line and column.
type Stop = (u64, u64, ExpertTraceFault);

/// A fault of what has no lines.
fn at_start(fault: ExpertTraceFault) -> Stop {
    (1, 1, fault)
}

fn invalid(file: String, (line, column, fault): Stop) -> ReadError {
    ReadError::Invalid { file, line, column, kind: ContentError::new(fault) }
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
    let mut array = Vec::new();
    let read = npz::array(&bytes).and_then(|mut unpacked| Ok(unpacked.read_to_end(&mut array)?));
    read.map_err(|fault| invalid(name, at_start(fault.into())))?;
    Ok(array)
}

/// Reads a trace of `experts` experts, of a kind that is given or recognised, and passes on each of its entries with its layer, layer after layer
/// if it is an array. O(file).
pub fn read(
    source: Source<'_>,
    experts: u32,
    kind: Option<TraceKind>,
    take: TakeEntry<'_>,
) -> Result<TraceFound, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    let result = if scanner.at_hand().starts_with(MARK) {
        array::read(&mut scanner, experts, kind, take)
    } else if scanner.at_hand().starts_with(npz::MARK) {
        let archive = scanner.rest();
        npz::array(&archive).map_err(|fault| at_start(fault.into())).and_then(|unpacked| {
            let mut scanner = Scanner::new(unpacked);
            let result = array::read(&mut scanner, experts, kind, take);
            // A failed read ends the array, and is the reason for whatever is missing then.
            let failure = scanner.failure().map(|error| at_start(ArchiveFault::from(error).into()));
            failure.map_or(result, Err)
        })
    } else {
        text::read(&mut scanner, experts, kind, take)
    };
    if let Some(error) = scanner.early_end(&name) {
        return Err(error);
    }
    result.map_err(|stop| invalid(name, stop))
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
