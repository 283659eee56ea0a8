//! Coarsening: a hierarchy of ever smaller graphs with the structure of the first.

mod clustering;
mod matching;

use super::level::{Level, Stored};
use crate::observer::Observer;
use crate::rng::Rng;
use crate::types::{BlockId, NodeId, Weight};

/// What becomes one vertex of the next level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contraction {
    /// Nothing: the graph itself is partitioned, which suits graphs of at most some hundred vertices.
    None,
    /// Pairs of adjacent vertices.
    Matching,
    /// Clusters of any number of vertices.
    Clustering {
        /// A level keeps at least this share of the vertices of the level above.
        least_share: f64,
    },
}

impl Contraction {
    fn cluster<W: Stored>(self, graph: &Level<W>, limits: &Limits, rng: &mut Rng) -> (Vec<NodeId>, usize) {
        match self {
            Contraction::None => (graph.nodes().collect(), graph.num_nodes()),
            Contraction::Matching => matching::cluster(graph, limits, rng),
            Contraction::Clustering { least_share } => clustering::cluster(graph, least_share, limits, rng),
        }
    }
}

/// What may be contracted together.
pub(crate) struct Limits<'a> {
    /// The greatest weight of a coarse vertex.
    pub max_weight: Weight,
    /// No need to contract to fewer vertices than this.
    pub enough: usize,
    /// Only vertices of the same class may be contracted together.
    pub classes: Option<&'a [BlockId]>,
}

impl Limits<'_> {
    #[inline]
    pub fn compatible(&self, u: NodeId, v: NodeId) -> bool {
        self.classes.is_none_or(|classes| classes[u as usize] == classes[v as usize])
    }
}

/// The graphs below the input graph, finest first, and how each came from the one above.
pub(crate) struct Hierarchy<W> {
    /// `steps[i]`: the coarse vertex of each vertex of the graph above, and the coarse graph.
    pub steps: Vec<(Vec<NodeId>, Level<W>)>,
}

impl<W: Stored> Hierarchy<W> {
    /// Coarsens until at most `enough` vertices are left, a step removes less than a twentieth, or the observer asks to
    /// stop.
    pub fn build(
        graph: &Level<W>,
        contraction: Contraction,
        enough: usize,
        classes: Option<&[BlockId]>,
        observer: &dyn Observer,
        rng: &mut Rng,
    ) -> Self {
        let mut steps: Vec<(Vec<NodeId>, Level<W>)> = Vec::new();
        // Half as heavy again as the average at the end (METIS): keeps the coarsest graph balanceable.
        let max_weight = ((graph.total_node_weight() / enough.max(1) as Weight).saturating_mul(3) / 2).max(1);
        let mut classes = classes.map(<[BlockId]>::to_vec);
        loop {
            let fine = steps.last().map_or(graph, |step| &step.1);
            if fine.num_nodes() <= enough || observer.should_stop() {
                break;
            }
            let limits = Limits { max_weight, enough, classes: classes.as_deref() };
            let (coarse_of, num_coarse) = contraction.cluster(fine, &limits, rng);
            if num_coarse * 20 > fine.num_nodes() * 19 {
                break;
            }
            if let Some(fine_classes) = &mut classes {
                *fine_classes = restrict(fine_classes, &coarse_of, num_coarse);
            }
            let coarse = fine.contract(&coarse_of, num_coarse);
            steps.push((coarse_of, coarse));
        }
        Self { steps }
    }
}

/// The blocks of the coarse vertices, when no coarse vertex spans two blocks.
pub(crate) fn restrict(blocks: &[BlockId], coarse_of: &[NodeId], num_coarse: usize) -> Vec<BlockId> {
    let mut coarse_blocks = vec![0; num_coarse];
    for (&block, &coarse) in blocks.iter().zip(coarse_of) {
        coarse_blocks[coarse as usize] = block;
    }
    coarse_blocks
}

/// The blocks of the fine vertices: those of the coarse vertices they are part of.
pub(crate) fn project(coarse_blocks: &[BlockId], coarse_of: &[NodeId]) -> Vec<BlockId> {
    coarse_of.iter().map(|&coarse| coarse_blocks[coarse as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;

    #[test]
    fn projection_keeps_cut_and_weights_and_classes_are_respected() {
        let graph = Level::<i32>::new(&generate::random_geometric(600, 8.0, 3));
        let classes: Vec<BlockId> = graph.nodes().map(|node| node / 200).collect();
        for contraction in [Contraction::Matching, Contraction::Clustering { least_share: 0.3 }] {
            let mut rng = Rng::new(6);
            let hierarchy = Hierarchy::build(&graph, contraction, 40, Some(&classes), &(), &mut rng);
            assert!(hierarchy.steps.len() > 1);
            let mut blocks = classes.clone();
            for (coarse_of, coarse) in &hierarchy.steps {
                let coarse_blocks = restrict(&blocks, coarse_of, coarse.num_nodes());
                assert_eq!(project(&coarse_blocks, coarse_of), blocks);
                assert_eq!(coarse.cut(&coarse_blocks), graph.cut(&classes));
                assert_eq!(coarse.block_weights(&coarse_blocks, 3), [200; 3]);
                blocks = coarse_blocks;
            }
        }
    }

    #[test]
    fn stars_and_isolated_vertices_shrink_at_every_step() {
        let mut builder = crate::graph::GraphBuilder::new(2000);
        for leaf in 1..1000 {
            builder.add_edge(0, leaf, 1);
        }
        let graph = Level::<i32>::new(&builder.build().unwrap());
        for contraction in [Contraction::Matching, Contraction::Clustering { least_share: 0.3 }] {
            let hierarchy = Hierarchy::build(&graph, contraction, 50, None, &(), &mut Rng::new(1));
            let coarsest = &hierarchy.steps.last().unwrap().1;
            assert!(coarsest.num_nodes() <= 150, "{}", coarsest.num_nodes());
        }
    }
}
