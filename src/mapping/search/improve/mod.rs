//! Improvement beyond local search.
//!
//! | member | where | what |
//! |---|---|---|
//! | `tree` | regular trees | annealing with gain tables, and repartitioning, in regions |
//! | `anywhere` | all other machines | annealing with distances |
//! | `few_places` | machines with few places | once after these, a population of mappings, with dense matrices |
//!
//! Problems of very few processes are solved exactly (`exact`). So are graphs with the shape of the machine
//! if that is not a tree (`embedding`). Lower bounds prove other mappings to be optimal (`bound`).

mod anywhere;
mod bound;
mod embedding;
mod exact;
mod few_places;
mod rebuild;
mod region;
mod tree;

pub use crate::mapping::annealing::TreeCooling;
pub use anywhere::Anywhere;
pub(crate) use bound::lower_bound;
pub use few_places::FewPlaces;
pub(crate) use few_places::search_few_places;

use super::SearchOutcome;
use crate::graph::CsrGraph;
use crate::ground::observer::Observer;
use crate::ground::settings::ConfigError;
use crate::machine::Hierarchy;
use crate::machine::Places;
use crate::mapping::Mapping;
use crate::mapping::problem::Problem;
use crate::partition::{FixedVertices, PartitionPreset};

/// The effort of improving a mapping.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Improvement {
    /// How each small group is annealed internally, as the first step.
    pub inside: TreeCooling,
    /// How the whole mapping is then annealed.
    pub annealing: TreeCooling,
    /// Effort of a tournament round: how much each survivor is rebuilt before the better half is chosen.
    pub tournament: u32,
    /// Effort of rebuilding the best mapping: rounds times (1 + mean degree), since the time of a round grows
    /// with the number of edges.
    pub rebuilding: u32,
    /// The effort of the partitions of rebuilding.
    pub partitions: PartitionPreset,
    /// How rebuilt regions are annealed.
    pub rebuilt: TreeCooling,
    /// The effort on a machine that is not a regular tree.
    pub anywhere: Anywhere,
    /// What a run does at its end if there are few places.
    pub few_places: FewPlaces,
}

impl Improvement {
    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.inside.validate().map_err(|error| error.inside("inside"))?;
        self.annealing.validate().map_err(|error| error.inside("annealing"))?;
        self.rebuilt.validate().map_err(|error| error.inside("rebuilt"))?;
        self.anywhere.validate().map_err(|error| error.inside("anywhere"))?;
        self.few_places.validate().map_err(|error| error.inside("few_places"))
    }

    /// A good mapping with little effort.
    pub const FAST: Self = Self {
        inside: TreeCooling::new(60, 0.7, 0.3),
        annealing: TreeCooling::new(60, 0.07, 0.02),
        tournament: 0,
        rebuilding: 24,
        partitions: PartitionPreset::Fast,
        rebuilt: TreeCooling::new(60, 0.05, 0.02),
        anywhere: Anywhere::FAST,
        few_places: FewPlaces::FAST,
    };

    /// A better mapping with about three times that effort.
    pub const ECO: Self = Self {
        inside: TreeCooling::new(200, 0.7, 0.2),
        annealing: TreeCooling::new(200, 0.07, 0.02),
        tournament: 20,
        rebuilding: 100,
        anywhere: Anywhere::ECO,
        few_places: FewPlaces::ECO,
        ..Self::FAST
    };

    /// The best mapping, with about ten times the effort of [`ECO`](Self::ECO).
    pub const STRONG: Self = Self {
        inside: TreeCooling::new(500, 0.7, 0.1),
        annealing: TreeCooling::new(500, 0.07, 0.02),
        tournament: 100,
        rebuilding: 1800,
        rebuilt: TreeCooling::new(100, 0.05, 0.02),
        anywhere: Anywhere::STRONG,
        few_places: FewPlaces::STRONG,
        ..Self::FAST
    };
}

/// Returns whether [`improve`] is guaranteed to return an optimum. This holds if the problem is small enough to
/// enumerate all mappings of the processes that have neighbours, or if all mappings cost the same because no process communicates or all PEs are
/// equally far apart.
pub fn finds_optimum(graph: &CsrGraph, machine: &Places) -> bool {
    finds_optimum_around(None, graph, machine)
}

/// The same for a problem with fixed processes.
pub(crate) fn finds_optimum_around(
    fixed: Option<&FixedVertices>,
    graph: &CsrGraph,
    machine: &Places,
) -> bool {
    let is_easy = || match (machine.hierarchy().map(Hierarchy::simplified), fixed) {
        (Some(hierarchy), None) => hierarchy.arities().len() < 2 || exact::is_small(&hierarchy),
        (Some(hierarchy), _) if hierarchy.arities().len() < 2 => true,
        _ => exact::is_small_around(fixed, graph),
    };
    graph.num_arcs() == 0 || is_easy()
}

/// Improves the most promising of several mappings; the result is not worse than any of them.
///
/// The distances of `problem` are those of `machine`. Every start has the fixed processes of the problem on
/// their PEs, and so has the result. If the observer asks to stop, the result is the best
/// mapping so far. Runs on the threads of the current rayon pool. Panics if there is no start, or if the
/// problem, the machine and the starts do not all have the same size.
pub fn improve(
    problem: &Problem<'_>,
    machine: &Places,
    starts: &[&Mapping],
    config: &Improvement,
    seed: u64,
    observer: &dyn Observer,
) -> SearchOutcome {
    match machine.hierarchy() {
        Some(hierarchy) => tree::improve(problem, hierarchy, starts, config, seed, observer),
        None => anywhere::improve(problem, starts, config, seed, observer),
    }
}
