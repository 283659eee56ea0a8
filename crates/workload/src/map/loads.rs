//! How evenly messages are spread over links: the sum over phases and links of the squared load.
//!
//! F evaluates each message by itself, so it hardly distinguishes a link with three messages of a phase from
//! one with thirty. This sum does: it grows with distance, and more with each further message of a link.
//! Local search on it provides starts for local search on F.
//!
//! A task moves in O(channels of the task times their phases times hops). Loads are scaled
//! so that the sum fits 63 bits.

use super::descent::Measure;
use crate::TaskId;
use crate::estimate::WorkloadModel;
use crate::routing::{Hop, Routing};
use viem::base::types::PeId;

/// Loads of a mapping, updated as tasks move.
#[derive(Clone, Debug)]
pub(super) struct Loads<'a> {
    model: &'a WorkloadModel,
    routing: &'a Routing,
    pe_of: Vec<PeId>,
    /// The phases of each channel, and the number of their repetitions.
    phases_of: Vec<Vec<(u32, u64)>>,
    /// The load of a link by a message of each channel, per cycle of a flit.
    weight: Vec<u64>,
    load: Vec<u64>,
    num_lanes: usize,
    sum: i64,
    /// Links visited so far.
    work: u64,
    hops: Vec<Hop>,
}

/// Upper limit on the entries of the table of links and phases.
const MOST_ENTRIES: usize = 1 << 26;

impl<'a> Loads<'a> {
    /// The loads of a mapping; `None` if there are too many links and phases.
    pub(super) fn of(model: &'a WorkloadModel, routing: &'a Routing, pe_of: &[PeId]) -> Option<Self> {
        let num_lanes = routing.num_lanes();
        let entries = num_lanes.checked_mul(model.phases.len()).filter(|&entries| entries <= MOST_ENTRIES)?;
        let mut phases_of = vec![Vec::new(); model.channels.len()];
        for (phase, members) in model.phases.iter().enumerate() {
            members.channels.iter().for_each(|&channel| {
                phases_of[channel as usize].push((phase as u32, members.times));
            });
        }
        let length = |channel: usize| model.channels[channel].flits / model.channels[channel].messages.max(1);
        let (hops, cycles) = routing.longest();
        let all: u128 = (0..model.channels.len())
            .map(|channel| {
                let times: u64 = phases_of[channel].iter().map(|&(_, times)| times).sum();
                u128::from(length(channel)) * u128::from(times) * u128::from(hops)
            })
            .sum::<u128>()
            .saturating_mul(cycles.into());
        // The square of the total load fits 62 bits.
        let shift = (128 - all.leading_zeros()).saturating_sub(31);
        let mut loads = Self {
            model,
            routing,
            pe_of: pe_of.to_vec(),
            weight: (0..model.channels.len()).map(|channel| (length(channel) >> shift).max(1)).collect(),
            phases_of,
            load: vec![0; entries],
            num_lanes,
            sum: 0,
            work: 0,
            hops: Vec::new(),
        };
        (shift < 40).then_some(())?;
        for channel in 0..model.channels.len() {
            loads.route(channel as u32, true);
        }
        Some(loads)
    }

    /// Adds or subtracts the load of a channel on its links.
    fn route(&mut self, channel: u32, is_added: bool) {
        let ends = &self.model.channels[channel as usize];
        let (from, to) = (self.pe_of[ends.from as usize], self.pe_of[ends.to as usize]);
        if from == to {
            return;
        }
        self.hops.clear();
        self.routing.route(from, to, &mut self.hops);
        let weight = self.weight[channel as usize];
        self.work += (self.hops.len() * self.phases_of[channel as usize].len()) as u64;
        for &(phase, times) in &self.phases_of[channel as usize] {
            for &Hop { lane, cycles } in &self.hops {
                let load = &mut self.load[phase as usize * self.num_lanes + lane as usize];
                let (before, change) = (*load, weight.saturating_mul(cycles));
                *load = if is_added { before.saturating_add(change) } else { before.saturating_sub(change) };
                let gap = (*load).abs_diff(before) as i64;
                let delta = gap.saturating_mul((*load + before) as i64).saturating_mul(times as i64);
                self.sum =
                    if is_added { self.sum.saturating_add(delta) } else { self.sum.saturating_sub(delta) };
            }
        }
    }
}

impl Measure for Loads<'_> {
    fn value(&mut self) -> (i64, i64) {
        (self.sum, 0)
    }

    fn place(&mut self, task: TaskId, pe: PeId) {
        let model = self.model;
        model.channels_of(task).iter().for_each(|&channel| self.route(channel, false));
        self.pe_of[task as usize] = pe;
        model.channels_of(task).iter().for_each(|&channel| self.route(channel, true));
    }

    fn pe_of(&self) -> &[PeId] {
        &self.pe_of
    }

    fn work(&self) -> u64 {
        self.work
    }
}
