//! Fiduccia-Mattheyses refinement of k-way partitions.
//!
//! A search starts from some vertices of the boundary. It always makes the best move that fits, even if that raises the cut,
//! and lets the neighbours of moved vertices join. It ends some moves after its best state. Started from
//! the whole boundary, this is the classical algorithm; started from single vertices, it escapes from far more local optima.
//! A vertex moves at most once per round.
//!
//! Searches run in waves: those of a wave start from the same state, at the same time, and do not see each other's moves. Most of them find
//! nothing. What the others found is then made one after the other, as far as it still lowers the cost. Waves depend on the number of searches
//! only, so the result does not depend on that of threads; rounds of few searches make one after the other.
//!
//! The affinities of a vertex to the blocks are computed when they are needed: O(deg) time, O(n + k) memory. A table of
//! all affinities would take O(n k).
//!
//! Sanders, Schulz: Engineering multilevel graph partitioning algorithms. ESA 2011.

mod search;

use self::search::{Degrees, Found, Move, Search, State, joins};
use crate::base::observer::{Observer, Watch};
use crate::base::rng::Rng;
use crate::base::threads::{self, Scratch};
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::{Drift, Room};
use crate::partition::compact::Stored;
use crate::partition::objective::Objective;
use crate::partition::settings::KWayConfig;

/// A round ends once its searches have scanned this many times the arcs of the graph in vain. Balances cut against time
/// around hubs. Shows as [`MAX_SEARCH_EFFORT`] does; it is a multiple of the wasted work of a round where degrees are small.
const MAX_WASTED_PASSES: usize = 50;

/// Arcs added to those of the graph for [`MAX_WASTED_PASSES`], so that searches on small graphs are not cut short.
const FREE_ARCS: usize = 1 << 19;

/// Rounds end when one gains less than one in this many of the cut. Balances cut against time on the graphs of the
/// partition bench.
const LEAST_GAIN: Weight = 1000;

/// A wave has one in so many of the searches of its round, and at most so many. Balance idle threads against searches that do not see what
/// others of their wave have found. Tuned on meshes and random geometric graphs of 2^12 to 2^18 vertices in 64 blocks.
const WAVES: usize = 32;
const LONGEST_WAVE: usize = 64;

/// What a refinement must keep to.
#[derive(Clone, Copy)]
pub(crate) struct Goal<'a, B> {
    pub bounds: B,
    pub settings: &'a KWayConfig,
    pub observer: &'a dyn Observer,
}

/// Working memory of the refinement.
#[derive(Debug, Default)]
pub(crate) struct KWay {
    searches: Scratch<Search>,
    /// By vertex; a vertex of positive external degree lies on the boundary.
    degrees: Vec<Degrees>,
    affinities: BlockAffinities,
    /// The vertices that do not move: fixed ones, and those that have moved in this round.
    is_held: Vec<bool>,
    /// Those that have moved.
    moved: Vec<NodeId>,
    /// The loads of blocks do not differ from those of the assignment.
    no_drift: Drift,
    /// Where the searches of the next round start.
    seeds: Vec<NodeId>,
    /// True if there are vertices that do not join searches.
    has_hubs: bool,
}

