//! Items packed into bins of bounded room: bin packing with bins of unequal sizes.
//!
//! *Problem.* Items have weights, bins have room. Assign every item to a bin so that no bin holds more than its room. Among such
//! packings, those near the given sizes of the bins are preferred, so that later divisions of a bin find items in proportion.
//!
//! *Algorithm.* Four methods, until one succeeds: heaviest first to the bin that lacks most of its size; heaviest first to the bin
//! where it fits most tightly; bin by bin, each with the subset of items whose sum is nearest to its size; and a search over all
//! assignments of few items with a budget. For n items and k bins the first two take O(n log (n + k)), the third
//! O(d · total room) for d distinct weights, if that is little, and the last looks at [`MOST_LOOKS`] bins at most.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::base::order;
use crate::base::types::{BlockId, Weight};

/// The number of bins that the search may look at. Balances finding a packing that exists against time: a few milliseconds. Of 3000
/// problems of up to 8 items and 4 bins, all are decided; see the tests.
const MOST_LOOKS: usize = 1 << 17;

/// The greatest number of items that are searched for. With more, the other methods fail only where hardly any room is left.
const MOST_SEARCHED: usize = 64;

/// The greatest number of sums that are considered per packing. Balances packings of many bins against time: a few milliseconds.
const MOST_SUMS: usize = 1 << 20;

/// Items and bins.
#[derive(Clone, Copy)]
pub struct Packing<'a> {
    /// The weight of each item, none negative.
    pub weights: &'a [Weight],
    /// What each bin should hold, by bin.
    pub sizes: &'a [Weight],
    /// What each bin may hold at most, by bin; negative if it is overfull already.
    pub rooms: &'a [Weight],
}

impl Packing<'_> {
    /// The bin of as many items as fit, each where it fits most tightly; those of the greatest value come first.
    pub fn most(&self, value: &dyn Fn(u32) -> Weight) -> Vec<Option<BlockId>> {
        let mut order: Vec<u32> = (0..self.weights.len() as u32).collect();
        order::descending_by(&mut order, value);
        let mut bins = vec![None; order.len()];
        let mut tightest = Tightest::new(self.rooms);
        for item in order {
            let weight = self.weights[item as usize];
            bins[item as usize] = tightest.place(weight).map(|bin| bin as BlockId);
        }
        bins
    }

    /// The bin of each item, if a packing is found.
    pub fn find(&self) -> Option<Vec<BlockId>> {
        let room: i128 = self.rooms.iter().map(|&room| i128::from(room.max(0))).sum();
        let total: i128 = self.weights.iter().map(|&weight| i128::from(weight)).sum();
        let greatest = self.rooms.iter().copied().max().unwrap_or(-1);
        if total > room || self.weights.iter().any(|&weight| weight > greatest) {
            return None;
        }
        let mut order: Vec<u32> = (0..self.weights.len() as u32).collect();
        order::descending_by(&mut order, &|item| self.weights[item as usize]);
        None.or_else(|| self.evenly(&order))
            .or_else(|| self.tightly(&order))
            .or_else(|| self.by_sums(&order))
            .or_else(|| self.by_search(&order))
    }

    /// Each item goes to the bin that lacks most of its size, of those where it fits.
    fn evenly(&self, order: &[u32]) -> Option<Vec<BlockId>> {
        let mut lacks: BTreeSet<(Weight, usize)> = self.sizes.iter().copied().zip(0..).collect();
        let mut rooms = self.rooms.to_vec();
        self.each(order, |weight| {
            let found = lacks.iter().rev().find(|&&(_, bin)| rooms[bin] >= weight).copied()?;
            let (lack, bin) = found;
            lacks.remove(&found);
            lacks.insert((lack - weight, bin));
            rooms[bin] -= weight;
            Some(bin)
        })
    }

    /// Each item goes to the bin where the least room is left.
    fn tightly(&self, order: &[u32]) -> Option<Vec<BlockId>> {
        let mut tightest = Tightest::new(self.rooms);
        self.each(order, |weight| tightest.place(weight))
    }

    /// The bins that `place` finds for the items, one after the other.
    fn each(&self, order: &[u32], mut place: impl FnMut(Weight) -> Option<usize>) -> Option<Vec<BlockId>> {
        let mut bins = vec![0; order.len()];
        for &item in order {
            bins[item as usize] = place(self.weights[item as usize])? as BlockId;
        }
        Some(bins)
    }

    /// Fills one bin after the other, the smallest first, as near to its size as sums of the remaining items come.
    fn by_sums(&self, order: &[u32]) -> Option<Vec<BlockId>> {
        let mut classes = classes(order, self.weights);
        let room: Weight = self.rooms.iter().map(|&room| room.max(0)).fold(0, Weight::saturating_add);
        if (room as usize).saturating_mul(classes.len()) > MOST_SUMS {
            return None;
        }
        let mut bins = vec![0; order.len()];
        let mut by_size: Vec<usize> = (0..self.rooms.len()).collect();
        by_size.sort_by_key(|&bin| self.rooms[bin]);
        for bin in by_size {
            for (class, count) in nearest_sum(&classes, self.sizes[bin], self.rooms[bin]) {
                for _ in 0..count {
                    let item = classes[class].items.pop().expect("no more than there are");
                    bins[item as usize] = bin as BlockId;
                }
            }
        }
        classes.iter().all(|class| class.items.is_empty()).then_some(bins)
    }

    /// Tries assignments depth first, heaviest items first.
    fn by_search(&self, order: &[u32]) -> Option<Vec<BlockId>> {
        if order.len() > MOST_SEARCHED {
            return None;
        }
        let weights: Vec<Weight> = order.iter().map(|&item| self.weights[item as usize]).collect();
        let slack = self.rooms.iter().map(|&room| i128::from(room.max(0))).sum::<i128>()
            - weights.iter().map(|&weight| i128::from(weight)).sum::<i128>();
        let mut search = Search { weights: &weights, rooms: self.rooms.to_vec(), looks: 0, bins: Vec::new() };
        let found = search.run(slack)?;
        let mut bins = vec![0; order.len()];
        for (&item, bin) in order.iter().zip(found) {
            bins[item as usize] = bin;
        }
        Some(bins)
    }
}

