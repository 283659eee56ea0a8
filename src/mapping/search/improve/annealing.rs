//! Simulated annealing of a whole (small) mapping, from a good start and at low temperature.
//!
//! A proposal draws an arc (u, v) and exchanges u with a process near v: one of the innermost group of v, or
//! one of the largest group that holds v but not u. So u comes nearer to a partner with every proposal, which
//! is the only way to gain. Worse mappings are accepted as by Metropolis et al. (1953), and the temperature falls
//! geometrically (Kirkpatrick, Gelatt and Vecchi 1983). The start comes from a multilevel partitioner,
//! whose outermost groups are better than annealing would find, so the initial temperature is low enough to keep
//! them: only what the boundaries of groups have to offer is reshuffled.
//!
//! A proposal costs four look-ups in the [`GainTable`], an accepted one an update of the table, which costs as
//! much as the degrees of the two processes. Where there are hubs, most proposals move one, as most arcs are theirs; so
//! hubs have a budget, and proposals beyond it are refused. The end is a [descent](super::descent) to a mapping that no exchange of two
//! processes improves.

use std::sync::LazyLock;

use super::descent::descend;
use super::gain_table::{Amount, GainTable, fits_32_bits};
use crate::graph::CsrGraph;
use crate::graph::hubs::most_arcs_without_hub;
use crate::ground::budget::Budget;
use crate::ground::metropolis;
use crate::ground::observer::Observer;
use crate::ground::rng::Rng;
use crate::ground::settings::{ConfigError, check_positive};
use crate::ground::types::{Cost, NodeId, PeId};
use crate::machine::Hierarchy;

/// An exchange that walks more arcs than this is paid for from the budget of hubs.
pub(super) const MANY_ARCS: usize = 1 << 9;

/// So is one that walks more arcs than this, where the mean degree is low. Balances J against time where the hubs of a region are
/// small. Shows on stars of some hundred processes.
const FEW_ARCS: usize = 1 << 6;

/// Entries of the gain table that are changed in the time that an arc takes by itself.
const ENTRIES_PER_ARC: usize = 16;

/// Arcs that exchanges of hubs may walk for each proposal: about what the proposal itself costs.
const HUB_ARCS_PER_PROPOSAL: f64 = 8.0;

/// The same for each arc of the graph and proposal for a process, as a share: dense graphs consist of hubs, and shall
/// be annealed too.
const HUB_ARCS_PER_ARC: f64 = 0.1;

/// How long to anneal, and between which temperatures.
///
/// Temperatures are in units of the mean edge weight times the distance of the outermost level: at
/// temperature 1, one in e proposals is accepted that lets a mean edge become one between outermost groups.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Annealing {
    /// Proposals for each process.
    pub proposals: u32,
    /// The temperature at the start, above 0.
    pub initial_temperature: f64,
    /// The temperature at the end, above 0.
    pub final_temperature: f64,
}

impl Annealing {
    /// So many proposals for each process, between these temperatures.
    pub const fn new(proposals: u32, initial_temperature: f64, final_temperature: f64) -> Self {
        Self { proposals, initial_temperature, final_temperature }
    }

    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_positive("initial_temperature", self.initial_temperature)?;
        check_positive("final_temperature", self.final_temperature)
    }
}

/// A mapping that is not worse than the one before.
#[derive(Clone, Debug)]
pub(super) struct Improved {
    /// The PE of each process.
    pub pe_of: Vec<PeId>,
    /// By how much J fell.
    pub gain: Cost,
    /// Exchanges evaluated.
    pub tried: u64,
    /// Exchanges made.
    pub made: u64,
}

impl Improved {
    /// The mapping before.
    pub fn unchanged(pe_of: Vec<PeId>) -> Self {
        Self { pe_of, gain: 0, tried: 0, made: 0 }
    }
}

/// Improves the mapping that puts process i on PE `start[i]`. The observer may stop it between temperatures.
///
/// The hierarchy must be [simplified](Hierarchy::simplified).
pub(super) fn anneal(
    graph: &CsrGraph,
    hierarchy: &Hierarchy,
    start: &[PeId],
    schedule: &Annealing,
    seed: u64,
    observer: &dyn Observer,
) -> Improved {
    if hierarchy.arities().len() < 2 || graph.num_arcs() == 0 {
        return Improved::unchanged(start.to_vec());
    }
    if fits_32_bits(graph, hierarchy) {
        Walk::<i32>::new(graph, hierarchy, start, seed).run(schedule, observer)
    } else {
        Walk::<i64>::new(graph, hierarchy, start, seed).run(schedule, observer)
    }
}

/// Worsenings that draws accept, in temperatures.
static QUANTILES: LazyLock<[f32; 1024]> = LazyLock::new(metropolis::quantiles);

/// A walk through the mappings.
struct Walk<A> {
    table: GainTable<A>,
    tails: Vec<NodeId>,
    /// Mean edge weight times the greatest distance.
    unit: f64,
    rng: Rng,
    /// An exchange that walks no more arcs than this is free.
    free_arcs: usize,
    /// Arcs that exchanges of hubs may still walk.
    hub_budget: Budget,
    /// Change of half of J since the start.
    change: Cost,
    tried: u64,
    made: u64,
}

impl<A: Amount> Walk<A> {
    fn new(graph: &CsrGraph, hierarchy: &Hierarchy, start: &[PeId], seed: u64) -> Self {
        let mean = graph.total_arc_weight() as f64 / graph.num_arcs() as f64;
        Self {
            table: GainTable::new(graph, hierarchy, start),
            tails: graph.nodes().flat_map(|u| std::iter::repeat_n(u, graph.degree(u))).collect(),
            unit: mean * hierarchy.max_distance() as f64,
            rng: Rng::new(seed),
            free_arcs: MANY_ARCS.min(most_arcs_without_hub(graph, FEW_ARCS)),
            hub_budget: Budget::default(),
            change: 0,
            tried: 0,
            made: 0,
        }
    }

