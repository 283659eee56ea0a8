//! The input of a run, checked to be the same on all ranks.

use std::borrow::Cow;

use viem::base::types::{BlockId, Weight};
use viem::partition::{FixedError, Targets, TargetsError};

use super::config::DistConfig;
use super::error::DivideError;
use super::goal::{Given, Goal, Old};
use crate::alike;
use crate::comm::{Comm, greatest, sum, sums_of_long};
use crate::error::{DistError, agree};
use crate::graph::{DistGraph, total_of};
use crate::objective::{BlockDistances, PreviousAssignment};

/// The random stream of clusters.
pub(super) const CLUSTERS: u64 = 1;
/// The random stream of refinement.
pub(super) const REFINEMENT: u64 = 2;
/// The random stream of V-cycles.
pub(super) const V_CYCLES: u64 = 3;

/// A graph that is divided, and the given blocks of its vertices.
pub(super) struct Run<'a, C> {
    pub(super) comm: &'a C,
    pub(super) graph: &'a DistGraph,
    pub(super) goal: Goal<'a>,
    pub(super) old: Option<Old<'a>>,
    /// The amount that migrates with each own vertex, if there is an older partition and that is not the weight.
    pub(super) sizes: Option<&'a [Weight]>,
    pub(super) targets: Option<&'a Targets>,
    /// The block of each fixed own vertex, if any vertex of any rank is fixed.
    pub(super) fixed: Option<Cow<'a, [BlockId]>>,
    pub(super) config: &'a DistConfig,
    pub(super) distances: BlockDistances,
    pub(super) num_blocks: usize,
    /// The weight of all vertices.
    pub(super) total: Weight,
}

impl<'a, C: Comm> Run<'a, C> {
    pub(super) fn new(
        comm: &'a C,
        graph: &'a DistGraph,
        goal: Goal<'a>,
        Given { old, sizes, fixed, targets }: Given<'a>,
        config: &'a DistConfig,
    ) -> Result<Self, DistError> {
        let distances = agree(comm, distances_of(goal, config))?;
        let sizes = sizes.filter(|_| old.is_some());
        alike::check(comm, &shared(graph, goal, config))?;
        alike::check(comm, &given_alike((old, sizes), targets))?;
        let num_blocks = goal.num_blocks();
        let is_any_fixed = greatest(comm, fixed.is_some().into()) == 1;
        let free = || Cow::Owned(vec![Given::FREE; graph.num_own()]);
        let fixed = is_any_fixed.then(|| fixed.map_or_else(free, Cow::Borrowed));
        let total = sum(comm, graph.node_weights().iter().sum());
        let run =
            Self { comm, graph, goal, old, sizes, targets, fixed, config, distances, num_blocks, total };
        let arcs: Weight =
            (0..graph.num_own()).map(|own| graph.arcs(own).map(|(_, weight)| weight).sum::<Weight>()).sum();
        agree(comm, run.check_sizes())?;
        let moving = sizes.map_or(i128::from(total), |sizes| sums_of_long(comm, [total_of(sizes)])[0]);
        agree(comm, run.check(sum(comm, arcs), moving))?;
        Ok(run)
    }

    /// Returns whether no cost overflows, and vertices were, and must be, in blocks that there are.
    fn check(&self, arcs: Weight, moving: i128) -> Result<(), DivideError> {
        let (num_blocks, num_nodes) = (self.num_blocks, self.graph.ranges().total() as usize);
        match self.targets {
            None if matches!(self.goal, Goal::Blocks(_)) && num_blocks > num_nodes => {
                return Err(TargetsError::NumBlocks { num_blocks, num_nodes }.into());
            }
            None => (),
            Some(targets) => self.check_targets(targets)?,
        }
        let (penalty, scale) = self.penalty();
        let edges = i128::from(arcs).checked_mul(i128::from(self.distances.greatest()) * i128::from(scale));
        let migration = moving.checked_mul(i128::from(penalty));
        let cost = edges.zip(migration).and_then(|(edges, migration)| edges.checked_add(migration));
        if cost.is_none_or(|cost| cost > i128::from(Weight::MAX)) {
            return Err(DivideError::Overflow);
        }
        self.check_fixed()?;
        let Some(Old { blocks, .. }) = self.old else { return Ok(()) };
        let (found, expected) = (blocks.len(), self.graph.num_own());
        if found != expected {
            return Err(DivideError::OldLength { found, expected });
        }
        let num_blocks = self.num_blocks;
        let is_wrong = |&block: &BlockId| block != PreviousAssignment::NONE && block as usize >= num_blocks;
        match blocks.iter().position(is_wrong) {
            None => Ok(()),
            Some(own) => {
                let (vertex, block) = (self.graph.global(own), blocks[own]);
                Err(DivideError::OldBlock { vertex, block, num_blocks })
            }
        }
    }

