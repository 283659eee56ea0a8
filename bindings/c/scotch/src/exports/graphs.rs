//! Graphs, and tables of numbers for their vertices.
#![allow(unsafe_code, non_snake_case, clippy::too_many_arguments)] // a foreign interface

use std::ffi::c_int;
use std::ptr::null_mut;

use libc::FILE;
use viem_ffi::{array, array_mut, put_if_wanted};

use super::functions;
use crate::files::{self, Numbers};
use crate::graph::Arrays;
use crate::objects::{self, Object};
use crate::read::Structure;
use crate::{Num, text};

/// The bytes of structures, as the header of Scotch 7.0 has them.
pub(super) const ARCH: usize = if size_of::<Num>() == 8 { 96 } else { 88 };
const GRAPH: usize = if size_of::<Num>() == 8 { 120 } else { 96 };

/// A structure in new memory.
pub(super) fn allocated(bytes: usize) -> Result<Structure, String> {
    // SAFETY: `calloc` takes any size.
    let memory = unsafe { libc::calloc(1, bytes) };
    if memory.is_null() { Err("there is no memory for a structure".into()) } else { Ok(memory) }
}

functions! {
    /// Allocates a graph.
    SCOTCH_graphAlloc() -> Structure { allocated(GRAPH) }
    /// The bytes of a graph.
    SCOTCH_graphSizeof() -> c_int { Ok(GRAPH as c_int) }
    /// Initialises a graph.
    SCOTCH_graphInit(graph: Structure) -> c_int { objects::remove(graph); Ok(0) }
    /// Frees what belongs to a graph.
    SCOTCH_graphExit(graph: Structure) -> () { objects::remove(graph); Ok(()) }
    /// Frees what belongs to a graph, which may be built again.
    SCOTCH_graphFree(graph: Structure) -> () { objects::remove(graph); Ok(()) }
    /// Builds a graph from arrays, which stay those of the program.
    SCOTCH_graphBuild(
        graph: Structure,
        base: Num,
        num_vertices: Num,
        begins: *mut Num,
        ends: *mut Num,
        vertex_weights: *mut Num,
        labels: *mut Num,
        num_arcs: Num,
        targets: *mut Num,
        edge_weights: *mut Num,
    ) -> c_int {
        // In Fortran, where no array can be null, arrays that are left out are the same as another one.
        let unless = |array: *mut Num, other: *mut Num| if array == other { null_mut() } else { array };
        let ends = unless(ends, begins);
        let ends = if ends.is_null() { begins.wrapping_add(1) } else { ends };
        let (vertex_weights, labels) = (unless(vertex_weights, begins), unless(labels, begins));
        let edge_weights = unless(edge_weights, targets);
        let arrays = Arrays { base, num_vertices, num_arcs, begins, ends, vertex_weights, labels, targets, edge_weights };
        if !(0..=1).contains(&base) || num_vertices < 0 || num_arcs < 0 {
            return Err("the base is neither 0 nor 1, or a number is negative".into());
        }
        objects::put(graph, Object::Graph(arrays), Vec::new());
        Ok(0)
    }
    /// Numbers vertices and arcs from another base; the one before.
    SCOTCH_graphBase(graph: Structure, base: Num) -> Num {
        // SAFETY: the caller's promise.
        unsafe { rebased(graph, base) }
    }
    /// Checks a graph.
    SCOTCH_graphCheck(graph: Structure) -> c_int {
        let arrays = objects::graph(graph)?;
        // SAFETY: the caller's promise.
        let view = unsafe { arrays.view() }?;
        view.check()?;
        match view.num_arcs() as i64 == i64::from(arrays.num_arcs) {
            true => Ok(0),
            false => Err(format!("the graph has {} arcs, and not {}", view.num_arcs(), arrays.num_arcs)),
        }
    }
    /// The arrays of a graph.
    SCOTCH_graphData(
        graph: Structure,
        base: *mut Num,
        num_vertices: *mut Num,
        begins: *mut *mut Num,
        ends: *mut *mut Num,
        vertex_weights: *mut *mut Num,
        labels: *mut *mut Num,
        num_arcs: *mut Num,
        targets: *mut *mut Num,
        edge_weights: *mut *mut Num,
    ) -> () {
        let arrays = objects::graph(graph)?;
        // SAFETY: the caller's promise.
        unsafe {
            put_if_wanted(base, arrays.base);
            put_if_wanted(num_vertices, arrays.num_vertices);
            put_if_wanted(begins, arrays.begins);
            put_if_wanted(ends, arrays.ends);
            put_if_wanted(vertex_weights, arrays.vertex_weights);
            put_if_wanted(labels, arrays.labels);
            put_if_wanted(num_arcs, arrays.num_arcs);
            put_if_wanted(targets, arrays.targets);
            put_if_wanted(edge_weights, arrays.edge_weights);
        }
        Ok(())
    }
    /// The numbers of vertices and arcs.
    SCOTCH_graphSize(graph: Structure, num_vertices: *mut Num, num_arcs: *mut Num) -> () {
        let arrays = objects::graph(graph)?;
        // SAFETY: the caller's promise.
        unsafe {
            put_if_wanted(num_vertices, arrays.num_vertices);
            put_if_wanted(num_arcs, arrays.num_arcs);
        }
        Ok(())
    }
    /// Reads a graph.
    SCOTCH_graphLoad(graph: Structure, file: *mut FILE, base: Num, omitted: Num) -> c_int {
        // SAFETY: the caller's promise.
        let (arrays, owned) = files::load_graph(&mut unsafe { Numbers::of(file) }?, base, omitted)?;
        objects::put(graph, Object::Graph(arrays), owned);
        Ok(0)
    }
    /// Writes a graph.
    SCOTCH_graphSave(graph: Structure, file: *mut FILE) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { files::write(file, &files::graph_text(&objects::graph(graph)?.view()?)) }.map(|()| 0)
    }
    /// Reads a number for each vertex.
    SCOTCH_graphTabLoad(graph: Structure, table: *mut Num, file: *mut FILE) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { load_table(graph, table, file) }
    }
    /// Writes a number for each vertex.
    SCOTCH_graphTabSave(graph: Structure, table: *const Num, file: *mut FILE) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { save_table(graph, table, file) }
    }
    /// Reads the numbers of a mapping.
    SCOTCH_graphMapLoad(graph: Structure, mapping: Structure, file: *mut FILE) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { load_table(graph, objects::mapping(mapping)?.parts, file) }
    }
    /// Writes the numbers of a mapping.
    SCOTCH_graphMapSave(graph: Structure, mapping: Structure, file: *mut FILE) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { save_table(graph, objects::mapping(mapping)?.parts, file) }
    }
}

