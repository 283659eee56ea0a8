//! The search for the best mapping of a graph, from scratch or from a start.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::config::{ManyToOneConfig, SmallProblemConfig};
use super::layout::block_of_each_pe;
use crate::base::observer::{Limited, Observer, Phase};
use crate::base::threads;
use crate::base::types::{BlockId, Cost, PeId, Weight};
use crate::graph::adjacency::maximum_adjacency_order;
use crate::graph::stencil::Stencil;
use crate::graph::{CsrGraph, quotient};
use crate::machine::{Capacities, Machine};
use crate::mapping::Mapping;
use crate::mapping::construct::ByGrid;
use crate::mapping::problem::Problem;
use crate::partition::{
    BlockPlacement, BoundViolation, FixedVertices, Layout, ManyToOnePartition, ManyToOnePartitionConfig,
    ManyToOnePartitioner, OrderIndex, Partition, PartitionPreset, Partitioner, Targets, cost,
};
use crate::solve::balance::places_of_shares;
use crate::solve::error::SolveError;
use crate::solve::one_to_one::{Given, OneToOneConfig, Task};
use crate::solve::prepared::PreparedMachine;
use crate::solve::preset::MapPreset;
use crate::solve::report::Solution;

/// Records whether a mapping was complete before the time limit, so that only further mappings were computed
/// until then.
pub(super) struct Watched<'a> {
    pub limited: &'a Limited<'a>,
    goes_on: AtomicBool,
}

impl<'a> Watched<'a> {
    pub fn new(limited: &'a Limited<'a>) -> Self {
        Self { limited, goes_on: AtomicBool::new(false) }
    }

    pub fn was_complete(self) -> bool {
        self.goes_on.into_inner()
    }
}

impl Observer for Watched<'_> {
    fn should_stop(&self) -> bool {
        self.limited.should_stop()
    }

    fn begins(&self, phase: Phase) {
        self.goes_on.fetch_or(phase == Phase::Search, Ordering::Relaxed);
        self.limited.observer.begins(phase);
    }

    fn reached(&self, cost: Cost) {
        self.limited.reached(cost);
    }
}

/// The problem in blocks. Block i is the i-th PE of `order`.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub graph: &'a CsrGraph,
    pub machine: &'a dyn Machine,
    pub order: &'a [PeId],
    pub targets: &'a Targets,
    pub layout: Layout<'a>,
    /// Set if the partitioner may move whole blocks to other places.
    pub may_place: bool,
    pub config: &'a ManyToOneConfig,
    pub seed: u64,
    /// The allowed excess of a load over its share, if it is the same for all PEs.
    pub imbalance: Option<f64>,
    /// Set if further mappings are made and combined until the time limit.
    pub goes_on: bool,
    /// Vertices that must be on given PEs.
    pub fixed: Option<&'a FixedVertices>,
    pub watched: &'a Watched<'a>,
}

/// A mapping whose vertices were exchanged if the problem is small.
pub(super) struct Exchanged {
    pub best: ManyToOnePartition,
    /// Set if exchanges have clearly lowered J.
    has_paid: bool,
}

/// Mappings that the result must not be worse than.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// The mapping that was given as a start.
    pub start: Option<&'a [BlockId]>,
    /// Equal strips of the numbering.
    pub strips: Option<&'a [BlockId]>,
    /// The best cuts of a grid. They are improved, like the start.
    pub cuts: Option<&'a [BlockId]>,
}

/// About how many vertices and arcs are looked at for cuts of a grid, and most that it may have. Balances better cuts against time: some hundredths of a
/// second. The same for all presets, so that none is worse than a quicker one.
const MOST_CUT: usize = 1 << 20;

/// Slower exchanges follow where those of the quickest search lower J by one in this many. Balances J, which exchanges lower much where bounds are tight,
/// against their time where a partition fits the bounds and they find little.
const CLEAR_GAIN: Cost = 256;

/// A further start may be worse than a quick mapping by one in this many of J. Balances the starts that improvement still brings ahead against the time
/// for all others, which is most of that of a small mesh.
const HARDLY_WORSE: Cost = 16;

/// Below this mean number of vertices for each PE, further starts are improved whatever their J: what shares a PE decides, and moves hardly change that.
const FEW_EACH: usize = 4;

/// Each partition of a pool is placed, with the quickest preset.
impl BlockPlacement for Search<'_> {
    fn place(&self, quotient: &CsrGraph, seed: u64) -> Vec<BlockId> {
        self.placed(quotient, MapPreset::Fast, seed)
    }
}

