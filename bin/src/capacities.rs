//! The capacities of PEs or blocks.

use std::path::{Path, PathBuf};

use crate::error::{Result, UsageError};
use crate::files;
use viem::base::text::counted;
use viem_io::{ReadError, Source, pe_weights};

/// The capacities of PEs or blocks, relative to each other.
#[derive(Clone, Debug)]
pub(crate) enum Capacities {
    List { numbers: Vec<u32>, text: String },
    File(PathBuf),
}

impl Capacities {
    /// Parses a list of numbers, which may be empty; anything else is the name of a file.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let may_stand = |byte: u8| byte.is_ascii_digit() || b",.- ".contains(&byte);
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let is_list = text.bytes().all(may_stand) && (has_digit || text.is_empty());
        if !is_list {
            return Ok(Self::File(PathBuf::from(text)));
        }
        let numbers = pe_weights::speeds_of(text).map_err(|fault| fault.to_string())?;
        Ok(Self::List { numbers, text: text.to_owned() })
    }

    /// The file from which they are read, if there is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::List { .. } => None,
        }
    }

    /// Their name in reports: the name of the file, or the list.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) => files::name(path),
            Self::List { text, .. } => text.clone(),
        }
    }

    /// The capacity of each block; each number is that of one block.
    pub(crate) fn of_blocks(&self) -> Result<Vec<u32>, ReadError> {
        self.read(pe_weights::read_speeds)
    }

    /// The capacity of each PE, at least 1.
    pub(crate) fn of_pes(&self, num_pes: usize) -> Result<Vec<u32>> {
        match self {
            Self::List { numbers, text } if numbers.len() != num_pes || numbers.contains(&0) => {
                let pes = counted(num_pes, "PE", "PEs");
                let message =
                    format!("--capacities={text} is not a list of a number from 1 for each of {pes}");
                Err(UsageError(message).into())
            }
            _ => Ok(self.read(|source| pe_weights::read(source, num_pes))?),
        }
    }

    fn read(
        &self,
        read: impl FnOnce(Source<'_>) -> Result<Vec<u32>, ReadError>,
    ) -> Result<Vec<u32>, ReadError> {
        match self {
            Self::List { numbers, .. } => Ok(numbers.clone()),
            Self::File(path) => {
                read(Source::open(path).map_err(|error| error.or_else_is("a list such as 1,2,4"))?)
            }
        }
    }
}
