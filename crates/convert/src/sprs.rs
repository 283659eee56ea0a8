//! Sparse matrices of `sprs`.

use sprs::{CsMatViewI, SpIndex};

use viem::CsrGraph;
use viem::base::types::{NodeId, Weight};
use viem::graph::{GraphError, check_num_nodes};

/// Builds a graph from a symmetric matrix of `sprs`, vertices of weight 1; O(n + m).
///
/// The entry in row u and column v is the weight of the edge u - v, and must be that in row v and column u. The diagonal and
/// entries of weight 0 are left out.
///
/// ```
///
/// let mut matrix = sprs::TriMat::new((3, 3));
/// for (row, column, entry) in [(0, 0, 9.0), (0, 1, -2.5), (1, 0, -2.5)] {
///     matrix.add_triplet(row, column, entry);
/// }
/// let matrix = matrix.to_csr::<usize>();
/// let graph = viem_convert::from_sprs_symmetric(matrix.view(), |entry: &f64| (10.0 * entry.abs()) as i64)?;
/// assert_eq!(graph.arcs(0).collect::<Vec<_>>(), [(1, 25)]);
/// # Ok::<(), viem::graph::GraphError>(())
/// ```
pub fn from_sprs_symmetric<N, I: SpIndex, Iptr: SpIndex>(
    matrix: CsMatViewI<'_, N, I, Iptr>,
    weight: impl Fn(&N) -> Weight,
) -> Result<CsrGraph, GraphError> {
    let num_nodes = num_rows(matrix.shape())?;
    let (mut offsets, mut targets, mut edge_weights) = (vec![0], Vec::new(), Vec::new());
    for (row, entries) in matrix.outer_iterator().enumerate() {
        let entries = entries.iter().map(|(column, entry)| (column, weight(entry)));
        for (column, weight) in entries.filter(|&(column, weight)| column != row && weight != 0) {
            targets.push(column as NodeId);
            edge_weights.push(weight);
        }
        offsets.push(targets.len());
    }
    CsrGraph::new(offsets, targets, edge_weights, vec![1; num_nodes])
}

/// Builds a graph from any square matrix of `sprs`, vertices of weight 1; O(n + m).
///
/// The weight of the edge u - v is the sum of the entries in row u and column v and in row v and column u, as it is right for what u
/// sends to v. The diagonal and entries of weight 0 are left out.
///
/// ```
///
/// let mut traffic = sprs::TriMat::new((3, 3));
/// for (from, to, messages) in [(0, 1, 5i64), (1, 0, 2), (1, 2, 4)] {
///     traffic.add_triplet(from, to, messages);
/// }
/// let traffic = traffic.to_csr::<usize>();
/// let graph = viem_convert::from_sprs_summed(traffic.view(), |&messages| messages)?;
/// assert_eq!(graph.arcs(1).collect::<Vec<_>>(), [(0, 7), (2, 4)]);
/// # Ok::<(), viem::graph::GraphError>(())
/// ```
pub fn from_sprs_summed<N, I: SpIndex, Iptr: SpIndex>(
    matrix: CsMatViewI<'_, N, I, Iptr>,
    weight: impl Fn(&N) -> Weight,
) -> Result<CsrGraph, GraphError> {
    let num_nodes = num_rows(matrix.shape())?;
    let arcs = matrix
        .iter()
        .map(|(entry, (row, column))| (row.index() as NodeId, column.index() as NodeId, weight(entry)));
    CsrGraph::from_weights_and_edges(vec![1; num_nodes], arcs)
}

/// The number of rows of a square matrix.
fn num_rows((rows, columns): (usize, usize)) -> Result<usize, GraphError> {
    if rows != columns {
        return Err(GraphError::NotSquare { rows, columns });
    }
    check_num_nodes(rows)?;
    Ok(rows)
}