/// The bins by the room that is left in them.
struct Tightest {
    rooms: BTreeSet<(Weight, usize)>,
}

impl Tightest {
    fn new(rooms: &[Weight]) -> Self {
        Self { rooms: rooms.iter().copied().zip(0..).collect() }
    }

    /// Puts an item into the bin with the least room that suffices.
    fn place(&mut self, weight: Weight) -> Option<usize> {
        let found = self.rooms.range((weight, 0)..).next().copied()?;
        let (room, bin) = found;
        self.rooms.remove(&found);
        self.rooms.insert((room - weight, bin));
        Some(bin)
    }
}

/// The items of one weight.
struct Class {
    weight: Weight,
    items: Vec<u32>,
}

/// The items by weight, heaviest first.
fn classes(order: &[u32], weights: &[Weight]) -> Vec<Class> {
    let equal = |a: &u32, b: &u32| weights[*a as usize] == weights[*b as usize];
    let class = |items: &[u32]| Class { weight: weights[items[0] as usize], items: items.to_vec() };
    order.chunk_by(equal).map(class).collect()
}

/// How many items of which class sum up nearest to `size`, at most to `room`. Heavy items are preferred, since light ones fit anywhere.
fn nearest_sum(classes: &[Class], size: Weight, room: Weight) -> Vec<(usize, usize)> {
    const NONE: u32 = u32::MAX;
    let room = room.max(0) as usize;
    // By sum: the class by which it is reached first. Sums of earlier classes stay as they are.
    let mut reached_by = vec![NONE; room + 1];
    let mut used = vec![0u32; room + 1];
    reached_by[0] = 0;
    let weightless = |class: &&Class| class.weight > 0;
    for (index, class) in classes.iter().take_while(weightless).enumerate() {
        let (weight, most) = (class.weight as usize, class.items.len() as u32);
        used.fill(0);
        for sum in weight..=room {
            if reached_by[sum] == NONE && reached_by[sum - weight] != NONE && used[sum - weight] < most {
                reached_by[sum] = index as u32;
                used[sum] = used[sum - weight] + 1;
            }
        }
    }
    let sums = (0..=room).filter(|&sum| reached_by[sum] != NONE);
    let mut sum = sums.min_by_key(|&sum| (size.abs_diff(sum as Weight), Reverse(sum))).unwrap_or(0);
    let mut counts = vec![0; classes.len()];
    while sum > 0 {
        let class = reached_by[sum] as usize;
        counts[class] += 1;
        sum -= classes[class].weight as usize;
    }
    // Items without weight go to the first bin.
    if let Some(last) = classes.len().checked_sub(1).filter(|&last| classes[last].weight == 0) {
        counts[last] = classes[last].items.len();
    }
    counts.into_iter().enumerate().filter(|&(_, count)| count > 0).collect()
}

/// A search over all assignments.
struct Search<'a> {
    /// Heaviest first.
    weights: &'a [Weight],
    rooms: Vec<Weight>,
    looks: usize,
    bins: Vec<BlockId>,
}

