//! A mapping with the loads that it brings, while processes move.

use super::loads::{Carriers, Loads, each_edge_of_moved};
use viem::base::types::{Cost, NodeId, PeId};
use viem::graph::CsrGraph;
use viem::machine::{DistanceOracle, Distances};

/// A mapping, its loads, and some processes that are tried on other PEs. These are then moved or put back.
pub(super) struct Placed<'a, C> {
    graph: &'a CsrGraph,
    distances: &'a Distances,
    pub loads: Loads<C>,
    /// The PE of each process.
    pub pe_of: Vec<PeId>,
    /// The same with those processes on the PEs where they are tried.
    after: Vec<PeId>,
    moved: Vec<NodeId>,
    is_moved: Vec<bool>,
}

impl<'a, C: Carriers> Placed<'a, C> {
    /// A mapping and its loads.
    pub fn new(graph: &'a CsrGraph, distances: &'a Distances, loads: Loads<C>, pe_of: Vec<PeId>) -> Self {
        let (after, is_moved) = (pe_of.clone(), vec![false; graph.num_nodes()]);
        Self { graph, distances, loads, pe_of, after, moved: Vec::new(), is_moved }
    }

    /// Tries a process on another PE. Each is named once.
    pub fn displace(&mut self, process: NodeId, pe: PeId) {
        self.after[process as usize] = pe;
        self.is_moved[process as usize] = true;
        self.moved.push(process);
    }

    /// Notes the change of the loads, and returns the rise of J.
    pub fn note(&mut self) -> Cost {
        self.loads.note(self.graph, (&self.pe_of, &self.after), (&self.moved, &self.is_moved));
        if self.loads.carriers.add_up() {
            return self.loads.noted().map(|(_, change)| change).sum();
        }
        let mut rise = 0;
        each_edge_of_moved(self.graph, &self.moved, &self.is_moved, |process, other, weight| {
            let distance =
                |pe_of: &[PeId]| self.distances.distance(pe_of[process as usize], pe_of[other as usize]);
            rise += weight * (distance(&self.after) - distance(&self.pe_of));
        });
        2 * rise
    }

    /// The processes that are tried on other PEs, each with its PE and that one.
    pub fn displaced(&self) -> impl Iterator<Item = (NodeId, PeId, PeId)> + '_ {
        let of = |&process: &NodeId| (process, self.pe_of[process as usize], self.after[process as usize]);
        self.moved.iter().map(of)
    }

    /// Moves the processes; the change of the loads has been noted.
    pub fn make(&mut self) {
        self.loads.apply();
        for process in self.moved.drain(..) {
            self.pe_of[process as usize] = self.after[process as usize];
            self.is_moved[process as usize] = false;
        }
    }

    /// Puts the processes back.
    pub fn leave(&mut self) {
        self.loads.forget();
        for process in self.moved.drain(..) {
            self.after[process as usize] = self.pe_of[process as usize];
            self.is_moved[process as usize] = false;
        }
    }

    /// The distance of two PEs.
    pub fn distance(&self, one: PeId, other: PeId) -> Cost {
        self.distances.distance(one, other)
    }
}
