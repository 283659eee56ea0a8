//! Many-to-one mappings: PEs have many vertices.

use std::path::Path;

use serde::Serialize;

use super::first_mapping::FirstOrder;
use super::job::Job;
use crate::error::{Result, UsageError, VerificationError};
use crate::exit::End;
use crate::files;
use crate::fixed::Fixed;
use crate::loads;
use crate::machine;
use crate::many_to_one;
use crate::memory::JsonMemory;
use crate::progress::Progress;
use crate::ranks;
use crate::remap::{Curve, Remap};
use crate::report::{Found, JsonReport};
use crate::signals::{self, First, StopAtSignal};
use viem::graph::CsrGraph;
use viem::ground::observer::Observer;
use viem::ground::types::{Cost, Weight};
use viem::mapping::Mapping;
use viem::mapping::search::Neighbourhood;
use viem::partition::{FixedVertices, PartitionAlgorithm};
use viem::solve::{Balance, ManyToOneConfig, MapPreset, Report, Request, Solution};

/// A many-to-one mapping as it was asked for.
struct ManyToOne<'a> {
    job: Job<'a>,
    graph: &'a CsrGraph,
    balance: Balance,
    /// The order along which a mapping to improve is made.
    first: Option<FirstOrder>,
    /// A mapping to improve.
    start: Option<Mapping>,
    /// An older mapping to resume.
    remap: Option<Remap<'a>>,
    fixed: Option<Fixed>,
}

/// Maps the vertices of an application graph to PEs that have room for many.
pub(super) fn map(job: Job<'_>, graph: &CsrGraph) -> Result<End> {
    let Job { options, machine, console, .. } = job;
    let read = |path: &Path| files::read_many(path, graph.num_nodes(), machine, console);
    let start = options.input_mapping.as_deref().map(read).transpose()?;
    let remap = options.remap.read(graph, machine.num_pes())?;
    options.remap.check_limit(options.time_limit.is_some())?;
    if let (Some(_), Some(algorithm)) = (&start, options.first.along()) {
        return Err(UsageError(format!(
            "--construction_algorithm={algorithm} makes the mapping to improve, and --input_mapping names it; leave one of them out"
        ))
        .into());
    }
    let balance = options.sharing.balance()?;
    let first = options.first.read(graph.num_nodes())?;
    let fixed = options.fixed.read_vertices(graph.num_nodes(), machine)?;
    ManyToOne { job, graph, balance, first, start, remap, fixed }.run()
}

