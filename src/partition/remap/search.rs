//! The search for a partition that resumes an older one.

use super::homes::{Homes, HomesError};
use super::relabel::Relabelling;
use super::weight::MigrationWeight;
use crate::graph::CsrGraph;
use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::observer::Observer;
use crate::ground::rng::{Rng, derive};
use crate::ground::types::{BlockId, Weight};
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::blocks::Partition;
use crate::partition::compact::{self, CompactGraph, Stored};
use crate::partition::layout::BlockTree;
use crate::partition::objective::{Migrating, Objective};
use crate::partition::refine::fill;
use crate::partition::scheme::initial::multisection::Multisection;
use crate::partition::scheme::initial::older::OlderPartition;
use crate::partition::scheme::initial::pool::BestOfPool;
use crate::partition::scheme::multilevel::{FlowLevels, Multilevel, Task};
use crate::partition::scheme::pool::Pool;
use crate::partition::settings::PartitionConfig;
use crate::partition::targets::Targets;

/// The greatest number of blocks that get new labels, which takes cubic time and quadratic memory.
pub const MOST_RELABELLED: usize = 4096;

/// Why nothing was remapped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
#[non_exhaustive]
pub enum RemapError {
    #[error(transparent)]
    Homes(#[from] HomesError),
    #[error(
        "the migration weight {weight} times the vertex weights, and the edges, exceed 64 bits together; give a smaller one, or one with fewer digits after the point"
    )]
    TooLarge { weight: String },
    #[error(
        "labels of {num_blocks} blocks are not assigned exactly, of {MOST_RELABELLED} at most; give a migration weight above 0"
    )]
    TooManyBlocks { num_blocks: usize },
}

impl HasKind for RemapError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Homes(error) => error.kind(),
            Self::TooLarge { .. } | Self::TooManyBlocks { .. } => ErrorKind::Usage,
        }
    }
}

/// If all penalties together exceed this many times the cost of the edges, they are first scaled down to that. Balances
/// migration against borders that no single move repairs: where penalties are higher, hardly less migrates, but the cut
/// rises by up to a quarter. Tuned on the mesh of 3072 vertices, 16 blocks, by `generate_model --curve`.
const MOST_PENALTIES: Weight = 8;

/// What is remapped, and how.
pub(in crate::partition) struct Remap<'a> {
    pub graph: &'a CsrGraph,
    pub targets: &'a Targets,
    pub homes: &'a Homes,
    pub weight: MigrationWeight,
    pub settings: &'a PartitionConfig,
    /// A tree of blocks along which the graph is divided first, if there is one.
    pub along: Option<Multisection<'a>>,
    pub seed: u64,
    pub observer: &'a dyn Observer,
}

impl Remap<'_> {
    /// Checks that homes fit the graph and that no sum overflows: the objective sums up edges times `greatest`, and `times`
    /// that is what counts.
    pub fn check(&self, times: Weight, greatest: Weight) -> Result<(), RemapError> {
        let num_blocks = self.targets.num_blocks();
        self.homes.check(self.graph.num_nodes(), num_blocks)?;
        if self.weight == MigrationWeight::ZERO {
            // Only labels change, which sums up nothing but the weights of vertices.
            return if num_blocks > MOST_RELABELLED {
                Err(RemapError::TooManyBlocks { num_blocks })
            } else {
                Ok(())
            };
        }
        let (numerator, denominator) = self.weight.fraction();
        let edges = i128::from(self.graph.total_arc_weight()) * i128::from(greatest);
        let edges = edges.checked_mul(i128::from(times * denominator));
        let own = i128::from(self.graph.total_node_weight()) * i128::from(numerator);
        // Gains are differences of such sums, and flows double them.
        let fits = |sum: i128| sum <= i128::from(Weight::MAX / 4);
        match edges.and_then(|edges| edges.checked_add(own)) {
            Some(sum) if fits(sum) => Ok(()),
            _ => Err(RemapError::TooLarge { weight: self.weight.to_string() }),
        }
    }

    /// A partition of small objective and migration. `times` the objective is what counts, and no edge of weight 1 costs
    /// more than `greatest`.
    pub fn run<O: Objective>(
        &self,
        objective: O,
        (times, greatest): (Weight, Weight),
    ) -> Result<Assignment, RemapError> {
        self.check(times, greatest)?;
        let (numerator, denominator) = self.weight.fraction();
        let penalty = |(&home, &weight): (&u32, &Weight)| {
            if (home as usize) < self.homes.num_blocks { numerator * weight } else { 0 }
        };
        let penalties = self.homes.homes.iter().zip(self.graph.node_weights()).map(penalty).collect();
        let objective = Migrating::new(objective, times * denominator, self.homes.homes.clone(), penalties);
        let objective = match self.targets.fixed() {
            Some(fixed) => objective.with_fixed(fixed),
            None => objective,
        };
        Ok(if compact::is_narrow(self.graph) {
            self.on(&CompactGraph::<i32>::new(self.graph), &objective)
        } else {
            self.on(&CompactGraph::<i64>::new(self.graph), &objective)
        })
    }

    fn on<W: Stored, O: Objective>(
        &self,
        graph: &CompactGraph<'_, W>,
        objective: &Migrating<O>,
    ) -> Assignment {
        let (settings, coarsest) = (self.settings.resuming(), self.settings.resuming_coarsest());
        let search = Search { remap: self, graph, settings, coarsest };
        let first = search.best(objective);
        let most = objective.cost_of_edges(graph, &first.blocks).saturating_mul(MOST_PENALTIES);
        let mut candidates = vec![first];
        candidates.extend(search.at_home(objective));
        if let Some(softer) = objective.softened(most) {
            let soft = search.assignment(objective, search.best(&softer).blocks);
            candidates.push(search.refined(objective, soft.clone(), 0));
            candidates.push(soft);
            candidates.extend(self.along.map(|_| search.all_at_once(objective)));
        }
        let (level, bounds) = (Problem { graph, objective }, self.targets.load_bounds());
        candidates.iter_mut().for_each(|candidate| fill::fill_empty(level, candidate, bounds));
        candidates.into_iter().min_by_key(|candidate| candidate.score(bounds)).expect("there is one")
    }

    /// The label of each block of a partition such that most weight stays in place; labels change within a tree. O(n + k²)
    /// besides the assignment, for at most [`MOST_RELABELLED`] blocks, which [`check`](Self::check) has made sure of.
    pub fn labels(&self, partition: &Partition, tree: &BlockTree) -> Vec<BlockId> {
        let num_blocks = self.targets.num_blocks();
        let mut overlaps = vec![0; num_blocks * num_blocks];
        for (node, (&block, &weight)) in
            self.graph.nodes().zip(partition.blocks().iter().zip(self.graph.node_weights()))
        {
            if let Some(home) = self.homes.of(node) {
                overlaps[block as usize * num_blocks + home as usize] += weight;
            }
        }
        let (weights, bounds) = (partition.block_weights(), self.targets.load_bounds());
        let own: Vec<BlockId> = (0..num_blocks as BlockId).collect();
        let Some(fixed) = self.targets.fixed() else {
            return Relabelling { tree, overlaps, weights, bounds, observer: self.observer }.best();
        };
        // A block with fixed vertices is worth more under its own label than all that could stay elsewhere.
        let most = self.graph.total_node_weight().saturating_add(1);
        if most.checked_mul(num_blocks as Weight + 1).is_none() {
            return own;
        }
        for (_, block) in fixed.iter() {
            overlaps[block as usize * num_blocks + block as usize] = most;
        }
        let labels = Relabelling { tree, overlaps, weights, bounds, observer: self.observer }.best();
        if fixed.iter().all(|(_, block)| labels[block as usize] == block) { labels } else { own }
    }
}

