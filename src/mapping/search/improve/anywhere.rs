//! Improvement on any machine: annealing, of everything at once or region by region.
//!
//! Graphs of the [shape of the machine](super::embedding) are mapped optimally. Elsewhere each start is
//! [annealed](crate::mapping::annealing), and the best of them goes on for some rounds. Problems of many
//! processes, if they have small cuts, are annealed in regions: ranges of places that are parts of the machine in one round and straddle their
//! borders in the next. Regions of one round are improved in parallel, each as if all others stayed as they are; what
//! a region gains is computed again when it is taken over, and a region that has come to lose stays as it was.
//!
//! Costs O(n · proposals · degree) distances a round; memory O(n + m).

use std::ops::Range;

use rayon::prelude::*;

use super::super::SearchOutcome;
use crate::graph::CsrGraph;
use crate::graph::relabel::relabel;
use crate::ground::observer::Observer;
use crate::ground::rng::derive;
use crate::ground::settings::{ConfigError, check_at_least_one};
use crate::ground::threads;
use crate::ground::types::{Cost, NodeId, PeId, Weight};
use crate::machine::{DistanceOracle, Metric as _, with_oracle};
use crate::mapping::annealing::{AnnealingSite, Cooling, Improved, Near};
use crate::mapping::objective::cost;
use crate::mapping::problem::Problem;
use crate::mapping::search::improve::{embedding, exact};
use crate::mapping::{Mapping, process_on_each};

/// Problems of fewer processes take negligible time, so they get more proposals for each process.
const SMALL: usize = 512;

/// How many times more proposals a process gets in a problem of fewer than [`SMALL`] processes.
const SMALL_FACTOR: u32 = 4;

/// Problems of at most this many processes are annealed as wholes.
const WHOLE: usize = 1 << 15;

/// Processes of a region of a larger problem that has small cuts.
const REGION: usize = 1 << 12;

/// How many times fewer proposals a process gets in a problem of more than [`WHOLE`] processes, which should not take minutes.
const LARGE_DIVISOR: u32 = 4;

/// For the starts in turn, the factor of the initial acceptance and the divisor of the proposals. Cuts keep their shape at low temperatures
/// only, so starts with odd numbers, which come from bisection, are annealed at low temperatures and for a short time.
const TURNS: [(f64, u32); 4] = [(1.0, 1), (0.04, 4), (0.4, 1), (0.016, 4)];

/// What to spend on improving a mapping where the machine is no regular tree.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Anywhere {
    /// How a mapping is annealed in a round.
    pub cooling: Cooling,
    /// Rounds that the best mapping gets.
    pub rounds: u32,
}

impl Anywhere {
    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_at_least_one("rounds", self.rounds as usize)?;
        self.cooling.validate().map_err(|error| error.inside("cooling"))
    }

    /// A good mapping.
    pub const FAST: Self = Self {
        cooling: Cooling { proposals: 1200, initial_acceptance: 0.05, final_acceptance: 0.003 },
        rounds: 1,
    };

    /// A better one.
    pub const ECO: Self = Self {
        cooling: Cooling { proposals: 6000, initial_acceptance: 0.1, ..Self::FAST.cooling },
        ..Self::FAST
    };

    /// The best that is found in a second or two for a thousand processes.
    pub const STRONG: Self = Self {
        cooling: Cooling { proposals: 50_000, initial_acceptance: 0.5, ..Self::FAST.cooling },
        ..Self::FAST
    };

    /// How a start is annealed.
    fn cooling_of(&self, start: usize, num_processes: usize) -> Cooling {
        let (lowered, divisor) = TURNS[start % TURNS.len()];
        let proposals = match num_processes {
            ..SMALL => self.cooling.proposals.saturating_mul(SMALL_FACTOR),
            SMALL..=WHOLE => self.cooling.proposals,
            _ => self.cooling.proposals.div_ceil(LARGE_DIVISOR),
        };
        let initial_acceptance =
            (self.cooling.initial_acceptance * lowered).max(self.cooling.final_acceptance);
        Cooling { proposals: proposals.div_ceil(divisor), initial_acceptance, ..self.cooling }
    }
}

