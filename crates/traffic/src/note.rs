//! Notes for the user about a sum of recorded traffic.

use std::fmt::{self, Display, Formatter};

use viem::base::text::ranges;
use viem::base::types::NodeId;

/// A likely mistake, or something that was skipped. Ranks are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrafficNote {
    /// No rank sends anything to another one, so that a graph has no edges.
    NoTraffic {
        /// Why.
        reason: NoTraffic,
        /// The likely place of the traffic that the files do not hold.
        advice: &'static str,
    },
    /// Ranks of which no file holds anything, of a kind in which each rank records itself.
    SilentRanks(Vec<NodeId>),
    /// Matrices that are zero on the other diagonal and symmetric about it: their last row may be that of rank 0.
    UpsideDown,
    /// Messages have no sizes, so that each weighs 1.
    CountedMessages,
    /// A schedule names network adapters of ranks, which are skipped.
    Adapters {
        /// The highest one.
        greatest: u64,
    },
}

/// The reason why a graph of recorded traffic has no edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoTraffic {
    /// No file names any traffic.
    Nothing,
    /// Calls could not be counted, and there is nothing else.
    Uncounted,
    /// All of it is of classes that are left out.
    OtherClasses,
    /// No traffic goes from one rank to another one of the job.
    WithinRanks,
    /// All of it weighs zero.
    Weightless,
}

impl NoTraffic {
    fn words(self) -> &'static str {
        match self {
            Self::Nothing => "the files hold no traffic",
            Self::Uncounted => "the files hold calls that could not be counted, and no other traffic",
            Self::OtherClasses => "all traffic in the files is of classes that are left out",
            Self::WithinRanks => {
                "all traffic in the files is of ranks with themselves or with processes outside of the job"
            }
            Self::Weightless => "all traffic in the files weighs zero",
        }
    }
}

impl Display for TrafficNote {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTraffic { reason, advice: "" } => write!(f, "nothing is exchanged: {}", reason.words()),
            Self::NoTraffic { reason, advice } => {
                write!(f, "nothing is exchanged: {}; {advice}", reason.words())
            }
            Self::SilentRanks(ranks) => write!(
                f,
                "what ranks {} send is not in the graph: no file holds anything that they recorded",
                ranges(ranks)
            ),
            Self::UpsideDown => f.write_str(
                "the matrix is zero on the diagonal from the lower left to the upper right, and symmetric about it: it seems to be printed \
                 from the last row to the first; reverse its lines if so",
            ),
            Self::CountedMessages => f.write_str("messages have no sizes in the files: each weighs 1"),
            Self::Adapters { greatest } => write!(
                f,
                "network adapters of ranks (`nic`, up to {greatest}) are passed over: a rank is one vertex, whichever of them it uses"
            ),
        }
    }
}
