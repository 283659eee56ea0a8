//! The event queue.
//!
//! Most events are only a few cycles ahead. They are kept in a ring of lists, one per cycle. Later events are
//! kept in a map of lists by time. Adding or removing an event of the ring takes constant time, not counting
//! cycles without events.

use std::collections::BTreeMap;

/// Cycles in the ring: more than the flits of most messages, but few enough to stay in the cache.
const NEAR: u64 = 1 << 11;

/// Events by time.
pub(super) struct Calendar<E> {
    now: u64,
    near: Vec<Vec<E>>,
    num_near: usize,
    far: BTreeMap<u64, Vec<E>>,
}

impl<E> Calendar<E> {
    /// An empty calendar; nothing happens before time 0.
    pub(super) fn new() -> Self {
        Self { now: 0, near: (0..NEAR).map(|_| Vec::new()).collect(), num_near: 0, far: BTreeMap::new() }
    }

    /// Adds an event at a time later than now.
    pub(super) fn add(&mut self, at: u64, event: E) {
        debug_assert!(at > self.now);
        if at - self.now < NEAR {
            self.near[(at % NEAR) as usize].push(event);
            self.num_near += 1;
        } else {
            self.far.entry(at).or_default().push(event);
        }
    }

    /// Advances to the next time with events, and replaces the content of `events` with them.
    pub(super) fn next(&mut self, events: &mut Vec<E>) -> Option<u64> {
        events.clear();
        let far = self.far.first_key_value().map(|(&at, _)| at);
        let mut times = self.now + 1..(self.now + NEAR).min(far.unwrap_or(u64::MAX).saturating_add(1));
        let has_events = |&at: &u64| !self.near[(at % NEAR) as usize].is_empty();
        let near = if self.num_near > 0 { times.find(has_events) } else { None };
        let at = near.into_iter().chain(far).min()?;
        self.now = at;
        if near == Some(at) {
            std::mem::swap(events, &mut self.near[(at % NEAR) as usize]);
            self.num_near -= events.len();
        }
        if far == Some(at) {
            events.extend(self.far.pop_first().into_iter().flat_map(|(_, events)| events));
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::base::rng::Rng;

    #[test]
    fn events_come_in_the_order_of_their_times() {
        let mut rng = Rng::new(4);
        let (mut calendar, mut events) = (Calendar::new(), Vec::new());
        let mut expected: Vec<(u64, u32)> = Vec::new();
        let mut came: Vec<(u64, u32)> = Vec::new();
        let (mut now, mut number) = (0, 0);
        for _ in 0..2000 {
            for _ in 0..rng.below(3) {
                let at = now + 1 + (rng.next_u64() >> (44 + rng.below(20)));
                calendar.add(at, number);
                expected.push((at, number));
                number += 1;
            }
            if let Some(at) = calendar.next(&mut events) {
                now = at;
                came.extend(events.iter().map(|&event| (at, event)));
            }
        }
        while let Some(at) = calendar.next(&mut events) {
            came.extend(events.iter().map(|&event| (at, event)));
        }
        assert!(came.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        came.sort_unstable();
        expected.sort_unstable();
        assert!(came == expected);
    }
}
