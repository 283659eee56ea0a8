//! The files and the line that launch a job as it was mapped.

use std::path::Path;

use clap::Args;
use serde::Serialize;

use crate::console::Console;
use crate::error;
use crate::job::Plan;
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem_io::Outputs;
use viem_io::output::OutputId;
use viem_launch as launch;
use viem_launch::{Launch, LaunchError, LaunchFile, LauncherKind};

/// How the job is to be launched.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct LaunchOptions {
    #[arg(long, value_name = "KIND[:FILE[,FILE]]", value_parser = parse, help = help())]
    launch: Option<Asked>,
}

fn help() -> String {
    let names = launch::KINDS.map(|kind| kind.name);
    let (last, others) = names.split_last().expect("there are launchers");
    format!(
        "Also write what a launcher needs to start the job. As it is mapped; the line to paste is printed. Launchers: {} or {last}. \
         Files have names such as rankfile unless others are given. \
         Nothing is started",
        others.join(", ")
    )
}

#[derive(Clone, Debug)]
struct Asked {
    kind: &'static LauncherKind,
    /// As many as the kind has files, or fewer.
    files: Vec<String>,
}

fn parse(text: &str) -> Result<Asked, String> {
    let (name, files) = text.split_once(':').map_or((text, None), |(name, files)| (name, Some(files)));
    let kind = launch::kind(name).ok_or_else(|| {
        let names: Vec<&str> = launch::KINDS.iter().map(|kind| kind.name).collect();
        format!("there is no launcher `{name}`; there are {}", names.join(", "))
    })?;
    let files: Vec<String> = files.map_or(Vec::new(), |files| files.split(',').map(str::to_owned).collect());
    if files.iter().any(String::is_empty) {
        return Err(format!("a file of {name} has no name"));
    }
    if files.len() > kind.files.len() {
        return Err(format!(
            "{name} has {} ({}), but {} names are given",
            count(kind),
            kind.files.join(", "),
            files.len()
        ));
    }
    Ok(Asked { kind, files })
}

fn count(kind: &LauncherKind) -> &'static str {
    if kind.files.len() == 1 { "one file" } else { "two files" }
}

/// A launch that was asked for, and where its files go.
pub(crate) struct Planned {
    kind: &'static LauncherKind,
    files: Vec<String>,
    outputs: Vec<OutputId>,
    /// Those that were there before, although nobody has named them.
    replaced: Vec<String>,
}

impl LaunchOptions {
    /// Whether a launch was asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.launch.is_some()
    }

    /// Adds the files, if a launch was asked for, to the results.
    pub(crate) fn plan(&self, plan: &mut Plan<'_>) -> error::Result<Option<Planned>> {
        let Some(Asked { kind, files }) = &self.launch else { return Ok(None) };
        let defaults = kind.files[files.len()..].iter().map(|&name| name.to_owned());
        let replaced = defaults.clone().filter(|name| Path::new(name).exists()).collect();
        let files: Vec<String> = files.iter().cloned().chain(defaults).collect();
        let outputs =
            files.iter().map(|file| plan.output("--launch", Path::new(file))).collect::<Result<_, _>>()?;
        Ok(Some(Planned { kind, files, outputs, replaced }))
    }
}

impl Planned {
    /// Refuses before any work what no mapping of `num_processes` processes to this machine can do. Where some PEs stay free, more can go
    /// wrong later.
    pub(crate) fn check(&self, machine: &dyn Machine, num_processes: usize) -> Result<(), LaunchError> {
        let Some(mapping) = Mapping::in_order(machine, num_processes) else { return Ok(()) };
        let are_alike = num_processes as u64 == machine.room();
        let must_share = num_processes > machine.num_pes();
        match self.kind.launch(machine, &mapping, &self.files) {
            Err(error) if are_alike || must_share && error.is_of_sharing() => Err(error),
            Err(error) if !error.depends_on_mapping() => Err(error),
            _ => Ok(()),
        }
    }

    /// The launch of a mapping.
    fn of(self, machine: &dyn Machine, mapping: &Mapping) -> Result<JobLaunch, LaunchError> {
        let launch = self.kind.launch(machine, mapping, &self.files)?;
        Ok(JobLaunch { planned: self, launch })
    }
}

/// The launch of a mapping, if one was asked for, or why there is none: such a mapping is written nevertheless. Files that are run
/// become programs.
pub(crate) fn of_mapping(
    planned: Option<Planned>,
    machine: &dyn Machine,
    mapping: &Mapping,
    outputs: &mut Outputs,
) -> (Option<JobLaunch>, Option<LaunchError>) {
    match planned.map(|planned| planned.of(machine, mapping)).transpose() {
        Ok(launch) => {
            for (id, _) in launch.iter().flat_map(JobLaunch::files).filter(|(_, file)| file.is_program) {
                outputs.make_program(id);
            }
            (launch, None)
        }
        Err(error) => (None, Some(error)),
    }
}

/// A launch that was asked for, of the mapping that was found.
pub(crate) struct JobLaunch {
    planned: Planned,
    launch: Launch,
}

impl JobLaunch {
    /// Where each file goes.
    fn files(&self) -> impl Iterator<Item = (OutputId, &LaunchFile)> {
        self.planned.outputs.iter().copied().zip(&self.launch.files)
    }

    /// Where each file goes, and what it holds.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (OutputId, &str)> {
        self.files().map(|(id, file)| (id, file.content.as_str()))
    }

    /// Prints what was written, and the line to paste.
    pub(crate) fn print(&self, console: Console) {
        let Planned { kind, files, replaced, .. } = &self.planned;
        if !replaced.is_empty() {
            console.note(format_args!("replaced {}", replaced.join(", ")));
        }
        console.line(format_args!("launch files for {}: {}", kind.name, files.join(", ")));
        if let Some(line) = &self.launch.line {
            console.line(format_args!("launch with: {line}"));
        }
    }

    pub(crate) fn report(&self) -> JsonLaunch {
        let Planned { kind, files, .. } = &self.planned;
        JsonLaunch { kind: kind.name, files: files.clone(), line: self.launch.line.clone() }
    }
}

/// The launch, as written to `--json`.
#[derive(Serialize)]
pub(crate) struct JsonLaunch {
    kind: &'static str,
    files: Vec<String>,
    line: Option<String>,
}
