//! A slow simulator that moves flits cycle by cycle, as unlike the library's as can be.

use std::collections::VecDeque;

use viem::program::{Instruction, Program};
use viem::routing::{Flow, Routing};
use viem::simulate::Costs;

/// What the slow simulator tells.
#[derive(Debug, PartialEq, Eq)]
pub struct SlowRun {
    pub completion_time: u64,
    /// Busy cycles of each PE.
    pub busy: Vec<u64>,
    /// When each PE has nothing more to do.
    pub ends: Vec<u64>,
    /// Flits that passed each link.
    pub flits: Vec<u64>,
    /// When each message was sent and arrived, by sending task and number.
    pub flights: Vec<((u32, u64), u64, u64)>,
}

struct Worm {
    key: (u32, u64),
    channel: u32,
    lanes: Vec<(usize, u64)>,
    is_worm: bool,
    sent: u64,
    /// Where each flit is: 0 at the sender, k in the buffer behind link k, more than all links once it is consumed.
    flits: Vec<usize>,
    /// Of a message that travels as a whole: the link it is on or waits for, and the cycles it still needs on it.
    stage: usize,
    left: Option<u64>,
}

/// The instructions of a task, repetitions unrolled.
fn unrolled(instructions: &[Instruction]) -> Vec<Instruction> {
    fn go(instructions: &[Instruction], at: &mut usize, out: &mut Vec<Instruction>) {
        while *at < instructions.len() {
            match instructions[*at] {
                Instruction::Repeat { times, .. } => {
                    let begin = *at + 1;
                    for _ in 0..times {
                        *at = begin;
                        go(instructions, at, out);
                    }
                    *at += 1;
                }
                Instruction::End { .. } => return,
                other => {
                    out.push(other);
                    *at += 1;
                }
            }
        }
    }
    let mut out = Vec::new();
    go(instructions, &mut 0, &mut out);
    out
}

