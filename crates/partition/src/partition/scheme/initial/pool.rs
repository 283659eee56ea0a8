//! Initial partitions by a pool: the best of several partitions of the coarsest graph, which is small enough for that.

use super::interface::{Coarsest, InitialPartition};
use crate::base::types::BlockId;
use crate::partition::compact::Stored;
use crate::partition::objective::Objective;
use crate::partition::scheme::multilevel::{FlowLevels, Task};
use crate::partition::scheme::pool::Pool;
use crate::partition::settings::PartitionConfig;
use crate::partition::targets::Targets;

/// A pool whose partitions begin with another member.
pub(crate) struct BestOfPool<'a, W, O> {
    pub first: &'a dyn InitialPartition<W, O>,
    pub settings: &'a PartitionConfig,
}

impl<W: Stored, O: Objective> InitialPartition<W, O> for BestOfPool<'_, W, O> {
    fn blocks(&self, coarsest: &Coarsest<'_, W, O>, seed: u64) -> Vec<BlockId> {
        let Coarsest { level, sizes, relaxed, observer, .. } = *coarsest;
        let Self { first, settings } = *self;
        let targets = Targets::bounded(sizes.to_vec(), relaxed.most.to_vec())
            .with_known_least_loads(relaxed.least.to_vec());
        let task = Task { level, targets: &targets, first, flow_levels: FlowLevels::All, settings, observer };
        Pool::new(task, seed).best().blocks
    }

    fn is_refined(&self) -> bool {
        true
    }
}
