//! Loads as even as possible, where nothing else is known.
//!
//! Copies are placed in descending order of their loads, then exchanged with those of the fullest PE while that lowers the greater of two loads. Few
//! copies are then placed by branch and bound, which finds the least greatest load if it ends within its steps. Finally whole PEs are
//! distributed over the groups of each level in the same way, from the outermost level on, so the loads of nodes are even, too.

use super::domains::Level;
use super::packing::{Packing, by_load};
use super::search::PreviousAssignment;
use viem::base::observer::Observer;

/// Copies up to which branch and bound is tried; with more of them it hardly ever ends, and exchanges leave little to be gained.
const MOST_COPIES: usize = 64;
/// Copies that branch and bound places, one after the other; it ends for 16 copies on 8 PEs, and takes a few milliseconds.
const MOST_STEPS: u64 = 1 << 18;

/// The PE of each copy with these loads, equally many on each PE. Two copies of an expert are kept apart as far as that costs nothing.
pub(super) fn even(experts: &[u32], loads: &[u64], num_pes: usize, observer: &dyn Observer) -> Vec<u32> {
    let Packing { mut pe_of, .. } = by_load(experts, loads, num_pes);
    exchange(&mut pe_of, loads, num_pes, observer);
    if loads.len() <= MOST_COPIES
        && let Some(better) = Branching::new(loads, num_pes, greatest(&pe_of, loads, num_pes)).run()
    {
        pe_of = better;
    }
    pe_of
}

/// The load of each PE.
fn loads_of(pe_of: &[u32], loads: &[u64], num_pes: usize) -> Vec<u64> {
    let mut total = vec![0; num_pes];
    pe_of.iter().zip(loads).for_each(|(&pe, load)| total[pe as usize] += load);
    total
}

/// The greatest load of a PE.
pub(super) fn greatest(pe_of: &[u32], loads: &[u64], num_pes: usize) -> u64 {
    loads_of(pe_of, loads, num_pes).into_iter().max().unwrap_or(0)
}

/// Exchanges copies of the fullest PE with others, those first that leave the least load, while that lowers it.
fn exchange(pe_of: &mut [u32], loads: &[u64], num_pes: usize, observer: &dyn Observer) {
    let mut total = loads_of(pe_of, loads, num_pes);
    while !observer.should_stop() && exchange_once(pe_of, loads, &mut total) {}
}

/// The first placement, and those that follow as exchanges of copies of the fullest PE lower its load.
pub(super) fn steps(
    first: Vec<u32>,
    loads: &[u64],
    num_pes: usize,
    observer: &dyn Observer,
) -> Vec<Vec<u32>> {
    let mut total = loads_of(&first, loads, num_pes);
    let (mut pe_of, mut steps) = (first.clone(), vec![first]);
    while !observer.should_stop() && exchange_once(&mut pe_of, loads, &mut total) {
        steps.push(pe_of.clone());
    }
    steps
}

/// The best exchange of a copy of the fullest PE, if there is one.
fn exchange_once(pe_of: &mut [u32], loads: &[u64], total: &mut [u64]) -> bool {
    let Some(fullest) = (0..total.len()).rev().max_by_key(|&pe| total[pe]) else { return false };
    let mut best = (total[fullest], 0, 0);
    for own in (0..loads.len()).filter(|&copy| pe_of[copy] as usize == fullest) {
        for other in (0..loads.len()).filter(|&other| loads[other] < loads[own]) {
            let less = loads[own] - loads[other];
            let greater = (total[fullest] - less).max(total[pe_of[other] as usize] + less);
            if greater < best.0 {
                best = (greater, own, other);
            }
        }
    }
    let (greater, own, other) = best;
    if greater == total[fullest] {
        return false;
    }
    let less = loads[own] - loads[other];
    total[fullest] -= less;
    total[pe_of[other] as usize] += less;
    pe_of.swap(own, other);
    true
}

/// Exchanges copies such that more of them are at home, while no load is above the most.
pub(super) fn restore(pe_of: &mut [u32], loads: &[u64], most: u64, homes: &PreviousAssignment) {
    let num_pes = homes.is_home.len() / pe_of.len().max(1);
    let mut total = loads_of(pe_of, loads, num_pes);
    let is_home = |copy: usize, pe: u32| i32::from(homes.is_home[copy * num_pes + pe as usize]);
    let mut is_done = false;
    while !is_done {
        is_done = true;
        for a in 0..pe_of.len() {
            for b in 0..a {
                let (here, there) = (pe_of[a], pe_of[b]);
                let more = is_home(a, there) + is_home(b, here) - is_home(a, here) - is_home(b, there);
                let loads_then =
                    [total[here as usize] - loads[a] + loads[b], total[there as usize] - loads[b] + loads[a]];
                if here != there && more > 0 && loads_then.iter().all(|&load| load <= most) {
                    [total[here as usize], total[there as usize]] = loads_then;
                    pe_of.swap(a, b);
                    is_done = false;
                }
            }
        }
    }
}

