//! Logs of NCCL (`NCCL_DEBUG=INFO`): the rings of communicators, and connections between their ranks.
//!
//! Lines start `host:pid:tid [device] NCCL INFO`, perhaps with something before it. Of these are read:
//!
//! ```text
//! ncclCommInitRank comm 0x55 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 65000 commId 0x99 - Init START
//! comm 0x55 rank 3 nranks 8 cudaDev 3 busId 65000 - Init COMPLETE
//! Channel 00/02 :    0   1   2   3      a ring, from rank 0 of the communicator
//! Ring 00 : 2 -> 3 -> 4                 the neighbours of a rank in it
//! Channel 00/0 : 3[3] -> 4[4] [send] via NET/IB/0
//! ```
//!
//! Each connection of a channel counts 1, however many lines there are about it: an edge weighs the number of its channels, both
//! directions added. Connections of index 0 (behind the slash) belong to collectives, others to sends. Lines `[receive]` repeat
//! those of the sender.
//!
//! The communicator with the most ranks is the job. Ranks of others are found by their process and device, so their `commId` is
//! needed. A ring is of the communicator that its thread is initialising. A connection is of the communicator of its process in
//! which the process has the sender's rank: the last one before the line, otherwise the next one. Without such lines, ranks are
//! those of the job.
//!
//! NCCL cuts rings after 20 ranks or 127 bytes. Of a ring with fewer ranks than its communicator, the last number is left out, which
//! may be cut itself, and so is the way back. (Lines as in logs that were published in the issues of NVIDIA/nccl from 2019 to 2025, and `src/graph/rings.cc`.)

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::collector::Together;
use super::collector::{FlowSink, TrafficError};
use super::fault::{Stop, TrafficFault};
use super::fields::{ScannerExt, whole};
use super::format::Format;
use super::kind::{Class, Kind};
use super::ranks::MOST_RANKS;
use viem_io::Source;
use viem_io::scanner::Scanner;
use viem_io::signature::NCCL;
use viem_io::table::{Fields, is_blank};

pub(super) const FORMAT: Format = Format {
    kind: Kind {
        name: "nccl",
        title: "logs of NCCL",
        classes: &[
            Class { name: "ring", title: "neighbours in rings, by channel", is_default: true },
            Class {
                name: "connection",
                title: "other connections of collectives, such as trees",
                is_default: true,
            },
            Class { name: "p2p", title: "connections of sends", is_default: true },
        ],
        ..Kind::PLAIN
    },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let mut has_lines = false;
    while let Some((number, line)) = scanner.next_line() {
        let Some(line) = Line::new(line) else { continue };
        has_lines = true;
        let added = inlet.together::<Log>().add(&line);
        added.map_err(|fault| Stop { line: number, column: 1, fault })?;
    }
    let fault = TrafficFault::Missing { expected: "a line with `NCCL INFO`" };
    if has_lines { Ok(()) } else { Err(scanner.stop(fault)) }
}

/// A line of NCCL.
struct Line<'a> {
    /// `host:pid:tid`
    thread: &'a [u8],
    /// `host:pid`
    process: &'a [u8],
    /// `[0]`
    device: &'a [u8],
    text: &'a [u8],
}

impl<'a> Line<'a> {
    fn new(line: &'a [u8]) -> Option<Self> {
        let mark = line.windows(NCCL.len()).position(|bytes| bytes == NCCL)?;
        let (mut thread, mut device): (&[u8], &[u8]) = (b"", b"");
        for field in Fields::new(0, &line[..mark], is_blank) {
            (thread, device) = (device, field.text);
        }
        let end = thread.iter().rposition(|&byte| byte == b':').unwrap_or(thread.len());
        Some(Self { thread, process: &thread[..end], device, text: &line[mark + NCCL.len()..] })
    }

    fn name(&self, name: &[u8]) -> Name {
        (name.to_vec(), self.device.to_vec())
    }

    fn fields(&self) -> Fields<'a> {
        Fields::new(0, self.text, is_blank)
    }
}

/// The name of a process or a thread, and its device.
type Name = (Vec<u8>, Vec<u8>);

