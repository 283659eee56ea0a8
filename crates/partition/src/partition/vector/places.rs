//! One vertex on each place: exchanges that bring blocks within the bounds of all weights.
//!
//! *Problem.* Each block has a number of places, each for one vertex, as a PE has for processes. It has bounds, too, and so may groups of blocks. Given an
//! assignment of small J that may exceed bounds, find one within them whose J is small.
//!
//! *Algorithm.* Exchanges of two vertices, and moves of one to a free place. While bounds are exceeded, each vertex of a block beyond its bound makes the move
//! that lowers the sum of relative excesses at the least rise of J for that. Then moves are made that lower J and raise no excess. The vertices packed by
//! their size are treated alike, and the better assignment is the result. Of few vertices, all assignments are searched within a budget.
//!
//! *Cost.* A sweep looks at all pairs of vertices: O(n m) time. Memory: O(c (n + k)).

use std::cmp::Reverse;

use super::partitioner::{VectorPartition, VectorPartitioner, VectorProblem};
use crate::base::budget::Budget;
use crate::base::exchange::{Evaluator, sweep};
use crate::base::observer::{Observer, Watch};
use crate::base::types::{BlockId, Cost, Distance, NodeId, Weight};
use crate::partition::loads::{self, Excess, VectorBounds, relative};

/// Most arcs that the exchanges of a start look at. Balances J against time: this many take about a second.
const MOST_ARCS: usize = 1 << 26;

/// The number of vertices up to which all assignments are searched. Balances the best result against time.
const FEW_VERTICES: usize = 10;

/// Most steps of that search. Balances the same: it covers ten vertices on ten places.
const MOST_STEPS: usize = 1 << 22;

/// A vertex, and what it exchanges its place with.
#[derive(Clone, Copy)]
struct Move {
    node: NodeId,
    with: Partner,
}

#[derive(Clone, Copy)]
enum Partner {
    Vertex(NodeId),
    /// A free place of a block.
    Place(BlockId),
}

/// The change of the sum of relative excesses, and of J.
type Change = (i128, Cost);

/// What is placed, and where.
#[derive(Clone, Copy)]
struct Task<'a> {
    problem: VectorProblem<'a>,
    bounds: &'a VectorBounds,
    /// The number of places of each block.
    room: &'a [u32],
    observer: &'a dyn Observer,
}

impl Task<'_> {
    fn between(&self, a: BlockId, b: BlockId) -> Distance {
        match self.problem.layout {
            Some(layout) => layout.distances.between(a, b),
            None => Distance::from(a != b),
        }
    }

    fn is_fixed(&self, node: NodeId) -> bool {
        self.problem.fixed.is_some_and(|fixed| fixed.of(node).is_some())
    }

    /// The vertices that may move, the largest first.
    fn by_size(&self) -> Vec<NodeId> {
        let size = loads::sizes(self.problem.weights);
        let mut nodes: Vec<NodeId> =
            self.problem.graph.nodes().filter(|&node| !self.is_fixed(node)).collect();
        nodes.sort_by_key(|&node| (Reverse(size(node)), node));
        nodes
    }

    fn score(&self, blocks: &[BlockId]) -> (Excess, Cost) {
        let loads = self.problem.weights.loads(blocks, self.bounds.num_blocks());
        let arcs = |node| self.problem.graph.arcs(node).map(move |(other, weight)| (node, other, weight));
        let cost = |(one, other, weight): (NodeId, NodeId, Weight)| {
            weight * self.between(blocks[one as usize], blocks[other as usize])
        };
        (self.bounds.excess(&loads), self.problem.graph.nodes().flat_map(arcs).map(cost).sum())
    }

    /// Each vertex, the largest first, in the block where it adds least to what exceeds bounds, of these in the emptiest relative to its bounds.
    fn packed(&self, start: &[BlockId]) -> Vec<BlockId> {
        let mut state = Exchanges::new(*self, start.to_vec());
        let order = self.by_size();
        order.iter().for_each(|&node| state.take(node));
        for &node in &order {
            let open = (0..self.room.len() as BlockId).filter(|&block| state.free[block as usize] > 0);
            let after = |&block: &BlockId| {
                let change = state.excess_of_gain(block, |weight| self.problem.weights.of(node)[weight]);
                (change, state.fullness(block), block)
            };
            let block = open.min_by_key(after).expect("there is a place for each vertex");
            state.put(node, block);
        }
        state.blocks
    }

    /// An assignment that is moved within the bounds, and improved there.
    fn improved(&self, start: Vec<BlockId>) -> Vec<BlockId> {
        let mut state = Exchanges::new(*self, start);
        state.mend();
        state.descend();
        state.blocks
    }
}

