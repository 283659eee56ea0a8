//! Why a mapping cannot be launched.

use viem::base::error::{ErrorKind, HasKind};
use viem::base::types::NodeId;

/// The reason why a mapping cannot be launched in this way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum LaunchError {
    #[error(
        "{kind} needs the names of the hosts, but the machine has {nodes} nodes without names; use a machine with named \
         hosts, or {others}"
    )]
    NoHosts { kind: &'static str, nodes: usize, others: String },
    #[error(
        "{kind} allows one rank per core, but ranks {first} and {second} are both on core {core} of {host}; use slurm \
         or mpich40"
    )]
    SharedCore { kind: &'static str, first: NodeId, second: NodeId, core: u32, host: String },
    #[error(
        "cray needs the same number of ranks on every node except the last, which may have fewer; {first} has {most} \
         and {host} has {ranks}"
    )]
    Uneven { first: String, most: usize, host: String, ranks: usize },
    #[error("cray needs ranks on the same CPUs of every node, but those of {host} and {first} differ")]
    OtherCpus { first: String, host: String },
    #[error(
        "cray needs the hosts in the order of Slurm's nodes, but {first} comes before {second}; list them in that order, \
         or use slurm"
    )]
    HostOrder { first: String, second: String },
    #[error(
        "mpich needs the node of each rank in one argument, which is too long for {ranks} ranks; use mpich40"
    )]
    TooLong { ranks: usize },
    #[error(
        "{kind} binds ranks to cores, but those near the GPUs of {host} are not known, or not in the job; use {others}, or describe {host} by a file of hwloc"
    )]
    NoCoresOfGpus { kind: &'static str, host: String, others: String },
    #[error(
        "{kind} needs packages and cores, but only the numbers of the CPUs near the GPUs of {host} are known; use {others}, or describe {host} by a \
         file of hwloc"
    )]
    OnlyCpusOfGpus { kind: &'static str, host: String, others: String },
    #[error(
        "the name of host `{host}` begins with a dash, so launchers would take it for an option; give the host another name"
    )]
    HostLikeOption { host: String },
    #[error(
        "in a job of Slurm, {kind} starts its ranks by srun, which takes each host once and in an order of its own: rank {rank} \
         would not be on {host}; use slurm, and add --mpi=pmi2 to its line"
    )]
    SlurmOrder { kind: &'static str, rank: NodeId, host: String },
    #[error("there is nothing to launch: the model has no processes")]
    NoRanks,
    #[error("{kind} allows one rank per processing element, but ranks {first} and {second} are both on {pe}")]
    SharedPe { kind: &'static str, first: NodeId, second: NodeId, pe: u32 },
}

impl HasKind for LaunchError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoHosts { .. }
            | Self::SharedCore { .. }
            | Self::Uneven { .. }
            | Self::OtherCpus { .. }
            | Self::HostOrder { .. }
            | Self::TooLong { .. }
            | Self::NoCoresOfGpus { .. }
            | Self::OnlyCpusOfGpus { .. }
            | Self::HostLikeOption { .. }
            | Self::SlurmOrder { .. }
            | Self::NoRanks
            | Self::SharedPe { .. } => ErrorKind::Usage,
        }
    }
}

impl LaunchError {
    /// Returns whether another mapping of the same processes may work.
    pub fn depends_on_mapping(&self) -> bool {
        use LaunchError::*;
        self.is_of_sharing()
            || matches!(self, Uneven { .. } | OtherCpus { .. } | HostOrder { .. } | SlurmOrder { .. })
    }

    /// Returns whether two processes share a core or PE.
    pub fn is_of_sharing(&self) -> bool {
        matches!(self, Self::SharedCore { .. } | Self::SharedPe { .. })
    }
}
