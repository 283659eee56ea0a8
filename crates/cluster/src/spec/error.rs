//! Why there is no such machine.

use crate::nodes::ClusterError;
use viem::base::error::{ErrorKind, HasKind};
use viem::machine::MachineError;
use viem::machine::spec as text;
use viem_io::ReadError;

/// The reason why there is no such machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum SpecError {
    #[error("machine `{spec}` is neither a file that exists nor one of {examples}")]
    Unknown { spec: String, examples: String },
    #[error(transparent)]
    Text(#[from] text::SpecError),
    #[error("machine `{spec}` brings its own distances; leave out `{distances}`")]
    OwnDistances { spec: String, distances: String },
    #[error("machine `{file}`: {source}")]
    Machine { file: String, source: Box<MachineError> },
    #[error(
        "{file}: this is no machine; a machine is a target file of Scotch, a network (METIS graph), a distance matrix, or distances of NUMA \
         nodes as numactl, likwid-topology or lstopo prints them"
    )]
    UnknownFile { file: String },
    #[error(
        "{file}: the comments at the start are too long to see what kind of machine follows; shorten them, or end the name of the file in \
         .tgt (a target file of Scotch), .graph (a network) or .matrix (a distance matrix)"
    )]
    LongComments { file: String },
    #[error("machine `{spec}`: {source}")]
    Cluster { spec: String, source: Box<ClusterError> },
    #[error("`{field}` is for clusters (slurm, hwloc:, hosts:) only, and `{spec}` is none")]
    ClustersOnly { spec: String, field: &'static str },
    #[error("`link_cycles` is for networks in files only, and `{spec}` is none")]
    NetworksOnly { spec: String },
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl HasKind for SpecError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown { .. }
            | Self::OwnDistances { .. }
            | Self::ClustersOnly { .. }
            | Self::NetworksOnly { .. } => ErrorKind::Usage,
            Self::UnknownFile { .. } | Self::LongComments { .. } => ErrorKind::BadData,
            Self::Text(error) => error.kind(),
            Self::Machine { source, .. } => source.kind(),
            Self::Cluster { source, .. } => source.kind(),
            Self::Read(error) => error.kind(),
        }
    }
}

impl SpecError {
    /// A fault of the machine of this name.
    pub(super) fn machine(file: impl Into<String>, error: impl Into<MachineError>) -> Self {
        Self::Machine { file: file.into(), source: Box::new(error.into()) }
    }
}
