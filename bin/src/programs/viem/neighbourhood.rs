//! How `viem` improves a mapping by exchanges.

use clap::Args;

use crate::error::UsageError;
use crate::options::one_of;
use viem::mapping::search::{Neighbourhood, SearchConfig};

/// Which pairs local search exchanges.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case")]
pub(crate) struct NeighbourhoodOptions {
    /// Which pairs of processes local search exchanges [default: communication]
    #[arg(long, value_name = "NEIGHBOURHOOD", value_parser = one_of(&Neighbourhood::ALL, Neighbourhood::name))]
    local_search_neighborhood: Option<Neighbourhood>,

    /// Reach of the communication neighbourhood, in hops [default: 10]
    #[arg(long, value_name = "INT")]
    communication_neighborhood_dist: Option<usize>,

    /// Number of processes in an interval of the nsquarepruned neighbourhood [default: 64]
    #[arg(long, value_name = "INT")]
    search_space_s: Option<usize>,
}

/// The neighbourhoods that exchange any pairs.
pub(super) const SEARCHES: &[&str] = match &Neighbourhood::NAMES {
    [searches @ .., _none] => searches,
};

const DIST: &str = "--communication_neighborhood_dist";
const SPACE: &str = "--search_space_s";

impl NeighbourhoodOptions {
    /// The search; an error if the reach of its neighbourhood is 0. That of another one is passed over, as scripts for VieM give all.
    pub(super) fn config(&self) -> Result<SearchConfig, UsageError> {
        let (hops, space) = (self.communication_neighborhood_dist, self.search_space_s);
        let config = SearchConfig::of(self.local_search_neighborhood.unwrap_or_default());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_search_is_none() {
        assert!(!SEARCHES.contains(&Neighbourhood::None.name()));
    }
}
