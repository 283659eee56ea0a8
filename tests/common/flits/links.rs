//! The movement of messages over links, cycle by cycle.

use viem_workload::routing::Flow;

use super::MessageKey;

/// A message that leaves its PE.
pub struct Message {
    pub key: MessageKey,
    pub channel: u32,
    /// When it was sent.
    pub sent: u64,
    pub flits: u64,
    /// Its links, each with the cycles of the whole message.
    pub route: Vec<(usize, u64)>,
}

/// A message that travels flit by flit.
struct Worm {
    message: Message,
    /// The position of each flit: 0 at the sender, k in the buffer of link k, greater than the number of
    /// links once it is consumed.
    at: Vec<usize>,
}

impl Worm {
    /// The link that the first flit needs next; `None` if it has arrived.
    fn wanted(&self) -> Option<usize> {
        Some(self.message.route.get(self.at[0])?.0)
    }

    fn last(&self) -> usize {
        *self.at.last().expect("a flit")
    }

    fn is_consumed(&self) -> bool {
        self.last() > self.message.route.len()
    }

    /// The link that the last flit leaves if the worm moves.
    fn left(&self) -> Option<usize> {
        let passed = self.last().checked_sub(1)?;
        Some(self.message.route[passed].0)
    }
}

/// A message that is transmitted link by link.
struct Packet {
    message: Message,
    /// The number of links passed, and the remaining cycles on the next one, once it is granted.
    passed: usize,
    left: Option<u64>,
}

impl Packet {
    /// The link that it waits for.
    fn wanted(&self) -> Option<usize> {
        let &(link, _) = self.message.route.get(self.passed)?;
        self.left.is_none().then_some(link)
    }
}

/// The links, and the messages under way.
pub struct Links {
    worms: Vec<Worm>,
    packets: Vec<Packet>,
    /// By link: its holder, the requests with their times, and the owner of the flit in its buffer.
    owner: Vec<Option<MessageKey>>,
    queue: Vec<Vec<(u64, MessageKey)>>,
    buffer: Vec<Option<MessageKey>>,
    /// Flits that have passed each link.
    pub passed: Vec<u64>,
    /// For each message that has arrived, when it was sent and when it arrived.
    pub flights: Vec<(MessageKey, u64, u64)>,
}

impl Links {
    pub fn new(num_links: usize) -> Self {
        Self {
            worms: Vec::new(),
            packets: Vec::new(),
            owner: vec![None; num_links],
            queue: vec![Vec::new(); num_links],
            buffer: vec![None; num_links],
            passed: vec![0; num_links],
            flights: Vec::new(),
        }
    }

    pub fn send(&mut self, message: Message, flow: Flow) {
        match flow {
            Flow::Wormhole => self.worms.push(Worm { at: vec![0; message.flits as usize], message }),
            Flow::StoreAndForward => self.packets.push(Packet { message, passed: 0, left: None }),
        }
    }

    /// The channels of the messages that have arrived since the last call, by key.
    pub fn arrive(&mut self, now: u64) -> Vec<u32> {
        let worms = self.worms.iter().filter(|worm| worm.last() >= worm.message.route.len());
        let packets = self.packets.iter().filter(|packet| packet.passed == packet.message.route.len());
        let there = worms.map(|worm| &worm.message).chain(packets.map(|packet| &packet.message));
        let is_known = |key| self.flights.iter().any(|flight| flight.0 == key);
        let mut new: Vec<&Message> = there.filter(|message| !is_known(message.key)).collect();
        new.sort_by_key(|message| message.key);
        self.flights.extend(new.iter().map(|message| (message.key, message.sent, now)));
        new.iter().map(|message| message.channel).collect()
    }

    /// Moves everything that can move.
    pub fn step(&mut self, now: u64) {
        self.ask(now);
        let moving = self.moving();
        moving.iter().for_each(|&worm| self.advance(worm));
        moving.iter().for_each(|&worm| self.take(worm));
        self.start_packets();
        self.pass_packets();
    }

