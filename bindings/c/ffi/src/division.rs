//! What a graph is divided into.

use viem::graph::CsrGraph;
use viem::ground::types::Weight;
use viem::mapping::model::{ModelError, check_num_blocks};
use viem::partition::{FixedError, FixedVertices, TargetsError};
use viem::{Partition, Targets};

/// How far loads may be from their shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance {
    /// By how much of its share a load may be above it: 0.03 is 3 %.
    pub imbalance: f64,
    /// How much of its share a load is at least, from 0 to 1.
    pub least_load: f64,
}

/// The blocks of a partition: what they weigh, and their shares.
pub struct Division {
    targets: Targets,
    capacities: Vec<u32>,
}

/// Says that a least load is rounded down to 0, where it is. O(k) for k capacities.
pub fn rounded_least(graph: &CsrGraph, capacities: &[u32], least_load: f64) -> Option<String> {
    let least = Targets::least_shares(graph, capacities, least_load).ok().filter(|_| least_load > 0.0)?;
    let share = Targets::share_without_least(graph.total_node_weight(), capacities, &least)?;
    let (percent, share) = (100.0 * least_load, (100.0 * share).round() / 100.0);
    Some(format!("a least load of {percent} % of {share} is 0, as it is rounded down"))
}

/// Blocks with little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowLoads {
    /// The number of blocks with less than half of their share.
    pub below_half: usize,
    /// The number of blocks below their least load.
    pub below_least: usize,
    /// The total weight that these lack.
    pub shortfall: Weight,
}

impl Division {
    /// Blocks whose weights are in proportion to `shares`, equal ones without. O(k) for k blocks.
    ///
    /// # Errors
    ///
    /// Shares are given for another number of blocks, all shares are 0, or the balance is out of its ranges.
    pub fn new(
        graph: &CsrGraph,
        num_blocks: usize,
        shares: Option<Vec<u32>>,
        balance: Balance,
    ) -> Result<Self, TargetsError> {
        let targets = match &shares {
            None => Targets::equal(graph, num_blocks, balance.imbalance)?,
            Some(shares) => Targets::proportional(graph, shares, balance.imbalance)?,
        };
        let capacities = shares.unwrap_or_else(|| vec![1; num_blocks]);
        let least = Targets::least_shares(graph, &capacities, balance.least_load)?;
        Ok(Self { targets: targets.with_least_loads(least)?, capacities })
    }

    /// The same with vertices that must be in given blocks, if there are any.
    pub fn with_fixed(self, graph: &CsrGraph, fixed: Option<FixedVertices>) -> Result<Self, FixedError> {
        let Some(fixed) = fixed else { return Ok(self) };
        Ok(Self { targets: self.targets.with_fixed(graph, fixed)?, ..self })
    }

    /// Whether there is a vertex for each block that has a share. To be asked before a graph is divided, not where a partition is scored.
    ///
    /// # Errors
    ///
    /// There are fewer vertices.
    pub fn check_enough(&self, graph: &CsrGraph) -> Result<(), ModelError> {
        check_num_blocks(graph, self.capacities.iter().filter(|&&capacity| capacity > 0).count())
    }

    /// Says that a least load is rounded down to 0, where it is.
    pub fn rounded_least(&self, graph: &CsrGraph, least_load: f64) -> Option<String> {
        rounded_least(graph, &self.capacities, least_load)
    }

    /// What the partitioner takes.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Which blocks of a partition have little; O(k).
    pub fn low_loads(&self, partition: &Partition) -> LowLoads {
        let loads = partition.block_weights();
        LowLoads {
            below_half: Targets::num_below_half(&self.capacities, loads),
            below_least: self.targets.num_short(loads),
            shortfall: partition.shortfall(),
        }
    }
}
