//! Schedules in the GOAL format, which LogGOPSim and ATLAHS simulate: operations of each rank, and which of them wait for which.
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: send 1024b to 1 tag 3
//! l2: calc 100 cpu 1
//! l2 requires l1
//! }
//! rank 1 {
//! l1: recv 1024b from 0 tag 3
//! }
//! ```
//!
//! As traffic, each `send` is a message, and everything else moves nothing: what is received is in the block of the sender. Their
//! order becomes a workload ([`read_goal`]), and [`relabel_goal`] renames the ranks. A label is not needed, `irequires`
//! waits for the start instead of the end, -1 is any sender or tag, `tag`, `cpu` and `nic` may stand behind an operation. `//` begins a comment
//! up to the end of its line, `/*` one up to `*/`. An operation or dependency ends with its line. (Grammar as in `src/LogGOPSim/txt2bin.re` of
//! LogGOPSim, which needs the number of ranks before the first one, and takes the rank with the highest number for the last.)

mod endpoints;
mod renamed;
mod schedule;
mod steps;

pub use renamed::relabel_goal;
pub use steps::read_goal;

use self::endpoints::Endpoints;
use self::schedule::{Schedule, Statement};
use crate::collector::Inlet;
use crate::fault::{Stop, TrafficFault};
use crate::fields::ScannerExt;
use crate::kind::{ALL_TRAFFIC, Kind};
use viem_io::Source;
use viem_io::scanner::Scanner;

pub(super) const KIND: Kind = Kind {
    name: "goal",
    title: "GOAL schedules",
    classes: ALL_TRAFFIC,
    tells_recorders: true,
    guesses_first_rank: false,
    is_graph: false,
    if_empty: "no rank has a `send`",
};

pub(super) fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut Inlet<'_>) -> Result<(), Stop> {
    let mut schedule = Schedule::default();
    let mut endpoints = inlet.adapters().map(Endpoints::new);
    while let Some((number, line)) = scanner.next_line() {
        schedule.read(number, line, &mut |part| match &mut endpoints {
            Some(endpoints) => endpoints.add(part.statement, inlet),
            None => add(part.statement, inlet),
        })?;
    }
    schedule.end().map_err(|fault| scanner.stop(fault))?;
    let result = endpoints.map_or(Ok(()), |endpoints| endpoints.finish(inlet));
    result.map_err(|fault| scanner.stop(fault))
}

/// Adds a statement to traffic whose vertices are ranks.
fn add(statement: Statement, inlet: &mut Inlet<'_>) -> Result<(), TrafficFault> {
    if let Some(adapter) = statement.adapter() {
        inlet.names_adapter(adapter);
    }
    match statement {
        Statement::NumRanks(count) => inlet.state_ranks(count.value),
        Statement::Open(rank) if inlet.recorder(rank.value) => {
            Err(TrafficFault::RankTwice { rank: rank.value })
        }
        Statement::Send { from, to, bytes, .. } => inlet.add(0, from, to.value, bytes, 1),
        _ => Ok(()),
    }
}
