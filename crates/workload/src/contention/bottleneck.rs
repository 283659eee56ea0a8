//! Mappings whose busiest carrier of traffic has the least load, and mappings that balance it with J.
//!
//! *Problem.* Minimise the greatest load of a carrier and then J, or the sum of J and a norm of the loads, while J is at most a share above that of a given
//! mapping. Carriers are links; where these are not known, nodes.
//!
//! *Algorithm.* Exchanges that lower a maximum are rare: several carriers usually have it, and each exchange changes few. So the search anneals
//! `J / J0 + M / M0`, where M is the power mean of the loads, and J0 and M0 are those of the start. M is smooth, and rises above the mean load only if few carriers
//! have much. With c carriers, J is c times their mean load, so that `J + c · M` is a sum of two sums of loads; that is the value of `mixed`. A higher
//! power follows the maximum more closely, but hides all carriers below it. Of all mappings that annealing passes, the best one by the objective itself
//! is kept. The starts are the given mapping, and the cuts of a grid ([`grid_mappings`]) whose busiest carrier has the least load. A descent lowers the
//! maximum of each start, and annealing continues with the best of them. Small jobs are annealed several times, each time followed by a descent of the
//! maximum. At the end, exchanges lower J without raising the maximum.
//!
//! *Moves.* A process, every second one of a busy carrier, changes places with one a few edges from its neighbours, or takes a free place there. Where PEs have
//! many vertices, one goes to the PE of a neighbour while bounds and least loads hold, two of any weights change places, or all that is on two PEs.
//! Groups that share a node change places as wholes, and processes of a node among themselves. Fixed processes stay.
//!
//! *Cost.* O(degree · links of a route + carriers that change · log carriers) for each move; memory O(n + m + carriers).
//!
//! *Source.* Metropolis et al. (1953), as in [`exchange`](viem::base::exchange). That norms of loads predict times better than their maximum alone:
//! Bhatele, Jain, Livnat, Pascucci and Bremer, *Analyzing Network Health and Congestion in Dragonfly-based Supercomputers*, IPDPS 2016.

use super::annealed::{Search, Start, Task};
use super::config::BottleneckConfig;
use super::loads::{Carriers, CarriersVisitor, Loads};
use super::objective::JobObjective;
use super::scale::{Found, Scale};
use viem::base::rng::{Rng, derive};
use viem::base::settings::ConfigError;
use viem::base::types::Cost;
use viem::machine::Places;
use viem::mapping::Mapping;
use viem::mapping::construct::grid_mappings;
use viem::mapping::objective::{ScoreError, evaluate};
use viem::solve::{Lowered, Lowering, Secondary};

impl Secondary for BottleneckConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        BottleneckConfig::validate(self)
    }

    fn lower(&self, given: &Lowering<'_>) -> Result<Lowered, ScoreError> {
        self.objective.visit(given.machine, Task { given, config: self })
    }
}

/// Approximate number of processes and arcs that the cuts of a grid may visit. Balances better starts against a few hundredths of a second.
const CUTS: usize = 1 << 19;

impl CarriersVisitor for Task<'_> {
    type Output = Lowered;

    fn visit<C: Carriers>(self, carriers: C) -> Result<Lowered, ScoreError> {
        let Self { given: &Lowering { graph, machine, mapping, cost, .. }, config } = self;
        let mut loads = Loads::of(graph, carriers, mapping.pes())?;
        let greatest = loads.greatest();
        if config.objective == JobObjective::J || greatest == 0 || cost == 0 {
            return Ok(Lowered { mapping: mapping.clone(), cost, exchanges: 0 });
        }
        let scale = Scale::new(&loads, cost, config);
        let mut best = Found { key: scale.key(&loads, cost, scale.sum), pe_of: mapping.pes().to_vec() };
        let most = cost.saturating_add((cost as f64 * config.excess) as Cost);
        let mut starts = vec![Start { mapping: mapping.clone(), greatest, cost }];
        starts.extend(self.simple(&mut loads, most)?);
        loads.restart(graph, mapping.pes());
        let mut search = Search::new(self, (mapping.pes().to_vec(), loads), scale, cost)?;
        let (near, costly): (Vec<_>, Vec<_>) = starts.into_iter().partition(|start| start.cost <= most);
        for (number, mut starts) in (0..).zip([near, costly]) {
            if number > 0 {
                // If J is too great, only a lower maximum justifies it.
                let is_maximum = config.objective != JobObjective::Mixed;
                starts.retain(|start| is_maximum && start.greatest < best.key.greatest);
            }
            let rng = &mut Rng::new(derive(config.seed, number));
            let found = search.anneal_best_of(&starts, most, rng);
            best = found.into_iter().fold(best, |best, found| best.or(found));
        }
        let mapping = Mapping::many(machine.machine().num_pes(), best.pe_of)?;
        let cost = evaluate(graph, machine.distances()?, &mapping)?;
        Ok(Lowered { cost, mapping, exchanges: search.made() })
    }
}

impl Task<'_> {
    /// The simple mappings whose busiest carrier has the least load: of those whose J is at most `most`, and of all others. Simple ones are the order of
    /// the processes, and the cuts of a grid.
    fn simple<C: Carriers>(&self, loads: &mut Loads<C>, most: Cost) -> Result<Vec<Start>, ScoreError> {
        let Lowering { graph, machine, fixed, together, limits, .. } = *self.given;
        if together.is_some() || fixed.is_some_and(|fixed| !fixed.is_empty()) {
            return Ok(Vec::new());
        }
        let places = match limits {
            None => Some(Places::of(machine.machine())?),
            Some(limits) => limits.places(graph, machine.machine()),
        };
        let Some(places) = places else { return Ok(Vec::new()) };
        let pes = places.by_pe().into_iter().map(|place| places.pe_of()[place as usize]);
        let in_order = Mapping::many(machine.machine().num_pes(), pes.take(graph.num_nodes()).collect())?;
        let mut starts = Vec::new();
        for mapping in std::iter::once(in_order).chain(grid_mappings(graph, &places, CUTS)) {
            loads.restart(graph, mapping.pes());
            let cost = evaluate(graph, machine.distances()?, &mapping)?;
            starts.push(Start { greatest: loads.greatest(), cost, mapping });
        }
        starts.sort_by_key(|start| (start.cost > most, start.greatest, start.cost));
        let costly = starts.partition_point(|start| start.cost <= most);
        let others = starts.split_off(costly);
        Ok(starts.into_iter().take(1).chain(others.into_iter().take(1)).collect())
    }
}
