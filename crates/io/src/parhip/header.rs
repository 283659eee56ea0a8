//! The first bytes of a file, and how wide its numbers are.

use super::fault::ParhipFault;

/// Bytes of the version and the two sizes.
pub(super) const HEADER: u64 = 24;

/// Bits of the version.
const NO_EDGE_WEIGHTS: u64 = 1;
const NO_NODE_WEIGHTS: u64 = 2;
const NARROW_OFFSETS: u64 = 4;
const NARROW_NEIGHBOURS: u64 = 8;
const NARROW_NODE_WEIGHTS: u64 = 16;
const NARROW_EDGE_WEIGHTS: u64 = 32;
const ALL: u64 = 63;

/// Bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Four,
    Eight,
}

impl Width {
    fn of(is_narrow: bool) -> Self {
        if is_narrow { Self::Four } else { Self::Eight }
    }

    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// The numbers in as many bytes as they take, each as `convert` makes it.
    pub(super) fn decode<T>(self, bytes: &[u8], numbers: &mut [T], convert: impl Fn(u64) -> T) {
        match self {
            Self::Four => {
                for (number, &bytes) in numbers.iter_mut().zip(bytes.as_chunks().0) {
                    *number = convert(u64::from(u32::from_le_bytes(bytes)));
                }
            }
            Self::Eight => {
                for (number, &bytes) in numbers.iter_mut().zip(bytes.as_chunks().0) {
                    *number = convert(u64::from_le_bytes(bytes));
                }
            }
        }
    }
}

/// The beginning of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub num_nodes: u64,
    pub num_arcs: u64,
    pub offsets: Width,
    pub neighbours: Width,
    /// None if the file has no such weights, although its version still says how wide they would be.
    pub node_weights: Option<Width>,
    pub edge_weights: Option<Width>,
    pub absent_weights: Width,
}

impl Header {
    /// The header in the first 24 bytes, or what is wrong with it and at which byte.
    pub(super) fn read(bytes: [u8; HEADER as usize]) -> Result<Self, (u64, ParhipFault)> {
        let word = |index: usize| {
            let bytes = bytes[8 * index..8 * index + 8].try_into();
            u64::from_le_bytes(bytes.expect("there are eight bytes"))
        };
        let (version, num_nodes, num_arcs) = (word(0), word(1), word(2));
        let has = |bit: u64| version & bit != 0;
        if version > ALL {
            return Err((0, ParhipFault::Version { version }));
        }
        if num_nodes > u64::from(u32::MAX) {
            return Err((8, ParhipFault::TooManyNodes { count: num_nodes }));
        }
        if num_arcs >= u64::from(u32::MAX) {
            return Err((16, ParhipFault::TooManyArcs { count: num_arcs }));
        }
        let weights = |is_absent: bool, width: u64| (!is_absent).then_some(Width::of(has(width)));
        Ok(Self {
            num_nodes,
            num_arcs,
            offsets: Width::of(has(NARROW_OFFSETS)),
            neighbours: Width::of(has(NARROW_NEIGHBOURS)),
            node_weights: weights(has(NO_NODE_WEIGHTS), NARROW_NODE_WEIGHTS),
            edge_weights: weights(has(NO_EDGE_WEIGHTS), NARROW_EDGE_WEIGHTS),
            absent_weights: Width::Eight,
        })
    }

    /// The first 24 bytes of such a file.
    pub(super) fn bytes(self) -> [u8; HEADER as usize] {
        let bit = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        let is_narrow = |weights: Option<Width>| weights.unwrap_or(self.absent_weights) == Width::Four;
        let version = bit(self.edge_weights.is_none(), NO_EDGE_WEIGHTS)
            | bit(self.node_weights.is_none(), NO_NODE_WEIGHTS)
            | bit(self.offsets == Width::Four, NARROW_OFFSETS)
            | bit(self.neighbours == Width::Four, NARROW_NEIGHBOURS)
            | bit(is_narrow(self.node_weights), NARROW_NODE_WEIGHTS)
            | bit(is_narrow(self.edge_weights), NARROW_EDGE_WEIGHTS);
        let mut bytes = [0; HEADER as usize];
        for (place, word) in bytes.chunks_exact_mut(8).zip([version, self.num_nodes, self.num_arcs]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Returns the offset of the lists of neighbours, in bytes.
    pub(super) fn first_list(&self) -> u64 {
        HEADER + (self.num_nodes + 1) * self.offsets.bytes()
    }

    /// Returns the offset of their end.
    pub(super) fn end_of_lists(&self) -> u64 {
        self.first_list() + self.num_arcs * self.neighbours.bytes()
    }

    /// Returns the offset of the weights of the edges.
    pub(super) fn first_edge_weight(&self) -> u64 {
        self.end_of_lists() + self.num_nodes * self.node_weights.map_or(0, Width::bytes)
    }

    /// Returns the name of the section at this byte.
    pub(super) fn section_at(&self, offset: u64) -> &'static str {
        match offset {
            _ if offset < self.first_list() => "the offsets",
            _ if offset < self.end_of_lists() => "the neighbours",
            _ if offset < self.first_edge_weight() => "the weights of the vertices",
            _ => "the weights of the edges",
        }
    }

    /// Bytes of the whole file.
    pub(super) fn size(&self) -> u64 {
        self.first_edge_weight() + self.num_arcs * self.edge_weights.map_or(0, Width::bytes)
    }
}

/// Returns whether a file that starts so is a graph in this format, perhaps a faulty one: no text has the zeros of its version.
pub fn is_parhip(start: &[u8]) -> bool {
    start.first_chunk().is_some_and(|&version| u64::from_le_bytes(version) <= ALL)
}
