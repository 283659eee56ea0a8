//! Files: graphs, mappings, partitions; reading that survives any bytes, writing that leaves a
//! whole file or none.
//!
//! | member | what it does |
//! |---|---|
//! | [`Source`] | a file or the standard input, unpacked if it is packed with gzip |
//! | [`metis`] | graphs: read, check, repair, write |
//! | [`parhip`] | graphs in the binary format of ParHIP: read, write |
//! | [`read_graph`], [`write_graph`] | graphs in either format |
//! | [`mapping`] | mappings of processes to PEs: read, write |
//! | [`partition`] | partitions: read, write |
//! | [`fixed`] | fixed processes or vertices: read |
//! | [`expert_trace`] | which experts tokens have chosen: read |
//! | [`parents`] | vertices of an older graph that those of a refined one come from: read |
//! | [`traffic`] | recorded traffic of MPI jobs, of several kinds: read, summed into a graph |
//! | [`target`] | target files of Scotch: read |
//! | [`matrix`] | square matrices: read |
//! | [`cluster`] | hosts, Slurm's network, hwloc's nodes, latencies: read |
//! | [`coordinates`] | points of vertices: read |
//! | [`index`] | orders of vertices: read, write |
//! | [`number_list`] | lists of PEs or of blocks: read |
//! | [`pe_weights`] | weights of PEs, speeds of parts: read |
//! | [`qaplib`] | quadratic assignment problems of QAPLIB: read, write |
//! | [`qap_solution`] | their solutions: read, write |
//! | [`readings`] | all that a file may be by its content |
//! | [`output`] | the outputs of a run: written whole or not at all |
//!
//! Every reader scans its text once, in pieces, and takes memory for what stands there, never for what a
//! header promises. Lines and columns are counted from 1, columns in bytes.

mod array;
pub mod cluster;
pub mod coordinates;
mod digits;
pub mod expert_trace;
pub(crate) mod fields;
pub mod fixed;
mod graph_file;
mod idle;
pub mod index;
mod lines;
pub mod mapping;
pub mod matrix;
pub mod metis;
mod npz;
pub mod number_list;
pub mod output;
pub mod parents;
pub mod parhip;
pub mod partition;
pub mod pe_weights;
mod place;
pub mod qap_solution;
pub mod qaplib;
mod reading;
mod recognise;
pub(crate) mod scanner;
mod source;
mod table;
pub mod target;
pub mod traffic;
mod xml;

use std::sync::Arc;

use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::memory::OutOfMemory;
use crate::ground::number_list::ListFault;

pub use fields::FieldFault;
pub use graph_file::{GraphFormat, read_graph, read_noted_graph, write_graph};
pub use output::{Outputs, WriteError};
pub use place::{are_one_stream, is_stream};
pub use reading::Reading;
pub use recognise::readings;
pub use source::Source;

/// Why nothing was read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ReadError {
    /// The file is missing, or the system does not let it be read.
    #[error("{file}: cannot be read: {source}")]
    Unreadable { file: String, source: std::io::Error },
    /// The file was read, and is not what it should be.
    #[error("{file}, line {line}, column {column}: {kind}")]
    Invalid { file: String, line: u64, column: u64, kind: ContentError },
    /// The same of a binary file; bytes are counted from 0.
    #[error("{file}, byte {offset}: {kind}")]
    InvalidBytes { file: String, offset: u64, kind: ContentError },
    /// What stands in the file needs more memory than there is.
    #[error("{file}, line {line}: {source}; give the process more, or a smaller file")]
    OutOfMemory { file: String, line: u64, source: OutOfMemory },
}

impl HasKind for ReadError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unreadable { .. } => ErrorKind::NoInput,
            Self::Invalid { .. } | Self::InvalidBytes { .. } => ErrorKind::BadData,
            Self::OutOfMemory { .. } => ErrorKind::NoResources,
        }
    }
}

impl ReadError {
    /// The same for the name of a file that may be a misspelt `what`: where there is no such file, that is said, too.
    pub fn or_else_is(self, what: impl std::fmt::Display) -> Self {
        match self {
            Self::Unreadable { file, source } if source.kind() == std::io::ErrorKind::NotFound => {
                let message = format!("it is neither {what} nor a file that is there");
                Self::Unreadable { file, source: std::io::Error::new(source.kind(), message) }
            }
            error => error,
        }
    }
}

/// What is wrong with the content of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum ContentError {
    #[error(transparent)]
    Graph(metis::FaultKind),
    #[error(transparent)]
    Parhip(parhip::ParhipFault),
    #[error(transparent)]
    Mapping(mapping::MappingFault),
    #[error(transparent)]
    Traffic(traffic::TrafficFault),
    #[error(transparent)]
    Target(target::TargetFault),
    #[error(transparent)]
    Matrix(matrix::MatrixFault),
    #[error(transparent)]
    Cluster(cluster::ClusterFault),
    #[error(transparent)]
    List(ListFault),
    #[error(transparent)]
    PeWeights(pe_weights::PeWeightFault),
    #[error(transparent)]
    Coordinates(coordinates::CoordinatesFault),
    #[error(transparent)]
    Index(index::IndexFault),
    #[error(transparent)]
    Partition(partition::PartitionFault),
    #[error(transparent)]
    Fixed(fixed::FixedFault),
    #[error(transparent)]
    Parents(parents::ParentsFault),
    #[error(transparent)]
    Qaplib(qaplib::QaplibFault),
    #[error(transparent)]
    QapSolution(qap_solution::QapSolutionFault),
    #[error(transparent)]
    ExpertTrace(expert_trace::ExpertTraceFault),
    #[error("the line is longer than {most} MiB, which is the most that is read as one")]
    LineTooLong { most: usize },
    #[error(
        "the file is longer than {most} MiB, the most that is read of such a file; is it the right one, and does it end?"
    )]
    FileTooLong { most: u64 },
    #[error(
        "there is nothing but blank lines and comments for {} MiB, the most that is passed over; is it the right file, and does it end?",
        idle::MOST_IDLE
    )]
    Idle,
    #[error("the file starts like a gzip file but cannot be unpacked: {reason}")]
    Packed { reason: String },
    #[error(transparent)]
    Other(OtherFault),
}

/// A fault of a format that is read by a module above this one. Equal to one with the same message.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct OtherFault(Arc<dyn std::error::Error + Send + Sync>);

impl OtherFault {
    pub(crate) fn new(fault: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(fault))
    }
}

impl PartialEq for OtherFault {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_string() == other.0.to_string()
    }
}

impl Eq for OtherFault {}
