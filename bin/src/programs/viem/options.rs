//! The options of `viem`, and which of them means something in which mode.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser};

use super::first_mapping::{self, FirstOptions};
use super::goal::Goal;
use super::keep::Keep;
use super::neighbourhood::{self, NeighbourhoodOptions};
use crate::compare::PictureOptions;
use crate::error::{Result, UsageError};
use crate::exit;
use crate::experts::ExpertOptions;
use crate::files;
use crate::fixed::{FirstHost, FixedOptions};
use crate::launch::LaunchOptions;
use crate::machine::MachineOptions;
use crate::many_to_one::SharingOptions;
use crate::modes::{Mode, Need, Row, Table};
use crate::options::{self, ReportOptions, one_of};
use crate::qap::{ModelFormat, OutputFormat};
use crate::remap::RemapOptions;
use crate::workload::CostOptions;
use viem::ground::settings::named;
use viem::ground::types::Cost;
use viem::machine::{DistanceKind, Machine};
use viem::mapping::construct::Construction;
use viem::solve::{Config, MapPreset};
use viem_workload::contention::{BottleneckConfig, JobObjective, ReliefConfig, SecondaryObjective};

/// The name of the program.
pub(crate) const NAME: &str = "viem";

/// What the help says below the options.
const SIGNALS: &str = "The first SIGINT, SIGTERM, SIGUSR1 or SIGUSR2 ends the run early: the best mapping found so far is written, and after \
     SIGINT (Ctrl-C) the program ends by that signal. The second ends it at once.";

/// Maps processes to the processing elements of a machine so that processes that communicate much are close to each other,
/// or an application graph with many vertices per processing element.
#[derive(Parser, Debug)]
#[command(name = NAME, version, infer_long_args = true, rename_all = "snake_case", after_help = format!("{SIGNALS}\n\n{}", exit::CODES))]
pub(crate) struct Options {
    /// The model. A METIS graph whose vertices are the processes and whose edge weights are how much two of them
    /// communicate; or an application graph with more vertices than the machine has processing elements; a workload
    /// (PROCESS ...); a trace of experts (--experts); or, without a machine, a quadratic assignment problem of QAPLIB (FILE.dat, FILE.qap); - is
    /// standard input
    pub(crate) file: PathBuf,

