//! The gain table: the gain of every process in every innermost group, updated after each exchange.
//!
//! On a hierarchy, the communication cost of process u on PE p is `d_top · W(u) - S[u][g]`. Here g is the
//! innermost group of p, `W(u)` the volume of u, d_top the distance of the outermost level, and the gain is
//! `S[u][g] = sum over levels l of (d_{l+1} - d_l) · (volume of u with the group of level l that contains
//! g)`. With the table S, the change of J by an exchange takes four look-ups, whatever the degrees:
//! `S[u][g(u)] - S[u][g(v)] + S[v][g(v)] - S[v][g(u)]`, plus a term if u and v are adjacent. This suits a
//! search that rejects nearly all exchanges.
//!
//! For each neighbour and each level below the one it crosses, an exchange adds a constant to two runs of
//! consecutive entries. Memory: n² / a_1 entries of 4 bytes if the sums fit, otherwise 8. Searches therefore
//! keep such tables for parts of a problem that fit the cache (see [`region`](super::region)).

use std::ops::{AddAssign, Mul, Sub, SubAssign};

use crate::base::types::{Cost, NodeId, PeId};
use crate::graph::CsrGraph;
use crate::machine::Hierarchy;

/// A process with more arcs than this is a hub: an exchange that traverses more arcs is charged to a budget.
pub(super) const MANY_ARCS: usize = 1 << 9;

/// A number wide enough for the gains of one problem.
pub(super) trait Amount:
    Copy + Ord + AddAssign + SubAssign + Sub<Output = Self> + Mul<Output = Self> + Send + Sync
{
    /// Zero.
    const ZERO: Self;
    /// The greatest number.
    const GREATEST: Self;
    /// The number that equals a cost, which must fit.
    fn of(cost: Cost) -> Self;
    /// The number as a cost.
    fn cost(self) -> Cost;
}

impl Amount for i32 {
    const ZERO: i32 = 0;
    const GREATEST: i32 = i32::MAX;
    #[inline]
    fn of(cost: Cost) -> i32 {
        cost as i32
    }
    #[inline]
    fn cost(self) -> Cost {
        Cost::from(self)
    }
}

impl Amount for i64 {
    const ZERO: i64 = 0;
    const GREATEST: i64 = i64::MAX;
    #[inline]
    fn of(cost: Cost) -> i64 {
        cost
    }
    #[inline]
    fn cost(self) -> Cost {
        self
    }
}

/// Returns whether the gains of a problem fit 32 bits: no intermediate sum exceeds four times the largest cost of a
/// process.
pub(super) fn fits_32_bits(graph: &CsrGraph, hierarchy: &Hierarchy) -> bool {
    let volume = graph.nodes().map(|node| graph.weighted_degree(node)).max().unwrap_or(0);
    volume.checked_mul(hierarchy.max_distance()).is_some_and(|cost| cost <= Cost::from(i32::MAX / 8))
}

/// A level below the outermost.
struct Level<A> {
    /// Innermost groups per group of this level.
    groups: usize,
    /// Distance of the next level minus that of this one.
    step: A,
    /// For each innermost group, the first of those in the same group of this level.
    first: Vec<u32>,
}

/// A mapping of processes `0..n` to PEs `0..n` and the gain table.
pub(super) struct GainTable<A> {
    offsets: Vec<u32>,
    arcs: Vec<(NodeId, A)>,
    levels: Vec<Level<A>>,
    /// Distance of each level minus that of the innermost.
    apart: Vec<Cost>,
    group_size: u32,
    num_groups: usize,
    /// Row by row: the gain of each process in each innermost group.
    table: Vec<A>,
    pe_of: Vec<PeId>,
    process_on: Vec<NodeId>,
    group_of: Vec<u32>,
}

