//! Messages on links.
//!
//! A worm takes its links one after another, one flit time apart if none is already taken. Its flits follow
//! the first one without gaps, so it moves as a whole or not at all: when the first flit takes link k, the
//! last one leaves link k - L. Once the first flit has arrived, nothing stops the others, and the links are
//! released one after another. A message over d links therefore takes 2 d events, whatever its length.
//!
//! Lanes are granted in the order of requests; in the same cycle, the message with the smallest key goes
//! first.

use super::calendar::Calendar;
use crate::workload::Channel;
use crate::workload::routing::{Flow, Hop, LaneId};

/// A message under way; the number is reused when it is free.
pub(super) type MessageId = u32;

const NOBODY: MessageId = MessageId::MAX;

/// An event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A PE has finished an instruction.
    Done(crate::ground::types::PeId),
    /// The first flit of a worm requests its next link.
    Asks(MessageId),
    /// The last flit of a worm leaves a link.
    Leaves(MessageId),
    /// A message has been transmitted over a link as a whole.
    Passed(MessageId),
}

/// The priority of simultaneous requests: the sending task, and the number of messages it has sent before.
pub(super) type Key = (u32, u64);

/// A message under way.
pub(super) struct Message {
    pub key: Key,
    /// The channel of the workload.
    pub channel: u32,
    pub flits: u64,
    pub flow: Flow,
    /// When it was sent.
    pub sent: u64,
    pub hops: Vec<Hop>,
    /// Links taken and links left so far.
    head: usize,
    tail: usize,
    /// When it requested the next link.
    asked: u64,
    /// The next message waiting for the same lane.
    next: MessageId,
}

