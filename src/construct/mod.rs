//! Constructing a first mapping.
//!
//! | member | idea | time |
//! |---|---|---|
//! | `random` | a random permutation | O(n) |
//! | `identity` | process i on PE i | O(n) |
//! | `growing` | one process at a time, next to those already mapped (Müller-Merbach) | O((n k + m) log n) |
//! | `bottom_up` | partition into innermost groups, contract, go on with the groups | k partitions |
//! | `top_down` | partition into the outermost parts, go on inside each | k layers of partitions |
//! | `dual_recursive` | halve graph and machine together, mindful of what is outside | log n layers of bisections |
//!
//! n processes, m edges, k levels of the hierarchy. `multisection` is what `bottom_up` and `top_down` divide graphs with.

mod bottom_up;
mod dual_recursive;
mod growing;
mod identity;
mod multisection;
mod random;
mod top_down;

use crate::annealing::Cooling;
use crate::machine::Places;
use crate::mapping::Mapping;
use crate::observer::Observer;
use crate::partition::Preset;
use crate::problem::Problem;
use crate::topology::DistanceOracle;

/// How the first mapping is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(into = "&'static str")]
pub enum Construction {
    /// A random permutation.
    Random,
    /// Process i on PE i.
    Identity,
    /// One process at a time, next to those already mapped.
    Growing,
    /// Innermost groups first.
    HierarchyBottomUp,
    /// Outermost parts first.
    #[default]
    HierarchyTopDown,
    /// Graph and machine are halved together.
    DualRecursive,
}

impl Construction {
    /// Every construction, in the order in which they are listed.
    pub const ALL: [Construction; 6] = [
        Construction::Random,
        Construction::Identity,
        Construction::Growing,
        Construction::HierarchyBottomUp,
        Construction::HierarchyTopDown,
        Construction::DualRecursive,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Construction::Random => "random",
            Construction::Identity => "identity",
            Construction::Growing => "growing",
            Construction::HierarchyBottomUp => "hierarchybottomup",
            Construction::HierarchyTopDown => "hierarchytopdown",
            Construction::DualRecursive => "dualrecursive",
        }
    }
}

impl From<Construction> for &'static str {
    fn from(construction: Construction) -> Self {
        construction.name()
    }
}

/// How the first mapping is made, and how hard its partitions try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstructionConfig {
    /// The algorithm; `None` takes [`Construction::HierarchyTopDown`] on regular trees and
    /// [`Construction::DualRecursive`] elsewhere.
    pub algorithm: Option<Construction>,
    /// The effort of the partitions, where the algorithm needs some.
    pub partitions: Preset,
    /// The effort of the partitions of top-down construction inside of the outermost groups.
    pub inner: Preset,
    /// Top-down construction divides no group of at most this many processes further, and places its processes
    /// in the order of their numbers: enough if annealing follows, which arranges small groups at a
    /// fraction of the cost of partitions.
    pub undivided: usize,
    /// How dual recursive bipartitioning exchanges domains after each round.
    pub domains: Cooling,
}

impl ConstructionConfig {
    /// The algorithm on a machine.
    pub fn algorithm_on(&self, machine: &Places) -> Construction {
        self.algorithm.unwrap_or(match machine.hierarchy() {
            Some(_) => Construction::HierarchyTopDown,
            None => Construction::DualRecursive,
        })
    }
}

impl Default for ConstructionConfig {
    fn default() -> Self {
        Self {
            algorithm: None,
            partitions: Preset::Eco,
            inner: Preset::Eco,
            undivided: 0,
            domains: Cooling { proposals: 1000, initial_acceptance: 0.3, final_acceptance: 0.01 },
        }
    }
}

/// Why a construction does not work on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ConstructionError {
    #[error(
        "{} works only on machines that are regular trees, such as 4:16:8; \
         take hierarchytopdown or dualrecursive",
        algorithm.name()
    )]
    NotRegular { algorithm: Construction },
}

/// A first mapping of processes to the places of a machine. There are as many processes as places: those of `problem`.
///
/// Runs its subproblems on the threads of the rayon pool it is called in; the result depends on the seed
/// only, unless the observer asks to stop: then what is not placed yet takes the places that are left, in order.
pub fn construct<O: DistanceOracle>(
    problem: &Problem<'_, O>,
    machine: &Places,
    config: &ConstructionConfig,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Mapping, ConstructionError> {
    let graph = problem.graph();
    let algorithm = config.algorithm_on(machine);
    let hierarchy = || machine.hierarchy().ok_or(ConstructionError::NotRegular { algorithm });
    Ok(match algorithm {
        Construction::Random => random::construct(graph.num_nodes(), seed),
        Construction::Identity => identity::construct(machine),
        Construction::Growing => match machine.hierarchy() {
            Some(hierarchy) => growing::on_hierarchy(graph, hierarchy, observer),
            None => growing::construct(problem, observer),
        },
        Construction::HierarchyBottomUp => {
            bottom_up::construct(graph, hierarchy()?, config.partitions, seed, observer)
        }
        Construction::HierarchyTopDown => top_down::construct(graph, machine.parts(), config, seed, observer),
        Construction::DualRecursive => {
            dual_recursive::construct(problem, machine.parts(), config, seed, observer)
        }
    })
}
