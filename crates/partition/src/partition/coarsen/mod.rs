//! Coarsening: a sequence of ever smaller graphs with the structure of the first.

mod affinities;
mod clustering;
mod limits;
mod matching;

use std::borrow::Cow;

use limits::Limits;

use super::compact::{CompactGraph, Stored};
use crate::base::observer::Observer;
use crate::base::rng::Rng;
use crate::base::settings::{ConfigError, check};
use crate::base::span;
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};

/// What becomes one vertex of the next level.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Contraction {
    /// Nothing: the graph itself is partitioned, which suits graphs of at most some hundred vertices.
    None,
    /// Pairs of adjacent vertices.
    Matching,
    /// Clusters of any number of vertices.
    Clustering {
        /// A level keeps at least this share of the vertices of the next finer level; 0 to 1.
        least_share: f64,
    },
    /// Clusters around hubs on the finest level, which leaves the fewest arcs, and as [`Clustering`](Self::Clustering) on all others. Only
    /// those coarse levels are kept that have far fewer arcs than the one before.
    Hubs {
        /// As of [`Clustering`](Self::Clustering).
        least_share: f64,
    },
}

impl Contraction {
    pub(super) fn validate(self) -> Result<(), ConfigError> {
        let (field, share) = match self {
            Contraction::None | Contraction::Matching => return Ok(()),
            Contraction::Clustering { least_share } => ("clustering.least_share", least_share),
            Contraction::Hubs { least_share } => ("hubs.least_share", least_share),
        };
        check(field, share, (0.0..=1.0).contains(&share), "from 0 to 1")
    }

    fn cluster<W: Stored>(
        self,
        graph: &CompactGraph<'_, W>,
        limits: &Limits,
        rng: &mut Rng,
    ) -> (Vec<NodeId>, usize) {
        match self {
            Contraction::None => (graph.nodes().collect(), graph.num_nodes()),
            Contraction::Matching => matching::cluster(graph, limits, rng),
            Contraction::Clustering { least_share } => {
                clustering::cluster(graph, least_share, limits, clustering::balanced, rng)
            }
            Contraction::Hubs { least_share } => {
                clustering::cluster(graph, least_share, limits, clustering::heaviest, rng)
            }
        }
    }

    /// How a coarse level is contracted.
    pub(super) fn of_coarse_levels(self) -> Self {
        match self {
            Contraction::Hubs { least_share } => Contraction::Clustering { least_share },
            other => other,
        }
    }

    /// Returns whether a coarse level is kept though it is not the coarsest one, given its number of arcs and that of the level before.
    fn keeps(self, num_arcs: usize, before: usize) -> bool {
        num_arcs * FEWER_ARCS.1 <= before * FEWER_ARCS.0 || !matches!(self, Contraction::Hubs { .. })
    }
}

/// Of a contraction around hubs, a level is kept if it has at most this share of the arcs of the level before, as a fraction. Balances
/// memory against levels on which a partition is refined.
const FEWER_ARCS: (usize, usize) = (1, 4);

/// The greatest weight of a vertex, in multiples of the average on the coarsest graph, as a fraction. Balances
/// coarsening that does not stall against a coarsest graph that can be balanced. As in METIS.
const MAX_NODE_WEIGHT: (Weight, Weight) = (3, 2);

/// Coarsening ends when a contraction keeps more than this share of the vertices, as a fraction. Balances the time of
/// further levels against the size of the coarsest graph.
const STALLED: (usize, usize) = (19, 20);

/// A graph has a dense core if vertices of more than this many times the mean degree have this share of the arcs among themselves.
/// Balances the cut of cores larger than a block, up to a quarter of it, against circuits, where a border around hubs cuts 30 % more. Tuned
/// on graphs with heavy-tailed degrees: cores and R-MAT have 0.27 to 0.5, circuits and social networks at most 0.19.
const DENSE_CORE: (usize, f64) = (4, 0.25);

/// Classes of vertices that are not contracted together: the core of the graph and the others, if it has a dense core. Coarse vertices of
/// both would drag the periphery along where the core has to come together.
fn core_and_others<W: Stored>(graph: &CompactGraph<'_, W>) -> Option<Vec<u32>> {
    let (factor, share) = DENSE_CORE;
    let mut is_hub = vec![false; graph.num_nodes()];
    threads::fill(&mut is_hub, |node| {
        graph.degree(node as NodeId) * graph.num_nodes() > factor * graph.num_arcs()
    });
    let inside = |node: usize| {
        let to_hubs = || graph.arcs(node as NodeId).iter().filter(|arc| is_hub[arc.target as usize]).count();
        if is_hub[node] { to_hubs() as Weight } else { 0 }
    };
    let inside = threads::sum(graph.num_nodes(), inside);
    let has_core = inside > 0 && inside as f64 >= share * graph.num_arcs() as f64;
    has_core.then(|| is_hub.into_iter().map(u32::from).collect())
}

