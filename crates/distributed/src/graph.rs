//! Graphs that are distributed over ranks.
//!
//! Each rank has a range of the vertices and all their arcs, as in ParMETIS. Vertices of other ranks that are neighbours of these are its
//! *ghosts*: they have local numbers behind those of its own vertices, in ascending order of their global ones. What ranks compute for their
//! vertices, [`DistGraph::update`] gives to those that have them as ghosts.
//!
//! Memory of a rank: 8 bytes for each own vertex and its weight each, 4 for an arc, 8 more for its weight if not all weigh 1, 4 for a ghost and
//! for each rank that has an own vertex as ghost. Vertices of c weights take 8 c bytes more.

use viem::base::error::{ErrorKind, HasKind};
use viem::base::types::{NodeId, Weight};
use viem::graph::fingerprint::Fingerprint;

use crate::comm::{Comm, Outbox, Ranges, sums_of_long};
use crate::error::{DistError, agree};

/// The part of a graph that a rank has, and what connects it to the others.
#[derive(Clone, Debug)]
pub struct DistGraph {
    ranges: Ranges,
    offsets: Vec<usize>,
    /// Local numbers.
    targets: Vec<NodeId>,
    /// The edge weights by arc; none if all edges weigh 1.
    edge_weights: Option<Vec<Weight>>,
    /// The sizes of the vertices if they have several weights.
    node_weights: Vec<Weight>,
    num_weights: usize,
    /// Those of one own vertex after the other if there are several; empty if there is one.
    several: Vec<Weight>,
    /// By weight, the sum over the vertices of all ranks.
    totals: Vec<Weight>,
    /// Global numbers, ascending.
    ghosts: Vec<NodeId>,
    /// The number of ghosts that belong to each rank.
    ghosts_of: Vec<usize>,
    /// Own vertices that are ghosts elsewhere, rank by rank.
    sent: Vec<NodeId>,
    /// The number of them on each rank.
    sent_to: Vec<usize>,
}

/// The vertices of a rank and their arcs, as ParMETIS takes them.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The start of the arcs of each own vertex (`xadj`), and the end of the last.
    pub offsets: Vec<usize>,
    /// Heads of the arcs, global numbers counted from 0 (`adjncy`).
    pub targets: Vec<NodeId>,
    /// Weights of the arcs, 1 or more (`adjwgt`); nothing if all weigh 1. All ranks give them, or none.
    pub edge_weights: Option<Vec<Weight>>,
    /// Weights of the own vertices, 0 or more, those of one vertex after the other (`vwgt`); nothing if all weigh 1.
    pub node_weights: Option<Vec<Weight>>,
    /// The number of weights of each vertex (`ncon`), the same on all ranks.
    pub num_weights: usize,
}

impl Default for Rows {
    /// No vertices, of one weight.
    fn default() -> Self {
        Self {
            offsets: Vec::new(),
            targets: Vec::new(),
            edge_weights: None,
            node_weights: None,
            num_weights: 1,
        }
    }
}

