//! The estimate of a mapping, kept up to date as tasks move.

use crate::TaskId;
use crate::estimate::{EstimateError, PARTS, WorkloadModel};
use crate::routing::{Flow, Hop, Routing};
use viem::base::types::PeId;

const NOBODY: u32 = u32::MAX;

/// Upper limit on the entries of the table of links and phases.
const MOST_ENTRIES: usize = 1 << 28;

/// A channel in a phase.
#[derive(Clone, Copy, Debug)]
struct Slot {
    channel: u32,
    phase: u32,
    /// Towards the representative of its class.
    parent: u32,
    /// The next of its class, in a ring.
    next: u32,
    /// For a representative: the number of members, and the sum of the times they hold a link.
    count: u32,
    sum: i64,
    /// Contention counted so far, in parts of a cycle.
    delay: i64,
}

/// The route of a channel, and its cost.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    /// How long one of its messages holds its slowest link, in parts of a cycle.
    hold: i64,
    /// Distance, or minus the saving inside a PE, in parts of a cycle.
    extra: i64,
    /// True if a message uses links.
    is_remote: bool,
}

/// F and its parts for a mapping of some or all tasks.
#[derive(Clone, Debug)]
pub struct Estimate<'a> {
    model: &'a WorkloadModel,
    routing: &'a Routing,
    pe_of: Vec<PeId>,
    ways: Vec<Way>,
    slots: Vec<Slot>,
    /// The slots of each channel.
    slots_of: Vec<Vec<u32>>,
    /// A slot that uses each lane in each phase.
    owner: Vec<u32>,
    num_lanes: usize,
    /// The time of each task by itself, in parts of a cycle.
    own: Vec<i64>,
    /// The tasks on each PE.
    tasks_on: Vec<Vec<TaskId>>,
    /// R of each PE, in parts of a cycle, and their sum.
    times: Vec<i64>,
    sum: i64,
    /// PEs whose R has to be computed again.
    changed: Vec<PeId>,
    /// Slots whose classes were dissolved, and a mark for each.
    apart: Vec<u32>,
    is_apart: Vec<bool>,
    hops: Vec<Hop>,
    work: u64,
}

/// The PE of a task that has none.
pub const NOWHERE: PeId = PeId::MAX;

impl<'a> Estimate<'a> {
    /// The estimate before any task has a PE.
    pub fn new(model: &'a WorkloadModel, routing: &'a Routing) -> Result<Self, EstimateError> {
        check(model, routing)?;
        let num_lanes = routing.num_lanes();
        let phases = model.phases.len();
        let entries = num_lanes.checked_mul(phases).filter(|&entries| entries <= MOST_ENTRIES);
        let entries = entries.ok_or(EstimateError::TooLarge { phases, lanes: num_lanes })?;
        let owner = viem::base::memory::filled(entries, NOBODY);
        let owner = owner.map_err(|_| EstimateError::TooLarge { phases, lanes: num_lanes })?;
        let (mut slots, mut slots_of) = (Vec::new(), vec![Vec::new(); model.channels.len()]);
        for (phase, members) in model.phases.iter().enumerate() {
            for &channel in &members.channels {
                let own = slots.len() as u32;
                slots_of[channel as usize].push(own);
                slots.push(Slot {
                    channel,
                    phase: phase as u32,
                    parent: own,
                    next: own,
                    count: 1,
                    sum: 0,
                    delay: 0,
                });
            }
        }
        Ok(Self {
            model,
            routing,
            pe_of: vec![NOWHERE; model.num_tasks()],
            ways: vec![Way::default(); model.channels.len()],
            is_apart: vec![false; slots.len()],
            slots,
            slots_of,
            owner,
            num_lanes,
            own: alone(model).collect(),
            tasks_on: vec![Vec::new(); routing.num_pes()],
            times: vec![0; routing.num_pes()],
            sum: 0,
            changed: Vec::new(),
            apart: Vec::new(),
            hops: Vec::new(),
            work: 0,
        })
    }

