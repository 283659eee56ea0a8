//! Simulated annealing of exchanges, on any machine.
//!
//! A proposal draws an arc (u, x) of a process u and exchanges u with the process on a place near that of x: so u comes
//! nearer to a partner with every proposal, which is the only way to gain. Worse mappings are accepted as by Metropolis et
//! al. (1953), and the temperature falls geometrically (Kirkpatrick, Gelatt and Vecchi 1983), between temperatures that are
//! taken from the problem at hand: those at which given shares of the proposals that make it worse are accepted.
//!
//! Processes have their turns in the order of their places, so that what is looked at lies together in memory. A process has
//! several proposals in a turn, as its arcs are at hand then; the first that is accepted ends it.
//!
//! What each process pays is kept up to date, so a proposal costs O(deg u) distances for what u would pay. The other side,
//! O(deg v), is looked at only if the exchange could be accepted if v came to pay the least it
//! can: most proposals end before. An exchange that is made costs O(deg u + deg v) more.
//!
//! It works on the processes on a range of places, while all others stay where they are ([`Site::anneal`]).

mod near;
mod region;

pub use near::Near;
use region::Region;

use std::ops::Range;

use crate::graph::CsrGraph;
use crate::observer::Observer;
use crate::rng::Rng;
use crate::settings::{ConfigError, check_share};
use crate::topology::Metric;
use crate::types::{Cost, NodeId, PeId, Weight};

/// How long to anneal, and between which temperatures.
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
    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_share("initial_acceptance", self.initial_acceptance)?;
        check_share("final_acceptance", self.final_acceptance)
    }
}

/// A mapping of a region that is not worse than the one before.
#[derive(Clone, Debug)]
pub struct Annealed {
    /// The place of each process of the region, in the region's numbering of processes.
    pub place_of: Vec<PeId>,
    /// By how much J fell.
    pub gain: Cost,
    /// Exchanges evaluated.
    pub tried: u64,
    /// Exchanges made.
    pub made: u64,
}

/// Turns between two questions to the observer.
const GRAIN: usize = 1 << 10;

/// Proposals in a turn: with two, arcs are read twice as often; with eight, more are thrown away after one is accepted.
const TURN: usize = 4;

/// Proposals that are looked at to find the temperatures.
const SAMPLES: usize = 256;

/// A loss that no exchange exceeds, and small enough to be added to a cost.
const GREATEST_LOSS: f32 = (1u64 << 61) as f32;

/// Halvings of the range that a temperature is looked for in.
const HALVINGS: usize = 24;

/// Ranks of the quantiles of the exponential distribution.
const RANKS: usize = 1 << 12;

/// The quantiles of the exponential distribution with mean 1, by rank: the worsening that a draw accepts, in
/// temperatures. A table saves a logarithm for each proposal.
static QUANTILES: std::sync::LazyLock<Vec<f32>> = std::sync::LazyLock::new(|| {
    (0..RANKS).map(|rank| -((rank as f64 + 0.5) / RANKS as f64).ln() as f32).collect()
});

/// Where processes are annealed: the places of a machine, or of a part of one.
pub struct Site<'a, M: Metric> {
    /// The distances.
    pub metric: &'a M,
    /// The key of each place.
    pub key_of: &'a [M::Key],
    /// What is near each place.
    pub near: &'a Near,
    /// The kind of each place, if processes may be exchanged only between places of one kind; else empty.
    pub kinds: &'a [u32],
    /// May end it early; the result then is the best mapping so far.
    pub observer: &'a dyn Observer,
}

impl<M: Metric> Site<'_, M> {
    /// Anneals the processes on a range of places, where process u is on place `place_of[u]` and `process_on` is the
    /// inverse of that.
    pub fn anneal(
        &self,
        graph: &CsrGraph,
        place_of: &[PeId],
        process_on: &[NodeId],
        places: Range<PeId>,
        cooling: &Cooling,
        seed: u64,
    ) -> Annealed {
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
    site: &'a Site<'a, M>,
    region: Region<M::Key, W>,
    /// Processes that have neighbours, in the order of their places at the beginning.
    talking: Vec<NodeId>,
    /// What each process pays now.
    pays: Vec<Cost>,
    /// What each process pays at least.
    least: Vec<Cost>,
    rng: Rng,
    /// Change of half of J since the start.
    change: Cost,
    tried: u64,
    made: u64,
}

impl<'a, M: Metric, W: Copy + TryFrom<Weight> + Into<Weight>> Walk<'a, M, W> {
    fn new(site: &'a Site<'a, M>, region: Region<M::Key, W>, seed: u64) -> Self {
        let processes = 0..region.num_processes() as NodeId;
        let talking = processes.filter(|&process| !region.arcs(process).is_empty()).collect();
        let pays = region.payments(site.metric);
        let least = region.least_payments(site.near.least());
        Self { site, region, talking, pays, least, rng: Rng::new(seed), change: 0, tried: 0, made: 0 }
    }

    fn run(mut self, cooling: &Cooling) -> Annealed {
        if let Some(temperatures) = self.temperatures(cooling) {
            self.cool(cooling, temperatures);
        }
        let Self { region, change, tried, made, .. } = self;
        Annealed { place_of: region.place_of, gain: -2 * change, tried, made }
    }

