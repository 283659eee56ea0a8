//! The options of `viem partition`.

use std::path::{Path, PathBuf};

use clap::{Args, Parser};

use crate::application;
use crate::end;
use crate::error::{Result, UsageError};
use crate::fixed::FixedOptions;
use crate::many_to_one::SharingOptions;
use crate::mesh::MeshOptions;
use crate::options::{CoordinateOptions, RandomOptions, ResultOptions, one_of};
use crate::verb::Form;
use viem::partition::{Grouping, OrderIndex, PartitionAlgorithm, PartitionPreset};
use viem::solve::Config;
use viem_io::{self as io, Source};
use viem_traffic::Format;

const EXAMPLES: &str = "\
Examples:
  viem partition mesh.graph -k 64                     64 blocks of equal weight, within 3 percent
  viem partition mesh.graph --capacities=1,2,4        blocks of unequal weight
  viem partition mesh.graph -k 64 --model=job.graph   what the blocks communicate, to be mapped";

/// The file of the partition, unless another one is named.
pub(crate) const PARTITION: &str = "partition";

/// Partitions a graph into blocks of bounded weight, so that few edges are cut.
#[derive(Parser, Debug)]
#[command(name = "partition", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", end::CODES))]
pub(crate) struct Options {
    /// The graph, in METIS or ParHIP format, or as a matrix (Matrix Market), JSON or GraphML; or a mesh of METIS, Gmsh, VTK or
    /// OpenFOAM (the folder of a case); - is standard input
    pub(crate) file: PathBuf,

    /// Kind of the file, if its content is ambiguous
    #[arg(long, value_name = "KIND", value_parser = one_of(&application::FORMATS, Format::name))]
    pub(crate) from: Option<Format>,

    /// Number of blocks
    #[arg(long, short = 'k', value_name = "INT", required_unless_present = "capacities")]
    pub(crate) blocks: Option<usize>,

    /// Trade-off of time and quality. The social presets treat every graph as one with heavy-tailed degrees
    #[arg(long, short, default_value = "eco", value_name = "PRESET", help_heading = "Search", value_parser = one_of(&PartitionPreset::ALL, PartitionPreset::name))]
    pub(crate) preset: PartitionPreset,

    #[command(flatten)]
    pub(crate) random: RandomOptions,

    #[command(flatten)]
    pub(crate) sharing: SharingOptions,

    /// Make each block connected, if the graph allows that within the bounds; otherwise, blocks fall into few pieces
    #[arg(long, help_heading = "Balance")]
    pub(crate) connected: bool,

    #[command(flatten)]
    pub(crate) fixed: FixedOptions,

    #[command(flatten)]
    pub(crate) order: OrderOptions,

    #[command(flatten)]
    pub(crate) mesh: MeshOptions,

    /// Where the block of each vertex is written. Line i holds the block of vertex i, both from 0; of a mesh of OpenFOAM, a file
    /// of the name cellDecomposition is written as its decomposePar reads it; - is standard output, which then carries nothing else
    /// [default: partition]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Also draw the graph and its blocks into an SVG file, by --coordinates or those of a mesh
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub(crate) picture: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) results: ResultOptions,
}

/// Other ways to divide a graph than the multilevel one.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Other algorithms")]
pub(crate) struct OrderOptions {
    /// How the graph is divided. rcb, zcurve and hilbert need coordinates, those of a mesh or --coordinates [default: multilevel]
    #[arg(long, value_name = "ALGORITHM", value_parser = one_of(&PartitionAlgorithm::ALL, PartitionAlgorithm::name))]
    algorithm: Option<PartitionAlgorithm>,

    #[command(flatten)]
    pub(crate) coordinates: CoordinateOptions,

    /// How rcb and rsb group blocks of unequal capacity where they divide them in two. The first ones that make about half,
    /// or so that both groups are as equal as possible [default: simple]
    #[arg(hide_short_help = true, long, value_name = "GROUPING", value_parser = one_of(&Grouping::ALL, Grouping::name))]
    pub(crate) grouping: Option<Grouping>,

