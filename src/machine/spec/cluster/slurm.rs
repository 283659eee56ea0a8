//! The job of Slurm that the program runs in: `slurm`, `slurm:node=16:2`, `slurm:topology=topology.conf`, `slurm:group=0`.
//!
//! Hosts and their CPUs are in the environment. What is in a node is what `lstopo` says of this one, if that fits the CPUs of the
//! job; the network is in `topology.yaml` or `topology.conf` beside `slurm.conf`, or in `SLURM_TOPOLOGY_ADDR`.

use std::env;
use std::path::{Path, PathBuf};

use crate::io::Source;
use crate::io::cluster::hostlist;
use crate::io::cluster::hwloc::{self, Object};
use crate::io::cluster::names::{self, Names};
use crate::io::cluster::topology::{self, Topology};
use crate::machine::cluster::{ClusterError, Draft, DraftNode, Unit, plain_nodes};
use crate::machine::spec::cluster::{Parts, inside};
use crate::machine::spec::{ClusterKind, MachineKind, Request, SpecError};
use crate::machine::{Machine, Note};

const KEYS: [&str; 3] = ["node", "topology", "group"];

/// Folders that `slurm.conf` is in where `SLURM_CONF` does not say.
const FOLDERS: [&str; 4] = ["/etc/slurm", "/run/slurm/conf", "/etc/slurm-llnl", "/usr/local/etc"];

pub(in super::super) const SLURM: MachineKind = MachineKind {
    name: "slurm",
    example: "slurm",
    about: "the nodes of the Slurm job that this runs in",
    cluster: Some(ClusterKind {
        may_stand_alone: true,
        files: |rest| {
            let parts = Parts::new(rest, &KEYS);
            parts.option("node").and_then(inside::file_of).into_iter().chain(parts.topology()).collect()
        },
    }),
    make,
};

fn make(request: &Request<'_>) -> Result<Box<dyn Machine>, SpecError> {
    let parts = Parts::new(request.rest, &KEYS);
    if !parts.first.is_empty() {
        let known = "node=, topology= and group=";
        let error = ClusterError::Option { kind: "slurm", option: parts.first.to_owned(), known };
        return Err(request.refused(error));
    }
    let job = Job::read(request, parts.option("group"))?;
    let mut draft = request.draft(Vec::new());
    let node = match parts.option("node") {
        Some(text) => Some(inside::read(request, text, &mut draft.notes)?),
        None => this_node(request, &job, &mut draft.notes),
    };
    let filled = job.fill(&mut draft, node, parts.option("node").is_some());
    filled.map_err(|error| request.refused(error))?;
    draft.topology = match parts.option("topology") {
        Some(_) => super::read_topology(parts.topology())?,
        None => found_topology(&job, &mut draft.notes)?,
    };
    request.cluster(draft)
}

/// What the environment says of a job.
struct Job {
    hosts: Vec<String>,
    /// CPUs of each host, as Slurm counts them, if it says so.
    cpus: Option<Vec<u32>>,
    cpus_per_task: u32,
}

impl Job {
    fn read(request: &Request<'_>, group: Option<&str>) -> Result<Self, SpecError> {
        let refused = |error| request.refused(error);
        let groups = variable("SLURM_HET_SIZE").and_then(|size| size.trim().parse::<u32>().ok());
        let ending = match (groups, group) {
            (Some(groups), None) if groups > 1 => {
                return Err(refused(ClusterError::Heterogeneous { groups, last: groups - 1 }));
            }
            (_, Some(group)) => format!("_HET_GROUP_{group}"),
            (_, None) => String::new(),
        };
        let of_group = |name: &str| {
            let name = format!("{name}{ending}");
            variable(&name).map(|text| (name, text))
        };
        let list = of_group("SLURM_JOB_NODELIST").or_else(|| of_group("SLURM_NODELIST"));
        let (name, list) = list.ok_or_else(|| refused(ClusterError::NoJob { name: "SLURM_JOB_NODELIST" }))?;
        let hosts = hostlist::read(&name, &list)?;
        let cpus = of_group("SLURM_JOB_CPUS_PER_NODE");
        let per_task = of_group("SLURM_CPUS_PER_TASK").and_then(|(_, text)| text.trim().parse().ok());
        let cpus_per_task = per_task.filter(|&cpus: &u32| cpus > 0).unwrap_or(1);
        // Without a number of CPUs there are as many as tasks were asked for.
        let (counts, factor) = match cpus {
            Some(cpus) => (Some(cpus), 1),
            None => (of_group("SLURM_TASKS_PER_NODE"), cpus_per_task),
        };
        let counts =
            counts.map(|(name, text)| Ok::<_, SpecError>((hostlist::read_counts(&name, &text)?, name)));
        let cpus = match counts.transpose()? {
            Some((counts, name)) if counts.len() != hosts.len() => {
                return Err(refused(ClusterError::Counts { name, found: counts.len(), hosts: hosts.len() }));
            }
            Some((counts, _)) => Some(counts.into_iter().map(|count| count.saturating_mul(factor)).collect()),
            None => None,
        };
        Ok(Self { hosts, cpus, cpus_per_task })
    }

