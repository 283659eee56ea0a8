//! Machines: their processing elements (PEs), how far apart these are, and into which parts they fall.
//!
//! A [`Machine`] is asked once per run. Searches ask a [`DistanceOracle`] all the time, and algorithms are generic over that;
//! which one runs is decided once, in [`Distances::visit`].
//!
//! | machine | oracle | memory | cost of a distance |
//! |---|---|---|---|
//! | [`Hierarchy`] | [`HierarchyOnline`] | O(1) | an exclusive or, a count of leading zeros, a look-up in 33 (65) entries |
//! | [`Hierarchy`], stored | [`StoredDistances`] | n² bytes | two dependent look-ups |
//! | [`Grid`] | [`Hops`] between keys | a key per PE | gaps in eight lanes at once |
//! | [`Grid`] and [`Hypercube`], small | [`Differences`] of keys | 4 bytes per PE, a table of at most 2^18 bytes | a subtraction, a look-up |
//! | [`Hypercube`] | [`Hamming`] | 4 bytes per PE | an exclusive or, a count of ones |
//! | [`Network`] | [`Routes`] between keys | R² + a key per PE, for R routers with PEs | two dependent look-ups |
//! | [`UnevenTree`] | [`Prefixes`] of codes | 8 bytes per PE | as in a hierarchy |
//! | [`Hosted`] | [`BetweenHosts`] | 4 bytes per pair of hosts, 16 bytes per PE | a look-up within a host, two between hosts |
//! | [`DistanceMatrix`] | [`Table`] | n² or 4 n² bytes | two dependent look-ups |
//! | [`Rails`] | [`Own`] | 4 bytes per PE | a call, divisions level by level |
//! | [`Listed`] | that of the whole machine | a key per PE | the same |
//! | [`Blocks`] | that of a tree of one level | the same | the same |
//! | [`Capacities`], [`Divided`] | that of the machine inside | the same | the same |
//! | your own | [`Own`], around an [`OwnDistances`] | a pointer, 4 bytes per PE | a call |
//!
//! | around them | what it does |
//! |---|---|
//! | [`spec`] | builds machines from text |
//! | [`recognise`] | finds the machine that has the distances of a matrix |
//! | [`divide`] | divides a machine into parts, by partitioning where its shape suggests none |
//! | [`Nodes`] | the host and the CPUs of each PE |
//! | [`Places`] | one place for each process that the machine has room for, numbered so that every part is a range |
//!
//! To map to a machine of your own, implement [`Machine`], and [`OwnDistances`] where no metric here has its distances. Nothing
//! else is needed. A machine that knows on which nodes its PEs are can also implement [`Located`], for launchers.
//!
//! # Design
//!
//! A machine (`Machine`) is cold and object-safe. It says what mapping needs: its number of PEs, the capacity and number of each, how it falls
//! into parts, and its distances. Where PEs are (`Located`) and how they are audited (`Audited`) are traits of their own, which a machine
//! returns if it knows more than the defaults. Distances (`Distances`) are an enum of the metrics there are. A metric (`Metric`, `DistanceOracle`) is hot.
//!
//! `Problem` holds distances of any kind. Only loops that ask for many distances are compiled for each kind: `with_oracle!` in
//! `src/machine/mod.rs` matches once and runs a piece of code with the concrete type. Everything above such a loop is compiled once. So a
//! further machine adds a file, and only a further kind of distances adds compiled code. A machine of a user's own implements `Machine`, and,
//! where no metric of the library has its distances, `OwnDistances`; no table of all pairs is needed.
//!
//! - *Keys instead of PE numbers.* A search keeps the key of the PE of each process: the padded code in a tree, the coordinates in a grid, the
//!   router and the link to it in a network. So a listed part of a machine, in any order, costs a list of keys and nothing else.
//! - *In a grid a distance depends only on differences of coordinates* (`metric/differences.rs`). Keys are such that one subtraction yields all
//!   differences, and a table of a few kilobytes holds the distance for each; hypercubes are tori of rings of four. Large grids, and grids of
//!   trees, compare all dimensions at once, in eight lanes of 16 bits.
//! - *Networks store distances between routers*, not PEs: most PEs are attached to one router by one link. Networks and matrices build their
//!   tables when they are read, and copies of their distances share them.
//! - *Searches in networks skip arcs* (`metric/paths.rs`). Arcs are sorted by cost, and none is examined that leads farther than the farthest
//!   vertex. So dense networks take little longer than sparse ones.
//! - *Parts are plain data* (`parts.rs`): a tree of ranges over an order of the PEs. Grids halve their longest side, with the larger half first
//!   and second in turn; hypercubes fix a bit; a list of PEs filters the parts of the whole machine.
//! - *Few PEs cost no more than themselves.* A machine is asked for the distances and parts of a list (`distances_among`, `division_among`), and,
//!   for few processes, for a compact part (`first_pes`, `compact_pes`). Regular machines answer without a look at the rest, so 64 PEs of 10^9
//!   take as long as 64 of 100.
//! - *What is read is not what is built.* `viem-io` reads files into plain data; the families know no files; `viem-cluster`, above both, has a table of
//!   clusters (`KINDS`) and a table of kinds of files (`FILES`), recognised by their content. What can be written in full is a table of the engine.
//! - *Uneven trees are parts of regular ones.* Every PE has a digit at each level, 0 if it has no group there. The digits in one number are its
//!   key, and the distance is that of the outermost level at which two keys differ, as in a regular tree. If the digits count up like a number,
//!   the machine is a `Hierarchy`. Objects of several kinds in one place are distinguished at the outermost of their levels, and levels are
//!   ordered such that containers are outside of their contents.
//! - *GPUs of a node of a cluster are a tree* (`crates/cluster/src/files/gpus.rs`), as all insides are: a level for each distance at which more of them are joined. What a
//!   table loses by that is counted.
//! - *Ranks share the cores of a node* (`crates/cluster/src/nodes/share.rs`): a PE is a set of cores, and sets are distributed from the outside in. A set in two
//!   sockets counts as a socket of its own.
//! - *Nodes with a distance for each pair* (tori of nodes, latencies) are uneven trees inside and a table of nodes outside (`Hosted`): a table
//!   of hosts, not of PEs.
//! - *The auditor reads machines again*, from the same texts, with its own readers and its own distances. Clusters are the exception: they are
//!   audited by their outline, a text with the digits of all PEs. The auditor does not read files of hwloc or Slurm; tests compare their
//!   readers with hwloc's own programs.
//!
//! # Distances of trees
//!
//! The online oracle stores the digits of a PE (its position at each level) in separate bit fields of one code. The level at which two PEs meet
//! is the field of the highest bit in which their codes differ: one exclusive or, one count of leading zeros, one look-up. Searches keep the
//! code of each process's PE, so computing a distance never touches the PE number. The stored oracle keeps one byte per pair, an index into the
//! few distinct distances.
//!
//! A search can ask an oracle two more questions to avoid examining everything: for a range of PEs that contains all those nearer than some
//! distance (`nearer_than`), and whether the distances are an ultrametric (`ultrametric`). The defaults, all PEs and no, are always correct.

