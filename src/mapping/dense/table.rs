//! The change of J by every exchange of two objects, updated after each exchange.
//!
//! # Cost
//!
//! An exchange of the objects `r` and `s` changes the delta of another pair `(i, j)` by `(u[i] - u[j]) ·
//! (v[i] - v[j])`. Here `u` is the difference of the rows of `r` and `s` in the matrix of objects, and `v`
//! that in the matrix of places (Taillard 1991). Updating the whole table thus takes n²/2 such products. The
//! deltas of the pairs with `r` are recomputed from scratch, O(n) each. Those of the pairs with `s` follow
//! from them: the objects `r`, `s` and `j` can exchange places in a cycle in two directions, and the sum of J
//! of both is known from the deltas of the three pairs (a departure from the source, which recomputes both
//! from scratch).
//!
//! All loops run along rows, so they are vectorised. The matrix of places is permuted into the order of the
//! objects. Memory: 4 to 8 bytes for each of n² deltas, and 2 to 8 for each of n² entries (2 n² if no matrix
//! is symmetric) in addition to the matrices.
//!
//! É. Taillard: Robust taboo search for the quadratic assignment problem. Parallel Computing 17, 1991.

use super::arrangement::Arrangement;
use super::form::QapError;
use super::number::Number;
use super::square::Square;
use crate::base::types::Cost;
use crate::base::vector::{LANES, SHORT_LANES, Work, folded, widest};

/// An assignment with its J and the change of J by every exchange.
pub(super) struct DeltaTable<'a, T: Number> {
    now: Arrangement<'a, T>,
    /// The delta of the pair (i, j) where i < j; elsewhere [`Number::LARGE`].
    delta: Square<T>,
    /// The smallest delta of each row.
    least: Vec<T>,
    scratch: Scratch<T>,
}

/// Differences of two rows, in both matrices and their transposes, and a row of deltas.
struct Scratch<T> {
    u: Vec<T>,
    v: Vec<T>,
    transposed_u: Vec<T>,
    transposed_v: Vec<T>,
    former: Vec<T>,
}

impl<'a, T: Number> DeltaTable<'a, T> {
    /// The table of an arrangement; O(n³).
    pub(super) fn of(now: Arrangement<'a, T>) -> Result<Self, QapError> {
        let n = now.dense.size;
        let row = || vec![T::default(); n.next_multiple_of(SHORT_LANES)];
        let mut table = Self {
            delta: Square::zeros(n)?,
            least: vec![T::LARGE; n],
            scratch: Scratch { u: row(), v: row(), transposed_u: row(), transposed_v: row(), former: row() },
            now,
        };
        table.delta.entries.fill(T::LARGE);
        widest(Filling(&mut table));
        Ok(table)
    }

    /// J in units of the scale.
    pub(super) fn cost(&self) -> Cost {
        self.now.cost
    }

    /// The objects that may move are those before this one.
    pub(super) fn movable(&self) -> usize {
        self.now.dense.movable
    }

    pub(super) fn place_of(&self) -> &[u32] {
        &self.now.place_of
    }

    /// The deltas of the pairs (i, j) for all j; [`Number::LARGE`] unless i < j.
    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> &[T] {
        self.delta.row(i)
    }

    /// The smallest delta of each row.
    #[inline(always)]
    pub(super) fn least(&self) -> &[T] {
        &self.least
    }

    /// Exchanges two objects; O(n²).
    pub(super) fn exchange(&mut self, r: usize, s: usize) {
        debug_assert!(r < s);
        widest(Exchange { table: self, r, s });
    }

    #[inline(always)]
    fn exchange_here(&mut self, r: usize, s: usize) {
        self.take_differences(r, s);
        let delta = self.delta.at(r, s);
        self.remember(r, s);
        self.update();
        self.now.exchange(r, s, delta);
        self.renew(r, s);
    }

