//! `viem machine`: prints what a machine was understood as, draws it, and writes it in other tools' forms.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Parser;
use serde::Serialize;

use crate::console::Console;
use crate::end::{self, End};
use crate::error::{Result, UsageError};
use crate::files;
use crate::job::{Plan, end_of_lines};
use crate::machine::{self, MachineDetails, MachineOptions, SPEC};
use crate::options::ReportOptions;
use crate::report;
use crate::verb::{Form, Verb};
use viem::base::text::counted;
use viem::base::types::{Distance, PeId};
use viem::machine::{DistanceOracle as _, Distances, Hierarchy, Interconnect, Machine, Nodes};
use viem_io::output::Content;
use viem_io::target::{self, Base};
use viem_report::picture::draw_machine;

const EXAMPLES: &str = "\
Examples:
  viem machine slurm                                  what the job that this runs in looks like
  viem machine torus:8x8 --picture=torus.svg
  viem machine 4:16:2 -d 1:10:100 --scotch=cluster.tgt --hwloc=cluster.txt --matrix=cluster.matrix";

/// Prints what a machine is understood as: levels, distances, nodes, sizes; draws it, and writes it in other tools' forms.
#[derive(Parser, Debug)]
#[command(name = "machine", version, override_usage = "viem machine [OPTIONS] <SPEC>", after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", end::CODES))]
pub(crate) struct Options {
    #[arg(value_name = "SPEC", help = SPEC, required_unless_present = "machine")]
    spec: Option<String>,

    // As other verbs take it: a command line of theirs can be tried here.
    #[arg(long, short, hide = true, conflicts_with = "spec")]
    machine: Option<String>,

    #[command(flatten)]
    details: MachineDetails,

    /// Draw the distances between PEs into an SVG file
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    picture: Option<PathBuf>,

    /// Write the machine as a target file of Scotch
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    scotch: Option<PathBuf>,

    /// Write a tree as a synthetic topology of hwloc, as lstopo -i takes it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    hwloc: Option<PathBuf>,

    /// Write the distances between all PEs as a matrix, a row on each line
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    matrix: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// Most PEs whose distances are listed or written: 2^28 numbers.
const MOST_LISTED: usize = 1 << 14;

/// Most PEs from which distances are counted; of more, that many are taken at equal steps.
const MOST_COUNTED: usize = 1 << 10;

/// Most different distances that are printed.
const MOST_PRINTED: usize = 16;

/// Most nodes that are named.
const MOST_NODES: usize = 8;

/// What is known of a machine, as written to `--json`.
#[derive(Serialize)]
struct Understood {
    /// Places for processes.
    places: u64,
    /// Number of PEs of each node, if it has several.
    pes_of_nodes: Vec<usize>,
    /// How many ordered pairs of PEs have each distance; of large machines, those from a sample of PEs.
    distances: Vec<Pairs>,
    is_sample: bool,
}

#[derive(Clone, Copy, Serialize)]
struct Pairs {
    distance: Distance,
    pairs: u64,
}

impl Verb for Options {
    fn set_form(&mut self, form: Form) {
        self.report.form = form;
    }

