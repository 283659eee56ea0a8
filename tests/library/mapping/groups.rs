//! Structures that a strip, two steps or a packing by hand solve: no preset may lose to these.

use viem::Mapping;
use viem::base::rng::Rng;
use viem::base::types::{BlockId, Cost, NodeId, PeId, Weight};
use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem::machine::{Capacities, Grid, Hierarchy, Listed, Machine};
use viem::mapping::objective::score;
use viem::partition::{FixedVertices, PartitionPreset, Partitioner, Targets};
use viem::solve::{Balance, Config, MapPreset, PreparedMachine, Report, Request};

/// Cliques of these sizes, the vertices in random order.
fn cliques(sizes: &[usize], rng: &mut Rng) -> CsrGraph {
    let mut names: Vec<NodeId> = (0..sizes.iter().sum::<usize>() as NodeId).collect();
    rng.shuffle(&mut names);
    let mut builder = GraphBuilder::new(names.len());
    let mut rest = &names[..];
    for &size in sizes {
        let (clique, others) = rest.split_at(size);
        for (index, &one) in clique.iter().enumerate() {
            clique[..index].iter().for_each(|&other| builder.add_edge(one, other, 10));
        }
        rest = others;
    }
    builder.build().unwrap()
}

/// Numbers from 2 on that sum up to `total`, a number of 1 if it must be.
fn parts_of(total: usize, rng: &mut Rng) -> Vec<usize> {
    let (mut parts, mut left) = (Vec::new(), total);
    while left > 0 {
        let part = if left < 4 { left } else { 2 + rng.below(left as u32 - 1) as usize };
        let part = if left - part == 1 { left } else { part };
        parts.push(part);
        left -= part;
    }
    parts
}

/// Cores of nodes of these sizes, at distance 1 in a node and 10 between nodes.
fn nodes(sizes: &[usize]) -> Listed<Hierarchy> {
    let whole = Hierarchy::parse(&format!("8:{}", sizes.len()), "1:10").unwrap();
    let cores = |(node, &size): (usize, &usize)| (8 * node..8 * node + size).map(|core| core as PeId);
    Listed::new(whole, sizes.iter().enumerate().flat_map(cores).collect()).unwrap()
}

#[test]
fn cliques_that_fit_the_nodes_exactly_are_not_divided() {
    let mut rng = Rng::new(4);
    for round in 0..12 {
        let sizes: Vec<usize> = (0..2 + rng.below(9)).map(|_| 2 + rng.below(7) as usize).collect();
        let groups: Vec<usize> = sizes.iter().flat_map(|&size| parts_of(size, &mut rng)).collect();
        let (graph, machine) = (cliques(&groups, &mut rng), nodes(&sizes));
        for preset in [MapPreset::Fast, MapPreset::Eco] {
            let report = solved!(&graph, &machine, &Config::preset(preset)).report;
            assert_eq!(report.cost, graph.total_arc_weight(), "round {round}: {groups:?} on {sizes:?}");
        }
    }
}

/// Of the sockets of a machine `8:2:6`, each with some of its cores: the machine and the sizes.
fn sockets(rng: &mut Rng) -> (Listed<Hierarchy>, Vec<usize>) {
    let sizes: Vec<usize> = (0..12).map(|_| 2 + rng.below(7) as usize).collect();
    let cores = |(socket, &size): (usize, &usize)| (8 * socket..8 * socket + size).map(|core| core as PeId);
    let listed = sizes.iter().enumerate().flat_map(cores).collect();
    (Listed::new(Hierarchy::parse("8:2:6", "1:10:100").unwrap(), listed).unwrap(), sizes)
}

#[test]
fn cliques_that_fit_the_sockets_exactly_are_not_divided() {
    let mut rng = Rng::new(6);
    for round in 0..4 {
        let (machine, sizes) = sockets(&mut rng);
        let groups: Vec<usize> = sizes.iter().flat_map(|&size| parts_of(size, &mut rng)).collect();
        let graph = cliques(&groups, &mut rng);
        for preset in [MapPreset::Fast, MapPreset::Eco] {
            let report = solved!(&graph, &machine, &Config::preset(preset)).report;
            assert_eq!(report.cost, graph.total_arc_weight(), "round {round}: {groups:?} on {sizes:?}");
        }
    }
}

