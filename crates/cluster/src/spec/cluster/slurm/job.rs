//! A job: its hosts, and the CPUs and tasks on each.

use std::collections::{HashMap, HashSet};

use super::controller::{self, Facts};
use super::variables::{self, NODELIST, Place, STEP_NODELIST, Variables, variable};
use crate::files::hostlist;
use crate::files::names::Names;
use crate::files::scontrol::{self, Hardware};
use crate::files::topology::Topology;
use crate::nodes::ClusterError;
use crate::spec::cluster_kind::Request;
use crate::spec::error::SpecError;
use crate::spec::machine_spec::PeKind;
use viem::machine::Note;

/// A job.
pub(super) struct Job {
    pub(super) hosts: Vec<String>,
    /// CPUs of each host, as Slurm counts them, if it says so.
    pub(super) cpus: Option<Vec<u32>>,
    /// The same, also where tasks have GPUs, whatever their CPUs.
    pub(super) granted: Option<Vec<u32>>,
    /// The CPUs by the numbers of Slurm, if these are known.
    pub(super) cpu_ids: Vec<Option<Vec<u32>>>,
    /// True if it is known which CPUs of the operating system these are; set as soon as nodes have been described.
    pub(super) knows_cpus: Vec<bool>,
    /// GPUs of each host, where their number is known.
    pub(super) gpus: Vec<Option<u32>>,
    pub(super) hardware: Vec<Option<Hardware>>,
    /// Tasks of each host, if they were asked for.
    pub(super) tasks: Option<Vec<u32>>,
    /// The source of the number of tasks or CPUs.
    pub(super) ranks_from: Option<String>,
    pub(super) cpus_per_task: Option<u32>,
    pub(super) facts: Facts,
}

/// The first release of Slurm that may number the tasks of blocks in the order of the topology: 26.05 does, 24.11 does not.
const ORDERS_BY_TOPOLOGY: (u32, u32) = (25, 5);

/// A host that is listed again. Slurm never does that in the variables of a job.
fn twice(hosts: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    hosts.iter().find(|host| !seen.insert(host.as_str()))
}

/// The tasks of each host, if they were asked for, and what says so.
type Tasks = Option<(Vec<u32>, String)>;

impl Job {
    pub(super) fn read(
        request: &Request<'_>,
        variables: &Variables,
        notes: &mut Vec<Note>,
    ) -> Result<Self, SpecError> {
        let refused = |error| request.refused(error);
        let mut facts = Facts::of_job(variables);
        let of_environment = || variables.text(NODELIST).or_else(|| variables.text("SLURM_NODELIST"));
        let list = match variables.place {
            Place::Step => variable(STEP_NODELIST).map(|list| (STEP_NODELIST.to_owned(), list)),
            // A step that is started from outside of the job has its own nodes in the variables of the job.
            Place::OtherStep => facts.list().or_else(of_environment),
            Place::Job => of_environment(),
        };
        let (name, list) = list.ok_or_else(|| refused(ClusterError::NoJob { name: NODELIST }))?;
        let hosts = hostlist::read(&name, &list)?;
        if let Some(host) = twice(&hosts) {
            return Err(refused(ClusterError::HostTwice { host: host.clone() }));
        }
        facts.ask_about(list.trim());
        let shares = facts.shares();
        let share = |host: &String| shares.get(host.as_str());
        let mut job = Self {
            cpus: None,
            granted: None,
            cpu_ids: hosts.iter().map(|host| share(host).map(|share| share.cpus.clone())).collect(),
            knows_cpus: vec![false; hosts.len()],
            gpus: hosts.iter().map(|host| share(host).map(|share| share.gpus)).collect(),
            hardware: hosts.iter().map(|host| facts.hardware(host)).collect(),
            tasks: None,
            ranks_from: None,
            cpus_per_task: None,
            hosts,
            facts: Facts::default(),
        };
        drop(shares);
        job.facts = facts;
        job.read_cpus(request, variables)?;
        job.cpus_per_task = job.find_cpus_per_task(variables);
        job.read_tasks(request, variables, notes)?;
        job.granted.clone_from(&job.cpus);
        if request.pe == PeKind::Gpu {
            // A task has a GPU, whatever its CPUs.
            (job.cpus, job.cpus_per_task) = (None, None);
        }
        job.find_gpus(variables);
        Ok(job)
    }

