//! Communication between ranks: the few collective operations that the algorithms need, and operations that are built from them.
//!
//! All that is sent are words of 64 bits. Every rank of a communicator calls the same operations in the same order.

use std::cell::Cell;
use std::ops::AddAssign;

use viem::base::types::NodeId;

/// A group of ranks, numbered from 0.
///
/// [`all_to_all`](Self::all_to_all) suffices to implement it; MPI has better ways for the others.
pub trait Comm {
    /// The number of this rank.
    fn rank(&self) -> usize;

    /// Returns the number of ranks, at least 1.
    fn size(&self) -> usize;

    /// Sends the first `counts[0]` words to rank 0, the next `counts[1]` to rank 1, and so on; returns what all ranks have sent here.
    /// `counts` has an entry for each rank, and their sum is the number of words.
    fn all_to_all(&self, words: &[u64], counts: &[usize]) -> Received;

    /// Sends the same words to all ranks.
    fn all_gather(&self, words: &[u64]) -> Received {
        let copies = words.repeat(self.size());
        self.all_to_all(&copies, &vec![words.len(); self.size()])
    }

    /// Combines the words of all ranks, position by position; all ranks give equally many.
    fn all_reduce(&self, words: &mut [u64], how: Reduction) {
        let received = self.all_gather(words);
        words.copy_from_slice(received.from(0));
        for rank in 1..self.size() {
            for (word, &other) in words.iter_mut().zip(received.from(rank)) {
                *word = how.combine(*word, other);
            }
        }
    }

    /// Gives all ranks the words of one of them.
    fn broadcast(&self, root: usize, words: &mut Vec<u64>) {
        let received = self.all_gather(if self.rank() == root { words } else { &[] });
        *words = received.words;
    }

    /// Waits for all ranks.
    fn barrier(&self) {
        self.all_gather(&[]);
    }
}

/// The way in which words are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Their sum, modulo 2^64; so also that of negative numbers in two's complement.
    Sum,
    /// The least of them.
    Least,
    /// The greatest of them.
    Greatest,
}

impl Reduction {
    fn combine(self, a: u64, b: u64) -> u64 {
        match self {
            Self::Sum => a.wrapping_add(b),
            Self::Least => a.min(b),
            Self::Greatest => a.max(b),
        }
    }
}

/// The words received from all ranks, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// All words.
    pub words: Vec<u64>,
    /// The end of the words of each rank.
    pub ends: Vec<usize>,
}

impl Received {
    /// The words of one rank.
    pub fn from(&self, rank: usize) -> &[u64] {
        let start = rank.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[rank]]
    }

    /// Returns the number of words that each rank has sent.
    pub fn counts(&self) -> Vec<usize> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| end - start).collect()
    }
}

/// A communicator that counts the communication.
#[derive(Debug)]
pub struct Counted<C> {
    inner: C,
    operations: Cell<u64>,
    words_sent: Cell<u64>,
}

impl<C: Comm> Counted<C> {
    /// Makes a communicator without any communication yet.
    pub fn new(inner: C) -> Self {
        Self { inner, operations: Cell::new(0), words_sent: Cell::new(0) }
    }

    /// Returns the number of collective operations.
    pub fn operations(&self) -> u64 {
        self.operations.get()
    }

    /// Returns the number of words that this rank has given others; words that all get, or that are combined, count once.
    pub fn words_sent(&self) -> u64 {
        self.words_sent.get()
    }

    fn count(&self, words: usize) {
        self.operations.set(self.operations.get() + 1);
        self.words_sent.set(self.words_sent.get() + words as u64);
    }
}

impl<C: Comm> Comm for Counted<C> {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn all_to_all(&self, words: &[u64], counts: &[usize]) -> Received {
        self.count(words.len() - counts[self.rank()]);
        self.inner.all_to_all(words, counts)
    }

    fn all_gather(&self, words: &[u64]) -> Received {
        self.count(words.len());
        self.inner.all_gather(words)
    }

    fn all_reduce(&self, words: &mut [u64], how: Reduction) {
        self.count(words.len());
        self.inner.all_reduce(words, how);
    }

    fn broadcast(&self, root: usize, words: &mut Vec<u64>) {
        self.count(if root == self.rank() { words.len() } else { 0 });
        self.inner.broadcast(root, words);
    }

    fn barrier(&self) {
        self.count(0);
        self.inner.barrier();
    }
}

