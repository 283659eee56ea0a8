//! Networks of routers and PEs: METIS graphs.

use std::path::Path;

use super::error::SpecError;
use super::file_kind::{FileKind, Match};
use viem::machine::{Interconnect, Machine, Network};
use viem_io::Source;
use viem_io::metis::{self, NodeWeights};

pub(super) const FILE: FileKind = FileKind {
    about: "a network (METIS graph)",
    endings: &[".graph", ".metis"],
    resembles: |opening| match opening.number() {
        // A file that begins with a word may be some other format of graphs; their reader says which.
        None if opening.word().is_some() && opening.is_known() => Match::Maybe,
        // A number of vertices, of edges, and at most two numbers more.
        Some(vertices) if vertices != 0.0 && (2..=4).contains(&opening.num_fields()) => Match::Maybe,
        _ => Match::No,
    },
    read: |source| {
        let name = source.name().to_owned();
        let network = Network::new(metis::read(source, NodeWeights::Read)?);
        Ok(Box::new(network.map_err(|error| SpecError::machine(name, error))?))
    },
};

/// A network with the times of its links in a file.
pub(super) fn with_link_cycles(
    machine: &dyn Machine,
    spec: &str,
    times: &Path,
) -> Result<Box<dyn Machine>, SpecError> {
    let Interconnect::Network(network) = machine.interconnect() else {
        return Err(SpecError::NetworksOnly { spec: spec.to_owned() });
    };
    let times_of_links = metis::read(Source::open(times)?, NodeWeights::Read)?;
    let network = network.with_link_cycles(&times_of_links);
    Ok(Box::new(network.map_err(|error| SpecError::machine(times.display().to_string(), error))?))
}
