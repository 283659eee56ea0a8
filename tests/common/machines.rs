//! Machines of every family with their distances by definition.

use viem::base::rng::Rng;
use viem::base::types::{Distance, PeId};
use viem::graph::{CsrGraph, GraphBuilder};
use viem::machine::{
    Dimension, DistanceMatrix, Grid, Hierarchy, Hypercube, Listed, Machine, Network, NodeMatrix, Parts,
    Rails, UnevenTree,
};

use super::tree_distance;

/// A machine with its expected properties.
pub struct Family {
    pub name: &'static str,
    pub machine: Box<dyn Machine>,
    /// True if it is a regular tree with capacity 1 on each PE.
    pub is_tree: bool,
    /// The distances of all PEs, row by row.
    pub distances: Vec<Vec<Distance>>,
    /// The capacity of each PE.
    pub room: Vec<usize>,
}

impl Family {
    fn new(
        name: &'static str,
        machine: impl Machine + 'static,
        distance: impl Fn(PeId, PeId) -> Distance,
    ) -> Self {
        let pes = 0..machine.num_pes() as PeId;
        let distances = pes.clone().map(|p| pes.clone().map(|q| distance(p, q)).collect()).collect();
        let room = vec![1; machine.num_pes()];
        Self { name, machine: Box::new(machine), is_tree: false, distances, room }
    }

    /// A regular tree.
    pub fn tree(name: &'static str, arities: &str, distances: &str) -> Self {
        let tree = Hierarchy::parse(arities, distances).unwrap();
        let family = Self::new(name, tree.clone(), |p, q| tree_distance(&tree, p, q));
        Self { is_tree: true, ..family }
    }

    /// A grid with a tree of PEs at each vertex.
    pub fn grid(name: &'static str, grid: Grid) -> Self {
        Self::new(name, grid.clone(), |p, q| grid_distance(&grid, p, q))
    }

    /// A hypercube.
    pub fn hypercube(name: &'static str, dimension: u32) -> Self {
        let cube = Hypercube::new(dimension).unwrap();
        Self::new(name, cube, |p, q| Distance::from((p ^ q).count_ones()))
    }

    /// Rails: a tree, but for PEs of the same place in different groups of the second level.
    pub fn rails(name: &'static str, arities: &str, distances: &str) -> Self {
        let rails = Rails::parse(arities, distances).unwrap();
        let (tree, same_rail) = (rails.tree().clone(), rails.same_rail());
        let of_node = tree.arities()[0];
        Self::new(name, rails, |p, q| {
            let is_rail = tree.level(p, q) == Some(1) && p % of_node == q % of_node;
            if is_rail { same_rail } else { tree_distance(&tree, p, q) }
        })
    }

    /// A random connected network. One vertex in three is a router, one has capacity 1, and one has capacity
    /// 2.
    pub fn network(name: &'static str, num_vertices: usize, longest: u32, rng: &mut Rng) -> Self {
        let far = Distance::MAX / 2;
        let at = |u: usize, v: usize| u * num_vertices + v;
        let mut hops = vec![far; num_vertices * num_vertices];
        let mut builder = GraphBuilder::new(num_vertices);
        for v in 0..num_vertices {
            hops[at(v, v)] = 0;
            builder.set_node_weight(v as u32, (v % 3) as i64);
            // A tree and some additional links.
            for _ in 0..if v == 0 { 0 } else { 2 } {
                let u = rng.below(v as u32) as usize;
                if hops[at(u, v)] == far {
                    let link = Distance::from(rng.below(longest)) + 1;
                    (hops[at(u, v)], hops[at(v, u)]) = (link, link);
                    builder.add_edge(u as u32, v as u32, link);
                }
            }
        }
        for by in 0..num_vertices {
            for u in 0..num_vertices {
                for v in 0..num_vertices {
                    hops[at(u, v)] = hops[at(u, v)].min(hops[at(u, by)] + hops[at(by, v)]);
                }
            }
        }
        let vertices: Vec<usize> = (0..num_vertices).filter(|v| v % 3 > 0).collect();
        let network = Network::new(builder.build().unwrap()).unwrap();
        let family = Self::new(name, network, |p, q| hops[at(vertices[p as usize], vertices[q as usize])]);
        Self { room: vertices.iter().map(|v| v % 3).collect(), ..family }
    }

