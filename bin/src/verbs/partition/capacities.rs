//! How much weight each block takes.

use std::path::{Path, PathBuf};

use viem_io::{ReadError, Source, pe_weights};

/// The capacities of the blocks, in proportion.
#[derive(Clone, Debug)]
pub(crate) enum Capacities {
    List(Vec<u32>),
    File(PathBuf),
}

impl Capacities {
    /// Parses a list of numbers, which may be empty; anything else is the name of a file.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let may_stand = |byte: u8| byte.is_ascii_digit() || b",.- ".contains(&byte);
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let is_list = text.bytes().all(may_stand) && (has_digit || text.is_empty());
        if !is_list {
            return Ok(Self::File(PathBuf::from(text)));
        }
        pe_weights::speeds_of(text).map(Self::List).map_err(|fault| fault.to_string())
    }

    /// The file that they are read from, if they are.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::List(_) => None,
        }
    }

    /// The capacity of each block.
    pub(super) fn read(&self) -> Result<Vec<u32>, ReadError> {
        match self {
            Self::List(capacities) => Ok(capacities.clone()),
            Self::File(path) => {
                let source = Source::open(path).map_err(|error| error.or_else_is("a list such as 1,2,4"))?;
                pe_weights::read_speeds(source)
            }
        }
    }
}
