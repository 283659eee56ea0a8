//! Initial partitions along a tree of parts: multisection.
//!
//! *Problem.* Blocks are the PEs of a machine that falls into parts. Distances between parts are large, so few edges should
//! lead from one part to another, and it matters less where they lead inside.
//!
//! *Algorithm.* The graph is partitioned into as many blocks as the machine has outermost parts, each block into the parts
//! inside that one, and so on. Blocks of one step are independent and run in parallel, each with a random stream that is
//! derived from the number of its part. Each step may use up a share of the room that the final bounds leave, in proportion
//! to the distance that it cuts (adaptive imbalance), so that the last step can still meet them. Between two steps, V-cycles
//! may refine all parts together, with J of the parts as objective: parts are large and have room, while blocks are small
//! and nearly full.
//!
//! A multilevel partition of the graph for each level of the tree; memory O(n + m).
//!
//! Schulz, Woydt: Shared-memory hierarchical process mapping. ACDA 2025 (adaptive imbalance, independent blocks in parallel).

use std::ops::Range;

use crate::base::threads;

use super::bisection::RecursiveBisection;
use super::interface::{Coarsest, InitialPartition};
use super::older::OlderPartition;
use super::pool::BestOfPool;
use crate::base::observer::Observer;
use crate::base::rng::{Rng, derive};
use crate::base::types::{BlockId, Distance, NodeId, Weight};
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::LoadBounds;
use crate::partition::compact::{CompactGraph, Piece, Stored};
use crate::partition::fixed::FixedVertices;
use crate::partition::layout::{BlockPlacement, BlockTree, place_blocks};
use crate::partition::objective::{BlockDistances, Cut, EdgeCost, Migrating, Objective, StoredCost};
use crate::partition::scheme::multilevel::{FlowLevels, Multilevel, Task};
use crate::partition::scheme::pool::{Pool, smallest_cut};
use crate::partition::settings::PartitionConfig;
use crate::partition::targets::Targets;

/// How a graph is divided along a tree.
#[derive(Clone, Copy)]
pub(crate) struct Multisection<'a> {
    pub tree: &'a BlockTree,
    pub distances: &'a dyn BlockDistances,
    /// How each step is partitioned.
    pub settings: &'a PartitionConfig,
    /// How all parts together are refined after a step, and how often.
    pub refined: (&'a PartitionConfig, usize),
    /// Places the blocks at the end.
    pub place: Option<&'a dyn BlockPlacement>,
}

/// A range of blocks that are not divided yet, and its part of the tree; any part if it is a single block.
#[derive(Clone)]
struct Group {
    blocks: Range<usize>,
    part: usize,
}

/// How far groups are apart: the mean over some of their blocks, which in a tree is the distance of all of them.
struct GroupDistances<'a> {
    distances: &'a dyn BlockDistances,
    groups: &'a [Group],
}

/// The number of blocks that stand for a group. Balances the accuracy of distances between groups that are no parts of a
/// tree against time.
const SAMPLES: usize = 4;

impl BlockDistances for GroupDistances<'_> {
    fn num_blocks(&self) -> usize {
        self.groups.len()
    }

    fn between(&self, a: BlockId, b: BlockId) -> Distance {
        if a == b {
            return 0;
        }
        let samples = |group: BlockId| {
            let blocks = self.groups[group as usize].blocks.clone();
            let count = blocks.len().min(SAMPLES);
            (0..count).map(move |sample| (blocks.start + sample * blocks.len() / count) as BlockId)
        };
        let pairs = samples(a).flat_map(|one| samples(b).map(move |other| (one, other)));
        let (sum, count) = pairs.fold((0i128, 0i128), |(sum, count), (one, other)| {
            (sum + i128::from(self.distances.between(one, other)), count + 1)
        });
        ((sum + count / 2) / count) as Distance
    }

    fn greatest(&self) -> Distance {
        self.distances.greatest()
    }

    fn has_triangle_inequality(&self) -> bool {
        self.distances.has_triangle_inequality()
    }
}

/// What is divided, and into what.
struct Division<'a, W, O> {
    level: Problem<'a, W, O>,
    multisection: Multisection<'a>,
    sizes: &'a [Weight],
    bounds: LoadBounds<'a>,
    /// By part, the distances that its steps cut: see [`BlockTree::distances_below`].
    below: Vec<f64>,
    seed: u64,
    observer: &'a dyn Observer,
}