    /// Random distances, many of which exceed a detour.
    pub fn matrix(name: &'static str, num_pes: usize, longest: u32, rng: &mut Rng) -> Self {
        let at = |p: usize, q: usize| p * num_pes + q;
        let mut distances = vec![0; num_pes * num_pes];
        for p in 0..num_pes {
            for q in 0..p {
                let distance = Distance::from(rng.below(longest + 1));
                (distances[at(p, q)], distances[at(q, p)]) = (distance, distance);
            }
        }
        let matrix = DistanceMatrix::new(num_pes, distances.clone()).unwrap();
        Self::new(name, matrix, |p, q| distances[at(p as usize, q as usize)])
    }

    /// Nodes with these numbers of sockets, which have these numbers of cores.
    pub fn uneven(name: &'static str, nodes: &[&[u32]]) -> Self {
        let digits = digits(nodes);
        let tree = UnevenTree::new(&[1, 10, 100], &digits.concat()).unwrap();
        Self::new(name, tree, |p, q| {
            let (p, q) = (digits[p as usize], digits[q as usize]);
            (0..3).rev().find(|&level| p[level] != q[level]).map_or(0, |level| [1, 10, 100][level])
        })
    }

    /// The same with nodes that form a ring.
    pub fn ring_of_nodes(name: &'static str, nodes: &[&[u32]]) -> Self {
        let digits = digits(nodes);
        let inside = UnevenTree::new(&[1, 10, 100], &digits.concat()).unwrap();
        let count = nodes.len();
        let hops = |a: usize, b: usize| a.abs_diff(b).min(count - a.abs_diff(b)) as Distance * 100;
        let between = (0..count * count).map(|pair| hops(pair / count, pair % count)).collect();
        let node_of = digits.iter().map(|digits| digits[2]).collect();
        let parts = Parts::whole((0..count as PeId).collect());
        let machine = NodeMatrix::new(inside, node_of, between, parts).unwrap();
        Self::new(name, machine, |p, q| {
            let (p, q) = (digits[p as usize], digits[q as usize]);
            if p[2] != q[2] {
                return hops(p[2] as usize, q[2] as usize);
            }
            (0..2).rev().find(|&level| p[level] != q[level]).map_or(0, |level| [1, 10][level])
        })
    }

    /// A number of PEs of a machine, in random order.
    pub fn listed(self, name: &'static str, num_pes: usize, rng: &mut Rng) -> Self {
        let mut list: Vec<PeId> = (0..self.machine.num_pes() as PeId).collect();
        rng.shuffle(&mut list);
        list.truncate(num_pes);
        let listed = Listed::new(self.machine, list.clone()).unwrap();
        Self::new(name, listed, |p, q| self.distances[list[p as usize] as usize][list[q as usize] as usize])
    }

    /// Each PE repeated up to its capacity, in random order.
    pub fn shuffled_places(&self, rng: &mut Rng) -> Vec<PeId> {
        let pes = 0..self.room.len() as PeId;
        let mut places: Vec<PeId> =
            pes.flat_map(|pe| std::iter::repeat_n(pe, self.room[pe as usize])).collect();
        rng.shuffle(&mut places);
        places
    }

    /// The total capacity.
    pub fn num_places(&self) -> usize {
        self.room.iter().sum()
    }

    /// J by definition, in 128 bits.
    pub fn cost(&self, graph: &CsrGraph, pe_of: &[PeId]) -> i128 {
        let distance =
            |u: u32, v: u32| self.distances[pe_of[u as usize] as usize][pe_of[v as usize] as usize];
        let arcs = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| (u, v, weight)));
        arcs.map(|(u, v, weight)| i128::from(weight) * i128::from(distance(u, v))).sum()
    }

    /// The remaining capacity of each PE. Panics if a PE has more processes than its capacity.
    pub fn room_left(&self, pe_of: &[PeId]) -> Vec<usize> {
        let mut room = self.room.clone();
        for &pe in pe_of {
            let left = &mut room[pe as usize];
            *left = left.checked_sub(1).unwrap_or_else(|| panic!("{}: PE {pe} is full", self.name));
        }
        room
    }

    /// The minimum of J over all mappings; for at most seven processes.
    pub fn optimum(&self, graph: &CsrGraph) -> i128 {
        fn least(family: &Family, graph: &CsrGraph, pe_of: &mut Vec<PeId>, room: &mut [usize]) -> i128 {
            if pe_of.len() == graph.num_nodes() {
                return family.cost(graph, pe_of);
            }
            let mut best = i128::MAX;
            for pe in 0..room.len() {
                if room[pe] > 0 {
                    room[pe] -= 1;
                    pe_of.push(pe as PeId);
                    best = best.min(least(family, graph, pe_of, room));
                    pe_of.pop();
                    room[pe] += 1;
                }
            }
            best
        }
        least(self, graph, &mut Vec::new(), &mut self.room.clone())
    }
}