    /// Returns whether the tasks in the environment are not the ranks.
    fn is_in_other_step(variables: &Variables) -> bool {
        variables.place == Place::OtherStep
    }

    /// Numbers that are not those of the hosts.
    fn misfit(&self, name: &str, counts: &[u32]) -> Option<ClusterError> {
        let (found, hosts) = (counts.len(), self.hosts.len());
        (found != hosts).then(|| ClusterError::Counts { name: name.to_owned(), found, hosts })
    }

    fn read_cpus(&mut self, request: &Request<'_>, variables: &Variables) -> Result<(), SpecError> {
        const CPUS: &str = "SLURM_JOB_CPUS_PER_NODE";
        if variables.place == Place::Step {
            self.cpus = self.cpus_of_step(variables, CPUS)?;
            return Ok(());
        }
        let cpus = variables.counts(CPUS)?;
        if Self::is_in_other_step(variables)
            && cpus.as_ref().is_none_or(|(_, counts)| counts.len() != self.hosts.len())
            && self.cpu_ids.iter().all(Option::is_some)
        {
            self.cpus = self.cpu_ids.iter().map(|own| Some(own.as_ref()?.len() as u32)).collect();
            return Ok(());
        }
        if let Some(error) = cpus.as_ref().and_then(|(name, counts)| self.misfit(name, counts)) {
            return Err(request.refused(error));
        }
        self.ranks_from = variables.text(CPUS).map(|(name, text)| format!("{name}={text}"));
        self.cpus = cpus.map(|(_, counts)| counts);
        Ok(())
    }

    /// The CPUs of the hosts of a step, which are some of those of its job.
    fn cpus_of_step(&self, variables: &Variables, name: &str) -> Result<Option<Vec<u32>>, SpecError> {
        let mut of_host: HashMap<String, u32> = HashMap::new();
        for group in variables.of_groups() {
            let hosts = group.text(NODELIST).map(|(name, list)| hostlist::read(&name, &list)).transpose()?;
            if let (Some(hosts), Some((_, counts))) = (hosts, group.counts(name)?)
                && hosts.len() == counts.len()
            {
                of_host.extend(hosts.into_iter().zip(counts));
            }
        }
        Ok(self.hosts.iter().map(|host| of_host.get(host).copied()).collect())
    }

    /// The CPUs that a task asked for. What is in the environment of another step is what that step asked for.
    fn find_cpus_per_task(&self, variables: &Variables) -> Option<u32> {
        let of_job = || self.facts.job()?.cpus_per_task;
        let in_environment =
            || variables.text("SLURM_CPUS_PER_TASK").and_then(|(_, text)| text.trim().parse().ok());
        let cpus = if Self::is_in_other_step(variables) { of_job() } else { in_environment() };
        cpus.filter(|&cpus| cpus > 0)
    }

    fn read_tasks(
        &mut self,
        request: &Request<'_>,
        variables: &Variables,
        notes: &mut Vec<Note>,
    ) -> Result<(), SpecError> {
        let tasks = match variables.place {
            Place::OtherStep => self.tasks_beside_step(variables, notes)?,
            Place::Step => self.tasks_of_step(request)?,
            Place::Job => self.tasks_of_job(request, variables, notes)?,
        };
        if let Some((tasks, from)) = tasks {
            (self.tasks, self.ranks_from) = (Some(tasks), Some(from));
        }
        Ok(())
    }

    /// The tasks of the step that the program is.
    fn tasks_of_step(&self, request: &Request<'_>) -> Result<Tasks, SpecError> {
        const TASKS: &str = "SLURM_STEP_TASKS_PER_NODE";
        let Some(text) = variable(TASKS) else { return Ok(None) };
        let counts = hostlist::read_counts(TASKS, &text)?;
        match self.misfit(TASKS, &counts) {
            Some(error) => Err(request.refused(error)),
            None => Ok(Some((counts, format!("{TASKS}={text}")))),
        }
    }

