//! Whether a workload is consistent: found out by running it once, without regard to time.
//!
//! Sends do not wait, so a task continues until it needs a message that has not been sent. If all tasks end
//! and no message is left over, the workload is consistent on any machine with any mapping. The lengths of
//! messages under way are stored as runs of equal lengths, so a sender far ahead takes no memory.
//! O(instructions, repetitions unrolled).

use std::collections::VecDeque;

use crate::instruction::{Channel, Cursor, Instruction, MOST_INSTRUCTIONS, MOST_WORK, TaskId, Traffic};
use viem::base::error::{ErrorKind, HasKind};
use viem::base::text::counted;
use viem::base::types::Weight;

/// What is wrong with a workload, and at which instruction. Tasks and instructions are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{}{fault}", self.place())]
pub struct WorkloadError {
    /// The task.
    pub task: TaskId,
    /// Index among its instructions.
    pub index: usize,
    /// What is wrong there.
    pub fault: WorkloadFault,
}

impl HasKind for WorkloadError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::BadData
    }
}

impl WorkloadError {
    /// Where the fault is, for error messages; a graph has no instructions.
    fn place(&self) -> String {
        match self.fault {
            WorkloadFault::TooHeavy { .. } => String::new(),
            _ => format!("task {}, instruction {}: ", self.task, self.index),
        }
    }
}

/// What is wrong with an instruction. Tasks are numbered from 0, messages from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum WorkloadFault {
    #[error("there is no task {other}; the workload has {count}")]
    UnknownTask { other: TaskId, count: usize },
    #[error("task {task} exchanges a message with itself; remove the instruction")]
    WithItself { task: TaskId },
    #[error("a message must have at least 1 flit")]
    NoFlits,
    #[error("a repetition must run at least once and contain an instruction")]
    EmptyRepetition,
    #[error("a repetition begins here and never ends")]
    Open,
    #[error("a repetition ends here without having begun")]
    NotOpen,
    #[error(
        "the workload has more than {MOST_INSTRUCTIONS} instructions with repetitions unrolled, counting REPEAT and END"
    )]
    TooLong,
    #[error("the total cycles or the total flits of the workload exceed {MOST_WORK}; use a larger unit")]
    TooMuchWork,
    #[error(
        "the edges of the graph are too heavy to simulate: the edge of processes {u} and {v}, counted from 0, has weight \
         {weight}, and all weights in both directions may add up to at most {MOST_WORK}; use a larger unit"
    )]
    TooHeavy { u: TaskId, v: TaskId, weight: Weight },
    #[error(
        "message {message} from task {from} to task {to} has {sent} flits where it is sent and {received} where it is received"
    )]
    LengthsDiffer { message: u64, from: TaskId, to: TaskId, sent: u64, received: u64 },
    #[error(
        "task {from} sends {messages} to task {to}, which receives {received} of them",
        messages = counted(sent, "message", "messages")
    )]
    CountsDiffer { from: TaskId, to: TaskId, sent: u64, received: u64 },
    #[error("deadlock: {}", circle(tasks))]
    Deadlock { tasks: Vec<TaskId> },
}

/// Upper limit on the tasks named in a circle.
const MOST_NAMED: usize = 16;

/// Who waits for whom, for error messages.
fn circle(tasks: &[TaskId]) -> String {
    let first = tasks.first().copied().unwrap_or_default();
    let named = &tasks[..tasks.len().min(MOST_NAMED)];
    let ways: Vec<String> = named.iter().skip(1).map(|task| format!("task {task}")).collect();
    let others = match tasks.len() - named.len() {
        0 => String::new(),
        more => format!(", and so on by {more} others,"),
    };
    match ways.is_empty() {
        true => format!("task {first} waits for itself"),
        false => {
            let ways = ways.join(", which waits for ");
            format!("task {first} waits for {ways}{others} which waits for task {first}")
        }
    }
}

/// The result of a run.
pub(super) struct Run {
    /// The traffic of each channel.
    pub traffic: Vec<Traffic>,
    /// Cycles that each task computes.
    pub work: Vec<u64>,
    /// Instructions run, not counting the start and end of repetitions.
    pub num_instructions: u64,
}

