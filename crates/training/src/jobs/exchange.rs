//! Collectives as bytes between pairs of ranks, and the results of these: a graph, or a workload with a phase for each class.

use super::error::TrainingError;
use viem::base::collectives::ring_bytes;
use viem::base::settings::named;
use viem::base::types::{NodeId, Weight};
use viem::graph::{CsrGraph, GraphBuilder};
use viem_workload::{Workload, WorkloadBuilder, WorkloadFault};

named! {
    /// The purpose of traffic.
    pub enum TrafficClass: "class" {
        /// Activations of layers that ranks share.
        Tensor = "tensor",
        /// Keys and values of sequences that ranks share.
        Context = "context",
        /// Tokens to their experts and back.
        Expert = "expert",
        /// Tokens of experts that ranks share.
        ExpertTensor = "expert-tensor",
        /// Activations from stage to stage.
        Pipeline = "pipeline",
        /// Gradients of tied embeddings.
        Embedding = "embedding",
        /// Gradients and parameters of all layers but experts.
        Data = "data",
        /// Gradients and parameters of experts.
        ExpertData = "expert-data",
    }
}

/// The total of a class of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ClassTotal {
    /// The class.
    pub class: TrafficClass,
    /// Number of groups of ranks.
    pub groups: u64,
    /// Ranks of the smallest group.
    pub smallest: u64,
    /// Ranks of the largest group.
    pub largest: u64,
    /// Bytes that all ranks send in a step.
    pub bytes: u64,
}

/// The traffic between two ranks for a class of traffic.
struct Exchange {
    from: NodeId,
    to: NodeId,
    bytes: u64,
    class: TrafficClass,
    /// True if half of the bytes go back.
    is_mutual: bool,
}

/// The traffic that is collected.
#[derive(Default)]
pub(super) struct Exchanges {
    all: Vec<Exchange>,
    totals: Vec<ClassTotal>,
}

/// The most bytes that all ranks send.
const MOST_BYTES: u64 = 1 << 62;

impl Exchanges {
    /// Passes around a ring over `bytes` of data: each rank sends `passes · bytes · (g - 1) / g` to the next.
    pub fn ring(
        &mut self,
        class: TrafficClass,
        ranks: &[NodeId],
        bytes: u128,
        passes: u128,
    ) -> Result<(), TrainingError> {
        let each = ring_bytes(ranks.len() as u128, bytes, passes);
        self.hops(class, ranks, each.ok_or(TrainingError::TooMuch)?)
    }

    /// Each rank sends this many bytes to the next in the ring.
    pub fn hops(&mut self, class: TrafficClass, ranks: &[NodeId], bytes: u128) -> Result<(), TrainingError> {
        let pairs = (0..ranks.len()).map(|index| (ranks[index], ranks[(index + 1) % ranks.len()], bytes));
        self.add(class, false, ranks.len(), pairs)
    }

    /// An all-reduce along a double binary tree: half of the data up and down each of two trees.
    pub fn tree(&mut self, class: TrafficClass, ranks: &[NodeId], bytes: u128) -> Result<(), TrainingError> {
        let count = ranks.len();
        let edges = |place: fn(usize, usize) -> usize| {
            (1..count).map(move |node| (place(node, count), place(parent(node, count), count)))
        };
        let second: fn(usize, usize) -> usize = if count.is_multiple_of(2) { mirrored } else { shifted };
        let pairs = edges(|node, _| node).chain(edges(second));
        self.mutual(class, count, pairs.map(|(u, v)| (ranks[u], ranks[v], bytes)))
    }

    /// Each rank sends this many bytes to each other one.
    pub fn all_to_all(
        &mut self,
        class: TrafficClass,
        ranks: &[NodeId],
        bytes: u128,
    ) -> Result<(), TrainingError> {
        let pairs = (0..ranks.len()).flat_map(|index| {
            ranks[index + 1..].iter().map(move |&other| (ranks[index], other, bytes.saturating_mul(2)))
        });
        self.mutual(class, ranks.len(), pairs)
    }

    /// Adds pairs of ranks of a group, with the bytes that they send each other: both as many.
    pub fn mutual(
        &mut self,
        class: TrafficClass,
        size: usize,
        pairs: impl Iterator<Item = (NodeId, NodeId, u128)>,
    ) -> Result<(), TrainingError> {
        self.add(class, true, size, pairs)
    }

    fn add(
        &mut self,
        class: TrafficClass,
        is_mutual: bool,
        size: usize,
        pairs: impl Iterator<Item = (NodeId, NodeId, u128)>,
    ) -> Result<(), TrainingError> {
        let mut sum = 0;
        for (u, v, bytes) in pairs.filter(|&(u, v, bytes)| u != v && bytes > 0) {
            let bytes = u64::try_from(bytes).ok().filter(|&bytes| bytes <= MOST_BYTES);
            let bytes = bytes.ok_or(TrainingError::TooMuch)?;
            self.all.push(Exchange { from: u, to: v, bytes, class, is_mutual });
            sum = u64::saturating_add(sum, bytes);
        }
        if sum > 0 { self.count(class, size as u64, sum) } else { Ok(()) }
    }

