//! Graphs, from arrays of numpy.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use viem::CsrGraph;
use viem::base::types::{NodeId, Weight};
use viem::graph::{GraphError, VertexWeights};
use viem_ffi::{check_memory, memory_of_graph};

use crate::error::{Fault, OrRaise};
use crate::numbers::{Number, Numbers, not_whole, visit};

/// An undirected graph: `viem.Graph` without its labels.
#[pyclass(frozen, module = "viem._viem")]
pub(crate) struct Graph {
    /// Of several weights of a vertex, it has the first.
    pub(crate) csr: Arc<CsrGraph>,
    /// All weights of the vertices, if they have several.
    pub(crate) several: Option<Arc<VertexWeights>>,
}

impl Graph {
    pub fn new(csr: CsrGraph) -> Self {
        Self { csr: Arc::new(csr), several: None }
    }
}

/// The weights of the vertices: the first of each, and all of them if there are several.
struct Weights {
    first: Vec<Weight>,
    several: Option<Arc<VertexWeights>>,
}

impl Weights {
    /// One row of a matrix for each vertex, or an array with one number for each; all 1 where none are given.
    fn of(num_vertices: usize, weights: Option<&Bound<'_, PyAny>>) -> Result<Self, Fault> {
        let Some(weights) = weights else { return Ok(Self { first: vec![1; num_vertices], several: None }) };
        let weights = Numbers::of("weights", weights)?;
        let (rows, columns) = match weights.shape()[..] {
            [rows] => (rows, 1),
            [rows, columns] if columns > 0 => (rows, columns),
            _ => return Err(Fault::data("weights have one column at least, and one or two dimensions")),
        };
        if rows != num_vertices {
            return Err(Fault::data(format!("{rows} weights are given for {num_vertices} vertices")));
        }
        let values = weights.collect::<Weight>("weights")?;
        if columns == 1 {
            return Ok(Self { first: values, several: None });
        }
        let first = values.iter().step_by(columns).copied().collect();
        Ok(Self { first, several: Some(Arc::new(VertexWeights::new(columns, values)?)) })
    }

    /// The graph that is made with the first of the weights.
    fn graph<E>(self, make: impl FnOnce(Vec<Weight>) -> Result<CsrGraph, E>) -> Result<Graph, E> {
        let Self { first, several } = self;
        Ok(Graph { csr: Arc::new(make(first)?), several })
    }
}

/// Offsets, targets, weights and weights of vertices, as numpy has them.
type Arrays<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArrayDyn<i64>>,
);

impl Graph {
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i64>>> {
        let num_vertices = self.csr.num_nodes();
        match &self.several {
            None => PyArray1::from_slice(py, self.csr.node_weights()).reshape([num_vertices].as_slice()),
            Some(several) => {
                let columns = several.num_weights();
                PyArray1::from_slice(py, several.values()).reshape([num_vertices, columns].as_slice())
            }
        }
    }
}

#[pymethods]
impl Graph {
    /// Makes a graph from compressed sparse rows; all weights 1 without `data`. Directed: the weight of an edge is the sum of both directions.
    #[staticmethod]
    fn from_csr(
        py: Python<'_>,
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        data: Option<&Bound<'_, PyAny>>,
        weights: Option<&Bound<'_, PyAny>>,
        directed: bool,
    ) -> PyResult<Self> {
        let offsets = Numbers::of("indptr", indptr)?.collect::<usize>("indptr")?;
        let indices = Numbers::of("indices", indices)?;
        let num_vertices = offsets.len().saturating_sub(1);
        check_memory(memory_of_graph(num_vertices, indices.len())).or_raise()?;
        let targets = indices.collect::<NodeId>("indices")?;
        let edge_weights = match data {
            None => vec![1; targets.len()],
            Some(data) => Numbers::of("data", data)?.collect::<Weight>("data")?,
        };
        let vertex_weights = Weights::of(num_vertices, weights)?;
        let rows = Rows { offsets, targets, edge_weights };
        rows.check()?;
        py.detach(|| vertex_weights.graph(|first| rows.graph(first, directed))).or_raise()
    }

