//! Partitions by several weights that resume older ones.
//!
//! *Algorithm.* That of [one weight](crate::partition::remap), with a divider of its own: vertices of the same home are contracted, the coarsest graph starts
//! with each vertex at home, and what exceeds a bound of some weight leaves on every level. If all partitions exceed bounds in the end, those that are packed
//! without regard to edges are added.
//!
//! Time and memory as for one weight, times the number of weights where loads are compared.

use super::enumeration::VectorTally;
use super::partitioner::{VectorPartition, VectorPartitioner, VectorProblem, finish};
use super::scheme::{Effort, Task};
use crate::base::observer::Observer;
use crate::base::rng::derive;
use crate::base::types::{BlockId, Weight};
use crate::graph::CsrGraph;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::blocks::renamed;
use crate::partition::bounds::BoundViolation;
use crate::partition::compact::{self, CompactGraph, Stored};
use crate::partition::fixed::FixedVertices;
use crate::partition::layout::BlockTree;
use crate::partition::loads::{self, Loads, VectorBounds};
use crate::partition::objective::{Cut, EdgeCost, Objective};
use crate::partition::remap::{Divider, EdgeCosts, Envelope, Level, Missed, Remap, RemapError, Remapping};
use crate::partition::scheme::enumeration;
use crate::partition::settings::PartitionConfig;

/// V-cycles of a search, at most. Balances cost against time.
const CYCLES: usize = 3;

/// Divides graphs whose vertices have several weights.
struct VectorDivider<'a> {
    problem: VectorProblem<'a>,
    bounds: VectorBounds,
    /// For graphs whose vertices have homes.
    settings: PartitionConfig,
    depths: Vec<usize>,
    effort: Effort,
}

impl VectorDivider<'_> {
    fn task<'t, W: Stored, O: Objective>(
        &'t self,
        level: Problem<'t, W, O>,
        observer: &'t dyn Observer,
    ) -> Task<'t, W, O> {
        let VectorProblem { weights, targets, .. } = self.problem;
        let (depths, settings, effort) = (&self.depths[..], &self.settings, self.effort);
        Task { level, weights, targets, depths, settings, effort, observer }
    }
}

impl Divider for VectorDivider<'_> {
    fn num_blocks(&self) -> usize {
        self.bounds.num_blocks()
    }

    fn fixed(&self) -> Option<&FixedVertices> {
        self.problem.fixed
    }

    fn is_narrow(&self, graph: &CsrGraph) -> bool {
        compact::is_narrow(graph) && loads::are_sizes_narrow(self.problem.weights)
    }

    fn weighed<'g, W: Stored>(&self, graph: CompactGraph<'g, W>) -> CompactGraph<'g, W> {
        graph.with_node_weights(loads::sizes(self.problem.weights))
    }

    fn enumerated<W: Stored>(&self, level: Level<'_, W>) -> Option<Assignment> {
        let VectorProblem { weights, targets, .. } = self.problem;
        enumeration::best_by(level, VectorTally::new(weights, targets, &self.bounds))
    }

    fn best<W: Stored>(&self, level: Level<'_, W>, (seed, observer): (u64, &dyn Observer)) -> Assignment {
        self.task(level, observer).best(seed, None)
    }

    fn all_at_once<W: Stored>(&self, _: Level<'_, W>, _: (u64, &dyn Observer)) -> Option<Assignment> {
        None
    }

    fn refined<W: Stored>(
        &self,
        level: Level<'_, W>,
        start: Assignment,
        stream: u64,
        (seed, observer): (u64, &dyn Observer),
    ) -> Assignment {
        self.task(level, observer).resumed(start, derive(seed, u64::MAX - stream))
    }

    fn exchanged<W: Stored>(
        &self,
        _: Level<'_, W>,
        _: Assignment,
        _: u64,
        _: (u64, &dyn Observer),
    ) -> Option<Vec<BlockId>> {
        None
    }

    fn judged<W: Stored>(
        &self,
        level: Level<'_, W>,
        (_, blocks): (&CsrGraph, Vec<BlockId>),
        _: &dyn Observer,
    ) -> (Vec<BlockId>, Missed, BoundViolation) {
        let VectorProblem { weights, targets, .. } = self.problem;
        let mut assignment = Assignment::new(level, blocks, self.num_blocks());
        let loads = Loads::new(weights, &self.bounds, &assignment.blocks);
        finish(level, &mut assignment, (targets, &loads));
        let (excess, violation) = (loads.excess(), self.bounds.violation(&loads.all()));
        let empty = targets.num_empty(&assignment.blocks);
        (assignment.blocks, Missed { excess, empty, ..Missed::default() }, violation)
    }

    fn packed<W: Stored>(
        &self,
        level: Level<'_, W>,
        missed: Missed,
        (seed, observer): (u64, &dyn Observer),
    ) -> Vec<Vec<BlockId>> {
        if !missed.excess.is_over() {
            return Vec::new();
        }
        let stream = |index| derive(seed, u64::MAX / 3 - index);
        let packed = self.task(level, observer).packed(&self.bounds, missed.excess, stream);
        packed.into_iter().map(|packed| packed.blocks).collect()
    }
}

