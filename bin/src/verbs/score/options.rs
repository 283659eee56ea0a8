//! The options of `viem score`.

use std::path::{Path, PathBuf};

use clap::Parser;

use crate::capacities::NodeOptions;
use crate::compare::{Other, PictureOptions};
use crate::end;
use crate::files;
use crate::machine::MachineOptions;
use crate::many_to_one::SharingOptions;
use crate::mesh::MeshOptions;
use crate::options::ReportOptions;
use crate::workload::PhaseOptions;

const EXAMPLES: &str = "\
Examples:
  viem score job.graph permutation -m 4:16:2 -d 1:10:100
  viem score job.graph rankfile -m slurm --compare=block,cyclic,node
  viem score mesh.graph partition -m complete:64      a partition into 64 blocks: its cut and loads";

/// Scores a mapping: its objective J, the traffic of the busiest node and link, and the traffic at each level or distance of the
/// machine; where many vertices share a PE, also the cut and the loads.
#[derive(Parser, Debug)]
#[command(name = "score", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", end::CODES))]
pub(crate) struct Options {
    /// The graph, in METIS or ParHIP format. Its vertices are the processes, its edge weights how much two of them communicate;
    /// or a mesh of METIS, Gmsh, VTK or OpenFOAM (the folder of a case); - is standard input
    pub(crate) file: PathBuf,

    /// The mapping. Line i holds the PE of process i, both from 0; also a rankfile, a rank order of
    /// Cray MPICH or a list of hosts, as launchers take them; hosts,bind.sh are both files of
    /// slurm, intel or flux; inverse:FILE has the rank on each PE
    pub(crate) mapping: PathBuf,

    #[command(flatten)]
    pub(crate) machine: MachineOptions,

    #[command(flatten)]
    pub(crate) sharing: SharingOptions,

    #[command(flatten)]
    pub(crate) nodes: NodeOptions,

    #[command(flatten)]
    pub(crate) mesh: MeshOptions,

    /// Compare the mapping with others. A list with commas: block (the identity), socket (the packages of a node by
    /// turns), cyclic or node (the nodes by turns), node-major (node after node), megatron (node after node, near ones in
    /// succession), rail (near nodes by turns), random, or files as for the mapping
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Other::parse)]
    pub(crate) compare: Vec<Other>,

    #[command(flatten)]
    pub(crate) phase: PhaseOptions,

    #[command(flatten)]
    pub(crate) picture: PictureOptions,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

impl Options {
    /// All files that are read.
    pub(super) fn inputs(&self) -> Vec<&Path> {
        let mapping = files::files_of_mapping(&self.mapping);
        let others =
            self.compare.iter().filter_map(Other::file).chain(self.sharing.files()).chain(self.nodes.files());
        [self.file.as_path()].into_iter().chain(mapping).chain(self.machine.files()).chain(others).collect()
    }
}
