//! Processes, vertices and objects that must be in given places.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::console::Console;
use crate::error::{Result, UsageError};
use crate::files;
use crate::loads::agreeing;
use viem::base::settings::named;
use viem::base::types::{PeId, Weight};
use viem::graph::CsrGraph;
use viem::machine::{Machine, Nodes};
use viem::mapping::Mapping;
use viem::partition::FixedVertices;
use viem_io::Source;
use viem_io::fixed::{self, FixedKind};
use viem_io::mapping::Room;
use viem_verify as verify;

/// The file of fixed processes or vertices.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Constraints")]
pub(crate) struct FixedOptions {
    /// Processes or vertices that must be on given PEs, or in given blocks. Line i holds the PE or block of
    /// number i, or -1 if it is free; or each line holds a number and its PE or block, all from 0
    #[arg(long, value_name = "FILE")]
    fixed: Option<PathBuf>,
}

named! {
    /// What must be on the first host.
    pub enum FirstHost: "rank" {
        /// Rank 0, without which some launchers do not start.
        Rank0 = "rank0",
    }
}

/// What is fixed, and what the auditor reads to check it.
pub(crate) struct Fixed {
    pub(crate) vertices: FixedVertices,
    file: Option<PathBuf>,
    /// The PE of process 0, if only the first host was asked for.
    on_first_host: Option<PeId>,
}

impl FixedOptions {
    /// The file that is read, if one is.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.fixed.as_deref()
    }

    /// Reads what is fixed, if anything is.
    pub(crate) fn read(&self, number: usize, room: Room<'_>, kind: FixedKind) -> Result<Option<Fixed>> {
        let Some(path) = &self.fixed else { return Ok(None) };
        let vertices = fixed::read(Source::open(path)?, number, room, kind)?;
        Ok(Some(Fixed { vertices, file: Some(path.clone()), on_first_host: None }))
    }

    /// Reads which processes are fixed on a machine that has a place for each.
    pub(crate) fn read_processes(&self, number: usize, machine: &dyn Machine) -> Result<Option<Fixed>> {
        let capacity = |pe| machine.capacity(pe);
        self.read(number, Room::new(machine.num_pes(), &capacity), FixedKind::Processes)
    }

    /// Reads which vertices are fixed on a machine of which each PE has room for many, unless it has no capacity.
    pub(crate) fn read_vertices(&self, number: usize, machine: &dyn Machine) -> Result<Option<Fixed>> {
        let room = |pe| if machine.capacity(pe) > 0 { u32::MAX } else { 0 };
        self.read(number, Room::new(machine.num_pes(), &room), FixedKind::Vertices)
    }
}

/// What is fixed if rank 0 must be on the first host: it is fixed where the mapping to improve has it, or on the first
/// PE of that host with room. An error if it cannot be there.
pub(crate) fn with_rank0_on_first_host(
    fixed: Option<Fixed>,
    machine: &dyn Machine,
    (num_processes, start): (usize, Option<&Mapping>),
) -> Result<Option<Fixed>> {
    if num_processes == 0 {
        return Ok(fixed);
    }
    let nodes = Nodes::of(machine);
    let mut fixed = fixed.unwrap_or_else(|| Fixed {
        vertices: FixedVertices::none(num_processes, machine.num_pes()),
        file: None,
        on_first_host: None,
    });
    let is_first = |&pe: &PeId| nodes.node(pe) == 0;
    let first = &nodes.hosts()[0];
    let elsewhere = |by: String, pe: PeId| {
        let host = nodes.site(pe).host;
        let message =
            format!("--first-host=rank0: {by} process 0 on PE {pe} of {host}, but the first host is {first}");
        UsageError(message)
    };
    if let Some(pe) = fixed.vertices.of(0) {
        let by = || format!("{} fixes", fixed.file.as_deref().map_or_else(String::new, files::name));
        return if is_first(&pe) { Ok(Some(fixed)) } else { Err(elsewhere(by(), pe).into()) };
    }
    let pe = match start {
        Some(start) if is_first(&start.pe_of(0)) => start.pe_of(0),
        Some(start) => return Err(elsewhere("--initial puts".to_owned(), start.pe_of(0)).into()),
        None => {
            let mut left = machine.capacities();
            fixed.vertices.iter().for_each(|(_, pe)| left[pe as usize] -= 1);
            let free = (0..machine.num_pes() as PeId).filter(is_first).find(|&pe| left[pe as usize] > 0);
            free.ok_or_else(|| {
                let message = format!("--first-host=rank0: other processes are fixed on all PEs of {first}");
                UsageError(message)
            })?
        }
    };
    fixed.vertices.fix(0, pe).expect("process 0 is free, and the PE exists");
    fixed.on_first_host = Some(pe);
    Ok(Some(fixed))
}

impl Fixed {
    /// Says how many are fixed. `items` are what they are.
    pub(crate) fn print(&self, console: Console, items: &str) {
        let (count, all) = (self.vertices.count(), self.vertices.num_vertices());
        let first = self
            .on_first_host
            .map_or_else(String::new, |pe| format!(", rank 0 on PE {pe} of the first host"));
        let are = agreeing(count, "is", "are");
        console.line(format_args!("{count} of {all} {items} {are} fixed{first}"));
    }

    /// Warns if fixed vertices alone are heavier than a bound.
    pub(crate) fn warn_of_loads(&self, console: Console, graph: &CsrGraph, bounds: &[Weight], place: &str) {
        let loads = self.vertices.loads(graph);
        let excess = |(load, bound): (&Weight, &Weight)| load > bound;
        let over: Vec<usize> =
            (0..loads.len()).filter(|&block| excess((&loads[block], &bounds[block]))).collect();
        if let Some(&first) = over.first() {
            let others = if over.len() > 1 {
                format!(", and so are those of {} others", over.len() - 1)
            } else {
                String::new()
            };
            console.warn(format_args!(
                "the vertices that are fixed to {place} {first} weigh {}, more than its bound of {}{others}; allow more --imbalance, or fix fewer",
                loads[first], bounds[first]
            ));
        }
    }

    /// Has the auditor read again what is fixed, and compare it with the text of what was written.
    pub(crate) fn check(&self, mapping: &str, console: Console, items: &str) -> Result<()> {
        self.check_by(console, items, |fixed| verify::audit_fixed(fixed, mapping))
    }

    /// The same for the text of an assignment of objects.
    pub(crate) fn check_objects(&self, assignment: &str, console: Console) -> Result<()> {
        let number = self.vertices.num_vertices();
        self.check_by(console, "objects", |fixed| verify::audit_fixed_objects(fixed, assignment, number))
    }

    fn check_by(
        &self,
        console: Console,
        items: &str,
        audit: impl Fn(&str) -> Result<usize, verify::AuditError>,
    ) -> Result<()> {
        let mut count = 0;
        if let Some(file) = &self.file {
            count += audit(&files::text(file)?)?;
        }
        if let Some(pe) = self.on_first_host {
            count += audit(&format!("0 {pe}\n"))?;
        }
        console.line(format_args!("verified: all {count} fixed {items} are where they must be"));
        Ok(())
    }

    /// What was fixed, as written to `--json`.
    pub(crate) fn report(&self) -> JsonFixed {
        JsonFixed {
            file: self.file.as_deref().map(files::name),
            rank0_on_first_host: self.on_first_host,
            number: self.vertices.count(),
        }
    }
}

/// What was fixed, as written to `--json`.
#[derive(Serialize)]
pub(crate) struct JsonFixed {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The PE of rank 0, if it had only to be on the first host.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank0_on_first_host: Option<PeId>,
    number: usize,
}
