//! A slow simulator that moves flits cycle by cycle, as different from the library's as possible.

mod links;
mod tasks;

use viem_workload::Workload;
use viem_workload::routing::Routing;
use viem_workload::simulate::Costs;

use links::Links;
use tasks::Tasks;

/// A message: the sending task, and the number of messages it has sent before.
pub type MessageKey = (u32, u64);

/// The result of the slow simulator.
#[derive(Debug, PartialEq, Eq)]
pub struct SlowRun {
    pub completion_time: u64,
    /// Busy cycles of each PE.
    pub busy: Vec<u64>,
    /// When each PE has finished.
    pub ends: Vec<u64>,
    /// Flits that passed each link.
    pub flits: Vec<u64>,
    /// When each message was sent and when it arrived, by key.
    pub flights: Vec<(MessageKey, u64, u64)>,
}

/// Runs a workload, cycle by cycle, for at most `limit` cycles; `None` if it has not ended by then.
pub fn slow_run(
    workload: &Workload,
    routing: &Routing,
    pe_of: &[u32],
    costs: Costs,
    limit: u64,
) -> Option<SlowRun> {
    let mut links = Links::new(routing.num_lanes());
    let mut tasks = Tasks::new(workload, routing, pe_of, costs);
    for now in 0..limit {
        links.arrive(now).into_iter().for_each(|channel| tasks.deliver(channel));
        (0..routing.num_pes()).for_each(|pe| tasks.run(pe, now, &mut links));
        links.step(now);
        if tasks.have_ended() {
            let Tasks { busy, ends, .. } = tasks;
            let Links { passed: flits, mut flights, .. } = links;
            flights.sort_unstable();
            return Some(SlowRun { completion_time: *ends.iter().max()?, busy, ends, flits, flights });
        }
    }
    None
}
