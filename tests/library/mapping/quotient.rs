//! Models: the quotient graph of an application graph if each process gets one block of it.

use crate::common::{divided, random_edges};
use proptest::prelude::*;
use viem::Config;
use viem::base::rng::Rng;
use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem::machine::Blocks;
use viem::partition::{PartitionPreset, TargetsError};

fn config(preset: PartitionPreset) -> Config {
    Config::from(preset).with_seed(1)
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
        let solution = divided(&graph, num_blocks, 0.03, &config(PartitionPreset::Fast));
        let model = solution.mapping.quotient(&graph, num_blocks);
        assert_eq!(model.num_nodes(), num_blocks);
        assert!(model.node_weights().iter().all(|&weight| weight == 1));
        assert_eq!(model.total_arc_weight(), 2 * solution.report.cut);
    }
}

#[test]
fn no_block_is_empty_even_without_edges() {
    let graph = GraphBuilder::new(9).build().unwrap();
    for num_blocks in 1..=9 {
        divided(&graph, num_blocks, 0.03, &config(PartitionPreset::Fast));
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
                divided(&path(weights), num_blocks, 0.03, &config(preset));
            }
        }
    }
}

#[test]
fn there_are_no_more_blocks_than_vertices() {
    let (ten, one) = (Blocks::equal(10).unwrap(), Blocks::equal(1).unwrap());
    let refused = ten.check_enough(&generate::grid(3, 3)).unwrap_err();
    assert_eq!(refused, TargetsError::NumBlocks { num_blocks: 10, num_nodes: 9 });
    let refused = one.check_enough(&generate::grid(0, 0)).unwrap_err();
    assert!(refused.to_string().ends_with("give a graph that has vertices"), "{refused}");
    assert!(Blocks::equal(0).is_err());
    assert_eq!(Blocks::proportional(vec![0, 1]).unwrap().check_enough(&generate::grid(1, 1)), Ok(()));
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
        let config = Config::from(PartitionPreset::ALL[preset]).with_seed(seed);
        divided(&graph, num_blocks, imbalance, &config);
    }
}
