//! Shares, bounds and least loads of the blocks for each of several weights.

use std::borrow::Cow;
use std::ops::Range;

use crate::base::types::{BlockId, Weight};
use crate::graph::VertexWeights;
use crate::partition::loads::{GroupBounds, NO_BOUND, VectorBounds, scale};
use crate::partition::targets::{Targets, TargetsError};

/// [`Targets`] for each of several weights of the vertices.
///
/// ```
/// use viem::graph::VertexWeights;
/// use viem::partition::{Targets, VectorTargets};
///
/// // Time and memory of four vertices; the first block has more memory than the second.
/// let weights = VertexWeights::new(2, vec![1, 3, 1, 5, 1, 2, 1, 2])?;
/// let time = Targets::equal(&weights.alone(0), 2, 0.0)?;
/// let memory = Targets::proportional(&weights.alone(1), &[2, 1], 0.1)?;
/// let targets = VectorTargets::new(&weights, vec![time, memory])?;
/// assert_eq!((targets.num_blocks(), targets.of_weight(1).block_sizes()), (2, &[8, 4][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorTargets {
    of_weight: Vec<Targets>,
    groups: GroupBounds,
    /// What the blocks of each group may weigh together by their own bounds, as the bounds of the groups are laid out.
    of_members: Vec<i128>,
}

impl VectorTargets {
    /// The targets for each weight, in their order.
    ///
    /// # Errors
    ///
    /// There are more or fewer targets than weights, they differ in their numbers of blocks, or sizes do not sum up to a weight.
    pub fn new(weights: &VertexWeights, of_weight: Vec<Targets>) -> Result<Self, TargetsError> {
        let (found, expected) = (of_weight.len(), weights.num_weights());
        if found != expected {
            return Err(TargetsError::WeightsDiffer { found, expected });
        }
        let expected = of_weight[0].num_blocks();
        if let Some(other) = of_weight.iter().map(Targets::num_blocks).find(|&found| found != expected) {
            return Err(TargetsError::BoundsDiffer { found: other, expected });
        }
        for (targets, &total) in of_weight.iter().zip(weights.totals()) {
            let sum = targets.block_sizes().iter().map(|&size| i128::from(size)).sum();
            if sum != i128::from(total) {
                return Err(TargetsError::SumDiffers { sum, total });
            }
        }
        Ok(Self { of_weight, groups: GroupBounds::default(), of_members: Vec::new() })
    }

    /// The same with bounds of groups of blocks, such as the PEs of a node: the vertices in all blocks of a group together weigh no more.
    ///
    /// `group_of` has the group of each block, `most` by weight the bound of each group; a weight without bounds has none.
    ///
    /// ```
    /// use viem::graph::{VertexWeights, generate};
    /// use viem::partition::{PartitionPreset, Targets, VectorPartitioner, VectorProblem, VectorTargets};
    ///
    /// // Two nodes of two PEs. The first node has memory for a third of all, whichever of its PEs uses it.
    /// let grid = generate::grid(12, 10);
    /// let weights = VertexWeights::new(2, grid.nodes().flat_map(|u| [1, i64::from(u % 3)]).collect())?;
    /// let (time, memory) = (Targets::equal(&weights.alone(0), 4, 0.03)?, Targets::equal(&weights.alone(1), 4, 3.0)?);
    /// let targets = VectorTargets::new(&weights, vec![time, memory])?;
    /// let targets = targets.with_group_bounds(vec![0, 0, 1, 1], &[None, Some(&[40, 100])])?;
    /// let problem = VectorProblem::new(&grid, &weights, &targets)?;
    /// let partition = VectorPartitioner::new(PartitionPreset::Eco, 0).partition(&problem);
    /// let loads = partition.loads();
    /// assert!(loads[1] + loads[3] <= 40 && partition.overload() == 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There are more or fewer groups than blocks, or bounds than groups or weights.
    pub fn with_group_bounds(
        self,
        group_of: Vec<u32>,
        most: &[Option<&[Weight]>],
    ) -> Result<Self, TargetsError> {
        let (found, expected) = (group_of.len(), self.num_blocks());
        if found != expected {
            return Err(TargetsError::GroupsDiffer { found, expected });
        }
        let (found, expected) = (most.len(), self.num_weights());
        if found != expected {
            return Err(TargetsError::WeightsDiffer { found, expected });
        }
        let num_groups = group_of.iter().max().map_or(0, |&greatest| greatest as usize + 1);
        if let Some(bounds) = most.iter().flatten().find(|bounds| bounds.len() != num_groups) {
            return Err(TargetsError::GroupBoundsDiffer { found: bounds.len(), expected: num_groups });
        }
        let bound =
            |group: usize| most.iter().map(move |bounds| bounds.map_or(NO_BOUND, |bounds| bounds[group]));
        let most = (0..num_groups).flat_map(bound).collect();
        let groups = GroupBounds::new(group_of, most, self.num_weights());
        Ok(Self { groups, ..self }.with_members())
    }

