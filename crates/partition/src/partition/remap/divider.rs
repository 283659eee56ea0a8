//! What makes partitions from an older one, and judges them, where vertices have one weight. A partition by several weights has a divider of its own.

use super::chains::{self, Chains};
use super::envelope::Missed;
use crate::base::observer::Observer;
use crate::base::rng::{Rng, derive};
use crate::base::types::BlockId;
use crate::graph::CsrGraph;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::blocks::Partition;
use crate::partition::bounds::BoundViolation;
use crate::partition::compact::{self, CompactGraph, Stored};
use crate::partition::fixed::FixedVertices;
use crate::partition::objective::Migrating;
use crate::partition::refine::fill;
use crate::partition::scheme::enumeration;
use crate::partition::scheme::initial::multisection::Multisection;
use crate::partition::scheme::initial::older::OlderPartition;
use crate::partition::scheme::initial::pool::BestOfPool;
use crate::partition::scheme::multilevel::{FlowLevels, Multilevel, Task};
use crate::partition::scheme::pool::Pool;
use crate::partition::settings::PartitionConfig;
use crate::partition::targets::Targets;

/// The random stream of chains.
const CHAINS: u64 = u64::MAX / 2;

/// A graph with the cost of its edges and its migration, which is divided.
pub(in crate::partition) type Level<'a, W> = Problem<'a, W, Migrating<'a>>;

/// Makes partitions that resume an older one, which the objective knows, and judges partitions by their bounds.
pub(in crate::partition) trait Divider {
    fn num_blocks(&self) -> usize;

    /// The vertices that must be in given blocks, if there are any.
    fn fixed(&self) -> Option<&FixedVertices>;

    /// Returns whether sums of a search fit 32 bits.
    fn is_narrow(&self, graph: &CsrGraph) -> bool {
        compact::is_narrow(graph)
    }

    /// The graph with the weights of the vertices that refinement sees.
    fn weighed<'g, W: Stored>(&self, graph: CompactGraph<'g, W>) -> CompactGraph<'g, W> {
        graph
    }

    /// The best partition of a tiny graph.
    fn enumerated<W: Stored>(&self, level: Level<'_, W>) -> Option<Assignment>;

    /// The best partition, along the parts of the machine if it has several levels.
    fn best<W: Stored>(&self, level: Level<'_, W>, run: (u64, &dyn Observer)) -> Assignment;

    /// The best partition into all PEs of a machine of several levels at once.
    fn all_at_once<W: Stored>(&self, level: Level<'_, W>, run: (u64, &dyn Observer)) -> Option<Assignment>;

    /// A partition refined on all levels. `stream` numbers the random streams.
    fn refined<W: Stored>(
        &self,
        level: Level<'_, W>,
        start: Assignment,
        stream: u64,
        run: (u64, &dyn Observer),
    ) -> Assignment;

    /// What becomes of a partition by exchanges, if the graph is small enough for that. `stream` numbers the random streams.
    fn exchanged<W: Stored>(
        &self,
        level: Level<'_, W>,
        start: Assignment,
        stream: u64,
        run: (u64, &dyn Observer),
    ) -> Option<Vec<BlockId>>;

    /// The partition with a vertex in each block as far as that is possible, and what it misses of the bounds.
    fn judged<W: Stored>(
        &self,
        level: Level<'_, W>,
        graph_and_blocks: (&CsrGraph, Vec<BlockId>),
        observer: &dyn Observer,
    ) -> (Vec<BlockId>, Missed, BoundViolation);

    /// Partitions without regard to edges, if the best one misses bounds by this and others may miss them by less.
    fn packed<W: Stored>(
        &self,
        _level: Level<'_, W>,
        _missed: Missed,
        _run: (u64, &dyn Observer),
    ) -> Vec<Vec<BlockId>> {
        Vec::new()
    }
}

/// Divides graphs whose vertices have one weight.
#[derive(Clone, Copy)]
pub(in crate::partition) struct OneWeight<'a> {
    pub targets: &'a Targets,
    pub settings: &'a PartitionConfig,
    /// A tree of blocks along which the graph is divided first, if there is one.
    pub along: Option<Multisection<'a>>,
}

impl OneWeight<'_> {
    fn with_task<W: Stored>(
        &self,
        level: Level<'_, W>,
        observer: &dyn Observer,
        run: impl FnOnce(Task<'_, W, Migrating<'_>>) -> Assignment,
    ) -> Assignment {
        let (settings, coarsest) = (&self.settings.resuming(), &self.settings.resuming_coarsest());
        let first = &BestOfPool { first: &OlderPartition, settings: coarsest };
        let (targets, flow_levels) = (self.targets, FlowLevels::Finest);
        run(Task { level, targets, first, flow_levels, settings, observer })
    }

    fn at_once<W: Stored>(&self, level: Level<'_, W>, (seed, observer): (u64, &dyn Observer)) -> Assignment {
        self.with_task(level, observer, |task| Pool::new(task, seed).best())
    }
}

impl Divider for OneWeight<'_> {
    fn num_blocks(&self) -> usize {
        self.targets.num_blocks()
    }

    fn fixed(&self) -> Option<&FixedVertices> {
        self.targets.fixed()
    }

    fn enumerated<W: Stored>(&self, level: Level<'_, W>) -> Option<Assignment> {
        enumeration::best(level, self.targets.load_bounds())
    }

    fn best<W: Stored>(&self, level: Level<'_, W>, (seed, observer): (u64, &dyn Observer)) -> Assignment {
        let Some(along) = self.along else { return self.at_once(level, (seed, observer)) };
        let (sizes, bounds) = (self.targets.block_sizes(), self.targets.load_bounds());
        let blocks = along.run(level, sizes, bounds, seed, observer);
        self.refined(level, Assignment::new(level, blocks, self.num_blocks()), 1, (seed, observer))
    }

    fn all_at_once<W: Stored>(&self, level: Level<'_, W>, run: (u64, &dyn Observer)) -> Option<Assignment> {
        self.along.is_some().then(|| self.at_once(level, run))
    }

    fn refined<W: Stored>(
        &self,
        level: Level<'_, W>,
        start: Assignment,
        stream: u64,
        (seed, observer): (u64, &dyn Observer),
    ) -> Assignment {
        let rng = &mut Rng::new(derive(seed, u64::MAX - stream));
        let start = (start.blocks.clone(), start);
        self.with_task(level, observer, |task| Multilevel::new(task).run(Some((&start.0, start.1)), rng))
    }

    fn exchanged<W: Stored>(
        &self,
        level: Level<'_, W>,
        start: Assignment,
        stream: u64,
        (seed, observer): (u64, &dyn Observer),
    ) -> Option<Vec<BlockId>> {
        let depth = chains::depth(level.num_nodes(), self.num_blocks())?;
        let rng = &mut Rng::new(derive(derive(seed, CHAINS), stream));
        Some(Chains::new(level, self.targets.load_bounds(), depth, start).improve(rng, observer))
    }

    fn judged<W: Stored>(
        &self,
        _level: Level<'_, W>,
        (graph, blocks): (&CsrGraph, Vec<BlockId>),
        observer: &dyn Observer,
    ) -> (Vec<BlockId>, Missed, BoundViolation) {
        let partition = Partition::of(graph, blocks, self.targets);
        let partition = fill::filled(graph, partition, self.targets, observer);
        let (violation, empty) = (partition.violation(), partition.num_empty());
        (partition.into_blocks(), Missed { of_one: violation, empty, ..Missed::default() }, violation)
    }
}
