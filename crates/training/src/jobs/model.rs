//! The model that is trained, and how.

use super::error::TrainingError;
use viem::base::settings::{ConfigError, check, named};

named! {
    /// The data that the ranks of a data-parallel group share instead of each having a copy (ZeRO).
    pub enum Sharding: "sharding" {
        /// Nothing: gradients are summed by an all-reduce.
        None = "none",
        /// The states of the optimiser (ZeRO-1, Megatron's distributed optimiser).
        Optimizer = "optimizer",
        /// The gradients, too (ZeRO-2).
        Gradients = "gradients",
        /// The parameters, too (ZeRO-3, FSDP).
        Full = "full",
    }
}

named! {
    /// The algorithm of an all-reduce of gradients.
    pub enum GradientReduction: "reduction" {
        /// Around a ring in the order of the ranks.
        Ring = "ring",
        /// Up and down the double binary tree of NCCL, over the ranks of the group: exact where these are on different nodes.
        Tree = "tree",
    }
}

named! {
    /// The exchange of keys and values between ranks that share a sequence.
    pub enum ContextExchange: "exchange" {
        /// From rank to rank around a ring.
        PointToPoint = "p2p",
        /// All to each rank, by an all-gather.
        AllGather = "allgather",
        /// By all-to-alls, after which each rank has some heads of the whole sequence.
        AllToAll = "a2a",
    }
}

named! {
    /// True if the forward pass is repeated in the backward pass.
    pub enum Recomputation: "recomputation" {
        /// Not, or without communication.
        None = "none",
        /// All layers.
        Full = "full",
    }
}

/// A transformer, its batch, and how it is trained. Sizes are numbers of elements unless they say bytes.
///
/// ```
/// use viem_training::jobs::TrainingConfig;
///
/// let mut model = TrainingConfig::new(61, 7168, 4096, 60);
/// (model.experts, model.topk, model.expert_ffn, model.dense_layers) = (256, 8, 2048, 3);
/// model.validate()?;
/// # Ok::<(), viem_training::jobs::TrainingError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TrainingConfig {
    /// Number of layers.
    pub layers: u64,
    /// Length of the vector of a token.
    pub hidden: u64,
    /// Tokens of a sequence.
    pub sequence: u64,
    /// Microbatches of each pipeline in a step.
    pub microbatches: u64,
    /// Sequences of a microbatch.
    pub microbatch: u64,
    /// Length of the keys, and of the values, of a token over all heads; 0 for `hidden`, less with grouped queries.
    pub kv: u64,
    /// Length between the matrices of an MLP; 0 for four times `hidden`.
    pub ffn: u64,
    /// True if MLPs have a gate: three matrices instead of two.
    pub gated: bool,
    /// Number of different tokens; 0 leaves embedding and output layer out.
    pub vocabulary: u64,
    /// True if embedding and output layer share their parameters.
    pub tied: bool,
    /// Experts of a layer; 0 for a model without experts.
    pub experts: u64,
    /// Experts of a token.
    pub topk: u64,
    /// The `ffn` of an expert; 0 for `ffn`.
    pub expert_ffn: u64,
    /// The `ffn` of the expert that all tokens have; 0 for none.
    pub shared_ffn: u64,
    /// Layers without experts, which come first.
    pub dense_layers: u64,
    /// Bytes of an element of activations.
    pub activation_bytes: u64,
    /// Bytes of an element of parameters as they are gathered.
    pub parameter_bytes: u64,
    /// Bytes of an element of gradients as they are reduced.
    pub gradient_bytes: u64,
    /// True if the ranks that share layers share the tokens between these (Megatron's sequence parallelism).
    pub sequence_parallel: bool,
    /// True if the forward pass is repeated.
    pub recompute: Recomputation,
    /// The data that data-parallel ranks share.
    pub sharding: Sharding,
    /// The sum of gradients if nothing is shared.
    pub all_reduce: GradientReduction,
    /// The exchange of keys and values.
    pub context: ContextExchange,
    /// Bytes that a weight of 1 stands for.
    pub unit: u64,
}

/// The greatest size, of all but the number of layers and the bytes of a number.
const MOST: u64 = 1 << 32;

/// Layers at most.
const MOST_LAYERS: u64 = 1 << 16;

/// Bytes of a number at most.
const MOST_BYTES: u64 = 64;