    /// Nodes with what is in them: `node` where it has enough for the CPUs of the job.
    fn fill(&self, draft: &mut Draft<'_>, node: Option<Object>, is_given: bool) -> Result<(), ClusterError> {
        let size = node.as_ref().map(|node| (count(node, Unit::Core), count(node, Unit::Pu)));
        let cpus = self.cpus.as_deref().unwrap_or_default();
        let most = cpus.iter().copied().max().unwrap_or(0);
        // Slurm counts hardware threads on most clusters, cores on others.
        let (cores, pus) = size.unwrap_or((most, most));
        let counts_pus = pus > cores && (most > cores || most == pus);
        let threads = if counts_pus { pus.div_ceil(cores) } else { 1 };
        draft.bundle = match draft.unit {
            Unit::Core => self.cpus_per_task.div_ceil(threads) as usize,
            Unit::Pu => self.cpus_per_task as usize,
        };
        let fits = node.is_some() && (most <= pus || is_given);
        if fits {
            let whole = if counts_pus { pus } else { cores };
            let limit = |cpus: u32| {
                let units = match draft.unit {
                    Unit::Core => cpus.div_ceil(threads),
                    Unit::Pu if counts_pus => cpus,
                    Unit::Pu => cpus.saturating_mul(pus.div_ceil(cores)),
                };
                Some(units).filter(|_| cpus != whole)
            };
            let limits = (0..self.hosts.len()).map(|host| cpus.get(host).copied().and_then(limit));
            draft.nodes = self.nodes(limits.map(|limit| (0, limit)));
            draft.insides = node.into_iter().collect();
        } else {
            let cores = if cpus.is_empty() { vec![1; self.hosts.len()] } else { cpus.to_vec() };
            let (insides, inside_of) = plain_nodes(&cores)?;
            draft.nodes = self.nodes(inside_of.into_iter().map(|inside| (inside, None)));
            draft.insides = insides;
        }
        Ok(())
    }

    fn nodes(&self, insides: impl Iterator<Item = (usize, Option<u32>)>) -> Vec<DraftNode> {
        let hosts = self.hosts.iter().cloned().map(Some);
        hosts.zip(insides).map(|(host, (inside, limit))| DraftNode { host, inside, limit }).collect()
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Cores or hardware threads in a part of a node.
fn count(object: &Object, unit: Unit) -> u32 {
    if object.kind == hwloc::ObjectKind::Pu || unit == Unit::Core && object.kind == hwloc::ObjectKind::Core {
        return 1;
    }
    object.children.iter().map(|child| count(child, unit)).sum()
}

/// What is in this node, unless it is plain that it is none of the job's.
fn this_node(request: &Request<'_>, job: &Job, notes: &mut Vec<Note>) -> Option<Object> {
    let mut warn = |text: String| notes.push(Note { text, is_warning: true });
    let flat = "so all cores of a node are taken to be alike; describe the node, such as slurm:node=16:2";
    let node = match inside::this_node(request) {
        Ok(node) => node,
        Err(error) => {
            warn(format!("{error}, {flat}"));
            return None;
        }
    };
    let most = job.cpus.iter().flatten().copied().max().unwrap_or(0);
    let found = count(&node, Unit::Pu);
    if most > found {
        warn(format!("this node has {found} CPUs, nodes of the job have {most}, {flat}"));
        return None;
    }
    let is_own = |name: &String| job.hosts.iter().any(|host| names::are_one(name, host));
    let name = variable("SLURMD_NODENAME").or_else(inside::this_host);
    if !name.as_ref().is_some_and(is_own) {
        let name = name.unwrap_or_else(|| "this node".to_owned());
        warn(format!("{name} is no node of the job; nodes of the job are taken to be like it"));
    }
    Some(node)
}

/// The topology of the cluster, if it can be read here and has the hosts of the job.
fn found_topology(job: &Job, notes: &mut Vec<Note>) -> Result<Topology, SpecError> {
    if job.hosts.len() < 2 {
        return Ok(Topology::Flat);
    }
    let mut note = |text: String| notes.push(Note { text, is_warning: false });
    const ADDRESSES: &str = "SLURM_TOPOLOGY_ADDR";
    let from_file = topology_file()
        .map(|path| (path.display().to_string(), Source::open(&path).and_then(topology::read)));
    let addresses = variable(ADDRESSES).filter(|text| text.split_whitespace().count() > 1);
    let from_addresses =
        addresses.map(|text| (ADDRESSES.to_owned(), topology::read_addresses(ADDRESSES, &text)));
    let mut failures = Vec::new();
    // What the user has not given cannot be his mistake.
    for (name, read) in from_file.into_iter().chain(from_addresses) {
        match read {
            Ok(topology) if has_all(&topology, &job.hosts) => return Ok(topology),
            Ok(_) => failures.push(format!("{name} has not all nodes of the job")),
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
