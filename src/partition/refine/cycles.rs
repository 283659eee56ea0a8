//! Moves along paths and cycles of blocks: improvement at exact block sizes.
//!
//! When every block is full, no vertex can move alone. But the best moves between adjacent blocks form a
//! weighted digraph on the blocks, and a cycle of negative cost in it is a set of moves, one out of
//! and one into each block on it, that keeps all sizes and lowers the cut. In the same way, the cheapest path
//! from an overloaded block to one with room restores the balance at the least loss. Both come
//! from one label-correcting search (Bellman-Ford).
//!
//! Only for vertices of equal weight. A search costs O(k' h) for k' pairs of adjacent blocks and paths of h
//! blocks, each round of moves the boundaries of the blocks it touches; memory is O(n + k').
//!
//! Sanders, Schulz: Think locally, act globally: highly balanced graph partitioning. SEA 2013. There, the moves
//! of each search are chosen anew; here, they are kept and only those near a change are recomputed, and
//! moves that turn out to interfere are barred one by one instead of being drawn at random.

use super::k_way::{Assignment, Connection};
use crate::partition::level::{Level, Stored};
use crate::types::{BlockId, NodeId, Weight};

const NOWHERE: u32 = u32::MAX;

/// The best move from one block to another.
#[derive(Clone, Copy, Debug)]
struct Move {
    to: BlockId,
    gain: Weight,
    node: NodeId,
}

/// The best moves between all adjacent blocks, kept up to date.
pub(crate) struct Moves<'a, W> {
    graph: &'a Level<W>,
    /// By block: the best move to each adjacent block.
    rows: Vec<Vec<Move>>,
    /// By block: its vertices that may lie on its boundary, and some that have left.
    members: Vec<Vec<NodeId>>,
    /// The block in whose list a vertex stands.
    listed: Vec<BlockId>,
    /// Moves that failed, until something changes near them: vertex and destination.
    barred: Vec<(NodeId, BlockId)>,
    connection: Connection,
    /// The best move of the row at hand to each block, by block.
    best: Vec<(Weight, NodeId)>,
    touched: Vec<BlockId>,
    stale: Vec<bool>,
    stale_blocks: Vec<BlockId>,
    cost: Vec<Weight>,
    /// By block, the block before it on the cheapest path and the move that leads to it.
    parent: Vec<(BlockId, NodeId)>,
}

impl<'a, W: Stored> Moves<'a, W> {
    /// Collects the best moves of a partition; O(n + m).
    pub fn new(graph: &'a Level<W>, assignment: &Assignment) -> Self {
        let (n, k) = (graph.num_nodes(), assignment.weights.len());
        let mut connection = Connection::default();
        connection.resize(k);
        let mut moves = Self {
            graph,
            rows: vec![Vec::new(); k],
            members: vec![Vec::new(); k],
            listed: vec![NOWHERE; n],
            barred: Vec::new(),
            connection,
            best: vec![(0, NodeId::MAX); k],
            touched: Vec::new(),
            stale: vec![false; k],
            stale_blocks: Vec::new(),
            cost: vec![0; k],
            parent: vec![(NOWHERE, 0); k],
        };
        for node in graph.nodes() {
            let block = assignment.blocks[node as usize];
            if graph.arcs(node).iter().any(|arc| assignment.blocks[arc.target as usize] != block) {
                moves.list(node, block);
            }
        }
        for block in 0..k as BlockId {
            moves.collect_row(assignment, block);
        }
        moves
    }

    fn list(&mut self, node: NodeId, block: BlockId) {
        if self.listed[node as usize] != block {
            self.listed[node as usize] = block;
            self.members[block as usize].push(node);
        }
    }

    fn collect_row(&mut self, assignment: &Assignment, block: BlockId) {
        let mut members = std::mem::take(&mut self.members[block as usize]);
        members.retain(|&node| {
            if assignment.blocks[node as usize] != block {
                if self.listed[node as usize] == block {
                    self.listed[node as usize] = NOWHERE;
                }
                return false;
            }
            self.connection.collect(self.graph, &assignment.blocks, node);
            let inner = self.connection.to(block);
            for &to in self.connection.blocks() {
                if to == block || self.barred.contains(&(node, to)) {
                    continue;
                }
                let gain = self.connection.to(to) - inner;
                let best = &mut self.best[to as usize];
                if best.1 == NodeId::MAX {
                    self.touched.push(to);
                    *best = (gain, node);
                } else if gain > best.0 {
                    *best = (gain, node);
                }
            }
            let outer = self.connection.blocks().iter().any(|&to| to != block);
            if !outer {
                self.listed[node as usize] = NOWHERE;
            }
            outer
        });
        self.members[block as usize] = members;
        let row = &mut self.rows[block as usize];
        row.clear();
        for to in self.touched.drain(..) {
            let (gain, node) = std::mem::replace(&mut self.best[to as usize], (0, NodeId::MAX));
            row.push(Move { to, gain, node });
        }
    }

