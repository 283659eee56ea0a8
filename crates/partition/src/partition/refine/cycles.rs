//! Moves along paths and cycles of blocks: improvement at exact block sizes.
//!
//! When every block is full, no vertex can move alone. But the best moves between adjacent blocks form a weighted
//! digraph on the blocks. A cycle of negative cost in it is a set of moves, one out of and one into each block on it,
//! that keeps all sizes and lowers the cost. Likewise, the cheapest path from an overloaded block to one with room
//! restores the balance at the least loss, and so does that from a block with more than its least load to one with less. Both are found by one label-correcting search (Bellman-Ford).
//!
//! Only for vertices of equal weight. A search costs O(k' h) for k' pairs of adjacent blocks and paths of h
//! blocks. Each round of moves costs the boundaries of the blocks it touches. Memory is O(n + k').
//!
//! Sanders, Schulz: Think locally, act globally: highly balanced graph partitioning. SEA 2013. There, each search
//! chooses its moves again, at random. Here, moves are kept, only those near a change are recomputed, and moves that
//! turn out to interfere are barred one by one.

use crate::base::budget::Budget;
use crate::base::observer::{Observer, Watch};
use crate::base::order;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::LoadBounds;
use crate::partition::compact::Stored;
use crate::partition::objective::Objective;

const NOWHERE: u32 = u32::MAX;

/// Cost of a block that no path reaches.
const UNREACHED: Weight = Weight::MAX;

/// The best move from one block to another.
#[derive(Clone, Copy, Debug)]
struct Move {
    to: BlockId,
    gain: Weight,
    node: NodeId,
}

/// One move of a path or cycle.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: NodeId,
    from: BlockId,
    to: BlockId,
}

/// The best moves between all adjacent blocks, updated as vertices move.
pub(crate) struct Moves<'a, W, O> {
    level: Problem<'a, W, O>,
    watch: Watch<'a>,
    /// By block: the best move to each adjacent block.
    rows: Vec<Vec<Move>>,
    /// By block: the vertices that may lie on its boundary, and some that have left it.
    members: Vec<Vec<NodeId>>,
    /// The block in whose list a vertex stands.
    listed: Vec<BlockId>,
    /// By vertex: a block it is barred from because a cycle with this move failed, until other moves succeed.
    barred_from: Vec<BlockId>,
    /// The vertices that are barred from a block.
    barred: Vec<NodeId>,
    affinities: BlockAffinities,
    /// By block: the best move to it from the block whose row is collected.
    best: Vec<(Weight, NodeId)>,
    touched: Vec<BlockId>,
    stale: Vec<bool>,
    stale_blocks: Vec<BlockId>,
    cost: Vec<Weight>,
    /// By block, the block before it on the cheapest path and the move that leads to it.
    parent: Vec<(BlockId, NodeId)>,
    /// The number of relaxations, and of arcs scanned for new moves, that are still allowed.
    budget: Budget,
    /// One block of each cycle found.
    cycles: Vec<BlockId>,
    visit: Vec<BlockId>,
    /// By vertex, where it would be after the steps under consideration.
    planned: Vec<BlockId>,
}

impl<'a, W: Stored, O: Objective> Moves<'a, W, O> {
    /// Collects the best moves of a partition; O(n + m).
    ///
    /// All searches together may relax, or scan, `effort` times as many moves as the graph has arcs. With many blocks there
    /// are many cycles, and a search for each would cost O(k) times the graph. Around hubs, each move outdates nearly all
    /// rows. Searches end once the observer asks to stop.
    pub fn new(
        level: Problem<'a, W, O>,
        assignment: &Assignment,
        effort: usize,
        observer: &'a dyn Observer,
    ) -> Self {
        let (n, k) = (level.num_nodes(), assignment.weights.len());
        let mut affinities = BlockAffinities::default();
        affinities.resize(k);
        let mut moves = Self {
            level,
            watch: Watch::new(observer),
            rows: vec![Vec::new(); k],
            members: vec![Vec::new(); k],
            listed: vec![NOWHERE; n],
            barred_from: vec![NOWHERE; n],
            barred: Vec::new(),
            affinities,
            best: vec![(0, NodeId::MAX); k],
            touched: Vec::new(),
            stale: vec![false; k],
            stale_blocks: Vec::new(),
            cost: vec![0; k],
            parent: vec![(NOWHERE, 0); k],
            budget: Budget::new(effort.saturating_mul(level.num_arcs())),
            cycles: Vec::new(),
            visit: vec![NOWHERE; k],
            planned: vec![NOWHERE; n],
        };
        for node in level.nodes() {
            let block = assignment.blocks[node as usize];
            if level.arcs(node).iter().any(|arc| assignment.blocks[arc.target as usize] != block) {
                moves.list(node, block);
            }
        }
        for block in 0..k as BlockId {
            if moves.collect_row(assignment, block) {
                break;
            }
        }
        moves
    }