/// Runs a program, cycle by cycle, for at most `limit` of them; nothing if it has not ended by then.
pub fn slow_run(
    program: &Program,
    routing: &Routing,
    pe_of: &[u32],
    costs: Costs,
    limit: u64,
) -> Option<SlowRun> {
    let code: Vec<Vec<Instruction>> =
        (0..program.num_tasks() as u32).map(|task| unrolled(program.instructions(task))).collect();
    let num_pes = routing.num_pes();
    let mut at = vec![0usize; code.len()];
    let mut sends = vec![0u64; code.len()];
    let mut waits = vec![None::<u32>; code.len()];
    let mut arrived = vec![0u64; program.channels().len()];
    let mut ready: Vec<VecDeque<usize>> = vec![VecDeque::new(); num_pes];
    let mut alive = vec![0usize; num_pes];
    for (task, &pe) in pe_of.iter().enumerate() {
        ready[pe as usize].push_back(task);
        alive[pe as usize] += 1;
    }
    let mut running = vec![None::<(usize, u64)>; num_pes];
    let mut result = SlowRun {
        completion_time: 0,
        busy: vec![0; num_pes],
        ends: vec![0; num_pes],
        flits: vec![0; routing.num_lanes()],
        flights: Vec::new(),
    };
    let mut worms: Vec<Worm> = Vec::new();
    let mut buffer = vec![None::<(u32, u64)>; routing.num_lanes()];
    let mut owner = vec![None::<(u32, u64)>; routing.num_lanes()];
    let mut queue: Vec<Vec<(u64, (u32, u64))>> = vec![Vec::new(); routing.num_lanes()];
    for now in 0..limit {
        // Messages that have arrived by now.
        let mut there: Vec<usize> = (0..worms.len())
            .filter(|&worm| {
                let Worm { is_worm, lanes, flits, stage, .. } = &worms[worm];
                if *is_worm { *flits.last().unwrap() >= lanes.len() } else { *stage == lanes.len() }
            })
            .filter(|&worm| !result.flights.iter().any(|flight| flight.0 == worms[worm].key))
            .collect();
        there.sort_by_key(|&worm| worms[worm].key);
        for worm in there {
            let Worm { key, channel, sent, .. } = worms[worm];
            result.flights.push((key, sent, now));
            arrived[channel as usize] += 1;
            let to = program.channels()[channel as usize].to as usize;
            if waits[to] == Some(channel) {
                waits[to] = None;
                ready[pe_of[to] as usize].push_back(to);
            }
        }
        for pe in 0..num_pes {
            let mut completed = None;
            if let Some((task, end)) = running[pe].filter(|&(_, end)| end == now) {
                assert_eq!(end, now);
                running[pe] = None;
                completed = Some(task);
            }
            loop {
                if let Some(task) = completed.take() {
                    let instruction = code[task][at[task]];
                    at[task] += 1;
                    ready[pe].push_back(task);
                    if let Instruction::Send { channel, flits } = instruction {
                        let to = program.channels()[channel as usize].to as usize;
                        let mut hops = Vec::new();
                        let flow = if pe_of[to] as usize == pe {
                            Flow::StoreAndForward
                        } else {
                            routing.route(pe as u32, pe_of[to], &mut hops)
                        };
                        let key = (task as u32, sends[task]);
                        sends[task] += 1;
                        if hops.is_empty() {
                            arrived[channel as usize] += 1;
                            if waits[to] == Some(channel) {
                                waits[to] = None;
                                ready[pe_of[to] as usize].push_back(to);
                            }
                        } else {
                            let is_worm = flow == Flow::Wormhole;
                            worms.push(Worm {
                                key,
                                channel,
                                lanes: hops
                                    .iter()
                                    .map(|hop| (hop.lane as usize, flits * hop.cycles))
                                    .collect(),
                                is_worm,
                                sent: now,
                                flits: vec![0; flits as usize],
                                stage: 0,
                                left: None,
                            });
                        }
                    }
                    continue;
                }
                if running[pe].is_some() {
                    break;
                }
                let Some(task) = ready[pe].pop_front() else { break };
                if at[task] == code[task].len() {
                    alive[pe] -= 1;
                    result.ends[pe] = now;
                    continue;
                }
                let time = match code[task][at[task]] {
                    Instruction::Receive { channel, .. } if arrived[channel as usize] == 0 => {
                        waits[task] = Some(channel);
                        continue;
                    }
                    Instruction::Receive { channel, .. } => {
                        arrived[channel as usize] -= 1;
                        costs.receive
                    }
                    Instruction::Send { .. } => costs.send,
                    Instruction::Compute(cycles) => cycles,
                    _ => unreachable!(),
                };
                result.busy[pe] += time;
                if time == 0 {
                    completed = Some(task);
                } else {
                    running[pe] = Some((task, now + time));
                }
            }
        }
        // Who wants a link that is not asked for yet asks for it.
        for worm in &worms {
            let wanted = if worm.is_worm { worm.flits[0] } else { worm.stage };
            let is_waiting = worm.is_worm || worm.left.is_none();
            let lane = worm.lanes.get(wanted).filter(|_| is_waiting).map(|&(lane, _)| lane);
            let has_asked = |&lane: &usize| queue[lane].iter().any(|&(_, key)| key == worm.key);
            if let Some(lane) = lane.filter(|lane| !has_asked(lane)) {
                queue[lane].push((now, worm.key));
            }
        }
        queue.iter_mut().for_each(|queue| queue.sort());
        // Which worms move in this cycle: those that nothing stops, then those that they make room for, and so on.
        let mut moving: Vec<usize> = Vec::new();
        loop {
            let next = (0..worms.len()).find(|&index| {
                let worm = &worms[index];
                if !worm.is_worm || moving.contains(&index) || *worm.flits.last().unwrap() > worm.lanes.len()
                {
                    return false;
                }
                let Some(&(lane, _)) = worm.lanes.get(worm.flits[0]) else { return true };
                let is_first = queue[lane].first().is_some_and(|&(_, key)| key == worm.key);
                let is_left = |key: (u32, u64)| {
                    moving.iter().any(|&other| {
                        let other = &worms[other];
                        let last = *other.flits.last().unwrap();
                        other.key == key && last > 0 && other.lanes[last - 1].0 == lane
                    })
                };
                is_first && owner[lane].is_none_or(is_left)
            });
            match next {
                Some(worm) => moving.push(worm),
                None => break,
            }
        }
        for &index in &moving {
            let worm = &mut worms[index];
            if let Some(&(lane, _)) = worm.lanes.get(worm.flits[0]) {
                queue[lane].remove(0);
                owner[lane] = Some(worm.key);
            }
            for flit in 0..worm.flits.len() {
                let here = worm.flits[flit];
                if here > worm.lanes.len() {
                    continue;
                }
                if flit > 0 && here + 1 != worm.flits[flit - 1] && here + 1 != worm.flits[flit - 1] - 1 {
                    break;
                }
                if let Some(&(next, _)) = worm.lanes.get(here) {
                    assert!(buffer[next].is_none(), "a buffer holds one flit");
                    buffer[next] = Some(worm.key);
                    result.flits[next] += 1;
                }
                if here > 0 {
                    let left = worm.lanes[here - 1].0;
                    assert_eq!(buffer[left].filter(|_| here <= worm.lanes.len()), Some(worm.key));
                    buffer[left] = None;
                    if flit + 1 == worm.flits.len() {
                        owner[left] = None;
                    }
                }
                worm.flits[flit] += 1;
                if here == 0 {
                    break;
                }
            }
        }
        // The next owner may have come into a link that the last one left in the same cycle.
        for &index in &moving {
            let worm = &worms[index];
            for &position in &worm.flits {
                if (1..=worm.lanes.len()).contains(&position) {
                    owner[worm.lanes[position - 1].0] = Some(worm.key);
                }
            }
        }
        // Messages that travel as a whole.
        for lane in 0..queue.len() {
            let Some(&(_, key)) = queue[lane].first().filter(|_| owner[lane].is_none()) else { continue };
            let Some(worm) = worms.iter_mut().find(|worm| worm.key == key && !worm.is_worm) else { continue };
            queue[lane].remove(0);
            owner[lane] = Some(key);
            worm.left = Some(worm.lanes[worm.stage].1);
            result.flits[lane] += worm.flits.len() as u64;
        }
        for worm in worms.iter_mut().filter(|worm| !worm.is_worm) {
            if let Some(left) = &mut worm.left {
                *left -= 1;
                if *left == 0 {
                    owner[worm.lanes[worm.stage].0] = None;
                    worm.left = None;
                    worm.stage += 1;
                }
            }
        }
        if alive.iter().all(|&alive| alive == 0) {
            result.completion_time = *result.ends.iter().max().unwrap();
            result.flights.sort();
            return Some(result);
        }
    }
    None
}
