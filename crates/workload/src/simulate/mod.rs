//! Simulation of a workload on a machine: its run time with a mapping, and the links that limit it.
//!
//! # Model
//!
//! Section 3 of Perego and De Petris, extended by trees, networks and more than one task per PE.
//!
//! - A PE runs one instruction at a time, from its ready tasks in turn. `INT_OP p` takes p cycles; SEND and
//!   RECEIVE take constant times ([`Costs`]). A message leaves when its SEND ends, and its sender continues.
//!   RECEIVE begins when the message has arrived completely.
//! - A message to a task on the same PE arrives at once.
//! - On grids and hypercubes messages travel as worms: L flits over d links take L + d - 1 flit times. A worm
//!   whose next link is taken waits where it is, and holds the links it is on. A link is taken from the time
//!   the first flit enters it until the last one continues to the next link. On other machines messages are
//!   transmitted link by link as a whole, each in L times the cost of the link, and wait between links
//!   without holding any ([`routing`](crate::routing)).
//! - Links are granted in the order of requests; in the same cycle, the lowest sending task goes first, and
//!   its earlier message. Runs are therefore reproducible.
//! - With [`Sharing::Fair`], messages that pass a link pass it at the same time instead, and divide its speed.
//! - The messages of a PE leave over as many links at a time as they need, and any number may arrive at a
//!   time.
//!
//! # Algorithm and cost
//!
//! Discrete events: a message over d links takes 2 d events, whatever its length, each in constant time
//! ([`calendar`](self)). With fair shares it takes two, and each finds the rates of all messages under way anew,
//! O(their hops · log links). Memory: the messages under way, with their routes.
//!
//! # Deadlock
//!
//! E-cube routes on meshes, and on tori with two lanes, are free of deadlock; so is transmission link by
//! link. If worms deadlock anyway ([`Routing::with_single_lanes`]), the simulation ends with an error that
//! names the circle.

mod calendar;
mod config;
mod messages;
mod report;
mod shares;
mod tasks;
mod trace;
mod turns;

pub use config::{Costs, Sharing, SimulationConfig};
pub use report::{Activity, Flight, Latency, LinkLoad, PeTime, Simulation, Span, Timeline};
pub use trace::ChromeTrace;

use crate::routing::{Flow, Hop, Routing};
use crate::{Channel, TaskId, Workload};
use calendar::Calendar;
use messages::{Event, MessageId, Network, Sent};
use shares::Shares;
use tasks::{Begun, Outgoing, Tasks};
use turns::Turns;
use viem::base::error::{ErrorKind, HasKind};
use viem::base::observer::{Observer, Watch};
use viem::base::types::PeId;

/// The reason why a simulation has no end. Tasks and PEs are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum SimulationError {
    #[error("the mapping has {found} tasks, the workload {expected}")]
    MappingDiffers { found: usize, expected: usize },
    #[error("task {task} is on PE {pe}, but the PEs are 0..{count}")]
    PeOutOfRange { task: usize, pe: PeId, count: usize },
    #[error("SEND, RECEIVE and latency may take at most {} cycles", Costs::MOST)]
    CostTooLarge,
    #[error(
        "the workload may take more than 2^62 cycles on this machine; use a larger unit for flits or distances"
    )]
    TooLong,
    #[error("at time {time} messages wait for each other forever: {}", circle_of(circle))]
    Deadlock { time: u64, circle: Vec<Blocked> },
    #[error("the simulation was stopped at time {time}")]
    Stopped { time: u64 },
}

impl HasKind for SimulationError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::MappingDiffers { .. }
            | Self::PeOutOfRange { .. }
            | Self::CostTooLarge
            | Self::TooLong
            | Self::Deadlock { .. }
            | Self::Stopped { .. } => ErrorKind::BadData,
        }
    }
}

/// A message that waits for a link held by the next one of a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blocked {
    /// The sending task.
    pub from: TaskId,
    /// The receiving task.
    pub to: TaskId,
    /// The link it waits for.
    pub link: String,
}

/// A circle of messages, for error messages; of long ones the beginning.
fn circle_of(circle: &[Blocked]) -> String {
    const MOST_NAMED: usize = 16;
    let named = circle.iter().take(MOST_NAMED).map(|Blocked { from, to, link }| {
        format!("the message from task {from} to {to} waits for link {link}, which is kept by ")
    });
    let rest = if circle.len() > MOST_NAMED { "others, which lead back to " } else { "" };
    format!("{}{rest}the first", named.collect::<String>())
}

