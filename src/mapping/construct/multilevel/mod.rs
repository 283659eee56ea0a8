//! Multilevel construction: processes and places are paired repeatedly, and the smallest problem is solved
//! first.
//!
//! Processes that communicate heavily are matched. So are places next to each other in the order of the
//! machine's parts. A pair of processes becomes a process of the next level, and a pair of places a place.
//! The distance of two places is the mean over their members. On the last level, which has few places,
//! several mappings are [annealed](crate::mapping::annealing). They are projected back level by level. On
//! each level they are annealed from a temperature that preserves most of the structure found, and the worse
//! half is dropped while there are several. The mapping to the machine itself is not annealed: improvement
//! follows.
//!
//! If a level has an odd number of processes, one stays single, on the place that stays single. Processes are
//! exchanged only with those of the same number of members.
//!
//! The matching is the heavy-edge matching of multilevel partitioning (Karypis and Kumar 1998), with edges
//! weighted by the volumes of their ends. Mapping level by level follows Walshaw and Cross ("Multilevel mesh
//! partitioning for heterogeneous communication networks", 2001).
//!
//! Takes O(m log m) for the matchings, at most a few thousand distances per place to pair the places, and
//! O(k²) distances for the largest annealed level of k places, where k is at most half of the machine and
//! [`MOST_PLACES`]. Memory O(n + m + k²).

mod averages;
mod matching;
mod settings;

pub(super) use settings::MOST_MULTILEVEL;
pub use settings::Multilevel;

use std::collections::{BTreeMap, VecDeque};

use self::averages::Averages;
use self::matching::Sets;
use crate::base::observer::{Observer, Watch};
use crate::base::rng::derive;
use crate::base::threads;
use crate::base::types::{BlockId, Cost, NodeId, PeId};
use crate::graph::{CsrGraph, quotient};
use crate::machine::{Distances, Metric as _};
use crate::mapping::annealing::{AnnealingContext, Cooling, FIXED, Near};
use crate::mapping::construct::task::{ConstructionError, Task};
use crate::mapping::{Mapping, process_on_each};

/// Largest level that is annealed; its averages take at most eight megabytes.
const MOST_PLACES: usize = 1 << 11;

/// Approximate number of places of the last level.
const LAST_PLACES: usize = 8;

/// The worse half of the mappings is dropped on levels of at least this many places.
const CHOICE: usize = 32;

/// The share of worsening proposals accepted initially on the last level, where no structure has been found
/// yet.
const HOT: f64 = 0.3;

pub(super) fn construct(task: &Task<'_>) -> Result<Mapping, ConstructionError> {
    let levels = Levels::new(task);
    Ok(Mapping::from_permutation(levels.solve(task)))
}

/// A level, and its origin in the level before.
struct Level {
    graph: CsrGraph,
    /// For each place, its places of the previous level.
    places: Sets,
    /// For each process, its processes of the previous level.
    processes: Sets,
    /// The number of machine places in each place.
    sizes: Vec<u32>,
    /// The first and the last machine place of each place.
    ends: Vec<[PeId; 2]>,
    /// The place of each process that is fixed; empty if none is.
    fixed: Vec<Option<PeId>>,
    /// `None` if the level is too large.
    averages: Option<Averages>,
}

struct Levels<'a> {
    /// The first level is half as large as the problem.
    levels: Vec<Level>,
    num_places: usize,
    observer: &'a dyn Observer,
}

