//! The experts that tokens have chosen.

use std::collections::BTreeMap;

use super::error::{ExpertError, ExpertId, MOST_COPIES, MOST_TOKENS};

/// The sets of experts that the tokens of a layer have chosen, and how many tokens each expert has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerRouting {
    /// Set i has the experts from `offsets[i]` to `offsets[i + 1]`.
    offsets: Vec<usize>,
    experts: Vec<ExpertId>,
    tokens: Vec<u64>,
    loads: Vec<u64>,
}

impl LayerRouting {
    /// The different sets, each in ascending order, and how many tokens have chosen it.
    pub fn sets(&self) -> impl ExactSizeIterator<Item = (&[ExpertId], u64)> {
        (0..self.tokens.len())
            .map(|set| (&self.experts[self.offsets[set]..self.offsets[set + 1]], self.tokens[set]))
    }

    /// Tokens by expert, in units of the [routing](ExpertRouting::load_unit).
    pub fn loads(&self) -> &[u64] {
        &self.loads
    }

    /// Number of tokens.
    pub fn num_tokens(&self) -> u64 {
        self.tokens.iter().sum()
    }
}

/// The experts that tokens have chosen, layer by layer. All layers have the same number of experts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpertRouting {
    num_experts: ExpertId,
    layers: Vec<LayerRouting>,
    decimals: u32,
}

impl ExpertRouting {
    /// Number of experts of a layer.
    pub fn num_experts(&self) -> ExpertId {
        self.num_experts
    }

    /// Number of layers, at least 1.
    pub fn num_layers(&self) -> usize {
        self.layers.len()
    }

    /// A layer, numbered from 0.
    pub fn layer(&self, layer: usize) -> &LayerRouting {
        &self.layers[layer]
    }

    /// All layers.
    pub fn layers(&self) -> &[LayerRouting] {
        &self.layers
    }

    /// The unit of loads, in tokens: 1, or a negative power of ten if they are not whole numbers.
    pub fn load_unit(&self) -> f64 {
        1.0 / 10f64.powi(self.decimals as i32)
    }

    /// Returns whether loads are all that is known: some expert has tokens, but of no token are the experts known.
    pub fn is_of_loads(&self) -> bool {
        let has_loads = |layer: &LayerRouting| layer.loads.iter().any(|&load| load > 0);
        self.layers.iter().all(|layer| layer.tokens.is_empty()) && self.layers.iter().any(has_loads)
    }

    /// Tokens of all layers together.
    pub fn num_tokens(&self) -> u64 {
        self.layers.iter().map(LayerRouting::num_tokens).sum()
    }
}

/// Collects a routing, token by token.
#[derive(Clone, Debug)]
pub struct RoutingBuilder {
    num_experts: ExpertId,
    layers: Vec<Collected>,
    decimals: u32,
}

#[derive(Clone, Debug, Default)]
struct Collected {
    sets: BTreeMap<Box<[ExpertId]>, u64>,
    tokens: u64,
    loads: BTreeMap<ExpertId, u64>,
    total_load: u64,
}

impl RoutingBuilder {
    /// Makes the routing of a model whose layers have this many experts each.
    pub fn new(num_experts: ExpertId) -> Result<Self, ExpertError> {
        if num_experts == 0 || num_experts as usize > MOST_COPIES {
            return Err(ExpertError::NumExperts { experts: num_experts.into() });
        }
        Ok(Self { num_experts, layers: Vec::new(), decimals: 0 })
    }

    /// The same with loads in units of 10^-`decimals` tokens, at most 300; for loads that are no whole numbers.
    pub fn with_decimals(self, decimals: u32) -> Self {
        Self { decimals: decimals.min(300), ..self }
    }

    /// Adds tokens that have chosen these experts, in any order. Sets of no expert change nothing but the number of layers.
    pub fn add(&mut self, layer: usize, experts: &[ExpertId], tokens: u64) -> Result<(), ExpertError> {
        self.add_set(layer, experts, tokens)?;
        experts.iter().try_for_each(|&expert| self.add_load(layer, expert, tokens))
    }

    /// Adds tokens that have chosen these experts without adding to their loads. So sets may be counted of which a token has several,
    /// such as pairs.
    pub fn add_set(&mut self, layer: usize, experts: &[ExpertId], tokens: u64) -> Result<(), ExpertError> {
        let mut set = experts.to_vec();
        set.sort_unstable();
        if let Some(pair) = set.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ExpertError::Twice { expert: pair[0] });
        }
        set.iter().try_for_each(|&expert| self.check(expert))?;
        let collected = self.layer(layer);
        if set.is_empty() || tokens == 0 {
            return Ok(());
        }
        grow(&mut collected.tokens, tokens)?;
        *collected.sets.entry(set.into()).or_default() += tokens;
        Ok(())
    }

    /// Adds tokens to the load of an expert. Where there is nothing else, an [`ExpertRequest`](super::ExpertRequest) makes loads as even as it can.
    pub fn add_load(&mut self, layer: usize, expert: ExpertId, tokens: u64) -> Result<(), ExpertError> {
        self.check(expert)?;
        let collected = self.layer(layer);
        grow(&mut collected.total_load, tokens).map_err(|_| ExpertError::TooMuchLoad)?;
        *collected.loads.entry(expert).or_default() += tokens;
        Ok(())
    }

    /// The routing of all layers up to the last one that was named.
    pub fn build(self) -> Result<ExpertRouting, ExpertError> {
        if self.layers.is_empty() {
            return Err(ExpertError::NoLayers);
        }
        let Self { num_experts, decimals, .. } = self;
        let layers = self.layers.into_iter().map(|layer| layer.finish(num_experts)).collect();
        Ok(ExpertRouting { num_experts, layers, decimals })
    }

    fn check(&self, expert: ExpertId) -> Result<(), ExpertError> {
        if expert < self.num_experts {
            return Ok(());
        }
        Err(ExpertError::NoSuchExpert { expert: expert.into(), experts: self.num_experts })
    }

    fn layer(&mut self, layer: usize) -> &mut Collected {
        if layer >= self.layers.len() {
            self.layers.resize_with(layer + 1, Collected::default);
        }
        &mut self.layers[layer]
    }
}

/// Adds to a sum that stays within the limit on tokens, each of which counts for at most all experts.
fn grow(sum: &mut u64, tokens: u64) -> Result<(), ExpertError> {
    let most = MOST_TOKENS * MOST_COPIES as u64;
    *sum = sum.checked_add(tokens).filter(|&sum| sum <= most).ok_or(ExpertError::TooManyTokens)?;
    Ok(())
}

impl Collected {
    fn finish(self, num_experts: ExpertId) -> LayerRouting {
        let mut offsets = vec![0];
        let (mut experts, mut tokens) = (Vec::new(), Vec::new());
        for (set, count) in &self.sets {
            experts.extend_from_slice(set);
            offsets.push(experts.len());
            tokens.push(*count);
        }
        let loads = (0..num_experts).map(|expert| self.loads.get(&expert).copied().unwrap_or(0)).collect();
        LayerRouting { offsets, experts, tokens, loads }
    }
}