    /// Adds a vertex to the list of a block unless it is there, or is fixed.
    fn list(&mut self, node: NodeId, block: BlockId) {
        if self.listed[node as usize] != block && !self.level.objective.is_fixed(node) {
            self.listed[node as usize] = block;
            self.members[block as usize].push(node);
        }
    }

    /// Computes the best moves out of a block, and drops vertices from its list that are not on its boundary; returns whether the
    /// observer asks to stop.
    fn collect_row(&mut self, assignment: &Assignment, block: BlockId) -> bool {
        let mut members = std::mem::take(&mut self.members[block as usize]);
        let mut work = 0;
        members.retain(|&node| {
            if assignment.blocks[node as usize] != block {
                if self.listed[node as usize] == block {
                    self.listed[node as usize] = NOWHERE;
                }
                return false;
            }
            let is_on_boundary = self.offer_moves(assignment, block, node);
            work += self.level.degree(node) + self.affinities.work_of_gains();
            if !is_on_boundary {
                self.listed[node as usize] = NOWHERE;
            }
            is_on_boundary
        });
        self.members[block as usize] = members;
        self.budget.spend(work);
        let row = &mut self.rows[block as usize];
        row.clear();
        for to in self.touched.drain(..) {
            let (gain, node) = std::mem::replace(&mut self.best[to as usize], (0, NodeId::MAX));
            row.push(Move { to, gain, node });
        }
        self.watch.stops_after(work)
    }

    /// Lets the moves of a vertex out of its block compete for the best ones; returns whether it lies on the boundary.
    fn offer_moves(&mut self, assignment: &Assignment, block: BlockId, node: NodeId) -> bool {
        self.affinities.collect(self.level.graph, &assignment.blocks, node);
        let is_on_boundary = self.affinities.blocks().iter().any(|&to| to != block);
        let barred = self.barred_from[node as usize];
        let fits = |to: BlockId| to != block && to != barred;
        let count = self.affinities.narrow(self.level.objective.has_pull(), fits);
        for &to in self.affinities.blocks()[..count].iter().filter(|&&to| fits(to)) {
            let gain = self.level.gain(node, &self.affinities, block, to);
            let best = &mut self.best[to as usize];
            if best.1 == NodeId::MAX {
                self.touched.push(to);
                *best = (gain, node);
            } else if gain > best.0 {
                *best = (gain, node);
            }
        }
        is_on_boundary
    }

    /// Moves a vertex and remembers which rows that changes.
    fn shift(&mut self, assignment: &mut Assignment, node: NodeId, to: BlockId) {
        self.affinities.collect(self.level.graph, &assignment.blocks, node);
        let from = assignment.blocks[node as usize];
        let gain = self.level.gain(node, &self.affinities, from, to);
        assignment.shift(node, self.level.node_weight(node), to, gain);
        self.list(node, to);
        self.outdate(from);
        self.outdate(to);
        let level = self.level;
        for arc in level.arcs(node) {
            let block = assignment.blocks[arc.target as usize];
            self.list(arc.target, block);
            self.outdate(block);
        }
    }

    /// Notes that the row of a block must be computed again.
    fn outdate(&mut self, block: BlockId) {
        if !std::mem::replace(&mut self.stale[block as usize], true) {
            self.stale_blocks.push(block);
        }
    }

    /// Computes the rows again that are out of date, until the observer asks to stop.
    fn update(&mut self, assignment: &Assignment) {
        while let Some(block) = self.stale_blocks.pop() {
            self.stale[block as usize] = false;
            if self.collect_row(assignment, block) {
                return;
            }
        }
    }