/// The reason why rows are no part of a graph. Vertices are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum RowsError {
    #[error("{found} offsets are given for {vertices} vertices; there must be one more than vertices")]
    Offsets { found: usize, vertices: usize },
    #[error("the arcs of vertex {vertex} do not follow those of the vertex before it")]
    Order { vertex: NodeId },
    #[error("the arcs end at {last}, but {found} {what} are given")]
    Length { what: &'static str, last: usize, found: usize },
    #[error("vertex {vertex} lists {target}; the vertices are counted from 0 to {last}")]
    OutOfRange { vertex: NodeId, target: NodeId, last: NodeId },
    #[error("vertex {vertex} has an edge to itself")]
    Loop { vertex: NodeId },
    #[error("vertex {vertex} lists its neighbour {target} more than once")]
    Parallel { vertex: NodeId, target: NodeId },
    #[error("the edge of {vertex} and {target} weighs {weight}; weights of edges must be positive")]
    EdgeWeight { vertex: NodeId, target: NodeId, weight: Weight },
    #[error("vertex {vertex} weighs {weight}; weights of vertices must not be negative")]
    NodeWeight { vertex: NodeId, weight: Weight },
    #[error("weights of edges are given on some ranks only")]
    Mixed,
    #[error(
        "vertices have {found} weights on one rank and {expected} on another; there is the same number on all, at least 1"
    )]
    NumWeights { found: u64, expected: u64 },
    #[error(
        "{vertex} lists {target}, but {target} does not list {vertex}; each edge must be listed at both ends"
    )]
    Missing { vertex: NodeId, target: NodeId },
    #[error(
        "the edge of {vertex} and {target} weighs {forward} at one end and {backward} at the other; both must be the same"
    )]
    Unequal { vertex: NodeId, target: NodeId, forward: Weight, backward: Weight },
    #[error("the weights of the {what} sum to more than {}", Weight::MAX)]
    Overflow { what: &'static str },
    #[error("there are {count} vertices; at most {} are supported", NodeId::MAX - 1)]
    TooMany { count: u64 },
}

impl HasKind for RowsError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::BadData
    }
}

/// An arc without an equal one in the other direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asymmetry {
    /// Its tail.
    pub vertex: NodeId,
    /// Its head.
    pub target: NodeId,
    /// Its weight.
    pub forward: Weight,
    /// The weight of the other arc; 0 if there is none.
    pub backward: Weight,
}

/// Arcs whose other ends are compared in one step. Balances memory against the number of messages.
const COMPARED: usize = 1 << 20;

impl Rows {
    /// The vertices of all ranks, which must have the same number of weights.
    pub(crate) fn ranges(&self, comm: &impl Comm) -> Result<Ranges, DistError> {
        let numbers = comm.all_gather(&[self.num_weights as u64]).words;
        let expected = numbers[0];
        let differing = numbers.into_iter().find(|&found| found == 0 || found != expected);
        let wrong = differing.map(|found| RowsError::NumWeights { found, expected });
        agree(comm, wrong.map_or(Ok(()), Err))?;
        ranges_of(comm, self.offsets.len().saturating_sub(1))
    }

    /// Checks the lengths of the arrays, and that no vertex has a negative weight.
    pub(crate) fn check_lengths(&self, ranges: &Ranges) -> Result<(), RowsError> {
        let own = ranges.own();
        let vertices = own.len();
        if self.offsets.len() != vertices + 1 {
            return Err(RowsError::Offsets { found: self.offsets.len(), vertices });
        }
        let falls = self.offsets.windows(2).position(|pair| pair[0] > pair[1]);
        if let Some(local) = falls.or((self.offsets[0] != 0).then_some(0)) {
            return Err(RowsError::Order { vertex: own.start + local as NodeId });
        }
        let last = self.offsets[vertices];
        let of_vertices = vertices.saturating_mul(self.num_weights);
        let lengths = [
            ("neighbours", last, self.targets.len()),
            ("weights of edges", last, self.edge_weights.as_ref().map_or(last, Vec::len)),
            ("weights of vertices", of_vertices, self.node_weights.as_ref().map_or(of_vertices, Vec::len)),
        ];
        if let Some(&(what, last, found)) = lengths.iter().find(|(_, expected, found)| expected != found) {
            return Err(RowsError::Length { what, last, found });
        }
        let negative = |weights: &Vec<Weight>| weights.iter().position(|&weight| weight < 0);
        match self.node_weights.as_ref().and_then(|it| Some((negative(it)?, it))) {
            None => Ok(()),
            Some((place, weights)) => {
                let vertex = own.start + (place / self.num_weights) as NodeId;
                Err(RowsError::NodeWeight { vertex, weight: weights[place] })
            }
        }
    }

    /// Checks all that a rank can check alone, and puts the arcs of each vertex into ascending order.
    fn check(&mut self, ranges: &Ranges) -> Result<(), RowsError> {
        self.check_lengths(ranges)?;
        for (local, vertex) in ranges.own().enumerate() {
            self.check_row(self.offsets[local]..self.offsets[local + 1], vertex, ranges.total())?;
        }
        Ok(())
    }

