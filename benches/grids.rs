//! Cartesian grids onto nodes: what is sent between nodes, and by the busiest, beside the simple algorithms for grids.
//!
//! ```text
//! cargo bench --bench grids -- [options]
//!     grids=60  seed=1  preset=eco,strong  bottleneck  mixed  table
//! ```
//!
//! The seven grids of arXiv 2005.09521 and of the tables here, and as many random ones as asked for: of two to four dimensions, 20 to 200 nodes of 16 to 96
//! PEs, every second one closed, divisible or not, with the stencils `nearest` (one step along each dimension), `hops` (two and three along the first,
//! too) and `component` (nearest, but for the last dimension). Nodes are flat: `P:N` with distances `0:1`, so that J is the number of messages between
//! nodes. For each preset and objective, the benchmark prints the geometric mean over the best of the numbering, strips, hyperplanes and the k-d tree, of the sum and
//! of the busiest node, how many grids are worse, and the seconds. `table` prints every grid.

mod common;

use std::time::Instant;

use common::{Options, Table, fail, geometric_mean};
use viem::base::rng::Rng;
use viem::base::types::{Cost, NodeId};
use viem::graph::stencil::{Offset, Stencil};
use viem::graph::{CsrGraph, generate};
use viem::machine::Hierarchy;
use viem::mapping::construct::{GridOrder, GridTask};
use viem::solve::{Config, MapPreset, PreparedMachine, Request, Secondary};
use viem_workload::contention::{BottleneckConfig, JobObjective};

/// A grid, a stencil, and the PEs of each node.
struct Case {
    lengths: Vec<usize>,
    is_closed: bool,
    stencil: &'static str,
    per_node: usize,
}

const STENCILS: [&str; 3] = ["nearest", "hops", "component"];

/// What is sent between nodes, and by the busiest one.
type Sent = (Cost, Cost);

impl Case {
    fn given() -> Vec<Self> {
        let all: [(&[usize], usize, usize); 3] =
            [(&[50, 48], 48, 3), (&[16, 16, 10], 32, 1), (&[32, 30], 24, 3)];
        let cases = all.into_iter().flat_map(|(lengths, per_node, count)| {
            let of = move |&stencil| Self { lengths: lengths.to_vec(), is_closed: false, stencil, per_node };
            STENCILS[..count].iter().map(of)
        });
        cases.collect()
    }

    /// A random grid; none if the numbers lead out of the range.
    fn random(rng: &mut Rng) -> Option<Self> {
        let dimensions = 2 + rng.below(3) as usize;
        let (per_node, nodes) = (16 + rng.below(81) as usize, 20 + rng.below(181) as usize);
        let mean = ((per_node * nodes) as f64).powf(1.0 / dimensions as f64);
        let mut lengths: Vec<usize> =
            (1..dimensions).map(|_| ((mean * (0.6 + 0.8 * rng.unit())) as usize).max(2)).collect();
        lengths.insert(0, per_node * nodes / lengths.iter().product::<usize>());
        let count = lengths.iter().product::<usize>().div_ceil(per_node);
        let (is_closed, stencil) = (rng.below(2) == 0, STENCILS[rng.below(3) as usize]);
        (lengths[0] > 1 && (20..=200).contains(&count)).then_some(Self {
            lengths,
            is_closed,
            stencil,
            per_node,
        })
    }

    fn graph(&self) -> CsrGraph {
        let dimensions = self.lengths.len();
        let along = if self.stencil == "component" { dimensions - 1 } else { dimensions };
        let single = (0..along).map(|dimension| (dimension, 1));
        let far = [2, 3].map(|steps| (0, steps)).into_iter().filter(|_| self.stencil == "hops");
        let offset = |(dimension, steps): (usize, i64)| {
            let mut offset = Offset { steps: vec![0; dimensions], weight: 1 };
            offset.steps[dimension] = steps;
            offset
        };
        let offsets: Vec<Offset> = single.chain(far).map(offset).collect();
        generate::stencil(&self.lengths, &vec![self.is_closed; dimensions], &offsets)
    }

    fn name(&self) -> String {
        let lengths: Vec<String> = self.lengths.iter().map(ToString::to_string).collect();
        let closed = if self.is_closed { " closed" } else { "" };
        format!("{}{closed}, {}, {}", lengths.join("x"), self.per_node, self.stencil)
    }

    /// The numbering, and the first of the orders of each member but bisection.
    fn simple(&self, graph: &CsrGraph) -> Vec<Sent> {
        let stencil =
            Stencil::of(graph).unwrap_or_else(|| fail(format!("{} is not recognised", self.name())));
        let (count, size) = (graph.num_nodes(), self.per_node);
        let sizes: Vec<usize> = (0..count).step_by(size).map(|begin| size.min(count - begin)).collect();
        let task = GridTask { stencil: &stencil, sizes: &sizes, most: 1 };
        let published = [GridOrder::Strips, GridOrder::Hyperplane, GridOrder::KdTree];
        let orders = published.into_iter().map(|member| member.of(&task).swap_remove(0));
        let numbering = (0..count as NodeId).collect::<Vec<_>>();
        std::iter::once(numbering).chain(orders).map(|order| self.sent_along(graph, &order)).collect()
    }

