//! The levels of a tree, and the savings of a process on them.

use crate::base::types::{Cost, Distance, PeId, Weight};
use crate::machine::DistanceOracle;

/// A level of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// PEs of a group.
    pub size: PeId,
    /// Distance of two PEs whose innermost common group is of this level.
    pub distance: Distance,
}

/// Neighbours of a process: the PE that each is on, in ascending order, and the weight of the edge.
pub(super) type Near = [(PeId, Weight)];

pub(super) fn volume(near: &Near) -> Weight {
    near.iter().map(|&(_, weight)| weight).sum()
}

/// The levels of a tree, innermost first.
pub(super) struct Tree {
    pub levels: Vec<Level>,
}

impl Tree {
    /// The tree of a machine; without levels if the distances are not an ultrametric.
    pub fn of<O: DistanceOracle>(oracle: &O) -> Self {
        let Some(innermost) = oracle.ultrametric() else { return Self { levels: Vec::new() } };
        let mut level = Level { size: oracle.num_pes() as PeId, distance: oracle.max_distance() };
        let mut levels = vec![level];
        while level.size as usize > innermost.group_size {
            let size = oracle.nearer_than(0, level.distance).len() as PeId;
            level = Level { size, distance: oracle.distance(0, size - 1) };
            levels.push(level);
        }
        levels.reverse();
        Self { levels }
    }

    /// The group of a level that contains a PE.
    pub fn group(&self, level: usize, pe: PeId) -> PeId {
        pe / self.levels[level].size
    }

    /// The level of the innermost group that contains both PEs.
    pub fn common(&self, p: PeId, q: PeId) -> usize {
        let outermost = self.levels.len() - 1;
        (0..outermost).find(|&level| self.group(level, p) == self.group(level, q)).unwrap_or(outermost)
    }

    /// The distance of the next level minus the distance of a level; 0 for the outermost.
    pub fn step(&self, level: usize) -> Distance {
        let outer = (level + 1).min(self.levels.len() - 1);
        self.levels[outer].distance - self.levels[level].distance
    }

    /// The greatest distance minus the distance of a level.
    pub fn nearness(&self, level: usize) -> Distance {
        self.levels[self.levels.len() - 1].distance - self.levels[level].distance
    }

    /// The saving on a PE of the process with these neighbours, by level: the contribution of neighbours in
    /// its group of that level and outwards.
    pub fn savings_outward(&self, near: &Near, pe: PeId) -> Vec<Cost> {
        let mut savings = vec![0; self.levels.len()];
        let mut inside = near;
        let mut sum = 0;
        for level in (0..self.levels.len()).rev() {
            let group = self.group(level, pe);
            let from = inside.partition_point(|&(there, _)| self.group(level, there) < group);
            let to = inside.partition_point(|&(there, _)| self.group(level, there) <= group);
            inside = &inside[from..to];
            sum += volume(inside) * self.step(level);
            savings[level] = sum;
        }
        savings
    }

    /// The bounds of the process with these neighbours on a PE, from level 1 on.
    pub fn bounds(&self, near: &Near, pe: PeId) -> Vec<Cost> {
        let outward = self.savings_outward(near, pe);
        let now = outward[0];
        // Either beside all neighbours outside the groups closer to it,
        let mut best = outward;
        // or next to a neighbour.
        let mut savings = vec![0; near.len()];
        for level in 0..self.levels.len() - 1 {
            let runs = near.chunk_by(|a, b| self.group(level, a.0) == self.group(level, b.0));
            let mut rest = savings.as_mut_slice();
            for run in runs {
                let saving = volume(run) * self.step(level);
                let (here, later) = rest.split_at_mut(run.len());
                here.iter_mut().for_each(|sum| *sum += saving);
                rest = later;
            }
        }
        for (&(there, _), &saving) in near.iter().zip(&savings) {
            let level = self.common(pe, there);
            best[level] = best[level].max(saving);
        }
        best[1..].iter().map(|&saving| saving - now).collect()
    }
}
