//! Ranks that are threads of one process: for tests, and for programs without MPI.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::comm::{Comm, Received};

/// A rank that is a thread.
pub struct ThreadComm<'a> {
    rank: usize,
    shared: &'a Shared,
}

/// The state that the ranks share.
struct Shared {
    /// The words that each rank has sent, and their number for each rank.
    sent: Mutex<Vec<(Vec<u64>, Vec<usize>)>>,
    meeting: Mutex<Meeting>,
    moved: Condvar,
    /// The first panic of a rank.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    size: usize,
}

#[derive(Default)]
struct Meeting {
    waiting: usize,
    generation: u64,
    /// True if a rank has panicked, and will never come.
    is_broken: bool,
}

/// Runs `work` on this many ranks at once, and returns its result on each of them. If it panics on one, it ends on all.
///
/// ```
/// use viem_distributed::comm::{Comm, sum};
/// use viem_distributed::threads;
///
/// assert_eq!(threads::run(3, |comm| sum(comm, comm.rank() as i64)), [3, 3, 3]);
/// ```
pub fn run<R: Send>(size: usize, work: impl Fn(&ThreadComm<'_>) -> R + Sync) -> Vec<R> {
    let shared = Shared {
        sent: Mutex::new(vec![Default::default(); size]),
        meeting: Mutex::default(),
        moved: Condvar::new(),
        panic: Mutex::default(),
        size,
    };
    let one = |rank| {
        let result = catch_unwind(AssertUnwindSafe(|| work(&ThreadComm { rank, shared: &shared })));
        result.map_err(|panic| {
            lock(&shared.panic).get_or_insert(panic);
            lock(&shared.meeting).is_broken = true;
            shared.moved.notify_all();
        })
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let ranks: Vec<_> = (0..size).map(|rank| scope.spawn(move || one(rank))).collect();
        ranks.into_iter().filter_map(|rank| rank.join().ok()?.ok()).collect()
    });
    if let Some(panic) = lock(&shared.panic).take() {
        resume_unwind(panic);
    }
    results
}

/// A lock that a panic elsewhere does not take away.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Waits for all ranks.
    fn meet(&self) {
        let mut meeting = lock(&self.meeting);
        meeting.waiting += 1;
        if meeting.waiting == self.size {
            *meeting = Meeting { waiting: 0, generation: meeting.generation + 1, ..*meeting };
            self.moved.notify_all();
            return;
        }
        let generation = meeting.generation;
        while meeting.generation == generation {
            assert!(!meeting.is_broken, "another rank has panicked");
            meeting = self.moved.wait(meeting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Comm for ThreadComm<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.size
    }

    fn all_to_all(&self, words: &[u64], counts: &[usize]) -> Received {
        assert_eq!((counts.len(), counts.iter().sum::<usize>()), (self.size(), words.len()));
        lock(&self.shared.sent)[self.rank] = (words.to_vec(), counts.to_vec());
        self.shared.meet();
        let mut received = Received::default();
        for (words, counts) in lock(&self.shared.sent).iter() {
            let start: usize = counts[..self.rank].iter().sum();
            received.words.extend(&words[start..start + counts[self.rank]]);
            received.ends.push(received.words.len());
        }
        self.shared.meet();
        received
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::{Outbox, Ranges, Reduction, ask};

    #[test]
    fn words_reach_those_they_are_sent_to() {
        for size in 1..=5 {
            let all = run(size, |comm| {
                let own = comm.rank() as u64;
                let words: Vec<u64> =
                    (0..size as u64).flat_map(|to| vec![10 * own + to; to as usize]).collect();
                comm.all_to_all(&words, &(0..size).collect::<Vec<_>>())
            });
            for (rank, received) in all.into_iter().enumerate() {
                for from in 0..size {
                    assert_eq!(received.from(from), vec![(10 * from + rank) as u64; rank]);
                }
            }
        }
    }

    #[test]
    fn what_is_built_from_it_agrees_on_all_ranks() {
        let results = run(4, |comm| {
            let own = comm.rank() as u64;
            let mut words = [own, 10 - own];
            comm.all_reduce(&mut words, Reduction::Least);
            let mut said = if own == 2 { vec![7, 8] } else { vec![1] };
            comm.broadcast(2, &mut said);
            comm.barrier();
            (words, said)
        });
        assert!(results.iter().all(|result| *result == ([0, 7], vec![7, 8])));
    }

    #[test]
    fn answers_come_back_in_the_order_of_the_questions() {
        let results = run(3, |comm| {
            let mut outbox = Outbox::default();
            for number in 0..6u64 {
                outbox.push((number as usize * 2 + comm.rank()) % 3, [number, comm.rank() as u64]);
            }
            let delivered = outbox.send(comm);
            let answers: Vec<u64> = delivered
                .records()
                .map(|[number, from]| 100 * number + 10 * from + comm.rank() as u64)
                .collect();
            delivered.answer(comm, &answers)
        });
        for (rank, answers) in results.into_iter().enumerate() {
            let expected = (0..6).map(|number| 100 * number + 10 * rank + (2 * number + rank) % 3);
            assert_eq!(answers, expected.map(|answer| answer as u64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn owners_are_asked() {
        let results = run(4, |comm| {
            let ranges = Ranges::gather(comm, [3, 0, 2, 0][comm.rank()]);
            assert_eq!((0..5).map(|v| ranges.owner(v)).collect::<Vec<_>>(), [0, 0, 0, 2, 2]);
            let start = u64::from(ranges.own().start);
            ask(comm, &ranges, &[0, 2, 4], |local| 10 + start + local as u64)
        });
        assert!(results.iter().all(|result| *result == [10, 12, 14]));
    }

    #[test]
    #[should_panic(expected = "rank 1 fails")]
    fn a_panic_on_one_rank_ends_all() {
        run(3, |comm| {
            if comm.rank() == 1 {
                panic!("rank 1 fails");
            }
            comm.barrier();
        });
    }
}
