//! The nodes of a job: the inside of each, its CPUs of the job, and the number of them for a rank.

use super::job::Job;
use crate::files::hwloc::{Object, ObjectKind};
use crate::files::names;
use crate::files::scontrol::Hardware;
use crate::nodes::{ClusterError, ClusterSpec, NodeSpec, Unit, plain_nodes};
use crate::spec::cluster::described::Described;
use crate::spec::cluster::inside;
use crate::spec::cluster_kind::Request;
use crate::spec::error::SpecError;
use crate::spec::machine_spec::PeKind;
use viem::machine::Note;

use super::variables::variable;

/// Gives the hosts without a description their inside: that of this node by `lstopo`, if they are as large as it; else that of
/// Slurm.
pub(super) fn describe(request: &Request<'_>, job: &Job, described: &mut Described, notes: &mut Vec<Note>) {
    let open: Vec<usize> = (0..job.hosts.len()).filter(|&host| described.inside_of[host].is_none()).collect();
    let found = if open.is_empty() { return } else { inside::this_whole_node(request, notes) };
    let (local, failure) = match found {
        Ok(node) => (Some(node), None),
        Err(error) => (None, Some(reason_of(error))),
    };
    let is_known = |&host: &usize| request.pe != PeKind::Gpu && job.hardware[host].is_some();
    let (known, unknown): (Vec<usize>, Vec<usize>) = open.into_iter().partition(is_known);
    let (alike, others): (Vec<usize>, Vec<usize>) = known.into_iter().partition(|&host| {
        job.hardware[host].zip(local.as_ref()).is_some_and(|(hardware, node)| is_as_large(node, hardware))
    });
    let mut guessed = unknown;
    match &local {
        Some(node) => check_local(request, job, node, &alike, &mut guessed, notes),
        None if !guessed.is_empty() => notes.push(Note::warning(format!(
            "lstopo cannot be run ({}): all cores of a node are taken to be alike; install hwloc (Debian: apt-get install hwloc), or describe the \
             node, such as slurm:node=16:2",
            failure.as_deref().unwrap_or_default()
        ))),
        None => {}
    }
    if let Some(node) = local.filter(|_| !alike.is_empty() || !guessed.is_empty()) {
        let number = described.insides.len();
        described.insides.push(node);
        alike.iter().chain(&guessed).for_each(|&host| described.inside_of[host] = Some(number));
    }
    describe_by_slurm(job, &others, described, notes);
}

/// The reason why a node could not be described.
fn reason_of(error: SpecError) -> String {
    match error {
        SpecError::Cluster { source, .. } => match *source {
            ClusterError::Lstopo { reason, .. } => reason,
            other => other.to_string(),
        },
        other => other.to_string(),
    }
}

/// Warns where it is not sure that hosts are like this node. Those that cannot be like it are removed from `guessed`.
fn check_local(
    request: &Request<'_>,
    job: &Job,
    node: &Object,
    alike: &[usize],
    guessed: &mut Vec<usize>,
    notes: &mut Vec<Note>,
) {
    let most = guessed.iter().filter_map(|&host| job.cpus_of(host)).max().unwrap_or(0);
    let found = inside::count(node, Unit::Pu);
    if most > found && request.pe != PeKind::Gpu {
        guessed.clear();
        notes.push(Note::warning(format!(
            "this node has {found} CPUs, nodes of the job have {most}, so all cores of a node are taken to be alike; describe the node, such as \
             slurm:node=16:2"
        )));
    }
    if alike.is_empty() && guessed.is_empty() {
        return;
    }
    let is_own = |name: &String| job.hosts.iter().any(|host| names::are_one(name, host));
    let name = variable("SLURMD_NODENAME").or_else(inside::this_host);
    if !name.as_ref().is_some_and(is_own) {
        let name = name.unwrap_or_else(|| "this node".to_owned());
        notes.push(Note::warning(format!(
            "{name} is no node of the job; nodes of the job are taken to be like it"
        )));
    }
}

/// Returns whether a node has as many cores and hardware threads as Slurm says. To Slurm, hardware threads may be cores.
fn is_as_large(node: &Object, hardware: Hardware) -> bool {
    let (cores, pus) = (inside::count(node, Unit::Core), inside::count(node, Unit::Pu));
    match hardware.threads_per_core {
        1 => [cores, pus].contains(&hardware.cores()),
        _ => (cores, pus) == (hardware.cores(), hardware.threads()),
    }
}