impl Message {
    /// Its time without contention.
    pub(super) fn time_alone(&self) -> u64 {
        let cycles: u64 = self.hops.iter().map(|hop| hop.cycles).sum();
        match self.flow {
            Flow::StoreAndForward => self.flits * cycles,
            Flow::Wormhole => (self.flits - 1) * self.hops[0].cycles + cycles,
        }
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

struct Lane {
    holder: MessageId,
    since: u64,
    /// The first and the last waiting message.
    first: MessageId,
    last: MessageId,
    load: Load,
}

/// All lanes and all messages under way.
pub(super) struct Network {
    lanes: Vec<Lane>,
    messages: Vec<Message>,
    free: Vec<MessageId>,
    /// Requests of this cycle.
    asking: Vec<(Key, MessageId)>,
    /// Lanes that may be granted.
    open: Vec<LaneId>,
}

impl Network {
    pub(super) fn new(num_lanes: usize) -> Self {
        let lane = || Lane { holder: NOBODY, since: 0, first: NOBODY, last: NOBODY, load: Load::default() };
        Self {
            lanes: (0..num_lanes).map(|_| lane()).collect(),
            messages: Vec::new(),
            free: Vec::new(),
            asking: Vec::new(),
            open: Vec::new(),
        }
    }

    /// The statistics of each lane.
    pub(super) fn loads(&self) -> impl Iterator<Item = &Load> {
        self.lanes.iter().map(|lane| &lane.load)
    }

    /// Adds a message; `route` appends its hops to a list, at least one.
    pub(super) fn send(
        &mut self,
        key: Key,
        channel: u32,
        flits: u64,
        now: u64,
        route: impl FnOnce(&mut Vec<Hop>) -> Flow,
    ) -> bool {
        let id = self.free.pop().unwrap_or_else(|| {
            self.messages.push(Message {
                key,
                channel,
                flits,
                flow: Flow::Wormhole,
                sent: now,
                hops: Vec::new(),
                head: 0,
                tail: 0,
                asked: now,
                next: NOBODY,
            });
            self.messages.len() as MessageId - 1
        });
        let message = &mut self.messages[id as usize];
        message.hops.clear();
        message.flow = route(&mut message.hops);
        (message.key, message.channel, message.flits, message.sent) = (key, channel, flits, now);
        (message.head, message.tail) = (0, 0);
        let has_hops = !message.hops.is_empty();
        if has_hops {
            self.asks(id)
        } else {
            self.free.push(id)
        }
        has_hops
    }

    /// Records that a message requests its next lane in this cycle.
    pub(super) fn asks(&mut self, id: MessageId) {
        self.asking.push((self.messages[id as usize].key, id));
    }

    /// Processes that the last flit of a worm leaves a link. Returns whether this was its last link.
    pub(super) fn leaves(&mut self, id: MessageId, now: u64, calendar: &mut Calendar<Event>) -> bool {
        self.leave(id, now);
        let message = &self.messages[id as usize];
        let has_arrived = message.tail == message.hops.len();
        if !has_arrived {
            calendar.add(now + message.hops[0].cycles, Event::Leaves(id));
        }
        has_arrived
    }

    /// Processes that a message has been transmitted over a link. Returns whether this was its last link.
    pub(super) fn passed(&mut self, id: MessageId, now: u64) -> bool {
        self.leave(id, now);
        let message = &self.messages[id as usize];
        let has_arrived = message.tail == message.hops.len();
        if !has_arrived {
            self.asks(id);
        }
        has_arrived
    }

    fn leave(&mut self, id: MessageId, now: u64) {
        let message = &mut self.messages[id as usize];
        let lane = message.hops[message.tail].lane;
        message.tail += 1;
        let Lane { holder, since, load, .. } = &mut self.lanes[lane as usize];
        *holder = NOBODY;
        load.held += now - *since;
        self.open.push(lane);
    }

    /// A message under way.
    pub(super) fn message(&self, id: MessageId) -> &Message {
        &self.messages[id as usize]
    }

    /// Frees the number of a message that has arrived.
    pub(super) fn forget(&mut self, id: MessageId) {
        self.free.push(id);
    }

    /// Grants lanes, as far as they are free. Call it after all requests of this cycle.
    pub(super) fn give(&mut self, now: u64, calendar: &mut Calendar<Event>) {
        self.asking.sort_unstable();
        for index in 0..self.asking.len() {
            let id = self.asking[index].1;
            self.enqueue(id, now);
        }
        self.asking.clear();
        while let Some(lane) = self.open.pop() {
            let Lane { holder, first, .. } = self.lanes[lane as usize];
            if holder == NOBODY && first != NOBODY {
                self.take(lane, first, now, calendar);
            }
        }
    }

    fn enqueue(&mut self, id: MessageId, now: u64) {
        let message = &mut self.messages[id as usize];
        (message.asked, message.next) = (now, NOBODY);
        let at = message.hops[message.head].lane;
        let lane = &mut self.lanes[at as usize];
        match std::mem::replace(&mut lane.last, id) {
            NOBODY => lane.first = id,
            last => self.messages[last as usize].next = id,
        }
        self.open.push(at);
    }

    /// Grants a lane to the first waiting message.
    fn take(&mut self, at: LaneId, id: MessageId, now: u64, calendar: &mut Calendar<Event>) {
        let message = &mut self.messages[id as usize];
        let Hop { cycles, .. } = message.hops[message.head];
        message.head += 1;
        let lane = &mut self.lanes[at as usize];
        (lane.holder, lane.since, lane.first) = (id, now, message.next);
        if lane.first == NOBODY {
            lane.last = NOBODY;
        }
        let load = &mut lane.load;
        load.messages += 1;
        load.flits += message.flits;
        load.busy += message.flits * cycles;
        load.waited += now - message.asked;
        if message.flow == Flow::StoreAndForward {
            calendar.add(now + message.flits * cycles, Event::Passed(id));
            return;
        }
        let (flits, all) = (message.flits, message.hops.len());
        if message.head as u64 > flits {
            self.leave(id, now);
        }
        let message = &self.messages[id as usize];
        if message.head < all {
            calendar.add(now + cycles, Event::Asks(id));
        } else {
            let moves = message.tail as u64 + 1 + flits - all as u64;
            calendar.add(now + moves * cycles, Event::Leaves(id));
        }
    }

    /// Messages that wait for each other in a circle, each for a lane that the next one holds. There is one
    /// if messages are under way and there are no more events.
    pub(super) fn circle(&self) -> Vec<(MessageId, LaneId)> {
        let waits = |id: MessageId| {
            let message = &self.messages[id as usize];
            message.hops.get(message.head).map(|hop| hop.lane)
        };
        let mut is_seen = vec![false; self.messages.len()];
        let mut chain: Vec<(MessageId, LaneId)> = Vec::new();
        let Some(lane) = self.lanes.iter().find(|lane| lane.first != NOBODY) else { return chain };
        let mut id = lane.first;
        while let Some(lane) = waits(id).filter(|_| !std::mem::replace(&mut is_seen[id as usize], true)) {
            chain.push((id, lane));
            match self.lanes[lane as usize].holder {
                NOBODY => return Vec::new(),
                holder => id = holder,
            }
        }
        let begin = chain.iter().position(|&(member, _)| member == id).unwrap_or(0);
        let mut circle = chain.split_off(begin);
        let least =
            (0..circle.len()).min_by_key(|&index| self.messages[circle[index].0 as usize].key).unwrap_or(0);
        circle.rotate_left(least);
        circle
    }

    /// The sender and receiver of a message.
    pub(super) fn ends(&self, id: MessageId, channels: &[Channel]) -> Channel {
        channels[self.messages[id as usize].channel as usize]
    }
}
