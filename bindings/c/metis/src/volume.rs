//! The communication volume: what the vertices send to the parts of their neighbours, once to each part.
//!
//! The partitioner minimises the cut of edges that weigh 1 and what their ends send, as METIS does before it refines. Annealing of the boundary
//! then lowers the volume itself; O(n + m), and in each sweep the squares of the degrees on the boundary.

use viem::CsrGraph;
use viem::Targets;
use viem::ground::rng::Rng;
use viem::ground::types::{BlockId, NodeId, Weight};

use crate::{Fault, Idx};

/// Sweeps over the boundary, the last of them without worsening moves. Balances volume against time: on a grid of 200 x 150 in 16 parts, 120
/// sweeps leave 1895, 400 leave 1796 and 1000 leave 1738 (METIS: 1840), as `gpmetis -objtype=vol` prints.
const SWEEPS: usize = 400;
const COLD_SWEEPS: usize = 40;
/// The temperature of the first sweep, in mean sizes of a vertex.
const HOTTEST: f64 = 1.0;

/// What each vertex sends.
pub(crate) struct Volume {
    sizes: Vec<Weight>,
}

impl Volume {
    pub fn new(graph: &CsrGraph, sizes: Option<&[Idx]>) -> Result<Self, Fault> {
        let wide = |&size: &Idx| Weight::from(size);
        let sizes =
            sizes.map_or_else(|| vec![1; graph.num_nodes()], |sizes| sizes.iter().map(wide).collect());
        // All sums over arcs must fit.
        let most = Weight::MAX / 4 / (graph.num_arcs() as Weight + 1);
        if sizes.iter().all(|size| (0..=most).contains(size)) {
            Ok(Self { sizes })
        } else {
            Err(Fault::Input)
        }
    }

    /// The graph whose cut stands for the volume.
    pub fn weighed(&self, graph: &CsrGraph) -> Result<CsrGraph, Fault> {
        let size = |node: NodeId| self.sizes[node as usize];
        let weights = graph
            .nodes()
            .flat_map(|node| graph.neighbours(node).iter().map(move |&target| 1 + size(node) + size(target)));
        let weights = weights.collect();
        let (offsets, targets) = (graph.offsets().to_vec(), graph.targets().to_vec());
        CsrGraph::new(offsets, targets, weights, graph.node_weights().to_vec()).map_err(|_| Fault::Input)
    }

    /// Lowers the volume by annealing of the boundary, within all bounds and without empty parts; returns it. It never rises.
    pub fn improve(
        &self,
        graph: &CsrGraph,
        targets: &Targets,
        parts: &mut Vec<BlockId>,
        seed: u64,
    ) -> Weight {
        let before = self.of(graph, parts);
        let mut state = State::new(graph, targets, parts.clone());
        let mut rng = Rng::new(seed);
        let mean = self.sizes.iter().map(|&size| size as f64).sum::<f64>() / self.sizes.len().max(1) as f64;
        for sweep in 0..SWEEPS {
            let left = 1.0 - sweep as f64 / (SWEEPS - COLD_SWEEPS) as f64;
            let temperature = HOTTEST * mean * left.max(0.0);
            let mut visited = 0;
            while let Some(&node) = state.boundary.get(visited) {
                visited += 1;
                let Some(to) = state.proposal(node, &mut rng) else { continue };
                let change = self.change(graph, &state.parts, node, to);
                if change <= 0 || rng.unit() < (-change as f64 / temperature).exp() {
                    state.move_to(node, to);
                }
            }
            state.leave_inside();
        }
        let after = self.of(graph, &state.parts);
        if after < before {
            *parts = state.parts;
        }
        after.min(before)
    }

    /// The volume of a partition.
    pub fn of(&self, graph: &CsrGraph, parts: &[BlockId]) -> Weight {
        graph.nodes().map(|node| self.sizes[node as usize] * others(graph, parts, node).len() as Weight).sum()
    }

