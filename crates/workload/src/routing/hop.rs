//! Steps of routes.

use viem::machine::MachineError;

/// A lane of a link, in one direction, numbered from 0.
pub type LaneId = u32;

/// A step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hop {
    /// The lane.
    pub lane: LaneId,
    /// Cycles per flit, at least 1.
    pub cycles: u64,
}

/// How a message travels. Whoever simulates it has to know every way, so a further one is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Flit by flit over all links at once; every hop takes the same time.
    Wormhole,
    /// As a whole, link by link.
    StoreAndForward,
}

/// Appends a hop that takes time.
pub(super) fn push(hops: &mut Vec<Hop>, lane: usize, cycles: u64) {
    if cycles > 0 {
        hops.push(Hop { lane: lane as LaneId, cycles });
    }
}

/// Checks that this number of lanes can be numbered.
pub(super) fn check_lanes(count: u128) -> Result<usize, MachineError> {
    const MOST_LANES: u128 = 1 << 31;
    if count > MOST_LANES {
        let (what, count) = ("links", usize::try_from(count).unwrap_or(usize::MAX));
        return Err(MachineError::OutOfMemory { what, count, bytes: 8 * count as u128 });
    }
    Ok(count as usize)
}