    fn with_members(self) -> Self {
        let mut of_members = vec![0; self.groups.most.len()];
        for (block, &group) in self.groups.of_block.iter().enumerate() {
            for (weight, targets) in self.of_weight.iter().enumerate() {
                of_members[group as usize * self.of_weight.len() + weight] +=
                    i128::from(targets.bounds()[block]);
            }
        }
        Self { of_members, ..self }
    }

    /// Number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.of_weight[0].num_blocks()
    }

    /// Number of weights.
    pub fn num_weights(&self) -> usize {
        self.of_weight.len()
    }

    /// The targets for one weight.
    ///
    /// # Panics
    ///
    /// There is no such weight.
    pub fn of_weight(&self, weight: usize) -> &Targets {
        &self.of_weight[weight]
    }

    /// The targets of some blocks, or of all blocks in another order: block i is `blocks[i]`.
    pub fn of_blocks(&self, blocks: &[BlockId]) -> Self {
        let of_weight = self.of_weight.iter().map(|targets| targets.of_blocks(blocks)).collect();
        let group = |&block: &BlockId| self.groups.of_block.get(block as usize).copied();
        let of_block = blocks.iter().filter_map(group).collect();
        let groups = GroupBounds::new(of_block, self.groups.most.clone(), self.num_weights());
        Self { of_weight, groups, of_members: Vec::new() }.with_members()
    }

    /// Returns whether a block gets no vertices, not even those without any weight: by each weight, it has no capacity.
    pub(super) fn is_closed(&self, block: BlockId) -> bool {
        self.of_weight.iter().all(|targets| targets.is_closed(block))
    }

    /// The number of blocks without a vertex, besides those of no capacity. O(n + c k).
    pub(super) fn num_empty(&self, blocks: &[BlockId]) -> usize {
        let mut is_used: Vec<bool> =
            (0..self.num_blocks() as BlockId).map(|block| self.is_closed(block)).collect();
        blocks.iter().for_each(|&block| is_used[block as usize] = true);
        is_used.into_iter().filter(|is_used| !is_used).count()
    }

    /// All bounds, those of one block after the other.
    pub(super) fn bounds(&self) -> VectorBounds {
        let have_least = self.of_weight.iter().any(|targets| !targets.least_loads().is_empty());
        let least = |targets: &Targets, block: usize| targets.least_loads().get(block).copied().unwrap_or(0);
        VectorBounds {
            num_weights: self.num_weights(),
            most: self.by_block(|targets, block| targets.bounds()[block]),
            least: if have_least { self.by_block(least) } else { Vec::new() },
            groups: self.groups.clone(),
        }
    }

    /// The same with some slack above and below the sizes. `slack` has that of each weight, given the size.
    pub(super) fn relaxed(&self, slack: &dyn Fn(usize, Weight) -> Weight) -> VectorBounds {
        let mut bounds = self.bounds();
        for (at, most) in bounds.most.iter_mut().enumerate() {
            let (block, weight) = (at / self.num_weights(), at % self.num_weights());
            let size = self.of_weight[weight].block_sizes()[block];
            if *most > 0 {
                *most = (*most).max(size.saturating_add(slack(weight, size)).min(Weight::MAX / 2));
            }
            if let Some(least) = bounds.least.get_mut(at) {
                *least = (*least).min(size - slack(weight, size).min(size));
            }
        }
        for (at, most) in bounds.groups.most.iter_mut().enumerate() {
            *most = most.saturating_add(slack(at % self.num_weights(), *most));
        }
        bounds
    }

    /// The size of each block, as [sizes](crate::partition::loads::sizes) of vertices are counted.
    pub(super) fn sizes(&self) -> Vec<Weight> {
        self.scalar(|targets, block| targets.block_sizes()[block])
    }

    /// What each block may have of such sizes, at least what it has where it keeps the bounds of all weights.
    pub(super) fn scalar_bounds(&self) -> Vec<Weight> {
        let most = self.scalar(|targets, block| targets.bounds()[block]);
        // Sizes of vertices are rounded up.
        most.into_iter().map(|bound| bound.saturating_add(bound / 64 + 1).min(Weight::MAX / 4)).collect()
    }

    fn scalar(&self, of: impl Fn(&Targets, usize) -> Weight) -> Vec<Weight> {
        let mut sums = vec![0; self.num_blocks()];
        for targets in &self.of_weight {
            let total: i128 = targets.block_sizes().iter().map(|&size| i128::from(size)).sum();
            let scale = i128::from(scale(self.num_weights()));
            for (block, sum) in sums.iter_mut().enumerate() {
                *sum += (i128::from(of(targets, block)).min(total) * scale / total.max(1)) as Weight;
            }
        }
        sums
    }

    /// The sizes and bounds of a range of blocks by one weight, as a bisection of the range sees them: where blocks of a group have more together than
    /// their group, each has its part of that. O(k).
    pub(super) fn of_range(
        &self,
        range: Range<usize>,
        weight: usize,
    ) -> (Cow<'_, [Weight]>, Cow<'_, [Weight]>) {
        let targets = &self.of_weight[weight];
        let (sizes, bounds) = (&targets.block_sizes()[range.clone()], &targets.bounds()[range.clone()]);
        let groups = self.groups.of_block.get(range).unwrap_or_default();
        let at = |group: u32| group as usize * self.num_weights() + weight;
        // What blocks of one group have among themselves is no matter of the group.
        let are_several = groups.iter().any(|&group| group != groups[0]);
        if !are_several || groups.iter().all(|&group| self.groups.most[at(group)] == NO_BOUND) {
            return (Cow::Borrowed(sizes), Cow::Borrowed(bounds));
        }
        let part = |(&group, &bound): (&u32, &Weight)| match (
            i128::from(self.groups.most[at(group)]),
            self.of_members[at(group)],
        ) {
            (most, sum) if sum > most => (most * i128::from(bound) / sum) as Weight,
            _ => bound,
        };
        let bounds: Vec<Weight> = groups.iter().zip(bounds).map(part).collect();
        (Cow::Owned(levelled(sizes, &bounds)), Cow::Owned(bounds))
    }

    fn by_block(&self, value: impl Fn(&Targets, usize) -> Weight) -> Vec<Weight> {
        let blocks = 0..self.num_blocks();
        blocks
            .flat_map(|block| self.of_weight.iter().map(move |targets| (targets, block)))
            .map(|(t, b)| value(t, b))
            .collect()
    }
}

/// Sizes of which none is above its bound: what is cut off goes to others, in proportion to their room.
fn levelled(sizes: &[Weight], bounds: &[Weight]) -> Vec<Weight> {
    let room = |(&size, &bound): (&Weight, &Weight)| i128::from(bound - size);
    let rooms: Vec<i128> = sizes.iter().zip(bounds).map(room).collect();
    let excess: i128 = rooms.iter().map(|room| (-room).max(0)).sum();
    let spare: i128 = rooms.iter().map(|room| room.max(&0)).sum();
    let (excess, scale) = (excess.min(spare), spare.max(1));
    let level = |(&size, &room): (&Weight, &i128)| match room {
        ..0 => size + room as Weight,
        _ => size + (room * excess / scale) as Weight,
    };
    sizes.iter().zip(&rooms).map(level).collect()
}
