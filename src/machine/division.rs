//! Dividing a machine into parts.
//!
//! Trees, grids and hypercubes know their parts. Networks are bisected recursively by the partitioner, which prefers to cut few
//! and expensive links; the PEs of a router stay together. A machine that is given by its distances alone is divided like the network that joins
//! each PE with those nearest to it.

use crate::base::observer::Observer;
use crate::base::types::{Distance, NodeId, PeId, Weight};
use crate::graph::{CsrGraph, GraphBuilder, subgraph};
use crate::machine::{DistanceOracle, Distances, Machine, PartTree, Parts};
use crate::partition::{PartitionPreset, Partitioner, Targets};

pub use super::parts::Division;

/// Imbalance of a bisection of a network: routers cannot be divided.
const IMBALANCE: f64 = 0.1;

/// Number of nearest PEs that each PE is joined with where only distances are known.
const NEAREST: usize = 8;

/// Edge weight of the cheapest link for the partitioner; a link of twice the cost weighs half of that.
const CHEAPEST: Distance = 1 << 10;

impl Parts {
    /// The parts of a machine with these distances.
    pub fn of(machine: &dyn Machine, distances: &Distances) -> Self {
        divide(machine, distances, &())
    }
}

/// The parts of a machine with these distances. Once the observer asks to stop, nothing is partitioned further.
pub(crate) fn divide(machine: &dyn Machine, distances: &Distances, observer: &dyn Observer) -> Parts {
    match machine.division() {
        Division::Parts(parts) => parts,
        Division::Network { graph, vertex_of } => {
            divide_network(&graph, &vertex_of, |pe| machine.capacity(pe), observer)
        }
        Division::ByDistance => {
            let graph = nearest_graph(distances);
            let vertex_of: Vec<NodeId> = (0..machine.num_pes() as NodeId).collect();
            divide_network(&graph, &vertex_of, |pe| machine.capacity(pe), observer)
        }
    }
}

