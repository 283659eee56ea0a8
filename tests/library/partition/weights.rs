//! Remappings with several weights of migration, in calls of their own: their results must not contradict each other.

use std::path::Path;

use crate::common::{random_graph, with_node_weights};
use viem::base::rng::Rng;
use viem::graph::{CsrGraph, VertexWeights, generate};
use viem::machine::{Blocks, Capacities, Grid, Hierarchy, Machine};
use viem::partition::{
    BoundViolation, FixedVertices, MigrationWeight, PartitionPreset, Partitioner, PreviousAssignment,
    Remapping, RemovedBlocks, Targets,
};
use viem::solve::{Balance, Config, MapPreset, Objective, PreparedMachine, Request, SeveralWeights};
use viem_io::metis::NodeWeights;
use viem_io::{Source, read_graph};

/// Weights below, on and above those that the search comes across.
const WEIGHTS: [&str; 9] = ["0", "0.07", "0.3", "0.5", "1", "2.25", "10", "1000", "1000000"];

/// The values by which a result is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    violation: BoundViolation,
    cost: i64,
    migration: i64,
}

impl Found {
    fn value(&self, weight: MigrationWeight) -> (BoundViolation, i128) {
        (self.violation, weight.objective(self.cost, self.migration))
    }
}

fn weight(text: &str) -> MigrationWeight {
    text.parse().unwrap()
}

/// Remaps with each weight and checks that migration never rises, and that no result is better for another weight.
fn consistent(label: &str, remap: impl Fn(MigrationWeight) -> Found) -> Vec<Found> {
    let found: Vec<Found> = WEIGHTS.iter().map(|text| remap(weight(text))).collect();
    for (text, own) in WEIGHTS.iter().zip(&found) {
        let weight = weight(text);
        let best = found.iter().min_by_key(|other| other.value(weight)).unwrap();
        assert_eq!(own.value(weight), best.value(weight), "{label}, {text}: {found:?}");
    }
    assert!(found.windows(2).all(|pair| pair[0].migration >= pair[1].migration), "{label}: {found:?}");
    found
}

fn of_cut(
    graph: &CsrGraph,
    targets: &Targets,
    homes: &PreviousAssignment,
    partitioner: &Partitioner,
    weight: MigrationWeight,
) -> Found {
    let found = partitioner
        .remap(graph, targets, Remapping::new(homes, weight))
        .and_then(|found| found.into_best(weight))
        .unwrap();
    let (cost, migration) = (found.partition.cut(), found.migration.weight);
    Found { violation: found.partition.violation(), cost, migration }
}

fn of_j(
    graph: &CsrGraph,
    machine: &dyn Machine,
    (config, balance): (&Config, Balance),
    homes: &PreviousAssignment,
    weight: MigrationWeight,
) -> Found {
    let report =
        solved!(graph, machine, config, balanced(balance), previous(Remapping::new(homes, weight))).report;
    let (cost, migration) = (report.cost, report.migration.unwrap().weight);
    Found { violation: report.violation(), cost, migration }
}

fn weights(n: usize, rng: &mut Rng) -> Vec<i64> {
    (0..n).map(|_| 1 + i64::from(rng.below(9))).collect()
}

/// A path whose vertices weigh so much.
fn path(weights: &[i64]) -> CsrGraph {
    with_node_weights(&generate::grid(weights.len(), 1), weights)
}

/// Four blocks of four vertices: the first ones weigh 9, the third ones 6.
#[test]
fn one_vertex_of_each_weight_goes_to_each_block_with_the_least_migration() {
    let graph = path(&[9, 9, 9, 9, 1, 1, 1, 1, 6, 6, 6, 6, 1, 1, 1, 1]);
    let targets = Targets::equal(&graph, 4, 0.03).unwrap();
    let homes = PreviousAssignment::new(&(0..16).map(|vertex| vertex / 4).collect::<Vec<_>>(), 4).unwrap();
    for preset in [PartitionPreset::Fast, PartitionPreset::Eco, PartitionPreset::Strong] {
        for seed in 0..3 {
            let partitioner = Partitioner::new(preset, seed);
            let found =
                consistent("four blocks", |weight| of_cut(&graph, &targets, &homes, &partitioner, weight));
            let stiff = found[WEIGHTS.iter().position(|&text| text == "1000").unwrap()];
            // Three of 9, three of 6, and four of 1 must leave.
            assert_eq!((stiff.violation, stiff.migration), (BoundViolation::NONE, 27 + 18 + 4));
            assert!(stiff.cost <= 12, "{preset} {seed}: {}", stiff.cost);
        }
    }
}

