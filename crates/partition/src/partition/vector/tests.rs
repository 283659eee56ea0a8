//! Partitions by several weights beside brute force, first fit decreasing, and recomputation.

use super::packing::Packing;
use super::*;
use crate::base::rng::Rng;
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::{CsrGraph, VertexWeights, generate};
use crate::partition::loads::{Excess, VectorBounds};
use crate::partition::objective::tests::{Matrix, matrices, tree_distances};
use crate::partition::{
    BlockTree, FixedVertices, Layout, MigrationWeight, PartitionPreset, PreviousAssignment, Remapping,
    Targets, block_weights, cut,
};

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

/// All assignments of vertices to blocks.
fn assignments(num_nodes: usize, num_blocks: usize) -> impl Iterator<Item = Vec<BlockId>> {
    (0..num_blocks.pow(num_nodes as u32)).map(move |mut number| {
        let digits = (0..num_nodes).map(|_| {
            let digit = number % num_blocks;
            number /= num_blocks;
            digit as BlockId
        });
        digits.collect()
    })
}

/// The least excess of all assignments.
fn least_excess(weights: &VertexWeights, bounds: &VectorBounds) -> Excess {
    let all = assignments(weights.num_vertices(), bounds.num_blocks());
    all.map(|blocks| excess(weights, bounds, &blocks)).min().unwrap()
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
fn no_assignment_of_few_vertices_misses_the_bounds_by_less_or_cuts_less() {
    let mut rng = Rng::new(8);
    let mut feasible = 0;
    for round in 0..120u64 {
        let (n, k) = (3 + rng.below(7) as usize, 2 + rng.below(2) as usize);
        let graph = generate::random_geometric(n, 4.0, round);
        let weights = random_weights(n, 2 + rng.below(2) as usize, 7, &mut rng);
        let capacities: Vec<u32> = (0..k).map(|_| 1 + rng.below(2)).collect();
        let least = if round % 3 == 0 { 0.5 } else { 0.0 };
        let targets = targets(&weights, &capacities, 0.1 * f64::from(rng.below(4)), least);
        let bounds = targets.bounds();
        let score = |blocks: &[BlockId]| {
            (excess(&weights, &bounds, blocks), targets.num_empty(blocks), cut(&graph, blocks))
        };
        let best = assignments(n, k).map(|blocks| score(&blocks)).min().unwrap();
        feasible += u32::from(!best.0.is_over());
        for preset in PRESETS {
            let found = solve((&graph, &weights, &targets), None, preset, round);
            assert_eq!(score(found.blocks()), best, "round {round}, {preset:?}");
        }
    }
    assert!((20..100).contains(&feasible), "{feasible}");
}

/// Nodes of two PEs each, in any order, and a bound for each by some of the weights.
fn with_nodes(targets: VectorTargets, weights: &VertexWeights, room: f64, rng: &mut Rng) -> VectorTargets {
    let k = targets.num_blocks();
    let num_nodes = k.div_ceil(2);
    let mut node_of: Vec<u32> = (0..k as u32).map(|block| block / 2).collect();
    rng.shuffle(&mut node_of);
    let mut bounds = |total: Weight| -> Vec<Weight> {
        let parts: Vec<u32> = (0..num_nodes).map(|_| 1 + rng.below(3)).collect();
        let sum = f64::from(parts.iter().sum::<u32>());
        parts.iter().map(|&part| (room * total as f64 * f64::from(part) / sum).ceil() as Weight).collect()
    };
    let of_weight: Vec<Option<Vec<Weight>>> = weights
        .totals()
        .iter()
        .enumerate()
        .map(|(weight, &total)| (weight != 0).then(|| bounds(total)))
        .collect();
    let most: Vec<Option<&[Weight]>> = of_weight.iter().map(Option::as_deref).collect();
    targets.with_group_bounds(node_of, &most).unwrap()
}

#[test]
fn no_assignment_of_few_vertices_misses_the_bounds_of_nodes_by_less() {
    let mut rng = Rng::new(15);
    let mut feasible = 0;
    for round in 0..60u64 {
        let (n, k) = (4 + rng.below(4) as usize, 3 + rng.below(2) as usize);
        let graph = generate::random_geometric(n, 4.0, round);
        let weights = random_weights(n, 2 + rng.below(2) as usize, 7, &mut rng);
        // Only nodes bound some of the weights.
        let targets = targets(&weights, &vec![1; k], [0.3, 5.0][round as usize % 2], 0.0);
        let targets = with_nodes(targets, &weights, 1.0 + 0.1 * f64::from(rng.below(4)), &mut rng);
        let best = least_excess(&weights, &targets.bounds());
        feasible += u32::from(!best.is_over());
        let found = solve((&graph, &weights, &targets), None, PRESETS[round as usize % 3], round);
        assert_eq!(excess(&weights, &targets.bounds(), found.blocks()), best, "round {round}");
        assert_eq!(found.overload() > 0, best.is_over());
    }
    assert!((10..55).contains(&feasible), "{feasible}");
}

#[test]
fn nodes_of_unequal_memory_are_filled_within_it() {
    for (seed, preset) in (0..).zip(PRESETS) {
        let graph = generate::mesh(60, 40, seed);
        // Each vertex takes the same time; those on the left half need most of the memory.
        let values = graph.nodes().flat_map(|node| [1, if node % 60 < 30 { 9 } else { 1 }]).collect();
        let weights = VertexWeights::new(2, values).unwrap();
        let equal = |weight, epsilon| Targets::equal(&weights.alone(weight), 16, epsilon).unwrap();
        let targets = VectorTargets::new(&weights, vec![equal(0, 0.03), equal(1, 20.0)]).unwrap();
        let total = weights.totals()[1];
        let bounds: Vec<Weight> = [0.1, 0.2, 0.3, 0.45].map(|part| (part * total as f64) as Weight).to_vec();
        let node_of: Vec<u32> = (0..16).map(|block| block / 4).collect();
        let targets = targets.with_group_bounds(node_of.clone(), &[None, Some(&bounds)]).unwrap();
        let found = solve((&graph, &weights, &targets), None, preset, seed);
        assert_eq!(found.overload(), 0, "{preset:?}");
        let nodes: Vec<BlockId> = found.blocks().iter().map(|&block| node_of[block as usize]).collect();
        let memory = block_weights(&weights.alone(1), &nodes, 4);
        assert!(memory.iter().zip(&bounds).all(|(memory, bound)| memory <= bound), "{memory:?} {bounds:?}");
        // A block may have more memory than all blocks would if it was shared out.
        let own = block_weights(&weights.alone(1), found.blocks(), 16);
        assert!(own.iter().any(|&memory| memory > total / 16));
    }
}

#[test]
fn bounds_hold_wherever_first_fit_decreasing_keeps_them() {
    let mut rng = Rng::new(12);
    let mut kept = 0;
    for round in 0..60u64 {
        let (n, k) = (30 + rng.below(60) as usize, 3 + rng.below(5) as usize);
        let graph = generate::random_geometric(n, 5.0, round);
        let weights = random_weights(n, 2 + rng.below(2) as usize, 20, &mut rng);
        let mut targets = targets(&weights, &vec![1; k], 0.02 * f64::from(1 + rng.below(4)), 0.0);
        if round % 2 == 1 {
            targets = with_nodes(targets, &weights, 1.1, &mut rng);
        }
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

/// Excess, empty blocks, and the objective with migration.
type Value = (Excess, usize, i128);

/// A graph, its weights and targets, and where its vertices were.
type Older<'a> = (&'a CsrGraph, &'a VertexWeights, &'a VectorTargets, &'a PreviousAssignment);

fn value((graph, weights, targets, homes): Older<'_>, weight: MigrationWeight, blocks: &[BlockId]) -> Value {
    let empty = (0..targets.num_blocks() as BlockId).filter(|block| !blocks.contains(block)).count();
    let objective = weight.objective(cut(graph, blocks), homes.migration(graph, blocks).weight);
    (excess(weights, &targets.bounds(), blocks), empty, objective)
}

/// The value of the best assignment of all.
fn least_value(older: Older<'_>, weight: MigrationWeight) -> Value {
    let (n, k) = (older.0.num_nodes() as u32, older.2.num_blocks());
    let blocks = |number: usize| (0..n).map(|v| (number / k.pow(v) % k) as BlockId).collect::<Vec<_>>();
    (0..k.pow(n)).map(|number| value(older, weight, &blocks(number))).min().unwrap()
}

#[test]
fn tiny_graphs_are_remapped_to_the_optimum() {
    let mut rng = Rng::new(31);
    for round in 0..24u64 {
        let (n, k) = (5 + rng.below(3) as usize, 2 + rng.below(2) as usize);
        let graph = generate::random_geometric(n, 4.0, round);
        let weights = random_weights(n, 2, 6, &mut rng);
        let mut targets = targets(&weights, &vec![1; k], 0.1 * f64::from(rng.below(8)), 0.0);
        if round % 2 == 0 {
            targets = with_nodes(targets, &weights, 1.2, &mut rng);
        }
        let old: Vec<BlockId> = (0..n).map(|_| rng.below(k as u32)).collect();
        let homes = PreviousAssignment::new(&old, k).unwrap();
        let problem = VectorProblem::new(&graph, &weights, &targets).unwrap();
        let partitioner = VectorPartitioner::new(PRESETS[round as usize % 3], round);
        let mut last = Weight::MAX;
        for text in ["0", "0.3", "1", "2.25", "1000"] {
            let weight: MigrationWeight = text.parse().unwrap();
            let found = partitioner.remap(&problem, Remapping::new(&homes, weight)).unwrap();
            let found = found.into_best(weight).unwrap();
            let older = (&graph, &weights, &targets, &homes);
            assert_eq!(
                value(older, weight, found.blocks()),
                least_value(older, weight),
                "round {round}, {text}"
            );
            let migration = homes.migration(&graph, found.blocks()).weight;
            assert!(migration <= last, "round {round}, {text}");
            last = migration;
        }
    }
}

#[test]
fn graphs_are_remapped_within_all_bounds_and_move_little() {
    let mut rng = Rng::new(33);
    for round in 0..4u64 {
        let graph = generate::mesh(24, 20, round);
        let n = graph.num_nodes();
        let weights = random_weights(n, 2, 9, &mut rng);
        let targets = targets(&weights, &[1; 6], 0.1, if round == 2 { 0.8 } else { 0.0 });
        // The last of seven blocks has left.
        let old: Vec<BlockId> = (0..n as u32).map(|v| v * 7 / n as u32).map(|block| block.min(6)).collect();
        let homes = PreviousAssignment::after(&old, crate::partition::RemovedBlocks(&[6]), 6).unwrap();
        let mut fixed = FixedVertices::none(n, 6);
        (0..n as NodeId).step_by(97).for_each(|node| fixed.fix(node, node % 6).unwrap());
        let fixed = Some(&fixed).filter(|_| round % 2 == 1);
        let problem = VectorProblem::new(&graph, &weights, &targets).unwrap().with_fixed(fixed).unwrap();
        let partitioner = VectorPartitioner::new(PRESETS[round as usize % 3], round);
        let solve = |weight: MigrationWeight| {
            let found = partitioner.remap(&problem, Remapping::new(&homes, weight)).unwrap();
            found.into_best(weight).unwrap()
        };
        let (free, stiff) = (solve(MigrationWeight::ZERO), solve("1000".parse().unwrap()));
        let migration = |found: &VectorPartition| homes.migration(&graph, found.blocks()).weight;
        for found in [&free, &stiff] {
            assert_eq!(excess(&weights, &targets.bounds(), found.blocks()), Excess::NONE, "round {round}");
            let mut all = fixed.into_iter().flat_map(FixedVertices::iter);
            assert!(all.all(|(node, block)| found.blocks()[node as usize] == block));
            assert!((0..6).all(|block| found.blocks().contains(&block)));
        }
        assert!(migration(&stiff) <= migration(&free) && migration(&stiff) < n as Weight / 2);
        assert!(free.cut() <= stiff.cut());
        assert_eq!(threads::run(3, || solve("1000".parse().unwrap())).unwrap(), stiff);
    }
}

/// Bounds of blocks and of pairs of them, some of which no assignment keeps.
fn bounds_of_places(weights: &VertexWeights, rng: &mut Rng) -> VectorTargets {
    let groups = vec![0, 0, 1, 1, 2, 2];
    let of = |weight: usize| {
        let alone = weights.alone(weight);
        Targets::equal(&alone, 6, f64::from(rng.below(30)) / 10.0).unwrap()
    };
    let targets = VectorTargets::new(weights, (0..2).map(of).collect()).unwrap();
    let third = weights.totals()[1] / 3;
    let most: Vec<Weight> = (0..3).map(|_| third + Weight::from(rng.below(4))).collect();
    targets.with_group_bounds(groups, &[None, Some(&most)]).unwrap()
}

/// The best assignments with at most this many vertices in each block, by enumeration.
fn best_places(
    (graph, weights, bounds): (&CsrGraph, &VertexWeights, &VectorBounds),
    (room, fixed): (&[u32], &FixedVertices),
    matrix: &Matrix,
) -> (Excess, i64) {
    let (n, k) = (graph.num_nodes(), room.len());
    let fits = |blocks: &Vec<BlockId>| {
        let mut free = room.to_vec();
        let is_free = |block: &BlockId| {
            let free = &mut free[*block as usize];
            *free > 0 && {
                *free -= 1;
                true
            }
        };
        fixed.violated_by(blocks).is_none() && blocks.iter().all(is_free)
    };
    let digits =
        |number: usize| (0..n as u32).map(|v| (number / k.pow(v) % k) as BlockId).collect::<Vec<_>>();
    let all = (0..k.pow(n as u32)).map(digits).filter(fits);
    all.map(|blocks| (excess(weights, bounds, &blocks), cost(graph, matrix, &blocks))).min().unwrap()
}

fn cost(graph: &CsrGraph, matrix: &Matrix, blocks: &[BlockId]) -> i64 {
    crate::partition::many_to_one::cost(graph, matrix, blocks)
}

#[test]
fn few_vertices_get_the_best_places_within_the_bounds() {
    let mut rng = Rng::new(41);
    let (mut kept, mut exceeded) = (0, 0);
    for round in 0..24u64 {
        let matrix =
            &[tree_distances(&[2, 3], &[1, 10]), Matrix::of(6, |a, b| 3 * a.abs_diff(b).min(2) as i64)]
                [round as usize % 2];
        let graph = generate::random_geometric(6, 3.0, round);
        let weights = random_weights(6, 2, 5, &mut rng);
        let targets = bounds_of_places(&weights, &mut rng);
        let room = [1, 1, 2, 1, 1, 1];
        let mut fixed = FixedVertices::none(6, 6);
        if round % 3 == 0 {
            fixed.fix(2, 2).unwrap();
        }
        let flat = BlockTree::new(6, |_| Vec::new());
        let problem = VectorProblem::new(&graph, &weights, &targets).unwrap();
        let problem = problem.with_fixed(Some(&fixed)).unwrap().with_layout(Layout::new(&flat, matrix));
        let start: Vec<BlockId> = (0..6).collect();
        let found = VectorPartitioner::new(PartitionPreset::Eco, round).placed(&problem, &room, &[&start]);
        let bounds = targets.bounds();
        let own = (excess(&weights, &bounds, found.blocks()), found.cost());
        let best = best_places((&graph, &weights, &bounds), (&room, &fixed), matrix);
        if excess(&weights, &bounds, &start).is_over() {
            assert_eq!(own, best, "round {round}");
            if own.0.is_over() { exceeded += 1 } else { kept += 1 }
        } else {
            assert_eq!(found.blocks(), start);
        }
    }
    assert!(kept >= 5 && exceeded >= 3, "{kept} {exceeded}");
}

/// What moves change, beside its value from scratch; no block has more vertices than places.
#[test]
fn many_vertices_keep_their_places_and_bounds() {
    let mut rng = Rng::new(42);
    for round in 0..12u64 {
        let graph = generate::mesh(16, 8, round);
        let weights = random_weights(128, 2, 9, &mut rng);
        let equal = |weight| Targets::equal(&weights.alone(weight), 144, 99.0).unwrap();
        let targets = VectorTargets::new(&weights, vec![equal(0), equal(1)]).unwrap();
        let most = vec![weights.totals()[1] / 12 + 2; 12];
        let groups = (0..144).map(|block| block / 12).collect();
        let targets = targets.with_group_bounds(groups, &[None, Some(&most)]).unwrap();
        let flat = BlockTree::new(144, |_| Vec::new());
        let matrix = &tree_distances(&[12, 12], &[1, 10]);
        let problem = VectorProblem::new(&graph, &weights, &targets).unwrap();
        let problem = problem.with_layout(Layout::new(&flat, matrix));
        let start: Vec<BlockId> = (0..128).collect();
        let found =
            VectorPartitioner::new(PartitionPreset::Eco, round).placed(&problem, &[1; 144], &[&start]);
        let mut used = found.blocks().to_vec();
        used.sort_unstable();
        used.dedup();
        assert_eq!((used.len(), found.overload()), (128, 0), "round {round}");
        assert_eq!(found.cost(), cost(&graph, matrix, found.blocks()));
    }
}
