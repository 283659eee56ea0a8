//! Simulated annealing of exchanges, on any machine.
//!
//! A proposal draws an arc (u, x) and exchanges u with the process on a place near that of x: so u comes nearer to a
//! partner with every proposal, which is the only way to gain. Worse mappings are accepted as by Metropolis et al.
//! (1953), and the temperature falls geometrically (Kirkpatrick, Gelatt and Vecchi 1983), between temperatures that are
//! taken from the problem at hand: those at which given shares of the proposals that make it worse are accepted.
//!
//! A proposal costs O(deg u + deg v) distances, an exchange that is made nothing more. Processes of many neighbours are
//! proposed the less often, the more one costs, so that the mean stays bounded.
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

/// Proposals between two questions to the observer.
const GRAIN: u64 = 1 << 12;

/// Proposals that are looked at to find the temperatures.
const SAMPLES: usize = 512;

/// Proposals of processes with more than so many times the mean degree are thinned out.
const GREATEST_DEGREE: usize = 16;

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
    tails: Vec<NodeId>,
    greatest_degree: usize,
    rng: Rng,
    /// Change of half of J since the start.
    change: Cost,
    tried: u64,
    made: u64,
}

impl<'a, M: Metric, W: Copy + TryFrom<Weight> + Into<Weight>> Walk<'a, M, W> {
    fn new(site: &'a Site<'a, M>, region: Region<M::Key, W>, seed: u64) -> Self {
        let n = region.num_processes();
        let tails = (0..n as NodeId).flat_map(|u| std::iter::repeat_n(u, region.arcs(u).len())).collect();
        let greatest_degree = GREATEST_DEGREE * region.num_arcs().div_ceil(n.max(1)).max(1);
        Self { site, region, tails, greatest_degree, rng: Rng::new(seed), change: 0, tried: 0, made: 0 }
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
        let observer = self.site.observer;
        let total = u64::from(cooling.proposals) * self.region.num_processes() as u64;
        // Temperatures are changed no finer than a few proposals for each process allow to notice.
        let steps = (cooling.proposals / 2).clamp(1, 200);
        let mut best = (0, self.region.place_of.clone());
        for step in 0..steps {
            let cooled = f64::from(step) / f64::from(steps.max(2) - 1);
            let temperature = initial * (last / initial).powf(cooled);
            let mut left = total / u64::from(steps);
            while left > 0 && !observer.should_stop() {
                self.propose(left.min(GRAIN), temperature as f32);
                left -= left.min(GRAIN);
            }
            if self.change < best.0 {
                best.0 = self.change;
                best.1.copy_from_slice(&self.region.place_of);
            }
            if left > 0 {
                break;
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
        if self.region.num_arcs() == 0 {
            return None;
        }
        let mut losses: Vec<f64> = Vec::with_capacity(SAMPLES);
        for _ in 0..2 * SAMPLES {
            let bits = self.rng.next_u64();
            if let Some((u, v)) = self.draw(bits) {
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
            for _ in 0..32 {
                let middle = f64::sqrt(low * high);
                let accepted: f64 = losses.iter().map(|loss| (-loss / middle).exp()).sum();
                if accepted > share * losses.len() as f64 { high = middle } else { low = middle }
            }
            high
        };
        Some((temperature(cooling.initial_acceptance), temperature(cooling.final_acceptance)))
    }

    /// The exchange that 50 random bits propose, if any.
    #[inline]
    fn draw(&self, bits: u64) -> Option<(NodeId, NodeId)> {
        let arc = ((bits >> 32) * self.tails.len() as u64) >> 32;
        let u = self.tails[arc as usize];
        let head = self.region.head(arc as usize);
        let to = self.region.place(head);
        let mut place = self.site.near.pick(to, (bits & 0xff) as u32);
        // Now and then a place near a near one: what is one hop off may be out of reach of what is at it.
        if bits >> 8 & 3 == 0 {
            place = self.site.near.pick(place, (bits >> 10 & 0xff) as u32);
        }
        let v = self.region.process_on(place)?;
        (u != v && self.region.may_exchange(self.region.place(u), place)).then_some((u, v))
    }

    /// By how much half of J changes when two processes exchange their places.
    fn delta(&self, u: NodeId, v: NodeId) -> Cost {
        match self.region.are_interchangeable(self.site.metric, u, v) {
            true => 0,
            false => {
                self.region.least_delta(self.site.metric, u, v) + self.region.of_edge(self.site.metric, u, v)
            }
        }
    }

    /// Makes `count` proposals at a temperature.
    fn propose(&mut self, count: u64, temperature: f32) {
        let quantiles = &QUANTILES[..RANKS];
        for _ in 0..count {
            // One draw serves all: 32 bits for the arc, 18 for the place, 12 for the quantile.
            let bits = self.rng.next_u64();
            let Some((u, v)) = self.draw(bits) else { continue };
            let degree = self.region.arcs(u).len() + self.region.arcs(v).len();
            if degree > self.greatest_degree && self.rng.below(degree as u32) as usize > self.greatest_degree
            {
                continue;
            }
            let accepted = (quantiles[(bits >> 20) as usize & (RANKS - 1)] * temperature) as Cost;
            let metric = self.site.metric;
            let mut delta = self.region.least_delta(metric, u, v);
            // Most proposals are refused without a look at whether the two are adjacent.
            if delta <= accepted && !self.region.are_interchangeable(metric, u, v) {
                delta += self.region.of_edge(metric, u, v);
                if delta <= accepted {
                    self.region.swap(u, v);
                    self.change += delta;
                    self.made += 1;
                }
            }
        }
        self.tried += count;
    }
}
