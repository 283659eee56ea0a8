//! Any cost of edges, chosen at run time.
//!
//! What is compiled for this serves all costs of edges at the price of a predicted branch per question. Only searches that ask most, for the cut
//! and for J by a table, are compiled for their costs alone.

use super::computed::ComputedCost;
use super::cut::Cut;
use super::distances::BlockDistances;
use super::interface::Objective;
use super::stored::StoredCost;
use crate::base::types::{BlockId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::compact::{CompactGraph, Stored};

/// One of the costs of edges.
#[derive(Clone)]
pub(crate) enum EdgeCost<'a> {
    Cut(Cut),
    Stored(StoredCost),
    Computed(ComputedCost<'a>),
}

impl<'a> EdgeCost<'a> {
    /// J with these distances: by a table, if they fit one; O(k²).
    pub fn of_distances(distances: &'a dyn BlockDistances) -> Self {
        match StoredCost::new(distances) {
            Some(cost) => Self::Stored(cost),
            None => Self::Computed(ComputedCost::new(distances)),
        }
    }
}

/// Asks the member inside.
macro_rules! ask {
    ($cost:expr, |$member:ident| $question:expr) => {
        match $cost {
            Self::Cut($member) => $question,
            Self::Stored($member) => $question,
            Self::Computed($member) => $question,
        }
    };
}

impl Objective for EdgeCost<'_> {
    #[inline(always)]
    fn has_pull(&self) -> bool {
        ask!(self, |member| member.has_pull())
    }

    #[inline(always)]
    fn between(&self, a: BlockId, b: BlockId) -> Weight {
        ask!(self, |member| member.between(a, b))
    }

    #[inline(always)]
    fn gain(&self, affinities: &BlockAffinities, from: BlockId, to: BlockId) -> Weight {
        ask!(self, |member| member.gain(affinities, from, to))
    }

    #[inline(always)]
    fn greatest_gain(&self, internal: Weight, external: Weight) -> Weight {
        ask!(self, |member| member.greatest_gain(internal, external))
    }

    #[inline(always)]
    fn change_of_gain(&self, moved: [BlockId; 2], weight: Weight, by: [BlockId; 2]) -> (Weight, bool) {
        ask!(self, |member| member.change_of_gain(moved, weight, by))
    }

    #[inline(always)]
    fn pull(&self, affinities: &BlockAffinities, pair: [BlockId; 2]) -> Weight {
        ask!(self, |member| member.pull(affinities, pair))
    }

    fn cost_of_edges<W: Stored>(&self, graph: &CompactGraph<'_, W>, blocks: &[BlockId]) -> Weight {
        ask!(self, |member| member.cost_of_edges(graph, blocks))
    }
}
