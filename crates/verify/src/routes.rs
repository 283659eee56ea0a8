//! The auditor's own routes: the links used by a message, directly from the description in
//! `viem_workload::routing`.

use std::collections::HashMap;

use super::machine::{Machine, Shape, cheapest_paths, product};
use crate::error::AuditError;
use crate::text::Row;

/// A lane of a link, in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Lane {
    Grid {
        vertex: u64,
        dimension: usize,
        is_up: bool,
        is_second: bool,
    },
    /// From a group of a level up, or down to it; each vertex of a grid has a tree.
    Tree {
        vertex: u64,
        level: usize,
        group: u64,
        is_up: bool,
    },
    Arc {
        from: usize,
        to: usize,
    },
    Port {
        pe: u64,
        is_out: bool,
    },
}

/// The route of a message.
#[derive(Debug, Default)]
pub(super) struct Route {
    /// Lanes, each with the cycles of a flit.
    pub(super) hops: Vec<(Lane, u64)>,
    /// True if a message uses all of them at once.
    pub(super) is_worm: bool,
}

/// The routes of a machine.
pub(super) struct Routes<'a> {
    machine: &'a Machine,
    /// The costs of the cheapest paths to the vertex that was queried last.
    towards: Option<(usize, Vec<Option<u64>>)>,
    hosts: Hosts,
    /// For an outline, by level: the first PE of the group of each PE.
    groups: Vec<Vec<u64>>,
}

impl<'a> Routes<'a> {
    pub(super) fn new(machine: &'a Machine) -> Self {
        let hosts = match &machine.shape {
            Shape::Network { links, .. } => Hosts::of(links),
            _ => Hosts::default(),
        };
        let groups = match &machine.shape {
            Shape::Outline { distances, digits, .. } => {
                (0..distances.len()).map(|level| first_of_groups(level, digits)).collect()
            }
            _ => Vec::new(),
        };
        Self { machine, towards: None, hosts, groups }
    }

    /// The route between two PEs. Routes to the same PE should be queried consecutively.
    pub(super) fn route(&mut self, from: u64, to: u64) -> Result<Route, AuditError> {
        let (p, q) = (self.machine.inner(from), self.machine.inner(to));
        let mut route = match &self.machine.shape {
            Shape::Tree { arities, distances } => {
                Route { hops: tree_hops(0, p, q, arities, distances), is_worm: false }
            }
            Shape::Outline { distances, between, .. } if between.is_empty() => {
                Route { hops: outline_hops(p, q, distances, &self.groups), is_worm: false }
            }
            Shape::Grid { lengths, is_closed, arities, distances, hop } => {
                let size = product(arities);
                let (at, target) = (p / size, q / size);
                if at == target {
                    let hops = tree_hops(at, p % size, q % size, arities, distances);
                    Route { hops, is_worm: false }
                } else {
                    let hops = grid_hops(at, target, lengths, *is_closed, (*hop).max(1));
                    Route { hops, is_worm: true }
                }
            }
            Shape::Cube { dimension } => {
                Route { hops: grid_hops(p, q, &vec![2; *dimension as usize], false, 1), is_worm: true }
            }
            Shape::Network { links, vertices, times } => {
                let (from, to) = (vertices[p as usize], vertices[q as usize]);
                if self.towards.as_ref().is_none_or(|&(target, _)| target != to) {
                    self.towards = Some((to, cheapest_paths(links, to)));
                }
                let costs = self.towards.as_ref().map_or(&[][..], |(_, costs)| costs);
                let path = network_path(links, costs, (from, to), &self.hosts)?;
                let rows = times.as_ref().unwrap_or(links);
                Route { hops: path.into_iter().map(|arc| timed(rows, arc)).collect(), is_worm: false }
            }
            Shape::Rails { arities, distances, same_rail } => {
                Route { hops: rail_hops((p, q), arities, distances, *same_rail), is_worm: false }
            }
            Shape::Matrix { .. } | Shape::Triangle { .. } | Shape::Outline { .. } => {
                let distance = self.machine.shape.distance(p, q);
                let (out, into) = (Lane::Port { pe: p, is_out: true }, Lane::Port { pe: q, is_out: false });
                Route { hops: vec![(out, distance.div_ceil(2)), (into, distance / 2)], is_worm: false }
            }
        };
        route.hops.retain(|&(_, cycles)| cycles > 0);
        Ok(route)
    }
}

