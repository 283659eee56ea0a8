//! The options of `generate_model`, and which of them means something in which mode.

use std::path::{Path, PathBuf};

use clap::{Args, Parser};

use super::speeds::SpeedOptions;
use crate::error::{Result, UsageError};
use crate::exit;
use crate::fixed::FixedOptions;
use crate::machine::MachineOptions;
use crate::modes::{Mode, Need, Row, Table};
use crate::options::{self, ReportOptions, one_of};
use crate::remap::RemapOptions;
use viem::partition::{Grouping, PartitionAlgorithm, PartitionPreset};
use viem::solve::Config;
use viem_io::coordinates::Ids;
use viem_traffic::{Format, MOST_RANKS, Share, Sizes, Weighing};
use viem_training::jobs::TrafficClass;
use viem_workload::generate::{Pattern, Size};

/// The name of the program.
pub(crate) const NAME: &str = "generate_model";

/// Makes a model: a graph of processes and of what they communicate. Partitions an application graph, each block of
/// which becomes a process, sums recorded traffic of an MPI job, takes the messages of a workload, or computes what the
/// ranks of a training job send each other.
#[derive(Parser, Debug)]
#[command(name = NAME, version, infer_long_args = true, rename_all = "snake_case", after_help = exit::CODES)]
pub(crate) struct Options {
    /// The application graph, in METIS format or another one, a workload, or files of recorded traffic; - is standard input
    #[arg(required_unless_present_any = ["generate", "parallel"], value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) partition: PartitionOptions,

    #[command(flatten)]
    pub(crate) onto: OntoOptions,

    #[command(flatten)]
    pub(crate) fixed: FixedOptions,

    /// Seed of all random choices. The same seed gives the same model
    #[arg(long, default_value = "0", value_name = "INT", allow_negative_numbers = true, value_parser = options::seed)]
    pub(crate) seed: u64,

    /// Trade-off of time and quality. Those named social take every graph for one with heavy-tailed degrees
    #[arg(long, default_value = "eco", value_name = "PRESET", value_parser = one_of(&PartitionPreset::ALL, PartitionPreset::name))]
    pub(crate) preconfiguration: PartitionPreset,

    /// How many percent above the mean a block may weigh. The mean is rounded up, the bound down; 0 is perfect balance
    #[arg(long, default_value_t = 3.0, value_name = "PERCENT", allow_negative_numbers = true)]
    pub(crate) imbalance: f64,

    /// How many percent of its share, which is the mean or that of its speed, a block gets at least. From 0 to 100, rounded
    /// down; a bound goes before
    #[arg(long, default_value_t = 0.0, value_name = "PERCENT", allow_negative_numbers = true)]
    pub(crate) least_load: f64,

    /// Where the model is written; - is standard output, which then carries nothing else
    #[arg(long, short, default_value = "model.graph", value_name = "FILE")]
    pub(crate) output_filename: PathBuf,

    /// Where the block of each vertex is written. Line i holds the block of vertex i, both from 0
    #[arg(long, value_name = "FILE")]
    pub(crate) mapping_filename: Option<PathBuf>,

    /// Number of threads. At most 256, or the number of cores if that is more; the model is the same for any number
    /// [default: all cores]
    #[arg(long, value_name = "INT")]
    pub(crate) threads: Option<usize>,

    /// Read all files again and recompute the results by independent code. That is cut, loads and model, and on a
    /// machine J; a mismatch is an error
    #[arg(long)]
    pub(crate) verify: bool,

    #[command(flatten)]
    pub(crate) report: ReportOptions,

    // Groups with headings come last: what follows one would stand under its heading.
    #[command(flatten)]
    pub(crate) remap: RemapOptions,

    #[command(flatten)]
    pub(crate) traffic: TrafficOptions,

    #[command(flatten)]
    pub(crate) order: OrderOptions,

    #[command(flatten)]
    pub(crate) generator: GeneratorOptions,

    #[command(flatten)]
    pub(crate) training: TrainingOptions,
}

/// Into what a graph is divided, and how.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case")]
pub(crate) struct PartitionOptions {
    /// Number of parts of an application graph, that is of vertices of the model
    #[arg(long, value_name = "INT")]
    pub(crate) k: Option<usize>,

