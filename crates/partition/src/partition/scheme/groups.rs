//! Groups of vertices kept whole in blocks: components, and what heavy edges join.
//!
//! Bisection with bounds does not see that groups fit blocks exactly only in certain combinations, and refinement moves single
//! vertices, each at a loss. So components are packed as items ([`Packing`]): an edge that leaves a block is then one of a component that
//! fits no block. Groups whose inner edges are heavier than all others by far are contracted, and the graph of the groups is partitioned.

use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::components::components;
use crate::graph::groups::{FEWER, heavy_weights};
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::LoadBounds;
use crate::partition::compact::Stored;
use crate::partition::objective::Objective;
use crate::partition::packing::Packing;
use crate::partition::refine::fill;
use crate::partition::residual::ResidualCapacities;

/// A partition with whole components, as many as fit; the others fill the room that is left. O(n + m) and the time of
/// [`Packing::find`]. None if a component is larger than every block, for connected graphs, and where vertices are fixed or have homes.
pub(in crate::partition) fn whole<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    components: &Components,
    sizes: &[Weight],
    bounds: LoadBounds<'_>,
) -> Option<Assignment> {
    let packing = Packing { weights: &components.weights, sizes, rooms: bounds.most };
    if packing.weights.iter().max() > bounds.most.iter().max() {
        return None;
    }
    let of_bins = |bins: Vec<Option<BlockId>>| {
        let blocks = filled_up(level, components, &bins, bounds.most);
        let mut assignment = Assignment::new(level, blocks, bounds.num_blocks());
        fill::fill_short(level, &mut assignment, bounds, &());
        fill::fill_empty(level, &mut assignment, bounds);
        assignment
    };
    if let Some(bins) = packing.find() {
        return Some(of_bins(bins.into_iter().map(Some).collect()));
    }
    // Large components are hard to place late; components with heavy edges are costly to split.
    let largest = of_bins(packing.most(&|component| components.weights[component as usize]));
    let edges = components.weights_of_edges(level);
    let costliest = of_bins(packing.most(&|component| edges[component as usize]));
    [largest, costliest].into_iter().min_by_key(|assignment| assignment.score(bounds))
}

/// The block of each vertex: the bin of its component. Vertices of components without a bin go, in the order of a search within their
/// component, to the block with most room until that is full.
fn filled_up<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    components: &Components,
    bins: &[Option<BlockId>],
    bounds: &[Weight],
) -> Vec<BlockId> {
    const NONE: BlockId = BlockId::MAX;
    let bin = |node: NodeId| bins[components.of_node[node as usize] as usize].unwrap_or(NONE);
    let mut blocks: Vec<BlockId> = level.nodes().map(bin).collect();
    let mut rooms = bounds.to_vec();
    for (node, &block) in level.nodes().zip(&blocks) {
        if block != NONE {
            rooms[block as usize] -= level.node_weight(node);
        }
    }
    let mut residuals = ResidualCapacities::new(&rooms, &vec![0; rooms.len()]);
    let mut current = 0;
    let (mut queue, mut next) = (Vec::new(), 0);
    let mut fill = |node: NodeId, blocks: &mut [BlockId]| {
        let (weight, room) = (level.node_weight(node), |block: BlockId| rooms[block as usize]);
        if room(current) < weight {
            current = residuals.emptiest(room).unwrap_or(0);
        }
        rooms[current as usize] -= weight;
        blocks[node as usize] = current;
    };
    for start in level.nodes() {
        if blocks[start as usize] == NONE {
            fill(start, &mut blocks);
            queue.push(start);
        }
        while let Some(&node) = queue.get(next) {
            next += 1;
            for arc in level.graph.arcs(node) {
                if blocks[arc.target as usize] == NONE {
                    fill(arc.target, &mut blocks);
                    queue.push(arc.target);
                }
            }
        }
    }
    blocks
}

