//! A mapping as a search has it.

use crate::base::types::{NodeId, PeId, Weight};
use crate::graph::CsrGraph;
use crate::machine::DistanceOracle;
use crate::mapping::search::swap::SwapSearch;

/// The PE of each process and the process on each PE.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) graph: &'a CsrGraph,
    pub(super) pe_of: &'a [PeId],
    pub(super) process_on: &'a [NodeId],
}

impl<'a> View<'a> {
    pub(super) fn of<O: DistanceOracle>(search: &'a SwapSearch<'_, O>) -> Self {
        Self { graph: search.problem().graph(), pe_of: search.pe_of(), process_on: search.process_on() }
    }

    pub(super) fn near(self, process: NodeId) -> Vec<(PeId, Weight)> {
        self.near_if(process, |_| true)
    }

    /// As [`near`](Self::near), restricted to some of the neighbours.
    pub(super) fn near_if(self, process: NodeId, keeps: impl Fn(NodeId) -> bool) -> Vec<(PeId, Weight)> {
        let arcs = self.graph.arcs(process).filter(|&(target, _)| keeps(target));
        let mut near: Vec<(PeId, Weight)> =
            arcs.map(|(target, weight)| (self.pe_of[target as usize], weight)).collect();
        near.sort_unstable();
        near
    }
}
