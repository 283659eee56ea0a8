//! Distributed graphs on MPI.
//!
//! [`viem_distributed`] divides graphs that are distributed over ranks, whatever these are. Here they are those of MPI: [`Mpi::comm`] makes a communicator for
//! it, and [`viem_dist_partition`], [`viem_dist_map`] and [`viem_dist_remap`] take graphs as ParMETIS does. The program `viem_mpi` divides files.
//!
//! ```no_run
//! use viem_mpi::{DistConfig, Rows, viem_dist_partition};
//!
//! let universe = mpi::initialize().expect("MPI is started once");
//! // Two vertices on each rank, joined to a ring.
//! use mpi::traits::Communicator;
//! let world = universe.world();
//! let (rank, count) = (world.rank() as u32, 2 * world.size() as u32);
//! let around = |vertex: u32| [(vertex + count - 1) % count, (vertex + 1) % count];
//! let targets = [around(2 * rank), around(2 * rank + 1)].concat();
//! let rows = Rows { offsets: vec![0, 2, 4], targets, ..Rows::default() };
//! let solution = viem_dist_partition(&world, rows, 2, None, &DistConfig::default())?;
//! println!("cut {}", solution.report.cut);
//! # Ok::<(), viem_distributed::error::DistError>(())
//! ```

pub mod comm;

use mpi::traits::Communicator;
use viem::base::types::BlockId;
use viem::machine::Machine;
use viem_distributed::graph::DistGraph;
use viem_distributed::solve::divide;

pub use comm::{Mpi, MpiComm};
pub use viem_distributed::error::DistError;
pub use viem_distributed::graph::Rows;
pub use viem_distributed::objective::PreviousAssignment;
pub use viem_distributed::solve::{DistConfig, DistReport, DistSolution, Given, Goal, Old};

/// Divides a graph into this many blocks of equal weight with a small cut. Collective; all ranks fail alike.
///
/// Each rank gives the rows of its vertices, as for ParMETIS; rank r has the vertices behind those of rank r - 1. `fixed` has the block where each of
/// them must be, or [`Given::FREE`]; none if all are free.
pub fn viem_dist_partition(
    communicator: &impl Communicator,
    rows: Rows,
    num_blocks: usize,
    fixed: Option<&[BlockId]>,
    config: &DistConfig,
) -> Result<DistSolution, DistError> {
    divide_rows(communicator, rows, Goal::Blocks(num_blocks), Given::default().with_fixed(fixed), config)
}

/// Maps a graph many-to-one to the PEs of a machine with a small J. Collective; all ranks fail alike. `fixed` is as for
/// [`viem_dist_partition`], of PEs.
pub fn viem_dist_map(
    communicator: &impl Communicator,
    rows: Rows,
    machine: &dyn Machine,
    fixed: Option<&[BlockId]>,
    config: &DistConfig,
) -> Result<DistSolution, DistError> {
    divide_rows(communicator, rows, Goal::Pes(machine), Given::default().with_fixed(fixed), config)
}

/// Maps a graph again, starting from the PEs where its vertices are ([`PreviousAssignment::NONE`] for new ones): minimises J plus `old.weight` times the weight of
/// the vertices that move. For blocks, the cut takes the place of J. Fixed vertices go where they must, wherever they are. Collective; all ranks
/// fail alike.
pub fn viem_dist_remap(
    communicator: &impl Communicator,
    rows: Rows,
    goal: Goal<'_>,
    old: Old<'_>,
    fixed: Option<&[BlockId]>,
    config: &DistConfig,
) -> Result<DistSolution, DistError> {
    divide_rows(communicator, rows, goal, Given::default().with_old(Some(old)).with_fixed(fixed), config)
}

fn divide_rows(
    communicator: &impl Communicator,
    rows: Rows,
    goal: Goal<'_>,
    given: Given<'_>,
    config: &DistConfig,
) -> Result<DistSolution, DistError> {
    let comm = Mpi::comm(communicator);
    let graph = DistGraph::new(&comm, rows)?;
    divide(&comm, &graph, goal, given, config)
}
