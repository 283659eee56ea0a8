//! An order of the vertices that does not depend on their numbers.
//!
//! Algorithms break ties by numbers, so that two numberings of a graph end in different results. They end in the same one if the
//! vertices are put in this order first.
//!
//! *Algorithm.* Colour refinement: the next colour of a vertex is a hash of its own, those of its neighbours, and the weights between,
//! until there are no more colours than before. If then several vertices have one colour, one of the rarest such colour gets a colour of its own,
//! and the colours are refined again. The order is breadth-first from a vertex of the rarest colour, neighbours of rare colours first.
//! Vertices that still have the same colour come by number. Mostly an automorphism exchanges them, so that it does not matter which comes
//! first, but this is not ensured: a canonical order takes exponential time as far as is known.
//!
//! Time O(n + m) for each of a bounded number of passes, and for sorting the colours; memory 24 n bytes and a copy of the graph.
//!
//! B. Weisfeiler, A. Leman: The reduction of a graph to canonical form and the algebra which appears therein. NTI, Series 2(9), 1968.

use hashbrown::HashMap;

use super::CsrGraph;
use super::bfs::breadth_first_order;
use super::relabel::relabel_ascending;
use crate::base::rng::derive;
use crate::base::threads;
use crate::base::types::NodeId;

/// Vertices and arcs visited at most. Balances time against graphs whose vertices are told apart late, such as grids: 128 passes over a
/// grid of 60 x 60.
const MOST_VISITS: usize = 1 << 21;

/// Passes at least, which tell the vertices of most irregular graphs apart.
const LEAST_PASSES: usize = 16;

/// The vertices in an order that depends on the structure of the graph, and on the marks of its vertices.
pub fn order(graph: &CsrGraph, mark: impl Fn(NodeId) -> u64) -> Vec<NodeId> {
    let mut colours = Colours::new(graph, mark);
    let mut passes_left = (MOST_VISITS / (graph.num_nodes() + graph.num_arcs()).max(1)).max(LEAST_PASSES);
    loop {
        passes_left -= colours.refine(passes_left);
        if passes_left == 0 || !colours.individualise() {
            break;
        }
    }
    let by_rarity = colours.by_rarity();
    let order = breadth_first_order(&relabel_ascending(graph, &by_rarity));
    order.into_iter().map(|node| by_rarity[node as usize]).collect()
}

/// The colours of the vertices.
struct Colours<'a> {
    graph: &'a CsrGraph,
    of: Vec<u64>,
    /// All colours in ascending order, each as often as it occurs.
    sorted: Vec<u64>,
}

impl<'a> Colours<'a> {
    fn new(graph: &'a CsrGraph, mark: impl Fn(NodeId) -> u64) -> Self {
        let first = |node| derive(mark(node), graph.node_weight(node) as u64);
        let mut colours = Self { graph, of: graph.nodes().map(first).collect(), sorted: Vec::new() };
        colours.sort();
        colours
    }

    fn sort(&mut self) {
        self.sorted.clone_from(&self.of);
        threads::sort_by_key(&mut self.sorted, |&colour| colour);
    }

    /// The number of different colours.
    fn count(&self) -> usize {
        self.classes().count()
    }

    /// All different colours, each as often as it occurs.
    fn classes(&self) -> impl Iterator<Item = &[u64]> {
        self.sorted.chunk_by(|a, b| a == b)
    }

    /// Refines the colours until their number stays the same, in so many passes at most. Returns the number of passes.
    fn refine(&mut self, most: usize) -> usize {
        let (mut next, mut count) = (vec![0; self.of.len()], self.count());
        for passes in 1..=most {
            threads::fill(&mut next, |node| self.refined(node as NodeId));
            std::mem::swap(&mut self.of, &mut next);
            self.sort();
            let before = std::mem::replace(&mut count, self.count());
            if count == before {
                return passes;
            }
        }
        most
    }