    /// The estimate of a mapping. Panics if the mapping has another number of tasks.
    pub fn of(model: &'a WorkloadModel, routing: &'a Routing, pe_of: &[PeId]) -> Result<Self, EstimateError> {
        let mut estimate = Self::new(model, routing)?;
        estimate.place_first(pe_of);
        Ok(estimate)
    }

    /// Places all tasks as in a new estimate of that mapping, reusing the memory. Panics if the mapping has
    /// another number of tasks.
    pub fn place_all(&mut self, pe_of: &[PeId]) {
        self.reset();
        self.place_first(pe_of);
    }

    /// Places all tasks; none may have a PE.
    fn place_first(&mut self, pe_of: &[PeId]) {
        assert_eq!(pe_of.len(), self.model.num_tasks());
        for (task, &pe) in pe_of.iter().enumerate() {
            self.settle(task as TaskId, pe);
        }
        self.apart.extend(0..self.slots.len() as u32);
        for channel in 0..self.model.channels.len() {
            self.lead(channel as u32);
        }
        self.build();
    }

    /// Removes all tasks from their PEs, as in a new estimate, reusing the memory.
    pub fn reset(&mut self) {
        // Clearing lane by lane would be slower: a large table has few entries per lane used in a phase.
        self.owner.fill(NOBODY);
        for (own, slot) in (0..).zip(&mut self.slots) {
            (slot.parent, slot.next, slot.count, slot.sum, slot.delay) = (own, own, 1, 0, 0);
        }
        self.pe_of.fill(NOWHERE);
        self.ways.fill(Way::default());
        self.own.clear();
        self.own.extend(alone(self.model));
        self.tasks_on.iter_mut().for_each(Vec::clear);
        self.times.fill(0);
        (self.sum, self.work) = (0, 0);
    }

    /// The PE of each task; [`NOWHERE`] for tasks without one.
    pub fn pe_of(&self) -> &[PeId] {
        &self.pe_of
    }

    /// F in parts of a cycle ([`PARTS`]): the greatest R.
    pub fn parts(&self) -> i64 {
        self.times.iter().copied().max().unwrap_or(0)
    }

    /// F in cycles.
    pub fn cycles(&self) -> f64 {
        self.parts() as f64 / PARTS as f64
    }

    /// Channels of phases visited since tasks were last placed or removed all at once: a measure of the work
    /// done.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// The sum of R over all PEs, in parts of a cycle.
    pub fn sum(&self) -> i64 {
        self.sum
    }

    /// R of each PE, in parts of a cycle.
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// Moves a task to a PE, or to [`NOWHERE`].
    pub fn place(&mut self, task: TaskId, pe: PeId) {
        let model = self.model;
        let channels = model.channels_of(task);
        for &channel in channels {
            for index in 0..self.slots_of[channel as usize].len() {
                self.take_apart(self.slots_of[channel as usize][index]);
            }
        }
        for index in 0..self.apart.len() {
            self.clear(self.apart[index]);
        }
        for &channel in channels {
            self.add_extra(channel, -1);
        }
        self.settle(task, pe);
        for &channel in channels {
            self.lead(channel);
            self.meet(channel);
        }
        self.build();
    }

    /// Puts a task on a PE.
    fn settle(&mut self, task: TaskId, pe: PeId) {
        let before = std::mem::replace(&mut self.pe_of[task as usize], pe);
        if before != NOWHERE {
            self.tasks_on[before as usize].retain(|&other| other != task);
            self.changed.push(before);
        }
        if pe != NOWHERE {
            self.tasks_on[pe as usize].push(task);
            self.changed.push(pe);
        }
    }

    /// Increases the time of a task.
    fn add(&mut self, task: TaskId, parts: i64) {
        let pe = self.pe_of[task as usize];
        self.own[task as usize] += parts;
        if pe != NOWHERE && parts != 0 {
            self.changed.push(pe);
        }
    }