/// The state of all logs of a job together.
#[derive(Default)]
pub(super) struct Log {
    /// Processes by name and device.
    places: HashMap<Name, usize>,
    /// The communicators of each process, in the order of the lines.
    processes: Vec<Vec<Membership>>,
    /// Threads by name and device, each of which belongs to one of these processes.
    threads: HashMap<Name, Thread>,
    rings: Vec<Ring>,
    connections: Vec<Connection>,
}

/// A rank of a communicator that a process is.
#[derive(Clone, Copy)]
struct Membership {
    /// The address of the communicator in the process.
    address: u64,
    /// The number that it has in all processes, if lines name it.
    id: Option<u64>,
    rank: u64,
    num_ranks: u64,
}

/// The state of a thread.
#[derive(Default)]
struct Thread {
    /// The communicator that it is initialising: its place among those of its process.
    current: Option<usize>,
    /// Rings of the communicator that it will name next.
    pending: Vec<usize>,
}

/// A ring of a communicator, as long as the line has it.
struct Ring {
    process: usize,
    /// Its place among those of the process, if it is known.
    membership: Option<usize>,
    channel: u64,
    ranks: Vec<u64>,
}

/// A connection of a communicator that is known by the rank of the sender.
struct Connection {
    process: usize,
    /// The number of communicators of the process that were named before.
    known: usize,
    class: usize,
    place: Place,
}

/// The place of a connection in its communicator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    channel: u64,
    index: u64,
    from: u64,
    to: u64,
}

const RING: usize = 0;
const CONNECTION: usize = 1;
const SEND: usize = 2;

impl Log {
    /// Adds a line, of any kind.
    fn add(&mut self, line: &Line<'_>) -> Result<(), TrafficFault> {
        if let Some((membership, is_complete)) = membership(line) {
            if membership.num_ranks > MOST_RANKS {
                return Err(TrafficFault::TooManyRanks { count: membership.num_ranks });
            }
            self.join(line, membership, is_complete);
        } else if let Some((class, place)) = connection(line) {
            let process = self.process(line);
            let known = self.processes[process].len();
            self.connections.push(Connection { process, known, class, place });
        } else if let Some((channel, ranks)) = ring(line) {
            let process = self.process(line);
            let thread = self.threads.entry(line.name(line.thread)).or_default();
            let membership = thread.current;
            if membership.is_none() {
                thread.pending.push(self.rings.len());
            }
            self.rings.push(Ring { process, membership, channel, ranks });
        }
        Ok(())
    }

    /// The process of a line.
    fn process(&mut self, line: &Line<'_>) -> usize {
        let next = self.processes.len();
        let process = *self.places.entry(line.name(line.process)).or_insert(next);
        if process == next {
            self.processes.push(Vec::new());
        }
        process
    }

    /// A process is a rank of a communicator. Several lines show this for each.
    fn join(&mut self, line: &Line<'_>, new: Membership, is_complete: bool) {
        let process = self.process(line);
        let memberships = &mut self.processes[process];
        let is_same = |old: &Membership| {
            (old.address, old.rank, old.num_ranks) == (new.address, new.rank, new.num_ranks)
                && (old.id == new.id || old.id.is_none() || new.id.is_none())
        };
        let place = memberships.iter().rposition(is_same).unwrap_or_else(|| {
            memberships.push(new);
            memberships.len() - 1
        });
        memberships[place].id = memberships[place].id.or(new.id);
        let thread = self.threads.entry(line.name(line.thread)).or_default();
        for ring in thread.pending.drain(..) {
            self.rings[ring].membership = Some(place);
        }
        thread.current = (!is_complete).then_some(place);
    }
}

