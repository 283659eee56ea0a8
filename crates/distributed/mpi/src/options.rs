//! The options of `viem_mpi`. Those that `viem` and `generate_model` have, too, have their names and meanings.

use std::path::{Path, PathBuf};

use clap::Parser;
use viem::partition::MigrationWeight;
use viem::solve::MapPreset;
use viem_distributed::alike;

/// The name of the program.
pub(crate) const NAME: &str = "viem_mpi";

const CODES: &str = "Exit codes: 0 done, 2 wrong usage, 65 bad input data, 66 an input cannot be read, 70 internal error, \
     71 not enough memory or threads, 73 an output cannot be created, 74 an output cannot be written";

/// Divides a graph that is too large for one machine, by all ranks of an MPI job: into blocks, or onto the processing elements of a machine.
///
/// The result is the same for any number of ranks.
#[derive(Parser, Clone, Debug)]
#[command(name = NAME, version, infer_long_args = true, rename_all = "snake_case", after_help = CODES)]
pub(crate) struct Options {
    /// The graph, in METIS or ParHIP format; each rank reads its part. Packed with gzip, rank 0 reads it
    #[arg(required_unless_present = "generate", conflicts_with = "generate")]
    pub(crate) file: Option<PathBuf>,

    /// A grid instead of a file, as it is generated on the ranks: its lengths, such as 1000x1000 or 100x100x100
    #[arg(long, value_name = "AxB[xC]", value_parser = lengths)]
    pub(crate) generate: Option<Lengths>,

    /// Into how many blocks the graph is partitioned, with a small cut
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = ["machine", "hierarchy_parameter_string"])]
    pub(crate) k: Option<u32>,

    /// A machine of nested groups, innermost level first, such as 4:16:8
    #[arg(
        long,
        value_name = "a1:a2:...",
        conflicts_with = "machine",
        requires = "distance_parameter_string"
    )]
    pub(crate) hierarchy_parameter_string: Option<String>,

    /// Distances of the levels, innermost first, such as 1:10:100
    #[arg(long, alias = "distances", value_name = "d1:d2:...")]
    pub(crate) distance_parameter_string: Option<String>,

    /// Any machine to map to, as viem takes it: 4:16:8, torus:16x8x8, hosts:FILE,node=16:2, a file, ...; all ranks must see the same
    #[arg(long, value_name = "SPEC")]
    pub(crate) machine: Option<String>,

    /// File to which the result is written. Line i holds the block or processing element of vertex i, both from 0; - is standard output, which then
    /// carries nothing else [default: permutation, or with --k partition]
    #[arg(long, short, alias = "output", value_name = "FILE")]
    output_filename: Option<PathBuf>,

    /// Seed of all random choices. The same seed gives the same result
    #[arg(long, default_value = "0", value_name = "INT")]
    pub(crate) seed: u64,

    /// Trade-off of time and quality
    #[arg(long, alias = "preconfiguration", default_value = "eco", value_name = "PRESET")]
    pub(crate) preconfiguration_mapping: MapPreset,

    /// Maximum weight of a block above its share, in percent
    #[arg(long, default_value = "3", value_name = "PERCENT", allow_negative_numbers = true)]
    pub(crate) imbalance: f64,

    /// Minimum weight of a block, in percent of its share. From 0 to 100, rounded down; bounds take precedence
    #[arg(long, default_value = "0", value_name = "PERCENT", allow_negative_numbers = true)]
    pub(crate) least_load: f64,

    /// Number of divisions of the coarsest graph, on all ranks together; the best survives
    #[arg(long, default_value = "2", value_name = "INT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempts: u32,

    /// Graphs with at most this many vertices are coarsened no further; each rank has all of the coarsest one
    #[arg(long, value_name = "INT")]
    pub(crate) coarsest: Option<u32>,

    /// Threads of each rank; the result is the same for any number
    #[arg(long, default_value = "1", value_name = "INT", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) threads: u32,

    /// Resume this older result: minimises the cut, or J on a machine, plus --migration_weight times the weight of the vertices that change place
    #[arg(long, value_name = "FILE", requires = "migration_weight")]
    pub(crate) remap_from: Option<PathBuf>,

    /// Cost of moving a vertex of weight 1, in units of the cut or of J
    #[arg(long, value_name = "X", requires = "remap_from", allow_negative_numbers = true)]
    pub(crate) migration_weight: Option<MigrationWeight>,

    /// Vertices that must be on given processing elements, or in given blocks. Line i holds that of number i, or -1 if it is free; or each line
    /// holds a number and where it must be, all from 0
    #[arg(long, value_name = "FILE")]
    pub(crate) fixed: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,

    /// Also write a machine-readable report to FILE; - is standard output, which then carries nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// The lengths of a grid.
#[derive(Clone, Debug)]
pub(crate) struct Lengths(pub(crate) Vec<u32>);

fn lengths(text: &str) -> Result<Lengths, String> {
    let lengths = text.split('x').map(|length| length.parse().ok().filter(|&length: &u32| length > 0));
    lengths
        .collect::<Option<_>>()
        .map(Lengths)
        .ok_or_else(|| "lengths are whole numbers from 1 with x between them".to_owned())
}

impl Options {
    /// Returns the file of the result.
    pub(crate) fn output(&self) -> &Path {
        let default = if self.k.is_some() { "partition" } else { "permutation" };
        self.output_filename.as_deref().unwrap_or(Path::new(default))
    }

    /// The machine as one text, if there is one.
    pub(crate) fn machine(&self) -> Option<String> {
        let tree = || self.hierarchy_parameter_string.as_ref().map(|arities| format!("tree:{arities}"));
        self.machine.clone().or_else(tree)
    }

    /// Returns the options that must be the same on all ranks: all but the number of threads and `--quiet`.
    pub(crate) fn shared(&self) -> [(&'static str, u64); 16] {
        let digest = |value: &dyn std::fmt::Debug| alike::digest_of_text(&format!("{value:?}"));
        [
            ("graph file", digest(&self.file)),
            ("--generate", digest(&self.generate)),
            ("--k", digest(&self.k)),
            ("--hierarchy_parameter_string", digest(&self.hierarchy_parameter_string)),
            ("--distance_parameter_string", digest(&self.distance_parameter_string)),
            ("--machine", digest(&self.machine)),
            ("--output_filename", digest(&self.output_filename)),
            ("--seed", self.seed),
            ("--preconfiguration_mapping", digest(&self.preconfiguration_mapping)),
            ("--imbalance", digest(&self.imbalance)),
            ("--attempts", digest(&self.attempts)),
            ("--coarsest", digest(&self.coarsest)),
            ("--remap_from", digest(&self.remap_from)),
            ("--migration_weight", digest(&self.migration_weight)),
            ("--fixed", digest(&self.fixed)),
            ("--json", digest(&self.json)),
        ]
    }

    /// Returns the name of the graph in messages and reports.
    pub(crate) fn name(&self) -> String {
        match (&self.file, &self.generate) {
            (Some(file), _) => file.display().to_string(),
            (None, lengths) => {
                let lengths = lengths.iter().flat_map(|lengths| &lengths.0).map(u32::to_string);
                lengths.collect::<Vec<_>>().join("x")
            }
        }
    }
}