mod audited;
mod distances;
pub mod division;
mod error;
mod family;
mod key_memory;
mod located;
mod metric;
mod nodes;
mod parts;
mod places;
mod pointers;
pub mod recognise;
pub mod spec;

pub use audited::{Audited, Note};
pub use distances::distances_of;
pub use division::{Division, divide};
pub use error::{HierarchyError, MachineError, StoredDistancesError};
pub use family::blocks::Blocks;
pub use family::capacities::Capacities;
pub use family::cube::{Hamming, Hypercube};
pub use family::dimension::Dimension;
pub use family::divided::Divided;
pub use family::grid::{Grid, GridKey, Hops, Lane};
pub use family::hierarchy::{Code, Hierarchy, HierarchyOnline, Prefixes};
pub use family::hosted::{BetweenHosts, HostKey, Hosted};
pub use family::listed::Listed;
pub use family::matrix::{DistanceMatrix, Entry, Table};
pub use family::network::{Network, RouteKey, Routes};
pub use family::placed::Placed;
pub use family::rails::Rails;
pub use family::uneven::UnevenTree;
pub use located::{CoreRange, Located, Location, SlurmJob};
pub use metric::balls::{Balls, Partners, Vicinity, centre, spread};
pub(crate) use metric::costs_in_rows;
pub use metric::differences::Differences;
pub use metric::own::{Own, OwnDistances};
pub use metric::small::SmallTable;
pub use metric::stored::{DistanceKind, StoredDistances};
pub use metric::{DistanceOracle, DistanceVisitor, Metric, Ultrametric};
pub use nodes::nodes_of;
pub use nodes::{Nodes, Site};
pub use parts::{PartTree, Parts};
pub(crate) use places::{EqualNodes, GroupSlots};
pub use places::{Places, check_memory};
pub use spec::{SpecError, build};

use crate::ground::types::PeId;

/// A machine that processes can be mapped to.
///
/// Only [`num_pes`](Self::num_pes) and [`distances`](Self::distances) are required.
pub trait Machine: Send + Sync {
    /// Number of PEs.
    fn num_pes(&self) -> usize;

    /// The distances between all [`num_pes`](Self::num_pes) PEs. May take time and memory, and fails if there is too little memory.
    fn distances(&self) -> Result<Distances, MachineError>;

    /// How the machine falls into parts whose PEs are near each other and far from the others.
    fn division(&self) -> Division {
        Division::ByDistance
    }

    /// The distances between some PEs: PE i of the result is PE `list[i]` of this machine. Machines that know distances without a table
    /// take no longer than the list is.
    fn distances_among(&self, list: &[PeId]) -> Result<Distances, MachineError> {
        Ok(distances_of(self)?.listed(list))
    }

    /// How some PEs, each listed once, fall into parts; they are numbered by their position in the list. Regular machines take no longer than
    /// the list is.
    fn division_among(&self, list: &[PeId]) -> Division {
        self.division().listed(list)
    }

    /// What messages travel over.
    fn interconnect(&self) -> Interconnect {
        Interconnect::Ports
    }

