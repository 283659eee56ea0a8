//! `viem traffic`: makes the communication graph or the workload of a job.
//!
//! | member | what it holds |
//! |---|---|
//! | `options` | the options |
//! | `sum` | summing recorded traffic |
//! | `order` | workloads of the recorded order of messages, and of schedules |
//! | `made` | workloads, or their communication graphs, as results |

pub(super) mod made;
mod options;
mod order;
mod sum;

pub(crate) use options::{Options, ResultOptions, WorkloadOptions};

use crate::end::End;
use crate::error::{Result, UsageError};
use crate::job::{Job, Plan};
use crate::verb::{Form, Verb};
use crate::workload::is_workload;
use made::Made;
use options::PatternOptions;
use std::path::PathBuf;
use viem_io::output::OutputId;
use viem_io::{ContentError, ReadError, Source, readings};
use viem_traffic::{TrafficFault, is_goal, is_order};
use viem_workload::Workload;
use viem_workload::generate::{self, Size};
use viem_workload::text;

/// The name of the verb.
const TRAFFIC: &str = "traffic";

/// A run whose result is a graph or a workload.
struct Task<'a> {
    options: &'a Options,
    output: OutputId,
    /// The ids of the vertices.
    ids: Option<OutputId>,
    job: Job<'a>,
}

impl Verb for Options {
    fn set_form(&mut self, form: Form) {
        self.report.form = form;
    }

    fn run(&self) -> Result<End> {
        let mut plan = Plan::new(self.files.iter().map(PathBuf::as_path).collect(), [])?;
        let output = plan.output("--output", self.result.file(&self.workload))?;
        let ids = plan.optional("--renumber", self.sums.renumber.as_deref())?;
        let task = Task { options: self, output, ids, job: plan.start(&self.report)? };
        match (&self.pattern.pattern, self.files.as_slice()) {
            (Some(_), [_, ..]) => {
                let message = "--pattern makes a workload and reads nothing; leave it or the files out";
                Err(UsageError(message.to_owned()).into())
            }
            (Some(_), []) => task.pattern(),
            (None, files) => task.read(Source::open(&files[0])?),
        }
    }
}

impl Task<'_> {
    /// The result for files, the first of which is open.
    fn read(&self, mut first: Source<'_>) -> Result<End> {
        let options = self.options;
        if is_workload(&mut first) {
            options.check_unsummed("this is a workload")?;
            return self.workload(first);
        }
        let start = first.start();
        if is_order(&start) && !options.workload.workload {
            let message = "this is the recorded order of messages; --workload makes a workload of it";
            return Err(UsageError(message.to_owned()).into());
        }
        if is_order(&start) || options.workload.workload && is_goal(&start) {
            options.check_unsummed("this becomes a workload")?;
            return self.order(first);
        }
        if options.workload.workload {
            let message = "--workload needs the order of messages: a schedule of GOAL, or files of the recorder (viem_order ...)";
            return Err(UsageError(message.to_owned()).into());
        }
        if options.from.is_none() {
            refuse_ambiguous(&mut first)?;
        }
        self.sum(first)
    }

    /// The graph of a workload.
    fn workload(&self, source: Source<'_>) -> Result<End> {
        if self.options.files.len() > 1 {
            return Err(UsageError("a graph is made of one workload; give one file".to_owned()).into());
        }
        if self.options.workload.workload {
            return Err(UsageError("this is a workload already; leave out --workload".to_owned()).into());
        }
        let from = (Some(self.options.files[0].as_path()), self.options.of_workload());
        Made::by(TRAFFIC, from, &self.job, &text::read(source)?).publish(self.output, false)
    }

    /// The graph or the workload of a pattern.
    fn pattern(&self) -> Result<End> {
        self.options.check_unsummed("a pattern is no recording")?;
        let from = (None, self.options.of_pattern());
        Made::by(TRAFFIC, from, &self.job, &generated(&self.options.pattern)?)
            .seeded(self.options.pattern.seed)
            .publish(self.output, self.options.workload.workload)
    }
}

/// The workload of a pattern.
fn generated(options: &PatternOptions) -> Result<Workload> {
    let &PatternOptions { ref pattern, rounds, flits, cycles, shuffle, seed } = options;
    let (pattern, lengths) = &pattern.as_ref().expect("a pattern is given").value;
    let program = generate::workload(*pattern, lengths, Size::new(rounds, flits, cycles), seed)?;
    Ok(if shuffle { generate::shuffled(&program, seed) } else { program })
}

/// An error if a file may be of several kinds, one of which is recorded traffic.
fn refuse_ambiguous(file: &mut Source<'_>) -> Result<()> {
    let start = file.start();
    let readings = readings(&start, start.len() < Source::START);
    if readings.len() > 1 && readings.iter().any(|reading| reading.traffic_kind().is_some()) {
        let kind = ContentError::new(TrafficFault::Ambiguous { readings });
        return Err(ReadError::Invalid { file: file.name().to_owned(), line: 1, column: 1, kind }.into());
    }
    Ok(())
}