impl Multisection<'_> {
    /// The block of each vertex. Runs on the threads of the rayon pool it is called in; the result does not depend on them.
    ///
    /// Once the observer asks to stop, what is left is divided in the order of its vertices.
    pub fn run<W: Stored, O: Objective>(
        self,
        level: Problem<'_, W, O>,
        sizes: &[Weight],
        bounds: LoadBounds<'_>,
        seed: u64,
        observer: &dyn Observer,
    ) -> Vec<BlockId> {
        let below = self.tree.distances_below(self.distances);
        let mut blocks = Division { level, multisection: self, sizes, bounds, below, seed, observer }.run();
        if let Some(place) = self.place.filter(|_| !observer.should_stop()) {
            place_blocks(level, &mut blocks, sizes.len(), place, derive(seed, u64::MAX));
        }
        blocks
    }
}

impl<W: Stored, O: Objective> InitialPartition<W, O> for Multisection<'_> {
    fn blocks(&self, coarsest: &Coarsest<'_, W, O>, seed: u64) -> Vec<BlockId> {
        self.run(coarsest.level, coarsest.sizes, coarsest.bounds, seed, coarsest.observer)
    }

    /// Each step coarsens its part of the graph.
    fn coarsens(&self) -> bool {
        true
    }
}

impl<W: Stored, O: Objective> Division<'_, W, O> {
    /// The block of each vertex.
    fn run(&self) -> Vec<BlockId> {
        let whole = Group { blocks: 0..self.sizes.len(), part: 0 };
        let mut groups = self.children(&whole);
        let mut group_of =
            self.divide(self.level.graph, &self.level.nodes().collect::<Vec<_>>(), &whole, &groups);
        while groups.len() < self.sizes.len() {
            group_of = self.refine(&groups, group_of);
            let children: Vec<Vec<Group>> = groups.iter().map(|group| self.children(group)).collect();
            let parts: Vec<Piece<W>> = self.level.graph.split(&group_of, groups.len());
            let parts = parts.into_iter().zip(groups.iter().zip(&children)).collect();
            let divided: Vec<(Vec<NodeId>, Vec<BlockId>)> =
                threads::map_each(parts, &|((graph, nodes), (group, children))| {
                    let inner = self.divide(&graph, &nodes, group, children);
                    (nodes, inner)
                });
            let mut first = 0;
            for ((nodes, inner), children) in divided.into_iter().zip(&children) {
                for (node, child) in nodes.into_iter().zip(inner) {
                    group_of[node as usize] = first + child;
                }
                first += children.len() as BlockId;
            }
            groups = children.into_iter().flatten().collect();
        }
        group_of
    }

    /// What a group is divided into at once: the children of its part, or else its blocks; itself if it is a single block.
    fn children(&self, group: &Group) -> Vec<Group> {
        let tree = self.multisection.tree;
        let children = tree.children(group.part);
        if group.blocks.len() == 1 {
            vec![group.clone()]
        } else if children.is_empty() {
            let part = group.part;
            group.blocks.clone().map(|block| Group { blocks: block..block + 1, part }).collect()
        } else {
            children.map(|part| Group { blocks: tree.range(part), part }).collect()
        }
    }

    /// The child of each vertex of the graph of a group, which are `nodes` of the whole graph.
    fn divide(
        &self,
        graph: &CompactGraph<'_, W>,
        nodes: &[NodeId],
        group: &Group,
        children: &[Group],
    ) -> Vec<BlockId> {
        let targets = self.targets(graph.total_node_weight(), group, children);
        let (settings, seed) = (self.multisection.settings, derive(self.seed, group.part as u64));
        let fixed = self.fixed_among(nodes.iter().copied(), children);
        match self.level.objective.homes() {
            Some(homes) if children.len() > 1 => {
                let objective = self.migrating(homes, nodes, group, children);
                let objective = match &fixed {
                    Some(fixed) => objective.with_fixed(fixed),
                    None => objective,
                };
                let coarsest = settings.resuming_coarsest();
                let first = BestOfPool { first: &OlderPartition, settings: &coarsest };
                let level = Problem { graph, objective: &objective };
                Pool::new(self.task(level, &targets, &first, settings), seed).best().blocks
            }
            _ => {
                let targets = targets.with_known_fixed(fixed);
                smallest_cut(graph, &targets, settings, seed, self.observer).blocks
            }
        }
    }

    /// The vertices of a group that are fixed, each to the child of its block; nothing if there are none.
    fn fixed_among(&self, nodes: impl Iterator<Item = NodeId>, children: &[Group]) -> Option<FixedVertices> {
        let objective = self.level.objective;
        let child = |block: BlockId| children.partition_point(|child| child.blocks.end <= block as usize);
        let fixed = |node| objective.fixed_block(node).map(|block| child(block) as BlockId);
        objective.has_fixed().then(|| FixedVertices::known(nodes.map(fixed), children.len()))
    }

    /// A step of the division, or the refinement after it.
    fn task<'t, P>(
        &'t self,
        level: Problem<'t, W, P>,
        targets: &'t Targets,
        first: &'t dyn InitialPartition<W, P>,
        settings: &'t PartitionConfig,
    ) -> Task<'t, W, P> {
        Task { level, targets, first, flow_levels: FlowLevels::All, settings, observer: self.observer }
    }

    /// The cut of a group, and a penalty for each vertex that goes to another child than that of its home. Vertices whose
    /// home is in another group, or no longer exists, migrate in any case.
    fn migrating(
        &self,
        homes: &[u32],
        nodes: &[NodeId],
        group: &Group,
        children: &[Group],
    ) -> Migrating<'static> {
        let objective = self.level.objective;
        let edge = objective.between(group.blocks.start as BlockId, group.blocks.end as BlockId - 1);
        let home_of = |&node: &NodeId| {
            let home = homes[node as usize] as usize;
            let inside = group.blocks.contains(&home);
            let child = children.partition_point(|child| child.blocks.end <= home);
            if inside { child as u32 } else { children.len() as u32 }
        };
        let penalty = |&node: &NodeId| {
            let home = homes[node as usize];
            if group.blocks.contains(&(home as usize)) { objective.penalty(node) } else { 0 }
        };
        let homes = nodes.iter().map(home_of).collect();
        Migrating::new(EdgeCost::Cut(Cut), edge, homes, nodes.iter().map(penalty).collect())
    }

    /// Refines all groups together by J of the groups.
    fn refine(&self, groups: &[Group], group_of: Vec<BlockId>) -> Vec<BlockId> {
        if self.multisection.refined.1 == 0 {
            return group_of;
        }
        let distances = GroupDistances { distances: self.multisection.distances, groups };
        let Some(objective) = StoredCost::new(&distances) else { return group_of };
        let fixed = self.fixed_among(self.level.nodes(), groups);
        if W::IS_NARROW && fixed.is_none() {
            return self.refine_by(&objective, groups, group_of);
        }
        self.refine_by(&Migrating::around(EdgeCost::Stored(objective), fixed.as_ref()), groups, group_of)
    }

    /// The same by a given objective.
    fn refine_by<P: Objective>(
        &self,
        objective: &P,
        groups: &[Group],
        group_of: Vec<BlockId>,
    ) -> Vec<BlockId> {
        let (settings, cycles) = self.multisection.refined;
        let level = Problem { graph: self.level.graph, objective };
        let targets = self.targets_of_all(groups);
        let task = self.task(level, &targets, &RecursiveBisection::OfCoarsest, settings);
        let mut best = Assignment::new(level, group_of, groups.len());
        for cycle in 0..cycles as u64 {
            let mut rng = Rng::new(derive(derive(self.seed, u64::MAX - groups.len() as u64), cycle));
            let next = Multilevel::new(task).run(Some((&best.blocks.clone(), best.clone())), &mut rng);
            if next.score(targets.load_bounds()) < best.score(targets.load_bounds()) {
                best = next;
            }
        }
        best.blocks
    }

    /// The distances that the steps below a group cut.
    fn below(&self, group: &Group) -> f64 {
        if group.blocks.len() == 1 { 0.0 } else { self.below[group.part] }
    }

    fn sum(weights: &[Weight], group: &Group) -> i128 {
        weights[group.blocks.clone()].iter().map(|&weight| i128::from(weight)).sum()
    }

    /// The target weights and bounds of groups that leave the steps below them their share of the room.
    fn targets_of_all(&self, groups: &[Group]) -> Targets {
        let whole = Group { blocks: 0..self.sizes.len(), part: 0 };
        let room = Self::sum(self.bounds.most, &whole) as f64 / self.level.total_node_weight().max(1) as f64;
        let size = |group: &Group| Self::sum(self.sizes, group) as Weight;
        let bound = |group: &Group| {
            let left = self.below(group) / self.below[0].max(1.0);
            let bound = Self::sum(self.bounds.most, group).min(i128::from(Weight::MAX / 2)) as Weight;
            ((size(group) as f64 * room.max(1.0).powf(1.0 - left)) as Weight).min(bound).max(size(group))
        };
        let targets = Targets::bounded(groups.iter().map(size).collect(), groups.iter().map(bound).collect());
        self.with_least_loads(targets, groups)
    }

    /// The same with the sums of the least loads of the blocks in each group, as far as its size allows.
    fn with_least_loads(&self, targets: Targets, groups: &[Group]) -> Targets {
        if self.bounds.least.is_empty() {
            return targets;
        }
        let least = |(group, &size): (&Group, &Weight)| {
            Self::sum(self.bounds.least, group).min(i128::from(size)) as Weight
        };
        let least = groups.iter().zip(targets.block_sizes()).map(least).collect();
        targets.with_known_least_loads(least)
    }

    /// The target weights and bounds of the children of a group of this weight.
    fn targets(&self, total: Weight, group: &Group, children: &[Group]) -> Targets {
        let size_of_all = Self::sum(self.sizes, group);
        let room = Self::sum(self.bounds.most, group) as f64 / total.max(1) as f64;
        let left = children.iter().map(|child| self.below(child)).fold(0.0, f64::max);
        let left = left / self.below(group).max(1.0);
        let factor = room.max(1.0).powf(1.0 - left);
        // Sums up to the total exactly: each child ends where its share of the whole does.
        let share = |before: i128| match size_of_all {
            0 => 0,
            all => (i128::from(total) * before + all / 2) / all,
        };
        let (mut before, mut sizes, mut bounds) = (0, Vec::new(), Vec::new());
        for (index, child) in children.iter().enumerate() {
            let own = Self::sum(self.sizes, child);
            let end = if index + 1 == children.len() { i128::from(total) } else { share(before + own) };
            let size = (end - share(before)) as Weight;
            let bound = Self::sum(self.bounds.most, child).min(i128::from(Weight::MAX / 2)) as Weight;
            before += own;
            sizes.push(size);
            // A single block may use all of its room; rounded, it would get less.
            let is_single = child.blocks.len() == 1;
            bounds.push(if is_single {
                bound
            } else {
                ((size as f64 * factor) as Weight).min(bound).max(size)
            });
        }
        cap(&mut sizes, &mut bounds);
        self.with_least_loads(Targets::bounded(sizes, bounds), children)
    }
}

