//! Exchanges that keep the groups.

use super::rooms::{Groups, Rooms};
use crate::graph::CsrGraph;
use crate::ground::observer::{Observer, Watch};
use crate::ground::types::{Cost, NodeId, PeId};
use crate::machine::{DistanceOracle as _, Distances, Machine};
use crate::mapping::Mapping;
use crate::partition::FixedVertices;

/// The most arcs that exchanges of groups look at. Balances their gain against time: this many take about a second.
const MOST_ARCS: usize = 1 << 26;

/// The problem, and the groups that must be kept.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub graph: &'a CsrGraph,
    pub machine: &'a dyn Machine,
    pub distances: &'a Distances,
    pub groups: &'a Groups<'a>,
    pub fixed: Option<&'a FixedVertices>,
}

/// A place of a node, and what is on it.
type Place = (PeId, Option<NodeId>);

/// A process, and the PE that it moves to.
type Move = (NodeId, PeId);

/// Exchanges that keep the groups.
pub(super) struct Exchanges<'a> {
    setting: Setting<'a>,
    pub pe_of: Vec<PeId>,
    /// The same after the exchange that is being evaluated.
    after: Vec<PeId>,
    /// The places of each node.
    nodes: Vec<Vec<Place>>,
    watch: Watch<'a>,
    pub tried: u64,
    pub made: u64,
}

impl<'a> Exchanges<'a> {
    pub fn new(setting: Setting<'a>, rooms: &Rooms, start: &Mapping, observer: &'a dyn Observer) -> Self {
        let mut on_pe: Vec<Vec<NodeId>> = vec![Vec::new(); setting.machine.num_pes()];
        (0..).zip(start.pes()).for_each(|(process, &pe)| on_pe[pe as usize].push(process));
        let places = |pes: &Vec<PeId>| -> Vec<Place> {
            // More places than processes are never needed.
            let capacity = |pe| (setting.machine.capacity(pe) as usize).min(setting.graph.num_nodes());
            let on = |pe: PeId| on_pe[pe as usize].iter().copied().map(Some).chain(std::iter::repeat(None));
            pes.iter().flat_map(|&pe| on(pe).take(capacity(pe)).map(move |process| (pe, process))).collect()
        };
        let nodes = rooms.pes.iter().map(places).collect();
        let pe_of = start.pes().to_vec();
        Self { setting, after: pe_of.clone(), pe_of, nodes, watch: Watch::new(observer), tried: 0, made: 0 }
    }

    /// Exchanges what is on two places of a node, and then groups, until no exchange lowers J.
    pub fn search(&mut self) {
        let mut before = u64::MAX;
        while before != self.made {
            before = self.made;
            if self.search_nodes() || self.made == before && self.search_groups() {
                return;
            }
        }
    }

