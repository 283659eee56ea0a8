//! Partitions of vertices with several weights: bounds, cut and time beside METIS.
//!
//! ```text
//! VIEM_GRAPHS=folder cargo bench --bench weights -- [options]
//!     preset=fast,eco  k=8,32,128  c=2,3  kind=uniform,regions,particles,memory  graph=cs4,wing  seed=1  table
//! ```
//!
//! The folder contains METIS graphs (`*.graph`); a grid and a random geometric graph are generated. Each gets c weights of four kinds: `uniform` random
//! weights from 1 to 20; `regions` of neighbours, each of which has one random vector of weights from 0 to 19 (Schloegel, Karypis, Kumar: A new
//! algorithm for multi-objective graph partitioning, Euro-Par 1999); `particles`, where each vertex weighs 1 and a tenth of the vertices, near to each other, up to
//! 20 by each further weight; and `memory` that is the less the more time a vertex takes. Each load may be 3 % above its share. `gpmetis` partitions the
//! same graphs with the same bounds (`apt-get install metis`); without it, its columns are empty. Both times are of partitioning alone, on one
//! thread. The benchmark prints, for each preset and kind, the geometric mean of cut and time relative to METIS, over cells where METIS keeps the bounds and where it
//! does not, and the number of cells in which each keeps them. `table` prints every cell.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Options, Stopwatch, Table, fail, geometric_mean, graphs_of, read_graph};
use viem::base::rng::{Rng, derive};
use viem::base::threads;
use viem::base::types::{BlockId, NodeId, Weight};
use viem::graph::{CsrGraph, VertexWeights, generate};
use viem::partition::{PartitionPreset, Targets, VectorPartitioner, VectorProblem, VectorTargets, cut};
use viem_io::metis::NodeWeights;

const EPSILON: f64 = 0.03;

struct Run {
    presets: Vec<PartitionPreset>,
    blocks: Vec<usize>,
    counts: Vec<usize>,
    kinds: Vec<String>,
    graphs: Vec<String>,
    seed: u64,
    table: bool,
}

impl Run {
    fn read() -> Self {
        let kinds = ["uniform", "regions", "particles", "memory"].map(str::to_owned).to_vec();
        Options::read(|options| {
            Ok(Run {
                presets: options.members(
                    "preset",
                    &PartitionPreset::ALL,
                    PartitionPreset::name,
                    &[PartitionPreset::Fast, PartitionPreset::Eco],
                )?,
                blocks: options.list("k", vec![8, 32, 128])?,
                counts: options.list("c", vec![2, 3])?,
                kinds: options.list("kind", kinds)?,
                graphs: options.list("graph", Vec::new())?,
                seed: options.value("seed", 1)?,
                table: options.word("table")?,
            })
        })
    }

    fn graphs(&self) -> Vec<(String, CsrGraph)> {
        let is_wanted =
            |name: &str| self.graphs.is_empty() || self.graphs.iter().any(|wanted| wanted == name);
        let folder = std::env::var("VIEM_GRAPHS").map(|folder| graphs_of(&folder)).unwrap_or_default();
        let read = |(name, path): (String, PathBuf)| (name, read_graph(&path, NodeWeights::Ignore));
        let mut graphs: Vec<_> = folder.into_iter().filter(|(name, _)| is_wanted(name)).map(read).collect();
        if is_wanted("grid") {
            graphs.push(("grid".to_owned(), generate::grid(256, 256)));
        }
        if is_wanted("geometric") {
            graphs.push(("geometric".to_owned(), generate::random_geometric(100_000, 10.0, 1)));
        }
        graphs
    }
}

/// The vertices of a region in breadth-first order from some vertices on, and the start that each was reached from.
fn grown(graph: &CsrGraph, starts: &[NodeId]) -> Vec<(NodeId, usize)> {
    let mut order: Vec<(NodeId, usize)> = starts.iter().copied().zip(0..).collect();
    let mut is_reached = vec![false; graph.num_nodes()];
    starts.iter().for_each(|&start| is_reached[start as usize] = true);
    let mut at = 0;
    while at < order.len() {
        let (node, start) = order[at];
        for &next in graph.neighbours(node) {
            if !std::mem::replace(&mut is_reached[next as usize], true) {
                order.push((next, start));
            }
        }
        at += 1;
    }
    order
}

