//! Machines: which processing elements (PEs) there are, how far apart, and into which parts they fall.
//!
//! A [`Machine`] is cold: it is asked once. What searches ask all the time is a [`DistanceOracle`], and algorithms are
//! generic over that; which one runs is decided once, in [`Distances::visit`].
//!
//! | machine | oracle | memory | a distance costs |
//! |---|---|---|---|
//! | [`Hierarchy`] | [`HierarchyOnline`] | O(1) | an exclusive or, a count of leading zeros, a look-up in 33 (65) entries |
//! | [`Hierarchy`], stored | [`StoredDistances`] | n² bytes | two dependent look-ups |
//! | [`Grid`] | [`Hops`] of keys | a key a PE | gaps in eight lanes at once |
//! | [`Grid`] and [`Hypercube`], small | [`Differences`] of keys | 4 bytes a PE, a table of at most 2^18 bytes | a subtraction, a look-up |
//! | [`Hypercube`] | [`BitsThatDiffer`] | 4 bytes a PE | an exclusive or, a count of ones |
//! | [`Network`] | [`Routes`] of keys | R² + a key a PE, for R routers with PEs | two dependent look-ups |
//! | [`UnevenTree`] | [`Prefixes`] of codes | 8 bytes a PE | as in a hierarchy |
//! | [`Hosted`] | [`BetweenHosts`] of keys | 4 bytes a pair of hosts, 16 bytes a PE | a look-up inside a host, two between hosts |
//! | [`DistanceMatrix`] | [`Table`] | n² or 4 n² bytes | two dependent look-ups |
//! | [`Listed`] | that of the machine it is a part of | a key a PE | the same |
//! | [`Capacities`], [`Divided`] | that of the machine they are about | the same | the same |
//!
//! | around them | what it does |
//! |---|---|
//! | [`spec`] | from what people write, or have in files, to a machine |
//! | [`recognise`] | from a matrix of distances to the machine that has them |
//! | [`cluster`] | nodes with names, what is in them, how they are connected |
//! | [`divide`] | divides a machine into parts, by partitioning where its shape does not say how |
//! | [`Nodes`] | on which host and which CPUs each PE is |
//! | [`Places`] | a place for each process that the machine has room for, numbered so that every part is a range |
//!
//! A machine of one's own implements [`Machine`], and [`OwnDistances`] where no metric here has its distances.

#[cfg(feature = "io")]
pub mod cluster;
pub(crate) mod division;
mod family;
mod key_memory;
mod metric;
mod nodes;
mod parts;
mod places;
pub mod recognise;
pub mod spec;

pub use division::divide;
pub use family::capacities::Capacities;
pub use family::cube::{BitsThatDiffer, Hypercube};
pub use family::divided::Divided;
pub use family::grid::{Dimension, Grid, GridKey, Hops, Lane};
pub use family::hierarchy::{Code, Hierarchy, HierarchyError, HierarchyOnline, Prefixes};
pub use family::hosted::{BetweenHosts, HostKey, Hosted};
pub use family::listed::Listed;
pub use family::matrix::{DistanceMatrix, Entry, Table};
pub use family::network::{Network, RouteKey, Routes};
pub use family::placed::Placed;
pub use family::uneven::UnevenTree;
pub use metric::balls::{Balls, Partners, Vicinity, centre, spread};
pub use metric::differences::Differences;
pub use metric::own::{Own, OwnDistances};
pub use metric::small::SmallTable;
pub use metric::stored::{StoredDistances, StoredDistancesError};
pub use nodes::{Nodes, Site};
pub use parts::{PartTree, Parts};
pub use places::{Places, check_memory};
#[cfg(feature = "io")]
pub use spec::read;
pub use spec::{SpecError, Wanted, build, build_wanted, file_of, file_of_pes, files_of, restricted};

use std::ops::Range;

use crate::graph::CsrGraph;
use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::settings::named;
use crate::ground::types::{Cost, Distance, NodeId, PeId, Weight};

/// A machine that processes can be mapped to.
pub trait Machine: Send + Sync {
    /// Number of PEs.
    fn num_pes(&self) -> usize;

    /// What tells the distances of the PEs. May take time and memory, and fail for want of that.
    fn distances(&self) -> Result<Distances, MachineError>;

    /// How the machine falls into parts that are near within and far from each other.
    fn division(&self) -> Division {
        Division::ByDistance
    }

    /// What messages travel over.
    fn interconnect(&self) -> Interconnect {
        Interconnect::Ports
    }

    /// How many processes a PE has room for.
    fn capacity(&self, _pe: PeId) -> u32 {
        1
    }