/// # Safety
///
/// The table has a number for each vertex, and the file is open.
unsafe fn load_table(graph: Structure, table: *mut Num, file: *mut FILE) -> Result<c_int, String> {
    // SAFETY: this and what follows: the caller's promise.
    let view = unsafe { objects::graph(graph)?.view() }?;
    let table = unsafe { array_mut("parttab", table, view.num_vertices()) }.map_err(text)?;
    files::load_table(&mut unsafe { Numbers::of(file) }?, &view, table)?;
    Ok(0)
}

/// # Safety
///
/// As for [`load_table`].
unsafe fn save_table(graph: Structure, table: *const Num, file: *mut FILE) -> Result<c_int, String> {
    // SAFETY: this and what follows: the caller's promise.
    let view = unsafe { objects::graph(graph)?.view() }?;
    let table = unsafe { array("parttab", table, view.num_vertices()) }.map_err(text)?;
    unsafe { files::write(file, &files::table_text(&view, table)) }?;
    Ok(0)
}

/// Numbers the vertices and arcs of a graph from another base.
///
/// # Safety
///
/// The arrays of the graph are as long as Scotch says.
unsafe fn rebased(graph: Structure, base: Num) -> Result<Num, String> {
    // SAFETY: this and what follows: the caller's promise.
    let mut arrays = objects::graph(graph)?;
    let (before, step) = (arrays.base, base - arrays.base);
    let (n, extent, is_compact) = unsafe {
        let view = arrays.view()?;
        (view.num_vertices(), view.extent(), arrays.ends == arrays.begins.wrapping_add(1))
    };
    let shift = |pointer: *mut Num, length: usize| -> Result<(), String> {
        let entries = unsafe { array_mut("an array of the graph", pointer, length) }.map_err(text)?;
        entries.iter_mut().for_each(|entry| *entry = entry.wrapping_add(step));
        Ok(())
    };
    shift(arrays.begins, if is_compact { n + 1 } else { n })?;
    shift(arrays.ends, if is_compact { 0 } else { n })?;
    shift(arrays.targets, extent)?;
    arrays.base = base;
    objects::set_graph(graph, arrays);
    Ok(before)
}
