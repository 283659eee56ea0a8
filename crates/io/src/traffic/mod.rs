//! Recorded traffic of jobs: files of several kinds, summed into one communication graph.
//!
//! | member | file | kind of file |
//! |---|---|---|
//! | `openmpi` | `openmpi.rs` | Open MPI's monitoring component |
//! | `matrix` | `matrix.rs` | n lines of n numbers, as TreeMatch has them |
//! | `edges` | `edges.rs` | edge list or CSV |
//! | `mtx` | `matrix_market.rs` | Matrix Market, coordinates |
//! | `scotch` | `scotch.rs` | Scotch source graph |
//! | `aps` | `aps.rs` | rank-to-rank table of Intel's Application Performance Snapshot |
//! | `trace` | `trace.rs` | the files of `bindings/mpi/trace/viem_trace.c` |
//! | `npy` | `npy.rs` | an array of NumPy |
//! | `json` | `node_link.rs` | a graph as node-link JSON |
//! | `graphml` | `graphml.rs` | a graph in GraphML |
//! | `nccl` | `nccl.rs` | logs of NCCL |
//! | `kineto` | `kineto.rs` | traces of PyTorch's profiler |
//! | `goal` | `goal/` | GOAL schedules |
//! | `paje` | `paje.rs` | links of traces in the Paje format |
//! | `simgrid` | `simgrid.rs` | time-independent traces of SimGrid |
//!
//! A [`Recording`] reads something else from the files of `bindings/mpi/trace/viem_trace.c`: the order of messages, of which
//! `workload::recorded` makes a workload.
//!
//! A member is one file and one line in [`Format::ALL`]. Each reader scans its text once and hands every flow
//! (from rank, to rank, bytes, messages) to a [`Collector`], which sums them by pair, whatever the order, and
//! makes the graph. Memory: 24 bytes for each pair and as many again for flows that are not merged yet.
//!
//! # Design
//!
//! Each kind of file (`crates/io/src/traffic/`) has one reader, which passes on flows: from rank, to rank, bytes, messages. The collector does what
//! all of them need: classes of traffic, traffic of a rank with itself, missing ranks, sums. Flows are collected in one array that is sorted
//! and merged whenever it has doubled. That takes 24 bytes per flow and no hash table, and neighbours come out sorted. A reader takes whole
//! lines (`Scanner::next_line`) where a line is a record, and tokens where a line may be long.
//!
//! The recorder `bindings/mpi/trace/viem_trace.c` defines both names of each MPI function, `MPI_X` and `PMPI_X`, because some Fortran bindings call the
//! latter; it looks up the library's own `PMPI_X` with the dynamic linker. What is known of a communicator is attached to it as an attribute,
//! so it is freed with the communicator. The last communicator and the last type are cached until one of either kind is freed. Persistent
//! operations record a plan, and each start repeats it. An algorithm of a collective is written once, and says both what is counted and what
//! comes next in the order of messages. Functions with counts are written once and compiled twice, for `int` and for
//! `MPI_Count`.

mod aps;
mod collective;
mod collector;
mod edges;
mod fields;
mod goal;
mod graphml;
mod ids;
mod kineto;
mod matrix;
mod matrix_market;
mod mirror;
mod named;
mod nccl;
mod node_link;
mod note;
mod npy;
mod openmpi;
mod order;
mod pairs;
mod paje;
mod scotch;
mod simgrid;
mod trace;
mod weighing;

use std::fmt;

pub use collector::{ClassTally, Collector, LeftOut, Sizes, Summary, Tally, TrafficConfig, TrafficError};
pub use goal::{is_goal, read_goal, relabel_goal};
pub use note::{NoTraffic, TrafficNote};
pub use order::{Act, Recording, Step, is_order};
pub use weighing::{Share, ShareError, Weighing, WeighingError};

use self::collector::Inlet;
use super::reading::{Reading, listed};
use super::scanner::{LONGEST_LINE, Scanner};
use super::{ContentError, ReadError, Source};
use viem::ground::number::{NumberFault, TextKind};

/// Bytes at the start of a file by which its kind is recognised.
pub const WINDOW: usize = 1 << 16;

/// Ranks that a job has at most: more than any machine has cores. It keeps a file with one absurd number in
/// it from taking all memory.
pub const MOST_RANKS: u64 = 1 << 24;

/// Ranks that files may speak of in a few lines.
const FREE_RANKS: u64 = 1 << 20;
/// Ranks of a larger job for each line, at most, so that memory is taken for what stands in the files.
const MOST_RANKS_OF_A_LINE: u64 = 64;

/// Whether so many lines are too few for a job of so many ranks.
fn is_sparse(ranks: u64, lines: u64) -> bool {
    ranks > FREE_RANKS.max(lines.saturating_mul(MOST_RANKS_OF_A_LINE))
}