impl<A: Amount> GainTable<A> {
    /// The table of the mapping that puts process i on PE `pe_of[i]`; O(n² / a_1 + m k).
    ///
    /// The hierarchy must be [simplified](Hierarchy::simplified) and have two levels or more.
    pub fn new(graph: &CsrGraph, hierarchy: &Hierarchy, pe_of: &[PeId]) -> Self {
        let n = graph.num_nodes();
        let group_size = hierarchy.arities()[0];
        let num_groups = n / group_size as usize;
        let arcs = graph.nodes().flat_map(|process| graph.arcs(process));
        let distances = hierarchy.distances();
        let mut gains = Self {
            offsets: graph.offsets().iter().map(|&offset| offset as u32).collect(),
            arcs: arcs.map(|(v, weight)| (v, A::of(weight))).collect(),
            levels: inner_levels(hierarchy, num_groups),
            apart: distances.iter().map(|&distance| distance - distances[0]).collect(),
            group_size,
            num_groups,
            table: vec![A::ZERO; n * num_groups],
            pe_of: pe_of.to_vec(),
            process_on: vec![0; n],
            group_of: pe_of.iter().map(|pe| pe / group_size).collect(),
        };
        for (process, &pe) in pe_of.iter().enumerate() {
            gains.process_on[pe as usize] = process as NodeId;
        }
        graph.nodes().for_each(|process| gains.fill_row(process));
        gains
    }

    /// Computes the gains of a process in all innermost groups; its row must be zero.
    fn fill_row(&mut self, process: NodeId) {
        let arcs = self.offsets[process as usize] as usize..self.offsets[process as usize + 1] as usize;
        let row = &mut self.table[process as usize * self.num_groups..][..self.num_groups];
        // First the differences of successive entries, since a neighbour adds to runs of entries.
        for &(neighbour, weight) in &self.arcs[arcs] {
            let group = self.group_of[neighbour as usize] as usize;
            for level in &self.levels {
                let amount = weight * level.step;
                let first = level.first[group] as usize;
                row[first] += amount;
                if let Some(after) = row.get_mut(first + level.groups) {
                    *after -= amount;
                }
            }
        }
        let mut sum = A::ZERO;
        for entry in row {
            sum += *entry;
            *entry = sum;
        }
    }

    pub fn num_processes(&self) -> usize {
        self.pe_of.len()
    }

    pub fn num_arcs(&self) -> usize {
        self.arcs.len()
    }

    /// Number of innermost groups.
    pub fn num_groups(&self) -> usize {
        self.num_groups
    }

    /// Number of levels below the outermost.
    pub fn num_inner_levels(&self) -> usize {
        self.levels.len()
    }

    /// Returns whether no level has a smaller distance than a level inside it.
    pub fn grows_outwards(&self) -> bool {
        self.apart.is_sorted()
    }

    /// The head of an arc.
    #[inline]
    pub fn target(&self, arc: usize) -> NodeId {
        self.arcs[arc].0
    }

    #[inline]
    pub fn process_on(&self, pe: PeId) -> NodeId {
        self.process_on[pe as usize]
    }

    /// The innermost group of a process.
    #[inline]
    pub fn group_of(&self, process: NodeId) -> u32 {
        self.group_of[process as usize]
    }

    /// PEs of an innermost group.
    #[inline]
    pub fn group_size(&self) -> u32 {
        self.group_size
    }

    /// PEs of a group of a level, which is not the outermost.
    #[inline]
    pub fn group_size_at(&self, level: usize) -> u32 {
        self.group_size * self.levels[level].groups as u32
    }

    /// The first PE of the group of a process at a level below the outermost.
    #[inline]
    pub fn first_pe(&self, process: NodeId, level: usize) -> PeId {
        self.first_group(self.group_of(process), level) * self.group_size
    }

    /// The first innermost group inside the enclosing group of a given level, which is not the outermost.
    #[inline]
    pub fn first_group(&self, group: u32, level: usize) -> u32 {
        self.levels[level].first[group as usize]
    }

    /// The gains of a process in all innermost groups.
    #[inline]
    pub fn row(&self, process: NodeId) -> &[A] {
        &self.table[process as usize * self.num_groups..][..self.num_groups]
    }

    /// The PE of each process.
    pub fn mapping(&self) -> &[PeId] {
        &self.pe_of
    }