/// Improves the most promising of some mappings; the result is not worse than any. See [`improve`](super::improve).
pub(super) fn improve(
    problem: &Problem<'_>,
    starts: &[&Mapping],
    config: &Anywhere,
    seed: u64,
    observer: &dyn Observer,
) -> SearchOutcome {
    if exact::is_small_anywhere(problem.size()) {
        return solve_exactly(problem, starts, observer);
    }
    // Number the processes by their places: what a region holds then lies together in memory.
    let order = process_on_each(starts[0].pes());
    let graph = relabel(problem.graph(), &order);
    let problem = &problem.with_graph(&graph);
    let near = with_oracle!(problem.oracle(), |oracle| {
        Near::new(oracle, &all_keys(oracle), problem.parts(), observer)
    });
    let found = match embedding::embedding(problem, &near, observer) {
        Some(place_of) => embedded(problem, place_of, observer),
        None => {
            let starts: Vec<Mapping> = starts.iter().map(|start| start.renumbered(&order)).collect();
            let num_regions = num_regions(problem.graph());
            Ground { problem, near: &near, observer, num_regions }.anneal(&starts, config, seed)
        }
    };
    SearchOutcome { mapping: found.mapping.numbered_back(&order), ..found }
}

/// The outcome where the graph has the shape of the machine.
fn embedded(problem: &Problem<'_>, place_of: Vec<PeId>, observer: &dyn Observer) -> SearchOutcome {
    let mapping = Mapping::from_permutation(place_of);
    let cost = cost(problem, &mapping);
    observer.reached(cost);
    SearchOutcome { mapping, cost, tried: 0, made: 0, stopped: observer.should_stop() }
}

/// The best start, or a better mapping if there is one.
fn solve_exactly(problem: &Problem<'_>, starts: &[&Mapping], observer: &dyn Observer) -> SearchOutcome {
    let costs = starts.iter().map(|start| (cost(problem, start), *start));
    let (bound, start) = costs.min_by_key(|&(cost, _)| cost).expect("there is a start");
    let (cost, mapping) = match exact::optimum(problem, None, bound) {
        Some((cost, place_of)) => (cost, Mapping::from_permutation(place_of)),
        None => (bound, start.clone()),
    };
    observer.reached(cost);
    SearchOutcome { mapping, cost, tried: 0, made: 0, stopped: observer.should_stop() }
}

/// What all mappings have in common.
struct Ground<'a> {
    problem: &'a Problem<'a>,
    near: &'a Near,
    observer: &'a dyn Observer,
    /// Into how many regions the places are divided.
    num_regions: usize,
}

impl Ground<'_> {
    /// Anneals each start once, and the best of them for some rounds more.
    fn anneal(&self, starts: &[Mapping], config: &Anywhere, seed: u64) -> SearchOutcome {
        let observer = self.observer;
        let annealed = |(index, start): (usize, &Mapping)| {
            let mut state = self.state(start, derive(seed, index as u64));
            state.round(self, &config.cooling_of(index, self.problem.size()));
            state
        };
        let mut states: Vec<State> = starts.par_iter().enumerate().map(annealed).collect();
        let best = (0..states.len()).min_by_key(|&index| states[index].cost).expect("there is a start");
        observer.reached(states[best].cost);
        for _ in 1..config.rounds {
            states[best].round(self, &config.cooling);
            observer.reached(states[best].cost);
        }
        let tried = states.iter().map(|state| state.tried).sum();
        let made = states.iter().map(|state| state.made).sum();
        let State { place_of, cost, .. } = states.swap_remove(best);
        let mapping = Mapping::from_permutation(place_of);
        SearchOutcome { mapping, cost, tried, made, stopped: observer.should_stop() }
    }

    fn state(&self, start: &Mapping, seed: u64) -> State {
        State {
            place_of: start.pes().to_vec(),
            process_on: process_on_each(start.pes()),
            cost: cost(self.problem, start),
            tried: 0,
            made: 0,
            rounds: 0,
            seed,
        }
    }

    /// By how much J changes when the processes of a range of places move to other places of it: `place_of` is where
    /// each is to go, by the place it is on.
    fn change(&self, state: &State, places: &Range<PeId>, place_of: &[PeId]) -> Cost {
        let (graph, distances) = (self.problem.graph(), self.problem.oracle());
        let after = |place: PeId| match places.contains(&place) {
            true => place_of[(place - places.start) as usize],
            false => place,
        };
        let mut change = 0;
        for place in places.clone() {
            for (target, weight) in graph.arcs(state.process_on[place as usize]) {
                let there = state.place_of[target as usize];
                let before = distances.between(place, there);
                let difference = weight * (distances.between(after(place), after(there)) - before);
                // An edge inside is seen from both ends.
                change += if places.contains(&there) { difference } else { 2 * difference };
            }
        }
        change
    }
}

