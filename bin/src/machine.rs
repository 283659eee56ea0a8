//! The machine of a run: how it is given, read, printed and reported.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::console::Console;
use crate::error::{Result, UsageError};
use viem::ground::types::{Distance, PeId};
use viem::machine;
use viem::machine::{Hierarchy, Machine, Note};
use viem_cluster::{PeKind, SpecError, Wanted};

/// What is said where no machine is given.
const MISSING: &str = "give the machine: --hierarchy_parameter_string with --distance_parameter_string, or --machine; only a \
     quadratic assignment problem (FILE.dat, FILE.qap, or --input_format=qaplib) needs none";

/// The machine, and the part of it that is mapped to.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case")]
pub(crate) struct MachineOptions {
    /// A machine of nested groups, innermost level first. 4:16:8 is 4 cores per processor, 16 processors per node, 8
    /// nodes; the product of the numbers is the number of processing elements
    #[arg(
        long,
        value_name = "a1:a2:...",
        conflicts_with = "machine",
        requires = "distance_parameter_string"
    )]
    hierarchy_parameter_string: Option<String>,

    /// Distances of the levels, innermost first. With 1:10:100, two cores of a processor have distance 1, two
    /// processors of a node 10, two nodes 100
    #[arg(long, value_name = "d1:d2:...")]
    distance_parameter_string: Option<String>,

    /// Any machine, instead of --hierarchy_parameter_string. Written in full: 4:16:8, mesh:8x8, torus:16x8x8,
    /// torus:4x4x2/4:16, hypercube:10, rails:8:4:16, complete:64; slurm (the job this runs in), hwloc (this node),
    /// hwloc:node.xml,hosts=FILE, hosts:FILE,node=16:2,ranks=4, hosts:lsf (the job of LSF; also sge and pbs); or a
    /// file: a target file of Scotch, a network (METIS graph), a distance matrix, or what numactl --hardware,
    /// likwid-topology or lstopo --distances prints
    #[arg(long, value_name = "SPEC")]
    machine: Option<String>,

    /// Map to these processing elements of the machine only. Numbers and ranges such as 0-15,32,40-47, or a file of
    /// them; mappings then hold positions in this list, from 0
    #[arg(long, value_name = "LIST|FILE")]
    pes: Option<String>,

    /// What processing elements are. With slurm, hwloc and hosts
    #[arg(long, value_enum, value_name = "KIND")]
    pe: Option<Pe>,

    /// The same as --pe=thread
    #[arg(long, conflicts_with = "pe")]
    pu: bool,

    /// A matrix of latencies between hosts, from which their distances are derived. In any unit; with slurm, hwloc and
    /// hosts
    #[arg(long, value_name = "FILE")]
    latency: Option<PathBuf>,

    /// Cycles that a flit takes over each link: the METIS graph of the network with other weights. With a network as
    /// --machine, where these are not the costs; for simulations, and for the load of links
    #[arg(long, value_name = "FILE", requires = "machine")]
    link_cycles: Option<PathBuf>,

    /// The files of the machine, once somebody has asked for them.
    #[arg(skip)]
    files_of_machine: OnceLock<Vec<PathBuf>>,
}

/// What processing elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Pe {
    /// Cores
    Core,
    /// Hardware threads
    Thread,
    /// GPUs, in nodes that a file of hwloc describes
    Gpu,
}

impl From<Pe> for PeKind {
    fn from(pe: Pe) -> Self {
        match pe {
            Pe::Core => PeKind::Core,
            Pe::Thread => PeKind::Thread,
            Pe::Gpu => PeKind::Gpu,
        }
    }
}

impl MachineOptions {
    /// What all of them are called.
    pub(crate) const NAMES: &[&str] = &[
        "hierarchy_parameter_string",
        "distance_parameter_string",
        "machine",
        "pes",
        "pe",
        "pu",
        "latency",
        "link_cycles",
    ];

    /// The options that say `--machine=SPEC` and no more than these.
    pub(crate) fn of(spec: String, distances: Option<String>, pes: Option<String>) -> Self {
        Self {
            hierarchy_parameter_string: None,
            distance_parameter_string: distances,
            machine: Some(spec),
            pes,
            pe: None,
            pu: false,
            latency: None,
            link_cycles: None,
            files_of_machine: OnceLock::new(),
        }
    }

