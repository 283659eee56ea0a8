//! Sums the flows of the readers, and makes the communication graph.

use std::any::Any;
use std::mem;

use hashbrown::HashMap;

use super::fault::{TrafficFault, check_ranks};
use super::ids::{Numbering, Seen};
use super::kind::Kind;
use super::note::{NoTraffic, TrafficNote};
use super::pairs::{Pair, PairOverflow, Pairs};
use super::ranks::{MOST_RANKS, is_sparse};
use super::weighing::{Share, Weighing};
use viem::base::error::{ErrorKind, HasKind};
use viem::base::text::counted;
use viem::base::types::{NodeId, Weight};
use viem::graph::{CsrGraph, GraphError};

/// Line counts and totals over all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Tally {
    /// Lines, or numbers of a matrix.
    pub lines: u64,
    /// Bytes; for kinds of files that have weights, those.
    pub bytes: u128,
    /// Messages.
    pub messages: u128,
}

impl Tally {
    fn add(&mut self, bytes: u64, messages: u64) {
        self.lines += 1;
        self.bytes += u128::from(bytes);
        self.messages += u128::from(messages);
    }
}

/// Totals of one class of traffic.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ClassTally {
    /// Name of the class.
    pub name: &'static str,
    /// A description.
    pub title: &'static str,
    /// True if it is part of the graph.
    pub is_summed: bool,
    /// Its lines.
    pub tally: Tally,
}

/// The content of the files that the graph does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// Traffic of a rank to itself, of the classes that are summed.
    pub to_itself: Tally,
    /// Traffic with processes outside `MPI_COMM_WORLD`.
    pub elsewhere: Tally,
    /// Collective calls that could not be counted.
    pub uncounted_calls: u64,
    /// Connections between ranks of a communicator that no line places in the job.
    pub unplaced_connections: u64,
    /// Lines that are torn or are something else.
    pub torn_lines: u64,
    /// File and line of the first of them.
    pub first_torn: Option<(String, u64)>,
    /// Rows that the program which wrote a table says it left out.
    pub omitted_rows: u64,
    /// Pairs whose weight is zero.
    pub weightless_pairs: usize,
    /// Pairs too light for [`TrafficConfig::top`].
    pub light_pairs: usize,
}

/// The totals.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Name of the kind of file.
    pub format: &'static str,
    /// Number of files.
    pub files: usize,
    /// All classes of this kind of file.
    pub classes: Vec<ClassTally>,
    /// The content that is not in the graph.
    pub left_out: LeftOut,
    /// Number that the files give the first rank; only of kinds that may have either.
    pub first_rank: Option<u64>,
    /// Ids below the highest that no line mentions: vertices without edges. Only of kinds that number vertices at will.
    pub unmentioned_ids: u64,
    /// The id of each vertex, if those that no line mentions are left out.
    #[serde(skip)]
    pub ids: Option<Vec<u64>>,
    /// Ranks without a file of their traffic, from 0; only of kinds in which each rank writes its own
    /// itself.
    pub silent_ranks: Vec<NodeId>,
    /// Number of ranks that occur in several files.
    pub repeated_ranks: usize,
    /// Decimal places of the costs that the weights keep: weights are costs times 10^this, rounded.
    pub decimal_places: u32,
    /// Likely mistakes, and skipped parts.
    #[serde(skip)]
    pub notes: Vec<TrafficNote>,
}

/// The meaning of a column called `size` in a table that counts messages, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sizes {
    /// The bytes of all messages of a line together.
    OfAll,
    /// The bytes of each message.
    OfEach,
}

/// The settings for making a graph of the sums.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TrafficConfig {
    /// The weight of an edge.
    pub weighing: Weighing,
    /// Keeps the heaviest edges only.
    pub top: Option<Share>,
    /// Number of ranks, if the last ones may have no traffic.
    pub num_ranks: Option<u64>,
    /// The number of the first rank in kinds of files that start at 0 or at 1. If not given it is 0 if that
    /// occurs anywhere, otherwise 1.
    pub first_rank: Option<u64>,
}

impl TrafficConfig {
    /// All edges, of this weight; ranks as they are found.
    pub const fn new(weighing: Weighing) -> Self {
        Self { weighing, top: None, num_ranks: None, first_rank: None }
    }

    /// The same with another weight of an edge.
    pub const fn with_weighing(self, weighing: Weighing) -> Self {
        Self { weighing, ..self }
    }

