//! The levels of a graph as systems of equations, and the V-cycle over them.

use crate::base::types::NodeId;
use crate::partition::coarsen::Coarsening;
use crate::partition::compact::{Arc, CompactGraph, Stored};

/// Sweeps of the smoother on the coarsest level.
const COARSEST_SWEEPS: usize = 10;

/// The factor by which the correction from a coarser level is enlarged. Vectors that are constant on clusters have more
/// energy than smooth ones, so a coarse level corrects too little (Braess 1995). Balances iterations against corrections
/// that overshoot once many levels enlarge them. Tuned on grids of 90 000 and 10^6 vertices: 1 takes 29 iterations on the
/// finer levels, 1.3 to 1.5 take 10 to 13, 1.7 takes 20; `cargo bench --bench change -- only=speed` shows the time.
const ENLARGEMENT: f64 = 1.4;

/// A level: a graph, and what its vertices stand for.
pub(super) struct Level<'a, W> {
    pub graph: &'a CompactGraph<'a, W>,
    /// The number of vertices of the finest graph in each vertex.
    pub mass: Vec<f64>,
    /// The weighted degree of each vertex.
    pub degree: Vec<f64>,
}

impl<'a, W: Stored> Level<'a, W> {
    fn new(graph: &'a CompactGraph<'a, W>, mass: Vec<f64>) -> Self {
        let degree = |node| graph.arcs(node).iter().map(|arc| arc.weight() as f64).sum();
        Self { graph, mass, degree: graph.nodes().map(degree).collect() }
    }

    pub fn num_nodes(&self) -> usize {
        self.mass.len()
    }

    /// The entry of a vertex of L x.
    #[inline]
    fn laplacian_at(&self, x: &[f64], node: NodeId) -> f64 {
        let outside = |sum, arc: Arc<W>| sum + arc.weight() as f64 * x[arc.target as usize];
        self.degree[node as usize] * x[node as usize] - self.graph.arcs(node).iter().fold(0.0, outside)
    }

    /// L x.
    pub fn laplacian(&self, x: &[f64]) -> Vec<f64> {
        self.graph.nodes().map(|node| self.laplacian_at(x, node)).collect()
    }

    /// A step of Gauss-Seidel at each of some vertices in turn, towards L x = r.
    fn smooth(&self, x: &mut [f64], r: &[f64], nodes: impl Iterator<Item = NodeId>) {
        for node in nodes {
            let missing = r[node as usize] - self.laplacian_at(x, node);
            x[node as usize] += missing / self.degree[node as usize];
        }
    }

    /// Subtracts the mean, so that x is orthogonal to the constant vector in the product of the masses.
    pub fn centre(&self, x: &mut [f64]) {
        let all: f64 = self.mass.iter().sum();
        let mean = self.product(x, None) / all;
        x.iter_mut().for_each(|entry| *entry -= mean);
    }

    /// The product of two vectors in the masses; of one vector with the constant one.
    pub fn product(&self, x: &[f64], y: Option<&[f64]>) -> f64 {
        let weighted = self.mass.iter().zip(x);
        match y {
            None => weighted.map(|(mass, x)| mass * x).sum(),
            Some(y) => weighted.zip(y).map(|((mass, x), y)| mass * x * y).sum(),
        }
    }
}

/// All levels, finest first.
pub(super) struct Levels<'a, W> {
    levels: Vec<Level<'a, W>>,
    /// The vertex of the next level that each vertex becomes part of, by level.
    coarse_of: Vec<&'a [NodeId]>,
}

impl<'a, W: Stored> Levels<'a, W> {
    pub fn new(graph: &'a CompactGraph<'a, W>, coarsening: &'a Coarsening<W>) -> Self {
        let mut levels = vec![Level::new(graph, vec![1.0; graph.num_nodes()])];
        for (coarse_of, coarse) in &coarsening.steps {
            let mut mass = vec![0.0; coarse.num_nodes()];
            let fine = levels.last().expect("there is a level");
            coarse_of.iter().zip(&fine.mass).for_each(|(&coarse, own)| mass[coarse as usize] += own);
            levels.push(Level::new(coarse, mass));
        }
        Self { levels, coarse_of: coarsening.steps.iter().map(|(coarse_of, _)| &coarse_of[..]).collect() }
    }

    pub fn len(&self) -> usize {
        self.levels.len()
    }

    pub fn level(&self, index: usize) -> &Level<'a, W> {
        &self.levels[index]
    }

    pub fn coarsest(&self) -> &Level<'a, W> {
        self.levels.last().expect("there is a level")
    }

    /// A vector of the next coarser level on this one: constant on clusters.
    pub fn prolonged(&self, index: usize, coarse: &[f64]) -> Vec<f64> {
        self.coarse_of[index].iter().map(|&node| coarse[node as usize]).collect()
    }

    /// An approximate solution of L x = r on a level, r orthogonal to the constant vector: one V-cycle. Linear and symmetric in r.
    pub fn solve(&self, index: usize, r: &[f64]) -> Vec<f64> {
        let level = &self.levels[index];
        let (mut x, nodes) = (vec![0.0; r.len()], level.graph.nodes());
        let Some(coarse_of) = self.coarse_of.get(index) else {
            for _ in 0..COARSEST_SWEEPS {
                level.smooth(&mut x, r, nodes.clone());
                level.smooth(&mut x, r, nodes.clone().rev());
            }
            return x;
        };
        level.smooth(&mut x, r, nodes.clone());
        let mut residual = vec![0.0; self.levels[index + 1].num_nodes()];
        for (node, &coarse) in nodes.clone().zip(*coarse_of) {
            residual[coarse as usize] += r[node as usize] - level.laplacian_at(&x, node);
        }
        let correction = self.solve(index + 1, &residual);
        for (entry, &coarse) in x.iter_mut().zip(*coarse_of) {
            *entry += ENLARGEMENT * correction[coarse as usize];
        }
        level.smooth(&mut x, r, nodes.rev());
        x
    }
}
