//! Distances of NUMA nodes, as `numactl`, `likwid-topology` and `lstopo` print them.

use super::file_kind::{FileKind, Match};
use super::matrix;
use crate::files::numa::{self, NumaDistances};

pub(super) const FILE: FileKind = FileKind {
    about: "distances of NUMA nodes, as numactl, likwid-topology or lstopo prints them",
    endings: &[],
    resembles: |opening| match numa::tool(&String::from_utf8_lossy(opening.start())) {
        Some(_) => Match::Yes,
        None => Match::No,
    },
    read: |source| {
        let name = source.name().to_owned();
        let NumaDistances { tool, what, factor, mut entries } = numa::read(source)?;
        let num_rows = entries.len().isqrt();
        if !matrix::has_local_distances(&entries, num_rows) {
            // The diagonal holds the distance of a node to itself, whatever it is.
            entries.iter_mut().step_by(num_rows + 1).for_each(|entry| *entry = 0);
        }
        let scaled = if factor > 1 { format!(", times {factor}") } else { String::new() };
        let what = if what == "NUMANodes" { "NUMA nodes".to_owned() } else { what };
        let about = format!("{num_rows} {what} with the distances of {tool}{scaled}");
        matrix::machine(name, num_rows, entries, &about)
    },
};