    /// Write the order of the vertices by the algorithm, to be cut again with --index. Line i holds the position of
    /// vertex i, both from 0; the blocks then are ranges of this order
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(crate) write_index: Option<PathBuf>,

    /// The order of the vertices that --write-index wrote. Blocks are ranges of it, which takes no time
    #[arg(hide_short_help = true, long, value_name = "FILE", conflicts_with_all = ["algorithm", "write_index", "grouping", "connected", "fixed", "least_load", "least_loads", "preset", "seed"])]
    pub(crate) index: Option<PathBuf>,
}

impl OrderOptions {
    pub(crate) fn algorithm(&self) -> PartitionAlgorithm {
        self.algorithm.unwrap_or_default()
    }

    fn needs_coordinates(&self) -> bool {
        self.index.is_none() && self.algorithm().needs_coordinates()
    }

    /// An error if there are no coordinates, but they are needed.
    pub(super) fn check_coordinates(&self, are_there: bool) -> Result<(), UsageError> {
        if are_there || !self.needs_coordinates() {
            return Ok(());
        }
        let algorithm = self.algorithm();
        Err(UsageError(format!(
            "--algorithm={algorithm} needs the coordinates of the vertices; give --coordinates=FILE"
        )))
    }

    /// Reads the order that --write-index wrote, if --index is given.
    pub(super) fn read_index(&self, num_nodes: usize) -> Result<Option<OrderIndex>> {
        let Some(path) = &self.index else { return Ok(None) };
        let positions = io::index::read(Source::open(path)?, num_nodes)?;
        Ok(Some(OrderIndex::of_positions(positions).expect("the reader has found an order")))
    }

    /// An error if these options do not fit together.
    fn check(&self, is_drawn: bool) -> Result<(), UsageError> {
        let algorithm = self.algorithm();
        let message = match (self.needs_coordinates(), self.coordinates.file()) {
            (false, Some(_)) if !is_drawn => {
                "--coordinates is for --algorithm=rcb, zcurve, hilbert and for --picture; leave it out"
                    .to_owned()
            }
            _ if self.grouping.is_some() && (self.write_index.is_some() || !algorithm.is_recursive()) => {
                "--grouping is for --algorithm=rcb, rsb without --write-index; leave it out".to_owned()
            }
            _ => return Ok(()),
        };
        Err(UsageError(message))
    }
}

impl Options {
    /// The settings of a request.
    pub(super) fn config(&self) -> Result<Config> {
        Ok(Config::from(self.preset).with_seed(self.random.seed).with_threads(self.random.threads()?))
    }

    /// Where the partition goes. VieM's form writes the model only.
    pub(super) fn output(&self) -> Option<&Path> {
        match (&self.output, self.results.report.form) {
            (Some(path), _) => Some(path),
            (None, Form::Verb) => Some(Path::new(PARTITION)),
            (None, Form::VieM) => None,
        }
    }

    /// The files that no result may replace.
    pub(super) fn read_only(&self) -> Vec<&Path> {
        let order = self.order.coordinates.file().into_iter().chain(self.order.index.as_deref());
        let others = self.sharing.files().chain(order).chain(self.fixed.file());
        [self.file.as_path()].into_iter().chain(others).collect()
    }

    /// An error if these options do not fit together.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        self.order.check(self.picture.is_some())?;
        let balance = &self.sharing.balance;
        let has_least_load =
            balance.least_load.as_ref().is_some_and(|percents| percents.iter().any(|percent| percent > 0.0));
        let given = [
            ("--connected", self.connected),
            ("--fixed", self.fixed.file().is_some()),
            ("--least-load", has_least_load),
            ("--least-loads", !balance.least_loads.is_empty()),
        ];
        match given.iter().find(|(_, is_given)| *is_given).filter(|_| self.order.write_index.is_some()) {
            Some((name, _)) => Err(UsageError(format!(
                "{name} does not go with --write-index, as the blocks are ranges of the order that is written; leave one of them out"
            ))),
            None => Ok(()),
        }
    }
}
