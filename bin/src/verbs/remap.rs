//! `viem remap`: adapts a partition or a many-to-one mapping to changes, so that few vertices move.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgGroup, Parser};

use crate::application;
use crate::capacities::NodeOptions;
use crate::compare::PictureOptions;
use crate::end::{self, End};
use crate::error::{Result, UsageError};
use crate::fixed::FixedOptions;
use crate::job::{Job, Plan};
use crate::machine::{MachineDetails, MachineOptions, SPEC};
use crate::many_to_one::SharingOptions;
use crate::mesh::MeshOptions;
use crate::options::{CoordinateOptions, RandomOptions, ResultOptions, TimeOptions, one_of};
use crate::remap::RemapOptions;
use crate::verb::{Form, Verb};
use crate::verbs::{map, partition};
use viem::PreparedMachine;
use viem::partition::PartitionPreset;
use viem::solve::Config;
use viem_io::output::OutputId;
use viem_traffic::Format;

const EXAMPLES: &str = "\
Examples:
  viem remap mesh.graph old -k 12 --migration-weight=0.5         from 8 blocks to 12
  viem remap fine.graph old -k 8 --migration-weight=0.5 --parents=parents
  viem remap mesh.graph old -m 4:16:2 -d 1:10:100 --migration-weight=5 --capacities=speeds
  viem remap mesh.graph old -m torus:8x8 --pes=0-6,8-63 --removed=7 --migration-weight=5";

/// Adapts a partition or mapping to new speeds, PEs or meshes, so that few vertices move. Minimises the cut, or J on a machine, plus
/// --migration-weight times the weight of the vertices that move. For partitions, and for mappings with many vertices on a PE.
#[derive(Parser, Debug)]
#[command(
    name = "remap",
    version,
    override_usage = "viem remap [OPTIONS] --migration-weight <X> <-m <SPEC>|-k <INT>> <FILE> <PREVIOUS>",
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{}\n\n{}", map::SIGNALS, end::CODES),
    mut_group("MachineDetails", |details| details.requires("machine")),
    mut_group("CoordinateOptions", |points| points.requires("picture").conflicts_with("machine")),
    group = ArgGroup::new("drawn").args(["machine", "coordinates"]),
    mut_args(adapted),
)]
pub(crate) struct Options {
    /// The graph, in METIS or ParHIP format, or a mesh of METIS, Gmsh, VTK or OpenFOAM (the folder of a case). With -k, also a
    /// matrix (Matrix Market), JSON or GraphML; - is standard input
    file: PathBuf,

    #[command(flatten)]
    remap: RemapOptions,

    /// Number of blocks, if there is no machine
    #[arg(long, short = 'k', value_name = "INT", help_heading = "Blocks", conflicts_with_all = ["machine", "MachineDetails"])]
    blocks: Option<usize>,

    /// Kind of the file, if its content is ambiguous
    #[arg(hide_short_help = true, long, value_name = "KIND", help_heading = "Blocks", conflicts_with_all = ["machine", "MachineDetails"], value_parser = one_of(&application::FORMATS, Format::name))]
    from: Option<Format>,

    #[arg(long, short, value_name = "SPEC", help = SPEC, help_heading = "Machine")]
    machine: Option<String>,

    #[command(flatten)]
    details: MachineDetails,

    #[command(flatten)]
    sharing: SharingOptions,

    #[command(flatten)]
    nodes: NodeOptions,

    #[command(flatten)]
    fixed: FixedOptions,

    #[command(flatten)]
    mesh: MeshOptions,

    /// Trade-off of time and quality. The social presets treat every graph as one with heavy-tailed degrees; on a machine, they
    /// are the same as the others
    #[arg(long, short, default_value = "eco", value_name = "PRESET", help_heading = "Search", value_parser = one_of(&PartitionPreset::ALL, PartitionPreset::name))]
    preset: PartitionPreset,

    #[command(flatten)]
    time: TimeOptions,

    #[command(flatten)]
    random: RandomOptions,

    /// File for the PE or block of each vertex. Line i holds that of vertex i, both from 0; - is standard output, which then
    /// carries nothing else [default: permutation, or partition]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    picture: PictureOptions,

    #[command(flatten)]
    coordinates: CoordinateOptions,

    #[command(flatten)]
    results: ResultOptions,
}

/// The file of the mapping, unless another one is named.
const MAPPING: &str = "permutation";

/// Adapts options of other verbs to this verb.
fn adapted(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "picture" => arg.requires("drawn").help(PICTURE),
        "node_capacity" => arg.requires("machine").conflicts_with("blocks"),
        "time_limit" => arg.help(TIME_LIMIT),
        _ => arg,
    }
}

