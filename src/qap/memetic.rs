//! A population of assignments and their children, each improved by annealing and tabu search.
//!
//! Members come in batches of a fixed number, which are improved in parallel and enter the population in their order: so the result
//! does not depend on the number of threads. A child keeps what two parents agree on. The worst member leaves.

use rayon::prelude::*;

use super::annealing::anneal;
use super::arrangement::Arrangement;
use super::crossover::{mutated, uniform};
use super::dense::{Dense, Number};
use super::form::QapError;
use super::settings::{Improvement, QapConfig};
use super::table::DeltaTable;
use super::tabu::{Found, Tabu};
use crate::observer::{Observer, Watch};
use crate::rng::{Rng, derive};
use crate::types::Cost;

/// Members that are improved at the same time.
const BATCH: usize = 4;

/// After so many children in a row that were not better than the best, as many are mutants.
const STALE: usize = 60;

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
}

impl<T: Number> Memetic<'_, T> {
    /// The best assignment found; not worse than the starts.
    pub(super) fn run(&self, starts: &[Vec<u32>]) -> Result<Found, QapError> {
        let Self { config, observer, .. } = *self;
        let mut population = Population { members: Vec::new(), stale: 0 };
        for start in starts {
            self.enter(&mut population, Found { cost: self.dense.cost(start), place_of: start.clone() });
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
            let batch = numbers.into_par_iter().map(|number| self.member(number, starts, &population));
            for found in batch.collect::<Result<Vec<Found>, QapError>>()? {
                self.enter(&mut population, found);
            }
        }
        Ok(population.members.swap_remove(0))
    }

    /// One more for the population.
    fn member(&self, number: usize, starts: &[Vec<u32>], population: &Population) -> Result<Found, QapError> {
        let mut rng = Rng::new(derive(self.config.seed, number as u64));
        let n = self.dense.size;
        if number >= self.config.population && population.members.len() > 1 {
            let child = population.child(&mut rng);
            return self.improved(&child, &self.config.child, &mut rng);
        }
        let start = starts.get(number).cloned().unwrap_or_else(|| {
            let mut start: Vec<u32> = (0..n as u32).collect();
            rng.shuffle(&mut start);
            start
        });
        self.improved(&start, &self.config.first, &mut rng)
    }

    fn improved(&self, start: &[u32], improvement: &Improvement, rng: &mut Rng) -> Result<Found, QapError> {
        let mut watch = Watch::new(self.observer);
        let mut now = Arrangement::new(self.dense, start)?;
        anneal(&mut now, improvement, rng, &mut watch);
        let mut found = Found { cost: now.cost, place_of: now.place_of.clone() };
        if watch.stops_after(0) {
            return Ok(found);
        }
        let mut table = DeltaTable::of(now)?;
        let mut tabu = Tabu::new(start.len())?;
        tabu.run(&mut table, &mut found, improvement.iterations, self.target, rng, &mut watch);
        Ok(found)
    }

    /// Takes a member into the population, unless it is there already.
    fn enter(&self, population: &mut Population, found: Found) {
        let Population { members, stale } = population;
        *stale += 1;
        if members.first().is_none_or(|best| found.cost < best.cost) {
            *stale = 0;
            self.observer.reached(found.cost * self.dense.scale);
        }
        if !members.contains(&found) {
            let at = members.partition_point(|member| member.cost <= found.cost);
            members.insert(at, found);
            members.truncate(self.config.population);
        }
    }
}

impl Population {
    /// A child of two members, the better ones more often, or a mutant if nothing better has come for long.
    fn child(&self, rng: &mut Rng) -> Vec<u32> {
        let mut pick = || {
            let count = self.members.len() as u32;
            rng.below(count).min(rng.below(count)) as usize
        };
        let (first, mut second) = (pick(), pick());
        if first == second {
            second = (first + 1) % self.members.len();
        }
        let (first, second) = (&self.members[first].place_of, &self.members[second].place_of);
        if self.stale % (2 * STALE) >= STALE {
            mutated(first, first.len() / 3 + 2, rng)
        } else {
            uniform(first, second, rng)
        }
    }
}
