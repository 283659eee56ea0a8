//! Partitions and many-to-one mappings of graphs whose vertices have several weights.

use std::time::{Duration, Instant};

use super::layout::{between, block_of_each_pe, block_tree};
use super::run::{Blocks, Origin};
use crate::base::observer::{Limited, Observer, Phase};
use crate::base::types::PeId;
use crate::graph::CsrGraph;
use crate::machine::{DistanceOracle, Metric as _};
use crate::mapping::objective::evaluate;
use crate::mapping::{Mapping, problem};
use crate::partition::{Envelope, FixedVertices, Layout, VectorPartitioner, VectorProblem, cut, in_pieces};
use crate::solve::balance::in_order;
use crate::solve::config::Config;
use crate::solve::error::SolveError;
use crate::solve::prepared::PreparedMachine;
use crate::solve::report::{Report, Seconds, Solution};
use crate::solve::several::SeveralWeights;

/// The input of a run with several weights.
#[derive(Clone, Copy)]
pub(in crate::solve) struct SeveralRun<'a> {
    pub graph: &'a CsrGraph,
    pub machine: &'a PreparedMachine<'a>,
    pub config: &'a Config,
    pub several: &'a SeveralWeights<'a>,
    pub from: Origin<'a>,
    /// Vertices that must be on given PEs.
    pub fixed: Option<&'a FixedVertices>,
    /// Whether the cut is the objective, and not J.
    pub is_cut: bool,
    pub observer: &'a dyn Observer,
    pub begin: Instant,
    pub time_limit: Option<Duration>,
}

impl SeveralRun<'_> {
    /// The best mappings within all limits, of small cut or J: one, or those of a remapping for several weights of migration.
    pub fn solve(&self) -> Result<Envelope<Solution>, SolveError> {
        let machine = self.machine.machine();
        self.from.check(self.fixed, self.graph.num_nodes(), machine)?;
        self.observer.begins(Phase::Search);
        if self.is_cut {
            let order = in_order(machine);
            return self.solutions(&order, None);
        }
        let silent = Limited::silent(self.observer, self.begin, self.time_limit);
        let parts = self.machine.parts(&silent)?;
        let (distances, order) = (self.machine.distances()?, parts.order());
        problem::check_cost(self.graph, distances.max_distance())?;
        let is_tree = machine.hierarchy().is_some() || distances.ultrametric().is_some();
        let tree = block_tree(&parts, is_tree);
        self.solutions(order, Some(Layout::new(&tree, &*between(distances, order))))
    }

    /// The mappings to the PEs in this order, which have distances if J is the objective.
    fn solutions(
        &self,
        order: &[PeId],
        layout: Option<Layout<'_>>,
    ) -> Result<Envelope<Solution>, SolveError> {
        let &Self { graph, config, several, observer, begin, time_limit, .. } = self;
        let targets = several.targets(self.machine.machine(), order)?;
        let block_of = block_of_each_pe(order);
        let fixed = self.fixed.map(|fixed| fixed.renamed(&block_of));
        let identity = several.identity(self.machine.machine(), self.fixed)?;
        let ranges: Vec<_> = identity.pes().iter().map(|&pe| block_of[pe as usize]).collect();
        let plain = VectorProblem::new(graph, several.weights(), &targets)?.with_fixed(fixed.as_ref())?;
        let plain = plain.with_known(&ranges);
        let limited = Limited::silent(observer, begin, time_limit);
        let partitioner = VectorPartitioner::new(config.partition, config.seed).observed(&limited);
        let problem = layout.map_or(plain, |layout| plain.with_layout(layout));
        let found = match &self.from.in_blocks(order) {
            Blocks::PreviousAssignment(homes, remapping) => {
                partitioner.remap(&problem, remapping.renamed(homes))?
            }
            from => Envelope::single(partitioner.partition_from(&problem, from.start())),
        };
        found.try_map(|found| {
            let pe_of = found.into_blocks().into_iter().map(|block| order[block as usize]).collect();
            self.solution(Mapping::from_places(pe_of), &identity)
        })
    }

    fn solution(&self, mapping: Mapping, identity: &Mapping) -> Result<Solution, SolveError> {
        let &Self { graph, several, observer, begin, .. } = self;
        let (machine, distances) = (self.machine.machine(), self.machine.distances()?);
        let cost_of_identity = evaluate(graph, distances, identity)?;
        let costs = (evaluate(graph, distances, &mapping)?, cut(graph, mapping.pes()));
        let total = begin.elapsed();
        let report = Report {
            cost_of_start: match self.from {
                Origin::Start(start) => Some(evaluate(graph, distances, start)?),
                Origin::Nothing | Origin::PreviousAssignment(_) => None,
            },
            migration: self.from.migration(graph, mapping.pes()),
            stopped: observer.should_stop() || self.time_limit.is_some_and(|limit| total >= limit),
            seconds: Seconds { total: total.as_secs_f64(), ..Seconds::default() },
            ..Report::new(graph, costs, cost_of_identity)
        };
        let in_pieces = Some(in_pieces(graph, mapping.pes(), machine.num_pes()));
        let loads = several.loads(machine, mapping.pes());
        let report = Report { in_pieces, ..report.with_loads_by_weight(loads) };
        Ok(Solution { mapping, report })
    }
}