/// Ranks of a training job in random order: cliques of four that exchange most, `stages` of them in a chain, and `copies` of that
/// whose members exchange in rings. With the ranks by number.
fn training_job(stages: usize, copies: usize, rng: &mut Rng) -> (CsrGraph, Vec<NodeId>) {
    let mut ranks: Vec<NodeId> = (0..(4 * stages * copies) as NodeId).collect();
    rng.shuffle(&mut ranks);
    let rank = |member: usize, stage: usize, copy: usize| ranks[member + 4 * (stage + stages * copy)];
    let mut builder = GraphBuilder::new(ranks.len());
    for (copy, stage, member) in (0..copies)
        .flat_map(|copy| (0..stages).flat_map(move |stage| (0..4).map(move |member| (copy, stage, member))))
    {
        let own = rank(member, stage, copy);
        (0..member).for_each(|other| builder.add_edge(own, rank(other, stage, copy), 1000));
        builder.add_edge(own, rank(member, stage, (copy + 1) % copies), 20);
        if stage > 0 {
            builder.add_edge(own, rank(member, stage - 1, copy), 3);
        }
    }
    (builder.build().unwrap(), ranks)
}

#[test]
fn training_jobs_on_uneven_nodes_are_mapped_no_worse_than_by_hand() {
    let mut rng = Rng::new(8);
    // Every third of 16 nodes has six cores, and so room for one clique less.
    let sizes: Vec<usize> = (0..16).map(|node| if node % 3 == 2 { 6 } else { 8 }).collect();
    let cores = |(node, &size): (usize, &usize)| (8 * node..8 * node + size).map(|core| core as PeId);
    let listed: Vec<PeId> = sizes.iter().enumerate().flat_map(cores).collect();
    let slots = (0..).zip(&listed).filter(|&(_, &core)| core % 4 == 0 && listed.contains(&(core + 3)));
    let slots: Vec<PeId> = slots.map(|(pe, _)| pe).collect();
    let machine = Listed::new(Hierarchy::parse("8:4:4", "1:10:30").unwrap(), listed).unwrap();
    for (stages, copies) in [(4, 6), (3, 9)] {
        let (graph, ranks) = training_job(stages, copies, &mut rng);
        let mut by_hand: Vec<PeId> = vec![0; ranks.len()];
        for (number, &rank) in ranks.iter().enumerate() {
            by_hand[rank as usize] = slots[number / 4] + number as PeId % 4;
        }
        let by_hand = score(&graph, &machine, &by_hand).unwrap();
        for preset in [MapPreset::Fast, MapPreset::Eco] {
            let cost = solved!(&graph, &machine, &Config::preset(preset)).report.cost;
            assert!(cost <= by_hand, "{preset} {stages} {copies}: {cost} {by_hand}");
        }
    }
}

/// Paths or rings of this many processes, in random order.
fn chains(count: usize, length: usize, are_rings: bool, rng: &mut Rng) -> CsrGraph {
    let mut names: Vec<NodeId> = (0..(count * length) as NodeId).collect();
    rng.shuffle(&mut names);
    let mut builder = GraphBuilder::new(names.len());
    for chain in names.chunks(length) {
        chain.windows(2).for_each(|pair| builder.add_edge(pair[0], pair[1], 1));
        if are_rings {
            builder.add_edge(chain[0], chain[length - 1], 1);
        }
    }
    builder.build().unwrap()
}

#[test]
fn rings_and_pipelines_cross_racks_as_rarely_as_can_be() {
    let mut rng = Rng::new(9);
    // Pods in a ring need an edge for each rack that they are on; of two pipelines of four, one fits the rack of four.
    let cases = [
        (1, 10, true, &[4, 4, 4][..], 3),
        (1, 5, true, &[3, 2], 2),
        (2, 4, false, &[4, 2, 2], 1),
        (5, 2, false, &[6, 2, 2], 0),
        (2, 5, false, &[6, 2, 2], 2),
    ];
    for (count, length, are_rings, racks, crossing) in cases {
        for _ in 0..5 {
            let (graph, machine) = (chains(count, length, are_rings, &mut rng), nodes(racks));
            for preset in [MapPreset::Fast, MapPreset::Eco] {
                let cost = solved!(&graph, &machine, &Config::preset(preset)).report.cost;
                assert_eq!(
                    (cost - graph.total_arc_weight()) / 18,
                    crossing,
                    "{preset} {count} x {length} on {racks:?}"
                );
            }
        }
    }
}

/// The least J of all mappings that begin with these PEs.
fn least(graph: &CsrGraph, machine: &dyn Machine, pes: &mut Vec<PeId>) -> Cost {
    if pes.len() == graph.num_nodes() {
        return score(graph, machine, pes).unwrap();
    }
    let mut costs = Vec::new();
    for pe in (0..machine.num_pes() as PeId).filter(|pe| !pes.contains(pe)).collect::<Vec<_>>() {
        pes.push(pe);
        costs.push(least(graph, machine, pes));
        pes.pop();
    }
    costs.into_iter().min().unwrap()
}