    #[command(flatten)]
    pub(crate) speeds: SpeedOptions,

    /// How an application graph is divided. rcb, zcurve and hilbert need --coordinates [default: multilevel]
    #[arg(long, value_name = "ALGORITHM", value_parser = one_of(&PartitionAlgorithm::ALL, PartitionAlgorithm::name))]
    pub(crate) algorithm: Option<PartitionAlgorithm>,

    /// Where the vertices lie. A line of coordinates for each, an .xyz file with a header, or a Matrix Market array
    #[arg(long, value_name = "FILE")]
    pub(crate) coordinates: Option<PathBuf>,

    /// Whether the first column of --coordinates holds the numbers of the vertices, yes or no. A file of three or more
    /// columns is refused if that is unclear [default: by file]
    #[arg(long, value_name = "yes|no", requires = "coordinates", value_parser = options::ids)]
    pub(crate) coordinate_ids: Option<Ids>,

    /// How rcb and rsb group parts of unequal speed where they divide them in two. The first ones that make about half,
    /// or so that both groups are as equal as possible [default: simple]
    #[arg(long, value_name = "GROUPING", value_parser = one_of(&Grouping::ALL, Grouping::name))]
    pub(crate) grouping: Option<Grouping>,

    /// Write the order of the vertices by the algorithm, to be cut again with --index. Line i holds the position of
    /// vertex i, both from 0; the parts then are ranges of this order
    #[arg(long, value_name = "FILE")]
    pub(crate) write_index: Option<PathBuf>,

    /// The order of the vertices that --write_index wrote. Parts are ranges of it, which takes no time
    #[arg(long, value_name = "FILE", conflicts_with_all = ["algorithm", "write_index"])]
    pub(crate) index: Option<PathBuf>,

    /// Also draw the graph and its parts into an SVG file
    #[arg(long, value_name = "FILE.svg", requires = "coordinates")]
    pub(crate) picture: Option<PathBuf>,
}

impl Options {
    /// The settings of a request.
    pub(crate) fn config(&self, threads: usize) -> Config {
        Config::from(self.preconfiguration).with_seed(self.seed).with_threads(threads)
    }
}

impl PartitionOptions {
    /// Whether it is said into what a graph is divided.
    pub(crate) fn is_given(&self) -> bool {
        self.k.is_some() || self.speeds.is_given()
    }

    /// Every file that is read besides the graph.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.speeds.file().into_iter().chain(self.coordinates.as_deref()).chain(self.index.as_deref())
    }

    pub(crate) fn algorithm(&self) -> PartitionAlgorithm {
        self.algorithm.unwrap_or_default()
    }

    /// An error if these options do not fit together.
    pub(crate) fn check(&self) -> Result<(), UsageError> {
        let algorithm = self.algorithm();
        let needs = self.index.is_none() && algorithm.needs_coordinates();
        if needs && self.coordinates.is_none() {
            let message = format!(
                "--algorithm={algorithm} needs to know where the vertices lie; give --coordinates=FILE"
            );
            return Err(UsageError(message));
        }
        if self.grouping.is_some() && self.write_index.is_some() {
            let message = "--grouping is for --algorithm=rcb, rsb without --write_index; leave it out";
            return Err(UsageError(message.to_owned()));
        }
        Ok(())
    }
}

/// The machine that a graph is mapped onto, if it is.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case")]
pub(crate) struct OntoOptions {
    /// Map the graph onto this machine, instead of partitioning it into --k blocks. The model then has a vertex for
    /// each processing element, in their order; as in viem: 4:16:8, torus:16x8x8, ..., or a file
    // Clap is given no conflict with --k: it would then accept --pes and the like beside --k.
    #[arg(long, value_name = "SPEC")]
    pub(crate) machine: Option<String>,

    /// Distances of the machine, innermost level first
    #[arg(long, value_name = "d1:d2:...", requires = "machine")]
    pub(crate) distance_parameter_string: Option<String>,

    /// Map to these processing elements of the machine only
    #[arg(long, value_name = "LIST|FILE", requires = "machine")]
    pub(crate) pes: Option<String>,

