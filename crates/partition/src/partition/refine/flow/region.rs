//! The region of a pair of blocks: the vertices around their common boundary.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::assignment::Assignment;
use crate::partition::compact::{CompactGraph, Stored};
use crate::partition::settings::FlowConfig;

/// By vertex, its position in the region that contained it last. Regions that have no vertex in common share it, whatever it says of vertices
/// that they do not contain.
#[derive(Debug, Default)]
pub(super) struct Positions(Vec<AtomicU32>);

impl Positions {
    /// Makes room for graphs of `num_nodes` vertices.
    pub fn resize(&mut self, num_nodes: usize) {
        if self.0.len() < num_nodes {
            self.0.resize_with(num_nodes, AtomicU32::default);
        }
    }
}

/// Vertices of two blocks, nearest to the boundary first. A local vertex is a position in `nodes`.
#[derive(Debug, Default)]
pub(super) struct Region {
    pub nodes: Vec<NodeId>,
    /// Hops from the boundary by local vertex: positive in the first block, negative in the second, never 0.
    pub depth: Vec<i32>,
    /// The weight of the region in each of the two blocks.
    pub weights: [Weight; 2],
}

impl Region {
    /// The local vertex of a vertex of the graph, if the region contains it.
    #[inline]
    pub fn local(&self, positions: &Positions, node: NodeId) -> Option<u32> {
        let local = positions.0[node as usize].load(Ordering::Relaxed);
        (self.nodes.get(local as usize) == Some(&node)).then_some(local)
    }

    /// Collects the vertices near the boundary of two blocks, nearest first, up to a share of each block.
    ///
    /// `boundary` are vertices of which some lie on the boundary of the pair.
    pub fn grow<W: Stored>(
        &mut self,
        graph: &CompactGraph<'_, W>,
        assignment: &Assignment,
        pair: [BlockId; 2],
        (boundary, positions): (impl Iterator<Item = NodeId>, &Positions),
        settings: &FlowConfig,
    ) {
        self.nodes.clear();
        self.depth.clear();
        self.weights = [0; 2];
        let blocks = &assignment.blocks;
        for node in boundary {
            let Some(side) = pair.iter().position(|&block| block == blocks[node as usize]) else { continue };
            let touches = |target: NodeId| blocks[target as usize] == pair[1 - side];
            if self.local(positions, node).is_none() && graph.arcs(node).iter().any(|arc| touches(arc.target))
            {
                self.take((graph, positions), node, side, 1);
            }
        }
        let limits =
            pair.map(|block| (assignment.weights[block as usize] as f64 * settings.region) as Weight);
        let mut full = [false; 2];
        let mut at = 0;
        while at < self.nodes.len() && full != [true; 2] {
            let depth = self.depth[at].abs() + 1;
            if depth.unsigned_abs() > settings.depth {
                break;
            }
            let node = self.nodes[at];
            let block = blocks[node as usize];
            let side = usize::from(block == pair[1]);
            at += 1;
            for arc in graph.arcs(node) {
                if full[side] {
                    break;
                }
                if blocks[arc.target as usize] == block && self.local(positions, arc.target).is_none() {
                    self.take((graph, positions), arc.target, side, depth);
                    full[side] = self.weights[side] >= limits[side];
                }
            }
        }
    }

    fn take<W: Stored>(
        &mut self,
        (graph, positions): (&CompactGraph<'_, W>, &Positions),
        node: NodeId,
        side: usize,
        depth: i32,
    ) {
        positions.0[node as usize].store(self.nodes.len() as u32, Ordering::Relaxed);
        self.nodes.push(node);
        self.depth.push(if side == 0 { depth } else { -depth });
        self.weights[side] += graph.node_weight(node);
    }
}
