//! Links that messages share.
//!
//! All messages that pass a link pass it at the same time, and divide its time such that rates are max-min fair: no message
//! could be faster unless one that is not faster became slower. So does SimGrid model TCP, and so do lossless networks
//! with many short packets nearly behave. Rates change when a message starts or ends; between these times each
//! message moves at a constant rate over all its links at once.
//!
//! Rates are found by progressive filling (Bertsekas and Gallager 1992): the link with the smallest share for each of
//! its messages fixes their rate, and so on with what is left. O(hops · log links) at each change.
//!
//! D. Bertsekas and R. Gallager, *Data Networks*, second edition, Prentice Hall, 1992, section 6.5.2.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::calendar::Calendar;
use super::messages::{Event, Load, Message, MessageId, Messages, Network, Sent};
use crate::routing::{Flow, Hop, LaneId, Routing};

/// How far a message is.
#[derive(Clone, Copy)]
struct Progress {
    /// Flits that have not arrived yet.
    left: f64,
    /// Flits per cycle.
    rate: f64,
    /// When all will have arrived; never, until the rate is known.
    end: u64,
}

/// A link while messages pass it.
#[derive(Clone, Copy, Default)]
struct Link {
    load: Load,
    /// The share of its time that is not assigned yet.
    free: f64,
    /// Messages whose rate is not fixed yet, and how long it takes a flit of each of them.
    open: u32,
    cycles: u64,
    /// The first of its messages in the list of all, while rates are found.
    first: u32,
}

/// All links and all messages under way.
pub(super) struct Shares<'a> {
    routing: &'a Routing,
    /// By first lane.
    links: Vec<Link>,
    messages: Messages<Progress>,
    /// Cycles until the first flit arrives, for each cycle per flit of the route.
    latency: u64,
    /// Messages whose flits arrive, since when at their rates.
    flowing: Vec<MessageId>,
    since: u64,
    has_changed: bool,
    /// How often rates have been found.
    version: u64,
    /// The links in use, and the messages of one after the other.
    used: Vec<LaneId>,
    passing: Vec<MessageId>,
    /// Links by their share for a message, which may have grown since; shares are positive, so their bits are in order.
    heap: BinaryHeap<Reverse<(u64, LaneId)>>,
}

impl<'a> Shares<'a> {
    pub(super) fn new(routing: &'a Routing, latency: u64) -> Self {
        Self {
            routing,
            links: vec![Link::default(); routing.num_lanes()],
            messages: Messages::new(),
            latency,
            flowing: Vec::new(),
            since: 0,
            has_changed: false,
            version: 0,
            used: Vec::new(),
            passing: Vec::new(),
            heap: BinaryHeap::new(),
        }
    }

    fn latency_of(&self, hops: &[Hop]) -> u64 {
        self.latency * hops.iter().map(|hop| hop.cycles).sum::<u64>()
    }

    fn flows(&mut self, id: MessageId) {
        self.flowing.push(id);
        self.has_changed = true;
    }

    /// Takes the messages that have arrived off the links.
    fn arrive(&mut self, now: u64, arrived: &mut Vec<MessageId>) {
        let before = arrived.len();
        let Self { flowing, messages, links, .. } = self;
        flowing.retain(|&id| {
            let has_arrived = messages[id].state.end <= now;
            arrived.extend(has_arrived.then_some(id));
            !has_arrived
        });
        for &id in &arrived[before..] {
            let Message { sent, hops, .. } = &messages[id];
            for hop in hops {
                let load = &mut links[hop.lane as usize].load;
                load.messages += 1;
                load.flits += sent.flits;
                load.busy += sent.flits * hop.cycles;
            }
        }
        self.has_changed = true;
    }

    /// Moves all messages to the present.
    fn advance(&mut self, now: u64) {
        let cycles = now - self.since;
        self.since = now;
        for &link in &self.used {
            self.links[link as usize].load.held += cycles;
        }
        for &id in &self.flowing {
            let Progress { left, rate, .. } = &mut self.messages[id].state;
            *left = (*left - *rate * cycles as f64).max(0.0);
        }
    }