impl Together for Log {
    /// Adds the connections of the ranks of the job. O(c log c) for c connections.
    fn add_to(self: Box<Self>, _num_ranks: u64, inlet: &mut FlowSink<'_>) -> Result<(), TrafficError> {
        let mut found = Found { job: Job::new(&self.processes), classes: BTreeMap::new(), unplaced: 0 };
        for ring in &self.rings {
            let membership = ring.membership.map(|place| &self.processes[ring.process][place]);
            for (from, to) in ring.hops(membership) {
                found.add(membership, Place { channel: ring.channel, index: 0, from, to }, RING);
            }
        }
        for connection in &self.connections {
            let memberships = &self.processes[connection.process];
            let (before, after) = memberships.split_at(connection.known);
            let fits = |membership: &&Membership| membership.rank == connection.place.from;
            let membership = before.iter().rev().find(fits).or_else(|| after.iter().find(fits));
            if membership.is_some() || memberships.is_empty() {
                found.add(membership, connection.place, connection.class);
            } else {
                found.unplaced += 1;
            }
        }
        let too_large = |fault| match fault {
            TrafficFault::TooManyRanks { count } => TrafficError::TooLarge { count },
            _ => TrafficError::TooLarge { count: MOST_RANKS },
        };
        if let Some(num_ranks) = found.job.num_ranks {
            inlet.state_ranks(num_ranks).map_err(too_large)?;
        }
        inlet.left_out().unplaced_connections += found.unplaced;
        let mut connections = found.classes.into_values();
        connections.try_for_each(|(class, (from, to))| inlet.add(class, from, to, 1, 0)).map_err(too_large)
    }
}

/// The class of a connection, and the ranks in the job that it joins.
type Link = (usize, (u64, u64));

/// The connections of a job, each once.
struct Found {
    job: Job,
    /// The class of each connection of a communicator.
    classes: BTreeMap<(Option<u64>, Place), Link>,
    unplaced: u64,
}

impl Found {
    /// Adds a connection of a communicator, or of the job if none is known.
    fn add(&mut self, membership: Option<&Membership>, place: Place, class: usize) {
        let ends = self.job.rank(membership, place.from).zip(self.job.rank(membership, place.to));
        let Some(ends) = ends else {
            self.unplaced += 1;
            return;
        };
        let communicator = membership.and_then(|membership| membership.id);
        let known = self.classes.entry((communicator, place)).or_insert((class, ends));
        known.0 = class.min(known.0);
    }
}

impl Ring {
    /// Neighbours in it.
    fn hops(&self, membership: Option<&Membership>) -> Vec<(u64, u64)> {
        let is_whole = membership.is_none_or(|membership| self.ranks.len() as u64 >= membership.num_ranks);
        let ranks = if is_whole { &self.ranks[..] } else { &self.ranks[..self.ranks.len() - 1] };
        let mut hops: Vec<_> = ranks.windows(2).map(|pair| (pair[0], pair[1])).collect();
        if is_whole && ranks.len() > 1 {
            hops.push((ranks[ranks.len() - 1], ranks[0]));
        }
        hops
    }
}

/// The ranks of the job, and those of its communicators.
struct Job {
    /// The number of ranks of its communicator; none if no line has it.
    num_ranks: Option<u64>,
    id: Option<u64>,
    /// The rank in the job of each rank of the other communicators.
    ranks: HashMap<(u64, u64), u64>,
}

impl Job {
    fn new(processes: &[Vec<Membership>]) -> Self {
        let all = || processes.iter().flatten();
        let num_ranks = all().map(|membership| membership.num_ranks).max();
        let largest = || all().filter(|membership| Some(membership.num_ranks) == num_ranks);
        let mut job =
            Self { num_ranks, id: largest().find_map(|membership| membership.id), ranks: HashMap::new() };
        for memberships in processes {
            let own = memberships.iter().find(|membership| job.is_job(membership));
            let own = own.filter(|own| own.rank < own.num_ranks);
            for (own, membership) in own.into_iter().flat_map(|own| memberships.iter().map(move |m| (own, m)))
            {
                if let Some(id) = membership.id {
                    job.ranks.entry((id, membership.rank)).or_insert(own.rank);
                }
            }
        }
        job
    }

    /// Returns whether a communicator is that of the job.
    fn is_job(&self, membership: &Membership) -> bool {
        let has_id = membership.id.is_none() || self.id.is_none() || membership.id == self.id;
        has_id && Some(membership.num_ranks) == self.num_ranks
    }

