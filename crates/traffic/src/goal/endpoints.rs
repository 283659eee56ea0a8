//! Traffic between the network adapters of ranks: adapter a of rank r is the vertex r times the number of adapters plus a.
//!
//! A message leaves by the adapter of its `send`, or the first. It arrives at the adapter that its `recv` names: the k-th message of a sender and a tag
//! is that of the k-th such `recv` of its receiver. Where none is named, the message arrives at the adapter of the same number.

use std::collections::VecDeque;

use hashbrown::HashMap;

use super::schedule::{Adapter, Statement};
use crate::collector::FlowSink;
use crate::fault::TrafficFault;

/// A receive or a send, which fit each other if sender, receiver and tag are the same.
type Key = (u64, u64, u64);

/// A message that is sent.
struct Message {
    key: Key,
    bytes: u64,
    adapter: u64,
}

/// The known messages in the middle of a schedule.
pub(super) struct Endpoints {
    /// Network adapters of a rank.
    count: u64,
    rank: u64,
    sent: Vec<Message>,
    received: HashMap<Key, VecDeque<Adapter>>,
}

impl Endpoints {
    pub(super) fn new(count: u64) -> Self {
        Self { count, rank: 0, sent: Vec::new(), received: HashMap::new() }
    }

    pub(super) fn add(&mut self, statement: Statement, inlet: &mut FlowSink<'_>) -> Result<(), TrafficFault> {
        if let Some(nic) = statement.adapter().filter(|&nic| nic >= self.count) {
            return Err(TrafficFault::NoSuchAdapter { nic, count: self.count });
        }
        match statement {
            Statement::NumRanks(ranks) => inlet.state_ranks(ranks.value.saturating_mul(self.count))?,
            Statement::Open(rank) => self.open(rank.value, inlet)?,
            Statement::Send { from, to, bytes, tag, adapter } => {
                let key = (from, to.value, tag.unwrap_or(0));
                self.sent.push(Message { key, bytes, adapter: adapter.unwrap_or(0) });
            }
            Statement::Receive { from: Some(from), tag: Some(tag), adapter } => {
                self.received.entry((from.value, self.rank, tag)).or_default().push_back(adapter);
            }
            _ => {}
        }
        Ok(())
    }

    /// The block of a rank begins, which records all its adapters.
    fn open(&mut self, rank: u64, inlet: &mut FlowSink<'_>) -> Result<(), TrafficFault> {
        self.rank = rank;
        let seconds = (0..self.count).filter(|adapter| inlet.recorder(rank * self.count + adapter)).count();
        if seconds > 0 { Err(TrafficFault::RankTwice { rank }) } else { Ok(()) }
    }

    /// Hands over all messages.
    pub(super) fn finish(mut self, inlet: &mut FlowSink<'_>) -> Result<(), TrafficFault> {
        self.sent.into_iter().try_for_each(|Message { key, bytes, adapter }| {
            let receives = self.received.get_mut(&key);
            let other = receives.and_then(VecDeque::pop_front).flatten().unwrap_or(adapter);
            let (from, to, _) = key;
            inlet.add(0, from * self.count + adapter, to * self.count + other, bytes, 1)
        })
    }
}
