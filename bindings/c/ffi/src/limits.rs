//! The limits of the loads, by each weight of the vertices.

use viem::Request;
use viem::base::types::Weight;
use viem::graph::{CsrGraph, VertexWeights};
use viem::partition::{Targets, TargetsError};
use viem::solve::{Balance, LoadLimits, RequestError, SeveralWeights};

/// The limits of the loads of blocks or PEs, where vertices have one weight or several.
pub struct Limits<'a> {
    balances: Vec<Balance>,
    by_weight: ByWeight<'a>,
}

enum ByWeight<'a> {
    One(LoadLimits<'a>),
    Several(SeveralWeights<'a>),
}

impl From<Balance> for Limits<'_> {
    fn from(balance: Balance) -> Self {
        Self { balances: vec![balance], by_weight: ByWeight::One(balance.into()) }
    }
}

impl<'a> Limits<'a> {
    /// The limits of each of several weights, or of the only one; `least_loads` are those of single blocks or PEs.
    ///
    /// # Errors
    ///
    /// There is neither one balance for all weights nor one for each, or there are several weights and least loads of single blocks.
    pub fn new(
        weights: Option<&'a VertexWeights>,
        balances: &[Balance],
        least_loads: Option<&'a [Weight]>,
    ) -> Result<Self, RequestError> {
        let by_weight = match (weights, balances, least_loads) {
            (None, &[balance], least_loads) => ByWeight::One((balance, least_loads).into()),
            (None, _, _) => return Err(RequestError::LimitsDiffer { found: balances.len(), expected: 1 }),
            (Some(_), _, Some(_)) => return Err(RequestError::SeveralHaveLeastLoads),
            (Some(weights), _, None) => {
                let limits: Vec<LoadLimits<'a>> = balances.iter().map(|&balance| balance.into()).collect();
                ByWeight::Several(SeveralWeights::new(weights, &limits)?)
            }
        };
        Ok(Self { balances: balances.to_vec(), by_weight })
    }

    /// The request with these limits.
    pub fn bound<'b>(&'b self, request: Request<'b>) -> Request<'b> {
        match &self.by_weight {
            ByWeight::One(limits) => request.balanced(*limits),
            ByWeight::Several(several) => request.balanced_by(several),
        }
    }

    /// The targets by each weight of blocks in proportion to `shares`, equal ones without.
    pub(crate) fn targets(
        &self,
        graph: &CsrGraph,
        num_blocks: usize,
        shares: Option<&[u32]>,
    ) -> Result<Vec<Targets>, TargetsError> {
        let targets = |graph: &CsrGraph, balance: &Balance| match shares {
            None => Targets::equal(graph, num_blocks, balance.imbalance),
            Some(shares) => Targets::proportional(graph, shares, balance.imbalance),
        };
        match &self.by_weight {
            ByWeight::One(_) => Ok(vec![targets(graph, &self.balances[0])?]),
            ByWeight::Several(several) => {
                self.each(several).map(|(alone, balance)| targets(&alone, balance)).collect()
            }
        }
    }

    /// The vertices with each of their weights alone, and its balance.
    fn each<'b>(&'b self, several: &'b SeveralWeights<'_>) -> impl Iterator<Item = (CsrGraph, &'b Balance)> {
        let weights = several.weights();
        let alone = (0..weights.num_weights()).map(|weight| weights.alone(weight));
        alone.zip(self.balances.iter().cycle())
    }

    /// Says that a least load is rounded down to 0, where it is. O(k) for k capacities, and O(c n) for c weights of n vertices.
    pub fn rounded_least(&self, graph: &CsrGraph, capacities: &[u32]) -> Option<String> {
        match &self.by_weight {
            ByWeight::One(LoadLimits::Proportional { balance, least_loads: None, .. }) => {
                rounded_least(graph, capacities, balance)
            }
            ByWeight::One(_) => None,
            ByWeight::Several(several) => {
                self.each(several).find_map(|(alone, balance)| rounded_least(&alone, capacities, balance))
            }
        }
    }
}

fn rounded_least(graph: &CsrGraph, capacities: &[u32], balance: &Balance) -> Option<String> {
    let least_load = balance.least_load;
    let least = Targets::least_shares(graph, capacities, least_load).ok().filter(|_| least_load > 0.0)?;
    let share = Targets::share_without_least(graph.total_node_weight(), capacities, &least)?;
    let (percent, share) = (100.0 * least_load, (100.0 * share).round() / 100.0);
    Some(format!("a least load of {percent} % of {share} is 0, as it is rounded down"))
}
