//! Experts: on which GPU each expert of each layer of a model lives.
//!
//! A token is sent to the `topk` experts that a layer chooses for it, and their results come back. What that costs depends on where these
//! experts are: tokens are sent once to each GPU, and once into each node, where copies are made. So experts that are
//! chosen together belong together, and experts that are chosen often must not.
//!
//! | member | contents |
//! |---|---|
//! | [`ExpertRouting`] | which experts tokens have chosen, by layer |
//! | [`ExpertCopies`] | how many copies each expert has |
//! | [`ExpertPlacement`] | the expert in each slot of each GPU |
//! | [`ExpertRequest`] | from a routing and a machine to a placement, perhaps with an older one |
//! | [`ExpertScore`] | the cost of a placement |
//! | `domains` | the machine as levels of groups |
//! | `packing` | placements by load alone, as load balancers make them |
//! | `balance` | placements whose loads are as even as possible |
//! | `homes` | an older placement: labels and moves |
//! | `sets` | the sets of copies that tokens choose |
//! | `search` | the cost of a placement, kept up to date as copies are exchanged |
//! | `text` | traces and placements as files |
//!
//! # Problem
//!
//! Each GPU has the same number of slots in each layer, and each copy of an expert takes one. Distances must be those of a tree. A token
//! is on any GPU with the same probability, before and after the layer. Its vector goes along a minimum spanning tree of its own GPU and those
//! of its experts. Let `d_1 < d_2 < …` be the distances of the machine, and let two GPUs be in one group of level i if
//! they are at most `d_i` apart; level 0 has the single GPUs, and `d_0 = 0`. Then the tree enters each group at most
//! once, and only from outside of it, so among P GPUs
//!
//! ```text
//! cost of a token = sum over levels i of (d_(i+1) - d_i) · sum over groups g of level i that hold one of its experts of (1 - |g| / P)
//! ```
//!
//! and J is twice the sum over all tokens and layers, because results come back the same way. An expert with r copies is used on each of
//! them with probability 1 / r, independently of other experts.
//!
//! Under this cost the load of no GPU may exceed a bound: a share above the mean, or, where no placement by load alone is as even as
//! that, the greatest load of the most even one.
//!
//! # Algorithm
//!
//! Layers are independent of each other. Copies of a layer are placed by load first, then exchanged: simulated annealing with a
//! table of gains, followed by a descent over all pairs. Each exchange keeps the loads within the bound. For n copies, t different sets of experts of size k, and L levels, a proposal costs O(L),
//! an exchange O(L · k · tokens of both copies), and the tables take O(L n²) memory. With a time limit, annealing is repeated from the best
//! placement of each layer until time is over.
//!
//! Of a layer of which nothing but loads is known, the greatest load of a PE is minimised instead, and then those of the groups of each level from
//! the outermost one on. Any machine will do if that holds for all layers.
//!
//! # References
//!
//! - DeepSeek-AI, *DeepSeek-V3 technical report*, 2024: one copy of a token per node, redundant experts.
//! - S. Go and D. Mahajan, *MoETuner*, 2025: experts placed by the traffic between them under bounds on loads.
//! - J. Yao et al., *ExFlow*, 2024: experts that are chosen together on one GPU.
//! - T. Heuer and S. Schlag, *Improving coarsening schemes for hypergraph partitioning*, 2017: the connectivity metric, which the cost is at each
//!   level.

mod balance;
mod copies;
mod domains;
mod error;
mod packing;
mod placement;
mod previous;
mod routing;
mod score;
mod search;
mod sets;
#[cfg(test)]
mod tests;
pub mod text;

pub use copies::ExpertCopies;
pub use error::{ExpertError, ExpertId, MOST_COPIES};
pub use placement::ExpertPlacement;
pub use routing::{ExpertRouting, LayerRouting, RoutingBuilder};
pub use score::{ExpertLoads, ExpertScore, score_experts};

