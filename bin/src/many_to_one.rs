//! What the verbs share about many-to-one mappings.
//!
//! [`SharingOptions::read`] is the only place that decides whether a problem is one of them.

use std::path::Path;

use crate::application::{self, Application, How, Input};
use crate::capacities::{Capacities, CapacitiesByWeight, NodeOptions, OneOrEach};
use crate::console::Console;
use crate::error::{Result, UsageError};
use crate::limits::Limits;
use crate::loads;
use crate::mesh::MeshOptions;
use crate::options::BalanceOptions;
use crate::summary::Summary;
use clap::Args;
use viem::graph::VertexWeights;
use viem::machine::{self, Machine};
use viem::solve::{Loads, Report};
use viem_io::metis::NodeWeights;
use viem_report::traffic::PeTraffic;

/// How work is spread where PEs have many vertices.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Balance")]
pub(crate) struct SharingOptions {
    #[command(flatten)]
    pub(crate) balance: BalanceOptions,

    /// Capacities of the PEs or blocks, relative to each other. Whole numbers such as 1,2,4, or a file with one per line; that
    /// of a PE is at least 1, and a block of capacity 0 stays empty. Where vertices have several weights, given once for all or once for each, such as speeds and
    /// memory
    #[arg(long, value_name = "LIST|FILE", value_parser = Capacities::parse)]
    capacities: Vec<Capacities>,
}

impl SharingOptions {
    /// An error if a balance is given where each process has a place of its own.
    pub(crate) fn check_one_to_one(&self) -> Result<(), UsageError> {
        self.balance.given().map_or(Ok(()), |name| {
            Err(UsageError(format!("{name} is for graphs with many vertices on a PE; leave it out")))
        })
    }

    /// The files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let capacities = self.capacities.iter().filter_map(Capacities::file);
        capacities.chain(self.balance.files_of_least_loads())
    }

    /// Returns whether capacities are given.
    pub(crate) fn has_capacities(&self) -> bool {
        !self.capacities.is_empty()
    }

    /// The names of the capacities in reports.
    pub(crate) fn names(&self) -> Option<OneOrEach<String>> {
        OneOrEach::of(self.capacities.iter().map(Capacities::name).collect())
    }

    /// The capacities of blocks.
    pub(crate) fn of_blocks(&self) -> Result<CapacitiesByWeight> {
        CapacitiesByWeight::of_blocks(&self.capacities)
    }

    /// The machine with the capacities of its PEs, if some are given.
    pub(crate) fn weigh(&self, machine: Box<dyn Machine>) -> Result<Box<dyn Machine>> {
        let read = CapacitiesByWeight::of_pes(&self.capacities, machine.num_pes())?;
        let Some(capacities) = read.greatest() else { return Ok(machine) };
        Ok(Box::new(machine::Capacities::new(machine, capacities)?))
    }

    /// The same options with no bounds where no imbalance is given.
    pub(crate) fn lifted_by_default(&self) -> Self {
        Self { balance: self.balance.lifted_by_default(), ..self.clone() }
    }

    /// The limits of the loads of the PEs of a machine, where vertices have these weights if they have several.
    pub(crate) fn limits(
        &self,
        machine: &dyn Machine,
        weights: Option<&VertexWeights>,
        nodes: &NodeOptions,
    ) -> Result<Limits> {
        let capacities = CapacitiesByWeight::of_pes(&self.capacities, machine.num_pes())?;
        self.balance.limits_of(machine, weights, (&capacities, nodes))
    }

    /// Reads a graph, and decides whether its mapping is many-to-one: if there are more vertices than the machine has
    /// room for processes, if PEs or nodes have capacities, or if an imbalance or a least load is given and vertices have weights, or are
    /// more than the PEs. Vertex weights are read only then. `as_text`: whether a mesh is needed as a METIS file, too.
    pub(crate) fn read(
        &self,
        input: Input<'_>,
        machine: &dyn Machine,
        (mesh, as_text, nodes): (&MeshOptions, bool, &NodeOptions),
        (threads, console): (usize, Console),
    ) -> Result<(Application, bool)> {
        let room = usize::try_from(machine.room()).unwrap_or(usize::MAX);
        let has_capacities = self.has_capacities() || nodes.is_given();
        let is_asked = self.balance.given().is_some() || has_capacities;
        let weights = if is_asked { NodeWeights::Read } else { NodeWeights::ReadBeyond(room) };
        let name = input.name();
        let mut application =
            application::read_graph(input, &How { mesh, weights, as_text, threads, console })?;
        let graph = &application.graph;
        let num_nodes = graph.num_nodes();
        let is_many = num_nodes > machine.num_pes() || graph.node_weights().iter().any(|&weight| weight != 1);
        let is_many_to_one = num_nodes > room || has_capacities || (is_asked && is_many);
        if !is_many_to_one {
            application.leave_weights(&name, console);
        }
        Ok((application, is_many_to_one))
    }
}

/// Prints the loads of the PEs by each of several weights, and warns if one exceeds its bound.
pub(crate) fn print_several(console: Console, report: &Report, num_pes: usize) {
    loads::print_by_weight(console, loads::PES, &report.loads_by_weight);
    loads::print_below(console, loads::PES, &report.loads_by_weight, num_pes);
    let overload = report.violation().overload;
    if let Some(weight) = report.fullest_weight().filter(|_| overload > 0) {
        let (weight, option) = loads::fullest_weight(weight, report.loads.as_ref());
        let places = match report.loads_by_weight.iter().any(|loads| loads.nodes.is_some()) {
            true => "PEs and nodes",
            false => "PEs",
        };
        console.warn(format_args!(
            "{places} exceed their bounds by {overload} in total: {weight}; allow more {option}"
        ));
    }
}

/// Prints the loads of the PEs. `too_heavy` are words about a vertex that fits nowhere.
pub(crate) fn print_loads(console: Console, loads: &Loads, num_pes: usize, too_heavy: Option<String>) {
    let Loads { least, mean, greatest, bound, fullest, overload, .. } = loads;
    console.line(format_args!(
        "load of a PE: {least} least, {mean:.2} mean, {greatest} greatest; bound {bound}"
    ));
    console.detail(format_args!("greatest load over its bound {fullest:.5}"));
    loads::print_below(console, loads::PES, std::slice::from_ref(loads), num_pes);
    if *overload > 0 {
        let too_heavy = too_heavy.map_or_else(String::new, |words| format!(": {words}"));
        console.warn(format_args!(
            "PEs exceed their bounds by {overload} in total{too_heavy}; allow more --imbalance"
        ));
    }
}

/// Prints how many PEs have no vertex.
pub(crate) fn print_empty(console: Console, loads: &Loads, machine: &dyn Machine, num_nodes: usize) {
    loads::print_empty(console, loads::PES, loads.empty, &machine.capacities(), num_nodes);
}

/// Adds what PEs exchange to a summary.
pub(crate) fn add_traffic(summary: &mut Summary, traffic: &PeTraffic) {
    let PeTraffic { greatest_neighbours, mean_neighbours, greatest_volume, mean_volume, .. } = traffic;
    summary.figure("neighbours of a PE", greatest_neighbours, format!("greatest, {mean_neighbours:.2} mean"));
    summary.figure("traffic of a PE", greatest_volume, format!("greatest, {mean_volume:.2} mean"));
}

/// Adds the number of PEs whose vertices are not connected, if there are any.
pub(crate) fn add_pieces(summary: &mut Summary, report: &Report) {
    if let Some(in_pieces) = report.in_pieces.filter(|&count| count > 0) {
        summary.figure("PEs in pieces", in_pieces, "not connected");
    }
}
