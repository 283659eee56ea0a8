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
//! As traffic, each `send` is a message, and everything else adds nothing: receives repeat the sends. Their
//! order becomes a workload ([`read_goal`]), and [`relabel_goal`] renames the ranks. A label is not needed, `irequires`
//! waits for the start instead of the end, -1 is any sender or tag, `tag`, `cpu` and `nic` may follow an operation. `//` begins a comment
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
use crate::collector::FlowSink;
use crate::fault::{Stop, TrafficFault};
use crate::fields::ScannerExt;
use crate::format::Format;
use crate::kind::Kind;
use viem_io::Source;
use viem_io::scanner::Scanner;

pub(super) const FORMAT: Format = Format {
    kind: Kind {
        name: "goal",
        title: "GOAL schedules",
        tells_recorders: true,
        if_empty: "no rank has a `send`",
        ..Kind::PLAIN
    },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
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
fn add(statement: Statement, inlet: &mut FlowSink<'_>) -> Result<(), TrafficFault> {
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

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample, lines};
    use std::fmt::Write;

    pub(super) const SAMPLE: Sample = Sample {
        text: "num_ranks 3\nrank 0 {\nl1: send 70b to 2 tag 3\ncalc 5\n}\nrank 1 {\nsend 8b to 0\n}\nrank 2 {\nl1: recv 70b from 0\n}\n",
        write: Some(write),
        has_messages: true,
        ..Sample::NONE
    };

    fn write(n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let mut text = String::new();
        writeln!(text, "// a job\nnum_ranks {n}").unwrap();
        for me in 0..n {
            writeln!(text, "rank {me} {{").unwrap();
            // Bytes are shared by the messages: the last one has the rest.
            for (_, to, bytes, messages) in lines(flows).filter(|line| line.0 == me) {
                let each = bytes / messages;
                for number in 1..messages {
                    writeln!(text, "s{to}_{number}: send {each}b to {to} tag {number} cpu 1").unwrap();
                }
                writeln!(text, "send {} b to {to}\n", bytes - (messages - 1) * each).unwrap();
            }
            for (from, _, bytes, messages) in lines(flows).filter(|line| line.1 == me) {
                writeln!(text, "recv {}b from {from} /* the first\n of {messages} */", bytes / messages)
                    .unwrap();
            }
            text += "l1: calc 100\nl2: calc 7 cpu 3\nl1 requires l2\nl2 irequires l1\n}\n";
        }
        vec![text.into()]
    }
}