    /// Counts a group of a class.
    fn count(&mut self, class: TrafficClass, size: u64, bytes: u64) -> Result<(), TrainingError> {
        let place = self.totals.iter().position(|total| total.class == class).unwrap_or_else(|| {
            self.totals.push(ClassTotal { class, groups: 0, smallest: size, largest: size, bytes: 0 });
            self.totals.len() - 1
        });
        let total = &mut self.totals[place];
        total.groups += 1;
        total.smallest = total.smallest.min(size);
        total.largest = total.largest.max(size);
        total.bytes = total.bytes.saturating_add(bytes);
        let all = self.totals.iter().fold(0, |sum, total| u64::saturating_add(sum, total.bytes));
        if all > MOST_BYTES { Err(TrainingError::TooMuch) } else { Ok(()) }
    }

    /// The graph of `num_ranks` ranks, with weights in units of this many bytes, and the classes in their order.
    pub fn graph(
        mut self,
        num_ranks: usize,
        unit: u64,
    ) -> Result<(CsrGraph, Vec<ClassTotal>), TrainingError> {
        let pair = |exchange: &Exchange| (exchange.from.min(exchange.to), exchange.from.max(exchange.to));
        self.all.sort_unstable_by_key(pair);
        let mut builder = GraphBuilder::new(num_ranks);
        for exchanges in self.all.chunk_by(|a, b| pair(a) == pair(b)) {
            let (u, v) = pair(&exchanges[0]);
            let bytes: u64 = exchanges.iter().map(|exchange| exchange.bytes).sum();
            builder.add_edge(u, v, bytes.div_ceil(unit) as Weight);
        }
        self.totals.sort_by_key(|total| place(total.class));
        Ok((builder.build()?, self.totals))
    }

    /// The workload of `num_ranks` ranks: a phase for each class in their order, in which each rank sends all that it has to send, then
    /// receives all that it gets. Those that are `overlapping` are one phase, in the place of the last of them.
    pub fn workload(
        self,
        num_ranks: usize,
        overlapping: &[TrafficClass],
        flit_bytes: u64,
    ) -> Result<Workload, TrainingError> {
        let last = overlapping.iter().map(|&class| place(class)).max().unwrap_or(0);
        let phase = |class| if overlapping.contains(&class) { last } else { place(class) };
        let mut messages = Vec::with_capacity(self.all.len());
        for Exchange { from, to, bytes, class, is_mutual } in self.all {
            let each = if is_mutual { bytes.div_ceil(2) } else { bytes };
            messages.push(Message { phase: phase(class), from, to, bytes: each });
            if is_mutual {
                messages.push(Message { phase: phase(class), from: to, to: from, bytes: each });
            }
        }
        messages.sort_unstable_by_key(Message::key);
        messages.dedup_by(|next, kept| {
            let is_same = next.key() == kept.key();
            kept.bytes += if is_same { next.bytes } else { 0 };
            is_same
        });
        let mut builder = WorkloadBuilder::new(num_ranks);
        for messages in messages.chunk_by(|a, b| a.phase == b.phase) {
            let flits = |message: &Message| message.bytes.div_ceil(flit_bytes);
            messages.iter().for_each(|message| builder.send(message.from, message.to, flits(message)));
            messages.iter().for_each(|message| builder.receive(message.to, message.from, flits(message)));
        }
        builder.build().map_err(|error| match error.fault {
            WorkloadFault::TooMuchWork => TrainingError::TooManyFlits,
            _ => TrainingError::Workload(error),
        })
    }
}

/// The message of a rank to another one in a phase.
struct Message {
    phase: usize,
    from: NodeId,
    to: NodeId,
    bytes: u64,
}

impl Message {
    fn key(&self) -> (usize, NodeId, NodeId) {
        (self.phase, self.from, self.to)
    }
}

/// The place of a class in the order of the phases.
fn place(class: TrafficClass) -> usize {
    TrafficClass::ALL.iter().position(|&other| other == class).unwrap_or(0)
}

/// The parent of a node other than 0 in the binary tree of `count` nodes in which the odd ones are leaves.
fn parent(node: usize, count: usize) -> usize {
    let bit = node & node.wrapping_neg();
    let below = node ^ bit;
    let above = below | (bit << 1);
    if above < count { above } else { below }
}

/// The node of the second tree in the place of one of the first, for even numbers of nodes.
fn mirrored(node: usize, count: usize) -> usize {
    count - 1 - node
}

/// The same for odd numbers.
fn shifted(node: usize, count: usize) -> usize {
    (node + 1) % count
}
