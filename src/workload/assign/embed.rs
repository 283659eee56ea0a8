//! A mapping in which all messages travel between neighbours, if one is found soon.
//!
//! Tasks come in an order in which each has as many partners before it as possible. A task can go to the free PEs that are
//! neighbours of the PEs of all these; those with few free neighbours are tried first, so that no PE is left behind. Where a
//! task has no PE, or a later one has none left, the search goes back. It gives up after a number of steps, so it is cheap where
//! there is no such mapping. Grids in grids and hypercubes are found without going back, or nearly.
//!
//! Free PEs stand in the order of their free neighbours, so that the first task of each component is placed in O(log n), however many
//! components and PEs there are.

use std::collections::BTreeSet;

use super::ground::Ground;
use crate::graph::CsrGraph;
use crate::ground::observer::{Observer, Watch};
use crate::ground::rng::Rng;
use crate::ground::types::{NodeId, PeId};

/// Steps for each task before a search is given up.
const STEPS: usize = 40;

/// Steps for any number of tasks.
const LEAST_STEPS: usize = 5_000;

/// PEs that a task is tried on if none of its partners has one: where to begin matters less than how to go on.
const FIRST_PES: usize = 4;

/// Searches: the first without chance, the others with ties broken at random.
const TRIES: u64 = 6;

const NOWHERE: PeId = PeId::MAX;

/// The PE of each task, or nothing.
pub(super) fn embed(
    graph: &CsrGraph,
    ground: &Ground,
    seed: u64,
    observer: &dyn Observer,
) -> Option<Vec<PeId>> {
    let n = graph.num_nodes();
    let most = (0..ground.num_pes() as PeId).map(|pe| ground.neighbours(pe).count()).max().unwrap_or(0);
    if n == 0 || n > ground.num_pes() || graph.nodes().any(|task| graph.degree(task) > most) {
        return None;
    }
    let order = order(graph);
    let beside = beside(ground);
    let mut watch = Watch::new(observer);
    (0..TRIES).take_while(|_| !observer.should_stop()).find_map(|number| {
        let mut search = Search {
            graph,
            ground,
            order: &order,
            beside: &beside,
            pe_of: vec![NOWHERE; n],
            task_of: vec![NodeId::MAX; ground.num_pes()],
            free: Free::new(ground),
            rng: (number > 0).then(|| Rng::new(seed.wrapping_add(number))),
        };
        search.run(&mut watch).then_some(search.pe_of)
    })
}

/// The tasks in the order in which they are placed: from one with few partners, always the one with the most partners before it;
/// of these that whose first partner came first.
fn order(graph: &CsrGraph) -> Vec<NodeId> {
    let n = graph.num_nodes();
    let mut order = Vec::with_capacity(n);
    let (mut before, mut is_placed) = (vec![0usize; n], vec![false; n]);
    let mut starts: Vec<NodeId> = graph.nodes().collect();
    starts.sort_by_key(|&task| (graph.degree(task), task));
    // By the number of partners before, then first come, first served.
    let mut heap = std::collections::BinaryHeap::new();
    for start in starts {
        heap.push((0, std::cmp::Reverse(usize::MAX), start));
        while let Some((count, _, task)) = heap.pop() {
            if is_placed[task as usize] || count != before[task as usize] {
                continue;
            }
            is_placed[task as usize] = true;
            order.push(task);
            for &other in graph.neighbours(task).iter().filter(|&&other| !is_placed[other as usize]) {
                before[other as usize] += 1;
                heap.push((before[other as usize], std::cmp::Reverse(order.len()), other));
            }
        }
    }
    order
}

/// The PEs that each PE is a neighbour of: mostly its neighbours, of which only so many are known though.
fn beside(ground: &Ground) -> Vec<Vec<PeId>> {
    let mut beside = vec![Vec::new(); ground.num_pes()];
    for pe in 0..ground.num_pes() as PeId {
        ground.neighbours(pe).for_each(|other| beside[other as usize].push(pe));
    }
    beside
}

/// How many neighbours of each PE are free, and the free PEs in the order of that.
struct Free {
    count: Vec<u32>,
    pes: BTreeSet<(u32, PeId)>,
}

impl Free {
    /// All PEs.
    fn new(ground: &Ground) -> Self {
        let pes = 0..ground.num_pes() as PeId;
        let count: Vec<u32> = pes.clone().map(|pe| ground.neighbours(pe).count() as u32).collect();
        Self { pes: count.iter().copied().zip(pes).collect(), count }
    }

    /// One more or one less neighbour of a PE is free.
    fn change(&mut self, pe: PeId, is_more: bool) {
        let count = &mut self.count[pe as usize];
        let was_free = self.pes.remove(&(*count, pe));
        *count = if is_more { *count + 1 } else { *count - 1 };
        if was_free {
            self.pes.insert((*count, pe));
        }
    }

    /// The PEs with at least so many free neighbours, those with fewest first; of these from one on, and round about.
    fn from(&self, open: u32, first: PeId) -> impl Iterator<Item = PeId> + '_ {
        let least = self.pes.range((open, 0)..).next().map_or(open, |&(count, _)| count);
        let begin = (least, first);
        let round = self.pes.range(begin..(least + 1, 0)).chain(self.pes.range((least, 0)..begin));
        round.chain(self.pes.range((least + 1, 0)..)).map(|&(_, pe)| pe)
    }
}