fn weights_of(kind: &str, graph: &CsrGraph, count: usize, seed: u64) -> VertexWeights {
    let n = graph.num_nodes();
    let mut rng = Rng::new(seed);
    let mut values = vec![0 as Weight; n * count];
    match kind {
        "uniform" => values.iter_mut().for_each(|value| *value = 1 + Weight::from(rng.below(20))),
        "regions" => {
            let starts: Vec<NodeId> = (0..16).map(|_| rng.below(n as u32)).collect();
            let vectors: Vec<Weight> = (0..16 * count).map(|_| Weight::from(rng.below(20))).collect();
            for (node, start) in grown(graph, &starts) {
                values[node as usize * count..][..count].copy_from_slice(&vectors[start * count..][..count]);
            }
        }
        "particles" => {
            values.iter_mut().step_by(count).for_each(|value| *value = 1);
            for weight in 1..count {
                let start = rng.below(n as u32);
                for (node, _) in grown(graph, &[start]).into_iter().take(n / 10) {
                    values[node as usize * count + weight] = 1 + Weight::from(rng.below(20));
                }
            }
        }
        "memory" => {
            for row in values.chunks_exact_mut(count) {
                row.fill(1);
                row[0] = 1 + Weight::from(rng.below(20));
                row[1] = 21 - row[0];
            }
        }
        other => fail(format!("{other} is no kind of weights")),
    }
    VertexWeights::new(count, values).unwrap_or_else(|error| fail(error))
}

/// A partition by some program.
struct Found {
    cut: f64,
    seconds: f64,
    /// The greatest ratio of a load to its bound.
    fullest: f64,
}

impl Found {
    fn new(
        graph: &CsrGraph,
        weights: &VertexWeights,
        targets: &VectorTargets,
        blocks: &[BlockId],
        seconds: f64,
    ) -> Self {
        let k = targets.num_blocks();
        let loads = weights.loads(blocks, k);
        let ratio = |(at, &load): (usize, &Weight)| {
            let bound = targets.of_weight(at % weights.num_weights()).bounds()[at / weights.num_weights()];
            if load == 0 { 0.0 } else { load as f64 / bound as f64 }
        };
        let fullest = loads.iter().enumerate().map(ratio).fold(0.0, f64::max);
        Self { cut: cut(graph, blocks).max(1) as f64, seconds: seconds.max(1e-4), fullest }
    }

    fn keeps(&self) -> bool {
        self.fullest <= 1.0
    }
}

/// Writes a graph with several weights.
fn write(path: &Path, graph: &CsrGraph, weights: &VertexWeights) {
    let has_weights = graph.edge_weights().is_some();
    let format = if has_weights { "011" } else { "010" };
    let mut text =
        format!("{} {} {format} {}\n", graph.num_nodes(), graph.num_edges(), weights.num_weights());
    for node in graph.nodes() {
        for weight in weights.of(node) {
            let _ = write!(text, "{weight} ");
        }
        for (target, weight) in graph.arcs(node) {
            let _ = if has_weights {
                write!(text, "{} {weight} ", target + 1)
            } else {
                write!(text, "{} ", target + 1)
            };
        }
        text.push('\n');
    }
    std::fs::write(path, text).unwrap_or_else(|error| fail(error));
}

/// The partition by METIS, and its seconds; none if it is not installed.
fn metis(path: &Path, k: usize, count: usize, seed: u64) -> Option<(Vec<BlockId>, f64)> {
    let bounds = vec![format!("{}", 1.0 + EPSILON); count].join(" ");
    let out = Command::new("gpmetis")
        .args([format!("-ubvec={bounds}"), format!("-seed={seed}")])
        .arg(path)
        .arg(k.to_string())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&out.stdout);
    let line = text.lines().find(|line| line.trim_start().starts_with("Partitioning:"))?;
    let seconds = line.split_whitespace().nth(1)?.parse().ok()?;
    let parts = std::fs::read_to_string(format!("{}.part.{k}", path.display())).ok()?;
    Some((parts.lines().filter_map(|line| line.trim().parse().ok()).collect(), seconds))
}

/// The results of all cells of a preset, a kind, and numbers of weights and blocks.
#[derive(Default)]
struct Sum {
    cuts: Vec<f64>,
    times: Vec<f64>,
    /// Cells in all, in which METIS keeps the bounds, in which this program does, and in which only METIS does.
    counts: [usize; 4],
}

impl Sum {
    fn add(&mut self, own: &Found, peer: Option<&Found>) {
        self.counts[0] += 1;
        self.counts[2] += usize::from(own.keeps());
        if let Some(peer) = peer {
            self.cuts.push(own.cut / peer.cut);
            self.times.push(own.seconds / peer.seconds);
            self.counts[1] += usize::from(peer.keeps());
            self.counts[3] += usize::from(peer.keeps() && !own.keeps());
        }
    }
}

