//! Training jobs: the traffic between the ranks of a model that is trained in parallel in a step.
//!
//! The ranks form a grid of tensor, context, data and pipeline parallelism ([`ParallelConfig`]), and a second one for
//! experts. From that and from the shape of a transformer ([`TrainingConfig`]) the traffic follows, so
//! [`step_traffic`] makes the communication graph of a job before it runs, and [`step_workload`] a workload to simulate.
//!
//! | member | contents |
//! |---|---|
//! | [`ParallelConfig`] | how many ranks of each kind, and in which order they are numbered |
//! | [`TrainingConfig`] | the model, the batch, and how both are trained |
//! | `layout` | the place of each rank in both grids |
//! | `exchange` | rings, trees and all-to-alls as bytes between pairs of ranks |
//! | `step` | which collectives a step has, and how long each is |
//! | `text` | models as text |
//!
//! # The traffic of a step
//!
//! Let `X = microbatch · sequence / cp · hidden · activation_bytes` be the activations of a microbatch, and let a pass of a
//! ring of `g` ranks over `S` bytes send `S (g - 1) / g` bytes from each rank to the next: an all-gather or a
//! reduce-scatter is one pass, an all-reduce two. All microbatches count.
//!
//! | class | ranks | bytes |
//! |---|---|---|
//! | tensor | tp | attention and MLP of a layer each: forward 2 passes over X, backward 2, and 1 more with sequence parallelism, which gathers the input again. The embedding has 2 passes, the output layer 2 or 3, and the cross-entropy 3 all-reduces of a number of 4 bytes per token |
//! | context | cp | `p2p`: keys and values go round the ring, `cp - 1` hops forward, and as many for them and for their gradients backward. `allgather`: one pass over all of them forward; backward one more, and one for the gradients. `a2a`: queries, keys, values and results change ranks, forward and backward |
//! | expert | ep | dispatch and combine, forward and backward: a token's vector to each of its `topk` experts. All experts get equally many |
//! | expert-tensor | etp | the tokens of the experts: a pass before and one after them, forward and backward |
//! | pipeline | pp | X forward and X backward between successive chunks; 1/tp of it with sequence parallelism. With `vpp` chunks per rank the last rank sends to the first, too |
//! | embedding | first and last stage | an all-reduce of the gradient of tied embeddings |
//! | data | dp · cp | `none`: an all-reduce of gradients. `optimizer`: their reduce-scatter and an all-gather of parameters. `gradients`: the former for each microbatch. `full`: for each microbatch, and two all-gathers |
//! | expert-data | the other ranks with the same experts | the same for the parameters of experts |
//!
//! Recomputation repeats the forward pass inside layers. Norms, biases and routers are left out: their parameters are less than a
//! hundredth. Fractions of a byte are rounded up for each pair of ranks.
//!
//! # References
//!
//! - M. Shoeybi et al., *Megatron-LM*, 2019: tensor parallelism. D. Narayanan et al., *Efficient large-scale language
//!   model training on GPU clusters using Megatron-LM*, 2021: pipelines, interleaved ones, tied embeddings.
//! - V. Korthikanti et al., *Reducing activation recomputation in large transformer models*, 2022: sequence parallelism.
//! - H. Liu et al., *Ring attention with blockwise transformers*, 2023: `p2p`. S. A. Jacobs et al., *DeepSpeed Ulysses*, 2023: `a2a`.
//! - S. Rajbhandari et al., *ZeRO*, 2020: sharded optimisers.
//! - D. Liu et al., *MoE parallel folding*, 2025: two grids, in one of which the experts are.
//! - I. Jang et al., *Oobleck*, 2023: pipelines of several depths, and gradients that are reduced layer by layer.
//! - P. Sanders et al., *Two-tree algorithms for full bandwidth broadcast, reduction and scan*, 2009: the trees of NCCL.
//!
//! NCCL's rings follow the ranks of a communicator from node to node; inside a node it may take another order, which
//! does not matter for traffic between nodes.

