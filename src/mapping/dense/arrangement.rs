//! An assignment with its J, ready for exchanges: computes the change of J by any exchange in O(n).
//!
//! The matrix of places is permuted into the order of the objects, so that the change of J by an exchange is
//! a product along rows, which is vectorised.

use super::form::QapError;
use super::narrow::Dense;
use super::number::Number;
use super::square::Square;
use crate::base::types::Cost;

/// An assignment of the objects of a problem.
pub(super) struct Arrangement<'a, T: Number> {
    pub(super) dense: &'a Dense<T>,
    pub(super) place_of: Vec<u32>,
    /// The cost in units of the scale.
    pub(super) cost: Cost,
    /// The matrix of places in the order of the objects: entry (i, j) is the entry for their places.
    pub(super) b: Square<T::Entry>,
    /// Its transpose, unless it is symmetric.
    pub(super) transposed_b: Option<Square<T::Entry>>,
}

impl<'a, T: Number> Arrangement<'a, T> {
    /// O(n²).
    pub(super) fn new(dense: &'a Dense<T>, place_of: &[u32]) -> Result<Self, QapError> {
        let n = dense.size;
        let mut arrangement = Self {
            dense,
            place_of: place_of.to_vec(),
            cost: 0,
            b: Square::zeros(n)?,
            transposed_b: dense.transposed.as_ref().map(|_| Square::zeros(n)).transpose()?,
        };
        arrangement.assign(place_of);
        Ok(arrangement)
    }

    /// Replaces the assignment; O(n²).
    pub(super) fn assign(&mut self, place_of: &[u32]) {
        self.place_of.copy_from_slice(place_of);
        self.cost = self.dense.cost(place_of);
        permute(&self.dense.b, place_of, &mut self.b);
        if let (Some([_, from]), Some(to)) = (&self.dense.transposed, &mut self.transposed_b) {
            permute(from, place_of, to);
        }
    }

    /// Exchanges two objects, the lower one first; `delta` is the change of J. O(n).
    #[inline(always)]
    pub(super) fn exchange(&mut self, r: usize, s: usize, delta: T) {
        debug_assert!(r < s);
        self.cost += delta.to();
        self.place_of.swap(r, s);
        exchange_lines(&mut self.b, self.dense.size, r, s);
        if let Some(b) = &mut self.transposed_b {
            exchange_lines(b, self.dense.size, r, s);
        }
    }

    /// The change of J by an exchange; O(n), or the number of entries in two rows of a sparse matrix of
    /// objects.
    #[inline(always)]
    pub(super) fn delta(&self, i: usize, j: usize) -> T {
        let Some([a, a_t]) = &self.dense.sparse else {
            return self.dense_delta(i, j);
        };
        let mut products: T = a.product(i, j, self.b.row(j), self.b.row(i));
        if let Some(b_t) = &self.transposed_b {
            products += a_t.product::<T>(i, j, b_t.row(j), b_t.row(i));
        }
        self.completed(i, j, products)
    }

    /// The same using all entries of the rows; O(n).
    #[inline(always)]
    pub(super) fn dense_delta(&self, i: usize, j: usize) -> T {
        let (a, b) = (&self.dense.a, &self.b);
        let mut products = T::product([a.row(i), a.row(j), b.row(j), b.row(i)]);
        if let (Some([a_t, _]), Some(b_t)) = (&self.dense.transposed, &self.transposed_b) {
            products += T::product([a_t.row(i), a_t.row(j), b_t.row(j), b_t.row(i)]);
        }
        self.completed(i, j, products)
    }

    /// The change of J, given the products of the differences of rows and of columns.
    #[inline(always)]
    fn completed(&self, i: usize, j: usize, products: T) -> T {
        let a = |i: usize, j: usize| T::of_entry(self.dense.a.at(i, j));
        let b = |i: usize, j: usize| T::of_entry(self.b.at(i, j));
        let mut delta = products + twice(a(i, j) * b(i, j));
        if self.transposed_b.is_some() {
            delta += twice(a(j, i) * b(j, i));
            delta += (a(i, j) - a(j, i)) * (b(j, i) - b(i, j));
        }
        if let Some((a, b)) = &self.dense.diagonals {
            let (of_i, of_j) = (self.place_of[i] as usize, self.place_of[j] as usize);
            delta += (a[i] - a[j]) * (b[of_j] - b[of_i]);
        }
        delta
    }
}

#[inline(always)]
fn twice<T: Number>(number: T) -> T {
    number + number
}

/// Permutes a matrix of places into the order of the objects.
fn permute<E: Copy + Default>(from: &Square<E>, place_of: &[u32], to: &mut Square<E>) {
    for (i, &place) in place_of.iter().enumerate() {
        let row = from.row(place as usize);
        for (entry, &place) in to.entries[i * to.stride..].iter_mut().zip(place_of) {
            *entry = row[place as usize];
        }
    }
}

/// Exchanges two rows and the two columns of the same indices.
#[inline(always)]
fn exchange_lines<E: Copy + Default>(matrix: &mut Square<E>, n: usize, r: usize, s: usize) {
    let stride = matrix.stride;
    let (head, tail) = matrix.entries.split_at_mut(s * stride);
    head[r * stride..][..stride].swap_with_slice(&mut tail[..stride]);
    for row in matrix.entries.chunks_exact_mut(stride).take(n) {
        row.swap(r, s);
    }
}