/// The sum of a number over all ranks. It must fit.
pub fn sum(comm: &impl Comm, number: i64) -> i64 {
    let mut words = [number as u64];
    comm.all_reduce(&mut words, Reduction::Sum);
    words[0] as i64
}

/// The same for each of several numbers of more than 64 bits, which are not negative.
pub fn sums_of_long(comm: &impl Comm, numbers: &[i128]) -> Vec<i128> {
    let words: Vec<u64> = numbers.iter().flat_map(|&number| [number as u64, (number >> 64) as u64]).collect();
    let mut sums = vec![0; numbers.len()];
    for numbers in comm.all_gather(&words).words.chunks_exact(words.len().max(1)) {
        for (sum, &[low, high]) in sums.iter_mut().zip(numbers.as_chunks().0) {
            *sum += i128::from(low) | i128::from(high) << 64;
        }
    }
    sums
}

/// The words of all ranks, in the order of these, on each of the first `receivers` ranks; nothing on the others.
pub fn gather_words(comm: &impl Comm, words: &[u64], receivers: usize) -> Vec<u64> {
    if receivers >= comm.size() {
        return comm.all_gather(words).words;
    }
    let mut all = Vec::new();
    for receiver in 0..receivers {
        let mut counts = vec![0; comm.size()];
        counts[receiver] = words.len();
        let received = comm.all_to_all(words, &counts).words;
        if receiver == comm.rank() {
            all = received;
        }
    }
    all
}

/// The greatest of the numbers of all ranks.
pub fn greatest(comm: &impl Comm, number: u64) -> u64 {
    let mut words = [number];
    comm.all_reduce(&mut words, Reduction::Greatest);
    words[0]
}

/// Adds up tables of the same length over all ranks.
pub fn sum_table(comm: &impl Comm, table: &mut [i64]) {
    let mut words: Vec<u64> = table.iter().map(|&number| number as u64).collect();
    comm.all_reduce(&mut words, Reduction::Sum);
    for (number, word) in table.iter_mut().zip(words) {
        *number = word as i64;
    }
}

/// Records of `N` words, each addressed to a rank.
#[derive(Clone, Debug)]
pub struct Outbox<const N: usize> {
    to: Vec<u32>,
    records: Vec<[u64; N]>,
}

impl<const N: usize> Default for Outbox<N> {
    fn default() -> Self {
        Self { to: Vec::new(), records: Vec::new() }
    }
}

impl<const N: usize> Outbox<N> {
    /// Adds a record for a rank.
    pub fn push(&mut self, to: usize, record: [u64; N]) {
        self.to.push(to as u32);
        self.records.push(record);
    }

    /// Sends all records; those from one rank to another keep their order.
    pub fn send(self, comm: &impl Comm) -> Delivered<N> {
        let mut counts = vec![0; comm.size()];
        for &to in &self.to {
            counts[to as usize] += 1;
        }
        let mut next = starts_of(&counts);
        let mut words = vec![0; N * self.to.len()];
        let mut place_of = Vec::with_capacity(self.to.len());
        for (&to, record) in self.to.iter().zip(&self.records) {
            let place = &mut next[to as usize];
            words[N * *place..][..N].copy_from_slice(record);
            place_of.push(*place as u32);
            *place += 1;
        }
        drop(self);
        counts.iter_mut().for_each(|count| *count *= N);
        Delivered { received: comm.all_to_all(&words, &counts), place_of }
    }
}

/// Records that were delivered, and how those that were sent from here are found again among the answers.
#[derive(Clone, Debug)]
pub struct Delivered<const N: usize> {
    received: Received,
    place_of: Vec<u32>,
}

impl<const N: usize> Delivered<N> {
    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.received.words.len() / N
    }

    /// Returns whether none came.
    pub fn is_empty(&self) -> bool {
        self.received.words.is_empty()
    }

    /// All records that came, those of rank 0 first.
    pub fn records(&self) -> impl Iterator<Item = &[u64; N]> {
        self.received.words.as_chunks().0.iter()
    }

    /// Answers each record that came, in their order, with a word. Returns the answers to those that were sent from here, in the order in which
    /// these were added.
    pub fn answer(&self, comm: &impl Comm, answers: &[u64]) -> Vec<u64> {
        let counts: Vec<usize> = self.received.counts().into_iter().map(|count| count / N).collect();
        let received = comm.all_to_all(answers, &counts);
        self.place_of.iter().map(|&place| received.words[place as usize]).collect()
    }
}

