//! An addressable binary heap of vertices keyed by gain.

use crate::base::types::{NodeId, Weight};

const ABSENT: u32 = u32::MAX;

/// A max-heap whose entries can be found, changed and removed by vertex; O(log size) each.
///
/// `clear` costs the entries that are left, so one heap serves any number of searches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    entries: Vec<(Weight, NodeId)>,
    /// Where `entries` holds a vertex, or `ABSENT`.
    position: Vec<u32>,
}

impl Heap {
    /// Makes room for the vertices `0..num_nodes`; the heap must be empty.
    pub fn resize(&mut self, num_nodes: usize) {
        debug_assert!(self.entries.is_empty());
        self.make_room(num_nodes);
    }

    /// Makes room for the vertices `0..num_nodes` if there is less.
    #[inline]
    pub fn make_room(&mut self, num_nodes: usize) {
        if self.position.len() < num_nodes {
            self.position.resize(num_nodes, ABSENT);
        }
    }

    #[inline]
    pub fn contains(&self, node: NodeId) -> bool {
        self.position[node as usize] != ABSENT
    }

    /// The vertex of greatest gain, and its gain.
    #[inline]
    pub fn peek(&self) -> Option<(Weight, NodeId)> {
        self.entries.first().copied()
    }

    /// Adds a vertex or changes its gain.
    #[inline]
    pub fn set(&mut self, node: NodeId, gain: Weight) {
        let position = self.position[node as usize];
        if position == ABSENT {
            self.entries.push((gain, node));
            self.rise(self.entries.len() - 1, (gain, node));
        } else {
            let before = self.entries[position as usize].0;
            if gain > before {
                self.rise(position as usize, (gain, node));
            } else if gain < before {
                self.sink(position as usize, (gain, node));
            }
        }
    }

    /// Changes the gain of a vertex that is in the heap.
    #[inline]
    pub fn raise(&mut self, node: NodeId, change: Weight) {
        let position = self.position[node as usize] as usize;
        // Gains fit; estimates of them may not.
        let gain = self.entries[position].0.saturating_add(change);
        if change > 0 {
            self.rise(position, (gain, node));
        } else {
            self.sink(position, (gain, node));
        }
    }

    pub fn pop(&mut self) -> Option<(Weight, NodeId)> {
        let top = self.peek()?;
        self.remove(top.1);
        Some(top)
    }

    /// Removes a vertex if it is there.
    pub fn remove(&mut self, node: NodeId) {
        let position = self.position[node as usize];
        if position == ABSENT {
            return;
        }
        self.position[node as usize] = ABSENT;
        let last = self.entries.pop().expect("the heap holds the vertex");
        if last.1 != node {
            let before = self.entries[position as usize].0;
            if last.0 > before {
                self.rise(position as usize, last);
            } else {
                self.sink(position as usize, last);
            }
        }
    }

    pub fn clear(&mut self) {
        for (_, node) in self.entries.drain(..) {
            self.position[node as usize] = ABSENT;
        }
    }

    #[inline]
    fn rise(&mut self, mut at: usize, entry: (Weight, NodeId)) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.entries[parent].0 >= entry.0 {
                break;
            }
            self.put(at, self.entries[parent]);
            at = parent;
        }
        self.put(at, entry);
    }

    #[inline]
    fn sink(&mut self, mut at: usize, entry: (Weight, NodeId)) {
        let len = self.entries.len();
        loop {
            let mut child = 2 * at + 1;
            if child >= len {
                break;
            }
            if child + 1 < len && self.entries[child + 1].0 > self.entries[child].0 {
                child += 1;
            }
            if self.entries[child].0 <= entry.0 {
                break;
            }
            self.put(at, self.entries[child]);
            at = child;
        }
        self.put(at, entry);
    }

    #[inline]
    fn put(&mut self, at: usize, entry: (Weight, NodeId)) {
        self.entries[at] = entry;
        self.position[entry.1 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    #[test]
    fn agrees_with_a_sorted_list_over_random_operations() {
        let mut rng = Rng::new(11);
        let mut heap = Heap::default();
        heap.resize(40);
        let mut gains: Vec<Option<Weight>> = vec![None; 40];
        for _ in 0..20_000 {
            let node = rng.below(40);
            match rng.below(5) {
                4 => {
                    if let Some(gain) = &mut gains[node as usize] {
                        let change = Weight::from(rng.below(9)) - 4;
                        heap.raise(node, change);
                        *gain += change;
                    }
                }
                0 | 1 => {
                    let gain = Weight::from(rng.below(25)) - 12;
                    heap.set(node, gain);
                    gains[node as usize] = Some(gain);
                }
                2 => {
                    heap.remove(node);
                    gains[node as usize] = None;
                }
                _ => {
                    let best = gains.iter().flatten().max().copied();
                    let popped = heap.pop();
                    assert_eq!(popped.map(|(gain, _)| gain), best);
                    if let Some((gain, node)) = popped {
                        assert_eq!(gains[node as usize].take(), Some(gain));
                    }
                }
            }
            assert_eq!(heap.contains(node), gains[node as usize].is_some());
            assert_eq!(heap.peek().is_none(), gains.iter().all(Option::is_none));
        }
        heap.clear();
        assert!((0..40).all(|node| !heap.contains(node)));
    }
}
