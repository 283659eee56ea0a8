//! The options of `viem map`.

use std::path::{Path, PathBuf};

use clap::Parser;

use super::goal::Goal;
use super::initial::InitialOptions;
use super::task::Asked;
use super::together::Together;
use crate::capacities::NodeOptions;
use crate::compare::PictureOptions;
use crate::end;
use crate::error::{Result, UsageError};
use crate::files;
use crate::fixed::{FirstHost, FixedOptions};
use crate::launch::LaunchOptions;
use crate::machine::{self, MachineOptions};
use crate::many_to_one::SharingOptions;
use crate::mesh::MeshOptions;
use crate::neighbourhood::NeighbourhoodOptions;
use crate::options::{ResultOptions, SearchOptions, one_of};
use crate::verb::Form;
use viem::machine::{DistanceKind, Machine};
use viem::solve::Config;
use viem_workload::contention::{BottleneckConfig, JobObjective};

const EXAMPLES: &str = "\
Examples:
  viem map job.graph -m 4:16:2 -d 1:10:100            128 processes to 2 nodes
  viem map job.graph -m slurm --launch=openmpi        to the nodes of this Slurm job
  viem map mesh.graph -m torus:8x8 -i 3               many vertices on each PE";

/// What the help says below the options.
pub(crate) const SIGNALS: &str = "The first SIGINT, SIGTERM, SIGUSR1 or SIGUSR2 ends the run early: the best result found so far is written, and after \
     SIGINT (Ctrl-C) the program ends by that signal. The second ends it at once.";

/// Maps processes to PEs so that processes that communicate much are close to each other. If the graph has
/// more vertices than the machine has places for processes, or if PEs have --capacities, many vertices share a PE.
#[derive(Parser, Debug)]
#[command(name = "map", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{SIGNALS}\n\n{}", end::CODES))]
pub(crate) struct Options {
    /// The graph, in METIS or ParHIP format. Its vertices are the processes, its edge weights how much two of them
    /// communicate; or a mesh of METIS, Gmsh, VTK or OpenFOAM (the folder of a case), with many elements for each PE; - is standard
    /// input
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) machine: MachineOptions,

    /// A mapping to improve. The result is not worse than it, unless it exceeds a bound or leaves a PE without a vertex; also a rankfile, a rank order of Cray MPICH or a list of
    /// hosts, as launchers take them; hosts,bind.sh are both files of
    /// slurm, intel or flux; inverse:FILE has the rank on each PE
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub(crate) initial: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) search: SearchOptions,

    #[command(flatten)]
    pub(crate) construction: InitialOptions,

    #[command(flatten)]
    pub(crate) neighbourhood: NeighbourhoodOptions,

    // An option of VieM, which decides nothing but the time; the faster way is taken without it.
    /// Whether distances are stored in a matrix (hierarchy), or computed from the numbers of the
    /// two PEs (hierarchyonline). For regular trees; the mapping is the same [default: the faster]
    #[arg(hide = true, long, value_name = "KIND", help_heading = "Search", value_parser = one_of(&DistanceKind::ALL, DistanceKind::name))]
    pub(crate) distance_construction: Option<DistanceKind>,

    #[command(flatten)]
    pub(crate) sharing: SharingOptions,

    #[command(flatten)]
    pub(crate) nodes: NodeOptions,

    #[command(flatten)]
    pub(crate) fixed: FixedOptions,

    #[command(flatten)]
    pub(crate) mesh: MeshOptions,

    /// What must be on the first host. rank0: process 0 is on one of its PEs, as launchers need that
    /// otherwise hang
    #[arg(hide_short_help = true, long, value_name = "WHAT", help_heading = "Constraints", value_parser = one_of(&FirstHost::ALL, FirstHost::name))]
    pub(crate) first_host: Option<FirstHost>,

    /// Connect the vertices of each PE, as far as graph and bounds allow that; otherwise, they fall into few pieces
    #[arg(hide_short_help = true, long, help_heading = "Constraints")]
    pub(crate) connected: bool,

    /// Give each process a place of its own within bounds of weights. --node-capacity, or --imbalance and --capacities, bound the weights of the processes of
    /// a node or PE, such as their memory. A PE has as many places as its capacity, 1 by default
    #[arg(hide_short_help = true, long, help_heading = "Constraints")]
    pub(crate) one_to_one: bool,

    /// Processes that must share a node. Groups of INT consecutive ones, the last of which may be smaller; or a file, line i of
    /// which holds the group of process i; all groups have the same size, but for one that may be smaller
    #[arg(long, value_name = "INT|FILE", help_heading = "Constraints", value_parser = Together::parse)]
    pub(crate) together: Option<Together>,

    /// What is minimised. bottleneck: the load of the busiest link, or the traffic that leaves the busiest node where links
    /// are not known, and then J; busiest_node: the traffic that leaves the busiest node, and then J; mixed: J and a norm of
    /// the loads. For one-to-one mappings to real machines (slurm, hwloc, hosts) or with --launch, the default is bottleneck,
    /// unless --initial or --neighbourhood=none is given; otherwise it is J [default: by machine]
    #[arg(long, value_name = "OBJECTIVE", help_heading = "Search", value_parser = one_of(&JobObjective::ALL, JobObjective::name))]
    pub(crate) objective: Option<JobObjective>,

    /// Rise of J that --objective may cause, in percent. From 0 to 100; a simple order with a lower maximum than
    /// all mappings found within that limit may cost more [default: 3]
    #[arg(
        hide_short_help = true,
        long,
        value_name = "PERCENT",
        help_heading = "Search",
        allow_negative_numbers = true
    )]
    excess: Option<f64>,

    /// Where the mapping is written. Line i holds the PE of process i, both from 0; of a mesh of OpenFOAM, a file of the name
    /// cellDecomposition is written as its decomposePar reads it; - is standard output, which then carries nothing else
    #[arg(long, short, default_value = "permutation", value_name = "FILE", help_heading = "Output")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) launch: LaunchOptions,

    /// Also write this GOAL schedule, each rank named by its PE. Its file is
    /// mapped.goal unless another one is named
    #[arg(hide_short_help = true, long, value_name = "FILE[,FILE]", help_heading = "Output", value_parser = Goal::parse)]
    pub(crate) goal: Option<Goal>,

    #[command(flatten)]
    pub(crate) picture: PictureOptions,

    #[command(flatten)]
    pub(crate) results: ResultOptions,
}