/// Branch and bound: copies in descending order of their loads, each on every PE where the greatest load can still be below the best one.
struct Branching<'a> {
    loads: &'a [u64],
    order: Vec<usize>,
    /// The load of the copies from each place of the order on.
    rest: Vec<u64>,
    pe_of: Vec<u32>,
    total: Vec<u64>,
    free: Vec<usize>,
    /// The least greatest load so far, and the placement if it was found here.
    best: (u64, Option<Vec<u32>>),
    least: u64,
    steps: u64,
}

impl<'a> Branching<'a> {
    fn new(loads: &'a [u64], num_pes: usize, greatest: u64) -> Self {
        let mut order: Vec<usize> = (0..loads.len()).collect();
        order.sort_by_key(|&copy| std::cmp::Reverse(loads[copy]));
        let mut rest = vec![0; loads.len() + 1];
        for place in (0..loads.len()).rev() {
            rest[place] = rest[place + 1] + loads[order[place]];
        }
        Self {
            loads,
            least: rest[0].div_ceil(num_pes as u64),
            order,
            rest,
            pe_of: vec![0; loads.len()],
            total: vec![0; num_pes],
            free: vec![loads.len() / num_pes; num_pes],
            best: (greatest, None),
            steps: 0,
        }
    }

    /// A placement that is better than the one known before, if there is one.
    fn run(mut self) -> Option<Vec<u32>> {
        self.place(0);
        self.best.1
    }

    fn place(&mut self, place: usize) {
        let Some(&copy) = self.order.get(place) else {
            self.best = (self.total.iter().copied().max().unwrap_or(0), Some(self.pe_of.clone()));
            return;
        };
        let mut pes: Vec<usize> = (0..self.total.len()).filter(|&pe| self.free[pe] > 0).collect();
        pes.sort_by_key(|&pe| (self.total[pe], self.free[pe]));
        pes.dedup_by_key(|&mut pe| (self.total[pe], self.free[pe]));
        for pe in pes {
            if self.best.0 <= self.least || self.steps >= MOST_STEPS || !self.has_room(place) {
                return;
            }
            self.steps += 1;
            self.total[pe] += self.loads[copy];
            self.free[pe] -= 1;
            self.pe_of[copy] = pe as u32;
            if self.total[pe] < self.best.0 {
                self.place(place + 1);
            }
            self.total[pe] -= self.loads[copy];
            self.free[pe] += 1;
        }
    }

    /// Returns whether the PEs with a slot may take the rest and stay below the best greatest load.
    fn has_room(&self, place: usize) -> bool {
        let most = self.best.0 - 1;
        let rooms = self.total.iter().zip(&self.free).filter(|&(_, &free)| free > 0);
        rooms.map(|(total, _)| most.saturating_sub(*total)).sum::<u64>() >= self.rest[place]
    }
}

/// Gives the PEs other places, such that the loads of the groups of each level are as even as possible. Levels are those of a tree, from the single PEs on.
pub(super) fn spread(pe_of: &mut [u32], loads: &[u64], levels: &[Level], observer: &dyn Observer) {
    let Some(num_pes) = levels.first().map(|level| level.group_of.len()) else { return };
    let total = loads_of(pe_of, loads, num_pes);
    let all: Vec<u32> = (0..num_pes as u32).collect();
    let mut place_of = vec![0; num_pes];
    distribute(&all, &all, &total, levels, &mut place_of, observer);
    pe_of.iter_mut().for_each(|pe| *pe = place_of[*pe as usize]);
}

/// Distributes loads, by number, over some PEs, which are one group of the level above those given.
fn distribute(
    numbers: &[u32],
    pes: &[u32],
    total: &[u64],
    levels: &[Level],
    place_of: &mut [u32],
    observer: &dyn Observer,
) {
    let Some((level, inner)) = levels.split_last() else {
        numbers.iter().zip(pes).for_each(|(&number, &pe)| place_of[number as usize] = pe);
        return;
    };
    let mut groups = vec![Vec::new(); level.num_groups()];
    pes.iter().for_each(|&pe| groups[level.group(pe)].push(pe));
    groups.retain(|group| !group.is_empty());
    let own: Vec<u64> = numbers.iter().map(|&number| total[number as usize]).collect();
    let group_of: Vec<usize> = if groups.iter().all(|group| group.len() == groups[0].len()) {
        even(numbers, &own, groups.len(), observer).into_iter().map(|group| group as usize).collect()
    } else {
        groups.iter().enumerate().flat_map(|(number, group)| vec![number; group.len()]).collect()
    };
    for (number, group) in groups.iter().enumerate() {
        let members = numbers.iter().zip(&group_of).filter(|&(_, &group)| group == number);
        let members: Vec<u32> = members.map(|(&member, _)| member).collect();
        distribute(&members, group, total, inner, place_of, observer);
    }
}
