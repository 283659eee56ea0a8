//! The numbers of ranks that work in parallel in each way, and their order.

use std::str::FromStr;

use super::error::{MOST_PAIRS, MOST_TRAINING_RANKS, TrainingError};
use viem::base::settings::{check, named};

named! {
    /// A dimension of the grid of ranks.
    pub enum ParallelDimension: "dimension" {
        /// The matrices of a layer are divided.
        Tensor = "tp",
        /// The sequence is divided.
        Context = "cp",
        /// The experts of a layer are divided.
        Expert = "ep",
        /// The batch is divided.
        Data = "dp",
        /// The layers are divided.
        Pipeline = "pp",
    }
}

/// Depths of pipelines that are distinguished at most.
const MOST_DEPTHS: usize = 64;

/// Pipelines of the same depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Pipelines {
    /// Number of stages, at least 1.
    pub depth: u32,
    /// Number of such pipelines, at least 1.
    pub count: u32,
}

impl Pipelines {
    /// A number of pipelines of `depth` stages.
    pub const fn new(depth: u32, count: u32) -> Self {
        Self { depth, count }
    }
}

/// The numbers of ranks that work in parallel in each way, and their order.
///
/// A job has `tp · cp · pp · dp` ranks. They are numbered as Megatron-Core does it: the first dimension of the
/// [`order`](Self::order) varies fastest. Experts do not add ranks. Those of a stage form a second grid of
/// `etp · ep · edp`, numbered by the same order with `etp` in the place of `tp`, and `edp` is what remains.
///
/// Elastic jobs have pipelines of several depths, each `tp · cp` wide. Then a place whose pipeline has no such
/// stage has no rank, and the ranks are numbered without gaps. Experts stay within pipelines of one depth.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ParallelConfig {
    /// `tp`: ranks that share each layer.
    pub tensor: u32,
    /// `cp`: ranks that share each sequence.
    pub context: u32,
    /// `ep`: ranks that share the experts of a layer.
    pub expert: u32,
    /// `etp`: ranks that share each expert; `tp` if it is not given.
    pub expert_tensor: Option<u32>,
    /// `vpp`: chunks of layers on each rank, more than 1 in interleaved schedules.
    pub chunks: u32,
    /// `pp` and `dp`: the pipelines, and the replicas of the model that they are.
    pub pipelines: Vec<Pipelines>,
    /// The dimensions from the innermost to the outermost.
    pub order: [ParallelDimension; 5],
}

impl Default for ParallelConfig {
    /// One rank, in Megatron-Core's default order.
    fn default() -> Self {
        Self {
            tensor: 1,
            context: 1,
            expert: 1,
            expert_tensor: None,
            chunks: 1,
            pipelines: vec![Pipelines::new(1, 1)],
            order: ParallelDimension::ALL,
        }
    }
}

/// The reason why a part of a text is none.
fn fault(text: &str, reason: impl Into<String>) -> TrainingError {
    TrainingError::Parallel { text: text.to_owned(), reason: reason.into() }
}

fn number(text: &str) -> Result<u32, TrainingError> {
    let number = text.parse().ok().filter(|&number| (1..=MOST_TRAINING_RANKS).contains(&u64::from(number)));
    number.ok_or_else(|| fault(text, format!("this is no number from 1 to {MOST_TRAINING_RANKS}")))
}

/// Pipelines as text: `4`, or `4*12+3*4` for 12 of four stages and 4 of three.
fn pipelines(text: &str) -> Result<Vec<Pipelines>, TrainingError> {
    let one = |term: &str| match term.split_once('*') {
        Some((depth, count)) => Ok(Pipelines::new(number(depth)?, number(count)?)),
        None => Ok(Pipelines::new(number(term)?, 1)),
    };
    text.split('+').map(one).collect()
}