    /// Lists the links in use with their messages.
    fn list(&mut self) {
        let Self { links, messages, flowing, used, passing, .. } = self;
        used.drain(..).for_each(|link| links[link as usize].open = 0);
        for hop in flowing.iter().flat_map(|&id| &messages[id].hops) {
            let link = &mut links[hop.lane as usize];
            if link.open == 0 {
                used.push(hop.lane);
                (link.free, link.cycles) = (1.0, 0);
            }
            link.open += 1;
            link.cycles += hop.cycles;
        }
        let mut first = 0;
        for &link in used.iter() {
            first += links[link as usize].open;
            links[link as usize].first = first;
        }
        passing.resize(first as usize, 0);
        for &id in flowing.iter() {
            for hop in &messages[id].hops {
                let first = &mut links[hop.lane as usize].first;
                *first -= 1;
                passing[*first as usize] = id;
            }
        }
    }

    /// Finds the rate of each message.
    fn fill(&mut self) {
        self.list();
        let Self { links, messages, flowing, used, passing, heap, .. } = self;
        flowing.iter().for_each(|&id| messages[id].state.rate = 0.0);
        let share = |link: &Link| (link.free / link.cycles as f64).to_bits();
        heap.extend(used.iter().map(|&link| Reverse((share(&links[link as usize]), link))));
        // Rounding must not make a share smaller than those before it.
        let mut least = 0;
        while let Some(Reverse((bits, lane))) = heap.pop() {
            let Link { open, first, .. } = links[lane as usize];
            if open == 0 {
                continue;
            }
            let current = share(&links[lane as usize]).max(least);
            if current > bits.max(least) {
                heap.push(Reverse((current, lane)));
                continue;
            }
            least = current;
            let rate = f64::from_bits(current);
            let mut fixed = 0;
            for &id in &passing[first as usize..] {
                let Message { hops, state, .. } = &mut messages[id];
                if fixed == open {
                    break;
                }
                if state.rate > 0.0 {
                    continue;
                }
                fixed += 1;
                state.rate = rate;
                for hop in &*hops {
                    let link = &mut links[hop.lane as usize];
                    link.free = (link.free - rate * hop.cycles as f64).max(0.0);
                    link.open -= 1;
                    link.cycles -= hop.cycles;
                }
            }
        }
    }
}

impl Network for Shares<'_> {
    fn send(
        &mut self,
        sent: Sent,
        calendar: &mut Calendar<Event>,
        route: impl FnOnce(&mut Vec<Hop>) -> Flow,
    ) -> bool {
        let routing = self.routing;
        let whole = |hops: &mut Vec<Hop>| {
            let flow = route(hops);
            hops.iter_mut().for_each(|hop| hop.lane = routing.link_of(hop.lane));
            flow
        };
        let state = Progress { left: sent.flits as f64, rate: 0.0, end: u64::MAX };
        let Some(id) = self.messages.add(sent, state, whole) else { return false };
        match self.latency_of(&self.messages[id].hops) {
            0 => self.flows(id),
            latency => calendar.add(sent.at + latency, Event::Flows(id)),
        }
        true
    }

    fn happens(&mut self, event: Event, now: u64, _: &mut Calendar<Event>, arrived: &mut Vec<MessageId>) {
        match event {
            Event::Flows(id) => self.flows(id),
            Event::Arrive(version) if version == self.version => self.arrive(now, arrived),
            _ => {}
        }
    }

    fn give(&mut self, now: u64, calendar: &mut Calendar<Event>) {
        if !std::mem::take(&mut self.has_changed) {
            return;
        }
        self.advance(now);
        self.fill();
        self.version += 1;
        let mut next = u64::MAX;
        for &id in &self.flowing {
            let Progress { left, rate, end } = &mut self.messages[id].state;
            *end = now + ((*left / *rate - ROUNDING).ceil() as u64).max(1);
            next = next.min(*end);
        }
        if next < u64::MAX {
            calendar.add(next, Event::Arrive(self.version));
        }
    }

    fn sent(&self, id: MessageId) -> Sent {
        self.messages[id].sent
    }

    fn time_alone(&self, id: MessageId) -> u64 {
        let Message { sent, hops, .. } = &self.messages[id];
        let slowest = hops.iter().map(|hop| hop.cycles).max().unwrap_or(0);
        self.latency_of(hops) + sent.flits * slowest
    }

    fn forget(&mut self, id: MessageId) {
        self.messages.forget(id);
    }

    fn loads(&self) -> impl Iterator<Item = &Load> {
        self.links.iter().map(|link| &link.load)
    }

    fn circle(&self) -> Vec<(MessageId, LaneId)> {
        Vec::new()
    }
}

