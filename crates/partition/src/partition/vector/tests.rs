//! Partitions by several weights beside brute force, first fit decreasing, and recomputation.

use super::packing::Packing;
use super::*;
use crate::base::rng::Rng;
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::{CsrGraph, VertexWeights, generate};
use crate::partition::loads::{Excess, VectorBounds};
use crate::partition::objective::tests::{Matrix, matrices};
use crate::partition::{BlockTree, FixedVertices, Layout, PartitionPreset, Targets, block_weights, cut};

const PRESETS: [PartitionPreset; 3] = [PartitionPreset::Fast, PartitionPreset::Eco, PartitionPreset::Strong];

fn random_weights(num_nodes: usize, num_weights: usize, most: u32, rng: &mut Rng) -> VertexWeights {
    let values = (0..num_nodes * num_weights).map(|_| Weight::from(rng.below(most + 1))).collect();
    VertexWeights::new(num_weights, values).unwrap()
}

/// Shares in proportion to capacities for each weight.
fn targets(weights: &VertexWeights, capacities: &[u32], epsilon: f64, least: f64) -> VectorTargets {
    let of = |weight| {
        let alone = weights.alone(weight);
        let targets = Targets::proportional(&alone, capacities, epsilon).unwrap();
        let least = Targets::least_shares(&alone, capacities, least).unwrap();
        let least = least.iter().zip(targets.block_sizes()).map(|(&least, &size)| least.min(size)).collect();
        targets.with_least_loads(least).unwrap()
    };
    VectorTargets::new(weights, (0..weights.num_weights()).map(of).collect()).unwrap()
}

fn excess(weights: &VertexWeights, bounds: &VectorBounds, blocks: &[BlockId]) -> Excess {
    bounds.excess(&weights.loads(blocks, bounds.num_blocks()))
}

/// The least excess of all assignments.
fn least_excess(weights: &VertexWeights, bounds: &VectorBounds) -> Excess {
    let (n, k) = (weights.num_vertices(), bounds.num_blocks());
    let blocks = |mut number: usize| -> Vec<BlockId> {
        let digits = (0..n).map(|_| {
            let digit = number % k;
            number /= k;
            digit as BlockId
        });
        digits.collect()
    };
    (0..k.pow(n as u32)).map(|number| excess(weights, bounds, &blocks(number))).min().unwrap()
}

fn solve(
    (graph, weights, targets): (&CsrGraph, &VertexWeights, &VectorTargets),
    fixed: Option<&FixedVertices>,
    preset: PartitionPreset,
    seed: u64,
) -> VectorPartition {
    let problem = VectorProblem::new(graph, weights, targets).unwrap().with_fixed(fixed).unwrap();
    VectorPartitioner::new(preset, seed).partition(&problem)
}

#[test]
fn no_assignment_of_few_vertices_misses_the_bounds_by_less() {
    let mut rng = Rng::new(8);
    let mut feasible = 0;
    for round in 0..120u64 {
        let (n, k) = (3 + rng.below(7) as usize, 2 + rng.below(2) as usize);
        let graph = generate::random_geometric(n, 4.0, round);
        let weights = random_weights(n, 2 + rng.below(2) as usize, 7, &mut rng);
        let capacities: Vec<u32> = (0..k).map(|_| 1 + rng.below(2)).collect();
        let least = if round % 3 == 0 { 0.5 } else { 0.0 };
        let targets = targets(&weights, &capacities, 0.1 * f64::from(rng.below(4)), least);
        let best = least_excess(&weights, &targets.bounds());
        feasible += u32::from(!best.is_over());
        for preset in PRESETS {
            let found = solve((&graph, &weights, &targets), None, preset, round);
            let own = excess(&weights, &targets.bounds(), found.blocks());
            assert_eq!(own, best, "round {round}, {preset:?}");
        }
    }
    assert!((20..100).contains(&feasible), "{feasible}");
}

#[test]
fn bounds_hold_wherever_first_fit_decreasing_keeps_them() {
    let mut rng = Rng::new(12);
    let mut kept = 0;
    for round in 0..60u64 {
        let (n, k) = (30 + rng.below(60) as usize, 3 + rng.below(5) as usize);
        let graph = generate::random_geometric(n, 5.0, round);
        let weights = random_weights(n, 2 + rng.below(2) as usize, 20, &mut rng);
        let targets = targets(&weights, &vec![1; k], 0.02 * f64::from(1 + rng.below(4)), 0.0);
        let bounds = targets.bounds();
        let packing = Packing { weights: &weights, bounds: &bounds, fixed: &|_| None };
        let fits = packing.first_fits().iter().any(|blocks| !excess(&weights, &bounds, blocks).is_over());
        kept += u32::from(fits);
        let found = solve((&graph, &weights, &targets), None, PRESETS[round as usize % 2], round);
        assert!(!fits || found.overload() == 0, "round {round}");
    }
    assert!((5..60).contains(&kept), "{kept}");
}

