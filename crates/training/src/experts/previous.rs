//! An older placement: which copies have moved, and names of PEs under which fewest of them have.
//!
//! A placement costs the same if PEs of a group exchange their copies, or groups of the same shape do. So the groups of a placement get the places of
//! those of the older one by assignments of greatest weight, from the single PEs outwards: what two groups have in common is what their
//! parts have under the best assignment of these. O(PEs² · slots of a PE), and an assignment for each two groups.

use super::domains::{Domains, Level};
use super::error::ExpertId;
use super::routing::LayerRouting;
use super::search::PreviousAssignment;
use viem::base::linear_assignment::cheapest_assignment;
use viem::partition::MigrationWeight;

/// Parts of a group up to which an assignment is optimal; of more, each takes the best place that is left.
const MOST_PARTS: usize = 512;

/// The older placement of a layer.
pub(super) struct Old {
    /// The experts on each PE, in ascending order.
    held: Vec<Vec<ExpertId>>,
    weight: f64,
    load_unit: f64,
}

/// The experts of each PE, in ascending order.
fn held_by(slots: &[ExpertId], num_pes: usize) -> Vec<Vec<ExpertId>> {
    let mut held: Vec<Vec<ExpertId>> =
        slots.chunks((slots.len() / num_pes.max(1)).max(1)).map(<[ExpertId]>::to_vec).collect();
    held.iter_mut().for_each(|experts| experts.sort_unstable());
    held
}

/// Returns the number of entries that two ascending lists have in common.
fn common(one: &[ExpertId], other: &[ExpertId]) -> usize {
    let (mut own, mut count) = (one.iter().peekable(), 0);
    for expert in other {
        while own.next_if(|own| *own < expert).is_some() {}
        count += usize::from(own.next_if_eq(&expert).is_some());
    }
    count
}

/// Returns the number of copies on a PE that did not have them before.
pub(super) fn moved(new: &[ExpertId], old: &[ExpertId], num_pes: usize) -> usize {
    let (own, before) = (held_by(new, num_pes), held_by(old, num_pes));
    new.len() - own.iter().zip(&before).map(|(own, before)| common(own, before)).sum::<usize>()
}

impl Old {
    pub fn new(slots: &[ExpertId], domains: &Domains, weight: MigrationWeight, load_unit: f64) -> Self {
        Self { held: held_by(slots, domains.num_pes), weight: weight.value(), load_unit }
    }

    /// Returns the cost of a move, in units of J or, where only loads are known, of loads.
    pub fn weight_of(&self, layer: &LayerRouting) -> f64 {
        if layer.sets().len() > 0 { self.weight } else { self.weight / self.load_unit }
    }

    /// Returns the number of copies of these experts that have moved.
    pub fn moved(&self, pe_of: &[u32], experts: &[ExpertId]) -> usize {
        let own = self.held_now(pe_of, experts);
        let stay = own.iter().zip(&self.held).map(|(own, before)| common(own, before));
        experts.len() - stay.sum::<usize>()
    }

    /// The experts on each PE, in ascending order.
    fn held_now(&self, pe_of: &[u32], experts: &[ExpertId]) -> Vec<Vec<ExpertId>> {
        let mut held = vec![Vec::new(); self.held.len()];
        pe_of.iter().zip(experts).for_each(|(&pe, &expert)| held[pe as usize].push(expert));
        held.iter_mut().for_each(|experts| experts.sort_unstable());
        held
    }

    /// Returns the copies that are on their previous PE.
    pub fn homes(&self, experts: &[ExpertId], price: i64) -> PreviousAssignment {
        let is_home = |expert: &ExpertId, held: &Vec<ExpertId>| held.binary_search(expert).is_ok();
        let is_home =
            experts.iter().flat_map(|expert| self.held.iter().map(move |held| is_home(expert, held)));
        PreviousAssignment { is_home: is_home.collect(), price }
    }

