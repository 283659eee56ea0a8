//! The objective J: from scratch, and how much an exchange of two processes changes it.
//!
//! `J(C, D, Pi) = sum over ordered pairs (u, v) of C[u][v] · D[Pi(u)][Pi(v)]` (Schulz and Träff, "Better
//! process mapping and sparse quadratic assignment", 2017). Each edge counts twice.

use rayon::prelude::*;

use crate::graph::CsrGraph;
use crate::mapping::Mapping;
use crate::problem::Problem;
use crate::topology::DistanceOracle;
use crate::types::{Cost, NodeId};

/// The keys of the PEs of all processes, by process: what [`swap_delta`] reads.
pub fn keys<O: DistanceOracle>(oracle: &O, mapping: &Mapping) -> Vec<O::Key> {
    mapping.as_slice().iter().map(|&pe| oracle.key(pe)).collect()
}

/// J of a mapping; O(n + m). The mapping must be as large as the problem.
pub fn cost<O: DistanceOracle>(problem: &Problem<'_, O>, mapping: &Mapping) -> Cost {
    cost_of_keys(problem, &keys(problem.oracle(), mapping))
}

/// J of the mapping whose PEs have these keys; O(m). Runs on the threads of the rayon pool it is called in.
pub fn cost_of_keys<O: DistanceOracle>(problem: &Problem<'_, O>, keys: &[O::Key]) -> Cost {
    let (graph, oracle) = (problem.graph(), problem.oracle());
    let row = |node: NodeId| -> Cost {
        let here = keys[node as usize];
        graph.arcs(node).map(|(target, weight)| weight * oracle.between(here, keys[target as usize])).sum()
    };
    // A row takes some tens of nanoseconds.
    const PIECE: usize = 4096;
    (0..graph.num_nodes() as NodeId).into_par_iter().with_min_len(PIECE).map(row).sum()
}

/// How much J changes when the processes `u` and `v` exchange their PEs; negative is better.
///
/// O(deg u + deg v) distances, changes nothing, right for adjacent `u` and `v` too: the distance between
/// the two PEs does not change, and a term of `u` over `v` sees the distance fall to 0 where it should
/// stay, as does that of `v` over `u`, so each is left out.
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
    use crate::rng::Rng;
    use crate::topology::Hierarchy;
    use crate::types::PeId;

    fn naive(graph: &CsrGraph, hierarchy: &Hierarchy, pe_of: &[PeId]) -> i128 {
        let mut sum = 0i128;
        for u in graph.nodes() {
            for (v, weight) in graph.arcs(u) {
                let level = hierarchy.level(pe_of[u as usize], pe_of[v as usize]).unwrap();
                sum += i128::from(weight) * i128::from(hierarchy.distances()[level]);
            }
        }
        sum
    }

    #[test]
    fn the_issue_of_32_bits() {
        let mut builder = GraphBuilder::new(4);
        for u in 0..4 {
            builder.add_edge(u, (u + 1) % 4, 30_000_000);
        }
        let graph = builder.build().unwrap();
        let hierarchy = Hierarchy::parse("2:2", "10:100").unwrap();
        let oracle = hierarchy.online32().unwrap();
        let problem = Problem::new(&graph, &oracle).unwrap();
        assert_eq!(cost(&problem, &Mapping::identity(4)), 13_200_000_000);
    }

    #[test]
    fn delta_agrees_with_recomputation_for_every_swap() {
        let mut rng = Rng::new(11);
        let shapes =
            [("2:3:2", "1:10:100"), ("12", "5"), ("1:3:1:4", "9:3:7:1"), ("2:2:3:1:1:1", "0:1:2:3:4:5")];
        for (arities, distances) in shapes {
            let hierarchy = Hierarchy::parse(arities, distances).unwrap();
            let oracle = hierarchy.online32().unwrap();
            let n = hierarchy.num_pes();
            for edges in [0, 5, 20, 60] {
                let mut builder = GraphBuilder::new(n);
                for u in 0..n as u32 {
                    for v in 0..u {
                        if rng.below(66) < edges {
                            builder.add_edge(u, v, i64::from(rng.below(1000)) + 1);
                        }
                    }
                }
                let graph = builder.build().unwrap();
                let problem = Problem::new(&graph, &oracle).unwrap();
                let mut pe_of: Vec<PeId> = (0..n as PeId).collect();
                rng.shuffle(&mut pe_of);
                let before = cost(&problem, &Mapping::new(pe_of.clone()).unwrap());
                assert_eq!(i128::from(before), naive(&graph, &hierarchy, &pe_of));
                let keys: Vec<_> = pe_of.iter().map(|&pe| oracle.key(pe)).collect();
                for u in 0..n {
                    for v in 0..u {
                        let mut swapped = pe_of.clone();
                        swapped.swap(u, v);
                        let delta = swap_delta(&graph, &oracle, &keys, u as u32, v as u32);
                        assert_eq!(
                            i128::from(before + delta),
                            naive(&graph, &hierarchy, &swapped),
                            "{arities} {u} {v}"
                        );
                    }
                }
            }
        }
    }
}
