//! Launching a job as mapped: launcher files and the command line to paste.
//!
//! Each launcher gets the host and the CPUs of each rank in its own way:
//!
//! | kind | file | CPUs or GPUs are set by |
//! |---|---|---|
//! | `openmpi`, `openmpi5` | one line per rank: host, package and core | the file |
//! | `mpich` | the hosts; the command line has the node of each rank | the file or the command line |
//! | `mpich40` | one line for each run of ranks on the same host | the file |
//! | `intel`, `slurm`, `flux` | one line per rank: its host | a script that starts the program |
//! | `torchrun` | a script with one line per rank: host, GPU and rank | that script |
//! | `mpijob` | one line per rank: its host | a script that orders the GPUs of a host |
//! | `pods` | the nodes and the ranks of each, as JSON | |
//! | `cray` | the ranks in the order of the slots | the command line |
//! | `plain` | the PE of each rank | |
//! | `inverse` | the rank on each PE | |
//!
//! Ranks on GPUs are bound to the cores near them. A kind that binds is refused where these are not known, and every kind where the name of
//! a host would be taken for an option.
//!
//! To add a kind, add a file with a [`LauncherKind`] and a line in [`KINDS`] (`kinds.rs`). Nothing is started here. O(n
//! log n) for n ranks.
//!
//! ```
//! use viem::{Mapping, machine};
//! use viem_launch as launch;
//!
//! let machine = machine::build("2:2", Some("1:10"), None)?;
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

mod cray;
mod error;
mod files;
mod flux;
mod intel;
mod job;
mod kind;
mod kinds;
mod mpich;
mod mpich40;
mod mpijob;
mod numbers;
mod openmpi;
pub mod placement;
mod pods;
mod script;
mod shell;
mod slurm;
mod srun;
mod template;
mod torchrun;

pub use error::LaunchError;
pub use files::{Launch, LaunchFile};
pub use kind::LauncherKind;
pub use kinds::{KINDS, kind};
