//! Launching a job as mapped: launcher files and the command line to paste.
//!
//! Each launcher gets the host and the CPUs of each rank in its own way:
//!
//! | kind | file | CPUs or GPUs are set by |
//! |---|---|---|
//! | `openmpi`, `openmpi5` | one line per rank: host, package and core | the file |
//! | `mpich` | the hosts; the command line has the node of each rank | the file or the command line |
//! | `mpich40` | one line for each run of ranks on the same host | the file |
//! | `intel`, `slurm`, `flux` | one line per rank: its host | a script that starts the program |
//! | `torchrun` | a script with one line per rank: host, GPU and rank | that script |
//! | `mpijob` | one line per rank: its host | a script that orders the GPUs of a host |
//! | `pods` | the nodes and the ranks of each, as JSON | |
//! | `cray` | the ranks in the order of the slots | the command line |
//! | `plain` | the PE of each rank | |
//! | `inverse` | the rank on each PE | |
//!
//! Ranks on GPUs are bound to the cores near them. A kind that binds is refused where these are not known, and every kind where the name of
//! a host would be taken for an option.
//!
//! To add a kind, add a file with a [`LauncherKind`] and a line in [`KINDS`]. Nothing is started here. O(n
//! log n) for n ranks.
//!
//! ```
//! use viem::{Mapping, machine};
//! use viem_launch as launch;
//!
//! let machine = machine::build("2:2", Some("1:10"), None)?;
//! let mapping = Mapping::on(&machine, vec![3, 0, 2, 1])?;
//! let kind = launch::kind("inverse").unwrap();
//! let launch = kind.launch(&machine, &mapping, &["ranks".into()])?;
//! assert_eq!(launch.files[0].content, "1\n3\n2\n0\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Design
//!
//! The machine is asked once where each PE is: host, package, core, CPUs (`machine/nodes.rs`). A launcher (`crates/launch/src/`) is then a pure
//! function from the sites of the ranks to the content of files and a command line. Launchers that accept the CPUs of each rank get them; for
//! the others there is one script that binds by rank. The programs write these files like all outputs: whole or not at all, and nothing is
//! replaced that the user has not named.
//!
//! Launchers of GPUs need a number on the host instead of CPUs: that of the PE among those of its node. `rank.sh` and `gpus.sh` look it up when the
//! job starts, because `torchrun` and local ranks have an order of their own.
//!
//! Such files are read again as mappings (`crates/launch/src/placement/`), by whomever they were written. A reader says of each rank which node and cores
//! its line names; one function gives every rank a processing element there. Which hosts names stand for is decided in one place
//! (`crates/cluster/src/files/names.rs`), for topologies and latencies too.
//!
//! `crates/report/src/compare/` measures mappings, `crates/report/src/picture/` draws two of them. Both see a machine as nodes, so they work for all machines; levels
//! are shown where there is a tree.

mod cray;
mod flux;
mod intel;
mod mpich;
mod mpich40;
mod mpijob;
mod numbers;
mod openmpi;
pub mod placement;
mod pods;
mod script;
mod slurm;
mod srun;
mod template;
mod torchrun;

use viem::ground::error::{ErrorKind, HasKind};
use viem::ground::types::{NodeId, PeId};
use viem::machine::{Located, Machine, Nodes, Site, SlurmJob};
use viem::mapping::Mapping;

/// A kind of launcher.
#[derive(Debug)]
pub struct LauncherKind {
    /// Its name on the command line.
    pub name: &'static str,
    /// A description for output.
    pub about: &'static str,
    /// The default names of its files.
    pub files: &'static [&'static str],
    /// Whether it needs the names of the hosts.
    pub needs_hosts: bool,
    binds_to: BindsTo,
    make: fn(&Job<'_>) -> Result<Launch, LaunchError>,
}

/// What a kind of launcher binds ranks to, and so must know of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BindsTo {
    /// It leaves that to others.
    Nothing,
    /// CPUs by the numbers of the operating system.
    Cpus,
    /// Cores by their packages and numbers in these.
    Cores,
}

