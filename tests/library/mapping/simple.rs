//! Structured graphs on machines of several families: no preset may lose to what a user could do by hand.

use std::collections::BTreeMap;

use crate::common::{Family, families, shuffled};
use viem::Mapping;
use viem::base::rng::Rng;
use viem::base::types::{BlockId, Cost, NodeId, PeId};
use viem::graph::quotient::contract;
use viem::graph::relabel::relabel;
use viem::graph::{CsrGraph, generate};
use viem::partition::{PartitionPreset, Partitioner, Targets};
use viem::solve::{Balance, Config, MapPreset, PreparedMachine, Request};

/// A graph of these edges; those that are listed several times are added up, and loops are left out.
fn graph_of(n: usize, edges: impl IntoIterator<Item = (usize, usize, i64)>) -> CsrGraph {
    let mut sums = BTreeMap::new();
    for (one, other, weight) in edges.into_iter().filter(|(one, other, _)| one != other) {
        *sums.entry((one.min(other), one.max(other))).or_insert(0) += weight;
    }
    let edges = sums.into_iter().map(|((one, other), weight)| (one as NodeId, other as NodeId, weight));
    CsrGraph::from_edges(n, edges).unwrap()
}

/// Edges between neighbours in a box of these side lengths, of a weight for each dimension.
fn stencil(sides: &[usize], weights: &[i64]) -> CsrGraph {
    let n: usize = sides.iter().product();
    let mut edges = Vec::new();
    let mut stride = 1;
    for (&side, &weight) in sides.iter().zip(weights) {
        let inner = (0..n).filter(|cell| cell / stride % side + 1 < side);
        edges.extend(inner.map(|cell| (cell, cell + stride, weight)));
        stride *= side;
    }
    graph_of(n, edges)
}

/// Cliques of random sizes, joined by a few light edges.
fn groups(n: usize, rng: &mut Rng) -> CsrGraph {
    let mut edges: Vec<_> =
        (0..n / 2).map(|_| (rng.below(n as u32) as usize, rng.below(n as u32) as usize, 1)).collect();
    let mut begin = 0;
    while begin < n {
        let end = n.min(begin + 2 + rng.below(8) as usize);
        edges.extend((begin..end).flat_map(|one| (begin..one).map(move |other| (one, other, 20))));
        begin = end;
    }
    graph_of(n, edges)
}

/// A ring with chords of one length.
fn circulant(n: usize, chord: usize) -> CsrGraph {
    let steps = [(1, 5), (chord, 2)].into_iter();
    graph_of(n, steps.flat_map(|(step, weight)| (0..n).map(move |node| (node, (node + step) % n, weight))))
}

/// Structured graphs of about `n` vertices.
fn structured(n: usize, rng: &mut Rng) -> Vec<(&'static str, CsrGraph)> {
    let (side, cube) = (n.isqrt().max(2), (n as f64).cbrt() as usize);
    vec![
        ("square", stencil(&[side, n / side], &[1, 1])),
        ("oblong cells", stencil(&[side, n / side], &[20, 1])),
        ("cube", stencil(&[cube, cube, n / (cube * cube)], &[1, 5, 1])),
        ("path", stencil(&[n], &[3])),
        ("groups", groups(n, rng)),
        ("circulant", circulant(n, 2 + rng.below(n as u32 / 4) as usize)),
        ("points", generate::random_geometric(n, 6.0, rng.next_u64())),
    ]
}

fn cost(family: &Family, graph: &CsrGraph, pe_of: &[PeId]) -> Cost {
    Cost::try_from(family.cost(graph, pe_of)).unwrap()
}

/// Strips of the numbering, equal but for one vertex.
fn strips(family: &Family, graph: &CsrGraph) -> Vec<PeId> {
    let (n, k) = (graph.num_nodes(), family.machine.num_pes());
    (0..n).map(|node| (node * k / n) as PeId).collect()
}

/// A partition of small cut, and its blocks mapped.
fn two_steps(family: &Family, graph: &CsrGraph) -> Vec<PeId> {
    let k = family.machine.num_pes();
    let targets = Targets::equal(graph, k, 0.03).unwrap();
    let blocks: Vec<BlockId> =
        Partitioner::new(PartitionPreset::Eco, 0).partition(graph, &targets).into_blocks();
    let places = one_to_one(family, &contract(graph, &blocks, k), MapPreset::Eco);
    blocks.iter().map(|&block| places.pe_of(block)).collect()
}

