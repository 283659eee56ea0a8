//! The multilevel partitioner, and the order that it makes.
//!
//! For an order, the vertices are divided into parts with few edges between them; the parts are put in an order in which
//! parts connected by many edges are near each other ([`arrangement`](super::arrangement)); and so on inside each part,
//! whose vertices are then pulled towards what stands before and behind it. Small sets of pulled vertices are sorted by the
//! mean position of their neighbours. Costs a partition of the whole graph for each of log n / log 64 levels.

use crate::base::rng::derive;
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::subgraph::split;
use crate::graph::{CsrGraph, quotient};
use crate::partition::orders::arrangement;
use crate::partition::orders::input::{Method, PartitionAlgorithmError, PartitionInput};
use crate::partition::partitioner::Partitioner;
use crate::partition::targets::Targets;

/// The greatest number of parts of one division, and of vertices that are not divided further. More parts give better orders
/// until annealing them takes as long as the partition.
const FAN_OUT: usize = 64;

/// Sweeps over the vertices that are sorted by the mean position of their neighbours.
const SWEEPS: usize = 30;

pub(super) fn method() -> Method {
    Method { order, parts: Some(parts), is_recursive: false, needs_coordinates: false }
}

fn parts(input: &PartitionInput<'_>, targets: &Targets) -> Result<Vec<BlockId>, PartitionAlgorithmError> {
    let partitioner = Partitioner::new(input.preset, input.seed).observed(input.observer);
    Ok(partitioner.partition(input.graph, targets).into_blocks())
}

fn order(input: &PartitionInput<'_>) -> Result<Vec<NodeId>, PartitionAlgorithmError> {
    let graph = input.graph.clone().with_unit_node_weights();
    if graph.num_nodes() <= FAN_OUT {
        let pulls = vec![[0; 2]; graph.num_nodes()];
        return Ok(arrangement::arrange(&graph, &pulls, arrangement::MANY, input.seed, input.observer));
    }
    let (nodes, pulls) = (graph.nodes().collect(), vec![[0; 2]; graph.num_nodes()]);
    let mut places = vec![0; graph.num_nodes()];
    Piece { graph, nodes, pulls }.arrange(input, input.seed, &mut places);
    Ok(places)
}

/// Vertices that stand together in the order.
struct Piece {
    graph: CsrGraph,
    /// What they are in the whole graph.
    nodes: Vec<NodeId>,
    /// The weight of the edges of each vertex to what stands before the piece, and behind it.
    pulls: Vec<[Weight; 2]>,
}

impl Piece {
    /// Puts the vertices in order.
    fn arrange(self, input: &PartitionInput<'_>, seed: u64, places: &mut [NodeId]) {
        let count = self.nodes.len();
        let is_pulled = self.pulls.iter().any(|pull| *pull != [0; 2]);
        if count <= 2 * FAN_OUT && is_pulled {
            return self.place(&self.by_mean_of_neighbours(), places);
        }
        if count <= FAN_OUT {
            let order =
                arrangement::arrange(&self.graph, &self.pulls, arrangement::FEW, seed, input.observer);
            return self.place(&order, places);
        }
        let num_parts = count.div_ceil(FAN_OUT).min(FAN_OUT);
        let targets = Targets::equal(&self.graph, num_parts, 0.03).expect("there are parts");
        let partitioner = Partitioner::new(input.preset, seed).basic().observed(input.observer);
        let parts = partitioner.partition(&self.graph, &targets).into_blocks();
        let mut pulls = vec![[0; 2]; num_parts];
        for (&part, pull) in parts.iter().zip(&self.pulls) {
            pulls[part as usize] = sum(pulls[part as usize], *pull);
        }
        let quotient = quotient::contract(&self.graph, &parts, num_parts);
        let order =
            arrangement::arrange(&quotient, &pulls, arrangement::MANY, derive(seed, 0), input.observer);
        let mut rest = places;
        let pieces: Vec<(Piece, &mut [NodeId])> = (self.divided(&parts, &order).into_iter())
            .map(|piece| {
                let (own, behind) = std::mem::take(&mut rest).split_at_mut(piece.nodes.len());
                rest = behind;
                (piece, own)
            })
            .collect();
        threads::map_each(pieces.into_iter().enumerate().collect(), &|(index, (piece, places))| {
            piece.arrange(input, derive(seed, index as u64 + 1), places);
        });
    }

    fn place(&self, order: &[NodeId], places: &mut [NodeId]) {
        places.iter_mut().zip(order).for_each(|(place, &node)| *place = self.nodes[node as usize]);
    }

    /// The parts in an order, each with what pulls its vertices then.
    fn divided(self, parts: &[BlockId], order: &[BlockId]) -> Vec<Piece> {
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &part)| rank[part as usize] = place as BlockId);
        let ranks: Vec<BlockId> = parts.iter().map(|&part| rank[part as usize]).collect();
        let pull = |node: NodeId| {
            let own = ranks[node as usize];
            let mut pull = self.pulls[node as usize];
            for (other, weight) in self.graph.arcs(node) {
                let other = ranks[other as usize];
                pull =
                    sum(pull, [if other < own { weight } else { 0 }, if other > own { weight } else { 0 }]);
            }
            pull
        };
        let piece = |(graph, inner): (CsrGraph, Vec<NodeId>)| Piece {
            graph,
            pulls: inner.iter().map(|&node| pull(node)).collect(),
            nodes: inner.iter().map(|&node| self.nodes[node as usize]).collect(),
        };
        split(&self.graph, &ranks, order.len()).into_iter().map(piece).collect()
    }

    /// The vertices sorted by numbers of which each is the mean of those of its neighbours; what stands before the piece
    /// counts as -1, what stands behind it as 1.
    fn by_mean_of_neighbours(&self) -> Vec<NodeId> {
        let mut value = vec![0.0; self.nodes.len()];
        for _ in 0..SWEEPS {
            for node in self.graph.nodes() {
                let [before, behind] = self.pulls[node as usize];
                let (mut sum, mut weights) = ((behind - before) as f64, (behind + before) as f64);
                for (other, weight) in self.graph.arcs(node) {
                    sum += weight as f64 * value[other as usize];
                    weights += weight as f64;
                }
                value[node as usize] = if weights > 0.0 { sum / weights } else { 0.0 };
            }
        }
        let mut order: Vec<NodeId> = self.graph.nodes().collect();
        order.sort_by(|&a, &b| value[a as usize].total_cmp(&value[b as usize]).then(a.cmp(&b)));
        order
    }
}

fn sum(a: [Weight; 2], b: [Weight; 2]) -> [Weight; 2] {
    [a[0] + b[0], a[1] + b[1]]
}
