//! Launching a job as mapped: launcher files and the command line to paste.
//!
//! Each launcher gets the host and the CPUs of each rank in its own way, which its file describes: by a file that the launcher reads, by the command
//! line, or by a script that starts the program.
//!
//! Ranks on GPUs are bound to the cores near them. A kind that binds is refused where these are not known, and every kind where the name of
//! a host would be taken for an option.
//!
//! Nothing is started here. O(n log n) for n ranks.
//!
//! ```
//! use viem::{Mapping, machine};
//! use viem_launch as launch;
//!
//! let machine = machine::build("2:2", "1:10")?;
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

mod error;
mod files;
mod job;
mod kind;
mod launch;
pub mod placement;
mod script;
mod shell;
mod srun;
mod template;
#[cfg(test)]
mod tests;

pub use error::LaunchError;
pub use files::{Launch, LaunchFile};
pub use kind::LauncherKind;
pub use launch::kind;

viem::base::settings::listed! {
    /// All kinds.
    pub const KINDS: [LauncherKind] = KIND in {
        mod openmpi;
        mod openmpi5;
        mod mpich;
        mod mpich40;
        mod intel;
        mod slurm;
        mod cray;
        mod flux;
        mod torchrun;
        mod mpijob;
        mod pods;
        mod plain;
        mod inverse;
    }
}
