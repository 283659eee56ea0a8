//! Partitions of small cut that resume older ones.

use super::divider::OneWeight;
use super::envelope::Envelope;
use super::limits::RemapError;
use super::previous::{Migration, PreviousAssignment};
use super::remapping::Remapping;
use super::search::{EdgeCosts, Remap};
use crate::base::types::BlockId;
use crate::graph::CsrGraph;
use crate::partition::blocks::{Partition, renamed};
use crate::partition::layout::BlockTree;
use crate::partition::objective::{Cut, EdgeCost};
use crate::partition::partitioner::Partitioner;
use crate::partition::targets::Targets;

/// The cut counts each edge once.
const OF_CUT: EdgeCosts = EdgeCosts { times: 1, greatest: 1 };

/// A partition that resumes another one.
#[derive(Clone, Debug)]
pub struct Remapped {
    /// Blocks, their weights, the cut.
    pub partition: Partition,
    /// What moves.
    pub migration: Migration,
}

impl Remapped {
    fn new(graph: &CsrGraph, targets: &Targets, homes: &PreviousAssignment, blocks: Vec<BlockId>) -> Self {
        let migration = homes.migration(graph, &blocks);
        Self { partition: Partition::of(graph, blocks, targets), migration }
    }
}

impl Partitioner<'_> {
    /// Repartitions a graph from where its vertices are, minimising the cut plus the weight of migration times the weight of the vertices
    /// that move. With a weight of 0, the cut is not above that of the partition from scratch, with the labels that keep most weight in place.
    /// If the [observer](Self::observed) asks to stop, the results are the best partitions found so far.
    ///
    /// On [small graphs](super), results for different weights do not contradict each other: with a greater one and everything else as it was,
    /// no more migrates, and no result for another weight has a lower cut plus `weight` times the migration.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::{PreviousAssignment, Partitioner, PartitionPreset, Remapping, RemovedBlocks, Targets};
    ///
    /// let mesh = generate::mesh(40, 30, 1);
    /// let partitioner = Partitioner::new(PartitionPreset::Eco, 0);
    /// let old = partitioner.partition(&mesh, &Targets::equal(&mesh, 6, 0.03)?).into_blocks();
    /// // Block 2 leaves.
    /// let homes = PreviousAssignment::after(&old, RemovedBlocks(&[2]), 5)?;
    /// let (targets, weight) = (Targets::equal(&mesh, 5, 0.03)?, "0.5".parse()?);
    /// let remapped = partitioner.remap(&mesh, &targets, Remapping::new(&homes, weight))?.into_best(weight)?;
    /// assert!(remapped.migration.vertices < 1200 / 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The homes do not fit the graph and the targets, or the weight is not possible for them.
    pub fn remap(
        &self,
        graph: &CsrGraph,
        targets: &Targets,
        remapping: Remapping<'_>,
    ) -> Result<Envelope<Remapped>, RemapError> {
        let homes = remapping.homes;
        if let Some((open, numbers)) = targets.open() {
            homes.check(graph.num_nodes(), targets.num_blocks())?;
            let homes_of_open = homes.without_others(&numbers);
            let found = self.remap(graph, &open, remapping.renamed(&homes_of_open))?;
            return Ok(found.map(|Remapped { partition, .. }| {
                Remapped::new(graph, targets, homes, renamed(partition.blocks(), &numbers))
            }));
        }
        let basic = self.clone().basic();
        let settings = if targets.are_exact() { &basic.exact } else { &basic.settings };
        let divider = OneWeight { targets, settings, along: None };
        let remap = Remap { graph, remapping, divider, seed: self.seed, observer: self.observer };
        let scratch = || {
            let scratch = basic.partition(graph, targets);
            let tree = BlockTree::new(targets.num_blocks(), |_| Vec::new());
            Ok(renamed(scratch.blocks(), &remap.labels(&scratch, &tree)))
        };
        let found = remap.run(EdgeCost::Cut(Cut), OF_CUT, &scratch)?;
        Ok(found.map(|blocks| Remapped::new(graph, targets, homes, blocks)))
    }
}
