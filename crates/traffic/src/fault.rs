//! Faults in files of traffic, with their places.

use super::ranks::{MOST_RANKS, MOST_RANKS_OF_A_LINE};
use viem::base::number::{NumberFault, TextKind};
use viem::base::text::counted;
use viem_io::scanner::Scanner;
use viem_io::signature::TRAFFIC;
use viem_io::{ContentError, ReadError, Reading, Source};

/// A fault in a file of traffic. Ranks are named as the file numbers them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum TrafficFault {
    #[error("this is no file of a known kind ({}); name its kind", kinds())]
    Unrecognised,
    #[error(
        "this looks like {reading}, not like a file of a known kind ({}); name its kind if it is one",
        kinds()
    )]
    LooksLike { reading: Reading },
    #[error("this is {}; name its kind", Reading::listed(readings))]
    Ambiguous { readings: Vec<Reading> },
    #[error(
        "this is a file of kind {found}, but the files before it are of kind {expected}; sum them one by one"
    )]
    OtherKind { found: &'static str, expected: &'static str },
    #[error("`{text}` is not {expected}")]
    Unexpected { text: String, expected: &'static str },
    #[error("`{text}` {reason}: it is not {expected}")]
    OutOfRange { text: String, reason: NumberFault, expected: &'static str },
    #[error("{expected} is missing here; is the file cut off?")]
    Missing { expected: &'static str },
    #[error("`{text}` is too much; the line is complete before it")]
    TooMuch { text: String },
    #[error("rank {rank} does not exist; the file is about the ranks {first} to {last}")]
    NoSuchRank { rank: u64, first: u64, last: u64 },
    #[error("a job of {count} ranks is too large; at most {MOST_RANKS} are supported")]
    TooManyRanks { count: u64 },
    #[error(
        "{count} ranks are too many for a schedule of {operations}; at least every {MOST_RANKS_OF_A_LINE}th has one",
        operations = counted(lines, "operation", "operations")
    )]
    Sparse { count: u64, lines: u64 },
    #[error(
        "this file is about {ranks}, but one before it about {earlier}: they are not of the same job",
        ranks = counted(found, "rank", "ranks")
    )]
    OtherSize { found: u64, earlier: u64 },
    #[error("the schedule has {ranks}, but {expected} are mapped", ranks = counted(found, "rank", "ranks"))]
    OtherNumber { found: u64, expected: u64 },
    #[error(
        "the recorder has cut this file off after {steps} sends and receives; record a shorter run, of fewer iterations"
    )]
    CutOff { steps: u64 },
    #[error("a receive {of} may get one of several messages, so the schedule has no order")]
    AnyMessage { of: &'static str },
    #[error("there is no network adapter {nic} of a rank; there are {count}, numbered from 0")]
    NoSuchAdapter { nic: u64, count: u64 },
    #[error("a second operation of the rank is called {label}")]
    LabelTwice { label: String },
    #[error("no operation of the rank is called {label}")]
    NoSuchLabel { label: String },
    #[error("operations of rank {rank} wait for each other in a circle")]
    LabelsInCircle { rank: u64 },
    #[error("rank {rank} has a file already: these are files of several runs")]
    RankTwice { rank: u64 },
    #[error(
        "the line has {columns}, but the first one has {expected}",
        columns = counted(found, "column", "columns")
    )]
    OtherColumns { found: usize, expected: usize },
    #[error(
        "the line names {columns}, but the first row has {numbers}",
        numbers = counted(columns, "number", "numbers"),
        columns = counted(names, "column", "columns")
    )]
    Names { names: usize, columns: usize },
    #[error(
        "the line has {columns}; an edge has 2 to 4: source, target, weight, messages",
        columns = counted(found, "column", "columns")
    )]
    EdgeColumns { found: usize },
    #[error("the first line names no column for {what}; it may be called {names}")]
    NoColumn { what: &'static str, names: String },
    #[error("the first line names a second column for {what} here; only one may be called {names}")]
    ColumnTwice { what: &'static str, names: String },
    #[error("`size` may be that of each message or of all {count} of a line together; say which")]
    SizeOfEachOrAll { count: String },
    #[error("{messages} messages of {size} bytes are more than 2^64 - 1 bytes")]
    TooManyBytes { size: u64, messages: u64 },
    #[error("a second node is called {name}")]
    NodeTwice { name: String },
    #[error("there is no node {name}")]
    NoSuchNode { name: String },
    #[error("this is not JSON: {reason}")]
    Json { reason: String },
    #[error("this cannot be read as XML: {reason}")]
    Xml { reason: String },
    #[error("edge {number}: {fault}")]
    InEdge { number: u64, fault: Box<TrafficFault> },
    #[error("{called} moves more than 2^64 - 1 bytes")]
    TooManyElements { called: String },
    #[error("event {number}: {fault}")]
    InEvent { number: u64, fault: Box<TrafficFault> },
    #[error("the field is empty; {expected} should be here")]
    EmptyField { expected: &'static str },
    #[error(
        "the edge from {from} to {to} has weight {weight} here, but its way back is missing or has another weight"
    )]
    Asymmetric { from: u64, to: u64, weight: u64 },
}

impl TrafficFault {
    /// A text that is not the whole number it should be.
    pub(super) fn not_a_number(text: String, kind: TextKind, expected: &'static str) -> Self {
        match kind {
            TextKind::Negative(_) | TextKind::TooLarge => {
                Self::OutOfRange { text, reason: kind.into(), expected }
            }
            _ => Self::Unexpected { text, expected },
        }
    }
}

/// The names of all kinds.
fn kinds() -> String {
    let names = TRAFFIC.iter().filter_map(|(reading, _)| reading.traffic_kind());
    names.collect::<Vec<_>>().join(", ")
}

/// A fault and its place, which ends the reading of a file.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) fault: TrafficFault,
}

impl Stop {
    /// The fault of a file, as an error.
    pub(super) fn invalid(self, file: String) -> ReadError {
        let Self { line, column, fault } = self;
        ReadError::Invalid { file, line, column, kind: ContentError::new(fault) }
    }
}

/// Returns the result of a reader for a whole file, unless reading it fails.
pub(super) fn read_whole<T>(
    source: Source<'_>,
    read: impl FnOnce(&mut Scanner<Source<'_>>) -> Result<T, Stop>,
) -> Result<T, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    let result = read(&mut scanner);
    match scanner.early_end(&name) {
        Some(error) => Err(error),
        None => result.map_err(|stop| stop.invalid(name)),
    }
}

/// Checks a number of ranks against the limit and against an earlier statement.
pub(super) fn check_ranks(count: u64, earlier: Option<u64>) -> Result<(), TrafficFault> {
    match earlier {
        _ if count > MOST_RANKS => Err(TrafficFault::TooManyRanks { count }),
        Some(earlier) if earlier != count => Err(TrafficFault::OtherSize { found: count, earlier }),
        _ => Ok(()),
    }
}

/// Words of messages for the expected kind of a whole number.
pub(super) mod expected {
    pub(crate) const RANK: &str = "a rank (a whole number)";
    pub(crate) const BYTES: &str = "a number of bytes (a whole number from 0 to 2^64 - 1)";
    pub(crate) const MESSAGES: &str = "a number of messages (a whole number from 0 to 2^64 - 1)";
    pub(crate) const WEIGHT: &str = "a weight (a whole number from 0 to 2^64 - 1; scale fractions up first)";
}
