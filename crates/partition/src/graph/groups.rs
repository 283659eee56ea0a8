//! Groups of vertices that belong together: components, and what heavy edges join.

use super::CsrGraph;
use crate::base::types::{NodeId, Weight};

/// By what factor edges inside groups must be heavier than all others. Balances groups that should stay whole against graphs whose weights
/// merely vary; of ratios from 2 to 10, all find the groups of training jobs and of noisy cliques.
const HEAVIER: Weight = 4;

/// How many times fewer groups there must be than vertices. Balances the time that is spent on groups against graphs where few edges are
/// heavy.
pub(crate) const FEWER: usize = 2;

/// The weights of edges that are heavier than all lighter ones by far, the lightest first. O(m log m) for `weights` of m edges, O(m) if
/// weights do not differ that much.
pub(crate) fn heavy_weights<I: Iterator<Item = Weight>>(weights: impl Fn() -> I) -> Vec<Weight> {
    let (least, most) =
        weights().fold((Weight::MAX, 0), |(least, most), weight| (least.min(weight), most.max(weight)));
    if most / HEAVIER < least {
        return Vec::new();
    }
    let mut sorted: Vec<Weight> = weights().collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.windows(2).filter(|pair| pair[1] / HEAVIER >= pair[0]).map(|pair| pair[1]).collect()
}

/// The vertices of each component, each in breadth-first order; O(n + m).
pub fn components_in_order(graph: &CsrGraph) -> Vec<Vec<NodeId>> {
    in_order(graph.num_nodes(), |node| graph.neighbours(node).iter().copied())
}

/// The same of the groups that the edges of some weight and heavier ones join, for each weight that all lighter edges are lighter than by
/// far, and that joins several groups, by far fewer than vertices with edges. The lightest weight comes first. O(m log m) and O(n + m) for
/// each weight.
pub fn heavy_groups_in_order(graph: &CsrGraph) -> impl DoubleEndedIterator<Item = Vec<Vec<NodeId>>> {
    let weights = || graph.nodes().flat_map(|node| graph.arcs(node)).map(|(_, weight)| weight);
    let isolated = graph.nodes().filter(|&node| graph.degree(node) == 0).count();
    let num_nodes = graph.num_nodes() - isolated;
    heavy_weights(weights).into_iter().filter_map(move |least| {
        let heavy =
            |node| graph.arcs(node).filter(move |&(_, weight)| weight >= least).map(|(target, _)| target);
        let groups = in_order(graph.num_nodes(), heavy);
        let count = groups.len() - isolated;
        (count > 1 && count * FEWER <= num_nodes).then_some(groups)
    })
}

/// The components of a graph in which `neighbours` returns those of a vertex, each in breadth-first order.
fn in_order<I: Iterator<Item = NodeId>>(
    num_nodes: usize,
    neighbours: impl Fn(NodeId) -> I,
) -> Vec<Vec<NodeId>> {
    let mut reached = vec![false; num_nodes];
    let mut groups = Vec::new();
    for source in 0..num_nodes as NodeId {
        if std::mem::replace(&mut reached[source as usize], true) {
            continue;
        }
        let (mut group, mut next) = (vec![source], 0);
        while let Some(&node) = group.get(next) {
            let new =
                neighbours(node).filter(|&target| !std::mem::replace(&mut reached[target as usize], true));
            group.extend(new);
            next += 1;
        }
        groups.push(group);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    fn graph(num_nodes: usize, edges: &[(NodeId, NodeId, Weight)]) -> CsrGraph {
        let mut builder = GraphBuilder::new(num_nodes);
        edges.iter().for_each(|&(u, v, weight)| builder.add_edge(u, v, weight));
        builder.build().unwrap()
    }

    #[test]
    fn components_are_in_breadth_first_order() {
        let paths = graph(6, &[(3, 1, 1), (3, 5, 1), (0, 4, 9)]);
        assert_eq!(components_in_order(&paths), [vec![0, 4], vec![1, 3, 5], vec![2]]);
    }

    #[test]
    fn heavy_edges_join_groups_where_all_others_are_lighter_by_far() {
        let pairs = [(0, 2, 8), (1, 3, 9), (0, 1, 2), (2, 3, 1)];
        let all: Vec<_> = heavy_groups_in_order(&graph(5, &pairs)).collect();
        assert_eq!(all, [[vec![0, 2], vec![1, 3], vec![4]]]);
        assert_eq!(heavy_groups_in_order(&graph(4, &[(0, 2, 8), (1, 3, 9), (0, 1, 3)])).count(), 0);
    }
}
