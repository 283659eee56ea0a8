//! Annealing of a mapping to a regular tree small enough for a gain table, from a good start and at low
//! temperature.
//!
//! A proposal draws an arc (u, v) and exchanges u with a process near v: one of the innermost group of v, or
//! one of the largest group that contains v but not u. Every proposal thus moves u closer to a neighbour,
//! which is the only way to gain. The start comes from a multilevel partitioner, whose outermost groups are
//! better than annealing would find. The initial temperature is low enough to keep them: only the boundaries
//! of groups change.
//!
//! A proposal takes four look-ups in the [`GainTable`]. An accepted one also updates the table, in time
//! proportional to the degrees of the two processes. Hubs own most arcs, so most proposals would move one.
//! Hubs therefore have a budget, and proposals beyond it are rejected. At the end, a [descent] leads to a
//! mapping that no exchange of two processes improves.

mod descent;
mod gain_table;

use std::sync::LazyLock;

use descent::descend;
use gain_table::{Amount, GainTable, MANY_ARCS, fits_32_bits};

use super::Improved;
use super::schedule::{Schedule, State, cool, improved};
use crate::base::budget::Budget;
use crate::base::metropolis;
use crate::base::observer::Observer;
use crate::base::rng::Rng;
use crate::base::settings::{ConfigError, check_positive};
use crate::base::types::{Cost, NodeId, PeId};
use crate::graph::CsrGraph;
use crate::graph::hubs::most_arcs_without_hub;
use crate::machine::Hierarchy;

/// In graphs of low mean degree, an exchange that traverses more arcs than this is charged to the budget of
/// hubs. Balances J against time where the hubs of a region are small; visible on stars of a few hundred
/// processes.
const FEW_ARCS: usize = 1 << 6;

/// Entries of the gain table that can be changed in the time of one arc.
const ENTRIES_PER_ARC: usize = 16;

/// Arcs that exchanges of hubs may traverse per proposal: about the cost of the proposal itself.
const HUB_ARCS_PER_PROPOSAL: f64 = 8.0;

/// Additional arcs per proposal, as a share of the mean degree: in dense graphs all processes are hubs and
/// must be annealed too.
const HUB_ARCS_PER_ARC: f64 = 0.1;

/// The settings of annealing: its length, and its temperatures.
///
/// Temperatures are in units of the mean edge weight times the outermost distance. At temperature 1, a
/// proposal that moves an edge of mean weight from distance 0 to the outermost distance is accepted with
/// probability 1/e.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TreeCooling {
    /// Proposals for each process.
    pub proposals: u32,
    /// The temperature at the start, above 0.
    pub initial_temperature: f64,
    /// The temperature at the end, above 0.
    pub final_temperature: f64,
}

impl TreeCooling {
    /// This number of proposals for each process, between these temperatures.
    pub const fn new(proposals: u32, initial_temperature: f64, final_temperature: f64) -> Self {
        Self { proposals, initial_temperature, final_temperature }
    }

    /// Returns whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_positive("initial_temperature", self.initial_temperature)?;
        check_positive("final_temperature", self.final_temperature)
    }
}

/// The input of annealing.
#[derive(Clone, Copy)]
pub(crate) struct TreeProblem<'a> {
    pub graph: &'a CsrGraph,
    /// The machine, which must be [simplified](Hierarchy::simplified).
    pub hierarchy: &'a Hierarchy,
    /// Per process: true if it must stay on its PE; empty if none must.
    pub is_fixed: &'a [bool],
}

/// Improves the mapping that puts process i on PE `start[i]`. The observer may stop it between temperatures.
pub(crate) fn anneal(
    problem: &TreeProblem<'_>,
    start: &[PeId],
    cooling: &TreeCooling,
    seed: u64,
    observer: &dyn Observer,
) -> Improved {
    let TreeProblem { graph, hierarchy, .. } = *problem;
    if hierarchy.arities().len() < 2 || graph.num_arcs() == 0 {
        return Improved::unchanged(start.to_vec());
    }
    if fits_32_bits(graph, hierarchy) {
        Walk::<i32>::new(problem, start, seed, observer).run(cooling)
    } else {
        Walk::<i64>::new(problem, start, seed, observer).run(cooling)
    }
}

