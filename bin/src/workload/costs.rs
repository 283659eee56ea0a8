//! What the instructions of a workload cost.

use clap::Args;

use viem::workload::simulate::Costs;

/// What instructions cost.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Workloads")]
pub(crate) struct CostOptions {
    /// Cycles of a SEND [default: 1]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=Costs::MOST))]
    send_cycles: Option<u64>,

    /// Cycles of a RECEIVE, once the message is there [default: 1]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=Costs::MOST))]
    receive_cycles: Option<u64>,
}

impl CostOptions {
    pub(crate) fn costs(&self) -> Costs {
        let Costs { send, receive, .. } = Costs::default();
        Costs::new(self.send_cycles.unwrap_or(send), self.receive_cycles.unwrap_or(receive))
    }
}
