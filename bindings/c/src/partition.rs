//! Partitions.
#![allow(unsafe_code)] // a foreign interface

use viem::PreparedMachine;
use viem::base::types::BlockId;
use viem::partition::{FixedVertices, MigrationWeight, PreviousAssignment, Remapping};
use viem_ffi::{Division, check_memory, count, memory_of_run, optional, put};

use crate::error::{Error, Status, call, create, given, note};
use crate::graph::Graph;
use crate::mapping::{Mapping, Report};
use crate::settings::{Settings, or_default};

/// The blocks that are asked for, as C gives them.
struct MachineSpec {
    num_blocks: i64,
    shares: *const i64,
    fixed: *const i32,
}

impl MachineSpec {
    /// # Safety
    ///
    /// The arrays are as long as `viem_partition` says, and they do not change during the call.
    unsafe fn division<'a>(&self, graph: &'a Graph, settings: &'a Settings) -> Result<Division<'a>, Error> {
        let num_blocks = block_count(self.num_blocks)?;
        check_memory(64 * num_blocks as u128)?;
        // SAFETY: the caller's promise.
        let shares = unsafe { optional("shares", self.shares, num_blocks) }?;
        let shares = shares.map(speeds).transpose()?;
        let division =
            Division::new(&graph.csr, num_blocks, shares, settings.limits(graph, &|| num_blocks)?)?;
        // SAFETY: the caller's promise.
        let fixed = unsafe { fixed_vertices(self.fixed, graph, num_blocks) }?;
        Ok(division.with_fixed(fixed))
    }
}

/// A number of blocks whose numbers C can hold.
pub fn block_count(num_blocks: i64) -> Result<usize, Error> {
    match count("num_blocks", num_blocks)? {
        count if count > i32::MAX as usize => {
            Err(Error::usage(format!("{count} blocks are too many; there are at most {}", i32::MAX)))
        }
        count => Ok(count),
    }
}

/// Shares as the library has them.
fn speeds(shares: &[i64]) -> Result<Vec<u32>, Error> {
    let speed = |(block, &share): (usize, &i64)| {
        u32::try_from(share).map_err(|_| {
            let message =
                format!("the share of block {block} is {share}; shares are numbers from 0 to {}", u32::MAX);
            Error::entry(Status::Usage, block, message)
        })
    };
    shares.iter().enumerate().map(speed).collect()
}

/// The vertices that must be in given blocks or on given PEs, -1 for those that need not; none if the array is null.
///
/// # Safety
///
/// The array has an entry for each vertex. It does not change during the call.
pub(crate) unsafe fn fixed_vertices(
    fixed: *const i32,
    graph: &Graph,
    num_blocks: usize,
) -> Result<Option<FixedVertices>, Error> {
    // SAFETY: the caller's promise.
    let Some(fixed) = unsafe { optional("fixed", fixed, graph.csr.num_nodes()) }? else { return Ok(None) };
    let mut vertices = FixedVertices::none(fixed.len(), num_blocks);
    for (vertex, &block) in fixed.iter().enumerate().filter(|&(_, &block)| block != -1) {
        let block = BlockId::try_from(block).map_err(|_| {
            let message = format!(
                "entry {vertex} of `fixed` is {block}; it is a number from 0 on, or -1 for a free vertex"
            );
            Error::entry(Status::BadData, vertex, message)
        })?;
        vertices.fix(vertex as u32, block)?;
    }
    Ok(Some(vertices))
}

/// The report of a partition, whose cost is the cut.
fn report(known: &viem::Report) -> Report {
    Report { cost: known.cut, ..Report::from(known) }
}

/// Divides a graph, from where its vertices were if that is given.
fn run(
    graph: &Graph,
    division: &Division<'_>,
    settings: &Settings,
    previous: Option<Remapping<'_>>,
) -> Result<Mapping, Error> {
    let blocks = division.blocks()?;
    blocks.check_enough(&graph.csr)?;
    division.rounded_least(&graph.csr).iter().for_each(|text| note(text));
    check_memory(memory_of_run(graph.csr.num_nodes(), graph.csr.num_arcs()))?;
    let machine = PreparedMachine::new(&blocks);
    let request =
        division.request(&graph.csr, &machine).previous(previous).connected(settings.is_connected());
    let solution = request.observed(&settings.watcher()).solve(&settings.config())?;
    Ok(Mapping::new(solution.mapping, division.num_blocks(), report(&solution.report)))
}

