//! The order of messages in files of our own recorder, `bindings/mpi/trace/viem_trace.c`: one a rank.
//!
//! ```text
//! viem_order 1
//! rank 3 of 16
//! send 4 17 5120            sends 5120 bytes to rank 4; 17 is a key that the receive has, too
//! ssend 4 17 65536          the same, and waits until they are received
//! recv 2 9                  waits in a blocking receive from rank 2
//! wait 2 9                  waits for a receive from rank 2 that it has begun before
//! sent 4 17                 waits until the last message that it has sent to rank 4 with this key is received
//! end 5                     number of lines between the second and this one
//! ```
//!
//! The last line is `cut 4194304` if there were more.

use hashbrown::HashMap;

use super::fault::{Stop, TrafficFault, expected, read_whole};
use super::fields::FieldsExt;
use super::note::{NoTraffic, TrafficNote};
use super::ranks::MOST_RANKS;
use super::trace::{end_file, head, line_count, next, no_such_rank};
use viem::base::types::NodeId;
use viem_io::scanner::Scanner;
use viem_io::table::Fields;
use viem_io::{ReadError, Source};

const MAGIC: &str = "viem_order";

/// Returns whether a file that starts with these bytes holds the order of messages.
pub fn is_order(start: &[u8]) -> bool {
    start.starts_with(b"viem_order ")
}

/// An action of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Sends a message of this many bytes, and goes on.
    Send(u64),
    /// Sends a message of this many bytes, and waits until it is received.
    SynchronousSend(u64),
    /// Waits in a blocking receive.
    Receive,
    /// Waits for a receive that it has begun before.
    Completion,
    /// Computes for this many cycles. The peer is the rank itself.
    Compute(u64),
    /// Waits until the last message of a [`Send`](Self::Send) to this peer with this key is received.
    Sent,
}

impl Act {
    /// The bytes that it sends; `None` if it sends nothing.
    pub const fn bytes(self) -> Option<u64> {
        match self {
            Self::Send(bytes) | Self::SynchronousSend(bytes) => Some(bytes),
            Self::Receive | Self::Completion | Self::Compute(_) | Self::Sent => None,
        }
    }
}

/// A step of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The action.
    pub act: Act,
    /// The rank at the other end.
    pub peer: NodeId,
    /// A number that the send and the receive of a message have in common.
    pub key: u64,
}

impl Step {
    /// A step.
    pub const fn new(act: Act, peer: NodeId, key: u64) -> Self {
        Self { act, peer, key }
    }
}

/// The steps of the ranks of a job, of which `workload::recorded` makes a workload.
///
/// ```
/// use viem_io::Source;
/// use viem_traffic::Recording;
///
/// let mut recording = Recording::default();
/// for text in ["viem_order 1\nrank 0 of 2\nsend 1 5 640\nend 1\n", "viem_order 1\nrank 1 of 2\nrecv 0 5\nend 1\n"] {
///     recording.read(Source::new("viem_trace.order", text.as_bytes())?)?;
/// }
/// assert_eq!(recording.num_ranks(), 2);
/// # Ok::<(), viem_io::ReadError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    num_ranks: Option<u64>,
    steps: HashMap<u64, Vec<Step>>,
    /// True if ranks of which nothing is read do nothing.
    is_whole: bool,
    /// The highest network adapter of a rank that a schedule names.
    greatest_adapter: u64,
}

impl Recording {
    /// These steps of each rank.
    pub fn of(ranks: Vec<Vec<Step>>) -> Self {
        Self::whole(ranks.len() as u64, (0..).zip(ranks).collect(), 0)
    }

    /// These steps of some ranks; the others do nothing.
    pub(super) fn whole(num_ranks: u64, steps: HashMap<u64, Vec<Step>>, greatest_adapter: u64) -> Self {
        Self { num_ranks: Some(num_ranks), steps, is_whole: true, greatest_adapter }
    }

