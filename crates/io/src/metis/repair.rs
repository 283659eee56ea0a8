//! Repairs graph files where that needs no guess.
//!
//! Self-loops are dropped. Parallel entries of a line become one, which weighs as much as they do together
//! (in a file without edge weights it is just listed once). Then each edge gets the larger of the weights
//! that its two ends state; an end that does not list the edge states 0, so backward entries that are
//! missing are added with the weight of the forward ones. Edges that weigh nothing at either end are dropped. The header gets the
//! number of edges that results.
//! Everything else stays: the order of the vertices, their sizes and all their weights. Comments are lost.
//!
//! O(n + m log d) for lines of up to d neighbours; memory three times that of the arcs.

use std::fmt;
use std::io::{self, Write};

use super::fault::{FaultKind, Faults};
use super::header::Header;
use super::parse::{self, Keep, Rows};
use super::write::write_rows;
use crate::metis::{CheckReport, parse_source};
use crate::{ReadError, Source};
use viem::base::error::{ErrorKind, HasKind};
use viem::base::memory::{self, OutOfMemory};
use viem::base::types::{NodeId, Weight};

/// A checked file, and its repaired content if there is a safe way to repair it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Repair {
    /// The faults of the file.
    pub report: CheckReport,
    /// The repaired graph, or why there is none.
    pub result: Result<RepairedGraph, RepairError>,
}

/// The reason why a file cannot be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum RepairError {
    #[error("{count} of the faults can only be repaired by hand, as it is not clear what was meant")]
    Unclear { count: u64 },
    #[error("the edge weights sum to more than {} when parallel edges are merged", Weight::MAX)]
    Overflow,
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl HasKind for RepairError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unclear { .. } | Self::Overflow => ErrorKind::BadData,
            Self::OutOfMemory(error) => error.kind(),
        }
    }
}

/// A graph that was repaired.
#[derive(Clone, Debug)]
pub struct RepairedGraph {
    header: Header,
    offsets: Vec<usize>,
    targets: Vec<NodeId>,
    weights: Vec<Weight>,
    node_values: Vec<Weight>,
    changes: Changes,
}

/// The repairs; each number counts one kind of change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// Entries that were the vertex itself, dropped.
    pub self_loops: u64,
    /// Entries that repeated a neighbour, merged into the first one.
    pub parallel_arcs: u64,
    /// Entries added to the other end of an edge.
    pub backward_arcs: u64,
    /// Edges whose two ends stated different weights and now state the larger one.
    pub unequal_weights: u64,
    /// Edges of weight zero, dropped.
    pub weightless_edges: u64,
    /// True if the vertices were counted from 0.
    pub counted_from_zero: bool,
    /// The number of edges that the header declared, if it was not that of the repaired graph.
    pub declared_edges: Option<u64>,
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.self_loops, "edge of a vertex to itself dropped", "edges of a vertex to itself dropped"),
            (self.parallel_arcs, "repeated neighbour merged", "repeated neighbours merged"),
            (self.backward_arcs, "missing backward edge added", "missing backward edges added"),
            (
                self.unequal_weights,
                "edge of two weights given the larger one",
                "edges of two weights given the larger one",
            ),
            (self.weightless_edges, "edge of weight zero dropped", "edges of weight zero dropped"),
        ];
        let mut separator = "";
        if self.counted_from_zero {
            f.write_str("vertices counted from 1 instead of 0")?;
            separator = ", ";
        }
        for (count, one, many) in counts.into_iter().filter(|&(count, ..)| count > 0) {
            write!(f, "{separator}{count} {}", if count == 1 { one } else { many })?;
            separator = ", ";
        }
        if let Some(declared) = self.declared_edges {
            write!(f, "{separator}number of edges in the header corrected from {declared}")?;
            separator = ", ";
        }
        if separator.is_empty() { f.write_str("nothing to repair") } else { Ok(()) }
    }
}

/// Checks a file as [`check`](super::check) does, and repairs it if all its faults can be repaired safely.
pub fn repair(source: Source<'_>, max_faults: usize) -> Result<Repair, ReadError> {
    let mut faults = Faults::all(max_faults);
    let mut counts_from_zero = false;
    let first = |start: &[u8], is_whole| {
        counts_from_zero = parse::counts_from_zero(start, is_whole);
        u64::from(!counts_from_zero)
    };
    let rows = parse_source(source, Keep::Everything, &mut faults, first)?;
    if counts_from_zero {
        let _ = faults.add(1, 1, FaultKind::CountsFromZero, String::new);
    }
    let header = rows.as_ref().map(|rows| rows.header);
    let result = match rows {
        Some(rows) if faults.irreparable == 0 => {
            repaired(rows, Changes { counted_from_zero: counts_from_zero, ..Changes::default() })
        }
        _ => Err(RepairError::Unclear { count: faults.irreparable }),
    };
    let report = CheckReport { header, faults: faults.kept, num_faults: faults.total };
    Ok(Repair { report, result })
}

impl RepairedGraph {
    /// Returns the changes.
    pub fn changes(&self) -> Changes {
        self.changes
    }