impl ParallelConfig {
    /// Parses sizes: `tp:8,cp:2,ep:8,pp:4,dp:16`, and `etp` and `vpp`. Those that are left out are 1. Pipelines of several
    /// depths are written `pp:4*12+3*4`; then `dp` is their number.
    pub fn parse(text: &str) -> Result<Self, TrainingError> {
        let mut config = Self::default();
        let (mut depths, mut replicas, mut seen) = (None, None, Vec::new());
        for entry in text.split(',') {
            let (name, size) = entry.split_once(':').ok_or_else(|| fault(entry, "a size follows a colon"))?;
            if seen.contains(&name) {
                return Err(fault(entry, format!("{name} is given twice")));
            }
            seen.push(name);
            match name {
                "tp" => config.tensor = number(size)?,
                "cp" => config.context = number(size)?,
                "ep" => config.expert = number(size)?,
                "etp" => config.expert_tensor = Some(number(size)?),
                "vpp" => config.chunks = number(size)?,
                "dp" => replicas = Some(number(size)?),
                "pp" => depths = Some((size, pipelines(size)?)),
                _ => return Err(fault(name, "the sizes are tp, cp, ep, etp, dp, pp and vpp")),
            }
        }
        let (written, depths) = depths.unwrap_or(("1", vec![Pipelines::new(1, 1)]));
        config.pipelines = if written.contains(['*', '+']) {
            depths
        } else {
            vec![Pipelines::new(depths[0].depth, replicas.unwrap_or(1))]
        };
        match replicas {
            Some(count) if u64::from(count) != config.replicas() => {
                Err(fault(written, format!("these are {} pipelines, but dp is {count}", config.replicas())))
            }
            _ => Ok(config),
        }
    }

    /// The same with another order: `tp,cp,ep,dp,pp`, with commas or hyphens. Each dimension occurs once.
    pub fn with_order(self, text: &str) -> Result<Self, TrainingError> {
        let fault = |reason| TrainingError::Order { text: text.to_owned(), reason };
        let order: Vec<ParallelDimension> =
            text.split([',', '-']).map(ParallelDimension::from_str).collect::<Result<_, _>>()?;
        if (1..order.len()).any(|place| order[..place].contains(&order[place])) {
            return Err(fault("a dimension occurs twice"));
        }
        let order = order.try_into().map_err(|_| fault("a dimension is missing"))?;
        Ok(Self { order, ..self })
    }

    /// Number of replicas of the model.
    pub fn replicas(&self) -> u64 {
        self.pipelines.iter().map(|pipelines| u64::from(pipelines.count)).sum()
    }

    /// Number of ranks.
    pub fn num_ranks(&self) -> u64 {
        let stages = |pipelines: &Pipelines| u64::from(pipelines.depth) * u64::from(pipelines.count);
        self.width().saturating_mul(self.pipelines.iter().map(stages).sum())
    }

    /// Ranks of a stage of a pipeline.
    pub(super) fn width(&self) -> u64 {
        u64::from(self.tensor) * u64::from(self.context)
    }

    /// Ranks that share an expert.
    pub(super) fn expert_tensor(&self) -> u32 {
        self.expert_tensor.unwrap_or(self.tensor)
    }

    /// The stages of the deepest pipeline.
    pub(super) fn depth(&self) -> u32 {
        self.pipelines.iter().map(|pipelines| pipelines.depth).max().unwrap_or(1)
    }

    /// Fails if a size is out of its range, there are too many ranks, or those of a stage cannot share the experts.
    pub fn validate(&self) -> Result<(), TrainingError> {
        let sizes = [
            ("tensor", self.tensor),
            ("context", self.context),
            ("expert", self.expert),
            ("expert_tensor", self.expert_tensor()),
            ("chunks", self.chunks),
        ];
        let of_pipelines = |pipelines: &Pipelines| [("depth", pipelines.depth), ("count", pipelines.count)];
        for (field, size) in sizes.into_iter().chain(self.pipelines.iter().flat_map(of_pipelines)) {
            let is_in_range = (1..=MOST_TRAINING_RANKS).contains(&u64::from(size));
            check(field, size, is_in_range, "from 1 to 2^20")?;
        }
        let depths = self.pipelines.len();
        check("pipelines", depths, (1..=MOST_DEPTHS).contains(&depths), "a list of 1 to 64 depths")?;
        let is_order = ParallelDimension::ALL.iter().all(|dimension| self.order.contains(dimension));
        check("order", "incomplete", is_order, "a list with each dimension once")?;
        let places = self.width().saturating_mul(self.replicas()).saturating_mul(self.depth().into());
        if places > MOST_TRAINING_RANKS {
            return Err(TrainingError::TooManyRanks { ranks: places });
        }
        self.check_experts()
    }

    fn check_experts(&self) -> Result<(), TrainingError> {
        if self.expert == 1 && self.expert_tensor.is_none() {
            return Ok(());
        }
        let experts = u64::from(self.expert) * u64::from(self.expert_tensor());
        for &Pipelines { depth, count } in &self.pipelines {
            let ranks = self.width() * u64::from(count);
            if !ranks.is_multiple_of(experts) {
                return Err(TrainingError::Experts { depth, ranks, experts });
            }
        }
        let pairs = self.num_ranks() * u64::from(self.expert - 1) / 2;
        if pairs > MOST_PAIRS {
            return Err(TrainingError::TooManyPairs { pairs });
        }
        Ok(())
    }
}
