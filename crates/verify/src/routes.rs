//! The auditor's own routes: the links used by a message, directly from the description in
//! `viem_workload::routing`.

use std::collections::HashMap;

use super::machine::{Machine, Shape, cheapest_paths};
use crate::error::AuditError;
use crate::text::Row;
use crate::written::{Lane, Route, hops_in_groups};

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
            Shape::Written(written) => written.route(p, q),
            Shape::Outline { distances, between, .. } if between.is_empty() => {
                Route { hops: outline_hops(p, q, distances, &self.groups), is_worm: false }
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
            Shape::Matrix { .. } | Shape::Triangle { .. } | Shape::Outline { .. } => {
                Route::of_ports(p, q, self.machine.shape.distance(p, q))
            }
        };
        route.hops.retain(|&(_, cycles)| cycles > 0);
        Ok(route)
    }
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

/// Returns whether each vertex is left if dead ends are removed until there is none.
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
