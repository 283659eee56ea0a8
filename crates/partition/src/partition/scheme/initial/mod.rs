//! The first partition of the coarsest graph.
//!
//! | member | how |
//! |---|---|
//! | `bisection` | recursive multilevel bisection |
//! | `multisection` | along a tree of blocks, each step by a partition of its own |
//! | `older` | from an older partition |
//! | `pool` | the best of several that begin with another member |

pub(in crate::partition) mod bisection;
mod interface;
pub(in crate::partition) mod multisection;
pub(in crate::partition) mod older;
pub(in crate::partition) mod pool;

pub(crate) use interface::{Coarsest, InitialPartition};