    fn run(&self) -> Result<End> {
        let spec = self.spec.as_ref().or(self.machine.as_ref()).expect("one is required");
        let options = MachineOptions::new(spec.clone(), self.details.clone());
        let mut plan = Plan::new(options.files().collect(), [])?;
        let picture = plan.optional("--picture", self.picture.as_deref())?;
        let scotch = plan.optional("--scotch", self.scotch.as_deref())?;
        let hwloc = plan.optional("--hwloc", self.hwloc.as_deref())?;
        let matrix = plan.optional("--matrix", self.matrix.as_deref())?;
        let job = plan.start(&self.report)?;
        let machine = options.build(job.console)?;
        let machine = machine.as_ref();
        let distances = machine.distances()?;
        self.check_size(machine)?;
        let base = scotch.map(|_| base_of(machine, &distances));
        let synthetic = hwloc.map(|_| synthetic_of(machine)).transpose()?.unwrap_or_default();
        let understood = understood(machine, &distances);
        machine::print(job.console, job.form, machine);
        print(job.console, machine, &understood);
        let drawn = picture.map(|_| draw_machine(&distances, &title(machine))).unwrap_or_default();
        let contents: [Content<'_>; 4] = [
            (picture, &|out| out.write_all(drawn.as_bytes())),
            (scotch, &|out| base.iter().try_for_each(|base| target::write(out, base))),
            (hwloc, &|out| writeln!(out, "{synthetic}")),
            (matrix, &|out| write_rows(&distances, out)),
        ];
        let report = report::of_verb("machine", None, (), understood).on(options.report(machine));
        job.publish(&|out| report.write(out), &contents, None)?;
        let files = [&self.picture, &self.scotch, &self.hwloc, &self.matrix];
        let names: Vec<String> = files.into_iter().flatten().map(|path| files::name(path)).collect();
        if !names.is_empty() {
            job.console.line(format_args!("written: {}", names.join(", ")));
        }
        end_of_lines()
    }
}

impl Options {
    /// An error if all distances of so large a machine would be written.
    fn check_size(&self, machine: &dyn Machine) -> Result<(), UsageError> {
        let is_listed = self.matrix.is_some() || self.scotch.is_some() && known_base(machine).is_none();
        if is_listed && machine.num_pes() > MOST_LISTED {
            let message = format!(
                "the distances of {} PEs are too many to write, {MOST_LISTED} PEs are the most; give --pes for a part of them",
                machine.num_pes()
            );
            return Err(UsageError(message));
        }
        Ok(())
    }
}

fn title(machine: &dyn Machine) -> String {
    format!("{}, {}", machine.describe(), counted(machine.num_pes(), "PE", "PEs"))
}

fn understood(machine: &dyn Machine, distances: &Distances) -> Understood {
    let nodes = Nodes::of(machine);
    let mut pes_of_nodes = vec![0; nodes.hosts().len()];
    (0..machine.num_pes() as PeId).for_each(|pe| pes_of_nodes[nodes.node(pe)] += 1);
    Understood {
        places: machine.room(),
        pes_of_nodes,
        distances: pairs_of_each(distances),
        is_sample: machine.num_pes() > MOST_COUNTED,
    }
}

/// Counts the pairs of each distance, from all PEs or from a sample of them.
fn pairs_of_each(distances: &Distances) -> Vec<Pairs> {
    let (num_pes, rows) = (distances.num_pes(), distances.num_pes().min(MOST_COUNTED));
    let all: Vec<PeId> = (0..num_pes as PeId).collect();
    let mut counts: BTreeMap<Distance, u64> = BTreeMap::new();
    for from in (0..rows).map(|row| row * num_pes / rows) {
        let row = distances.row_of(from as PeId, &all);
        for (_, distance) in row.into_iter().enumerate().filter(|&(to, _)| to != from) {
            *counts.entry(distance).or_default() += 1;
        }
    }
    counts.into_iter().map(|(distance, pairs)| Pairs { distance, pairs }).collect()
}

/// Writes a row of distances on each line.
fn write_rows(distances: &Distances, out: &mut dyn Write) -> io::Result<()> {
    distances.rows().try_for_each(|row| {
        let row: Vec<String> = row.iter().map(Distance::to_string).collect();
        writeln!(out, "{}", row.join(" "))
    })
}

/// The distances of PE 1 to 0, of 2 to 0 and 1, and so on.
fn triangle(distances: &Distances) -> Vec<Distance> {
    distances.rows().enumerate().flat_map(|(from, row)| row.into_iter().take(from)).collect()
}

/// The machine as Scotch has it: by its kind, or else by its distances.
fn base_of(machine: &dyn Machine, distances: &Distances) -> Base {
    known_base(machine).unwrap_or_else(|| Base::Decomposition {
        capacities: machine.capacities().into_iter().map(|capacity| capacity.max(1)).collect(),
        domains: target::balanced_domains(machine.num_pes()),
        triangle: triangle(distances),
    })
}

/// The machine as Scotch has it by its kind: a tree whose distances rise, or a grid of PEs whose hops have length 1.
fn known_base(machine: &dyn Machine) -> Option<Base> {
    if let Some(hierarchy) = machine.hierarchy() {
        let (arities, distances) = (hierarchy.arities().to_vec(), hierarchy.distances().to_vec());
        return distances.is_sorted().then_some(Base::Tree { arities, distances });
    }
    let Interconnect::Grid(grid) = machine.interconnect() else { return None };
    let is_closed = grid.dimensions().first()?.is_closed;
    let is_plain = grid.vertex().num_pes() == 1 && grid.hop() == 1;
    let are_alike = grid.dimensions().iter().all(|dimension| dimension.is_closed == is_closed);
    let lengths = grid.dimensions().iter().map(|dimension| dimension.length).collect();
    (is_plain && are_alike && grid.num_pes() == machine.num_pes())
        .then_some(Base::Grid { lengths, is_closed })
}

/// The kinds of objects of hwloc that hold a core, from the inside out; all further ones are groups.
const KINDS: [&str; 2] = ["core", "package"];

/// A tree as a synthetic topology of hwloc, outermost level first.
fn synthetic_of(machine: &dyn Machine) -> Result<String, UsageError> {
    let tree: &Hierarchy = machine.hierarchy().ok_or_else(|| {
        UsageError("--hwloc is for regular trees, which hwloc can say in one line; leave it out".to_owned())
    })?;
    let level =
        |(level, arity): (usize, &u32)| format!("{}:{arity}", KINDS.get(level).copied().unwrap_or("group"));
    let mut words: Vec<String> = tree.arities().iter().enumerate().map(level).collect();
    words.reverse();
    words.push("pu:1".to_owned());
    Ok(words.join(" "))
}

/// Prints sizes, levels or distances, and nodes.
fn print(console: Console, machine: &dyn Machine, understood: &Understood) {
    let pes = machine.num_pes();
    if understood.places != pes as u64 {
        let places = counted(understood.places, "place", "places");
        console.line(format_args!("{places} for processes on {}", counted(pes, "PE", "PEs")));
    }
    match machine.hierarchy() {
        Some(tree) => print_levels(console, tree),
        None => print_distances(console, understood),
    }
    print_nodes(console, machine, &understood.pes_of_nodes);
}

fn print_levels(console: Console, tree: &Hierarchy) {
    console.line(format_args!("{:>5} {:>8} {:>12} {:>12}", "level", "members", "PEs", "distance"));
    let mut size = 1u64;
    for (level, (arity, distance)) in tree.arities().iter().zip(tree.distances()).enumerate() {
        size *= u64::from(*arity);
        console.line(format_args!("{:>5} {arity:>8} {size:>12} {distance:>12}", level + 1));
    }
}

fn print_distances(console: Console, understood: &Understood) {
    let distances = &understood.distances;
    let all: u64 = distances.iter().map(|pairs| pairs.pairs).sum();
    let sample = if understood.is_sample { ", from a sample of PEs" } else { "" };
    console.line(format_args!("{:>12} {:>14}{sample}", "distance", "pairs of PEs"));
    for Pairs { distance, pairs } in distances.iter().take(MOST_PRINTED) {
        let share = 100.0 * *pairs as f64 / all as f64;
        console.line(format_args!("{distance:>12} {share:>12.2} %"));
    }
    if let Some(farthest) = distances.last().filter(|_| distances.len() > MOST_PRINTED) {
        let more = distances.len() - MOST_PRINTED;
        console.line(format_args!("and {more} more distances, up to {}", farthest.distance));
    }
}

fn print_nodes(console: Console, machine: &dyn Machine, pes_of_nodes: &[usize]) {
    let nodes = Nodes::of(machine);
    if pes_of_nodes.len() < 2 && !nodes.are_named() {
        return;
    }
    let (least, most) = (pes_of_nodes.iter().min().unwrap_or(&0), pes_of_nodes.iter().max().unwrap_or(&0));
    let sizes = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let unit = if sizes == "1" { "PE" } else { "PEs" };
    let count = counted(pes_of_nodes.len(), "node", "nodes");
    let names = match nodes.are_named() {
        true => {
            let hosts = nodes.hosts();
            let more = if hosts.len() > MOST_NODES { ", ..." } else { "" };
            format!(": {}{more}", hosts[..hosts.len().min(MOST_NODES)].join(", "))
        }
        false => String::new(),
    };
    console.line(format_args!("{count} of {sizes} {unit}{names}"));
}