    /// Likely mistakes, and skipped parts.
    pub fn notes(&self) -> Vec<TrafficNote> {
        let sends = self.steps.values().flatten().any(|step| step.act.bytes().is_some());
        let reason = NoTraffic::Nothing;
        let no_traffic = (!sends).then_some(TrafficNote::NoTraffic { reason, advice: "" });
        let greatest = self.greatest_adapter;
        let adapters = (greatest > 0).then_some(TrafficNote::Adapters { greatest });
        no_traffic.into_iter().chain(adapters).collect()
    }

    /// Number of ranks of the job; 0 if nothing is read yet.
    pub fn num_ranks(&self) -> u64 {
        self.num_ranks.unwrap_or(0)
    }

    /// The steps of a rank, unless nothing is read of it.
    pub fn steps(&self, rank: u64) -> Option<&[Step]> {
        let idle = (self.is_whole && rank < self.num_ranks()).then_some(&[][..]);
        self.steps.get(&rank).map(Vec::as_slice).or(idle)
    }

    /// Adds the steps of a rank from a file of `bindings/mpi/trace/viem_trace.c`.
    ///
    /// Errors name file, line and column; among them are files of other jobs, a second file of a rank, and one that was cut off.
    /// O(text).
    pub fn read(&mut self, source: Source<'_>) -> Result<(), ReadError> {
        read_whole(source, |scanner| self.read_file(scanner))
    }

    fn read_file(&mut self, scanner: &mut Scanner<Source<'_>>) -> Result<(), Stop> {
        let (fields, me, num_ranks) = head(scanner, MAGIC)?;
        if let Some(fault) = self.refusal(me, num_ranks) {
            return Err(fields.stop_line(fault));
        }
        let mut steps = Vec::new();
        while let Some(step) = step(&mut next(scanner)?, num_ranks, steps.len() as u64)? {
            steps.push(step);
        }
        end_file(scanner)?;
        self.num_ranks = Some(num_ranks);
        self.steps.insert(me, steps);
        Ok(())
    }

    /// The reason why a file of this rank is none of this job.
    fn refusal(&self, me: u64, num_ranks: u64) -> Option<TrafficFault> {
        if num_ranks > MOST_RANKS {
            return Some(TrafficFault::TooManyRanks { count: num_ranks });
        }
        if me >= num_ranks {
            return Some(no_such_rank(me, num_ranks));
        }
        let other = self.num_ranks.filter(|&earlier| earlier != num_ranks);
        let other = other.map(|earlier| TrafficFault::OtherSize { found: num_ranks, earlier });
        other.or_else(|| self.steps.contains_key(&me).then_some(TrafficFault::RankTwice { rank: me }))
    }
}

/// Reads one line; `None` at the end, where the number of lines is that of the steps before.
fn step(fields: &mut Fields<'_>, num_ranks: u64, before: u64) -> Result<Option<Step>, Stop> {
    let expected = "send, ssend, recv, wait, sent or end";
    let name = fields.field(expected)?;
    let act: fn(u64) -> Act = match name.text {
        b"send" => Act::Send,
        b"ssend" => Act::SynchronousSend,
        b"recv" => |_| Act::Receive,
        b"wait" => |_| Act::Completion,
        b"sent" => |_| Act::Sent,
        b"end" => {
            line_count(fields, before)?;
            fields.end()?;
            return Ok(None);
        }
        b"cut" => return Err(fields.stop_line(TrafficFault::CutOff { steps: before })),
        _ => return Err(fields.unexpected(name, expected)),
    };
    let peer = fields.number(expected::RANK)?;
    let key = fields.number("the key of a message")?;
    let bytes = if act(0).bytes().is_some() { fields.number(expected::BYTES)? } else { 0 };
    fields.end()?;
    if peer >= num_ranks {
        return Err(fields.stop_line(no_such_rank(peer, num_ranks)));
    }
    Ok(Some(Step::new(act(bytes), peer as u32, key)))
}
