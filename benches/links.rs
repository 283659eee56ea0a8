//! Communication graphs onto trees, tori and dragonflies: the load of the busiest link with the objective `bottleneck` beside that with J.
//!
//! ```text
//! VIEM_MODELS=folder:folder cargo bench --bench links -- [options]
//!     every=2  seed=1  preset=eco  most=2048  model=lammps,k256  machine=tree,torus,dragonfly  objective=bottleneck  table  bottleneck.power=8
//! ```
//!
//! Models are METIS graphs. Each is mapped to a tree, a torus and a dragonfly of about as many PEs, drawn with a seed; `every` takes one pair of
//! so many. For each preset and kind of machine, the benchmark prints the geometric means of the busiest link and of J, relative to the mapping by J
//! alone, and the seconds of both searches. `table` prints each pair, also with a lower limit of the busiest link, relative to the same. Settings
//! of the search are changed by their names in `BottleneckConfig`, after `bottleneck.`.

mod common;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Instant;

use common::{Options, Table, changed, fail, geometric_mean, graphs_of, read_graph};
use viem::base::rng::Rng;
use viem::base::settings::ConfigError;
use viem::base::types::{Cost, NodeId, PeId};
use viem::graph::{CsrGraph, GraphBuilder};
use viem::machine::{Machine, Network};
use viem::mapping::objective::ScoreError;
use viem::solve::{Config, Lowered, Lowering, MapPreset, PreparedMachine, Request, Secondary};
use viem_cluster::build;
use viem_io::metis::NodeWeights;
use viem_workload::contention::{BottleneckConfig, JobObjective, routing_of};
use viem_workload::routing::Routing;

/// Kinds of machines.
const KINDS: [&str; 3] = ["tree", "torus", "dragonfly"];

/// A graph and a machine.
struct Pair {
    model: String,
    kind: &'static str,
    description: String,
    graph: CsrGraph,
    machine: Box<dyn Machine>,
}

/// A machine of a kind with a place for each process.
fn machine(kind: &str, processes: usize, rng: &mut Rng) -> (String, Box<dyn Machine>) {
    let built = |spec: String, distances: Option<&str>| {
        let machine = build(&spec, distances).unwrap_or_else(|error| fail(error));
        (spec, machine)
    };
    match kind {
        "tree" => {
            let (inner, middle) = ([4, 8, 16][rng.below(3) as usize], [2, 4, 8][rng.below(3) as usize]);
            let outer = processes.div_ceil(inner * middle).max(2);
            let distances = ["1:10:100", "1:4:10", "0:1:2"][rng.below(3) as usize];
            let (spec, machine) = built(format!("{inner}:{middle}:{outer}"), Some(distances));
            (format!("{spec} {distances}"), machine)
        }
        "torus" => {
            let dimensions = 2 + rng.below(2) as usize;
            let mut lengths = vec![2; dimensions];
            while lengths.iter().product::<usize>() < processes {
                let shortest = (0..dimensions).min_by_key(|&at| lengths[at]).expect("there are dimensions");
                lengths[shortest] += 1;
            }
            let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
            built(format!("torus:{}", lengths.join("x")), None)
        }
        _ => {
            let (routers, pes) = ([4, 6, 8][rng.below(3) as usize], [2, 4, 8][rng.below(3) as usize]);
            let groups = processes.div_ceil(routers * pes).max(2);
            (format!("dragonfly {groups}x{routers}x{pes}"), Box::new(dragonfly(groups, routers, pes)))
        }
    }
}

/// Groups of routers that are all joined, with one link between each two groups, and PEs on each router.
fn dragonfly(groups: usize, routers: usize, pes: usize) -> Network {
    let (of_group, count) = (routers * (1 + pes), groups * routers * (1 + pes));
    let mut builder = GraphBuilder::new(count);
    let router = |group: usize, router: usize| (group * of_group + router % routers) as NodeId;
    for group in 0..groups {
        for one in 0..routers {
            builder.set_node_weight(router(group, one), 0);
            (one + 1..routers).for_each(|two| builder.add_edge(router(group, one), router(group, two), 1));
            for pe in 0..pes {
                let pe = group * of_group + routers + one * pes + pe;
                builder.add_edge(router(group, one), pe as NodeId, 1);
            }
        }
        (group + 1..groups).for_each(|other| builder.add_edge(router(group, other), router(other, group), 2));
    }
    let graph = builder.build().unwrap_or_else(|error| fail(error));
    Network::new(graph).unwrap_or_else(|error| fail(error))
}