/// Describes hosts by their sockets, cores and hardware threads.
fn describe_by_slurm(job: &Job, hosts: &[usize], described: &mut Described, notes: &mut Vec<Note>) {
    let mut kinds: Vec<Hardware> = hosts.iter().filter_map(|&host| job.hardware[host]).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for hardware in kinds {
        let own: Vec<usize> =
            hosts.iter().copied().filter(|&host| job.hardware[host] == Some(hardware)).collect();
        let number = described.insides.len();
        described.insides.push(node_of(hardware));
        own.iter().for_each(|&host| described.inside_of[host] = Some(number));
        let Hardware { sockets, cores_per_socket, threads_per_core } = hardware;
        let threads = match threads_per_core {
            1 => String::new(),
            threads => format!(" of {threads} hardware threads, numbered as is usual on Linux"),
        };
        notes.push(Note::new(format!(
            "{} taken to be as Slurm describes it: {sockets} x {cores_per_socket} cores{threads}",
            named(job, &own)
        )));
    }
}

/// The first of some hosts and how many others there are.
fn named(job: &Job, hosts: &[usize]) -> String {
    let first = hosts.first().map_or("", |&host| job.hosts[host].as_str());
    match hosts.len() {
        0 | 1 => format!("{first} is"),
        count => format!("{first} and {} more are each", count - 1),
    }
}

/// A node of this size. Linux numbers the first threads of all cores first, then the second ones.
pub(super) fn node_of(hardware: Hardware) -> Object {
    let Hardware { sockets, cores_per_socket, threads_per_core } = hardware;
    let core = |core: u32| {
        let threads = (0..threads_per_core).map(|thread| Object::pu(thread * hardware.cores() + core));
        Object::new(ObjectKind::Core, threads.collect())
    };
    let socket = |socket: u32| {
        let cores = (0..cores_per_socket).map(|number| core(socket * cores_per_socket + number));
        Object::new(ObjectKind::Package, cores.collect())
    };
    Object::new(ObjectKind::Machine, (0..sockets).map(socket).collect())
}

/// Returns whether processing elements are GPUs. Slurm counts CPUs.
pub(super) fn has_gpus(request: &Request<'_>, draft: &ClusterSpec<'_>) -> bool {
    request.pe == PeKind::Gpu || draft.nodes.iter().any(|node| draft.insides[node.inside].has_gpus())
}

impl Job {
    /// Nodes with their insides. Those that are not described have as many cores as CPUs.
    pub(super) fn fill(
        &mut self,
        request: &Request<'_>,
        draft: &mut ClusterSpec<'_>,
        described: Described,
    ) -> Result<(), ClusterError> {
        let Described { mut insides, inside_of } = described;
        let hosts = 0..self.hosts.len();
        let plain = hosts.clone().filter(|&host| inside_of[host].is_none());
        let gpus = |host: usize| self.gpus[host].filter(|_| request.pe == PeKind::Gpu);
        let units = |host: usize| gpus(host).or_else(|| self.cpus_of(host));
        let cores: Vec<u32> = plain.map(|host| units(host).unwrap_or(1).max(1)).collect();
        let (plain, plain_of) = plain_nodes(&cores)?;
        let mut plain_of = plain_of.into_iter().map(|inside| inside + insides.len());
        let inside_of: Vec<usize> =
            inside_of.iter().map(|inside| inside.or_else(|| plain_of.next()).unwrap_or_default()).collect();
        insides.extend(plain);
        let node = |host: usize| {
            let slots = self.tasks.as_ref().and_then(|tasks| tasks.get(host).copied());
            NodeSpec::new(Some(self.hosts[host].clone()), inside_of[host]).with_slots(slots)
        };
        draft.nodes = hosts.map(node).collect();
        draft.insides = insides;
        if has_gpus(request, draft) {
            self.limit_gpus(draft);
            self.limit_near(draft);
            return Ok(());
        }
        self.knows_cpus = self.choose_cpus(draft);
        self.count_in(draft.unit, draft);
        self.choose_allowed(draft);
        Ok(())
    }

    /// Sets how many of the GPUs of each node belong to the job.
    fn limit_gpus(&self, draft: &mut ClusterSpec<'_>) {
        for host in 0..draft.nodes.len() {
            let found = inside::usable(draft, &draft.nodes[host]);
            draft.nodes[host].limit = self.gpus[host].filter(|&gpus| gpus < found);
        }
    }

    /// Sets which CPUs of each node belong to the job, where that is known, and says where it is.
    fn choose_cpus(&self, draft: &mut ClusterSpec<'_>) -> Vec<bool> {
        let ClusterSpec { nodes, insides, .. } = draft;
        let cores: Vec<Vec<Vec<u32>>> = insides.iter().map(inside::cores).collect();
        let mut choose = |(host, node): (usize, &mut NodeSpec)| {
            let cores = &cores[node.inside];
            let Some(own) = self.own_cpus(host, cores) else { return false };
            let all: usize = cores.iter().map(Vec::len).sum();
            node.cpus = Some(own).filter(|own| own.len() < all);
            true
        };
        nodes.iter_mut().enumerate().map(&mut choose).collect()
    }

