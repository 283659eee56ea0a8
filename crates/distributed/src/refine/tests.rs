use super::*;
use crate::testing::{on_ranks, random_graph};
use viem::base::rng::Rng;
use viem::graph::CsrGraph;
use viem::machine::Machine as _;

/// Cost by the definition, over the whole graph.
fn cost_of(graph: &CsrGraph, distances: &BlockDistances, blocks: &[BlockId]) -> Cost {
    graph
        .nodes()
        .flat_map(|u| graph.arcs(u).map(move |(v, weight)| (u, v, weight)))
        .map(|(u, v, weight)| weight * distances.between(blocks[u as usize], blocks[v as usize]))
        .sum()
}

fn machine_distances(spec: &str, distances: Option<&str>) -> BlockDistances {
    BlockDistances::of(viem_cluster::build(spec, distances).unwrap().distances().unwrap())
}

#[test]
fn partitions_get_better_hold_their_bounds_and_are_the_same_on_any_number_of_ranks() {
    let mut rng = Rng::new(5);
    let objectives = [
        (4, BlockDistances::cut()),
        (4, machine_distances("2:2", Some("1:10"))),
        (6, machine_distances("torus:2x3", None)),
    ];
    let mut better = 0;
    for round in 0..60 {
        let graph = random_graph(&mut rng, 60);
        let (num_blocks, distances) = &objectives[round as usize % objectives.len()];
        let total = graph.total_node_weight();
        let heaviest = graph.node_weights().iter().copied().max().unwrap_or(0);
        let bounds = Bounds::of(vec![total / *num_blocks as Weight + heaviest; *num_blocks]);
        let start: Vec<BlockId> = graph.nodes().map(|_| rng.below(*num_blocks as u32)).collect();
        let homes = (round % 2 == 0).then(|| (0..graph.num_nodes()).map(|_| rng.below(*num_blocks as u32)));
        let homes: Option<Vec<BlockId>> = homes.map(Iterator::collect);
        let sizes: Option<Vec<Weight>> =
            (round % 4 == 0).then(|| graph.nodes().map(|_| rng.below(9).into()).collect());
        // As many of each block as fit.
        let is_fixed: Option<Vec<bool>> = (round % 5 == 0).then(|| {
            let mut room: Vec<Weight> = bounds.most.iter().map(|bound| bound / 2).collect();
            let mut fits = |v: u32| {
                let room = &mut room[start[v as usize] as usize];
                *room -= graph.node_weight(v);
                *room >= 0 && v.is_multiple_of(3)
            };
            graph.nodes().map(&mut fits).collect()
        });
        let found: Vec<(Vec<BlockId>, Quality)> = [1, 2, 4, 8]
            .into_iter()
            .map(|size| {
                let parts = on_ranks(size, &graph, round, |comm, part| {
                    let of = |all: &[BlockId]| -> Vec<BlockId> {
                        (0..part.num_local()).map(|v| all[part.global(v) as usize]).collect()
                    };
                    let homes = homes.as_ref().map(|homes| PreviousAssignment {
                        blocks: of(homes),
                        penalty: 1,
                        scale: 2,
                        sizes: sizes.as_ref().map(|sizes| {
                            part.ranges().own().map(|v| sizes[v as usize]).collect::<Vec<Weight>>()
                        }),
                    });
                    let mut blocks = of(&start);
                    let fixed = is_fixed.as_ref().map(|is_fixed| {
                        (0..part.num_local())
                            .map(|v| {
                                if is_fixed[part.global(v) as usize] {
                                    blocks[v]
                                } else {
                                    PreviousAssignment::NONE
                                }
                            })
                            .collect::<Vec<_>>()
                    });
                    let task = Task {
                        graph: part,
                        distances,
                        bounds: &bounds,
                        homes: homes.as_ref(),
                        fixed: fixed.as_deref(),
                    };
                    let quality = refine(comm, task, &mut blocks, 0.25, &RefineConfig::default(), round);
                    assert_eq!(quality, super::quality(comm, task, &blocks));
                    // Ghosts are in the blocks of the vertices that they are.
                    let mut again = blocks.clone();
                    part.update(comm, &mut again);
                    assert_eq!(again, blocks);
                    blocks.truncate(part.num_own());
                    (blocks, quality)
                });
                let quality = parts[0].1;
                (parts.into_iter().flat_map(|part| part.0).collect(), quality)
            })
            .collect();
        let (blocks, quality) = &found[0];
        assert!(found.iter().all(|one| one == &found[0]), "round {round}");
        if let Some(is_fixed) = &is_fixed {
            assert!(graph.nodes().all(|v| !is_fixed[v as usize] || blocks[v as usize] == start[v as usize]));
        }
        let mut loads = vec![0; *num_blocks];
        graph.nodes().for_each(|v| loads[blocks[v as usize] as usize] += graph.node_weight(v));
        assert!(loads.iter().zip(&bounds.most).all(|(load, bound)| load <= bound), "{loads:?} {bounds:?}");
        let full = |blocks: &[BlockId]| {
            let cost = i128::from(cost_of(&graph, distances, blocks));
            let Some(homes) = &homes else { return cost };
            let away = graph.nodes().filter(|&v| blocks[v as usize] != homes[v as usize]);
            let size = |v: u32| sizes.as_ref().map_or(graph.node_weight(v), |sizes| sizes[v as usize]);
            2 * cost + 2 * away.map(|v| i128::from(size(v))).sum::<i128>()
        };
        let empty = (0..*num_blocks as BlockId).filter(|block| !blocks.contains(block)).count();
        assert_eq!(
            *quality,
            Quality { worst: 0, overload: 0, shortfall: 0, empty: empty as u64, cost: full(blocks) }
        );
        better += u32::from(full(blocks) < full(&start));
    }
    assert!(better > 45, "{better}");
}

