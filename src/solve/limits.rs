//! Limits of the loads of PEs, by one weight of the vertices or by several.

use super::balance::{LoadLimits, Loads};
use super::error::SolveError;
use super::initial::Along;
use super::report::Report;
use super::several::SeveralWeights;
use crate::base::types::PeId;
use crate::graph::CsrGraph;
use crate::machine::Machine;
use crate::mapping::Mapping;
use crate::partition::{FixedVertices, TargetsError};

/// The limits of the loads: by the weights of the graph, or by each of [several](SeveralWeights).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum LimitsByWeight<'a> {
    /// Vertices have one weight, that of the graph.
    One(LoadLimits<'a>),
    /// Vertices have several weights.
    Several(&'a SeveralWeights<'a>),
}

impl<'a, T: Into<LoadLimits<'a>>> From<T> for LimitsByWeight<'a> {
    fn from(limits: T) -> Self {
        Self::One(limits.into())
    }
}

impl<'a> From<&'a SeveralWeights<'a>> for LimitsByWeight<'a> {
    fn from(several: &'a SeveralWeights<'a>) -> Self {
        Self::Several(several)
    }
}

impl<'a> LimitsByWeight<'a> {
    /// The limits of the only weight, if vertices have one.
    pub(super) fn one(self) -> Option<LoadLimits<'a>> {
        match self {
            Self::One(limits) => Some(limits),
            Self::Several(_) => None,
        }
    }

    /// Checks that the limits are possible for a graph and a machine.
    pub(super) fn check(&self, graph: &CsrGraph, machine: &dyn Machine) -> Result<(), SolveError> {
        match self {
            Self::One(limits) => limits.check(graph, machine),
            Self::Several(several) => several.check(graph, machine),
        }
    }

    /// Returns whether a PE has a least load.
    pub(super) fn has_least_loads(&self) -> bool {
        match self {
            Self::One(limits) => limits.has_least_loads(),
            Self::Several(several) => several.has_least_loads(),
        }
    }

    /// The mapping of consecutive vertices to the PEs in order, by their shares. Vertices that are fixed elsewhere are on their PEs.
    pub(super) fn identity(
        &self,
        graph: &CsrGraph,
        machine: &dyn Machine,
        fixed: Option<&FixedVertices>,
    ) -> Result<Mapping, TargetsError> {
        match self {
            Self::One(limits) => limits.identity(graph, machine, fixed),
            Self::Several(several) => several.identity(machine, fixed),
        }
    }

    /// A mapping along an order, by the first weight of the vertices.
    pub(super) fn along(
        &self,
        along: &Along<'_>,
        fixed: Option<&FixedVertices>,
    ) -> Result<Mapping, SolveError> {
        match self {
            Self::One(limits) => along.balanced(*limits, fixed),
            Self::Several(several) => several.along(along, fixed),
        }
    }

    /// The loads of a mapping by each weight, given the PE of each vertex, compared with these limits; one if vertices have one weight.
    pub fn loads(&self, graph: &CsrGraph, machine: &dyn Machine, pe_of: &[PeId]) -> Vec<Loads> {
        match self {
            Self::One(limits) => vec![limits.loads(graph, machine, pe_of)],
            Self::Several(several) => several.loads(machine, pe_of),
        }
    }

    /// The report with the loads of the mapping that it is about.
    pub(super) fn report(&self, report: Report, loads: Vec<Loads>) -> Report {
        match self {
            Self::One(_) => Report { loads: loads.first().copied(), ..report },
            Self::Several(_) => report.with_loads_by_weight(loads),
        }
    }
}
