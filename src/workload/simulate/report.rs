//! The report of a simulation.

use crate::ground::types::PeId;
use crate::workload::TaskId;
use crate::workload::routing::LaneId;

/// How long a workload takes with a mapping, and why. All times are in cycles.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Simulation {
    /// When the last task ends.
    pub completion_time: u64,
    /// What each PE did.
    pub pes: Vec<PeTime>,
    /// The links that were used, in the order of their numbers.
    pub links: Vec<LinkLoad>,
    /// How long messages took.
    pub latency: Latency,
    /// What was done when, if that was asked for.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub timeline: Option<Timeline>,
}

impl Simulation {
    /// The links on which flits pass for the longest time, the busiest first; of equals those that were waited for longer.
    pub fn busiest(&self, count: usize) -> Vec<&LinkLoad> {
        let mut links: Vec<&LinkLoad> = self.links.iter().collect();
        links.sort_by_key(|load| (std::cmp::Reverse((load.busy, load.waited)), load.link));
        links.truncate(count);
        links
    }
}

/// The time of a PE: its three parts are the completion time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PeTime {
    /// It ran an instruction.
    pub busy: u64,
    /// All of its tasks that had not ended waited for messages.
    pub blocked: u64,
    /// Its tasks had ended, or it had none.
    pub idle: u64,
}

/// What happened on a link in one direction, both lanes together if it has two.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
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
    /// Cycles in which a message had it, even while that waited for another link.
    pub held: u64,
    /// Cycles that messages waited for it, in sum.
    pub waited: u64,
}

/// How long messages between different places took, from the end of their SEND until all of it has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Latency {
    /// How many there were.
    pub messages: u64,
    /// How many messages took no time: they stayed on a PE, or went to one at distance 0.
    pub local: u64,
    /// The mean.
    pub mean: f64,
    /// The longest.
    pub longest: u64,
    /// The mean if no message had been in the way of another.
    pub mean_alone: f64,
}

/// What was done when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeline {
    /// Instructions, in the order of their ends.
    pub spans: Vec<Span>,
    /// Messages between different places, in the order of their arrival.
    pub flights: Vec<Flight>,
}

/// What a PE does for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
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
    /// What the task does.
    pub activity: Activity,
    /// When it began.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
}

/// A message that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flight {
    /// The sender.
    pub from: TaskId,
    /// The receiver.
    pub to: TaskId,
    /// Its length.
    pub flits: u64,
    /// When it was sent.
    pub sent: u64,
    /// When all of it had arrived.
    pub arrived: u64,
}
