//! Machines.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use viem::base::memory::with_room;
use viem::base::types::{Distance, PeId};
use viem::machine;
use viem::{Capacities, DistanceMatrix, Network};
use viem_cluster::{MachineSpec, PeKind};

use crate::error::{Fault, OrRaise};
use crate::graph::Graph;
use crate::numbers::Numbers;

/// A machine: `viem.Machine` without its labels.
#[pyclass(frozen, module = "viem._viem")]
pub(crate) struct Machine {
    pub(crate) inner: Arc<dyn viem::Machine>,
}

impl Machine {
    fn new(machine: impl viem::Machine + 'static) -> Self {
        Self { inner: Arc::new(machine) }
    }
}

#[pymethods]
impl Machine {
    /// Builds a machine from a text and its companions, as the programs read it.
    #[staticmethod]
    #[pyo3(signature = (spec, distances, pes, pe, latency, link_cycles))]
    fn build(
        py: Python<'_>,
        spec: &str,
        distances: Option<&str>,
        pes: Option<&str>,
        pe: &str,
        latency: Option<PathBuf>,
        link_cycles: Option<PathBuf>,
    ) -> PyResult<Self> {
        let kinds = [("core", PeKind::Core), ("thread", PeKind::Thread), ("gpu", PeKind::Gpu)];
        let Some((_, kind)) = kinds.into_iter().find(|(name, _)| *name == pe) else {
            let message = format!("PEs are \"core\", \"thread\" or \"gpu\", not \"{pe}\"");
            return Err(Fault::usage(message).into());
        };
        let wanted = MachineSpec::new(spec)
            .with_distances(distances)
            .with_pes(pes)
            .with_pe(kind)
            .with_latency(latency.as_deref())
            .with_link_cycles(link_cycles.as_deref());
        py.detach(|| viem_cluster::build_wanted(&wanted)).map(Self::new).or_raise()
    }

    /// Builds a machine from a square symmetric matrix of distances.
    #[staticmethod]
    fn from_matrix(py: Python<'_>, distances: &Bound<'_, PyAny>) -> PyResult<Self> {
        let distances = Numbers::of("distances", distances)?;
        let &[num_pes, columns] = distances.shape().as_slice() else {
            return Err(Fault::data("a matrix of distances has two dimensions").into());
        };
        if num_pes != columns {
            let message = format!("the matrix of distances has {num_pes} rows and {columns} columns");
            return Err(Fault::data(message).into());
        }
        let entries = distances.collect::<Distance>("distances")?;
        py.detach(|| DistanceMatrix::new(num_pes, entries)).map(Self::new).or_raise()
    }

    /// Builds a machine from a network, whose vertices of weight 0 are routers.
    #[staticmethod]
    fn from_network(py: Python<'_>, graph: &Graph) -> PyResult<Self> {
        let graph = viem::CsrGraph::clone(&graph.csr);
        py.detach(|| Network::new(graph)).map(Self::new).or_raise()
    }

    /// The same machine with room for several processes per PE.
    fn with_capacities(&self, capacities: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capacities = Numbers::of("capacities", capacities)?.collect::<u32>("capacities")?;
        Capacities::new(Arc::clone(&self.inner), capacities).map(Self::new).or_raise()
    }

    #[getter]
    fn num_pes(&self) -> usize {
        self.inner.num_pes()
    }

    /// Returns the number of processes that it has room for.
    #[getter]
    fn room(&self) -> u64 {
        self.inner.room()
    }

    #[getter]
    fn description(&self) -> String {
        self.inner.describe()
    }

    /// Returns the number of processes that each PE has room for.
    fn capacities<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let capacities: Vec<i64> =
            (0..self.inner.num_pes() as PeId).map(|pe| self.inner.capacity(pe).into()).collect();
        capacities.into_pyarray(py)
    }

    /// The distances between some PEs, row by row.
    fn distances<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        columns: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (rows, columns) = (self.pes("rows", rows)?, self.pes("columns", columns)?);
        machine::check_memory(self.inner.as_ref()).or_raise()?;
        let distances = py.detach(|| -> Result<Vec<Distance>, Fault> {
            let (mut entries, distances) = (with_room(rows.len() * columns.len())?, self.inner.distances()?);
            rows.iter().for_each(|&row| entries.extend(distances.row_of(row, &columns)));
            Ok(entries)
        })?;
        Ok(distances.into_pyarray(py))
    }
}

impl Machine {
    fn pes(&self, name: &str, pes: &Bound<'_, PyAny>) -> Result<Vec<PeId>, Fault> {
        let (pes, count) = (Numbers::of(name, pes)?.collect::<PeId>(name)?, self.inner.num_pes());
        match pes.iter().position(|&pe| pe as usize >= count) {
            None => Ok(pes),
            Some(index) => {
                let message = format!("there is no PE {}; the PEs are 0..{count}", pes[index]);
                Err(Fault::entry(index, message))
            }
        }
    }
}
