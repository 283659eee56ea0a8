//! Work and span: what a computation would gain from more cores than there are.
//!
//! The *work* of a computation is its time on one thread, its *span* that of the longest chain of tasks of which each waits for the one
//! before. On `p` threads that are never idle while a task is ready, it takes at most `(work - span) / p + span`.
//!
//! One thread does it all, one task after the other. What is between regions of parallel tasks belongs to the span, and so does the
//! longest task of each region, which may contain regions of its own. The cost of threads themselves, and of memory that they share, is not
//! seen. [`threads::measure`](super::threads::measure) does it.
//!
//! Brent: The parallel evaluation of general arithmetic expressions. JACM 1974.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The work and the span of a computation.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The work, in seconds.
    pub work: f64,
    /// The parts of the span in seconds, by the names of the phases that they belong to ([`named`]), longest first. What belongs to none is
    /// under the empty name.
    pub span: Vec<(&'static str, f64)>,
}

impl Profile {
    /// The span, in seconds.
    pub fn total_span(&self) -> f64 {
        self.span.iter().map(|&(_, seconds)| seconds).sum()
    }

    /// The seconds that so many threads take at most, at least 1.
    pub fn seconds(&self, threads: usize) -> f64 {
        let span = self.total_span();
        (self.work - span) / threads.max(1) as f64 + span
    }
}

/// Measures what this thread does, as if there were so many threads.
pub(super) fn measure<R>(threads: usize, work: impl FnOnce() -> R) -> (R, Profile) {
    METER.set(Some(Meter::new(threads)));
    let result = work();
    let profile = METER.take().map(Meter::finish);
    (result, profile.unwrap_or_else(|| Profile { work: 0.0, span: Vec::new() }))
}

/// Runs a phase whose serial time is listed under this name. A phase inside of a phase has a name of its own.
pub fn named<R>(name: &'static str, work: impl FnOnce() -> R) -> R {
    let outer = with_meter(|meter| meter.rename(name));
    let result = work();
    if let Some(outer) = outer {
        with_meter(|meter| meter.rename(outer));
    }
    result
}

/// The number of threads that a measurement supposes, if there is one on this thread.
pub(super) fn supposed_threads() -> Option<usize> {
    with_meter(|meter| meter.threads)
}

/// The times of the phases along a chain of tasks.
type Chain = BTreeMap<&'static str, Duration>;

/// Parallel tasks that one thread runs one after the other.
pub(super) struct Region {
    /// What came before.
    before: Chain,
    longest: Chain,
}

impl Region {
    /// The first task begins, if there is a measurement on this thread.
    pub fn begin() -> Option<Self> {
        with_meter(|meter| Self { before: meter.next_chain(Chain::new()), longest: Chain::new() })
    }

    /// A task ends, and another one may begin.
    pub fn end_task(&mut self) {
        let Some(task) = with_meter(|meter| meter.next_chain(Chain::new())) else { return };
        let length = |chain: &Chain| -> Duration { chain.values().sum() };
        if length(&task) > length(&self.longest) {
            self.longest = task;
        }
    }

    /// All tasks have ended.
    pub fn end(self) {
        let Self { mut before, longest } = self;
        longest.into_iter().for_each(|(name, time)| *before.entry(name).or_default() += time);
        with_meter(|meter| meter.next_chain(before));
    }
}

struct Meter {
    threads: usize,
    /// All that was measured before is in `work` and `chain`.
    since: Instant,
    work: Duration,
    /// The name of the current phase.
    name: &'static str,
    /// The task that runs, up to now.
    chain: Chain,
}

impl Meter {
    fn new(threads: usize) -> Self {
        Self { threads, since: Instant::now(), work: Duration::ZERO, name: "", chain: Chain::new() }
    }

    fn advance(&mut self) {
        let now = Instant::now();
        let time = now - std::mem::replace(&mut self.since, now);
        self.work += time;
        *self.chain.entry(self.name).or_default() += time;
    }

    fn rename(&mut self, name: &'static str) -> &'static str {
        self.advance();
        std::mem::replace(&mut self.name, name)
    }

    /// Continues with this chain; returns the one so far.
    fn next_chain(&mut self, chain: Chain) -> Chain {
        self.advance();
        std::mem::replace(&mut self.chain, chain)
    }

    fn finish(mut self) -> Profile {
        self.advance();
        let mut span: Vec<_> =
            self.chain.into_iter().map(|(name, time)| (name, time.as_secs_f64())).collect();
        span.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        Profile { work: self.work.as_secs_f64(), span }
    }
}

thread_local! {
    static METER: RefCell<Option<Meter>> = const { RefCell::new(None) };
}

/// What `ask` makes of the measurement on this thread, if there is one.
fn with_meter<R>(ask: impl FnOnce(&mut Meter) -> R) -> Option<R> {
    METER.with_borrow_mut(|meter| meter.as_mut().map(ask))
}
