//! One-to-one mappings of groups of processes, each of which stays on one node.
//!
//! Each group is contracted to a vertex and the quotient graph mapped to the nodes, each of which has room for as many
//! groups as fit. Then the processes of each node are mapped to its PEs, as a problem of their own. Finally, exchanges inside
//! nodes and of groups take into account where the neighbours on other nodes are. Where a mapping that was given keeps the
//! groups, the result is not worse than it.
//!
//! Takes a mapping of the groups, one of the processes of each node, and O(s² m / n) distances for each node of s places.
//!
//! | member | contents |
//! |---|---|
//! | `process_groups` | the groups as they are given |
//! | `rooms` | the nodes, and which groups each has room for |
//! | `run` | the mapping of the groups, of the processes of each node, and what comes after |
//! | `exchanges` | exchanges that keep the groups |

mod exchanges;
mod process_groups;
mod rooms;
mod run;

pub use process_groups::{GroupError, ProcessGroups};
pub(super) use run::solve;
