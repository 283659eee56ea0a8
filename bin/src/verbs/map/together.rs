//! Groups of processes that must share a node.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::console::Console;
use crate::error::Result;
use viem::base::text::counted;
use viem::solve::{ProcessGroups, SolveError};
use viem_io::{Source, partition};

/// What `--together` asks for.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Together {
    /// Consecutive processes of this number.
    Size(usize),
    /// A file with the group of each process.
    File(String),
}

impl Together {
    /// Reads a number, or the name of a file.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text.parse::<u32>() {
            Ok(0) => Err("a group has at least one process".to_owned()),
            Ok(size) => Ok(Self::Size(size as usize)),
            Err(_) => Ok(Self::File(text.to_owned())),
        }
    }

    /// The file that is read, if one is.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::Size(_) => None,
            Self::File(path) => Some(Path::new(path)),
        }
    }

    /// The groups of so many processes.
    pub(super) fn groups(&self, num_processes: usize) -> Result<ProcessGroups> {
        let groups = match self {
            Self::Size(size) => ProcessGroups::of_size(num_processes, *size),
            Self::File(path) => {
                let source = Source::open(Path::new(path))
                    .map_err(|error| error.or_else_is("a number of processes"))?;
                ProcessGroups::of_list(&partition::read(source, Some(num_processes))?)
            }
        };
        Ok(groups.map_err(SolveError::from)?)
    }
}

impl fmt::Display for Together {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(size) => write!(f, "{size}"),
            Self::File(path) => f.write_str(path),
        }
    }
}

/// Prints how many groups there are.
pub(super) fn print(console: Console, groups: &ProcessGroups) {
    let (count, size) = (groups.count(), groups.size());
    console.line(format_args!(
        "each of {groups} of {processes} shares a node",
        groups = counted(count, "group", "groups"),
        processes = counted(size, "process", "processes")
    ));
}