    /// The tasks of the job, asked from inside a step whose tasks are others.
    fn tasks_beside_step(&self, variables: &Variables, notes: &mut Vec<Note>) -> Result<Tasks, SpecError> {
        if let Some(job) = self.facts.job() {
            // A task for each node may be one that was not asked for.
            let total = job.tasks.filter(|&tasks| tasks as usize > self.hosts.len());
            let tasks = self.tasks_of_numbers(total, job.tasks_per_node);
            return Ok(tasks.map(|tasks| (tasks, "scontrol show job".to_owned())));
        }
        // A step inherits it, unless it is started with the same option itself.
        const PER_NODE: &str = "SLURM_NTASKS_PER_NODE";
        if let Some(each) = variables.number(PER_NODE)?.filter(|&each| each > 1) {
            return Ok(Some((vec![each; self.hosts.len()], format!("{PER_NODE}={each}"))));
        }
        let reason = self.facts.failure.as_deref().unwrap_or("scontrol does not know the job");
        notes.push(Note::warning(format!(
            "the tasks of this step are not those of the job, which are not known ({reason}); there is a rank for each of its CPUs (give ranks=)"
        )));
        Ok(None)
    }

    /// The tasks that the environment of the job has, unless they are those that Slurm notes if nothing is asked for.
    fn tasks_of_job(
        &self,
        request: &Request<'_>,
        variables: &Variables,
        notes: &mut Vec<Note>,
    ) -> Result<Tasks, SpecError> {
        let mut of_nodes = variables.counts("SLURM_TASKS_PER_NODE")?;
        if let Some(error) = of_nodes.as_ref().and_then(|(name, counts)| self.misfit(name, counts)) {
            // The variable may be that of a step on some of the nodes.
            if self.cpus.is_none() {
                return Err(request.refused(error));
            }
            notes.push(Note::warning(format!("{error}; it is left out (give ranks=)")));
            of_nodes = None;
        }
        let total = variables.number("SLURM_NTASKS")?;
        let of_each = variables.number("SLURM_NTASKS_PER_NODE")?;
        let from = |name: &str| {
            let (name, text) = variables.text(name).unwrap_or_default();
            format!("{name}={}", text.trim())
        };
        if let Some((_, of_nodes)) = of_nodes {
            let is_asked = total.or(of_each).is_some() || !self.is_default(&of_nodes);
            return Ok(is_asked.then(|| (of_nodes, from("SLURM_TASKS_PER_NODE"))));
        }
        let name = if of_each.is_some() { "SLURM_NTASKS_PER_NODE" } else { "SLURM_NTASKS" };
        Ok(self.tasks_of_numbers(total, of_each).map(|tasks| (tasks, from(name))))
    }

    /// The tasks of each host if this many were asked for in all, and this many on each.
    fn tasks_of_numbers(&self, total: Option<u32>, of_each: Option<u32>) -> Option<Vec<u32>> {
        match (total, of_each) {
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
        }
    }

    /// Returns whether these are the tasks that Slurm notes if nothing is asked for: one for each CPU.
    fn is_default(&self, tasks: &[u32]) -> bool {
        self.cpus_per_task.is_none_or(|cpus| cpus == 1) && self.cpus.as_deref() == Some(tasks)
    }

