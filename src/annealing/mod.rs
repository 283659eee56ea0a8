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
//! It works on a [`Region`]: the processes on a range of places, while all others stay where they are.

mod near;
mod region;
mod table;

pub use near::Near;
pub use region::Region;
pub use table::SmallTable;

use crate::observer::Observer;
use crate::rng::Rng;
use crate::settings::{ConfigError, check_share};
use crate::topology::Metric;
use crate::types::{Cost, NodeId, PeId};

/// How long to anneal, and between which temperatures.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
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

/// Rounds of the descent at the end at most: it is cut short where it goes on with little.
const MOST_ROUNDS: usize = 10;

/// Ranks of the quantiles of the exponential distribution.
const RANKS: usize = 1 << 12;

/// The quantiles of the exponential distribution with mean 1, by rank: the worsening that a draw accepts, in
/// temperatures. A table saves a logarithm for each proposal.
static QUANTILES: std::sync::LazyLock<Vec<f32>> = std::sync::LazyLock::new(|| {
    (0..RANKS).map(|rank| -((rank as f64 + 0.5) / RANKS as f64).ln() as f32).collect()
});

/// Anneals a region. The observer may end it early; the result then is the best mapping so far.
///
/// Place p of the machine is at `key_of[p]`.
pub fn anneal<M: Metric>(
    metric: &M,
    key_of: &[M::Key],
    near: &Near,
    region: Region<M::Key>,
    cooling: &Cooling,
    seed: u64,
    observer: &dyn Observer,
) -> Annealed {
    let mut walk = Walk::new(metric, key_of, near, region, seed);
    walk.run(cooling, observer);
    Annealed { place_of: walk.region.place_of, gain: -2 * walk.change, tried: walk.tried, made: walk.made }
}

/// A walk through the mappings of a region.
struct Walk<'a, M: Metric> {
    metric: &'a M,
    key_of: &'a [M::Key],
    near: &'a Near,
    region: Region<M::Key>,
    tails: Vec<NodeId>,
    greatest_degree: usize,
    rng: Rng,
    /// Change of half of J since the start.
    change: Cost,
    tried: u64,
    made: u64,
}

impl<'a, M: Metric> Walk<'a, M> {
    fn new(metric: &'a M, key_of: &'a [M::Key], near: &'a Near, region: Region<M::Key>, seed: u64) -> Self {
        let n = region.num_processes();
        let tails = (0..n as NodeId).flat_map(|u| std::iter::repeat_n(u, region.arcs(u).len())).collect();
        let greatest_degree = GREATEST_DEGREE * region.num_arcs().div_ceil(n.max(1)).max(1);
        Self {
            metric,
            key_of,
            near,
            region,
            tails,
            greatest_degree,
            rng: Rng::new(seed),
            change: 0,
            tried: 0,
            made: 0,
        }
    }

    fn run(&mut self, cooling: &Cooling, observer: &dyn Observer) {
        let Some((initial, last)) = self.temperatures(cooling) else { return };
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
            self.region.restore(self.key_of, best.1);
            self.change = best.0;
        }
        self.descend(observer);
    }

    /// Makes exchanges that lower J, of those that can be proposed, until there is none or none is left to be tried.
    fn descend(&mut self, observer: &dyn Observer) {
        for _ in 0..MOST_ROUNDS {
            let made = self.made;
            for u in 0..self.region.num_processes() as NodeId {
                if u64::from(u).is_multiple_of(GRAIN) && observer.should_stop() {
                    return;
                }
                self.descend_from(u);
            }
            if self.made == made {
                return;
            }
        }
    }

    /// Brings a process nearer to its neighbours while that lowers J.
    fn descend_from(&mut self, u: NodeId) {
        if self.region.arcs(u).len() > self.greatest_degree {
            return;
        }
        for arc in 0..self.region.arcs(u).len() {
            let to = self.region.place(self.region.arcs(u)[arc].0);
            for &place in self.near.of(to) {
                let Some(v) = self.region.process_on(place) else { continue };
                if u == v || !self.region.may_exchange(self.region.place(u), place) {
                    continue;
                }
                self.tried += 1;
                let delta = self.region.delta(self.metric, u, v);
                if delta < 0 {
                    self.region.swap(u, v);
                    self.change += delta;
                    self.made += 1;
                }
            }
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
                let delta = self.region.delta(self.metric, u, v);
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

    /// The exchange that 54 random bits propose, if any.
    #[inline]
    fn draw(&self, bits: u64) -> Option<(NodeId, NodeId)> {
        let arc = ((bits >> 32) * self.tails.len() as u64) >> 32;
        let u = self.tails[arc as usize];
        let to = self.region.place(self.region.head(arc as usize));
        let mut place = self.near.pick(to, (bits & 0xff) as u32);
        // Now and then a place near a near one: what is one hop off may be out of reach of what is at it.
        if bits >> 8 & 3 == 0 {
            place = self.near.pick(place, (bits >> 10 & 0xff) as u32);
        }
        let v = self.region.process_on(place)?;
        (u != v && self.region.may_exchange(self.region.place(u), place)).then_some((u, v))
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
            let delta = self.region.delta(self.metric, u, v);
            if delta <= accepted {
                self.region.swap(u, v);
                self.change += delta;
                self.made += 1;
            }
        }
        self.tried += count;
    }
}
