//! A population of assignments and their children, each improved by annealing and tabu search.
//!
//! Members come in batches of a fixed number, which are improved in parallel and enter the population in their order: so the result
//! does not depend on the number of threads. A child keeps what two parents agree on, or begins as one of them. The worst member leaves.
//!
//! What suits a problem is not known before: unstructured ones want deep tabu search, structured ones annealing. So there are several ways to make a
//! child, and those are taken more often that have made more members for their work.

use rayon::prelude::*;

use super::annealing::{affordable, anneal};
use super::arrangement::Arrangement;
use super::crossover::{alike, exchanged, mutated, uniform};
use super::dense::{Dense, Number};
use super::form::QapError;
use super::settings::{Improvement, QapConfig, Way};
use super::table::DeltaTable;
use super::tabu::{Found, Tabu};
use crate::observer::{Observer, Watch};
use crate::rng::{Rng, derive};
use crate::types::Cost;

/// Members that are improved at the same time.
const BATCH: usize = 4;

/// Larger problems have no table of all exchanges, which takes O(n³) time at first: they are annealed only.
pub(super) const MOST_TABLED: usize = 800;

/// After so many children in a row that were not better than the best, as many are mutants.
const STALE: usize = 60;

/// How much of what came of a way is remembered at its next child: about the last fifty count.
const MEMORY: f64 = 0.98;

/// Members that a way is believed to have made besides, so that none is given up.
const HOPE: f64 = 0.5;

/// What a population is given.
pub(super) struct Memetic<'a, T> {
    pub(super) dense: &'a Dense<T>,
    pub(super) config: &'a QapConfig,
    /// Below it nothing more is asked for; in units of the scale.
    pub(super) target: Cost,
    /// Who can end the search; with a time limit, children are made until then.
    pub(super) observer: &'a dyn Observer,
}

/// The population, the best first.
struct Population {
    members: Vec<Found>,
    /// Children since the last that was better than all.
    stale: usize,
    /// What came of each way to make a child.
    records: [Record; 5],
    /// For each place all places, the most alike first.
    alike: Vec<Vec<u32>>,
}

/// What came of a way to make children.
#[derive(Clone, Copy, Default)]
struct Record {
    /// Children that became members.
    members: f64,
    /// Work that all children took.
    work: f64,
}

/// One that wants to become a member.
struct Candidate {
    found: Found,
    /// The way it was made, if it is a child.
    way: Option<usize>,
}

