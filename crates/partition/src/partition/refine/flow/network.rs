//! The flow network of a region, and its two terminals.

use super::region::{Positions, Region};
use crate::base::types::{BlockId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::compact::Stored;
use crate::partition::objective::Objective;

/// A terminal of the network, and the block of the pair that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Source,
    Sink,
}

impl Side {
    pub const BOTH: [Side; 2] = [Side::Source, Side::Sink];

    #[inline]
    pub fn opposite(self) -> Self {
        match self {
            Side::Source => Side::Sink,
            Side::Sink => Side::Source,
        }
    }
}

/// An arc with what may still flow along it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowArc {
    pub target: u32,
    /// Position of the opposite arc.
    pub reverse: u32,
    pub residual: Weight,
}

/// The subgraph that a region induces, with capacities instead of weights. Memory is linear in the region.
///
/// The capacity of an edge is what it costs between the two blocks. Where distances differ, edges to third blocks also
/// cost more from one block of the pair than from the other. A vertex then has an arc from the terminal of the nearer block,
/// whose capacity is the difference: two more local vertices of no weight, the poles, stand behind those of the region.
#[derive(Debug, Default)]
pub(super) struct Network {
    pub offsets: Vec<u32>,
    pub arcs: Vec<FlowArc>,
    /// By local vertex.
    pub weights: Vec<Weight>,
    /// The terminal that a local vertex is merged with, if any.
    pub terminal: Vec<Option<Side>>,
    /// By side: the vertices of the terminal from which flow may still leave, or which it may still enter.
    pub seeds: [Vec<u32>; 2],
    /// The next free position in the row of each local vertex.
    next: Vec<u32>,
    /// Local vertices, and how much more their edges to third blocks cost from the second block of the pair.
    pulls: Vec<(u32, Weight)>,
    affinities: BlockAffinities,
}

impl Network {
    pub fn num_nodes(&self) -> usize {
        self.weights.len()
    }

    /// The positions of the arcs of a local vertex.
    #[inline]
    pub fn row(&self, node: u32) -> std::ops::Range<usize> {
        self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize
    }

    /// Makes room for partitions into this many blocks.
    pub fn resize(&mut self, num_blocks: usize) {
        self.affinities.resize(num_blocks);
    }

