//! Maps random problems of random shapes for a given time, and checks every guarantee on each.
//!
//! ```text
//! cargo bench --profile soak --bench soak -- minutes=60 [seed=1] [only=17]
//! ```
//!
//! Round i of a seed is always the same problem. A failure names it, and `only=i` runs it alone. Without
//! `minutes` it runs for a few seconds. `only` also prints the problem with its settings. The checks use code
//! that is independent of the optimiser:
//!
//! - the graph survives writing and reading, compressed or not, and the checker accepts it; a damaged text is
//!   rejected or read, and a repaired one is valid;
//! - the mapping is a permutation, the auditor confirms the reported J, and J is no worse than that of the
//!   identity, of the construction, and of the mapping given as a start;
//! - other numbers of threads and the other kind of distances give the same mapping and the same report,
//!   times aside;
//! - no exchange of two processes lowers J after a search of all pairs;
//! - a run that is stopped at a random moment, or by a time limit, returns a valid mapping that is no worse
//!   than the identity, the construction and the start;
//! - the program, with redirected outputs and too little memory, disk space or time, writes a valid mapping,
//!   or ends with the exit code for the missing resource and leaves every file unchanged;
//! - every block of a partition has a vertex and no more weight than allowed, and the cut, the block weights
//!   and the quotient graph match the sums over the edges.

#[path = "../../benches/common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
#[path = "soak/programs.rs"]
mod programs;

use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

use common::{Options, StopAfter, audited_cost, divided, text_of};
use viem::base::rng::{Rng, derive};
use viem::base::types::{NodeId, Weight};
use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem::machine::{DistanceKind, DistanceOracle, Hierarchy};
use viem::mapping::Mapping;
use viem::mapping::construct::Construction;
use viem::mapping::objective::{keys, swap_delta};
use viem::mapping::search::Neighbourhood;
use viem::partition::PartitionPreset;
use viem::solve::{Config, MapPreset, PreparedMachine, Report, Request, Seconds, Solution, SolveError};
use viem_io::Source;
use viem_io::metis::{self, NodeWeights};

fn main() {
    let (minutes, seed, only) = Options::read(|options| {
        let minutes = options.value("minutes", 0.1)?;
        Ok((minutes, options.value("seed", 1)?, options.optional("only")?))
    });
    let begin = Instant::now();
    let end = Duration::from_secs_f64(60.0 * minutes);
    let mut reported = begin;
    let mut counts = Counts::default();
    for round in only.unwrap_or(0)..only.map_or(u64::MAX, |only| only + 1) {
        if only.is_none() && begin.elapsed() >= end {
            break;
        }
        let outcome = std::panic::catch_unwind(|| check(&mut Rng::new(derive(seed, round)), only.is_some()));
        match outcome {
            Ok(of_round) => counts.add(&of_round),
            Err(_) => {
                eprintln!("seed={seed} only={round} fails");
                std::process::exit(1);
            }
        }
        if reported.elapsed() > Duration::from_secs(60) {
            reported = Instant::now();
            println!("{:.0} min: {counts:?}", begin.elapsed().as_secs_f64() / 60.0);
        }
    }
    println!("{:.1} min: {counts:?}, all checks passed", begin.elapsed().as_secs_f64() / 60.0);
}

#[derive(Debug, Default)]
struct Counts {
    rounds: u64,
    processes: u64,
    edges: u64,
    mapped: u64,
    refused: u64,
    stopped: u64,
    models: u64,
    programs: u64,
    limited: u64,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.rounds += other.rounds;
        self.processes += other.processes;
        self.edges += other.edges;
        self.mapped += other.mapped;
        self.refused += other.refused;
        self.stopped += other.stopped;
        self.models += other.models;
        self.programs += other.programs;
        self.limited += other.limited;
    }
}

fn pick<T: Copy>(rng: &mut Rng, items: &[T]) -> T {
    items[rng.below(items.len() as u32) as usize]
}