/// A kind of file that traffic is read from.
#[derive(Clone, Copy)]
pub struct Format {
    name: &'static str,
    title: &'static str,
    classes: &'static [Class],
    /// Whether ranks that recorded nothing are worth a word: each rank has lines of its own.
    tells_recorders: bool,
    /// Whether ranks may be counted from 0 or from 1.
    guesses_first_rank: bool,
    /// Whether such a file may be an application graph, too, instead of what a program has recorded.
    is_graph: bool,
    /// What may be amiss where files of this kind hold no traffic, if it is known.
    if_empty: &'static str,
    /// Whether the start of a file shows for certain that it is of this kind.
    is_certain: fn(&[u8]) -> bool,
    read: fn(&mut Scanner<Source<'_>>, &mut Inlet<'_>) -> Result<(), Stop>,
}

/// A class of traffic that a file distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Class {
    /// Its name, as the files have it.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Whether it is summed unless something else is asked for.
    pub is_default: bool,
}

impl Format {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        openmpi::FORMAT,
        matrix::FORMAT,
        edges::FORMAT,
        matrix_market::FORMAT,
        scotch::FORMAT,
        aps::FORMAT,
        trace::FORMAT,
        npy::FORMAT,
        node_link::FORMAT,
        graphml::FORMAT,
        nccl::FORMAT,
        kineto::FORMAT,
        goal::FORMAT,
        paje::FORMAT,
        simgrid::FORMAT,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// What it is, in a few words.
    pub fn title(self) -> &'static str {
        self.title
    }

    /// The classes of traffic that it distinguishes; at least one.
    pub fn classes(self) -> &'static [Class] {
        self.classes
    }

    /// Whether such a file may be an application graph, too, instead of what a program has recorded.
    pub fn is_graph(self) -> bool {
        self.is_graph
    }

    /// Whether a file that starts with these bytes says itself that it is of this kind.
    pub fn is_certain(self, start: &[u8]) -> bool {
        (self.is_certain)(start)
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The one class of files that tell none apart.
const ALL_TRAFFIC: &[Class] = &[Class { name: "all", title: "all traffic", is_default: true }];

/// What is wrong with a file of traffic. Ranks are named as the file numbers them.
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
    #[error("this is {}; name its kind", listed(readings))]
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
        "{count} ranks are too many for a schedule of {lines} operations; at least every {MOST_RANKS_OF_A_LINE}th has one"
    )]
    Sparse { count: u64, lines: u64 },
    #[error(
        "this file is about {found} ranks, but one before it about {earlier}: they are not of the same job"
    )]
    OtherSize { found: u64, earlier: u64 },
    #[error("the schedule has {found} ranks, but {expected} are mapped")]
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
    #[error("the line has {found} columns, but the first one has {expected}")]
    OtherColumns { found: usize, expected: usize },
    #[error("the line names {names} columns, but the first row has {columns} numbers")]
    Names { names: usize, columns: usize },
    #[error("the line has {found} columns; an edge has 2 to 4: source, target, weight, messages")]
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
    #[error("the field is empty; {expected} should stand here")]
    EmptyField { expected: &'static str },
    #[error("the line is longer than {} MiB, which is the most that is read as one", LONGEST_LINE >> 20)]
    LineTooLong,
    #[error(
        "the edge from {from} to {to} stands here with weight {weight}, but its way back is missing or has another weight"
    )]
    Asymmetric { from: u64, to: u64, weight: u64 },
}

impl TrafficFault {
    /// A text that is not the whole number it should be.
    fn not_a_number(text: String, kind: TextKind, expected: &'static str) -> Self {
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
    Format::ALL.map(Format::name).join(", ")
}

/// A fault and its place, which ends the reading of a file.
#[derive(Debug)]
struct Stop {
    line: u64,
    column: u64,
    fault: TrafficFault,
}

impl Stop {
    /// The fault of a file, as an error.
    fn invalid(self, file: String) -> ReadError {
        let Self { line, column, fault } = self;
        ReadError::Invalid { file, line, column, kind: ContentError::new(fault) }
    }
}

/// What a reader makes of a whole file, unless reading it fails.
fn read_whole<T>(
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

/// Whether a job may have so many ranks, after what was said of their number before.
fn check_ranks(count: u64, earlier: Option<u64>) -> Result<(), TrafficFault> {
    match earlier {
        _ if count > MOST_RANKS => Err(TrafficFault::TooManyRanks { count }),
        Some(earlier) if earlier != count => Err(TrafficFault::OtherSize { found: count, earlier }),
        _ => Ok(()),
    }
}

/// What a whole number is expected to be: words for messages.
mod expected {
    pub(super) const RANK: &str = "a rank (a whole number)";
    pub(super) const BYTES: &str = "a number of bytes (a whole number from 0 to 2^64 - 1)";
    pub(super) const MESSAGES: &str = "a number of messages (a whole number from 0 to 2^64 - 1)";
    pub(super) const WEIGHT: &str = "a weight (a whole number from 0 to 2^64 - 1; scale fractions up first)";
}