/// Worsenings that are accepted, in units of the temperature, by rank.
static QUANTILES: LazyLock<[f32; RANKS]> = LazyLock::new(metropolis::quantiles);

/// Number of [`QUANTILES`]: all values that the bits of a [`Draw`] for the rank can take.
const RANKS: usize = 1 << 10;

/// The random number of a proposal. Each part of the draw uses bits of its own.
///
/// | bits | use |
/// |---|---|
/// | 7 | the group near the neighbour: its innermost one, or the largest without the process |
/// | 8..22 | the position in the group, if these bits suffice for the PEs of the group |
/// | 22..32 | the rank of the largest worsening that is accepted |
/// | 32..64 | the arc |
#[derive(Clone, Copy)]
struct Draw(u64);

impl Draw {
    /// Bits for the position in a group.
    const POSITION_BITS: u32 = 14;

    #[inline(always)]
    fn is_innermost(self) -> bool {
        self.0 & 0x80 == 0
    }

    /// A position in `0..size`; draws another random number if the bits do not suffice.
    #[inline(always)]
    fn position(self, size: u32, rng: &mut Rng) -> PeId {
        let count = 1 << Self::POSITION_BITS;
        match size <= count {
            true => (((self.0 >> 8 & u64::from(count - 1)) * u64::from(size)) >> Self::POSITION_BITS) as PeId,
            false => rng.below(size),
        }
    }

    #[inline(always)]
    fn rank(self) -> usize {
        (self.0 >> 22) as usize & (RANKS - 1)
    }

    /// One of `count` arcs.
    #[inline(always)]
    fn arc(self, count: usize) -> usize {
        (((self.0 >> 32) * count as u64) >> 32) as usize
    }
}

/// A walk through the mappings.
struct Walk<'a, A> {
    table: GainTable<A>,
    /// Per process: true if it must stay on its PE; empty if none must.
    is_fixed: &'a [bool],
    tails: Vec<NodeId>,
    /// Mean edge weight times the largest distance.
    unit: f64,
    rng: Rng,
    /// Proposals of a sweep.
    proposals: u64,
    /// Exchanges that traverse at most this many arcs are not charged.
    free_arcs: usize,
    /// Arcs that exchanges of hubs may still traverse.
    hub_budget: Budget,
    /// Change of J/2 since the start.
    change: Cost,
    tried: u64,
    made: u64,
    observer: &'a dyn Observer,
}

impl<'a, A: Amount> Walk<'a, A> {
    fn new(problem: &TreeProblem<'a>, start: &[PeId], seed: u64, observer: &'a dyn Observer) -> Self {
        let TreeProblem { graph, hierarchy, is_fixed } = *problem;
        let mean = graph.total_arc_weight() as f64 / graph.num_arcs() as f64;
        Self {
            table: GainTable::new(graph, hierarchy, start),
            is_fixed,
            tails: graph.nodes().flat_map(|u| std::iter::repeat_n(u, graph.degree(u))).collect(),
            unit: mean * hierarchy.max_distance() as f64,
            rng: Rng::new(seed),
            proposals: 0,
            free_arcs: MANY_ARCS.min(most_arcs_without_hub(graph, FEW_ARCS)),
            hub_budget: Budget::default(),
            change: 0,
            tried: 0,
            made: 0,
            observer,
        }
    }

    fn run(mut self, cooling: &TreeCooling) -> Improved {
        // More temperatures than this would not matter with so few proposals per process.
        let num_sweeps = (cooling.proposals / 2).clamp(1, 200);
        let all = u64::from(cooling.proposals) * self.table.num_processes() as u64;
        self.proposals = all / u64::from(num_sweeps);
        let TreeCooling { initial_temperature, final_temperature, .. } = *cooling;
        let ratio = final_temperature / initial_temperature;
        let schedule = Schedule::new(self.unit * initial_temperature, ratio, num_sweeps as usize);
        cool(&mut self, &schedule);
        let descended = descend(&mut self.table, self.is_fixed, self.observer);
        self.change += descended.change;
        self.tried += descended.tried;
        self.made += descended.made;
        improved(&self)
    }

