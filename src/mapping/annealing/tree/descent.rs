//! Descent: exchanges that lower J, until no exchange of two processes does.
//!
//! If distances grow outwards, one of the two processes of an improving exchange gains more in the group of
//! the other than in its own. So only the groups are tried for which a row of the [`GainTable`] shows such a
//! gain.
//!
//! Around a hub this is true for every neighbour of the hub, and such exchanges almost never improve J,
//! because each process of the hub's group would lose as much. So a large group is tried only if some process
//! in it loses less than `u` gains, or if exchanging with one of its hubs can help: a hub loses little
//! anywhere, but communicates with almost every process. The smallest losses are cached for pairs of groups
//! until an exchange changes one of the two. The exchanges made are the same as without the cache.
//!
//! Computing the losses takes a visit of a group for each pair and each exchange that changes the pair.
//! Memory: the square of the number of groups.

use super::gain_table::{Amount, GainTable, MANY_ARCS};
use crate::base::observer::{Observer, Watch};
use crate::base::types::{Cost, NodeId};

/// Smallest group size for which losses are cached: smaller groups are tried as fast as a loss is looked up.
const LARGE_GROUP: u32 = 32;

/// The result of a descent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Descended {
    /// Change of J/2.
    pub change: Cost,
    /// Exchanges evaluated.
    pub tried: u64,
    /// Exchanges made.
    pub made: u64,
}

/// Makes exchanges that lower J until there are none left, or the observer asks to stop. Fixed processes, of
/// which the list is empty if there are none, stay where they are.
pub(super) fn descend<A: Amount>(
    table: &mut GainTable<A>,
    is_fixed: &[bool],
    observer: &dyn Observer,
) -> Descended {
    let keeps_losses = table.group_size() >= LARGE_GROUP && table.grows_outwards();
    let mut descent = Descent::new(table, is_fixed, keeps_losses, observer);
    descent.run();
    descent.done
}

struct Descent<'a, A> {
    table: &'a mut GainTable<A>,
    is_fixed: &'a [bool],
    losses: Option<Losses<A>>,
    /// The communication volume of the current process with each other process; zero between calls.
    volume: Vec<A>,
    watch: Watch<'a>,
    done: Descended,
}

impl<'a, A: Amount> Descent<'a, A> {
    fn new(
        table: &'a mut GainTable<A>,
        is_fixed: &'a [bool],
        keeps_losses: bool,
        observer: &'a dyn Observer,
    ) -> Self {
        let losses = keeps_losses.then(|| Losses::new(table));
        let volume = vec![A::ZERO; table.num_processes()];
        Self { table, is_fixed, losses, volume, watch: Watch::new(observer), done: Descended::default() }
    }

    fn run(&mut self) {
        let n = self.table.num_processes() as NodeId;
        let mut waiting = 0;
        let mut u = 0;
        // The last `waiting` processes had no improving move.
        while waiting < n {
            if self.watch.stops_after(self.table.row(u).len()) {
                return;
            }
            waiting = if self.improve(u) { 0 } else { waiting + 1 };
            u = (u + 1) % n;
        }
    }

    /// Exchanges a process with the first one, group by group, for which that lowers J; returns whether there
    /// was one.
    fn improve(&mut self, u: NodeId) -> bool {
        if self.must_stay(u) {
            return false;
        }
        let mut improved = false;
        let mut group = 0;
        let mut has_volume = false;
        while let Some(better) = self.better_group(u, group) {
            if !std::mem::replace(&mut has_volume, true) {
                self.watch.stops_after(self.table.arcs_of(u).len());
                self.table.arcs_of(u).iter().for_each(|&(v, weight)| self.volume[v as usize] = weight);
            }
            improved |= self.may_gain(u, better) && self.exchange(u, better);
            group = better + 1;
        }
        if has_volume {
            self.table.arcs_of(u).iter().for_each(|&(v, _)| self.volume[v as usize] = A::ZERO);
        }
        improved
    }

