//! The target weights of the blocks.

use super::bounds::LoadBounds;
use super::fixed::{FixedError, FixedVertices};
use crate::base::error::{ErrorKind, HasKind};
use crate::base::text::counted;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::CsrGraph;

/// The weight each block should have and the greatest weight it may have.
///
/// With vertices of weight 1 and imbalance `epsilon = 0`, partitions are perfectly balanced: the blocks have exactly the
/// sizes asked for. With other vertex weights, exact sizes may not exist. The bounds count then, and a partition reports by
/// how much it exceeds them ([`Partition::overload`](super::Partition::overload)). Bounds are made of shares that are rounded up to
/// multiples of the greatest common factor of all vertex weights: if all vertices weigh 7, they are those of weight 1 times 7.
///
/// ```
/// use viem::graph::generate;
/// use viem::partition::Targets;
///
/// let graph = generate::grid(10, 10);
/// let equal = Targets::equal(&graph, 3, 0.03)?;
/// assert_eq!(equal.block_sizes(), [34, 33, 33]);
/// assert_eq!(equal.bounds(), [35, 35, 35]);
/// let given = Targets::sizes(&graph, vec![60, 40], 0.0)?;
/// assert!(given.are_exact());
/// # Ok::<(), viem::partition::TargetsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Targets {
    sizes: Vec<Weight>,
    bounds: Vec<Weight>,
    /// The least weight of each block; empty if no block has one.
    least: Vec<Weight>,
    /// Blocks that get no vertices, not even vertices of weight 0; in ascending order.
    closed: Vec<BlockId>,
    /// Vertices that must be in given blocks.
    fixed: Option<FixedVertices>,
}

/// The reason why targets were refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
#[non_exhaustive]
pub enum TargetsError {
    #[error("a partition has at least one block")]
    NoBlocks,
    #[error(
        "cannot partition {vertices} into {blocks}; {}",
        possible(*num_nodes),
        vertices = counted(num_nodes, "vertex", "vertices"),
        blocks = counted(num_blocks, "block", "blocks")
    )]
    NumBlocks { num_blocks: usize, num_nodes: usize },
    #[error("a partition has at most {} blocks, not {count}", u32::MAX)]
    TooManyBlocks { count: usize },
    #[error("the imbalance must be a number from 0 on, not {epsilon}")]
    BadEpsilon { epsilon: f64 },
    #[error("every block has speed 0; at least one must take work")]
    NoCapacity,
    #[error("block {block} has size {size}; sizes must not be negative")]
    NegativeSize { block: usize, size: Weight },
    #[error("the block sizes sum up to {sum}, the vertex weights to {total}")]
    SumDiffers { sum: i128, total: Weight },
    #[error(
        "the list has {bounds}, but the partition {blocks}",
        bounds = counted(found, "bound", "bounds"),
        blocks = counted(expected, "block", "blocks")
    )]
    BoundsDiffer { found: usize, expected: usize },
    #[error(
        "there are targets for {weights}, but each vertex has {expected}",
        weights = counted(found, "weight", "weights")
    )]
    WeightsDiffer { found: usize, expected: usize },
    #[error(
        "the list has {groups}, but the partition {blocks}",
        groups = counted(found, "group", "groups"),
        blocks = counted(expected, "block", "blocks")
    )]
    GroupsDiffer { found: usize, expected: usize },
    #[error(
        "the list has {bounds}, but there are {groups} of blocks",
        bounds = counted(found, "bound", "bounds"),
        groups = counted(expected, "group", "groups")
    )]
    GroupBoundsDiffer { found: usize, expected: usize },
    #[error("block {block} has size {size}, but may weigh {bound} at most; a bound is not below the size")]
    BoundBelowSize { block: usize, size: Weight, bound: Weight },
    #[error("the least load must be a number from 0 to 1 times the share, not {least_load}")]
    BadLeastLoad { least_load: f64 },
    #[error(
        "the list has {loads}, but the partition {blocks}",
        blocks = counted(expected, "block", "blocks"),
        loads = counted(found, "least load", "least loads")
    )]
    LeastLoadsDiffer { found: usize, expected: usize },
    #[error(
        "block {block} has size {size}, but shall weigh {least} at least; a least load is not above the size"
    )]
    LeastLoadAboveSize { block: usize, size: Weight, least: Weight },
    #[error("block {block} has least load {least}; least loads must not be negative")]
    NegativeLeastLoad { block: usize, least: Weight },
    #[error("block {block} has no capacity, but size {size}; its size must be 0")]
    ClosedBlockHasSize { block: usize, size: Weight },
}

impl HasKind for TargetsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NumBlocks { .. } => ErrorKind::BadData,
            Self::NoBlocks
            | Self::TooManyBlocks { .. }
            | Self::BadEpsilon { .. }
            | Self::NoCapacity
            | Self::NegativeSize { .. }
            | Self::SumDiffers { .. }
            | Self::BoundsDiffer { .. }
            | Self::WeightsDiffer { .. }
            | Self::GroupsDiffer { .. }
            | Self::GroupBoundsDiffer { .. }
            | Self::BoundBelowSize { .. }
            | Self::BadLeastLoad { .. }
            | Self::LeastLoadsDiffer { .. }
            | Self::LeastLoadAboveSize { .. }
            | Self::NegativeLeastLoad { .. }
            | Self::ClosedBlockHasSize { .. } => ErrorKind::Usage,
        }
    }
}