    /// What the model is, where its name does not say
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&ModelFormat::ALL, ModelFormat::name))]
    pub(crate) input_format: Option<ModelFormat>,

    #[command(flatten)]
    pub(crate) machine: MachineOptions,

    #[command(flatten)]
    pub(crate) sharing: SharingOptions,

    /// Seed of all random choices. The same seed gives the same mapping
    #[arg(long, default_value = "0", value_name = "INT", allow_negative_numbers = true, value_parser = options::seed)]
    pub(crate) seed: u64,

    /// Trade-off of time and quality
    #[arg(long, default_value = "eco", value_name = "PRESET", value_parser = one_of(&MapPreset::ALL, MapPreset::name))]
    pub(crate) preconfiguration_mapping: MapPreset,

    #[command(flatten)]
    pub(crate) first: FirstOptions,

    /// Whether distances are stored or computed. Stored in a matrix (hierarchy), or computed from the numbers of the
    /// two processing elements (hierarchyonline); for regular trees; the mapping is the same [default: the faster]
    #[arg(long, value_name = "KIND", value_parser = one_of(&DistanceKind::ALL, DistanceKind::name))]
    pub(crate) distance_construction_algorithm: Option<DistanceKind>,

    #[command(flatten)]
    pub(crate) neighbourhood: NeighbourhoodOptions,

    /// A mapping to improve. The result is not worse than it; also a rankfile, a rank order of Cray MPICH or a list of
    /// hosts, as launchers take them; hosts,bind.sh are both files of
    /// slurm, intel or flux; inverse:FILE has the rank on each processing element
    #[arg(long, alias = "input", value_name = "FILE")]
    pub(crate) input_mapping: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) fixed: FixedOptions,

    /// What must be on the first host. rank0: process 0 is on one of its processing elements, as launchers need that
    /// otherwise hang
    #[arg(long, value_name = "WHAT", value_parser = one_of(&FirstHost::ALL, FirstHost::name))]
    pub(crate) first_host: Option<FirstHost>,

    /// How many consecutive processes must share a node. Process 0 and the next ones form a group of this size, and so on;
    /// the last group has what remains. Or a file, line i of which holds the group of process i; all groups have the same
    /// size, but for one that may be smaller
    #[arg(long, value_name = "INT|FILE", conflicts_with = "secondary", value_parser = Keep::parse)]
    pub(crate) keep: Option<Keep>,

    /// Keep improving for this time, and return the best mapping found. From new constructions and from the best
    /// mapping by turns; a large problem is stopped before its search is done. Seconds, or with a unit: 90, 1.5, 90s,
    /// 2m, 1h
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = options::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// What is minimised. bottleneck: the load of the busiest link, or the traffic that leaves the busiest node where links
    /// are not known, and then J; mixed: J and a norm of the loads. J rises by at most 3 percent, or as much as a simple
    /// order needs that has a lower maximum
    #[arg(long, default_value = "J", value_name = "OBJECTIVE", conflicts_with = "secondary",
          value_parser = one_of(&JobObjective::ALL, JobObjective::name))]
    objective: JobObjective,

    /// What else is lowered where J hardly rises. busiest_link: the load of the busiest link of a tree, a grid or a
    /// network; busiest_node: the traffic that leaves the busiest node; by exchanges after the search [default: none]
    #[arg(long, value_name = "OBJECTIVE", value_parser = one_of(&SecondaryObjective::ALL, SecondaryObjective::name))]
    pub(crate) secondary: Option<SecondaryObjective>,

    /// By how much J may rise for the --secondary objective, in percent, from 0 to 100 [default: 0.5]
    #[arg(long, value_name = "PERCENT", requires = "secondary", allow_negative_numbers = true)]
    secondary_excess: Option<f64>,

    /// Stop once J is at most this
    #[arg(long, value_name = "J", allow_negative_numbers = true)]
    pub(crate) target: Option<Cost>,

    /// Where the mapping is written. Line i holds the processing element of process i, both from 0; a placement of
    /// experts is JSON, in experts.json by default; - is standard output, which then carries nothing else
    #[arg(long, short, alias = "output", default_value = "permutation", value_name = "FILE")]
    pub(crate) output_filename: PathBuf,

    /// How the mapping is written. One number per line, or as a solution file of QAPLIB (n, J, the place of each object
    /// from 1)
    #[arg(long, default_value = "mapping", value_name = "FORMAT",
          value_parser = one_of(&OutputFormat::ALL, OutputFormat::name))]
    pub(crate) output_format: OutputFormat,

    /// Number of threads. At most 256, or the number of cores if that is more; the mapping is the same for any number
    /// [default: all cores]
    #[arg(long, value_name = "INT")]
    pub(crate) threads: Option<usize>,

    /// Read model and mapping again from their files and recompute J by independent code. A mismatch is an error
    #[arg(long)]
    pub(crate) verify: bool,

    #[command(flatten)]
    pub(crate) launch: LaunchOptions,

    /// Also write this GOAL schedule of the job, with each rank named by the processing element it is mapped to. Its file is
    /// mapped.goal unless another one is named; an existing file is replaced only if it is named
    #[arg(long, value_name = "FILE[,FILE]", value_parser = Goal::parse)]
    pub(crate) goal: Option<Goal>,

    #[command(flatten)]
    pub(crate) picture: PictureOptions,

    #[command(flatten)]
    pub(crate) report: ReportOptions,

    // Groups with headings come last: what follows one would stand under its heading.
    #[command(flatten)]
    pub(crate) remap: RemapOptions,

    #[command(flatten)]
    pub(crate) workload: MapWorkloadOptions,

    #[command(flatten)]
    pub(crate) experts: ExpertOptions,

    /// Further copies of experts. A number for each layer, which go to the experts with most tokens per copy, or a file with
    /// a line for each layer, or one for all: the number of copies of each expert
    #[arg(long, value_name = "INT|FILE", requires = "experts", help_heading = "Experts")]
    pub(crate) replicas: Option<String>,
}

