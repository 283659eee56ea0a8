//! Vector instructions as wide as the processor has them.
//!
//! A program for any x86-64 processor may use vectors of 16 bytes only. Nearly all processors have vectors of 32 bytes too, with which loops
//! along rows take little more than half the time (docs/BENCHMARKS.md has the record). All sums are exact, so results do not depend on it.

/// Work that is compiled once for each width of vectors: what it calls must be inlined into it.
pub(super) trait Work {
    type Output;
    fn run(self) -> Self::Output;
}

/// Does work with the widest vectors of this processor.
#[inline(always)]
pub(super) fn widest<W: Work>(work: W) -> W::Output {
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_width_of_vectors_changes_nothing() {
        let numbers: Vec<f32> = (0..100_u8).map(f32::from).collect();
        for size in 0..=numbers.len() {
            let product = Product([&numbers[..size], &numbers[numbers.len() - size..]]);
            assert_eq!(widest(product), product.run());
        }
    }
}