/// A total weight in proportion to some numbers: what the first ones get together is rounded down.
fn in_proportion(total: i128, numbers: impl Iterator<Item = i128> + Clone) -> Vec<Weight> {
    let sum = numbers.clone().sum::<i128>().max(1);
    let share = |number: i128| (total * number).div_euclid(sum) as Weight;
    let mut before = 0;
    let part = |number: i128| {
        before += number;
        share(before) - share(before - number)
    };
    numbers.map(part).collect()
}

/// The possible numbers of blocks of a graph with this number of vertices.
fn possible(num_nodes: usize) -> String {
    match num_nodes {
        0 => "give a graph that has vertices".to_owned(),
        _ => format!("ask for 1 to {num_nodes} blocks"),
    }
}

impl Targets {
    /// Whether this number of blocks and this imbalance are possible for any graph; can be checked before one is read.
    pub fn check(num_blocks: usize, epsilon: f64) -> Result<(), TargetsError> {
        check(num_blocks, epsilon)
    }

    /// Whether this is a part of a share, from 0 to 1; can be checked before a graph is read.
    pub fn check_least_load(least_load: f64) -> Result<(), TargetsError> {
        if (0.0..=1.0).contains(&least_load) {
            Ok(())
        } else {
            Err(TargetsError::BadLeastLoad { least_load })
        }
    }

    /// `num_blocks` blocks of equal weight, each at most `(1 + epsilon) * ceil(total / num_blocks)`, rounded up to a multiple of the common factor
    /// of all vertex weights. O(n).
    ///
    /// With vertices of weight 1 and `epsilon = 0`, the first `n mod num_blocks` blocks have one vertex
    /// more than the others.
    pub fn equal(graph: &CsrGraph, num_blocks: usize, epsilon: f64) -> Result<Self, TargetsError> {
        check(num_blocks, epsilon)?;
        let total = graph.total_node_weight();
        let floor = total / num_blocks as Weight;
        let larger = (total % num_blocks as Weight) as usize;
        let sizes: Vec<Weight> = (0..num_blocks).map(|block| floor + Weight::from(block < larger)).collect();
        let exact = epsilon == 0.0 && graph.node_weights().iter().all(|&weight| weight == 1);
        let bounds = if exact { sizes.clone() } else { Self::shares(graph, &vec![1; num_blocks], epsilon) };
        Ok(Self::bounded(sizes, bounds))
    }

    /// Blocks whose weights are proportional to their capacities (or speeds), of which not all are 0: each block weighs at
    /// most `(1 + epsilon) * ceil(total * capacity / sum of the capacities)`, rounded up as in [`equal`](Self::equal). O(n + k).
    ///
    /// With vertices of weight 1 and `epsilon = 0`, the sizes are exact, and none but those of capacity 0 is 0 if there are enough vertices. A block of
    /// capacity 0 stays empty.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::Targets;
    ///
    /// let targets = Targets::proportional(&generate::grid(10, 10), &[1, 3], 0.04)?;
    /// assert_eq!((targets.block_sizes(), targets.bounds()), (&[25, 75][..], &[26, 78][..]));
    /// # Ok::<(), viem::partition::TargetsError>(())
    /// ```
    pub fn proportional(graph: &CsrGraph, capacities: &[u32], epsilon: f64) -> Result<Self, TargetsError> {
        check(capacities.len(), epsilon)?;
        let total = i128::from(graph.total_node_weight());
        let sum: i128 = capacities.iter().map(|&capacity| i128::from(capacity)).sum();
        if sum == 0 {
            return Err(TargetsError::NoCapacity);
        }
        let sizes = in_proportion(total, capacities.iter().map(|&capacity| i128::from(capacity)));
        let exact = epsilon == 0.0 && graph.node_weights().iter().all(|&weight| weight == 1);
        let bounds = if exact { sizes.clone() } else { Self::shares(graph, capacities, epsilon) };
        let closed = (0..).zip(capacities).filter(|&(_, &capacity)| capacity == 0).map(|(block, _)| block);
        let targets = Self { closed: closed.collect(), ..Self::bounded(sizes, bounds) };
        Ok(if exact { targets.with_a_vertex_each(capacities) } else { targets })
    }

    /// The same exact sizes of vertices of weight 1, but no open block has size 0 if there are enough vertices. Blocks that are above their
    /// shares give, and if these are too few, the largest ones. O(k log k).
    fn with_a_vertex_each(self, capacities: &[u32]) -> Self {
        if self.has_a_vertex_each(capacities) {
            return self;
        }
        let total: Weight = self.sizes.iter().sum();
        let sum = capacities.iter().map(|&capacity| i128::from(capacity)).sum::<i128>().max(1);
        let share = |&capacity: &u32| (i128::from(total) * i128::from(capacity) / sum) as Weight;
        let ones: Vec<Weight> = capacities.iter().map(|&capacity| (capacity > 0).into()).collect();
        let shares = capacities.iter().map(share).zip(&ones).map(|(share, &one)| share.max(one)).collect();
        match [shares, ones].into_iter().find(|least: &Vec<Weight>| least.iter().sum::<Weight>() <= total) {
            Some(least) => self.raised(&least),
            None => self,
        }
    }

    fn has_a_vertex_each(&self, capacities: &[u32]) -> bool {
        self.sizes.iter().zip(capacities).all(|(&size, &capacity)| size > 0 || capacity == 0)
    }

