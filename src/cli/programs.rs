//! The part of the programs that is about programs in time: mapping them, estimating and simulating them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::compare::PictureOptions;
use super::console::Console;
use super::direct;
use super::exit::{End, UsageError, VerificationError};
use super::launch::{self, JobLaunch, JsonLaunch, Planned};
use super::machine::{self, JsonMachine, MachineOptions};
use super::options::{self, ReportOptions, one_of};
use super::progress::Progress;
use super::signals::{self, First, StopAtSignal};
use super::{files, generate_model};
use crate::assign::{AssignConfig, AssignReport, Assignment, assign};
use crate::estimate::{Estimate, EstimateError, Model};
use crate::graph::CsrGraph;
use crate::io::output::{Content, OutputId};
use crate::io::{self, Outputs, Source};
use crate::mapping::Mapping;
use crate::picture::draw_timeline;
use crate::program::Program;
use crate::program::generate::{self, Pattern, Size};
use crate::routing::Routing;
use crate::settings::named;
use crate::simulate::{ChromeTrace, Costs, Latency, LinkLoad, PeTime, Settings, Simulation, simulate};
use crate::solve::{MapConfig, MapPreset};
use crate::topology::{Capacities, Machine};
use crate::types::{Cost, PeId};
use crate::verify::{self, ProgramAudit, ProgramText};

named! {
    /// What decides which mapping of a program is the best.
    pub enum Judge: "judge" {
        /// The completion time in the simulator.
        Simulation = "simulation",
        /// The estimate F.
        Estimate = "estimate",
    }
}

/// How a program in time runs.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Programs in time")]
pub(crate) struct ProgramOptions {
    /// Cycles of a SEND [default: 1]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=Costs::MOST))]
    send_cycles: Option<u64>,

    /// Cycles of a RECEIVE, once the message is there [default: 1]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=Costs::MOST))]
    receive_cycles: Option<u64>,
}

impl ProgramOptions {
    fn costs(&self) -> Costs {
        let Costs { send, receive } = Costs::default();
        Costs { send: self.send_cycles.unwrap_or(send), receive: self.receive_cycles.unwrap_or(receive) }
    }

    /// An error if one of these options is there.
    fn refuse(&self, why: &str) -> Result<(), UsageError> {
        let given = [
            (self.send_cycles.is_some(), "--send_cycles"),
            (self.receive_cycles.is_some(), "--receive_cycles"),
        ];
        options::refuse(&given, why)
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

    /// An error if one of these options is there.
    pub(crate) fn refuse(&self, why: &str) -> Result<(), UsageError> {
        let given = [(self.tasks_per_pe.is_some(), "--tasks_per_pe"), (self.judge.is_some(), "--judge")];
        options::refuse(&given, why)?;
        self.costs.refuse(why)
    }
}

/// How a mapping is simulated.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Programs in time")]
pub(crate) struct SimulationOptions {
    #[command(flatten)]
    costs: ProgramOptions,

    /// Simulate the mapping: completion time, times of processing elements, the busiest links. Of a graph one phase
    /// is simulated, in which each process sends to all its neighbours
    #[arg(long)]
    simulate: bool,

    /// Write what happens when in the simulation to FILE, for chrome://tracing or Perfetto; - is standard output
    #[arg(long, value_name = "FILE", requires = "simulate")]
    trace: Option<PathBuf>,
}

/// How a program in time is generated.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Programs in time")]
pub(crate) struct GenerateOptions {
    /// Write a program in time instead of a model: ring:64, mesh:8x8, butterfly:64, tree:63, transpose:64 or random:200
    // No conflict with the files is told to clap, which would let pass --rounds and the like beside files.
    #[arg(long, value_name = "PATTERN:SIZE", value_parser = pattern)]
    pub(crate) generate: Option<(Pattern, Vec<u32>)>,

    /// Rounds of the program
    #[arg(long, default_value_t = Size::default().rounds, value_name = "INT", requires = "generate", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    rounds: u64,

    /// Length of a message
    #[arg(long, default_value_t = Size::default().flits, value_name = "INT", requires = "generate", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    flits: u64,

