//! Faults in traces, with their places.

use viem::base::settings::named;
use viem_io::array::ArrayFault;
use viem_io::npz::ArchiveFault;
use viem_io::{ContentError, NumberFault};

/// Upper limit on the layers of a model.
pub const MOST_LAYERS: u64 = 1 << 12;

named! {
    /// The kind of information in a file about the experts that tokens choose.
    pub enum TraceKind: "kind of trace" {
        /// The experts of each token.
        Choices = "choices",
        /// Numbers of tokens that have chosen two experts.
        Pairs = "pairs",
        /// Numbers of tokens that have chosen an expert.
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

/// A fault in a trace.
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

/// A fault and its line and column.
pub(super) type Stop = (u64, u64, ExpertTraceFault);

/// A fault in a file without lines.
pub(super) fn at_start(fault: ExpertTraceFault) -> Stop {
    (1, 1, fault)
}
