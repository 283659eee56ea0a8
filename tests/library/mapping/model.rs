//! Models: the quotient graph of an application graph if each process gets one block of it.

use crate::common::{check_partition, check_quotient, random_edges};
use proptest::prelude::*;
use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem::ground::rng::Rng;
use viem::mapping::model::{ModelConfig, ModelError, generate};
use viem::partition::PartitionPreset;

fn config(num_blocks: usize) -> ModelConfig {
    ModelConfig::preset(PartitionPreset::Fast, num_blocks).with_seed(1)
}

#[test]
fn edges_have_the_weight_between_the_blocks() {
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
        }
        check_quotient(&graph, blocks, &model.graph);
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
fn no_block_is_empty_whatever_the_vertices_weigh() {
    let path = |weights: &[i64]| {
        let edges = (1..weights.len() as u32).map(|node| (node - 1, node, 1));
        CsrGraph::from_weights_and_edges(weights.to_vec(), edges).unwrap()
    };
    let all =
        [&[0; 6][..], &[1, 0, 0, 0, 0, 0], &[10, 10, 10, 1], &[i64::MAX, 0, 0, 0], &[i64::MAX / 2, 0, 0, 3]];
    for weights in all {
        for num_blocks in 1..=weights.len() {
            for preset in PartitionPreset::ALL {
                let model =
                    generate(&path(weights), &ModelConfig::preset(preset, num_blocks).with_seed(1)).unwrap();
                let is_used = |block: u32| model.partition.blocks().contains(&block);
                assert!(model.graph.nodes().all(is_used), "{weights:?} {num_blocks}: {:?}", model.partition);
            }
        }
    }
}

#[test]
fn impossible_models_are_rejected() {
    let graph = generate::grid(3, 3);
    let refused = generate(&graph, &config(10)).unwrap_err();
    assert!(matches!(refused, ModelError::NumBlocks { num_blocks: 10, num_nodes: 9 }));
    let refused = generate(&generate::grid(0, 0), &config(1)).unwrap_err();
    assert!(refused.to_string().ends_with("give a graph that has vertices"), "{refused}");
    assert!(matches!(generate(&graph, &config(0)), Err(ModelError::Targets(_))));
    for imbalance in [-0.1, f64::NAN, f64::INFINITY] {
        let result = generate(&graph, &config(3).with_imbalance(imbalance));
        assert!(matches!(result, Err(ModelError::Targets(_))), "{imbalance}");
    }
}

/// Weights that are mostly 0, partly large, or all of a kind.
fn node_weights() -> impl Strategy<Value = Vec<i64>> {
    let weight = prop_oneof![4 => Just(0), 4 => 1..4i64, 1 => 1..1000i64, 1 => 0..i64::MAX / 64];
    prop_oneof![prop::collection::vec(weight, 1..60), prop::collection::vec(0..2i64, 1..60)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn block_weights_are_as_reported(
        weights in node_weights(), degree in 0..6usize, share in 0.0..1.0, preset in 0..6usize, seed: u64,
        imbalance in prop::sample::select(vec![0.0, 0.03, 1.0]),
    ) {
        let n = weights.len() as u32;
        let mut rng = Rng::new(seed);
        let mut builder = GraphBuilder::new(weights.len());
        for (node, &weight) in (0..n).zip(&weights) {
            builder.set_node_weight(node, weight);
        }
        for (u, v) in random_edges(weights.len(), weights.len() * degree / 2, &mut rng) {
            builder.add_edge(u, v, 1 + i64::from(u % 5));
        }
        let graph = builder.build().unwrap();
        let num_blocks = 1 + (share * f64::from(n)) as usize;
        let config = ModelConfig::preset(PartitionPreset::ALL[preset], num_blocks).with_imbalance(imbalance).with_seed(seed);
        let model = generate(&graph, &config).unwrap();
        check_partition(&graph, &model.partition);
        check_quotient(&graph, model.partition.blocks(), &model.graph);
        prop_assert!(model.graph.nodes().all(|block| model.partition.blocks().contains(&block)));
    }
}