    /// How many processes all PEs together have room for; O(PEs).
    fn room(&self) -> u64 {
        (0..self.num_pes() as PeId).map(|pe| u64::from(self.capacity(pe))).sum()
    }

    /// A smaller machine whose PEs are the first ones of this machine, `least` of them or some more, with the same numbers and distances; it is as
    /// compact as any part of so many. None if this machine has no such part, or does not know.
    fn first_pes(&self, _least: usize) -> Option<Box<dyn Machine>> {
        None
    }

    /// What people call a PE: its number in the whole machine, if this is a part of one.
    fn number(&self, pe: PeId) -> PeId {
        pe
    }

    /// The machine as a regular tree, if it is one.
    fn hierarchy(&self) -> Option<&Hierarchy> {
        None
    }

    /// Where a PE is, for those who start processes there. Unless the machine knows better, each PE is a node of its own with
    /// as many CPUs as it has room for processes, 4096 at most.
    fn location(&self, pe: PeId) -> Location {
        /// More than any node has. Capacities may be larger where they stand for shares of the work.
        const MOST_CORES: u32 = 1 << 12;
        let number = self.number(pe);
        let num_cores = self.capacity(pe).min(MOST_CORES);
        Location { node: number, package: 0, core: 0, num_cores, cpus: (0..num_cores).collect() }
    }

    /// What the system calls a node, if the machine knows.
    fn host(&self, _node: u32) -> Option<&str> {
        None
    }

    /// The machine in a few words, for people.
    fn describe(&self) -> String {
        format!("machine of {} processing elements", self.num_pes())
    }

    /// How the machine was understood, and what was assumed about it; for machines that say more than their user has typed.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }

    /// For machines that cannot be read again from a text of their user: one from which all distances can be told in the plainest way,
    /// for an auditor. Its first line has the distances of the levels, innermost first; a line for each PE
    /// has its digits at these levels. Lines that begin with `between` have the distances of the groups at the outermost level,
    /// row by row, if they have one for each pair.
    ///
    /// Of a part of a machine it is that of the whole.
    fn outline(&self) -> Option<String> {
        None
    }
}

/// What a user should know of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// One line.
    pub text: String,
    /// Whether it tells of a likely mistake.
    pub is_warning: bool,
}

/// Where a PE is in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The node, from 0.
    pub node: u32,
    /// The package (socket) in the node, from 0.
    pub package: u32,
    /// The first core in the package, from 0, counted over those that can be used.
    pub core: u32,
    /// How many cores next to each other the PE has a hardware thread of.
    pub num_cores: u32,
    /// The CPUs (hardware threads) of the PE by the numbers that the operating system of the node gives them, ascending.
    pub cpus: Vec<u32>,
}

/// A pointer to a machine is that machine.
macro_rules! machine_by_pointer {
    ($pointer:ty) => {
        impl<M: Machine + ?Sized> Machine for $pointer {
            fn num_pes(&self) -> usize {
                (**self).num_pes()
            }
            fn distances(&self) -> Result<Distances, MachineError> {
                (**self).distances()
            }
            fn division(&self) -> Division {
                (**self).division()
            }
            fn interconnect(&self) -> Interconnect {
                (**self).interconnect()
            }
            fn capacity(&self, pe: PeId) -> u32 {
                (**self).capacity(pe)
            }
            fn first_pes(&self, least: usize) -> Option<Box<dyn Machine>> {
                (**self).first_pes(least)
            }
            fn number(&self, pe: PeId) -> PeId {
                (**self).number(pe)
            }
            fn hierarchy(&self) -> Option<&Hierarchy> {
                (**self).hierarchy()
            }
            fn location(&self, pe: PeId) -> Location {
                (**self).location(pe)
            }
            fn host(&self, node: u32) -> Option<&str> {
                (**self).host(node)
            }
            fn describe(&self) -> String {
                (**self).describe()
            }
            fn notes(&self) -> Vec<Note> {
                (**self).notes()
            }
            fn outline(&self) -> Option<String> {
                (**self).outline()
            }
        }
    };
}

machine_by_pointer!(&M);
machine_by_pointer!(Box<M>);

/// How a machine falls into parts.
#[derive(Clone, Debug)]
pub enum Division {
    /// As told.
    Parts(Parts),
    /// As a network of routers falls into parts when it is cut where few cheap links are.
    Network {
        /// Vertices are routers, edge weights the costs of links.
        graph: CsrGraph,
        /// The vertex that each PE is at.
        vertex_of: Vec<NodeId>,
    },
    /// As the distances suggest.
    ByDistance,
}

