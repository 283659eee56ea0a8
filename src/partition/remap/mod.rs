//! Partitions that resume older ones: few edges between blocks, and few vertices that change place.
//!
//! *Problem.* Speeds, weights or the graph have changed, blocks have left or joined. Among the partitions that meet the new
//! bounds, find one of small `objective + X · migration`: the objective is the cut or J, migration the weight of the
//! vertices whose block is not their home.
//!
//! *Algorithm.* The multilevel scheme with migration as part of the objective (`migrating`): only vertices of the same
//! home are contracted, the coarsest graph begins where it was (`start`), and every refiner weighs edges against
//! migration on every level. With X = 0, a partition from scratch gets the labels that keep most where it was
//! (`relabel`, `matching`).
//!
//! On a machine of several levels, the graph is divided along its parts first, from where it was, and then refined by J: what
//! crosses the outermost parts costs most, and searches that see all PEs at once hardly move it.
//!
//! On the way from the coarse graph back, flows refine the finest level only. Where all bounds hold, the result is not worse than
//! if all stayed.
//!
//! Time and memory as for partitions, less the initial ones; 12 bytes a vertex more. Where X is large, the search runs three times:
//! with X, with less, and on from there; on a machine of several levels, also with X and all PEs at once.
//!
//! A partition of the coarse graph from scratch as a further candidate was better only where X was so small that hardly anything
//! stayed, and took a third of the time.
//!
//! Schloegel, Karypis, Kumar: A unified algorithm for load-balancing adaptive scientific simulations. SC 2000 (one objective
//! of both, candidates by diffusion and from scratch). Here, migration is what refinement minimises on all levels, and blocks
//! hand on along cheapest paths instead of by diffusion.

mod curve;
mod homes;
mod matching;
mod migrating;
mod relabel;
pub(super) mod start;
mod weight;

pub use curve::{CurvePoint, curve};
pub use homes::{Homes, HomesError, Migration};
pub use matching::cheapest_assignment;
pub use weight::{MigrationWeight, MigrationWeightError};

pub(super) use migrating::Migrating;
use relabel::Relabelling;

use super::assignment::{Assignment, Level};
use super::compact::{self, CompactGraph, Stored};
use super::objective::{Cut, Objective};
use super::scheme::multilevel::{First, Multilevel, Task};
use super::scheme::multisection::{BlockTree, Multisection};
use super::scheme::pool::Pool;
use super::settings::{FlowSettings, InitialSettings, PoolSettings, Settings};
use super::targets::Targets;
use crate::graph::CsrGraph;
use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::observer::Observer;
use crate::ground::rng::{Rng, derive};
use crate::ground::types::{BlockId, Weight};
use crate::partition::{Partition, Partitioner, renamed};

/// The most blocks that get new labels, which takes cubic time and quadratic memory.
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

/// A partition that resumes another one.
#[derive(Clone, Debug)]
pub struct Remapped {
    /// Blocks, their weights, the cut.
    pub partition: Partition,
    /// What changes place.
    pub migration: Migration,
}

impl Partitioner {
    /// Partitions a graph anew, from where its vertices are: a small sum of the cut and `weight` times the weight of the vertices that
    /// change place. With a weight of 0, the partition is that from scratch, with the labels that keep most in its place.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::{Homes, Partitioner, Preset, Targets};
    ///
    /// let mesh = generate::mesh(40, 30, 1);
    /// let partitioner = Partitioner::new(Preset::Eco, 0);
    /// let old = partitioner.partition(&mesh, &Targets::equal(&mesh, 6, 0.03)?).into_blocks();
    /// // Block 2 leaves.
    /// let homes = Homes::new(&old, &[2], 5)?;
    /// let remapped = partitioner.remap(&mesh, &Targets::equal(&mesh, 5, 0.03)?, &homes, "0.5".parse()?, &())?;
    /// assert!(remapped.migration.vertices < 1200 / 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remap(
        &self,
        graph: &CsrGraph,
        targets: &Targets,
        homes: &Homes,
        weight: MigrationWeight,
        observer: &dyn Observer,
    ) -> Result<Remapped, RemapError> {
        if let Some((open, numbers)) = targets.open() {
            homes.check(graph.num_nodes(), targets.num_blocks())?;
            let remapped = self.remap(graph, &open, &homes.without_others(&numbers), weight, observer)?;
            let blocks = renamed(remapped.partition.blocks(), &numbers);
            let migration = homes.migration(graph, &blocks);
            return Ok(Remapped { partition: Partition::of(graph, blocks, targets), migration });
        }
        let settings = if targets.are_exact() { &self.exact } else { &self.settings };
        let remap = Remap { graph, targets, homes, weight, settings, along: None, seed: self.seed, observer };
        let partition = if weight == MigrationWeight::ZERO {
            remap.check(1, 1)?;
            let scratch = self.partition_watched(graph, targets, observer);
            let tree = BlockTree::new(targets.num_blocks(), |_| Vec::new());
            let labels = remap.labels(&scratch, &tree);
            Partition::of(graph, renamed(scratch.blocks(), &labels), targets)
        } else {
            Partition::of(graph, remap.run(Cut, (1, 1))?.blocks, targets)
        };
        let migration = homes.migration(graph, partition.blocks());
        Ok(Remapped { partition, migration })
    }
}

/// What is remapped, and how.
pub(super) struct Remap<'a> {
    pub graph: &'a CsrGraph,
    pub targets: &'a Targets,
    pub homes: &'a Homes,
    pub weight: MigrationWeight,
    pub settings: &'a Settings,
    /// A tree of blocks along which the graph is divided first, if there is one.
    pub along: Option<Multisection<'a>>,
    pub seed: u64,
    pub observer: &'a dyn Observer,
}

