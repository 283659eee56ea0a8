//! A workload, and how one is built.

use hashbrown::HashMap;

use crate::check::{self, WorkloadError, WorkloadFault};
use crate::instruction::{Channel, Instruction, MOST_WORK, TaskId, Traffic};
use viem::base::types::Weight;
use viem::graph::{CsrGraph, GraphBuilder};

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

    /// Returns whether a task has no instructions so far.
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