/// A number below 2^`greatest_bits`, small and large ones equally likely.
fn number(rng: &mut Rng, greatest_bits: u32) -> i64 {
    (rng.next_u64() >> (64 - greatest_bits) >> rng.below(greatest_bits + 1)) as i64
}

fn check(rng: &mut Rng, is_told: bool) -> Counts {
    let hierarchy = random_hierarchy(rng);
    let graph = random_graph(rng, hierarchy.num_pes());
    let mut counts = Counts {
        rounds: 1,
        processes: graph.num_nodes() as u64,
        edges: graph.num_edges() as u64,
        ..Counts::default()
    };
    let text = check_files(rng, &graph);
    let config = random_config(rng);
    if is_told {
        println!("{hierarchy:?}\n{config:?}\n{text}");
    }
    check_mapping(rng, &graph, &hierarchy, &text, &config, &mut counts);
    check_model(rng, &graph, &mut counts);
    #[cfg(target_os = "linux")]
    if rng.below(4) == 0 {
        // Starting a program takes longer than most rounds.
        let is_written = programs::check(rng, &text, &hierarchy, counts.refused > 0);
        counts.programs += 1;
        counts.limited += u64::from(!is_written);
    }
    counts
}

fn random_hierarchy(rng: &mut Rng) -> Hierarchy {
    let greatest = 1 << rng.below(11);
    let (mut arities, mut distances) = (Vec::new(), Vec::new());
    let mut num_pes = 1;
    for _ in 0..=rng.below(7) {
        let bound = pick(rng, &[1, 3, 9, 40]);
        let arity = 1 + rng.below(bound);
        if num_pes * arity <= greatest {
            num_pes *= arity;
            arities.push(arity);
        }
    }
    if arities.is_empty() {
        arities.push(1);
    }
    let bits = pick(rng, &[1, 4, 10, 40, 63]);
    for _ in &arities {
        distances.push(number(rng, bits));
    }
    match rng.below(4) {
        0 => distances.sort_unstable_by(|a, b| b.cmp(a)),
        1 => {}
        _ => distances.sort_unstable(),
    }
    Hierarchy::new(arities, distances).expect("as many distances as levels")
}

fn random_graph(rng: &mut Rng, n: usize) -> CsrGraph {
    let vertex = |rng: &mut Rng| rng.below(n as u32);
    let mut pairs: BTreeSet<(NodeId, NodeId)> = BTreeSet::new();
    match rng.below(10) {
        0 => {} // no edge at all
        1 => pairs.extend((1..n as NodeId).map(|leaf| (0, leaf))),
        2 => pairs.extend((1..n as NodeId).map(|next| (next - 1, next))),
        3 if n <= 64 => pairs.extend((0..n as NodeId).flat_map(|u| (0..u).map(move |v| (v, u)))),
        4 => {
            // A geometric graph has blobs, holes and isolated vertices.
            let graph = generate::random_geometric(n, 1.0 + rng.unit() * 12.0, rng.next_u64());
            pairs.extend(graph.nodes().flat_map(|u| {
                graph.neighbours(u).iter().filter(move |&&v| u < v).map(move |&v| (u, v)).collect::<Vec<_>>()
            }));
        }
        5 => {
            // Heavy-tailed degrees: one end of an edge is an end of an earlier one.
            let mut ends = vec![0];
            for _ in 0..3 * n {
                let (u, v) = (ends[rng.below(ends.len() as u32) as usize], vertex(rng));
                if u != v {
                    pairs.insert((u.min(v), u.max(v)));
                    ends.extend([u, v]);
                }
            }
        }
        6 | 7 => {
            // Hubs, adjacent to nearly all vertices or to a share of them, and some other edges.
            let hubs = (1 + rng.below(10)).min(n as u32);
            let is_shared = rng.below(2) == 0;
            let others = rng.below(n as u32);
            for node in 0..n as NodeId {
                let next = if is_shared { node % hubs..node % hubs + 1 } else { 0..hubs };
                pairs.extend(next.filter(|&hub| hub != node).map(|hub| (hub.min(node), hub.max(node))));
            }
            for _ in 0..others {
                let (u, v) = (vertex(rng), vertex(rng));
                if u != v {
                    pairs.insert((u.min(v), u.max(v)));
                }
            }
        }
        _ => {
            let density = 1 + rng.below(8);
            for _ in 0..n as u32 * density / 2 {
                let (u, v) = (vertex(rng), vertex(rng));
                if u != v {
                    pairs.insert((u.min(v), u.max(v)));
                }
            }
        }
    }
    let mut names: Vec<NodeId> = (0..n as NodeId).collect();
    if rng.below(2) == 0 {
        rng.shuffle(&mut names);
    }
    let bits = pick(rng, &[1, 8, 20, 45]);
    let mut builder = GraphBuilder::new(n);
    for (u, v) in pairs {
        builder.add_edge(names[u as usize], names[v as usize], number(rng, bits).max(1));
    }
    if rng.below(2) == 0 {
        for node in 0..n as NodeId {
            builder.set_node_weight(node, number(rng, 20));
        }
    }
    builder.build().expect("each edge once, and sums below 2^63")
}

