//! Sums by pair of ranks: flows are gathered in one array, sorted and merged whenever it has doubled.
//!
//! O(f log f) for f flows; memory for twice the number of pairs, 24 bytes each, whatever f is.

use viem::base::types::NodeId;

/// Flows that are gathered before they are merged for the first time.
const LEAST_GATHERED: usize = 1 << 20;

/// The traffic of two ranks, both directions together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// The lower rank in the upper half, the higher one in the lower half.
    key: u64,
    pub(super) bytes: u64,
    pub(super) messages: u64,
}

impl Pair {
    fn new(from: NodeId, to: NodeId, bytes: u64, messages: u64) -> Self {
        Self { key: u64::from(from.min(to)) << 32 | u64::from(from.max(to)), bytes, messages }
    }

    /// The same with other numbers for its ranks.
    fn renumbered(self, rank_of: &[NodeId]) -> Self {
        let (from, to) = self.ranks();
        Self::new(rank_of[from as usize], rank_of[to as usize], self.bytes, self.messages)
    }

    /// The two ranks, the lower one first.
    pub(super) fn ranks(self) -> (NodeId, NodeId) {
        ((self.key >> 32) as NodeId, self.key as NodeId)
    }
}

/// The sums of two ranks do not fit 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairOverflow(pub(super) NodeId, pub(super) NodeId);

/// Sums that grow flow by flow.
pub(super) struct Pairs {
    pairs: Vec<Pair>,
    /// Number of flows at which they are merged again.
    limit: usize,
}

impl Pairs {
    pub(super) fn new() -> Self {
        Self { pairs: Vec::new(), limit: LEAST_GATHERED }
    }

    /// Adds what one rank sends to another. Fails when a sum of earlier flows turns out to be too large.
    #[inline]
    pub(super) fn add(
        &mut self,
        from: NodeId,
        to: NodeId,
        bytes: u64,
        messages: u64,
    ) -> Result<(), PairOverflow> {
        if self.pairs.len() == self.limit {
            self.merge()?;
            self.limit = LEAST_GATHERED.max(2 * self.pairs.len());
        }
        self.pairs.push(Pair::new(from, to, bytes, messages));
        Ok(())
    }

    /// Gives other numbers to all ranks.
    pub(super) fn renumber(&mut self, rank_of: &[NodeId]) {
        self.pairs.iter_mut().for_each(|pair| *pair = pair.renumbered(rank_of));
    }

    /// The sums, in the order of the lower and then the higher rank.
    pub(super) fn finish(mut self) -> Result<Vec<Pair>, PairOverflow> {
        self.merge()?;
        self.pairs.shrink_to_fit();
        Ok(self.pairs)
    }

    fn merge(&mut self) -> Result<(), PairOverflow> {
        self.pairs.sort_unstable_by_key(|pair| pair.key);
        let mut overflow = None;
        self.pairs.dedup_by(|next, kept| {
            let is_same = next.key == kept.key;
            if is_same {
                match (kept.bytes.checked_add(next.bytes), kept.messages.checked_add(next.messages)) {
                    (Some(bytes), Some(messages)) => (kept.bytes, kept.messages) = (bytes, messages),
                    _ => overflow = overflow.or(Some(kept.ranks())),
                }
            }
            is_same
        });
        overflow.map_or(Ok(()), |(u, v)| Err(PairOverflow(u, v)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use viem::base::rng::Rng;

    #[test]
    fn sums_are_those_of_a_map_however_often_they_are_merged() {
        let mut rng = Rng::new(1);
        for limit in [1, 2, 7, 1000] {
            let mut pairs = Pairs { pairs: Vec::new(), limit };
            let mut expected = BTreeMap::new();
            for _ in 0..5000 {
                let (from, to) = (rng.below(40) as NodeId, rng.below(40) as NodeId);
                let (bytes, messages) = (u64::from(rng.below(1000)), u64::from(rng.below(9)));
                pairs.add(from, to, bytes, messages).unwrap();
                pairs.limit = pairs.limit.min(limit.max(2 * expected.len()));
                let sums = expected.entry((from.min(to), from.max(to))).or_insert((0, 0));
                *sums = (sums.0 + bytes, sums.1 + messages);
            }
            let sums = pairs.finish().unwrap().into_iter();
            assert!(sums.map(|pair| (pair.ranks(), (pair.bytes, pair.messages))).eq(expected));
        }
    }

    #[test]
    fn a_sum_beyond_64_bits_is_refused() {
        let mut pairs = Pairs::new();
        pairs.add(3, 1, u64::MAX, 0).unwrap();
        pairs.add(1, 3, 0, u64::MAX).unwrap();
        pairs.add(1, 2, 1, 1).unwrap();
        assert_eq!(Pairs { pairs: pairs.pairs.clone(), limit: 9 }.finish().unwrap().len(), 2);
        pairs.add(1, 3, 1, 0).unwrap();
        assert_eq!(pairs.finish(), Err(PairOverflow(1, 3)));
    }
}