    /// Cycles of computation for each flit that is sent or received
    #[arg(long, default_value_t = Size::default().cycles, value_name = "INT", requires = "generate", value_parser = clap::value_parser!(u64).range(0..=1 << 20))]
    cycles: u64,

    /// Number the tasks at random
    #[arg(long, requires = "generate")]
    shuffle: bool,
}

/// Parses a pattern and its size.
fn pattern(text: &str) -> Result<(Pattern, Vec<u32>), String> {
    let fault = || {
        let names = Pattern::ALL.map(|pattern| pattern.name().to_owned());
        format!("a program is one of {} with its size, such as ring:64 or mesh:8x8", names.join(", "))
    };
    let (name, size) = text.split_once(':').ok_or_else(fault)?;
    let pattern: Pattern = name.parse().map_err(|_| fault())?;
    let lengths: Result<Vec<u32>, _> = size.split('x').map(str::parse).collect();
    Ok((pattern, lengths.map_err(|_| fault())?))
}

/// A program that is generated, or whose communication graph is written.
pub(crate) struct GenerateJob<'a> {
    pub(crate) options: &'a GenerateOptions,
    pub(crate) report: &'a ReportOptions,
    pub(crate) outputs: &'a Outputs,
    pub(crate) model: OutputId,
    pub(crate) json: Option<OutputId>,
    pub(crate) console: Console,
}

/// What was made, as written to `--json`.
#[derive(Serialize)]
struct GenerateReport {
    program: &'static str,
    version: &'static str,
    tasks: usize,
    messages: u64,
    flits: u64,
    /// Edges of the communication graph.
    m: usize,
}

impl GenerateJob<'_> {
    /// Writes a program of a pattern.
    pub(crate) fn generate(
        &self,
        (pattern, lengths): &(Pattern, Vec<u32>),
        seed: u64,
    ) -> anyhow::Result<End> {
        let &GenerateOptions { rounds, flits, cycles, shuffle, .. } = self.options;
        let size = Size { rounds, flits, cycles };
        let program = generate::program(*pattern, lengths, size, seed);
        let mut program = program.map_err(|error| UsageError(error.to_string()))?;
        if shuffle {
            program = generate::shuffled(&program, seed);
        }
        self.write(&program, &|out| io::program::write(out, &program))
    }

    /// Writes the communication graph of a program.
    pub(crate) fn model(&self, source: Source<'_>, files: &[PathBuf]) -> anyhow::Result<End> {
        if files.len() > 1 {
            return Err(UsageError("a model is made of one program in time".to_owned()).into());
        }
        let progress = Progress::new(self.report.quiet);
        signals::listen(&progress, First::Ends);
        let program = io::program::read(source)?;
        let graph = program.graph();
        self.write(&program, &|out| io::metis::write(out, &graph, generate_model::WEIGHTS))
    }

    fn write(
        &self,
        program: &Program,
        content: &dyn Fn(&mut dyn std::io::Write) -> std::io::Result<()>,
    ) -> anyhow::Result<End> {
        tell_program(self.console, program);
        let report = GenerateReport {
            program: generate_model::NAME,
            version: env!("CARGO_PKG_VERSION"),
            tasks: program.num_tasks(),
            messages: program.num_messages(),
            flits: program.num_flits(),
            m: program.graph().num_edges(),
        };
        self.outputs
            .write(&[(Some(self.model), content), (self.json, &|out| files::write_json(out, &report))])?;
        self.console.line(format_args!("written to {}", self.outputs.name(self.model)));
        Ok(End::Done)
    }
}

/// Whether a source is a program in time; it stays to be read.
pub(crate) fn is_program(source: &mut Source<'_>) -> bool {
    io::program::is_program(&source.start())
}

/// A program that is to be mapped.
pub(crate) struct MapJob<'a> {
    pub(crate) file: &'a Path,
    pub(crate) start: Option<&'a Path>,
    pub(crate) machine_options: &'a MachineOptions,
    pub(crate) options: &'a MapProgramOptions,
    pub(crate) preset: MapPreset,
    pub(crate) config: MapConfig,
    pub(crate) report: &'a ReportOptions,
    pub(crate) verify: bool,
    pub(crate) picture: &'a PictureOptions,
    pub(crate) places: Places<'a>,
    pub(crate) console: Console,
}