named! {
    /// What decides which mapping of a program is the best.
    pub enum Judge: "judge" {
        /// The completion time in the simulator.
        Simulation = "simulation",
        /// The estimate F.
        Estimate = "estimate",
    }
}

/// How a workload is mapped.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Workloads")]
pub(crate) struct MapWorkloadOptions {
    #[command(flatten)]
    pub(crate) costs: CostOptions,

    /// Tasks that a processing element has room for. By default what the machine says, or, if there are more tasks, as
    /// few as hold them all [default: by machine]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(crate) tasks_per_pe: Option<u32>,

    /// What decides which mapping is the best. Its completion time in the simulator, as far as that is found out soon,
    /// or the estimate F [default: simulation]
    #[arg(long, value_name = "JUDGE", value_parser = one_of(&Judge::ALL, Judge::name))]
    judge: Option<Judge>,
}

impl MapWorkloadOptions {
    pub(crate) fn judge(&self) -> Judge {
        self.judge.unwrap_or(Judge::Simulation)
    }
}

impl Options {
    /// What is minimised, if that is not J alone.
    pub(super) fn bottleneck(&self) -> Option<BottleneckConfig> {
        let config = BottleneckConfig::default().with_objective(self.objective).with_seed(self.seed);
        (self.objective != JobObjective::J).then_some(config)
    }

    /// How the secondary objective is lowered, if there is one.
    pub(super) fn relief(&self) -> Result<Option<ReliefConfig>> {
        let config = ReliefConfig::default();
        let config = match self.secondary_excess {
            Some(percent) if !(0.0..=100.0).contains(&percent) => {
                let message = format!("--secondary_excess={percent} is not a percentage from 0 to 100");
                return Err(UsageError(message).into());
            }
            Some(percent) => config.with_excess(percent / 100.0),
            None => config,
        };
        Ok(self.secondary.map(|objective| config.with_objective(objective)))
    }

    /// The settings of a run. `is_file`: whether the mapping goes to a file of its own.
    pub(super) fn config(&self, machine: &dyn Machine, is_file: bool) -> Result<Config> {
        let older = self.remap.old().into_iter().chain(self.remap.files());
        let kept = self.keep.iter().filter_map(Keep::file);
        let goal = self.goal.iter().map(Goal::schedule);
        let more = self.fixed.file().into_iter().chain(kept).chain(goal).chain(older);
        let read = [self.file.as_path()].into_iter().chain(self.machine.files()).chain(more);
        if self.verify {
            files::probe_verifiable(read, is_file)?;
        }
        if let (Some(kind), None) = (self.distance_construction_algorithm, machine.hierarchy()) {
            let message = format!(
                "--distance_construction_algorithm={} is for regular trees only; leave it out",
                kind.name()
            );
            return Err(UsageError(message).into());
        }
        let mut config = Config::preset(self.preconfiguration_mapping)
            .with_seed(self.seed)
            .with_threads(options::threads(self.threads)?)
            .with_time_limit(self.time_limit)
            .with_distances(self.distance_construction_algorithm);
        config.one_to_one.construction.algorithm = self.first.construction();
        config.one_to_one.search = self.neighbourhood.config()?;
        config.validate()?;
        Ok(config)
    }
}

/// Everything but quadratic assignment problems has a machine.
const ON_MACHINES: &[Mode] = &[Mode::OneToOne, Mode::ManyToOne, Mode::Remapping, Mode::Workload];

/// The same and experts.
const WITH_MACHINES: &[Mode] =
    &[Mode::OneToOne, Mode::ManyToOne, Mode::Remapping, Mode::Workload, Mode::Experts];

/// Every mode that makes a mapping.
const OF_MAPPINGS: &[Mode] = &[Mode::OneToOne, Mode::ManyToOne, Mode::Remapping, Mode::Workload, Mode::Qap];

/// Every mode.
const ALL: &[Mode] =
    &[Mode::OneToOne, Mode::ManyToOne, Mode::Remapping, Mode::Workload, Mode::Qap, Mode::Experts];

