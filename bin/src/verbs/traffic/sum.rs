//! Summing recorded traffic into a communication graph.

use serde::Serialize;

use super::Task;
use super::options::{Options, SumOptions};
use crate::console::Console;
use crate::end::End;
use crate::error::{Result, UsageError};
use crate::hints;
use crate::report;
use crate::signals::First;
use crate::summary::{PROCESSES, size};
use viem::base::text::ranges;
use viem::base::types::Weight;
use viem_io as io;
use viem_io::Source;
use viem_io::metis::GraphContent;
use viem_io::output::Content;
use viem_traffic::{ClassTally, Collector, LeftOut, Summary, Tally, TrafficConfig, Weighing};

/// What was summed, as written to `--json`.
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

impl Task<'_> {
    /// Sums the files, of which the first is open already, and writes the graph.
    pub(super) fn sum(&self, first: Source<'_>) -> Result<End> {
        let Self { options: Options { files, sums, .. }, job, output, ids } = self;
        let config = TrafficConfig::new(sums.weight.as_ref().map_or(Weighing::BYTES, |weight| weight.value))
            .with_top(sums.top.as_ref().map(|top| top.value))
            .with_num_ranks(sums.ranks)
            .with_first_rank(sums.first_rank);
        let (progress, _) = job.watch(First::Ends, None);
        progress.show("reading");
        let collector = self.read_all(first)?;
        let reading = job.seconds();
        progress.show("summing");
        let (graph, summary) = collector.finish(&config)?;
        check(sums, &summary)?;
        let summing = job.seconds() - reading;
        drop(progress);
        print(job.console, &summary);
        let (num_processes, num_edges) = (graph.num_nodes(), graph.num_edges());
        let weight = graph.total_arc_weight() / 2;
        let size = size(&graph, PROCESSES);
        let report = Report {
            num_processes,
            num_edges,
            weight,
            summary: &summary,
            seconds: Seconds { reading, summing },
        };
        let report = report::of_verb("traffic", files[0].as_path(), self.options.of_sums(), report);
        let names = summary.ids.as_deref().unwrap_or_default();
        let contents: [Content<'_>; 2] = [
            (*ids, &|out| names.iter().try_for_each(|id| writeln!(out, "{id}"))),
            (Some(*output), &|out| io::metis::write(out, &graph, WEIGHTS)),
        ];
        job.publish(&|out| report.write(out), &contents, None)?;
        job.console
            .line(format_args!("graph of {size}, total weight {weight}, written to {}", job.name(*output)));
        Ok(End::Done)
    }

    /// Reads all files.
    fn read_all(&self, first: Source<'_>) -> Result<Collector> {
        let Options { files, from, sums, .. } = self.options;
        let collector = Collector::new(sums.include.clone())
            .with_sizes(sums.sizes.as_ref().map(|sizes| sizes.value))
            .with_adapters(sums.nics);
        let mut collector = if sums.renumber.is_some() { collector.renumbered() } else { collector };
        collector.read(first, *from)?;
        files[1..].iter().try_for_each(|path| collector.read(Source::open(path)?, *from))?;
        Ok(collector)
    }
}

/// An error if an option is given that the kind of the files has no use for.
fn check(sums: &SumOptions, summary: &Summary) -> Result<(), UsageError> {
    let format = summary.format;
    let has_sizes = [EDGES, "json", "graphml"].contains(&format);
    let misused = [
        ("first-rank", "edge lists", sums.first_rank.is_some() && summary.first_rank.is_none()),
        ("renumber", "edge lists", sums.renumber.is_some() && format != EDGES),
        ("nics", "schedules of GOAL", sums.nics.is_some() && format != GOAL),
        ("sizes", "edges in lists, JSON and GraphML", sums.sizes.is_some() && !has_sizes),
    ];
    match misused.iter().find(|(_, _, is_misused)| *is_misused) {
        Some((option, what, _)) => Err(UsageError(format!(
            "--{option} is for {what}; these files are of kind {format}: leave it out"
        ))),
        None => Ok(()),
    }
}

/// The table of what was summed, and what was not.
fn print(console: Console, summary: &Summary) {
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
    print_left_out(console, left_out);
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
    print_some(console, "ranks of which nothing was recorded", silent_ranks.len() as u64, &silent);
    print_some(console, "ranks with several files, which were added up", *repeated_ranks as u64, "");
    if summary.decimal_places > 0 {
        let places = summary.decimal_places;
        console.line(format_args!("weights are costs times 10^{places}, rounded to whole numbers"));
    }
    print_some(
        console,
        "pairs of ranks that weigh nothing and have no edge",
        left_out.weightless_pairs as u64,
        "",
    );
    print_some(console, "light edges left out as --top asks", left_out.light_pairs as u64, "");
    hints::warn_of_traffic(console, &summary.notes);
}

/// What the files hold that could not be used.
fn print_left_out(console: Console, left_out: &LeftOut) {
    if let Some((file, line)) = &left_out.first_torn {
        let first = format!("; the first is {file}, line {line}");
        print_some(console, "lines that are torn or hold no traffic, left out", left_out.torn_lines, &first);
    }
    print_some(
        console,
        "collective calls between groups, or of unknown ones, not counted",
        left_out.uncounted_calls,
        "",
    );
    print_some(
        console,
        "connections of communicators whose ranks are not known, left out",
        left_out.unplaced_connections,
        "",
    );
    print_some(console, "rows that the table says it omits", left_out.omitted_rows, "");
}

/// A line about something there may be none of.
fn print_some(console: Console, what: &str, count: u64, note: &str) {
    if count > 0 {
        console.line(format_args!("{what}: {count}{note}"));
    }
}
