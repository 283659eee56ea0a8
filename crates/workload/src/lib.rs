//! Workloads: what each task computes, sends and receives, in order.
//!
//! A [`Workload`] is the description of a parallel program by Perego and De Petris (1994): tasks that compute
//! for a number of cycles, and send and receive messages of a number of flits (the smallest unit that a link
//! carries). Repetitions are our addition. Sends do not wait; a receive waits for the next message of its
//! sender.
//!
//! | member | purpose |
//! |---|---|
//! | [`WorkloadBuilder`] | builds a workload, instruction by instruction |
//! | [`Cursor`] | walks through the instructions of a task, repetitions unrolled |
//! | [`check`] | proves that every message sent is received, and that there is no deadlock |
//! | [`generate`] | workloads of regular and random patterns |
//! | [`contention`] | the load of each link of a machine, and mappings whose busiest link carries less |
//! | [`recorded`] | workloads of recorded jobs |
//!
//! # Guarantees
//!
//! A [`Workload`] is always consistent. Its tasks exist, the n-th message from one task to another is
//! received with the length with which it is sent, there is no deadlock, and all sums of cycles and flits fit
//! 64 bits with a margin ([`MOST_WORK`]). Sends do not wait, so a deadlock does not depend on times: it is
//! detected by running the workload once, O(instructions, repetitions unrolled).
//!
//! # Reference
//!
//! R. Perego and G. De Petris, *A new mapping heuristic for last generation multicomputers*, CNUCE C94-09,
//! 1994.
//!
//! # Design
//!
//! ```text
//!  text ─▶ workload ─────────────────────────┐
//!          (checked by running it once)      ├─▶ simulator: completion time, loads, timeline
//!  machine ─▶ interconnect ─▶ routing ───────┤
//!                                            └─▶ estimate F ◀── model: w, q, m, l, phases
//!                                                   ▲
//!  starts ─▶ local search on F, loads, time ────────┘
//! ```
//!
//! - *A machine declares what joins its PEs* (`machine::Interconnect`), and `workload/routing/` derives links and routes from it; nothing else
//!   asks what kind of machine it is. A route states how messages travel, as worms or hop by hop, so a torus of trees has both.
//! - *A worm moves as a whole or not at all.* So a message over d links takes 2 d events, whatever its length, and no flit is ever moved by
//!   itself. `tests/common/flits/` does move flits individually, and hundreds of random cases agree to the cycle.
//! - *Links are taken in turns or shared* (`workload/simulate/turns.rs`, `shares.rs`). Tasks, calendar and report know nothing of that: what
//!   carries messages is a `Network`. Shares are max-min fair, found anew whenever a message starts or ends; of all that is simulated so, the
//!   completion times of recorded jobs differ from SimGrid's by a few per cent.
//! - *What MPI does is said in the language that is there* (`workload/recorded.rs`). A rendezvous is two messages of one flit, so neither the
//!   simulator nor F knows of MPI.
//! - *Events of a cycle come in a fixed order*: arrivals, ends, starts, requests, grants. Of simultaneous requests, that of the lowest sender
//!   is first. The order of events in a list decides nothing.
//! - *When a task moves, interference classes are taken apart and rebuilt*: those of its channels and those that its new routes touch.
//!   Union-find cannot undo a union; a table of who passes each link in each phase shows which classes are touched. Sums are whole numbers in
//!   fractions of a cycle, so the result equals that from scratch.
//! - *Where a PE has several tasks, F departs from the paper*: while one task waits, the others work, so R is the work of all or the longest of
//!   them, not the sum of both. On random workloads with four tasks per PE the sum is off by 60 %, this by 2 %.
//! - *One table for F* (`workload/map/search.rs`). It may take 1 GiB, so the mapper has one estimate, into which one mapping after the other is
//!   loaded. Loading one scans the whole workload, so whether to stop is checked before each.
//! - *F underestimates congestion*: by equation 9 a delay hardly grows with the number of messages in a class. So local search also evens out
//!   the loads of links, and continues in the simulator where that is affordable. One local search (`workload/map/descent.rs`) serves all three
//!   measures.

pub mod check;
pub mod contention;
pub mod estimate;
pub mod generate;
pub mod map;
pub mod recorded;
pub mod routing;
pub mod simulate;
pub mod text;

pub use check::{WorkloadError, WorkloadFault};

use hashbrown::HashMap;

