//! Remapping compared with partitions from scratch with the best labels, and with plain diffusion.
//!
//! A partition into 64 parts, or a mapping to the tree 4:8:6, is resumed after a change: either the speed of
//! a quarter of the parts was halved, or one part in eight was removed. The parts are drawn at random.
//! Weights of migration are multiples of the cost of the partition from scratch divided by the weight of all
//! vertices. Values are means over the draws; times are the minimum of three.

use std::path::Path;

use viem::base::rng::{Rng, derive};
use viem::graph::CsrGraph;
use viem::machine::{Capacities, Hierarchy, Listed, Machine};
use viem::partition::{
    Migration, MigrationWeight, Partitioner, PreviousAssignment, Remapping, RemovedBlocks, Targets,
};
use viem::solve::{Balance, Config, LoadLimits, MapPreset, PreparedMachine, Request};
use viem_io::metis::NodeWeights;

use super::{Run, diffusion};
use crate::common::{Stopwatch, Table, fail, geometric_mean, read_graph};

const GRAPHS: [&str; 5] = ["t60k", "cs4", "fe_sphere", "wing", "delaunay_n15"];
const PARTS: usize = 64;
const MACHINE: [&str; 2] = ["4:8:6", "1:10:100"];
const IMBALANCE: f64 = 0.03;

const BALANCE: Balance = Balance { imbalance: IMBALANCE, least_load: 0.0, per_division: false };

/// Number of runs of which the minimum time counts.
const TRIALS: usize = 3;

/// The kind of change.
#[derive(Clone, Copy)]
enum Change {
    Slower,
    Fewer,
}

/// The result of a remapping.
#[derive(Clone, Copy, Default)]
struct Outcome {
    cost: f64,
    migration: f64,
    seconds: f64,
    overload: f64,
}

impl Outcome {
    fn new(cost: i64, migration: Migration, overload: i64, seconds: f64) -> Self {
        let (cost, migration) = (cost as f64, migration.weight as f64);
        Self { cost, migration, seconds, overload: overload as f64 }
    }

    fn add(&mut self, other: Self) {
        self.cost += other.cost;
        self.migration += other.migration;
        self.seconds += other.seconds;
        self.overload += other.overload;
    }
}

/// The result of some work, and its minimum time.
fn timed<R>(run: &Run, work: impl Fn() -> R) -> (R, f64) {
    let once = || {
        let watch = Stopwatch::start(run.threads);
        let result = work();
        (result, watch.seconds())
    };
    let (result, seconds) = once();
    (result, (1..TRIALS).map(|_| once().1).fold(seconds, f64::min))
}

/// Changed parts, drawn at random, in ascending order.
fn drawn(num_parts: usize, count: usize, seed: u64) -> Vec<u32> {
    let mut parts: Vec<u32> = (0..num_parts as u32).collect();
    Rng::new(derive(seed, num_parts as u64)).shuffle(&mut parts);
    parts.truncate(count);
    parts.sort_unstable();
    parts
}

/// Speed 2 for all parts but the slow ones.
fn speeds(num_parts: usize, slow: &[u32]) -> Vec<u32> {
    (0..num_parts as u32).map(|part| if slow.contains(&part) { 1 } else { 2 }).collect()
}

pub(super) fn measure(run: &Run) {
    let Ok(folder) = std::env::var("VIEM_GRAPHS") else {
        return println!("remap: set VIEM_GRAPHS to a folder with {}", GRAPHS.join(", "));
    };
    let columns = [
        ("change, graph, way", 44),
        ("cost", 8),
        ("migration", 9),
        ("of all", 7),
        ("time", 6),
        ("overload", 0),
    ];
    for on_machine in [false, true] {
        println!("{}", if on_machine { "J on the machine 4:8:6" } else { "cut of 64 parts" });
        let table = Table::new(columns);
        for change in [Change::Slower, Change::Fewer] {
            let mut ratios: Vec<[Vec<f64>; 3]> = vec![Default::default(); run.weights.len() + 1];
            for name in GRAPHS {
                let graph = read_graph(&Path::new(&folder).join(format!("{name}.graph")), NodeWeights::Read);
                let mut sums = vec![Outcome::default(); run.weights.len() + 2];
                for draw in 0..run.draws {
                    let found = if on_machine {
                        machine(&graph, change, run, draw)
                    } else {
                        parts(&graph, change, run, draw)
                    };
                    sums.iter_mut().zip(found).for_each(|(sum, outcome)| sum.add(outcome));
                }
                rows(&table, (change, name, &graph), run, &sums, &mut ratios);
            }
            means(&table, change, run, &ratios);
        }
    }
}

