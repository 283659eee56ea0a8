//! The kind of a file, by its content.

use crate::FORMATS;
use crate::cursor::parse;
use crate::fault::{MeshFault, Stop};
use crate::format::Format;
use crate::mesh::Mesh;
use viem_io::{ReadError, Reading, Source, readings};

impl Format {
    /// All of them.
    pub const ALL: [Self; FORMATS.len()] = FORMATS;

    /// The kind of a file that starts with these bytes (up to [`Source::START`] of them; fewer are all there are), if it can be no other.
    pub fn recognise(start: &[u8]) -> Option<Self> {
        match readings(start, start.len() < Source::START)[..] {
            [reading] => Self::of_reading(reading),
            _ => None,
        }
    }

    /// The kind that a reading is of, if it is one of meshes.
    pub fn of_reading(reading: Reading) -> Option<Self> {
        let kind = reading.mesh_kind()?;
        Self::ALL.into_iter().find(|format| format.name() == kind)
    }
}

/// Reads a mesh from a file of the kind that its content shows.
pub fn read(mut source: Source<'_>) -> Result<Mesh, ReadError> {
    match Format::recognise(&source.start()) {
        Some(format) => format.read(source),
        None => parse(source, |_| {
            let reason = "this is no mesh of METIS, Gmsh or VTK".to_owned();
            Err(Stop::text(0, MeshFault::Malformed { reason }))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem_io::signature::MESHES;

    #[test]
    fn what_is_recognised_is_read() {
        let names: Vec<_> = MESHES.iter().map(|(reading, _)| reading.mesh_kind()).collect();
        assert_eq!(names, Format::ALL.map(|format| Some(format.name())));
        assert_eq!(Format::of_reading(Reading::MAPPING), None);
        let error = read(Source::new("mesh", &b"0\n1\n2\n"[..]).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "mesh, line 1, column 1: this is no mesh of METIS, Gmsh or VTK");
    }
}
