//! Placements of experts.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::options::{NAME, Options};
use crate::error::Result;
use crate::exit::End;
use crate::experts::{self, Row, Rows};
use crate::files;
use crate::given::Given;
use crate::machine::{self, JsonMachine};
use crate::options;
use crate::progress::Progress;
use crate::signals::{self, First, StopAtSignal};
use viem::io::{Outputs, Source};
use viem::mapping::solve::MapPreset;
use viem::workload::experts::{ExpertConfig, ExpertCopies, ExpertId, ExpertRouting, place_experts, text};

/// The file of the placement, unless another one is asked for.
const PLACEMENT: &str = "experts.json";

/// What was done, as written to `--json`.
#[derive(Serialize)]
struct Report {
    trace: String,
    experts: ExpertId,
    layers: usize,
    tokens: u64,
    token_bytes: u64,
    /// Slots of a layer.
    slots: usize,
    seed: u64,
    machine: JsonMachine,
    preconfiguration_mapping: MapPreset,
    imbalance: f64,
    /// The placement that was found, then others.
    placements: Vec<Row>,
    seconds: f64,
}

/// Places the experts of a trace.
pub(super) fn place(options: &Options, experts: ExpertId, given: &Given) -> Result<End> {
    let replicas = options.replicas.as_deref();
    let inputs: Vec<&Path> = [options.file.as_path()]
        .into_iter()
        .chain(options.machine.files())
        .chain(replicas.and_then(file_of_replicas))
        .collect();
    files::probe_inputs(&inputs)?;
    let mut outputs = Outputs::new();
    let path = if given.has("output_filename") { &options.output_filename } else { Path::new(PLACEMENT) };
    let output = outputs.add(path, &inputs)?;
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let console = given.console(options.report.quiet, &outputs)?;
    let threads = options::threads(options.threads)?;
    let imbalance = options.sharing.imbalance()?;
    let machine = options.machine.build(console)?;
    let machine = machine.as_ref();
    let routing = experts::read(Source::open(&options.file)?, experts, console)?;
    machine::tell(console, machine);
    let copies = copies(replicas, &routing)?;
    let config = ExpertConfig::preset(options.preconfiguration_mapping)
        .with_seed(options.seed)
        .with_threads(threads)
        .with_imbalance(imbalance);
    let progress = Progress::new(options.report.quiet);
    let received = signals::listen(&progress, First::AsksToStop);
    let started = Instant::now();
    let found = {
        let observer = StopAtSignal { observer: progress, received: received.clone() };
        place_experts(&routing, &copies, machine, &config, &observer)?
    };
    let seconds = started.elapsed().as_secs_f64();
    console.line(format_args!("time spent for mapping {seconds:.6}"));
    let name = outputs.name(output).to_owned();
    let rows = Rows::new(&options.experts, (&routing, machine), &copies, (name.clone(), &found.score))?;
    rows.tell(console);
    let gain = rows.gain();
    let report = Report {
        trace: files::name(&options.file),
        experts,
        layers: routing.num_layers(),
        tokens: routing.num_tokens(),
        token_bytes: options.experts.unit(),
        slots: found.placement.num_slots(),
        seed: options.seed,
        machine: options.machine.report(machine),
        preconfiguration_mapping: options.preconfiguration_mapping,
        imbalance: 100.0 * imbalance,
        placements: rows.rows,
        seconds,
    };
    outputs.write(&[
        (Some(output), &|out| text::write_placement(out, &found.placement)),
        (json, &|out| files::write_report(out, NAME, &report)),
    ])?;
    console.line(format_args!("{gain:.1} % less into nodes than in the order of numbers; written to {name}"));
    Ok(received.interrupt().map_or(End::Done, End::Signal))
}

/// The file that `--replicas` names, if it is no number.
fn file_of_replicas(replicas: &str) -> Option<&Path> {
    replicas.parse::<usize>().is_err().then(|| Path::new(replicas))
}

/// How many copies each expert has.
fn copies(replicas: Option<&str>, routing: &ExpertRouting) -> Result<ExpertCopies> {
    let Some(replicas) = replicas else { return Ok(ExpertCopies::single(routing)) };
    Ok(match file_of_replicas(replicas) {
        Some(path) => {
            let source = Source::open(path).map_err(|error| error.or_else_is("a number of replicas"))?;
            text::read_copies(source, routing)?
        }
        None => ExpertCopies::replicated(routing, replicas.parse().unwrap_or(usize::MAX))?,
    })
}
