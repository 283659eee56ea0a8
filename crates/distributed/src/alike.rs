//! Checks that all ranks give the same: settings, machines, sizes.
//!
//! Ranks that were started differently would wait for each other in different operations, or put together a result that none of them has asked for.
//! So a digest of their arguments is compared before anything depends on it.

use viem::base::error::ErrorKind;
use viem::base::rng::derive;
use viem::base::types::PeId;
use viem::machine::{DistanceOracle, Machine};

use crate::comm::Comm;
use crate::error::{DistError, words};

/// PEs whose distances to all others are compared between ranks. Balances certainty against time.
const COMPARED_PES: usize = 64;

/// Refuses a call unless all ranks give the same as rank 0. What they give has names for the message, the same on all ranks and in the same order.
///
/// ```
/// use viem_distributed::comm::Comm;
/// use viem_distributed::{alike, threads};
///
/// let results = threads::run(3, |comm| {
///     let seed = if comm.rank() == 1 { 7 } else { 0 };
///     alike::check(comm, &[("number of blocks", 4), ("seed", seed)])
/// });
/// let message = "rank 1 gives another seed than rank 0; all ranks must give the same";
/// assert!(results.iter().all(|result| result.as_ref().is_err_and(|error| error.message == message)));
/// ```
pub fn check(comm: &impl Comm, given: &[(&str, u64)]) -> Result<(), DistError> {
    let own: Vec<u64> = given.iter().map(|&(_, digest)| digest).collect();
    let all = comm.all_gather(&own);
    let first = all.from(0);
    for rank in 1..comm.size() {
        let differs = all.from(rank).iter().zip(first).position(|(one, other)| one != other);
        if let Some(place) = differs {
            let what = given[place].0;
            let message =
                format!("rank {rank} gives another {what} than rank 0; all ranks must give the same");
            return Err(DistError { rank, kind: ErrorKind::Usage, message });
        }
    }
    Ok(())
}

/// A hash of numbers.
pub fn digest(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, derive)
}

/// A hash of a text.
pub fn digest_of_text(text: &str) -> u64 {
    digest(words(text))
}

/// A hash of the description, the capacities and distances of a machine. Machines from matrices and functions describe themselves alike.
pub fn digest_of_machine(machine: &dyn Machine) -> u64 {
    let pes = 0..machine.num_pes() as PeId;
    let mut hash = derive(digest_of_text(&machine.describe()), pes.len() as u64);
    hash = pes.clone().fold(hash, |hash, pe| derive(hash, machine.capacity(pe).into()));
    // Without distances, the run itself says why.
    let Ok(distances) = machine.distances() else { return hash };
    for a in pes.clone().take(COMPARED_PES) {
        hash = pes.clone().fold(hash, |hash, b| derive(hash, distances.distance(a, b) as u64));
    }
    hash
}
