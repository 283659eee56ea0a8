//! The surroundings of borders are refined by the library for one machine.

use viem::base::types::BlockId;

use super::config::{BandConfig, DistConfig};
use super::levels::coarse_blocks;
use super::run::Run;
use crate::band::{Band, band};
use crate::comm::{Comm, greatest};
use crate::contract::contract;
use crate::error::DistError;
use crate::graph::DistGraph;
use crate::objective::Places;
use crate::refine::{Bounds, loads};

impl<C: Comm> Run<'_, C> {
    /// Brings a partition by several weights, given for all local vertices, back within its bounds by the library for one machine, if one is exceeded and a
    /// rank can hold the whole graph.
    pub(super) fn relieve(&self, bounds: &Bounds, blocks: &mut [BlockId]) -> Result<(), DistError> {
        let Self { comm, graph, num_blocks, .. } = *self;
        let are_kept = || bounds.hold(&loads(comm, graph, blocks, num_blocks));
        if bounds.num_weights == 1 || are_kept() || !self.fits_one_rank(graph) {
            return Ok(());
        }
        let start = Places { homes: Some(blocks.to_vec()), sizes: None, ..self.places() };
        let DistConfig { attempts, seed, .. } = *self.config;
        let whole = self.whole(graph, &start, attempts)?;
        let found = self.improved(whole.as_ref(), graph.ranges(), bounds, attempts, seed)?;
        blocks[..found.len()].copy_from_slice(&found);
        graph.update(comm, blocks);
        Ok(())
    }

    /// Refines the band of a partition by the library for one machine, if it is small enough; whether it has become better.
    pub(super) fn refine_band(
        &self,
        graph: &DistGraph,
        (places, blocks): (&Places, &mut [BlockId]),
        bounds: &Bounds,
        seed: u64,
    ) -> Result<bool, DistError> {
        let Self { comm, num_blocks, .. } = *self;
        let BandConfig { steps, most, attempts, .. } = self.config.band;
        if steps == 0 || attempts == 0 || num_blocks < 2 {
            return Ok(false);
        }
        // As wide as is allowed.
        let mut bands = (1..=steps).rev().map(|steps| band(comm, graph, blocks, num_blocks, steps));
        let Some(Band { labels, is_core, count }) = bands.find(|band| band.count <= most as u64) else {
            return Ok(false);
        };
        if count == 0 {
            return Ok(false);
        }
        let contraction = contract(comm, graph, &labels)?;
        let coarse = &contraction.coarse;
        let start = coarse_blocks(comm, &contraction, blocks);
        let stays = |(own, is_core)| BlockId::from(is_core || places.is_fixed(own));
        let stays: Vec<BlockId> = is_core.into_iter().enumerate().map(stays).collect();
        let stays = coarse_blocks(comm, &contraction, &stays);
        let fixed = start.iter().zip(&stays);
        let fixed = fixed.map(|(&block, &stays)| if stays == 1 { block } else { Places::NONE }).collect();
        let start = Places { homes: Some(start), fixed: Some(fixed), sizes: None };
        let whole = self.whole(coarse, &start, attempts)?;
        let found = self.improved(whole.as_ref(), coarse.ranges(), bounds, attempts, seed)?;
        let is_new = start.homes.is_some_and(|start| found != start[..found.len()]);
        if greatest(comm, is_new.into()) == 0 {
            return Ok(false);
        }
        let found = contraction.project(comm, &found);
        blocks[..found.len()].copy_from_slice(&found);
        graph.update(comm, blocks);
        Ok(true)
    }
}
