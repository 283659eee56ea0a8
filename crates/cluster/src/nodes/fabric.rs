//! Nodes on an InfiniBand fabric: a tree of switches where their hops make one, such as in fat trees; else a distance for each pair.
//!
//! If two nodes of one switch are 30 apart, each hop between switches adds 15: as much as levels of a tree of switches, whose nodes are two
//! hops more apart, are assumed to. O(s² + s e) for s sets of switches that nodes hang on and e links.

use std::collections::{HashMap, VecDeque};

use crate::files::fabric::Fabric;
use crate::files::topology::Switch;

/// Hops between switches that add as much as the way between two nodes of one switch.
const HOPS_OF_A_NODE: f64 = 2.0;

/// Levels of a tree at most; with more, hops are those of something else.
const MOST_LEVELS: usize = 64;

/// Nodes on a fabric.
pub(super) struct OnFabric<'a> {
    fabric: &'a Fabric,
    /// The sets of switches that nodes hang on.
    places: Vec<&'a [u32]>,
    /// The set of each node.
    place_of: Vec<usize>,
}

impl<'a> OnFabric<'a> {
    /// Nodes that are these hosts of the fabric.
    pub(super) fn new(fabric: &'a Fabric, hosts: &[usize]) -> Self {
        let mut index_of: HashMap<&[u32], usize> = HashMap::new();
        let mut places: Vec<&[u32]> = Vec::new();
        let mut place_of = Vec::with_capacity(hosts.len());
        for &host in hosts {
            let switches = fabric.hosts[host].switches.as_slice();
            let place = *index_of.entry(switches).or_insert(places.len());
            if place == places.len() {
                places.push(switches);
            }
            place_of.push(place);
        }
        Self { fabric, places, place_of }
    }

    /// The number of sets of switches that nodes hang on.
    pub(super) fn num_places(&self) -> usize {
        self.places.len()
    }

    /// The hops between each two of these sets, row by row.
    pub(super) fn hops(&self) -> Vec<u32> {
        hops(self.fabric, &self.places)
    }

    /// The tree of switches that the hops make up, if they do, with nodes of these names.
    pub(super) fn tree(&self, hops: &[u32], hosts: &[&str]) -> Option<Vec<Switch>> {
        tree_of(hops, self.places.len(), &self.place_of, hosts)
    }

    /// Returns how much farther apart two nodes are than two nodes of one switch.
    pub(super) fn factors(&self, hops: &[u32]) -> Vec<f64> {
        let nodes = 0..self.place_of.len();
        let factor = |a: usize, b: usize| {
            let hops = f64::from(hops[self.place_of[a] * self.places.len() + self.place_of[b]]);
            if a == b { 0.0 } else { 1.0 + hops / HOPS_OF_A_NODE }
        };
        nodes.clone().flat_map(|a| nodes.clone().map(move |b| (a, b))).map(|(a, b)| factor(a, b)).collect()
    }
}

/// The hops between the nearest switches of each two sets, row by row. Sets without a path are two hops farther apart than any others.
fn hops(fabric: &Fabric, places: &[&[u32]]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut links: Vec<Vec<u32>> = vec![Vec::new(); fabric.switches.len()];
    for &(a, b) in &fabric.links {
        links[a as usize].push(b);
        links[b as usize].push(a);
    }
    for ends in &mut links {
        ends.sort_unstable();
        ends.dedup();
    }
    let mut all = Vec::with_capacity(places.len() * places.len());
    for from in places {
        let mut reached = vec![NONE; links.len()];
        from.iter().for_each(|&switch| reached[switch as usize] = 0);
        let mut waiting: VecDeque<u32> = from.iter().copied().collect();
        while let Some(switch) = waiting.pop_front() {
            for &next in &links[switch as usize] {
                if reached[next as usize] == NONE {
                    reached[next as usize] = reached[switch as usize] + 1;
                    waiting.push_back(next);
                }
            }
        }
        let nearest = |to: &&[u32]| to.iter().map(|&switch| reached[switch as usize]).min().unwrap_or(NONE);
        all.extend(places.iter().map(nearest));
    }
    let far = all.iter().copied().filter(|&hops| hops != NONE).max().unwrap_or(0) + 2;
    all.iter_mut().filter(|hops| **hops == NONE).for_each(|hops| *hops = far);
    all
}

/// The tree whose levels are the numbers of hops, if there is one: all that are so near are near each other.
fn tree_of(hops: &[u32], num_places: usize, place_of: &[usize], hosts: &[&str]) -> Option<Vec<Switch>> {
    let mut levels: Vec<u32> = hops.to_vec();
    levels.push(0);
    levels.sort_unstable();
    levels.dedup();
    if levels.len() > MOST_LEVELS {
        return None;
    }
    let name = |level: usize, class: usize| format!("{level}.{class}");
    let mut switches: Vec<Switch> = Vec::new();
    let mut below: Vec<usize> = Vec::new();
    for (level, &limit) in levels.iter().enumerate() {
        let classes = classes(hops, num_places, limit)?;
        let count = classes.iter().max().map_or(0, |last| last + 1);
        let first = switches.len();
        switches.extend((0..count).map(|class| Switch::new(name(level, class), Vec::new(), Vec::new())));
        if level == 0 {
            for (&place, &host) in place_of.iter().zip(hosts) {
                switches[first + classes[place]].nodes.push(host.to_owned());
            }
        } else {
            let mut is_placed = vec![false; num_places];
            for (&inner, &class) in below.iter().zip(&classes) {
                if !std::mem::replace(&mut is_placed[inner], true) {
                    switches[first + class].switches.push(name(level - 1, inner));
                }
            }
        }
        below = classes;
    }
    Some(switches)
}

/// The class of each place, numbered in their order: places of a class are at most this many hops apart, all others more.
fn classes(hops: &[u32], num_places: usize, limit: u32) -> Option<Vec<usize>> {
    let is_near = |a: usize, b: usize| hops[a * num_places + b] <= limit;
    let (mut class_of, mut firsts): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for place in 0..num_places {
        let class = firsts.iter().position(|&first| is_near(first, place)).unwrap_or(firsts.len());
        if class == firsts.len() {
            firsts.push(place);
        }
        class_of.push(class);
    }
    let fits = |a: usize| (0..num_places).all(|b| is_near(a, b) == (class_of[a] == class_of[b]));
    (0..num_places).all(fits).then_some(class_of)
}
