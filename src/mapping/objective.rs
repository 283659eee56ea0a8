//! The objective J, computed from scratch, and its change by an exchange of two processes.
//!
//! `J(C, D, Pi) = sum over ordered pairs (u, v) of C[u][v] · D[Pi(u)][Pi(v)]` (Schulz and Träff, "Better
//! process mapping and sparse quadratic assignment", 2017). Each edge counts twice.

use std::ops::Range;

use crate::base::error::{ErrorKind, HasKind};
use crate::base::threads;
use crate::base::types::{Cost, NodeId, PeId};
use crate::graph::CsrGraph;
use crate::machine::{
    DistanceOracle, Distances, Machine, MachineError, Metric as _, distances_of, with_oracle,
};
use crate::mapping::problem::{self, Problem, ProblemError};
use crate::mapping::{Mapping, MappingError};

/// The reason why a mapping has no J.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation
pub enum ScoreError {
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Mapping(#[from] MappingError),
}

impl HasKind for ScoreError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Problem(error) => error.kind(),
            Self::Machine(error) => error.kind(),
            Self::Mapping(error) => error.kind(),
        }
    }
}

/// J of a mapping to any machine, with process i on PE `pe_of[i]`; O(n + m) distances, plus the time to set
/// them up.
///
/// ```
/// use viem::{Grid, GraphBuilder, score};
///
/// let mut graph = GraphBuilder::new(3);
/// graph.add_edge(0, 1, 5);
/// graph.add_edge(1, 2, 7);
/// // On a ring of four, process 1 is next to process 0 and opposite process 2. Each edge counts twice.
/// assert_eq!(score(&graph.build()?, &Grid::torus(&[4])?, &[0, 1, 3])?, 2 * (5 * 1 + 7 * 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn score(graph: &CsrGraph, machine: &dyn Machine, pe_of: &[PeId]) -> Result<Cost, ScoreError> {
    let mapping = Mapping::on(machine, pe_of.to_vec())?;
    Ok(evaluate(graph, &distances_of(machine)?, &mapping)?)
}

/// The keys of the PEs of all processes, by process: the input of [`swap_delta`].
pub fn keys<O: DistanceOracle>(oracle: &O, mapping: &Mapping) -> Vec<O::Key> {
    mapping.pes().iter().map(|&pe| oracle.key(pe)).collect()
}

/// J of a mapping to any machine with these distances; O(n + m).
///
/// Fails if the graph has another number of processes, if a PE does not exist, or if J could overflow.
/// Capacities are checked by [`Mapping::on`].
///
/// ```
/// use viem::graph::generate;
/// use viem::mapping::Mapping;
/// use viem::mapping::objective::evaluate;
/// use viem::machine::{Grid, Machine as _};
///
/// let graph = generate::grid(4, 2);
/// let machine = Grid::torus(&[4, 4])?;
/// let mapping = Mapping::in_order(&machine, 8).expect("there is room");
/// // Ten edges of weight 1 between neighbours, each counted twice.
/// assert_eq!(evaluate(&graph, &machine.distances()?, &mapping)?, 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate(graph: &CsrGraph, distances: &Distances, mapping: &Mapping) -> Result<Cost, ProblemError> {
    problem::check_pes(graph, distances.num_pes(), mapping.pes())?;
    problem::check_cost(graph, distances.max_distance())?;
    Ok(with_oracle!(distances, |oracle| sum_of_rows(graph, oracle, &keys(oracle, mapping))))
}

/// J of a mapping; O(n + m). The mapping must be as large as the problem.
pub fn cost(problem: &Problem<'_>, mapping: &Mapping) -> Cost {
    with_oracle!(problem.oracle(), |oracle| sum_of_rows(problem.graph(), oracle, &keys(oracle, mapping)))
}

/// J of the mapping whose PEs have these keys; O(m). Runs on the threads of the current rayon pool.
pub fn cost_of_keys<O: DistanceOracle>(problem: &Problem<'_, O>, keys: &[O::Key]) -> Cost {
    sum_of_rows(problem.graph(), problem.oracle(), keys)
}

fn sum_of_rows<O: DistanceOracle>(graph: &CsrGraph, oracle: &O, keys: &[O::Key]) -> Cost {
    let row = |node: NodeId| -> Cost {
        let here = keys[node as usize];
        graph.arcs(node).map(|(target, weight)| weight * oracle.between(here, keys[target as usize])).sum()
    };
    // A row takes tens of nanoseconds.
    const ROWS: usize = 4096;
    let rows = |nodes: Range<usize>| -> Cost { nodes.map(|node| row(node as NodeId)).sum() };
    threads::map_ranges(graph.num_nodes(), ROWS, &rows).into_iter().sum()
}

/// The change of J when the processes `u` and `v` exchange their PEs; negative is better.
///
/// O(deg u + deg v) distances. Changes nothing. Also correct for adjacent `u` and `v`: the distance between
/// the two PEs does not change, but the terms of `u` over `v` and of `v` over `u` would see it drop to 0, so
/// both are left out.
#[inline]
pub fn swap_delta<O: DistanceOracle>(
    graph: &CsrGraph,
    oracle: &O,
    keys: &[O::Key],
    u: NodeId,
    v: NodeId,
) -> Cost {
    let (at_u, at_v) = (keys[u as usize], keys[v as usize]);
    let half = |moved: NodeId, partner: NodeId, from: O::Key, to: O::Key| -> Cost {
        let mut delta = 0;
        for (target, weight) in graph.arcs(moved) {
            if target != partner {
                let there = keys[target as usize];
                delta += weight * (oracle.between(to, there) - oracle.between(from, there));
            }
        }
        delta
    };
    2 * (half(u, v, at_u, at_v) + half(v, u, at_v, at_u))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::machine::Hierarchy;

    #[test]
    fn costs_beyond_32_bits_are_exact() {
        let mut builder = GraphBuilder::new(4);
        for u in 0..4 {
            builder.add_edge(u, (u + 1) % 4, 30_000_000);
        }
        let graph = builder.build().unwrap();
        let hierarchy = Hierarchy::parse("2:2", "10:100").unwrap();
        let oracle = Distances::Tree(hierarchy.online32().unwrap());
        let problem = Problem::new(&graph, &oracle).unwrap();
        assert_eq!(cost(&problem, &Mapping::identity(4)), 13_200_000_000);
    }
}