/// Simulates a workload with task i on PE `pe_of[i]`, any number of tasks per PE.
///
/// ```
/// use viem_workload::WorkloadBuilder;
/// use viem_workload::routing::Routing;
/// use viem_workload::simulate::{Costs, SimulationConfig, simulate};
/// use viem::machine::Grid;
///
/// let mut builder = WorkloadBuilder::new(2);
/// builder.send(0, 1, 10);
/// builder.receive(1, 0, 10);
/// let workload = builder.build()?;
/// let routing = Routing::new(&Grid::mesh(&[4])?)?;
/// let settings = SimulationConfig::new(Costs::new(0, 0));
/// // Ten flits over three links.
/// assert_eq!(simulate(&workload, &routing, &[0, 3], settings)?.completion_time, 10 + 3 - 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simulate(
    workload: &Workload,
    routing: &Routing,
    pe_of: &[PeId],
    config: SimulationConfig,
) -> Result<Simulation, SimulationError> {
    simulate_watched(workload, routing, pe_of, config, &())
}

/// As [`simulate`]; fails if the observer asks to stop.
pub fn simulate_watched(
    workload: &Workload,
    routing: &Routing,
    pe_of: &[PeId],
    config: SimulationConfig,
    observer: &dyn Observer,
) -> Result<Simulation, SimulationError> {
    check(workload, routing, pe_of, config)?;
    match config.sharing {
        Sharing::Turns => run(workload, routing, pe_of, config, Turns::new(routing.num_lanes()), observer),
        Sharing::Fair { latency } => {
            run(workload, routing, pe_of, config, Shares::new(routing, latency), observer)
        }
    }
}

fn run<N: Network>(
    workload: &Workload,
    routing: &Routing,
    pe_of: &[PeId],
    config: SimulationConfig,
    network: N,
    observer: &dyn Observer,
) -> Result<Simulation, SimulationError> {
    let mut run = Run {
        workload,
        routing,
        pe_of,
        tasks: Tasks::new(workload, pe_of, routing.num_pes(), config.costs, config.has_timeline),
        network,
        calendar: Calendar::new(),
        due: (0..routing.num_pes() as PeId).collect(),
        flights: config.has_timeline.then(Vec::new),
        latencies: Latencies::default(),
    };
    let time = run.run_all(observer)?;
    if !run.tasks.have_ended() {
        return Err(SimulationError::Deadlock { time, circle: run.circle() });
    }
    Ok(run.report())
}

/// Checks sizes, and that no time exceeds 62 bits.
fn check(
    workload: &Workload,
    routing: &Routing,
    pe_of: &[PeId],
    SimulationConfig { costs, sharing, .. }: SimulationConfig,
) -> Result<(), SimulationError> {
    let (found, expected, count) = (pe_of.len(), workload.num_tasks(), routing.num_pes());
    if found != expected {
        return Err(SimulationError::MappingDiffers { found, expected });
    }
    if let Some(task) = pe_of.iter().position(|&pe| pe as usize >= count) {
        return Err(SimulationError::PeOutOfRange { task, pe: pe_of[task], count });
    }
    let latency = sharing.latency();
    if costs.send.max(costs.receive).max(latency) > Costs::MOST {
        return Err(SimulationError::CostTooLarge);
    }
    // Sending the messages one after another takes no less time than all together.
    let (hops, cycles) = routing.longest();
    let messages = u128::from(workload.num_messages());
    let flits = u128::from(workload.num_flits()) + messages * u128::from(latency + 1);
    let messages = flits.saturating_mul(hops.into()).saturating_mul(cycles.into());
    let work: u64 = (0..expected as TaskId).map(|task| workload.work(task)).sum();
    let calls = u128::from(workload.num_instructions()) * u128::from(Costs::MOST);
    if messages.saturating_add(calls).saturating_add(work.into()) > 1 << 62 {
        return Err(SimulationError::TooLong);
    }
    Ok(())
}

/// Sums over all messages.
#[derive(Default)]
struct Latencies {
    messages: u64,
    local: u64,
    sum: u128,
    alone: u128,
    longest: u64,
}

struct Run<'a, N> {
    workload: &'a Workload,
    routing: &'a Routing,
    pe_of: &'a [PeId],
    tasks: Tasks<'a>,
    network: N,
    calendar: Calendar<Event>,
    /// PEs that may be able to begin an instruction.
    due: Vec<PeId>,
    flights: Option<Vec<Flight>>,
    latencies: Latencies,
}

