//! Tasks on PEs.
//!
//! A PE runs one instruction at a time. Its ready tasks wait in a queue: the first one runs an instruction
//! and goes to the end. A task that needs a message that has not arrived leaves the queue; it returns to the
//! end of the queue when the message arrives.

use std::collections::VecDeque;

use super::config::Costs;
use super::report::{Activity, PeTime, Span};
use crate::{Cursor, Instruction, TaskId, Workload};
use viem::base::types::PeId;

struct Task {
    cursor: Cursor,
    /// The channel for whose next message it waits.
    waits: Option<u32>,
    /// Messages sent so far.
    sent: u64,
}

struct Pe {
    ready: VecDeque<TaskId>,
    /// The running instruction, its task, and its start time.
    running: Option<(TaskId, Instruction, u64)>,
    unfinished: usize,
    busy: u64,
    /// When its last task ended.
    end: u64,
}

/// A message that a task sends.
pub(super) struct Outgoing {
    pub task: TaskId,
    pub channel: u32,
    pub flits: u64,
    /// Number of messages it has sent before.
    pub number: u64,
}

/// All tasks and PEs.
pub(super) struct Tasks<'a> {
    workload: &'a Workload,
    pe_of: &'a [PeId],
    costs: Costs,
    tasks: Vec<Task>,
    pes: Vec<Pe>,
    /// Messages of each channel that have arrived and were not received yet.
    arrived: Vec<u64>,
    /// Instructions that have ended, if a timeline is wanted.
    spans: Option<Vec<Span>>,
    num_steps: usize,
}

impl<'a> Tasks<'a> {
    pub(super) fn new(
        workload: &'a Workload,
        pe_of: &'a [PeId],
        num_pes: usize,
        costs: Costs,
        is_told: bool,
    ) -> Self {
        let task = || Task { cursor: Cursor::default(), waits: None, sent: 0 };
        let pe = || Pe { ready: VecDeque::new(), running: None, unfinished: 0, busy: 0, end: 0 };
        let mut pes: Vec<Pe> = (0..num_pes).map(|_| pe()).collect();
        for (task, &pe) in pe_of.iter().enumerate() {
            pes[pe as usize].ready.push_back(task as TaskId);
            pes[pe as usize].unfinished += 1;
        }
        Self {
            workload,
            pe_of,
            costs,
            tasks: pe_of.iter().map(|_| task()).collect(),
            pes,
            arrived: vec![0; workload.channels().len()],
            spans: is_told.then(Vec::new),
            num_steps: 0,
        }
    }

    /// Number of instructions begun so far.
    pub(super) fn num_steps(&self) -> usize {
        self.num_steps
    }

    /// Processes the arrival of a message. Returns the PE that may be able to begin an instruction.
    pub(super) fn arrives(&mut self, channel: u32) -> Option<PeId> {
        self.arrived[channel as usize] += 1;
        let to = self.workload.channels()[channel as usize].to;
        let task = &mut self.tasks[to as usize];
        task.waits.take_if(|waits| *waits == channel)?;
        let pe = self.pe_of[to as usize];
        self.pes[pe as usize].ready.push_back(to);
        Some(pe)
    }

    /// Ends the running instruction of a PE. Returns the message it sent, if any.
    pub(super) fn ends(&mut self, pe: PeId, now: u64) -> Option<Outgoing> {
        let (task, instruction, begin) = self.pes[pe as usize].running.take()?;
        self.complete(pe, task, instruction, begin, now)
    }

    /// Begins instructions on a PE. Returns the end time, or a message that is sent at once; call it again in
    /// that case.
    pub(super) fn begins(&mut self, pe: PeId, now: u64) -> Begun {
        let own = &mut self.pes[pe as usize];
        if own.running.is_some() {
            return Begun::Nothing;
        }
        let Some(task) = own.ready.pop_front() else { return Begun::Nothing };
        self.num_steps += 1;
        let state = &mut self.tasks[task as usize];
        let Some(instruction) = state.cursor.next(self.workload.instructions(task)) else {
            own.unfinished -= 1;
            own.end = now;
            return Begun::AtOnce(None);
        };
        if let Instruction::Receive { channel, .. } = instruction {
            if self.arrived[channel as usize] == 0 {
                state.waits = Some(channel);
                return Begun::AtOnce(None);
            }
            self.arrived[channel as usize] -= 1;
        }
        let time = self.costs.of(instruction);
        own.busy += time;
        if time == 0 {
            return Begun::AtOnce(self.complete(pe, task, instruction, now, now));
        }
        own.running = Some((task, instruction, now));
        Begun::Until(now + time)
    }

    /// Completes an instruction and moves its task to the end of the queue.
    fn complete(
        &mut self,
        pe: PeId,
        task: TaskId,
        instruction: Instruction,
        begin: u64,
        end: u64,
    ) -> Option<Outgoing> {
        let state = &mut self.tasks[task as usize];
        state.cursor.advance();
        self.pes[pe as usize].ready.push_back(task);
        let (activity, outgoing) = match instruction {
            Instruction::Send { channel, flits } => {
                state.sent += 1;
                (Activity::Send, Some(Outgoing { task, channel, flits, number: state.sent - 1 }))
            }
            Instruction::Receive { .. } => (Activity::Receive, None),
            _ => (Activity::Compute, None),
        };
        if let Some(spans) = self.spans.as_mut().filter(|_| end > begin) {
            spans.push(Span { pe, task, activity, begin, end });
        }
        outgoing
    }

    /// Returns whether all tasks have ended.
    pub(super) fn have_ended(&self) -> bool {
        self.pes.iter().all(|pe| pe.unfinished == 0)
    }

    /// When the last task ended.
    pub(super) fn completion_time(&self) -> u64 {
        self.pes.iter().map(|pe| pe.end).max().unwrap_or(0)
    }

    /// The time of each PE by what it did.
    pub(super) fn times(&self) -> Vec<PeTime> {
        let all = self.completion_time();
        let time = |pe: &Pe| PeTime { busy: pe.busy, blocked: pe.end - pe.busy, idle: all - pe.end };
        self.pes.iter().map(time).collect()
    }

    /// The timeline, if one is wanted.
    pub(super) fn into_spans(self) -> Option<Vec<Span>> {
        self.spans
    }
}

/// What a PE begins.
pub(super) enum Begun {
    /// Nothing: it is busy, or none of its tasks is ready.
    Nothing,
    /// An instruction that took no time.
    AtOnce(Option<Outgoing>),
    /// An instruction that ends at this time.
    Until(u64),
}
