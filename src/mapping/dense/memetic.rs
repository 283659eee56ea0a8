//! A memetic algorithm: a population of assignments and their children, each improved by annealing and tabu
//! search.
//!
//! Candidates come in batches of a fixed size. They are improved in parallel and enter the population in
//! their order, so the result does not depend on the number of threads. A child keeps the places on which two
//! parents agree, or starts as a copy of one. The worst member is removed.
//!
//! The operator that suits a problem is not known in advance: unstructured problems need deep tabu search,
//! structured ones annealing. There are therefore several ways to make a child, and those that have produced
//! more members for their work are used more often.
//!
//! There are two such populations: a thorough one, and a quick one whose members are improved only by a short
//! tabu search. The quick one makes many children in the same time and soon converges. It finds the optimum
//! of structured problems, and of those with many local optima far from each other. Each batch goes to the
//! population that has had less work.
//!
//! A converged population finds nothing more. It is replaced by random assignments. Its best member is kept
//! aside, and joins the next generation once that has converged too. Independent generations that agree on the best J can
//! end the search.

use super::annealing::{EXCHANGE, FEW};
use super::arrangement::Arrangement;
use super::crossover::{alike, exchanged, mutated, uniform};
use super::effort::{Effort, QapImprovement};
use super::form::QapError;
use super::narrow::Dense;
use super::number::Number;
use super::table::DeltaTable;
use super::tabu::{Found, Tabu};
use crate::base::observer::{Observer, Watch};
use crate::base::rng::{Rng, derive};
use crate::base::threads;
use crate::base::types::Cost;

/// Candidates that are improved in parallel.
const BATCH: usize = 4;

/// Larger problems are only annealed, without a table of all exchanges, whose setup takes O(n³).
pub(crate) const MOST_TABLED: usize = 800;

/// After this many children in a row without a new best member, the same number of mutants follows. After as
/// many again, a converged population is given up; others have twice the time.
const STALE: usize = 60;

/// The decay of the record of a way per child: about the last fifty count.
const MEMORY: f64 = 0.98;

/// Initial credit of each way in members, so that none is given up.
const HOPE: f64 = 0.5;

/// The problem and the settings of a memetic search.
pub(super) struct Memetic<'a, T: Number> {
    pub(super) dense: &'a Dense<T>,
    pub(super) effort: &'a Effort,
    /// The search ends at or below this value; in units of the scale.
    pub(super) target: Cost,
    /// May end the search.
    pub(super) observer: &'a dyn Observer,
}

/// A population, best member first.
struct Population {
    members: Vec<Found>,
    /// Children since the last new best member.
    stale: usize,
    /// Members still to be made from random assignments.
    missing: usize,
    /// The best member of earlier generations, until it joins.
    elite: Option<Found>,
    /// True if all members descend from random assignments: neither from a start nor from earlier generations.
    is_independent: bool,
    /// True if this is the quick population.
    is_quick: bool,
    /// Total work of all its members.
    work: f64,
    /// The record of each way to make a child.
    records: [Record; 5],
    /// For each place, all places, the most similar first; empty if that took too long.
    alike: Vec<Vec<u32>>,
}

/// The record of a way to make children.
#[derive(Clone, Copy, Default)]
struct Record {
    /// Children that became members.
    members: f64,
    /// Total work of all children.
    work: f64,
}

/// An assignment that may become a member.
struct Candidate {
    found: Found,
    /// The operator that made it, if it is a child in a thorough generation.
    way: Option<usize>,
    work: f64,
}

