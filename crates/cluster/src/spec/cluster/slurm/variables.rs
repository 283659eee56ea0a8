//! The job, and the place of the program in it, by the environment.

use std::collections::HashSet;
use std::env;

use crate::files::hostlist;
use crate::files::names::Names;
use crate::nodes::ClusterError;
use crate::spec::cluster::parts::Parts;
use viem::machine::SlurmJob;
use viem_io::ReadError;

/// The hosts of a job.
pub(super) const NODELIST: &str = "SLURM_JOB_NODELIST";

/// The hosts of a step.
pub(super) const STEP_NODELIST: &str = "SLURM_STEP_NODELIST";

/// The first of the numbers of steps that Slurm itself starts, such as the batch script and interactive steps.
const FIRST_SPECIAL_STEP: u64 = 0xffff_ff00;

/// Variables of a job that `srun` takes for options of a step. Each rank has its CPUs from the script that starts it: a step that has
/// CPUs for some tasks only, or another number of tasks than the hosts that are listed, does not fit.
const OPTIONS_OF_STEPS: [&str; 4] =
    ["SLURM_CPUS_PER_TASK", "SLURM_TRES_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_NTASKS_PER_NODE"];

/// Variables in which launchers of MPI other than Slurm say how many ranks there are.
const NUMBERS_OF_RANKS: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// The place in a job where a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The batch script, or the shell of an allocation; variables are those of the job.
    Job,
    /// A step whose tasks are not the ranks: it is the program itself, or daemons of MPI. Variables of tasks are those of the step.
    OtherStep,
    /// A step whose tasks are the ranks.
    Step,
}

impl Place {
    pub(super) fn find() -> Self {
        let Some(tasks) = number("SLURM_STEP_NUM_TASKS") else { return Self::Job };
        let is_special = number("SLURM_STEP_ID").is_some_and(|step| step >= FIRST_SPECIAL_STEP);
        // Steps of ordinary numbers have their own.
        if is_special || number("SLURM_NTASKS").is_some_and(|ntasks| ntasks != tasks) {
            return Self::Job;
        }
        let is_other = NUMBERS_OF_RANKS.iter().any(|name| number(name).is_some_and(|ranks| ranks != tasks));
        if tasks <= 1 || is_other || variable(STEP_NODELIST).is_none() { Self::OtherStep } else { Self::Step }
    }
}

/// The variables of a job, or of one of the groups of a heterogeneous one.
pub(super) struct Variables {
    /// The group, if one is chosen.
    pub(super) group: Option<u32>,
    /// The number of groups, at least 1.
    pub(super) groups: u32,
    pub(super) place: Place,
}

impl Variables {
    /// Those of the job, or of the group that the options choose.
    pub(super) fn of_job(parts: &Parts<'_>) -> Result<Self, ClusterError> {
        let groups = num_groups();
        let (place, last) = (Place::find(), groups - 1);
        let Some(text) = parts.option("group") else {
            return match last > 0 && place != Place::Step {
                true => Err(ClusterError::Heterogeneous { groups, last }),
                false => Ok(Self { group: None, groups, place }),
            };
        };
        let bad = |_| ClusterError::BadGroup { text: text.to_owned() };
        let group = text.parse().map_err(bad)?;
        match last {
            0 if variable(NODELIST).is_none() => Err(ClusterError::NoJob { name: NODELIST }),
            0 => Err(ClusterError::NotHeterogeneous { group }),
            _ if group > last => Err(ClusterError::NoGroup { group, last }),
            // Those of a group are never those of a step.
            _ => Ok(Self { group: Some(group), groups, place: Place::Job }),
        }
    }

    /// The same of each group there is.
    pub(super) fn of_groups(&self) -> Vec<Self> {
        let groups = self.groups;
        let of = |group| Self { group, groups, place: Place::Job };
        match groups {
            1 => vec![of(None)],
            _ => (0..groups.min(MOST_GROUPS)).map(|group| of(Some(group))).collect(),
        }
    }