use domains::Domains;
use packing::by_load;
use previous::Old;
use search::Search;
use sets::CopySets;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use viem::base::observer::{Limited, Observer};
use viem::base::rng::derive;
use viem::base::settings::{ConfigError, check, check_at_least_one};
use viem::base::threads;
use viem::machine::Machine;
use viem::partition::MigrationWeight;
use viem::solve::MapPreset;

/// Annealing is repeated until it has been tried with this many copies in all, as it takes little time with few copies, but not always finds the best
/// placement within a narrow bound. Enumeration confirms placements of 8 copies.
const SMALL: u64 = 256;
const MOST_TRIES: u64 = 16;

/// Upper limit on the cost of a move in the search, so that sums fit.
const MOST_PRICE: f64 = (1u64 << 46) as f64;

/// The settings of placements of experts.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExpertConfig {
    /// The seed of every random stream.
    pub seed: u64,
    /// Threads to use, at least 1; the result does not depend on it.
    pub threads: usize,
    /// The greatest load of a GPU above the mean in a layer, as a share of the mean.
    pub imbalance: f64,
    /// Exchanges that annealing proposes for each copy.
    pub proposals: u32,
    /// Upper limit on the sets of copies that the search looks at in a layer. Of more, equally spaced ones are taken.
    pub sets: usize,
    /// Keep improving for this time, and return the best placement found; of a large trace, the search is stopped before it is done.
    pub time_limit: Option<Duration>,
}

impl ExpertConfig {
    /// The settings of a preset.
    pub fn preset(preset: MapPreset) -> Self {
        let (proposals, sets) = match preset {
            MapPreset::Fast => (200, 1 << 12),
            MapPreset::Eco => (1000, 1 << 14),
            MapPreset::Strong => (5000, 1 << 17),
        };
        Self { seed: 0, threads: 1, imbalance: 0.1, proposals, sets, time_limit: None }
    }

    /// The same with a seed.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same with a number of threads, at least 1.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The same with a bound on loads: their greatest excess over the mean, as a share of it.
    pub fn with_imbalance(self, imbalance: f64) -> Self {
        Self { imbalance, ..self }
    }

    /// The same with a time limit, or none.
    pub fn with_time_limit(self, time_limit: impl Into<Option<Duration>>) -> Self {
        Self { time_limit: time_limit.into(), ..self }
    }

    /// Fails if a setting is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_at_least_one("threads", self.threads)?;
        let is_share = self.imbalance >= 0.0 && self.imbalance.is_finite();
        check("imbalance", self.imbalance, is_share, "a finite number of at least 0")?;
        check("proposals", self.proposals, self.proposals <= 1 << 20, "at most 2^20")?;
        check_at_least_one("sets", self.sets)
    }
}

impl Default for ExpertConfig {
    fn default() -> Self {
        Self::preset(MapPreset::default())
    }
}

/// A placement and its cost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExpertSolution {
    /// The placement.
    pub placement: ExpertPlacement,
    /// Its cost.
    pub score: ExpertScore,
    /// The number of copies on a PE that did not have them, if there was an older placement.
    pub moved: Option<usize>,
    /// True if the time limit or the observer ended the search before it was complete.
    pub stopped: bool,
}

/// Ends a search when another observer does, and remembers that.
struct Noted<'a> {
    observer: Limited<'a>,
    has_stopped: AtomicBool,
}

impl Observer for Noted<'_> {
    fn should_stop(&self) -> bool {
        let stops = self.observer.should_stop();
        self.has_stopped.fetch_or(stops, Ordering::Relaxed);
        stops
    }
}

