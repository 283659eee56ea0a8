//! Constructing a first mapping.
//!
//! [`Construction`] lists the members. Four further starts are no members, as they need groups, nodes or a grid besides the problem: `by_nodes` partitions into
//! nodes and maps the groups to the nodes as a problem of its own, `by_groups` places groups of processes whole, in the best order that is found
//! (O(n + m) per order), `by_slots` maps groups of equal size to slots as a problem of its own, and `by_grid` cuts Cartesian grids ([`GridOrder`]).
//!
//! Fixed processes are part of top-down, dual recursive and multilevel construction from the start: they are
//! fixed vertices of every partition and places of every level. Greedy construction begins with them, and the
//! identity puts the other processes around them. What the others build is repaired (`fixed`).
//!
//! n processes, m edges, k levels of the hierarchy. `bottom_up` and `top_down` partition graphs with
//! `stepwise`.

mod by_grid;
mod by_groups;
mod by_nodes;
mod by_slots;
mod central;
mod fixed;
mod in_parts;
mod process_queue;
mod stepwise;
mod task;

pub(crate) use by_grid::ByGrid;
pub use by_grid::{GridOrder, GridTask, grid_mappings};
pub(crate) use by_groups::ByGroups;
pub(crate) use fixed::{identity_around, repaired};
pub(crate) use in_parts::InParts;
pub use multilevel::Multilevel;
pub use task::ConstructionError;

use crate::base::observer::Seeded;
use crate::base::settings::{ConfigError, members};
use crate::machine::Places;
use crate::mapping::Mapping;
use crate::mapping::annealing::Cooling;
use crate::mapping::problem::Problem;
use crate::partition::PartitionPreset;
use multilevel::MOST_MULTILEVEL;
pub(crate) use task::Effort;
use task::Task;

members! {
    /// How the first mapping is made.
    #[derive(Default)]
    pub enum Construction: "construction" {
        /// A random permutation; O(n).
        Random = "random" in mod random;
        /// Process i on PE i; O(n).
        Identity = "identity" in mod identity;
        /// One process at a time, next to those already mapped (Müller-Merbach); O((n k + m) log n).
        Growing = "growing" in mod growing;
        /// One process at a time, where it costs least (Glantz, Meyerhenke and Noe); O(n m).
        GreedyAllC = "greedyallc" in mod greedy_all_c;
        /// Innermost groups first, by a partition, then groups of these; k partitions.
        HierarchyBottomUp = "hierarchybottomup" in mod bottom_up;
        /// Outermost parts first, by a partition, then inside each; k layers of partitions.
        #[default]
        HierarchyTopDown = "hierarchytopdown" in mod top_down;
        /// Graph and machine are bisected together, taking edges out of the domain into account; log n layers of bisections.
        DualRecursive = "dualrecursive" in mod dual_recursive;
        /// Processes and places are paired repeatedly, the small problem is solved first; about the time of annealing the pairs.
        Multilevel = "multilevel" in mod multilevel;
        /// Innermost groups first, those that keep most traffic inside of all that are listed (TreeMatch); O(m log m) per level.
        TreeMatch = "treematch" in mod treematch;
    }

    fn construct(self, task: &Task<'_>) -> Result<Mapping, ConstructionError> = function(task)
}

/// The construction algorithm, and the effort of its partitions.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ConstructionConfig {
    /// The algorithm. `None` selects [`Construction::HierarchyTopDown`] on regular trees. On other machines
    /// it selects [`Construction::Multilevel`], or [`Construction::DualRecursive`] on more than 4096 places.
    pub algorithm: Option<Construction>,
    /// The effort of the partitions, if the algorithm computes any.
    pub partitions: PartitionPreset,
    /// The effort of top-down construction's partitions inside the outermost groups.
    pub inner: PartitionPreset,
    /// Top-down construction does not partition groups of at most this many processes, but places them in
    /// numerical order. This suffices if annealing follows, which arranges small groups at a fraction of the
    /// cost.
    pub undivided: usize,
    /// How dual recursive bipartitioning exchanges domains after each round.
    pub domains: Cooling,
    /// How multilevel construction solves its levels.
    pub multilevel: Multilevel,
}

impl ConstructionConfig {
    /// The algorithm on a machine.
    pub fn algorithm_on(&self, machine: &Places) -> Construction {
        self.algorithm_for(machine.hierarchy().is_some(), machine.len())
    }

    /// The algorithm on a machine with this number of places; `is_tree` is whether it is a regular tree.
    pub fn algorithm_for(&self, is_tree: bool, num_places: usize) -> Construction {
        let default = match num_places {
            _ if is_tree => Construction::HierarchyTopDown,
            ..=MOST_MULTILEVEL => Construction::Multilevel,
            _ => Construction::DualRecursive,
        };
        self.algorithm.unwrap_or(default)
    }

    /// The same with an algorithm.
    pub fn with_algorithm(self, algorithm: Construction) -> Self {
        Self { algorithm: Some(algorithm), ..self }
    }

    /// The same with partitions of this effort, also inside the outermost groups.
    pub fn with_partitions(self, preset: PartitionPreset) -> Self {
        Self { partitions: preset, inner: preset, ..self }
    }

    /// The effort of the algorithms.
    pub(crate) fn effort(&self) -> Effort {
        let Self { partitions, inner, undivided, domains, multilevel, .. } = *self;
        Effort { partitions, inner, undivided, domains, multilevel }
    }

    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.domains.validate().map_err(|error| error.inside("domains"))?;
        self.multilevel.validate().map_err(|error| error.inside("multilevel"))
    }
}

impl Default for ConstructionConfig {
    fn default() -> Self {
        Self {
            algorithm: None,
            partitions: PartitionPreset::Eco,
            inner: PartitionPreset::Eco,
            undivided: 0,
            domains: Cooling { proposals: 1000, initial_acceptance: 0.3, final_acceptance: 0.01 },
            multilevel: Multilevel {
                cooling: Cooling { proposals: 600, initial_acceptance: 0.05, final_acceptance: 0.01 },
                tries: 16,
            },
        }
    }
}

/// A first mapping of processes to the places of a machine. `problem` has as many places as processes. Its
/// fixed processes are on their places.
///
/// Subproblems run on the threads of the current rayon pool. The result depends only on the seed, unless the
/// observer asks to stop: then the remaining processes take the remaining places in order.
pub fn construct(
    problem: &Problem<'_>,
    machine: &Places,
    config: &ConstructionConfig,
    Seeded { seed, observer }: Seeded<'_>,
) -> Result<Mapping, ConstructionError> {
    let algorithm = config.algorithm_on(machine);
    let (name, effort) = (algorithm.name(), config.effort());
    let mapping = algorithm.construct(&Task { name, problem, machine, effort, seed, observer })?;
    Ok(fixed::repaired(problem, mapping))
}