    /// Moves vertices along cheapest paths out of overloaded blocks until no block is overloaded or no path is left; then along
    /// such paths to blocks below their least loads. Negative cycles that are found first are taken too, until `patience` of them
    /// have failed.
    pub fn rebalance(&mut self, assignment: &mut Assignment, bounds: LoadBounds<'_>, patience: usize) {
        self.pass_on(assignment, bounds.most, |weight, most| weight > most, patience);
        self.pass_on(assignment, bounds.least, |weight, least| weight < least, patience);
    }

    /// Passes vertices on from blocks above their limits to blocks below theirs, as long as that is needed: `misses` says whether
    /// a block of a weight misses its limit.
    fn pass_on(
        &mut self,
        assignment: &mut Assignment,
        limits: &[Weight],
        misses: impl Fn(Weight, Weight) -> bool,
        patience: usize,
    ) {
        let mut failures = 0;
        while failures <= patience && !self.budget.is_spent() && !self.watch.stops_after(self.rows.len()) {
            let mut pairs = assignment.weights.iter().zip(limits);
            if !pairs.any(|(&weight, &limit)| misses(weight, limit)) {
                return;
            }
            for (block, limit) in limits.iter().enumerate() {
                self.cost[block] = if assignment.weights[block] > *limit { 0 } else { UNREACHED };
                self.parent[block] = (NOWHERE, 0);
            }
            if self.correct_labels() {
                if !self.take_cycles(assignment) {
                    failures += 1;
                }
            } else if !self.take_paths(assignment, limits) {
                return;
            }
        }
    }

    /// Takes negative cycles until none is left or `patience` searches in a row have failed; returns
    /// whether the cost fell.
    pub fn improve(&mut self, assignment: &mut Assignment, patience: usize) -> bool {
        let before = assignment.cost;
        let mut failures = 0;
        while failures <= patience && !self.budget.is_spent() && !self.watch.stops_after(self.rows.len()) {
            self.cost.fill(0);
            self.parent.fill((NOWHERE, 0));
            if !self.correct_labels() {
                break;
            }
            failures = if self.take_cycles(assignment) { 0 } else { failures + 1 };
        }
        assignment.cost < before
    }

    /// Relaxes all moves until the costs do not change or the parents close a cycle, which is then negative. Returns
    /// whether there is one, and leaves the cycles in `self.cycles`.
    fn correct_labels(&mut self) -> bool {
        let k = self.rows.len();
        for _ in 0..=k {
            let mut relaxed = false;
            for from in 0..k {
                let cost = self.cost[from];
                if cost == UNREACHED {
                    continue;
                }
                self.budget.spend(self.rows[from].len());
                self.watch.stops_after(self.rows[from].len());
                for &Move { to, gain, node } in &self.rows[from] {
                    // Before a cycle is found, a label may count its moves twice: the sum need not fit.
                    let cost = cost.saturating_sub(gain);
                    if cost < self.cost[to as usize] {
                        self.cost[to as usize] = cost;
                        self.parent[to as usize] = (from as BlockId, node);
                        relaxed = true;
                    }
                }
            }
            if !relaxed {
                return false;
            }
            self.find_cycles();
            if !self.cycles.is_empty() {
                return true;
            }
            if self.watch.stops_after(k) || self.budget.is_spent() {
                return false;
            }
        }
        false
    }

    /// Collects the blocks on which the parents close cycles, one block for each.
    fn find_cycles(&mut self) {
        self.cycles.clear();
        self.visit.fill(NOWHERE);
        for start in 0..self.rows.len() as BlockId {
            let mut block = start;
            while block != NOWHERE && self.visit[block as usize] == NOWHERE {
                self.visit[block as usize] = start;
                block = self.parent[block as usize].0;
            }
            if block != NOWHERE && self.visit[block as usize] == start {
                self.cycles.push(block);
            }
        }
    }

