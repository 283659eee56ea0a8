//! Exchanges on machines that are not trees: pairs in which one side improves by itself.
//!
//! An exchange of u on p and v on q gains only if u costs less on q or v costs less on p. After a good
//! construction, u costs less on few PEs, which are found without scanning all PEs
//! ([`Neighbours::visit_cheaper`]). A visit of u finds the PEs on which u costs less and tries the exchanges
//! with their processes. Exchanges by which v improves are found by the visit of v. A process that costs no
//! less anywhere needs no visit until it is touched.
//!
//! A visit takes O(deg) distances for each of these PEs, and for each nearby part of the machine. The initial
//! PEs are searched on all threads. Memory: O(n).
//!
//! All neighbours of a hub cost less on all PEs nearer to it, on average half of the machine, and each would
//! be exchanged with the hub. In a graph without small cuts, neighbours are scattered, and all processes cost
//! less near the middle of the machine. To avoid quadratic time in these cases, a search can be limited to an
//! [`Effort`].

use super::swap::{BEGIN, SwapSearch, Time};
use crate::base::budget::Budget;
use crate::base::observer::{Observer, Watch};
use crate::base::rng::{Rng, derive};
use crate::base::threads;
use crate::base::types::{Cost, NodeId, PeId, Weight};
use crate::graph::CsrGraph;
use crate::graph::hubs::{FEWEST_ARCS, hubs_of, most_arcs_without_hub};
use crate::machine::{DistanceOracle, Neighbours, Partners};
use crate::mapping::problem::Problem;

/// Longest list of cheaper PEs that is kept for a process; longer ones are recomputed at each visit, which
/// trades memory for time. After a good construction nearly all processes have fewer; around hubs they can be
/// half of the machine.
const MOST_KEPT: usize = 256;

/// PEs that a visit finds after the arcs of an [`Effort`] are used up. Balances time against missed
/// exchanges. Tuned with [`Effort::bounded`].
const FEW_PES: usize = 64;

/// Decides whether two processes may be exchanged; called for pairs whose exchange would gain.
pub(super) type MayExchange<'a> = &'a mut dyn FnMut(NodeId, NodeId) -> bool;

/// Returns whether [`descend`] applies to the machine of the search.
pub(super) fn is_applicable<O: DistanceOracle>(search: &SwapSearch<'_, O>) -> bool {
    let problem = search.problem();
    let oracle = problem.oracle();
    oracle.ultrametric().is_none() && oracle.has_triangle_inequality()
}

/// Limits on the work for processes that cost less on very many PEs, and for hubs.
pub(super) struct Effort {
    /// Upper limit on the PEs that a visit finds, starting with the cheapest parts of the machine.
    pes: usize,
    /// Each PE that a visit finds is charged the arcs of the process. When this budget is used up, a visit
    /// finds [`FEW_PES`] PEs.
    arcs: Budget,
    /// Arcs of hubs that may still be traversed to evaluate exchanges proposed by other processes.
    hub_arcs: Budget,
    /// Distances that may still be looked at before the descent ends.
    looks: Budget,
}

/// Distances that a bounded descent looks at for each arc, and that any may look at. On random graphs of 10^5 processes and 5 · 10^5 edges
/// `fast` then takes 74 seconds instead of 310, for a J that is higher by 1.6 percent. Processes of other graphs cost
/// less on so few PEs that their descents end long before.
const LOOKS_PER_ARC: usize = 1 << 10;
const ENOUGH_LOOKS: usize = 1 << 30;

impl Effort {
    /// No limit: continues until no pair gains.
    pub const ALL: Self = Self {
        pes: usize::MAX,
        arcs: Budget::UNLIMITED,
        hub_arcs: Budget::UNLIMITED,
        looks: Budget::UNLIMITED,
    };

    /// Takes about a minute on machines of 10^5 PEs where processes cost less on half of the machine.
    /// Balances time against missed exchanges.
    ///
    /// Without hubs, arcs are proportional to those of the graph, but not scarce for small graphs. Tuned with
    /// random graphs of mean degree 16, by `viem GRAPH --machine=mesh:200x200` and the like, and with random
    /// geometric graphs of 10^5 processes, which need no more.
    ///
    /// With hubs, tuned with a star and with ten hubs adjacent to all of 10^5 processes, by `viem GRAPH
    /// --machine=mesh:400x250`. With 1024 PEs the ten hubs end with a higher J; without a limit on arcs they
    /// take twice as long.
    pub fn bounded(graph: &CsrGraph) -> Self {
        let looks = Budget::new(graph.num_arcs().saturating_mul(LOOKS_PER_ARC).max(ENOUGH_LOOKS));
        match hubs_of(graph).next() {
            Some(_) => {
                Self { pes: 1 << 12, arcs: Budget::new(1 << 30), hub_arcs: Budget::new(1 << 28), looks }
            }
            None => Self { arcs: Budget::new((graph.num_arcs() << 8).max(1 << 28)), looks, ..Self::ALL },
        }
    }

