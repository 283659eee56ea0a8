//! A random mapping: every permutation is equally likely, as far as the seed allows; O(n).

use crate::mapping::Mapping;
use crate::rng::Rng;
use crate::types::PeId;

pub(super) fn construct(num_processes: usize, seed: u64) -> Mapping {
    let mut pe_of: Vec<PeId> = (0..num_processes as PeId).collect();
    Rng::new(seed).shuffle(&mut pe_of);
    Mapping::from_permutation(pe_of)
}
