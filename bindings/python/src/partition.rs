//! Partitions.

use pyo3::prelude::*;
use serde::Serialize;
use viem::base::types::{BlockId, Weight};
use viem::partition::{PreviousAssignment, Remapping};
use viem::{Mapping, PreparedMachine, Report, Solution};
use viem_ffi::{Division, check_memory, memory_of_run};

use crate::error::{Fault, OrRaise};
use crate::graph::Graph;
use crate::map::{Found, fixed_vertices, found, migration_weight_of, pes_of, warn};
use crate::numbers::Numbers;
use crate::run::Settings;

/// The known properties of a partition.
#[derive(Serialize)]
struct Known<'a> {
    #[serde(flatten)]
    report: &'a Report,
    bounds: Bounds<'a>,
}

/// The bounds of the blocks, or those of each block by each weight.
#[derive(Serialize)]
#[serde(untagged)]
enum Bounds<'a> {
    One(&'a [Weight]),
    Several(Vec<Vec<Weight>>),
}

impl<'a> Bounds<'a> {
    fn of(division: &'a Division<'_>) -> Self {
        match division.bounds() {
            [bounds] => Self::One(bounds),
            several => {
                let of_block = |block: usize| several.iter().map(|bounds| bounds[block]).collect();
                Self::Several((0..division.num_blocks()).map(of_block).collect())
            }
        }
    }
}

/// Loads in proportion to `shares`, equal ones without.
fn division<'a>(
    graph: &'a Graph,
    num_blocks: usize,
    shares: Option<&Bound<'_, PyAny>>,
    fixed: Option<&Bound<'_, PyAny>>,
    settings: &'a Settings,
) -> Result<Division<'a>, Fault> {
    let (num_vertices, csr) = (graph.csr.num_nodes(), &graph.csr);
    check_memory(64 * num_blocks as u128)?;
    let shares = shares.map(|shares| Numbers::of("shares", shares)?.collect::<u32>("shares")).transpose()?;
    if let Some(count) = shares.as_ref().map(Vec::len).filter(|&count| count != num_blocks) {
        return Err(Fault::usage(format!("{count} shares are given for {num_blocks} blocks")));
    }
    let division = Division::new(csr, num_blocks, shares, settings.limits(graph, &|| num_blocks)?)?;
    Ok(division.with_fixed(fixed_vertices(fixed, num_vertices, num_blocks)?))
}

fn reported<'py>(
    py: Python<'py>,
    blocks: &[BlockId],
    report: &Report,
    division: &Division<'_>,
) -> PyResult<Found<'py>> {
    found(py, blocks, report.cut, &Known { report, bounds: Bounds::of(division) })
}

/// Partitions a graph; with `old`, adapts an older partition with few moves.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of a function of Python
pub(crate) fn partition<'py>(
    py: Python<'py>,
    graph: &Graph,
    num_blocks: usize,
    shares: Option<&Bound<'py, PyAny>>,
    old: Option<&Bound<'py, PyAny>>,
    migration_weight: f64,
    fixed: Option<&Bound<'py, PyAny>>,
    settings: Settings,
) -> PyResult<Found<'py>> {
    let csr = &graph.csr;
    check_memory(memory_of_run(csr.num_nodes(), csr.num_arcs())).or_raise()?;
    let division = division(graph, num_blocks, shares, fixed, &settings)?;
    let blocks = division.blocks().or_raise()?;
    blocks.check_enough(csr).or_raise()?;
    warn(py, division.rounded_least(csr))?;
    let homes = old
        .map(|old| Ok::<_, Fault>(PreviousAssignment::new(&pes_of("old", old)?, num_blocks)?))
        .transpose()?;
    let weight = migration_weight_of(migration_weight)?;
    let config = settings.of_partition()?;
    let machine = PreparedMachine::new(&blocks);
    let previous = homes.as_ref().map(|homes| Remapping::new(homes, weight));
    let request = division.request(csr, &machine).previous(previous).connected(settings.connected);
    let Solution { mapping, report, .. } =
        settings.run(py, |watcher| request.observed(watcher).solve(&config))?;
    reported(py, mapping.pes(), &report, &division)
}

/// The cut and the loads of a partition that is given.
#[pyfunction]
pub(crate) fn evaluate_partition<'py>(
    py: Python<'py>,
    graph: &Graph,
    num_blocks: usize,
    shares: Option<&Bound<'py, PyAny>>,
    blocks: &Bound<'py, PyAny>,
    settings: Settings,
) -> PyResult<Found<'py>> {
    let division = division(graph, num_blocks, shares, None, &settings)?;
    let mapping = Mapping::many(num_blocks, pes_of("blocks", blocks)?).or_raise()?;
    let (found, expected) = (mapping.num_processes(), graph.csr.num_nodes());
    if found != expected {
        return Err(Fault::data(format!("the partition has {found} vertices, the graph {expected}")).into());
    }
    let blocks = division.blocks().or_raise()?;
    let machine = PreparedMachine::new(&blocks);
    let report =
        division.request(&graph.csr, &machine).evaluate(&mapping, &settings.of_partition()?).or_raise()?;
    reported(py, mapping.pes(), &report, &division)
}
