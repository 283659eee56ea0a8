//! The options of `viem qap`.

use std::path::PathBuf;

use clap::Parser;

use super::problem::OutputFormat;
use crate::end;
use crate::fixed::FixedOptions;
use crate::options::{ReportOptions, SearchOptions, one_of};
use viem::base::types::Cost;

const EXAMPLES: &str = "\
Examples:
  viem qap tai60a.dat -o tai60a.permutation
  viem qap tai60a.dat --preset=strong --time-limit=60 --format=sln -o tai60a.sln
  viem qap tai60a.dat --score=tai60a.sln";

/// Solves a quadratic assignment problem of two matrices, neither of which needs to be sparse or symmetric.
#[derive(Parser, Debug)]
#[command(name = "qap", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", end::CODES))]
pub(crate) struct Options {
    /// The problem, as QAPLIB has it: the size and two matrices; - is standard input
    pub(super) file: PathBuf,

    /// Score this assignment and search for none. One number per line, or a solution file of QAPLIB
    #[arg(long, value_name = "FILE", conflicts_with_all = ["initial", "fixed", "preset", "time_limit", "seed", "threads", "target", "output", "format", "verify"])]
    pub(super) score: Option<PathBuf>,

    /// An assignment to improve. The result is not worse than it
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub(super) initial: Option<PathBuf>,

    #[command(flatten)]
    pub(super) search: SearchOptions,

    /// Stop once J is at most this
    #[arg(long, value_name = "J", help_heading = "Search", allow_negative_numbers = true)]
    pub(super) target: Option<Cost>,

    #[command(flatten)]
    pub(super) fixed: FixedOptions,

    /// Where the assignment is written. Line i holds the place of object i, both from 0; - is standard output, which then
    /// carries nothing else
    #[arg(long, short, default_value = "permutation", value_name = "FILE", help_heading = "Output")]
    pub(super) output: PathBuf,

    /// How the assignment is written. One number per line, or as a solution file of QAPLIB (n, J, the place of each object
    /// from 1)
    #[arg(long, default_value = "mapping", value_name = "FORMAT", help_heading = "Output",
          value_parser = one_of(&OutputFormat::ALL, OutputFormat::name))]
    pub(super) format: OutputFormat,

    /// Recompute J from the files by independent code. A mismatch is an error
    #[arg(long, help_heading = "Output")]
    pub(super) verify: bool,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}