/// An assignment, and what follows from it.
struct Exchanges<'a> {
    task: Task<'a>,
    blocks: Vec<BlockId>,
    /// As the bounds are laid out, of blocks and groups.
    loads: Vec<Weight>,
    of_groups: Vec<Weight>,
    /// The free places of each block.
    free: Vec<u32>,
    watch: Watch<'a>,
}

impl<'a> Exchanges<'a> {
    fn new(task: Task<'a>, blocks: Vec<BlockId>) -> Self {
        let loads = task.problem.weights.loads(&blocks, task.bounds.num_blocks());
        let of_groups = task.bounds.groups.loads(&loads, task.bounds.num_weights);
        let mut free = task.room.to_vec();
        blocks.iter().for_each(|&block| free[block as usize] -= 1);
        Self { task, blocks, loads, of_groups, free, watch: Watch::new(task.observer) }
    }

    /// Takes a vertex from its place.
    fn take(&mut self, node: NodeId) {
        let block = self.blocks[node as usize];
        self.add(node, block, -1);
        self.free[block as usize] += 1;
    }

    /// Puts a vertex on a free place of a block.
    fn put(&mut self, node: NodeId, block: BlockId) {
        self.add(node, block, 1);
        self.free[block as usize] -= 1;
        self.blocks[node as usize] = block;
    }

    fn add(&mut self, node: NodeId, block: BlockId, sign: Weight) {
        let c = self.task.bounds.num_weights;
        let own = self.task.problem.weights.of(node);
        let add = |loads: &mut [Weight], number: usize| {
            let loads = loads[number * c..][..c].iter_mut();
            loads.zip(own).for_each(|(load, own)| *load += sign * own);
        };
        add(&mut self.loads, block as usize);
        if let Some(&group) = self.task.bounds.groups.of_block.get(block as usize) {
            add(&mut self.of_groups, group as usize);
        }
    }

    /// How much the sum of relative excesses changes if a block gains these weights.
    fn excess_of_gain(&self, block: BlockId, gain: impl Fn(usize) -> Weight) -> i128 {
        let (bounds, c) = (self.task.bounds, self.task.bounds.num_weights);
        let of = |loads: &[Weight], most: &[Weight], number: usize| -> i128 {
            let step =
                |weight: usize| step(loads[number * c + weight], gain(weight), most[number * c + weight]);
            (0..c).map(step).sum()
        };
        let group = bounds.groups.of_block.get(block as usize);
        of(&self.loads, &bounds.most, block as usize)
            + group.map_or(0, |&group| of(&self.of_groups, &bounds.groups.most, group as usize))
    }

    /// The same if the second of two blocks gains them from the first.
    fn excess_of_shift(&self, [from, to]: [BlockId; 2], gain: impl Fn(usize) -> Weight) -> i128 {
        let (bounds, c) = (self.task.bounds, self.task.bounds.num_weights);
        let of = |loads: &[Weight], most: &[Weight], [from, to]: [usize; 2]| -> i128 {
            let change = |weight: usize| {
                let (gain, [from, to]) = (gain(weight), [from * c + weight, to * c + weight]);
                step(loads[from], -gain, most[from]) + step(loads[to], gain, most[to])
            };
            (0..c).map(change).sum()
        };
        let crossed = bounds.groups.crossed([from, to]);
        of(&self.loads, &bounds.most, [from, to].map(|block| block as usize))
            + crossed.map_or(0, |groups| of(&self.of_groups, &bounds.groups.most, groups))
    }

