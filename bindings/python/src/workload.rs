//! Workloads, and their simulation.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use viem_io::Source;
use viem_workload::routing::Routing;
use viem_workload::simulate::{Costs, Sharing, SimulationConfig, simulate_watched};
use viem_workload::text;

use crate::error::{Fault, OrRaise};
use crate::graph::Graph;
use crate::machine::Machine;
use crate::map::{json, pes_of};
use crate::run::Settings;

/// Tasks that compute, send and receive: `viem.Workload`.
#[pyclass(frozen, module = "viem._viem")]
pub(crate) struct Workload {
    inner: Arc<viem_workload::Workload>,
}

#[pymethods]
impl Workload {
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = || text::read(Source::open(&path)?);
        Ok(Self { inner: Arc::new(py.detach(read).or_raise()?) })
    }

    /// One phase, in which each process sends to all its neighbours.
    #[staticmethod]
    fn of_graph(graph: &Graph) -> PyResult<Self> {
        Ok(Self { inner: Arc::new(viem_workload::Workload::of_graph(&graph.csr).or_raise()?) })
    }

    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| viem_ffi::write(&path, &|out| text::write(out, &self.inner))).or_raise()
    }

    /// Returns the communication graph.
    fn graph(&self) -> Graph {
        Graph::new(self.inner.graph())
    }

    #[getter]
    fn num_tasks(&self) -> usize {
        self.inner.num_tasks()
    }

    #[getter]
    fn num_messages(&self) -> u64 {
        self.inner.num_messages()
    }
}

/// Simulates a workload on a machine; returns JSON. `fair` is the latency of messages that share links fairly.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    workload: &Workload,
    machine: &Machine,
    pes: &Bound<'_, PyAny>,
    costs: (u64, u64),
    fair: Option<u64>,
    settings: Settings,
) -> PyResult<String> {
    let pes = pes_of("mapping", pes)?;
    let sharing = fair.map_or(Sharing::Turns, |latency| Sharing::Fair { latency });
    let config = SimulationConfig::new(Costs::new(costs.0, costs.1)).with_sharing(sharing);
    let simulation = settings.run(py, |watcher| -> Result<_, Fault> {
        let routing = Routing::new(&machine.inner)?;
        Ok(simulate_watched(&workload.inner, &routing, &pes, config, watcher)?)
    })?;
    json(&simulation)
}
