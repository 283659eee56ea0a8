//! Graph partitioning: blocks of given sizes with few edges between them.

mod targets;

pub use targets::{Targets, TargetsError};

use crate::graph::CsrGraph;
use crate::types::{BlockId, Cost, Weight};

/// How much time to spend on how good a partition. `social` presets are for graphs with heavy-tailed
/// degrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Preset {
    Fast,
    Eco,
    Strong,
    FastSocial,
    EcoSocial,
    StrongSocial,
}

impl Preset {
    /// Every preset, in the order in which they are listed.
    pub const ALL: [Preset; 6] = [
        Preset::Strong,
        Preset::Eco,
        Preset::Fast,
        Preset::FastSocial,
        Preset::EcoSocial,
        Preset::StrongSocial,
    ];
}

/// A partition of the vertices of a graph into blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    blocks: Vec<BlockId>,
    block_weights: Vec<Weight>,
    cut: Cost,
}

impl Partition {
    /// The block of each vertex, by vertex.
    pub fn blocks(&self) -> &[BlockId] {
        &self.blocks
    }

    /// The sum of the vertex weights of each block, by block.
    pub fn block_weights(&self) -> &[Weight] {
        &self.block_weights
    }

    /// The sum of the weights of the edges between blocks, each edge once.
    pub fn cut(&self) -> Cost {
        self.cut
    }
}

/// A multilevel graph partitioner.
#[derive(Clone, Debug)]
pub struct Partitioner {
    preset: Preset,
    seed: u64,
}

impl Partitioner {
    /// A partitioner with the settings of a preset.
    pub fn new(preset: Preset, seed: u64) -> Self {
        Self { preset, seed }
    }

    /// Partitions a graph into `targets.num_blocks()` blocks.
    pub fn partition(&self, graph: &CsrGraph, targets: &Targets) -> Partition {
        let _ = (graph, targets, self.preset, self.seed);
        todo!("owned by the partition work")
    }
}