    /// Makes the exchanges inside nodes that lower J. Returns whether the search should end.
    fn search_nodes(&mut self) -> bool {
        for node in 0..self.nodes.len() {
            let count = self.nodes[node].len();
            for (first, second) in
                (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)))
            {
                let (a, b) = (self.nodes[node][first], self.nodes[node][second]);
                if a.0 == b.0 || !self.may_move(a.1) || !self.may_move(b.1) {
                    continue;
                }
                let moves: Vec<Move> =
                    a.1.map(|process| (process, b.0))
                        .into_iter()
                        .chain(b.1.map(|process| (process, a.0)))
                        .collect();
                if self.makes(&moves) {
                    (self.nodes[node][first].1, self.nodes[node][second].1) = (b.1, a.1);
                }
                if self.watch.stops_after(1) {
                    return true;
                }
            }
        }
        false
    }

    /// Makes the exchanges of a group with another of its size, or with free places of a node, that lower J. Returns whether the search
    /// should end.
    fn search_groups(&mut self) -> bool {
        let count = self.setting.groups.count();
        for group in 0..count {
            for other in group + 1..count {
                let moves = self.exchange(group, other);
                if self.tries(&moves) {
                    return true;
                }
            }
            for node in 0..self.nodes.len() {
                let moves = self.move_to(group, node);
                if self.tries(&moves) {
                    return true;
                }
            }
        }
        false
    }

    /// Moves groups if that lowers J. Returns whether the search should end.
    fn tries(&mut self, moves: &[Move]) -> bool {
        if self.makes(moves) {
            self.settle(moves);
        }
        self.watch.stops_after(1) || self.watch.work() > MOST_ARCS
    }

    fn node_of_group(&self, group: usize) -> usize {
        self.setting.groups.nodes.node(self.pe_of[self.setting.groups.members(group)[0] as usize])
    }

    /// The exchange of two groups of one size on different nodes; nothing if there is none.
    fn exchange(&self, group: usize, other: usize) -> Vec<Move> {
        let (a, b) = (self.setting.groups.members(group), self.setting.groups.members(other));
        let is_one = a.len() == b.len() && self.node_of_group(group) != self.node_of_group(other);
        if !is_one || !self.may_all_move(a) || !self.may_all_move(b) {
            return Vec::new();
        }
        let pe = |process: NodeId| self.pe_of[process as usize];
        a.iter().zip(b).flat_map(|(&a, &b)| [(a, pe(b)), (b, pe(a))]).collect()
    }

    /// The move of a group to free places of another node; nothing if there is none.
    fn move_to(&self, group: usize, node: usize) -> Vec<Move> {
        let members = self.setting.groups.members(group);
        let free = self.nodes[node].iter().filter(|place| place.1.is_none()).map(|place| place.0);
        let moves: Vec<Move> = members.iter().copied().zip(free).collect();
        let is_one = moves.len() == members.len() && self.node_of_group(group) != node;
        if is_one && self.may_all_move(members) { moves } else { Vec::new() }
    }

    fn may_move(&self, process: Option<NodeId>) -> bool {
        let is_fixed = |process| self.setting.fixed.is_some_and(|fixed| fixed.of(process).is_some());
        !process.is_some_and(is_fixed)
    }

    fn may_all_move(&self, processes: &[NodeId]) -> bool {
        processes.iter().all(|&process| self.may_move(Some(process)))
    }

    /// Moves processes to other PEs if that lowers J.
    fn makes(&mut self, moves: &[Move]) -> bool {
        if moves.is_empty() {
            return false;
        }
        self.tried += 1;
        moves.iter().for_each(|&(process, pe)| self.after[process as usize] = pe);
        let (graph, distances) = (self.setting.graph, self.setting.distances);
        let mut change: Cost = 0;
        for &(process, _) in moves {
            for (other, weight) in graph.arcs(process) {
                let distance =
                    |pe_of: &[PeId]| distances.distance(pe_of[process as usize], pe_of[other as usize]);
                // The arc back counts by itself if the other end moves, too.
                let times = if self.after[other as usize] == self.pe_of[other as usize] { 2 } else { 1 };
                change += times * weight * (distance(&self.after) - distance(&self.pe_of));
            }
        }
        let _ = self.watch.stops_after(moves.iter().map(|&(process, _)| graph.degree(process)).sum());
        let (from, to) =
            if change < 0 { (&self.after, &mut self.pe_of) } else { (&self.pe_of, &mut self.after) };
        moves.iter().for_each(|&(process, _)| to[process as usize] = from[process as usize]);
        self.made += u64::from(change < 0);
        change < 0
    }

    /// Puts processes that have moved on the places of their PEs.
    fn settle(&mut self, moves: &[Move]) {
        let has_moved = |process: NodeId| moves.iter().any(|&(moved, _)| moved == process);
        for place in self.nodes.iter_mut().flatten() {
            place.1 = place.1.filter(|&process| !has_moved(process));
        }
        for &(process, pe) in moves {
            let places = &mut self.nodes[self.setting.groups.nodes.node(pe)];
            let free = places.iter_mut().find(|place| place.0 == pe && place.1.is_none());
            free.into_iter().for_each(|place| place.1 = Some(process));
        }
    }
}