    /// How many processes a PE has room for.
    fn capacity(&self, _pe: PeId) -> u32 {
        1
    }

    /// The [`capacity`](Self::capacity) of each PE, by PE; O(PEs).
    fn capacities(&self) -> Vec<u32> {
        (0..self.num_pes() as PeId).map(|pe| self.capacity(pe)).collect()
    }

    /// How many processes all PEs together have room for; O(PEs).
    fn room(&self) -> u64 {
        (0..self.num_pes() as PeId).map(|pe| u64::from(self.capacity(pe))).sum()
    }

    /// A smaller machine that consists of the first PEs of this one, at least `least` of them, with the same numbers and
    /// distances; it is as compact as any part of its size. `None` if there is no such part, or none is known.
    fn first_pes(&self, _least: usize) -> Option<Box<dyn Machine>> {
        None
    }

    /// Some PEs that are near each other, at least `least` of them, in ascending order, if they are a small part of the machine. They are as
    /// compact as any part of this size. Asked where [`first_pes`](Self::first_pes) knows none. `None` if there is no such part, or none
    /// is known.
    fn compact_pes(&self, _least: usize) -> Option<Vec<PeId>> {
        None
    }

    /// The number that users know a PE by: that in the whole machine, if this is a part of one.
    fn number(&self, pe: PeId) -> PeId {
        pe
    }

    /// The machine as a regular tree, if it is one.
    fn hierarchy(&self) -> Option<&Hierarchy> {
        None
    }

    /// The machine in a few words, for people.
    fn describe(&self) -> String {
        format!("machine of {} processing elements", self.num_pes())
    }

    /// On which nodes the PEs are, if the machine knows. Otherwise each PE counts as a node of its own, with as many CPUs as it
    /// has room for processes, but at most 4096.
    fn located(&self) -> Option<&dyn Located> {
        None
    }

    /// The machine as an auditor sees it, if it cannot be read again from what its user typed.
    fn audited(&self) -> Option<&dyn Audited> {
        None
    }
}

/// What messages travel over; `viem-workload` derives links and routes from it.
#[derive(Clone, Debug)]
pub enum Interconnect {
    /// Routers in a grid, each with a PE or a tree of PEs.
    Grid(Grid),
    /// Switches in a tree.
    Tree(Hierarchy),
    /// Switches in a tree whose groups have any number of members.
    UnevenTree(UnevenTree),
    /// Leaf switches of rails, under the switches of pods.
    Rails(Rails),
    /// Links between routers and PEs.
    Network(Network),
    /// That of a machine of which only some PEs are used; PE i is PE `list[i]` there.
    Listed {
        /// What connects all PEs.
        whole: Box<Interconnect>,
        /// The PEs that are used.
        list: Vec<PeId>,
    },
    /// Only distances are known: each PE has a port for sending and one for receiving.
    Ports,
}

/// The distances between all PEs of a machine, in one of the representations there are. `Wide` ones hold larger numbers.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(missing_docs)] // each is named after what it holds
pub enum Distances {
    Tree(HierarchyOnline<u32>),
    WideTree(HierarchyOnline<u64>),
    StoredTree(StoredDistances),
    Prefixes(Placed<Prefixes<u64>>),
    Hops(Placed<Hops<i16, 8>>),
    WideHops(Placed<Hops<i32, 32>>),
    Hamming(Placed<Hamming>),
    Differences(Placed<Differences>),
    Routes(Placed<Routes<u8>>),
    WideRoutes(Placed<Routes<u32>>),
    Table(Placed<Table<u8>>),
    WideTable(Placed<Table<u32>>),
    BetweenHosts(Placed<BetweenHosts>),
    SmallTable(SmallTable),
    Own(Placed<Own>),
}

/// Evaluates an expression with the oracle inside some [`Distances`], compiled for each representation.
///
/// Each use compiles fifteen copies of everything it calls, so it belongs around loops that ask for distances, and nowhere higher.
macro_rules! with_oracle {
    ($distances:expr, |$oracle:ident| $body:expr) => {
        match $distances {
            $crate::machine::Distances::Tree($oracle) => $body,
            $crate::machine::Distances::WideTree($oracle) => $body,
            $crate::machine::Distances::StoredTree($oracle) => $body,
            $crate::machine::Distances::Prefixes($oracle) => $body,
            $crate::machine::Distances::Hops($oracle) => $body,
            $crate::machine::Distances::WideHops($oracle) => $body,
            $crate::machine::Distances::Hamming($oracle) => $body,
            $crate::machine::Distances::Differences($oracle) => $body,
            $crate::machine::Distances::Routes($oracle) => $body,
            $crate::machine::Distances::WideRoutes($oracle) => $body,
            $crate::machine::Distances::Table($oracle) => $body,
            $crate::machine::Distances::WideTable($oracle) => $body,
            $crate::machine::Distances::BetweenHosts($oracle) => $body,
            $crate::machine::Distances::SmallTable($oracle) => $body,
            $crate::machine::Distances::Own($oracle) => $body,
        }
    };
}
pub(crate) use with_oracle;
