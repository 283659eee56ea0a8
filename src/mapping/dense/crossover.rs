//! Crossover and mutation: children of one or two assignments.

use super::number::Number;
use super::square::Square;
use crate::base::observer::Observer;
use crate::base::rng::Rng;
use crate::base::threads;

/// A child that inherits all places on which both parents agree. Other objects get their place in either
/// parent if it is free; the remaining objects get the remaining places at random. O(n).
pub(super) fn uniform(first: &[u32], second: &[u32], rng: &mut Rng) -> Vec<u32> {
    let n = first.len();
    let mut child = Child::new(n);
    for (object, (&a, &b)) in first.iter().zip(second).enumerate() {
        if a == b {
            child.put(object, a);
        }
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    rng.shuffle(&mut order);
    for object in order {
        let object = object as usize;
        let (mut a, mut b) = (first[object], second[object]);
        if rng.below(2) == 1 {
            (a, b) = (b, a);
        }
        if child.place_of[object] == NONE {
            match (child.is_taken[a as usize], child.is_taken[b as usize]) {
                (false, _) => child.put(object, a),
                (true, false) => child.put(object, b),
                _ => {}
            }
        }
    }
    child.completed(rng)
}

const NONE: u32 = u32::MAX;

/// A partial assignment.
struct Child {
    place_of: Vec<u32>,
    is_taken: Vec<bool>,
}

impl Child {
    fn new(n: usize) -> Self {
        Self { place_of: vec![NONE; n], is_taken: vec![false; n] }
    }

    fn put(&mut self, object: usize, place: u32) {
        self.place_of[object] = place;
        self.is_taken[place as usize] = true;
    }

    /// Assigns the remaining objects to the remaining places at random.
    fn completed(mut self, rng: &mut Rng) -> Vec<u32> {
        let mut free: Vec<u32> =
            (0..self.place_of.len() as u32).filter(|&place| !self.is_taken[place as usize]).collect();
        rng.shuffle(&mut free);
        for place in &mut self.place_of {
            if *place == NONE {
                *place = free.pop().expect("as many places are left as objects");
            }
        }
        self.place_of
    }
}

/// A mutant: `count` random objects of the first `movable` ones of the parent exchange their places in a cycle. O(n).
pub(super) fn mutated(parent: &[u32], movable: usize, count: usize, rng: &mut Rng) -> Vec<u32> {
    let mut objects: Vec<u32> = (0..movable as u32).collect();
    rng.shuffle(&mut objects);
    objects.truncate(count.min(movable));
    let mut child = parent.to_vec();
    for pair in objects.windows(2) {
        child.swap(pair[0] as usize, pair[1] as usize);
    }
    child
}

/// For each place, all places sorted by similarity of their rows, most similar first. Empty if the observer
/// asks to stop before it is complete. O(n³).
pub(super) fn alike<T: Number>(b: &Square<T::Entry>, size: usize, observer: &dyn Observer) -> Vec<Vec<u32>> {
    let difference = |k: usize, l: usize| -> i64 {
        let others = (0..size).filter(|&m| m != k && m != l);
        others.map(|m| (T::of_entry(b.at(k, m)).to() - T::of_entry(b.at(l, m)).to()).abs()).sum()
    };
    let to_former = |k: usize| -> Vec<i64> { (0..k).map(|l| difference(k, l)).collect() };
    let differences = threads::map_until(0..size, &|| observer.should_stop(), &to_former);
    if differences.len() < size {
        return Vec::new();
    }
    let row = |k: usize| {
        // Each place is most similar to itself.
        let to = |l: usize| if l == k { -1 } else { differences[k.max(l)][k.min(l)] };
        let mut order: Vec<(i64, u32)> = (0..size).map(|l| (to(l), l as u32)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, place)| place).collect()
    };
    (0..size).map(row).collect()
}

/// A child of one parent: exchanges the objects on two blocks of places with similar structure, as far as they
/// are among the first `movable` ones. O(n).
pub(super) fn exchanged(parent: &[u32], movable: usize, alike: &[Vec<u32>], rng: &mut Rng) -> Vec<u32> {
    let n = parent.len();
    let mut object_at = vec![0; n];
    for (object, &place) in parent.iter().enumerate() {
        object_at[place as usize] = object;
    }
    // Sizes on all scales, from single places to half of them.
    let scales = (n as f64 / 2.0).max(1.0).ln();
    let count = (rng.unit() * scales).exp().round().max(1.0) as usize;
    let (one, other) = (rng.below(n as u32) as usize, rng.below(n as u32) as usize);
    let first = &alike[one][..count.min(n / 2)];
    let second: Vec<u32> = alike[other].iter().copied().filter(|place| !first.contains(place)).collect();
    let mut child = parent.to_vec();
    for (&k, &l) in first.iter().zip(&second) {
        let (i, j) = (object_at[k as usize], object_at[l as usize]);
        if i.max(j) < movable {
            child.swap(i, j);
        }
    }
    child
}

#[cfg(test)]
mod tests {
    use super::super::form::Qap;
    use super::super::narrow::Plain;
    use super::*;
    use crate::testing::Stops;

    #[test]
    fn places_with_like_rows_come_first_unless_the_run_ends() {
        // Places 0 and 2 are equal, and so are 1 and 3.
        let b = vec![0, 5, 1, 6, 5, 0, 5, 1, 1, 5, 0, 6, 6, 1, 6, 0];
        let qap = Qap::from_matrices(4, b.clone(), b).unwrap();
        let dense = Plain::new(&qap).dense::<i64>().unwrap();
        let orders = alike::<i64>(&dense.b, 4, &());
        assert_eq!(orders, [[0, 2, 1, 3], [1, 3, 0, 2], [2, 0, 1, 3], [3, 1, 0, 2]]);
        assert!(alike::<i64>(&dense.b, 4, &Stops).is_empty());
    }
}