/// The graph that joins each PE with those nearest to it; edge weights are distances, at least 1. O(n²).
fn nearest_graph(distances: &Distances) -> CsrGraph {
    let n = distances.num_pes() as PeId;
    let mut pairs: Vec<(PeId, PeId, Distance)> = Vec::with_capacity(NEAREST * n as usize);
    let pes: Vec<PeId> = (0..n).collect();
    let (mut row, mut nearest) = (vec![0; n as usize], Vec::with_capacity(n as usize));
    for p in 0..n {
        distances.fill_row(p, &pes, &mut row);
        let others = (0..n).zip(&row).filter(|&(q, _)| q != p);
        nearest.clear();
        nearest.extend(others.map(|(q, &distance)| (distance, q.wrapping_sub(p))));
        if nearest.len() > NEAREST {
            nearest.select_nth_unstable(NEAREST);
            nearest.truncate(NEAREST);
        }
        let pair = |&(distance, offset): &(Distance, PeId)| {
            let q = p.wrapping_add(offset);
            (p.min(q), p.max(q), distance.max(1))
        };
        pairs.extend(nearest.iter().map(pair));
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut builder = GraphBuilder::new(n as usize);
    // If the sum of the weights would be too large, only the leading bits of the distances count.
    let fits = pairs
        .iter()
        .try_fold(0i64, |sum, &(_, _, distance)| sum.checked_add(distance))
        .is_some_and(|sum| sum < Weight::MAX / 4);
    for (p, q, distance) in pairs {
        builder.add_edge(p, q, if fits { distance } else { (distance >> 32).max(1) });
    }
    builder.build().expect("each pair is added once, and the weights are small")
}

/// Bisects a network recursively. `vertex_of` is the vertex of each PE, and the edge weights of `graph` are the costs of the links.
fn divide_network(
    graph: &CsrGraph,
    vertex_of: &[NodeId],
    capacity: impl Fn(PeId) -> u32,
    observer: &dyn Observer,
) -> Parts {
    let mut pes_at: Vec<Vec<PeId>> = vec![Vec::new(); graph.num_nodes()];
    let mut weights: Vec<Weight> = vec![0; graph.num_nodes()];
    for (pe, &vertex) in vertex_of.iter().enumerate() {
        pes_at[vertex as usize].push(pe as PeId);
        weights[vertex as usize] += Weight::from(capacity(pe as PeId));
    }
    let nodes: Vec<NodeId> = graph.nodes().collect();
    Parts::from_tree(&halve(&closeness(graph, &weights), &nodes, &mut pes_at, 0, observer))
}

/// The network with edge weights that are the larger the cheaper the link.
fn closeness(graph: &CsrGraph, node_weights: &[Weight]) -> CsrGraph {
    let cheapest = graph.edge_weights().and_then(|weights| weights.iter().copied().min()).unwrap_or(1);
    let mut builder = GraphBuilder::new(graph.num_nodes());
    for u in graph.nodes() {
        builder.set_node_weight(u, node_weights[u as usize]);
        for (v, cost) in graph.arcs(u).filter(|&(v, _)| v < u) {
            let close = i128::from(CHEAPEST) * i128::from(cheapest) / i128::from(cost);
            builder.add_edge(u, v, (close as Weight).max(1));
        }
    }
    builder.build().expect("the same edges, none of them heavy")
}

/// Bisects a part of a network, whose vertices are `nodes` of the whole. `pes_at` are the PEs at each vertex of the whole; they
/// are moved out.
fn halve(
    graph: &CsrGraph,
    nodes: &[NodeId],
    pes_at: &mut [Vec<PeId>],
    depth: u64,
    observer: &dyn Observer,
) -> PartTree {
    let mut holders = graph.nodes().filter(|&node| !pes_at[nodes[node as usize] as usize].is_empty());
    if holders.by_ref().nth(1).is_none() || observer.should_stop() {
        let pes = nodes.iter().flat_map(|&node| std::mem::take(&mut pes_at[node as usize]));
        return PartTree::Whole(pes.collect());
    }
    let targets = Targets::equal(graph, 2, IMBALANCE).expect("two blocks");
    let partition =
        Partitioner::new(PartitionPreset::Fast, depth).basic().observed(observer).partition(graph, &targets);
    let mut blocks = partition.into_blocks();
    separate(nodes, pes_at, &mut blocks);
    let mut half = |(part, members): (CsrGraph, Vec<NodeId>)| {
        let members: Vec<NodeId> = members.into_iter().map(|node| nodes[node as usize]).collect();
        halve(&part, &members, pes_at, depth + 1, observer)
    };
    PartTree::Divided(subgraph::split(graph, &blocks, 2).into_iter().map(&mut half).collect())
}

/// Makes sure that both halves hold PEs; at least two vertices do.
fn separate(nodes: &[NodeId], pes_at: &[Vec<PeId>], blocks: &mut [u32]) {
    for block in [0, 1] {
        let mut holders = (0..nodes.len()).filter(|&node| !pes_at[nodes[node] as usize].is_empty());
        let first = holders.clone().next().expect("two vertices hold PEs");
        if holders.all(|node| blocks[node] != block) {
            blocks[first] = block;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{DistanceMatrix, Network};
    use crate::testing::Stops;

    #[test]
    fn what_is_not_divided_in_time_stays_whole() {
        let mut builder = GraphBuilder::new(9);
        (1..9).for_each(|v| builder.add_edge(v - 1, v, 1));
        let network = Network::new(builder.build().unwrap()).unwrap();
        let matrix = DistanceMatrix::from_fn(9, |p, q| Distance::from(p.abs_diff(q))).unwrap();
        let machines: [&dyn Machine; 2] = [&network, &matrix];
        for machine in machines {
            let distances = machine.distances().unwrap();
            assert!(Parts::of(machine, &distances).num_parts() > 9);
            assert_eq!(divide(machine, &distances, &Stops), Parts::whole((0..9).collect()));
        }
    }
}
