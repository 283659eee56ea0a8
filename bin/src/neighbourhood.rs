//! How a mapping is improved by exchanges.

use clap::Args;

use crate::error::UsageError;
use crate::options::one_of;
use viem::mapping::search::{Neighbourhood, SearchConfig};

/// Which pairs local search exchanges.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Search")]
pub(crate) struct NeighbourhoodOptions {
    /// Pairs that local search exchanges [default: communication]
    #[arg(hide_short_help = true, long, value_name = "NAME", value_parser = one_of(&Neighbourhood::ALL, Neighbourhood::name))]
    neighbourhood: Option<Neighbourhood>,

    /// Reach of the communication neighbourhood, in hops [default: 10]
    #[arg(hide_short_help = true, long, value_name = "INT")]
    max_hops: Option<usize>,

    // An option of VieM, for a neighbourhood that communication has replaced.
    /// Number of processes in an interval of the nsquarepruned neighbourhood [default: 64]
    #[arg(hide = true, long, value_name = "INT")]
    interval: Option<usize>,
}

const DIST: &str = "--max-hops";
const SPACE: &str = "--interval";

impl NeighbourhoodOptions {
    /// Whether anything is asked for that exchanges pairs of processes.
    pub(crate) fn searches(&self) -> bool {
        let is_search = self.neighbourhood.is_some_and(|neighbourhood| neighbourhood != Neighbourhood::None);
        is_search || self.max_hops.is_some() || self.interval.is_some()
    }

    /// The name of the first option that is given, or else of the one that decides.
    pub(crate) fn name(&self) -> &'static str {
        match (self.neighbourhood, self.max_hops, self.interval) {
            (None, Some(_), _) => DIST,
            (None, None, Some(_)) => SPACE,
            _ => "--neighbourhood",
        }
    }

    /// Whether the initial mapping is not to be improved.
    pub(crate) fn is_none(&self) -> bool {
        self.neighbourhood == Some(Neighbourhood::None)
    }

    /// The search; an error if the reach of its neighbourhood is 0. The reach of another one is ignored, as scripts for VieM give all.
    pub(crate) fn config(&self) -> Result<SearchConfig, UsageError> {
        let (hops, space) = (self.max_hops, self.interval);
        let config = SearchConfig::of(self.neighbourhood.unwrap_or_default());
        let reaches =
            [(Neighbourhood::Communication, DIST, hops), (Neighbourhood::NSquarePruned, SPACE, space)];
        for (user, option, reach) in reaches {
            if user == config.neighbourhood && reach == Some(0) {
                return Err(UsageError(format!("{option}=0 reaches nothing; give 1 or more")));
            }
        }
        Ok(config
            .with_max_hops(hops.unwrap_or(config.max_hops))
            .with_block_size(space.unwrap_or(config.block_size)))
    }
}
