//! The blocks that a graph is divided into.

use viem::base::types::Weight;
use viem::graph::CsrGraph;
use viem::machine::{Blocks, HierarchyError};
use viem::partition::{FixedVertices, TargetsError};
use viem::solve::Objective;
use viem::{PreparedMachine, Request};

use crate::limits::Limits;

/// The blocks of a partition: their shares, and what must be in them.
pub struct Division<'a> {
    shares: Vec<u32>,
    bounds: Vec<Vec<Weight>>,
    limits: Limits<'a>,
    fixed: Option<FixedVertices>,
}

impl<'a> Division<'a> {
    /// Blocks whose weights are in proportion to `shares`, equal ones without. O(k) for k blocks.
    ///
    /// # Errors
    ///
    /// There are no blocks or too many, all shares are 0, or an imbalance is out of its range.
    pub fn new(
        graph: &CsrGraph,
        num_blocks: usize,
        shares: Option<Vec<u32>>,
        limits: Limits<'a>,
    ) -> Result<Self, TargetsError> {
        let targets = limits.targets(graph, num_blocks, shares.as_deref())?;
        let bounds = targets.iter().map(|targets| targets.bounds().to_vec()).collect();
        let shares = shares.or_else(|| limits.greatest_capacities(num_blocks));
        let shares = shares.unwrap_or_else(|| vec![1; num_blocks]);
        Ok(Self { shares, bounds, limits, fixed: None })
    }

    /// The same with vertices that must be in given blocks, if there are any.
    pub fn with_fixed(self, fixed: Option<FixedVertices>) -> Self {
        Self { fixed, ..self }
    }

    /// Says that a least load is rounded down to 0, where it is.
    pub fn rounded_least(&self, graph: &CsrGraph) -> Option<String> {
        self.limits.rounded_least(graph, &self.shares)
    }

    /// The number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.shares.len()
    }

    /// The greatest load that each block may have by each weight, one weight after the other.
    pub fn bounds(&self) -> &[Vec<Weight>] {
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
        let request = self.limits.bound(Request::new(graph, machine)).minimise(Objective::Cut);
        request.fixed(self.fixed.as_ref())
    }
}
