//! A kind of machine that is written as text.

use super::error::SpecError;
use crate::base::number;
use crate::machine::{Machine, MachineError};

/// A kind of machine that is written as a name, a colon and parameters.
#[derive(Debug)]
pub struct MachineKind {
    /// The name before the colon.
    pub name: &'static str,
    /// An example.
    pub example: &'static str,
    /// A description, for people.
    pub about: &'static str,
    /// The distances of the example, if it needs some.
    pub distances: Option<&'static str>,
    pub(in crate::machine) make: fn(&Request<'_>) -> Result<Box<dyn Machine>, SpecError>,
}

/// The parameters of a machine.
pub(in crate::machine) struct Request<'a> {
    /// All of it, for messages.
    pub(super) spec: &'a str,
    /// The part after the colon.
    pub(in crate::machine) rest: &'a str,
    /// The distances, innermost first.
    pub(super) distances: Option<&'a str>,
}

impl Request<'_> {
    /// The number that a part of the text is.
    pub(in crate::machine) fn number(
        &self,
        token: &str,
        what: &'static str,
        least: u32,
        greatest: u32,
        example: &'static str,
    ) -> Result<u32, SpecError> {
        let is_number = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        let number = is_number.then(|| token.parse::<u32>().ok()).flatten();
        number.filter(|number| (least..=greatest).contains(number)).ok_or_else(|| SpecError::BadNumber {
            spec: self.spec.to_owned(),
            token: token.to_owned(),
            column: self.column(token),
            what,
            least: least.into(),
            greatest: greatest.into(),
            example,
        })
    }

    /// Returns the position of a part of the text, counted in characters.
    fn column(&self, token: &str) -> usize {
        let offset = token.as_ptr() as usize - self.spec.as_ptr() as usize;
        self.spec[..offset].chars().count() + 1
    }

    /// The distances, of which `needed` are required.
    pub(in crate::machine) fn distances(&self, needed: usize) -> Result<&str, SpecError> {
        let found = self.distances.map_or(0, |distances| distances.split(':').count());
        match self.distances {
            Some(distances) if found == needed => Ok(distances),
            _ => Err(SpecError::Distances { spec: self.spec.to_owned(), needed, found }),
        }
    }

    /// The distance of a kind that has only one; 1 if none is given.
    pub(in crate::machine) fn only_distance(&self) -> Result<i64, SpecError> {
        if self.distances.is_some() { distance(self.distances(1)?) } else { Ok(1) }
    }

    pub(in crate::machine) fn no_distances(&self) -> Result<(), SpecError> {
        match self.distances {
            Some(distances) => {
                Err(SpecError::OwnDistances { spec: self.spec.to_owned(), distances: distances.to_owned() })
            }
            None => Ok(()),
        }
    }

    pub(in crate::machine) fn machine<M: Machine + 'static>(
        &self,
        machine: Result<M, impl Into<MachineError>>,
    ) -> Result<Box<dyn Machine>, SpecError> {
        Ok(Box::new(self.valid(machine)?))
    }

    pub(in crate::machine) fn valid<M>(
        &self,
        machine: Result<M, impl Into<MachineError>>,
    ) -> Result<M, SpecError> {
        machine.map_err(|error| SpecError::Machine {
            spec: self.spec.to_owned(),
            source: Box::new(error.into()),
        })
    }
}

/// A distance.
pub(in crate::machine) fn distance(token: &str) -> Result<i64, SpecError> {
    let number = number::unsigned(token).and_then(|number| i64::try_from(number).ok());
    number.ok_or_else(|| SpecError::BadDistance { token: token.to_owned() })
}
