//! Graphs and mappings as texts.

use crate::error::AuditError;
use crate::number::number;

/// A vertex of a graph: its first weight, and its neighbours, numbered from 0, with the weights of the edges.
pub(crate) struct Row {
    pub(crate) weight: u64,
    /// The weights behind the first.
    pub(crate) further: Vec<u64>,
    pub(crate) arcs: Vec<(usize, u64)>,
}

/// The PEs of a mapping, and the graph with the same number of vertices.
pub(crate) fn read(graph: &str, mapping: &str) -> Result<(Vec<u64>, Vec<Row>), AuditError> {
    let pe_of = read_mapping(mapping)?;
    let rows = read_rows(graph, |processes| {
        let lines = pe_of.len();
        if lines == processes { Ok(()) } else { Err(AuditError::Sizes { lines, processes }) }
    })?;
    Ok((pe_of, rows))
}

/// The vertices of a graph. Their number is checked before anything of that size is allocated; vertices
/// without a line have no neighbours.
pub(crate) fn read_rows(
    text: &str,
    check_size: impl Fn(usize) -> Result<(), AuditError>,
) -> Result<Vec<Row>, AuditError> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('%'));
    let fault = |line: usize, reason| AuditError::Graph { line: line + 1, reason };
    let (at, header) = lines.next().ok_or(fault(0, "no header"))?;
    let header: Vec<&str> = header.split_whitespace().collect();
    let count: usize =
        header.first().and_then(|field| number(field)).ok_or(fault(at, "no number of vertices"))? as usize;
    check_size(count)?;
    let format: u64 = header.get(2).map_or(Some(0), |field| number(field)).ok_or(fault(at, "bad format"))?;
    let constraints: usize =
        header.get(3).map_or(Some(1), |field| number(field)).ok_or(fault(at, "bad number of weights"))?
            as usize;
    let (has_sizes, has_node_weights, has_edge_weights) =
        (format / 100 % 10 == 1, format / 10 % 10 == 1, format % 10 == 1);
    let sizes = usize::from(has_sizes);
    let skipped = sizes + if has_node_weights { constraints.max(1) } else { 0 };
    let mut rows = Vec::new();
    for _ in 0..count {
        let (at, line) = lines.next().unwrap_or_default();
        let numbers: Vec<u64> = line
            .split_whitespace()
            .map(|field| number(field).ok_or(fault(at, "not a number")))
            .collect::<Result<_, _>>()?;
        let step = if has_edge_weights { 2 } else { 1 };
        let weight = if has_node_weights { numbers.get(sizes).copied().unwrap_or(0) } else { 1 };
        let further = match has_node_weights {
            true => numbers.get(sizes + 1..skipped.max(sizes + 1)).unwrap_or_default().to_vec(),
            false => Vec::new(),
        };
        let mut arcs = Vec::new();
        for arc in numbers.get(skipped..).unwrap_or_default().chunks(step) {
            let weight = if has_edge_weights { *arc.get(1).ok_or(fault(at, "no weight"))? } else { 1 };
            if arc[0] == 0 || arc[0] > count as u64 {
                return Err(fault(at, "no such neighbour"));
            }
            arcs.push((arc[0] as usize - 1, weight));
        }
        rows.push(Row { weight, further, arcs });
    }
    Ok(rows)
}

pub(crate) fn read_mapping(text: &str) -> Result<Vec<u64>, AuditError> {
    let lines = text.lines().enumerate();
    lines.map(|(index, line)| number(line.trim()).ok_or(AuditError::Mapping { line: index + 1 })).collect()
}
