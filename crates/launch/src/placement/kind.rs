//! What a kind of file that says where ranks are consists of.

use std::cell::RefCell;

use super::fault::Fault;
use super::seats::Seat;
use viem::machine::Nodes;

/// A kind of file that says where ranks are.
#[derive(Debug)]
pub struct PlacementKind {
    /// A name, such as that of the launcher that takes it.
    pub name: &'static str,
    /// What it is, for people.
    pub about: &'static str,
    /// Whether a file with this beginning is one.
    pub(super) resembles: fn(&str) -> bool,
    /// Whether a file that resembles it, but is none, is rather a faulty mapping or something else.
    pub(super) is_doubtful: fn(&str) -> bool,
    /// The seat of each rank.
    pub(super) read: fn(&str, &Task<'_>) -> Result<Vec<Seat>, Fault>,
}

/// What a file is read for.
pub(super) struct Task<'a> {
    pub(super) num_ranks: usize,
    pub(super) nodes: &'a Nodes,
    /// What was left out.
    pub(super) notes: RefCell<Vec<String>>,
    /// The CPUs of each rank, if a script has them.
    pub(super) bindings: Option<Vec<Binding>>,
}

/// The CPUs that a script binds a rank to.
pub(super) struct Binding {
    pub(super) cpus: Vec<u32>,
    /// How the script says it, for messages.
    pub(super) text: String,
}
