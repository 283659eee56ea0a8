//! Construction by groups: processes that communicate with each other only, or far more than with all others, are placed whole.
//!
//! Division from the outermost parts on fills a node with groups, but does not see that these do not fit the sockets inside of it,
//! and exchanges of single processes cannot repair it. Here all groups are packed into innermost parts, if [`Packing`] finds how.
//! Otherwise they are placed one after the other, each whole in the innermost part that has room, where it fits most tightly; if
//! no innermost part has room, in the next larger ones, divided between the children. Which groups find room depends on the order,
//! so the order is searched: a group moves to another position of it wherever that does not raise J.
//!
//! For n processes, m edges, g groups and p parts, an order takes O(n + m + p + g log p).

use std::collections::BTreeSet;

use crate::base::observer::Observer;
use crate::base::rng::Rng;
use crate::base::types::{Cost, NodeId, PeId, Weight};
use crate::graph::groups::{components_in_order, heavy_groups_in_order};
use crate::machine::Parts;
use crate::mapping::Mapping;
use crate::mapping::objective::cost;
use crate::mapping::problem::Problem;
use crate::partition::Packing;

/// The search ends after this many orders for each group that do not lower J. Balances groups that hardly fit against time: on 40
/// machines with random cores left out, with random cliques, eight times as many lower J by 0.1 %.
const PATIENCE: usize = 32;

/// With fewer orders, the search finds little; such graphs are large.
const LEAST_ORDERS: usize = 8;

/// The machine and the effort of a construction by groups.
pub(crate) struct ByGroups<'a> {
    pub parts: &'a Parts,
    /// About how many processes, edges and parts are looked at.
    pub effort: usize,
    pub seed: u64,
    /// Once it asks to stop, the best order so far is the last.
    pub observer: &'a dyn Observer,
}

impl ByGroups<'_> {
    /// The best mapping that is found, with its J; none if the graph does not consist of groups.
    pub fn construct(&self, problem: &Problem<'_>) -> Option<(Cost, Mapping)> {
        let graph = problem.graph();
        let once = graph.num_nodes() + graph.num_arcs() + self.parts.num_parts();
        let orders = self.effort / once;
        if orders < LEAST_ORDERS {
            return None;
        }
        let (groups, single) =
            several(components_in_order(graph)).or_else(|| several(heavy_groups_in_order(graph).next()?))?;
        let rooms = Rooms::of(self.parts);
        let with_cost = |mapping| (cost(problem, &mapping), mapping);
        if let Some(mapping) = rooms.clone().pack(&groups, &single) {
            return Some(with_cost(mapping));
        }
        let place = |order: &[u32]| {
            let first = order.iter().map(|&group| &groups[group as usize][..]);
            with_cost(rooms.clone().place(first.chain(single.iter().map(|group| &group[..]))))
        };
        let (mut best, mut order) = initial_orders(problem, &groups)
            .map(|order| (place(&order), order))
            .into_iter()
            .min_by_key(|&((cost, _), _)| cost)?;
        let mut rng = Rng::new(self.seed);
        let mut vain = 0;
        for _ in 0..orders {
            if vain == PATIENCE * groups.len() || self.observer.should_stop() {
                break;
            }
            let [from, to] = [(); 2].map(|()| rng.below(groups.len() as u32) as usize);
            moved(&mut order, from, to);
            let next = place(&order);
            vain = if next.0 < best.0 { 0 } else { vain + 1 };
            if next.0 <= best.0 {
                best = next;
            } else {
                moved(&mut order, to, from);
            }
        }
        Some(best)
    }
}

type Groups = Vec<Vec<NodeId>>;

/// The groups of several vertices, and those of one, if there are several of the first.
fn several(groups: Groups) -> Option<(Groups, Groups)> {
    let (several, single): (Groups, Groups) = groups.into_iter().partition(|group| group.len() > 1);
    (several.len() > 1).then_some((several, single))
}

/// Moves an entry to another position; those between move up.
fn moved(order: &mut [u32], from: usize, to: usize) {
    if from < to {
        order[from..=to].rotate_left(1);
    } else {
        order[to..=from].rotate_right(1);
    }
}

/// The orders that the search begins with: large groups are hard to place late, and groups with heavy edges are costly to divide.
fn initial_orders(problem: &Problem<'_>, groups: &[Vec<NodeId>]) -> [Vec<u32>; 3] {
    let graph = problem.graph();
    let degree = |group: &[NodeId]| -> Cost {
        group.iter().flat_map(|&node| graph.arcs(node)).map(|(_, weight)| Cost::from(weight)).sum()
    };
    let degrees: Vec<Cost> = groups.iter().map(|group| degree(group)).collect();
    let sorted_by = |value: &dyn Fn(usize) -> Cost| {
        let mut order: Vec<u32> = (0..groups.len() as u32).collect();
        order.sort_by_key(|&group| std::cmp::Reverse(value(group as usize)));
        order
    };
    [
        sorted_by(&|group| groups[group].len() as Cost),
        sorted_by(&|group| degrees[group]),
        sorted_by(&|group| degrees[group] / groups[group].len().max(1) as Cost),
    ]
}

