//! Vector instructions as wide as the processor has them.
//!
//! Code for any x86-64 processor may use vectors of 16 bytes only. Nearly all processors have vectors of 32 bytes too, with which loops
//! along rows take little more than half the time (docs/BENCHMARKS.md has the record). All sums are exact, so results do not depend on it.

use std::ops::{Add, Mul, Sub};

/// Numbers of 4 to 8 bytes that are handled at once.
pub const LANES: usize = 8;

/// Numbers of 2 bytes that are handled at once.
pub const SHORT_LANES: usize = 16;

/// The width in bytes of the vectors that are used on this processor.
pub fn width() -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return 32;
    }
    16
}

/// Work that is compiled once for each width of vectors: the functions it calls must be inlined into it.
pub trait Work {
    /// What is computed.
    type Output;

    /// Does the work.
    fn run(self) -> Self::Output;
}

/// Does work with the widest vectors of this processor.
#[inline(always)]
pub fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions, as was just asked.
        #[allow(unsafe_code)]
        return unsafe { with_avx2(work) };
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

/// The sum of `(a[k] - b[k]) · (c[k] - d[k])`.
#[inline(always)]
pub fn product<T>(rows: [&[T]; 4]) -> T
where
    T: Copy + Default + Add<Output = T> + Sub<Output = T> + Mul<Output = T>,
{
    let [a, b, c, d] = rows.map(|row| row.as_chunks::<LANES>().0);
    let mut sums = [T::default(); LANES];
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        sums = std::array::from_fn(|lane| sums[lane] + (a[lane] - b[lane]) * (c[lane] - d[lane]));
    }
    folded(sums, |sum, other| sum + other)
}

/// The sum of `(a[k] - b[k]) · (c[k] - d[k])` of short numbers. Rows are whole chunks of [`SHORT_LANES`], each difference is within 16 bits, and
/// the sum of the absolute values within 31.
#[inline(always)]
pub fn product_of_short(rows: [&[i16]; 4]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions, as was just asked.
        #[allow(unsafe_code)]
        return unsafe { product_of_chunks(rows.map(|row| row.as_chunks().0)) };
    }
    plain_product_of_short(rows)
}

#[inline(always)]
fn plain_product_of_short([a, b, c, d]: [&[i16]; 4]) -> i32 {
    let entries = a.iter().zip(b).zip(c).zip(d);
    let products = entries.map(|(((a, b), c), d)| i32::from(a - b) * i32::from(c - d));
    products.sum()
}

/// With the instruction that multiplies 16 pairs of short numbers and adds two products each, which compilers do not find.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn product_of_chunks([a, b, c, d]: [&[[i16; SHORT_LANES]]; 4]) -> i32 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_setzero_si256,
        _mm256_sub_epi16,
    };
    let load = |chunk: &[i16; SHORT_LANES]| -> __m256i {
        // SAFETY: the chunk has the 32 bytes that are read, at any address.
        #[allow(unsafe_code)]
        unsafe {
            _mm256_loadu_si256(chunk.as_ptr().cast())
        }
    };
    let mut sums = _mm256_setzero_si256();
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        let (first, second) = (_mm256_sub_epi16(load(a), load(b)), _mm256_sub_epi16(load(c), load(d)));
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(first, second));
    }
    // SAFETY: any 32 bytes are eight numbers.
    #[allow(unsafe_code)]
    let sums: [i32; 8] = unsafe { std::mem::transmute(sums) };
    sums.iter().sum()
}

/// Folds all lanes into one, by halves, so that few operations wait for each other.
#[inline(always)]
pub fn folded<T: Copy>(lanes: [T; LANES], fold: impl Fn(T, T) -> T) -> T {
    let four: [T; LANES / 2] = std::array::from_fn(|lane| fold(lanes[lane], lanes[lane + LANES / 2]));
    fold(fold(four[0], four[2]), fold(four[1], four[3]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    #[derive(Clone, Copy)]
    struct Product<'a>([&'a [f32]; 2]);

    impl Work for Product<'_> {
        type Output = f32;

        #[inline(always)]
        fn run(self) -> f32 {
            self.0[0].iter().zip(self.0[1]).map(|(one, other)| one * other).sum()
        }
    }

    #[test]
    fn products_of_short_numbers_are_those_of_long_ones() {
        let mut rng = Rng::new(1);
        for chunks in 0..12 {
            let mut row =
                || -> Vec<i16> { (0..chunks * SHORT_LANES).map(|_| rng.below(6000) as i16 - 3000).collect() };
            let rows = [row(), row(), row(), row()];
            let long =
                rows.each_ref().map(|row| row.iter().map(|&entry| f64::from(entry)).collect::<Vec<_>>());
            let [short, long] = [
                f64::from(product_of_short(rows.each_ref().map(|row| &row[..]))),
                product(long.each_ref().map(|row| &row[..])),
            ];
            assert_eq!(short, long);
            assert_eq!(plain_product_of_short(rows.each_ref().map(|row| &row[..])), short as i32);
        }
    }

    #[test]
    fn the_width_of_vectors_changes_nothing() {
        let numbers: Vec<f32> = (0..100_u8).map(f32::from).collect();
        for size in 0..=numbers.len() {
            let product = Product([&numbers[..size], &numbers[numbers.len() - size..]]);
            assert_eq!(widest(product), product.run());
        }
    }
}