    fn must_stay(&self, process: NodeId) -> bool {
        self.is_fixed.get(process as usize).copied().unwrap_or(false)
    }

    /// The first group from `group` on in which `u` gains more than in its own.
    fn better_group(&self, u: NodeId, group: u32) -> Option<u32> {
        let row = self.table.row(u);
        let own = row[self.table.group_of(u) as usize];
        // In chunks, so that the comparisons of a chunk are vectorised.
        let mut first = group as usize;
        for chunk in row[first..].chunks(16) {
            if chunk.iter().fold(false, |any, &gain| any | (gain > own)) {
                let inside = chunk.iter().position(|&gain| gain > own).expect("one of the chunk is greater");
                return Some((first + inside) as u32);
            }
            first += chunk.len();
        }
        None
    }

    /// Returns whether an exchange of a process with one of a group can lower J; true if unknown.
    fn may_gain(&mut self, u: NodeId, group: u32) -> bool {
        let Some(losses) = &mut self.losses else { return true };
        let table = &*self.table;
        let own = table.group_of(u);
        let row = table.row(u);
        let (loss, visited) = losses.least(table, group, own);
        self.watch.stops_after(visited + losses.hubs.len());
        let lowers = |&v: &NodeId| {
            table.group_of(v) == group && table.delta_with_volume(u, v, self.volume[v as usize]) < A::ZERO
        };
        row[group as usize] - row[own as usize] > loss || losses.hubs.iter().any(lowers)
    }

    /// Exchanges a process with the first one of a group for which that lowers J; returns whether there was
    /// one.
    fn exchange(&mut self, u: NodeId, group: u32) -> bool {
        let size = self.table.group_size();
        self.watch.stops_after(size as usize);
        for pe in group * size..(group + 1) * size {
            let v = self.table.process_on(pe);
            let delta = self.table.delta_with_volume(u, v, self.volume[v as usize]);
            self.done.tried += 1;
            if delta < A::ZERO && !self.must_stay(v) {
                self.watch.stops_after(self.table.arcs_of_swap(u, v));
                if let Some(losses) = &mut self.losses {
                    losses.change(self.table, [self.table.group_of(u), group]);
                }
                self.table.swap(u, v);
                self.done.change += delta.cost();
                self.done.made += 1;
                return true;
            }
        }
        false
    }
}

/// Returns whether exchanges of a process traverse more than [`MANY_ARCS`] arcs.
fn is_hub<A: Amount>(table: &GainTable<A>, process: NodeId) -> bool {
    table.arcs_of(process).len() > MANY_ARCS
}

/// For pairs of groups, the smallest loss of a non-hub process of the first group in the second.
struct Losses<A> {
    num_groups: usize,
    hubs: Vec<NodeId>,
    /// For each pair, the loss and the time when it was computed, 0 if never.
    of_pair: Vec<(A, u64)>,
    /// For each level and innermost group, the time of the last exchange in the enclosing group of that
    /// level, stored at the first innermost group of each enclosing group.
    changed: Vec<Vec<u64>>,
    /// Exchanges so far, plus 1.
    now: u64,
}

impl<A: Amount> Losses<A> {
    fn new(table: &GainTable<A>) -> Self {
        let num_groups = table.num_groups();
        Self {
            num_groups,
            hubs: (0..table.num_processes() as NodeId).filter(|&process| is_hub(table, process)).collect(),
            of_pair: vec![(A::ZERO, 0); num_groups * num_groups],
            changed: vec![vec![0; num_groups]; table.num_inner_levels()],
            now: 1,
        }
    }