impl<'a> Levels<'a> {
    fn new(task: &Task<'a>) -> Self {
        let problem = task.problem;
        let num_places = problem.size();
        let mut levels: Vec<Level> = Vec::new();
        let mut watch = Watch::new(task.observer);
        let own_fixed = problem.fixed().map_or_else(Vec::new, |fixed| {
            problem.graph().nodes().map(|process| fixed.of(process)).collect()
        });
        loop {
            let before = levels.last().map_or(num_places, |level| level.sizes.len());
            if before <= LAST_PLACES || task.observer.should_stop() {
                break;
            }
            let seed = derive(task.seed, levels.len() as u64);
            let fixed = levels.last().map_or(&own_fixed, |level| &level.fixed);
            let next =
                next_level(problem.oracle(), (problem.graph(), fixed), levels.last(), seed, &mut watch);
            // Single places keep their size, so in the end all sizes may differ and nothing can be paired.
            if next.sizes.len() == before {
                break;
            }
            levels.push(next);
        }
        Self { levels, num_places, observer: task.observer }
    }

    /// The place of each process.
    fn solve(&self, task: &Task<'_>) -> Vec<PeId> {
        let Multilevel { cooling, tries } = task.effort.multilevel;
        let first =
            self.levels.last().map_or_else(|| (0..self.num_places as PeId).collect(), Level::first_mapping);
        let mut states: Vec<Vec<PeId>> = vec![first; tries as usize];
        let seed = derive(task.seed, u64::MAX);
        for (index, level) in self.levels.iter().enumerate().rev() {
            let initial_acceptance = match index + 1 == self.levels.len() {
                true => HOT.max(cooling.final_acceptance),
                false => cooling.initial_acceptance,
            };
            let cooling = Cooling { initial_acceptance, ..cooling };
            let has_choice = level.sizes.len() >= CHOICE || index == 0;
            self.anneal(level, &mut states, &cooling, has_choice, derive(seed, index as u64));
            states = threads::map_each(states, &|state| level.taken_back(&state));
        }
        states.swap_remove(0)
    }

    /// Anneals all mappings of a level and drops the worse half if there are several.
    fn anneal(
        &self,
        level: &Level,
        states: &mut Vec<Vec<PeId>>,
        cooling: &Cooling,
        has_choice: bool,
        seed: u64,
    ) {
        let Some(averages) = level.averages.as_ref().filter(|_| level.graph.num_arcs() > 0) else {
            states.truncate(1);
            return;
        };
        let count = level.sizes.len() as PeId;
        let keys: Vec<PeId> = (0..count).collect();
        let near = Near::among(averages, &keys, self.observer);
        let kinds = level.kinds();
        let site = AnnealingContext {
            metric: averages,
            key_of: &keys,
            near: &near,
            kinds: &kinds,
            observer: self.observer,
        };
        let mut annealed: Vec<(Cost, Vec<PeId>)> = threads::map(states.len(), 1, &|index| {
            let state = &states[index];
            let process_on = process_on_each(state);
            let seed = derive(seed, index as u64);
            let annealed = site.anneal(&level.graph, state, &process_on, 0..count, cooling, seed);
            let mut place_of = vec![0; state.len()];
            for (&process, place) in process_on.iter().zip(annealed.place_of) {
                place_of[process as usize] = place;
            }
            (level.cost(averages, &place_of), place_of)
        });
        if has_choice {
            annealed.sort_by_key(|&(cost, _)| cost);
            annealed.truncate(annealed.len().div_ceil(2));
        }
        *states = annealed.into_iter().map(|(_, state)| state).collect();
    }
}

impl Level {
    fn cost(&self, averages: &Averages, place_of: &[PeId]) -> Cost {
        let row =
            |process: NodeId| averages.costs([place_of[process as usize]], &self.arcs(process), place_of)[0];
        self.graph.nodes().map(row).sum()
    }

    /// The kinds of places for annealing: by size, and those that keep their processes.
    fn kinds(&self) -> Vec<u32> {
        let mut kinds = self.sizes.clone();
        self.fixed.iter().flatten().for_each(|&place| kinds[place as usize] = FIXED);
        kinds
    }

