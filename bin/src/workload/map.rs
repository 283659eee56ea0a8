//! The part of `viem` that maps programs in time.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use crate::console::Console;
use crate::exit::{End, UsageError, VerificationError};
use crate::launch::{self, JobLaunch, JsonLaunch};
use crate::machine::{self, JsonMachine};
use crate::options::{self, one_of};
use crate::progress::Progress;
use crate::signals::{self, First, StopAtSignal};
use crate::viem::{Options as MapOptions, Places};
use crate::workload::{ProgramOptions, tell_program};
use crate::{direct, files};
use viem::ground::settings::named;
use viem::ground::types::{Cost, PeId};
use viem::io::Source;
use viem::machine::{Capacities, Machine};
use viem::mapping::solve::{MapConfig, MapPreset};
use viem::workload::map::{TaskMapConfig, TaskMapReport, TaskMapping, map_tasks};
use viem::workload::{Workload, text};
use viem_verify::{self as verify, WorkloadAudit, WorkloadText};

named! {
    /// What decides which mapping of a program is the best.
    pub enum Judge: "judge" {
        /// The completion time in the simulator.
        Simulation = "simulation",
        /// The estimate F.
        Estimate = "estimate",
    }
}

/// How a program in time is mapped.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Programs in time")]
pub(crate) struct MapProgramOptions {
    #[command(flatten)]
    costs: ProgramOptions,

    /// Tasks that a processing element has room for [default: what the machine says, or if there are more tasks as few as
    /// hold them all]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    tasks_per_pe: Option<u32>,

    /// What decides which mapping is the best: its completion time in the simulator, as far as that is found out soon, or
    /// the estimate F [default: simulation]
    #[arg(long, value_name = "JUDGE", value_parser = one_of(&Judge::ALL, Judge::name))]
    judge: Option<Judge>,
}

impl MapProgramOptions {
    fn judge(&self) -> Judge {
        self.judge.unwrap_or(Judge::Simulation)
    }

    /// How many tasks each PE has room for, where the machine does not say.
    fn room(&self, program: &Workload, machine: &dyn Machine) -> Result<Option<u32>, UsageError> {
        let (tasks, pes) = (program.num_tasks() as u64, machine.num_pes() as u64);
        if let Some(room) = self.tasks_per_pe {
            if u64::from(room) * pes < tasks {
                let message = format!(
                    "--tasks_per_pe={room} leaves room for {} of {tasks} tasks; give {} or more",
                    u64::from(room) * pes,
                    tasks.div_ceil(pes)
                );
                return Err(UsageError(message));
            }
            // More than that is never taken, but every place would be searched.
            return Ok(Some(room.min(program.num_tasks().max(1) as u32)));
        }
        Ok((machine.room() < tasks).then(|| tasks.div_ceil(pes) as u32))
    }

    /// An error if one of these options is there.
    pub(crate) fn refuse(&self, why: &str) -> Result<(), UsageError> {
        let given = [(self.tasks_per_pe.is_some(), "--tasks_per_pe"), (self.judge.is_some(), "--judge")];
        options::refuse(&given, why)?;
        self.costs.refuse(why)
    }
}

/// A program that is to be mapped.
pub(crate) struct MapJob<'a> {
    pub(crate) options: &'a MapOptions,
    pub(crate) config: MapConfig,
    pub(crate) places: Places<'a>,
    pub(crate) console: Console,
}

/// What the program did, as written to `--json`.
#[derive(Serialize)]
struct MapReport<'a> {
    model: String,
    tasks: usize,
    messages: u64,
    flits: u64,
    seed: u64,
    machine: JsonMachine,
    preconfiguration_mapping: MapPreset,
    tasks_per_pe: u32,
    judge: &'static str,
    settings: TaskMapConfig,
    #[serde(flatten)]
    report: &'a TaskMapReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    launch: Option<JsonLaunch>,
}

/// Maps a program.
pub(crate) fn map(mut job: MapJob<'_>, source: Source<'_>, machine: Box<dyn Machine>) -> anyhow::Result<End> {
    let started = Instant::now();
    let program = text::read(source)?;
    let whole = machine.as_ref();
    let (options, console) = (job.options, job.console);
    let room = options.programs.room(&program, whole)?;
    job.check_launch(&program, whole, room)?;
    let machine: Box<dyn Machine> = match room {
        Some(room) => Box::new(Capacities::new(whole, vec![room; whole.num_pes()])?),
        None => Box::new(whole),
    };
    let machine = machine.as_ref();
    let read = |path: &Path| files::read_mapping(path, program.num_tasks(), machine);
    let start = options.input_mapping.as_deref().map(read).transpose()?;
    let progress = Progress::new(options.report.quiet);
    let received = signals::listen(&progress, First::AsksToStop);
    console.line(format_args!("io time: {:.6}", started.elapsed().as_secs_f64()));
    tell_program(console, &program);
    machine::tell(console, machine);
    let mut config = TaskMapConfig::preset(options.preconfiguration_mapping);
    config.mapping = job.config;
    config.costs = options.programs.costs.costs();
    if options.programs.judge() == Judge::Estimate {
        config.simulated = 0;
    }
    let assignment = {
        let observer = StopAtSignal { observer: progress, received: received.clone() };
        map_tasks(&program, machine, &config, start.as_ref(), &observer)?
    };
    tell_assignment(console, &assignment.report);
    let (launch, refused) =
        launch::of_mapping(job.places.planned.take(), whole, &assignment.mapping, job.places.outputs);
    config.mapping = config.mapping.effective_on(machine);
    let report = job.report(&program, (machine, room), config, &assignment.report, launch.as_ref());
    job.write(&program, (whole, room), &assignment, &report, launch.as_ref())?;
    launch.iter().for_each(|launch| launch.tell(console));
    console.line(format_args!("written to {}", job.places.name()));
    refused.map_or(Ok(()), Err)?;
    Ok(received.interrupt().map_or(End::Done, End::Signal))
}

