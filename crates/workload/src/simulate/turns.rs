//! Links that messages take in turns.
//!
//! A worm takes its links one after another, one flit time apart if none is already taken. Its flits follow
//! the first one without gaps, so it moves as a whole or not at all: when the first flit takes link k, the
//! last one leaves link k - L. Once the first flit has arrived, nothing stops the others, and the links are
//! released one after another. A message over d links therefore takes 2 d events, whatever its length.
//!
//! Lanes are granted in the order of requests; in the same cycle, the message with the smallest key goes
//! first.

use super::calendar::Calendar;
use super::messages::{Event, Key, Load, Message, MessageId, Messages, Network, Sent};
use crate::routing::{Flow, Hop, LaneId};

const NOBODY: MessageId = MessageId::MAX;

/// How far a message is.
struct Progress {
    /// Links taken and links left so far.
    head: usize,
    tail: usize,
    /// When it requested the next link.
    asked: u64,
    /// The next message waiting for the same lane.
    next: MessageId,
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
pub(super) struct Turns {
    lanes: Vec<Lane>,
    messages: Messages<Progress>,
    /// Requests of this cycle.
    asking: Vec<(Key, MessageId)>,
    /// Lanes that may be granted.
    open: Vec<LaneId>,
}

impl Turns {
    pub(super) fn new(num_lanes: usize) -> Self {
        let lane = || Lane { holder: NOBODY, since: 0, first: NOBODY, last: NOBODY, load: Load::default() };
        Self {
            lanes: (0..num_lanes).map(|_| lane()).collect(),
            messages: Messages::new(),
            asking: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Records that a message requests its next lane in this cycle.
    fn asks(&mut self, id: MessageId) {
        self.asking.push((self.messages[id].sent.key, id));
    }

    /// Processes that the last flit of a worm leaves a link. Returns whether this was its last link.
    fn leaves(&mut self, id: MessageId, now: u64, calendar: &mut Calendar<Event>) -> bool {
        self.leave(id, now);
        let message = &self.messages[id];
        let has_arrived = message.state.tail == message.hops.len();
        if !has_arrived {
            calendar.add(now + message.hops[0].cycles, Event::Leaves(id));
        }
        has_arrived
    }

    /// Processes that a message has been transmitted over a link. Returns whether this was its last link.
    fn passed(&mut self, id: MessageId, now: u64) -> bool {
        self.leave(id, now);
        let message = &self.messages[id];
        let has_arrived = message.state.tail == message.hops.len();
        if !has_arrived {
            self.asks(id);
        }
        has_arrived
    }

    fn leave(&mut self, id: MessageId, now: u64) {
        let Message { hops, state, .. } = &mut self.messages[id];
        let lane = hops[state.tail].lane;
        state.tail += 1;
        let Lane { holder, since, load, .. } = &mut self.lanes[lane as usize];
        *holder = NOBODY;
        load.held += now - *since;
        self.open.push(lane);
    }

    fn enqueue(&mut self, id: MessageId, now: u64) {
        let Message { hops, state, .. } = &mut self.messages[id];
        (state.asked, state.next) = (now, NOBODY);
        let at = hops[state.head].lane;
        let lane = &mut self.lanes[at as usize];
        match std::mem::replace(&mut lane.last, id) {
            NOBODY => lane.first = id,
            last => self.messages[last].state.next = id,
        }
        self.open.push(at);
    }

    /// Grants a lane to the first waiting message.
    fn take(&mut self, at: LaneId, id: MessageId, now: u64, calendar: &mut Calendar<Event>) {
        let Message { sent, flow, hops, state } = &mut self.messages[id];
        let Hop { cycles, .. } = hops[state.head];
        state.head += 1;
        let lane = &mut self.lanes[at as usize];
        (lane.holder, lane.since, lane.first) = (id, now, state.next);
        if lane.first == NOBODY {
            lane.last = NOBODY;
        }
        let load = &mut lane.load;
        load.messages += 1;
        load.flits += sent.flits;
        load.busy += sent.flits * cycles;
        load.waited += now - state.asked;
        if *flow == Flow::StoreAndForward {
            calendar.add(now + sent.flits * cycles, Event::Passed(id));
            return;
        }
        let (flits, all) = (sent.flits, hops.len());
        if state.head as u64 > flits {
            self.leave(id, now);
        }
        let Progress { head, tail, .. } = self.messages[id].state;
        if head < all {
            calendar.add(now + cycles, Event::Asks(id));
        } else {
            let moves = tail as u64 + 1 + flits - all as u64;
            calendar.add(now + moves * cycles, Event::Leaves(id));
        }
    }
}

impl Network for Turns {
    fn send(
        &mut self,
        sent: Sent,
        _: &mut Calendar<Event>,
        route: impl FnOnce(&mut Vec<Hop>) -> Flow,
    ) -> bool {
        let state = Progress { head: 0, tail: 0, asked: sent.at, next: NOBODY };
        let id = self.messages.add(sent, state, route);
        id.into_iter().for_each(|id| self.asks(id));
        id.is_some()
    }

    fn happens(
        &mut self,
        event: Event,
        now: u64,
        calendar: &mut Calendar<Event>,
        arrived: &mut Vec<MessageId>,
    ) {
        match event {
            Event::Asks(id) => self.asks(id),
            Event::Leaves(id) => arrived.extend(self.leaves(id, now, calendar).then_some(id)),
            Event::Passed(id) => arrived.extend(self.passed(id, now).then_some(id)),
            Event::Done(_) | Event::Flows(_) | Event::Arrive(_) => {}
        }
    }

    fn give(&mut self, now: u64, calendar: &mut Calendar<Event>) {
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

    fn sent(&self, id: MessageId) -> Sent {
        self.messages[id].sent
    }

    fn time_alone(&self, id: MessageId) -> u64 {
        let Message { sent: Sent { flits, .. }, flow, hops, .. } = &self.messages[id];
        let cycles: u64 = hops.iter().map(|hop| hop.cycles).sum();
        match flow {
            Flow::StoreAndForward => flits * cycles,
            Flow::Wormhole => (flits - 1) * hops[0].cycles + cycles,
        }
    }

    fn forget(&mut self, id: MessageId) {
        self.messages.forget(id);
    }

    fn loads(&self) -> impl Iterator<Item = &Load> {
        self.lanes.iter().map(|lane| &lane.load)
    }

    fn circle(&self) -> Vec<(MessageId, LaneId)> {
        let waits = |id: MessageId| {
            let Message { hops, state, .. } = &self.messages[id];
            hops.get(state.head).map(|hop| hop.lane)
        };
        let mut is_seen = vec![false; self.messages.most()];
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
        let least = (0..circle.len()).min_by_key(|&index| self.sent(circle[index].0).key).unwrap_or(0);
        circle.rotate_left(least);
        circle
    }
}
