//! Why there is no traffic of a job.

use viem::base::error::{ErrorKind, HasKind};
use viem::base::settings::{ConfigError, UnknownName};
use viem::base::text::counted;
use viem::graph::GraphError;
use viem_workload::{MOST_WORK, WorkloadError};

/// Upper limit on the ranks of a job.
pub const MOST_TRAINING_RANKS: u64 = 1 << 20;

/// Upper limit on the pairs of ranks that all-to-alls connect.
pub(super) const MOST_PAIRS: u64 = 1 << 26;

/// The reason why there is no traffic of a job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum TrainingError {
    #[error("`{text}`: {reason}; parallelism is written like tp:8,cp:2,ep:8,pp:4,dp:16")]
    Parallel { text: String, reason: String },
    #[error("`{text}`: {reason}; an order lists tp, cp, ep, dp and pp from the innermost to the outermost")]
    Order { text: String, reason: &'static str },
    #[error("this is no dimension of the parallelism: {0}")]
    Dimension(#[from] UnknownName),
    #[error("the job has {ranks} places for ranks; at most {MOST_TRAINING_RANKS} are supported")]
    TooManyRanks { ranks: u64 },
    #[error("all-to-alls connect {pairs} pairs of ranks; at most {MOST_PAIRS} are supported")]
    TooManyPairs { pairs: u64 },
    #[error(
        "a stage of the pipelines of {stages} has tp · cp · dp = {ranks} ranks, which are not divisible among ep · etp = {experts}",
        stages = counted(depth, "stage", "stages")
    )]
    Experts { depth: u32, ranks: u64, experts: u64 },
    #[error("{what}")]
    Mismatch { what: &'static str },
    #[error(
        "{layers} are fewer than the {chunks} of a pipeline",
        layers = counted(layers, "layer", "layers"),
        chunks = counted(chunks, "chunk", "chunks")
    )]
    TooFewLayers { layers: u64, chunks: u64 },
    #[error("the traffic exceeds 2^62 bytes")]
    TooMuch,
    #[error("the messages of a step have more than {MOST_WORK} flits; a flit must have more bytes")]
    TooManyFlits,
    #[error("rank {}: {}", .0.task, .0.fault)]
    Workload(WorkloadError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl HasKind for TrainingError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Parallel { .. }
            | Self::Order { .. }
            | Self::Dimension(_)
            | Self::TooManyRanks { .. }
            | Self::TooManyPairs { .. }
            | Self::Experts { .. }
            | Self::Mismatch { .. }
            | Self::TooFewLayers { .. }
            | Self::TooMuch
            | Self::TooManyFlits
            | Self::Workload(_)
            | Self::Config(_)
            | Self::Graph(_) => ErrorKind::Usage,
        }
    }
}
