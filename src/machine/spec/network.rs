//! Networks of routers and PEs: METIS graphs.

use super::SpecError;
use super::file_kind::{FileKind, Likeness};
use crate::io::metis::{self, NodeWeights};
use crate::machine::Network;

pub(super) const FILE: FileKind = FileKind {
    about: "a network (METIS graph)",
    endings: &[".graph", ".metis"],
    resembles: |opening| match opening.number() {
        // A file that begins with a word may be some other format of graphs; their reader says which.
        None if opening.word().is_some() && opening.is_known() => Likeness::Maybe,
        // A number of vertices, of edges, and at most two numbers more.
        Some(vertices) if vertices != 0.0 && (2..=4).contains(&opening.num_fields()) => Likeness::Maybe,
        _ => Likeness::No,
    },
    read: |source| {
        let name = source.name().to_owned();
        let network = Network::new(metis::read(source, NodeWeights::Read)?);
        Ok(Box::new(network.map_err(|error| SpecError::machine(name, error))?))
    },
};