    /// Current upper limit on the PEs that a visit finds.
    fn pes(&self) -> usize {
        if self.arcs.is_spent() { FEW_PES } else { self.pes }
    }
}

/// Exchanges processes until no permitted pair gains, or until the effort is used up.
pub(super) fn descend<O: DistanceOracle>(
    search: &mut SwapSearch<'_, O>,
    may_exchange: MayExchange<'_>,
    effort: Effort,
    seed: u64,
) {
    let problem = search.problem();
    let n = problem.size() as NodeId;
    let key_of = problem.oracle().keys();
    let vicinity = Neighbours::new(problem.oracle(), &key_of, problem.parts());
    let mut order: Vec<NodeId> = search.free_processes().collect();
    Rng::new(derive(seed, 0)).shuffle(&mut order);
    let mut effort = effort;
    let (better, looks): (Vec<_>, Vec<usize>) = better_pes_of_all(search, &vicinity).into_iter().unzip();
    effort.looks.spend(looks.into_iter().sum());
    let most_arcs = most_arcs_without_hub(problem.graph(), FEWEST_ARCS);
    let mut visits = Visits { vicinity, last: vec![0; n as usize], better, effort, most_arcs };
    loop {
        let round = search.now();
        for &u in &order {
            if !visits.is_due(search, u) {
                continue;
            }
            if search.should_stop() || visits.effort.looks.is_spent() {
                return;
            }
            visits.visit(search, u, may_exchange);
        }
        if search.now() == round {
            return;
        }
    }
}

/// The visits of processes by [`descend`].
struct Visits<'a, O: DistanceOracle> {
    vicinity: Neighbours<'a, O>,
    /// The time of the last visit to each process.
    last: Vec<Time>,
    /// The PEs on which each process costs less, as of its last visit or the start; `None` if there are too
    /// many.
    better: Vec<Option<Vec<PeId>>>,
    /// The remaining effort.
    effort: Effort,
    /// Processes with more arcs are hubs.
    most_arcs: usize,
}

impl<O: DistanceOracle> Visits<'_, O> {
    /// Returns whether a visit of `u` can find more than its last one.
    fn is_due(&self, search: &SwapSearch<'_, O>, u: NodeId) -> bool {
        let last = self.last[u as usize];
        search.touched(u) > last
            || match &self.better[u as usize] {
                Some(better) => !better.is_empty(),
                None => search.now() > last,
            }
    }

    /// Makes the best exchange of `u` with a process on a PE where `u` costs less, if one gains.
    fn visit(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId, may_exchange: MayExchange<'_>) {
        let last = std::mem::replace(&mut self.last[u as usize], search.now());
        let is_touched = search.touched(u) > last;
        let is_outdated = is_touched && search.touched(u) > BEGIN;
        let better = self.better[u as usize].take().filter(|_| !is_outdated);
        let most = self.effort.pes();
        let (better, looks) = match better {
            Some(better) => (better, 0),
            None => Now::of(search).better_pes(&self.vicinity, u, most),
        };
        self.effort.looks.spend(looks);
        let graph = search.problem().graph();
        self.effort.arcs.spend(better.len() * graph.degree(u));
        // An exchange that failed is not tried again before one of the two has changed.
        let partners = better.iter().map(|&pe| search.process_on()[pe as usize]);
        let partners = partners.filter(|&v| !search.is_fixed(v));
        let partners = partners.filter(|&v| is_touched || search.touched(v) > last);
        let partners: Vec<NodeId> = partners.filter(|&v| self.pays_for(graph, u, v)).collect();
        let arcs = |v: &NodeId| graph.degree(u) + graph.degree(*v);
        self.effort.looks.spend(partners.iter().map(arcs).sum());
        let deltas = partners.into_iter().map(|v| (search.delta(u, v), v));
        let mut improving: Vec<(Cost, NodeId)> = deltas.filter(|&(delta, _)| delta < 0).collect();
        improving.sort_unstable();
        if let Some((delta, v)) = improving.into_iter().find(|&(_, v)| may_exchange(u, v)) {
            search.swap(u, v, delta);
        }
        self.better[u as usize] = Some(better).filter(|better| better.len() <= MOST_KEPT);
    }

    /// Charges the evaluation of an exchange that `u` proposes to `v`, if `v` is a hub and `u` is not;
    /// returns whether the budget sufficed.
    fn pays_for(&mut self, graph: &CsrGraph, u: NodeId, v: NodeId) -> bool {
        let is_hub = |node| graph.degree(node) > self.most_arcs;
        !is_hub(v) || is_hub(u) || self.effort.hub_arcs.pays_for(graph.degree(v))
    }
}

