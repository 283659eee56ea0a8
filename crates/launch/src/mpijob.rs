//! MPI jobs with GPUs, such as those of operators of Kubernetes: a host per rank for Open MPI, and a script that orders the GPUs of a host
//! as its ranks.
//!
//! Programs take the GPU whose number is their local rank, and local ranks are in the order of the ranks. The script lists the GPUs of a host
//! in `CUDA_VISIBLE_DEVICES` in this order, so each rank takes its own.

use super::error::LaunchError;
use super::files::Launch;
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};
use super::script;
use super::shell::cpu_list;

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "mpijob",
    about: "host file and script with the order of GPUs for jobs of MPI operators",
    files: &["hostfile", "gpus.sh"],
    needs_hosts: true,
    binds_to: BindsTo::Nothing,
    make,
    #[cfg(test)]
    read: tests::read,
};

fn make(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let numbers = job.pe_numbers()?;
    let mut gpus = vec![String::new(); job.num_ranks()];
    for node in job.used_nodes() {
        let of_node: Vec<u32> = node.ranks.iter().map(|&rank| numbers[rank as usize]).collect();
        let list = cpu_list(&of_node, ",");
        node.ranks.iter().for_each(|&rank| gpus[rank as usize].clone_from(&list));
    }
    let (ranks, hosts, script) = (job.num_ranks(), job.file(0), job.program(1));
    let line = format!("mpirun -n {ranks} --hostfile {hosts} --map-by seq --bind-to none {script} ./app");
    let files = vec![script::hosts(job, ""), script::of_gpus(job, "OMPI_COMM_WORLD_RANK", &gpus)];
    Ok(Launch { files, line: Some(line) })
}

#[cfg(test)]
mod tests {
    use crate::Launch;
    use crate::tests::{Cluster, Seats, by_rank, numbers};

    pub(crate) fn read(lines: &[&str], launch: &Launch, machine: &Cluster) -> Seats {
        let script: Vec<&str> = launch.files[1].content.lines().collect();
        let gpus = &script[script.len() - lines.len()..];
        let rank = |rank: usize| {
            let local = lines[..rank].iter().filter(|&&host| host == lines[rank]).count();
            (rank as u32, lines[rank].to_owned(), numbers(gpus[rank], ',')[local])
        };
        by_rank((0..lines.len()).map(rank), machine)
    }
}
