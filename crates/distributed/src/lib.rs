//! Graphs that are too large for one machine: partitioned, and mapped to the PEs of a machine, by many ranks together.
//!
//! | member | purpose |
//! |---|---|
//! | [`solve`] | one call: a distributed graph and a goal become blocks and a report |
//! | [`comm`] | communication between ranks: a trait with a few collective operations, and operations that are built from them |
//! | [`threads`] | ranks that are threads of one process |
//! | [`rounds`] | long messages over operations with counts of 32 bits, as those of MPI |
//! | [`guard`] | a panic on one rank as an error on all |
//! | [`alike`] | what all ranks must give alike |
//! | [`error`] | errors that all ranks return alike |
//! | [`graph`] | distributed graphs: their layout, and ghosts |
//! | [`loose`] | the same of rows with edges that mean nothing, or that only one end lists |
//! | [`mesh`] | the graph of the elements of a distributed mesh |
//! | [`coordinates`] | partitions by the coordinates of the vertices |
//! | [`read`] | graph files, of which each rank reads its part |
//! | [`generate`] | grids, for tests and measurements |
//! | [`gather`] | distributed graphs on each rank as a whole, and back |
//! | [`cluster`] | clusters by label propagation |
//! | [`contract`] | the graph of clusters |
//! | [`objective`] | the objective: the cut, J, and migration |
//! | [`band`] | the surroundings of borders |
//! | [`refine`] | better partitions within the same bounds |
//!
//! # Design
//!
//! `distributed` is no binding: it has algorithms of its own. MPI is a package of its own above it, so the compiler
//! guarantees that the algorithms know none, and that they can be built and tested without MPI.
//!
//! | layer | meaning |
//! |---|---|
//! | `comm` | `trait Comm`: rank, size, all-to-all, all-gather, reduction, broadcast, barrier; all of words of 64 bits. `threads` implements it with the threads of a process, `viem-mpi` with MPI |
//! | `rounds`, `guard` | a `Comm` of operations with counts of 32 bits, such as those of MPI; a panic on one rank as an error on all |
//! | `graph` | the layout of ParMETIS: a range of the vertices on each rank, with all their arcs. Vertices of other ranks that are neighbours are ghosts, with local numbers behind the own ones |
//! | `loose`, `mesh` | graphs as other programs hand them over; the graph of a mesh |
//! | `coordinates` | partitions that need no graph |
//! | `read`, `generate`, `gather` | files, of which each rank reads its part; grids; a distributed graph as a whole on some ranks, and back |
//! | `cluster`, `contract` | size-constrained label propagation, and the graph of clusters |
//! | `refine`, `band` | rounds of moves with exact loads; the surroundings of borders as a graph |
//! | `solve` | one call: partition, mapping or remapping, and its report |
//!
//! - *Results do not depend on the number of ranks.* A step decides from the state before it, by hashes of global numbers where a choice is free. Who
//!   wants into a cluster or block asks the rank that counts its weight, and this admits requests in an order that all ranks would agree on.
//!   Coarse vertices are numbered by the vertices that their clusters are named after. How often the coarsest graph is divided is a setting, not the
//!   number of ranks. So every test compares the results of different numbers of ranks, byte by byte.
//! - *Fixed vertices are exact on every level.* A vertex that is fixed to a block joins only clusters that are named after such a vertex, a free one any,
//!   so a cluster is free or fixed to one block; the coarsest graph is divided around the fixed ones, and no round of refinement moves them. If free
//!   vertices could only join free ones, graphs with many scattered fixed vertices would hardly shrink.
//! - *Balance is exact for the same reason*: no two ranks fill the same block without knowing of each other.
//! - *No block loses its last vertex* in a round of moves, as the rank of the one that gains least learns of it; empty blocks take the vertices with least
//!   edges inside their blocks, which all ranks choose alike.
//! - *The coarsest graph is on each rank that makes an attempt, and the best of several divisions by the library survives.* So all machines and presets work,
//!   and the ranks need no initial partitioner of their own. Other ranks have no use for that graph, and nodes with many ranks no memory to spare.
//! - *Graphs with heavy-tailed degrees are divided as a whole* while one rank can hold them. Clusters by label propagation hide what is to be cut there, and
//!   moves that are all made at once crowd into the blocks of the hubs: an R-MAT graph of 2^21 vertices is cut 43 % worse that way, and takes four times as long.
//!   Nearly all of it is near borders, so bands do not help.
//! - *V-cycles instead of more divisions*: a second division of the coarsest graph gains little, and coarsening around what was found gains 0.5 to 2 %, for the
//!   same code. The blocks that were found keep clusters apart as homes do in remapping.
//! - *C calls MPI, Rust does not* (`bindings/mpi/distributed`). `libviem_dist` is a page of C that is compiled for each MPI, and a static library in Rust that is
//!   compiled once and gets MPI as a table of functions. So it needs no libclang, and builds for another MPI in a second. It contains `libviem`, since handles
//!   of one library must not be used by another version of it.
//! - *A panic on one rank is an error on all.* Before each operation, the ranks say whether they are all there; one that has panicked comes and says no.
//!   Without that, the others would wait for ever. It costs a reduction of a word for each operation, so only `libviem_dist` does it: `viem_mpi` ends the job.
//! - *Borders are refined by the library, too* (`band`), where they and their surroundings fit on one machine. Moves that are all made at once leave
//!   cuts 5 to 8 % above those of FM and flows; on bands of three steps, these get most of that back. A remapping from the present partition at next to
//!   no cost of migration starts them. Where the band is too large, it is made narrower, or the level is left as it is.
//! - *Errors are agreed on* (`error::agree`): after each step that can fail on one rank, all learn whether one has failed, and return the error of the
//!   first. A panic aborts the job, as the other ranks would wait for ever. Rank 0 writes files as it receives them, and takes what is sent even after a
//!   failure.
//! - *Reduction by least and greatest uses numbers with a sign*, as MPICH 4.0 compares those without as if they had one.

pub mod alike;
pub mod band;
pub mod cluster;
pub mod comm;
pub mod contract;
pub mod coordinates;
pub mod error;
pub mod gather;
pub mod generate;
pub mod graph;
pub mod guard;
pub mod loose;
pub mod mesh;
pub mod objective;
pub mod read;
pub mod refine;
pub mod rounds;
pub mod solve;
#[cfg(test)]
mod testing;
pub mod threads;