    /// The same for blocks that already weigh `loads`: exact sizes that do not divide evenly are rounded up where the load
    /// is higher already, so blocks that were balanced stay so. Targets that are not exact stay as they are. `capacities`
    /// are those that the targets were made of, all of them 1 if these are equal. O(k log k) for k blocks.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::Targets;
    ///
    /// let targets = Targets::equal(&generate::grid(2, 2), 3, 0.0)?;
    /// assert_eq!(targets.block_sizes(), [2, 1, 1]);
    /// assert_eq!(targets.near(&[1; 3], &[1, 2, 1]).block_sizes(), [1, 2, 1]);
    /// # Ok::<(), viem::partition::TargetsError>(())
    /// ```
    pub fn near(self, capacities: &[u32], loads: &[Weight]) -> Self {
        if !self.are_exact() {
            return self;
        }
        let total: i128 = self.sizes.iter().map(|&size| i128::from(size)).sum();
        let sum = capacities.iter().map(|&capacity| i128::from(capacity)).sum::<i128>().max(1);
        let shares = capacities.iter().map(|&capacity| total * i128::from(capacity));
        let mut sizes: Vec<Weight> = shares.clone().map(|share| share.div_euclid(sum) as Weight).collect();
        let mut uneven: Vec<usize> =
            shares.enumerate().filter(|(_, share)| share % sum > 0).map(|(block, _)| block).collect();
        uneven.sort_by_key(|&block| loads.get(block).is_none_or(|&load| load <= sizes[block]));
        let left = total - sizes.iter().map(|&size| i128::from(size)).sum::<i128>();
        uneven.iter().take(left as usize).for_each(|&block| sizes[block] += 1);
        let had_all = self.has_a_vertex_each(capacities);
        let targets = Self { bounds: sizes.clone(), sizes, ..self };
        if had_all { targets.with_a_vertex_each(capacities) } else { targets }
    }

    /// `(1 + epsilon) * ceil(total * capacity / sum of the capacities)` for each capacity, rounded up as in [`equal`](Self::equal). Epsilon must
    /// be a non-negative number. O(n + k).
    pub fn shares(graph: &CsrGraph, capacities: &[u32], epsilon: f64) -> Vec<Weight> {
        let unit = common_factor(graph);
        let total = i128::from(graph.total_node_weight() / unit);
        let sum = capacities.iter().map(|&capacity| i128::from(capacity)).sum::<i128>().max(1);
        let share =
            |&capacity: &u32| unit * (total * i128::from(capacity) + sum - 1).div_euclid(sum) as Weight;
        capacities.iter().map(|capacity| relax(share(capacity), epsilon)).collect()
    }

    /// The same where epsilon is the imbalance of each division, as for the recursive bisection of METIS: the first half of the blocks, rounded down, and
    /// the others are divided again and again, and each side may weigh `1 + epsilon` times its part of what may be divided. Where vertices differ in
    /// weight, a side may weigh twice their mean weight more, but at most a twentieth of what may be divided. No bound is below that of
    /// [`shares`](Self::shares). O(n + k).
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::Targets;
    ///
    /// let grid = generate::grid(40, 40);
    /// assert_eq!(Targets::shares(&grid, &[1; 4], 0.1), [440; 4]);
    /// assert_eq!(Targets::shares_of_divisions(&grid, &[1; 4], 0.1), [484; 4]);
    /// ```
    pub fn shares_of_divisions(graph: &CsrGraph, capacities: &[u32], epsilon: f64) -> Vec<Weight> {
        let weights = graph.node_weights();
        let (total, sum) =
            (graph.total_node_weight() as f64, capacities.iter().map(|&c| f64::from(c)).sum::<f64>());
        let fair: Vec<f64> = capacities.iter().map(|&c| total * f64::from(c) / sum.max(1.0)).collect();
        let are_alike = weights.iter().min() == weights.iter().max();
        let slack = if are_alike { 0.0 } else { 2.0 * total / weights.len() as f64 };
        let shares = Self::shares(graph, capacities, epsilon);
        let greatest = Self::bounds_of_divisions(&fair, 1.0 + epsilon, slack);
        let bound = |((share, greatest), &capacity): ((Weight, f64), &u32)| match capacity {
            0 => share,
            // Floats above the greatest weight become that.
            _ => share.max((greatest as Weight).min(Weight::MAX / 2)),
        };
        shares.into_iter().zip(greatest).zip(capacities).map(bound).collect()
    }

    /// The greatest load of each block where the imbalance, a factor from 1 on, is that of each division of the blocks in two: the first half of them, rounded
    /// down, and the others. A side of a division may have its part of what may be divided, times the factor, and in addition `slack`, at most a
    /// twentieth of that. `fair` has the fair load of each block. O(k log k).
    ///
    /// Karypis, Kumar: A fast and high quality multilevel scheme for partitioning irregular graphs. SIAM J. Sci. Comput. 1998.
    pub fn bounds_of_divisions(fair: &[f64], factor: f64, slack: f64) -> Vec<f64> {
        let mut greatest = vec![0.0; fair.len()];
        let mut undivided = vec![(0..fair.len(), fair.iter().sum::<f64>())];
        while let Some((blocks, most)) = undivided.pop() {
            if blocks.len() < 2 {
                greatest[blocks].fill(most);
                continue;
            }
            let middle = blocks.start + blocks.len() / 2;
            let all: f64 = fair[blocks.clone()].iter().sum();
            undivided.extend([blocks.start..middle, middle..blocks.end].map(|side| {
                let part: f64 = fair[side.clone()].iter().sum();
                let own = if all > 0.0 { most * part / all } else { 0.0 };
                (side, factor * own + slack.min(most / 20.0))
            }));
        }
        greatest
    }

