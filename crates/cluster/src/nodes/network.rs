//! The network of a cluster: a tree of switches, or a distance for each pair of nodes.

use std::collections::HashMap;

use super::error::ClusterError;
use super::fabric::OnFabric;
use crate::files::fabric::Fabric;
use crate::files::latency::Latencies;
use crate::files::names::Names;
use crate::files::topology::{Switch, Topology, Torus};
use viem::base::types::Distance;

/// Nodes whose distances are stored pair by pair, at most: as many take 128 MiB.
pub(super) const MOST_NODES: usize = 1 << 12;

/// The positions of nodes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Network {
    /// The positions in a tree of `levels` levels: the digits of each node, innermost first. The innermost digit numbers the nodes at a switch, or in a
    /// block, apart.
    Tree { levels: usize, digits: Vec<Vec<u32>>, are_blocks: bool },
    /// Distances in multiples of that of two nodes that are as near as can be, row by row, and what they are from.
    Pairs { factors: Vec<f64>, from: String },
}

impl Network {
    /// Nodes that are all alike.
    pub(super) fn flat(num_nodes: usize) -> Self {
        let digits = (0..num_nodes as u32).map(|node| vec![node]).collect();
        Network::Tree { levels: 1, digits, are_blocks: false }
    }

    /// Nodes of these names in a topology.
    pub(super) fn of_topology(topology: &Topology, hosts: &[&str]) -> Result<Self, ClusterError> {
        match topology {
            Topology::Flat => Ok(Self::flat(hosts.len())),
            Topology::Tree(switches) => tree(switches, hosts, false),
            Topology::Blocks { blocks, sizes } => tree(&switches_of_blocks(blocks, sizes), hosts, true),
            Topology::Tori(tori) => pairs_of_tori(tori, hosts),
            Topology::Fabric(fabric) => on_fabric(fabric, hosts),
        }
    }

    /// Nodes whose latencies were measured; latencies of both directions are averaged. `hosts` are the names of the nodes `used`, of
    /// `num_nodes`; latencies without names are those of all nodes.
    pub(super) fn of_latencies(
        latencies: &Latencies,
        hosts: &[Option<&str>],
        used: &[usize],
        num_nodes: usize,
    ) -> Result<Self, ClusterError> {
        let count = hosts.len();
        let rows: Vec<usize> = match &latencies.hosts {
            Some(names) => {
                let hosts: Option<Vec<&str>> = hosts.iter().map(Option::as_deref).collect();
                let known = Names::new(names.iter().map(String::as_str));
                placed(&known, &hosts.ok_or(ClusterError::NoHosts)?, |host| ClusterError::NotInLatencies {
                    host,
                })?
            }
            None if latencies.num_hosts == num_nodes => used.to_vec(),
            None => return Err(ClusterError::Latencies { found: latencies.num_hosts, nodes: num_nodes }),
        };
        check_pairs(count)?;
        let latency = |a: usize, b: usize| latencies.entries[rows[a] * latencies.num_hosts + rows[b]];
        let pairs = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
        let mean = |(a, b): (usize, usize)| if a == b { 0.0 } else { (latency(a, b) + latency(b, a)) / 2.0 };
        let mut factors: Vec<f64> = pairs.map(mean).collect();
        let least = factors.iter().copied().filter(|&factor| factor > 0.0).fold(f64::INFINITY, f64::min);
        factors.iter_mut().for_each(|factor| *factor /= least);
        Ok(Network::Pairs { factors, from: format!("latencies, the least is {}", rounded(least)) })
    }
}

/// A latency to six decimals, or to six digits if that leaves too little of it.
fn rounded(latency: f64) -> String {
    let decimals = (latency * 1e6).round() / 1e6;
    let is_near = (decimals - latency).abs() <= 1e-3 * latency;
    let digits: f64 = format!("{latency:.5e}").parse().unwrap_or(latency);
    if is_near { decimals.to_string() } else { format!("{digits:e}") }
}

