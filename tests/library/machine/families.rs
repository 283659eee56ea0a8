//! Machines of every family: distances compared with the definitions for all pairs of PEs, general
//! properties, parts, lists of PEs, and errors.

use viem::base::rng::Rng;
use viem::base::types::{Distance, NodeId, PeId};
use viem::graph::CsrGraph;
use viem::machine::{
    Capacities, Dimension, DistanceMatrix, DistanceOracle as _, Distances, Divided, Division, Grid,
    Hierarchy, Hypercube, Listed, Machine, MachineError, Metric as _, Network, NodeMatrix, PartTree, Parts,
    Rails, StoredDistances, UnevenTree,
};
use viem::machine::{Located as _, Nodes, Places};

/// A machine and its distances by definition, for each pair of PEs.
struct Case {
    name: String,
    machine: Box<dyn Machine>,
    expected: Vec<Vec<Distance>>,
}

impl Case {
    fn new(
        name: String,
        machine: impl Machine + 'static,
        distance: impl Fn(usize, usize) -> Distance,
    ) -> Self {
        let n = machine.num_pes();
        let expected = (0..n).map(|p| (0..n).map(|q| distance(p, q)).collect()).collect();
        Self { name, machine: Box::new(machine), expected }
    }

    /// The machine of some of the PEs.
    fn listed(self, list: Vec<PeId>) -> Self {
        let row = |&p: &PeId| list.iter().map(|&q| self.expected[p as usize][q as usize]).collect();
        let expected = list.iter().map(row).collect();
        let name = format!("{list:?} of {}", self.name);
        Self { name, machine: Box::new(Listed::new(self.machine, list).unwrap()), expected }
    }
}

/// A number from `least` to `most`.
fn draw(rng: &mut Rng, least: u32, most: u32) -> u32 {
    least + rng.below(most - least + 1)
}

fn levels(rng: &mut Rng, most: u32) -> (Vec<u32>, Vec<Distance>) {
    let levels = draw(rng, 0, most);
    let mut distances: Vec<Distance> = (0..levels).map(|_| Distance::from(rng.below(12))).collect();
    if rng.below(2) == 0 {
        distances.sort_unstable();
    }
    ((0..levels).map(|_| draw(rng, 1, 4)).collect(), distances)
}

/// The distance of the outermost level at which the groups differ.
fn tree_distance(arities: &[u32], distances: &[Distance], p: usize, q: usize) -> Distance {
    let mut size: usize = arities.iter().map(|&arity| arity as usize).product();
    for (&arity, &distance) in arities.iter().zip(distances).rev() {
        size /= arity as usize;
        if p / size != q / size {
            return distance;
        }
    }
    0
}

fn random_hierarchy(rng: &mut Rng) -> Case {
    let (arities, distances) = levels(rng, 4);
    let machine = Hierarchy::new(arities.clone(), distances.clone()).unwrap();
    Case::new(format!("{machine:?}"), machine, |p, q| tree_distance(&arities, &distances, p, q))
}

/// Steps along a line or a ring, counted one by one.
fn steps(from: usize, to: usize, dimension: Dimension) -> Distance {
    let length = dimension.length as usize;
    let forward = (0..length).position(|steps| (from + steps) % length == to).unwrap();
    let straight = from.abs_diff(to);
    (if dimension.is_closed { forward.min(length - forward) } else { straight }) as Distance
}

fn random_grid(rng: &mut Rng) -> Case {
    let count = draw(rng, 0, 4);
    let dimensions: Vec<Dimension> =
        (0..count).map(|_| Dimension { length: draw(rng, 1, 5), is_closed: rng.below(2) == 0 }).collect();
    let (arities, distances) = if rng.below(2) == 0 { levels(rng, 2) } else { Default::default() };
    let hop = Distance::from(rng.below(9));
    let vertex = Hierarchy::new(arities.clone(), distances.clone()).unwrap();
    let size = vertex.num_pes();
    let machine = Grid::new(dimensions.clone(), vertex, hop).unwrap();
    Case::new(format!("{machine:?}"), machine, |p, q| {
        let (mut from, mut to, mut hops) = (p / size, q / size, 0);
        for &dimension in &dimensions {
            let length = dimension.length as usize;
            hops += steps(from % length, to % length, dimension);
            (from, to) = (from / length, to / length);
        }
        if p / size == q / size {
            tree_distance(&arities, &distances, p % size, q % size)
        } else {
            hops * hop
        }
    })
}

fn random_cube(rng: &mut Rng) -> Case {
    let dimension = rng.below(8);
    Case::new(format!("cube {dimension}"), Hypercube::new(dimension).unwrap(), |p, q| {
        (0..dimension).filter(|bit| p >> bit & 1 != q >> bit & 1).count() as Distance
    })
}

