//! Workloads of the recorded order of messages, and of schedules of GOAL.

use super::destination::Destination;
use super::options::Options;
use super::traffic::warn;
use super::workload;
use crate::console::Console;
use crate::error::{Result, UsageError};
use crate::exit::End;
use crate::progress::Progress;
use crate::signals::{self, First};
use viem_io::Source;
use viem_traffic::{Recording, is_goal, read_goal};
use viem_workload::recorded::{self, RecordedWorkload};
use viem_workload::text;

/// Reads a schedule, or the files of all ranks, of which the first is open already, and writes the workload.
pub(super) fn workload(options: &Options, mut first: Source<'_>, to: &Destination) -> Result<End> {
    let progress = Progress::new(options.report.quiet);
    signals::listen(&progress, First::Ends);
    progress.tell("reading");
    let is_schedule = is_goal(&first.start());
    let recording = if is_schedule { schedule(options, first)? } else { recording(options, first)? };
    let notes = recording.notes();
    let recorded = recorded::workload(&recording, options.order.flit_bytes)?;
    drop(progress);
    let computation = if is_schedule { "a cycle is the unit of calc" } else { "computation is not recorded" };
    to.console.line(format_args!("a flit is {} bytes; {computation}", options.order.flit_bytes));
    tell(to.console, &recorded);
    warn(to.console, &notes);
    workload::write(options, &recorded.workload, &|out| text::write(out, &recorded.workload), to)
}

/// The files of all ranks.
fn recording(options: &Options, first: Source<'_>) -> Result<Recording> {
    let mut recording = Recording::default();
    recording.read(first)?;
    for path in &options.files[1..] {
        recording.read(Source::open(path)?)?;
    }
    Ok(recording)
}

/// The only file, which has all ranks.
fn schedule(options: &Options, only: Source<'_>) -> Result<Recording> {
    match options.files.len() {
        1 => Ok(read_goal(only)?),
        _ => Err(UsageError("--workload makes a workload of one schedule; give one file".to_owned()).into()),
    }
}

/// What is different from the recording.
fn tell(console: Console, recorded: &RecordedWorkload) {
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