/// Where the results of a mapping go.
pub(crate) struct Places<'a> {
    pub(crate) outputs: &'a mut Outputs,
    pub(crate) mapping: OutputId,
    pub(crate) json: Option<OutputId>,
    pub(crate) picture: Option<OutputId>,
    pub(crate) planned: Option<Planned>,
}

/// What the program did, as written to `--json`.
#[derive(Serialize)]
struct MapReport<'a> {
    program: &'static str,
    version: &'static str,
    model: String,
    tasks: usize,
    messages: u64,
    flits: u64,
    seed: u64,
    machine: JsonMachine,
    preconfiguration_mapping: MapPreset,
    tasks_per_pe: u32,
    judge: &'static str,
    settings: AssignConfig,
    #[serde(flatten)]
    report: &'a AssignReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    launch: Option<JsonLaunch>,
}

/// Maps a program.
pub(crate) fn map(mut job: MapJob<'_>, source: Source<'_>, machine: Box<dyn Machine>) -> anyhow::Result<End> {
    let started = Instant::now();
    let program = io::program::read(source)?;
    let whole = machine.as_ref();
    let room = job.room(&program, whole)?;
    job.check_launch(&program, whole, room)?;
    let machine: Box<dyn Machine> = match room {
        Some(room) => Box::new(Capacities::new(whole, vec![room; whole.num_pes()])?),
        None => Box::new(whole),
    };
    let machine = machine.as_ref();
    let start = job.start.map(|path| files::read_mapping(path, program.num_tasks(), machine)).transpose()?;
    let progress = Progress::new(job.report.quiet);
    let received = signals::listen(&progress, First::AsksToStop);
    let console = job.console;
    console.line(format_args!("io time: {:.6}", started.elapsed().as_secs_f64()));
    tell_program(console, &program);
    machine::tell(console, machine);
    let mut config = AssignConfig::preset(job.preset);
    config.mapping = job.config;
    config.costs = job.options.costs.costs();
    if job.options.judge() == Judge::Estimate {
        config.simulated = 0;
    }
    let assignment = {
        let observer = StopAtSignal { observer: progress, received: received.clone() };
        assign(&program, machine, &config, start.as_ref(), &observer)?
    };
    tell_assignment(console, &assignment.report);
    let (launch, refused) =
        launch::of_mapping(job.places.planned.take(), whole, &assignment.mapping, job.places.outputs);
    config.mapping = config.mapping.effective_on(machine);
    let report = MapReport {
        program: "viem",
        version: env!("CARGO_PKG_VERSION"),
        model: files::name(job.file),
        tasks: program.num_tasks(),
        messages: program.num_messages(),
        flits: program.num_flits(),
        seed: job.config.seed,
        machine: job.machine_options.report(machine),
        preconfiguration_mapping: job.preset,
        tasks_per_pe: room.unwrap_or(1),
        judge: job.options.judge().name(),
        settings: config,
        report: &assignment.report,
        launch: launch.as_ref().map(JobLaunch::report),
    };
    // Of tasks that share PEs, stretches of equal length are drawn beside the mapping.
    let name = job.places.outputs.name(job.places.mapping);
    let drawn = job.picture.draw(&program.graph(), whole, name, &assignment.mapping, is_shared(room))?;
    let files = launch.iter().flat_map(JobLaunch::files).map(|(id, file)| (id, file.content.as_str()));
    let texts: Vec<(OutputId, &str)> =
        job.places.picture.zip(drawn.as_deref()).into_iter().chain(files).collect();
    job.write(&assignment, &report, &texts, room, whole)?;
    launch.iter().for_each(|launch| launch.tell(console));
    console.line(format_args!("written to {name}"));
    refused.map_or(Ok(()), Err)?;
    Ok(received.interrupt().map_or(End::Done, End::Signal))
}

/// Whether several tasks may share a PE.
fn is_shared(room: Option<u32>) -> bool {
    room.is_some_and(|room| room > 1)
}