impl KWay {
    /// Refines a partition until the observer asks to stop; no block that is within its bound leaves it, and none comes to lack its
    /// least load unless that takes more from what others exceed or lack. Returns whether the cost fell.
    pub fn refine<W: Stored, O: Objective, B: Room>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        goal: Goal<'_, B>,
        rng: &mut Rng,
    ) -> bool {
        if goal.settings.rounds == 0 {
            return false;
        }
        let before = assignment.cost;
        self.affinities.resize(assignment.weights.len());
        self.no_drift.clear(assignment.weights.len(), goal.bounds.num_weights());
        self.has_hubs = level.nodes().any(|node| !joins(level.graph, node));
        self.degrees.resize(level.num_nodes(), Degrees::default());
        let degrees = |node| Degrees::of(level.graph, &assignment.blocks, node as NodeId);
        threads::fill(&mut self.degrees, degrees);
        self.is_held.clear();
        self.is_held.resize(level.num_nodes(), false);
        if level.objective.has_fixed() {
            threads::fill(&mut self.is_held, |node| level.objective.is_fixed(node as NodeId));
        }
        self.seeds.clear();
        self.seeds.extend(level.nodes().filter(|&node| self.degrees[node as usize].external > 0));
        for _ in 0..goal.settings.rounds {
            let start = assignment.cost;
            self.round(level, assignment, goal, rng);
            if start - assignment.cost <= start / LEAST_GAIN {
                break;
            }
        }
        assignment.cost < before
    }

    /// One search from each group of seeds.
    fn round<W: Stored, O: Objective, B: Room>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        goal: Goal<'_, B>,
        rng: &mut Rng,
    ) {
        let Goal { settings, observer, bounds } = goal;
        let mut seeds = std::mem::take(&mut self.seeds);
        rng.shuffle(&mut seeds);
        let max_wasted = MAX_WASTED_PASSES * (level.num_arcs() + FREE_ARCS) / settings.seeds.max(1);
        let mut wasted = 0;
        let groups: Vec<&[NodeId]> = seeds.chunks(settings.seeds.min(seeds.len().max(1))).collect();
        for wave in groups.chunks((groups.len() / WAVES).clamp(1, LONGEST_WAVE)) {
            if wasted > max_wasted || observer.should_stop() {
                break;
            }
            let state = State {
                level,
                assignment: &*assignment,
                degrees: &self.degrees,
                is_held: &self.is_held,
                has_hubs: self.has_hubs,
                bounds,
                settings,
            };
            let search = |index: usize| {
                self.searches.with(|search| search.run(state, wave[index], &mut Watch::new(observer)))
            };
            let found = threads::map(wave.len(), 1, &search);
            wasted += found.iter().map(|found| found.wasted).sum::<usize>();
            self.make_all(level, assignment, bounds, found);
        }
        self.find_seeds(level);
    }

    /// Collects where the next round should start. A search that failed would fail again unless something moved nearby.
    fn find_seeds<W: Stored, O: Objective>(&mut self, level: Problem<'_, W, O>) {
        self.seeds.clear();
        for node in self.moved.drain(..) {
            self.is_held[node as usize] = false;
            self.seeds.push(node);
            self.seeds.extend(level.arcs(node).iter().map(|arc| arc.target));
        }
        self.seeds.sort_unstable();
        self.seeds.dedup();
        self.seeds.retain(|&node| self.degrees[node as usize].external > 0);
    }

    /// Makes the moves that the searches of a wave have found, one search after the other.
    fn make_all<W: Stored, O: Objective, B: Room>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        bounds: B,
        found: Vec<Found>,
    ) {
        let mut found = found.into_iter().map(|found| found.moves).filter(|moves| !moves.is_empty());
        // The first ones are made in the state that they were found in.
        let first = found.next().unwrap_or_default();
        first.into_iter().for_each(|step| self.make(level, assignment, bounds, step));
        found.for_each(|moves| self.make_while_better(level, assignment, bounds, &moves));
    }

    /// Makes moves that were found in another state, up to the best state of now. Those that do not fit any more are left out.
    fn make_while_better<W: Stored, O: Objective, B: Room>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        bounds: B,
        moves: &[Move],
    ) {
        let (mut best_cost, mut best_length, before) = (assignment.cost, 0, self.moved.len());
        let mut backwards = Vec::with_capacity(moves.len());
        for &Move { node, to, .. } in moves {
            let from = assignment.blocks[node as usize];
            let Some(gain) = self.gain(level, assignment, bounds, (node, to)) else { continue };
            self.make(level, assignment, bounds, Move { node, to, gain });
            backwards.push(Move { node, to: from, gain: -gain });
            if assignment.cost < best_cost {
                (best_cost, best_length) = (assignment.cost, backwards.len());
            }
        }
        for back in backwards.drain(best_length..).rev() {
            self.make(level, assignment, bounds, back);
            self.is_held[back.node as usize] = false;
        }
        self.moved.truncate(before + best_length);
    }

    /// How much the cost falls by a move, if that is possible.
    fn gain<W: Stored, O: Objective, B: Room>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &Assignment,
        bounds: B,
        (node, to): (NodeId, BlockId),
    ) -> Option<Weight> {
        let (from, weight) = (assignment.blocks[node as usize], level.node_weight(node));
        let is_possible = !self.is_held[node as usize]
            && weight < assignment.weights[from as usize]
            && bounds.takes(&assignment.weights, &self.no_drift, (node, weight), [from, to]);
        is_possible.then(|| {
            self.affinities.collect(level.graph, &assignment.blocks, node);
            level.gain(node, &self.affinities, from, to)
        })
    }

    /// Moves a vertex, and updates the degrees around it.
    fn make<W: Stored, O: Objective, B: Room>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        bounds: B,
        Move { node, to, gain }: Move,
    ) {
        let from = assignment.blocks[node as usize];
        bounds.follow(node, [from, to]);
        assignment.shift(node, level.node_weight(node), to, gain);
        self.is_held[node as usize] = true;
        self.moved.push(node);
        let mut internal = 0;
        level.arcs(node).iter().for_each(|arc| {
            let own = assignment.blocks[arc.target as usize];
            internal += if own == to { arc.weight() } else { 0 };
            self.degrees[arc.target as usize].follow(own, arc.weight(), [from, to]);
        });
        let degrees = &mut self.degrees[node as usize];
        degrees.external += degrees.internal - internal;
        degrees.internal = internal;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{CsrGraph, generate};
    use crate::partition::PartitionConfig;
    use crate::partition::PartitionPreset;
    use crate::partition::bounds::LoadBounds;
    use crate::partition::compact::CompactGraph;
    use crate::partition::objective::tests::{edge_costs, matrices};
    use crate::partition::objective::{Cut, StoredCost};

    fn graph() -> CsrGraph {
        generate::random_geometric(300, 8.0, 5)
    }

    fn scattered<O: Objective>(level: Problem<'_, i32, O>, k: u32, rng: &mut Rng) -> Assignment {
        let blocks = level.nodes().map(|_| rng.below(k)).collect();
        Assignment::new(level, blocks, k as usize)
    }

    fn check_moves<O: Objective>(objective: &O, k: u32) {
        let graph = graph();
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective };
        let mut rng = Rng::new(4);
        let mut assignment = scattered(level, k, &mut rng);
        let unlimited = vec![Weight::MAX / 2; k as usize];
        let bounds = LoadBounds::from(&unlimited[..]);
        let mut k_way = KWay::default();
        k_way.affinities.resize(k as usize);
        k_way.is_held.resize(level.num_nodes(), false);
        k_way.degrees.extend(level.nodes().map(|node| Degrees::of(&graph, &assignment.blocks, node)));
        for _ in 0..200 {
            let node = rng.below(level.num_nodes() as u32);
            let (from, to) = (assignment.blocks[node as usize], rng.below(k));
            if from == to {
                continue;
            }
            k_way.affinities.collect(&graph, &assignment.blocks, node);
            let gain = level.gain(node, &k_way.affinities, from, to);
            k_way.make(level, &mut assignment, bounds, Move { node, to, gain });
            for node in level.nodes() {
                let degrees = Degrees::of(&graph, &assignment.blocks, node);
                assert_eq!(k_way.degrees[node as usize], degrees);
            }
            let fresh = Assignment::new(level, assignment.blocks.clone(), k as usize);
            assert_eq!((assignment.cost, &assignment.weights), (fresh.cost, &fresh.weights));
        }
    }

    #[test]
    fn degrees_and_cost_agree_with_recomputation_after_every_move() {
        check_moves(&Cut, 5);
        for matrix in matrices().into_iter().step_by(3) {
            check_moves(&StoredCost::new(&matrix).unwrap(), matrix.num_blocks as u32);
        }
    }

    fn check_refinement<O: Objective>(objective: &O, k: u32) {
        let graph = graph();
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective };
        for preset in [PartitionPreset::Fast, PartitionPreset::Strong] {
            let mut rng = Rng::new(9);
            let mut assignment = scattered(level, k, &mut rng);
            let before = assignment.cost;
            let least = Weight::from(360 / k);
            let bounds: Vec<Weight> = assignment.weights.iter().map(|weight| (*weight).max(least)).collect();
            let goal = Goal {
                bounds: LoadBounds::from(&bounds[..]),
                settings: &PartitionConfig::preset(preset).k_way,
                observer: &(),
            };
            assert!(KWay::default().refine(level, &mut assignment, goal, &mut rng));
            let fresh = Assignment::new(level, assignment.blocks.clone(), k as usize);
            assert_eq!((assignment.cost, &assignment.weights), (fresh.cost, &fresh.weights));
            assert!(3 * assignment.cost < 2 * before);
            assert_eq!(assignment.overload(&bounds), 0);
        }
    }

    /// Searches of several wave sizes find moves that gain what they say, and leave the state as it is.
    fn check_searches<O: Objective>(objective: &O, k: u32) {
        let graph = graph();
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective };
        let mut rng = Rng::new(2);
        let assignment = scattered(level, k, &mut rng);
        let degrees: Vec<Degrees> =
            level.nodes().map(|node| Degrees::of(&graph, &assignment.blocks, node)).collect();
        let is_held: Vec<bool> = level.nodes().map(|_| rng.below(10) == 0).collect();
        let most: Vec<Weight> = assignment.weights.iter().map(|weight| weight + 2).collect();
        let settings = &PartitionConfig::preset(PartitionPreset::Fast).k_way;
        let bounds = LoadBounds::from(&most[..]);
        let state = State {
            level,
            assignment: &assignment,
            degrees: &degrees,
            is_held: &is_held,
            has_hubs: false,
            bounds,
            settings,
        };
        let mut search = Search::default();
        let mut num_moves = 0;
        for num_seeds in [1, 5, 25].repeat(4) {
            let seeds: Vec<NodeId> = (0..num_seeds).map(|_| rng.below(level.num_nodes() as u32)).collect();
            let found = search.run(state, &seeds, &mut Watch::new(&()));
            let mut after = assignment.clone();
            for &Move { node, to, gain } in &found.moves {
                assert!(!is_held[node as usize]);
                after.shift(node, level.node_weight(node), to, gain);
            }
            let fresh = Assignment::new(level, after.blocks.clone(), k as usize);
            assert_eq!((after.cost, &after.weights), (fresh.cost, &fresh.weights));
            assert!(after.overload(&most) == 0 && (found.moves.is_empty() || after.cost < assignment.cost));
            num_moves += found.moves.len();
        }
        assert!(num_moves > 20, "{num_moves}");
    }

    #[test]
    fn moves_gain_what_searches_say() {
        check_searches(&Cut, 5);
        for matrix in matrices().into_iter().step_by(3) {
            check_searches(&StoredCost::new(&matrix).unwrap(), matrix.num_blocks as u32);
        }
    }

    #[test]
    fn threads_do_not_change_the_result() {
        let graph = generate::random_geometric(4000, 8.0, 5);
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective: &Cut };
        let bounds = [300; 16];
        let settings = &PartitionConfig::preset(PartitionPreset::Fast).k_way;
        let goal = Goal { bounds: LoadBounds::from(&bounds[..]), settings, observer: &() };
        let refined = |threads| {
            let mut rng = Rng::new(7);
            let mut assignment = scattered(level, 16, &mut rng);
            let refine = || KWay::default().refine(level, &mut assignment, goal, &mut rng);
            assert!(threads::run(threads, refine).unwrap());
            assignment.blocks
        };
        assert_eq!(refined(1), refined(3));
    }

    #[test]
    fn refinement_lowers_the_cost_and_keeps_the_bounds() {
        check_refinement(&Cut, 6);
        for matrix in matrices() {
            edge_costs(&matrix).for_each(|cost| check_refinement(&cost, matrix.num_blocks as u32));
        }
    }
}
