//! Refinement that leaves the bounds and comes back.
//!
//! Where a dense core and a large periphery hang together, no sequence of moves within the bounds takes the core from one block to
//! another. So all vertices move at once to the block that they are held by most, even if it has no room and at some loss; then blocks
//! are brought back to their bounds by the cheapest moves. Of the states after that, the best is kept.
//!
//! Vertices that move at once can undo each other's gains. So each looks at its neighbours as if those of greater gain had moved
//! already, and stays if it would lose then. What has just moved stays for one round. O(n + m) a round, besides the moves back.
//!
//! Gilbert, Madduri, Boman, Rajamanickam: Jet: multilevel graph partitioning on graphics processing units. SISC 2024.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{balance, fill};
use crate::base::observer::{Observer, Watch};
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::LoadBounds;
use crate::partition::compact::Stored;
use crate::partition::objective::Objective;
use crate::partition::settings::UnconstrainedConfig;

/// The number of vertices whose wishes a thread computes in one piece. Balances the cost of a task against idle threads.
const CHUNK: usize = 4096;

/// What a refinement must keep to.
#[derive(Clone, Copy)]
pub(crate) struct Goal<'a> {
    pub bounds: LoadBounds<'a>,
    pub settings: &'a UnconstrainedConfig,
    pub observer: &'a dyn Observer,
}

/// The block that a vertex is held by most, and the gain of moving there.
#[derive(Clone, Copy, Debug)]
struct Wish {
    to: BlockId,
    gain: Weight,
}

impl Wish {
    /// To stay. Its gain is below all others.
    const NONE: Self = Self { to: BlockId::MAX, gain: Weight::MIN };
}

/// Working memory of the refinement.
#[derive(Debug, Default)]
pub(crate) struct Unconstrained {
    /// By vertex; [`Wish::NONE`] where the move loses too much, and for fixed vertices.
    wishes: Vec<Wish>,
    /// Whether the vertex or a neighbour has moved since its wish was computed.
    is_outdated: Vec<AtomicBool>,
    /// Whether the vertex has moved by its wish in the round before.
    is_locked: Vec<bool>,
    movers: Vec<NodeId>,
    /// The blocks before the round.
    before: Vec<BlockId>,
}

