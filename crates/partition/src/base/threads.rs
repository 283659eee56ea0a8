//! Running work on a given number of threads.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use thiserror::Error;

use crate::base::error::{ErrorKind, HasKind};
use crate::base::memory::{self, OutOfMemory};
use crate::base::order;
use crate::base::span::{self, Profile, Region};
use crate::base::types::Weight;

/// The reason why threads cannot be created.
#[derive(Debug, Error)]
#[error("cannot start the threads: {0}")]
pub struct ThreadsError(#[from] rayon::ThreadPoolBuildError);

impl HasKind for ThreadsError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::NoResources
    }
}

/// Runs `work` where rayon uses `threads` threads, at least 1.
///
/// Even one thread is a pool of its own: outside of any pool, rayon would use every core. Work that is in such a pool already
/// stays there.
pub fn run<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R, ThreadsError> {
    if is_in_pool() && rayon::current_num_threads() == threads {
        return Ok(work());
    }
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build()?.install(work))
}

/// Runs `work` on one thread as if there were so many, and measures it.
///
/// Where the number of tasks depends on [`count`], there are as many tasks as for so many threads.
///
/// ```
/// use viem::base::threads;
///
/// let sum_of_squares = || threads::sum(1 << 20, |index| (index as i64 % 10).pow(2));
/// let (sum, profile) = threads::measure(16, sum_of_squares)?;
/// assert_eq!(sum, sum_of_squares());
/// assert!(profile.total_span() <= profile.work && profile.seconds(16) <= profile.seconds(2));
/// # Ok::<(), viem::base::threads::ThreadsError>(())
/// ```
///
/// # Errors
/// If the thread cannot be started.
pub fn measure<R: Send>(
    threads: usize,
    work: impl FnOnce() -> R + Send,
) -> Result<(R, Profile), ThreadsError> {
    run(1, || span::measure(threads, work))
}

/// The number of threads that work is distributed to: 1 outside of any pool.
pub fn count() -> usize {
    span::supposed_threads().unwrap_or_else(|| if is_in_pool() { rayon::current_num_threads() } else { 1 })
}

fn is_in_pool() -> bool {
    rayon::current_thread_index().is_some()
}

/// The results of two tasks. Outside of any pool the calling thread does both.
pub fn join<A: Send, B: Send>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B + Send) -> (A, B) {
    if is_shared() {
        return rayon::join(first, second);
    }
    let mut region = Region::begin();
    let first = first();
    region.iter_mut().for_each(Region::end_task);
    let second = second();
    region.iter_mut().for_each(Region::end_task);
    region.into_iter().for_each(Region::end);
    (first, second)
}

/// Returns whether tasks are distributed to the threads of a pool: not if one thread is measured in place of them.
fn is_shared() -> bool {
    is_in_pool() && span::supposed_threads().is_none()
}

/// Calls `work` with numbers one after the other, each a task where that is measured.
fn in_turn(numbers: impl Iterator<Item = usize>, work: &dyn Fn(usize)) {
    let mut region = Region::begin();
    for number in numbers {
        work(number);
        region.iter_mut().for_each(Region::end_task);
    }
    region.into_iter().for_each(Region::end);
}

/// Calls `work` with 0, 1, …, `count` - 1, a task each. Outside of any pool the calling thread does it all.
///
/// The work is called through a pointer, so that what distributes tasks is compiled once.
fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    if count == 1 || !is_shared() {
        return in_turn(0..count, work);
    }
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

/// A place that tasks read or write.
struct Slot<T>(Mutex<T>);

