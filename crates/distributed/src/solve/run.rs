//! The input of a run, checked to be the same on all ranks.

use std::borrow::Cow;

use viem::base::types::{BlockId, Weight};
use viem::partition::{FixedError, Targets, TargetsError};
use viem::solve::{LoadLimits, RequestError, SolveError};

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
    /// The amount that migrates with each own vertex, if there is an older partition and that is not the only weight.
    pub(super) sizes: Option<Cow<'a, [Weight]>>,
    /// Those of each weight or of all; none if they follow from the settings.
    pub(super) limits: &'a [LoadLimits<'a>],
    /// The block of each fixed own vertex, if any vertex of any rank is fixed.
    pub(super) fixed: Option<Cow<'a, [BlockId]>>,
    pub(super) config: &'a DistConfig,
    pub(super) distances: BlockDistances,
    pub(super) num_blocks: usize,
    /// The weight of all vertices; their size if they have several.
    pub(super) total: Weight,
}

impl<'a, C: Comm> Run<'a, C> {
    pub(super) fn new(
        comm: &'a C,
        graph: &'a DistGraph,
        goal: Goal<'a>,
        Given { old, sizes, fixed, limits }: Given<'a>,
        config: &'a DistConfig,
    ) -> Result<Self, DistError> {
        let distances = agree(comm, distances_of(goal, config))?;
        let sizes = sizes.filter(|_| old.is_some());
        alike::check(comm, &shared(graph, goal, config))?;
        alike::check(comm, &given_alike((old, sizes), limits))?;
        let first = || graph.weights().iter().step_by(graph.num_weights()).copied().collect();
        let is_counted = old.is_some() && graph.num_weights() > 1;
        let sizes = sizes.map(Cow::Borrowed).or_else(|| is_counted.then(|| Cow::Owned(first())));
        let num_blocks = goal.num_blocks();
        let is_any_fixed = greatest(comm, fixed.is_some().into()) == 1;
        let free = || Cow::Owned(vec![Given::FREE; graph.num_own()]);
        let fixed = is_any_fixed.then(|| fixed.map_or_else(free, Cow::Borrowed));
        let total = sum(comm, graph.node_weights().iter().sum());
        let run = Self { comm, graph, goal, old, sizes, limits, fixed, config, distances, num_blocks, total };
        let arcs: Weight =
            (0..graph.num_own()).map(|own| graph.arcs(own).map(|(_, weight)| weight).sum::<Weight>()).sum();
        agree(comm, run.check_sizes())?;
        let moving = run.sizes.as_deref();
        let moving = moving.map_or(i128::from(total), |sizes| sums_of_long(comm, &[total_of(sizes)])[0]);
        agree(comm, run.check(sum(comm, arcs), moving))?;
        Ok(run)
    }

    /// Returns whether no cost overflows, and vertices were, and must be, in blocks that there are.
    fn check(&self, arcs: Weight, moving: i128) -> Result<(), DivideError> {
        let (num_blocks, num_nodes) = (self.num_blocks, self.graph.ranges().total() as usize);
        let has_targets = self.limits.iter().any(|limits| matches!(limits, LoadLimits::Targets(_)));
        if matches!(self.goal, Goal::Blocks(_)) && num_blocks > num_nodes && !has_targets {
            return Err(TargetsError::NumBlocks { num_blocks, num_nodes }.into());
        }
        self.check_limits()?;
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

    /// Returns whether there are limits for each weight or for all, and whether they are those of as many blocks. The library for one machine checks the rest.
    fn check_limits(&self) -> Result<(), DivideError> {
        let (found, expected) = (self.limits.len(), self.graph.num_weights());
        if ![0, 1, expected].contains(&found) {
            return Err(RequestError::LimitsDiffer { found, expected }.into());
        }
        let totals = self.graph.totals().iter();
        totals.enumerate().try_for_each(|(weight, &total)| match self.limits_of(weight) {
            None => Ok(()),
            Some(limits) => Ok(check_limits(limits, self.num_blocks, total)?),
        })
    }

    /// The limits of a weight, if they are given.
    pub(super) fn limits_of(&self, weight: usize) -> Option<LoadLimits<'a>> {
        self.limits.get(weight).or(self.limits.first()).copied()
    }

    /// Returns whether there is a size for each own vertex, at least 0.
    fn check_sizes(&self) -> Result<(), DivideError> {
        let Some(sizes) = &self.sizes else { return Ok(()) };
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
    limits: &[LoadLimits<'_>],
) -> [(&'static str, u64); 3] {
    let weight = old.map(|old| format!("{:?}", old.weight)).unwrap_or_default();
    [
        ("migration weight", alike::digest_of_text(&weight)),
        ("kind of sizes", sizes.is_some().into()),
        ("division of the weight among the blocks", alike::digest_of_text(&format!("{limits:?}"))),
    ]
}

/// Returns whether limits are those of this many blocks, and of this weight of all vertices.
fn check_limits(limits: LoadLimits<'_>, expected: usize, total: Weight) -> Result<(), SolveError> {
    match limits {
        LoadLimits::Targets(targets) if targets.num_blocks() != expected => {
            let found = targets.num_blocks();
            Err(TargetsError::BoundsDiffer { found, expected }.into())
        }
        LoadLimits::Targets(targets) => Ok(targets.check_sum(total)?),
        LoadLimits::Proportional { balance, least_loads, capacities, .. } => {
            balance.validate()?;
            let differing = |found: usize| Some(found).filter(|&found| found != expected);
            if let Some(found) = capacities.and_then(|all| differing(all.len())) {
                return Err(RequestError::CapacitiesDiffer { found, expected }.into());
            }
            match least_loads.and_then(|all| differing(all.len())) {
                Some(found) => Err(TargetsError::LeastLoadsDiffer { found, expected }.into()),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
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