    /// Makes proposals while the temperature falls, and returns to the best mapping.
    fn cool(&mut self, cooling: &Cooling, (initial, last): (f64, f64)) {
        let proposals = u64::from(cooling.proposals) * self.region.num_processes() as u64;
        let turns = (proposals as usize).div_ceil(TURN);
        // In a round each process that has neighbours has a turn.
        let rounds = turns.div_ceil(self.talking.len().max(1));
        let mut best = (0, self.region.place_of.clone());
        for round in 0..rounds {
            let cooled = round as f64 / (rounds.max(2) - 1) as f64;
            let temperature = initial * (last / initial).powf(cooled);
            if !self.round(temperature as f32) {
                break;
            }
            if self.change < best.0 {
                best.0 = self.change;
                best.1.copy_from_slice(&self.region.place_of);
            }
        }
        if best.0 < self.change {
            self.region.restore(self.site.key_of, best.1);
            self.change = best.0;
        }
    }

    /// The temperatures at which the given shares of worsening proposals are accepted; none if no proposal makes the
    /// mapping worse.
    fn temperatures(&mut self, cooling: &Cooling) -> Option<(f64, f64)> {
        if self.talking.is_empty() {
            return None;
        }
        let mut losses: Vec<f64> = Vec::with_capacity(SAMPLES);
        for _ in 0..2 * SAMPLES {
            let u = self.talking[self.rng.below(self.talking.len() as u32) as usize];
            let bits = self.rng.next_u64();
            if let Some(v) = self.draw(u, bits) {
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

    /// The process on a place near that of a neighbour of `u`, drawn by 44 random bits; none if that is not to be
    /// exchanged with `u`.
    #[inline]
    fn draw(&self, u: NodeId, bits: u64) -> Option<NodeId> {
        let arcs = self.region.arcs(u);
        let (head, _) = arcs[(((bits >> 40) * arcs.len() as u64) >> 24) as usize];
        let mut place = self.site.near.pick(self.region.place(head), (bits & 0xff) as u32);
        // Now and then a place near a near one: what is one hop off may be out of reach of what is at it.
        if bits >> 8 & 3 == 0 {
            place = self.site.near.pick(place, (bits >> 10 & 0xff) as u32);
        }
        let v = self.region.process_on(place)?;
        (u != v && self.region.may_exchange(self.region.place(u), place)).then_some(v)
    }

    /// By how much half of J changes when two processes exchange their places.
    fn delta(&self, u: NodeId, v: NodeId) -> Cost {
        let (region, metric) = (&self.region, self.site.metric);
        if region.are_interchangeable(metric, u, v) {
            return 0;
        }
        let [of_u] = region.costs(metric, u, [region.key(v)]);
        let [of_v] = region.costs(metric, v, [region.key(u)]);
        of_u - self.pays[u as usize] + of_v - self.pays[v as usize] + 2 * region.of_edge(metric, u, v)
    }

    /// Gives each process that has neighbours a turn at a temperature; whether the observer let it end.
    fn round(&mut self, temperature: f32) -> bool {
        for begin in (0..self.talking.len()).step_by(GRAIN) {
            if self.site.observer.should_stop() {
                return false;
            }
            let end = self.talking.len().min(begin + GRAIN);
            for index in begin..end {
                self.turn(self.talking[index], temperature);
            }
            self.tried += (TURN * (end - begin)) as u64;
        }
        true
    }

    /// Makes some proposals for a process.
    #[inline]
    fn turn(&mut self, u: NodeId, temperature: f32) {
        let quantiles = &QUANTILES[..RANKS];
        // One draw serves a proposal: 24 bits for the arc, 18 for the place, 12 for the quantile.
        let bits: [u64; TURN] = std::array::from_fn(|_| self.rng.next_u64());
        // What cannot be exchanged is exchanged with itself.
        let others = bits.map(|bits| self.draw(u, bits).unwrap_or(u));
        let at = others.map(|v| self.region.key(v));
        let costs = self.region.costs(self.site.metric, u, at);
        let pays = self.pays[u as usize];
        for ((v, of_u), bits) in others.into_iter().zip(costs).zip(bits) {
            let accepted = quantiles[(bits >> 20) as usize & (RANKS - 1)] * temperature;
            let accepted = accepted.min(GREATEST_LOSS) as Cost;
            let most = accepted - (of_u - pays);
            if self.least[v as usize] - self.pays[v as usize] <= most
                && u != v
                && self.exchange(u, v, of_u, most)
            {
                return;
            }
        }
    }

    /// Exchanges two processes unless what the second comes to pay more, and what their edge costs beyond that, exceeds
    /// `most`; whether it does so. `of_u` is what the first would pay where the second is.
    fn exchange(&mut self, u: NodeId, v: NodeId, of_u: Cost, most: Cost) -> bool {
        let (region, metric) = (&mut self.region, self.site.metric);
        let (p, q) = (region.key(u), region.key(v));
        let [of_v] = region.costs(metric, v, [p]);
        if of_v - self.pays[v as usize] > most || metric.interchangeable(p, q) {
            return false;
        }
        let edge = region.of_edge(metric, u, v);
        if of_v - self.pays[v as usize] + 2 * edge > most {
            return false;
        }
        self.change += of_u - self.pays[u as usize] + of_v - self.pays[v as usize] + 2 * edge;
        self.made += 1;
        region.add_move(metric, u, [p, q], &mut self.pays);
        region.add_move(metric, v, [q, p], &mut self.pays);
        (self.pays[u as usize], self.pays[v as usize]) = (of_u + edge, of_v + edge);
        region.swap(u, v);
        true
    }
}
