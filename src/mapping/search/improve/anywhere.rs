//! Improvement on any machine: annealing, of everything at once or region by region.
//!
//! If the graph has the [shape of the machine](super::embedding), an optimal mapping is found directly.
//! Otherwise each start is [annealed](crate::mapping::annealing), and the best one is improved in further
//! rounds. Large problems with small cuts are annealed in regions, which are ranges of places: parts of the
//! machine in one round, ranges across their borders in the next. The regions of a round are improved in
//! parallel, each as if all others stayed as they are. The gain of a region is recomputed before it is
//! applied, and regions that would now lose stay unchanged.
//!
//! Takes O(n · proposals · degree) distances per round; memory O(n + m).

use std::ops::Range;

use crate::base::observer::Observer;
use crate::base::rng::derive;
use crate::base::settings::{ConfigError, check_at_least_one};
use crate::base::threads;
use crate::base::types::{Cost, NodeId, PeId, Weight};
use crate::graph::CsrGraph;
use crate::graph::relabel::relabel;
use crate::machine::{DistanceOracle, Metric as _, with_oracle};
use crate::mapping::annealing::{AnnealingContext, Cooling, Improved, Near};
use crate::mapping::objective::cost;
use crate::mapping::problem::Problem;
use crate::mapping::search::improve::{embedding, exact};
use crate::mapping::search::task::SearchOutcome;
use crate::mapping::{Mapping, process_on_each};

/// Smaller problems take negligible time, so they get more proposals per process.
const SMALL: usize = 512;

/// Factor on the proposals per process for problems of fewer than [`SMALL`] processes.
const SMALL_FACTOR: u32 = 4;

/// The most proposals per process where [`SmallInstance`](super::SmallInstance) follows, which finds more in the same time. Balances J against
/// time. Tuned on graphs of five kinds with 12 to 32 processes on nine machines, where `strong` took up to 30 s without it, and found the
/// same. To tune it again, compare J and time of the presets on such problems with half and twice the number.
const MOST_BEFORE_FEW: u32 = 12_500;

/// Problems of at most this many processes are annealed as a whole.
const WHOLE: usize = 1 << 15;

/// Processes per region of a larger problem that has small cuts.
const REGION: usize = 1 << 12;

/// Divisor of the proposals per process for problems of more than [`WHOLE`] processes, to keep the run time
/// below minutes.
const LARGE_DIVISOR: u32 = 4;

/// The same where there are no small cuts, so that all processes are annealed as a whole: proposals look at memory far apart. Balances J
/// against the time on a regular tree, of which no more than twice may be taken. Tuned on a random graph of 10^5 vertices and degree 8 on a
/// 40 x 50 x 50 mesh, where 4 instead of 64 takes three times as long for 5 to 10 % of J.
const LARGE_WHOLE_DIVISOR: u32 = 64;

/// Factor on the initial acceptance and divisor of the proposals, cyclically for the starts. Cuts keep their
/// shape only at low temperatures, so the starts of odd index, which come from bisection, are annealed
/// briefly at low temperatures.
const TURNS: [(f64, u32); 4] = [(1.0, 1), (0.04, 4), (0.4, 1), (0.016, 4)];

/// The effort of improving a mapping to a machine that is not a regular tree.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Anywhere {
    /// The annealing schedule of a round.
    pub cooling: Cooling,
    /// Rounds for the best mapping.
    pub rounds: u32,
}

impl Anywhere {
    /// Returns whether every number is in its range.
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

    /// The best mapping that takes a second or two for a thousand processes.
    pub const STRONG: Self = Self {
        cooling: Cooling { proposals: 50_000, initial_acceptance: 0.5, ..Self::FAST.cooling },
        ..Self::FAST
    };

    /// The annealing schedule of a start.
    fn cooling_of(&self, start: usize, context: &Context<'_>) -> Cooling {
        let (lowered, divisor) = TURNS[start % TURNS.len()];
        let many = self.cooling.proposals.saturating_mul(SMALL_FACTOR);
        let proposals = match context.problem.size() {
            _ if context.are_few => many.min(MOST_BEFORE_FEW),
            ..SMALL => many,
            SMALL..=WHOLE => self.cooling.proposals,
            _ if context.num_regions == 1 => self.cooling.proposals.div_ceil(LARGE_WHOLE_DIVISOR),
            _ => self.cooling.proposals.div_ceil(LARGE_DIVISOR),
        };
        let initial_acceptance =
            (self.cooling.initial_acceptance * lowered).max(self.cooling.final_acceptance);
        Cooling { proposals: proposals.div_ceil(divisor), initial_acceptance, ..self.cooling }
    }
}