fn label(change: Change) -> &'static str {
    match change {
        Change::Slower => "slower",
        Change::Fewer => "fewer",
    }
}

/// The names of all methods except the one from scratch.
fn ways(run: &Run) -> Vec<String> {
    let weights = run.weights.iter().map(|factor| format!("weight {factor}"));
    weights.chain(["diffusion".to_owned()]).collect()
}

/// One row for each method; cost, migration and time are relative to those from scratch.
fn rows(
    table: &Table,
    (change, name, graph): (Change, &str, &CsrGraph),
    run: &Run,
    sums: &[Outcome],
    ratios: &mut [[Vec<f64>; 3]],
) {
    let (scratch, draws) = (sums[0], run.draws as f64);
    let total = graph.total_node_weight() as f64 * draws;
    let share = |outcome: Outcome| format!("{:.1} %", 100.0 * outcome.migration / total);
    let change = label(change);
    table.row([
        format!("{change}, {name}, from scratch"),
        format!("{:.0}", scratch.cost / draws),
        format!("{:.0}", scratch.migration / draws),
        share(scratch),
        format!("{:.3} s", scratch.seconds / draws),
        format!("{:.0}", scratch.overload),
    ]);
    for ((way, &outcome), ratios) in ways(run).iter().zip(&sums[1..]).zip(ratios) {
        let [cost, migration, seconds] = [
            outcome.cost / scratch.cost,
            outcome.migration / scratch.migration,
            outcome.seconds / scratch.seconds,
        ];
        ratios.iter_mut().zip([cost, migration, seconds]).for_each(|(all, ratio)| all.push(ratio));
        table.row([
            format!("{change}, {name}, {way}"),
            format!("{cost:.3}"),
            format!("{migration:.3}"),
            share(outcome),
            format!("{seconds:.2}"),
            format!("{:.0}", outcome.overload),
        ]);
    }
}

fn means(table: &Table, change: Change, run: &Run, ratios: &[[Vec<f64>; 3]]) {
    for (way, ratios) in ways(run).iter().zip(ratios) {
        let [cost, migration, seconds] = ratios.each_ref().map(|ratios| geometric_mean(ratios));
        table.row([
            format!("{}, geometric mean, {way}", label(change)),
            format!("{cost:.3}"),
            format!("{migration:.3}"),
            "-".to_owned(),
            format!("{seconds:.2}"),
            "-".to_owned(),
        ]);
    }
}

/// The weight of migration that is a multiple of the cost of a partition per unit of vertex weight.
fn weight_of(factor: f64, cost: i64, graph: &CsrGraph) -> MigrationWeight {
    MigrationWeight::rounded(factor * cost as f64 / graph.total_node_weight() as f64)
}

/// The outcomes from scratch with the best labels, which takes `seconds`, and with each weight of migration.
/// Weights are multiples of the cost from scratch; `remap` returns cost, migration and overload.
fn with_each_weight(
    graph: &CsrGraph,
    run: &Run,
    seconds: f64,
    remap: impl Fn(MigrationWeight) -> (i64, Migration, i64),
) -> Vec<Outcome> {
    let (scratch, migration, overload) = remap(MigrationWeight::ZERO);
    let mut outcomes = vec![Outcome::new(scratch, migration, overload, seconds)];
    for &factor in &run.weights {
        let ((cost, migration, overload), seconds) = timed(run, || remap(weight_of(factor, scratch, graph)));
        outcomes.push(Outcome::new(cost, migration, overload, seconds));
    }
    outcomes
}