/// Up to the smallest common group, and down, in the tree of a vertex.
fn tree_hops(vertex: u64, p: u64, q: u64, arities: &[u64], distances: &[u64]) -> Vec<(Lane, u64)> {
    let group = |pe: u64, level: usize| pe / product(&arities[..level]);
    let lane = |pe, level, is_up| Lane::Tree { vertex, level, group: group(pe, level), is_up };
    hops_in_groups(p, q, distances, &|level| group(p, level) != group(q, level), &lane)
}

/// The same in a tree of which the group of each PE is known, by level.
fn outline_hops(p: u64, q: u64, distances: &[u64], groups: &[Vec<u64>]) -> Vec<(Lane, u64)> {
    let group = |pe: u64, level: usize| groups[level][pe as usize];
    let lane = |pe, level, is_up| Lane::Tree { vertex: 0, level, group: group(pe, level), is_up };
    hops_in_groups(p, q, distances, &|level| group(p, level) != group(q, level), &lane)
}

/// The first PE that has the same digits from a level on, of each PE.
fn first_of_groups(level: usize, digits: &[Vec<u64>]) -> Vec<u64> {
    let mut first = HashMap::new();
    (0..).zip(digits).map(|(pe, digits)| *first.entry(&digits[level..]).or_insert(pe)).collect()
}

/// The hops over the groups of levels, given whether the PEs are in different groups of a level, and its lanes.
fn hops_in_groups(
    p: u64,
    q: u64,
    distances: &[u64],
    differ: &dyn Fn(usize) -> bool,
    lane: &dyn Fn(u64, usize, bool) -> Lane,
) -> Vec<(Lane, u64)> {
    let Some(top) = (0..distances.len()).rev().find(|&level| differ(level)) else {
        return Vec::new();
    };
    // Skip levels with a larger distance than one outside them.
    let passed: Vec<usize> = (0..=top)
        .filter(|&level| distances[level..=top].iter().all(|&outside| distances[level] <= outside))
        .collect();
    let (mut up, mut down, mut so_far) = (Vec::new(), Vec::new(), 0);
    for level in passed {
        let cost = distances[level] - so_far;
        so_far = distances[level];
        up.push((lane(p, level, true), cost.div_ceil(2)));
        down.insert(0, (lane(q, level, false), cost / 2));
    }
    up.extend(down);
    up
}

/// Inside a node as in a tree; else in the tree of GPUs in rails, rails in pods, and so on.
fn rail_hops((p, q): (u64, u64), arities: &[u64], distances: &[u64], same_rail: u64) -> Vec<(Lane, u64)> {
    let (gpus, nodes) = (arities[0], arities[1]);
    if p / gpus == q / gpus {
        return tree_hops(p / gpus, p % gpus, q % gpus, &arities[..1], &distances[..1]);
    }
    let place = |pe: u64| {
        let (rail, node, pod) = (pe % gpus, pe / gpus % nodes, pe / (gpus * nodes));
        node + nodes * rail + nodes * gpus * pod
    };
    let of_fabric = [&[nodes, gpus], &arities[2..]].concat();
    tree_hops(u64::MAX, place(p), place(q), &of_fabric, &[&[same_rail], &distances[1..]].concat())
}

/// The first dimension first, the shorter way round, upwards on ties. After crossing from one end of a closed
/// dimension to the other, a message uses the second lane.
fn grid_hops(from: u64, to: u64, lengths: &[u64], is_closed: bool, cycles: u64) -> Vec<(Lane, u64)> {
    let (mut hops, mut stride, mut vertex) = (Vec::new(), 1, from);
    for (dimension, &length) in lengths.iter().enumerate() {
        let coordinate = |vertex: u64| vertex / stride % length;
        let there = coordinate(to);
        let ahead = (there + length - coordinate(from)) % length;
        let is_up = if is_closed { 2 * ahead <= length } else { there > coordinate(from) };
        let mut is_second = false;
        while coordinate(vertex) != there {
            let here = coordinate(vertex);
            let next = (here + if is_up { 1 } else { length - 1 }) % length;
            is_second |= here.abs_diff(next) != 1 || (is_closed && length == 2 && is_up != (next > here));
            hops.push((Lane::Grid { vertex, dimension, is_up, is_second }, cycles));
            vertex = vertex - here * stride + next * stride;
        }
        stride *= length;
    }
    hops
}

