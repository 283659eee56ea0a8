//! The part of `generate_model` that maps an application graph directly onto a machine: process i of the model is what lies on
//! PE i.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::Destination;
use super::audit::Claim;
use crate::direct::{self, DirectOptions, JsonSpread};
use crate::exit::End;
use crate::files;
use crate::machine::{self, JsonMachine, MachineOptions};
use crate::progress::Progress;
use crate::remap::{Curve, JsonRemap, Remap, RemapOptions};
use crate::signals::{self, First};
use viem::graph::{CsrGraph, quotient};
use viem::ground::threads;
use viem::ground::types::Cost;
use viem::io::metis::NodeWeights;
use viem::io::{self, Source};
use viem::machine::Machine;
use viem::mapping::solve::{DirectConfig, DirectSolution, MapPreset, map_directly};
use viem::partition::Preset;
use viem::report::traffic;

/// The machine that a graph is mapped onto, if it is.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case")]
pub(super) struct OntoOptions {
    /// Map the graph directly onto this machine, instead of partitioning it into --k blocks: the model then has a vertex
    /// for each processing element, in their order. As in viem: 4:16:8, torus:16x8x8, ..., or a file
    // No conflict with --k is told to clap, which would let pass --pes and the like beside --k.
    #[arg(long, value_name = "SPEC")]
    machine: Option<String>,

    /// Distances of the machine, innermost level first
    #[arg(long, value_name = "d1:d2:...", requires = "machine")]
    distance_parameter_string: Option<String>,

    /// Only these processing elements of the machine
    #[arg(long, value_name = "LIST|FILE", requires = "machine")]
    pes: Option<String>,

    /// How much work each processing element takes, in proportion, a line each
    #[arg(long, value_name = "FILE", requires = "machine")]
    pe_weights: Option<std::path::PathBuf>,
}

impl OntoOptions {
    /// The machine, if one is given.
    pub(super) fn machine(&self) -> Option<MachineOptions> {
        let spec = self.machine.clone()?;
        Some(MachineOptions::of(spec, self.distance_parameter_string.clone(), self.pes.clone()))
    }

    /// Whether there is a machine.
    pub(super) fn is_given(&self) -> bool {
        self.machine.is_some()
    }

    /// The file of the speeds, which is read besides those of the machine.
    pub(super) fn file(&self) -> Option<&Path> {
        self.pe_weights.as_deref()
    }
}

/// A model as it was asked for.
pub(super) struct Job<'a> {
    pub graph: &'a Path,
    pub onto: &'a OntoOptions,
    pub machine: MachineOptions,
    pub remap: &'a RemapOptions,
    pub preset: Preset,
    pub seed: u64,
    pub threads: usize,
    /// In percent.
    pub imbalance: f64,
    pub quiet: bool,
    pub to: &'a Destination,
}

impl Job<'_> {
    pub(super) fn run(&self, source: Source<'_>) -> anyhow::Result<End> {
        let started = Instant::now();
        let (console, to) = (self.to.console, self.to);
        let spread =
            DirectOptions { imbalance: Some(self.imbalance), pe_weights: self.onto.pe_weights.clone() };
        let imbalance = spread.imbalance()?;
        let machine = threads::run(self.threads, || self.machine.build(console))??;
        let machine = spread.weigh(machine)?;
        let machine = machine.as_ref();
        let graph = io::metis::read(source, NodeWeights::Read)?;
        let reading = started.elapsed().as_secs_f64();
        console.line(format_args!("io time: {reading:.6}"));
        console.line(format_args!("graph has {} nodes and {} edges", graph.num_nodes(), graph.num_arcs()));
        machine::tell(console, machine);
        let (seed, threads) = (self.seed, self.threads);
        let config = DirectConfig::preset(MapPreset::from(self.preset))
            .with_seed(seed)
            .with_threads(threads)
            .with_imbalance(imbalance);
        let remap = self.remap.read(&graph, machine.num_pes())?;
        let (solution, curve) = self.solve(&graph, machine, &config, remap.as_ref())?;
        let (pe_of, report) = (solution.mapping.as_slice(), &solution.report);
        let model = quotient::contract(&graph, pe_of, machine.num_pes()).with_unit_node_weights();
        console.line(format_args!("cut {}", report.cut));
        direct::tell_loads(console, &report.loads);
        let migration = remap.as_ref().zip(report.migration);
        if let Some((remap, migration)) = &migration {
            remap.tell(console, graph.total_node_weight(), migration);
        }
        console.line(format_args!("J of the application graph = {}", report.cost));
        console.line(format_args!("model has {} nodes, {} edges", model.num_nodes(), model.num_arcs()));
        let json = Report {
            graph: files::name(self.graph),
            n: graph.num_nodes(),
            m: graph.num_edges(),
            seed,
            machine: self.machine.report(machine),
            preconfiguration: self.preset.name(),
            pe_weights: self.onto.file().map(files::name),
            cost: report.cost,
            cut: report.cut,
            spread: JsonSpread {
                imbalance: self.imbalance,
                loads: report.loads,
                by_pe: Some(traffic::by_pe(&graph, machine.num_pes(), pe_of)),
            },
            remap: migration.map(|(remap, migration)| remap.report(migration, curve.as_ref())),
            model_edges: model.num_edges(),
            seconds: Seconds { reading, mapping: report.seconds },
        };
        let on = Some((&self.machine, machine, report.cost));
        let (file, num_blocks) = (self.graph, machine.num_pes());
        let claim = Claim { file, graph: &graph, blocks: pe_of, num_blocks, cut: report.cut, on, migration };
        to.write(&model, &claim, &json, curve.as_ref(), &[])
    }

    /// The mapping, and the curve if there is to be one.
    fn solve(
        &self,
        graph: &CsrGraph,
        machine: &dyn Machine,
        config: &DirectConfig,
        remap: Option<&Remap<'_>>,
    ) -> anyhow::Result<(DirectSolution, Option<Curve>)> {
        let progress = Progress::new(self.quiet);
        signals::listen(&progress, First::Ends);
        progress.tell("mapping");
        match remap {
            Some(remap) => remap.directly(graph, machine, config, self.to.console, &()),
            None => Ok((map_directly(graph, machine, config)?, None)),
        }
    }
}

/// What was done, as written to `--json`.
#[derive(Serialize)]
struct Report {
    graph: String,
    n: usize,
    m: usize,
    seed: u64,
    machine: JsonMachine,
    preconfiguration: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pe_weights: Option<String>,
    #[serde(rename = "J")]
    cost: Cost,
    cut: Cost,
    #[serde(flatten)]
    spread: JsonSpread,
    #[serde(skip_serializing_if = "Option::is_none")]
    remap: Option<JsonRemap>,
    model_edges: usize,
    seconds: Seconds,
}

#[derive(Serialize)]
struct Seconds {
    reading: f64,
    mapping: f64,
}