    /// The change of J/2 when two non-adjacent processes exchange their PEs.
    #[inline]
    pub fn delta_unless_adjacent(&self, u: NodeId, v: NodeId) -> A {
        let (from, to) = (self.group_of(u) as usize, self.group_of(v) as usize);
        let (here, there) = (self.row(u), self.row(v));
        let gain = (here[to] - here[from]) - (there[to] - there[from]);
        A::ZERO - gain
    }

    /// Number of arcs that [`swap`](Self::swap) traverses.
    #[inline]
    pub fn arcs_of_swap(&self, u: NodeId, v: NodeId) -> usize {
        self.arcs_of(u).len() + self.arcs_of(v).len()
    }

    /// Number of table entries that [`swap`](Self::swap) changes for each of these arcs.
    #[inline]
    pub fn entries_of_swap(&self, u: NodeId, v: NodeId) -> usize {
        let changed = self.level_of_groups(self.group_of(u), self.group_of(v));
        self.levels[..changed].iter().map(|level| 2 * level.groups).sum()
    }

    /// The change of J/2 when two processes exchange their PEs; O(the smaller degree).
    #[inline]
    pub fn delta(&self, u: NodeId, v: NodeId) -> A {
        let (a, b) = if self.arcs_of(u).len() <= self.arcs_of(v).len() { (u, v) } else { (v, u) };
        let between = self.arcs_of(a).iter().find(|&&(target, _)| target == b);
        self.delta_with_volume(u, v, between.map_or(A::ZERO, |&(_, weight)| weight))
    }

    /// As [`delta`](Self::delta), given the communication volume of the two.
    ///
    /// The distance between two neighbours does not change. But the table credits each with the other coming
    /// as near as a process of its own group. So where distances grow outwards, adjacency makes an exchange
    /// worse.
    #[inline]
    pub fn delta_with_volume(&self, u: NodeId, v: NodeId, volume: A) -> A {
        let mut delta = self.delta_unless_adjacent(u, v);
        if volume != A::ZERO {
            delta += A::of(2 * volume.cost() * self.apart[self.level(u, v)]);
        }
        delta
    }

    /// The innermost level whose group contains both processes.
    #[inline]
    pub fn level(&self, u: NodeId, v: NodeId) -> usize {
        self.level_of_groups(self.group_of(u), self.group_of(v))
    }

    /// The innermost level whose group contains two innermost groups.
    #[inline]
    pub fn level_of_groups(&self, a: u32, b: u32) -> usize {
        let together = |level: &Level<A>| level.first[a as usize] == level.first[b as usize];
        self.levels.iter().position(together).unwrap_or(self.levels.len())
    }

    /// The neighbours of a process, with the communication volumes.
    #[inline]
    pub fn arcs_of(&self, process: NodeId) -> &[(NodeId, A)] {
        &self.arcs[self.offsets[process as usize] as usize..self.offsets[process as usize + 1] as usize]
    }

    /// Exchanges the PEs of two processes; O((deg u + deg v) a_2 … a_l) if they are apart at level l.
    pub fn swap(&mut self, u: NodeId, v: NodeId) {
        let (group_u, group_v) = (self.group_of(u), self.group_of(v));
        self.carry(u, group_u, group_v);
        self.carry(v, group_v, group_u);
        self.pe_of.swap(u as usize, v as usize);
        self.group_of.swap(u as usize, v as usize);
        self.process_on.swap(self.pe_of[u as usize] as usize, self.pe_of[v as usize] as usize);
    }

    /// Updates the rows of the neighbours of a process that moves from one innermost group to another.
    fn carry(&mut self, process: NodeId, from: u32, to: u32) {
        let arcs = self.offsets[process as usize] as usize..self.offsets[process as usize + 1] as usize;
        for level in &self.levels[..self.level_of_groups(from, to)] {
            let left = level.first[from as usize] as usize;
            let entered = level.first[to as usize] as usize;
            for &(target, weight) in &self.arcs[arcs.clone()] {
                let row = &mut self.table[target as usize * self.num_groups..][..self.num_groups];
                let amount = weight * level.step;
                if level.groups == 1 {
                    row[left] -= amount;
                    row[entered] += amount;
                } else {
                    row[left..left + level.groups].iter_mut().for_each(|entry| *entry -= amount);
                    row[entered..entered + level.groups].iter_mut().for_each(|entry| *entry += amount);
                }
            }
        }
    }

