//! Errors of placements of experts, and limits of their sizes.

use viem::base::error::{ErrorKind, HasKind};
use viem::base::settings::ConfigError;
use viem::base::text::counted;
use viem::base::threads::ThreadsError;
use viem::base::types::{Distance, PeId};
use viem::machine::MachineError;

/// An expert of a layer, numbered from 0.
pub type ExpertId = u32;

/// Upper limit on the copies of all experts of a layer.
pub const MOST_COPIES: usize = 1 << 12;

/// Upper limit on the tokens of a layer.
pub(super) const MOST_TOKENS: u64 = 1 << 40;

/// The reason why there is no placement of experts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ExpertError {
    #[error("the expert {expert} does not exist; a layer has {experts}, from 0")]
    NoSuchExpert { expert: u64, experts: ExpertId },
    #[error("a token has expert {expert} twice")]
    Twice { expert: ExpertId },
    #[error(
        "a layer has {experts}; from 1 to {MOST_COPIES} are supported",
        experts = counted(experts, "expert", "experts")
    )]
    NumExperts { experts: u64 },
    #[error("a layer has more than 2^40 tokens")]
    TooManyTokens,
    #[error("the loads of a layer sum to more than 2^52")]
    TooMuchLoad,
    #[error("there is no layer")]
    NoLayers,
    #[error(
        "layer {layer} has {copies} of experts, but other layers have {others}",
        copies = counted(copies, "copy", "copies")
    )]
    UnequalLayers { layer: usize, copies: usize, others: usize },
    #[error(
        "{layers} have copies of experts, but {expected} have tokens",
        layers = counted(found, "layer", "layers")
    )]
    OtherLayers { found: usize, expected: usize },
    #[error(
        "the older placement has {layers}, but {expected} have tokens",
        layers = counted(found, "layer", "layers")
    )]
    OldLayers { found: usize, expected: usize },
    #[error("the older placement has {found} slots in each layer, but the new one has {expected}")]
    OldSlots { found: usize, expected: usize },
    #[error("the older placement is one of {found} experts, but there are {expected}")]
    OldExperts { found: ExpertId, expected: ExpertId },
    #[error("layer {layer} has no copy of expert {expert}")]
    NoCopy { layer: usize, expert: ExpertId },
    #[error(
        "{copies} of experts cannot be shared equally by {pes} GPUs; {fitting} replicas would fit",
        copies = counted(copies, "copy", "copies")
    )]
    Indivisible { copies: usize, pes: usize, fitting: usize },
    #[error(
        "a layer has {copies} of experts; at most {MOST_COPIES} are supported",
        copies = counted(copies, "copy", "copies")
    )]
    TooManyCopies { copies: usize },
    #[error(
        "the distances of the machine are not those of a tree, which costs of experts need: processing elements {} and {} are at distance {}, but \
         {} is at distances {} and {} from them",
        pes[0], pes[1], distances[0], pes[2], distances[1], distances[2]
    )]
    NoTree {
        /// Two PEs, and a third one.
        pes: [PeId; 3],
        /// The distance of the two, and those of either and the third one.
        distances: [Distance; 3],
    },
    #[error("tokens and distances are too large: the cost exceeds 2^62")]
    TooMuch,
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Threads(#[from] ThreadsError),
}

impl HasKind for ExpertError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchExpert { .. }
            | Self::Twice { .. }
            | Self::NumExperts { .. }
            | Self::TooManyTokens
            | Self::TooMuchLoad
            | Self::NoLayers
            | Self::UnequalLayers { .. }
            | Self::OtherLayers { .. }
            | Self::OldLayers { .. }
            | Self::OldSlots { .. }
            | Self::OldExperts { .. }
            | Self::NoCopy { .. }
            | Self::Indivisible { .. }
            | Self::TooManyCopies { .. }
            | Self::NoTree { .. }
            | Self::TooMuch
            | Self::Config(_) => ErrorKind::Usage,
            Self::Machine(error) => error.kind(),
            Self::Threads(error) => error.kind(),
        }
    }
}
