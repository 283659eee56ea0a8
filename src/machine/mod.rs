//! Machines made ready for mapping.
//!
//! | member | what it does |
//! |---|---|
//! | [`spec`] | from what people write, or have in files, to a machine |
//! | [`recognise`] | from a matrix of distances to the machine that has them |
//! | [`cluster`] | nodes with names, what is in them, how they are connected |
//! | [`parts`] | divides a machine into parts, by partitioning where its shape does not say how |
//! | [`Nodes`] | on which host and which CPUs each PE is |
//! | [`Places`] | a place for each process that the machine has room for, numbered so that every part is a range |

pub mod cluster;
mod nodes;
pub mod parts;
mod places;
pub mod recognise;
pub mod spec;

pub use nodes::{Nodes, Site};
pub use places::{Places, check_memory};
pub use spec::{SpecError, Wanted, build, build_wanted, file_of, file_of_pes, files_of, read, restricted};
