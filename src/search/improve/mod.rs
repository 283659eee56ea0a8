//! Improvement beyond exchanges that gain at once: annealing, and rebuilding parts.
//!
//! A round cuts the machine into [regions](region), improves them independently of each other and in parallel,
//! and keeps what is better. Two kinds of rounds:
//!
//! - *annealing*: regions as large as their tables stay in cache are [annealed](annealing) from what they are;
//! - *rebuilding*: small regions are mapped anew by a constructor, annealed, and kept if better. This
//!   is large neighbourhood search (Shaw 1998) whose neighbourhoods are mapping problems themselves; it finds
//!   what no sequence of small steps does: another shape of the outermost groups.
//!
//! Costs O(n · proposals) for annealing and as much plus the constructions for rebuilding. Memory: O(n + m) and the
//! tables, [`REGION_TABLE`] entries a thread. Results depend on the seed, not on threads.

mod annealing;
mod exact;
mod region;
mod savings;

use rayon::prelude::*;

use super::SearchOutcome;
use crate::graph::CsrGraph;
use crate::mapping::Mapping;
use crate::objective::cost;
use crate::observer::Observer;
use crate::problem::Problem;
use crate::rng::{Rng, derive};
use crate::topology::{DistanceOracle, Hierarchy};
use crate::partition::{Partitioner, Preset, Targets};
use crate::types::{BlockId, Cost, NodeId, PeId, Weight};
use annealing::{Improved, anneal};
use region::{Region, Regions};

pub use annealing::Annealing;

/// Entries of the table of savings that a region may have: of four bytes each they fit a second-level cache.
const REGION_TABLE: usize = 1 << 18;

/// Entries that a region of only two groups may have: beyond, groups are so large that exchanges between
/// them are left to the construction.
const GREATEST_TABLE: usize = 1 << 24;

/// What to spend on improving a mapping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Improvement {
    /// How regions are annealed in the first rounds.
    pub annealing: Annealing,
    /// Rounds of annealing, each with another division into regions. A problem that is a single region
    /// has one round.
    pub rounds: u32,
    /// Rounds of rebuilding.
    pub rebuilds: u32,
    /// The effort of the partitions of rebuilding.
    pub partitions: Preset,
    /// How regions are annealed after rebuilding.
    pub rebuilt: Annealing,
}

impl Improvement {
    /// Little more than a descent.
    pub const FAST: Self = Self {
        annealing: Annealing { proposals: 300, first: 0.05, last: 0.02 },
        rounds: 1,
        rebuilds: 0,
        partitions: Preset::Fast,
        rebuilt: Annealing { proposals: 100, first: 0.05, last: 0.02 },
    };

    /// A good mapping in a fraction of a millisecond for each process.
    pub const ECO: Self = Self {
        annealing: Annealing { proposals: 1000, first: 0.05, last: 0.02 },
        rounds: 2,
        rebuilds: 4,
        ..Self::FAST
    };

    /// The best that a millisecond or two for each process can do.
    pub const STRONG: Self = Self {
        annealing: Annealing { proposals: 4000, first: 0.1, last: 0.01 },
        rounds: 4,
        rebuilds: 40,
        partitions: Preset::Fast,
        rebuilt: Annealing { proposals: 300, first: 0.05, last: 0.02 },
    };
}