fn read(bytes: &[u8]) -> CsrGraph {
    metis::read(Source::new("soak", bytes).expect("bytes"), NodeWeights::Read).expect("a graph")
}

/// Checks that files of the graph are correct, and returns one.
fn check_files(rng: &mut Rng, graph: &CsrGraph) -> String {
    let text = text_of(graph).into_bytes();
    assert_eq!(&read(&text), graph);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&text).expect("a vector");
    assert_eq!(&read(&encoder.finish().expect("a vector")), graph);

    let mut damaged = text.clone();
    for _ in 0..=rng.below(3) {
        let place = rng.below(damaged.len() as u32) as usize;
        match rng.below(3) {
            0 => drop(damaged.remove(place)),
            1 => damaged.insert(place, pick(rng, b"0123456789 \n-.x%")),
            _ => damaged[place] = pick(rng, b"0123456789 \n-.x%"),
        }
    }
    let source = || Source::new("soak", &damaged[..]).expect("bytes");
    let report = metis::check(source(), 3).expect("bytes");
    let is_readable = metis::read(source(), NodeWeights::Ignore).is_ok();
    assert_eq!(report.is_valid(), is_readable, "{:?}", report.faults);
    let repair = metis::repair(source(), 3).expect("bytes");
    if let Ok(repaired) = repair.result {
        let mut text = Vec::new();
        repaired.write(&mut text).expect("a vector");
        let report = metis::check(Source::new("soak", &text[..]).expect("bytes"), 3).expect("bytes");
        assert!(report.is_valid(), "{:?}", report.faults);
    }
    String::from_utf8(text).expect("digits")
}

fn random_config(rng: &mut Rng) -> Config {
    let mut config = Config::preset(pick(rng, &MapPreset::ALL));
    config.seed = rng.next_u64();
    config.threads = pick(rng, &[1, 2, 8]);
    config.one_to_one.distances = pick(rng, &[None, Some(DistanceKind::Stored), Some(DistanceKind::Online)]);
    if rng.below(2) == 0 {
        config.one_to_one.construction.algorithm = Some(pick(rng, &Construction::ALL));
    }
    if rng.below(2) == 0 {
        config.one_to_one.search.neighbourhood = pick(rng, &Neighbourhood::ALL);
    }
    config.one_to_one.search.max_hops = 1 + rng.below(12) as usize;
    config.one_to_one.search.block_size = 1 + rng.below(100) as usize;
    config
}