fn random_rails(rng: &mut Rng) -> Case {
    let (arities, distances) = loop {
        let (arities, distances) = levels(rng, 4);
        if arities.len() > 1 {
            break (arities, distances);
        }
    };
    let same_rail = Distance::from(rng.below(12));
    let mut all = distances.clone();
    all.insert(1, same_rail);
    let machine = Rails::new(arities.clone(), all).unwrap();
    let (of_node, of_pod) = (arities[0] as usize, (arities[0] * arities[1]) as usize);
    Case::new(format!("{machine:?}"), machine, |p, q| {
        let is_rail = p != q && p / of_pod == q / of_pod && p % of_node == q % of_node;
        if is_rail { same_rail } else { tree_distance(&arities, &distances, p, q) }
    })
}

fn random_matrix(rng: &mut Rng) -> Case {
    let n = draw(rng, 1, 40) as usize;
    let most = [3, 1000, u32::MAX][rng.below(3) as usize];
    let mut distances = vec![0; n * n];
    for p in 0..n {
        for q in 0..p {
            let distance = Distance::from(rng.below(most));
            distances[p * n + q] = distance;
            distances[q * n + p] = distance;
        }
    }
    let machine = DistanceMatrix::new(n, distances.clone()).unwrap();
    Case::new(format!("matrix {distances:?}"), machine, |p, q| distances[p * n + q])
}

fn network(weights: &[i64], links: &[(NodeId, NodeId, i64)]) -> CsrGraph {
    CsrGraph::from_weights_and_edges(weights.to_vec(), links.iter().copied()).unwrap()
}

/// The cheapest path from every vertex to every other (Floyd and Warshall).
fn cheapest_paths(n: usize, links: &[(NodeId, NodeId, i64)]) -> Vec<Vec<Distance>> {
    let mut cost = vec![vec![Distance::MAX / 4; n]; n];
    for &(u, v, link) in links {
        cost[u as usize][v as usize] = link;
        cost[v as usize][u as usize] = link;
    }
    for via in 0..n {
        cost[via][via] = 0;
        for from in 0..n {
            for to in 0..n {
                cost[from][to] = cost[from][to].min(cost[from][via] + cost[via][to]);
            }
        }
    }
    cost
}

fn network_case(weights: &[i64], links: &[(NodeId, NodeId, i64)]) -> Case {
    let machine = Network::new(network(weights, links)).unwrap();
    let pes: Vec<usize> = (0..weights.len()).filter(|&vertex| weights[vertex] > 0).collect();
    for (pe, &vertex) in pes.iter().enumerate() {
        assert_eq!(machine.vertex(pe as PeId) as usize, vertex);
        assert_eq!(i64::from(machine.capacity(pe as PeId)), weights[vertex]);
    }
    let cost = cheapest_paths(weights.len(), links);
    Case::new(format!("{weights:?} {links:?}"), machine, |p, q| cost[pes[p]][pes[q]])
}

/// A random tree with some additional links, so that there are dead ends, PEs on the paths of others, and
/// parallel paths.
fn random_network(rng: &mut Rng) -> Case {
    let n = draw(rng, 1, 30);
    let mut weights: Vec<i64> = (0..n).map(|_| i64::from(rng.below(3))).collect();
    weights[rng.below(n) as usize] = 1;
    let most = [1, 3, 1000][rng.below(3) as usize];
    let mut links = Vec::new();
    for v in 1..n {
        links.push((rng.below(v), v, i64::from(draw(rng, 1, most))));
    }
    for _ in 0..rng.below(n) {
        let (u, v) = (rng.below(n), rng.below(n));
        if u != v && !links.iter().any(|&(a, b, _)| (a, b) == (u, v) || (a, b) == (v, u)) {
            links.push((u, v, i64::from(draw(rng, 1, most))));
        }
    }
    network_case(&weights, &links)
}