/// The hosts of a network.
#[derive(Default)]
struct Hosts {
    /// The number of the host of each vertex: of what hangs on the part of the network without dead ends, the vertex next to that part;
    /// of PEs in that part, themselves. If nothing is without dead ends, all have host 0.
    number: Vec<usize>,
    /// True if each vertex of that part is a PE or has one hanging on it.
    are_everywhere: bool,
}

impl Hosts {
    fn of(links: &[Row]) -> Self {
        let is_kept = without_dead_ends(links);
        let hanging = |from: usize, on: usize| {
            let (mut found, mut waiting) = (Vec::new(), vec![(from, on)]);
            while let Some((vertex, above)) = waiting.pop() {
                found.push(vertex);
                let below = links[vertex].arcs.iter().map(|&(next, _)| next);
                waiting
                    .extend(below.filter(|&next| !is_kept[next] && next != above).map(|next| (next, vertex)));
            }
            found
        };
        let (mut number, mut count) = (vec![0; links.len()], 0);
        let mut has_pe: Vec<bool> = links.iter().map(|row| row.weight > 0).collect();
        for vertex in 0..links.len() {
            let kept = links[vertex].arcs.iter().map(|&(next, _)| next).find(|&next| is_kept[next]);
            if is_kept[vertex] && links[vertex].weight > 0 {
                number[vertex] = count;
                count += 1;
            } else if let (false, Some(on)) = (is_kept[vertex], kept) {
                for other in hanging(vertex, on) {
                    number[other] = count;
                    has_pe[on] |= links[other].weight > 0;
                }
                count += 1;
            }
        }
        let are_everywhere = (0..links.len()).all(|vertex| !is_kept[vertex] || has_pe[vertex]);
        Self { number, are_everywhere }
    }
}

/// Whether each vertex is left if dead ends are removed until there is none.
fn without_dead_ends(links: &[Row]) -> Vec<bool> {
    let mut is_kept = vec![true; links.len()];
    let mut waiting: Vec<usize> = (0..links.len()).collect();
    while let Some(vertex) = waiting.pop() {
        let kept = links[vertex].arcs.iter().map(|&(next, _)| next).filter(|&next| is_kept[next]);
        if is_kept[vertex] && kept.clone().count() <= 1 {
            waiting.extend(kept);
            is_kept[vertex] = false;
        }
    }
    is_kept
}

/// The arcs of a cheapest path. Among the possible next vertices, the number of the host selects one of those in ascending order; if hosts
/// are everywhere, the nearest number is taken, of two the greater.
fn network_path(
    links: &[Row],
    costs: &[Option<u64>],
    (from, to): (usize, usize),
    hosts: &Hosts,
) -> Result<Vec<(usize, usize)>, AuditError> {
    let (mut path, mut at) = (Vec::new(), from);
    while at != to {
        let nearer = links[at].arcs.iter().filter_map(|&(next, link)| {
            let rest = costs[next].filter(|rest| costs[at] == rest.checked_add(link))?;
            Some(next).filter(|_| Some(rest) < costs[at])
        });
        let mut nearer: Vec<usize> = nearer.collect();
        nearer.sort_unstable();
        let nearest = nearer.iter().rev().min_by_key(|next| next.abs_diff(at)).copied();
        let next = match nearest {
            Some(nearest) if hosts.are_everywhere => nearest,
            Some(_) => nearer[hosts.number[to] % nearer.len()],
            None => return Err(AuditError::Machine { reason: "there is no path between two PEs" }),
        };
        path.push((at, next));
        at = next;
    }
    Ok(path)
}

/// An arc with its weight among these.
fn timed(rows: &[Row], (from, to): (usize, usize)) -> (Lane, u64) {
    let cycles = rows[from].arcs.iter().find(|&&(next, _)| next == to).map_or(0, |&(_, cycles)| cycles);
    (Lane::Arc { from, to }, cycles)
}
