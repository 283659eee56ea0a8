//! Solutions and their reports.

use super::balance::Loads;
use super::several::fullest;
use crate::base::types::Cost;
use crate::graph::CsrGraph;
use crate::mapping::Mapping;
use crate::mapping::construct::Construction;
use crate::partition::{BoundViolation, Migration};

/// A mapping and its report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Solution {
    /// The PE of each process, or the block of each vertex.
    pub mapping: Mapping,
    /// Costs, loads, times.
    pub report: Report,
}

/// The report of a solution: the same for all requests. A part that a request does not ask for is `None`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Number of processes or vertices, n.
    pub num_processes: usize,
    /// Number of edges, m.
    pub num_edges: usize,
    /// J of the result: each edge counts twice.
    pub cost: Cost,
    /// The total weight of the edges between different PEs, each edge counted once.
    pub cut: Cost,
    /// J of the identity: processes in order on the places in order, or equal strips of the vertices on the PEs in order. What is fixed is
    /// where it must be.
    pub cost_of_identity: Cost,
    /// J of the mapping given as a start.
    pub cost_of_start: Option<Cost>,
    /// The smallest J of the initial mappings, where some are constructed before all else.
    pub cost_of_construction: Option<Cost>,
    /// The construction of the initial mapping.
    pub construction: Option<Construction>,
    /// The loads of the PEs, if they are balanced. If vertices have several weights, those by the weight whose bound is exceeded most, or is nearest.
    pub loads: Option<Loads>,
    /// The loads of the PEs by each weight, if vertices have several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loads_by_weight: Vec<Loads>,
    /// The number of PEs whose vertices are not connected by edges between them, if loads are balanced.
    pub in_pieces: Option<usize>,
    /// The vertices that migrate, if a previous assignment was given.
    pub migration: Option<Migration>,
    /// Exchanges of two processes that were evaluated.
    pub swaps_tried: u64,
    /// Exchanges made.
    pub swaps_made: u64,
    /// Set if the observer ended the run early, or the time limit ended a run that would have ended by itself.
    pub stopped: bool,
    /// Time of each phase.
    pub seconds: Seconds,
}

impl Report {
    /// The report of a mapping with this J and cut, of which nothing else is known.
    pub(super) fn new(graph: &CsrGraph, (cost, cut): (Cost, Cost), cost_of_identity: Cost) -> Self {
        Self {
            num_processes: graph.num_nodes(),
            num_edges: graph.num_edges(),
            cost,
            cut,
            cost_of_identity,
            cost_of_start: None,
            cost_of_construction: None,
            construction: None,
            loads: None,
            loads_by_weight: Vec::new(),
            in_pieces: None,
            migration: None,
            swaps_tried: 0,
            swaps_made: 0,
            stopped: false,
            seconds: Seconds::default(),
        }
    }

    /// The same with the loads by each of several weights.
    pub(super) fn with_loads_by_weight(self, loads_by_weight: Vec<Loads>) -> Self {
        Self { loads: fullest(&loads_by_weight).map(|(_, loads)| loads), loads_by_weight, ..self }
    }

    /// The number of the weight whose bound is exceeded most, or is nearest, from 0; none if vertices have one weight.
    pub fn fullest_weight(&self) -> Option<usize> {
        fullest(&self.loads_by_weight).map(|(weight, _)| weight)
    }

    /// Returns the amount by which PEs miss their bounds, by all weights.
    pub fn violation(&self) -> BoundViolation {
        if !self.loads_by_weight.is_empty() {
            let sum =
                |of: fn(&Loads) -> i64| self.loads_by_weight.iter().map(of).fold(0, i64::saturating_add);
            return BoundViolation::new(sum(Loads::total_overload), sum(|loads| loads.shortfall));
        }
        self.loads.map_or(BoundViolation::NONE, |loads| BoundViolation::new(loads.overload, loads.shortfall))
    }
}

/// Time of each phase, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Seconds {
    /// Setting up the distances.
    pub distances: f64,
    /// Constructing the initial mappings.
    pub construction: f64,
    /// Improving the mapping.
    pub search: f64,
    /// The whole run.
    pub total: f64,
}
