//! The place of the fault that an error of the library reports.

use std::error::Error as StdError;

use viem::graph::GraphError;
use viem::machine::MachineError;
use viem::mapping::MappingError;
use viem::mapping::objective::ScoreError;
use viem::partition::{FixedError, PreviousAssignmentError, RemapError, TargetsError};
use viem::qap::QapSolveError;
use viem::solve::SolveError;
use viem_cluster::SpecError;
use viem_io::ReadError;

/// The place of a fault, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The name of the file.
    pub file: Option<String>,
    /// The line, counted from 1; 0 if it is not known.
    pub line: u64,
    /// The column, counted from 1 in bytes; 0 if it is not known.
    pub column: u64,
    /// The entry, vertex, process, PE or block, counted from 0.
    pub index: Option<u64>,
}

impl Place {
    /// An entry of an array, counted from 0.
    pub fn entry(index: impl TryInto<u64>) -> Self {
        Self { index: index.try_into().ok(), ..Self::default() }
    }
}

/// Returns the place of the fault. Errors of runs are transparent, so those inside are looked up by their types.
pub fn place(error: &(dyn StdError + 'static)) -> Place {
    let in_one = [
        by(of_file),
        by(of_graph),
        by(of_mapping),
        by(of_fixed),
        by(of_targets),
        by(of_homes),
        by(of_machine),
    ];
    if let Some(place) = in_one.iter().find_map(|place| place(error)) {
        return place;
    }
    let inside = error.downcast_ref().and_then(inside_spec);
    let inside = inside.or_else(|| error.downcast_ref().and_then(inside_run));
    let inside = inside.or_else(|| error.downcast_ref().and_then(inside_qap));
    let inside = inside.or_else(|| error.downcast_ref().and_then(inside_score));
    let inside = inside.or_else(|| error.downcast_ref().and_then(inside_remap));
    inside.map(place).unwrap_or_default()
}

/// A place by the type of the error.
fn by<E: StdError + 'static>(place: fn(&E) -> Place) -> FindPlace {
    Box::new(move |error| error.downcast_ref().map(place))
}

/// A function that returns the place of the fault if the error is of one type.
type FindPlace = Box<dyn Fn(&(dyn StdError + 'static)) -> Option<Place>>;

fn of_file(error: &ReadError) -> Place {
    let in_file = |file: &String, line, column| Place { file: Some(file.clone()), line, column, index: None };
    match error {
        ReadError::Invalid { file, line, column, .. } => in_file(file, *line, *column),
        ReadError::OutOfMemory { file, line, .. } => in_file(file, *line, 0),
        ReadError::Unreadable { file, .. } => in_file(file, 0, 0),
        _ => Place::default(),
    }
}

fn of_graph(error: &GraphError) -> Place {
    use GraphError::*;
    match error {
        EntryOutOfRange { index, .. } => Place::entry(*index),
        TargetOutOfRange { node, .. }
        | SelfLoop { node }
        | ParallelEdge { node, .. }
        | MissingBackwardEdge { node, .. }
        | UnequalWeights { node, .. }
        | EdgeWeightOutOfRange { node, .. }
        | NodeWeightOutOfRange { node, .. } => Place::entry(*node),
        _ => Place::default(),
    }
}

fn of_mapping(error: &MappingError) -> Place {
    use MappingError::*;
    match error {
        PeOutOfRange { process, .. } | PeTaken { process, .. } | PeFull { process, .. } => {
            Place::entry(*process)
        }
        _ => Place::default(),
    }
}

fn of_fixed(error: &FixedError) -> Place {
    use FixedError::*;
    match error {
        NoSuchBlock { vertex, .. } | NoCapacity { vertex, .. } => Place::entry(*vertex),
        PeTaken { process, .. } | PeFull { process, .. } | Contradicted { process, .. } => {
            Place::entry(*process)
        }
        _ => Place::default(),
    }
}

fn of_targets(error: &TargetsError) -> Place {
    match error {
        TargetsError::NegativeSize { block, .. } => Place::entry(*block),
        _ => Place::default(),
    }
}

fn of_homes(error: &PreviousAssignmentError) -> Place {
    match error {
        PreviousAssignmentError::NoSuchBlock { vertex, .. } => Place::entry(*vertex),
        _ => Place::default(),
    }
}

fn of_machine(error: &MachineError) -> Place {
    match error {
        MachineError::NegativeEntry { row, .. } | MachineError::Asymmetric { row, .. } => Place::entry(*row),
        MachineError::NotZero { pe, .. } | MachineError::NoCapacity { pe } => Place::entry(*pe),
        _ => Place::default(),
    }
}

fn inside_spec(error: &SpecError) -> Option<&(dyn StdError + 'static)> {
    match error {
        SpecError::Machine { source, .. } => Some(source.as_ref()),
        SpecError::Read(error) => Some(error),
        _ => None,
    }
}

fn inside_run(error: &SolveError) -> Option<&(dyn StdError + 'static)> {
    match error {
        SolveError::Machine(error) => Some(error),
        SolveError::Targets(error) => Some(error),
        SolveError::Remap(error) => Some(error),
        SolveError::Start(error) => Some(error),
        SolveError::Fixed(error) => Some(error),
        _ => None,
    }
}

fn inside_qap(error: &QapSolveError) -> Option<&(dyn StdError + 'static)> {
    match error {
        QapSolveError::Start(error) => Some(error),
        QapSolveError::Machine(error) => Some(error),
        QapSolveError::Fixed(error) => Some(error),
        _ => None,
    }
}

fn inside_score(error: &ScoreError) -> Option<&(dyn StdError + 'static)> {
    match error {
        ScoreError::Mapping(error) => Some(error),
        ScoreError::Machine(error) => Some(error),
        _ => None,
    }
}

fn inside_remap(error: &RemapError) -> Option<&(dyn StdError + 'static)> {
    match error {
        RemapError::PreviousAssignment(error) => Some(error),
        _ => None,
    }
}
