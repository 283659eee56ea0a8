//! How `viem map` makes the initial mapping: by a construction, or along an order of the processes.

use std::path::Path;
use std::str::FromStr;
use std::sync::LazyLock;

use clap::{Arg, Args};

use crate::application::Application;
use crate::error::{Result, UsageError};
use crate::options::{CoordinateOptions, one_of};
use viem::graph::Coordinates;
use viem::mapping::construct::Construction;
use viem::partition::{Grouping, PartitionAlgorithm};
use viem::solve::{Initial, Order};

/// A way to the initial mapping.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    Construction(Construction),
    /// The order of an algorithm that divides graphs.
    Along(PartitionAlgorithm),
}

/// The orders that need coordinates.
const WITH_COORDINATES: &[&str] = &["rcb", "zcurve", "hilbert"];

/// Constructions, and algorithms that are not called like one of them.
static ALL: LazyLock<Vec<Start>> = LazyLock::new(|| {
    let is_other = |algorithm: &PartitionAlgorithm| Construction::from_str(algorithm.name()).is_err();
    let orders = PartitionAlgorithm::ALL.into_iter().filter(is_other).map(Start::Along);
    Construction::ALL.into_iter().map(Start::Construction).chain(orders).collect()
});

impl Start {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Construction(construction) => construction.name(),
            Self::Along(algorithm) => algorithm.name(),
        }
    }
}

/// How the initial mapping is made.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Search", mut_args(without_coordinates))]
pub(crate) struct InitialOptions {
    /// How the initial mapping is made. By a construction, or along an order of the processes or vertices: rcb, zcurve,
    /// hilbert, rsb, linear. By default hierarchytopdown if the machine is a regular tree, else multilevel, or
    /// dualrecursive on more than 4096 PEs [default: by machine]
    #[arg(hide_short_help = true, long, value_name = "ALGORITHM", value_parser = one_of(&ALL, Start::name))]
    construction: Option<Start>,

    #[command(flatten)]
    coordinates: CoordinateOptions,
}

/// Hides the coordinates in the short help, as the construction that needs them is hidden there, too.
fn without_coordinates(arg: Arg) -> Arg {
    if arg.get_id() == "coordinates" { arg.hide_short_help(true) } else { arg }
}

impl InitialOptions {
    /// The construction, if one is chosen.
    pub(super) fn construction(&self) -> Option<Construction> {
        match self.construction {
            Some(Start::Construction(construction)) => Some(construction),
            _ => None,
        }
    }

    /// The option with its value, as messages have it.
    pub(super) fn given(&self) -> String {
        format!("--construction={}", self.construction.map_or("", Start::name))
    }

    /// The algorithm whose order is taken, if one is chosen.
    pub(super) fn along(&self) -> Option<PartitionAlgorithm> {
        match self.construction {
            Some(Start::Along(algorithm)) => Some(algorithm),
            _ => None,
        }
    }

    /// The file that is read, if one is.
    pub(super) fn file(&self) -> Option<&Path> {
        self.coordinates.file()
    }

    /// An error if coordinates are given and not needed.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        let needs = self.along().is_some_and(PartitionAlgorithm::needs_coordinates);
        match self.file().filter(|_| !needs) {
            Some(_) => Err(UsageError(format!(
                "--coordinates is for --construction={}; leave it out",
                WITH_COORDINATES.join(", ")
            ))),
            None => Ok(()),
        }
    }

    /// Reads what the order needs, if one was asked for: the coordinates are in their file, or else those of the mesh. To be called before
    /// signals are caught, as a pipe may never end.
    pub(super) fn read(&self, application: &Application) -> Result<Option<InitialOrder>> {
        let Some(algorithm) = self.along() else { return Ok(None) };
        let points = self.coordinates.read(application.graph.num_nodes())?;
        let points = points.or_else(|| application.coordinates.clone());
        if points.is_none() && algorithm.needs_coordinates() {
            return Err(UsageError(format!(
                "--construction={algorithm} needs the coordinates of the processes; give --coordinates=FILE"
            ))
            .into());
        }
        Ok(Some(InitialOrder { algorithm, points }))
    }
}

/// An order that the initial mapping follows.
pub(super) struct InitialOrder {
    pub(super) algorithm: PartitionAlgorithm,
    points: Option<Coordinates>,
}

impl InitialOrder {
    /// What a request takes.
    pub(super) fn initial(&self) -> Initial<'_> {
        let (algorithm, coordinates, grouping) = (self.algorithm, self.points.as_ref(), Grouping::default());
        Initial::Along(Order::Algorithm { algorithm, coordinates, grouping })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_that_need_coordinates_are_listed() {
        for algorithm in PartitionAlgorithm::ALL {
            assert_eq!(
                algorithm.needs_coordinates(),
                WITH_COORDINATES.contains(&algorithm.name()),
                "{algorithm}"
            );
        }
    }
}
