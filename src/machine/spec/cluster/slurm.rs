//! The job of Slurm that the program runs in: `slurm`, `slurm:node=16:2`, `slurm:topology=topology.conf`, `slurm:group=0`.
//!
//! Hosts, their CPUs and their tasks are in the environment. What is in a node is what `lstopo` says of this one, if that fits the CPUs
//! of the job; the network is in `topology.yaml` or `topology.conf` beside `slurm.conf`, or in `SLURM_TOPOLOGY_ADDR`.

use std::env;
use std::path::{Path, PathBuf};

use crate::io::cluster::hostlist;
use crate::io::cluster::hwloc::Object;
use crate::io::cluster::names::{self, Names};
use crate::io::cluster::topology::{self, Topology};
use crate::io::{ReadError, Source};
use crate::machine::cluster::{ClusterError, Draft, DraftNode, Unit, plain_nodes};
use crate::machine::spec::cluster::described::Described;
use crate::machine::spec::cluster::{Parts, inside};
use crate::machine::spec::{ClusterKind, MachineKind, PeKind, Request, SpecError};
use crate::machine::{Machine, Note, SlurmJob};

const KEYS: [&str; 5] = ["node", "topology", "group", "ranks", "cores"];

/// The hosts of a job.
const NODELIST: &str = "SLURM_JOB_NODELIST";

/// The first of the numbers that stand for the batch script and other steps that Slurm itself starts.
const FIRST_SPECIAL_STEP: u32 = 0xffff_ff00;

/// Variables of a job that `srun` takes for options of a step. Each rank has its CPUs from the script that starts it: a step that has
/// CPUs for some tasks only, or another number of tasks than the hosts that are listed, does not fit.
const OPTIONS_OF_STEPS: [&str; 4] =
    ["SLURM_CPUS_PER_TASK", "SLURM_TRES_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_NTASKS_PER_NODE"];

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
            let has_topology = parts.option("topology").is_some();
            let found = topology_file().filter(|_| !has_topology);
            found.into_iter().chain(inside::read_for_this_node()).chain(parts.files(None)).collect()
        },
    }),
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
    let job = Job::read(request, &variables, &mut draft.notes)?;
    draft.slurm_job = Some(variables.launched(job.hosts.clone()));
    let names: Vec<&str> = job.hosts.iter().map(String::as_str).collect();
    let given = parts.option("node").map(|text| inside::read(request, text, &mut draft.notes)).transpose()?;
    let is_given = given.is_some();
    let mut described = Described::new(request, &parts, &names, given, &mut draft.notes)?;
    if !is_given && described.inside_of.contains(&None) {
        let others = this_node(request, &job, &mut draft.notes);
        described = Described::new(request, &parts, &names, others, &mut Vec::new())?;
    }
    job.fill(&mut draft, described).map_err(|error| request.refused(error))?;
    if ["ranks", "cores"].iter().all(|key| parts.option(key).is_none()) {
        job.make_room(&mut draft);
    }
    request.set_ranks(&mut draft, &parts)?;
    draft.nodes.iter_mut().filter(|node| node.ranks.is_some()).for_each(|node| node.slots = None);
    draft.topology = match parts.option("topology") {
        Some(_) => super::read_topology(parts.topology())?,
        None => found_topology(&job, &mut draft.notes)?,
    };
    request.cluster(draft)
}

/// The job of Slurm that this runs in, if all of some hosts belong to it, or to one of its groups.
pub(super) fn job_of(hosts: &[&str]) -> Option<SlurmJob> {
    let groups = (0..num_groups()).map(Variables::of_group);
    let whole = Variables { group: None, ending: String::new() };
    std::iter::once(whole).chain(groups).find_map(|variables| variables.job_of(hosts))
}

/// The groups of a heterogeneous job. Other jobs have one.
fn num_groups() -> u32 {
    variable("SLURM_HET_SIZE").and_then(|size| size.trim().parse().ok()).unwrap_or(1)
}

/// What the environment says of a job.
struct Job {
    hosts: Vec<String>,
    /// CPUs of each host, as Slurm counts them, if it says so.
    cpus: Option<Vec<u32>>,
    /// Tasks of each host, if they were asked for.
    tasks: Option<Vec<u32>>,
    cpus_per_task: Option<u32>,
}

/// The variables of a job, or of one of the groups of a heterogeneous one.
struct Variables {
    group: Option<u32>,
    ending: String,
}

