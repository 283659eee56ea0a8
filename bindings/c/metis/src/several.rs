//! A graph whose vertices have several weights, and its partition.

use viem::graph::VertexWeights;
use viem_ffi::{LooseGraph, SeveralError, check_memory, environment};

use crate::options::Options;
use crate::task::Solution;
use crate::{Fault, Idx};

/// A problem of several constraints.
pub(crate) struct Several<'a> {
    pub options: Options,
    pub graph: LooseGraph<'a, Idx>,
    pub num_weights: usize,
    /// Those of one vertex after the other; all 1 without.
    pub weights: Option<&'a [Idx]>,
    pub num_parts: usize,
    /// The shares of each part of all weights; all equal without.
    pub shares: Option<&'a [f64]>,
    /// By weight, instead of that of the options.
    pub imbalances: Option<&'a [f32]>,
}

impl Several<'_> {
    /// The parts of the vertices, each within the bounds of all weights if there are such parts.
    pub fn solve(&self) -> Result<Solution, Fault> {
        let &Self { num_weights, num_parts, shares, .. } = self;
        let graph = self.graph.symmetric_graph()?;
        let size = num_weights * graph.num_nodes();
        check_memory(32 * size as u128)?;
        let values = match self.weights {
            Some(weights) => weights.iter().map(|&weight| weight.into()).collect(),
            None => vec![1; size],
        };
        let weights = VertexWeights::new(num_weights, values).map_err(|_| Fault::Input)?;
        let given = |imbalances: &[f32]| imbalances.iter().map(|&imbalance| imbalance.into()).collect();
        let imbalances: Vec<f64> =
            self.imbalances.map_or_else(|| vec![self.options.imbalance_of_several; num_weights], given);
        let (graph, weights, imbalances) = (&graph, &weights, &imbalances[..]);
        let several = viem_ffi::Several { graph, weights, num_parts, shares, imbalances };
        let solution = several.solve(&environment::effort().with_seed(self.options.seed));
        let solution = solution.map_err(|error| match error {
            SeveralError::Memory(_) | SeveralError::Solve(_) => Fault::Memory,
            SeveralError::Targets(_) | SeveralError::Blocks(_) | SeveralError::Request(_) => Fault::Input,
        })?;
        Ok(Solution {
            objective: solution.report.cut,
            parts: solution.mapping.into_pes(),
            is_contiguous: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Way;

    #[test]
    fn each_weight_keeps_its_bound_and_its_shares() {
        // A path whose first half has memory.
        let n = 120usize;
        let around = |node: usize| [node.checked_sub(1), (node + 1 < n).then_some(node + 1)];
        let (mut offsets, mut targets) = (vec![0], Vec::new());
        for node in 0..n {
            targets.extend(around(node).into_iter().flatten().map(|other| other as Idx));
            offsets.push(targets.len());
        }
        let weights: Vec<Idx> = (0..n).flat_map(|node| [1, Idx::from(node < n / 2)]).collect();
        let shares = [0.5, 0.25, 0.25, 0.25, 0.25, 0.5];
        let bounds = [[60.0, 15.0], [30.0, 15.0], [30.0, 30.0]];
        for way in [Way::KWay, Way::Recursive] {
            let options = Options::new(None, Some(way)).expect("the defaults");
            let graph = LooseGraph {
                base: 0,
                offsets: &offsets,
                targets: &targets,
                edge_weights: None,
                vertex_weights: None,
            };
            let several = Several {
                options,
                graph,
                num_weights: 2,
                weights: Some(&weights),
                num_parts: 3,
                shares: Some(&shares),
                imbalances: Some(&[1.05, 1.2]),
            };
            let found = several.solve().expect("there is a partition");
            for (part, [time, memory]) in bounds.into_iter().enumerate() {
                let members = || (0..n).filter(|&node| found.parts[node] as usize == part);
                let has_memory = members().filter(|&node| node < n / 2).count();
                assert!(members().count() as f64 <= 1.05 * time, "{part}");
                assert!(has_memory as f64 <= 1.2 * memory, "{part}");
            }
        }
    }
}
