//! The locations of the PEs of a machine.

use crate::base::types::PeId;

/// A machine that knows on which nodes its PEs are. [`Machine::located`](super::Machine::located) returns it to launchers, which ask through [`Nodes`](super::Nodes).
///
/// ```
/// use viem::machine::{DistanceMatrix, Distances, Located, Location, Machine, MachineError, Nodes};
/// use viem::base::types::PeId;
///
/// /// Two nodes of two cores.
/// struct Pair;
///
/// impl Machine for Pair {
///     fn num_pes(&self) -> usize {
///         4
///     }
///     fn distances(&self) -> Result<Distances, MachineError> {
///         DistanceMatrix::from_fn(4, |p, q| if p / 2 == q / 2 { 1 } else { 10 })?.distances()
///     }
///     fn located(&self) -> Option<&dyn Located> {
///         Some(self)
///     }
/// }
///
/// impl Located for Pair {
///     fn location(&self, pe: PeId) -> Location {
///         Location::new(pe / 2, vec![pe % 2])
///     }
///     fn host(&self, node: u32) -> Option<&str> {
///         Some(["left", "right"][node as usize])
///     }
/// }
///
/// let nodes = Nodes::of(&Pair);
/// assert_eq!((nodes.site(3).host, nodes.site(3).cpus), ("right", &[1][..]));
/// ```
pub trait Located {
    /// Returns the location of a PE.
    fn location(&self, pe: PeId) -> Location;

    /// The name that the system has for a node, if the machine knows it.
    fn host(&self, _node: u32) -> Option<&str> {
        None
    }

    /// The number of nodes of the cluster, including those that have no PEs, if the machine knows it.
    fn num_nodes(&self) -> Option<u32> {
        None
    }

    /// The job of Slurm that the nodes belong to, if the machine was read inside one.
    fn slurm_job(&self) -> Option<&SlurmJob> {
        None
    }
}

/// The facts that a line that starts a step in a job of Slurm depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmJob {
    /// The hosts of the machine in the order of Slurm, in which it numbers nodes and tasks.
    pub hosts: Vec<String>,
    /// The variables of the job that `srun` would take for options of a step, such as `SLURM_CPUS_PER_TASK`.
    pub variables: Vec<&'static str>,
    /// The group of a heterogeneous job that the nodes belong to (`--het-group`).
    pub het_group: Option<u32>,
    /// True if the job was read inside a step that is neither the batch script nor an interactive step. That step has CPUs that
    /// others must share (`--overlap`).
    pub is_in_step: bool,
    /// True if the CPUs of PEs are those that Slurm gave to the job. Otherwise they are assumed, and may belong to another job.
    pub are_cpus_known: bool,
    /// The source of the number of ranks of the job, such as `SLURM_TASKS_PER_NODE=8(x2)`, unless it is the user.
    pub ranks_from: Option<String>,
    /// True if there are more ranks than Slurm counts CPUs for (`--overcommit`).
    pub is_overcommitted: bool,
}

/// Consecutive cores of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct CoreRange {
    /// The package (socket) in the node, from 0.
    pub package: u32,
    /// The first core in the package, from 0; only cores that can be used count.
    pub first: u32,
    /// The number of cores, at least 1.
    pub count: u32,
}

impl CoreRange {
    /// `count` cores of a package, from the one numbered `first`.
    pub fn new(package: u32, first: u32, count: u32) -> Self {
        Self { package, first, count }
    }

    /// The last core.
    pub fn last(&self) -> u32 {
        self.first + self.count.saturating_sub(1)
    }
}

/// The location of a PE in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The node, from 0.
    pub node: u32,
    /// The cores that the PE has hardware threads of, at least one, in ascending order. Of GPUs those near them, none if they are not known.
    pub cores: Vec<CoreRange>,
    /// The CPUs (hardware threads) of the PE by the operating system's numbers, ascending. Of GPUs those near them, none if they are not known.
    pub cpus: Vec<u32>,
    /// The GPUs of the PE by their numbers on the node, ascending; none if PEs are cores.
    pub gpus: Vec<u32>,
}

impl Location {
    /// These CPUs of a node, as one core: the first of the first package.
    pub fn new(node: u32, cpus: Vec<u32>) -> Self {
        Self { node, cores: vec![CoreRange::new(0, 0, 1)], cpus, gpus: Vec::new() }
    }

    /// The same CPUs, but as this core of this package.
    pub fn with_core(self, package: u32, core: u32) -> Self {
        self.with_cores(vec![CoreRange::new(package, core, 1)])
    }

    /// The same CPUs, but as these cores; at least one, in ascending order.
    pub fn with_cores(self, cores: Vec<CoreRange>) -> Self {
        Self { cores, ..self }
    }

    /// GPUs of a node, by their numbers, of which it is not known what cores are near.
    pub fn of_gpus(node: u32, gpus: Vec<u32>) -> Self {
        Self { node, cores: Vec::new(), cpus: Vec::new(), gpus }
    }

    /// The same GPUs, but with these CPUs near them; their cores are none if only the CPUs are known.
    pub fn with_near(self, cores: Vec<CoreRange>, cpus: Vec<u32>) -> Self {
        Self { cores, cpus, ..self }
    }
}
