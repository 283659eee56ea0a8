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
use viem::base::types::NodeId;

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "mpich40",
    about: "host file of MPICH, up to version 5.0.1",
    files: &["hosts"],
    needs_hosts: true,
    binds_to: BindsTo::Cpus,
    make,
    #[cfg(test)]
    read: tests::read,
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

#[cfg(test)]
mod tests {
    use crate::Launch;
    use crate::tests::{Cluster, Seats, bindings};

    pub(crate) fn read(lines: &[&str], _launch: &Launch, _machine: &Cluster) -> Seats {
        let hosts: Vec<&str> = lines.iter().map(|line| line.split_once(':').unwrap().0).collect();
        assert!(hosts.windows(2).all(|pair| pair[0] != pair[1]), "{lines:?}");
        let of_line = |line: &&str| {
            let (host, rest) = line.split_once(':').unwrap();
            let (count, binding) = rest.split_once(" binding=").unwrap();
            let cpus = bindings(binding);
            assert_eq!(cpus.len(), count.parse::<usize>().unwrap());
            cpus.into_iter().map(|cpus| (host.to_string(), cpus)).collect::<Vec<_>>()
        };
        lines.iter().flat_map(of_line).collect()
    }
}