/// What is free in each part of a machine.
#[derive(Clone)]
struct Rooms<'a> {
    parts: &'a Parts,
    /// By part: the part that it is a child of; its own for the whole machine.
    parents: Vec<u32>,
    /// By part: see [`Parts::heights`].
    heights: Vec<u32>,
    /// By part: the number of places that are free.
    rooms: Vec<u32>,
    /// By height: the parts, each with its room.
    by_height: Vec<BTreeSet<(u32, u32)>>,
    /// By part without children: the first place that is free, in the order of the machine.
    next: Vec<u32>,
}

impl<'a> Rooms<'a> {
    fn of(parts: &'a Parts) -> Self {
        let all = 0..parts.num_parts();
        let (mut parents, heights) = (vec![0; all.len()], parts.heights());
        for part in all.clone() {
            parts.children(part).for_each(|child| parents[child] = part as u32);
        }
        let rooms: Vec<u32> = all.clone().map(|part| parts.range(part).len() as u32).collect();
        let mut by_height = vec![BTreeSet::new(); heights[0] as usize + 1];
        for part in all.clone() {
            by_height[heights[part] as usize].insert((rooms[part], part as u32));
        }
        let next = all.map(|part| parts.range(part).start as u32).collect();
        Self { parts, parents, heights, rooms, by_height, next }
    }

    /// A mapping with all groups whole in innermost parts, if a packing is found; groups of a single process fill what is left.
    fn pack(mut self, groups: &Groups, single: &Groups) -> Option<Mapping> {
        let innermost: Vec<usize> =
            (0..self.parts.num_parts()).filter(|&part| self.parts.children(part).is_empty()).collect();
        let rooms: Vec<Weight> = innermost.iter().map(|&part| self.rooms[part].into()).collect();
        let weights: Vec<Weight> = groups.iter().map(|group| group.len() as Weight).collect();
        let bins = Packing { weights: &weights, sizes: &rooms, rooms: &rooms }.find()?;
        let mut place_of = self.nowhere();
        groups
            .iter()
            .zip(bins)
            .for_each(|(group, bin)| self.take(innermost[bin as usize], group, &mut place_of));
        single.iter().for_each(|group| self.fill(0, group, &mut place_of));
        Some(Mapping::from_permutation(place_of))
    }

    /// The mapping that arises if groups are placed one after the other. Together they have as many processes as there are places.
    fn place<'g>(mut self, groups: impl Iterator<Item = &'g [NodeId]>) -> Mapping {
        let mut place_of = self.nowhere();
        for group in groups {
            let part = self.tightest(group.len() as u32);
            self.fill(part, group, &mut place_of);
        }
        Mapping::from_permutation(place_of)
    }

    /// Memory for the place of each process.
    fn nowhere(&self) -> Vec<PeId> {
        vec![0; self.parts.order().len()]
    }

    /// The part of least height with room for `size` processes; of several, the one with the least room.
    fn tightest(&self, size: u32) -> usize {
        let of_height = |parts: &BTreeSet<(u32, u32)>| parts.range((size, 0)..).next().map(|&(_, part)| part);
        self.by_height.iter().find_map(of_height).expect("the machine has room for all") as usize
    }

    /// Places a group in a part that has room for it: whole in the child where it fits most tightly, else as much as the child with
    /// most room takes, and then the rest.
    fn fill(&mut self, part: usize, mut group: &[NodeId], place_of: &mut [PeId]) {
        let children = self.parts.children(part);
        if children.is_empty() {
            return self.take(part, group, place_of);
        }
        while !group.is_empty() {
            let room = |child: &usize| self.rooms[*child] as usize;
            let fits = children.clone().filter(|child| room(child) >= group.len()).min_by_key(room);
            let child = fits.or_else(|| children.clone().max_by_key(room)).expect("it has children");
            let (first, rest) = group.split_at(room(&child).min(group.len()));
            self.fill(child, first, place_of);
            group = rest;
        }
    }

    /// Takes the first places of a part without children.
    fn take(&mut self, part: usize, group: &[NodeId], place_of: &mut [PeId]) {
        let count = group.len() as u32;
        for (&node, place) in group.iter().zip(self.next[part]..) {
            place_of[node as usize] = place;
        }
        self.next[part] += count;
        let mut part = part as u32;
        loop {
            let index = part as usize;
            let of_height = &mut self.by_height[self.heights[index] as usize];
            of_height.remove(&(self.rooms[index], part));
            self.rooms[index] -= count;
            of_height.insert((self.rooms[index], part));
            if part == 0 {
                break;
            }
            part = self.parents[index];
        }
    }
}