/// Checks each instruction by itself, and the number of all instructions, unrolled.
pub(super) fn form(tasks: &[Vec<Instruction>], channels: &[Channel]) -> Result<(), WorkloadError> {
    let (count, mut length) = (tasks.len(), 0);
    for (task, instructions) in tasks.iter().enumerate() {
        let task = task as TaskId;
        let check = |instruction: &Instruction| match *instruction {
            Instruction::Compute(_) => None,
            Instruction::Send { channel, flits } | Instruction::Receive { channel, flits } => {
                let Channel { from, to } = channels[channel as usize];
                let other = from.max(to);
                let fault = |is_fault: bool, fault| is_fault.then_some(fault);
                fault(other as usize >= count, WorkloadFault::UnknownTask { other, count })
                    .or(fault(from == to, WorkloadFault::WithItself { task }))
                    .or(fault(flits == 0, WorkloadFault::NoFlits))
            }
            Instruction::Repeat { end: u32::MAX, .. } => Some(WorkloadFault::Open),
            Instruction::Repeat { times: 0, .. } => Some(WorkloadFault::EmptyRepetition),
            Instruction::Repeat { .. } => None,
            Instruction::End { begin: u32::MAX } => Some(WorkloadFault::NotOpen),
            Instruction::End { .. } => None,
        };
        for (index, instruction) in instructions.iter().enumerate() {
            if let Some(fault) = check(instruction).or_else(|| empty(instructions, index)) {
                return Err(WorkloadError { task, index, fault });
            }
        }
        let too_long = |index| WorkloadError { task, index, fault: WorkloadFault::TooLong };
        length = length_after(length, instructions).map_err(too_long)?;
    }
    Ok(())
}

/// A repetition must have something to repeat.
fn empty(instructions: &[Instruction], index: usize) -> Option<WorkloadFault> {
    match instructions[index] {
        Instruction::Repeat { end, .. } if end as usize == index + 1 => Some(WorkloadFault::EmptyRepetition),
        _ => None,
    }
}

/// The number of instructions of one task plus `before`, or the instruction at which they become too many.
/// The start and end of a repetition count each time they are passed, since otherwise a run of little else
/// would take forever.
fn length_after(before: u64, instructions: &[Instruction]) -> Result<u64, usize> {
    // For each enclosing repetition, the instructions run in one pass, and the number of passes.
    let mut counts: Vec<(u64, u64)> = vec![(before, 1)];
    for (index, instruction) in instructions.iter().enumerate() {
        let passed = match instruction {
            Instruction::End { .. } => counts.pop().map_or(0, |(count, times)| count.saturating_mul(times)),
            _ => 1,
        };
        let Some((count, _)) = counts.last_mut() else { continue };
        *count = count.saturating_add(passed);
        if *count > MOST_INSTRUCTIONS {
            return Err(index);
        }
        if let &Instruction::Repeat { times, .. } = instruction {
            // Its end is passed each time.
            counts.push((1, times));
        }
    }
    Ok(counts.first().map_or(before, |&(count, _)| count))
}

/// Messages of a channel that were sent and not yet received: lengths, each with the number of consecutive
/// messages.
#[derive(Default)]
struct UnderWay {
    runs: VecDeque<(u64, u64)>,
    sent: u64,
    received: u64,
    /// True if the receiver waits.
    is_awaited: bool,
}

impl UnderWay {
    fn send(&mut self, flits: u64) {
        self.sent += 1;
        match self.runs.back_mut() {
            Some((length, count)) if *length == flits => *count += 1,
            _ => self.runs.push_back((flits, 1)),
        }
    }

    /// The length of the next message, if there is one.
    fn receive(&mut self) -> Option<u64> {
        let (length, count) = self.runs.front_mut()?;
        let length = *length;
        *count -= 1;
        if *count == 0 {
            self.runs.pop_front();
        }
        self.received += 1;
        Some(length)
    }
}

/// Runs a workload whose instructions are valid one by one, and not too many.
pub(super) fn run(tasks: &[Vec<Instruction>], channels: &[Channel]) -> Result<Run, WorkloadError> {
    let mut running = Running {
        tasks,
        channels,
        cursors: vec![Cursor::default(); tasks.len()],
        under_way: channels.iter().map(|_| UnderWay::default()).collect(),
        result: Run {
            traffic: vec![Traffic::default(); channels.len()],
            work: vec![0; tasks.len()],
            num_instructions: 0,
        },
        all_work: 0,
        all_flits: 0,
    };
    let mut ready: Vec<TaskId> = (0..tasks.len() as TaskId).rev().collect();
    while let Some(task) = ready.pop() {
        running.go_on(task, &mut ready)?;
    }
    running.check_end()?;
    Ok(running.result)
}

struct Running<'a> {
    tasks: &'a [Vec<Instruction>],
    channels: &'a [Channel],
    cursors: Vec<Cursor>,
    under_way: Vec<UnderWay>,
    result: Run,
    all_work: u64,
    all_flits: u64,
}

