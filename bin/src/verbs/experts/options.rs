//! The options of `viem experts`.

use std::path::{Path, PathBuf};

use clap::{Args, Parser};

use crate::end;
use crate::error::Result;
use crate::machine::MachineOptions;
use crate::options::{self, ReportOptions, SearchOptions, one_of};
use viem::partition::MigrationWeight;
use viem_training::expert_trace::TraceKind;
use viem_training::experts::{ExpertId, MOST_COPIES};

const EXAMPLES: &str = "\
Examples:
  viem experts routing.npy --experts=64 -m 8:4 -d 1:10
  viem experts routing.npy --experts=64 --replicas=32 -m 8:4 -d 1:10 -o experts.json
  viem experts routing.npy --experts=64 -m 8:4 -d 1:10 --score=experts.json";

/// Places the experts of a mixture-of-experts model on GPUs, so that tokens travel little and loads are even.
#[derive(Parser, Debug)]
#[command(name = "experts", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", end::CODES))]
pub(crate) struct Options {
    #[command(flatten)]
    pub(super) trace: TraceOptions,

    #[command(flatten)]
    pub(super) machine: MachineOptions,

    /// Score this placement and search for none
    #[arg(long, value_name = "FILE", help_heading = "Placement", conflicts_with_all = ["replicas", "imbalance", "preset", "time_limit", "seed", "threads", "output", "verify", "migration_weight"])]
    pub(super) score: Option<PathBuf>,

    /// Further copies of experts. A number for each layer, which go to the experts with most tokens per copy, or a file with
    /// a line for each layer, or one for all: the number of copies of each expert
    #[arg(long, value_name = "INT|FILE", help_heading = "Placement")]
    pub(super) replicas: Option<String>,

    /// Maximum number of tokens of a GPU above its share, in percent
    #[arg(
        long,
        short,
        value_name = "PERCENT",
        help_heading = "Placement",
        default_value = "3",
        allow_negative_numbers = true
    )]
    pub(super) imbalance: f64,

    #[command(flatten)]
    pub(super) search: SearchOptions,

    /// Start from this placement, and keep most copies where they are; with --score, count the copies that move
    #[arg(long, value_name = "FILE", help_heading = "Remapping")]
    pub(super) previous: Option<PathBuf>,

    /// What it costs that a copy moves, in units of J; where only loads are known, the greatest load stands for J
    #[arg(
        long,
        value_name = "X",
        help_heading = "Remapping",
        requires = "previous",
        allow_negative_numbers = true
    )]
    pub(super) migration_weight: Option<MigrationWeight>,

    /// Where the placement is written, as JSON; - is standard output, which then carries nothing else
    #[arg(long, short, default_value = "experts.json", value_name = "FILE", help_heading = "Output")]
    pub(super) output: PathBuf,

    /// Recompute the results from the files by independent code. A mismatch is an error
    #[arg(long, help_heading = "Output")]
    pub(super) verify: bool,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// What is known of experts.
#[derive(Args, Clone, Debug)]
pub(super) struct TraceOptions {
    /// The trace: which experts tokens have chosen, or counts of pairs
    /// or of single experts, as .npy, .npz or text; - is standard input
    pub(super) file: PathBuf,

    /// Number of experts in a layer
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(ExpertId).range(1..=MOST_COPIES as i64))]
    pub(super) experts: ExpertId,

    /// What the trace holds, where its content leaves it open. choices: the experts of each token; pairs: how many tokens
    /// have chosen two experts; loads: how many have chosen an expert
    #[arg(long, value_name = "KIND", value_parser = one_of(&TraceKind::ALL, TraceKind::name))]
    pub(super) read_as: Option<TraceKind>,

    /// Bytes of a token that are sent to an expert. With 1, tokens are counted
    #[arg(long, value_name = "INT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub(super) token_bytes: u64,
}

impl Options {
    /// The imbalance as a share.
    pub(super) fn imbalance(&self) -> Result<f64> {
        Ok(options::imbalance(self.imbalance)?)
    }

    /// The files that no result may replace.
    pub(super) fn read_only(&self) -> Vec<&Path> {
        let replicas = self.replicas.as_deref().and_then(file_of_replicas);
        [self.trace.file.as_path()].into_iter().chain(self.machine.files()).chain(replicas).collect()
    }
}

/// The file that `--replicas` names, if it is no number.
pub(super) fn file_of_replicas(replicas: &str) -> Option<&Path> {
    replicas.parse::<usize>().is_err().then(|| Path::new(replicas))
}
