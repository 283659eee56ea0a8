//! An observer that stops a run at a point that does not depend on time.

use std::sync::atomic::{AtomicU64, Ordering};

use viem::observer::Observer;

/// Asks a run to stop once it has been asked so many times.
pub struct StopAfter(AtomicU64);

impl StopAfter {
    pub fn questions(count: u64) -> Self {
        Self(AtomicU64::new(count))
    }
}

impl Observer for StopAfter {
    fn should_stop(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}
