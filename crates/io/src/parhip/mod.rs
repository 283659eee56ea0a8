//! Graphs in the binary format of ParHIP, and its extension by KaMinPar to numbers of 32 bits.
//!
//! All numbers are little-endian. A file has three numbers of 64 bits (version, number of vertices, number of arcs, which are two
//! for each edge), then these arrays:
//!
//! | array | length | numbers |
//! |---|---|---|
//! | offsets | vertices + 1 | the byte of the file where the list of each vertex begins, and where the last one ends |
//! | lists | arcs | neighbours, counted from 0 |
//! | weights of vertices | vertices | at least 0 |
//! | weights of edges | arcs | at least 1, by arc |
//!
//! Bits of the version say what differs from a file with both weights and 64 bits for each number: 1 no weights of edges, 2 none of
//! vertices; 32 bits for 4 offsets, 8 neighbours, 16 weights of vertices, 32 weights of edges. ParHIP itself reads version 3.
//! (Meyerhenke, Sanders and Schulz, "Parallel Graph Partitioning for Complex Networks", IPDPS 2015; the user guide of KaHIP.)
//!
//! | member | purpose |
//! |---|---|
//! | [`is_parhip`] | whether a file is such a graph, by its first bytes |
//! | [`read`] | the graph, or the first fault with its byte |
//! | [`part`] | parts of files, for those who read one together |
//! | [`write()`] | writes a graph |

mod fault;
mod header;
pub mod part;
mod write;

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;

pub use fault::ParhipFault;
pub use header::is_parhip;
pub use write::{ParhipWidth, write};

use self::header::{HEADER, Header, Width};
use super::metis::NodeWeights;
use super::source::{fill, read_at, read_error};
use super::{ContentError, ReadError, Source};
use viem::base::types::{NodeId, Weight};
use viem::base::{memory, threads};
use viem::graph::CsrGraph;
use viem::graph::fingerprint::is_surely_symmetric;
use viem::graph::validation::{Asymmetry, visit_asymmetries};

/// Bytes read at once: they stay in the cache until their numbers are taken.
const CHUNK: usize = 1 << 18;
/// Numbers that a thread reads in one task. Balances the cost of a task against idle threads.
const TASK: usize = 1 << 20;

/// Reads a graph, or refuses it at its first fault. Neighbours come out in ascending order. Memory is taken for what is in the
/// file, never for what its header promises.
///
/// O(n + m) if the lists are in ascending order, otherwise sorting each adds a logarithmic factor in its length. Edges are compared at
/// their ends by all threads of the pool that this runs in.
///
/// ```
/// use viem_io::metis::{GraphContent, NodeWeights};
/// use viem_io::{Source, parhip};
///
/// let graph = viem::graph::generate::grid(4, 3);
/// let mut bytes = Vec::new();
/// parhip::write(&mut bytes, &graph, GraphContent::NO_WEIGHTS, parhip::ParhipWidth::Least)?;
/// assert!(parhip::is_parhip(&bytes));
/// assert_eq!(parhip::read(Source::new("grid", &bytes[..])?, NodeWeights::Read)?, graph);
/// // A fault has its place.
/// let error = parhip::read(Source::new("cut", &bytes[..100])?, NodeWeights::Read).unwrap_err();
/// assert!(error.to_string().starts_with("cut, byte 100: the file ends here"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(mut source: Source<'_>, node_weights: NodeWeights) -> Result<CsrGraph, ReadError> {
    let name = source.name().to_owned();
    let file = source.take_seekable();
    let input = file.map_or(Input::Stream(source), Input::File);
    let (mut reader, header) = Reader::open(name, input)?;
    let (n, m) = (header.num_nodes as usize, header.num_arcs as usize);

    let offsets = offsets(&mut reader, &header, 0..n as u64)?;
    let targets = reader.numbers(m, header.neighbours, "the neighbours", target)?;
    let mut own_weights = node_weights_of(&mut reader, &header, 0..n as u64)?;
    let edge_weights = edge_weights_of(&mut reader, &header, 0..m)?;
    reader.end()?;

    let mut lists = Lists { header, first: 0, before: 0, offsets, targets, weights: edge_weights };
    lists.check().map_err(|(offset, fault)| reader.fault(offset, fault))?;
    let Lists { offsets, targets, weights, .. } = lists;
    let is_kept = match node_weights {
        NodeWeights::Read => true,
        NodeWeights::Ignore => false,
        NodeWeights::ReadBeyond(most) => n > most,
    };
    if !is_kept || own_weights.is_empty() {
        own_weights = reader.or_lack(threads::filled(n, 1))?;
    }
    let sum = |weights: &[Weight]| weights.iter().try_fold(0, |sum: Weight, &weight| sum.checked_add(weight));
    if sum(&own_weights).is_none() {
        return Err(reader.fault(header.end_of_lists(), ParhipFault::NodeWeightOverflow));
    }
    if sum(&weights).is_none() {
        return Err(reader.fault(header.first_edge_weight(), ParhipFault::EdgeWeightOverflow));
    }
    let graph = if header.edge_weights.is_some() {
        CsrGraph::from_symmetric(offsets, targets, weights, own_weights)
    } else {
        CsrGraph::from_symmetric_unweighted(offsets, targets, own_weights)
    };
    Ok(graph.expect("the sums were computed"))
}

