//! Reasons why a text is no machine.

use crate::base::error::{ErrorKind, HasKind};
use crate::base::number;
use crate::base::number_list::ListFault;
use crate::base::text::{Place, counted};
use crate::machine::MachineError;

/// The reason why there is no such machine. Columns are counted from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum SpecError {
    #[error("machine `{spec}` is none of {examples}")]
    Unknown { spec: String, examples: String },
    #[error(
        "machine `{spec}`: `{token}` at column {column} is not {what}, a whole number from {least} to {greatest}; \
         give a machine such as {example}"
    )]
    BadNumber {
        spec: String,
        token: String,
        column: usize,
        what: &'static str,
        least: u64,
        greatest: u64,
        example: &'static str,
    },
    #[error(
        "machine `{spec}` needs {distances}, innermost first, such as {}; {}",
        example_distances(*needed),
        given(*found),
        distances = counted(needed, "distance", "distances")
    )]
    Distances { spec: String, needed: usize, found: usize },
    #[error("distance `{token}` is not a whole number from 0 to {}{}", i64::MAX, number::scaling(token))]
    BadDistance { token: String },
    #[error("machine `{spec}` brings its own distances; leave out `{distances}`")]
    OwnDistances { spec: String, distances: String },
    #[error("machine `{spec}`: {source}")]
    Machine { spec: String, source: Box<MachineError> },
    #[error("list of processing elements, {place}: {fault}")]
    Pes { place: Place, fault: ListFault },
}

impl HasKind for SpecError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown { .. }
            | Self::BadNumber { .. }
            | Self::Distances { .. }
            | Self::BadDistance { .. }
            | Self::OwnDistances { .. }
            | Self::Pes { .. } => ErrorKind::Usage,
            // A machine that is written in full is a value given by hand.
            Self::Machine { source, .. } => match source.kind() {
                ErrorKind::BadData => ErrorKind::Usage,
                kind => kind,
            },
        }
    }
}

/// How many are given, in words.
fn given(found: usize) -> String {
    match found {
        0 => "none are given".to_owned(),
        1 => "1 is given".to_owned(),
        _ => format!("{found} are given"),
    }
}

/// An example with that many distances.
fn example_distances(count: usize) -> String {
    let powers = (0..count as u32).map(|level| 10u64.saturating_pow(level).to_string());
    powers.collect::<Vec<_>>().join(":")
}
