//! Distance matrices.

use super::error::SpecError;
use super::file_kind::{FileKind, Match};
use viem::base::types::Distance;
use viem::machine::{DistanceMatrix, Machine};
use viem_io::matrix::{self, Matrix};

pub(super) const FILE: FileKind = FileKind {
    about: "a matrix of distances",
    endings: &[".matrix", ".mat", ".dist"],
    resembles: |opening| match (opening.number(), opening.num_fields()) {
        (None, _) if opening.is_named_table() => Match::Yes,
        (None, _) => Match::No,
        // The distance from the first PE to itself, a line with a single number, or more fields than the header of a graph has.
        (Some(0.0), _) | (_, 1 | 5..) => Match::Yes,
        _ if opening.is_square_table() => Match::Yes,
        _ => Match::Maybe,
    },
    read: |source| {
        let name = source.name().to_owned();
        let Matrix { num_rows, entries } = matrix::read(source)?;
        machine(name, num_rows, entries, &format!("distance matrix of {num_rows} processing elements"))
    },
};

/// The machine of a matrix that was read from a file of this name, and its description.
///
/// If every PE is nearest to itself, as in tables of NUMA distances with 10 on the diagonal, the diagonal is taken as 0.
pub(super) fn machine(
    name: String,
    num_rows: usize,
    mut entries: Vec<Distance>,
    about: &str,
) -> Result<Box<dyn Machine>, SpecError> {
    let mut about = about.to_owned();
    if has_local_distances(&entries, num_rows) {
        let own = entries[0];
        entries.iter_mut().step_by(num_rows + 1).for_each(|entry| *entry = 0);
        about += &format!(" (the {own} from each to itself is taken as 0)");
    }
    let machine = DistanceMatrix::new(num_rows, entries);
    Ok(Box::new(machine.map_err(|error| SpecError::machine(name, error))?.with_description(about)))
}

/// Returns whether all entries of the diagonal are one number above 0 that no other entry is below.
pub(super) fn has_local_distances(entries: &[Distance], num_rows: usize) -> bool {
    let Some(&own) = entries.first().filter(|&&own| own > 0 && num_rows > 1) else { return false };
    entries.iter().step_by(num_rows + 1).all(|&entry| entry == own)
        && entries.iter().all(|&entry| entry >= own)
}
