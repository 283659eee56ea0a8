//! Meshes, as graphs of their elements or nodes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use viem::base::types::{BlockId, Weight};
use viem::graph::Coordinates;
use viem_io::{ReadError, Source};
use viem_mesh::{ElementKind, Mesh, Neighbours};

use crate::error::{Fault, OrRaise};
use crate::graph::Graph;
use crate::map::pes_of;

/// The number of elements by kind.
type Kinds = Vec<(&'static str, usize)>;

/// A graph, the coordinates of its vertices, and the elements of the highest and of lower dimensions.
type Read<'py> = (Graph, Option<Bound<'py, PyArray2<f64>>>, Kinds, Kinds);

/// Reads a mesh from a file or a folder of OpenFOAM.
#[pyfunction]
pub(crate) fn read_mesh<'py>(
    py: Python<'py>,
    path: PathBuf,
    common: Option<usize>,
    nodal: bool,
    element_weights: Vec<(String, Weight)>,
) -> PyResult<Read<'py>> {
    if nodal && (common.is_some() || !element_weights.is_empty()) {
        return Err(Fault::usage(
            "with `nodal`, vertices are nodes of the mesh; leave out `common` and `element_weights`",
        )
        .into());
    }
    let weights = element_weights.iter().map(weight_of_kind).collect::<Result<Vec<_>, _>>()?;
    let neighbours = match common {
        Some(0) => return Err(Fault::usage("`common` is at least 1").into()),
        common => common.map(Neighbours::Common).unwrap_or_default(),
    };
    let (mesh, graph, coordinates) = py.detach(|| -> Result<_, Fault> {
        let mesh = mesh_at(&path)?;
        let graph = if nodal { mesh.nodal()? } else { mesh.dual(neighbours, &weights)? };
        let coordinates = if nodal { mesh.points() } else { mesh.centres() };
        Ok((mesh, graph, coordinates))
    })?;
    let is_of_file = !nodal && weights.is_empty();
    let several = mesh.several_weights().filter(|_| is_of_file).cloned().map(Arc::new);
    let coordinates = coordinates.map(|points| rows(py, &points)).transpose()?;
    Ok((Graph { several, ..Graph::new(graph) }, coordinates, named(&mesh.kinds()), named(mesh.left_out())))
}

fn mesh_at(path: &Path) -> Result<Mesh, ReadError> {
    match viem_mesh::is_mesh_folder(path) {
        true => viem_mesh::read_folder(path),
        false => viem_mesh::read(Source::open(path)?),
    }
}

fn weight_of_kind((kind, weight): &(String, Weight)) -> Result<(ElementKind, Weight), Fault> {
    let kind = kind.parse::<ElementKind>()?;
    if *weight < 0 {
        return Err(Fault::data(format!("the weight of a {} is {weight}; it is at least 0", kind.name())));
    }
    Ok((kind, *weight))
}

fn named(kinds: &[(ElementKind, usize)]) -> Kinds {
    kinds.iter().map(|&(kind, count)| (kind.name(), count)).collect()
}

/// A row for each point.
fn rows<'py>(py: Python<'py>, points: &Coordinates) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let values: Vec<f64> = points.points().flatten().copied().collect();
    values.into_pyarray(py).reshape([points.len(), points.dimension()])
}

/// Writes the part of each cell as OpenFOAM reads it.
#[pyfunction]
pub(crate) fn write_decomposition(py: Python<'_>, path: PathBuf, parts: &Bound<'_, PyAny>) -> PyResult<()> {
    let parts: Vec<BlockId> = pes_of("parts", parts)?;
    py.detach(|| viem_ffi::write(&path, &|out| viem_mesh::write_decomposition(out, &parts))).or_raise()
}