/// Which option means something in which mode.
pub(crate) static TABLE: Table = Table {
    modes: ALL,
    rows: &[
        Row::new(
            ALL,
            &[
                "file",
                "seed",
                "preconfiguration_mapping",
                "output_filename",
                "threads",
                "time_limit",
                "verify",
                "quiet",
                "json",
            ],
        ),
        Row::new(WITH_MACHINES, MachineOptions::NAMES)
            .instead(&[Mode::Qap], "it holds its own distances; leave it out"),
        Row::new(ON_MACHINES, &["picture"]),
        Row::new(
            &[Mode::OneToOne, Mode::ManyToOne, Mode::Workload, Mode::Qap],
            &["input_mapping"],
        )
        .instead(&[Mode::Remapping], "it starts where its vertices were, and a mapping from elsewhere is not near that; leave it out"),
        Row::new(&[Mode::OneToOne, Mode::ManyToOne, Mode::Remapping, Mode::Qap], &["fixed"]),
        Row::new(&[Mode::OneToOne], &["first_host", "keep", "goal", "objective", "secondary", "secondary_excess"]),
        Row::new(&[Mode::OneToOne, Mode::ManyToOne, Mode::Remapping], &["input_format"])
            .with_values(&["metis"]),
        Row::new(&[Mode::Qap], &["input_format"]).with_values(&["qaplib"]),
        Row::new(&[Mode::ManyToOne, Mode::Remapping, Mode::Experts], &["imbalance"]),
        Row::new(&[Mode::ManyToOne, Mode::Remapping], &["least_load", "pe_weights"]),
        Row::new(&[Mode::OneToOne, Mode::Workload], &["construction_algorithm"])
            .with_values(&Construction::NAMES),
        Row::new(&[Mode::OneToOne, Mode::ManyToOne], &["construction_algorithm"])
            .with_values(first_mapping::ORDERS)
            .instead(&[Mode::Remapping], "it starts where its vertices were; leave it out"),
        Row::new(&[Mode::OneToOne, Mode::ManyToOne], &["coordinates", "coordinate_ids"]),
        Row::new(&[Mode::OneToOne, Mode::ManyToOne, Mode::Workload], &["local_search_neighborhood"])
            .with_values(&["none"]),
        Row::new(&[Mode::OneToOne, Mode::Workload], &["local_search_neighborhood"])
            .with_values(neighbourhood::SEARCHES),
        Row::new(
            &[Mode::OneToOne, Mode::Workload],
            &["communication_neighborhood_dist", "search_space_s", "distance_construction_algorithm"],
        ),
        Row::new(&[Mode::OneToOne, Mode::Workload], &["launch"])
            .instead(
                &[Mode::ManyToOne, Mode::Remapping],
                "take a machine with a processing element for each process, or make a model by generate_model --machine and map that",
            ),
        Row::new(&[Mode::Remapping, Mode::Experts], &["remap_from", "migration_weight"])
            .instead(&[Mode::OneToOne], "leave it out; --input_mapping improves a mapping"),
        Row::new(&[Mode::Remapping], &["remap_left", "parents", "curve"])
            .instead(&[Mode::OneToOne], "leave it out; --input_mapping improves a mapping"),
        Row::new(
            &[Mode::Workload],
            &["send_cycles", "receive_cycles", "sharing", "latency_cycles", "tasks_per_pe", "judge"],
        ),
        Row::new(&[Mode::Qap], &["target"]),
        Row::new(&[Mode::Experts], &["experts", "read_as", "replicas", "token_bytes"]),
        Row::new(OF_MAPPINGS, &["output_format"]).with_values(&["mapping"]),
        Row::new(&[Mode::Qap], &["output_format"]).with_values(&["sln"]),
    ],
    needs: &[
        Need { option: "latency_cycles", modes: &[Mode::Workload], of: &[("sharing", &["fair"])] },
        Need {
            option: "coordinates",
            modes: &[Mode::OneToOne, Mode::ManyToOne],
            of: &[("construction_algorithm", first_mapping::WITH_COORDINATES)],
        },
        Need {
            option: "local_search_neighborhood",
            modes: &[Mode::ManyToOne],
            of: &[("construction_algorithm", first_mapping::ORDERS)],
        },
    ],
};
