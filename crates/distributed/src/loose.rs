//! Distributed graphs as programs hand them over to other partitioners.
//!
//! *Problem.* Rows may list a vertex itself, a neighbour several times, edges of weight 0, and edges that their other end does not list, or with another
//! weight. Vertices may all weigh nothing. A partitioner that goes on with such rows must find what they mean.
//!
//! *Algorithm.* Each rank drops and merges within its rows. If some edge is not the same at both ends, all arcs are sent to the ranks of their heads, and
//! an edge weighs as much as the heavier of its directions. O(m/p log d); only of an asymmetric graph, messages for all arcs.

use viem::base::types::{NodeId, Weight};

use crate::comm::{Comm, Outbox, Ranges, greatest};
use crate::error::{DistError, agree};
use crate::graph::{DistGraph, Rows, RowsError};

/// The graph of such rows: edges from a vertex to itself and of weight 0 are left out, those that occur several times in a row are summed, and those that only
/// one end has are there for both. Weights of vertices that are all 0 count as 1. Some ranks may have no weights of edges while others have them.
///
/// ```
/// use viem_distributed::comm::Comm;
/// use viem_distributed::graph::Rows;
/// use viem_distributed::{loose, threads};
///
/// // Only vertex 0, on the first rank, lists the edge to vertex 1, and itself.
/// let neighbours = threads::run(2, |comm| {
///     let (offsets, targets) = if comm.rank() == 0 { (vec![0, 2], vec![0, 1]) } else { (vec![0, 0], vec![]) };
///     let graph = loose::graph(comm, Rows { offsets, targets, ..Rows::default() })?;
///     Ok::<_, viem_distributed::error::DistError>(graph.neighbours(0).len())
/// });
/// assert_eq!(neighbours, [Ok(1), Ok(1)]);
/// ```
pub fn graph(comm: &impl Comm, rows: Rows) -> Result<DistGraph, DistError> {
    let ranges = rows.ranges(comm)?;
    let mut rows = agree(comm, tidied(rows, &ranges))?;
    let are_weighted = greatest(comm, rows.edge_weights.is_some().into()) == 1;
    if are_weighted && rows.edge_weights.is_none() {
        rows.edge_weights = Some(vec![1; rows.targets.len()]);
    }
    let ones = i64::from(!ranges.own().is_empty());
    let heaviest =
        rows.node_weights.as_ref().map_or(ones, |weights| weights.iter().copied().max().unwrap_or(0));
    if greatest(comm, heaviest as u64) == 0 {
        rows.node_weights = None;
    }
    if !rows.is_symmetric(comm, &ranges) {
        rows = union(comm, &ranges, rows);
    }
    DistGraph::of_symmetric(comm, ranges, rows)
}

/// The rows without what means nothing, their arcs in ascending order.
fn tidied(rows: Rows, ranges: &Ranges) -> Result<Rows, RowsError> {
    rows.check_lengths(ranges)?;
    let Rows { offsets, targets, edge_weights, node_weights, num_weights } = rows;
    let (own, total) = (ranges.own(), ranges.total());
    let mut tidy = Rows { offsets: vec![0], node_weights, num_weights, ..Rows::default() };
    let (mut weights, mut row) = (Vec::new(), Vec::new());
    for (vertex, arcs) in own.zip(offsets.windows(2)) {
        row.clear();
        for arc in arcs[0]..arcs[1] {
            let (target, weight) = (targets[arc], edge_weights.as_ref().map_or(1, |weights| weights[arc]));
            if target >= total {
                return Err(RowsError::OutOfRange { vertex, target, last: total - 1 });
            }
            if weight < 0 {
                return Err(RowsError::EdgeWeight { vertex, target, weight });
            }
            if weight > 0 && target != vertex {
                row.push((target, weight));
            }
        }
        row.sort_unstable();
        for arcs in row.chunk_by(|a, b| a.0 == b.0) {
            let sum = arcs.iter().try_fold(0, |sum: Weight, &(_, weight)| sum.checked_add(weight));
            tidy.targets.push(arcs[0].0);
            weights.push(sum.ok_or(RowsError::Overflow { what: "edges" })?);
        }
        tidy.offsets.push(tidy.targets.len());
    }
    tidy.edge_weights =
        (edge_weights.is_some() || weights.iter().any(|&weight| weight != 1)).then_some(weights);
    Ok(tidy)
}

