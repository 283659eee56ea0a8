//! An estimate of how long a workload takes with a mapping, without simulating it.
//!
//! # Problem
//!
//! Perego and De Petris, section 4: F(m) is the greatest R(m, n) of all PEs n (equation 2), and R estimates when PE n has done
//! all that its tasks do,
//!
//! ```text
//! R(m, n) = sum over tasks j on n of  w_j + q_j                                    computing and waiting      (3)
//!         + sum over channels (i, j) from elsewhere of  m_ij (d - 1)               distance                   (4)
//!         - sum over channels (i, j) inside n of  min(m_ij l_ij, q_ij)             messages that take no time (5)
//!         + sum over phases and channels (i, j) from elsewhere of
//!               sum over the others of its interference class of l_st / 2 |S|      contention                 (9)
//! ```
//!
//! with w, q, m, l and the phases of [`WorkloadModel`]. Two messages of a phase interfere if their routes share a link; interference
//! classes are the transitive closure (equation 7), found by union-find.
//!
//! # Beyond the paper
//!
//! Where a PE has several tasks, it is not idle while one of them waits. So there R(m, n) is the work of all its tasks, or what the
//! slowest of them takes by itself if that is more, instead of the sum of both. With one task a PE this is the same.
//!
//! Where messages pass link by link, (d - 1) is what a message takes longer than its length, and l is how long it holds its slowest
//! link: the length times the cost. For worms both are as in the paper. SEND and RECEIVE count as work.
//!
//! # Algorithm and cost
//!
//! From scratch O(sum over phases of channels times hops). [`Estimate::place`] moves one task: classes of its channels, and those
//! that the new routes touch, are taken apart and built again, and no others. Memory: 4 bytes for each lane and phase, 40 bytes for
//! each channel and phase. Sums are whole numbers, in parts of a cycle ([`PARTS`]): the mean length of a channel's messages and the
//! delay of a channel in a phase are rounded down to one. So both ways give the same.
//!
//! # Reference
//!
//! R. Perego and G. De Petris, *A new mapping heuristic for last generation multicomputers*, CNUCE C94-09, 1994.

use crate::ground::error::{ErrorKind, HasKind};

mod classes;
mod model;

pub use classes::{Estimate, NOWHERE};
pub use model::{ChannelModel, ChannelPhase, WorkloadModel};

/// Messages at most of a workload that is divided into phases: they take 24 bytes each.
pub const MOST_MESSAGES: u64 = 1 << 25;

/// Parts of a cycle in which F and R are summed.
pub const PARTS: i64 = 1 << 8;

/// Why there is no estimate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum EstimateError {
    #[error("the workload has {count} messages; {MOST_MESSAGES} at most can be divided into phases")]
    TooManyMessages { count: u64 },
    #[error(
        "the workload may take more than 2^52 cycles on this machine; give flits or distances in a larger unit"
    )]
    TooLong,
    #[error("{phases} phases on {lanes} links take more memory than can be taken")]
    TooLarge { phases: usize, lanes: usize },
}

impl HasKind for EstimateError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::TooManyMessages { .. } | Self::TooLong => ErrorKind::BadData,
            Self::TooLarge { .. } => ErrorKind::NoResources,
        }
    }
}
