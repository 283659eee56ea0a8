//! Maximum flows by blocking flows on level graphs (Dinic).
//!
//! A flow is never restarted. When a terminal has grown, the search goes on from the new vertices only, since
//! everything behind them is saturated.

use super::network::{FlowArc, Network, Side};
use crate::base::budget::Budget;
use crate::base::observer::Watch;
use crate::base::types::Weight;

const ABSENT: u32 = u32::MAX;

/// What the seeds of one terminal reach along arcs that are not saturated.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// In the order of a breadth-first search, without the seeds.
    pub nodes: Vec<u32>,
    pub weight: Weight,
    /// Hops from the seeds by local vertex, or `ABSENT`.
    level: Vec<u32>,
}

impl Reach {
    #[inline]
    pub fn contains(&self, node: u32) -> bool {
        self.level[node as usize] != ABSENT
    }

    fn clear(&mut self) {
        for &node in &self.nodes {
            self.level[node as usize] = ABSENT;
        }
        self.nodes.clear();
        self.weight = 0;
    }
}

/// A flow on a network.
#[derive(Debug, Default)]
pub(super) struct MaxFlow {
    pub network: Network,
    /// By side.
    pub reach: [Reach; 2],
    /// Arcs and candidates that may still be scanned.
    pub budget: Budget,
    /// The next arc to try in the depth-first search.
    next_arc: Vec<u32>,
    path: Vec<u32>,
}

impl MaxFlow {
    /// Begins with the network as it is, and no flow.
    pub fn start(&mut self, budget: Budget) {
        let n = self.network.num_nodes();
        for reach in &mut self.reach {
            reach.nodes.clear();
            reach.weight = 0;
            reach.level.clear();
            reach.level.resize(n, ABSENT);
        }
        self.next_arc.clear();
        self.next_arc.resize(n, 0);
        self.budget = budget;
    }

    /// Sends flow from the source seeds to the sinks until it is maximal or reaches `limit`; returns how much.
    ///
    /// Leaves in the reach of the source what its seeds reach in the end.
    pub fn augment(&mut self, limit: Weight, watch: &mut Watch<'_>) -> Weight {
        let mut flow = 0;
        while !self.budget.is_spent() && self.search(Side::Source) && flow < limit {
            if watch.stops_after(self.network.arcs.len()) {
                break;
            }
            for &node in &self.reach[Side::Source as usize].nodes {
                self.next_arc[node as usize] = self.network.offsets[node as usize];
            }
            for index in 0..self.network.seeds[Side::Source as usize].len() {
                let seed = self.network.seeds[Side::Source as usize][index];
                self.next_arc[seed as usize] = self.network.offsets[seed as usize];
                loop {
                    let sent = self.send_path(seed);
                    if sent == 0 {
                        break;
                    }
                    flow += sent;
                }
            }
        }
        flow
    }

    /// Breadth-first search from the seeds of one side: along residual arcs from the source, against them from the
    /// sink. Ends behind the level that touches the other terminal; returns whether there is one.
    pub fn search(&mut self, side: Side) -> bool {
        let Self { network, reach, budget, .. } = self;
        let reach = &mut reach[side as usize];
        let seeds = &network.seeds[side as usize];
        reach.clear();
        let mut found = ABSENT;
        let mut at = 0;
        loop {
            let (node, level) = match seeds.get(at) {
                Some(&seed) => (seed, 0),
                None => match reach.nodes.get(at - seeds.len()) {
                    Some(&node) => (node, reach.level[node as usize]),
                    None => return found != ABSENT,
                },
            };
            at += 1;
            if level >= found {
                return true;
            }
            let row = network.row(node);
            budget.spend(row.len());
            for &FlowArc { target, reverse, residual } in &network.arcs[row] {
                let residual = match side {
                    Side::Source => residual,
                    Side::Sink => network.arcs[reverse as usize].residual,
                };
                if residual == 0 {
                    continue;
                }
                match network.terminal[target as usize] {
                    None if reach.level[target as usize] == ABSENT => {
                        reach.level[target as usize] = level + 1;
                        reach.nodes.push(target);
                        reach.weight += network.weights[target as usize];
                    }
                    Some(other) if other != side => found = level,
                    _ => {}
                }
            }
        }
    }

    /// Returns whether a vertex lies in the terminal of a side or can be reached from it.
    #[inline]
    pub fn takes(&self, side: Side, node: u32) -> bool {
        match self.network.terminal[node as usize] {
            Some(terminal) => terminal == side,
            None => self.reach[side as usize].contains(node),
        }
    }

    /// Sends flow along one path of ascending levels from a seed to a sink; returns how much.
    fn send_path(&mut self, seed: u32) -> Weight {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        let sent = self.find_path(seed, &mut path);
        self.budget.spend(path.len());
        let arcs = &mut self.network.arcs;
        for &position in &path {
            let reverse = arcs[position as usize].reverse;
            arcs[position as usize].residual -= sent;
            arcs[reverse as usize].residual += sent;
        }
        self.path = path;
        sent
    }

    /// Depth-first search for a path of ascending levels from a seed to a sink; returns what may flow along it, 0 if
    /// there is none.
    fn find_path(&mut self, seed: u32, path: &mut Vec<u32>) -> Weight {
        let Self { network, reach, next_arc, .. } = self;
        let levels = &reach[Side::Source as usize].level;
        let (mut node, mut level) = (seed, 0);
        loop {
            match next_step(network, levels, &mut next_arc[node as usize], node, level + 1) {
                Some((position, target)) => {
                    path.push(position);
                    if network.terminal[target as usize].is_some() {
                        let residuals = path.iter().map(|&arc| network.arcs[arc as usize].residual);
                        return residuals.min().expect("a path has an arc");
                    }
                    node = target;
                    level += 1;
                }
                None => {
                    // A dead end: step back and try the next arc.
                    let Some(position) = path.pop() else { return 0 };
                    node = network.arcs[network.arcs[position as usize].reverse as usize].target;
                    level -= 1;
                    next_arc[node as usize] += 1;
                }
            }
        }
    }
}

/// The position and the target of the next residual arc of a vertex that leads to a sink or to a vertex of the given
/// level; `next` moves on to it.
#[inline]
fn next_step(network: &Network, levels: &[u32], next: &mut u32, node: u32, level: u32) -> Option<(u32, u32)> {
    let end = network.offsets[node as usize + 1];
    while *next < end {
        let arc = network.arcs[*next as usize];
        if arc.residual > 0 {
            let leads_on = match network.terminal[arc.target as usize] {
                Some(side) => side == Side::Sink,
                None => levels[arc.target as usize] == level,
            };
            if leads_on {
                return Some((*next, arc.target));
            }
        }
        *next += 1;
    }
    None
}
