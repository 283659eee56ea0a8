//! Faults of clusters.

use crate::files::names::UnclearHost;
use viem::base::error::{ErrorKind, HasKind};
use viem::base::text::counted;
use viem::machine::MachineError;

/// The reason why there is no such cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ClusterError {
    #[error(
        "{understood} needs {distances}, innermost first ({levels}), not {found}",
        distances = counted(needed, "distance", "distances")
    )]
    Distances { understood: String, levels: String, needed: usize, found: usize },
    #[error(
        "host {host} is not in the topology; give another topology, or topology=none where all nodes are alike"
    )]
    NotInTopology { host: String },
    #[error(transparent)]
    UnclearHost(#[from] UnclearHost),
    #[error("host {host} is listed more than once")]
    HostTwice { host: String },
    #[error("host {host} has no row in the file of latencies")]
    NotInLatencies { host: String },
    #[error(
        "there are latencies of {hosts} without names, but the machine has {nodes}",
        hosts = counted(found, "host", "hosts")
    )]
    Latencies { found: usize, nodes: usize },
    #[error("latencies are between hosts, but this machine has no hosts; give hosts=FILE")]
    NoHosts,
    #[error("{nodes} nodes are more than the {most} whose distances can be stored pair by pair")]
    TooManyNodes { nodes: usize, most: usize },
    #[error(
        "host {host} has {slots} {what}, but the node described has {found} {unit}; describe the node by node=, with its hardware threads \
         if these are counted (pack:2 core:16 pu:2), or correct the file of hosts"
    )]
    MoreSlots { host: String, slots: u32, what: &'static str, found: usize, unit: &'static str },
    #[error(
        "host {host} has {usable} {unit}, but {ranks} of {cores_per_rank} need {needed}; give it fewer ranks, or a rank fewer \
         {unit}", ranks = counted(ranks, "rank", "ranks")
    )]
    TooFewCores {
        host: String,
        ranks: usize,
        cores_per_rank: usize,
        needed: usize,
        usable: usize,
        unit: &'static str,
    },
    #[error("a rank of {cores_per_rank} {unit} fits no node: none has more than {usable}")]
    NoRoom { cores_per_rank: usize, usable: usize, unit: &'static str },
    #[error("`{text}` is no number of {what}; give a number of at least 1{or}")]
    BadNumber { text: String, what: &'static str, or: &'static str },
    #[error("no host is named by {option}")]
    NoSuchHost { option: String },
    #[error(
        "host {host} is described by nothing; describe it, such as node[{host}]=16:2 (16 cores in each of 2 sockets), or give its slots"
    )]
    NotDescribed { host: String },
    #[error(
        "hosts do not say how many cores they have; describe the node, such as node=16:2 (16 cores in each of 2 sockets), or give slots"
    )]
    NoInside,
    #[error("`{option}` is no option of {kind}; there are {known}")]
    Option { kind: &'static str, option: String, known: &'static str },
    #[error("node `{text}` has more than {most} cores")]
    NodeTooLarge { text: String, most: u32 },
    #[error(
        "there is no Slurm job here: {name} is not set; run this in a job (salloc, sbatch, srun), or give hosts:FILE"
    )]
    NoJob { name: &'static str },
    #[error("there is no job of {system} here: {names} is not set; run this in a job, or give hosts:FILE")]
    NoBatchJob { system: &'static str, names: String },
    #[error(
        "this is a heterogeneous job of {groups} groups, which Slurm launches by themselves; choose one of them, from slurm:group=0 to \
         slurm:group={last}"
    )]
    Heterogeneous { groups: u32, last: u32 },
    #[error("`{text}` is no number of a group; give a number of at least 0")]
    BadGroup { text: String },
    #[error("the heterogeneous job has the groups 0 to {last}, but not group={group}; choose one of them")]
    NoGroup { group: u32, last: u32 },
    #[error("this job is not heterogeneous, so it has no group={group}; leave the group out")]
    NotHeterogeneous { group: u32 },
    #[error(
        "the job has more tasks than CPUs: {tasks} of them on {host}, which has not as many cores or hardware threads of the job; ask \
         for a CPU for each task, or give fewer ranks="
    )]
    Overcommitted { host: String, tasks: u32 },
    #[error(
        "the tasks of this step are not numbered node by node in the order of SLURM_STEP_NODELIST ({reason}), so ranks are not where the \
         machine has them; start the step by srun -m plane={tasks}"
    )]
    Distribution { reason: String, tasks: u32 },
    #[error(
        "{name} has numbers of {nodes}, but the job has {hosts}",
        nodes = counted(found, "node", "nodes")
    )]
    Counts { name: String, found: usize, hosts: usize },
    #[error(
        "lstopo cannot be run: {reason}; install hwloc (Debian: apt-get install hwloc), or describe the node: {instead}"
    )]
    Lstopo { reason: String, instead: &'static str },
    #[error(
        "a synthetic node has no GPUs; give a file of hwloc, what nvidia-smi or rocm-smi prints about them, or a hierarchy of GPUs \
         such as node=4:2"
    )]
    SyntheticGpus,
    #[error("{file}: {reason}")]
    Gpus { file: String, reason: String },
    #[error(transparent)]
    Machine(#[from] MachineError),
}

impl HasKind for ClusterError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Distances { .. }
            | Self::Heterogeneous { .. }
            | Self::BadGroup { .. }
            | Self::NoGroup { .. }
            | Self::NotHeterogeneous { .. }
            | Self::NoHosts
            | Self::NoInside
            | Self::Distribution { .. }
            | Self::BadNumber { .. }
            | Self::NoRoom { .. }
            | Self::NoSuchHost { .. }
            | Self::NotDescribed { .. }
            | Self::NodeTooLarge { .. }
            | Self::SyntheticGpus
            | Self::Option { .. } => ErrorKind::Usage,
            Self::NotInTopology { .. }
            | Self::UnclearHost(_)
            | Self::HostTwice { .. }
            | Self::NotInLatencies { .. }
            | Self::Latencies { .. }
            | Self::MoreSlots { .. }
            | Self::TooFewCores { .. }
            | Self::Counts { .. }
            | Self::Overcommitted { .. }
            | Self::Gpus { .. } => ErrorKind::BadData,
            Self::Lstopo { .. } | Self::NoJob { .. } | Self::NoBatchJob { .. } => ErrorKind::NoInput,
            Self::TooManyNodes { .. } => ErrorKind::NoResources,
            Self::Machine(error) => error.kind(),
        }
    }
}
