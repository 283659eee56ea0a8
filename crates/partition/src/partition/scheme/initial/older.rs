//! Initial partitions from an older one: every vertex stays in its home block, as far as that still exists and has room.
//!
//! *Algorithm.* Vertices without a home go to the adjacent block that costs least, the most strongly connected ones first.
//! New blocks split off from overloaded ones. What exceeds the bounds then leaves along cheapest paths of blocks
//! ([`cycles`](crate::partition::refine::cycles)), so an overloaded block passes vertices on through its neighbours to
//! blocks with room farther away.
//!
//! O((n + m) log n) besides the paths, and O(g) for each new block while g blocks are overloaded. It runs on the coarsest
//! graph.

use std::iter;

use super::interface::{Coarsest, InitialPartition};
use crate::base::observer::Watch;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::compact::Stored;
use crate::partition::heap::Heap;
use crate::partition::objective::Objective;
use crate::partition::refine::cycles::Moves;
use crate::partition::residual::ResidualCapacities;

/// The older partition given by the homes of the objective; bounds are nearly met.
pub(crate) struct OlderPartition;

impl<W: Stored, O: Objective> InitialPartition<W, O> for OlderPartition {
    fn blocks(&self, coarsest: &Coarsest<'_, W, O>, _seed: u64) -> Vec<BlockId> {
        let Coarsest { level, sizes, relaxed, observer, .. } = *coarsest;
        let bounds = relaxed.most;
        let balance = &coarsest.settings.balance;
        let homes = level.objective.homes().map_or_else(|| vec![0; level.num_nodes()], <[u32]>::to_vec);
        let mut placing = Placing::new(level, homes, bounds.len());
        let mut watch = Watch::new(observer);
        placing.place_homeless(bounds, &mut watch);
        placing.split_off_new_blocks(sizes, &mut watch);
        let mut assignment = Assignment::new(level, placing.blocks, bounds.len());
        let mut moves = Moves::new(level, &assignment, balance.effort, observer);
        moves.rebalance(&mut assignment, bounds.into(), balance.patience);
        assignment.blocks
    }
}

/// A partition under construction.
struct Placing<'a, W, O> {
    level: Problem<'a, W, O>,
    /// By vertex: its block, or a number that is no block.
    blocks: Vec<u32>,
    /// By block.
    weights: Vec<Weight>,
    affinities: BlockAffinities,
}

impl<'a, W: Stored, O: Objective> Placing<'a, W, O> {
    fn new(level: Problem<'a, W, O>, blocks: Vec<u32>, num_blocks: usize) -> Self {
        let mut weights = vec![0; num_blocks];
        for node in level.nodes() {
            if let Some(weight) = weights.get_mut(blocks[node as usize] as usize) {
                *weight += level.node_weight(node);
            }
        }
        let mut affinities = BlockAffinities::default();
        let most = blocks.iter().max().map_or(0, |&block| block as usize + 1);
        affinities.resize(most.max(num_blocks));
        Self { level, blocks, weights, affinities }
    }

    fn is_placed(&self, node: NodeId) -> bool {
        (self.blocks[node as usize] as usize) < self.weights.len()
    }

    fn place(&mut self, node: NodeId, block: BlockId) {
        let weight = self.level.node_weight(node);
        if let Some(before) = self.weights.get_mut(self.blocks[node as usize] as usize) {
            *before -= weight;
        }
        self.weights[block as usize] += weight;
        self.blocks[node as usize] = block;
    }

    /// Assigns the vertices without a home to adjacent blocks; once the observer asks to stop, to those with most room.
    fn place_homeless(&mut self, bounds: &[Weight], watch: &mut Watch<'_>) {
        let level = self.level;
        let mut residuals = ResidualCapacities::new(bounds, &self.weights);
        let mut stops = false;
        let mut heap = Heap::default();
        heap.resize(level.num_nodes());
        for node in level.nodes().filter(|&node| !self.is_placed(node)) {
            let connected = level.arcs(node).iter().filter(|arc| self.is_placed(arc.target));
            heap.set(node, connected.map(|arc| arc.weight()).sum());
        }
        while let Some((_, node)) = heap.pop() {
            let next = if stops { None } else { self.best_block(node, bounds) };
            let room = |block: BlockId| bounds[block as usize] - self.weights[block as usize];
            let block = next.or_else(|| residuals.emptiest(room)).expect("there is a block");
            self.place(node, block);
            stops = watch.stops_after(1 + level.degree(node) + self.affinities.work_of_gains());
            for arc in level.arcs(node) {
                if heap.contains(arc.target) {
                    heap.raise(arc.target, arc.weight());
                }
            }
        }
    }