    /// The same with the heaviest edges only, or all.
    pub fn with_top(self, top: impl Into<Option<Share>>) -> Self {
        Self { top: top.into(), ..self }
    }

    /// The same with a number of ranks, or as many as are found.
    pub fn with_num_ranks(self, num_ranks: impl Into<Option<u64>>) -> Self {
        Self { num_ranks: num_ranks.into(), ..self }
    }

    /// The same with a first rank, or the one that is found.
    pub fn with_first_rank(self, first_rank: impl Into<Option<u64>>) -> Self {
        Self { first_rank: first_rank.into(), ..self }
    }
}

impl Default for TrafficConfig {
    fn default() -> Self {
        Self::new(Weighing::BYTES)
    }
}

/// The reason why there is no graph. Ranks are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum TrafficError {
    #[error("files of kind {format} have no class `{name}`; they have {known}")]
    NoSuchClass { name: String, format: &'static str, known: String },
    #[error("the files hold no numbers of messages, so only bytes can be weighed")]
    NoMessages,
    #[error("the files hold numbers of messages but no bytes; weigh by these")]
    NoBytes,
    #[error("the sums of what ranks {0} and {1} exchange do not fit 64 bits")]
    Overflow(NodeId, NodeId),
    #[error("the weights are too large: all edges, both directions counted, must sum to less than 2^63")]
    WeightOverflow,
    #[error(
        "the files are about {ranks}, more than the {asked} asked for",
        ranks = counted(found, "rank", "ranks")
    )]
    TooManyRanks { found: u64, asked: u64 },
    #[error("a job of {count} ranks is too large; at most {MOST_RANKS} are supported")]
    TooLarge { count: u64 },
    #[error("{asked} ranks are too many; at most {MOST_RANKS} are supported")]
    TooManyAsked { asked: u64 },
    #[error(
        "the files are about {count} ranks in {lines}, so one of their numbers is probably wrong; \
         if they are so many, give their number", lines = counted(lines, "line", "lines")
    )]
    Sparse { count: u64, lines: u64 },
    #[error("a rank is called {found}, but the first one should be {first}")]
    BelowFirst { found: u64, first: u64 },
    #[error("there is no rank in the files")]
    NoRanks,
    #[error("what collectives send cannot be summed: {0}")]
    Collectives(Box<TrafficFault>),
    #[error(transparent)]
    Graph(GraphError),
}

impl HasKind for TrafficError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchClass { .. }
            | Self::NoMessages
            | Self::NoBytes
            | Self::TooManyRanks { .. }
            | Self::TooManyAsked { .. }
            | Self::BelowFirst { .. } => ErrorKind::Usage,
            Self::Overflow(..)
            | Self::WeightOverflow
            | Self::TooLarge { .. }
            | Self::Sparse { .. }
            | Self::Collectives(_)
            | Self::NoRanks => ErrorKind::BadData,
            Self::Graph(error) => error.kind(),
        }
    }
}

/// Sums the traffic of files of one kind.
///
/// ```
/// use viem_io::Source;
/// use viem_traffic::{Collector, TrafficConfig, Weighing};
///
/// let mut collector = Collector::new(None);
/// let text = "source,target,weight\n0,1,5\n1,0,7\n";
/// collector.read(Source::new("flows.csv", text.as_bytes())?, None)?;
/// let config = TrafficConfig::new(Weighing::BYTES);
/// let (graph, summary) = collector.finish(&config)?;
/// assert_eq!(graph.arcs(0).collect::<Vec<_>>(), [(1, 12)]);
/// assert_eq!(summary.classes[0].tally.lines, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Collector {
    include: Option<Vec<String>>,
    kind: Option<Kind>,
    files: usize,
    classes: Vec<ClassTally>,
    left_out: LeftOut,
    pairs: Pairs,
    overflow: Option<PairOverflow>,
    /// Number of ranks that a file states.
    stated: Option<u64>,
    /// Number of vertices that have names in the files.
    named: u64,
    /// The lowest rank named, and one more than the highest.
    lowest_rank: u64,
    num_ranks: u64,
    recorders: Recorders,
    seen: Seen,
    numbering: Option<Numbering>,
    sizes: Option<Sizes>,
    is_pattern: bool,
    /// Network adapters of a rank, if each is a vertex.
    adapters: Option<u64>,
    greatest_adapter: u64,
    is_upside_down: bool,
    counts_messages: bool,
    together: Option<Box<dyn Together>>,
}