    /// Writes the graph as a METIS file; O(n + m).
    pub fn write(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        write_rows(out, self.header, &self.node_values, |node| {
            let range = self.offsets[node as usize]..self.offsets[node as usize + 1];
            let weight = |arc| if self.header.has_edge_weights { self.weights[arc] } else { 1 };
            range.map(move |arc| (self.targets[arc], weight(arc)))
        })
    }
}

/// Arcs turned round, by head: the arcs to vertex `v` are `first[v]..first[v + 1]` in `arcs`, each with its tail and
/// its weight. Each row is in ascending order, as the tails come in.
struct Turned {
    first: Vec<usize>,
    arcs: Vec<(NodeId, Weight)>,
}

fn turn(
    offsets: &[usize],
    targets: &[NodeId],
    weight: impl Fn(usize) -> Weight,
) -> Result<Turned, OutOfMemory> {
    let num_nodes = offsets.len() - 1;
    let mut first = memory::filled(num_nodes + 1, 0usize)?;
    for &target in targets {
        first[target as usize + 1] += 1;
    }
    for node in 0..num_nodes {
        first[node + 1] += first[node];
    }
    let mut next: Vec<usize> = memory::with_room(num_nodes)?;
    next.extend_from_slice(&first[..num_nodes]);
    let mut arcs = memory::filled(targets.len(), (0, 0))?;
    for node in 0..num_nodes {
        for arc in offsets[node]..offsets[node + 1] {
            let slot = &mut next[targets[arc] as usize];
            arcs[*slot] = (node as NodeId, weight(arc));
            *slot += 1;
        }
    }
    Ok(Turned { first, arcs })
}

/// The rows made symmetric, without self-loops and parallel arcs.
fn repaired(rows: Rows, mut changes: Changes) -> Result<RepairedGraph, RepairError> {
    let Rows { mut header, offsets, targets, weights, node_values, .. } =
        merge_parallels(rows, &mut changes).ok_or(RepairError::Overflow)?;
    let num_nodes = offsets.len() - 1;
    let is_weighted = header.has_edge_weights;
    let weight = |arc: usize| if is_weighted { weights[arc] } else { 1 };

    let turned = turn(&offsets, &targets, weight)?;
    // Most often no arc is missing.
    let (mut repaired_offsets, mut repaired_targets) =
        (memory::with_room(num_nodes + 1)?, memory::with_room(targets.len())?);
    let mut repaired_weights = memory::with_room(targets.len())?;
    repaired_offsets.push(0);
    let mut sum: Weight = 0;
    for node in 0..num_nodes {
        let mut forward =
            (offsets[node]..offsets[node + 1]).map(|arc| (targets[arc], weight(arc))).peekable();
        let mut backward = turned.arcs[turned.first[node]..turned.first[node + 1]].iter().copied().peekable();
        loop {
            let (target, weight) = match (forward.peek(), backward.peek()) {
                (None, None) => break,
                (Some(&(target, own)), Some(&(source, other))) if target == source => {
                    forward.next();
                    backward.next();
                    changes.unequal_weights += u64::from(own != other && (node as NodeId) < target);
                    (target, own.max(other))
                }
                (Some(&arc), other) if other.is_none_or(|&(source, _)| arc.0 < source) => {
                    forward.next();
                    arc
                }
                _ => {
                    let arc = backward.next().expect("one of the two rows has an arc left");
                    changes.backward_arcs += u64::from(arc.1 > 0);
                    arc
                }
            };
            if weight == 0 {
                changes.weightless_edges += u64::from((node as NodeId) < target);
                continue;
            }
            repaired_targets.push(target);
            repaired_weights.push(weight);
            sum = sum.checked_add(weight).ok_or(RepairError::Overflow)?;
        }
        repaired_offsets.push(repaired_targets.len());
    }
    let num_edges = repaired_targets.len() as u64 / 2;
    changes.declared_edges = (header.num_edges != num_edges).then_some(header.num_edges);
    header.num_edges = num_edges;
    Ok(RepairedGraph {
        header,
        offsets: repaired_offsets,
        targets: repaired_targets,
        weights: repaired_weights,
        node_values,
        changes,
    })
}

/// Drops self-loops and merges parallel arcs, in place; `None` if their weights overflow.
fn merge_parallels(mut rows: Rows, changes: &mut Changes) -> Option<Rows> {
    let is_weighted = rows.header.has_edge_weights;
    let mut kept = 0;
    let mut arc = 0;
    for node in 0..rows.offsets.len() - 1 {
        let start = kept;
        while arc < rows.offsets[node + 1] {
            let target = rows.targets[arc];
            if target as usize == node {
                changes.self_loops += 1;
            } else if kept > start && rows.targets[kept - 1] == target {
                changes.parallel_arcs += 1;
                if is_weighted {
                    rows.weights[kept - 1] = rows.weights[kept - 1].checked_add(rows.weights[arc])?;
                }
            } else {
                rows.targets[kept] = target;
                if is_weighted {
                    rows.weights[kept] = rows.weights[arc];
                }
                kept += 1;
            }
            arc += 1;
        }
        rows.offsets[node + 1] = kept;
    }
    rows.targets.truncate(kept);
    if is_weighted {
        rows.weights.truncate(kept);
    }
    Some(rows)
}
