//! A search for a mapping of a workload.

use std::path::Path;

use serde::Serialize;

use super::options::{Criterion, Options};
use crate::console::Console;
use crate::end::End;
use crate::error::{Failure, Result, UsageError, VerificationError};
use crate::files;
use crate::job::{Job, Plan, end};
use crate::launch::{self, JobLaunch, JsonLaunch, Planned};
use crate::machine;
use crate::ranks;
use crate::report;
use crate::signals::{First, StopAtSignal};
use crate::summary::{Summary, change};
use crate::verb::Form;
use crate::workload::{JsonProgram, print_program};
use viem::PreparedMachine;
use viem::base::types::Cost;
use viem::machine::{Capacities, Machine};
use viem::mapping::Mapping;
use viem::solve::{Config, MapPreset};
use viem_io as io;
use viem_io::Source;
use viem_io::output::{Content, OutputId, Staged};
use viem_verify::{self as verify, WorkloadAudit, WorkloadText};
use viem_workload::map::{TaskMapConfig, TaskMapReport, TaskMapping, TaskRequest};
use viem_workload::{Workload, text};

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    preset: MapPreset,
    tasks_per_pe: u32,
    criterion: &'static str,
}

/// What is known of the result.
#[derive(Serialize)]
struct WorkloadFound<'a> {
    #[serde(flatten)]
    program: JsonProgram,
    settings: TaskMapConfig,
    #[serde(flatten)]
    report: &'a TaskMapReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    launch: Option<JsonLaunch>,
}

/// A workload as it is mapped.
struct Task<'a> {
    options: &'a Options,
    program: Workload,
    /// The machine, and how many tasks each PE has room for where that does not say.
    machine: &'a dyn Machine,
    room: Option<u32>,
    config: TaskMapConfig,
    mapping: OutputId,
    picture: Option<OutputId>,
    job: Job<'a>,
}

/// Maps a workload.
pub(super) fn map(options: &Options) -> Result<End> {
    let initial = options.initial.as_deref().into_iter().flat_map(files::files_of_mapping);
    let mut plan = Plan::new(options.read_only(), initial)?;
    let mapping = plan.successor("--output", &options.output)?;
    let picture = plan.optional("--picture", options.picture.file())?;
    let planned = options.launch.plan(&mut plan)?;
    let job = plan.start(&options.report)?;
    if options.verify {
        job.check_verifiable(mapping)?;
    }
    let config = config(options)?;
    let machine = options.machine.build(job.console)?;
    let machine = machine.as_ref();
    let program = text::read(Source::open(&options.file)?)?;
    let room = room(options.tasks_per_pe, &program, machine)?;
    Task { options, program, machine, room, config, mapping, picture, job }.run(planned)
}

/// The settings of the run.
fn config(options: &Options) -> Result<TaskMapConfig> {
    let search = &options.search;
    let mut one = Config::preset(search.preset).with_seed(search.random.seed).one_to_one;
    one.construction.algorithm = options.construction;
    one.search = options.neighbourhood.config()?;
    let mut config = TaskMapConfig::preset(search.preset);
    config.seed = search.random.seed;
    config.threads = search.random.threads()?;
    config.time_limit = search.time.time_limit;
    config.mapping = one;
    config.costs = options.costs.costs();
    config.sharing = options.links.sharing()?;
    if options.criterion == Criterion::Estimate {
        config.simulated = 0;
    }
    Ok(config)
}

/// How many tasks each PE has room for, where the machine does not say.
fn room(asked: Option<u32>, program: &Workload, machine: &dyn Machine) -> Result<Option<u32>> {
    let (tasks, pes) = (program.num_tasks() as u64, machine.num_pes() as u64);
    let Some(room) = asked else {
        return Ok((machine.room() < tasks).then(|| tasks.div_ceil(pes) as u32));
    };
    let places = u64::from(room) * pes;
    if places < tasks {
        let least = tasks.div_ceil(pes);
        let message =
            format!("--tasks-per-pe={room} leaves room for {places} of {tasks} tasks; give {least} or more");
        return Err(UsageError(message).into());
    }
    // More than that is never taken, but every place would be searched.
    Ok(Some(room.min(program.num_tasks().max(1) as u32)))
}

