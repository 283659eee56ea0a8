//! The same functions under the names by which compilers of Fortran call them, as Scotch has them: in capitals, in small letters, and with one or two underscores
//! behind. Numbers are passed by reference; the code of success is the last argument, but for the length of a text.
#![allow(unsafe_code, non_snake_case, clippy::too_many_arguments, clippy::missing_safety_doc)] // a foreign interface

use std::ffi::{CString, c_char, c_int};

use crate::Num;
use crate::exports::{archs::*, common::*, graphs::*, maps::*, strategies::*};
use crate::read::Structure;

/// Declares functions of Fortran, each under its four names.
macro_rules! fortran {
    ($($lower:literal $upper:literal ($($argument:ident: $type:ty),*) $body:block)*) => {$(
        fortran!(@one concat!("SCOTCHF", $upper), ($($argument: $type),*) $body);
        fortran!(@one concat!("scotchf", $lower), ($($argument: $type),*) $body);
        fortran!(@one concat!("scotchf", $lower, "_"), ($($argument: $type),*) $body);
        fortran!(@one concat!("scotchf", $lower, "__"), ($($argument: $type),*) $body);
    )*};
    (@one $name:expr, ($($argument:ident: $type:ty),*) $body:block) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            unsafe extern "C" fn function($($argument: $type),*) {
                // SAFETY: structures, numbers and arrays are as Scotch documents them.
                unsafe { $body }
            }
        };
    };
}

type Code = *mut c_int;
type Number = *const Num;
type Table = *mut Num;

