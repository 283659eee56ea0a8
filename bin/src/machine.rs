//! The machine of a run: how it is given, read, printed and reported.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::{Args, ValueEnum};

use crate::console::Console;
use crate::error::Result;
use crate::verb::Form;
use viem::base::text::counted;
use viem::machine;
use viem::machine::{Hierarchy, Machine, Note};
use viem_cluster::{MachineSpec, PeKind};
use viem_report::envelope::{self, ReportedMachine};

/// The machine, and the part of it that is mapped to.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Machine")]
pub(crate) struct MachineOptions {
    #[arg(long, short, value_name = "SPEC", help = SPEC)]
    machine: String,

    #[command(flatten)]
    details: MachineDetails,

    /// The files of the machine, once they have been asked for.
    #[arg(skip)]
    files_of_machine: OnceLock<Vec<PathBuf>>,
}

/// What the option of the machine says.
pub(crate) const SPEC: &str = "\
The machine: 4:16:8, torus:8x8, slurm, hosts:FILE, or a file. 4:16:8 is a tree, innermost level first: 4 cores per processor, \
16 processors per node, 8 nodes; mesh:8x8, torus:16x8x8, torus:4x4x2/4:16, hypercube:10, rails:8:4:16, complete:64; slurm (the job this runs in), hwloc (this \
node), hwloc:node.xml,hosts=FILE, hosts:FILE,node=16:2,ranks=4, hosts:lsf (the job of LSF; also sge and pbs); or a file: a \
target file of Scotch, a network (METIS graph), a distance matrix, or what numactl --hardware, likwid-topology or lstopo \
--distances prints";

/// What a machine is besides its specification.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Machine")]
pub(crate) struct MachineDetails {
    /// Distances of the levels of a tree, innermost first. With 1:10:100, two cores of a processor have distance 1, two
    /// processors of a node 10, two nodes 100
    #[arg(long, short, value_name = "d1:d2:...")]
    distances: Option<String>,

    /// Map to these PEs of the machine only. Numbers and ranges such as 0-15,32,40-47, or a file of
    /// them; mappings then hold positions in this list, from 0
    #[arg(long, value_name = "LIST|FILE")]
    pes: Option<String>,

    /// What a processing element (PE) is. With slurm, hwloc and hosts [default: core]
    #[arg(long, value_enum, value_name = "KIND", hide_short_help = true)]
    pe: Option<Pe>,

    /// A matrix of latencies between hosts, for their distances. In any unit; with slurm, hwloc and hosts
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    latencies: Option<PathBuf>,

    /// Cycles of a flit over each link. The METIS graph of the network with other weights, with a network
    /// from a file, where these are not the costs; for simulations, and for the load of links
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    link_cycles: Option<PathBuf>,
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
    /// A machine by its specification and its details.
    pub(crate) fn new(machine: String, details: MachineDetails) -> Self {
        Self { machine, details, files_of_machine: OnceLock::new() }
    }

    /// The machine as one text.
    pub(crate) fn spec(&self) -> &str {
        &self.machine
    }

    /// The distances, if some are given.
    pub(crate) fn distances(&self) -> Option<&str> {
        self.details.distances.as_deref()
    }

    /// The list of PEs, or the name of its file.
    pub(crate) fn pes(&self) -> Option<&str> {
        self.details.pes.as_deref()
    }

    /// The file that the machine is read from, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        viem_cluster::file_of(&self.machine)
    }

    /// The file that the list of PEs is read from, if it is one.
    pub(crate) fn file_of_pes(&self) -> Option<&Path> {
        self.pes().and_then(viem_cluster::file_of_pes)
    }

    /// The file of the times of links, if there is one.
    pub(crate) fn link_cycles(&self) -> Option<&Path> {
        self.details.link_cycles.as_deref()
    }

    /// Every file that is read for the machine.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let files = || viem_cluster::files_of(&self.machine);
        let files = self.files_of_machine.get_or_init(files).iter().map(PathBuf::as_path);
        let more =
            [self.file_of_pes(), self.details.latencies.as_deref(), self.details.link_cycles.as_deref()];
        files.chain(more.into_iter().flatten())
    }

    /// Reads the machine. Distances that fall are allowed, but most often given the wrong way round.
    pub(crate) fn build(&self, console: Console) -> Result<Box<dyn Machine>> {
        let whole = viem_cluster::build_wanted(
            &MachineSpec::new(&self.machine)
                .with_distances(self.distances())
                .with_pe(self.details.pe.map(PeKind::from).unwrap_or_default())
                .with_latency(self.details.latencies.as_deref())
                .with_link_cycles(self.details.link_cycles.as_deref()),
        )?;
        self.warn_of_order(console, whole.as_ref());
        // Of a list of PEs, too: the whole machine is divided into its parts.
        machine::check_memory(whole.as_ref())?;
        let Some(pes) = self.pes() else { return Ok(whole) };
        Ok(viem_cluster::restricted(whole, pes)?)
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
    pub(crate) fn report(&self, machine: &dyn Machine) -> ReportedMachine {
        let name = |path: &PathBuf| path.display().to_string();
        let details = envelope::MachineDetails {
            pe: self.details.pe.and_then(|pe| Some(pe.to_possible_value()?.get_name().to_owned())),
            latency: self.details.latencies.as_ref().map(name),
            link_cycles: self.details.link_cycles.as_ref().map(name),
        };
        let reported = ReportedMachine::new(machine, self.spec(), self.distances()).with_details(details);
        match self.details.pes {
            Some(_) => reported.with_numbers(machine),
            None => reported,
        }
    }
}

/// Returns whether a machine is a real cluster or node, as described by batch systems, files of hosts or hwloc. Auditors are given what was found out
/// about these machines, and about no others.
pub(crate) fn is_real(machine: &dyn Machine) -> bool {
    machine.audited().is_some()
}

/// Prints what machine it is; in VieM's form, trees as VieM does.
pub(crate) fn print(console: Console, form: Form, machine: &dyn Machine) {
    match (form, machine.hierarchy()) {
        (Form::VieM, Some(_)) => {
            console.line(format_args!("specified hierarchy has {} entities.", machine.num_pes()));
        }
        _ => {
            let pes = counted(machine.num_pes(), "PE", "PEs");
            console.line(format_args!("machine: {}, {pes}", machine.describe()));
        }
    }
    // Clusters describe themselves in their notes, too.
    let described = format!("machine: {}", machine.describe());
    for note in notes(machine).into_iter().filter(|note| note.text != described) {
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