/// No mapping of a place per process has a busiest link of less load: all traffic of a process leaves its PE. 0 if messages to some PEs use no link.
fn lower_limit(graph: &CsrGraph, routing: &Routing) -> Cost {
    let (count, mut hops) = (routing.num_pes() as PeId, Vec::new());
    let sent = graph.nodes().map(|process| graph.arcs(process).map(|(_, weight)| weight).sum::<Cost>());
    let most = sent.max().unwrap_or(0);
    let limit = |from: PeId| {
        let (mut links, mut least) = (BTreeSet::new(), Cost::MAX);
        for to in (0..count).filter(|&to| to != from) {
            hops.clear();
            routing.route(from, to, &mut hops);
            let Some(first) = hops.first() else { return 0 };
            links.insert(routing.link_of(first.lane));
            least = least.min(first.cycles as Cost);
        }
        if links.is_empty() { 0 } else { most * least / links.len() as Cost }
    };
    (0..count).map(limit).min().unwrap_or(0)
}

/// What the objective changes.
#[derive(Clone, Copy)]
struct Gain {
    greatest: [Cost; 2],
    cost: [Cost; 2],
    seconds: f64,
}

/// The search that is measured, and what it changed.
struct Measured {
    config: BottleneckConfig,
    gain: Mutex<Option<Gain>>,
}

impl Secondary for Measured {
    fn validate(&self) -> Result<(), ConfigError> {
        self.config.validate()
    }

    fn lower(&self, given: &Lowering<'_>) -> Result<Lowered, ScoreError> {
        let begin = Instant::now();
        let lowered = self.config.lower(given)?;
        let seconds = begin.elapsed().as_secs_f64();
        let greatest = |pes: &[PeId]| self.config.objective.greatest_load(given.graph, given.machine, pes);
        let greatest = [greatest(given.mapping.pes())?, greatest(lowered.mapping.pes())?];
        let gain = Gain { greatest, cost: [given.cost, lowered.cost], seconds };
        *self.gain.lock().expect("no run has failed") = Some(gain);
        Ok(lowered)
    }
}

fn main() {
    let Ok(folders) = std::env::var("VIEM_MODELS") else {
        println!("links: set VIEM_MODELS to folders of METIS graphs, separated by colons");
        return;
    };
    let (run, config, presets, is_table) = Options::read(|options| {
        let run = Chosen {
            every: options.value("every", 1)?,
            seed: options.value("seed", 1)?,
            most: options.value("most", 2048)?,
            models: options.list("model", Vec::new())?,
            kinds: options.members("machine", &KINDS, |kind| kind, &KINDS)?,
        };
        let objective = options.members(
            "objective",
            &JobObjective::ALL,
            JobObjective::name,
            &[JobObjective::Bottleneck],
        )?;
        let settings: Vec<(String, String)> = options.settings()?;
        let strip =
            |(key, value): (String, String)| (key.trim_start_matches("bottleneck.").to_owned(), value);
        let settings: Vec<(String, String)> = settings.into_iter().map(strip).collect();
        let config = changed(&BottleneckConfig::default().with_objective(objective[0]), &settings)?;
        let presets = options.list("preset", vec![MapPreset::Eco])?;
        Ok((run, config, presets, options.word("table")?))
    });
    let pairs = run.pairs(&folders);
    for preset in presets {
        measure(&pairs, preset, config, is_table);
    }
}

/// Which pairs are measured.
struct Chosen {
    every: usize,
    seed: u64,
    most: usize,
    models: Vec<String>,
    kinds: Vec<&'static str>,
}

