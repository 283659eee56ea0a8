//! Migration as a member of the objectives: the cost of edges, and a penalty for each vertex away from home. A
//! vertex whose home is where it must be is fixed: refiners leave it there.

use super::edges::EdgeCost;
use super::interface::Objective;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::coarsen;
use crate::partition::compact::{CompactGraph, Stored};
use crate::partition::fixed::{FREE, FixedVertices};

/// `scale` times a cost of edges, and the penalty of each vertex that is not in its home block.
///
/// Vertices of different homes are never contracted, so that coarse vertices have homes as well, and the cost of a partition
/// is the same on all levels.
#[derive(Clone)]
pub(crate) struct Migrating<'a> {
    inner: EdgeCost<'a>,
    scale: Weight,
    /// The home block of each vertex; a number that is no block if the home no longer exists. Empty if nothing migrates and nothing is fixed.
    homes: Vec<u32>,
    /// The cost of each vertex away from home; 0 if its home no longer exists, as it moves in any case.
    penalties: Vec<Weight>,
    /// True if the homes are those of an older partition.
    resumes: bool,
    /// The block of each vertex that must not leave it, or [`FREE`]; empty if there is none. A fixed vertex is at home.
    fixed: Vec<u32>,
    /// Vertices of the same home of which all or none are fixed; empty if none is.
    classes: Vec<u32>,
}

impl<'a> Migrating<'a> {
    /// All sums must fit [`Weight`], which the caller checks.
    pub fn new(inner: EdgeCost<'a>, scale: Weight, homes: Vec<u32>, penalties: Vec<Weight>) -> Self {
        debug_assert_eq!(homes.len(), penalties.len());
        Self { inner, scale, homes, penalties, resumes: true, fixed: Vec::new(), classes: Vec::new() }
    }

    /// The cost of edges alone.
    pub fn of(inner: EdgeCost<'a>) -> Self {
        Self { resumes: false, ..Self::new(inner, 1, Vec::new(), Vec::new()) }
    }

    /// The cost of edges with vertices that must be in given blocks, and no older partition.
    pub fn fixing(inner: EdgeCost<'a>, fixed: &FixedVertices) -> Self {
        let (homes, penalties) = (vec![FREE; fixed.num_vertices()], vec![0; fixed.num_vertices()]);
        Self { homes, penalties, ..Self::of(inner) }.with_fixed(fixed)
    }

    /// The cost of edges, with vertices that must be in given blocks if there are any, and no older partition.
    pub fn around(inner: EdgeCost<'a>, fixed: Option<&FixedVertices>) -> Self {
        match fixed {
            Some(fixed) => Self::fixing(inner, fixed),
            None => Self::of(inner),
        }
    }

    /// The same with vertices that must be in given blocks, wherever they come from.
    pub fn with_fixed(mut self, fixed: &FixedVertices) -> Self {
        debug_assert_eq!(self.homes.len(), fixed.num_vertices());
        for (vertex, block) in fixed.iter() {
            self.homes[vertex as usize] = block;
            self.penalties[vertex as usize] = 0;
        }
        let is_fixed: Vec<u32> = fixed.blocks().iter().map(|&block| u32::from(block != FREE)).collect();
        self.classes = coarsen::overlay(&self.homes, &is_fixed);
        self.fixed = fixed.blocks().to_vec();
        self
    }

    /// The same with so many times the penalties, and so many times the other objective.
    pub fn weighted(&self, (penalties, inner): (Weight, Weight)) -> Self {
        let penalties = self.penalties.iter().map(|&penalty| penalty * penalties).collect();
        Self { scale: self.scale * inner, penalties, ..self.clone() }
    }

    /// The sum of all penalties.
    pub fn total_penalty(&self) -> Weight {
        self.penalties.iter().sum()
    }
}