/// Returns the starts of the parts of an array that have these lengths.
pub fn starts_of<T: Copy + Default + AddAssign>(counts: &[T]) -> Vec<T> {
    let starts = counts.iter().scan(T::default(), |sum, &count| {
        let start = *sum;
        *sum += count;
        Some(start)
    });
    starts.collect()
}

/// Returns the ends of these parts.
pub fn ends_of(counts: &[usize]) -> Vec<usize> {
    let ends = counts.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    ends.collect()
}

/// The owners of the vertices: rank r has those from `first[r]` on, up to `first[r + 1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    first: Vec<NodeId>,
    rank: usize,
}

impl Ranges {
    /// The ranges of ranks that have this many vertices each. There are at most 2^32 - 2 in all.
    pub fn of_counts(counts: impl IntoIterator<Item = NodeId>, rank: usize) -> Self {
        let mut first = vec![0];
        for count in counts {
            first.push(first[first.len() - 1] + count);
        }
        Self { first, rank }
    }

    /// The ranges of all ranks, where this one has this many vertices.
    pub fn gather(comm: &impl Comm, count: NodeId) -> Self {
        let counts = comm.all_gather(&[u64::from(count)]).words;
        Self::of_counts(counts.into_iter().map(|count| count as NodeId), comm.rank())
    }

    /// Equal ranges, the first of them one longer where that does not divide evenly.
    pub fn equal(count: NodeId, comm: &impl Comm) -> Self {
        let size = comm.size() as u64;
        let first = (0..=size).map(|rank| (u64::from(count) * rank).div_ceil(size) as NodeId).collect();
        Self { first, rank: comm.rank() }
    }

    /// The first vertex of each rank, and the number of all vertices.
    pub fn first(&self) -> &[NodeId] {
        &self.first
    }

    /// The vertices of this rank.
    pub fn own(&self) -> std::ops::Range<NodeId> {
        self.of(self.rank)
    }

    /// The vertices of a rank.
    pub fn of(&self, rank: usize) -> std::ops::Range<NodeId> {
        self.first[rank]..self.first[rank + 1]
    }

    /// Returns the number of vertices of all ranks.
    pub fn total(&self) -> NodeId {
        self.first[self.first.len() - 1]
    }

    /// The rank that has a vertex; O(log p).
    pub fn owner(&self, vertex: NodeId) -> usize {
        if self.own().contains(&vertex) {
            return self.rank;
        }
        self.first.partition_point(|&first| first <= vertex) - 1
    }
}

/// Asks the owners of some vertices what they know of these: `known` gives it for each vertex of this rank, counted from 0. The vertices that are
/// asked for must be in ascending order.
pub fn ask(comm: &impl Comm, ranges: &Ranges, vertices: &[NodeId], known: impl Fn(usize) -> u64) -> Vec<u64> {
    let mut counts = vec![0; comm.size()];
    let mut owner = 0;
    for &vertex in vertices {
        while vertex >= ranges.first[owner + 1] {
            owner += 1;
        }
        counts[owner] += 1;
    }
    let words: Vec<u64> = vertices.iter().map(|&vertex| u64::from(vertex)).collect();
    let asked = comm.all_to_all(&words, &counts);
    let start = ranges.own().start;
    let answers: Vec<u64> =
        asked.words.iter().map(|&vertex| known((vertex as NodeId - start) as usize)).collect();
    comm.all_to_all(&answers, &asked.counts()).words
}

/// Returns what the owners of some vertices know of them, for each of `vertices`, in any order and perhaps several times. `known` gives it for each
/// vertex of this rank, counted from 0; the owners of others are asked once for each.
pub fn look_up(
    comm: &impl Comm,
    ranges: &Ranges,
    vertices: &[NodeId],
    known: impl Fn(usize) -> u64,
) -> Vec<u64> {
    let own = ranges.own();
    let mut foreign: Vec<NodeId> = vertices.iter().copied().filter(|vertex| !own.contains(vertex)).collect();
    foreign.sort_unstable();
    foreign.dedup();
    let answers = ask(comm, ranges, &foreign, &known);
    let answer = |vertex: &NodeId| match own.contains(vertex) {
        true => known((vertex - own.start) as usize),
        false => answers[foreign.partition_point(|other| other < vertex)],
    };
    vertices.iter().map(answer).collect()
}