impl Task<'_> {
    fn run(mut self, planned: Option<Planned>) -> Result<End> {
        self.check_launch(planned.as_ref())?;
        let (whole, console) = (self.machine, self.job.console);
        let machine: Box<dyn Machine> = match self.room {
            Some(room) => Box::new(Capacities::new(whole, vec![room; whole.num_pes()])?),
            None => Box::new(whole),
        };
        let machine = machine.as_ref();
        let read = |path: &Path| files::read_mapping(path, self.program.num_tasks(), machine, console);
        let start = self.options.initial.as_deref().map(read).transpose()?;
        let (progress, received) = self.job.watch(First::AsksToStop, self.options.search.time.time_limit);
        console.detail(format_args!("io time: {:.6}", self.job.seconds()));
        print_program(console, &self.program);
        machine::print(console, Form::Verb, machine);
        let found = {
            let observer = StopAtSignal { observer: progress, received: received.clone() };
            let request = TaskRequest::new(&self.program, machine).start(start.as_ref());
            request.observed(&observer).solve(&self.config)?
        };
        print(console, &found.report);
        self.note_of_estimate(&found.report);
        ranks::print(console, whole, found.mapping.pes());
        let (launch, refused) = launch::of_mapping(planned, whole, &found.mapping, &mut self.job.outputs);
        self.config.threads = 1;
        self.config.mapping = self.config.mapping.effective_on(machine);
        self.write(machine, &found, launch.as_ref())?;
        launch.iter().for_each(|launch| launch.print(console));
        console.line(format_args!("mapping written to {}", self.job.name(self.mapping)));
        refused.map_or(Ok(()), |error| Err(Failure::from(error)))?;
        end(&received)
    }

    /// Prints a note if the simulator was meant to compare the mapping with the identity, but has not.
    fn note_of_estimate(&self, report: &TaskMapReport) {
        if report.completion_time.is_none() && self.config.simulated > 0 && !report.stopped {
            self.job.console.note(format_args!(
                "the workload is too large to simulate its mappings with this preset, so this mapping is the best by F only, and may be slower than the identity; --score simulates both, and a slower --preset simulates more"
            ));
        }
    }

    /// The most tasks that a PE has room for: what each has, where the machine does not say.
    fn tasks_per_pe(&self) -> u32 {
        let largest = || self.machine.capacities().into_iter().max();
        self.room.or_else(largest).unwrap_or(1)
    }

    /// Refuses before any work a launch that no mapping allows.
    fn check_launch(&self, planned: Option<&Planned>) -> Result<()> {
        let Some(planned) = planned else { return Ok(()) };
        if self.tasks_per_pe() > 1 {
            let message = "--launch is for one process per PE; take a machine with one for each task, and leave \
                           out --tasks-per-pe";
            return Err(UsageError(message.to_owned()).into());
        }
        Ok(planned.check(self.machine, self.program.num_tasks())?)
    }

    /// The picture of the traffic, if there is to be one. Where tasks share PEs, stretches of equal length are drawn beside the mapping.
    fn drawn(&self, mapping: &Mapping) -> Result<Option<String>> {
        let (graph, prepared) = (self.program.graph(), PreparedMachine::new(self.machine));
        let (name, is_shared) = (self.job.name(self.mapping), self.tasks_per_pe() > 1);
        Ok(self.options.picture.draw(&graph, &prepared, name, mapping, is_shared)?)
    }

    /// Writes mapping, report, picture and what launches the job, once the mapping is verified if that was asked for.
    fn write(
        &self,
        machine: &dyn Machine,
        TaskMapping { mapping, report, .. }: &TaskMapping,
        launch: Option<&JobLaunch>,
    ) -> Result<()> {
        let Self { options, config, job, .. } = self;
        let criterion = options.criterion.name();
        let named =
            JsonOptions { preset: options.search.preset, tasks_per_pe: self.tasks_per_pe(), criterion };
        let (program, launched) = (JsonProgram::of(&self.program), launch.map(JobLaunch::report));
        let found = WorkloadFound { program, settings: *config, report, launch: launched };
        let json = report::of_verb("simulate", options.file.as_path(), named, found);
        let json = json.on(options.machine.report(machine)).seeded(config.seed);
        let drawn = self.drawn(mapping)?;
        let texts = self.picture.zip(drawn.as_deref()).into_iter();
        let texts: Vec<_> = texts.chain(launch.into_iter().flat_map(JobLaunch::texts)).collect();
        let fills = files::fills(&texts);
        let write_mapping = |out: &mut dyn std::io::Write| io::mapping::write(out, mapping.pes());
        let mut contents: Vec<Content<'_>> = vec![(Some(self.mapping), &write_mapping)];
        contents.extend(fills.iter().map(|(id, fill)| (Some(*id), fill as _)));
        let audit = |staged: &Staged<'_>| match staged.path(self.mapping) {
            Some(written) => self.audit(written, report),
            None => Ok(()),
        };
        job.publish(&|out| json.write(out), &contents, options.verify.then_some(&audit as _))
    }

    /// Has the independent auditor recompute J and F from the files, and prints that.
    fn audit(&self, mapping: &Path, report: &TaskMapReport) -> Result<()> {
        let costs = self.options.costs.costs();
        let machine = (&self.options.machine, self.machine);
        let audited =
            files::with_texts((&self.options.file, None), mapping, machine, |text, mapping, machine| {
                let program = WorkloadText {
                    text,
                    room: self.room.map(u64::from),
                    send_cycles: costs.send,
                    receive_cycles: costs.receive,
                };
                verify::audit_workload_on(&program, mapping, machine)
            })?;
        let TaskMapReport { cost, estimate, .. } = report;
        compare(&audited, *cost, *estimate)?;
        self.job.console.line(format_args!("verified: J of the files is {cost} too"));
        self.job.console.line(format_args!("verified: F of the files is {estimate:.1} too"));
        Ok(())
    }
}