/// Cycles by which a message may arrive before its last flit, so that rounding does not cost it a whole cycle.
const ROUNDING: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;
    use viem::base::rng::Rng;
    use viem::machine::Grid;

    /// Max-min fair rates by the definition: all rates grow together, and each stops when one of its links is full.
    fn slow_rates(routes: &[Vec<Hop>]) -> Vec<f64> {
        let mut rates = vec![0.0; routes.len()];
        let mut is_fixed = vec![false; routes.len()];
        let lanes = |route: &[Hop]| route.iter().map(|hop| (hop.lane, hop.cycles)).collect::<Vec<_>>();
        while is_fixed.iter().any(|&is_fixed| !is_fixed) {
            let growth = |&(lane, cycles): &(LaneId, u64)| {
                let passing = (0..routes.len()).filter(|&at| routes[at].iter().any(|hop| hop.lane == lane));
                let used: f64 = passing.clone().map(|at| rates[at]).sum();
                (1.0 / cycles as f64 - used) / passing.filter(|&at| !is_fixed[at]).count() as f64
            };
            let open = (0..routes.len()).filter(|&at| !is_fixed[at]);
            let most: Vec<(usize, f64)> = open
                .map(|at| (at, lanes(&routes[at]).iter().map(growth).fold(f64::INFINITY, f64::min)))
                .collect();
            let least = most.iter().map(|&(_, most)| most).fold(f64::INFINITY, f64::min);
            for (at, most) in most {
                rates[at] += least;
                is_fixed[at] = most <= least * (1.0 + 1e-9);
            }
        }
        rates
    }

    #[test]
    fn rates_are_max_min_fair() {
        let mut rng = Rng::new(3);
        let routing = Routing::new(&Grid::mesh(&[9]).unwrap()).unwrap();
        for _ in 0..300 {
            let num_lanes = routing.num_lanes() as u32;
            let cycles: Vec<u64> = (0..num_lanes).map(|_| 1 + u64::from(rng.below(4))).collect();
            let mut shares = Shares::new(&routing, 0);
            let mut calendar = Calendar::new();
            let mut routes = Vec::new();
            for task in 0..1 + rng.below(20) {
                let mut lanes: Vec<LaneId> = (0..num_lanes).filter(|_| rng.below(5) == 0).collect();
                lanes.push(rng.below(num_lanes));
                lanes.sort_unstable();
                lanes.dedup();
                let route: Vec<Hop> =
                    lanes.iter().map(|&lane| Hop { lane, cycles: cycles[lane as usize] }).collect();
                let sent = Sent { key: (task, 0), channel: 0, flits: 1 + u64::from(rng.below(50)), at: 0 };
                let add = |hops: &mut Vec<Hop>| {
                    hops.extend(&route);
                    Flow::StoreAndForward
                };
                assert!(shares.send(sent, &mut calendar, add));
                routes.push(route);
            }
            shares.give(0, &mut calendar);
            for (id, rate) in (0..).zip(slow_rates(&routes)) {
                let found = shares.messages[id].state.rate;
                assert!((found - rate).abs() < 1e-9, "{found} {rate} of {routes:?}");
            }
        }
    }
}