impl Objective for Migrating<'_> {
    const HAS_OWN_COSTS: bool = true;

    #[inline]
    fn has_pull(&self) -> bool {
        self.inner.has_pull()
    }

    #[inline]
    fn between(&self, a: BlockId, b: BlockId) -> Weight {
        self.scale * self.inner.between(a, b)
    }

    #[inline]
    fn gain(&self, affinities: &BlockAffinities, from: BlockId, to: BlockId) -> Weight {
        self.scale * self.inner.gain(affinities, from, to)
    }

    #[inline]
    fn greatest_gain(&self, internal: Weight, external: Weight) -> Weight {
        self.scale * self.inner.greatest_gain(internal, external)
    }

    #[inline]
    fn change_of_gain(&self, moved: [BlockId; 2], weight: Weight, by: [BlockId; 2]) -> (Weight, bool) {
        // What a vertex costs by itself does not change, so the best move is still certain wherever it would be without it.
        let (change, is_certain) = self.inner.change_of_gain(moved, weight, by);
        (self.scale * change, is_certain)
    }

    #[inline]
    fn pull(&self, affinities: &BlockAffinities, pair: [BlockId; 2]) -> Weight {
        self.scale * self.inner.pull(affinities, pair)
    }

    #[inline]
    fn own_cost(&self, node: NodeId, block: BlockId) -> Weight {
        match self.homes.get(node as usize) {
            Some(&home) if home != block => self.penalties[node as usize],
            _ => 0,
        }
    }

    fn penalty(&self, node: NodeId) -> Weight {
        self.penalties.get(node as usize).copied().unwrap_or(0)
    }

    #[inline]
    fn greatest_own_gain(&self, node: NodeId, from: BlockId) -> Weight {
        let Some(&home) = self.homes.get(node as usize) else { return 0 };
        let penalty = self.penalties[node as usize];
        if home == from { -penalty } else { penalty }
    }

    fn classes(&self) -> Option<&[u32]> {
        let classes = if self.fixed.is_empty() { &self.homes } else { &self.classes };
        (!classes.is_empty()).then_some(classes)
    }

    fn homes(&self) -> Option<&[u32]> {
        self.resumes.then_some(&self.homes)
    }

    #[inline]
    fn fixed_block(&self, node: NodeId) -> Option<BlockId> {
        self.fixed.get(node as usize).copied().filter(|&block| block != FREE)
    }

    #[inline]
    fn has_fixed(&self) -> bool {
        !self.fixed.is_empty()
    }

    fn contracted(&self, coarse_of: &[NodeId], num_coarse: usize) -> Self {
        let mut penalties = vec![0; if self.penalties.is_empty() { 0 } else { num_coarse }];
        for (&coarse, &penalty) in coarse_of.iter().zip(&self.penalties) {
            penalties[coarse as usize] += penalty;
        }
        let restrict = |of: &[u32]| match of {
            [] => Vec::new(),
            of => coarsen::restrict(of, coarse_of, num_coarse),
        };
        let (homes, fixed, classes) = (restrict(&self.homes), restrict(&self.fixed), restrict(&self.classes));
        let Self { inner, scale, resumes, .. } = self;
        Self { inner: inner.clone(), scale: *scale, homes, penalties, resumes: *resumes, fixed, classes }
    }

    fn cost_of_edges<W: Stored>(&self, graph: &CompactGraph<'_, W>, blocks: &[BlockId]) -> Weight {
        self.scale * self.inner.cost_of_edges(graph, blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::generate;
    use crate::partition::assignment::{Assignment, Problem};
    use crate::partition::bounds::LoadBounds;
    use crate::partition::coarsen::{Coarsening, Contraction};
    use crate::partition::objective::Cut;
    use crate::partition::objective::tests::{edge_costs, matrices};
    use crate::partition::refine::balance::rebalance;
    use crate::partition::refine::cycles::Moves;
    use crate::partition::refine::flow::Flow;
    use crate::partition::refine::k_way::{self, KWay};
    use crate::partition::{PartitionConfig, PartitionPreset};

    const NUM_NODES: u32 = 200;

    /// Previous blocks of vertices in stretches, the last of them in a block that has left, and penalties of any size.
    fn migrating<'a>(inner: EdgeCost<'a>, num_blocks: u32, rng: &mut Rng) -> Migrating<'a> {
        let homes: Vec<u32> = (0..NUM_NODES).map(|node| node * (num_blocks + 1) / NUM_NODES).collect();
        let penalty = |&home: &u32| if home < num_blocks { Weight::from(rng.below(9)) } else { 0 };
        let penalties = homes.iter().map(penalty).collect();
        Migrating::new(inner, 3, homes, penalties)
    }

    /// Three times the inner cost, and the penalties of all away from home.
    fn from_scratch(graph: &CompactGraph<'_, i32>, objective: &Migrating<'_>, blocks: &[BlockId]) -> Weight {
        let away = |&(node, &block): &(usize, &BlockId)| objective.homes[node] != block;
        let penalties = blocks.iter().enumerate().filter(away).map(|(node, _)| objective.penalties[node]);
        3 * objective.inner.cost(graph, blocks) + penalties.sum::<Weight>()
    }

    fn check(inner: EdgeCost<'_>, num_blocks: u32) {
        let mut rng = Rng::new(4);
        let graph = generate::random_geometric(NUM_NODES as usize, 7.0, 2);
        let graph = CompactGraph::<i32>::new(&graph);
        let objective = migrating(inner, num_blocks, &mut rng);
        let level = Problem { graph: &graph, objective: &objective };
        let blocks: Vec<BlockId> = level.nodes().map(|_| rng.below(num_blocks)).collect();
        let mut assignment = Assignment::new(level, blocks, num_blocks as usize);
        let mut affinities = BlockAffinities::default();
        affinities.resize(num_blocks as usize);
        for _ in 0..200 {
            let (node, to) = (rng.below(NUM_NODES), rng.below(num_blocks));
            let from = assignment.blocks[node as usize];
            affinities.collect(&graph, &assignment.blocks, node);
            let gain = level.gain(node, &affinities, from, to);
            let internal = affinities.to(from);
            let external = graph.arcs(node).iter().map(|arc| arc.weight()).sum::<Weight>() - internal;
            assert!(from == to || gain <= level.greatest_gain(node, from, internal, external));
            assignment.shift(node, graph.node_weight(node), to, gain);
            assert_eq!(assignment.cost, from_scratch(&graph, &objective, &assignment.blocks));
        }
        check_refiners(level, assignment);
        check_levels(level);
    }

    /// Every refiner keeps the cost as it is from scratch, and lowers it.
    fn check_refiners(level: Problem<'_, i32, Migrating<'_>>, mut assignment: Assignment) {
        let num_blocks = assignment.weights.len();
        let bounds = vec![Weight::from(NUM_NODES) / num_blocks as Weight + 2; num_blocks];
        let agrees = |assignment: &Assignment| {
            let fresh = from_scratch(level.graph, level.objective, &assignment.blocks);
            assert_eq!(assignment.cost, fresh);
        };
        rebalance(level, &mut assignment, &bounds, &());
        assert_eq!(assignment.overload(&bounds), 0);
        agrees(&assignment);
        let (mut before, mut rng, settings) =
            (assignment.cost, Rng::new(1), PartitionConfig::preset(PartitionPreset::Strong));
        let mut lowered = |assignment: &Assignment| {
            agrees(assignment);
            assert!(assignment.cost <= before);
            before = assignment.cost;
            assert_eq!(assignment.overload(&bounds), 0);
        };
        let goal =
            k_way::Goal { bounds: LoadBounds::from(&bounds[..]), settings: &settings.k_way, observer: &() };
        KWay::default().refine(level, &mut assignment, goal, &mut rng);
        lowered(&assignment);
        Flow::default().refine(level, &mut assignment, bounds[..].into(), &settings.flow, &());
        lowered(&assignment);
        Moves::new(level, &assignment, 100, &()).improve(&mut assignment, 20);
        lowered(&assignment);
    }

    /// Coarse vertices have one home each, and partitions cost the same on all levels.
    fn check_levels(level: Problem<'_, i32, Migrating<'_>>) {
        let contraction = Contraction::Clustering { least_share: 0.3 };
        let classes = level.objective.classes();
        let coarsening = Coarsening::build(level.graph, contraction, 30, classes, &(), &mut Rng::new(7));
        let (coarse_of, coarse) = &coarsening.steps[0];
        let objective = level.objective.contracted(coarse_of, coarse.num_nodes());
        for (node, &coarse) in coarse_of.iter().enumerate() {
            assert_eq!(level.objective.homes[node], objective.homes[coarse as usize]);
        }
        let coarse_blocks: Vec<BlockId> = coarse.nodes().map(|node| node % 2).collect();
        let blocks = coarsen::project(&coarse_blocks, coarse_of);
        assert_eq!(objective.cost(coarse, &coarse_blocks), level.objective.cost(level.graph, &blocks));
    }

    #[test]
    fn gains_refiners_and_levels_agree_with_recomputation() {
        check(EdgeCost::Cut(Cut), 5);
        for matrix in matrices() {
            edge_costs(&matrix).for_each(|cost| check(cost, matrix.num_blocks as u32));
        }
    }
}
