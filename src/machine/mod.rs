//! Machines: their processing elements (PEs), the distances between these, and their parts.
//!
//! A [`Machine`] is asked once per run. Searches ask a [`DistanceOracle`] all the time, and algorithms are generic over that;
//! which one runs is decided once, in `with_oracle!` of `distances.rs`.
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
//! | [`NodeMatrix`] | [`BetweenHosts`] | 4 bytes per pair of hosts, 16 bytes per PE | a look-up within a host, two between hosts |
//! | [`DistanceMatrix`] | [`Table`] | n² or 4 n² bytes | two dependent look-ups |
//! | [`Rails`] | [`Own`] | 4 bytes per PE | a call, divisions level by level |
//! | [`Listed`] | that of the whole machine | a key per PE | the same |
//! | [`Blocks`] | that of a tree of one level | the same | the same |
//! | [`Capacities`], [`Divided`] | that of the machine inside | the same | the same |
//! | your own | [`Own`], around an [`OwnDistances`] | a pointer, 4 bytes per PE | a call |
//!
//! | around them | purpose |
//! |---|---|
//! | [`spec`] | builds machines from text |
//! | [`recognise`] | finds the machine that has the distances of a matrix |
//! | [`Parts::of`] | divides a machine into parts, by partitioning where its shape suggests none |
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
//! returns if it has more than the defaults. Distances (`Distances`) are an enum of the metrics there are. A metric (`Metric`, `DistanceOracle`) is hot.
//!
//! From the bottom up: metrics with the plain data they are computed from (`metric/`), `Distances`, the trait (`interface.rs`), its families
//! (`family/`), and the code that reads, recognises and divides machines. No file knows those above it.
//!
//! `Problem` holds distances of any kind. Only the loops that take most of the time are compiled for each of the common kinds: `with_oracle!` in
//! `distances.rs` matches once and runs a piece of code with the concrete type. All other kinds share one more copy, where each distance, row or
//! sum costs a match. Everything else asks `Distances` for rows. So a further machine adds a file, and only a further kind that
//! is listed in `with_oracle!` adds compiled code. A machine of a user's own implements `Machine`, and, where no metric of the library has its
//! distances, `OwnDistances`; no table of all pairs is needed.
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
//! - *Reading is apart from building.* `viem-io` reads files into plain data; the families know no files; `viem-cluster`, above both, has a table of
//!   clusters (`KINDS`) and a table of kinds of files (`FILES`), recognised by their content. What can be written in full is a table of the engine.
//! - *Uneven trees are parts of regular ones.* Every PE has a digit at each level, 0 if it has no group there. The digits in one number are its
//!   key, and the distance is that of the outermost level at which two keys differ, as in a regular tree. If the digits count up like a number,
//!   the machine is a `Hierarchy`. Objects of several kinds in one place are distinguished at the outermost of their levels, and levels are
//!   ordered such that containers are outside of their contents.
//! - *GPUs of a node of a cluster are a tree* (`crates/cluster/src/files/gpus.rs`), as all insides are: a level for each distance at which more of them are joined. What a
//!   table loses by that is counted.
//! - *Ranks share the cores of a node* (`crates/cluster/src/nodes/share.rs`): a PE is a set of cores, and sets are distributed from the outside in. A set in two
//!   sockets counts as a socket of its own.
//! - *Nodes with a distance for each pair* (tori of nodes, latencies) are uneven trees inside and a table of nodes outside (`NodeMatrix`): a table
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
mod axes;
mod distances;
pub mod division;
mod error;
mod family;
mod interconnect;
mod interface;
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
pub(crate) use axes::{Axis, AxisShape};
pub use distances::Distances;
pub(crate) use distances::with_oracle;
pub(crate) use division::divide;
pub use error::{HierarchyError, MachineError, StoredDistancesError};
pub use family::blocks::Blocks;
pub use family::capacities::Capacities;
pub use family::cube::Hypercube;
pub use family::divided::Divided;
pub use family::listed::Listed;
pub use family::matrix::DistanceMatrix;
pub use family::node_matrix::NodeMatrix;
pub use interconnect::Interconnect;
pub use interface::{Machine, distances_of};
pub use located::{CoreRange, Located, Location, SlurmJob};
pub use metric::ball_tree::{BallTree, Neighbours, Partners, centre, spread};
pub(crate) use metric::costs_in_rows;
pub use metric::differences::Differences;
pub use metric::dimension::Dimension;
pub use metric::grid::{Grid, GridKey, Hops, Lane};
pub use metric::hamming::Hamming;
pub use metric::hierarchy::{Code, Hierarchy, HierarchyOnline, Prefixes};
pub use metric::hosts::{BetweenHosts, HostKey};
pub use metric::network::{Network, RouteKey, Routes};
pub use metric::own::{Own, OwnDistances};
pub use metric::placed::Placed;
pub use metric::rails::Rails;
pub use metric::small::SmallTable;
pub use metric::stored::{DistanceKind, StoredDistances};
pub use metric::table::{Entry, Table};
pub use metric::uneven::UnevenTree;
pub use metric::{DistanceOracle, Metric, Ultrametric};
pub use nodes::{Nodes, Site, nodes_of};
pub use parts::{Division, PartTree, Parts};
pub(crate) use places::{EqualNodes, GroupSlots};
pub use places::{Places, check_memory};
pub use spec::{SpecError, build};
