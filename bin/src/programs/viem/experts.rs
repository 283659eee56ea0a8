//! Placements of experts.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::options::{NAME, Options};
use crate::error::{Result, VerificationError};
use crate::exit::End;
use crate::experts::{self, Moves, Rows, Scored};
use crate::files;
use crate::given::Given;
use crate::machine;
use crate::options;
use crate::progress::Progress;
use crate::report::JsonReport;
use crate::signals::{self, First, StopAtSignal};
use viem::machine::Machine;
use viem::solve::MapPreset;
use viem_io::output::Content;
use viem_io::{Outputs, Source};
use viem_training::expert_trace;
use viem_training::expert_trace::TraceKind;
use viem_training::experts::text::{self, RoutingFile};
use viem_training::experts::{
    ExpertConfig, ExpertCopies, ExpertId, ExpertRouting, ExpertScore, place_experts, remap_experts,
};
use viem_verify::{self as verify, ExpertAudit};

/// The file of the placement, unless another one is asked for.
const PLACEMENT: &str = "experts.json";

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    experts: ExpertId,
    token_bytes: u64,
    preconfiguration_mapping: MapPreset,
    /// In percent.
    imbalance: f64,
    /// In seconds.
    time_limit: Option<f64>,
}

/// Places the experts of a trace.
pub(super) fn place(options: &Options, experts: ExpertId, given: &Given) -> Result<End> {
    let replicas = options.replicas.as_deref();
    let resumed = options.remap.of_experts();
    let inputs: Vec<&Path> = [options.file.as_path()]
        .into_iter()
        .chain(options.machine.files())
        .chain(replicas.and_then(file_of_replicas))
        .collect();
    let read: Vec<&Path> = inputs.iter().copied().chain(resumed.map(|(path, _)| path)).collect();
    files::probe_inputs(&read)?;
    let mut outputs = Outputs::new();
    let path = if given.has("output_filename") { &options.output_filename } else { Path::new(PLACEMENT) };
    let output = outputs.add(path, &inputs)?;
    if options.verify {
        files::probe_verifiable(read.iter().copied(), outputs.is_file(output))?;
    }
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let console = given.console(options.report.quiet, &outputs)?;
    let threads = options::threads(options.threads)?;
    let imbalance = options.sharing.imbalance()?;
    let machine = options.machine.build(console)?;
    let machine = machine.as_ref();
    let file = experts::read(&options.experts, &options.file, experts, console)?;
    let routing = &file.routing;
    machine::tell(console, machine);
    let old = resumed.map(|(path, _)| text::read_placement(Source::open(path)?, experts)).transpose()?;
    let copies = match (&old, replicas) {
        (Some(old), None) => old.copies(),
        _ => copies(replicas, routing)?,
    };
    let config = ExpertConfig::preset(options.preconfiguration_mapping)
        .with_seed(options.seed)
        .with_threads(threads)
        .with_imbalance(imbalance)
        .with_time_limit(options.time_limit);
    let progress = Progress::new(options.report.quiet);
    let received = signals::listen(&progress, First::AsksToStop);
    let started = Instant::now();
    let found = {
        let observer = StopAtSignal { observer: progress, received: received.clone() };
        match old.as_ref().zip(resumed) {
            Some((old, (_, weight))) => {
                remap_experts(routing, &copies, machine, &config, (old, weight), &observer)?
            }
            None => place_experts(routing, &copies, machine, &config, &observer)?,
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    console.line(format_args!("time spent for mapping {seconds:.6}"));
    let name = outputs.name(output).to_owned();
    let rows = Rows::new(&options.experts, (routing, machine), &copies, (name.clone(), &found.score))?;
    rows.tell(console);
    let remap = resumed.zip(found.moved).map(|((path, weight), moved)| Moves::new(path, Some(weight), moved));
    if let Some(remap) = &remap {
        remap.tell(console, &found.placement);
    }
    let gain = rows.gain();
    let named = JsonOptions {
        experts,
        token_bytes: options.experts.unit(),
        preconfiguration_mapping: options.preconfiguration_mapping,
        imbalance: 100.0 * imbalance,
        time_limit: options.time_limit.map(|limit| limit.as_secs_f64()),
    };
    let report = Scored::new(routing, &found.placement, remap, rows).after(seconds);
    let report = JsonReport::new(NAME, options.file.as_path(), named, report);
    let report = report.on(options.machine.report(machine)).seeded(options.seed);
    let contents: [Content<'_>; 2] = [
        (Some(output), &|out| text::write_placement(out, &found.placement)),
        (json, &|out| report.write(out)),
    ];
    let staged = outputs.stage(&contents)?;
    if let Some(written) = staged.path(output).filter(|_| options.verify) {
        audit(options, (&file, machine), written, &found.score)?;
        if let Some((old, moved)) = resumed.map(|(path, _)| path).zip(found.moved) {
            audit_moves(options, machine, (old, written), moved)?;
        }
        let what = if routing.is_of_loads() {
            "all loads of the files are the same"
        } else {
            "J of the files is the same, and so are all loads"
        };
        let moves = if resumed.is_some() { ", and so is the migration" } else { "" };
        console.line(format_args!("verified: {what}{moves}"));
    }
    staged.publish()?;
    console.line(format_args!("{gain}; written to {name}"));
    Ok(received.interrupt().map_or(End::Done, End::Signal))
}

/// Has the independent auditor recompute J and loads from the files.
fn audit(
    options: &Options,
    (file, machine): (&RoutingFile, &dyn Machine),
    written: &Path,
    score: &ExpertScore,
) -> Result<()> {
    let RoutingFile { routing, found, .. } = file;
    let experts = u64::from(routing.num_experts());
    let trace = expert_trace::unpacked(Source::open(&options.file)?)?;
    let placement = files::text(written)?;
    let audited = files::with_machine((&options.machine, machine), |machine| {
        if routing.is_of_loads() {
            let loads = verify::audit_expert_loads(&trace, experts, &placement, machine)?;
            return Ok(ExpertAudit { cost: 0.0, loads });
        }
        Ok(verify::audit_experts(&trace, found.kind == TraceKind::Pairs, experts, &placement, machine)?)
    })?;
    // Sums in another order differ in their last digits.
    let is_near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs().max(other.abs());
    if !is_near(audited.cost, score.cost) {
        let message =
            format!("J of the placement written is {}, but {} was computed", audited.cost, score.cost);
        return Err(VerificationError::Differs(message).into());
    }
    let loads = score.loads.iter().zip(&audited.loads);
    if let Some((own, audited)) = loads.clone().find(|(own, audited)| !is_near(own.greatest, **audited)) {
        let message = format!(
            "the greatest load of a layer of the placement written is {audited}, but {} was computed",
            own.greatest
        );
        return Err(VerificationError::Differs(message).into());
    }
    Ok(())
}

/// Has the independent auditor count the copies that change place from the files.
fn audit_moves(
    options: &Options,
    machine: &dyn Machine,
    (old, written): (&Path, &Path),
    moved: usize,
) -> Result<()> {
    let (old, new) = (files::text(old)?, files::text(written)?);
    let audited = files::with_machine((&options.machine, machine), |machine| {
        Ok(verify::audit_expert_moves(&old, &new, machine)?)
    })?;
    if audited != moved as u64 {
        let message =
            format!("{audited} copies of the placement written change place, but {moved} were computed");
        return Err(VerificationError::Differs(message).into());
    }
    Ok(())
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