impl MapJob<'_> {
    /// Refuses before any work a launch that no mapping allows.
    fn check_launch(
        &self,
        program: &Program,
        machine: &dyn Machine,
        room: Option<u32>,
    ) -> anyhow::Result<()> {
        let Some(planned) = &self.places.planned else { return Ok(()) };
        if is_shared(room) {
            let instead = "take a machine with one for each task, and leave out --tasks_per_pe";
            return Err(direct::no_launch(instead).into());
        }
        Ok(planned.check(machine, program.num_tasks())?)
    }

    /// How many tasks each PE has room for, where the machine does not say.
    fn room(&self, program: &Program, machine: &dyn Machine) -> Result<Option<u32>, UsageError> {
        let (tasks, pes) = (program.num_tasks() as u64, machine.num_pes() as u64);
        if let Some(room) = self.options.tasks_per_pe {
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

    fn write(
        &self,
        assignment: &Assignment,
        report: &MapReport<'_>,
        texts: &[(OutputId, &str)],
        room: Option<u32>,
        machine: &dyn Machine,
    ) -> anyhow::Result<()> {
        let Places { outputs, mapping, json, .. } = &self.places;
        let write_mapping = |out: &mut dyn Write| io::mapping::write(out, assignment.mapping.as_slice());
        let write_report = |out: &mut dyn Write| files::write_json(out, report);
        let fills = files::fills(texts);
        let mut contents: Vec<Content<'_>> = vec![(Some(*mapping), &write_mapping), (*json, &write_report)];
        contents.extend(fills.iter().map(|(id, fill)| (Some(*id), fill as _)));
        let staged = outputs.stage(&contents)?;
        if let Some(written) = staged.path(*mapping).filter(|_| self.verify) {
            self.audit(written, &assignment.report, room, machine)?;
            let AssignReport { cost, estimate, .. } = assignment.report;
            self.console.line(format_args!("verified: J of the files is {cost} too"));
            self.console.line(format_args!("verified: F of the files is {estimate:.1} too"));
        }
        Ok(staged.publish()?)
    }

    /// Has the independent auditor recompute J and F from the files.
    fn audit(
        &self,
        mapping: &Path,
        report: &AssignReport,
        room: Option<u32>,
        machine: &dyn Machine,
    ) -> anyhow::Result<()> {
        let costs = self.options.costs.costs();
        let machine = (self.machine_options, machine);
        let audited = files::with_texts(self.file, mapping, machine, |text, mapping, machine| {
            let program = ProgramText {
                text,
                room: room.map(u64::from),
                send_cycles: costs.send,
                receive_cycles: costs.receive,
            };
            verify::audit_program_on(&program, mapping, machine)
        })?;
        compare(&audited, report.cost, report.estimate)
    }
}

/// An error unless the auditor has found the J and the F that were computed.
fn compare(audited: &ProgramAudit, cost: Cost, estimate: f64) -> anyhow::Result<()> {
    files::compare(i128::try_from(audited.cost).unwrap_or(i128::MAX), cost)?;
    if audited.estimate != estimate {
        let message =
            format!("F of the mapping written is {}, but {estimate} was computed", audited.estimate);
        return Err(VerificationError(message).into());
    }
    Ok(())
}

fn tell_program(console: Console, program: &Program) {
    console.line(format_args!(
        "program has {} tasks, {} messages, {} flits",
        program.num_tasks(),
        program.num_messages(),
        program.num_flits()
    ));
}

fn tell_assignment(console: Console, report: &AssignReport) {
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

/// A mapping that is to be scored.
pub(crate) struct ScoreJob<'a> {
    pub(crate) file: &'a Path,
    pub(crate) mapping: &'a Path,
    pub(crate) machine_options: &'a MachineOptions,
    pub(crate) options: &'a SimulationOptions,
    pub(crate) outputs: &'a Outputs,
    pub(crate) json: Option<OutputId>,
    pub(crate) trace: Option<OutputId>,
    pub(crate) picture: Option<OutputId>,
    pub(crate) console: Console,
}

/// What is found out about a mapping of a program, as written to `--json`.
#[derive(Serialize)]
struct ScoreReport<'a> {
    program: &'static str,
    version: &'static str,
    model: String,
    input_mapping: String,
    tasks: usize,
    messages: u64,
    flits: u64,
    machine: JsonMachine,
    #[serde(rename = "J")]
    cost: i128,
    /// F in cycles, unless its table is too large.
    estimate: Option<f64>,
    ideal: f64,
    phases: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    simulation: Option<SimulationReport<'a>>,
}

