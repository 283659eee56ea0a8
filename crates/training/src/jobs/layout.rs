//! The place of each rank in the grid of the job and in that of the experts.

use super::parallel::{ParallelConfig, ParallelDimension};
use viem::base::types::NodeId;

/// The coordinates of a rank; all counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RankPlace {
    pub tensor: u32,
    pub context: u32,
    pub replica: u32,
    pub stage: u32,
    /// The depth of its pipeline: an index of [`ParallelConfig::pipelines`].
    pub class: usize,
    pub expert: u32,
    pub expert_tensor: u32,
    pub expert_replica: u32,
}

/// The places of all ranks, by rank.
pub(super) struct Layout {
    pub places: Vec<RankPlace>,
}

impl Layout {
    /// The layout of a valid configuration.
    pub fn new(parallel: &ParallelConfig) -> Self {
        let class_of: Vec<usize> = (parallel.pipelines.iter().enumerate())
            .flat_map(|(class, pipelines)| std::iter::repeat_n(class, pipelines.count as usize))
            .collect();
        let length = |dimension| match dimension {
            ParallelDimension::Tensor => parallel.tensor,
            ParallelDimension::Context => parallel.context,
            ParallelDimension::Expert => 1,
            ParallelDimension::Data => class_of.len() as u32,
            ParallelDimension::Pipeline => parallel.depth(),
        };
        let lengths = parallel.order.map(length);
        let count: u32 = lengths.iter().product();
        let places = (0..count).filter_map(|index| {
            let digit = |dimension| digit(index, &lengths, parallel.order, dimension);
            let (replica, stage) = (digit(ParallelDimension::Data), digit(ParallelDimension::Pipeline));
            let class = class_of[replica as usize];
            let (tensor, context) = (digit(ParallelDimension::Tensor), digit(ParallelDimension::Context));
            let place = RankPlace { tensor, context, replica, stage, class, ..RankPlace::default() };
            (stage < parallel.pipelines[class].depth).then_some(place)
        });
        let mut layout = Self { places: places.collect() };
        layout.place_experts(parallel);
        layout
    }

    /// Arranges the ranks of each stage, of pipelines of one depth, in the grid of experts.
    fn place_experts(&mut self, parallel: &ParallelConfig) {
        let (expert, tensor) = (parallel.expert, parallel.expert_tensor());
        for ranks in self.groups(|place| Some((place.class, place.stage))) {
            let replicas = (ranks.len() as u32).div_ceil(expert * tensor);
            let length = |dimension| match dimension {
                ParallelDimension::Tensor => tensor,
                ParallelDimension::Expert => expert,
                ParallelDimension::Data => replicas,
                ParallelDimension::Context | ParallelDimension::Pipeline => 1,
            };
            let lengths = parallel.order.map(length);
            for (index, &rank) in (0..).zip(&ranks) {
                let digit = |dimension| digit(index, &lengths, parallel.order, dimension);
                let place = &mut self.places[rank as usize];
                place.expert = digit(ParallelDimension::Expert);
                place.expert_tensor = digit(ParallelDimension::Tensor);
                place.expert_replica = digit(ParallelDimension::Data);
            }
        }
    }

    /// The ranks with equal keys, each group in ascending order, groups by key; ranks without a key are in none. O(n log n).
    pub fn groups<K: Ord>(&self, key: impl Fn(&RankPlace) -> Option<K>) -> Vec<Vec<NodeId>> {
        self.groups_among(0..self.places.len() as NodeId, key)
    }

    /// The same of some ranks.
    pub fn groups_among<K: Ord>(
        &self,
        ranks: impl IntoIterator<Item = NodeId>,
        key: impl Fn(&RankPlace) -> Option<K>,
    ) -> Vec<Vec<NodeId>> {
        let keyed = ranks.into_iter().filter_map(|rank| Some((key(&self.places[rank as usize])?, rank)));
        let mut keyed: Vec<(K, NodeId)> = keyed.collect();
        keyed.sort_unstable();
        let groups = keyed.chunk_by(|(a, _), (b, _)| a == b);
        groups.map(|group| group.iter().map(|&(_, rank)| rank).collect()).collect()
    }
}

/// The coordinate of a place in a dimension; the first dimension varies fastest.
fn digit(index: u32, lengths: &[u32; 5], order: [ParallelDimension; 5], dimension: ParallelDimension) -> u32 {
    let inner = order.iter().position(|&other| other == dimension).unwrap_or(order.len() - 1);
    index / lengths[..inner].iter().product::<u32>() % lengths[inner]
}
