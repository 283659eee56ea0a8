//! The functions of KaHIP that programs call, which partition and map with viem.
//!
//! KaHIP's functions return nothing. Where they fail, the values that they write are -1 here, the parts stay as they were, and
//! `viem_kahip_error` returns the message. The same holds for a cut or J that does not fit its integer; the parts are then written.
//!
//! As with KaHIP, there may be more parts than vertices. All but as many parts as vertices stay empty then; cut and parts are right, and
//! `viem_kahip_error` says it.
//!
//! *Departures from KaHIP.* Graphs are checked. Bounds hold to the vertex. Nothing is printed, whatever `suppress_output` says. The variable
//! `VIEM_THREADS` chooses the number of threads, and parts are mapped to the machine that `VIEM_MACHINE` names.
#![allow(unsafe_code, non_snake_case, clippy::too_many_arguments)] // a foreign interface

use std::ffi::{c_char, c_int};
use std::fmt::Display;

use viem::base::types::{BlockId, Cost};
use viem::solve::{Balance, Objective};
use viem::{Config, CsrGraph, Hierarchy, PartitionPreset, PreparedMachine, Request, Solution};
use viem_ffi::{
    Division, LooseGraph, arcs_from, array, array_mut, check_memory, environment, guarded, keep_message,
    kept_message, least_load, memory_of_run, optional, put, put_if_wanted,
};

/// `kahip_idx`: offsets and targets of arcs, their weights, and cuts. All other integers are `int`.
#[cfg(feature = "idx64")]
pub type Idx = i64;
/// `kahip_idx`: offsets and targets of arcs, their weights, and cuts. All other integers are `int`.
#[cfg(not(feature = "idx64"))]
pub type Idx = c_int;

/// The message of the last call of this thread; empty if it succeeded and no part is empty for want of vertices. Valid until its next call.
#[unsafe(no_mangle)]
pub extern "C" fn viem_kahip_error() -> *const c_char {
    kept_message()
}

/// The arguments that describe a graph.
#[derive(Clone, Copy)]
struct Input {
    n: *const c_int,
    vwgt: *const c_int,
    xadj: *const Idx,
    adjcwgt: *const Idx,
    adjncy: *const Idx,
}

impl Input {
    /// # Safety
    ///
    /// The arrays are as long as KaHIP says.
    unsafe fn graph(self) -> Result<CsrGraph, String> {
        // SAFETY: this and what follows: the caller's promise.
        let n = unsafe { one("n", self.n) }?;
        let n = usize::try_from(n).map_err(|_| format!("n is {n}; it must not be negative"))?;
        let offsets = arcs_from(unsafe { array("xadj", self.xadj, n + 1) }.map_err(text)?, 0);
        let offsets = offsets.ok_or("xadj must begin with 0 and must not fall")?;
        let num_arcs = offsets[n];
        let graph = LooseGraph {
            base: 0,
            offsets: &offsets,
            targets: unsafe { array("adjncy", self.adjncy, num_arcs) }.map_err(text)?,
            edge_weights: unsafe { optional("adjcwgt", self.adjcwgt, num_arcs) }.map_err(text)?,
            vertex_weights: unsafe { optional("vwgt", self.vwgt, n) }.map_err(text)?,
        };
        let graph = graph.graph().map_err(text)?;
        check_memory(memory_of_run(graph.num_nodes(), graph.num_arcs())).map_err(text)?;
        Ok(graph)
    }
}

fn text(error: impl Display) -> String {
    error.to_string()
}

/// The value at a pointer.
///
/// # Safety
///
/// It is null or leads to a value.
unsafe fn one<T: Copy>(name: &'static str, pointer: *const T) -> Result<T, String> {
    // SAFETY: the caller's promise.
    Ok(unsafe { array(name, pointer, 1) }.map_err(text)?[0])
}

/// The result of a call.
struct Found {
    parts: Vec<BlockId>,
    cut: Cost,
    cost: Option<Cost>,
    /// Vertices and parts, where there are too few vertices.
    too_few: Option<(usize, usize)>,
}

/// The numbers of vertices and parts if the vertices do not suffice.
fn too_few(graph: &CsrGraph, num_parts: usize) -> Option<(usize, usize)> {
    Some((graph.num_nodes(), num_parts)).filter(|(vertices, parts)| vertices < parts)
}

