//! Distance matrices.

use super::SpecError;
use super::file::{FileKind, Likeness};
use crate::io::matrix::{self, Matrix};
use crate::machine::DistanceMatrix;

pub(super) const FILE: FileKind = FileKind {
    about: "a matrix of distances",
    endings: &[".matrix", ".mat", ".dist"],
    resembles: |opening| match (opening.number(), opening.num_fields()) {
        (None, _) => Likeness::No,
        // The distance from the first PE to itself, a line with a single number, or more fields than the header of a graph has.
        (Some(0.0), _) | (_, 1 | 5..) => Likeness::Yes,
        _ => Likeness::Maybe,
    },
    read: |source| {
        let name = source.name().to_owned();
        let Matrix { num_rows, entries } = matrix::read(source)?;
        let machine = DistanceMatrix::new(num_rows, entries);
        Ok(Box::new(machine.map_err(|error| SpecError::machine(name, error))?))
    },
};