/// The index of each host among known names; all must be there.
fn placed(
    known: &Names<'_>,
    hosts: &[&str],
    lost: impl Fn(String) -> ClusterError,
) -> Result<Vec<usize>, ClusterError> {
    let found = known.find_all(hosts)?.into_iter().zip(hosts);
    found.map(|(index, &host)| index.ok_or_else(|| lost(host.to_owned()))).collect()
}

fn not_in_topology(host: String) -> ClusterError {
    ClusterError::NotInTopology { host }
}

fn check_pairs(nodes: usize) -> Result<(), ClusterError> {
    if nodes > MOST_NODES {
        return Err(ClusterError::TooManyNodes { nodes, most: MOST_NODES });
    }
    Ok(())
}

/// Blocks as switches, and blocks of blocks as switches above them.
fn switches_of_blocks(blocks: &[Vec<String>], sizes: &[u32]) -> Vec<Switch> {
    let name = |level: usize, index: usize| format!("{level}.{index}");
    let mut switches: Vec<Switch> = blocks
        .iter()
        .enumerate()
        .map(|(index, nodes)| Switch { name: name(0, index), switches: Vec::new(), nodes: nodes.clone() })
        .collect();
    let mut below = blocks.len();
    for (level, pair) in sizes.windows(2).enumerate() {
        let together = (pair[1] / pair[0]).max(1) as usize;
        let groups = below.div_ceil(together);
        switches.extend((0..groups).map(|index| Switch {
            name: name(level + 1, index),
            switches: (index * together..below.min((index + 1) * together)).map(|i| name(level, i)).collect(),
            nodes: Vec::new(),
        }));
        below = groups;
        if below == 1 {
            break;
        }
    }
    switches
}

/// A switch of the tree, or its root above all of them.
#[derive(Clone, Default)]
struct Vertex {
    above: usize,
    /// Levels below it, of those that hold hosts of the job; 0 if hosts only hang on it.
    height: usize,
    /// Members that have been numbered.
    members: u32,
    number: Option<u32>,
}

/// The digits of the hosts in a tree of switches. Switches without hosts do not count; those that hang on no other hang on a root.
/// Members of a switch are numbered in the order of the hosts.
fn tree(switches: &[Switch], hosts: &[&str], are_blocks: bool) -> Result<Network, ClusterError> {
    let root = switches.len();
    let index_of: HashMap<&str, usize> =
        switches.iter().map(|switch| switch.name.as_str()).zip(0..).collect();
    let mut vertices = vec![Vertex { above: root, ..Vertex::default() }; root + 1];
    let (mut nodes, mut switch_of) = (Vec::new(), Vec::new());
    for (index, switch) in switches.iter().enumerate() {
        for name in &switch.switches {
            if let Some(&below) = index_of.get(name.as_str()) {
                vertices[below].above = index;
            }
        }
        nodes.extend(switch.nodes.iter().map(String::as_str));
        switch_of.resize(nodes.len(), index);
    }
    let found = placed(&Names::new(nodes), hosts, not_in_topology)?;
    let at: Vec<usize> = found.into_iter().map(|node| switch_of[node]).collect();
    // No path is longer than there are switches: the reader has made sure that it is a tree.
    for &switch in &at {
        let (mut vertex, mut height) = (switch, 0);
        while vertex != root && height < switches.len() {
            height += 1;
            vertex = vertices[vertex].above;
            vertices[vertex].height = vertices[vertex].height.max(height);
        }
    }
    let levels = vertices[root].height + 1;
    let digits = at.iter().map(|&switch| digits_at(&mut vertices, switch, root, levels)).collect();
    Ok(Network::Tree { levels, digits, are_blocks })
}

/// The digits of the next host at a switch.
fn digits_at(vertices: &mut [Vertex], switch: usize, root: usize, levels: usize) -> Vec<u32> {
    let mut digits = vec![0; levels];
    let next_member = |vertex: &mut Vertex| {
        vertex.members += 1;
        vertex.members - 1
    };
    let leaf = &mut vertices[switch];
    digits[leaf.height] = next_member(leaf);
    let mut below = switch;
    while below != root {
        let above = vertices[below].above;
        let number = match vertices[below].number {
            Some(number) => number,
            None => next_member(&mut vertices[above]),
        };
        vertices[below].number = Some(number);
        digits[vertices[above].height] = number;
        below = above;
    }
    digits
}