    /// The tail of an arc and a process near its head; `None` if both ends are already in the same group.
    #[inline(always)]
    fn pair(&mut self, draw: Draw) -> Option<(NodeId, NodeId)> {
        let table = &self.table;
        let arc = draw.arc(table.num_arcs());
        let (u, near) = (self.tails[arc], table.target(arc));
        if table.group_of(u) == table.group_of(near) {
            return None;
        }
        let level = if draw.is_innermost() { 0 } else { table.level(u, near) - 1 };
        let position = draw.position(table.group_size_at(level), &mut self.rng);
        Some((u, table.process_on(table.first_pe(near, level) + position)))
    }

    /// Returns whether both processes may move.
    #[inline]
    fn are_free(&self, u: NodeId, v: NodeId) -> bool {
        self.is_fixed.is_empty() || !(self.is_fixed[u as usize] || self.is_fixed[v as usize])
    }

    /// Charges an exchange to the budget of hubs, if it has to be; returns whether the budget sufficed.
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

impl<A: Amount> State for Walk<'_, A> {
    fn sweep(&mut self, temperature: f32) -> bool {
        if self.observer.should_stop() {
            return false;
        }
        let quantiles = &*QUANTILES;
        let mean_degree = self.table.num_arcs() as f64 / self.table.num_processes() as f64;
        let hub_arcs = self.proposals as f64 * (HUB_ARCS_PER_PROPOSAL + HUB_ARCS_PER_ARC * mean_degree);
        self.hub_budget.add(hub_arcs as usize);
        for _ in 0..self.proposals {
            let draw = Draw(self.rng.next_u64());
            let Some((u, v)) = self.pair(draw) else { continue };
            let accepted = (quantiles[draw.rank()] * temperature) as Cost;
            let accepted = A::of(accepted.min(A::GREATEST.cost()));
            // Nearly all proposals are refused before they need to be looked up.
            let is_likely = self.table.delta_unless_adjacent(u, v) <= accepted;
            if is_likely && self.are_free(u, v) && self.pays_for(u, v) {
                let delta = self.table.delta(u, v);
                if delta <= accepted {
                    self.swap(u, v, delta);
                }
            }
        }
        self.tried += self.proposals;
        true
    }

    fn change(&self) -> Cost {
        self.change
    }

    fn place_of(&self) -> &[PeId] {
        self.table.mapping()
    }

    fn restore(&mut self, place_of: &[PeId], change: Cost) {
        self.table.restore(place_of);
        self.change = change;
    }

    fn counts(&self) -> [u64; 2] {
        [self.tried, self.made]
    }
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
                let draw = Draw(rng.next_u64());
                seen[draw.position(size, &mut rng) as usize] = true;
            }
            assert!(seen.iter().all(|&seen| seen), "{size}");
        }
    }

    /// In a clique every exchange would be accepted, because all mappings have the same cost.
    #[test]
    fn exchanges_of_hubs_are_charged_to_their_budget() {
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
        let cooling = TreeCooling::new(100, 0.1, 0.02);
        let problem = TreeProblem { graph: &graph, hierarchy: &hierarchy, is_fixed: &[] };
        let improved = anneal(&problem, &start, &cooling, 1, &());
        let (proposals, degree) = (f64::from(cooling.proposals) * n as f64, (n - 1) as f64);
        let budget = proposals * (HUB_ARCS_PER_PROPOSAL + HUB_ARCS_PER_ARC * degree);
        assert!(improved.made > 0);
        assert!(improved.made as f64 <= budget / (2.0 * degree), "{}", improved.made);
        assert!(budget / (2.0 * degree) < proposals / 10.0);
    }
}
