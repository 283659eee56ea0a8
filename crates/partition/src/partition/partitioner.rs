//! The multilevel partitioner, which minimises the cut.

use std::sync::atomic::{AtomicBool, Ordering};

use super::blocks::{Partition, renamed};
use super::bounds::BoundViolation;
use super::refine::fill;
use super::scheme::isolated::WithoutIsolated;
use super::scheme::pool;
use super::settings::{PartitionConfig, PartitionPreset};
use super::targets::Targets;
use crate::base::observer::Observer;
use crate::base::settings::ConfigError;
use crate::base::threads;
use crate::graph::CsrGraph;

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
pub struct Partitioner<'a> {
    pub(super) settings: PartitionConfig,
    /// The settings for perfectly balanced partitions.
    pub(super) exact: PartitionConfig,
    pub(super) seed: u64,
    /// If given, partitions are not worse than those of this preset.
    not_worse_than: Option<PartitionPreset>,
    pub(super) observer: &'a dyn Observer,
}

impl<'a> Partitioner<'a> {
    /// A partitioner with the settings of a preset: [`PartitionConfig::preset`], or [`PartitionConfig::exact`] where blocks must have
    /// exact sizes. Partitions are never worse than those of the next quicker preset with the same seed.
    pub fn new(preset: PartitionPreset, seed: u64) -> Self {
        let (settings, exact) = (PartitionConfig::preset(preset), PartitionConfig::exact(preset));
        Self { settings, exact, seed, not_worse_than: preset.quicker(), observer: &() }
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
    pub fn with_valid_settings(settings: PartitionConfig, seed: u64) -> Self {
        debug_assert_eq!(settings.validate(), Ok(()));
        Self { exact: settings, settings, seed, not_worse_than: None, observer: &() }
    }

    /// The same with an observer. Runs end soon after it asks to stop: block sizes are met all the same, nothing is promised about the cut.
    #[must_use]
    pub fn observed(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// The same with the [basic](PartitionConfig::basic) settings, for partitions of which many are made.
    #[must_use]
    pub fn basic(self) -> Self {
        Self { settings: self.settings.basic(), exact: self.exact.basic(), ..self }
    }

    /// The partitioner whose partitions those of this one must not be worse than.
    fn quicker(&self) -> Option<Self> {
        let quicker = Self::new(self.not_worse_than?, self.seed).observed(self.observer);
        Some(if self.settings.pool.exhaustive { quicker } else { quicker.basic() })
    }

    /// Partitions a graph into `targets.num_blocks()` blocks.
    ///
    /// All bounds are met if all vertices weigh 1 and the bounds leave room. Heavier vertices may exceed them:
    /// [`Partition::overload`] reports by how much. No block is empty unless there are too few vertices, or a vertex in it would add to
    /// the overload. The least loads of the targets are met as far as bounds and vertices allow it. The partition is not worse than the
    /// one in the order of the numbers of the vertices, if that leaves no more blocks empty.
    pub fn partition(&self, graph: &CsrGraph, targets: &Targets) -> Partition {
        if let Some((open, numbers)) = targets.open() {
            let partition = self.partition(graph, &open);
            return Partition::of(graph, renamed(partition.blocks(), &numbers), targets);
        }
        let found = self.search(graph, targets);
        let strips =
            targets.fixed().is_none().then(|| Partition::of(graph, targets.in_order(graph), targets));
        let strips = strips.filter(|strips| strips.num_empty() <= found.num_empty());
        let best = [found].into_iter().chain(strips).min_by_key(Partition::score);
        fill::filled(graph, best.expect("there is one"), targets, self.observer)
    }

    /// A partition that is made while isolated vertices are set aside, if there are many and they fit in the end. A quicker partitioner must divide all vertices
    /// together, as that finds some dense regions that are missed without the weight of the isolated vertices.
    fn around_isolated(&self, graph: &CsrGraph, targets: &Targets) -> Option<Partition> {
        self.not_worse_than?;
        let rest = WithoutIsolated::of(graph, targets)?;
        rest.filled(&self.partition(&rest.graph, &rest.targets))
    }

    /// The better of the own partition and that of the quicker partitioner.
    fn search(&self, graph: &CsrGraph, targets: &Targets) -> Partition {
        let settings = if targets.are_exact() { &self.exact } else { &self.settings };
        let settings = settings.suited_to(graph, targets.fixed());
        let can_be_better = AtomicBool::new(true);
        let own = || {
            let own = self.around_isolated(graph, targets).unwrap_or_else(|| {
                let assignment = pool::partition(graph, targets, &settings, self.seed, self.observer);
                Partition::of_assignment(assignment, targets)
            });
            let is_best = own.score() == (BoundViolation::NONE, 0, 0);
            can_be_better.store(!is_best, Ordering::Relaxed);
            own
        };
        let rival = || {
            let is_wanted = can_be_better.load(Ordering::Relaxed) && !self.observer.should_stop();
            let quicker = self.quicker().filter(|_| is_wanted);
            quicker.map(|partitioner| partitioner.partition(graph, targets))
        };
        // One thread does the second one last, and leaves it out if nothing can be better.
        let (own, rival) = threads::join(own, rival);
        [own].into_iter().chain(rival).min_by_key(Partition::score).expect("there is one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;

    /// A block may hold all vertices, which cuts nothing, but then gives one to each other block.
    #[test]
    fn wide_bounds_do_not_make_a_preset_worse_than_a_quicker_one() {
        let graph = generate::grid(20, 20);
        let targets = Targets::equal(&graph, 4, 10.0).unwrap();
        let cut = |preset| Partitioner::new(preset, 0).partition(&graph, &targets).cut();
        let [fast, eco, strong] =
            [PartitionPreset::Fast, PartitionPreset::Eco, PartitionPreset::Strong].map(cut);
        assert!(strong <= eco && eco <= fast && fast <= 6, "{strong} {eco} {fast}");
    }
}