impl Variables {
    /// Those of the job, or of the group that the options choose.
    fn of_job(parts: &Parts<'_>) -> Result<Self, ClusterError> {
        let groups = num_groups();
        let last = groups.saturating_sub(1);
        let Some(text) = parts.option("group") else {
            return match last {
                0 => Ok(Self { group: None, ending: String::new() }),
                _ => Err(ClusterError::Heterogeneous { groups, last }),
            };
        };
        let bad = |_| ClusterError::BadGroup { text: text.to_owned() };
        let group = text.parse().map_err(bad)?;
        match last {
            0 if variable(NODELIST).is_none() => Err(ClusterError::NoJob { name: NODELIST }),
            0 => Err(ClusterError::NotHeterogeneous { group }),
            _ if group > last => Err(ClusterError::NoGroup { group, last }),
            _ => Ok(Self::of_group(group)),
        }
    }

    fn of_group(group: u32) -> Self {
        Self { group: Some(group), ending: format!("_HET_GROUP_{group}") }
    }

    /// What a line that starts a step on these hosts, which are in the order of Slurm, depends on.
    fn launched(&self, hosts: Vec<String>) -> SlurmJob {
        let step = variable("SLURM_STEP_ID").and_then(|text| text.trim().parse::<u32>().ok());
        let is_set = |name: &&str| variable(name).is_some();
        SlurmJob {
            hosts,
            variables: OPTIONS_OF_STEPS.into_iter().filter(is_set).collect(),
            het_group: self.group,
            is_in_step: step.is_some_and(|step| step < FIRST_SPECIAL_STEP),
            ..SlurmJob::default()
        }
    }

    /// The job, if all of some hosts belong to it. What cannot be read is none: nobody has asked for it.
    fn job_of(&self, hosts: &[&str]) -> Option<SlurmJob> {
        let (name, list) = self.text(NODELIST)?;
        let own = hostlist::read(&name, &list).ok()?;
        let places = Names::new(own.iter().map(String::as_str)).find_all(hosts).ok()?;
        let mut placed: Vec<(usize, &str)> = Vec::with_capacity(hosts.len());
        for (place, host) in places.into_iter().zip(hosts) {
            placed.push((place?, host));
        }
        placed.sort_unstable();
        Some(self.launched(placed.into_iter().map(|(_, host)| host.to_owned()).collect()))
    }

    fn text(&self, name: &str) -> Option<(String, String)> {
        let name = format!("{name}{}", self.ending);
        variable(&name).map(|text| (name, text))
    }

    /// Numbers of the nodes, and what they are called.
    fn counts(&self, name: &str) -> Result<Option<(String, Vec<u32>)>, ReadError> {
        let read =
            |(name, text): (String, String)| hostlist::read_counts(&name, &text).map(|counts| (name, counts));
        self.text(name).map(read).transpose()
    }

    /// One number.
    fn number(&self, name: &str) -> Result<Option<u32>, ReadError> {
        Ok(self.counts(name)?.and_then(|(_, counts)| counts.first().copied()).filter(|&count| count > 0))
    }
}

impl Job {
    fn read(request: &Request<'_>, variables: &Variables, notes: &mut Vec<Note>) -> Result<Self, SpecError> {
        let refused = |error| request.refused(error);
        let list = variables.text(NODELIST).or_else(|| variables.text("SLURM_NODELIST"));
        let (name, list) = list.ok_or_else(|| refused(ClusterError::NoJob { name: NODELIST }))?;
        let hosts = hostlist::read(&name, &list)?;
        let per_task = variables.text("SLURM_CPUS_PER_TASK").and_then(|(_, text)| text.trim().parse().ok());
        let cpus_per_task = per_task.filter(|&cpus: &u32| cpus > 0);
        let misfit = |(name, counts): &(String, Vec<u32>)| ClusterError::Counts {
            name: name.clone(),
            found: counts.len(),
            hosts: hosts.len(),
        };
        let cpus = variables.counts("SLURM_JOB_CPUS_PER_NODE")?;
        if let Some(counts) = cpus.as_ref().filter(|(_, counts)| counts.len() != hosts.len()) {
            return Err(refused(misfit(counts)));
        }
        let cpus = cpus.map(|(_, counts)| counts);
        let mut of_nodes = variables.counts("SLURM_TASKS_PER_NODE")?;
        if let Some(counts) = of_nodes.take_if(|(_, counts)| counts.len() != hosts.len()) {
            // The variable may be that of a step on some of the nodes.
            let error = misfit(&counts);
            if cpus.is_none() {
                return Err(refused(error));
            }
            notes.push(Note::warning(format!("{error}; it is left out (give ranks=)")));
        }
        let mut job = Self { hosts, cpus, tasks: None, cpus_per_task };
        job.tasks = job.tasks(variables, of_nodes.map(|(_, counts)| counts))?;
        if request.pe == PeKind::Gpu {
            // A task has a GPU, whatever its CPUs.
            (job.cpus, job.cpus_per_task) = (None, None);
        }
        Ok(job)
    }

