//! MPICH from 5.0.2 on: earlier versions accept `-rankmap` and do not follow it. The hosts are in a file, the node of each rank on the command line. The CPUs of the
//! ranks of each node follow its host, in the order of the ranks; if they are the same on all nodes, they are
//! on the command line instead. In a job of Slurm, the hosts are in its order. Where the ranks are not in the order of the hosts, a comment repeats the node of each rank.

use std::fmt::Write;

use super::error::LaunchError;
use super::files::{Launch, LaunchFile};
use super::job::{Job, NodeRanks};
use super::kind::{BindsTo, LauncherKind};
use super::shell::{LONGEST_ARGUMENT, cpu_list};
use super::srun;
use viem::base::types::NodeId;

/// The beginning of a comment that has the node of each rank.
pub(super) const RANK_MAP: &str = "# rank map: ";

/// Nodes in a line of a comment.
const NODES_OF_A_LINE: usize = 16;

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "mpich",
    about: "host file and rank map of MPICH, from version 5.0.2 on",
    files: &["hosts"],
    needs_hosts: true,
    binds_to: BindsTo::Cpus,
    make,
    #[cfg(test)]
    read: tests::read,
};

fn make(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let nodes = srun::used_nodes(job);
    let mut node_of = vec![0; job.num_ranks()];
    for (number, node) in nodes.iter().enumerate() {
        node.ranks.iter().for_each(|&rank| node_of[rank as usize] = number);
    }
    let map: Vec<String> = node_of.iter().map(usize::to_string).collect();
    let map = map.join(",");
    if map.len() >= LONGEST_ARGUMENT {
        return Err(LaunchError::TooLong { ranks: job.num_ranks() });
    }
    let bindings: Vec<String> = nodes.iter().map(|node| binding(job, &node.ranks)).collect();
    let are_alike = bindings.windows(2).all(|pair| pair[0] == pair[1]);
    let mut content = String::new();
    for (NodeRanks { host, ranks }, binding) in nodes.iter().zip(&bindings) {
        let binding = if are_alike { String::new() } else { format!(" binding={binding}") };
        writeln!(content, "{host}:{}{binding}", ranks.len()).expect("strings have room");
    }
    if !node_of.is_sorted() {
        content += &rank_map(&map);
    }
    let bind = if are_alike { format!(" -bind-to {}", bindings[0]) } else { String::new() };
    let (ranks, file, overlap) = (job.num_ranks(), job.file(0), srun::overlap(job));
    let line = format!("{overlap}mpiexec -f {file} -rankmap {map}{bind} -n {ranks} ./app");
    Ok(Launch { files: vec![LaunchFile::text(content)], line: Some(line) })
}

/// The node of each rank as a comment, so that the file alone says where ranks are. MPICH reads lines in pieces: short ones stay whole.
fn rank_map(map: &str) -> String {
    let nodes: Vec<&str> = map.split(',').collect();
    nodes.chunks(NODES_OF_A_LINE).map(|nodes| format!("{RANK_MAP}{}\n", nodes.join(","))).collect()
}

/// The CPUs of ranks on one node: `user:0+4,1+5`.
pub(super) fn binding(job: &Job<'_>, ranks: &[NodeId]) -> String {
    let cpus: Vec<String> = ranks.iter().map(|&rank| cpu_list(job.site(rank).cpus, "+")).collect();
    format!("user:{}", cpus.join(","))
}

#[cfg(test)]
mod tests {
    use crate::Launch;
    use crate::tests::{Cluster, Seats, bindings, numbers, option};

    pub(crate) fn read(lines: &[&str], launch: &Launch, _machine: &Cluster) -> Seats {
        let nodes = lines.iter().map(|line| line.split_once(' ').map_or((*line, ""), |split| split));
        let mut nodes: Vec<_> = nodes
            .map(|(host, binding)| {
                let (host, ranks) = host.split_once(':').unwrap();
                let binding = binding.strip_prefix("binding=");
                let binding =
                    bindings(binding.unwrap_or_else(|| option(launch.line.as_deref().unwrap(), "-bind-to")));
                assert_eq!(binding.len(), ranks.parse::<usize>().unwrap());
                (host, binding.into_iter())
            })
            .collect();
        let map = numbers(option(launch.line.as_deref().unwrap(), "-rankmap"), ',');
        let seat = |node: u32| {
            let (host, cpus) = &mut nodes[node as usize];
            (host.to_string(), cpus.next().unwrap())
        };
        map.into_iter().map(seat).collect()
    }
}
