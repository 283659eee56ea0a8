//! The coarsest graph, which each rank has as a whole, is divided by the library for one machine.

use viem::graph::CsrGraph;
use viem::ground::rng::derive;
use viem::ground::threads;
use viem::ground::types::{BlockId, Weight};
use viem::mapping::solve::{Given, load_bounds, map_many_to_one_watched, remap_many_to_one_around};
use viem::partition::remap::Homes as WholeHomes;
use viem::partition::{
    BoundViolation, FixedError, FixedVertices, MigrationWeight, Partitioner, Remapping, Targets,
};

use super::levels::Levels;
use super::{DistConfig, DivideError, Goal, Run};
use crate::comm::Comm;
use crate::error::{DistError, agree};
use crate::gather::gather;
use crate::graph::DistGraph;
use crate::objective::{Homes, Places};
use crate::refine::Quality;

/// A level that each rank has as a whole.
pub(super) struct Whole {
    pub graph: CsrGraph,
    /// As those of [`Places`], of all vertices.
    pub homes: Option<Vec<BlockId>>,
    /// See `homes`.
    pub fixed: Option<Vec<BlockId>>,
}

impl<C: Comm> Run<'_, C> {
    /// The best division of the coarsest graph, for the own vertices of this rank, and what blocks may weigh.
    pub(super) fn divide_whole(&self, levels: &Levels) -> Result<(Vec<BlockId>, Vec<Weight>), DistError> {
        let Self { comm, config, .. } = *self;
        let Whole { graph: whole, homes, fixed } = self.coarsest_whole(levels)?;
        let bounds = agree(comm, self.bounds(&whole))?;
        let homes = homes.as_deref();
        let blocks = self.best_of(config.attempts, config.seed, |seed| {
            let blocks = self.attempt(&whole, homes, fixed.as_deref(), seed)?;
            Ok((self.quality(&whole, homes, &blocks, &bounds), blocks))
        })?;
        Ok((own_of(levels.coarsest(self.graph), &blocks), bounds))
    }

    /// The coarsest graph, on each rank.
    pub(super) fn coarsest_whole(&self, levels: &Levels) -> Result<Whole, DistError> {
        let graph = levels.coarsest(self.graph);
        let all = |blocks: &Vec<BlockId>| self.whole(graph, blocks);
        let Places { homes, fixed } = levels.coarsest_places();
        let (homes, fixed) = (homes.as_ref().map(all), fixed.as_ref().map(all));
        Ok(Whole { graph: gather(self.comm, graph)?, homes, fixed })
    }

    /// The best blocks of several attempts, which are dealt to the ranks; the first of equally good ones.
    pub(super) fn best_of(
        &self,
        attempts: usize,
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
            [quality.overload as u64, (cost >> 64) as u64, cost as u64, *number as u64]
        });
        let all = comm.all_gather(words.as_ref().map_or(&[], |words| &words[..]));
        let first = all.words.as_chunks::<4>().0.iter().min().map_or(0, |words| words[3] as usize);
        let root = first % comm.size();
        let mut words: Vec<u64> = match best {
            Some((.., blocks)) if root == comm.rank() => blocks.into_iter().map(u64::from).collect(),
            _ => Vec::new(),
        };
        comm.broadcast(root, &mut words);
        Ok(words.into_iter().map(|word| word as BlockId).collect())
    }

    /// The best of several searches from the same partition of a whole graph, or that partition.
    pub(super) fn improved(
        &self,
        (whole, start): (&CsrGraph, &[BlockId]),
        fixed: Option<&[BlockId]>,
        bounds: &[Weight],
        attempts: usize,
        seed: u64,
    ) -> Result<Vec<BlockId>, DistError> {
        let before = self.quality(whole, None, start, bounds);
        // Migration is to cost next to nothing: what counts is where the search starts.
        let slight = MigrationWeight::rounded(0.0);
        self.best_of(attempts, seed, |seed| {
            let homes = WholeHomes::new(start, &[], self.num_blocks)?;
            let found = self.divided(whole, Some((homes, slight)), fixed, seed)?;
            let quality = self.quality(whole, None, &found, bounds);
            Ok(if quality < before { (quality, found) } else { (before, start.to_vec()) })
        })
    }

    /// A division of the coarsest graph by the library for one machine.
    fn attempt(
        &self,
        whole: &CsrGraph,
        homes: Option<&[BlockId]>,
        fixed: Option<&[BlockId]>,
        seed: u64,
    ) -> Result<Vec<BlockId>, DivideError> {
        let new = self.num_blocks as BlockId;
        let known = |&home: &BlockId| if home == Homes::NONE { new } else { home };
        let old = homes.map(|homes| homes.iter().map(known).collect::<Vec<_>>());
        let old = old.map(|old| WholeHomes::new(&old, &[new], self.num_blocks)).transpose()?;
        let old = old.zip(self.old.map(|old| old.weight));
        self.divided(whole, old, fixed, seed)
    }

    /// A graph divided by the library for one machine, from where its vertices were if that is given.
    pub(super) fn divided(
        &self,
        whole: &CsrGraph,
        old: Option<(WholeHomes, MigrationWeight)>,
        fixed: Option<&[BlockId]>,
        seed: u64,
    ) -> Result<Vec<BlockId>, DivideError> {
        let DistConfig { threads, imbalance, preset, .. } = *self.config;
        let fixed = fixed.map(|fixed| self.fixed_vertices(fixed)).transpose()?;
        match self.goal {
            Goal::Blocks(count) => {
                let mut targets = Targets::equal(whole, count, imbalance)?;
                if let Some(fixed) = fixed {
                    targets = targets.with_fixed(whole, fixed)?;
                }
                let partitioner = Partitioner::new(preset.into(), seed);
                threads::run(threads, || match &old {
                    None => Ok(partitioner.partition(whole, &targets).into_blocks()),
                    Some((homes, weight)) => {
                        Ok(partitioner.remap(whole, &targets, homes, *weight)?.partition.into_blocks())
                    }
                })?
            }
            Goal::Pes(machine) => {
                let config = self.config.many_to_one(seed);
                let solution = match &old {
                    None => {
                        let given = Given::default().with_fixed(fixed.as_ref());
                        map_many_to_one_watched(whole, machine, &config, given, &())?
                    }
                    Some((homes, weight)) => {
                        let remapping = Remapping::new(homes, *weight);
                        remap_many_to_one_around(whole, machine, &config, remapping, fixed.as_ref(), &())?
                    }
                };
                Ok(solution.mapping.pes().to_vec())
            }
        }
    }

    fn bounds(&self, whole: &CsrGraph) -> Result<Vec<Weight>, DivideError> {
        Ok(match self.goal {
            Goal::Blocks(count) => Targets::equal(whole, count, self.config.imbalance)?.bounds().to_vec(),
            Goal::Pes(machine) => load_bounds(whole, machine, self.config.imbalance),
        })
    }

    /// What the library for one machine takes for fixed vertices.
    fn fixed_vertices(&self, fixed: &[BlockId]) -> Result<FixedVertices, FixedError> {
        let block = |&block: &BlockId| Some(block).filter(|&block| block != Places::NONE);
        FixedVertices::new(&fixed.iter().map(block).collect::<Vec<_>>(), self.num_blocks)
    }

    /// The quality of a division of a whole graph, in the units of [`refine`].
    pub(super) fn quality(
        &self,
        whole: &CsrGraph,
        homes: Option<&[BlockId]>,
        blocks: &[BlockId],
        bounds: &[Weight],
    ) -> Quality {
        let mut loads = vec![0; bounds.len()];
        let (mut cost, mut migration) = (0, 0);
        for node in whole.nodes() {
            let block = blocks[node as usize];
            loads[block as usize] += whole.node_weight(node);
            let between = |to: u32| self.distances.between(block, blocks[to as usize]);
            cost += whole.arcs(node).map(|(to, weight)| i128::from(weight * between(to))).sum::<i128>();
            let home = homes.map_or(Homes::NONE, |homes| homes[node as usize]);
            let is_away = home != Homes::NONE && home != block;
            migration += i128::from(is_away) * i128::from(whole.node_weight(node));
        }
        let (penalty, scale) = self.penalty();
        let overload = BoundViolation::of(&loads, bounds, &[]).overload;
        Quality { overload, cost: cost * i128::from(scale) + 2 * migration * i128::from(penalty) }
    }

    /// The entries of all vertices, of those of local ones.
    pub(super) fn whole(&self, graph: &DistGraph, values: &[BlockId]) -> Vec<BlockId> {
        let own: Vec<u64> = values[..graph.num_own()].iter().map(|&value| u64::from(value)).collect();
        self.comm.all_gather(&own).words.into_iter().map(|word| word as BlockId).collect()
    }
}

/// The entries of own vertices, of those of all.
pub(super) fn own_of(graph: &DistGraph, values: &[BlockId]) -> Vec<BlockId> {
    let own = graph.ranges().own();
    values[own.start as usize..own.end as usize].to_vec()
}
