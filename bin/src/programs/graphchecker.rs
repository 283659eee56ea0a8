//! `graphchecker`: says whether a file is a valid graph and, if not, what is wrong where.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::console::Console;
use crate::error::Result;
use crate::exit::{self, End};
use crate::given::Given;
use crate::hints;
use crate::modes::{Mode, Row, Table};
use crate::options;
use viem::ground::threads;
use viem::io::metis::{self, CheckReport, RepairError};
use viem::io::{Outputs, Source};

/// Checks whether a file is a valid METIS graph and, if not, says what is wrong where and what would be right.
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
    rows: &[Row::new(&[Mode::Check], &["file", "max_errors", "fix", "quiet"])],
    needs: &[],
};

fn check(options: &Options, given: &Given) -> Result<End> {
    let mut outputs = Outputs::new();
    // The input may be repaired in place.
    let fix = options.fix.as_deref().map(|path| outputs.add(path, &[])).transpose()?;
    let console = given.console(options.quiet, &outputs)?;
    let source = Source::open(&options.file)?;
    let name = source.name().to_string();
    let threads = options::threads(None)?;
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
            console.line(format_args!("{name}: {} vertices, {} edges", header.num_nodes, header.num_edges));
            console.line(format_args!("The graph format seems correct."));
        }
        _ => exit::complain(
            "graphchecker",
            &format_args!("{name}: not a valid graph, {}", counted(report.num_faults, "fault")),
        ),
    }
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
