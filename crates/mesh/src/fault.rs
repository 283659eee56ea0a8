//! What may be wrong with the file of a mesh.

use viem::base::memory::OutOfMemory;

/// A fault in the file of a mesh.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum MeshFault {
    #[error("expected {expected}, found `{found}`")]
    Unexpected { expected: String, found: String },
    #[error("the file ends where {expected} should be")]
    Ends { expected: String },
    #[error("{what} is {number}; it must be from {least} to {greatest}")]
    OutOfRange { what: &'static str, number: u64, least: u64, greatest: u64 },
    #[error("{what} is {count}, for which the file is too short")]
    CutOff { what: &'static str, count: u64 },
    #[error("there are {count} {what}; at most {} are read", u32::MAX - 1)]
    TooMany { what: &'static str, count: usize },
    #[error("there is no node {node}")]
    NoSuchNode { node: u64 },
    #[error("node {node} has its coordinates more than once")]
    SameNode { node: u64 },
    #[error("elements of type {number} are not known")]
    UnknownType { number: u64 },
    #[error("an element of {count} nodes is no {kind}")]
    NodesOfKind { count: usize, kind: &'static str },
    #[error("{what} is not read; {hint}")]
    Unsupported { what: String, hint: &'static str },
    #[error("the coordinates of a node are no finite numbers")]
    NotFinite,
    #[error("the mesh has no elements")]
    NoElements,
    #[error("{reason}")]
    Malformed { reason: String },
    #[error("the data cannot be unpacked: {reason}")]
    Packed { reason: String },
}

/// The reason why a file was not read to its end.
pub(crate) enum Stop {
    /// A fault in a text.
    Text {
        offset: usize,
        fault: MeshFault,
    },
    /// A fault in a binary section.
    Binary {
        offset: usize,
        fault: MeshFault,
    },
    Memory(OutOfMemory),
}

impl Stop {
    pub fn text(offset: usize, fault: MeshFault) -> Self {
        Self::Text { offset, fault }
    }

    pub fn binary(offset: usize, fault: MeshFault) -> Self {
        Self::Binary { offset, fault }
    }

    pub fn new(is_binary: bool, offset: usize, fault: MeshFault) -> Self {
        if is_binary { Self::binary(offset, fault) } else { Self::text(offset, fault) }
    }
}

impl From<OutOfMemory> for Stop {
    fn from(lack: OutOfMemory) -> Self {
        Self::Memory(lack)
    }
}