#[test]
fn results_of_random_graphs_do_not_contradict_each_other() {
    let mut rng = Rng::new(11);
    for round in 0..15 {
        let (n, k) = (10 + rng.below(25) as usize, 2 + rng.below(4));
        let graph =
            if round % 2 == 0 { path(&weights(n, &mut rng)) } else { random_graph(n, 4, 9, &mut rng) };
        let graph = with_node_weights(&graph, &weights(n, &mut rng));
        // The last block has left in some rounds.
        let left = if round % 3 == 0 { vec![k] } else { Vec::new() };
        let old: Vec<u32> = (0..n as u32).map(|v| v * (k + left.len() as u32) / n as u32).collect();
        let homes = PreviousAssignment::after(&old, RemovedBlocks(&left), k as usize).unwrap();
        let mut targets = Targets::equal(&graph, k as usize, [0.03, 0.2][round % 2]).unwrap();
        if round % 4 == 0 {
            let least = Targets::least_shares(&graph, &vec![1; k as usize], 0.8).unwrap();
            targets = targets.with_least_loads(least).unwrap();
        }
        if round % 5 == 0 {
            let fixed: Vec<Option<u32>> = (0..n as u32).map(|v| (v % 7 == 0).then_some(v % k)).collect();
            targets = targets.with_fixed(&graph, FixedVertices::new(&fixed, k as usize).unwrap()).unwrap();
        }
        let partitioner = Partitioner::new(PartitionPreset::ALL[round % 3], round as u64);
        consistent(&format!("round {round}"), |weight| {
            of_cut(&graph, &targets, &homes, &partitioner, weight)
        });
    }
}

#[test]
fn results_on_machines_do_not_contradict_each_other() {
    let mut rng = Rng::new(12);
    let tree = Hierarchy::parse("2:3", "1:10").unwrap();
    let slower = Capacities::new(tree.clone(), vec![2, 2, 1, 2, 2, 1]).unwrap();
    let torus = Grid::torus(&[2, 3]).unwrap();
    let machines: [&dyn Machine; 3] = [&tree, &slower, &torus];
    for round in 0..6 {
        let n = 12 + rng.below(30) as usize;
        let graph =
            if round % 2 == 0 { path(&weights(n, &mut rng)) } else { random_graph(n, 4, 9, &mut rng) };
        let graph = with_node_weights(&graph, &weights(n, &mut rng));
        let old: Vec<u32> = (0..n as u32).map(|v| v * 6 / n as u32).collect();
        let homes = PreviousAssignment::new(&old, 6).unwrap();
        let config = Config::preset(MapPreset::ALL[round % 3]).with_seed(round as u64);
        consistent(&format!("round {round}"), |weight| {
            of_j(&graph, machines[round % 3], (&config, Balance::default()), &homes, weight)
        });
    }
}

/// Meshes that are too large for exchanges and enumeration.
#[test]
fn a_large_weight_does_not_cut_more_for_the_same_migration() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("instances/mesh_64x48.graph");
    let mesh = read_graph(Source::open(&file).unwrap(), NodeWeights::Read).unwrap();
    let homes = PreviousAssignment::new(&mesh.nodes().map(|v| v / 192).collect::<Vec<_>>(), 16).unwrap();
    let targets = Targets::proportional(&mesh, &[[1, 2], [2, 2]].concat().repeat(4), 0.03).unwrap();
    let partitioner = Partitioner::new(PartitionPreset::Fast, 0);
    consistent("cut", |weight| of_cut(&mesh, &targets, &homes, &partitioner, weight));
    let machine = Hierarchy::parse("4:4", "1:10").unwrap();
    let slower = Capacities::new(machine, [[1, 2], [2, 2]].concat().repeat(4)).unwrap();
    let config = Config::preset(MapPreset::Fast);
    consistent("J", |weight| of_j(&mesh, &slower, (&config, Balance::default()), &homes, weight));
}