/// All kinds.
pub const KINDS: [LauncherKind; 13] = [
    openmpi::FOUR,
    openmpi::FIVE,
    mpich::KIND,
    mpich40::KIND,
    intel::KIND,
    slurm::KIND,
    cray::KIND,
    flux::KIND,
    torchrun::KIND,
    mpijob::KIND,
    pods::KIND,
    numbers::PLAIN,
    numbers::INVERSE,
];

/// The kind with this name.
pub fn kind(name: &str) -> Option<&'static LauncherKind> {
    const ALL: &[LauncherKind] = &KINDS;
    ALL.iter().find(|kind| kind.name == name)
}

/// The files and the command line that launch a job.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Launch {
    /// The files, in the order of [`LauncherKind::files`].
    pub files: Vec<LaunchFile>,
    /// The command line to paste into a shell, if this kind has one; `./app` stands for the program.
    pub line: Option<String>,
}

/// A file that a launcher reads or runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchFile {
    /// Lines that end with LF.
    pub content: String,
    /// Whether it is executable.
    pub is_program: bool,
}

impl LaunchFile {
    fn text(content: String) -> Self {
        Self { content, is_program: false }
    }
}

/// Why a mapping cannot be launched in this way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum LaunchError {
    #[error(
        "{kind} needs the names of the hosts, but the machine has {nodes} nodes without names; use a machine with named \
         hosts, or {}",
        without_hosts()
    )]
    NoHosts { kind: &'static str, nodes: usize },
    #[error(
        "{kind} allows one rank per core, but ranks {first} and {second} are both on core {core} of {host}; use slurm \
         or mpich40"
    )]
    SharedCore { kind: &'static str, first: NodeId, second: NodeId, core: u32, host: String },
    #[error(
        "cray needs the same number of ranks on every node except the last, which may have fewer; {first} has {most} \
         and {host} has {ranks}"
    )]
    Uneven { first: String, most: usize, host: String, ranks: usize },
    #[error("cray needs ranks on the same CPUs of every node, but those of {host} and {first} differ")]
    OtherCpus { first: String, host: String },
    #[error(
        "cray needs the hosts in the order of Slurm's nodes, but {first} comes before {second}; list them in that order, \
         or use slurm"
    )]
    HostOrder { first: String, second: String },
    #[error(
        "mpich needs the node of each rank in one argument, which is too long for {ranks} ranks; use mpich40"
    )]
    TooLong { ranks: usize },
    #[error(
        "{kind} binds ranks to cores, but those near the GPUs of {host} are not known, or not in the job; use {}, or describe {host} by a file of hwloc",
        binding_at_most(BindsTo::Nothing)
    )]
    NoCoresOfGpus { kind: &'static str, host: String },
    #[error(
        "{kind} needs packages and cores, but only the numbers of the CPUs near the GPUs of {host} are known; use {}, or describe {host} by a \
         file of hwloc",
        binding_at_most(BindsTo::Cpus)
    )]
    OnlyCpusOfGpus { kind: &'static str, host: String },
    #[error(
        "the name of host `{host}` begins with a dash, so launchers would take it for an option; give the host another name"
    )]
    HostLikeOption { host: String },
    #[error(
        "in a job of Slurm, {kind} starts its ranks by srun, which takes each host once and in an order of its own: rank {rank} \
         would not be on {host}; use slurm, and add --mpi=pmi2 to its line"
    )]
    SlurmOrder { kind: &'static str, rank: NodeId, host: String },
    #[error("there is nothing to launch: the model has no processes")]
    NoRanks,
    #[error("{kind} allows one rank per processing element, but ranks {first} and {second} are both on {pe}")]
    SharedPe { kind: &'static str, first: NodeId, second: NodeId, pe: u32 },
}

impl HasKind for LaunchError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoHosts { .. }
            | Self::SharedCore { .. }
            | Self::Uneven { .. }
            | Self::OtherCpus { .. }
            | Self::HostOrder { .. }
            | Self::TooLong { .. }
            | Self::NoCoresOfGpus { .. }
            | Self::OnlyCpusOfGpus { .. }
            | Self::HostLikeOption { .. }
            | Self::SlurmOrder { .. }
            | Self::NoRanks
            | Self::SharedPe { .. } => ErrorKind::Usage,
        }
    }
}

