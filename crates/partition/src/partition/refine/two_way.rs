//! Fiduccia-Mattheyses refinement of bisections, and greedy growing on the same data.
//!
//! Every vertex is moved at most once per pass, best gain first; the gains of its neighbours are updated as it moves; at the
//! end of the pass, everything after the best state is undone. States are compared by overload first and cut second, so the
//! pass also balances. Unlike in the textbook version, the sides may exceed their bounds by some slack on the way. Without
//! it, no vertex could move at all when the sizes are exact. O(n + m) per pass plus O(log n) for each gain that changes.
//!
//! Fiduccia, Mattheyses: A linear-time heuristic for improving network partitions. DAC 1982.

use crate::base::observer::{Observer, Watch};
use crate::base::rng::Rng;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::compact::{CompactGraph, Stored};
use crate::partition::fixed::FREE;
use crate::partition::heap::Heap;

/// What the sides of a bisection may weigh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The weight each side should have.
    pub target: [Weight; 2],
    /// The greatest weight each side may have.
    pub max: [Weight; 2],
}

/// What the refinement of bisections asks of bounds, whether vertices have one weight or several.
pub(crate) trait SideBounds {
    /// The weight that each side should have.
    fn target(&self) -> [Weight; 2];

    /// By how much sides of these weights exceed their bounds.
    fn overload(&self, weights: &[Weight; 2]) -> Weight;

    /// Whether a side of these weights exceeds its bound.
    fn is_over(&self, weights: &[Weight; 2], side: usize) -> bool;

    /// Whether a vertex may leave side `from`: the other side exceeds its bound by `slack` at most, or the overload
    /// falls.
    fn allow(&self, weights: &[Weight; 2], from: usize, vertex: (NodeId, Weight), slack: Weight) -> bool;

    /// Begins with these sides.
    fn begin(&self, _sides: &[BlockId]) {}

    /// Follows the move of a vertex away from a side.
    #[inline]
    fn follow(&self, _node: NodeId, _from: BlockId) {}
}

impl SideBounds for Bounds {
    #[inline]
    fn target(&self) -> [Weight; 2] {
        self.target
    }

    #[inline]
    fn overload(&self, weights: &[Weight; 2]) -> Weight {
        (weights[0] - self.max[0]).max(0) + (weights[1] - self.max[1]).max(0)
    }

    #[inline]
    fn is_over(&self, weights: &[Weight; 2], side: usize) -> bool {
        weights[side] > self.max[side]
    }

    #[inline]
    fn allow(
        &self,
        weights: &[Weight; 2],
        from: usize,
        (_, weight): (NodeId, Weight),
        slack: Weight,
    ) -> bool {
        let to = 1 - from;
        let mut after = *weights;
        after[from] -= weight;
        after[to] += weight;
        let fits = after[to] <= self.max[to].saturating_add(slack)
            && weights[to] <= self.max[to].max(self.target[to]);
        fits || self.overload(&after) < self.overload(weights)
    }
}

/// A bisection with its side weights and cut.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bisection {
    pub sides: Vec<BlockId>,
    pub weights: [Weight; 2],
    pub cut: Weight,
}

/// What a refinement aims at, and how long it tries.
#[derive(Debug)]
pub(crate) struct Goal<'a, B> {
    pub bounds: &'a B,
    /// Overload up to this weight counts as none: coarse vertices cannot meet exact sizes, and finer levels can.
    pub tolerance: Weight,
    /// The greatest number of passes.
    pub passes: usize,
    /// A pass ends after this many moves without a new best state.
    pub patience: usize,
}

impl<B> Clone for Goal<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Goal<'_, B> {}

impl<B: SideBounds> Goal<'_, B> {
    /// What is minimised: overload beyond the tolerance first, then the cut.
    pub fn score(&self, bisection: &Bisection) -> (Weight, Weight) {
        (self.bounds.overload(&bisection.weights).max(self.tolerance), bisection.cut)
    }
}

/// Working memory of the refinement of bisections.
#[derive(Debug, Default)]
pub(crate) struct TwoWay {
    /// The vertices that may move away from each side.
    heaps: [Heap; 2],
    /// How much the cut falls when a vertex changes its side.
    gain: Vec<Weight>,
    /// The weighted degree of each vertex. A vertex lies on the boundary if its gain exceeds the negative of it.
    degree: Vec<Weight>,
    moved: Vec<bool>,
    trail: Vec<NodeId>,
}

impl TwoWay {
    fn start<W: Stored>(&mut self, graph: &CompactGraph<'_, W>, sides: &[BlockId]) {
        let n = graph.num_nodes();
        for heap in &mut self.heaps {
            heap.resize(n);
        }
        if self.moved.len() < n {
            self.moved.resize(n, false);
        }
        self.gain.clear();
        self.degree.clear();
        for node in graph.nodes() {
            let side = sides[node as usize];
            let (mut gain, mut degree) = (0, 0);
            graph.arcs(node).iter().for_each(|arc| {
                let weight = arc.weight();
                gain += if sides[arc.target as usize] == side { -weight } else { weight };
                degree += weight;
            });
            self.gain.push(gain);
            self.degree.push(degree);
        }
    }

