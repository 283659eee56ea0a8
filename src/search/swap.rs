//! What every exchange neighbourhood works on: the mapping, its J, and what has changed when.

use super::SearchOutcome;
use crate::mapping::Mapping;
use crate::objective::{cost_of_keys, keys, swap_delta};
use crate::observer::Observer;
use crate::problem::Problem;
use crate::topology::DistanceOracle;
use crate::types::{Cost, NodeId, PeId};

/// A point in the search: one more than the number of exchanges made before it, so that 0 is "never".
pub(super) type Time = u64;

/// A descent by exchanges of two processes.
pub(super) struct SwapSearch<'a, O: DistanceOracle> {
    problem: &'a Problem<'a, O>,
    observer: &'a dyn Observer,
    pe_of: Vec<PeId>,
    keys: Vec<O::Key>,
    cost: Cost,
    now: Time,
    /// When the process or a neighbour of it last moved.
    touched: Vec<Time>,
    tried: u64,
    stopped: bool,
}

impl<'a, O: DistanceOracle> SwapSearch<'a, O> {
    pub fn new(problem: &'a Problem<'a, O>, start: &Mapping, observer: &'a dyn Observer) -> Self {
        let keys = keys(problem.oracle(), start);
        Self {
            problem,
            observer,
            pe_of: start.as_slice().to_vec(),
            cost: cost_of_keys(problem, &keys),
            keys,
            now: 1,
            touched: vec![1; problem.size()],
            tried: 0,
            stopped: false,
        }
    }

    pub fn finish(self) -> SearchOutcome {
        SearchOutcome {
            mapping: Mapping::from_permutation(self.pe_of),
            cost: self.cost,
            tried: self.tried,
            made: self.now - 1,
            stopped: self.stopped,
        }
    }

    pub fn problem(&self) -> &'a Problem<'a, O> {
        self.problem
    }

    /// The time at hand.
    pub fn now(&self) -> Time {
        self.now
    }

    /// When the process or a neighbour of it last moved.
    #[inline]
    pub fn touched(&self, process: NodeId) -> Time {
        self.touched[process as usize]
    }

    /// Whether to end early; asked once for each row of pairs.
    pub fn should_stop(&mut self) -> bool {
        self.stopped = self.stopped || self.observer.should_stop();
        self.stopped
    }

    /// Exchanges `u` and `v` if that lowers J; tells whether it did. A pair that stays is only read.
    #[inline]
    pub fn try_swap(&mut self, u: NodeId, v: NodeId) -> bool {
        let (graph, oracle) = (self.problem.graph(), self.problem.oracle());
        if oracle.interchangeable(self.keys[u as usize], self.keys[v as usize]) {
            return false;
        }
        self.tried += 1;
        let delta = swap_delta(graph, oracle, &self.keys, u, v);
        if delta < 0 {
            self.swap(u, v, delta);
        }
        delta < 0
    }

    fn swap(&mut self, u: NodeId, v: NodeId, delta: Cost) {
        self.pe_of.swap(u as usize, v as usize);
        self.keys.swap(u as usize, v as usize);
        self.cost += delta;
        self.now += 1;
        for moved in [u, v] {
            self.touched[moved as usize] = self.now;
            for &neighbour in self.problem.graph().neighbours(moved) {
                self.touched[neighbour as usize] = self.now;
            }
        }
        self.observer.reached(self.cost);
    }
}