/// The most tasks that a PE has room for: what each has, where the machine does not say.
fn tasks_per_pe(room: Option<u32>, machine: &dyn Machine) -> u32 {
    let largest = || (0..machine.num_pes() as PeId).map(|pe| machine.capacity(pe)).max();
    room.or_else(largest).unwrap_or(1)
}

impl MapJob<'_> {
    /// Refuses before any work a launch that no mapping allows.
    fn check_launch(
        &self,
        program: &Workload,
        machine: &dyn Machine,
        room: Option<u32>,
    ) -> anyhow::Result<()> {
        let Some(planned) = &self.places.planned else { return Ok(()) };
        if tasks_per_pe(room, machine) > 1 {
            let instead = "take a machine with one for each task, and leave out --tasks_per_pe";
            return Err(direct::no_launch(instead).into());
        }
        Ok(planned.check(machine, program.num_tasks())?)
    }

    fn report<'b>(
        &self,
        program: &Workload,
        (machine, room): (&dyn Machine, Option<u32>),
        settings: TaskMapConfig,
        report: &'b TaskMapReport,
        launch: Option<&JobLaunch>,
    ) -> MapReport<'b> {
        let options = self.options;
        MapReport {
            model: files::name(&options.file),
            tasks: program.num_tasks(),
            messages: program.num_messages(),
            flits: program.num_flits(),
            seed: self.config.seed,
            machine: options.machine.report(machine),
            preconfiguration_mapping: options.preconfiguration_mapping,
            tasks_per_pe: tasks_per_pe(room, machine),
            judge: options.programs.judge().name(),
            settings,
            report,
            launch: launch.map(JobLaunch::report),
        }
    }

    /// Writes mapping, report, picture and what launches the job, once the mapping is verified if that was asked for.
    fn write(
        &self,
        program: &Workload,
        (machine, room): (&dyn Machine, Option<u32>),
        TaskMapping { mapping, report, .. }: &TaskMapping,
        report_of_run: &MapReport<'_>,
        launch: Option<&JobLaunch>,
    ) -> anyhow::Result<()> {
        let (options, places) = (self.options, &self.places);
        // Of tasks that share PEs, stretches of equal length are drawn beside the mapping.
        let graph = program.graph();
        let is_shared = tasks_per_pe(room, machine) > 1;
        let drawn = options.picture.draw(&graph, machine, places.name(), mapping, is_shared)?;
        let files = launch.into_iter().flat_map(JobLaunch::texts);
        let audit = |written: &Path| {
            self.audit(written, report, room, machine)?;
            let TaskMapReport { cost, estimate, .. } = report;
            self.console.line(format_args!("verified: J of the files is {cost} too"));
            self.console.line(format_args!("verified: F of the files is {estimate:.1} too"));
            Ok(())
        };
        let audit = options.verify.then_some(&audit as _);
        places.write(mapping, report_of_run, drawn.as_deref(), files, audit)
    }

    /// Has the independent auditor recompute J and F from the files.
    fn audit(
        &self,
        mapping: &Path,
        report: &TaskMapReport,
        room: Option<u32>,
        machine: &dyn Machine,
    ) -> anyhow::Result<()> {
        let costs = self.options.programs.costs.costs();
        let machine = (&self.options.machine, machine);
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
fn compare(audited: &WorkloadAudit, cost: Cost, estimate: f64) -> anyhow::Result<()> {
    files::compare(i128::try_from(audited.cost).unwrap_or(i128::MAX), cost)?;
    if audited.estimate != estimate {
        let message =
            format!("F of the mapping written is {}, but {estimate} was computed", audited.estimate);
        return Err(VerificationError(message).into());
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
        let told = |cost, estimate| {
            let error = compare(&audited, cost, estimate).unwrap_err();
            error.downcast::<VerificationError>().expect("it ends as a failed audit does").0
        };
        assert_eq!(told(11, 3.5), "J of the mapping written is 12, but 11 was computed");
        assert_eq!(told(12, 3.75), "F of the mapping written is 3.5, but 3.75 was computed");
    }
}
