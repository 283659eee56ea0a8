//! What tasks do, and between whom.

use viem::base::types::NodeId;

/// A task of a workload, numbered from 0. It is a process of the communication graph.
pub type TaskId = NodeId;

/// Upper limit on the instructions of a workload, repetitions unrolled; each pass over the start and the end
/// of a repetition counts too. Checking this many takes about a second.
pub const MOST_INSTRUCTIONS: u64 = 1 << 27;

/// Upper limit on the total cycles of computation of a workload, and on its total flits sent.
pub const MOST_WORK: u64 = 1 << 48;

/// One step of a task. Whoever runs a workload has to know every step, so a further one is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Computes for this number of cycles.
    Compute(u64),
    /// Sends a message over a channel of the workload.
    Send {
        /// The channel, from this task.
        channel: u32,
        /// Length of the message, at least 1.
        flits: u64,
    },
    /// Waits for the next message of a channel, and takes it.
    Receive {
        /// The channel, to this task.
        channel: u32,
        /// Length of the message, at least 1.
        flits: u64,
    },
    /// Begins a repetition.
    Repeat {
        /// How often it runs, at least once.
        times: u64,
        /// Index of its end among the instructions of the task.
        end: u32,
    },
    /// Ends the repetition that begins at this index.
    End {
        /// Index of its start.
        begin: u32,
    },
}

/// An ordered pair of tasks; the first sends to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Channel {
    /// The sender.
    pub from: TaskId,
    /// The receiver.
    pub to: TaskId,
}

/// The traffic of a channel during a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Number of messages.
    pub messages: u64,
    /// Their total length.
    pub flits: u64,
}

/// A position in the instructions of a task, repetitions unrolled.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    at: usize,
    /// How often each enclosing repetition still has to run after this time.
    left: Vec<u64>,
}

impl Cursor {
    /// The next instruction, or `None` once the task has ended. It is never the start or the end of a
    /// repetition.
    pub fn next(&mut self, instructions: &[Instruction]) -> Option<Instruction> {
        loop {
            match *instructions.get(self.at)? {
                Instruction::Repeat { times, .. } => {
                    self.left.push(times - 1);
                    self.at += 1;
                }
                Instruction::End { begin } => match self.left.last_mut() {
                    Some(left) if *left > 0 => {
                        *left -= 1;
                        self.at = begin as usize + 1;
                    }
                    _ => {
                        self.left.pop();
                        self.at += 1;
                    }
                },
                instruction => return Some(instruction),
            }
        }
    }

    /// Passes over the instruction that [`next`](Self::next) returned.
    pub fn advance(&mut self) {
        self.at += 1;
    }

    /// Index of the instruction that runs next, after [`next`](Self::next) has returned it.
    pub fn index(&self) -> usize {
        self.at
    }
}
