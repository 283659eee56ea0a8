//! Mappings to machines.

use std::ffi::CString;

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use serde::Serialize;
use viem::base::types::PeId;
use viem::machine::Nodes;
use viem::partition::{FixedVertices, MigrationWeight, PreviousAssignment, Remapping};
use viem::solve::Secondary;
use viem::{Mapping, PreparedMachine, Request, Solution, score};
use viem_ffi::{Limits, check_memory, memory_of_run};
use viem_workload::contention::BottleneckConfig;

use crate::error::{Fault, OrRaise};
use crate::graph::Graph;
use crate::machine::Machine;
use crate::numbers::Numbers;
use crate::run::Settings;

/// The PE of each process, or block of each vertex.
pub(crate) type Pes<'py> = Bound<'py, PyArray1<i64>>;

/// The PE of everything, J or the cut, and the report as JSON.
pub(crate) type Found<'py> = (Pes<'py>, i64, String);

pub(crate) fn found<'py>(
    py: Python<'py>,
    pes: &[PeId],
    cost: i64,
    report: &impl Serialize,
) -> PyResult<Found<'py>> {
    let pes: Vec<i64> = pes.iter().map(|&pe| pe.into()).collect();
    Ok((pes.into_pyarray(py), cost, json(report)?))
}

pub(crate) fn json(report: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(report).map_err(|error| Fault::internal(&error.to_string()).into())
}

/// Warns the caller of a function of the package, if there is something to warn of.
pub(crate) fn warn(py: Python<'_>, note: Option<String>) -> PyResult<()> {
    let Some(note) = note.and_then(|note| CString::new(note).ok()) else { return Ok(()) };
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &note, 2)
}

/// Warns where a least load is rounded down to 0.
fn warn_rounded(py: Python<'_>, graph: &Graph, machine: &Machine, limits: &Limits<'_>) -> PyResult<()> {
    warn(py, limits.rounded_least(&graph.csr, &machine.inner.capacities()))
}

/// The number of nodes of a machine.
fn num_nodes(machine: &Machine) -> usize {
    Nodes::of(&machine.inner).hosts().len()
}

/// PEs or blocks from an array.
pub(crate) fn pes_of(name: &str, array: &Bound<'_, PyAny>) -> Result<Vec<PeId>, Fault> {
    Numbers::of(name, array)?.collect::<PeId>(name)
}

/// The vertices that must be in given blocks or on given PEs; -1 for those that need not.
pub(crate) fn fixed_vertices(
    fixed: Option<&Bound<'_, PyAny>>,
    num_vertices: usize,
    num_blocks: usize,
) -> Result<Option<FixedVertices>, Fault> {
    let Some(fixed) = fixed else { return Ok(None) };
    let fixed = Numbers::of("fixed", fixed)?.collect::<i64>("fixed")?;
    if fixed.len() != num_vertices {
        return Err(Fault::data(format!("`fixed` has {} entries for {num_vertices} vertices", fixed.len())));
    }
    let mut vertices = FixedVertices::none(num_vertices, num_blocks);
    for (vertex, &block) in fixed.iter().enumerate().filter(|&(_, &block)| block != -1) {
        let block = block.try_into().map_err(|_| {
            let message = format!("entry {vertex} of `fixed` is {block}; it is a number from 0 on, or -1");
            Fault::entry(vertex, message)
        })?;
        vertices.fix(vertex as u32, block)?;
    }
    Ok(Some(vertices))
}

/// The input of a mapping, without graph and machine.
struct Input {
    start: Option<Mapping>,
    fixed: Option<FixedVertices>,
}

impl Input {
    fn new(
        graph: &Graph,
        machine: &Machine,
        start: Option<&Bound<'_, PyAny>>,
        fixed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self, Fault> {
        let (num_vertices, num_pes) = (graph.csr.num_nodes(), machine.inner.num_pes());
        check_memory(memory_of_run(num_vertices + num_pes, graph.csr.num_arcs()))?;
        let start = start.map(|start| Ok::<_, Fault>(Mapping::many(num_pes, pes_of("start", start)?)?));
        Ok(Self { start: start.transpose()?, fixed: fixed_vertices(fixed, num_vertices, num_pes)? })
    }

    /// Makes the part that all requests have in common.
    fn request<'a>(&'a self, graph: &'a Graph, machine: &'a PreparedMachine<'a>) -> Request<'a> {
        Request::new(&graph.csr, machine).start(self.start.as_ref()).fixed(self.fixed.as_ref())
    }
}

/// What is lowered once J is minimised.
fn secondary(bottleneck: &Option<BottleneckConfig>) -> Option<&dyn Secondary> {
    bottleneck.as_ref().map(|bottleneck| bottleneck as &dyn Secondary)
}

fn found_solution<'py>(py: Python<'py>, solution: &Solution) -> PyResult<Found<'py>> {
    found(py, solution.mapping.pes(), solution.report.cost, &solution.report)
}

