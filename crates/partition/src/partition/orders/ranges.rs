//! Ranges of an order that are not empty.
//!
//! Where many vertices weigh nothing, the borders of several ranges fall on the same place. They are moved apart, by as little as possible, as long as
//! the ranges exceed their bounds by no more. Where moving all of them would, each group of empty ranges takes what the ranges beside it can spare.

use std::ops::Range;

use crate::base::types::Weight;

/// Moves the ends of ranges apart so that none is empty, as far as vertices and bounds allow it; nothing is done if there are fewer vertices than
/// ranges. O(n + k), O(k) if no range is empty.
pub(super) fn fill_empty(ends: &mut [usize], bounds: &[Weight], weights: impl FnOnce() -> Vec<Weight>) {
    let num_nodes = ends.last().copied().unwrap_or(0);
    let is_any_empty = ends[0] == 0 || ends.windows(2).any(|pair| pair[0] == pair[1]);
    if !is_any_empty || num_nodes < ends.len() {
        return;
    }
    let mut before = vec![0; num_nodes + 1];
    weights().into_iter().enumerate().for_each(|(index, weight)| before[index + 1] = before[index] + weight);
    let ranges = Ranges { before, bounds };
    let apart = moved_apart(ends);
    if ranges.overload(0..ends.len(), &apart) <= ranges.overload(0..ends.len(), ends) {
        return ends.copy_from_slice(&apart);
    }
    ranges.take_from_before(ends);
    ranges.take_from_behind(ends);
}

/// The nearest ends of which no two are equal.
fn moved_apart(ends: &[usize]) -> Vec<usize> {
    let mut apart = ends.to_vec();
    let mut least = 0;
    for end in &mut apart {
        *end = (*end).max(least + 1);
        least = *end;
    }
    let mut most = ends[ends.len() - 1];
    for end in apart.iter_mut().rev() {
        *end = (*end).min(most);
        most = *end - 1;
    }
    apart
}

/// What ranges weigh, and may weigh.
struct Ranges<'a> {
    /// The weight of all vertices before each position.
    before: Vec<Weight>,
    bounds: &'a [Weight],
}

impl Ranges<'_> {
    /// By how much some of the ranges exceed their bounds.
    fn overload(&self, parts: Range<usize>, ends: &[usize]) -> Weight {
        let excess = |part: usize| {
            let weight = self.before[ends[part]] - self.before[start(ends, part)];
            (weight - self.bounds[part]).max(0)
        };
        parts.map(excess).sum()
    }

    /// Gives empty ranges the last vertices of the range before them.
    fn take_from_before(&self, ends: &mut [usize]) {
        for Range { start: first, end } in
            empty_groups(ends).into_iter().rev().filter(|group| group.start > 0)
        {
            let last = ends[first - 1];
            let spare = (last - start(ends, first - 1)).saturating_sub(1).min(end - first);
            self.replace(first - 1..end, ends, |ends| {
                (0..spare).for_each(|index| ends[first - 1 + index] = last - spare + index);
            });
        }
    }

    /// Gives empty ranges the first vertices of the range behind them.
    fn take_from_behind(&self, ends: &mut [usize]) {
        let groups = empty_groups(&ends[..ends.len() - 1]);
        for Range { start: first, end } in groups {
            let begin = ends[end - 1];
            let spare = (ends[end] - begin).saturating_sub(1).min(end - first);
            self.replace(first..end + 1, ends, |ends| {
                (0..spare).for_each(|index| ends[end - 1 - index] = begin + spare - index);
            });
        }
    }

    /// Changes the ends of some ranges unless these then exceed their bounds by more.
    fn replace(&self, parts: Range<usize>, ends: &mut [usize], change: impl FnOnce(&mut [usize])) {
        let (before, overload) = (ends[parts.clone()].to_vec(), self.overload(parts.clone(), ends));
        change(ends);
        if self.overload(parts.clone(), ends) > overload {
            ends[parts].copy_from_slice(&before);
        }
    }
}

/// Where a range starts.
fn start(ends: &[usize], part: usize) -> usize {
    part.checked_sub(1).map_or(0, |before| ends[before])
}

/// The empty ranges, those side by side together.
fn empty_groups(ends: &[usize]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for part in (0..ends.len()).filter(|&part| start(ends, part) == ends[part]) {
        match groups.last_mut().filter(|group| group.end == part) {
            Some(group) => group.end += 1,
            None => groups.push(part..part + 1),
        }
    }
    groups
}
