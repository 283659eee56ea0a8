//! Fiduccia-Mattheyses refinement of bisections, and greedy growing on the same data.
//!
//! Every vertex is moved at most once a pass, best gain first; gains of neighbours are updated as it moves; at
//! the end of the pass everything after the best state is undone. States are compared by overload first
//! and cut second, so the pass also balances. Unlike the textbook version, the sides may exceed their
//! bounds by a slack on the way: without it, no vertex could move at all when the sizes are exact.
//! O(n + m) a pass plus O(log n) for each gain that changes.
//!
//! Fiduccia, Mattheyses: A linear-time heuristic for improving network partitions. DAC 1982.

use crate::observer::{Observer, Watch};
use crate::partition::heap::Heap;
use crate::partition::level::{Level, Stored};
use crate::rng::Rng;
use crate::types::{BlockId, NodeId, Weight};

/// What the sides of a bisection may weigh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The weight each side should have.
    pub target: [Weight; 2],
    /// The greatest weight each side may have.
    pub max: [Weight; 2],
}

impl Bounds {
    fn overload(&self, weights: &[Weight; 2]) -> Weight {
        (weights[0] - self.max[0]).max(0) + (weights[1] - self.max[1]).max(0)
    }
}

/// A bisection with its side weights and cut.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bisection {
    pub sides: Vec<BlockId>,
    pub weights: [Weight; 2],
    pub cut: Weight,
}

impl Bisection {
    /// What counts: overload beyond `tolerance` first, then the cut.
    pub fn score(&self, bounds: &Bounds, tolerance: Weight) -> (Weight, Weight) {
        (bounds.overload(&self.weights).max(tolerance), self.cut)
    }
}

/// How long a refinement tries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Most passes.
    pub passes: usize,
    /// A pass ends after this many moves without a new best state.
    pub patience: usize,
}

/// Working memory of the refinement of bisections.
#[derive(Debug, Default)]
pub(crate) struct TwoWay {
    /// The vertices that may move away from each side.
    heaps: [Heap; 2],
    /// How much the cut falls when a vertex changes its side.
    gain: Vec<Weight>,
    /// The weight of all edges of a vertex: it is on the boundary if its gain is above the negative of that.
    total: Vec<Weight>,
    moved: Vec<bool>,
    trail: Vec<NodeId>,
}

impl TwoWay {
    fn start<W: Stored>(&mut self, graph: &Level<W>, sides: &[BlockId]) {
        let n = graph.num_nodes();
        for heap in &mut self.heaps {
            heap.resize(n);
        }
        if self.moved.len() < n {
            self.moved.resize(n, false);
        }
        self.gain.clear();
        self.total.clear();
        for node in graph.nodes() {
            let side = sides[node as usize];
            let (mut gain, mut total) = (0, 0);
            for arc in graph.arcs(node) {
                let weight = arc.weight();
                gain += if sides[arc.target as usize] == side { -weight } else { weight };
                total += weight;
            }
            self.gain.push(gain);
            self.total.push(total);
        }
    }

    /// Moves a vertex and updates everything that depends on its side; `visit` sees each neighbour.
    #[inline]
    fn shift<W: Stored>(
        &mut self,
        graph: &Level<W>,
        bisection: &mut Bisection,
        node: NodeId,
        mut visit: impl FnMut(&mut Self, NodeId, BlockId),
    ) {
        let from = bisection.sides[node as usize];
        let to = 1 - from;
        let weight = graph.node_weight(node);
        bisection.sides[node as usize] = to;
        bisection.weights[from as usize] -= weight;
        bisection.weights[to as usize] += weight;
        bisection.cut -= self.gain[node as usize];
        self.gain[node as usize] = -self.gain[node as usize];
        for arc in graph.arcs(node) {
            let side = bisection.sides[arc.target as usize];
            let change = if side == to { -2 * arc.weight() } else { 2 * arc.weight() };
            self.gain[arc.target as usize] += change;
            visit(self, arc.target, side);
        }
    }

    /// Refines a bisection until the observer asks to stop; returns whether it got better.
    ///
    /// Overload up to `tolerance` counts as none: coarse vertices cannot meet exact sizes, and the finer
    /// levels can.
    pub fn refine<W: Stored>(
        &mut self,
        graph: &Level<W>,
        bisection: &mut Bisection,
        bounds: &Bounds,
        tolerance: Weight,
        effort: Effort,
        observer: &dyn Observer,
    ) -> bool {
        if observer.should_stop() {
            return false;
        }
        let mut watch = Watch::new(observer);
        self.start(graph, &bisection.sides);
        let before = bisection.score(bounds, tolerance);
        for _ in 0..effort.passes {
            if !self.pass(graph, bisection, bounds, tolerance, effort.patience, &mut watch) {
                break;
            }
        }
        bisection.score(bounds, tolerance) < before
    }