/// A neighbour; what cannot be one is out of range.
fn target(number: u64) -> NodeId {
    NodeId::try_from(number).unwrap_or(NodeId::MAX)
}

/// The source of the bytes.
enum Input<'a> {
    /// A stream, read from one byte to the next.
    Stream(Source<'a>),
    /// A file, read at any place.
    File(File),
}

/// A file that is read from its start to its end, or from somewhere on.
struct Reader<'a> {
    name: String,
    input: Input<'a>,
    /// The next byte.
    offset: u64,
    /// Bytes of the whole file, as far as is known.
    expected: u64,
}

impl<'a> Reader<'a> {
    /// A reader that has read the header of a graph.
    fn open(name: String, input: Input<'a>) -> Result<(Self, Header), ReadError> {
        let mut reader = Self { name, input, offset: 0, expected: HEADER };
        let mut start = [0; HEADER as usize];
        reader.bytes(&mut start, "its header")?;
        let header = Header::read(start).map_err(|(offset, fault)| reader.fault(offset, fault))?;
        reader.expected = header.size();
        Ok((reader, header))
    }

    fn fault(&self, offset: u64, fault: ParhipFault) -> ReadError {
        let kind = ContentError::new(fault);
        ReadError::InvalidBytes { file: self.name.clone(), offset, kind }
    }

    fn or_lack<T>(&self, result: Result<T, memory::OutOfMemory>) -> Result<T, ReadError> {
        let file = || self.name.clone();
        result.map_err(|source| ReadError::OutOfMemory { file: file(), line: 1, source })
    }

    /// Fills a buffer, whose bytes belong to this section.
    fn bytes(&mut self, buffer: &mut [u8], section: &'static str) -> Result<(), ReadError> {
        let start = self.offset;
        let count = match &mut self.input {
            Input::Stream(source) => fill(buffer, |rest, _| source.read(rest)),
            Input::File(file) => fill(buffer, |rest, count| read_at(file, rest, start + count)),
        };
        self.offset += self.or_unreadable(count)? as u64;
        if self.offset < start + buffer.len() as u64 {
            return Err(self.too_short(self.offset, section));
        }
        Ok(())
    }

    fn or_unreadable<T>(&self, result: io::Result<T>) -> Result<T, ReadError> {
        result.map_err(|error| read_error(&self.name, error, 1, 1))
    }

    fn too_short(&self, length: u64, section: &'static str) -> ReadError {
        self.fault(length, ParhipFault::TooShort { section, expected: self.expected })
    }

    /// The next numbers, each as `convert` makes it.
    fn numbers<T: Copy + Default + Send>(
        &mut self,
        count: usize,
        width: Width,
        section: &'static str,
        convert: impl Fn(u64) -> T + Sync,
    ) -> Result<Vec<T>, ReadError> {
        if let Input::File(file) = &self.input {
            let numbers = self.numbers_at(file, count, width, section, convert)?;
            self.offset += count as u64 * width.bytes();
            return Ok(numbers);
        }
        let mut numbers = Vec::new();
        let mut buffer = vec![0; CHUNK.min(count.saturating_mul(width.bytes() as usize))];
        while numbers.len() < count {
            let (read, piece) = (numbers.len(), (count - numbers.len()).min(CHUNK / width.bytes() as usize));
            let bytes = &mut buffer[..piece * width.bytes() as usize];
            self.bytes(bytes, section)?;
            let room = memory::make_room(&mut numbers, piece, count);
            self.or_lack(room)?;
            numbers.resize(read + piece, T::default());
            width.decode(bytes, &mut numbers[read..], &convert);
        }
        Ok(numbers)
    }