struct Search<'a> {
    graph: &'a CsrGraph,
    ground: &'a Ground,
    order: &'a [NodeId],
    beside: &'a [Vec<PeId>],
    pe_of: Vec<PeId>,
    task_of: Vec<NodeId>,
    free: Free,
    rng: Option<Rng>,
}

impl Search<'_> {
    /// Whether all tasks got a PE.
    fn run(&mut self, watch: &mut Watch<'_>) -> bool {
        let mut left = LEAST_STEPS + STEPS * self.order.len();
        // The candidates of each task that are not tried yet, the next one last.
        let mut stack: Vec<Vec<PeId>> = vec![self.candidates(self.order[0])];
        while !stack.is_empty() {
            let level = stack.len() - 1;
            let task = self.order[level];
            let next = stack[level].pop();
            self.remove(task);
            let Some(pe) = next else {
                stack.pop();
                continue;
            };
            if left == 0 || watch.stops_after(64) {
                return false;
            }
            left -= 1;
            self.put(task, pe);
            if self.is_hopeless(task) {
                continue;
            }
            if stack.len() == self.order.len() {
                return true;
            }
            let candidates = self.candidates(self.order[stack.len()]);
            stack.push(candidates);
        }
        false
    }

    fn put(&mut self, task: NodeId, pe: PeId) {
        self.pe_of[task as usize] = pe;
        self.task_of[pe as usize] = task;
        self.free.pes.remove(&(self.free.count[pe as usize], pe));
        self.beside[pe as usize].iter().for_each(|&other| self.free.change(other, false));
    }

    fn remove(&mut self, task: NodeId) {
        let pe = std::mem::replace(&mut self.pe_of[task as usize], NOWHERE);
        if pe != NOWHERE {
            self.task_of[pe as usize] = NodeId::MAX;
            self.beside[pe as usize].iter().for_each(|&other| self.free.change(other, true));
            self.free.pes.insert((self.free.count[pe as usize], pe));
        }
    }

    fn is_free(&self, pe: PeId) -> bool {
        self.task_of[pe as usize] == NodeId::MAX
    }

    fn num_free(&self, pe: PeId) -> usize {
        self.free.count[pe as usize] as usize
    }

    fn num_open(&self, task: NodeId) -> usize {
        self.graph.neighbours(task).iter().filter(|&&other| self.pe_of[other as usize] == NOWHERE).count()
    }

    /// The free PEs that are neighbours of all partners' PEs, of which there is one at least.
    fn fitting(&self, task: NodeId) -> impl Iterator<Item = PeId> + '_ {
        let mut placed = self.placed(task);
        let first = placed.next();
        let near = first.into_iter().flat_map(|pe| self.ground.neighbours(pe));
        let rest: Vec<PeId> = placed.collect();
        let is_near =
            move |pe: PeId| rest.iter().all(|&other| self.ground.neighbours(other).any(|near| near == pe));
        near.filter(move |&pe| self.is_free(pe) && is_near(pe))
    }

    /// The PEs of a task's partners, as far as they have some.
    fn placed(&self, task: NodeId) -> impl Iterator<Item = PeId> + '_ {
        let pes = self.graph.neighbours(task).iter().map(|&other| self.pe_of[other as usize]);
        pes.filter(|&pe| pe != NOWHERE)
    }

    /// PEs for a task, the best last: those with as few free neighbours as will do.
    fn candidates(&mut self, task: NodeId) -> Vec<PeId> {
        let open = self.num_open(task);
        if open == self.graph.degree(task) {
            return self.first_candidates(open);
        }
        let mut found: Vec<(usize, u64, PeId)> = self
            .fitting(task)
            .map(|pe| (self.num_free(pe), u64::from(pe), pe))
            .filter(|&(free, ..)| free >= open)
            .collect();
        if let Some(rng) = &mut self.rng {
            found.iter_mut().for_each(|(_, tie, _)| *tie = rng.next_u64());
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.into_iter().map(|(.., pe)| pe).collect()
    }

    /// PEs for a task without partners that have one.
    fn first_candidates(&mut self, open: usize) -> Vec<PeId> {
        let pes = self.task_of.len() as PeId;
        let first = self.rng.as_mut().map_or(0, |rng| rng.below(pes));
        let mut found: Vec<PeId> = self.free.from(open as u32, first).take(FIRST_PES).collect();
        found.reverse();
        found
    }

    /// Whether a task that was just placed leaves too little room for the partners of its neighbourhood.
    fn is_hopeless(&self, task: NodeId) -> bool {
        let own = self.pe_of[task as usize];
        let has_room =
            |pe: PeId| self.is_free(pe) || self.num_free(pe) >= self.num_open(self.task_of[pe as usize]);
        if !has_room(own) || !self.ground.neighbours(own).all(has_room) {
            return true;
        }
        let mut open =
            self.graph.neighbours(task).iter().filter(|&&other| self.pe_of[other as usize] == NOWHERE);
        open.any(|&other| self.fitting(other).next().is_none())
    }
}