    fn check_row(
        &mut self,
        arcs: std::ops::Range<usize>,
        vertex: NodeId,
        total: NodeId,
    ) -> Result<(), RowsError> {
        let targets = &mut self.targets[arcs.clone()];
        if let Some(&target) = targets.iter().find(|&&target| target >= total) {
            return Err(RowsError::OutOfRange { vertex, target, last: total - 1 });
        }
        if targets.contains(&vertex) {
            return Err(RowsError::Loop { vertex });
        }
        if let Some(weights) = self.edge_weights.as_ref().map(|weights| &weights[arcs.clone()])
            && let Some(place) = weights.iter().position(|&weight| weight < 1)
        {
            return Err(RowsError::EdgeWeight { vertex, target: targets[place], weight: weights[place] });
        }
        if !targets.is_sorted() {
            match &mut self.edge_weights {
                None => targets.sort_unstable(),
                Some(weights) => sort_both(targets, &mut weights[arcs]),
            }
        }
        match targets.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(RowsError::Parallel { vertex, target: pair[0] }),
            None => Ok(()),
        }
    }

    fn weight(&self, arc: usize) -> Weight {
        self.edge_weights.as_ref().map_or(1, |weights| weights[arc])
    }

    /// The weight of the arc from an own vertex to any other; 0 if there is none. Rows are in ascending order.
    fn weight_between(&self, local: usize, target: NodeId) -> Weight {
        let start = self.offsets[local];
        let found = self.targets[start..self.offsets[local + 1]].binary_search(&target);
        found.map_or(0, |place| self.weight(start + place))
    }

    /// The first arc of all ranks that has no equal one in the other direction, the same on all ranks. The rows of each are in ascending order,
    /// and all heads exist. O(m/p) if there is none; otherwise O(m/p log d) and messages for the arcs between ranks.
    pub fn first_asymmetry(&self, comm: &impl Comm, ranges: &Ranges) -> Option<Asymmetry> {
        if self.is_symmetric(comm, ranges) { None } else { self.find_asymmetry(comm, ranges) }
    }

    /// Returns whether both ends of each edge agree, by one number of each rank.
    pub(crate) fn is_symmetric(&self, comm: &impl Comm, ranges: &Ranges) -> bool {
        let mut key = if comm.rank() == 0 { vec![Fingerprint::draw_key()] } else { Vec::new() };
        comm.broadcast(0, &mut key);
        let (first, weights) = (ranges.own().start, self.edge_weights.as_deref());
        let fingerprint = Fingerprint::with_key(key[0]);
        let of_rows =
            fingerprint.of_rows(first, ranges.total() as usize, &self.offsets, &self.targets, weights);
        let all = comm.all_gather(&[u64::from(of_rows.is_some()), of_rows.unwrap_or(0)]);
        let parts = all.words.as_chunks().0.iter();
        Fingerprint::sum(parts.map(|&[is_there, part]| (is_there == 1).then_some(part))) == Some(0)
    }

    /// The first arc that has no equal one in the other direction, by comparing each with that.
    fn find_asymmetry(&self, comm: &impl Comm, ranges: &Ranges) -> Option<Asymmetry> {
        let own = ranges.own();
        let mut first: Option<Asymmetry> = None;
        let mut note = |asymmetry: Asymmetry| {
            first = Some(first.map_or(asymmetry, |first| first.min(asymmetry)));
        };
        let num_steps = crate::comm::greatest(comm, self.targets.len().div_ceil(COMPARED) as u64);
        let mut local = 0;
        for step in 0..num_steps as usize {
            let mut outbox = Outbox::default();
            let arcs =
                (step * COMPARED).min(self.targets.len())..((step + 1) * COMPARED).min(self.targets.len());
            for arc in arcs {
                while self.offsets[local + 1] <= arc {
                    local += 1;
                }
                let (vertex, target) = (own.start + local as NodeId, self.targets[arc]);
                let forward = self.weight(arc);
                if !own.contains(&target) {
                    let both = u64::from(vertex) << 32 | u64::from(target);
                    outbox.push(ranges.owner(target), [both, forward as u64]);
                    continue;
                }
                let backward = self.weight_between((target - own.start) as usize, vertex);
                if backward != forward {
                    note(Asymmetry { vertex, target, forward, backward });
                }
            }
            for &[both, forward] in outbox.send(comm).records() {
                let (vertex, target) = ((both >> 32) as NodeId, both as NodeId);
                let backward = self.weight_between((target - own.start) as usize, vertex);
                if backward != forward as Weight {
                    note(Asymmetry { vertex, target, forward: forward as Weight, backward });
                }
            }
        }
        let words = |it: Asymmetry| {
            [u64::from(it.vertex), u64::from(it.target), it.forward as u64, it.backward as u64]
        };
        let all = comm.all_gather(first.map(words).as_ref().map_or(&[], |words| &words[..]));
        let found = all.words.as_chunks().0.iter().map(|&[vertex, target, forward, backward]| Asymmetry {
            vertex: vertex as NodeId,
            target: target as NodeId,
            forward: forward as Weight,
            backward: backward as Weight,
        });
        found.min()
    }
}