    /// Makes a graph from edges in any order and direction, whose weights are summed.
    #[staticmethod]
    fn from_edges(
        py: Python<'_>,
        num_vertices: usize,
        sources: &Bound<'_, PyAny>,
        targets: &Bound<'_, PyAny>,
        data: Option<&Bound<'_, PyAny>>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let sources = Numbers::of("sources", sources)?.collect::<NodeId>("sources")?;
        let targets = Numbers::of("targets", targets)?.collect::<NodeId>("targets")?;
        let count = sources.len();
        let edge_weights = match data {
            None => vec![1; count],
            Some(data) => Numbers::of("data", data)?.collect::<Weight>("data")?,
        };
        if targets.len() != count || edge_weights.len() != count {
            return Err(Fault::data("sources, targets and weights of edges differ in number").into());
        }
        if let Some(edge) = edge_weights.iter().position(|&weight| weight < 0) {
            return Err(negative("data", edge, edge_weights[edge]).into());
        }
        let vertex_weights = Weights::of(num_vertices, weights)?;
        check_memory(memory_of_graph(num_vertices, 4 * count)).or_raise()?;
        let edges = sources.into_iter().zip(targets).zip(edge_weights).map(|((u, v), weight)| (u, v, weight));
        let make = |first| CsrGraph::from_edges(num_vertices, edges)?.with_node_weights(first);
        py.detach(|| vertex_weights.graph(make)).or_raise()
    }

    /// Makes a graph from a square matrix.
    #[staticmethod]
    fn from_dense(
        py: Python<'_>,
        matrix: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
        directed: bool,
    ) -> PyResult<Self> {
        let matrix = Numbers::of("matrix", matrix)?;
        let &[rows, columns] = matrix.shape().as_slice() else {
            return Err(Fault::data("a matrix has two dimensions").into());
        };
        if rows != columns {
            return Err(Fault::from(GraphError::NotSquare { rows, columns }).into());
        }
        let vertex_weights = Weights::of(rows, weights)?;
        let rows = visit!(&matrix, |array| Rows::of_matrix(rows, array.as_array().iter().copied()))?;
        py.detach(|| vertex_weights.graph(|first| rows.graph(first, directed))).or_raise()
    }

    #[getter]
    fn num_vertices(&self) -> usize {
        self.csr.num_nodes()
    }

    #[getter]
    fn num_edges(&self) -> usize {
        self.csr.num_edges()
    }

    /// The sum of the weights of all edges, each once.
    #[getter]
    fn total_weight(&self) -> Weight {
        self.csr.total_arc_weight() / 2
    }

    /// The number of weights of each vertex.
    #[getter]
    fn num_weights(&self) -> usize {
        self.several.as_ref().map_or(1, |several| several.num_weights())
    }

    /// The same graph with other weights of its vertices.
    fn with_weights(&self, py: Python<'_>, weights: &Bound<'_, PyAny>) -> PyResult<Self> {
        let weights = Weights::of(self.csr.num_nodes(), Some(weights))?;
        py.detach(|| weights.graph(|first| CsrGraph::clone(&self.csr).with_node_weights(first))).or_raise()
    }

    /// Copies: indptr, indices, data, weights; a row for each vertex where it has several weights.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Arrays<'py>> {
        let offsets: Vec<i64> = self.csr.offsets().iter().map(|&offset| offset as i64).collect();
        let targets: Vec<i64> = self.csr.targets().iter().map(|&target| target.into()).collect();
        Ok((
            offsets.into_pyarray(py),
            targets.into_pyarray(py),
            edge_weights(&self.csr).into_pyarray(py),
            self.weights(py)?,
        ))
    }
}

/// The weight of each arc.
fn edge_weights(graph: &CsrGraph) -> Vec<Weight> {
    graph.edge_weights().map_or_else(|| vec![1; graph.num_arcs()], <[Weight]>::to_vec)
}

fn negative(name: &str, index: usize, weight: Weight) -> Fault {
    Fault::entry(index, format!("entry {index} of `{name}` is {weight}; weights must not be negative"))
}

/// A matrix in compressed sparse rows, on its way to a graph.
struct Rows {
    offsets: Vec<usize>,
    targets: Vec<NodeId>,
    edge_weights: Vec<Weight>,
}

impl Rows {
    /// The entries of a square matrix that are neither 0 nor on its diagonal.
    fn of_matrix<N: Number>(size: usize, entries: impl Iterator<Item = N>) -> Result<Self, Fault> {
        let mut rows = Self { offsets: vec![0], targets: Vec::new(), edge_weights: Vec::new() };
        for (index, entry) in entries.enumerate() {
            let (row, column) = (index / size, index % size);
            let weight = entry.whole().ok_or_else(|| not_whole("matrix", index, entry))?;
            if weight < 0 {
                return Err(negative("matrix", index, weight));
            }
            if weight > 0 && row != column {
                rows.targets.push(column as NodeId);
                rows.edge_weights.push(weight);
            }
            if column + 1 == size {
                rows.offsets.push(rows.targets.len());
            }
        }
        Ok(rows)
    }

