//! The trace, and placements side by side.

use std::path::Path;

use serde::Serialize;

use super::options::TraceOptions;
use crate::console::Console;
use crate::error::Result;
use crate::files;
use viem::base::text::counted;
use viem::machine::Machine;
use viem::partition::MigrationWeight;
use viem_io::Source;
use viem_training::experts::text::{self, RoutingFile};
use viem_training::experts::{
    ExpertCopies, ExpertLoads, ExpertPlacement, ExpertRouting, ExpertScore, place_by_load, score_experts,
};

/// Reads a trace, and says what is in it and what is not.
pub(super) fn read(
    &TraceOptions { ref file, experts, read_as, .. }: &TraceOptions,
    console: Console,
) -> Result<RoutingFile> {
    let file = text::read_trace(Source::open(file)?, experts, read_as)?;
    let RoutingFile { routing, found, .. } = &file;
    if !found.passed_over.is_empty() {
        console.note(format_args!("columns that are passed over: {}", found.passed_over.join(", ")));
    }
    if !found.summed_over.is_empty() {
        console.note(format_args!(
            "loads are summed over all lines of a layer and an expert, whatever is in columns {}",
            found.summed_over.join(", ")
        ));
    }
    if found.is_rounded {
        console.note(format_args!("loads are rounded to {} decimal places", found.decimals));
    }
    let layers = routing.num_layers();
    if routing.is_of_loads() {
        let total: u64 = routing.layers().iter().flat_map(|layer| layer.loads()).sum();
        let total = number(total as f64 * routing.load_unit());
        console.line(format_args!(
            "trace has the loads of {layers} of {experts}, {total} in all",
            layers = counted(layers, "layer", "layers"),
            experts = counted(experts, "expert", "experts")
        ));
        console.note(format_args!(
            "the file holds how many tokens each expert has, and not which experts are chosen together; so loads are made even, and J and what \
             enters nodes and GPUs are unknown"
        ));
        return Ok(file);
    }
    let sets: usize = routing.layers().iter().map(|layer| layer.sets().len()).sum();
    console.line(format_args!(
        "trace has {layers} of {experts}, {} tokens, {sets} different sets of experts",
        routing.num_tokens(),
        layers = counted(layers, "layer", "layers"),
        experts = counted(experts, "expert", "experts")
    ));
    Ok(file)
}

/// What changes place since an older placement, as written to `--json`.
#[derive(Serialize)]
pub(super) struct Moves {
    previous: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    migration_weight: Option<MigrationWeight>,
    /// Copies of experts.
    moved: usize,
}

impl Moves {
    pub(super) fn new(old: &Path, migration_weight: Option<MigrationWeight>, moved: usize) -> Self {
        Self { previous: files::name(old), migration_weight, moved }
    }

    /// Says how many of the copies of a placement moved.
    pub(super) fn print(&self, console: Console, placement: &ExpertPlacement) {
        let all = placement.num_slots() * placement.layers().len();
        let share = 100.0 * self.moved as f64 / all.max(1) as f64;
        console.line(format_args!(
            "migration: {} of {all} copies of experts move, {share:.2} % of all",
            self.moved
        ));
    }
}

