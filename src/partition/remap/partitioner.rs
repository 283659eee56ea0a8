//! Partitions of small cut that resume older ones.

use super::homes::{Homes, Migration};
use super::search::{Remap, RemapError};
use super::weight::MigrationWeight;
use crate::graph::CsrGraph;
use crate::ground::observer::Observer;
use crate::partition::blocks::{Partition, renamed};
use crate::partition::layout::BlockTree;
use crate::partition::objective::Cut;
use crate::partition::partitioner::Partitioner;
use crate::partition::targets::Targets;

/// A partition that resumes another one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Remapped {
    /// Blocks, their weights, the cut.
    pub partition: Partition,
    /// What moves.
    pub migration: Migration,
}

impl Partitioner {
    /// Repartitions a graph from where its vertices are, minimising the cut plus `weight` times the weight of the vertices
    /// that move. With a weight of 0, the partition is one from scratch, with the labels that keep most weight in place.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::{Homes, Partitioner, PartitionPreset, Targets};
    ///
    /// let mesh = generate::mesh(40, 30, 1);
    /// let partitioner = Partitioner::new(PartitionPreset::Eco, 0);
    /// let old = partitioner.partition(&mesh, &Targets::equal(&mesh, 6, 0.03)?).into_blocks();
    /// // Block 2 leaves.
    /// let homes = Homes::new(&old, &[2], 5)?;
    /// let remapped = partitioner.remap(&mesh, &Targets::equal(&mesh, 5, 0.03)?, &homes, "0.5".parse()?)?;
    /// assert!(remapped.migration.vertices < 1200 / 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remap(
        &self,
        graph: &CsrGraph,
        targets: &Targets,
        homes: &Homes,
        weight: MigrationWeight,
    ) -> Result<Remapped, RemapError> {
        self.remap_watched(graph, targets, homes, weight, &())
    }

    /// As [`remap`](Self::remap), with an observer. If it asks to stop, the result is the best partition found so far.
    pub fn remap_watched(
        &self,
        graph: &CsrGraph,
        targets: &Targets,
        homes: &Homes,
        weight: MigrationWeight,
        observer: &dyn Observer,
    ) -> Result<Remapped, RemapError> {
        if let Some((open, numbers)) = targets.open() {
            homes.check(graph.num_nodes(), targets.num_blocks())?;
            let remapped =
                self.remap_watched(graph, &open, &homes.without_others(&numbers), weight, observer)?;
            let blocks = renamed(remapped.partition.blocks(), &numbers);
            let migration = homes.migration(graph, &blocks);
            return Ok(Remapped { partition: Partition::of(graph, blocks, targets), migration });
        }
        let settings = if targets.are_exact() { &self.exact } else { &self.settings };
        let remap = Remap { graph, targets, homes, weight, settings, along: None, seed: self.seed, observer };
        let partition = if weight == MigrationWeight::ZERO {
            remap.check(1, 1)?;
            let scratch = self.partition_watched(graph, targets, observer);
            let tree = BlockTree::new(targets.num_blocks(), |_| Vec::new());
            let labels = remap.labels(&scratch, &tree);
            Partition::of(graph, renamed(scratch.blocks(), &labels), targets)
        } else {
            Partition::of(graph, remap.run(Cut, (1, 1))?.blocks, targets)
        };
        let migration = homes.migration(graph, partition.blocks());
        Ok(Remapped { partition, migration })
    }
}
