//! The blocks that a graph is divided into.

use viem::base::types::Weight;
use viem::graph::CsrGraph;
use viem::machine::{Blocks, HierarchyError};
use viem::partition::{FixedVertices, TargetsError};
use viem::solve::{Balance, LoadLimits, Objective};
use viem::{PreparedMachine, Request, Targets};

/// The blocks of a partition: their shares, and what must be in them.
pub struct Division<'a> {
    shares: Vec<u32>,
    bounds: Vec<Weight>,
    limits: LoadLimits<'a>,
    fixed: Option<FixedVertices>,
}

/// Says that a least load is rounded down to 0, where it is. O(k) for k capacities.
pub fn rounded_least(graph: &CsrGraph, capacities: &[u32], limits: LoadLimits<'_>) -> Option<String> {
    let LoadLimits::Proportional { balance: Balance { least_load, .. }, least_loads: None, .. } = limits
    else {
        return None;
    };
    let least = Targets::least_shares(graph, capacities, least_load).ok().filter(|_| least_load > 0.0)?;
    let share = Targets::share_without_least(graph.total_node_weight(), capacities, &least)?;
    let (percent, share) = (100.0 * least_load, (100.0 * share).round() / 100.0);
    Some(format!("a least load of {percent} % of {share} is 0, as it is rounded down"))
}

impl<'a> Division<'a> {
    /// Blocks whose weights are in proportion to `shares`, equal ones without. O(k) for k blocks.
    ///
    /// # Errors
    ///
    /// There are no blocks or too many, all shares are 0, or the balance is out of its ranges.
    pub fn new(
        graph: &CsrGraph,
        num_blocks: usize,
        shares: Option<Vec<u32>>,
        (balance, least_loads): (Balance, Option<&'a [Weight]>),
    ) -> Result<Self, TargetsError> {
        let targets = match &shares {
            None => Targets::equal(graph, num_blocks, balance.imbalance)?,
            Some(shares) => Targets::proportional(graph, shares, balance.imbalance)?,
        };
        Targets::check_least_load(balance.least_load)?;
        let shares = shares.unwrap_or_else(|| vec![1; num_blocks]);
        let limits = (balance, least_loads).into();
        Ok(Self { shares, bounds: targets.bounds().to_vec(), limits, fixed: None })
    }

    /// The same with vertices that must be in given blocks, if there are any.
    pub fn with_fixed(self, fixed: Option<FixedVertices>) -> Self {
        Self { fixed, ..self }
    }

    /// Says that a least load is rounded down to 0, where it is.
    pub fn rounded_least(&self, graph: &CsrGraph) -> Option<String> {
        rounded_least(graph, &self.shares, self.limits)
    }

    /// The number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.shares.len()
    }

    /// The greatest load that each block may have.
    pub fn bounds(&self) -> &[Weight] {
        &self.bounds
    }

    /// The blocks as a machine.
    ///
    /// # Errors
    ///
    /// There are more blocks than a machine can have PEs.
    pub fn blocks(&self) -> Result<Blocks, HierarchyError> {
        Blocks::proportional(self.shares.clone())
    }

    /// The request that divides a graph into these blocks, which `machine` has.
    pub fn request<'b>(&'b self, graph: &'b CsrGraph, machine: &'b PreparedMachine<'b>) -> Request<'b> {
        let request = Request::new(graph, machine).balanced(self.limits).minimise(Objective::Cut);
        request.fixed(self.fixed.as_ref())
    }
}
