//! The cost of a placement.

use super::domains::{Domains, Level};
use super::error::{ExpertError, ExpertId};
use super::placement::ExpertPlacement;
use super::routing::{ExpertRouting, LayerRouting};
use viem::machine::Machine;

/// The loads of the PEs in a layer.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ExpertLoads {
    /// The greatest load of a PE: tokens of all experts there, where the copies of an expert share its tokens equally.
    pub greatest: f64,
    /// The mean.
    pub mean: f64,
}

impl ExpertLoads {
    /// The greatest load by the mean; 1 if there is none.
    pub fn ratio(&self) -> f64 {
        if self.mean > 0.0 { self.greatest / self.mean } else { 1.0 }
    }
}

/// The cost of a placement. All numbers are those expected if a token may be on any PE.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ExpertScore {
    /// J: distances times vectors of tokens, to their experts and back. Like all numbers of vectors, it is 0 where only loads are known.
    pub cost: f64,
    /// Vectors that enter a node on their way to experts; as many leave it on the way back.
    pub across_nodes: f64,
    /// Vectors that enter a PE.
    pub across_pes: f64,
    /// The loads by layer.
    pub loads: Vec<ExpertLoads>,
}

impl ExpertScore {
    /// The greatest ratio of all layers.
    pub fn worst_ratio(&self) -> f64 {
        self.loads.iter().map(ExpertLoads::ratio).fold(1.0, f64::max)
    }

    /// The greatest load by the mean, on average over the layers, weighted by their loads.
    pub fn mean_ratio(&self) -> f64 {
        let sum = |value: fn(&ExpertLoads) -> f64| self.loads.iter().map(value).sum::<f64>();
        let mean = sum(|loads| loads.mean);
        if mean > 0.0 { sum(|loads| loads.greatest) / mean } else { 1.0 }
    }
}

/// Computes the cost of a placement from scratch. O(sum over sets of k · (levels + PEs of their copies)), and O(PEs² · levels) for the machine.
pub fn score_experts(
    routing: &ExpertRouting,
    placement: &ExpertPlacement,
    machine: &dyn Machine,
) -> Result<ExpertScore, ExpertError> {
    // Then there are at most as many PEs as copies.
    placement.copies().check(routing, machine.num_pes())?;
    let domains = Domains::of(machine, routing)?;
    Ok(with_domains(routing, placement, &domains))
}

/// The same of a placement that fits the machine.
pub(super) fn with_domains(
    routing: &ExpertRouting,
    placement: &ExpertPlacement,
    domains: &Domains,
) -> ExpertScore {
    let mut score = ExpertScore { cost: 0.0, across_nodes: 0.0, across_pes: 0.0, loads: Vec::new() };
    let pes = domains.pes();
    for (number, layer) in routing.layers().iter().enumerate() {
        let homes = PreviousAssignment::new(placement.layer(number), routing.num_experts(), domains.num_pes);
        for level in &domains.levels {
            score.cost += 2.0 * level.step as f64 * homes.entering(layer, level);
        }
        score.across_nodes += homes.entering(layer, &domains.nodes);
        score.across_pes += homes.entering(layer, &pes);
        score.loads.push(homes.loads(layer, routing.load_unit()));
    }
    score
}

/// J of a layer with these experts in its slots.
pub(super) fn cost_of_layer(layer: &LayerRouting, slots: &[ExpertId], domains: &Domains) -> f64 {
    let homes = PreviousAssignment::new(slots, layer.loads().len() as ExpertId, domains.num_pes);
    domains.levels.iter().map(|level| 2.0 * level.step as f64 * homes.entering(layer, level)).sum()
}

/// The places of the copies of a layer's experts.
struct PreviousAssignment {
    /// The PEs by expert.
    pes: Vec<Vec<u32>>,
    num_pes: usize,
}

impl PreviousAssignment {
    fn new(slots: &[ExpertId], num_experts: ExpertId, num_pes: usize) -> Self {
        let of_pe = (slots.len() / num_pes).max(1);
        let mut pes = vec![Vec::new(); num_experts as usize];
        for (slot, &expert) in slots.iter().enumerate() {
            pes[expert as usize].push((slot / of_pe) as u32);
        }
        Self { pes, num_pes }
    }

    /// Returns the expected number of vectors that enter groups of a level.
    fn entering(&self, layer: &LayerRouting, level: &Level) -> f64 {
        let mut entering = 0.0;
        // By group, the probability that no expert so far is there.
        let mut absent = vec![1.0; level.num_groups()];
        for (experts, tokens) in layer.sets() {
            let mut groups = Vec::with_capacity(experts.len());
            for &expert in experts {
                self.leave_out(expert, level, &mut absent, &mut groups);
            }
            groups.sort_unstable();
            groups.dedup();
            for group in groups {
                let outside = 1.0 - f64::from(level.sizes[group]) / self.num_pes as f64;
                entering += tokens as f64 * outside * (1.0 - absent[group]);
                absent[group] = 1.0;
            }
        }
        entering
    }

    /// Multiplies by the probability that an expert is not in a group.
    fn leave_out(&self, expert: ExpertId, level: &Level, absent: &mut [f64], groups: &mut Vec<usize>) {
        let mut own: Vec<usize> = self.pes[expert as usize].iter().map(|&pe| level.group(pe)).collect();
        own.sort_unstable();
        for same in own.chunk_by(|a, b| a == b) {
            absent[same[0]] *= 1.0 - same.len() as f64 / own.len() as f64;
            groups.push(same[0]);
        }
    }

    fn loads(&self, layer: &LayerRouting, unit: f64) -> ExpertLoads {
        let mut loads = vec![0.0; self.num_pes];
        for (pes, &load) in self.pes.iter().zip(layer.loads()) {
            pes.iter().for_each(|&pe| loads[pe as usize] += load as f64 / pes.len() as f64);
        }
        let greatest = loads.iter().copied().fold(0.0, f64::max);
        ExpertLoads {
            greatest: greatest * unit,
            mean: loads.iter().sum::<f64>() / self.num_pes as f64 * unit,
        }
    }
}
