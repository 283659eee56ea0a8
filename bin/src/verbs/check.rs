//! `viem check`: says whether a file is a valid graph and, if not, what is wrong where.

use std::path::PathBuf;

use clap::Parser;

use crate::application::{self, How, Input};
use crate::console::{Console, check_lines};
use crate::end::{self, End};
use crate::error::{Result, UsageError};
use crate::exit;
use crate::files;
use crate::hints;
use crate::job::{Job, Plan, end_of_lines};
use crate::mesh::MeshOptions;
use crate::options::{self, ReportOptions};
use crate::report;
use crate::verb::{Form, Verb};
use serde::Serialize;
use viem::base::text::counted;
use viem::base::threads;
use viem_io as io;
use viem_io::metis::{self, CheckReport, NodeWeights, RepairError};
use viem_io::output::OutputId;
use viem_io::{Source, parhip};

const EXAMPLES: &str = "\
Examples:
  viem check mesh.graph
  viem check mesh.graph --fix=repaired.graph";

/// Checks whether a file is a valid graph, in METIS or ParHIP format, or a valid mesh. If not, says what is wrong where and what would be
/// right.
#[derive(Parser, Debug)]
#[command(name = "check", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", end::CODES))]
pub(crate) struct Options {
    /// The file to check; - is standard input
    file: PathBuf,

    /// Number of faults to print. Further ones are counted
    #[arg(long, default_value_t = 20, value_name = "INT")]
    max_errors: usize,

    /// Write a repaired graph to OUT if all faults can be fixed without a guess. Drops edges of a vertex to itself,
    /// merges repeated neighbours (weights add up), adds missing backward edges, gives edges of two weights the larger
    /// one, drops edges of weight 0, counts vertices from 1 where the file counts from 0, and corrects the number of edges; the exit code then says whether OUT was written; - is standard output,
    /// which then carries nothing else
    #[arg(long, value_name = "OUT")]
    fix: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// What was found, as written to `--json`.
#[derive(Serialize)]
struct Checked {
    is_valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_vertices: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_edges: Option<u64>,
    num_faults: u64,
    /// Those that are printed.
    faults: Vec<String>,
}

impl Verb for Options {
    fn set_form(&mut self, form: Form) {
        self.report.form = form;
    }

    fn run(&self) -> Result<End> {
        let mut plan = Plan::new(Vec::new(), [self.file.as_path()])?;
        // The input may be repaired in place.
        let fix = self.fix.as_deref().map(|path| plan.successor("--fix", path)).transpose()?;
        let job = plan.start(&self.report)?;
        let mut input = Input::open(&self.file)?;
        let is_binary = parhip::is_parhip(&input.start());
        let input = match input {
            Input::Other(source) if !is_binary => {
                return self.check_text(&job, source, fix);
            }
            input => input,
        };
        if fix.is_some() {
            let message = match input {
                Input::Other(_) => {
                    "--fix repairs text only; viem convert writes a valid binary graph as text"
                }
                _ => "--fix repairs graphs, not meshes; viem convert writes the graph of a valid mesh",
            };
            return Err(UsageError(message.to_owned()).into());
        }
        let (mesh, weights, threads) = (&MeshOptions::default(), NodeWeights::Read, options::threads(None)?);
        let how = How { mesh, weights, as_text: false, threads, console: job.console };
        let (name, graph) = (files::name(&self.file), application::read_graph(input, &how)?.graph);
        let (vertices, edges) = (graph.num_nodes(), graph.num_edges() as u64);
        print_valid(&job, &name, vertices, edges);
        let found = Checked {
            is_valid: true,
            num_vertices: Some(vertices),
            num_edges: Some(edges),
            num_faults: 0,
            faults: Vec::new(),
        };
        let report = report::of_verb("check", self.file.as_path(), (), found);
        job.publish(&|out| report.write(out), &[], None)?;
        end_of_lines()
    }
}

impl Options {
    fn check_text(&self, job: &Job<'_>, source: Source<'_>, fix: Option<OutputId>) -> Result<End> {
        let (name, threads) = (source.name().to_owned(), options::threads(None)?);
        let Some(fix) = fix else {
            let report = threads::run(threads, || metis::check(source, self.max_errors))??;
            return self.finish(job, &name, &report, None);
        };
        let repair = threads::run(threads, || metis::repair(source, self.max_errors))??;
        match repair.result {
            Ok(graph) => {
                let changes = format!("repaired graph written to {}: {}", job.name(fix), graph.changes());
                self.finish(job, &name, &repair.report, Some((fix, &|out| graph.write(out))))?;
                job.console.line(format_args!("{changes}"));
                end_of_lines()
            }
            Err(error @ RepairError::OutOfMemory(_)) => Err(error.into()),
            Err(error) => {
                self.finish(job, &name, &repair.report, None)?;
                exit::complain(program(job.form), &format_args!("{name}: cannot be repaired: {error}"));
                Ok(End::BadData)
            }
        }
    }

    /// Prints and writes what was found.
    fn finish(
        &self,
        job: &Job<'_>,
        name: &str,
        report: &CheckReport,
        repaired: Option<(OutputId, io::output::Fill<'_>)>,
    ) -> Result<End> {
        print(job, name, report);
        let header = report.header.filter(|_| report.is_valid());
        let found = Checked {
            is_valid: report.is_valid(),
            num_vertices: header.map(|header| header.num_nodes),
            num_edges: header.map(|header| header.num_edges),
            num_faults: report.num_faults,
            faults: report.faults.iter().map(ToString::to_string).collect(),
        };
        let contents: Vec<_> = repaired.into_iter().map(|(id, fill)| (Some(id), fill)).collect();
        let json = report::of_verb("check", self.file.as_path(), (), found);
        job.publish(&|out| json.write(out), &contents, None)?;
        check_lines()?;
        Ok(if report.is_valid() { End::Done } else { End::BadData })
    }
}

/// What the program is called in messages.
fn program(form: Form) -> &'static str {
    match form {
        Form::Verb => "viem check",
        Form::VieM => "graphchecker",
    }
}

fn print(job: &Job<'_>, name: &str, report: &CheckReport) {
    let console: Console = job.console;
    for fault in &report.faults {
        console.line(format_args!("{name}, {fault}{}", hints::on_fault(&fault.kind)));
    }
    let hidden = report.num_faults - report.faults.len() as u64;
    if hidden > 0 {
        let more = counted(hidden, "more fault", "more faults");
        console.line(format_args!("and {more}; --max-errors shows more"));
    }
    match report.header {
        Some(header) if report.is_valid() => {
            print_valid(job, name, header.num_nodes, header.num_edges);
        }
        _ => {
            let faults = counted(report.num_faults, "fault", "faults");
            exit::complain(program(job.form), &format_args!("{name}: not a valid graph, {faults}"));
        }
    }
}

fn print_valid(job: &Job<'_>, name: &str, num_nodes: usize, num_edges: u64) {
    let vertices = counted(num_nodes, "vertex", "vertices");
    let edges = counted(num_edges, "edge", "edges");
    match job.form {
        Form::Verb => job.console.line(format_args!("{name} is valid: {vertices}, {edges}")),
        Form::VieM => {
            job.console.line(format_args!("{name}: {vertices}, {edges}"));
            job.console.line(format_args!("The graph format seems correct."));
        }
    }
}
