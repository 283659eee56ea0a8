//! The greedy algorithm of Perego and De Petris, section 5: places each task on the best PE by the estimate.
//!
//! The next task is the one with the most placed partners; on ties, the one with the most tasks near it in
//! the workload; if no partner is placed, a random one. Its PE is chosen in two steps: several of all PEs
//! with room by a cheap estimate F' (distances, without contention), and the best of those by F. Ties are
//! broken by, in this order: the smallest cost that a look-ahead expects for the partners placed next; the
//! smallest sum of R; the most similar degrees; the smallest box around all tasks.
//!
//! O(T N D) for F', plus T times tens of evaluations of F, for T tasks of D partners each on N PEs.
//!
//! # Departures
//!
//! F' is evaluated for all PEs with room up to [`MOST_PES`]; beyond that, for those near partners' PEs and
//! some random ones. "Similar" values of F are taken as equal ones. Full PEs are skipped: the memory bound of
//! the paper is the machine's capacity.

use super::view::MachineView;
use crate::estimate::{Estimate, NOWHERE, WorkloadModel};
use crate::routing::{Flow, Hop};
use viem::base::observer::{Observer, Watch};
use viem::base::rng::Rng;
use viem::base::types::{NodeId, PeId};
use viem::graph::CsrGraph;

/// Up to this many PEs, all are evaluated for each task.
const MOST_PES: usize = 1 << 10;

/// Radius within which tasks count as near in the workload: a quarter of the smaller diameter in the paper;
/// two hops here, which is the same for machines of a few hundred PEs.
const NEAR_HOPS: usize = 2;

/// PEs for which F is evaluated per placed partner: 2 n + 1 in the paper, for n dimensions; this is for two.
const TRIED_A_PARTNER: usize = 5;

/// Upper limit on the PEs for which F is evaluated.
const MOST_TRIED: usize = 10;

pub(super) struct Greedy<'a> {
    pub graph: &'a CsrGraph,
    pub model: &'a WorkloadModel,
    pub view: &'a MachineView,
    pub seed: u64,
    /// Work of the estimate after which PEs are chosen by F' alone; after twice that, the algorithm gives up.
    pub work: u64,
    pub observer: &'a dyn Observer,
}

/// The rank of a PE for a task, to be minimised: F, look-ahead, sum of R, difference of degrees, box.
type Key = (i64, u64, i64, u64, u64, PeId);

struct Run<'a, 'b> {
    given: &'b Greedy<'a>,
    estimate: &'b mut Estimate<'a>,
    room: Vec<u32>,
    /// For each task, the number of placed partners, and of tasks near it.
    placed_partners: Vec<u32>,
    richness: Vec<u32>,
    /// Number of channels that use each lane.
    uses: Vec<u32>,
    /// The box around all tasks.
    least: Vec<u32>,
    greatest: Vec<u32>,
    num_placed: usize,
    num_occupied: usize,
    /// The tasks without PEs; may also contain some that have one.
    left: Vec<NodeId>,
    rng: Rng,
}

impl<'a> Greedy<'a> {
    /// The PE of each task. `None` if it takes too long, or if the observer asks to stop before all tasks
    /// have a PE.
    pub(super) fn run(&self, estimate: &mut Estimate<'a>) -> Option<Vec<PeId>> {
        let n = self.graph.num_nodes();
        let mut watch = Watch::new(self.observer);
        let richness = self.richness(&mut watch)?;
        estimate.reset();
        let mut run = Run {
            given: self,
            estimate,
            room: self.view.room.clone(),
            placed_partners: vec![0; n],
            richness,
            uses: vec![0; self.view.routing.num_lanes()],
            least: vec![u32::MAX; self.view.grid.as_ref().map_or(0, Vec::len)],
            greatest: vec![0; self.view.grid.as_ref().map_or(0, Vec::len)],
            num_placed: 0,
            num_occupied: 0,
            left: self.graph.nodes().collect(),
            rng: Rng::new(self.seed),
        };
        let mut waiting = std::collections::BTreeSet::new();
        for _ in 0..n {
            let task = run.next_task(&mut waiting);
            let candidates = run.candidates(task);
            let before = run.estimate.work();
            if before > 2 * self.work
                || watch.stops_after(candidates.len() * (1 + self.graph.degree(task)) * 8)
            {
                return None;
            }
            let pe = run.best(task, &candidates);
            run.put(task, pe, &mut waiting);
            if watch.stops_after((run.estimate.work() - before) as usize) {
                return None;
            }
        }
        Some(run.estimate.pe_of().to_vec())
    }