    /// The smallest loss of a non-hub process of group `from` in another group, and the number of processes
    /// visited.
    ///
    /// The loss depends only on the groups below the level that contains both: groups outside are equally far
    /// from both.
    fn least(&mut self, table: &GainTable<A>, from: u32, to: u32) -> (A, usize) {
        let level = table.level_of_groups(from, to) - 1;
        let changed = |group| self.changed[level][table.first_group(group, level) as usize];
        let latest = changed(from).max(changed(to));
        let (loss, computed) = &mut self.of_pair[from as usize * self.num_groups + to as usize];
        if *computed > latest {
            return (*loss, 0);
        }
        let size = table.group_size();
        let processes = (from * size..(from + 1) * size).map(|pe| table.process_on(pe));
        let losses = processes.filter(|&process| !is_hub(table, process)).map(|process| {
            let row = table.row(process);
            row[from as usize] - row[to as usize]
        });
        *loss = losses.min().unwrap_or(A::GREATEST);
        *computed = self.now;
        (*loss, size as usize)
    }

    /// Records an exchange of processes between two groups.
    fn change(&mut self, table: &GainTable<A>, groups: [u32; 2]) {
        for (level, changed) in self.changed.iter_mut().enumerate() {
            for group in groups {
                changed[table.first_group(group, level) as usize] = self.now;
            }
        }
        self.now += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::base::types::PeId;
    use crate::graph::{CsrGraph, GraphBuilder};
    use crate::machine::Hierarchy;
    use crate::testing::random_graph;

    /// After every exchange of a random sequence, the cached losses equal those computed from scratch.
    #[test]
    fn losses_agree_with_recomputation() {
        let mut rng = Rng::new(3);
        for (arities, distances) in [("4:4:4", "1:10:100"), ("3:2:2:2", "1:2:7:20"), ("8:3", "0:9")] {
            let hierarchy = Hierarchy::parse(arities, distances).unwrap();
            let n = hierarchy.num_pes() as u32;
            let graph = random_graph(n as usize, 5, 9, &mut rng);
            let start: Vec<PeId> = (0..n).collect();
            let mut table = GainTable::<i32>::new(&graph, &hierarchy, &start);
            let mut kept = Losses::new(&table);
            for _ in 0..60 {
                for from in 0..table.num_groups() as u32 {
                    for to in (0..table.num_groups() as u32).filter(|&to| to != from) {
                        let fresh = Losses::new(&table).least(&table, from, to).0;
                        assert_eq!(kept.least(&table, from, to).0, fresh, "{arities}: {from} {to}");
                    }
                }
                let (u, v) = (rng.below(n), rng.below(n));
                if table.group_of(u) != table.group_of(v) {
                    kept.change(&table, [u, v].map(|process| table.group_of(process)));
                    table.swap(u, v);
                }
            }
        }
    }

    /// A random graph with two hubs adjacent to all processes.
    fn around_hubs(n: usize, rng: &mut Rng) -> CsrGraph {
        let mut builder = GraphBuilder::new(n);
        for u in 2..n as NodeId {
            builder.add_edge(0, u, 3);
            builder.add_edge(1, u, 3);
            let v = 2 + rng.below(n as u32 - 2);
            if u != v {
                builder.add_edge(u, v, i64::from(rng.below(9)) + 1);
            }
        }
        builder.build().unwrap()
    }

    /// A descent makes the same exchanges with and without cached losses.
    #[test]
    fn losses_change_no_descent() {
        let mut rng = Rng::new(4);
        let hierarchy = Hierarchy::parse("32:3:7", "1:10:100").unwrap();
        let n = hierarchy.num_pes();
        let mut start: Vec<PeId> = (0..n as PeId).collect();
        for graph in
            [random_graph(n, 2, 9, &mut rng), random_graph(n, 20, 9, &mut rng), around_hubs(n, &mut rng)]
        {
            rng.shuffle(&mut start);
            let ends = [true, false].map(|keeps_losses| {
                let mut table = GainTable::<i32>::new(&graph, &hierarchy, &start);
                let mut descent = Descent::new(&mut table, &[], keeps_losses, &());
                descent.run();
                let done = descent.done;
                (table.mapping().to_vec(), done.change, done.made, done.tried)
            });
            let [(.., tried), (.., tried_without)] = &ends;
            assert!(ends[0].2 > 0 && tried < tried_without);
            assert_eq!((&ends[0].0, ends[0].1, ends[0].2), (&ends[1].0, ends[1].1, ends[1].2));
        }
    }
}