    /// The greatest share of a bound that a block or its group has, in units of 2^-32.
    fn fullness(&self, block: BlockId) -> i64 {
        let (bounds, c) = (self.task.bounds, self.task.bounds.num_weights);
        let of = |loads: &[Weight], most: &[Weight], number: usize| {
            let range = number * c..(number + 1) * c;
            let share = |(&load, &bound): (&Weight, &Weight)| relative(load, bound);
            loads[range.clone()].iter().zip(&most[range]).map(share).max().unwrap_or(0)
        };
        let group = bounds.groups.of_block.get(block as usize);
        let of_group = group.map_or(0, |&group| of(&self.of_groups, &bounds.groups.most, group as usize));
        of(&self.loads, &bounds.most, block as usize).max(of_group)
    }

    /// Returns whether a block, or its group, exceeds a bound.
    fn is_over(&self, block: BlockId) -> bool {
        let (bounds, c) = (self.task.bounds, self.task.bounds.num_weights);
        let above = |loads: &[Weight], most: &[Weight], number: usize| {
            let range = number * c..(number + 1) * c;
            loads[range.clone()].iter().zip(&most[range]).any(|(load, bound)| load > bound)
        };
        let group = bounds.groups.of_block.get(block as usize);
        above(&self.loads, &bounds.most, block as usize)
            || group.is_some_and(|&group| above(&self.of_groups, &bounds.groups.most, group as usize))
    }

    /// All moves of a vertex, of which those to vertices before it are left out if `is_first`.
    fn moves(&self, node: NodeId, is_first: bool) -> impl Iterator<Item = Move> + use<> {
        let first = if is_first { node + 1 } else { 0 };
        let others = (first..self.blocks.len() as NodeId).map(Partner::Vertex);
        let places = (0..self.free.len() as BlockId).map(Partner::Place);
        others.chain(places).map(move |with| Move { node, with })
    }

    /// Returns whether a move is one of two blocks, and moves no fixed vertex.
    fn is_possible(&self, Move { node, with }: Move) -> bool {
        let own = self.blocks[node as usize];
        match with {
            Partner::Vertex(other) => self.blocks[other as usize] != own && !self.task.is_fixed(other),
            Partner::Place(block) => block != own && self.free[block as usize] > 0,
        }
    }

    /// Returns whether the search should end.
    fn is_over_budget(&mut self, work: usize) -> bool {
        self.watch.stops_after(work) || self.watch.work() > MOST_ARCS
    }

    /// Lowers what exceeds the bounds, as long as single moves do.
    fn mend(&mut self) {
        let order = self.task.by_size();
        loop {
            let mut made = 0;
            for &node in &order {
                if self.is_over(self.blocks[node as usize]) {
                    made += usize::from(self.relieve(node));
                }
                // Bounds hold even if the run is to stop.
                if self.watch.work() > MOST_ARCS {
                    return;
                }
            }
            if made == 0 {
                return;
            }
        }
    }

    /// Makes the move of a vertex that lowers what exceeds the bounds at the least rise of J for it, if there is one.
    fn relieve(&mut self, node: NodeId) -> bool {
        let mut best: Option<(f64, Move)> = None;
        for by in self.moves(node, false) {
            if !self.is_possible(by) {
                continue;
            }
            let (excess, cost) = self.change(&by);
            if excess < 0 {
                let price = cost as f64 / -excess as f64;
                if best.is_none_or(|(least, _)| price < least) {
                    best = Some((price, by));
                }
            }
        }
        let Some((_, by)) = best else { return false };
        self.make(by, (0, 0));
        true
    }

