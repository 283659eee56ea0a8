//! What reports of programs say before their results: the program, its input, machine, seed and options. All programs write it alike.

use std::io::{self, Write};

use serde::Serialize;
use viem::base::types::{Distance, PeId};
use viem::machine::Machine;

/// A report as `--json` writes it: what only the program knows, and then what is known of the result. Of the options it holds those that decide the
/// result, so that, times and memory aside, the same result has the same report.
#[derive(Clone, Debug, Serialize)]
pub struct Envelope<O, R> {
    program: &'static str,
    version: &'static str,
    /// The file of the problem, as it was named; nothing if the problem is made.
    input: Option<String>,
    machine: Option<ReportedMachine>,
    seed: Option<u64>,
    /// By their names.
    options: O,
    #[serde(flatten)]
    report: R,
}

impl<O: Serialize, R: Serialize> Envelope<O, R> {
    /// The report of a program on a file, or on a problem that it makes.
    pub fn new(program: &'static str, input: Option<String>, options: O, report: R) -> Self {
        Self {
            program,
            version: env!("CARGO_PKG_VERSION"),
            input,
            machine: None,
            seed: None,
            options,
            report,
        }
    }

    /// The same of a run on a machine.
    pub fn on(self, machine: impl Into<Option<ReportedMachine>>) -> Self {
        Self { machine: machine.into(), ..self }
    }

    /// The same of a run with random choices.
    pub fn seeded(self, seed: impl Into<Option<u64>>) -> Self {
        Self { seed: seed.into(), ..self }
    }

    /// Writes it as JSON.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write_json(out, self)
    }
}

/// Writes indented JSON, with a line break at its end.
///
/// # Errors
///
/// Those of `out`.
pub fn write_json(out: &mut dyn Write, report: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

/// The machine of a run.
#[derive(Clone, Debug, Serialize)]
pub struct ReportedMachine {
    /// As it was given.
    spec: String,
    /// As they were given.
    distances: Option<String>,
    #[serde(flatten)]
    details: MachineDetails,
    description: String,
    num_pes: usize,
    /// Of a regular tree: the arity of each level, innermost first, and its distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    hierarchy: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level_distances: Option<Vec<Distance>>,
    /// The number of each PE in the whole machine, if this is a part of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pes: Option<Vec<PeId>>,
}

/// What else was given about a machine.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MachineDetails {
    /// What a PE is, if that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pe: Option<String>,
    /// The file of latencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<String>,
    /// The file of the cycles of links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_cycles: Option<String>,
}

impl ReportedMachine {
    /// A machine, and the text and the distances that it was made from. O(p) for p PEs.
    pub fn new(machine: &dyn Machine, spec: &str, distances: Option<&str>) -> Self {
        let pes = 0..machine.num_pes() as PeId;
        let are_others = pes.clone().any(|pe| machine.number(pe) != pe);
        Self {
            spec: spec.to_owned(),
            distances: distances.map(str::to_owned),
            details: MachineDetails::default(),
            description: machine.describe(),
            num_pes: machine.num_pes(),
            hierarchy: machine.hierarchy().map(|tree| tree.arities().to_vec()),
            level_distances: machine.hierarchy().map(|tree| tree.distances().to_vec()),
            pes: are_others.then(|| numbers(machine)),
        }
    }

    /// The same with what else was given about it.
    pub fn with_details(self, details: MachineDetails) -> Self {
        Self { details, ..self }
    }

    /// The same with the number of each PE, even if these are all of a machine in order.
    pub fn with_numbers(self, machine: &dyn Machine) -> Self {
        Self { pes: Some(numbers(machine)), ..self }
    }
}

fn numbers(machine: &dyn Machine) -> Vec<PeId> {
    (0..machine.num_pes() as PeId).map(|pe| machine.number(pe)).collect()
}