/// [`Now::better_pes`] of every process with at most [`MOST_KEPT`] of them, on the threads of the rayon pool.
/// Processes not started before the search has to stop are skipped.
fn better_pes_of_all<O: DistanceOracle>(
    search: &SwapSearch<'_, O>,
    vicinity: &Neighbours<'_, O>,
) -> Vec<(Option<Vec<PeId>>, usize)> {
    // A process takes tens of microseconds.
    const GRAIN_SIZE: usize = 32;
    let now = Now::of(search);
    threads::map(now.problem.size(), GRAIN_SIZE, &|u| match now.observer.should_stop() {
        true => (None, 0),
        false => {
            let (found, looks) = now.better_pes(vicinity, u as NodeId, MOST_KEPT + 1);
            (Some(found).filter(|found| found.len() <= MOST_KEPT), looks)
        }
    })
}

/// The current positions of the processes.
struct Now<'s, O: DistanceOracle> {
    problem: &'s Problem<'s, O>,
    keys: &'s [O::Key],
    pe_of: &'s [PeId],
    process_on: &'s [NodeId],
    observer: &'s dyn Observer,
}

impl<'s, O: DistanceOracle> Now<'s, O> {
    fn of(search: &'s SwapSearch<'_, O>) -> Self {
        let (problem, observer) = (search.problem(), search.observer());
        Self {
            problem,
            keys: search.keys(),
            pe_of: search.pe_of(),
            process_on: search.process_on(),
            observer,
        }
    }

    /// The PEs on which `u` costs less, up to a limit, and how many distances were looked at. A neighbour of `u`
    /// on such a PE would move to the PE of `u`.
    fn better_pes(&self, vicinity: &Neighbours<'_, O>, u: NodeId, most: usize) -> (Vec<PeId>, usize) {
        let Self { keys, pe_of, process_on, observer, .. } = *self;
        let (graph, oracle) = (self.problem.graph(), self.problem.oracle());
        let here = keys[u as usize];
        let partners = Partners::new(graph.arcs(u).map(|(x, weight)| (keys[x as usize], weight)));
        let (mut better, mut watch) = (Vec::new(), Watch::new(observer));
        vicinity.visit_cheaper(pe_of[u as usize], &partners, &mut watch, |q, saving| {
            let v = process_on[q as usize];
            let between = graph.arcs(u).filter(|&(x, _)| x == v).map(|(_, weight)| weight).sum::<Weight>();
            if between * oracle.between(here, oracle.key(q)) < saving {
                better.push(q);
            }
            better.len() < most
        });
        let looks = watch.work();
        (better, looks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Grid, Machine};
    use crate::mapping::Mapping;
    use crate::testing::{Counted, in_halves, random_graph, star};

    /// Counts the distances and exchanges of a descent on a square mesh from the identity.
    fn looked_at(graph: &CsrGraph, effort: Effort) -> (usize, u64) {
        let (n, side) = (graph.num_nodes(), graph.num_nodes().isqrt() as u32);
        let distances = Grid::mesh(&[side, side]).unwrap().distances().unwrap();
        let (oracle, parts) = (&Counted::new(&distances), in_halves(n));
        let problem = Problem::new(graph, oracle).unwrap().with_parts(&parts);
        let mut search = SwapSearch::new(&problem, &Mapping::identity(n), &());
        let before = oracle.count();
        descend(&mut search, &mut |_, _| true, effort, 1);
        (oracle.count() - before, search.now() - BEGIN)
    }

    #[test]
    fn a_bounded_descent_takes_proportional_work_around_a_hub() {
        let around_middle = |side: u32, effort| {
            let (distances, exchanges) =
                looked_at(&star((side * side) as usize, (side + 1) * (side / 2)), effort);
            assert_eq!(exchanges, 0);
            distances
        };
        let effort = || Effort { pes: 32, hub_arcs: Budget::new(1 << 16), ..Effort::ALL };
        let (few, many) = (around_middle(50, effort()), around_middle(100, effort()));
        assert!(many < 7 * few, "{few} {many}");
        assert!(around_middle(50, Effort::ALL) > 3 * few);
    }

    #[test]
    fn a_descent_with_a_used_up_budget_visits_few_pes() {
        let graph = random_graph(2500, 8, 9, &mut Rng::new(1));
        let (all, _) = looked_at(&graph, Effort::ALL);
        let (few, exchanges) = looked_at(&graph, Effort { arcs: Budget::default(), ..Effort::ALL });
        let (more, _) = looked_at(&graph, Effort { arcs: Budget::new(1 << 22), ..Effort::ALL });
        assert!(exchanges > 0 && 2 * few < all && few < more && more < all, "{few} {more} {all}");
    }
}
