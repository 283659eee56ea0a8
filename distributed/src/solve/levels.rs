//! Coarser and coarser graphs.

use viem::ground::rng::derive;
use viem::ground::types::{BlockId, Weight};

use super::{CLUSTERS, Old, Run};
use crate::cluster::cluster;
use crate::comm::{Comm, Letters};
use crate::contract::{Contraction, contract};
use crate::error::DistError;
use crate::objective::Homes;

/// A level that keeps a greater part of its vertices is the last.
const LEAST_SHRINKAGE: f64 = 0.95;

impl<C: Comm> Run<'_, C> {
    /// Coarser and coarser graphs, and the homes of the local vertices of each, the first graph included, if vertices were anywhere.
    pub(super) fn coarsen(&self) -> Result<(Vec<Contraction>, Vec<Vec<BlockId>>), DistError> {
        let Self { comm, config, .. } = *self;
        let mut contractions: Vec<Contraction> = Vec::new();
        let mut homes: Vec<Vec<BlockId>> = Vec::new();
        if let Some(Old { blocks, .. }) = self.old {
            let mut blocks = blocks.to_vec();
            blocks.resize(self.graph.num_local(), 0);
            self.graph.update(comm, &mut blocks);
            homes.push(blocks);
        }
        let target = config.coarsest.max(config.coarsest_per_block.saturating_mul(self.num_blocks));
        loop {
            let level = contractions.len();
            let graph = contractions.last().map_or(self.graph, |last| &last.coarse);
            let count = graph.ranges().total() as usize;
            if count <= target {
                break;
            }
            let mean = self.total as f64 / count as f64;
            let most = (config.growth * mean).min(self.total as f64 / target as f64).ceil() as Weight;
            let seed = derive(derive(config.seed, CLUSTERS), level as u64);
            let labels = cluster(comm, graph, homes.last().map(Vec::as_slice), most, &config.cluster, seed);
            let contraction = contract(comm, graph, &labels)?;
            if f64::from(contraction.coarse.ranges().total()) > LEAST_SHRINKAGE * count as f64 {
                break;
            }
            if let Some(finer) = homes.last() {
                homes.push(coarse_homes(comm, &contraction, finer));
            }
            contractions.push(contraction);
        }
        Ok((contractions, homes))
    }
}

/// The homes of the local vertices of a coarse graph: those of a cluster have the same.
pub(super) fn coarse_homes(comm: &impl Comm, contraction: &Contraction, finer: &[BlockId]) -> Vec<BlockId> {
    let Contraction { coarse, coarse_of } = contraction;
    let own = coarse.ranges().own();
    let mut homes = vec![Homes::NONE; coarse.num_local()];
    let mut letters = Letters::default();
    for (&vertex, &home) in coarse_of.iter().zip(finer) {
        match own.contains(&vertex) {
            true => homes[(vertex - own.start) as usize] = home,
            false => letters.push(coarse.ranges().owner(vertex), [u64::from(vertex), u64::from(home)]),
        }
    }
    for &[vertex, home] in letters.send(comm).records() {
        homes[(vertex as u32 - own.start) as usize] = home as BlockId;
    }
    coarse.update(comm, &mut homes);
    homes
}