/// The least cost plus weight times migration of all assignments within bounds. `between` is what a unit of an edge costs.
struct Enumeration<'a> {
    graph: &'a CsrGraph,
    bounds: &'a [i64],
    old: &'a [u32],
    weight: MigrationWeight,
    between: &'a dyn Fn(u32, u32) -> i64,
}

impl Enumeration<'_> {
    fn least(&self, blocks: &mut Vec<u32>, loads: &mut [i64]) -> Option<i128> {
        let vertex = blocks.len() as u32;
        if blocks.len() == self.graph.num_nodes() {
            let edge = |v: u32, (to, weight): (u32, i64)| {
                weight * (self.between)(blocks[v as usize], blocks[to as usize])
            };
            let of_vertex = |v: u32| self.graph.arcs(v).map(|arc| edge(v, arc)).sum::<i64>();
            let cost: i64 = self.graph.nodes().map(of_vertex).sum();
            let away = self.graph.nodes().filter(|&v| blocks[v as usize] != self.old[v as usize]);
            let migration = away.map(|v| self.graph.node_weight(v)).sum();
            return Some(self.weight.objective(cost / 2, migration));
        }
        let weight = self.graph.node_weight(vertex);
        let mut least = None;
        for block in 0..loads.len() {
            if loads[block] + weight > self.bounds[block] {
                continue;
            }
            loads[block] += weight;
            blocks.push(block as u32);
            let found = self.least(blocks, loads);
            least = least.into_iter().chain(found).min();
            blocks.pop();
            loads[block] -= weight;
        }
        least
    }
}

/// Returns the number of these problems that are solved to the optimum for all weights, and the number of all.
fn optimal(problems: impl Iterator<Item = (Vec<Found>, Vec<Option<i128>>)>) -> (usize, usize) {
    let mut counts = (0, 0);
    for (found, least) in problems {
        let values = WEIGHTS.iter().zip(&found).map(|(text, found)| found.value(weight(text)));
        let Some(least) = least.into_iter().collect::<Option<Vec<_>>>() else { continue };
        counts.1 += 1;
        counts.0 += usize::from(values.eq(least.into_iter().map(|least| (BoundViolation::NONE, least))));
    }
    counts
}

#[test]
fn tiny_problems_are_solved_to_the_optimum() {
    let mut rng = Rng::new(13);
    let of_cut = (0..40u64).map(|round| {
        let (n, k) = (5 + rng.below(5) as usize, 2 + rng.below(2) as usize);
        let graph = with_node_weights(&random_graph(n, 3, 5, &mut rng), &weights(n, &mut rng));
        let old: Vec<u32> = (0..n).map(|_| rng.below(k as u32)).collect();
        let homes = PreviousAssignment::new(&old, k).unwrap();
        let targets = Targets::equal(&graph, k, 0.1).unwrap();
        let partitioner = Partitioner::new(PartitionPreset::Eco, round);
        let found = consistent("tiny", |weight| of_cut(&graph, &targets, &homes, &partitioner, weight));
        let (bounds, old) = (targets.bounds(), &old[..]);
        let least = |text: &&str| {
            let between = &|a, b| i64::from(a != b);
            let all = Enumeration { graph: &graph, bounds, old, weight: weight(text), between };
            all.least(&mut Vec::new(), &mut vec![0; k])
        };
        (found, WEIGHTS.iter().map(least).collect())
    });
    let (solved, problems) = optimal(of_cut);
    // 37 of 38.
    assert!(problems >= 30 && solved + 1 >= problems, "{solved} of {problems}");
}