impl Options {
    /// The request, in the form that `viem remap` uses, too.
    pub(super) fn asked(&self) -> Asked<'_> {
        Asked {
            verb: "map",
            file: &self.file,
            on: &self.machine,
            preset: self.search.preset,
            sharing: &self.sharing,
            nodes: &self.nodes,
            fixed: &self.fixed,
            picture: &self.picture,
            mesh: &self.mesh,
            results: &self.results,
        }
    }

    /// The objective that is minimised. Real jobs wait for the busiest link: in simulations, its load predicts their time better than J
    /// (docs/benchmarks/simulated-time.md).
    pub(super) fn objective_on(&self, machine: &dyn Machine, is_many_to_one: bool) -> JobObjective {
        let is_real = machine::is_real(machine) || self.launch.is_given();
        let is_job = is_real && !is_many_to_one && self.results.report.form == Form::Verb;
        let is_kept = self.initial.is_some() || self.neighbourhood.is_none();
        self.objective.unwrap_or(match is_job && !is_kept {
            true => JobObjective::Bottleneck,
            false => JobObjective::J,
        })
    }

    /// The search for this objective, if it is not J alone.
    pub(super) fn bottleneck(&self, objective: JobObjective) -> Result<Option<BottleneckConfig>, UsageError> {
        let config = BottleneckConfig::default().with_objective(objective).with_seed(self.search.random.seed);
        let config = match self.excess {
            Some(_) if objective == JobObjective::J => {
                return Err(UsageError(
                    "--excess is for another --objective than J; leave it out".to_owned(),
                ));
            }
            Some(percent) if !(0.0..=100.0).contains(&percent) => {
                return Err(UsageError(format!("--excess={percent} is not a percentage from 0 to 100")));
            }
            Some(percent) => config.with_excess(percent / 100.0),
            None => config,
        };
        Ok((objective != JobObjective::J).then_some(config))
    }

    /// The files that no result may replace.
    pub(super) fn read_only(&self) -> Vec<&Path> {
        let constraints =
            self.fixed.file().into_iter().chain(self.together.iter().filter_map(Together::file));
        let others = self.sharing.files().chain(self.nodes.files());
        let others = others.chain(self.construction.file()).chain(constraints);
        let others = others.chain(self.goal.iter().map(Goal::schedule));
        [self.file.as_path()].into_iter().chain(self.machine.files()).chain(others).collect()
    }

    /// The mappings that are read, which the result may replace.
    pub(super) fn mappings(&self) -> impl Iterator<Item = &Path> {
        self.initial.as_deref().into_iter().flat_map(files::files_of_mapping)
    }

    /// The settings of a run.
    pub(super) fn config(&self, machine: &dyn Machine) -> Result<Config> {
        if let (Some(kind), None) = (self.distance_construction, machine.hierarchy()) {
            let message =
                format!("--distance-construction={} is for regular trees only; leave it out", kind.name());
            return Err(UsageError(message).into());
        }
        let mut config = Config::preset(self.search.preset)
            .with_seed(self.search.random.seed)
            .with_threads(self.search.random.threads()?)
            .with_time_limit(self.search.time.time_limit)
            .with_distances(self.distance_construction);
        config.one_to_one.construction.algorithm = self.construction.construction();
        config.one_to_one.search = self.neighbourhood.config()?;
        config.validate()?;
        Ok(config)
    }

    /// An error if an option is given that a many-to-one mapping has no use for.
    pub(super) fn check_many_to_one(&self, shortage: Option<&str>) -> Result<(), UsageError> {
        let given = [
            ("--launch", self.launch.is_given()),
            ("--goal", self.goal.is_some()),
            ("--together", self.together.is_some()),
            ("--first-host", self.first_host.is_some()),
            ("--distance-construction", self.distance_construction.is_some()),
            (&self.construction.given(), self.construction.construction().is_some()),
            (self.neighbourhood.name(), self.neighbourhood.searches()),
        ];
        let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let why = match self.one_to_one {
            true => "not for those within bounds; leave it out",
            false => shortage.unwrap_or("here many vertices share a PE; leave it out"),
        };
        Err(UsageError(format!("{name} is for one-to-one mappings, but {why}")))
    }

    /// An error if an option is given that a one-to-one mapping has no use for.
    pub(super) fn check_one_to_one(&self) -> Result<(), UsageError> {
        if self.results.model.is_some() {
            let message =
                "--model is for graphs with many vertices on a PE; here the graph is the model, leave it out";
            return Err(UsageError(message.to_owned()));
        }
        if self.connected {
            let message = "--connected is for many vertices on a PE; here each process has a place of its own, leave it out";
            return Err(UsageError(message.to_owned()));
        }
        self.sharing.check_one_to_one()
    }
}
