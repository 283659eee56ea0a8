//! Placements by load alone.

use std::cmp::Reverse;

use super::error::ExpertId;

/// Copies on PEs.
pub(super) struct Packing {
    /// The PE of each copy.
    pub pe_of: Vec<u32>,
    /// The greatest load of a PE.
    pub greatest: u64,
}

/// Puts copies in descending order of their loads on the PE with the least load that has a slot left, and that has no copy of the same
/// expert if there is one. O(copies · PEs).
pub(super) fn by_load(experts: &[ExpertId], loads: &[u64], num_pes: usize) -> Packing {
    let slots = experts.len() / num_pes;
    let mut order: Vec<usize> = (0..experts.len()).collect();
    order.sort_by_key(|&copy| Reverse(loads[copy]));
    let (mut pe_of, mut held) = (vec![0; experts.len()], vec![Vec::with_capacity(slots); num_pes]);
    let mut total = vec![0u64; num_pes];
    for copy in order {
        let has_slot = (0..num_pes).filter(|&pe| held[pe].len() < slots);
        let best = has_slot.min_by_key(|&pe| (held[pe].contains(&experts[copy]), total[pe])).unwrap_or(0);
        held[best].push(experts[copy]);
        total[best] += loads[copy];
        pe_of[copy] = best as u32;
    }
    Packing { pe_of, greatest: total.into_iter().max().unwrap_or(0) }
}