use viem::graph::{CsrGraph, GraphBuilder};
use viem::ground::types::{NodeId, Weight};

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

/// A consistent workload. Tasks and channels are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    tasks: Vec<Vec<Instruction>>,
    channels: Vec<Channel>,
    traffic: Vec<Traffic>,
    /// Cycles of computation of each task.
    work: Vec<u64>,
    num_instructions: u64,
}

impl Workload {
    /// Number of tasks.
    pub fn num_tasks(&self) -> usize {
        self.tasks.len()
    }

    /// The instructions of a task, repetitions not unrolled.
    pub fn instructions(&self, task: TaskId) -> &[Instruction] {
        &self.tasks[task as usize]
    }

    /// The ordered pairs of tasks that exchange messages, by sender.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The traffic of each channel.
    pub fn traffic(&self) -> &[Traffic] {
        &self.traffic
    }

    /// Cycles of computation of a task.
    pub fn work(&self, task: TaskId) -> u64 {
        self.work[task as usize]
    }

    /// Number of instructions of all tasks, repetitions unrolled, without their starts and ends.
    pub fn num_instructions(&self) -> u64 {
        self.num_instructions
    }

    /// Number of messages sent.
    pub fn num_messages(&self) -> u64 {
        self.traffic.iter().map(|traffic| traffic.messages).sum()
    }

    /// Number of flits sent.
    pub fn num_flits(&self) -> u64 {
        self.traffic.iter().map(|traffic| traffic.flits).sum()
    }

    /// The communication graph. Its vertices are the tasks, and the weight of an edge is the number of flits
    /// exchanged in both directions.
    pub fn graph(&self) -> CsrGraph {
        let mut pairs: Vec<(TaskId, TaskId, Weight)> = self
            .channels
            .iter()
            .zip(&self.traffic)
            .map(|(channel, traffic)| {
                let (u, v) = (channel.from.min(channel.to), channel.from.max(channel.to));
                (u, v, traffic.flits as Weight)
            })
            .collect();
        pairs.sort_unstable();
        pairs.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            if is_same {
                kept.2 += next.2;
            }
            is_same
        });
        let mut builder = GraphBuilder::new(self.num_tasks());
        for (u, v, weight) in pairs {
            builder.add_edge(u, v, weight);
        }
        builder.build().expect("pairs are different, and their weights are parts of a sum that fits")
    }

    /// The same workload with task `order[i]` renamed to `i`. Panics unless `order` contains each task once.
    pub fn renumbered(&self, order: &[TaskId]) -> Self {
        let mut number = vec![TaskId::MAX; self.num_tasks()];
        for (new, &old) in order.iter().enumerate() {
            number[old as usize] = new as TaskId;
        }
        assert!(
            order.len() == self.num_tasks() && !number.contains(&TaskId::MAX),
            "each task has one number"
        );
        let mut builder = WorkloadBuilder::new(self.num_tasks());
        for (new, &old) in order.iter().enumerate() {
            for &instruction in self.instructions(old) {
                let channel = |channel: u32| self.channels[channel as usize];
                match instruction {
                    Instruction::Compute(cycles) => builder.compute(new as TaskId, cycles),
                    Instruction::Send { channel: at, flits } => {
                        builder.send(new as TaskId, number[channel(at).to as usize], flits);
                    }
                    Instruction::Receive { channel: at, flits } => {
                        builder.receive(new as TaskId, number[channel(at).from as usize], flits);
                    }
                    Instruction::Repeat { times, .. } => builder.repeat(new as TaskId, times),
                    Instruction::End { .. } => builder.end(new as TaskId),
                }
            }
        }
        builder.build().expect("renumbering keeps a workload consistent")
    }

    /// One synchronous phase: each process sends to each neighbour as many flits as the weight of their edge,
    /// and then receives the same number from each. Fails if the weights exceed [`MOST_WORK`], with the
    /// heaviest edge.
    pub fn of_graph(graph: &CsrGraph) -> Result<Self, WorkloadError> {
        if graph.total_arc_weight() as u64 > MOST_WORK {
            let arcs = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| (weight, v, u)));
            let (weight, v, u) = arcs.max().unwrap_or_default();
            return Err(WorkloadError { task: u, index: 0, fault: WorkloadFault::TooHeavy { u, v, weight } });
        }
        let mut builder = WorkloadBuilder::new(graph.num_nodes());
        for task in graph.nodes() {
            for (other, weight) in graph.arcs(task) {
                builder.send(task, other, weight as u64);
            }
            for (other, weight) in graph.arcs(task) {
                builder.receive(task, other, weight as u64);
            }
        }
        builder.build()
    }
}