    fn run(mut self, schedule: &Annealing, observer: &dyn Observer) -> Improved {
        let n = self.table.num_processes();
        let total = u64::from(schedule.proposals) * n as u64;
        // Temperatures are changed no finer than a few proposals for each process allow to notice.
        let steps = (schedule.proposals / 2).clamp(1, 200);
        let mut best = self.table.mapping().to_vec();
        let mut best_change = 0;
        for step in 0..steps {
            if observer.should_stop() {
                break;
            }
            let cooled = f64::from(step) / f64::from(steps.max(2) - 1);
            let Annealing { initial_temperature, final_temperature, .. } = *schedule;
            let cooling = (final_temperature / initial_temperature).powf(cooled);
            let temperature = self.unit * initial_temperature * cooling;
            self.propose(total / u64::from(steps), temperature as f32);
            if self.change < best_change {
                best_change = self.change;
                best.copy_from_slice(self.table.mapping());
            }
        }
        if best_change < self.change {
            self.table.restore(&best);
            self.change = best_change;
        }
        let descended = descend(&mut self.table, observer);
        Improved {
            pe_of: self.table.mapping().to_vec(),
            gain: -2 * (self.change + descended.change),
            tried: self.tried + descended.tried,
            made: self.made + descended.made,
        }
    }

    /// Makes `count` proposals at a temperature.
    fn propose(&mut self, count: u64, temperature: f32) {
        let quantiles = &*QUANTILES;
        let num_arcs = self.table.num_arcs() as u64;
        let mean_degree = num_arcs as f64 / self.table.num_processes() as f64;
        let hub_arcs = count as f64 * (HUB_ARCS_PER_PROPOSAL + HUB_ARCS_PER_ARC * mean_degree);
        self.hub_budget.add(hub_arcs as usize);
        for _ in 0..count {
            // One draw serves nearly all: 32 bits for the arc, 8 for the level, 14 for the PE, 10 for the quantile.
            let bits = self.rng.next_u64();
            let arc = ((bits >> 32) * num_arcs) >> 32;
            let (u, near) = (self.tails[arc as usize], self.table.target(arc as usize));
            if self.table.group_of(u) == self.table.group_of(near) {
                continue;
            }
            let level = if bits & 0x80 == 0 { 0 } else { self.table.level(u, near) - 1 };
            let size = self.table.group_size_at(level);
            let position = position(bits >> 8, size, &mut self.rng);
            let v = self.table.process_on(self.table.first_pe(near, level) + position);
            let accepted = (quantiles[(bits >> 22 & 0x3ff) as usize] * temperature) as Cost;
            let accepted = A::of(accepted.min(A::GREATEST.cost()));
            if self.table.delta_unless_adjacent(u, v) <= accepted && self.pays_for(u, v) {
                let delta = self.table.delta(u, v);
                if delta <= accepted {
                    self.swap(u, v, delta);
                }
            }
        }
        self.tried += count;
    }

    /// Pays for an exchange from the budget of hubs if it has to, and if there is enough left.
    #[inline]
    fn pays_for(&mut self, u: NodeId, v: NodeId) -> bool {
        let arcs = self.table.arcs_of_swap(u, v);
        if arcs <= self.free_arcs {
            return true;
        }
        self.hub_budget.pays_for(arcs * (1 + self.table.entries_of_swap(u, v) / ENTRIES_PER_ARC))
    }

    #[inline]
    fn swap(&mut self, u: NodeId, v: NodeId, delta: A) {
        self.table.swap(u, v);
        self.change += delta.cost();
        self.made += 1;
    }
}

/// A position in `0..size`, by the last 14 of some random bits, or by bits of its own where these are too few.
#[inline]
fn position(bits: u64, size: u32, rng: &mut Rng) -> PeId {
    if size <= 1 << 14 { (((bits & 0x3fff) * u64::from(size)) >> 14) as PeId } else { rng.below(size) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    #[test]
    fn every_position_of_a_group_is_drawn() {
        let mut rng = Rng::new(1);
        for size in [5, 1 << 14, 20_000] {
            let mut seen = vec![false; size as usize];
            for _ in 0..40 * size {
                let bits = rng.next_u64();
                seen[position(bits, size, &mut rng) as usize] = true;
            }
            assert!(seen.iter().all(|&seen| seen), "{size}");
        }
    }

    /// In a clique every exchange would be accepted, as all mappings cost the same.
    #[test]
    fn exchanges_of_hubs_are_paid_from_their_budget() {
        let n = 600;
        let mut builder = GraphBuilder::new(n);
        for u in 0..n as NodeId {
            for v in 0..u {
                builder.add_edge(u, v, 1);
            }
        }
        let graph = builder.build().unwrap();
        let hierarchy = Hierarchy::parse("6:100", "1:10").unwrap();
        let start: Vec<PeId> = (0..n as PeId).collect();
        let schedule = Annealing::new(100, 0.1, 0.02);
        let improved = anneal(&graph, &hierarchy, &start, &schedule, 1, &());
        let (proposals, degree) = (f64::from(schedule.proposals) * n as f64, (n - 1) as f64);
        let budget = proposals * (HUB_ARCS_PER_PROPOSAL + HUB_ARCS_PER_ARC * degree);
        assert!(improved.made > 0);
        assert!(improved.made as f64 <= budget / (2.0 * degree), "{}", improved.made);
        assert!(budget / (2.0 * degree) < proposals / 10.0);
    }
}
