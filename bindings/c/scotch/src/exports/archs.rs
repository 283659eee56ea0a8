//! Target architectures.
#![allow(unsafe_code, non_snake_case)] // a foreign interface

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::{CStr, c_char, c_int};

use libc::FILE;
use viem_ffi::{array, count, optional};
use viem_io::target::{self, Base};

use super::functions;
use super::graphs::{ARCH, allocated};
use crate::arch::{self, MOST_LISTED};
use crate::files;
use crate::graph::View;
use crate::objects::{self, Object};
use crate::read::{self, Structure};
use crate::{Num, text};

/// Lets a structure stand for an architecture as Scotch writes it.
fn put(structure: Structure, architecture: String) -> Result<c_int, String> {
    arch::size(&architecture)?;
    objects::put(structure, Object::Arch(architecture), Vec::new());
    Ok(0)
}

/// The same from the kind of the architecture and its numbers.
fn put_kind(
    structure: Structure,
    kind: &str,
    numbers: impl IntoIterator<Item = Num>,
) -> Result<c_int, String> {
    put(structure, format!("{kind}\n{}\n", joined(numbers)))
}

fn joined(numbers: impl IntoIterator<Item = impl ToString>) -> String {
    numbers.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}

/// The kinds of architectures.
const KINDS: [&CStr; 13] = [
    c"cmplt", c"cmpltw", c"deco", c"hcub", c"ltleaf", c"mesh2D", c"mesh3D", c"meshXD", c"sub", c"tleaf",
    c"torus2D", c"torus3D", c"torusXD",
];

/// A count before the numbers of an array.
///
/// # Safety
///
/// The array is as long.
unsafe fn counted(name: &'static str, number: Num, pointer: *const Num) -> Result<Vec<Num>, String> {
    let length = count(name, number.into()).map_err(text)?;
    // SAFETY: the caller's promise.
    let numbers = unsafe { array(name, pointer, length) }.map_err(text)?;
    Ok([&[number], numbers].concat())
}

functions! {
    /// Allocates an architecture.
    SCOTCH_archAlloc() -> Structure { allocated(ARCH) }
    /// The bytes of an architecture.
    SCOTCH_archSizeof() -> c_int { Ok(ARCH as c_int) }
    /// Initialises an architecture.
    SCOTCH_archInit(arch: Structure) -> c_int { objects::remove(arch); Ok(0) }
    /// Frees what belongs to an architecture.
    SCOTCH_archExit(arch: Structure) -> () { objects::remove(arch); Ok(()) }
    /// The name of the kind of an architecture.
    SCOTCH_archName(arch: Structure) -> *mut c_char {
        let architecture = objects::arch(arch)?;
        let name = KINDS.into_iter().find(|name| name.to_bytes() == arch::kind(&architecture).as_bytes());
        Ok(name.unwrap_or_default().as_ptr().cast_mut())
    }
    /// The number of PEs.
    SCOTCH_archSize(arch: Structure) -> Num { Num::try_from(arch::size(&objects::arch(arch)?)?).map_err(text) }
    /// Returns whether the number of PEs is not fixed.
    SCOTCH_archVar(arch: Structure) -> c_int { objects::arch(arch).map(|_| 0) }
    /// Reads an architecture.
    SCOTCH_archLoad(arch: Structure, file: *mut FILE) -> c_int {
        // SAFETY: the caller's promise.
        put(arch, unsafe { files::rest(file) }?)
    }
    /// Writes an architecture.
    SCOTCH_archSave(arch: Structure, file: *mut FILE) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { files::write(file, &objects::arch(arch)?) }.map(|()| 0)
    }
    /// Makes a complete graph.
    SCOTCH_archCmplt(arch: Structure, size: Num) -> c_int { put_kind(arch, "cmplt", [size]) }
    /// Makes a complete graph of PEs with weights.
    SCOTCH_archCmpltw(arch: Structure, size: Num, weights: *const Num) -> c_int {
        // SAFETY: the caller's promise.
        put_kind(arch, "cmpltw", unsafe { counted("velotab", size, weights) }?)
    }
    /// Makes a hypercube.
    SCOTCH_archHcub(arch: Structure, dimension: Num) -> c_int { put_kind(arch, "hcub", [dimension]) }
    /// Makes a mesh of two dimensions.
    SCOTCH_archMesh2(arch: Structure, x: Num, y: Num) -> c_int { put_kind(arch, "mesh2D", [x, y]) }
    /// Makes a mesh of three dimensions.
    SCOTCH_archMesh3(arch: Structure, x: Num, y: Num, z: Num) -> c_int { put_kind(arch, "mesh3D", [x, y, z]) }
    /// Makes a mesh of any dimensions.
    SCOTCH_archMeshX(arch: Structure, dimensions: Num, lengths: *const Num) -> c_int {
        // SAFETY: the caller's promise.
        put_kind(arch, "meshXD", unsafe { counted("dimntab", dimensions, lengths) }?)
    }
    /// Makes a torus of two dimensions.
    SCOTCH_archTorus2(arch: Structure, x: Num, y: Num) -> c_int { put_kind(arch, "torus2D", [x, y]) }
    /// Makes a torus of three dimensions.
    SCOTCH_archTorus3(arch: Structure, x: Num, y: Num, z: Num) -> c_int { put_kind(arch, "torus3D", [x, y, z]) }
    /// Makes a torus of any dimensions.
    SCOTCH_archTorusX(arch: Structure, dimensions: Num, lengths: *const Num) -> c_int {
        // SAFETY: the caller's promise.
        put_kind(arch, "torusXD", unsafe { counted("dimntab", dimensions, lengths) }?)
    }
    /// Makes a tree from the number of parts at each level and the cost to leave one of them, outermost first.
    SCOTCH_archTleaf(arch: Structure, levels: Num, sizes: *const Num, costs: *const Num) -> c_int {
        // SAFETY: the caller's promise.
        let (sizes, costs) = unsafe { (counted("sizetab", levels, sizes)?, counted("linktab", levels, costs)?) };
        let pairs = sizes[1..].iter().zip(&costs[1..]).flat_map(|(&size, &cost)| [size, cost]);
        put_kind(arch, "tleaf", [levels].into_iter().chain(pairs))
    }
    /// Makes an architecture of some PEs of another one.
    SCOTCH_archSub(arch: Structure, whole: Structure, number: Num, list: *const Num) -> c_int {
        // SAFETY: the caller's promise.
        let list = unsafe { counted("listtab", number, list) }?;
        put(arch, format!("sub\n{}\n{}", joined(list), objects::arch(whole)?))
    }
    /// Makes an architecture of some vertices of a graph, or of all; their distances are the lengths of the shortest paths.
    SCOTCH_archBuild(arch: Structure, graph: Structure, number: Num, list: *const Num, _strategy: Structure) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { build(arch, graph, number, list) }
    }
    /// The same by the first method of Scotch.
    SCOTCH_archBuild0(arch: Structure, graph: Structure, number: Num, list: *const Num, _strategy: Structure) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { build(arch, graph, number, list) }
    }
    /// The same by the second method of Scotch.
    SCOTCH_archBuild2(arch: Structure, graph: Structure, number: Num, list: *const Num) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { build(arch, graph, number, list) }
    }
}