type Family = (&'static str, fn(&mut Rng) -> Case);

/// A random tree with any groups: the digits of its PEs in random order, and the distance of each level.
fn uneven(rng: &mut Rng) -> (Vec<Vec<u32>>, Vec<Distance>) {
    let mut pes: Vec<Vec<u32>> = vec![Vec::new()];
    for _ in 0..draw(rng, 1, 4) {
        let mut inner = Vec::new();
        for outer in &pes {
            let members = draw(rng, 1, 3);
            inner.extend((0..members).map(|digit| [&[digit], outer.as_slice()].concat()));
        }
        pes = inner;
    }
    rng.shuffle(&mut pes);
    let mut distances: Vec<Distance> = pes[0].iter().map(|_| Distance::from(rng.below(9))).collect();
    if rng.below(2) == 0 {
        distances.sort_unstable();
    }
    (pes, distances)
}

/// The distance of the outermost level at which the digits differ.
fn uneven_distance(p: &[u32], q: &[u32], distances: &[Distance]) -> Distance {
    (0..p.len()).rev().find(|&level| p[level] != q[level]).map_or(0, |level| distances[level])
}

fn random_uneven_tree(rng: &mut Rng) -> Case {
    let (pes, distances) = uneven(rng);
    let machine = UnevenTree::new(&distances, &pes.concat()).unwrap();
    let name = format!("{pes:?} {distances:?}");
    Case::new(name, machine, |p, q| uneven_distance(&pes[p], &pes[q], &distances))
}

/// Nodes with an individual distance for each pair, and uneven trees inside.
fn random_node_matrix(rng: &mut Rng) -> Case {
    let (pes, distances) = uneven(rng);
    let node = |pe: usize| *pes[pe].last().unwrap();
    let nodes = (0..pes.len()).map(node).max().unwrap() as usize + 1;
    let mut between = vec![0; nodes * nodes];
    for a in 0..nodes {
        for b in 0..a {
            let distance = Distance::from(rng.below(40));
            (between[a * nodes + b], between[b * nodes + a]) = (distance, distance);
        }
    }
    let one_each =
        |nodes: &[PeId]| PartTree::Divided(nodes.iter().map(|&n| PartTree::Whole(vec![n])).collect());
    let mut order: Vec<PeId> = (0..nodes as PeId).collect();
    rng.shuffle(&mut order);
    let parts = match rng.below(3) {
        0 => Parts::whole(order),
        1 => Parts::from_tree(&one_each(&order)),
        _ => {
            let (first, rest) = order.split_at(nodes / 2);
            Parts::from_tree(&PartTree::Divided(vec![one_each(first), PartTree::Whole(rest.to_vec())]))
        }
    };
    let inside = UnevenTree::new(&distances, &pes.concat()).unwrap();
    let node_of = (0..pes.len()).map(node).collect();
    let mut machine = NodeMatrix::new(inside, node_of, between.clone(), parts).unwrap();
    let mut to_network = vec![0; pes.len()];
    if rng.below(2) == 0 {
        to_network.iter_mut().for_each(|distance| *distance = rng.below(3) * 7);
        machine = machine.with_distances_to_network(to_network.clone()).unwrap();
    }
    let name = format!("{pes:?} {distances:?} {between:?} {to_network:?}");
    Case::new(name, machine, |p, q| match (node(p), node(q)) {
        (a, b) if a == b => uneven_distance(&pes[p], &pes[q], &distances),
        (a, b) => between[a as usize * nodes + b as usize] + Distance::from(to_network[p] + to_network[q]),
    })
}

const FAMILIES: [Family; 8] = [
    ("hierarchy", random_hierarchy),
    ("grid", random_grid),
    ("hypercube", random_cube),
    ("rails", random_rails),
    ("network", random_network),
    ("matrix", random_matrix),
    ("uneven tree", random_uneven_tree),
    ("node_matrix", random_node_matrix),
];

/// Some PEs in any order.
fn random_list(rng: &mut Rng, n: usize) -> Vec<PeId> {
    let mut list: Vec<PeId> = (0..n as PeId).collect();
    rng.shuffle(&mut list);
    list.truncate(1 + rng.below(n as u32) as usize);
    list
}

/// Machines of every family, and listed parts of them, and listed parts of those.
fn for_random_machines(check: impl Fn(&Case)) {
    for (family, (_, random)) in FAMILIES.iter().enumerate() {
        for round in 0..60 {
            let mut rng = Rng::new(1000 * family as u64 + round);
            let mut case = random(&mut rng);
            check(&case);
            for _ in 0..2 {
                let list = random_list(&mut rng, case.expected.len());
                case = case.listed(list);
                check(&case);
            }
        }
    }
}

/// Checks all that distances promise.
fn check_promises(distances: &Distances, name: &str, expected: &[Vec<Distance>]) {
    let n = expected.len();
    let all: Vec<PeId> = (0..n as PeId).collect();
    assert_eq!(distances.num_pes(), n, "{name}");
    let mut greatest = 0;
    for p in 0..n {
        for q in 0..n {
            let distance = distances.distance(p as PeId, q as PeId);
            assert_eq!(distance, expected[p][q], "{p} to {q} of {name}");
            assert_eq!(distance, distances.distance(q as PeId, p as PeId));
            assert!(p != q || distance == 0);
            greatest = greatest.max(distance);
            if distances.interchangeable(distances.key(p as PeId), distances.key(q as PeId)) {
                for r in (0..n).filter(|&r| r != p && r != q) {
                    assert_eq!(expected[p][r], expected[q][r], "{p} is not {q} to {r} of {name}");
                }
            }
            if distances.has_triangle_inequality() {
                for (r, stop) in expected.iter().enumerate() {
                    assert!(distance <= stop[p] + stop[q], "{p} {r} {q} of {name}");
                }
            }
        }
        let weights: Vec<(PeId, i32)> = all.iter().map(|&pe| (pe, 1 + pe as i32 % 3)).collect();
        let costs = expected[p]
            .iter()
            .zip(&weights)
            .map(|(distance, &(_, weight))| distance * Distance::from(weight));
        assert_eq!(distances.costs([p as PeId], &weights, &all), [costs.sum::<Distance>()], "{p} of {name}");
        assert_eq!(distances.row_of(p as PeId, &all), expected[p], "{p} of {name}");
        for bound in [0, 1, 3, greatest, greatest + 1] {
            let near = distances.nearer_than(p as PeId, bound);
            let mut nearer = (0..n).filter(|&q| expected[p][q] < bound);
            assert!(nearer.all(|q| near.contains(&(q as PeId))), "{p} {bound} {near:?} of {name}");
        }
    }
    assert!(distances.max_distance() >= greatest, "{name}");
    if let Some(groups) = distances.ultrametric() {
        for p in 0..n {
            for q in (0..n).filter(|&q| q != p) {
                let inside = p / groups.group_size == q / groups.group_size;
                assert_eq!(expected[p][q] == groups.inside, inside || groups.inside == groups.outside);
                assert!((0..n).all(|r| expected[p][q] <= expected[p][r].max(expected[r][q])));
            }
        }
    }
    assert!(distances.rows().eq(expected.iter().cloned()), "{name}");
}

#[test]
fn distances_match_the_definitions() {
    for_random_machines(|Case { name, machine, expected }| {
        assert_eq!(machine.num_pes(), expected.len());
        check_promises(&machine.distances().unwrap(), name, expected);
    });
}

#[test]
fn pes_may_be_listed_repeatedly() {
    for_random_machines(|Case { name, machine, expected }| {
        let mut rng = Rng::new(expected.len() as u64);
        let n = expected.len() as u32;
        let slots: Vec<PeId> = (0..draw(&mut rng, 1, 2 * n)).map(|_| rng.below(n)).collect();
        let of_slots = |&p: &PeId| slots.iter().map(|&q| expected[p as usize][q as usize]).collect();
        let expected: Vec<Vec<Distance>> = slots.iter().map(of_slots).collect();
        let distances = machine.distances().unwrap();
        check_promises(&distances.listed(&slots), name, &expected);
        check_promises(&distances.tabulated().listed(&slots), name, &expected);
    });
}

#[test]
fn stored_distances_are_the_same_and_can_be_listed() {
    for round in 0..60 {
        let mut rng = Rng::new(round);
        let (arities, distances) = levels(&mut rng, 4);
        let hierarchy = Hierarchy::new(arities.clone(), distances.clone()).unwrap();
        let stored = || Distances::StoredTree(StoredDistances::new(&hierarchy).unwrap());
        let list = random_list(&mut rng, hierarchy.num_pes());
        let all: Vec<PeId> = (0..hierarchy.num_pes() as PeId).collect();
        for (distances_at_hand, list) in [(stored(), &all), (stored().listed(&list), &list)] {
            let row = |&p: &PeId| {
                list.iter().map(|&q| tree_distance(&arities, &distances, p as usize, q as usize)).collect()
            };
            let expected: Vec<Vec<Distance>> = list.iter().map(row).collect();
            check_promises(&distances_at_hand, "stored", &expected);
        }
    }
}

#[test]
fn grids_too_long_or_of_too_many_dimensions_for_short_keys() {
    let ring = Grid::torus(&[40_000]).unwrap().distances().unwrap();
    assert_eq!(ring.distance(0, 39_999), 1);
    assert_eq!(ring.distance(5, 20_005), 20_000);
    assert_eq!(ring.distance(39_000, 18_999), 19_999);
    let line = Grid::mesh(&[1, 16_385, 2, 1]).unwrap().distances().unwrap();
    assert_eq!(line.distance(0, 32_769), 16_385);
    // At the limits of short keys.
    assert_eq!(Grid::mesh(&[16_384]).unwrap().distances().unwrap().distance(16_383, 0), 16_383);
    assert_eq!(Grid::torus(&[16_383]).unwrap().distances().unwrap().distance(0, 8_192), 8_191);
    for lengths in [vec![2; 9], vec![2; 12], vec![3, 1, 2, 2, 2, 2, 2, 2, 2, 2]] {
        for is_closed in [false, true] {
            let dimensions: Vec<_> = lengths.iter().map(|&length| Dimension { length, is_closed }).collect();
            let grid = Grid::new(dimensions.clone(), Hierarchy::single(), 300).unwrap();
            let distances = grid.distances().unwrap();
            let n = grid.num_pes() as PeId;
            for (p, q) in [(0, n - 1), (1, n - 2), (n / 2, n / 3), (0, 0), (7, 8)] {
                let (mut from, mut to, mut hops) = (p as usize, q as usize, 0);
                for &dimension in &dimensions {
                    let length = dimension.length as usize;
                    hops += steps(from % length, to % length, dimension);
                    (from, to) = (from / length, to / length);
                }
                assert_eq!(distances.distance(p, q), 300 * hops, "{lengths:?} {p} {q}");
            }
        }
    }
}

#[test]
fn hypercubes_too_large_for_a_table() {
    let cube = Hypercube::new(14).unwrap().distances().unwrap();
    for (p, q, expected) in [(0, 0, 0), (0, 16_383, 14), (5, 4, 1), (8_192, 8_191, 14), (12_288, 4_096, 1)] {
        assert_eq!(cube.distance(p, q), expected, "{p} {q}");
    }
}

#[test]
fn special_networks() {
    let promise = |case: Case| {
        let Case { name, machine, expected } = &case;
        check_promises(&machine.distances().unwrap(), name, expected);
    };
    promise(network_case(&[1], &[]));
    promise(network_case(&[4], &[]));
    promise(network_case(&[1, 1], &[(0, 1, 7)]));
    promise(network_case(&[0, 2], &[(0, 1, 7)]));
    // A star of PEs around a PE, and around a router.
    for hub in [0, 1] {
        promise(network_case(&[hub, 1, 1, 3], &[(0, 1, 2), (0, 2, 2), (0, 3, 5)]));
    }
    // The direct link costs more than the detour.
    promise(network_case(&[1, 1, 0, 0], &[(0, 1, 9), (0, 2, 1), (2, 3, 1), (3, 1, 1)]));
    // A part without PEs may be unreachable.
    promise(network_case(&[1, 1, 0, 0], &[(0, 1, 9), (2, 3, 1)]));
    // Two adjacent PEs, one of them on the path to a third.
    promise(network_case(&[1, 1, 1], &[(0, 1, 4), (1, 2, 6)]));
    // More than 256 distinct distances.
    let links: Vec<_> = (1..40).map(|v| (v - 1, v, 1 << (v % 30))).collect();
    promise(network_case(&[1; 40], &links));
}

/// Returns whether PEs are listed once each, children partition their parent, and leaves are as expected.
fn check_parts(parts: &Parts, num_pes: usize, name: &str) {
    let mut sorted = parts.order().to_vec();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..num_pes as PeId), "{name}");
    assert_eq!(parts.range(0), 0..num_pes);
    let mut parents = vec![0; parts.num_parts()];
    for part in 0..parts.num_parts() {
        let children = parts.children(part);
        assert!(children.len() != 1, "{name}");
        let mut at = parts.range(part).start;
        for child in children.clone() {
            parents[child] += 1;
            assert!(parts.range(child).start == at && parts.range(child).end > at, "{name}");
            at = parts.range(child).end;
        }
        assert!(children.is_empty() || at == parts.range(part).end, "{name}");
    }
    assert!(parents[0] == 0 && parents[1..].iter().all(|&parents| parents == 1), "{name}");
    assert!(parts.num_parts() < 2 * num_pes.max(1), "{name}");
}

