//! Mapping an application graph onto a machine: process i of the model is what lies on PE i.

use std::time::Instant;

use serde::Serialize;

use super::application::{self, Application};
use super::audit::Claim;
use super::destination::Destination;
use super::options::{NAME, Options};
use crate::error::{Result, UsageError};
use crate::exit::End;
use crate::files;
use crate::fixed::Fixed;
use crate::loads;
use crate::machine::{self, MachineOptions};
use crate::many_to_one::{self, SharingOptions};
use crate::memory::JsonMemory;
use crate::progress::Progress;
use crate::ranks;
use crate::remap::{Curve, Remap};
use crate::report::{Found, JsonReport};
use crate::signals::{self, First};
use viem::graph::CsrGraph;
use viem::ground::threads;
use viem::ground::types::Weight;
use viem::machine::Machine;
use viem::partition::Migration;
use viem::solve::{PreparedMachine, Report, Request, Solution};
use viem_io::Source;
use viem_report::traffic;

/// A model as it was asked for.
pub(super) struct Job<'a> {
    pub options: &'a Options,
    pub machine: MachineOptions,
    pub threads: usize,
    pub to: &'a Destination,
}

impl Job<'_> {
    pub(super) fn run(&self, source: Source<'_>) -> Result<End> {
        let started = Instant::now();
        let (Options { imbalance, least_load, .. }, to, console) = (self.options, self.to, self.to.console);
        let [file] = &self.options.files[..] else {
            return Err(UsageError("a machine takes one graph in METIS format".to_owned()).into());
        };
        let pe_weights = self.options.onto.pe_weights.clone();
        let sharing =
            SharingOptions { imbalance: Some(*imbalance), least_load: Some(*least_load), pe_weights };
        let balance = sharing.balance()?;
        let machine = threads::run(self.threads, || self.machine.build(console))??;
        let machine = sharing.weigh(machine)?;
        let machine = machine.as_ref();
        let Application { graph, text } = application::read(self.options, source, self.threads, console)?;
        let reading = started.elapsed().as_secs_f64();
        console.line(format_args!("io time: {reading:.6}"));
        console.line(format_args!("graph has {} nodes and {} edges", graph.num_nodes(), graph.num_arcs()));
        machine::tell(console, machine);
        loads::tell_rounded(console, &graph, &machine.capacities(), balance.least_load);
        let remap = self.options.remap.read(&graph, machine.num_pes())?;
        let fixed = self.options.fixed.read_vertices(graph.num_nodes(), machine)?;
        let bounds = balance.bounds(&graph, machine);
        if let Some(fixed) = &fixed {
            fixed.tell(console, "vertices");
            fixed.warn_of_loads(console, &graph, &bounds, "PE");
        }
        let own = fixed.as_ref().map(|fixed| &fixed.vertices);
        let prepared = PreparedMachine::new(machine);
        let request = Request::new(&graph, &prepared).balanced(balance).fixed(own);
        let (solution, curve) = self.solve(request, graph.total_node_weight(), remap.as_ref())?;
        let (pe_of, report) = (solution.mapping.pes(), &solution.report);
        let model = threads::run(self.threads, || solution.mapping.quotient(&graph, machine.num_pes()))?;
        let migration = remap.as_ref().zip(report.migration);
        ranks::tell(console, machine, pe_of);
        let too_heavy = loads::too_heavy(&graph, &bounds, own, loads::PES);
        self.tell((&graph, &model, machine), report, too_heavy, migration);
        let found = Found::<()> {
            by_pe: Some(traffic::by_pe(&graph, machine.num_pes(), pe_of)),
            remap: remap.as_ref().map(|remap| remap.report(curve.as_ref())),
            fixed: fixed.as_ref().map(Fixed::report),
            model_edges: Some(model.num_edges()),
            memory: Some(JsonMemory::of(&graph)),
            ..Found::new(report)
        };
        let json = JsonReport::new(NAME, file.as_path(), self.options(), found);
        let json = json.on(self.machine.report(machine)).seeded(self.options.seed);
        let claim = Claim {
            file,
            text: text.as_deref(),
            graph: &graph,
            blocks: pe_of,
            num_blocks: machine.num_pes(),
            cut: report.cut,
            on: Some((&self.machine, machine, report.cost)),
            migration,
            fixed: fixed.as_ref(),
        };
        to.write(&model, &claim, &json, curve.as_ref(), &[])
    }

    /// What was done, in lines for people.
    fn tell(
        &self,
        (graph, model, machine): (&CsrGraph, &CsrGraph, &dyn Machine),
        report: &Report,
        too_heavy: Option<String>,
        migration: Option<(&Remap<'_>, Migration)>,
    ) {
        let console = self.to.console;
        console.line(format_args!("cut {}", report.cut));
        if let Some(loads) = &report.loads {
            many_to_one::tell_loads(console, loads, machine.num_pes(), too_heavy);
            many_to_one::tell_empty(console, loads, machine, graph.num_nodes());
        }
        if let Some((remap, migration)) = &migration {
            remap.tell(console, graph.total_node_weight(), migration);
        }
        console.line(format_args!("J of the application graph = {}", report.cost));
        console.line(format_args!("model has {} nodes, {} edges", model.num_nodes(), model.num_arcs()));
    }

    /// The options that decide the result.
    fn options(&self) -> JsonOptions {
        JsonOptions {
            preconfiguration: self.options.preconfiguration.name(),
            imbalance: self.options.imbalance,
            least_load: self.options.least_load,
            pe_weights: self.options.onto.file().map(files::name),
        }
    }

    /// The mapping, and the curve if there is to be one. `total` is the weight of all vertices.
    fn solve(
        &self,
        request: Request<'_>,
        total: Weight,
        remap: Option<&Remap<'_>>,
    ) -> Result<(Solution, Option<Curve>)> {
        let config = &self.options.config(self.threads);
        let progress = Progress::new(self.options.report.quiet);
        signals::listen(&progress, First::Ends);
        progress.tell("mapping");
        match remap {
            Some(remap) => remap.solve(request, config, ("J", total, self.to.console), &()),
            None => Ok((request.solve(config, &())?, None)),
        }
    }
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    preconfiguration: &'static str,
    /// In percent.
    imbalance: f64,
    /// In percent of the share.
    least_load: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pe_weights: Option<String>,
}
