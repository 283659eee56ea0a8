//! Children of two assignments.

use crate::rng::Rng;

/// A child that keeps what both parents agree on. Elsewhere an object gets its place in one of both, if that is free; the objects that
/// are left get the places that are left, at random. O(n).
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

/// An assignment of some objects.
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

    /// Puts the objects that are left on the places that are left, at random.
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

/// A child of one parent: as many objects as told, chosen at random, change places all round. O(n).
pub(super) fn mutated(parent: &[u32], count: usize, rng: &mut Rng) -> Vec<u32> {
    let mut objects: Vec<u32> = (0..parent.len() as u32).collect();
    rng.shuffle(&mut objects);
    objects.truncate(count.min(parent.len()));
    let mut child = parent.to_vec();
    for pair in objects.windows(2) {
        child.swap(pair[0] as usize, pair[1] as usize);
    }
    child
}
