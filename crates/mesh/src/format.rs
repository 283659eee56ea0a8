//! Kinds of files that hold a mesh.

use std::fmt;

use crate::cursor::{Cursor, Outcome, parse};
use crate::mesh::Mesh;
use viem_io::{ReadError, Source};

/// A kind of file that holds a mesh.
#[derive(Clone, Copy)]
pub struct Format {
    pub(crate) name: &'static str,
    pub(crate) read: fn(&mut Cursor<'_>) -> Outcome<Mesh>,
}

impl Format {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Reads a mesh from such a file. O(file).
    pub fn read(self, source: Source<'_>) -> Result<Mesh, ReadError> {
        parse(source, self.read)
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
