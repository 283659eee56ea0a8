//! Nodes on an InfiniBand fabric: a tree of switches where their hops make one, such as in fat trees; else a distance for each pair.
//!
//! Where two nodes of one switch are 30 apart, each hop between switches adds 5: as much as levels of a tree of switches, whose nodes are two
//! hops more apart, are assumed to. O(s² + s e) for s sets of switches that nodes hang on and e links.

use std::collections::{HashMap, VecDeque};

use super::error::ClusterError;
use super::network::{Network, check_pairs, not_in_topology, placed, tree};
use crate::io::cluster::fabric::Fabric;
use crate::io::cluster::names::Names;
use crate::io::cluster::topology::Switch;

/// Hops between switches that add as much as the way between two nodes of one switch.
const HOPS_OF_A_NODE: f64 = 6.0;

/// Levels of a tree at most; with more, hops are those of something else.
const MOST_LEVELS: usize = 64;

/// Nodes of these names on a fabric.
pub(super) fn network(fabric: &Fabric, hosts: &[&str]) -> Result<Network, ClusterError> {
    let known = Names::new(fabric.hosts.iter().map(|host| host.name.as_str()));
    let found = placed(&known, hosts, not_in_topology)?;
    let mut place_of_switches: HashMap<&[u32], usize> = HashMap::new();
    let mut places: Vec<&[u32]> = Vec::new();
    let place_of: Vec<usize> = found
        .into_iter()
        .map(|host| {
            let switches = fabric.hosts[host].switches.as_slice();
            *place_of_switches.entry(switches).or_insert_with(|| {
                places.push(switches);
                places.len() - 1
            })
        })
        .collect();
    check_pairs(places.len())?;
    let hops = hops(fabric, &places);
    if let Some(switches) = tree_of(&hops, places.len(), &place_of, hosts) {
        return tree(&switches, hosts, false);
    }
    check_pairs(hosts.len())?;
    let factor = |a: usize, b: usize| {
        let hops = f64::from(hops[place_of[a] * places.len() + place_of[b]]);
        if a == b { 0.0 } else { 1.0 + hops / HOPS_OF_A_NODE }
    };
    let factors = (0..hosts.len()).flat_map(|a| (0..hosts.len()).map(move |b| (a, b)));
    Ok(Network::Pairs {
        factors: factors.map(|(a, b)| factor(a, b)).collect(),
        from: format!("hops between {} switches", fabric.switches.len()),
    })
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

/// The class of each place, numbered in their order: places of a class are at most so many hops apart, all others more.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Source;
    use crate::io::cluster::topology::{self, Topology};

    /// A fabric of links between switches, and of hosts with their switches.
    fn fabric(links: &[(u32, u32)], hosts: &[(&str, u32)]) -> Fabric {
        let mut text = String::new();
        for (a, b) in links {
            text += &format!("Switch 4 \"S-{a}\"\n[1] \"S-{b}\"[1]\n");
        }
        for (number, (host, switch)) in hosts.iter().enumerate() {
            text += &format!("Switch 4 \"S-{switch}\"\n[1] \"H-{number}\"[1] # \"{host} mlx5_0\"\n");
        }
        match topology::read(Source::new("fabric", text.as_bytes()).unwrap()).unwrap() {
            Topology::Fabric(fabric) => fabric,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn fat_trees_are_trees_whatever_the_number_of_spines() {
        // Two pods of two leaves and two spines, all spines on both cores.
        let mut links = Vec::new();
        for pod in [0, 10] {
            links.extend([(pod, pod + 2), (pod, pod + 3), (pod + 1, pod + 2), (pod + 1, pod + 3)]);
            links.extend([(pod + 2, 20), (pod + 3, 21), (pod + 2, 21)]);
        }
        let fabric = fabric(&links, &[("a", 0), ("b", 0), ("c", 1), ("d", 10), ("e", 11)]);
        let hosts = ["a", "b", "c", "d", "e"];
        let Network::Tree { levels, digits, are_blocks: false } = network(&fabric, &hosts).unwrap() else { panic!() };
        assert_eq!(levels, 4);
        let outermost = |a: usize, b: usize| (0..levels).rev().find(|&level| digits[a][level] != digits[b][level]);
        let found = [(0, 1), (0, 2), (0, 3), (3, 4)].map(|(a, b)| outermost(a, b));
        assert_eq!(found, [Some(0), Some(1), Some(2), Some(1)]);
    }

    #[test]
    fn other_fabrics_have_a_distance_for_each_pair() {
        let ring = [(0, 1), (1, 2), (2, 3), (3, 0)];
        let fabric = fabric(&ring, &[("a", 0), ("b", 0), ("c", 1), ("d", 2)]);
        let Network::Pairs { factors, from } = network(&fabric, &["a", "b.site", "c", "d"]).unwrap() else { panic!() };
        let expected = [0.0, 1.0, 1.0 + 1.0 / 6.0, 1.0 + 2.0 / 6.0];
        assert_eq!(factors[..4], expected);
        assert_eq!(from, "hops between 4 switches");
        assert!(matches!(network(&fabric, &["x"]), Err(ClusterError::NotInTopology { .. })));
    }
}