/// A number with as many decimal places as it has, up to six.
pub(super) fn number(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A placement and its figures, as written to `--json`.
#[derive(Serialize)]
pub(super) struct Row {
    name: String,
    /// Nothing where only loads are known; so are the next two.
    cost: Option<f64>,
    /// Bytes that enter nodes on the way to experts.
    across_nodes: Option<f64>,
    /// Bytes that enter processing elements.
    across_pes: Option<f64>,
    /// The greatest load by the mean, in the worst layer and on average.
    worst_load: f64,
    mean_load: f64,
    loads: Vec<ExpertLoads>,
}

/// What is known of a placement, as written to `--json`.
#[derive(Serialize)]
pub(super) struct Scored {
    layers: usize,
    /// Nothing where only loads are known.
    tokens: Option<u64>,
    /// Slots of a layer.
    slots: usize,
    /// What changes place since an older placement.
    #[serde(skip_serializing_if = "Option::is_none")]
    remap: Option<Moves>,
    /// The placement, then others.
    placements: Vec<Row>,
    /// True if the search was ended early; none if there was no search.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<bool>,
    /// Time of the search, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

impl Scored {
    pub(super) fn new(
        routing: &ExpertRouting,
        placement: &ExpertPlacement,
        remap: Option<Moves>,
        rows: Rows,
    ) -> Self {
        Self {
            layers: routing.num_layers(),
            tokens: (!routing.is_of_loads()).then(|| routing.num_tokens()),
            slots: placement.num_slots(),
            remap,
            placements: rows.rows,
            stopped: None,
            seconds: None,
        }
    }

    /// The same after a search.
    pub(super) fn after(self, stopped: bool, seconds: f64) -> Self {
        Self { stopped: Some(stopped), seconds: Some(seconds), ..self }
    }
}

/// Placements side by side.
pub(super) struct Rows {
    rows: Vec<Row>,
    unit: u64,
}

impl Rows {
    /// A placement beside the order of numbers and one by load alone, with the same copies.
    pub(super) fn new(
        options: &TraceOptions,
        (routing, machine): (&ExpertRouting, &dyn Machine),
        copies: &ExpertCopies,
        (name, score): (String, &ExpertScore),
    ) -> Result<Self> {
        let unit = options.token_bytes;
        let row = |name: &str, score: &ExpertScore| {
            let bytes = |tokens: f64| (!routing.is_of_loads()).then_some(tokens * unit as f64);
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

    /// The gain over the order of numbers, in words.
    pub(super) fn gain(&self) -> String {
        let [own, numbers] = [&self.rows[0], &self.rows[1]];
        match (own.across_nodes, numbers.across_nodes) {
            (Some(own), Some(numbers)) => {
                let what = if self.unit == 1 { "tokens" } else { "bytes" };
                format!("{} into nodes, compared with the order of numbers", change(own, numbers, what))
            }
            _ => format!(
                "the greatest load is {:.3} times the mean, and {:.3} times in the order of numbers",
                own.worst_load, numbers.worst_load
            ),
        }
    }

    /// The table.
    pub(super) fn print(&self, console: Console) {
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
            let Row { name, worst_load, mean_load, .. } = row;
            let [cost, nodes, pes] = [row.cost, row.across_nodes, row.across_pes]
                .map(|value| value.map_or_else(|| "-".to_owned(), number));
            console.line(format_args!(
                "{name:width$} {cost:>20} {nodes:>20} {pes:>20} {worst_load:>11.3} {mean_load:>11.3}"
            ));
        }
    }
}

/// By how much one number is less or more than another one.
fn change(own: f64, other: f64, what: &str) -> String {
    // Sums in another order differ in their last digits.
    let is_same = (own - other).abs() <= 1e-9 * other.abs();
    let percent = 100.0 * (other - own).abs() / other;
    match (own, other) {
        _ if is_same => "as much".to_owned(),
        (0.0, _) => format!("all of {} {what} less", number(other)),
        (_, 0.0) => format!("{} {what} more", number(own)),
        _ if own < other => format!("{percent:.1} % less"),
        _ => format!("{percent:.1} % more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_positive_numbers() {
        for (own, other, text) in [
            (75.0, 100.0, "25.0 % less"),
            (100.0, 75.0, "33.3 % more"),
            (0.0, 1234.5, "all of 1234.5 tokens less"),
            (7.0, 0.0, "7 tokens more"),
            (7.0, 7.000_000_000_001, "as much"),
            (0.0, 0.0, "as much"),
        ] {
            assert_eq!(change(own, other, "tokens"), text);
        }
    }

    #[test]
    fn numbers_have_the_decimal_places_that_they_need() {
        for (value, text) in [
            (12144.0, "12144"),
            (12_143.999_999_999_998, "12144"),
            (0.5, "0.5"),
            (100.0, "100"),
            (1.0 / 3.0, "0.333333"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