/// Divides a graph into blocks of bounded weight with few edges between them.
///
/// A block weighs at most `(1 + imbalance) * ceil(its share of the weight of the graph)`, if the weights of the vertices allow it; `overload` in
/// the report says whether all do. With an imbalance of 0 and vertices of weight 1, blocks have exactly their sizes. As far as bounds and vertices
/// allow it, a block weighs at least `least_load * its share`, rounded down; `viem_notes` says where that is 0, and `shortfall` in the report what
/// is missing. No block with a share
/// is empty, unless a vertex in it would exceed bounds by more. O((n + m) log k) and more, as the preset says.
///
/// - `num_blocks`: k, at least 1; no more blocks with a share than vertices
/// - `shares`: k entries, at least 0 and not all of them, in proportion to which blocks weigh; null if all are equal. A block of share 0 stays
///   empty
/// - `fixed`: n entries, the block that each vertex must be in, or -1; null if all vertices are free
/// - `settings`: null for those of VIEM_PRESET_ECO
/// - `partition`: gets the blocks as a mapping, which `viem_mapping_free` frees; null on failure
///
/// # Safety
///
/// The arrays have these lengths. They do not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_partition(
    graph: Option<&Graph>,
    num_blocks: i64,
    shares: *const i64,
    fixed: *const i32,
    settings: Option<&Settings>,
    partition: *mut *mut Mapping,
    error: *mut *mut Error,
) -> Status {
    create(("partition", partition), error, || {
        let (graph, settings) = (given("graph", graph)?, or_default(settings));
        // SAFETY: the caller's promise.
        let division = unsafe { MachineSpec { num_blocks, shares, fixed }.division(graph, settings) }?;
        run(graph, &division, settings, None)
    })
}

/// Adapts a partition after shares, weights or edges have changed, with few moves: minimises the cut plus `migration_weight` times the weight
/// of the vertices that move. The graph has the vertices of the old partition.
///
/// - `old`: the block that each vertex is in
/// - `migration_weight`: at least 0; 1 lets a vertex of weight 1 move if that saves more than one edge of weight 1
/// - the rest as for `viem_partition`
///
/// # Safety
///
/// As for `viem_partition`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_repartition(
    graph: Option<&Graph>,
    num_blocks: i64,
    shares: *const i64,
    fixed: *const i32,
    old: Option<&Mapping>,
    migration_weight: f64,
    settings: Option<&Settings>,
    partition: *mut *mut Mapping,
    error: *mut *mut Error,
) -> Status {
    create(("partition", partition), error, || {
        let (graph, settings, old) = (given("graph", graph)?, or_default(settings), given("old", old)?);
        // SAFETY: the caller's promise.
        let division = unsafe { MachineSpec { num_blocks, shares, fixed }.division(graph, settings) }?;
        let weight = migration_weight_of(migration_weight)?;
        let homes = PreviousAssignment::new(old.inner.pes(), division.num_blocks())?;
        run(graph, &division, settings, Some(Remapping::new(&homes, weight)))
    })
}

/// A weight of migration that the library can hold.
pub fn migration_weight_of(value: f64) -> Result<MigrationWeight, Error> {
    if value >= 0.0 && value <= MigrationWeight::MOST as f64 {
        return Ok(MigrationWeight::rounded(value));
    }
    let most = MigrationWeight::MOST;
    Err(Error::usage(format!(
        "the argument `migration_weight` is {value}; it must be a number from 0 to {most}"
    )))
}

/// Reports the cut and the loads of a partition that is given. Imbalance and least load of the settings decide the bounds.
///
/// # Safety
///
/// As for `viem_partition`; `report` leads to memory for a report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_evaluate_partition(
    graph: Option<&Graph>,
    num_blocks: i64,
    shares: *const i64,
    partition: Option<&Mapping>,
    settings: Option<&Settings>,
    report: *mut Report,
    error: *mut *mut Error,
) -> Status {
    call(error, || {
        let (graph, settings, partition) =
            (given("graph", graph)?, or_default(settings), given("partition", partition)?);
        let wanted = MachineSpec { num_blocks, shares, fixed: std::ptr::null() };
        // SAFETY: the caller's promise.
        let division = unsafe { wanted.division(graph, settings) }?;
        let (found, expected) = (partition.inner.num_processes(), graph.csr.num_nodes());
        if found != expected {
            return Err(Error::plain(
                Status::BadData,
                format!("the partition has {found} vertices, the graph {expected}"),
            ));
        }
        division.rounded_least(&graph.csr).iter().for_each(|text| note(text));
        let blocks = division.blocks()?;
        let machine = PreparedMachine::new(&blocks);
        let known = division.request(&graph.csr, &machine).evaluate(&partition.inner, &settings.config())?;
        let found = self::report(&known);
        // SAFETY: the caller's promise.
        Ok(unsafe { put("report", report, found) }?)
    })
}
