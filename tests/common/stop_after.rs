//! An observer that stops a run at a point independent of time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use viem::base::observer::Observer;

/// Asks a run to stop after a number of checks.
pub struct StopAfter {
    /// Remaining checks before it asks to stop.
    left: AtomicU64,
    has_stopped: AtomicBool,
}

impl StopAfter {
    pub fn questions(count: u64) -> Self {
        Self { left: AtomicU64::new(count), has_stopped: AtomicBool::new(false) }
    }

    /// Returns whether it has asked to stop.
    #[allow(dead_code)] // each test program uses a part of it
    pub fn has_stopped(&self) -> bool {
        self.has_stopped.load(Ordering::Relaxed)
    }
}

impl Observer for StopAfter {
    fn should_stop(&self) -> bool {
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        self.has_stopped.fetch_or(left.is_err(), Ordering::Relaxed);
        left.is_err()
    }
}