    /// `least_load` times `total * capacity / sum of the capacities` for each capacity, rounded down. Fails unless the least load is
    /// a number from 0 to 1.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::Targets;
    ///
    /// assert_eq!(Targets::least_shares(&generate::grid(10, 10), &[1, 2, 0], 0.5)?, [16, 33, 0]);
    /// # Ok::<(), viem::partition::TargetsError>(())
    /// ```
    pub fn least_shares(
        graph: &CsrGraph,
        capacities: &[u32],
        least_load: f64,
    ) -> Result<Vec<Weight>, TargetsError> {
        Self::check_least_load(least_load)?;
        let total = i128::from(graph.total_node_weight());
        let sum = capacities.iter().map(|&capacity| i128::from(capacity)).sum::<i128>().max(1);
        let factor = Decimal::of(least_load);
        Ok(capacities.iter().map(|&capacity| factor.part(total * i128::from(capacity), sum)).collect())
    }

    /// The greatest share above 0 of a total weight whose [least load](Self::least_shares) is 0, as it is rounded down; nothing if there is
    /// none. O(k).
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::Targets;
    ///
    /// let grid = generate::grid(8, 8);
    /// let least = |part| Targets::least_shares(&grid, &[1; 20], part);
    /// assert_eq!(Targets::share_without_least(64, &[1; 20], &least(0.1)?), Some(3.2));
    /// assert_eq!(Targets::share_without_least(64, &[1; 20], &least(0.4)?), None);
    /// # Ok::<(), viem::partition::TargetsError>(())
    /// ```
    pub fn share_without_least(total: Weight, capacities: &[u32], least: &[Weight]) -> Option<f64> {
        let sum: f64 = capacities.iter().map(|&capacity| f64::from(capacity)).sum();
        let rounded = least.iter().zip(capacities).filter(|&(&least, _)| least == 0);
        let greatest =
            rounded.map(|(_, &capacity)| capacity).max().filter(|&greatest| greatest > 0 && total > 0)?;
        Some(total as f64 * f64::from(greatest) / sum)
    }

    /// The number of blocks that weigh less than half of their share, which is that of their capacity. O(k).
    ///
    /// ```
    /// use viem::partition::Targets;
    ///
    /// assert_eq!(Targets::num_below_half(&[1, 1, 2, 0], &[3, 0, 5, 0]), 1);
    /// ```
    pub fn num_below_half(capacities: &[u32], weights: &[Weight]) -> usize {
        let total: i128 = weights.iter().map(|&weight| i128::from(weight)).sum();
        let sum: i128 = capacities.iter().map(|&capacity| i128::from(capacity)).sum();
        let is_below = |&(&weight, &capacity): &(&Weight, &u32)| {
            2 * i128::from(weight) * sum < total * i128::from(capacity)
        };
        weights.iter().zip(capacities).filter(is_below).count()
    }

    /// Blocks of the given weights, which must sum up to the weight of the graph; block `b` weighs at most
    /// `(1 + epsilon) * sizes[b]`.
    pub fn sizes(graph: &CsrGraph, sizes: Vec<Weight>, epsilon: f64) -> Result<Self, TargetsError> {
        check(sizes.len(), epsilon)?;
        let targets = Self::of_sizes(sizes)?;
        targets.check_sum(graph.total_node_weight())?;
        let bounds = targets.sizes.iter().map(|&size| relax(size, epsilon)).collect();
        Ok(Self { bounds, ..targets })
    }

    /// Blocks of exactly these weights, for any graph of as much weight.
    pub fn of_sizes(sizes: Vec<Weight>) -> Result<Self, TargetsError> {
        check(sizes.len(), 0.0)?;
        if let Some((block, &size)) = sizes.iter().enumerate().find(|(_, size)| **size < 0) {
            return Err(TargetsError::NegativeSize { block, size });
        }
        Ok(Self::bounded(sizes.clone(), sizes))
    }

    /// Fails unless the weights of the blocks sum up to that of a graph.
    pub fn check_sum(&self, total: Weight) -> Result<(), TargetsError> {
        let sum = self.sizes.iter().map(|&size| i128::from(size)).sum();
        if sum == i128::from(total) { Ok(()) } else { Err(TargetsError::SumDiffers { sum, total }) }
    }

    /// The same sizes with other bounds: block `b` weighs at most `bounds[b]`, which is not below its size.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::Targets;
    ///
    /// let targets = Targets::sizes(&generate::grid(10, 10), vec![60, 40], 0.0)?.with_bounds(vec![61, 50])?;
    /// assert_eq!((targets.block_sizes(), targets.bounds()), (&[60, 40][..], &[61, 50][..]));
    /// assert!(targets.with_bounds(vec![59, 50]).is_err());
    /// # Ok::<(), viem::partition::TargetsError>(())
    /// ```
    pub fn with_bounds(self, bounds: Vec<Weight>) -> Result<Self, TargetsError> {
        let (found, expected) = (bounds.len(), self.num_blocks());
        if found != expected {
            return Err(TargetsError::BoundsDiffer { found, expected });
        }
        let pairs = || self.sizes.iter().zip(&bounds);
        if let Some((block, (&size, &bound))) = pairs().enumerate().find(|(_, (size, bound))| bound < size) {
            return Err(TargetsError::BoundBelowSize { block, size, bound });
        }
        // As everywhere, sums of a bound and a weight must fit.
        let bounds = pairs().map(|(&size, &bound)| bound.min((Weight::MAX / 2).max(size))).collect();
        Ok(Self { bounds, ..self })
    }

