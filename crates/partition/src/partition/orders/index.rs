//! Orders of vertices that are cut again whenever the parts change.
//!
//! Once the vertices are in an order in which near ones stand together, parts are ranges of it: new speeds need prefix sums
//! of the vertex weights and nothing else. O(n) per cut; with vertices of weight 1, one look-up per vertex.
//!
//! Kaddoura, Ou, Ranka: Mapping unstructured computational graphs for adaptive and nonuniform computational environments. IEEE Parallel
//! and Distributed Technology, 1996.

use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::blocks::renamed;
use crate::partition::orders::ranges;
use crate::partition::targets::Targets;

/// An order of the vertices of a graph.
///
/// ```
/// use viem::graph::generate;
/// use viem::partition::{OrderIndex, Targets};
///
/// let graph = generate::grid(6, 1);
/// let index = OrderIndex::of_order(&[5, 4, 3, 2, 1, 0]).expect("each vertex once");
/// let targets = Targets::proportional(&graph, &[1, 2], 0.0)?;
/// assert_eq!(index.cut(graph.node_weights(), &targets), [1, 1, 1, 1, 0, 0]);
/// # Ok::<(), viem::partition::TargetsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderIndex {
    /// By vertex.
    positions: Vec<NodeId>,
}

impl OrderIndex {
    /// The index of the position of each vertex; nothing if two vertices have the same, or one is too large. O(n).
    pub fn of_positions(positions: Vec<NodeId>) -> Option<Self> {
        inverse(&positions)?;
        Some(Self { positions })
    }

    /// The index in which the vertices stand in this order; nothing if a vertex is missing. O(n).
    pub fn of_order(order: &[NodeId]) -> Option<Self> {
        Some(Self { positions: inverse(order)? })
    }

    /// The position of each vertex, by vertex.
    pub fn positions(&self) -> &[NodeId] {
        &self.positions
    }

    /// The part of each vertex: parts are ranges of the order, as near to their target weights as vertices allow. No part is empty unless
    /// there are too few vertices, or ranges that are not would exceed the bounds by more. `weights` are those of the vertices, as many as
    /// there are positions.
    pub fn cut(&self, weights: &[Weight], targets: &Targets) -> Vec<BlockId> {
        if let Some((open, numbers)) = targets.open() {
            return renamed(&self.cut(weights, &open), &numbers);
        }
        let (sizes, runs) = (targets.block_sizes(), Runs::of(weights.len()));
        let mut ends = if threads::sum(weights.len(), |vertex| (weights[vertex] != 1).into()) == 0 {
            ends(weights.iter().copied(), sizes)
        } else {
            runs.ends(&self.positions, weights, sizes)
        };
        let in_order = || {
            let mut in_order = vec![0; weights.len()];
            self.positions
                .iter()
                .zip(weights)
                .for_each(|(&position, &weight)| in_order[position as usize] = weight);
            in_order
        };
        ranges::fill_empty(&mut ends, targets.bounds(), in_order);
        // Where the parts of each run begin, so that few are left to choose from.
        let first: Vec<usize> =
            (0..=runs.count).map(|run| ends.partition_point(|&end| end <= run << runs.shift)).collect();
        let part = |vertex: usize| {
            let position = self.positions[vertex];
            let run = position as usize >> runs.shift;
            let candidates = &ends[first[run]..first[run + 1].min(ends.len())];
            (first[run] + candidates.partition_point(|&end| end <= position as usize)) as BlockId
        };
        let mut parts = vec![0; self.positions.len()];
        threads::fill(&mut parts, part);
        parts
    }
}

/// Runs of positions of equal length, few enough that what is known of each stays in the cache: all passes over the vertices
/// are in their order, and none accesses memory at random.
struct Runs {
    /// The binary logarithm of the length.
    shift: u32,
    count: usize,
}

impl Runs {
    fn of(num_positions: usize) -> Self {
        /// The greatest number of runs.
        const MOST: usize = 1 << 12;
        let shift = num_positions.div_ceil(MOST).next_power_of_two().trailing_zeros();
        Self { shift, count: num_positions.div_ceil(1 << shift) }
    }

    /// As [`ends`], for weights in the order of the vertices.
    fn ends(&self, positions: &[NodeId], weights: &[Weight], sizes: &[Weight]) -> Vec<usize> {
        let run = |position: NodeId| position as usize >> self.shift;
        let mut before = vec![0; self.count + 1];
        for (&position, &weight) in positions.iter().zip(weights) {
            before[run(position) + 1] += weight;
        }
        (0..self.count).for_each(|run| before[run + 1] += before[run]);
        let mut sum = 0;
        let sums = sizes[..sizes.len() - 1].iter().map(|&size| {
            sum += size;
            sum
        });
        // Each border with the run that it lies in, which is searched exactly.
        let borders: Vec<(Weight, usize)> =
            sums.map(|target| (target, before[1..].partition_point(|&sum| sum <= target))).collect();
        let mut inside = vec![Vec::new(); self.count];
        let in_use = borders.iter().filter(|&&(_, run)| run < self.count);
        in_use.for_each(|&(_, run)| inside[run].resize(1 << self.shift, 0));
        for (&position, &weight) in positions.iter().zip(weights) {
            if let Some(own) = inside[run(position)].get_mut(position as usize & ((1 << self.shift) - 1)) {
                *own = weight;
            }
        }
        let end = |&(target, run): &(Weight, usize)| match inside.get(run) {
            Some(weights) => {
                let count = count_before(weights.iter().copied(), i128::from(target - before[run]));
                ((run << self.shift) + count).min(positions.len())
            }
            None => positions.len(),
        };
        borders.iter().map(end).chain([positions.len()]).collect()
    }
}

