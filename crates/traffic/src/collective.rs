//! The traffic of a rank in a collective, of which a recording has the sizes.

use super::kind::Class;
use viem::base::collectives::ring_bytes;

/// The classes of traffic of recordings that name collectives.
pub(super) const CLASSES: &[Class] = &[
    Class { name: "allreduce", title: "all-reduce, as rings send", is_default: true },
    Class { name: "allgather", title: "all-gather, as rings send", is_default: true },
    Class { name: "reducescatter", title: "reduce-scatter, as rings send", is_default: true },
    Class { name: "alltoall", title: "all-to-all", is_default: true },
    Class { name: "rooted", title: "broadcast, reduce, gather and scatter", is_default: true },
    Class { name: "p2p", title: "sends", is_default: true },
];

/// The pattern in which a collective sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pattern {
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    Broadcast,
    Reduce,
    Gather,
    Scatter,
    Send,
    Receive,
}

impl Pattern {
    /// All of them by the starts of their names without underscores; longer ones come before shorter ones.
    const ALL: [(&'static str, Self); 10] = [
        ("allreduce", Self::AllReduce),
        ("allgather", Self::AllGather),
        ("reducescatter", Self::ReduceScatter),
        ("alltoall", Self::AllToAll),
        ("broadcast", Self::Broadcast),
        ("reduce", Self::Reduce),
        ("gather", Self::Gather),
        ("scatter", Self::Scatter),
        ("send", Self::Send),
        ("recv", Self::Receive),
    ];

    /// Returns the pattern of a name such as `_allgather_base`.
    pub(super) fn of(name: &str) -> Option<Self> {
        let name = name.replace('_', "").to_ascii_lowercase();
        Self::ALL.into_iter().find(|(start, _)| name.starts_with(start)).map(|(_, pattern)| pattern)
    }

    /// Its place among the classes.
    pub(super) fn class(self) -> usize {
        match self {
            Self::AllReduce => 0,
            Self::AllGather => 1,
            Self::ReduceScatter => 2,
            Self::AllToAll => 3,
            Self::Broadcast | Self::Reduce | Self::Gather | Self::Scatter => 4,
            Self::Send | Self::Receive => 5,
        }
    }
}

/// The traffic from this rank to another one.
pub(super) struct Flow {
    pub(super) to: u64,
    pub(super) bytes: u128,
    pub(super) messages: u64,
}

impl Flow {
    /// A single message.
    pub(super) fn new(to: u64, bytes: u128) -> Self {
        Self { to, bytes, messages: 1 }
    }
}

/// A call of a collective by a rank.
pub(super) struct Call<'a> {
    pub(super) me: u64,
    /// The ranks of the group, in their order.
    pub(super) ranks: &'a [u64],
    /// The place of the root in the group.
    pub(super) root: usize,
    /// Bytes that go in, and those that come out.
    pub(super) sent: u128,
    pub(super) received: u128,
    /// The division of the data among the ranks; even if it is not known.
    pub(super) splits: Option<Vec<u64>>,
}

impl Call<'_> {
    /// Returns the traffic of the rank, if it is one of the group.
    pub(super) fn flows(&self, pattern: Pattern) -> Option<Vec<Flow>> {
        let &Self { me, ranks, root, sent, received, .. } = self;
        let place = ranks.iter().position(|&rank| rank == me)?;
        let (count, next) = (ranks.len(), ranks[(place + 1) % ranks.len()]);
        let ring = |bytes, passes: u64| {
            let bytes = ring_bytes(count as u128, bytes, u128::from(passes))?;
            Some(vec![Flow { to: next, bytes, messages: passes * (count as u64 - 1) }])
        };
        let all = sent.max(received);
        let if_sends = |sends: bool, to, bytes| if sends { vec![Flow::new(to, bytes)] } else { Vec::new() };
        match pattern {
            Pattern::AllReduce => ring(sent, 2),
            Pattern::AllGather => ring(received, 1),
            Pattern::ReduceScatter => ring(sent, 1),
            Pattern::AllToAll => Some(self.parts()),
            _ if root >= count => None,
            Pattern::Broadcast => Some(if_sends((place + 1) % count != root, next, all)),
            Pattern::Reduce => Some(if_sends(place != root, next, all)),
            Pattern::Gather => Some(if_sends(place != root, ranks[root], sent)),
            Pattern::Scatter if place == root => Some(self.parts()),
            Pattern::Scatter | Pattern::Send | Pattern::Receive => Some(Vec::new()),
        }
    }

    /// The part of each rank in what is sent.
    fn parts(&self) -> Vec<Flow> {
        let splits = self.splits.as_ref().filter(|splits| splits.len() == self.ranks.len());
        let sum = |splits: &[u64]| splits.iter().map(|&split| u128::from(split)).sum::<u128>();
        let (splits, sum) = match splits.map(|splits| (sum(splits), splits.clone())) {
            Some((sum, splits)) if sum > 0 => (splits, sum),
            _ => (vec![1; self.ranks.len()], self.ranks.len() as u128),
        };
        let part =
            |split: u64| self.sent.checked_mul(u128::from(split)).map_or(u128::MAX, |all| all.div_ceil(sum));
        self.ranks
            .iter()
            .zip(splits)
            .filter(|&(_, split)| split > 0)
            .map(|(&to, split)| Flow::new(to, part(split)))
            .collect()
    }
}