/// A simulation, as written to `--json`. Times are in cycles.
#[derive(Serialize)]
pub(crate) struct SimulationReport<'a> {
    completion_time: u64,
    latency: Latency,
    busiest_links: Vec<&'a LinkLoad>,
    pes: &'a [PeTime],
}

/// Links that are told.
const TOLD_LINKS: usize = 10;

impl<'a> From<&'a Simulation> for SimulationReport<'a> {
    fn from(simulation: &'a Simulation) -> Self {
        Self {
            completion_time: simulation.completion_time,
            latency: simulation.latency,
            busiest_links: simulation.busiest(TOLD_LINKS),
            pes: &simulation.pes,
        }
    }
}

impl SimulationOptions {
    /// An error if one of these options is there.
    pub(crate) fn refuse(&self, why: &str) -> Result<(), UsageError> {
        options::refuse(&[(self.simulate, "--simulate")], why)?;
        self.refuse_costs(why)
    }

    /// An error if there are costs of instructions.
    pub(crate) fn refuse_costs(&self, why: &str) -> Result<(), UsageError> {
        self.costs.refuse(why)
    }

    /// Adds the timeline, if there is to be one, to the outputs.
    pub(crate) fn add_to(
        &self,
        outputs: &mut Outputs,
        inputs: &[&Path],
    ) -> Result<Option<OutputId>, io::WriteError> {
        self.trace.as_deref().map(|path| outputs.add(path, inputs)).transpose()
    }

    fn run(
        &self,
        program: &Program,
        routing: &Routing,
        mapping: &Mapping,
        costs: Costs,
        is_drawn: bool,
    ) -> anyhow::Result<Option<Simulation>> {
        let settings = Settings { costs, has_timeline: self.trace.is_some() || is_drawn };
        let run = || simulate(program, routing, mapping.as_slice(), settings, &());
        Ok(self.simulate.then(run).transpose()?)
    }

    /// Simulates one phase of all messages of a graph, if that was asked for.
    pub(crate) fn phase(
        &self,
        graph: &CsrGraph,
        machine: &dyn Machine,
        mapping: &Mapping,
    ) -> anyhow::Result<Option<Simulation>> {
        if !self.simulate {
            return Ok(None);
        }
        let (program, routing) = (Program::of_graph(graph)?, Routing::new(machine)?);
        // All messages start at once.
        self.run(&program, &routing, mapping, Costs { send: 0, receive: 0 }, false)
    }
}

/// The timeline of a simulation, as an output.
pub(crate) fn write_trace(
    out: &mut dyn std::io::Write,
    simulation: Option<&Simulation>,
    mapping: &Mapping,
) -> std::io::Result<()> {
    let timeline = simulation.and_then(|simulation| simulation.timeline.as_ref());
    match timeline {
        Some(timeline) => files::write_json(out, &ChromeTrace { timeline, pe_of: mapping.as_slice() }),
        None => Ok(()),
    }
}

