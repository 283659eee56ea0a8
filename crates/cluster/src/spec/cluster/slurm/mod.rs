//! The job of Slurm that the program runs in: `slurm`, `slurm:node=16:2`, `slurm:topology=topology.conf`, `slurm:group=0`.
//!
//! Hosts, how many CPUs the job has on each and its tasks are in the environment; which CPUs these are, how large nodes are, and the tasks
//! of a job from inside a step come from `scontrol`, if it can be run. The inside of a node is that of this one by `lstopo`, if that fits;
//! the network is in `topology.yaml` or `topology.conf` beside `slurm.conf`, or in `SLURM_TOPOLOGY_ADDR`.
//!
//! | member | contents |
//! |---|---|
//! | `variables` | the environment, and where in a job the program runs |
//! | `controller` | what `scontrol` says |
//! | `job` | hosts, CPUs and tasks |
//! | `near` | which of the CPUs near GPUs belong to the job |
//! | `nodes` | the inside of a node, its CPUs of the job, and those of a rank |

mod controller;
mod job;
mod near;
mod nodes;
mod variables;

use std::path::{Path, PathBuf};

use crate::files::names::Names;
use crate::files::topology::{self, Topology};
use crate::nodes::{ClusterError, ClusterSpec};
use crate::spec::cluster::described::Described;
use crate::spec::cluster::inside;
use crate::spec::cluster::parts::Parts;
use crate::spec::cluster_kind::{ClusterKind, Request};
use crate::spec::error::SpecError;
use job::Job;
pub(super) use variables::job_of;
use variables::{Variables, variable};
use viem::machine::{Machine, Note};
use viem_io::Source;

const KEYS: [&str; 5] = ["node", "topology", "group", "ranks", "cores"];

/// Folders that `slurm.conf` is in where `SLURM_CONF` does not say.
const FOLDERS: [&str; 4] = ["/etc/slurm", "/run/slurm/conf", "/etc/slurm-llnl", "/usr/local/etc"];

pub(in crate::spec) const SLURM: ClusterKind = ClusterKind {
    name: "slurm",
    example: "slurm",
    about: "the nodes of the Slurm job that this runs in",
    may_stand_alone: true,
    files: |rest| {
        let parts = Parts::new(rest, &KEYS);
        let has_topology = parts.option("topology").is_some();
        let found = topology_file().filter(|_| !has_topology);
        found.into_iter().chain(inside::read_for_this_node()).chain(parts.files(None)).collect()
    },
    make,
};

fn make(request: &Request<'_>) -> Result<Box<dyn Machine>, SpecError> {
    let parts = Parts::new(request.rest, &KEYS);
    if !parts.first.is_empty() {
        let known = "node=, ranks=, cores=, topology= and group=";
        let error = ClusterError::Option { kind: "slurm", option: parts.first.to_owned(), known };
        return Err(request.refused(error));
    }
    let mut draft = request.draft(Vec::new());
    let variables = Variables::of_job(&parts).map_err(|error| request.refused(error))?;
    let mut job = Job::read(request, &variables, &mut draft.notes)?;
    draft.slurm_job = Some(variables.launched(job.hosts.clone()));
    let names: Vec<&str> = job.hosts.iter().map(String::as_str).collect();
    let given = parts.option("node").map(|text| inside::read(request, text, &mut draft.notes)).transpose()?;
    let mut described = Described::new(request, &parts, &names, given, &mut draft.notes)?;
    nodes::describe(request, &job, &mut described, &mut draft.notes);
    job.fill(request, &mut draft, described).map_err(|error| request.refused(error))?;
    if ["ranks", "cores"].iter().all(|key| parts.option(key).is_none()) {
        job.set_tasks(request, &mut draft).map_err(|error| request.refused(error))?;
    }
    request.set_ranks(&mut draft, &parts)?;
    draft.nodes.iter_mut().filter(|node| node.ranks.is_some()).for_each(|node| node.slots = None);
    let name = job.facts.are_answers.then(controller::topology_of_partition).flatten();
    draft.topology = match parts.topology() {
        Some(path) => topology::read_named(Source::open(path)?, name.as_deref())?,
        None if parts.option("topology").is_some() => Topology::Flat,
        None => found_topology(&job, name.as_deref(), &mut draft.notes)?,
    };
    job.check_order(&variables, &draft.topology, &mut draft.notes).map_err(|error| request.refused(error))?;
    request.cluster(draft)
}

impl Job {
    /// Gives each task room, and notes the options for tasks in a line that starts a step.
    fn set_tasks(&mut self, request: &Request<'_>, draft: &mut ClusterSpec<'_>) -> Result<(), ClusterError> {
        if nodes::has_gpus(request, draft) {
            self.launch_on_gpus(draft);
        } else {
            self.make_room(draft)?;
            self.print_guess(draft);
        }
        if let Some(job) = &mut draft.slurm_job {
            (job.ranks_from, job.is_overcommitted) = (self.ranks_from.clone(), self.is_overcommitted());
        }
        Ok(())
    }
}

/// The topology of the cluster, if it can be read here and has the hosts of the job.
fn found_topology(job: &Job, name: Option<&str>, notes: &mut Vec<Note>) -> Result<Topology, SpecError> {
    if job.hosts.len() < 2 {
        return Ok(Topology::Flat);
    }
    let mut note = |text: String| notes.push(Note::new(text));
    const ADDRESSES: &str = "SLURM_TOPOLOGY_ADDR";
    let from_file = topology_file().map(|path| {
        (
            path.display().to_string(),
            Source::open(&path).and_then(|source| topology::read_named(source, name)),
        )
    });
    let addresses = variable(ADDRESSES).filter(|text| text.split_whitespace().count() > 1);
    let from_addresses =
        addresses.map(|text| (ADDRESSES.to_owned(), topology::read_addresses(ADDRESSES, &text)));
    let mut failures = Vec::new();
    // What the user has not given cannot be his mistake.
    for (file, read) in from_file.into_iter().chain(from_addresses) {
        match read {
            Ok(topology) if has_all(&topology, &job.hosts) => return Ok(topology),
            Ok(_) => failures.push(format!("{file} has not all nodes of the job")),
            Err(error) => failures.push(error.to_string()),
        }
    }
    if failures.is_empty() {
        note(
            "no topology of the cluster is found; all nodes are taken to be alike (give topology=FILE, which may hold the \
             addresses of the nodes: srun --ntasks-per-node=1 printenv SLURM_TOPOLOGY_ADDR > FILE)"
                .to_owned(),
        );
    }
    for failure in failures {
        note(format!("{failure}; all nodes are taken to be alike (give topology=FILE)"));
    }
    Ok(Topology::Flat)
}

fn has_all(topology: &Topology, hosts: &[String]) -> bool {
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let found = Names::new(topology.nodes()).find_all(&hosts);
    *topology == Topology::Flat || found.is_ok_and(|found| found.iter().all(Option::is_some))
}

/// `topology.yaml`, which comes first, or `topology.conf`, beside `slurm.conf`.
fn topology_file() -> Option<PathBuf> {
    let own = variable("SLURM_CONF").and_then(|path| Path::new(&path).parent().map(Path::to_path_buf));
    let folders = match own {
        Some(folder) => vec![folder],
        None => FOLDERS.iter().map(PathBuf::from).collect(),
    };
    let files =
        folders.iter().flat_map(|folder| ["topology.yaml", "topology.conf"].map(|name| folder.join(name)));
    files.into_iter().find(|path| path.is_file())
}