fn sort_both(targets: &mut [NodeId], weights: &mut [Weight]) {
    let mut both: Vec<(NodeId, Weight)> = targets.iter().copied().zip(weights.iter().copied()).collect();
    both.sort_unstable_by_key(|&(target, _)| target);
    for (place, (target, weight)) in both.into_iter().enumerate() {
        (targets[place], weights[place]) = (target, weight);
    }
}

impl DistGraph {
    /// The graph of the rows that the ranks have, or their fault. This rank has as many vertices as there are rows.
    ///
    /// O(m/p log d), and messages for the arcs between ranks.
    ///
    /// ```
    /// use viem_distributed::comm::{Comm, Ranges};
    /// use viem_distributed::graph::{DistGraph, Rows};
    /// use viem_distributed::threads;
    ///
    /// // Four vertices in a row, two on each rank.
    /// let ghosts = threads::run(2, |comm| {
    ///     let (offsets, targets) =
    ///         if comm.rank() == 0 { (vec![0, 1, 3], vec![1, 0, 2]) } else { (vec![0, 2, 3], vec![1, 3, 2]) };
    ///     let graph = DistGraph::new(comm, Rows { offsets, targets, ..Rows::default() })?;
    ///     Ok::<_, viem_distributed::error::DistError>(graph.ghosts().to_vec())
    /// });
    /// assert_eq!(ghosts, [Ok(vec![2]), Ok(vec![1])]);
    /// ```
    pub fn new(comm: &impl Comm, mut rows: Rows) -> Result<Self, DistError> {
        let ranges = rows.ranges(comm)?;
        agree(comm, rows.check(&ranges))?;
        let kinds = comm.all_gather(&[u64::from(rows.edge_weights.is_some())]).words;
        let are_alike = kinds.iter().all(|kind| *kind == kinds[0]);
        agree(comm, if are_alike { Ok(()) } else { Err(RowsError::Mixed) })?;
        if let Some(Asymmetry { vertex, target, forward, backward }) = rows.first_asymmetry(comm, &ranges) {
            let error = match backward {
                0 => RowsError::Missing { vertex, target },
                _ => RowsError::Unequal { vertex, target, forward, backward },
            };
            return agree(comm, Err(error));
        }
        Self::of_symmetric(comm, ranges, rows)
    }