/// Improves the most promising of some mappings; the result is not worse than any. See
/// [`improve`](super::improve).
pub(super) fn improve(
    problem: &Problem<'_>,
    starts: &[&Mapping],
    config: &Anywhere,
    are_few: bool,
    seed: u64,
    observer: &dyn Observer,
) -> SearchOutcome {
    if exact::is_small_problem(problem, None) {
        return solve_exactly(problem, starts, observer);
    }
    // Number the processes by their places, so that the processes of a region are stored together.
    let order = process_on_each(starts[0].pes());
    let graph = relabel(problem.graph(), &order);
    let fixed = problem.renumbered_fixed(&order);
    let problem = &problem.with_graph(&graph, fixed.as_ref());
    let near = with_oracle!(problem.oracle(), |oracle| {
        Near::new(oracle, &oracle.keys(), problem.parts(), observer)
    });
    let respects =
        |place_of: &Vec<PeId>| fixed.as_ref().is_none_or(|fixed| fixed.violated_by(place_of).is_none());
    let found = match embedding::embedding(problem, &near, seed, observer).filter(respects) {
        Some(place_of) => embedded(problem, place_of, observer),
        None => {
            let starts: Vec<Mapping> = starts.iter().map(|start| start.renumbered(&order)).collect();
            let num_regions = num_regions(problem.graph());
            let kinds = problem.kinds_of_places();
            Context { problem, near: &near, kinds: &kinds, observer, num_regions, are_few }
                .anneal(&starts, config, seed)
        }
    };
    SearchOutcome { mapping: found.mapping.numbered_back(&order), ..found }
}

/// The outcome for a graph of the shape of the machine.
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

/// The common input of all mappings.
struct Context<'a> {
    problem: &'a Problem<'a>,
    near: &'a Near,
    /// The places that keep their processes; empty if none does.
    kinds: &'a [u32],
    observer: &'a dyn Observer,
    /// The number of regions.
    num_regions: usize,
    /// True if there are so few places that the dense search follows.
    are_few: bool,
}

impl Context<'_> {
    /// Anneals each start once, and the best one for some more rounds.
    fn anneal(&self, starts: &[Mapping], config: &Anywhere, seed: u64) -> SearchOutcome {
        let observer = self.observer;
        let annealed = |index: usize| {
            let mut state = self.state(&starts[index], derive(seed, index as u64));
            state.round(self, &config.cooling_of(index, self));
            state
        };
        let mut states: Vec<State> = threads::map(starts.len(), 1, &annealed);
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

    /// The change of J if the processes of a range of places are rearranged inside the range. `place_of`
    /// holds the new place of the process on each place.
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
                // An internal edge is counted from both ends.
                change += if places.contains(&there) { difference } else { 2 * difference };
            }
        }
        change
    }
}

/// A mapping under improvement.
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
    fn round(&mut self, context: &Context<'_>, cooling: &Cooling) {
        let seed = derive(self.seed, self.rounds);
        let regions = regions(self.place_of.len(), context.num_regions, self.rounds % 2 == 1);
        self.rounds += 1;
        let annealed = with_oracle!(context.problem.oracle(), |oracle| {
            self.annealed(context, oracle, &regions, cooling, seed)
        });
        for (places, annealed) in regions.iter().zip(annealed) {
            let Some(annealed) = annealed else { continue };
            self.tried += annealed.tried;
            if annealed.gain > 0 {
                self.take_over(context, places, &annealed);
            }
        }
    }

    /// The annealed regions, as far as they were started before the observer asked to stop.
    fn annealed<O: DistanceOracle>(
        &self,
        context: &Context<'_>,
        oracle: &O,
        regions: &[Range<PeId>],
        cooling: &Cooling,
        seed: u64,
    ) -> Vec<Option<Improved>> {
        let &Context { problem, near, kinds, observer, .. } = context;
        let site = AnnealingContext { metric: oracle, key_of: &oracle.keys(), near, kinds, observer };
        let anneal = |index: usize| {
            let places = regions[index].clone();
            let seed = derive(seed, u64::from(places.start));
            let (place_of, process_on) = (&self.place_of, &self.process_on);
            (!observer.should_stop())
                .then(|| site.anneal(problem.graph(), place_of, process_on, places, cooling, seed))
        };
        threads::map(regions.len(), 1, &anneal)
    }

    fn take_over(&mut self, context: &Context<'_>, places: &Range<PeId>, annealed: &Improved) {
        let change = context.change(self, places, &annealed.place_of);
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

/// The number of regions, where process i is on place i. Returns 1 if regions would contain less than half of
/// the communication: the best place of a process then depends more on processes outside its region. O(n +
/// m).
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
    use crate::base::rng::Rng;
    use crate::graph::generate;
    use crate::testing::random_graph;

    #[test]
    fn large_problems_with_small_cuts_are_annealed_in_regions() {
        let n = WHOLE + REGION;
        assert_eq!(num_regions(&generate::mesh(64, n / 64, 1)), 9);
        assert_eq!(num_regions(&random_graph(n, 4, 9, &mut Rng::new(1))), 1);
        assert_eq!(num_regions(&generate::mesh(64, WHOLE / 64, 1)), 1);
    }
}
