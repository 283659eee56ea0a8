//! Machines as batch systems, hwloc, network tools and users describe them.
//!
//! | module | purpose |
//! |---|---|
//! | [`spec`] | builds machines from text, from files, and from the job that the program runs in |
//! | [`files`] | reads hosts, Slurm's network, hwloc's nodes, GPUs, NUMA nodes, latencies |
//! | [`nodes`] | makes a machine of nodes with names, of their insides, and of the network between them |

pub mod files;
pub mod nodes;
pub mod spec;

pub use spec::{
    MachineSpec, PeKind, SpecError, build, build_wanted, file_of, file_of_pes, files_of, read, restricted,
};