    /// The steps that lead to a block, back to where they began.
    fn trace(&self, end: BlockId) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut to = end;
        loop {
            let (from, node) = self.parent[to as usize];
            if from == NOWHERE {
                return steps;
            }
            steps.push(Step { node, from, to });
            to = from;
            if to == end {
                return steps;
            }
        }
    }

    /// Takes those of the cycles found that lower the cost. If there is none, bars a move of each cycle. Returns whether
    /// one was taken.
    fn take_cycles(&mut self, assignment: &mut Assignment) -> bool {
        let mut taken = false;
        let mut failed = Vec::new();
        for index in 0..self.cycles.len() {
            let steps = self.trace(self.cycles[index]);
            if self.gain(assignment, &steps).is_some_and(|gain| gain > 0) {
                for step in &steps {
                    self.shift(assignment, step.node, step.to);
                }
                taken = true;
            } else {
                failed.push(steps[index % steps.len()]);
            }
        }
        if taken {
            self.lift_bars();
        } else {
            for step in failed {
                self.barred_from[step.node as usize] = step.to;
                self.barred.push(step.node);
                self.outdate(step.from);
            }
        }
        self.update(assignment);
        taken
    }

    /// Takes the cheapest paths to blocks below their limits, as many as have no block in common; returns whether
    /// there was one.
    fn take_paths(&mut self, assignment: &mut Assignment, limits: &[Weight]) -> bool {
        let ends = (0..limits.len())
            .filter(|&block| self.cost[block] != UNREACHED && assignment.weights[block] < limits[block]);
        let mut ends: Vec<BlockId> = ends.map(|block| block as BlockId).collect();
        order::ascending_by(&mut ends, &|block| self.cost[block as usize]);
        self.visit.fill(NOWHERE);
        for &end in &ends {
            let steps = self.trace(end);
            let mut blocks = steps.iter().flat_map(|step| [step.from, step.to]);
            if blocks.any(|block| self.visit[block as usize] != NOWHERE) {
                continue;
            }
            for step in steps {
                self.visit[step.from as usize] = end;
                self.visit[step.to as usize] = end;
                self.shift(assignment, step.node, step.to);
            }
        }
        self.lift_bars();
        self.update(assignment);
        !ends.is_empty()
    }

    /// How much the cost falls if all steps are taken at once; none if a vertex is no longer in the block it should leave.
    fn gain(&mut self, assignment: &Assignment, steps: &[Step]) -> Option<Weight> {
        let blocks = &assignment.blocks;
        if steps.iter().any(|step| blocks[step.node as usize] != step.from) {
            return None;
        }
        for step in steps {
            self.planned[step.node as usize] = step.to;
        }
        let mut gain = 0;
        for step in steps {
            gain += self.level.own_gain(step.node, step.from, step.to);
            for arc in self.level.arcs(step.node) {
                let block = blocks[arc.target as usize];
                let planned = self.planned[arc.target as usize];
                let after = if planned == NOWHERE { block } else { planned };
                // An edge between two moved vertices is visited twice, and counted once.
                if planned == NOWHERE || step.node < arc.target {
                    let between = |a, b| self.level.objective.between(a, b);
                    gain += arc.weight() * (between(block, step.from) - between(after, step.to));
                }
            }
        }
        for step in steps {
            self.planned[step.node as usize] = NOWHERE;
        }
        Some(gain)
    }

    /// Forgets which moves have failed.
    fn lift_bars(&mut self) {
        while let Some(node) = self.barred.pop() {
            self.barred_from[node as usize] = NOWHERE;
            // The vertex may move again from its present block.
            let block = self.listed[node as usize];
            if block != NOWHERE {
                self.outdate(block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::{GraphBuilder, generate};
    use crate::partition::compact::CompactGraph;
    use crate::partition::objective::tests::{matrices, tree_distances};
    use crate::partition::objective::{Cut, StoredCost};

    fn scattered<W: Stored, O: Objective>(level: Problem<'_, W, O>, k: u32) -> Assignment {
        let mut blocks: Vec<BlockId> = level.nodes().map(|node| node % k).collect();
        Rng::new(3).shuffle(&mut blocks);
        Assignment::new(level, blocks, k as usize)
    }

    #[test]
    fn cycles_lower_the_cut_and_keep_all_sizes() {
        let graph = generate::random_geometric(240, 8.0, 7);
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective: &Cut };
        let mut assignment = scattered(level, 6);
        let before = assignment.cost;
        assert!(Moves::new(level, &assignment, 1000, &()).improve(&mut assignment, 50));
        assert_eq!(assignment.weights, [40; 6]);
        assert!(assignment.cost < before / 2);
        assert_eq!(assignment.cost, level.cut(&assignment.blocks));
    }

    /// A path to block 10 costs nearly the greatest weight, and the cycle that it closes adds that once more.
    #[test]
    fn labels_bear_the_greatest_weights() {
        let mut builder = GraphBuilder::new(6);
        let light = [
            (0, 2, 1),
            (0, 3, 8_589_934_591),
            (0, 4, 47_630),
            (2, 3, 395_090_550_104),
            (3, 4, 1),
            (3, 5, 439),
        ];
        let heavy =
            [(0, 1, 44_191_571_335_452_201), (1, 4, 770_163_467_603_149), (1, 5, 111_050_659_921_919)];
        for (a, b, weight) in light.into_iter().chain(heavy) {
            builder.add_edge(a, b, weight);
        }
        let graph = builder.build().unwrap();
        let graph = CompactGraph::<i64>::new(&graph);
        let objective = StoredCost::new(&tree_distances(&[2, 2, 3], &[0, 7, 100])).unwrap();
        let level = Problem { graph: &graph, objective: &objective };
        let mut assignment = Assignment::new(level, vec![10, 5, 11, 9, 7, 1], 12);
        assert!(Moves::new(level, &assignment, 1000, &()).improve(&mut assignment, 50));
        assert_eq!(assignment.cost, objective.cost(&graph, &assignment.blocks));
    }

    fn check_rows<O: Objective>(objective: &O, k: u32) {
        let graph = generate::random_geometric(120, 7.0, 1);
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective };
        let mut assignment = scattered(level, k);
        let mut moves = Moves::new(level, &assignment, 1000, &());
        let mut rng = Rng::new(2);
        for _ in 0..300 {
            let (node, to) = (rng.below(120), rng.below(k));
            if assignment.blocks[node as usize] == to {
                continue;
            }
            moves.shift(&mut assignment, node, to);
            moves.update(&assignment);
            let fresh = Moves::new(level, &assignment, 1000, &());
            for block in 0..k as usize {
                let gains = |row: &[Move]| {
                    let mut gains: Vec<_> = row.iter().map(|entry| (entry.to, entry.gain)).collect();
                    gains.sort_unstable();
                    gains
                };
                assert_eq!(gains(&moves.rows[block]), gains(&fresh.rows[block]));
            }
        }
    }

    #[test]
    fn rows_agree_with_recomputation_after_every_move() {
        check_rows(&Cut, 4);
        for matrix in matrices().into_iter().step_by(2) {
            check_rows(&StoredCost::new(&matrix).unwrap(), matrix.num_blocks as u32);
        }
    }

    #[test]
    fn cycles_lower_j_and_keep_all_sizes() {
        let graph = generate::random_geometric(240, 8.0, 7);
        let graph = CompactGraph::<i32>::new(&graph);
        for matrix in matrices() {
            let objective = StoredCost::new(&matrix).unwrap();
            let level = Problem { graph: &graph, objective: &objective };
            let mut assignment = scattered(level, matrix.num_blocks as u32);
            let (before, weights) = (assignment.cost, assignment.weights.clone());
            assert!(Moves::new(level, &assignment, 1000, &()).improve(&mut assignment, 50));
            assert_eq!(assignment.weights, weights);
            assert!(3 * assignment.cost < 2 * before);
            assert_eq!(assignment.cost, objective.cost(&graph, &assignment.blocks));
        }
    }

    #[test]
    fn paths_restore_the_balance() {
        let graph = generate::grid(20, 10);
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective: &Cut };
        // Stripes of four columns, of which the first has taken some vertices of the second.
        let mut blocks: Vec<BlockId> = level.nodes().map(|node| node % 20 / 4).collect();
        for block in &mut blocks[..30] {
            if *block == 1 {
                *block = 0;
            }
        }
        let mut assignment = Assignment::new(level, blocks, 5);
        let bounds = [40; 5];
        assert!(assignment.overload(&bounds) > 0);
        Moves::new(level, &assignment, 1000, &()).rebalance(&mut assignment, bounds[..].into(), 50);
        assert_eq!(assignment.weights, [40; 5]);
        assert_eq!(assignment.cost, level.cut(&assignment.blocks));
    }
}
