//! N_C^d: pairs within d hops of each other in the communication graph (Schulz and Träff, "Better process
//! mapping and sparse quadratic assignment", 2017).
//!
//! Processes are visited in random order, and the partners of each in random order, until no process has
//! anything left to try. An exchange ends the visit: it touches both processes, so they are visited again.
//! (Continuing with the next partner instead gives 15 % worse results after a random start: a process far
//! from its final PE then moves many others along with it.) A process is visited only if it has been touched
//! since its last visit. The result is therefore a local optimum: every pair has been tried since either
//! process was last touched. (On machines that are not trees, this holds for [nearly](super::nearby::Effort)
//! every pair of a graph with hubs.)
//!
//! The pairs are never stored. If few processes are within d hops, a bounded breadth-first search lists them,
//! and each is tried. If there are many, the gains of all partners are computed at once (see
//! [`partner_gains`](super::partner_gains) and, for large groups, [`bounded`](super::bounded)). The
//! breadth-first search then runs only if one of them improves J, to check whether it is near enough. Memory:
//! O(n + m).

use super::bounded::BoundedGains;
use super::nearby;
use super::no_move::without_move;
use super::partner_gains::{Gains, PartnerGains};
use super::swap::{SwapSearch, Time};
use crate::base::rng::{Rng, derive};
use crate::base::types::{Cost, NodeId};
use crate::graph::bfs::{BoundedBfs, PairBfs};
use crate::graph::components::components;
use crate::graph::relabel::relabel;
use crate::machine::{DistanceOracle, with_oracle};
use crate::mapping::problem::Problem;
use crate::mapping::search::task::{SearchOutcome, Task, sample};
use crate::mapping::{Mapping, process_on_each};

pub(super) fn search(task: &Task<'_>) -> SearchOutcome {
    with_oracle!(task.problem.oracle(), |oracle| search_with(task, &task.problem.with_oracle(oracle)))
}

fn search_with<O: DistanceOracle>(task: &Task<'_>, problem: &Problem<'_, O>) -> SearchOutcome {
    let Task { start, seed, observer, .. } = *task;
    let max_hops = task.max_hops;
    // Number the processes by their PEs, so that the memory accesses of a visit are local.
    let process_on = process_on_each(start.pes());
    let graph = relabel(problem.graph(), &process_on);
    let fixed = problem.renumbered_fixed(&process_on);
    let by_pe = problem.with_graph(&graph, fixed.as_ref());
    let mut search = SwapSearch::new(&by_pe, &Mapping::identity(process_on.len()), observer);
    let way = Way::choose(&mut search, max_hops);
    descend(&mut search, max_hops, seed, way);
    let outcome = search.finish();
    SearchOutcome { mapping: outcome.mapping.numbered_back(&process_on), ..outcome }
}

/// A hub has at least n / `TOUCHED` neighbours. An exchange of a hub touches them all, so it is worth finding
/// out which of them have an improving move. That takes a pass over all arcs, so it is done at most once in n
/// / `TOUCHED` visits.
const TOUCHED: usize = 16;

/// The method by which a visit finds the improving partners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    OneByOne,
    AtOnce,
    /// Only pairs in which one side improves by itself, see [`nearby`](super::nearby).
    Nearby,
}

impl Way {
    /// The faster way, estimated from a sample of processes. A visit takes about one evaluation for each
    /// partner, or for each process on a PE closer than the greatest distance, respectively.
    fn choose<O: DistanceOracle>(search: &mut SwapSearch<'_, O>, max_hops: usize) -> Self {
        if nearby::is_applicable(search) {
            return Way::Nearby;
        }
        let (graph, oracle) = (search.problem().graph(), search.problem().oracle());
        let mut bfs = BoundedBfs::new(graph.num_nodes());
        let (mut partners, mut near_pes) = (0, 0);
        for process in sample(graph) {
            partners += bfs.reach(graph, process, max_hops).len();
            if search.should_stop() {
                break;
            }
            near_pes += oracle.nearer_than(search.pe_of()[process as usize], oracle.max_distance()).len();
        }
        if partners < near_pes { Way::OneByOne } else { Way::AtOnce }
    }
}

