//! Many-to-one mappings: an application graph with many vertices per PE is mapped to a machine.
//!
//! *Problem.* Vertices have weights, PEs have capacities. Every PE gets at most `(1 + imbalance) · ceil(total
//! weight · capacity / total capacity)`, and at least a given part of its share, if one is asked for. Minimise J over the vertices, or the cut.
//!
//! *Algorithm.* The multilevel partitioner with J as its objective
//! ([`partition::ManyToOnePartitioner`](crate::partition::ManyToOnePartitioner)). Blocks are the PEs in the order of the parts
//! of the machine, so every part is a range of blocks. Partitioning first and mapping the blocks afterwards
//! mostly gives a higher J, since that partitioner minimises the cut without knowing the distances.
//!
//! If PEs have few vertices, bounds leave hardly any vertex a move, and J depends on which vertices share a PE. Such small
//! problems start from a mapping in two steps as well, and end with a one-to-one mapping of vertices to the places of the PEs, whose
//! search exchanges vertices (`search`). Both are tried with little effort first, and with more where that pays.
//!
//! | member | contents |
//! |---|---|
//! | `config` | the settings, and the presets as whole values of them |
//! | `run` | the problem in blocks instead of PEs, and the report |
//! | `search` | the search for the best mapping, from scratch or from a start |
//! | `numbering` | the same mapping however the vertices are numbered |
//! | `layout` | distances and parts of the PEs as blocks |
//! | `cut` | partitions: the same with the cut as the objective |
//! | `several` | partitions and mappings of vertices with several weights |

mod config;
mod cut;
mod layout;
mod numbering;
mod run;
mod search;
mod several;

pub use config::{ManyToOneConfig, SmallProblemConfig};
pub(super) use cut::partition;
pub(super) use layout::between;
pub(super) use run::{Origin, Run};
pub(super) use several::SeveralRun;