    /// The tasks of each host that were asked for. A step of one task is the program itself.
    fn tasks(
        &self,
        variables: &Variables,
        of_nodes: Option<Vec<u32>>,
    ) -> Result<Option<Vec<u32>>, SpecError> {
        if variable("SLURM_STEP_NUM_TASKS").is_some_and(|tasks| tasks.trim() == "1") {
            return Ok(None);
        }
        let total = variables.number("SLURM_NTASKS")?;
        let of_each = variables.number("SLURM_NTASKS_PER_NODE")?;
        if let Some(of_nodes) = of_nodes {
            let is_asked = total.or(of_each).is_some() || !self.is_default(&of_nodes);
            return Ok(Some(of_nodes).filter(|_| is_asked));
        }
        Ok(match (total, of_each) {
            (total, Some(each)) => {
                let mut left = total.unwrap_or(u32::MAX);
                let mut next = || {
                    let tasks = each.min(left);
                    left -= tasks;
                    tasks
                };
                Some(self.hosts.iter().map(|_| next()).collect())
            }
            (Some(total), None) => Some(self.spread(total)),
            (None, None) => None,
        })
    }

    /// Whether these are the tasks that Slurm notes if nothing is asked for: one for each CPU.
    fn is_default(&self, tasks: &[u32]) -> bool {
        self.cpus_per_task.is_none_or(|cpus| cpus == 1) && self.cpus.as_deref() == Some(tasks)
    }

    /// So many tasks, evenly on the hosts, as far as their CPUs suffice.
    fn spread(&self, total: u32) -> Vec<u32> {
        let of = self.cpus_per_task.unwrap_or(1);
        let room = |host: usize| self.cpus.as_ref().map_or(u32::MAX, |cpus| cpus[host] / of);
        let mut tasks = vec![0; self.hosts.len()];
        let mut left = total;
        while left > 0 {
            let open: Vec<usize> = (0..tasks.len()).filter(|&host| tasks[host] < room(host)).collect();
            let Some(least) = open.iter().map(|&host| room(host) - tasks[host]).min() else {
                // There is no room for them: that is reported later.
                tasks[0] += left;
                break;
            };
            let each = (left / open.len() as u32).min(least);
            for (number, &host) in open.iter().enumerate() {
                let more = if each > 0 { each } else { u32::from((number as u32) < left) };
                tasks[host] += more;
            }
            left -= if each > 0 { each * open.len() as u32 } else { left };
        }
        tasks
    }

    /// CPUs of a host that the tasks need, where Slurm does not say how many it has.
    fn cpus_of_tasks(&self, host: usize) -> Option<u32> {
        let tasks = self.tasks.as_ref()?.get(host)?;
        Some(tasks.saturating_mul(self.cpus_per_task.unwrap_or(1)))
    }

    /// The CPUs of a host that are known to be there.
    fn cpus_of(&self, host: usize) -> Option<u32> {
        self.cpus.as_ref().map_or_else(|| self.cpus_of_tasks(host), |cpus| cpus.get(host).copied())
    }

    /// Nodes with what is in them. Those that are not described have as many cores as CPUs.
    fn fill(&self, draft: &mut Draft<'_>, described: Described) -> Result<(), ClusterError> {
        let Described { mut insides, inside_of } = described;
        let hosts = 0..self.hosts.len();
        let plain = hosts.clone().filter(|&host| inside_of[host].is_none());
        let cores: Vec<u32> = plain.map(|host| self.cpus_of(host).unwrap_or(1).max(1)).collect();
        let (plain, plain_of) = plain_nodes(&cores)?;
        let mut plain_of = plain_of.into_iter().map(|inside| inside + insides.len());
        let inside_of: Vec<usize> =
            inside_of.iter().map(|inside| inside.or_else(|| plain_of.next()).unwrap_or_default()).collect();
        insides.extend(plain);
        let node = |host: usize| {
            let slots = self.tasks.as_ref().and_then(|tasks| tasks.get(host).copied());
            DraftNode::new(Some(self.hosts[host].clone()), inside_of[host]).with_slots(slots)
        };
        draft.nodes = hosts.map(node).collect();
        draft.insides = insides;
        self.count_in(draft.unit, draft);
        Ok(())
    }

    /// Sets how many cores or hardware threads of each node belong to the job, and how many a task has.
    fn count_in(&self, unit: Unit, draft: &mut Draft<'_>) {
        let sizes = draft.insides.iter().enumerate().map(|(inside, object)| {
            let own = draft.nodes.iter().zip(0..).filter(|(node, _)| node.inside == inside);
            let most = own.filter_map(|(_, host)| self.cpus_of(host)).max().unwrap_or(0);
            Size::new(inside::count(object, Unit::Core), inside::count(object, Unit::Pu), most)
        });
        let sizes: Vec<Size> = sizes.collect();
        for (host, node) in draft.nodes.iter_mut().enumerate() {
            // Slurm counts CPUs.
            if draft.insides[node.inside].has_gpus() {
                continue;
            }
            let size = &sizes[node.inside];
            let cpus = self.cpus.as_ref().and_then(|cpus| cpus.get(host).copied());
            node.limit = cpus.filter(|&cpus| cpus != size.whole()).map(|cpus| size.units(cpus, unit));
            node.cores_per_rank = self.cpus_per_task.map(|cpus| size.units_of_task(cpus, unit));
        }
    }

