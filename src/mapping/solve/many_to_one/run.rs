//! A run: the problem in blocks instead of PEs, and the report.

use std::time::Instant;

use super::layout::{Between, block_of_each_pe, block_tree};
use super::search::{Search, Watched};
use super::{ManyToOneConfig, ManyToOneReport, ManyToOneSolution, capacities, pe_loads, weights_of};
use crate::graph::CsrGraph;
use crate::ground::observer::{Limited, Observer, Phase};
use crate::ground::types::{BlockId, Cost, PeId, Weight};
use crate::machine::{DistanceOracle, DistanceVisitor, Machine, Parts};
use crate::mapping::Mapping;
use crate::mapping::problem;
use crate::mapping::solve::SolveError;
use crate::partition::{
    BlockDistances, Envelope, FixedVertices, Homes, Layout, ManyToOnePartition, ManyToOnePartitioner,
    Migration, MigrationWeight, Remapping, Targets, cost,
};

/// The input of a run.
pub(super) struct Run<'a> {
    pub graph: &'a CsrGraph,
    pub machine: &'a dyn Machine,
    pub parts: &'a Parts,
    pub config: &'a ManyToOneConfig,
    pub from: Origin<'a>,
    /// Vertices that must be on given PEs.
    pub fixed: Option<&'a FixedVertices>,
    pub observer: &'a dyn Observer,
    pub begin: Instant,
}

/// The starting point of a mapping.
#[derive(Clone, Copy)]
pub(super) enum Origin<'a> {
    Nothing,
    /// A mapping to improve.
    Start(&'a Mapping),
    /// The present PEs of the vertices, and what is asked of a remapping.
    Homes(Remapping<'a>),
}

impl<'a> Origin<'a> {
    /// The same in blocks; block i is the i-th PE of `order`.
    fn in_blocks(self, order: &[PeId]) -> Blocks<'a> {
        let block_of = block_of_each_pe(order);
        match self {
            Self::Nothing => Blocks::Nothing,
            Self::Start(start) => {
                Blocks::Start(start.pes().iter().map(|&pe| block_of[pe as usize]).collect())
            }
            Self::Homes(remapping) => Blocks::Homes(remapping.homes.renamed(&block_of), remapping),
        }
    }

    /// The migration of a mapping, if it counts.
    fn migration(self, graph: &CsrGraph, pe_of: &[PeId]) -> Option<Migration> {
        match self {
            Self::Homes(remapping) => Some(remapping.homes.migration(graph, pe_of)),
            Self::Nothing | Self::Start(_) => None,
        }
    }
}

/// An [`Origin`] in blocks instead of PEs.
enum Blocks<'a> {
    Nothing,
    Start(Vec<BlockId>),
    /// The homes in blocks, and the remapping, whose homes are PEs.
    Homes(Homes, Remapping<'a>),
}

impl Blocks<'_> {
    fn start(&self) -> Option<&[BlockId]> {
        match self {
            Self::Start(blocks) => Some(blocks),
            Self::Nothing | Self::Homes(..) => None,
        }
    }

    /// The initial load of each block, if given.
    fn loads(&self, graph: &CsrGraph, num_blocks: usize) -> Option<Vec<Weight>> {
        match self {
            Self::Nothing => None,
            Self::Start(blocks) => Some(weights_of(graph, blocks, num_blocks)),
            Self::Homes(homes, _) => Some(homes.loads(graph)),
        }
    }
}

impl Search<'_> {
    /// The best mappings of what starts from this, and the weight of migration that was asked for.
    fn from(
        &self,
        first: &Blocks<'_>,
    ) -> Result<(Envelope<ManyToOnePartition>, MigrationWeight), SolveError> {
        let Self { graph, targets, layout, config, watched, .. } = *self;
        let Blocks::Homes(homes, remapping) = first else {
            let found = self.best_in_any_numbering(first.start())?;
            return Ok((Envelope::single(found), MigrationWeight::ZERO));
        };
        let partitioner = ManyToOnePartitioner::new(config.settings.clone(), config.seed)?;
        // The time limit ends this search, too; none goes on until then.
        let config = &ManyToOneConfig { time_limit: None, ..config.clone() };
        let scratch = || Search { config, ..*self }.best_in_any_numbering(None);
        let remapping = remapping.renamed(homes);
        let found = partitioner.remap_beside(
            graph,
            targets,
            layout,
            (remapping, watched as &dyn Observer),
            &scratch,
        )?;
        Ok((found, remapping.weight))
    }
}

impl DistanceVisitor for Run<'_> {
    type Output = Result<Envelope<ManyToOneSolution>, SolveError>;

    fn visit<O: DistanceOracle>(self, oracle: &O) -> Self::Output {
        let keys = self.parts.order().iter().map(|&pe| oracle.key(pe)).collect();
        self.with(&Between { oracle, keys }, oracle.ultrametric().is_some())
    }
}

impl Run<'_> {
    /// The best mappings, with the distances of the PEs in the order of the parts.
    fn with(
        self,
        between: &dyn BlockDistances,
        is_ultrametric: bool,
    ) -> Result<Envelope<ManyToOneSolution>, SolveError> {
        let Run { graph, machine, parts, config, from, fixed, observer, begin } = self;
        problem::check_cost(graph, between.greatest())?;
        let order = parts.order();
        let capacities = capacities(machine, order.iter().copied());
        let is_tree = machine.hierarchy().is_some() || is_ultrametric;
        let tree = block_tree(parts, is_tree);
        let first = from.in_blocks(order);
        let mut targets = Targets::proportional(graph, &capacities, config.imbalance)?;
        targets = targets.with_least_loads(Targets::least_shares(graph, &capacities, config.least_load)?)?;
        if let Some(before) = first.loads(graph, order.len()) {
            targets = targets.near(&capacities, &before);
        }
        if let Some(fixed) = fixed {
            targets = targets.with_fixed(graph, fixed.renamed(&block_of_each_pe(order)))?;
        }
        observer.begins(Phase::Construction);
        let limited = Limited::new(observer, begin, config.time_limit, Cost::MAX);
        let watched = Watched::new(&limited);
        // In a tree, the parts are already places; if PEs have unequal capacities, blocks cannot change
        // places.
        let may_place = !is_tree && capacities.iter().all(|&capacity| capacity == capacities[0]);
        let layout = Layout::new(&tree, between);
        let search = Search {
            graph,
            machine,
            order,
            targets: &targets,
            layout,
            may_place,
            config,
            fixed,
            watched: &watched,
        };
        let (found, weight) = search.from(&first)?;
        observer.reached(found.best(weight)?.cost);
        let cost_of_start = first.start().map(|start| cost(graph, between, start));
        // A run that continues until the time limit was complete before.
        let stopped = match watched.was_complete() {
            true => observer.should_stop(),
            false => limited.should_stop(),
        };
        Ok(found.map(|ManyToOnePartition { partition, cost }| {
            let pe_of: Vec<PeId> = partition.blocks().iter().map(|&block| order[block as usize]).collect();
            let report = ManyToOneReport {
                num_nodes: graph.num_nodes(),
                num_edges: graph.num_edges(),
                cost_of_start,
                cost,
                cut: partition.cut(),
                migration: from.migration(graph, &pe_of),
                loads: pe_loads(graph, machine, config, &pe_of),
                stopped,
                seconds: begin.elapsed().as_secs_f64(),
            };
            ManyToOneSolution { mapping: Mapping::from_places(pe_of), report }
        }))
    }
}