/// Moves what sizes exceed their bounds by, as rounded shares may, to blocks with room. What fits nowhere stays, and raises the bound.
fn cap(sizes: &mut [Weight], bounds: &mut [Weight]) {
    let mut excess = 0;
    for (size, &bound) in sizes.iter_mut().zip(&*bounds) {
        excess += (*size - bound).max(0);
        *size = (*size).min(bound);
    }
    for (size, bound) in sizes.iter_mut().zip(&mut *bounds) {
        let more = excess.min(*bound - *size);
        *size += more;
        excess -= more;
    }
    if let Some((size, bound)) = sizes.last_mut().zip(bounds.last_mut()) {
        *size += excess;
        *bound = (*bound).max(*size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;
    use crate::partition::objective::tests::tree_distances;
    use crate::partition::{PartitionConfig, PartitionPreset};

    /// Twelve blocks in groups of four, six and two; homes of vertices anywhere, two of them in blocks that have left.
    #[test]
    fn what_a_step_counts_as_migration_agrees_with_the_whole() {
        let tree = BlockTree::new(12, |range| match range.len() {
            12 => vec![4, 6, 2],
            6 => vec![2, 3, 1],
            _ => vec![],
        });
        let graph = generate::random_geometric(150, 7.0, 3);
        let graph = CompactGraph::<i32>::new(&graph);
        let mut rng = Rng::new(5);
        let homes: Vec<u32> = graph.nodes().map(|_| rng.below(14)).collect();
        let penalties: Vec<Weight> =
            homes.iter().map(|&home| if home < 12 { 1 + Weight::from(rng.below(9)) } else { 0 }).collect();
        let distances = tree_distances(&[2, 2, 3], &[1, 10, 100]);
        let objective =
            Migrating::new(EdgeCost::of_distances(&distances), 2, homes.clone(), penalties.clone());
        let level = Problem { graph: &graph, objective: &objective };
        let settings = PartitionConfig::preset(PartitionPreset::Fast);
        let multisection = Multisection {
            tree: &tree,
            distances: &distances,
            settings: &settings,
            refined: (&settings, 0),
            place: None,
        };
        let (sizes, bounds) = (vec![13; 12], vec![15; 12]);
        let below = tree.distances_below(&distances);
        let division = Division {
            level,
            multisection,
            sizes: &sizes,
            bounds: bounds[..].into(),
            below,
            seed: 0,
            observer: &(),
        };
        let whole = Group { blocks: 0..12, part: 0 };
        let nodes: Vec<NodeId> = graph.nodes().filter(|node| node % 3 > 0).collect();
        for group in [vec![whole.clone()], division.children(&whole)].concat() {
            let children = division.children(&group);
            let step = division.migrating(&homes, &nodes, &group, &children);
            assert_eq!(
                step.between(0, 1),
                objective.between(group.blocks.start as u32, group.blocks.end as u32 - 1)
            );
            for (local, &node) in nodes.iter().enumerate() {
                let home = homes[node as usize] as usize;
                for (child, inside) in children.iter().enumerate() {
                    let migrates = group.blocks.contains(&home) && !inside.blocks.contains(&home);
                    let expected = if migrates { penalties[node as usize] } else { 0 };
                    assert_eq!(step.own_cost(local as NodeId, child as BlockId), expected);
                }
            }
        }
    }
}
