//! The properties of a kind of file that has the places of ranks.

use std::cell::RefCell;

use super::fault::Fault;
use super::seats::Seat;
use viem::machine::Nodes;

/// A kind of file that says where ranks are.
#[derive(Debug)]
pub struct PlacementKind {
    /// A name, such as that of the launcher that takes it.
    pub name: &'static str,
    /// A description, for people.
    pub about: &'static str,
    /// Returns whether a file with this beginning is one.
    pub(super) resembles: fn(&str) -> bool,
    /// Returns whether a file that resembles it, but is none, is rather a faulty mapping or something else.
    pub(super) is_doubtful: fn(&str) -> bool,
    /// The seat of each rank.
    pub(super) read: fn(&str, &Task<'_>) -> Result<Vec<Seat>, Fault>,
}

/// The input of reading a file.
pub(super) struct Task<'a> {
    pub(super) num_ranks: usize,
    pub(super) nodes: &'a Nodes,
    /// Notes on parts that were left out.
    pub(super) notes: RefCell<Vec<String>>,
    /// The CPUs of each rank, if a script has them.
    pub(super) bindings: Option<Vec<Binding>>,
}

/// The CPUs that a script binds a rank to.
pub(super) struct Binding {
    pub(super) cpus: Vec<u32>,
    /// Its text in the script, for messages.
    pub(super) text: String,
}