/// A result as the integer that the caller has for it.
fn fit<T: TryFrom<Cost>>(name: &str, value: Cost) -> Result<T, String> {
    let kind = if size_of::<T>() == size_of::<c_int>() { "an int" } else { "64 bits" };
    T::try_from(value).map_err(|_| format!("{name} is {value}, which does not fit {kind}"))
}

/// Does the work of a function and writes the result, or -1.
///
/// # Safety
///
/// The pointers are null or lead to integers, `part` to one for each part.
unsafe fn call(
    (edgecut, qap, part): (*mut Idx, *mut c_int, *mut c_int),
    work: impl FnOnce() -> Result<Found, String>,
) {
    let write = || -> Result<(), String> {
        // SAFETY: this and what follows: the caller's promise.
        unsafe {
            put_if_wanted(edgecut, -1);
            put_if_wanted(qap, -1);
        }
        let found = work()?;
        let out = unsafe { array_mut("part", part, found.parts.len()) }.map_err(text)?;
        for (entry, &part) in out.iter_mut().zip(&found.parts) {
            *entry = part as c_int;
        }
        unsafe { put("edgecut", edgecut, fit("the cut", found.cut)?) }.map_err(text)?;
        if let Some(cost) = found.cost {
            unsafe { put("qap", qap, fit("J", cost)?) }.map_err(text)?;
        }
        match found.too_few {
            Some((vertices, parts)) => Err(format!(
                "there are {vertices} vertices for {parts} parts: {} stay empty",
                parts - vertices
            )),
            None => Ok(()),
        }
    };
    let message = guarded(write).unwrap_or_else(Err).err().unwrap_or_default();
    keep_message(message);
}

/// The settings of `FAST`, `ECO`, `STRONG` and so on.
fn config(mode: c_int, seed: c_int) -> Result<Config, String> {
    use PartitionPreset::*;
    let presets = [Fast, Eco, Strong, FastSocial, EcoSocial, StrongSocial];
    let preset = usize::try_from(mode).ok().and_then(|mode| presets.get(mode).copied());
    let preset = preset.ok_or_else(|| format!("the mode is {mode}; modes are 0 to 5"))?;
    Ok(Config::from(preset).with_seed(seed as u64).with_threads(environment::threads()))
}

/// Parts may be as far below their share as above it, or 5 %, down to nine tenths. KaHIP has no least loads, and a part may end up with next to nothing.
fn balance(imbalance: f64) -> Balance {
    Balance::default().with_imbalance(imbalance).with_least_load(least_load(imbalance))
}

/// # Safety
///
/// The arrays are as long as KaHIP says.
unsafe fn partition(
    graph: CsrGraph,
    nparts: *const c_int,
    imbalance: *const f64,
    seed: c_int,
    mode: c_int,
) -> Result<Found, String> {
    // SAFETY: this and what follows: the caller's promise.
    let (nparts, imbalance) = unsafe { (one("nparts", nparts)?, one("imbalance", imbalance)?) };
    let num_parts = usize::try_from(nparts).map_err(|_| format!("nparts is {nparts}; it is at least 1"))?;
    check_memory(64 * num_parts as u128).map_err(text)?;
    let division = Division::new(&graph, num_parts, None, balance(imbalance).into()).map_err(text)?;
    let blocks = division.blocks().map_err(text)?;
    let given = environment::machine(num_parts);
    let machine = PreparedMachine::new(given.unwrap_or(&blocks));
    let objective = if given.is_some() { Objective::J } else { Objective::Cut };
    let request = division.request(&graph, &machine).minimise(objective);
    let Solution { mapping, report, .. } = request.solve(&config(mode, seed)?).map_err(text)?;
    let too_few = too_few(&graph, num_parts);
    Ok(Found { parts: mapping.into_pes(), cut: report.cut, cost: None, too_few })
}

