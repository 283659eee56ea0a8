//! Algorithms that divide a graph into parts, and put its vertices in an order.
//!
//! | member | idea | time |
//! |---|---|---|
//! | `multilevel` | coarsen, partition, refine: the [`Partitioner`](super::Partitioner) | as its preset |
//! | `rcb` | recursive coordinate bisection: halve along the longest dimension | O(n log k) |
//! | `zcurve` | ranges of a Z-curve through the points | O(n log n) |
//! | `hilbert` | ranges of a Hilbert curve through the points | O(n log n) |
//! | `rsb` | recursive spectral bisection: halve by the Fiedler vector | O((n + m) log k) with a large constant |
//! | `linear` | ranges of the vertices in the order of their numbers | O(n) |
//!
//! n vertices, m edges, k parts. `rcb`, `zcurve` and `hilbert` need [`Coordinates`](crate::graph::Coordinates) and ignore edges; the others ignore
//! coordinates. All respect vertex weights and the unequal parts of [`Targets`]. All but `multilevel` come as close to the
//! target weights as the order that they cut allows; vertices of weight 1 give exact sizes.
//!
//! A member gives an order of the vertices, of which parts are ranges, or halves sets of vertices recursively (`recursive`),
//! which gives both parts and an order. An order can be kept as an [`OrderIndex`](super::OrderIndex) and cut again in no time.
//!
//! Kaddoura, Ou, Ranka: Mapping unstructured computational graphs for adaptive and nonuniform computational environments. IEEE Parallel
//! and Distributed Technology, 1996 (RCB, RSB, ZCI, HCI with unequal parts; the grouping of speeds; RCBI and RSBI).
//!
//! # Design
//!
//! `partition/orders/` has a file for each. A member gives an order of the vertices, of which parts are ranges, or it halves sets of vertices.
//! What recursive members share (`recursive.rs`: groups of parts, random streams by position, threads), and curves (`curve.rs`: cubes,
//! sorting), is written once.
//!
//! - *A vertex belongs to the side its middle is on* (`index.rs`). Cutting an order puts a vertex before a border if the middle of its weight
//!   is. So borders are as near to their targets as possible, sizes are exact for vertices of weight 1, and no part depends on how another was
//!   rounded.
//! - *Selection instead of sorting* (`rcb.rs`): points move together with their coordinates, so a level of bisections is a few sequential
//!   passes over memory.
//! - *The levels of the partitioner are a multigrid hierarchy* (`orders/spectral/`). The Laplacian of a contracted graph is the Galerkin
//!   product, with the numbers of vertices in clusters as masses. So the same levels give the Fiedler vector a start and LOBPCG its
//!   preconditioner. Sums are sequential, so that bits do not depend on threads.

mod arrangement;
mod curve;
mod grouping;
pub(super) mod index;
mod input;
mod ranges;
mod recursive;
mod spectral;

pub use grouping::Grouping;
pub use input::{PartitionAlgorithmError, PartitionInput};

use index::blocks_along;
use input::Method;

use super::targets::Targets;
use crate::base::settings::members;
use crate::base::types::{BlockId, NodeId};
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::blocks::{Partition, renamed};
use crate::partition::compact::CompactGraph;
use crate::partition::fixed::FixedVertices;
use crate::partition::objective::{Cut, EdgeCost, Migrating};
use crate::partition::refine::{balance, fill};

members! {
    /// How a graph is divided into parts.
    #[derive(Default)]
    pub enum PartitionAlgorithm: "algorithm" {
        /// The multilevel partitioner.
        #[default]
        Multilevel = "multilevel" in mod multilevel;
        /// Recursive coordinate bisection.
        Rcb = "rcb" in mod rcb;
        /// Ranges of a Z-curve.
        ZCurve = "zcurve" in mod zcurve;
        /// Ranges of a Hilbert curve.
        Hilbert = "hilbert" in mod hilbert;
        /// Recursive spectral bisection.
        Rsb = "rsb" in mod rsb;
        /// Ranges of the numbers of the vertices.
        Linear = "linear" in mod linear;
    }

    fn method(self) -> Method = function()
}

impl PartitionAlgorithm {
    /// Divides a graph into parts. Vertices that the targets fix are in their parts: all but the multilevel partitioner
    /// divide the graph without regard to them, and vertices move afterwards until the parts are balanced again. Least loads are met
    /// in the same way, and no part is empty unless there are too few vertices, or a vertex in it would add to the overload. Runs on the threads of the rayon pool it is called in; the result does not depend on them.
    ///
    /// ```
    /// use viem::graph::{Coordinates, generate};
    /// use viem::partition::{PartitionAlgorithm, PartitionInput, Targets};
    ///
    /// let (graph, points) = (generate::grid(8, 8), (0..64).flat_map(|u| [(u % 8) as f64, (u / 8) as f64]));
    /// let points = Coordinates::new(2, points.collect())?;
    /// let input = PartitionInput::new(&graph).with_coordinates(&points);
    /// // The first part gets half of the vertices, the others a quarter each.
    /// let targets = Targets::proportional(&graph, &[2, 1, 1], 0.0)?;
    /// let partition = PartitionAlgorithm::Hilbert.partition(&input, &targets)?;
    /// assert_eq!((partition.block_weights(), partition.cut()), (&[32, 16, 16][..], 12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn partition(
        self,
        input: &PartitionInput<'_>,
        targets: &Targets,
    ) -> Result<Partition, PartitionAlgorithmError> {
        if let Some((open, numbers)) = targets.open() {
            let partition = self.partition(input, &open)?;
            return Ok(Partition::of(input.graph, renamed(partition.blocks(), &numbers), targets));
        }
        let Method { order, parts, .. } = self.method();
        let blocks = match parts {
            Some(parts) => parts(input, targets)?,
            None => blocks_along(&order(input)?, input.graph.node_weights(), targets),
        };
        let partition = match targets.fixed() {
            Some(fixed) => {
                Partition::of(input.graph, balanced_around(input, blocks, targets, fixed), targets)
            }
            None => Partition::of(input.graph, blocks, targets),
        };
        Ok(fill::filled(input.graph, partition, targets, input.observer))
    }

    /// An order of the vertices of which every range has few neighbours outside. Vertex weights do not count.
    pub fn order(self, input: &PartitionInput<'_>) -> Result<Vec<NodeId>, PartitionAlgorithmError> {
        (self.method().order)(input)
    }

    /// Returns whether it divides parts in two recursively, so that a [`Grouping`] matters.
    pub fn is_recursive(self) -> bool {
        self.method().is_recursive
    }

    /// Returns whether it needs [`Coordinates`](crate::graph::Coordinates).
    pub fn needs_coordinates(self) -> bool {
        self.method().needs_coordinates
    }
}

/// A partition with the fixed vertices in their blocks, after which blocks are balanced again at the least loss of cut.
fn balanced_around(
    input: &PartitionInput<'_>,
    mut blocks: Vec<BlockId>,
    targets: &Targets,
    fixed: &FixedVertices,
) -> Vec<BlockId> {
    if fixed.violated_by(&blocks).is_none() {
        return blocks;
    }
    fixed.enforce(&mut blocks);
    let (graph, objective) =
        (CompactGraph::<i64>::new(input.graph), Migrating::fixing(EdgeCost::Cut(Cut), fixed));
    let level = Problem { graph: &graph, objective: &objective };
    let mut assignment = Assignment::new(level, blocks, targets.num_blocks());
    balance::rebalance(level, &mut assignment, targets.bounds(), input.observer);
    assignment.blocks
}
