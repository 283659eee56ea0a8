//! The search for partitions that resume an older one.

use super::chains::{self, Chains};
use super::curve::ladder;
use super::envelope::{Envelope, Point};
use super::limits::{Limits, RemapError};
use super::relabel::Relabelling;
use super::remapping::{Extent, Remapping};
use super::weight::{MigrationWeight, reduced};
use crate::base::observer::Observer;
use crate::base::rng::{Rng, derive};
use crate::base::types::{BlockId, Weight};
use crate::graph::CsrGraph;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::blocks::Partition;
use crate::partition::compact::{self, CompactGraph, Stored};
use crate::partition::layout::BlockTree;
use crate::partition::objective::{EdgeCost, Migrating, Objective};
use crate::partition::refine::fill;
use crate::partition::scheme::enumeration;
use crate::partition::scheme::initial::multisection::Multisection;
use crate::partition::scheme::initial::older::OlderPartition;
use crate::partition::scheme::initial::pool::BestOfPool;
use crate::partition::scheme::multilevel::{FlowLevels, Multilevel, Task};
use crate::partition::scheme::pool::Pool;
use crate::partition::settings::PartitionConfig;
use crate::partition::targets::Targets;

/// The vertices and arcs of a graph whose results do not depend on the weight that is asked for. Balances that against time.
const MOST_OF_SMALL: usize = 1 << 16;

/// The same for blocks, whose labels take cubic time.
const MOST_BLOCKS_OF_SMALL: usize = 256;

/// If all penalties together exceed this many times the cost of the edges, a search with less of them comes first. Balances
/// migration against borders that no single move repairs: where penalties are higher, hardly less migrates, but the cut
/// rises by up to a quarter. Tuned on the mesh of 3072 vertices, 16 blocks, by `generate_model --curve`.
const MOST_PENALTIES: Weight = 8;

/// How many searches close gaps between the results of a small graph. Balances cost at moderate weights of migration against time.
const SEARCHES: usize = 1;

/// The random stream of chains.
const CHAINS: u64 = u64::MAX / 2;

/// What is remapped, and how.
pub(in crate::partition) struct Remap<'a> {
    pub graph: &'a CsrGraph,
    pub targets: &'a Targets,
    pub remapping: Remapping<'a>,
    pub settings: &'a PartitionConfig,
    /// A tree of blocks along which the graph is divided first, if there is one.
    pub along: Option<Multisection<'a>>,
    pub seed: u64,
    pub observer: &'a dyn Observer,
}

/// What edges cost: `times` the objective is what counts, and no edge of weight 1 costs more than `greatest` of the objective.
#[derive(Clone, Copy)]
pub(in crate::partition) struct EdgeCosts {
    pub times: Weight,
    pub greatest: Weight,
}

/// So many times the migration beside so many times the edges: a weight of migration as a fraction.
type Ratio = (Weight, Weight);

type Found = Envelope<Vec<BlockId>>;

/// Makes a partition from scratch.
type Scratch<'a> = &'a dyn Fn() -> Result<Vec<BlockId>, RemapError>;

