//! Annealing on any machine, using distances only.
//!
//! A turn draws an arc (u, x) of a process u. It proposes to exchange u with one of the processes on a few
//! places near that of x. Every proposal thus moves u closer to a neighbour, which is the only way to gain.
//! The temperatures are derived from the problem: at the initial and the final temperature, given shares of
//! the worsening proposals are accepted.
//!
//! Processes have their turns in the order of their places, so that memory accesses stay local.
//!
//! The communication cost of each process is kept up to date. The cost of u on the drawn places therefore
//! takes O(deg u) distances each. The other side, O(deg v), is evaluated for only one candidate v: the one
//! with the best exchange if v reached its lowest possible cost, and only if that exchange could be accepted.
//! An exchange takes O(deg u + deg v) more.
//!
//! Annealing can be restricted to the processes on a range of places while all others stay where they are
//! ([`AnnealingContext::anneal`]).

mod context;
mod region;

pub use context::{AnnealingContext, FIXED};

use region::Region;

use std::ops::Range;
use std::sync::LazyLock;

use super::Improved;
use super::near::FEW;
use super::schedule::{Schedule, State, cool, improved};
use crate::base::budget::Budget;
use crate::base::metropolis;
use crate::base::rng::Rng;
use crate::base::settings::{ConfigError, check_share};
use crate::base::types::{Cost, NodeId, PeId, Weight};
use crate::graph::CsrGraph;
use crate::graph::hubs::FEWEST_ARCS;
use crate::machine::Metric;

/// The settings of annealing: its length, and its temperatures.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Cooling {
    /// Proposals for each process.
    pub proposals: u32,
    /// The share of worsening proposals that is accepted at the initial temperature, above 0 and at most 1.
    pub initial_acceptance: f64,
    /// The share of worsening proposals that is accepted at the final temperature, above 0 and at most 1.
    pub final_acceptance: f64,
}

impl Cooling {
    /// Returns whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_share("initial_acceptance", self.initial_acceptance)?;
        check_share("final_acceptance", self.final_acceptance)
    }
}

/// Turns between two checks of the observer.
const GRAIN: usize = 1 << 10;

/// Proposals sampled to derive the temperatures.
const SAMPLES: usize = 128;

/// A loss that no exchange exceeds, small enough to be added to a cost without overflow.
const GREATEST_LOSS: f32 = (1u64 << 61) as f32;

/// Bisection steps of the search for a temperature: they narrow the range to half a percent.
const HALVINGS: usize = 12;

/// Worsenings that are accepted, in units of the temperature, by rank.
static QUANTILES: LazyLock<[f32; RANKS]> = LazyLock::new(metropolis::quantiles);

/// Number of [`QUANTILES`]: all values that the bits of a [`Draw`] for the rank can take.
const RANKS: usize = 1 << 8;

/// The random number of a turn. Each part of the draw uses bits of its own.
///
/// | bits | use |
/// |---|---|
/// | 0..8 | the places, among those near the centre |
/// | 8..16 | the centre, among the places near that of the neighbour |
/// | 16..18 | whether that centre is used, one time in four; otherwise the centre is the place of the neighbour |
/// | 18..26 | the rank of the largest worsening that is accepted |
/// | 40..64 | the arc to the neighbour |
#[derive(Clone, Copy)]
struct Draw(u64);

impl Draw {
    #[inline(always)]
    fn places(self) -> u32 {
        (self.0 & 0xff) as u32
    }

    #[inline(always)]
    fn middle(self) -> u32 {
        (self.0 >> 8 & 0xff) as u32
    }

    #[inline(always)]
    fn uses_middle(self) -> bool {
        self.0 >> 16 & 3 == 0
    }

    #[inline(always)]
    fn rank(self) -> usize {
        (self.0 >> 18) as usize & (RANKS - 1)
    }