    /// The numbers that come next in a file, read by all threads of the pool that this runs in.
    fn numbers_at<T: Copy + Default + Send>(
        &self,
        file: &File,
        count: usize,
        width: Width,
        section: &'static str,
        convert: impl Fn(u64) -> T + Sync,
    ) -> Result<Vec<T>, ReadError> {
        let length = self.or_unreadable(file.metadata())?.len();
        if length.saturating_sub(self.offset) / width.bytes() < count as u64 {
            return Err(self.too_short(length.max(self.offset), section));
        }
        let mut numbers = self.or_lack(memory::zeroed(count))?;
        let start = self.offset;
        let reads = |(task, numbers): (usize, &mut [T])| -> io::Result<bool> {
            let mut place = start + (task * TASK) as u64 * width.bytes();
            let mut buffer = vec![0; CHUNK.min(numbers.len() * width.bytes() as usize)];
            for numbers in numbers.chunks_mut(CHUNK / width.bytes() as usize) {
                let bytes = &mut buffer[..numbers.len() * width.bytes() as usize];
                if fill(bytes, |rest, count| read_at(file, rest, place + count))? < bytes.len() {
                    return Ok(false);
                }
                width.decode(bytes, numbers, &convert);
                place += bytes.len() as u64;
            }
            Ok(true)
        };
        let tasks = numbers.chunks_mut(TASK).enumerate().collect();
        let are_there: io::Result<Vec<bool>> = threads::map_each(tasks, &reads).into_iter().collect();
        if self.or_unreadable(are_there)?.contains(&false) {
            // It has become shorter meanwhile.
            return Err(self.too_short(self.offset, section));
        }
        Ok(numbers)
    }

