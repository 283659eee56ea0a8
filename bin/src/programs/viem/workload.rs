//! Mappings of workloads.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::job::Job;
use super::options::{Judge, MapWorkloadOptions};
use crate::console::Console;
use crate::error::{Failure, Result, UsageError, VerificationError};
use crate::exit::End;
use crate::files;
use crate::launch::{self, JobLaunch, JsonLaunch};
use crate::machine;
use crate::progress::Progress;
use crate::ranks;
use crate::report::JsonReport;
use crate::signals::{self, First, StopAtSignal};
use crate::workload::{JsonProgram, tell_program};
use viem::ground::types::Cost;
use viem::machine::{Capacities, Machine};
use viem::solve::MapPreset;
use viem_io::Source;
use viem_verify::{self as verify, WorkloadAudit, WorkloadText};
use viem_workload::map::{TaskMapConfig, TaskMapReport, TaskMapping, map_tasks_watched};
use viem_workload::{Workload, text};

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    preconfiguration_mapping: MapPreset,
    tasks_per_pe: u32,
    judge: &'static str,
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

/// How many tasks each PE has room for, where the machine does not say.
fn room(options: &MapWorkloadOptions, program: &Workload, machine: &dyn Machine) -> Result<Option<u32>> {
    let (tasks, pes) = (program.num_tasks() as u64, machine.num_pes() as u64);
    let Some(room) = options.tasks_per_pe else {
        return Ok((machine.room() < tasks).then(|| tasks.div_ceil(pes) as u32));
    };
    let places = u64::from(room) * pes;
    if places < tasks {
        let least = tasks.div_ceil(pes);
        let message =
            format!("--tasks_per_pe={room} leaves room for {places} of {tasks} tasks; give {least} or more");
        return Err(UsageError(message).into());
    }
    // More than that is never taken, but every place would be searched.
    Ok(Some(room.min(program.num_tasks().max(1) as u32)))
}

/// Maps a workload.
pub(super) fn map(mut job: Job<'_>, source: Source<'_>) -> Result<End> {
    let started = Instant::now();
    let program = text::read(source)?;
    let Job { options, console, machine: whole, .. } = job;
    let room = room(&options.workload, &program, whole)?;
    job.check_launch(&program, room)?;
    let machine: Box<dyn Machine> = match room {
        Some(room) => Box::new(Capacities::new(whole, vec![room; whole.num_pes()])?),
        None => Box::new(whole),
    };
    let machine = machine.as_ref();
    let read = |path: &Path| files::read_mapping(path, program.num_tasks(), machine, console);
    let start = options.input_mapping.as_deref().map(read).transpose()?;
    let progress = Progress::new(options.report.quiet);
    let received = signals::listen(&progress, First::AsksToStop);
    console.line(format_args!("io time: {:.6}", started.elapsed().as_secs_f64()));
    tell_program(console, &program);
    machine::tell(console, machine);
    let mut config = job.assignment();
    let assignment = {
        let observer = StopAtSignal { observer: progress, received: received.clone() };
        map_tasks_watched(&program, machine, &config, start.as_ref(), &observer)?
    };
    ranks::tell(console, whole, assignment.mapping.pes());
    tell_assignment(console, &assignment.report);
    let planned = job.places.planned.take();
    let (launch, refused) = launch::of_mapping(planned, whole, &assignment.mapping, job.places.outputs);
    config.threads = 1;
    config.mapping = config.mapping.effective_on(machine);
    let report = job.report(&program, (machine, room), config, &assignment.report, launch.as_ref());
    job.write_workload(&program, room, &assignment, &report, launch.as_ref())?;
    launch.iter().for_each(|launch| launch.tell(console));
    console.line(format_args!("written to {}", job.places.name()));
    refused.map_or(Ok(()), |error| Err(Failure::from(error)))?;
    Ok(received.interrupt().map_or(End::Done, End::Signal))
}

/// The most tasks that a PE has room for: what each has, where the machine does not say.
fn tasks_per_pe(room: Option<u32>, machine: &dyn Machine) -> u32 {
    let largest = || machine.capacities().into_iter().max();
    room.or_else(largest).unwrap_or(1)
}