/// A routing, copies of its experts, and a machine on whose PEs they are placed, equally many of each layer on each PE; time and memory as in the
/// [module's documentation](self).
///
/// ```
/// use viem::machine;
/// use viem_training::experts::{ExpertConfig, ExpertCopies, ExpertRequest, RoutingBuilder};
///
/// // Experts 0 and 2 are chosen together, and so are 1 and 3.
/// let mut builder = RoutingBuilder::new(4)?;
/// builder.add(0, &[0, 2], 10)?;
/// builder.add(0, &[1, 3], 10)?;
/// let routing = builder.build()?;
/// // Two nodes of two GPUs, which have a slot each.
/// let machine = machine::build("2:2", "1:10")?;
/// let copies = ExpertCopies::single(&routing);
/// let found = ExpertRequest::new(&routing, &copies, &machine).solve(&ExpertConfig::default())?;
/// let node = |expert| found.placement.slots_of(0, expert).next().map(|slot| slot / 2);
/// assert_eq!(node(0), node(2));
/// assert_eq!(found.score.across_nodes, 10.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct ExpertRequest<'a> {
    routing: &'a ExpertRouting,
    copies: &'a ExpertCopies,
    machine: &'a dyn Machine,
    previous: Option<(&'a ExpertPlacement, MigrationWeight)>,
    observer: &'a dyn Observer,
}

impl<'a> ExpertRequest<'a> {
    /// A placement from scratch.
    pub fn new(routing: &'a ExpertRouting, copies: &'a ExpertCopies, machine: &'a dyn Machine) -> Self {
        Self { routing, copies, machine, previous: None, observer: &() }
    }

    /// An older placement, or none: the weight times the number of copies that move is added to J, or to the greatest load of a layer of which only
    /// loads are known. The PEs of each group of the machine have no names of their own, so the same placement under other names moves nothing.
    ///
    /// Two searches are made for each layer. One starts from the older placement; the other starts as without it, and exchanges PEs and groups of PEs
    /// until as many copies as possible are where they were. Of equally good placements the one that moves less is taken.
    #[must_use]
    pub fn previous(self, previous: impl Into<Option<(&'a ExpertPlacement, MigrationWeight)>>) -> Self {
        Self { previous: previous.into(), ..self }
    }

    /// An observer. If it asks to stop, the layers that are not done yet get less search.
    #[must_use]
    pub fn observed(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// Places the experts.
    ///
    /// # Errors
    ///
    /// A setting is out of its range, or copies, machine and older placement do not fit the routing.
    pub fn solve(&self, config: &ExpertConfig) -> Result<ExpertSolution, ExpertError> {
        let begin = Instant::now();
        let Self { routing, copies, machine, previous, observer } = *self;
        config.validate()?;
        copies.check(routing, machine.num_pes())?;
        if let Some((old, _)) = previous {
            old.check_old(routing, copies)?;
        }
        let domains = Domains::of(machine, routing)?;
        let limited = Limited::silent(observer, begin, config.time_limit);
        let observer = &Noted { observer: limited, has_stopped: AtomicBool::new(false) };
        let is_tried_again =
            config.time_limit.is_some() && !domains.levels.is_empty() && !routing.is_of_loads();
        let goes_on = || is_tried_again && !observer.should_stop();
        let search = |layer: usize| LayerSearch {
            routing: routing.layer(layer),
            copies: copies.of(layer),
            domains: &domains,
            config,
            seed: derive(config.seed, layer as u64),
            old: previous
                .map(|(old, weight)| Old::new(old.layer(layer), &domains, weight, routing.load_unit())),
            observer,
        };
        let slots = threads::run(config.threads, || in_rounds(routing.num_layers(), &search, &goes_on))?;
        let placement = ExpertPlacement::new(routing.num_experts(), slots)?;
        let score = score::with_domains(routing, &placement, &domains);
        let moved = previous.map(|(old, _)| placement.moved_from(old, machine.num_pes()));
        let stopped = observer.has_stopped.load(Ordering::Relaxed);
        Ok(ExpertSolution { placement, score, moved, stopped })
    }
}

/// The slots of all layers, which are searched again as long as that goes on.
fn in_rounds<'a>(
    layers: usize,
    search: &(dyn Fn(usize) -> LayerSearch<'a> + Sync),
    goes_on: &dyn Fn() -> bool,
) -> Vec<Vec<ExpertId>> {
    let mut pes = threads::map(layers, 1, &|layer| search(layer).first());
    let mut round = 1;
    while goes_on() {
        pes = threads::map(layers, 1, &|layer| search(layer).again(&pes[layer], round));
        round += 1;
    }
    (0..layers).map(|layer| search(layer).slots(&pes[layer])).collect()
}

/// The placement that only makes loads even, as load balancers do it: copies in descending order of their loads, each on the PE with the
/// least load that has a slot. O(layers · copies · PEs).
pub fn place_by_load(
    routing: &ExpertRouting,
    copies: &ExpertCopies,
    machine: &dyn Machine,
) -> Result<ExpertPlacement, ExpertError> {
    copies.check(routing, machine.num_pes())?;
    let place = |layer| {
        let own = copies.of(layer);
        let (experts, loads) = (copies::experts(own), copies::loads(own, routing.layer(layer)));
        slots(&by_load(&experts, &loads, machine.num_pes()).pe_of, &experts, machine.num_pes())
    };
    ExpertPlacement::new(routing.num_experts(), (0..routing.num_layers()).map(place).collect())
}

/// The search for a placement of a layer.
struct LayerSearch<'a> {
    routing: &'a LayerRouting,
    copies: &'a [u32],
    domains: &'a Domains,
    config: &'a ExpertConfig,
    seed: u64,
    old: Option<Old>,
    observer: &'a dyn Observer,
}

impl LayerSearch<'_> {
    /// The PE of each copy after a search that starts from a placement by load, or also from an older placement.
    fn first(&self) -> Vec<u32> {
        let found = self.from(None, 0, None);
        self.old.as_ref().map_or_else(|| found.clone(), |old| self.remapped(old, found.clone()))
    }

