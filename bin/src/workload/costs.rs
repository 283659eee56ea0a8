//! What the instructions of a workload cost, and how its messages share links.

use clap::{Args, ValueEnum};

use crate::error::UsageError;
use viem_workload::simulate::{Costs, Sharing};

/// What instructions cost.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Simulation")]
pub(crate) struct CostOptions {
    /// Cycles of a SEND [default: 1]
    #[arg(hide_short_help = true, long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=Costs::MOST))]
    send_cycles: Option<u64>,

    /// Cycles of a RECEIVE, once the message is there [default: 1]
    #[arg(hide_short_help = true, long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=Costs::MOST))]
    receive_cycles: Option<u64>,
}

impl CostOptions {
    pub(crate) fn costs(&self) -> Costs {
        let Costs { send, receive, .. } = Costs::default();
        Costs::new(self.send_cycles.unwrap_or(send), self.receive_cycles.unwrap_or(receive))
    }
}

/// How messages share links.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Simulation")]
pub(crate) struct LinkOptions {
    /// How messages share a link: one after the other, or all at the same time in max-min fair shares [default: turns]
    #[arg(long, value_enum)]
    sharing: Option<SharingName>,

    /// Cycles until the first flit of a message arrives, for each cycle (or unit of cost) of its links; with --sharing=fair [default: 0]
    #[arg(hide_short_help = true, long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=Costs::MOST))]
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

impl LinkOptions {
    /// Whether any of these options is given.
    pub(crate) fn is_given(&self) -> bool {
        self.sharing.is_some() || self.latency_cycles.is_some()
    }

    /// How messages share links; an error if a latency is given where there is none.
    pub(crate) fn sharing(&self) -> Result<Sharing, UsageError> {
        match (self.sharing, self.latency_cycles) {
            (Some(SharingName::Fair), latency) => Ok(Sharing::Fair { latency: latency.unwrap_or(0) }),
            (_, None) => Ok(Sharing::Turns),
            (_, Some(_)) => {
                Err(UsageError("--latency-cycles is for --sharing=fair; leave it out".to_owned()))
            }
        }
    }
}
