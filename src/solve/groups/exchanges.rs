//! Exchanges that keep the groups.

use super::rooms::{Groups, Rooms};
use crate::base::exchange::{Counts, Evaluator, below, sweep};
use crate::base::observer::{Observer, Watch};
use crate::base::types::{Cost, NodeId, PeId};
use crate::graph::CsrGraph;
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

/// A place of a node, and its process.
type Place = (PeId, Option<NodeId>);

/// A process, and the PE that it moves to.
pub(super) type Move = (NodeId, PeId);

/// Moves of processes that keep the groups, if they are possible now.
#[derive(Clone, Copy)]
pub(super) enum Candidate {
    /// An exchange of two places of a node: the node, and the numbers of the places.
    Places(usize, [usize; 2]),
    /// Two groups are exchanged.
    Groups(usize, usize),
    /// A group moves to free places of a node.
    Room(usize, usize),
}

/// Exchanges that keep the groups.
pub(super) struct Exchanges<'a> {
    setting: Setting<'a>,
    pub pe_of: Vec<PeId>,
    /// The same after the exchange that is being evaluated.
    after: Vec<PeId>,
    /// The places of each node.
    nodes: Vec<Vec<Place>>,
    watch: Watch<'a>,
    /// True if the search should end.
    is_over: bool,
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
        Self { setting, after: pe_of.clone(), pe_of, nodes, watch: Watch::new(observer), is_over: false }
    }

    /// Exchanges the processes on two places of a node, and then groups, until no exchange lowers J.
    pub fn search(&mut self) -> Counts {
        let mut all = Counts::default();
        while !self.is_over {
            let mut counts = self.search_nodes();
            if counts.made == 0 {
                counts += self.search_groups();
            }
            all += counts;
            self.is_over |= counts.made == 0;
        }
        all
    }

    /// Makes the exchanges inside nodes that lower J.
    fn search_nodes(&mut self) -> Counts {
        let sizes: Vec<usize> = self.nodes.iter().map(Vec::len).collect();
        let pairs = |size: usize| (0..size).flat_map(move |one| (one + 1..size).map(move |two| [one, two]));
        let of_node = |(node, size)| pairs(size).map(move |pair| Candidate::Places(node, pair));
        let mut candidates = sizes.into_iter().enumerate().flat_map(of_node);
        sweep(self, |exchanges| exchanges.next_of(&mut candidates), below(0))
    }

    /// Makes the exchanges of a group with another of its size, or with free places of a node, that lower J.
    fn search_groups(&mut self) -> Counts {
        let (count, nodes) = (self.setting.groups.count(), self.nodes.len());
        let mut candidates = (0..count).flat_map(|group| {
            let others = (group + 1..count).map(move |other| Candidate::Groups(group, other));
            others.chain((0..nodes).map(move |node| Candidate::Room(group, node)))
        });
        sweep(self, |exchanges| exchanges.next_of(&mut candidates), below(0))
    }

    /// The first candidate that is possible, and its moves, unless the search should end.
    fn next_of(
        &mut self,
        candidates: &mut impl Iterator<Item = Candidate>,
    ) -> Option<(Candidate, Vec<Move>)> {
        while !self.is_over {
            let candidate = candidates.next()?;
            match self.moves(candidate) {
                None => {}
                Some(moves) if moves.is_empty() => self.spend(candidate, 0),
                Some(moves) => return Some((candidate, moves)),
            }
        }
        None
    }

    /// Counts the work of a candidate, and the arcs examined for it. Ends the search when there was enough.
    fn spend(&mut self, candidate: Candidate, arcs: usize) {
        let is_inside = matches!(candidate, Candidate::Places(..));
        self.is_over |= self.watch.stops_after(arcs + 1) || !is_inside && self.watch.work() > MOST_ARCS;
    }

    /// The moves of a candidate: empty if they are not possible, which counts as work; `None` if skipping it is free.
    fn moves(&self, candidate: Candidate) -> Option<Vec<Move>> {
        match candidate {
            Candidate::Places(node, pair) => self.exchange_places(node, pair),
            Candidate::Groups(group, other) => Some(self.exchange(group, other)),
            Candidate::Room(group, node) => Some(self.move_to(group, node)),
        }
    }

    /// The exchange of the processes on two places of a node; `None` if they are of one PE or a process must stay.
    fn exchange_places(&self, node: usize, pair: [usize; 2]) -> Option<Vec<Move>> {
        let [a, b] = pair.map(|place| self.nodes[node][place]);
        let is_possible = a.0 != b.0 && self.may_move(a.1) && self.may_move(b.1);
        let [to, back] = [(a.1, b.0), (b.1, a.0)].map(|(process, pe)| Some((process?, pe)));
        is_possible.then(|| to.into_iter().chain(back).collect())
    }

    fn node_of_group(&self, group: usize) -> usize {
        self.setting.groups.nodes.node(self.pe_of[self.setting.groups.members(group)[0] as usize])
    }

    /// The exchange of two groups of one size on different nodes; nothing if there is none.
    fn exchange(&self, group: usize, other: usize) -> Vec<Move> {
        let (a, b) = (self.setting.groups.members(group), self.setting.groups.members(other));
        let is_possible = a.len() == b.len() && self.node_of_group(group) != self.node_of_group(other);
        if !is_possible || !self.may_all_move(a) || !self.may_all_move(b) {
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
        let is_possible = moves.len() == members.len() && self.node_of_group(group) != node;
        if is_possible && self.may_all_move(members) { moves } else { Vec::new() }
    }

    fn may_move(&self, process: Option<NodeId>) -> bool {
        let is_fixed = |process| self.setting.fixed.is_some_and(|fixed| fixed.of(process).is_some());
        !process.is_some_and(is_fixed)
    }

    fn may_all_move(&self, processes: &[NodeId]) -> bool {
        processes.iter().all(|&process| self.may_move(Some(process)))
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

impl Evaluator for Exchanges<'_> {
    type Move = (Candidate, Vec<Move>);
    type Change = Cost;

    fn change(&mut self, (candidate, moves): &Self::Move) -> Cost {
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
        self.spend(*candidate, moves.iter().map(|&(process, _)| graph.degree(process)).sum());
        change
    }

    fn make(&mut self, (candidate, moves): Self::Move, _: Cost) {
        moves.iter().for_each(|&(process, pe)| self.pe_of[process as usize] = pe);
        match candidate {
            Candidate::Places(node, [first, second]) => {
                let places = &mut self.nodes[node];
                (places[first].1, places[second].1) = (places[second].1, places[first].1);
            }
            Candidate::Groups(..) | Candidate::Room(..) => self.settle(&moves),
        }
    }

    fn leave(&mut self, (_, moves): &Self::Move) {
        moves.iter().for_each(|&(process, _)| self.after[process as usize] = self.pe_of[process as usize]);
    }
}
