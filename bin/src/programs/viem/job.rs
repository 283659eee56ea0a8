//! A mapping as it was asked for: what is read, and where the results go.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::goal::Goal;
use super::keep::Keep;
use super::options::{NAME, Options};
use crate::console::Console;
use crate::error::Result;
use crate::files;
use crate::launch::Planned;
use crate::report::JsonReport;
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem::solve::{Config, PreparedMachine};
use viem_io as io;
use viem_io::Outputs;
use viem_io::output::{Content, OutputId};

/// Where the results go.
pub(super) struct Places<'a> {
    pub outputs: &'a mut Outputs,
    pub mapping: OutputId,
    pub json: Option<OutputId>,
    pub picture: Option<OutputId>,
    /// The picture of a curve of remappings.
    pub curve: Option<OutputId>,
    /// What launches the job.
    pub planned: Option<Planned>,
    /// The schedule in which ranks are named as they are mapped.
    pub goal: Option<OutputId>,
}

/// What has the file of a mapping audited, and reports what agrees.
type Audit<'a> = &'a dyn Fn(&Path) -> Result<()>;

impl Places<'_> {
    /// Whether the mapping goes to a file of its own.
    pub fn is_file(&self) -> bool {
        self.outputs.is_file(self.mapping)
    }

    /// What people call the place of the mapping.
    pub fn name(&self) -> &str {
        self.outputs.name(self.mapping)
    }

    /// Writes a mapping, the report, the picture and further texts. Nothing is replaced unless the audit, if there is one, agrees with the
    /// file of the mapping.
    pub fn write<'b>(
        &self,
        mapping: &Mapping,
        report: &JsonReport<impl Serialize, impl Serialize>,
        drawn: Option<&'b str>,
        more: impl Iterator<Item = (OutputId, &'b str)>,
        audit: Option<Audit<'_>>,
    ) -> Result<()> {
        let texts: Vec<(OutputId, &str)> = self.picture.zip(drawn).into_iter().chain(more).collect();
        let write_mapping = |out: &mut dyn Write| io::mapping::write(out, mapping.pes());
        let write_report = |out: &mut dyn Write| report.write(out);
        let fills = files::fills(&texts);
        let mut contents: Vec<Content<'_>> =
            vec![(Some(self.mapping), &write_mapping), (self.json, &write_report)];
        contents.extend(fills.iter().map(|(id, fill)| (Some(*id), fill as _)));
        let staged = self.outputs.stage(&contents)?;
        if let Some((written, audit)) = staged.path(self.mapping).zip(audit) {
            audit(written)?;
        }
        Ok(staged.publish()?)
    }
}

impl<'a> Places<'a> {
    /// The places of these results; none of them may overwrite an input, but for the mapping that is improved.
    pub fn plan(options: &Options, inputs: &Inputs<'_>, outputs: &'a mut Outputs) -> Result<Self> {
        let mapping = outputs.add(&options.output_filename, &inputs.read_only)?;
        Ok(Self {
            mapping,
            json: options.report.add_to(outputs, &inputs.all)?,
            picture: options.picture.add_to(outputs, &inputs.all)?,
            planned: options.launch.add_to(outputs, &inputs.all)?,
            goal: options.goal.as_ref().map(|goal| goal.add_to(outputs, &inputs.all)).transpose()?,
            curve: options.remap.add_to(outputs, &inputs.all)?,
            outputs,
        })
    }
}

/// The files that are read.
pub(super) struct Inputs<'a> {
    /// All of them.
    pub all: Vec<&'a Path>,
    /// Those that no result may replace; a mapping may be improved in place.
    pub read_only: Vec<&'a Path>,
}

impl<'a> Inputs<'a> {
    pub fn of(options: &'a Options) -> Self {
        let weights = options.sharing.pe_weights.as_deref();
        let others = options.machine.files().chain(weights).chain(options.first.file());
        let others = others.chain(options.fixed.file()).chain(options.keep.iter().filter_map(Keep::file));
        let others = others.chain(options.goal.iter().map(Goal::schedule));
        let read_only: Vec<&Path> =
            [options.file.as_path()].into_iter().chain(others).chain(options.remap.files()).collect();
        let mappings = options
            .input_mapping
            .as_deref()
            .into_iter()
            .flat_map(files::files_of_mapping)
            .chain(options.remap.old());
        Self { all: read_only.iter().copied().chain(mappings).collect(), read_only }
    }
}

/// A model that is to be mapped to a machine.
pub(super) struct Job<'a> {
    pub options: &'a Options,
    pub started: Instant,
    pub machine: &'a dyn Machine,
    /// The same machine, for all that asks for more than it says at once.
    pub prepared: &'a PreparedMachine<'a>,
    pub config: Config,
    pub places: Places<'a>,
    pub console: Console,
}

impl Job<'_> {
    /// The report of the run on a machine: its options, and what is known of the result.
    pub fn json_report<O: Serialize, R: Serialize>(
        &self,
        machine: &dyn Machine,
        options: O,
        report: R,
    ) -> JsonReport<O, R> {
        let Self { options: all, config, .. } = self;
        let report = JsonReport::new(NAME, all.file.as_path(), options, report);
        report.on(all.machine.report(machine)).seeded(config.seed)
    }
}