impl Collector {
    /// Will sum the classes named; if none are, those that each kind of file sums by default.
    pub fn new(include: Option<Vec<String>>) -> Self {
        Self {
            include,
            kind: None,
            files: 0,
            classes: Vec::new(),
            left_out: LeftOut::default(),
            pairs: Pairs::new(),
            overflow: None,
            stated: None,
            named: 0,
            lowest_rank: u64::MAX,
            num_ranks: 0,
            recorders: Recorders::default(),
            seen: Seen::default(),
            numbering: None,
            sizes: None,
            is_pattern: false,
            adapters: None,
            greatest_adapter: 0,
            is_upside_down: false,
            counts_messages: false,
            together: None,
        }
    }

    /// The same, with the meaning of a column called `size` in a table that counts messages.
    pub fn with_sizes(self, sizes: impl Into<Option<Sizes>>) -> Self {
        Self { sizes: sizes.into(), ..self }
    }

    /// The same, with this many network adapters of each rank, at least one, as vertices of their own in schedules that name them: adapter a of rank r
    /// is vertex r times this plus a.
    pub fn with_adapters(self, adapters: impl Into<Option<u64>>) -> Self {
        Self { adapters: adapters.into().map(|count| count.max(1)), ..self }
    }

    /// The same, with ids renumbered: edge lists may call vertices by any numbers, of which those that do not occur are left out.
    pub fn renumbered(self) -> Self {
        Self { numbering: Some(Numbering::default()), ..self }
    }

    /// The same for an application graph: only the pattern of a matrix counts, and each of its edges weighs 1.
    pub fn of_pattern(self) -> Self {
        Self { is_pattern: true, ..self }
    }

    /// The kind of the files so far.
    pub(super) fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Takes the content of one more file, which is of this kind.
    pub(super) fn inlet<'a>(&'a mut self, kind: Kind, file: &'a str) -> Result<FlowSink<'a>, TrafficFault> {
        match self.kind {
            None => self.begin(kind),
            Some(earlier) if earlier.name == kind.name => {}
            Some(earlier) => {
                return Err(TrafficFault::OtherKind { found: kind.name, expected: earlier.name });
            }
        }
        self.files += 1;
        Ok(FlowSink { collector: self, file })
    }

    fn begin(&mut self, kind: Kind) {
        self.kind = Some(kind);
        let is_summed = |name: &str, is_default| match &self.include {
            Some(names) => names.iter().any(|asked| asked == name),
            None => is_default,
        };
        let tally = Tally::default();
        let classes = kind.classes.iter();
        self.classes = classes
            .map(|class| {
                let is_summed = is_summed(class.name, class.is_default);
                ClassTally { name: class.name, title: class.title, is_summed, tally }
            })
            .collect();
    }

    /// Takes note of the lowest and the highest rank of a flow. As long as the first rank may be 1, that many
    /// ranks from there on may be named.
    #[cold]
    fn widen(&mut self, lower: u64, higher: u64) -> Result<(), TrafficFault> {
        let lowest = self.lowest_rank.min(lower);
        let count = self.num_ranks.max(higher.saturating_add(1));
        let may_start_at_one = lowest > 0 && self.kind.is_some_and(|kind| kind.guesses_first_rank);
        check_ranks(count - u64::from(may_start_at_one), None)?;
        (self.lowest_rank, self.num_ranks) = (lowest, count);
        Ok(())
    }