    /// The number of tasks near each task, or `None` if the observer asks to stop.
    fn richness(&self, watch: &mut Watch<'_>) -> Option<Vec<u32>> {
        let mut richness = Vec::with_capacity(self.graph.num_nodes());
        for task in self.graph.nodes() {
            let near = near_tasks(self.graph, task);
            if watch.stops_after(near as usize) {
                return None;
            }
            richness.push(near);
        }
        Some(richness)
    }
}

/// Number of tasks within [`NEAR_HOPS`] of a task; counting stops at a limit, since hubs are near many.
fn near_tasks(graph: &CsrGraph, task: NodeId) -> u32 {
    const ENOUGH: usize = 1 << 10;
    let mut found = vec![task];
    let mut from = 0;
    for _ in 0..NEAR_HOPS {
        let end = found.len();
        for index in from..end {
            let left = ENOUGH.saturating_sub(found.len());
            found.extend(graph.neighbours(found[index]).iter().take(left));
        }
        from = end;
    }
    found.sort_unstable();
    found.dedup();
    found.len() as u32
}

type Waiting = std::collections::BTreeSet<(u32, u32, std::cmp::Reverse<NodeId>)>;

impl Run<'_, '_> {
    fn place_in_queue(&self, task: NodeId) -> (u32, u32, std::cmp::Reverse<NodeId>) {
        (self.placed_partners[task as usize], self.richness[task as usize], std::cmp::Reverse(task))
    }

    fn is_placed(&self, task: NodeId) -> bool {
        self.estimate.pe_of()[task as usize] != NOWHERE
    }

    fn next_task(&mut self, waiting: &mut Waiting) -> NodeId {
        if let Some((.., task)) = waiting.pop_last() {
            return task.0;
        }
        let graph = self.given.graph;
        if self.num_placed == 0 {
            return centre_of(graph);
        }
        loop {
            // Tasks that have got a PE in the meantime are removed when they are drawn.
            let index = self.rng.below(self.left.len() as u32) as usize;
            let task = self.left[index];
            if !self.is_placed(task) {
                return task;
            }
            self.left.swap_remove(index);
        }
    }

