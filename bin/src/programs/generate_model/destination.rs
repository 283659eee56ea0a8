//! Where results go.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::audit::{Claim, Written};
use super::options::Options;
use crate::console::Console;
use crate::error::Result;
use crate::exit::End;
use crate::files;
use crate::given::Given;
use crate::machine::MachineOptions;
use crate::remap::Curve;
use crate::report::JsonReport;
use viem::graph::CsrGraph;
use viem_io as io;
use viem_io::Outputs;
use viem_io::output::{Content, OutputId};

/// Models carry both weights, format 11, as VieM writes them.
pub(super) const WEIGHTS: io::metis::GraphContent = io::metis::GraphContent::ALL_WEIGHTS;

/// The files that are read.
pub(super) struct Inputs<'a> {
    /// All of them.
    pub all: Vec<&'a Path>,
    /// Those that no result may replace; a partition may be replaced by its successor.
    read_only: Vec<&'a Path>,
}

impl<'a> Inputs<'a> {
    pub fn of(options: &'a Options, machine: Option<&'a MachineOptions>) -> Self {
        let of_machine = machine.into_iter().flat_map(MachineOptions::files).chain(options.onto.file());
        let read_only =
            options.files.iter().map(PathBuf::as_path).chain(of_machine).chain(options.partition.files());
        let more =
            options.fixed.file().into_iter().chain(options.remap.files()).chain(options.training.file());
        let read_only: Vec<&Path> = read_only.chain(more).collect();
        Self { all: read_only.iter().copied().chain(options.remap.old()).collect(), read_only }
    }
}

/// Where the results go.
pub(super) struct Destination {
    pub outputs: Outputs,
    pub model: OutputId,
    pub blocks: Option<OutputId>,
    pub json: Option<OutputId>,
    /// The ids of the vertices.
    pub ids: Option<OutputId>,
    /// The order of the vertices.
    pub index: Option<OutputId>,
    /// The picture of the parts.
    pub picture: Option<OutputId>,
    /// The picture of a curve of remappings.
    pub curve: Option<OutputId>,
    /// Whether the files are audited.
    pub verify: bool,
    pub console: Console,
}

impl Destination {
    /// The places of all results that are asked for.
    pub fn plan(options: &Options, inputs: &Inputs<'_>, given: &Given) -> Result<Self> {
        let mut outputs = Outputs::new();
        let mut add =
            |path: Option<&Path>, inputs: &[&Path]| path.map(|path| outputs.add(path, inputs)).transpose();
        let model = add(Some(&options.output_filename), &inputs.all)?.expect("there is a model");
        let blocks = add(options.mapping_filename.as_deref(), &inputs.read_only)?;
        let json = add(options.report.json.as_deref(), &inputs.all)?;
        let ids = add(options.traffic.renumber.as_deref(), &inputs.all)?;
        let index = add(options.partition.write_index.as_deref(), &inputs.all)?;
        let picture = add(options.partition.picture.as_deref(), &inputs.all)?;
        let curve = options.remap.add_to(&mut outputs, &inputs.all)?;
        let console = given.console(options.report.quiet, &outputs)?;
        let verify = options.verify;
        Ok(Self { outputs, model, blocks, json, ids, index, picture, curve, verify, console })
    }

    /// An error if the files are to be audited, and what is read or written cannot be read again.
    pub fn check_audit(&self, inputs: &Inputs<'_>) -> Result<()> {
        if self.verify {
            files::probe_verifiable(inputs.all.iter().copied(), self.outputs.is_file(self.model))?;
        }
        Ok(())
    }

    /// Writes the model, the blocks, the report, the curve if there is one, and what there is `more`. Where they are to be audited, they
    /// take the place of what was there only if that agrees.
    pub fn write(
        &self,
        model: &CsrGraph,
        claim: &Claim<'_>,
        report: &JsonReport<impl Serialize, impl Serialize>,
        curve: Option<&Curve>,
        more: &[Content<'_>],
    ) -> Result<End> {
        let curve = curve.map_or("", |curve| &curve.picture);
        let contents: [Content<'_>; 4] = [
            (Some(self.model), &|out| io::metis::write(out, model, WEIGHTS)),
            (self.blocks, &|out| io::partition::write(out, claim.blocks)),
            (self.json, &|out| report.write(out)),
            (self.curve, &|out| out.write_all(curve.as_bytes())),
        ];
        let contents = [&contents, more].concat();
        let staged = self.outputs.stage(&contents)?;
        if self.verify {
            let blocks = self.blocks.and_then(|blocks| staged.path(blocks));
            claim.check(&Written { model: staged.path(self.model), blocks }, self.console)?;
        }
        staged.publish()?;
        self.console.line(format_args!("written to {}", self.outputs.name(self.model)));
        Ok(End::Done)
    }
}