    /// Fails unless the arrays belong together and no entry is negative.
    fn check(&self) -> Result<(), Fault> {
        let (count, weights) = (self.targets.len(), self.edge_weights.len());
        if self.offsets.first() != Some(&0) || self.offsets.last() != Some(&count) {
            return Err(Fault::data(format!("`indptr` must run from 0 to the {count} entries of `indices`")));
        }
        if let Some(row) = self.offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(Fault::entry(row + 1, format!("`indptr` falls at entry {}", row + 1)));
        }
        if weights != count {
            return Err(Fault::data(format!("`data` has {weights} entries and `indices` {count}")));
        }
        if let Some(index) = self.edge_weights.iter().position(|&weight| weight < 0) {
            return Err(negative("data", index, self.edge_weights[index]));
        }
        let size = self.offsets.len() - 1;
        if let Some(index) = self.targets.iter().position(|&target| target as usize >= size) {
            let target = self.targets[index];
            return Err(Fault::entry(
                index,
                format!("entry {index} of `indices` is {target}, but the vertices are 0..{size}"),
            ));
        }
        Ok(())
    }

    /// The graph of a matrix that is symmetric, or of the sum of it and its transpose.
    fn graph(mut self, vertex_weights: Vec<Weight>, directed: bool) -> Result<CsrGraph, Fault> {
        if directed {
            let row_of =
                |(row, pair): (usize, &[usize])| std::iter::repeat_n(row as NodeId, pair[1] - pair[0]);
            let sources = self.offsets.windows(2).enumerate().flat_map(row_of);
            let edges = sources.zip(self.targets.iter().copied()).zip(self.edge_weights.iter().copied());
            let edges = edges.map(|((u, v), weight)| (u, v, weight));
            return Ok(CsrGraph::from_edges(vertex_weights.len(), edges)?.with_node_weights(vertex_weights)?);
        }
        self.tidy()?;
        CsrGraph::new(self.offsets, self.targets, self.edge_weights, vertex_weights).map_err(|error| {
            match error {
                GraphError::MissingBackwardEdge { .. } | GraphError::UnequalWeights { .. } => {
                    let fault = Fault::from(error);
                    fault.with_hint("; for what each vertex sends to each other, say directed=True")
                }
                error => error.into(),
            }
        })
    }

    /// Drops zeros and the diagonal, sums entries that occur several times in a row, and sorts rows. In place, O(m log m) at worst.
    fn tidy(&mut self) -> Result<(), Fault> {
        let (mut kept, mut row_begin) = (0, 0);
        let mut row: Vec<(NodeId, Weight)> = Vec::new();
        for node in 0..self.offsets.len() - 1 {
            let range = row_begin..self.offsets[node + 1];
            row_begin = range.end;
            let first = kept;
            for arc in range {
                let (target, weight) = (self.targets[arc], self.edge_weights[arc]);
                if target as usize != node && weight != 0 {
                    (self.targets[kept], self.edge_weights[kept]) = (target, weight);
                    kept += 1;
                }
            }
            if !self.targets[first..kept].is_sorted_by(|a, b| a < b) {
                row.clear();
                row.extend((first..kept).map(|arc| (self.targets[arc], self.edge_weights[arc])));
                row.sort_unstable();
                kept = self.put_summed(first, &row)?;
            }
            self.offsets[node + 1] = kept;
        }
        self.targets.truncate(kept);
        self.edge_weights.truncate(kept);
        Ok(())
    }

    /// Writes a sorted row from a position on, and returns its end.
    fn put_summed(&mut self, first: usize, row: &[(NodeId, Weight)]) -> Result<usize, Fault> {
        let mut end = first;
        for &(target, weight) in row {
            if end > first && self.targets[end - 1] == target {
                let sum = self.edge_weights[end - 1].checked_add(weight);
                self.edge_weights[end - 1] = sum.ok_or(GraphError::EdgeWeightOverflow)?;
            } else {
                (self.targets[end], self.edge_weights[end]) = (target, weight);
                end += 1;
            }
        }
        Ok(end)
    }
}
