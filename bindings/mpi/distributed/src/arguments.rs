//! The input of a rank, as C has it.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::c_void;

use viem::base::types::{BlockId, NodeId};
use viem_c::error::{Error, Status};
use viem_c::machine::Machine;
use viem_c::mapping::Report;
use viem_c::settings::Settings;
use viem_distributed::graph::Rows;
use viem_distributed::solve::Given;
use viem_ffi::{Integers, array, array_mut, check_memory, memory_of_graph, optional};

/// The part of a graph that a rank has, as `viem_dist.h` declares it.
#[repr(C)]
pub struct Graph {
    vtxdist: *const c_void,
    xadj: *const c_void,
    adjncy: *const c_void,
    vwgt: *const c_void,
    adjwgt: *const c_void,
    bits: i32,
    num_weights: i32,
}

impl Graph {
    /// The number of weights of each vertex.
    fn num_weights(&self) -> Result<usize, Error> {
        let message =
            || format!("the vertices of `graph` have {} weights; it must be 1 or more", self.num_weights);
        let given = usize::try_from(self.num_weights).map_err(|_| Error::usage(message()))?;
        Ok(given.max(1))
    }

    /// An array of this graph.
    ///
    /// # Safety
    ///
    /// It has this length, and it does not change while this is in use.
    unsafe fn array(
        &self,
        name: &'static str,
        first: *const c_void,
        length: usize,
    ) -> Result<Integers<'_>, Error> {
        let is_short = match self.bits {
            32 => true,
            0 | 64 => false,
            bits => {
                let message = format!("the entries of `graph` have {bits} bits; it must be 32 or 64");
                return Err(Error::usage(message));
            }
        };
        // SAFETY: the caller's promise.
        Ok(unsafe { Integers::at_pointer(name, first, length, is_short) }?)
    }

    /// The same, if there is one.
    ///
    /// # Safety
    ///
    /// As for [`array`](Self::array).
    unsafe fn optional(
        &self,
        name: &'static str,
        first: *const c_void,
        length: usize,
    ) -> Result<Option<Integers<'_>>, Error> {
        if first.is_null() {
            return Ok(None);
        }
        // SAFETY: the caller's promise.
        unsafe { self.array(name, first, length) }.map(Some)
    }
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
    /// The first vertex of each rank.
    pub(crate) starts: Vec<i64>,
    pub(crate) rows: Rows,
    pub(crate) old: Option<Vec<BlockId>>,
    pub(crate) fixed: Option<Vec<BlockId>>,
}

impl Arguments {
    /// # Safety
    ///
    /// The arrays have the lengths that `viem_dist.h` says, and they do not change during the call.
    pub(crate) unsafe fn part(&self, rank: usize, size: usize) -> Result<Part, Error> {
        // SAFETY: the caller's promise.
        let graph = &unsafe { array("graph", self.graph, 1) }?[0];
        // SAFETY: the caller's promise, for this and the arrays below.
        let starts = starts_of(unsafe { graph.array("vtxdist", graph.vtxdist, size + 1) }?)?;
        let count = (starts[rank + 1] - starts[rank]) as usize;
        check_memory(memory_of_graph(count, 0))?;
        // A rank without vertices may give no offsets.
        let offsets = match (count, graph.xadj.is_null()) {
            (0, true) => Integers::Of64(&[0]),
            // SAFETY: as above.
            _ => unsafe { graph.array("xadj", graph.xadj, count + 1) }?,
        };
        let offsets = offsets_of(offsets)?;
        let num_arcs = offsets[count];
        check_memory(memory_of_graph(count, num_arcs))?;
        // SAFETY: as above, and the offsets are checked.
        let targets = unsafe { graph.array("adjncy", graph.adjncy, num_arcs) }?;
        let num_weights = graph.num_weights()?;
        check_memory(16 * (count * num_weights) as u128)?;
        // SAFETY: as above.
        let node_weights = unsafe { graph.optional("vwgt", graph.vwgt, count * num_weights) }?;
        // SAFETY: as above.
        let edge_weights = unsafe { graph.optional("adjwgt", graph.adjwgt, num_arcs) }?;
        let rows = Rows {
            offsets,
            targets: targets_of(targets, starts[size])?,
            edge_weights: edge_weights.map(Integers::to_vec),
            node_weights: node_weights.map(Integers::to_vec),
            num_weights,
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
        Ok(Part { starts, rows, old, fixed })
    }

    /// Writes the blocks of this many vertices.
    ///
    /// # Safety
    ///
    /// The array has this length, and is not in use elsewhere.
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

fn starts_of(starts: Integers<'_>) -> Result<Vec<i64>, Error> {
    let most = i64::from(NodeId::MAX) - 1;
    starts.each(|index, start| match index {
        0 if start != 0 => Err(entry("vtxdist", index, start, "the first is 0")),
        1.. if start < starts.at(index - 1) => {
            Err(entry("vtxdist", index, start, "the entries must not fall"))
        }
        _ if start > most => {
            Err(entry("vtxdist", index, start, &format!("there are at most {most} vertices")))
        }
        _ => Ok(start),
    })
}

fn offsets_of(offsets: Integers<'_>) -> Result<Vec<usize>, Error> {
    offsets.each(|index, offset| match index {
        0 if offset != 0 => Err(entry("xadj", index, offset, "the first is 0")),
        1.. if offset < offsets.at(index - 1) => Err(entry("xadj", index, offset, "offsets must not fall")),
        _ => Ok(offset as usize),
    })
}

fn targets_of(targets: Integers<'_>, total: i64) -> Result<Vec<NodeId>, Error> {
    targets.each(|index, target| match NodeId::try_from(target) {
        Ok(known) if target < total => Ok(known),
        _ => Err(entry("adjncy", index, target, &format!("there are {total} vertices, counted from 0"))),
    })
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