/// What messages travel over, from which [`routing`](crate::workload::routing) derives links and routes.
#[derive(Clone, Debug)]
pub enum Interconnect {
    /// Routers in a grid, each with a PE or a tree of PEs.
    Grid(Grid),
    /// Switches in a tree.
    Tree(Hierarchy),
    /// Links between routers and PEs.
    Network(Network),
    /// That of a machine of which some PEs are used; PE i is PE `list[i]` there.
    Listed {
        /// What all PEs are joined by.
        whole: Box<Interconnect>,
        /// The PEs that are used.
        list: Vec<PeId>,
    },
    /// Nothing is known but distances: each PE has a port to send by and one to receive by.
    Ports,
}

/// What tells distances, by machine.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // named like the machines
pub enum Distances {
    Tree(HierarchyOnline<u32>),
    DeepTree(HierarchyOnline<u64>),
    StoredTree(StoredDistances),
    ListedTree(Placed<Prefixes<u64>>),
    Grid(Placed<Hops<i16, 8>>),
    WideGrid(Placed<Hops<i32, 32>>),
    Cube(Placed<BitsThatDiffer>),
    Differences(Placed<Differences>),
    Network(Placed<Routes<u8>>),
    WideNetwork(Placed<Routes<u32>>),
    Table(Placed<Table<u8>>),
    WideTable(Placed<Table<u32>>),
    Hosts(Placed<BetweenHosts>),
    Small(SmallTable),
    Own(Placed<Own>),
}

/// What a piece of code comes to with the distances of a kind, compiled for each kind there is.
///
/// Each use costs fifteen copies of all that it calls, so it stands where distances are asked for in a loop, and nowhere above.
macro_rules! with_oracle {
    ($distances:expr, |$oracle:ident| $body:expr) => {
        match $distances {
            $crate::machine::Distances::Tree($oracle) => $body,
            $crate::machine::Distances::DeepTree($oracle) => $body,
            $crate::machine::Distances::StoredTree($oracle) => $body,
            $crate::machine::Distances::ListedTree($oracle) => $body,
            $crate::machine::Distances::Grid($oracle) => $body,
            $crate::machine::Distances::WideGrid($oracle) => $body,
            $crate::machine::Distances::Cube($oracle) => $body,
            $crate::machine::Distances::Differences($oracle) => $body,
            $crate::machine::Distances::Network($oracle) => $body,
            $crate::machine::Distances::WideNetwork($oracle) => $body,
            $crate::machine::Distances::Table($oracle) => $body,
            $crate::machine::Distances::WideTable($oracle) => $body,
            $crate::machine::Distances::Hosts($oracle) => $body,
            $crate::machine::Distances::Small($oracle) => $body,
            $crate::machine::Distances::Own($oracle) => $body,
        }
    };
}
pub(crate) use with_oracle;

/// Something to do with distances, whatever their kind.
pub trait DistanceVisitor {
    /// What comes out.
    type Output;
    /// Does it.
    fn visit<O: DistanceOracle>(self, oracle: &O) -> Self::Output;
}

impl Distances {
    /// Lets a visitor work with distances of the kind at hand.
    pub fn visit<V: DistanceVisitor>(&self, visitor: V) -> V::Output {
        with_oracle!(self, |oracle| visitor.visit(oracle))
    }

    /// The distances of some PEs: PE i of the result is PE `list[i]` of this. A PE may stand in the list more than
    /// once.
    pub fn listed(self, list: &[PeId]) -> Self {
        match self {
            Distances::Tree(oracle) => Distances::ListedTree(oracle.widened().placed(list)),
            Distances::DeepTree(oracle) => Distances::ListedTree(oracle.placed(list)),
            Distances::StoredTree(oracle) => Distances::ListedTree(oracle.computed().placed(list)),
            Distances::ListedTree(oracle) => Distances::ListedTree(oracle.listed(list)),
            Distances::Grid(oracle) => Distances::Grid(oracle.listed(list)),
            Distances::WideGrid(oracle) => Distances::WideGrid(oracle.listed(list)),
            Distances::Cube(oracle) => Distances::Cube(oracle.listed(list)),
            Distances::Differences(oracle) => Distances::Differences(oracle.listed(list)),
            Distances::Network(oracle) => Distances::Network(oracle.listed(list)),
            Distances::WideNetwork(oracle) => Distances::WideNetwork(oracle.listed(list)),
            Distances::Table(oracle) => Distances::Table(oracle.listed(list)),
            Distances::WideTable(oracle) => Distances::WideTable(oracle.listed(list)),
            Distances::Hosts(oracle) => Distances::Hosts(oracle.listed(list)),
            Distances::Small(oracle) => Distances::Small(oracle.listed(list)),
            Distances::Own(oracle) => Distances::Own(oracle.listed(list)),
        }
    }

