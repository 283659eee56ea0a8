//! The hosts of a job of LSF, Grid Engine or PBS that the program runs in: `hosts:lsf`, `hosts:sge`, `hosts:pbs`.
//!
//! Each of them says in the environment which hosts a job has, or in a file that the environment names. A file with such a name comes first.

use std::env;
use std::path::{Path, PathBuf};

use crate::files::hostfile::{self, Host};
use crate::nodes::ClusterError;
use crate::spec::cluster_kind::Request;
use crate::spec::error::SpecError;
use viem::machine::Note;
use viem_io::Source;

/// A batch system.
struct Batch {
    name: &'static str,
    about: &'static str,
    /// The way in which a user asks for more ranks on a host.
    more: &'static str,
    /// Variables that say which hosts a job has; the first that is set is taken.
    variables: &'static [(&'static str, Holds)],
}

/// The content of a variable.
#[derive(Clone, Copy)]
enum Holds {
    /// Hosts, each with the number of its slots behind it.
    Counts,
    /// A host for each slot.
    Slots,
    /// The name of a file of hosts.
    File,
    /// The name of a file with a host for each slot.
    FileOfSlots,
}

const ALL: [Batch; 3] = [
    Batch {
        name: "lsf",
        about: "LSF",
        more: " (bsub -n, -R span[ptile=])",
        variables: &[
            ("LSB_MCPU_HOSTS", Holds::Counts),
            ("LSB_DJOB_HOSTFILE", Holds::FileOfSlots),
            ("LSB_HOSTS", Holds::Slots),
        ],
    },
    Batch { name: "sge", about: "Grid Engine", more: " (-pe)", variables: &[("PE_HOSTFILE", Holds::File)] },
    Batch {
        name: "pbs",
        about: "PBS",
        more: " (mpiprocs=)",
        variables: &[("PBS_NODEFILE", Holds::FileOfSlots)],
    },
];

/// The batch system of this name, unless that is a file.
fn named(text: &str) -> Option<&'static Batch> {
    const KNOWN: &[Batch] = &ALL;
    KNOWN.iter().find(|batch| batch.name == text).filter(|_| !Path::new(text).exists())
}

impl Batch {
    /// The variable that says which hosts a job has, what it holds, and its value; if one is set.
    fn found(&self) -> Option<(&'static str, Holds, String)> {
        let value = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        self.variables.iter().find_map(|&(name, holds)| Some((name, holds, value(name)?)))
    }
}

/// The file that hosts are read from, if they are read from one.
pub(super) fn read_for(text: &str) -> Option<PathBuf> {
    match named(text).map(Batch::found) {
        None => Some(PathBuf::from(text)),
        Some(Some((_, Holds::File | Holds::FileOfSlots, value))) => Some(PathBuf::from(value)),
        Some(_) => None,
    }
}

/// The hosts in a file, or those of a job.
pub(super) fn hosts(
    request: &Request<'_>,
    text: &str,
    notes: &mut Vec<Note>,
) -> Result<Vec<Host>, SpecError> {
    let Some(batch) = named(text) else { return Ok(hostfile::read(Source::open(Path::new(text))?)?) };
    let Some((name, holds, value)) = batch.found() else {
        let names = batch.variables.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(" or ");
        return Err(request.refused(ClusterError::NoBatchJob { system: batch.about, names }));
    };
    let lines = match holds {
        Holds::File | Holds::FileOfSlots => None,
        Holds::Counts => Some(value.clone()),
        Holds::Slots => Some(value.split_whitespace().collect::<Vec<_>>().join("\n")),
    };
    let mut hosts = match lines {
        Some(lines) => hostfile::read(Source::new(name, lines.as_bytes())?)?,
        None => hostfile::read(Source::open(Path::new(&value))?)?,
    };
    if batch.name == "lsf" {
        leave_out_launch_node(name, &mut hosts, notes);
    }
    if matches!(holds, Holds::Slots | Holds::FileOfSlots) && hosts.iter().all(|host| host.slots.is_none()) {
        hosts.iter_mut().for_each(|host| host.slots = Some(1));
        notes.push(Note::new(format!(
            "{name} has each host once, so there is one rank on each; ask {} for more{}, or give ranks=",
            batch.about, batch.more
        )));
    }
    Ok(hosts)
}

/// Leaves out the first host of LSF where that only starts jobs: with the Job Step Manager, which launches by `jsrun`, it has one slot and no
/// ranks. Where it only looks like that, says so.
fn leave_out_launch_node(name: &str, hosts: &mut Vec<Host>, notes: &mut Vec<Note>) {
    let slots = |host: &Host| host.slots.unwrap_or(1);
    let [first, others @ ..] = hosts.as_slice() else { return };
    if slots(first) != 1 || others.is_empty() {
        return;
    }
    let first = first.name.clone();
    if env::var_os(JOB_STEP_MANAGER).is_some() {
        hosts.remove(0);
        notes.push(Note::new(format!(
            "{first}, the first host in {name}, only starts the job, and is left out"
        )));
    } else if others.iter().all(|host| slots(host) > 1) {
        notes.push(Note::warning(format!(
            "{first}, the first host in {name}, has one slot, the others have more; it is taken for a host of ranks (give hosts:FILE if it only \
             starts the job)"
        )));
    }
}

/// A variable that jobs of the Job Step Manager of LSF have.
const JOB_STEP_MANAGER: &str = "CSM_ALLOCATION_ID";
