//! The options of `evaluator`, and which of them means something in which mode.

use std::path::PathBuf;

use clap::Parser;

use crate::compare::{Other, PictureOptions};
use crate::exit;
use crate::experts::ExpertOptions;
use crate::machine::MachineOptions;
use crate::many_to_one::SharingOptions;
use crate::modes::{Mode, Need, Row, Table};
use crate::options::{ReportOptions, one_of};
use crate::qap::ModelFormat;
use crate::workload::SimulationOptions;

/// The name of the program.
pub(crate) const NAME: &str = "evaluator";

/// Scores a mapping: its objective J, that of the identity, and the traffic at each level or distance of the machine.
#[derive(Parser, Debug)]
#[command(name = NAME, version, infer_long_args = true, rename_all = "snake_case", after_help = exit::CODES)]
pub(crate) struct Options {
    /// The model. A METIS graph whose vertices are the processes, a workload (PROCESS ...), a trace of experts (--experts), or, without a machine, a
    /// quadratic assignment problem of QAPLIB (FILE.dat, FILE.qap); - is standard input
    pub(crate) file: PathBuf,

    /// What the model is, where its name does not say
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&ModelFormat::ALL, ModelFormat::name))]
    pub(crate) input_format: Option<ModelFormat>,

    /// The mapping. Line i holds the processing element of process i, both from 0; also a rankfile, a rank order of
    /// Cray MPICH or a list of hosts, as launchers take them; hosts,bind.sh are both files of
    /// slurm, intel or flux; inverse:FILE has the rank on each processing element; for
    /// a quadratic assignment problem also a solution file of QAPLIB; for experts, what viem writes
    #[arg(long, alias = "input", value_name = "FILE")]
    pub(crate) input_mapping: PathBuf,

    /// Count the copies of experts that change place since this older placement
    #[arg(long, value_name = "FILE", requires = "experts")]
    pub(crate) remap_from: Option<PathBuf>,

    /// Compare the mapping with others. A list with commas: block (the identity), socket (the packages of a node by
    /// turns), cyclic or node (the nodes by turns), node-major (node after node), megatron (node after node, near ones in
    /// succession), rail (near nodes by turns), random, or files as for --input_mapping
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Other::parse)]
    pub(crate) compare: Vec<Other>,

    #[command(flatten)]
    pub(crate) picture: PictureOptions,

    #[command(flatten)]
    pub(crate) machine: MachineOptions,

    #[command(flatten)]
    pub(crate) sharing: SharingOptions,

    #[command(flatten)]
    pub(crate) report: ReportOptions,

    #[command(flatten)]
    pub(crate) simulation: SimulationOptions,

    #[command(flatten)]
    pub(crate) experts: ExpertOptions,
}

/// Everything but quadratic assignment problems has a machine.
const ON_MACHINES: &[Mode] = &[Mode::OneToOne, Mode::ManyToOne, Mode::Workload];

/// The same and experts.
const WITH_MACHINES: &[Mode] = &[Mode::OneToOne, Mode::ManyToOne, Mode::Workload, Mode::Experts];

/// Every mode.
const ALL: &[Mode] = &[Mode::OneToOne, Mode::ManyToOne, Mode::Workload, Mode::Qap, Mode::Experts];

/// Which option means something in which mode.
pub(crate) static TABLE: Table = Table {
    modes: ALL,
    rows: &[
        Row::new(ALL, &["file", "input_mapping", "quiet", "json"]),
        Row::new(&[Mode::OneToOne, Mode::ManyToOne], &["input_format"]).with_values(&["metis"]),
        Row::new(&[Mode::Qap], &["input_format"]).with_values(&["qaplib"]),
        Row::new(WITH_MACHINES, MachineOptions::NAMES)
            .instead(&[Mode::Qap], "it holds its own distances; leave it out"),
        Row::new(ON_MACHINES, &["picture", "simulate", "trace", "sharing", "latency_cycles"]),
        Row::new(ON_MACHINES, &["compare"]),
        Row::new(&[Mode::ManyToOne], &["imbalance", "least_load", "pe_weights"]),
        Row::new(&[Mode::Experts], &["experts", "read_as", "remap_from", "token_bytes"]),
        Row::new(&[Mode::Workload], &["send_cycles", "receive_cycles"]),
    ],
    needs: &[
        Need { option: "picture", modes: &[Mode::Workload], of: &[("simulate", &[])] },
        Need { option: "sharing", modes: ON_MACHINES, of: &[("simulate", &[])] },
        Need { option: "latency_cycles", modes: ON_MACHINES, of: &[("sharing", &["fair"])] },
    ],
};