    /// The graph of rows that are known to be right, except that their sums may be too large.
    pub fn of_symmetric(comm: &impl Comm, ranges: Ranges, rows: Rows) -> Result<Self, DistError> {
        let Rows { offsets, targets, edge_weights, node_weights, num_weights } = rows;
        let weights = node_weights.unwrap_or_else(|| vec![1; num_weights * ranges.own().len()]);
        let num_arcs = targets.len() as i128;
        let of_edges = edge_weights.as_ref().map_or(num_arcs, total_of);
        let of_weight = |weight: usize| total_of(weights.iter().skip(weight).step_by(num_weights));
        let totals = agree(comm, totals(comm, (0..num_weights).map(of_weight).collect(), of_edges))?;
        let (node_weights, several) = match num_weights {
            1 => (weights, Vec::new()),
            _ => (weights.chunks_exact(num_weights).map(|own| size(own, &totals)).collect(), weights),
        };
        let mut graph = Self {
            ranges,
            offsets,
            targets,
            edge_weights,
            node_weights,
            num_weights,
            several,
            totals,
            ghosts: Vec::new(),
            ghosts_of: Vec::new(),
            sent: Vec::new(),
            sent_to: Vec::new(),
        };
        graph.connect(comm);
        Ok(graph)
    }

    /// Finds the ghosts, gives heads their local numbers, and the ranks that have own vertices as ghosts.
    fn connect(&mut self, comm: &impl Comm) {
        let own = self.ranges.own();
        let mut ghosts: Vec<NodeId> =
            self.targets.iter().copied().filter(|target| !own.contains(target)).collect();
        ghosts.sort_unstable();
        ghosts.dedup();
        ghosts.shrink_to_fit();
        for target in &mut self.targets {
            *target = match own.contains(target) {
                true => *target - own.start,
                false => own.len() as NodeId + ghosts.partition_point(|ghost| ghost < target) as NodeId,
            };
        }
        self.ghosts_of = vec![0; comm.size()];
        for &ghost in &ghosts {
            self.ghosts_of[self.ranges.owner(ghost)] += 1;
        }
        let words: Vec<u64> = ghosts.iter().map(|&ghost| u64::from(ghost)).collect();
        let wanted = comm.all_to_all(&words, &self.ghosts_of);
        self.sent = wanted.words.iter().map(|&vertex| vertex as NodeId - own.start).collect();
        self.sent_to = wanted.counts();
        self.ghosts = ghosts;
    }

    /// Returns the owners of the vertices.
    pub fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// Returns the number of own vertices of this rank.
    pub fn num_own(&self) -> usize {
        self.node_weights.len()
    }

    /// Returns the number of own vertices and ghosts of this rank.
    pub fn num_local(&self) -> usize {
        self.num_own() + self.ghosts.len()
    }

    /// The arcs of own vertices.
    pub fn num_arcs(&self) -> usize {
        self.targets.len()
    }

    /// The global numbers of the ghosts.
    pub fn ghosts(&self) -> &[NodeId] {
        &self.ghosts
    }

    /// The global number of a local vertex.
    pub fn global(&self, local: usize) -> NodeId {
        match local.checked_sub(self.num_own()) {
            None => self.ranges.own().start + local as NodeId,
            Some(ghost) => self.ghosts[ghost],
        }
    }

    /// The weights of the own vertices. Of several, their sizes: the sum of a vertex's shares of all weights.
    pub fn node_weights(&self) -> &[Weight] {
        &self.node_weights
    }

    /// Returns the number of weights of each vertex.
    pub fn num_weights(&self) -> usize {
        self.num_weights
    }

    /// The weights of all own vertices, those of one after the other.
    pub fn weights(&self) -> &[Weight] {
        if self.several.is_empty() { &self.node_weights } else { &self.several }
    }

    /// The weights of an own vertex.
    #[inline]
    pub fn weights_of(&self, own: usize) -> &[Weight] {
        &self.weights()[own * self.num_weights..][..self.num_weights]
    }

    /// By weight, the sum over the vertices of all ranks.
    pub fn totals(&self) -> &[Weight] {
        &self.totals
    }

    /// Returns whether edges have weights other than 1.
    pub fn has_edge_weights(&self) -> bool {
        self.edge_weights.is_some()
    }

    /// The local numbers of the neighbours of an own vertex.
    pub fn neighbours(&self, own: usize) -> &[NodeId] {
        &self.targets[self.offsets[own]..self.offsets[own + 1]]
    }