    /// Makes moves that lower J and raise no excess, until there are none.
    fn descend(&mut self) {
        let nodes: Vec<NodeId> =
            self.task.problem.graph.nodes().filter(|&node| !self.task.is_fixed(node)).collect();
        let mut is_ended = false;
        while !is_ended {
            let mut made = 0;
            for &node in &nodes {
                let mut moves = self.moves(node, true);
                let next = |state: &mut Self| {
                    let by = moves.find(|&by| state.is_possible(by))?;
                    is_ended = state.is_over_budget(1);
                    (!is_ended).then_some(by)
                };
                made += sweep(self, next, |_, &(excess, cost)| excess <= 0 && cost < 0).made;
            }
            is_ended |= made == 0;
        }
    }
}

impl Evaluator for Exchanges<'_> {
    type Move = Move;
    type Change = Change;

    fn change(&mut self, &Move { node, with }: &Move) -> Change {
        let (graph, weights) = (self.task.problem.graph, self.task.problem.weights);
        let own = self.blocks[node as usize];
        let (other, to) = match with {
            Partner::Vertex(other) => (Some(other), self.blocks[other as usize]),
            Partner::Place(block) => (None, block),
        };
        let gain =
            |weight: usize| weights.of(node)[weight] - other.map_or(0, |other| weights.of(other)[weight]);
        let excess = self.excess_of_shift([own, to], gain);
        let nearer = |moved: NodeId, [from, to]: [BlockId; 2], but: Option<NodeId>| -> Cost {
            let change = |(end, weight): (NodeId, Weight)| {
                let at = self.blocks[end as usize];
                weight * (self.task.between(to, at) - self.task.between(from, at))
            };
            graph.arcs(moved).filter(|&(end, _)| Some(end) != but).map(change).sum()
        };
        let cost =
            nearer(node, [own, to], other) + other.map_or(0, |other| nearer(other, [to, own], Some(node)));
        let arcs = graph.degree(node) + other.map_or(0, |other| graph.degree(other));
        self.watch.stops_after(arcs);
        (excess, 2 * cost)
    }

    fn make(&mut self, Move { node, with }: Move, _: Change) {
        let own = self.blocks[node as usize];
        self.take(node);
        let to = match with {
            Partner::Vertex(other) => {
                let to = self.blocks[other as usize];
                self.take(other);
                self.put(other, own);
                to
            }
            Partner::Place(block) => block,
        };
        self.put(node, to);
    }
}

/// How much a relative excess changes if a load grows.
fn step(load: Weight, gain: Weight, bound: Weight) -> i128 {
    if gain == 0 {
        return 0;
    }
    // A load and a bound that is none are far apart.
    let over = |load: Weight| i128::from(relative(load.saturating_sub(bound), bound));
    over(load.saturating_add(gain)) - over(load)
}

/// A search of all assignments of few vertices.
struct Enumeration<'a> {
    state: Exchanges<'a>,
    order: Vec<NodeId>,
    best: ((Excess, Cost), Vec<BlockId>),
    budget: Budget,
}

impl<'a> Enumeration<'a> {
    /// The best assignment, not worse than one that is known, unless that takes too many steps.
    fn best(task: Task<'a>, known: Vec<BlockId>) -> Vec<BlockId> {
        let score = task.score(&known);
        let (mut state, order) = (Exchanges::new(task, known.clone()), task.by_size());
        order.iter().for_each(|&node| state.take(node));
        let mut all = Self { state, order, best: (score, known), budget: Budget::new(MOST_STEPS) };
        all.extend(0, all.cost_of_fixed());
        all.best.1
    }

    /// J of the fixed vertices alone.
    fn cost_of_fixed(&self) -> Cost {
        let task = self.state.task;
        let nodes = task.problem.graph.nodes().filter(|&node| task.is_fixed(node));
        nodes.map(|node| self.cost_of(node, |other| task.is_fixed(other))).sum()
    }