    /// How much work each processing element takes, in proportion. One whole number per line
    #[arg(long, value_name = "FILE", requires = "machine")]
    pub(crate) pe_weights: Option<PathBuf>,
}

impl OntoOptions {
    /// The machine, if one is given.
    pub(crate) fn machine(&self) -> Option<MachineOptions> {
        let spec = self.machine.clone()?;
        Some(MachineOptions::of(spec, self.distance_parameter_string.clone(), self.pes.clone()))
    }

    /// Whether there is a machine.
    pub(crate) fn is_given(&self) -> bool {
        self.machine.is_some()
    }

    /// The file of the speeds, which is read besides those of the machine.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.pe_weights.as_deref()
    }
}

/// How recorded traffic is summed.
#[derive(Args, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Recorded traffic")]
pub(crate) struct TrafficOptions {
    /// What the files are. They are summed into a communication graph, and nothing is partitioned, but beside --k,
    /// --speeds or --machine a file of kind mtx, json or graphml is an application graph; if not given, the kind is
    /// recognised by content where it can only be one
    #[arg(long, value_name = "KIND", value_parser = one_of(&Format::ALL, Format::name))]
    pub(crate) from: Option<Format>,

    /// Weight of an edge. Bytes, msgs, or ALPHA+BETA, the cost of a message and of a byte such as 1.5e-6+2e-10
    /// [default: bytes]
    #[arg(long, value_name = "WEIGHT", value_parser = Weighing::parse)]
    pub(crate) weight: Option<Weighing>,

    /// What a column called size holds in a table that counts messages, too. The bytes of all messages of a line, or of
    /// each [default: asked for]
    #[arg(long, value_name = "all|each", value_parser = sizes)]
    pub(crate) sizes: Option<Sizes>,

    /// Classes of traffic to sum. openmpi has E, I, S, R and C, trace has p2p, neighbour and collective [default: all
    /// but C]
    #[arg(long, value_name = "CLASS,...", value_delimiter = ',')]
    pub(crate) include: Option<Vec<String>>,

    /// Keep the heaviest edges only, as many as hold this share of the weight. 0.95 or 95%
    #[arg(long, value_name = "SHARE", value_parser = Share::parse)]
    pub(crate) top: Option<Share>,

    /// Number of ranks, if the last ones may have no traffic. By default as many as the files name [default: by files]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(1..=MOST_RANKS))]
    pub(crate) ranks: Option<u64>,

    /// Number of the first rank in edge lists, 0 or 1. By default 0 if that stands anywhere, else 1 [default: by files]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=1))]
    pub(crate) first_rank: Option<u64>,

    /// Number of network adapters of each rank of a GOAL schedule, each of which becomes a vertex. Adapter `nic` of rank r
    /// is vertex r times this plus nic [default: a rank is a vertex]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(1..=MOST_RANKS))]
    pub(crate) nics: Option<u64>,

    /// Leave out the ids that no line of an edge list mentions, and write the others. Line i holds the id of vertex i,
    /// from 0; ids may then be any numbers below 2^64
    #[arg(long, value_name = "FILE", conflicts_with = "first_rank")]
    pub(crate) renumber: Option<PathBuf>,
}

/// Parses what a size is that of.
fn sizes(text: &str) -> Result<Sizes, String> {
    match text {
        "all" => Ok(Sizes::OfAll),
        "each" => Ok(Sizes::OfEach),
        _ => Err("it is all or each".to_owned()),
    }
}

/// How a schedule, the recorded order of messages or a training job becomes a workload.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Workloads")]
pub(crate) struct OrderOptions {
    /// Make a workload, not a model of traffic. Of a schedule of GOAL, with its messages in order and its computation, or of a step of a training job,
    /// with a phase for each class of traffic
    #[arg(long)]
    pub(crate) workload: bool,

    /// Bytes of a flit in the workload of a schedule, a recorded order of messages or a training job
    #[arg(long, default_value_t = 64, value_name = "INT", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(crate) flit_bytes: u64,
}