    /// Returns what a line that starts a step on these hosts depends on; the hosts are in the order of Slurm.
    pub(super) fn launched(&self, hosts: Vec<String>) -> SlurmJob {
        let is_set = |name: &&str| variable(name).is_some();
        let is_in_step = number("SLURM_STEP_ID").is_some_and(|step| step < FIRST_SPECIAL_STEP);
        let list = Some(NODELIST).filter(|_| is_in_step && !is_list_of(&hosts));
        SlurmJob {
            variables: OPTIONS_OF_STEPS.into_iter().filter(is_set).chain(list).collect(),
            hosts,
            het_group: self.group,
            is_in_step,
            ..SlurmJob::default()
        }
    }

    /// The job, if all of some hosts belong to it. A job that cannot be read counts as none, because it was not asked for.
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

    /// The full name of a variable, and its text.
    pub(super) fn text(&self, name: &str) -> Option<(String, String)> {
        let name = match self.group {
            Some(group) => format!("{name}_HET_GROUP_{group}"),
            None => name.to_owned(),
        };
        variable(&name).map(|text| (name, text))
    }

    /// Numbers of the nodes, and their names.
    pub(super) fn counts(&self, name: &str) -> Result<Option<(String, Vec<u32>)>, ReadError> {
        let read =
            |(name, text): (String, String)| hostlist::read_counts(&name, &text).map(|counts| (name, counts));
        self.text(name).map(read).transpose()
    }

    /// One number.
    pub(super) fn number(&self, name: &str) -> Result<Option<u32>, ReadError> {
        Ok(self.counts(name)?.and_then(|(_, counts)| counts.first().copied()).filter(|&count| count > 0))
    }
}

/// Returns whether the list of nodes in the environment has all of some hosts. It has those of the step alone where that was started from outside of
/// the job, and would limit further steps to these.
fn is_list_of(hosts: &[String]) -> bool {
    let Some(own) = variable(NODELIST).and_then(|list| hostlist::read(NODELIST, &list).ok()) else {
        return true;
    };
    let own: HashSet<&String> = own.iter().collect();
    hosts.iter().all(|host| own.contains(host))
}

/// The job of Slurm that this runs in, if all of some hosts belong to it, or to one of its groups.
pub(in crate::spec::cluster) fn job_of(hosts: &[&str]) -> Option<SlurmJob> {
    let groups = num_groups();
    let whole = Variables { group: None, groups, place: Place::Job };
    let of_groups = whole.of_groups();
    std::iter::once(whole).chain(of_groups).find_map(|variables| variables.job_of(hosts))
}

/// The distribution of tasks over nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Distribution {
    /// Node by node, in an order of Slurm.
    Blocks,
    /// Node by node, in the order of the list of nodes.
    InOrder,
    /// Another distribution, by its name.
    Other(String),
}

impl Distribution {
    /// Returns the distribution in the environment for nodes of at most this many tasks.
    pub(super) fn find(most: u32) -> Self {
        let Some(text) = variable("SLURM_DISTRIBUTION") else { return Self::Blocks };
        let size = || number("SLURM_DIST_PLANESIZE").unwrap_or(0);
        match text.split([':', ',']).next().unwrap_or_default().trim() {
            "block" | "*" => Self::Blocks,
            "cyclic" | "plane" if most == 1 => Self::InOrder,
            "plane" if size() >= most.into() => Self::InOrder,
            _ => Self::Other(text),
        }
    }
}

/// The groups of a heterogeneous job. Other jobs have one.
fn num_groups() -> u32 {
    number("SLURM_HET_SIZE").and_then(|size| size.try_into().ok()).unwrap_or(1u32).max(1)
}

/// Groups of a job at most, as Slurm has it.
const MOST_GROUPS: u32 = 128;

pub(super) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// A number, if there is one.
pub(super) fn number(name: &str) -> Option<u64> {
    variable(name)?.trim().parse().ok()
}
