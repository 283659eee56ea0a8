//! The search from several first mappings to the best one by F.

use super::descent::{Descent, DescentConfig, Measure, Steps};
use super::loads::Loads;
use super::simulated_time::SimulatedTime;
use super::view::MachineView;
use crate::Workload;
use crate::estimate::{Estimate, WorkloadModel};
use crate::simulate::{SimulationConfig, SimulationError};
use viem::base::observer::Observer;
use viem::base::rng::{Rng, derive};
use viem::base::settings::named;
use viem::base::types::{NodeId, PeId};
use viem::graph::CsrGraph;

named! {
    /// The origin of a mapping.
    pub enum Start: "start" {
        /// Task i on the i-th place in the order of the PEs.
        Identity = "identity",
        /// The input mapping.
        Given = "input_mapping",
        /// Task i on the i-th place in the order of the machine's parts: near PEs follow each other.
        Sorted = "sorted",
        /// The mapping of small J.
        Cost = "mapping",
        /// The mapping of small J after a search for a small load of the busiest link.
        Bottleneck = "bottleneck",
        /// The mapping of small J after a search for little traffic out of the busiest node.
        BusiestNode = "busiest_node",
        /// The mapping of small J after a search for a small sum of J and a norm of the loads of links.
        Mixed = "mixed",
        /// All messages between neighbours.
        Embedding = "embedding",
        /// Tasks along a circle through a grid.
        Circle = "circle",
        /// Tasks dealt to groups of PEs in turn.
        Dealt = "dealt",
        /// The greedy algorithm with look-ahead.
        Greedy = "greedy",
        /// The better of the mapping of small J and the greedy mapping, after local search on the loads of
        /// links.
        Spread = "spread",
    }
}

/// A mapping and its value.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub start: Start,
    pub pe_of: Vec<PeId>,
    /// F and the sum of R, in parts of a cycle.
    pub value: (i64, i64),
}

/// The fastest mapping in the simulator.
pub(super) struct Fastest {
    pub found: Candidate,
    pub completion_time: u64,
    /// The time of the identity, if it was simulated.
    pub of_identity: Option<u64>,
}

/// The mutable state of the search.
pub(super) struct State<'a> {
    /// The estimate, used for one mapping after another: its table is large, so there is only one.
    pub estimate: Estimate<'a>,
    pub steps: Steps,
}

#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub workload: &'a Workload,
    pub graph: &'a CsrGraph,
    pub model: &'a WorkloadModel,
    pub view: &'a MachineView,
    pub descent: &'a DescentConfig,
    pub settings: SimulationConfig,
    pub seed: u64,
    pub observer: &'a dyn Observer,
}

impl<'a> Search<'a> {
    /// Returns whether the run must end. Checked before each step that visits the whole workload.
    pub(super) fn stops(&self, steps: &mut Steps) -> bool {
        steps.stopped = steps.stopped || self.observer.should_stop();
        steps.stopped
    }

    /// A mapping with its value.
    pub(super) fn candidate(&self, start: Start, pe_of: Vec<PeId>, state: &mut State<'a>) -> Candidate {
        state.estimate.place_all(&pe_of);
        Candidate { start, pe_of, value: state.estimate.value() }
    }

    /// A mapping after local search; it is not worse.
    pub(super) fn descend(&self, from: &Candidate, seed: u64, state: &mut State<'a>) -> Candidate {
        if self.stops(&mut state.steps) {
            return from.clone();
        }
        let State { estimate, steps } = state;
        estimate.place_all(&from.pe_of);
        self.improve(estimate, seed, steps);
        Candidate { start: from.start, pe_of: estimate.pe_of().to_vec(), value: estimate.value() }
    }

    /// A mapping after local search on the loads of links; `None` if there are too many links, or the run
    /// must end.
    pub(super) fn spread(&self, from: &Candidate, seed: u64, state: &mut State<'a>) -> Option<Candidate> {
        if self.stops(&mut state.steps) {
            return None;
        }
        let mut loads = Loads::of(self.model, &self.view.routing, &from.pe_of)?;
        self.improve(&mut loads, seed, &mut state.steps);
        let pe_of = loads.pe_of().to_vec();
        (!self.stops(&mut state.steps)).then(|| self.candidate(Start::Spread, pe_of, state))
    }