    /// Where the cores of a node do not suffice for the tasks that were asked for, takes hardware threads; where these do not either, tasks
    /// have an equal share in place of the CPUs that were asked for: Slurm may start more tasks than it counts CPUs for.
    fn make_room(&self, draft: &mut Draft<'_>) {
        let all_fit = |draft: &Draft<'_>| draft.nodes.iter().all(|node| has_room(draft, node));
        if all_fit(draft) {
            return;
        }
        let (own, threads) = (draft.unit, "processing elements are hardware threads");
        for (unit, is_shared) in [(Unit::Pu, false), (own, true), (Unit::Pu, true)] {
            let mut other = draft.clone();
            other.unit = unit;
            self.count_in(unit, &mut other);
            if is_shared {
                share_cpus(&mut other);
            }
            if all_fit(&other) {
                if unit != own {
                    let text =
                        format!("the cores of a node do not suffice for the tasks of the job; {threads}");
                    other.notes.push(Note::new(text));
                }
                *draft = other;
                return;
            }
        }
    }
}

/// Whether a node has enough cores or hardware threads for its tasks.
fn has_room(draft: &Draft<'_>, node: &DraftNode) -> bool {
    let usable = node.limit.unwrap_or_else(|| inside::count(&draft.insides[node.inside], draft.unit));
    node.slots.unwrap_or(0).saturating_mul(node.cores_per_rank.unwrap_or(1)) <= usable
}

/// Gives tasks an equal share of the nodes that have too few CPUs for them.
fn share_cpus(draft: &mut Draft<'_>) {
    let short: Vec<usize> =
        (0..draft.nodes.len()).filter(|&node| !has_room(draft, &draft.nodes[node])).collect();
    short.iter().for_each(|&node| draft.nodes[node].cores_per_rank = None);
    let host = short.first().and_then(|&node| draft.nodes[node].host.as_deref()).unwrap_or_default();
    let others = match short.len() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let text =
        format!("{host}{others}: too few CPUs for SLURM_CPUS_PER_TASK; ranks there have an equal share");
    draft.notes.push(Note::warning(text));
}

/// How large a node is, and what Slurm counts as its CPUs: hardware threads on most clusters, cores on others.
struct Size {
    cores: u32,
    pus: u32,
    counts_pus: bool,
}

impl Size {
    /// `most` is the greatest number of CPUs that the job has on such a node.
    fn new(cores: u32, pus: u32, most: u32) -> Self {
        Self { cores, pus, counts_pus: pus > cores && (most > cores || most == pus) }
    }

    /// CPUs of the node.
    fn whole(&self) -> u32 {
        if self.counts_pus { self.pus } else { self.cores }
    }

    /// Hardware threads of a core.
    fn threads(&self) -> u32 {
        self.pus.div_ceil(self.cores.max(1)).max(1)
    }

    /// So many CPUs in cores or hardware threads.
    fn units(&self, cpus: u32, unit: Unit) -> u32 {
        match unit {
            Unit::Core if self.counts_pus => cpus.div_ceil(self.threads()),
            Unit::Core => cpus,
            Unit::Pu if self.counts_pus => cpus,
            Unit::Pu => cpus.saturating_mul(self.threads()),
        }
    }

    /// The CPUs of a task in cores or hardware threads.
    fn units_of_task(&self, cpus: u32, unit: Unit) -> u32 {
        match unit {
            Unit::Core => self.units(cpus, unit),
            Unit::Pu => cpus,
        }
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// What is in this node, unless it is plain that it is none of the job's.
fn this_node(request: &Request<'_>, job: &Job, notes: &mut Vec<Note>) -> Option<Object> {
    let flat = "so all cores of a node are taken to be alike; describe the node, such as slurm:node=16:2";
    let found = inside::this_node(request, notes);
    let mut warn = |text: String| notes.push(Note { text, is_warning: true });
    let node = match found {
        Ok(node) => node,
        Err(error) => {
            warn(format!("{error}, {flat}"));
            return None;
        }
    };
    let most = (0..job.hosts.len()).filter_map(|host| job.cpus_of(host)).max().unwrap_or(0);
    let found = inside::count(&node, Unit::Pu);
    if most > found && request.pe != PeKind::Gpu {
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
