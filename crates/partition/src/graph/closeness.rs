//! Weights that favour edges inside of dense regions.
//!
//! Values that start at random and are averaged over neighbours again and again become alike where vertices have many neighbours in common,
//! long before they do between regions. How much they differ is the algebraic distance of neighbours. D. Ron, I. Safro, A. Brandt:
//! Relaxation-based coarsening and multiscale graph organization. Multiscale Modeling & Simulation 9, 2011.

use super::CsrGraph;
use crate::base::rng::Rng;
use crate::base::types::{NodeId, Weight};

/// Values of each vertex that are averaged side by side; an edge counts as long as it is in one of them.
const VALUES: usize = 4;

/// Rounds of averaging. Balances random values against values that are alike everywhere. Tuned on grids of cliques of 16 to 70 vertices
/// that heavier paths connect (jobs with data, tensor and pipeline parallelism).
const ROUNDS: usize = 20;

/// The weight of an edge is multiplied by at most this, and by a quarter of that if its length is the mean.
const MOST_FACTOR: f64 = 64.0;

impl CsrGraph {
    /// The same graph with the weight of each edge divided by its algebraic distance, and all weights scaled such that they sum up to at most
    /// `bound` over all arcs, at least twice the number of arcs. O(n + m).
    pub fn with_weights_by_closeness(&self, bound: Weight, seed: u64) -> Self {
        let values = self.averaged_values(seed);
        let length = |one: NodeId, other: NodeId| {
            let pairs = values[one as usize].iter().zip(&values[other as usize]);
            pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
        };
        let lengths = self.nodes().flat_map(|node| self.neighbours(node).iter().map(move |&to| (node, to)));
        let sum: f64 = lengths.map(|(node, to)| length(node, to)).sum();
        let mean = sum / self.num_arcs().max(1) as f64;
        let factor = |one, other| match length(one, other) {
            0.0 => MOST_FACTOR,
            length => (MOST_FACTOR / 4.0 * mean / length).clamp(1.0, MOST_FACTOR),
        };
        let most = (Weight::MAX / (2 * MOST_FACTOR as Weight)).max(2 * self.num_arcs() as Weight);
        let fitting = self.clone().with_total_arc_weight_at_most(most);
        let weighted = fitting.with_edge_weights(|one, other, weight| weight * factor(one, other) as Weight);
        weighted.with_total_arc_weight_at_most(bound)
    }

    /// Random values, averaged with those of the neighbours.
    fn averaged_values(&self, seed: u64) -> Vec<[f64; VALUES]> {
        let mut rng = Rng::new(seed);
        let mut values: Vec<[f64; VALUES]> =
            self.nodes().map(|_| [(); VALUES].map(|()| rng.unit() - 0.5)).collect();
        for _ in 0..ROUNDS {
            let averaged = |node: NodeId| {
                let mut sums = [0.0; VALUES];
                for (to, weight) in self.arcs(node) {
                    let of_neighbour = &values[to as usize];
                    sums.iter_mut().zip(of_neighbour).for_each(|(sum, value)| *sum += weight as f64 * value);
                }
                let degree = (self.weighted_degree(node) as f64).max(1.0);
                let own = values[node as usize];
                std::array::from_fn(|at| (own[at] + sums[at] / degree) / 2.0)
            };
            values = self.nodes().map(averaged).collect();
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    /// Two cliques of 30 vertices, and an edge of this weight between the first `joined` of each.
    fn cliques(joined: NodeId, weight: Weight) -> CsrGraph {
        let mut builder = GraphBuilder::new(60);
        for node in 0..30 {
            (0..node).for_each(|other| builder.add_edge(node, other, 1));
            (0..node).for_each(|other| builder.add_edge(30 + node, 30 + other, 1));
        }
        (0..joined).for_each(|node| builder.add_edge(node, 30 + node, weight));
        builder.build().unwrap()
    }

    #[test]
    fn edges_in_dense_regions_outweigh_heavier_ones_between_them() {
        let weighted = cliques(10, 3).with_weights_by_closeness(1 << 40, 7);
        let of = |edge: fn(NodeId, NodeId) -> bool| {
            let arcs = weighted.nodes().flat_map(|node| weighted.arcs(node).map(move |arc| (node, arc)));
            arcs.filter(move |&(node, (to, _))| edge(node, to)).map(|(_, (_, weight))| weight)
        };
        let greatest_between = of(|node, to| node / 30 != to / 30).max().unwrap();
        let inside: Vec<Weight> = of(|node, to| node / 30 == to / 30).collect();
        let mean = inside.iter().sum::<Weight>() / inside.len() as Weight;
        assert!(mean > greatest_between, "{mean} {greatest_between}");
    }

    #[test]
    fn sums_of_weights_stay_within_the_bound() {
        for weight in [1, 1 << 40, Weight::MAX / 64] {
            for bound in [4000, 1 << 30, Weight::MAX] {
                let weighted = cliques(10, weight).with_weights_by_closeness(bound, 1);
                assert!((1..=bound).contains(&weighted.total_arc_weight()));
                let is_symmetric = |node: NodeId| {
                    weighted.arcs(node).all(|(to, weight)| weighted.arcs(to).any(|arc| arc == (node, weight)))
                };
                assert!(weighted.nodes().all(is_symmetric));
            }
        }
    }
}
