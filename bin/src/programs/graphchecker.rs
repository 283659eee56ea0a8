//! `graphchecker`: says whether a file is a valid graph and, if not, what is wrong where.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::console::Console;
use crate::error::{Result, UsageError};
use crate::exit::{self, End};
use crate::given::Given;
use crate::hints;
use crate::modes::{Mode, Row, Table};
use crate::options::{self, one_of};
use viem::ground::threads;
use viem_io as io;
use viem_io::metis::{self, CheckReport, NodeWeights, RepairError};
use viem_io::{GraphFormat, Outputs, Source, parhip};

/// Checks whether a file is a valid graph, in METIS or ParHIP format, and, if not, says what is wrong where and what would be
/// right.
#[derive(Parser, Debug)]
#[command(name = "graphchecker", version, infer_long_args = true, rename_all = "snake_case", after_help = exit::CODES)]
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

    /// Write the graph to OUT in another format, if it is valid; - is standard output, which then carries nothing else
    #[arg(long, value_name = "OUT", conflicts_with = "fix")]
    convert: Option<PathBuf>,

    /// The format of --convert. metis is text, parhip binary with 64 bits for each number, parhip32 with 32 where they fit
    /// [default: metis if FILE is binary, else parhip]
    #[arg(long, value_name = "FORMAT", requires = "convert", value_parser = one_of(&GraphFormat::ALL, GraphFormat::name))]
    format: Option<GraphFormat>,

    /// Print only that something is wrong, not each fault. The exit code says so, too
    #[arg(long)]
    quiet: bool,
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    run(std::env::args_os().collect()).into()
}

/// Runs the program with a command line, whose first argument is its name; returns the exit code.
pub fn run(command_line: Vec<OsString>) -> u8 {
    exit::run(command_line, check)
}

/// Which option means something in which mode.
pub(crate) static TABLE: Table = Table {
    modes: &[Mode::Check],
    rows: &[Row::new(&[Mode::Check], &["file", "max_errors", "fix", "convert", "format", "quiet"])],
    needs: &[],
};

fn check(options: &Options, given: &Given) -> Result<End> {
    let mut outputs = Outputs::new();
    // The input may be repaired in place.
    let fix = options.fix.as_deref().map(|path| outputs.add(path, &[])).transpose()?;
    // The output may take the place of the input.
    let convert = options.convert.as_deref().map(|path| outputs.add(path, &[])).transpose()?;
    let console = given.console(options.quiet, &outputs)?;
    let mut source = Source::open(&options.file)?;
    let name = source.name().to_string();
    let threads = options::threads(None)?;
    let start = source.start();
    let is_binary = parhip::is_parhip(&start);
    if is_binary && fix.is_some() {
        let message =
            "--fix repairs text only; a binary graph that is valid is written as text with --convert";
        return Err(UsageError(message.to_owned()).into());
    }
    if is_binary || convert.is_some() {
        let graph = threads::run(threads, || io::read_graph(source, NodeWeights::Read))??;
        tell_valid(console, &name, graph.num_nodes(), graph.num_edges() as u64);
        if let Some(convert) = convert {
            let other = if is_binary { GraphFormat::Metis } else { GraphFormat::Parhip };
            let format = options.format.unwrap_or(other);
            outputs.write(&[(Some(convert), &|out| io::write_graph(out, &graph, format))])?;
            console.line(format_args!("written to {} in the format {format}", outputs.name(convert)));
            if metis::header(&start).is_some_and(|header| header.has_node_sizes || header.num_constraints > 1)
            {
                console.warn(format_args!(
                    "vertex sizes, and weights of a vertex after its first, are left out"
                ));
            }
        }
        return Ok(End::Done);
    }
    let Some(fix) = fix else {
        let report = threads::run(threads, || metis::check(source, options.max_errors))??;
        tell(console, &name, &report);
        return Ok(if report.is_valid() { End::Done } else { End::BadData });
    };
    let repair = threads::run(threads, || metis::repair(source, options.max_errors))??;
    tell(console, &name, &repair.report);
    match repair.result {
        Ok(graph) => {
            outputs.write(&[(Some(fix), &|out| graph.write(out))])?;
            console.line(format_args!(
                "repaired graph written to {}: {}",
                outputs.name(fix),
                graph.changes()
            ));
            Ok(End::Done)
        }
        Err(error @ RepairError::OutOfMemory(_)) => Err(error.into()),
        Err(error) => {
            exit::complain("graphchecker", &format_args!("{name}: cannot be repaired: {error}"));
            Ok(End::BadData)
        }
    }
}

fn tell(console: Console, name: &str, report: &CheckReport) {
    for fault in &report.faults {
        console.line(format_args!("{name}, {fault}{}", hints::on_fault(&fault.kind)));
    }
    let hidden = report.num_faults - report.faults.len() as u64;
    if hidden > 0 {
        console.line(format_args!("and {}; --max_errors shows more", counted(hidden, "more fault")));
    }
    match report.header {
        Some(header) if report.is_valid() => {
            tell_valid(console, name, header.num_nodes, header.num_edges);
        }
        _ => exit::complain(
            "graphchecker",
            &format_args!("{name}: not a valid graph, {}", counted(report.num_faults, "fault")),
        ),
    }
}

fn tell_valid(console: Console, name: &str, num_nodes: usize, num_edges: u64) {
    console.line(format_args!("{name}: {num_nodes} vertices, {num_edges} edges"));
    console.line(format_args!("The graph format seems correct."));
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
