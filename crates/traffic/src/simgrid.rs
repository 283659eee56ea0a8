//! Time-independent traces of SimGrid, which SMPI records and replays: a line for each call of a rank, in one file or one for each rank.
//!
//! ```text
//! 0 init
//! 0 send 1 0 1e6            to rank 1, with tag 0: 1e6 elements
//! 1 recv 0 0 1e6
//! 0 allreduce 1e3 0         elements that are sent, and computation
//! 0 finalize
//! ```
//!
//! Elements are bytes, or doubles if `init` has an argument; a number of a datatype may follow the sizes. Older traces have no tag. Collectives are
//! of all ranks, and are sent as [`Call::flows`] says. What is computed, received or waited for moves nothing. (Actions as in
//! `src/smpi/internals/smpi_replay.cpp` of SimGrid, datatypes as in `smpi_datatype.cpp`.)

use std::collections::BTreeMap;

use super::collective::{CLASSES, Call, Flow, Pattern};
use super::collector::{FlowSink, Together, TrafficError};
use super::fault::{Stop, TrafficFault, expected};
use super::fields::{FieldsExt, decimal};
use super::format::Format;
use super::kind::Kind;
use super::ranks::is_sparse;
use viem::base::number;
use viem_io::Source;
use viem_io::scanner::Scanner;
use viem_io::signature::simgrid::{self, QUIET, SENDS, UNCOUNTED};
use viem_io::table::{Field, Fields, is_blank, number_at_end, shortened};

