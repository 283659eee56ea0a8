//! The dense search of problems with few places, on any machine.
//!
//! With few places, the matrices of communication and of distances are small, and a population of mappings
//! finds within milliseconds what annealing of one mapping misses: groups that fit the parts of an uneven
//! machine exactly have no neighbours of similar J.

use super::exact;
use crate::base::observer::Observer;
use crate::base::settings::{ConfigError, check};
use crate::base::types::{Cost, NodeId};
use crate::machine::{Hierarchy, Metric};
use crate::mapping::Mapping;
use crate::mapping::dense::{Effort, Qap, QapImprovement, QapQuick, QapWay, Search, lower_bound_around};
use crate::mapping::problem::Problem;
use crate::mapping::search::task::SearchOutcome;

/// The effort of the dense search of problems with few places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SmallInstance {
    /// The greatest number of places. Balances J against time, which grows with the cube of this.
    pub most_places: usize,
    /// Members of the population, at least 2.
    pub population: usize,
    /// The greatest number of children.
    pub children: usize,
    /// The search ends earlier once this many generations of the population have found the best J, each from random mappings; at least 1.
    /// Balances J against time.
    pub agreeing: usize,
}

impl SmallInstance {
    pub(super) const FAST: Self = Self { most_places: 32, population: 4, children: 4, agreeing: 1 };
    pub(super) const ECO: Self = Self { population: 8, children: 48, agreeing: 2, ..Self::FAST };
    pub(super) const STRONG: Self = Self { population: 16, children: 320, agreeing: 3, ..Self::FAST };

    /// Returns whether this many places are few: then the dense search ends a run.
    pub(crate) fn is_few(&self, num_places: usize) -> bool {
        num_places <= self.most_places
    }

    /// Annealing and tabu search are about a tenth as long as for the QAP: its problems have more places.
    fn effort(&self, seed: u64) -> Effort {
        Effort {
            seed,
            agreeing: Some(self.agreeing),
            first: QapImprovement::new(100, 0.3, 0.01, 200),
            ways: [
                QapWay::new(2, QapImprovement::new(10, 0.1, 0.01, 100)),
                QapWay::new(2, QapImprovement::new(10, 0.03, 0.01, 100)),
                QapWay::new(2, QapImprovement::new(0, 0.1, 0.01, 500)),
                QapWay::new(1, QapImprovement::new(20, 0.05, 0.01, 50)),
                QapWay::new(0, QapImprovement::new(200, 0.3, 0.01, 100)),
            ],
            quick: QapQuick {
                first: QapImprovement::new(20, 0.3, 0.01, 100),
                child: QapImprovement::new(0, 0.1, 0.01, 50),
            },
            ..Effort::new(self.population, self.children)
        }
    }

    /// Returns whether every number is in its range.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        check("population", self.population, self.population >= 2, "at least 2")?;
        check("agreeing", self.agreeing, self.agreeing >= 1, "at least 1")
    }
}

/// Continues with the dense search if there are few places, unless the mapping is known to be optimal. The
/// result is not worse.
pub(crate) fn search_small_instance(
    problem: &Problem<'_>,
    hierarchy: Option<&Hierarchy>,
    found: SearchOutcome,
    config: &SmallInstance,
    seed: u64,
    observer: &dyn Observer,
) -> SearchOutcome {
    let is_optimal = exact::is_small_problem(problem, hierarchy) || problem.graph().num_arcs() == 0;
    if is_optimal || !config.is_few(problem.size()) || observer.should_stop() {
        return found;
    }
    match searched(problem, &found, &config.effort(seed), observer) {
        Some((cost, mapping)) if cost < found.cost => SearchOutcome { cost, mapping, ..found },
        _ => found,
    }
}

/// The best mapping found, with its J. None if no sum of a search is known to fit 64 bits.
fn searched(
    problem: &Problem<'_>,
    found: &SearchOutcome,
    effort: &Effort,
    observer: &dyn Observer,
) -> Option<(Cost, Mapping)> {
    let n = problem.size();
    let is_fixed = |process: &NodeId| problem.fixed().is_some_and(|fixed| fixed.of(*process).is_some());
    let (fixed, mut order): (Vec<NodeId>, Vec<NodeId>) = (0..n as NodeId).partition(is_fixed);
    let movable = order.len();
    order.extend(fixed);
    let qap = matrices(problem)?.with_objects_in(&order);
    let start = found.mapping.renumbered(&order);
    let fixed: Vec<(usize, usize)> =
        (movable..n).map(|object| (object, start.pes()[object] as usize)).collect();
    let target = lower_bound_around(&qap, &fixed).unwrap_or(Cost::MIN);
    let search = Search { qap: &qap, movable, effort, target, observer };
    let place_of = if target < found.cost { search.run(start.pes()).ok()? } else { start.pes().to_vec() };
    let cost = qap.cost(&place_of);
    Some((cost, Mapping::from_permutation(place_of).numbered_back(&order)))
}

/// The matrices of the weights of all arcs and of all distances.
fn matrices(problem: &Problem<'_>) -> Option<Qap> {
    let (n, graph, oracle) = (problem.size(), problem.graph(), problem.oracle());
    let mut weights = vec![0; n * n];
    for process in 0..n {
        for (other, weight) in graph.arcs(process as NodeId) {
            weights[process * n + other as usize] += weight;
        }
    }
    let row = |place: usize| (0..n).map(move |other| oracle.between(place as NodeId, other as NodeId));
    Qap::from_matrices(n, weights, (0..n).flat_map(row).collect()).ok()
}