    /// The weight times distance of the edges of a vertex to others that are placed, each once.
    fn cost_of(&self, node: NodeId, is_placed: impl Fn(NodeId) -> bool) -> Cost {
        let Exchanges { task, blocks, .. } = &self.state;
        let at = |node: NodeId| blocks[node as usize];
        let arcs = task.problem.graph.arcs(node).filter(|&(other, _)| is_placed(other));
        arcs.map(|(other, weight)| weight * task.between(at(node), at(other))).sum()
    }

    /// Places the vertices from one of the order on. What exceeds bounds, and J, only grow on the way.
    fn extend(&mut self, place: usize, cost: Cost) {
        let excess = self.state.task.bounds.excess(&self.state.loads);
        if (excess, cost) >= self.best.0 || !self.budget.pays_for(1) {
            return;
        }
        let Some(&node) = self.order.get(place) else {
            self.best = ((excess, cost), self.state.blocks.clone());
            return;
        };
        for block in 0..self.state.free.len() as BlockId {
            if self.state.free[block as usize] > 0 {
                self.state.put(node, block);
                let placed = &self.order[..place];
                let task = self.state.task;
                let own = self.cost_of(node, |other| placed.contains(&other) || task.is_fixed(other));
                self.extend(place + 1, cost + 2 * own);
                self.state.take(node);
            }
        }
    }
}

impl VectorPartitioner<'_> {
    /// The best of several assignments once exchanges have brought it within the bounds of all weights, where each block has places for so many vertices.
    /// Least loads do not count. If one of the starts keeps all bounds, the best of these is the result.
    ///
    /// ```
    /// use viem::graph::{VertexWeights, generate};
    /// use viem::partition::{PartitionPreset, Targets, VectorPartitioner, VectorProblem, VectorTargets};
    ///
    /// // A path of four on two nodes of two places. Heavy neighbours do not fit one node.
    /// let path = generate::grid(4, 1);
    /// let weights = VertexWeights::new(2, vec![1, 5, 1, 5, 1, 1, 1, 1])?;
    /// let targets = (0..2).map(|weight| Targets::equal(&weights.alone(weight), 4, 9.0)).collect::<Result<_, _>>()?;
    /// let targets = VectorTargets::new(&weights, targets)?;
    /// let targets = targets.with_group_bounds(vec![0, 0, 1, 1], &[None, Some(&[6, 6])])?;
    /// let problem = VectorProblem::new(&path, &weights, &targets)?;
    /// let placed = VectorPartitioner::new(PartitionPreset::Eco, 0).placed(&problem, &[1; 4], &[&[0, 1, 2, 3]]);
    /// assert!(placed.overload() == 0 && placed.blocks()[0] / 2 != placed.blocks()[1] / 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    ///
    /// There is no start, or one has another number of vertices, or more in a block than that has places.
    pub fn placed(
        &self,
        problem: &VectorProblem<'_>,
        room: &[u32],
        starts: &[&[BlockId]],
    ) -> VectorPartition {
        let bounds = &VectorBounds { least: Vec::new(), ..problem.targets.bounds() };
        let task = Task { problem: *problem, bounds, room, observer: self.observer };
        let key = |blocks: &Vec<BlockId>| task.score(blocks);
        let best = |ways: Vec<Vec<BlockId>>| ways.into_iter().min_by_key(key).expect("there is a start");
        let given = best(starts.iter().map(|start| start.to_vec()).collect());
        if !task.score(&given).0.is_over() {
            return self.measured(problem, given);
        }
        let packed = task.packed(&given);
        let mended = starts.iter().map(|start| start.to_vec()).chain([packed]);
        let found = best(mended.map(|start| task.improved(start)).chain([given]).collect());
        let found = match problem.graph.num_nodes() <= FEW_VERTICES {
            true => Enumeration::best(task, found),
            false => found,
        };
        self.measured(problem, found)
    }
}
