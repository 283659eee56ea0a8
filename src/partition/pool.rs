//! From a graph to its partition: one multilevel run or several, and their combination.
//!
//! Two partitions are combined by coarsening where they agree: vertices are contracted only if
//! neither partition separates them, so both survive on the coarsest level. The better one is refined on the
//! way back, and what the other does better offers itself as moves of few coarse vertices. The
//! child is never worse than the better parent. With a partition as both parents this is a V-cycle.
//!
//! Members of the pool are independent and run in parallel; which streams they draw from is named by their place,
//! so the result does not depend on the number of threads.
//!
//! Sanders, Schulz: Distributed evolutionary graph partitioning. ALENEX 2012.

use rayon::prelude::*;

use super::compact::{self, CompactGraph, Stored};
use super::multilevel::Multilevel;
use super::refine::k_way::Assignment;
use super::settings::Settings;
use super::targets::Targets;
use crate::graph::CsrGraph;
use crate::observer::Observer;
use crate::rng::{Rng, derive};
use crate::types::BlockId;

/// From this many arcs on, members are worth a thread each.
const LEAST_PARALLEL_ARCS: usize = 20_000;

/// Partitions a graph.
pub(crate) fn partition(
    graph: &CsrGraph,
    targets: &Targets,
    settings: &Settings,
    seed: u64,
    observer: &dyn Observer,
) -> Assignment {
    if compact::is_narrow(graph) {
        Pool::<i32> { graph: CompactGraph::new(graph), targets, settings, seed, observer }.best()
    } else {
        Pool::<i64> { graph: CompactGraph::new(graph), targets, settings, seed, observer }.best()
    }
}

struct Pool<'a, W> {
    graph: CompactGraph<W>,
    targets: &'a Targets,
    settings: &'a Settings,
    seed: u64,
    observer: &'a dyn Observer,
}

impl<W: Stored> Pool<'_, W> {
    fn best(&self) -> Assignment {
        if self.targets.num_blocks() == 1 {
            return Assignment::new(&self.graph, vec![0; self.graph.num_nodes()], 1);
        }
        let settings = &self.settings.pool;
        let enough = settings.least_per_block.saturating_mul(self.targets.num_blocks());
        let is_small = self.graph.num_nodes() < enough.min(settings.least_nodes);
        let num_members = if is_small { 1 } else { settings.members.max(1) };
        let seeds: Vec<u64> = (0..num_members as u64).map(|index| derive(self.seed, index)).collect();
        let mut members = self.each(seeds, |seed| self.run(None, seed));
        for generation in 1..=settings.generations as u64 {
            if self.observer.should_stop() {
                break;
            }
            let mut rng = Rng::new(derive(derive(self.seed, u64::MAX), generation));
            rng.shuffle(&mut members);
            let mut pairs = Vec::with_capacity(members.len() / 2);
            while members.len() > 1 {
                let (first, second) = (members.swap_remove(0), members.swap_remove(0));
                pairs.push((first, second, rng.next_u64()));
            }
            members.extend(
                self.each(pairs, |(first, second, seed)| self.combine(first, second, seed))
                    .into_iter()
                    .flatten(),
            );
        }
        let score = |member: &Assignment| member.score(self.targets.bounds());
        let mut best = members.into_iter().min_by_key(score).expect("the pool has a member");
        for cycle in 0..settings.cycles as u64 {
            if self.observer.should_stop() {
                break;
            }
            let seed = derive(derive(self.seed, u64::MAX - 1), cycle);
            let next = self.run(Some((&best.blocks, best.clone())), seed);
            if score(&next) < score(&best) {
                best = next;
            }
        }
        best
    }

    fn run(&self, start: Option<(&[BlockId], Assignment)>, seed: u64) -> Assignment {
        Multilevel::new(&self.graph, self.targets, self.settings, self.observer)
            .run(start, &mut Rng::new(seed))
    }

    /// The better parent and the child, in place of the worse parent.
    fn combine(&self, first: Assignment, second: Assignment, seed: u64) -> [Assignment; 2] {
        let score = |member: &Assignment| member.score(self.targets.bounds());
        let (better, worse) = if score(&second) < score(&first) { (second, first) } else { (first, second) };
        let classes = overlay(&better.blocks, &worse.blocks);
        let child = self.run(Some((&classes, better.clone())), seed);
        if score(&child) < score(&better) { [better, child] } else { [better, worse] }
    }

    /// Applies `work` to each item, in parallel if the graph is large enough; results in the order of the items.
    fn each<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
        if items.len() > 1 && self.graph.num_arcs() >= LEAST_PARALLEL_ARCS {
            items.into_par_iter().map(work).collect()
        } else {
            items.into_iter().map(work).collect()
        }
    }
}

/// Classes of vertices that neither partition separates; O(n log n).
fn overlay(first: &[BlockId], second: &[BlockId]) -> Vec<u32> {
    let pair = |(&a, &b): (&BlockId, &BlockId)| (u64::from(a) << 32) | u64::from(b);
    let mut present: Vec<u64> = first.iter().zip(second).map(pair).collect();
    present.sort_unstable();
    present.dedup();
    let class = |pair: u64| present.partition_point(|&other| other < pair) as u32;
    first.iter().zip(second).map(|blocks| class(pair(blocks))).collect()
}
