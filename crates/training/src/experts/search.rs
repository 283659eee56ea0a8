//! Exchanges of copies, and the cost as they are made.
//!
//! A group of a level costs a token its price if the token has a copy there. Two tables hold what exchanges need: by copy and group, the weight of the
//! copy's sets that have a copy in the group; and by two copies, that of their common sets in which the first one is alone in its
//! group. With them the gain of an exchange is a sum over levels.

use super::domains::{Domains, Level};
use super::sets::CopySets;
use viem::base::exchange::{Evaluator, at_temperature, below, sweep};
use viem::base::observer::Observer;
use viem::base::rng::{Rng, derive};

/// Proposals between two questions whether to stop.
const BETWEEN_QUESTIONS: u64 = 1 << 10;

/// The temperature at the beginning and at the end, as a share of the mean change of the cost by random exchanges. Higher ones take longer to cool
/// down, lower ones keep groups from being exchanged as a whole; of 0.05 to 0.8 and 0.001 to 0.06 these ended lowest on traces of 8 to 256
/// experts (`cargo bench --bench experts`).
const FIRST_TEMPERATURE: f64 = 0.3;
const LAST_TEMPERATURE: f64 = 0.03;

/// The first and the final price of a token of overload, as a share of the cost of moving a token at random. A low final price ends with
/// overload, higher ones at first keep exchanges from being made; tuned like the temperatures, and by enumeration of 8 experts.
const FIRST_PRICE: f64 = 0.3;
const LAST_PRICE: f64 = 30.0;

pub(super) struct Search<'a> {
    sets: &'a CopySets,
    tables: Vec<Table<'a>>,
    pe_of: Vec<u32>,
    /// The copies on each PE.
    held: Vec<Vec<u32>>,
    loads: &'a [u64],
    load_of: Vec<u64>,
    bound: u64,
    /// The sum of the excesses of loads over the bound.
    overload: i64,
    /// The previous places of copies, and the cost of leaving them.
    homes: Option<PreviousAssignment>,
    /// The decrease of the cost, times the number of PEs, and the increase of the number of copies on their previous PE.
    gained: (i64, i64),
    /// The same of the best placement so far whose loads are within the bound, and that placement.
    best: ((i64, i64), Vec<u32>),
}

/// The PEs that copies may be on without having moved.
pub(super) struct PreviousAssignment {
    /// True if a copy was on a PE before, by copy and PE.
    pub is_home: Vec<bool>,
    /// The cost of a copy elsewhere, in units of the cost.
    pub price: i64,
}

/// The sums at a level that exchanges change.
struct Table<'a> {
    level: &'a Level,
    /// Sums by copy and group.
    reached: Vec<i64>,
    /// Sums by two copies.
    alone: Vec<i64>,
    num_copies: usize,
}

impl<'a> Search<'a> {
    /// Starts where the copies are. `loads` are those of the copies; no exchange lifts the load of a PE above the bound.
    pub fn new(
        sets: &'a CopySets,
        domains: &'a Domains,
        pe_of: Vec<u32>,
        (loads, bound): (&'a [u64], u64),
    ) -> Self {
        let tables = domains.levels.iter().map(|level| Table::new(level, sets, &pe_of)).collect();
        let mut held = vec![Vec::new(); domains.num_pes];
        let mut load_of = vec![0; domains.num_pes];
        for (copy, &pe) in pe_of.iter().enumerate() {
            held[pe as usize].push(copy as u32);
            load_of[pe as usize] += loads[copy];
        }
        let overload = load_of.iter().map(|&load: &u64| load.saturating_sub(bound) as i64).sum();
        let worth = if overload > 0 { (i64::MIN, 0) } else { (0, 0) };
        let best = (worth, pe_of.clone());
        Self { sets, tables, pe_of, held, loads, load_of, bound, overload, homes: None, gained: (0, 0), best }
    }

    /// The same where it costs something that copies are not at home. Of equal costs, that with more of them at home is better.
    pub fn with_homes(self, homes: Option<PreviousAssignment>) -> Self {
        Self { homes, ..self }
    }

    /// The PE of each copy in the best placement so far: the first one, or a better one whose loads are within the bound.
    pub fn best(&self) -> &[u32] {
        &self.best.1
    }

    /// The PE of each copy.
    #[cfg(test)]
    pub fn pes(&self) -> &[u32] {
        &self.pe_of
    }

    /// The cost, times the number of PEs, from scratch.
    #[cfg(test)]
    pub fn cost(&self) -> i64 {
        let of_set = |set: u32| -> i64 {
            let price = |table: &Table<'_>| {
                let copies = self.sets.copies(set).iter();
                let mut groups: Vec<usize> =
                    copies.map(|&copy| table.level.group(self.pe_of[copy as usize])).collect();
                groups.sort_unstable();
                groups.dedup();
                groups.into_iter().map(|group| table.level.price(group)).sum::<i64>()
            };
            self.sets.weight(set) * self.tables.iter().map(price).sum::<i64>()
        };
        (0..self.sets.len() as u32).map(of_set).sum()
    }