    /// The machine as one text.
    pub(crate) fn spec(&self) -> Cow<'_, str> {
        match (&self.machine, &self.hierarchy_parameter_string) {
            (Some(spec), _) => Cow::Borrowed(spec),
            (None, hierarchy) => Cow::Owned(format!("tree:{}", hierarchy.as_deref().unwrap_or_default())),
        }
    }

    /// The distances, if some are given.
    pub(crate) fn distances(&self) -> Option<&str> {
        self.distance_parameter_string.as_deref()
    }

    /// The list of PEs, or the name of its file.
    pub(crate) fn pes(&self) -> Option<&str> {
        self.pes.as_deref()
    }

    /// The file that the machine is read from, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.machine.as_deref().and_then(viem_cluster::file_of)
    }

    /// The file that the list of PEs is read from, if it is one.
    pub(crate) fn file_of_pes(&self) -> Option<&Path> {
        self.pes().and_then(viem_cluster::file_of_pes)
    }

    /// The file of the times of links, if there is one.
    pub(crate) fn link_cycles(&self) -> Option<&Path> {
        self.link_cycles.as_deref()
    }

    /// Every file that is read for the machine.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let files = || self.machine.as_deref().map(viem_cluster::files_of).unwrap_or_default();
        let files = self.files_of_machine.get_or_init(files).iter().map(PathBuf::as_path);
        let more = [self.file_of_pes(), self.latency.as_deref(), self.link_cycles.as_deref()];
        files.chain(more.into_iter().flatten())
    }

    /// What its processing elements are, if that is given.
    fn pe(&self) -> Option<Pe> {
        self.pe.or(self.pu.then_some(Pe::Thread))
    }

    /// Whether there is a machine.
    pub(crate) fn is_given(&self) -> bool {
        self.hierarchy_parameter_string.is_some() || self.machine.is_some()
    }

    /// Reads the machine. Distances that fall are allowed, but most often given the wrong way round.
    pub(crate) fn build(&self, console: Console) -> Result<Box<dyn Machine>> {
        let whole: Box<dyn Machine> = match &self.machine {
            Some(spec) => viem_cluster::build_wanted(
                &Wanted::new(spec)
                    .with_distances(self.distances())
                    .with_pe(self.pe().map(PeKind::from).unwrap_or_default())
                    .with_latency(self.latency.as_deref())
                    .with_link_cycles(self.link_cycles.as_deref()),
            )?,
            None => {
                let arities =
                    self.hierarchy_parameter_string.as_deref().ok_or_else(|| UsageError(MISSING.into()))?;
                if let Some(field) = self.field_of_clusters() {
                    let spec = self.spec().into_owned();
                    return Err(SpecError::ClustersOnly { spec, field }.into());
                }
                Box::new(Hierarchy::parse(arities, self.distances().unwrap_or_default())?)
            }
        };
        self.warn_of_order(console, whole.as_ref());
        // Of a list of PEs, too: the whole machine is divided into its parts.
        machine::check_memory(whole.as_ref())?;
        let Some(pes) = self.pes() else { return Ok(whole) };
        Ok(viem_cluster::restricted(whole, pes)?)
    }

    /// A setting that only clusters have, if there is one.
    fn field_of_clusters(&self) -> Option<&'static str> {
        let latency = self.latency.as_ref().map(|_| "latency");
        self.pe().filter(|&pe| pe != Pe::Core).map(|_| "pe").or(latency)
    }

    /// Warns of distances that fall; clusters warn themselves.
    fn warn_of_order(&self, console: Console, machine: &dyn Machine) {
        let falls = |hierarchy: &&Hierarchy| !hierarchy.simplified().distances().is_sorted();
        let hierarchy = machine.hierarchy().filter(falls).filter(|_| notes(machine).is_empty());
        let (Some(hierarchy), Some(distances)) = (hierarchy, self.distances()) else { return };
        let reversed = |text: &str| text.split(':').rev().collect::<Vec<_>>().join(":");
        let rises = hierarchy.distances().iter().rev().is_sorted();
        let arities: Vec<String> = hierarchy.arities().iter().map(u32::to_string).collect();
        let advice = match rises && arities.len() > 1 {
            true => format!(
                "; if both were typed outermost first, give {} and {}",
                reversed(&arities.join(":")),
                reversed(distances)
            ),
            false => String::new(),
        };
        console.warn(format_args!(
            "the distances {distances} fall from the inside out; innermost levels come first{advice}"
        ));
    }

    /// What reports say of the machine.
    pub(crate) fn report(&self, machine: &dyn Machine) -> JsonMachine {
        let pes = 0..machine.num_pes() as PeId;
        let are_others = || pes.clone().any(|pe| machine.number(pe) != pe);
        JsonMachine {
            spec: self.spec().into_owned(),
            distances: self.distances().map(str::to_owned),
            pe: self.pe().and_then(|pe| Some(pe.to_possible_value()?.get_name().to_owned())),
            latency: self.latency.as_ref().map(|path| path.display().to_string()),
            link_cycles: self.link_cycles.as_ref().map(|path| path.display().to_string()),
            description: machine.describe(),
            num_pes: machine.num_pes(),
            hierarchy: machine.hierarchy().map(|tree| tree.arities().to_vec()),
            level_distances: machine.hierarchy().map(|tree| tree.distances().to_vec()),
            pes: (self.pes.is_some() || are_others())
                .then(|| pes.clone().map(|pe| machine.number(pe)).collect()),
        }
    }
}

/// Prints how large the machine is; for trees as VieM does.
pub(crate) fn tell(console: Console, machine: &dyn Machine) {
    match machine.hierarchy() {
        Some(_) => console.line(format_args!("specified hierarchy has {} entities.", machine.num_pes())),
        None => console.line(format_args!(
            "specified machine has {} entities: {}",
            machine.num_pes(),
            machine.describe()
        )),
    }
    for note in notes(machine) {
        if note.is_warning {
            console.warn(format_args!("{}", note.text));
        } else {
            console.line(format_args!("{}", note.text));
        }
    }
}

/// What is to be said about a machine that was not typed in full.
fn notes(machine: &dyn Machine) -> Vec<Note> {
    machine.audited().map(|audited| audited.notes()).unwrap_or_default()
}

/// The machine, as written to `--json`.
#[derive(Serialize)]
pub(crate) struct JsonMachine {
    /// As it was given.
    spec: String,
    /// As they were given.
    distances: Option<String>,
    /// Whether PEs are hardware threads instead of cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pe: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link_cycles: Option<String>,
    description: String,
    num_pes: usize,
    /// Of a regular tree: the arity of each level, innermost first, and its distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    hierarchy: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level_distances: Option<Vec<Distance>>,
    /// The number of each PE in the whole machine, if this is a part of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pes: Option<Vec<PeId>>,
}