    /// The graph of all files read: vertex i is rank i, an edge weighs what its ends exchange in both
    /// directions. O(f log f) for f flows.
    pub fn finish(mut self, config: &TrafficConfig) -> Result<(CsrGraph, Summary), TrafficError> {
        let kind = self.kind.ok_or(TrafficError::NoRanks)?;
        self.check_classes(kind)?;
        if let Some(together) = self.together.take() {
            let num_ranks = self.num_ranks.max(config.num_ranks.unwrap_or(0)).min(MOST_RANKS);
            together.add_to(num_ranks, &mut FlowSink { collector: &mut self, file: "" })?;
        }
        let ids = self.numbering.take().map(|numbering| {
            let (ids, rank_of) = numbering.finish();
            self.pairs.renumber(&rank_of);
            ids
        });
        let first_rank = self.first_rank(kind, ids.is_some(), config)?;
        let num_ranks = self.num_ranks(first_rank, config)?;
        if let Some(PairOverflow(u, v)) = self.overflow {
            return Err(TrafficError::Overflow(u, v));
        }
        let pairs = mem::replace(&mut self.pairs, Pairs::new());
        let pairs = pairs.finish().map_err(|PairOverflow(u, v)| TrafficError::Overflow(u, v))?;
        let summed = || self.classes.iter().filter(|class| class.is_summed);
        if config.weighing.needs_messages() && !pairs.is_empty() && summed().all(|c| c.tally.messages == 0) {
            return Err(TrafficError::NoMessages);
        }
        let tells_messages_only =
            || summed().all(|c| c.tally.bytes == 0) && summed().any(|c| c.tally.messages > 0);
        if !config.weighing.needs_messages() && tells_messages_only() {
            return Err(TrafficError::NoBytes);
        }
        let mut left_out = self.left_out.clone();
        let (mut weights, decimal_places) =
            config.weighing.weigh(&pairs).ok_or(TrafficError::WeightOverflow)?;
        if self.is_pattern {
            weights.fill(1);
        }
        let sum = weights.iter().try_fold(0, |sum: Weight, &weight| sum.checked_add(weight));
        sum.and_then(|sum| sum.checked_mul(2)).ok_or(TrafficError::WeightOverflow)?;
        let zeros = |weights: &[Weight]| weights.iter().filter(|&&weight| weight == 0).count();
        left_out.weightless_pairs = zeros(&weights);
        if let Some(top) = config.top {
            top.keep_heaviest(&mut weights);
            left_out.light_pairs = zeros(&weights) - left_out.weightless_pairs;
        }
        let graph = graph_of(&pairs, &weights, num_ranks as usize, first_rank as NodeId)?;
        let silent_ranks = if kind.tells_recorders { self.recorders.missing(num_ranks) } else { Vec::new() };
        let notes = self.notes(kind, &graph, &left_out, &silent_ranks);
        let summary = Summary {
            format: kind.name,
            files: self.files,
            classes: self.classes,
            left_out,
            first_rank: (kind.guesses_first_rank && ids.is_none()).then_some(first_rank),
            unmentioned_ids: if kind.guesses_first_rank && ids.is_none() {
                self.seen.gaps(num_ranks.min(self.num_ranks.saturating_sub(first_rank)))
            } else {
                0
            },
            ids,
            silent_ranks,
            repeated_ranks: self.recorders.repeated(),
            decimal_places,
            notes,
        };
        Ok((graph, summary))
    }

    /// Returns what a user should know of the graph.
    fn notes(
        &self,
        kind: Kind,
        graph: &CsrGraph,
        left_out: &LeftOut,
        silent_ranks: &[NodeId],
    ) -> Vec<TrafficNote> {
        let no_traffic = (graph.num_arcs() == 0 && !self.is_pattern).then(|| TrafficNote::NoTraffic {
            reason: no_traffic(&self.classes, left_out),
            advice: kind.if_empty,
        });
        let silent = (!silent_ranks.is_empty()).then(|| TrafficNote::SilentRanks(silent_ranks.to_vec()));
        let upside_down = self.is_upside_down.then_some(TrafficNote::UpsideDown);
        let is_passed_over = self.adapters.is_none() && self.greatest_adapter > 0;
        let adapters = is_passed_over.then_some(TrafficNote::Adapters { greatest: self.greatest_adapter });
        let counted = self.counts_messages.then_some(TrafficNote::CountedMessages);
        [no_traffic, silent, upside_down, adapters, counted].into_iter().flatten().collect()
    }

    fn check_classes(&self, kind: Kind) -> Result<(), TrafficError> {
        let is_known = |name: &String| self.classes.iter().any(|class| class.name == name);
        match self.include.iter().flatten().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => Err(TrafficError::NoSuchClass {
                name: name.clone(),
                format: kind.name,
                known: self.classes.iter().map(|class| class.name).collect::<Vec<_>>().join(", "),
            }),
        }
    }

    fn first_rank(
        &self,
        kind: Kind,
        is_renumbered: bool,
        config: &TrafficConfig,
    ) -> Result<u64, TrafficError> {
        if !kind.guesses_first_rank || is_renumbered {
            return Ok(0);
        }
        let first = config.first_rank.unwrap_or(u64::from(self.lowest_rank > 0));
        if self.lowest_rank < first {
            return Err(TrafficError::BelowFirst { found: self.lowest_rank, first });
        }
        Ok(first)
    }

    fn num_ranks(&self, first_rank: u64, config: &TrafficConfig) -> Result<u64, TrafficError> {
        let found = self.stated.unwrap_or(self.num_ranks.saturating_sub(first_rank));
        if found > MOST_RANKS {
            return Err(TrafficError::TooLarge { count: found });
        }
        match config.num_ranks {
            Some(asked) if asked < found => Err(TrafficError::TooManyRanks { found, asked }),
            Some(asked) if asked > MOST_RANKS => Err(TrafficError::TooManyAsked { asked }),
            Some(asked) => Ok(asked),
            None if found == 0 => Err(TrafficError::NoRanks),
            None if is_sparse(found, self.lines()) => {
                Err(TrafficError::Sparse { count: found, lines: self.lines() })
            }
            None => Ok(found),
        }
    }

    /// Returns the number of lines of traffic, of ranks that have their own file or block, and of vertices that have names.
    fn lines(&self) -> u64 {
        let lines: u64 = self.classes.iter().map(|class| class.tally.lines).sum();
        lines + self.recorders.files_of.len() as u64 + self.named
    }
}