impl Running<'_> {
    /// Runs a task until it ends or waits; tasks that waited for its messages become ready.
    fn go_on(&mut self, task: TaskId, ready: &mut Vec<TaskId>) -> Result<(), WorkloadError> {
        let instructions = &self.tasks[task as usize];
        while let Some(instruction) = self.cursors[task as usize].next(instructions) {
            let index = self.cursors[task as usize].index();
            let fault = match instruction {
                Instruction::Compute(cycles) => self.compute(task, cycles),
                Instruction::Send { channel, flits } => self.send(channel, flits, ready),
                Instruction::Receive { channel, flits } => {
                    let Some(sent) = self.under_way[channel as usize].receive() else {
                        self.under_way[channel as usize].is_awaited = true;
                        return Ok(());
                    };
                    self.compare(channel, sent, flits)
                }
                Instruction::Repeat { .. } | Instruction::End { .. } => Ok(()),
            };
            self.result.num_instructions += 1;
            fault.map_err(|fault| WorkloadError { task, index, fault })?;
            self.cursors[task as usize].advance();
        }
        Ok(())
    }

    fn compute(&mut self, task: TaskId, cycles: u64) -> Result<(), WorkloadFault> {
        self.all_work = self.all_work.saturating_add(cycles);
        if self.all_work > MOST_WORK {
            return Err(WorkloadFault::TooMuchWork);
        }
        self.result.work[task as usize] += cycles;
        Ok(())
    }

    fn send(&mut self, channel: u32, flits: u64, ready: &mut Vec<TaskId>) -> Result<(), WorkloadFault> {
        self.all_flits = self.all_flits.saturating_add(flits);
        if self.all_flits > MOST_WORK {
            return Err(WorkloadFault::TooMuchWork);
        }
        let traffic = &mut self.result.traffic[channel as usize];
        traffic.messages += 1;
        traffic.flits += flits;
        let under_way = &mut self.under_way[channel as usize];
        under_way.send(flits);
        if std::mem::take(&mut under_way.is_awaited) {
            ready.push(self.channels[channel as usize].to);
        }
        Ok(())
    }

    fn compare(&self, channel: u32, sent: u64, received: u64) -> Result<(), WorkloadFault> {
        if sent == received {
            return Ok(());
        }
        let Channel { from, to } = self.channels[channel as usize];
        let message = self.under_way[channel as usize].received;
        Err(WorkloadFault::LengthsDiffer { message, from, to, sent, received })
    }

    /// Checks that all tasks have ended and that no message is left over.
    fn check_end(&mut self) -> Result<(), WorkloadError> {
        if let Some(task) = (0..self.tasks.len() as TaskId).find(|&task| self.waits_for(task).is_some()) {
            return Err(self.deadlock(task));
        }
        let left = self.under_way.iter().position(|under_way| under_way.sent > under_way.received);
        left.map_or(Ok(()), |channel| Err(self.counts_differ(channel as u32)))
    }

    /// The channel over which a task waits for a message, if it does.
    fn waits_for(&mut self, task: TaskId) -> Option<u32> {
        match self.cursors[task as usize].next(&self.tasks[task as usize])? {
            Instruction::Receive { channel, .. } => Some(channel),
            _ => None,
        }
    }

    /// The reason why a task waits forever: for a task that has ended, or in a circle.
    fn deadlock(&mut self, task: TaskId) -> WorkloadError {
        let mut is_seen = vec![false; self.tasks.len()];
        let mut chain: Vec<TaskId> = Vec::new();
        let mut at = task;
        while !std::mem::replace(&mut is_seen[at as usize], true) {
            chain.push(at);
            let channel = self.waits_for(at).expect("a task of the chain waits");
            at = self.channels[channel as usize].from;
            if self.waits_for(at).is_none() {
                return self.counts_differ(channel);
            }
        }
        let begin = chain.iter().position(|&member| member == at).unwrap_or(0);
        let mut tasks = chain.split_off(begin);
        // The circle is reported from its first task on, wherever the chain entered it.
        let least = (0..tasks.len()).min_by_key(|&index| tasks[index]).unwrap_or(0);
        tasks.rotate_left(least);
        let task = tasks[0];
        WorkloadError {
            task,
            index: self.cursors[task as usize].index(),
            fault: WorkloadFault::Deadlock { tasks },
        }
    }

    /// The fault of a channel with different numbers of messages sent and received, at the first extra
    /// instruction.
    fn counts_differ(&mut self, channel: u32) -> WorkloadError {
        let Channel { from, to } = self.channels[channel as usize];
        let count = |task: TaskId| {
            let (mut cursor, mut count, mut first) = (Cursor::default(), 0, 0);
            let instructions = &self.tasks[task as usize];
            while let Some(instruction) = cursor.next(instructions) {
                let own = match instruction {
                    Instruction::Send { channel, .. } | Instruction::Receive { channel, .. } => channel,
                    _ => u32::MAX,
                };
                if own == channel {
                    first = if count == 0 { cursor.index() } else { first };
                    count += 1;
                }
                cursor.advance();
            }
            (count, first)
        };
        let ((sent, sends), (received, receives)) = (count(from), count(to));
        let (task, index) = if sent > received { (from, sends) } else { (to, receives) };
        WorkloadError { task, index, fault: WorkloadFault::CountsDiffer { from, to, sent, received } }
    }
}