    /// Checks that nothing follows.
    fn end(&mut self) -> Result<(), ReadError> {
        let mut more = [0];
        match self.bytes(&mut more, "") {
            Ok(()) => Err(self.fault(self.expected, ParhipFault::TooLong { expected: self.expected })),
            Err(ReadError::InvalidBytes { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Weights, if the file has them.
fn weights(
    reader: &mut Reader<'_>,
    width: Option<Width>,
    count: usize,
    section: &'static str,
) -> Result<Vec<Weight>, ReadError> {
    match width {
        None => Ok(Vec::new()),
        Some(Width::Four) => {
            reader.numbers(count, Width::Four, section, |number| Weight::from(number as u32 as i32))
        }
        Some(Width::Eight) => reader.numbers(count, Width::Eight, section, |number| number as Weight),
    }
}

/// The weights of these vertices, which come next.
fn node_weights_of(
    reader: &mut Reader<'_>,
    header: &Header,
    nodes: std::ops::Range<u64>,
) -> Result<Vec<Weight>, ReadError> {
    let count = (nodes.end - nodes.start) as usize;
    let weights = weights(reader, header.node_weights, count, "the weights of the vertices")?;
    let Some(place) = weights.iter().position(|&weight| weight < 0) else { return Ok(weights) };
    let node = nodes.start + place as u64;
    let offset = header.end_of_lists() + node * header.node_weights.map_or(0, Width::bytes);
    Err(reader.fault(offset, ParhipFault::NodeWeight { node, weight: weights[place] }))
}

/// The weights of these arcs, which come next.
fn edge_weights_of(
    reader: &mut Reader<'_>,
    header: &Header,
    arcs: std::ops::Range<usize>,
) -> Result<Vec<Weight>, ReadError> {
    let weights = weights(reader, header.edge_weights, arcs.len(), "the weights of the edges")?;
    let Some(place) = weights.iter().position(|&weight| weight < 1) else { return Ok(weights) };
    let arc = (arcs.start + place) as u64;
    let offset = header.first_edge_weight() + arc * header.edge_weights.map_or(0, Width::bytes);
    Err(reader.fault(offset, ParhipFault::EdgeWeight { weight: weights[place] }))
}

/// The offsets of the lists of these vertices, which come next, as positions of arcs; then where the last list ends.
fn offsets(
    reader: &mut Reader<'_>,
    header: &Header,
    nodes: std::ops::Range<u64>,
) -> Result<Vec<usize>, ReadError> {
    let count = (nodes.end - nodes.start) as usize + 1;
    let mut offsets = reader.numbers(count, header.offsets, "the offsets", |offset| offset as usize)?;
    let (first, end, each) = (header.first_list(), header.end_of_lists(), header.neighbours.bytes());
    let mut last = first;
    for (node, offset) in (nodes.start..).zip(&mut offsets) {
        let found = *offset as u64;
        let fault = if node == 0 && found != first {
            Some(ParhipFault::FirstOffset { node, found, expected: first })
        } else if found < last {
            Some(ParhipFault::FallingOffset { node, found })
        } else if found > end || (node == header.num_nodes && found != end) {
            Some(ParhipFault::LastOffset { found, expected: end })
        } else if !(found - first).is_multiple_of(each) {
            Some(ParhipFault::OddOffset { node, found })
        } else {
            None
        };
        if let Some(fault) = fault {
            return Err(reader.fault(HEADER + node * header.offsets.bytes(), fault));
        }
        last = found;
        *offset = ((found - first) / each) as usize;
    }
    Ok(offsets)
}

/// The lists of all vertices, or of some that follow one another.
struct Lists {
    header: Header,
    /// The first of them.
    first: u64,
    /// The arcs before their own.
    before: usize,
    offsets: Vec<usize>,
    targets: Vec<NodeId>,
    /// The weights by arc; empty if the file has none.
    weights: Vec<Weight>,
}

impl Lists {
    /// Checks the arcs and puts each list into ascending order; a fault comes with its byte.
    fn check(&mut self) -> Result<(), (u64, ParhipFault)> {
        let Self { offsets, targets, weights, .. } = &*self;
        if is_surely_symmetric(offsets, targets, (!weights.is_empty()).then_some(weights)) {
            return Ok(());
        }
        self.check_ends()?;
        let places = self.sort()?;
        self.check_symmetry(&places)
    }

    /// The byte of the arc at this position in the file.
    fn byte(&self, position: usize) -> u64 {
        self.header.first_list() + (self.before + position) as u64 * self.header.neighbours.bytes()
    }

    fn rows(&self) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
        (self.first..).zip(self.offsets.windows(2).map(|pair| pair[0]..pair[1]))
    }

    fn check_ends(&self) -> Result<(), (u64, ParhipFault)> {
        let count = self.header.num_nodes;
        for (node, range) in self.rows() {
            for arc in range {
                let target = u64::from(self.targets[arc]);
                if target >= count {
                    let fault = ParhipFault::NeighbourOutOfRange { node, last: count - 1 };
                    return Err((self.byte(arc), fault));
                }
                if target == node {
                    return Err((self.byte(arc), ParhipFault::SelfLoop { node }));
                }
            }
        }
        Ok(())
    }

    /// Puts each list into ascending order; returns the position in the file of each arc, or nothing if none has moved.
    fn sort(&mut self) -> Result<Vec<u32>, (u64, ParhipFault)> {
        let mut places: Vec<u32> = Vec::new();
        let rows: Vec<(u64, std::ops::Range<usize>)> = self.rows().collect();
        let mut sorted: Vec<(NodeId, u32, Weight)> = Vec::new();
        for (node, range) in rows {
            if !self.targets[range.clone()].is_sorted() {
                if places.is_empty() {
                    places = (0..self.targets.len() as u32).collect();
                }
                let weight = |arc: usize| self.weights.get(arc).copied().unwrap_or(1);
                sorted.clear();
                sorted.extend(range.clone().map(|arc| (self.targets[arc], arc as u32, weight(arc))));
                sorted.sort_unstable();
                for (arc, &(target, place, weight)) in range.clone().zip(&sorted) {
                    (self.targets[arc], places[arc]) = (target, place);
                    if let Some(own) = self.weights.get_mut(arc) {
                        *own = weight;
                    }
                }
            }
            let own = &self.targets[range.clone()];
            if let Some(index) = own.windows(2).position(|pair| pair[0] == pair[1]) {
                let arc = range.start + index + 1;
                let position = places.get(arc).map_or(arc, |&place| place as usize);
                let fault = ParhipFault::ParallelEdge { node, target: u64::from(self.targets[arc]) };
                return Err((self.byte(position), fault));
            }
        }
        Ok(places)
    }

    /// Returns whether both ends of each edge agree; the first arc in the file for which they do not is the fault.
    fn check_symmetry(&self, places: &[u32]) -> Result<(), (u64, ParhipFault)> {
        let Self { offsets, targets, weights, .. } = self;
        let position = |arc: usize| places.get(arc).map_or(arc, |&place| place as usize);
        let mut first: Option<(usize, Asymmetry)> = None;
        let same_weight = |a: usize, b: usize| weights.is_empty() || weights[a] == weights[b];
        let _ = visit_asymmetries(offsets, targets, same_weight, |asymmetry| {
            let found = (position(asymmetry.arc()), asymmetry);
            first = Some(first.map_or(found, |first| first.min(found)));
            ControlFlow::Continue(())
        });
        let Some((position, asymmetry)) = first else { return Ok(()) };
        let fault = match asymmetry {
            Asymmetry::MissingBackward { node, arc } => {
                ParhipFault::MissingBackwardArc { node: u64::from(node), target: u64::from(targets[arc]) }
            }
            Asymmetry::UnequalWeights { node, arc, backward } => ParhipFault::UnequalWeights {
                node: u64::from(node),
                target: u64::from(targets[arc]),
                forward: weights[arc],
                backward: weights[backward],
            },
        };
        Err((self.byte(position), fault))
    }
}
