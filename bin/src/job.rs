//! What every verb does around its own work: it plans where results go before it reads anything, and publishes them once all are complete.
//!
//! ```text
//! Plan::new(inputs)  ->  plan.output(option, ..)  ->  plan.start(..)  ->  the work of the verb  ->  job.publish(..)
//! ```

use std::path::Path;
use std::time::{Duration, Instant};

use crate::console::{Console, check_lines};
use crate::end::End;
use crate::error::{Result, UsageError};
use crate::files;
use crate::options::ReportOptions;
use crate::progress::Progress;
use crate::signals::{self, First, Received};
use crate::verb::Form;
use viem_io::output::{Content, Fill, OutputId, Staged};
use viem_io::{Outputs, WriteError};

/// What is read and written.
pub(crate) struct Plan<'a> {
    outputs: Outputs,
    /// Inputs that no result may replace.
    read_only: Vec<&'a Path>,
    /// All inputs.
    inputs: Vec<&'a Path>,
    /// The option of each result.
    options: Vec<(OutputId, &'static str)>,
}

impl<'a> Plan<'a> {
    /// A run that reads these files. Results may replace those that are `replaceable`, such as a mapping that is improved.
    pub(crate) fn new(
        read_only: Vec<&'a Path>,
        replaceable: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Self> {
        let inputs: Vec<&Path> = read_only.iter().copied().chain(replaceable).collect();
        files::probe_inputs(&inputs)?;
        Ok(Self { outputs: Outputs::new(), read_only, inputs, options: Vec::new() })
    }

    /// A result of an option that may replace an input which is replaceable.
    pub(crate) fn successor(&mut self, option: &'static str, path: &Path) -> Result<OutputId> {
        let added = self.outputs.add(path, &self.read_only);
        self.named(option, added)
    }

    /// A result of an option that may replace no input.
    pub(crate) fn output(&mut self, option: &'static str, path: &Path) -> Result<OutputId> {
        let added = self.outputs.add(path, &self.inputs);
        self.named(option, added)
    }

    /// The same of a result that may not be asked for.
    pub(crate) fn optional(&mut self, option: &'static str, path: Option<&Path>) -> Result<Option<OutputId>> {
        path.map(|path| self.output(option, path)).transpose()
    }

    /// Notes which option has added a result; an error names both options of one place.
    fn named(&mut self, option: &'static str, added: Result<OutputId, WriteError>) -> Result<OutputId> {
        match added {
            Ok(id) => self.options.push((id, option)),
            Err(WriteError::SamePlace { ref first, ref second }) => {
                let of_first = |(id, _): &&(OutputId, _)| self.outputs.name(*id) == first;
                let (_, earlier) = self.options.iter().find(of_first).expect("each result has an option");
                return Err(UsageError(format!(
                    "{earlier} ({first}) and {option} ({second}) write to the same place; name another file for one of them"
                ))
                .into());
            }
            Err(_) => {}
        }
        Ok(added?)
    }

    /// The run, once all results are planned but the report.
    pub(crate) fn start(mut self, options: &ReportOptions) -> Result<Job<'a>> {
        let json = self.optional("--json", options.json.as_deref())?;
        let console = Console::new(options, &self.outputs)?;
        let ReportOptions { quiet, form, .. } = *options;
        let Self { outputs, inputs, .. } = self;
        Ok(Job { outputs, inputs, json, console, form, quiet, started: Instant::now() })
    }
}

/// A run whose results are planned.
pub(crate) struct Job<'a> {
    pub(crate) outputs: Outputs,
    inputs: Vec<&'a Path>,
    json: Option<OutputId>,
    pub(crate) console: Console,
    /// Whose lines are printed.
    pub(crate) form: Form,
    quiet: bool,
    started: Instant,
}

/// What audits results before they are published.
pub(crate) type Audit<'a> = &'a dyn Fn(&Staged<'_>) -> Result<()>;

impl Job<'_> {
    /// The time since the start, in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// What a result is called.
    pub(crate) fn name(&self, id: OutputId) -> &str {
        self.outputs.name(id)
    }

    /// An error if what is read, or this result, cannot be read again.
    pub(crate) fn check_verifiable(&self, result: OutputId) -> Result<()> {
        Ok(files::probe_verifiable(self.inputs.iter().copied(), self.outputs.is_file(result))?)
    }

    /// The progress line of a run with this time limit, and the signals that are caught from now on.
    pub(crate) fn watch(&self, first: First, limit: Option<Duration>) -> (Progress, Received) {
        let progress = Progress::new(self.quiet, limit);
        let received = signals::listen(&progress, first);
        (progress, received)
    }

    /// Writes the report and all other results. Nothing is replaced unless all are complete and the audit, if there is one, agrees.
    pub(crate) fn publish(
        &self,
        report: Fill<'_>,
        contents: &[Content<'_>],
        audit: Option<Audit<'_>>,
    ) -> Result<()> {
        let contents = [contents, &[(self.json, report)]].concat();
        let staged = self.outputs.stage(&contents)?;
        audit.map_or(Ok(()), |audit| audit(&staged))?;
        Ok(staged.publish()?)
    }
}

/// How a run ends that was not stopped, or by the signal that stopped it.
pub(crate) fn end(received: &Received) -> Result<End> {
    Ok(received.interrupt().map_or(End::Done, End::Signal))
}

/// How a run ends whose result is lines: with an error if one could not be written.
pub(crate) fn end_of_lines() -> Result<End> {
    check_lines()?;
    Ok(End::Done)
}