/// The help text of the time limit.
const TIME_LIMIT: &str = "\
Stop after this time: seconds, or 90s, 2m, 1h. The best result found is returned; a remapping usually ends earlier by itself";

/// The help text of the picture.
const PICTURE: &str = "\
Also draw the traffic into an SVG file, or the graph and its blocks at their --coordinates. On a machine, the picture has the matrix of the \
traffic, the share of each level, and the traffic that leaves each node, beside those of equal ranges of vertices";

impl Verb for Options {
    fn set_form(&mut self, form: Form) {
        self.results.report.form = form;
    }

    fn run(&self) -> Result<End> {
        if self.machine.is_none() && self.blocks.is_none() && !self.sharing.has_capacities() {
            let message = "give a machine (-m SPEC), or the number of blocks (-k INT) or their --capacities";
            return Err(UsageError(message.to_owned()).into());
        }
        let machine = self.machine.clone().map(|spec| MachineOptions::new(spec, self.details.clone()));
        let mut plan = Plan::new(self.read_only(machine.as_ref()), [self.remap.previous()])?;
        let default = if machine.is_some() { MAPPING } else { partition::PARTITION };
        let output = self.output.as_deref().unwrap_or(Path::new(default));
        let result = plan.successor("--output", output)?;
        let model = plan.optional("--model", self.results.model.as_deref())?;
        let picture = plan.optional("--picture", self.picture.file())?;
        let curve = plan.optional("--curve", self.remap.picture())?;
        let job = plan.start(&self.results.report)?;
        if self.results.verify {
            job.check_verifiable(result)?;
        }
        match &machine {
            Some(machine) => {
                self.map(machine, (map::Outputs { mapping: result, model, picture }, curve), job)
            }
            None => {
                let to = partition::Outputs { blocks: Some(result), model, picture };
                let way = partition::Way::Previous(&self.remap, curve);
                partition::run(self.division(), way, self.config()?, (to, job))
            }
        }
    }
}

impl Options {
    /// The files that no result may replace.
    fn read_only<'a>(&'a self, machine: Option<&'a MachineOptions>) -> Vec<&'a Path> {
        let machine = machine.into_iter().flat_map(MachineOptions::files);
        let others = self.remap.files().chain(self.sharing.files()).chain(self.fixed.file());
        let others = others.chain(self.nodes.files()).chain(self.coordinates.file());
        [self.file.as_path()].into_iter().chain(machine).chain(others).collect()
    }

    /// The settings of a run.
    fn config(&self) -> Result<Config> {
        let (preset, limit) = (Config::from(self.preset), self.time.time_limit);
        Ok(preset.with_seed(self.random.seed).with_threads(self.random.threads()?).with_time_limit(limit))
    }

    /// The request for a partition without a machine.
    fn division(&self) -> partition::Asked<'_> {
        partition::Asked {
            verb: "remap",
            file: &self.file,
            from: self.from,
            blocks: self.blocks,
            preset: self.preset,
            sharing: &self.sharing,
            is_connected: false,
            fixed: &self.fixed,
            coordinates: &self.coordinates,
            mesh: &self.mesh,
            results: &self.results,
        }
    }

    /// Remaps the graph on a machine.
    fn map(
        &self,
        on: &MachineOptions,
        (to, curve): (map::Outputs, Option<OutputId>),
        job: Job<'_>,
    ) -> Result<End> {
        let asked = map::Asked {
            verb: "remap",
            file: &self.file,
            on,
            preset: self.preset.into(),
            sharing: &self.sharing,
            nodes: &self.nodes,
            fixed: &self.fixed,
            picture: &self.picture,
            mesh: &self.mesh,
            results: &self.results,
        };
        let (config, console) = (self.config()?, job.console);
        let machine = asked.machine(config.threads, console)?;
        let machine = machine.as_ref();
        let prepared = &PreparedMachine::new(machine);
        let (application, is_many_to_one) = asked.graph(machine, config.threads, console)?;
        if !is_many_to_one {
            let message = "each process has a place of its own here, and such mappings are not remapped; viem map \
                 --initial=FILE improves one";
            return Err(UsageError(message.to_owned()).into());
        }
        let way = map::Way::Previous(self.remap.read(&application.graph, machine.num_pes(), curve)?);
        let task = map::Task { asked, machine, prepared, config, to, job };
        map::ManyToOne::new(task, &application, way)?.run()
    }
}