#[test]
fn tiny_problems_on_machines_are_solved_to_the_optimum() {
    let mut rng = Rng::new(14);
    let machine = Hierarchy::parse("2:2", "1:10").unwrap();
    let of_j = (0..20u64).map(|round| {
        let n = 5 + rng.below(4) as usize;
        let graph = with_node_weights(&random_graph(n, 3, 5, &mut rng), &weights(n, &mut rng));
        let old: Vec<u32> = (0..n).map(|_| rng.below(4)).collect();
        let homes = PreviousAssignment::new(&old, 4).unwrap();
        let config = Config::preset(MapPreset::Eco).with_seed(round);
        let balance = Balance::default().with_imbalance(0.3);
        let found = consistent("tiny", |weight| of_j(&graph, &machine, (&config, balance), &homes, weight));
        let (bounds, old) = (&balance.bounds(&graph, &machine)[..], &old[..]);
        let least = |text: &&str| {
            let between = &|a, b| 2 * [0, 1, 10][usize::from(a != b) + usize::from(a / 2 != b / 2)];
            let all = Enumeration { graph: &graph, bounds, old, weight: weight(text), between };
            all.least(&mut Vec::new(), &mut [0; 4])
        };
        (found, WEIGHTS.iter().map(least).collect())
    });
    let (solved, problems) = optimal(of_j);
    assert!(problems >= 10 && solved + 1 >= problems, "{solved} of {problems}");
}

/// The least migration within bounds, by dynamic programming over the loads of the first blocks.
fn least_migration(weights: &[i64], old: &[u32], bounds: &[i64]) -> Option<i64> {
    let mut best = std::collections::HashMap::from([(vec![0; bounds.len()], 0i64)]);
    for (&weight, &home) in weights.iter().zip(old) {
        let mut next = std::collections::HashMap::new();
        for (loads, migration) in best {
            for block in (0..bounds.len()).filter(|&block| loads[block] + weight <= bounds[block]) {
                let mut loads = loads.clone();
                loads[block] += weight;
                let migration = migration + if block == home as usize { 0 } else { weight };
                let least = next.entry(loads).or_insert(migration);
                *least = (*least).min(migration);
            }
        }
        best = next;
    }
    best.into_values().min()
}

#[test]
fn a_large_weight_moves_the_least_on_most_weighted_paths() {
    let mut rng = Rng::new(15);
    let (mut solved, mut problems, mut sums) = (0, 0, [0, 0]);
    for round in 0..40 {
        let (n, k) = (12 + rng.below(13) as usize, 3);
        let weights = weights(n, &mut rng);
        let (graph, old) = (path(&weights), (0..n).map(|v| (v * k / n) as u32).collect::<Vec<_>>());
        let homes = PreviousAssignment::new(&old, k).unwrap();
        let targets = Targets::equal(&graph, k, 0.03).unwrap();
        let partitioner = Partitioner::new(PartitionPreset::Eco, round);
        let found = of_cut(&graph, &targets, &homes, &partitioner, weight("1000"));
        let Some(least) = least_migration(&weights, &old, targets.bounds()) else { continue };
        assert_eq!(found.violation, BoundViolation::NONE);
        problems += 1;
        solved += usize::from(found.migration == least);
        sums = [sums[0] + found.migration, sums[1] + least];
    }
    assert!(problems >= 30 && 10 * solved >= 9 * problems, "{solved} of {problems}");
    assert!(100 * sums[0] <= 105 * sums[1], "{sums:?}");
}

