//! The search for partitions that resume an older one.

use super::curve::ladder;
use super::divider::{Divider, Level, OneWeight};
use super::envelope::{Envelope, Point};
use super::limits::{Limits, RemapError};
use super::relabel::{self, Relabelling};
use super::remapping::{Extent, Remapping};
use super::weight::{MigrationWeight, reduced};
use crate::base::observer::Observer;
use crate::base::types::{BlockId, Weight};
use crate::graph::CsrGraph;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::blocks::Partition;
use crate::partition::compact::{CompactGraph, Stored};
use crate::partition::layout::BlockTree;
use crate::partition::objective::{EdgeCost, Migrating, Objective};
use crate::partition::scheme::enumeration;

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

/// What is remapped, and how.
pub(in crate::partition) struct Remap<'a, D> {
    pub graph: &'a CsrGraph,
    pub remapping: Remapping<'a>,
    pub divider: D,
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

impl Remap<'_, OneWeight<'_>> {
    /// The label of each block of a partition such that most weight stays in place; labels change within a tree. O(n + k²)
    /// besides the assignment, for at most [`MOST_RELABELLED`](super::MOST_RELABELLED) blocks, which [`run`](Self::run) has made sure of.
    pub fn labels(&self, partition: &Partition, tree: &BlockTree) -> Vec<BlockId> {
        let (weights, bounds) = (partition.block_weights(), self.divider.targets.load_bounds());
        let fits = |block: usize, label| relabel::fits(bounds, weights[block], block, label);
        self.labels_that(&fits, partition.blocks(), tree)
    }
}

impl<D: Divider> Remap<'_, D> {
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
        if self.divider.is_narrow(self.graph) {
            let graph = &self.divider.weighed(CompactGraph::<i32>::new(self.graph));
            Search { remap: self, graph, objective, limits }.found(scratch)
        } else {
            let graph = &self.divider.weighed(CompactGraph::<i64>::new(self.graph));
            Search { remap: self, graph, objective, limits }.found(scratch)
        }
    }

    /// What weights of migration are possible, if homes fit the graph.
    fn limits(&self, EdgeCosts { times, greatest }: EdgeCosts) -> Result<Limits, RemapError> {
        let num_blocks = self.divider.num_blocks();
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
        match self.divider.fixed() {
            Some(fixed) => objective.with_fixed(fixed),
            None => objective,
        }
    }

    /// The label of each block of a partition such that most weight stays in place. A block only gets a label that it [`fits`](Relabelling::fits).
    pub fn labels_that(
        &self,
        fits: &dyn Fn(usize, usize) -> bool,
        blocks: &[BlockId],
        tree: &BlockTree,
    ) -> Vec<BlockId> {
        let num_blocks = self.divider.num_blocks();
        let mut overlaps = vec![0; num_blocks * num_blocks];
        let sizes = self.remapping.homes.sizes(self.graph);
        for (node, (&block, &size)) in self.graph.nodes().zip(blocks.iter().zip(sizes)) {
            if let Some(home) = self.remapping.homes.of(node) {
                overlaps[block as usize * num_blocks + home as usize] += size;
            }
        }
        let most = sizes.iter().sum::<Weight>().saturating_add(1);
        let own: Vec<BlockId> = (0..num_blocks as BlockId).collect();
        let Some(fixed) = self.divider.fixed() else {
            return Relabelling { tree, overlaps, most, num_blocks, fits, observer: self.observer }.best();
        };
        // A block with fixed vertices is worth more under its own label than all that could stay elsewhere.
        if most.checked_mul(num_blocks as Weight + 1).is_none() {
            return own;
        }
        for (_, block) in fixed.iter() {
            overlaps[block as usize * num_blocks + block as usize] = most;
        }
        let labels = Relabelling { tree, overlaps, most, num_blocks, fits, observer: self.observer }.best();
        if fixed.iter().all(|(_, block)| labels[block as usize] == block) { labels } else { own }
    }
}

/// The search, once the objective is known.
struct Search<'a, W, D> {
    remap: &'a Remap<'a, D>,
    graph: &'a CompactGraph<'a, W>,
    /// The cost of the edges, and the weight of the vertices away from home.
    objective: Migrating<'a>,
    limits: Limits,
}

