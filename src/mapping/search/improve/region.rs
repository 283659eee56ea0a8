//! Regions: parts of a mapping that can be improved independently.
//!
//! Take some groups of one level inside the same group of the next level. As long as their processes stay on
//! their PEs in any order, no distance to a process outside changes: it is the distance of the level at which
//! the two separate. A region is therefore a mapping problem of its own with fewer outermost groups, and the
//! gains of regions without common processes add up. Searches thus become cache-local and parallel without
//! coordination, and partial restarts are possible.
//!
//! Regions are grown from random groups along the heaviest connections. Most edges are thus inside some
//! region, and other edges with another seed.

use crate::base::rng::Rng;
use crate::base::types::{NodeId, PeId, Weight};
use crate::graph::{CsrGraph, quotient};
use crate::machine::Hierarchy;
use crate::mapping::annealing::tree::TreeProblem;

/// Assigns groups to regions, by the number of the group at its level.
pub(super) struct Regions {
    /// The level whose groups are the parts of regions; 0 are the innermost groups.
    level: usize,
    /// PEs of a group.
    group_size: usize,
    /// The region of each group, and its position in the region.
    place: Vec<(u32, u32)>,
    /// The groups of each region.
    groups: Vec<Vec<u32>>,
}

/// Marks a group that is not in a region yet.
const NOWHERE: (u32, u32) = (u32::MAX, 0);

/// The mapping problem of a region. Process i is on PE i; both are numbered in the order of the PEs of the
/// groups.
pub(super) struct Region {
    /// The communication inside the region.
    pub graph: CsrGraph,
    /// The machine part of the region.
    pub hierarchy: Hierarchy,
    /// The number of each process in the whole problem.
    pub processes: Vec<NodeId>,
    /// Per process: true if it must stay on its PE; empty if none must.
    pub is_fixed: Vec<bool>,
}

impl Region {
    /// The region as annealing takes it.
    pub fn problem(&self) -> TreeProblem<'_> {
        TreeProblem { graph: &self.graph, hierarchy: &self.hierarchy, is_fixed: &self.is_fixed }
    }
}

impl Regions {
    /// Gathers the groups of a level into regions of at most `greatest` groups.
    ///
    /// `pe_of` is the current mapping. The hierarchy must be [simplified](Hierarchy::simplified) and have a
    /// level above. O(m + groups · greatest).
    pub fn gather(
        graph: &CsrGraph,
        hierarchy: &Hierarchy,
        pe_of: &[PeId],
        level: usize,
        greatest: usize,
        rng: &mut Rng,
    ) -> Self {
        let group_size: usize = hierarchy.arities()[..=level].iter().map(|&arity| arity as usize).product();
        let num_groups = pe_of.len() / group_size;
        let all = 0..num_groups as u32;
        if greatest >= num_groups {
            let place = all.clone().map(|group| (0, group)).collect();
            return Self { level, group_size, place, groups: vec![all.collect()] };
        }
        let blocks: Vec<u32> = pe_of.iter().map(|&pe| pe / group_size as u32).collect();
        let mut growing = Growing {
            bundles: quotient::contract(graph, &blocks, num_groups),
            siblings: hierarchy.arities()[level + 1],
            place: vec![NOWHERE; num_groups],
            volume: vec![0; num_groups],
            border: Vec::new(),
        };
        let mut order: Vec<u32> = all.collect();
        rng.shuffle(&mut order);
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for first in order {
            if growing.place[first as usize] == NOWHERE {
                groups.push(growing.region(groups.len() as u32, first, greatest));
            }
        }
        Self { level, group_size, place: growing.place, groups }
    }

    /// Number of regions.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// The problem of a region; O(processes and arcs of the region).
    ///
    /// `process_on` is the inverse of `pe_of`.
    pub fn problem(
        &self,
        graph: &CsrGraph,
        hierarchy: &Hierarchy,
        pe_of: &[PeId],
        process_on: &[NodeId],
        index: usize,
    ) -> Region {
        let groups = &self.groups[index];
        let size = self.group_size;
        let mut processes = Vec::with_capacity(groups.len() * size);
        for &group in groups {
            processes.extend_from_slice(&process_on[group as usize * size..][..size]);
        }
        let mut offsets = Vec::with_capacity(processes.len() + 1);
        let (mut targets, mut weights): (Vec<NodeId>, Vec<Weight>) = (Vec::new(), Vec::new());
        offsets.push(0);
        for &process in &processes {
            for (target, weight) in graph.arcs(process) {
                let pe = pe_of[target as usize] as usize;
                let (region, place) = self.place[pe / size];
                if region as usize == index {
                    targets.push((place as usize * size + pe % size) as NodeId);
                    weights.push(weight);
                }
            }
            offsets.push(targets.len());
        }
        let node_weights = vec![1; processes.len()];
        let graph = CsrGraph::from_symmetric(offsets, targets, weights, node_weights)
            .expect("a part of a graph weighs no more than the graph");
        let mut arities = hierarchy.arities()[..=self.level + 1].to_vec();
        arities[self.level + 1] = groups.len() as u32;
        let distances = hierarchy.distances()[..=self.level + 1].to_vec();
        let hierarchy =
            Hierarchy::new(arities, distances).expect("a part of a hierarchy is a hierarchy").simplified();
        Region { graph, hierarchy, processes, is_fixed: Vec::new() }
    }

    /// The PE of the whole machine that corresponds to a PE of a region.
    pub fn pe(&self, index: usize, local: PeId) -> PeId {
        let (group, position) = (local as usize / self.group_size, local as usize % self.group_size);
        self.groups[index][group] * self.group_size as PeId + position as PeId
    }
}

/// Regions under construction.
struct Growing {
    /// The communication between groups.
    bundles: CsrGraph,
    /// Number of groups inside the same group of the next level.
    siblings: u32,
    /// The region of each group, and its position in the region.
    place: Vec<(u32, u32)>,
    /// The communication volume of each group with the growing region; groups with a positive volume are in
    /// `border`.
    volume: Vec<Weight>,
    border: Vec<u32>,
}

impl Growing {
    /// Grows a region from a group, always adding the group with the largest communication volume with the
    /// region.
    fn region(&mut self, region: u32, first: u32, greatest: usize) -> Vec<u32> {
        let mut members: Vec<u32> = Vec::new();
        let mut next = Some(first);
        while let Some(group) = next.take() {
            self.place[group as usize] = (region, members.len() as u32);
            members.push(group);
            self.extend_border(group);
            if members.len() < greatest {
                next = self.border.iter().copied().max_by_key(|&other| (self.volume[other as usize], other));
            }
        }
        self.border.drain(..).for_each(|other| self.volume[other as usize] = 0);
        members
    }

    /// Adds the volumes of the siblings of a group that has joined the region.
    fn extend_border(&mut self, group: u32) {
        for (other, weight) in self.bundles.arcs(group) {
            if other / self.siblings == group / self.siblings && self.place[other as usize] == NOWHERE {
                if self.volume[other as usize] == 0 {
                    self.border.push(other);
                }
                self.volume[other as usize] += weight;
            }
        }
        self.border.retain(|&other| self.place[other as usize] == NOWHERE);
    }
}