/// Improves a mapping as large as the problem; the result is never worse than the start.
///
/// The distances of `problem` are those of `hierarchy`.
///
/// The observer may end it early; the result then is the best mapping so far. Runs on the threads of the rayon pool
/// it is called in. Panics if the problem, the hierarchy
/// and the mapping are not of the same size.
pub fn improve<O: DistanceOracle>(
    problem: &Problem<'_, O>,
    hierarchy: &Hierarchy,
    start: &Mapping,
    config: &Improvement,
    seed: u64,
    observer: &dyn Observer,
) -> SearchOutcome {
    let hierarchy = hierarchy.simplified();
    let mut state = State {
        graph: problem.graph(),
        hierarchy: &hierarchy,
        pe_of: start.as_slice().to_vec(),
        process_on: start.inverse(),
        cost: cost(problem, start),
        tried: 0,
        made: 0,
        observer,
    };
    if exact::is_small(&hierarchy) {
        state.solve_exactly();
        return state.finish();
    }
    let stop = || observer.should_stop();
    let levels = state.levels();
    let rounds = if levels.iter().all(|&(level, groups)| groups >= state.num_groups(level)) {
        1
    } else {
        config.rounds
    };
    for round in 0..rounds {
        for &(level, groups) in &levels {
            let seed = derive(derive(derive(seed, 0), u64::from(round)), level as u64);
            state.round(level, groups, seed, &|region, seed| {
                let start: Vec<PeId> = (0..region.processes.len() as PeId).collect();
                anneal(&region.graph, &region.hierarchy, &start, &config.annealing, seed, &stop)
            });
        }
    }
    for round in 0..config.rebuilds {
        for &(level, _) in &levels {
            let seed = derive(derive(derive(seed, 1), u64::from(round)), level as u64);
            let gr: Vec<usize> = std::env::var("GR").unwrap_or("2,3,4".into()).split(",").map(|x| x.parse().unwrap()).collect(); let groups = gr[round as usize % gr.len()];
            state.round(level, groups, seed, &|region, seed| {
                rebuilt(region, config, seed, &stop)
            });
        }
    }
    state.finish()
}

/// Divides a region anew into its outermost groups, anneals that, and returns it if it is better.
fn rebuilt(region: &Region, config: &Improvement, seed: u64, stop: &dyn Fn() -> bool) -> Improved {
    let Region { graph, hierarchy, processes } = region;
    let unchanged = || Improved { pe_of: (0..processes.len() as PeId).collect(), gain: 0, tried: 0, made: 0 };
    let Some((&num_blocks, inner @ [_, ..])) = hierarchy.arities().split_last() else {
        return unchanged();
    };
    let targets = Targets::equal(graph, num_blocks as usize, 0.0).expect("a level has at least two groups");
    let partition = Partitioner::new(config.partitions, derive(seed, 0)).partition(graph, &targets);
    let size = processes.len() / num_blocks as usize;
    let cut: Weight = graph
        .nodes()
        .map(|u| graph.arcs(u).filter(|&(v, _)| v as usize / size != u as usize / size).map(|(_, weight)| weight).sum::<Weight>())
        .sum();
    let _ = inner;
    let filt: f64 = std::env::var("FILT").map_or(1.02, |x| x.parse().unwrap());
    if partition.overload() > 0 || 2 * partition.cut() > (cut as f64 * filt) as i64 {
        return unchanged();
    }
    let start = place(partition.blocks(), num_blocks as usize);
    if start.iter().enumerate().all(|(process, &pe)| process as PeId == pe) {
        return unchanged();
    }
    let oracle = hierarchy.online64();
    let problem = Problem::new(graph, &oracle).expect("a part of a problem is a problem");
    let start = Mapping::from_permutation(start);
    let loss = cost(&problem, &start) - cost(&problem, &Mapping::identity(processes.len()));
    let improved = anneal(graph, hierarchy, start.as_slice(), &config.rebuilt, derive(seed, 1), stop);
    let gain = improved.gain - loss;
    if gain > 0 { Improved { gain, ..improved } } else { unchanged() }
}