/// Maps processes to PEs, each PE up to its capacity.
#[pyfunction]
pub(crate) fn map<'py>(
    py: Python<'py>,
    graph: &Graph,
    machine: &Machine,
    start: Option<&Bound<'py, PyAny>>,
    fixed: Option<&Bound<'py, PyAny>>,
    settings: Settings,
) -> PyResult<Found<'py>> {
    let (input, config) = (Input::new(graph, machine, start, fixed)?, settings.config()?);
    let bottleneck = settings.bottleneck()?;
    let prepared = PreparedMachine::new(&machine.inner);
    let request = input.request(graph, &prepared).then_lower(secondary(&bottleneck));
    found_solution(py, &settings.run(py, |watcher| request.observed(watcher).solve(&config))?)
}

/// Maps vertices to PEs, many to each, with balanced loads.
#[pyfunction]
pub(crate) fn map_many_to_one<'py>(
    py: Python<'py>,
    graph: &Graph,
    machine: &Machine,
    start: Option<&Bound<'py, PyAny>>,
    fixed: Option<&Bound<'py, PyAny>>,
    settings: Settings,
) -> PyResult<Found<'py>> {
    let (input, config) = (Input::new(graph, machine, start, fixed)?, settings.config()?);
    let (bottleneck, limits) = (settings.bottleneck()?, settings.limits(graph, &|| num_nodes(machine))?);
    warn_rounded(py, graph, machine, &limits)?;
    let prepared = PreparedMachine::new(&machine.inner);
    let request = limits.bound(input.request(graph, &prepared)).connected(settings.connected);
    let request = request.then_lower(secondary(&bottleneck));
    found_solution(py, &settings.run(py, |watcher| request.observed(watcher).solve(&config))?)
}

/// Adapts a many-to-one mapping.
#[pyfunction]
pub(crate) fn remap<'py>(
    py: Python<'py>,
    graph: &Graph,
    machine: &Machine,
    old: &Bound<'py, PyAny>,
    migration_weight: f64,
    fixed: Option<&Bound<'py, PyAny>>,
    settings: Settings,
) -> PyResult<Found<'py>> {
    let (input, config) = (Input::new(graph, machine, None, fixed)?, settings.config()?);
    let limits = settings.limits(graph, &|| num_nodes(machine))?;
    warn_rounded(py, graph, machine, &limits)?;
    let homes = PreviousAssignment::new(&pes_of("old", old)?, machine.inner.num_pes()).or_raise()?;
    let remapping = Remapping::new(&homes, migration_weight_of(migration_weight)?);
    let prepared = PreparedMachine::new(&machine.inner);
    let request = limits.bound(input.request(graph, &prepared)).previous(remapping);
    found_solution(py, &settings.run(py, |watcher| request.observed(watcher).solve(&config))?)
}

/// A weight of migration that the library can hold.
pub(crate) fn migration_weight_of(value: f64) -> Result<MigrationWeight, Fault> {
    if value >= 0.0 && value <= MigrationWeight::MOST as f64 {
        return Ok(MigrationWeight::rounded(value));
    }
    let most = MigrationWeight::MOST;
    Err(Fault::usage(format!("migration_weight is {value}; it must be a number from 0 to {most}")))
}

/// The loads and costs of a many-to-one mapping that is given, as JSON; J of any other.
#[pyfunction]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    graph: &Graph,
    machine: &Machine,
    pes: &Bound<'py, PyAny>,
    many_to_one: bool,
    settings: Settings,
) -> PyResult<(i64, Option<String>)> {
    let pes = pes_of("mapping", pes)?;
    let (csr, inner) = (&graph.csr, &machine.inner);
    if !many_to_one {
        return Ok((py.detach(|| score(csr, inner, &pes)).or_raise()?, None));
    }
    let (config, prepared) = (settings.config()?, PreparedMachine::new(inner));
    let mapping = Mapping::many(inner.num_pes(), pes).or_raise()?;
    let limits = settings.limits(graph, &|| num_nodes(machine))?;
    let request = limits.bound(Request::new(csr, &prepared));
    let report = py.detach(|| request.evaluate(&mapping, &config)).or_raise()?;
    Ok((report.cost, Some(json(&report)?)))
}
