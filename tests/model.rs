//! Models: what an application graph becomes when each process gets a block of it.

use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem::model::{ModelConfig, ModelError, generate};
use viem::partition::Preset;

fn config(num_blocks: usize) -> ModelConfig {
    ModelConfig { num_blocks, preset: Preset::Fast, imbalance: 0.03, seed: 1, threads: 1 }
}

/// The weight between two blocks, by looking at every edge.
fn weight_between(graph: &CsrGraph, blocks: &[u32], a: u32, b: u32) -> i64 {
    let members = graph.nodes().filter(|&node| blocks[node as usize] == a);
    let arcs = members.flat_map(|node| graph.arcs(node));
    arcs.filter(|&(target, _)| blocks[target as usize] == b).map(|(_, weight)| weight).sum()
}

#[test]
fn edges_weigh_what_runs_between_the_blocks() {
    let mut builder = GraphBuilder::new(60);
    let mesh = generate::mesh(10, 6, 5);
    for u in mesh.nodes() {
        builder.set_node_weight(u, 1 + i64::from(u % 3));
        for (v, _) in mesh.arcs(u).filter(|&(v, _)| v < u) {
            builder.add_edge(u, v, i64::from(u + v));
        }
    }
    let graph = builder.build().unwrap();
    for num_blocks in [1, 2, 7, 60] {
        let model = generate(&graph, &config(num_blocks)).unwrap();
        let blocks = model.partition.blocks();
        assert_eq!(model.graph.num_nodes(), num_blocks);
        assert!(model.graph.node_weights().iter().all(|&weight| weight == 1));
        for a in model.graph.nodes() {
            assert!(blocks.contains(&a), "block {a} of {num_blocks} is empty");
            for b in model.graph.nodes().filter(|&b| b != a) {
                let weight = model.graph.arcs(a).find(|&(target, _)| target == b).map_or(0, |arc| arc.1);
                assert_eq!(weight, weight_between(&graph, blocks, a, b), "{num_blocks}: {a} {b}");
            }
        }
        assert_eq!(model.graph.total_arc_weight(), 2 * model.partition.cut());
    }
}

#[test]
fn no_block_is_empty_even_without_edges() {
    let graph = GraphBuilder::new(9).build().unwrap();
    for num_blocks in 1..=9 {
        let model = generate(&graph, &config(num_blocks)).unwrap();
        assert!(model.graph.nodes().all(|block| model.partition.blocks().contains(&block)));
    }
}

#[test]
fn impossible_models_are_refused() {
    let graph = generate::grid(3, 3);
    let refused = generate(&graph, &config(10)).unwrap_err();
    assert!(matches!(refused, ModelError::NumBlocks { num_blocks: 10, num_nodes: 9 }));
    assert!(matches!(generate(&graph, &config(0)), Err(ModelError::Targets(_))));
    for imbalance in [-0.1, f64::NAN, f64::INFINITY] {
        let result = generate(&graph, &ModelConfig { imbalance, ..config(3) });
        assert!(matches!(result, Err(ModelError::Targets(_))), "{imbalance}");
    }
}
