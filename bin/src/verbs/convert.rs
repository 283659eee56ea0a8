//! `viem convert`: writes a graph in another format.

use std::io::Write;
use std::path::PathBuf;

use clap::Parser;
use serde::Serialize;

use crate::application::{self, Application, How, Input};
use crate::end::{self, End};
use crate::error::Result;
use crate::files;
use crate::job::Plan;
use crate::mesh::MeshOptions;
use crate::options::{self, ReportOptions, one_of};
use crate::report;
use crate::summary::{VERTICES, size};
use crate::verb::{Form, Verb};
use viem::graph::VertexWeights;
use viem_io as io;
use viem_io::metis::NodeWeights;
use viem_io::output::Content;
use viem_io::{GraphFormat, metis, parhip};
use viem_traffic::Format;

const EXAMPLES: &str = "\
Examples:
  viem convert mesh.graph -o mesh.parhip              binary, to be read faster
  viem convert mesh.mtx -o mesh.graph                 the pattern of a sparse matrix as a graph
  viem convert wing.msh -o wing.graph                 the elements of a mesh, joined where they share a face";

/// Writes a graph in another format, if it is valid.
#[derive(Parser, Debug)]
#[command(name = "convert", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", end::CODES))]
pub(crate) struct Options {
    /// The graph, in METIS or ParHIP format, or as a matrix (Matrix Market), JSON or GraphML; or a mesh of METIS, Gmsh, VTK or
    /// OpenFOAM (the folder of a case); - is standard input
    file: PathBuf,

    /// Kind of the file, if its content is ambiguous
    #[arg(long, value_name = "KIND", value_parser = one_of(&application::FORMATS, Format::name))]
    from: Option<Format>,

    /// Where the graph is written; - is standard output, which then carries nothing else
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// The format that is written. metis is text, parhip binary with 64 bits for each number, parhip32 with 32 where they fit
    /// [default: parhip if FILE is a METIS graph, else metis]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&GraphFormat::ALL, GraphFormat::name))]
    format: Option<GraphFormat>,

    #[command(flatten)]
    mesh: MeshOptions,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// What was written, as written to `--json`.
#[derive(Serialize)]
struct Converted {
    format: &'static str,
    num_vertices: usize,
    num_edges: usize,
    /// If vertices have several, all of which are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    num_weights: Option<usize>,
}

impl Verb for Options {
    fn set_form(&mut self, form: Form) {
        self.report.form = form;
    }

    fn run(&self) -> Result<End> {
        let mut plan = Plan::new(vec![self.file.as_path()], [])?;
        let output = plan.output("--output", &self.output)?;
        let job = plan.start(&self.report)?;
        let mut input = Input::open(&self.file)?;
        let start = input.start();
        let how = How {
            mesh: &self.mesh,
            weights: NodeWeights::Read,
            as_text: false,
            threads: options::threads(None)?,
            console: job.console,
        };
        let mut application = application::read(input, self.from, &how)?;
        let is_metis = application.is_metis;
        let is_text = is_metis && !parhip::is_parhip(&start);
        let format = self.format.unwrap_or(if is_text { GraphFormat::Parhip } else { GraphFormat::Metis });
        if !format.has_several_weights() && application.weights.is_some() {
            let name = files::name(&self.file);
            application.leave_weights(&name, job.console);
            job.console.line(format_args!("--format=metis keeps all weights"));
        }
        let Application { graph, weights, .. } = application;
        let found = Converted {
            format: format.name(),
            num_vertices: graph.num_nodes(),
            num_edges: graph.num_edges(),
            num_weights: weights.as_ref().map(VertexWeights::num_weights),
        };
        let fill = |out: &mut dyn Write| io::write_several_graph(out, &graph, weights.as_ref(), format);
        let contents: [Content<'_>; 1] = [(Some(output), &fill)];
        let report = report::of_verb("convert", self.file.as_path(), (), found);
        job.publish(&|out| report.write(out), &contents, None)?;
        let size = size(&graph, VERTICES);
        job.console
            .line(format_args!("graph of {size} written to {} in the format {format}", job.name(output)));
        if is_text && metis::header(&start).is_some_and(|header| header.has_node_sizes) {
            job.console.warn(format_args!("vertex sizes are left out"));
        }
        Ok(End::Done)
    }
}