/// A curve has what calls with its weights give, and takes no search of its own.
#[test]
fn points_of_a_curve_are_results_of_calls() {
    let mesh = generate::mesh(30, 20, 1);
    let homes = PreviousAssignment::new(&mesh.nodes().map(|v| v / 100).collect::<Vec<_>>(), 6).unwrap();
    let targets = Targets::proportional(&mesh, &[1, 2, 2, 2, 2, 2], 0.03).unwrap();
    let partitioner = Partitioner::new(PartitionPreset::Eco, 1);
    let asked = Remapping::new(&homes, MigrationWeight::ONE).with_curve();
    for point in partitioner.remap(&mesh, &targets, asked).unwrap().curve() {
        let found = of_cut(&mesh, &targets, &homes, &partitioner, point.migration_weight);
        assert_eq!((point.cost, point.migration.weight), (found.cost, found.migration));
    }
    let machine = Hierarchy::parse("2:3", "1:10").unwrap();
    let config = Config::preset(MapPreset::Fast);
    let remapping = Remapping::new(&homes, MigrationWeight::ONE);
    let all = Request::new(&mesh, &PreparedMachine::new(&machine))
        .balanced(Balance::default())
        .previous(remapping)
        .solve_for_weights(&config)
        .unwrap();
    for text in WEIGHTS {
        let remapping = Remapping::new(&homes, weight(text));
        let call = solved!(&mesh, &machine, &config, balanced(Balance::default()), previous(remapping));
        assert_eq!(all.best(weight(text)).unwrap().mapping, call.mapping);
    }
}

/// A graph whose vertices have several weights, on a machine, and the present places of the vertices.
struct Several<'a> {
    graph: &'a CsrGraph,
    machine: &'a dyn Machine,
    weights: SeveralWeights<'a>,
    objective: Objective,
    homes: PreviousAssignment,
    fixed: Option<FixedVertices>,
    config: Config,
}

impl Several<'_> {
    fn report(&self, pes: &[u32]) -> Found {
        let mapping = viem::Mapping::many(self.machine.num_pes(), pes.to_vec()).unwrap();
        let prepared = PreparedMachine::new(self.machine);
        let request = Request::new(self.graph, &prepared).balanced(&self.weights).minimise(self.objective);
        let report = request.evaluate(&mapping, &self.config).unwrap();
        let cost = if self.objective == Objective::Cut { report.cut } else { report.cost };
        Found { violation: report.violation(), cost, migration: self.homes.migration(self.graph, pes).weight }
    }

    fn solve(&self, weight: MigrationWeight) -> Vec<u32> {
        let prepared = PreparedMachine::new(self.machine);
        let request = Request::new(self.graph, &prepared).balanced(&self.weights).minimise(self.objective);
        let request = request.fixed(self.fixed.as_ref()).previous(Remapping::new(&self.homes, weight));
        let solution = request.solve(&self.config).unwrap();
        let found = self.report(solution.mapping.pes());
        assert_eq!(solution.report.violation(), found.violation);
        assert_eq!(solution.report.migration.unwrap().weight, found.migration);
        solution.mapping.pes().to_vec()
    }

    fn remap(&self, weight: MigrationWeight) -> Found {
        self.report(&self.solve(weight))
    }

    /// The costs and migrations of all assignments within all bounds.
    fn all(&self) -> Vec<Found> {
        let (n, k) = (self.graph.num_nodes() as u32, self.machine.num_pes());
        let pes = |number: usize| (0..n).map(|v| (number / k.pow(v) % k) as u32).collect::<Vec<_>>();
        let used = |pes: &Vec<u32>| (0..k as u32).all(|pe| pes.contains(&pe));
        let all = (0..k.pow(n)).map(pes).filter(used).map(|pes| self.report(&pes));
        all.filter(|found| found.violation == BoundViolation::NONE).collect()
    }
}

fn several_weights(n: usize, most: u32, rng: &mut Rng) -> VertexWeights {
    VertexWeights::new(2, (0..2 * n).map(|_| i64::from(rng.below(most))).collect()).unwrap()
}