impl TrainingConfig {
    /// A dense model with a batch; all else is as in GPT-3, with half-precision activations and gradients in single precision.
    pub fn new(layers: u64, hidden: u64, sequence: u64, microbatches: u64) -> Self {
        Self {
            layers,
            hidden,
            sequence,
            microbatches,
            microbatch: 1,
            kv: 0,
            ffn: 0,
            gated: false,
            vocabulary: 0,
            tied: false,
            experts: 0,
            topk: 1,
            expert_ffn: 0,
            shared_ffn: 0,
            dense_layers: 0,
            activation_bytes: 2,
            parameter_bytes: 2,
            gradient_bytes: 4,
            sequence_parallel: true,
            recompute: Recomputation::None,
            sharding: Sharding::Optimizer,
            all_reduce: GradientReduction::Ring,
            context: ContextExchange::PointToPoint,
            unit: 1,
        }
    }

    /// Fails if a size is out of its range, or sizes do not fit together.
    pub fn validate(&self) -> Result<(), TrainingError> {
        self.check_ranges()?;
        let mismatch = |what| Err(TrainingError::Mismatch { what });
        if self.experts > 0 && self.topk > self.experts {
            return mismatch("a token has more experts (topk) than a layer has (experts)");
        }
        if self.experts == 0 && (self.topk > 1 || self.expert_ffn + self.shared_ffn + self.dense_layers > 0) {
            return mismatch("topk, expert_ffn, shared_ffn and dense_layers are for models with experts");
        }
        if self.dense_layers > self.layers {
            return mismatch("there are more layers without experts (dense_layers) than layers");
        }
        if self.tied && self.vocabulary == 0 {
            return mismatch("tied embeddings need a vocabulary");
        }
        if self.all_reduce == GradientReduction::Tree && self.sharding != Sharding::None {
            return mismatch(
                "sharding replaces the all-reduce, which alone runs along trees (all_reduce=tree)",
            );
        }
        Ok(())
    }

    fn check_ranges(&self) -> Result<(), ConfigError> {
        let positive = [
            ("hidden", self.hidden),
            ("sequence", self.sequence),
            ("microbatches", self.microbatches),
            ("microbatch", self.microbatch),
            ("topk", self.topk),
            ("unit", self.unit),
        ];
        for (field, size) in positive {
            check(field, size, (1..=MOST).contains(&size), "from 1 to 2^32")?;
        }
        let bytes = [
            ("activation_bytes", self.activation_bytes),
            ("parameter_bytes", self.parameter_bytes),
            ("gradient_bytes", self.gradient_bytes),
        ];
        for (field, size) in bytes {
            check(field, size, (1..=MOST_BYTES).contains(&size), "from 1 to 64")?;
        }
        let others = [
            ("kv", self.kv),
            ("ffn", self.ffn),
            ("vocabulary", self.vocabulary),
            ("experts", self.experts),
            ("expert_ffn", self.expert_ffn),
            ("shared_ffn", self.shared_ffn),
            ("dense_layers", self.dense_layers),
        ];
        for (field, size) in others {
            check(field, size, size <= MOST, "at most 2^32")?;
        }
        check("layers", self.layers, (1..=MOST_LAYERS).contains(&self.layers), "from 1 to 2^16")
    }

    /// Length of the keys of a token.
    pub(super) fn kv(&self) -> u64 {
        if self.kv == 0 { self.hidden } else { self.kv }
    }

    /// Parameters of an MLP of this length; 0 for none.
    pub(super) fn mlp(&self, ffn: u64) -> u128 {
        (if self.gated { 3 } else { 2 }) * u128::from(self.hidden) * u128::from(ffn)
    }

    /// The length between the matrices of a dense MLP.
    pub(super) fn ffn(&self) -> u64 {
        if self.ffn == 0 { 4 * self.hidden } else { self.ffn }
    }

    /// The same of an expert.
    pub(super) fn expert_ffn(&self) -> u64 {
        if self.expert_ffn == 0 { self.ffn() } else { self.expert_ffn }
    }

    /// Parameters of the attention of a layer: queries and results, keys and values.
    pub(super) fn attention(&self) -> u128 {
        2 * u128::from(self.hidden) * (u128::from(self.hidden) + u128::from(self.kv()))
    }
}