impl ManyToOne<'_> {
    fn run(&self) -> Result<End> {
        let (&Job { options, machine, console, started, .. }, graph) = (&self.job, self.graph);
        let progress = Progress::new(options.report.quiet);
        let received = signals::listen(&progress, First::AsksToStop);
        console.line(format_args!("io time: {:.6}", started.elapsed().as_secs_f64()));
        console.line(format_args!("graph has {} nodes, {} edges", graph.num_nodes(), graph.num_arcs()));
        machine::tell(console, machine);
        console.line(format_args!(
            "many-to-one mapping, {:.1} vertices per processing element",
            graph.num_nodes() as f64 / machine.num_pes() as f64
        ));
        loads::tell_rounded(console, graph, &machine.capacities(), self.balance.least_load);
        if let Some(fixed) = &self.fixed {
            fixed.tell(console, "vertices");
            fixed.warn_of_loads(console, graph, &self.bounds(), "PE");
        }
        let (solution, curve) = {
            let observer = StopAtSignal { observer: progress, received: received.clone() };
            self.solve(&observer)?
        };
        ranks::tell(console, machine, solution.mapping.pes());
        self.tell(&solution.report);
        self.write(&solution, curve.as_ref())?;
        Ok(received.interrupt().map_or(End::Done, End::Signal))
    }

    /// The mapping, and the curve if there is to be one.
    fn solve(&self, observer: &dyn Observer) -> Result<(Solution, Option<Curve>)> {
        let (Job { prepared, config, console, .. }, graph) = (&self.job, self.graph);
        let request = Request::new(graph, prepared).balanced(self.balance).fixed(self.fixed());
        match &self.remap {
            Some(remap) => remap.solve(request, config, ("J", graph.total_node_weight(), *console), observer),
            None => {
                let initial = self.first.as_ref().map(FirstOrder::initial);
                Ok((request.start(self.start.as_ref()).initial(initial).solve(config, observer)?, None))
            }
        }
    }

    /// The greatest load of each PE.
    fn bounds(&self) -> Vec<Weight> {
        self.balance.bounds(self.graph, self.job.machine)
    }

    /// The vertices that are fixed, if any are.
    fn fixed(&self) -> Option<&FixedVertices> {
        self.fixed.as_ref().map(|fixed| &fixed.vertices)
    }

    /// Whether a mapping along an order is the result.
    fn keeps_first(&self) -> bool {
        self.first.is_some() && self.job.config.one_to_one.search.neighbourhood == Neighbourhood::None
    }

    fn tell(&self, report: &Report) {
        let console = self.job.console;
        console.line(format_args!("time spent for mapping {:.6}", report.seconds.total));
        if report.stopped {
            console.line(format_args!("stopped early: this is the best mapping found so far"));
        }
        console.line(format_args!("cut {}", report.cut));
        let too_heavy = loads::too_heavy(self.graph, &self.bounds(), self.fixed(), loads::PES);
        if let Some(loads) = &report.loads {
            many_to_one::tell_loads(console, loads, self.job.machine.num_pes(), too_heavy);
            many_to_one::tell_empty(console, loads, self.job.machine, report.num_processes);
        }
        if let Some((remap, migration)) = self.remap.as_ref().zip(report.migration) {
            remap.tell(console, self.graph.total_node_weight(), &migration);
        }
        console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", report.cost));
    }

    /// The algorithm whose order is taken, if one is.
    fn along(&self) -> Option<PartitionAlgorithm> {
        self.first.as_ref().map(|order| order.algorithm)
    }

    /// Writes mapping and report, once the mapping is verified if that was asked for.
    fn write(&self, Solution { mapping, report, .. }: &Solution, curve: Option<&Curve>) -> Result<()> {
        let (Job { options, console, places, .. }, graph) = (&self.job, self.graph);
        let report_of_run = self.report(report, curve);
        let drawn = options.picture.draw(graph, self.job.prepared, places.name(), mapping, true)?;
        let drawn_curve = places.curve.zip(curve.map(|curve| curve.picture.as_str()));
        let audit = |written: &Path| self.audit(written, mapping, report);
        let audit = options.verify.then_some(&audit as _);
        places.write(mapping, &report_of_run, drawn.as_deref(), drawn_curve.into_iter(), audit)?;
        if let Some(start) = report.cost_of_start.or(report.cost_of_construction) {
            let name = self.along().map_or("input mapping", PartitionAlgorithm::name);
            console.line(format_args!("{name} {start} -> {}", report.cost));
        }
        console.line(format_args!("written to {}", places.name()));
        Ok(())
    }

    /// Has the auditor recompute J, loads and migration from the files, and prints that.
    fn audit(&self, written: &Path, mapping: &Mapping, report: &Report) -> Result<()> {
        let Job { options, console, .. } = self.job;
        self.check(written, mapping, report.cost)?;
        console.line(format_args!("verified: J of the files is {} too, and so are all loads", report.cost));
        if let Some(fixed) = &self.fixed {
            fixed.check(&files::text(written)?, console, "vertices")?;
        }
        if let Some((remap, migration)) = self.remap.as_ref().zip(report.migration) {
            remap.check(&files::text(&options.file)?, &files::text(written)?, migration)?;
            console.line(format_args!("verified: so is the migration, {}", migration.weight));
        }
        Ok(())
    }

    /// An error unless the auditor finds this J, and the loads of this mapping.
    fn check(&self, written: &Path, mapping: &Mapping, cost: Cost) -> Result<()> {
        let (Job { options, machine, .. }, graph) = (&self.job, self.graph);
        let audit = files::audit_many(&options.file, written, (&options.machine, machine))?;
        let mut loads: Vec<Weight> = vec![0; machine.num_pes()];
        for (&weight, &pe) in graph.node_weights().iter().zip(mapping.pes()) {
            loads[pe as usize] += weight;
        }
        if audit.cost != cost as u128 {
            let message = format!("J of the mapping written is {}, but {cost} was computed", audit.cost);
            return Err(VerificationError::Differs(message).into());
        }
        let differs = |pe: &usize| audit.loads.get(*pe).copied().unwrap_or(0) != loads[*pe] as u128;
        match (0..loads.len()).find(differs) {
            Some(pe) => {
                let message = format!("the load of processing element {pe} differs from {}", loads[pe]);
                Err(VerificationError::Differs(message).into())
            }
            None => Ok(()),
        }
    }

    /// What was done; times and memory aside, the same result has the same report.
    fn report<'b>(
        &self,
        report: &'b Report,
        curve: Option<&Curve>,
    ) -> JsonReport<JsonOptions, Found<'b, ManyToOneConfig>> {
        let Job { options, machine, config, .. } = &self.job;
        let named = JsonOptions {
            preconfiguration_mapping: options.preconfiguration_mapping,
            pe_weights: options.sharing.pe_weights.as_deref().map(files::name),
            time_limit: config.time_limit.map(|limit| limit.as_secs_f64()),
            construction_algorithm: self.along().map(PartitionAlgorithm::name),
            local_search_neighborhood: self.keeps_first().then(|| Neighbourhood::None.name()),
            imbalance: 100.0 * self.balance.imbalance,
            least_load: 100.0 * self.balance.least_load,
        };
        let found = Found {
            settings: Some(config.many_to_one),
            fixed: self.fixed.as_ref().map(Fixed::report),
            remap: self.remap.as_ref().map(|remap| remap.report(curve)),
            memory: Some(JsonMemory::of(self.graph)),
            ..Found::new(report)
        };
        self.job.json_report(*machine, named, found)
    }
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    preconfiguration_mapping: MapPreset,
    #[serde(skip_serializing_if = "Option::is_none")]
    pe_weights: Option<String>,
    /// In seconds.
    time_limit: Option<f64>,
    /// If the mapping was started or made along an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    construction_algorithm: Option<&'static str>,
    /// `none` if the first mapping was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    local_search_neighborhood: Option<&'static str>,
    /// In percent.
    imbalance: f64,
    /// In percent of the share.
    least_load: f64,
}
