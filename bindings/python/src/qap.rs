//! Quadratic assignment problems.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use viem::Mapping;
use viem::qap::{Qap, QapRequest};
use viem_ffi::check_memory;

use crate::error::{Fault, OrRaise};
use crate::map::{Found, fixed_vertices, found, pes_of};
use crate::numbers::Numbers;
use crate::run::Settings;

fn problem(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> Result<Qap, Fault> {
    let (a, b) = (Numbers::of("A", a)?, Numbers::of("B", b)?);
    let (shape, other) = (a.shape(), b.shape());
    let &[size, columns] = shape.as_slice() else {
        return Err(Fault::data("`A` must have two dimensions"));
    };
    if size != columns || shape != other {
        return Err(Fault::data(format!(
            "`A` and `B` must be square and of one size, not {shape:?} and {other:?}"
        )));
    }
    check_memory(24 * size as u128 * size as u128)?;
    Ok(Qap::from_matrices(size, a.collect("A")?, b.collect("B")?)?)
}

/// Fails if matrices are no problem that can be solved.
#[pyfunction]
pub(crate) fn check_qap(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<()> {
    Ok(problem(a, b).map(drop)?)
}

/// Solves a problem.
#[pyfunction]
pub(crate) fn solve_qap<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    start: Option<&Bound<'py, PyAny>>,
    fixed: Option<&Bound<'py, PyAny>>,
    settings: Settings,
) -> PyResult<Found<'py>> {
    let (qap, config) = (problem(a, b)?, settings.qap()?);
    let start = start.map(|start| Ok::<_, Fault>(Mapping::from_pes(pes_of("start", start)?)?)).transpose()?;
    let fixed = fixed_vertices(fixed, qap.size(), qap.size())?;
    check_memory(64 * qap.a().len() as u128).or_raise()?;
    let request = QapRequest::new(&qap).start(start.as_ref()).fixed(fixed.as_ref());
    let solution = settings.run(py, |watcher| request.observed(watcher).solve(&config))?;
    found(py, solution.mapping.pes(), solution.cost, &solution)
}

/// Matrices as numpy has them, and their size, with warnings.
pub(crate) type Matrices<'py> = (usize, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Vec<String>);

/// Reads a problem of QAPLIB.
#[pyfunction]
pub(crate) fn read_qap<'py>(py: Python<'py>, path: std::path::PathBuf) -> PyResult<Matrices<'py>> {
    let read = || viem_io::qaplib::read(viem_io::Source::open(&path)?);
    let file = py.detach(read).or_raise()?;
    let notes = file.notes.iter().map(|note| format!("{}, {note}", path.display())).collect();
    Ok((file.size, file.a.into_pyarray(py), file.b.into_pyarray(py), notes))
}

/// Writes a problem of QAPLIB.
#[pyfunction]
pub(crate) fn write_qap(
    py: Python<'_>,
    path: std::path::PathBuf,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let qap = problem(a, b)?;
    py.detach(|| viem_ffi::write(&path, &|out| viem_io::qaplib::write(out, qap.size(), qap.a(), qap.b())))
        .or_raise()
}
