//! `--speeds`: how much work each part takes.

use std::path::{Path, PathBuf};

use clap::Args;

use viem_io::{ReadError, Source, pe_weights};

/// The speeds of the parts, if they are not all alike.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case")]
pub(crate) struct SpeedOptions {
    /// How fast each part is, in proportion, so that its load fits. Whole numbers such as 1,2,4, or a file with one per
    /// line; there are as many parts as speeds, and a part of speed 0 stays empty
    #[arg(long, value_name = "LIST|FILE", value_parser = Speeds::parse)]
    speeds: Option<Speeds>,
}

impl SpeedOptions {
    /// Whether there are speeds.
    pub(crate) fn is_given(&self) -> bool {
        self.speeds.is_some()
    }
}

#[derive(Clone, Debug)]
enum Speeds {
    List(Vec<u32>),
    File(PathBuf),
}

impl Speeds {
    /// What is made of numbers is a list, and so is nothing; anything else is the name of a file.
    fn parse(text: &str) -> Result<Self, String> {
        let may_stand = |byte: u8| byte.is_ascii_digit() || b",.- ".contains(&byte);
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let is_list = text.bytes().all(may_stand) && (has_digit || text.is_empty());
        if !is_list {
            return Ok(Self::File(PathBuf::from(text)));
        }
        pe_weights::speeds_of(text).map(Self::List).map_err(|fault| fault.to_string())
    }
}

impl SpeedOptions {
    /// The file that the speeds are read from, if they are.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.speeds {
            Some(Speeds::File(path)) => Some(path),
            _ => None,
        }
    }

    /// The speed of each part, if speeds are given.
    pub(crate) fn read(&self) -> Result<Option<Vec<u32>>, ReadError> {
        match &self.speeds {
            None => Ok(None),
            Some(Speeds::List(speeds)) => Ok(Some(speeds.clone())),
            Some(Speeds::File(path)) => {
                let source = Source::open(path).map_err(|error| error.or_else_is("a list such as 1,2,4"))?;
                pe_weights::read_speeds(source).map(Some)
            }
        }
    }
}
