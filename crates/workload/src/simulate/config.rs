//! What a simulation is set to.

use crate::Instruction;

/// Cycles that instructions take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Costs {
    /// A SEND, whatever the length of the message.
    pub send: u64,
    /// A RECEIVE, once the message is there.
    pub receive: u64,
}

impl Default for Costs {
    /// One cycle each.
    fn default() -> Self {
        Self { send: 1, receive: 1 }
    }
}

impl Costs {
    /// The greatest cost.
    pub const MOST: u64 = 1 << 20;

    /// Cycles of a SEND and of a RECEIVE.
    pub const fn new(send: u64, receive: u64) -> Self {
        Self { send, receive }
    }

    /// Cycles that an instruction takes.
    pub fn of(self, instruction: Instruction) -> u64 {
        match instruction {
            Instruction::Compute(cycles) => cycles,
            Instruction::Send { .. } => self.send,
            Instruction::Receive { .. } => self.receive,
            Instruction::Repeat { .. } | Instruction::End { .. } => 0,
        }
    }
}

/// How messages share a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Sharing {
    /// One after the other, in the order in which they request it.
    #[default]
    Turns,
    /// At the same time, each link in max-min fair shares.
    ///
    /// A message over links of c1, c2, ... cycles per flit flows over all of them at once; alone it takes
    /// `latency` (c1 + c2 + ...) + L max(c1, c2, ...) cycles. That is how SimGrid models networks, and close to lossless
    /// ones with short packets. There is no deadlock.
    Fair {
        /// Cycles until the first flit arrives, for each cycle per flit of the route; at most [`Costs::MOST`].
        latency: u64,
    },
}

impl Sharing {
    /// Cycles until the first flit of a message arrives, for each cycle per flit of its route, beside those in which it
    /// flows.
    pub const fn latency(self) -> u64 {
        match self {
            Self::Turns => 0,
            Self::Fair { latency } => latency,
        }
    }
}

/// The settings of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimulationConfig {
    /// Cycles that instructions take.
    pub costs: Costs,
    /// How messages share a link.
    pub sharing: Sharing,
    /// Whether to keep a timeline: 40 bytes per instruction, 32 per message.
    pub has_timeline: bool,
}

impl SimulationConfig {
    /// A simulation with these costs, without a timeline.
    pub const fn new(costs: Costs) -> Self {
        Self { costs, sharing: Sharing::Turns, has_timeline: false }
    }

    /// The same with another way in which messages share links.
    pub const fn with_sharing(self, sharing: Sharing) -> Self {
        Self { sharing, ..self }
    }

    /// The same with or without a timeline.
    pub const fn with_timeline(self, has_timeline: bool) -> Self {
        Self { has_timeline, ..self }
    }
}