    /// The same with least loads: block `b` weighs at least `least[b]`, which is not above its size, as far as the bounds and the
    /// weights of the vertices allow it. A partition reports what is missing ([`Partition::shortfall`](super::Partition::shortfall)).
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::Targets;
    ///
    /// let grid = generate::grid(10, 10);
    /// let targets = Targets::equal(&grid, 4, 1.0)?.with_least_loads(vec![20; 4])?;
    /// assert_eq!((targets.bounds(), targets.least_loads()), (&[50; 4][..], &[20; 4][..]));
    /// assert!(targets.with_least_loads(vec![26; 4]).is_err());
    /// # Ok::<(), viem::partition::TargetsError>(())
    /// ```
    pub fn with_least_loads(self, least: Vec<Weight>) -> Result<Self, TargetsError> {
        let (found, expected) = (least.len(), self.num_blocks());
        if found != expected {
            return Err(TargetsError::LeastLoadsDiffer { found, expected });
        }
        let mut pairs = self.sizes.iter().zip(&least).enumerate();
        if let Some((block, (&size, &least))) = pairs.find(|(_, (size, least))| least > size) {
            return Err(TargetsError::LeastLoadAboveSize { block, size, least });
        }
        Ok(self.with_known_least_loads(least))
    }

    /// The same targets with sizes that are raised to their least loads, which takes from the sizes that are furthest above theirs. Sizes do
    /// not rise above bounds, unless sizes are exact: then bounds follow them. O(k log k).
    ///
    /// # Panics
    ///
    /// If there is not a least load for each block.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::Targets;
    ///
    /// let targets = Targets::equal(&generate::grid(5, 1), 2, 0.0)?;
    /// assert_eq!(targets.block_sizes(), [3, 2]);
    /// assert_eq!(targets.raised(&[0, 3]).block_sizes(), [2, 3]);
    /// # Ok::<(), viem::partition::TargetsError>(())
    /// ```
    #[must_use]
    pub fn raised(mut self, least: &[Weight]) -> Self {
        assert_eq!(least.len(), self.num_blocks());
        let are_exact = self.are_exact();
        let mut givers: Vec<usize> =
            (0..least.len()).filter(|&block| self.sizes[block] > least[block]).collect();
        givers.sort_by_key(|&block| self.sizes[block] - least[block]);
        for block in 0..least.len() {
            let most = if are_exact { least[block] } else { least[block].min(self.bounds[block]) };
            while self.sizes[block] < most {
                let Some(&giver) = givers.last() else { break };
                let given = (most - self.sizes[block]).min(self.sizes[giver] - least[giver]);
                self.sizes[block] += given;
                self.sizes[giver] -= given;
                if self.sizes[giver] == least[giver] {
                    givers.pop();
                }
            }
        }
        if are_exact {
            self.bounds.clone_from(&self.sizes);
        }
        self
    }

    /// The same with least loads that are known to fit.
    pub(super) fn with_known_least_loads(self, least: Vec<Weight>) -> Self {
        let least = if least.iter().all(|&least| least <= 0) { Vec::new() } else { least };
        Self { least, ..self }
    }

    /// Blocks of these weights and bounds, one bound per weight and none below it.
    pub(crate) fn bounded(sizes: Vec<Weight>, bounds: Vec<Weight>) -> Self {
        debug_assert!(
            sizes.len() == bounds.len() && sizes.iter().zip(&bounds).all(|(size, bound)| size <= bound)
        );
        Self { sizes, bounds, least: Vec::new(), closed: Vec::new(), fixed: None }
    }

    /// The targets of the blocks that get vertices, and the numbers of these blocks; none if these are all blocks. A
    /// partition for them, renumbered, is one for all blocks.
    pub(super) fn open(&self) -> Option<(Self, Vec<BlockId>)> {
        if self.closed.is_empty() {
            return None;
        }
        let open: Vec<BlockId> =
            (0..self.num_blocks() as BlockId).filter(|&block| !self.is_closed(block)).collect();
        let fixed = self.fixed.as_ref().map(|fixed| fixed.in_others(&open));
        Some((Self { fixed, ..self.of_blocks(&open) }, open))
    }

    pub(super) fn is_closed(&self, block: BlockId) -> bool {
        self.closed.binary_search(&block).is_ok()
    }

    /// The targets of some blocks, or of all blocks in another order: block i is `blocks[i]`. Fixed vertices are left out. O(k log k) for k blocks.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::Targets;
    ///
    /// let targets = Targets::proportional(&generate::grid(10, 10), &[1, 3], 0.04)?.of_blocks(&[1, 0]);
    /// assert_eq!((targets.block_sizes(), targets.bounds()), (&[75, 25][..], &[78, 26][..]));
    /// # Ok::<(), viem::partition::TargetsError>(())
    /// ```
    pub fn of_blocks(&self, blocks: &[BlockId]) -> Self {
        let of = |weights: &[Weight]| blocks.iter().map(|&block| weights[block as usize]).collect();
        let least = if self.least.is_empty() { Vec::new() } else { of(&self.least) };
        let closed = (0..).zip(blocks).filter(|&(_, &block)| self.is_closed(block)).map(|(at, _)| at);
        Self { least, closed: closed.collect(), ..Self::bounded(of(&self.sizes), of(&self.bounds)) }
    }

