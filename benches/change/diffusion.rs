//! The peer for comparison: first-order diffusion between neighbouring parts, followed by moves of single
//! vertices.
//!
//! In each step, two parts with an edge between them exchange load in proportion to the difference of their
//! loads divided by their speeds. The sums of the exchanges are the flows. Vertices then move along the
//! flows, largest gain first. Loads end as near to their shares as the moves follow the flows; there is no
//! other refinement.
//!
//! Cybenko: Dynamic load balancing for distributed memory multiprocessors. JPDC 1989.

use std::collections::{BTreeMap, BinaryHeap};

use viem::graph::CsrGraph;

/// Upper limit on the steps of diffusion.
const STEPS: usize = 20_000;

/// Diffusion ends when no part deviates from its share by more than this fraction of it.
const TOLERANCE: f64 = 0.005;

/// The share of a removed part relative to that of a remaining one: first-order diffusion divides by it.
const LEFT: f64 = 1e-3;

type Between<'a> = &'a dyn Fn(u32, u32) -> i64;

/// The speed of each part: half for changed parts, or nearly zero if they are removed.
pub fn shares(num_parts: usize, changed: &[u32], have_left: bool) -> Vec<f64> {
    let slow = if have_left { LEFT } else { 0.5 };
    (0..num_parts as u32).map(|part| if changed.contains(&part) { slow } else { 1.0 }).collect()
}

/// J of a partition, or twice its cut.
pub fn cost(graph: &CsrGraph, blocks: &[u32], between: Between<'_>) -> i64 {
    let of_node = |u: u32| -> i64 {
        graph.arcs(u).map(|(v, weight)| weight * between(blocks[u as usize], blocks[v as usize])).sum()
    };
    graph.nodes().map(of_node).sum()
}

/// The part of each vertex after diffusion.
pub fn diffuse(graph: &CsrGraph, old: &[u32], shares: &[f64], between: Between<'_>) -> Vec<u32> {
    let mut blocks = old.to_vec();
    // If flows lead through parts that become neighbours only later, they are recomputed.
    for _ in 0..4 {
        let mut flows = flows(graph, &blocks, shares);
        for _ in 0..20 {
            if !follow(graph, &mut blocks, &mut flows, between) {
                break;
            }
        }
    }
    let left: Vec<bool> = shares.iter().map(|&share| share == LEFT).collect();
    while left.contains(&true) && empty(graph, &mut blocks, &left, between) {}
    blocks
}

/// The load that each part must give to each other part.
fn flows(graph: &CsrGraph, blocks: &[u32], shares: &[f64]) -> BTreeMap<(u32, u32), f64> {
    let mut loads = vec![0.0; shares.len()];
    let mut flows = BTreeMap::new();
    for node in graph.nodes() {
        let own = blocks[node as usize];
        loads[own as usize] += graph.node_weight(node) as f64;
        for (to, _) in graph.arcs(node) {
            let other = blocks[to as usize];
            if own < other {
                flows.insert((own, other), 0.0);
            }
        }
    }
    let mean = loads.iter().sum::<f64>() / shares.iter().sum::<f64>();
    let mut degrees = vec![0usize; shares.len()];
    for &(a, b) in flows.keys() {
        degrees[a as usize] += 1;
        degrees[b as usize] += 1;
    }
    for _ in 0..STEPS {
        let levels: Vec<f64> = loads.iter().zip(shares).map(|(load, share)| load / share).collect();
        for (&(a, b), flow) in &mut flows {
            let (a, b) = (a as usize, b as usize);
            let rate = shares[a].min(shares[b]) / (1 + degrees[a].max(degrees[b])) as f64;
            let step = rate * (levels[a] - levels[b]);
            *flow += step;
            loads[a] -= step;
            loads[b] += step;
        }
        let off = |(load, share): (&f64, &f64)| (load - mean * share).abs() <= TOLERANCE * mean;
        if loads.iter().zip(shares).all(off) {
            break;
        }
    }
    flows
}

/// The decrease of the cost, each edge counted once, if a vertex moves.
fn gain(graph: &CsrGraph, blocks: &[u32], node: u32, to: u32, between: Between<'_>) -> i64 {
    let own = blocks[node as usize];
    let nearer = |(other, weight): (u32, i64)| {
        let block = blocks[other as usize];
        weight * (between(own, block) - between(to, block))
    };
    graph.arcs(node).map(nearer).sum()
}

/// Moves vertices along the flows, largest gain first; returns whether any vertex has moved. Each move
/// reduces the remaining flow, so no vertex moves back and forth.
fn follow(
    graph: &CsrGraph,
    blocks: &mut [u32],
    flows: &mut BTreeMap<(u32, u32), f64>,
    between: Between<'_>,
) -> bool {
    let mut heap = BinaryHeap::new();
    let offer = |heap: &mut BinaryHeap<_>, blocks: &[u32], node: u32| {
        let mut next: Vec<u32> = graph.arcs(node).map(|(to, _)| blocks[to as usize]).collect();
        next.sort_unstable();
        next.dedup();
        for to in next.into_iter().filter(|&to| to != blocks[node as usize]) {
            heap.push((gain(graph, blocks, node, to, between), node, to));
        }
    };
    graph.nodes().for_each(|node| offer(&mut heap, blocks, node));
    let mut has_moved = false;
    while let Some((expected, node, to)) = heap.pop() {
        let own = blocks[node as usize];
        if own == to {
            continue;
        }
        let weight = graph.node_weight(node) as f64;
        let (pair, sign) = if own < to { ((own, to), 1.0) } else { ((to, own), -1.0) };
        let Some(flow) = flows.get_mut(&pair).filter(|flow| sign * **flow > weight / 2.0) else { continue };
        let present = gain(graph, blocks, node, to, between);
        if present < expected {
            heap.push((present, node, to));
            continue;
        }
        *flow -= sign * weight;
        blocks[node as usize] = to;
        has_moved = true;
        graph.arcs(node).for_each(|(other, _)| offer(&mut heap, blocks, other));
    }
    has_moved
}

/// Moves the remaining vertices of removed parts to the best neighbouring part; returns whether any vertex
/// has moved.
fn empty(graph: &CsrGraph, blocks: &mut [u32], left: &[bool], between: Between<'_>) -> bool {
    let mut has_moved = false;
    for node in graph.nodes().filter(|&node| left[blocks[node as usize] as usize]).collect::<Vec<_>>() {
        let next = graph.arcs(node).map(|(to, _)| blocks[to as usize]).filter(|&to| !left[to as usize]);
        if let Some(to) = next.max_by_key(|&to| (gain(graph, blocks, node, to, between), to)) {
            blocks[node as usize] = to;
            has_moved = true;
        }
    }
    has_moved
}