impl<T: Number> Memetic<'_, T> {
    /// The best assignment found; not worse than the starts.
    pub(super) fn run(&self, starts: &[Vec<u32>]) -> Result<Found, QapError> {
        let Self { config, observer, .. } = *self;
        let n = self.dense.size;
        let alike = if n <= MOST_TABLED { alike(&self.dense.b, n) } else { Vec::new() };
        let mut population = Population { members: Vec::new(), stale: 0, records: Default::default(), alike };
        for start in starts {
            let found = Found { cost: self.dense.cost(start), place_of: start.clone() };
            self.enter(&mut population, Candidate { found, way: None });
        }
        let all = match config.time_limit {
            Some(_) => usize::MAX,
            None => config.population.saturating_add(config.children),
        };
        for first in (0..all).step_by(BATCH) {
            let is_reached = population.members.first().is_some_and(|best| best.cost <= self.target);
            if is_reached || observer.should_stop() && !population.members.is_empty() {
                break;
            }
            let numbers: Vec<usize> = (first..first + BATCH).collect();
            let batch = numbers.into_par_iter().map(|number| self.candidate(number, starts, &population));
            for candidate in batch.collect::<Result<Vec<Candidate>, QapError>>()? {
                self.enter(&mut population, candidate);
            }
        }
        Ok(population.members.swap_remove(0))
    }

    /// One more for the population.
    fn candidate(
        &self,
        number: usize,
        starts: &[Vec<u32>],
        population: &Population,
    ) -> Result<Candidate, QapError> {
        let mut rng = Rng::new(derive(self.config.seed, number as u64));
        if number >= self.config.population && population.members.len() > 1 {
            let way = population.way(&mut rng);
            let Way { parents, improvement } = self.config.ways[way];
            let child = population.child(parents, &mut rng);
            return Ok(Candidate { found: self.improved(&child, &improvement, &mut rng)?, way: Some(way) });
        }
        let start = starts.get(number).cloned().unwrap_or_else(|| random(self.dense.size, &mut rng));
        Ok(Candidate { found: self.improved(&start, &self.config.first, &mut rng)?, way: None })
    }

    fn improved(&self, start: &[u32], improvement: &Improvement, rng: &mut Rng) -> Result<Found, QapError> {
        let mut watch = Watch::new(self.observer);
        let mut now = Arrangement::new(self.dense, start)?;
        anneal(&mut now, improvement, rng, &mut watch);
        let mut found = Found { cost: now.cost, place_of: now.place_of.clone() };
        if start.len() > MOST_TABLED || watch.stops_after(0) {
            return Ok(found);
        }
        let mut table = DeltaTable::of(now)?;
        let mut tabu = Tabu::new(start.len())?;
        tabu.run(&mut table, &mut found, improvement.iterations, self.target, rng, &mut watch);
        Ok(found)
    }

    /// Takes a candidate into the population, unless it is there already or worse than all.
    fn enter(&self, population: &mut Population, Candidate { found, way }: Candidate) {
        let Population { members, stale, records, .. } = population;
        *stale += 1;
        if members.first().is_none_or(|best| found.cost < best.cost) {
            *stale = 0;
            self.observer.reached(found.cost * self.dense.scale);
        }
        let at = members.partition_point(|member| member.cost <= found.cost);
        let is_member = at < self.config.population && !members.contains(&found);
        if is_member {
            members.insert(at, found);
            members.truncate(self.config.population);
        }
        if let Some(way) = way {
            let record = &mut records[way];
            record.members = MEMORY * record.members + f64::from(u8::from(is_member));
            record.work = MEMORY * record.work + self.work(&self.config.ways[way].improvement);
        }
    }

    /// About how many entries an improvement reads.
    fn work(&self, improvement: &Improvement) -> f64 {
        let n = self.dense.size as f64;
        n * n
            * (0.5 * n * f64::from(affordable(improvement.rounds, self.dense.size))
                + 2.0 * f64::from(improvement.iterations))
    }
}

impl Population {
    /// A way to make a child: each at first, then by its members for its work.
    fn way(&self, rng: &mut Rng) -> usize {
        let least = self
            .records
            .map(|record| record.work)
            .into_iter()
            .filter(|&work| work > 0.0)
            .fold(f64::MAX, f64::min);
        let worth = |record: &Record| match record.work > 0.0 {
            true => (record.members + HOPE) / (record.work + least),
            false => f64::INFINITY,
        };
        let worths: Vec<f64> = self.records.iter().map(worth).collect();
        let untried: Vec<usize> = (0..worths.len()).filter(|&way| worths[way].is_infinite()).collect();
        if !untried.is_empty() {
            return untried[rng.below(untried.len() as u32) as usize];
        }
        let mut left = rng.unit() * worths.iter().sum::<f64>();
        for (way, worth) in worths.iter().enumerate() {
            left -= worth;
            if left < 0.0 {
                return way;
            }
        }
        0
    }

    /// What a child of so many parents begins as. Parents are the better members more often. If nothing better has come for long, a
    /// child of two is a mutant of one instead.
    fn child(&self, parents: u32, rng: &mut Rng) -> Vec<u32> {
        let mut pick = || {
            let count = self.members.len() as u32;
            rng.below(count).min(rng.below(count)) as usize
        };
        let (first, mut second) = (pick(), pick());
        if first == second {
            second = (first + 1) % self.members.len();
        }
        let (first, second) = (&self.members[first].place_of, &self.members[second].place_of);
        let is_stale = self.stale % (2 * STALE) >= STALE;
        match parents {
            0 => random(first.len(), rng),
            1 if self.alike.is_empty() => first.clone(),
            1 => exchanged(first, &self.alike, rng),
            _ if is_stale => mutated(first, first.len() / 3 + 2, rng),
            _ => uniform(first, second, rng),
        }
    }
}

/// Objects at random places.
fn random(size: usize, rng: &mut Rng) -> Vec<u32> {
    let mut place_of: Vec<u32> = (0..size as u32).collect();
    rng.shuffle(&mut place_of);
    place_of
}
