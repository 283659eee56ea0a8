//! Target architectures as machines.

use std::collections::HashMap;
use std::path::Path;

use viem::Machine;
use viem::base::types::Distance;
use viem::machine::{Capacities, DistanceMatrix};
use viem_ffi::check_memory;
use viem_io::Source;

use crate::text;

/// The most PEs of an architecture whose distances are asked for one by one.
pub(crate) const MOST_LISTED: usize = 4096;

/// The target of a mapping.
pub(crate) struct Target {
    /// None if all PEs are equally far from each other.
    pub machine: Option<Box<dyn Machine>>,
    /// The shares of the PEs, of any sum.
    pub shares: Vec<f64>,
    /// The numbers that a mapping has for the PEs, if these are not their positions.
    numbers: Option<Numbers>,
}

struct Numbers {
    of_pes: Vec<i64>,
    pe_of: HashMap<i64, u32>,
}

/// PEs with a distance for each pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The number that a mapping has for each PE.
    pub numbers: Vec<i64>,
    pub weights: Vec<i64>,
    /// Row by row.
    pub distances: Vec<Distance>,
}

impl Target {
    /// Parts that are equally far from each other.
    pub fn parts(num_parts: usize) -> Result<Self, String> {
        check_memory(64 * num_parts as u128).map_err(text)?;
        Ok(Self { machine: None, shares: vec![1.0; num_parts], numbers: None })
    }

    /// The architecture that Scotch writes as this text.
    pub fn of_text(architecture: &str) -> Result<Self, String> {
        let source = Source::new("the architecture", architecture.as_bytes()).map_err(text)?;
        let machine = viem_cluster::read(source, Path::new("architecture.tgt")).map_err(text)?;
        check_memory(64 * machine.num_pes() as u128).map_err(text)?;
        let shares = machine.capacities().into_iter().map(f64::from).collect();
        let is_complete = matches!(kind(architecture), "cmplt" | "cmpltw");
        Ok(Self { machine: (!is_complete).then_some(machine), shares, numbers: None })
    }

    /// PEs with a distance for each pair.
    pub fn of_pairs(Listed { numbers, weights, distances }: Listed) -> Result<Self, String> {
        let pe_of: HashMap<i64, u32> = numbers.iter().copied().zip(0..).collect();
        let capacities: Vec<u32> =
            weights.iter().map(|&weight| weight.try_into()).collect::<Result<_, _>>().map_err(text)?;
        if pe_of.len() < numbers.len() {
            return Err("two PEs of the architecture have the same number".into());
        }
        let machine = DistanceMatrix::new(numbers.len(), distances).map_err(text)?;
        let machine = Capacities::new(machine, capacities).map_err(text)?;
        let are_positions = numbers.iter().copied().eq(0..numbers.len() as i64);
        Ok(Self {
            machine: Some(Box::new(machine)),
            shares: weights.iter().map(|&weight| weight as f64).collect(),
            numbers: (!are_positions).then_some(Numbers { of_pes: numbers, pe_of }),
        })
    }

    /// The PE that has a number.
    pub fn pe_of(&self, number: i64) -> Option<u32> {
        match &self.numbers {
            None => u32::try_from(number).ok().filter(|&pe| (pe as usize) < self.shares.len()),
            Some(numbers) => numbers.pe_of.get(&number).copied(),
        }
    }

    /// The number of a PE.
    pub fn number_of(&self, pe: u32) -> i64 {
        self.numbers.as_ref().map_or(pe.into(), |numbers| numbers.of_pes[pe as usize])
    }
}

/// The name of the kind of an architecture, at the beginning of its text.
pub(crate) fn kind(architecture: &str) -> &str {
    architecture.split_ascii_whitespace().next().unwrap_or_default()
}

/// Checks that a text is an architecture; the number of its PEs.
pub(crate) fn size(architecture: &str) -> Result<usize, String> {
    let source = Source::new("the architecture", architecture.as_bytes()).map_err(text)?;
    let target = viem_io::target::read(source).map_err(text)?;
    Ok(target.lists.first().map_or_else(|| target.base.num_pes(), Vec::len))
}

#[cfg(test)]
mod tests {
    use viem::machine::DistanceOracle;

    use super::*;

    fn distances(target: &Target) -> Vec<Distance> {
        let distances = target.machine.as_ref().expect("distances differ").distances().expect("a metric");
        let pes = 0..target.shares.len() as u32;
        pes.clone()
            .flat_map(|p| pes.clone().map(move |q| (p, q)))
            .map(|(p, q)| distances.distance(p, q))
            .collect()
    }

    fn of(text: &str) -> Target {
        Target::of_text(text).expect("an architecture")
    }

    #[test]
    fn distances_are_those_of_scotch() {
        // By bisection and by `SCOTCH_archDomDist` of Scotch 7.0.3.
        assert_eq!(distances(&of("tleaf 2 2 7 2 1")), [0, 1, 8, 8, 1, 0, 8, 8, 8, 8, 0, 1, 8, 8, 1, 0]);
        assert_eq!(distances(&of("mesh2D\n3 2"))[..12], [0, 1, 2, 1, 2, 3, 1, 0, 1, 2, 1, 2]);
        assert_eq!(distances(&of("torus2D 5 2"))[..10], [0, 1, 2, 2, 1, 1, 2, 3, 3, 2]);
        assert_eq!(
            distances(&of("sub\n4 0 15 3 5\nmesh2D\n4 4")),
            [0, 6, 3, 2, 6, 0, 3, 4, 3, 3, 0, 3, 2, 4, 3, 0]
        );
    }

    #[test]
    fn complete_graphs_are_partitions() {
        let target = of("cmpltw\n3 1 2 6");
        assert!(target.machine.is_none() && of("cmplt 4").machine.is_none());
        assert_eq!(target.shares, [1.0, 2.0, 6.0]);
        assert_eq!((target.pe_of(2), target.pe_of(3), target.pe_of(-1)), (Some(2), None, None));
        assert_eq!((size("sub 2 3 1 cmplt 4"), size("hcub 5")), (Ok(2), Ok(32)));
        assert!(size("cmplt 0").is_err() && size("").is_err() && size("vcmplt").is_err());
    }

    #[test]
    fn pes_keep_the_numbers_that_scotch_has_for_them() {
        let listed = Listed {
            numbers: vec![2, 5, 6],
            weights: vec![1, 1, 4],
            distances: vec![0, 3, 1, 3, 0, 2, 1, 2, 0],
        };
        let target = Target::of_pairs(listed.clone()).expect("three PEs");
        assert_eq!((target.number_of(1), target.pe_of(6), target.pe_of(0)), (5, Some(2), None));
        assert_eq!(
            (distances(&target), &target.shares[..]),
            (listed.distances.clone(), &[1.0, 1.0, 4.0][..])
        );
        assert!(Target::of_pairs(Listed { numbers: vec![2, 5, 5], ..listed.clone() }).is_err());
        assert!(Target::of_pairs(Listed { weights: vec![1, 0, 4], ..listed }).is_err());
    }
}
