//! What a run tells about itself.

use crate::ground::types::Cost;
use crate::mapping::construct::Construction;

/// Sizes, objective and time of each phase.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MapReport {
    /// Number of processes, n.
    pub num_processes: usize,
    /// Number of edges of the communication graph, m.
    pub num_edges: usize,
    /// How the first mapping was made.
    pub algorithm: Construction,
    /// J of the identity.
    pub cost_of_identity: Cost,
    /// J of the mapping given as a start, if any.
    pub cost_of_start: Option<Cost>,
    /// The least J of the mappings constructed.
    pub cost_of_construction: Cost,
    /// J of the result.
    pub cost: Cost,
    /// Pairs whose exchange was evaluated.
    pub swaps_tried: u64,
    /// Exchanges made.
    pub swaps_made: u64,
    /// Whether the observer or the time limit ended the construction, or the search before it reached a local
    /// optimum.
    pub stopped: bool,
    /// Time of each phase.
    pub seconds: MapSeconds,
}

/// Time of each phase, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MapSeconds {
    /// Setting up the distances.
    pub distances: f64,
    /// Constructing the first mappings.
    pub construction: f64,
    /// Improving it.
    pub search: f64,
    /// Everything.
    pub total: f64,
}