/// Builds a workload, instruction by instruction.
///
/// ```
/// use viem_workload::WorkloadBuilder;
///
/// let mut builder = WorkloadBuilder::new(2);
/// builder.compute(0, 100);
/// builder.send(0, 1, 16);
/// builder.receive(1, 0, 16);
/// let workload = builder.build()?;
/// assert_eq!((workload.num_messages(), workload.num_flits()), (1, 16));
/// # Ok::<(), viem_workload::WorkloadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct WorkloadBuilder {
    tasks: Vec<Vec<Instruction>>,
    channels: Vec<Channel>,
    numbers: HashMap<Channel, u32>,
    /// The starts of the repetitions that have not ended yet.
    open: Vec<Vec<u32>>,
}

impl WorkloadBuilder {
    /// A workload of `num_tasks` tasks that do nothing yet.
    pub fn new(num_tasks: usize) -> Self {
        Self {
            tasks: vec![Vec::new(); num_tasks],
            channels: Vec::new(),
            numbers: HashMap::new(),
            open: vec![Vec::new(); num_tasks],
        }
    }

    /// Number of instructions of a task so far.
    pub fn len(&self, task: TaskId) -> usize {
        self.tasks[task as usize].len()
    }

    /// Whether a task has no instructions so far.
    pub fn is_empty(&self, task: TaskId) -> bool {
        self.tasks[task as usize].is_empty()
    }

    /// Lets a task compute for a number of cycles. This and the following methods panic if there is no such
    /// task.
    pub fn compute(&mut self, task: TaskId, cycles: u64) {
        self.tasks[task as usize].push(Instruction::Compute(cycles));
    }

    /// Lets a task send a message.
    pub fn send(&mut self, task: TaskId, to: TaskId, flits: u64) {
        let channel = self.channel(Channel { from: task, to });
        self.tasks[task as usize].push(Instruction::Send { channel, flits });
    }

    /// Lets a task receive a message.
    pub fn receive(&mut self, task: TaskId, from: TaskId, flits: u64) {
        let channel = self.channel(Channel { from, to: task });
        self.tasks[task as usize].push(Instruction::Receive { channel, flits });
    }

    /// Begins a repetition of a task: the instructions up to its [`end`](Self::end) run `times` times.
    pub fn repeat(&mut self, task: TaskId, times: u64) {
        let begin = self.len(task) as u32;
        self.open[task as usize].push(begin);
        self.tasks[task as usize].push(Instruction::Repeat { times, end: u32::MAX });
    }

    /// Ends the innermost open repetition of a task; without one, [`build`](Self::build) fails.
    pub fn end(&mut self, task: TaskId) {
        let end = self.len(task) as u32;
        let begin = self.open[task as usize].pop().unwrap_or(u32::MAX);
        let instructions = &mut self.tasks[task as usize];
        if let Some(Instruction::Repeat { end: open, .. }) = instructions.get_mut(begin as usize) {
            *open = end;
        }
        instructions.push(Instruction::End { begin });
    }

    fn channel(&mut self, channel: Channel) -> u32 {
        *self.numbers.entry(channel).or_insert_with(|| {
            self.channels.push(channel);
            self.channels.len() as u32 - 1
        })
    }

    /// The workload, if it is consistent. O(instructions, repetitions unrolled).
    pub fn build(mut self) -> Result<Workload, WorkloadError> {
        check::form(&self.tasks, &self.channels)?;
        self.sort_channels();
        let run = check::run(&self.tasks, &self.channels)?;
        let check::Run { traffic, work, num_instructions } = run;
        Ok(Workload { tasks: self.tasks, channels: self.channels, traffic, work, num_instructions })
    }

    /// Numbers the channels by sender and receiver, whatever the order in which they were added.
    fn sort_channels(&mut self) {
        let mut order: Vec<u32> = (0..self.channels.len() as u32).collect();
        order.sort_unstable_by_key(|&channel| self.channels[channel as usize]);
        let mut number = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old as usize] = new as u32;
        }
        self.channels.sort_unstable();
        for instruction in self.tasks.iter_mut().flatten() {
            if let Instruction::Send { channel, .. } | Instruction::Receive { channel, .. } = instruction {
                *channel = number[*channel as usize];
            }
        }
    }
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
