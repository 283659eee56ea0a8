//! The collectives of a step, and how long each is.

use std::collections::BTreeMap;

use super::error::{MOST_PAIRS, TrainingError};
use super::exchange::{Exchanges, TrafficClass};
use super::layout::{Layout, RankPlace};
use super::model::{ContextExchange, GradientReduction, Recomputation, Sharding, TrainingConfig};
use super::parallel::ParallelConfig;
use viem::base::types::NodeId;

type Result = std::result::Result<(), TrainingError>;

/// Bytes of a number of the cross-entropy, which is in single precision.
const LOGIT_BYTES: u128 = 4;

/// Passes of the cross-entropy: all-reduces of the greatest logit, of the sum, and of the logit that is right.
const LOSS_PASSES: u128 = 3 * 2;

/// The computation of a stage.
#[derive(Clone, Copy, Default)]
struct Stage {
    /// Layers, and those of them with experts.
    layers: u128,
    expert_layers: u128,
}

/// Parameters that are reduced by the same ranks.
#[derive(Clone, Copy, Default)]
struct Parameters {
    dense: u128,
    of_experts: u128,
}

/// All that the traffic of a step follows from.
pub(super) struct Step<'a> {
    parallel: &'a ParallelConfig,
    model: &'a TrainingConfig,
    layout: &'a Layout,
    /// The stages by class of pipelines.
    stages: Vec<Vec<Stage>>,
    /// The number of runs of the forward pass inside layers.
    forward: u128,
    /// Tokens of a microbatch on the ranks that share them.
    tokens: u128,
    /// Bytes of their activations.
    activations: u128,
    microbatches: u128,
}

impl<'a> Step<'a> {
    /// Checks that model and parallelism fit together.
    pub fn new(
        parallel: &'a ParallelConfig,
        model: &'a TrainingConfig,
        layout: &'a Layout,
    ) -> std::result::Result<Self, TrainingError> {
        check(parallel, model, layout)?;
        let tokens = u128::from(model.microbatch) * u128::from(model.sequence);
        let tokens = tokens.div_ceil(parallel.context.into());
        let bytes = u128::from(model.hidden) * u128::from(model.activation_bytes);
        let mut step = Self {
            parallel,
            model,
            layout,
            stages: Vec::new(),
            forward: if model.recompute == Recomputation::Full { 2 } else { 1 },
            tokens,
            activations: tokens.checked_mul(bytes).ok_or(TrainingError::TooMuch)?,
            microbatches: model.microbatches.into(),
        };
        step.stages = (0..parallel.pipelines.len()).map(|class| step.stages_of(class)).collect();
        Ok(step)
    }

    /// The stage of a layer in pipelines of a class. Chunks are as equal as possible, and dealt to the stages in turn.
    fn stage_of(&self, class: usize, layer: u64) -> u32 {
        let depth = u64::from(self.parallel.pipelines[class].depth);
        let chunks = depth * u64::from(self.parallel.chunks);
        // The chunk c has the layers from c · layers / chunks.
        let chunk = ((layer + 1) * chunks - 1) / self.model.layers;
        (chunk % depth) as u32
    }

    fn stages_of(&self, class: usize) -> Vec<Stage> {
        let mut stages = vec![Stage::default(); self.parallel.pipelines[class].depth as usize];
        for layer in 0..self.model.layers {
            let stage = &mut stages[self.stage_of(class, layer) as usize];
            stage.layers += 1;
            stage.expert_layers += u128::from(self.has_experts(layer));
        }
        stages
    }

    fn has_experts(&self, layer: u64) -> bool {
        self.model.experts > 0 && layer >= self.model.dense_layers
    }

    fn stage(&self, place: &RankPlace) -> Stage {
        self.stages[place.class][place.stage as usize]
    }

    fn is_first(&self, place: &RankPlace) -> bool {
        place.stage == 0
    }

    fn is_last(&self, place: &RankPlace) -> bool {
        place.stage + 1 == self.parallel.pipelines[place.class].depth
    }

    /// The place of some ranks that agree in what is asked for.
    fn place(&self, ranks: &[NodeId]) -> &RankPlace {
        &self.layout.places[ranks[0] as usize]
    }

    /// Adds the traffic of all classes.
    pub fn add_to(&self, exchanges: &mut Exchanges) -> Result {
        self.tensor(exchanges)?;
        self.context(exchanges)?;
        if self.model.experts > 0 {
            self.experts(exchanges)?;
        }
        self.pipelines(exchanges)?;
        self.gradients(exchanges)
    }

