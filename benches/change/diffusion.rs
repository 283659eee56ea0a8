//! The peer: diffusion of first order between neighbouring parts, and moves of single vertices that follow it.
//!
//! In each step, every two parts with an edge between them exchange load in proportion to the difference of their loads over
//! their speeds. The sums of what they exchange are the flows; vertices then move along them, those of the greatest gain first. Loads
//! end as near to their shares as the flows are followed; nothing else is refined.
//!
//! Cybenko: Dynamic load balancing for distributed memory multiprocessors. JPDC 1989.

use std::collections::{BTreeMap, BinaryHeap};

use viem::graph::CsrGraph;

/// Steps of diffusion at most.
const STEPS: usize = 20_000;

/// Diffusion ends when no part is off its share by more than this much of it.
const TOLERANCE: f64 = 0.005;

/// The share of a part that has left, over that of one that stays: first-order diffusion divides by it.
const LEFT: f64 = 1e-3;

type Between<'a> = &'a dyn Fn(u32, u32) -> i64;

/// The speed of each part: half for those that changed, or nearly none if they have left.
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
    // Where the flows lead through parts that are next to each other only later, they are computed again.
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

/// What each part is to give each other part.
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

/// How much the cost falls, once for each edge, if a vertex moves.
fn gain(graph: &CsrGraph, blocks: &[u32], node: u32, to: u32, between: Between<'_>) -> i64 {
    let own = blocks[node as usize];
    let nearer = |(other, weight): (u32, i64)| {
        let block = blocks[other as usize];
        weight * (between(own, block) - between(to, block))
    };
    graph.arcs(node).map(nearer).sum()
}

/// Moves vertices along the flows, those of the greatest gain first; returns whether one has moved. Each move makes what is left of a flow
/// less, so no vertex goes to and fro.
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

/// Moves what is still in parts that have left to the best part next to it; returns whether something has moved.
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