/// Nodes on a fabric: in a tree where their hops make one, else with a distance for each pair.
fn on_fabric(fabric: &Fabric, hosts: &[&str]) -> Result<Network, ClusterError> {
    let known = Names::new(fabric.hosts.iter().map(|host| host.name.as_str()));
    let nodes = OnFabric::new(fabric, &placed(&known, hosts, not_in_topology)?);
    check_pairs(nodes.num_places())?;
    let hops = nodes.hops();
    if let Some(switches) = nodes.tree(&hops, hosts) {
        return tree(&switches, hosts, false);
    }
    check_pairs(hosts.len())?;
    let from = format!("hops between {} switches", fabric.switches.len());
    Ok(Network::Pairs { factors: nodes.factors(&hops), from })
}

/// Hops between hosts on tori; hosts of different tori are a hop farther apart than any of one.
fn pairs_of_tori(tori: &[Torus], hosts: &[&str]) -> Result<Network, ClusterError> {
    check_pairs(hosts.len())?;
    let names = tori.iter().flat_map(|torus| &torus.nodes).map(String::as_str);
    let place_of: Vec<(usize, u64)> = tori
        .iter()
        .enumerate()
        .flat_map(|(index, torus)| torus.vertices.iter().map(move |&vertex| (index, vertex)))
        .collect();
    let found = placed(&Names::new(names), hosts, not_in_topology)?;
    let places: Vec<(usize, u64)> = found.into_iter().map(|node| place_of[node]).collect();
    let diameter = |torus: &Torus| torus.lengths.iter().map(|length| u64::from(length / 2)).sum::<u64>();
    let far = tori.iter().map(diameter).max().unwrap_or(0) + 1;
    let hops = |a: (usize, u64), b: (usize, u64)| {
        if a.0 == b.0 { hops(&tori[a.0].lengths, a.1, b.1) } else { far }
    };
    let factors = places.iter().flat_map(|&a| places.iter().map(move |&b| hops(a, b) as f64)).collect();
    let shape = |torus: &Torus| match torus.lengths.as_slice() {
        [length] => format!("a ring of {length}"),
        lengths => format!("a torus of {}", lengths.iter().map(u32::to_string).collect::<Vec<_>>().join("x")),
    };
    let from = match tori {
        [only] => format!("hops on {}", shape(only)),
        tori => format!("hops on {} tori", tori.len()),
    };
    Ok(Network::Pairs { factors, from })
}

fn hops(lengths: &[u32], mut a: u64, mut b: u64) -> u64 {
    let mut hops = 0;
    for &length in lengths {
        let length = u64::from(length.max(1));
        let gap = (a % length).abs_diff(b % length);
        hops += gap.min(length - gap);
        (a, b) = (a / length, b / length);
    }
    hops
}