fn descend<O: DistanceOracle>(search: &mut SwapSearch<'_, O>, max_hops: usize, seed: u64, way: Way) {
    let graph = search.problem().graph();
    let n = graph.num_nodes();
    let mut near = Near { bfs: BoundedBfs::new(n), pair_bfs: PairBfs::new(n), max_hops };
    let mut order: Vec<NodeId> = search.free_processes().collect();
    Rng::new(derive(seed, 0)).shuffle(&mut order);
    let mut visits = Visits { order, without_move: vec![0; n], visited: vec![0; n], seed: derive(seed, 1) };
    visits.pass_over(search);
    match way {
        Way::Nearby => {
            // Most pairs that are too far apart are in different components, which a search would traverse
            // completely.
            let (component, _) = components(n, |node| graph.neighbours(node).iter().copied());
            let is_one = |u: NodeId, v: NodeId| component[u as usize] == component[v as usize];
            let is_near = &mut |u, v| is_one(u, v) && near.pair_bfs.within(graph, u, v, max_hops);
            nearby::descend(search, is_near, nearby::Effort::bounded(graph), seed);
        }
        Way::OneByOne => {
            visits.descend(search, |search, visited, process, seed| {
                visit_one_by_one(search, &mut near, visited, process, seed);
            });
        }
        Way::AtOnce => {
            let mut gains: Box<dyn Gains<O>> = match BoundedGains::new(search) {
                Some(gains) => Box::new(gains),
                None => Box::new(PartnerGains::new(search)),
            };
            visits.descend(search, |search, _, process, seed| {
                visit_at_once(search, &mut near, &mut *gains, process, seed);
            });
        }
    }
}

/// Finds the partners of a process.
struct Near {
    bfs: BoundedBfs,
    pair_bfs: PairBfs,
    max_hops: usize,
}

impl Near {
    fn reach<O: DistanceOracle>(&mut self, search: &SwapSearch<'_, O>, process: NodeId) -> &[NodeId] {
        self.bfs.reach(search.problem().graph(), process, self.max_hops)
    }

    fn contains<O: DistanceOracle>(
        &mut self,
        search: &SwapSearch<'_, O>,
        process: NodeId,
        partner: NodeId,
    ) -> bool {
        self.pair_bfs.within(search.problem().graph(), process, partner, self.max_hops)
    }
}

/// The processes in visiting order, and the times of their visits.
struct Visits {
    order: Vec<NodeId>,
    /// The time at which each process was last known to have no improving move; 0 if never.
    without_move: Vec<Time>,
    /// The time at which the last visit to a process began; 0 if never.
    visited: Vec<Time>,
    seed: u64,
}

