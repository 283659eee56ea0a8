//! Recursive spectral bisection: a connected graph is cut at the weighted median of its Fiedler vector, the eigenvector of the second
//! least eigenvalue of its Laplacian.
//!
//! In a graph that is not connected, whole components go to the first half as long as they fit, the heaviest first; the
//! lightest that does not fit is cut by its own Fiedler vector. Costs a Fiedler vector
//! ([`spectral`](crate::partition::orders::spectral)) of the whole graph for each of log k levels; memory O(n + m).
//!
//! A. Pothen, H. D. Simon, K.-P. Liou: Partitioning sparse matrices with eigenvectors of graphs. SIAM Journal on Matrix Analysis and
//! Applications 11(3), 1990. S. T. Barnard, H. D. Simon: A fast multilevel implementation of recursive spectral bisection. Concurrency:
//! Practice and Experience 6(2), 1994.

use std::cmp::Reverse;
use std::marker::PhantomData;

use super::recursive::{self, Halving, Share};
use crate::base::observer::Observer;
use crate::base::types::{BlockId, NodeId};
use crate::graph::components::components;
use crate::partition::compact::{self, CompactGraph, Piece, Stored};
use crate::partition::orders::index::count_before;
use crate::partition::orders::input::{Method, PartitionAlgorithmError, PartitionInput};
use crate::partition::orders::spectral::fiedler;
use crate::partition::targets::Targets;

pub(super) fn method() -> Method {
    Method { order, parts: Some(parts), is_recursive: true, needs_coordinates: false }
}

fn parts(input: &PartitionInput<'_>, targets: &Targets) -> Result<Vec<BlockId>, PartitionAlgorithmError> {
    fn stored<W: Stored>(input: &PartitionInput<'_>, targets: &Targets) -> Vec<BlockId> {
        let all = (CompactGraph::<W>::new(input.graph), input.graph.nodes().collect());
        recursive::parts(&Rsb::watched(input.observer), all, input, targets)
    }
    let is_narrow = compact::is_narrow(input.graph);
    Ok(if is_narrow { stored::<i32>(input, targets) } else { stored::<i64>(input, targets) })
}

fn order(input: &PartitionInput<'_>) -> Result<Vec<NodeId>, PartitionAlgorithmError> {
    fn stored<W: Stored>(input: &PartitionInput<'_>) -> Vec<NodeId> {
        let graph = CompactGraph::<W>::new(input.graph).with_unit_node_weights();
        let nodes = input.graph.nodes().collect();
        recursive::order(&Rsb::watched(input.observer), (graph, nodes), input.seed)
    }
    let is_narrow = compact::is_narrow(input.graph);
    Ok(if is_narrow { stored::<i32>(input) } else { stored::<i64>(input) })
}

struct Rsb<'a, W> {
    observer: &'a dyn Observer,
    stored: PhantomData<W>,
}

impl<'a, W> Rsb<'a, W> {
    fn watched(observer: &'a dyn Observer) -> Self {
        Self { observer, stored: PhantomData }
    }
}

impl<'a, W: Stored> Halving for Rsb<'a, W> {
    type Set = (CompactGraph<'a, W>, Vec<NodeId>);

    fn len((_, nodes): &Self::Set) -> usize {
        nodes.len()
    }

    fn nodes((_, nodes): Self::Set) -> Vec<NodeId> {
        nodes
    }

    fn halve(&self, (graph, nodes): Self::Set, share: Share, seed: u64) -> [Self::Set; 2] {
        let target = share.of(graph.total_node_weight());
        let order = spectral_order(&graph, target, seed, self.observer);
        let first = count_before(order.iter().map(|&node| graph.node_weight(node)), target);
        let mut sides = vec![1; graph.num_nodes()];
        order[..first].iter().for_each(|&node| sides[node as usize] = 0);
        let outer =
            |(half, inner): Piece<W>| (half, inner.into_iter().map(|node| nodes[node as usize]).collect());
        let halves: Vec<Self::Set> = graph.split(&sides, 2).into_iter().map(outer).collect();
        halves.try_into().ok().expect("two halves")
    }
}

/// The vertices in an order of which the first ones, up to a weight, should be cut off.
fn spectral_order<W: Stored>(
    graph: &CompactGraph<'_, W>,
    target: i128,
    seed: u64,
    observer: &dyn Observer,
) -> Vec<NodeId> {
    if observer.should_stop() {
        return graph.nodes().collect();
    }
    let (component_of, count) =
        components(graph.num_nodes(), |node| graph.arcs(node).iter().map(|arc| arc.target));
    if count == 1 {
        return by_fiedler_vector(graph, seed, observer);
    }
    let weights = graph.block_weights(&component_of, count);
    let mut by_weight: Vec<BlockId> = (0..count as BlockId).collect();
    by_weight.sort_by_key(|&component| (Reverse(weights[component as usize]), component));
    let mut room = target;
    let fits = |&component: &BlockId| {
        let weight = i128::from(weights[component as usize]);
        let fits = weight <= room;
        room -= if fits { weight } else { 0 };
        fits
    };
    let (mut first, mut second): (Vec<BlockId>, Vec<BlockId>) = by_weight.into_iter().partition(fits);
    // The lightest that did not fit weighs more than the room that is left.
    let cut = second.pop();
    let whole = first.len();
    first.extend(cut);
    first.extend(second);
    let mut rank = vec![0; count];
    first.iter().enumerate().for_each(|(place, &component)| rank[component as usize] = place);
    let mut order: Vec<NodeId> = graph.nodes().collect();
    order.sort_by_key(|&node| rank[component_of[node as usize] as usize]);
    if let Some(component) = cut.filter(|_| room > 0) {
        let is_cut: Vec<BlockId> =
            component_of.iter().map(|&other| BlockId::from(other == component)).collect();
        let (inside, nodes) = graph.split(&is_cut, 2).pop().expect("two parts");
        let begin = order.partition_point(|&node| rank[component_of[node as usize] as usize] < whole);
        for (place, node) in order[begin..].iter_mut().zip(by_fiedler_vector(&inside, seed, observer)) {
            *place = nodes[node as usize];
        }
    }
    order
}

/// The vertices of a connected graph in the order of its Fiedler vector.
fn by_fiedler_vector<W: Stored>(
    graph: &CompactGraph<'_, W>,
    seed: u64,
    observer: &dyn Observer,
) -> Vec<NodeId> {
    let mut order: Vec<NodeId> = graph.nodes().collect();
    let vector = fiedler(graph, seed, observer).vector;
    order.sort_by(|&a, &b| vector[a as usize].total_cmp(&vector[b as usize]).then(a.cmp(&b)));
    order
}