/// The graph of the pairs whose weight is not zero. The pairs are in order, so the neighbours of each vertex
/// come out in order: first the lower ones, which are the first of their pairs, then the higher ones.
fn graph_of(
    pairs: &[Pair],
    weights: &[Weight],
    num_ranks: usize,
    first_rank: NodeId,
) -> Result<CsrGraph, TrafficError> {
    let edges = || {
        let weighed = pairs.iter().zip(weights).filter(|&(_, &weight)| weight > 0);
        weighed.map(|(pair, &weight)| {
            let (u, v) = pair.ranks();
            (u - first_rank, v - first_rank, weight)
        })
    };
    let num_arcs = 2 * edges().count();
    if num_arcs >= u32::MAX as usize {
        return Err(TrafficError::Graph(GraphError::TooManyArcs { count: num_arcs }));
    }
    let mut offsets = vec![0; num_ranks + 1];
    for (u, v, _) in edges() {
        offsets[u as usize + 1] += 1;
        offsets[v as usize + 1] += 1;
    }
    for rank in 0..num_ranks {
        offsets[rank + 1] += offsets[rank];
    }
    let mut next = offsets.clone();
    let (mut targets, mut arc_weights) = (vec![0; num_arcs], vec![0; num_arcs]);
    for (u, v, weight) in edges() {
        for (from, to) in [(u, v), (v, u)] {
            let position = &mut next[from as usize];
            (targets[*position], arc_weights[*position]) = (to, weight);
            *position += 1;
        }
    }
    let graph = CsrGraph::from_symmetric(offsets, targets, arc_weights, vec![1; num_ranks]);
    graph.map_err(TrafficError::Graph)
}

/// State of the files of a job together: traffic that no file knows by itself. A kind of files that needs it keeps one in the [`FlowSink`].
pub(super) trait Together: Any + Send {
    /// Hands over the traffic, once all files have been read. `num_ranks` is the number of ranks that are known so far.
    fn add_to(self: Box<Self>, num_ranks: u64, inlet: &mut FlowSink<'_>) -> Result<(), TrafficError>;
}

/// The receiver of the flows that a reader finds in one file.
pub(super) struct FlowSink<'a> {
    collector: &'a mut Collector,
    file: &'a str,
}

