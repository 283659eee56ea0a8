//! Experts: options about them, and placements side by side.

use clap::Args;
use serde::Serialize;

use crate::console::Console;
use crate::error::Result;
use viem::io::Source;
use viem::machine::Machine;
use viem::workload::experts::{
    ExpertCopies, ExpertId, ExpertLoads, ExpertPlacement, ExpertRouting, ExpertScore, MOST_COPIES,
    place_by_load, score_experts, text,
};

/// What is known of experts.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Experts")]
pub(crate) struct ExpertOptions {
    /// Number of experts in a layer. The file is then a trace of which experts tokens have chosen, or counts of pairs,
    /// as .npy, .npz or text
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(ExpertId).range(1..=MOST_COPIES as i64))]
    pub(crate) experts: Option<ExpertId>,

    /// Bytes of a token that are sent to an expert [default: 1, so that tokens are counted]
    #[arg(long, value_name = "INT", requires = "experts", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub(crate) token_bytes: Option<u64>,
}

impl ExpertOptions {
    /// The bytes of a token; 1 if tokens are counted.
    pub(crate) fn unit(&self) -> u64 {
        self.token_bytes.unwrap_or(1)
    }
}

/// Reads a trace, and says what is in it.
pub(crate) fn read(source: Source<'_>, experts: ExpertId, console: Console) -> Result<ExpertRouting> {
    let routing = text::read_routing(source, experts)?;
    let sets: usize = routing.layers().iter().map(|layer| layer.sets().len()).sum();
    console.line(format_args!(
        "trace has {} layers of {experts} experts, {} tokens, {sets} different sets of experts",
        routing.num_layers(),
        routing.num_tokens()
    ));
    Ok(routing)
}

/// A placement and its figures, as written to `--json`.
#[derive(Serialize)]
pub(crate) struct Row {
    name: String,
    #[serde(rename = "J")]
    cost: f64,
    /// Bytes that enter nodes on the way to experts.
    across_nodes: f64,
    /// Bytes that enter processing elements.
    across_pes: f64,
    /// The greatest load by the mean, in the worst layer and on average.
    worst_load: f64,
    mean_load: f64,
    loads: Vec<ExpertLoads>,
}

/// Placements side by side.
pub(crate) struct Rows {
    pub(crate) rows: Vec<Row>,
    unit: u64,
}

impl Rows {
    /// A placement beside the order of numbers and one by load alone, with the same copies.
    pub(crate) fn new(
        options: &ExpertOptions,
        (routing, machine): (&ExpertRouting, &dyn Machine),
        copies: &ExpertCopies,
        (name, score): (String, &ExpertScore),
    ) -> Result<Self> {
        let unit = options.unit();
        let row = |name: &str, score: &ExpertScore| {
            let bytes = |tokens: f64| tokens * unit as f64;
            Row {
                name: name.to_owned(),
                cost: bytes(score.cost),
                across_nodes: bytes(score.across_nodes),
                across_pes: bytes(score.across_pes),
                worst_load: score.worst_ratio(),
                mean_load: score.mean_ratio(),
                loads: score.loads.clone(),
            }
        };
        let numbers = ExpertPlacement::in_order(routing, copies)?;
        let by_load = place_by_load(routing, copies, machine)?;
        let rows = vec![
            row(&name, score),
            row("numbers", &score_experts(routing, &numbers, machine)?),
            row("by load", &score_experts(routing, &by_load, machine)?),
        ];
        Ok(Self { rows, unit })
    }

    /// By how many percent less crosses nodes than in the order of numbers.
    pub(crate) fn gain(&self) -> f64 {
        let [own, numbers] = [self.rows[0].across_nodes, self.rows[1].across_nodes];
        if numbers > 0.0 { 100.0 * (numbers - own) / numbers } else { 0.0 }
    }

    /// The table.
    pub(crate) fn tell(&self, console: Console) {
        let width = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(9);
        let what = if self.unit == 1 { "tokens" } else { "bytes" };
        console.line(format_args!(
            "{:width$} {:>20} {:>20} {:>20} {:>11} {:>11}",
            "placement",
            "J",
            format!("{what} into nodes"),
            format!("{what} into GPUs"),
            "worst load",
            "mean load"
        ));
        for row in &self.rows {
            let Row { name, cost, across_nodes, across_pes, worst_load, mean_load, .. } = row;
            console.line(format_args!(
                "{name:width$} {cost:>20.0} {across_nodes:>20.0} {across_pes:>20.0} {worst_load:>11.3} {mean_load:>11.3}"
            ));
        }
    }
}
