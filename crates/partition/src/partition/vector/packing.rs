//! Vertices packed into blocks without regard to edges: first fit decreasing, and the best assignment of few vertices.
//!
//! They are tried where the multilevel scheme exceeds a bound.

use crate::base::budget::Budget;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::VertexWeights;
use crate::partition::loads::{Excess, VectorBounds};

/// The number of assignments of a vertex to a block that the search for the best assignment tries. Balances bounds that are met against
/// time: this takes a tenth of a second.
const MOST_STEPS: usize = 1 << 20;

/// The greatest number of vertices whose best assignment is searched for. The recursion is as deep.
const FEW_VERTICES: usize = 64;

/// Vertices, their weights, and the bounds that they must meet.
#[derive(Clone, Copy)]
pub(super) struct Packing<'a> {
    pub weights: &'a VertexWeights,
    pub bounds: &'a VectorBounds,
    /// The block of each vertex that is fixed.
    pub fixed: &'a dyn Fn(NodeId) -> Option<BlockId>,
}

impl Packing<'_> {
    /// Assignments by first fit decreasing: each vertex goes to the first block with room for it, or to the block where it exceeds bounds
    /// least. One of them sorts the vertices by their greatest share of a weight, one by the sum of these. O(n k c).
    pub fn first_fits(&self) -> [Vec<BlockId>; 2] {
        let greatest = self.first_fit(&self.order(&|shares| shares.fold(0.0, f64::max)));
        [greatest, self.first_fit(&self.order(&|shares| shares.sum()))]
    }

    /// The vertices, fixed ones first, by descending shares.
    fn order(&self, key: &dyn Fn(&mut dyn Iterator<Item = f64>) -> f64) -> Vec<NodeId> {
        let totals = self.weights.totals();
        let key = |node: NodeId| {
            let share = |(&weight, &total): (&Weight, &Weight)| weight as f64 / total.max(1) as f64;
            key(&mut self.weights.of(node).iter().zip(totals).map(share))
        };
        let mut order: Vec<(bool, f64, NodeId)> = (0..self.weights.num_vertices() as NodeId)
            .map(|node| ((self.fixed)(node).is_none(), -key(node), node))
            .collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        order.into_iter().map(|(_, _, node)| node).collect()
    }

    fn first_fit(&self, order: &[NodeId]) -> Vec<BlockId> {
        let c = self.weights.num_weights();
        let k = self.bounds.num_blocks() as BlockId;
        let groups = &self.bounds.groups;
        let (mut loads, mut of_groups) = (vec![0; self.bounds.most.len()], vec![0; groups.most.len()]);
        let mut blocks = vec![0; order.len()];
        for &node in order {
            let own = self.weights.of(node);
            let over = |block: BlockId| -> f64 {
                let over = |((&load, &bound), &weight): ((&Weight, &Weight), &Weight)| {
                    (load + weight - bound).max(0).min(weight) as f64 / bound.max(1) as f64
                };
                let group = groups.of_block.get(block as usize).map_or(0..0, |&group| range(group, c));
                let of_group = of_groups[group.clone()].iter().zip(&groups.most[group]).zip(own);
                let own = loads[range(block, c)].iter().zip(self.bounds.most(block)).zip(own);
                own.chain(of_group).map(over).sum()
            };
            let first = || (0..k).find(|&block| over(block) == 0.0);
            let least = || (0..k).min_by(|&a, &b| over(a).total_cmp(&over(b)));
            let to = (self.fixed)(node).or_else(first).or_else(least).unwrap_or(0);
            blocks[node as usize] = to;
            add(&mut loads[range(to, c)], own, 1);
            if let Some(&group) = groups.of_block.get(to as usize) {
                add(&mut of_groups[range(group, c)], own, 1);
            }
        }
        blocks
    }

    /// An assignment that misses the bounds by less than this one: the best of all, unless that takes too many steps. None if there are many
    /// vertices.
    pub fn better(&self, than: Excess) -> Option<Vec<BlockId>> {
        let n = self.weights.num_vertices();
        if n > FEW_VERTICES {
            return None;
        }
        let order = self.order(&|shares| shares.sum());
        let mut search = Search {
            packing: *self,
            order,
            loads: vec![0; self.bounds.most.len()],
            blocks: vec![0; n],
            best: (than, None),
            budget: Budget::new(MOST_STEPS),
        };
        search.extend(0);
        search.best.1
    }
}

struct Search<'a> {
    packing: Packing<'a>,
    order: Vec<NodeId>,
    loads: Vec<Weight>,
    blocks: Vec<BlockId>,
    best: (Excess, Option<Vec<BlockId>>),
    budget: Budget,
}

impl Search<'_> {
    /// Assigns the vertices from a place of the order on. What exceeds bounds only grows on the way.
    fn extend(&mut self, place: usize) {
        let Packing { weights, bounds, fixed } = self.packing;
        let overload = bounds.excess(&self.loads);
        let is_last = place == self.order.len();
        let reached = if is_last { overload } else { overload.without_shortfall() };
        if reached >= self.best.0 {
            return;
        }
        if is_last {
            self.best = (overload, Some(self.blocks.clone()));
            return;
        }
        let (node, c) = (self.order[place], weights.num_weights());
        for block in 0..bounds.num_blocks() {
            if fixed(node).is_some_and(|fixed| fixed as usize != block) || self.is_tried(block) {
                continue;
            }
            if !self.budget.pays_for(1) {
                return;
            }
            add(&mut self.loads[block * c..][..c], weights.of(node), 1);
            self.blocks[node as usize] = block as BlockId;
            self.extend(place + 1);
            add(&mut self.loads[block * c..][..c], weights.of(node), -1);
        }
    }

    /// Returns whether a block before this one has the same loads and bounds, so that both lead to the same.
    fn is_tried(&self, block: usize) -> bool {
        let Packing { bounds, weights, .. } = self.packing;
        let c = weights.num_weights();
        let has_fixed = self.order.first().is_some_and(|&node| (self.packing.fixed)(node).is_some());
        let least = |block: usize| bounds.least.get(block * c..(block + 1) * c);
        let group = |block: usize| bounds.groups.of_block.get(block);
        let alike = |other: usize| {
            self.loads[other * c..][..c] == self.loads[block * c..][..c]
                && group(other) == group(block)
                && bounds.most(other as BlockId) == bounds.most(block as BlockId)
                && least(other) == least(block)
        };
        !has_fixed && (0..block).any(alike)
    }
}

/// The places of the loads of a block or group by `c` weights.
fn range(number: u32, c: usize) -> std::ops::Range<usize> {
    let begin = number as usize * c;
    begin..begin + c
}

fn add(loads: &mut [Weight], weights: &[Weight], sign: Weight) {
    loads.iter_mut().zip(weights).for_each(|(load, weight)| *load += sign * weight);
}
