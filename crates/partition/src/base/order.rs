//! Sorting in one order or another, compiled once for each type of items.
//!
//! A sort of the standard library is two thousand lines of machine code, and compiled once for each closure that it compares with: where a
//! closure is inside of generic code, once for each of its instances.

use std::cmp::Reverse;

use crate::base::types::Weight;

/// Sorts numbers by ascending keys; those of equal keys stay in their order. O(n log n) time and O(n) memory, one key each.
pub fn ascending_by(numbers: &mut [u32], key: &dyn Fn(u32) -> Weight) {
    numbers.sort_by_cached_key(|&number| key(number));
}

/// Sorts numbers by descending keys; those of equal keys stay in their order. O(n log n) time and O(n) memory, one key each.
pub fn descending_by(numbers: &mut [u32], key: &dyn Fn(u32) -> Weight) {
    numbers.sort_by_cached_key(|&number| Reverse(key(number)));
}

/// Sorts items in descending order. O(n log n).
pub fn descending<T: Ord>(items: &mut [T]) {
    items.sort_unstable_by(|a, b| b.cmp(a));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_stay_in_their_order() {
        let half = |number: u32| Weight::from(number / 2);
        let mut numbers = [5, 4, 0, 3, 1, 2];
        ascending_by(&mut numbers, &half);
        assert_eq!(numbers, [0, 1, 3, 2, 5, 4]);
        descending_by(&mut numbers, &half);
        assert_eq!(numbers, [5, 4, 3, 2, 0, 1]);
        descending(&mut numbers);
        assert_eq!(numbers, [5, 4, 3, 2, 1, 0]);
    }
}
