//! Partitions.

use std::time::Instant;

use pyo3::prelude::*;
use serde::Serialize;
use viem::ground::observer::Limited;
use viem::ground::types::{Cost, Weight};
use viem::partition::{Homes, Migration};
use viem::{Mapping, Partition, Partitioner};
use viem_ffi::{Balance, Division, check_memory, memory_of_run};

use crate::error::{Fault, OrRaise};
use crate::graph::Graph;
use crate::map::{Found, fixed_vertices, found, migration_weight_of, pes_of, warn};
use crate::numbers::Numbers;
use crate::run::Settings;

/// What is known of a partition.
#[derive(Serialize)]
struct Report<'a> {
    num_vertices: usize,
    num_edges: usize,
    cut: Cost,
    loads: &'a [Weight],
    bounds: &'a [Weight],
    overload: Weight,
    below_half: usize,
    below_least: usize,
    shortfall: Weight,
    migration: Option<Migration>,
    stopped: bool,
    seconds: f64,
}

/// Loads in proportion to `shares`, equal ones without.
fn division(
    graph: &Graph,
    num_blocks: usize,
    shares: Option<&Bound<'_, PyAny>>,
    fixed: Option<&Bound<'_, PyAny>>,
    balance: Balance,
) -> Result<Division, Fault> {
    let (num_vertices, csr) = (graph.csr.num_nodes(), &graph.csr);
    check_memory(64 * num_blocks as u128)?;
    let shares = shares.map(|shares| Numbers::of("shares", shares)?.collect::<u32>("shares")).transpose()?;
    if let Some(count) = shares.as_ref().map(Vec::len).filter(|&count| count != num_blocks) {
        return Err(Fault::usage(format!("{count} shares are given for {num_blocks} blocks")));
    }
    let division = Division::new(csr, num_blocks, shares, balance)?;
    Ok(division.with_fixed(csr, fixed_vertices(fixed, num_vertices, num_blocks)?)?)
}

fn reported<'py>(
    py: Python<'py>,
    graph: &Graph,
    (partition, migration): (&Partition, Option<Migration>),
    division: &Division,
    (stopped, begin): (bool, Instant),
) -> PyResult<Found<'py>> {
    let low = division.low_loads(partition);
    let report = Report {
        num_vertices: graph.csr.num_nodes(),
        num_edges: graph.csr.num_edges(),
        cut: partition.cut(),
        loads: partition.block_weights(),
        bounds: division.targets().bounds(),
        overload: partition.overload(),
        below_half: low.below_half,
        below_least: low.below_least,
        shortfall: low.shortfall,
        migration,
        stopped,
        seconds: begin.elapsed().as_secs_f64(),
    };
    found(py, partition.blocks(), partition.cut(), &report)
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
    let begin = Instant::now();
    let csr = &graph.csr;
    check_memory(memory_of_run(csr.num_nodes(), csr.num_arcs())).or_raise()?;
    let division = division(graph, num_blocks, shares, fixed, settings.balance())?;
    division.check_enough(csr).or_raise()?;
    warn(py, division.rounded_least(csr, settings.balance().least_load))?;
    let targets = division.targets();
    let partitioner = Partitioner::new(settings.partition_preset()?, settings.seed());
    let homes =
        old.map(|old| Ok::<_, Fault>(Homes::new(&pes_of("old", old)?, &[], num_blocks)?)).transpose()?;
    let weight = migration_weight_of(migration_weight)?;
    let limit = settings.time_limit()?;
    let (partition, migration, stopped) = settings.run(py, |watcher| -> Result<_, Fault> {
        let limited = Limited::new(watcher, begin, limit, Cost::MAX);
        let stopped = || watcher.has_stopped() || limit.is_some_and(|limit| begin.elapsed() >= limit);
        let Some(homes) = &homes else {
            let partition = partitioner.partition_watched(csr, targets, &limited);
            return Ok((partition, None, stopped()));
        };
        let remapped = partitioner.remap_watched(csr, targets, homes, weight, &limited)?;
        Ok((remapped.partition, Some(remapped.migration), stopped()))
    })?;
    reported(py, graph, (&partition, migration), &division, (stopped, begin))
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
    let begin = Instant::now();
    let division = division(graph, num_blocks, shares, None, settings.balance())?;
    let blocks = Mapping::many(num_blocks, pes_of("blocks", blocks)?).or_raise()?.into_pes();
    if blocks.len() != graph.csr.num_nodes() {
        let (found, expected) = (blocks.len(), graph.csr.num_nodes());
        return Err(Fault::data(format!("the partition has {found} vertices, the graph {expected}")).into());
    }
    let partition = Partition::of(&graph.csr, blocks, division.targets());
    reported(py, graph, (&partition, None), &division, (false, begin))
}