#[test]
fn exact_sizes_are_reached_from_any_partition() {
    let graph = viem::graph::generate::grid(12, 10);
    for (num_blocks, seed) in [(1, 0), (5, 1), (12, 2), (40, 3), (120, 4)] {
        let bounds = Bounds::of(vec![120 / num_blocks as Weight; num_blocks]);
        for size in [1, 3, 8] {
            let loads = on_ranks(size, &graph, seed, |comm, part| {
                let distances = BlockDistances::cut();
                let task =
                    Task { graph: part, distances: &distances, bounds: &bounds, homes: None, fixed: None };
                // All in the first block.
                let mut blocks = vec![0; part.num_local()];
                refine(comm, task, &mut blocks, 0.25, &RefineConfig::default(), seed);
                super::loads(comm, part, &blocks, num_blocks)
            });
            assert!(loads.iter().all(|loads| *loads == bounds.most), "{num_blocks}: {loads:?}");
        }
    }
}

#[test]
fn what_cannot_be_balanced_ends() {
    // Three vertices of weight 4 and bounds of 6 for two blocks.
    let graph = CsrGraph::from_weights_and_edges(vec![4; 3], [(0, 1, 1)]).unwrap();
    let quality = on_ranks(2, &graph, 0, |comm, part| {
        let distances = BlockDistances::cut();
        let task = Task {
            graph: part,
            distances: &distances,
            bounds: &Bounds::of(vec![6, 6]),
            homes: None,
            fixed: None,
        };
        refine(comm, task, &mut vec![0; part.num_local()], 0.25, &RefineConfig::default(), 0)
    });
    assert!(quality.iter().all(|quality| quality.overload == 2), "{quality:?}");
}