/// Lets a structure stand for listed vertices of a graph.
///
/// # Safety
///
/// The graph was initialised, and the list is as long.
unsafe fn build(arch: Structure, graph: Structure, number: Num, list: *const Num) -> Result<c_int, String> {
    let number = count("listnbr", number.into()).map_err(text)?;
    // SAFETY: this and what follows: the caller's promise.
    let view = unsafe { read::graph(graph)?.view() }?;
    let list: Vec<usize> = match unsafe { optional("listtab", list, number) }.map_err(text)? {
        None | Some([]) => (0..view.num_vertices()).collect(),
        Some(list) => {
            let vertex = |&vertex: &Num| usize::try_from(i64::from(vertex) - view.base).map_err(text);
            list.iter().map(vertex).collect::<Result<_, _>>()?
        }
    };
    view.check()?;
    if list.is_empty() || list.len() > MOST_LISTED || list.iter().any(|&vertex| vertex >= view.num_vertices())
    {
        return Err("the list is empty, too long, or has a vertex that does not exist".into());
    }
    let mut triangle = Vec::with_capacity(list.len() * list.len() / 2);
    for (position, &vertex) in list.iter().enumerate() {
        let from = paths(&view, vertex);
        for &other in &list[..position] {
            triangle.push(from[other].ok_or("the graph of the architecture is not connected")?);
        }
    }
    let weight =
        |&vertex: &usize| view.vertex_weights.map_or(Ok(1), |weights| u32::try_from(weights[vertex]));
    let capacities: Vec<u32> = list.iter().map(weight).collect::<Result<_, _>>().map_err(text)?;
    let domains = target::balanced_domains(list.len());
    let mut architecture = Vec::new();
    target::write(&mut architecture, &Base::Decomposition { capacities, domains, triangle }).map_err(text)?;
    put(arch, String::from_utf8(architecture).map_err(text)?)
}

/// The lengths of the shortest paths from a vertex, by Dijkstra's algorithm; none where there is no path. O(m log n).
fn paths(view: &View<'_>, from: usize) -> Vec<Option<i64>> {
    let mut lengths = vec![None; view.num_vertices()];
    let mut queue = BinaryHeap::from([(Reverse(0i64), from)]);
    while let Some((Reverse(length), vertex)) = queue.pop() {
        if lengths[vertex].is_some() {
            continue;
        }
        lengths[vertex] = Some(length);
        for (other, weight) in view.arcs(vertex) {
            if lengths[other as usize].is_none() {
                queue.push((Reverse(length.saturating_add(weight)), other as usize));
            }
        }
    }
    lengths
}