#[test]
fn parts_are_disjoint_and_complete() {
    for_random_machines(|Case { name, machine, .. }| match machine.division() {
        Division::Parts(parts) => check_parts(&parts, machine.num_pes(), name),
        Division::Network { graph, vertex_of } => {
            assert_eq!(vertex_of.len(), machine.num_pes());
            assert!(vertex_of.iter().all(|&vertex| (vertex as usize) < graph.num_nodes()));
        }
        Division::ByDistance => {}
        other => panic!("{name}: no check of {other:?}"),
    });
}

/// A vertex of a grid is a node like those of a tree, with the same packages, cores and CPUs.
#[test]
fn pes_of_a_vertex_have_the_positions_of_those_of_a_node() {
    for node in [vec![1], vec![4], vec![4, 2], vec![2, 3, 2], vec![3, 1, 1]] {
        let vertex = Hierarchy::new(node.clone(), vec![1; node.len()]).unwrap();
        let ring = vec![Dimension { length: 5, is_closed: true }];
        let (grid, arities) = (Grid::new(ring, vertex, 10).unwrap(), [&node[..], &[5]].concat());
        let tree = Hierarchy::new(arities, vec![1; node.len() + 1]).unwrap();
        for pe in 0..grid.num_pes() as PeId {
            assert_eq!(grid.location(pe), tree.location(pe), "PE {pe} of {node:?}");
        }
    }
}

