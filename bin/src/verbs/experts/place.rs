//! A search for a placement of experts.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::options::{Options, file_of_replicas};
use super::rows::{self, Moves, Rows, Scored};
use crate::end::End;
use crate::error::{Result, UsageError, VerificationError};
use crate::files;
use crate::job::{Job, Plan, end};
use crate::machine;
use crate::report;
use crate::signals::{First, StopAtSignal};
use crate::verb::Form;
use viem::machine::Machine;
use viem::partition::MigrationWeight;
use viem::solve::MapPreset;
use viem_io::Source;
use viem_io::output::{Content, OutputId, Staged};
use viem_report::envelope::Envelope;
use viem_training::expert_trace;
use viem_training::expert_trace::TraceKind;
use viem_training::experts::text::{self, RoutingFile};
use viem_training::experts::{
    ExpertConfig, ExpertCopies, ExpertId, ExpertRequest, ExpertRouting, ExpertScore, ExpertSolution,
};
use viem_verify::{self as verify, ExpertAudit};

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    experts: ExpertId,
    token_bytes: u64,
    preset: MapPreset,
    /// In percent.
    imbalance: f64,
    /// In seconds.
    time_limit: Option<f64>,
}

/// A placement as it was asked for.
struct Task<'a> {
    options: &'a Options,
    /// The previous placement, and what moves cost.
    previous: Option<(&'a Path, MigrationWeight)>,
    machine: &'a dyn Machine,
    file: RoutingFile,
    output: OutputId,
    job: Job<'a>,
}

/// Places the experts of a trace.
pub(super) fn place(options: &Options) -> Result<End> {
    let previous = match (&options.previous, options.migration_weight) {
        (Some(_), None) => {
            let message = "--previous needs --migration-weight, what it costs that a copy moves";
            return Err(UsageError(message.to_owned()).into());
        }
        (previous, weight) => previous.as_deref().zip(weight),
    };
    let mut plan = Plan::new(options.read_only(), options.previous.as_deref())?;
    let output = plan.successor("--output", &options.output)?;
    let job = plan.start(&options.report)?;
    if options.verify {
        job.check_verifiable(output)?;
    }
    let imbalance = options.imbalance()?;
    let machine = options.machine.build(job.console)?;
    let machine = machine.as_ref();
    let file = rows::read(&options.trace, job.console)?;
    machine::print(job.console, Form::Verb, machine);
    Task { options, previous, machine, file, output, job }.run(imbalance)
}

impl Task<'_> {
    fn run(&self, imbalance: f64) -> Result<End> {
        let Self { options, previous, machine, file, job, .. } = self;
        let (routing, random) = (&file.routing, &options.search.random);
        let read = |(path, _): &(&Path, _)| text::read_placement(Source::open(path)?, options.trace.experts);
        let old = previous.as_ref().map(read).transpose()?;
        let copies = match (&old, options.replicas.as_deref()) {
            (Some(old), None) => old.copies(),
            (_, replicas) => copies(replicas, routing)?,
        };
        let config = ExpertConfig::preset(options.search.preset)
            .with_seed(random.seed)
            .with_threads(random.threads()?)
            .with_imbalance(imbalance)
            .with_time_limit(options.search.time.time_limit);
        let (progress, received) = job.watch(First::AsksToStop, options.search.time.time_limit);
        let started = Instant::now();
        let found = {
            let observer = StopAtSignal { observer: progress, received: received.clone() };
            let previous = old.as_ref().zip(previous.map(|(_, weight)| weight));
            let request = ExpertRequest::new(routing, &copies, *machine).previous(previous);
            request.observed(&observer).solve(&config)?
        };
        let seconds = started.elapsed().as_secs_f64();
        job.console.detail(format_args!("time spent for mapping {seconds:.6}"));
        let name = job.name(self.output).to_owned();
        let rows = Rows::new(&options.trace, (routing, *machine), &copies, (name.clone(), &found.score))?;
        report::print_stopped(job.console, found.stopped, "placement");
        rows.print(job.console);
        let moves = previous.zip(found.moved);
        let moves = moves.map(|((path, weight), moved)| Moves::new(path, Some(weight), moved));
        if let Some(moves) = &moves {
            moves.print(job.console, &found.placement);
        }
        let gain = rows.gain();
        let scored = Scored::new(routing, &found.placement, moves, rows).after(found.stopped, seconds);
        self.write(&found, self.report(imbalance, scored))?;
        job.console.line(format_args!("{gain}; written to {name}"));
        end(&received)
    }

    fn report(&self, imbalance: f64, scored: Scored) -> Envelope<JsonOptions, Scored> {
        let Options { trace, search, machine, .. } = self.options;
        let named = JsonOptions {
            experts: trace.experts,
            token_bytes: trace.token_bytes,
            preset: search.preset,
            imbalance: 100.0 * imbalance,
            time_limit: search.time.seconds(),
        };
        let report = report::of_verb("experts", trace.file.as_path(), named, scored);
        report.on(machine.report(self.machine)).seeded(search.random.seed)
    }

    /// Writes placement and report, once they are verified if that was asked for.
    fn write(&self, found: &ExpertSolution, report: Envelope<JsonOptions, Scored>) -> Result<()> {
        let contents: [Content<'_>; 1] =
            [(Some(self.output), &|out| text::write_placement(out, &found.placement))];
        let audit = |staged: &Staged<'_>| match staged.path(self.output) {
            Some(written) => self.audit(written, found),
            None => Ok(()),
        };
        self.job.publish(&|out| report.write(out), &contents, self.options.verify.then_some(&audit as _))
    }

    /// Has the independent auditor recompute J, loads and moves from the files, and prints that.
    fn audit(&self, written: &Path, found: &ExpertSolution) -> Result<()> {
        let Self { options, machine, file, previous, .. } = self;
        audit(options, (file, *machine), written, &found.score)?;
        if let Some(((old, _), moved)) = previous.zip(found.moved) {
            audit_moves(options, *machine, (old, written), moved)?;
        }
        let what = if file.routing.is_of_loads() {
            "all loads of the files are the same"
        } else {
            "J of the files is the same, and so are all loads"
        };
        let moves = if previous.is_some() { ", and so is the migration" } else { "" };
        self.job.console.line(format_args!("verified: {what}{moves}"));
        Ok(())
    }
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
    let trace = expert_trace::unpacked(Source::open(&options.trace.file)?)?;
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
