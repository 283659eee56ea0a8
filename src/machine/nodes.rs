//! The host and the CPUs of each PE of a machine, for launchers.

use crate::base::types::PeId;
use crate::machine::{CoreRange, Location, Machine, SlurmJob};

/// More cores than any node has. Capacities may be larger where they stand for shares of the work.
const MOST_CORES: u32 = 1 << 12;

/// The nodes of a machine with the locations of its PEs.
///
/// The nodes are those that hold PEs of the machine, renumbered from 0 in the same order.
///
/// ```
/// use viem::machine::{self, CoreRange, Nodes};
///
/// let tree = machine::build("4:2:8", "1:3:30")?;
/// let nodes = Nodes::of(&tree);
/// assert_eq!(nodes.hosts().len(), 8);
/// let site = nodes.site(13);
/// assert_eq!((site.host, site.cores, site.cpus), ("node1", &[CoreRange::new(1, 1, 1)][..], &[5][..]));
/// # Ok::<(), machine::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    hosts: Vec<String>,
    are_named: bool,
    /// The seats by PE.
    seats: Vec<Seat>,
    cores: Vec<CoreRange>,
    cpus: Vec<u32>,
    gpus: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Seat {
    node: u32,
    /// Index of its first range of cores; the last is before the first of the next PE.
    first_cores: usize,
    /// The same of its CPUs.
    first_cpu: usize,
    /// The same of its GPUs.
    first_gpu: usize,
}

/// The location of a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Site<'a> {
    /// The node, from 0.
    pub node: usize,
    /// The name of the node.
    pub host: &'a str,
    /// The cores that the PE has hardware threads of, at least one, in ascending order. Of GPUs those near them, none if they are not known.
    pub cores: &'a [CoreRange],
    /// The CPUs (hardware threads) of the PE by the operating system's numbers, ascending: all those of a core if PEs are cores. Of GPUs those
    /// near them, none if they are not known.
    pub cpus: &'a [u32],
    /// The GPUs of the PE by their numbers on the node, ascending; none if PEs are cores.
    pub gpus: &'a [u32],
}

impl Site<'_> {
    /// The package (socket) of its first core. Those of GPUs are not distinguished.
    pub fn package(&self) -> u32 {
        let cores = if self.gpus.is_empty() { self.cores } else { &[] };
        cores.first().map_or(0, |cores| cores.package)
    }
}

impl Nodes {
    /// Returns the nodes of `machine`. If it names no hosts, these are `node0`, `node1` and so on. O(n log n).
    pub fn of(machine: &dyn Machine) -> Self {
        let mut seats = Vec::with_capacity(machine.num_pes());
        let (mut cores, mut cpus, mut gpus) = (Vec::new(), Vec::new(), Vec::new());
        for pe in 0..machine.num_pes() as PeId {
            let own = location(machine, pe);
            let (first_cores, first_cpu, first_gpu) = (cores.len(), cpus.len(), gpus.len());
            seats.push(Seat { node: own.node, first_cores, first_cpu, first_gpu });
            cores.extend(own.cores);
            cpus.extend(own.cpus);
            gpus.extend(own.gpus);
        }
        let numbers = renumber(seats.iter_mut().map(|seat: &mut Seat| &mut seat.node).collect());
        let name = |&node: &u32| host(machine, node).map_or_else(|| format!("node{node}"), str::to_owned);
        let are_named = numbers.iter().all(|&node| host(machine, node).is_some());
        Self { hosts: numbers.iter().map(name).collect(), are_named, seats, cores, cpus, gpus }
    }

    /// The names of the nodes.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Returns whether the names are those of real hosts.
    pub fn are_named(&self) -> bool {
        self.are_named
    }

    /// Number of PEs.
    pub fn num_pes(&self) -> usize {
        self.seats.len()
    }

    /// The node of a PE, from 0.
    pub fn node(&self, pe: PeId) -> usize {
        self.seats[pe as usize].node as usize
    }

