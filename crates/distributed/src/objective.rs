//! The objective of refinement: the cut, or J of the PEs of a machine, and the cost of migration.

use viem::base::types::{BlockId, Weight};
use viem::machine::{DistanceOracle, Distances, Metric};

use crate::graph::DistGraph;

/// Most blocks whose distances are stored as a table: that of this many takes 4 MB.
const MOST_STORED: usize = 1 << 10;

/// The distances between blocks.
#[derive(Clone, Debug)]
pub struct BlockDistances(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Any two blocks have distance 1.
    Cut,
    Table {
        num_blocks: usize,
        distances: Vec<u32>,
    },
    Computed(Box<Distances>),
}

impl BlockDistances {
    /// Those of the cut.
    pub fn cut() -> Self {
        Self(Kind::Cut)
    }

    /// Those of the PEs of a machine.
    pub fn of(distances: Distances) -> Self {
        let num_blocks = distances.num_pes();
        if num_blocks > MOST_STORED || distances.max_distance() > i64::from(u32::MAX) {
            return Self(Kind::Computed(Box::new(distances)));
        }
        let pes = 0..num_blocks as BlockId;
        let row = |a: BlockId| pes.clone().map(move |b| (a, b));
        let table = pes.clone().flat_map(row).map(|(a, b)| distances.distance(a, b) as u32).collect();
        Self(Kind::Table { num_blocks, distances: table })
    }

    /// The distance of two blocks.
    #[inline]
    pub fn between(&self, a: BlockId, b: BlockId) -> Weight {
        match &self.0 {
            Kind::Cut => Weight::from(a != b),
            Kind::Table { num_blocks, distances } => {
                Weight::from(distances[a as usize * num_blocks + b as usize])
            }
            Kind::Computed(distances) => distances.distance(a, b),
        }
    }

    /// An upper bound on all of them.
    pub fn greatest(&self) -> Weight {
        match &self.0 {
            Kind::Cut => 1,
            Kind::Table { distances, .. } => Weight::from(distances.iter().copied().max().unwrap_or(0)),
            Kind::Computed(distances) => distances.max_distance(),
        }
    }

    /// Returns whether these are those of the cut.
    pub fn is_cut(&self) -> bool {
        matches!(self.0, Kind::Cut)
    }
}

/// The previous and the required block of the local vertices of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The block where each was, or [`Places::NONE`]; nothing if none was anywhere.
    pub homes: Option<Vec<BlockId>>,
    /// The block where each must be, or [`Places::NONE`] if it is free; nothing if all are.
    pub fixed: Option<Vec<BlockId>>,
    /// The amount that migrates with each own vertex; `None` if that is its weight.
    pub sizes: Option<Vec<Weight>>,
}

impl Places {
    /// No block.
    pub const NONE: BlockId = PreviousAssignment::NONE;

    /// Returns whether a vertex must be in its block.
    pub fn is_fixed(&self, local: usize) -> bool {
        self.fixed.as_ref().is_some_and(|fixed| fixed[local] != Self::NONE)
    }
}

/// The previous blocks of the local vertices, and the price of leaving them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousAssignment {
    /// The block of each local vertex; [`PreviousAssignment::NONE`] if it is new, or its block no longer exists.
    pub blocks: Vec<BlockId>,
    /// The price of moving a vertex of size 1, in the unit in which an edge of weight 1 between blocks of distance 1 costs `scale`.
    pub penalty: Weight,
    /// See `penalty`.
    pub scale: Weight,
    /// The amount that migrates with each own vertex; `None` if that is its weight.
    pub sizes: Option<Vec<Weight>>,
}

impl PreviousAssignment {
    /// No block.
    pub const NONE: BlockId = BlockId::MAX;

    /// The amount that migrates with each own vertex of a graph.
    pub fn sizes<'a>(&'a self, graph: &'a DistGraph) -> &'a [Weight] {
        self.sizes.as_deref().unwrap_or(graph.node_weights())
    }
}
