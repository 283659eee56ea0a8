//! The part of `generate_model` that sums recorded traffic into a communication graph.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use crate::console::{Console, ranges};
use crate::exit::{End, UsageError};
use crate::options::{self, ReportOptions, one_of};
use crate::progress::Progress;
use crate::signals::{self, First};
use crate::{files, generate_model};
use viem::ground::types::Weight;
use viem::io::metis::Content;
use viem::io::output::OutputId;
use viem::io::traffic::{
    ClassTally, Collector, Format, LeftOut, MOST_RANKS, Making, Share, Summary, Tally, TrafficError, Weighing,
};
use viem::io::{self, Outputs, ReadError, Source};

/// How recorded traffic is summed.
#[derive(Args, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Recorded traffic")]
pub(crate) struct TrafficOptions {
    /// The files are recorded traffic of this kind: sum it into a communication graph instead of
    /// partitioning. If not given, the kind is recognised by content where that is possible
    #[arg(long, value_name = "KIND", value_parser = one_of(&Format::ALL, Format::name))]
    from: Option<Format>,

    /// Weight of an edge: bytes, msgs, or ALPHA+BETA, the cost of a message and of a byte such as
    /// 1.5e-6+2e-10 [default: bytes]
    #[arg(long, value_name = "WEIGHT", value_parser = Weighing::parse)]
    weight: Option<Weighing>,

    /// Classes of traffic to sum; openmpi has E, I, S, R and C, trace has p2p, neighbour and collective
    /// [default: all but C]
    #[arg(long, value_name = "CLASS,...", value_delimiter = ',')]
    include: Option<Vec<String>>,

    /// Keep the heaviest edges only, as many as hold this share of the weight: 0.95 or 95%
    #[arg(long, value_name = "SHARE", value_parser = Share::parse)]
    top: Option<Share>,

    /// Number of ranks, if the last ones may have no traffic [default: as many as the files tell of]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(1..=MOST_RANKS))]
    ranks: Option<u64>,

    /// Number of the first rank in edge lists, 0 or 1 [default: 0 if that stands anywhere, otherwise 1]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=1))]
    first_rank: Option<u64>,
}

impl TrafficOptions {
    /// Whether the files are said to be recorded traffic.
    pub(crate) fn is_said(&self) -> bool {
        self.from.is_some()
    }

    /// An error if one of these options is there.
    pub(crate) fn refuse(&self, why: &str) -> Result<(), UsageError> {
        let given = [
            (self.from.is_some(), "--from"),
            (self.weight.is_some(), "--weight"),
            (self.include.is_some(), "--include"),
            (self.top.is_some(), "--top"),
            (self.ranks.is_some(), "--ranks"),
            (self.first_rank.is_some(), "--first_rank"),
        ];
        options::refuse(&given, why)
    }
}

/// What the program did, as written to `--json`.
#[derive(Serialize)]
struct Report<'a> {
    n: usize,
    m: usize,
    /// Sum of the weights of the edges, each once.
    weight: Weight,
    #[serde(flatten)]
    summary: &'a Summary,
    seconds: Seconds,
}

#[derive(Serialize)]
struct Seconds {
    reading: f64,
    summing: f64,
}

/// Edge weights only: processes have none.
const WEIGHTS: Content = Content { node_weights: false, edge_weights: true };

/// Where the graph is made, and of what.
pub(crate) struct Job<'a> {
    pub(crate) files: &'a [PathBuf],
    pub(crate) traffic: &'a TrafficOptions,
    pub(crate) report: &'a ReportOptions,
    pub(crate) outputs: &'a Outputs,
    pub(crate) model: OutputId,
    pub(crate) json: Option<OutputId>,
    pub(crate) console: Console,
}

