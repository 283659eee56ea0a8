//! Messages under way, and what a simulation asks of the network that carries them.

use super::calendar::Calendar;
use crate::routing::{Flow, Hop, LaneId};
use viem::base::types::PeId;

/// A message under way; the number is reused when it is free.
pub(super) type MessageId = u32;

/// An event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A PE has finished an instruction.
    Done(PeId),
    /// The first flit of a worm requests its next link.
    Asks(MessageId),
    /// The last flit of a worm leaves a link.
    Leaves(MessageId),
    /// A message has been transmitted over a link as a whole.
    Passed(MessageId),
    /// The first flit of a message has arrived; the others follow.
    Flows(MessageId),
    /// Messages arrive, unless the shares of links have changed since they had this number.
    Arrive(u64),
}

/// The priority of simultaneous requests: the sending task, and the number of messages it has sent before.
pub(super) type Key = (u32, u64);

/// A message as it is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub key: Key,
    /// The channel of the workload.
    pub channel: u32,
    pub flits: u64,
    /// When it was sent.
    pub at: u64,
}

/// A message under way, with what a network knows of it.
pub(super) struct Message<S> {
    pub sent: Sent,
    pub flow: Flow,
    pub hops: Vec<Hop>,
    pub state: S,
}

/// All messages under way.
pub(super) struct Messages<S> {
    list: Vec<Message<S>>,
    free: Vec<MessageId>,
}

impl<S> Messages<S> {
    pub(super) fn new() -> Self {
        Self { list: Vec::new(), free: Vec::new() }
    }

    /// Adds a message; `route` appends its hops to a list. `None` if there are none.
    pub(super) fn add(
        &mut self,
        sent: Sent,
        state: S,
        route: impl FnOnce(&mut Vec<Hop>) -> Flow,
    ) -> Option<MessageId> {
        let free = self.free.last().copied();
        let mut hops = free.map_or_else(Vec::new, |id| std::mem::take(&mut self.list[id as usize].hops));
        hops.clear();
        let flow = route(&mut hops);
        let has_hops = !hops.is_empty();
        let message = Message { sent, flow, hops, state };
        match free {
            Some(id) => self.list[id as usize] = message,
            None => {
                self.free.push(self.list.len() as MessageId);
                self.list.push(message);
            }
        }
        if has_hops { self.free.pop() } else { None }
    }

    /// Frees the number of a message that has arrived.
    pub(super) fn forget(&mut self, id: MessageId) {
        self.free.push(id);
    }

    /// Number of messages that have been under way at the same time.
    pub(super) fn most(&self) -> usize {
        self.list.len()
    }
}

impl<S> std::ops::Index<MessageId> for Messages<S> {
    type Output = Message<S>;

    fn index(&self, id: MessageId) -> &Message<S> {
        &self.list[id as usize]
    }
}

impl<S> std::ops::IndexMut<MessageId> for Messages<S> {
    fn index_mut(&mut self, id: MessageId) -> &mut Message<S> {
        &mut self.list[id as usize]
    }
}

/// Statistics of a lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    pub messages: u64,
    pub flits: u64,
    /// Cycles in which flits passed.
    pub busy: u64,
    /// Cycles for which a message held it.
    pub held: u64,
    /// Total cycles for which messages waited for it.
    pub waited: u64,
}

/// What carries messages: the links of a machine, and how messages share them.
pub(super) trait Network {
    /// Adds a message; `route` appends its hops to a list. Returns whether there are any; otherwise it has arrived.
    fn send(
        &mut self,
        sent: Sent,
        calendar: &mut Calendar<Event>,
        route: impl FnOnce(&mut Vec<Hop>) -> Flow,
    ) -> bool;

    /// Processes an event, and appends the messages that arrive by it.
    fn happens(
        &mut self,
        event: Event,
        now: u64,
        calendar: &mut Calendar<Event>,
        arrived: &mut Vec<MessageId>,
    );

    /// Grants links, or shares of them. Call it after all that happens and is sent in this cycle.
    fn give(&mut self, now: u64, calendar: &mut Calendar<Event>);

    /// A message as it was sent.
    fn sent(&self, id: MessageId) -> Sent;

    /// The time of a message without contention.
    fn time_alone(&self, id: MessageId) -> u64;

    /// Frees the number of a message that has arrived.
    fn forget(&mut self, id: MessageId);

    /// The statistics of each lane.
    fn loads(&self) -> impl Iterator<Item = &Load>;

    /// Messages that wait for each other in a circle, each for a lane that the next one holds. There is one
    /// if messages are under way and there are no more events.
    fn circle(&self) -> Vec<(MessageId, LaneId)>;
}