    fn sent_along(&self, graph: &CsrGraph, order: &[NodeId]) -> Sent {
        let mut pe_of = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&cell, pe)| pe_of[cell as usize] = pe);
        self.sent(graph, &pe_of)
    }

    fn sent(&self, graph: &CsrGraph, pe_of: &[u32]) -> Sent {
        let node = |process: NodeId| pe_of[process as usize] as usize / self.per_node;
        let mut sent = vec![0; pe_of.iter().max().map_or(0, |&pe| pe as usize / self.per_node + 1)];
        for u in graph.nodes() {
            let leaving = graph.arcs(u).filter(|&(v, _)| node(v) != node(u));
            sent[node(u)] += leaving.map(|(_, weight)| weight).sum::<Cost>();
        }
        (sent.iter().sum(), sent.into_iter().max().unwrap_or(0))
    }
}

struct Given {
    grids: usize,
    seed: u64,
    presets: Vec<MapPreset>,
    objectives: Vec<JobObjective>,
    table: bool,
}

fn main() {
    let given = Options::read(|options| {
        let flags = [JobObjective::Bottleneck, JobObjective::Mixed];
        let mut objectives = vec![JobObjective::J];
        for objective in flags {
            objectives.extend(options.word(objective.name())?.then_some(objective));
        }
        Ok(Given {
            grids: options.value("grids", 60)?,
            seed: options.value("seed", 1)?,
            presets: options.list("preset", vec![MapPreset::Eco])?,
            objectives,
            table: options.word("table")?,
        })
    });
    let mut rng = Rng::new(given.seed);
    let random = std::iter::repeat_with(|| Case::random(&mut rng)).flatten().take(given.grids);
    let cases: Vec<(Case, CsrGraph)> = Case::given()
        .into_iter()
        .chain(random)
        .map(|case| {
            let graph = case.graph();
            (case, graph)
        })
        .collect();
    for &preset in &given.presets {
        for &objective in &given.objectives {
            compare(&cases, (preset, objective), given.table);
        }
    }
}

/// Maps all grids with a preset and an objective, and prints a summary.
fn compare(cases: &[(Case, CsrGraph)], (preset, objective): (MapPreset, JobObjective), is_table: bool) {
    let headings =
        ["grid, PEs of a node, stencil", "numbering", "strips", "hyperplane", "kdtree", "found", "seconds"];
    let widths = [34, 14, 14, 14, 14, 14, 0];
    let table = is_table.then(|| Table::new(std::array::from_fn::<_, 7, _>(|at| (headings[at], widths[at]))));
    let (mut sums, mut greatest, mut worse, mut seconds) = (Vec::new(), Vec::new(), [0, 0], 0.0);
    for (case, graph) in cases {
        let simple = case.simple(graph);
        let begin = Instant::now();
        let found = map(case, graph, preset, objective);
        let taken = begin.elapsed().as_secs_f64();
        let least = |of: fn(&Sent) -> Cost| simple.iter().map(of).min().unwrap_or(0);
        let best = (least(|sent| sent.0), least(|sent| sent.1));
        sums.push(found.0 as f64 / best.0 as f64);
        greatest.push(found.1 as f64 / best.1 as f64);
        worse = [worse[0] + usize::from(found.0 > best.0), worse[1] + usize::from(found.1 > best.1)];
        seconds += taken;
        if let Some(table) = &table {
            let pairs = simple.iter().chain([&found]).map(|(sum, greatest)| format!("{sum}, {greatest}"));
            let row: Vec<String> =
                [case.name()].into_iter().chain(pairs).chain([format!("{taken:.3}")]).collect();
            table.row::<7>(row.try_into().expect("a figure for each heading"));
        }
    }
    println!(
        "{preset}, {objective}: sum {:.4} of the best simple one, {} worse; busiest node {:.4}, {} worse; {seconds:.2} s for {} grids",
        geometric_mean(&sums),
        worse[0],
        geometric_mean(&greatest),
        worse[1],
        cases.len(),
    );
}

fn map(case: &Case, graph: &CsrGraph, preset: MapPreset, objective: JobObjective) -> Sent {
    let nodes = graph.num_nodes().div_ceil(case.per_node);
    let tree =
        Hierarchy::parse(&format!("{}:{nodes}", case.per_node), "0:1").unwrap_or_else(|error| fail(error));
    let machine = PreparedMachine::new(&tree);
    let bottleneck = BottleneckConfig::default().with_objective(objective);
    let request = Request::new(graph, &machine).then_lower(&bottleneck as &dyn Secondary);
    let config = Config::preset(preset).with_threads(1);
    let solution = request.solve(&config).unwrap_or_else(|error| fail(error));
    let sent = case.sent(graph, solution.mapping.pes());
    let busiest = JobObjective::BusiestNode.greatest_load(graph, &machine, solution.mapping.pes());
    assert_eq!((solution.report.cost, busiest.ok()), (sent.0, Some(sent.1)), "{}", case.name());
    sent
}
