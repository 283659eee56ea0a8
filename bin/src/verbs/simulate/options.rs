//! The options of `viem simulate`.

use std::path::{Path, PathBuf};

use clap::Parser;

use crate::compare::{Other, PictureOptions};
use crate::end;
use crate::error::{Result, UsageError};
use crate::files;
use crate::launch::LaunchOptions;
use crate::machine::MachineOptions;
use crate::neighbourhood::NeighbourhoodOptions;
use crate::options::{ReportOptions, SearchOptions, one_of};
use crate::workload::{CostOptions, LinkOptions};
use viem::base::settings::named;
use viem::mapping::construct::Construction;
use viem_workload::simulate::SimulationConfig;

const EXAMPLES: &str = "\
Examples:
  viem simulate job.workload -m torus:8x8
  viem simulate job.workload -m torus:8x8 --score=permutation --compare=block,random
  viem traffic --pattern=ring:64 --workload           a workload to try";

named! {
    /// What decides which mapping of a program is the best.
    pub enum Criterion: "criterion" {
        /// The completion time in the simulator.
        Simulation = "simulation",
        /// The estimate F.
        Estimate = "estimate",
    }
}

/// Maps the tasks of a workload, a program of sends, receives and computation, so that it completes early; or simulates a
/// mapping of it.
#[derive(Parser, Debug)]
#[command(name = "simulate", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", end::CODES))]
pub(crate) struct Options {
    /// The workload (PROCESS ...); - is standard input
    pub(super) file: PathBuf,

    #[command(flatten)]
    pub(super) machine: MachineOptions,

    /// Score this mapping and search for none: J, the estimate F, and the simulated completion time with times of PEs and the
    /// busiest links
    #[arg(long, value_name = "FILE", help_heading = "Scoring", conflicts_with_all = ["initial", "preset", "time_limit", "seed", "threads", "construction", "neighbourhood", "max_hops", "interval", "tasks_per_pe", "criterion", "output", "launch", "verify"])]
    pub(super) score: Option<PathBuf>,

    /// Compare the mapping with others. A list with commas: block, socket, cyclic, node-major, megatron, rail, random, or files
    #[arg(long, value_name = "LIST", help_heading = "Scoring", value_delimiter = ',', value_parser = Other::parse)]
    pub(super) compare: Vec<Other>,

    #[command(flatten)]
    pub(super) costs: CostOptions,

    #[command(flatten)]
    pub(super) links: LinkOptions,

    /// Write the timeline of the simulation to FILE, for chrome://tracing or Perfetto; - is standard output
    #[arg(long, value_name = "FILE", help_heading = "Simulation")]
    pub(super) trace: Option<PathBuf>,

    /// A mapping to improve. The result is not worse than it
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub(super) initial: Option<PathBuf>,

    #[command(flatten)]
    pub(super) search: SearchOptions,

    /// What decides which mapping is the best. Its completion time in the simulator, as far as that is found out soon,
    /// or the estimate F
    #[arg(long, value_name = "CRITERION", default_value = "simulation", help_heading = "Search", value_parser = one_of(&Criterion::ALL, Criterion::name))]
    pub(super) criterion: Criterion,

    /// How the initial mapping is made [default: by machine]
    #[arg(hide_short_help = true, long, value_name = "ALGORITHM", help_heading = "Search", value_parser = one_of(&Construction::ALL, Construction::name))]
    pub(super) construction: Option<Construction>,

    #[command(flatten)]
    pub(super) neighbourhood: NeighbourhoodOptions,

    /// Tasks that a PE has room for. By default what the machine says, or, if there are more tasks, as
    /// few as hold them all [default: by machine]
    #[arg(hide_short_help = true, long, value_name = "INT", help_heading = "Search", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(super) tasks_per_pe: Option<u32>,

    /// Where the mapping is written. Line i holds the PE of task i, both from 0; - is standard output, which then carries
    /// nothing else
    #[arg(long, short, default_value = "permutation", value_name = "FILE", help_heading = "Output")]
    pub(super) output: PathBuf,

    #[command(flatten)]
    pub(super) launch: LaunchOptions,

    #[command(flatten)]
    pub(super) picture: PictureOptions,

    /// Recompute J and F from the files by independent code. A mismatch is an error
    #[arg(long, help_heading = "Output")]
    pub(super) verify: bool,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

impl Options {
    /// An error if an option is given that decides nothing. Clap is told of no requirement: a conflict with `--score` would lift it.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        let scored = [("--compare", !self.compare.is_empty()), ("--trace", self.trace.is_some())];
        match scored.iter().find(|(_, is_given)| *is_given && self.score.is_none()) {
            Some((name, _)) => {
                Err(UsageError(format!("{name} is for a mapping that is scored; give --score=FILE")))
            }
            None => Ok(()),
        }
    }

    /// How the workload is simulated.
    pub(super) fn simulation(&self) -> Result<SimulationConfig, UsageError> {
        Ok(SimulationConfig::new(self.costs.costs()).with_sharing(self.links.sharing()?))
    }

    /// The files that no result may replace.
    pub(super) fn read_only(&self) -> Vec<&Path> {
        let scored = self.score.as_deref().into_iter().flat_map(files::files_of_mapping);
        let others = scored.chain(self.compare.iter().filter_map(Other::file));
        [self.file.as_path()].into_iter().chain(self.machine.files()).chain(others).collect()
    }
}