    /// Moves a vertex and updates everything that depends on its side; `visit` is called for each neighbour.
    #[inline]
    fn shift<W: Stored>(
        &mut self,
        graph: &CompactGraph<'_, W>,
        bisection: &mut Bisection,
        bounds: &impl SideBounds,
        node: NodeId,
        mut visit: impl FnMut(&mut Self, NodeId, BlockId),
    ) {
        let from = bisection.sides[node as usize];
        let to = 1 - from;
        let weight = graph.node_weight(node);
        bounds.follow(node, from);
        bisection.sides[node as usize] = to;
        bisection.weights[from as usize] -= weight;
        bisection.weights[to as usize] += weight;
        bisection.cut -= self.gain[node as usize];
        self.gain[node as usize] = -self.gain[node as usize];
        graph.arcs(node).iter().for_each(|arc| {
            let side = bisection.sides[arc.target as usize];
            let change = if side == to { -2 * arc.weight() } else { 2 * arc.weight() };
            self.gain[arc.target as usize] += change;
            visit(self, arc.target, side);
        });
    }

    /// Holds vertices on their sides, or lets them go. `held` are the sides of vertices, or [`FREE`]; empty if all are free.
    ///
    /// What has moved in a pass does not move again in it, so held vertices count as moved.
    fn hold(&mut self, held: &[BlockId], are_held: bool) {
        for (moved, _) in self.moved.iter_mut().zip(held).filter(|&(_, &side)| side != FREE) {
            *moved = are_held;
        }
    }

