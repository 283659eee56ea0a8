//! The bounds of a pair of blocks whose vertices have several weights.

use super::network::Side;
use super::region::Region;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::loads::Loads;

/// What the two blocks weigh as their terminals grow, by all weights.
pub(super) struct PairLoads<'a> {
    loads: &'a Loads<'a>,
    pair: [BlockId; 2],
    /// The vertex of each local vertex. Poles, which weigh nothing, stand behind them.
    nodes: &'a [NodeId],
    /// By side and weight: the terminal with its block outside the region.
    fixed: [Vec<Weight>; 2],
    /// By weight: both blocks together.
    total: Vec<Weight>,
}

impl<'a> PairLoads<'a> {
    /// Nothing of the region belongs to a terminal yet.
    pub fn new(loads: &'a Loads<'a>, pair: [BlockId; 2], region: &'a Region) -> Self {
        let own = pair.map(|block| loads.of(block).collect::<Vec<Weight>>());
        let total = own[0].iter().zip(&own[1]).map(|(first, second)| first + second).collect();
        let mut fixed = own;
        for (&node, &depth) in region.nodes.iter().zip(&region.depth) {
            let outside = &mut fixed[usize::from(depth < 0)];
            outside.iter_mut().zip(loads.weights.of(node)).for_each(|(load, weight)| *load -= weight);
        }
        Self { loads, pair, nodes: &region.nodes, fixed, total }
    }

    /// Makes local vertices a part of a terminal.
    pub fn absorb(&mut self, side: Side, nodes: &[u32]) {
        add(&mut self.fixed[side as usize], self.loads, self.nodes, nodes);
    }

    /// Returns whether both blocks keep their bounds if one of them has its terminal and these local vertices, and the other one the rest.
    pub fn fit(&self, side: Side, reached: &[u32]) -> bool {
        let mut own = self.fixed[side as usize].clone();
        add(&mut own, self.loads, self.nodes, reached);
        let rest: Vec<Weight> = self.total.iter().zip(&own).map(|(total, own)| total - own).collect();
        let pair = [side, side.opposite()].map(|side| self.pair[side as usize]);
        self.loads.would_fit(pair, [&own, &rest])
    }
}

/// Adds the weights of local vertices.
fn add(sums: &mut [Weight], loads: &Loads<'_>, nodes: &[NodeId], locals: &[u32]) {
    for &node in locals.iter().filter_map(|&local| nodes.get(local as usize)) {
        sums.iter_mut().zip(loads.weights.of(node)).for_each(|(sum, weight)| *sum += weight);
    }
}