    fn tensor(&self, exchanges: &mut Exchanges) -> Result {
        let has_vocabulary = self.model.vocabulary > 0;
        let gathered_again = u128::from(self.model.sequence_parallel);
        // Two passes forward and backward.
        let of_block = 2 * self.forward + 2 + gathered_again;
        for ranks in self.layout.groups(|place| Some((place.replica, place.context, place.stage))) {
            let place = self.place(&ranks);
            let Stage { layers, expert_layers } = self.stage(place);
            let without_mlp = if self.model.shared_ffn > 0 { 0 } else { expert_layers };
            let mut passes = (2 * layers - without_mlp) * of_block;
            if has_vocabulary {
                passes += 2 * u128::from(self.is_first(place));
                passes += (2 + gathered_again) * u128::from(self.is_last(place));
            }
            let passes = passes * self.microbatches;
            exchanges.ring(TrafficClass::Tensor, &ranks, self.activations, passes)?;
        }
        if !has_vocabulary {
            return Ok(());
        }
        let last = |place: &RankPlace| self.is_last(place).then_some((place.replica, place.context));
        for ranks in self.layout.groups(last) {
            let passes = LOSS_PASSES * self.microbatches;
            exchanges.ring(TrafficClass::Tensor, &ranks, self.tokens * LOGIT_BYTES, passes)?;
        }
        Ok(())
    }

    fn context(&self, exchanges: &mut Exchanges) -> Result {
        let class = TrafficClass::Context;
        let element = self.tokens * u128::from(self.model.activation_bytes);
        let (shared, all) = (u128::from(self.parallel.tensor), u128::from(self.parallel.context));
        // Keys and values, and with queries and results.
        let pair = 2 * u128::from(self.model.kv());
        let vectors = pair + 2 * u128::from(self.model.hidden);
        for ranks in self.layout.groups(|place| Some((place.replica, place.tensor, place.stage))) {
            let times = self.stage(self.place(&ranks)).layers * self.microbatches;
            let bytes = |factors: [u128; 2]| product(&[element, times, factors[0], factors[1]]);
            match self.model.context {
                ContextExchange::PointToPoint => {
                    let hops = (all - 1) * (self.forward + 2);
                    exchanges.hops(class, &ranks, bytes([pair, hops])?.div_ceil(shared))?;
                }
                ContextExchange::AllGather => {
                    exchanges.ring(class, &ranks, bytes([pair, all])?.div_ceil(shared), self.forward + 2)?;
                }
                ContextExchange::AllToAll => {
                    let bytes = bytes([vectors, self.forward + 1])?;
                    exchanges.all_to_all(class, &ranks, bytes.div_ceil(shared * all))?;
                }
            }
        }
        Ok(())
    }

    fn experts(&self, exchanges: &mut Exchanges) -> Result {
        // With sequence parallelism, the ranks that share a layer share the tokens.
        let sent = product(&[self.activations, self.model.topk.into()])?;
        let shared = u128::from(self.parallel.tensor);
        let passes = 2 * self.forward + 2;
        let times = |ranks: &[NodeId]| self.stage(self.place(ranks)).expert_layers * self.microbatches;
        let key =
            |place: &RankPlace| Some((place.class, place.stage, place.expert_tensor, place.expert_replica));
        for ranks in self.layout.groups(key) {
            let bytes = product(&[sent, passes, times(&ranks)])?;
            let bytes = bytes.div_ceil(shared * u128::from(self.parallel.expert));
            exchanges.all_to_all(TrafficClass::Expert, &ranks, bytes)?;
        }
        let gathered = product(&[sent, self.parallel.expert_tensor().into()])?.div_ceil(shared);
        let key = |place: &RankPlace| Some((place.class, place.stage, place.expert, place.expert_replica));
        for ranks in self.layout.groups(key) {
            exchanges.ring(TrafficClass::ExpertTensor, &ranks, gathered, passes * times(&ranks))?;
        }
        Ok(())
    }

    fn pipelines(&self, exchanges: &mut Exchanges) -> Result {
        let shared = if self.model.sequence_parallel { self.parallel.tensor } else { 1 };
        let chunks = u128::from(self.parallel.chunks);
        let both = product(&[2, self.activations.div_ceil(shared.into()), self.microbatches])?;
        let (forth, back) = (product(&[both, chunks])?, product(&[both, chunks - 1])?);
        let embedding = u128::from(self.model.vocabulary) * u128::from(self.model.hidden);
        let embedding = embedding.div_ceil(self.parallel.tensor.into());
        for ranks in self.layout.groups(|place| Some((place.replica, place.context, place.tensor))) {
            let (first, last) = (ranks[0], ranks[ranks.len() - 1]);
            let next = ranks.windows(2).map(|pair| (pair[0], pair[1], forth));
            exchanges.mutual(TrafficClass::Pipeline, ranks.len(), next.chain([(last, first, back)]))?;
            if self.model.tied && first != last {
                let bytes = embedding * u128::from(self.model.gradient_bytes);
                exchanges.ring(TrafficClass::Embedding, &[first, last], bytes, 2)?;
            }
        }
        Ok(())
    }

