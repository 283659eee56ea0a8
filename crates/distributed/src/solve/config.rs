//! Settings of a run.

use viem::graph::CsrGraph;
use viem::partition::{PartitionConfig, PartitionPreset, Targets, TargetsError};
use viem::solve::{Balance, Config, MapPreset};

use crate::cluster::ClusterConfig;
use crate::refine::RefineConfig;

/// Settings of a run, the same on all ranks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DistConfig {
    /// The same seed gives the same result.
    pub seed: u64,
    /// Threads of each rank.
    pub threads: usize,
    /// The excess of a block over its share that is allowed: 0.03 means 3 %.
    pub imbalance: f64,
    /// The least part of its share that a block weighs, from 0 to 1: 0.5 means half. Bounds take precedence over least loads.
    pub least_load: f64,
    /// The effort for the coarsest graph.
    pub preset: MapPreset,
    /// The number of divisions of the coarsest graph, on all ranks together.
    pub attempts: usize,
    /// Graphs with at most this many vertices are coarsened no further. Balances quality against the memory and time that a rank needs for the coarsest
    /// graph, which do not shrink with the number of ranks; chosen on the graphs of BENCHMARKS.md, "Distributed graphs", whose commands run that again.
    pub coarsest: usize,
    /// The same for each block.
    pub coarsest_per_block: usize,
    /// Clusters of a level weigh at most this many times the mean weight of its vertices. Balances the number of levels against their quality.
    pub growth: f64,
    /// The settings of clustering.
    pub cluster: ClusterConfig,
    /// The settings of refinement.
    pub refine: RefineConfig,
    /// The settings of the refinement of bands.
    pub band: BandConfig,
    /// The settings of V-cycles: coarsening and refining again.
    pub v_cycles: VCycleConfig,
    /// The settings for graphs with heavy-tailed degrees.
    pub heavy_tailed: HeavyTailedConfig,
}

/// The settings for graphs with heavy-tailed degrees. No bands of them are refined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeavyTailedConfig {
    /// The skew of the degrees from which on a graph is taken for one of these, as in the library for one machine.
    pub least_skew: f64,
    /// One with at most this many vertices and arcs, counted together, is coarsened no further. Balances quality and time against the memory of a
    /// rank that makes an attempt, about 18 bytes for each. Other graphs up to this size are divided as a whole where bounds of several weights are exceeded
    /// otherwise. Chosen on R-MAT graphs of 2^18 to 2^22 vertices (BENCHMARKS.md).
    pub most_whole: u64,
}

impl Default for HeavyTailedConfig {
    fn default() -> Self {
        let least_skew = PartitionConfig::preset(PartitionPreset::Eco).heavy_tailed.least_skew;
        Self { least_skew, most_whole: 50_000_000 }
    }
}

/// The number of times that the graph is coarsened and refined again, from the partition that was found. Balances quality against time: each takes about as long as all
/// before the first. Chosen on the same graphs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VCycleConfig {
    /// Most V-cycles.
    pub most: usize,
    /// One that makes the cost smaller by a smaller part is the last.
    pub least_gain: f64,
}

impl Default for VCycleConfig {
    fn default() -> Self {
        Self { most: 1, least_gain: 0.005 }
    }
}

/// The settings of the refinement around borders by the library for one machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandConfig {
    /// Most steps from a border; 0 refines no band.
    pub steps: usize,
    /// Most vertices of a band: a rank that makes an attempt has all of it. Where there are more, it has fewer steps, or there is none. Balances
    /// quality against the memory of a rank, like [`DistConfig::coarsest`].
    pub most: usize,
    /// The number of refinements of a band from the same start, on all ranks together; the best survives.
    pub attempts: usize,
    /// The number of repetitions around the new borders, as long as it helps.
    pub rounds: usize,
}

impl Default for BandConfig {
    fn default() -> Self {
        Self { steps: 3, most: 400_000, attempts: 2, rounds: 2 }
    }
}

impl Default for DistConfig {
    fn default() -> Self {
        Self {
            seed: 0,
            threads: 1,
            imbalance: 0.03,
            least_load: 0.0,
            preset: MapPreset::Eco,
            attempts: 2,
            coarsest: 100_000,
            coarsest_per_block: 40,
            growth: 6.0,
            cluster: ClusterConfig::default(),
            refine: RefineConfig::default(),
            band: BandConfig::default(),
            v_cycles: VCycleConfig::default(),
            heavy_tailed: HeavyTailedConfig::default(),
        }
    }
}

impl DistConfig {
    /// The settings of a preset: `fast` has no V-cycles, and `strong` has more than `eco`, which is the default.
    pub fn preset(preset: MapPreset) -> Self {
        let VCycleConfig { most, least_gain } = VCycleConfig::default();
        let v_cycles = match preset {
            MapPreset::Fast => VCycleConfig { most: 0, least_gain },
            MapPreset::Strong => VCycleConfig { most: 4 * most, least_gain },
            _ => VCycleConfig { most, least_gain },
        };
        Self { preset, v_cycles, ..Self::default() }
    }

    /// The settings of least effort: a small coarsest graph, few rounds of refinement, no bands and V-cycles. Balances quality against the time that ParMETIS takes: on
    /// the graphs of docs/benchmarks/parmetis.md, cuts are 2 to 17 % above those of `fast`, which takes up to nine times as long; its commands show the curve.
    pub fn brief() -> Self {
        let mut brief = Self::preset(MapPreset::Fast);
        brief.coarsest = 20_000;
        (brief.refine.rounds, brief.refine.patience) = (14, 4);
        brief.band.steps = 0;
        brief
    }

    /// Returns the bounds of the loads relative to their shares.
    pub(super) fn balance(&self) -> Balance {
        Balance::default().with_imbalance(self.imbalance).with_least_load(self.least_load)
    }

    /// Returns the bounds and least loads of this many blocks of equal weight.
    ///
    /// # Errors
    ///
    /// There are no blocks or too many, or a number is out of its range.
    pub(super) fn targets(&self, whole: &CsrGraph, num_blocks: usize) -> Result<Targets, TargetsError> {
        let least = Targets::least_shares(whole, &vec![1; num_blocks], self.least_load)?;
        Targets::equal(whole, num_blocks, self.imbalance)?.with_least_loads(least)
    }

    /// The settings of an attempt with this seed.
    pub(super) fn attempt(&self, seed: u64) -> Config {
        Config::preset(self.preset).with_seed(seed).with_threads(self.threads)
    }
}