impl<W: Stored, D: Divider> Search<'_, W, D> {
    /// See [`Remap::run`].
    fn found(&self, scratch: Scratch<'_>) -> Result<Found, RemapError> {
        let Remapping { weight, extent, .. } = self.remap.remapping;
        let mut found = Envelope::new(self.limits);
        self.stay(&mut found);
        if extent != Extent::Alone && self.is_small() {
            self.for_all_weights(&mut found, scratch)?;
            self.pack(&mut found);
            return Ok(found);
        }
        self.for_weight(&mut found, weight, scratch)?;
        if extent == Extent::Curve {
            self.for_weight(&mut found, MigrationWeight::ZERO, scratch)?;
            for weight in ladder(found.least_cost(), self.limits.total).into_iter().skip(1) {
                self.for_weight(&mut found, weight, scratch)?;
            }
        }
        self.pack(&mut found);
        Ok(found)
    }

    /// Adds partitions without regard to edges, if all others miss bounds.
    fn pack(&self, found: &mut Found) {
        let Some(missed) = found.points().first().map(|point| point.missed) else { return };
        let packed = self.remap.divider.packed(self.level(&self.objective), missed, self.run());
        packed.into_iter().for_each(|blocks| self.insert(found, blocks));
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
        let (level, start) = (self.level(objective), self.assignment(objective, soft));
        self.insert(found, self.remap.divider.refined(level, start, 0, self.run()).blocks);
        self.search_all_at_once(found, ratio);
    }

    /// Searches with all PEs of a machine at once, if it has several levels.
    fn search_all_at_once(&self, found: &mut Found, ratio: Ratio) {
        if self.stops() {
            return;
        }
        let objective = &self.objective.weighted(ratio);
        if let Some(all) = self.remap.divider.all_at_once(self.level(objective), self.run()) {
            self.insert(found, all.blocks);
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
        let (level, divider) = (self.level(objective), &self.remap.divider);
        let best = divider.enumerated(level);
        let blocks = best.unwrap_or_else(|| divider.best(level, self.run())).blocks;
        self.insert(found, blocks.clone());
        blocks
    }

    /// Adds what becomes of all partitions by exchanges, if the graph is small enough for that.
    fn exchange(&self, found: &mut Found, ratio: Ratio) {
        let objective = &self.objective.weighted(ratio);
        let all: Vec<Vec<BlockId>> = found.points().iter().map(|point| point.result.clone()).collect();
        for (stream, blocks) in (0..).zip(all) {
            let (level, start) = (self.level(objective), self.assignment(objective, blocks));
            let Some(blocks) = self.remap.divider.exchanged(level, start, stream, self.run()) else { return };
            self.insert(found, blocks);
        }
    }

    /// Adds the partition in which every vertex is at home, fixed ones where they must be, if all homes still exist.
    fn stay(&self, found: &mut Found) {
        let homes = self.objective.homes().unwrap_or_default();
        if homes.iter().all(|&home| (home as usize) < self.limits.num_blocks) {
            self.insert(found, homes.to_vec());
        }
    }

    fn insert(&self, found: &mut Found, blocks: Vec<BlockId>) {
        let Remap { graph, remapping, observer, ref divider, .. } = *self.remap;
        let level = self.level(&self.objective);
        let (result, missed, violation) = divider.judged(level, (graph, blocks), observer);
        let cost = self.objective.cost_of_edges(self.graph, &result);
        let migration = remapping.homes.migration(graph, &result);
        found.insert(Point { missed, violation, cost, migration, result });
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

    fn level<'b>(&'b self, objective: &'b Migrating<'b>) -> Level<'b, W> {
        Problem { graph: self.graph, objective }
    }

    /// The seed and the observer of a run.
    fn run(&self) -> (u64, &dyn Observer) {
        (self.remap.seed, self.remap.observer)
    }

    fn assignment(&self, objective: &Migrating<'_>, blocks: Vec<BlockId>) -> Assignment {
        Assignment::new(Problem { graph: self.graph, objective }, blocks, self.limits.num_blocks)
    }
}