    /// The CPUs of a host that the job has, by the numbers of the operating system, in ascending order. `cores` has those of each core.
    pub(super) fn own_cpus(&self, host: usize, cores: &[Vec<u32>]) -> Option<Vec<u32>> {
        let (ids, hardware) = (self.cpu_ids[host].as_ref()?, self.hardware[host]?);
        let threads = hardware.threads_per_core;
        let mut own: Vec<u32> = if cores.len() == hardware.cores() as usize {
            let mut numbers: Vec<u32> = ids.iter().map(|id| id / threads).collect();
            numbers.dedup();
            let of = |&core: &u32| cores.get(core as usize).map(Vec::as_slice);
            numbers.iter().map(of).collect::<Option<Vec<_>>>()?.concat()
        } else {
            let all = cores.concat();
            let fits = all.len() == hardware.threads() as usize;
            ids.iter().map(|&id| all.get(id as usize).copied().filter(|_| fits)).collect::<Option<_>>()?
        };
        own.sort_unstable();
        Some(own).filter(|own| !own.is_empty())
    }

    /// Takes the CPUs that this program may use for those of the job on its node, where these are as many; says what else is not known.
    fn choose_allowed(&mut self, draft: &mut ClusterSpec<'_>) {
        let allowed = inside::allowed_cpus();
        let this_host = variable("SLURMD_NODENAME").or_else(inside::this_host).unwrap_or_default();
        for (host, node) in draft.nodes.iter_mut().enumerate() {
            let Some(limit) = node.limit else {
                // A node is whole.
                self.knows_cpus[host] |= self.cpus.is_some();
                continue;
            };
            let inside = &draft.insides[node.inside];
            let is_this = names::are_one(&this_host, &self.hosts[host]);
            if let Some(own) =
                allowed.as_ref().filter(|own| is_this && inside::count_of(inside, draft.unit, own) == limit)
            {
                (node.limit, node.cpus, self.knows_cpus[host]) = (None, Some(own.clone()), true);
            }
        }
        let unknown: Vec<usize> =
            (0..draft.nodes.len()).filter(|&host| draft.nodes[host].limit.is_some()).collect();
        self.print_unknown(&unknown, draft);
    }

    /// Warns of hosts of which it is not known which CPUs the job has.
    pub(super) fn print_unknown(&self, unknown: &[usize], draft: &mut ClusterSpec<'_>) {
        if let Some(&first) = unknown.first() {
            let others = match unknown.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            let reason = match &self.facts.failure {
                Some(failure) => failure.as_str(),
                None => "its description does not fit what Slurm says of it",
            };
            let text = format!(
                "which CPUs of {}{others} belong to the job is not known ({reason}), so ranks may be bound to those of another job",
                self.hosts[first]
            );
            draft.notes.push(Note::warning(text));
        }
        if let Some(job) = &mut draft.slurm_job {
            job.are_cpus_known = self.knows_cpus.iter().all(|&is_known| is_known);
        }
    }

    /// Sets how many cores or hardware threads of each node belong to the job, and how many a task has.
    fn count_in(&self, unit: Unit, draft: &mut ClusterSpec<'_>) {
        let sizes = self.sizes(draft);
        for (host, node) in draft.nodes.iter_mut().enumerate() {
            let size = &sizes[node.inside];
            let cpus = self.cpus.as_ref().and_then(|cpus| cpus.get(host).copied());
            let cpus = cpus.filter(|&cpus| cpus != size.whole() && !self.knows_cpus[host]);
            node.limit = cpus.map(|cpus| size.units(cpus, unit));
            node.cores_per_rank = self.cpus_per_task.map(|cpus| size.units_of_task(cpus, unit));
        }
    }

    /// Returns the sizes of the nodes of each kind.
    fn sizes(&self, draft: &ClusterSpec<'_>) -> Vec<Size> {
        let size = |(inside, object): (usize, &Object)| {
            let own = || (0..draft.nodes.len()).filter(|&host| draft.nodes[host].inside == inside);
            let most = own().filter_map(|host| self.cpus_of(host)).max().unwrap_or(0);
            let hardware = own().find_map(|host| self.hardware[host]);
            let are_cores = variable("SLURM_THREADS_PER_CORE").is_some_and(|threads| threads.trim() == "1");
            let are_threads = match hardware {
                _ if are_cores => Some(false),
                Some(hardware) => Some(
                    hardware.threads_per_core > 1 || hardware.cores() > inside::count(object, Unit::Core),
                ),
                None => None,
            };
            Size::new(inside::count(object, Unit::Core), inside::count(object, Unit::Pu), most, are_threads)
        };
        draft.insides.iter().enumerate().map(size).collect()
    }