fn one_to_one(family: &Family, graph: &CsrGraph, preset: MapPreset) -> Mapping {
    solved!(graph, &*family.machine, &Config::preset(preset)).mapping
}

/// Machines of equal capacities, each of another kind.
fn machines(rng: &mut Rng) -> Vec<Family> {
    let mut machines = families(rng);
    machines.retain(|family| ["tree", "torus", "hypercube", "part of a torus"].contains(&family.name));
    machines
}

#[test]
fn many_to_one_mappings_are_as_good_as_strips_and_two_steps() {
    let mut rng = Rng::new(1);
    for (index, family) in machines(&mut rng).into_iter().enumerate() {
        let graphs = structured(8 * family.machine.num_pes(), &mut rng);
        for (name, graph) in graphs.into_iter().skip(index % 7).step_by(7) {
            let config = Config::preset(MapPreset::Eco);
            let found = solved!(&graph, &*family.machine, &config, balanced(Balance::default())).report.cost;
            let simple = [strips(&family, &graph), two_steps(&family, &graph)];
            let least = simple.iter().map(|pe_of| cost(&family, &graph, pe_of)).min().unwrap();
            assert!(100 * found <= 103 * least, "{name} on a {}: {found}, not {least}", family.name);
        }
    }
}

#[test]
fn one_to_one_mappings_are_as_good_as_the_numbering_and_a_quicker_preset() {
    let mut rng = Rng::new(2);
    for family in machines(&mut rng) {
        for (name, graph) in structured(family.machine.num_pes(), &mut rng) {
            let found = |preset| cost(&family, &graph, one_to_one(&family, &graph, preset).pes());
            let numbering: Vec<PeId> = (0..graph.num_nodes() as PeId).collect();
            let least = cost(&family, &graph, &numbering).min(found(MapPreset::Fast));
            let found = found(MapPreset::Eco);
            assert!(found <= least, "{name} on a {}: {found}, not {least}", family.name);
        }
    }
}

/// Bisections of a long grid meet their bounds before they have found its rows.
#[test]
fn a_grid_in_any_order_is_laid_along_a_path_row_by_row() {
    for (columns, rows) in [(15, 16), (12, 20)] {
        let grid = stencil(&[columns, rows], &[20, 5]);
        let mut order: Vec<NodeId> = grid.nodes().collect();
        Rng::new(1).shuffle(&mut order);
        let machine = viem_cluster::build(&format!("mesh:{rows}"), None).unwrap();
        let config = Config::preset(MapPreset::Eco);
        let found = Request::new(&relabel(&grid, &order), &PreparedMachine::new(&*machine))
            .balanced(Balance::default())
            .solve(&config);
        let by_rows = 2 * 5 * columns * (rows - 1);
        assert!(found.unwrap().report.cost <= by_rows as Cost, "{columns} x {rows}");
    }
}

/// A cube of eight processes per node, or a square of four, puts every other edge on a link between neighbours.
#[test]
fn blocks_of_grids_fill_the_nodes_of_meshes_and_tori() {
    let mut rng = Rng::new(3);
    let cases = [
        ("torus:4x4/4", vec![8, 8], 4),
        ("mesh:4x4x4/8", vec![8, 8, 8], 12),
        ("torus:4x4x4/8", vec![8, 8, 8], 12),
    ];
    for (spec, sides, inner) in cases {
        let machine = viem_cluster::build(spec, "1:30").unwrap();
        let graph = stencil(&sides, &vec![1; sides.len()]);
        let (nodes, edges) = (machine.num_pes() >> sides.len(), graph.num_edges());
        let least = 2 * (nodes * inner + 30 * (edges - nodes * inner)) as Cost;
        for preset in [MapPreset::Fast, MapPreset::Eco] {
            let found = solved!(&shuffled(&graph, 1, &mut rng), &machine, &Config::preset(preset));
            assert_eq!(found.report.cost, least, "{spec} {preset}");
        }
    }
}