/// The candidates among which the best partition is chosen.
struct Search<'a, W> {
    remap: &'a Remap<'a>,
    graph: &'a CompactGraph<'a, W>,
    /// For the way from the whole graph to a coarse one and back.
    settings: PartitionConfig,
    /// For the partition of the coarse graph.
    coarsest: PartitionConfig,
}

impl<W: Stored> Search<'_, W> {
    /// The best partition, along the parts of the machine if it has several levels.
    fn best<O: Objective>(&self, objective: &Migrating<O>) -> Assignment {
        let Remap { targets, along, seed, observer, .. } = *self.remap;
        let Some(along) = along else { return self.all_at_once(objective) };
        let (sizes, bounds) = (targets.block_sizes(), targets.load_bounds());
        let blocks = along.run(Problem { graph: self.graph, objective }, sizes, bounds, seed, observer);
        self.refined(objective, self.assignment(objective, blocks), 1)
    }

    /// The best partition into all blocks at once.
    fn all_at_once<O: Objective>(&self, objective: &Migrating<O>) -> Assignment {
        self.with_task(objective, |task| Pool::new(task, self.remap.seed).best())
    }

    /// A partition refined on all levels. `stream` numbers the random streams.
    fn refined<O: Objective>(&self, objective: &Migrating<O>, start: Assignment, stream: u64) -> Assignment {
        let rng = &mut Rng::new(derive(self.remap.seed, u64::MAX - stream));
        self.with_task(objective, |task| Multilevel::new(task).run(Some((&start.blocks.clone(), start)), rng))
    }

    /// Every vertex at home, fixed ones where they must be, if all homes still exist.
    fn at_home<O: Objective>(&self, objective: &Migrating<O>) -> Option<Assignment> {
        let homes = objective.homes()?;
        let all_stay = homes.iter().all(|&home| (home as usize) < self.remap.homes.num_blocks);
        all_stay.then(|| self.assignment(objective, homes.to_vec()))
    }

    fn assignment<O: Objective>(&self, objective: &Migrating<O>, blocks: Vec<BlockId>) -> Assignment {
        Assignment::new(Problem { graph: self.graph, objective }, blocks, self.remap.targets.num_blocks())
    }

    fn with_task<O: Objective>(
        &self,
        objective: &Migrating<O>,
        run: impl FnOnce(Task<'_, W, Migrating<O>>) -> Assignment,
    ) -> Assignment {
        let Remap { targets, observer, .. } = *self.remap;
        let first = &BestOfPool { first: &OlderPartition, settings: &self.coarsest };
        let level = Problem { graph: self.graph, objective };
        run(Task {
            level,
            targets,
            first,
            flow_levels: FlowLevels::Finest,
            settings: &self.settings,
            observer,
        })
    }
}