    /// One of `count` arcs.
    #[inline(always)]
    fn arc(self, count: usize) -> usize {
        (((self.0 >> 40) * count as u64) >> 24) as usize
    }
}

impl<M: Metric> AnnealingContext<'_, M> {
    /// Anneals the processes on a range of places. Process u is on place `place_of[u]`, and `process_on` is
    /// the inverse. In the result, processes are numbered by their original places.
    pub fn anneal(
        &self,
        graph: &CsrGraph,
        place_of: &[PeId],
        process_on: &[NodeId],
        places: Range<PeId>,
        cooling: &Cooling,
        seed: u64,
    ) -> Improved {
        let mut processes = process_on[places.start as usize..places.end as usize].iter();
        let is_light = |(_, weight): (NodeId, Weight)| i32::try_from(weight).is_ok();
        let is_narrow = processes.all(|&process| graph.arcs(process).all(is_light));
        if is_narrow {
            let region = Region::<M::Key, i32>::new(graph, self, place_of, process_on, places);
            Walk::new(self, region, seed).run(cooling)
        } else {
            let region = Region::<M::Key, Weight>::new(graph, self, place_of, process_on, places);
            Walk::new(self, region, seed).run(cooling)
        }
    }
}

/// A walk through the mappings of a region.
struct Walk<'a, M: Metric, W> {
    site: &'a AnnealingContext<'a, M>,
    region: Region<M::Key, W>,
    /// Processes with neighbours that may move, in the order of their initial places.
    talking: Vec<NodeId>,
    /// The current communication cost of each process.
    pays: Vec<Cost>,
    /// A lower bound on the communication cost of each process.
    least: Vec<Cost>,
    /// The worsening that is accepted at the current temperature, by rank.
    accepted: [Cost; RANKS],
    rng: Rng,
    /// Arcs of hubs that may still be traversed.
    hub_budget: Budget,
    /// Change of J/2 since the start.
    change: Cost,
    tried: u64,
    made: u64,
}

impl<'a, M: Metric, W: Copy + TryFrom<Weight> + Into<Weight>> Walk<'a, M, W> {
    fn new(site: &'a AnnealingContext<'a, M>, region: Region<M::Key, W>, seed: u64) -> Self {
        let processes = 0..region.num_processes() as NodeId;
        let may_move = |&process: &NodeId| !region.is_fixed(process) && !region.arcs(process).is_empty();
        let talking = processes.filter(may_move).collect();
        let pays = region.payments(site.metric);
        let least = region.least_payments(site.near.least());
        let (accepted, rng) = ([0; RANKS], Rng::new(seed));
        Self {
            site,
            region,
            talking,
            pays,
            least,
            accepted,
            rng,
            hub_budget: Budget::default(),
            change: 0,
            tried: 0,
            made: 0,
        }
    }

    fn run(mut self, cooling: &Cooling) -> Improved {
        if let Some(temperatures) = self.temperatures(cooling) {
            let schedule = self.schedule(cooling, temperatures);
            cool(&mut self, &schedule);
        }
        improved(&self)
    }

    /// The number of sweeps that use up the proposals. In a sweep, each process with neighbours has one turn.
    fn schedule(&self, cooling: &Cooling, (initial, last): (f64, f64)) -> Schedule {
        let proposals = u64::from(cooling.proposals) * self.region.num_processes() as u64;
        let turns = (proposals as usize).div_ceil(FEW);
        Schedule::new(initial, last / initial, turns.div_ceil(self.talking.len().max(1)))
    }