pub(super) const FORMAT: Format = Format {
    kind: Kind {
        name: "simgrid",
        title: "time-independent traces of SimGrid",
        classes: CLASSES,
        tells_recorders: true,
        ..Kind::PLAIN
    },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

/// Bytes of an element by the number of its datatype: double, int, char, short, long, float, byte.
const DATATYPES: [u64; 7] = [8, 4, 1, 2, 8, 4, 1];

/// Collectives, times ranks, that are counted at most: each rank may send to each one.
const MOST_FLOWS: u64 = 1 << 28;

/// Returns the pattern of a collective, and whether it has a count for each rank.
fn collective(name: &str) -> Option<(Pattern, bool)> {
    let (plain, has_counts) = simgrid::collective(name)?;
    let pattern = match plain {
        "bcast" => Pattern::Broadcast,
        "reduce" => Pattern::Reduce,
        "allreduce" => Pattern::AllReduce,
        "alltoall" => Pattern::AllToAll,
        "gather" => Pattern::Gather,
        "allgather" => Pattern::AllGather,
        "scatter" => Pattern::Scatter,
        "reducescatter" => Pattern::ReduceScatter,
        _ => return None,
    };
    Some((pattern, has_counts))
}

fn name_of(field: Field<'_>) -> String {
    String::from_utf8_lossy(field.text).to_ascii_lowercase()
}

/// Collectives of all ranks, whose number is known at the end: how often each rank makes each call.
#[derive(Default)]
pub(super) struct Collectives(BTreeMap<Collective, u64>);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Collective {
    rank: u64,
    pattern: Pattern,
    has_counts: bool,
    numbers: Vec<u64>,
    /// Bytes of an element unless a datatype says it.
    size: u64,
}

impl Collectives {
    /// Returns the number of calls.
    fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// Hands over what all of them send.
    fn sum(self, num_ranks: u64, inlet: &mut FlowSink<'_>) -> Result<(), TrafficFault> {
        if num_ranks.saturating_mul(self.0.len() as u64) > MOST_FLOWS {
            inlet.left_out().uncounted_calls += self.count();
            return Ok(());
        }
        let ranks: Vec<u64> = (0..num_ranks).collect();
        for (collective, count) in self.0 {
            let Some(flows) = collective.flows(&ranks) else {
                inlet.left_out().uncounted_calls += count;
                continue;
            };
            for Flow { to, bytes, messages } in flows.into_iter().filter(|flow| flow.messages > 0) {
                let called = || format!("{:?}", collective.pattern).to_ascii_lowercase();
                let bytes = bytes.checked_mul(count.into()).and_then(|bytes| u64::try_from(bytes).ok());
                let bytes = bytes.ok_or_else(|| TrafficFault::TooManyElements { called: called() })?;
                inlet.add(
                    collective.pattern.class(),
                    collective.rank,
                    to,
                    bytes,
                    messages.saturating_mul(count),
                )?;
            }
        }
        Ok(())
    }
}

impl Together for Collectives {
    fn add_to(self: Box<Self>, num_ranks: u64, inlet: &mut FlowSink<'_>) -> Result<(), TrafficError> {
        let lines = self.count() + inlet.lines();
        if is_sparse(num_ranks, lines) {
            return Err(TrafficError::Sparse { count: num_ranks, lines });
        }
        self.sum(num_ranks, inlet).map_err(|fault| TrafficError::Collectives(Box::new(fault)))
    }
}

impl Collective {
    /// Returns the traffic of the rank; none if the numbers do not fit the ranks.
    fn flows(&self, ranks: &[u64]) -> Option<Vec<Flow>> {
        let count = ranks.len();
        let (sizes, counts, rest) = self.parts(count)?;
        // Datatypes follow the root.
        let is_rooted = self.pattern.class() == Pattern::Broadcast.class();
        let root = if is_rooted { rest.first().copied().unwrap_or(0) } else { 0 };
        let types = if is_rooted { rest.get(1..).unwrap_or_default() } else { rest };
        let size = match types.first() {
            Some(&datatype) => *DATATYPES.get(usize::try_from(datatype).ok()?)?,
            None => self.size,
        };
        let bytes = |elements: u64, times: usize| u128::from(elements) * u128::from(size) * times as u128;
        let sum = |counts: &[u64]| counts.iter().map(|&count| bytes(count, 1)).sum::<u128>();
        let (sent, received) = match (self.pattern, counts) {
            (Pattern::AllToAll | Pattern::Scatter | Pattern::ReduceScatter, Some(counts)) => (sum(counts), 0),
            (Pattern::AllGather, Some(counts)) => (0, sum(counts)),
            (Pattern::AllToAll | Pattern::Scatter, None) => (bytes(sizes[0], count), 0),
            (Pattern::AllGather, None) => (0, bytes(*sizes.get(1)?, count)),
            _ => (bytes(*sizes.first()?, 1), 0),
        };
        let splits = counts.map(<[u64]>::to_vec);
        Call { me: self.rank, ranks, root: usize::try_from(root).ok()?, sent, received, splits }
            .flows(self.pattern)
    }

    /// The sizes, the counts for each rank, and what follows them.
    fn parts(&self, ranks: usize) -> Option<Numbers<'_>> {
        let numbers = &self.numbers[..];
        // Numbers before the counts and behind them.
        let (before, behind) = match (self.pattern, self.has_counts) {
            (Pattern::Broadcast, _) => return Some((numbers.get(..1)?, None, &numbers[1..])),
            (_, false) => return Some((numbers.get(..2)?, None, &numbers[2..])),
            (Pattern::Scatter | Pattern::ReduceScatter, true) => (0, 1),
            (Pattern::AllToAll, true) => (1, 1 + ranks),
            (_, true) => (1, 0),
        };
        let counts = numbers.get(before..before + ranks)?;
        Some((&numbers[..before], Some(counts), numbers.get(before + ranks + behind..)?))
    }
}

