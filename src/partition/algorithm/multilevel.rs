//! The multilevel partitioner. For an order, it halves sets of vertices to the end.

use super::recursive::{self, Halving, Share};
use super::{AlgorithmError, Input, Method, Targets};
use crate::graph::CsrGraph;
use crate::graph::subgraph::split;
use crate::observer::Observer;
use crate::partition::{Partitioner, Preset};
use crate::types::{BlockId, NodeId, Weight};

pub(super) fn method() -> Method {
    Method::Division { parts, order, is_recursive: false }
}

fn parts(input: &Input<'_>, targets: &Targets) -> Result<Vec<BlockId>, AlgorithmError> {
    let partitioner = Partitioner::new(input.preset, input.seed);
    Ok(partitioner.partition_watched(input.graph, targets, input.observer).into_blocks())
}

fn order(input: &Input<'_>) -> Result<Vec<NodeId>, AlgorithmError> {
    let graph = input.graph.clone().with_unit_node_weights();
    let nodes = graph.nodes().collect();
    let bisection = Bisection { preset: input.preset, observer: input.observer };
    Ok(recursive::order(&bisection, (graph, nodes), input.seed))
}

struct Bisection<'a> {
    preset: Preset,
    observer: &'a dyn Observer,
}

impl Halving for Bisection<'_> {
    type Set = (CsrGraph, Vec<NodeId>);

    fn len((_, nodes): &Self::Set) -> usize {
        nodes.len()
    }

    fn nodes((_, nodes): Self::Set) -> Vec<NodeId> {
        nodes
    }

    fn halve(&self, (graph, nodes): Self::Set, share: Share, seed: u64) -> [Self::Set; 2] {
        let first = share.of(graph.total_node_weight()) as Weight;
        let sizes = vec![first, graph.total_node_weight() - first];
        let targets = Targets::sizes(&graph, sizes, 0.0).expect("the sizes sum up to the weight");
        let partitioner = Partitioner::new(self.preset, seed);
        let blocks = partitioner.partition_watched(&graph, &targets, self.observer).into_blocks();
        let halves = split(&graph, &blocks, 2).into_iter();
        let outer = |(half, inner): (CsrGraph, Vec<NodeId>)| {
            (half, inner.into_iter().map(|node| nodes[node as usize]).collect())
        };
        halves.map(outer).collect::<Vec<_>>().try_into().expect("two halves")
    }
}
