//! Problems in which either matrix holds the distances of a machine: they are mapped like communication
//! graphs.
//!
//! The other matrix becomes the graph. Distances are symmetric, so the weight of an edge is the sum of both
//! directions, and J of the problem is half of J of the mapping, unless the matrix is itself symmetric. The
//! diagonals must contribute the same to all assignments, so at least one must be constant. Graphs have no
//! negative weights; a problem that needs them is left to the dense search.
//!
//! Recognising a machine and building the graph takes O(n²).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::settings::QapConfig;
use crate::base::observer::Observer;
use crate::base::rng::derive;
use crate::base::types::{Cost, NodeId};
use crate::graph::{CsrGraph, GraphBuilder};
use crate::machine::recognise::{Recognised, recognise};
use crate::mapping::Mapping;
use crate::mapping::dense::{MOST_TABLED, Qap, pairs_in_tiles};
use crate::mapping::problem;
use crate::partition::FixedVertices;
use crate::solve::{Given, OneToOneConfig, PreparedMachine, SolveError, Task};

/// A machine whose distances form one matrix of a problem.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct QapMachine {
    /// The name of the matrix: `A` for objects, `B` for places.
    pub matrix: char,
    /// A short description of the machine.
    pub machine: String,
    /// An entry off the diagonal is `factor` times a distance, plus `offset`.
    pub factor: i64,
    /// The constant added to each distance.
    pub offset: i64,
    /// True if the problem is mapped to the machine. Large problems are; sparse ones are mapped before the
    /// dense search.
    #[serde(rename = "mapped")]
    pub is_mapped: bool,
}

/// A problem is mapped first if at most one in this many pairs of objects has a nonzero entry. Balances
/// mapping, which exploits the shape of the machine and the sparsity, against the dense search, which comes
/// closer to the optimum of small dense problems. On denser problems (QAPLIB's sko, wil, tho, random graphs
/// on tori) mapping was up to 0.4 % worse within the same time; on sparser ones it was up to 47 % better.
/// `cargo bench --bench qap -- machines degree=DEGREE` shows the curve.
const PAIRS_FOR_AN_EDGE: usize = 16;

/// A problem as a communication graph and a machine.
pub(super) struct OnMachine {
    found: Recognised,
    /// The row of each PE in the matrix of distances.
    row_of: Vec<u32>,
    graph: CsrGraph,
    /// True if the matrix of objects holds the distances.
    is_exchanged: bool,
    /// The number of times that J of the mapping counts each pair: 2, or 1 if the other matrix is symmetric.
    counts: Cost,
    /// The part of J that is the same for all assignments.
    constant: Cost,
}

impl QapMachine {
    /// The machine whose distances form one matrix, if the problem can be mapped to it; O(n²).
    pub fn of(qap: &Qap) -> Option<Self> {
        let problem = OnMachine::new(qap)?;
        let Recognised { machine, factor, offset, .. } = &problem.found;
        Some(Self {
            matrix: if problem.is_exchanged { 'A' } else { 'B' },
            machine: machine.describe(),
            factor: *factor,
            offset: *offset,
            is_mapped: problem.is_sparse() || problem.is_large(),
        })
    }
}

impl OnMachine {
    /// If both matrices are distances, the one with fewer edges becomes the graph.
    pub(super) fn new(qap: &Qap) -> Option<Self> {
        let problem = |is_exchanged| Self::of_matrix(qap, is_exchanged);
        [false, true].into_iter().filter_map(problem).min_by_key(|problem| problem.graph.num_edges())
    }

    fn of_matrix(qap: &Qap, is_exchanged: bool) -> Option<Self> {
        let n = qap.size();
        let (flows, distances) = if is_exchanged { (qap.b(), qap.a()) } else { (qap.a(), qap.b()) };
        let diagonal = |matrix: &[i64]| (0..n).map(|k| matrix[k * n + k]).collect::<Vec<_>>();
        let diagonals = [diagonal(flows), diagonal(distances)];
        let is_constant = |diagonal: &Vec<i64>| diagonal.windows(2).all(|pair| pair[0] == pair[1]);
        if !diagonals.iter().any(is_constant) {
            return None;
        }
        let found = recognise(n, distances)?;
        let (graph, counts) = graph(n, flows)?;
        let greatest = found.greatest(distances)?;
        problem::check_cost(&graph, greatest).ok()?;
        // At least one diagonal is constant, so n divides the product.
        let sum = |entries: &[i64]| entries.iter().map(|&entry| i128::from(entry)).sum::<i128>();
        let of_diagonals = sum(&diagonals[0]) * sum(&diagonals[1]) / n as i128;
        let beside = sum(flows) - sum(&diagonals[0]);
        let constant = Cost::try_from(of_diagonals + beside * i128::from(found.offset)).ok()?;
        let mut row_of = vec![0; n];
        for (row, &pe) in found.pe_of.iter().enumerate() {
            row_of[pe as usize] = row as u32;
        }
        Some(Self { found, row_of, graph, is_exchanged, counts, constant })
    }