fortran! {
    "archinit" "ARCHINIT" (arch: Structure, code: Code) { *code = SCOTCH_archInit(arch) }
    "archexit" "ARCHEXIT" (arch: Structure) { SCOTCH_archExit(arch) }
    "archsize" "ARCHSIZE" (arch: Structure, size: Table) { *size = SCOTCH_archSize(arch) }
    "archcmplt" "ARCHCMPLT" (arch: Structure, size: Number, code: Code) { *code = SCOTCH_archCmplt(arch, *size) }
    "archcmpltw" "ARCHCMPLTW" (arch: Structure, size: Number, weights: Table, code: Code) {
        *code = SCOTCH_archCmpltw(arch, *size, weights)
    }
    "archhcub" "ARCHHCUB" (arch: Structure, dimension: Number, code: Code) { *code = SCOTCH_archHcub(arch, *dimension) }
    "archmesh2" "ARCHMESH2" (arch: Structure, x: Number, y: Number, code: Code) { *code = SCOTCH_archMesh2(arch, *x, *y) }
    "archmesh3" "ARCHMESH3" (arch: Structure, x: Number, y: Number, z: Number, code: Code) {
        *code = SCOTCH_archMesh3(arch, *x, *y, *z)
    }
    "archmeshx" "ARCHMESHX" (arch: Structure, dimensions: Number, lengths: Table, code: Code) {
        *code = SCOTCH_archMeshX(arch, *dimensions, lengths)
    }
    "archtorus2" "ARCHTORUS2" (arch: Structure, x: Number, y: Number, code: Code) { *code = SCOTCH_archTorus2(arch, *x, *y) }
    "archtorus3" "ARCHTORUS3" (arch: Structure, x: Number, y: Number, z: Number, code: Code) {
        *code = SCOTCH_archTorus3(arch, *x, *y, *z)
    }
    "archtorusx" "ARCHTORUSX" (arch: Structure, dimensions: Number, lengths: Table, code: Code) {
        *code = SCOTCH_archTorusX(arch, *dimensions, lengths)
    }
    "archtleaf" "ARCHTLEAF" (arch: Structure, levels: Number, sizes: Table, costs: Table, code: Code) {
        *code = SCOTCH_archTleaf(arch, *levels, sizes, costs)
    }
    "archbuild" "ARCHBUILD" (arch: Structure, graph: Structure, number: Number, list: Table, strategy: Structure, code: Code) {
        *code = SCOTCH_archBuild(arch, graph, *number, list, strategy)
    }
    "archsub" "ARCHSUB" (arch: Structure, whole: Structure, number: Number, list: Table, code: Code) {
        *code = SCOTCH_archSub(arch, whole, *number, list)
    }
    "graphinit" "GRAPHINIT" (graph: Structure, code: Code) { *code = SCOTCH_graphInit(graph) }
    "graphexit" "GRAPHEXIT" (graph: Structure) { SCOTCH_graphExit(graph) }
    "graphfree" "GRAPHFREE" (graph: Structure) { SCOTCH_graphFree(graph) }
    "graphbuild" "GRAPHBUILD" (
        graph: Structure,
        base: Number,
        vertices: Number,
        begins: Table,
        ends: Table,
        vertex_weights: Table,
        labels: Table,
        arcs: Number,
        targets: Table,
        edge_weights: Table,
        code: Code
    ) {
        *code = SCOTCH_graphBuild(graph, *base, *vertices, begins, ends, vertex_weights, labels, *arcs, targets, edge_weights)
    }
    "graphbase" "GRAPHBASE" (graph: Structure, base: Number, before: Table) { *before = SCOTCH_graphBase(graph, *base) }
    "graphcheck" "GRAPHCHECK" (graph: Structure, code: Code) { *code = SCOTCH_graphCheck(graph) }
    "graphsize" "GRAPHSIZE" (graph: Structure, vertices: Table, arcs: Table) { SCOTCH_graphSize(graph, vertices, arcs) }
    "graphmap" "GRAPHMAP" (graph: Structure, arch: Structure, strategy: Structure, parts: Table, code: Code) {
        *code = SCOTCH_graphMap(graph, arch, strategy, parts)
    }
    "graphmapfixed" "GRAPHMAPFIXED" (graph: Structure, arch: Structure, strategy: Structure, parts: Table, code: Code) {
        *code = SCOTCH_graphMapFixed(graph, arch, strategy, parts)
    }
    "graphpart" "GRAPHPART" (graph: Structure, number: Number, strategy: Structure, parts: Table, code: Code) {
        *code = SCOTCH_graphPart(graph, *number, strategy, parts)
    }
    "graphpartfixed" "GRAPHPARTFIXED" (graph: Structure, number: Number, strategy: Structure, parts: Table, code: Code) {
        *code = SCOTCH_graphPartFixed(graph, *number, strategy, parts)
    }
    "graphremap" "GRAPHREMAP" (
        graph: Structure,
        arch: Structure,
        old: Table,
        cost: *const f64,
        costs: Table,
        strategy: Structure,
        parts: Table,
        code: Code
    ) {
        *code = SCOTCH_graphRemap(graph, arch, old, *cost, costs, strategy, parts)
    }
    "graphrepart" "GRAPHREPART" (
        graph: Structure,
        number: Number,
        old: Table,
        cost: *const f64,
        costs: Table,
        strategy: Structure,
        parts: Table,
        code: Code
    ) {
        *code = SCOTCH_graphRepart(graph, *number, old, *cost, costs, strategy, parts)
    }
    "graphmapinit" "GRAPHMAPINIT" (graph: Structure, mapping: Structure, arch: Structure, parts: Table, code: Code) {
        *code = SCOTCH_graphMapInit(graph, mapping, arch, parts)
    }
    "graphmapexit" "GRAPHMAPEXIT" (graph: Structure, mapping: Structure) { SCOTCH_graphMapExit(graph, mapping) }
    "graphmapcompute" "GRAPHMAPCOMPUTE" (graph: Structure, mapping: Structure, strategy: Structure, code: Code) {
        *code = SCOTCH_graphMapCompute(graph, mapping, strategy)
    }
    "graphmapfixedcompute" "GRAPHMAPFIXEDCOMPUTE" (graph: Structure, mapping: Structure, strategy: Structure, code: Code) {
        *code = SCOTCH_graphMapFixedCompute(graph, mapping, strategy)
    }
    "stratinit" "STRATINIT" (strategy: Structure, code: Code) { *code = SCOTCH_stratInit(strategy) }
    "stratexit" "STRATEXIT" (strategy: Structure) { SCOTCH_stratExit(strategy) }
    "stratgraphmap" "STRATGRAPHMAP" (strategy: Structure, string: *const c_char, code: Code, length: c_int) {
        let letters = std::slice::from_raw_parts(string.cast::<u8>(), usize::try_from(length).unwrap_or(0));
        *code = CString::new(letters).map_or(1, |string| SCOTCH_stratGraphMap(strategy, string.as_ptr()))
    }
    "stratgraphmapbuild" "STRATGRAPHMAPBUILD" (strategy: Structure, flags: Number, number: Number, imbalance: *const f64, code: Code) {
        *code = SCOTCH_stratGraphMapBuild(strategy, *flags, *number, *imbalance)
    }
    "randomreset" "RANDOMRESET" () { SCOTCH_randomReset() }
    "randomseed" "RANDOMSEED" (seed: Number) { SCOTCH_randomSeed(*seed) }
    "numsizeof" "NUMSIZEOF" (size: Code) { *size = SCOTCH_numSizeof() }
    "version" "VERSION" (version: Code, release: Code, patch: Code) { SCOTCH_version(version, release, patch) }
}
