//! What the instructions of a workload cost, and how its messages share links.

use clap::{Args, ValueEnum};

use viem_workload::simulate::{Costs, Sharing, SimulationConfig};

/// What instructions cost, and how messages share links.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Workloads")]
pub(crate) struct CostOptions {
    /// Cycles of a SEND [default: 1]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=Costs::MOST))]
    send_cycles: Option<u64>,

    /// Cycles of a RECEIVE, once the message is there [default: 1]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=Costs::MOST))]
    receive_cycles: Option<u64>,

    /// How messages share a link in simulations: one after the other, or all at the same time in max-min fair shares [default: turns]
    #[arg(long, value_enum)]
    sharing: Option<SharingName>,

    /// Cycles until the first flit of a message arrives, for each cycle (or unit of cost) of its links; with --sharing=fair [default: 0]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=Costs::MOST))]
    latency_cycles: Option<u64>,
}

/// How messages share a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SharingName {
    /// One after the other, as worms or stored and forwarded
    Turns,
    /// At the same time, in max-min fair shares
    Fair,
}

impl CostOptions {
    pub(crate) fn costs(&self) -> Costs {
        let Costs { send, receive, .. } = Costs::default();
        Costs::new(self.send_cycles.unwrap_or(send), self.receive_cycles.unwrap_or(receive))
    }

    pub(crate) fn sharing(&self) -> Sharing {
        match self.sharing {
            Some(SharingName::Fair) => Sharing::Fair { latency: self.latency_cycles.unwrap_or(0) },
            Some(SharingName::Turns) | None => Sharing::Turns,
        }
    }

    /// A simulation of a workload.
    pub(crate) fn simulation(&self) -> SimulationConfig {
        SimulationConfig::new(self.costs()).with_sharing(self.sharing())
    }
}
