//! The report of a run, as written to `--json`.

use serde::Serialize;
use viem::base::text::counted;
use viem::base::types::{Cost, Weight};
use viem::machine::Machine;
use viem_distributed::solve::DistReport;
use viem_report::envelope::{Envelope, ReportedMachine};

use crate::options::{NAME, Options};

/// The report of a run, without its [envelope](Envelope). Times, memory and communication aside, the same result has the same report.
#[derive(Serialize)]
pub(crate) struct Report {
    #[serde(skip)]
    options: JsonOptions,
    /// The PEs of the machine, if there is one.
    #[serde(skip)]
    num_pes: Option<usize>,
    num_processes: u64,
    num_edges: u64,
    cost: Option<Cost>,
    cut: Cost,
    loads: Loads,
    #[serde(skip_serializing_if = "Option::is_none")]
    migration: Option<Migration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<Fixed>,
    levels: usize,
    coarsest: usize,
    v_cycles: usize,
    ranks: usize,
    communication: Communication,
    seconds: Seconds,
    memory: Memory,
}

/// The options that decide the result.
#[derive(Serialize)]
pub(crate) struct JsonOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    generate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<u32>,
    preset: &'static str,
    /// The imbalance in percent.
    imbalance: f64,
    /// The least load in percent of the share.
    least_load: f64,
    attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    migration_weight: Option<String>,
}

impl JsonOptions {
    fn of(options: &Options) -> Self {
        Self {
            generate: options.generated(),
            blocks: options.blocks,
            preset: options.preset.name(),
            imbalance: options.imbalance,
            least_load: options.least_load,
            attempts: options.attempts,
            migration_weight: options.migration_weight.map(|weight| weight.to_string()),
        }
    }
}

#[derive(Serialize)]
struct Loads {
    least: Weight,
    mean: f64,
    greatest: Weight,
    bound: Weight,
    overload: Weight,
    below_half: usize,
    below_least: usize,
    shortfall: Weight,
    empty: usize,
    /// The greatest share of which the least load is rounded down to 0, if it is of any.
    #[serde(skip)]
    share_without_least: Option<f64>,
}

#[derive(Serialize)]
struct Migration {
    weight: Weight,
}

/// The fixed vertices.
#[derive(Serialize)]
struct Fixed {
    file: String,
    number: u64,
    /// A warning for people.
    #[serde(skip)]
    warning: Option<String>,
}

impl Fixed {
    fn new(options: &Options, result: &DistReport) -> Option<Self> {
        let (path, fixed) = options.fixed.as_ref().zip(result.fixed.as_ref())?;
        let over = |(load, bound): (&Weight, &Weight)| load > bound;
        let over: Vec<usize> = (0..fixed.loads.len())
            .filter(|&block| over((&fixed.loads[block], &result.loads.bounds[block])))
            .collect();
        let place = if options.blocks.is_some() { "block" } else { "PE" };
        let warning = over.first().map(|&first| {
            let others = match over.len() - 1 {
                0 => String::new(),
                others => format!(", and so are those of {others} others"),
            };
            format!(
                "the vertices that are fixed to {place} {first} weigh {}, more than its bound of {}{others}; allow more --imbalance, or fix fewer",
                fixed.loads[first], result.loads.bounds[first]
            )
        });
        Some(Self { file: path.display().to_string(), number: fixed.number, warning })
    }
}

/// The amount of communication between ranks.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Communication {
    /// The number of collective operations.
    pub(crate) operations: u64,
    /// The bytes of them that a rank has sent to others, of the rank with most.
    pub(crate) greatest_bytes_sent: u64,
}

#[derive(Serialize)]
struct Seconds {
    reading: f64,
    coarsening: f64,
    dividing: f64,
    refining: f64,
    total: f64,
}

#[derive(Serialize)]
struct Memory {
    /// The peak memory of the rank with most.
    peak_bytes: Option<u64>,
    /// The same by the arcs of a rank, of which there are two for each edge.
    bytes_per_arc: Option<f64>,
}

/// The facts about the graph and the run, without the result.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    /// Vertices.
    pub(crate) n: u64,
    /// Arcs, two for each edge.
    pub(crate) arcs: u64,
    /// The ranks.
    pub(crate) ranks: usize,
    /// Seconds for reading.
    pub(crate) reading: f64,
    /// Seconds up to the result.
    pub(crate) total: f64,
    /// The memory of the rank that has taken most.
    pub(crate) peak: Option<u64>,
    /// The amount of communication.
    pub(crate) communication: Communication,
}

