//! The input of a run, checked to be the same on all ranks.

use std::borrow::Cow;

use viem::base::types::{BlockId, Weight};
use viem::partition::{FixedError, Targets, TargetsError};

use super::config::DistConfig;
use super::error::DivideError;
use super::goal::{Given, Goal, Old};
use crate::alike;
use crate::comm::{Comm, greatest, sum};
use crate::error::{DistError, agree};
use crate::graph::DistGraph;
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
        Given { old, fixed }: Given<'a>,
        config: &'a DistConfig,
    ) -> Result<Self, DistError> {
        let distances = agree(comm, distances_of(goal, config))?;
        alike::check(comm, &shared(graph, goal, old, config))?;
        let num_blocks = match goal {
            Goal::Blocks(count) => count,
            Goal::Pes(machine) => machine.num_pes(),
        };
        let is_any_fixed = greatest(comm, fixed.is_some().into()) == 1;
        let free = || Cow::Owned(vec![Given::FREE; graph.num_own()]);
        let fixed = is_any_fixed.then(|| fixed.map_or_else(free, Cow::Borrowed));
        let total = sum(comm, graph.node_weights().iter().sum());
        let run = Self { comm, graph, goal, old, fixed, config, distances, num_blocks, total };
        let arcs: Weight =
            (0..graph.num_own()).map(|own| graph.arcs(own).map(|(_, weight)| weight).sum::<Weight>()).sum();
        agree(comm, run.check(sum(comm, arcs)))?;
        Ok(run)
    }

    /// Returns whether no cost overflows, and vertices were, and must be, in blocks that there are.
    fn check(&self, arcs: Weight) -> Result<(), DivideError> {
        let (num_blocks, num_nodes) = (self.num_blocks, self.graph.ranges().total() as usize);
        if matches!(self.goal, Goal::Blocks(_)) && num_blocks > num_nodes {
            return Err(TargetsError::NumBlocks { num_blocks, num_nodes }.into());
        }
        let (penalty, scale) = self.penalty();
        let edges = i128::from(arcs).checked_mul(i128::from(self.distances.greatest()) * i128::from(scale));
        let migration = i128::from(self.total) * i128::from(penalty);
        if edges.is_none_or(|edges| edges + migration > i128::from(Weight::MAX)) {
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

    fn check_fixed(&self) -> Result<(), DivideError> {
        let Some(fixed) = &self.fixed else { return Ok(()) };
        let (found, expected, num_blocks) = (fixed.len(), self.graph.num_own(), self.num_blocks);
        if found != expected {
            return Err(DivideError::FixedLength { found, expected });
        }
        let is_closed = |block| matches!(self.goal, Goal::Pes(machine) if machine.capacity(block) == 0);
        for (own, &block) in fixed.iter().enumerate().filter(|(_, block)| **block != Given::FREE) {
            let vertex = self.graph.global(own);
            if block as usize >= num_blocks {
                return Err(FixedError::NoSuchBlock { vertex, block, num_blocks }.into());
            }
            if is_closed(block) {
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

    pub(super) fn homes(&self, blocks: Vec<BlockId>) -> PreviousAssignment {
        let (penalty, scale) = self.penalty();
        PreviousAssignment { blocks, penalty, scale }
    }
}

/// Checks the values that all ranks must give alike, with their names. Ranks may have different numbers of threads.
fn shared(
    graph: &DistGraph,
    goal: Goal<'_>,
    old: Option<Old<'_>>,
    config: &DistConfig,
) -> [(&'static str, u64); 9] {
    let (num_blocks, machine) = match goal {
        Goal::Blocks(count) => (count as u64, 0),
        Goal::Pes(machine) => (machine.num_pes() as u64, alike::digest_of_machine(machine)),
    };
    let weight = old.map(|old| format!("{:?}", old.weight)).unwrap_or_default();
    let others = DistConfig { threads: 1, ..config.clone() };
    [
        (
            "division of the vertices among the ranks",
            alike::digest(graph.ranges().first().iter().map(|&first| first.into())),
        ),
        ("number of blocks", num_blocks),
        ("machine", machine),
        ("migration weight", alike::digest_of_text(&weight)),
        ("seed", config.seed),
        ("imbalance", config.imbalance.to_bits()),
        ("least load", config.least_load.to_bits()),
        ("preset", alike::digest_of_text(config.preset.name())),
        ("setting", alike::digest_of_text(&format!("{others:?}"))),
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