    /// This many tasks, evenly on the hosts, as far as their CPUs suffice; the remaining tasks, evenly too.
    fn spread(&self, total: u32) -> Vec<u32> {
        let of = self.cpus_per_task.unwrap_or(1);
        let room = |host: usize| self.cpus.as_ref().map_or(u32::MAX, |cpus| cpus[host] / of);
        let mut tasks = vec![0; self.hosts.len()];
        let mut left = total;
        while left > 0 {
            let open: Vec<usize> = (0..tasks.len()).filter(|&host| tasks[host] < room(host)).collect();
            let Some(least) = open.iter().map(|&host| room(host) - tasks[host]).min() else {
                let hosts = tasks.len() as u32;
                (0..)
                    .zip(&mut tasks)
                    .for_each(|(host, tasks)| *tasks += left / hosts + u32::from(host < left % hosts));
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

    /// The GPUs of each host by the environment, where the controller does not say.
    fn find_gpus(&mut self, variables: &Variables) {
        let number = |name: &str| {
            let (_, text) = variables.text(name)?;
            text.rsplit(':').next()?.trim().parse::<u32>().ok()
        };
        let listed = || Some(scontrol::cpus(&variable("SLURM_JOB_GPUS")?)?.len() as u32);
        let each = number("SLURM_GPUS_PER_NODE").or_else(|| number("SLURM_GPUS_ON_NODE")).or_else(listed);
        for gpus in &mut self.gpus {
            *gpus = gpus.filter(|&gpus| gpus > 0).or(each).filter(|&gpus| gpus > 0);
        }
    }

    /// CPUs of a host that the tasks need, where Slurm does not say how many it has.
    fn cpus_of_tasks(&self, host: usize) -> Option<u32> {
        let tasks = self.tasks.as_ref()?.get(host)?;
        Some(tasks.saturating_mul(self.cpus_per_task.unwrap_or(1)))
    }

    /// The CPUs of a host that are known to be there.
    pub(super) fn cpus_of(&self, host: usize) -> Option<u32> {
        self.cpus.as_ref().map_or_else(|| self.cpus_of_tasks(host), |cpus| cpus.get(host).copied())
    }

    /// Fails if the ranks are the tasks of this step, and not numbered node by node. Notes where those of a job would not be.
    pub(super) fn check_order(
        &self,
        variables: &Variables,
        topology: &Topology,
        notes: &mut Vec<Note>,
    ) -> Result<(), ClusterError> {
        let most = self.tasks.as_ref().and_then(|tasks| tasks.iter().max().copied()).unwrap_or(1);
        let reason = self.other_order(variables, topology, most).filter(|_| self.hosts.len() > 1);
        match (reason, variables.place) {
            (Some(reason), Place::Step) => return Err(ClusterError::Distribution { reason, tasks: most }),
            (Some(reason), Place::Job) => notes.push(Note::new(format!(
                "{reason}: a job that is not mapped has its ranks in that order; here \"identity\" has them node by node, as SLURM_JOB_NODELIST \
                 lists these, and the line that launches the mapping has an order of its own"
            ))),
            (_, Place::OtherStep) | (None, _) => {}
        }
        Ok(())
    }

    /// The reason why tasks, this many of a node at most, are not numbered node by node in the order of the hosts.
    fn other_order(&self, variables: &Variables, topology: &Topology, most: u32) -> Option<String> {
        let distribution = variables::Distribution::find(most);
        if let variables::Distribution::Other(text) = distribution {
            return Some(format!("SLURM_DISTRIBUTION={text}"));
        }
        if variables.place == Place::Step
            && let Some(reason) = self.misplaced_task()
        {
            return Some(reason);
        }
        let is_other = distribution == variables::Distribution::Blocks
            && !has_order(topology, &self.hosts)
            && controller::release().is_none_or(|release| release >= ORDERS_BY_TOPOLOGY);
        is_other.then(|| "Slurm numbers tasks in the order of the topology".to_owned())
    }

    /// The reason why the tasks of this node cannot be numbered node by node.
    fn misplaced_task(&self) -> Option<String> {
        let node = usize::try_from(variables::number("SLURM_NODEID")?).ok()?;
        let before: u32 = self.tasks.as_ref()?.get(..node)?.iter().sum();
        let numbers = variable("SLURM_GTIDS")?;
        let first: u32 = numbers.split(',').next()?.trim().parse().ok()?;
        (first != before).then(|| format!("node {node} has the tasks {numbers}"))
    }

    /// Returns whether there are more tasks than CPUs.
    pub(super) fn is_overcommitted(&self) -> bool {
        let Some((cpus, tasks)) = self.cpus.as_ref().zip(self.tasks.as_ref()) else { return false };
        cpus.iter().zip(tasks).any(|(cpus, tasks)| tasks > cpus)
    }
}

/// Returns whether hosts are in the order of the switches or blocks that they belong to. That of tori is not known.
fn has_order(topology: &Topology, hosts: &[String]) -> bool {
    if let Topology::Tori(tori) = topology
        && tori.iter().any(|torus| torus.lengths.iter().filter(|&&length| length > 1).count() > 1)
    {
        return false;
    }
    let lists = topology.lists().into_iter().zip(0..);
    let (names, numbers): (Vec<&str>, Vec<usize>) =
        lists.flat_map(|(list, number)| list.iter().map(move |name| (name.as_str(), number))).unzip();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let found = Names::new(names).find_all(&hosts).unwrap_or_default();
    found.into_iter().flatten().map(|index| numbers[index]).is_sorted()
}