    fn check_targets(&self, targets: &Targets) -> Result<(), TargetsError> {
        let (found, expected) = (targets.num_blocks(), self.num_blocks);
        if found != expected {
            return Err(TargetsError::BoundsDiffer { found, expected });
        }
        targets.check_sum(self.total)
    }

    /// Returns whether there is a size for each own vertex, at least 0.
    fn check_sizes(&self) -> Result<(), DivideError> {
        let Some(sizes) = self.sizes else { return Ok(()) };
        let (found, expected) = (sizes.len(), self.graph.num_own());
        if found != expected {
            return Err(DivideError::SizesLength { found, expected });
        }
        match sizes.iter().position(|&size| size < 0) {
            None => Ok(()),
            Some(own) => Err(DivideError::Size { vertex: self.graph.global(own), size: sizes[own] }),
        }
    }

    fn check_fixed(&self) -> Result<(), DivideError> {
        let Some(fixed) = &self.fixed else { return Ok(()) };
        let (found, expected, num_blocks) = (fixed.len(), self.graph.num_own(), self.num_blocks);
        if found != expected {
            return Err(DivideError::FixedLength { found, expected });
        }
        for (own, &block) in fixed.iter().enumerate().filter(|(_, block)| **block != Given::FREE) {
            let vertex = self.graph.global(own);
            if block as usize >= num_blocks {
                return Err(FixedError::NoSuchBlock { vertex, block, num_blocks }.into());
            }
            if self.goal.is_closed(block) {
                return Err(FixedError::NoCapacity { vertex, block }.into());
            }
        }
        Ok(())
    }

    /// Returns the price of migration of a vertex of weight 1, and that of an edge of weight 1 for a distance of 1.
    pub(super) fn penalty(&self) -> (Weight, Weight) {
        let Some(Old { weight, .. }) = self.old else { return (0, 1) };
        let (numerator, denominator) = weight.fraction();
        // J counts each edge twice, the change of a move once.
        let twice = if self.distances.is_cut() { 1 } else { 2 };
        (numerator, twice * denominator)
    }

    pub(super) fn homes(&self, blocks: Vec<BlockId>, sizes: Option<Vec<Weight>>) -> PreviousAssignment {
        let (penalty, scale) = self.penalty();
        PreviousAssignment { blocks, penalty, scale, sizes }
    }
}

/// Checks the values that all ranks must give alike, with their names. Ranks may have different numbers of threads.
fn shared(graph: &DistGraph, goal: Goal<'_>, config: &DistConfig) -> [(&'static str, u64); 8] {
    let (num_blocks, machine) = match goal {
        Goal::Blocks(count) => (count as u64, 0),
        Goal::Pes(machine) => (machine.num_pes() as u64, alike::digest_of_machine(machine)),
    };
    let others = DistConfig { threads: 1, ..config.clone() };
    [
        (
            "division of the vertices among the ranks",
            alike::digest(graph.ranges().first().iter().map(|&first| first.into())),
        ),
        ("number of blocks", num_blocks),
        ("machine", machine),
        ("seed", config.seed),
        ("imbalance", config.imbalance.to_bits()),
        ("least load", config.least_load.to_bits()),
        ("preset", alike::digest_of_text(config.preset.name())),
        ("setting", alike::digest_of_text(&format!("{others:?}"))),
    ]
}

/// The same for what is given beside the goal.
fn given_alike(
    (old, sizes): (Option<Old<'_>>, Option<&[Weight]>),
    targets: Option<&Targets>,
) -> [(&'static str, u64); 3] {
    let weight = old.map(|old| format!("{:?}", old.weight)).unwrap_or_default();
    let loads = |targets: &Targets| {
        let all = [targets.block_sizes(), targets.bounds(), targets.least_loads()];
        alike::digest(all.concat().into_iter().map(|load| load as u64))
    };
    [
        ("migration weight", alike::digest_of_text(&weight)),
        ("kind of sizes", sizes.is_some().into()),
        ("division of the weight among the blocks", targets.map_or(0, loads)),
    ]
}

/// Returns the distances between the blocks of a goal, if goal and settings are possible.
fn distances_of(goal: Goal<'_>, config: &DistConfig) -> Result<BlockDistances, DivideError> {
    if config.attempts == 0 {
        return Err(DivideError::NoAttempt);
    }
    Targets::check_least_load(config.least_load)?;
    match goal {
        Goal::Blocks(count) => {
            Targets::check(count, config.imbalance)?;
            Ok(BlockDistances::cut())
        }
        Goal::Pes(machine) => {
            Targets::check(machine.num_pes(), config.imbalance)?;
            Ok(BlockDistances::of(machine.distances()?))
        }
    }
}
