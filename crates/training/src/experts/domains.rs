//! The machine as levels of groups, into which tokens are sent once.

use super::error::ExpertError;
use super::routing::ExpertRouting;
use viem::base::types::{Distance, PeId};
use viem::machine::{DistanceOracle, Distances, Machine, Nodes, distances_of};

/// Upper limit on the cost of a placement, so that sums of gains fit.
const MOST_COST: i128 = 1 << 58;

/// The groups of a machine whose distances are those of a tree.
pub(super) struct Domains {
    pub num_pes: usize,
    /// The levels from the single PEs to the groups just below the whole machine. Levels where groups cost nothing are left out.
    pub levels: Vec<Level>,
    /// The nodes, which may be one of the levels.
    pub nodes: Level,
}

/// Groups of PEs that are near each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// The group of each PE, numbered from 0.
    pub group_of: Vec<u32>,
    /// Number of PEs by group.
    pub sizes: Vec<u32>,
    /// The additional distance of PEs of different groups.
    pub step: Distance,
}

impl Level {
    fn new(keys: impl Iterator<Item = usize>, step: Distance) -> Self {
        let (mut numbers, mut sizes) = (Vec::<usize>::new(), Vec::new());
        let group_of = keys.map(|key| {
            let group = numbers.iter().position(|&known| known == key).unwrap_or(numbers.len());
            if group == numbers.len() {
                numbers.push(key);
                sizes.push(0);
            }
            sizes[group] += 1;
            group as u32
        });
        Self { group_of: group_of.collect(), sizes, step }
    }

    pub fn group(&self, pe: u32) -> usize {
        self.group_of[pe as usize] as usize
    }

    pub fn num_groups(&self) -> usize {
        self.sizes.len()
    }

    /// Returns the cost of sending a token into a group, times the number of PEs.
    pub fn price(&self, group: usize) -> i64 {
        self.step * (self.group_of.len() as i64 - i64::from(self.sizes[group]))
    }
}

impl Domains {
    /// Fails if costs of a routing could exceed what fits, or if it has costs and the machine is no tree, which has no levels otherwise. O(PEs² · levels).
    pub fn of(machine: &dyn Machine, routing: &ExpertRouting) -> Result<Self, ExpertError> {
        let num_pes = machine.num_pes();
        let levels = match levels(&distances_of(machine)?) {
            Err(_) if routing.is_of_loads() => Vec::new(),
            levels => levels?,
        };
        let nodes = Nodes::of(machine);
        let nodes = Level::new((0..num_pes).map(|pe| nodes.node(pe as PeId)), 0);
        let domains = Self { num_pes, levels, nodes };
        domains.check(routing)?;
        Ok(domains)
    }

    /// Each PE as a group.
    pub fn pes(&self) -> Level {
        Level::new(0..self.num_pes, 0)
    }

    fn check(&self, routing: &ExpertRouting) -> Result<(), ExpertError> {
        if routing.is_of_loads() {
            return Ok(());
        }
        let steps: i128 = self.levels.iter().map(|level| i128::from(level.step)).sum();
        let loads = |layer: &super::LayerRouting| layer.loads().iter().map(|&load| i128::from(load)).sum();
        let sets = |layer: &super::LayerRouting| {
            layer.sets().map(|(set, w)| set.len() as i128 * i128::from(w)).sum()
        };
        let greatest = routing.layers().iter().map(|layer| i128::max(loads(layer), sets(layer))).max();
        let cost = greatest.unwrap_or(0).saturating_mul(steps).saturating_mul(self.num_pes as i128);
        if cost <= MOST_COST { Ok(()) } else { Err(ExpertError::TooMuch) }
    }
}

/// The levels, if distances are those of a tree; fails with three PEs that contradict it otherwise.
fn levels(distances: &Distances) -> Result<Vec<Level>, ExpertError> {
    let num_pes = distances.num_pes() as PeId;
    let all = || (0..num_pes).flat_map(|p| (0..p).map(move |q| (p, q)));
    let mut occurring: Vec<Distance> = all().map(|(p, q)| distances.distance(p, q)).collect();
    occurring.push(0);
    occurring.sort_unstable();
    occurring.dedup();
    let mut levels = Vec::new();
    for pair in occurring.windows(2) {
        let (inside, step) = (pair[0], pair[1] - pair[0]);
        let is_near = |p: PeId, q: PeId| p == q || distances.distance(p, q) <= inside;
        let first = |p: PeId| (0..=p).find(|&q| is_near(p, q)).unwrap_or(p) as usize;
        let level = Level::new((0..num_pes).map(first), step);
        if let Some((p, q)) = all().find(|&(p, q)| is_near(p, q) != (level.group(p) == level.group(q))) {
            // Of two that are near, the one whose first neighbour is later is far from that of the other. Two that are far have the same.
            let [first_of_p, first_of_q] = [first(p) as PeId, first(q) as PeId];
            let [a, b, third] = match is_near(p, q) {
                true if first_of_p < first_of_q => [first_of_p, q, p],
                true => [first_of_q, p, q],
                false => [p, q, first_of_p],
            };
            let between = [(a, b), (a, third), (b, third)].map(|(one, other)| distances.distance(one, other));
            return Err(ExpertError::NoTree { pes: [a, b, third], distances: between });
        }
        levels.push(level);
    }
    Ok(levels)
}