impl<N: Network> Run<'_, N> {
    /// Processes all events. Returns the time of the last one.
    fn run_all(&mut self, observer: &dyn Observer) -> Result<u64, SimulationError> {
        let mut watch = Watch::new(observer);
        let (mut now, mut events) = (0, Vec::new());
        let (mut arrived, mut done) = (Vec::new(), Vec::new());
        loop {
            for event in events.drain(..) {
                match event {
                    Event::Done(pe) => done.push(pe),
                    _ => self.network.happens(event, now, &mut self.calendar, &mut arrived),
                }
            }
            self.deliver(&mut arrived, now);
            self.end_instructions(&mut done, now);
            let steps = self.tasks.num_steps();
            self.begin_instructions(now);
            self.network.give(now, &mut self.calendar);
            let Some(next) = self.calendar.next(&mut events) else { return Ok(now) };
            if watch.stops_after(1 + events.len() + self.tasks.num_steps() - steps) {
                return Err(SimulationError::Stopped { time: now });
            }
            now = next;
        }
    }

    /// Delivers messages that arrive now.
    fn deliver(&mut self, arrived: &mut Vec<MessageId>, now: u64) {
        arrived.sort_unstable_by_key(|&id| self.network.sent(id).key);
        for id in arrived.drain(..) {
            let Sent { channel, flits, at, .. } = self.network.sent(id);
            let sums = &mut self.latencies;
            sums.messages += 1;
            sums.sum += u128::from(now - at);
            sums.alone += u128::from(self.network.time_alone(id));
            sums.longest = sums.longest.max(now - at);
            if let Some(flights) = &mut self.flights {
                let Channel { from, to } = self.workload.channels()[channel as usize];
                flights.push(Flight { from, to, flits, sent: at, arrived: now });
            }
            self.network.forget(id);
            self.due.extend(self.tasks.arrives(channel));
        }
    }

    fn end_instructions(&mut self, done: &mut Vec<PeId>, now: u64) {
        done.sort_unstable();
        for pe in done.drain(..) {
            if let Some(outgoing) = self.tasks.ends(pe, now) {
                self.send(&outgoing, now);
            }
            self.due.push(pe);
        }
    }

    fn begin_instructions(&mut self, now: u64) {
        self.due.sort_unstable_by(|a, b| b.cmp(a));
        while let Some(pe) = self.due.pop() {
            loop {
                match self.tasks.begins(pe, now) {
                    Begun::Nothing => break,
                    Begun::AtOnce(outgoing) => outgoing.iter().for_each(|outgoing| self.send(outgoing, now)),
                    Begun::Until(end) => self.calendar.add(end, Event::Done(pe)),
                }
            }
        }
    }

    /// Sends a message: over links, or at once to its destination.
    fn send(&mut self, outgoing: &Outgoing, now: u64) {
        let &Outgoing { task, channel, flits, number } = outgoing;
        let to = self.workload.channels()[channel as usize].to;
        let (from, to) = (self.pe_of[task as usize], self.pe_of[to as usize]);
        let routing = self.routing;
        let route = |hops: &mut Vec<Hop>| {
            if from == to { Flow::StoreAndForward } else { routing.route(from, to, hops) }
        };
        let sent = Sent { key: (task, number), channel, flits, at: now };
        if !self.network.send(sent, &mut self.calendar, route) {
            self.latencies.local += 1;
            self.due.extend(self.tasks.arrives(channel));
        }
    }

    /// The messages that wait for each other.
    fn circle(&self) -> Vec<Blocked> {
        let blocked = |(id, lane)| {
            let Channel { from, to } = self.workload.channels()[self.network.sent(id).channel as usize];
            Blocked { from, to, link: self.routing.name(self.routing.link_of(lane)) }
        };
        self.network.circle().into_iter().map(blocked).collect()
    }

    fn report(self) -> Simulation {
        let mut links: Vec<LinkLoad> = Vec::new();
        for (lane, load) in self.network.loads().enumerate().filter(|(_, load)| load.messages > 0) {
            let link = self.routing.link_of(lane as u32);
            if links.last().is_none_or(|last| last.link != link) {
                let name = self.routing.name(link);
                links.push(LinkLoad { link, name, messages: 0, flits: 0, busy: 0, held: 0, waited: 0 });
            }
            let sum = links.last_mut().expect("one was pushed");
            sum.messages += load.messages;
            sum.flits += load.flits;
            sum.busy += load.busy;
            sum.held += load.held;
            sum.waited += load.waited;
        }
        let Latencies { messages, local, sum, alone, longest } = self.latencies;
        let mean = |sum: u128| if messages > 0 { sum as f64 / messages as f64 } else { 0.0 };
        let latency = Latency { messages, local, mean: mean(sum), longest, mean_alone: mean(alone) };
        let (completion_time, pes) = (self.tasks.completion_time(), self.tasks.times());
        let spans = self.tasks.into_spans();
        let timeline = spans.zip(self.flights).map(|(spans, flights)| Timeline { spans, flights });
        Simulation { completion_time, pes, links, latency, timeline }
    }
}
