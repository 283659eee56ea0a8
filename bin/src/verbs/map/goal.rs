//! `--goal`: the GOAL schedule of a job, with its ranks named by the PEs they are mapped to.

use std::path::Path;

use crate::console::Console;
use crate::error::{Result, UsageError};
use crate::files;
use viem::base::types::PeId;
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem_io::Source;
use viem_traffic::relabel_goal;

/// Where the schedule goes, unless another file is named.
const MAPPED: &str = "mapped.goal";

/// The names of two files, of which the second may be left out.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    schedule: String,
    mapped: Option<String>,
}

impl Goal {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (schedule, mapped) =
            text.split_once(',').map_or((text, None), |(schedule, mapped)| (schedule, Some(mapped)));
        if schedule.is_empty() || mapped.is_some_and(|name| name.is_empty() || name.contains(',')) {
            return Err("give a schedule, and perhaps the file to write behind a comma".to_owned());
        }
        Ok(Self { schedule: schedule.to_owned(), mapped: mapped.map(str::to_owned) })
    }

    /// The schedule that is read.
    pub(crate) fn schedule(&self) -> &Path {
        Path::new(&self.schedule)
    }

    /// The file that is written.
    pub(super) fn mapped(&self) -> &Path {
        Path::new(self.mapped.as_deref().unwrap_or(MAPPED))
    }

    /// Whether the file is there already, although nobody has named it.
    pub(super) fn replaces(&self) -> bool {
        self.mapped.is_none() && Path::new(MAPPED).exists()
    }

    /// Reads the schedule. Refuses before any work what no mapping of so many processes can rename.
    pub(super) fn read(&self, machine: &dyn Machine, num_processes: usize) -> Result<Schedule> {
        if (0..machine.num_pes() as PeId).any(|pe| machine.capacity(pe) > 1) {
            let message = "--goal names ranks by their PEs, so each of these may have one rank only";
            return Err(UsageError(message.to_owned()).into());
        }
        let schedule = Schedule { name: files::name(self.schedule()), bytes: files::bytes(self.schedule())? };
        let places: Vec<PeId> = (0..num_processes as PeId).collect();
        schedule.renamed(&places, num_processes)?;
        Ok(schedule)
    }
}

/// A schedule as it was read.
pub(super) struct Schedule {
    name: String,
    bytes: Vec<u8>,
}

impl Schedule {
    /// The schedule in which ranks have the numbers of their PEs.
    pub(super) fn renamed_by(&self, mapping: &Mapping, machine: &dyn Machine) -> Result<String> {
        self.renamed(mapping.pes(), machine.num_pes())
    }

    fn renamed(&self, places: &[PeId], num_places: usize) -> Result<String> {
        Ok(relabel_goal(Source::new(&self.name, self.bytes.as_slice())?, places, num_places)?)
    }
}

/// Prints where the schedule was written, and whether it replaced another one.
pub(super) fn print(console: Console, place: &str, replaces: bool) {
    if replaces {
        console.note(format_args!("replaced {place}"));
    }
    console.line(format_args!("schedule with the ranks as mapped: {place}"));
}