    /// The same targets, but some further blocks get no vertices, not even vertices of weight 0. O(k log k) for k blocks.
    ///
    /// # Errors
    ///
    /// One of these blocks has a size other than 0; the error names the first.
    pub fn with_closed(mut self, is_closed: impl Fn(BlockId) -> bool) -> Result<Self, TargetsError> {
        for block in (0..self.num_blocks() as BlockId).filter(|&block| is_closed(block)) {
            let at = block as usize;
            if self.sizes[at] != 0 {
                return Err(TargetsError::ClosedBlockHasSize { block: at, size: self.sizes[at] });
            }
            self.bounds[at] = 0;
            if let Err(before) = self.closed.binary_search(&block) {
                self.closed.insert(before, block);
            }
        }
        Ok(self)
    }

    /// The same with vertices of the graph that must be in given blocks, and stay there whatever that costs. Their weights
    /// count as those of others do: where they alone exceed a bound, the partition reports it as overload. Fails if the list
    /// is for another number of vertices or blocks, or a vertex is fixed to a block of capacity 0.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::{FixedVertices, PartitionPreset, Partitioner, Targets};
    ///
    /// let grid = generate::grid(10, 10);
    /// let mut fixed = FixedVertices::none(100, 4);
    /// fixed.fix(0, 3)?;
    /// fixed.fix(99, 3)?;
    /// let targets = Targets::equal(&grid, 4, 0.0)?.with_fixed(&grid, fixed)?;
    /// let partition = Partitioner::new(PartitionPreset::Fast, 0).partition(&grid, &targets);
    /// assert_eq!((partition.blocks()[0], partition.blocks()[99]), (3, 3));
    /// assert_eq!(partition.block_weights(), [25; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_fixed(self, graph: &CsrGraph, fixed: FixedVertices) -> Result<Self, FixedError> {
        fixed.check(graph.num_nodes(), self.num_blocks())?;
        if let Some((vertex, block)) = fixed.iter().find(|&(_, block)| self.is_closed(block)) {
            return Err(FixedError::NoCapacity { vertex, block });
        }
        Ok(Self { fixed: Some(fixed).filter(|fixed| !fixed.is_empty()), ..self })
    }

    /// The same with fixed vertices that are known to fit.
    pub(super) fn with_known_fixed(self, fixed: Option<FixedVertices>) -> Self {
        Self { fixed, ..self }
    }

    /// The same for the vertices in another order: vertex i is `order[i]`.
    pub fn of_vertices_in_order(&self, order: &[NodeId]) -> Self {
        Self { fixed: self.fixed.as_ref().map(|fixed| fixed.in_order(order)), ..self.clone() }
    }

    /// The targets of some vertices, which ascend and weigh `weight` together: their parts of the sizes, the bounds of all vertices, and what is missing of the
    /// least loads if each block has its part of the others. O(n + k).
    pub(super) fn of_vertices(&self, nodes: &[NodeId], weight: Weight) -> Self {
        let sizes = in_proportion(weight.into(), self.sizes.iter().map(|&size| i128::from(size)));
        let others = self.sizes.iter().zip(&sizes).map(|(size, part)| size - part);
        let least = self.least.iter().zip(others).map(|(least, others)| (least - others).max(0)).collect();
        let fixed = self.fixed.as_ref().map(|fixed| fixed.in_order(nodes));
        let targets = Self::bounded(sizes, self.bounds.clone()).with_known_least_loads(least);
        Self { fixed, closed: self.closed.clone(), ..targets }
    }

    /// The vertices that must be in given blocks, if there are any.
    pub fn fixed(&self) -> Option<&FixedVertices> {
        self.fixed.as_ref()
    }

    /// The partition in the order of the numbers of the vertices: each block gets the next ones until it has its weight;
    /// O(n).
    pub fn in_order(&self, graph: &CsrGraph) -> Vec<BlockId> {
        in_order(graph.node_weights().iter().copied(), std::iter::repeat(None), &self.sizes)
    }

    /// Number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.sizes.len()
    }

    /// Returns whether no block may weigh more than its target.
    pub fn are_exact(&self) -> bool {
        self.sizes == self.bounds
    }

    /// The weight each block should have, by block.
    pub fn block_sizes(&self) -> &[Weight] {
        &self.sizes
    }

    /// The greatest weight each block may have, by block.
    pub fn bounds(&self) -> &[Weight] {
        &self.bounds
    }

    /// The least weight of each block, by block; empty if no block has one.
    pub fn least_loads(&self) -> &[Weight] {
        &self.least
    }

    /// The greatest and the least weights, and the blocks that stay empty.
    pub(crate) fn load_bounds(&self) -> LoadBounds<'_> {
        LoadBounds { most: &self.bounds, least: &self.least, closed: &self.closed }
    }

    /// The number of blocks of a partition without vertices, besides those of capacity 0. O(n + k).
    pub fn num_empty(&self, blocks: &[BlockId]) -> usize {
        let mut is_used = vec![false; self.num_blocks()];
        blocks.iter().chain(&self.closed).for_each(|&block| is_used[block as usize] = true);
        is_used.into_iter().filter(|is_used| !is_used).count()
    }
}