/// How a workload is generated.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Workloads")]
pub(crate) struct GeneratorOptions {
    /// Write a workload instead of a model. ring:64, mesh:8x8, butterfly:64, tree:63, transpose:64 or random:200
    // Clap is given no conflict with the files: it would then accept --rounds and the like beside them.
    #[arg(long, value_name = "PATTERN:SIZE", value_parser = pattern)]
    pub(crate) generate: Option<(Pattern, Vec<u32>)>,

    /// Number of rounds of the workload
    #[arg(long, default_value_t = Size::default().rounds, value_name = "INT", requires = "generate", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) rounds: u64,

    /// Length of a message
    #[arg(long, default_value_t = Size::default().flits, value_name = "INT", requires = "generate", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) flits: u64,

    /// Cycles of computation for each flit that is sent or received
    #[arg(long, default_value_t = Size::default().cycles, value_name = "INT", requires = "generate", value_parser = clap::value_parser!(u64).range(0..=1 << 20))]
    pub(crate) cycles: u64,

    /// Number the tasks at random
    #[arg(long, requires = "generate")]
    pub(crate) shuffle: bool,
}

/// The training job whose traffic is computed.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Training jobs")]
pub(crate) struct TrainingOptions {
    /// Write what the ranks of a training job send each other in a step. tp:8,cp:2,ep:8,pp:4,dp:16, and etp and vpp;
    /// pp:4*12+3*4 is 12 pipelines of four stages and 4 of three
    // Clap is given no conflict with the files: it would then accept --model and the like beside them.
    #[arg(long, value_name = "tp:INT,...")]
    pub(crate) parallel: Option<String>,

    /// In which order the ranks are numbered, from the innermost dimension to the outermost [default: tp,cp,ep,dp,pp]
    #[arg(long, value_name = "tp,cp,...", requires = "parallel")]
    pub(crate) order: Option<String>,

    /// The model that is trained, and how. layers=32,hidden=4096,sequence=8192,microbatches=16 and so on, or a file
    /// with such lines
    #[arg(long, value_name = "NAME=VALUE,...|FILE", requires = "parallel")]
    pub(crate) model: Option<String>,

    /// Classes of traffic that are sent at the same time, as one phase of the workload of a step
    #[arg(long, value_name = "CLASS,...", requires_all = ["parallel", "workload"], value_delimiter = ',', value_parser = one_of(&TrafficClass::ALL, TrafficClass::name))]
    pub(crate) overlap: Vec<TrafficClass>,
}

impl TrainingOptions {
    /// The file that describes the model, if that is not described by the option itself.
    pub(crate) fn file(&self) -> Option<&Path> {
        let model = self.model.as_deref()?;
        let path = Path::new(model);
        (!model.contains('=') || path.exists()).then_some(path)
    }
}

/// Parses a pattern and its size.
fn pattern(text: &str) -> Result<(Pattern, Vec<u32>), String> {
    let fault = || {
        let names = Pattern::ALL.map(|pattern| pattern.name().to_owned());
        format!("a workload is one of {} with its size, such as ring:64 or mesh:8x8", names.join(", "))
    };
    let (name, size) = text.split_once(':').ok_or_else(fault)?;
    let pattern: Pattern = name.parse().map_err(|_| fault())?;
    let lengths: Result<Vec<u32>, _> = size.split('x').map(str::parse).collect();
    Ok((pattern, lengths.map_err(|_| fault())?))
}

/// A graph is partitioned or mapped, from scratch or from an older result.
const OF_GRAPHS: &[Mode] =
    &[Mode::Partition, Mode::Index, Mode::Repartition, Mode::ManyToOne, Mode::Remapping];
/// It gets parts.
const OF_PARTS: &[Mode] = &[Mode::Partition, Mode::Index, Mode::Repartition];
/// It is mapped to a machine.
const ON_MACHINES: &[Mode] = &[Mode::ManyToOne, Mode::Remapping];

/// Every mode.
const ALL: &[Mode] = &[
    Mode::Partition,
    Mode::Index,
    Mode::Repartition,
    Mode::ManyToOne,
    Mode::Remapping,
    Mode::Traffic,
    Mode::Order,
    Mode::Workload,
    Mode::Generator,
    Mode::Training,
];