/// Partitions a graph into `nparts` parts, each at most `(1 + imbalance) * ceil(weight / nparts)`, with few edges between them.
///
/// # Safety
///
/// The arrays are as long as KaHIP says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kaffpa(
    n: *const c_int,
    vwgt: *const c_int,
    xadj: *const Idx,
    adjcwgt: *const Idx,
    adjncy: *const Idx,
    nparts: *const c_int,
    imbalance: *const f64,
    _suppress_output: u8,
    seed: c_int,
    mode: c_int,
    edgecut: *mut Idx,
    part: *mut c_int,
) {
    let input = Input { n, vwgt, xadj, adjcwgt, adjncy };
    let out = (edgecut, std::ptr::null_mut(), part);
    // SAFETY: the caller's promise is the same.
    unsafe { call(out, || partition(input.graph()?, nparts, imbalance, seed, mode)) };
}

/// The same; parts are balanced perfectly in any case, if the imbalance is 0.
///
/// # Safety
///
/// The arrays are as long as KaHIP says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kaffpa_balance(
    n: *const c_int,
    vwgt: *const c_int,
    xadj: *const Idx,
    adjcwgt: *const Idx,
    adjncy: *const Idx,
    nparts: *const c_int,
    imbalance: *const f64,
    _perfectly_balance: u8,
    _suppress_output: u8,
    seed: c_int,
    mode: c_int,
    edgecut: *mut Idx,
    part: *mut c_int,
) {
    let input = Input { n, vwgt, xadj, adjcwgt, adjncy };
    let out = (edgecut, std::ptr::null_mut(), part);
    // SAFETY: the caller's promise is the same.
    unsafe { call(out, || partition(input.graph()?, nparts, imbalance, seed, mode)) };
}

/// The same, balanced by vertices and edges: each vertex weighs its weight and those of its edges.
///
/// # Safety
///
/// The arrays are as long as KaHIP says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kaffpa_balance_NE(
    n: *const c_int,
    vwgt: *const c_int,
    xadj: *const Idx,
    adjcwgt: *const Idx,
    adjncy: *const Idx,
    nparts: *const c_int,
    imbalance: *const f64,
    _suppress_output: u8,
    seed: c_int,
    mode: c_int,
    edgecut: *mut Idx,
    part: *mut c_int,
) {
    let input = Input { n, vwgt, xadj, adjcwgt, adjncy };
    let out = (edgecut, std::ptr::null_mut(), part);
    // SAFETY: the caller's promise is the same.
    unsafe { call(out, || partition(weighed_by_edges(&input.graph()?)?, nparts, imbalance, seed, mode)) };
}

/// The graph whose vertices weigh their weight and those of their edges.
fn weighed_by_edges(graph: &CsrGraph) -> Result<CsrGraph, String> {
    let weight = |node| graph.node_weight(node).checked_add(graph.weighted_degree(node));
    let weights = graph.nodes().map(weight).collect::<Option<_>>().ok_or("the weights are too large")?;
    let edge_weights = graph.nodes().flat_map(|node| graph.arcs(node).map(|(_, weight)| weight)).collect();
    CsrGraph::new(graph.offsets().to_vec(), graph.targets().to_vec(), edge_weights, weights).map_err(text)
}

/// The bytes of a `kahip_idx`.
#[unsafe(no_mangle)]
pub extern "C" fn kahip_sizeof_idx() -> c_int {
    size_of::<Idx>() as c_int
}

/// Keeps the message that viem does not do this.
fn refuse(what: &str) {
    let message = format!("viem does not {what}; link KaHIP itself for that");
    keep_message(message);
}

/// Fails: viem does not separate graphs by vertices. The number of vertices is -1, and the separator null.
///
/// # Safety
///
/// The last two arguments are null or lead to an integer and a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn node_separator(
    _n: *const c_int,
    _vwgt: *const c_int,
    _xadj: *const Idx,
    _adjcwgt: *const Idx,
    _adjncy: *const Idx,
    _nparts: *const c_int,
    _imbalance: *const f64,
    _suppress_output: u8,
    _seed: c_int,
    _mode: c_int,
    num_separator_vertices: *mut c_int,
    separator: *mut *mut c_int,
) {
    refuse("separate graphs by vertices");
    // SAFETY: the caller's promise.
    unsafe {
        put_if_wanted(num_separator_vertices, -1);
        put_if_wanted(separator, std::ptr::null_mut());
    }
}