/// Core, socket and node of each core.
fn digits(nodes: &[&[u32]]) -> Vec<[u32; 3]> {
    let mut digits = Vec::new();
    for (node, sockets) in (0..).zip(nodes) {
        for (socket, &cores) in (0..).zip(*sockets) {
            digits.extend((0..cores).map(|core| [core, socket, node]));
        }
    }
    digits
}

/// A torus of these lengths with a tree of PEs at each vertex.
pub fn torus_of_trees(lengths: &[u32], arities: &str, distances: &str, hop: Distance) -> Grid {
    let dimensions = lengths.iter().map(|&length| Dimension { length, is_closed: true }).collect();
    Grid::new(dimensions, Hierarchy::parse(arities, distances).unwrap(), hop).unwrap()
}

/// Hops dimension by dimension, or the distance in the tree of a vertex.
fn grid_distance(grid: &Grid, p: PeId, q: PeId) -> Distance {
    let size = grid.vertex().num_pes() as PeId;
    let (mut a, mut b) = (p / size, q / size);
    if a == b {
        return tree_distance(grid.vertex(), p % size, q % size);
    }
    let mut hops = 0;
    for &Dimension { length, is_closed } in grid.dimensions() {
        let gap = (a % length).abs_diff(b % length);
        hops += if is_closed { gap.min(length - gap) } else { gap };
        (a, b) = (a / length, b / length);
    }
    Distance::from(hops) * grid.hop()
}

/// A machine of every family with tens of PEs each.
pub fn families(rng: &mut Rng) -> Vec<Family> {
    vec![
        Family::tree("tree", "2:3:4", "1:10:100"),
        Family::grid("mesh", Grid::mesh(&[5, 3, 1]).unwrap()),
        Family::grid("torus", Grid::torus(&[4, 3, 2]).unwrap()),
        Family::grid("torus of trees", torus_of_trees(&[3, 2], "2:2", "1:10", 7)),
        Family::grid("torus of long hops", torus_of_trees(&[5, 3], "1", "0", 300)),
        Family::hypercube("hypercube", 4),
        Family::rails("rails", "4:3:2", "1:5:6:10"),
        Family::network("network", 17, 5, rng),
        Family::network("network of long links", 17, 900, rng),
        Family::matrix("matrix", 16, 30, rng),
        Family::matrix("matrix of long distances", 16, 3000, rng),
        Family::uneven("uneven tree", &[&[4, 4], &[3, 4], &[2], &[1, 1, 2]]),
        Family::ring_of_nodes("ring of nodes", &[&[4, 4], &[3, 2], &[2], &[1, 1, 2], &[1]]),
        Family::tree("", "2:3:4", "1:10:100").listed("part of a tree", 17, rng),
        Family::grid("", Grid::torus(&[5, 5]).unwrap()).listed("part of a torus", 17, rng),
    ]
}

/// A machine of every family with a total capacity of seven or eight.
pub fn small_families(rng: &mut Rng) -> Vec<Family> {
    vec![
        Family::tree("tree", "2:2:2", "1:10:100"),
        Family::grid("path", Grid::mesh(&[7]).unwrap()),
        Family::grid("mesh", Grid::mesh(&[3, 2]).unwrap()),
        Family::grid("ring", Grid::torus(&[7]).unwrap()),
        Family::grid("torus", Grid::torus(&[4, 2]).unwrap()),
        Family::grid("torus of trees", torus_of_trees(&[4], "2", "1", 3)),
        Family::grid("torus of long hops", torus_of_trees(&[7], "1", "0", 300)),
        Family::hypercube("hypercube", 3),
        Family::rails("rails", "2:2:2", "1:5:6:10"),
        Family::network("network", 8, 5, rng),
        Family::network("network of long links", 8, 900, rng),
        Family::matrix("matrix", 7, 30, rng),
        Family::matrix("matrix of long distances", 7, 3000, rng),
        Family::uneven("uneven tree", &[&[2, 1], &[3], &[1]]),
        Family::ring_of_nodes("ring of nodes", &[&[2], &[1, 1], &[1], &[2]]),
        Family::tree("", "2:3:2", "1:10:100").listed("part of a tree", 7, rng),
        Family::grid("", Grid::torus(&[4, 4]).unwrap()).listed("part of a torus", 7, rng),
    ]
}