    /// The differences of the rows of both objects.
    #[inline(always)]
    fn take_differences(&mut self, r: usize, s: usize) {
        let Scratch { u, v, transposed_u, transposed_v, .. } = &mut self.scratch;
        subtract(self.now.dense.a.row(r), self.now.dense.a.row(s), u);
        subtract(self.now.b.row(r), self.now.b.row(s), v);
        if let (Some([a, _]), Some(b)) = (&self.now.dense.transposed, &self.now.transposed_b) {
            subtract(a.row(r), a.row(s), transposed_u);
            subtract(b.row(r), b.row(s), transposed_v);
        }
    }

    /// For each j, the sum of the new deltas of (r, j) and (s, j). The old ones are removed from the table.
    #[inline(always)]
    fn remember(&mut self, r: usize, s: usize) {
        let both = self.take(r, s);
        for j in 0..self.now.dense.size {
            if j != r && j != s {
                let turns = self.turns(r, s, j);
                // In this order no sum involves more than two changes of J, so it is exact.
                self.scratch.former[j] = (self.take(r, j) - both) + (self.take(s, j) + turns);
            }
        }
    }

    /// The difference between J of the two cyclic exchanges of three objects and the sum of the three pair
    /// exchanges. The direction of the cycle matters if no matrix is symmetric.
    #[inline(always)]
    fn turns(&self, r: usize, s: usize, j: usize) -> T {
        match self.now.transposed_b {
            Some(_) => round::<T>(&self.now.dense.a, r, s, j) * round(&self.now.b, r, s, j),
            None => T::default(),
        }
    }

    /// Removes the delta of a pair, in any order, from the table.
    #[inline(always)]
    fn take(&mut self, i: usize, j: usize) -> T {
        let (i, j) = (i.min(j), i.max(j));
        std::mem::replace(&mut self.delta.entries[i * self.delta.stride + j], T::LARGE)
    }

    /// Updates the deltas of all pairs without the two objects.
    #[inline(always)]
    fn update(&mut self) {
        let (n, stride) = (self.now.dense.size, self.delta.stride);
        let Scratch { u, v, transposed_u, transposed_v, .. } = &self.scratch;
        let is_symmetric = self.now.transposed_b.is_none();
        for i in 0..n {
            let (first, end) = (i / LANES * LANES, n.next_multiple_of(LANES));
            let row = &mut self.delta.entries[i * stride..][first..end];
            let straight = Products { u: u[i], v: v[i], us: &u[first..], vs: &v[first..] };
            let (u, v) = (transposed_u, transposed_v);
            let transposed = Products { u: u[i], v: v[i], us: &u[first..], vs: &v[first..] };
            self.least[i] = match is_symmetric {
                true => update_row(row, [straight]),
                false => update_row(row, [straight, transposed]),
            };
            // Infinity absorbs additions, but integers do not.
            if T::LARGE + T::of(1) != T::LARGE {
                row[..=i - first].fill(T::LARGE);
                row[n - first..].fill(T::LARGE);
            }
        }
    }

    /// Computes the deltas of the pairs with `r` and `s`.
    #[inline(always)]
    fn renew(&mut self, r: usize, s: usize) {
        let n = self.now.dense.size;
        for j in 0..n {
            if j == r || j == s {
                continue;
            }
            let of_r = self.now.delta(r, j);
            self.set(r, j, of_r);
            self.set(s, j, self.scratch.former[j] - of_r);
        }
        let of_both = self.now.delta(r, s);
        self.set(r, s, of_both);
    }

    /// Stores the delta of a pair that was removed.
    #[inline(always)]
    fn set(&mut self, i: usize, j: usize, delta: T) {
        let (i, j) = (i.min(j), i.max(j));
        self.delta.entries[i * self.delta.stride + j] = delta;
        if delta < self.least[i] {
            self.least[i] = delta;
        }
    }
}

/// The initial deltas of a table.
struct Filling<'t, 'a, T: Number>(&'t mut DeltaTable<'a, T>);

impl<T: Number> Work for Filling<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let n = self.0.now.dense.size;
        for i in 0..n {
            for j in i + 1..n {
                self.0.set(i, j, self.0.now.delta(i, j));
            }
        }
    }
}

