//! The numbers by which edge lists call vertices: which of them occur, and which rank each gets if the others are left out.

use hashbrown::HashMap;

use super::fault::TrafficFault;
use super::ranks::MOST_RANKS;
use viem::base::types::NodeId;

/// The ids that occur anywhere.
#[derive(Default)]
pub(super) struct Seen {
    is_seen: Vec<bool>,
    count: u64,
}

impl Seen {
    /// Takes note of an id below [`MOST_RANKS`] or so.
    #[inline]
    pub(super) fn add(&mut self, id: u64) {
        let id = id as usize;
        if id >= self.is_seen.len() {
            self.is_seen.resize((id + 1).next_power_of_two(), false);
        }
        self.count += u64::from(!self.is_seen[id]);
        self.is_seen[id] = true;
    }

    /// Returns how many of the ids of this many vertices do not occur.
    pub(super) fn gaps(&self, num_ranks: u64) -> u64 {
        num_ranks.saturating_sub(self.count)
    }
}

/// Ids numbered in order of appearance, finally renumbered in ascending order.
#[derive(Default)]
pub(super) struct Numbering {
    place_of: HashMap<u64, NodeId>,
}

impl Numbering {
    /// The number of an id so far.
    pub(super) fn place(&mut self, id: u64) -> Result<u64, TrafficFault> {
        let next = self.place_of.len() as u64;
        let place = *self.place_of.entry(id).or_insert(next as NodeId);
        if next > MOST_RANKS { Err(TrafficFault::TooManyRanks { count: next }) } else { Ok(u64::from(place)) }
    }

    /// The ids in ascending order, and the rank of each number that was given before.
    pub(super) fn finish(&self) -> (Vec<u64>, Vec<NodeId>) {
        let mut ids: Vec<(u64, NodeId)> = self.place_of.iter().map(|(&id, &place)| (id, place)).collect();
        ids.sort_unstable();
        let mut rank_of = vec![0; ids.len()];
        for (rank, &(_, place)) in ids.iter().enumerate() {
            rank_of[place as usize] = rank as NodeId;
        }
        (ids.into_iter().map(|(id, _)| id).collect(), rank_of)
    }
}