/// A mapping that is improved.
struct State {
    place_of: Vec<PeId>,
    process_on: Vec<NodeId>,
    cost: Cost,
    tried: u64,
    made: u64,
    rounds: u64,
    seed: u64,
}

impl State {
    /// Anneals all regions once.
    fn round(&mut self, ground: &Ground<'_>, cooling: &Cooling) {
        let seed = derive(self.seed, self.rounds);
        let regions = regions(self.place_of.len(), ground.num_regions, self.rounds % 2 == 1);
        self.rounds += 1;
        let annealed = with_oracle!(ground.problem.oracle(), |oracle| {
            self.annealed(ground, oracle, &regions, cooling, seed)
        });
        for (places, annealed) in regions.iter().zip(annealed) {
            let Some(annealed) = annealed else { continue };
            self.tried += annealed.tried;
            if annealed.gain > 0 {
                self.take_over(ground, places, &annealed);
            }
        }
    }

    /// Each of some regions annealed, if it is begun before the observer asks to stop.
    fn annealed<O: DistanceOracle>(
        &self,
        ground: &Ground<'_>,
        oracle: &O,
        regions: &[Range<PeId>],
        cooling: &Cooling,
        seed: u64,
    ) -> Vec<Option<Improved>> {
        let &Ground { problem, near, observer, .. } = ground;
        let site = AnnealingSite { metric: oracle, key_of: &all_keys(oracle), near, kinds: &[], observer };
        let anneal = |index: usize| {
            let places = regions[index].clone();
            let seed = derive(seed, u64::from(places.start));
            let (place_of, process_on) = (&self.place_of, &self.process_on);
            (!observer.should_stop())
                .then(|| site.anneal(problem.graph(), place_of, process_on, places, cooling, seed))
        };
        threads::map(regions.len(), 1, &anneal)
    }

    fn take_over(&mut self, ground: &Ground<'_>, places: &Range<PeId>, annealed: &Improved) {
        let change = ground.change(self, places, &annealed.place_of);
        if change >= 0 {
            return;
        }
        self.cost += change;
        self.made += annealed.made;
        let processes = self.process_on[places.start as usize..places.end as usize].to_vec();
        for (&process, &place) in processes.iter().zip(&annealed.place_of) {
            self.place_of[process as usize] = place;
            self.process_on[place as usize] = process;
        }
    }
}

/// The keys of all places.
fn all_keys<O: DistanceOracle>(oracle: &O) -> Vec<O::Key> {
    (0..oracle.num_pes() as PeId).map(|place| oracle.key(place)).collect()
}

/// Into how many regions the places are divided, where process i is on place i. One, if regions would hold less than half of the
/// communication: where a process is best placed depends more on what is outside of its region then than on what is in it. O(n + m).
fn num_regions(graph: &CsrGraph) -> usize {
    let n = graph.num_nodes();
    if n <= WHOLE {
        return 1;
    }
    let count = n.div_ceil(REGION);
    let region_of = |node: NodeId| node as usize * count / n;
    let held = |node| graph.arcs(node).filter(move |&(other, _)| region_of(other) == region_of(node));
    let volume: Weight = graph.nodes().flat_map(held).map(|(_, weight)| weight).sum();
    if volume < graph.total_arc_weight() / 2 { 1 } else { count }
}

/// Ranges that cover all places: `count` of them, or one more if they are shifted by half a range.
fn regions(num_places: usize, count: usize, are_shifted: bool) -> Vec<Range<PeId>> {
    let border = |index: usize| (index * num_places / count) as PeId;
    let middle = |index: usize| border(index).midpoint(border(index + 1));
    let borders: Vec<PeId> = match are_shifted && count > 1 {
        false => (0..=count).map(border).collect(),
        true => {
            let middles = (0..count).map(middle);
            std::iter::once(0).chain(middles).chain([num_places as PeId]).collect()
        }
    };
    borders.windows(2).map(|ends| ends[0]..ends[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;
    use crate::ground::rng::Rng;
    use crate::testing::random_graph;

    #[test]
    fn large_problems_with_small_cuts_are_annealed_in_regions() {
        let n = WHOLE + REGION;
        assert_eq!(num_regions(&generate::mesh(64, n / 64, 1)), 9);
        assert_eq!(num_regions(&random_graph(n, 4, 9, &mut Rng::new(1))), 1);
        assert_eq!(num_regions(&generate::mesh(64, WHOLE / 64, 1)), 1);
    }
}
