//! Minimum cuts that become more balanced as their terminals grow.

use super::max_flow::MaxFlow;
use super::network::{Side, inward};
use super::several::PairLoads;
use crate::base::observer::Watch;
use crate::base::types::Weight;

/// What the two blocks may weigh, by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Balance {
    /// The weight of each block outside the region.
    pub outside: [Weight; 2],
    /// The greatest weight of each block.
    pub most: [Weight; 2],
    /// The least weight of each block.
    pub least: [Weight; 2],
}

impl Balance {
    /// The side whose reach makes the cut, if one of them meets the bounds: of two, the more even one.
    ///
    /// `reached` is what each block would weigh with the reach of its terminal, `total` both blocks together. `others_fit` checks the other bounds
    /// of a side.
    fn side(&self, reached: [Weight; 2], total: Weight, others_fit: impl Fn(Side) -> bool) -> Option<Side> {
        let fits = |side: Side| {
            let fits =
                |side: Side, weight| (self.least[side as usize]..=self.most[side as usize]).contains(&weight);
            let own = reached[side as usize];
            fits(side, own) && fits(side.opposite(), total - own) && others_fit(side)
        };
        let heavier = |side: &Side| reached[*side as usize].max(total - reached[*side as usize]);
        Side::BOTH.into_iter().filter(|&side| fits(side)).min_by_key(heavier)
    }
}

/// Working memory of the search for a balanced cut.
#[derive(Debug, Default)]
pub(super) struct Piercing {
    pub flow: MaxFlow,
    /// By side: candidates for piercing, next to the terminal.
    fronts: [Vec<u32>; 2],
}

impl Piercing {
    /// Looks for a cut lighter than `old_cut` whose sides meet the bounds.
    ///
    /// Several weights of the vertices have bounds of their own, too. Gives up when the budget of the flow is used up, or when the observer asks to stop. `depth` is the distance of each
    /// local vertex from the boundary. The cut is around what the side returned [takes](MaxFlow::takes).
    pub fn balanced_cut(
        &mut self,
        depth: &[i32],
        (balance, mut several): (&Balance, Option<&mut PairLoads<'_>>),
        old_cut: Weight,
        watch: &mut Watch<'_>,
    ) -> Option<Side> {
        if self.flow.network.seeds.iter().any(Vec::is_empty) {
            return None;
        }
        let total = balance.outside.iter().chain(&self.flow.network.weights).sum();
        // The weight of each terminal with its block outside the region.
        let mut fixed = Side::BOTH.map(|side| balance.outside[side as usize] + self.start_front(side));
        if let Some(loads) = &mut several {
            let seeds = &self.flow.network.seeds;
            Side::BOTH.into_iter().for_each(|side| loads.absorb(side, &seeds[side as usize]));
        }
        let mut flow = 0;
        // By side, whether what its seeds reach may have changed.
        let mut stale = [true; 2];
        loop {
            if stale[Side::Source as usize] {
                flow += self.flow.augment(old_cut - flow, watch);
                if flow >= old_cut {
                    return None;
                }
            }
            if stale[Side::Sink as usize] {
                self.flow.search(Side::Sink);
            }
            let visited: usize = self.flow.reach.iter().map(|reach| reach.nodes.len()).sum();
            if self.flow.budget.is_spent() || watch.stops_after(visited) {
                return None;
            }
            let reached = [0, 1].map(|side| fixed[side] + self.flow.reach[side].weight);
            let others_fit = |side: Side| {
                several.as_ref().is_none_or(|loads| loads.fit(side, &self.flow.reach[side as usize].nodes))
            };
            if let Some(side) = balance.side(reached, total, others_fit) {
                return Some(side);
            }
            let side = if reached[0] <= reached[1] { Side::Source } else { Side::Sink };
            if let Some(loads) = &mut several {
                loads.absorb(side, &self.flow.reach[side as usize].nodes);
            }
            self.absorb_reach(side);
            let node = self.pierce(side, depth)?;
            several.iter_mut().for_each(|loads| loads.absorb(side, &[node]));
            fixed[side as usize] = reached[side as usize] + self.flow.network.weights[node as usize];
            stale[side as usize] = true;
            // A vertex that the other terminal reaches opens an augmenting path.
            stale[side.opposite() as usize] = self.flow.reach[side.opposite() as usize].contains(node);
        }
    }

    /// Collects the candidates next to the seeds of a side; returns the weight of the seeds.
    fn start_front(&mut self, side: Side) -> Weight {
        self.fronts[side as usize].clear();
        let mut weight = 0;
        for index in 0..self.flow.network.seeds[side as usize].len() {
            let seed = self.flow.network.seeds[side as usize][index];
            weight += self.flow.network.weights[seed as usize];
            self.extend_front(side, seed);
        }
        weight
    }

    /// Makes all that the seeds of a side reach a part of its terminal.
    fn absorb_reach(&mut self, side: Side) {
        let MaxFlow { network, reach, .. } = &mut self.flow;
        for &node in &reach[side as usize].nodes {
            network.terminal[node as usize] = Some(side);
        }
        for index in 0..self.flow.reach[side as usize].nodes.len() {
            self.extend_front(side, self.flow.reach[side as usize].nodes[index]);
        }
    }

    fn extend_front(&mut self, side: Side, node: u32) {
        let network = &self.flow.network;
        let targets = network.arcs[network.row(node)].iter().map(|arc| arc.target);
        self.fronts[side as usize].extend(targets.filter(|&node| network.terminal[node as usize].is_none()));
    }

    /// Adds the best candidate to the terminal of a side, as its only seed. Returns it if there is one.
    ///
    /// Vertices that the other terminal does not reach come first, then those deep in the block of this side.
    fn pierce(&mut self, side: Side, depth: &[i32]) -> Option<u32> {
        let MaxFlow { network, reach, budget, .. } = &mut self.flow;
        let front = &mut self.fronts[side as usize];
        front.retain(|&node| network.terminal[node as usize].is_none());
        budget.spend(front.len());
        let other = &reach[side.opposite() as usize];
        let key = |&node: &u32| (!other.contains(node), inward(side, depth[node as usize]), node);
        let node = front.iter().copied().max_by_key(key)?;
        network.terminal[node as usize] = Some(side);
        network.seeds[side as usize].clear();
        network.seeds[side as usize].push(node);
        self.extend_front(side, node);
        Some(node)
    }
}
