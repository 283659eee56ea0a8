//! Target files of Scotch.

use super::file_kind::{FileKind, Match};
use crate::spec::error::SpecError;
use viem::base::types::{Distance, PeId};
use viem::machine::spec::listed;
use viem::machine::{
    Capacities, Dimension, DistanceMatrix, Distances, Divided, Division, Grid, Hierarchy, Hypercube,
    Interconnect, Listed, Located, Machine, MachineError, Parts, check_memory,
};
use viem_io::target::{self, Base, Target};

pub(super) const FILE: FileKind = FileKind {
    about: "a target file of Scotch",
    endings: &[".tgt"],
    resembles: |opening| match opening.word() {
        Some(word) if target::is_name(word) => Match::Yes,
        // A name that is misspelt.
        _ if opening.is_word_with_numbers() => Match::Maybe,
        _ => Match::No,
    },
    read: |source| {
        let name = source.name().to_owned();
        let target = target::read(source)?;
        machine(target).map_err(|error| SpecError::machine(name, error))
    },
};

fn machine(Target { lists, base }: Target) -> Result<Box<dyn Machine>, MachineError> {
    let whole = whole(base)?;
    let through = |list: Vec<PeId>, next: Vec<PeId>| list.iter().map(|&pe| next[pe as usize]).collect();
    match lists.into_iter().reduce(through) {
        Some(list) => listed(whole, list),
        None => Ok(whole),
    }
}

fn whole(base: Base) -> Result<Box<dyn Machine>, MachineError> {
    Ok(match base {
        Base::Tree { arities, distances } => Box::new(Hierarchy::new(arities, distances)?),
        Base::LabelledTree { arities, distances, labels } => {
            labelled(Hierarchy::new(arities, distances)?, &labels)?
        }
        Base::Grid { lengths, is_closed } => {
            let dimensions = lengths.into_iter().map(|length| Dimension { length, is_closed }).collect();
            Box::new(Grid::new(dimensions, Hierarchy::single(), 1)?)
        }
        Base::Hypercube { dimension } => Box::new(Hypercube::new(dimension)?),
        Base::Complete { num_pes } => Box::new(complete(num_pes)?),
        Base::WeightedComplete { capacities } => {
            Box::new(Capacities::new(complete(capacities.len() as u32)?, capacities)?)
        }
        Base::Decomposition { capacities, domains, triangle } => {
            let matrix = DistanceMatrix::new(domains.len(), both_triangles(domains.len(), &triangle))?;
            Box::new(Capacities::new(Divided::new(matrix, bipartition(&domains))?, capacities)?)
        }
    })
}

/// A tree whose leaves have these numbers in each stretch of as many leaves.
fn labelled(tree: Hierarchy, labels: &[PeId]) -> Result<Box<dyn Machine>, MachineError> {
    if labels.iter().zip(0..).all(|(&label, leaf)| label == leaf) {
        return Ok(Box::new(tree));
    }
    check_memory(&tree)?;
    let mut leaf_of = vec![0; labels.len()];
    labels.iter().zip(0..).for_each(|(&label, leaf)| leaf_of[label as usize] = leaf);
    let leaf = |pe: PeId| {
        let label = pe as usize % labels.len();
        pe - label as PeId + leaf_of[label]
    };
    let leaves = (0..tree.num_pes() as PeId).map(leaf).collect();
    Ok(Box::new(Labelled(Listed::new(tree, leaves)?)))
}

/// A tree whose PEs are numbered by their labels, not by their places.
struct Labelled(Listed<Hierarchy>);

impl Machine for Labelled {
    fn num_pes(&self) -> usize {
        self.0.num_pes()
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        self.0.distances()
    }

    fn interconnect(&self) -> Interconnect {
        self.0.interconnect()
    }

    fn division(&self) -> Division {
        self.0.division()
    }

    fn describe(&self) -> String {
        format!("tree of {} processing elements in the order of their labels", self.num_pes())
    }

    fn located(&self) -> Option<&dyn Located> {
        Some(&self.0)
    }

    fn whole(&self) -> Option<&dyn Machine> {
        self.0.whole()
    }
}

fn complete(num_pes: u32) -> Result<Hierarchy, MachineError> {
    Ok(Hierarchy::new(vec![num_pes], vec![1])?)
}

/// A symmetric matrix from its lower triangle.
fn both_triangles(num_rows: usize, triangle: &[Distance]) -> Vec<Distance> {
    let mut entries = vec![0; num_rows * num_rows];
    let below = (0..num_rows).flat_map(|row| (0..row).map(move |column| (row, column)));
    for ((row, column), &distance) in below.zip(triangle) {
        entries[row * num_rows + column] = distance;
        entries[column * num_rows + row] = distance;
    }
    entries
}

/// The parts of a bipartition tree whose leaves are these domains, of which none holds another.
fn bipartition(domains: &[u64]) -> Parts {
    let path = |pe: PeId| target::path(domains[pe as usize]);
    let mut order: Vec<PeId> = (0..domains.len() as PeId).collect();
    order.sort_unstable_by_key(|&pe| path(pe));
    Parts::divide(order, |pes| {
        // The first step at which the ways to the first and to the last leaf differ.
        let differing = path(pes[0]) ^ path(pes[pes.len() - 1]);
        let step = differing.checked_ilog2().map_or(0, |bit| 1u64 << bit);
        let first = pes.partition_point(|&pe| path(pe) & step == 0);
        vec![first, pes.len() - first]
    })
}
