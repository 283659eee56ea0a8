//! The quantities of a workload that the estimate needs (section 3.2 of the paper). They are found by running
//! the workload with all messages between neighbours and without contention.
//!
//! The times of that run do not depend on the order in which tasks are processed, so it needs no events: a
//! task continues until it needs a message that has not been sent. O(instructions, repetitions unrolled, +
//! messages log messages).

use std::collections::VecDeque;

use hashbrown::HashMap;

use crate::estimate::{EstimateError, MOST_MESSAGES};
use crate::simulate::Costs;
use crate::{Channel, Cursor, Instruction, TaskId, Workload};

/// Two messages are in the same phase if they are under way together for more than this share of the time of
/// the shorter one.
const TOGETHER: f64 = 0.5;

/// A workload in figures.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkloadModel {
    /// w: cycles that each task is busy, SEND and RECEIVE included.
    pub work: Vec<u64>,
    /// q: cycles that each task waits for messages.
    pub waiting: Vec<u64>,
    /// The traffic of each channel of the workload.
    pub channels: Vec<ChannelModel>,
    /// Which channels are in use together.
    pub phases: Vec<ChannelPhase>,
    /// The end of the last task in the run without distances and contention.
    pub completion_time: u64,
    /// The channels that end at each task, then those that start there.
    of_task: Vec<Vec<u32>>,
}

/// The traffic of a channel. Sums are over a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChannelModel {
    /// The sending task.
    pub from: TaskId,
    /// The receiving task.
    pub to: TaskId,
    /// m: number of messages.
    pub messages: u64,
    /// m times l: their total number of flits.
    pub flits: u64,
    /// q: cycles for which the receiver waits for them.
    pub waiting: u64,
}

/// Channels whose messages are under way at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChannelPhase {
    /// The channels, ascending.
    pub channels: Vec<u32>,
    /// How often these channels are in use together.
    pub times: u64,
}

impl WorkloadModel {
    /// The quantities of a workload where SEND and RECEIVE take these times.
    pub fn new(workload: &Workload, costs: Costs) -> Result<Self, EstimateError> {
        let count = workload.num_messages();
        if count > MOST_MESSAGES {
            return Err(EstimateError::TooManyMessages { count });
        }
        let mut run = Run::new(workload, costs);
        let mut ready: Vec<TaskId> = (0..workload.num_tasks() as TaskId).rev().collect();
        while let Some(task) = ready.pop() {
            run.go_on(task, &mut ready);
        }
        let Run { clock, waiting, waited, mut sent, .. } = run;
        let mut channels = Vec::new();
        let mut of_task: Vec<Vec<u32>> = vec![Vec::new(); workload.num_tasks()];
        for (index, (&Channel { from, to }, traffic)) in
            workload.channels().iter().zip(workload.traffic()).enumerate()
        {
            let (messages, flits) = (traffic.messages, traffic.flits);
            channels.push(ChannelModel { from, to, messages, flits, waiting: waited[index] });
            of_task[to as usize].push(index as u32);
        }
        for (index, channel) in channels.iter().enumerate() {
            of_task[channel.from as usize].push(index as u32);
        }
        let work = clock.iter().zip(&waiting).map(|(clock, waiting)| clock - waiting).collect();
        sent.sort_unstable();
        let completion_time = clock.iter().copied().max().unwrap_or(0);
        Ok(Self { work, waiting, channels, phases: phases(&sent), completion_time, of_task })
    }

    /// Number of tasks.
    pub fn num_tasks(&self) -> usize {
        self.work.len()
    }

    /// The channels that start or end at a task.
    pub fn channels_of(&self, task: TaskId) -> &[u32] {
        &self.of_task[task as usize]
    }
}

/// A message of the run: send time, channel, length.
type Sent = (u64, u32, u64);

/// The run without distances and contention.
struct Run<'a> {
    workload: &'a Workload,
    costs: Costs,
    cursors: Vec<Cursor>,
    clock: Vec<u64>,
    /// Cycles for which each task has waited, and for each channel the cycles waited for it.
    waiting: Vec<u64>,
    waited: Vec<u64>,
    /// For each channel, the arrival times of messages not received yet, and the time until which it is in
    /// use.
    arrivals: Vec<VecDeque<u64>>,
    in_use: Vec<u64>,
    is_awaited: Vec<bool>,
    sent: Vec<Sent>,
}

impl<'a> Run<'a> {
    fn new(workload: &'a Workload, costs: Costs) -> Self {
        let (tasks, channels) = (workload.num_tasks(), workload.channels().len());
        Self {
            workload,
            costs,
            cursors: vec![Cursor::default(); tasks],
            clock: vec![0; tasks],
            waiting: vec![0; tasks],
            waited: vec![0; channels],
            arrivals: vec![VecDeque::new(); channels],
            in_use: vec![0; channels],
            is_awaited: vec![false; channels],
            sent: Vec::new(),
        }
    }

    /// Runs a task until it ends or waits for a message that was not sent; tasks that waited for its messages
    /// become ready.
    fn go_on(&mut self, task: TaskId, ready: &mut Vec<TaskId>) {
        let own = task as usize;
        while let Some(instruction) = self.cursors[own].next(self.workload.instructions(task)) {
            let time = self.costs.of(instruction);
            match instruction {
                Instruction::Send { channel, flits } => {
                    self.clock[own] += time;
                    let at = channel as usize;
                    let begin = self.clock[own].max(self.in_use[at]);
                    self.in_use[at] = begin + flits;
                    self.arrivals[at].push_back(begin + flits);
                    self.sent.push((begin, channel, flits));
                    if std::mem::take(&mut self.is_awaited[at]) {
                        ready.push(self.workload.channels()[at].to);
                    }
                }
                Instruction::Receive { channel, .. } => {
                    let at = channel as usize;
                    let Some(arrival) = self.arrivals[at].pop_front() else {
                        self.is_awaited[at] = true;
                        return;
                    };
                    let wait = arrival.saturating_sub(self.clock[own]);
                    self.waiting[own] += wait;
                    self.waited[at] += wait;
                    self.clock[own] += wait + time;
                }
                _ => self.clock[own] += time,
            }
            self.cursors[own].advance();
        }
    }
}

/// Divides messages, in the order of their send times, into phases. A phase has a first message and all
/// messages that are under way together with it for long enough. Phases with the same channels are merged and
/// counted.
fn phases(sent: &[Sent]) -> Vec<ChannelPhase> {
    let mut phases: Vec<ChannelPhase> = Vec::new();
    let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut first = 0;
    while first < sent.len() {
        let (begin, _, flits) = sent[first];
        let end = begin + flits;
        let is_together = |&(at, _, length): &Sent| {
            let overlap = end.min(at + length).saturating_sub(at) as f64;
            overlap > TOGETHER * flits.min(length) as f64
        };
        // Later messages overlap less, so the members are consecutive.
        let count = 1 + sent[first + 1..].iter().take_while(|message| is_together(message)).count();
        let mut channels: Vec<u32> =
            sent[first..first + count].iter().map(|&(_, channel, _)| channel).collect();
        channels.sort_unstable();
        channels.dedup();
        match known.get(&channels) {
            Some(&phase) => phases[phase].times += 1,
            None => {
                known.insert(channels.clone(), phases.len());
                phases.push(ChannelPhase { channels, times: 1 });
            }
        }
        first += count;
    }
    phases
}