impl Search<'_> {
    /// The best mapping of several ways, not worse than those known. The vertices of a small problem are exchanged at the end.
    pub(super) fn best(&self, known: Known<'_>) -> Result<Exchanged, SolveError> {
        let of_preset = |preset| self.of_preset(preset, known);
        let rival = self.config.not_worse_than.map(of_preset).transpose()?;
        let has_paid = rival.as_ref().is_some_and(|rival| rival.has_paid);
        let best = self.partitioned(known, rival.map(|rival| rival.best))?;
        let may_exchange = |small: &SmallProblemConfig| self.graph.num_arcs() <= small.most_arcs;
        match self.small().filter(may_exchange) {
            Some(small) => self.exchanged(Exchanged { best, has_paid }, small.exchange),
            None => Ok(Exchanged { best, has_paid }),
        }
    }

    /// The mapping after exchanges of vertices: by the quickest search, and then by that of a preset where these pay.
    fn exchanged(&self, given: Exchanged, preset: MapPreset) -> Result<Exchanged, SolveError> {
        let Exchanged { mut best, mut has_paid } = given;
        if !has_paid && let Some(quick) = self.exchanged_by(&best, MapPreset::Fast)? {
            has_paid = quick.cost <= best.cost - best.cost / CLEAR_GAIN;
            best = quick;
        }
        let slow = if has_paid { self.exchanged_by(&best, preset)? } else { None };
        Ok(Exchanged { best: slow.unwrap_or(best), has_paid })
    }

    /// The best partition of several ways, not worse than those known and the mapping of a quicker preset.
    fn partitioned(
        &self,
        known: Known<'_>,
        rival: Option<ManyToOnePartition>,
    ) -> Result<ManyToOnePartition, SolveError> {
        let config = self.config;
        let mut starts: Vec<Vec<BlockId>> =
            known.start.into_iter().chain(known.cuts).map(<[BlockId]>::to_vec).collect();
        if let Some(small) = self.small() {
            starts.extend(rival.iter().map(|rival| rival.partition.blocks().to_vec()));
            starts.extend(self.further(small, rival.as_ref().map(score))?);
        }
        let partitioner = ManyToOnePartitioner::new(config.settings, self.seed)?;
        let layout = if self.may_place { self.layout.with_place(self) } else { self.layout };
        let own =
            partitioner.partition(self.graph, self.targets, layout, &starts, self.goes_on, self.watched);
        let strips = known.strips.map(|strips| self.measured(strips.to_vec()));
        let strips = strips.filter(|strips| strips.partition.num_empty() <= own.partition.num_empty());
        let found = rival.into_iter().chain([own]).chain(strips);
        Ok(found.min_by_key(score).expect("there is one"))
    }

    /// The further steps, if the problem is small.
    fn small(&self) -> Option<SmallProblemConfig> {
        self.config.small.filter(|small| self.num_places() <= small.most_places as Weight)
    }

    /// Further starts for a small problem. If PEs have more than a few vertices, only those are improved that are hardly worse than a quick mapping of this
    /// score, and a partition that is then mapped is tried with little effort first.
    fn further(
        &self,
        small: SmallProblemConfig,
        quick: Option<Score>,
    ) -> Result<Vec<Vec<BlockId>>, SolveError> {
        let quick = quick.filter(|_| self.graph.num_nodes() >= FEW_EACH * self.order.len());
        let is_promising = |start: &Vec<BlockId>| {
            let hardly_worse = |(violation, num_empty, cost): Score| {
                score(&self.measured(start.clone()))
                    <= (violation, num_empty, cost.saturating_add(cost / HARDLY_WORSE))
            };
            quick.is_none_or(hardly_worse)
        };
        let in_two_steps = || {
            let is_promising = quick.is_none() || is_promising(&self.in_two_steps(PartitionPreset::Fast));
            is_promising.then(|| self.in_two_steps(small.two_steps))
        };
        let (two_steps, by_closeness) = threads::join(in_two_steps, || self.by_closeness());
        let others = by_closeness?.into_iter().chain(self.by_adjacency());
        Ok(two_steps.into_iter().chain(others.filter(is_promising)).collect())
    }

    /// Equal strips of the numbering: the vertices in order on the PEs in order.
    pub(super) fn strips(&self) -> Option<Vec<BlockId>> {
        if self.fixed.is_some() {
            return None;
        }
        let block_of = block_of_each_pe(self.order);
        let sizes = self.targets.block_sizes();
        let sizes = block_of.iter().map(|&block| sizes[block as usize]).collect();
        let in_order = Targets::sizes(self.graph, sizes, 0.0).ok()?.in_order(self.graph);
        Some(in_order.into_iter().map(|pe| block_of[pe as usize]).collect())
    }

    /// Cuts of a grid into the shares of the PEs, unless vertices are fixed.
    pub(super) fn cuts(&self) -> Option<Vec<BlockId>> {
        let Self { graph, order, .. } = *self;
        if self.fixed.is_some() || graph.num_nodes() + graph.num_arcs() > MOST_CUT {
            return None;
        }
        Stencil::of(graph)?;
        let block_of = block_of_each_pe(order);
        let sizes = self.targets.block_sizes();
        let shares: Vec<Weight> = block_of.iter().map(|&block| sizes[block as usize]).collect();
        let places = places_of_shares(graph, self.machine, &shares)?;
        let problem = Problem::new(graph, places.distances()).ok()?;
        let by_grid = ByGrid { places: &places, effort: MOST_CUT, observer: self.watched };
        let (_, mapping) = by_grid.construct(&problem)?;
        let pes = mapping.pes().iter().map(|&place| places.pe_of()[place as usize]);
        Some(pes.map(|pe| block_of[pe as usize]).collect())
    }

    /// Ranges of the maximum adjacency order on the parts in order, unless vertices are fixed.
    fn by_adjacency(&self) -> Option<Vec<BlockId>> {
        if self.fixed.is_some() {
            return None;
        }
        let index = OrderIndex::of_order(&maximum_adjacency_order(self.graph))?;
        Some(index.cut(self.graph.node_weights(), self.targets))
    }

    /// The mapping, or the start if that is better, once what lies apart from its PE has joined another one.
    pub(super) fn connected(
        &self,
        found: ManyToOnePartition,
        start: Option<&[BlockId]>,
    ) -> ManyToOnePartition {
        let Self { graph, targets, layout, watched, .. } = *self;
        let start = start.map(|start| self.measured(start.to_vec()));
        // A time limit ends the search; that blocks are connected is a constraint.
        let observer = watched.limited.observer;
        let ways = [found].into_iter().chain(start);
        let ways = ways.map(|way| way.connected(graph, targets, layout.distances, observer));
        ways.min_by_key(|way| way.score_of_connected(graph)).expect("there is one")
    }

    fn measured(&self, blocks: Vec<BlockId>) -> ManyToOnePartition {
        let cost = cost(self.graph, self.layout.distances, &blocks);
        ManyToOnePartition { partition: Partition::of(self.graph, blocks, self.targets), cost }
    }

    /// The mapping of a preset.
    fn of_preset(&self, preset: MapPreset, known: Known<'_>) -> Result<Exchanged, SolveError> {
        Search { config: &ManyToOneConfig::preset(preset), goes_on: false, ..*self }.best(known)
    }

    /// The number of vertices of weight 1 that all PEs have room for.
    fn num_places(&self) -> Weight {
        self.targets.bounds().iter().fold(0, |sum, &bound| sum.saturating_add(bound))
    }

    /// A partition of small cut whose blocks are then mapped to the PEs, if these have equal capacities.
    fn in_two_steps(&self, preset: PartitionPreset) -> Vec<BlockId> {
        let partitioner = Partitioner::new(preset, self.seed).basic().observed(self.watched);
        let (bounds, least) = (self.targets.bounds(), self.targets.least_loads());
        let may_change_places = bounds.iter().all(|&bound| bound == bounds[0])
            && least.iter().all(|&least_load| least_load == least[0]);
        // Blocks that will change places need not have the shares of the PEs in their order.
        let equal =
            self.imbalance.and_then(|imbalance| Targets::equal(self.graph, bounds.len(), imbalance).ok());
        let equal = match least {
            [] => equal,
            least => equal.and_then(|equal| equal.with_least_loads(least.to_vec()).ok()),
        };
        let equal =
            equal.filter(|equal| may_change_places && equal.bounds() == bounds && self.fixed.is_none());
        let targets = equal.as_ref().unwrap_or(self.targets);
        let mut blocks = partitioner.partition(self.graph, targets).into_blocks();
        if may_change_places {
            let quotient = quotient::contract(self.graph, &blocks, bounds.len());
            let becomes = self.placed(&quotient, preset.into(), self.seed);
            blocks.iter_mut().for_each(|block| *block = becomes[*block as usize]);
        }
        blocks
    }

    /// A mapping of the graph with edges that weigh more inside of dense regions, if its J is known to fit. Coarsening contracts the
    /// heaviest edges first, and misses regions of many light ones.
    fn by_closeness(&self) -> Result<Option<Vec<BlockId>>, SolveError> {
        let greatest = self.layout.distances.greatest().max(1);
        let bound = Cost::MAX / 2 / greatest;
        if bound < 2 * self.graph.num_arcs() as Cost {
            return Ok(None);
        }
        let graph = &self.graph.with_weights_by_closeness(bound, self.seed);
        let partitioner = ManyToOnePartitioner::new(ManyToOnePartitionConfig::fast(), self.seed)?;
        let silent = self.silent();
        let watched = Watched::new(&silent);
        let found = partitioner.partition(graph, self.targets, self.layout, &[], false, &watched);
        Ok(Some(found.partition.into_blocks()))
    }

    /// Maps whole blocks one-to-one, starting from the order of the parts. Changes nothing if that is impossible.
    /// Blocks with fixed vertices keep their places.
    fn placed(&self, quotient: &CsrGraph, preset: MapPreset, seed: u64) -> Vec<BlockId> {
        let order = self.order;
        let as_it_is = (0..order.len() as BlockId).collect();
        // A block takes a whole PE, whatever that has room for.
        let Ok(machine) = Capacities::new(self.machine, vec![1; order.len()]) else { return as_it_is };
        let fixed = self.targets.fixed().map(|fixed| {
            let mut own = vec![None; order.len()];
            fixed.iter().for_each(|(_, block)| own[block as usize] = Some(order[block as usize]));
            FixedVertices::known(own.into_iter(), order.len())
        });
        let start = Mapping::from_permutation(order.to_vec());
        let config = OneToOneConfig::preset(preset);
        // On few places, the dense search of the quickest preset needs no construction.
        let is_start_enough =
            preset == MapPreset::Fast && config.improvement.small_instance.is_few(order.len());
        let given =
            Given { start: Some(&start), initial: is_start_enough.then_some(&start), fixed: fixed.as_ref() };
        match self.one_to_one((quotient, &machine), given, (preset, seed)) {
            Ok(solution) => {
                let block_of = block_of_each_pe(order);
                solution.mapping.pes().iter().map(|&pe| block_of[pe as usize]).collect()
            }
            Err(_) => as_it_is,
        }
    }

    /// Vertices of weight 1 mapped one-to-one to the places of the PEs, which the search may exchange; nothing if that is not better.
    fn exchanged_by(
        &self,
        best: &ManyToOnePartition,
        preset: MapPreset,
    ) -> Result<Option<ManyToOnePartition>, SolveError> {
        if self.watched.should_stop() {
            return Ok(None);
        }
        let has_least = !self.targets.least_loads().is_empty();
        if !has_least {
            let found = self.exchanged_in(self.targets.bounds(), best, preset)?;
            let is_kept = found.as_ref().is_none_or(|found| score(found) < score(best));
            if is_kept {
                return Ok(found);
            }
        }
        // No PE falls below its least load, or becomes empty, if all loads stay as they are.
        self.exchanged_in(best.partition.block_weights(), best, preset)
    }

    /// The best mapping to PEs with this many places each, if its J is lower.
    fn exchanged_in(
        &self,
        places: &[Weight],
        best: &ManyToOnePartition,
        preset: MapPreset,
    ) -> Result<Option<ManyToOnePartition>, SolveError> {
        let Self { graph, machine, order, .. } = *self;
        let is_unit = graph.node_weights().iter().all(|&weight| weight == 1);
        let mut room = vec![0; order.len()];
        for (&pe, &places) in order.iter().zip(places) {
            room[pe as usize] = places as u32;
        }
        if !is_unit || best.cost == 0 || best.partition.overload() > 0 || room.contains(&0) {
            return Ok(None);
        }
        let pe_of = best.partition.blocks().iter().map(|&block| order[block as usize]).collect();
        let initial = Mapping::many(order.len(), pe_of)?;
        let given = Given { start: None, initial: Some(&initial), fixed: self.fixed };
        let places = Capacities::new(machine, room)?;
        let solution = self.one_to_one((graph, &places), given, (preset, self.seed))?;
        if solution.report.cost >= best.cost {
            return Ok(None);
        }
        let block_of = block_of_each_pe(order);
        let blocks = solution.mapping.pes().iter().map(|&pe| block_of[pe as usize]).collect();
        Ok(Some(self.measured(blocks)))
    }

    /// A one-to-one mapping that is a part of this run.
    fn one_to_one(
        &self,
        (graph, machine): (&CsrGraph, &dyn Machine),
        given: Given<'_>,
        (preset, seed): (MapPreset, u64),
    ) -> Result<Solution, SolveError> {
        let task = Task {
            graph,
            machine: &PreparedMachine::new(machine),
            config: &OneToOneConfig::preset(preset),
            seed,
            given,
            begin: Instant::now(),
            time_limit: None,
            observer: &self.silent(),
        };
        task.solve()
    }

    /// Ends the runs on parts of the problem; the values that they report are not J of the graph.
    fn silent(&self) -> Limited<'_> {
        Limited { observer: self.watched.limited, deadline: None, bound: Cost::MIN }
    }
}

/// What mappings are compared by: the bounds first, then the number of PEs without vertices, then J.
type Score = (BoundViolation, usize, Cost);

/// The score of a mapping.
pub(super) fn score(found: &ManyToOnePartition) -> Score {
    (found.partition.violation(), found.partition.num_empty(), found.cost)
}