    /// A placement that is not worse than one that was found before. Each round, from 1, draws other numbers.
    fn again(&self, pe_of: &[u32], round: u64) -> Vec<u32> {
        if self.observer.should_stop() {
            pe_of.to_vec()
        } else {
            self.from(Some(pe_of), round, self.old.as_ref())
        }
    }

    /// The better one of a placement that was found from scratch, with new names, and one that is found from the older one.
    fn remapped(&self, old: &Old, mut found: Vec<u32>) -> Vec<u32> {
        let experts = copies::experts(self.copies);
        let loads = copies::loads(self.copies, self.routing);
        old.rename(&mut found, &experts, self.domains);
        let start = old.start(&experts, &loads);
        let candidates = if self.routing.sets().len() == 0 {
            let most = balance::greatest(&found, &loads, self.domains.num_pes);
            balance::restore(&mut found, &loads, most, &old.homes(&experts, 0));
            let mut steps = balance::steps(start, &loads, self.domains.num_pes, self.observer);
            steps.push(found);
            steps
        } else {
            let (sets, bound) = (self.sets(), self.bound(&loads));
            let homes = Some(old.homes(&experts, self.price(old)));
            let mut search = Search::new(&sets, self.domains, found, (&loads, bound)).with_homes(homes);
            search.descend(self.observer);
            vec![self.from(Some(&start), 0, Some(old)), search.best().to_vec()]
        };
        let bound = self.bound(&loads);
        let value = |pe_of: &Vec<u32>| {
            let greatest = balance::greatest(pe_of, &loads, self.domains.num_pes);
            let moved = old.moved(pe_of, &experts);
            let cost = match self.routing.sets().len() {
                0 => greatest as f64,
                _ => score::cost_of_layer(self.routing, &self.slots(pe_of), self.domains),
            };
            let is_over = self.routing.sets().len() > 0 && greatest > bound;
            (is_over, cost + old.weight_of(self.routing) * moved as f64, moved)
        };
        let better = |a: &(bool, f64, usize), b: &(bool, f64, usize)| {
            // Sums in another order differ in their last digits.
            let is_same = (a.1 - b.1).abs() <= 1e-9 * a.1.abs();
            let by_cost = if is_same { std::cmp::Ordering::Equal } else { a.1.total_cmp(&b.1) };
            a.0.cmp(&b.0).then(by_cost).then(a.2.cmp(&b.2))
        };
        let best =
            candidates.into_iter().map(|pe_of| (value(&pe_of), pe_of)).min_by(|a, b| better(&a.0, &b.0));
        best.map_or_else(Vec::new, |(_, pe_of)| pe_of)
    }

