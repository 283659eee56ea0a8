//! Exchanges on machines that are no trees: pairs of which one side is better off by itself.
//!
//! An exchange of u on p and v on q gains only if u pays less on q or v pays less on p. If no way is shorter with a
//! stop, and u has weight W on its edges and pays c, it pays W d(p, q) - c at least on q; so only PEs nearer than
//! 2 c / W come into question, and after a good construction they are few ([`Vicinity`]). A visit of u finds the PEs on which
//! it pays less and tries the exchanges with the processes there; those that v gains by are found by the visit of v.
//! A process that pays no less anywhere needs no visit until it is touched.
//!
//! A visit costs O(deg) distances for each PE that is near enough. Memory: O(n).

use super::swap::{SwapSearch, Time};
use crate::rng::{Rng, derive};
use crate::topology::{DistanceOracle, Vicinity};
use crate::types::{Cost, Distance, NodeId, PeId};

/// Which processes may be exchanged; told for pairs whose exchange would gain.
pub(super) type MayExchange<'a> = &'a mut dyn FnMut(NodeId, NodeId) -> bool;

/// Whether [`descend`] works on the machine of the search.
pub(super) fn is_applicable<O: DistanceOracle>(search: &SwapSearch<'_, O>) -> bool {
    let problem = search.problem();
    let oracle = problem.oracle();
    oracle.ultrametric().is_none() && oracle.has_triangle_inequality()
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
    let vicinity = Vicinity::new(problem.oracle(), &key_of, problem.parts());
    let mut order: Vec<NodeId> = (0..n).collect();
    Rng::new(derive(seed, 0)).shuffle(&mut order);
    let mut visited: Vec<Time> = vec![0; n as usize];
    // Where each process pays less, as of its last visit.
    let mut wishes: Vec<Vec<PeId>> = vec![Vec::new(); n as usize];
    loop {
        let round = search.now();
        for &u in &order {
            let last_visit = visited[u as usize];
            let is_touched = search.touched(u) > last_visit;
            if !is_touched && wishes[u as usize].is_empty() {
                continue;
            }
            if search.should_stop() {
                return;
            }
            visited[u as usize] = search.now();
            if is_touched {
                wishes[u as usize] = better_pes(search, &vicinity, u);
            }
            // An exchange that failed is not tried again before one of both sides has changed.
            let partners = wishes[u as usize].iter().map(|&pe| search.process_on()[pe as usize]);
            let partners: Vec<NodeId> =
                partners.filter(|&v| is_touched || search.touched(v) > last_visit).collect();
            let deltas = partners.into_iter().map(|v| (search.delta(u, v), v));
            let mut improving: Vec<(Cost, NodeId)> = deltas.filter(|&(delta, _)| delta < 0).collect();
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

/// The PEs on which `u` pays less. A neighbour of `u` there would come to where `u` is.
fn better_pes<O: DistanceOracle>(
    search: &mut SwapSearch<'_, O>,
    vicinity: &Vicinity<'_, O>,
    u: NodeId,
) -> Vec<PeId> {
    let (graph, oracle) = (search.problem().graph(), search.problem().oracle());
    let keys = search.keys();
    let here = keys[u as usize];
    let (mut pays, mut weight) = (0, 0);
    for (x, w) in graph.arcs(u) {
        pays += w * oracle.between(here, keys[x as usize]);
        weight += w;
    }
    let mut better = Vec::new();
    if pays == 0 {
        return better;
    }
    // What a process pays is part of half of J, which fits.
    let bound: Distance = (2 * pays - 1) / weight;
    let mut looked_at = 0;
    vicinity.visit(search.pe_of()[u as usize], bound, |q, distance| {
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
            better.push(q);
        }
        bound
    });
    search.stops_after(looked_at);
    better
}
