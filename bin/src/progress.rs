//! A line on stderr that shows what is being done, while work is long and only if stderr is a terminal.

use std::fmt;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use viem::base::observer::{Observer, Phase};
use viem::base::types::Cost;

/// Shows what the program is doing; gone when dropped.
pub(crate) struct Progress(ProgressBar);

/// Characters of the bar that shows how much of the time limit has passed.
const WIDTH: u32 = 20;

impl Progress {
    /// A display that is hidden when `quiet`, and where stderr is no terminal. With a time limit it has a bar, the share of it that has passed, and the time that is left.
    pub(crate) fn new(quiet: bool, limit: Option<Duration>) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        let template = match limit {
            Some(_) => "{spinner} {elapsed} {share} {msg}",
            None => "{spinner} {elapsed} {msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            let limit = limit.unwrap_or_default();
            let share = move |state: &ProgressState, out: &mut dyn fmt::Write| {
                // A terminal that has gone away is no fault.
                let _ = out.write_str(&share(state.elapsed(), limit));
            };
            bar.set_style(style.with_key("share", share));
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

/// How much of a time limit has passed, as a bar, and what is left.
fn share(elapsed: Duration, limit: Duration) -> String {
    let passed = elapsed.min(limit);
    let share = if limit.is_zero() { 1.0 } else { passed.as_secs_f64() / limit.as_secs_f64() };
    let full = (share * f64::from(WIDTH)) as usize;
    let left = (limit - passed).as_secs_f64().ceil();
    let (done, percent) = ("#".repeat(full), (100.0 * share) as usize);
    format!("[{done}{}] {percent} %, {left:.0}s left,", ".".repeat(WIDTH as usize - full))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_shown_as_a_bar_that_fills() {
        let shown = |elapsed, limit| share(Duration::from_secs(elapsed), Duration::from_secs(limit));
        assert_eq!(shown(0, 60), "[....................] 0 %, 60s left,");
        assert_eq!(shown(30, 60), "[##########..........] 50 %, 30s left,");
        assert_eq!(shown(70, 60), "[####################] 100 %, 0s left,");
        assert_eq!(shown(0, 0), "[####################] 100 %, 0s left,");
    }
}
