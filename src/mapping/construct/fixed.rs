//! Fixed processes of a first mapping: where the other processes go.
//!
//! Fixed processes that are elsewhere are exchanged with those on their places. The free processes that this
//! displaces are then assigned to the vacated places, at the least sum of what each pays for its edges to
//! processes that were not displaced. That is a linear assignment problem; if many processes are displaced,
//! they take the vacated places one after the other, those that communicate most first.
//!
//! Takes O(n) besides the assignment of d displaced processes, O(d³) or O(d²) distances per neighbour.

use std::cmp::Reverse;

use crate::base::linear_assignment::cheapest_assignment;
use crate::base::types::{Cost, NodeId, PeId};
use crate::machine::Metric as _;
use crate::mapping::problem::Problem;
use crate::mapping::{Mapping, process_on_each};
use crate::partition::FixedVertices;

/// Most displaced processes that are assigned exactly. Balances the loss by the repair against time: 256 take
/// some milliseconds.
const MOST_ASSIGNED: usize = 256;

/// Most displaced processes that are assigned one by one; more stay where the exchanges put them, and are left
/// to the search.
const MOST_PLACED: usize = 4096;

/// The identity among the mappings that respect fixed processes: these are on their places, and the others in
/// order on the remaining places. `places` holds all places in the order of the identity.
pub(crate) fn identity_around(fixed: Option<&FixedVertices>, places: Vec<PeId>) -> Mapping {
    let Some(fixed) = fixed else { return Mapping::from_permutation(places) };
    let mut is_taken = vec![false; places.len()];
    fixed.iter().for_each(|(_, place)| is_taken[place as usize] = true);
    let mut left = places.iter().copied().filter(|&place| !is_taken[place as usize]);
    let place = |process| fixed.of(process).or_else(|| left.next()).expect("as many processes as places");
    Mapping::from_permutation((0..places.len() as NodeId).map(place).collect())
}

/// A mapping with the fixed processes of the problem on their places.
pub(crate) fn repaired(problem: &Problem<'_>, mapping: Mapping) -> Mapping {
    let Some(fixed) = problem.fixed().filter(|fixed| fixed.violated_by(mapping.pes()).is_some()) else {
        return mapping;
    };
    let before = mapping.into_pes();
    let mut place_of = before.clone();
    let mut process_on = process_on_each(&place_of);
    for (process, place) in fixed.iter() {
        let (from, occupant) = (place_of[process as usize], process_on[place as usize]);
        (place_of[process as usize], place_of[occupant as usize]) = (place, from);
        (process_on[place as usize], process_on[from as usize]) = (process, occupant);
    }
    let is_displaced = |&process: &NodeId| {
        place_of[process as usize] != before[process as usize] && !problem.is_fixed(process)
    };
    let displaced: Vec<NodeId> = problem.graph().nodes().filter(is_displaced).collect();
    assign(problem, &displaced, &mut place_of);
    Mapping::from_permutation(place_of)
}

/// Assigns some processes to the places that they have together.
fn assign(problem: &Problem<'_>, displaced: &[NodeId], place_of: &mut [PeId]) {
    let count = displaced.len();
    let mut places: Vec<PeId> = displaced.iter().map(|&process| place_of[process as usize]).collect();
    let mut stays = vec![true; place_of.len()];
    displaced.iter().for_each(|&process| stays[process as usize] = false);
    let cost = |process: NodeId, place: PeId| -> Cost {
        let arcs = problem.graph().arcs(process).filter(|&(other, _)| stays[other as usize]);
        arcs.map(|(other, weight)| weight * problem.oracle().between(place, place_of[other as usize])).sum()
    };
    let chosen: Vec<(NodeId, PeId)> = if count <= MOST_ASSIGNED {
        let table: Vec<Cost> = displaced
            .iter()
            .flat_map(|&process| places.iter().map(move |&place| (process, place)))
            .map(|(process, place)| cost(process, place))
            .collect();
        let (column_of, _) = cheapest_assignment(count, |row, column| table[row * count + column]);
        displaced.iter().zip(column_of).map(|(&process, column)| (process, places[column])).collect()
    } else if count <= MOST_PLACED {
        let mut order = displaced.to_vec();
        order.sort_by_key(|&process| Reverse(problem.graph().weighted_degree(process)));
        let mut take = |process| {
            let cheapest =
                (0..places.len()).min_by_key(|&index| (cost(process, places[index]), places[index]));
            places.swap_remove(cheapest.expect("as many places as processes"))
        };
        order.into_iter().map(|process| (process, take(process))).collect()
    } else {
        return;
    };
    for (process, place) in chosen {
        place_of[process as usize] = place;
    }
}
