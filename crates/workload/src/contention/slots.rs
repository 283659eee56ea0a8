//! What is on each PE, and what may move.

use super::loads::Carriers;
use super::placed::Placed;
use viem::base::types::{NodeId, PeId, Weight};
use viem::machine::Nodes;
use viem::solve::{Lowering, ProcessGroups};

/// A move of processes between PEs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Move {
    /// A process goes to another PE.
    One(NodeId, PeId),
    /// Two processes change places.
    Pair(NodeId, NodeId),
    /// Two groups of one size change places, member by member.
    Groups(NodeId, NodeId),
    /// All that is on two PEs changes places.
    Contents(PeId, PeId),
}

/// What PEs have room for.
enum Room {
    /// This many processes each.
    Places(Vec<u32>),
    /// Loads within bounds, and not below least loads.
    Loads { weights: Vec<Weight>, bounds: Vec<Weight>, least: Vec<Weight> },
}

/// What is on each PE, and the constraints of the problem.
pub(super) struct Slots<'a> {
    given: &'a Lowering<'a>,
    on: Vec<Vec<NodeId>>,
    /// The number of each process in the list of its PE.
    number: Vec<u32>,
    room: Room,
    /// Groups of more than one process.
    groups: Option<(&'a ProcessGroups, &'a Nodes)>,
    is_fixed: Vec<bool>,
    /// The processes that are fixed on each PE.
    fixed_on: Vec<u32>,
}

impl<'a> Slots<'a> {
    /// The contents of PEs, process i on PE `pe_of[i]`. O(n + PEs).
    pub fn new(given: &'a Lowering<'a>, pe_of: &[PeId]) -> Self {
        let (graph, machine) = (given.graph, given.machine.machine());
        let count = machine.num_pes();
        let is_fixed: Vec<bool> =
            graph.nodes().map(|process| given.fixed.is_some_and(|all| all.of(process).is_some())).collect();
        let mut fixed_on = vec![0; count];
        pe_of.iter().zip(&is_fixed).for_each(|(&pe, &is_fixed)| fixed_on[pe as usize] += u32::from(is_fixed));
        let room = match given.limits {
            None => Room::Places(machine.capacities()),
            Some(limits) => Room::Loads {
                weights: vec![0; count],
                bounds: limits.bounds(graph, machine),
                least: limits.least_loads(graph, machine).unwrap_or_else(|_| vec![0; count]),
            },
        };
        let groups = given.together.filter(|groups| groups.size() > 1);
        let groups = groups.map(|groups| (groups, given.machine.nodes()));
        let number = vec![0; graph.num_nodes()];
        let mut slots = Self { given, on: vec![Vec::new(); count], number, room, groups, is_fixed, fixed_on };
        slots.restart(pe_of);
        slots
    }

    /// Replaces the contents by those of another mapping.
    pub fn restart(&mut self, pe_of: &[PeId]) {
        self.on.iter_mut().for_each(Vec::clear);
        if let Room::Loads { weights, .. } = &mut self.room {
            weights.fill(0);
        }
        (0..).zip(pe_of).for_each(|(process, &pe)| self.put(process, pe));
    }

    /// The processes on a PE.
    pub fn on(&self, pe: PeId) -> &[NodeId] {
        &self.on[pe as usize]
    }

    /// The number of PEs.
    pub fn num_pes(&self) -> u32 {
        self.on.len() as u32
    }

    /// Returns whether PEs have bounds instead of places.
    pub fn is_balanced(&self) -> bool {
        matches!(self.room, Room::Loads { .. })
    }

    /// Returns whether a process may be moved at all: alone, or with its group.
    pub fn is_movable(&self, process: NodeId) -> bool {
        !self.is_fixed[process as usize]
    }

    /// Returns whether a PE has a free place.
    pub fn has_place(&self, pe: PeId) -> bool {
        match &self.room {
            Room::Places(capacity) => self.on(pe).len() < capacity[pe as usize] as usize,
            Room::Loads { .. } => false,
        }
    }