impl LaunchError {
    /// Whether another mapping of the same processes may work.
    pub fn depends_on_mapping(&self) -> bool {
        use LaunchError::*;
        self.is_of_sharing()
            || matches!(self, Uneven { .. } | OtherCpus { .. } | HostOrder { .. } | SlurmOrder { .. })
    }

    /// Whether two processes share a core or PE.
    pub fn is_of_sharing(&self) -> bool {
        matches!(self, Self::SharedCore { .. } | Self::SharedPe { .. })
    }
}

/// The kinds that do not need host names.
fn without_hosts() -> String {
    names_of(|kind| !kind.needs_hosts)
}

/// The kinds that bind ranks to nothing more than this.
fn binding_at_most(most: BindsTo) -> String {
    names_of(|kind| kind.binds_to <= most)
}

fn names_of(is_meant: impl Fn(&LauncherKind) -> bool) -> String {
    let kinds = KINDS.iter().filter(|kind| is_meant(kind));
    kinds.map(|kind| kind.name).collect::<Vec<_>>().join(", ")
}

impl LauncherKind {
    /// The files and the command line for a mapping to a machine. `files` are the file names for the command
    /// line, one for each of [`LauncherKind::files`].
    pub fn launch(
        &self,
        machine: &dyn Machine,
        mapping: &Mapping,
        files: &[String],
    ) -> Result<Launch, LaunchError> {
        assert_eq!(files.len(), self.files.len(), "a name for each file");
        let nodes = Nodes::of(machine);
        let count = nodes.hosts().len();
        // A single node without a name is the current one.
        if self.needs_hosts && !nodes.are_named() && count > 1 {
            return Err(LaunchError::NoHosts { kind: self.name, nodes: count });
        }
        if mapping.num_processes() == 0 {
            return Err(LaunchError::NoRanks);
        }
        let slurm = machine.located().and_then(Located::slurm_job);
        let job = Job { kind: self.name, nodes: &nodes, machine, mapping, files, slurm };
        job.check_hosts()?;
        job.check_gpus(self.binds_to)?;
        (self.make)(&job)
    }
}

/// The job to launch.
struct Job<'a> {
    kind: &'static str,
    nodes: &'a Nodes,
    machine: &'a dyn Machine,
    mapping: &'a Mapping,
    files: &'a [String],
    /// The job of Slurm that the hosts belong to, if the machine was read inside one.
    slurm: Option<&'a SlurmJob>,
}

/// The ranks of a node.
struct NodeRanks<'a> {
    host: &'a str,
    /// In ascending order.
    ranks: Vec<NodeId>,
}

impl<'a> Job<'a> {
    fn num_ranks(&self) -> usize {
        self.mapping.num_processes()
    }

    fn ranks(&self) -> impl Iterator<Item = NodeId> + use<> {
        0..self.num_ranks() as NodeId
    }

