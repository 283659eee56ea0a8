//! The options of `viem_mpi`. Those that verbs of `viem` have, too, have their names and meanings.

use std::path::{Path, PathBuf};

use clap::Parser;
use viem::partition::MigrationWeight;
use viem::solve::MapPreset;
use viem_distributed::alike;

/// The name of the program.
pub(crate) const NAME: &str = "viem_mpi";

const CODES: &str = "Exit codes: 0 done, 2 wrong usage, 65 bad input data, 66 an input cannot be read, 70 internal error, \
     71 not enough memory or threads, 73 an output cannot be created, 74 an output cannot be written";

const EXAMPLES: &str = "\
Examples:
  mpirun -n 64 viem_mpi mesh.graph -m 4:16:16 -d 1:10:100 -o mapping
  mpirun -n 64 viem_mpi mesh.graph -k 1024";

/// Divides a graph that is too large for one machine, by all ranks of an MPI job: into blocks, or onto the processing elements of a machine.
///
/// The result is the same for any number of ranks.
#[derive(Parser, Clone, Debug)]
#[command(name = NAME, version, after_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct Options {
    /// The graph, in METIS or ParHIP format; each rank reads its part. Packed with gzip, rank 0 reads it
    #[arg(required_unless_present = "generate", conflicts_with = "generate")]
    pub(crate) file: Option<PathBuf>,

    /// A grid instead of a file, as it is generated on the ranks: its lengths, such as 1000x1000 or 100x100x100
    #[arg(long, value_name = "AxB[xC]", value_parser = lengths)]
    pub(crate) generate: Option<Lengths>,

    /// Number of blocks
    #[arg(long, short = 'k', value_name = "INT", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "machine")]
    pub(crate) blocks: Option<u32>,

    /// The machine to map to, as viem takes it: 4:16:8, torus:16x8x8, hosts:FILE,node=16:2, a file, ...; all ranks must see the same
    #[arg(long, short, value_name = "SPEC")]
    pub(crate) machine: Option<String>,

    /// Distances of the levels of a tree, innermost first, such as 1:10:100
    #[arg(long, short, value_name = "d1:d2:...", requires = "machine")]
    pub(crate) distances: Option<String>,

    /// Where the result is written. Line i holds the block or processing element of vertex i, both from 0; - is standard output, which then
    /// carries nothing else [default: permutation, or with --blocks partition]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Seed of all random choices. The same seed gives the same result
    #[arg(long, short, default_value = "0", value_name = "INT")]
    pub(crate) seed: u64,

    /// Trade-off of time and quality
    #[arg(long, short, default_value = "eco", value_name = "PRESET")]
    pub(crate) preset: MapPreset,

    /// Maximum weight of a block above its share, in percent
    #[arg(long, short, default_value = "3", value_name = "PERCENT", allow_negative_numbers = true)]
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

    /// Keep most vertices where this partition or mapping has them: minimises the cut, or J on a machine, plus --migration-weight times the
    /// weight of the vertices that move
    #[arg(long, value_name = "FILE", requires = "migration_weight")]
    pub(crate) previous: Option<PathBuf>,

    /// Cost of moving a vertex of weight 1, in units of the cut or of J
    #[arg(long, value_name = "X", requires = "previous", allow_negative_numbers = true)]
    pub(crate) migration_weight: Option<MigrationWeight>,

    /// Vertices that must be on given processing elements, or in given blocks. Line i holds that of vertex i, or -1 if it is free; or each line
    /// holds the numbers of a vertex and of its processing element or block, all from 0
    #[arg(long, value_name = "FILE")]
    pub(crate) fixed: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(long, short)]
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
        let default = if self.blocks.is_some() { "partition" } else { "permutation" };
        self.output.as_deref().unwrap_or(Path::new(default))
    }

    /// Returns the options that must be the same on all ranks: all but the number of threads and `--quiet`.
    pub(crate) fn shared(&self) -> [(&'static str, u64); 16] {
        let digest = |value: &dyn std::fmt::Debug| alike::digest_of_text(&format!("{value:?}"));
        [
            ("graph file", digest(&self.file)),
            ("--generate", digest(&self.generate)),
            ("--blocks", digest(&self.blocks)),
            ("--distances", digest(&self.distances)),
            ("--machine", digest(&self.machine)),
            ("--output", digest(&self.output)),
            ("--seed", self.seed),
            ("--preset", digest(&self.preset)),
            ("--imbalance", digest(&self.imbalance)),
            ("--least-load", digest(&self.least_load)),
            ("--attempts", digest(&self.attempts)),
            ("--coarsest", digest(&self.coarsest)),
            ("--previous", digest(&self.previous)),
            ("--migration-weight", digest(&self.migration_weight)),
            ("--fixed", digest(&self.fixed)),
            ("--json", digest(&self.json)),
        ]
    }

    /// Returns the lengths of the grid that is generated, as they were given.
    pub(crate) fn generated(&self) -> Option<String> {
        let text =
            |Lengths(lengths): &Lengths| lengths.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
        self.generate.as_ref().map(text)
    }
}