/// Fails: viem does not order vertices to reduce fill. The first entry of the order is -1.
///
/// # Safety
///
/// `n` and `ordering` are null or lead to integers, if there are any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reduced_nd(
    n: *const c_int,
    _xadj: *const Idx,
    _adjncy: *const Idx,
    _suppress_output: u8,
    _seed: c_int,
    _mode: c_int,
    ordering: *mut c_int,
) {
    refuse("order vertices to reduce fill");
    // SAFETY: the caller's promise.
    unsafe {
        if one("n", n).is_ok_and(|n| n > 0) {
            put_if_wanted(ordering, -1);
        }
    }
}

/// Fails: viem does not order vertices to reduce fill. The first entry of the order is -1.
///
/// # Safety
///
/// `n` and `ordering` are null or lead to integers, if there are any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reduced_nd_fast(
    n: *const c_int,
    xadj: *const Idx,
    adjncy: *const Idx,
    suppress_output: u8,
    seed: c_int,
    ordering: *mut c_int,
) {
    // SAFETY: the caller's promise is the same.
    unsafe { reduced_nd(n, xadj, adjncy, suppress_output, seed, 0, ordering) };
}

/// Fails: viem does not partition edges. The vertex cut is -1.
///
/// # Safety
///
/// `vertexcut` is null or leads to an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn edge_partitioning(
    _n: *const c_int,
    _vwgt: *const c_int,
    _xadj: *const Idx,
    _adjcwgt: *const Idx,
    _adjncy: *const Idx,
    _nparts: *const c_int,
    _imbalance: *const f64,
    _suppress_output: u8,
    _seed: c_int,
    _mode: c_int,
    vertexcut: *mut c_int,
    _part: *mut c_int,
    _infinity_edge_weight: Idx,
) {
    refuse("partition edges");
    // SAFETY: the caller's promise.
    unsafe { put_if_wanted(vertexcut, -1) };
}

/// Maps the vertices of a graph to the PEs of a tree, many to each: `part` gets PEs, `qap` gets J. `mode_mapping` means nothing: it chooses one of
/// KaHIP's algorithms.
///
/// # Safety
///
/// The arrays are as long as KaHIP says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn process_mapping(
    n: *const c_int,
    vwgt: *const c_int,
    xadj: *const Idx,
    adjcwgt: *const Idx,
    adjncy: *const Idx,
    hierarchy_parameter: *const c_int,
    distance_parameter: *const c_int,
    hierarchy_depth: c_int,
    mode_partitioning: c_int,
    _mode_mapping: c_int,
    imbalance: *const f64,
    _suppress_output: u8,
    seed: c_int,
    edgecut: *mut Idx,
    qap: *mut c_int,
    part: *mut c_int,
) {
    let input = Input { n, vwgt, xadj, adjcwgt, adjncy };
    let map = || {
        // SAFETY: this and what follows: the caller's promise.
        let graph = unsafe { input.graph() }?;
        let depth = usize::try_from(hierarchy_depth).map_err(|_| "hierarchy_depth must not be negative")?;
        let tree = unsafe { joined("hierarchy_parameter", hierarchy_parameter, depth) }?;
        let distances = unsafe { joined("distance_parameter", distance_parameter, depth) }?;
        let machine = Hierarchy::parse(&tree, &distances).map_err(text)?;
        let balance = balance(unsafe { one("imbalance", imbalance) }?);
        let prepared = PreparedMachine::new(&machine);
        let request = Request::new(&graph, &prepared).balanced(balance);
        let solution = request.solve(&config(mode_partitioning, seed)?).map_err(text)?;
        let report = solution.report;
        let too_few = too_few(&graph, viem::Machine::num_pes(&machine));
        Ok(Found { parts: solution.mapping.into_pes(), cut: report.cut, cost: Some(report.cost), too_few })
    };
    // SAFETY: the caller's promise is the same.
    unsafe { call((edgecut, qap, part), map) };
}

/// Numbers with colons between them, as trees are written.
///
/// # Safety
///
/// It is null or leads to this many integers.
unsafe fn joined(name: &'static str, pointer: *const c_int, count: usize) -> Result<String, String> {
    // SAFETY: the caller's promise.
    let numbers = unsafe { array(name, pointer, count) }.map_err(text)?;
    Ok(numbers.iter().map(c_int::to_string).collect::<Vec<_>>().join(":"))
}
