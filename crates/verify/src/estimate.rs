//! The auditor's own estimate F of a workload: equations 2 to 10 of Perego and De Petris, with the extensions
//! documented in `viem_workload::estimate`, computed from scratch.
//!
//! Interference classes are found by a graph search over messages. Sums are integers in parts of a cycle, 128
//! bits wide. O(steps of the workload + sum over phases of channels times hops).

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::error::AuditError;
use super::machine::Machine;
use super::routes::Routes;
use super::workload::{Step, Walk};
use crate::written::Lane;

/// Parts per cycle.
const PARTS: i128 = 256;

/// The traffic of a channel: section 3.2.
#[derive(Clone, Copy, Default)]
struct Channel {
    messages: u64,
    flits: u64,
    /// Cycles for which its receiver waits for it.
    waiting: u64,
}

/// Sender and receiver.
type Ends = (u32, u32);

/// The run with all messages between neighbours and without contention.
struct Run {
    work: Vec<u64>,
    waiting: Vec<u64>,
    channels: BTreeMap<Ends, Channel>,
    /// The messages: send time, sender and receiver, length.
    sent: Vec<(u64, Ends, u64)>,
}

/// The route of a channel, in parts of a cycle.
struct Way {
    lanes: Vec<u32>,
    /// The time for which one of its messages holds its slowest link.
    hold: i128,
    /// The additional time of its receiver without contention; may be negative.
    extra: i128,
}

/// F in cycles, where SEND and RECEIVE take these times.
pub(super) fn estimate(
    tasks: &[Vec<Step>],
    pe_of: &[u64],
    machine: &Machine,
    (send, receive): (u64, u64),
) -> Result<f64, AuditError> {
    let Run { work, waiting, channels, mut sent } = run(tasks, send, receive)?;
    let mut own: Vec<i128> =
        work.iter().zip(&waiting).map(|(&work, &waiting)| parts(work) + parts(waiting)).collect();
    let ways = ways(&channels, pe_of, machine)?;
    for (&(_, to), way) in &ways {
        own[to as usize] = own[to as usize].saturating_add(way.extra);
    }
    sent.sort_unstable();
    for (phase, times) in phases(&sent) {
        for class in classes(&phase, &ways) {
            let all = class.iter().fold(0i128, |sum, ends| sum.saturating_add(ways[ends].hold));
            for ends in &class {
                let delay = (all - ways[ends].hold) / (2 * class.len() as i128);
                let to = &mut own[ends.1 as usize];
                *to = to.saturating_add(delay.saturating_mul(times.into()));
            }
        }
    }
    // A PE takes the sum of the work of its tasks, and at least as long as each of them.
    let mut times: HashMap<u64, (i128, i128)> = HashMap::new();
    for (task, &pe) in pe_of.iter().enumerate() {
        let (longest, sum) = times.entry(pe).or_default();
        (*longest, *sum) = ((*longest).max(own[task]), sum.saturating_add(parts(work[task])));
    }
    let slowest = times.values().map(|&(longest, sum)| longest.max(sum)).max().unwrap_or(0);
    Ok(slowest as f64 / PARTS as f64)
}

fn parts(cycles: u64) -> i128 {
    i128::from(cycles) * PARTS
}

/// Runs all tasks; a waiting task is visited again when a message to it is sent.
fn run(tasks: &[Vec<Step>], send: u64, receive: u64) -> Result<Run, AuditError> {
    let count = tasks.len();
    let mut walks: Vec<Walk<'_>> = tasks.iter().map(|steps| Walk::new(steps)).collect();
    let mut run =
        Run { work: vec![0; count], waiting: vec![0; count], channels: BTreeMap::new(), sent: Vec::new() };
    // The arrival times of messages not received yet, and the time until which the channel is in use.
    let mut on_the_way: HashMap<Ends, (VecDeque<u64>, u64)> = HashMap::new();
    let mut ready: VecDeque<usize> = (0..count).collect();
    let (mut taken, mut ended) = (0, 0);
    while let Some(task) = ready.pop_front() {
        while let Some(step) = walks[task].next(&mut taken)? {
            let clock = run.work[task].saturating_add(run.waiting[task]);
            let time = match step {
                Step::Compute(cycles) => cycles,
                Step::Send(to, flits) => {
                    let ends = (task as u32, to as u32);
                    let (arrivals, in_use) = on_the_way.entry(ends).or_default();
                    let begin = clock.saturating_add(send).max(*in_use);
                    *in_use = begin.saturating_add(flits);
                    arrivals.push_back(*in_use);
                    run.sent.push((begin, ends, flits));
                    let channel = run.channels.entry(ends).or_default();
                    channel.messages += 1;
                    channel.flits = channel.flits.saturating_add(flits);
                    ready.push_back(to);
                    send
                }
                Step::Receive(from) => {
                    let ends = (from as u32, task as u32);
                    let arrival = on_the_way.get_mut(&ends).and_then(|(arrivals, _)| arrivals.pop_front());
                    let Some(arrival) = arrival else { break };
                    let wait = arrival.saturating_sub(clock);
                    run.waiting[task] += wait;
                    run.channels.entry(ends).or_default().waiting += wait;
                    receive
                }
                Step::Repeat(_) | Step::End => 0,
            };
            run.work[task] = run.work[task].saturating_add(time);
            walks[task].pass();
        }
    }
    for walk in &mut walks {
        ended += usize::from(walk.next(&mut taken)?.is_none());
    }
    if ended < count {
        return Err(AuditError::Workload { word: 1, reason: "tasks wait for messages that are not sent" });
    }
    Ok(run)
}

