//! The effect of a mapping on the traffic.

use pyo3::prelude::*;
use viem::{Mapping, PreparedMachine};
use viem_report::compare::{Arrangement, Comparison};
use viem_report::loads::LoadTable;
use viem_report::picture::{Side, draw};
use viem_report::traffic;

use crate::error::{Fault, OrRaise};
use crate::graph::Graph;
use crate::machine::Machine;
use crate::map::{json, pes_of};

fn mapping_of(graph: &Graph, machine: &Machine, pes: &Bound<'_, PyAny>) -> Result<Mapping, Fault> {
    let mapping = Mapping::many(machine.inner.num_pes(), pes_of("mapping", pes)?)?;
    let (found, expected) = (mapping.num_processes(), graph.csr.num_nodes());
    if found != expected {
        return Err(Fault::data(format!("the mapping has {found} processes, the graph {expected}")));
    }
    Ok(mapping)
}

/// The traffic at each distance, as JSON.
#[pyfunction]
pub(crate) fn traffic_by_distance(
    py: Python<'_>,
    graph: &Graph,
    machine: &Machine,
    pes: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let mapping = mapping_of(graph, machine, pes)?;
    let rows = py.detach(|| -> Result<_, Fault> {
        Ok(traffic::by_distance(&graph.csr, &machine.inner.distances()?, mapping.pes()))
    })?;
    json(&rows)
}

/// The traffic of the busiest node and of the busiest link, as JSON.
#[pyfunction]
pub(crate) fn busiest(
    py: Python<'_>,
    graph: &Graph,
    machine: &Machine,
    pes: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let mapping = mapping_of(graph, machine, pes)?;
    json(&py.detach(|| traffic::busiest(&graph.csr, &machine.inner, mapping.pes())).or_raise()?)
}

/// The loads of all nodes and switches before and after, as JSON. The mapping before is the order of the numbers.
#[pyfunction]
pub(crate) fn loads(
    py: Python<'_>,
    graph: &Graph,
    machine: &Machine,
    pes: &Bound<'_, PyAny>,
    many_to_one: bool,
) -> PyResult<String> {
    let mapping = mapping_of(graph, machine, pes)?;
    let table = py.detach(|| -> Result<LoadTable, Fault> {
        let prepared = PreparedMachine::new(&machine.inner);
        let comparison = Comparison::new(&graph.csr, &prepared).of_many(many_to_one);
        Ok(LoadTable::new(&graph.csr, &prepared, &in_order(&comparison)?, &mapping)?)
    });
    json(&table.or_raise()?)
}

/// The mapping in the order of the numbers.
fn in_order(comparison: &Comparison<'_>) -> Result<Mapping, Fault> {
    let block = comparison.arranged(Arrangement::Block);
    block.ok_or_else(|| Fault::data("the machine has no room for the processes"))
}

/// The traffic before and after, as SVG. Before is the order of the numbers.
#[pyfunction]
pub(crate) fn picture(
    py: Python<'_>,
    graph: &Graph,
    machine: &Machine,
    pes: &Bound<'_, PyAny>,
    many_to_one: bool,
) -> PyResult<String> {
    let mapping = mapping_of(graph, machine, pes)?;
    py.detach(|| -> Result<String, Fault> {
        let prepared = PreparedMachine::new(&machine.inner);
        let comparison = Comparison::new(&graph.csr, &prepared).of_many(many_to_one);
        let before = in_order(&comparison)?;
        let before = Side::new(if many_to_one { "block" } else { "identity" }, &before);
        Ok(draw(&graph.csr, &comparison, &before, &Side::new("viem", &mapping))?)
    })
    .or_raise()
}