impl Remap<'_> {
    /// The blocks of the vertices in the best partitions. `scratch` makes a partition from scratch.
    pub fn run(
        &self,
        objective: EdgeCost<'_>,
        costs: EdgeCosts,
        scratch: Scratch<'_>,
    ) -> Result<Found, RemapError> {
        let limits = self.limits(costs)?;
        limits.check(self.remapping.weight)?;
        let objective = self.migrating(objective, costs);
        if compact::is_narrow(self.graph) {
            self.on(&CompactGraph::<i32>::new(self.graph), objective, limits).found(scratch)
        } else {
            self.on(&CompactGraph::<i64>::new(self.graph), objective, limits).found(scratch)
        }
    }

    /// What weights of migration are possible, if homes fit the graph.
    fn limits(&self, EdgeCosts { times, greatest }: EdgeCosts) -> Result<Limits, RemapError> {
        let num_blocks = self.targets.num_blocks();
        self.remapping.homes.check(self.graph.num_nodes(), num_blocks)?;
        let most = i128::from(greatest).saturating_mul(i128::from(times));
        let edges = i128::from(self.graph.total_arc_weight()).saturating_mul(most);
        let total = self.remapping.homes.sizes(self.graph).iter().sum();
        Ok(Limits { edges, total, num_blocks })
    }

    /// What edges cost, and the sizes of the vertices away from home.
    fn migrating<'o>(&self, objective: EdgeCost<'o>, costs: EdgeCosts) -> Migrating<'o> {
        let homes = self.remapping.homes;
        let penalty =
            |(&home, &size): (&u32, &Weight)| if (home as usize) < homes.num_blocks { size } else { 0 };
        let penalties = homes.homes.iter().zip(homes.sizes(self.graph)).map(penalty).collect();
        let objective = Migrating::new(objective, costs.times, homes.homes.clone(), penalties);
        match self.targets.fixed() {
            Some(fixed) => objective.with_fixed(fixed),
            None => objective,
        }
    }

    fn on<'a, W: Stored>(
        &'a self,
        graph: &'a CompactGraph<'a, W>,
        objective: Migrating<'a>,
        limits: Limits,
    ) -> Search<'a, W> {
        let (settings, coarsest) = (self.settings.resuming(), self.settings.resuming_coarsest());
        Search { remap: self, graph, objective, limits, settings, coarsest }
    }

    /// The label of each block of a partition such that most weight stays in place; labels change within a tree. O(n + k²)
    /// besides the assignment, for at most [`MOST_RELABELLED`](super::MOST_RELABELLED) blocks, which [`run`](Self::run) has made sure of.
    pub fn labels(&self, partition: &Partition, tree: &BlockTree) -> Vec<BlockId> {
        let num_blocks = self.targets.num_blocks();
        let mut overlaps = vec![0; num_blocks * num_blocks];
        let sizes = self.remapping.homes.sizes(self.graph);
        for (node, (&block, &size)) in self.graph.nodes().zip(partition.blocks().iter().zip(sizes)) {
            if let Some(home) = self.remapping.homes.of(node) {
                overlaps[block as usize * num_blocks + home as usize] += size;
            }
        }
        let (weights, bounds) = (partition.block_weights(), self.targets.load_bounds());
        let most = sizes.iter().sum::<Weight>().saturating_add(1);
        let own: Vec<BlockId> = (0..num_blocks as BlockId).collect();
        let Some(fixed) = self.targets.fixed() else {
            return Relabelling { tree, overlaps, most, weights, bounds, observer: self.observer }.best();
        };
        // A block with fixed vertices is worth more under its own label than all that could stay elsewhere.
        if most.checked_mul(num_blocks as Weight + 1).is_none() {
            return own;
        }
        for (_, block) in fixed.iter() {
            overlaps[block as usize * num_blocks + block as usize] = most;
        }
        let labels = Relabelling { tree, overlaps, most, weights, bounds, observer: self.observer }.best();
        if fixed.iter().all(|(_, block)| labels[block as usize] == block) { labels } else { own }
    }
}

/// The search, once the objective is known.
struct Search<'a, W> {
    remap: &'a Remap<'a>,
    graph: &'a CompactGraph<'a, W>,
    /// The cost of the edges, and the weight of the vertices away from home.
    objective: Migrating<'a>,
    limits: Limits,
    /// For the way from the whole graph to a coarse one and back.
    settings: PartitionConfig,
    /// For the partition of the coarse graph.
    coarsest: PartitionConfig,
}