/// The levels coarser than the input graph, finest first, and how each was contracted.
pub(crate) struct Coarsening<W> {
    /// The coarse vertex of each vertex of the next finer level, and the coarse graph.
    pub steps: Vec<(Vec<NodeId>, CompactGraph<'static, W>)>,
}

impl<W: Stored> Coarsening<W> {
    /// The coarsest graph; `finest` is the input graph.
    pub fn coarsest<'a>(&'a self, finest: &'a CompactGraph<'a, W>) -> &'a CompactGraph<'a, W> {
        self.level(finest, self.steps.len())
    }

    /// The graph after the first `steps` contractions; `finest` is the input graph.
    pub fn level<'a>(&'a self, finest: &'a CompactGraph<'a, W>, steps: usize) -> &'a CompactGraph<'a, W> {
        if steps == 0 { finest } else { &self.steps[steps - 1].1 }
    }

    /// Coarsens until at most `enough` vertices are left, a contraction removes too few, or the observer asks to stop.
    pub fn build(
        graph: &CompactGraph<'_, W>,
        contraction: Contraction,
        enough: usize,
        classes: Option<&[BlockId]>,
        observer: &dyn Observer,
        rng: &mut Rng,
    ) -> Self {
        let mut steps: Vec<(Vec<NodeId>, CompactGraph<'static, W>)> = Vec::new();
        let average = graph.total_node_weight() / enough.max(1) as Weight;
        let max_weight = (average.saturating_mul(MAX_NODE_WEIGHT.0) / MAX_NODE_WEIGHT.1).max(1);
        let own = core_and_others(graph).map(Cow::Owned);
        let mut classes = overlay_any(classes.map(Cow::Borrowed), own).map(Cow::into_owned);
        loop {
            let fine = steps.last().map_or(graph, |step| &step.1);
            if fine.num_nodes() <= enough || observer.should_stop() {
                break;
            }
            let limits = Limits { max_weight, enough, classes: classes.as_deref() };
            let of_level = if steps.is_empty() { contraction } else { contraction.of_coarse_levels() };
            let (mut coarse_of, num_coarse) =
                span::named("clustering", || of_level.cluster(fine, &limits, rng));
            if num_coarse * STALLED.1 > fine.num_nodes() * STALLED.0 {
                break;
            }
            if let Some(fine_classes) = &mut classes {
                *fine_classes = restrict(fine_classes, &coarse_of, num_coarse);
            }
            let coarse = span::named("contraction", || fine.contract(&coarse_of, num_coarse));
            let before =
                steps.len().checked_sub(2).map(|step| steps[step].1.num_arcs()).unwrap_or(graph.num_arcs());
            if let Some((finer, _)) = steps.pop_if(|(_, last)| !contraction.keeps(last.num_arcs(), before)) {
                coarse_of = project(&coarse_of, &finer);
            }
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
    let mut blocks = vec![0; coarse_of.len()];
    threads::fill(&mut blocks, |node| coarse_blocks[coarse_of[node] as usize]);
    blocks
}

/// Classes of vertices that neither partition separates; O(n log n).
pub(crate) fn overlay(first: &[u32], second: &[u32]) -> Vec<u32> {
    let pair = |(&a, &b): (&u32, &u32)| (u64::from(a) << 32) | u64::from(b);
    let mut present: Vec<u64> = first.iter().zip(second).map(pair).collect();
    present.sort_unstable();
    present.dedup();
    let class = |pair: u64| present.partition_point(|&other| other < pair) as u32;
    first.iter().zip(second).map(|blocks| class(pair(blocks))).collect()
}

/// The [`overlay`] of two, or the only one that there is.
pub(crate) fn overlay_any<'a>(
    first: Option<Cow<'a, [u32]>>,
    second: Option<Cow<'a, [u32]>>,
) -> Option<Cow<'a, [u32]>> {
    match (first, second) {
        (Some(first), Some(second)) => Some(Cow::Owned(overlay(&first, &second))),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;
    use crate::testing::{core_and_periphery, skewed_graph, star};

    #[test]
    fn projection_keeps_cut_and_weights_and_classes_are_respected() {
        let graph = generate::random_geometric(600, 8.0, 3);
        let graph = CompactGraph::<i32>::new(&graph);
        let classes: Vec<BlockId> = graph.nodes().map(|node| node / 200).collect();
        for contraction in [
            Contraction::Matching,
            Contraction::Clustering { least_share: 0.3 },
            Contraction::Hubs { least_share: 0.3 },
        ] {
            let mut rng = Rng::new(6);
            let coarsening = Coarsening::build(&graph, contraction, 40, Some(&classes), &(), &mut rng);
            assert!(coarsening.steps.len() > 1);
            let mut blocks = classes.clone();
            for (coarse_of, coarse) in &coarsening.steps {
                let coarse_blocks = restrict(&blocks, coarse_of, coarse.num_nodes());
                assert_eq!(project(&coarse_blocks, coarse_of), blocks);
                assert_eq!(coarse.cut(&coarse_blocks), graph.cut(&classes));
                assert_eq!(coarse.block_weights(&coarse_blocks, 3), [200; 3]);
                blocks = coarse_blocks;
            }
        }
    }

    #[test]
    fn dense_cores_are_told_from_hubs_and_meshes() {
        let has_one = |graph| core_and_others(&CompactGraph::<i32>::new(&graph)).is_some();
        assert!(has_one(core_and_periphery(40, 1000)));
        assert!(!has_one(crate::graph::GraphBuilder::new(5).build().unwrap()));
        assert!(!has_one(star(1000, 0)));
        assert!(!has_one(generate::mesh(30, 30, 1)));
    }

    #[test]
    fn no_coarse_vertex_mixes_a_core_and_its_periphery() {
        let graph = core_and_periphery(60, 1000);
        let graph = CompactGraph::<i32>::new(&graph);
        let contraction = Contraction::Clustering { least_share: 0.3 };
        let coarsening = Coarsening::build(&graph, contraction, 50, None, &(), &mut Rng::new(1));
        let mut coarse_of: Vec<NodeId> = graph.nodes().collect();
        for (step, _) in &coarsening.steps {
            coarse_of.iter_mut().for_each(|node| *node = step[*node as usize]);
        }
        let (core, periphery) = coarse_of.split_at(60);
        assert!(coarsening.coarsest(&graph).num_nodes() <= 120);
        assert!(core.iter().all(|node| !periphery.contains(node)));
    }

    #[test]
    fn levels_around_hubs_are_few_and_have_few_arcs() {
        let graph = skewed_graph(20_000, 100_000, &mut Rng::new(2));
        let graph = CompactGraph::<i32>::new(&graph);
        let coarsen = |contraction| Coarsening::build(&graph, contraction, 60, None, &(), &mut Rng::new(1));
        let arcs = |coarsening: &Coarsening<i32>| -> Vec<usize> {
            coarsening.steps.iter().map(|(_, coarse)| coarse.num_arcs()).collect()
        };
        let hubs = arcs(&coarsen(Contraction::Hubs { least_share: 0.3 }));
        let clusters = arcs(&coarsen(Contraction::Clustering { least_share: 0.3 }));
        assert!(2 * hubs.iter().sum::<usize>() < clusters.iter().sum(), "{hubs:?} {clusters:?}");
        // All levels but the coarsest.
        let kept = [&[graph.num_arcs()], &hubs[..hubs.len() - 1]].concat();
        assert!(kept.windows(2).all(|pair| 4 * pair[1] <= pair[0]), "{kept:?}");
    }

    #[test]
    fn stars_and_isolated_vertices_shrink_at_every_step() {
        let mut builder = crate::graph::GraphBuilder::new(2000);
        for leaf in 1..1000 {
            builder.add_edge(0, leaf, 1);
        }
        let graph = builder.build().unwrap();
        let graph = CompactGraph::<i32>::new(&graph);
        for contraction in [Contraction::Matching, Contraction::Clustering { least_share: 0.3 }] {
            let coarsening = Coarsening::build(&graph, contraction, 50, None, &(), &mut Rng::new(1));
            let coarsest = &coarsening.steps.last().unwrap().1;
            assert!(coarsest.num_nodes() <= 150, "{}", coarsest.num_nodes());
        }
    }
}
