//! Orders of the parts of a graph in which the logarithms of the lengths of edges sum up to little.
//!
//! *Problem.* Parts stand one after the other, each as long as it is heavy. The length of an edge is the distance between
//! the centres of its parts. A random border cuts it with a probability in proportion to its length, and ranges of all sizes
//! alike cut it with one in proportion to the logarithm of that. So an order of a small sum can be cut well anywhere into
//! any number of ranges.
//!
//! *Algorithm.* Simulated annealing: a run of parts is moved elsewhere and perhaps reversed. O(k + m) per proposal for k
//! parts and m pairs of adjacent parts.
//!
//! F. Chierichetti et al.: On compressing social networks. KDD 2009 (minimum logarithmic arrangement).

use crate::base::metropolis::accepts;
use crate::base::observer::{Observer, Watch};
use crate::base::rng::Rng;
use crate::base::types::{NodeId, Weight};
use crate::graph::CsrGraph;

/// Proposals per part where the order matters to the whole graph. On `3elt` with 64 parts, a quarter of them leaves sums 2
/// to 4 % larger and cuts 5 to 20 % larger; six times as many gain nothing. `cargo bench --bench change -- only=paper` shows
/// it.
pub(super) const MANY: usize = 1000;

/// Proposals per part where few borders cut what is arranged.
pub(super) const FEW: usize = 60;

/// The initial temperature, as a share of the sum that one part has on average.
const INITIAL: f64 = 0.1;

/// The final temperature as a share of the initial one.
const FINAL: f64 = 0.002;

/// The greatest number of parts in a short run; every other run is short.
const SHORT: u32 = 4;

/// The vertices of a quotient graph in an order of a small sum. `pulls` are the weights of the edges from each vertex to
/// what stands before all of them, and behind them; `proposals` is the number of proposals per vertex.
pub(super) fn arrange(
    graph: &CsrGraph,
    pulls: &[[Weight; 2]],
    proposals: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Vec<NodeId> {
    let line = Line::new(graph, pulls);
    let mut order: Vec<NodeId> = graph.nodes().collect();
    let (count, mut rng, mut watch) = (order.len(), Rng::new(seed), Watch::new(observer));
    let mut centres = vec![0.0; count];
    let mut current = line.sum(&order, &mut centres);
    if count < 2 || current == 0.0 {
        return order;
    }
    let (mut best, mut least) = (order.clone(), current);
    let mut candidate = order.clone();
    let proposals = proposals * count;
    let cooling = FINAL.powf(1.0 / proposals as f64);
    let mut temperature = INITIAL * current / count as f64;
    for _ in 0..proposals {
        if watch.stops_after(count + line.edges.len()) {
            break;
        }
        candidate.copy_from_slice(&order);
        move_run(&mut candidate, &mut rng);
        let sum = line.sum(&candidate, &mut centres);
        if sum <= current || accepts((sum - current) / temperature, &mut rng) {
            std::mem::swap(&mut order, &mut candidate);
            current = sum;
            if current < least {
                least = current;
                best.copy_from_slice(&order);
            }
        }
        temperature *= cooling;
    }
    best
}

/// Moves a random run elsewhere, and perhaps reverses it.
fn move_run(order: &mut [NodeId], rng: &mut Rng) {
    let count = order.len() as u32;
    let longest = if rng.below(2) == 0 { SHORT.min(count - 1) } else { count.div_ceil(2) };
    let length = 1 + rng.below(longest) as usize;
    let places = count + 1 - length as u32;
    let (from, to) = (rng.below(places) as usize, rng.below(places) as usize);
    if to < from {
        order[to..from + length].rotate_right(length);
    } else {
        order[from..to + length].rotate_left(length);
    }
    if rng.below(2) == 0 {
        order[to..to + length].reverse();
    }
}

/// What is arranged.
struct Line<'a> {
    lengths: Vec<f64>,
    /// Each once.
    edges: Vec<(NodeId, NodeId, f64)>,
    pulls: &'a [[Weight; 2]],
    total: f64,
}

impl<'a> Line<'a> {
    fn new(graph: &CsrGraph, pulls: &'a [[Weight; 2]]) -> Self {
        let of_node =
            |u: NodeId| graph.arcs(u).filter(move |&(v, _)| u < v).map(move |(v, w)| (u, v, w as f64));
        Self {
            lengths: graph.node_weights().iter().map(|&weight| weight as f64).collect(),
            edges: graph.nodes().flat_map(of_node).collect(),
            pulls,
            total: graph.total_node_weight() as f64,
        }
    }

    /// The sum of the weight of each edge times the logarithm of its length; `centres` is working memory.
    fn sum(&self, order: &[NodeId], centres: &mut [f64]) -> f64 {
        let mut begin = 0.0;
        let mut sum = 0.0;
        for &part in order {
            let length = self.lengths[part as usize];
            let centre = begin + length / 2.0;
            centres[part as usize] = centre;
            begin += length;
            let [before, behind] = self.pulls[part as usize];
            if before + behind > 0 {
                sum += before as f64 * logarithm(centre) + behind as f64 * logarithm(self.total - centre);
            }
        }
        let length = |&(u, v, _): &(NodeId, NodeId, f64)| (centres[u as usize] - centres[v as usize]).abs();
        sum + self.edges.iter().map(|edge| edge.2 * logarithm(length(edge))).sum::<f64>()
    }
}

/// Not negative, whatever the length.
fn logarithm(length: f64) -> f64 {
    (1.0 + length).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;
    use crate::testing::shuffled;

    #[test]
    fn a_shuffled_path_is_put_in_order() {
        let path = shuffled(&generate::grid(24, 1), 1, &mut Rng::new(1));
        let order = arrange(&path, &[[0; 2]; 24], MANY, 1, &());
        let neighbours = |pair: &[NodeId]| path.neighbours(pair[0]).contains(&pair[1]);
        assert!(order.windows(2).filter(|pair| neighbours(pair)).count() >= 21, "{order:?}");
    }

    #[test]
    fn pulled_ends_stand_where_they_are_pulled() {
        let path = generate::grid(9, 1);
        let mut pulls = [[0; 2]; 9];
        (pulls[0], pulls[8]) = ([0, 5], [5, 0]);
        let order = arrange(&path, &pulls, MANY, 3, &());
        assert_eq!((order[0], order[8]), (8, 0));
    }

    #[test]
    fn runs_move_without_a_loss() {
        let mut rng = Rng::new(7);
        for count in 2..40 {
            let mut order: Vec<NodeId> = (0..count).collect();
            (0..50).for_each(|_| move_run(&mut order, &mut rng));
            order.sort_unstable();
            assert!(order.into_iter().eq(0..count));
        }
    }
}
