//! How `viem` makes the first mapping: by a construction, or along an order of the processes.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::LazyLock;

use clap::Args;

use crate::error::{Result, UsageError};
use crate::options::one_of;
use viem::graph::Coordinates;
use viem::mapping::construct::Construction;
use viem::partition::{Grouping, PartitionAlgorithm};
use viem::solve::{Initial, Order};
use viem_io::coordinates::Ids;
use viem_io::{Source, coordinates};

/// A way to the first mapping.
#[derive(Clone, Copy, Debug)]
pub(super) enum FirstMapping {
    Construction(Construction),
    /// The order of an algorithm that divides graphs.
    Along(PartitionAlgorithm),
}

/// The names of the orders.
pub(super) const ORDERS: &[&str] = match &PartitionAlgorithm::NAMES {
    [_multilevel, orders @ ..] => orders,
};
/// Those that need coordinates.
pub(super) const WITH_COORDINATES: &[&str] = &["rcb", "zcurve", "hilbert"];

/// Constructions, and algorithms that are not called like one of them.
static ALL: LazyLock<Vec<FirstMapping>> = LazyLock::new(|| {
    let is_other = |algorithm: &PartitionAlgorithm| Construction::from_str(algorithm.name()).is_err();
    let orders = PartitionAlgorithm::ALL.into_iter().filter(is_other).map(FirstMapping::Along);
    Construction::ALL.into_iter().map(FirstMapping::Construction).chain(orders).collect()
});

impl FirstMapping {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Construction(construction) => construction.name(),
            Self::Along(algorithm) => algorithm.name(),
        }
    }
}

/// How the first mapping is made.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case")]
pub(crate) struct FirstOptions {
    /// How the first mapping is made. By a construction, or along an order of the processes or vertices: rcb, zcurve,
    /// hilbert, rsb, linear. By default hierarchytopdown if the machine is a regular tree, else multilevel, or
    /// dualrecursive on more than 4096 processing elements [default: by machine]
    #[arg(long, value_name = "ALGORITHM", value_parser = one_of(&ALL, FirstMapping::name))]
    construction_algorithm: Option<FirstMapping>,

    /// Where the processes lie, for rcb, zcurve and hilbert. A line of coordinates for each, an .xyz file, or a Matrix
    /// Market array
    #[arg(long, value_name = "FILE")]
    coordinates: Option<PathBuf>,

    /// Whether the first column of --coordinates holds the numbers of the processes, yes or no. A file of three or more
    /// columns is refused if that is unclear [default: by file]
    #[arg(long, value_name = "yes|no", requires = "coordinates", value_parser = crate::options::ids)]
    coordinate_ids: Option<Ids>,
}

impl FirstOptions {
    /// The construction, if one is chosen.
    pub(super) fn construction(&self) -> Option<Construction> {
        match self.construction_algorithm {
            Some(FirstMapping::Construction(construction)) => Some(construction),
            _ => None,
        }
    }

    /// The algorithm whose order is taken, if one is chosen.
    pub(super) fn along(&self) -> Option<PartitionAlgorithm> {
        match self.construction_algorithm {
            Some(FirstMapping::Along(algorithm)) => Some(algorithm),
            _ => None,
        }
    }

    /// The file that is read, if one is.
    pub(super) fn file(&self) -> Option<&Path> {
        self.coordinates.as_deref()
    }

    /// An error if coordinates are needed and missing.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        let needs = self.along().is_some_and(PartitionAlgorithm::needs_coordinates);
        let name = self.construction_algorithm.map_or("", FirstMapping::name);
        if needs && self.coordinates.is_none() {
            return Err(UsageError(format!(
                "--construction_algorithm={name} needs to know where the processes lie; give --coordinates=FILE"
            )));
        }
        Ok(())
    }

    /// Reads what the order needs, if one was asked for. To be called before signals are caught, as a pipe may never end.
    pub(super) fn read(&self, num_nodes: usize) -> Result<Option<FirstOrder>> {
        let Some(algorithm) = self.along() else { return Ok(None) };
        let ids = self.coordinate_ids.unwrap_or(Ids::Unknown);
        let read = |path: &PathBuf| coordinates::read_with(Source::open(path)?, num_nodes, ids);
        Ok(Some(FirstOrder { algorithm, points: self.coordinates.as_ref().map(read).transpose()? }))
    }
}

/// An order that the first mapping follows.
pub(super) struct FirstOrder {
    pub(super) algorithm: PartitionAlgorithm,
    points: Option<Coordinates>,
}

impl FirstOrder {
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
    fn tables_of_options_name_every_order() {
        let names: Vec<&str> = ALL.iter().map(|first| first.name()).collect();
        assert_eq!(names, [&Construction::NAMES, ORDERS].concat());
        for &name in ORDERS {
            let algorithm: PartitionAlgorithm = name.parse().unwrap();
            assert_eq!(algorithm.needs_coordinates(), WITH_COORDINATES.contains(&name), "{name}");
        }
    }
}
