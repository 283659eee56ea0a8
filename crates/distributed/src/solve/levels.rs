//! Coarser and coarser graphs.

use viem::base::rng::derive;
use viem::base::types::{BlockId, Weight};

use super::run::{CLUSTERS, Run};
use crate::cluster::cluster;
use crate::comm::{Comm, Outbox};
use crate::contract::{Contraction, contract};
use crate::error::DistError;
use crate::graph::DistGraph;
use crate::objective::Places;

/// A level that keeps a greater part of its vertices is the last.
const LEAST_SHRINKAGE: f64 = 0.95;

/// A graph and coarser and coarser ones. Level 0 is the graph itself.
pub(super) struct Levels {
    /// The contraction from each level to the next.
    pub contractions: Vec<Contraction>,
    /// The places of the local vertices of each level.
    pub places: Vec<Places>,
}

impl Levels {
    /// The graph of a level.
    pub fn graph<'g>(&'g self, finest: &'g DistGraph, level: usize) -> &'g DistGraph {
        level.checked_sub(1).map_or(finest, |below| &self.contractions[below].coarse)
    }

    /// The graph of the last level.
    pub fn coarsest<'g>(&'g self, finest: &'g DistGraph) -> &'g DistGraph {
        self.graph(finest, self.contractions.len())
    }

    /// The places of its local vertices.
    pub fn coarsest_places(&self) -> &Places {
        &self.places[self.contractions.len()]
    }
}

impl<C: Comm> Run<'_, C> {
    /// Coarser and coarser graphs. `places` are those of the local vertices of the whole graph.
    pub(super) fn coarsen(&self, places: Places, seed: u64) -> Result<Levels, DistError> {
        let Self { comm, config, .. } = *self;
        let mut contractions: Vec<Contraction> = Vec::new();
        let mut places = vec![places];
        let target = config.coarsest.max(config.coarsest_per_block.saturating_mul(self.num_blocks));
        loop {
            let level = contractions.len();
            let graph = contractions.last().map_or(self.graph, |last| &last.coarse);
            let count = graph.ranges().total() as usize;
            if count <= target || self.is_better_whole(graph, &places[level]) {
                break;
            }
            let mean = self.total as f64 / count as f64;
            let most = (config.growth * mean).min(self.total as f64 / target as f64).ceil() as Weight;
            let seed = derive(derive(seed, CLUSTERS), level as u64);
            let labels = cluster(comm, graph, &places[level], most, &config.cluster, seed);
            let contraction = contract(comm, graph, &labels)?;
            if f64::from(contraction.coarse.ranges().total()) > LEAST_SHRINKAGE * count as f64 {
                break;
            }
            let coarse = |finer: &Vec<BlockId>| coarse_blocks(comm, &contraction, finer);
            let Places { homes, fixed, sizes } = &places[level];
            places.push(Places {
                homes: homes.as_ref().map(coarse),
                fixed: fixed.as_ref().map(coarse),
                sizes: sizes.as_ref().map(|finer| coarse_sizes(comm, &contraction, finer)),
            });
            contractions.push(contraction);
        }
        Ok(Levels { contractions, places })
    }

    /// The places of the local vertices of the whole graph.
    pub(super) fn places(&self) -> Places {
        let local = |own: &[BlockId]| {
            let mut blocks = own.to_vec();
            blocks.resize(self.graph.num_local(), 0);
            self.graph.update(self.comm, &mut blocks);
            blocks
        };
        Places {
            homes: self.old.map(|old| local(old.blocks)),
            fixed: self.fixed.as_deref().map(local),
            sizes: self.sizes.as_deref().map(<[Weight]>::to_vec),
        }
    }
}

/// The amount that migrates with each own vertex of a coarse graph: the sum over its vertices of the finer one.
fn coarse_sizes(comm: &impl Comm, contraction: &Contraction, finer: &[Weight]) -> Vec<Weight> {
    let Contraction { coarse, coarse_of } = contraction;
    let own = coarse.ranges().own();
    let mut sizes = vec![0; coarse.num_own()];
    let mut outbox = Outbox::default();
    for (&vertex, &size) in coarse_of.iter().zip(finer) {
        match own.contains(&vertex) {
            true => sizes[(vertex - own.start) as usize] += size,
            false => outbox.push(coarse.ranges().owner(vertex), [u64::from(vertex), size as u64]),
        }
    }
    for &[vertex, size] in outbox.send(comm).records() {
        sizes[(vertex as u32 - own.start) as usize] += size as Weight;
    }
    sizes
}

/// The blocks of the local vertices of a coarse graph. Those of a cluster that are in a block are in the same; if none is, neither is the cluster.
pub(super) fn coarse_blocks(comm: &impl Comm, contraction: &Contraction, finer: &[BlockId]) -> Vec<BlockId> {
    let Contraction { coarse, coarse_of } = contraction;
    let own = coarse.ranges().own();
    let mut blocks = vec![Places::NONE; coarse.num_local()];
    let mut outbox = Outbox::default();
    for (&vertex, &block) in coarse_of.iter().zip(finer).filter(|(_, block)| **block != Places::NONE) {
        match own.contains(&vertex) {
            true => blocks[(vertex - own.start) as usize] = block,
            false => outbox.push(coarse.ranges().owner(vertex), [u64::from(vertex), u64::from(block)]),
        }
    }
    for &[vertex, block] in outbox.send(comm).records() {
        blocks[(vertex as u32 - own.start) as usize] = block as BlockId;
    }
    coarse.update(comm, &mut blocks);
    blocks
}