/// Puts the components that fit a block into blocks as wholes, around the larger ones, if that lowers the score. Time as above.
pub(in crate::partition) fn regroup<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    components: &Components,
    assignment: &mut Assignment,
    (sizes, bounds): (&[Weight], LoadBounds<'_>),
) {
    if assignment.cost == 0 {
        return;
    }
    let most = bounds.most.iter().copied().max().unwrap_or(0);
    let fits = |component: u32| components.weights[component as usize] <= most;
    let (mut sizes, mut rooms) = (sizes.to_vec(), bounds.most.to_vec());
    for node in level.nodes().filter(|&node| !fits(components.of_node[node as usize])) {
        let block = assignment.blocks[node as usize] as usize;
        sizes[block] -= level.node_weight(node);
        rooms[block] -= level.node_weight(node);
    }
    let small: Vec<u32> = (0..components.weights.len() as u32).filter(|&component| fits(component)).collect();
    let weights: Vec<Weight> =
        small.iter().map(|&component| components.weights[component as usize]).collect();
    let Some(bins) = (Packing { weights: &weights, sizes: &sizes, rooms: &rooms }).find() else { return };
    let mut bin_of = vec![None; components.weights.len()];
    small.iter().zip(bins).for_each(|(&component, bin)| bin_of[component as usize] = Some(bin));
    let block = |(&component, &block): (&u32, &BlockId)| bin_of[component as usize].unwrap_or(block);
    let blocks = components.of_node.iter().zip(&assignment.blocks).map(block).collect();
    let mut regrouped = Assignment::new(level, blocks, bounds.num_blocks());
    fill::fill_short(level, &mut regrouped, bounds, &());
    fill::fill_empty(level, &mut regrouped, bounds);
    if regrouped.score(bounds) < assignment.score(bounds) {
        *assignment = regrouped;
    }
}

/// The group of each vertex, and the number of groups, if edges of some weight join vertices to groups that fit blocks, and all other
/// edges are lighter by far. O(n + m), and O(m log m) if weights differ that much.
pub(in crate::partition) fn joined_by_heavy_edges<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    bounds: &[Weight],
) -> Option<(Vec<NodeId>, usize)> {
    if level.objective.has_fixed() || level.objective.homes().is_some() {
        return None;
    }
    let most = bounds.iter().copied().max().unwrap_or(0);
    let weights = || level.nodes().flat_map(|node| level.graph.arcs(node)).map(|arc| arc.weight());
    heavy_weights(weights).into_iter().find_map(|threshold| {
        let heavy = |node| {
            level.graph.arcs(node).iter().filter(move |arc| arc.weight() >= threshold).map(|arc| arc.target)
        };
        let (group, count) = components(level.num_nodes(), heavy);
        let mut weights = vec![0; count];
        level
            .nodes()
            .zip(&group)
            .for_each(|(node, &group)| weights[group as usize] += level.node_weight(node));
        let fit = weights.iter().all(|&weight| weight <= most);
        (fit && count * FEWER <= level.num_nodes()).then_some((group, count))
    })
}

/// The connected components of a graph.
pub(in crate::partition) struct Components {
    /// By vertex.
    of_node: Vec<u32>,
    /// By component.
    weights: Vec<Weight>,
}

impl Components {
    /// The components, if there are several and any block will do for each.
    pub fn of<W: Stored, O: Objective>(level: Problem<'_, W, O>) -> Option<Self> {
        if level.objective.has_fixed() || level.objective.homes().is_some() {
            return None;
        }
        let neighbours = |node| level.graph.arcs(node).iter().map(|arc| arc.target);
        let (of_node, count) = components(level.num_nodes(), neighbours);
        if count < 2 {
            return None;
        }
        let mut weights = vec![0; count];
        for (node, &component) in level.nodes().zip(&of_node) {
            weights[component as usize] += level.node_weight(node);
        }
        Some(Self { of_node, weights })
    }

    /// The total weight of the arcs of each.
    fn weights_of_edges<W: Stored, O: Objective>(&self, level: Problem<'_, W, O>) -> Vec<Weight> {
        let mut edges = vec![0; self.weights.len()];
        for (node, &component) in level.nodes().zip(&self.of_node) {
            edges[component as usize] += level.arcs(node).iter().map(|arc| arc.weight()).sum::<Weight>();
        }
        edges
    }
}