    /// Returns whether mapping is better than the dense search in the same time.
    pub(super) fn is_sparse(&self) -> bool {
        let n = self.graph.num_nodes();
        self.graph.num_edges().saturating_mul(PAIRS_FOR_AN_EDGE) <= n * (n - 1) / 2
    }

    /// Returns whether the problem is too large for a table of all exchanges, without which the dense search is not
    /// worthwhile.
    pub(super) fn is_large(&self) -> bool {
        self.graph.num_nodes() > MOST_TABLED
    }

    /// The place of each object after mapping, within the time limit if there is one. Fixed objects, each with
    /// its place, are there. The observer is
    /// notified of each J below `bound`.
    pub(super) fn solve(
        &self,
        config: &QapConfig,
        time_limit: Option<Duration>,
        bound: Cost,
        fixed: &[(usize, usize)],
        observer: &dyn Observer,
    ) -> Result<Vec<u32>, SolveError> {
        // Which mapping reaches a target first depends on the threads, so a target is used only with a time
        // limit, where the result may depend on them.
        let target = config.target.filter(|_| config.time_limit.is_some());
        let watcher = Watcher { problem: self, bound, target, is_reached: AtomicBool::new(false), observer };
        let fixed = self.fixed_processes(fixed);
        let task = Task {
            graph: &self.graph,
            machine: &PreparedMachine::new(&*self.found.machine),
            config: &OneToOneConfig::preset(config.machine.unwrap_or_default()),
            seed: derive(config.seed, 0),
            given: Given { fixed: Some(&fixed), ..Given::default() },
            begin: Instant::now(),
            time_limit,
            observer: &watcher,
        };
        let solution = task.solve()?;
        Ok(self.place_of(&solution.mapping))
    }

    /// The PEs of processes if objects must be at given places.
    fn fixed_processes(&self, fixed: &[(usize, usize)]) -> FixedVertices {
        let n = self.row_of.len();
        let mut pe_of = vec![None; n];
        for &(object, place) in fixed {
            let (process, row) = if self.is_exchanged { (place, object) } else { (object, place) };
            pe_of[process] = Some(self.found.pe_of[row]);
        }
        FixedVertices::known(pe_of.into_iter(), n)
    }

    /// The place of each object, given the PE of each process.
    fn place_of(&self, mapping: &Mapping) -> Vec<u32> {
        let rows = mapping.pes().iter().map(|&pe| self.row_of[pe as usize]);
        if !self.is_exchanged {
            return rows.collect();
        }
        let mut place_of = vec![0; self.row_of.len()];
        for (place, object) in rows.enumerate() {
            place_of[object as usize] = place as u32;
        }
        place_of
    }

    /// J of the problem, given J of the mapping; saturates for poor mappings.
    fn cost(&self, of_mapping: Cost) -> Cost {
        let cost =
            i128::from(self.found.factor) * i128::from(of_mapping / self.counts) + i128::from(self.constant);
        Cost::try_from(cost).unwrap_or(Cost::MAX)
    }
}

/// The graph of the total of both directions of each pair, or of one direction if they are always equal; and
/// how often J of a mapping counts each pair.
fn graph(n: usize, flows: &[i64]) -> Option<(CsrGraph, Cost)> {
    let both = |(i, j): (usize, usize)| (flows[i * n + j], flows[j * n + i]);
    let is_symmetric = pairs_in_tiles(n).map(both).all(|(one, other)| one == other);
    let mut graph = GraphBuilder::new(n);
    for (i, j) in pairs_in_tiles(n) {
        let (one, other) = both((i, j));
        let weight = if is_symmetric { one } else { one + other };
        match weight {
            0 => {}
            1.. => graph.add_edge(i as NodeId, j as NodeId, weight),
            _ => return None,
        }
    }
    Some((graph.build().ok()?, if is_symmetric { 1 } else { 2 }))
}

/// Forwards mappings to the observer as assignments.
struct Watcher<'a> {
    problem: &'a OnMachine,
    bound: Cost,
    target: Option<Cost>,
    is_reached: AtomicBool,
    observer: &'a dyn Observer,
}

