//! Recorded traffic of jobs: files of several kinds, summed into one communication graph.
//!
//! A [`Recording`] reads something else from the files of `bindings/mpi/trace/viem_trace.c`: the order of messages, of which
//! `viem-workload` makes a workload.
//!
//! A kind is one file and one line of a table. The signatures by which a file shows its kind are below, in [`viem_io::signature`], as the
//! readers of graphs and mappings name such a file. Each reader scans its text once and hands every flow
//! (from rank, to rank, bytes, messages) to a [`Collector`], which sums them by pair, whatever the order, and
//! makes the graph. Memory: 24 bytes for each pair and as many again for flows that are not merged yet.
//!
//! # Design
//!
//! Each kind of file has one reader, which passes on flows: from rank, to rank, bytes, messages. The collector does what
//! all of them need: classes of traffic, traffic of a rank with itself, missing ranks, sums. Flows are collected in one array that is sorted
//! and merged whenever it has doubled. That takes 24 bytes per flow and no hash table, and neighbours come out sorted. A reader takes whole
//! lines (`Scanner::next_line`) where a line is a record, and tokens where a line may be long.
//!
//! The recorder `bindings/mpi/trace/viem_trace.c` defines both names of each MPI function, `MPI_X` and `PMPI_X`, because some Fortran bindings call the
//! latter; it looks up the library's own `PMPI_X` with the dynamic linker. The data about a communicator are attached to it as an attribute,
//! so it is freed with the communicator. The last communicator and the last type are cached until one of either kind is freed. Persistent
//! operations record a plan, and each start repeats it. An algorithm of a collective is written once, and says both what is counted and what
//! comes next in the order of messages. Functions with counts are written once and compiled twice, for `int` and for
//! `MPI_Count`.

mod collective;
mod collector;
mod fault;
mod fields;
mod format;
mod ids;
mod kind;
mod mirror;
mod named;
mod note;
mod order;
mod pairs;
mod ranks;
mod recognise;
#[cfg(test)]
mod tests;
mod weighing;

pub use collector::{ClassTally, Collector, LeftOut, Sizes, Summary, Tally, TrafficConfig, TrafficError};
pub use fault::TrafficFault;
pub use format::Format;
pub use goal::{read_goal, relabel_goal};
pub use kind::Class;
pub use note::{NoTraffic, TrafficNote};
pub use order::{Act, Recording, Step, is_order};
pub use ranks::MOST_RANKS;
pub use viem_io::signature::is_goal;
pub use weighing::{Share, ShareError, Weighing, WeighingError};

viem::base::settings::listed! {
    const FORMATS: [Format] = FORMAT in {
        mod openmpi;
        mod matrix;
        mod edges;
        mod matrix_market;
        mod scotch;
        mod aps;
        mod trace;
        mod npy;
        mod node_link;
        mod graphml;
        mod nccl;
        mod kineto;
        mod goal;
        mod paje;
        mod simgrid;
    }
}