    /// Fixed processes on their places, and the others in order on the remaining places of their size. Process
    /// i is as large as place i.
    fn first_mapping(&self) -> Vec<PeId> {
        let mut left: BTreeMap<u32, VecDeque<PeId>> = BTreeMap::new();
        let mut is_taken = vec![false; self.sizes.len()];
        self.fixed.iter().flatten().for_each(|&place| is_taken[place as usize] = true);
        for place in (0..self.sizes.len()).filter(|&place| !is_taken[place]) {
            left.entry(self.sizes[place]).or_default().push_back(place as PeId);
        }
        let mut next = |size: u32| left.get_mut(&size).and_then(VecDeque::pop_front);
        let place = |process: usize| {
            let fixed = self.fixed.get(process).copied().flatten();
            fixed.or_else(|| next(self.sizes[process])).expect("as many processes of each size as places")
        };
        (0..self.sizes.len()).map(place).collect()
    }

    fn arcs(&self, process: NodeId) -> Vec<(NodeId, i64)> {
        self.graph.arcs(process).collect()
    }

    /// The places of the previous level's processes, given the place of each process of this level.
    fn taken_back(&self, place_of: &[PeId]) -> Vec<PeId> {
        let count = self.places.iter().flatten().flatten().count();
        let mut before = vec![0; count];
        for (processes, &place) in self.processes.iter().zip(place_of) {
            let places = self.places[place as usize];
            for (process, place) in processes.iter().flatten().zip(places.iter().flatten()) {
                before[*process as usize] = *place;
            }
        }
        before
    }
}

/// The next level after a level, or after the problem itself.
fn next_level(
    distances: &Distances,
    (graph, fixed): (&CsrGraph, &[Option<PeId>]),
    before: Option<&Level>,
    seed: u64,
    watch: &mut Watch<'_>,
) -> Level {
    let n = before.map_or(graph.num_nodes(), |level| level.sizes.len());
    let graph = before.map_or(graph, |level| &level.graph);
    let size = |place: usize| before.map_or(1, |level| level.sizes[place]);
    // Only the first places have the maximum number of members; the others are not paired any more.
    let num_full = (0..n).take_while(|&place| size(place) == size(0)).count();
    let distance = |p: PeId, q: PeId| match before.and_then(|level| level.averages.as_ref()) {
        Some(averages) => averages.between(p, q),
        None => {
            let place = |p: PeId| before.map_or(p, |level| level.ends[p as usize][0]);
            distances.between(place(p), place(q))
        }
    };
    let places = matching::places(n, num_full, watch, &distance);
    let (processes, fixed) = match fixed {
        [] => (matching::processes(graph, num_full, seed), Vec::new()),
        fixed => matching::processes_around(graph, (num_full, &places, fixed), seed),
    };
    debug_assert_eq!(places.len(), processes.len());
    let of_members = |set: &[Option<u32>; 2]| set.iter().flatten().map(|&place| size(place as usize)).sum();
    let sizes: Vec<u32> = places.iter().map(of_members).collect();
    let ends: Vec<[PeId; 2]> = places
        .iter()
        .map(|&[first, second]| {
            let ends = |place: Option<u32>| {
                let place = place.or(first).expect("a set has a member");
                before.map_or([place; 2], |level| level.ends[place as usize])
            };
            [ends(first)[0], ends(second)[1]]
        })
        .collect();
    let averages = match before.and_then(|level| level.averages.as_ref()) {
        Some(averages) => Some(averages.of_sets(&places)),
        None => (places.len() <= MOST_PLACES).then(|| Averages::of_ends(distances, &ends)),
    };
    let mut block_of: Vec<BlockId> = vec![0; n];
    for (block, set) in processes.iter().enumerate() {
        set.iter().flatten().for_each(|&process| block_of[process as usize] = block as BlockId);
    }
    // Sums of weights times averages must fit, as sums of weights times distances do.
    let graph = quotient::contract(graph, &block_of, processes.len())
        .with_total_arc_weight_at_most(Cost::MAX / averages::MOST);
    Level { graph, places, processes, sizes, ends, fixed, averages }
}