/// Sums the files, of which the first is open already, and writes the graph.
pub(crate) fn sum(job: &Job<'_>, first: Source<'_>) -> anyhow::Result<End> {
    let started = Instant::now();
    let (traffic, console) = (job.traffic, job.console);
    let making = Making {
        weighing: traffic.weight.unwrap_or(Weighing::BYTES),
        top: traffic.top,
        num_ranks: traffic.ranks,
        first_rank: traffic.first_rank,
    };
    let mut collector = Collector::new(traffic.include.clone());
    let progress = Progress::new(job.report.quiet);
    signals::listen(&progress, First::Ends);
    progress.tell("reading");
    read(&mut collector, first, job)?;
    let reading = started.elapsed().as_secs_f64();
    progress.tell("summing");
    let (graph, summary) = collector.finish(&making)?;
    let summing = started.elapsed().as_secs_f64() - reading;
    drop(progress);
    tell(console, &summary);
    let (nodes, arcs) = (graph.num_nodes(), graph.num_arcs());
    console.line(format_args!("communication graph has {nodes} nodes, {arcs} edges"));
    console.line(format_args!("total weight {}", graph.total_arc_weight() / 2));

    let report = Report {
        n: nodes,
        m: graph.num_edges(),
        weight: graph.total_arc_weight() / 2,
        summary: &summary,
        seconds: Seconds { reading, summing },
    };
    job.outputs.write(&[
        (Some(job.model), &|out| io::metis::write(out, &graph, WEIGHTS)),
        (job.json, &|out| files::write_report(out, generate_model::NAME, &report)),
    ])?;
    console.line(format_args!("written to {}", job.outputs.name(job.model)));
    Ok(End::Done)
}

fn read(collector: &mut Collector, first: Source<'_>, job: &Job<'_>) -> Result<(), ReadError> {
    collector.read(first, job.traffic.from)?;
    job.files[1..].iter().try_for_each(|path| collector.read(Source::open(path)?, job.traffic.from))
}

/// The table of what was summed, and what was not.
fn tell(console: Console, summary: &Summary) {
    let Summary { format, files, classes, left_out, silent_ranks, repeated_ranks, .. } = summary;
    console.line(format_args!("files of kind {format}: {files}"));
    let width = classes.iter().map(|class| class.name.len() + class.title.len()).max().unwrap_or(0) + 2;
    let row = |name: &str, tally: &Tally, note: &str| {
        let Tally { lines, bytes, messages } = tally;
        console.line(format_args!("{name:width$} {lines:>12} {bytes:>20} {messages:>15}  {note}"));
    };
    console.line(format_args!("{:width$} {:>12} {:>20} {:>15}", "traffic", "lines", "bytes", "messages"));
    for ClassTally { name, title, is_summed, tally } in classes {
        row(&format!("{name}, {title}"), tally, if *is_summed { "summed" } else { "left out" });
    }
    let LeftOut { to_itself, elsewhere, .. } = left_out;
    for (name, tally) in [("to itself", to_itself), ("elsewhere", elsewhere)] {
        if tally.lines > 0 {
            row(name, tally, "left out");
        }
    }
    tell_left_out(console, left_out);
    if let Some(first) = summary.first_rank {
        console.line(format_args!("ranks are taken to be counted from {first}"));
    }
    let silent = format!(" ({}): their files are missing, or they sent nothing", ranges(silent_ranks));
    tell_some(console, "ranks of which nothing was recorded", silent_ranks.len() as u64, &silent);
    tell_some(console, "ranks with several files, which were added up", *repeated_ranks as u64, "");
    if summary.decimal_places > 0 {
        let places = summary.decimal_places;
        console.line(format_args!("weights are costs times 10^{places}, rounded to whole numbers"));
    }
    tell_some(
        console,
        "pairs of ranks that weigh nothing and have no edge",
        left_out.weightless_pairs as u64,
        "",
    );
    tell_some(console, "light edges left out as --top asks", left_out.light_pairs as u64, "");
}

/// What the files hold that could not be used.
fn tell_left_out(console: Console, left_out: &LeftOut) {
    if let Some((file, line)) = &left_out.first_torn {
        let first = format!("; the first is {file}, line {line}");
        tell_some(console, "lines that are torn or no traffic, left out", left_out.torn_lines, &first);
    }
    tell_some(console, "collective calls between groups, not counted", left_out.uncounted_calls, "");
    tell_some(console, "rows that the table says it leaves out", left_out.omitted_rows, "");
}

/// A line about something there may be none of.
fn tell_some(console: Console, what: &str, count: u64, note: &str) {
    if count > 0 {
        console.line(format_args!("{what}: {count}{note}"));
    }
}

/// Which errors of summing are a wrong use of options.
pub(crate) fn is_usage(error: &TrafficError) -> bool {
    use TrafficError::{BelowFirst, NoBytes, NoMessages, NoSuchClass, TooManyAsked, TooManyRanks};
    matches!(
        error,
        NoSuchClass { .. }
            | NoBytes
            | NoMessages
            | TooManyRanks { .. }
            | TooManyAsked { .. }
            | BelowFirst { .. }
    )
}
