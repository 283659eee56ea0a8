//! The options of `viem traffic`.

use std::path::{Path, PathBuf};

use clap::{Args, Parser};
use serde::{Serialize, Serializer};

use crate::end;
use crate::error::UsageError;
use crate::files;
use crate::options::{self, ReportOptions, Typed, one_of, typed};
use viem_traffic::{Format, MOST_RANKS, Share, Sizes, Weighing};
use viem_workload::generate::{Pattern, Size};

const EXAMPLES: &str = "\
Examples:
  viem traffic job.prof -o job.graph                  what Open MPI's monitoring has recorded
  viem traffic ranks/*.trace --weight=msgs            messages instead of bytes, of all ranks
  viem traffic job.goal --workload -o job.workload    messages in their order, to be simulated
  viem traffic --pattern=mesh:8x8 -o mesh.graph       a pattern to try";

/// The files of the result, unless another is named.
const GRAPH: &str = "model.graph";
const WORKLOAD: &str = "job.workload";

/// Makes the communication graph of a job from recorded traffic, from a workload, or from a pattern.
#[derive(Parser, Debug)]
#[command(name = "traffic", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", end::CODES))]
pub(crate) struct Options {
    /// Files of recorded traffic, of one kind, or a workload; - is standard input
    #[arg(required_unless_present = "pattern", value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// What the files are, where their content leaves that open
    #[arg(long, value_name = "KIND", value_parser = one_of(&Format::ALL, Format::name))]
    pub(super) from: Option<Format>,

    #[command(flatten)]
    pub(super) sums: SumOptions,

    #[command(flatten)]
    pub(super) workload: WorkloadOptions,

    #[command(flatten)]
    pub(super) pattern: PatternOptions,

    #[command(flatten)]
    pub(super) result: ResultOptions,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// How recorded traffic is summed.
#[derive(Args, Clone, Debug, Serialize)]
#[command(next_help_heading = "Recorded traffic")]
pub(super) struct SumOptions {
    /// Weight of an edge. Bytes, msgs, or ALPHA+BETA, the cost of a message and of a byte such as 1.5e-6+2e-10
    /// [default: bytes]
    #[arg(long, value_name = "WEIGHT", value_parser = typed(Weighing::parse))]
    pub(super) weight: Option<Typed<Weighing>>,

    /// What a column called size holds in a table that counts messages, too. The bytes of all messages of a line, or of
    /// each
    #[arg(hide_short_help = true, long, value_name = "all|each", value_parser = typed(sizes))]
    pub(super) sizes: Option<Typed<Sizes>>,

    /// Classes of traffic to sum. openmpi has E, I, S, R and C, trace has p2p, neighbour and collective [default: all
    /// but C]
    #[arg(long, value_name = "CLASS,...", value_delimiter = ',')]
    pub(super) include: Option<Vec<String>>,

    /// Keep the heaviest edges only, as many as hold this share of the weight. 0.95 or 95%
    #[arg(long, value_name = "SHARE", value_parser = typed(Share::parse))]
    pub(super) top: Option<Typed<Share>>,

    /// Number of ranks; needed if the highest ranks have no traffic [default: by files]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(1..=MOST_RANKS))]
    pub(super) ranks: Option<u64>,

    /// Number of the first rank in edge lists, 0 or 1 [default: 0 if that occurs anywhere, else 1]
    #[arg(hide_short_help = true, long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=1))]
    pub(super) first_rank: Option<u64>,

    /// Number of network adapters of each rank of a GOAL schedule, each of which becomes a vertex. Adapter `nic` of rank r
    /// is vertex r times this plus nic [default: a rank is a vertex]
    #[arg(hide_short_help = true, long, value_name = "INT", value_parser = clap::value_parser!(u64).range(1..=MOST_RANKS))]
    pub(super) nics: Option<u64>,

    /// Leave out the ids that no line of an edge list mentions, and write the others. Line i holds the id of vertex i,
    /// from 0; ids may then be any numbers below 2^64
    #[arg(hide_short_help = true, long, value_name = "FILE", conflicts_with = "first_rank")]
    #[serde(serialize_with = "name")]
    pub(super) renumber: Option<PathBuf>,
}

/// A file as reports call it.
fn name<S: Serializer>(file: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    file.as_deref().map(files::name).serialize(serializer)
}

/// Parses what a size is that of.
fn sizes(text: &str) -> Result<Sizes, String> {
    match text {
        "all" => Ok(Sizes::OfAll),
        "each" => Ok(Sizes::OfEach),
        _ => Err("it is all or each".to_owned()),
    }
}

/// Messages in their order instead of a graph.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Workloads")]
pub(crate) struct WorkloadOptions {
    /// Make a workload for viem simulate, not a graph
    #[arg(long)]
    pub(crate) workload: bool,

    /// Bytes of a flit in the workload [default: 64]
    #[arg(long, value_name = "INT", requires = "workload", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    flit_bytes: Option<u64>,
}

impl WorkloadOptions {
    /// Bytes of a flit.
    pub(crate) fn flit_bytes(&self) -> u64 {
        self.flit_bytes.unwrap_or(64)
    }
}

/// Where the result goes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ResultOptions {
    /// Where the graph or the workload is written; - is standard output, which then carries nothing else [default: model.graph,
    /// or job.workload]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ResultOptions {
    /// The file of the graph, or of the workload if that is made.
    pub(crate) fn file(&self, workload: &WorkloadOptions) -> &Path {
        let default = if workload.workload { WORKLOAD } else { GRAPH };
        self.output.as_deref().unwrap_or(Path::new(default))
    }
}

/// The pattern of a job that needs no recording.
#[derive(Args, Clone, Debug, Serialize)]
#[command(next_help_heading = "Patterns")]
pub(super) struct PatternOptions {
    /// The traffic of a pattern: ring:64, mesh:8x8, butterfly:64, tree:63, transpose:64 or random:200
    // Clap is given no conflict with the files: it would then accept --rounds and the like beside them.
    #[arg(long, value_name = "PATTERN:SIZE", value_parser = typed(pattern))]
    pub(super) pattern: Option<Typed<(Pattern, Vec<u32>)>>,

    /// Number of rounds
    #[arg(long, default_value_t = Size::default().rounds, value_name = "INT", requires = "pattern", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(super) rounds: u64,

    /// Length of a message
    #[arg(hide_short_help = true, long, default_value_t = Size::default().flits, value_name = "INT", requires = "pattern", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(super) flits: u64,

    /// Cycles of computation for each flit that is sent or received
    #[arg(hide_short_help = true, long, default_value_t = Size::default().cycles, value_name = "INT", requires = "pattern", value_parser = clap::value_parser!(u64).range(0..=1 << 20))]
    pub(super) cycles: u64,

    /// Number the tasks at random
    #[arg(hide_short_help = true, long, requires = "pattern")]
    pub(super) shuffle: bool,

    /// Seed of all random choices
    #[arg(long, short, default_value = "0", value_name = "INT", requires = "pattern", allow_negative_numbers = true, value_parser = options::seed)]
    #[serde(skip)] // it has a field of its own
    pub(super) seed: u64,
}

/// Parses a pattern and its size.
fn pattern(text: &str) -> Result<(Pattern, Vec<u32>), String> {
    let fault = || {
        let names = Pattern::ALL.map(|pattern| pattern.name().to_owned());
        format!("a pattern is one of {} with its size, such as ring:64 or mesh:8x8", names.join(", "))
    };
    let (name, size) = text.split_once(':').ok_or_else(fault)?;
    let pattern: Pattern = name.parse().map_err(|_| fault())?;
    let lengths: Result<Vec<u32>, _> = size.split('x').map(str::parse).collect();
    Ok((pattern, lengths.map_err(|_| fault())?))
}

/// The options that decide the result, as written to `--json`: those of the work that was done.
#[derive(Serialize)]
pub(super) struct JsonOptions<'a> {
    workload: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    flit_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'static str>,
    #[serde(flatten)]
    sums: Option<&'a SumOptions>,
    #[serde(flatten)]
    pattern: Option<&'a PatternOptions>,
}

impl Options {
    /// Those of a workload, or of its graph.
    pub(super) fn of_workload(&self) -> JsonOptions<'_> {
        let workload = self.workload.workload;
        let flit_bytes = workload.then(|| self.workload.flit_bytes());
        JsonOptions { workload, flit_bytes, from: None, sums: None, pattern: None }
    }

    /// Those of sums of recorded traffic.
    pub(super) fn of_sums(&self) -> JsonOptions<'_> {
        JsonOptions { from: self.from.map(Format::name), sums: Some(&self.sums), ..self.of_workload() }
    }

    /// Those of a pattern, whose flits are not of a number of bytes.
    pub(super) fn of_pattern(&self) -> JsonOptions<'_> {
        JsonOptions { flit_bytes: None, pattern: Some(&self.pattern), ..self.of_workload() }
    }

    /// An error if an option about recorded traffic is given, and nothing is summed.
    pub(super) fn check_unsummed(&self, what: &str) -> Result<(), UsageError> {
        let SumOptions { weight, sizes, include, top, ranks, first_rank, nics, renumber } = &self.sums;
        let given = [
            ("--from", self.from.is_some()),
            ("--weight", weight.is_some()),
            ("--sizes", sizes.is_some()),
            ("--include", include.is_some()),
            ("--top", top.is_some()),
            ("--ranks", ranks.is_some()),
            ("--first-rank", first_rank.is_some()),
            ("--nics", nics.is_some()),
            ("--renumber", renumber.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => {
                Err(UsageError(format!("{name} is for sums of recorded traffic, and {what}; leave it out")))
            }
            None => Ok(()),
        }
    }
}