    /// Recomputes R of the PEs where something has changed. A PE runs all its tasks one after another; it
    /// takes at least as long as each of them, since others run while one waits.
    fn refresh(&mut self) {
        while let Some(pe) = self.changed.pop() {
            let tasks = &self.tasks_on[pe as usize];
            let work: u64 = tasks.iter().map(|&task| self.model.work[task as usize]).sum();
            let longest = tasks.iter().map(|&task| self.own[task as usize]).max().unwrap_or(0);
            let time = longest.max(work as i64 * PARTS);
            let before = std::mem::replace(&mut self.times[pe as usize], time);
            self.sum += time - before;
        }
    }

    /// The route of a channel, if both ends have PEs and these differ.
    fn route(&mut self, channel: u32) -> Option<Flow> {
        let ends = &self.model.channels[channel as usize];
        let (from, to) = (self.pe_of[ends.from as usize], self.pe_of[ends.to as usize]);
        self.hops.clear();
        if from == NOWHERE || to == NOWHERE || from == to {
            return None;
        }
        Some(self.routing.route(from, to, &mut self.hops)).filter(|_| !self.hops.is_empty())
    }

    /// Finds the current route of a channel, and adds its cost.
    fn lead(&mut self, channel: u32) {
        let flow = self.route(channel);
        let model = &self.model.channels[channel as usize];
        let (messages, flits) = (model.messages as i64, model.flits as i64);
        let all: i64 = self.hops.iter().map(|hop| hop.cycles as i64).sum();
        let slowest = self.hops.iter().map(|hop| hop.cycles as i64).max().unwrap_or(0);
        let time = match flow {
            Some(Flow::Wormhole) => slowest * (flits - messages) + all * messages,
            Some(Flow::StoreAndForward) => flits * all,
            None => 0,
        };
        let is_local = flow.is_none() && self.has_places(channel);
        self.ways[channel as usize] = Way {
            hold: if flow.is_some() { flits * PARTS / messages.max(1) * slowest } else { 0 },
            extra: match flow {
                Some(_) => (time - flits) * PARTS,
                None if is_local => -(flits.min(model.waiting as i64) * PARTS),
                None => 0,
            },
            is_remote: flow.is_some(),
        };
        self.add_extra(channel, 1);
    }

    fn has_places(&self, channel: u32) -> bool {
        let ends = &self.model.channels[channel as usize];
        self.pe_of[ends.from as usize] != NOWHERE && self.pe_of[ends.to as usize] != NOWHERE
    }

    fn add_extra(&mut self, channel: u32, sign: i64) {
        let extra = self.ways[channel as usize].extra;
        self.add(self.model.channels[channel as usize].to, sign * extra);
    }

    /// Dissolves the class of a slot and subtracts its contention.
    fn take_apart(&mut self, slot: u32) {
        let mut at = slot;
        while !std::mem::replace(&mut self.is_apart[at as usize], true) {
            self.apart.push(at);
            let Slot { channel, phase, delay, next, .. } = self.slots[at as usize];
            self.count_delay(channel, phase, -delay);
            at = next;
        }
    }

    fn count_delay(&mut self, channel: u32, phase: u32, delay: i64) {
        let to = self.model.channels[channel as usize].to;
        self.add(to, delay * self.model.phases[phase as usize].times as i64);
    }

    fn entry(&self, phase: u32, hop: Hop) -> usize {
        phase as usize * self.num_lanes + hop.lane as usize
    }

    /// Releases the lanes of a slot on the current route of its channel.
    fn clear(&mut self, slot: u32) {
        let Slot { channel, phase, .. } = self.slots[slot as usize];
        self.route(channel);
        for index in 0..self.hops.len() {
            let entry = self.entry(phase, self.hops[index]);
            self.owner[entry] = NOBODY;
        }
    }

