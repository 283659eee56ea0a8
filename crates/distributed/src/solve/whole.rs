//! The coarsest graph is divided by the library for one machine. Each rank that makes an attempt has all of it.

use viem::base::rng::derive;
use viem::base::types::{BlockId, Weight};
use viem::graph::{CsrGraph, VertexWeights};
use viem::machine::{Blocks, Machine};
use viem::partition::remap::PreviousAssignment as WholePreviousAssignment;
use viem::partition::{
    FixedError, FixedVertices, MigrationWeight, Remapping, RemovedBlocks, Targets, TargetsError,
    block_weights,
};
use viem::solve::{LimitsByWeight, LoadLimits, Objective, PreparedMachine, Request, SeveralWeights};

use super::config::DistConfig;
use super::error::DivideError;
use super::goal::{Goal, Old};
use super::levels::Levels;
use super::run::Run;
use crate::comm::{Comm, Ranges, gather_words};
use crate::error::{DistError, agree};
use crate::gather::gather;
use crate::graph::DistGraph;
use crate::objective::{Places, PreviousAssignment};
use crate::refine::{Bounds, Quality};

/// A graph that a rank has as a whole, and the given blocks of its vertices.
pub(super) struct Whole {
    pub graph: CsrGraph,
    /// The weights of its vertices if these have several; then those of the graph are sizes.
    pub weights: Option<VertexWeights>,
    /// The previous blocks, as those of [`Places`], of all vertices.
    pub homes: Option<Vec<BlockId>>,
    /// See `homes`.
    pub fixed: Option<Vec<BlockId>>,
    /// The amount that migrates with each vertex; `None` if that is its weight.
    pub sizes: Option<Vec<Weight>>,
}

impl Whole {
    /// The amount that migrates: that of all vertices that leave their previous blocks.
    fn migration(&self, blocks: &[BlockId]) -> i128 {
        let Some(homes) = &self.homes else { return 0 };
        let sizes = self.sizes.as_deref().unwrap_or(self.graph.node_weights());
        let is_away = |&((home, block), _): &((&BlockId, &BlockId), &Weight)| {
            *home != PreviousAssignment::NONE && home != block
        };
        let away = homes.iter().zip(blocks).zip(sizes).filter(is_away);
        away.map(|(_, &size)| i128::from(size)).sum()
    }
}

