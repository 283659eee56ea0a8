//! The limits of the loads, by each weight of the vertices.

use viem::Request;
use viem::base::types::{PeId, Weight};
use viem::graph::{CsrGraph, VertexWeights};
use viem::partition::{Targets, TargetsError};
use viem::solve::{Balance, LimitsByWeight, LoadLimits, RequestError, SeveralWeights, greatest_capacities};

/// The limits of the loads of blocks or PEs, where vertices have one weight or several.
pub struct Limits<'a> {
    balances: Vec<Balance>,
    capacities: &'a [Vec<u32>],
    by_weight: ByWeight<'a>,
}

enum ByWeight<'a> {
    One(LoadLimits<'a>),
    Several(SeveralWeights<'a>),
}

/// The limits that are asked for.
#[derive(Clone, Copy, Default)]
pub struct AskedLimits<'a, 'b> {
    /// Those of each weight, or those that all have in common.
    pub balances: &'b [Balance],
    /// By weight, the least load of each block or PE; empty if those of the balances hold.
    pub least_loads: &'b [&'a [Weight]],
    /// By weight, the capacity of each block or PE; empty if all weights have those of the machine.
    pub capacities: &'a [Vec<u32>],
    /// By weight, the greatest load of each node, or a single one for all nodes; empty if nodes have no bounds.
    pub nodes: &'a [Option<Vec<Weight>>],
}

impl<'a> AskedLimits<'a, '_> {
    /// The limits of a weight with its least loads and capacities, if weights have some.
    fn of_weight(&self, weight: usize, balance: Balance) -> LoadLimits<'a> {
        let limits = LoadLimits::from((balance, self.least_loads.get(weight).copied()));
        self.capacities.get(weight).map_or(limits, |capacities| limits.with_capacities(capacities))
    }

    /// The limits of the only weight.
    fn of_one(&self) -> Result<LoadLimits<'a>, RequestError> {
        match *self.balances {
            [balance] => Ok(self.of_weight(0, balance)),
            _ => Err(RequestError::LimitsDiffer { found: self.balances.len(), expected: 1 }),
        }
    }

    /// The limits of PEs or blocks by each of this many weights.
    ///
    /// # Errors
    ///
    /// There are neither limits for all weights nor some for each.
    pub fn by_weight(&self, num_weights: usize) -> Result<Vec<LoadLimits<'a>>, RequestError> {
        self.check(num_weights)?;
        let count = if let [_] = self.balances { num_weights } else { self.balances.len() };
        let balances = self.balances.iter().cycle().take(count).enumerate();
        Ok(balances.map(|(weight, &balance)| self.of_weight(weight, balance)).collect())
    }

    /// Checks that there are lists for each of this many weights where there are any.
    fn check(&self, expected: usize) -> Result<(), RequestError> {
        let lengths = [self.least_loads.len(), self.capacities.len(), self.nodes.len()];
        match lengths.into_iter().find(|&found| ![0, expected].contains(&found)) {
            Some(found) => Err(RequestError::LimitsDiffer { found, expected }),
            None => Ok(()),
        }
    }

    /// By weight, the bound of each of `count` nodes.
    fn of_nodes(&self, count: usize) -> Vec<Option<Vec<Weight>>> {
        let each = |bounds: &Vec<Weight>| match bounds[..] {
            [one] => vec![one; count],
            _ => bounds.clone(),
        };
        self.nodes.iter().map(|bounds| bounds.as_ref().map(each)).collect()
    }
}

impl From<Balance> for Limits<'_> {
    fn from(balance: Balance) -> Self {
        Self { balances: vec![balance], capacities: &[], by_weight: ByWeight::One(balance.into()) }
    }
}

impl<'a> Limits<'a> {
    /// The limits of each of several weights, or of the only one. `num_nodes` is the number of nodes of the machine; each block of a partition is one.
    ///
    /// # Errors
    ///
    /// There are neither limits for all weights nor some for each.
    pub fn new(
        (graph, weights): (&CsrGraph, Option<&'a VertexWeights>),
        asked: AskedLimits<'a, '_>,
        num_nodes: &dyn Fn() -> usize,
    ) -> Result<Self, RequestError> {
        let AskedLimits { balances, least_loads, capacities, nodes } = asked;
        asked.check(weights.map_or(1, VertexWeights::num_weights))?;
        let by_weight = match weights {
            None => match (asked.of_one()?, nodes) {
                (limits, []) => ByWeight::One(limits),
                (limits, _) => ByWeight::Several(SeveralWeights::of_graph(graph, limits)),
            },
            Some(weights) => {
                let limits = asked.by_weight(weights.num_weights())?;
                ByWeight::Several(SeveralWeights::new(weights, &limits)?)
            }
        };
        let by_weight = match by_weight {
            ByWeight::Several(several) if !nodes.is_empty() => {
                ByWeight::Several(several.with_node_bounds(asked.of_nodes(num_nodes()))?)
            }
            by_weight => by_weight,
        };
        let has_own = !least_loads.is_empty();
        let without_own = |balance: &Balance| if has_own { balance.with_least_load(0.0) } else { *balance };
        Ok(Self { balances: balances.iter().map(without_own).collect(), capacities, by_weight })
    }

    /// The greatest capacity of each of `num_blocks` blocks by any weight, if weights have capacities.
    pub(crate) fn greatest_capacities(&self, num_blocks: usize) -> Option<Vec<u32>> {
        greatest_capacities(self.capacities).filter(|greatest| greatest.len() == num_blocks)
    }

    /// The request with these limits.
    pub fn bound<'b>(&'b self, request: Request<'b>) -> Request<'b> {
        let limits: LimitsByWeight<'b> = match &self.by_weight {
            ByWeight::One(limits) => (*limits).into(),
            ByWeight::Several(several) => several.into(),
        };
        request.balanced(limits)
    }

    /// The targets by each weight of blocks in proportion to `shares`, equal ones without; those of weights with capacities in proportion to these.
    pub(crate) fn targets(
        &self,
        graph: &CsrGraph,
        num_blocks: usize,
        shares: Option<&[u32]>,
    ) -> Result<Vec<Targets>, TargetsError> {
        let (equal, order) = (vec![1; num_blocks], (0..num_blocks as PeId).collect::<Vec<_>>());
        let targets = |weight: usize, graph: &CsrGraph, balance: &Balance| {
            let shares = self.capacities.get(weight).map(|capacities| &capacities[..]).or(shares);
            let targets = match shares {
                None => Targets::equal(graph, num_blocks, balance.imbalance),
                Some(shares) => Targets::proportional(graph, shares, balance.imbalance),
            };
            balance.widened(targets?, graph, shares.unwrap_or(&equal), &order)
        };
        match &self.by_weight {
            ByWeight::One(_) => Ok(vec![targets(0, graph, &self.balances[0])?]),
            ByWeight::Several(several) => {
                let each = self.each(several).enumerate();
                each.map(|(weight, (alone, balance))| targets(weight, &alone, balance)).collect()
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
        let of = |weight: usize| self.capacities.get(weight).map_or(capacities, |own| &own[..]);
        match &self.by_weight {
            ByWeight::One(_) => rounded_least(graph, of(0), &self.balances[0]),
            ByWeight::Several(several) => {
                let mut each = self.each(several).enumerate();
                each.find_map(|(weight, (alone, balance))| rounded_least(&alone, of(weight), balance))
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