    /// Returns the change of the cost if two copies are exchanged. O(levels).
    pub fn delta(&self, a: u32, b: u32) -> i64 {
        let (here, there) = (self.pe_of[a as usize], self.pe_of[b as usize]);
        let of_tables: i64 = self.tables.iter().map(|table| table.delta((a, here), (b, there))).sum();
        of_tables - self.homes.as_ref().map_or(0, |homes| homes.price * self.returning(a, b))
    }

    /// Returns how many more copies are on their previous PE if two are exchanged.
    fn returning(&self, a: u32, b: u32) -> i64 {
        let Some(homes) = &self.homes else { return 0 };
        let (here, there) = (self.pe_of[a as usize], self.pe_of[b as usize]);
        let is_home =
            |copy: u32, pe: u32| i64::from(homes.is_home[copy as usize * self.held.len() + pe as usize]);
        is_home(a, there) + is_home(b, here) - is_home(a, here) - is_home(b, there)
    }

    /// Returns the change of the overload if two copies are exchanged: the sum of the excess over the bound.
    fn overload_delta(&self, a: u32, b: u32) -> i64 {
        let (own, other) = (self.loads[a as usize] as i64, self.loads[b as usize] as i64);
        let change = |pe: u32, more: i64| {
            let room = self.bound as i64 - self.load_of[pe as usize] as i64;
            (more - room).max(0) - (-room).max(0)
        };
        change(self.pe_of[a as usize], other - own) + change(self.pe_of[b as usize], own - other)
    }

    /// Exchanges two copies, which changes the cost by so much.
    pub fn exchange(&mut self, a: u32, b: u32, delta: i64) {
        let (here, there) = (self.pe_of[a as usize], self.pe_of[b as usize]);
        if here == there {
            return;
        }
        self.gained = (self.gained.0 - delta, self.gained.1 + self.returning(a, b));
        self.overload += self.overload_delta(a, b);
        self.place(a, there);
        self.place(b, here);
        for (pe, old, new) in [(here, a, b), (there, b, a)] {
            let held = &mut self.held[pe as usize];
            if let Some(place) = held.iter().position(|&copy| copy == old) {
                held[place] = new;
            }
            let load = &mut self.load_of[pe as usize];
            *load = *load - self.loads[old as usize] + self.loads[new as usize];
        }
        if self.overload == 0 && self.gained > self.best.0 {
            self.best.0 = self.gained;
            self.best.1.copy_from_slice(&self.pe_of);
        }
    }

    fn place(&mut self, copy: u32, pe: u32) {
        for table in &mut self.tables {
            table.place(copy, pe, self.sets, &self.pe_of);
        }
        self.pe_of[copy as usize] = pe;
    }

    /// A copy for which another one may make room: any, or one beside a copy that it has a set with.
    fn partner(&self, copy: u32, rng: &mut Rng) -> u32 {
        let (sets, count) = (self.sets.sets_of(copy), self.sets.num_copies as u32);
        if sets.is_empty() || rng.below(2) == 0 {
            return rng.below(count);
        }
        let copies = self.sets.copies(sets[rng.below(sets.len() as u32) as usize]);
        let friend = copies[rng.below(copies.len() as u32) as usize];
        let held = &self.held[self.pe_of[friend as usize] as usize];
        held[rng.below(held.len() as u32) as usize]
    }