/// Scores a mapping of a program.
pub(crate) fn score(job: &ScoreJob<'_>, source: Source<'_>, machine: &dyn Machine) -> anyhow::Result<End> {
    let (console, costs) = (job.console, job.options.costs.costs());
    if job.picture.is_some() && !job.options.simulate {
        let message = "--picture draws what happens when in a program in time; give --simulate too";
        return Err(UsageError(message.to_owned()).into());
    }
    let program = io::program::read(source)?;
    tell_program(console, &program);
    machine::tell(console, machine);
    // Any number of tasks may share a PE.
    let room = (program.num_tasks() as u64).min(u64::from(PeId::MAX - 1) / machine.num_pes() as u64).max(1);
    let roomy = Capacities::new(machine, vec![room as u32; machine.num_pes()])?;
    console.line(format_args!("reading input mapping"));
    let mapping = files::read_mapping(job.mapping, program.num_tasks(), &roomy)?;
    let routing = Routing::new(machine)?;
    let model = Model::new(&program, costs)?;
    let estimate = match Estimate::of(&model, &routing, mapping.as_slice()) {
        Ok(estimate) => Ok(estimate.cycles()),
        // J and the simulation need no table.
        Err(error @ EstimateError::TooLarge { .. }) => Err(error),
        Err(error) => return Err(error.into()),
    };
    let simulation = job.options.run(&program, &routing, &mapping, costs, job.picture.is_some())?;
    let timeline = simulation
        .as_ref()
        .and_then(|simulation| simulation.timeline.as_ref().map(|line| (simulation, line)));
    let drawn = timeline.map(|(simulation, line)| draw_timeline(&files::name(job.mapping), simulation, line));
    let report = ScoreReport {
        program: "evaluator",
        version: env!("CARGO_PKG_VERSION"),
        model: files::name(job.file),
        input_mapping: files::name(job.mapping),
        tasks: program.num_tasks(),
        messages: program.num_messages(),
        flits: program.num_flits(),
        machine: job.machine_options.report(machine),
        cost: crate::assign::cost(&program, machine, mapping.as_slice())?,
        estimate: estimate.as_ref().ok().copied(),
        ideal: model.completion_time as f64,
        phases: model.phases.len(),
        simulation: simulation.as_ref().map(SimulationReport::from),
    };
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", report.cost));
    let ScoreReport { ideal, phases, .. } = report;
    match estimate {
        Ok(estimate) => console.line(format_args!(
            "estimated completion time F = {estimate:.1} (ideal: {ideal:.1}), {phases} different phases"
        )),
        Err(error) => console.line(format_args!("no estimate F (ideal: {ideal:.1}): {error}")),
    }
    simulation.iter().for_each(|simulation| tell_simulation(console, simulation));
    job.outputs.write(&[
        (job.json, &|out| files::write_json(out, &report)),
        (job.trace, &|out| write_trace(out, simulation.as_ref(), &mapping)),
        (job.picture, &|out| out.write_all(drawn.as_deref().unwrap_or_default().as_bytes())),
    ])?;
    Ok(End::Done)
}

/// What a simulation has found, in lines for people.
pub(crate) fn tell_simulation(console: Console, simulation: &Simulation) {
    let Simulation { completion_time, pes, latency, .. } = simulation;
    console.line(format_args!("simulated completion time = {completion_time}"));
    let sum = |part: fn(&PeTime) -> u64| pes.iter().map(|pe| part(pe) as f64).sum::<f64>();
    let all = (*completion_time as f64 * pes.len() as f64).max(1.0);
    console.line(format_args!(
        "processing elements are busy {:.1} %, blocked {:.1} %, idle {:.1} % of the time",
        100.0 * sum(|pe| pe.busy) / all,
        100.0 * sum(|pe| pe.blocked) / all,
        100.0 * sum(|pe| pe.idle) / all
    ));
    console.line(format_args!(
        "messages take {:.1} cycles in the mean, {:.1} if alone, {} at most; {} of {} stay on a processing element",
        latency.mean,
        latency.mean_alone,
        latency.longest,
        latency.local,
        latency.local + latency.messages
    ));
    let busiest = simulation.busiest(TOLD_LINKS);
    if busiest.is_empty() {
        return;
    }
    console.line(format_args!(
        "{:>24} {:>10} {:>14} {:>8} {:>8} {:>14}",
        "busiest links", "messages", "flits", "busy", "held", "waited for"
    ));
    for LinkLoad { name, messages, flits, busy, held, waited, .. } in busiest {
        let share = |cycles: u64| 100.0 * cycles as f64 / (*completion_time).max(1) as f64;
        console.line(format_args!(
            "{name:>24} {messages:>10} {flits:>14} {:>7.1}% {:>7.1}% {waited:>14}",
            share(*busy),
            share(*held)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_j_or_f_than_was_computed_is_noticed() {
        let audited = ProgramAudit { cost: 12, estimate: 3.5 };
        assert!(compare(&audited, 12, 3.5).is_ok());
        let told = |cost, estimate| {
            let error = compare(&audited, cost, estimate).unwrap_err();
            error.downcast::<VerificationError>().expect("it ends as a failed audit does").0
        };
        assert_eq!(told(11, 3.5), "J of the mapping written is 12, but 11 was computed");
        assert_eq!(told(12, 3.75), "F of the mapping written is 3.5, but 3.75 was computed");
    }
}