impl VectorPartitioner<'_> {
    /// Repartitions a graph from where its vertices are, within all bounds, minimising the cut or J plus the weight of migration times what the
    /// vertices that move [weigh in the graph](crate::partition::PreviousAssignment::with_sizes). As [for one weight](crate::partition::Partitioner::remap),
    /// results for different weights of migration do not contradict each other on small graphs.
    ///
    /// ```
    /// use viem::graph::{VertexWeights, generate};
    /// use viem::partition::{
    ///     MigrationWeight, PartitionPreset, PreviousAssignment, Remapping, Targets, VectorPartitioner, VectorProblem, VectorTargets,
    /// };
    ///
    /// // Vertices on the left need more memory than before.
    /// let grid = generate::grid(24, 24);
    /// let homes = PreviousAssignment::new(&(0..576).map(|u| u / 144).collect::<Vec<_>>(), 4)?;
    /// let weights = VertexWeights::new(2, grid.nodes().flat_map(|u| [1, if u < 96 { 4 } else { 1 }]).collect())?;
    /// let equal = |weight, epsilon| Targets::equal(&weights.alone(weight), 4, epsilon);
    /// let targets = VectorTargets::new(&weights, vec![equal(0, 0.2)?, equal(1, 0.2)?])?;
    /// let problem = VectorProblem::new(&grid, &weights, &targets)?;
    /// let partitioner = VectorPartitioner::new(PartitionPreset::Eco, 0);
    /// let remapping = Remapping::new(&homes, MigrationWeight::ONE);
    /// let partition = partitioner.remap(&problem, remapping)?.into_best(MigrationWeight::ONE)?;
    /// assert_eq!(partition.overload(), 0);
    /// assert!(homes.migration(&grid, partition.blocks()).vertices < 288);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The homes do not fit the graph and the targets, or the weight is not possible for them.
    pub fn remap(
        &self,
        problem: &VectorProblem<'_>,
        remapping: Remapping<'_>,
    ) -> Result<Envelope<VectorPartition>, RemapError> {
        let VectorProblem { graph, layout, .. } = *problem;
        let (edges, costs) = match layout {
            // The partitioner counts each edge once, J twice.
            Some(layout) => (
                EdgeCost::of_distances(layout.distances),
                EdgeCosts { times: 2, greatest: layout.distances.greatest() },
            ),
            None => (EdgeCost::Cut(Cut), EdgeCosts { times: 1, greatest: 1 }),
        };
        let divider = self.divider(problem);
        let remap = Remap { graph, remapping, divider, seed: self.seed, observer: self.observer };
        let scratch = || Ok(self.relabelled(problem, &remap));
        let found = remap.run(edges, costs, &scratch)?;
        Ok(found.map(|blocks| self.measured(problem, blocks)))
    }

    fn divider<'a>(&self, problem: &VectorProblem<'a>) -> VectorDivider<'a> {
        let bounds = problem.targets.bounds();
        let effort = Effort { members: 1, cycles: self.effort.cycles.min(CYCLES) };
        let settings =
            PartitionConfig { initial: self.settings.resuming_coarsest().initial, ..self.settings };
        let depths = vec![0; bounds.num_blocks().saturating_sub(1)];
        VectorDivider { problem: *problem, bounds, settings, depths, effort }
    }

    /// A partition from scratch, with the labels that keep most in place as far as neither bounds nor objective suffer.
    fn relabelled(&self, problem: &VectorProblem<'_>, remap: &Remap<'_, VectorDivider<'_>>) -> Vec<BlockId> {
        let scratch = self.partition(problem);
        let bounds = &remap.divider.bounds;
        let flat = BlockTree::new(bounds.num_blocks(), |_| Vec::new());
        let tree = problem.layout.map_or(&flat, |layout| layout.tree);
        let c = bounds.num_weights;
        let missed = |load: &[Weight], label: usize| bounds.of_block(label).excess(load);
        let fits = |block: usize, label: usize| {
            let loads = &scratch.loads()[block * c..][..c];
            missed(loads, label) <= missed(loads, block)
        };
        let labels = remap.labels_that(&fits, scratch.blocks(), tree);
        let renamed = renamed(scratch.blocks(), &labels);
        let before = (bounds.excess(scratch.loads()), scratch.cost());
        let after = self.measured(problem, renamed);
        let is_as_good = (bounds.excess(after.loads()), after.cost()) <= before;
        if is_as_good { after.into_blocks() } else { scratch.into_blocks() }
    }
}