/// The rows with all arcs of the others turned round.
fn union(comm: &impl Comm, ranges: &Ranges, rows: Rows) -> Rows {
    let own = ranges.own();
    let weight = |arc: usize| rows.edge_weights.as_ref().map_or(1, |weights| weights[arc]);
    let (mut arcs, mut outbox) = (Vec::new(), Outbox::default());
    for (vertex, row) in own.clone().zip(rows.offsets.windows(2)) {
        for arc in row[0]..row[1] {
            let (target, weight) = (rows.targets[arc], weight(arc));
            arcs.push((vertex, target, weight));
            match own.contains(&target) {
                true => arcs.push((target, vertex, weight)),
                false => {
                    let both = u64::from(target) << 32 | u64::from(vertex);
                    outbox.push(ranges.owner(target), [both, weight as u64]);
                }
            }
        }
    }
    let turned = outbox.send(comm);
    let arc = |&[both, weight]: &[u64; 2]| ((both >> 32) as NodeId, both as NodeId, weight as Weight);
    arcs.extend(turned.records().map(arc));
    arcs.sort_unstable();
    let Rows { node_weights, num_weights, .. } = rows;
    let mut united = Rows { offsets: vec![0], node_weights, num_weights, ..Rows::default() };
    let mut weights = Vec::new();
    let mut rest = &arcs[..];
    for vertex in own {
        let (row, later) = rest.split_at(rest.partition_point(|arc| arc.0 == vertex));
        for both in row.chunk_by(|a, b| a.1 == b.1) {
            // In ascending order, so the last is the heavier one.
            united.targets.push(both[0].1);
            weights.push(both[both.len() - 1].2);
        }
        united.offsets.push(united.targets.len());
        rest = later;
    }
    united.edge_weights = rows.edge_weights.is_some().then_some(weights);
    united
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use viem::base::rng::Rng;

    use super::*;
    use crate::testing::rows_of;
    use crate::threads;

    /// Rows of a rank, one after the other: a neighbour and a weight.
    type Lists = Vec<Vec<(NodeId, Weight)>>;

    fn random_lists(rng: &mut Rng, n: u32, is_weighted: bool) -> Lists {
        let arc = |rng: &mut Rng| (rng.below(n), if is_weighted { rng.below(4).into() } else { 1 });
        (0..n).map(|_| (0..rng.below(5)).map(|_| arc(rng)).collect()).collect()
    }

    /// The weight of each edge by the definition.
    fn edges(lists: &Lists) -> BTreeMap<(NodeId, NodeId), Weight> {
        let mut sums = BTreeMap::new();
        for (u, list) in (0..).zip(lists) {
            for &(v, weight) in list.iter().filter(|&&(v, weight)| v != u && weight > 0) {
                *sums.entry((u, v)).or_insert(0) += weight;
            }
        }
        let heavier = |(&(u, v), &weight): (&(NodeId, NodeId), &Weight)| {
            ((u.min(v), u.max(v)), weight.max(sums.get(&(v, u)).copied().unwrap_or(0)))
        };
        sums.iter().map(heavier).collect()
    }

    #[test]
    fn rows_are_what_they_mean_on_any_number_of_ranks() {
        let mut rng = Rng::new(11);
        for round in 0..60 {
            let n = 1 + rng.below(12);
            let lists = random_lists(&mut rng, n, round % 3 > 0);
            let weights: Vec<Weight> = (0..n).map(|_| rng.below(1 + round % 2).into()).collect();
            for size in [1, 2, 5] {
                let rows = threads::run(size, |comm| {
                    let own = Ranges::equal(n, comm).own();
                    let of_rank = &lists[own.start as usize..own.end as usize];
                    let mut rows = Rows { offsets: vec![0], ..Rows::default() };
                    let mut edge_weights = Vec::new();
                    for &(target, weight) in of_rank.iter().flatten() {
                        rows.targets.push(target);
                        edge_weights.push(weight);
                    }
                    let ends = of_rank.iter().scan(0, |end, list| {
                        *end += list.len();
                        Some(*end)
                    });
                    rows.offsets.extend(ends);
                    rows.edge_weights =
                        edge_weights.iter().any(|&weight| weight != 1).then_some(edge_weights);
                    rows.node_weights = Some(weights[own.start as usize..own.end as usize].to_vec());
                    rows_of(&graph(comm, rows).expect("rows in range"))
                });
                let mut found = BTreeMap::new();
                let mut vertex = 0;
                for rows in &rows {
                    for row in rows.offsets.windows(2) {
                        for arc in row[0]..row[1] {
                            let weight = rows.edge_weights.as_ref().map_or(1, |weights| weights[arc]);
                            assert_eq!(found.insert((vertex, rows.targets[arc]), weight), None);
                        }
                        vertex += 1;
                    }
                }
                let both =
                    |(&(u, v), &weight): (&(NodeId, NodeId), &Weight)| [((u, v), weight), ((v, u), weight)];
                let expected: BTreeMap<_, _> = edges(&lists).iter().flat_map(both).collect();
                assert_eq!(found, expected, "round {round}, {size} ranks");
                let found: Vec<Weight> =
                    rows.into_iter().flat_map(|rows| rows.node_weights.unwrap()).collect();
                let are_all_zero = weights.iter().all(|&weight| weight == 0);
                assert_eq!(found, if are_all_zero { vec![1; n as usize] } else { weights.clone() });
            }
        }
    }

    #[test]
    fn a_fault_of_one_rank_is_that_of_all() {
        let of = |target: NodeId, weight: Weight| {
            threads::run(3, move |comm| {
                let is_last = comm.rank() == 2;
                let (target, weight) = if is_last { (target, weight) } else { (0, 1) };
                let edge_weights = Some(vec![weight]);
                let rows =
                    Rows { offsets: vec![0, 1], targets: vec![target], edge_weights, ..Rows::default() };
                graph(comm, rows).map(|_| ()).map_err(|error| (error.rank, error.message))
            })
        };
        let out_of_range = "vertex 2 lists 3; the vertices are counted from 0 to 2".to_owned();
        assert_eq!(of(3, 1), vec![Err((2, out_of_range)); 3]);
        assert!(
            of(0, -1).iter().all(|result| result.as_ref().is_err_and(|error| error.1.contains("weighs -1")))
        );
        assert!(
            of(1, Weight::MAX)
                .iter()
                .all(|result| result.as_ref().is_err_and(|error| error.1.contains("sum")))
        );
    }
}