#[test]
fn problems_with_few_places_are_solved() {
    let machines: [&dyn Machine; 3] =
        [&Grid::mesh(&[3, 3]).unwrap(), &nodes(&[2, 3, 4]), &Hierarchy::parse("3:3", "1:7").unwrap()];
    for (machine, seed) in machines.into_iter().zip(1..) {
        // Process 0 is on PE 0, so that there are eight that may be anywhere.
        let graph = generate::random_geometric(9, 4.0, seed);
        let mut fixed = FixedVertices::none(9, machine.num_pes());
        fixed.fix(0, 0).unwrap();
        let optimum = least(&graph, machine, &mut vec![0]);
        for preset in [MapPreset::Fast, MapPreset::Eco] {
            let solution = solved!(&graph, machine, &Config::preset(preset), fixed(&fixed));
            assert_eq!((solution.mapping.pe_of(0), solution.report.cost), (0, optimum), "{preset} {seed}");
        }
    }
}

/// The report of each preset, quickest first.
fn reports(graph: &CsrGraph, machine: &dyn Machine) -> [Report; 3] {
    [MapPreset::Fast, MapPreset::Eco, MapPreset::Strong]
        .map(|preset| solved!(graph, machine, &Config::preset(preset), balanced(Balance::default())).report)
}

#[test]
fn pairs_are_only_split_where_pes_have_one_place_left() {
    let mut rng = Rng::new(5);
    let (graph, machine) = (cliques(&[2; 125], &mut rng), Hierarchy::parse("6:2:3", "1:10:100").unwrap());
    // 36 PEs hold 7 vertices each, of which one is not in a whole pair: 108 whole pairs, 17 that are split.
    let [_, eco, strong] = reports(&graph, &machine);
    for report in [eco, strong] {
        assert_eq!((report.cost, report.loads.unwrap().overload), (17 * 2 * 10, 0));
    }
}

#[test]
fn stages_of_light_cliques_stay_together_although_heavier_edges_connect_them() {
    // Pairs of ranks in `STAGES` stages, and in each stage two cliques of one rank of every pair.
    const STAGES: NodeId = 4;
    const PAIRS: NodeId = 14;
    let rank = |stage: NodeId, pair: NodeId, side: NodeId| side + 2 * (pair + PAIRS * stage);
    let mut builder = GraphBuilder::new((2 * STAGES * PAIRS) as usize);
    for (stage, pair) in (0..STAGES).flat_map(|stage| (0..PAIRS).map(move |pair| (stage, pair))) {
        builder.add_edge(rank(stage, pair, 0), rank(stage, pair, 1), 100);
        for side in 0..2 {
            if stage > 0 {
                builder.add_edge(rank(stage, pair, side), rank(stage - 1, pair, side), 10);
            }
            (0..pair)
                .for_each(|other| builder.add_edge(rank(stage, pair, side), rank(stage, other, side), 1));
        }
    }
    let (graph, machine) = (builder.build().unwrap(), Grid::mesh(&[8, 4]).unwrap());
    // A quadrant for each stage, two pairs for each of its PEs.
    let pe_of = |node: NodeId| {
        let (stage, place) = (node / (2 * PAIRS), node % (2 * PAIRS) / 4);
        let (column, row) = (4 * (stage % 2) + place % 4, 2 * (stage / 2) + place / 4);
        column + 8 * row
    };
    let config = Config::preset(MapPreset::Eco);
    let quadrants = Mapping::many(32, graph.nodes().map(pe_of).collect()).unwrap();
    let quadrants = Request::new(&graph, &PreparedMachine::new(&machine))
        .balanced(Balance::default())
        .evaluate(&quadrants, &config)
        .unwrap();
    let report = solved!(&graph, &machine, &config, balanced(Balance::default())).report;
    assert!(
        (report.loads.unwrap().overload, report.cost) <= (0, quadrants.cost),
        "{report:?} for {quadrants:?}"
    );
}

#[test]
fn a_stencil_with_few_cells_per_pe_is_cut_into_boxes() {
    let (graph, machine) = (generate::grid(12, 12), Grid::torus(&[4, 4]).unwrap());
    let [_, eco, strong] = reports(&graph, &machine);
    // Boxes of 3 x 3: 3 lines in each direction, 12 edges over each.
    let boxes: Cost = 2 * 2 * 3 * 12;
    assert!(eco.cost <= boxes && strong.cost <= boxes, "{} {} for {boxes}", eco.cost, strong.cost);
}

