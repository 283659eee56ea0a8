//! MPI as a [`Comm`].
//!
//! Counts of MPI are 32 bits, so long messages are sent in several rounds.

use mpi::Count;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::traits::{Communicator, CommunicatorCollectives, Root};
use viem_distributed::comm::{Comm, Received, Reduction, ends_of, starts_of};

/// Most words that a rank sends or receives in one round: they fill 8 GiB.
const MOST_WORDS: usize = 1 << 30;

/// A communicator of MPI.
pub struct MpiComm<'a, C> {
    inner: &'a C,
    most_words: usize,
}

impl<'a, C: Communicator> MpiComm<'a, C> {
    /// The ranks of a communicator.
    pub fn new(inner: &'a C) -> Self {
        Self { inner, most_words: MOST_WORDS }
    }

    /// The same that sends shorter messages, for tests.
    pub fn with_most_words(self, most_words: usize) -> Self {
        Self { most_words, ..self }
    }

    /// One round, in which all fits.
    fn round(&self, words: &[u64], counts: &[Count], from: &[Count]) -> Vec<u64> {
        let mut received = vec![0; from.iter().sum::<Count>() as usize];
        let send = Partition::new(words, counts, starts_of(counts));
        let mut receive = PartitionMut::new(&mut received[..], from, starts_of(from));
        self.inner.all_to_all_varcount_into(&send, &mut receive);
        received
    }
}

impl<C: Communicator> Comm for MpiComm<'_, C> {
    fn rank(&self) -> usize {
        self.inner.rank() as usize
    }

    fn size(&self) -> usize {
        self.inner.size() as usize
    }

    fn all_to_all(&self, words: &[u64], counts: &[usize]) -> Received {
        let size = self.size();
        let sent: Vec<u64> = counts.iter().map(|&count| count as u64).collect();
        let mut from = vec![0u64; size];
        self.inner.all_to_all_into(&sent[..], &mut from[..]);
        let from: Vec<usize> = from.into_iter().map(|count| count as usize).collect();
        let longest = counts.iter().chain(&from).copied().max().unwrap_or(0) as u64;
        // What goes to or comes from each rank in a round.
        let each = (self.most_words / size).max(1);
        let mut most = 0u64;
        self.inner.all_reduce_into(&longest, &mut most, SystemOperation::max());
        let rounds = (most as usize).div_ceil(each);
        let part = |count: usize, round: usize| count.saturating_sub(round * each).min(each);
        let parts = |counts: &[usize], round| -> Vec<Count> {
            counts.iter().map(|&count| part(count, round) as Count).collect()
        };
        let ends = ends_of(&from);
        if rounds <= 1 {
            return Received { words: self.round(words, &parts(counts, 0), &parts(&from, 0)), ends };
        }
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
        let mut counts = vec![0u64; self.size()];
        self.inner.all_gather_into(&(words.len() as u64), &mut counts[..]);
        let all: u64 = counts.iter().sum();
        if all as usize > self.most_words {
            let copies = words.repeat(self.size());
            return self.all_to_all(&copies, &vec![words.len(); self.size()]);
        }
        let from: Vec<Count> = counts.iter().map(|&count| count as Count).collect();
        let mut received = vec![0; all as usize];
        self.inner.all_gather_varcount_into(
            words,
            &mut PartitionMut::new(&mut received[..], &from[..], starts_of(&from)),
        );
        let counts: Vec<usize> = counts.into_iter().map(|count| count as usize).collect();
        Received { words: received, ends: ends_of(&counts) }
    }

    fn all_reduce(&self, words: &mut [u64], how: Reduction) {
        // MPICH compares numbers without a sign as if they had one. With one they are right everywhere; another first bit keeps their order.
        let (operation, flip) = match how {
            Reduction::Sum => (SystemOperation::sum(), 0),
            Reduction::Least => (SystemOperation::min(), 1 << 63),
            Reduction::Greatest => (SystemOperation::max(), 1 << 63),
        };
        let own: Vec<i64> = words.iter().map(|&word| (word ^ flip) as i64).collect();
        let mut all = vec![0i64; words.len()];
        for (own, all) in own.chunks(self.most_words).zip(all.chunks_mut(self.most_words)) {
            self.inner.all_reduce_into(own, all, operation);
        }
        for (word, number) in words.iter_mut().zip(all) {
            *word = number as u64 ^ flip;
        }
    }

    fn broadcast(&self, root: usize, words: &mut Vec<u64>) {
        let process = self.inner.process_at_rank(root as i32);
        let mut count = words.len() as u64;
        process.broadcast_into(&mut count);
        words.resize(count as usize, 0);
        for part in words.chunks_mut(self.most_words) {
            process.broadcast_into(part);
        }
    }

    fn barrier(&self) {
        self.inner.barrier();
    }
}
