//! Files: graphs, mappings, partitions; reading that survives any bytes, writing that leaves a
//! whole file or none.
//!
//! | member | purpose |
//! |---|---|
//! | [`Source`] | a file or the standard input, unpacked if it is packed with gzip |
//! | [`metis`] | graphs: read, check, repair, write |
//! | [`parhip`] | graphs in the binary format of ParHIP: read, write |
//! | [`read_graph`], [`write_graph`] | graphs in either format |
//! | [`mapping`] | mappings of processes to PEs: read, write |
//! | [`partition`] | partitions: read, write |
//! | [`fixed`] | fixed processes or vertices: read |
//! | [`parents`] | vertices of an older graph that those of a refined one come from: read |
//! | [`target`] | target files of Scotch: read |
//! | [`matrix`] | square matrices: read |
//! | [`coordinates`] | points of vertices: read |
//! | [`index`] | orders of vertices: read, write |
//! | [`number_list`] | lists of PEs or of blocks: read |
//! | [`pe_weights`] | weights of PEs, speeds of parts: read |
//! | [`qaplib`] | quadratic assignment problems of QAPLIB: read, write |
//! | [`qap_solution`] | their solutions: read, write |
//! | [`readings`] | all that a file may be by its content |
//! | [`signature`] | the signatures of files of recorded traffic |
//! | [`output`] | the outputs of a run: written whole or not at all |
//! | [`Text`], [`scanner`], [`fields`], [`table`] | for readers of further formats: whole texts, tokens, numbers with faults, lines of fields |
//! | [`xml`], [`array`](mod@array), [`npz`] | for the same: XML, arrays of NumPy and archives of them |
//!
//! Every reader scans its text once, in pieces, and takes memory for its content, never for what a
//! header promises. Lines and columns are counted from 1, columns in bytes.
//!
//! # Design
//!
//! - *Long texts are parsed in pieces* (`crates/io/src/metis/pieces.rs`). While some are parsed, the next are read and those before are put together. Lines are
//!   counted as they are read, so each piece knows its first vertex and its first line, and is parsed by the parser of whole files. The faults of pieces
//!   are put together in the order of the file, so the first one is the same for any number of threads. Only sums over all rows before are not known to a
//!   piece; where one overflows, the piece is parsed again.
//! - *Most arcs are spelled plainly* (`Scanner::plain_arcs`): digits and one blank. They take a short loop, and whatever else there is goes through
//!   the scanner of all formats, which also finds each fault.
//! - *Weights that are all 1 are not stored.* Each row then begins with the first of as many ones as the longest row has arcs, so loops over arcs are
//!   the same for both kinds of graphs and have no branch.
//! - *Both ends of all edges are compared by one number* (`graph/fingerprint.rs`): a random sum over the arcs of each row, in which the two arcs of an
//!   edge cancel out. It needs no lookup, so it costs a quarter of one for each arc, and parts of a graph add up: ranks of an MPI job exchange one word each
//!   instead of all arcs between them. That it misses a fault has a chance below 2^-50, which no file can raise, since the key is drawn in each run. Only if
//!   the number is not 0, or rows are not in ascending order, the sequential comparison looks for the faults in their order.
//! - *A binary graph is read by all threads*, each at its own places of the file, into memory that they touch first.

pub mod array;
pub mod coordinates;
mod digits;
pub mod fields;
pub mod fixed;
mod graph_file;
mod idle;
pub mod index;
mod lines;
pub mod mapping;
pub mod matrix;
pub mod metis;
pub mod npz;
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
pub mod scanner;
pub mod signature;
mod source;
pub mod table;
pub mod target;
mod text;
pub mod xml;

use std::sync::Arc;

use viem::base::error::{ErrorKind, HasKind};
use viem::base::memory::OutOfMemory;

pub use fields::FieldFault;
pub use graph_file::{
    GraphFormat, read_graph, read_noted_graph, read_several_graph, write_graph, write_several_graph,
};
pub use lines::LineFault;
pub use output::{Outputs, WriteError};
pub use place::{are_one_stream, is_stream};
pub use reading::Reading;
pub use recognise::readings;
pub use source::{PackedFault, Source};
pub use text::Text;
pub use viem::base::number::NumberFault;

/// The reason why nothing was read.
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
    /// The content of the file needs more memory than there is.
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
    /// The same for the name of a file that may be a misspelt `what`: if there is no such file, the message says so.
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

/// A fault in the content of a file, of its format. Equal to one with the same message.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct ContentError(Arc<dyn std::error::Error + Send + Sync>);

impl ContentError {
    /// The fault that a reader has found.
    pub fn new(fault: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(fault))
    }

    /// The fault itself, if it is one of this kind.
    pub fn fault<T: std::error::Error + 'static>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl PartialEq for ContentError {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_string() == other.0.to_string()
    }
}

impl Eq for ContentError {}
