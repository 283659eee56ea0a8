//! Collective operations whose counts are 32 bits, as those of MPI are, as a [`Comm`]: long messages are sent in several rounds.

use crate::comm::{Comm, Received, Reduction, ends_of};

/// Most words that a rank sends or receives in one round: they fill 8 GiB.
const MOST_WORDS: usize = 1 << 30;

/// Collective operations on short messages. Every rank calls the same ones in the same order.
pub trait Exchange {
    /// The number of this rank.
    fn rank(&self) -> usize;

    /// Returns the number of ranks, at least 1.
    fn size(&self) -> usize;

    /// Sends a word to each rank, and receives one from each.
    fn all_to_all(&self, words: &[u64], received: &mut [u64]);

    /// Sends the first `counts[0]` words to rank 0, the next `counts[1]` to rank 1, and so on; `from` says how many come from each, and all of them
    /// fill `received`.
    fn all_to_all_v(&self, words: &[u64], counts: &[i32], received: &mut [u64], from: &[i32]);

    /// Sends the same words to all ranks; `from` says how many come from each, and all of them fill `received`.
    fn all_gather_v(&self, words: &[u64], received: &mut [u64], from: &[i32]);

    /// Combines the numbers of all ranks, position by position.
    fn all_reduce(&self, numbers: &[i64], all: &mut [i64], how: Reduction);

    /// Gives all ranks the words of one of them; all have equally many.
    fn broadcast(&self, root: usize, words: &mut [u64]);
}

/// Such operations as a [`Comm`].
pub struct Rounds<E> {
    inner: E,
    most_words: usize,
}

impl<E: Exchange> Rounds<E> {
    /// The same ranks.
    pub fn new(inner: E) -> Self {
        Self { inner, most_words: MOST_WORDS }
    }

    /// The same that sends shorter messages, for tests.
    pub fn with_most_words(self, most_words: usize) -> Self {
        Self { most_words, ..self }
    }

    /// One round, in which all fits.
    fn round(&self, words: &[u64], counts: &[usize], from: &[usize]) -> Vec<u64> {
        let mut received = vec![0; from.iter().sum()];
        self.inner.all_to_all_v(words, &short(counts), &mut received, &short(from));
        received
    }

    /// Returns the words of all ranks, each of which sends `from` of them.
    fn gathered(&self, words: &[u64], from: &[usize]) -> Vec<u64> {
        let mut received = vec![0; from.iter().sum()];
        self.inner.all_gather_v(words, &mut received, &short(from));
        received
    }
}

/// Counts of a round.
fn short(counts: &[usize]) -> Vec<i32> {
    counts.iter().map(|&count| count as i32).collect()
}

fn long(counts: Vec<u64>) -> Vec<usize> {
    counts.into_iter().map(|count| count as usize).collect()
}

impl<E: Exchange> Comm for Rounds<E> {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn all_to_all(&self, words: &[u64], counts: &[usize]) -> Received {
        let sent: Vec<u64> = counts.iter().map(|&count| count as u64).collect();
        let mut from = vec![0; self.size()];
        self.inner.all_to_all(&sent, &mut from);
        let from = long(from);
        let longest = counts.iter().chain(&from).copied().max().unwrap_or(0);
        let mut most = [0];
        self.inner.all_reduce(&[longest as i64], &mut most, Reduction::Greatest);
        let most = most[0] as usize;
        // What goes to or comes from each rank in a round.
        let each = (self.most_words / self.size()).max(1);
        let rounds = most.div_ceil(each);
        let ends = ends_of(&from);
        if rounds <= 1 {
            return Received { words: self.round(words, counts, &from), ends };
        }
        let part = |count: usize, round: usize| count.saturating_sub(round * each).min(each);
        let parts = |counts: &[usize], round| -> Vec<usize> {
            counts.iter().map(|&count| part(count, round)).collect()
        };
        let mut all = vec![0; from.iter().sum()];
        for round in 0..rounds {
            let mut now = Vec::new();
            let mut start = 0;
            for &count in counts {
                let first = start + (round * each).min(count);
                now.extend_from_slice(&words[first..first + part(count, round)]);
                start += count;
            }
            let received = self.round(&now, &parts(counts, round), &parts(&from, round));
            let mut place = 0;
            for (&count, &end) in from.iter().zip(&ends) {
                let (length, to) = (part(count, round), end - count + (round * each).min(count));
                all[to..to + length].copy_from_slice(&received[place..place + length]);
                place += length;
            }
        }
        Received { words: all, ends }
    }

    fn all_gather(&self, words: &[u64]) -> Received {
        let counts = long(self.gathered(&[words.len() as u64], &vec![1; self.size()]));
        if counts.iter().sum::<usize>() > self.most_words {
            let copies = words.repeat(self.size());
            return self.all_to_all(&copies, &vec![words.len(); self.size()]);
        }
        Received { words: self.gathered(words, &counts), ends: ends_of(&counts) }
    }

    fn all_reduce(&self, words: &mut [u64], how: Reduction) {
        // MPICH compares numbers without a sign as if they had one. With one they are right everywhere; another first bit keeps their order.
        let flip = if how == Reduction::Sum { 0 } else { 1 << 63 };
        for part in words.chunks_mut(self.most_words) {
            let own: Vec<i64> = part.iter().map(|&word| (word ^ flip) as i64).collect();
            let mut all = vec![0; own.len()];
            self.inner.all_reduce(&own, &mut all, how);
            for (word, number) in part.iter_mut().zip(all) {
                *word = number as u64 ^ flip;
            }
        }
    }

    fn broadcast(&self, root: usize, words: &mut Vec<u64>) {
        let mut count = [words.len() as u64];
        self.inner.broadcast(root, &mut count);
        words.resize(count[0] as usize, 0);
        for part in words.chunks_mut(self.most_words) {
            self.inner.broadcast(root, part);
        }
    }
}