    /// Warns where it is only a guess what CPUs are.
    pub(super) fn print_guess(&self, draft: &mut ClusterSpec<'_>) {
        if let Some(size) = self.sizes(draft).iter().find(|size| size.is_guessed) {
            draft.notes.push(Note::warning(format!(
                "nodes have {} cores with {} hardware threads, and the job has no more than {} CPUs of any, so these may be either; they are taken to be \
                 cores (scontrol, which would say it, cannot be run)",
                size.cores, size.pus, size.cores
            )));
        }
    }

    /// Makes a rank for each GPU if a task is one of a launcher, because nodes have several GPUs and one task each.
    pub(super) fn launch_on_gpus(&mut self, draft: &mut ClusterSpec<'_>) {
        let is_single = self.tasks.as_ref().is_some_and(|tasks| tasks.iter().all(|&tasks| tasks == 1));
        let gpus = draft.nodes.iter().map(|node| inside::usable(draft, node)).max().unwrap_or(0);
        if !is_single || gpus < 2 {
            return;
        }
        draft.nodes.iter_mut().for_each(|node| node.slots = None);
        self.ranks_from = Some(format!("up to {gpus} GPUs on a node"));
        draft.notes.push(Note::new(format!(
            "the job has one task and up to {gpus} GPUs on each node: the task is taken to be a launcher, such as torchrun, and there is a rank for each \
             GPU (give ranks=1 for one on each node)"
        )));
    }

    /// Takes hardware threads if the cores of a node do not suffice for the tasks that were asked for; if these do not either, tasks
    /// have an equal share in place of the CPUs that were asked for: Slurm may start more tasks than it counts CPUs for.
    pub(super) fn make_room(&self, draft: &mut ClusterSpec<'_>) -> Result<(), ClusterError> {
        let short = |draft: &ClusterSpec<'_>| draft.nodes.iter().position(|node| !has_room(draft, node));
        let Some(mut host) = short(draft) else { return Ok(()) };
        let (own, threads) = (draft.unit, "processing elements are hardware threads");
        for (unit, is_shared) in [(Unit::Pu, false), (own, true), (Unit::Pu, true)] {
            let mut other = draft.clone();
            other.unit = unit;
            self.count_in(unit, &mut other);
            if is_shared {
                share_cpus(&mut other);
            }
            if let Some(first) = short(&other) {
                host = first;
                continue;
            }
            if unit != own {
                let text = format!("the cores of a node do not suffice for the tasks of the job; {threads}");
                other.notes.push(Note::new(text));
            }
            *draft = other;
            return Ok(());
        }
        let (tasks, host) = (draft.nodes[host].slots.unwrap_or(0), self.hosts[host].clone());
        match self.is_overcommitted() {
            true => Err(ClusterError::Overcommitted { host, tasks }),
            // Faults are reported later.
            false => Ok(()),
        }
    }
}

/// Returns whether a node has enough cores or hardware threads for its tasks.
fn has_room(draft: &ClusterSpec<'_>, node: &NodeSpec) -> bool {
    let usable = inside::usable(draft, node);
    node.slots.unwrap_or(0).saturating_mul(node.cores_per_rank.unwrap_or(1)) <= usable
}

/// Gives tasks an equal share of the nodes that have too few CPUs for them.
fn share_cpus(draft: &mut ClusterSpec<'_>) {
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

/// The size of a node, and the unit that Slurm counts as its CPUs: hardware threads on most clusters, cores on others.
struct Size {
    cores: u32,
    pus: u32,
    counts_pus: bool,
    /// True if that is only a guess that may as well be wrong.
    is_guessed: bool,
}

impl Size {
    /// `most` is the greatest number of CPUs that the job has on such a node; CPUs are hardware threads if `are_threads` says so.
    fn new(cores: u32, pus: u32, most: u32, are_threads: Option<bool>) -> Self {
        let counts_pus = pus > cores && are_threads.unwrap_or(most > cores);
        Self {
            cores,
            pus,
            counts_pus,
            is_guessed: are_threads.is_none() && pus > cores && (1..=cores).contains(&most),
        }
    }

    /// CPUs of the node.
    fn whole(&self) -> u32 {
        if self.counts_pus { self.pus } else { self.cores }
    }

    /// Hardware threads of a core.
    fn threads(&self) -> u32 {
        self.pus.div_ceil(self.cores.max(1)).max(1)
    }

    /// Returns the number of cores or hardware threads of this many CPUs.
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