/// The outcomes from scratch, with each weight of migration, and by diffusion, for the cut.
fn parts(graph: &CsrGraph, change: Change, run: &Run, draw: u64) -> Vec<Outcome> {
    let equal = |parts| Targets::equal(graph, parts, IMBALANCE).unwrap_or_else(|error| fail(error));
    let old = Partitioner::new(run.preset, 2 * draw).partition(graph, &equal(PARTS)).into_blocks();
    let (changed, targets, left) = match change {
        Change::Slower => {
            let slow = drawn(PARTS, PARTS / 4, draw);
            let targets = Targets::proportional(graph, &speeds(PARTS, &slow), IMBALANCE);
            (slow, targets.unwrap_or_else(|error| fail(error)), Vec::new())
        }
        Change::Fewer => {
            let left = drawn(PARTS, PARTS / 8, draw);
            (left.clone(), equal(PARTS - PARTS / 8), left)
        }
    };
    let homes = PreviousAssignment::after(&old, RemovedBlocks(&left), targets.num_blocks())
        .unwrap_or_else(|error| fail(error));
    let partitioner = Partitioner::new(run.preset, 2 * draw + 1);
    let (_, seconds) = timed(run, || partitioner.partition(graph, &targets));
    let remap = |weight| {
        let remapped = partitioner
            .remap(graph, &targets, Remapping::new(&homes, weight))
            .and_then(|found| found.into_best(weight));
        let remapped = remapped.unwrap_or_else(|error| fail(error));
        let partition = remapped.partition;
        (partition.cut(), remapped.migration, partition.overload())
    };
    let mut outcomes = with_each_weight(graph, run, seconds, remap);
    let watch = Stopwatch::start(run.threads);
    let shares = diffusion::shares(PARTS, &changed, !left.is_empty());
    let found = diffusion::diffuse(graph, &old, &shares, &|a, b| i64::from(a != b));
    let seconds = watch.seconds();
    let now = renumbered(&found, &left);
    let partition = viem::Partition::of(graph, now, &targets);
    let migration = homes.migration(graph, partition.blocks());
    outcomes.push(Outcome::new(partition.cut(), migration, partition.overload(), seconds));
    outcomes
}

/// Blocks renumbered without the removed ones.
fn renumbered(blocks: &[u32], left: &[u32]) -> Vec<u32> {
    blocks.iter().map(|&block| block - left.partition_point(|&other| other < block) as u32).collect()
}

/// The distance of two PEs of the machine.
fn distance(a: u32, b: u32) -> i64 {
    match () {
        () if a == b => 0,
        () if a / 4 == b / 4 => 1,
        () if a / 32 == b / 32 => 10,
        () => 100,
    }
}

/// The same for J on a machine.
fn machine(graph: &CsrGraph, change: Change, run: &Run, draw: u64) -> Vec<Outcome> {
    let tree = Hierarchy::parse(MACHINE[0], MACHINE[1]).unwrap_or_else(|error| fail(error));
    let num_pes = tree.num_pes();
    let preset: MapPreset = run.preset.name().parse().unwrap_or_else(|error| fail(error));
    let config = |seed| {
        let mut config = Config::preset(preset);
        config.seed = seed;
        config
    };
    let map = |machine: &dyn Machine, seed| {
        Request::new(graph, &PreparedMachine::new(machine))
            .balanced(BALANCE)
            .solve(&config(seed))
            .unwrap_or_else(|error| fail(error))
    };
    let old = map(&tree, 2 * draw).mapping;
    let (changed, left): (Vec<u32>, Vec<u32>) = match change {
        Change::Slower => (drawn(num_pes, num_pes / 4, draw), Vec::new()),
        Change::Fewer => {
            let left = drawn(num_pes, num_pes / 8, draw);
            (left.clone(), left)
        }
    };
    let machine: Box<dyn Machine> = match change {
        Change::Slower => {
            let slower = Capacities::new(tree.clone(), speeds(num_pes, &changed));
            Box::new(slower.unwrap_or_else(|error| fail(error)))
        }
        Change::Fewer => {
            let stay = (0..num_pes as u32).filter(|pe| !left.contains(pe)).collect();
            Box::new(Listed::new(&tree, stay).unwrap_or_else(|error| fail(error)))
        }
    };
    let homes = PreviousAssignment::after(old.pes(), RemovedBlocks(&left), machine.num_pes())
        .unwrap_or_else(|error| fail(error));
    let (_, seconds) = timed(run, || map(machine.as_ref(), 2 * draw + 1));
    let remap = |weight| {
        let solution = Request::new(graph, &PreparedMachine::new(machine.as_ref()))
            .balanced(BALANCE)
            .previous(Remapping::new(&homes, weight))
            .solve(&config(2 * draw + 1));
        let report = solution.unwrap_or_else(|error| fail(error)).report;
        (report.cost, report.migration.unwrap_or_default(), report.violation().overload)
    };
    let mut outcomes = with_each_weight(graph, run, seconds, remap);
    let watch = Stopwatch::start(run.threads);
    let shares = diffusion::shares(num_pes, &changed, !left.is_empty());
    let found = diffusion::diffuse(graph, old.pes(), &shares, &distance);
    let seconds = watch.seconds();
    let now = renumbered(&found, &left);
    let loads = LoadLimits::from(BALANCE).loads(graph, machine.as_ref(), &now);
    let migration = homes.migration(graph, &now);
    let cost = diffusion::cost(graph, &found, &distance);
    outcomes.push(Outcome::new(cost, migration, loads.overload, seconds));
    outcomes
}
