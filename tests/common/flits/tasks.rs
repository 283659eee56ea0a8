//! The activity of PEs, cycle by cycle.

use std::collections::VecDeque;

use viem_workload::routing::{Flow, Routing};
use viem_workload::simulate::Costs;
use viem_workload::{Instruction, Workload};

use super::links::{Links, Message};

/// The tasks of a workload on the PEs of a machine.
pub struct Tasks<'a> {
    workload: &'a Workload,
    routing: &'a Routing,
    pe_of: &'a [u32],
    costs: Costs,
    /// By task: its instructions, the index of the next one, messages sent, and the channel it waits for.
    code: Vec<Vec<Instruction>>,
    next: Vec<usize>,
    sent: Vec<u64>,
    waits: Vec<Option<u32>>,
    /// By channel: messages that have arrived and are not received yet.
    there: Vec<u64>,
    /// By PE: ready tasks, the running task and its end time, and the number of tasks that have not ended.
    ready: Vec<VecDeque<usize>>,
    running: Vec<Option<(usize, u64)>>,
    alive: Vec<usize>,
    /// By PE: busy cycles, and the end of its last task.
    pub busy: Vec<u64>,
    pub ends: Vec<u64>,
}

impl<'a> Tasks<'a> {
    pub fn new(workload: &'a Workload, routing: &'a Routing, pe_of: &'a [u32], costs: Costs) -> Self {
        let code: Vec<_> =
            (0..workload.num_tasks() as u32).map(|task| unrolled(workload.instructions(task))).collect();
        let num_pes = routing.num_pes();
        let mut ready = vec![VecDeque::new(); num_pes];
        pe_of.iter().enumerate().for_each(|(task, &pe)| ready[pe as usize].push_back(task));
        Self {
            next: vec![0; code.len()],
            sent: vec![0; code.len()],
            waits: vec![None; code.len()],
            there: vec![0; workload.channels().len()],
            running: vec![None; num_pes],
            alive: ready.iter().map(VecDeque::len).collect(),
            busy: vec![0; num_pes],
            ends: vec![0; num_pes],
            workload,
            routing,
            pe_of,
            costs,
            code,
            ready,
        }
    }

    pub fn have_ended(&self) -> bool {
        self.alive.iter().all(|&alive| alive == 0)
    }

    /// Delivers a message of the channel.
    pub fn deliver(&mut self, channel: u32) {
        self.there[channel as usize] += 1;
        let to = self.receiver(channel);
        if self.waits[to] == Some(channel) {
            self.waits[to] = None;
            self.ready[self.pe_of[to] as usize].push_back(to);
        }
    }

    /// Ends and begins instructions of a PE at this time.
    pub fn run(&mut self, pe: usize, now: u64, links: &mut Links) {
        if let Some((task, _)) = self.running[pe].filter(|&(_, end)| end == now) {
            self.running[pe] = None;
            self.complete(task, now, links);
        }
        while self.running[pe].is_none() {
            let Some(task) = self.ready[pe].pop_front() else { return };
            if self.next[task] == self.code[task].len() {
                self.alive[pe] -= 1;
                self.ends[pe] = now;
                continue;
            }
            match self.begin(task) {
                None => {}
                Some(0) => self.complete(task, now, links),
                Some(cycles) => {
                    self.busy[pe] += cycles;
                    self.running[pe] = Some((task, now + cycles));
                }
            }
        }
    }

    /// The cycles of the next instruction; `None` if the task has to wait.
    fn begin(&mut self, task: usize) -> Option<u64> {
        let instruction = self.code[task][self.next[task]];
        if let Instruction::Receive { channel, .. } = instruction {
            let there = &mut self.there[channel as usize];
            if *there == 0 {
                self.waits[task] = Some(channel);
                return None;
            }
            *there -= 1;
        }
        Some(match instruction {
            Instruction::Compute(cycles) => cycles,
            Instruction::Send { .. } => self.costs.send,
            Instruction::Receive { .. } => self.costs.receive,
            Instruction::Repeat { .. } | Instruction::End { .. } => unreachable!("repetitions are unrolled"),
        })
    }

    /// Completes an instruction: the task returns to the queue, and its message leaves.
    fn complete(&mut self, task: usize, now: u64, links: &mut Links) {
        let instruction = self.code[task][self.next[task]];
        self.next[task] += 1;
        let pe = self.pe_of[task];
        self.ready[pe as usize].push_back(task);
        let Instruction::Send { channel, flits } = instruction else { return };
        let key = (task as u32, self.sent[task]);
        self.sent[task] += 1;
        let to = self.pe_of[self.receiver(channel)];
        let mut hops = Vec::new();
        let flow = if to == pe { Flow::StoreAndForward } else { self.routing.route(pe, to, &mut hops) };
        if hops.is_empty() {
            return self.deliver(channel);
        }
        let route = hops.iter().map(|hop| (hop.lane as usize, flits * hop.cycles)).collect();
        links.send(Message { key, channel, sent: now, flits, route }, flow);
    }

    fn receiver(&self, channel: u32) -> usize {
        self.workload.channels()[channel as usize].to as usize
    }
}

/// The instructions of a task, repetitions unrolled.
fn unrolled(instructions: &[Instruction]) -> Vec<Instruction> {
    let mut out = Vec::new();
    unroll(instructions, &mut 0, &mut out);
    out
}

/// Unrolls up to the first END after `at` without its REPEAT, or to the end.
fn unroll(instructions: &[Instruction], at: &mut usize, out: &mut Vec<Instruction>) {
    while *at < instructions.len() {
        match instructions[*at] {
            Instruction::Repeat { times, .. } => {
                let begin = *at + 1;
                for _ in 0..times {
                    *at = begin;
                    unroll(instructions, at, out);
                }
            }
            Instruction::End { .. } => return,
            other => out.push(other),
        }
        *at += 1;
    }
}