    /// The temperatures at which the given shares of worsening proposals are accepted; `None` if no proposal
    /// makes the mapping worse.
    fn temperatures(&mut self, cooling: &Cooling) -> Option<(f64, f64)> {
        if self.talking.is_empty() {
            return None;
        }
        let mut losses: Vec<f64> = Vec::with_capacity(SAMPLES);
        for _ in 0..2 * SAMPLES {
            let u = self.talking[self.rng.below(self.talking.len() as u32) as usize];
            let draw = Draw(self.rng.next_u64());
            let [place, ..] = self.places(u, draw);
            if let Some(v) = self.partner(u, place) {
                let delta = self.delta(u, v);
                losses.extend(Some(delta as f64).filter(|&delta| delta > 0.0));
            }
        }
        let greatest = losses.iter().copied().fold(0.0, f64::max);
        if greatest == 0.0 {
            return None;
        }
        let temperature = |share: f64| {
            let (mut low, mut high) = (greatest * 1e-6, greatest * 1e3);
            for _ in 0..HALVINGS {
                let middle = f64::sqrt(low * high);
                let accepted: f64 = losses.iter().map(|loss| (-loss / middle).exp()).sum();
                if accepted > share * losses.len() as f64 { high = middle } else { low = middle }
            }
            high
        };
        Some((temperature(cooling.initial_acceptance), temperature(cooling.final_acceptance)))
    }

    /// Some places near that of a neighbour of `u`.
    #[inline(always)]
    fn places(&self, u: NodeId, draw: Draw) -> [PeId; FEW] {
        let (arcs, near) = (self.region.arcs(u), self.site.near);
        let (head, _) = arcs[draw.arc(arcs.len())];
        let there = self.region.place(head);
        let [beside, ..] = near.pick(there, draw.middle());
        // Sometimes go one hop further: to places near a place near the neighbour.
        let middle = if draw.uses_middle() { beside } else { there };
        near.pick(middle, draw.places())
    }

    /// The process on a place, if it may be exchanged with `u`.
    #[inline]
    fn partner(&self, u: NodeId, place: PeId) -> Option<NodeId> {
        let v = self.region.process_on(place)?;
        (u != v && self.region.may_exchange(self.region.place(u), place)).then_some(v)
    }

    /// The change of J/2 if two processes exchange their places.
    fn delta(&self, u: NodeId, v: NodeId) -> Cost {
        let (region, metric) = (&self.region, self.site.metric);
        if region.are_interchangeable(metric, u, v) {
            return 0;
        }
        let [of_u] = region.costs(metric, u, [region.key(v)]);
        let [of_v] = region.costs(metric, v, [region.key(u)]);
        of_u - self.pays[u as usize] + of_v - self.pays[v as usize] + 2 * region.of_edge(metric, u, v)
    }

    /// Exchanges a process with the most promising of several others, if that is accepted.
    #[inline]
    fn turn(&mut self, u: NodeId) {
        let draw = Draw(self.rng.next_u64());
        let most = self.accepted[draw.rank()] + self.pays[u as usize];
        if let Some((v, of_u, bound)) = self.most_promising(u, draw)
            && bound <= most
            && self.pays_for(v)
        {
            self.exchange(u, v, of_u, most - of_u);
        }
    }

    /// Among the processes on the drawn places, the one whose exchange with `u` would be best if it reached
    /// its lowest possible cost. Returns it, the cost of `u` on its place, and how much the costs of both
    /// would then exceed the present ones.
    #[inline(always)]
    fn most_promising(&self, u: NodeId, draw: Draw) -> Option<(NodeId, Cost, Cost)> {
        let places = self.places(u, draw);
        let keys = places.map(|place| self.site.key_of[place as usize]);
        let costs = self.region.costs(self.site.metric, u, keys);
        let (mut best, mut least) = (None, Cost::MAX);
        for (place, of_u) in places.into_iter().zip(costs) {
            let Some(v) = self.partner(u, place) else { continue };
            let bound = of_u + self.least[v as usize] - self.pays[v as usize];
            if bound < least {
                (best, least) = (Some((v, of_u, bound)), bound);
            }
        }
        best
    }

