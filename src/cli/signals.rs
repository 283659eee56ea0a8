//! Signals that end a run early: the first asks for the best mapping found so far, the second ends at once.
//!
//! Besides SIGINT and SIGTERM these are SIGUSR1 and SIGUSR2, which batch schedulers send before they kill
//! a job. A reader of stdout that goes away (SIGPIPE) is no reason to lose a result: that signal stays
//! ignored, as Rust programs start, and [`Console`](super::console::Console) ignores the failed write.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::observer::{Observer, Phase};
use crate::types::Cost;

#[cfg(unix)]
const SIGNALS: [i32; 4] = [SIGINT, SIGTERM, signal_hook::consts::SIGUSR1, signal_hook::consts::SIGUSR2];
#[cfg(not(unix))]
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// What a shell calls the exit code of a program that a signal has ended: this and the signal's number.
const ENDED_BY_SIGNAL: i32 = 128;

/// A flag that the first signal sets. From now on the second one ends the process.
///
/// To be installed once there is something to save; before, a signal ends the process as ever.
pub(crate) fn install() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        // Both run at each signal, in this order: so the first finds the flag unset and sets it.
        flag::register_conditional_shutdown(signal, ENDED_BY_SIGNAL + signal, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// An observer that also ends the run once a flag is set.
pub(crate) struct StopAtSignal<O> {
    pub(crate) observer: O,
    pub(crate) stop: Arc<AtomicBool>,
}

impl<O: Observer> Observer for StopAtSignal<O> {
    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.observer.should_stop()
    }

    fn begins(&self, phase: Phase) {
        self.observer.begins(phase);
    }

    fn reached(&self, cost: Cost) {
        self.observer.reached(cost);
    }
}
