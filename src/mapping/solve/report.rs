//! The report of a run.

use crate::ground::types::Cost;
use crate::mapping::construct::Construction;

/// Sizes, objective and time of each phase.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct MapReport {
    /// Number of processes, n.
    pub num_processes: usize,
    /// Number of edges of the communication graph, m.
    pub num_edges: usize,
    /// The construction of the first mapping.
    pub algorithm: Construction,
    /// J of the identity.
    pub cost_of_identity: Cost,
    /// J of the mapping given as a start, if any.
    pub cost_of_start: Option<Cost>,
    /// The smallest J of the constructed mappings.
    pub cost_of_construction: Cost,
    /// J of the result.
    pub cost: Cost,
    /// Pairs whose exchange was evaluated.
    pub swaps_tried: u64,
    /// Exchanges made.
    pub swaps_made: u64,
    /// Whether the observer or the time limit ended the run before the search reached a local optimum.
    pub stopped: bool,
    /// Time of each phase.
    pub seconds: MapSeconds,
}

/// Time of each phase, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct MapSeconds {
    /// Setting up the distances.
    pub distances: f64,
    /// Constructing the first mappings.
    pub construction: f64,
    /// Improving the mapping.
    pub search: f64,
    /// The whole run.
    pub total: f64,
}