    /// The adjacent block in which a vertex costs least, those with room first.
    fn best_block(&mut self, node: NodeId, bounds: &[Weight]) -> Option<BlockId> {
        let Self { level, blocks, weights, affinities } = self;
        affinities.collect(level.graph, blocks, node);
        let room = |block: BlockId| bounds[block as usize] - weights[block as usize];
        let is_block = |block: BlockId| (block as usize) < bounds.len();
        let weight = level.node_weight(node);
        let mut count =
            affinities.narrow(level.objective.has_pull(), |block| is_block(block) && room(block) >= weight);
        if count == 0 {
            count = affinities.narrow(level.objective.has_pull(), is_block);
        }
        let cost = |block: BlockId| -> Weight {
            let others = affinities.blocks().iter().filter(|&&other| is_block(other));
            others.map(|&other| affinities.to(other) * level.objective.between(block, other)).sum()
        };
        let next = affinities.blocks()[..count].iter().copied().filter(|&block| is_block(block));
        next.max_by_key(|&block| (room(block) >= weight, -cost(block), room(block), block))
    }

    /// Splits off each empty block from another one: from the nearest overloaded block, and among equals from the one with
    /// the greatest excess. Blocks stay empty once the observer asks to stop.
    fn split_off_new_blocks(&mut self, sizes: &[Weight], watch: &mut Watch<'_>) {
        let mut new_blocks: Vec<Vec<NewBlock>> = vec![Vec::new(); sizes.len()];
        let mut weights = self.weights.clone();
        let mut donors: Vec<BlockId> = (0..sizes.len() as BlockId).collect();
        for new in 0..sizes.len() as BlockId {
            if self.weights[new as usize] > 0 || sizes[new as usize] == 0 {
                continue;
            }
            let excess = |block: BlockId| weights[block as usize] - sizes[block as usize];
            // A donor that is no longer overloaded gives nothing more.
            donors.retain(|&block| excess(block) > 0);
            if watch.stops_after(1 + donors.len()) {
                break;
            }
            let near = |block: BlockId| -self.level.objective.between(block, new);
            let donor = donors.iter().copied().max_by_key(|&block| (near(block), excess(block)));
            let Some(donor) = donor else { break };
            let wanted = sizes[new as usize].min(weights[donor as usize] / 2);
            weights[donor as usize] -= wanted;
            new_blocks[donor as usize].push(NewBlock { block: new, wanted });
        }
        let mut members = vec![Vec::new(); sizes.len()];
        self.level.nodes().for_each(|node| members[self.blocks[node as usize] as usize].push(node));
        let mut search = Search::new(self.level.num_nodes());
        for (donor, (members, new_blocks)) in members.into_iter().zip(&new_blocks).enumerate() {
            self.split(donor as BlockId, members, new_blocks, &mut search);
        }
    }

    /// Divides the vertices of a block between it and new ones, by halves, so that each vertex is visited once per doubling
    /// of the number of blocks.
    fn split(&mut self, donor: BlockId, members: Vec<NodeId>, new_blocks: &[NewBlock], search: &mut Search) {
        let (stay, leave) = new_blocks.split_at(new_blocks.len() / 2);
        let Some((first, behind)) = leave.split_first() else { return };
        let wanted = leave.iter().map(|new| new.wanted).sum();
        self.grow(first.block, wanted, &members, search);
        let is_left = |&node: &NodeId| self.blocks[node as usize] == donor;
        let (left, gone) = members.into_iter().partition(is_left);
        self.split(donor, left, stay, search);
        self.split(first.block, gone, behind, search);
    }

    /// Grows a new block to this weight among the vertices of another one, starting far from the first of them.
    fn grow(&mut self, new: BlockId, wanted: Weight, members: &[NodeId], search: &mut Search) {
        let level = self.level;
        let Some(&first) = members.first() else { return };
        let farthest = *search.run(level, &self.blocks, first).last().expect("it reaches itself");
        for &start in iter::once(&farthest).chain(members) {
            if self.blocks[start as usize] == new {
                continue;
            }
            let inside = search.run(level, &self.blocks, start).iter();
            for &node in inside.filter(|&&node| !level.objective.is_fixed(node)) {
                if self.weights[new as usize] >= wanted {
                    return;
                }
                self.place(node, new);
            }
        }
    }
}

/// A block that has no vertices yet, and the weight that it should get.
#[derive(Clone, Copy)]
struct NewBlock {
    block: BlockId,
    wanted: Weight,
}

/// A breadth-first search inside a block, and its memory.
struct Search {
    /// By vertex: the last run that reached it.
    run: Vec<u32>,
    runs: u32,
    order: Vec<NodeId>,
}

impl Search {
    fn new(num_nodes: usize) -> Self {
        Self { run: vec![0; num_nodes], runs: 0, order: Vec::new() }
    }