    /// The candidate PEs of a task: all with room if they are few.
    fn candidates(&mut self, task: NodeId) -> Vec<PeId> {
        let view = self.given.view;
        let all = view.num_pes() as PeId;
        if self.num_placed == 0 {
            return vec![centre_of_machine(view)];
        }
        if all as usize <= MOST_PES {
            return (0..all).filter(|&pe| self.room[pe as usize] > 0).collect();
        }
        let mut found: Vec<PeId> = Vec::new();
        for &partner in self.given.graph.neighbours(task) {
            let pe = self.estimate.pe_of()[partner as usize];
            if pe != NOWHERE {
                found.push(pe);
                found.extend(view.near(pe).flat_map(|near| view.near(near).chain([near])));
            }
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&pe| self.room[pe as usize] > 0);
        // If all PEs nearby are full: random PEs and the next free ones after them.
        while found.len() < 8 {
            let first = self.rng.below(all);
            let mut pes = (first..all).chain(0..first);
            found.extend(pes.find(|&pe| self.room[pe as usize] > 0));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// F' of a PE: the cost of distances for the task and its partners. With more tasks than PEs, PEs that
    /// already have a task are preferred while the mean number of tasks per used PE is below the final one.
    fn cheap(&self, task: NodeId, pe: PeId, hops: &mut Vec<Hop>) -> (bool, i64, i64) {
        let Greedy { model, view, .. } = self.given;
        let (mut greatest, mut sum) = (0, 0);
        for &channel in model.channels_of(task) {
            let channel = &model.channels[channel as usize];
            let other = if channel.from == task { channel.to } else { channel.from };
            let there = self.estimate.pe_of()[other as usize];
            if there == NOWHERE {
                continue;
            }
            let (messages, flits) = (channel.messages as i64, channel.flits as i64);
            let extra = if there == pe {
                -flits.min(channel.waiting as i64)
            } else {
                hops.clear();
                let (from, to) = if channel.from == task { (pe, there) } else { (there, pe) };
                let flow = view.routing.route(from, to, hops);
                let cycles: i64 = hops.iter().map(|hop| hop.cycles as i64).sum();
                match (flow, hops.first()) {
                    (Flow::Wormhole, Some(hop)) => {
                        (flits - messages) * hop.cycles as i64 + cycles * messages - flits
                    }
                    _ => flits * cycles - flits,
                }
            };
            greatest = greatest.max(extra);
            sum += extra;
        }
        let (tasks, pes) = (model.num_tasks(), view.num_pes());
        let is_occupied = self.room[pe as usize] < view.room[pe as usize];
        let wants_occupied = tasks > pes && self.num_placed * pes < self.num_occupied * tasks;
        (wants_occupied && !is_occupied, sum, greatest)
    }

    /// The best of several PEs.
    fn best(&mut self, task: NodeId, candidates: &[PeId]) -> PeId {
        let mut hops = Vec::new();
        let mut ranked: Vec<((bool, i64, i64), PeId)> =
            candidates.iter().map(|&pe| (self.cheap(task, pe, &mut hops), pe)).collect();
        ranked.sort_unstable();
        let partners = (self.placed_partners[task as usize] as usize).max(1);
        let count = (TRIED_A_PARTNER * partners).min(MOST_TRIED);
        // PEs as cheap as the last one are as good.
        let bound = ranked.get(count.min(ranked.len()) - 1).map(|&(cheap, _)| cheap);
        let tried: Vec<PeId> = ranked
            .iter()
            .take_while(|&&(cheap, _)| bound.is_none_or(|bound| cheap <= bound))
            .take(2 * MOST_TRIED)
            .map(|&(_, pe)| pe)
            .collect();
        if tried.len() == 1 || self.estimate.work() > self.given.work {
            return tried[0];
        }
        let keys = tried.iter().map(|&pe| self.key(task, pe, &mut hops));
        let best: Vec<Key> = keys.collect();
        best.into_iter().min().expect("there is room").5
    }

    fn key(&mut self, task: NodeId, pe: PeId, hops: &mut Vec<Hop>) -> Key {
        self.estimate.place(task, pe);
        let (time, sum) = (self.estimate.parts(), self.estimate.sum());
        self.estimate.place(task, NOWHERE);
        (time, self.look_ahead(task, pe, hops), sum, self.unlikeness(task, pe), self.volume_with(pe), pe)
    }

    /// The expected cost of the partners placed next: for each one with a placed partner, the hops from
    /// there, plus the hops over links in use.
    fn look_ahead(&self, task: NodeId, pe: PeId, hops: &mut Vec<Hop>) -> u64 {
        let Greedy { graph, view, .. } = self.given;
        let mut expected = 0;
        for &next in graph.neighbours(task).iter().filter(|&&next| !self.is_placed(next)) {
            let mut others =
                graph.neighbours(next).iter().filter(|&&other| other != task && self.is_placed(other));
            let Some(&other) = others.next() else { continue };
            let there = self.estimate.pe_of()[other as usize];
            if there == pe {
                continue;
            }
            for (from, to) in [(pe, there), (there, pe)] {
                hops.clear();
                view.routing.route(from, to, hops);
                let in_use = hops.iter().filter(|hop| self.uses[hop.lane as usize] > 0).count();
                expected += (hops.len() + in_use) as u64;
            }
        }
        expected
    }

    /// The difference between the degrees around a task and around a PE, ignoring placed tasks and used PEs.
    fn unlikeness(&self, task: NodeId, pe: PeId) -> u64 {
        let Greedy { graph, view, .. } = self.given;
        let open = graph.neighbours(task).iter().filter(|&&other| !self.is_placed(other)).count();
        let free = view.neighbours(pe).filter(|&other| self.room[other as usize] > 0).count();
        open.abs_diff(free) as u64
    }

    /// Number of PEs in the box around all tasks and one more PE.
    fn volume_with(&self, pe: PeId) -> u64 {
        let ends = self.least.iter().zip(&self.greatest).zip(self.given.view.coordinates(pe));
        ends.map(|((&least, &greatest), at)| u64::from(greatest.max(at) - least.min(at)) + 1).product()
    }

    fn put(&mut self, task: NodeId, pe: PeId, waiting: &mut Waiting) {
        let Greedy { graph, model, view, .. } = self.given;
        self.estimate.place(task, pe);
        self.num_placed += 1;
        self.num_occupied += usize::from(self.room[pe as usize] == view.room[pe as usize]);
        self.room[pe as usize] -= 1;
        for ((least, greatest), at) in self.least.iter_mut().zip(&mut self.greatest).zip(view.coordinates(pe))
        {
            (*least, *greatest) = ((*least).min(at), (*greatest).max(at));
        }
        let mut hops = Vec::new();
        for &channel in model.channels_of(task) {
            let channel = &model.channels[channel as usize];
            let [from, to] = [channel.from, channel.to].map(|end| self.estimate.pe_of()[end as usize]);
            if from != NOWHERE && to != NOWHERE && from != to {
                hops.clear();
                view.routing.route(from, to, &mut hops);
                hops.iter().for_each(|hop| self.uses[hop.lane as usize] += 1);
            }
        }
        for &other in graph.neighbours(task) {
            if self.is_placed(other) {
                continue;
            }
            waiting.remove(&self.place_in_queue(other));
            self.placed_partners[other as usize] += 1;
            waiting.insert(self.place_in_queue(other));
        }
    }
}

/// Upper limit on the starts of distance computations.
const MOST_STARTS: usize = 64;

/// The task with the smallest sum of hops to all others, or to a sample of them.
fn centre_of(graph: &CsrGraph) -> NodeId {
    let n = graph.num_nodes();
    // Sums of hops from a sample of tasks are as good as from all.
    let mut sums = vec![0u64; n];
    for start in (0..n).step_by(n.div_ceil(MOST_STARTS)) {
        let mut hops = vec![u32::MAX; n];
        let mut queue = vec![start as NodeId];
        hops[start] = 0;
        let mut first = 0;
        while first < queue.len() {
            let task = queue[first];
            first += 1;
            for &other in graph.neighbours(task).iter() {
                if hops[other as usize] == u32::MAX {
                    hops[other as usize] = hops[task as usize] + 1;
                    queue.push(other);
                }
            }
        }
        let far = n as u64;
        sums.iter_mut()
            .zip(&hops)
            .for_each(|(sum, &hops)| *sum += if hops == u32::MAX { far } else { hops.into() });
    }
    (0..n as NodeId).min_by_key(|&task| (sums[task as usize], task)).unwrap_or(0)
}

/// The PE with the smallest sum of distances to all others, or to a sample of them.
fn centre_of_machine(view: &MachineView) -> PeId {
    let n = view.num_pes();
    let others: Vec<PeId> = (0..n as PeId).step_by(n.div_ceil(MOST_STARTS)).collect();
    let sum = |pe: PeId| others.iter().map(|&other| i128::from(view.distance(pe, other))).sum::<i128>();
    (0..n as PeId).min_by_key(|&pe| (sum(pe), pe)).unwrap_or(0)
}