fn check_mapping(
    rng: &mut Rng,
    graph: &CsrGraph,
    hierarchy: &Hierarchy,
    text: &str,
    config: &Config,
    counts: &mut Counts,
) {
    let n = graph.num_nodes();
    let mut start: Vec<u32> = (0..n as u32).collect();
    rng.shuffle(&mut start);
    let start = (rng.below(3) == 0).then(|| Mapping::from_pes(start).expect("a permutation"));
    let Solution { mapping, report, .. } =
        match Request::new(graph, &PreparedMachine::new(hierarchy)).start(start.as_ref()).solve(config) {
            Ok(solution) => solution,
            Err(error @ SolveError::Problem(_)) => {
                let greatest = i128::from(graph.total_arc_weight()) * i128::from(hierarchy.max_distance());
                assert!(greatest > i128::from(i64::MAX), "{error}");
                counts.refused += 1;
                return;
            }
            Err(error) => panic!("{error}"),
        };
    counts.mapped += 1;
    let cost = audited_cost(text, &mapping, hierarchy);
    assert_eq!(cost, report.cost as u128);
    assert_eq!(audited_cost(text, &Mapping::identity(n), hierarchy), report.cost_of_identity as u128);
    assert!(report.cost <= report.cost_of_identity && report.cost <= report.cost_of_construction.unwrap());
    assert!(!report.stopped);
    if let Some(start) = &start {
        assert_eq!(audited_cost(text, start, hierarchy), report.cost_of_start.expect("a start") as u128);
        assert!(cost <= audited_cost(text, start, hierarchy));
    }

    let kinds = [None, Some(DistanceKind::Stored), Some(DistanceKind::Online)];
    let other = config.with_threads(pick(rng, &[1, 2, 8])).with_distances(pick(rng, &kinds));
    let again = Request::new(graph, &PreparedMachine::new(hierarchy))
        .start(start.as_ref())
        .solve(&other)
        .expect("what was solved before");
    assert_eq!(again.mapping, mapping, "{config:?} {other:?}");
    let timeless = |mut report: Report| {
        report.seconds = Seconds::default();
        report
    };
    assert_eq!(timeless(again.report), timeless(report));

    if config.one_to_one.search.neighbourhood == Neighbourhood::NSquare && n <= 200 {
        check_local_optimum(graph, &hierarchy.online64(), &mapping);
    }

    let questions = number(rng, 12) as u64;
    let stop = StopAfter::questions(questions);
    let time_limit = pick(rng, &[None, Some(0), Some(1), Some(30)]).map(Duration::from_millis);
    let hurried = config.with_time_limit(time_limit);
    let stopped = Request::new(graph, &PreparedMachine::new(hierarchy))
        .start(start.as_ref())
        .observed(&stop)
        .solve(&hurried)
        .expect("what was solved before");
    let cost = stopped.report.cost;
    assert_eq!(audited_cost(text, &stopped.mapping, hierarchy), cost as u128);
    assert!(cost <= stopped.report.cost_of_identity && cost <= stopped.report.cost_of_construction.unwrap());
    assert!(stopped.report.cost_of_start.is_none_or(|of_start| cost <= of_start));
    counts.stopped += u64::from(stopped.report.stopped);
}

fn check_local_optimum<O: DistanceOracle>(graph: &CsrGraph, oracle: &O, mapping: &Mapping) {
    let keys = keys(oracle, mapping);
    for u in graph.nodes() {
        for v in 0..u {
            assert!(swap_delta(graph, oracle, &keys, u, v) >= 0, "exchanging {u} and {v} lowers J");
        }
    }
}

fn check_model(rng: &mut Rng, graph: &CsrGraph, counts: &mut Counts) {
    let n = graph.num_nodes();
    let greatest = 1 + rng.below(n as u32);
    let (num_blocks, preset) = (1 + rng.below(greatest) as usize, pick(rng, &PartitionPreset::ALL));
    let imbalance = pick(rng, &[0.0, 0.03, 0.5]);
    let config = Config::from(preset).with_seed(rng.next_u64());
    let has_unit_weights = graph.node_weights().iter().all(|&weight| weight == 1);
    let loads = divided(graph, num_blocks, imbalance, &config).report.loads.expect("they are balanced");
    if has_unit_weights {
        let bound = (n.div_ceil(num_blocks) as f64 * (1.0 + imbalance) + 1e-9) as Weight;
        assert!(loads.greatest <= bound, "{num_blocks} {imbalance} {config:?} {loads:?}");
    }
    counts.models += 1;
}
