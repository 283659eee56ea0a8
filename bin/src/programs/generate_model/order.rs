//! Workloads of the recorded order of messages.

use super::destination::Destination;
use super::options::Options;
use super::workload;
use crate::console::Console;
use crate::error::Result;
use crate::exit::End;
use crate::progress::Progress;
use crate::signals::{self, First};
use viem::io::Source;
use viem::io::traffic::Recording;
use viem::workload::recorded::{self, RecordedWorkload};
use viem::workload::text;

/// Reads the files of all ranks, of which the first is open already, and writes the workload.
pub(super) fn workload(options: &Options, first: Source<'_>, to: &Destination) -> Result<End> {
    let progress = Progress::new(options.report.quiet);
    signals::listen(&progress, First::Ends);
    progress.tell("reading");
    let mut recording = Recording::default();
    recording.read(first)?;
    for path in &options.files[1..] {
        recording.read(Source::open(path)?)?;
    }
    let recorded = recorded::workload(&recording, options.order.flit_bytes)?;
    drop(progress);
    tell(to.console, &recorded, options.order.flit_bytes);
    workload::write(&recorded.workload, &|out| text::write(out, &recorded.workload), to)
}

/// What was assumed, and what is different from the recording.
fn tell(console: Console, recorded: &RecordedWorkload, flit_bytes: u64) {
    let &RecordedWorkload { unreceived, unsent, to_itself, answers, .. } = recorded;
    console.line(format_args!("a flit is {flit_bytes} bytes; computation is not recorded"));
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
