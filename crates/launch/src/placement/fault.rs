//! Faults in files that have the places of ranks.

use viem::base::error::{ErrorKind, HasKind};
use viem::base::text::{Place, counted};
use viem::base::types::NodeId;
use viem_cluster::files::names::UnclearHost;

/// A fault in a file that has the places of ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum PlacementFault {
    #[error("`{text}` is no line of a rankfile, such as `rank 3=n1 slot=0:12`")]
    RankLine { text: String },
    #[error(
        "`{text}` is no slot that is understood here; slots are logical numbers such as 0:12 or 0:4-7 (package and cores), or 12 (a core)"
    )]
    Slot { text: String },
    #[error("`{text}` is no line of a host, the number of one of its GPUs, and a rank")]
    GpuLine { text: String },
    #[error("host {host} has no processing element {number}, counted from 0; the machine has {count} there")]
    NoSuchGpu { host: String, number: u64, count: usize },
    #[error("this is not JSON: {reason}")]
    Json { reason: String },
    #[error("this has no list `pods`")]
    NoPods,
    #[error(
        "pod {number}, counted from 0, needs a `host`, a list `gpus` of numbers, and a list `ranks` of as many"
    )]
    Pod { number: usize },
    #[error("{reason}")]
    Hosts { reason: String },
    #[error("`{text}` is no rank; the ranks are 0 to {last}")]
    Rank { text: String, last: usize },
    #[error("rank {rank} is listed here a second time; each rank has one place")]
    RankTwice { rank: NodeId },
    #[error("the file has places for {found} of {ranks}", ranks = counted(expected, "rank", "ranks"))]
    TooFew { found: usize, expected: usize },
    #[error(
        "the file has places for more than {ranks}, which is all that the graph has",
        ranks = counted(expected, "rank", "ranks")
    )]
    TooMany { expected: usize },
    #[error("host {host} is not in the machine, which has {known}")]
    UnknownHost { host: String, known: String },
    #[error(transparent)]
    UnclearHost(#[from] UnclearHost),
    #[error(
        "this file names hosts, but the machine has none; give a machine with hosts, such as hosts:FILE,node=16:2"
    )]
    NoHosts,
    #[error("host {host} of the machine has no processing element on the cores or CPUs `{text}`")]
    NoSuchCores { host: String, text: String },
    #[error(
        "the processing elements of host {host} that rank {rank} may be on are taken; give each rank cores of its own"
    )]
    Full { host: String, rank: NodeId },
    #[error(
        "the file has {lines}, but the machine has {elements}; it must have a line for each",
        lines = counted(found, "line", "lines"),
        elements = counted(expected, "processing element", "processing elements")
    )]
    Lines { found: usize, expected: usize },
    #[error("this is no script that binds ranks: it has no line `{line}`")]
    NoBindings { line: &'static str },
    #[error("`{text}` is no list of CPUs, such as 0,4")]
    CpuLine { text: String },
    #[error("CPUs by a script belong to a list of hosts, but this is {kind}")]
    NotBound { kind: &'static str },
    #[error(
        "the machine has {elements} for {ranks}",
        elements = counted(pes, "processing element", "processing elements"),
        ranks = counted(ranks, "rank", "ranks")
    )]
    NoRoom { pes: usize, ranks: usize },
}

impl HasKind for PlacementFault {
    fn kind(&self) -> ErrorKind {
        ErrorKind::BadData
    }
}

/// A fault and where it is.
pub(super) type Fault = (Place, PlacementFault);