/// The cheapest partition: each block gets the vertices that are fixed to it, and the next others until it has its size; O(n).
pub(super) fn in_order(
    node_weights: impl Iterator<Item = Weight> + Clone,
    fixed: impl Iterator<Item = Option<BlockId>> + Clone,
    sizes: &[Weight],
) -> Vec<BlockId> {
    let mut weights = vec![0; sizes.len()];
    for (weight, block) in node_weights.clone().zip(fixed.clone()) {
        if let Some(block) = block {
            weights[block as usize] += weight;
        }
    }
    let mut block = 0;
    let next = |(weight, fixed): (Weight, Option<BlockId>)| {
        if let Some(fixed) = fixed {
            return fixed;
        }
        while weights[block] >= sizes[block] && block + 1 < sizes.len() {
            block += 1;
        }
        weights[block] += weight;
        block as BlockId
    };
    node_weights.zip(fixed).map(next).collect()
}

fn check(num_blocks: usize, epsilon: f64) -> Result<(), TargetsError> {
    if num_blocks == 0 {
        return Err(TargetsError::NoBlocks);
    }
    if num_blocks > u32::MAX as usize {
        return Err(TargetsError::TooManyBlocks { count: num_blocks });
    }
    if !(epsilon >= 0.0 && epsilon.is_finite()) {
        return Err(TargetsError::BadEpsilon { epsilon });
    }
    Ok(())
}

/// The greatest common factor of all vertex weights, 1 if no vertex has a weight; O(n), and O(1) on most graphs.
fn common_factor(graph: &CsrGraph) -> Weight {
    let mut factor = 0;
    for &weight in graph.node_weights() {
        let mut rest = weight;
        while rest != 0 {
            (factor, rest) = (rest, factor % rest);
        }
        if factor == 1 {
            break;
        }
    }
    factor.max(1)
}

/// `(1 + epsilon) * size`, rounded down, never above half of what a sum can hold unless `size` is.
///
/// Exact in integers: epsilon is taken as the decimal number of 15 significant digits next to it, so that 0.03 is
/// three hundredths, also where it comes from a division.
fn relax(size: Weight, epsilon: f64) -> Weight {
    let greatest = (Weight::MAX / 2).max(size);
    // Less than 2^63 times 10^15, so the product fits.
    let extra = Decimal::of(epsilon).scaled(|digits| i128::from(size) * digits);
    let bound = extra.and_then(|extra| extra.checked_add(i128::from(size)));
    bound.map_or(greatest, |bound| bound.min(i128::from(greatest)) as Weight)
}

/// The decimal number of 15 significant digits next to a float from 0 on: `digits` times 10 to the power of `exponent`.
#[derive(Clone, Copy)]
struct Decimal {
    pub digits: i128,
    exponent: i32,
}

impl Decimal {
    fn of(number: f64) -> Self {
        let decimal = format!("{number:.14e}");
        let (digits, exponent) = decimal.split_once('e').expect("a number in scientific notation");
        let exponent: i32 = exponent.parse().expect("an exponent");
        Self { digits: digits.replace('.', "").parse().expect("digits"), exponent: exponent - 14 }
    }

    /// `of_digits` times the power of ten, rounded down; none if it does not fit.
    fn scaled(self, of_digits: impl Fn(i128) -> i128) -> Option<i128> {
        let product = of_digits(self.digits);
        let power = 10i128.checked_pow(self.exponent.unsigned_abs());
        match self.exponent {
            _ if product == 0 => Some(0),
            0.. => power.and_then(|power| product.checked_mul(power)),
            _ => Some(power.map_or(0, |power| product / power)),
        }
    }