    fn pass<W: Stored>(
        &mut self,
        graph: &Level<W>,
        bisection: &mut Bisection,
        bounds: &Bounds,
        tolerance: Weight,
        patience: usize,
        watch: &mut Watch<'_>,
    ) -> bool {
        let slack = tolerance.max(graph.max_node_weight());
        for node in graph.nodes() {
            let gain = self.gain[node as usize];
            if gain > -self.total[node as usize] {
                self.heaps[bisection.sides[node as usize] as usize].set(node, gain);
            }
        }
        let start = bisection.score(bounds, tolerance);
        let mut best = start;
        let mut best_length = 0;
        let mut refilled = [false; 2];
        loop {
            // While the bounds are not met yet, the search must go on until they are.
            let unmet = best.0 > tolerance;
            if !unmet && self.trail.len() - best_length > patience {
                break;
            }
            let Some(node) = self.choose(graph, bisection, bounds, slack) else {
                let heavy = (0..2).find(|&side| bisection.weights[side] > bounds.max[side]);
                match heavy {
                    Some(side) if unmet && !refilled[side] => {
                        refilled[side] = true;
                        for node in graph.nodes() {
                            if bisection.sides[node as usize] as usize == side && !self.moved[node as usize] {
                                self.heaps[side].set(node, self.gain[node as usize]);
                            }
                        }
                        continue;
                    }
                    _ => break,
                }
            };
            if watch.stops_after(1 + graph.degree(node)) {
                break;
            }
            self.moved[node as usize] = true;
            self.trail.push(node);
            let old_side = bisection.sides[node as usize];
            self.shift(graph, bisection, node, |this, other, side| {
                // A neighbour left behind is on the boundary now; one on the new side already was.
                if !this.moved[other as usize]
                    && (side == old_side || this.heaps[side as usize].contains(other))
                {
                    this.heaps[side as usize].set(other, this.gain[other as usize]);
                }
            });
            let score = bisection.score(bounds, tolerance);
            if score < best {
                best = score;
                best_length = self.trail.len();
            }
        }
        for heap in &mut self.heaps {
            heap.clear();
        }
        while self.trail.len() > best_length {
            let node = self.trail.pop().expect("the trail is longer than its best prefix");
            self.moved[node as usize] = false;
            self.shift(graph, bisection, node, |_, _, _| {});
        }
        for node in self.trail.drain(..) {
            self.moved[node as usize] = false;
        }
        best < start
    }

    /// Takes the next vertex to move from the heaps: the best gain whose move is allowed.
    fn choose<W: Stored>(
        &mut self,
        graph: &Level<W>,
        bisection: &Bisection,
        bounds: &Bounds,
        slack: Weight,
    ) -> Option<NodeId> {
        let weights = &bisection.weights;
        let overload = bounds.overload(weights);
        loop {
            let mut candidate: [Option<(Weight, NodeId)>; 2] = [None; 2];
            let mut blocked = [None; 2];
            for from in 0..2 {
                if let Some((gain, node)) = self.heaps[from].peek() {
                    let weight = graph.node_weight(node);
                    let mut after = *weights;
                    after[from] -= weight;
                    after[1 - from] += weight;
                    let fits = after[1 - from] <= bounds.max[1 - from].saturating_add(slack)
                        && weights[1 - from] <= bounds.max[1 - from].max(bounds.target[1 - from]);
                    if fits || bounds.overload(&after) < overload {
                        candidate[from] = Some((gain, node));
                    } else {
                        blocked[from] = Some(node);
                    }
                }
            }
            let from = match candidate {
                [Some(a), Some(b)] if a.0 == b.0 => {
                    // Equal gains: relieve the side that is further above its target.
                    let excess = |side: usize| weights[side] - bounds.target[side];
                    usize::from(excess(1) > excess(0))
                }
                [Some(a), Some(b)] => usize::from(b.0 > a.0),
                [Some(_), None] => 0,
                [None, Some(_)] => 1,
                [None, None] => {
                    // Too heavy for the other side: leave these out of the pass.
                    if blocked == [None; 2] {
                        return None;
                    }
                    for (heap, node) in self.heaps.iter_mut().zip(blocked) {
                        node.into_iter().for_each(|node| heap.remove(node));
                    }
                    continue;
                }
            };
            return self.heaps[from].pop().map(|(_, node)| node);
        }
    }

    /// Grows side 0 from a random vertex, best gain first, until it has its target weight.
    pub fn grow<W: Stored>(&mut self, graph: &Level<W>, bounds: &Bounds, rng: &mut Rng) -> Bisection {
        let n = graph.num_nodes();
        let mut bisection = Bisection { sides: vec![1; n], weights: [0, graph.total_node_weight()], cut: 0 };
        self.start(graph, &bisection.sides);
        // Vertices before `unseen` in cyclic order have been tried as starts.
        let first = if n == 0 { 0 } else { rng.below(n as u32) as usize };
        let mut tried = 0;
        while bisection.weights[0] < bounds.target[0] {
            let node = match self.heaps[1].pop() {
                Some((_, node)) => node,
                None => {
                    // A new start: the component is used up.
                    if tried == n {
                        break;
                    }
                    tried += 1;
                    ((first + tried - 1) % n) as NodeId
                }
            };
            if bisection.sides[node as usize] == 0 {
                continue;
            }
            let weight = graph.node_weight(node);
            let missing = bounds.target[0] - bisection.weights[0];
            if weight > missing && weight - missing > missing && bisection.weights[0] > 0 {
                // Overshoots by more than is missing; a lighter one may still fit.
                continue;
            }
            self.shift(graph, &mut bisection, node, |this, other, side| {
                if side == 1 {
                    this.heaps[1].set(other, this.gain[other as usize]);
                }
            });
        }
        self.heaps[1].clear();
        bisection
    }
}
