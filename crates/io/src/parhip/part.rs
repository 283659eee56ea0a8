//! Parts of graphs in ParHIP's format, for those who read one together.

use std::fs::File;
use std::path::Path;

use super::{
    HEADER, Header, Input, Lists, ParhipFault, Reader, edge_weights_of, node_weights_of, offsets, target,
};
use crate::ReadError;
use viem::base::types::{NodeId, Weight};

/// Some vertices of a graph that follow one another.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ParhipPart {
    /// The first of them.
    pub first: NodeId,
    /// The start of the arcs of each in `targets`, and the end of the last.
    pub offsets: Vec<usize>,
    /// Heads, ascending for each vertex.
    pub targets: Vec<NodeId>,
    /// The edge weights by arc, if the file has them.
    pub edge_weights: Option<Vec<Weight>>,
    /// The weights by vertex, if the file has them.
    pub node_weights: Option<Vec<Weight>>,
    /// The places of the arcs in the file.
    pub places: ParhipPlaces,
}

/// The places of the arcs of a part.
#[derive(Clone, Debug)]
pub struct ParhipPlaces {
    header: Header,
    before: usize,
    /// The positions among those of the part; empty if they are in the order of the file.
    positions: Vec<u32>,
}

impl ParhipPlaces {
    /// The byte of an arc of the part.
    pub fn byte(&self, arc: usize) -> u64 {
        let position = self.positions.get(arc).map_or(arc, |&position| position as usize);
        self.header.first_list() + (self.before + position) as u64 * self.header.neighbours.bytes()
    }
}

/// Reads one of several parts, by its number and theirs, which have about equally many arcs and together all vertices; or refuses it at its first
/// fault. That both ends of each edge agree remains to be checked.
///
/// O(n/p + m/p), and a few reads to find the part. Memory: 8 bytes for a vertex, 4 for an arc, 8 for each weight.
pub fn read(path: &Path, index: usize, count: usize) -> Result<ParhipPart, ReadError> {
    let name = path.display().to_string();
    let open = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
    let (size, file) = open.map_err(|source| ReadError::Unreadable { file: name.clone(), source })?;
    let (mut reader, header) = Reader::open(name, Input::File(file))?;
    if size > reader.expected {
        let expected = reader.expected;
        return Err(reader.fault(expected, ParhipFault::TooLong { expected }));
    }
    let nodes = reader.start_of(&header, index, count)?..reader.start_of(&header, index + 1, count)?;
    reader.offset = HEADER + nodes.start * header.offsets.bytes();
    let mut offsets = offsets(&mut reader, &header, nodes.clone())?;
    let arcs = offsets[0]..offsets[offsets.len() - 1];
    offsets.iter_mut().for_each(|offset| *offset -= arcs.start);
    reader.offset = header.first_list() + arcs.start as u64 * header.neighbours.bytes();
    let targets = reader.numbers(arcs.len(), header.neighbours, "the neighbours", target)?;
    let each = header.node_weights.map_or(0, super::Width::bytes);
    reader.offset = header.end_of_lists() + nodes.start * each;
    let own_weights = node_weights_of(&mut reader, &header, nodes.clone())?;
    let each = header.edge_weights.map_or(0, super::Width::bytes);
    reader.offset = header.first_edge_weight() + arcs.start as u64 * each;
    let weights = edge_weights_of(&mut reader, &header, arcs.clone())?;
    if size < reader.expected {
        let expected = reader.expected;
        return Err(reader.fault(size, ParhipFault::TooShort { section: header.section_at(size), expected }));
    }
    let mut lists = Lists { header, first: nodes.start, before: arcs.start, offsets, targets, weights };
    let in_place = |(offset, fault)| reader.fault(offset, fault);
    lists.check_ends().map_err(in_place)?;
    let positions = lists.sort().map_err(in_place)?;
    let Lists { offsets, targets, weights, .. } = lists;
    Ok(ParhipPart {
        first: nodes.start as NodeId,
        offsets,
        targets,
        edge_weights: header.edge_weights.map(|_| weights),
        node_weights: header.node_weights.map(|_| own_weights),
        places: ParhipPlaces { header, before: arcs.start, positions },
    })
}

impl Reader<'_> {
    /// The first vertex of a part: its list begins at its share of the arcs, or is the first behind that.
    fn start_of(&mut self, header: &Header, index: usize, count: usize) -> Result<u64, ReadError> {
        if index == count {
            return Ok(header.num_nodes);
        }
        let share = (u128::from(header.num_arcs) * index as u128 / count as u128) as u64;
        let wanted = header.first_list() + share * header.neighbours.bytes();
        let (mut low, mut high) = (0, header.num_nodes);
        // Without arcs, vertices are dealt evenly.
        if header.num_arcs == 0 {
            return Ok((u128::from(header.num_nodes) * index as u128 / count as u128) as u64);
        }
        while low < high {
            let middle = (low + high) / 2;
            self.offset = HEADER + middle * header.offsets.bytes();
            let found = self.numbers(1, header.offsets, "the offsets", |offset| offset)?[0];
            if found < wanted {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

/// The error of an arc that is listed at one end of an edge only, at this byte, or with different weights at both.
pub fn unpaired(
    name: &str,
    offset: u64,
    (node, target): (NodeId, NodeId),
    (forward, backward): (Weight, Weight),
) -> ReadError {
    let (node, target) = (u64::from(node), u64::from(target));
    let fault = match backward {
        0 => ParhipFault::MissingBackwardArc { node, target },
        _ => ParhipFault::UnequalWeights { node, target, forward, backward },
    };
    let kind = crate::ContentError::new(fault);
    ReadError::InvalidBytes { file: name.to_owned(), offset, kind }
}
