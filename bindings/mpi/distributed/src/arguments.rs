//! What a rank gives, as C has it.
#![allow(unsafe_code)] // a foreign interface

use viem::ground::types::{BlockId, NodeId};
use viem_c::error::{Error, Status};
use viem_c::machine::Machine;
use viem_c::mapping::Report;
use viem_c::settings::Settings;
use viem_distributed::graph::Rows;
use viem_distributed::solve::Given;
use viem_ffi::{array, array_mut, check_memory, memory_of_graph, optional};

/// The part of a graph that a rank has, as `viem_dist.h` declares it.
#[repr(C)]
pub struct Graph {
    vtxdist: *const i64,
    xadj: *const i64,
    adjncy: *const i64,
    vwgt: *const i64,
    adjwgt: *const i64,
}

/// The arguments of a call, as `distributed.h` declares them.
#[repr(C)]
pub struct Arguments {
    graph: *const Graph,
    pub(crate) machine: *const Machine,
    /// 1 if null is wrong.
    pub(crate) needs_machine: i32,
    pub(crate) num_blocks: i64,
    old: *const i32,
    pub(crate) migration_weight: f64,
    /// 1 if there are old blocks.
    pub(crate) remaps: i32,
    fixed: *const i32,
    pub(crate) settings: *const Settings,
    blocks: *mut i32,
    pub(crate) report: *mut Report,
}

/// The arrays of a rank, checked and copied.
pub(crate) struct Part {
    /// Where the vertices of each rank begin.
    pub(crate) starts: Vec<i64>,
    pub(crate) rows: Rows,
    pub(crate) old: Option<Vec<BlockId>>,
    pub(crate) fixed: Option<Vec<BlockId>>,
}

impl Arguments {
    /// # Safety
    ///
    /// The arrays have the lengths that `viem_dist.h` says, and nobody changes them during the call.
    pub(crate) unsafe fn part(&self, rank: usize, size: usize) -> Result<Part, Error> {
        // SAFETY: the caller's promise.
        let graph = unsafe { array("graph", self.graph, 1) }?;
        // SAFETY: the caller's promise, for this and the arrays below.
        let starts = unsafe { array("vtxdist", graph[0].vtxdist, size + 1) }?;
        check_starts(starts)?;
        let count = (starts[rank + 1] - starts[rank]) as usize;
        check_memory(memory_of_graph(count, 0))?;
        // A rank without vertices may give no offsets.
        let offsets = match (count, graph[0].xadj.is_null()) {
            (0, true) => &[0],
            // SAFETY: as above.
            _ => unsafe { array("xadj", graph[0].xadj, count + 1) }?,
        };
        let offsets = offsets_of(offsets)?;
        let num_arcs = offsets[count];
        check_memory(memory_of_graph(count, num_arcs))?;
        // SAFETY: as above, and the offsets are checked.
        let targets = unsafe { array("adjncy", graph[0].adjncy, num_arcs) }?;
        // SAFETY: as above.
        let node_weights = unsafe { optional("vwgt", graph[0].vwgt, count) }?;
        // SAFETY: as above.
        let edge_weights = unsafe { optional("adjwgt", graph[0].adjwgt, num_arcs) }?;
        let rows = Rows {
            offsets,
            targets: targets_of(targets, starts[size])?,
            edge_weights: edge_weights.map(<[i64]>::to_vec),
            node_weights: node_weights.map(<[i64]>::to_vec),
        };
        // SAFETY: as above.
        let fixed = unsafe { optional("fixed", self.fixed, count) }?;
        let old = match self.remaps {
            0 => None,
            // SAFETY: as above.
            _ => Some(unsafe { array("old", self.old, count) }?),
        };
        // Where the result goes is checked before any work.
        // SAFETY: as above; the array is given for the result.
        unsafe { array_mut("blocks", self.blocks, count) }?;
        let old = old.map(|old| blocks_of("old", old)).transpose()?;
        let fixed = fixed.map(|fixed| blocks_of("fixed", fixed)).transpose()?;
        Ok(Part { starts: starts.to_vec(), rows, old, fixed })
    }

    /// Where the blocks of this many vertices go.
    ///
    /// # Safety
    ///
    /// The array has this length, and nobody else uses it.
    pub(crate) unsafe fn put_blocks(&self, blocks: &[BlockId]) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let places = unsafe { array_mut("blocks", self.blocks, blocks.len()) }?;
        for (place, &block) in places.iter_mut().zip(blocks) {
            *place = block as i32;
        }
        Ok(())
    }
}

fn entry(array: &str, index: usize, value: i64, what: &str) -> Error {
    Error::entry(Status::BadData, index, format!("entry {index} of `{array}` is {value}; {what}"))
}

fn check_starts(starts: &[i64]) -> Result<(), Error> {
    let most = i64::from(NodeId::MAX) - 1;
    for (index, &start) in starts.iter().enumerate() {
        let before = if index == 0 { 0 } else { starts[index - 1] };
        match index {
            0 if start != 0 => return Err(entry("vtxdist", index, start, "the first is 0")),
            _ if start < before => return Err(entry("vtxdist", index, start, "the entries must not fall")),
            _ if start > most => {
                return Err(entry("vtxdist", index, start, &format!("there are at most {most} vertices")));
            }
            _ => {}
        }
    }
    Ok(())
}

fn offsets_of(offsets: &[i64]) -> Result<Vec<usize>, Error> {
    let mut last = 0;
    let mut checked = Vec::with_capacity(offsets.len());
    for (index, &offset) in offsets.iter().enumerate() {
        match index {
            0 if offset != 0 => return Err(entry("xadj", index, offset, "the first is 0")),
            _ if offset < last => return Err(entry("xadj", index, offset, "offsets must not fall")),
            _ => checked.push(offset as usize),
        }
        last = offset;
    }
    Ok(checked)
}

fn targets_of(targets: &[i64], total: i64) -> Result<Vec<NodeId>, Error> {
    let target = |(index, &target): (usize, &i64)| match NodeId::try_from(target) {
        Ok(known) if target < total => Ok(known),
        _ => Err(entry("adjncy", index, target, &format!("there are {total} vertices, counted from 0"))),
    };
    targets.iter().enumerate().map(target).collect()
}

/// Blocks, where -1 is none.
fn blocks_of(name: &str, blocks: &[i32]) -> Result<Vec<BlockId>, Error> {
    let block = |(index, &block): (usize, &i32)| match block {
        -1 => Ok(Given::FREE),
        0.. => Ok(block as BlockId),
        _ => Err(entry(name, index, block.into(), "it is a number from 0 on, or -1 for none")),
    };
    blocks.iter().enumerate().map(block).collect()
}