/// Which option means something in which mode.
pub(crate) static TABLE: Table = Table {
    modes: ALL,
    rows: &[
        Row::new(ALL, &["output_filename", "quiet", "json"]),
        Row::new(
            &[
                Mode::Partition,
                Mode::Index,
                Mode::Repartition,
                Mode::ManyToOne,
                Mode::Remapping,
                Mode::Traffic,
                Mode::Order,
                Mode::Workload,
            ],
            &["files"],
        ),
        Row::new(OF_PARTS, &["k", "speeds"]).instead(
            ON_MACHINES,
            "it has a part for each processing element, and --pe_weights gives their speeds",
        ),
        Row::new(&[Mode::Partition, Mode::Repartition], &["algorithm"]).with_values(&["multilevel"]),
        Row::new(&[Mode::Partition], &["algorithm"])
            .with_values(&["rcb", "zcurve", "hilbert", "rsb", "linear"]),
        Row::new(OF_PARTS, &["coordinates", "coordinate_ids", "picture"]),
        Row::new(&[Mode::Partition], &["grouping", "write_index"]),
        Row::new(&[Mode::Index], &["index"]),
        Row::new(&[Mode::Partition, Mode::Repartition, Mode::ManyToOne, Mode::Remapping], &["fixed"])
            .instead(&[Mode::Index], "the parts are ranges of the order, whatever is in them; leave it out"),
        Row::new(ON_MACHINES, &["machine", "distance_parameter_string", "pes", "pe_weights"]),
        Row::new(
            &[Mode::Partition, Mode::Repartition, Mode::ManyToOne, Mode::Remapping, Mode::Generator],
            &["seed"],
        ),
        Row::new(
            &[Mode::Partition, Mode::Repartition, Mode::ManyToOne, Mode::Remapping],
            &["preconfiguration"],
        ),
        Row::new(&[Mode::Partition, Mode::Repartition, Mode::ManyToOne, Mode::Remapping], &["least_load"])
            .instead(&[Mode::Index], "the parts are ranges of the order, whatever is in them; leave it out"),
        Row::new(OF_GRAPHS, &["imbalance", "mapping_filename", "threads", "verify"]),
        Row::new(
            &[Mode::Repartition, Mode::Remapping],
            &["remap_from", "migration_weight", "remap_left", "parents", "curve"],
        ),
        Row::new(
            &[
                Mode::Partition,
                Mode::Index,
                Mode::Repartition,
                Mode::ManyToOne,
                Mode::Remapping,
                Mode::Traffic,
            ],
            &["from"],
        ),
        Row::new(
            &[Mode::Traffic],
            &["weight", "sizes", "include", "top", "ranks", "first_rank", "nics", "renumber"],
        )
        .instead(OF_GRAPHS, "leave it out, or say with --from what traffic was recorded"),
        Row::new(&[Mode::Order, Mode::Training], &["flit_bytes", "workload"]),
        Row::new(&[Mode::Generator], &["generate", "rounds", "flits", "cycles", "shuffle"]),
        Row::new(&[Mode::Training], &["parallel", "order", "model", "overlap"]),
    ],
    needs: &[
        Need {
            option: "coordinates",
            modes: OF_PARTS,
            of: &[("algorithm", &["rcb", "zcurve", "hilbert"]), ("picture", &[])],
        },
        Need { option: "grouping", modes: &[Mode::Partition], of: &[("algorithm", &["rcb", "rsb"])] },
        Need { option: "flit_bytes", modes: &[Mode::Training], of: &[("workload", &[])] },
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_what_algorithms_need() {
        for algorithm in PartitionAlgorithm::ALL {
            let is_value = |need: &Need| need.of[0].1.contains(&algorithm.name());
            assert_eq!(is_value(&TABLE.needs[0]), algorithm.needs_coordinates(), "{algorithm}");
            assert_eq!(is_value(&TABLE.needs[1]), algorithm.is_recursive(), "{algorithm}");
            assert!(
                TABLE.rows_of("algorithm").any(|row| row.values.contains(&algorithm.name())),
                "{algorithm}"
            );
        }
    }
}