    /// The exchange of two processes on different PEs, or of their groups where these are on different nodes; nothing if a constraint forbids it.
    pub fn exchange(&self, pe_of: &[PeId], (one, two): (NodeId, NodeId)) -> Option<Move> {
        let (from, to) = (pe_of[one as usize], pe_of[two as usize]);
        if from == to {
            return None;
        }
        match self.groups {
            Some((groups, nodes)) if nodes.node(from) != nodes.node(to) => {
                let pair = [one, two].map(|process| groups.members(groups.group_of(process) as usize));
                let is_allowed = pair[0].len() == pair[1].len()
                    && pair.iter().copied().flatten().all(|&it| self.is_movable(it));
                is_allowed.then(|| Move::Groups(groups.group_of(one), groups.group_of(two)))
            }
            _ => {
                let change = self.given.graph.node_weight(two) - self.given.graph.node_weight(one);
                let is_allowed = self.is_movable(one) && self.is_movable(two);
                (is_allowed && self.takes(from, change) && self.takes(to, -change))
                    .then_some(Move::Pair(one, two))
            }
        }
    }

    /// A process goes to another PE; nothing if a constraint forbids it.
    pub fn relocation(&self, pe_of: &[PeId], process: NodeId, to: PeId) -> Option<Move> {
        let from = pe_of[process as usize];
        let shares_node = self.groups.is_none_or(|(_, nodes)| nodes.node(from) == nodes.node(to));
        if from == to || !shares_node || !self.is_movable(process) {
            return None;
        }
        let weight = self.given.graph.node_weight(process);
        let has_room = match &self.room {
            Room::Places(_) => self.has_place(to),
            Room::Loads { bounds, .. } => {
                let others_stay = self.on(from).len() > 1;
                bounds[to as usize] > 0 && others_stay && self.takes(from, -weight) && self.takes(to, weight)
            }
        };
        has_room.then_some(Move::One(process, to))
    }

    /// The exchange of all that is on two PEs; nothing if a constraint forbids it.
    pub fn exchange_of_contents(&self, one: PeId, two: PeId) -> Option<Move> {
        let Room::Loads { weights, .. } = &self.room else { return None };
        let change = weights[two as usize] - weights[one as usize];
        let has_fixed = [one, two].iter().any(|&pe| self.fixed_on[pe as usize] > 0);
        let is_allowed = one != two && !has_fixed && self.takes(one, change) && self.takes(two, -change);
        let are_used = !self.on(one).is_empty() && !self.on(two).is_empty();
        (is_allowed && are_used).then_some(Move::Contents(one, two))
    }

    /// Returns whether the load of a PE may change by this: no bound is exceeded by more, and no least load missed by more.
    fn takes(&self, pe: PeId, change: Weight) -> bool {
        let Room::Loads { weights, bounds, least } = &self.room else { return true };
        let (pe, after) = (pe as usize, weights[pe as usize] + change);
        (change <= 0 || after <= bounds[pe]) && (change >= 0 || after >= least[pe])
    }

    /// Tries a move.
    pub fn displace<C: Carriers>(&self, by: Move, placed: &mut Placed<'_, C>) {
        let mut exchange = |one: &[NodeId], two: &[NodeId]| {
            for (&one, &two) in one.iter().zip(two) {
                let (from, to) = (placed.pe_of[one as usize], placed.pe_of[two as usize]);
                placed.displace(one, to);
                placed.displace(two, from);
            }
        };
        match by {
            Move::Pair(one, two) => exchange(&[one], &[two]),
            Move::Groups(one, two) => {
                let (groups, _) = self.groups.expect("groups are exchanged where there are some");
                exchange(groups.members(one as usize), groups.members(two as usize));
            }
            Move::One(process, to) => placed.displace(process, to),
            Move::Contents(one, two) => {
                self.on(one).iter().for_each(|&process| placed.displace(process, two));
                self.on(two).iter().for_each(|&process| placed.displace(process, one));
            }
        }
    }

    /// Takes a process from one PE to another.
    pub fn transfer(&mut self, (process, from, to): (NodeId, PeId, PeId)) {
        let number = self.number[process as usize];
        let list = &mut self.on[from as usize];
        list.swap_remove(number as usize);
        if let Some(&last) = list.get(number as usize) {
            self.number[last as usize] = number;
        }
        if let Room::Loads { weights, .. } = &mut self.room {
            weights[from as usize] -= self.given.graph.node_weight(process);
        }
        self.put(process, to);
    }

    fn put(&mut self, process: NodeId, pe: PeId) {
        let list = &mut self.on[pe as usize];
        self.number[process as usize] = list.len() as u32;
        list.push(process);
        if let Room::Loads { weights, .. } = &mut self.room {
            weights[pe as usize] += self.given.graph.node_weight(process);
        }
    }
}
