//! Runs that a function of C watches.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::{c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use viem::Observer;
use viem::base::types::Cost;

use crate::mapping::VIEM_UNKNOWN;

/// Time between two calls.
const PAUSE: Duration = Duration::from_millis(10);

/// A function of C and its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callback {
    pub function: unsafe extern "C" fn(data: *mut c_void, cost: i64) -> c_int,
    pub data: *mut c_void,
}

// SAFETY: who gave function and data promised that any thread may call it.
unsafe impl Send for Callback {}
// SAFETY: as above; calls are made one at a time.
unsafe impl Sync for Callback {}

/// Asks the function of a run whether it should stop.
pub(crate) struct Watcher {
    callback: Option<Callback>,
    /// The time of the last call; only the holder of the lock may make the next one.
    last: Mutex<Option<Instant>>,
    best: AtomicI64,
    stopped: AtomicBool,
}

impl Watcher {
    pub fn new(callback: Option<Callback>) -> Self {
        Self {
            callback,
            last: Mutex::new(None),
            best: AtomicI64::new(VIEM_UNKNOWN),
            stopped: AtomicBool::new(false),
        }
    }

    /// Returns whether the function has asked to stop.
    pub fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Observer for Watcher {
    fn should_stop(&self) -> bool {
        let Some(Callback { function, data }) = self.callback else { return false };
        if self.has_stopped() {
            return true;
        }
        // A thread that finds a call going on does not wait for it.
        let Ok(mut last) = self.last.try_lock() else { return false };
        if last.is_some_and(|last| last.elapsed() < PAUSE) {
            return false;
        }
        // SAFETY: function and data work during the run, and the lock keeps calls apart.
        let stops = unsafe { function(data, self.best.load(Ordering::Relaxed)) } != 0;
        *last = Some(Instant::now());
        self.stopped.fetch_or(stops, Ordering::Relaxed);
        stops
    }

    fn reached(&self, cost: Cost) {
        self.best.store(cost, Ordering::Relaxed);
    }
}