/// The fewest empty blocks of all assignments within the bounds.
fn fewest_empty(graph: &CsrGraph, most: &[Weight]) -> Option<u64> {
    let (n, k) = (graph.num_nodes() as u32, most.len());
    let assignment =
        |mut number: usize| -> Vec<usize> { (0..n).map(|_| (number % k, number /= k).0).collect() };
    let of = |blocks: Vec<usize>| {
        let (mut loads, mut counts) = (vec![0; k], vec![0; k]);
        for (node, block) in blocks.into_iter().enumerate() {
            loads[block] += graph.node_weight(node as u32);
            counts[block] += 1;
        }
        let quality = Bounds::of(most.to_vec()).quality(&loads, &counts, 0);
        (quality.overload == 0).then_some(quality.empty)
    };
    (0..k.pow(n)).filter_map(|number| of(assignment(number))).min()
}

#[test]
fn empty_blocks_get_vertices_wherever_bounds_allow_it() {
    let mut rng = Rng::new(37);
    let mut filled = 0;
    for round in 0..200 {
        let n = 3 + rng.below(4);
        let mut builder = viem::graph::GraphBuilder::new(n as usize);
        (1..n).for_each(|v| builder.add_edge(v - 1, v, 1 + Weight::from(rng.below(3))));
        (0..n).for_each(|v| builder.set_node_weight(v, [0, 0, 1, 1, 3, 6][rng.below(6) as usize]));
        let graph = builder.build().unwrap();
        let num_blocks = 2 + rng.below(3) as usize;
        let most: Vec<Weight> = (0..num_blocks).map(|_| [0, 1, 3, 7, 30][rng.below(5) as usize]).collect();
        let bounds = Bounds::of(most.clone());
        let in_use = 1 + rng.below(num_blocks as u32);
        let start: Vec<BlockId> = (0..n).map(|_| rng.below(in_use)).collect();
        let on = |size: usize| {
            let parts = on_ranks(size, &graph, round, |comm, part| {
                let distances = BlockDistances::cut();
                let task =
                    Task { graph: part, distances: &distances, bounds: &bounds, homes: None, fixed: None };
                let blocks = (0..part.num_local()).map(|v| start[part.global(v) as usize]).collect();
                let mut state = State::new(comm, task, blocks);
                let before = state.quality();
                state.fill_empty();
                let after = state.quality();
                assert_eq!(after, super::quality(comm, task, &state.blocks));
                (before, after, state.blocks[..part.num_own()].to_vec())
            });
            let blocks: Vec<BlockId> = parts.iter().flat_map(|part| part.2.clone()).collect();
            (parts[0].0, parts[0].1, blocks)
        };
        let (before, after, blocks) = on(1);
        for size in [2, 3, 4] {
            assert_eq!(on(size), (before, after, blocks.clone()), "round {round}");
        }
        assert!(after.overload <= before.overload && after.empty <= before.empty, "round {round}");
        if before.overload == 0 {
            assert_eq!(Some(after.empty), fewest_empty(&graph, &most), "round {round}: {start:?} {most:?}");
        }
        filled += before.empty - after.empty;
    }
    assert!(filled > 50, "{filled}");
}

#[test]
fn blocks_that_are_to_stay_empty_do() {
    let graph = viem::graph::generate::grid(6, 1);
    let bounds = Bounds { closed: vec![false, true, false], ..Bounds::of(vec![6, 0, 6]) };
    let blocks = on_ranks(2, &graph, 0, |comm, part| {
        let distances = BlockDistances::cut();
        let task = Task { graph: part, distances: &distances, bounds: &bounds, homes: None, fixed: None };
        let mut blocks = vec![0; part.num_local()];
        let quality = refine(comm, task, &mut blocks, 0.25, &RefineConfig::default(), 0);
        assert_eq!(quality, Quality { worst: 0, overload: 0, shortfall: 0, empty: 0, cost: 2 });
        blocks.truncate(part.num_own());
        blocks
    });
    let blocks = blocks.concat();
    assert!(blocks.contains(&0) && blocks.contains(&2) && !blocks.contains(&1), "{blocks:?}");
}