    fn proposal(&self, rng: &mut Rng) -> Option<(u32, u32)> {
        let a = rng.below(self.sets.num_copies as u32);
        let b = self.partner(a, rng);
        (self.pe_of[a as usize] != self.pe_of[b as usize]).then_some((a, b))
    }

    /// Simulated annealing with this many proposals, whose temperature falls geometrically, while the price of overload rises.
    /// Further attempts begin with higher prices, and so stay nearer to the bound.
    pub fn anneal(&mut self, proposals: u64, (seed, attempt): (u64, u64), observer: &dyn Observer) {
        let mut rng = Rng::new(derive(seed, attempt));
        let first_price = FIRST_PRICE * [1.0, 10.0, 100.0][attempt as usize % 3];
        let first: Vec<f64> = (0..200)
            .filter_map(|_| self.proposal(&mut rng))
            .map(|(a, b)| self.delta(a, b).abs() as f64)
            .filter(|&delta| delta > 0.0)
            .collect();
        if first.is_empty() {
            return;
        }
        let mean = first.iter().sum::<f64>() / first.len() as f64;
        let mean_load = self.loads.iter().sum::<u64>() as f64 / self.loads.len() as f64;
        let mut numbers = 0..proposals;
        let next = |annealing: &mut Annealing<'_, 'a>| loop {
            let is_asked = |number: &u64| number.is_multiple_of(BETWEEN_QUESTIONS);
            let number = numbers.next().filter(|number| !(is_asked(number) && observer.should_stop()))?;
            let progress = number as f64 / proposals as f64;
            annealing.temperature =
                mean * FIRST_TEMPERATURE * (LAST_TEMPERATURE / FIRST_TEMPERATURE).powf(progress);
            annealing.price =
                mean / mean_load.max(1.0) * first_price * (LAST_PRICE / first_price).powf(progress);
            let proposal = annealing.search.proposal(&mut annealing.rng);
            if proposal.is_some() {
                return proposal;
            }
        };
        let mut annealing = Annealing { search: self, rng, temperature: 0.0, price: 0.0 };
        sweep(&mut annealing, next, |annealing, &(_, worse)| {
            at_temperature(worse, annealing.temperature, &mut annealing.rng)
        });
    }

    /// Makes exchanges that lower the overload, or else the cost, or else bring copies home, until none does.
    pub fn descend(&mut self, observer: &dyn Observer) {
        let count = self.sets.num_copies as u32;
        loop {
            let mut pairs = (0..count).flat_map(|a| (0..a).map(move |b| (a, b)));
            let goes_on = |&(_, b): &(u32, u32)| b > 0 || !observer.should_stop();
            let next = |search: &mut Self| {
                let is_apart = |&(a, b): &(u32, u32)| search.pe_of[a as usize] != search.pe_of[b as usize];
                pairs.by_ref().take_while(goes_on).find(is_apart)
            };
            if sweep(self, next, below((0, 0, 0))).made == 0 {
                return;
            }
        }
    }
}

impl Evaluator for Search<'_> {
    type Move = (u32, u32);
    /// The change of the overload, of the cost, and of the number of copies that are not on their previous PE. If the overload rises, nothing else is computed.
    type Change = (i64, i64, i64);

    #[inline]
    fn change(&mut self, &(a, b): &(u32, u32)) -> (i64, i64, i64) {
        match self.overload_delta(a, b) {
            more if more > 0 => (more, 0, 0),
            overload => (overload, self.delta(a, b), -self.returning(a, b)),
        }
    }

    fn make(&mut self, (a, b): (u32, u32), (_, delta, _): (i64, i64, i64)) {
        self.exchange(a, b, delta);
    }
}

/// A search under annealing.
struct Annealing<'s, 'a> {
    search: &'s mut Search<'a>,
    rng: Rng,
    temperature: f64,
    /// The price of a token of overload.
    price: f64,
}

impl Evaluator for Annealing<'_, '_> {
    type Move = (u32, u32);
    /// The change of the cost, without and with that of the overload.
    type Change = (i64, f64);

    #[inline]
    fn change(&mut self, &(a, b): &(u32, u32)) -> (i64, f64) {
        let delta = self.search.delta(a, b);
        (delta, delta as f64 + self.price * self.search.overload_delta(a, b) as f64)
    }