impl Report {
    /// The report of a result.
    pub(crate) fn new(
        options: &Options,
        machine: Option<&dyn Machine>,
        facts: &Facts,
        result: &DistReport,
    ) -> Self {
        let Facts { n, arcs, ranks, reading, total, peak, communication } = *facts;
        let loads = &result.loads.of_blocks;
        let of_rank = arcs as f64 / ranks as f64;
        Self {
            options: JsonOptions::of(options),
            num_pes: machine.map(Machine::num_pes),
            num_processes: n,
            num_edges: arcs / 2,
            cost: result.cost,
            cut: result.cut,
            loads: Loads {
                least: loads.iter().copied().min().unwrap_or(0),
                mean: loads.iter().sum::<Weight>() as f64 / loads.len().max(1) as f64,
                greatest: loads.iter().copied().max().unwrap_or(0),
                bound: result.loads.bounds.iter().copied().max().unwrap_or(0),
                overload: result.loads.overload,
                below_half: result.loads.below_half,
                below_least: result.loads.below_least,
                shortfall: result.loads.shortfall,
                empty: result.empty,
                share_without_least: result.loads.share_without_least,
            },
            migration: result.migration.map(|weight| Migration { weight }),
            fixed: Fixed::new(options, result),
            levels: result.levels,
            coarsest: result.coarsest,
            v_cycles: result.v_cycles,
            ranks,
            communication,
            seconds: Seconds {
                reading,
                coarsening: result.coarsening,
                dividing: result.dividing,
                refining: result.refining,
                total,
            },
            memory: Memory {
                peak_bytes: peak,
                bytes_per_arc: peak.filter(|_| arcs > 0).map(|peak| peak as f64 / of_rank),
            },
        }
    }

    /// Returns the whole report, as written to `--json`.
    pub(crate) fn envelope<'a>(
        &'a self,
        options: &'a Options,
        machine: Option<&dyn Machine>,
    ) -> Envelope<&'a JsonOptions, &'a Self> {
        let spec = options.machine.as_deref().unwrap_or_default();
        let machine =
            machine.map(|machine| ReportedMachine::new(machine, spec, options.distances.as_deref()));
        let input = options.file.as_deref().map(|path| path.display().to_string());
        Envelope::new(NAME, input, &self.options, self).on(machine).seeded(options.seed)
    }

    /// Returns the lines for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        let Loads { least, mean, greatest, bound, .. } = self.loads;
        let Seconds { reading, coarsening, dividing, refining, .. } = self.seconds;
        let mut lines = vec![
            format!("io time: {reading:.6}"),
            format!(
                "graph has {} nodes, {} edges, on {} ranks",
                self.num_processes, self.num_edges, self.ranks
            ),
            format!("coarsened {} times to {} vertices in {coarsening:.6}", self.levels, self.coarsest),
            format!("the best of {} attempts in {dividing:.6}", self.options.attempts),
            format!("refined, {} V-cycles included, in {refining:.6}", self.v_cycles),
            format!("cut {}", self.cut),
            format!("load of the blocks: {least} least, {mean:.2} mean, {greatest} greatest, bound {bound}"),
        ];
        lines.extend(
            self.fixed
                .as_ref()
                .map(|it| format!("{} of {} vertices are fixed", it.number, self.num_processes)),
        );
        lines.extend(self.migration.as_ref().map(|it| format!("migration {}", it.weight)));
        lines.extend(self.cost.map(|cost| format!("quadratic assignment objective J(C,D,Pi') = {cost}")));
        lines
    }

    /// Returns the warnings for people.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let overload = self.loads.overload;
        let unbalanced = (overload > 0).then(|| {
            format!(
                "no balance as asked was found: blocks exceed their bounds by {overload} in sum; allow more --imbalance or ask for fewer blocks"
            )
        });
        let of_fixed = self.fixed.as_ref().and_then(|fixed| fixed.warning.clone());
        let Loads { below_least, shortfall, empty, .. } = self.loads;
        let short = (below_least > 0).then(|| {
            format!(
                "the least load is missed by {}, by {shortfall} in sum; allow more --imbalance or ask for less --least-load",
                counted(below_least, "block", "blocks")
            )
        });
        let is_odd = empty > 0 && !self.has_fewer_vertices();
        let empty = is_odd.then(|| {
            format!(
                "without a vertex: {}, as none that may move there fits; allow more --imbalance or fix fewer",
                counted(empty, "block", "blocks")
            )
        });
        of_fixed.into_iter().chain(unbalanced).chain(short).chain(empty).collect()
    }

    /// Returns the notes for people.
    pub(crate) fn notes(&self) -> Vec<String> {
        let Loads { empty, share_without_least, .. } = self.loads;
        let few = (empty > 0 && self.has_fewer_vertices()).then(|| {
            format!(
                "the graph has {} for more processing elements: {empty} stay empty",
                counted(self.num_processes, "vertex", "vertices")
            )
        });
        let rounded = share_without_least.map(|share| {
            let (percent, share) = (self.options.least_load, (100.0 * share).round() / 100.0);
            format!("a least load of {percent} % of {share} is 0, as it is rounded down")
        });
        few.into_iter().chain(rounded).collect()
    }

    /// Returns whether there are fewer vertices than processing elements.
    fn has_fewer_vertices(&self) -> bool {
        self.num_pes.is_some_and(|num_pes| self.num_processes < num_pes as u64)
    }
}