/// The sizes of a collective, the counts for each rank where there are some, and what follows them.
type Numbers<'a> = (&'a [u64], Option<&'a [u64]>, &'a [u64]);

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    // Bytes of an element of each rank that does not send plain bytes.
    let mut size = BTreeMap::new();
    while let Some((number, line)) = scanner.next_line() {
        let mut fields = Fields::new(number, line, is_blank);
        let Some(first) = fields.next().filter(|field| !field.text.starts_with(b"#")) else { continue };
        let rank = number_at_end(first.text).ok_or_else(|| fields.unexpected(first, expected::RANK))?;
        let action = fields.field("an action, such as send")?;
        let name = name_of(action);
        inlet.names_rank(rank).map_err(|fault| fields.stop(first, fault))?;
        inlet.recorder(rank);
        let size_of_rank = size.get(&rank).copied().unwrap_or(1);
        match (name.as_str(), collective(&name)) {
            ("init", _) => {
                let has_default = fields.next().is_some();
                size.insert(rank, if has_default { DATATYPES[0] } else { 1 });
            }
            (name, _) if SENDS.contains(&name) => send(&mut fields, rank, size_of_rank, inlet)?,
            (name, _) if UNCOUNTED.contains(&name) => inlet.left_out().uncounted_calls += 1,
            (_, Some((pattern, has_counts))) => {
                let numbers = numbers(&mut fields)?;
                let collective = Collective { rank, pattern, has_counts, numbers, size: size_of_rank };
                *inlet.together::<Collectives>().0.entry(collective).or_default() += 1;
            }
            (name, _) if QUIET.contains(&name) => {}
            _ => {
                let text = shortened(action.text);
                let fault = TrafficFault::Unexpected { text, expected: "an action, such as send" };
                return Err(fields.stop(action, fault));
            }
        }
    }
    Ok(())
}

/// The numbers in the rest of a line, in any notation, rounded.
fn numbers(fields: &mut Fields<'_>) -> Result<Vec<u64>, Stop> {
    let mut numbers = Vec::new();
    while let Some(field) = fields.next() {
        numbers.push(size_of(fields, field)?);
    }
    Ok(numbers)
}

fn size_of(fields: &Fields<'_>, field: Field<'_>) -> Result<u64, Stop> {
    let size = decimal(field.text, 1);
    size.map(|size| size.round() as u64).ok_or_else(|| fields.unexpected(field, "a number of elements"))
}

/// Adds a message: its receiver, its tag unless the trace is an older one, its size, and perhaps a datatype.
fn send(fields: &mut Fields<'_>, from: u64, size: u64, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let receiver = fields.field(expected::RANK)?;
    let to = number_at_end(receiver.text).ok_or_else(|| fields.unexpected(receiver, expected::RANK))?;
    let rest: Vec<Field<'_>> = fields.collect();
    let (elements, datatype) = match rest[..] {
        [elements] | [_, elements] => (elements, None),
        [_, elements, datatype] => (elements, Some(datatype)),
        _ => {
            return Err(
                fields.stop_at_end(TrafficFault::Missing { expected: "a tag and a number of elements" })
            );
        }
    };
    let size = match datatype {
        None => size,
        Some(field) => {
            let place = number::whole(field.text).ok().and_then(|place| usize::try_from(place).ok());
            let known = place.and_then(|place| DATATYPES.get(place)).copied();
            known.ok_or_else(|| fields.unexpected(field, "the number of a datatype, from 0 to 6"))?
        }
    };
    let bytes = size_of(fields, elements)?.checked_mul(size);
    let too_many = || TrafficFault::TooManyElements { called: "send".to_owned() };
    let bytes = bytes.ok_or_else(|| fields.stop(elements, too_many()))?;
    inlet.add(Pattern::Send.class(), from, to, bytes, 1).map_err(|fault| fields.stop_line(fault))
}

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample, lines};
    use std::fmt::Write;

    pub(super) const SAMPLE: Sample = Sample {
        text: "0 init\n0 send 1 0 1e6\n1 init\n1 recv 0 0 1e6\n0 bcast 10 0\n1 bcast 10 0\n",
        write: Some(write),
        has_messages: true,
        ..Sample::NONE
    };

    fn write(n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let mut text = String::new();
        for me in 0..n {
            writeln!(text, "{me} init").unwrap();
            for (_, to, bytes, messages) in lines(flows).filter(|line| line.0 == me) {
                let each = bytes / messages;
                (1..messages).for_each(|tag| writeln!(text, "{me} isend {to} {tag} {each}").unwrap());
                writeln!(text, "{me} send {to} 0 {}", bytes - (messages - 1) * each).unwrap();
            }
            writeln!(text, "{me} compute 1e9\n{me} finalize").unwrap();
        }
        vec![text.into()]
    }
}
