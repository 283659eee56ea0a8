//! Intel MPI: one host per rank, and a script that binds the ranks. In a job of Slurm, the hosts must first occur in its order.

use std::collections::HashSet;

use super::error::LaunchError;
use super::files::Launch;
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};
use super::{script, srun};

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "intel",
    about: "machine file and binding script for Intel MPI",
    files: &["hosts", "bind.sh"],
    needs_hosts: true,
    binds_to: BindsTo::Cpus,
    make,
    #[cfg(test)]
    read: tests::read,
};

fn make(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let mut seen = HashSet::new();
    srun::check_order(job, job.ranks().filter(|&rank| seen.insert(job.host_of(rank))))?;
    let (ranks, hosts, bind) = (job.num_ranks(), job.file(0), job.program(1));
    let overlap = srun::overlap(job);
    let line = format!("{overlap}mpirun -machinefile {hosts} -n {ranks} -genv I_MPI_PIN=0 {bind} ./app");
    Ok(Launch { files: vec![script::hosts(job, ":1"), script::of(job, "PMI_RANK")], line: Some(line) })
}

#[cfg(test)]
mod tests {
    use super::script;
    use crate::Launch;
    use crate::tests::{Cluster, Seats};

    pub(crate) fn read(lines: &[&str], launch: &Launch, machine: &Cluster) -> Seats {
        let hosts: Vec<&str> = lines.iter().map(|line| line.strip_suffix(":1").unwrap()).collect();
        script::read(&hosts, launch, machine)
    }
}
