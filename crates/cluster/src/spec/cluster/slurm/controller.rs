//! Facts about a job and its nodes that the controller of Slurm has and the environment has not: `scontrol show`.

use std::collections::HashMap;

use super::variables::{Variables, variable};
use crate::files::scontrol::{self, Hardware, JobRecord, Share};
use crate::spec::cluster::command;

/// Bytes of an argument at most.
const LONGEST_ARGUMENT: usize = 100 << 10;

/// The known facts about a job and its nodes.
#[derive(Default)]
pub(super) struct Facts {
    /// The job, or the groups that a step runs in.
    jobs: Vec<JobRecord>,
    hardware: HashMap<String, Hardware>,
    /// True if there is a controller that answers.
    pub(super) are_answers: bool,
    /// The reason why the share of the job in its nodes is not known.
    pub(super) failure: Option<String>,
}

impl Facts {
    /// Asks about a job. O(nodes).
    pub(super) fn of_job(variables: &Variables) -> Self {
        let mut facts = Self::default();
        let name = match variables.group {
            Some(_) => variables.text("SLURM_JOB_ID").map(|(_, id)| id),
            None => variable("SLURM_JOB_ID").or_else(|| variable("SLURM_JOBID")),
        };
        let Some(id) = name.and_then(|id| id.trim().parse::<u32>().ok()) else {
            facts.failure = Some("SLURM_JOB_ID is not set".to_owned());
            return facts;
        };
        match show(&["job", "-d", &id.to_string()]) {
            Ok(text) => (facts.jobs, facts.are_answers) = (scontrol::jobs(&text), true),
            Err(failure) => {
                facts.failure = Some(failure);
                return facts;
            }
        }
        // One number may stand for all groups of a job, or for all jobs of an array.
        let is_in_groups = variables.groups > 1 && variables.group.is_none();
        facts.jobs.retain(|job| job.id == id || is_in_groups);
        if facts.jobs.iter().all(|job| job.shares.is_empty()) {
            facts.failure = Some("scontrol show job -d has no CPU_IDs".to_owned());
        }
        facts
    }

    /// Asks about the nodes in a list, if the controller answers. O(nodes).
    pub(super) fn ask_about(&mut self, nodes: &str) {
        if self.are_answers
            && nodes.len() < LONGEST_ARGUMENT
            && let Ok(text) = show(&["node", nodes])
        {
            self.hardware = scontrol::nodes(&text).into_iter().collect();
        }
    }

    /// Returns the record of the job itself, if there is one.
    pub(super) fn job(&self) -> Option<&JobRecord> {
        if let [job] = self.jobs.as_slice() { Some(job) } else { None }
    }

    /// The list of the nodes of the job, and what says so.
    pub(super) fn list(&self) -> Option<(String, String)> {
        Some(("scontrol show job".to_owned(), self.job()?.nodes.clone()?))
    }

    /// Returns the share of the job in each of its nodes.
    pub(super) fn shares(&self) -> HashMap<&str, &Share> {
        let shares = self.jobs.iter().flat_map(|job| &job.shares);
        shares.flat_map(|share| share.hosts.iter().map(move |host| (host.as_str(), share))).collect()
    }

    /// Returns the size of a node.
    pub(super) fn hardware(&self, host: &str) -> Option<Hardware> {
        self.hardware.get(host).copied()
    }
}

/// The name of the topology that a partition has.
pub(super) fn topology_of_partition() -> Option<String> {
    let partition = variable("SLURM_JOB_PARTITION").filter(|name| !name.starts_with('-'))?;
    scontrol::topology_of_partition(&show(&["partition", &partition]).ok()?)
}

/// The year and the month of the release of Slurm.
pub(super) fn release() -> Option<(u32, u32)> {
    let printed = command::ask("scontrol", &["-V"]).ok()?;
    let text = String::from_utf8_lossy(&printed);
    let mut numbers = text.split_whitespace().last()?.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// Returns the output of `scontrol show`.
fn show(what: &[&str]) -> Result<String, String> {
    let arguments: Vec<&str> = ["show"].iter().chain(what).copied().collect();
    let failed = |reason| format!("scontrol cannot be run: {reason}");
    let printed = command::ask("scontrol", &arguments).map_err(failed)?;
    Ok(String::from_utf8_lossy(&printed).into_owned())
}