impl Unconstrained {
    /// Refines a partition until `patience` rounds have found no better one or the observer asks to stop. Its score does not rise.
    pub fn refine<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        goal: Goal<'_>,
    ) {
        let bounds = goal.bounds;
        let mut current = assignment.clone();
        self.begin(level.num_nodes());
        let mut left = goal.settings.patience;
        while left > 0 && self.round(level, &mut current, goal) {
            left -= 1;
            let (found, best) = (current.score(bounds), assignment.score(bounds));
            let least_gain = (best.1 as f64 * goal.settings.least_gain) as Weight;
            if found.0 < best.0 || found.0 == best.0 && best.1 - found.1 > least_gain {
                left = goal.settings.patience;
            }
            if found < best {
                assignment.clone_from(&current);
            }
        }
    }

    fn begin(&mut self, n: usize) {
        self.wishes.resize(n, Wish::NONE);
        self.is_outdated.clear();
        self.is_outdated.resize_with(n, || AtomicBool::new(true));
        self.is_locked.clear();
        self.is_locked.resize(n, false);
    }

    /// Moves vertices beyond the bounds and back; returns whether anything moved, and the observer does not ask to stop.
    fn round<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        current: &mut Assignment,
        goal: Goal<'_>,
    ) -> bool {
        self.update_wishes(level, current, goal);
        self.select_movers(level, current);
        if self.movers.is_empty() || goal.observer.should_stop() {
            return false;
        }
        self.before.clone_from(&current.blocks);
        let cost = current.cost;
        self.make_moves(level, current);
        balance::rebalance_roughly(level, current, goal.bounds.most, goal.observer);
        fill::fill_short(level, current, goal.bounds, goal.observer);
        current.cost = cost - self.notice_moves(level, current);
        !goal.observer.should_stop()
    }

    /// Computes the wishes that may have changed.
    fn update_wishes<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        current: &Assignment,
        goal: Goal<'_>,
    ) {
        let (is_outdated, is_locked) = (&self.is_outdated, &self.is_locked);
        let update = |(index, wishes): (usize, &mut [Wish])| {
            let mut affinities = BlockAffinities::default();
            affinities.resize(current.weights.len());
            let mut watch = Watch::new(goal.observer);
            for (node, own) in ((index * CHUNK) as NodeId..).zip(wishes) {
                let outdated = &is_outdated[node as usize];
                if is_locked[node as usize] || !outdated.load(Ordering::Relaxed) {
                    continue;
                }
                outdated.store(false, Ordering::Relaxed);
                *own = wish(level, current, goal, &mut affinities, node);
                if watch.stops_after(1 + level.degree(node) + affinities.work_of_gains()) {
                    break;
                }
            }
        };
        threads::map_each(self.wishes[..level.num_nodes()].chunks_mut(CHUNK).enumerate().collect(), &update);
    }

    /// The vertices that do not lose if all neighbours of greater gain have moved.
    fn select_movers<W: Stored, O: Objective>(&mut self, level: Problem<'_, W, O>, current: &Assignment) {
        let movers = in_chunks(level.num_nodes(), &|nodes| {
            let may_move = |&node: &NodeId| self.gain_after_others(level, current, node) >= Some(0);
            nodes.filter(may_move).collect::<Vec<NodeId>>()
        });
        self.movers.clear();
        self.movers.extend(movers.into_iter().flatten());
    }

    /// The gain of what a vertex wishes if all neighbours of greater gain have moved.
    fn gain_after_others<W: Stored, O: Objective>(
        &self,
        level: Problem<'_, W, O>,
        current: &Assignment,
        node: NodeId,
    ) -> Option<Weight> {
        let wish = self.wishes[node as usize];
        if wish.to == Wish::NONE.to || self.is_locked[node as usize] {
            return None;
        }
        let from = current.blocks[node as usize];
        let nearer = |block| level.objective.between(from, block) - level.objective.between(wish.to, block);
        let mut gain = wish.gain;
        level.arcs(node).iter().for_each(|arc| {
            let other = self.wishes[arc.target as usize];
            if (other.gain, node) > (wish.gain, arc.target) && !self.is_locked[arc.target as usize] {
                let from = current.blocks[arc.target as usize];
                gain += arc.weight() * (nearer(other.to) - nearer(from));
            }
        });
        Some(gain)
    }

    /// Moves the movers without a look at the cost.
    fn make_moves<W: Stored, O: Objective>(&mut self, level: Problem<'_, W, O>, current: &mut Assignment) {
        self.is_locked.fill(false);
        for &node in &self.movers {
            current.shift(node, level.node_weight(node), self.wishes[node as usize].to, 0);
            self.is_locked[node as usize] = true;
        }
    }

    /// Marks the vertices whose wishes may have changed; returns how much all moves of the round have gained.
    fn notice_moves<W: Stored, O: Objective>(
        &self,
        level: Problem<'_, W, O>,
        current: &Assignment,
    ) -> Weight {
        let has_moved = |&node: &NodeId| current.blocks[node as usize] != self.before[node as usize];
        let gains = in_chunks(level.num_nodes(), &|nodes| {
            let moved = nodes.filter(has_moved).map(|node| self.notice_move(level, &current.blocks, node));
            moved.fold((0, 0), |(twice, own), gain| (twice + gain.0, own + gain.1))
        });
        let (twice, own): (Vec<Weight>, Vec<Weight>) = gains.into_iter().unzip();
        twice.iter().sum::<Weight>() / 2 + own.iter().sum::<Weight>()
    }

    /// Twice what the edges of a vertex that has moved gain, half of that where the other end has moved too and will count it; and what
    /// the vertex gains by itself.
    fn notice_move<W: Stored, O: Objective>(
        &self,
        level: Problem<'_, W, O>,
        blocks: &[BlockId],
        node: NodeId,
    ) -> (Weight, Weight) {
        let (old, new) = (self.before[node as usize], blocks[node as usize]);
        self.is_outdated[node as usize].store(true, Ordering::Relaxed);
        let mut twice = 0;
        level.arcs(node).iter().for_each(|arc| {
            self.is_outdated[arc.target as usize].store(true, Ordering::Relaxed);
            let (from, to) = (self.before[arc.target as usize], blocks[arc.target as usize]);
            let gain = arc.weight() * (level.objective.between(old, from) - level.objective.between(new, to));
            twice += if from == to { 2 * gain } else { gain };
        });
        (twice, level.own_gain(node, old, new))
    }
}

/// The best move of a vertex, whatever room there is. Among equals the same block attracts all vertices, so that neighbours stay together.
fn wish<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    current: &Assignment,
    Goal { bounds, settings, .. }: Goal<'_>,
    affinities: &mut BlockAffinities,
    node: NodeId,
) -> Wish {
    if level.objective.is_fixed(node) {
        return Wish::NONE;
    }
    let from = current.blocks[node as usize];
    affinities.collect(level.graph, &current.blocks, node);
    let is_open = |block: BlockId| block != from && bounds.most[block as usize] > 0;
    let count = affinities.narrow(level.objective.has_pull(), is_open);
    let blocks = affinities.blocks()[..count].iter().copied().filter(|&block| is_open(block));
    let moves = blocks.map(|block| (level.gain(node, affinities, from, block), block));
    let Some((gain, to)) = moves.max() else { return Wish::NONE };
    let held = affinities.to(from) * level.objective.between(from, to);
    if gain >= 0 || ((-gain) as f64) < held as f64 * settings.loss { Wish { to, gain } } else { Wish::NONE }
}