    /// Parameters by the stages that hold them, one stage for each class of pipelines.
    fn parameters(&self) -> BTreeMap<Vec<u32>, Parameters> {
        let model = self.model;
        let pipelines = &self.parallel.pipelines;
        let mut parameters: BTreeMap<Vec<u32>, Parameters> = BTreeMap::new();
        for layer in 0..model.layers {
            let stages = (0..pipelines.len()).map(|class| self.stage_of(class, layer)).collect();
            let held = parameters.entry(stages).or_default();
            held.dense += model.attention();
            if self.has_experts(layer) {
                held.dense += model.mlp(model.shared_ffn);
                held.of_experts += u128::from(model.experts) * model.mlp(model.expert_ffn());
            } else {
                held.dense += model.mlp(model.ffn());
            }
        }
        let embedding = u128::from(model.vocabulary) * u128::from(model.hidden);
        let first = vec![0; pipelines.len()];
        let last = pipelines.iter().map(|pipelines| pipelines.depth - 1).collect();
        // Tied parameters are one where both stages are the same.
        let is_one = model.tied && first == last;
        parameters.entry(first).or_default().dense += embedding;
        parameters.entry(last).or_default().dense += if is_one { 0 } else { embedding };
        parameters
    }

    /// The ranks of each stage, by class of pipelines.
    fn ranks_of_stages(&self) -> Vec<Vec<Vec<NodeId>>> {
        let none = |stages: &Vec<Stage>| vec![Vec::new(); stages.len()];
        let mut ranks: Vec<Vec<Vec<NodeId>>> = self.stages.iter().map(none).collect();
        for (rank, place) in (0..).zip(&self.layout.places) {
            ranks[place.class][place.stage as usize].push(rank);
        }
        ranks
    }

    fn gradients(&self, exchanges: &mut Exchanges) -> Result {
        let shared = u128::from(self.parallel.tensor);
        let shared_experts = u128::from(self.parallel.expert) * u128::from(self.parallel.expert_tensor());
        let of_stages = self.ranks_of_stages();
        for (stages, held) in self.parameters() {
            let holders = || {
                let of_class =
                    stages.iter().zip(&of_stages).map(|(&stage, of_class)| &of_class[stage as usize]);
                of_class.flatten().copied()
            };
            for ranks in self.layout.groups_among(holders(), |place| Some(place.tensor)) {
                self.reduce(exchanges, TrafficClass::Data, &ranks, held.dense.div_ceil(shared))?;
            }
            if held.of_experts == 0 {
                continue;
            }
            let parameters = held.of_experts.div_ceil(shared_experts);
            let key = |place: &RankPlace| Some((place.expert, place.expert_tensor));
            for ranks in self.layout.groups_among(holders(), key) {
                self.reduce(exchanges, TrafficClass::ExpertData, &ranks, parameters)?;
            }
        }
        Ok(())
    }

    /// Reduces the gradients of some parameters among the ranks that have them.
    fn reduce(
        &self,
        exchanges: &mut Exchanges,
        class: TrafficClass,
        ranks: &[NodeId],
        parameters: u128,
    ) -> Result {
        let each = self.microbatches;
        let (reductions, gathers) = match self.model.sharding {
            Sharding::None if self.model.all_reduce == GradientReduction::Tree => {
                return exchanges.tree(
                    class,
                    ranks,
                    product(&[parameters, self.model.gradient_bytes.into()])?,
                );
            }
            Sharding::None => (2, 0),
            Sharding::Optimizer => (1, 1),
            Sharding::Gradients => (each, 1),
            Sharding::Full => (each, 2 * each),
        };
        let reduced = product(&[u128::from(self.model.gradient_bytes), reductions])?;
        let gathered = product(&[u128::from(self.model.parameter_bytes), gathers])?;
        exchanges.ring(class, ranks, product(&[parameters, reduced + gathered])?, 1)
    }
}

/// The product, if it is not far too large.
fn product(factors: &[u128]) -> std::result::Result<u128, TrainingError> {
    let product = factors.iter().try_fold(1u128, |product, &factor| product.checked_mul(factor));
    product.ok_or(TrainingError::TooMuch)
}

/// Fails unless model and parallelism fit together.
fn check(parallel: &ParallelConfig, model: &TrainingConfig, layout: &Layout) -> Result {
    let mismatch = |what| Err(TrainingError::Mismatch { what });
    if model.experts == 0 && (parallel.expert > 1 || parallel.expert_tensor.is_some()) {
        return mismatch("ep and etp are for models with experts; this one has none");
    }
    if model.experts > 0 {
        // Where tp is more than 1, etp may have its value without being given.
        let explicit = ParallelConfig { expert_tensor: Some(parallel.expert_tensor()), ..parallel.clone() };
        explicit.validate()?;
        if !model.experts.is_multiple_of(parallel.expert.into()) {
            return mismatch("the number of experts is no multiple of ep");
        }
        if parallel.tensor > 1 && !model.sequence_parallel {
            return mismatch("experts beside tp need sequence parallelism (sequence_parallel=yes)");
        }
    }
    for &pipelines in &parallel.pipelines {
        let chunks = u64::from(pipelines.depth) * u64::from(parallel.chunks);
        if chunks > model.layers {
            return Err(TrainingError::TooFewLayers { layers: model.layers, chunks });
        }
    }
    let others = if model.context == ContextExchange::AllToAll { u64::from(parallel.context) - 1 } else { 0 };
    let pairs = layout.places.len() as u64 * others / 2;
    if pairs > MOST_PAIRS { Err(TrainingError::TooManyPairs { pairs }) } else { Ok(()) }
}