impl<T: Number> Memetic<'_, T> {
    /// The best assignment found; not worse than the starts.
    pub(super) fn run(&self, starts: &[Vec<u32>]) -> Result<Found, QapError> {
        let Self { effort, observer, .. } = *self;
        let n = self.dense.size;
        let alike = if n <= MOST_TABLED { alike::<T>(&self.dense.b, n, observer) } else { Vec::new() };
        let population = |is_quick, alike| Population {
            members: Vec::new(),
            stale: 0,
            missing: effort.population,
            elite: None,
            is_independent: is_quick,
            is_quick,
            work: 0.0,
            records: Default::default(),
            alike,
        };
        let (mut thorough, mut quick) = (population(false, alike), population(true, Vec::new()));
        let mut best = self.first_of(starts, &mut thorough);
        let mut left =
            effort.children.map_or(usize::MAX, |children| effort.population.saturating_add(children));
        let mut number = 0;
        // Independent generations that have found the best J.
        let mut agreeing = 0;
        while left > 0
            && effort.agreeing != Some(agreeing)
            && best.cost > self.target
            && !observer.should_stop()
        {
            let population = match n <= MOST_TABLED && quick.work < thorough.work {
                true => &mut quick,
                false => {
                    left = left.saturating_sub(BATCH);
                    &mut thorough
                }
            };
            let current = &*population;
            let candidate = |at| self.candidate(number + at, at, starts, current);
            let batch = threads::map_until(0..BATCH, &|| observer.should_stop(), &candidate);
            let batch = batch.into_iter().collect::<Result<Vec<Candidate>, QapError>>()?;
            number += BATCH;
            population.missing = population.missing.saturating_sub(BATCH);
            for candidate in batch {
                if candidate.found.cost < best.cost {
                    best = candidate.found.clone();
                    agreeing = 0;
                    observer.reached(best.cost * self.dense.scale);
                }
                self.enter(population, candidate);
            }
            if population.renew(effort.population) == Some(best.cost) {
                agreeing += 1;
            }
        }
        Ok(best)
    }

    /// The best of the starts; all starts become members.
    fn first_of(&self, starts: &[Vec<u32>], population: &mut Population) -> Found {
        let found = |start: &Vec<u32>| Found { cost: self.dense.cost(start), place_of: start.clone() };
        for start in starts {
            self.enter(population, Candidate { found: found(start), way: None, work: 0.0 });
        }
        let best = population.members.first().expect("there is a start");
        self.observer.reached(best.cost * self.dense.scale);
        best.clone()
    }

    /// A candidate for the population, with this overall number and position in its batch.
    fn candidate(
        &self,
        number: usize,
        at: usize,
        starts: &[Vec<u32>],
        population: &Population,
    ) -> Result<Candidate, QapError> {
        let Effort { seed, ref first, ref ways, ref quick, .. } = *self.effort;
        let mut rng = Rng::new(derive(seed, number as u64));
        let is_child = at >= population.missing && population.members.len() > 1;
        let (start, improvement, way) = match (is_child, population.is_quick) {
            (false, is_quick) => {
                let start = starts
                    .get(number)
                    .cloned()
                    .unwrap_or_else(|| random(&starts[0], self.dense.movable, &mut rng));
                (start, if is_quick { &quick.first } else { first }, None)
            }
            (true, true) => (population.child(2, self.dense.movable, &mut rng), &quick.child, None),
            (true, false) => {
                let way = population.way(&mut rng);
                let start = population.child(ways[way].parents, self.dense.movable, &mut rng);
                (start, &ways[way].improvement, Some(way))
            }
        };
        let (found, work) = self.improved(&start, improvement, &mut rng)?;
        Ok(Candidate { found, way, work })
    }

    /// An improved assignment, and the approximate number of entries read.
    fn improved(
        &self,
        start: &[u32],
        improvement: &QapImprovement,
        rng: &mut Rng,
    ) -> Result<(Found, f64), QapError> {
        let mut watch = Watch::new(self.observer);
        let mut now = Arrangement::new(self.dense, start)?;
        let mut annealing = improvement.annealing(&mut now, rng);
        let has_table = start.len() <= MOST_TABLED;
        annealing.run(&mut now, if has_table { FEW } else { 0.0 }, rng, &mut watch);
        let mut found = Found { cost: now.cost, place_of: now.place_of.clone() };
        if !has_table || watch.stops_after(0) {
            return Ok((found, annealing.work()));
        }
        let mut table = DeltaTable::of(now)?;
        annealing.run(&mut table, 0.0, rng, &mut watch);
        found.improve(&table);
        let mut tabu = Tabu::new(start.len())?;
        tabu.run(&mut table, &mut found, improvement.iterations, self.target, rng, &mut watch);
        let of_table = 0.5 * start.len() as f64 + EXCHANGE * f64::from(improvement.iterations);
        Ok((found, annealing.work() + of_table * (start.len() * start.len()) as f64))
    }

    /// Adds a candidate to the population, unless it is a duplicate or worse than all.
    fn enter(&self, population: &mut Population, Candidate { found, way, work }: Candidate) {
        let Population { members, stale, records, .. } = population;
        population.work += work;
        *stale += 1;
        if members.first().is_none_or(|best| found.cost < best.cost) {
            *stale = 0;
        }
        let at = members.partition_point(|member| member.cost <= found.cost);
        let is_member = at < self.effort.population && !members.contains(&found);
        if is_member {
            members.insert(at, found);
            members.truncate(self.effort.population);
        }
        if let Some(way) = way {
            let record = &mut records[way];
            record.members = MEMORY * record.members + f64::from(u8::from(is_member));
            record.work = MEMORY * record.work + work;
        }
    }
}

impl Population {
    /// When the population has converged and has not found a better member for long, the best of earlier
    /// generations joins. Later, all members are replaced by random ones. Returns the best J of a converged generation that is
    /// independent.
    fn renew(&mut self, size: usize) -> Option<Cost> {
        let patience = if self.is_alike() { 2 * STALE } else { 4 * STALE };
        if self.missing > 0 || self.stale < patience {
            return None;
        }
        self.stale = 0;
        let own = self.members.first().filter(|_| self.is_independent).map(|best| best.cost);
        if let Some(elite) = self.elite.take() {
            self.is_independent = false;
            let at = self.members.partition_point(|member| member.cost <= elite.cost);
            if !self.members.contains(&elite) {
                self.members.insert(at, elite);
                self.members.truncate(size);
            }
            return own;
        }
        self.elite = Some(self.members.swap_remove(0));
        self.members.clear();
        self.missing = size;
        self.is_independent = true;
        own
    }

