//! V-cycles: the graph is coarsened again around the partition that was found, which is then refined from the coarsest graph on.

use viem::base::rng::derive;
use viem::base::types::BlockId;

use super::config::VCycleConfig;
use super::levels::Levels;
use super::run::{Run, V_CYCLES};
use crate::comm::Comm;
use crate::error::DistError;
use crate::objective::Places;
use crate::refine::{Bounds, Quality, Task, quality};

impl<C: Comm> Run<'_, C> {
    /// Improves a partition, given for all local vertices, in V-cycles, as long as that gains much; in how many it was improved. Where
    /// migration counts, there are none.
    pub(super) fn repeat(&self, bounds: &Bounds, blocks: &mut Vec<BlockId>) -> Result<usize, DistError> {
        if self.old.is_some() {
            return Ok(0);
        }
        let VCycleConfig { most, least_gain } = self.config.v_cycles;
        let mut before = self.quality_of_all(bounds, blocks);
        for number in 0..most {
            let seed = derive(derive(self.config.seed, V_CYCLES), number as u64);
            let found = self.v_cycle(bounds, blocks, seed)?;
            let after = self.quality_of_all(bounds, &found);
            if after >= before {
                return Ok(number);
            }
            *blocks = found;
            if !after.is_much_better_than(before, least_gain) {
                return Ok(number + 1);
            }
            before = after;
        }
        Ok(most)
    }

    /// Returns the partition after a V-cycle; both are given for all local vertices.
    fn v_cycle(&self, bounds: &Bounds, blocks: &[BlockId], seed: u64) -> Result<Vec<BlockId>, DistError> {
        // As homes, the blocks keep the clusters apart. Nothing more: leaving them costs nothing.
        let places = Places { homes: Some(blocks.to_vec()), sizes: None, ..self.places() };
        let mut levels = self.coarsen(places, seed)?;
        let mut found = self.improve_whole(&levels, bounds, seed)?;
        levels.places.iter_mut().for_each(|places| places.homes = None);
        self.refine_levels(&levels, bounds, &mut found, seed)?;
        Ok(found)
    }

    /// Improves the partition of the coarsest graph that the homes of its vertices are; for the own vertices of this rank.
    fn improve_whole(&self, levels: &Levels, bounds: &Bounds, seed: u64) -> Result<Vec<BlockId>, DistError> {
        let whole = self.coarsest_whole(levels)?;
        let ranges = levels.coarsest(self.graph).ranges();
        self.improved(whole.as_ref(), ranges, bounds, self.config.attempts, seed)
    }

    /// The quality of a partition of the whole graph, given for all local vertices.
    fn quality_of_all(&self, bounds: &Bounds, blocks: &[BlockId]) -> Quality {
        let task = Task { graph: self.graph, distances: &self.distances, bounds, homes: None, fixed: None };
        quality(self.comm, task, blocks)
    }
}
