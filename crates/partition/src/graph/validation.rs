//! Whether both ends of each edge list it, and with the same weight.
//!
//! Rows in ascending order need no transposition: when the vertices are visited in ascending order, the arcs to lower
//! vertices of any row are met from the first to the last, so one cursor per row finds the backward arc of each arc at once.
//! O(n + m), memory 8n bytes.

use std::ops::ControlFlow;

use crate::base::types::NodeId;

/// An arc without an equal one in the other direction. Arcs are named by their position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asymmetry {
    /// The head of the arc does not list the tail.
    MissingBackward {
        /// Tail of the arc.
        node: NodeId,
        /// The arc.
        arc: usize,
    },
    /// The two arcs of the edge weigh differently.
    UnequalWeights {
        /// Tail of `arc`, head of `backward`.
        node: NodeId,
        /// The arc at the lower vertex.
        arc: usize,
        /// The arc at the higher vertex.
        backward: usize,
    },
}

impl Asymmetry {
    /// The arc that has no equal one in the other direction.
    pub fn arc(self) -> usize {
        match self {
            Self::MissingBackward { arc, .. } | Self::UnequalWeights { arc, .. } => arc,
        }
    }
}

/// Calls `visit` with every asymmetry of a graph until it breaks.
///
/// The arcs of vertex `u` are `offsets[u]..offsets[u + 1]` in `targets`, in ascending order of their
/// heads. Asymmetries are visited in the order in which they are found, not in that of the arcs. Self-loops and arcs to
/// vertices without a row are ignored; of parallel arcs the first one counts. `same_weight` compares two arcs, the one
/// at the lower vertex first.
pub fn visit_asymmetries(
    offsets: &[usize],
    targets: &[NodeId],
    same_weight: impl Fn(usize, usize) -> bool,
    mut visit: impl FnMut(Asymmetry) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let num_rows = offsets.len() - 1;
    let after_parallels = |mut arc: usize, end: usize| {
        let target = targets[arc];
        while arc < end && targets[arc] == target {
            arc += 1;
        }
        arc
    };
    // In each row, the first arc to a lower vertex that no visited vertex has answered yet.
    let mut unanswered = offsets[..num_rows].to_vec();
    for row in 0..num_rows {
        let (node, end) = (row as NodeId, offsets[row + 1]);
        let mut arc = unanswered[row];
        while arc < end && targets[arc] <= node {
            if targets[arc] < node {
                visit(Asymmetry::MissingBackward { node, arc })?;
            }
            arc = after_parallels(arc, end);
        }
        while arc < end && (targets[arc] as usize) < num_rows {
            let target = targets[arc];
            let (backward, backward_end) = (&mut unanswered[target as usize], offsets[target as usize + 1]);
            while *backward < backward_end && targets[*backward] < node {
                visit(Asymmetry::MissingBackward { node: target, arc: *backward })?;
                *backward = after_parallels(*backward, backward_end);
            }
            if *backward < backward_end && targets[*backward] == node {
                if !same_weight(arc, *backward) {
                    visit(Asymmetry::UnequalWeights { node, arc, backward: *backward })?;
                }
                *backward = after_parallels(*backward, backward_end);
            } else {
                visit(Asymmetry::MissingBackward { node, arc })?;
            }
            arc = after_parallels(arc, end);
        }
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::base::types::Weight;
    use crate::graph::fingerprint::is_surely_symmetric;

    #[test]
    fn finds_what_comparing_every_pair_finds() {
        let mut rng = Rng::new(5);
        let mut plain_ones = 0;
        for round in 0..500 {
            let n = 1 + rng.below(9);
            let mut weight = vec![vec![0; n as usize]; n as usize];
            for _ in 0..rng.below(3 * n) {
                let (u, v) = (rng.below(n) as usize, rng.below(n) as usize);
                weight[u][v] = Weight::from(1 + rng.below(2));
                weight[v][u] = Weight::from(1 + rng.below(2) / 2);
                if rng.below(4) == 0 {
                    weight[v][u] = 0;
                }
            }
            let (mut offsets, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
            for row in &weight {
                for (target, &weight) in row.iter().enumerate().filter(|&(_, &weight)| weight > 0) {
                    for _ in 0..=rng.below(2) * rng.below(2) {
                        targets.push(target as NodeId);
                        weights.push(weight);
                    }
                }
                offsets.push(targets.len());
            }
            let mut found = Vec::new();
            let flow = visit_asymmetries(
                &offsets,
                &targets,
                |a, b| weights[a] == weights[b],
                |asymmetry| {
                    found.push(match asymmetry {
                        Asymmetry::MissingBackward { node, arc } => (node, targets[arc], true),
                        Asymmetry::UnequalWeights { node, arc, backward } => {
                            assert_eq!(targets[backward], node);
                            (node, targets[arc], false)
                        }
                    });
                    ControlFlow::Continue(())
                },
            );
            assert!(flow.is_continue());
            let mut expected = Vec::new();
            for (u, row) in weight.iter().enumerate() {
                for (v, &forward) in row.iter().enumerate().filter(|&(v, &forward)| v != u && forward > 0) {
                    let backward = weight[v][u];
                    if backward == 0 {
                        expected.push((u as NodeId, v as NodeId, true));
                    } else if u < v && forward != backward {
                        expected.push((u as NodeId, v as NodeId, false));
                    }
                }
            }
            let is_plain = (0..n as usize).all(|node| {
                let row = &targets[offsets[node]..offsets[node + 1]];
                row.is_sorted_by(|a, b| a < b) && !row.contains(&(node as NodeId))
            });
            let is_sure = is_surely_symmetric(&offsets, &targets, Some(&weights));
            assert_eq!(is_sure, is_plain && found.is_empty());
            plain_ones += u32::from(is_sure);
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "round {round}");
        }
        assert!(plain_ones > 20, "{plain_ones}");
    }
}
