//! Slurm: the host of each rank in the file that SLURM_HOSTFILE names, and a script that binds the ranks.

use super::error::LaunchError;
use super::files::Launch;
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};
use super::{script, srun};

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "slurm",
    about: "host file and binding script for srun",
    files: &["hosts", "bind.sh"],
    needs_hosts: true,
    binds_to: BindsTo::Cpus,
    make,
    #[cfg(test)]
    read: script::read,
};

fn make(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let (ranks, hosts, bind) = (job.num_ranks(), job.file(0), job.program(1));
    let srun = srun::command(job);
    let line = format!("SLURM_HOSTFILE={hosts} {srun} -n {ranks} -m arbitrary --cpu-bind=none {bind} ./app");
    Ok(Launch { files: vec![script::hosts(job, ""), script::of(job, script::SLURM_RANK)], line: Some(line) })
}