    /// Dissolves the classes that share a lane with the current route of a channel.
    fn meet(&mut self, channel: u32) {
        self.route(channel);
        for slot in 0..self.slots_of[channel as usize].len() {
            let phase = self.slots[self.slots_of[channel as usize][slot] as usize].phase;
            for index in 0..self.hops.len() {
                let owner = self.owner[self.entry(phase, self.hops[index])];
                if owner != NOBODY {
                    self.take_apart(owner);
                }
            }
        }
    }

    /// Rebuilds the classes of the dissolved slots, and adds their contention.
    fn build(&mut self) {
        self.work += self.apart.len() as u64 + 1;
        for index in 0..self.apart.len() {
            let own = self.apart[index];
            let hold = self.ways[self.slots[own as usize].channel as usize].hold;
            let slot = &mut self.slots[own as usize];
            (slot.parent, slot.next, slot.count, slot.sum, slot.delay) = (own, own, 1, hold, 0);
        }
        for index in 0..self.apart.len() {
            let own = self.apart[index];
            let Slot { channel, phase, .. } = self.slots[own as usize];
            self.route(channel);
            for hop in 0..self.hops.len() {
                let entry = self.entry(phase, self.hops[hop]);
                match self.owner[entry] {
                    NOBODY => self.owner[entry] = own,
                    other => self.unite(own, other),
                }
            }
        }
        let apart = std::mem::take(&mut self.apart);
        for &own in &apart {
            let Slot { channel, phase, .. } = self.slots[own as usize];
            let way = self.ways[channel as usize];
            if way.is_remote {
                let root = self.find(own);
                let Slot { count, sum, .. } = self.slots[root as usize];
                let delay = (sum - way.hold) / (2 * i64::from(count));
                self.slots[own as usize].delay = delay;
                self.count_delay(channel, phase, delay);
            }
            self.is_apart[own as usize] = false;
        }
        self.apart = apart;
        self.apart.clear();
        self.refresh();
    }

    fn find(&mut self, mut slot: u32) -> u32 {
        while self.slots[slot as usize].parent != slot {
            // Path halving.
            let above = self.slots[self.slots[slot as usize].parent as usize].parent;
            self.slots[slot as usize].parent = above;
            slot = above;
        }
        slot
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let (large, small) =
            if self.slots[a as usize].count >= self.slots[b as usize].count { (a, b) } else { (b, a) };
        let Slot { count, sum, next, .. } = self.slots[small as usize];
        let root = &mut self.slots[large as usize];
        (root.count, root.sum) = (root.count + count, root.sum + sum);
        let after = std::mem::replace(&mut root.next, next);
        self.slots[small as usize].next = after;
        self.slots[small as usize].parent = large;
    }
}

/// The time of each task without distances and contention, in parts of a cycle.
fn alone(model: &WorkloadModel) -> impl Iterator<Item = i64> + '_ {
    model.work.iter().zip(&model.waiting).map(|(work, waiting)| (work + waiting) as i64 * PARTS)
}

/// Checks that no sum exceeds 62 bits.
fn check(model: &WorkloadModel, routing: &Routing) -> Result<(), EstimateError> {
    let (hops, cycles) = routing.longest();
    let sum = |value: &dyn Fn(&super::ChannelModel) -> u64| -> u128 {
        model.channels.iter().map(|channel| u128::from(value(channel))).sum()
    };
    let (flits, messages) = (sum(&|channel| channel.flits), sum(&|channel| channel.messages));
    let ways = (flits + messages).saturating_mul(u128::from(hops)).saturating_mul(cycles.into());
    // Each channel of a phase adds the sum of its class divided by the number of members, so a class is
    // counted once.
    let times: u128 = model.phases.iter().map(|phase| u128::from(phase.times)).sum();
    let contention = flits.saturating_mul(cycles.into()).saturating_mul(times);
    let work: u128 = model.work.iter().chain(&model.waiting).map(|&time| u128::from(time)).sum();
    let all = ways.saturating_add(contention).saturating_add(work).saturating_mul(PARTS as u128);
    if all > 1 << 62 { Err(EstimateError::TooLong) } else { Ok(()) }
}
