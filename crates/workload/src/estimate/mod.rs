//! An estimate of the run time of a workload with a mapping, without simulating it.
//!
//! # Problem
//!
//! Perego and De Petris, section 4: F(m) is the maximum of R(m, n) over all PEs n (equation 2). R estimates
//! when PE n has completed all its tasks,
//!
//! ```text
//! R(m, n) = sum over tasks j on n of  w_j + q_j                                    computing and waiting      (3)
//!         + sum over channels (i, j) from elsewhere of  m_ij (d - 1)               distance                   (4)
//!         - sum over channels (i, j) inside n of  min(m_ij l_ij, q_ij)             messages that take no time (5)
//!         + sum over phases and channels (i, j) from elsewhere of
//!               sum over the others of its interference class of l_st / 2 |S|      contention                 (9)
//! ```
//!
//! with w, q, m, l and the phases of [`WorkloadModel`]. Two messages of a phase interfere if their routes
//! share a link. Interference classes are the transitive closure (equation 7), found by union-find.
//!
//! # Beyond the paper
//!
//! A PE with several tasks is not idle while one of them waits. There, R(m, n) is the maximum of the work of
//! all its tasks and the time of its slowest task by itself, instead of the sum of work and waiting. With one
//! task per PE this is the same.
//!
//! Where messages travel link by link, (d - 1) is the time of a message minus its length, and l is the time
//! for which it holds its slowest link: the length times the cost. For worms both are as in the paper. SEND
//! and RECEIVE count as work.
//!
//! # Algorithm and cost
//!
//! From scratch O(sum over phases of channels times hops). [`Estimate::place`] moves one task: it dissolves
//! and rebuilds only the classes of the task's channels and those that meet their new routes. Memory: 4 bytes
//! for each lane and phase, 40 bytes for each channel and phase. Sums are integers, in parts of a cycle
//! ([`PARTS`]). The mean length of a channel's messages and the delay of a channel in a phase are rounded
//! down to such a part, so both ways give the same result.
//!
//! # Reference
//!
//! R. Perego and G. De Petris, *A new mapping heuristic for last generation multicomputers*, CNUCE C94-09,
//! 1994.

use viem::base::error::{ErrorKind, HasKind};

mod classes;
mod model;

pub use classes::{Estimate, NOWHERE};
pub use model::{ChannelModel, ChannelPhase, WorkloadModel};

/// Messages at most of a workload that is divided into phases: they take 24 bytes each.
pub const MOST_MESSAGES: u64 = 1 << 25;

/// Parts of a cycle in which F and R are summed.
pub const PARTS: i64 = 1 << 8;

/// The reason why there is no estimate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum EstimateError {
    #[error("the workload has {count} messages; at most {MOST_MESSAGES} can be divided into phases")]
    TooManyMessages { count: u64 },
    #[error(
        "the workload may take more than 2^52 cycles on this machine; use a larger unit for flits or distances"
    )]
    TooLong,
    #[error("{phases} phases on {lanes} links need more memory than is available")]
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