/// An exchange of two objects.
struct Exchange<'t, 'a, T: Number> {
    table: &'t mut DeltaTable<'a, T>,
    r: usize,
    s: usize,
}

impl<T: Number> Work for Exchange<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.table.exchange_here(self.r, self.s);
    }
}

/// The sum of the entries round three objects in one direction minus the other direction.
#[inline(always)]
fn round<T: Number>(m: &Square<T::Entry>, r: usize, s: usize, j: usize) -> T {
    let at = |i: usize, j: usize| T::of_entry(m.at(i, j));
    (at(r, s) + at(s, j) + at(j, r)) - (at(s, r) + at(j, s) + at(r, j))
}

#[inline(always)]
fn subtract<T: Number>(a: &[T::Entry], b: &[T::Entry], to: &mut [T]) {
    for ((to, &a), &b) in to.iter_mut().zip(a).zip(b) {
        *to = T::of_entry(a) - T::of_entry(b);
    }
}

/// The products `(u - us[j]) · (v - vs[j])`.
#[derive(Clone, Copy)]
struct Products<'a, T> {
    u: T,
    v: T,
    us: &'a [T],
    vs: &'a [T],
}

/// Adds products to the deltas of a row; returns the smallest result.
#[inline(always)]
fn update_row<T: Number, const N: usize>(row: &mut [T], products: [Products<'_, T>; N]) -> T {
    let row = row.as_chunks_mut::<LANES>().0;
    // Slices of equal length, so that no index is checked in the loop.
    let chunks = |numbers| &<[T]>::as_chunks::<LANES>(numbers).0[..row.len()];
    let products = products.map(|Products { u, v, us, vs }| (u, v, chunks(us), chunks(vs)));
    let mut least = [T::LARGE; LANES];
    for (at, deltas) in row.iter_mut().enumerate() {
        for (u, v, us, vs) in &products {
            let (us, vs) = (&us[at], &vs[at]);
            *deltas = std::array::from_fn(|lane| deltas[lane] + (*u - us[lane]) * (*v - vs[lane]));
        }
        least = std::array::from_fn(|lane| smaller(least[lane], deltas[lane]));
    }
    folded(least, smaller)
}

#[inline(always)]
fn smaller<T: PartialOrd>(a: T, b: T) -> T {
    if b < a { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::super::form::Qap;
    use super::super::narrow::{Dense, Plain};
    use super::super::width::Width;
    use super::*;
    use crate::base::rng::Rng;

    /// A random matrix: symmetric, with a diagonal, or sparse.
    fn matrix(
        n: usize,
        (is_symmetric, has_diagonal, is_sparse): (bool, bool, bool),
        rng: &mut Rng,
    ) -> Vec<i64> {
        let mut entries = vec![0; n * n];
        for i in 0..n {
            for j in 0..n {
                let is_zero = i == j && !has_diagonal || is_sparse && rng.below(3) > 0;
                entries[i * n + j] = match is_symmetric && j < i {
                    true => entries[j * n + i],
                    false if is_zero => 0,
                    false => 6 * (i64::from(rng.below(30)) - 10),
                };
            }
        }
        entries
    }

    /// Compares every delta with the change of J, after each of several random exchanges.
    fn check<T: Number>(qap: &Qap, dense: &Dense<T>, rng: &mut Rng) {
        let n = qap.size();
        let mut start: Vec<u32> = (0..n as u32).collect();
        rng.shuffle(&mut start);
        let mut table = DeltaTable::of(Arrangement::new(dense, &start).unwrap()).unwrap();
        for _ in 0..12 {
            let (r, s) = (rng.below(n as u32) as usize, rng.below(n as u32) as usize);
            if r != s {
                table.exchange(r.min(s), r.max(s));
            }
            let cost = qap.cost(table.place_of());
            assert_eq!(table.cost() * dense.scale, cost);
            for i in 0..n {
                for j in i + 1..n {
                    let mut exchanged = table.place_of().to_vec();
                    exchanged.swap(i, j);
                    assert_eq!(table.row(i)[j].to() * dense.scale, qap.cost(&exchanged) - cost);
                    assert_eq!(table.row(i)[j], table.now.delta(i, j));
                    assert_eq!(table.row(i)[j], table.now.dense_delta(i, j));
                }
                assert!(table.row(i)[..=i].iter().all(|&delta| delta >= T::LARGE));
                let least =
                    table.row(i)[i + 1..n].iter().copied().fold(T::LARGE, |a, b| if b < a { b } else { a });
                // The last row has no deltas.
                assert!(table.least()[i] == least || i + 1 == n);
            }
        }
    }

    #[test]
    fn deltas_match_j_after_every_exchange() {
        let mut rng = Rng::new(1);
        for kind in 0..48 {
            let n = 2 + kind % 17;
            let flags = |bit: usize| (kind & bit > 0, kind & 4 > 0, kind & 8 > 0);
            let (a, b) = (matrix(n, flags(1), &mut rng), matrix(n, flags(2), &mut rng));
            let qap = Qap::from_matrices(n, a, b).unwrap();
            let plain = Plain::new(&qap);
            assert_eq!(plain.width, Width::Single);
            check(&qap, &plain.dense::<f32>().unwrap(), &mut rng);
            check(&qap, &plain.dense::<f64>().unwrap(), &mut rng);
            check(&qap, &plain.dense::<i64>().unwrap(), &mut rng);
        }
    }

    #[test]
    fn deltas_of_sparse_matrices_are_the_same() {
        let mut rng = Rng::new(3);
        for kind in 0..16 {
            let n = 24 + kind % 3;
            let flags = |bit: usize| (kind & bit > 0, kind & 4 > 0, false);
            // A hub and a few other entries.
            let mut a = vec![0; n * n];
            for at in 0..16 {
                let mut any = || rng.below(n as u32) as usize;
                let (i, j) = if at < 8 { (0, 2 * at + 1) } else { (any(), any()) };
                let entry = i64::from(rng.below(30)) - 10;
                a[i * n + j] = if i != j || kind & 4 > 0 { entry } else { 0 };
                if kind & 1 > 0 {
                    a[j * n + i] = a[i * n + j];
                }
            }
            if kind & 8 > 0 {
                a.iter_mut().for_each(|entry| *entry *= 1 << 30);
                a[1] += 1;
                a[n] = if kind & 1 > 0 { a[1] } else { a[n] };
            }
            let qap = Qap::from_matrices(n, a, matrix(n, flags(2), &mut rng)).unwrap();
            let plain = Plain::new(&qap);
            assert!(plain.is_sparse);
            match plain.width {
                Width::Single => check(&qap, &plain.dense::<f32>().unwrap(), &mut rng),
                Width::Double => check(&qap, &plain.dense::<f64>().unwrap(), &mut rng),
                Width::Whole => check(&qap, &plain.dense::<i64>().unwrap(), &mut rng),
            }
        }
    }

    #[test]
    fn large_entries_stay_exact() {
        let mut rng = Rng::new(2);
        let mut widths = Vec::new();
        for kind in 0..16 {
            let n = 4 + kind % 6;
            let factor = if kind < 8 { 1 << 12 } else { 1 << 36 };
            let flags = |bit: usize| (kind & bit > 0, kind & 4 > 0, false);
            let large = |entry: i64| entry * factor + i64::from(entry % 12 == 0);
            let a = matrix(n, flags(1), &mut rng).into_iter().map(large).collect();
            let qap = Qap::from_matrices(n, a, matrix(n, flags(2), &mut rng)).unwrap();
            let plain = Plain::new(&qap);
            match plain.width {
                Width::Single => check(&qap, &plain.dense::<f32>().unwrap(), &mut rng),
                Width::Double => check(&qap, &plain.dense::<f64>().unwrap(), &mut rng),
                Width::Whole => check(&qap, &plain.dense::<i64>().unwrap(), &mut rng),
            }
            widths.push(plain.width);
        }
        assert!(widths.contains(&Width::Double) && widths.contains(&Width::Whole), "{widths:?}");
    }
}
