//! From several first mappings to the best one by F.

use super::AssignError;
use super::descent::{Descent, DescentConfig, Measure};
use super::ground::Ground;
use super::loads::Loads;
use super::simulated::Simulated;
use crate::estimate::{Estimate, EstimateError, Model};
use crate::graph::CsrGraph;
use crate::observer::Observer;
use crate::program::Program;
use crate::rng::{Rng, derive};
use crate::settings::named;
use crate::simulate::{Settings, SimulationError};
use crate::types::{NodeId, PeId};

named! {
    /// Where a mapping comes from.
    pub enum Start: "start" {
        /// Task i on the i-th place in the order of the PEs.
        Identity = "identity",
        /// The mapping that was given.
        Given = "input_mapping",
        /// The mapping of small J.
        Cost = "mapping",
        /// All messages between neighbours.
        Embedding = "embedding",
        /// Tasks along a circle through a grid.
        Circle = "circle",
        /// The greedy with look-ahead.
        Greedy = "greedy",
        /// The better of the mapping of small J and the greedy, after local search on the loads of links.
        Spread = "spread",
    }
}

/// A mapping and how good it is.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub start: Start,
    pub pe_of: Vec<PeId>,
    /// F and the sum of R, in parts of a cycle.
    pub value: (i64, i64),
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    pub tried: u64,
    pub made: u64,
    pub stopped: bool,
}

pub(super) struct Search<'a> {
    pub graph: &'a CsrGraph,
    pub model: &'a Model,
    pub ground: &'a Ground,
    pub descent: &'a DescentConfig,
    pub seed: u64,
    pub observer: &'a dyn Observer,
}

impl<'a> Search<'a> {
    /// How good a mapping is.
    pub(super) fn candidate(&self, start: Start, pe_of: Vec<PeId>) -> Result<Candidate, EstimateError> {
        let value = Estimate::of(self.model, &self.ground.routing, &pe_of)?.value();
        Ok(Candidate { start, pe_of, value })
    }

    /// A mapping after local search; it is not worse.
    pub(super) fn descend(
        &self,
        from: &Candidate,
        seed: u64,
        steps: &mut Steps,
    ) -> Result<Candidate, EstimateError> {
        let mut estimate = Estimate::of(self.model, &self.ground.routing, &from.pe_of)?;
        self.improve(&mut estimate, seed, steps);
        Ok(Candidate { start: from.start, pe_of: estimate.pe_of().to_vec(), value: estimate.value() })
    }

    /// A mapping after local search on the loads of links; nothing if there are too many of them.
    pub(super) fn spread(
        &self,
        from: &Candidate,
        seed: u64,
        steps: &mut Steps,
    ) -> Result<Option<Candidate>, EstimateError> {
        let Some(mut loads) = Loads::of(self.model, &self.ground.routing, &from.pe_of) else {
            return Ok(None);
        };
        self.improve(&mut loads, seed, steps);
        self.candidate(Start::Spread, loads.pe_of().to_vec()).map(Some)
    }

    fn improve<M: Measure>(&self, measure: &mut M, seed: u64, steps: &mut Steps) {
        let work = self.descent.work.saturating_mul(self.graph.num_nodes()) as u64;
        self.improve_until(measure, work, seed, steps);
    }

    /// Local search until so much work is done.
    pub(super) fn improve_until<M: Measure>(&self, measure: &mut M, last: u64, seed: u64, steps: &mut Steps) {
        let Self { graph, ground, observer, .. } = *self;
        let outcome = Descent { graph, ground, config: self.descent, seed, observer, measure, last }.run();
        steps.tried += outcome.tried;
        steps.made += outcome.made;
        steps.stopped |= outcome.stopped;
    }

    /// The fastest of some mappings in the simulator, after local search on simulated time, and that time. `work` is what all may
    /// take, in hops of messages.
    pub(super) fn fastest(
        &self,
        program: &Program,
        settings: Settings,
        candidates: &[Candidate],
        work: u64,
        steps: &mut Steps,
    ) -> Result<Option<(Candidate, u64)>, AssignError> {
        let (routing, mut done) = (&self.ground.routing, 0);
        let mut fastest: Option<(Simulated<'_>, Start)> = None;
        for candidate in candidates {
            let simulated = Simulated::of(program, routing, settings, self.observer, &candidate.pe_of);
            let mut next = match simulated {
                Err(SimulationError::Stopped { .. }) => {
                    steps.stopped = true;
                    break;
                }
                simulated => simulated?,
            };
            done += next.work();
            let is_faster = fastest.as_mut().is_none_or(|(best, _)| next.value() < best.value());
            if is_faster {
                fastest = Some((next, candidate.start));
            }
        }
        let Some((mut best, start)) = fastest else { return Ok(None) };
        let last = best.work() + work.saturating_sub(done);
        self.improve_until(&mut best, last, derive(self.seed, 4), steps);
        let time = best.value().0 as u64;
        let candidate = self.candidate(start, best.pe_of().to_vec())?;
        Ok(Some((candidate, time)))
    }

    /// Goes on from the best mapping: again and again some tasks change places at random and local search follows; what is
    /// better is kept. Ends after so many rounds, or when it is asked to.
    pub(super) fn go_on(
        &self,
        best: Candidate,
        rounds: usize,
        steps: &mut Steps,
    ) -> Result<Candidate, EstimateError> {
        let mut best = best;
        for round in 0..rounds {
            if self.observer.should_stop() {
                steps.stopped = true;
                break;
            }
            let seed = derive(self.seed, 1 + round as u64);
            let mut rng = Rng::new(derive(seed, 0));
            let next = Candidate { pe_of: self.shaken(&best.pe_of, &mut rng), ..best.clone() };
            let next = self.descend(&next, seed, steps)?;
            if next.value < best.value {
                best = next;
            }
        }
        Ok(best)
    }

    /// A mapping where a few tasks have changed places with tasks near by.
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