    /// How much the volume changes if a vertex moves.
    fn change(&self, graph: &CsrGraph, parts: &[BlockId], node: NodeId, to: BlockId) -> Weight {
        let from = parts[node as usize];
        let has_other = |of: NodeId, part: BlockId| {
            graph.neighbours(of).iter().any(|&other| other != node && parts[other as usize] == part)
        };
        // It sends to its old part from now on, and no longer to its new one.
        let mut change = self.sizes[node as usize] * (Weight::from(has_other(node, from)) - 1);
        for &neighbour in graph.neighbours(node) {
            let own = parts[neighbour as usize];
            let gains = own != to && !has_other(neighbour, to);
            let loses = own != from && !has_other(neighbour, from);
            change += self.sizes[neighbour as usize] * (Weight::from(gains) - Weight::from(loses));
        }
        change
    }
}

/// A partition that changes.
struct State<'a> {
    graph: &'a CsrGraph,
    targets: &'a Targets,
    parts: Vec<BlockId>,
    loads: Vec<Weight>,
    counts: Vec<usize>,
    /// All vertices with neighbours in other parts, and some others.
    boundary: Vec<NodeId>,
    is_listed: Vec<bool>,
}

impl<'a> State<'a> {
    fn new(graph: &'a CsrGraph, targets: &'a Targets, parts: Vec<BlockId>) -> Self {
        let mut loads = vec![0; targets.num_blocks()];
        let mut counts = vec![0; targets.num_blocks()];
        for (&part, &weight) in parts.iter().zip(graph.node_weights()) {
            loads[part as usize] += weight;
            counts[part as usize] += 1;
        }
        let (boundary, is_listed) = (graph.nodes().collect(), vec![true; graph.num_nodes()]);
        let mut state = Self { graph, targets, parts, loads, counts, boundary, is_listed };
        state.leave_inside();
        state
    }

    /// Takes the vertices off the list that have no neighbours in other parts.
    fn leave_inside(&mut self) {
        let Self { graph, parts, boundary, is_listed, .. } = self;
        boundary.retain(|&node| {
            let own = parts[node as usize];
            let is_outer = graph.neighbours(node).iter().any(|&other| parts[other as usize] != own);
            is_listed[node as usize] = is_outer;
            is_outer
        });
    }

    /// The part of a random neighbour of a vertex, if the vertex may move there.
    fn proposal(&self, node: NodeId, rng: &mut Rng) -> Option<BlockId> {
        let (own, neighbours) = (self.parts[node as usize], self.graph.neighbours(node));
        let to = self.parts[neighbours[rng.below(neighbours.len() as u32) as usize] as usize];
        let load = self.loads[to as usize] + self.graph.node_weight(node);
        let may_move =
            to != own && load <= self.targets.bounds()[to as usize] && self.counts[own as usize] > 1;
        may_move.then_some(to)
    }

    fn move_to(&mut self, node: NodeId, to: BlockId) {
        let (from, weight) =
            (std::mem::replace(&mut self.parts[node as usize], to), self.graph.node_weight(node));
        self.loads[from as usize] -= weight;
        self.loads[to as usize] += weight;
        self.counts[from as usize] -= 1;
        self.counts[to as usize] += 1;
        for &neighbour in self.graph.neighbours(node) {
            if !std::mem::replace(&mut self.is_listed[neighbour as usize], true) {
                self.boundary.push(neighbour);
            }
        }
    }
}

/// The other parts that a vertex has neighbours in, ascending.
fn others(graph: &CsrGraph, parts: &[BlockId], node: NodeId) -> Vec<BlockId> {
    let own = parts[node as usize];
    let mut others: Vec<BlockId> =
        graph.neighbours(node).iter().map(|&other| parts[other as usize]).collect();
    others.retain(|&part| part != own);
    others.sort_unstable();
    others.dedup();
    others
}
