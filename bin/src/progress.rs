//! A line on stderr that shows what is being done, while work is long and only if stderr is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use viem::ground::observer::{Observer, Phase};
use viem::ground::types::Cost;

/// Shows what the program is doing; gone when dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A display that is hidden when `quiet`, and where stderr is no terminal.
    pub(crate) fn new(quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// A handle to the progress line, so that it can be cleared early.
    pub(crate) fn bar(&self) -> ProgressBar {
        self.0.clone()
    }

    /// Whether there is a line to be seen.
    pub(crate) fn is_shown(&self) -> bool {
        !self.0.is_hidden() && !self.0.is_finished()
    }

    /// Names what begins now.
    pub(crate) fn show(&self, message: impl Into<String>) {
        if self.is_shown() {
            self.0.set_message(message.into());
            self.0.enable_steady_tick(Duration::from_millis(200));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Observer for Progress {
    fn begins(&self, phase: Phase) {
        self.show(match phase {
            Phase::Construction => "constructing a mapping",
            _ => "improving the mapping",
        });
    }

    fn reached(&self, cost: Cost) {
        if self.is_shown() {
            self.0.set_message(format!("improving the mapping, J = {cost}"));
        }
    }
}
