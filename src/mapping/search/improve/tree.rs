//! Improvement beyond local search on regular trees: annealing and repartitioning.
//!
//! Each start is [annealed](crate::mapping::annealing::tree). A tournament selects the best one, which is
//! improved further by rounds of [rebuilding](rebuild): large neighbourhood search (Shaw 1998) whose
//! neighbourhoods are themselves mapping problems. Annealing is good at arranging processes inside groups and
//! along the boundaries of groups. Other shapes of the outermost groups are not reachable by small steps;
//! they come from partitioning.
//!
//! Both work on [regions](region) of the machine, independently and in parallel. Problems of very few
//! processes are solved [exactly](exact) instead.
//!
//! Takes O(n · proposals) for annealing; each round of rebuilding takes as much plus the partitions. Memory:
//! O(n + m) and the gain tables, [`REGION_TABLE`] entries per thread. Results depend on the seed, but not on
//! the number of threads.

use std::sync::{Mutex, PoisonError};

use super::region::{Region, Regions};
use crate::base::observer::Observer;
use crate::base::rng::{Rng, derive};
use crate::base::threads;
use crate::base::types::{Cost, NodeId, PeId};
use crate::graph::CsrGraph;
use crate::graph::relabel::relabel;
use crate::machine::{Hierarchy, Machine};
use crate::mapping::annealing::Improved;
use crate::mapping::annealing::tree::anneal;
use crate::mapping::objective::cost;
use crate::mapping::problem::Problem;
use crate::mapping::search::improve::effort::Improvement;
use crate::mapping::search::improve::{exact, rebuild};
use crate::mapping::search::task::SearchOutcome;
use crate::mapping::{Mapping, process_on_each};
use crate::partition::FixedVertices;

/// Largest gain table of a region: with four bytes per entry, it fits a second-level cache.
const REGION_TABLE: usize = 1 << 18;

/// Largest gain table of a region of only two groups. Beyond that, exchanges between the two large groups are
/// left to the construction.
const GREATEST_TABLE: usize = 1 << 24;

/// Groups per rebuilt region, round by round. Small regions are cheap and often improved; large ones improve
/// what small ones cannot.
const REBUILT_GROUPS: [usize; 5] = [8, 4, 2, 6, 3];

/// Improves the most promising of several mappings; the result is not worse than any of them.
///
/// The distances of `problem` are those of `hierarchy`. If the observer asks to stop, the result is the best
/// mapping so far. Runs on the threads of the current rayon pool. Panics if there is no start, or if the
/// problem, the hierarchy and the starts do not all have the same size.
pub(super) fn improve(
    problem: &Problem<'_>,
    hierarchy: &Hierarchy,
    starts: &[&Mapping],
    config: &Improvement,
    seed: u64,
    observer: &dyn Observer,
) -> SearchOutcome {
    let hierarchy = hierarchy.simplified();
    // Number the processes by their PEs, so that the processes of a region are stored together.
    let order = process_on_each(starts[0].pes());
    let graph = relabel(problem.graph(), &order);
    let fixed = problem.renumbered_fixed(&order);
    let problem = &problem.with_graph(&graph, fixed.as_ref());
    let least = Mutex::new(Cost::MAX);
    let is_small = exact::is_small_problem(problem, Some(&hierarchy));
    let begin = |index: usize| {
        let (start, seed) = (starts[index].renumbered(&order), derive(seed, index as u64));
        let mut state = State::new(problem, &hierarchy, &start, seed, observer, &least);
        if is_small {
            state.solve_exactly();
        } else {
            state.anneal(config);
        }
        state
    };
    let states: Vec<State<'_>> = threads::map(starts.len(), 1, &begin);
    let rebuild = |state: &mut State<'_>, effort| {
        if !is_small {
            state.rebuild(config, effort);
        }
    };
    let (mut best, [tried, made]) = winner(states, |state| rebuild(state, config.tournament));
    rebuild(&mut best, config.rebuilding);
    SearchOutcome {
        mapping: Mapping::from_permutation(best.pe_of).numbered_back(&order),
        cost: best.cost,
        tried: tried + best.tried,
        made: made + best.made,
        stopped: observer.should_stop(),
    }
}

/// The winner of a tournament: in each round the worse half is eliminated, and the survivors are improved
/// before they are compared again. Also returns the number of exchanges that the eliminated mappings tried
/// and made.
fn winner<'a>(mut states: Vec<State<'a>>, improve: impl Fn(&mut State<'a>) + Sync) -> (State<'a>, [u64; 2]) {
    let (mut tried, mut made) = (0, 0);
    while states.len() > 1 {
        states.sort_by_key(|state| state.cost);
        for state in states.drain(states.len().div_ceil(2)..) {
            tried += state.tried;
            made += state.made;
        }
        if states.len() > 1 {
            threads::map_each(states.iter_mut().collect(), &|state: &mut State<'a>| improve(state));
        }
    }
    (states.pop().expect("there is a start"), [tried, made])
}

/// A mapping under improvement.
struct State<'a> {
    graph: &'a CsrGraph,
    hierarchy: &'a Hierarchy,
    fixed: Option<&'a FixedVertices>,
    pe_of: Vec<PeId>,
    process_on: Vec<NodeId>,
    cost: Cost,
    tried: u64,
    made: u64,
    /// Rounds of improvement so far.
    rounds: u64,
    seed: u64,
    observer: &'a dyn Observer,
    /// The smallest J that the observer was notified of; larger values are not forwarded.
    least: &'a Mutex<Cost>,
}