    /// Returns the location of a PE.
    pub fn site(&self, pe: PeId) -> Site<'_> {
        let (seat, next) = (&self.seats[pe as usize], self.seats.get(pe as usize + 1));
        let node = seat.node as usize;
        let end_of_cores = next.map_or(self.cores.len(), |next| next.first_cores);
        let end_of_cpus = next.map_or(self.cpus.len(), |next| next.first_cpu);
        let end_of_gpus = next.map_or(self.gpus.len(), |next| next.first_gpu);
        Site {
            node,
            host: &self.hosts[node],
            cores: &self.cores[seat.first_cores..end_of_cores],
            cpus: &self.cpus[seat.first_cpu..end_of_cpus],
            gpus: &self.gpus[seat.first_gpu..end_of_gpus],
        }
    }
}

/// The node of each of these PEs, and the number of nodes, which are numbered from 0 in ascending order. O(n log n) for n PEs, however
/// large the machine is.
pub fn nodes_of(machine: &dyn Machine, pes: &[PeId]) -> (Vec<u32>, usize) {
    let mut node_of: Vec<u32> = pes.iter().map(|&pe| location(machine, pe).node).collect();
    let numbers = renumber(node_of.iter_mut().collect());
    (node_of, numbers.len())
}

/// Numbers nodes from 0 in ascending order; returns the distinct numbers that they had. O(n log n).
fn renumber(nodes: Vec<&mut u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = nodes.iter().map(|node| **node).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for node in nodes {
        *node = numbers.partition_point(|number| *number < *node) as u32;
    }
    numbers
}

/// Returns the location of a PE; on a node of its own if the machine does not know.
pub(super) fn location<M: Machine + ?Sized>(machine: &M, pe: PeId) -> Location {
    match machine.located() {
        Some(located) => located.location(pe),
        None => {
            let num_cores = machine.capacity(pe).min(MOST_CORES);
            Location::new(machine.number(pe), (0..num_cores).collect())
                .with_cores(vec![CoreRange::new(0, 0, num_cores)])
        }
    }
}

/// The name that the system has for a node, if the machine knows it.
pub(super) fn host<M: Machine + ?Sized>(machine: &M, node: u32) -> Option<&str> {
    machine.located()?.host(node)
}

/// The number of nodes of the cluster, if the machine knows it.
pub(super) fn num_nodes<M: Machine + ?Sized>(machine: &M) -> Option<u32> {
    machine.located()?.num_nodes()
}

/// The job of Slurm that the nodes belong to, if the machine was read inside one.
pub(super) fn slurm_job<M: Machine + ?Sized>(machine: &M) -> Option<&SlurmJob> {
    machine.located()?.slurm_job()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Listed, build};

    #[test]
    fn machines_without_names_have_nodes_all_the_same() {
        let cases = [
            ("4:2:8", Some("1:3:30"), 63, ("node7", 1, 3, vec![7])),
            ("4:8", Some("1:3"), 31, ("node7", 0, 3, vec![3])),
            ("tree:8", Some("1"), 5, ("node0", 0, 5, vec![5])),
            ("2:4:2:3", Some("1:2:3:4"), 47, ("node2", 1, 7, vec![15])),
            ("torus:4x4/4:2", Some("1:2:9"), 9, ("node1", 0, 1, vec![1])),
            ("hypercube:4", None, 9, ("node9", 0, 0, vec![0])),
        ];
        for (spec, distances, pe, (host, package, core, cpus)) in cases {
            let nodes = Nodes::of(&build(spec, distances).unwrap());
            let site = nodes.site(pe);
            assert_eq!((site.host, site.cores), (host, &[CoreRange::new(package, core, 1)][..]), "{spec}");
            assert_eq!(site.cpus, cpus, "{spec}");
            assert!(!nodes.are_named());
        }
    }

    #[test]
    fn a_list_of_pes_has_only_their_nodes() {
        let listed = Listed::new(build("4:2:8", "1:3:30").unwrap(), vec![60, 9, 8, 63]).unwrap();
        let nodes = Nodes::of(&listed);
        assert_eq!(nodes.hosts(), ["node1", "node7"]);
        assert_eq!((0..4).map(|pe| nodes.node(pe)).collect::<Vec<_>>(), [1, 0, 0, 1]);
        assert_eq!(nodes.site(1).cpus, [1]);
        assert_eq!(nodes_of(&listed, &[3, 1, 2, 3]), (vec![1, 0, 0, 1], 2));
        assert_eq!(nodes_of(&listed, &[0]), (vec![0], 1));
    }
}
