//! A run: the problem in blocks instead of PEs, and the report.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::config::ManyToOneConfig;
use super::layout::{between, block_of_each_pe, block_tree};
use super::search::{Search, Watched};
use crate::base::observer::{Limited, Observer, Phase};
use crate::base::types::{BlockId, Cost, PeId, Weight};
use crate::graph::CsrGraph;
use crate::machine::{DistanceOracle, Machine, Parts};
use crate::mapping::Mapping;
use crate::mapping::objective::evaluate;
use crate::mapping::problem;
use crate::partition::{
    BlockDistances, Envelope, FixedError, FixedVertices, Layout, ManyToOnePartition, ManyToOnePartitioner,
    Migration, MigrationWeight, PreviousAssignment, RemapError, Remapping, Targets, block_weights, cost,
    in_pieces,
};
use crate::solve::balance::LoadLimits;
use crate::solve::error::SolveError;
use crate::solve::one_to_one::check_size;
use crate::solve::prepared::PreparedMachine;
use crate::solve::report::{Report, Seconds, Solution};

/// The input of a run. It uses the threads of the current pool.
#[derive(Clone, Copy)]
pub(in crate::solve) struct Run<'a> {
    pub graph: &'a CsrGraph,
    pub machine: &'a PreparedMachine<'a>,
    pub config: &'a ManyToOneConfig,
    pub seed: u64,
    pub limits: LoadLimits<'a>,
    pub from: Origin<'a>,
    /// Vertices that must be on given PEs.
    pub fixed: Option<&'a FixedVertices>,
    /// Whether blocks should be connected.
    pub is_connected: bool,
    pub observer: &'a dyn Observer,
    pub begin: Instant,
    pub time_limit: Option<Duration>,
}

/// The starting point of a mapping.
#[derive(Clone, Copy)]
pub(in crate::solve) enum Origin<'a> {
    Nothing,
    /// A mapping to improve.
    Start(&'a Mapping),
    /// The present PEs of the vertices, and the request of a remapping.
    PreviousAssignment(Remapping<'a>),
}

impl<'a> Origin<'a> {
    /// Checks that it and the fixed vertices fit graph and machine, and each other.
    pub(super) fn check(
        self,
        fixed: Option<&FixedVertices>,
        num_vertices: usize,
        machine: &dyn Machine,
    ) -> Result<(), SolveError> {
        match self {
            Self::Nothing => {}
            Self::Start(start) => {
                check_size(start, num_vertices)?;
                Mapping::many(machine.num_pes(), start.pes().to_vec())?;
            }
            Self::PreviousAssignment(remapping) => {
                remapping.homes.check(num_vertices, machine.num_pes()).map_err(RemapError::from)?;
            }
        }
        let Some(fixed) = fixed else { return Ok(()) };
        check_fixed(fixed, num_vertices, machine)?;
        match self {
            Self::Start(start) => Ok(fixed.check_respected(start.pes())?),
            Self::Nothing | Self::PreviousAssignment(_) => Ok(()),
        }
    }

    /// The same in blocks; block i is the i-th PE of `order`.
    pub(super) fn in_blocks(self, order: &[PeId]) -> Blocks<'a> {
        let block_of = block_of_each_pe(order);
        match self {
            Self::Nothing => Blocks::Nothing,
            Self::Start(start) => {
                Blocks::Start(start.pes().iter().map(|&pe| block_of[pe as usize]).collect())
            }
            Self::PreviousAssignment(remapping) => {
                Blocks::PreviousAssignment(remapping.homes.renamed(&block_of), remapping)
            }
        }
    }

    /// The migration of a mapping, if it counts.
    pub(super) fn migration(self, graph: &CsrGraph, pe_of: &[PeId]) -> Option<Migration> {
        match self {
            Self::PreviousAssignment(remapping) => Some(remapping.homes.migration(graph, pe_of)),
            Self::Nothing | Self::Start(_) => None,
        }
    }
}

/// An [`Origin`] in blocks instead of PEs.
pub(super) enum Blocks<'a> {
    Nothing,
    Start(Vec<BlockId>),
    /// The homes in blocks, and the remapping, whose homes are PEs.
    PreviousAssignment(PreviousAssignment, Remapping<'a>),
}

impl Blocks<'_> {
    pub(super) fn start(&self) -> Option<&[BlockId]> {
        match self {
            Self::Start(blocks) => Some(blocks),
            Self::Nothing | Self::PreviousAssignment(..) => None,
        }
    }

    /// The initial load of each block, if given.
    fn loads(&self, graph: &CsrGraph, num_blocks: usize) -> Option<Vec<Weight>> {
        match self {
            Self::Nothing => None,
            Self::Start(blocks) => Some(block_weights(graph, blocks, num_blocks)),
            Self::PreviousAssignment(homes, _) => Some(homes.loads(graph)),
        }
    }
}

impl Search<'_> {
    /// The best mappings of the runs that start from this, and the weight of migration that was asked for.
    fn from(
        &self,
        first: &Blocks<'_>,
    ) -> Result<(Envelope<ManyToOnePartition>, MigrationWeight), SolveError> {
        let Self { graph, targets, layout, config, seed, watched, .. } = *self;
        let Blocks::PreviousAssignment(homes, remapping) = first else {
            let found = self.best_in_any_numbering(first.start())?;
            return Ok((Envelope::single(found), MigrationWeight::ZERO));
        };
        let partitioner = ManyToOnePartitioner::new(config.settings, seed)?;
        // The time limit ends this search, too; none goes on until then.
        let failure = Cell::new(None);
        let scratch = || {
            let found = Search { goes_on: false, ..*self }.best_in_any_numbering(None);
            found.map_err(|error| {
                failure.set(Some(error));
                RemapError::NoScratch
            })
        };
        let remapping = remapping.renamed(homes);
        let found =
            partitioner.remap(graph, targets, layout, (remapping, watched as &dyn Observer), &scratch);
        let found = found.map_err(|error| failure.take().unwrap_or(error.into()))?;
        Ok((found, remapping.weight))
    }
}

