//! Why an audit fails.

/// The reason why an audit failed. Lines are numbered from 1, processes and PEs from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum AuditError {
    #[error("graph, line {line}: {reason}")]
    Graph { line: usize, reason: &'static str },
    #[error("workload, word {word}: {reason}")]
    Workload { word: usize, reason: &'static str },
    #[error("model, vertex {block} from 0: {reason}")]
    Model { block: usize, reason: &'static str },
    #[error("experts: {reason}")]
    Experts { reason: &'static str },
    #[error("machine: {reason}")]
    Machine { reason: &'static str },
    #[error("mapping, line {line}: not a processing element")]
    Mapping { line: usize },
    #[error("the mapping has {lines} lines for {processes} processes")]
    Sizes { lines: usize, processes: usize },
    #[error("processes {first} and {second} are both on processing element {pe}")]
    PeTaken { first: usize, second: usize, pe: u64 },
    #[error("fixed processes, line {line}: malformed")]
    FixedLine { line: usize },
    #[error("process {process} is on processing element {found}, but fixed on {expected}")]
    Fixed { process: usize, expected: u64, found: u64 },
    #[error("the hierarchy has {levels} levels but {distances} distances")]
    Levels { levels: usize, distances: usize },
    #[error("problem: {reason}")]
    Problem { reason: &'static str },
    #[error("J exceeds 128 bits")]
    Overflow,
}
