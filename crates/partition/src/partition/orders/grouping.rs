//! Which parts go into the first half when a set of parts is divided in two.

use crate::base::settings::members;
use crate::base::types::{BlockId, Weight};
use crate::partition::orders::index::count_before;

/// Parts and the weight that each should have.
pub(super) type Parts = Vec<(BlockId, Weight)>;

members! {
    /// How recursive algorithms group parts of unequal weights where they divide them in two.
    #[derive(Default)]
    pub enum Grouping: "grouping" {
        /// The first parts, as many as weigh about half of all.
        #[default]
        Simple = "simple" by first_parts;
        /// Two groups of weights as equal as possible: the heaviest part first, each to the lighter group.
        BinPacking = "binpacking" by lighter_group;
    }

    /// Two groups, neither of them empty; there must be at least two parts. The parts of a group are in the order of their
    /// numbers.
    pub(super) fn groups(self, parts: Parts) -> [Parts; 2] = function(parts)
}

fn first_parts(mut parts: Parts) -> [Parts; 2] {
    let all: i128 = parts.iter().map(|&(_, weight)| i128::from(weight)).sum();
    let weights = parts.iter().map(|&(_, weight)| weight);
    // Parts that must stay empty are grouped by number.
    let first = if all == 0 { parts.len() / 2 } else { count_before(weights, all / 2) };
    let second = parts.split_off(first.clamp(1, parts.len() - 1));
    [parts, second]
}

fn lighter_group(mut parts: Parts) -> [Parts; 2] {
    parts.sort_by_key(|&(part, weight)| (std::cmp::Reverse(weight), part));
    let (mut groups, mut sums) = ([Vec::new(), Vec::new()], [0i128; 2]);
    for (part, weight) in parts {
        let lighter = usize::from((sums[1], groups[1].len()) < (sums[0], groups[0].len()));
        groups[lighter].push((part, weight));
        sums[lighter] += i128::from(weight);
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_those_of_the_paper() {
        let groups = |grouping: Grouping, weights: &[Weight]| {
            let parts = weights.iter().enumerate().map(|(part, &weight)| (part as BlockId, weight)).collect();
            grouping.groups(parts).map(|group| group.into_iter().map(|(part, _)| part).collect::<Vec<_>>())
        };
        // The example: 40 %, 40 %, 10 %, 10 %.
        assert_eq!(groups(Grouping::BinPacking, &[40, 40, 10, 10]), [[0, 2], [1, 3]]);
        assert_eq!(groups(Grouping::Simple, &[41, 39, 10, 10]), [vec![0], vec![1, 2, 3]]);
        assert_eq!(groups(Grouping::Simple, &[1; 5]), [vec![0, 1], vec![2, 3, 4]]);
        for grouping in Grouping::ALL {
            for weights in [&[1, 1][..], &[0, 0, 0, 0], &[0, 5], &[5, 0], &[9, 0, 0], &[1, 1, 1, 1, 100]] {
                let [first, second] = groups(grouping, weights);
                assert!(!first.is_empty() && !second.is_empty(), "{grouping} {weights:?}");
                assert_eq!(first.len() + second.len(), weights.len());
            }
        }
    }
}