    /// Moves a vertex and remembers which rows that changes.
    fn shift(&mut self, assignment: &mut Assignment, node: NodeId, to: BlockId) {
        self.connection.collect(self.graph, &assignment.blocks, node);
        let from = assignment.blocks[node as usize];
        let gain = self.connection.to(to) - self.connection.to(from);
        assignment.shift(node, self.graph.node_weight(node), to, gain);
        self.list(node, to);
        self.outdate(from);
        self.outdate(to);
        let graph = self.graph;
        for arc in graph.arcs(node) {
            let block = assignment.blocks[arc.target as usize];
            self.list(arc.target, block);
            self.outdate(block);
        }
    }

    fn outdate(&mut self, block: BlockId) {
        if !std::mem::replace(&mut self.stale[block as usize], true) {
            self.stale_blocks.push(block);
        }
    }

    fn update(&mut self, assignment: &Assignment) {
        while let Some(block) = self.stale_blocks.pop() {
            self.stale[block as usize] = false;
            self.collect_row(assignment, block);
        }
    }

    /// Moves vertices along cheapest paths out of overloaded blocks until no block is overloaded or no
    /// path is left. Negative cycles found on the way are taken too, until `patience` of them have failed.
    pub fn unload(&mut self, assignment: &mut Assignment, bounds: &[Weight], patience: usize) {
        let mut failures = 0;
        while failures <= patience {
            let over = |block: usize| assignment.weights[block] > bounds[block];
            if !(0..bounds.len()).any(over) {
                return;
            }
            for block in 0..bounds.len() {
                self.cost[block] = if over(block) { 0 } else { Weight::MAX / 4 };
                self.parent[block] = (NOWHERE, 0);
            }
            if let Some(cycle) = self.correct_labels() {
                if !self.try_moves(assignment, &cycle) {
                    failures += 1;
                }
                continue;
            }
            let reached = |&block: &usize| {
                assignment.weights[block] < bounds[block] && self.cost[block] < Weight::MAX / 4
            };
            let Some(end) = (0..bounds.len()).filter(reached).min_by_key(|&block| self.cost[block]) else {
                return;
            };
            let mut path = Vec::new();
            let mut block = end as BlockId;
            while self.parent[block as usize].0 != NOWHERE {
                let (before, node) = self.parent[block as usize];
                path.push((node, block));
                block = before;
            }
            for (node, to) in path {
                self.shift(assignment, node, to);
            }
            self.barred.clear();
            self.update(assignment);
        }
    }

    /// Takes negative cycles until none is left or `patience` of them in a row have failed; returns whether the
    /// cut fell.
    pub fn improve(&mut self, assignment: &mut Assignment, patience: usize) -> bool {
        let before = assignment.cut;
        let mut failures = 0;
        while failures <= patience {
            self.cost.fill(0);
            self.parent.fill((NOWHERE, 0));
            let Some(cycle) = self.correct_labels() else { break };
            if self.try_moves(assignment, &cycle) {
                failures = 0;
            } else {
                failures += 1;
            }
        }
        assignment.cut < before
    }

    /// Carries out moves; undoes them and bars one of them unless the cut falls.
    fn try_moves(&mut self, assignment: &mut Assignment, moves: &[(NodeId, BlockId)]) -> bool {
        let before = assignment.cut;
        let origin: Vec<BlockId> = moves.iter().map(|&(node, _)| assignment.blocks[node as usize]).collect();
        for &(node, to) in moves {
            self.shift(assignment, node, to);
        }
        let improved = assignment.cut < before;
        if improved {
            self.barred.clear();
        } else {
            for (&(node, _), &from) in moves.iter().zip(&origin) {
                self.shift(assignment, node, from);
            }
            self.barred.push(moves[self.barred.len() % moves.len()]);
        }
        self.update(assignment);
        improved
    }

    /// Relaxes all moves until the costs stand still, or returns a cycle of negative cost.
    fn correct_labels(&mut self) -> Option<Vec<(NodeId, BlockId)>> {
        let k = self.rows.len();
        for _ in 0..k {
            let mut last = NOWHERE;
            for from in 0..k {
                let cost = self.cost[from];
                if cost >= Weight::MAX / 4 {
                    continue;
                }
                for &Move { to, gain, node } in &self.rows[from] {
                    if cost - gain < self.cost[to as usize] {
                        self.cost[to as usize] = cost - gain;
                        self.parent[to as usize] = (from as BlockId, node);
                        last = to;
                    }
                }
            }
            if last == NOWHERE {
                return None;
            }
            if let Some(cycle) = self.find_cycle() {
                return Some(cycle);
            }
        }
        None
    }

    /// A cycle of the parent pointers; it is negative if there is one.
    fn find_cycle(&self) -> Option<Vec<(NodeId, BlockId)>> {
        let k = self.rows.len();
        // By block, from which start it was visited.
        let mut visit = vec![NOWHERE; k];
        for start in 0..k as BlockId {
            let mut block = start;
            while block != NOWHERE && visit[block as usize] == NOWHERE {
                visit[block as usize] = start;
                block = self.parent[block as usize].0;
            }
            if block != NOWHERE && visit[block as usize] == start {
                let mut cycle = Vec::new();
                let first = block;
                loop {
                    let (before, node) = self.parent[block as usize];
                    cycle.push((node, block));
                    block = before;
                    if block == first {
                        return Some(cycle);
                    }
                }
            }
        }
        None
    }
}