    fn make(&mut self, (a, b): (u32, u32), (delta, _): (i64, f64)) {
        self.search.exchange(a, b, delta);
    }
}

impl<'a> Table<'a> {
    fn new(level: &'a Level, sets: &CopySets, pe_of: &[u32]) -> Self {
        let num_copies = sets.num_copies;
        let mut table = Self {
            level,
            reached: vec![0; num_copies * level.num_groups()],
            alone: vec![0; num_copies * num_copies],
            num_copies,
        };
        for set in 0..sets.len() as u32 {
            let (copies, weight) = (sets.copies(set), sets.weight(set));
            for (place, &copy) in copies.iter().enumerate() {
                let group = level.group(pe_of[copy as usize]);
                let is_other = |&(other, &copy): &(usize, &u32)| {
                    other != place && level.group(pe_of[copy as usize]) == group
                };
                let others: Vec<usize> =
                    copies.iter().enumerate().filter(is_other).map(|(place, _)| place).collect();
                if others.iter().all(|&other| other > place) {
                    table.add_reached(copies, group, weight);
                }
                if others.is_empty() {
                    table.add_alone(copy, copies, weight);
                }
            }
        }
        table
    }

    fn add_reached(&mut self, copies: &[u32], group: usize, weight: i64) {
        let groups = self.level.num_groups();
        copies.iter().for_each(|&copy| self.reached[copy as usize * groups + group] += weight);
    }

    fn add_alone(&mut self, copy: u32, copies: &[u32], weight: i64) {
        let row = &mut self.alone[copy as usize * self.num_copies..][..self.num_copies];
        copies.iter().for_each(|&other| row[other as usize] += weight);
    }

    fn alone(&self, a: u32, b: u32) -> i64 {
        self.alone[a as usize * self.num_copies + b as usize]
    }

    /// The weight of a copy's sets that have no copy in a group. Those of its own group are all its sets.
    fn unreached(&self, (copy, own): (u32, usize), group: usize) -> i64 {
        let row = &self.reached[copy as usize * self.level.num_groups()..][..self.level.num_groups()];
        row[own] - row[group]
    }

    fn delta(&self, (a, here): (u32, u32), (b, there): (u32, u32)) -> i64 {
        let (here, there) = (self.level.group(here), self.level.group(there));
        if here == there {
            return 0;
        }
        // What each does on its own, but for common sets, which stay in both groups.
        let there_price = self.unreached((a, here), there) - self.alone(b, b) + self.alone(b, a);
        let here_price = self.unreached((b, there), here) - self.alone(a, a) + self.alone(a, b);
        self.level.price(there) * there_price + self.level.price(here) * here_price
    }

    /// Follows a copy that goes to a PE. `pe_of` is where all were before.
    fn place(&mut self, copy: u32, pe: u32, sets: &CopySets, pe_of: &[u32]) {
        let (from, to) = (self.level.group(pe_of[copy as usize]), self.level.group(pe));
        if from == to {
            return;
        }
        for &set in sets.sets_of(copy) {
            let (copies, weight) = (sets.copies(set), sets.weight(set));
            let (mut in_from, mut in_to) = (Others::None, Others::None);
            for &other in copies.iter().filter(|&&other| other != copy) {
                let group = self.level.group(pe_of[other as usize]);
                if group == from {
                    in_from = in_from.and(other);
                } else if group == to {
                    in_to = in_to.and(other);
                }
            }
            match in_from {
                Others::None => {
                    self.add_reached(copies, from, -weight);
                    self.add_alone(copy, copies, -weight);
                }
                Others::One(other) => self.add_alone(other, copies, weight),
                Others::Several => {}
            }
            match in_to {
                Others::None => {
                    self.add_reached(copies, to, weight);
                    self.add_alone(copy, copies, weight);
                }
                Others::One(other) => self.add_alone(other, copies, -weight),
                Others::Several => {}
            }
        }
    }
}

/// The other copies of a set in a group.
#[derive(Clone, Copy)]
enum Others {
    None,
    One(u32),
    Several,
}

impl Others {
    fn and(self, copy: u32) -> Self {
        match self {
            Self::None => Self::One(copy),
            _ => Self::Several,
        }
    }
}