impl<T> Slot<T> {
    fn new(content: T) -> Self {
        Self(Mutex::new(content))
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts something in the place of what is there.
    fn replace(&self, content: T) -> T {
        std::mem::replace(&mut self.lock(), content)
    }

    fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Working memory of tasks, one for each that runs at the same time.
#[derive(Debug, Default)]
pub(crate) struct Scratch<T>(Mutex<Vec<T>>);

impl<T: Default> Scratch<T> {
    /// Runs a task with memory that no other task uses meanwhile.
    pub fn with<R>(&self, task: impl FnOnce(&mut T) -> R) -> R {
        let mut memory = self.idle().pop().unwrap_or_default();
        let result = task(&mut memory);
        self.idle().push(memory);
        result
    }

    fn idle(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The results for 0, 1, …, `count` - 1, in this order; a task of a thread is `grain_size` of them, at least 1. Outside of any pool
/// the calling thread does it all.
pub fn map<T: Send>(count: usize, grain_size: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let grain_size = grain_size.max(1);
    if count <= grain_size || !is_in_pool() {
        return (0..count).map(work).collect();
    }
    let grains: Vec<Slot<Vec<T>>> = (0..count.div_ceil(grain_size)).map(|_| Slot::new(Vec::new())).collect();
    each(grains.len(), &|grain| {
        let begin = grain * grain_size;
        grains[grain].replace((begin..count.min(begin + grain_size)).map(work).collect());
    });
    let mut results = Vec::with_capacity(count);
    grains.into_iter().for_each(|grain| results.append(&mut grain.into_inner()));
    results
}

/// What `work` computes for successive ranges of 0, 1, …, `count` - 1, of `length` numbers each but the last, a task each; in their order.
pub fn map_ranges<T: Send>(count: usize, length: usize, work: &(dyn Fn(Range<usize>) -> T + Sync)) -> Vec<T> {
    let length = length.max(1);
    map(count.div_ceil(length), 1, &|index| work(index * length..count.min((index + 1) * length)))
}

/// Sorts by a key, on the threads of the pool if there is one. Items of equal keys must be equal, or their order depends on the threads.
pub fn sort_by_key<T: Send, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    if is_in_pool() {
        items.par_sort_unstable_by_key(key);
    } else {
        items.sort_unstable_by_key(key);
    }
}

/// The number of terms that a task of [`sum`] adds up, and of entries that one of [`fill`] computes. Balances the cost of a task against idle
/// threads. The result does not depend on it.
const GRAIN_SIZE: usize = 1 << 14;

/// The sum of the terms of 0, 1, …, `count` - 1, in parallel if there are many.
pub fn sum(count: usize, term: impl Fn(usize) -> Weight + Sync) -> Weight {
    let of_grain = |grain: usize| -> Weight {
        (grain * GRAIN_SIZE..((grain + 1) * GRAIN_SIZE).min(count)).map(&term).sum()
    };
    match count.div_ceil(GRAIN_SIZE) {
        1 => of_grain(0),
        grains => map(grains, 1, &of_grain).iter().sum(),
    }
}

/// Sets each entry to what `entry` computes for its index, in parallel if there are many.
pub fn fill<T: Send>(entries: &mut [T], entry: impl Fn(usize) -> T + Sync) {
    let of_grain = |(grain, entries): (usize, &mut [T])| {
        for (index, place) in (grain * GRAIN_SIZE..).zip(entries) {
            *place = entry(index);
        }
    };
    if entries.len() <= GRAIN_SIZE {
        return of_grain((0, entries));
    }
    map_each(entries.chunks_mut(GRAIN_SIZE).enumerate().collect(), &of_grain);
}

/// The number of values that a task of [`append`] copies at least. Balances as [`GRAIN_SIZE`] does; most of the time goes into new pages.
const LEAST_COPIED: usize = 1 << 13;

/// Appends values to an array that grows while it is read ([`memory::make_room`]), in parallel if there are many.
pub fn append<T: Copy + Send + Sync>(
    array: &mut Vec<T>,
    values: &[T],
    promised: usize,
) -> Result<(), OutOfMemory> {
    memory::make_room(array, values.len(), promised)?;
    if values.len() <= LEAST_COPIED || !is_in_pool() {
        array.extend_from_slice(values);
    } else if is_shared() {
        array.par_extend(values.par_iter().with_min_len(LEAST_COPIED).copied());
    } else {
        let array = Slot::new(array);
        let chunks: Vec<&[T]> = values.chunks(LEAST_COPIED).collect();
        in_turn(0..chunks.len(), &|index| array.lock().extend_from_slice(chunks[index]));
    }
    Ok(())
}

/// An array of `count` times the same value, which all threads write if it is long.
pub fn filled<T: Copy + Default + Send + Sync>(count: usize, value: T) -> Result<Vec<T>, OutOfMemory> {
    let mut array = memory::zeroed(count)?;
    fill(&mut array, |_| value);
    Ok(array)
}

/// The results for some items, in their order, a task each. Outside of any pool the calling thread does it all.
pub fn map_each<T: Send, R: Send>(items: Vec<T>, work: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
    if items.len() <= 1 || !is_in_pool() {
        return items.into_iter().map(work).collect();
    }
    let items: Vec<Slot<Option<T>>> = items.into_iter().map(|item| Slot::new(Some(item))).collect();
    let results: Vec<Slot<Option<R>>> = items.iter().map(|_| Slot::new(None)).collect();
    each(items.len(), &|index| {
        results[index].replace(items[index].replace(None).map(work));
    });
    results.into_iter().filter_map(Slot::into_inner).collect()
}

/// The results for the numbers of a range, in this order, of which those are left out that are not begun before `stops` says
/// so. The range may be longer than any list.
pub fn map_until<T: Send>(
    range: Range<usize>,
    stops: &(dyn Fn() -> bool + Sync),
    work: &(dyn Fn(usize) -> T + Sync),
) -> Vec<T> {
    let found = Slot::new((Vec::new(), Vec::new()));
    each_until(range, stops, &|number| {
        let result = Some(work(number));
        let (numbers, results) = &mut *found.lock();
        numbers.push(number);
        results.push(result);
    });
    let (numbers, mut results) = found.into_inner();
    in_order_of(&numbers).into_iter().filter_map(|place| results[place as usize].take()).collect()
}

/// Calls `work` with the numbers of a range in any order until `stops` says so.
fn each_until(range: Range<usize>, stops: &(dyn Fn() -> bool + Sync), work: &(dyn Fn(usize) + Sync)) {
    if !is_shared() {
        return in_turn(range.take_while(|_| !stops()), work);
    }
    range.into_par_iter().take_any_while(|_| !stops()).for_each(work);
}

/// The positions of some numbers in a list, in ascending order of the numbers.
fn in_order_of(numbers: &[usize]) -> Vec<u32> {
    let mut places: Vec<u32> = (0..numbers.len() as u32).collect();
    order::ascending_by(&mut places, &|place| numbers[place as usize] as Weight);
    places
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::{Profile, span};

    #[test]
    fn what_is_not_begun_in_time_is_left_out() {
        let begun = AtomicUsize::new(0);
        let stops = || begun.fetch_add(1, Ordering::Relaxed) >= 10;
        let found = super::run(3, || super::map_until(5..usize::MAX, &stops, &|index| index)).unwrap();
        assert!(found.len() <= 10 && found.is_sorted(), "{found:?}");
        let all = super::run(3, || super::map_until(5..9, &|| false, &|index| index)).unwrap();
        assert_eq!(all, [5, 6, 7, 8]);
    }

    #[test]
    fn results_are_in_order() {
        for (count, grain_size) in [(0, 1), (1, 0), (100, 1), (100, 7), (100, 1000)] {
            let expected: Vec<usize> = (0..count).map(|index| index * index).collect();
            let found = super::run(3, || super::map(count, grain_size, &|index| index * index)).unwrap();
            assert_eq!(found, expected, "{count} {grain_size}");
        }
    }

    #[test]
    fn sums_and_entries_do_not_depend_on_threads() {
        for count in [0, 1, 1 << 14, 100_000] {
            let square = |index: usize| (index * index) as i64;
            let expected: Vec<i64> = (0..count).map(square).collect();
            for threads in [1, 3] {
                let mut entries = vec![0; count];
                super::run(threads, || super::fill(&mut entries, square)).unwrap();
                assert_eq!(entries, expected);
                let sum = super::run(threads, || super::sum(count, square)).unwrap();
                assert_eq!(sum, expected.iter().sum::<i64>());
            }
            let mut entries = vec![0; count];
            super::fill(&mut entries, square);
            assert_eq!((entries, super::sum(count, square)), (expected.clone(), expected.iter().sum()));
        }
    }

    #[test]
    fn values_are_appended_in_their_order() {
        for count in [0, 5, 8192, 100_000] {
            let values: Vec<usize> = (0..count).collect();
            let extended = || {
                let mut array = vec![7];
                super::append(&mut array, &values, 0).unwrap();
                array
            };
            let expected: Vec<usize> = std::iter::once(7).chain(0..count).collect();
            assert_eq!(super::run(3, extended).unwrap(), expected);
            assert_eq!(super::measure(8, extended).unwrap().0, expected);
            assert_eq!(extended(), expected);
        }
    }

    #[test]
    fn work_runs_on_as_many_threads_as_asked() {
        for threads in [1, 3] {
            assert_eq!(super::run(threads, rayon::current_num_threads).unwrap(), threads);
        }
    }

    fn spin(milliseconds: u64) {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(milliseconds) {}
    }

    /// Parts of a span are at least as long as the loops that they are made of.
    fn at_least(profile: &Profile, name: &str, milliseconds: f64) -> bool {
        profile.span.iter().any(|&(other, seconds)| other == name && seconds >= milliseconds / 1e3)
    }

    #[test]
    fn the_longest_task_of_a_region_belongs_to_the_span() {
        let work = || {
            spin(2);
            super::map(4, 1, &|index| span::named("tasks", || spin(10 * index as u64)));
            span::named("after", || spin(3));
        };
        let ((), profile) = super::measure(8, work).unwrap();
        assert!(
            at_least(&profile, "", 2.0)
                && at_least(&profile, "tasks", 30.0)
                && at_least(&profile, "after", 3.0)
        );
        // The tasks of 0, 10 and 20 ms beside the one of 30 ms.
        assert!(profile.work - profile.total_span() >= 0.03, "{profile:?}");
    }

    #[test]
    fn regions_within_tasks_count_by_their_longest_tasks() {
        let inner = |tasks: usize| super::map(tasks, 1, &|_| spin(10));
        let ((), profile) = super::measure(8, || drop(super::join(|| inner(2), || inner(4)))).unwrap();
        assert!(profile.total_span() >= 0.01 && profile.work - profile.total_span() >= 0.04, "{profile:?}");
        assert!(profile.seconds(1) > profile.seconds(2) && profile.seconds(2) > profile.seconds(64));
    }

    #[test]
    fn as_many_threads_are_supposed_as_asked() {
        assert_eq!(super::measure(48, super::count).unwrap().0, 48);
        assert_eq!(super::run(1, super::count).unwrap(), 1);
    }
}
