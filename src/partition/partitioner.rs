//! The multilevel partitioner, which minimises the cut.

use super::blocks::{Partition, renamed};
use super::scheme::pool;
use super::settings::{PartitionConfig, PartitionPreset};
use super::targets::Targets;
use crate::graph::CsrGraph;
use crate::ground::observer::Observer;
use crate::ground::settings::ConfigError;

/// A multilevel graph partitioner.
///
/// ```
/// use viem::graph::GraphBuilder;
/// use viem::partition::{Partitioner, PartitionPreset, Targets};
///
/// let mut builder = GraphBuilder::new(6);
/// for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)] {
///     builder.add_edge(u, v, 1);
/// }
/// let graph = builder.build()?;
/// let targets = Targets::equal(&graph, 2, 0.0)?;
/// let partition = Partitioner::new(PartitionPreset::Eco, 1).partition(&graph, &targets);
/// assert_eq!(partition.cut(), 1);
/// assert_eq!(partition.block_weights(), [3, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Partitioner {
    pub(super) settings: PartitionConfig,
    /// The settings for perfectly balanced partitions.
    pub(super) exact: PartitionConfig,
    pub(super) seed: u64,
}

impl Partitioner {
    /// A partitioner with the settings of a preset: [`PartitionConfig::preset`], or [`PartitionConfig::exact`] where blocks must have
    /// exact sizes.
    pub fn new(preset: PartitionPreset, seed: u64) -> Self {
        Self { settings: PartitionConfig::preset(preset), exact: PartitionConfig::exact(preset), seed }
    }

    /// A partitioner with given settings. Fails if one of them is out of its range ([`PartitionConfig::validate`]).
    ///
    /// ```
    /// use viem::partition::{Partitioner, PartitionPreset, PartitionConfig};
    ///
    /// let mut settings = PartitionConfig::preset(PartitionPreset::Strong);
    /// settings.pool.members = 8;
    /// assert!(Partitioner::with_settings(settings.clone(), 1).is_ok());
    /// settings.pool.members = 0;
    /// assert_eq!(Partitioner::with_settings(settings, 1).unwrap_err().field, "pool.members");
    /// ```
    pub fn with_settings(settings: PartitionConfig, seed: u64) -> Result<Self, ConfigError> {
        settings.validate()?;
        Ok(Self::with_valid_settings(settings, seed))
    }

    /// A partitioner with settings derived from a preset.
    pub(crate) fn with_valid_settings(settings: PartitionConfig, seed: u64) -> Self {
        debug_assert_eq!(settings.validate(), Ok(()));
        Self { exact: settings.clone(), settings, seed }
    }

    /// Partitions a graph into `targets.num_blocks()` blocks.
    ///
    /// All bounds are met if all vertices weigh 1 and the bounds leave room. Heavier vertices may exceed them:
    /// [`Partition::overload`] reports by how much. No block is empty unless there are too few vertices, or its bound is 0
    /// and some vertex weighs more.
    pub fn partition(&self, graph: &CsrGraph, targets: &Targets) -> Partition {
        self.partition_watched(graph, targets, &())
    }

    /// As [`partition`](Self::partition), but ends soon after the observer asks to stop. Block sizes are met all the same;
    /// nothing is promised about the cut.
    pub fn partition_watched(
        &self,
        graph: &CsrGraph,
        targets: &Targets,
        observer: &dyn Observer,
    ) -> Partition {
        if let Some((open, numbers)) = targets.open() {
            let partition = self.partition_watched(graph, &open, observer);
            return Partition::of(graph, renamed(partition.blocks(), &numbers), targets);
        }
        let settings = if targets.are_exact() { &self.exact } else { &self.settings };
        let assignment = pool::partition(graph, targets, settings, self.seed, observer);
        Partition::of_assignment(assignment, targets)
    }
}
