//! Signals that end a run early: the first asks for the best mapping found so far, the second ends at once.
//!
//! Besides SIGINT and SIGTERM these are SIGUSR1 and SIGUSR2, which batch schedulers send before they kill
//! a job. A thread waits for them, so that it can do what no signal handler may: remove the progress line. A reader of
//! stdout that goes away (SIGPIPE) is no reason to lose a result: that signal stays
//! ignored, as Rust programs start, and [`Console`](super::console::Console) ignores the failed write.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use crate::progress::Progress;
use viem::base::observer::{Observer, Phase};
use viem::base::types::Cost;

#[cfg(unix)]
const SIGNALS: [i32; 4] = [SIGINT, SIGTERM, signal_hook::consts::SIGUSR1, signal_hook::consts::SIGUSR2];
#[cfg(not(unix))]
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// What a shell calls the exit code of a program that a signal has ended: this and the signal's number.
const ENDED_BY_SIGNAL: i32 = 128;

/// What the first signal does; the second always ends the program at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// It asks the run to stop: there is something to save.
    AsksToStop,
    /// It ends the program at once.
    Ends,
}

/// The first signal that has come; 0 before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received(Arc<AtomicI32>);

impl Received {
    fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Whether it was SIGINT. A shell that runs a loop ends it only if the program ends by that signal; a batch system
    /// that sends one of the others takes a result for a success.
    pub(crate) fn interrupt(&self) -> Option<i32> {
        Some(self.0.load(Ordering::Relaxed)).filter(|&signal| signal == SIGINT)
    }
}

/// From now on, signals remove the progress line, and do what `first` says. Where that cannot be arranged, they end the process as ever.
pub(crate) fn listen(progress: &Progress, first: First) -> Received {
    let received = Received::default();
    if first == First::Ends && !progress.is_shown() {
        // That is what signals do anyway, unless who started the program has had it ignore them.
        return received;
    }
    let (first_signal, bar) = (received.clone(), progress.bar());
    for_each_signal(move |signal| {
        bar.finish_and_clear();
        let is_first =
            first_signal.0.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if !is_first || first == First::Ends {
            end_by(signal);
        }
    });
    received
}

/// Calls a function, in a thread of its own, with each signal from now on.
#[cfg(unix)]
fn for_each_signal(act: impl FnMut(i32) + Send + 'static) {
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(SIGNALS) {
        let handle = signals.handle();
        if thread::Builder::new().spawn(move || signals.forever().for_each(act)).is_err() {
            handle.close();
        }
    }
}

/// The same where a handler can only set a flag, at which the thread looks from time to time.
#[cfg(not(unix))]
fn for_each_signal(mut act: impl FnMut(i32) + Send + 'static) {
    use std::sync::atomic::AtomicUsize;
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(20);
    let latest: Arc<AtomicUsize> = Arc::default();
    let seen = Arc::clone(&latest);
    let watch = move || loop {
        thread::sleep(PAUSE);
        match seen.swap(0, Ordering::Relaxed) {
            0 => {}
            signal => act(signal as i32),
        }
    };
    if thread::Builder::new().spawn(watch).is_ok() {
        for signal in SIGNALS {
            let _ = flag::register_usize(signal, Arc::clone(&latest), signal as usize);
        }
    }
}

/// Ends the process by a signal, as if nobody had listened to it.
pub(crate) fn end_by(signal: i32) -> u8 {
    let _ = io::stdout().flush();
    let _ = low_level::emulate_default_handler(signal);
    (ENDED_BY_SIGNAL + signal) as u8
}

/// Has limits of the process end it like other failures: a write beyond the greatest size of a file (`ulimit -f`) fails, so
/// that nothing is left behind; and where Rust aborts because memory has run out, the process exits with the code of that.
#[cfg(unix)]
pub(crate) fn respect_limits() {
    use std::panic;
    use std::sync::atomic::AtomicBool;

    use viem::base::error::ErrorKind;

    let out_of_memory = i32::from(ErrorKind::NoResources.exit_code());
    let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    // A panic that ends in an abort is another matter.
    let nothing_panicked = Arc::new(AtomicBool::new(true));
    let flag = Arc::clone(&nothing_panicked);
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        flag.store(false, Ordering::Relaxed);
        hook(panic);
    }));
    let _ =
        flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, out_of_memory, nothing_panicked);
}

#[cfg(not(unix))]
pub(crate) fn respect_limits() {}

/// An observer that also ends the run once a signal has come.
pub(crate) struct StopAtSignal<O> {
    pub(crate) observer: O,
    pub(crate) received: Received,
}

impl<O: Observer> Observer for StopAtSignal<O> {
    fn should_stop(&self) -> bool {
        self.received.any() || self.observer.should_stop()
    }

    fn begins(&self, phase: Phase) {
        self.observer.begins(phase);
    }

    fn reached(&self, cost: Cost) {
        self.observer.reached(cost);
    }
}