    fn refined(&self, node: NodeId) -> u64 {
        let arcs = self.graph.arcs(node);
        // A sum does not depend on the order of the neighbours.
        let around = arcs.map(|(to, weight)| derive(self.of[to as usize], weight as u64));
        derive(self.of[node as usize], around.fold(0, u64::wrapping_add))
    }

    /// Gives a vertex of the rarest colour that others have too a colour of its own. False if all colours differ.
    fn individualise(&mut self) -> bool {
        let several = self.classes().filter(|class| class.len() > 1);
        let Some(colour) = several.min_by_key(|class| class.len()).map(|class| class[0]) else {
            return false;
        };
        let first = self.of.iter_mut().find(|of| **of == colour);
        first.into_iter().for_each(|of| *of = derive(*of, 1));
        self.sort();
        true
    }

    /// The vertices in the order of their colours, the rarest ones first; ties by number.
    fn by_rarity(&self) -> Vec<NodeId> {
        let sizes: HashMap<u64, usize> = self.classes().map(|class| (class[0], class.len())).collect();
        let key = |&node: &NodeId| {
            let colour = self.of[node as usize];
            (sizes[&colour], colour, node)
        };
        let mut order: Vec<NodeId> = self.graph.nodes().collect();
        order.sort_by_cached_key(key);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::relabel::relabel;
    use crate::graph::{GraphBuilder, generate};

    /// The graph in its canonical order, after its vertices were shuffled.
    fn canonical(graph: &CsrGraph, seed: u64) -> CsrGraph {
        let mut shuffle: Vec<NodeId> = graph.nodes().collect();
        Rng::new(seed).shuffle(&mut shuffle);
        let graph = relabel(graph, &shuffle);
        relabel_ascending(&graph, &order(&graph, |_| 0))
    }

    fn cliques(sizes: &[NodeId]) -> CsrGraph {
        let mut builder = GraphBuilder::new(sizes.iter().sum::<NodeId>() as usize);
        let mut first = 0;
        for &size in sizes {
            for u in first..first + size {
                (u + 1..first + size).for_each(|v| builder.add_edge(u, v, 3));
            }
            first += size;
        }
        builder.build().unwrap()
    }

    fn random_tree(num_nodes: usize, seed: u64) -> CsrGraph {
        let (mut rng, mut builder) = (Rng::new(seed), GraphBuilder::new(num_nodes));
        (1..num_nodes as NodeId).for_each(|node| builder.add_edge(rng.below(node), node, 1));
        builder.build().unwrap()
    }

    #[test]
    fn all_numberings_of_a_graph_have_one_order() {
        let graphs = [
            ("grid", generate::grid(12, 7)),
            ("mesh", generate::mesh(20, 15, 1)),
            ("geometric", generate::random_geometric(300, 0.1, 1)),
            ("tree", random_tree(500, 1)),
            ("cliques", cliques(&[5, 3, 5, 2, 3, 1, 1])),
            ("no edges", CsrGraph::new(vec![0; 6], vec![], vec![], vec![3, 1, 2, 1, 1]).unwrap()),
            ("nothing", CsrGraph::new(vec![0], vec![], vec![], vec![]).unwrap()),
        ];
        for (name, graph) in graphs {
            let first = canonical(&graph, 0);
            (1..6).for_each(|seed| assert!(canonical(&graph, seed) == first, "{name}, seed {seed}"));
        }
    }

    #[test]
    fn marks_tell_vertices_apart() {
        let cycle = {
            let mut builder = GraphBuilder::new(6);
            (0..6).for_each(|u| builder.add_edge(u, (u + 1) % 6, 1));
            builder.build().unwrap()
        };
        let place = |marked| {
            let order = order(&cycle, |node| u64::from(node == marked));
            order.iter().position(|&node| node == marked)
        };
        assert!((0..6).all(|marked| place(marked) == place(0)));
    }
}