    fn site(&self, rank: NodeId) -> Site<'a> {
        self.nodes.site(self.mapping.pe_of(rank))
    }

    /// The name of a node, or its description in messages if it has no name.
    fn host(&self, node: usize) -> &'a str {
        let hosts = self.nodes.hosts();
        if self.nodes.are_named() || hosts.len() > 1 { &hosts[node] } else { "localhost" }
    }

    /// Fails if a launcher would take a host for an option.
    fn check_hosts(&self) -> Result<(), LaunchError> {
        match self.nodes.hosts().iter().find(|host| host.starts_with('-')) {
            Some(host) => Err(LaunchError::HostLikeOption { host: host.clone() }),
            None => Ok(()),
        }
    }

    /// Fails if ranks are to be bound to more than is known of what is near the GPUs.
    fn check_gpus(&self, binds_to: BindsTo) -> Result<(), LaunchError> {
        let sites = (0..self.nodes.num_pes() as PeId).map(|pe| self.nodes.site(pe));
        for Site { node, cores, cpus, .. } in sites.filter(|site| !site.gpus.is_empty()) {
            let (kind, host) = (self.kind, || self.host(node).to_owned());
            if binds_to >= BindsTo::Cpus && cpus.is_empty() {
                return Err(LaunchError::NoCoresOfGpus { kind, host: host() });
            }
            if binds_to >= BindsTo::Cores && cores.is_empty() {
                return Err(LaunchError::OnlyCpusOfGpus { kind, host: host() });
            }
        }
        Ok(())
    }

    /// The host of a rank.
    fn host_of(&self, rank: NodeId) -> &'a str {
        self.host(self.site(rank).node)
    }

    /// The nodes with ranks, in order.
    fn used_nodes(&self) -> Vec<NodeRanks<'a>> {
        let mut ranks = vec![Vec::new(); self.nodes.hosts().len()];
        self.ranks().for_each(|rank| ranks[self.site(rank).node].push(rank));
        let nodes = ranks.into_iter().enumerate().filter(|(_, ranks)| !ranks.is_empty());
        nodes.map(|(node, ranks)| NodeRanks { host: self.host(node), ranks }).collect()
    }

    /// The number of the PE of each rank among those that the machine has on its node, in the order of their GPUs or else their CPUs. Each PE may
    /// have one rank.
    fn pe_numbers(&self) -> Result<Vec<u32>, LaunchError> {
        self.rank_on_each_pe()?;
        let mut pes: Vec<PeId> = (0..self.nodes.num_pes() as PeId).collect();
        pes.sort_by_key(|&pe| {
            let Site { node, gpus, cpus, .. } = self.nodes.site(pe);
            (node, gpus, cpus)
        });
        let mut numbers = vec![0; pes.len()];
        for of_node in pes.chunk_by(|&a, &b| self.nodes.node(a) == self.nodes.node(b)) {
            (0..).zip(of_node).for_each(|(number, &pe)| numbers[pe as usize] = number);
        }
        Ok(self.ranks().map(|rank| numbers[self.mapping.pe_of(rank) as usize]).collect())
    }

    /// The rank on each PE. There must not be two.
    fn rank_on_each_pe(&self) -> Result<Vec<Option<NodeId>>, LaunchError> {
        let mut rank_on: Vec<Option<NodeId>> = vec![None; self.machine.num_pes()];
        for rank in self.ranks() {
            let pe = self.mapping.pe_of(rank);
            if let Some(first) = rank_on[pe as usize].replace(rank) {
                return Err(LaunchError::SharedPe { kind: self.kind, first, second: rank, pe });
            }
        }
        Ok(rank_on)
    }

    /// A file name as a shell word.
    fn file(&self, index: usize) -> String {
        word(&self.files[index])
    }

    /// A file name in the form that makes a shell find the program.
    fn program(&self, index: usize) -> String {
        let name = &self.files[index];
        word(&if name.contains('/') { name.clone() } else { format!("./{name}") })
    }
}

/// An option with a list of hosts. Empty if it is too long for an argument: the hosts must then be those of
/// the allocation.
fn hosts_option(option: &str, hosts: impl Iterator<Item = String>) -> String {
    let list = hosts.collect::<Vec<_>>().join(",");
    if list.len() < LONGEST_ARGUMENT { format!(" {option} {}", word(&list)) } else { String::new() }
}

/// The same if the list is in the word of the option.
fn list_option(option: &str, hosts: impl Iterator<Item = String>) -> String {
    let text = format!("{option}{}", hosts.collect::<Vec<_>>().join(","));
    if text.len() < LONGEST_ARGUMENT { format!(" {}", word(&text)) } else { String::new() }
}

/// Longest argument that Linux passes on: 128 KiB, including the byte at its end.
const LONGEST_ARGUMENT: usize = (128 << 10) - 1;

/// CPUs as a list such as `0,4`.
fn cpu_list(cpus: &[u32], separator: &str) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(separator)
}

/// A text as a single shell word.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_are_quoted_where_they_must_be() {
        assert_eq!(word("a/b-1.txt"), "a/b-1.txt");
        assert_eq!(word("my file"), "'my file'");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(""), "''");
    }

    #[test]
    fn kinds_have_names_of_their_own() {
        assert!(
            KINDS.iter().all(|kind| self::kind(kind.name).is_some_and(|found| found.about == kind.about))
        );
        assert!(self::kind("lsf").is_none());
    }
}