#[test]
fn no_preset_is_worse_than_a_quicker_one() {
    let mut rng = Rng::new(6);
    let graphs = [
        generate::grid(9, 7),
        generate::random_geometric(70, 6.0, 0),
        cliques(&[2, 3, 5, 7, 11, 13], &mut rng),
    ];
    let (tree, mesh) = (Hierarchy::parse("4:2:3", "1:10:100").unwrap(), Grid::mesh(&[5, 4]).unwrap());
    let machines: [&dyn Machine; 3] = [&tree, &mesh, &tree];
    for (graph, machine) in graphs.into_iter().zip(machines) {
        let [fast, eco, strong] =
            reports(&graph, machine).map(|report| (report.loads.unwrap().overload, report.cost));
        assert!(strong <= eco && eco <= fast, "{strong:?} {eco:?} {fast:?}");
        let targets = Targets::equal(&graph, 7, 0.03).unwrap();
        let cut = |preset| {
            let partition = Partitioner::new(preset, 0).partition(&graph, &targets);
            (partition.overload(), partition.cut())
        };
        let [fast, eco, strong] =
            [PartitionPreset::Fast, PartitionPreset::Eco, PartitionPreset::Strong].map(cut);
        assert!(strong <= eco && eco <= fast, "{strong:?} {eco:?} {fast:?}");
    }
}

/// Returns whether vertices of these weights fit blocks of these bounds, by trying all assignments.
fn fit(weights: &[Weight], rooms: &mut [Weight]) -> bool {
    let Some((&weight, rest)) = weights.split_last() else { return true };
    (0..rooms.len()).any(|block: usize| {
        rooms[block] -= weight;
        let found = rooms[block] >= 0 && fit(rest, rooms);
        rooms[block] += weight;
        found
    })
}

#[test]
fn no_load_exceeds_its_bound_where_some_assignment_keeps_all() {
    let mut rng = Rng::new(7);
    let mut tight = 0;
    for round in 0..400 {
        let (n, k) = (2 + rng.below(9) as usize, 2 + rng.below(3) as usize);
        let mut builder = GraphBuilder::new(n);
        for node in 0..n as NodeId {
            builder.set_node_weight(node, 1 + Weight::from(rng.below(7)));
            if node > 0 && rng.below(3) > 0 {
                builder.add_edge(node, rng.below(node), 1 + Weight::from(rng.below(5)));
            }
        }
        let graph = builder.build().unwrap();
        let speeds: Vec<u32> = (0..k).map(|_| 1 + rng.below(3)).collect();
        let targets = Targets::proportional(&graph, &speeds, 0.03).unwrap();
        let mut rooms = targets.bounds().to_vec();
        if !fit(graph.node_weights(), &mut rooms) {
            continue;
        }
        tight += 1;
        let context = format!("round {round}: {:?} into {rooms:?}", graph.node_weights());
        for preset in [PartitionPreset::Fast, PartitionPreset::Eco] {
            let partition = Partitioner::new(preset, round).partition(&graph, &targets);
            assert_eq!(partition.overload(), 0, "{context}");
        }
        let machine = Capacities::new(Grid::mesh(&[k as u32]).unwrap(), speeds).unwrap();
        assert_eq!(Balance::default().bounds(&graph, &machine), rooms);
        let config = Config::preset(MapPreset::Eco).with_seed(round);
        let report = solved!(&graph, &machine, &config, balanced(Balance::default())).report;
        assert_eq!(report.loads.unwrap().overload, 0, "{context}");
    }
    assert!(tight > 100, "{tight}");
}

#[test]
fn components_fill_blocks_around_one_that_fits_nowhere() {
    let mut rng = Rng::new(8);
    let mut builder = GraphBuilder::new(100 + 60);
    for node in 1..100 {
        builder.add_edge(node - 1, node, 1);
    }
    for clique in 0..20 {
        let first = 100 + 3 * clique;
        [(0, 1), (1, 2), (2, 0)].iter().for_each(|(a, b)| builder.add_edge(first + a, first + b, 5));
    }
    let graph = builder.build().unwrap();
    let targets = Targets::equal(&graph, 4, 0.03).unwrap();
    let partition = Partitioner::new(PartitionPreset::Eco, rng.next_u64()).partition(&graph, &targets);
    let whole = |clique: usize| {
        let blocks: &[BlockId] = &partition.blocks()[100 + 3 * clique..][..3];
        blocks.iter().all(|block| *block == blocks[0])
    };
    assert!((0..20).all(whole));
    assert!(partition.cut() <= 3 && partition.overload() == 0, "{}", partition.cut());
}
