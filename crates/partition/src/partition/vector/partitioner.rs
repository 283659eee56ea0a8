//! The partitioner for several weights.

use super::enumeration::VectorTally;
use super::scheme::{Effort, Task};
use super::targets::VectorTargets;
use crate::base::observer::Observer;
use crate::base::rng::derive;
use crate::base::types::{BlockId, Cost, NodeId, Weight};
use crate::graph::{CsrGraph, VertexWeights, VertexWeightsError};
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::blocks::cut;
use crate::partition::compact::{CompactGraph, Stored};
use crate::partition::fixed::{FixedError, FixedVertices};
use crate::partition::layout::{BlockTree, Layout};
use crate::partition::loads::{self, Loads, VectorBounds};
use crate::partition::objective::{Cut, EdgeCost, Migrating, Objective};
use crate::partition::scheme::enumeration;
use crate::partition::settings::{PartitionConfig, PartitionPreset};

/// Independent partitions and V-cycles of each, by preset. Balances cut against time. Tuned with `cargo bench --bench weights`.
const FAST: (usize, usize) = (1, 3);
const ECO: (usize, usize) = (1, 8);
const STRONG: (usize, usize) = (4, 16);

/// Further partitions from scratch while a bound is exceeded. Balances bounds that are met against time.
const FURTHER: u64 = 3;

/// A graph whose vertices have several weights, and the blocks that it is divided into.
#[derive(Clone, Copy)]
pub struct VectorProblem<'a> {
    pub(super) graph: &'a CsrGraph,
    pub(super) weights: &'a VertexWeights,
    pub(super) targets: &'a VectorTargets,
    pub(super) fixed: Option<&'a FixedVertices>,
    pub(super) layout: Option<Layout<'a>>,
    pub(super) known: Option<&'a [BlockId]>,
}

impl<'a> VectorProblem<'a> {
    /// The weights of the vertices replace those of the graph.
    ///
    /// # Errors
    ///
    /// There are weights of more or fewer vertices.
    pub fn new(
        graph: &'a CsrGraph,
        weights: &'a VertexWeights,
        targets: &'a VectorTargets,
    ) -> Result<Self, VertexWeightsError> {
        weights.check(graph.num_nodes())?;
        Ok(Self { graph, weights, targets, fixed: None, layout: None, known: None })
    }

    /// The same with vertices that must be in given blocks, or none.
    ///
    /// # Errors
    ///
    /// They are for another number of vertices or blocks.
    pub fn with_fixed(self, fixed: Option<&'a FixedVertices>) -> Result<Self, FixedError> {
        fixed.map_or(Ok(()), |fixed| fixed.check(self.graph.num_nodes(), self.targets.num_blocks()))?;
        Ok(Self { fixed: fixed.filter(|fixed| !fixed.is_empty()), ..self })
    }

    /// The same with a partition that the result must not be worse than. It is not improved.
    ///
    /// # Panics
    ///
    /// In a run, if it has another number of vertices, or a block that there is not.
    pub fn with_known(self, known: &'a [BlockId]) -> Self {
        Self { known: Some(known), ..self }
    }

    /// The same with J instead of the cut as the objective: blocks are divided along a tree and have distances.
    pub fn with_layout(self, layout: Layout<'a>) -> Self {
        Self { layout: Some(layout), ..self }
    }
}

/// A multilevel partitioner of graphs whose vertices have several weights.
///
/// ```
/// use viem::graph::{VertexWeights, generate};
/// use viem::partition::{PartitionPreset, Targets, VectorPartitioner, VectorProblem, VectorTargets};
///
/// // A grid whose left half has particles, which cost memory.
/// let grid = generate::grid(16, 16);
/// let weights = VertexWeights::new(2, grid.nodes().flat_map(|u| [1, i64::from(u % 16 < 8)]).collect())?;
/// let equal = |weight| Targets::equal(&weights.alone(weight), 4, 0.0);
/// let targets = VectorTargets::new(&weights, vec![equal(0)?, equal(1)?])?;
/// let problem = VectorProblem::new(&grid, &weights, &targets)?;
/// let partition = VectorPartitioner::new(PartitionPreset::Strong, 0).partition(&problem);
/// assert_eq!(partition.loads(), [64, 32, 64, 32, 64, 32, 64, 32]);
/// assert_eq!(partition.cut(), 48);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct VectorPartitioner<'a> {
    pub(super) settings: PartitionConfig,
    pub(super) effort: Effort,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
}

/// A partition of a graph whose vertices have several weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorPartition {
    blocks: Vec<BlockId>,
    loads: Vec<Weight>,
    cut: Cost,
    cost: Cost,
    overload: Weight,
}

impl VectorPartition {
    /// The block of each vertex.
    pub fn blocks(&self) -> &[BlockId] {
        &self.blocks
    }

