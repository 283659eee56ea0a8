//! Constructing a first mapping.
//!
//! | member | idea | time |
//! |---|---|---|
//! | `random` | a random permutation | O(n) |
//! | `identity` | process i on PE i | O(n) |
//! | `growing` | one process at a time, next to those already mapped (Müller-Merbach) | O((n k + m) log n) |
//! | `greedy_all_c` | one process at a time, where it costs least (Glantz, Meyerhenke and Noe) | O(n m) |
//! | `bottom_up` | partition into innermost groups, contract, repeat with the groups | k partitions |
//! | `top_down` | partition into the outermost parts, repeat inside each | k layers of partitions |
//! | `treematch` | list groups of processes that share a parent, choose those that keep most traffic inside, repeat with the groups | O(m log m) per level |
//! | `dual_recursive` | bisect graph and machine together, taking edges out of the domain into account | log n layers of bisections |
//! | `by_nodes` | partition into nodes, map the groups to the nodes as a problem of its own; a further start besides the next two | a partition, and a mapping of the nodes |
//! | `by_groups` | place groups of processes whole, in the best order that is found; a further start besides all others | O(n + m) per order |
//! | `by_slots` | map groups of equal size to slots as a problem of its own; a further start besides all others | a mapping of the groups |
//! | `multilevel` | pair processes and places, solve the small problem first | about that of annealing the pairs |
//!
//! Fixed processes are part of top-down, dual recursive and multilevel construction from the start: they are
//! fixed vertices of every partition and places of every level. Greedy construction begins with them, and the
//! identity puts the other processes around them. What the others build is repaired (`fixed`).
//!
//! n processes, m edges, k levels of the hierarchy. `bottom_up` and `top_down` partition graphs with
//! `stepwise`.

mod bottom_up;
mod by_groups;
mod by_nodes;
mod by_slots;
mod central;
mod dual_recursive;
mod fixed;
mod greedy_all_c;
mod growing;
mod identity;
mod in_parts;
mod multilevel;
mod process_queue;
mod random;
mod stepwise;
mod top_down;
mod treematch;

pub(crate) use by_groups::ByGroups;
pub(crate) use fixed::{identity_around, repaired};
pub(crate) use in_parts::InParts;
pub use multilevel::Multilevel;

use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::observer::Observer;
use crate::ground::settings::{ConfigError, members};
use crate::machine::Hierarchy;
use crate::machine::Places;
use crate::mapping::Mapping;
use crate::mapping::annealing::Cooling;
use crate::mapping::problem::Problem;
use crate::partition::PartitionPreset;

members! {
    /// How the first mapping is made.
    #[derive(Default)]
    pub enum Construction: "construction" {
        /// A random permutation.
        Random = "random" by random::construct,
        /// Process i on PE i.
        Identity = "identity" by identity::construct,
        /// One process at a time, next to those already mapped.
        Growing = "growing" by growing::construct,
        /// One process at a time, where it costs least.
        GreedyAllC = "greedyallc" by greedy_all_c::construct,
        /// Innermost groups first.
        HierarchyBottomUp = "hierarchybottomup" by bottom_up::construct,
        /// Outermost parts first.
        #[default]
        HierarchyTopDown = "hierarchytopdown" by top_down::construct,
        /// Graph and machine are bisected together.
        DualRecursive = "dualrecursive" by dual_recursive::construct,
        /// Processes and places are paired repeatedly.
        Multilevel = "multilevel" by multilevel::construct,
        /// Innermost groups first, as TreeMatch chooses them.
        TreeMatch = "treematch" by treematch::construct,
    }

    fn construct(self, task: &Task<'_>) -> Result<Mapping, ConstructionError> = function(task)
}

/// Largest number of places for which multilevel construction is the default. It anneals levels of at most
/// half that size, and on larger ones bisection does better.
const MOST_MULTILEVEL: usize = 1 << 12;

/// The input of a construction.
struct Task<'a> {
    /// As many processes as places.
    problem: &'a Problem<'a>,
    machine: &'a Places,
    config: &'a ConstructionConfig,
    seed: u64,
    /// Once it asks to stop, the remaining processes take the remaining places in order.
    observer: &'a dyn Observer,
}

impl Task<'_> {
    /// The machine as a regular tree, for constructions that need one.
    fn hierarchy(&self) -> Result<&Hierarchy, ConstructionError> {
        let algorithm = self.config.algorithm_on(self.machine);
        self.machine.hierarchy().ok_or(ConstructionError::NotRegular { algorithm })
    }
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

/// The reason why a construction does not work on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ConstructionError {
    #[error(
        "{algorithm} works only on machines that are regular trees, such as 4:16:8; \
         use hierarchytopdown or multilevel"
    )]
    NotRegular { algorithm: Construction },
}

impl HasKind for ConstructionError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotRegular { .. } => ErrorKind::Usage,
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
    seed: u64,
    observer: &dyn Observer,
) -> Result<Mapping, ConstructionError> {
    let mapping =
        config.algorithm_on(machine).construct(&Task { problem, machine, config, seed, observer })?;
    Ok(fixed::repaired(problem, mapping))
}