impl Chosen {
    fn pairs(&self, folders: &str) -> Vec<Pair> {
        let mut rng = Rng::new(self.seed);
        let mut pairs = Vec::new();
        for (model, path) in folders.split(':').flat_map(graphs_of) {
            let graph = read_graph(&path, NodeWeights::Ignore);
            if graph.num_nodes() > self.most {
                continue;
            }
            for kind in KINDS {
                let (description, machine) = machine(kind, graph.num_nodes(), &mut rng);
                pairs.push(Pair { model: model.clone(), kind, description, graph: graph.clone(), machine });
            }
        }
        let wants = |pair: &Pair| {
            self.kinds.contains(&pair.kind)
                && (self.models.is_empty() || self.models.iter().any(|part| pair.model.contains(part)))
        };
        pairs.into_iter().step_by(self.every.max(1)).filter(wants).collect()
    }
}

/// The busiest link and J with the objective, and the lower limit, each relative to the mapping by J; and the seconds of both searches.
struct Figures {
    kind: &'static str,
    ratios: [f64; 3],
    seconds: [f64; 2],
}

fn measure(pairs: &[Pair], preset: MapPreset, config: BottleneckConfig, is_table: bool) {
    let names = ["model", "machine", "J", "J'", "busiest", "busiest'", "limit", "seconds", "seconds'"];
    let widths = [30, 24, 12, 8, 12, 8, 8, 8, 8];
    let table = is_table.then(|| Table::new(std::array::from_fn::<_, 9, _>(|at| (names[at], widths[at]))));
    let mut all: Vec<Figures> = Vec::new();
    for pair in pairs {
        let (gain, figures) = measured(pair, preset, config);
        if let Some(table) = &table {
            let [busiest, cost, limit] = figures.ratios.map(|ratio| format!("{ratio:.4}"));
            let [first, second] = figures.seconds.map(|seconds| format!("{seconds:.3}"));
            let [before, greatest] = [gain.cost[0], gain.greatest[0]].map(|value| value.to_string());
            let names = [&pair.model, &pair.description].map(Clone::clone);
            let [model, machine] = names;
            table.row([model, machine, before, cost, greatest, busiest, limit, first, second]);
        }
        all.push(figures);
    }
    for kind in KINDS.into_iter().map(Some).chain([None]) {
        summarise(&all, preset, kind);
    }
}

/// Maps a pair.
fn measured(pair: &Pair, preset: MapPreset, config: BottleneckConfig) -> (Gain, Figures) {
    let machine = PreparedMachine::new(&*pair.machine);
    let search = Measured { config, gain: Mutex::new(None) };
    let begin = Instant::now();
    let request = Request::new(&pair.graph, &machine).then_lower(&search as &dyn Secondary);
    request.solve(&Config::preset(preset).with_threads(1)).unwrap_or_else(|error| fail(error));
    let seconds = begin.elapsed().as_secs_f64();
    let gain = search.gain.into_inner().ok().flatten().unwrap_or_else(|| fail("nothing was lowered"));
    let routing = routing_of(&*pair.machine).unwrap_or_else(|error| fail(error));
    let limit = routing.map_or(0, |routing| lower_limit(&pair.graph, &routing));
    let of = |[before, after]: [Cost; 2]| after as f64 / before as f64;
    let ratios = [of(gain.greatest), of(gain.cost), of([gain.greatest[0], limit])];
    (gain, Figures { kind: pair.kind, ratios, seconds: [seconds - gain.seconds, gain.seconds] })
}

/// Prints means and sums of a kind of machines, or of all.
fn summarise(all: &[Figures], preset: MapPreset, kind: Option<&str>) {
    let of_kind: Vec<&Figures> =
        all.iter().filter(|figures| kind.is_none_or(|kind| figures.kind == kind)).collect();
    if of_kind.is_empty() {
        return;
    }
    let mean = |at: usize| geometric_mean(&of_kind.iter().map(|it| it.ratios[at]).collect::<Vec<_>>());
    let sum = |at: usize| of_kind.iter().map(|it| it.seconds[at]).sum::<f64>();
    println!(
        "{preset}, {}: {} pairs, busiest link {:.4}, J {:.4}, {:.2} s for J and {:.2} s for the objective",
        kind.unwrap_or("all"),
        of_kind.len(),
        mean(0),
        mean(1),
        sum(0),
        sum(1),
    );
}
