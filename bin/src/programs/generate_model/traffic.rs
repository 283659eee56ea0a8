//! Summing recorded traffic into a communication graph.

use std::time::Instant;

use serde::Serialize;

use super::destination::Destination;
use super::options::{NAME, Options};
use crate::console::Console;
use crate::error::{Result, UsageError};
use crate::exit::End;
use crate::hints;
use crate::progress::Progress;
use crate::report::JsonReport;
use crate::signals::{self, First};
use viem::ground::text::ranges;
use viem::ground::types::Weight;
use viem_io as io;
use viem_io::metis::GraphContent;
use viem_io::{ReadError, Source};
use viem_traffic::{ClassTally, Collector, LeftOut, Summary, Tally, TrafficConfig, TrafficNote, Weighing};

/// What the program did, as written to `--json`.
#[derive(Serialize)]
struct Report<'a> {
    num_processes: usize,
    num_edges: usize,
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

/// The kind of file that numbers vertices at will.
const EDGES: &str = "edges";

/// The kind of file that may name network adapters.
const GOAL: &str = "goal";

/// Edge weights only: processes have none.
const WEIGHTS: GraphContent = GraphContent::EDGE_WEIGHTS;

/// Sums the files, of which the first is open already, and writes the graph.
pub(super) fn sum(options: &Options, first: Source<'_>, to: &Destination) -> Result<End> {
    let started = Instant::now();
    let (traffic, console) = (&options.traffic, to.console);
    let config = TrafficConfig::new(traffic.weight.unwrap_or(Weighing::BYTES))
        .with_top(traffic.top)
        .with_num_ranks(traffic.ranks)
        .with_first_rank(traffic.first_rank);
    let collector =
        Collector::new(traffic.include.clone()).with_sizes(traffic.sizes).with_adapters(traffic.nics);
    let mut collector = if traffic.renumber.is_some() { collector.renumbered() } else { collector };
    let progress = Progress::new(options.report.quiet);
    signals::listen(&progress, First::Ends);
    progress.tell("reading");
    read(&mut collector, first, options)?;
    let reading = started.elapsed().as_secs_f64();
    progress.tell("summing");
    let (graph, summary) = collector.finish(&config)?;
    if let (Some(_), None) = (traffic.first_rank, summary.first_rank) {
        let message = format!(
            "--first_rank is for edge lists; these files are of kind {}: leave it out",
            summary.format
        );
        return Err(UsageError(message).into());
    }
    let has_sizes = [EDGES, "json", "graphml"].contains(&summary.format);
    let misused = [
        ("renumber", "edge lists", traffic.renumber.is_some() && summary.format != EDGES),
        ("nics", "schedules of GOAL", traffic.nics.is_some() && summary.format != GOAL),
        ("sizes", "edges in lists, JSON and GraphML", traffic.sizes.is_some() && !has_sizes),
    ];
    if let Some((option, what, _)) = misused.iter().find(|(_, _, is_misused)| *is_misused) {
        let message =
            format!("--{option} is for {what}; these files are of kind {}: leave it out", summary.format);
        return Err(UsageError(message).into());
    }
    let summing = started.elapsed().as_secs_f64() - reading;
    drop(progress);
    tell(console, &summary);
    let (nodes, arcs) = (graph.num_nodes(), graph.num_arcs());
    console.line(format_args!("communication graph has {nodes} nodes, {arcs} edges"));
    console.line(format_args!("total weight {}", graph.total_arc_weight() / 2));

    let report = Report {
        num_processes: nodes,
        num_edges: graph.num_edges(),
        weight: graph.total_arc_weight() / 2,
        summary: &summary,
        seconds: Seconds { reading, summing },
    };
    let report = JsonReport::new(NAME, options.files[0].as_path(), (), report);
    let ids = summary.ids.as_deref().unwrap_or_default();
    to.outputs.write(&[
        (to.ids, &|out| ids.iter().try_for_each(|id| writeln!(out, "{id}"))),
        (Some(to.model), &|out| io::metis::write(out, &graph, WEIGHTS)),
        (to.json, &|out| report.write(out)),
    ])?;
    console.line(format_args!("written to {}", to.outputs.name(to.model)));
    Ok(End::Done)
}

fn read(collector: &mut Collector, first: Source<'_>, options: &Options) -> Result<(), ReadError> {
    let from = options.traffic.from;
    collector.read(first, from)?;
    options.files[1..].iter().try_for_each(|path| collector.read(Source::open(path)?, from))
}

/// The table of what was summed, and what was not.
fn tell(console: Console, summary: &Summary) {
    let Summary { format, files, classes, left_out, silent_ranks, repeated_ranks, .. } = summary;
    console.line(format_args!("files of kind {format}: {files}"));
    let width = classes.iter().map(|class| class.name.len() + class.title.len()).max().unwrap_or(0) + 2;
    let row = |name: &str, tally: &Tally, note: &str| {
        let Tally { lines, bytes, messages, .. } = tally;
        console.line(format_args!("{name:width$} {lines:>12} {bytes:>20} {messages:>15}  {note}"));
    };
    console.line(format_args!("{:width$} {:>12} {:>20} {:>15}", "traffic", "lines", "bytes", "messages"));
    for ClassTally { name, title, is_summed, tally, .. } in classes {
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
        console.line(format_args!("ranks are assumed to count from {first}"));
    }
    if summary.unmentioned_ids > 0 {
        console.line(format_args!(
            "ids that no line mentions, which are vertices without edges: {}; --renumber=FILE leaves them out",
            summary.unmentioned_ids
        ));
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
    warn(console, &summary.notes);
}

/// Says what the user should know of recorded traffic.
pub(super) fn warn(console: Console, notes: &[TrafficNote]) {
    for note in notes {
        console.warn(format_args!("{note}{}", hints::on_traffic_note(note)));
    }
}

/// What the files hold that could not be used.
fn tell_left_out(console: Console, left_out: &LeftOut) {
    if let Some((file, line)) = &left_out.first_torn {
        let first = format!("; the first is {file}, line {line}");
        tell_some(console, "lines that are torn or hold no traffic, left out", left_out.torn_lines, &first);
    }
    tell_some(
        console,
        "collective calls between groups, or of unknown ones, not counted",
        left_out.uncounted_calls,
        "",
    );
    tell_some(
        console,
        "connections of communicators whose ranks are not known, left out",
        left_out.unplaced_connections,
        "",
    );
    tell_some(console, "rows that the table says it omits", left_out.omitted_rows, "");
}

/// A line about something there may be none of.
fn tell_some(console: Console, what: &str, count: u64, note: &str) {
    if count > 0 {
        console.line(format_args!("{what}: {count}{note}"));
    }
}