#[test]
fn parts_of_grids_are_boxes_halved_across_their_longest_side() {
    for lengths in [vec![7, 5, 3], vec![1, 9], vec![2, 2, 2, 2], vec![13], vec![], vec![6, 1, 11]] {
        for group in [1, 4] {
            let vertex = Hierarchy::new(vec![2, group / 2], vec![1, 2]).unwrap_or(Hierarchy::single());
            let dimensions = lengths.iter().map(|&length| Dimension { length, is_closed: false }).collect();
            let grid = Grid::new(dimensions, vertex.clone(), 10).unwrap();
            let Division::Parts(parts) = grid.division() else { panic!("a grid has parts") };
            check_parts(&parts, grid.num_pes(), "grid");
            let size = vertex.num_pes();
            for part in 0..parts.num_parts() {
                let pes = &parts.order()[parts.range(part)];
                let sides = sides(pes, size as PeId, &lengths);
                if pes.len() >= size {
                    assert_eq!(sides.iter().product::<usize>() * size, pes.len(), "no box: {pes:?}");
                }
                let children = parts.children(part);
                if pes.len() > size {
                    assert_eq!(children.len(), 2);
                    let longest = sides.iter().max().unwrap();
                    let first = parts.range(children.start).len() * longest;
                    assert!(first == longest / 2 * pes.len() || first == longest.div_ceil(2) * pes.len());
                }
            }
        }
    }
}