#[cfg(test)]
mod tests {
    use super::super::WorkloadBuilder;
    use super::*;

    fn fault(build: impl FnOnce(&mut WorkloadBuilder)) -> WorkloadError {
        let mut builder = WorkloadBuilder::new(3);
        build(&mut builder);
        builder.build().unwrap_err()
    }

    #[test]
    fn circular_waits_are_named() {
        let error = fault(|builder| {
            for task in 0..3 {
                builder.compute(task, 5);
                builder.receive(task, (task + 2) % 3, 4);
                builder.send(task, (task + 1) % 3, 4);
            }
        });
        assert_eq!(
            error,
            WorkloadError { task: 0, index: 1, fault: WorkloadFault::Deadlock { tasks: vec![0, 2, 1] } }
        );
        let text = "deadlock: task 0 waits for task 2, which waits for task 1 which waits for task 0";
        assert!(error.to_string().ends_with(text), "{error}");
    }

    #[test]
    fn counts_and_lengths_must_agree() {
        let error = fault(|builder| {
            builder.repeat(0, 3);
            builder.send(0, 1, 4);
            builder.end(0);
            builder.receive(1, 0, 4);
        });
        let fault_of_counts = WorkloadFault::CountsDiffer { from: 0, to: 1, sent: 3, received: 1 };
        assert_eq!(error, WorkloadError { task: 0, index: 1, fault: fault_of_counts });
        let error = fault(|builder| {
            builder.send(0, 1, 4);
            builder.receive(1, 0, 4);
            builder.receive(1, 0, 4);
        });
        let fault_of_counts = WorkloadFault::CountsDiffer { from: 0, to: 1, sent: 1, received: 2 };
        assert_eq!(error, WorkloadError { task: 1, index: 0, fault: fault_of_counts });
        let error = fault(|builder| {
            builder.send(0, 1, 4);
            builder.send(0, 1, 5);
            builder.receive(1, 0, 4);
            builder.receive(1, 0, 4);
        });
        let differ = WorkloadFault::LengthsDiffer { message: 2, from: 0, to: 1, sent: 5, received: 4 };
        assert_eq!(error, WorkloadError { task: 1, index: 1, fault: differ });
    }

    #[test]
    fn instructions_are_checked_individually() {
        let at = |index, fault| WorkloadError { task: 0, index, fault };
        assert_eq!(
            fault(|builder| builder.send(0, 3, 1)),
            at(0, WorkloadFault::UnknownTask { other: 3, count: 3 })
        );
        assert_eq!(fault(|builder| builder.send(0, 0, 1)), at(0, WorkloadFault::WithItself { task: 0 }));
        assert_eq!(fault(|builder| builder.send(0, 1, 0)), at(0, WorkloadFault::NoFlits));
        assert_eq!(fault(|builder| builder.repeat(0, 2)), at(0, WorkloadFault::Open));
        assert_eq!(fault(|builder| builder.end(0)), at(0, WorkloadFault::NotOpen));
        let nothing = |builder: &mut WorkloadBuilder| {
            builder.repeat(0, 1 << 40);
            builder.end(0);
        };
        assert_eq!(fault(nothing), at(0, WorkloadFault::EmptyRepetition));
        let long = |builder: &mut WorkloadBuilder| {
            for _ in 0..3 {
                builder.repeat(0, 1 << 40);
            }
            builder.compute(0, 0);
            for _ in 0..3 {
                builder.end(0);
            }
        };
        assert_eq!(fault(long), at(4, WorkloadFault::TooLong));
        let deep = |builder: &mut WorkloadBuilder| {
            builder.repeat(0, 1 << 20);
            (0..64).for_each(|_| builder.repeat(0, 1));
            builder.compute(0, 0);
            (0..65).for_each(|_| builder.end(0));
        };
        assert_eq!(fault(deep), at(130, WorkloadFault::TooLong));
        let of_all = |builder: &mut WorkloadBuilder| {
            for task in 0..3 {
                builder.repeat(task, MOST_INSTRUCTIONS / 4 - 1);
                builder.compute(task, 0);
                builder.end(task);
            }
        };
        assert_eq!(fault(of_all), WorkloadError { task: 2, index: 2, fault: WorkloadFault::TooLong });
        let much = |builder: &mut WorkloadBuilder| {
            builder.compute(0, u64::MAX);
            builder.compute(0, 1);
        };
        assert_eq!(fault(much), at(0, WorkloadFault::TooMuchWork));
    }
}