/// An error unless the auditor has found the J and the F that were computed.
fn compare(audited: &WorkloadAudit, cost: Cost, estimate: f64) -> Result<()> {
    files::compare(i128::try_from(audited.cost).unwrap_or(i128::MAX), cost)?;
    if audited.estimate != estimate {
        let message =
            format!("F of the mapping written is {}, but {estimate} was computed", audited.estimate);
        return Err(VerificationError::Differs(message).into());
    }
    Ok(())
}

/// Prints what was found.
fn print(console: Console, report: &TaskMapReport) {
    console.line(format_args!("{:>15} {:>16} {:>16}", "start", "F", "after search"));
    for start in &report.starts {
        let name = start.start.name();
        console.line(format_args!("{name:>15} {:>16.1} {:>16.1}", start.before, start.after));
    }
    console.detail(format_args!("time spent for mapping {:.6}", report.seconds));
    report::print_stopped(console, report.stopped, "mapping");
    let mut summary = Summary::new("", "");
    if let Some(time) = report.completion_time {
        let of_identity = |before| format!("cycles; identity: {before}, {}", change(before, time.into()));
        let before = report.completion_time_of_identity.map(i128::from);
        let note = before.map_or("cycles".to_owned(), of_identity);
        summary.figure("simulated completion time", time, note);
    }
    let ideal = format!("ideal: {:.1}", report.ideal);
    summary.figure("estimated completion time F", format_args!("{:.1}", report.estimate), ideal);
    summary.figure("J", report.cost, "");
    summary.print(console);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_j_or_f_than_was_computed_is_noticed() {
        let audited = WorkloadAudit { cost: 12, estimate: 3.5 };
        assert!(compare(&audited, 12, 3.5).is_ok());
        let message = |cost, estimate| {
            let error = compare(&audited, cost, estimate).unwrap_err();
            error.to_string().split_once(": ").unwrap().1.to_owned()
        };
        assert_eq!(message(11, 3.5), "J of the mapping written is 12, but 11 was computed");
        assert_eq!(message(12, 3.75), "F of the mapping written is 3.5, but 3.75 was computed");
    }
}
