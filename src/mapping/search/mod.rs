//! Local search: exchanges two processes whenever that lowers J, until no pair of the neighbourhood does.
//!
//! Every neighbourhood takes the first exchange that lowers J (Heider 1972) and skips pairs whose exchange
//! can never change J (same innermost group). It ends in a mapping that no exchange of the neighbourhood
//! improves.
//!
//! # Skipped pairs
//!
//! Whether an exchange of u and v gains depends only on the PEs of u, of v, and of their neighbours. For each
//! process, the search stores the time of the last exchange of it or a neighbour (time is the number of
//! exchanges made). A pair that failed before, and of which neither process has been touched since, fails
//! again, so it is not tried. Large neighbourhoods prune further: they compute the gains of one process with
//! all others at once and evaluate only those that can gain (`partner_gains`), or they find out in advance
//! for which processes nothing can gain (`no_move`). Either way the result is a mapping that no exchange of
//! the neighbourhood improves, and the evaluated pairs count as tried.
//!
//! # Fixed processes
//!
//! Processes that a problem fixes ([`Problem::with_fixed`]) are neither visited nor exchanged. "No exchange"
//! then means no exchange of two others.
//!
//! A problem of n processes and m edges needs O(n + m) memory besides the oracle.
//!
//! # Design
//!
//! A search covers all pairs of its neighbourhood, but evaluates few of them one by one. Tests compare each of these shortcuts with a plain
//! double loop:
//!
//! - *Nothing new, nothing gained* (`search/swap.rs`). The gain of a pair depends on the PEs of both processes and of their neighbours. A pair
//!   that failed is not tried again until one of these has moved.
//! - *Savings relative to the greatest distance are sparse* (`search/partner_gains.rs`). Compared with everything at the greatest distance, a
//!   process saves something only near its neighbours. One pass over those PEs, and one over the arcs of the processes near its own PE, gives
//!   the gains of exchanging it with every other process.
//! - *Processes without an improving move* (`search/no_move.rs`). Whether a process would pay less on another PE follows from the PEs of its
//!   neighbours alone. If neither of two processes would, their exchange cannot gain. After a good construction that holds for nearly all.
//!
//! A descent ends when no pair of the neighbourhood gains, whatever was skipped on the way.

mod bounded;
mod improve;
mod nearby;
mod no_move;
mod partner_gains;
mod swap;
mod task;

pub use improve::{Anywhere, Improvement, SmallInstance, TreeCooling, finds_optimum, improve};
pub(crate) use improve::{finds_optimum_around, lower_bound, search_small_instance};
pub use task::SearchOutcome;

use crate::base::observer::Seeded;
use crate::base::settings::{ConfigError, check_at_least_one, members};
use crate::mapping::Mapping;
use crate::mapping::problem::Problem;
use swap::SwapSearch;
use task::Task;

members! {
    /// The pairs of processes that the search exchanges.
    #[derive(Default)]
    pub enum Neighbourhood: "neighbourhood" {
        /// All pairs, in cyclic order.
        NSquare = "nsquare" in mod nsquare;
        /// All pairs inside each interval of consecutive processes, in cyclic order, interval by interval.
        NSquarePruned = "nsquarepruned" in mod nsquare_pruned;
        /// Pairs within some hops of each other in the communication graph, in random order.
        #[default]
        Communication = "communication" in mod communication;
        /// None: the mapping stays as constructed.
        None = "none" in mod none;
    }

    fn search(self, task: &Task<'_>) -> SearchOutcome = function(task)
}

/// The neighbourhood and its extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SearchConfig {
    /// The neighbourhood.
    pub neighbourhood: Neighbourhood,
    /// Largest number of hops between the two processes of a pair, at least 1; used by
    /// [`Neighbourhood::Communication`].
    pub max_hops: usize,
    /// Processes per interval, at least 1; used by [`Neighbourhood::NSquarePruned`].
    pub block_size: usize,
}

impl SearchConfig {
    /// The search of a neighbourhood with its default extent.
    pub fn of(neighbourhood: Neighbourhood) -> Self {
        Self { neighbourhood, ..Self::default() }
    }

    /// The same with this number of hops between the two processes of a pair.
    pub fn with_max_hops(self, max_hops: usize) -> Self {
        Self { max_hops, ..self }
    }

    /// The same with intervals of this number of processes.
    pub fn with_block_size(self, block_size: usize) -> Self {
        Self { block_size, ..self }
    }

    /// Checks that every number used by the neighbourhood is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self.neighbourhood {
            Neighbourhood::NSquarePruned => check_at_least_one("block_size", self.block_size),
            Neighbourhood::Communication => check_at_least_one("max_hops", self.max_hops),
            _ => Ok(()),
        }
    }
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self { neighbourhood: Neighbourhood::default(), max_hops: 10, block_size: 64 }
    }
}

/// Improves a mapping of the size of the problem until no exchange of the neighbourhood lowers J, or until
/// the observer asks to stop. The result is never worse than the start.
pub fn local_search(
    problem: &Problem<'_>,
    start: &Mapping,
    config: &SearchConfig,
    Seeded { seed, observer }: Seeded<'_>,
) -> SearchOutcome {
    if config.neighbourhood != Neighbourhood::None && observer.should_stop() {
        // Setting up a search takes as long as several of its steps.
        return SearchOutcome { stopped: true, ..SwapSearch::new(problem, start, observer).finish() };
    }
    let SearchConfig { max_hops, block_size, .. } = *config;
    config.neighbourhood.search(&Task { problem, start, max_hops, block_size, seed, observer })
}