    /// This part, which is at most all, of a quotient of less than 2^63, rounded down.
    fn part(self, dividend: i128, divisor: i128) -> Weight {
        let (whole, rest) = (dividend / divisor, dividend % divisor);
        // The divisor is less than 2^64, and the digits less than 10^15, so the products fit.
        let part = self.scaled(|digits| whole * digits + rest * digits / divisor);
        part.unwrap_or(whole).min(whole) as Weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    fn edgeless(num_nodes: usize) -> CsrGraph {
        GraphBuilder::new(num_nodes).build().unwrap()
    }

    #[test]
    fn equal_sizes_differ_by_at_most_one() {
        let targets = Targets::equal(&edgeless(10), 4, 0.0).unwrap();
        assert_eq!(targets.block_sizes(), [3, 3, 2, 2]);
        assert_eq!(targets.bounds(), [3, 3, 2, 2]);
    }

    #[test]
    fn exact_sizes_are_rounded_up_where_more_is_already() {
        let sizes = |capacities: &[u32], loads: &[Weight]| {
            let targets = Targets::proportional(&edgeless(10), capacities, 0.0).unwrap();
            targets.near(capacities, loads).block_sizes().to_vec()
        };
        assert_eq!(sizes(&[1; 4], &[2, 3, 2, 3]), [2, 3, 2, 3]);
        assert_eq!(sizes(&[1; 4], &[0, 0, 0, 10]), [3, 2, 2, 3]);
        assert_eq!(sizes(&[1, 2, 0, 1], &[2, 5, 0, 3]), [2, 5, 0, 3]);
        assert_eq!(sizes(&[1, 1, 3, 0], &[]), [2, 2, 6, 0]);
    }

    #[test]
    fn the_bound_is_relaxed_from_the_rounded_average() {
        let bound = |n, k, epsilon| Targets::equal(&edgeless(n), k, epsilon).unwrap().bounds()[0];
        assert_eq!(bound(200, 2, 0.03), 103);
        assert_eq!(bound(199, 2, 0.03), 103);
        assert_eq!(bound(10, 4, 0.1), 3);
        assert_eq!(bound(10, 1, 1e300), Weight::MAX / 2);
        assert_eq!(bound(10, 1, 0.0), 10);
        assert_eq!(bound(10, 1, 5e-324), 10);
    }

    /// The greatest load of a block by the definition: what its part of each division may have, one division after the other.
    fn divided(fair: &[f64], block: usize, factor: f64, slack: f64, most: f64) -> f64 {
        let middle = fair.len() / 2;
        if fair.len() == 1 {
            return most;
        }
        let is_first = block < middle;
        let side = if is_first { &fair[..middle] } else { &fair[middle..] };
        let share = side.iter().sum::<f64>() / fair.iter().sum::<f64>();
        let most = factor * most * share + slack.min(most / 20.0);
        divided(side, if is_first { block } else { block - middle }, factor, slack, most)
    }

    #[test]
    fn bounds_of_divisions_are_those_of_one_division_after_the_other() {
        for count in [1, 2, 3, 7, 16] {
            let fair: Vec<f64> = (0..count).map(|block| 100.0 + 10.0 * f64::from(block)).collect();
            for (factor, slack) in [(1.0, 0.0), (1.03, 0.0), (1.03, 4.0), (1.2, 1e9)] {
                let found = Targets::bounds_of_divisions(&fair, factor, slack);
                for (block, bound) in found.into_iter().enumerate() {
                    let expected = divided(&fair, block, factor, slack, fair.iter().sum());
                    assert!((bound - expected).abs() < 1e-6, "{count} {block}: {bound} {expected}");
                }
            }
        }
        assert_eq!(Targets::bounds_of_divisions(&[0.0, 5.0], 1.0, 0.0), [0.0, 5.0]);
        assert!(Targets::bounds_of_divisions(&[], 1.0, 0.0).is_empty());
    }

    #[test]
    fn shares_of_divisions_are_not_below_shares() {
        let graph = edgeless(100);
        for epsilon in [0.0, 0.03, 1.0, 1e300] {
            let pair = |of: fn(&CsrGraph, &[u32], f64) -> Vec<Weight>| of(&graph, &[1, 0, 2, 4, 1], epsilon);
            let (shares, wider) = (pair(Targets::shares), pair(Targets::shares_of_divisions));
            assert!(shares.iter().zip(&wider).all(|(share, wider)| share <= wider), "{shares:?} {wider:?}");
            assert_eq!((shares[1], wider[1]), (0, 0));
        }
    }

    #[test]
    fn shares_are_multiples_of_the_common_factor_of_all_weights() {
        let graph = |weights: Vec<Weight>| {
            let mut builder = GraphBuilder::new(weights.len());
            (0..).zip(weights).for_each(|(node, weight)| builder.set_node_weight(node, weight));
            builder.build().unwrap()
        };
        let sevens = graph(vec![7; 10]);
        assert_eq!(Targets::equal(&sevens, 3, 0.0).unwrap().bounds(), [28; 3]);
        assert_eq!(Targets::equal(&sevens, 3, 0.3).unwrap().bounds(), [36; 3]);
        assert_eq!(Targets::proportional(&sevens, &[1, 3, 0], 0.0).unwrap().bounds(), [21, 56, 0]);
        assert_eq!(Targets::equal(&graph(vec![6, 0, 9, 12]), 2, 0.0).unwrap().bounds(), [15; 2]);
        assert_eq!(Targets::equal(&graph(vec![0, 0]), 2, 0.0).unwrap().bounds(), [0; 2]);
        let half = Weight::MAX / 2;
        assert_eq!(Targets::equal(&graph(vec![half, half]), 2, 0.0).unwrap().bounds(), [half; 2]);
    }

    #[test]
    fn bounds_of_heavy_blocks_are_exact() {
        assert_eq!(relax(1_000_000_000_000_000, 0.03), 1_030_000_000_000_000);
        assert_eq!(relax(1_000_000_000_000_001, 0.03), 1_030_000_000_000_001);
        assert_eq!(relax(4_000_000_000_000_000_033, 0.07), 4_280_000_000_000_000_035);
        assert_eq!(relax(1000, 2.9 / 100.0), 1029);
        assert_eq!(relax(Weight::MAX, 0.5), Weight::MAX);
    }

    #[test]
    fn impossible_targets_are_refused() {
        let graph = edgeless(5);
        assert_eq!(Targets::equal(&graph, 0, 0.0), Err(TargetsError::NoBlocks));
        assert_eq!(Targets::proportional(&graph, &[0, 0], 0.0), Err(TargetsError::NoCapacity));
        assert_eq!(Targets::proportional(&graph, &[0, 3, 0, 2], 0.5).unwrap().bounds(), [0, 4, 0, 3]);
        assert!(matches!(Targets::equal(&graph, 2, f64::NAN), Err(TargetsError::BadEpsilon { .. })));
        assert!(matches!(Targets::equal(&graph, 2, -0.1), Err(TargetsError::BadEpsilon { .. })));
        let sizes = |sizes| Targets::sizes(&graph, sizes, 0.0);
        assert_eq!(sizes(vec![2, 2]), Err(TargetsError::SumDiffers { sum: 4, total: 5 }));
        assert_eq!(sizes(vec![6, -1]), Err(TargetsError::NegativeSize { block: 1, size: -1 }));
        assert!(sizes(vec![0, 5]).is_ok());
    }
}