impl<C: Comm> Run<'_, C> {
    /// The best division of the coarsest graph, for the own vertices of this rank, and what blocks may weigh.
    pub(super) fn divide_whole(&self, levels: &Levels) -> Result<(Vec<BlockId>, Bounds), DistError> {
        let whole = self.coarsest_whole(levels)?;
        let bounds = self.bounds(whole.as_ref())?;
        let ranges = levels.coarsest(self.graph).ranges();
        let DistConfig { attempts, seed, .. } = *self.config;
        let blocks = self.best_of(attempts, ranges, seed, |seed| {
            let whole = whole.as_ref().expect("a rank that makes an attempt has the graph");
            let blocks = self.attempt(whole, levels.contractions.is_empty(), seed)?;
            Ok((self.quality(whole, whole.migration(&blocks), &blocks, &bounds), blocks))
        })?;
        Ok((blocks, bounds))
    }

    /// The coarsest graph, on each rank that makes an attempt to divide it.
    pub(super) fn coarsest_whole(&self, levels: &Levels) -> Result<Option<Whole>, DistError> {
        self.whole(levels.coarsest(self.graph), levels.coarsest_places(), self.config.attempts)
    }

    /// A graph as a whole, on each of the first `receivers` ranks.
    pub(super) fn whole(
        &self,
        graph: &DistGraph,
        Places { homes, fixed, sizes }: &Places,
        receivers: usize,
    ) -> Result<Option<Whole>, DistError> {
        let all = |blocks: &Vec<BlockId>| {
            let own: Vec<u64> = blocks[..graph.num_own()].iter().map(|&block| u64::from(block)).collect();
            let all = gather_words(self.comm, &own, receivers);
            all.into_iter().map(|word| word as BlockId).collect()
        };
        let (homes, fixed) = (homes.as_ref().map(all), fixed.as_ref().map(all));
        let sizes = sizes.as_ref().map(|sizes| {
            let own: Vec<u64> = sizes.iter().map(|&size| size as u64).collect();
            gather_words(self.comm, &own, receivers).into_iter().map(|word| word as Weight).collect()
        });
        let num_weights = graph.num_weights();
        let weights = (num_weights > 1).then(|| {
            let own: Vec<u64> = graph.weights().iter().map(|&weight| weight as u64).collect();
            let all = gather_words(self.comm, &own, receivers);
            VertexWeights::new(num_weights, all.into_iter().map(|word| word as Weight).collect())
        });
        let weights = agree(self.comm, weights.transpose())?;
        let whole = gather(self.comm, graph, receivers)?;
        Ok(whole.map(|graph| Whole { graph, weights, homes, fixed, sizes }))
    }

    /// The best blocks of several attempts, which are dealt to the first ranks; the first of equally good ones. An attempt finds them for all
    /// vertices; each rank gets those of its own ones, of `ranges`.
    fn best_of(
        &self,
        attempts: usize,
        ranges: &Ranges,
        seed: u64,
        attempt: impl Fn(u64) -> Result<(Quality, Vec<BlockId>), DivideError>,
    ) -> Result<Vec<BlockId>, DistError> {
        let comm = self.comm;
        let mut best: Option<(Quality, usize, Vec<BlockId>)> = None;
        let mut failure = Ok(());
        for number in (comm.rank()..attempts).step_by(comm.size()) {
            match attempt(if number == 0 { seed } else { derive(seed, number as u64) }) {
                Ok((quality, blocks)) => {
                    if best.as_ref().is_none_or(|best| quality < best.0) {
                        best = Some((quality, number, blocks));
                    }
                }
                Err(error) => {
                    failure = Err(error);
                    break;
                }
            }
        }
        agree(comm, failure)?;
        let words = best.as_ref().map(|(quality, number, _)| {
            let cost = quality.cost as u128;
            let Quality { worst, overload, shortfall, empty, .. } = *quality;
            let [worst, overload, shortfall] = [worst, overload, shortfall].map(|missed| missed as u64);
            [worst, overload, shortfall, empty, (cost >> 64) as u64, cost as u64, *number as u64]
        });
        let all = comm.all_gather(words.as_ref().map_or(&[], |words| &words[..]));
        let first = all.words.as_chunks::<7>().0.iter().min().map_or(0, |words| words[6] as usize);
        let is_best = first % comm.size() == comm.rank();
        let words: Vec<u64> = match best {
            Some((.., blocks)) if is_best => blocks.into_iter().map(u64::from).collect(),
            _ => Vec::new(),
        };
        let count = |rank| if is_best { ranges.of(rank).len() } else { 0 };
        let counts: Vec<usize> = (0..comm.size()).map(count).collect();
        Ok(comm.all_to_all(&words, &counts).words.into_iter().map(|word| word as BlockId).collect())
    }

    /// The best of several searches from the same partition of a whole graph, its homes, or that partition; for own vertices of `ranges`. Ranks
    /// that make an attempt have the graph.
    pub(super) fn improved(
        &self,
        whole: Option<&Whole>,
        ranges: &Ranges,
        bounds: &Bounds,
        attempts: usize,
        seed: u64,
    ) -> Result<Vec<BlockId>, DistError> {
        let given = whole.map(|whole| {
            let start = whole.homes.as_deref().expect("each vertex is in a block");
            (whole, start, self.quality(whole, 0, start, bounds))
        });
        // Migration is to cost next to nothing: what counts is where the search starts.
        let slight = MigrationWeight::rounded(0.0);
        self.best_of(attempts, ranges, seed, |seed| {
            let (whole, start, before) = given.expect("a rank that makes an attempt has the graph");
            let homes = WholePreviousAssignment::new(start, self.num_blocks)?;
            let found = self.divided(whole, Some(Remapping::new(&homes, slight).alone()), seed)?;
            let quality = self.quality(whole, 0, &found, bounds);
            Ok(if quality < before { (quality, found) } else { (before, start.to_vec()) })
        })
    }

    /// A division of the coarsest graph by the library for one machine. Only where that is the finest one, too, can results for different
    /// weights of migration agree.
    fn attempt(&self, whole: &Whole, is_finest: bool, seed: u64) -> Result<Vec<BlockId>, DivideError> {
        let Whole { homes, sizes, .. } = whole;
        let new = self.num_blocks as BlockId;
        let known = |&home: &BlockId| if home == PreviousAssignment::NONE { new } else { home };
        let old = homes.as_ref().map(|homes| homes.iter().map(known).collect::<Vec<_>>());
        let old = old
            .map(|old| {
                let homes = WholePreviousAssignment::after(&old, RemovedBlocks(&[new]), self.num_blocks)?;
                match sizes {
                    None => Ok(homes),
                    Some(sizes) => homes.with_sizes(sizes.clone()),
                }
            })
            .transpose()?;
        let remapping = old.as_ref().zip(self.old).map(|(homes, Old { weight, .. })| {
            let remapping = Remapping::new(homes, weight);
            if is_finest { remapping } else { remapping.alone() }
        });
        self.divided(whole, remapping, seed)
    }

    /// A graph divided by the library for one machine, from where its vertices were if that is given.
    fn divided(
        &self,
        whole: &Whole,
        remapping: Option<Remapping<'_>>,
        seed: u64,
    ) -> Result<Vec<BlockId>, DivideError> {
        let fixed = whole.fixed.as_deref().map(|fixed| self.fixed_vertices(fixed)).transpose()?;
        let of_settings = self.limits_of_settings(whole)?;
        let limits = of_settings.as_ref().map(LoadLimits::from);
        let limits = limits.as_ref().map_or(self.limits, std::slice::from_ref);
        let balance = [self.config.balance().into()];
        let limits = if limits.is_empty() { &balance } else { limits };
        let several = whole.weights.as_ref().map(|weights| SeveralWeights::new(weights, limits));
        let several = several.transpose()?;
        let limits = several.as_ref().map_or(LimitsByWeight::One(limits[0]), LimitsByWeight::Several);
        self.on_machine(|machine| {
            let machine = PreparedMachine::new(machine);
            let request = Request::new(&whole.graph, &machine).balanced(limits).minimise(self.objective());
            let request = request.fixed(fixed.as_ref()).previous(remapping);
            Ok(request.solve(&self.config.attempt(seed))?.mapping.into_pes())
        })
    }

    /// The limits of blocks by one weight that follow from the settings, unless others are given.
    fn limits_of_settings(&self, whole: &Whole) -> Result<Option<Targets>, TargetsError> {
        match self.goal {
            Goal::Blocks(count) if self.limits.is_empty() && whole.weights.is_none() => {
                self.config.targets(&whole.graph, count).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn objective(&self) -> Objective {
        match self.goal {
            Goal::Blocks(_) => Objective::Cut,
            Goal::Pes(_) => Objective::J,
        }
    }

    /// Does some work with the machine; blocks are PEs whose distances are 1.
    fn on_machine<R>(
        &self,
        work: impl FnOnce(&dyn Machine) -> Result<R, DivideError>,
    ) -> Result<R, DivideError> {
        match self.goal {
            Goal::Blocks(count) => work(&Blocks::equal(count)?),
            Goal::Pes(machine) => work(machine),
        }
    }

    /// Returns the capacities of the blocks by a weight, as proportions.
    pub(super) fn capacities(&self, weight: usize) -> Vec<u32> {
        match (self.limits_of(weight), self.goal) {
            (Some(LoadLimits::Targets(targets)), _) => proportions(targets.block_sizes()),
            (Some(LoadLimits::Proportional { capacities: Some(capacities), .. }), _) => capacities.to_vec(),
            (_, Goal::Blocks(count)) => vec![1; count],
            (_, Goal::Pes(machine)) => machine.capacities(),
        }
    }

    /// Returns the bounds of the blocks, on each rank. The first has the whole graph.
    fn bounds(&self, whole: Option<&Whole>) -> Result<Bounds, DistError> {
        let (num_weights, num_blocks) = (self.graph.num_weights(), self.num_blocks);
        let bounds = |whole: &Whole| -> Result<Vec<Weight>, DivideError> {
            let by_weight = (0..num_weights).map(|weight| self.bounds_by(weight, whole));
            let by_weight = by_weight.collect::<Result<Vec<[Vec<Weight>; 2]>, _>>()?;
            Ok(by_weight.into_iter().flatten().flatten().collect())
        };
        let bounds = agree(self.comm, whole.map(bounds).transpose())?.unwrap_or_default();
        let mut words = bounds.into_iter().map(|bound| bound as u64).collect();
        self.comm.broadcast(0, &mut words);
        let bounds: Vec<Weight> = words.into_iter().map(|word| word as Weight).collect();
        let list = |number: usize| bounds[number * num_blocks..][..num_blocks].to_vec();
        let (most, least) = (0..num_weights).map(|weight| (list(2 * weight), list(2 * weight + 1))).unzip();
        let (most, least): (Vec<_>, Vec<_>) = (most, least);
        let closed = (0..num_blocks as BlockId).map(|block| self.is_closed(block)).collect();
        Ok(Bounds::by_weight(&most, &least, closed))
    }

    /// The upper bounds and the least loads of the blocks by a weight.
    fn bounds_by(&self, weight: usize, whole: &Whole) -> Result<[Vec<Weight>; 2], DivideError> {
        let filled = |mut least: Vec<Weight>| {
            least.resize(self.num_blocks, 0);
            least
        };
        if let Some(targets) = self.limits_of_settings(whole)? {
            return Ok([targets.bounds().to_vec(), filled(targets.least_loads().to_vec())]);
        }
        let alone = whole.weights.as_ref().map(|weights| weights.alone(weight));
        let graph = alone.as_ref().unwrap_or(&whole.graph);
        let limits = self.limits_of(weight).unwrap_or_else(|| self.config.balance().into());
        self.on_machine(|machine| {
            Ok([limits.bounds(graph, machine), filled(limits.least_loads(graph, machine)?)])
        })
    }

    /// Returns whether a block must stay empty: it has no capacity by any weight.
    fn is_closed(&self, block: BlockId) -> bool {
        let has_none = |weight: usize| match self.limits_of(weight) {
            Some(LoadLimits::Proportional { capacities: Some(capacities), .. }) => {
                capacities[block as usize] == 0
            }
            _ => false,
        };
        self.goal.is_closed(block) || (0..self.graph.num_weights()).all(has_none)
    }

    /// Returns the fixed vertices in the form of the library for one machine.
    fn fixed_vertices(&self, fixed: &[BlockId]) -> Result<FixedVertices, FixedError> {
        let block = |&block: &BlockId| Some(block).filter(|&block| block != Places::NONE);
        FixedVertices::new(&fixed.iter().map(block).collect::<Vec<_>>(), self.num_blocks)
    }

    /// The quality of a division of a whole graph, given what migrates, in the units of [`refine`](crate::refine).
    fn quality(&self, whole: &Whole, migration: i128, blocks: &[BlockId], bounds: &Bounds) -> Quality {
        let graph = &whole.graph;
        let loads = match &whole.weights {
            Some(weights) => weights.loads(blocks, self.num_blocks),
            None => block_weights(graph, blocks, self.num_blocks),
        };
        let (mut counts, mut cost) = (vec![0; self.num_blocks], 0);
        for node in graph.nodes() {
            let block = blocks[node as usize];
            counts[block as usize] += 1;
            let between = |to: u32| self.distances.between(block, blocks[to as usize]);
            cost += graph.arcs(node).map(|(to, weight)| i128::from(weight * between(to))).sum::<i128>();
        }
        let (penalty, scale) = self.penalty();
        bounds.quality(&loads, &counts, cost * i128::from(scale) + 2 * migration * i128::from(penalty))
    }
}

/// The sizes of blocks as numbers of 32 bits in about the same proportions.
fn proportions(sizes: &[Weight]) -> Vec<u32> {
    let greatest = sizes.iter().copied().max().unwrap_or(0) as u64;
    let shift = (u64::BITS - greatest.leading_zeros()).saturating_sub(u32::BITS);
    sizes.iter().map(|&size| ((size as u64 >> shift) as u32).max(u32::from(size > 0))).collect()
}
