//! Partitions and the models derived from them.

use std::collections::BTreeMap;

use crate::error::AuditError;
use crate::text::{Row, read, read_rows};

/// The cut and the block weights of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionAudit {
    /// The weight of the edges between blocks, each counted once.
    pub cut: u128,
    /// The total weight of the vertices of each block.
    pub loads: Vec<u128>,
}

/// Cut and loads of the partition `blocks` (line i: block of vertex i) of the graph `graph`. Fails unless the
/// graph `model` is the quotient graph of the blocks: one vertex of weight 1 per block, and between two
/// blocks an edge with the total weight of all edges between their vertices.
///
/// ```
/// use viem_verify::audit_partition;
///
/// let path = "4 3 11\n5 2 7\n6 1 7 3 1\n7 2 1 4 2\n8 3 2\n";
/// let audit = audit_partition(path, "0\n0\n1\n0\n", "2 1 11\n1 2 3\n1 1 3\n")?;
/// assert_eq!((audit.cut, audit.loads), (1 + 2, vec![5 + 6 + 8, 7]));
/// assert!(audit_partition(path, "0\n0\n1\n0\n", "2 1 11\n1 2 4\n1 1 4\n").is_err());
/// # Ok::<(), viem_verify::AuditError>(())
/// ```
pub fn audit_partition(graph: &str, blocks: &str, model: &str) -> Result<PartitionAudit, AuditError> {
    let (block_of, rows) = read(graph, blocks)?;
    let quotient = read_rows(model, |_| Ok(()))?;
    if let Some(vertex) = block_of.iter().position(|&block| block >= quotient.len() as u64) {
        return Err(AuditError::Mapping { line: vertex + 1 });
    }
    let mut loads = vec![0u128; quotient.len()];
    let mut between: Vec<BTreeMap<usize, u128>> = vec![BTreeMap::new(); quotient.len()];
    for (row, &block) in rows.iter().zip(&block_of) {
        let own = block as usize;
        loads[own] += u128::from(row.weight);
        for &(other, weight) in &row.arcs {
            let other = block_of[other] as usize;
            if other != own {
                *between[own].entry(other).or_default() += u128::from(weight);
            }
        }
    }
    for (block, (row, sums)) in quotient.iter().zip(&between).enumerate() {
        check_block(row, sums).map_err(|reason| AuditError::Model { block, reason })?;
    }
    let twice: u128 = between.iter().flat_map(BTreeMap::values).sum();
    Ok(PartitionAudit { cut: twice / 2, loads })
}

/// The loads of `count` blocks by all weights of the vertices of a graph: those of each block.
///
/// ```
/// use viem_verify::audit_loads;
///
/// let path = "3 2 010 2\n5 1 2\n6 0 1 3\n7 2 2\n";
/// assert_eq!(audit_loads(path, "0\n1\n0\n", 2)?, [[12, 3], [6, 0]]);
/// # Ok::<(), viem_verify::AuditError>(())
/// ```
pub fn audit_loads(graph: &str, blocks: &str, count: usize) -> Result<Vec<Vec<u128>>, AuditError> {
    let (block_of, rows) = read(graph, blocks)?;
    let weights = rows.iter().map(|row| 1 + row.further.len()).max().unwrap_or(1);
    let mut loads = vec![vec![0u128; weights]; count];
    for (vertex, (row, &block)) in rows.iter().zip(&block_of).enumerate() {
        let own = usize::try_from(block).ok().and_then(|block| loads.get_mut(block));
        let own = own.ok_or(AuditError::Mapping { line: vertex + 1 })?;
        let weights = std::iter::once(&row.weight).chain(&row.further);
        own.iter_mut().zip(weights).for_each(|(load, &weight)| *load += u128::from(weight));
    }
    Ok(loads)
}

/// Checks that a vertex of a model has weight 1 and these edges.
fn check_block(row: &Row, sums: &BTreeMap<usize, u128>) -> Result<(), &'static str> {
    if row.weight != 1 {
        return Err("its weight is not 1");
    }
    let mut arcs: Vec<(usize, u128)> =
        row.arcs.iter().map(|&(other, weight)| (other, u128::from(weight))).collect();
    arcs.sort_unstable();
    if !arcs.into_iter().eq(sums.iter().map(|(&other, &sum)| (other, sum))) {
        return Err("its edges are not those between the blocks");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles with an edge of weight 9 between them.
    const GRAPH: &str = "6 7 1\n2 1 3 1\n1 1 3 1\n1 1 2 1 4 9\n3 9 5 1 6 1\n4 1 6 1\n4 1 5 1\n";

    #[test]
    fn every_wrong_model_is_rejected() {
        let blocks = "0\n0\n1\n2\n2\n2\n";
        let audit = audit_partition(GRAPH, blocks, "3 2 11\n1 2 2\n1 1 2 3 9\n1 2 9\n").unwrap();
        assert_eq!((audit.cut, audit.loads), (11, vec![2, 1, 3]));
        for (model, block) in [
            ("3 2 11\n1 2 2\n1 1 2 3 8\n1 2 8\n", 1),
            ("3 2 11\n1 2 2\n1 1 2 3 9\n1\n", 2),
            ("3 3 11\n1 2 2 3 1\n1 1 2 3 9\n1 1 1 2 9\n", 0),
            ("3 2 11\n2 2 2\n1 1 2 3 9\n1 2 9\n", 0),
            ("3 2 11\n1 2 1 2 1\n1 1 2 3 9\n1 2 9\n", 0),
        ] {
            let found = audit_partition(GRAPH, blocks, model);
            assert!(matches!(found, Err(AuditError::Model { block: at, .. }) if at == block), "{model}");
        }
        let few = audit_partition(GRAPH, blocks, "2 1 11\n1 2 2\n1 1 2\n");
        assert_eq!(few, Err(AuditError::Mapping { line: 4 }));
        let short = audit_partition(GRAPH, "0\n0\n", "1 0 11\n1\n");
        assert_eq!(short, Err(AuditError::Sizes { lines: 2, processes: 6 }));
    }
}