    /// Adds the new requests for links.
    fn ask(&mut self, now: u64) {
        let worms = self.worms.iter().map(|worm| (worm.message.key, worm.wanted()));
        let packets = self.packets.iter().map(|packet| (packet.message.key, packet.wanted()));
        for (key, wanted) in worms.chain(packets) {
            let Some(link) = wanted else { continue };
            if self.queue[link].iter().all(|&(_, asked)| asked != key) {
                self.queue[link].push((now, key));
            }
        }
        self.queue.iter_mut().for_each(|queue| queue.sort_unstable());
    }

    /// The worms that move in this cycle: those that nothing blocks, then those that can use the freed
    /// buffers, and so on.
    fn moving(&self) -> Vec<usize> {
        let mut moving = Vec::new();
        while let Some(next) =
            (0..self.worms.len()).find(|worm| !moving.contains(worm) && self.can_move(*worm, &moving))
        {
            moving.push(next);
        }
        moving
    }

    /// Returns whether a worm can move if these worms move.
    fn can_move(&self, worm: usize, moving: &[usize]) -> bool {
        let worm = &self.worms[worm];
        let Some(link) = worm.wanted() else { return !worm.is_consumed() };
        let is_first = self.queue[link].first().is_some_and(|&(_, key)| key == worm.message.key);
        let is_left_by = |key| {
            moving
                .iter()
                .map(|&other| &self.worms[other])
                .any(|other| other.message.key == key && other.left() == Some(link))
        };
        is_first && self.owner[link].is_none_or(is_left_by)
    }

    /// Moves the flits of a worm, from the first to the first one still at the sender.
    fn advance(&mut self, worm: usize) {
        let Worm { message: Message { key, route, .. }, at } = &mut self.worms[worm];
        if let Some(&(link, _)) = route.get(at[0]) {
            self.queue[link].remove(0);
            self.owner[link] = Some(*key);
        }
        let last = at.len() - 1;
        for flit in 0..=last {
            let here = at[flit];
            if here > route.len() {
                continue;
            }
            // Flits move into the buffer that the previous one has left, or are consumed after the last one.
            if flit > 0 && here + 2 != at[flit - 1] && here + 1 != at[flit - 1] {
                break;
            }
            if let Some(&(link, _)) = route.get(here) {
                assert!(self.buffer[link].is_none(), "a buffer holds one flit");
                self.buffer[link] = Some(*key);
                self.passed[link] += 1;
            }
            at[flit] += 1;
            let Some(passed) = here.checked_sub(1) else { break };
            let (left, _) = route[passed];
            assert_eq!(self.buffer[left].take(), Some(*key));
            if flit == last {
                self.owner[left] = None;
            }
        }
    }

    /// A worm holds the links that its flits have entered; a worm that leaves a link in the same cycle may
    /// release it afterwards.
    fn take(&mut self, worm: usize) {
        let Worm { message, at } = &self.worms[worm];
        for &(link, _) in at.iter().filter_map(|&at| message.route.get(at.checked_sub(1)?)) {
            self.owner[link] = Some(message.key);
        }
    }

    /// Free links are granted to the packets that have requested them first.
    fn start_packets(&mut self) {
        for link in 0..self.queue.len() {
            let Some(&(_, key)) = self.queue[link].first().filter(|_| self.owner[link].is_none()) else {
                continue;
            };
            let Some(packet) = self.packets.iter_mut().find(|packet| packet.message.key == key) else {
                continue;
            };
            self.queue[link].remove(0);
            self.owner[link] = Some(key);
            packet.left = Some(packet.message.route[packet.passed].1);
            self.passed[link] += packet.message.flits;
        }
    }

    /// Advances the packets that are on a link by one cycle.
    fn pass_packets(&mut self) {
        for packet in &mut self.packets {
            let Some(left) = &mut packet.left else { continue };
            *left -= 1;
            if *left == 0 {
                let (link, _) = packet.message.route[packet.passed];
                self.owner[link] = None;
                packet.left = None;
                packet.passed += 1;
            }
        }
    }
}
