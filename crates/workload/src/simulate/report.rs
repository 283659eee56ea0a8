//! The report of a simulation.

use crate::TaskId;
use crate::routing::LaneId;
use viem::base::types::PeId;

/// The run time of a workload with a mapping, and its reasons. All times are in cycles.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Simulation {
    /// When the last task ends.
    pub completion_time: u64,
    /// How each PE spent its time.
    pub pes: Vec<PeTime>,
    /// The links that were used, by number.
    pub links: Vec<LinkLoad>,
    /// The latency of messages.
    pub latency: Latency,
    /// The timeline, if it was requested.
    #[serde(skip)]
    pub timeline: Option<Timeline>,
}

impl Simulation {
    /// The links on which flits pass for the longest time, busiest first; ties by the time waited for them.
    pub fn busiest(&self, count: usize) -> Vec<&LinkLoad> {
        let mut links: Vec<&LinkLoad> = self.links.iter().collect();
        links.sort_by_key(|load| (std::cmp::Reverse((load.busy, load.waited)), load.link));
        links.truncate(count);
        links
    }
}

/// The time of a PE; its three parts add up to the completion time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct PeTime {
    /// It ran an instruction.
    pub busy: u64,
    /// All its unfinished tasks waited for messages.
    pub blocked: u64,
    /// Its tasks had ended, or it had none.
    pub idle: u64,
}

/// Statistics of a link in one direction, both lanes together if it has two.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct LinkLoad {
    /// Its first lane.
    pub link: LaneId,
    /// Its name.
    pub name: String,
    /// Messages that passed.
    pub messages: u64,
    /// Flits that passed.
    pub flits: u64,
    /// Cycles in which flits passed.
    pub busy: u64,
    /// Cycles for which a message held it, including those in which the message waited for another link.
    pub held: u64,
    /// Total cycles for which messages waited for it; 0 if they share links fairly.
    pub waited: u64,
}

/// The latency of messages between different places, from the end of SEND until the complete arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Latency {
    /// Number of messages.
    pub messages: u64,
    /// Number of messages that took no time: they stayed on a PE, or went to one at distance 0.
    pub local: u64,
    /// The mean latency.
    pub mean: f64,
    /// The largest latency.
    pub longest: u64,
    /// The mean latency without contention.
    pub mean_alone: f64,
}

/// A timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeline {
    /// Instructions, by end time.
    pub spans: Vec<Span>,
    /// Messages between different places, by arrival time.
    pub flights: Vec<Flight>,
}

/// What a PE does during a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Activity {
    /// A task computes.
    Compute,
    /// A task sends.
    Send,
    /// A task takes a message.
    Receive,
}

/// An instruction that has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// The PE.
    pub pe: PeId,
    /// The task.
    pub task: TaskId,
    /// The kind of instruction.
    pub activity: Activity,
    /// Start time.
    pub begin: u64,
    /// End time.
    pub end: u64,
}

/// A message that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flight {
    /// The sending task.
    pub from: TaskId,
    /// The receiving task.
    pub to: TaskId,
    /// Its length.
    pub flits: u64,
    /// When it was sent.
    pub sent: u64,
    /// When it had arrived completely.
    pub arrived: u64,
}
