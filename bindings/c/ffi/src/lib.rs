//! The common part of the bindings: arguments of C are checked before they are used, no panic leaves, and errors have the place of the fault.
//!
//! | member | purpose |
//! |---|---|
//! | `arguments` | pointers and counts of C as references, slices and texts |
//! | `bounds` | greatest and least loads of parts, as other partitioners define them |
//! | `division` | the blocks that are asked for, with bounds and least loads |
//! | `environment` | what the environment says to libraries whose callers cannot |
//! | `files` | files, each written whole or not at all |
//! | `graph` | graphs as other partitioners take them |
//! | `integers` | arrays whose entries are of either width |
//! | `guard` | a panic as a message; no traps of floating-point exceptions |
//! | `limits` | the limits of the loads, by each weight of the vertices |
//! | `memory` | whether there is enough of it for a call |
//! | `message` | the message of the last call of a thread |
//! | `original` | the library in whose place one of ours stands |
//! | `several` | partitions by several weights |
//! | `strategy` | the imbalance that a strategy of Scotch asks for |
//! | `place` | where the fault is: file, line, column, entry |

mod arguments;
mod bounds;
mod division;
pub mod environment;
mod files;
mod graph;
mod guard;
mod integers;
mod limits;
mod memory;
mod message;
#[cfg(unix)]
mod original;
mod place;
mod several;
pub mod strategy;

pub use arguments::{ArgumentError, Fault, array, array_mut, count, optional, put, put_if_wanted, text};
pub use bounds::{Divided, HALF_A_DIGIT, least_load, targets_of_shares, targets_within};
pub use division::Division;
pub use files::{write, write_graph, write_launch};
pub use graph::{Integer, LooseError, LooseGraph, arcs_from};
pub use guard::{guarded, untrapped};
pub use integers::{Integers, reals};
pub use limits::{AskedLimits, Limits};
pub use memory::{MemoryError, check_memory, memory_of_graph, memory_of_run};
pub use message::{keep_message, kept_message};
#[cfg(unix)]
pub use original::Original;
pub use place::{Place, place};
pub use several::{Several, SeveralError, targets_by_weight};