impl Visits {
    /// Visits touched processes until there are none left. A visit gets the times of all previous visits, the
    /// process, and a seed of its own.
    fn descend<O: DistanceOracle>(
        mut self,
        search: &mut SwapSearch<'_, O>,
        mut visit: impl FnMut(&mut SwapSearch<'_, O>, &[Time], NodeId, u64),
    ) {
        let (n, graph) = (self.order.len(), search.problem().graph());
        let has_hub = graph.nodes().any(|node| graph.degree(node) * TOUCHED >= n);
        let (mut visits, mut passed_over) = (0, 0);
        while !search.should_stop() {
            let round = search.now();
            let mut is_complete = true;
            for at in 0..n {
                let process = self.order[at];
                if !self.is_pending(search, process) {
                    continue;
                }
                if search.should_stop() {
                    return;
                }
                if has_hub && (visits - passed_over) * TOUCHED >= n {
                    passed_over = visits;
                    is_complete &= !self.pass_over(search);
                    // The list of skipped processes may be incomplete.
                    if search.should_stop() {
                        return;
                    }
                }
                let begin = search.now();
                visit(search, &self.visited, process, derive(self.seed, visits as u64));
                self.visited[process as usize] = begin;
                visits += 1;
            }
            if search.now() == round && is_complete {
                return;
            }
        }
    }

    /// Returns whether a process has been touched since it was last visited or known to have no improving move.
    fn is_pending<O: DistanceOracle>(&self, search: &SwapSearch<'_, O>, process: NodeId) -> bool {
        let last = self.visited[process as usize].max(self.without_move[process as usize]);
        search.touched(process) > last
    }

    /// Schedules visits of exactly the processes with an improving move, if they are fewer than the pending
    /// ones; returns whether it did.
    ///
    /// An exchange of two processes without an improving move cannot gain, and the others try all their
    /// partners.
    fn pass_over<O: DistanceOracle>(&mut self, search: &SwapSearch<'_, O>) -> bool {
        let without_move = without_move(search.problem(), search.keys(), search.observer());
        let pending = self.order.iter().filter(|&&process| self.is_pending(search, process)).count();
        let movers = without_move.iter().filter(|&&is_without| !is_without).count();
        if movers >= pending {
            return false;
        }
        for (process, is_without) in without_move.into_iter().enumerate() {
            match is_without {
                true => self.without_move[process] = search.now(),
                false => self.visited[process] = 0,
            }
        }
        true
    }
}

/// The position of a partner in the random order of a visit.
fn place(seed: u64, partner: NodeId) -> (u64, NodeId) {
    (derive(seed, u64::from(partner)), partner)
}

/// Tries the pairs of a process with its partners; exchanges the first that improves.
fn visit_one_by_one<O: DistanceOracle>(
    search: &mut SwapSearch<'_, O>,
    near: &mut Near,
    visited: &[Time],
    process: NodeId,
    seed: u64,
) {
    let mut first = None;
    for &partner in near.reach(search, process) {
        // The partner's last visit has tried the pair already, unless one of the two was touched since.
        if search.touched(process).max(search.touched(partner)) > visited[partner as usize] {
            let delta = search.delta(process, partner);
            // Most pairs fail, so the order is computed only for those that gain.
            if delta < 0 && first.is_none_or(|(first, _)| place(seed, partner) < first) {
                first = Some((place(seed, partner), delta));
            }
        }
        if search.is_stopped() {
            return;
        }
    }
    if let Some(((_, partner), delta)) = first {
        search.swap(process, partner, delta);
    }
}

/// As [`visit_one_by_one`], using the gains of all partners at once.
fn visit_at_once<O: DistanceOracle>(
    search: &mut SwapSearch<'_, O>,
    near: &mut Near,
    gains: &mut dyn Gains<O>,
    process: NodeId,
    seed: u64,
) {
    let by_place = |&(partner, _): &(NodeId, Cost)| place(seed, partner);
    let improving = gains.improving(search, process);
    let Some((partner, delta)) = improving.iter().copied().min_by_key(by_place) else { return };
    // Often most of the graph is within d hops, and the first partner is near enough. If it is not, one
    // search finds all others.
    let first = if near.contains(search, process, partner) {
        Some((partner, delta))
    } else {
        near.reach(search, process);
        improving.iter().copied().filter(|&(partner, _)| near.bfs.has_reached(partner)).min_by_key(by_place)
    };
    if let Some((partner, delta)) = first {
        gains.swap(search, process, partner, delta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{CsrGraph, GraphBuilder, generate};
    use crate::machine::Hierarchy;
    use crate::mapping::problem::Problem;

    /// A geometric graph, optionally with a hub adjacent to all other vertices.
    fn graph(num_nodes: usize, has_hub: bool) -> CsrGraph {
        let near = generate::random_geometric(num_nodes, 5.0, 2);
        let mut builder = GraphBuilder::new(num_nodes);
        for u in near.nodes() {
            near.arcs(u).filter(|&(v, _)| u < v).for_each(|(v, weight)| builder.add_edge(u, v, 3 * weight));
            if has_hub && u > 0 && !near.neighbours(u).contains(&0) {
                builder.add_edge(0, u, 1);
            }
        }
        builder.build().unwrap()
    }

    #[test]
    fn both_ways_end_in_local_optima() {
        let machines = [("4:4:6", "1:10:100"), ("2:3:4:4", "9:1:4:3"), ("4:24", "1:10"), ("96", "5")];
        for ((arities, distances), has_hub) in
            machines.into_iter().flat_map(|machine| [(machine, false), (machine, true)])
        {
            let hierarchy = Hierarchy::parse(arities, distances).unwrap();
            let oracle = hierarchy.online32().unwrap();
            let graph = graph(96, has_hub);
            let problem = Problem::new(&graph, &oracle).unwrap();
            for (max_hops, way) in
                [1, 2, 4, 100].into_iter().flat_map(|hops| [(hops, Way::OneByOne), (hops, Way::AtOnce)])
            {
                let mut search = SwapSearch::new(&problem, &Mapping::identity(96), &());
                descend(&mut search, max_hops, 5, way);
                let mut bfs = BoundedBfs::new(96);
                for u in graph.nodes() {
                    for &v in bfs.reach(&graph, u, max_hops) {
                        assert!(search.delta(u, v) >= 0, "{arities} {has_hub} {max_hops} {way:?} {u} {v}");
                    }
                }
            }
        }
    }

    #[test]
    fn processes_without_a_move_are_skipped_after_a_hub_has_moved() {
        let hierarchy = Hierarchy::parse("4:4:6", "1:10:100").unwrap();
        let oracle = hierarchy.online32().unwrap();
        let graph = graph(96, true);
        let problem = Problem::new(&graph, &oracle).unwrap();
        let mut search = SwapSearch::new(&problem, &Mapping::identity(96), &());
        descend(&mut search, 100, 5, Way::AtOnce);
        let zeros = vec![0; 96];
        let order = graph.nodes().collect();
        let mut visits = Visits { order, without_move: zeros.clone(), visited: zeros, seed: 1 };
        let pending = |visits: &Visits, search: &SwapSearch<'_, _>| {
            graph.nodes().filter(|&process| visits.is_pending(search, process)).count()
        };
        assert_eq!(pending(&visits, &search), 96);
        assert!(visits.pass_over(&search));
        let left = pending(&visits, &search);
        assert!(left < 60, "{left}");
        // Until the hub moves, skipping would not save any visits.
        assert!(!visits.pass_over(&search));
        let delta = search.delta(0, 95);
        search.swap(0, 95, delta);
        assert_eq!(pending(&visits, &search), 96);
        assert!(visits.pass_over(&search));
        assert!(pending(&visits, &search) < 60);
    }
}
