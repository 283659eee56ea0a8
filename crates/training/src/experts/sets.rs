//! The sets of copies that tokens choose.

use super::routing::LayerRouting;
use viem::base::rng::{Rng, derive};

/// Ways to choose copies for a set of experts up to which all are taken; of more, as many are drawn.
pub(super) const MOST_WAYS: u64 = 16;

/// Sets of copies, and how many tokens choose each.
pub(super) struct CopySets {
    pub num_copies: usize,
    offsets: Vec<usize>,
    copies: Vec<u32>,
    weights: Vec<i64>,
    /// The sets of copy c are `sets_of[first_set[c]..first_set[c + 1]]`.
    first_set: Vec<usize>,
    sets_of: Vec<u32>,
}

impl CopySets {
    /// The sets of a layer whose experts have this many copies, at most `most` of them.
    pub fn of(routing: &LayerRouting, copies: &[u32], most: usize, seed: u64) -> Self {
        let mut first_copy = vec![0; copies.len()];
        let mut num_copies = 0;
        for (first, &count) in first_copy.iter_mut().zip(copies) {
            *first = num_copies;
            num_copies += count;
        }
        let mut sets = Self {
            num_copies: num_copies as usize,
            offsets: vec![0],
            copies: Vec::new(),
            weights: Vec::new(),
            first_set: Vec::new(),
            sets_of: Vec::new(),
        };
        let stride = Self::stride(routing, most);
        for (number, (experts, tokens)) in routing.sets().enumerate().step_by(stride) {
            let ways = experts.iter().map(|&expert| u64::from(copies[expert as usize]));
            let ways = ways.fold(1u64, u64::saturating_mul);
            let taken = ways.min(MOST_WAYS);
            let mut rng = Rng::new(derive(seed, number as u64));
            // Fractions of a token are lost otherwise.
            let weight = (tokens * MOST_WAYS) / taken;
            for way in 0..taken {
                let mut left = way;
                for &expert in experts {
                    let count = copies[expert as usize];
                    let copy =
                        if ways == taken { (left % u64::from(count)) as u32 } else { rng.below(count) };
                    left /= u64::from(count);
                    sets.copies.push(first_copy[expert as usize] + copy);
                }
                sets.offsets.push(sets.copies.len());
                sets.weights.push(weight as i64);
            }
        }
        sets.index();
        sets
    }

    /// Returns the stride between the sets that are examined, for at most `most` of them.
    pub fn stride(routing: &LayerRouting, most: usize) -> usize {
        routing.sets().len().div_ceil(most).max(1)
    }

    fn index(&mut self) {
        let mut first = vec![0; self.num_copies + 1];
        self.copies.iter().for_each(|&copy| first[copy as usize + 1] += 1);
        (0..self.num_copies).for_each(|copy| first[copy + 1] += first[copy]);
        let mut next = first.clone();
        self.sets_of = vec![0; self.copies.len()];
        for set in 0..self.weights.len() {
            for &copy in &self.copies[self.offsets[set]..self.offsets[set + 1]] {
                self.sets_of[next[copy as usize]] = set as u32;
                next[copy as usize] += 1;
            }
        }
        self.first_set = first;
    }

    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// The copies of a set.
    pub fn copies(&self, set: u32) -> &[u32] {
        &self.copies[self.offsets[set as usize]..self.offsets[set as usize + 1]]
    }

    pub fn weight(&self, set: u32) -> i64 {
        self.weights[set as usize]
    }

    /// The sets that contain a copy.
    pub fn sets_of(&self, copy: u32) -> &[u32] {
        &self.sets_of[self.first_set[copy as usize]..self.first_set[copy as usize + 1]]
    }
}
