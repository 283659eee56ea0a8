//! Workloads of the recorded order of messages, and of schedules of GOAL.

use super::made::Made;
use super::{TRAFFIC, Task};
use crate::console::Console;
use crate::end::End;
use crate::error::{Result, UsageError};
use crate::hints;
use crate::signals::First;
use viem_io::Source;
use viem_traffic::{Recording, is_goal, read_goal};
use viem_workload::recorded::{self, RecordedWorkload};

impl Task<'_> {
    /// Reads a schedule, or the files of all ranks, of which the first is open already, and writes the workload.
    pub(super) fn order(&self, mut first: Source<'_>) -> Result<End> {
        let (progress, _) = self.job.watch(First::Ends, None);
        progress.show("reading");
        let is_schedule = is_goal(&first.start());
        let recording = if is_schedule { self.schedule(first)? } else { self.recording(first)? };
        let (notes, flit_bytes) = (recording.notes(), self.options.workload.flit_bytes());
        let recorded = recorded::workload(&recording, flit_bytes)?;
        drop(progress);
        let computation =
            if is_schedule { "a cycle is the unit of calc" } else { "computation is not recorded" };
        self.job.console.line(format_args!("a flit is {flit_bytes} bytes; {computation}"));
        print(self.job.console, &recorded);
        hints::warn_of_traffic(self.job.console, &notes);
        let from = (Some(self.options.files[0].as_path()), self.options.of_workload());
        Made::by(TRAFFIC, from, &self.job, &recorded.workload).publish(self.output, true)
    }

    /// The files of all ranks.
    fn recording(&self, first: Source<'_>) -> Result<Recording> {
        let mut recording = Recording::default();
        recording.read(first)?;
        for path in &self.options.files[1..] {
            recording.read(Source::open(path)?)?;
        }
        Ok(recording)
    }

    /// The only file, which has all ranks.
    fn schedule(&self, only: Source<'_>) -> Result<Recording> {
        match self.options.files.len() {
            1 => Ok(read_goal(only)?),
            _ => {
                Err(UsageError("--workload makes a workload of one schedule; give one file".to_owned())
                    .into())
            }
        }
    }
}

/// Prints what is different from the recording.
fn print(console: Console, recorded: &RecordedWorkload) {
    let &RecordedWorkload { unreceived, unsent, to_itself, answers, .. } = recorded;
    match answers {
        Some(0) => {}
        Some(count) => console.line(format_args!(
            "messages of one flit that say that another one is received, so that its sender can wait for it: {count}"
        )),
        None => console.line(format_args!(
            "no sender waits until its message is received: tasks would wait for each other forever"
        )),
    }
    for (what, count) in [
        ("messages that nothing receives, received at the end", unreceived),
        ("receives of messages that nothing sends, left out", unsent),
        ("messages of ranks to themselves, left out", to_itself),
    ] {
        if count > 0 {
            console.line(format_args!("{what}: {count}"));
        }
    }
}