/// The number of different coordinates along each dimension.
fn sides(pes: &[PeId], size: PeId, lengths: &[u32]) -> Vec<usize> {
    let mut stride = size;
    let count = |&length: &u32| {
        let mut coordinates: Vec<u32> = pes.iter().map(|pe| pe / stride % length).collect();
        stride *= length;
        coordinates.sort_unstable();
        coordinates.dedup();
        coordinates.len()
    };
    lengths.iter().map(count).collect()
}

#[test]
fn odd_lengths_give_the_larger_half_to_either_side_in_turn() {
    let Division::Parts(parts) = Grid::torus(&[5, 5, 5]).unwrap().division() else {
        panic!("a grid has parts")
    };
    let larger_first = (0..parts.num_parts()).filter(|&part| parts.children(part).len() == 2).map(|part| {
        let sizes: Vec<usize> = parts.children(part).map(|child| parts.range(child).len()).collect();
        (sizes[0] > sizes[1]) as i32 - (sizes[0] < sizes[1]) as i32
    });
    let balance: i32 = larger_first.sum();
    assert!(balance.abs() <= 1, "{balance}");
}

#[test]
fn parts_of_hypercubes_are_subcubes() {
    let Division::Parts(parts) = Hypercube::new(5).unwrap().division() else { panic!("a cube has parts") };
    for part in 0..parts.num_parts() {
        let pes = &parts.order()[parts.range(part)];
        let (fixed_ones, ever_ones) = pes.iter().fold((!0, 0), |(all, any), &pe| (all & pe, any | pe));
        assert_eq!(1 << (fixed_ones ^ ever_ones).count_ones(), pes.len());
    }
    assert_eq!(parts.num_parts(), 63);
}

#[test]
fn the_first_pes_keep_numbers_and_distances() {
    for_random_machines(|Case { name, machine, expected }| {
        for least in 0..=expected.len() {
            let Some(part) = machine.first_pes(least) else { continue };
            let n = part.num_pes();
            assert!(least <= n && n < expected.len(), "{least} of {name}");
            let expected: Vec<Vec<Distance>> = expected[..n].iter().map(|row| row[..n].to_vec()).collect();
            check_promises(&part.distances().unwrap(), name, &expected);
        }
    });
    let first = |tree: &Hierarchy, least| tree.first_pes(least).map(|part| part.describe());
    let tree = Hierarchy::parse("4:16:512", "1:10:100").unwrap();
    assert_eq!(first(&tree, 600).as_deref(), Some("hierarchy 4:16:10"));
    assert_eq!(first(&tree, 6).as_deref(), Some("hierarchy 4:2:1"));
    assert_eq!(first(&tree, tree.num_pes()), None);
    // In different groups PEs are nearer to each other.
    assert_eq!(first(&Hierarchy::parse("4:16:512", "1:100:10").unwrap(), 6), None);
}

#[test]
fn compact_pes_are_a_small_part_of_the_machine() {
    for_random_machines(|Case { name, machine, expected }| {
        for least in 0..=expected.len() {
            let Some(pes) = machine.compact_pes(least) else { continue };
            assert!(least <= pes.len() && 2 * pes.len() <= expected.len(), "{least} of {name}");
            assert!(
                pes.is_sorted_by(|a, b| a < b) && (pes[pes.len() - 1] as usize) < expected.len(),
                "{name}"
            );
        }
    });
    let grid = Grid::mesh(&[100, 3, 50]).unwrap();
    let corner = grid.compact_pes(48).unwrap();
    assert_eq!((corner.len(), corner[4], corner[47]), (48, 100, 3 + 2 * 100 + 3 * 300));
    assert_eq!(grid.compact_pes(7501), None);
}

/// Lists of few PEs, and those of regular shape, are divided as the whole machine is.
#[test]
fn lists_of_few_pes_fall_into_parts() {
    let vertex = Hierarchy::parse("2:4", "1:3").unwrap();
    let side = |length| Dimension { length, is_closed: length > 8 };
    let machines: [Box<dyn Machine>; 5] = [
        Box::new(Grid::new(vec![side(16), side(8), side(32)], vertex, 5).unwrap()),
        Box::new(Grid::torus(&[64, 64, 8]).unwrap()),
        Box::new(Grid::mesh(&[61, 53, 9]).unwrap()),
        Box::new(Hierarchy::parse("4:1:16:2:256", "1:2:5:5:9").unwrap()),
        Box::new(Hypercube::new(15).unwrap()),
    ];
    let mut rng = Rng::new(3);
    for (index, machine) in machines.iter().enumerate() {
        let n = machine.num_pes() as u32;
        for count in [1, 2, 40, 300] {
            let mut list: Vec<PeId> = (0..count).map(|_| rng.below(n)).collect();
            list.sort_unstable();
            list.dedup();
            rng.shuffle(&mut list);
            let (Division::Parts(whole), Division::Parts(few)) =
                (machine.division().listed(&list), machine.division_among(&list))
            else {
                panic!("these machines know their parts")
            };
            // Boxes are the least ones around the PEs, so only trees and cubes have the very same parts.
            assert!(index < 3 || few == whole, "{}", machine.describe());
            let mut order = few.order().to_vec();
            order.sort_unstable();
            assert!(order.into_iter().eq(0..list.len() as PeId));
            let (among, all) =
                (machine.distances_among(&list).unwrap(), machine.distances().unwrap().listed(&list));
            for (p, q) in (0..list.len() as PeId).flat_map(|p| (0..p).map(move |q| (p, q))) {
                assert_eq!(among.distance(p, q), all.distance(p, q));
            }
        }
    }
}