/// The PE of each process such that the blocks of a partition are groups of PEs, and as many processes as
/// possible stay where they are: process i on PE i.
fn place(blocks: &[BlockId], num_blocks: usize) -> Vec<PeId> {
    let size = blocks.len() / num_blocks;
    // Blocks and groups are matched greedily, by how many processes they have in common.
    let mut common = vec![0usize; num_blocks * num_blocks];
    for (process, &block) in blocks.iter().enumerate() {
        common[block as usize * num_blocks + process / size] += 1;
    }
    let mut pairs: Vec<usize> = (0..num_blocks * num_blocks).collect();
    pairs.sort_by_key(|&pair| std::cmp::Reverse(common[pair]));
    let mut group_of = vec![usize::MAX; num_blocks];
    let mut taken = vec![false; num_blocks];
    for pair in pairs {
        let (block, group) = (pair / num_blocks, pair % num_blocks);
        if group_of[block] == usize::MAX && !taken[group] {
            group_of[block] = group;
            taken[group] = true;
        }
    }
    let stays = |process: usize| group_of[blocks[process] as usize] == process / size;
    let mut free: Vec<std::vec::IntoIter<PeId>> = (0..num_blocks)
        .map(|group| {
            let left: Vec<PeId> =
                (group * size..(group + 1) * size).filter(|&pe| !stays(pe)).map(|pe| pe as PeId).collect();
            left.into_iter()
        })
        .collect();
    (0..blocks.len())
        .map(|process| {
            if stays(process) {
                process as PeId
            } else {
                free[group_of[blocks[process] as usize]].next().expect("blocks are as large as groups")
            }
        })
        .collect()
}

struct State<'a> {
    graph: &'a CsrGraph,
    hierarchy: &'a Hierarchy,
    pe_of: Vec<PeId>,
    process_on: Vec<NodeId>,
    cost: Cost,
    tried: u64,
    made: u64,
    observer: &'a dyn Observer,
}

impl State<'_> {
    fn finish(self) -> SearchOutcome {
        SearchOutcome {
            mapping: Mapping::from_permutation(self.pe_of),
            cost: self.cost,
            tried: self.tried,
            made: self.made,
            stopped: self.observer.should_stop(),
        }
    }

    /// Takes the best mapping there is.
    fn solve_exactly(&mut self) {
        let oracle = self.hierarchy.online64();
        let problem = Problem::new(self.graph, &oracle).expect("the mapping has a cost");
        if let Some((cost, pe_of)) = exact::optimum(&problem, self.hierarchy, self.cost) {
            self.cost = cost;
            self.pe_of = pe_of;
            self.observer.reached(cost);
        }
    }

    fn group_size(&self, level: usize) -> usize {
        self.hierarchy.arities()[..=level].iter().map(|&arity| arity as usize).product()
    }

    fn num_groups(&self, level: usize) -> usize {
        self.pe_of.len() / self.group_size(level)
    }

    /// The levels whose groups are gathered into regions, and how many for a region, outermost first: those
    /// that no region of the level above holds whole.
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

    /// One round: gathers groups into regions, improves each, and takes over what they gained.
    fn round(
        &mut self,
        level: usize,
        groups: usize,
        seed: u64,
        improve: &(dyn Fn(&Region, u64) -> Improved + Sync),
    ) {
        let (graph, hierarchy, observer) = (self.graph, self.hierarchy, self.observer);
        if observer.should_stop() {
            return;
        }
        let mut rng = Rng::new(derive(seed, 0));
        let regions = Regions::gather(graph, hierarchy, &self.pe_of, level, groups, &mut rng);
        let outcomes: Vec<(usize, Vec<NodeId>, Improved)> = (0..regions.len())
            .into_par_iter()
            .filter(|_| !observer.should_stop())
            .map(|index| {
                let region = regions.problem(graph, hierarchy, &self.pe_of, &self.process_on, index);
                let improved = improve(&region, derive(seed, 1 + index as u64));
                (index, region.processes, improved)
            })
            .collect();
        for (index, processes, improved) in outcomes {
            self.tried += improved.tried;
            self.made += improved.made;
            if improved.gain > 0 {
                for (&process, &local) in processes.iter().zip(&improved.pe_of) {
                    let pe = regions.pe(index, local);
                    self.pe_of[process as usize] = pe;
                    self.process_on[pe as usize] = process;
                }
                self.cost -= improved.gain;
                self.observer.reached(self.cost);
            }
        }
    }
}
