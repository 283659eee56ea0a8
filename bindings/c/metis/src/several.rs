//! A graph whose vertices have several weights, and its partition.

use viem::graph::VertexWeights;
use viem::machine::Blocks;
use viem::solve::{LoadLimits, Objective as Goal, SeveralWeights};
use viem::{PreparedMachine, Request};
use viem_ffi::{LooseGraph, check_memory, environment, memory_of_run};

use crate::options::{Options, Way};
use crate::task::{Bounds, Solution};
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
    pub shares: Option<&'a [f32]>,
    /// By weight, instead of that of the options.
    pub imbalances: Option<&'a [f32]>,
}

impl Several<'_> {
    /// The parts of the vertices, each within the bounds of all weights if there are such parts.
    pub fn solve(&self) -> Result<Solution, Fault> {
        let &Self { num_weights, num_parts, .. } = self;
        let graph = self.graph.symmetric_graph()?;
        let (n, size) = (graph.num_nodes(), (num_weights * (graph.num_nodes() + num_parts)) as u128);
        check_memory(memory_of_run(n, graph.num_arcs()) + 64 * num_parts as u128 + 32 * size)?;
        let values = match self.weights {
            Some(weights) => weights.iter().map(|&weight| weight.into()).collect(),
            None => vec![1; n * num_weights],
        };
        let weights = VertexWeights::new(num_weights, values).map_err(|_| Fault::Input)?;
        let targets = (0..num_weights).map(|weight| {
            let column: Option<Vec<f32>> =
                self.shares.map(|shares| shares.iter().skip(weight).step_by(num_weights).copied().collect());
            let given = self.imbalances.map(|imbalances| f64::from(imbalances[weight]));
            let imbalance = given.unwrap_or(self.options.imbalance_of_several);
            let bounds = Bounds { num_parts, shares: column.as_deref(), imbalance, way: Way::KWay };
            let targets = bounds.targets(&weights.alone(weight))?;
            // As with METIS, a part may have little of one weight.
            targets.with_least_loads(vec![0; num_parts]).map_err(|_| Fault::Input)
        });
        let targets = targets.collect::<Result<Vec<_>, _>>()?;
        let limits: Vec<LoadLimits<'_>> = targets.iter().map(LoadLimits::from).collect();
        let several = SeveralWeights::new(&weights, &limits).map_err(|_| Fault::Input)?;
        let blocks = Blocks::equal(num_parts).map_err(|_| Fault::Input)?;
        let machine = PreparedMachine::new(&blocks);
        let request = Request::new(&graph, &machine).balanced_by(&several).minimise(Goal::Cut);
        let solution =
            request.solve(&environment::effort().with_seed(self.options.seed)).map_err(|_| Fault::Memory)?;
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
        let shares = [0.5f32, 0.25, 0.25, 0.25, 0.25, 0.5];
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