#[test]
fn tiny_problems_of_several_weights_are_solved_to_the_optimum() {
    let mut rng = Rng::new(31);
    let (tree, blocks) = (Hierarchy::parse("2:2", "1:10").unwrap(), Blocks::equal(3).unwrap());
    let (mut solved, mut problems) = (0, 0);
    for round in 0..10u64 {
        let is_cut = round % 2 == 0;
        let (machine, n): (&dyn Machine, usize) = if is_cut { (&blocks, 6) } else { (&tree, 5) };
        let graph = with_node_weights(&random_graph(n, 3, 5, &mut rng), &weights(n, &mut rng));
        let own = several_weights(n, 6, &mut rng);
        let (time, memory) = (
            Balance::default().with_imbalance(0.5),
            Balance::default().with_imbalance(if is_cut { 0.6 } else { 4.0 }),
        );
        let mut several = SeveralWeights::new(&own, &[time.into(), memory.into()]).unwrap();
        if !is_cut {
            // The nodes have memory for nearly half and most of all.
            let total = own.totals()[1];
            several = several.with_node_bounds(vec![None, Some(vec![total / 2, total])]).unwrap();
        }
        let old: Vec<u32> = (0..n).map(|_| rng.below(machine.num_pes() as u32)).collect();
        let problem = Several {
            graph: &graph,
            machine,
            weights: several,
            objective: if is_cut { Objective::Cut } else { Objective::J },
            homes: PreviousAssignment::new(&old, machine.num_pes()).unwrap(),
            fixed: None,
            config: Config::preset(MapPreset::Eco).with_seed(round),
        };
        let all = problem.all();
        let found = consistent(&format!("several, round {round}"), |weight| problem.remap(weight));
        if all.is_empty() {
            continue;
        }
        problems += 1;
        let best = |weight: MigrationWeight| all.iter().map(|found| found.value(weight)).min();
        solved += usize::from(
            WEIGHTS
                .iter()
                .zip(&found)
                .all(|(text, found)| Some(found.value(weight(text))) == best(weight(text))),
        );
    }
    assert!(problems >= 5 && solved + 1 >= problems, "{solved} of {problems}");
}

#[test]
fn results_of_several_weights_keep_all_bounds_and_fixed_vertices() {
    let mut rng = Rng::new(32);
    let tree = Hierarchy::parse("2:3", "1:10").unwrap();
    let (blocks, slower) =
        (Blocks::equal(6).unwrap(), Capacities::new(tree.clone(), vec![2, 2, 1, 2, 2, 1]).unwrap());
    let machines: [&dyn Machine; 3] = [&tree, &blocks, &slower];
    for round in 0..6 {
        let graph = generate::mesh(30, 20, round as u64);
        let n = graph.num_nodes();
        let own = several_weights(n, 9, &mut rng);
        let memory = Balance::default().with_imbalance(0.1);
        let weights = SeveralWeights::new(&own, &[Balance::default().into(), memory.into()]).unwrap();
        // The last of seven blocks has left.
        let old: Vec<u32> = (0..n as u32).map(|v| v * 7 / n as u32).collect();
        let fixed: Vec<Option<u32>> = (0..n as u32).map(|v| (v % 97 == 0).then_some(v % 6)).collect();
        let problem = Several {
            graph: &graph,
            machine: machines[round % 3],
            weights,
            objective: if round % 3 == 1 { Objective::Cut } else { Objective::J },
            homes: PreviousAssignment::after(&old, RemovedBlocks(&[6]), 6).unwrap(),
            fixed: (round >= 3).then(|| FixedVertices::new(&fixed, 6).unwrap()),
            config: Config::preset(MapPreset::ALL[round % 3]).with_seed(round as u64),
        };
        let found = consistent(&format!("several, round {round}"), |weight| problem.remap(weight));
        assert!(found.iter().all(|found| found.violation == BoundViolation::NONE), "{round}: {found:?}");
        let [free, stiff] = [found[0].migration, found[WEIGHTS.len() - 1].migration];
        assert!(stiff < free.max(graph.total_node_weight() / 2), "{round}: {found:?}");
        let pes = problem.solve(weight("1"));
        assert!((0..6).all(|pe| pes.contains(&pe)));
        for (vertex, pe) in problem.fixed.iter().flat_map(FixedVertices::iter) {
            assert_eq!(pes[vertex as usize], pe);
        }
        let threads = Several { config: problem.config.with_threads(3), ..problem };
        assert_eq!(threads.solve(weight("1")), pes);
    }
}