/// Equations 4 and 5, and for how long messages hold a link.
fn ways(
    channels: &BTreeMap<Ends, Channel>,
    pe_of: &[u64],
    machine: &Machine,
) -> Result<BTreeMap<Ends, Way>, AuditError> {
    let (mut routes, mut numbers) = (Routes::new(machine), HashMap::<Lane, u32>::new());
    let mut order: Vec<(&Ends, &Channel)> = channels.iter().collect();
    order.sort_unstable_by_key(|((from, to), _)| (pe_of[*to as usize], pe_of[*from as usize]));
    let mut ways = BTreeMap::new();
    for (&(from, to), channel) in order {
        let (source, target) = (pe_of[from as usize], pe_of[to as usize]);
        let route = routes.route(source, target)?;
        let all = route.hops.iter().fold(0i128, |sum, &(_, cycles)| sum.saturating_add(cycles.into()));
        let slowest = route.hops.iter().map(|&(_, cycles)| i128::from(cycles)).max().unwrap_or(0);
        let (messages, flits) = (i128::from(channel.messages), i128::from(channel.flits));
        // The additional time of the messages under way, one after another, beyond one cycle per flit.
        let time = if route.is_worm {
            slowest.saturating_mul(flits - messages).saturating_add(all.saturating_mul(messages))
        } else {
            all.saturating_mul(flits)
        };
        let extra = match route.hops.is_empty() {
            true => -parts(channel.flits.min(channel.waiting)),
            false => (time - flits).saturating_mul(PARTS),
        };
        let lanes = route.hops.iter().map(|&(lane, _)| {
            let next = numbers.len() as u32;
            *numbers.entry(lane).or_insert(next)
        });
        let hold = (parts(channel.flits) / messages.max(1)).saturating_mul(slowest);
        ways.insert((from, to), Way { lanes: lanes.collect(), hold, extra });
    }
    Ok(ways)
}

/// The channels of each phase, and its number of occurrences. The first remaining message starts a phase. The
/// following messages belong to it if they are under way together with the first for more than half of the
/// time of the shorter one.
fn phases(sent: &[(u64, Ends, u64)]) -> BTreeMap<Vec<Ends>, u64> {
    let mut phases = BTreeMap::new();
    let mut rest = sent;
    while let Some(&(begin, _, flits)) = rest.first() {
        let end = begin.saturating_add(flits);
        let is_apart = |&(at, _, length): &(u64, Ends, u64)| {
            let together = end.min(at.saturating_add(length)).saturating_sub(at);
            u128::from(together) * 2 <= u128::from(flits.min(length))
        };
        let count = 1 + rest[1..].iter().position(is_apart).unwrap_or(rest.len() - 1);
        let (phase, later) = rest.split_at(count);
        let mut channels: Vec<Ends> = phase.iter().map(|&(_, ends, _)| ends).collect();
        channels.sort_unstable();
        channels.dedup();
        *phases.entry(channels).or_insert(0) += 1;
        rest = later;
    }
    phases
}

/// Equation 7: channels that share a lane, directly or transitively.
fn classes(phase: &[Ends], ways: &BTreeMap<Ends, Way>) -> Vec<Vec<Ends>> {
    let mut passing: HashMap<u32, Vec<usize>> = HashMap::new();
    for (index, ends) in phase.iter().enumerate() {
        for &lane in &ways[ends].lanes {
            passing.entry(lane).or_default().push(index);
        }
    }
    let mut is_found = vec![false; phase.len()];
    let mut classes = Vec::new();
    for first in 0..phase.len() {
        if std::mem::replace(&mut is_found[first], true) || ways[&phase[first]].lanes.is_empty() {
            continue;
        }
        let mut class = vec![first];
        let mut looked_at = 0;
        while let Some(&index) = class.get(looked_at) {
            looked_at += 1;
            for lane in &ways[&phase[index]].lanes {
                let others = passing.remove(lane).unwrap_or_default();
                class.extend(
                    others.into_iter().filter(|&other| !std::mem::replace(&mut is_found[other], true)),
                );
            }
        }
        classes.push(class.into_iter().map(|index| phase[index]).collect());
    }
    classes
}
