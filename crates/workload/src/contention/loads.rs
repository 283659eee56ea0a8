//! Loads of what carries traffic, kept up to date as processes move.

use viem::base::types::{Cost, NodeId, PeId, Weight};
use viem::graph::CsrGraph;
use viem::mapping::objective::ScoreError;
use viem::mapping::problem::{ProblemError, check_load, check_pes};

/// Carriers of traffic, such as links, and the load that a message puts on each. All else about loads follows from this.
pub(super) trait Carriers {
    /// The number of PEs of the machine.
    fn num_pes(&self) -> usize;

    /// The number of carriers.
    fn count(&self) -> usize;

    /// An upper limit on the load of a carrier by a message of weight 1, which uses each carrier at most once.
    fn most(&self) -> Cost;

    /// Calls `carried` with each carrier of two messages of weight 1, one in each direction between two PEs, and with the load by one message.
    fn both_ways(&mut self, one: PeId, other: PeId, carried: impl FnMut(usize, Cost));

    /// Returns whether the loads of a message add up to the distance of its PEs, and so all loads to J.
    fn add_up(&self) -> bool {
        false
    }

    /// Returns whether little effort is enough, as messages have few carriers, and moves change their loads independently.
    fn are_few(&self) -> bool {
        false
    }
}

/// A computation over the carriers of a machine, generic over their type.
pub(super) trait CarriersVisitor {
    /// The result.
    type Output;

    /// Runs it.
    ///
    /// # Errors
    ///
    /// The mapping does not fit the machine, or loads could overflow.
    fn visit<C: Carriers>(self, carriers: C) -> Result<Self::Output, ScoreError>;
}

/// The load of each carrier.
#[derive(Clone, Debug)]
pub(super) struct Loads<C> {
    pub carriers: C,
    loads: Vec<Cost>,
    /// A tournament of the loads: entry i is the greater of the entries 2i and 2i + 1, and the second half are the loads, padded by 0.
    greatest: Vec<Cost>,
    /// The change by what was moved last, and the carriers that it concerns, each once.
    changes: Vec<Cost>,
    is_changed: Vec<bool>,
    changed: Vec<u32>,
}

impl<C: Carriers> Loads<C> {
    /// The loads under a mapping, process i on PE `pe_of[i]`; O(carriers + m · carriers of a message). Both directions of an
    /// edge carry its weight.
    ///
    /// Fails if a process has no PE, if a PE does not exist, or if the loads could overflow.
    pub fn of(graph: &CsrGraph, carriers: C, pe_of: &[PeId]) -> Result<Self, ProblemError> {
        check_pes(graph, carriers.num_pes(), pe_of)?;
        check_load(graph, carriers.most())?;
        let none = vec![0; carriers.count()];
        let greatest = vec![0; 2 * none.len().next_power_of_two()];
        let is_changed = vec![false; none.len()];
        let (changes, changed) = (none.clone(), Vec::new());
        let mut loads = Self { carriers, loads: none, greatest, changes, is_changed, changed };
        loads.restart(graph, pe_of);
        Ok(loads)
    }

    /// Replaces the loads by those under another mapping of the same graph to PEs of the machine.
    pub fn restart(&mut self, graph: &CsrGraph, pe_of: &[PeId]) {
        self.loads.fill(0);
        self.greatest.fill(0);
        for node in graph.nodes() {
            for (target, weight) in graph.arcs(node).filter(|&(target, _)| target > node) {
                self.add(pe_of[node as usize], pe_of[target as usize], weight);
            }
        }
        self.apply();
    }

    /// The load of each carrier.
    pub fn all(&self) -> &[Cost] {
        &self.loads
    }

    /// The greatest load; 0 without traffic. O(1).
    pub fn greatest(&self) -> Cost {
        self.greatest[1]
    }

    /// The greatest load of what carries the messages of a process, in both directions.
    pub fn greatest_of(&mut self, graph: &CsrGraph, pe_of: &[PeId], process: NodeId) -> Cost {
        let (here, mut greatest) = (pe_of[process as usize], 0);
        let Self { carriers, loads, .. } = self;
        for &other in graph.neighbours(process) {
            carriers
                .both_ways(here, pe_of[other as usize], |carrier, _| greatest = loads[carrier].max(greatest));
        }
        greatest
    }

    /// Notes the change of the loads if processes move from their PEs in `before` to those in `after`. `moved` names those
    /// whose PEs differ, and `is_moved` marks them.
    pub fn note(
        &mut self,
        graph: &CsrGraph,
        (before, after): (&[PeId], &[PeId]),
        (moved, is_moved): (&[NodeId], &[bool]),
    ) {
        each_edge_of_moved(graph, moved, is_moved, |process, other, weight| {
            self.add(before[process as usize], before[other as usize], -weight);
            self.add(after[process as usize], after[other as usize], weight);
        });
    }

    /// Adds weight to the noted change of each carrier of messages between two PEs.
    fn add(&mut self, one: PeId, other: PeId, weight: Weight) {
        let Self { carriers, changes, is_changed, changed, .. } = self;
        carriers.both_ways(one, other, |carrier, load| {
            changes[carrier] += weight * load;
            if !std::mem::replace(&mut is_changed[carrier], true) {
                changed.push(carrier as u32);
            }
        });
    }

    /// The noted changes as (load, change), each carrier once.
    pub fn noted(&self) -> impl Iterator<Item = (Cost, Cost)> + '_ {
        self.changed.iter().map(|&carrier| (self.loads[carrier as usize], self.changes[carrier as usize]))
    }

    /// By how much the sum of a power of all loads, each divided by `scale`, changes with the noted changes.
    pub fn change_of_powers(&self, scale: f64, power: u32) -> f64 {
        let of = |load: Cost| (load as f64 / scale).powi(power as i32);
        let changes = self.noted().filter(|&(_, change)| change != 0);
        changes.map(|(load, change)| of(load + change) - of(load)).sum()
    }

    /// Makes the noted changes; O(log carriers) for each.
    pub fn apply(&mut self) {
        let leaves = self.greatest.len() / 2;
        for carrier in self.changed.drain(..) {
            let index = carrier as usize;
            self.is_changed[index] = false;
            let change = std::mem::take(&mut self.changes[index]);
            if change == 0 {
                continue;
            }
            self.loads[index] += change;
            let mut entry = leaves + index;
            self.greatest[entry] = self.loads[index];
            while entry > 1 {
                entry /= 2;
                let greater = self.greatest[2 * entry].max(self.greatest[2 * entry + 1]);
                if std::mem::replace(&mut self.greatest[entry], greater) == greater {
                    break;
                }
            }
        }
    }

    /// Forgets the noted changes.
    pub fn forget(&mut self) {
        for carrier in self.changed.drain(..) {
            self.changes[carrier as usize] = 0;
            self.is_changed[carrier as usize] = false;
        }
    }
}

/// Calls a function once with each edge of the processes that move, with such a process as the first argument. `is_moved` marks the processes in `moved`.
#[inline]
pub(super) fn each_edge_of_moved(
    graph: &CsrGraph,
    moved: &[NodeId],
    is_moved: &[bool],
    mut of_edge: impl FnMut(NodeId, NodeId, Weight),
) {
    for &process in moved {
        for (other, weight) in graph.arcs(process) {
            if !is_moved[other as usize] || process <= other {
                of_edge(process, other, weight);
            }
        }
    }
}
