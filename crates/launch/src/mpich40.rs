//! MPICH up to 5.0.1: a file with one line for each run of consecutive ranks on the same host, followed by
//! their CPUs.
//!
//! Ranks are assigned in the order of the lines. Two consecutive lines must not name the same host, so a line
//! covers all consecutive ranks there. In a job of Slurm, each host must have one line, in the order of Slurm.

use std::fmt::Write;

use super::error::LaunchError;
use super::files::{Launch, LaunchFile};
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};
use super::{mpich, srun};
use viem::ground::types::NodeId;

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "mpich40",
    about: "host file of MPICH, up to version 5.0.1",
    files: &["hosts"],
    needs_hosts: true,
    binds_to: BindsTo::Cpus,
    make,
};

fn make(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let ranks: Vec<NodeId> = job.ranks().collect();
    let mut content = String::new();
    let runs = || ranks.chunk_by(|&a, &b| job.site(a).node == job.site(b).node);
    srun::check_order(job, runs().map(|run| run[0]))?;
    for run in runs() {
        let (host, binding) = (job.host_of(run[0]), mpich::binding(job, run));
        writeln!(content, "{host}:{} binding={binding}", run.len()).expect("strings have room");
    }
    let line = format!("{}mpiexec -f {} -n {} ./app", srun::overlap(job), job.file(0), job.num_ranks());
    Ok(Launch { files: vec![LaunchFile::text(content)], line: Some(line) })
}
