//! Constructing a first mapping.
//!
//! | member | idea | time |
//! |---|---|---|
//! | `random` | a random permutation | O(n) |
//! | `identity` | process i on PE i | O(n) |
//! | `growing` | one process at a time, next to those already mapped (Müller-Merbach) | O((n k + m) log n) |
//! | `bottom_up` | partition into innermost groups, contract, go on with the groups | k partitions |
//! | `top_down` | partition into the outermost groups, go on inside each | k layers of partitions |
//!
//! n processes, m edges, k levels of the hierarchy. `multisection` is what the last two divide graphs with.

mod bottom_up;
mod growing;
mod identity;
mod multisection;
mod random;
mod top_down;

use crate::graph::CsrGraph;
use crate::mapping::Mapping;
use crate::observer::Observer;
use crate::partition::Preset;
use crate::topology::Hierarchy;

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
    /// Outermost groups first.
    #[default]
    HierarchyTopDown,
}

impl Construction {
    /// Every construction, in the order in which they are listed.
    pub const ALL: [Construction; 5] = [
        Construction::Random,
        Construction::Identity,
        Construction::Growing,
        Construction::HierarchyBottomUp,
        Construction::HierarchyTopDown,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Construction::Random => "random",
            Construction::Identity => "identity",
            Construction::Growing => "growing",
            Construction::HierarchyBottomUp => "hierarchybottomup",
            Construction::HierarchyTopDown => "hierarchytopdown",
        }
    }
}

impl From<Construction> for &'static str {
    fn from(construction: Construction) -> Self {
        construction.name()
    }
}

/// How the first mapping is made, and how hard its partitions try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstructionConfig {
    /// The algorithm.
    pub algorithm: Construction,
    /// The effort of the partitions, where the algorithm needs some.
    pub partitions: Preset,
    /// The effort of the partitions of top-down construction inside of the outermost groups.
    pub inner: Preset,
    /// Top-down construction divides no group of at most this many processes further, and places its processes
    /// in the order of their numbers: enough if annealing follows, which arranges small groups at a
    /// fraction of the cost of partitions.
    pub undivided: usize,
}

impl Default for ConstructionConfig {
    fn default() -> Self {
        Self { algorithm: Construction::default(), partitions: Preset::Eco, inner: Preset::Eco, undivided: 0 }
    }
}

/// A first mapping of the processes of `graph` to the PEs of `hierarchy`.
///
/// Runs its subproblems on the threads of the rayon pool it is called in; the result depends on the seed
/// only, unless the observer asks to stop: then what is not placed yet takes the places that are left, in order. Panics
/// if there are not as many processes as PEs, which [`Problem::new`](crate::problem::Problem::new) has checked.
pub fn construct(
    graph: &CsrGraph,
    hierarchy: &Hierarchy,
    config: &ConstructionConfig,
    seed: u64,
    observer: &dyn Observer,
) -> Mapping {
    assert_eq!(graph.num_nodes(), hierarchy.num_pes(), "as many processes as PEs");
    match config.algorithm {
        Construction::Random => random::construct(graph.num_nodes(), seed),
        Construction::Identity => identity::construct(graph.num_nodes()),
        Construction::Growing => growing::construct(graph, hierarchy, observer),
        Construction::HierarchyBottomUp => {
            bottom_up::construct(graph, hierarchy, config.partitions, seed, observer)
        }
        Construction::HierarchyTopDown => top_down::construct(graph, hierarchy, config, seed, observer),
    }
}