impl Observer for Watcher<'_> {
    fn should_stop(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed) || self.observer.should_stop()
    }

    fn reached(&self, cost: Cost) {
        let cost = self.problem.cost(cost);
        if self.target.is_some_and(|target| cost <= target) {
            self.is_reached.store(true, Ordering::Relaxed);
        }
        if cost < self.bound {
            self.observer.reached(cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::machine::{Grid, Hierarchy, Hypercube, Machine};
    use crate::mapping::objective::score;

    /// A sparse matrix; bit 0 of `kind`: symmetric, bit 1: any diagonal.
    fn flows(n: usize, kind: u32, rng: &mut Rng) -> Vec<i64> {
        let mut entries = vec![0; n * n];
        for i in 0..n {
            for j in 0..n {
                entries[i * n + j] = match i == j {
                    true if kind & 2 > 0 => i64::from(rng.below(9)) - 4,
                    true => 3,
                    false if kind & 1 > 0 && j < i => entries[j * n + i],
                    false => i64::from(rng.below(4) / 3 * rng.below(20)),
                };
            }
        }
        entries
    }

    /// The distances of a machine times 3 plus a constant, in a random order; bit 2 of `kind`: any diagonal.
    fn distances(machine: &dyn Machine, kind: u32, rng: &mut Rng) -> Vec<i64> {
        let n = machine.num_pes();
        let mut order: Vec<u32> = (0..n as u32).collect();
        rng.shuffle(&mut order);
        let pair = |k: usize, l: usize| {
            let mut edge = GraphBuilder::new(2);
            edge.add_edge(0, 1, 1);
            score(&edge.build().unwrap(), machine, &[order[k], order[l]]).unwrap() / 2
        };
        let entry = |k: usize, l: usize| match k == l {
            true if kind & 4 > 0 => k as i64 % 3,
            true => -7,
            false => 3 * pair(k, l) - 2,
        };
        (0..n * n).map(|at| entry(at / n, at % n)).collect()
    }

    fn machines() -> [Box<dyn Machine>; 4] {
        [
            Box::new(Hierarchy::parse("2:3:2", "4:9:1").unwrap()),
            Box::new(Grid::mesh(&[3, 5]).unwrap()),
            Box::new(Grid::torus(&[3, 5]).unwrap()),
            Box::new(Hypercube::new(4).unwrap()),
        ]
    }

    #[test]
    fn j_of_the_assignment_follows_from_j_of_the_mapping() {
        let mut rng = Rng::new(1);
        for machine in machines() {
            let n = machine.num_pes();
            for kind in 0..16 {
                let (flows, distances) = (flows(n, kind, &mut rng), distances(&*machine, kind, &mut rng));
                let is_exchanged = kind & 8 > 0;
                let (a, b) = if is_exchanged { (distances, flows) } else { (flows, distances) };
                let qap = Qap::from_matrices(n, a, b).unwrap();
                let problem = OnMachine::new(&qap);
                // If neither diagonal is constant, J does not follow from that of a mapping.
                let Some(problem) = problem else {
                    assert_eq!(kind & 6, 6);
                    continue;
                };
                assert_ne!(kind & 6, 6);
                assert_eq!(QapMachine::of(&qap).unwrap().matrix, if is_exchanged { 'A' } else { 'B' });
                let mut order: Vec<u32> = (0..n as u32).collect();
                rng.shuffle(&mut order);
                let mapping = Mapping::from_permutation(order);
                let of_mapping = score(&problem.graph, &*problem.found.machine, mapping.pes()).unwrap();
                assert_eq!(problem.cost(of_mapping), qap.cost(&problem.place_of(&mapping)));
            }
        }
    }

    #[test]
    fn unsuitable_problems_are_not_mapped() {
        let mut rng = Rng::new(2);
        let machine = Grid::mesh(&[3, 4]).unwrap();
        let (mut flows, distances) = (flows(12, 0, &mut rng), distances(&machine, 0, &mut rng));
        assert!(OnMachine::new(&Qap::from_matrices(12, flows.clone(), distances.clone()).unwrap()).is_some());
        let mut other = distances.clone();
        other[5] += 1;
        assert!(OnMachine::new(&Qap::from_matrices(12, flows.clone(), other).unwrap()).is_none());
        flows[1] = -30;
        assert!(OnMachine::new(&Qap::from_matrices(12, flows, distances).unwrap()).is_none());
    }
}