    /// Returns whether most objects have the same place in the best member and in the others.
    fn is_alike(&self) -> bool {
        let Some((best, others)) = self.members.split_first() else {
            return false;
        };
        let differ =
            |other: &Found| best.place_of.iter().zip(&other.place_of).filter(|(a, b)| a != b).count();
        4 * others.iter().map(differ).sum::<usize>() <= others.len() * best.place_of.len()
    }

    /// Chooses a way to make a child: each once, then in proportion to its members per work.
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

    /// The initial assignment of a child with none, one or two parents. Better members are parents more
    /// often. After a long time without a better member, a mutant of one parent replaces a child of two.
    fn child(&self, parents: u32, movable: usize, rng: &mut Rng) -> Vec<u32> {
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
            0 => random(first, movable, rng),
            1 if self.alike.is_empty() => first.clone(),
            1 => exchanged(first, movable, &self.alike, rng),
            _ if is_stale => mutated(first, movable, first.len() / 3 + 2, rng),
            _ => uniform(first, second, rng),
        }
    }
}

/// The first `movable` objects of an assignment at random places, where these objects are.
fn random(one: &[u32], movable: usize, rng: &mut Rng) -> Vec<u32> {
    let mut place_of = one.to_vec();
    // In ascending order, so that without fixed objects the result does not depend on the assignment.
    place_of[..movable].sort_unstable();
    rng.shuffle(&mut place_of[..movable]);
    place_of
}

#[cfg(test)]
mod tests {
    use super::super::{Qap, Search, exact};
    use super::*;

    fn population(members: &[&[u32]], stale: usize) -> Population {
        let members = members.iter().zip(1..);
        Population {
            members: members.map(|(&place_of, cost)| Found { cost, place_of: place_of.to_vec() }).collect(),
            stale,
            missing: 0,
            elite: None,
            is_independent: false,
            is_quick: false,
            work: 0.0,
            records: Default::default(),
            alike: Vec::new(),
        }
    }

    #[test]
    fn converged_members_are_replaced_and_the_best_joins_the_next_generation() {
        let [one, two]: [&[u32]; 2] = [&[0, 1, 2, 3, 4, 5, 6, 7], &[1, 0, 2, 3, 4, 5, 6, 7]];
        let mut early = population(&[one, two], 2 * STALE - 1);
        early.renew(2);
        assert_eq!((early.members.len(), early.missing), (2, 0));

        let mut alike = population(&[one, two], 2 * STALE);
        alike.renew(2);
        assert_eq!((alike.members.len(), alike.missing, alike.stale), (0, 2, 0));
        assert_eq!(alike.elite.as_ref().unwrap().place_of, one);

        // The next generation is left alone until it is complete and has converged; then the best of the
        // previous one joins.
        alike.members = population(&[two, two], 0).members;
        (alike.members[0].cost, alike.members[1].cost) = (2, 3);
        alike.stale = 2 * STALE;
        alike.renew(2);
        assert_eq!(alike.members.len(), 2);
        alike.missing = 0;
        assert_eq!(alike.renew(2), Some(2));
        let places: Vec<&[u32]> = alike.members.iter().map(|member| &member.place_of[..]).collect();
        assert_eq!((places, alike.missing, alike.stale), (vec![one, two], 0, 0));
        assert!(alike.elite.is_none());
    }

    #[test]
    fn diverse_members_have_more_time() {
        let members: [&[u32]; 2] = [&[0, 1, 2, 3], &[3, 2, 1, 0]];
        for (stale, left) in [(2 * STALE, 2), (4 * STALE - 1, 2), (4 * STALE, 0)] {
            let mut differing = population(&members, stale);
            differing.renew(2);
            assert_eq!(differing.members.len(), left, "{stale}");
        }
    }

    #[test]
    fn a_search_ends_once_independent_generations_agree() {
        let mut rng = Rng::new(3);
        let n = 7;
        let mut matrix = || -> Vec<i64> { (0..n * n).map(|_| i64::from(rng.below(10))).collect() };
        let qap = Qap::from_matrices(n, matrix(), matrix()).unwrap();
        let start: Vec<u32> = (0..n as u32).collect();
        // Without an end of its own, the search would not end.
        let effort = Effort { children: None, agreeing: Some(3), ..Effort::new(8, 0) };
        let search = Search { qap: &qap, movable: n, effort: &effort, target: Cost::MIN, observer: &() };
        let cost = qap.cost(&search.run(&start).unwrap());
        let proof = exact::search(&qap, &[], cost, u64::MAX, &mut Watch::new(&()));
        assert!(proof.is_complete && proof.better.is_none(), "{cost} {:?}", proof.better);
    }
}