    /// Refines a bisection until the observer asks to stop; returns whether it got better. Vertices that are held on a side,
    /// which `held` are unless it is empty, stay there.
    pub fn refine<W: Stored, B: SideBounds>(
        &mut self,
        (graph, held): (&CompactGraph<'_, W>, &[BlockId]),
        bisection: &mut Bisection,
        goal: Goal<'_, B>,
        observer: &dyn Observer,
    ) -> bool {
        if observer.should_stop() {
            return false;
        }
        let mut watch = Watch::new(observer);
        self.start(graph, &bisection.sides);
        goal.bounds.begin(&bisection.sides);
        self.hold(held, true);
        let before = goal.score(bisection);
        for _ in 0..goal.passes {
            if !self.pass(graph, bisection, goal, &mut watch) {
                break;
            }
        }
        self.hold(held, false);
        goal.score(bisection) < before
    }

    /// Moves each vertex at most once and goes back to the best state; returns whether that is better than the first.
    fn pass<W: Stored, B: SideBounds>(
        &mut self,
        graph: &CompactGraph<'_, W>,
        bisection: &mut Bisection,
        goal: Goal<'_, B>,
        watch: &mut Watch<'_>,
    ) -> bool {
        self.enqueue_boundary(graph, bisection);
        let slack = goal.tolerance.max(graph.max_node_weight());
        let start = goal.score(bisection);
        let mut best = start;
        let mut best_length = 0;
        let mut refilled = [false; 2];
        loop {
            // While the bounds are not met yet, the search must go on until they are.
            let is_unmet = best.0 > goal.tolerance;
            if !is_unmet && self.trail.len() - best_length > goal.patience {
                break;
            }
            let Some(node) = self.choose(graph, bisection, goal.bounds, slack) else {
                let is_heavy =
                    |&side: &usize| goal.bounds.is_over(&bisection.weights, side) && !refilled[side];
                let Some(side) = (0..2).find(is_heavy).filter(|_| is_unmet) else { break };
                refilled[side] = true;
                self.enqueue_side(graph, bisection, side);
                continue;
            };
            if watch.stops_after(1 + graph.degree(node)) {
                break;
            }
            self.move_chosen(graph, bisection, goal.bounds, node);
            let score = goal.score(bisection);
            if score < best {
                best = score;
                best_length = self.trail.len();
            }
        }
        self.heaps.iter_mut().for_each(Heap::clear);
        self.roll_back(graph, bisection, goal.bounds, best_length);
        best < start
    }

    fn enqueue_boundary<W: Stored>(&mut self, graph: &CompactGraph<'_, W>, bisection: &Bisection) {
        for node in graph.nodes() {
            let gain = self.gain[node as usize];
            if gain > -self.degree[node as usize] && !self.moved[node as usize] {
                self.heaps[bisection.sides[node as usize] as usize].set(node, gain);
            }
        }
    }

    /// Queues all vertices of a side that have not moved, including those not on the boundary.
    fn enqueue_side<W: Stored>(&mut self, graph: &CompactGraph<'_, W>, bisection: &Bisection, side: usize) {
        for node in graph.nodes() {
            if bisection.sides[node as usize] as usize == side && !self.moved[node as usize] {
                self.heaps[side].set(node, self.gain[node as usize]);
            }
        }
    }

    /// Moves a vertex for this pass and queues its neighbours.
    #[inline]
    fn move_chosen<W: Stored>(
        &mut self,
        graph: &CompactGraph<'_, W>,
        bisection: &mut Bisection,
        bounds: &impl SideBounds,
        node: NodeId,
    ) {
        self.moved[node as usize] = true;
        self.trail.push(node);
        let old_side = bisection.sides[node as usize];
        self.shift(graph, bisection, bounds, node, |this, other, side| {
            // A neighbour left behind is on the boundary now; one on the new side already was.
            if !this.moved[other as usize] && (side == old_side || this.heaps[side as usize].contains(other))
            {
                this.heaps[side as usize].set(other, this.gain[other as usize]);
            }
        });
    }

    /// Undoes the moves of the pass after the first `length` ones.
    fn roll_back<W: Stored>(
        &mut self,
        graph: &CompactGraph<'_, W>,
        bisection: &mut Bisection,
        bounds: &impl SideBounds,
        length: usize,
    ) {
        while self.trail.len() > length {
            let node = self.trail.pop().expect("the trail is longer than its best prefix");
            self.moved[node as usize] = false;
            self.shift(graph, bisection, bounds, node, |_, _, _| {});
        }
        for node in self.trail.drain(..) {
            self.moved[node as usize] = false;
        }
    }

    /// Takes the next vertex to move from the heaps: the best gain whose move is allowed.
    ///
    /// Vertices that are too heavy for the other side are left out of the pass.
    fn choose<W: Stored>(
        &mut self,
        graph: &CompactGraph<'_, W>,
        bisection: &Bisection,
        bounds: &impl SideBounds,
        slack: Weight,
    ) -> Option<NodeId> {
        let weights = &bisection.weights;
        loop {
            let tops = [0, 1].map(|from| self.heaps[from].peek());
            let may_move = |from: usize| {
                let is_allowed = |node| bounds.allow(weights, from, (node, graph.node_weight(node)), slack);
                tops[from].filter(|&(_, node)| is_allowed(node))
            };
            let from = match [may_move(0), may_move(1)] {
                // Equal gains: relieve the side that is further above its target.
                [Some(a), Some(b)] if a.0 == b.0 => {
                    let excess = |side: usize| weights[side] - bounds.target()[side];
                    usize::from(excess(1) > excess(0))
                }
                [Some(a), Some(b)] => usize::from(b.0 > a.0),
                [Some(_), None] => 0,
                [None, Some(_)] => 1,
                [None, None] if tops == [None; 2] => return None,
                [None, None] => {
                    for (heap, top) in self.heaps.iter_mut().zip(tops) {
                        top.into_iter().for_each(|(_, node)| heap.remove(node));
                    }
                    continue;
                }
            };
            return self.heaps[from].pop().map(|(_, node)| node);
        }
    }

    /// Grows side 0 from what is held there and a random vertex, best gain first, until it has its target weight.
    pub fn grow<W: Stored>(
        &mut self,
        (graph, held): (&CompactGraph<'_, W>, &[BlockId]),
        bounds: &impl SideBounds,
        rng: &mut Rng,
    ) -> Bisection {
        let n = graph.num_nodes();
        let mut bisection = Bisection { sides: vec![1; n], weights: [0, graph.total_node_weight()], cut: 0 };
        self.start(graph, &bisection.sides);
        bounds.begin(&bisection.sides);
        self.hold(held, true);
        let target = bounds.target()[0];
        for (node, _) in (0..).zip(held).filter(|&(_, &side)| side == 0) {
            self.take(graph, &mut bisection, bounds, node);
        }
        let first = if n == 0 { 0 } else { rng.below(n as u32) as usize };
        // Vertices that have been tried as starts, in cyclic order from the first one on.
        let mut tried = 0;
        while bisection.weights[0] < target {
            let node = match self.heaps[1].pop() {
                Some((_, node)) => node,
                None => {
                    // The component is used up: a new start.
                    if tried == n {
                        break;
                    }
                    tried += 1;
                    ((first + tried - 1) % n) as NodeId
                }
            };
            if bisection.sides[node as usize] == 0 || self.moved[node as usize] {
                continue;
            }
            let weight = graph.node_weight(node);
            let missing = target - bisection.weights[0];
            if weight > missing && weight - missing > missing && bisection.weights[0] > 0 {
                // It overshoots by more than is missing. A lighter one may still fit.
                continue;
            }
            self.take(graph, &mut bisection, bounds, node);
        }
        self.heaps[1].clear();
        self.hold(held, false);
        bisection
    }

    /// Moves a vertex to side 0 and queues its neighbours.
    fn take<W: Stored>(
        &mut self,
        graph: &CompactGraph<'_, W>,
        bisection: &mut Bisection,
        bounds: &impl SideBounds,
        node: NodeId,
    ) {
        self.shift(graph, bisection, bounds, node, |this, other, side| {
            if side == 1 && !this.moved[other as usize] {
                this.heaps[1].set(other, this.gain[other as usize]);
            }
        });
    }
}