/// What `work` computes for ranges of the vertices, in their order; ranges in parallel.
fn in_chunks<T: Send>(num_nodes: usize, work: &(dyn Fn(Range<NodeId>) -> T + Sync)) -> Vec<T> {
    threads::map_ranges(num_nodes, CHUNK, &|nodes| work(nodes.start as NodeId..nodes.end as NodeId))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::partition::FixedVertices;
    use crate::partition::compact::CompactGraph;
    use crate::partition::objective::tests::matrices;
    use crate::partition::objective::{Cut, EdgeCost, Migrating};
    use crate::testing::Stops;
    use crate::testing::{core_and_periphery, random_graph, with_node_weights};

    fn goal<'a>(bounds: LoadBounds<'a>, observer: &'a dyn Observer) -> Goal<'a> {
        const SETTINGS: UnconstrainedConfig =
            UnconstrainedConfig { patience: 5, least_gain: 0.002, is_balanced_first: true, loss: 0.5 };
        Goal { bounds, settings: &SETTINGS, observer }
    }

    /// A refined partition is not worse, keeps its fixed vertices, and has the cost and the weights that it says.
    fn check(objective: &EdgeCost<'_>, num_blocks: usize, num_fixed: u32, rng: &mut Rng) {
        // One block is closed.
        let random_block = |rng: &mut Rng| rng.below(num_blocks as u32 - 1);
        let mut fixed = FixedVertices::none(90, num_blocks);
        (0..num_fixed).for_each(|vertex| fixed.fix(vertex, random_block(rng)).unwrap());
        let weights: Vec<Weight> = (0..90).map(|_| 1 + Weight::from(rng.below(4))).collect();
        let graph = with_node_weights(&random_graph(90, 5, 4, rng), &weights);
        let graph = CompactGraph::<i64>::new(&graph);
        let objective = Migrating::fixing(objective.clone(), &fixed);
        let level = Problem { graph: &graph, objective: &objective };
        let blocks: Vec<BlockId> =
            level.nodes().map(|node| fixed.of(node).unwrap_or(random_block(rng))).collect();
        let mut assignment = Assignment::new(level, blocks, num_blocks);
        let mut most = vec![level.total_node_weight() / (num_blocks as Weight - 1) + 4; num_blocks];
        most[num_blocks - 1] = 0;
        let bounds = LoadBounds::from(&most[..]);
        for observer in [&() as &dyn Observer, &Stops] {
            let before = assignment.score(bounds);
            Unconstrained::default().refine(level, &mut assignment, goal(bounds, observer));
            let fresh = Assignment::new(level, assignment.blocks.clone(), num_blocks);
            assert_eq!((assignment.cost, &assignment.weights), (fresh.cost, &fresh.weights));
            assert!(assignment.score(bounds) <= before);
            assert_eq!(assignment.weights[num_blocks - 1], 0);
            assert_eq!(fixed.violated_by(&assignment.blocks), None);
        }
    }

    #[test]
    fn partitions_are_never_worse_and_agree_with_recomputation() {
        let mut rng = Rng::new(3);
        for num_fixed in [0, 5, 30, 90] {
            check(&EdgeCost::Cut(Cut), 6, num_fixed, &mut rng);
            for matrix in matrices() {
                check(&EdgeCost::of_distances(&matrix), matrix.num_blocks, num_fixed, &mut rng);
            }
        }
    }

    #[test]
    fn a_core_that_is_spread_over_all_blocks_comes_together() {
        let graph = core_and_periphery(40, 320);
        let graph = CompactGraph::<i64>::new(&graph);
        let level = Problem { graph: &graph, objective: &Cut };
        let mut blocks: Vec<BlockId> = level.nodes().map(|node| node % 8).collect();
        Rng::new(1).shuffle(&mut blocks);
        let mut assignment = Assignment::new(level, blocks, 8);
        let bounds = [40; 8];
        Unconstrained::default().refine(level, &mut assignment, goal(bounds[..].into(), &()));
        assert_eq!(assignment.overload(&bounds), 0);
        // All leaves are cut off, and no edge of the core is.
        assert_eq!(assignment.cost, 280);
    }
}
