//! Models of computation and communication: the communication graph that results if each process gets one
//! block of an application graph.
//!
//! The graph is partitioned. Every block becomes a process, and the communication volume of two processes is
//! the total weight of the edges between their blocks.

use crate::graph::{CsrGraph, quotient};
use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::observer::Observer;
use crate::ground::threads::{self, ThreadsError};
use crate::ground::types::Weight;
use crate::partition::{Partition, PartitionPreset, Partitioner, Targets, TargetsError};

/// How the graph is partitioned.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelConfig {
    /// Number of blocks, from 1 to the number of vertices.
    pub num_blocks: usize,
    /// The effort of the partition.
    pub preset: PartitionPreset,
    /// How much heavier than the mean a block may be: 0.03 means 3 %.
    pub imbalance: f64,
    /// The least part of the mean that a block gets, from 0 to 1: 0.5 means half. Bounds go before least loads.
    pub least_load: f64,
    /// Seed of the partition.
    pub seed: u64,
    /// Threads to use; the model does not depend on it.
    pub threads: usize,
}

impl ModelConfig {
    /// Blocks of at most 1.03 times the mean weight, with seed 0 and one thread.
    pub fn preset(preset: PartitionPreset, num_blocks: usize) -> Self {
        Self { num_blocks, preset, imbalance: 0.03, least_load: 0.0, seed: 0, threads: 1 }
    }

    /// The same with an imbalance.
    pub fn with_imbalance(self, imbalance: f64) -> Self {
        Self { imbalance, ..self }
    }

    /// The same with a least load.
    pub fn with_least_load(self, least_load: f64) -> Self {
        Self { least_load, ..self }
    }

    /// The same with a seed.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same with a number of threads, at least 1.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Checks the settings; call it before reading a graph.
    pub fn validate(&self) -> Result<(), ModelError> {
        Targets::check(self.num_blocks, self.imbalance)?;
        Ok(Targets::check_least_load(self.least_load)?)
    }

    /// Targets for blocks of equal weight. Fails if there are more blocks than vertices.
    pub fn targets(&self, graph: &CsrGraph) -> Result<Targets, ModelError> {
        check_num_blocks(graph, self.num_blocks)?;
        let least = Targets::least_shares(graph, &vec![1; self.num_blocks], self.least_load)?;
        Ok(Targets::equal(graph, self.num_blocks, self.imbalance)?.with_least_loads(least)?)
    }
}

/// Fails if there are more blocks than vertices.
pub fn check_num_blocks(graph: &CsrGraph, num_blocks: usize) -> Result<(), ModelError> {
    let num_nodes = graph.num_nodes();
    if num_blocks > num_nodes {
        return Err(ModelError::NumBlocks { num_blocks, num_nodes });
    }
    Ok(())
}

/// A model and the partition it comes from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CommunicationModel {
    /// Vertex b stands for block b and has weight 1. The weight of an edge is the total weight of all edges
    /// between the two blocks.
    pub graph: CsrGraph,
    /// The partition of the application graph.
    pub partition: Partition,
    /// The upper bound on the weight of a block. With heavy vertices there may be no partition that satisfies
    /// it; [`Partition::overload`] returns by how much it is exceeded.
    pub bound: Weight,
}

impl CommunicationModel {
    /// The model of a partition into blocks with these targets; O(n + m).
    pub fn of(graph: &CsrGraph, partition: Partition, targets: &Targets) -> Self {
        let num_blocks = targets.num_blocks();
        let bound = targets.bounds().iter().copied().max().unwrap_or(0);
        let graph = quotient::contract(graph, partition.blocks(), num_blocks).with_unit_node_weights();
        Self { graph, partition, bound }
    }

    /// Weight of the heaviest block.
    pub fn heaviest_block(&self) -> Weight {
        self.partition.block_weights().iter().copied().max().unwrap_or(0)
    }
}

/// The reason why a model cannot be generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ModelError {
    #[error("cannot partition {num_nodes} vertices into {num_blocks} blocks; {}", possible(*num_nodes))]
    NumBlocks { num_blocks: usize, num_nodes: usize },
    #[error(transparent)]
    Targets(#[from] TargetsError),
    #[error(transparent)]
    Threads(#[from] ThreadsError),
}

impl HasKind for ModelError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NumBlocks { .. } => ErrorKind::BadData,
            Self::Targets(error) => error.kind(),
            Self::Threads(error) => error.kind(),
        }
    }
}

/// The possible numbers of blocks of a graph with this number of vertices.
fn possible(num_nodes: usize) -> String {
    match num_nodes {
        0 => "give a graph that has vertices".to_owned(),
        _ => format!("ask for 1 to {num_nodes} blocks"),
    }
}

/// Partitions a graph and contracts the blocks. No block is empty. If the vertices are too heavy for the
/// requested balance, [`Partition::overload`] is positive.
pub fn generate(graph: &CsrGraph, config: &ModelConfig) -> Result<CommunicationModel, ModelError> {
    generate_watched(graph, config, &())
}

/// As [`generate`], but stops early once the observer asks for it: block weights are as requested, but the
/// cut may be poor.
pub fn generate_watched(
    graph: &CsrGraph,
    config: &ModelConfig,
    observer: &dyn Observer,
) -> Result<CommunicationModel, ModelError> {
    let ModelConfig { preset, seed, threads, .. } = *config;
    let targets = config.targets(graph)?;
    let partitioner = Partitioner::new(preset, seed);
    let partition = threads::run(threads, || partitioner.partition(graph, &targets, observer))?;
    Ok(CommunicationModel::of(graph, partition, &targets))
}