    /// The arcs of an own vertex: local number of the head, weight.
    pub fn arcs(&self, own: usize) -> impl Iterator<Item = (usize, Weight)> + '_ {
        let start = self.offsets[own];
        let weights = self.edge_weights.as_deref();
        self.neighbours(own)
            .iter()
            .enumerate()
            .map(move |(place, &to)| (to as usize, weights.map_or(1, |weights| weights[start + place])))
    }

    /// Gives the entries of own vertices to the ranks that have these as ghosts, and takes theirs. `values` has one for each local vertex.
    pub fn update(&self, comm: &impl Comm, values: &mut [u32]) {
        let mut words = Vec::with_capacity(self.sent.len().div_ceil(2) + comm.size());
        let mut sent = &self.sent[..];
        for &count in &self.sent_to {
            let (now, later) = sent.split_at(count);
            let value = |index: usize| u64::from(values[now[index] as usize]);
            let pair = |pair: usize| {
                let second = if 2 * pair + 1 < count { value(2 * pair + 1) } else { 0 };
                value(2 * pair) | second << 32
            };
            words.extend((0..count.div_ceil(2)).map(pair));
            sent = later;
        }
        let counts: Vec<usize> = self.sent_to.iter().map(|count| count.div_ceil(2)).collect();
        let received = comm.all_to_all(&words, &counts);
        let mut place = self.num_own();
        for (rank, &count) in self.ghosts_of.iter().enumerate() {
            let halves = received.from(rank).iter().flat_map(|&word| [word as u32, (word >> 32) as u32]);
            for value in halves.take(count) {
                values[place] = value;
                place += 1;
            }
        }
    }

    /// The same for words.
    pub fn update_words(&self, comm: &impl Comm, values: &mut [u64]) {
        let words: Vec<u64> = self.sent.iter().map(|&vertex| values[vertex as usize]).collect();
        let received = comm.all_to_all(&words, &self.sent_to);
        values[self.num_own()..].copy_from_slice(&received.words);
    }
}

/// The vertices of all ranks, given the number of those of this rank. Collective.
pub(crate) fn ranges_of(comm: &impl Comm, count: usize) -> Result<Ranges, DistError> {
    let total: u64 = comm.all_gather(&[count as u64]).words.iter().sum();
    let few = total < u64::from(NodeId::MAX);
    agree(comm, if few { Ok(()) } else { Err(RowsError::TooMany { count: total }) })?;
    Ok(Ranges::gather(comm, count as NodeId))
}

/// The sum of some weights.
pub(crate) fn total_of<'a>(weights: impl IntoIterator<Item = &'a Weight>) -> i128 {
    weights.into_iter().map(|&weight| i128::from(weight)).sum()
}

/// The size of all vertices together, about, if they have several weights.
const TOTAL_SIZE: Weight = 1 << 40;

/// The size of a vertex: the sum of its shares of all weights, each rounded up.
fn size(weights: &[Weight], totals: &[Weight]) -> Weight {
    let scale = i128::from(TOTAL_SIZE / totals.len() as Weight);
    let share = |(&weight, &total): (&Weight, &Weight)| {
        let total = i128::from(total.max(1));
        ((i128::from(weight) * scale + total - 1) / total) as Weight
    };
    weights.iter().zip(totals).map(share).sum()
}

/// The sum of each weight of the vertices over all ranks, if these and that of the edges fit.
fn totals(comm: &impl Comm, own: Vec<i128>, of_edges: i128) -> Result<Vec<Weight>, RowsError> {
    let mut sums = own;
    sums.push(of_edges);
    let fits = |(place, &sum): (usize, &i128)| {
        let is_of_edges = place + 1 == sums.len();
        let what = if is_of_edges { "edges, both directions counted," } else { "vertices" };
        Weight::try_from(sum).map_err(|_| RowsError::Overflow { what })
    };
    let mut totals: Vec<Weight> =
        sums_of_long(comm, &sums).iter().enumerate().map(fits).collect::<Result<_, _>>()?;
    totals.pop();
    Ok(totals)
}