impl Search<'_> {
    /// The bins of the items; `slack` is the room that may stay empty.
    fn run(&mut self, slack: i128) -> Option<Vec<BlockId>> {
        // By item: the bins left to try. A stack of its own, since there may be many items.
        let mut choices: Vec<Vec<usize>> = vec![self.choices(slack)];
        while let Some(depth) = choices.len().checked_sub(1) {
            if self.bins.len() > depth {
                let bin = self.bins.pop().expect("one bin for each item that is placed");
                self.rooms[bin as usize] += self.weights[self.bins.len()];
            }
            let Some(bin) = choices[depth].pop().filter(|_| self.looks < MOST_LOOKS) else {
                choices.pop();
                continue;
            };
            self.looks += self.rooms.len();
            self.rooms[bin] -= self.weights[self.bins.len()];
            self.bins.push(bin as BlockId);
            if self.bins.len() == self.weights.len() {
                return Some(std::mem::take(&mut self.bins));
            }
            choices.push(self.choices(slack));
        }
        None
    }

    /// The bins that the next item may go to, the tightest last; one of several with the same room. None if more room than `slack`
    /// is too narrow for any item.
    fn choices(&self, slack: i128) -> Vec<usize> {
        let (Some(&weight), Some(&least)) = (self.weights.get(self.bins.len()), self.weights.last()) else {
            return Vec::new();
        };
        let narrow = self.rooms.iter().filter(|&&room| room < least);
        if narrow.map(|&room| i128::from(room.max(0))).sum::<i128>() > slack {
            return Vec::new();
        }
        let mut bins: Vec<usize> = (0..self.rooms.len()).filter(|&bin| self.rooms[bin] >= weight).collect();
        bins.sort_by_key(|&bin| Reverse((self.rooms[bin], bin)));
        bins.dedup_by_key(|bin| self.rooms[*bin]);
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    fn find(weights: &[Weight], rooms: &[Weight]) -> Option<Vec<BlockId>> {
        Packing { weights, sizes: rooms, rooms }.find()
    }

    fn holds(weights: &[Weight], rooms: &[Weight], bins: &[BlockId]) -> bool {
        let mut loads = vec![0; rooms.len()];
        weights.iter().zip(bins).for_each(|(weight, &bin)| loads[bin as usize] += weight);
        bins.len() == weights.len() && loads.iter().zip(rooms).all(|(&load, &room)| load <= room.max(0))
    }

    /// Returns whether some assignment holds, by trying all.
    fn exists(weights: &[Weight], rooms: &mut [Weight]) -> bool {
        let Some((&first, rest)) = weights.split_first() else { return true };
        (0..rooms.len()).any(|bin| {
            rooms[bin] -= first;
            let found = rooms[bin] >= 0 && exists(rest, rooms);
            rooms[bin] += first;
            found
        })
    }

    #[test]
    fn a_packing_is_found_if_there_is_one() {
        let mut rng = Rng::new(7);
        let mut count = [0; 2];
        for _ in 0..3000 {
            let (n, k) = (rng.below(9) as usize, 1 + rng.below(4) as usize);
            let weights: Vec<Weight> = (0..n).map(|_| rng.below(8).into()).collect();
            let mean = weights.iter().sum::<Weight>() / k as Weight;
            let rooms: Vec<Weight> = (0..k).map(|_| mean - 2 + Weight::from(rng.below(7))).collect();
            let mut left: Vec<Weight> = rooms.clone();
            let found = find(&weights, &rooms);
            assert_eq!(found.is_some(), exists(&weights, &mut left), "{weights:?} {rooms:?}");
            count[usize::from(found.is_some())] += 1;
            assert!(found.is_none_or(|bins| holds(&weights, &rooms, &bins)));
        }
        assert!(count.iter().all(|&count| count > 500), "{count:?}");
    }

    #[test]
    fn what_was_drawn_to_fit_exactly_is_packed() {
        let mut rng = Rng::new(3);
        for _ in 0..200 {
            let k = 2 + rng.below(9) as usize;
            let rooms: Vec<Weight> = (0..k).map(|_| 2 + Weight::from(rng.below(7))).collect();
            let mut weights = Vec::new();
            for &room in &rooms {
                let mut left = room;
                while left > 0 {
                    let weight = 1 + Weight::from(rng.below(left as u32));
                    weights.push(weight);
                    left -= weight;
                }
            }
            rng.shuffle(&mut weights);
            let bins = find(&weights, &rooms).expect("it was drawn to fit");
            assert!(holds(&weights, &rooms, &bins), "{weights:?} {rooms:?}");
        }
    }

    #[test]
    fn bins_are_filled_in_proportion_where_there_is_room() {
        let (weights, sizes, rooms) = (vec![2; 900], vec![600; 3], vec![1800; 3]);
        let bins = Packing { weights: &weights, sizes: &sizes, rooms: &rooms }.find().unwrap();
        let load = |bin| 2 * bins.iter().filter(|&&other| other == bin).count();
        assert_eq!([load(0), load(1), load(2)], [600; 3]);
    }
}