    fn improve<M: Measure>(&self, measure: &mut M, seed: u64, steps: &mut Steps) {
        let work = self.descent.work.saturating_mul(self.graph.num_nodes()) as u64;
        self.improve_until(measure, work, seed, steps);
    }

    /// Local search until the work reaches `last`.
    fn improve_until<M: Measure>(&self, measure: &mut M, last: u64, seed: u64, steps: &mut Steps) {
        let Self { graph, view, observer, .. } = *self;
        let Steps { counts, stopped } =
            Descent { graph, view, config: self.descent, seed, observer, last }.run(measure);
        steps.counts += counts;
        steps.stopped |= stopped;
    }

    /// The simulated time of a mapping; `None` if the run must end before it is known.
    pub(super) fn simulated(
        &self,
        pe_of: &[PeId],
        steps: &mut Steps,
    ) -> Result<Option<SimulatedTime<'a>>, SimulationError> {
        if self.stops(steps) {
            return Ok(None);
        }
        match SimulatedTime::of(self.workload, self.view, self.settings, self.observer, pe_of) {
            Err(SimulationError::Stopped { .. }) => {
                steps.stopped = true;
                Ok(None)
            }
            simulated => simulated.map(Some),
        }
    }

    /// The fastest of several mappings in the simulator, after local search on simulated time.
    /// `work` is the limit for all simulations, in hops of messages.
    pub(super) fn fastest(
        &self,
        candidates: &[Candidate],
        work: u64,
        state: &mut State<'a>,
    ) -> Result<Option<Fastest>, SimulationError> {
        let (mut done, mut of_identity) = (0, None);
        let mut fastest: Option<(SimulatedTime<'_>, &Candidate)> = None;
        for candidate in candidates {
            let Some(mut next) = self.simulated(&candidate.pe_of, &mut state.steps)? else { break };
            done += next.work();
            if candidate.start == Start::Identity {
                of_identity.get_or_insert(next.value().0 as u64);
            }
            let is_faster = fastest.as_mut().is_none_or(|(best, _)| next.value() < best.value());
            if is_faster {
                fastest = Some((next, candidate));
            }
        }
        let Some((mut best, from)) = fastest else { return Ok(None) };
        let last = best.work() + work.saturating_sub(done);
        self.improve_until(&mut best, last, derive(self.seed, 4), &mut state.steps);
        let completion_time = best.value().0 as u64;
        let found = match best.pe_of() {
            pe_of if pe_of == from.pe_of => from.clone(),
            pe_of => self.candidate(from.start, pe_of.to_vec(), state),
        };
        Ok(Some(Fastest { found, completion_time, of_identity }))
    }

    /// Iterated local search from the best mapping: exchanges some tasks at random and searches again;
    /// improvements are kept. Ends after `rounds` rounds, or when asked to.
    pub(super) fn go_on(&self, best: Candidate, rounds: usize, state: &mut State<'a>) -> Candidate {
        let mut best = best;
        for round in 0..rounds {
            if self.stops(&mut state.steps) {
                break;
            }
            let seed = derive(self.seed, 1 + round as u64);
            let mut rng = Rng::new(derive(seed, 0));
            let next = Candidate { pe_of: self.shaken(&best.pe_of, &mut rng), ..best.clone() };
            let next = self.descend(&next, seed, state);
            if next.value < best.value {
                best = next;
            }
        }
        best
    }

    /// A mapping with a few tasks exchanged with tasks nearby.
    fn shaken(&self, pe_of: &[PeId], rng: &mut Rng) -> Vec<PeId> {
        let n = pe_of.len() as u32;
        let mut pe_of = pe_of.to_vec();
        for _ in 0..(n / 16).clamp(2, 16) {
            let (a, b): (NodeId, NodeId) = (rng.below(n), rng.below(n));
            pe_of.swap(a as usize, b as usize);
        }
        pe_of
    }
}