    /// Returns the cost of a move in the search: J is twice the cost of tokens, of which the search may examine only a part.
    fn price(&self, old: &Old) -> i64 {
        let stride = CopySets::stride(self.routing, self.config.sets) as f64;
        let of_cost = sets::MOST_WAYS as f64 * self.domains.num_pes as f64 / 2.0 / stride;
        (old.weight_of(self.routing) * of_cost).min(MOST_PRICE) as i64
    }

    fn sets(&self) -> CopySets {
        CopySets::of(self.routing, self.copies, self.config.sets, self.seed)
    }

    /// Returns the bound of the loads.
    fn bound(&self, loads: &[u64]) -> u64 {
        let packed = by_load(&copies::experts(self.copies), loads, self.domains.num_pes);
        let mean = loads.iter().sum::<u64>() as f64 / self.domains.num_pes as f64;
        ((mean * (1.0 + self.config.imbalance)) as u64).max(packed.greatest)
    }

    fn from(&self, pe_of: Option<&[u32]>, round: u64, old: Option<&Old>) -> Vec<u32> {
        let Self { domains, config, observer, seed, .. } = *self;
        let loads = copies::loads(self.copies, self.routing);
        if self.routing.sets().len() == 0 {
            return pe_of.map_or_else(|| self.even(&loads), <[u32]>::to_vec);
        }
        let experts = copies::experts(self.copies);
        let start = pe_of.map_or_else(|| by_load(&experts, &loads, domains.num_pes).pe_of, <[u32]>::to_vec);
        let sets = self.sets();
        let homes = old.map(|old| old.homes(&experts, self.price(old)));
        let mut search = Search::new(&sets, domains, start, (&loads, self.bound(&loads))).with_homes(homes);
        search.descend(observer);
        let tries = SMALL.div_ceil(loads.len() as u64).min(MOST_TRIES);
        for attempt in round * tries..(round + 1) * tries {
            let proposals = u64::from(config.proposals) * loads.len() as u64;
            search.anneal(proposals, (seed, attempt), observer);
            search.descend(observer);
        }
        search.best().to_vec()
    }

    /// A placement of copies with these loads, as even as possible.
    fn even(&self, loads: &[u64]) -> Vec<u32> {
        let Self { domains, observer, .. } = *self;
        let mut pe_of = balance::even(&copies::experts(self.copies), loads, domains.num_pes, observer);
        let of_nodes = [domains.nodes.clone()];
        let levels = if domains.levels.is_empty() { &of_nodes } else { &domains.levels[..] };
        balance::spread(&mut pe_of, loads, levels, observer);
        pe_of
    }

    /// The experts in the slots.
    fn slots(&self, pe_of: &[u32]) -> Vec<ExpertId> {
        slots(pe_of, &copies::experts(self.copies), self.domains.num_pes)
    }
}

/// The experts by slot, PE after PE, those of a PE in ascending order.
fn slots(pe_of: &[u32], experts: &[ExpertId], num_pes: usize) -> Vec<ExpertId> {
    let mut of_pe = vec![Vec::new(); num_pes];
    for (&pe, &expert) in pe_of.iter().zip(experts) {
        of_pe[pe as usize].push(expert);
    }
    of_pe.iter_mut().for_each(|experts| experts.sort_unstable());
    of_pe.concat()
}
