//! The one door of the engine: a request, what solves it, and the report.
//!
//! A [`Request`] names a graph, a machine and constraints. Constraints compose; those that contradict each other are
//! refused before any work, with a [`RequestError`] that says why. Settings are a [`Config`], results a [`Solution`] with its [`Report`].
//!
//! | member | contents |
//! |---|---|
//! | `request` | the request: constraints, their combinations, the way to a solution |
//! | `prepared` | what all runs ask of a machine, computed once |
//! | `balance` | limits of the loads of PEs that have many vertices; their loads |
//! | `several` | several weights of the vertices, with limits for each |
//! | `limits` | limits of one weight or of several |
//! | `config`, `preset` | all settings, and the presets as whole values of them |
//! | `initial` | initial mappings, and partitions along an order |
//! | `secondary` | the objective that is lowered after J |
//! | `one_to_one` | each process has a place of its own: constructions, improvement, the final local search |
//! | `groups` | the same where groups of processes share a node |
//! | `many_to_one` | many vertices per PE, J or the cut as the objective |
//! | `report` | the report of a run |
//!
//! A one-to-one mapping is never worse than the identity or a mapping given as a start: the search begins with the best of these and the
//! constructions, and never makes a mapping worse.

mod balance;
mod config;
mod error;
mod groups;
mod initial;
mod limits;
mod many_to_one;
mod one_to_one;
mod prepared;
mod preset;
mod report;
mod request;
mod secondary;
mod several;

pub use balance::{Balance, LoadLimits, Loads, NodeLoads};
pub use config::Config;
pub use error::{RequestError, SolveError};
pub use groups::{GroupError, ProcessGroups};
pub use initial::{Initial, Order};
pub use limits::LimitsByWeight;
pub use many_to_one::{ManyToOneConfig, SmallProblemConfig};
pub use one_to_one::{Constructions, OneToOneConfig};
pub(crate) use one_to_one::{Given, Task};
pub use prepared::PreparedMachine;
pub use preset::MapPreset;
pub use report::{Report, Seconds, Solution};
pub use request::{Objective, Request};
pub use secondary::{Lowered, Lowering, Secondary};
pub use several::{SeveralWeights, greatest_capacities};