    /// Charges the budget for an exchange with a process that is a hub; returns whether the budget sufficed.
    /// All neighbours of a hub propose to exchange with it, and each evaluation traverses all arcs of the
    /// hub. With one to ten hubs among 4096 processes on a 64 x 64 mesh, J is the same as without a budget.
    #[inline]
    fn pays_for(&mut self, v: NodeId) -> bool {
        let arcs = self.region.arcs(v).len();
        arcs <= FEWEST_ARCS || self.hub_budget.pays_for(arcs)
    }

    /// Exchanges two processes unless the cost increase of the second, plus the correction for their common
    /// edge, exceeds `most`. `of_u` is the cost of the first on the place of the second.
    fn exchange(&mut self, u: NodeId, v: NodeId, of_u: Cost, most: Cost) {
        let (region, metric) = (&mut self.region, self.site.metric);
        let (p, q) = (region.key(u), region.key(v));
        let [of_v] = region.costs(metric, v, [p]);
        if of_v - self.pays[v as usize] > most || metric.interchangeable(p, q) {
            return;
        }
        let edge = region.of_edge(metric, u, v);
        if of_v - self.pays[v as usize] + 2 * edge > most {
            return;
        }
        self.change += of_u - self.pays[u as usize] + of_v - self.pays[v as usize] + 2 * edge;
        self.made += 1;
        region.add_move(metric, u, [p, q], &mut self.pays);
        region.add_move(metric, v, [q, p], &mut self.pays);
        (self.pays[u as usize], self.pays[v as usize]) = (of_u + edge, of_v + edge);
        region.swap(u, v);
    }
}

impl<M: Metric, W: Copy + TryFrom<Weight> + Into<Weight>> State for Walk<'_, M, W> {
    /// Gives each process that has neighbours a turn.
    fn sweep(&mut self, temperature: f32) -> bool {
        self.accepted = QUANTILES.map(|quantile| (quantile * temperature).min(GREATEST_LOSS) as Cost);
        // As many as the turns of this sweep traverse.
        self.hub_budget.add(FEW * self.region.num_arcs());
        for begin in (0..self.talking.len()).step_by(GRAIN) {
            if self.site.observer.should_stop() {
                return false;
            }
            let end = self.talking.len().min(begin + GRAIN);
            for index in begin..end {
                self.turn(self.talking[index]);
            }
            self.tried += (FEW * (end - begin)) as u64;
        }
        true
    }

    fn change(&self) -> Cost {
        self.change
    }

    fn place_of(&self) -> &[PeId] {
        &self.region.place_of
    }

    fn restore(&mut self, place_of: &[PeId], change: Cost) {
        self.region.restore(self.site.key_of, place_of);
        self.change = change;
    }

    fn counts(&self) -> [u64; 2] {
        [self.tried, self.made]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{DistanceOracle, Grid, Machine};
    use crate::mapping::annealing::Near;
    use crate::testing::{Counted, in_halves, star};

    /// Counts the distances read while annealing a star around the middle of a square mesh.
    fn looked_at(side: u32) -> usize {
        let distances = Grid::mesh(&[side, side]).unwrap().distances().unwrap();
        let oracle = &Counted::new(&distances);
        let n = oracle.num_pes() as NodeId;
        let middle = n / 2 + n.isqrt() / 2;
        let place_of: Vec<PeId> = (0..n).collect();
        let key_of: Vec<_> = place_of.iter().map(|&place| oracle.key(place)).collect();
        let near = Near::new(oracle, &key_of, Some(&in_halves(key_of.len())), &());
        let site =
            AnnealingContext { metric: oracle, key_of: &key_of, near: &near, kinds: &[], observer: &() };
        let cooling = Cooling { proposals: 40, initial_acceptance: 0.1, final_acceptance: 0.01 };
        let before = oracle.count();
        site.anneal(&star(n as usize, middle), &place_of, &place_of, 0..n, &cooling, 1);
        oracle.count() - before
    }

    #[test]
    fn stars_are_annealed_in_proportion_to_their_size() {
        let (few, many) = (looked_at(40), looked_at(80));
        assert!(many < 6 * few, "{few} {many}");
    }
}