impl Job<'_> {
    /// Refuses before any work a launch that no mapping allows.
    fn check_launch(&self, program: &Workload, room: Option<u32>) -> Result<()> {
        let Some(planned) = &self.places.planned else { return Ok(()) };
        if tasks_per_pe(room, self.machine) > 1 {
            let message = "--launch is for one process per processing element; take a machine with one for each task, and leave \
                           out --tasks_per_pe";
            return Err(UsageError(message.to_owned()).into());
        }
        Ok(planned.check(self.machine, program.num_tasks())?)
    }

    /// The settings of the run.
    fn assignment(&self) -> TaskMapConfig {
        let options = self.options;
        let mut config = TaskMapConfig::preset(options.preconfiguration_mapping);
        config.seed = self.config.seed;
        config.threads = self.config.threads;
        config.time_limit = self.config.time_limit;
        config.mapping = self.config.one_to_one;
        config.costs = options.workload.costs.costs();
        config.sharing = options.workload.costs.sharing();
        if options.workload.judge() == Judge::Estimate {
            config.simulated = 0;
        }
        config
    }

    fn report<'b>(
        &self,
        program: &Workload,
        (machine, room): (&dyn Machine, Option<u32>),
        settings: TaskMapConfig,
        report: &'b TaskMapReport,
        launch: Option<&JobLaunch>,
    ) -> JsonReport<JsonOptions, WorkloadFound<'b>> {
        let named = JsonOptions {
            preconfiguration_mapping: self.options.preconfiguration_mapping,
            tasks_per_pe: tasks_per_pe(room, machine),
            judge: self.options.workload.judge().name(),
        };
        let (program, launch) = (JsonProgram::of(program), launch.map(JobLaunch::report));
        self.json_report(machine, named, WorkloadFound { program, settings, report, launch })
    }

    /// Writes mapping, report, picture and what launches the job, once the mapping is verified if that was asked for.
    fn write_workload(
        &self,
        program: &Workload,
        room: Option<u32>,
        TaskMapping { mapping, report, .. }: &TaskMapping,
        report_of_run: &JsonReport<JsonOptions, WorkloadFound<'_>>,
        launch: Option<&JobLaunch>,
    ) -> Result<()> {
        let Job { options, machine, places, .. } = self;
        // Of tasks that share PEs, stretches of equal length are drawn beside the mapping.
        let graph = program.graph();
        let is_shared = tasks_per_pe(room, *machine) > 1;
        let drawn = options.picture.draw(&graph, self.prepared, places.name(), mapping, is_shared)?;
        let files = launch.into_iter().flat_map(JobLaunch::texts);
        let audit = |written: &Path| {
            self.audit(written, report, room)?;
            let TaskMapReport { cost, estimate, .. } = report;
            self.console.line(format_args!("verified: J of the files is {cost} too"));
            self.console.line(format_args!("verified: F of the files is {estimate:.1} too"));
            Ok(())
        };
        let audit = options.verify.then_some(&audit as _);
        places.write(mapping, report_of_run, drawn.as_deref(), files, audit)
    }

    /// Has the independent auditor recompute J and F from the files.
    fn audit(&self, mapping: &Path, report: &TaskMapReport, room: Option<u32>) -> Result<()> {
        let costs = self.options.workload.costs.costs();
        let machine = (&self.options.machine, self.machine);
        let audited = files::with_texts(&self.options.file, mapping, machine, |text, mapping, machine| {
            let program = WorkloadText {
                text,
                room: room.map(u64::from),
                send_cycles: costs.send,
                receive_cycles: costs.receive,
            };
            verify::audit_workload_on(&program, mapping, machine)
        })?;
        compare(&audited, report.cost, report.estimate)
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

fn tell_assignment(console: Console, report: &TaskMapReport) {
    console.line(format_args!("{:>15} {:>16} {:>16}", "start", "F", "after search"));
    for start in &report.starts {
        let name = start.start.name();
        console.line(format_args!("{name:>15} {:>16.1} {:>16.1}", start.before, start.after));
    }
    console.line(format_args!("time spent for mapping {:.6}", report.seconds));
    if report.stopped {
        console.line(format_args!("stopped early: this is the best mapping found so far"));
    }
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", report.cost));
    console.line(format_args!(
        "estimated completion time F = {:.1} (ideal: {:.1})",
        report.estimate, report.ideal
    ));
    if let Some(time) = report.completion_time {
        console.line(format_args!("simulated completion time = {time}"));
    }
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
