//! Comparison of mappings: their costs and the loads of the nodes.
//!
//! J is a model: weights of traffic times distances. The other figures show where the traffic is: the share
//! of each level of the machine, the traffic leaving the busiest node, and the number of communication
//! partners of a node. None of them is a run time.
//!
//! An [`Arrangement`] is a default mapping of launchers, which does not depend on the traffic, for
//! comparison.
//!
//! O(n log n + m) for each mapping.

mod arrangement;

pub use arrangement::Arrangement;

use crate::traffic;
use viem::PreparedMachine;
use viem::base::types::{Cost, NodeId, Weight};
use viem::graph::CsrGraph;
use viem::machine::Nodes;
use viem::mapping::Mapping;
use viem::mapping::objective::{ScoreError, evaluate};

/// The common input of the figures of all mappings.
pub struct Comparison<'a> {
    graph: &'a CsrGraph,
    machine: &'a PreparedMachine<'a>,
    /// True if mappings are many-to-one.
    is_many: bool,
}

/// The figures of a mapping.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Figures {
    /// J.
    pub cost: Cost,
    /// The traffic of each level, innermost first. Levels are those of a regular tree; on other machines they
    /// are the package, the node, and the connections between nodes.
    pub levels: Vec<LevelShare>,
    /// The total weight of the edges that leave each node.
    #[serde(skip)]
    pub outgoing: Vec<Weight>,
    /// The largest weight that leaves a node.
    pub busiest: Weight,
    /// The largest number of other nodes with which a node communicates.
    pub most_partners: usize,
}

/// The traffic that stays inside a level, excluding the levels inside it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct LevelShare {
    /// Its name, for output.
    pub name: String,
    /// Sum of the weights of the edges, each edge counted once.
    pub weight: Weight,
    /// `weight` as a share of the weight of all edges, from 0 to 1; 0 if there are no edges.
    pub share: f64,
}

impl<'a> Comparison<'a> {
    /// Makes a comparison of mappings of this graph to this machine.
    pub fn new(graph: &'a CsrGraph, machine: &'a PreparedMachine<'a>) -> Self {
        Self { graph, machine, is_many: false }
    }

    /// The same for many-to-one mappings if `is_many`.
    pub fn of_many(self, is_many: bool) -> Self {
        Self { is_many, ..self }
    }

    /// Returns whether the mappings are many-to-one.
    pub fn is_many(&self) -> bool {
        self.is_many
    }

    /// The mapping of an arrangement; `None` if there is not enough room for one-to-one mapping.
    pub fn arranged(&self, arrangement: Arrangement) -> Option<Mapping> {
        if self.is_many {
            arrangement.of_many(self.machine.machine(), self.nodes(), self.graph)
        } else {
            arrangement.of(self.machine.machine(), self.nodes(), self.graph.num_nodes())
        }
    }

    /// The machine.
    pub(crate) fn machine(&self) -> &'a PreparedMachine<'a> {
        self.machine
    }

    /// The node of each PE.
    pub fn nodes(&self) -> &Nodes {
        self.machine.nodes()
    }

    /// The figures of a mapping, computed on the threads of the current rayon pool.
    pub fn figures(&self, mapping: &Mapping) -> Result<Figures, ScoreError> {
        let cost = evaluate(self.graph, self.machine.distances()?, mapping)?;
        let between = traffic::between_nodes(self.graph, self.nodes(), mapping.pes());
        let outgoing: Vec<Weight> = between.nodes().map(|node| between.weighted_degree(node)).collect();
        let busiest = outgoing.iter().copied().max().unwrap_or(0);
        let most_partners = between.nodes().map(|node| between.degree(node)).max().unwrap_or(0);
        Ok(Figures { cost, levels: self.levels(mapping), outgoing, busiest, most_partners })
    }

    fn levels(&self, mapping: &Mapping) -> Vec<LevelShare> {
        if let Some(hierarchy) = self.machine.machine().hierarchy() {
            let levels = traffic::by_level(self.graph, hierarchy, mapping).into_iter();
            let named = levels.map(|level| (format!("level {}", level.level), level.weight));
            return self.shares(named);
        }
        let mut weights = [0; 3];
        let site = |process: NodeId| self.nodes().site(mapping.pe_of(process));
        for process in self.graph.nodes() {
            let here = site(process);
            for (other, weight) in self.graph.arcs(process).filter(|&(other, _)| other > process) {
                let there = site(other);
                let level = match (here.node == there.node, here.package() == there.package()) {
                    (true, true) => 0,
                    (true, false) => 1,
                    (false, _) => 2,
                };
                weights[level] += weight;
            }
        }
        let names = ["package", "node", "network"].map(str::to_owned);
        self.shares(names.into_iter().zip(weights))
    }

    fn shares(&self, levels: impl Iterator<Item = (String, Weight)>) -> Vec<LevelShare> {
        let total = self.graph.total_arc_weight() / 2;
        let share = |weight: Weight| if total == 0 { 0.0 } else { weight as f64 / total as f64 };
        levels.map(|(name, weight)| LevelShare { name, weight, share: share(weight) }).collect()
    }
}

/// The reduction from one cost to another in percent; negative for an increase.
pub fn percent_less(of: Cost, cost: Cost) -> f64 {
    if of > 0 { 100.0 * (of - cost) as f64 / of as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random_graph, random_mapping};
    use viem::base::rng::Rng;
    use viem::machine::build;

    /// Compares every figure with its definition.
    #[test]
    fn figures_match_their_definitions() {
        let mut rng = Rng::new(3);
        for spec in [("2:2:4", Some("1:10:100")), ("torus:4x2/2", Some("1:5")), ("hypercube:4", None)] {
            let machine = build(spec.0, spec.1).unwrap();
            let graph = random_graph(16, 5, 9, &mut rng);
            let mapping = random_mapping(16, &mut rng);
            let prepared = PreparedMachine::new(&machine);
            let comparison = Comparison::new(&graph, &prepared);
            let figures = comparison.figures(&mapping).unwrap();
            let node = |process| comparison.nodes().node(mapping.pe_of(process));
            for (number, &outgoing) in figures.outgoing.iter().enumerate() {
                let inside = graph.nodes().filter(|&process| node(process) == number);
                let arcs = inside.flat_map(|process| graph.arcs(process));
                let leaving: Vec<_> = arcs.filter(|&(other, _)| node(other) != number).collect();
                assert_eq!(outgoing, leaving.iter().map(|arc| arc.1).sum::<Weight>());
                let mut partners: Vec<_> = leaving.iter().map(|&(other, _)| node(other)).collect();
                partners.sort_unstable();
                partners.dedup();
                assert!(partners.len() <= figures.most_partners);
            }
            assert_eq!(figures.busiest, *figures.outgoing.iter().max().unwrap());
            let between = figures.outgoing.iter().sum::<Weight>() / 2;
            assert_eq!(figures.levels.last().unwrap().weight, between, "{}", spec.0);
            let shares: f64 = figures.levels.iter().map(|level| level.share).sum();
            assert!((shares - 1.0).abs() < 1e-9);
            let scored = viem::mapping::objective::score(&graph, &machine, mapping.pes()).unwrap();
            assert_eq!(figures.cost, scored);
        }
    }

    #[test]
    fn reductions_are_in_percent() {
        assert_eq!(percent_less(200, 150), 25.0);
        assert_eq!(percent_less(100, 126), -26.0);
        assert_eq!(percent_less(0, 0), 0.0);
    }
}