mod error;
mod exchange;
mod layout;
mod model;
mod parallel;
mod step;
#[cfg(test)]
mod tests;
pub mod text;

pub use error::{MOST_TRAINING_RANKS, TrainingError};
pub use exchange::{ClassTotal, TrafficClass};
pub use model::{ContextExchange, GradientReduction, Recomputation, Sharding, TrainingConfig};
pub use parallel::{ParallelConfig, ParallelDimension, Pipelines};

use exchange::Exchanges;
use layout::Layout;
use viem::graph::CsrGraph;
use viem_workload::Workload;

/// The traffic between the ranks of a job in a step.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StepTraffic {
    /// The ranks, and for each pair what both send each other, in units of [`TrainingConfig::unit`] bytes, rounded up.
    pub graph: CsrGraph,
    /// The totals of each class of traffic; classes without traffic are left out.
    pub classes: Vec<ClassTotal>,
}

impl StepTraffic {
    /// The bytes that all ranks send.
    pub fn bytes(&self) -> u64 {
        self.classes.iter().map(|class| class.bytes).sum()
    }
}

/// The traffic of a step. O((n log n) d + m log m) for n ranks, m pairs of them that send, and pipelines of d depths.
///
/// ```
/// use viem_training::jobs::{ParallelConfig, TrainingConfig, step_traffic};
///
/// let parallel = ParallelConfig::parse("tp:4,pp:2,dp:2")?;
/// let model = TrainingConfig::new(24, 2048, 2048, 8);
/// let traffic = step_traffic(&parallel, &model)?;
/// assert_eq!(traffic.graph.num_nodes(), 16);
/// for class in &traffic.classes {
///     println!("{}: {} bytes", class.class, class.bytes);
/// }
/// # Ok::<(), viem_training::jobs::TrainingError>(())
/// ```
pub fn step_traffic(parallel: &ParallelConfig, model: &TrainingConfig) -> Result<StepTraffic, TrainingError> {
    let (exchanges, num_ranks) = exchanges(parallel, model)?;
    let (graph, classes) = exchanges.graph(num_ranks, model.unit)?;
    Ok(StepTraffic { graph, classes })
}

/// The messages of a step as a workload that can be simulated, with a task for each rank. Each class of traffic is a phase, in which
/// every rank makes all its sends, then receives; all microbatches of a pair of ranks are one message. Classes that
/// are `overlapping` are one phase: all of their messages are sent at once. There is no computation.
///
/// Cost as of [`step_traffic`]. Fails as that does, and if the messages have too many flits of this many bytes.
///
/// ```
/// use viem_training::jobs::{ParallelConfig, TrafficClass, TrainingConfig, step_workload};
///
/// let parallel = ParallelConfig::parse("tp:4,pp:2,dp:2")?;
/// let model = TrainingConfig::new(24, 2048, 2048, 8);
/// // Gradients are reduced while activations are sent to the next stage.
/// let step = step_workload(&parallel, &model, &[TrafficClass::Pipeline, TrafficClass::Data], 4096)?;
/// assert_eq!(step.num_tasks(), 16);
/// # Ok::<(), viem_training::jobs::TrainingError>(())
/// ```
pub fn step_workload(
    parallel: &ParallelConfig,
    model: &TrainingConfig,
    overlapping: &[TrafficClass],
    flit_bytes: u64,
) -> Result<Workload, TrainingError> {
    if flit_bytes == 0 {
        return Err(TrainingError::Mismatch { what: "a flit must have at least one byte" });
    }
    let (exchanges, num_ranks) = exchanges(parallel, model)?;
    exchanges.workload(num_ranks, overlapping, flit_bytes)
}

/// Returns the traffic between the ranks, and their number.
fn exchanges(parallel: &ParallelConfig, model: &TrainingConfig) -> Result<(Exchanges, usize), TrainingError> {
    parallel.validate()?;
    model.validate()?;
    let layout = Layout::new(parallel);
    let mut exchanges = Exchanges::default();
    step::Step::new(parallel, model, &layout)?.add_to(&mut exchanges)?;
    Ok((exchanges, layout.places.len()))
}