impl FlowSink<'_> {
    /// Adds traffic of the `class`-th class from one rank to another.
    #[inline]
    pub(super) fn add(
        &mut self,
        class: usize,
        from: u64,
        to: u64,
        bytes: u64,
        messages: u64,
    ) -> Result<(), TrafficFault> {
        let collector = &mut *self.collector;
        let (from, to) = match &mut collector.numbering {
            Some(numbering) => (numbering.place(from)?, numbering.place(to)?),
            None => (from, to),
        };
        let (lower, higher) = (from.min(to), from.max(to));
        if lower < collector.lowest_rank || higher >= collector.num_ranks {
            collector.widen(lower, higher)?;
        }
        if collector.kind.is_some_and(|kind| kind.guesses_first_rank) {
            collector.seen.add(lower);
            collector.seen.add(higher);
        }
        let class = &mut collector.classes[class];
        class.tally.add(bytes, messages);
        if !class.is_summed {
            return Ok(());
        }
        if from == to {
            collector.left_out.to_itself.add(bytes, messages);
        } else if let Err(overflow) = collector.pairs.add(from as NodeId, to as NodeId, bytes, messages) {
            collector.overflow = collector.overflow.or(Some(overflow));
        }
        Ok(())
    }

    /// The file states that there are this many ranks.
    pub(super) fn state_ranks(&mut self, count: u64) -> Result<(), TrafficFault> {
        check_ranks(count, self.collector.stated)?;
        self.collector.stated = Some(count);
        Ok(())
    }

    /// The file names this many vertices.
    pub(super) fn name_ranks(&mut self, count: u64) -> Result<(), TrafficFault> {
        self.collector.named += count;
        self.state_ranks(count)
    }

    /// The file holds what this rank, which a flow or a statement has named, recorded. Whether another file
    /// does, too.
    pub(super) fn recorder(&mut self, rank: u64) -> bool {
        self.collector.recorders.add(rank, self.collector.files)
    }

    /// Returns the meaning of a column called `size`, if that is known.
    pub(super) fn sizes(&self) -> Option<Sizes> {
        self.collector.sizes
    }

    /// Network adapters of a rank, if each is a vertex.
    pub(super) fn adapters(&self) -> Option<u64> {
        self.collector.adapters
    }

    /// The file names this network adapter of a rank.
    pub(super) fn names_adapter(&mut self, adapter: u64) {
        self.collector.greatest_adapter = self.collector.greatest_adapter.max(adapter);
    }

    /// Messages of the file have no size, so that they are counted.
    pub(super) fn counts_messages(&mut self) {
        self.collector.counts_messages = true;
    }

    /// The job has this rank.
    pub(super) fn names_rank(&mut self, rank: u64) -> Result<(), TrafficFault> {
        self.collector.widen(rank, rank)
    }

    /// Returns the common state of the files of a job.
    pub(super) fn together<T: Together + Default>(&mut self) -> &mut T {
        let together = self.collector.together.get_or_insert_with(|| Box::new(T::default()));
        let together: &mut dyn Any = &mut **together;
        together.downcast_mut().expect("all files are of one kind")
    }

    /// Returns the number of lines of traffic, of ranks that have their own file or block, and of vertices that have names.
    pub(super) fn lines(&self) -> u64 {
        self.collector.lines()
    }

    /// A matrix seems to be printed from its last row to its first.
    pub(super) fn is_upside_down(&mut self) {
        self.collector.is_upside_down = true;
    }

    /// Returns whether only the pattern of a matrix counts.
    pub(super) fn is_pattern(&self) -> bool {
        self.collector.is_pattern
    }

    /// A faulty line was left out.
    pub(super) fn torn(&mut self, line: u64) {
        let left_out = &mut self.collector.left_out;
        left_out.torn_lines += 1;
        left_out.first_torn.get_or_insert_with(|| (self.file.to_owned(), line));
    }

    /// Returns the count of further content that is left out.
    pub(super) fn left_out(&mut self) -> &mut LeftOut {
        &mut self.collector.left_out
    }

    /// Traffic with a process outside `MPI_COMM_WORLD`.
    pub(super) fn elsewhere(&mut self, bytes: u64, messages: u64) {
        self.collector.left_out.elsewhere.add(bytes, messages);
    }
}

/// The ranks that the files come from.
#[derive(Default)]
struct Recorders {
    /// The last file that names each rank, from 1, and the number of files that do.
    files_of: HashMap<u64, (u32, u32)>,
}

impl Recorders {
    fn add(&mut self, rank: u64, file: usize) -> bool {
        let (last, count) = self.files_of.entry(rank).or_insert((0, 0));
        if *last != file as u32 {
            *last = file as u32;
            *count += 1;
        }
        *count > 1
    }

    fn missing(&self, num_ranks: u64) -> Vec<NodeId> {
        (0..num_ranks).filter(|rank| !self.files_of.contains_key(rank)).map(|rank| rank as NodeId).collect()
    }

    fn repeated(&self) -> usize {
        self.files_of.values().filter(|&&(_, files)| files > 1).count()
    }
}

/// The reason why there are no edges, by the totals and the parts that were left out.
fn no_traffic(classes: &[ClassTally], left_out: &LeftOut) -> NoTraffic {
    let is_there =
        |is_summed: bool| classes.iter().any(|class| class.is_summed == is_summed && class.tally.lines > 0);
    if left_out.weightless_pairs > 0 {
        NoTraffic::Weightless
    } else if left_out.to_itself.lines + left_out.elsewhere.lines > 0 {
        NoTraffic::WithinRanks
    } else if is_there(false) {
        NoTraffic::OtherClasses
    } else if left_out.uncounted_calls > 0 {
        NoTraffic::Uncounted
    } else {
        NoTraffic::Nothing
    }
}