    /// The rank in the job of a rank of a communicator.
    fn rank(&self, membership: Option<&Membership>, rank: u64) -> Option<u64> {
        let Some(membership) = membership.filter(|membership| !self.is_job(membership)) else {
            return Some(rank).filter(|&rank| self.num_ranks.is_none_or(|num_ranks| rank < num_ranks));
        };
        self.ranks.get(&(membership.id?, rank)).copied()
    }
}

/// `... comm 0x55 rank 3 nranks 8 ... commId 0x99 ...`, and whether nothing more about its initialisation follows.
fn membership(line: &Line<'_>) -> Option<(Membership, bool)> {
    let (mut address, mut id, mut rank, mut num_ranks, mut last) = (None, None, None, None, &b""[..]);
    for field in line.fields() {
        match last {
            b"comm" => address = hexadecimal(field.text),
            b"commId" => id = hexadecimal(field.text),
            b"rank" => rank = whole(field.text),
            b"nranks" | b"nRanks" => num_ranks = whole(field.text),
            _ => {}
        }
        if matches!(field.text, b"Destroy" | b"Abort") {
            return None;
        }
        last = field.text;
    }
    let membership = Membership { address: address?, id, rank: rank?, num_ranks: num_ranks? };
    Some((membership, last == b"COMPLETE"))
}

/// `Channel 00/0 : 3[3] -> 4[4] [send] via NET/IB/0`, `Ring 00 : 3 -> 4 [send] via ...` or `Ring 00 : 2 -> 3 -> 4`.
fn connection(line: &Line<'_>) -> Option<(usize, Place)> {
    let mut fields = line.fields();
    let (channel, index) = channel(&mut fields, b"Ring")?;
    let mut next = |_| fields.next().map(|field| field.text);
    let [first, arrow, second] = [next(0)?, next(1)?, next(2)?];
    let (first, second) = (numbered(first)?, numbered(second)?);
    let (class, from, to) = match (arrow, next(3), next(4)) {
        (b"->", Some(b"->"), Some(third)) => (RING, second, numbered(third)?),
        (b"->", Some(b"[receive]"), _) => return None,
        (b"->", ..) if index > 0 => (SEND, first, second),
        (b"->", ..) => (CONNECTION, first, second),
        _ => return None,
    };
    Some((class, Place { channel, index, from, to }))
}

/// `Channel 00/02 :    0   1   2   3`
fn ring(line: &Line<'_>) -> Option<(u64, Vec<u64>)> {
    let mut fields = line.fields();
    let (channel, _) = channel(&mut fields, b"Channel")?;
    let mut ranks = Vec::new();
    for field in fields {
        ranks.push(numbered(field.text)?);
    }
    (!ranks.is_empty()).then_some((channel, ranks))
}

/// The start of such lines, `Channel 00/02 :`, or with another word.
fn channel(fields: &mut Fields<'_>, other: &[u8]) -> Option<(u64, u64)> {
    let word = fields.next()?.text;
    if word != b"Channel" && word != other {
        return None;
    }
    let number = fields.next()?.text;
    let mut parts = number.splitn(2, |&byte| byte == b'/');
    let channel = whole(parts.next()?)?;
    let index = parts.next().map_or(Some(0), whole)?;
    (fields.next()?.text == b":").then_some((channel, index))
}

/// A rank, perhaps with a device behind it: `3[3]`, `3[b000]`.
fn numbered(text: &[u8]) -> Option<u64> {
    let end = text.iter().position(|&byte| byte == b'[').unwrap_or(text.len());
    whole(&text[..end]).filter(|&rank| rank < MOST_RANKS)
}

/// `0x55`
fn hexadecimal(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(text).ok()?.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use crate::tests::Sample;

    pub(super) const SAMPLE: Sample = Sample {
        text: "n1:5:6 [0] NCCL INFO comm 0x7 rank 0 nranks 3 cudaDev 0 busId 1000 - Init START\n\
             n1:5:6 [0] NCCL INFO Channel 00/01 :    0   1   2\n\
             n1:5:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 2[0] [send] via NET/IB/0\n",
        ..Sample::NONE
    };
}