impl Run<'_> {
    /// The best mappings: one, or those of a remapping for several weights of migration.
    pub fn solve(&self) -> Result<Envelope<Solution>, SolveError> {
        self.check()?;
        let silent = Limited::silent(self.observer, self.begin, self.time_limit);
        let parts = self.machine.parts(&silent)?;
        let distances = self.machine.distances()?;
        self.with(&parts, &*between(distances, parts.order()), distances.ultrametric().is_some())
    }

    /// Checks that all inputs fit graph and machine.
    pub(super) fn check(&self) -> Result<(), SolveError> {
        self.from.check(self.fixed, self.graph.num_nodes(), self.machine.machine())
    }

    /// The best mappings, with the distances of the PEs in the order of the parts.
    fn with(
        &self,
        parts: &Parts,
        between: &dyn BlockDistances,
        is_ultrametric: bool,
    ) -> Result<Envelope<Solution>, SolveError> {
        let &Run { graph, config, seed, from, fixed, observer, begin, time_limit, .. } = self;
        let machine = self.machine.machine();
        problem::check_cost(graph, between.greatest())?;
        let order = parts.order();
        let first = from.in_blocks(order);
        let targets = self.targets(order, &first)?;
        let is_tree = machine.hierarchy().is_some() || is_ultrametric;
        let tree = block_tree(parts, is_tree);
        observer.begins(Phase::Construction);
        let limited = Limited::new(observer, begin, time_limit, Cost::MAX);
        let watched = Watched::new(&limited);
        // In a tree, each block already has its place; if PEs have unequal limits, blocks cannot be exchanged.
        let search = Search {
            graph,
            machine,
            order,
            targets: &targets,
            layout: Layout::new(&tree, between),
            may_place: !is_tree && self.limits.are_equal(machine),
            config,
            seed,
            imbalance: self.limits.imbalance(),
            goes_on: time_limit.is_some(),
            fixed,
            watched: &watched,
        };
        let (found, weight) = search.from(&first)?;
        let found = found.map(|found| match self.is_connected {
            true => search.connected(found, first.start()),
            false => found,
        });
        observer.reached(found.best(weight)?.cost);
        let identity = self.limits.identity(graph, machine, fixed)?;
        let cost_of_identity = evaluate(graph, self.machine.distances()?, &identity)?;
        let cost_of_start = first.start().map(|start| cost(graph, between, start));
        // A run that continues until the time limit was complete before.
        let stopped = match watched.was_complete() {
            true => observer.should_stop(),
            false => limited.should_stop(),
        };
        let known = Known { cost_of_identity, cost_of_start, stopped };
        Ok(found.map(|ManyToOnePartition { partition, cost }| {
            let pe_of = partition.blocks().iter().map(|&block| order[block as usize]).collect();
            self.solution(Mapping::from_places(pe_of), (cost, partition.cut()), &known)
        }))
    }

    /// A mapping with its J, its cut, and the report.
    pub(super) fn solution(&self, mapping: Mapping, costs: (Cost, Cost), known: &Known) -> Solution {
        let &Self { graph, limits, from, begin, .. } = self;
        let &Known { cost_of_identity, cost_of_start, stopped } = known;
        let report = Report {
            cost_of_start,
            loads: Some(limits.loads(graph, self.machine.machine(), mapping.pes())),
            in_pieces: Some(in_pieces(graph, mapping.pes(), self.machine.machine().num_pes())),
            migration: from.migration(graph, mapping.pes()),
            stopped,
            seconds: Seconds { total: begin.elapsed().as_secs_f64(), ..Seconds::default() },
            ..Report::new(graph, costs, cost_of_identity)
        };
        Solution { mapping, report }
    }

    /// The bounds of the blocks, and the vertices that they must have.
    fn targets(&self, order: &[PeId], first: &Blocks<'_>) -> Result<Targets, SolveError> {
        let (graph, machine) = (self.graph, self.machine.machine());
        let before = first.loads(graph, order.len());
        let targets = self.limits.targets(graph, machine, order, before.as_deref())?;
        Ok(match self.fixed {
            Some(fixed) => targets.with_fixed(graph, fixed.renamed(&block_of_each_pe(order)))?,
            None => targets,
        })
    }
}

/// The part that the reports of all mappings of a run share.
pub(super) struct Known {
    pub cost_of_identity: Cost,
    pub cost_of_start: Option<Cost>,
    pub stopped: bool,
}

/// Checks that there are such vertices and PEs, and that these have capacity.
fn check_fixed(fixed: &FixedVertices, num_vertices: usize, machine: &dyn Machine) -> Result<(), FixedError> {
    fixed.check(num_vertices, machine.num_pes())?;
    match fixed.iter().find(|&(_, pe)| machine.capacity(pe) == 0) {
        Some((vertex, block)) => Err(FixedError::NoCapacity { vertex, block }),
        None => Ok(()),
    }
}