#[test]
fn vast_capacities_take_no_memory() {
    let network = Network::new(network(&[2_000_000_000; 2], &[(0, 1, 1)])).unwrap();
    assert_eq!((network.capacity(1), Nodes::of(&network).site(1).cpus.len()), (2_000_000_000, 4096));
}

#[test]
fn lists_keep_numbers_and_capacities() {
    let weights = [0, 5, 1, 0, 7, 2];
    let links = [(0, 1, 1), (0, 2, 1), (0, 3, 1), (3, 4, 1), (3, 5, 1)];
    let network = Network::new(network(&weights, &links)).unwrap();
    let some = Listed::new(&network, vec![3, 0, 2]).unwrap();
    let fewer = Listed::new(&some, vec![2, 0]).unwrap();
    assert_eq!([0, 1].map(|pe| fewer.number(pe)), [2, 3]);
    assert_eq!([0, 1].map(|pe| fewer.capacity(pe)), [7, 2]);
    assert_eq!(some.list(), [3, 0, 2]);
    assert!(fewer.describe().contains("2 processing elements"), "{}", fewer.describe());
    let roomy = Capacities::new(Hierarchy::parse("2:2", "1:5").unwrap(), vec![1, 2, 3, 4]).unwrap();
    assert!(roomy.hierarchy().is_none());
    assert_eq!(Listed::new(&roomy, vec![3, 1]).unwrap().capacity(0), 4);
    let plain = Capacities::new(Hierarchy::parse("2:2", "1:5").unwrap(), vec![1; 4]).unwrap();
    assert!(plain.hierarchy().is_some());
}

#[test]
fn a_division_can_be_given() {
    let parts = Parts::divide(vec![2, 0, 1], |pes| if pes.len() == 3 { vec![1, 2] } else { Vec::new() });
    let matrix = DistanceMatrix::from_fn(3, |p, q| Distance::from(p + q)).unwrap();
    let machine = Divided::new(matrix, parts.clone()).unwrap();
    assert!(matches!(machine.division(), Division::Parts(given) if given == parts));
    let listed = Listed::new(&machine, vec![1, 2]).unwrap();
    assert!(matches!(listed.division(), Division::Parts(left) if left.order() == [1, 0]));
    assert_eq!(machine.distances().unwrap().distance(1, 2), 3);
    let refused = Divided::new(Hierarchy::single(), parts).unwrap_err();
    assert_eq!(refused, MachineError::PartsDiffer { num_pes: 1, found: 3 });
}

#[test]
fn large_machines_are_listed_at_the_cost_of_the_list() {
    let tree = Hierarchy::parse("4:65536:8192", "1:10:100").unwrap();
    let listed = Listed::new(&tree, vec![1 << 31, 5, 4, 4_000_000]);
    assert_eq!(listed.unwrap_err(), MachineError::PeOutOfRange { index: 0, pe: 1 << 31, count: 1 << 31 });
    let listed = Listed::new(&tree, vec![(1 << 31) - 1, 5, 4]).unwrap();
    let distances = listed.distances().unwrap();
    assert_eq!(distances.distance(1, 2), 1);
    assert_eq!(distances.distance(0, 2), 100);
}