impl<W: Stored> Search<'_, W> {
    /// See [`Remap::run`].
    fn found(&self, scratch: Scratch<'_>) -> Result<Found, RemapError> {
        let Remapping { weight, extent, .. } = self.remap.remapping;
        let mut found = Envelope::new(self.limits);
        self.stay(&mut found);
        if extent != Extent::Alone && self.is_small() {
            self.for_all_weights(&mut found, scratch)?;
            return Ok(found);
        }
        self.for_weight(&mut found, weight, scratch)?;
        if extent == Extent::Curve {
            self.for_weight(&mut found, MigrationWeight::ZERO, scratch)?;
            for weight in ladder(found.least_cost(), self.limits.total).into_iter().skip(1) {
                self.for_weight(&mut found, weight, scratch)?;
            }
        }
        Ok(found)
    }

    fn is_small(&self) -> bool {
        let size = self.graph.num_nodes() + self.graph.num_arcs();
        size <= MOST_OF_SMALL && self.limits.num_blocks <= MOST_BLOCKS_OF_SMALL
    }

    /// Adds what does not depend on the weight that is asked for.
    fn for_all_weights(&self, found: &mut Found, scratch: Scratch<'_>) -> Result<(), RemapError> {
        // As little migration as possible comes first: a run that is stopped ends with it.
        let stiff = self.stiff();
        if let Some(stiff) = stiff {
            self.resume(found, stiff);
        }
        if found.points().is_empty() || !self.stops() {
            self.insert(found, scratch()?);
        }
        let Some(stiff) = stiff else { return Ok(()) };
        let is_tiny = enumeration::is_affordable(self.graph.num_nodes(), self.limits.num_blocks);
        if is_tiny {
            self.search(found, self.slight());
            self.close_gaps(found, usize::MAX);
        } else {
            self.search(found, self.per_vertex(found.least_cost() / 2));
            self.close_gaps(found, SEARCHES);
            self.exchange(found, stiff);
        }
        Ok(())
    }

    /// Adds what is found for a weight, if that is possible.
    fn for_weight(
        &self,
        found: &mut Found,
        weight: MigrationWeight,
        scratch: Scratch<'_>,
    ) -> Result<(), RemapError> {
        if self.limits.check(weight).is_err() {
            return Ok(());
        }
        if weight == MigrationWeight::ZERO {
            self.insert(found, scratch()?);
        } else {
            self.resume(found, self.fitted(weight.fraction()));
        }
        Ok(())
    }

    /// Searches with a ratio; if that is stiff, also with a softer one, and from there with the ratio again.
    fn resume(&self, found: &mut Found, ratio: Ratio) {
        let first = self.search(found, ratio);
        let soft =
            self.per_vertex(self.objective.cost_of_edges(self.graph, &first).saturating_mul(MOST_PENALTIES));
        let is_stiff = i128::from(ratio.0) * i128::from(soft.1) > i128::from(soft.0) * i128::from(ratio.1);
        if !is_stiff {
            return;
        }
        let soft = self.search(found, soft);
        let objective = &self.objective.weighted(ratio);
        self.insert(found, self.refined(objective, self.assignment(objective, soft), 0).blocks);
        self.search_all_at_once(found, ratio);
    }

    /// Searches with all PEs of a machine at once, if it has several levels.
    fn search_all_at_once(&self, found: &mut Found, ratio: Ratio) {
        if self.remap.along.is_some() && !self.stops() {
            self.insert(found, self.all_at_once(&self.objective.weighted(ratio)).blocks);
        }
    }

    /// Searches at ratios for which two neighbours on the envelope are equally good, those that are farthest apart first.
    fn close_gaps(&self, found: &mut Found, most: usize) {
        let mut tried: Vec<Ratio> = Vec::new();
        while tried.len() < most && !self.stops() {
            let gap = |pair: &[Point<Vec<BlockId>>]| {
                let cost = pair[0].cost - pair[1].cost;
                let migration = pair[1].migration.weight - pair[0].migration.weight;
                (i128::from(cost) * i128::from(migration), self.fitted((cost, migration)))
            };
            let gaps = found.points().windows(2).map(gap);
            let widest = gaps.filter(|(_, ratio)| !tried.contains(ratio)).max_by_key(|gap| gap.0);
            let Some((_, ratio)) = widest else { return };
            tried.push(ratio);
            self.search(found, ratio);
            self.search_all_at_once(found, ratio);
        }
    }

    /// Adds what is found for a ratio, and returns it. On tiny graphs that is the best of all.
    fn search(&self, found: &mut Found, ratio: Ratio) -> Vec<BlockId> {
        let objective = &self.objective.weighted(ratio);
        let bounds = self.remap.targets.load_bounds();
        let best = enumeration::best(Problem { graph: self.graph, objective }, bounds);
        let blocks = best.unwrap_or_else(|| self.best(objective)).blocks;
        self.insert(found, blocks.clone());
        blocks
    }

    /// Adds what becomes of all partitions by exchanges, if the graph is small enough for that.
    fn exchange(&self, found: &mut Found, ratio: Ratio) {
        let Some(depth) = chains::depth(self.graph.num_nodes(), self.limits.num_blocks) else { return };
        let Remap { targets, seed, observer, .. } = *self.remap;
        let objective = &self.objective.weighted(ratio);
        let level = Problem { graph: self.graph, objective };
        let all: Vec<Vec<BlockId>> = found.points().iter().map(|point| point.result.clone()).collect();
        for (stream, blocks) in (0..).zip(all) {
            let start = self.assignment(objective, blocks);
            let rng = &mut Rng::new(derive(derive(seed, CHAINS), stream));
            let chains = Chains::new(level, targets.load_bounds(), depth, start);
            self.insert(found, chains.improve(rng, observer));
        }
    }

    /// The best partition, along the parts of the machine if it has several levels.
    fn best(&self, objective: &Migrating<'_>) -> Assignment {
        let Remap { targets, along, seed, observer, .. } = *self.remap;
        let Some(along) = along else { return self.all_at_once(objective) };
        let (sizes, bounds) = (targets.block_sizes(), targets.load_bounds());
        let blocks = along.run(Problem { graph: self.graph, objective }, sizes, bounds, seed, observer);
        self.refined(objective, self.assignment(objective, blocks), 1)
    }

    /// The best partition into all blocks at once.
    fn all_at_once(&self, objective: &Migrating<'_>) -> Assignment {
        self.with_task(objective, |task| Pool::new(task, self.remap.seed).best())
    }

    /// A partition refined on all levels. `stream` numbers the random streams.
    fn refined(&self, objective: &Migrating<'_>, start: Assignment, stream: u64) -> Assignment {
        let rng = &mut Rng::new(derive(self.remap.seed, u64::MAX - stream));
        self.with_task(objective, |task| Multilevel::new(task).run(Some((&start.blocks.clone(), start)), rng))
    }

    /// Adds the partition in which every vertex is at home, fixed ones where they must be, if all homes still exist.
    fn stay(&self, found: &mut Found) {
        let homes = self.objective.homes().unwrap_or_default();
        if homes.iter().all(|&home| (home as usize) < self.limits.num_blocks) {
            self.insert(found, homes.to_vec());
        }
    }

    fn insert(&self, found: &mut Found, blocks: Vec<BlockId>) {
        let Remap { graph, targets, remapping, observer, .. } = *self.remap;
        let partition = fill::filled(graph, Partition::of(graph, blocks, targets), targets, observer);
        let missed = (partition.violation(), partition.num_empty());
        let result = partition.into_blocks();
        let cost = self.objective.cost_of_edges(self.graph, &result);
        let migration = remapping.homes.migration(graph, &result);
        found.insert(Point { missed, cost, migration, result });
    }

    fn stops(&self) -> bool {
        self.remap.observer.should_stop()
    }

    /// The ratio at which migration counts more than all edges together, as far as its sums fit; none if not even those of 1 to 1 do.
    fn stiff(&self) -> Option<Ratio> {
        let Limits { edges, total, .. } = self.limits;
        let room = (i128::from(Weight::MAX / 4) - edges) / i128::from(total.max(1));
        let migration = room.min(edges / 2 + 1);
        self.limits.fits(1, 1).then_some((migration as Weight, 1))
    }

    /// The ratio at which all migration counts less than an edge, as far as its sums fit.
    fn slight(&self) -> Ratio {
        self.fitted((1, self.limits.total.saturating_add(1)))
    }

    /// The ratio at which moving all vertices costs as much as such edges.
    fn per_vertex(&self, cost: Weight) -> Ratio {
        self.fitted((cost, self.objective.total_penalty()))
    }

    /// A ratio in lowest terms, or one near it whose sums fit.
    fn fitted(&self, (migration, edges): Ratio) -> Ratio {
        let (mut migration, mut edges) = reduced(migration.max(1), edges.max(1));
        while !self.limits.fits(migration, edges) && (migration, edges) != (1, 1) {
            (migration, edges) = ((migration / 2).max(1), (edges / 2).max(1));
        }
        (migration, edges)
    }

    fn assignment(&self, objective: &Migrating<'_>, blocks: Vec<BlockId>) -> Assignment {
        Assignment::new(Problem { graph: self.graph, objective }, blocks, self.limits.num_blocks)
    }

    fn with_task(
        &self,
        objective: &Migrating<'_>,
        run: impl FnOnce(Task<'_, W, Migrating<'_>>) -> Assignment,
    ) -> Assignment {
        let Remap { targets, observer, .. } = *self.remap;
        let first = &BestOfPool { first: &OlderPartition, settings: &self.coarsest };
        let level = Problem { graph: self.graph, objective };
        run(Task {
            level,
            targets,
            first,
            flow_levels: FlowLevels::Finest,
            settings: &self.settings,
            observer,
        })
    }
}