    /// The copies where they were. Those that were not there go to free slots by load.
    pub fn start(&self, experts: &[ExpertId], loads: &[u64]) -> Vec<u32> {
        let mut left = self.held.clone();
        let slots = self.held.first().map_or(0, Vec::len);
        let (mut total, mut used) = (vec![0u64; left.len()], vec![0; left.len()]);
        let mut pe_of: Vec<Option<u32>> = vec![None; experts.len()];
        for (copy, &expert) in experts.iter().enumerate() {
            let place =
                left.iter().enumerate().find_map(|(pe, held)| Some((pe, held.binary_search(&expert).ok()?)));
            if let Some((pe, place)) = place {
                left[pe].remove(place);
                (pe_of[copy], total[pe], used[pe]) = (Some(pe as u32), total[pe] + loads[copy], used[pe] + 1);
            }
        }
        let mut others: Vec<usize> = (0..experts.len()).filter(|&copy| pe_of[copy].is_none()).collect();
        others.sort_by_key(|&copy| std::cmp::Reverse(loads[copy]));
        for copy in others {
            let free = (0..used.len()).filter(|&pe| used[pe] < slots);
            let pe = free.min_by_key(|&pe| total[pe]).unwrap_or(0);
            (pe_of[copy], total[pe], used[pe]) = (Some(pe as u32), total[pe] + loads[copy], used[pe] + 1);
        }
        pe_of.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// Gives PEs and groups other places, such that most copies are where they were.
    pub fn rename(&self, pe_of: &mut [u32], experts: &[ExpertId], domains: &Domains) {
        let own = self.held_now(pe_of, experts);
        let tree = Tree::of(domains, &own, &self.held);
        let mut place_of = vec![0; own.len()];
        tree.assign(tree.groups.len() - 1, 0, 0, &mut place_of);
        let renamed: Vec<u32> = pe_of.iter().map(|&pe| place_of[pe as usize]).collect();
        if self.moved(&renamed, experts) < self.moved(pe_of, experts) {
            pe_of.copy_from_slice(&renamed);
        }
    }
}

/// The groups of a machine and what two of them have in common.
struct Tree {
    /// The groups by level, from the PEs to the whole machine: the parts of each group, which are groups of the level before.
    groups: Vec<Vec<Vec<usize>>>,
    /// The shape of each group by level; groups of the same shape have the same number.
    shapes: Vec<Vec<usize>>,
    /// Shared copies by level and two groups, the first of the placement, the second of the older one.
    shared: Vec<Vec<i64>>,
}

impl Tree {
    fn of(domains: &Domains, own: &[Vec<ExpertId>], before: &[Vec<ExpertId>]) -> Self {
        let num_pes = domains.num_pes;
        let pairs = own.iter().flat_map(|own| before.iter().map(move |before| common(own, before) as i64));
        let mut tree = Self {
            groups: vec![vec![Vec::new(); num_pes]],
            shapes: vec![vec![0; num_pes]],
            shared: vec![pairs.collect()],
        };
        // The group of each PE at the level before.
        let mut inner: Vec<usize> = (0..num_pes).collect();
        for level in nested(domains) {
            inner = tree.add(&inner, &level.group_of.iter().map(|&group| group as usize).collect::<Vec<_>>());
        }
        tree.add(&inner, &vec![0; num_pes]);
        tree
    }

    /// Adds a level whose groups consist of those of the one before.
    fn add(&mut self, inner: &[usize], outer: &[usize]) -> Vec<usize> {
        let mut parts = vec![Vec::new(); outer.iter().max().map_or(0, |&most| most + 1)];
        for (&part, &group) in inner.iter().zip(outer) {
            if !parts[group].contains(&part) {
                parts[group].push(part);
            }
        }
        let level = self.groups.len();
        let shape = |parts: &Vec<usize>| {
            let mut shape: Vec<usize> = parts.iter().map(|&part| self.shapes[level - 1][part]).collect();
            shape.sort_unstable();
            shape
        };
        let shapes: Vec<Vec<usize>> = parts.iter().map(shape).collect();
        let first = |shape| shapes.iter().position(|other| other == shape).unwrap_or(0);
        self.shapes.push(shapes.iter().map(first).collect());
        let count = parts.len();
        self.groups.push(parts);
        let shared = |pair: usize| match self.shapes[level][pair / count] == self.shapes[level][pair % count]
        {
            true => self
                .pairs(level, pair / count, pair % count)
                .iter()
                .map(|&(own, other)| self.common(level - 1, own, other))
                .sum(),
            false => 0,
        };
        self.shared.push((0..count * count).map(shared).collect());
        outer.to_vec()
    }

    fn common(&self, level: usize, own: usize, other: usize) -> i64 {
        self.shared[level][own * self.groups[level].len() + other]
    }

    /// The best assignment of the parts of two groups of the same shape.
    fn pairs(&self, level: usize, own: usize, other: usize) -> Vec<(usize, usize)> {
        let (own, other) = (&self.groups[level][own], &self.groups[level][other]);
        let shapes = &self.shapes[level - 1];
        let value = |row: usize, column: usize| match shapes[own[row]] == shapes[other[column]] {
            true => self.common(level - 1, own[row], other[column]),
            // More than all that there can be in common.
            false => -(1 << 40),
        };
        let places = if own.len() <= MOST_PARTS {
            cheapest_assignment(own.len(), |row, column| -value(row, column)).0
        } else {
            let mut is_free = vec![true; own.len()];
            let best = |row: usize| {
                let free = (0..own.len()).rev().filter(|&column| is_free[column]);
                let column = free.max_by_key(|&column| value(row, column)).unwrap_or(0);
                is_free[column] = false;
                column
            };
            (0..own.len()).map(best).collect()
        };
        places.into_iter().enumerate().map(|(row, column)| (own[row], other[column])).collect()
    }

    /// Says which PE each PE of a group takes the place of, if the group takes that of another one.
    fn assign(&self, level: usize, own: usize, other: usize, place_of: &mut [u32]) {
        if level == 0 {
            place_of[own] = other as u32;
            return;
        }
        for (own, other) in self.pairs(level, own, other) {
            self.assign(level - 1, own, other, place_of);
        }
    }
}

/// The levels, and the nodes among them if they are groups of groups.
fn nested(domains: &Domains) -> Vec<&Level> {
    let mut levels: Vec<&Level> = domains.levels.iter().collect();
    let refines = |inner: &Level, outer: &Level| {
        let mut of_group = vec![None; inner.num_groups()];
        inner
            .group_of
            .iter()
            .zip(&outer.group_of)
            .all(|(&inner, &outer)| *of_group[inner as usize].get_or_insert(outer) == outer)
    };
    let place = levels.iter().take_while(|level| refines(level, &domains.nodes)).count();
    if levels[place..].iter().all(|level| refines(&domains.nodes, level)) {
        levels.insert(place, &domains.nodes);
    }
    levels
}