/// The inverse of a permutation: from position to vertex, or back; nothing if it is no permutation.
fn inverse(permutation: &[NodeId]) -> Option<Vec<NodeId>> {
    let mut inverse = vec![NodeId::MAX; permutation.len()];
    for (place, &value) in permutation.iter().enumerate() {
        let found = inverse.get_mut(value as usize)?;
        if *found != NodeId::MAX {
            return None;
        }
        *found = place as NodeId;
    }
    Some(inverse)
}

/// The part of each vertex where parts are ranges of an order.
pub(in crate::partition) fn blocks_along(
    order: &[NodeId],
    weights: &[Weight],
    targets: &Targets,
) -> Vec<BlockId> {
    let in_order = || order.iter().map(|&node| weights[node as usize]);
    let mut ends = ends(in_order(), targets.block_sizes());
    ranges::fill_empty(&mut ends, targets.bounds(), || in_order().collect());
    let mut blocks = vec![0; order.len()];
    for (&node, part) in order.iter().zip(fill(&ends, order.len())) {
        blocks[node as usize] = part;
    }
    blocks
}

/// The part of each position, given where the parts end.
fn fill(ends: &[usize], count: usize) -> Vec<BlockId> {
    let mut parts = Vec::with_capacity(count);
    for (part, &end) in ends.iter().enumerate() {
        parts.resize(end, part as BlockId);
    }
    parts
}

/// The number of first vertices that come before a target weight: those whose middle of weight does. Vertices of weight 1
/// meet it exactly.
pub(in crate::partition) fn count_before(weights: impl Iterator<Item = Weight>, target: i128) -> usize {
    let mut before = 0;
    let is_before = |&weight: &Weight| {
        before += i128::from(weight);
        2 * before - i128::from(weight) <= 2 * target
    };
    weights.take_while(is_before).count()
}

/// Where each part ends: its vertices are those the middle of whose weight lies in its range of the weight. The last part ends at
/// the end.
fn ends(weights: impl Iterator<Item = Weight>, sizes: &[Weight]) -> Vec<usize> {
    let mut ends = Vec::with_capacity(sizes.len());
    let (mut before, mut target) = (0i128, i128::from(sizes[0]));
    let mut count = 0;
    for weight in weights {
        let weight = i128::from(weight);
        while 2 * before + weight > 2 * target && ends.len() + 1 < sizes.len() {
            ends.push(count);
            target += i128::from(sizes[ends.len()]);
        }
        before += weight;
        count += 1;
    }
    ends.resize(sizes.len(), count);
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::GraphBuilder;
    use crate::partition::blocks::Partition;

    #[test]
    fn parts_are_ranges_as_near_to_their_targets_as_can_be() {
        let mut rng = Rng::new(1);
        for round in 0..200 {
            let n = rng.below(50) as usize;
            let mut builder = GraphBuilder::new(n);
            if round % 2 == 0 {
                (0..n as NodeId).for_each(|node| builder.set_node_weight(node, Weight::from(rng.below(7))));
            }
            let graph = builder.build().unwrap();
            let mut order: Vec<NodeId> = graph.nodes().collect();
            rng.shuffle(&mut order);
            let speeds: Vec<u32> = (0..=rng.below(6)).map(|part| part.min(1) * rng.below(4) + 1).collect();
            let targets = Targets::proportional(&graph, &speeds, 0.0).unwrap();
            let index = OrderIndex::of_order(&order).unwrap();
            let blocks = index.cut(graph.node_weights(), &targets);
            assert_eq!(blocks, blocks_along(&order, graph.node_weights(), &targets));
            assert_eq!(OrderIndex::of_positions(index.positions().to_vec()), Some(index));
            let in_order: Vec<BlockId> = order.iter().map(|&node| blocks[node as usize]).collect();
            assert!(in_order.is_sorted());
            let plain = ends(order.iter().map(|&node| graph.node_weight(node)), targets.block_sizes());
            if plain[0] == 0 || plain.windows(2).any(|pair| pair[0] == pair[1]) {
                // Borders may have moved apart.
                let overload = |blocks| Partition::of(&graph, blocks, &targets).overload();
                let mut plainly = vec![0; n];
                order.iter().zip(fill(&plain, n)).for_each(|(&node, part)| plainly[node as usize] = part);
                assert!(targets.num_empty(&blocks) <= targets.num_empty(&plainly), "round {round}");
                assert!(overload(blocks) <= overload(plainly), "round {round}");
                continue;
            }
            // No other place of a border is nearer to its target weight.
            let prefix =
                |count: usize| order[..count].iter().map(|&node| graph.node_weight(node)).sum::<Weight>();
            let mut target = 0;
            for (part, &size) in targets.block_sizes()[..speeds.len() - 1].iter().enumerate() {
                target += size;
                let border = in_order.partition_point(|&found| found as usize <= part);
                let nearest = (0..=n).map(|count| (prefix(count) - target).abs()).min().unwrap();
                assert_eq!((prefix(border) - target).abs(), nearest);
            }
        }
    }

    #[test]
    fn what_is_no_order_is_no_index() {
        assert_eq!(OrderIndex::of_order(&[0, 2, 1, 1]), None);
        assert_eq!(OrderIndex::of_order(&[0, 3]), None);
        assert_eq!(OrderIndex::of_positions(vec![1]), None);
        assert_eq!(OrderIndex::of_order(&[]).map(|index| index.positions().len()), Some(0));
    }
}
