//! Graphs with heavy-tailed degrees: few vertices have most edges.
//!
//! Label propagation finds poor clusters there, and nearly all vertices are near borders, so there are no bands to refine. The library for one
//! machine handles such graphs. So it gets one as soon as memory allows that.

use viem::base::types::Weight;

use super::run::Run;
use crate::comm::{Comm, sum, sum_table};
use crate::graph::DistGraph;
use crate::objective::Places;

/// A vertex with more arcs than this counts as one with this many, so that sums of squares fit.
const MOST_COUNTED: Weight = 1 << 20;

impl<C: Comm> Run<'_, C> {
    /// Returns whether the degrees of the vertices that may move are heavy-tailed: their skew is that of the library for one machine. O(n/p).
    pub(super) fn is_heavy_tailed(&self, graph: &DistGraph, places: &Places) -> bool {
        let free = (0..graph.num_own()).filter(|&own| !places.is_fixed(own));
        let degrees = free.map(|own| graph.neighbours(own).len() as Weight).filter(|&degree| degree > 0);
        let mut sums = [0; 3];
        for degree in degrees {
            let of_vertex = [1, degree, degree * degree.min(MOST_COUNTED)];
            sums.iter_mut().zip(of_vertex).for_each(|(sum, number)| *sum += number);
        }
        sum_table(self.comm, &mut sums);
        let [joined, degrees, squares] = sums.map(|sum| sum as f64);
        degrees > 0.0 && squares * joined >= self.config.heavy_tailed.least_skew * degrees * degrees
    }

    /// Returns whether a graph is to be divided as a whole although it has many vertices.
    pub(super) fn is_better_whole(&self, graph: &DistGraph, places: &Places) -> bool {
        self.fits_one_rank(graph) && self.is_heavy_tailed(graph, places)
    }

    /// Returns whether a rank can hold all of a graph.
    pub(super) fn fits_one_rank(&self, graph: &DistGraph) -> bool {
        let arcs = sum(self.comm, graph.num_arcs() as i64) as u64;
        arcs.saturating_add(graph.ranges().total().into()) <= self.config.heavy_tailed.most_whole
    }
}
