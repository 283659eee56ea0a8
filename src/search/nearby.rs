//! Exchanges on machines that are no trees: pairs of which one side is better off by itself.
//!
//! An exchange of u on p and v on q gains only if u pays less on q or v pays less on p. If no way is shorter with a
//! stop, and u has weight W on its edges and pays c, it pays W d(p, q) - c at least on q; so only PEs nearer than
//! 2 c / W come into question, and after a good construction they are few ([`Balls`]). A visit of u finds the PEs on which
//! it pays less and tries the exchanges with the processes there; those that v gains by are found by the visit of v.
//! A process that pays no less anywhere needs no visit until it is touched.
//!
//! A visit costs O(deg) distances for each PE that is near enough. Memory: that of the balls.

use super::swap::{SwapSearch, Time};
use crate::rng::{Rng, derive};
use crate::topology::{Balls, DistanceOracle};
use crate::types::{Cost, Distance, NodeId};

/// Which processes may be exchanged; told for pairs whose exchange would gain.
pub(super) type MayExchange<'a> = &'a mut dyn FnMut(NodeId, NodeId) -> bool;

/// Whether [`descend`] works on the machine of the search.
pub(super) fn is_applicable<O: DistanceOracle>(search: &SwapSearch<'_, O>) -> bool {
    let problem = search.problem();
    let oracle = problem.oracle();
    oracle.ultrametric().is_none() && oracle.has_triangle_inequality() && problem.parts().is_some()
}

/// Exchanges processes until no pair that may be exchanged gains.
pub(super) fn descend<O: DistanceOracle>(
    search: &mut SwapSearch<'_, O>,
    may_exchange: MayExchange<'_>,
    seed: u64,
) {
    let problem = search.problem();
    let n = problem.size() as NodeId;
    let key_of: Vec<O::Key> = (0..n).map(|pe| problem.oracle().key(pe)).collect();
    let balls = Balls::new(problem.oracle(), &key_of, problem.parts().expect("the parts are known"));
    let mut order: Vec<NodeId> = (0..n).collect();
    Rng::new(derive(seed, 0)).shuffle(&mut order);
    let mut visited: Vec<Time> = vec![0; n as usize];
    // Processes that pay less elsewhere are visited in each round: another process may have come to where they would go.
    let mut wants_to_move = vec![true; n as usize];
    loop {
        let round = search.now();
        for &u in &order {
            if !wants_to_move[u as usize] && search.touched(u) <= visited[u as usize] {
                continue;
            }
            if search.should_stop() {
                return;
            }
            visited[u as usize] = search.now();
            let partners = better_off_with(search, &balls, u);
            wants_to_move[u as usize] = !partners.is_empty();
            let improving =
                partners.into_iter().map(|v| (search.delta(u, v), v)).filter(|&(delta, _)| delta < 0);
            let mut improving: Vec<(Cost, NodeId)> = improving.collect();
            improving.sort_unstable();
            if let Some((delta, v)) = improving.into_iter().find(|&(_, v)| may_exchange(u, v)) {
                search.swap(u, v, delta);
            }
        }
        if search.now() == round {
            return;
        }
    }
}

/// The processes on the PEs on which `u` pays less. A neighbour of `u` there would come to where `u` is.
fn better_off_with<O: DistanceOracle>(
    search: &mut SwapSearch<'_, O>,
    balls: &Balls<'_, O::Key>,
    u: NodeId,
) -> Vec<NodeId> {
    let (graph, oracle) = (search.problem().graph(), search.problem().oracle());
    let keys = search.keys();
    let here = keys[u as usize];
    let (mut pays, mut weight) = (0, 0);
    for (x, w) in graph.arcs(u) {
        pays += w * oracle.between(here, keys[x as usize]);
        weight += w;
    }
    let mut partners = Vec::new();
    if pays == 0 {
        return partners;
    }
    // What a process pays is part of half of J, which fits.
    let bound: Distance = (2 * pays - 1) / weight;
    let mut looked_at = 0;
    balls.visit(oracle, here, bound, |q, distance| {
        let v = search.process_on()[q as usize];
        let there = oracle.key(q);
        let mut would_pay = 0;
        for (x, w) in graph.arcs(u) {
            would_pay += w * if x == v { distance } else { oracle.between(there, keys[x as usize]) };
            if would_pay >= pays {
                break;
            }
        }
        looked_at += graph.degree(u);
        if would_pay < pays {
            partners.push(v);
        }
        bound
    });
    search.stops_after(looked_at);
    partners
}
