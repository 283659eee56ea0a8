//! The number types in which J is summed.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Mul, Sub};

use crate::base::vector;

/// A number type whose values are integers, and in which sums are exact up to some bound.
pub(super) trait Number:
    Copy
    + Debug
    + PartialOrd
    + Default
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + AddAssign
    + 'static
{
    /// The entries of the matrices. Sums of their products have this number type.
    type Entry: Copy + Debug + Default + PartialEq + Send + Sync + 'static;
    /// Greater than any sum.
    const LARGE: Self;
    fn of(number: i64) -> Self;
    fn to(self) -> i64;
    /// The nearest double.
    fn float(self) -> f64;
    fn entry(number: i64) -> Self::Entry;
    fn of_entry(entry: Self::Entry) -> Self;
    /// The sum of `(a[k] - b[k]) · (c[k] - d[k])` over rows of matrices.
    fn product(rows: [&[Self::Entry]; 4]) -> Self;
    /// The sum of `a · (c - d)`.
    fn sum(terms: impl Iterator<Item = [Self::Entry; 3]>) -> Self;
}

macro_rules! number {
    ($number:ty, $entry:ty, $sum:ty, $large:expr, $product:expr) => {
        impl Number for $number {
            type Entry = $entry;
            const LARGE: Self = $large;
            #[inline(always)]
            fn of(number: i64) -> Self {
                number as Self
            }
            #[inline(always)]
            fn to(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn float(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn entry(number: i64) -> $entry {
                number as $entry
            }
            #[inline(always)]
            fn of_entry(entry: $entry) -> Self {
                entry as Self
            }
            #[inline(always)]
            fn product(rows: [&[$entry]; 4]) -> Self {
                $product(rows) as Self
            }
            #[inline(always)]
            fn sum(terms: impl Iterator<Item = [$entry; 3]>) -> Self {
                let term = |[a, c, d]: [$entry; 3]| a as $sum * (c as $sum - d as $sum);
                terms.fold(0 as $sum, |sum, entries| sum + term(entries)) as Self
            }
        }
    };
}

number!(f32, i16, i32, f32::INFINITY, vector::product_of_short);
number!(f64, f64, f64, f64::INFINITY, vector::product);
number!(i64, i64, i64, i64::MAX / 2, vector::product);