impl<'a> State<'a> {
    fn new(
        problem: &Problem<'a>,
        hierarchy: &'a Hierarchy,
        start: &Mapping,
        seed: u64,
        observer: &'a dyn Observer,
        least: &'a Mutex<Cost>,
    ) -> Self {
        let state = Self {
            graph: problem.graph(),
            hierarchy,
            fixed: problem.fixed(),
            pe_of: start.pes().to_vec(),
            process_on: process_on_each(start.pes()),
            cost: cost(problem, start),
            tried: 0,
            made: 0,
            rounds: 0,
            seed,
            observer,
            least,
        };
        state.report();
        state
    }

    fn report(&self) {
        let mut least = self.least.lock().unwrap_or_else(PoisonError::into_inner);
        if self.cost < *least {
            *least = self.cost;
            self.observer.reached(self.cost);
        }
    }

    /// Takes the optimal mapping.
    fn solve_exactly(&mut self) {
        let distances = Machine::distances(self.hierarchy).expect("those of trees are always known");
        let problem = Problem::new(self.graph, &distances).expect("the mapping has a cost");
        let problem = problem.with_known_fixed(self.fixed);
        if let Some((cost, pe_of)) = exact::optimum(&problem, Some(self.hierarchy), self.cost) {
            self.cost = cost;
            self.pe_of = pe_of;
            self.report();
        }
    }

    /// Anneals the inside of small groups and then everything, in regions whose tables fit the cache.
    fn anneal(&mut self, config: &Improvement) {
        let observer = self.observer;
        let annealed = |schedule| {
            move |region: &Region, seed| {
                let start: Vec<PeId> = (0..region.processes.len() as PeId).collect();
                anneal(&region.problem(), &start, schedule, seed, observer)
            }
        };
        let levels = self.levels();
        if let Some(&(level, _)) = levels.last() {
            self.round(level, 1, &annealed(&config.inside));
        }
        for (level, groups) in levels {
            self.round(level, groups, &annealed(&config.annealing));
        }
    }

    /// Repartitions regions, covering the whole mapping in each round.
    fn rebuild(&mut self, config: &Improvement, effort: u32) {
        let observer = self.observer;
        let (n, arcs) = (self.pe_of.len() as u64, self.graph.num_arcs() as u64);
        // At least one round, unless the effort is 0.
        let rounds = (u64::from(effort) * n / (n + arcs)).max(u64::from(effort.min(1)));
        let levels = self.levels();
        for round in 0..rounds {
            // Without groups to gather, or without communication, no round changes anything.
            if levels.is_empty() || arcs == 0 || observer.should_stop() {
                return;
            }
            for &(level, most) in &levels {
                let groups = REBUILT_GROUPS[round as usize % REBUILT_GROUPS.len()].min(most);
                self.round(level, groups, &|region, seed| rebuild::rebuild(region, config, seed, observer));
            }
        }
    }

    fn group_size(&self, level: usize) -> usize {
        self.hierarchy.arities()[..=level].iter().map(|&arity| arity as usize).product()
    }

    /// The levels whose groups are gathered into regions, with the number of groups per region, outermost
    /// first. Levels that fit completely into regions of the level above are skipped.
    fn levels(&self) -> Vec<(usize, usize)> {
        let mut levels = Vec::new();
        let innermost = self.hierarchy.arities().first().map_or(1, |&arity| arity as usize);
        for level in (0..self.hierarchy.arities().len().saturating_sub(1)).rev() {
            let size = self.group_size(level);
            let siblings = self.hierarchy.arities()[level + 1] as usize;
            let processes = (REGION_TABLE * innermost).isqrt();
            let groups = (processes / size).clamp(2, siblings);
            if (groups * size).saturating_mul(groups * size / innermost) <= GREATEST_TABLE {
                levels.push((level, groups));
            }
            if size <= processes {
                break;
            }
        }
        levels
    }

    /// One round: gathers groups into regions, improves each, and applies the results.
    fn round(&mut self, level: usize, groups: usize, improve: &(dyn Fn(&Region, u64) -> Improved + Sync)) {
        let (graph, hierarchy, observer) = (self.graph, self.hierarchy, self.observer);
        if observer.should_stop() {
            return;
        }
        let seed = derive(self.seed, self.rounds);
        self.rounds += 1;
        let mut rng = Rng::new(derive(seed, 0));
        let regions = Regions::gather(graph, hierarchy, &self.pe_of, level, groups, &mut rng);
        let outcome = |index: usize| -> (usize, Vec<NodeId>, Improved) {
            let mut region = regions.problem(graph, hierarchy, &self.pe_of, &self.process_on, index);
            let is_fixed = |fixed: &FixedVertices| {
                region.processes.iter().map(|&process| fixed.of(process).is_some()).collect()
            };
            region.is_fixed = self.fixed.map_or_else(Vec::new, is_fixed);
            let improved = improve(&region, derive(seed, 1 + index as u64));
            (index, region.processes, improved)
        };
        let outcomes = threads::map_until(0..regions.len(), &|| observer.should_stop(), &outcome);
        for (index, processes, improved) in outcomes {
            self.tried += improved.tried;
            self.made += improved.made;
            if improved.gain > 0 {
                for (&process, &local) in processes.iter().zip(&improved.place_of) {
                    let pe = regions.pe(index, local);
                    self.pe_of[process as usize] = pe;
                    self.process_on[pe as usize] = process;
                }
                self.cost -= improved.gain;
                self.report();
            }
        }
    }
}