#[test]
fn invalid_machines_are_rejected() {
    use MachineError::*;
    let grid = |lengths: &[u32]| Grid::mesh(lengths).map(|_| ()).unwrap_err();
    assert_eq!(grid(&[4, 0]), NoPes);
    assert_eq!(grid(&[65536, 65536]), TooManyPes);
    assert_eq!(grid(&[1 << 30, 1 << 30, 1 << 30]), TooManyPes);
    assert_eq!(grid(&[u32::MAX]), DimensionTooLong { length: u32::MAX, most: 1 << 30 });
    let ring = |hop| Grid::new(vec![Dimension { length: 5, is_closed: true }], Hierarchy::single(), hop);
    assert_eq!(ring(-1).unwrap_err(), NegativeDistance { distance: -1 });
    assert_eq!(ring(Distance::MAX).unwrap_err(), DistanceOverflow);
    assert!(ring(Distance::MAX / 2).is_ok());
    assert_eq!(Hypercube::new(32).unwrap_err(), TooManyPes);
    assert_eq!(Hypercube::new(u32::MAX).unwrap_err(), TooManyPes);
    assert_eq!(DistanceMatrix::new(0, vec![]).unwrap_err(), NoPes);
    assert_eq!(DistanceMatrix::new(2, vec![0; 3]).unwrap_err(), NotSquare { num_pes: 2, entries: 3 });
    let matrix = |entries: [Distance; 4]| DistanceMatrix::new(2, entries.to_vec()).unwrap_err();
    assert_eq!(matrix([0, 1, 2, 0]), Asymmetric { row: 0, column: 1, distance: 1, back: 2 });
    assert_eq!(matrix([0, -1, -1, 0]), NegativeEntry { row: 0, column: 1, distance: -1 });
    assert_eq!(matrix([0, 1, 1, 3]), NotZero { pe: 1, distance: 3 });
    let network = |weights: &[i64], links: &[(NodeId, NodeId, i64)]| {
        Network::new(network(weights, links)).map(|_| ()).unwrap_err()
    };
    assert_eq!(network(&[], &[]), NoPes);
    assert_eq!(network(&[0, 0], &[(0, 1, 1)]), RoutersOnly { routers: 2 });
    assert_eq!(network(&[1, 0, 1], &[(0, 1, 1)]), Disconnected { first: 0, pe: 1, vertex: 2 });
    assert_eq!(network(&[i64::from(u32::MAX)], &[]), TooMuchRoom { room: u32::MAX.into() });
    let tree = || Hierarchy::parse("2:2", "1:2").unwrap();
    let list = |list: &[PeId]| Listed::new(tree(), list.to_vec()).map(|_| ()).unwrap_err();
    assert_eq!(list(&[]), NoPes);
    assert_eq!(list(&[0, 4, 0]), PeOutOfRange { index: 1, pe: 4, count: 4 });
    assert_eq!(list(&[3, 1, 0, 1, 3]), PeListedTwice { index: 3, pe: 1 });
    let capacities =
        |capacities: &[u32]| Capacities::new(tree(), capacities.to_vec()).map(|_| ()).unwrap_err();
    assert_eq!(capacities(&[1, 2]), CapacitiesDiffer { num_pes: 4, found: 2 });
    assert_eq!(capacities(&[1, 2, 0, 1]), NoCapacity { pe: 2 });
    // Proportional capacities may be arbitrarily large; absolute numbers of places may not.
    let vast = Capacities::new(tree(), vec![u32::MAX; 4]).unwrap();
    assert_eq!(Places::of(&vast).map(|_| ()).unwrap_err(), TooMuchRoom { room: 4 * u64::from(u32::MAX) });
    let uneven =
        |distances: &[Distance], digits: &[u32]| UnevenTree::new(distances, digits).map(|_| ()).unwrap_err();
    assert_eq!(uneven(&[1], &[]), NoPes);
    assert_eq!(uneven(&[], &[]), NoPes);
    assert_eq!(uneven(&[-1], &[0]), NegativeDistance { distance: -1 });
    assert_eq!(uneven(&[1, 2], &[0, 0, 1, 0, 0, 0]), SameDigits { first: 0, second: 2 });
    assert_eq!(uneven(&[1], &[u32::MAX]), TooManyPes);
    assert_eq!(uneven(&[1, 2, 3], &[0, 0, 0, 1 << 30, 1 << 30, 1 << 30]), TooUneven);
    // 2^64 members in all groups together are not too many.
    let wide = UnevenTree::new(&[1, 2], &[0, 0, u32::MAX - 1, u32::MAX - 1]).unwrap();
    assert_eq!(wide.distances().unwrap().distance(0, 1), 2);
}

#[test]
fn machines_beyond_memory_are_rejected_before_allocation() {
    let huge: [Box<dyn Machine>; 2] =
        [Box::new(Grid::mesh(&[65_535, 65_537]).unwrap()), Box::new(Hypercube::new(31).unwrap())];
    for machine in huge {
        match machine.distances() {
            Err(MachineError::TooLarge { num_pes, bytes, .. }) => assert!(bytes > num_pes as u128),
            // Some systems have that much.
            Err(error) => panic!("{error}"),
            Ok(_) => {}
        }
    }
    let routers = 4097;
    let links: Vec<_> = (0..routers).map(|v| (v, (v + 1) % routers, 1)).collect();
    let ring = Network::new(network(&vec![1; routers as usize], &links)).map(|_| ());
    assert_eq!(ring, Err(MachineError::TooManyAttachments { count: 4097, most: 4096 }));
    let refused = DistanceMatrix::from_fn(1 << 24, |_, _| 1).unwrap_err();
    assert!(matches!(refused, MachineError::OutOfMemory { .. }));
}

#[test]
fn distances_to_the_network_must_fit() {
    let node_matrix = |between: Distance| {
        let inside = UnevenTree::new(&[1, 10], &[0, 0, 0, 1]).unwrap();
        NodeMatrix::new(inside, vec![0, 1], vec![0, between, between, 0], Parts::whole(vec![0, 1])).unwrap()
    };
    assert!(node_matrix(Distance::MAX - 6).with_distances_to_network(vec![3, 0]).is_ok());
    let refused =
        |between, to_network| node_matrix(between).with_distances_to_network(to_network).unwrap_err();
    assert!(matches!(refused(Distance::MAX - 6, vec![0, 4]), MachineError::DistanceOverflow));
    let differ = MachineError::DistancesDiffer { num_pes: 2, found: 1 };
    assert_eq!(refused(10, vec![3]).to_string(), differ.to_string());
}