/// Distances of pairs of nodes where the nearest are `nearest` apart, rounded.
pub(super) fn scaled(factors: &[f64], nearest: Distance) -> Option<Vec<Distance>> {
    const MOST: f64 = (1u64 << 52) as f64;
    let scale = |&factor: &f64| {
        let distance = (factor * nearest as f64).round();
        (distance <= MOST).then_some(distance as Distance)
    };
    factors.iter().map(scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::topology;
    use viem_io::Source;

    fn switch(name: &str, switches: &[&str], nodes: &[&str]) -> Switch {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Switch { name: name.to_owned(), switches: own(switches), nodes: own(nodes) }
    }

    #[test]
    fn hosts_find_their_switches() {
        let switches = [
            switch("top", &["a", "b"], &["z"]),
            switch("a", &[], &["n0", "n1"]),
            switch("b", &[], &["n2", "n3"]),
        ];
        let network = tree(&switches, &["n0", "n1", "n2", "z"], false).unwrap();
        let digits = vec![vec![0, 0, 0], vec![1, 0, 0], vec![0, 1, 0], vec![0, 2, 0]];
        assert_eq!(network, Network::Tree { levels: 3, digits, are_blocks: false });
        let lone = [switch("a", &[], &["n0"]), switch("b", &[], &["n1"])];
        let digits = [vec![0, 1], vec![0, 0]];
        let Network::Tree { digits: found, .. } = tree(&lone, &["n1", "n0"], false).unwrap() else {
            panic!()
        };
        assert_eq!(found, [digits[1].clone(), digits[0].clone()]);
        assert!(matches!(tree(&lone, &["n7"], false), Err(ClusterError::NotInTopology { .. })));
    }

    #[test]
    fn short_names_and_full_ones_are_of_one_host() {
        let switches = [switch("a", &[], &["n0", "n1"]), switch("b", &[], &["n2.x.example", "n2.y.example"])];
        let plain = tree(&switches, &["n0", "n1"], false).unwrap();
        assert_eq!(tree(&switches, &["n0.x.example", "n1"], false).unwrap(), plain);
        assert!(matches!(tree(&switches, &["n2"], false), Err(ClusterError::UnclearHost(_))));
        assert!(matches!(tree(&switches, &["n1.x", "n1.y"], false), Err(ClusterError::UnclearHost(_))));
    }

    #[test]
    fn small_latencies_keep_their_digits() {
        let texts = [1.5, 2.0, 1.23456789, 0.0005, 1.3e-6, 4e-9, 1.2345678e-7].map(rounded);
        assert_eq!(texts, ["1.5", "2", "1.234568", "0.0005", "1.3e-6", "4e-9", "1.23457e-7"]);
    }

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
        let Network::Tree { levels, digits, are_blocks: false } =
            on_fabric(&fabric, &["a", "b", "c", "d", "e"]).unwrap()
        else {
            panic!()
        };
        assert_eq!(levels, 4);
        let outermost =
            |a: usize, b: usize| (0..levels).rev().find(|&level| digits[a][level] != digits[b][level]);
        let found = [(0, 1), (0, 2), (0, 3), (3, 4)].map(|(a, b)| outermost(a, b));
        assert_eq!(found, [Some(0), Some(1), Some(2), Some(1)]);
    }

    #[test]
    fn other_fabrics_have_a_distance_for_each_pair() {
        let ring = [(0, 1), (1, 2), (2, 3), (3, 0)];
        let fabric = fabric(&ring, &[("a", 0), ("b", 0), ("c", 1), ("d", 2)]);
        let Network::Pairs { factors, from } = on_fabric(&fabric, &["a", "b.site", "c", "d"]).unwrap() else {
            panic!()
        };
        assert_eq!(factors[..4], [0.0, 1.0, 1.5, 2.0]);
        assert_eq!(from, "hops between 4 switches");
        assert!(matches!(on_fabric(&fabric, &["x"]), Err(ClusterError::NotInTopology { .. })));
    }

    #[test]
    fn blocks_of_blocks_are_levels() {
        let blocks: Vec<Vec<String>> = (0..4).map(|block| vec![format!("n{block}")]).collect();
        let switches = switches_of_blocks(&blocks, &[1, 2, 4]);
        let Network::Tree { digits, .. } = tree(&switches, &["n0", "n1", "n2", "n3"], true).unwrap() else {
            panic!()
        };
        let differ =
            |a: usize, b: usize| (0..4).rev().find(|&level| digits[a].get(level) != digits[b].get(level));
        assert_eq!((differ(0, 1), differ(0, 2), differ(2, 3)), (Some(1), Some(2), Some(1)));
    }

    #[test]
    fn the_shorter_way_round_counts() {
        let nodes: Vec<String> = (0..24).map(|node| format!("n{node}")).collect();
        let torus = Torus::new(vec![4, 3, 2], nodes);
        let Network::Pairs { factors, .. } = pairs_of_tori(&[torus], &["n0", "n3", "n8", "n23"]).unwrap()
        else {
            panic!()
        };
        assert_eq!(factors, [0.0, 1.0, 1.0, 3.0, 1.0, 0.0, 2.0, 2.0, 1.0, 2.0, 0.0, 2.0, 3.0, 2.0, 2.0, 0.0]);
    }
}
