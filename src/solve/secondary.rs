//! Secondary objectives, which are lowered after J.

use super::balance::LoadLimits;
use super::groups::ProcessGroups;
use super::prepared::PreparedMachine;
use crate::base::observer::Observer;
use crate::base::settings::ConfigError;
use crate::base::types::Cost;
use crate::graph::CsrGraph;
use crate::mapping::Mapping;
use crate::mapping::objective::ScoreError;
use crate::partition::FixedVertices;

/// An objective that is lowered once J is minimised, while J may rise a little. `viem-workload` has the greatest load of a carrier of
/// traffic, such as a link, and J together with all loads.
pub trait Secondary: Sync {
    /// Checks the settings. A request does so before it searches.
    ///
    /// # Errors
    ///
    /// The first number that is out of its range.
    fn validate(&self) -> Result<(), ConfigError>;

    /// The mapping with a lower value of the objective, or the one that was given. Fixed processes stay, groups share a node, and no load is
    /// farther from its bounds.
    ///
    /// # Errors
    ///
    /// The machine has no distances, or J does not fit 64 bits.
    fn lower(&self, given: &Lowering<'_>) -> Result<Lowered, ScoreError>;
}

/// The problem in which a secondary objective is lowered.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Lowering<'a> {
    /// The communication graph.
    pub graph: &'a CsrGraph,
    /// The machine.
    pub machine: &'a PreparedMachine<'a>,
    /// The mapping of small J.
    pub mapping: &'a Mapping,
    /// Its J.
    pub cost: Cost,
    /// The limits of PEs that take many vertices; `None` for one-to-one mappings.
    pub limits: Option<LoadLimits<'a>>,
    /// Processes that stay where they are.
    pub fixed: Option<&'a FixedVertices>,
    /// Processes that share a node.
    pub together: Option<&'a ProcessGroups>,
    /// The observer, which may end the search early.
    pub observer: &'a dyn Observer,
}

impl<'a> Lowering<'a> {
    /// Returns the task for a one-to-one mapping of this J, without constraints.
    pub fn new(
        graph: &'a CsrGraph,
        machine: &'a PreparedMachine<'a>,
        mapping: &'a Mapping,
        cost: Cost,
    ) -> Self {
        Self { graph, machine, mapping, cost, limits: None, fixed: None, together: None, observer: &() }
    }

    /// Sets an observer, which may end the search early.
    #[must_use]
    pub fn observed(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }
}

/// A mapping whose secondary objective is lower, or as it was.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The mapping.
    pub mapping: Mapping,
    /// Its J.
    pub cost: Cost,
    /// Exchanges made.
    pub exchanges: u64,
}