    /// The same distances, all of them at hand if the PEs are few and near, unless there is a smaller table already.
    pub fn tabulated(self) -> Self {
        match self {
            Distances::Differences(_) => self,
            _ => self.visit(metric::small::Tabulate).map_or(self, Distances::Small),
        }
    }
}

/// Why there is no such machine, or no distances of it. PEs and vertices are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum MachineError {
    #[error("a machine has at least 1 processing element")]
    NoPes,
    #[error("the machine has more than {} processing elements", PeId::MAX)]
    TooManyPes,
    #[error(
        "the processing elements have room for {room} processes together, of which {} at most can be placed; give smaller capacities",
        PeId::MAX - 1
    )]
    TooMuchRoom { room: u64 },
    #[error("a dimension of {length} vertices is too long; a dimension of a grid has {most} at most")]
    DimensionTooLong { length: u32, most: u32 },
    #[error("distance {distance} is negative")]
    NegativeDistance { distance: Distance },
    #[error("distances exceed {}; divide them by a common factor", Distance::MAX)]
    DistanceOverflow,
    #[error("entry {index} of the list is processing element {pe}, but the machine has 0..{count}")]
    PeOutOfRange { index: usize, pe: PeId, count: usize },
    #[error("entry {index} of the list is processing element {pe}, which is listed before")]
    PeListedTwice { index: usize, pe: PeId },
    #[error(
        "all {routers} vertices of the network have weight 0, so all are routers; processing elements have a weight of 1 or more"
    )]
    RoutersOnly { routers: usize },
    #[error(
        "no path of the network leads from vertex {} to vertex {}, which is processing element {pe} \
         (vertices are counted from 1 as in graph files, processing elements from 0)",
        first + 1, vertex + 1
    )]
    Disconnected { first: NodeId, pe: usize, vertex: NodeId },
    #[error("a matrix of {num_pes} rows has as many columns, but {entries} entries are given")]
    NotSquare { num_pes: usize, entries: usize },
    #[error(
        "the distance from processing element {row} to {column} is {distance}; distances are not negative"
    )]
    NegativeEntry { row: usize, column: usize, distance: Distance },
    #[error("the distance of processing element {pe} to itself is {distance}; it must be 0")]
    NotZero { pe: usize, distance: Distance },
    #[error(
        "the distance from processing element {row} to {column} is {distance}, but {back} on the way back; \
         distances are the same both ways (all counted from 0)"
    )]
    Asymmetric { row: usize, column: usize, distance: Distance, back: Distance },
    #[error(
        "a matrix of the distances between {count} {what} takes {bytes} bytes, which is more than can be taken"
    )]
    OutOfMemory { what: &'static str, count: usize, bytes: u128 },
    #[error(
        "a machine of {num_pes} processing elements takes {bytes} bytes of memory here, and {available} are free"
    )]
    TooLarge { num_pes: usize, bytes: u128, available: u64 },
    #[error(
        "the network has {count} vertices between which distances are stored (routers with processing elements, and processing \
         elements of several links), but it may have {most}; give a grid as torus:16x16x18 or mesh:16x16x18 instead, of any size"
    )]
    TooManyAttachments { count: usize, most: usize },
    #[error("{found} capacities are given for {num_pes} processing elements")]
    CapacitiesDiffer { num_pes: usize, found: usize },
    #[error("processing element {pe} has capacity 0; it is at least 1")]
    NoCapacity { pe: usize },
    #[error("the parts are a division of {found} processing elements, but the machine has {num_pes}")]
    PartsDiffer { num_pes: usize, found: usize },
    #[error("processing elements {first} and {second} have the same digits at all levels of the tree")]
    SameDigits { first: usize, second: usize },
    #[error(
        "the tree is too uneven: its greatest groups at all levels together would have more than 2^64 members"
    )]
    TooUneven,
    #[error(transparent)]
    Tree(#[from] HierarchyError),
    #[error(transparent)]
    Stored(#[from] StoredDistancesError),
}

impl HasKind for MachineError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoPes
            | Self::TooManyPes
            | Self::TooMuchRoom { .. }
            | Self::DimensionTooLong { .. }
            | Self::NegativeDistance { .. }
            | Self::DistanceOverflow
            | Self::PeOutOfRange { .. }
            | Self::PeListedTwice { .. }
            | Self::RoutersOnly { .. }
            | Self::Disconnected { .. }
            | Self::NotSquare { .. }
            | Self::NegativeEntry { .. }
            | Self::NotZero { .. }
            | Self::Asymmetric { .. }
            | Self::TooManyAttachments { .. }
            | Self::CapacitiesDiffer { .. }
            | Self::NoCapacity { .. }
            | Self::PartsDiffer { .. }
            | Self::SameDigits { .. }
            | Self::TooUneven
            | Self::Tree(..) => ErrorKind::BadData,
            Self::OutOfMemory { .. } | Self::TooLarge { .. } => ErrorKind::NoResources,
            Self::Stored(error) => error.kind(),
        }
    }
}

