//! The properties of a kind of cluster.

use std::path::{Path, PathBuf};

use super::error::SpecError;
use super::machine_spec::PeKind;
use viem::machine::Machine;

/// A kind of cluster, which is read from files or found in the environment. It is written as a name, a colon and parameters.
#[derive(Debug)]
pub struct ClusterKind {
    /// The name before the colon.
    pub name: &'static str,
    /// An example.
    pub example: &'static str,
    /// A description, for people.
    pub about: &'static str,
    /// True if the name may be alone.
    pub(super) may_stand_alone: bool,
    /// The files that are read: those that are named behind the colon, and those that the environment names.
    pub(super) files: fn(&str) -> Vec<PathBuf>,
    pub(super) make: fn(&Request<'_>) -> Result<Box<dyn Machine>, SpecError>,
}

/// The parameters of a cluster.
pub(super) struct Request<'a> {
    /// All of it, for messages.
    pub(super) spec: &'a str,
    /// The part after the colon.
    pub(super) rest: &'a str,
    /// The distances, innermost first.
    pub(super) distances: Option<&'a str>,
    /// The unit that is a PE.
    pub(super) pe: PeKind,
    /// A file of latencies.
    pub(super) latency: Option<&'a Path>,
}