    /// The vertices of a block reachable from one of them, in the order of the search; O(their arcs).
    fn run<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        blocks: &[BlockId],
        start: NodeId,
    ) -> &[NodeId] {
        self.runs += 1;
        self.run[start as usize] = self.runs;
        self.order.clear();
        self.order.push(start);
        let mut next = 0;
        while let Some(&node) = self.order.get(next) {
            next += 1;
            for arc in level.arcs(node) {
                let target = arc.target as usize;
                if blocks[target] == blocks[start as usize] && self.run[target] != self.runs {
                    self.run[target] = self.runs;
                    self.order.push(arc.target);
                }
            }
        }
        &self.order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, generate};
    use crate::partition::compact::CompactGraph;
    use crate::partition::objective::{Cut, EdgeCost, Migrating};
    use crate::partition::{PartitionConfig, PartitionPreset};

    /// A grid of 12 x 12 that was divided into stripes of this many columns.
    fn resumed(columns: u32, homes_are: impl Fn(u32) -> u32, sizes: &[Weight]) -> (Vec<u32>, Vec<BlockId>) {
        let graph = generate::grid(12, 12);
        let graph = CompactGraph::<i32>::new(&graph);
        let homes: Vec<u32> = graph.nodes().map(|node| homes_are(node % 12 / columns)).collect();
        let penalties = vec![1; homes.len()];
        let objective = Migrating::new(EdgeCost::Cut(Cut), 1, homes.clone(), penalties);
        let level = Problem { graph: &graph, objective: &objective };
        let settings = &PartitionConfig::preset(PartitionPreset::Eco);
        let (bounds, relaxed) = (sizes.into(), sizes.into());
        let coarsest = Coarsest { level, sizes, bounds, relaxed, settings, observer: &() };
        (homes, OlderPartition.blocks(&coarsest, 0))
    }

    fn count(blocks: &[BlockId], block: BlockId) -> usize {
        blocks.iter().filter(|&&other| other == block).count()
    }

    #[test]
    fn nothing_moves_where_all_is_well() {
        let (homes, blocks) = resumed(4, |stripe| stripe, &[48; 3]);
        assert_eq!(blocks, homes);
    }

    #[test]
    fn overloaded_blocks_pass_vertices_on_through_their_neighbours() {
        let (homes, blocks) = resumed(4, |stripe| stripe, &[40, 48, 56]);
        assert_eq!([0, 1, 2].map(|block| count(&blocks, block)), [40, 48, 56]);
        let moved = homes.iter().zip(&blocks).filter(|(home, block)| home != block).count();
        assert_eq!(moved, 16);
    }

    #[test]
    fn vertices_of_blocks_that_have_left_are_shared_out() {
        // The stripe in the middle has left.
        let (homes, blocks) = resumed(4, |stripe| [0, 2, 1][stripe as usize], &[72; 2]);
        assert_eq!([0, 1].map(|block| count(&blocks, block)), [72; 2]);
        assert!(homes.iter().zip(&blocks).all(|(&home, &block)| home == 2 || home == block));
    }

    #[test]
    fn new_blocks_are_connected() {
        let (homes, blocks) = resumed(6, |stripe| stripe, &[48; 3]);
        assert_eq!([0, 1, 2].map(|block| count(&blocks, block)), [48; 3]);
        let moved = homes.iter().zip(&blocks).filter(|(home, block)| home != block).count();
        assert!(moved <= 72, "{moved}");
    }

    #[test]
    fn many_new_blocks_are_split_off_from_one_block() {
        // The grid falls into six unconnected stripes.
        let mut graph = GraphBuilder::new(144);
        for node in 0..144 {
            if node + 12 < 144 {
                graph.add_edge(node, node + 12, 1);
            }
            if node % 2 == 0 {
                graph.add_edge(node, node + 1, 1);
            }
        }
        for graph in [generate::grid(12, 12), graph.build().unwrap()] {
            let graph = CompactGraph::<i32>::new(&graph);
            let objective = Migrating::new(EdgeCost::Cut(Cut), 1, vec![0; 144], vec![1; 144]);
            let level = Problem { graph: &graph, objective: &objective };
            let mut placing = Placing::new(level, vec![0; 144], 36);
            placing.split_off_new_blocks(&[4; 36], &mut Watch::new(&()));
            assert_eq!(placing.weights, [4; 36]);
            assert!((0..36).all(|block| count(&placing.blocks, block) == 4));
        }
    }

    #[test]
    fn blocks_of_size_0_are_emptied() {
        let (_, blocks) = resumed(4, |stripe| stripe, &[72, 0, 72]);
        assert_eq!([0, 1, 2].map(|block| count(&blocks, block)), [72, 0, 72]);
    }
}