    /// Exchanges processes until each is on its PE in `mapping`.
    pub fn restore(&mut self, mapping: &[PeId]) {
        for (process, &pe) in mapping.iter().enumerate() {
            let occupant = self.process_on(pe);
            if occupant != process as NodeId {
                self.swap(process as NodeId, occupant);
            }
        }
    }
}

/// The levels below the outermost, innermost first.
fn inner_levels<A: Amount>(hierarchy: &Hierarchy, num_groups: usize) -> Vec<Level<A>> {
    let (arities, distances) = (hierarchy.arities(), hierarchy.distances());
    let mut groups = 1;
    let level = |level: usize| {
        let step = A::of(distances[level] - distances[level - 1]);
        let first = (0..num_groups).map(|group| (group - group % groups) as u32).collect();
        let inner = Level { groups, step, first };
        groups *= arities[level] as usize;
        inner
    };
    (1..arities.len()).map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::GraphBuilder;
    use crate::machine::Distances;
    use crate::mapping::objective::cost;
    use crate::mapping::problem::Problem;
    use crate::mapping::{Mapping, process_on_each};
    use crate::testing::random_graph;

    fn check<A: Amount + std::fmt::Debug>(graph: &CsrGraph, hierarchy: &Hierarchy, rng: &mut Rng) {
        let oracle = Distances::WideTree(hierarchy.online64());
        let problem = Problem::new(graph, &oracle).unwrap();
        let n = graph.num_nodes() as u32;
        let mut gains = GainTable::<A>::new(graph, hierarchy, Mapping::identity(n as usize).pes());
        let mut before = cost(&problem, &Mapping::identity(n as usize));
        for _ in 0..200 {
            let (u, v) = (rng.below(n), rng.below(n));
            if gains.group_of(u) == gains.group_of(v) {
                continue;
            }
            let delta = gains.delta(u, v);
            gains.swap(u, v);
            let now = Mapping::from_pes(gains.mapping().to_vec()).unwrap();
            assert_eq!(process_on_each(now.pes()), gains.process_on);
            let after = cost(&problem, &now);
            assert_eq!(after, before + 2 * delta.cost(), "{hierarchy:?} {u} {v}");
            before = after;
        }
        let fresh = GainTable::<A>::new(graph, hierarchy, gains.mapping());
        assert_eq!((&gains.table, &gains.process_on), (&fresh.table, &fresh.process_on));
        let first: Vec<PeId> = (0..n).collect();
        gains.restore(&first);
        assert_eq!(gains.mapping(), first);
        assert_eq!(gains.table, GainTable::<A>::new(graph, hierarchy, &first).table);
    }

    #[test]
    fn table_and_deltas_agree_with_recomputation() {
        let mut rng = Rng::new(5);
        for (arities, distances) in
            [("4:4:4", "1:10:100"), ("2:3:2:3", "5:1:7:2"), ("8:3", "0:9"), ("2:2:2:2:2", "1:2:4:8:16")]
        {
            let hierarchy = Hierarchy::parse(arities, distances).unwrap();
            let n = hierarchy.num_pes();
            for mean_degree in [0, 2, 8] {
                let graph = random_graph(n, mean_degree, 50, &mut rng);
                assert!(fits_32_bits(&graph, &hierarchy));
                check::<i32>(&graph, &hierarchy, &mut rng);
                check::<i64>(&graph, &hierarchy, &mut rng);
            }
        }
    }

    #[test]
    fn heavy_graphs_need_64_bits() {
        let mut builder = GraphBuilder::new(4);
        builder.add_edge(0, 2, 30_000_000);
        let graph = builder.build().unwrap();
        assert!(!fits_32_bits(&graph, &Hierarchy::parse("2:2", "10:100").unwrap()));
    }
}