    /// The block of each vertex.
    pub fn into_blocks(self) -> Vec<BlockId> {
        self.blocks
    }

    /// The loads of the blocks, all weights of one block after the other.
    pub fn loads(&self) -> &[Weight] {
        &self.loads
    }

    /// The weight of the edges between blocks, each edge once.
    pub fn cut(&self) -> Cost {
        self.cut
    }

    /// J if blocks have distances, which counts each edge twice; else the cut.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The sum of all excess over the bounds of all weights; 0 if all bounds are met.
    pub fn overload(&self) -> Weight {
        self.overload
    }
}

impl<'a> VectorPartitioner<'a> {
    /// A partitioner with the settings of a preset.
    pub fn new(preset: PartitionPreset, seed: u64) -> Self {
        let (members, cycles) = match preset {
            PartitionPreset::Fast | PartitionPreset::FastSocial => FAST,
            PartitionPreset::Eco | PartitionPreset::EcoSocial => ECO,
            PartitionPreset::Strong | PartitionPreset::StrongSocial => STRONG,
        };
        let (settings, effort) = (PartitionConfig::preset(preset), Effort { members, cycles });
        Self { settings, effort, seed, observer: &() }
    }

    /// The same with an observer, which may end the run.
    pub fn observed(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// A partition within all bounds, of small cut or J. If no such partition is found, the bound that is exceeded most, relative to itself, is
    /// exceeded as little as possible. Bounds hold if first fit decreasing finds a partition within them.
    pub fn partition(&self, problem: &VectorProblem<'_>) -> VectorPartition {
        self.partition_from(problem, None)
    }

    /// The same from a start, if there is one: the result is not worse. Results are compared by what exceeds the bounds, then by the number of empty blocks, then
    /// by the cut or J.
    ///
    /// # Panics
    ///
    /// The start has another number of vertices, or a block that there is not.
    pub fn partition_from(&self, problem: &VectorProblem<'_>, start: Option<&[BlockId]>) -> VectorPartition {
        let VectorProblem { graph, weights, .. } = *problem;
        let limit = Weight::from(i32::MAX);
        let blocks = if graph.total_arc_weight() <= limit && loads::are_sizes_narrow(weights) {
            self.by_objective::<i32>(problem, start)
        } else {
            self.by_objective::<i64>(problem, start)
        };
        self.measured(problem, blocks)
    }

    fn by_objective<W: Stored>(
        &self,
        problem: &VectorProblem<'_>,
        start: Option<&[BlockId]>,
    ) -> Vec<BlockId> {
        let VectorProblem { graph, weights, fixed, layout, .. } = *problem;
        let graph = CompactGraph::<W>::new(graph).with_node_weights(loads::sizes(weights));
        let edges = layout.map(|layout| EdgeCost::of_distances(layout.distances));
        if W::IS_NARROW && edges.is_none() && fixed.is_none() {
            return self.solve(problem, Problem { graph: &graph, objective: &Cut }, start);
        }
        let objective = &Migrating::around(edges.unwrap_or(EdgeCost::Cut(Cut)), fixed);
        self.solve(problem, Problem { graph: &graph, objective }, start)
    }

    fn solve<W: Stored, O: Objective>(
        &self,
        &VectorProblem { weights, targets, layout, known, .. }: &VectorProblem<'_>,
        level: Problem<'_, W, O>,
        start: Option<&[BlockId]>,
    ) -> Vec<BlockId> {
        let (bounds, k) = (targets.bounds(), targets.num_blocks());
        if k == 1 {
            return vec![0; level.num_nodes()];
        }
        if let Some(best) = enumeration::best_by(level, VectorTally::new(weights, targets, &bounds)) {
            return best.blocks;
        }
        let depths = depths(layout.map(|layout| layout.tree), k);
        let (settings, observer) = (&self.settings, self.observer);
        let effort = self.effort;
        let task = Task { level, weights, targets, depths: &depths, settings, effort, observer };
        let finished = |mut own: Assignment| {
            let loads = Loads::new(weights, &bounds, &own.blocks);
            finish(level, &mut own, (targets, &loads));
            own
        };
        let score = |own: &Assignment| {
            let (excess, cost) = task.score(&bounds, own);
            (excess, targets.num_empty(&own.blocks), cost)
        };
        let found = finished(self.within(task, &bounds, start));
        let others = start.into_iter().chain(known);
        let others = others.map(|blocks| finished(Assignment::new(level, blocks.to_vec(), k)));
        let ways = [found].into_iter().chain(others);
        ways.min_by_key(score).expect("there is one").blocks
    }

    /// The best partition of several attempts, as many as it takes to keep the bounds.
    fn within<W: Stored, O: Objective>(
        &self,
        task: Task<'_, W, O>,
        bounds: &VectorBounds,
        start: Option<&[BlockId]>,
    ) -> Assignment {
        let mut best = task.best(self.seed, start);
        let mut score = task.score(bounds, &best);
        for attempt in 0..FURTHER {
            if !score.0.is_over() || self.observer.should_stop() {
                break;
            }
            let rival = task.best(derive(self.seed, u64::MAX - 16 - attempt), None);
            let of_rival = task.score(bounds, &rival);
            if of_rival < score {
                (best, score) = (rival, of_rival);
            }
        }
        if score.0.is_over() {
            let stream = |index| derive(self.seed, u64::MAX - 1 - index);
            for rival in task.packed(bounds, score.0, stream) {
                let of_rival = task.score(bounds, &rival);
                if of_rival < score {
                    (best, score) = (rival, of_rival);
                }
            }
        }
        best
    }

    pub(super) fn measured(&self, problem: &VectorProblem<'_>, blocks: Vec<BlockId>) -> VectorPartition {
        let VectorProblem { graph, weights, targets, layout, .. } = *problem;
        let loads = weights.loads(&blocks, targets.num_blocks());
        let overload = targets.bounds().violation(&loads).overload;
        let cut = cut(graph, &blocks);
        let cost = layout
            .map_or(cut, |layout| crate::partition::many_to_one::cost(graph, layout.distances, &blocks));
        VectorPartition { blocks, loads, cut, cost, overload }
    }
}

/// By block but the first: how deep in the tree the border before it lies.
fn depths(tree: Option<&BlockTree>, num_blocks: usize) -> Vec<usize> {
    let Some(tree) = tree else { return vec![0; num_blocks - 1] };
    let mut depths = vec![usize::MAX; num_blocks - 1];
    let mut parts = vec![(0, 0)];
    while let Some((part, depth)) = parts.pop() {
        for child in tree.children(part) {
            if let Some(own) = tree.range(child).start.checked_sub(1) {
                depths[own] = depths[own].min(depth);
            }
            parts.push((child, depth + 1));
        }
    }
    depths
}

/// Takes vertices from blocks that get none, and fills empty blocks, as far as the bounds allow it.
pub(super) fn finish<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    of: (&VectorTargets, &Loads<'_>),
) {
    vacate(level, assignment, of);
    fill_empty(level, assignment, of);
}

/// Takes vertices from blocks that get none, to blocks where they do not add to what exceeds the bounds, at the least loss.
fn vacate<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    (targets, loads): (&VectorTargets, &Loads<'_>),
) {
    let k = assignment.weights.len() as BlockId;
    let open: Vec<BlockId> = (0..k).filter(|&block| !targets.is_closed(block)).collect();
    if open.len() == k as usize {
        return;
    }
    let mut affinities = BlockAffinities::default();
    affinities.resize(k as usize);
    for node in level.nodes().filter(|&node| !level.objective.is_fixed(node)) {
        let from = assignment.blocks[node as usize];
        if !targets.is_closed(from) {
            continue;
        }
        affinities.collect(level.graph, &assignment.blocks, node);
        let gain = |&to: &BlockId| level.gain(node, &affinities, from, to);
        let with_room = open.iter().filter(|&&to| loads.allows(node, [from, to]));
        let Some(&to) = with_room.max_by_key(|to| (gain(to), std::cmp::Reverse(**to))) else { continue };
        let gain = gain(&to);
        assignment.shift(node, level.node_weight(node), to, gain);
        loads.follow(node, [from, to]);
    }
}

/// Gives each empty block with room a vertex of a block that has several, at the least loss, as far as all bounds stay as they are.
fn fill_empty<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    (targets, loads): (&VectorTargets, &Loads<'_>),
) {
    let k = assignment.weights.len();
    let mut counts = vec![0usize; k];
    assignment.blocks.iter().for_each(|&block| counts[block as usize] += 1);
    let mut affinities = BlockAffinities::default();
    affinities.resize(k);
    let is_missing = |&block: &BlockId| counts[block as usize] == 0 && !targets.is_closed(block);
    for to in (0..k as BlockId).filter(is_missing).collect::<Vec<_>>() {
        let mut best: Option<(Weight, NodeId)> = None;
        for node in level.nodes().filter(|&node| !level.objective.is_fixed(node)) {
            let from = assignment.blocks[node as usize];
            if counts[from as usize] < 2 || !loads.allows(node, [from, to]) {
                continue;
            }
            affinities.collect(level.graph, &assignment.blocks, node);
            let gain = level.gain(node, &affinities, from, to);
            if best.is_none_or(|(best, _)| gain > best) {
                best = Some((gain, node));
            }
        }
        let Some((gain, node)) = best else { continue };
        let from = assignment.blocks[node as usize];
        assignment.shift(node, level.node_weight(node), to, gain);
        loads.follow(node, [from, to]);
        counts[from as usize] -= 1;
        counts[to as usize] += 1;
    }
}