impl Remap<'_> {
    /// Checks that homes are those of the graph and that all sums fit: the objective sums up edges times `greatest`, and counts
    /// `times` in what is asked for.
    pub fn check(&self, times: Weight, greatest: Weight) -> Result<(), RemapError> {
        let num_blocks = self.targets.num_blocks();
        self.homes.check(self.graph.num_nodes(), num_blocks)?;
        if self.weight == MigrationWeight::ZERO {
            // Only labels are changed, which sums up nothing but the weights of vertices.
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

    /// A partition of small objective and migration. The objective counts `times` in what is asked for, and no edge of weight 1
    /// costs more than `greatest`.
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
        Ok(if compact::is_narrow(self.graph) {
            self.on(&CompactGraph::<i32>::new(self.graph), &objective)
        } else {
            self.on(&CompactGraph::<i64>::new(self.graph), &objective)
        })
    }

    fn on<W: Stored, O: Objective>(&self, graph: &CompactGraph<W>, objective: &Migrating<O>) -> Assignment {
        let (whole, coarsest) = (self.settings.resuming(), self.settings.resuming_coarsest());
        let Remap { targets, observer, seed, .. } = *self;
        let task = |objective| {
            let (level, first) =
                (Level { graph, objective }, First::PoolOfHomes { settings: &coarsest, flows_on_all: false });
            Task { level, targets, first, settings: &whole, observer }
        };
        let flat = |objective| Pool::new(task(objective), seed).best();
        let scored = |objective, blocks: Vec<BlockId>| {
            Assignment::new(task(objective).level, blocks, targets.num_blocks())
        };
        let refined = |objective, start: Assignment, place| {
            let rng = &mut Rng::new(derive(seed, u64::MAX - place));
            Multilevel::new(task(objective)).run(Some((&start.blocks.clone(), start)), rng)
        };
        let best = |objective| match self.along {
            Some(along) => {
                let (sizes, bounds) = (targets.block_sizes(), targets.bounds());
                let blocks = along.run(task(objective).level, sizes, bounds, seed, observer);
                refined(objective, scored(objective, blocks), 1)
            }
            None => flat(objective),
        };
        let first = best(objective);
        let at_home = self.at_home(task(objective).level);
        let most = objective.cost_of_edges(graph, &first.blocks).saturating_mul(MOST_PENALTIES);
        let mut all = vec![first];
        all.extend(at_home);
        if let Some(softer) = objective.softened(most) {
            let soft = scored(objective, best(&softer).blocks);
            all.extend([refined(objective, soft.clone(), 0), soft]);
            all.extend(self.along.map(|_| flat(objective)));
        }
        all.into_iter().min_by_key(|assignment| assignment.score(targets.bounds())).expect("there is one")
    }

    /// Every vertex where it was, if that can be.
    fn at_home<W: Stored, O: Objective>(&self, level: Level<'_, W, O>) -> Option<Assignment> {
        let num_blocks = self.targets.num_blocks();
        let homes = &self.homes.homes;
        let is_one = homes.iter().all(|&home| (home as usize) < num_blocks);
        is_one.then(|| Assignment::new(level, homes.clone(), num_blocks))
    }

    /// The label of each block of a partition such that most stays in its place; labels can change inside of a tree. O(n + k²), so
    /// there are [`MOST_RELABELLED`] blocks at most, which [`check`](Self::check) has made sure of.
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
        let (weights, bounds) = (partition.block_weights(), self.targets.bounds());
        Relabelling { tree, overlaps, weights, bounds, observer: self.observer }.best()
    }
}

/// If all penalties together are more than this many times what the edges cost, they are first searched with as much only.
/// Balances migration against borders that no single move mends: where penalties are higher, hardly less migrates, but the cut rises by
/// up to a quarter. Tuned on the mesh of 3072 vertices, 16 blocks, by `generate_model --curve`.
const MOST_PENALTIES: Weight = 8;

/// Vertices a block on the graph on which a partition is resumed. Balances smooth borders, as large pieces change place, against
/// migration. Tuned on the meshes of `cargo bench --bench change`, 64 blocks, from 3 to 100.
const RESUMED_PER_BLOCK: usize = 8;

/// The share of the hops of flows from borders on the whole graph, as a fraction: most borders are good already, as they were in
/// the partition that is resumed. Balances cut against time, of which flows take the most. Tuned on the meshes of
/// `cargo bench --bench change`, generated ones and random geometric graphs, from 2 to 5 hops.
const RESUMED_DEPTH: (u32, u32) = (3, 5);

impl Settings {
    /// The same for the way from the whole graph to a coarse one and back: once.
    pub(super) fn resuming(&self) -> Self {
        let pool = PoolSettings { members: 1, cycles: 0, generations: 0, tiny_nodes: 0, ..self.pool };
        let (part, whole) = RESUMED_DEPTH;
        let flow =
            FlowSettings { depth: self.flow.depth.saturating_mul(part).div_ceil(whole), ..self.flow.clone() };
        Self { pool, flow, ..self.clone() }
    }

    /// The same for a partition of the coarse graph that resumes another. A V-cycle costs little there.
    pub(super) fn resuming_coarsest(&self) -> Self {
        let initial = InitialSettings { coarsest: 0, coarsest_per_block: RESUMED_PER_BLOCK, bisections: 0 };
        let pool = PoolSettings { cycles: self.pool.cycles.max(1), ..self.pool };
        Self { initial, pool, ..self.clone() }
    }
}