    /// Builds the network of the region of a pair of blocks; returns the weight of the present cut.
    pub fn build<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &Assignment,
        (region, positions): (&Region, &Positions),
        pair: [BlockId; 2],
    ) -> Weight {
        self.lay_out(level, assignment, (region, positions), pair);
        self.fix_deepest(region);
        self.add_poles();
        for index in 0..self.num_nodes() {
            self.offsets[index + 1] += self.offsets[index];
        }
        self.connect(level, (region, positions), level.objective.between(pair[0], pair[1]))
    }

    /// Merges the vertices next to the rest of their block, and fixed ones, with its terminal, and leaves in `offsets[v + 1]` the
    /// number of arcs of `v` in the network.
    fn lay_out<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &Assignment,
        (region, positions): (&Region, &Positions),
        pair: [BlockId; 2],
    ) {
        self.offsets.clear();
        self.offsets.push(0);
        self.weights.clear();
        self.terminal.clear();
        self.pulls.clear();
        self.seeds.iter_mut().for_each(Vec::clear);
        let has_pull = level.objective.has_pull();
        for (index, &node) in region.nodes.iter().enumerate() {
            let block = assignment.blocks[node as usize];
            let (mut degree, mut is_fixed, mut has_others) = (0, level.objective.is_fixed(node), false);
            for arc in level.arcs(node) {
                let is_inside = region.local(positions, arc.target).is_some();
                let other = assignment.blocks[arc.target as usize];
                degree += u32::from(is_inside);
                is_fixed |= !is_inside && other == block;
                has_others |= has_pull && other != pair[0] && other != pair[1];
            }
            // What a fixed vertex costs stays the same.
            if has_others && !is_fixed {
                self.affinities.collect(level.graph, &assignment.blocks, node);
                let pull = level.objective.pull(&self.affinities, pair);
                if pull != 0 {
                    self.pulls.push((index as u32, pull));
                    degree += 1;
                }
            }
            self.offsets.push(degree);
            self.weights.push(level.node_weight(node));
            self.terminal.push(None);
            if is_fixed {
                self.fix(index as u32, if block == pair[0] { Side::Source } else { Side::Sink });
            }
        }
    }

    /// Adds the poles if a vertex is pulled.
    fn add_poles(&mut self) {
        if self.pulls.is_empty() {
            return;
        }
        for side in Side::BOTH {
            let pulled = self.pulls.iter().filter(|&&(_, pull)| side_of_pull(pull) == side);
            self.offsets.push(pulled.count() as u32);
            self.weights.push(0);
            self.terminal.push(None);
            self.fix(self.weights.len() as u32 - 1, side);
        }
    }

    /// Makes the deepest vertex of a block a terminal if the block lies in the region as a whole.
    fn fix_deepest(&mut self, region: &Region) {
        for side in Side::BOTH {
            if !self.seeds[side as usize].is_empty() {
                continue;
            }
            let depth = |&node: &u32| inward(side, region.depth[node as usize]);
            let nodes = (0..self.num_nodes() as u32).filter(|node| depth(node) > 0);
            // Among equally deep ones, the last at the source and the first at the sink.
            let deepest = match side {
                Side::Source => nodes.max_by_key(depth),
                Side::Sink => nodes.rev().max_by_key(depth),
            };
            if let Some(node) = deepest {
                self.fix(node, side);
            }
        }
    }

    fn fix(&mut self, node: u32, side: Side) {
        self.terminal[node as usize] = Some(side);
        self.seeds[side as usize].push(node);
    }

    /// Writes both arcs of each edge; returns the capacity of the edges between the two blocks. An edge of weight 1 between
    /// them costs `distance`.
    fn connect<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        (region, positions): (&Region, &Positions),
        distance: Weight,
    ) -> Weight {
        let n = self.num_nodes();
        self.next.clear();
        self.next.extend_from_slice(&self.offsets[..n]);
        self.arcs.clear();
        self.arcs.resize(self.offsets[n] as usize, FlowArc { target: 0, reverse: 0, residual: 0 });
        let mut cut = 0;
        for (index, &node) in region.nodes.iter().enumerate() {
            for arc in level.arcs(node) {
                let other = match region.local(positions, arc.target) {
                    Some(other) if other >= index as u32 => other,
                    _ => continue,
                };
                let capacity = arc.weight() * distance;
                self.join(index as u32, other, capacity);
                if (region.depth[index] > 0) != (region.depth[other as usize] > 0) {
                    cut += capacity;
                }
            }
        }
        for at in 0..self.pulls.len() {
            let (node, pull) = self.pulls[at];
            let side = side_of_pull(pull);
            let pole = (n - 2) as u32 + side as u32;
            self.join(pole, node, pull.abs());
            if inward(side, region.depth[node as usize]) < 0 {
                cut += pull.abs();
            }
        }
        cut
    }

    /// Writes both arcs of an edge.
    #[inline]
    fn join(&mut self, one: u32, other: u32, residual: Weight) {
        let (forward, backward) = (self.next[one as usize], self.next[other as usize]);
        self.next[one as usize] += 1;
        self.next[other as usize] += 1;
        self.arcs[forward as usize] = FlowArc { target: other, reverse: backward, residual };
        self.arcs[backward as usize] = FlowArc { target: one, reverse: forward, residual };
    }
}

/// The side to which a vertex is pulled by its edges to third blocks.
fn side_of_pull(pull: Weight) -> Side {
    if pull > 0 { Side::Source } else { Side::Sink }
}

/// How deep a vertex lies in the block of a side; negative in the other block.
#[inline]
pub(super) fn inward(side: Side, depth: i32) -> i32 {
    match side {
        Side::Source => depth,
        Side::Sink => -depth,
    }
}
