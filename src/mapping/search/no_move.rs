//! Processes without an improving move.
//!
//! A process has no improving move if it costs no less on any other PE, given the positions of its
//! neighbours. An exchange of two such processes cannot gain. After a good construction, this applies to
//! almost all processes, and checking it is much cheaper than trying their partners.
//!
//! # Check
//!
//! Suppose that the distances are an ultrametric: d(p, q) <= max(d(p, r), d(r, q)) for all PEs, as in a
//! hierarchy whose distances grow outwards. Let u be exchanged with a process v on PE q, outside the
//! innermost group of u, and let x be the neighbour of u nearest to q. Then every other neighbour y is at
//! least as far from q as from x, because d(x, y) <= max(d(x, q), d(q, y)) = d(q, y).
//!
//! - If v is x itself, the cost of u becomes Σ w(u, y) d(x, y) + w(u, x) d(u, x).
//! - If v is another process, u is no nearer to any y than the smallest distance of two PEs, and its cost is
//!   at least Σ w(u, y) max(d(x, y), smallest). If the innermost group of x is full of neighbours of u, then
//!   q is outside it, and the smallest distance between two groups replaces the smallest distance.
//!
//! A process has no improving move if no neighbour x makes one of these sums less than its present cost.
//! (Neighbours in its own innermost group are skipped, since all PEs of the group are equivalent.) O(deg²)
//! distances, whatever the size of the machine.

use crate::base::observer::Observer;
use crate::base::threads;
use crate::base::types::{Cost, NodeId};
use crate::machine::{DistanceOracle, Ultrametric};
use crate::mapping::problem::Problem;

/// Processes with more neighbours are not checked: quadratic time would exceed that of a visit.
const MAX_DEGREE: usize = 64;

/// For each process, whether it is known to have no improving move. `keys` are the positions of the
/// processes.
///
/// Nothing is known if the distances are not an ultrametric, nor for processes that remain when the observer
/// asks to stop. Runs on the threads of the current rayon pool.
pub(super) fn without_move<O: DistanceOracle>(
    problem: &Problem<'_, O>,
    keys: &[O::Key],
    observer: &dyn Observer,
) -> Vec<bool> {
    let Some(machine) = problem.oracle().ultrametric() else {
        return vec![false; problem.size()];
    };
    // A process takes tenths of a microsecond.
    const GRAIN_SIZE: usize = 1024;
    threads::map(problem.size(), GRAIN_SIZE, &|process| {
        !observer.should_stop() && has_no_move(problem, keys, &machine, process as NodeId)
    })
}

fn has_no_move<O: DistanceOracle>(
    problem: &Problem<'_, O>,
    keys: &[O::Key],
    machine: &Ultrametric,
    u: NodeId,
) -> bool {
    let (graph, oracle) = (problem.graph(), problem.oracle());
    // The cost of u at a place if none of its neighbours were nearer than `least`.
    let pays_at = |place: O::Key, least: Cost| -> Cost {
        let terms = graph.arcs(u);
        terms.map(|(y, weight)| weight * oracle.between(place, keys[y as usize]).max(least)).sum()
    };
    let at_u = keys[u as usize];
    let pays = pays_at(at_u, 0);
    let loses_near = |(x, weight)| {
        let at_x: O::Key = keys[x as usize];
        let is_in_group = |y: &&NodeId| oracle.interchangeable(at_x, keys[**y as usize]);
        let is_full = || graph.neighbours(u).iter().filter(is_in_group).count() == machine.group_size;
        let loses_to_x = || pays_at(at_x, 0) + weight * oracle.between(at_u, at_x) >= pays;
        let loses_to_others =
            || pays_at(at_x, machine.inside) >= pays || (is_full() && pays_at(at_x, machine.outside) >= pays);
        oracle.interchangeable(at_u, at_x) || (loses_to_others() && loses_to_x())
    };
    graph.degree(u) <= MAX_DEGREE && graph.arcs(u).all(loses_near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::base::types::PeId;
    use crate::graph::generate;
    use crate::machine::Hierarchy;
    use crate::mapping::Mapping;
    use crate::mapping::objective::{keys, swap_delta};

    #[test]
    fn processes_without_a_move_gain_by_no_exchange() {
        let mut rng = Rng::new(5);
        let shapes = [("4:4:6", "1:10:100"), ("2:3:4:4", "1:1:5:7"), ("3:1:32", "0:3:3"), ("96", "5")];
        for (arities, distances) in shapes {
            let hierarchy = Hierarchy::parse(arities, distances).unwrap();
            let oracle = hierarchy.online32().unwrap();
            let n = hierarchy.num_pes();
            let graph = generate::mesh(12, 8, 3);
            let problem = Problem::new(&graph, &oracle).unwrap();
            let mut pe_of: Vec<PeId> = (0..n as PeId).collect();
            let mut found = 0;
            for _ in 0..10 {
                let keys = keys(&oracle, &Mapping::from_pes(pe_of.clone()).unwrap());
                let without_move = without_move(&problem, &keys, &());
                found += without_move.iter().filter(|&&has_none| has_none).count();
                for u in graph.nodes().filter(|&u| without_move[u as usize]) {
                    for v in (0..u).filter(|&v| without_move[v as usize]) {
                        assert!(swap_delta(&graph, &oracle, &keys, u, v) >= 0, "{arities} {u} {v}");
                    }
                }
                // More disorder each time.
                for _ in 0..4 {
                    pe_of.swap(rng.below(n as u32) as usize, rng.below(n as u32) as usize);
                }
            }
            assert!(found > 0, "{arities}");
        }
    }

    #[test]
    fn nothing_is_known_where_distances_fall() {
        let hierarchy = Hierarchy::parse("3:4:8", "2:1:3").unwrap();
        let oracle = hierarchy.online32().unwrap();
        let graph = generate::grid(12, 8);
        let problem = Problem::new(&graph, &oracle).unwrap();
        let without_move = without_move(&problem, &keys(&oracle, &Mapping::identity(96)), &());
        assert!(without_move.iter().all(|has_none| !has_none));
    }
}