#[test]
fn loads_and_cuts_agree_with_recomputation_and_no_block_is_empty() {
    let mut rng = Rng::new(2);
    let graphs = [generate::mesh(30, 20, 1), generate::random_geometric(700, 8.0, 3)];
    for (graph, num_weights) in graphs.iter().zip([2, 3]) {
        let weights = random_weights(graph.num_nodes(), num_weights, 20, &mut rng);
        for (preset, k) in PRESETS.into_iter().zip([4, 9, 16]) {
            let targets = targets(&weights, &vec![1; k], 0.05, 0.8);
            let found = solve((graph, &weights, &targets), None, preset, 5);
            assert_eq!(excess(&weights, &targets.bounds(), found.blocks()), Excess::NONE, "{preset:?}");
            assert_eq!((found.cut(), found.overload()), (cut(graph, found.blocks()), 0));
            for weight in 0..num_weights {
                let loads = block_weights(&weights.alone(weight), found.blocks(), k);
                let own: Vec<Weight> =
                    found.loads().iter().skip(weight).step_by(num_weights).copied().collect();
                assert_eq!(own, loads);
            }
            assert!((0..k as BlockId).all(|block| found.blocks().contains(&block)));
        }
    }
}

#[test]
fn same_seed_same_blocks_at_any_number_of_threads() {
    let graph = generate::mesh(90, 80, 1);
    let weights = random_weights(graph.num_nodes(), 2, 20, &mut Rng::new(4));
    let targets = targets(&weights, &[1; 12], 0.03, 0.0);
    for preset in PRESETS {
        let run =
            |count| threads::run(count, || solve((&graph, &weights, &targets), None, preset, 3)).unwrap();
        assert_eq!(run(1), run(3), "{preset:?}");
    }
}

#[test]
fn fixed_vertices_stay_where_they_must_be() {
    let mut rng = Rng::new(6);
    for round in 0..20u64 {
        let n = 40 + rng.below(200) as usize;
        let graph = generate::random_geometric(n, 7.0, round);
        let weights = random_weights(n, 2, 9, &mut rng);
        let targets = targets(&weights, &[1; 5], 0.1, 0.0);
        let mut fixed = FixedVertices::none(n, 5);
        (0..n as NodeId).step_by(7).for_each(|node| fixed.fix(node, rng.below(5)).unwrap());
        let found = solve((&graph, &weights, &targets), Some(&fixed), PRESETS[round as usize % 3], round);
        assert!(fixed.iter().all(|(node, block)| found.blocks()[node as usize] == block));
        assert_eq!(found.overload(), 0, "round {round}");
    }
}

#[test]
fn j_is_lower_where_it_is_the_objective() {
    let graph = generate::mesh(40, 30, 1);
    let weights = random_weights(graph.num_nodes(), 2, 9, &mut Rng::new(3));
    for matrix in matrices() {
        let k = matrix.num_blocks;
        let targets = targets(&weights, &vec![1; k], 0.1, 0.0);
        let tree = BlockTree::new(k, |_| Vec::new());
        let problem = VectorProblem::new(&graph, &weights, &targets).unwrap();
        let partitioner = VectorPartitioner::new(PartitionPreset::Eco, 1);
        let by_j = partitioner.partition(&problem.with_layout(Layout::new(&tree, &matrix)));
        let by_cut = partitioner.partition(&problem);
        let cost = |found: &VectorPartition| j(&graph, &matrix, found.blocks());
        assert_eq!(by_j.cost(), cost(&by_j));
        assert_eq!((by_j.overload(), by_cut.overload()), (0, 0));
        assert!(by_j.cost() <= cost(&by_cut), "{} {}", by_j.cost(), cost(&by_cut));
    }
}

/// J by the definition.
fn j(graph: &CsrGraph, matrix: &Matrix, blocks: &[BlockId]) -> i64 {
    let arcs =
        graph.nodes().flat_map(|node| graph.arcs(node).map(move |(other, weight)| (node, other, weight)));
    let between = |a: NodeId, b: NodeId| {
        let [a, b] = [a, b].map(|node| blocks[node as usize] as usize);
        matrix.distances[a * matrix.num_blocks + b]
    };
    arcs.map(|(u, v, weight)| weight * between(u, v)).sum()
}

#[test]
fn blocks_are_empty_only_without_capacity_whatever_vertices_weigh() {
    let mut rng = Rng::new(9);
    for round in 0..40u64 {
        let n = 12 + rng.below(80) as usize;
        let graph = generate::random_geometric(n, 6.0, round);
        // Most vertices have no weight at all, others one of two, and few both.
        let weight = |rng: &mut Rng| if rng.below(4) == 0 { Weight::from(rng.below(5)) } else { 0 };
        let weights = VertexWeights::new(2, (0..2 * n).map(|_| weight(&mut rng)).collect()).unwrap();
        let capacities: Vec<u32> = (0..5).map(|_| [0, 1, 1, 3, 50][rng.below(5) as usize]).collect();
        if capacities.iter().all(|&capacity| capacity == 0) {
            continue;
        }
        let targets = targets(&weights, &capacities, [0.0, 0.1][round as usize % 2], 0.0);
        let found = solve((&graph, &weights, &targets), None, PRESETS[round as usize % 3], round);
        for (block, &capacity) in (0..).zip(&capacities) {
            assert_eq!(
                found.blocks().contains(&block),
                capacity > 0,
                "round {round}: {block} of {capacities:?}"
            );
        }
    }
}
