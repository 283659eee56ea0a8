//! Requirements of jobs of Slurm on a launch: the words before the options of `srun`, and the order of the hosts.
//!
//! Slurm numbers nodes and tasks in an order of its own, whatever the order in which hosts are given, unless each task has its host. Hydra,
//! the launcher of MPICH and Intel MPI, starts a daemon on each host by `srun` in a job, and takes the number of its node for its place in
//! the list.

use std::collections::HashMap;

use super::error::LaunchError;
use super::job::{Job, NodeRanks};
use viem::base::types::NodeId;
use viem::machine::{Nodes, SlurmJob};

/// `srun` with the options that make it start a step on all CPUs of the job, whatever the job was asked for.
pub(super) fn command(job: &Job<'_>) -> String {
    let Some(slurm) = job.slurm else { return "srun".to_owned() };
    let mut command = String::new();
    if !slurm.variables.is_empty() {
        let unset: String = slurm.variables.iter().map(|name| format!(" -u {name}")).collect();
        command = format!("env{unset} ");
    }
    command += "srun";
    if let Some(group) = slurm.het_group {
        command += &format!(" --het-group={group}");
    }
    if slurm.is_in_step {
        command += " --overlap";
    }
    if slurm.is_overcommitted {
        command += " --overcommit";
    }
    command
}

/// Returns the words before a launcher that starts its daemons by `srun`, so that these do not wait for the end of the step that it is started in.
pub(super) fn overlap(job: &Job<'_>) -> &'static str {
    if job.slurm.is_some_and(|slurm| slurm.is_in_step) { "SLURM_OVERLAP=1 " } else { "" }
}

/// The place of each host in the order of Slurm.
fn places(slurm: &SlurmJob) -> HashMap<&str, usize> {
    slurm.hosts.iter().map(String::as_str).zip(0..).collect()
}

/// All nodes, in a job of Slurm in its order.
pub(super) fn order(slurm: Option<&SlurmJob>, nodes: &Nodes) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nodes.hosts().len()).collect();
    if let Some(places) = slurm.map(places) {
        order.sort_by_key(|&node| places.get(nodes.hosts()[node].as_str()));
    }
    order
}

/// The nodes with ranks, in a job of Slurm in its order.
pub(super) fn used_nodes<'a>(job: &Job<'a>) -> Vec<NodeRanks<'a>> {
    let mut nodes = job.used_nodes();
    if let Some(places) = job.slurm.map(places) {
        nodes.sort_by_key(|node| places.get(node.host));
    }
    nodes
}

/// Refuses a list of hosts that Hydra would not follow in a job of Slurm: each with its first rank, in the order of the list.
pub(super) fn check_order(job: &Job<'_>, list: impl Iterator<Item = NodeId>) -> Result<(), LaunchError> {
    let Some(places) = job.slurm.map(places) else { return Ok(()) };
    let mut last = None;
    for rank in list {
        let host = job.host_of(rank);
        let place = places.get(host);
        if last.is_some() && place <= last {
            return Err(LaunchError::SlurmOrder { kind: job.kind, rank, host: host.to_owned() });
        }
        last = place;
    }
    Ok(())
}
