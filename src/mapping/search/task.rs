//! The input of a search, and its result.

use crate::base::observer::Observer;
use crate::base::types::{Cost, NodeId};
use crate::graph::CsrGraph;
use crate::mapping::Mapping;
use crate::mapping::problem::Problem;

/// The input of the search of a neighbourhood.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) start: &'a Mapping,
    pub(super) max_hops: usize,
    pub(super) block_size: usize,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchOutcome {
    /// The final mapping.
    pub mapping: Mapping,
    /// J of that mapping.
    pub cost: Cost,
    /// Pairs whose exchange was evaluated.
    pub tried: u64,
    /// Exchanges made.
    pub made: u64,
    /// True if the observer ended it before a local optimum was reached.
    pub stopped: bool,
}

impl SearchOutcome {
    /// The better of two outcomes, the first on ties, with the exchanges of both.
    pub(crate) fn or(self, other: Self) -> Self {
        let (tried, made) = (self.tried + other.tried, self.made + other.made);
        Self { tried, made, ..if other.cost < self.cost { other } else { self } }
    }
}

/// A sample of the processes, for choosing between search methods.
pub(super) fn sample(graph: &CsrGraph) -> impl ExactSizeIterator<Item = NodeId> + use<> {
    const SIZE: usize = 16;
    let step = graph.num_nodes().div_ceil(SIZE).max(1);
    (0..graph.num_nodes() as NodeId).step_by(step)
}