named! {
    /// How the distances of a hierarchy are obtained.
    pub enum DistanceKind: "kind of distances" {
        /// Stored in a matrix: [`StoredDistances`].
        Hierarchy = "hierarchy",
        /// Computed from two ids: [`HierarchyOnline`].
        HierarchyOnline = "hierarchyonline",
    }
}

/// The innermost groups of a machine whose distances are an ultrametric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ultrametric {
    /// PEs of an innermost group.
    pub group_size: usize,
    /// Distance of two PEs of an innermost group: less than all others.
    pub inside: Distance,
    /// The least distance of two PEs of different innermost groups; `inside` if there is but one.
    pub outside: Distance,
}

/// What arcs cost by rows of distances, from the key of an arc's head to its distance: [`Metric::costs`] for metrics that
/// have such rows at hand.
#[inline(always)]
pub(crate) fn costs_in_rows<D: Copy + Into<Distance>, W: Copy + Into<Weight>, const N: usize>(
    rows: [&[D]; N],
    arcs: &[(NodeId, W)],
    keys: &[PeId],
) -> [Cost; N] {
    let mut costs = [0; N];
    for &(head, weight) in arcs {
        let there = keys[head as usize] as usize;
        for (cost, row) in costs.iter_mut().zip(rows) {
            *cost += weight.into() * row[there].into();
        }
    }
    costs
}

/// Distances of keys, symmetric and not negative.
pub trait Metric: Send + Sync {
    /// What is to be known of a PE to tell its distances: searches keep the key of the PE of each process at hand
    /// instead of the PE.
    type Key: Copy + Eq + Send + Sync + std::fmt::Debug;

    /// The distance of the PEs with these keys; 0 for equal ones.
    fn between(&self, a: Self::Key, b: Self::Key) -> Distance;

    /// A distance that no two PEs exceed: of regular trees the greatest one.
    fn max_distance(&self) -> Distance;

    /// What arcs cost from each of some PEs: the sum of weight times distance. An arc is told by where in `keys` its head
    /// is, and its weight. Several PEs are asked for at once because they have the look at the heads in common.
    #[inline(always)]
    fn costs<W: Copy + Into<Weight>, const N: usize>(
        &self,
        from: [Self::Key; N],
        arcs: &[(NodeId, W)],
        keys: &[Self::Key],
    ) -> [Cost; N] {
        let mut costs = [0; N];
        for &(head, weight) in arcs {
            let there = keys[head as usize];
            for (cost, here) in costs.iter_mut().zip(from) {
                *cost += weight.into() * self.between(here, there);
            }
        }
        costs
    }

    /// Whether two PEs have the same distance to every third PE, as far as that can be told at once:
    /// exchanging the processes on them then cannot change the objective.
    #[inline]
    fn interchangeable(&self, a: Self::Key, b: Self::Key) -> bool {
        a == b
    }

    /// Whether no way is shorter with a stop: d(a, c) <= d(a, b) + d(b, c), as far as that can be told at once.
    fn has_triangle_inequality(&self) -> bool {
        false
    }
}

/// Distances between the PEs of a machine.
pub trait DistanceOracle: Metric {
    /// Number of PEs.
    fn num_pes(&self) -> usize;

    /// The key of a PE.
    fn key(&self, pe: PeId) -> Self::Key;

    /// The distance of two PEs.
    #[inline]
    fn distance(&self, p: PeId, q: PeId) -> Distance {
        self.between(self.key(p), self.key(q))
    }

    /// The distances of a PE to all PEs, where they are at hand.
    fn row(&self, _pe: PeId) -> Option<&[u8]> {
        None
    }

    /// A range of PEs that holds every PE nearer to `pe` than `distance`, as narrow as can be told at once.
    fn nearer_than(&self, _pe: PeId, _distance: Distance) -> Range<PeId> {
        0..self.num_pes() as PeId
    }

    /// The innermost groups of the machine if its distances are an ultrametric (no two PEs are farther apart
    /// than the farther of both from a third), as far as that can be told at once.
    fn ultrametric(&self) -> Option<Ultrametric> {
        None
    }
}