/// A graph with weights, and the blocks that it is divided into.
struct Case<'a> {
    name: String,
    graph: &'a CsrGraph,
    weights: &'a VertexWeights,
    targets: VectorTargets,
}

impl Case<'_> {
    fn found(&self, blocks: &[BlockId], seconds: f64) -> Found {
        Found::new(self.graph, self.weights, &self.targets, blocks, seconds)
    }

    fn solve(&self, preset: PartitionPreset, seed: u64) -> Found {
        let problem = VectorProblem::new(self.graph, self.weights, &self.targets);
        let problem = problem.unwrap_or_else(|error| fail(error));
        let timed = || {
            let watch = Stopwatch::start(1);
            (VectorPartitioner::new(preset, seed).partition(&problem), watch.seconds())
        };
        let (partition, seconds) = threads::run(1, timed).unwrap_or_else(|error| fail(error));
        self.found(partition.blocks(), seconds)
    }

    fn row(&self, preset: PartitionPreset, own: &Found, peer: Option<&Found>) -> [String; 9] {
        let of_peer = |value: fn(&Found) -> f64, digits: usize| {
            peer.map_or_else(String::new, |peer| format!("{:.digits$}", value(peer)))
        };
        [
            self.name.clone(),
            preset.name().to_owned(),
            format!("{}", own.cut),
            of_peer(|peer| peer.cut, 0),
            peer.map_or_else(String::new, |peer| format!("{:.3}", own.cut / peer.cut)),
            format!("{:.4}", own.fullest),
            of_peer(|peer| peer.fullest, 4),
            format!("{:.3}", own.seconds),
            of_peer(|peer| peer.seconds, 3),
        ]
    }
}

const COLUMNS: [(&str, usize); 9] = [
    ("cell", 34),
    ("preset", 8),
    ("cut", 9),
    ("METIS", 9),
    ("ratio", 6),
    ("full", 7),
    ("METIS", 7),
    ("s", 7),
    ("METIS", 7),
];

fn main() {
    let run = Run::read();
    let folder = std::env::temp_dir().join(format!("viem-weights-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| fail(error));
    let path = folder.join("graph");
    let mut sums = BTreeMap::new();
    let table = run.table.then(|| Table::new(COLUMNS));
    for (name, graph) in run.graphs() {
        for (kind, &count) in
            run.kinds.iter().flat_map(|kind| run.counts.iter().map(move |count| (kind, count)))
        {
            let weights = weights_of(kind, &graph, count, derive(run.seed, count as u64));
            write(&path, &graph, &weights);
            for &k in &run.blocks {
                let cells = format!("{kind} c={count} k={k}");
                let equal = |weight| Targets::equal(&weights.alone(weight), k, EPSILON);
                let targets = (0..count).map(equal).collect::<Result<_, _>>();
                let targets = targets.and_then(|targets| VectorTargets::new(&weights, targets));
                let targets = targets.unwrap_or_else(|error| fail(error));
                let case =
                    Case { name: format!("{name} {cells}"), graph: &graph, weights: &weights, targets };
                let peer = metis(&path, k, count, run.seed);
                let peer = peer.map(|(blocks, seconds)| case.found(&blocks, seconds));
                for &preset in &run.presets {
                    let own = case.solve(preset, run.seed);
                    let sum: &mut Sum = sums.entry(format!("{} {cells}", preset.name())).or_default();
                    sum.add(&own, peer.as_ref());
                    table.iter().for_each(|table| table.row(case.row(preset, &own, peer.as_ref())));
                }
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    print(sums);
}

fn print(sums: BTreeMap<String, Sum>) {
    let table = Table::new([
        ("cells", 30),
        ("cut", 7),
        ("time", 7),
        ("number", 7),
        ("METIS keeps", 12),
        ("keeps", 7),
        ("only METIS", 11),
    ]);
    for (key, Sum { cuts, times, counts: [number, peer, own, lost] }) in sums {
        let mean = |values: &[f64]| {
            if values.is_empty() { String::new() } else { format!("{:.3}", geometric_mean(values)) }
        };
        table.row([
            key,
            mean(&cuts),
            mean(&times),
            number.to_string(),
            peer.to_string(),
            own.to_string(),
            lost.to_string(),
        ]);
    }
}
